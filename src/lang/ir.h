/* The nouns of the tensor language: data types, operations, expressions, tensors, stages, programs.
 *
 * A program here is expanded and belongs to one case: calls and defs are gone, each stage holds at
 * most one reduction, every size has a value. Expressions are immutable and hash-consed within
 * their program, so equal subexpressions are one node and are evaluated once.
 *
 * Ownership law: a program and all it points to live in the arena it was made in.
 *
 * Invariants, cited by number elsewhere:
 *  1. A node's arguments have smaller ids than the node.
 *  2. An index is named by its *level*: left index number l of the stage has level l; the indices
 * of a reduction take the next free levels at the place where it stands, so a node means the same
 *     wherever it is shared, and sibling reductions reuse levels.
 *  3. stages[] is in an order in which they can be computed; the stages of one rec block stand
 *     together and are advanced together along their carried index.
 *  4. `value` keeps dims symbolic (OP_DIM); `code` is the same expression for this case: sizes are
 *     numbers, index arithmetic is simplified, constants are folded. Nothing that runs or counts
 *     reads `value`; nothing that names or hashes reads `code`.
 *  5. In `code` every load that can leave its tensor has a default, and a default that can never be
 *     taken is dropped.
 *  6. REDUCE occurs at most once in a stage and never inside subscripts.
 */
#ifndef HONE_LANG_IR_H
#define HONE_LANG_IR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LANG_MAX_RANK 8
#define LANG_MAX_LEVELS 16 /* indices of a stage, left and reduction together */

/* ---- data types ---- */

enum kind { /* what an expression computes with, from narrow to wide */
            KIND_BOOL,
            KIND_INT,  /* 64-bit integers */
            KIND_REAL, /* constants: adapt to the float they meet; alone they are f32 */
            KIND_F32,
            KIND_F64,
};

/*    id    name    C type      bytes kind       roundoff   smallest normal  largest */
#define LANG_DTYPES(X)                                                               \
    X(F64, "f64", "double", 8, KIND_F64, 0x1p-53, 0x1p-1022, 0x1.fffffffffffffp1023) \
    X(F32, "f32", "float", 4, KIND_F32, 0x1p-24, 0x1p-126, 0x1.fffffep127)           \
    X(F16, "f16", "_Float16", 2, KIND_F32, 0x1p-11, 0x1p-14, 65504.0)                \
    X(BF16, "bf16", "bf16", 2, KIND_F32, 0x1p-8, 0x1p-126, 0x1.fep127)               \
    X(I32, "i32", "int32_t", 4, KIND_INT, 0, 0, 2147483647.0)                        \
    X(I8, "i8", "int8_t", 1, KIND_INT, 0, 0, 127.0)                                  \
    X(U8, "u8", "uint8_t", 1, KIND_INT, 0, 0, 255.0)                                 \
    X(BOOL, "bool", "uint8_t", 1, KIND_BOOL, 0, 0, 1.0)

enum dtype {
#define X(id, ...) DTYPE_##id,
    LANG_DTYPES(X)
#undef X
        DTYPE_COUNT
};

struct dtype_info {
    const char *name, *c_type;
    size_t size;
    enum kind kind;                     /* of an element once read */
    double roundoff, smallest, largest; /* floats: unit roundoff, smallest normal, largest */
};

extern const struct dtype_info dtype_info[DTYPE_COUNT];

static inline bool
dtype_is_float(enum dtype dtype)
{
    return dtype_info[dtype].kind >= KIND_F32;
}

/* Element number `at` as a double, and back: rounded to nearest even, integers toward zero and
 * wrapped. */
double
dtype_element(enum dtype dtype, const void *data, int64_t at);
void
dtype_set_element(enum dtype dtype, void *data, int64_t at, double value);

/* ---- operations ---- */

enum form { FORM_LEAF, FORM_PREFIX, FORM_INFIX, FORM_CALL, FORM_OWN };

/* id, spelling, form, arguments, r and s of the tolerance rule f(a) (LANGUAGE: relative and
 * absolute roundings in units of u), flops, listed apart */
