/* The screens of `hone optimize`: the live block, the result, the result as JSON. */
#include "app/optimize.h"

#include <math.h>
#include <string.h>

#include "app/judge.h"
#include "app/screen.h"
#include "app/table.h"
#include "base/json.h"
#include "base/text.h"

/* ---- live ---- */

/* Speed over evaluations, at most ten marks. The last is not always the fastest: a best that was
   measured again may have turned out slower. */
static const char *
sparkline(struct arena *arena, const double *us, size_t count)
{
    static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const plain[] = {".", ":", "-", "=", "+", "*", "#", "#"};
    bool utf8 = screen_utf8();
    struct buf buf = buf_in(arena);
    size_t marks = count < 10 ? count : 10;
    for (size_t i = 0; i < marks; i++) {
        double value = us[(i + 1) * count / marks - 1];
        double share = isinf(value) || isinf(us[count - 1]) ? 0 : fmin(us[count - 1] / value, 1);
        int height = (int)(share * 7.99);
        buf_puts(&buf, utf8 ? bars[height] : plain[height]);
    }
    return buf.data ? buf.data : "";
}

/* The root of the last group: what the kernel mostly is. */
static const char *
last_line(struct arena *arena, const char *schedule)
{
    size_t length = strlen(schedule);
    while (length > 0 && schedule[length - 1] == '\n')
        length--;
    size_t start = length;
    while (start > 0 && schedule[start - 1] != '\n')
        start--;
    return arena_strndup(arena, schedule + start, length - start < 66 ? length - start : 66);
}

void
optimize_announce(const struct optimize_view *view, const struct run_options *options)
{
    struct arena *arena = view->cli->arena;
    const char *line = arena_printf(
        arena, "%s: %zu case%s, %u thread%s, %u evaluations%s at most", view->task,
        options->case_count, options->case_count == 1 ? "" : "s", view->threads,
        view->threads == 1 ? "" : "s", options->evaluations,
        options->seconds > 0 ? arena_printf(arena, " and %s", screen_clock(arena, options->seconds))
                             : "");
    log_progress(&view->cli->log, &line, 1, line, true);
}

/* At most so long, by evaluations and by the clock. */
static double
seconds_left(const struct run_progress *progress)
{
    double left = INFINITY;
    if (progress->evaluations > 0)
        left = progress->seconds / progress->evaluations *
               (progress->most - fmin(progress->evaluations, progress->most));
    if (progress->most_seconds > 0)
        left = fmin(left, progress->most_seconds - progress->seconds);
    return isinf(left) ? 0 : fmax(left, 0);
}

/* "   2.2x naive"; nothing where that is not known. */
static const char *
gain_text(struct arena *arena, const struct run_progress *progress)
{
    double gain = progress->naive_us / progress->best_us;
    return gain > 0 ? arena_printf(arena, "   %.*fx naive", gain < 10 ? 1 : 0, gain) : "";
}

void
optimize_progress(void *context, const struct run_progress *progress)
{
    struct optimize_view *view = context;
    struct arena *arena = view->cli->arena;
    const char *lines[3];
    const char *best =
        isinf(progress->best_us) ? "nothing yet" : table_time(arena, progress->best_us);
    double light = isinf(progress->best_us) ? 0 : progress->light_us / progress->best_us;
    const char *gain = gain_text(arena, progress);
    lines[0] = arena_printf(arena, "%s  case %s (%zu of %zu)   limit: %s, %s   %u threads",
                            view->task, progress->program->case_name, progress->case_number + 1,
                            progress->case_count, progress->limit ? progress->limit : "not known",
                            table_time(arena, progress->light_us), view->threads);
    lines[1] = arena_printf(arena, " %3u/%u  %s  best %s   %.0f %% light%s   %s, at most %s to go",
                            progress->evaluations, progress->most,
                            sparkline(arena, progress->history, progress->history_count), best,
                            100 * light, gain, screen_clock(arena, progress->seconds),
                            screen_clock(arena, seconds_left(progress)));
    lines[2] =
        arena_printf(arena, " now  %s   %s", last_line(arena, progress->schedule), progress->said);
    const char *plain =
        arena_printf(arena, "%s: %s %u/%u %s %.0f %% light%s  %s", view->task,
                     progress->program->case_name, progress->evaluations, progress->most, best,
                     100 * light, gain, last_line(arena, progress->schedule));
    log_progress(&view->cli->log, lines, 3, plain, progress->better);
    log_detail(&view->cli->log, "#%u %s: %s", progress->evaluations, progress->said,
               progress->schedule);
}

