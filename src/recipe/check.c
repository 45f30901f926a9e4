/* What the parts of a phase need of each other. */
#include "recipe/recipe_int.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

/* The line of a key, or that of its section. */
static struct place
place_of(const struct settings_section *section, const char *key)
{
    const struct setting *setting = settings_get(section, key);
    return setting != NULL ? setting->at : section->place;
}

/* ---- roles that a key cannot do without ---- */

static bool
has_roles(const struct recipe_phase *phase)
{
    return phase->propose == RECIPE_BY_ROLES && phase->finish.finalists == 0;
}

static bool
has_plans(const struct recipe_phase *phase)
{
    for (size_t i = 0; i < phase->take_count; i++)
        if (phase->take[i].take != RECIPE_TAKE_ALL)
            return true;
    return phase->plans > 1;
}

static bool
ends_with_plans(const struct recipe_phase *phase)
{
    return phase->stop.plans_empty || phase->stop.replanned;
}

static bool
has_open_plans(const struct recipe_phase *phase)
{
    return phase->search.topology == SEARCH_BEST_FIRST;
}

static bool
has_repairs(const struct recipe_phase *phase)
{
    return phase->repair > 0;
}

static bool
has_prefilter(const struct recipe_phase *phase)
{
    return phase->prefilter > 0;
}

static bool
has_choice(const struct recipe_phase *phase)
{
    return phase->search.select == SEARCH_SELECT_MODEL;
}

static const struct need {
    const char *key; /* whose line it is; the phase's where it is not given */
    bool (*holds)(const struct recipe_phase *phase);
    enum agent_kind role;
    const char *why;
} needs[] = {
    {"propose", has_roles, AGENT_CODER, "nobody writes kernels"},
    {"plans", has_plans, AGENT_PLANNER, "nobody makes the plans"},
    {"topology", has_open_plans, AGENT_PLANNER, "best-first goes over plans, and nobody makes any"},
    {"stop", ends_with_plans, AGENT_PLANNER, "it would end without plans, and nobody makes any"},
    {"repair", has_repairs, AGENT_DEBUGGER, "nobody repairs"},
    {"prefilter", has_prefilter, AGENT_VERIFIER, "nobody says what is worth running"},
    {"select", has_choice, AGENT_SELECTOR, "nobody chooses"},
};

static void
check_needs(struct reading *reading, const struct written_phase *written)
{
    const struct recipe_phase *phase = written->phase;
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (needs[i].holds(phase) && recipe_role(phase, needs[i].role) == NULL)
            recipe__complain(reading, place_of(written->section, needs[i].key),
                             "phase %s: %s; add [role %s]", phase->name, needs[i].why,
                             agent_role_name[needs[i].role].name);
    if (!has_roles(phase) && phase->role_count > 0)
        recipe__complain(reading, written->roles[0].place,
                         "phase %s asks nobody; take [role %s] out", phase->name,
                         phase->roles[0].agent.name);
}

/* ---- the phase's own dials ---- */

static bool
is_wide(enum search_topology topology)
{
    return topology != SEARCH_LINEAR && topology != SEARCH_EVOLUTION && topology != SEARCH_ELITES &&
           topology != SEARCH_TREE && topology != SEARCH_BEST_FIRST;
}

static void
check_search(struct reading *reading, const struct written_phase *written)
{
    const struct search_rule *rule = &written->phase->search;
    const char *topology = search_topology_name[rule->topology].name;
    const struct setting *select = settings_get(written->section, "select");
    if (rule->width > 1 && !is_wide(rule->topology))
        recipe__complain(reading, place_of(written->section, "topology"),
                         "topology = %s %u: %s has no width; write topology = %s", topology,
                         rule->width, topology, topology);
    if (select != NULL && strchr(select->value, ' ') != NULL &&
        *search_select_name[rule->select].words == '\0')
        recipe__complain(reading, select->at, "select = %s: %s has no number; write select = %s",
                         select->value, search_select_name[rule->select].name,
                         search_select_name[rule->select].name);
    if ((rule->topology == SEARCH_BANDIT) != (written->phase->arm_count > 0))
        recipe__complain(
            reading, place_of(written->section, "arms"),
            rule->topology == SEARCH_BANDIT
                ? "a bandit has nothing to choose among; write arms = tiling of cache, "
                  "..."
                : "arms are for a bandit; write topology = bandit");
}

