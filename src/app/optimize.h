/* The screens of `hone optimize`. */
#ifndef HONE_APP_OPTIMIZE_H
#define HONE_APP_OPTIMIZE_H

#include "app/cli.h"
#include "run/run.h"

struct optimize_view { /* what the live block needs besides the progress itself */
    struct cli *cli;
    const char *task;
    unsigned threads;
};

/* Reads the command line; `machine` and `target` are filled in before, and what the kernel must
 * keep to narrows the machine. */
enum status
optimize_read_options(struct cli *cli, struct run_options *options);

/* A kernel file to begin with. */
enum status
optimize_start(struct cli *cli, const char *path, const struct target *target,
               const struct run_start **start);

/* A run_options.progress. */
void
optimize_progress(void *view, const struct run_progress *progress);

/* What there is to show at the end. */
struct optimize_result {
    const char *task, *file;
    const char *run; /* NULL: nothing was recorded */
    const struct run_options *options;
    const struct run_result *result;
};

void
optimize_screen(struct buf *out, const struct optimize_result *shown);
void
optimize_json(struct buf *out, const struct optimize_result *shown);

#endif
