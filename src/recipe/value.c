/* Values with a grammar of their own. */
#include "recipe/recipe_int.h"

#include "base/text.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

enum {
    MOST_SEEN = 64,
    WORDS_OF_A_LINE = 12, /* "snippet: 6 lines": prompts count words */
};

/* ---- recipe = NAME ---- */

void
recipe__read_name(struct reading *reading, const struct setting *setting, void *object)
{
    struct recipe *recipe = object;
    const char *at = setting->value;
    while (isalnum((unsigned char)*at) || *at == '-' || *at == '_')
        at++;
    if (*at != '\0' || setting->value[0] == '-')
        recipe__complain(reading, setting->at,
                         "recipe = %s: no name; write letters, digits and - only", setting->value);
    else
        recipe->name = setting->value;
}

/* ---- sees = build, schedules 5+5, memory ---- */

static const char *const *
section_names(struct arena *arena)
{
    const char **names = arena_array(arena, AGENT_SECTION_COUNT + 1, sizeof *names);
    for (unsigned i = 0; i < AGENT_SECTION_COUNT; i++)
        names[i] = agent_section_info[i].name;
    names[RECIPE_ALL_MEMORIES] = "memory";
    return names;
}

/* "5+5", "3": best and worst. */
static bool
read_amounts(char *text, struct agent_sight *sight)
{
    int64_t most, worst = 0;
    char *plus = strchr(text, '+');
    if (plus != NULL)
        *plus = '\0';
    if (!text_integer(text, &most) || (plus != NULL && !text_integer(plus + 1, &worst)) ||
        most < 1 || most > 1000 || worst < 0 || worst > 1000)
        return false;
    sight->most = (unsigned)most;
    sight->worst = (unsigned)worst;
    return true;
}

static bool
read_sight(struct reading *reading, const struct setting *setting, char *item,
           struct agent_sight *sight)
{
    char *blank = item + strcspn(item, " \t"), *amounts = blank + (*blank != '\0');
    *blank = '\0';
    int number = recipe__take_name(reading, setting, item, "section", section_names(reading->arena),
                                   AGENT_SECTION_COUNT + 1);
    amounts = text_trim(amounts);
    if (number >= 0 && *amounts != '\0' &&
        (number == RECIPE_ALL_MEMORIES || !read_amounts(amounts, sight))) {
        recipe__complain(reading, setting->at, "sees = %s %s: write %s, %s 3 or %s 5+5", item,
                         amounts, item, item, item);
        return false;
    }
    sight->section = (enum agent_section)number;
    return number >= 0;
}

void
recipe__read_sees(struct reading *reading, const struct setting *setting, void *object)
{
    struct recipe_role *role = object;
    struct agent_sight *sees = arena_array(reading->arena, MOST_SEEN, sizeof *sees);
    uint64_t said = 0;
    char *next = arena_strdup(reading->arena, setting->value);
    role->agent.sees = sees;
    for (char *item; (item = recipe__next_item(&next)) != NULL;) {
        struct agent_sight sight = {0};
        if (!read_sight(reading, setting, item, &sight))
            continue;
        if (said & UINT64_C(1) << sight.section)
            recipe__complain(reading, setting->at, "sees = %s: said twice; write it once", item);
        else
            sees[role->agent.sight_count++] = sight;
        said |= UINT64_C(1) << sight.section;
    }
}

_Static_assert((int)AGENT_SECTION_COUNT < (int)MOST_SEEN,
               "a bit for each section, and one for memory");

/* ---- returns ---- */

static void
bad_returns(struct reading *reading, const struct setting *setting, const char *what)
{
    recipe__complain(reading, setting->at,
                     "returns: %s; write file | edits, or { name, name: 30 words, name: a|b }, or "
                     "list of { ... }, at most 6",
                     what);
}

/* What stands behind the colon: "30 words", "6 lines", "number", "a|b|c". */
static bool
read_limit(struct agent_field *field, char *text)
{
    int64_t count;
    char *unit = strchr(text, ' ');
    if (!strcmp(text, "number")) {
        field->number = true;
        return true;
    }
    if (unit != NULL) {
        *unit++ = '\0';
        bool lines = !strcmp(unit, "lines");
        if ((!lines && strcmp(unit, "words") != 0) || !text_integer(text, &count) || count < 1 ||
            count > 1000)
            return false;
        field->words = (unsigned)count * (lines ? WORDS_OF_A_LINE : 1);
        return true;
    }
    field->choices = text;
    return strchr(text, '|') != NULL;
}

/* These are gains wherever they are asked for. */
static bool
is_always_number(const char *name)
{
    return !strcmp(name, "low") || !strcmp(name, "high") || !strcmp(name, "gain");
}

static bool
read_field(struct agent_shape *shape, char *item)
{
    struct agent_field field = {.name = item};
    char *colon = strchr(item, ':');
    if (colon != NULL)
        *colon = '\0';
    text_trim(item);
    for (const char *at = item; *at != '\0'; at++)
        if (!isalnum((unsigned char)*at) && *at != '_')
            return false;
    field.number = is_always_number(item);
    if (*item == '\0' || shape->field_count == AGENT_FIELDS ||
        (colon != NULL && !read_limit(&field, text_trim(colon + 1))))
        return false;
    for (size_t i = 0; i < shape->field_count; i++)
        if (!strcmp(shape->fields[i].name, item))
            return false;
    shape->fields[shape->field_count++] = field;
    return true;
}