static void
check_mix(struct reading *reading, const struct written_phase *written)
{
    const struct recipe_phase *phase = written->phase;
    double sum = phase->mix_edit + phase->mix_whole + phase->mix_cross;
    if (sum != 0 && fabs(sum - 1) > 1e-6)
        recipe__complain(reading, place_of(written->section, "mix"),
                         "mix: the shares are %g together; write shares that make 1", sum);
}

/* The objective may be a figure of the profile. */
static void
check_counter(struct reading *reading, const struct written_phase *written)
{
    const struct setting *objective = settings_get(written->section, "objective");
    struct setting setting = {.key = "objective"};
    if (written->phase->counter == NULL)
        return;
    setting.at = objective->at;
    recipe__take_name(reading, &setting, written->phase->counter, "figure", profile_figure_name,
                      PROFILE_FIGURE_COUNT);
}

/* `take` names numbers that the planner returns. */
static void
check_taking(struct reading *reading, const struct written_phase *written)
{
    const struct recipe_phase *phase = written->phase;
    const struct recipe_role *planner = recipe_role(phase, AGENT_PLANNER);
    for (size_t i = 0; planner != NULL && i < phase->take_count; i++) {
        const struct agent_shape *shape = &planner->agent.returns;
        const char *field = phase->take[i].field, *names[AGENT_FIELDS];
        size_t count = 0;
        bool found = field == NULL;
        for (size_t f = 0; f < shape->field_count; f++)
            if (shape->fields[f].number) {
                names[count++] = shape->fields[f].name;
                found = found || !strcmp(shape->fields[f].name, field);
            }
        const char *near = found ? NULL : text_nearest(field, names, count);
        if (!found)
            recipe__complain(reading, place_of(written->section, "take"),
                             "take: the planner returns no number `%s`%s%s%s", field,
                             near ? "; did you mean " : "; write it into its returns",
                             near ? near : "", near ? "?" : "");
    }
}

/* ---- what roles see ---- */

/* Where each memory is shown. */
static const enum agent_section shown_as[RECIPE_MEMORY_COUNT] = {
    [RECIPE_MEMORY_TRANSCRIPT] = AGENT_SECTION_HISTORY,
    [RECIPE_MEMORY_RULES] = AGENT_SECTION_RULES,
    [RECIPE_MEMORY_INSIGHTS] = AGENT_SECTION_INSIGHTS,
    [RECIPE_MEMORY_PAIRS] = AGENT_SECTION_PAIRS,
    [RECIPE_MEMORY_CASES] = AGENT_SECTION_CASES,
    [RECIPE_MEMORY_RETRIEVAL] = AGENT_SECTION_CASES,
    [RECIPE_MEMORY_SKILLS] = AGENT_SECTION_SKILLS,
    [RECIPE_MEMORY_GRAPH] = AGENT_SECTION_GRAPH,
    [RECIPE_MEMORY_STATES] = AGENT_SECTION_STATES,
    [RECIPE_MEMORY_WORLD] = AGENT_SECTION_WORLD,
    [RECIPE_MEMORY_EXEMPLARS] = AGENT_SECTION_EXEMPLARS,
    [RECIPE_MEMORY_BOARD] = AGENT_SECTION_BOARD,
    [RECIPE_MEMORY_TRAPS] = AGENT_SECTION_TRAPS,
};

static bool
sees(const struct agent_role *agent, enum agent_section section)
{
    for (size_t i = 0; i < agent->sight_count; i++)
        if (agent->sees[i].section == section)
            return true;
    return false;
}

/* A section that shows a memory which the phase does not keep would always be empty. */
static bool
is_kept(const struct recipe_phase *phase, enum agent_section section)
{
    bool is_memory = false;
    for (unsigned i = 0; i < RECIPE_MEMORY_COUNT; i++) {
        if (shown_as[i] == section && phase->memory[i].most > 0)
            return true;
        is_memory = is_memory || shown_as[i] == section;
    }
    return !is_memory || (section == AGENT_SECTION_HISTORY && phase->history != RECIPE_NO_HISTORY);
}

