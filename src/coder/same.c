/* Stages that are no work: the elements of another tensor in the same order, under other indices.
 *
 *     Y.X[n,c,yx] = X[n,c,yx/28,yx%28]        reads the memory of X
 *     Y[n,k,y,x]  = Y.yx[n,k,y*28+x]          an output: Y.yx is computed in its memory
 */
#include "coder/coder_int.h"

struct term { /* of the place of an element */
    const struct expr *e;
    int64_t factor;
};

static bool
divides(const struct expr *e, enum op op, int64_t *by)
{
    if (e->op != op || e->kind != KIND_INT || e->args[1]->op != OP_INT || e->args[1]->integer <= 0)
        return false;
    *by = e->args[1]->integer;
    return true;
}

/* Is e = q / by? Quotients of quotients count as one. */
static bool
is_quotient(const struct expr *e, const struct expr *of, int64_t by)
{
    int64_t own, inner;
    if (!divides(e, OP_DIV, &own))
        return false;
    if (e->args[0] == of && own == by)
        return true;
    return divides(of, OP_DIV, &inner) && of->args[0] == e->args[0] && own == inner * by;
}

/* (e/W)*W*f + (e%W)*f = e*f, until nothing can be put together. */
static unsigned
join_terms(struct term *terms, unsigned count)
{
    for (unsigned a = 0; a < count; a++)
        for (unsigned b = 0; b < count; b++) {
            int64_t by;
            if (a == b || !divides(terms[b].e, OP_MOD, &by) ||
                terms[a].factor != by * terms[b].factor ||
                !is_quotient(terms[a].e, terms[b].e->args[0], by))
                continue;
            terms[b].e = terms[b].e->args[0];
            terms[a] = terms[--count];
            return join_terms(terms, count);
        }
    return count;
}

/* The place of each element of the load is that of the stage's own element. */
static bool
has_own_order(const struct expr *load, const struct tensor *own)
{
    struct term terms[LANG_MAX_RANK];
    int64_t factor[LANG_MAX_LEVELS] = {0}, constant = 0, size = 1;
    unsigned count = 0;
    for (unsigned d = load->tensor->rank; d-- > 0; size *= load->tensor->size[d])
        if (load->tensor->size[d] > 1)
            terms[count++] = (struct term){load->args[d], size};
    count = join_terms(terms, count);
    for (unsigned i = 0; i < count; i++) {
        int64_t part[LANG_MAX_LEVELS], add;
        if (!expr_affine(terms[i].e, part, &add))
            return false;
        for (unsigned l = 0; l < own->rank; l++)
            factor[l] += part[l] * terms[i].factor;
        constant += add * terms[i].factor;
    }
    size = 1;
    for (unsigned l = own->rank; l-- > 0; size *= own->size[l])
        if (own->size[l] > 1 && factor[l] != size)
            return false;
    return constant == 0;
}

const struct tensor *
work_same(const struct schedule *schedule, const struct work *work)
{
    const struct expr *load = work->stage->code;
    const struct tensor *own = work->tensor, *of = load->op == OP_LOAD ? load->tensor : NULL;
    if (of == NULL || expr_default(load) != NULL || work->stage->rec >= 0 ||
        own->dtype != of->dtype || !has_own_order(load, own))
        return NULL;
    if (of->stage == NULL)
        return own->output < 0 ? of : NULL;
    /* what could be computed on the way is better not stored */
    const struct work *made = &schedule->works[of->stage - schedule->program->stages];
    if (made->fate == FATE_SAME)
        return own->output < 0 ? of : NULL;
    if (work_reduce(made->stage->code) == NULL || made->stage->rec >= 0)
        return NULL;
    bool fits = own->output < 0 || (of->output < 0 && of->count == own->count);
    for (size_t i = 0; i < work->number; i++) /* two outputs cannot both be its memory */
        fits = fits && !(own->output >= 0 && schedule->works[i].same == of &&
                         schedule->works[i].tensor->output >= 0);
    return fits ? of : NULL;
}

const struct tensor *
work_memory(const struct schedule *schedule, const struct tensor *tensor)
{
    const struct program *program = schedule->program;
    if (tensor->stage == NULL)
        return tensor;
    const struct work *work = &schedule->works[tensor->stage - program->stages];
    if (work->fate == FATE_SAME && tensor->output < 0)
        return work_memory(schedule, work->same);
    for (size_t i = work->number + 1; i < program->stage_count; i++)
        if (schedule->works[i].same == tensor && schedule->works[i].tensor->output >= 0)
            return schedule->works[i].tensor;
    return tensor;
}

bool
work_has_own_memory(const struct schedule *schedule, const struct work *work)
{
    return work->tensor->output < 0 && work_is_stored(work) &&
           work_memory(schedule, work->tensor) == work->tensor;
}
