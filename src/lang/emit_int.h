/* Inside the emitter: one walk over a program prints all five forms.
 *
 *   emit.c          the driver: which tensors live when, one function a stage, the frame around
 * them emit_exact.c    what is known before anything runs: intervals of integers, exactness
 *   emit_scope.c    where each node of an expression is computed: once, as far out as it can be
 *   emit_expr.c     a node as C, in plain arithmetic
 *   emit_bounds.c   a node as C, with g and c beside it
 *   emit_plain.c    any stage as nested loops
 *   emit_reduce.c   reductions as loops
 *   emit_panel.c    which sums of products become blocked vector code
 *   emit_tile.c     that code's tiles; emit_weave.c its inner loop; emit_vectors.c what it calls
 *   emit_rules.c    the C text of the reference's rules; emit_functions.c those of functions
 *   emit_kernel.c   names, prelude and signature of a kernel that stands alone
 *   emit_general.c  stages whose sizes are not known, and sizes as text
 *
 * Exactness. In the reference a node is *exact* if its g and c are zero by construction; it is then
 * a plain double or int64_t. Every other node is a `val` (v, g, c). Kernels know only plain values.
 *
 * Constants that are not yet of a kind (KIND_REAL) take that of the operation they meet, so a node
 * is an expression together with the kind it is met in.
 */
#ifndef HONE_LANG_EMIT_INT_H
#define HONE_LANG_EMIT_INT_H

#include "lang/lang.h"

struct interval {
    int64_t low, high;
};

/* Where nodes are computed. A loop scope binds levels; a node leaves it if it uses none of them. */
struct scope {
    int parent;
    unsigned depth;
    bool loop;      /* otherwise a branch, left only for a node that another branch needs too */
    uint32_t bound; /* levels that the loop gives a value */
    size_t *keys;   /* its nodes, in falling order */
    size_t count, capacity;
};

struct node {
    const struct expr *e;
    enum kind kind; /* in which it is computed; never KIND_REAL */
    uint32_t stamp; /* the plan that the fields up to `text` belong to */
    uint32_t uses;
    unsigned ordinal; /* names its temporaries: equal stages get equal texts */
    int scope;        /* where it is computed */
    int use_scope;    /* where it was used last */
    int below;        /* the first of the scopes it opens, or -1 */
    bool leaf;        /* its text was given; nothing below is visited */
    const char *text; /* how it is read once it has been printed */
    uint32_t known, measured, counted, seen; /* stages and walks that they belong to */
    bool exact;
    struct interval range;
    uint32_t axes, axes_known; /* emit_panel.c */
};

/* An array of a stage: a tensor from some element on. Constant subscripts in front are part of it,
 * so that layers which differ only in them have the same text. */
struct read {
    const struct tensor *tensor;
    int64_t offset;
};

struct emitter {
    struct arena *arena; /* for the time of one lang_emit */
    struct buf *out;
    const struct program *program;
    struct emit_options options;
    bool bounds;  /* EMIT_REFERENCE */
    bool wide;    /* some node computes in f64: g is carried as it is, not squared */
    bool plain;   /* no panels: one function, and tests that compare the two paths */
    bool single;  /* one function with the author's names: EMIT_NAIVE, EMIT_GENERAL */
    bool general; /* sizes are arguments: EMIT_GENERAL */
    unsigned indent;

    /* of the program, by tensor number */
    bool *exact;       /* nothing but v is kept */
    size_t *last;      /* the last stage that reads it */
    const char **name; /* as a parameter of the kernel */

    /* of the stage */
    const struct stage *stage;
    size_t number;
    const struct expr *reduce; /* its reduction, or NULL */
    int64_t extent[LANG_MAX_LEVELS];
    const struct expr *formula[LANG_MAX_LEVELS]; /* the same over dims, */
    const char *size[LANG_MAX_LEVELS];           /* and as text */
    const char *index[LANG_MAX_LEVELS];          /* how each level's index is written */
    bool cat; /* a piece's loads may be computed outside of its part */
    uint32_t stage_stamp;
    uint32_t walk;      /* counts walks over a stage's nodes */
    unsigned ordinal;   /* of the next node */
    struct read *reads; /* what it writes, then what it reads, in order */
    unsigned read_count, read_capacity;

