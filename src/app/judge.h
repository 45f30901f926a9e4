/* The pieces of `hone judge`. */
#ifndef HONE_APP_JUDGE_H
#define HONE_APP_JUDGE_H

#include "app/cli.h"
#include "judge/judge.h"

struct trial { /* a kernel and what came of it */
    const char *file;
    struct source source;
    struct judge_kernel *kernel; /* kept for the ranking; NULL: not correct */
    struct judge_report report;
};

struct standing { /* of the ranking, best first */
    const struct trial *trial;
    struct measure_outcome against_best; /* of its time; ratio 1 for the best itself */
};

/* "1.9x", or "same" where the difference lies within the noise. */
const char *
judge_gain_text(struct arena *arena, const struct judge_pair *pair);

/* NULL: none was timed. */
const struct judge_case *
judge_first_timed(const struct judge_report *report);

/* One kernel. */
void
judge_screen(struct buf *buf, const char *task_file, const struct trial *trial, int verbosity);

/* Several: the ranking of those that are correct, then the others. */
void
judge_ranking(struct buf *buf, const char *task_file, const struct standing *standings,
              size_t count, const struct trial *trials, size_t trial_count);

/* The verdict on a text that is in no file yet, in one case of the task that the first operand
 * names, as `hone judge` shows it; its exit code. */
enum status
judge_text(struct cli *cli, struct lang *lang, size_t number, const char *file, const char *text,
           size_t length);

#endif
