/* measure: how long something takes, whether a difference is real, and what this machine can do.
 *
 *   clock      the time stamp counter where it can be trusted, else the raw monotonic clock
 *   pin        one core, and what was achieved
 *   batch      warm-up, calls for a sample of a given length, samples
 *   stats      exact intervals of a median; the summary of a sample
 *   decide     faster, slower, equal or a tie, from pairs: asks for rounds, is told times
 *   disturb    whether somebody else had the core: run_delay, steal, busy processes
 *   facts      what the processor says about itself
 *   figures    what is measured once and kept: peaks, bandwidths, functions (doc/machine.md)
 *   state      how quiet the machine is now, and whether it is fit to measure on
 *
 * What is returned in structs belongs to the arena that was passed. Times are nanoseconds unless a
 * name says otherwise.
 */
#ifndef HONE_MEASURE_MEASURE_H
#define HONE_MEASURE_MEASURE_H

#include "base/arena.h"
#include "base/log.h"
#include "base/rng.h"
#include "lang/lang.h"

#include <sched.h>
#include <sys/types.h>
#include <time.h>

/* ---- the clock ---- */

struct measure_clock {
    bool tsc; /* the time stamp counter; else CLOCK_MONOTONIC_RAW */
    double ns_per_tick;
};

/* Takes 20 ms where the counter is used: it is calibrated against the system's clock. */
struct measure_clock
measure_clock_open(void);

