/* Lowering: a walk over the tokens of a line that prints loops, with the place and the size of the
 * current tile known for every index. Sizes are numbers, so what remains at the end of a dimension
 * is a clone of the same code with another size. */
#ifndef HONE_CODER_EMIT_INT_H
#define HONE_CODER_EMIT_INT_H

#include "coder/coder_int.h"

#define CODER_MAX_LINES 20000 /* of emitted text; more is refused, */
#define CODER_STAGE_LINES 400 /* but for so many of each stage */
#define STACK_SCRATCH 32768   /* bytes of scratch a block may keep on the stack */
#define LINE_BYTES 64         /* of the caches */

/* ---- linear forms: what addresses are made of ---- */

#define LIN_TERMS 12

struct lin { /* add + sum of coefficient * variable; a variable may be any C text in brackets */
    int64_t add;
    unsigned count;
    struct {
        const char *var;
        int64_t coefficient;
    } term[LIN_TERMS];
};

void
lin_add_var(struct lin *lin, const char *var, int64_t coefficient);
void
lin_add(struct lin *lin, const struct lin *other, int64_t coefficient);
/* "r0*4096 + j1 + 8"; "0" if there is nothing. */
const char *
lin_text(struct arena *arena, const struct lin *lin);
static inline bool
lin_is_number(const struct lin *lin)
{
    return lin->count == 0;
}

/* ---- values ---- */

enum lane { LANE_BOOL, LANE_I32, LANE_I64, LANE_F32, LANE_F64 };

struct value {
    const char *text;
    enum lane lane;
    bool vector;
};

/* ---- where we are ---- */

struct span {        /* of an index: from var + add, `extent` elements */
    const char *var; /* NULL: none */
    int64_t add, extent;
    int64_t low, high; /* values that var + add takes */
    int64_t unit;      /* var is a multiple of it; 0: not known */
};

/* A copy of a tensor's box, or the tensor itself seen from inside a loop. */
struct box {
    const struct box *outer;
    const struct tensor *tensor;
    const char *name;
    bool whole; /* the tensor's own storage: indices are absolute */
    struct span at[LANG_MAX_RANK];
    bool *used; /* somebody reads it */
};

struct pack {                /* a copy in visiting order, for one access */
    struct pack *hoisted;    /* made before the steps of a block: the next such one, */
    const struct line *line; /* and whose it is */
    const struct pack *outer;
    const struct expr *load;
    const char *name;
    size_t token; /* the pack's own; strides are by later tokens */
    bool *used;   /* somebody reads it */
    int64_t stride[CODER_MAX_TOKENS];
};

struct member { /* a stage whose expression is computed in the loops: host or guest */
    const struct work *work;
    int8_t map[LANG_MAX_LEVELS];   /* its levels in the host */
    size_t acc;                    /* the token below which its results are in registers */
    const char *name;              /* of its accumulators */
    bool open;                     /* accumulators are declared */
    int64_t tile[LANG_MAX_LEVELS]; /* extents of the host's indices where they are declared */
    struct value result;           /* pointwise: the register that holds the current point */
};

struct nest {
    struct emitter *em;
    const struct line *line;
    struct member member[1 + CODER_MAX_GUESTS];
    unsigned members;
    struct span span[LANG_MAX_LEVELS];
    int vector;                           /* level in lanes, or -1 */
    unsigned lanes;                       /* of a vector */
    unsigned active;                      /* lanes in use: fewer at the end of a dimension */
    int64_t ordinal[CODER_MAX_TOKENS];    /* unrolled: which copy */
    struct span before[CODER_MAX_TOKENS]; /* the index's span outside of the token's loop */
    const char *first[CODER_MAX_TOKENS];  /* reduction loops outside of acc: conditions */
    const char *last[CODER_MAX_TOKENS];
    size_t conditions;
    const struct box *boxes;
    const struct pack *packs;
    uint32_t holds;              /* bounds of the host that hold for all of the current tile */
    const struct online *online; /* of the host, or NULL */
    size_t tile_at;              /* token before which its tile of rows is made */
    bool tile_done;
    size_t tile_conditions; /* of the loop over its tiles */
    const char *carry;      /* a scan in lanes: the sum so far, or NULL */
    bool parallel;          /* inside a parallel loop */
    bool stream;
    struct known *known; /* what has a name already in this piece of straight code */
    size_t known_count, known_capacity;
    size_t hoisted_count; /* of these: known from further out, until hoist_close() */
    struct held *held;    /* vectors that other copies of the code read again */
    size_t held_count, held_capacity;
    size_t held_block;           /* the block that their names are of */
    bool conditional;            /* what is printed may not be computed: no names for parts of it */
    const struct value *reduced; /* what stands for REDUCE in the expression at work */
    const struct box *partial;   /* scratch for partial results, or NULL: in the output */
};

