#include "bridge/exact.h"

/* ---- one sum of products ---- */

struct terms { /* of the only stage */
    const struct tensor *result;
    const struct expr *reduce;
    const struct expr *load[2];
    int64_t extent[LANG_MAX_LEVELS]; /* of each index; 0: there is none of this level */
};

static bool
is_input(const struct expr *e)
{
    return e->op == OP_LOAD && e->tensor->input >= 0 && e->tensor->dtype == DTYPE_F32;
}

static bool
is_zero(const struct expr *e)
{
    return e == NULL || (expr_is_constant(e) && expr_real(e) == 0);
}

/* The stage's value, if that is a sum over all terms of two inputs' product. */
static bool
is_sum_of_products(const struct expr *e)
{
    if (e->op != OP_REDUCE || e->binder->reduction != REDUCE_SUM || expr_filter(e) != NULL)
        return false;
    const struct expr *body = e->args[0];
    return body->op == OP_MUL && is_input(body->args[0]) && is_input(body->args[1]) &&
           body->args[0]->tensor != body->args[1]->tensor;
}

static bool
find_terms(const struct program *program, struct terms *terms)
{
    if (program->foreign != NULL || program->stage_count != 1 || program->output_count != 1 ||
        program->input_count != 2 || program->rec_count > 0)
        return false;
    const struct stage *stage = &program->stages[0];
    const struct expr *e = stage->code;
    if (stage->tensor->dtype != DTYPE_F32 || !is_sum_of_products(e))
        return false;
    *terms = (struct terms){.result = stage->tensor, .reduce = e};
    for (unsigned i = 0; i < 2; i++)
        terms->load[i] = e->args[0]->args[i];
    for (unsigned d = 0; d < stage->tensor->rank; d++)
        terms->extent[d] = stage->tensor->size[d];
    for (unsigned i = 0; i < e->binder->count; i++)
        terms->extent[e->binder->level + i] = expr_integer(e->binder->extent[i]);
    return true;
}

/* ---- subscripts ---- */

static int64_t
floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* False: something that no subscript of these operators needs. */
static bool
evaluate(const struct expr *e, const int64_t *at, int64_t *value)
{
    int64_t a = 0, b = 0;
    if (e->op == OP_INT || e->op == OP_INDEX) {
        *value = e->op == OP_INT ? e->integer : at[e->level];
        return true;
    }
    if (e->count < 1 || e->count > 2 || !evaluate(e->args[0], at, &a) ||
        (e->count == 2 && !evaluate(e->args[1], at, &b)))
        return false;
    switch (e->op) {
    case OP_NEG:
        *value = -a;
        return true;
    case OP_ADD:
        *value = a + b;
        return true;
    case OP_SUB:
        *value = a - b;
        return true;
    case OP_MUL:
        *value = a * b;
        return true;
    case OP_DIV:
        *value = b > 0 ? floor_div(a, b) : 0;
        return b > 0;
    case OP_MOD:
        *value = b > 0 ? a - b * floor_div(a, b) : 0;
        return b > 0;
    default:
        return false;
    }
}

#define NONE LANG_MAX_LEVELS /* a level that no index has */

/* What a subscript should be of indices i and j: its value, from (i, j) = (0, 0) on. */
struct plan {
    unsigned i, j;          /* levels; NONE: the index does not occur */
    int64_t divide, times;  /* i / divide * times */
    int64_t step, constant; /* + j * step + constant */
};

static int64_t
extent_of(const struct terms *terms, unsigned level)
{
    return level == NONE ? 1 : terms->extent[level];
}

/* For all values of both, and of nothing else. */
static bool
follows(const struct terms *terms, const struct expr *e, const struct plan *plan)
{
    int64_t at[LANG_MAX_LEVELS + 1] = {0}, value;
    uint32_t allowed =
        (plan->i == NONE ? 0 : 1u << plan->i) | (plan->j == NONE ? 0 : 1u << plan->j);
    if ((e->free & ~allowed) != 0 || e->loads)
        return false;
    for (int64_t i = 0; i < extent_of(terms, plan->i); i++)
        for (int64_t j = 0; j < extent_of(terms, plan->j); j++) {
            at[plan->i] = i;
            at[plan->j] = j;
            if (!evaluate(e, at, &value) ||
                value != i / plan->divide * plan->times + j * plan->step + plan->constant)
                return false;
        }
    return true;
}

