/* lang: the tensor language, from text to meaning.
 *
 *   lang_open      a file becomes a task: parsed, with its helpers and the operator library
 *   lang_program   the task for one case: expanded, checked, simplified (ir.h)
 *   lang_canonical, lang_hash, lang_expand, lang_format    texts
 *   lang_cost, lang_light                                  what follows from it
 *   lang_interpret                                         its meaning, on small shapes
 *   lang_emit                                              the same meaning as C, for true shapes
 *   lang_catalogue, lang_instance    the operators there are, and one of them as a task of its own
 *   lang_read_words, lang_rank       a task in words, and which operator is nearest
 *
 * Ownership law: everything returned lives in the arena given to lang_open or named in the call.
 * Errors are the caller's (a positioned message in `diags`, STATUS_INPUT) or ours (assert).
 */
#ifndef HONE_LANG_LANG_H
#define HONE_LANG_LANG_H

#include "base/buf.h"
#include "base/diag.h"
#include "base/status.h"
#include "lang/ir.h"

#define LANG_MAX_FILE (1024 * 1024)

/* ---- loading ---- */

struct lang; /* a task: its file, the files it uses */

/* Reads and parses FILE.op; the last operator is the task. NULL after errors. */
struct lang *
lang_open(struct arena *arena, const char *path, struct diags *diags);

/* The same from memory; `path` is for messages, for `use` and for the task's name. */
struct lang *
lang_parse(struct arena *arena, const char *path, const char *text, size_t length,
           struct diags *diags);

const char *
lang_name(const struct lang *lang);

/* The file as its author wrote it. */
const char *
lang_text(const struct lang *lang);

/* Case 0 is "default". */
size_t
lang_case_count(const struct lang *lang);
const char *
lang_case_name(const struct lang *lang, size_t number);

struct lang_size {
    const char *dim;
    int64_t size;
};

/* The program of a case, with some dims changed further (for `any`, and for a canonical text whose
 * dims have no sizes of their own). NULL after errors. Warnings are given for case 0 only. */
struct program *
lang_program(struct lang *lang, size_t case_number, const struct lang_size *sizes,
             size_t size_count, struct diags *diags);

/* ---- texts ---- */

/* The stages of the expanded program, one a line, names as the author wrote them. */
void
lang_expand(struct buf *buf, const struct program *program);

/* One stage of it, without the newline: "Y[r,j] = E[r,j] / Y.1[r]". */
void
lang_expand_stage(struct buf *buf, const struct program *program, const struct stage *stage);

void
lang_canonical(struct buf *buf, const struct program *program);

/* SHA-256 of the canonical text, 64 hex digits. */
const char *
lang_hash(struct arena *arena, const struct program *program);

/* A file in the house style: `hone fmt`. Comments are kept. STATUS_INPUT if it does not parse. */
enum status
lang_format(struct buf *buf, const char *path, const char *text, size_t length,
            struct diags *diags);

#define LANG_FEWEST_ROWS 2

/* The program with so many rows (the outermost index of every output) instead of all, if what it
 * gives is what the whole gives in these rows, whatever the others hold; NULL: it is not, or there
 * are no fewer. (*by_row)[t]: tensor t has rows; the others are the same for all of them. */
struct program *
lang_rows(struct arena *arena, struct lang *lang, size_t case_number, const struct program *program,
          int64_t rows, const bool **by_row);

/* Some stages as a program of their own, with the sizes of these programs (one for each case, of
 * one task) as its cases. False: they cannot be cut out. */
struct lang_part {
    const char *text;
    const struct tensor **inputs, **outputs; /* of programs[0], in the order of the part */
    size_t input_count, output_count;
};

bool
lang_part(struct arena *arena, const struct program *const *programs, size_t program_count,
          size_t first, size_t count, struct lang_part *part);

/* What a tensor is called in a part. */
const char *
lang_part_name(struct arena *arena, const struct tensor *tensor);

/* ---- what there is ---- */

enum lang_entry_kind {
    LANG_OPERATOR, /* of the library: for any sizes and types */
    LANG_FUNCTION, /* a def of the library, over scalars */
    LANG_EXAMPLE,  /* a whole program, with its sizes */
};

struct lang_entry {
    enum lang_entry_kind kind;
    const char *file; /* "lib/norms.op" */
    const char *name;
    const char *about; /* its comments, without their signs, in one line */
    const char *text;  /* from the comment on */
};

/* The operators and functions of the library, then the examples. */
size_t
lang_catalogue(struct arena *arena, struct lang_entry **entries);

struct lang_shape {
    const int64_t *sizes;
    size_t rank;
};

/* What a task made of an entry should have. */
struct lang_wish {
    enum dtype dtype;                /* of the inputs that the operator leaves open */
    const struct lang_shape *shapes; /* of the inputs, in their order, as far as they are said */
    size_t shape_count;
    const struct lang_size *sizes; /* of dims by name; these go before the shapes */
    size_t size_count;
};

/* The entry as a program that stands alone, in the house style; what is not wished for has a usual
 * size. *unused says which shapes fit no input, or is "". STATUS_INPUT: sizes contradict one
 * another, or the operator refuses them. */
enum status
lang_instance(struct arena *arena, struct buf *buf, const struct lang_entry *entry,
              const struct lang_wish *wish, const char **unused, struct diags *diags);