    /* the current plan */
    struct node *nodes; /* by emit_key */
    uint32_t stamp;
    struct scope *scopes;
    size_t scope_count, scope_capacity;
    size_t *visited;
    size_t visited_count, visited_capacity;
};

/* ---- the driver (emit.c) ---- */

struct emitter *
emit_create(struct arena *arena, const struct program *program, const struct emit_options *options);

/* Calls f once for each node of the stage. */
void
emit_walk(struct emitter *em, const struct stage *stage,
          void (*f)(struct emitter *, const struct expr *));

/* The last stage of the rec block that stage s belongs to, or s itself. */
size_t
emit_step_end(const struct program *program, size_t s);

/* Makes stage number s the current one. */
void
emit_enter(struct emitter *em, size_t s);

/* As lang_emit, but without panels: for tests that compare the two paths. */
void
emit_without_panels(struct buf *buf, const struct program *program,
                    const struct emit_options *options);

/* An output that is an argmax or argmin itself shows what was compared. */
bool
emit_shows_terms(const struct tensor *tensor);

/* One line; a block opens with "{" at its end and closes with "}". */
void
emit_line(struct emitter *em, const char *format, ...) __attribute__((format(printf, 2, 3)));
void
emit_open(struct emitter *em, const char *format, ...) __attribute__((format(printf, 2, 3)));
void
emit_close(struct emitter *em);
#define emit_text(em, ...) ((const char *)arena_printf((em)->arena, __VA_ARGS__))

/* ---- what is known (emit_exact.c) ---- */

static inline size_t
emit_key(const struct expr *e, enum kind met)
{
    return 2 * (size_t)e->id + (e->kind == KIND_REAL && met == KIND_F64);
}

/* The kind in which e is computed when it is met in `met`. */
static inline enum kind
emit_kind(const struct expr *e, enum kind met)
{
    if (e->kind != KIND_REAL)
        return (enum kind)e->kind;
    return met == KIND_F64 ? KIND_F64 : KIND_F32;
}

/* The kind that argument number i of e, computed in `kind`, is converted to. */
enum kind
emit_met(const struct expr *e, unsigned i, enum kind kind);

struct interval
emit_interval(const struct emitter *em, const struct expr *e);

/* Fills em->exact and em->wide. */
void
emit_find_exact(struct emitter *em);

/* Exact once converted to this kind. Only for nodes of the current stage. */
bool
emit_is_exact(const struct emitter *em, const struct expr *e, enum kind kind);

/* Estimated operations for one element of the current stage. */
double
emit_work(struct emitter *em);

/* ---- where (emit_scope.c) ---- */

void
plan_begin(struct emitter *em);
int
plan_loop(struct emitter *em, int parent, uint32_t bound);
int
plan_branch(struct emitter *em, int parent);
/* The node has this text; nothing below it is computed. */
void
plan_leaf(struct emitter *em, const struct expr *e, enum kind met, const char *text);
void
plan_use(struct emitter *em, const struct expr *e, enum kind met, int scope);
/* Gives every node below the uses its scope. */
void
plan_end(struct emitter *em);

/* ---- nodes as C (emit_expr.c, emit_bounds.c) ---- */

/* Statements for the nodes of one scope, in order. */
void
emit_scope(struct emitter *em, int scope);

/* A node's value as a plain number of this kind; in the reference it must be exact. */
const char *
emit_number(struct emitter *em, const struct expr *e, enum kind kind);

/* In the reference, as a val. */
const char *
emit_val(struct emitter *em, const struct expr *e, enum kind kind);

/* In the reference, + or - of a sum: the rule val_add_sums(). */
bool
emit_joins_sums(const struct expr *e, enum kind kind);

/* The text of a val node from those of its arguments. */
const char *
emit_val_node(struct emitter *em, const struct node *node);

/* A load that is not exact; and any value read with subscripts that may be in doubt. */
const char *
emit_val_load(struct emitter *em, const struct node *node, const char *address);
const char *
emit_in_doubt(struct emitter *em, const struct node *node, const char *text);

/* A val of this kind as stored in, or cast to, a dtype. */
const char *
emit_val_stored(struct emitter *em, const char *text, enum kind kind, enum dtype dtype);