/* The index of this level, and nothing else. */
static bool
is_level(const struct terms *terms, const struct expr *e, unsigned level)
{
    const struct plan plan = {.i = NONE, .j = level, .divide = 1, .step = 1};
    return follows(terms, e, &plan);
}

/* The load reads its tensor at exactly these indices, and every element of it. */
static bool
reads(const struct terms *terms, const struct expr *load, const unsigned *levels, unsigned count)
{
    if (load->tensor->rank != count)
        return false;
    for (unsigned d = 0; d < count; d++)
        if (!is_level(terms, load->args[d], levels[d]) ||
            load->tensor->size[d] != extent_of(terms, levels[d]))
            return false;
    return true;
}

/* ---- products ---- */

/* At batch indices 0 .. batch-1, then the two given, in this order or the other. */
static bool
reads_matrix(const struct terms *terms, const struct expr *load, unsigned batch, unsigned row,
             unsigned column, bool *transposed)
{
    unsigned levels[LANG_MAX_RANK];
    for (unsigned d = 0; d < batch; d++)
        levels[d] = d;
    levels[batch] = row;
    levels[batch + 1] = column;
    *transposed = false;
    if (reads(terms, load, levels, batch + 2))
        return true;
    levels[batch] = column;
    levels[batch + 1] = row;
    *transposed = true;
    return reads(terms, load, levels, batch + 2);
}

static int64_t
product_of(const int64_t *sizes, unsigned count)
{
    int64_t product = 1;
    for (unsigned d = 0; d < count; d++)
        product *= sizes[d];
    return product;
}

/* Y[m] = sum A[m,k] * x[k] */
static bool
is_matvec(const struct terms *terms, const struct expr *a, const struct expr *b, unsigned k,
          struct exact_product *product)
{
    *product =
        (struct exact_product){.batch = 1, .m = terms->extent[0], .n = 1, .k = terms->extent[k]};
    return terms->result->rank == 1 && reads(terms, b, &k, 1) &&
           reads_matrix(terms, a, 0, 0, k, &product->transposed_a);
}

/* Y[...,m,n] = sum A[...,m,k] * B[...,k,n], either matrix transposed */
static bool
is_matmul(const struct terms *terms, const struct expr *a, const struct expr *b, unsigned k,
          struct exact_product *product)
{
    unsigned rank = terms->result->rank, batch = rank - 2;
    *product = (struct exact_product){.batch = product_of(terms->extent, batch),
                                      .m = terms->extent[rank - 2],
                                      .n = terms->extent[rank - 1],
                                      .k = terms->extent[k]};
    return reads_matrix(terms, a, batch, rank - 2, k, &product->transposed_a) &&
           reads_matrix(terms, b, batch, k, rank - 1, &product->transposed_b);
}

/* Y[...,n] = sum A[...,k] * B[k,n]: one B for all, so that A is one tall matrix. */
static bool
is_shared(const struct terms *terms, const struct expr *a, const struct expr *b, unsigned k,
          struct exact_product *product)
{
    unsigned rank = terms->result->rank, levels[LANG_MAX_RANK];
    for (unsigned d = 0; d + 1 < rank; d++)
        levels[d] = d;
    levels[rank - 1] = k;
    *product = (struct exact_product){.batch = 1,
                                      .m = product_of(terms->extent, rank - 1),
                                      .n = terms->extent[rank - 1],
                                      .k = terms->extent[k]};
    return reads(terms, a, levels, rank) &&
           reads_matrix(terms, b, 0, k, rank - 1, &product->transposed_b);
}

bool
exact_product(const struct program *program, struct exact_product *product)
{
    struct terms terms;
    if (!find_terms(program, &terms) || terms.reduce->binder->count != 1)
        return false;
    unsigned k = terms.reduce->binder->level, rank = terms.result->rank;
    for (unsigned first = 0; first < 2; first++) {
        const struct expr *a = terms.load[first], *b = terms.load[1 - first];
        if (is_matvec(&terms, a, b, k, product) ||
            (rank >= 2 && is_matmul(&terms, a, b, k, product)) ||
            (rank >= 3 && is_shared(&terms, a, b, k, product))) {
            product->a = (size_t)a->tensor->input;
            product->b = (size_t)b->tensor->input;
            return true;
        }
    }
    return false;
}

