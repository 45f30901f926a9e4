/* The data of a run's page: what `hone show --json` says, and beside it what the figures need. */
#include "app/figures.h"
#include "app/report.h"
#include "app/show.h"

#include "base/clock.h"
#include "base/diff.h"
#include "base/json.h"
#include "base/text.h"
#include "lang/lang.h"
#include "libhone/libhone.h"
#include "report/metrics.h"

#include <jansson.h>
#include <math.h>
#include <string.h>
#include <time.h>

#define CONTEXT 3 /* equal lines around a change */

struct report_case {
    const char *name, *sizes;
    double flops, bytes; /* of the program; NAN: it cannot be read again */
};

struct case_list {
    struct report_case *items;
    size_t count, capacity;
};

/* ---- pieces ---- */

const char *
report_date(struct arena *arena, double seconds)
{
    time_t whole = (time_t)seconds;
    struct tm parts;
    char text[32] = "";
    if (gmtime_r(&whole, &parts) != NULL)
        strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &parts);
    return arena_strdup(arena, text);
}

void
report_made_json(struct buf *json, double now)
{
    buf_puts(json, "{\"hone\":");
    json_put_string(json, HONE_VERSION);
    json_field_string(json, "made", report_date(json->arena, now));
}

void
report_field_json(struct buf *json, const char *name, const char *text)
{
    json_t *value = *text ? json_loads(text, 0, NULL) : NULL;
    char *compact = value ? json_dumps(value, JSON_COMPACT) : NULL;
    buf_printf(json, ",\"%s\":%s", name, compact ? compact : "null");
    free(compact);
    json_decref(value);
}

/* Kernels are any bytes. */
static const char *
kernel_text(struct arena *arena, const struct store_candidate *candidate)
{
    char *text = arena_alloc(arena, candidate->kernel_length + 1);
    if (candidate->kernel_length > 0)
        memcpy(text, candidate->kernel, candidate->kernel_length);
    text_clean(text, candidate->kernel_length);
    return text;
}

static const char *
name_in(struct arena *arena, const struct report_subject *subject,
        const struct store_candidate *candidate)
{
    return archive_name(arena, subject->run->row.name, candidate->number);
}

/* ---- cases ---- */

static struct report_case *
find_case(const struct case_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].name, name) == 0)
            return &list->items[i];
    return NULL;
}

static void
add_case(struct arena *arena, struct case_list *list, const char *name, const char *sizes)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 8;
        list->items =
            arena_grow(arena, list->items, list->count, list->capacity, sizeof *list->items);
    }
    list->items[list->count++] = (struct report_case){name, sizes, NAN, NAN};
}

/* "default R=1024 N=4096; tail R=37 N=1009" */
static void
split_cases(struct arena *arena, struct case_list *list, const char *text)
{
    for (const char *at = text; *at; at += strspn(at, "; ")) {
        size_t length = strcspn(at, ";"), name = strcspn(at, " ;");
        add_case(arena, list, arena_strndup(arena, at, name),
                 text_trim(arena_strndup(arena, at + name, length - name)));
        at += length;
    }
}

/* Those that the run names, and any that a verdict has besides: old runs name none. */
static struct case_list
cases_of(struct arena *arena, const struct archive_run *run)
{
    struct case_list list = {0};
    split_cases(arena, &list, run->row.cases);
    for (size_t i = 0; i < run->candidate_count; i++) {
        const struct store_verdict *verdict = archive_verdict(&run->candidates[i]);
        for (size_t j = 0; verdict != NULL && j < verdict->case_count; j++)
            if (find_case(&list, verdict->cases[j].name) == NULL)
                add_case(arena, &list, verdict->cases[j].name, verdict->cases[j].sizes);
    }
    return list;
}

/* From the program as it was stored; one that uses other files cannot be read again.
 * True: some case has operations that a roofline shows. */
static bool
count_costs(struct arena *arena, const struct store_run *run, const struct case_list *list)
{
    struct diags *diags = diags_create(arena, 4);
    bool counted = false;
    const char *source = run->task.source;
    struct lang *lang = lang_parse(arena, arena_printf(arena, "%s.op", run->task.name), source,
                                   strlen(source), diags);
    for (size_t i = 0; lang != NULL && i < lang_case_count(lang); i++) {
        struct report_case *one = find_case(list, lang_case_name(lang, i));
        struct program *program = one ? lang_program(lang, i, NULL, 0, diags) : NULL;
        struct cost cost;
        if (program == NULL)
            continue;
        lang_cost(program, &cost);
        counted |= cost.flops > 0;
        one->flops = cost.flops;
        one->bytes = cost.bytes_in + cost.bytes_out;
    }
    return counted;
}

