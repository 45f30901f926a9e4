/* The screens of `hone show`. */
#ifndef HONE_APP_SHOW_H
#define HONE_APP_SHOW_H

#include "app/archive.h"
#include "bench/figures.h"

/* ---- all runs and benchmarks ---- */

struct show_list {
    const struct store_run *runs;
    size_t count;
    const struct store_bench *benches;
    size_t bench_count;
    struct store_totals totals;
    const char *task; /* only of this one; NULL: of all */
    double now;
};

void
show_runs(struct buf *buf, const struct show_list *list);
void
show_runs_json(struct buf *buf, const struct show_list *list);

/* What --find found. */
void
show_hits(struct buf *buf, const struct store_hit *hits, size_t count);
void
show_hits_json(struct buf *buf, const struct store_hit *hits, size_t count);

/* ---- a run ---- */

/* "attention  recipe hone, MODEL, 2 threads, seed 7     done, 5:47, 0.61 USD" */
void
show_title(struct buf *buf, const struct archive_run *run, double now);

/* Title, tree, figures unless they are NULL, what came of the proposals. */
void
show_tree(struct buf *buf, const struct archive_run *run, const struct bench_figures *figures,
          double now);

/* "17 proposals: 4 accepted, 6 slower, 4 wrong" */
const char *
show_tally(struct arena *arena, const struct archive_run *run);

/* Its calls, one a line. */
void
show_calls(struct buf *buf, const struct archive_run *run);

void
show_run_json(struct buf *buf, const struct archive_run *run, const struct bench_figures *figures,
              double now);

/* ---- a candidate ---- */

struct show_candidate {
    const struct archive_run *run;
    const struct store_candidate *candidate; /* the whole of it, */
    const struct store_candidate *parent;    /* of this or another run; NULL: it has none */
    const char *parent_name;                 /* ".66", "k7f3.66" */
    const struct store_call *call;           /* and of the call; NULL: none proposed it */
};

void
show_candidate(struct buf *buf, const struct show_candidate *shown);
void
show_candidate_json(struct buf *buf, const struct show_candidate *shown);

/* The hot loop of its machine code, compiled again in the box, and what it says; as JSON if that is
 * asked for. */
enum status
show_asm(struct cli *cli, const struct show_candidate *shown);

/* The unified diff to its parent; nothing without one. */
struct diff_count
show_diff(struct arena *arena, struct buf *buf, const struct show_candidate *shown);

#endif