/* ---- convolutions ---- */

/* The index of the sum that this subscript of the filter is; NONE: it is always 0. */
static bool
find_level(const struct terms *terms, const struct expr *e, int64_t size, unsigned *level)
{
    unsigned first = terms->reduce->binder->level;
    *level = NONE;
    for (unsigned i = 0; i < terms->reduce->binder->count; i++)
        if (e->free == 1u << (first + i))
            *level = first + i;
    return extent_of(terms, *level) == size && is_level(terms, e, *level);
}

/* Stride, padding and dilation from the first values, then all of them. */
static bool
find_window(const struct terms *terms, const struct expr *e, unsigned out, unsigned tap,
            struct exact_convolution *c, unsigned d)
{
    int64_t at[LANG_MAX_LEVELS + 1] = {0}, start, next;
    if (!evaluate(e, at, &start))
        return false;
    c->pad[d] = -start;
    c->stride[d] = c->dilation[d] = 1;
    at[out] = 1;
    if (extent_of(terms, out) > 1 && evaluate(e, at, &next))
        c->stride[d] = next - start;
    at[out] = 0;
    at[tap] = 1;
    if (extent_of(terms, tap) > 1 && evaluate(e, at, &next))
        c->dilation[d] = next - start;
    const struct plan plan = {.i = out,
                              .j = tap,
                              .divide = 1,
                              .times = c->stride[d],
                              .step = c->dilation[d],
                              .constant = start};
    return c->pad[d] >= 0 && c->stride[d] > 0 && c->dilation[d] > 0 && follows(terms, e, &plan);
}

/* Each group of outputs reads its own channels. */
static bool
find_groups(const struct terms *terms, const struct expr *e, unsigned channel,
            const struct tensor *x, const struct tensor *f, struct exact_convolution *c)
{
    if (x->size[1] % f->size[1] != 0)
        return false;
    c->groups = x->size[1] / f->size[1];
    if (f->size[0] % c->groups != 0)
        return false;
    const struct plan plan = {
        .i = 1, .j = channel, .divide = f->size[0] / c->groups, .times = f->size[1], .step = 1};
    return follows(terms, e, &plan);
}

static bool
is_convolution(const struct terms *terms, const struct expr *x, const struct expr *f,
               struct exact_convolution *c)
{
    unsigned rank = terms->result->rank, channel, tap;
    *c = (struct exact_convolution){.spatial = rank - 2};
    if (x->tensor->rank != rank || f->tensor->rank != rank || !is_zero(expr_default(x)) ||
        expr_default(f) != NULL || x->tensor->size[0] != terms->extent[0] ||
        f->tensor->size[0] != terms->extent[1] || !is_level(terms, x->args[0], 0) ||
        !is_level(terms, f->args[0], 1) ||
        !find_level(terms, f->args[1], f->tensor->size[1], &channel) ||
        !find_groups(terms, x->args[1], channel, x->tensor, f->tensor, c))
        return false;
    for (unsigned d = 0; d < c->spatial; d++)
        if (!find_level(terms, f->args[2 + d], f->tensor->size[2 + d], &tap) ||
            !find_window(terms, x->args[2 + d], 2 + d, tap, c, d))
            return false;
    return expr_terms(terms->reduce) == f->tensor->count / f->tensor->size[0];
}

bool
exact_convolution(const struct program *program, struct exact_convolution *convolution)
{
    struct terms terms;
    if (!find_terms(program, &terms) || terms.result->rank < 3 ||
        terms.result->rank > 2 + EXACT_SPATIAL)
        return false;
    for (unsigned first = 0; first < 2; first++) {
        const struct expr *x = terms.load[first], *f = terms.load[1 - first];
        if (is_convolution(&terms, x, f, convolution)) {
            convolution->x = (size_t)x->tensor->input;
            convolution->f = (size_t)f->tensor->input;
            return true;
        }
    }
    return false;
}
