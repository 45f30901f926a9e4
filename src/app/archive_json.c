/* What the archive keeps as JSON: verdicts, machines, answers of events. Whatever is not there, or
 * has another form, is not known. */
#include "app/archive.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static json_t *
load(const char *text)
{
    return text != NULL && *text ? json_loads(text, 0, NULL) : NULL;
}

static double
number(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static const char *
string(struct arena *arena, const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? arena_strdup(arena, text) : NULL;
}

/* ---- verdicts ---- */

static void
take_case(struct arena *arena, const json_t *row, struct archive_facts *facts)
{
    const json_t *baseline = json_array_get(json_object_get(row, "baselines"), 0);
    facts->light_us = number(row, "light_us");
    facts->limit = string(arena, row, "limit");
    facts->baseline = string(arena, baseline, "name");
    facts->baseline_flags = string(arena, baseline, "flags");
    facts->baseline_us = number(json_object_get(baseline, "time_us"), "median");
}

struct archive_facts
archive_facts(struct arena *arena, const struct store_verdict *verdict)
{
    struct archive_facts facts = {.light_us = NAN, .baseline_us = NAN};
    json_t *json = verdict ? load(verdict->json) : NULL;
    const json_t *cases = json_object_get(json, "cases");
    size_t timed = 0;
    while (timed < json_array_size(cases) &&
           json_object_get(json_array_get(cases, timed), "time_us") == NULL)
        timed++;
    facts.details = string(arena, json, "details");
    take_case(arena, json_array_get(cases, timed), &facts);
    json_decref(json);
    return facts;
}

/* ---- machines ---- */

struct archive_machine
archive_machine(const struct store_run *run)
{
    json_t *json = load(run->machine);
    struct archive_machine machine = {.threads = number(json, "threads"),
                                      .vector_bits = number(json, "vector_bits")};
    json_decref(json);
    return machine;
}

/* ---- events ---- */

#define MOST_FIGURES 5
#define HASH_PART 16 /* of a kernel's hash, in the keys of events */

static bool
names_kernel(const char *word, const struct store_candidate *candidate)
{
    return strncmp(word, candidate->kernel_hash, HASH_PART) == 0;
}

/* "CHAMPION CHALLENGER CASE" */
static bool
names_both(const char *key, const struct store_candidate *first,
           const struct store_candidate *second)
{
    const struct store_case *timed = archive_timed(second);
    return strlen(key) > 2 * (HASH_PART + 1) && names_kernel(key, first) &&
           names_kernel(key + HASH_PART + 1, second) &&
           (timed == NULL || strcmp(key + 2 * (HASH_PART + 1), timed->name) == 0);
}

/* The answer has the challenger's time by the champion's. */
static bool
read_comparison(const struct store_event *event, bool swapped, struct archive_comparison *pair)
{
    json_t *json = load(event->answer);
    double ratio = number(json, "ratio"), low = number(json, "low"), high = number(json, "high");
    bool differ = number(json, "faster") > 0 || number(json, "slower") > 0;
    *pair = swapped ? (struct archive_comparison){ratio, low, high, !differ}
                    : (struct archive_comparison){1 / ratio, 1 / high, 1 / low, !differ};
    json_decref(json);
    return ratio > 0;
}

/* The last one counts. */
bool
archive_comparison(const struct archive_run *run, const struct store_candidate *champion,
                   const struct store_candidate *challenger, struct archive_comparison *comparison)
{
    bool ours = champion->run == run->row.id && challenger->run == run->row.id;
    for (size_t i = ours ? run->event_count : 0; i-- > 0;) {
        const struct store_event *event = &run->events[i];
        if (strcmp(event->kind, "compare") != 0)
            continue;
        bool straight = names_both(event->key, champion, challenger);
        struct archive_comparison pair;
        if ((straight || names_both(event->key, challenger, champion)) &&
            read_comparison(event, !straight, &pair)) {
            *comparison = pair;
            return true;
        }
    }
    return false;
}

/* Time and light stand in the verdict. */
static bool
is_known_otherwise(const char *name)
{
    return strcmp(name, "us") == 0 || strcmp(name, "light") == 0;
}

static const char *
spaced(struct arena *arena, const char *name)
{
    char *text = arena_strdup(arena, name);
    for (char *at = text; (at = strchr(at, '_')) != NULL;)
        *at = ' ';
    return text;
}

/* {"figures":[{"name":...,"value":...,"unit":...}]}, the most telling first. */
static const char *
figures_text(struct arena *arena, const json_t *json)
{
    struct buf buf = buf_in(arena);
    const json_t *figures = json_object_get(json, "figures");
    size_t told = 0;
    for (size_t i = 0; i < json_array_size(figures) && told < MOST_FIGURES; i++) {
        const json_t *figure = json_array_get(figures, i);
        const char *name = string(arena, figure, "name"), *unit = string(arena, figure, "unit");
        double value = number(figure, "value");
        if (name == NULL || isnan(value) || is_known_otherwise(name))
            continue;
        buf_printf(&buf, "%s%s %.3g%s%s", told++ ? ", " : "", spaced(arena, name), value,
                   unit && *unit ? " " : "", unit ? unit : "");
    }
    return buf.length ? buf.data : NULL;
}

const char *
archive_profile(struct arena *arena, const struct archive_run *run,
                const struct store_candidate *candidate)
{
    for (size_t i = run->event_count; i-- > 0;) {
        const struct store_event *event = &run->events[i];
        if (strcmp(event->kind, "profile") != 0 || !names_kernel(event->key, candidate))
            continue;
        json_t *json = load(event->answer);
        const char *text = figures_text(arena, json);
        json_decref(json);
        if (text != NULL)
            return text;
    }
    return NULL;
}
