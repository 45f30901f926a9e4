/* moments S k STEP: S adds up squares of distances from a mean U of the same terms. Both in one
 * pass over what they read: chunk by chunk of k its mean and the squares around that, from cache,
 * then all chunks together, by Chan's formula.
 *
 *     U[r] = sum[j](X[r,j]) / N                       N = 4096, STEP = 1024
 *     V[r] = sum[j]((X[r,j]-U[r])*(X[r,j]-U[r])) / N
 *
 *     V.j[jc:4,r]    = sum[j:1024](X[r,jc*1024+j]) / 1024
 *     V.j.sq[jc:4,r] = sum[j:1024]((X[r,jc*1024+j]-V.j[jc,r]) * (..))
 *     U[r]           = sum[jc](V.j[jc,r]*1024) / N
 *     V[r]           = sum[jc](V.j.sq[jc,r] + 1024*(V.j[jc,r]-U[r])*(V.j[jc,r]-U[r])) / N
 *
 * Squares are always taken around a mean of their own neighbours, so digits are kept however large
 * the mean is: a sum of plain squares less the square of the sum would lose them. The last line
 * holds for any U, so what U does with its sum does not matter. */
#include "coder/change_split_int.h"

struct moments {
    struct split split;
    const struct expr *term;   /* x */
    const struct tensor *mean; /* U */
    const struct expr *sum;    /* the reduction in it */
};

static bool
is_sum(const struct expr *reduce)
{
    return (reduce->binder->reduction == REDUCE_SUM || reduce->binder->reduction == REDUCE_MEAN) &&
           expr_filter(reduce) == NULL;
}

/* x - U[..], U read at the left indices of the stage, in their order. */
static bool
is_distance(const struct expr *e, unsigned rank)
{
    if (e->op != OP_SUB || e->args[1]->op != OP_LOAD || e->args[1]->count != rank)
        return false;
    for (unsigned l = 0; l < rank; l++)
        if (e->args[1]->args[l]->op != OP_INDEX || e->args[1]->args[l]->level != l)
            return false;
    return e->args[1]->tensor->stage != NULL && e->args[1]->tensor->rank == rank;
}

static bool
same_range(const struct binder *a, const struct binder *b)
{
    bool same = a->count == b->count;
    for (unsigned i = 0; i < a->count && same; i++)
        same = expr_integer(a->extent[i]) == expr_integer(b->extent[i]);
    return same;
}

/* Finds x and U; false: refused. */
static bool
find_mean(struct edit *edit, struct moments *moments)
{
    const struct stage *stage = change__stage(edit);
    const struct expr *reduce = moments->split.reduce, *square = reduce->args[0];
    const char *own = stage->tensor->name;
    if (!is_sum(reduce) || square->op != OP_MUL || square->args[0] != square->args[1] ||
        !is_distance(square->args[0], stage->tensor->rank) || stage->rec >= 0)
        return change__refuse(edit,
                              "%s is no sum or mean of (x-U)*(x-U) with U[..] at its own indices; "
                              "! split cuts other reductions",
                              own);
    moments->term = square->args[0]->args[0];
    moments->mean = square->args[0]->args[1]->tensor;
    moments->sum = change__reduction(edit, moments->mean->stage->code);
    if (moments->sum == NULL || moments->mean->stage->rec >= 0 || !is_sum(moments->sum) ||
        moments->sum->args[0] != moments->term || !same_range(moments->sum->binder, reduce->binder))
        return change__refuse(edit,
                              "%s adds up other terms than %s; only both over the same can "
                              "be taken in one pass",
                              moments->mean->name, own);
    return true;
}

/* How many terms chunk `chunk` has. */
static const struct expr *
terms_of(const struct split *split, const struct expr *chunk, enum kind kind)
{
    struct ir *ir = split->edit->ir;
    int64_t extent = expr_integer(split->reduce->binder->extent[split->number]);
    int64_t others = expr_terms(split->reduce) / extent;
    if (extent % split->step == 0)
        return ir_real(ir, (double)(split->step * others));
    const struct expr *left = ir_binary(ir, OP_SUB, ir_int(ir, extent),
                                        ir_binary(ir, OP_MUL, chunk, ir_int(ir, split->step)));
    const struct expr *terms = ir_binary(
        ir, OP_MUL, ir_binary(ir, OP_MIN, left, ir_int(ir, split->step)), ir_int(ir, others));
    return ir_cast(ir, change__dtype(kind), terms);
}

static const struct expr *
squared(struct ir *ir, const struct expr *e)
{
    return ir_binary(ir, OP_MUL, e, e);
}

/* A sum of all chunks, divided where the reduction it stands for was a mean. */
static const struct expr *
all_of(const struct split *split, const struct expr *reduce, const struct expr *body)
{
    struct ir *ir = split->edit->ir;
    const struct expr *sum = change__split_combined(split, REDUCE_SUM, body);
    if (reduce->binder->reduction != REDUCE_MEAN)
        return sum;
    return ir_binary(ir, OP_DIV, sum, ir_real(ir, (double)expr_terms(reduce)));
}

static size_t
number_of(const struct edit *edit, const struct tensor *tensor)
{
    return (size_t)(tensor->stage - edit->program->stages);
}

/* The mean of each chunk and the squares around it, before U. */
static void
put_chunks(const struct moments *moments, struct tensor **means, struct tensor **squares)
{
    const struct split *split = &moments->split;
    struct edit *edit = split->edit;
    struct ir *ir = edit->ir;
    const struct expr *term = change__split_moved(split, moments->term), *own[LANG_MAX_RANK];
    const char *name = change__name(edit, edit->line->name);
    size_t before = number_of(edit, moments->mean);
    if (term->kind <= KIND_INT)
        term = ir_cast(ir, DTYPE_F32, term);
    *means = change__split_put(split, before, name, true,
                               ir_binary(ir, OP_DIV, change__split_partial(split, REDUCE_SUM, term),
                                         terms_of(split, ir_index(ir, 0), term->kind)));
    for (unsigned l = 0; l < (*means)->rank; l++)
        own[l] = ir_index(ir, l);
    const struct expr *distance =
        ir_binary(ir, OP_SUB, term, change__load(edit, *means, own, NULL));
    *squares = change__split_put(split, before + 1, arena_printf(edit->arena, "%s.sq", name), true,
                                 change__split_partial(split, REDUCE_SUM, squared(ir, distance)));
}

bool
change__moments(struct edit *edit)
{
    struct moments moments = {0};
    struct tensor *means, *squares;
    struct ir *ir = edit->ir;
    if (!change__split_begin(edit, &moments.split) || !find_mean(edit, &moments))
        return false;
    const struct split *split = &moments.split;
    const struct expr *reduce = split->reduce, *apart = reduce->args[0]->args[0];
    put_chunks(&moments, &means, &squares);
    const struct expr *chunk = ir_index(ir, moments.mean->rank);
    const struct expr *its_mean = change__split_read(split, means, chunk);
    const struct expr *terms = terms_of(split, chunk, its_mean->kind);
    change__split_replace(edit, &edit->program->stages[number_of(edit, moments.mean)], moments.sum,
                          all_of(split, moments.sum, ir_binary(ir, OP_MUL, its_mean, terms)));
    const struct expr *between = squared(ir, ir_binary(ir, OP_SUB, its_mean, apart->args[1]));
    const struct expr *both = ir_binary(ir, OP_ADD, change__split_read(split, squares, chunk),
                                        ir_binary(ir, OP_MUL, terms, between));
    change__split_replace(edit, change__stage(edit), reduce, all_of(split, reduce, both));
    return true;
}
