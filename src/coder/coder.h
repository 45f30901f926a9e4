/* coder: the micro-coder. A program and a schedule become C, byte for byte the same on every
 * machine with the same vector width.
 *
 *   coder_read     the text of a schedule for one case, checked against its program
 *   coder_write    the same text, every line filled in: what is hashed, stored and shown
 *   coder_emit     the kernel
 *
 * A schedule is legal or it is not, and that never depends on the machine; what would be slow here
 * is advice (coder_advise).
 *
 * Ownership law: everything returned lives in the arena given. Making a schedule makes new
 * expressions in the program's own struct ir: one thread at a time for a program.
 */
#ifndef HONE_CODER_CODER_H
#define HONE_CODER_CODER_H

#include "base/buf.h"
#include "base/diag.h"
#include "lang/ir.h"

struct coder_options {
    unsigned vector_bytes;    /* 16, 32 or 64 */
    const char *const *cases; /* that `case NAME:` may name, ended by NULL; NULL: any */
};

struct schedule;

/* The lines for the program's case: those before any `case NAME:` and those after its own, which
 * take the place of the former. Stages
 * without a line get the plain one, pointwise stages are inlined where that costs nothing. NULL
 * after errors, which name the token and say what would be legal. */
struct schedule *
coder_read(struct arena *arena, const struct program *program, const struct source *text,
           const struct coder_options *options, struct diags *diags);

void
coder_write(struct buf *buf, const struct schedule *schedule);

/* C that stands alone and defines `void kernel(...)` as the cpu target's contract says. False after
 * errors: what is legal token by token can still be inexpressible as a whole. */
bool
coder_emit(struct buf *buf, struct arena *arena, const struct schedule *schedule,
           struct diags *diags);

/* The same kernel, with `#include "hone.h"` where the functions of that header would stand. */
bool
coder_emit_short(struct buf *buf, struct arena *arena, const struct schedule *schedule,
                 struct diags *diags);

/* Emitted C begins with a title that has its schedule; a file may hold several, one for each case.
 */
struct coder_title {
    const char *case_name, *schedule;
};

/* The titles in a text of any origin, in their order. */
size_t
coder_titles(struct arena *arena, const char *text, size_t length, struct coder_title **titles);

/* ---- in words ---- */

/* What the schedule does, a short paragraph: one or two sentences for each stage with loops of its
 * own, equal ones said once; of many only the costliest. Caches are named if `machine` is given. */
struct coder_machine;
void
coder_explain(struct buf *buf, const struct schedule *schedule,
              const struct coder_machine *machine);

/* The lines of the filled text, in its order: rewrites, then stages. */
struct coder_line {
    const char *text;  /* "Y: i@p acc k" */
    const char *stage; /* "Y"; NULL: a rewrite */
    const char *does;  /* in words */
};

size_t
coder_explain_lines(struct arena *arena, const struct schedule *schedule,
                    struct coder_line **lines);

/* ---- the space of schedules ---- */

/* What a schedule may be chosen by; the kernel itself depends on vector_bytes alone. */
struct coder_machine {
    unsigned vector_bytes, registers, threads;
    int64_t l1, l2; /* bytes of one core's caches */
    /* For estimates; 0: not known, the usual value is taken. */
    int64_t l3;                   /* bytes, of all threads together */
    double gflops;                /* f32, one core */
    double l2_gbs, l3_gbs;        /* what one core reads from there */
    double memory_gbs;            /* the same from memory, */
    double memory_gbs_all;        /* and all threads together */
    double function_ns[OP_COUNT]; /* f32 in lanes, one element on one core */
};

#define CODER_GENES 1024

/* A point of the space: for each question that a sketch asks, which answer. 0 is the usual one. */
struct coder_genome {
    uint8_t gene[CODER_GENES];
};

struct coder_hole {   /* a question that was asked */
    const char *what; /* "Y fuse"; of equal stages the first stands for all */
    uint16_t gene;
    unsigned answers, usual; /* usual: which of them the gene 0 means */
    double share;            /* of the program's work that its stages do */
};

struct coder_sketch {
    const char *text; /* the schedule */
    const struct coder_hole *holes;
    size_t hole_count;
};

struct coder_space;

/* The sketches of a program, family by family, as the shapes of its stages suggest. */
struct coder_space *
coder_space_open(struct arena *arena, const struct program *program,
                 const struct coder_machine *machine);

/* The schedule of a genome. It may be illegal: coder_read() tells. */
struct coder_sketch
coder_sketch(struct coder_space *space, const struct coder_genome *genome);

/* The genome whose sketch is this schedule, every line filled in (coder_write). Looked for from the
 * usual one on, one answer at a time towards the text, with at most `most` sketches. False: it was
 * not found, and *genome is the nearest that was seen. */
bool
coder_find(struct coder_space *space, const char *text, unsigned most, struct coder_genome *genome);

/* The schedule of a genome, every line filled in; NULL if it is illegal or cannot be emitted. */
const char *
coder_filled(struct coder_space *space, const struct coder_genome *genome);

/* Layers of a large program: stages that do much of its work and, behind each, what follows until
 * the next of them; of equal ones the first. Each may be cut out (lang_part) and tuned alone. */
struct coder_layer {
    size_t first, count; /* stages of the program */
    double share;        /* of its work, with all that are equal */
};

/* The heaviest first; at most `most`. */
size_t
coder_layers(struct coder_space *space, struct coder_layer *layers, size_t most);

/* What was answered for a layer, in a program of its own with `found`, is answered so in the whole.
 */
void
coder_adopt(struct coder_space *whole, struct coder_genome *genome, struct coder_space *layer,
            const struct coder_genome *found);

/* ---- what it would cost ---- */

/* Microseconds of one call, from the text alone: for each stage with loops of its own what the
 * units, the memory levels and the sharing out would need. Made to order schedules of one program,
 * not to be right. Pure: the same numbers give the same estimate. */
double
coder_estimate_us(const struct schedule *schedule, const struct coder_machine *machine);

struct coder_advice {
    const char *stage; /* whom it concerns */
    const char *text;  /* "the tile needs 20 vector registers, here are 16; write ..." */
};

/* What would be slow on this machine, with figures; never a question of right and wrong. */
size_t
coder_advise(struct arena *arena, const struct schedule *schedule,
             const struct coder_machine *machine, struct coder_advice **advice);

#endif