/* ---- the result ---- */

static const struct judge_pair *
naive_of(const struct judge_case *row)
{
    for (size_t i = 0; i < row->pair_count; i++)
        if (strcmp(row->pairs[i].name, "naive") == 0)
            return &row->pairs[i];
    return NULL;
}

static void
put_cases(struct buf *out, const struct run_result *result)
{
    struct table table = table_create(out->arena);
    table_column(&table, "case", true);
    table_column(&table, "time", false);
    table_column(&table, "light", false);
    table_column(&table, "naive", false);
    table_column(&table, "gain", false);
    table_column(&table, "limited by", true);
    for (size_t i = 0; i < result->report.case_count; i++) {
        const struct judge_case *row = &result->report.cases[i];
        if (!row->timed) {
            table_row(&table, (const char *[]){row->program->case_name, "checked", "", "", "", ""});
            continue;
        }
        const struct judge_pair *naive = naive_of(row);
        double wide = 100 * (row->time.high - row->time.low) / 2 / row->time.median;
        table_row(&table, (const char *[]){row->program->case_name,
                                           arena_printf(out->arena, "%s ±%.0f %%",
                                                        table_time(out->arena, row->time.median),
                                                        wide < 1 ? 1 : wide),
                                           arena_printf(out->arena, "%.0f %%", 100 * row->share),
                                           naive ? table_time(out->arena, naive->time.median) : "",
                                           naive ? judge_gain_text(out->arena, naive) : "",
                                           row->light.limit});
    }
    table_print(out, &table);
}

/* Behind its title. */
static void
put_paragraph(struct buf *out, const char *title, const char *text)
{
    screen_paragraph(out, arena_printf(out->arena, "  %s", title), 9, text);
}

/* What was found for one case, after the words that stand once. */
static void
put_how(struct buf *out, const struct optimize_result *shown, size_t number)
{
    const struct run_case *row = &shown->result->cases[number];
    const char *title = "How";
    if (shown->result->case_count > 1)
        buf_printf(out, "  case %s\n", row->program->case_name);
    const struct run_start *start = shown->options->start;
    if (row->best->schedule == NULL) {
        const char *who = row->best->proposer;
        put_paragraph(
            out, title,
            start != NULL && !strcmp(who, "start")
                ? arena_printf(out->arena, "%s as it is: nothing was faster.", start->file)
            : !strcmp(who, RUN_PLAIN) ? "The plain C of the operator: no schedule was faster."
                                      : arena_printf(out->arena, "C by %s.", who));
        return;
    }
    size_t before = 0; /* the case that had the same words */
    while (before < number && (shown->result->cases[before].words == NULL || row->words == NULL ||
                               strcmp(shown->result->cases[before].words, row->words) != 0))
        before++;
    if (row->words != NULL) {
        put_paragraph(out, title,
                      before < number
                          ? arena_printf(out->arena, "As in case %s.",
                                         shown->result->cases[before].program->case_name)
                          : row->words);
        title = "";
    }
    if (before == number ||
        strcmp(shown->result->cases[before].best->schedule, row->best->schedule) != 0)
        put_paragraph(out, title, row->best->schedule);
}

/* " -Ofast": what the file asks for on top of it. */
static const char *
flags_of(struct arena *arena, const char *kernel)
{
    static const char word[] = "//! flags";
    if (!text_starts(kernel, word))
        return "";
    const char *flags = kernel + strlen(word);
    return arena_strndup(arena, flags, strcspn(flags, "\n"));
}

