/* A recipe's file, laid over those that it is like, becomes phases and roles. */
#include "recipe/recipe_int.h"

#include "base/text.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- files laid over each other ---- */

/* What all files of a chain say: phases, each followed by its roles, and the budget. */
struct layers {
    struct settings_section *sections;
    size_t count;
    size_t phase; /* the one that roles belong to; == count: none yet */
    const struct source *source;
};

/* Files that are being read, the newest first. */
struct chain {
    const struct source *source;
    const struct chain *before;
};

static bool
is_phase(const struct settings_section *section)
{
    return !strcmp(section->kind, recipe__section_name[KEY_OF_PHASE]);
}

static struct settings_section *
insert_section(struct reading *reading, struct layers *layers, size_t at,
               const struct settings_section *section)
{
    layers->sections = arena_grow(reading->arena, layers->sections, layers->count,
                                  layers->count + 1, sizeof *layers->sections);
    memmove(layers->sections + at + 1, layers->sections + at,
            (layers->count - at) * sizeof *layers->sections);
    layers->count++;
    layers->sections[at] = *section;
    layers->sections[at].settings = arena_grow(reading->arena, section->settings, section->count,
                                               section->count, sizeof *section->settings);
    return &layers->sections[at];
}

/* Where the roles of the phase at `from` end. */
static size_t
end_of_phase(const struct layers *layers, size_t from)
{
    size_t at = from < layers->count ? from + 1 : from;
    while (at < layers->count && !is_phase(&layers->sections[at]))
        at++;
    return at;
}

static size_t
find_section(const struct layers *layers, const struct settings_section *section, size_t from,
             size_t to)
{
    for (; from < to; from++)
        if (!strcmp(layers->sections[from].kind, section->kind) &&
            !strcmp(layers->sections[from].name, section->name))
            return from;
    return to;
}

static void
override(struct reading *reading, struct settings_section *under,
         const struct settings_section *over)
{
    for (size_t i = 0; i < over->count; i++) {
        struct setting *old = (struct setting *)settings_get(under, over->settings[i].key);
        if (old == NULL) {
            under->settings = arena_grow(reading->arena, under->settings, under->count,
                                         under->count + 1, sizeof *under->settings);
            old = &under->settings[under->count++];
        }
        *old = over->settings[i];
    }
    under->place = over->place;
}

/* Over the section of its name between `from` and `to`, or new at `to`. Its number. */
static size_t
lay_over(struct reading *reading, struct layers *layers, const struct settings_section *section,
         size_t from, size_t to)
{
    size_t at = find_section(layers, section, from, to);
    if (at == to) {
        insert_section(reading, layers, at, section);
    } else if (layers->sections[at].place.source == layers->source) {
        recipe__complain(reading, section->place,
                         "[%s%s%s] is there twice, first in line %u; put its lines together",
                         section->kind, *section->name ? " " : "", section->name,
                         layers->sections[at].place.line);
    } else {
        override(reading, &layers->sections[at], section);
    }
    return at;
}

/* A phase of a new name follows the one above it in its own file. */
static void
lay_phase(struct reading *reading, struct layers *layers, const struct settings_section *section)
{
    size_t at = find_section(layers, section, 0, layers->count);
    if (at == layers->count) {
        at = layers->phase < layers->count ? end_of_phase(layers, layers->phase) : 0;
        insert_section(reading, layers, at, section);
    } else {
        lay_over(reading, layers, section, at, at + 1);
    }
    layers->phase = at;
}

/* The phase that need not be said: what stands before any other. */
static void
lay_only_phase(struct reading *reading, struct layers *layers,
               const struct settings_section *section)
{
    struct settings_section only = {
        .kind = recipe__section_name[KEY_OF_PHASE], .name = "", .place = section->place};
    for (size_t i = 0; i < section->count; i++)
        if (recipe__key(KEY_OF_FILE, section->settings[i].key) == NULL) {
            only.settings = arena_grow(reading->arena, only.settings, only.count, only.count + 1,
                                       sizeof *only.settings);
            only.settings[only.count++] = section->settings[i];
        }
    if (only.count > 0 || !strcmp(section->kind, recipe__section_name[KEY_OF_ROLE]))
        lay_phase(reading, layers, &only);
}