#define LANG_OPS(X)                              \
    X(INT, "", LEAF, 0, 0, 0, 0, 0)              \
    X(REAL, "", LEAF, 0, 0, 0, 0, 0)             \
    X(INDEX, "", LEAF, 0, 0, 0, 0, 0)            \
    X(DIM, "", LEAF, 0, 0, 0, 0, 0)              \
    X(LOAD, "", OWN, -1, 0, 0, 0, 0)             \
    X(REDUCE, "", OWN, -1, 0, 0, 0, 0)           \
    X(CAT, "cat", OWN, -1, 0, 0, 1, 0)           \
    X(CAST, "", OWN, 1, 0, 0, 0, 0)              \
    X(IF, "if", CALL, 3, 0, 0, 1, 0)             \
    X(NEG, "-", PREFIX, 1, 0, 0, 0, 0)           \
    X(NOT, "!", PREFIX, 1, 0, 0, 0, 0)           \
    X(OR, "||", INFIX, 2, 0, 0, 0, 0)            \
    X(AND, "&&", INFIX, 2, 0, 0, 0, 0)           \
    X(LT, "<", INFIX, 2, 0, 0, 1, 0)             \
    X(LE, "<=", INFIX, 2, 0, 0, 1, 0)            \
    X(GT, ">", INFIX, 2, 0, 0, 1, 0)             \
    X(GE, ">=", INFIX, 2, 0, 0, 1, 0)            \
    X(EQ, "==", INFIX, 2, 0, 0, 1, 0)            \
    X(NE, "!=", INFIX, 2, 0, 0, 1, 0)            \
    X(ADD, "+", INFIX, 2, 0, 0, 1, 0)            \
    X(SUB, "-", INFIX, 2, 0, 0, 1, 0)            \
    X(MUL, "*", INFIX, 2, 0, 0, 1, 0)            \
    X(DIV, "/", INFIX, 2, 0, 0, 1, 1)            \
    X(MOD, "%", INFIX, 2, 0, 0, 1, 0)            \
    X(MIN, "min", CALL, 2, 0, 0, 1, 0)           \
    X(MAX, "max", CALL, 2, 0, 0, 1, 0)           \
    X(ABS, "abs", CALL, 1, 0, 0, 1, 0)           \
    X(SQRT, "sqrt", CALL, 1, 1, 0, 1, 1)         \
    X(RSQRT, "rsqrt", CALL, 1, 4, 0, 0, 1)       \
    X(EXP, "exp", CALL, 1, 4, 0, 0, 1)           \
    X(EXP2, "exp2", CALL, 1, 4, 0, 0, 1)         \
    X(EXPM1, "expm1", CALL, 1, 4, 0, 0, 1)       \
    X(LOG, "log", CALL, 1, 4, 0, 0, 1)           \
    X(LOG2, "log2", CALL, 1, 4, 0, 0, 1)         \
    X(LOG1P, "log1p", CALL, 1, 4, 0, 0, 1)       \
    X(SIN, "sin", CALL, 1, 4, 2, 0, 1)           \
    X(COS, "cos", CALL, 1, 4, 2, 0, 1)           \
    X(TAN, "tan", CALL, 1, 4, 0, 0, 1)           \
    X(ATAN, "atan", CALL, 1, 4, 0, 0, 1)         \
    X(SINH, "sinh", CALL, 1, 4, 0, 0, 1)         \
    X(COSH, "cosh", CALL, 1, 4, 0, 0, 1)         \
    X(TANH, "tanh", CALL, 1, 4, 2, 0, 1)         \
    X(ERF, "erf", CALL, 1, 4, 2, 0, 1)           \
    X(SIGMOID, "sigmoid", CALL, 1, 2, 0, 0, 1)   \
    X(SOFTPLUS, "softplus", CALL, 1, 4, 0, 0, 1) \
    X(POW, "pow", CALL, 2, 4, 0, 0, 1)           \
    X(SIGN, "sign", CALL, 1, 0, 0, 0, 1)         \
    X(FLOOR, "floor", CALL, 1, 0, 0, 0, 1)       \
    X(CEIL, "ceil", CALL, 1, 0, 0, 0, 1)         \
    X(ROUND, "round", CALL, 1, 0, 0, 0, 1)       \
    X(TRUNC, "trunc", CALL, 1, 0, 0, 0, 1)

enum op {
#define X(id, ...) OP_##id,
    LANG_OPS(X)
#undef X
        OP_COUNT
};

struct op_info {
    const char *spelling;
    enum form form;
    int args;           /* -1: any number */
    double ulps, floor; /* r and s */
    int flops;
    bool apart;
};

extern const struct op_info op_info[OP_COUNT];

/*    id     name    empty value is 0, 1, -inf, inf, -1 */
#define LANG_REDUCTIONS(X) \
    X(SUM, "sum")          \
    X(MEAN, "mean")        \
    X(PROD, "prod")        \
    X(MAX, "max")          \
    X(MIN, "min")          \
    X(ARGMAX, "argmax")    \
    X(ARGMIN, "argmin")

enum reduction {
#define X(id, name) REDUCE_##id,
    LANG_REDUCTIONS(X)
#undef X
        REDUCE_COUNT
};

extern const char *const reduction_name[REDUCE_COUNT];

/* ---- expressions ---- */

struct expr {
    uint32_t id;   /* dense within the program: analyses keep arrays by it */
    uint32_t free; /* bit l: the index of level l occurs free */
    uint32_t tree; /* operations if written out as a tree, saturating */
    uint16_t height;
    uint8_t op;     /* enum op */
    uint8_t kind;   /* enum kind */
    bool loads;     /* some tensor is read, or terms are reduced, here or below */
    uint16_t count; /* arguments */
    union {
        int64_t integer;             /* INT */
        double real;                 /* REAL */
        unsigned level;              /* INDEX */
        const struct dim *dim;       /* DIM */
        const struct tensor *tensor; /* LOAD: args are the subscripts, then perhaps a default */
        const struct binder *binder; /* REDUCE: args are body and perhaps filter; CAT: pieces */
        enum dtype dtype;            /* CAST */
    };
    const struct expr *const *args;
};