/* The fences keep what is timed between the two readings. */
static inline uint64_t
measure_ticks(const struct measure_clock *clock)
{
#if defined(__x86_64__)
    if (clock->tsc) {
        __builtin_ia32_lfence();
        uint64_t ticks = __builtin_ia32_rdtsc();
        __builtin_ia32_lfence();
        return ticks;
    }
#else
    (void)clock;
#endif
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline double
measure_ns(const struct measure_clock *clock, uint64_t from, uint64_t to)
{
    return (double)(to - from) * clock->ns_per_tick;
}

/* What one reading costs: the median of two readings with nothing between. */
double
measure_clock_overhead(const struct measure_clock *clock);

/* ---- one core ---- */

/* The processors this thread may use, in order. */
size_t
measure_cpus(struct arena *arena, int **cpus);

struct measure_pin {
    bool pinned; /* false: the system refused, the thread may wander */
    int cpu;
    cpu_set_t before;
};

/* Binds the calling thread; measure_unpin gives it back what it had. */
struct measure_pin
measure_pin(int cpu);
void
measure_unpin(const struct measure_pin *pin);

/* ---- statistics ---- */

/* The interval [low, high] of ranks, from 0, of a sorted sample that holds the median of what it
 * was drawn from, with an error of at most alpha. Exact for any distribution (the sign test turned
 * round). False: too few values. */
bool
measure_median_ranks(size_t count, double alpha, size_t *low, size_t *high);

struct measure_summary {
    size_t count;
    double min, p10, median, p90;
    double low, high; /* of the median, 95 %; the extremes where there are fewer than 6 values */
};

/* Sorts the values. count > 0. */
struct measure_summary
measure_summarise(double *values, size_t count);

/* ---- the decision between two kernels ---- */

/*    id         name          what it says of the candidate */
#define MEASURE_VERDICTS(X)                                     \
    X(OPEN, "open")     /* more rounds are wanted */            \
    X(FASTER, "faster") /* the interval lies below -margin */   \
    X(SLOWER, "slower") /* the interval lies above +margin */   \
    X(EQUAL, "equal")   /* the interval lies within +-equal */  \
    X(TIE, "tie")       /* none of these after the last look */ \
    X(NOISY, "noisy")   /* too many rounds were disturbed: no statement */

enum measure_verdict {
#define X(id, name) MEASURE_##id,
    MEASURE_VERDICTS(X)
#undef X
        MEASURE_VERDICT_COUNT
};

extern const char *const measure_verdict_name[MEASURE_VERDICT_COUNT];

struct measure_rule {
    size_t first, last;     /* looks at first, 2 first, 4 first, ... last rounds */
    double alpha;           /* of all looks together; each gets its equal part */
    double margin, equal;   /* of the logarithm of the ratio */
    double disturbed_share; /* of the rounds; above: NOISY */
    uint64_t seed;          /* of the order within each round */
};

/* 16 to 512 rounds, 5 %, +-0.25 %, +-1 %, 30 %. */
extern const struct measure_rule measure_usual_rule;

struct measure_decision; /* lives in the arena; no clock, no randomness but the rule's seed */

struct measure_decision *
measure_decision_create(struct arena *arena, const struct measure_rule *rule);

/* Whether another round is wanted. */
bool
measure_decision_asks(const struct measure_decision *decision);

/* Which of the two is to run first in the next round. */
bool
measure_decision_candidate_first(const struct measure_decision *decision);

/* The times of one round, > 0. A disturbed round is counted and not used: both are run again. */
void
measure_decision_tell(struct measure_decision *decision, double incumbent, double candidate,
                      bool disturbed);

struct measure_outcome {
    enum measure_verdict verdict;
    double ratio, low, high; /* candidate / incumbent and its interval; NaN before the first look */
    size_t rounds, disturbed;
};

struct measure_outcome
measure_decision_outcome(const struct measure_decision *decision);

/* ---- work in this process ---- */

struct measure_work {
    void (*run)(void *context, size_t calls);
    void *context;
};

/* How many calls fill a sample of about `ns`: warms up and doubles until one is long enough. */
size_t
measure_calls_for(const struct measure_clock *clock, const struct measure_work *work, double ns);

/* Time of one call, from a sample of `calls`. */
double
measure_sample(const struct measure_clock *clock, const struct measure_work *work, size_t calls);

/* Interleaved pairs until the decision is made. */
struct measure_outcome
measure_compare(struct arena *arena, const struct measure_clock *clock,
                const struct measure_work *incumbent, const struct measure_work *candidate,
                double sample_ns, const struct measure_rule *rule);

/* ---- disturbance ---- */

struct measure_schedstat {
    uint64_t run_ns, wait_ns; /* on a core; runnable, while another had it */
};

/* The text of /proc/PID/schedstat. */
bool
measure_parse_schedstat(const char *text, struct measure_schedstat *stat);

/* Of a thread; 0: the calling one. */
bool
measure_read_schedstat(pid_t thread, struct measure_schedstat *stat);

/* A sample is disturbed if its thread waited for more than a hundredth of it. */
bool
measure_disturbed(const struct measure_schedstat *before, const struct measure_schedstat *after,
                  double sample_ns);

struct measure_ticks_of {
    uint64_t all, idle, steal; /* of all processors, in ticks since the start */
};

/* The first line of /proc/stat. */
bool
measure_parse_stat(const char *text, struct measure_ticks_of *ticks);

struct measure_busy {
    pid_t pid;
    char name[16];
    int cpu;      /* where it ran last */
    double share; /* of one core */
    uint64_t ticks;
};

/* The text of /proc/PID/stat; share is left 0. */
bool
measure_parse_process(const char *text, struct measure_busy *process);

/* ---- what the processor says ---- */

#define MEASURE_LEVELS 4

struct measure_cache {
    unsigned level;
    double bytes, all_bytes; /* of one instance; of those that the allowed processors have */
};

struct measure_facts {
    const char *cpu;    /* "AMD EPYC" */
    const char *family; /* "Zen 3"; NULL: not known */
    unsigned threads;   /* processors this program may use */
    unsigned cores;     /* and the cores they belong to */
    const char *vector; /* "AVX2" */
    unsigned vector_bits, vector_registers;
    unsigned cache_count;
    struct measure_cache cache[MEASURE_LEVELS]; /* data caches, nearest first */
    const char *hypervisor;                     /* "KVM", "yes"; NULL: not a virtual machine */
    bool counters;                              /* hardware counters can be opened */
    const char *governor;                       /* of the clock rate; NULL: none is told */
    const char *clock_source;
};

void
measure_facts_read(struct arena *arena, struct measure_facts *facts);

struct measure_cpuinfo {
    const char *vendor, *name;
    unsigned family, model, stepping;
};

/* The text of /proc/cpuinfo, first processor. */
void
measure_parse_cpuinfo(struct arena *arena, const char *text, struct measure_cpuinfo *info);

/* "Zen 3", or NULL. */
const char *
measure_family_name(const struct measure_cpuinfo *info);

/* ---- what is measured and kept ---- */

enum { MEASURE_ONE, MEASURE_ALL, MEASURE_SCOPES }; /* one core; all threads together */

struct measure_figures {
    double gflops_f32[MEASURE_SCOPES], gflops_f64[MEASURE_SCOPES];
    unsigned level_count;
    struct {
        char name[8];
        double bytes; /* of all threads; the last one: infinite */
        double gbs[MEASURE_SCOPES];
        double store_gbs; /* writing alone, all threads */
    } level[MEASURE_LEVELS + 1];
    double function_ns[OP_COUNT]; /* f32, one element, all threads together */
    double timer_ns, handshake_ns;
    double noise;   /* while it was measured */
    double seconds; /* what measuring took */
    double time;    /* when, seconds since 1970 */
};

/* About four seconds. Progress goes to the log. STATUS_MACHINE with a message: no memory. */
enum status
measure_figures_take(struct arena *arena, const struct measure_facts *facts,
                     const struct measure_clock *clock, struct log *log,
                     struct measure_figures *figures, struct diags *diags);

/* The kept description, if there is one of this machine. `path` is where it was looked for, NULL if
 * there is no cache folder; $HONE_MACHINE names another (`named`), which is taken as it is. */
struct measure_kept {
    const char *path;
    bool named;
    bool whole; /* figures are filled */
    struct measure_figures figures;
};

void
measure_kept_read(struct arena *arena, struct measure_kept *kept);

enum status
measure_keep(struct arena *arena, const char *path, const struct measure_facts *facts,
             const struct measure_figures *figures, struct diags *diags);

/* ---- how quiet it is now ---- */

#define MEASURE_MOST_BUSY 4
#define MEASURE_MOST_REASONS 4

struct measure_state {
    double noise; /* the middle of |log(a/a')| over pairs of samples of the same work */
    struct measure_outcome same; /* the decision between the work and itself */
    double steal;                /* share of the time that the host took */
    double waited;               /* share of the time that this thread waited for its core */
    double others;               /* share of all cores that other processes had */
    bool pinned;
    unsigned busy_count;
    struct measure_busy busy[MEASURE_MOST_BUSY]; /* the busiest first, above a tenth of a core */
    bool fit;
    unsigned reason_count; /* why it is not fit */
    const char *reason[MEASURE_MOST_REASONS];
};

/* Half a second. */
void
measure_state_read(struct arena *arena, const struct measure_clock *clock,
                   struct measure_state *state);

/* Sets fit and the reasons from the rest. */
void
measure_judge_state(struct arena *arena, struct measure_state *state);

/* What would make it quieter, in a few words each; at most MEASURE_MOST_ADVICE. */
#define MEASURE_MOST_ADVICE 6

unsigned
measure_advice(struct arena *arena, const struct measure_facts *facts,
               const struct measure_figures *figures, const struct measure_state *state,
               const char *advice[MEASURE_MOST_ADVICE]);

#endif