static void
lay_section(struct reading *reading, struct layers *layers, const struct settings_section *section)
{
    const char *kind = section->kind;
    bool named = *section->name != '\0';
    if (!strcmp(kind, recipe__section_name[KEY_OF_PHASE]) && named) {
        lay_phase(reading, layers, section);
    } else if (!strcmp(kind, recipe__section_name[KEY_OF_ROLE]) && named) {
        if (layers->phase == layers->count) {
            struct settings_section none = {.kind = kind, .place = section->place};
            lay_only_phase(reading, layers, &none);
        }
        lay_over(reading, layers, section, layers->phase + 1, end_of_phase(layers, layers->phase));
    } else if (!strcmp(kind, recipe__section_name[KEY_OF_BUDGET]) && !named) {
        lay_over(reading, layers, section, 0, layers->count);
    } else {
        recipe__complain(reading, section->place,
                         "[%s%s%s]: no such section; write [phase NAME], [role NAME] or [budget]",
                         kind, named ? " " : "", section->name);
    }
}

static void
gather(struct reading *reading, struct layers *layers, const struct source *source,
       const struct chain *chain, struct settings_section *head);

static bool
is_in(const struct chain *chain, const struct source *source)
{
    for (; chain != NULL; chain = chain->before)
        if (!strcmp(chain->source->path, source->path))
            return true;
    return false;
}

static void
gather_like(struct reading *reading, struct layers *layers, const struct setting *like,
            const struct chain *chain)
{
    struct settings_section head;
    struct place place = like->at;
    place.column = 0;
    const struct source *source = recipe__find_source(reading->arena, like->value,
                                                      chain->source->path, place, reading->diags);
    if (source == NULL)
        reading->failed = true;
    else if (is_in(chain, source))
        recipe__complain(reading, like->at,
                         "like = %s: goes in a circle: %s is like this one; write one of them out",
                         like->value, like->value);
    else
        gather(reading, layers, source, chain, &head);
}

static void
gather(struct reading *reading, struct layers *layers, const struct source *source,
       const struct chain *before, struct settings_section *head)
{
    struct settings settings;
    struct chain chain = {source, before};
    if (settings_parse(reading->arena, source, false, &settings, reading->diags) != STATUS_OK) {
        reading->failed = true;
        *head = (struct settings_section){0};
        return;
    }
    *head = settings.sections[0];
    const struct setting *like = settings_get(head, "like");
    if (like != NULL)
        gather_like(reading, layers, like, &chain);
    layers->source = source;
    layers->phase = layers->count;
    lay_only_phase(reading, layers, head);
    for (size_t i = 1; i < settings.count; i++)
        lay_section(reading, layers, &settings.sections[i]);
}

/* ---- keys ---- */

/* Complains with the nearest key of that section; a key of another section is told where to go. */
static void
complain_of_key(struct reading *reading, enum key_section section, const struct setting *setting)
{
    const char *names[128] = {NULL}, *elsewhere = NULL;
    size_t count = 0;
    for (const struct key *key = recipe__keys; key->name != NULL; key++) {
        assert(count < sizeof names / sizeof *names);
        if (key->section == section)
            names[count++] = key->name;
        else if (!strcmp(key->name, setting->key))
            elsewhere = recipe__section_name[key->section];
    }
    const char *near = text_nearest(setting->key, names, count);
    if (elsewhere != NULL)
        recipe__complain(reading, setting->place, "%s does not belong to a [%s]%s%s%s",
                         setting->key, recipe__section_name[section],
                         *elsewhere ? "; write it below a [" : "; write it at the top of the file",
                         elsewhere, *elsewhere ? "]" : "");
    else
        recipe__complain(reading, setting->place, "%s: no such key of a [%s]%s%s%s", setting->key,
                         recipe__section_name[section],
                         near ? "; did you mean " : "; `hone recipes --keys` lists them",
                         near ? near : "", near ? "?" : "");
}

