/* A kernel that was found against others who can do the same, in one case of its task: PyTorch, and
 * libraries where the task is exactly something that they have. */
#ifndef HONE_BENCH_RIVALS_H
#define HONE_BENCH_RIVALS_H

#include "judge/judge.h"
#include "store/store.h"

/* Libraries whose own a program exactly is, each in a process that waits. They are asked to stand
 * by before anything here starts threads (library_open). */
struct bench_standby;

struct bench_standby *
bench_stand_by(struct arena *arena, const char *against, const struct program *program);
void
bench_stand_down(struct bench_standby *standby); /* NULL is allowed */

struct bench_rivalry {
    struct judge *judge;
    struct lang *lang;
    size_t case_number;
    const struct target *target;
    unsigned threads; /* of all */
    uint64_t seed;    /* of the inputs that they get */
    const char *suite, *path;
    const char *torch;                   /* the folder of PyTorch; NULL: the usual one */
    const char *kernel;                  /* text; it was judged before, */
    double judged_us;                    /* and took so long, */
    double light_us;                     /* where so long is the least that is possible */
    const struct bench_standby *standby; /* NULL: no library takes part */
};

/*    id       name        whether every task has one, or those that are exactly its own */
#define BENCH_RIVALS(X)            \
    X(TORCH, "torch", true)        \
    X(OPENBLAS, "openblas", false) \
    X(ONEDNN, "onednn", false)

/* The names of BENCH_RIVALS, ended by NULL. */
extern const char *const bench_rival_names[];

/* Whether a baseline of this name is there for some tasks only. */
bool
bench_is_partial(const char *baseline);

/* Builds that are shown and never claimed against, ended by NULL. */
extern const char *const bench_shown_only[];

#define BENCH_SHIPPED "torch.as shipped"

bool
bench_is_claimed(const char *baseline);

struct bench_absent {
    const char *name;      /* of the first that should have taken part and did not; NULL: none */
    struct diags *reasons; /* why */
};

/* Rows as bench_run_race() gives them, of those whose names are in `against`, separated by commas.
 * STATUS_NO, with the reason: the kernel is wrong, dies or is incredibly fast where it is raced.
 * PyTorch is absent where it has no such model or no build works, a library where it cannot be
 * used; a task that is not exactly its own is no absence. */
enum status
bench_against(struct arena *arena, const struct bench_rivalry *rivalry, const char *against,
              struct store_baseline **rows, size_t *count, struct bench_absent *absent,
              struct diags *diags);

/* Makes those builds of PyTorch that are kept once they were made: a race then waits for no
 * compiler. False: there is no such model, or no build works. */
bool
bench_prepare(struct arena *arena, const struct bench_rivalry *rivalry, struct diags *diags);

/* "torch" of "torch,naive" */
bool
bench_is_against(const char *against, const char *name);

#endif
