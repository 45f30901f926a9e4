/* The screens of `hone judge`: one verdict, and the ranking of several kernels. */
#include "app/judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/table.h"
#include "base/num.h"
#include "base/text.h"

#define WIDTH 92

static void
put_seed(struct buf *buf, uint64_t seed)
{
    buf_printf(buf, "%08llx", (unsigned long long)seed);
}

/* ---- cells ---- */

/* "1.52 ms [1.51, 1.54]": the interval in the unit of the time. */
static const char *
interval_text(struct arena *arena, const struct judge_time *time)
{
    const char *middle = table_time(arena, time->median);
    double unit = time->median / strtod(middle, NULL);
    struct buf low = buf_in(arena), high = buf_in(arena);
    const char *point = strchr(middle, '.');
    int digits = point ? (int)strspn(point + 1, "0123456789") : 0;
    buf_printf(&low, "%.*f", digits, time->low / unit);
    buf_printf(&high, "%.*f", digits, time->high / unit);
    return arena_printf(arena, "%s [%s, %s]", middle, low.data, high.data);
}

const char *
judge_gain_text(struct arena *arena, const struct judge_pair *pair)
{
    if (pair->same)
        return "same";
    int digits = pair->speedup < 2 ? 2 : pair->speedup < 10 ? 1 : 0;
    return arena_printf(arena, "%.*fx", digits, pair->speedup);
}

static const char *
share_text(struct arena *arena, double share)
{
    return arena_printf(arena, "%.0f %%", 100 * share);
}

/* ---- a correct kernel ---- */

static void
put_title(struct buf *buf, const struct trial *trial)
{
    const struct judge_report *report = &trial->report;
    size_t start = buf->length;
    struct buf right = buf_in(buf->arena);
    buf_printf(&right, "cpu, %u thread%s, seed ", report->threads, report->threads == 1 ? "" : "s");
    put_seed(&right, report->seed);
    buf_printf(buf, "correct   %s for %s", trial->file, report->cases[0].program->name);
    do
        buf_putc(buf, ' ');
    while (buf->length - start + right.length < WIDTH);
    buf_printf(buf, "%s\n\n", right.data);
}

const struct judge_case *
judge_first_timed(const struct judge_report *report)
{
    for (size_t i = 0; i < report->case_count; i++)
        if (report->cases[i].timed)
            return &report->cases[i];
    return NULL;
}

static void
put_cases(struct buf *buf, const struct judge_report *report)
{
    const struct judge_case *first = judge_first_timed(report);
    size_t pairs = first ? first->pair_count : 0;
    struct table table = table_create(buf->arena);
    table_column(&table, "case", true);
    table_column(&table, "time [95 %]", false);
    table_column(&table, "light", false);
    for (size_t i = 0; i < pairs; i++) {
        table_column(&table, first->pairs[i].name, false);
        table_column(&table, "gain", false);
    }
    table_column(&table, "worst error of the gate", false);
    for (size_t r = 0; r < report->case_count; r++) {
        const struct judge_case *row = &report->cases[r];
        const char *cells[TABLE_MAX_COLUMNS];
        unsigned n = 0;
        cells[n++] = row->program->case_name;
        cells[n++] = row->timed ? interval_text(buf->arena, &row->time) : "checked only";
        cells[n++] = row->timed ? share_text(buf->arena, row->share) : "";
        for (size_t i = 0; i < pairs; i++) {
            bool there = row->timed && i < row->pair_count;
            cells[n++] = there ? table_time(buf->arena, row->pairs[i].time.median) : "";
            cells[n++] = there ? judge_gain_text(buf->arena, &row->pairs[i]) : "";
        }
        cells[n++] = arena_printf(buf->arena, "%.2f", row->worst);
        table_row(&table, cells);
    }
    table_print(buf, &table);
}

static void
put_inputs(struct buf *buf, const struct judge_report *report)
{
    double elements = 0, unjudged = 0;
    size_t checked = 0;
    for (size_t i = 0; i < report->case_count; i++) {
        elements += (double)report->cases[i].elements;
        unjudged += (double)report->cases[i].unjudged;
        checked += report->cases[i].timed_calls_checked;
    }
    buf_printf(buf, "\n  inputs      %zu kinds x %zu case%s, ", report->kinds, report->case_count,
               report->case_count == 1 ? "" : "s");
    num_put_count(buf, elements, "");
    buf_printf(buf, " elements compared; %zu timed calls checked\n", checked);
    if (unjudged > 0) {
        buf_puts(buf, "              ");
        num_put_count(buf, unjudged, "");
        buf_puts(buf, " elements unjudged: the arithmetic does not decide them\n");
    }
    buf_puts(buf, "  bits        ");
    buf_puts(buf, report->deterministic ? "the same twice" : "not the same twice");
    if (report->threads > 1)
        buf_printf(buf, "; 1 and %u threads: %s", report->threads,
                   report->same_bits ? "same bits" : "other bits, within the gate");
    buf_putc(buf, '\n');
}

static void
put_rest(struct buf *buf, const struct judge_report *report)
{
    const struct judge_case *first = judge_first_timed(report);
    if (first)
        buf_printf(buf, "  limited by  %s\n", first->light.limit);
    for (size_t i = 0; first && i < first->pair_count; i++)
        if (!strcmp(first->pairs[i].name, "naive"))
            buf_printf(buf, "  naive       the plain C, %s, %u thread%s\n", first->pairs[i].flags,
                       report->threads, report->threads == 1 ? "" : "s");
    for (size_t i = 0; i < report->note_count; i++)
        buf_printf(buf, "  note        %s\n", report->notes[i]);
}

