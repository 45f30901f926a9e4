/* A kernel that was found against the builds of PyTorch, in one case of its task. */
#ifndef HONE_BENCH_TORCH_H
#define HONE_BENCH_TORCH_H

#include "judge/judge.h"
#include "store/store.h"

struct bench_rivalry {
    struct judge *judge;
    struct lang *lang;
    size_t case_number;
    const struct target *target;
    unsigned threads; /* of both */
    uint64_t seed;    /* of the inputs that PyTorch gets */
    const char *suite, *path;
    const char *kernel; /* text; it was judged before, */
    double judged_us;   /* and took so long */
};

/* Rows as bench_run_race() gives them, under the name torch. STATUS_NO, with the reason: PyTorch
 * has no such model, or no build of it works. */
enum status
bench_against_torch(struct arena *arena, const struct bench_rivalry *rivalry,
                    struct store_baseline **rows, size_t *count, struct diags *diags);

#endif
