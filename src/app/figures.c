/* Searches as the archive has them. An attempt is a kernel that was judged in the run's first case,
 * or was never built; one that was drafted for another case says nothing about this one. */
#include "app/figures.h"
#include "app/screen.h"
#include "app/table.h"

#include "base/json.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

/* ---- attempts ---- */

static const char *
first_case(struct arena *arena, const struct store_run *run)
{
    return arena_strndup(arena, run->cases, strcspn(run->cases, " ;"));
}

static bool
is_attempt(const struct store_candidate *candidate, const char *name)
{
    const struct store_verdict *verdict = archive_verdict(candidate);
    return verdict != NULL && (verdict->case_count == 0 || archive_case(verdict, name) != NULL);
}

static struct metrics_attempt
attempt_of(const struct store_candidate *candidate, double us, double baseline_us)
{
    bool built = strcmp(archive_verdict(candidate)->status, "build_failed") != 0;
    return (struct metrics_attempt){
        .built = built, .correct = archive_is_correct(candidate), .speedup = baseline_us / us};
}

static void
take_attempts(struct arena *arena, const struct archive_run *run, const char *name,
              struct bench_search *search)
{
    size_t most = run->candidate_count + 1, count = 0;
    struct metrics_attempt *attempts = arena_array(arena, most, sizeof *attempts);
    struct metrics_step *steps[BENCH_COST_COUNT];
    search->curves[BENCH_EVALUATIONS] = figures_curve(arena, run, name);
    for (unsigned i = BENCH_TOKENS; i < BENCH_COST_COUNT; i++)
        steps[i] = arena_array(arena, most, sizeof *steps[i]);
    for (size_t i = 0; i < run->candidate_count; i++) {
        const struct store_candidate *candidate = &run->candidates[i];
        if (!is_attempt(candidate, name))
            continue;
        struct archive_spent spent = archive_spent(run, archive_verdict(candidate)->judged);
        double us = archive_time(candidate, name);
        attempts[count] = attempt_of(candidate, us, search->baseline_us);
        steps[BENCH_TOKENS][count] = (struct metrics_step){spent.tokens, us};
        steps[BENCH_MONEY][count] = (struct metrics_step){spent.cost, us};
        count++;
    }
    search->attempts = (struct metrics_task){attempts, count};
    for (unsigned i = BENCH_TOKENS; i < BENCH_COST_COUNT; i++)
        search->curves[i] = (struct metrics_curve){steps[i], count};
}

struct metrics_curve
figures_curve(struct arena *arena, const struct archive_run *run, const char *name)
{
    struct metrics_step *steps = arena_array(arena, run->candidate_count + 1, sizeof *steps);
    struct metrics_curve curve = {steps, 0};
    for (size_t i = 0; i < run->candidate_count; i++) {
        if (!is_attempt(&run->candidates[i], name))
            continue;
        double us = archive_time(&run->candidates[i], name);
        steps[curve.count] = (struct metrics_step){(double)(curve.count + 1), us};
        curve.count++;
    }
    return curve;
}

/* ---- what limits it ---- */

/* "the bandwidth of L3; 40 evaluations, nothing better after 12; the time was used up": what the
 * archive knows of why it came no further. */
static const char *
limit_text(struct arena *arena, const struct archive_run *run, const struct store_candidate *best,
           const struct archive_facts *facts, const struct bench_search *search)
{
    struct buf text = buf_in(arena);
    const char *limit = facts->limit ? facts->limit : "";
    const char *profile = archive_profile(arena, run, best);
    size_t tried = search->attempts.count, last = bench_last_gain(search);
    buf_puts(&text, *limit ? archive_limit_words(arena, limit) : "not known");
    buf_printf(&text, "; %zu evaluation%s", tried, tried == 1 ? "" : "s");
    if (last > 0 && last < tried)
        buf_printf(&text, ", nothing better after %zu", last);
    else if (last > 1)
        buf_puts(&text, ", the last one the best");
    if (run->row.stopped_by[0] != '\0')
        buf_printf(&text, "; %s", archive_ending_words(run->row.stopped_by));
    if (facts->details != NULL && *facts->details)
        buf_printf(&text, "; %.*s", (int)strcspn(facts->details, "\n"), facts->details);
    if (profile != NULL)
        buf_printf(&text, "; %s", profile);
    return text.data;
}

/* ---- a search ---- */

static enum status
read_whole(struct store *store, struct arena *arena, const struct archive_run *run,
           const struct store_candidate *brief, struct store_candidate *whole, struct diags *diags)
{
    return store_candidate_find(store, arena, archive_name(arena, run->row.name, brief->number),
                                whole, diags);
}

/* Trees of long kernels are large, and of no use afterwards. */
static double
likeness(const struct store_candidate *before, const struct store_candidate *after)
{
    struct arena *arena = arena_create();
    if (arena == NULL)
        return NAN;
    double score =
        metrics_code_bleu(arena, arena_strndup(arena, before->kernel, before->kernel_length),
                          arena_strndup(arena, after->kernel, after->kernel_length))
            .score;
    arena_destroy(arena);
    return score;
}

