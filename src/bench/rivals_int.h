/* Whoever takes part in a race, opened; each has a file of its own. */
#ifndef HONE_BENCH_RIVALS_INT_H
#define HONE_BENCH_RIVALS_INT_H

#include "bench/bench.h"
#include "bench/rivals.h"

struct bench__entrant {
    struct bench_rival rival;
    void *held; /* what is closed after the race; NULL: nothing */
    void (*close)(void *held);
};

struct bench__terms { /* what holds for all */
    const struct bench_rivalry *rivalry;
    const struct program *program;
    size_t sets;     /* of inputs, as our kernel has them */
    bool precedence; /* our kernel runs before other processes */
};

/* False: it takes no part; with a reason, unless the task is simply not its own. Reasons go to the
 * diags of the entrant's rival, which are there before. */
bool
bench__enter_torch(struct arena *arena, const struct bench__terms *terms,
                   struct bench__entrant *entrant);
bool
bench__enter_library(const struct bench__terms *terms, struct bench__entrant *entrant);

#endif