/* `memory` becomes the sections of the memories that the phase has. */
static void
expand_memories(struct reading *reading, const struct recipe_phase *phase, struct agent_role *agent)
{
    size_t count = 0;
    struct agent_role wide = *agent;
    struct agent_sight *all =
        arena_array(reading->arena, agent->sight_count + RECIPE_MEMORY_COUNT, sizeof *all);
    if (!sees(agent, (enum agent_section)RECIPE_ALL_MEMORIES))
        return;
    for (size_t i = 0; i < agent->sight_count; i++)
        if (agent->sees[i].section != (enum agent_section)RECIPE_ALL_MEMORIES)
            all[count++] = agent->sees[i];
    wide.sees = all;
    wide.sight_count = count;
    for (unsigned i = 0; i < RECIPE_MEMORY_COUNT; i++)
        if (phase->memory[i].most > 0 && !sees(&wide, shown_as[i]))
            all[wide.sight_count++] = (struct agent_sight){.section = shown_as[i]};
    *agent = wide;
}

static void
check_sees(struct reading *reading, const struct recipe_phase *phase,
           const struct agent_role *agent, const struct settings_section *section)
{
    for (size_t i = 0; i < agent->sight_count; i++) {
        enum agent_section seen = agent->sees[i].section;
        if (!is_kept(phase, seen))
            recipe__complain(reading, place_of(section, "sees"),
                             "sees = %s: phase %s keeps none; write %s into its lines",
                             agent_section_info[seen].name, phase->name,
                             seen == AGENT_SECTION_HISTORY ? "history = last" : "memory = ...");
    }
}

/* ---- roles ---- */

enum {
    KERNELS = 1U << AGENT_FORMAT_SCHEDULE | 1U << AGENT_FORMAT_PROGRAM | 1U << AGENT_FORMAT_STAGE |
              1U << AGENT_FORMAT_EDITS | 1U << AGENT_FORMAT_FILE | 1U << AGENT_FORMAT_FILL,
};

/* What roles of a kind must return for the host to go on with it; 0: anything. */
static unsigned
wanted_formats(enum agent_kind kind)
{
    switch (kind) {
    case AGENT_CODER:
    case AGENT_CROSSOVER:
        return KERNELS | 1U << AGENT_FORMAT_PICK;
    case AGENT_DEBUGGER:
        return KERNELS;
    case AGENT_SELECTOR:
        return 1U << AGENT_FORMAT_PICK;
    default:
        return 0;
    }
}

static void
check_role(struct reading *reading, const struct recipe_phase *phase, struct recipe_role *role,
           const struct settings_section *section)
{
    unsigned wanted = wanted_formats(role->agent.kind);
    bool asks = role->model != NULL && !strcmp(role->model, "ask");
    if (wanted != 0 && (role->agent.returns.formats & ~wanted) != 0)
        recipe__complain(reading, place_of(section, "returns"), "a %s returns %s",
                         agent_role_name[role->agent.kind].name,
                         wanted & KERNELS ? "kernels; write returns = file, or edits, schedule, ..."
                                          : "the number of a choice; write returns = pick");
    if (asks != (role->question != NULL))
        recipe__complain(reading, place_of(section, asks ? "model" : "question"),
                         asks ? "what is the person asked? write question = ..."
                              : "a question is for a person; write model = ask");
    if (role->choices != NULL && !asks)
        recipe__complain(reading, place_of(section, "choices"),
                         "choices are for a person; write model = ask");
    if (settings_get(section, "steps") != NULL && role->tools == 0)
        recipe__complain(reading, place_of(section, "steps"),
                         "steps count uses of tools; write tools = compile, ...");
    if (settings_get(section, "sees") == NULL)
        recipe__complain(reading, section->place, "[role %s] sees nothing; write sees = task, ...",
                         role->agent.name);
    expand_memories(reading, phase, &role->agent);
    check_sees(reading, phase, &role->agent, section);
}

void
recipe__check_phase(struct reading *reading, const struct written_phase *written)
{
    const struct recipe_phase *phase = written->phase;
    check_needs(reading, written);
    check_search(reading, written);
    check_mix(reading, written);
    check_taking(reading, written);
    check_counter(reading, written);
    for (size_t i = 0; i < phase->role_count; i++)
        check_role(reading, phase, &phase->roles[i], &written->roles[i]);
}