/* What is known of its best, and of that alone. */
static enum status
read_best(struct store *store, struct arena *arena, const struct archive_run *run,
          const struct store_candidate *best, struct archive_facts *facts,
          struct bench_search *search, struct diags *diags)
{
    const struct store_candidate *start = archive_start(run, best);
    struct store_candidate whole, first;
    enum status status = read_whole(store, arena, run, best, &whole, diags);
    if (status == STATUS_OK && start != best)
        status = read_whole(store, arena, run, start, &first, diags);
    if (status != STATUS_OK)
        return status;
    *facts = archive_facts(arena, archive_verdict(&whole));
    if (start != best)
        search->code_bleu = likeness(&first, &whole);
    return STATUS_OK;
}

enum status
figures_read(struct store *store, struct arena *arena, const struct archive_run *run,
             const struct figures_wish *wish, struct bench_search *search, struct diags *diags)
{
    const struct store_candidate *best = archive_candidate(run, run->row.leader);
    const char *name = first_case(arena, &run->row);
    struct archive_facts facts = {.light_us = NAN, .baseline_us = NAN};
    enum status status = STATUS_OK;
    *search = (struct bench_search){.best_us = NAN, .code_bleu = NAN, .limit = ""};
    if (best != NULL) {
        status = read_best(store, arena, run, best, &facts, search, diags);
        search->best_us = archive_time(best, name);
    }
    search->light_us = facts.light_us;
    search->baseline = wish ? wish->baseline : facts.baseline;
    search->baseline_us = wish ? wish->baseline_us : facts.baseline_us;
    take_attempts(arena, run, name, search);
    if (best != NULL)
        search->limit = limit_text(arena, run, best, &facts, search);
    return status;
}

enum status
figures_of_run(struct store *store, struct arena *arena, const struct archive_run *run,
               struct bench_figures *figures, struct diags *diags)
{
    struct bench_search search;
    enum status status = figures_read(store, arena, run, NULL, &search, diags);
    bench_figure(arena, (const struct bench_search *const[]){&search}, 1,
                 &(struct bench_terms){.baseline = search.baseline,
                                       .evaluations = NAN,
                                       .threads = archive_machine(&run->row).threads},
                 figures);
    return status;
}

/* ---- on a screen ---- */

static const char *
cell(struct arena *arena, double value, const char *unit)
{
    if (isnan(value))
        return "-";
    return strcmp(unit, "%") == 0 ? arena_printf(arena, "%.0f %%", 100 * value)
                                  : arena_printf(arena, "%.2f%s", value, unit);
}

static void
put_whole(struct buf *out, const struct bench_figures *figures)
{
    struct arena *arena = out->arena;
    struct table table = table_create(arena);
    table_column(&table, "compile rate", false);
    table_column(&table, "correct", false);
    table_column(&table, "SOL score", false);
    table_column(&table, "area under best-so-far", false);
    table_column(&table, "CodeBLEU to the start", false);
    table_row(&table, (const char *[]){cell(arena, figures->compile_rate, "%"),
                                       cell(arena, figures->correct_rate, "%"),
                                       cell(arena, figures->light_score, ""),
                                       cell(arena, figures->area, "x"),
                                       cell(arena, figures->code_bleu, "")});
    table_print(out, &table);
}

static void
put_best_of(struct buf *out, const struct bench_figures *figures)
{
    struct arena *arena = out->arena;
    struct table table = table_create(arena);
    static const char *const columns[] = {"k",         "build@k",      "pass@k",
                                          "speedup@k", "efficiency@k", "Perf@k"};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        table_column(&table, columns[i], false);
    for (unsigned i = 0; i < BENCH_AT_COUNT; i++) {
        const struct bench_at *at = &figures->at[i];
        if (!isnan(at->build))
            table_row(&table, (const char *[]){
                                  arena_printf(arena, "%zu", at->k), cell(arena, at->build, "%"),
                                  cell(arena, at->pass, "%"), cell(arena, at->speedup, "x"),
                                  cell(arena, at->efficiency, ""), cell(arena, at->perf, "")});
    }
    table_print(out, &table);
}

void
figures_show(struct buf *out, const struct bench_figures *figures, const char *whose)
{
    bool one = figures->attempts == 1;
    buf_printf(out, "\n  %sfigures over %s kernel%s that %s judged, against %s (doc/metrics.md)\n",
               whose, screen_number(out->arena, (int64_t)figures->attempts), one ? "" : "s",
               one ? "was" : "were", figures->baseline ? figures->baseline : "nothing");
    put_whole(out, figures);
    put_best_of(out, figures);
}

/* ---- for programs ---- */

void
figures_json(struct buf *out, const struct bench_figures *figures)
{
    buf_puts(out, "{\"baseline\":");
    json_put_string(out, figures->baseline);
    json_field_number(out, "attempts", (double)figures->attempts);
    json_field_number(out, "compile_rate", figures->compile_rate);
    json_field_number(out, "correct_rate", figures->correct_rate);
    json_field_number(out, "sol_score", figures->light_score);
    json_field_number(out, "area", figures->area);
    json_field_number(out, "code_bleu", figures->code_bleu);
    buf_puts(out, ",\"best_of\":[");
    for (unsigned i = 0; i < BENCH_AT_COUNT; i++) {
        const struct bench_at *at = &figures->at[i];
        buf_printf(out, "%s{\"k\":%zu", i ? "," : "", at->k);
        json_field_number(out, "build", at->build);
        json_field_number(out, "pass", at->pass);
        json_field_number(out, "speedup", at->speedup);
        json_field_number(out, "efficiency", at->efficiency);
        json_field_number(out, "perf", at->perf);
        buf_putc(out, '}');
    }
    buf_puts(out, "]}");
}