static void
put_correct(struct buf *buf, const struct trial *trial, int verbosity)
{
    const struct judge_report *report = &trial->report;
    put_title(buf, trial);
    put_cases(buf, report);
    put_inputs(buf, report);
    put_rest(buf, report);
    if (verbosity < 0)
        return;
    if (report->from_cache)
        buf_printf(buf, "%.2g s in all (built before).", report->seconds);
    else
        buf_printf(buf, "%.2g s compile, %.2g s in all.", report->compile_seconds, report->seconds);
    buf_puts(buf, "   --case, --threads, --baseline FILE, --json\n");
}

/* ---- any other verdict ---- */

static void
put_first_line(struct buf *buf, const struct trial *trial)
{
    const struct judge_report *report = &trial->report;
    buf_printf(buf, "%s   %s:", judge_status_name[report->status], trial->file);
    if (report->line)
        buf_printf(buf, "%u:", report->line);
    buf_printf(buf, " %s", report->reason);
    if (report->case_name && !strstr(report->reason, "case "))
        buf_printf(buf, ", case %s", report->case_name);
    buf_putc(buf, '\n');
}

static void
put_wrong(struct buf *buf, const struct judge_wrong *wrong)
{
    buf_printf(buf, "\n  where       %s\n", wrong->where);
    buf_printf(buf, "  example     %s   expected %.6g   ", wrong->element, wrong->expected);
    if (wrong->unwritten && isnan(wrong->got))
        buf_puts(buf, "never written");
    else
        buf_printf(buf, "got %.6g", wrong->got);
    buf_printf(buf, "   allowed error %.2g\n", wrong->allowed);
    buf_printf(buf, "  inputs      %s\n", wrong->kinds);
    if (wrong->guess)
        buf_printf(buf, "  looks like  %s\n", wrong->guess);
}

/* The line of the kernel's text that is meant. */
static void
put_source_line(struct buf *buf, const struct trial *trial)
{
    const char *at = trial->source.text;
    for (uint32_t line = 1; at && line < trial->report.line; line++) {
        at = strchr(at, '\n');
        at = at ? at + 1 : NULL;
    }
    if (at && trial->report.line)
        buf_printf(buf, "  line %-6u %s\n", trial->report.line,
                   text_printable(arena_strndup(buf->arena, at, strcspn(at, "\n"))));
}

static void
put_other(struct buf *buf, const char *task_file, const struct trial *trial, int verbosity)
{
    const struct judge_report *report = &trial->report;
    put_first_line(buf, trial);
    if (report->wrong.tensor)
        put_wrong(buf, &report->wrong);
    if (report->status != JUDGE_BUILD_FAILED)
        put_source_line(buf, trial);
    if (report->details[0])
        buf_printf(buf, "\n%s%s", report->details,
                   report->details[strlen(report->details) - 1] == '\n' ? "" : "\n");
    for (size_t i = 0; i < report->note_count; i++)
        buf_printf(buf, "  note        %s\n", report->notes[i]);
    if (verbosity < 0)
        return;
    if (report->status == JUDGE_REJECTED || report->status == JUDGE_BUILD_FAILED) {
        buf_printf(buf, "What a kernel must look like:  hone contract cpu %s\n", task_file);
        return;
    }
    buf_printf(buf, "Repeat:  hone judge %s %s", task_file, trial->file);
    if (report->case_name && !strchr(report->case_name, '='))
        buf_printf(buf, " --case %s", report->case_name);
    buf_puts(buf, " --seed ");
    put_seed(buf, report->seed);
    buf_putc(buf, '\n');
}

void
judge_screen(struct buf *buf, const char *task_file, const struct trial *trial, int verbosity)
{
    if (trial->report.status == JUDGE_CORRECT)
        put_correct(buf, trial, verbosity);
    else
        put_other(buf, task_file, trial, verbosity);
}

/* ---- several ---- */

/* What the comparison with the best one says. */
static const char *
standing_text(struct arena *arena, const struct standing *standing, const char *best)
{
    const struct measure_outcome *outcome = &standing->against_best;
    double percent = 100 * (outcome->ratio - 1);
    double half = 50 * (outcome->high - outcome->low);
    switch (outcome->verdict) {
    case MEASURE_SLOWER:
        return arena_printf(arena,
                            percent < 100 ? "%.1f %% slower than %s" : "%.0f %% slower than %s",
                            percent, best);
    case MEASURE_FASTER:
        return arena_printf(arena, "%.1f %% faster than %s", -percent, best);
    case MEASURE_NOISY:
        return "the machine is too busy to tell";
    default:
        return arena_printf(arena, "same as %s (difference %.1f %% +- %.1f %%)", best, percent,
                            half);
    }
}

void
judge_ranking(struct buf *buf, const char *task_file, const struct standing *standings,
              size_t count, const struct trial *trials, size_t trial_count)
{
    struct table table = table_create(buf->arena);
    table_column(&table, "", true);
    table_column(&table, "kernel", true);
    table_column(&table, "time [95 %]", false);
    table_column(&table, "light", false);
    table_column(&table, "", true);
    for (size_t i = 0; i < count; i++) {
        const struct judge_case *row = judge_first_timed(&standings[i].trial->report);
        const char *cells[] = {
            arena_printf(buf->arena, "%zu", i + 1),
            standings[i].trial->file,
            row ? interval_text(buf->arena, &row->time) : "checked only",
            row ? share_text(buf->arena, row->share) : "",
            i ? standing_text(buf->arena, &standings[i], standings[0].trial->file) : "",
        };
        table_row(&table, cells);
    }
    if (count > 0)
        table_print(buf, &table);
    for (size_t i = 0; i < trial_count; i++)
        if (trials[i].report.status != JUDGE_CORRECT)
            put_other(buf, task_file, &trials[i], LOG_QUIET);
}
