/* The screens of `hone optimize`: the live block, the result, the result as JSON. */
#include "app/optimize.h"

#include <langinfo.h>
#include <math.h>
#include <string.h>

#include "app/table.h"
#include "base/num.h"
#include "libhone/face.h"

#define WIDTH 96

static const char *
time_text(struct arena *arena, double us)
{
    struct buf buf = buf_in(arena);
    num_put_time(&buf, us);
    return buf.data;
}

static const char *
clock_text(struct arena *arena, double seconds)
{
    return arena_printf(arena, "%d:%02d", (int)seconds / 60, (int)seconds % 60);
}

/* ---- live ---- */

/* Speed over evaluations, at most ten marks. */
static const char *
sparkline(struct arena *arena, const double *us, size_t count)
{
    static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const plain[] = {".", ":", "-", "=", "+", "*", "#", "#"};
    bool utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    struct buf buf = buf_in(arena);
    size_t marks = count < 10 ? count : 10;
    for (size_t i = 0; i < marks; i++) {
        double value = us[(i + 1) * count / marks - 1];
        double share = isinf(value) ? 0 : us[count - 1] / value;
        int height = (int)(share * 7.99);
        buf_puts(&buf, utf8 ? bars[height] : plain[height]);
    }
    return buf.data ? buf.data : "";
}

static const char *
first_line(struct arena *arena, const char *schedule)
{
    /* the last line is the root of the last group: what the kernel mostly is */
    size_t length = strlen(schedule);
    while (length > 0 && schedule[length - 1] == '\n')
        length--;
    size_t start = length;
    while (start > 0 && schedule[start - 1] != '\n')
        start--;
    return arena_strndup(arena, schedule + start, length - start < 66 ? length - start : 66);
}

void
optimize_progress(void *context, const struct run_progress *progress)
{
    struct optimize_view *view = context;
    struct arena *arena = view->cli->arena;
    const char *lines[3];
    const char *best =
        isinf(progress->best_us) ? "nothing yet" : time_text(arena, progress->best_us);
    double light = isinf(progress->best_us) ? 0 : progress->light_us / progress->best_us;
    double left = progress->evaluations > 0 ? progress->seconds / progress->evaluations *
                                                  (progress->most - progress->evaluations)
                                            : 0;
    lines[0] = arena_printf(arena, "%s  case %s (%zu of %zu)   limit: %s, %s   %u threads",
                            view->task, progress->program->case_name, progress->case_number + 1,
                            progress->case_count, progress->limit ? progress->limit : "not known",
                            time_text(arena, progress->light_us), view->threads);
    lines[1] = arena_printf(
        arena, " %3u/%u  %s  best %s   %.0f %% light   %s, at most %s to go", progress->evaluations,
        progress->most, sparkline(arena, progress->history, progress->history_count), best,
        100 * light, clock_text(arena, progress->seconds), clock_text(arena, left));
    lines[2] =
        arena_printf(arena, " now  %s   %s", first_line(arena, progress->schedule), progress->said);
    const char *plain =
        arena_printf(arena, "%s: %s %u/%u %s %.0f %% light  %s", view->task,
                     progress->program->case_name, progress->evaluations, progress->most, best,
                     100 * light, first_line(arena, progress->schedule));
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

static const char *
gain_text(struct arena *arena, const struct judge_pair *pair)
{
    if (pair == NULL)
        return "";
    if (pair->same)
        return "same";
    return arena_printf(arena, pair->speedup < 10 ? "%.1fx" : "%.0fx", pair->speedup);
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
                                                        time_text(out->arena, row->time.median),
                                                        wide < 1 ? 1 : wide),
                                           arena_printf(out->arena, "%.0f %%", 100 * row->share),
                                           naive ? time_text(out->arena, naive->time.median) : "",
                                           gain_text(out->arena, naive), row->light.limit});
    }
    table_print(out, &table);
}

/* Indented, the first line behind its title; lines that are too long go on in the next one. */
static void
put_paragraph(struct buf *out, const char *title, const char *text)
{
    while (*text) {
        size_t length = (size_t)(strchrnul(text, '\n') - text), most = WIDTH - 9;
        if (length > most) {
            size_t blank = most;
            while (blank > 0 && text[blank] != ' ')
                blank--;
            length = blank > 0 ? blank : most;
        }
        if (length > 0) {
            buf_printf(out, "  %-6s %.*s\n", title, (int)length, text);
            title = "";
        }
        text += length;
        text += *text == '\n' || *text == ' ';
    }
}

