/* profile: what can be said about a kernel without hardware counters.
 *
 *   profile_kernel     compiles it in the box and looks at remarks and machine code
 *   profile_figures    at most a dozen figures, each with its meaning
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
    const struct box_machine *box;
    const struct target *target;
    const struct program *program;    /* the case that it is compiled for */
    unsigned registers, vector_bytes; /* of this machine */
    double us, light_us;              /* measured; 0: not known */
    const char *limit;                /* "memory", "compute", "exp" */
    double us_one_thread;             /* 0: not known */
    const struct profile_stage *stages;
    size_t stage_count;
};

/* STATUS_NO: it does not compile. */
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