/* ---- the emitter ---- */

struct name_base {
    const char *base;
    unsigned next;
};

struct emitter {
    struct arena *arena;
    const struct schedule *schedule;
    struct diags *diags;
    struct buf *out;    /* the function being printed */
    struct buf globals; /* static variables */
    unsigned indent;
    unsigned lines;
    size_t blocks; /* opened and closed so far: names are of the same block while it is the same */
    struct pack *hoisted;
    bool functions;    /* each root is a function, equal ones are shared */
    bool parallel;     /* inside of loops around a block's steps */
    bool has_team;     /* some scratch in the loops under way has a part for each thread */
    bool has_threads;  /* and some was: what it needs is defined */
    const char *step;  /* of the block around the function at work, or NULL: a name taken */
    struct buf bodies; /* of these */
    struct function *function;
    size_t function_count;
    struct name_base *bases; /* of names made so far */
    size_t base_count;
    const char **types; /* vector types declared */
    size_t type_count;
    bool failed;
    const char **storage; /* by tensor number: its name in C, */
    int64_t *ahead;       /* and how many elements of it lie before what the name points to */
    const char **helpers; /* functions of hone.h in use */
    size_t helper_count;
    const uint8_t **uses; /* by stage: how often a node is used, by id */
};

/* Lanes are of 8 bytes. */
static inline bool
nest_is_wide(const struct nest *nest)
{
    return nest->em->schedule->vector_bytes / nest->lanes == 8;
}