/* A task in words: "rms norm, 4096x1024 floats, N=512". */
struct lang_words {
    struct lang_wish wish;
    const char *const *words; /* what is left, in lower case */
    const bool *without;      /* each: it stands behind "without" or "no" */
    size_t count;
};

/* STATUS_INPUT: a size that is none. */
enum status
lang_read_words(struct arena *arena, const char *text, struct lang_words *words,
                struct diags *diags);

struct lang_match {
    const struct lang_entry *entry;
    double score;
};

/* The entries by how well the words fit, the best first; those that do not fit at all are left out.
 */
size_t
lang_rank(struct arena *arena, const struct lang_words *words, const struct lang_entry *entries,
          size_t count, struct lang_match **matches);

/* A program that somebody drafted, a model perhaps: the text of the reply, with or without words
 * and fences around it. *program is what was found in it, in the house style. STATUS_INPUT: it is
 * none, and `diags` says why in words that may be sent back. */
enum status
lang_draft(struct arena *arena, const char *reply, const char *path, const char **program,
           struct diags *diags);

/* ---- cost ---- */

struct cost {
    double flops;           /* everything that counts as one */
    double apart[OP_COUNT]; /* divisions, square roots, functions, by operation */
    double bytes_in, bytes_out;
    bool exact; /* false: a filter on data or too large to count was taken as passing */
};

void
lang_cost(const struct program *program, struct cost *cost);

/* A machine as the speed of light sees it. All figures are for the threads in use. */
struct lang_machine {
    const char *name;
    bool measured; /* false: estimated from the processor's description */
    unsigned threads;
    double gflops_f32, gflops_f64; /* fused multiply-add peak */
    double function_ns[OP_COUNT];  /* f32, one element, all threads together; 0: free */
    unsigned level_count;          /* memory levels, nearest first */
    struct {
        char name[8]; /* "L1", "L2", "L3", "memory" */
        double bytes; /* what it holds; the last one: infinite */
        double gbs;
    } level[5];
};

struct light {
    double us; /* the largest of the three */
    double compute_us, memory_us, function_us;
    const char *limit; /* "compute", a level's name, or the costliest function */
    const char *level; /* from which most of inputs and outputs come */
};

void
lang_light(const struct program *program, const struct cost *cost,
           const struct lang_machine *machine, struct light *light);

/* ---- meaning ---- */

/* What the reference found for one output. Integers are exact in v. */
struct lang_result {
    const struct tensor *tensor;
    double *v;
    double *g, *c; /* the tolerance's two sizes; NULL: zero everywhere. g is NaN: unjudged */
    int64_t terms; /* outputs of argmax and argmin: the number of terms; otherwise 0 */
    double *term_v, *term_g, *term_c; /* [element][term]: what was compared; NULL g, c: zero.
                                         A term that the filter drops is NaN. */
};

/* (a) The interpreter: the definition. inputs[i] points to the elements of input i in their dtype;
 * results has one row for each output, filled in. STATUS_MACHINE: no memory. */
enum status
lang_interpret(struct arena *arena, const struct program *program, const void *const *inputs,
               struct lang_result *results);

/* (b) The same as C text. */
enum emit {
    EMIT_REFERENCE, /* double, with g and c beside each value, OpenMP */
    EMIT_NAIVE,     /* the plain kernel: float, one loop nest a stage, outermost loop parallel */
    EMIT_ONE,       /* honest evaluators in the task's own arithmetic, as kernels: */
    EMIT_SIXTEEN,   /*   sixteen accumulators */
    EMIT_RANDOM,    /*   terms in random order, fixed by `seed` in the text */
    EMIT_GENERAL,   /* the plain kernel for every size: sizes are arguments */
};

struct emit_options {
    enum emit form;
    bool denormals; /* EMIT_REFERENCE: some input is denormal, so inputs carry a g of their own */
    uint64_t seed;  /* EMIT_RANDOM */
};

/* EMIT_REFERENCE defines
 *     int hone_reference(const void *const *in, double *const *v, double *const *g,
 *                        double *const *c, double *const *term_v, double *const *term_g,
 *                        double *const *term_c);
 * with arrays over inputs and outputs, laid out as struct lang_result says; the caller allocates
 * all of v, g, c (never NULL; lang_reference_needs tells which stay zero); returns 0, or 1 when
 * memory ran out. The others define `void kernel(const T *restrict in1, ..., T *restrict out1,
 * ...)`, stand alone, and compile without warnings at -Wall. EMIT_GENERAL defines instead
 *     static void general(const int64_t N_size, ..., const T *restrict in1, ..., T *restrict out1);
 * with the sizes of all dims in their order, whatever those of this case are. */
void
lang_emit(struct buf *buf, const struct program *program, const struct emit_options *options);

/* The plain functions that emitted kernels call ("floor_div", "sigmoid_f32"), for others who emit:
 * their names up to a NULL, and the definition of one. */
extern const char *const lang_helpers[];
bool
lang_put_helper(struct buf *buf, const char *name);

/* bf16 and its conversions, once however often it stands in a file. */
void
lang_put_bf16(struct buf *buf);

struct lang_needs {
    double peak_bytes; /* at the worst moment of the reference, outputs included, inputs not */
    double terms;      /* scalar operations: what its time is estimated from */
};

void
lang_reference_needs(const struct program *program, struct lang_needs *needs);

#endif