/* "{ a, b: 30 words }"; *rest is what stands behind it. */
static bool
read_fields(struct reading *reading, const struct setting *setting, struct agent_shape *shape,
            char *text, char **rest)
{
    char *end = strchr(text, '}');
    if (*text != '{' || end == NULL) {
        bad_returns(reading, setting, "an object has its fields in braces");
        return false;
    }
    *end = '\0';
    *rest = text_trim(end + 1);
    char *next = text + 1;
    for (char *item; (item = recipe__next_item(&next)) != NULL;)
        if (!read_field(shape, item)) {
            bad_returns(reading, setting,
                        arena_printf(reading->arena, "`%s` is no field, or there twice", item));
            return false;
        }
    return true;
}

/* ", at most 6" */
static bool
read_most(const char *rest, unsigned *most)
{
    int64_t count;
    if (*rest == '\0')
        return true;
    rest += strspn(rest, ", \t");
    if (!text_starts(rest, "at most ") || !text_integer(rest + strlen("at most "), &count) ||
        count < 1 || count > 100)
        return false;
    *most = (unsigned)count;
    return true;
}

static void
read_list(struct reading *reading, const struct setting *setting, struct agent_shape *shape,
          char *text)
{
    char *rest;
    shape->formats = 1U << AGENT_FORMAT_LIST;
    if (read_fields(reading, setting, shape, text_trim(text), &rest) &&
        !read_most(rest, &shape->most))
        bad_returns(reading, setting, "what stands behind the braces is not at most N");
}

/* "schedule | edits", "pick of 24" */
static void
read_formats(struct reading *reading, const struct setting *setting, struct agent_shape *shape,
             char *text)
{
    const char *names[AGENT_FORMAT_COUNT];
    for (unsigned i = 0; i < AGENT_FORMAT_COUNT; i++)
        names[i] =
            i == AGENT_FORMAT_OBJECT || i == AGENT_FORMAT_LIST ? "" : agent_format_name[i].name;
    for (char *word; (word = strsep(&text, "|")) != NULL;) {
        word = text_trim(word);
        int64_t choices;
        if (text_starts(word, "pick of ") && text_integer(word + strlen("pick of "), &choices) &&
            choices > 1 && choices <= 1000) {
            shape->most = (unsigned)choices;
            word = (char *)agent_format_name[AGENT_FORMAT_PICK].name;
        }
        int format = *word == '\0' ? -1
                                   : recipe__take_name(reading, setting, word, "format", names,
                                                       AGENT_FORMAT_COUNT);
        if (*word == '\0')
            bad_returns(reading, setting, "a format is missing");
        if (format >= 0)
            shape->formats |= 1U << format;
    }
}

void
recipe__read_returns(struct reading *reading, const struct setting *setting, void *object)
{
    struct agent_shape *shape = &((struct recipe_role *)object)->agent.returns;
    char *text = arena_strdup(reading->arena, setting->value), *rest;
    if (text_starts(text, "list of")) {
        read_list(reading, setting, shape, text + strlen("list of"));
    } else if (*text == '{') {
        shape->formats = 1U << AGENT_FORMAT_OBJECT;
        if (read_fields(reading, setting, shape, text, &rest) && *rest != '\0')
            bad_returns(reading, setting, "something stands behind the braces");
    } else {
        read_formats(reading, setting, shape, text);
    }
}

/* ---- model = cheap ---- */

/* Recipes come from others: they must not run programs nor choose who reads the prompts. */
void
recipe__read_model(struct reading *reading, const struct setting *setting, void *object)
{
    const char *text = setting->value, *colon = strchr(text, ':');
    if (text_starts(text, "exec:") || strchr(text, '@') != NULL)
        recipe__complain(
            reading, setting->at,
            "model = %s: a recipe names no command and no address; give it with --role", text);
    else if (strcmp(text, "cheap") != 0 && strcmp(text, "ask") != 0 &&
             (colon == NULL || colon == text || colon[1] == '\0'))
        recipe__complain(reading, setting->at,
                         "model = %s: which? write cheap, ask or PROVIDER:NAME", text);
    else
        ((struct recipe_role *)object)->model = text;
}

/* ---- write = insight when gain > 1.04 or gain < 0.87 ---- */

static const struct phrase conditions[] = {
#define OF(field)                                                   \
    {                                                               \
        SLOT_REAL, offsetof(struct recipe_remember, field), 0, 1000 \
    }
    {"gain > #", {0}, {OF(above)}, NULL},
    {"gain < #", {0}, {OF(below)}, NULL},
    {"gain > # or gain < #", {0}, {OF(above), OF(below)}, NULL},
#undef OF
    {0},
};

/* One of what a memory holds: "insight" of insights. */
static const char *
singular(struct arena *arena, const char *name)
{
    size_t length = strlen(name);
    return text_ends(name, "s") ? arena_strndup(arena, name, length - 1) : name;
}

static void
read_writing(struct reading *reading, const struct setting *setting, char *item,
             struct recipe_phase *phase)
{
    const char *names[RECIPE_MEMORY_COUNT];
    char *when = strstr(item, " when ");
    for (unsigned i = 0; i < RECIPE_MEMORY_COUNT; i++)
        names[i] = singular(reading->arena, recipe_memory_info[i].name);
    if (when == NULL) {
        recipe__complain(reading, setting->at,
                         "write = %s: when? write insight when gain > 1.04 or gain < 0.87", item);
        return;
    }
    *when = '\0';
    int kind =
        recipe__take_name(reading, setting, text_trim(item), "memory", names, RECIPE_MEMORY_COUNT);
    if (kind >= 0)
        recipe__take_phrase(reading, setting, text_trim(when + strlen(" when ")), conditions,
                            "condition", &phase->memory[kind]);
}

void
recipe__read_write(struct reading *reading, const struct setting *setting, void *object)
{
    char *next = arena_strdup(reading->arena, setting->value);
    for (char *item; (item = recipe__next_item(&next)) != NULL;)
        read_writing(reading, setting, item, object);
}
