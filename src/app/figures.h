/* Published figures (doc/metrics.md) as the archive has them: the searches of runs and benchmarks,
 * and how their figures are shown. */
#ifndef HONE_APP_FIGURES_H
#define HONE_APP_FIGURES_H

#include "app/archive.h"
#include "bench/figures.h"

struct figures_wish {
    const char *baseline;
    double baseline_us; /* in the run's first case, as kernels are timed there */
};

/* What the figures need of a run. Without a wish the baseline is the first one that its best was
 * timed against. */
enum status
figures_read(struct store *store, struct arena *arena, const struct archive_run *run,
             const struct figures_wish *wish, struct bench_search *search, struct diags *diags);

/* A step for each attempt at this case: a kernel that was judged in it, or did not build. */
struct metrics_curve
figures_curve(struct arena *arena, const struct archive_run *run, const char *name);

/* Of a run alone. */
enum status
figures_of_run(struct store *store, struct arena *arena, const struct archive_run *run,
               struct bench_figures *figures, struct diags *diags);

/* A title that begins with whose they are, and two tables; or one object. */
void
figures_show(struct buf *out, const struct bench_figures *figures, const char *whose);
void
figures_json(struct buf *out, const struct bench_figures *figures);

#endif
