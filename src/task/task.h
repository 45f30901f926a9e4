/* task: what is asked for, and what a right answer is.
 *
 *   draw        inputs of a case from the language's distributions, within each input's domain
 *   check       inputs from elsewhere
 *   pattern     inputs and sizes that somebody proposes
 *   reference   the trusted C of a program, built with gcc once, kept in the cache, run here
 *   tolerance   k and scale from honest evaluations; whether an output is right, element by element
 *   evaluator   the last two, kept loaded: expected values and tolerances of many sets of inputs
 *   sight       which inputs no output depends on: a kernel that ignores them is not caught
 *   machine     a description of this machine for the speed of light
 *
 * Trusted code only: nothing a candidate wrote is ever built or loaded here.
 */
#ifndef HONE_TASK_TASK_H
#define HONE_TASK_TASK_H

#include "base/log.h"
#include "lang/lang.h"

/* ---- inputs ---- */

/*    id        name         what is drawn before domain and scale are applied */
#define TASK_DISTRIBUTIONS(X)                                                               \
    X(NORMAL, "normal")     /* mean 0, deviation 1 */                                       \
    X(UNIFORM, "uniform")   /* [0,1) */                                                     \
    X(HEAVY, "heavy")       /* a normal divided by a uniform's root, and spikes */          \
    X(SMALL, "small")       /* deviation 0.01 */                                            \
    X(OFFSET, "offset")     /* 10 +- 1 */                                                   \
    X(CONSTANT, "constant") /* one value everywhere */                                      \
    X(RAMP, "ramp")         /* rises along the elements */                                  \
    X(INTEGERS, "integers") /* -4 .. 4 */                                                   \
    X(DENORMAL, "denormal") /* below the smallest normal */                                 \
    X(INFINITE, "infinite") /* normal, some elements infinite; only where no NaN results */ \
    X(MIXED, "mixed")       /* each row of an input from another of the above, finite ones */

enum distribution {
#define X(id, name) DRAW_##id,
    TASK_DISTRIBUTIONS(X)
#undef X
        DRAW_COUNT
};

extern const char *const distribution_name[DRAW_COUNT];

/* Fills `data` (count elements of its dtype) for input number `input`; the stream is named by seed,
 * distribution and the input's number, so any input can be redrawn alone. */
void
task_draw(const struct program *program, size_t input, enum distribution distribution,
          uint64_t seed, void *data);

/* All inputs of a program, 64-byte aligned, in the arena. */
void **
task_draw_all(struct arena *arena, const struct program *program, enum distribution distribution,
              uint64_t seed);

/* Inputs from elsewhere: STATUS_INPUT for integers that the program could not bear, a subscript out
 * of its dimension. A message in `diags` names the element; `name` is the file or the tensor. */
enum status
task_check_input(const struct tensor *tensor, const char *name, const void *data,
                 struct diags *diags);

/* Inputs that somebody proposes, in statements of the language: "X[i,j] = if(i == 0, 64, 0)", one
 * for each input, separated by ; or newlines. inputs[i] are its elements, or NULL: nothing was said
 * of that input. STATUS_INPUT with a message: it is no such text, or costs too much. */
enum status
task_pattern(struct arena *arena, const struct program *program, const char *text, void **inputs,
             struct diags *diags);

/* "R=1 N=17": of dims that may have any size. `sizes` has room for all dims. */
enum status
task_sizes(struct arena *arena, const struct program *program, const char *text,
           struct lang_size *sizes, size_t *count, struct diags *diags);

/* Whether a denormal stands among an input's elements. */
bool
task_has_denormals(const struct program *program, const void *const *inputs);

/* ---- the reference, compiled ---- */

struct reference; /* a loaded object */

/* Builds (or takes from the cache) and loads what lang_emit gives. STATUS_MACHINE with a message if
 * gcc is missing or fails. The object is unloaded by reference_close; the cache keeps it. */
enum status
reference_open(struct arena *arena, const struct program *program,
               const struct emit_options *options, struct reference **reference,
               struct diags *diags);