static void
read_section(struct reading *reading, enum key_section section,
             const struct settings_section *given, void *object)
{
    for (const struct key *key = recipe__keys; key->name != NULL; key++) {
        struct setting usual = {.key = key->name, .value = key->preset, .at = given->place};
        if (key->section == section && key->preset != NULL && *key->preset != '(')
            recipe__read_key(reading, key, &usual, object);
    }
    for (size_t i = 0; i < given->count; i++) {
        const struct key *key = recipe__key(section, given->settings[i].key);
        if (key == NULL)
            complain_of_key(reading, section, &given->settings[i]);
        else
            recipe__read_key(reading, key, &given->settings[i], object);
    }
}

/* ---- roles ---- */

static bool
is_left_out(const struct settings_section *section)
{
    const struct setting *when = settings_get(section, "when");
    return when != NULL && !strcmp(when->value, "never");
}

/* "verifier memory" is a verifier. -1 after a complaint. */
static int
role_kind(struct reading *reading, const struct settings_section *section)
{
    const char *names[AGENT_KIND_COUNT];
    const char *kind = arena_strndup(reading->arena, section->name, strcspn(section->name, " \t"));
    for (unsigned i = 0; i < AGENT_KIND_COUNT; i++) {
        names[i] = agent_role_name[i].name;
        if (!strcmp(names[i], kind))
            return (int)i;
    }
    const char *near = text_nearest(kind, names, AGENT_KIND_COUNT);
    recipe__complain(reading, section->place, "[role %s]: no such role%s%s%s", section->name,
                     near ? "; did you mean " : "; `hone recipes --keys` lists them",
                     near ? near : "", near ? "?" : "");
    return -1;
}

static void
read_role(struct reading *reading, const struct settings_section *section, struct recipe_role *role)
{
    int kind = role_kind(reading, section);
    role->agent.kind = kind < 0 ? AGENT_CODER : (enum agent_kind)kind;
    role->agent.name = section->name;
    role->line = section->place.line;
    read_section(reading, KEY_OF_ROLE, section, role);
    if (role->when_count == 0 && role->agent.kind != AGENT_CODER)
        role->when[role->when_count++] = (struct recipe_when){.moment = RECIPE_ROUND};
    if (role->agent.returns.formats == 0)
        role->agent.returns.formats =
            1U << (role->agent.kind == AGENT_CODER ? AGENT_FORMAT_FILE : AGENT_FORMAT_TEXT);
}

/* ---- phases ---- */

/* What each topology selects by where nobody says; numbers are then the rule's usual ones. */
static const enum search_select usual_selects[SEARCH_TOPOLOGY_COUNT] = {
    [SEARCH_LINEAR] = SEARCH_SELECT_LAST,       [SEARCH_SAMPLES] = SEARCH_SELECT_LAST,
    [SEARCH_TRAJECTORIES] = SEARCH_SELECT_LAST, [SEARCH_BEAM] = SEARCH_SELECT_BEST,
    [SEARCH_EVOLUTION] = SEARCH_SELECT_RANK,    [SEARCH_ISLANDS] = SEARCH_SELECT_RANK,
    [SEARCH_ELITES] = SEARCH_SELECT_MIX,        [SEARCH_TREE] = SEARCH_SELECT_UCB,
    [SEARCH_BANDIT] = SEARCH_SELECT_UCB,        [SEARCH_RACE] = SEARCH_SELECT_LAST,
    [SEARCH_BEST_FIRST] = SEARCH_SELECT_BEST,
};

static void
fill_in(struct recipe_phase *phase, const struct settings_section *section)
{
    if (settings_get(section, "select") == NULL)
        phase->search.select = usual_selects[phase->search.topology];
    if (phase->search.width == 0)
        phase->search.width = 1;
    phase->search.arms = phase->arm_count > 0 ? (unsigned)phase->arm_count : 1;
    phase->profile = 0;
    for (size_t r = 0; r < phase->role_count; r++)
        for (size_t i = 0; i < phase->roles[r].agent.sight_count; i++) {
            const struct agent_sight *sight = &phase->roles[r].agent.sees[i];
            if (sight->section == AGENT_SECTION_PROFILE && sight->most > phase->profile)
                phase->profile = sight->most;
        }
    if (phase->profile == 0)
        phase->profile = 12;
}