static void
put_next(struct buf *out, const struct optimize_result *shown)
{
    const char *gcc = arena_printf(out->arena, "gcc -O2 -march=native%s -fopenmp",
                                   flags_of(out->arena, shown->result->kernel));
    bool ours = false; /* else somebody's kernel is given back as it came */
    for (size_t i = 0; i < shown->result->case_count; i++)
        ours = ours || shown->result->cases[i].best->schedule != NULL ||
               strcmp(shown->result->cases[i].best->proposer, "start") != 0;
    if (ours)
        buf_printf(out, "\n%s written, stands alone:   %s -c %s\n", shown->file, gcc, shown->file);
    else
        buf_printf(out, "\n%s written.\n", shown->file);
    if (ours) {
        const struct program *first = shown->result->cases[0].program;
        buf_puts(out, "from C:   ");
        shown->options->target->signature(out, first);
        buf_puts(out, ";\n");
        if (shown->result->case_count > 1 && first->dim_count > 0)
            buf_printf(out, "          with the sizes of case %s; -D%s=... and so on for another\n",
                       first->case_name, first->dims[0].name);
        buf_printf(out, "test and time it:   %s -DHONE_MAIN %s -lm && ./a.out\n", gcc, shown->file);
    }
    if (shown->run != NULL)
        buf_printf(out, "run %s.   hone show %s | hone explain %s | hone report %s\n", shown->run,
                   shown->run, shown->run, shown->run);
}

static bool
asks_roles(const struct recipe *recipe)
{
    for (size_t i = 0; i < recipe->phase_count; i++)
        if (recipe->phases[i].role_count > 0)
            return true;
    return false;
}

/* A recipe with roles that nobody heard of: why. */
static void
put_silence(struct buf *out, const struct optimize_result *shown)
{
    const char *stopped = shown->result->stopped;
    const struct llm_budget *budget = shown->options->team->budget;
    const char *limit = budget ? llm_budget_reached(budget) : NULL;
    const char *why = "";
    if (limit != NULL)
        why = arena_printf(out->arena, ": the limit on %s is reached; --%s N raises it", limit,
                           limit);
    else if (strcmp(stopped, "light") == 0)
        why = ": what was drafted is near enough to the speed of light";
    else if (strcmp(stopped, "evals") == 0 || strcmp(stopped, "time") == 0)
        why = arena_printf(out->arena, ": the limit on %s was reached before", stopped);
    put_paragraph(out, "Team",
                  arena_printf(out->arena, "recipe %s, %s: nobody was asked%s.", shown->recipe,
                               shown->model, why));
}

/* What came of those who proposed besides the built-in search. */
static void
put_team(struct buf *out, const struct optimize_result *shown)
{
    const struct run_result *result = shown->result;
    const struct run_team *team = shown->options->team;
    struct buf text = buf_in(out->arena);
    if (team != NULL && result->proposals + result->unusable == 0 && asks_roles(team->recipe))
        put_silence(out, shown);
    if (team == NULL || result->proposals + result->unusable == 0)
        return;
    const struct run_candidate *best = result->cases[0].best;
    bool won = !isinf(result->drafted_us) && best->us < result->drafted_us &&
               strcmp(best->proposer, "builtin") != 0;
    buf_printf(&text, "recipe %s, %s: %u proposals, %u accepted, %u unusable replies. ",
               shown->recipe, shown->model, result->proposals, result->accepted, result->unusable);
    if (!isinf(result->drafted_us))
        buf_printf(&text,
                   won ? "What it began with took %s."
                       : "What it began with stands: none was faster beyond the noise than "
                         "%s.",
                   table_time(out->arena, result->drafted_us));
    if (team->budget != NULL && team->budget->calls_begun > 0)
        buf_printf(&text, " %.0f calls, %.0fk tokens in (%.0fk cached), %.0fk out, %.2f USD.",
                   team->budget->calls_begun, team->budget->input_spent / 1000,
                   team->budget->cached_spent / 1000, team->budget->output_spent / 1000,
                   team->budget->cost_spent);
    put_paragraph(out, "Team", text.data);
}