void
reference_close(struct reference *reference);

/* What evaluating needs at its worst moment, inputs included, and what the machine could still give
 * (infinity if it does not say). */
double
task_needed_bytes(const struct program *program);
double
task_free_bytes(void);

/* For EMIT_REFERENCE. Refuses (STATUS_INPUT, with the estimate) what would not fit memory. */
enum status
reference_run(struct arena *arena, struct reference *reference, const void *const *inputs,
              struct lang_result *results, struct diags *diags);

/* For the other forms: runs the kernel; outputs[i] has room for output i in its dtype. */
void
reference_run_kernel(struct reference *reference, const void *const *inputs, void *const *outputs);

/* Whole evaluation: opens, runs and closes the right reference for these inputs, also one given as
 * `reference "file.c"`. */
enum status
task_evaluate(struct arena *arena, const struct program *program, const void *const *inputs,
              struct lang_result *results, struct diags *diags);

/* ---- tolerance ---- */

struct tolerance {  /* of one output, for one set of inputs */
    double k;       /* >= 1, from honest evaluations */
    double scale;   /* <= 1: a loose gate scaled down */
    bool ill_posed; /* the gate exceeds 1e-2 of the output's scale */
};

/* Runs the honest evaluators on these inputs; tolerances has one row an output. */
enum status
task_calibrate(struct arena *arena, const struct program *program, const void *const *inputs,
               const struct lang_result *results, uint64_t seed, struct tolerance *tolerances,
               struct diags *diags);

/* The allowed error of element `at`; NaN: unjudged. */
double
task_gate(const struct lang_result *result, const struct tolerance *tolerance, int64_t at);

struct comparison {
    int64_t wrong, unjudged;
    int64_t first_wrong; /* element, or -1 */
    double worst;        /* largest error over gate among judged elements */
};

/* Compares every element of `got`, in the output's dtype, with the reference. */
void
task_compare(const struct lang_result *result, const struct tolerance *tolerance, const void *got,
             struct comparison *comparison);

/* ---- expected values, many times ---- */

struct evaluator; /* the reference and the honest evaluators of a program, kept loaded */

#define TASK_HONEST_SEED 1 /* of the evaluator that takes terms in random order */

/* Builds what the cache does not have, several at a time, and loads it. The program must outlive
 * the evaluator, which belongs to one thread at a time. */
enum status
evaluator_open(const struct program *program, struct evaluator **evaluator, struct diags *diags);
void
evaluator_close(struct evaluator *evaluator); /* NULL is allowed */

/* What these inputs give and what a right answer may differ by: one row an output of each. */
enum status
evaluator_run(struct arena *arena, struct evaluator *evaluator, const void *const *inputs,
              struct lang_result *results, struct tolerance *tolerances, struct diags *diags);

/* ---- what a task can see ---- */

struct sight {      /* of one input, redrawn alone */
    bool tried;     /* false: others took the time there is; neither seen nor unseen */
    bool seen;      /* some output moves by more than ten of its tolerances */
    double largest; /* the largest move, in tolerances */
};

/* sights has one row an input, ill_posed one an output. What was found is kept in the cache folder,
 * so that it is found once. STATUS_INPUT: too large to find out. */
enum status
task_see(struct arena *arena, const struct program *program, uint64_t seed, struct sight *sights,
         bool *ill_posed, struct diags *diags);

/* The same if it was found before; false: it was not. */
bool
task_seen(struct arena *arena, const struct program *program, uint64_t seed, struct sight *sights,
          bool *ill_posed);

#define TASK_SIGHT_SEED 1 /* what everybody asks with, unless a test */

/* ---- this machine ---- */

/* The measured description if one was kept, else an estimate from the processor's own words. */
void
task_machine(struct arena *arena, struct lang_machine *machine);

/* Where the description is: what $HONE_MACHINE names, else `machine` in the cache folder; NULL if
 * there is none. */
const char *
task_machine_path(struct arena *arena, bool *named);

/* One line that says which machine a kept description is of. */
const char *
task_machine_key(struct arena *arena);

#endif