/* "(i0*64 + i1)*64 + i2", of the subscripts from number `first` on */
const char *
emit_address(struct emitter *em, const struct tensor *tensor, const char *const *subscripts,
             unsigned first);

/* The place of a load's array among em->reads, and how its elements are called there (v in the
 * reference); place 0 is the stage's own tensor. */
unsigned
emit_read(const struct emitter *em, const struct expr *load);
const char *
emit_array(struct emitter *em, unsigned place);
/* Constant subscripts in front that belong to the array; *offset is where they lead. */
unsigned
emit_leading(const struct emitter *em, const struct expr *load, int64_t *offset);

/* Some subscript may lie outside of its dimension. */
bool
emit_can_leave(const struct emitter *em, const struct expr *load);
/* The subscripts of a load as text, and the test that they lie inside ("" if they must). */
const char *
emit_place(struct emitter *em, const struct expr *load, const char **inside);

/* Without the brackets around all of it. */
const char *
emit_bare(struct emitter *em, const char *text);

/* The C function for an operation in this kind; "": it changes nothing. */
const char *
emit_function(const struct emitter *em, enum op op, enum kind kind);

/* A constant as C, of this kind. */
const char *
emit_real(struct emitter *em, double value, enum kind kind);

static inline const char *
emit_rule(enum kind kind) /* the constants of the reference's rules */
{
    return kind == KIND_F64 ? "F64" : kind == KIND_F32 ? "F32" : "INT";
}

static inline const char *
emit_c_type(const struct emitter *em, enum kind kind)
{
    return kind == KIND_BOOL                ? "int"
           : kind == KIND_INT               ? "int64_t"
           : kind == KIND_F64 || em->bounds ? "double"
                                            : "float";
}

/* ---- stages ---- */

/* Prints the loops of a reduction; afterwards the node has a text. */
void
emit_reduction(struct emitter *em, struct node *node);

/* A sum or mean whose terms are products of exact numbers: they need no g and c of their own. */
bool
emit_sums_products(const struct emitter *em, const struct expr *reduce, enum kind kind);

/* The number of the term that comes at this place of the random order. */
const char *
emit_order(struct emitter *em, int64_t terms, const char *flat);

/* Stores the stage's value at its left indices. */
void
emit_store(struct emitter *em);

/* Defines the indices of these levels from a flat number, the last one fastest. */
void
emit_decode(struct emitter *em, uint32_t levels, const char *flat);

void
emit_plain(struct emitter *em);

/* false: the stage does not fit, nothing was printed. */
bool
emit_panel(struct emitter *em);

/* What this text of tiles calls; nothing if there are none. */
void
emit_tile_helpers(struct emitter *em, const char *body);

/* ---- sizes (emit_general.c) ---- */

/* The program with `code` that holds for every size: dims stay, and so do all defaults. */
struct program *
emit_generalise(struct arena *arena, const struct program *program);

/* A dim as text: its number, or the argument that holds it. */
const char *
emit_dim(struct emitter *em, const struct dim *dim);

/* A size of the case, or the expression over dims that gives it. */
const char *
emit_size(struct emitter *em, const struct expr *extent);

/* The number of elements of a tensor. */
const char *
emit_count(struct emitter *em, const struct tensor *tensor);

/* A constant that is no number yet, because it has dims in it: computed in double. */
bool
emit_is_formula(const struct emitter *em, const struct expr *e);
const char *
emit_formula(struct emitter *em, const struct expr *e, enum kind kind);

/* ---- frames ---- */

/* The whole text of either. */
void
emit_reference(struct emitter *em);
void
emit_kernel(struct emitter *em);

void
emit_reference_rules(struct emitter *em);
void
emit_kernel_prelude(struct emitter *em, const char *body);
void
emit_kernel_names(struct emitter *em);
/* "void\nkernel(const float *restrict A, ...)" without a brace or semicolon */
void
emit_signature(struct emitter *em);
/* What this text of a kernel calls beside <math.h>. */
void
emit_kernel_helpers(struct emitter *em, const char *body);
/* A name for the index that is distinct from arrays and from the indices of lower levels. */
const char *
emit_index_name(struct emitter *em, const char *name, unsigned level);

#endif