void
code_line(struct emitter *em, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "{" with what stands before it, and back. */
void
code_open(struct emitter *em, const char *format, ...) __attribute__((format(printf, 2, 3)));
void
code_close(struct emitter *em);
/* Takes back what was printed between two lengths of `out`. */
void
code_remove(struct emitter *em, size_t start, size_t end);
const char *
code_name(struct emitter *em, const char *base); /* a fresh C name */
/* "T.1" as "T_1" */
const char *
code_c_name(struct arena *arena, const char *name);
/* Names the storage of all tensors, and declares that of those which are no arguments. */
void
code_name_storage(struct emitter *em);
bool
code_is_storage(const struct emitter *em, const char *name);
/* A function of hone.h: the same text, remembered for the prelude. */
const char *
code_helper(struct emitter *em, const char *name);
const char *
code_helper_if_any(struct emitter *em, const char *name);
/* A vector type of other lanes than a register's: "f32x4". */
const char *
code_vector(struct emitter *em, const char *element, unsigned lanes);
/* How often each node is used in a stage's expression, by id, at most 2. */
const uint8_t *
code_uses(struct emitter *em, const struct work *work);
void
code_fail(struct emitter *em, struct place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Declares an array of `count` elements; returns its name. Zero bytes behind its end may be read.
 */
/* A parallel loop begins: the pragma, with these clauses. Its end is told where it began, so that
 * only loops with a part of some scratch for each thread are bound to as many threads. */
size_t
code_parallel(struct emitter *em, size_t loops, const char *clauses);
void
code_parallel_end(struct emitter *em, size_t began);

const char *
code_scratch(const struct nest *nest, const char *base, enum dtype dtype, int64_t count);

/* ---- printing values (value.c) ---- */

/* The expression of a member at the current point. `reduced` stands for its REDUCE, or is NULL. */
struct value
value_of(struct nest *nest, const struct member *member, const struct expr *e,
         const struct value *reduced);
/* The same for another lane type or shape. */
struct value
value_as(struct nest *nest, struct value value, enum lane lane, bool vector);
const char *
value_type(const struct nest *nest, enum lane lane, bool vector);
struct value
value_named(struct nest *nest, const char *base, struct value value);
struct value
value_select(struct nest *nest, struct value condition, struct value a, struct value b);
/* A comparison of lanes of this type as a mask of the stage's. */
struct value
value_mask(struct nest *nest, struct value comparison, enum lane compared);
/* The larger or the smaller of two names: OP_MAX, OP_MIN. */
const char *
value_choice(struct nest *nest, enum op op, enum lane lane, bool vector, const char *a,
             const char *b);
/* Starts a new straight piece of code: what was computed before is forgotten. */
void
value_forget(struct nest *nest);
enum lane
value_lane(const struct nest *nest, const struct member *member, const struct expr *e, bool vector);

/* load.c */
/* Where an element lies in its tensor's storage or box: the text of a pointer. */
const char *
value_address(struct nest *nest, const struct member *member, const struct tensor *tensor,
              const struct lin *subscripts);

/* store.c */
/* "p + a + 3" as "p[a + 3 + more]" */
const char *
value_place(struct emitter *em, const char *address, int64_t more);
/* A scalar as an element of this type. */
const char *
value_element(struct emitter *em, enum dtype dtype, struct value value);
/* Stores a value at the member's current left indices. */
void
value_store(struct nest *nest, const struct member *member, struct value value);
/* Partial results between passes of a reduction: in the output, or in scratch where the output's
 * type is too narrow. */
void
partial_open(struct nest *nest);
struct value
value_reload(struct nest *nest, const struct member *member, enum lane lane);
void
value_store_partial(struct nest *nest, const struct member *member, struct value value);
void
value_prefetch_partial(struct nest *nest, const struct member *member);

/* subscript.c */
/* The value of an integer expression at the current point (first lane) as a linear form. */
struct lin
subscript_form(struct nest *nest, const struct member *member, const struct expr *e);
/* Ranges of a member's indices at the current point, lanes included. */
void
subscript_ranges(const struct nest *nest, const struct member *member,
                 struct level levels[LANG_MAX_LEVELS]);

/* The values that it takes here, all lanes in use together. */
void
subscript_interval(const struct nest *nest, const struct member *member, const struct expr *e,
                   int64_t *low, int64_t *high);
/* How far the expression moves from lane to lane; false: not by the same each time. */
bool
subscript_stride(const struct nest *nest, const struct member *member, const struct expr *e,
                 int64_t *stride);

/* Names it here, for all that follows until hoist_close(). */
void
value_hoist(struct nest *nest, const struct member *member, const struct expr *e);
void
value_hoist_reciprocal(struct nest *nest, const struct member *member, const struct expr *divisor);
/* The same for a value that has a name, until hoist_close(). */
void
value_know(struct nest *nest, const struct member *member, const struct expr *e,
           struct value value);
bool
value_is_known(const struct nest *nest, const struct member *member, const struct expr *e);

/* hoist.c */
/* Before the loops of the tokens from here on; returns what hoist_close() needs. */
size_t
hoist_open(struct nest *nest, size_t from);
void
hoist_close(struct nest *nest, size_t before);

/* hold.c */
/* What was loaded gets a name if copies of the code for other rows of the tile read it again. */
struct value
hold_load(struct nest *nest, const struct member *member, const struct expr *load,
          struct value value);
/* The next terms of this reduction level follow: most of what they read is something else. */
void
hold_forget(struct nest *nest, unsigned level);

/* ---- loops ---- */

/* nest.c */
/* Where a span begins, and so many further. */
const char *
span_text(struct emitter *em, const struct span *span, int64_t more);
/* Everything from token number `at` inwards. */
void
nest_walk(struct nest *nest, size_t at);
/* A whole stage by its line: the spans of its left indices are given. */
void
nest_stage(struct emitter *em, size_t stage, const struct span *left, const struct nest *outer);
/* The copies that its line begins with, before the steps of its block. */
void
nest_hoist(struct emitter *em, size_t stage, const struct span *left);

/* acc.c */
void
acc_walk(struct nest *nest, size_t at, unsigned member);
/* A mask of the lanes in use. */
struct value
acc_active_lanes(struct nest *nest);
/* The innermost point of a member: its term into its accumulator. */
void
acc_term(struct nest *nest, struct member *member);

/* box.c */
void
box_walk(struct nest *nest, size_t at);
/* The innermost box of a tensor, or NULL. */
const struct box *
box_find(const struct nest *nest, const struct tensor *tensor);

/* past.c */
void
past_walk(struct nest *nest, size_t at);

/* prefetch.c */
void
prefetch_walk(struct nest *nest, size_t at);

/* pack.c */
void
pack_walk(struct nest *nest, size_t at);
void
pack_hoist(struct nest *nest);
/* The address of an access that is packed and how far it moves from lane to lane; NULL: it is not.
 */
const char *
pack_address(struct nest *nest, const struct member *member, const struct expr *load,
             int64_t *stride);
/* It is read. */
void
pack_use(const struct nest *nest, const struct expr *load);

/* function.c */
/* A stage with loops of its own; in a block the spans of its left indices are given. */
void
code_root(struct emitter *em, size_t stage, const struct span *left);

/* tidy.c */
/* Does the name stand in a C text, comments left out? */
bool
tidy_mentions(const char *text, const char *name);
/* The text of a function without names and scratch that it declares and does not use. */
const char *
tidy_unused(struct arena *arena, const char *text);

#endif