static struct recipe_phase
empty_phase(const struct recipe *recipe, const struct settings_section *section)
{
    struct recipe_phase phase = {.name = *section->name ? section->name : recipe->name,
                                 .line = section->place.line};
    for (unsigned i = 0; i < RECIPE_MEMORY_COUNT; i++)
        phase.memory[i] = (struct recipe_remember){.above = NAN, .below = NAN, .count = 1};
    return phase;
}

/* The phase whose section is the first of these, and the roles behind it. Where a line is wrong the
 * parts are not held against each other: what would follow from the mistake is no news. */
static void
read_phase(struct reading *reading, const struct recipe *recipe,
           const struct settings_section *sections, size_t count, struct recipe_phase *phase)
{
    struct written_phase written = {.phase = phase, .section = sections};
    struct settings_section *roles = arena_array(reading->arena, count, sizeof *roles);
    bool failed_before = reading->failed;
    reading->failed = false;
    *phase = empty_phase(recipe, sections);
    read_section(reading, KEY_OF_PHASE, sections, phase);
    phase->roles = arena_array(reading->arena, count, sizeof *phase->roles);
    for (size_t i = 1; i < count; i++)
        if (!strcmp(sections[i].kind, recipe__section_name[KEY_OF_ROLE]) &&
            !is_left_out(&sections[i])) {
            roles[phase->role_count] = sections[i];
            read_role(reading, &sections[i], &phase->roles[phase->role_count++]);
        }
    written.roles = roles;
    fill_in(phase, sections);
    if (!reading->failed)
        recipe__check_phase(reading, &written);
    reading->failed = reading->failed || failed_before;
}

static void
read_phases(struct reading *reading, const struct layers *layers, struct recipe *recipe)
{
    recipe->phases = arena_array(reading->arena, layers->count + 1, sizeof *recipe->phases);
    for (size_t i = 0; i < layers->count; i++) {
        const struct settings_section *section = &layers->sections[i];
        if (is_phase(section))
            read_phase(reading, recipe, section, end_of_phase(layers, i) - i,
                       &recipe->phases[recipe->phase_count++]);
        else if (!strcmp(section->kind, recipe__section_name[KEY_OF_BUDGET]))
            read_section(reading, KEY_OF_BUDGET, section, &recipe->budget);
    }
}

/* ---- the file ---- */

static void
read_head(struct reading *reading, const struct source *source, const struct settings_section *head,
          struct recipe *recipe)
{
    for (size_t i = 0; i < head->count; i++) {
        const struct setting *setting = &head->settings[i];
        const struct key *key = recipe__key(KEY_OF_FILE, setting->key);
        if (key != NULL)
            recipe__read_key(reading, key, setting, recipe);
    }
    if (settings_get(head, "recipe") == NULL)
        recipe__complain(reading, (struct place){source, 1, 0},
                         "which recipe? write recipe = NAME in the first line");
}

struct recipe *
recipe_read(struct arena *arena, const struct source *source, struct diags *diags)
{
    struct reading reading = {.arena = arena, .diags = diags};
    struct layers layers = {0};
    struct settings_section head;
    struct recipe *recipe = arena_alloc(arena, sizeof *recipe);
    *recipe = (struct recipe){.name = "",
                              .about = "",
                              .paper = "",
                              .like = "",
                              .file = source->path,
                              .text = source->text};
    gather(&reading, &layers, source, NULL, &head);
    if (reading.failed)
        return NULL;
    read_head(&reading, source, &head, recipe);
    read_phases(&reading, &layers, recipe);
    if (recipe->phase_count == 0)
        recipe__complain(&reading, (struct place){source, 1, 0},
                         "the recipe does nothing; write a [phase NAME] with a [role coder]");
    return reading.failed ? NULL : recipe;
}

const struct recipe_role *
recipe_role(const struct recipe_phase *phase, enum agent_kind kind)
{
    for (size_t i = 0; i < phase->role_count; i++)
        if (phase->roles[i].agent.kind == kind)
            return &phase->roles[i];
    return NULL;
}
