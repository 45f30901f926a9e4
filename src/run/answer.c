/* What the judge says, as a text that can be read back: all that decisions and prompts are made of.
 */
#include "run/ledger_int.h"

#include "base/json.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

/* ---- writing ---- */

static void
put_time(struct buf *buf, const struct judge_time *time)
{
    json_field_number(buf, "median", time->median);
    json_field_number(buf, "min", time->min);
    json_field_number(buf, "low", time->low);
    json_field_number(buf, "high", time->high);
    buf_printf(buf, ",\"samples\":%zu,\"calls\":%zu", time->samples, time->calls);
}

static void
put_pairs(struct buf *buf, const struct judge_case *row)
{
    buf_puts(buf, ",\"pairs\":[");
    for (size_t i = 0; i < row->pair_count; i++) {
        const struct judge_pair *pair = &row->pairs[i];
        buf_puts(buf, i ? ",{\"name\":" : "{\"name\":");
        json_put_string(buf, pair->name);
        json_field_string(buf, "flags", pair->flags);
        put_time(buf, &pair->time);
        json_field_number(buf, "speedup", pair->speedup);
        json_field_number(buf, "from", pair->low);
        json_field_number(buf, "to", pair->high);
        json_field_bool(buf, "same", pair->same);
        buf_putc(buf, '}');
    }
    buf_putc(buf, ']');
}

static void
put_case(struct buf *buf, const struct judge_case *row)
{
    buf_puts(buf, "{\"name\":");
    json_put_string(buf, row->program->case_name);
    json_field_bool(buf, "timed", row->timed);
    buf_printf(buf, ",\"elements\":%lld,\"unjudged\":%lld,\"checked\":%zu",
               (long long)row->elements, (long long)row->unjudged, row->timed_calls_checked);
    json_field_number(buf, "worst", row->worst);
    put_time(buf, &row->time);
    json_field_number(buf, "share", row->share);
    json_field_number(buf, "light_us", row->light.us);
    json_field_string(buf, "limit", row->light.limit);
    json_field_string(buf, "level", row->light.level);
    put_pairs(buf, row);
    buf_putc(buf, '}');
}

static void
put_wrong(struct buf *buf, const struct judge_wrong *wrong)
{
    buf_puts(buf, ",\"wrong\":{\"tensor\":");
    json_put_string(buf, wrong->tensor);
    json_field_string(buf, "case", wrong->case_name);
    json_field_string(buf, "element", wrong->element);
    json_field_number(buf, "expected", wrong->expected);
    json_field_number(buf, "got", wrong->got);
    json_field_number(buf, "allowed", wrong->allowed);
    json_field_bool(buf, "unwritten", wrong->unwritten);
    buf_printf(buf, ",\"count\":%lld,\"of\":%lld", (long long)wrong->wrong,
               (long long)wrong->elements);
    json_field_string(buf, "where", wrong->where);
    json_field_string(buf, "kinds", wrong->kinds);
    json_field_string(buf, "guess", wrong->guess);
    buf_putc(buf, '}');
}

const char *
answer_of_report(struct arena *arena, const struct judge_report *report)
{
    struct buf buf = buf_in(arena);
    buf_puts(&buf, "{\"status\":");
    json_put_string(&buf, judge_status_name[report->status]);
    json_field_string(&buf, "reason", report->reason);
    json_field_string(&buf, "details", report->details);
    json_field_string(&buf, "case", report->case_name);
    json_field_string(&buf, "flags", report->flags);
    json_field_string(&buf, "compiler", report->compiler);
    buf_printf(&buf, ",\"line\":%u,\"threads\":%u,\"seed\":\"%llx\",\"kinds\":%zu", report->line,
               report->threads, (unsigned long long)report->seed, report->kinds);
    json_field_bool(&buf, "deterministic", report->deterministic);
    json_field_bool(&buf, "same_bits", report->same_bits);
    json_field_number(&buf, "seconds", report->seconds);
    if (report->wrong.tensor != NULL)
        put_wrong(&buf, &report->wrong);
    buf_puts(&buf, ",\"notes\":[");
    for (size_t i = 0; i < report->note_count; i++) {
        buf_puts(&buf, i ? "," : "");
        json_put_string(&buf, report->notes[i]);
    }
    buf_puts(&buf, "],\"cases\":[");
    for (size_t i = 0; i < report->case_count; i++) {
        buf_puts(&buf, i ? "," : "");
        put_case(&buf, &report->cases[i]);
    }
    buf_puts(&buf, "]}");
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
read_time(const json_t *object)
{
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
                                       .low = number_at(from, "from"),
                                       .high = number_at(from, "to"),
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
        .worst = number_at(from, "worst"),
        .timed = flag_at(from, "timed"),
        .time = read_time(from),
        .share = number_at(from, "share"),
        .light = {.us = number_at(from, "light_us"),
                  .limit = text_at(arena, from, "limit"),
                  .level = text_at(arena, from, "level")},
        .timed_calls_checked = count_at(from, "checked")};
    read_pairs(arena, json_object_get(from, "pairs"), &row);
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
                                .guess = text_at(arena, from, "guess")};
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