void
optimize_screen(struct buf *out, const struct optimize_result *shown)
{
    struct arena *arena = out->arena;
    const struct run_result *result = shown->result;
    const struct judge_case *main = judge_first_timed(&result->report);
    if (main != NULL) {
        const struct judge_pair *naive = naive_of(main);
        buf_printf(out, "%s   %s   %.0f %% of the speed of light   %s%s   %u evaluations, %s\n\n",
                   shown->task, table_time(arena, main->time.median), 100 * main->share,
                   naive ? judge_gain_text(arena, naive) : "", naive ? " naive" : "",
                   result->evaluations, screen_clock(arena, result->seconds));
        put_cases(out, result);
        buf_putc(out, '\n');
    }
    for (size_t i = 0; i < result->case_count; i++)
        put_how(out, shown, i);
    put_team(out, shown);
    if (main != NULL && main->share < 0.95)
        buf_printf(out, "  Left   %.0f %%: the limit is %s%s\n", 100 * (1 - main->share),
                   main->light.limit,
                   strcmp(result->stopped, "you") == 0 ? "; stopped by you" : "");
    put_next(out, shown);
}

/* ---- JSON ---- */

static void
put_speedups(struct buf *out, const struct judge_case *row)
{
    buf_puts(out, ",\"speedups\":{");
    for (size_t i = 0; i < row->pair_count; i++) {
        buf_puts(out, i ? "," : "");
        json_put_string(out, row->pairs[i].name);
        buf_putc(out, ':');
        json_put_number(out, row->pairs[i].speedup);
    }
    buf_putc(out, '}');
}

/* A case, or the first one as the best: what both have. */
static void
put_found(struct buf *out, const struct judge_case *row, const struct run_candidate *best)
{
    json_field_number(out, "time_us", row->timed ? row->time.median : NAN);
    json_field_number(out, "light", row->timed ? row->share : NAN);
    put_speedups(out, row);
    json_field_string(out, "schedule", best->schedule);
    json_field_string(out, "proposer", best->proposer);
}

/* The candidate is the file; its figures are those of the first case that is timed. */
static void
put_best(struct buf *out, const struct optimize_result *shown)
{
    const struct run_result *result = shown->result;
    size_t main = 0;
    while (main + 1 < result->case_count && !result->report.cases[main].timed)
        main++;
    buf_puts(out, ",\"best\":{\"candidate\":");
    json_put_string(out,
                    shown->run && result->number >= 0
                        ? arena_printf(out->arena, "%s.%lld", shown->run, (long long)result->number)
                        : NULL);
    put_found(out, &result->report.cases[main], result->cases[main].best);
    buf_putc(out, '}');
}

static void
put_spent(struct buf *out, const struct run_team *team)
{
    struct llm_budget none = {0};
    const struct llm_budget *spent = team && team->budget ? team->budget : &none;
    json_field_number(out, "calls", spent->calls_begun);
    buf_printf(out, ",\"tokens\":{\"in\":%.0f,\"cached\":%.0f,\"out\":%.0f}", spent->input_spent,
               spent->cached_spent, spent->output_spent);
    json_field_number(out, "cost_usd", spent->cost_spent);
}

void
optimize_json(struct buf *out, const struct optimize_result *shown)
{
    const struct run_result *result = shown->result;
    buf_puts(out, "{\"run\":");
    json_put_string(out, shown->run);
    json_field_string(out, "task", shown->task);
    json_field_string(out, "target", shown->options->target->name);
    json_field_string(out, "recipe", shown->recipe);
    json_field_string(out, "model", shown->model);
    put_best(out, shown);
    buf_puts(out, ",\"cases\":[");
    for (size_t i = 0; i < result->case_count; i++) {
        buf_puts(out, i ? ",{\"name\":" : "{\"name\":");
        json_put_string(out, result->cases[i].program->case_name);
        put_found(out, &result->report.cases[i], result->cases[i].best);
        buf_putc(out, '}');
    }
    buf_printf(out, "],\"evaluations\":%u", result->evaluations);
    json_field_number(out, "seconds", result->seconds);
    put_spent(out, shown->options->team);
    json_field_string(out, "stopped", result->stopped);
    json_field_string(out, "file", shown->file);
    buf_puts(out, "}\n");
}
