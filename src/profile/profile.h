/* profile: what can be said about a kernel without hardware counters.
 *
 *   profile_kernel     compiles it in the box and looks at remarks and machine code
 *   profile_figure     a figure by name: what conditions ask for
 *   profile_put        at most a dozen figures, each with its meaning
 *
 * A kernel's text is not trusted: it is compiled, disassembled and looked at in the box only.
 * Figures that cannot be had are left out, with a word why (struct profile.missing). Nothing here
 * decides anything: what a figure means for the search is said in the technique table (agent).
 *
 * Ownership law: everything lives in the arena given.
 */
#ifndef HONE_PROFILE_PROFILE_H
#define HONE_PROFILE_PROFILE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/status.h"
#include "box/box.h"
#include "lang/lang.h"
#include "target/target.h"

#include <stdint.h>

/* Every figure there can be, most telling first. `shown`: 0, only when it is not zero.
 *    id               name                 unit  shown what it means */
#define PROFILE_FIGURES(X)                                                                        \
    X(US, "us", "us", 1, "time of one call")                                                      \
    X(LIGHT, "light", "%", 1, "of the speed of light; from 92 on little is left")                 \
    X(LIBM_CALLS, "libm_calls", "", 0,                                                            \
      "scalar libm calls in the hot loop; each costs as much as 20 vector instructions")          \
    X(VECTOR_SHARE, "vector_share", "%", 1,                                                       \
      "of the hot loop's float work done in lanes; below 80 it is mostly scalar")                 \
    X(SCALAR_CHAINS, "scalar_chains", "", 0,                                                      \
      "loops that add or compare floats one after the other: each waits for the one before")      \
    X(SPILLS, "spills", "", 1, "vector values moved to and from the stack in the hot loop")       \
    X(GATHERS, "gathers", "", 0, "fetches of single elements into lanes in the hot loop")         \
    X(STRIDE, "stride", "elements", 0,                                                            \
      "between the scalar loads of the hot loop that follow one another; 1 is best")              \
    X(ACCUMULATORS, "accumulators", "", 1,                                                        \
      "independent sums in the hot loop; below 10 the units wait for results")                    \
    X(LOADS_PER_FMA, "loads_per_fma", "", 1,                                                      \
      "loads for each multiply-add of the hot loop; above 1.3 the load ports are the limit")      \
    X(CYCLES, "cycles", "cycles", 1, "of one pass of the hot loop if all data were in L1")        \
    X(PARALLEL_INSIDE, "parallel_inside", "", 0, "parallel regions that are begun inside a loop") \
    X(SCALING, "scaling", "x", 1, "time with one thread over time with all")                      \
    X(INTERMEDIATE_L2, "intermediate_l2", "x", 0, "the largest intermediate result over L2")      \
    X(FREE_REGISTERS, "free_registers", "", 1, "vector registers that the hot loop does not use") \
    X(REMARKS, "remarks", "", 0, "loops that the compiler did not vectorise")                     \
    X(REDUCTION_REMARKS, "reduction_remarks", "", 0, "of those, float sums and maxima")           \
    X(PARALLEL_REGIONS, "parallel_regions", "", 1, "parallel regions in the code")                \
    X(STREAMING_STORES, "streaming_stores", "", 0, "stores that go past the caches")              \
    X(THREADS, "threads", "", 0, "threads in use")                                                \
    X(CONTRACTION, "contraction", "", 0, "sums of products, each operand used again")             \
    X(EXPS_PER_ELEMENT, "exps_per_element", "", 0,                                                \
      "exp, tanh and their like for each element of the outputs")                                 \
    X(OUTPUT_L2, "output_l2", "x", 0, "the outputs over L2")                                      \
    X(OUTPUT_READ, "output_read", "", 0, "outputs that are read again")                           \
    X(K_OVER_MN, "k_over_mn", "", 0, "terms of a sum over the largest size of its result")        \
    X(SHARED_REDUCTIONS, "shared_reductions", "", 0,                                              \
      "reductions over data that another one reads")                                              \
    X(FILTER, "filter", "", 0, "reductions that skip terms by their indices")                     \
    X(PADDING, "padding", "", 0, "loads that may lie outside and take a default")                 \
    X(WINDOW_STRIDE, "window_stride", "elements", 0, "between windows of neighbouring results")   \
    X(ROW_BYTES, "row_bytes", "B", 0, "row of the widest operand of a contraction")               \
    X(ROW_POWER, "row_power", "", 0, "such rows are a power of two: they meet in the cache")      \
    X(EXP_SCALED, "exp_scaled", "", 0, "exponentials of something times a constant")              \
    X(EXP_OPEN, "exp_open", "", 0, "exponentials that may underflow")                             \
    X(ROW_DIVISIONS, "row_divisions", "", 0, "divisions by what stays the same along a row")      \
    X(CHEAP_STAGES, "cheap_stages", "", 0, "intermediates read once and cheap to compute again")

enum profile_name {
#define X(id, ...) PROFILE_##id,
    PROFILE_FIGURES(X)
#undef X
        PROFILE_FIGURE_COUNT
};

extern const char *const profile_figure_name[PROFILE_FIGURE_COUNT];

/* A number with a name that conditions may use, and what it means for a reader. */
struct profile_figure {
    const char *name; /* "loads_per_fma" */
    double value;
    const char *unit;    /* "", "%", "us", "cycles" */
    const char *meaning; /* "above 1.3 the load ports are the limit" */
};

struct profile_remark { /* of the compiler: what it did not vectorise, and why */
    unsigned line;
    const char *text;
};

struct profile_stage { /* what the caller measured or estimated of a stage; shown as a table */
    const char *name;
    double us, share, light;
    const char *limit;
};

struct profile {
    const struct profile_figure *figures; /* all that is known, most telling first */
    size_t figure_count;
    const struct profile_remark *remarks;
    size_t remark_count;
    const char *hot_loop; /* at most 40 lines of assembly; "" */
    const char *missing;  /* "llvm-mca: apt-get install llvm", or "" */
};

struct profile_options {
    const struct box *box;
    const struct target *target;
    const struct program *program;    /* the case that it is compiled for */
    unsigned registers, vector_bytes; /* of this machine */
    int64_t l2;                       /* bytes of one core's cache; 0: 1 MB */
    unsigned threads;                 /* that it ran with; 0: not known */
    double us, light_us;              /* measured; 0: not known */
    const char *limit;                /* "memory", "compute", "exp" */
    double us_one_thread;             /* 0: not known */
    const struct profile_stage *stages;
    size_t stage_count;
};

/* STATUS_NO: it does not compile, and profile->missing says why. */
enum status
profile_kernel(struct arena *arena, const char *text, const struct profile_options *options,
               struct profile *profile, struct diags *diags);

/* NAN: not known. */
double
profile_figure(const struct profile *profile, const char *name);

/* For a reader: at most `most` figures with their meanings, then the table of stages. */
void
profile_put(struct buf *buf, const struct profile *profile, const struct profile_options *options,
            size_t most);

#endif