/* What REDUCE and CAT bind or cut. */
struct binder {
    enum reduction reduction;
    unsigned level; /* REDUCE: of its first index, the others follow; CAT: of the index cut */
    unsigned count; /* REDUCE: indices; CAT: pieces */
    const char *const *names;         /* REDUCE: for display only */
    const struct expr *const *extent; /* REDUCE: of each index; CAT: of each piece.
                                         In a piece the index still counts from the piece's start:
                                         the piece reads index minus start explicitly. */
};

/* A load's default, or NULL. */
const struct expr *
expr_default(const struct expr *load);

/* The loads among the factors of a product, at most so many; returns how many. */
size_t
expr_load_factors(const struct expr *e, const struct expr **loads, size_t most);

/* A load whose default is 0: outside of its tensor a product with it adds nothing to a sum. */
bool
expr_is_zero_outside(const struct expr *load);

/* The filter of a REDUCE, or NULL. */
const struct expr *
expr_filter(const struct expr *reduce);

/* Terms of a REDUCE of a case, filtered or not. */
int64_t
expr_terms(const struct expr *reduce);

/* The terms of the sum in this kind of float that e is, or is with other summands added to it; 0 if
 * it is none. Sees through stages that are stored as they are, as far as a few steps. */
int64_t
expr_sum_terms(const struct expr *e, enum kind kind);

/* Neither indices nor loads below. */
static inline bool
expr_is_constant(const struct expr *e)
{
    return e->free == 0 && !e->loads;
}

/* Value of a constant INT or BOOL expression, dims included. */
int64_t
expr_integer(const struct expr *e);

/* Value of any constant expression in double. */
double
expr_real(const struct expr *e);

/* ---- tensors, stages, programs ---- */

struct dim {
    const char *name;
    int64_t size;  /* in this case */
    bool any;      /* must be right from 1 to twice the default */
    int64_t given; /* the default size */
};

enum domain_form {
    DOMAIN_NONE,
    DOMAIN_INTERVAL, /* from low to high */
    DOMAIN_SCALE,    /* deviation low */
    DOMAIN_AMONG,    /* one of values */
    DOMAIN_SOFTMAX,
    DOMAIN_LOWER,
    DOMAIN_UPPER,
    DOMAIN_SYMMETRIC,
    DOMAIN_FORMS
};

struct domain {
    enum domain_form form;
    double low, high;
    const double *values;
    size_t count;
};

struct tensor {
    const char *name; /* "Y", or "Y.layer_norm.U" */
    unsigned number;  /* in program.tensors */
    enum dtype dtype;
    unsigned rank;
    const struct expr *extent[LANG_MAX_RANK]; /* over dims */
    int64_t size[LANG_MAX_RANK];              /* in this case */
    int64_t count;                            /* elements: the product, fits in 63 bits */
    struct domain domain;                     /* inputs; DOMAIN_NONE: by dtype, see below */
    int64_t low, high; /* integer and bool tensors: an interval that holds every element, as far as
                          the program shows it; an input without a clause that is used as a
                          subscript lies in 0 .. size-1 of that dimension */
    int input, output; /* position among them, or -1 */
    const struct stage *stage; /* NULL for inputs */
};

#define LANG_FEW 64 /* elements: fewer are no statistics (doc/tolerance.md, decision 16) */

static inline bool
tensor_is_few(const struct tensor *tensor)
{
    return tensor->count < LANG_FEW;
}

struct stage {
    struct tensor *tensor;
    const char *index[LANG_MAX_RANK]; /* names of the left indices, for display */
    const struct expr *value, *code;  /* invariant 4 */
    int rec;                          /* number of its rec block, or -1 */
    unsigned carried;                 /* rec: which left index is carried */
};

struct rec {
    size_t first, count; /* stages */
    const struct expr *extent;
    int64_t size; /* steps */
};

/* reference "file.c" tolerance rtol atol: stages are absent, outputs have shapes. */
struct foreign {
    const char *path;
    const char *hash; /* SHA-256 of the file: what the task's own hash holds */
    double relative, absolute;
};

struct program {
    const char *name;
    const char *case_name;
    bool check_only; /* the case is checked but not timed */
    struct dim *dims;
    size_t dim_count;
    /* consts that begin with a capital, for the prelude's macros */
    const char *const *const_names;
    const int64_t *const_values;
    size_t const_count;
    struct tensor **tensors; /* inputs first, in declared order */
    size_t tensor_count, input_count;
    struct tensor **outputs; /* in the order of `out` */
    size_t output_count;
    struct stage *stages;
    size_t stage_count;
    struct rec *recs;
    size_t rec_count;
    const struct foreign *foreign; /* or NULL */
    size_t expr_count;             /* ids are below this */
    struct ir *ir;                 /* where its expressions are made (make.h) */
};

#endif
