/* Comparing an optimised kernel with what others made, side by side in one process.
 *
 *   rounds    several contestants timed in turn; medians, ratios and their intervals
 *   blas      OpenBLAS and BLIS, for products of matrices
 *   dnnl      oneDNN, versions 2 and 3, for what it has a primitive for besides (bridge/library.h)
 *   worker    one task with one number of threads: loads all, checks, times, prints JSON lines
 *
 * Libraries are found at run time; none is needed to build. What is returned lives in the arena.
 */
#ifndef HONE_BENCH_COMPARE_H
#define HONE_BENCH_COMPARE_H

#include "base/arena.h"
#include "bridge/library.h"
#include "lang/lang.h"

enum { COMPARE_MOST = 8 /* contestants, the kernel among them */ };

/* ---- a task, loaded ---- */

struct compare_task {
    struct arena *arena;
    const char *name; /* of the file, without .op */
    const struct program *program;
    void **buffers; /* inputs, then outputs, 64-byte aligned: the kernel's arguments */
    int threads;
};

/* Sizes of input number `input` as oneDNN and BLAS want them. */
const int64_t *
compare_input(const struct compare_task *task, size_t input);
const int64_t *
compare_output(const struct compare_task *task);
/* The last buffer's elements: where plain libraries write, as the kernel does. */
float *
compare_result(const struct compare_task *task);

/* ---- who takes part ---- */

struct contestants {
    struct library_call list[COMPARE_MOST];
    size_t count;
};

void
contestants_add(struct contestants *all, struct library_call one);

/* Each adds what it has for the task, nothing if the task is not exactly one of its own. */
void
compare_blas(const struct compare_task *task, struct contestants *all);
void
compare_dnnl(const struct compare_task *task, struct contestants *all);

/* ---- timing ---- */

struct standing {
    double us;               /* median of the rounds */
    double ratio, low, high; /* its time over that of contestant 0; 95 % */
    size_t rounds, calls;    /* calls in a round */
};

/* At least `rounds` rounds, and `seconds` of measured time for each contestant. */
void
compare_rounds(struct arena *arena, const struct contestants *all, size_t rounds, double seconds,
               struct standing *standings);

/* ---- the worker process ---- */

struct worker_request {
    const char *op, *object; /* FILE.op, and the kernel with its hone_call() */
    int threads;
    size_t rounds;
    double seconds;
};

/* Prints one JSON line for each rival; an exit code. */
int
compare_worker(const struct worker_request *request);

/* "bench/kernels/gelu.op" -> "gelu" */
char *
compare_name(struct arena *arena, const char *path);

/* The program of a file's default case, NULL after messages on stderr. */
const struct program *
compare_program(struct arena *arena, const char *path);

#endif
