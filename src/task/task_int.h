/* What the files of task share. */
#ifndef HONE_TASK_TASK_INT_H
#define HONE_TASK_TASK_INT_H

#include "task/task.h"

#include <math.h>

enum { TASK_MESSAGE = 4096 }; /* bytes kept of what went wrong in an arena that is dropped */

/* ---- object.c: text becomes something that can be called ---- */

struct object {
    struct buf text;
    enum status blame; /* whose fault it is if gcc refuses the text: ours, or a file's of theirs */
    void *handle;      /* what dlopen() gave */
};

/* Loads all of them, those that the cache has not after building them, several at a time. Either
 * all are loaded or none. */
enum status
object_load(struct arena *arena, struct object *objects, size_t count, struct diags *diags);

void
object_unload(struct object *objects, size_t count);

/* ---- draw.c ---- */

/* What every element of an input lies in; infinite where nothing bounds it. */
void
task__range(const struct tensor *tensor, double *low, double *high);

/* ---- reference.c ---- */

typedef int
reference_entry(const void *const *in, double *const *v, double *const *g, double *const *c,
                double *const *term_v, double *const *term_g, double *const *term_c);
typedef void
kernel_entry(const void *const *in, void *const *out);

struct reference {
    const struct program *program;
    double peak_bytes; /* lang_reference_needs() */
    void *handle;      /* NULL: closed */
    reference_entry *reference;
    const int *exact; /* by output: g and c are zero */
    kernel_entry *kernel;
};

/* Opens several, also the one given as `reference "file.c"` (whatever the options say then). All
 * memory is the caller's: nothing of theirs stays in the arena. */
enum status
reference_open_all(struct arena *arena, const struct program *program,
                   const struct emit_options *options, size_t count, struct reference *references,
                   struct diags *diags);

/* reference_run(), also for a foreign one. */
enum status
reference_evaluate(struct arena *arena, struct reference *reference, const void *const *inputs,
                   struct lang_result *results, struct diags *diags);

/* ---- honest.c: evaluations in the task's own arithmetic ---- */

enum { HONEST = 3 };

struct honest {
    const struct program *program;
    struct reference kernels[HONEST];
    void **outputs[HONEST]; /* by output: what the kernels write */
    size_t sampled;         /* the elements of which medians are taken: */
    double *squares, *g, *c;
};

void
honest_options(uint64_t seed, struct emit_options options[HONEST]);

/* Memory for the above, in the arena. */
void
honest_prepare(struct arena *arena, const struct program *program, struct honest *honest);

/* Runs the kernels and concludes. */
void
honest_calibrate(struct honest *honest, const void *const *inputs,
                 const struct lang_result *results, struct tolerance *tolerances);

/* ---- evaluator.c ---- */

/* evaluator_run() without tolerances. */
enum status
evaluator_values(struct arena *arena, struct evaluator *evaluator, const void *const *inputs,
                 struct lang_result *results, struct diags *diags);

/* ---- tolerance.c ---- */

struct error { /* of one element; both are NaN if it is unjudged */
    double size, gate;
};

/* For elements of any kind: also integers, argmax. */
struct error
tolerance_error(const struct lang_result *result, const struct tolerance *tolerance, int64_t at,
                double got);

/* What every gate has: 0 for integers. Twice the smallest normal number: an exp that is clamped
 * there ends within a rounding of it, and what it should have been may be 0. */
static inline double
tolerance_eta(enum dtype dtype)
{
    return 2 * dtype_info[dtype].smallest;
}

/* The gate without eta and scale: min(6kg, 2c); the reference rounds too where the task is f64.
 * NaN: unjudged. */
static inline double
tolerance_width(double g, double c, double k, bool f64)
{
    double rms = 6 * k * g, worst = 2 * c;
    double most = rms <= worst || isnan(worst) ? rms : worst; /* fmin() is not inlined */

    return isnan(g) || isinf(most) ? NAN : f64 ? 2 * most : most;
}

#endif