static double
number_of(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static void
put_baselines(struct buf *json, const json_t *row)
{
    const json_t *baselines = json_object_get(row, "baselines");
    buf_puts(json, ",\"baselines\":[");
    for (size_t i = 0; i < json_array_size(baselines); i++) {
        const json_t *one = json_array_get(baselines, i);
        buf_puts(json, i ? ",{\"name\":" : "{\"name\":");
        json_put_string(json, json_string_value(json_object_get(one, "name")));
        json_field_string(json, "flags", json_string_value(json_object_get(one, "flags")));
        json_field_number(json, "us", number_of(json_object_get(one, "time_us"), "median"));
        json_field_number(json, "speedup", number_of(one, "speedup"));
        json_field_number(json, "low", number_of(one, "low"));
        json_field_number(json, "high", number_of(one, "high"));
        buf_putc(json, '}');
    }
    buf_putc(json, ']');
}

/* The case's row of a verdict. */
static const json_t *
verdict_row(const json_t *verdict, const char *name)
{
    const json_t *rows = json_object_get(verdict, "cases");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        const char *here = json_string_value(json_object_get(row, "name"));
        if (here != NULL && strcmp(here, name) == 0)
            return row;
    }
    return NULL;
}

/* With its limit and baselines, as the verdict on the best says them. */
static void
put_cases(struct buf *json, const struct case_list *list, const json_t *verdict)
{
    buf_puts(json, ",\"cases\":[");
    for (size_t i = 0; i < list->count; i++) {
        const struct report_case *one = &list->items[i];
        const json_t *row = verdict_row(verdict, one->name);
        buf_puts(json, i ? ",{\"name\":" : "{\"name\":");
        json_put_string(json, one->name);
        json_field_string(json, "sizes", one->sizes);
        json_field_number(json, "flops", one->flops);
        json_field_number(json, "bytes", one->bytes);
        json_field_number(json, "light_us", number_of(row, "light_us"));
        json_field_string(json, "limit", json_string_value(json_object_get(row, "limit")));
        put_baselines(json, row);
        buf_putc(json, '}');
    }
    buf_putc(json, ']');
}

/* ---- candidates ---- */

static void
put_timed(struct buf *json, const struct store_candidate *candidate)
{
    const struct store_verdict *verdict = archive_verdict(candidate);
    buf_puts(json, ",\"cases\":[");
    for (size_t i = 0; archive_is_correct(candidate) && i < verdict->case_count; i++) {
        const struct store_case *row = &verdict->cases[i];
        buf_puts(json, i ? ",{\"name\":" : "{\"name\":");
        json_put_string(json, row->name);
        json_field_number(json, "us", row->median_us);
        json_field_number(json, "low", row->low_us);
        json_field_number(json, "high", row->high_us);
        json_field_number(json, "light", row->light);
        buf_puts(json, ",\"speedups\":[");
        for (size_t j = 0; j < row->speedup_count; j++) {
            buf_puts(json, j ? ",{\"name\":" : "{\"name\":");
            json_put_string(json, row->speedups[j].baseline);
            json_field_number(json, "factor", row->speedups[j].factor);
            buf_putc(json, '}');
        }
        buf_puts(json, "]}");
    }
    buf_putc(json, ']');
}

static void
put_spent(struct buf *json, const struct archive_spent *spent)
{
    json_field_number(json, "seconds", spent->seconds);
    json_field_number(json, "tokens", spent->tokens);
    json_field_number(json, "cost", spent->cost);
}

static void
put_point(struct buf *json, const struct archive_run *run, const struct store_candidate *candidate)
{
    struct arena *arena = json->arena;
    const struct store_verdict *verdict = archive_verdict(candidate);
    const struct archive_spent spent =
        archive_spent(run, verdict ? verdict->judged : candidate->added);
    const struct store_candidate *parent = archive_parent(run, candidate);
    const char *against = parent && !archive_is_draft(run, candidate)
                              ? archive_against(arena, run, candidate, parent, "its parent")
                              : NULL;
    buf_puts(json, "{\"who\":");
    json_put_string(json, archive_who(candidate));
    json_field_bool(json, "draft", archive_is_draft(run, candidate));
    json_field_string(json, "main", archive_main_line(arena, candidate->schedule));
    json_field_string(json, "against", against);
    put_spent(json, &spent);
    put_timed(json, candidate);
    buf_putc(json, '}');
}

static void
put_points(struct buf *json, const struct archive_run *run)
{
    buf_puts(json, ",\"points\":[");
    for (size_t i = 0; i < run->candidate_count; i++) {
        buf_puts(json, i ? "," : "");
        put_point(json, run, &run->candidates[i]);
    }
    buf_putc(json, ']');
}

/* ---- areas ---- */

/* In the cases that have a baseline. */
static void
put_areas(struct buf *json, const struct archive_run *run, const struct case_list *list,
          const json_t *verdict)
{
    size_t told = 0;
    buf_puts(json, ",\"area\":[");
    for (size_t i = 0; i < list->count; i++) {
        const char *name = list->items[i].name;
        const json_t *base =
            json_array_get(json_object_get(verdict_row(verdict, name), "baselines"), 0);
        double us = number_of(json_object_get(base, "time_us"), "median");
        if (isnan(us))
            continue;
        struct metrics_curve curve = figures_curve(json->arena, run, name);
        buf_puts(json, told++ ? ",{\"name\":" : "{\"name\":");
        json_put_string(json, name);
        json_field_string(json, "baseline", json_string_value(json_object_get(base, "name")));
        json_field_number(json, "value", metrics_area(&curve, us, (double)curve.count));
        buf_putc(json, '}');
    }
    buf_putc(json, ']');
}