static const struct judge_case *
first_timed(const struct run_result *result)
{
    for (size_t i = 0; i < result->report.case_count; i++)
        if (result->report.cases[i].timed)
            return &result->report.cases[i];
    return NULL;
}

void
optimize_screen(struct buf *out, const char *task, const struct run_result *result,
                const char *file, const char *run)
{
    struct arena *arena = out->arena;
    const struct judge_case *main = first_timed(result);
    if (main != NULL) {
        const struct judge_pair *naive = naive_of(main);
        buf_printf(out, "%s   %s   %.0f %% of the speed of light   %s%s   %u evaluations, %s\n\n",
                   task, time_text(arena, main->time.median), 100 * main->share,
                   gain_text(arena, naive), naive ? " naive" : "", result->evaluations,
                   clock_text(arena, result->seconds));
        put_cases(out, result);
        buf_putc(out, '\n');
    }
    for (size_t i = 0; i < result->case_count; i++) {
        const struct run_case *row = &result->cases[i];
        if (result->case_count > 1)
            buf_printf(out, "  case %s\n", row->program->case_name);
        if (row->words != NULL && i == 0)
            put_paragraph(out, "How", row->words);
        put_paragraph(out, row->words != NULL && i == 0 ? "" : "How", row->schedule);
    }
    if (main != NULL && main->share < 0.95)
        buf_printf(out, "  Left   %.0f %%: the limit is %s%s\n", 100 * (1 - main->share),
                   main->light.limit,
                   strcmp(result->stopped, "you") == 0 ? "; stopped by you" : "");
    buf_printf(out, "\n%s written, stands alone:   gcc -O2 -march=native -fopenmp -c %s\n", file,
               file);
    buf_printf(out,
               "test and time it:   gcc -O2 -march=native -fopenmp -DHONE_MAIN %s -lm && ./a.out\n",
               file);
    if (run != NULL)
        buf_printf(out, "run %s.\n", run);
}

/* ---- JSON ---- */

static void
put_number(struct buf *out, double x)
{
    if (isfinite(x))
        buf_printf(out, "%.9g", x);
    else
        buf_puts(out, "null");
}

static void
put_speedups(struct buf *out, const struct judge_case *row)
{
    buf_puts(out, "\"speedups\":{");
    for (size_t i = 0; i < row->pair_count; i++) {
        buf_puts(out, i ? "," : "");
        face_json_string(out, row->pairs[i].name);
        buf_puts(out, ":");
        put_number(out, row->pairs[i].speedup);
    }
    buf_puts(out, "}");
}

void
optimize_json(struct buf *out, const char *task, const struct run_result *result, const char *file,
              const char *run)
{
    const struct judge_case *main = first_timed(result);
    buf_puts(out, "{\"run\":");
    if (run != NULL)
        face_json_string(out, run);
    else
        buf_puts(out, "null");
    buf_puts(out, ",\"task\":");
    face_json_string(out, task);
    buf_puts(out,
             ",\"target\":\"cpu\",\"recipe\":\"builtin\",\"model\":null,\"best\":{\"time_us\":");
    put_number(out, main ? main->time.median : NAN);
    buf_puts(out, ",\"light\":");
    put_number(out, main ? main->share : NAN);
    if (main != NULL) {
        buf_puts(out, ",");
        put_speedups(out, main);
    }
    buf_puts(out, ",\"schedule\":");
    face_json_string(out, result->cases[0].schedule);
    buf_puts(out, ",\"proposer\":\"builtin\"},\"cases\":[");
    for (size_t i = 0; i < result->report.case_count; i++) {
        const struct judge_case *row = &result->report.cases[i];
        buf_puts(out, i ? ",{\"name\":" : "{\"name\":");
        face_json_string(out, row->program->case_name);
        buf_puts(out, ",\"time_us\":");
        put_number(out, row->timed ? row->time.median : NAN);
        buf_puts(out, ",\"light\":");
        put_number(out, row->timed ? row->share : NAN);
        buf_puts(out, ",");
        put_speedups(out, row);
        buf_puts(out, ",\"schedule\":");
        face_json_string(out, i < result->case_count ? result->cases[i].schedule : "");
        buf_puts(out, "}");
    }
    buf_printf(out, "],\"evaluations\":%u,\"seconds\":", result->evaluations);
    put_number(out, result->seconds);
    buf_puts(
        out,
        ",\"calls\":0,\"tokens\":{\"in\":0,\"cached\":0,\"out\":0},\"cost_usd\":0,\"stopped\":");
    face_json_string(out, result->stopped);
    buf_puts(out, ",\"file\":");
    face_json_string(out, file);
    buf_puts(out, "}\n");
}
