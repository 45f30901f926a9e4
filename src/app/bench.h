/* The pieces of `hone bench`. */
#ifndef HONE_APP_BENCH_H
#define HONE_APP_BENCH_H

#include "app/cli.h"
#include "bench/bench.h"
#include "bench/figures.h"
#include "store/store.h"

/* What screens show: a benchmark and its rows, as the archive has them. */
struct bench_view {
    struct store_bench bench;
    struct store_bench_task *rows;
    size_t count;
    struct bench_search *searches; /* of each row; NULL: nobody asked for figures of them */
};

/* A benchmark of the archive by its name (verb_bench.c). */
enum status
bench_read_view(struct cli *cli, struct store *store, const char *name, struct bench_view *view);

/* The names of the baselines that it is against, then of those that any of its tasks has and that
 * are shown only; separated by commas. */
const char *
bench_shown(struct arena *arena, const struct bench_view *view);

/* How its figures are to be called wherever they are shown; NULL: as you like. */
const char *
bench_label(const struct bench_view *view);

/* ---- options and plan (bench_options.c) ---- */

/* What is wrong is told before anything is begun, not once a task. */
enum status
bench_check_options(struct cli *cli);

/* Tasks that are measured at once share the processors, or they would measure one another. threads:
 * of each, 0: as many as there are for it. */
enum status
bench_read_jobs(struct cli *cli, unsigned threads, unsigned *jobs);

/* A new benchmark as the command line has it: rows, recipes, baselines, title; threads of a task.
 */
enum status
bench_plan(struct cli *cli, struct bench_view *view, unsigned *threads);

/* An option as it was given when the benchmark began; NULL: it was not. */
const char *
bench_option(struct arena *arena, const struct store_bench *bench, const char *name);

/* As if the verb were `optimize`, with the options of the benchmark and this recipe. */
void
bench_as_search(const struct cli *cli, const struct store_bench *bench, const char *recipe,
                struct cli *search);
void
bench_set_case(struct cli *search, const char *cases);

/* The folder of PyTorch, once the settings were read. */
const char *
bench_torch(const struct cli *cli);

/* The options that a task's search is given: also those of `optimize`. Ended by NULL. */
extern const char *const bench_search_options[];

/* ---- before it (bench_prepare.c) ---- */

/* Makes PyTorch's builds of the tasks on the command line. */
enum status
bench_prepare_all(struct cli *cli);

/* ---- under way (bench_session.c) ---- */

/* Does what is left of a benchmark of the archive, or of a new one (resume is NULL). *store is open
 * then, whatever came of it, or NULL; the view is as it has it. */
enum status
bench_run(struct cli *cli, const char *resume, struct store **store, struct bench_view *view);

/* ---- one task, in a process of its own (bench_task.c) ---- */

/* Measures the row at this place, says what it does on stdout, writes what came of it into the
 * archive. */
enum status
bench_do_task(struct cli *cli, const char *name, int64_t place);

/* What a line of it says; false: it is none. */
struct bench_said {
    unsigned evaluations, most;
    double best_us, light_us; /* best_us is INFINITY at first */
    bool racing;              /* what was found is timed beside the baselines */
};

bool
bench_hear(const char *line, struct bench_said *said);

/* ---- published figures (bench_figures.c) ---- */

void
bench_read_searches(struct store *store, struct arena *arena, struct bench_view *view);

/* The rest is of views whose searches were read. How many evaluations each had: NAN: not known. */
double
bench_allowed(struct arena *arena, const struct store_bench *bench);
void
bench_figures_of(struct arena *arena, const struct bench_view *view, const char *recipe,
                 struct bench_figures *figures);
void
bench_show_figures(struct buf *out, const struct bench_view *view);

/* How many times as fast the second of two benchmarks is as the first after the same cost; *tasks:
 * of how many pairs this is known. */
double
bench_compare_cost(struct arena *arena, const struct bench_view *before,
                   const struct bench_view *after, const struct bench_comparison *comparison,
                   enum bench_cost cost, size_t *tasks);

/* The field "equal_cost" of a recipe. */
void
bench_put_equal_costs(struct buf *out, const struct bench_view *view, const char *recipe);

/* ---- screens (bench_screen.c) ---- */

struct bench_now { /* a task that is under way; what is known of it */
    size_t place;
    const struct store_bench_task *row;
    struct bench_said said;
    double began;
};

struct bench_live {
    const struct bench_view *view;
    const struct bench_now *now;
    size_t now_count;
    const struct store_bench_task *const *last; /* that ended, the newest first */
    size_t last_count;
    double seconds; /* since this process began it */
    size_t here;    /* tasks that ended in it */
    bool news;      /* one has just ended */
};

/* "1.31x", "same" */
const char *
bench_ratio_text(struct arena *arena, double ratio);
void
bench_show_live(struct log *log, struct arena *arena, const struct bench_live *live);
void
bench_show_summary(struct buf *out, const struct bench_view *view);
/* Equal costs are told where both searches were read. */
void
bench_show_comparison(struct buf *out, const struct bench_view *before,
                      const struct bench_view *after, const struct bench_comparison *comparison,
                      double gate, int verbosity);

/* ---- for programs (bench_json.c) ---- */

void
bench_put_json(struct buf *out, const struct bench_view *view);
void
bench_put_csv(struct buf *out, const struct bench_view *view);
void
bench_put_comparison(struct buf *out, const struct bench_view *before,
                     const struct bench_view *after, const struct bench_comparison *comparison,
                     double gate);

#endif