/* ---- texts ---- */

static void
put_likeness(struct buf *json, const char *reference, const char *candidate)
{
    struct metrics_code_bleu bleu = metrics_code_bleu(json->arena, reference, candidate);
    buf_puts(json, ",\"code_bleu\":{\"score\":");
    json_put_number(json, bleu.score);
    json_field_number(json, "ngram", bleu.ngram);
    json_field_number(json, "weighted", bleu.weighted);
    json_field_number(json, "syntax", bleu.syntax);
    json_field_number(json, "flow", bleu.flow);
    buf_putc(json, '}');
}

static void
put_winner(struct buf *json, const struct report_subject *subject)
{
    struct arena *arena = json->arena;
    if (subject->best == NULL) {
        buf_puts(json, ",\"winner\":null");
        return;
    }
    buf_puts(json, ",\"winner\":{\"id\":");
    json_put_string(json, name_in(arena, subject, subject->best));
    json_field_string(json, "schedule", subject->best->schedule);
    json_field_string(json, "kernel", kernel_text(arena, subject->best));
    buf_putc(json, '}');
}

static void
put_start(struct buf *json, const struct report_subject *subject)
{
    struct arena *arena = json->arena;
    if (subject->start == NULL) {
        buf_puts(json, ",\"start\":null");
        return;
    }
    const char *before = kernel_text(arena, subject->start);
    const char *after = kernel_text(arena, subject->best);
    const char *old_name = name_in(arena, subject, subject->start);
    struct diff_text old = {old_name, before, strlen(before)};
    struct diff_text new = {name_in(arena, subject, subject->best), after, strlen(after)};
    struct buf diff = buf_in(arena);
    struct diff_count lines = diff_put_unified(arena, &diff, &old, &new, CONTEXT);
    buf_puts(json, ",\"start\":{\"id\":");
    json_put_string(json, old_name);
    json_field_string(json, "diff", diff.data ? diff.data : "");
    json_field_number(json, "removed", (double)lines.removed);
    json_field_number(json, "added", (double)lines.added);
    put_likeness(json, before, after);
    buf_putc(json, '}');
}

/* ---- commands ---- */

void
report_put_command(struct buf *json, const char *what, const char *command)
{
    buf_puts(json, json->data[json->length - 1] == '[' ? "[" : ",[");
    json_put_string(json, what);
    buf_putc(json, ',');
    json_put_string(json, command);
    buf_putc(json, ']');
}

static void
put_commands(struct buf *json, const struct report_subject *subject)
{
    const struct store_run *run = &subject->run->row;
    struct arena *arena = json->arena;
    const char *model = run->model[0] ? arena_printf(arena, " --model %s", run->model) : "";
    const char *recipe = run->model[0] ? arena_printf(arena, " --recipe %s", run->recipe) : "";
    buf_puts(json, ",\"commands\":[");
    report_put_command(json, "this page",
                       arena_printf(arena, "hone report %s -o %s", run->name, subject->file));
    report_put_command(json, "the same decisions, from what is stored",
                       arena_printf(arena, "hone replay %s", run->name));
    report_put_command(json, "a search like it",
                       arena_printf(arena, "hone optimize %s.op%s%s --seed %llx", run->task.name,
                                    recipe, model, (unsigned long long)run->seed));
    if (subject->best != NULL)
        report_put_command(json, "the verdict on the winner, measured anew",
                           arena_printf(arena,
                                        "hone show %s --code >best.c && hone judge %s.op best.c",
                                        name_in(arena, subject, subject->best), run->task.name));
    report_put_command(json, "how it came about, in sentences",
                       arena_printf(arena, "hone explain %s", run->name));
    buf_putc(json, ']');
}

bool
report_run_json(struct buf *json, const struct report_subject *subject)
{
    const struct archive_run *run = subject->run;
    const struct store_verdict *verdict = subject->best ? archive_verdict(subject->best) : NULL;
    struct case_list cases = cases_of(json->arena, run);
    json_t *judged = verdict && verdict->json ? json_loads(verdict->json, 0, NULL) : NULL;
    bool counted = count_costs(json->arena, &run->row, &cases);
    report_made_json(json, subject->now);
    json_field_string(json, "seed",
                      arena_printf(json->arena, "%llx", (unsigned long long)run->row.seed));
    json_field_string(json, "started", report_date(json->arena, run->row.started));
    json_field_string(json, "source", run->row.task.source);
    report_field_json(json, "machine", run->row.machine);
    buf_puts(json, ",\"run\":");
    show_run_json(json, run, subject->figures, subject->now);
    put_cases(json, &cases, judged);
    put_points(json, run);
    put_areas(json, run, &cases, judged);
    put_winner(json, subject);
    put_start(json, subject);
    put_commands(json, subject);
    buf_puts(json, "}");
    json_decref(judged);
    return counted;
}
