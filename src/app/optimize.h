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

/* A run_options.progress. */
void
optimize_progress(void *view, const struct run_progress *progress);

void
optimize_screen(struct buf *out, const char *task, const struct run_result *result,
                const char *file, const char *run);
void
optimize_json(struct buf *out, const char *task, const struct run_result *result, const char *file,
              const char *run);

#endif
