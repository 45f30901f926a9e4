/* What the judge says, as the archive keeps it, read back: all that decisions and prompts are made
 * of. */
#include "run/ledger_int.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

const char *
answer_of_report(struct arena *arena, const struct judge_report *report)
{
    struct buf buf = buf_in(arena);
    run_put_verdict(&buf, NULL, NULL, NULL, report);
    return buf.data;
}

/* ---- reading ---- */

static const char *
text_at(struct arena *arena, const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? arena_strdup(arena, text) : NULL;
}

static const char *
said_at(struct arena *arena, const json_t *object, const char *name)
{
    const char *text = text_at(arena, object, name);
    return text ? text : "";
}

/* What is not finite was written as null. */
static double
number_at(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static size_t
count_at(const json_t *object, const char *name)
{
    double value = number_at(object, name);
    return value > 0 ? (size_t)value : 0;
}

static bool
flag_at(const json_t *object, const char *name)
{
    return json_is_true(json_object_get(object, name));
}

static struct judge_time
read_time(const json_t *of)
{
    const json_t *object = json_object_get(of, "time_us");
    return (struct judge_time){.median = number_at(object, "median"),
                               .min = number_at(object, "min"),
                               .low = number_at(object, "low"),
                               .high = number_at(object, "high"),
                               .samples = count_at(object, "samples"),
                               .calls = count_at(object, "calls")};
}

static void
read_pairs(struct arena *arena, const json_t *list, struct judge_case *row)
{
    row->pair_count = json_array_size(list);
    struct judge_pair *pairs = arena_array(arena, row->pair_count, sizeof *pairs);
    for (size_t i = 0; i < row->pair_count; i++) {
        const json_t *from = json_array_get(list, i);
        pairs[i] = (struct judge_pair){.name = said_at(arena, from, "name"),
                                       .flags = said_at(arena, from, "flags"),
                                       .time = read_time(from),
                                       .speedup = number_at(from, "speedup"),
                                       .low = number_at(from, "low"),
                                       .high = number_at(from, "high"),
                                       .same = flag_at(from, "same")};
    }
    row->pairs = pairs;
}

/* Sizes that the judge drew itself have no program among those of the task: the last one stands for
 * them, with their name. */
static const struct program *
program_of(struct arena *arena, const char *name, const struct program *const *programs,
           size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(programs[i]->case_name, name))
            return programs[i];
    struct program *drawn = arena_alloc(arena, sizeof *drawn);
    *drawn = *programs[count - 1];
    drawn->case_name = name;
    return drawn;
}

static struct judge_case
read_case(struct arena *arena, const json_t *from, const struct program *const *programs,
          size_t program_count)
{
    struct judge_case row = {
        .program = program_of(arena, said_at(arena, from, "name"), programs, program_count),
        .elements = (int64_t)count_at(from, "elements"),
        .unjudged = (int64_t)count_at(from, "unjudged"),
        .worst = number_at(from, "error_over_gate"),
        .timed = json_object_get(from, "time_us") != NULL,
        .time = read_time(from),
        .share = number_at(from, "light"),
        .light = {.us = number_at(from, "light_us"),
                  .limit = text_at(arena, from, "limit"),
                  .level = text_at(arena, from, "limit")},
        .timed_calls_checked = count_at(from, "timed_calls_checked")};
    read_pairs(arena, json_object_get(from, "baselines"), &row);
    return row;
}

static struct judge_wrong
read_wrong(struct arena *arena, const json_t *from)
{
    return (struct judge_wrong){.tensor = text_at(arena, from, "tensor"),
                                .case_name = text_at(arena, from, "case"),
                                .element = text_at(arena, from, "element"),
                                .expected = number_at(from, "expected"),
                                .got = number_at(from, "got"),
                                .allowed = number_at(from, "allowed"),
                                .unwritten = flag_at(from, "unwritten"),
                                .wrong = (int64_t)count_at(from, "count"),
                                .elements = (int64_t)count_at(from, "of"),
                                .where = text_at(arena, from, "where"),
                                .kinds = text_at(arena, from, "kinds"),
                                .guess = text_at(arena, from, "looks_like")};
}

static bool
read_status(const json_t *root, enum judge_status *status)
{
    const char *name = json_string_value(json_object_get(root, "status"));
    for (unsigned i = 0; i < JUDGE_STATUS_COUNT && name != NULL; i++)
        if (!strcmp(judge_status_name[i], name)) {
            *status = i;
            return true;
        }
    return false;
}

static void
read_report(struct arena *arena, const json_t *root, const struct program *const *programs,
            size_t program_count, struct judge_report *report)
{
    const json_t *cases = json_object_get(root, "cases"), *notes = json_object_get(root, "notes");
    report->reason = said_at(arena, root, "reason");
    report->details = said_at(arena, root, "details");
    report->case_name = text_at(arena, root, "case");
    report->flags = said_at(arena, root, "flags");
    report->compiler = said_at(arena, root, "compiler");
    report->line = (uint32_t)count_at(root, "line");
    report->threads = (unsigned)count_at(root, "threads");
    report->seed = strtoull(said_at(arena, root, "seed"), NULL, 16);
    report->kinds = count_at(root, "kinds");
    report->deterministic = flag_at(root, "deterministic");
    report->same_bits = flag_at(root, "same_bits");
    report->seconds = number_at(root, "seconds");
    report->wrong = read_wrong(arena, json_object_get(root, "wrong"));
    for (size_t i = 0; i < json_array_size(notes) && i < JUDGE_MOST_NOTES; i++)
        report->notes[report->note_count++] =
            arena_strdup(arena, json_string_value(json_array_get(notes, i)));
    report->case_count = json_array_size(cases);
    report->cases = arena_array(arena, report->case_count, sizeof *report->cases);
    for (size_t i = 0; i < report->case_count; i++)
        report->cases[i] = read_case(arena, json_array_get(cases, i), programs, program_count);
}

bool
answer_read_report(struct arena *arena, const char *answer, const struct program *const *programs,
                   size_t program_count, struct judge_report *report)
{
    json_t *root = json_loads(answer, 0, NULL);
    *report = (struct judge_report){0};
    bool good = root != NULL && program_count > 0 && read_status(root, &report->status);
    if (good)
        read_report(arena, root, programs, program_count, report);
    json_decref(root);
    return good;
}
