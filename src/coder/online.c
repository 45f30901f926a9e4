/* online(j/STEP: M,S,O): which stages fit, and what they become. */
#include "coder/bound_int.h"

#include <math.h>
#include <string.h>

const struct token *
online_names(const struct line *line, size_t stage)
{
    for (size_t i = 0; i < line->count; i++)
        for (unsigned s = 0; line->tokens[i].form == TOKEN_ONLINE && s < line->tokens[i].count; s++)
            if (line->tokens[i].together[s] == stage)
                return &line->tokens[i];
    return NULL;
}

struct fitter {
    struct arena *arena;
    struct schedule *schedule;
    struct ir *ir;
    struct diags *diags;
    const struct token *token;
    const struct work *work, *max, *sum; /* O, M, S or NULL */
    struct online *online;
    const struct expr *score;   /* P where M's filter holds, -inf elsewhere, in M's levels */
    const struct expr *load;    /* of M in O */
    const struct expr *divisor; /* S in O, or NULL */
};

static bool
misfit(struct fitter *fitter, const struct work *work, const char *why)
{
    diags_add(fitter->diags, DIAG_ERROR, fitter->token->place, "%s: %s does not fit: %s",
              fitter->token->text, work->tensor->name, why);
    return false;
}

/* ---- shapes ---- */

/* The one reduction over one index, with nothing around it. */
static bool
is_bare(const struct work *work, enum reduction reduction)
{
    return work->reduce != NULL && work->code == work->reduce && work->reduce->binder->count == 1 &&
           work->reduce->binder->reduction == reduction;
}

/* Rows of M in the levels of a reader, from a load of it; false: not at plain left indices. */
static bool
find_rows(const struct work *reader, const struct expr *load, int8_t *row)
{
    uint32_t seen = 0;
    for (unsigned d = 0; d < load->tensor->rank; d++) {
        const struct expr *e = load->args[d];
        if (e->op != OP_INDEX || !work_is_left(reader, e->level) || (seen & 1u << e->level))
            return false;
        seen |= 1u << e->level;
        row[d] = (int8_t)e->level;
    }
    return true;
}

static const struct expr *
leave_same(struct rewrite *rewrite, const struct expr *e, const struct expr *const *args)
{
    return e->count == 0 ? e : ir_with_args(rewrite->ir, e, args);
}

/* An expression of M in the levels of a reader. */
static const struct expr *
moved_to(struct fitter *fitter, const struct expr *e, const int8_t *row, unsigned reduced)
{
    struct rewrite rewrite = {.ir = fitter->ir, .leave = leave_same, .pieces = PIECES_CODE};
    if (e == NULL)
        return NULL;
    for (unsigned d = 0; d < fitter->max->rank; d++)
        rewrite.replace[d] = ir_index(fitter->ir, (unsigned)row[d]);
    rewrite.replace[fitter->max->rank] = ir_index(fitter->ir, reduced);
    return ir_rewrite(&rewrite, e);
}

/* exp(P - M), P being that of M: where its filter holds, or the reader has the same. */
static bool
is_weight(struct fitter *fitter, const struct work *reader, const struct expr *e)
{
    int8_t row[LANG_MAX_LEVELS];
    if (e->op != OP_EXP || e->args[0]->op != OP_SUB)
        return false;
    const struct expr *score = e->args[0]->args[0], *load = e->args[0]->args[1];
    if (load->op != OP_LOAD || load->tensor != fitter->max->tensor || !find_rows(reader, load, row))
        return false;
    unsigned reduced = reader->reduce->binder->level;
    const struct expr *filter = expr_filter(fitter->max->reduce);
    if (score == moved_to(fitter, fitter->score, row, reduced))
        return true;
    return filter != NULL &&
           expr_filter(reader->reduce) == moved_to(fitter, filter, row, reduced) &&
           score == moved_to(fitter, fitter->max->reduce->args[0], row, reduced);
}

static bool
fit_max(struct fitter *fitter)
{
    const struct work *max = fitter->max;
    if (!is_bare(max, REDUCE_MAX) || max->reduce->kind < KIND_F32 || max->rank == LANG_MAX_RANK)
        return misfit(fitter, max, "the first stage is M[..] = max[j](P[..,j])");
    const struct expr *body = max->reduce->args[0], *filter = expr_filter(max->reduce);
    fitter->score =
        filter == NULL ? body : ir_if(fitter->ir, filter, body, ir_real(fitter->ir, -INFINITY));
    return true;
}

static bool
fit_sum(struct fitter *fitter)
{
    const struct work *sum = fitter->sum;
    int8_t row[LANG_MAX_LEVELS];
    if (sum == NULL)
        return true;
    static const char shape[] =
        "the second stage is S[..] = sum[j](exp(P[..,j]-M[..])), all of it in one stage (inline "
        "what is between)";
    if (!is_bare(sum, REDUCE_SUM) || sum->rank != fitter->max->rank ||
        sum->extent[sum->rank] != fitter->max->extent[fitter->max->rank] ||
        !is_weight(fitter, sum, sum->reduce->args[0]))
        return misfit(fitter, sum, shape);
    find_rows(sum, sum->reduce->args[0]->args[0]->args[1], row);
    const struct expr *filter = expr_filter(sum->reduce);
    if (filter != NULL &&
        filter != moved_to(fitter, expr_filter(fitter->max->reduce), row, sum->rank))
        return misfit(fitter, sum, "its terms are those of M: leave out the filter, or write M's");
    for (unsigned d = 0; d < sum->rank; d++)
        fitter->online->sum_row[row[d]] = (int8_t)d;
    return true;
}

static bool
is_divisor(const struct fitter *fitter, const struct expr *e)
{
    return fitter->sum != NULL && e->op == OP_LOAD && e->tensor == fitter->sum->tensor;
}

/* The body of O with the weights as a tensor, in the place of exp(P-M); S goes out of it. NULL: it
 * is no such product. */
static const struct expr *
take_weight(struct fitter *fitter, const struct expr *e, const struct expr *weights)
{
    const struct expr *part;
    if (is_weight(fitter, fitter->work, e)) {
        fitter->load = e->args[0]->args[1];
        return weights;
    }
    if (e->op != OP_MUL && e->op != OP_DIV)
        return NULL;
    if ((part = take_weight(fitter, e->args[0], weights)) != NULL) {
        if (e->op == OP_DIV && is_divisor(fitter, e->args[1])) {
            fitter->divisor = e->args[1];
            return part;
        }
        return ir_binary(fitter->ir, (enum op)e->op, part, e->args[1]);
    }
    if (e->op == OP_MUL && (part = take_weight(fitter, e->args[1], weights)) != NULL)
        return ir_binary(fitter->ir, OP_MUL, e->args[0], part);
    return NULL;
}

/* ---- what they become ---- */

static struct tensor *
new_tensor(const struct fitter *fitter, const char *name, unsigned rank)
{
    const struct work *max = fitter->max;
    struct tensor *tensor = arena_alloc(fitter->arena, sizeof *tensor);
    *tensor = (struct tensor){.name = name,
                              .number = (unsigned)fitter->schedule->program->tensor_count,
                              .dtype = fitter->work->wide ? DTYPE_F64 : DTYPE_F32,
                              .rank = rank,
                              .count = 1,
                              .input = -1,
                              .output = -1};
    for (unsigned d = 0; d < rank; d++)
        tensor->count *= tensor->size[d] = max->extent[d];
    return tensor;
}

/* A load at M's rows in some levels, and at the index that is reduced. */
static const struct expr *
load_rows(struct fitter *fitter, const struct tensor *tensor, const int8_t *row, unsigned reduced)
{
    const struct expr *subscripts[LANG_MAX_RANK];
    enum kind kind = dtype_info[tensor->dtype].kind;
    for (unsigned d = 0; d < tensor->rank; d++) {
        bool is_row = d < fitter->max->rank;
        unsigned level = !is_row ? reduced : row != NULL ? (unsigned)row[d] : d;
        subscripts[d] = ir_index(fitter->ir, level);
    }
    return ir_load(fitter->ir, tensor, kind, tensor->rank, subscripts, NULL);
}

/* The line by which a view sees the weights computed: row by row, in lanes. */
static void
make_weights(struct fitter *fitter, const struct tensor *tensor)
{
    struct online *online = fitter->online;
    struct work *weights = &online->weights;
    *weights = *fitter->max;
    weights->tensor = tensor;
    weights->rank = weights->levels = tensor->rank;
    weights->reduce = NULL;
    weights->bound_count = 0;
    weights->fate = FATE_DO;
    weights->consumer = fitter->work->number;
    online->is_max = load_rows(fitter, fitter->max->tensor, NULL, 0);
    weights->code =
        ir_unary(fitter->ir, OP_EXP, ir_binary(fitter->ir, OP_SUB, fitter->score, online->is_max));
    for (unsigned l = 0; l < weights->levels; l++)
        online->line.tokens[online->line.count++] =
            (struct token){.form = TOKEN_LOOP,
                           .place = fitter->token->place,
                           .text = weights->index[l],
                           .name = weights->index[l],
                           .level = l,
                           .step = 1,
                           .mark = l + 1 == weights->levels ? MARK_VECTOR : MARK_NONE};
}

/* Where P is -inf, nothing is added to O either. */
static void
take_bounds(struct fitter *fitter, struct work *work)
{
    const struct work *max = fitter->max;
    size_t count = work->bound_count, most = BOUND_MOST - count;
    most = max->bound_count < most ? max->bound_count : most;
    struct bound *bounds = arena_array(fitter->arena, count + most + 1, sizeof *bounds);
    memcpy(bounds, work->bounds, count * sizeof *bounds);
    for (size_t b = 0; b < most; b++) {
        struct bound *bound = &bounds[count + b];
        bound->constant = max->bounds[b].constant;
        for (unsigned l = 0; l < max->levels; l++)
            bound->coefficient[fitter->online->row[l]] = max->bounds[b].coefficient[l];
    }
    work->shared = count;
    work->bounds = bounds;
    work->bound_count = count + most;
}

/* Can the filter of O leave a row without terms? Each lower bound of j is to lie below each upper
 * one. */
static bool
may_be_empty(const struct fitter *fitter)
{
    const struct work *work = fitter->work;
    struct bound ends[BOUND_MOST + 2] = {0};
    unsigned j = work->reduce->binder->level;
    size_t count = work->bound_count;
    if (work->rest != NULL)
        return true;
    memcpy(ends, work->bounds, count * sizeof *ends);
    ends[count++].coefficient[j] = 1; /* j >= 0 */
    ends[count].coefficient[j] = -1;
    ends[count++].constant = work->extent[j] - 1;
    for (size_t a = 0; a < count; a++)
        for (size_t b = 0; b < count; b++) {
            if (ends[a].coefficient[j] * ends[a].coefficient[j] != 1)
                return true;
            if (ends[a].coefficient[j] != 1 || ends[b].coefficient[j] != -1)
                continue;
            int64_t least = ends[a].constant + ends[b].constant;
            for (unsigned l = 0; l < work->rank; l++) {
                int64_t c = ends[a].coefficient[l] + ends[b].coefficient[l];
                least += c < 0 ? c * (work->extent[l] - 1) : 0;
            }
            if (least < 0)
                return true;
        }
    return false;
}

static bool
fit_result(struct fitter *fitter)
{
    const struct work *work = fitter->work;
    const struct expr *reduce = work->reduce;
    struct online *online = fitter->online;
    unsigned rank = fitter->max->rank;
    static const char shape[] =
        "the last stage is O[..] = sum[j](exp(P[..,j]-M[..])*V[..]), perhaps divided by S[..], all "
        "of it in one stage (inline what is between)";
    if (reduce == NULL || reduce->binder->count != 1 || reduce->binder->reduction != REDUCE_SUM ||
        expr_integer(reduce->binder->extent[0]) != fitter->max->extent[rank])
        return misfit(fitter, work, shape);
    unsigned reduced = reduce->binder->level;
    struct tensor *tensor =
        new_tensor(fitter, arena_printf(fitter->arena, "%s weights", work->tensor->name), rank + 1);
    /* its place is known once exp(P-M) is found: found twice */
    if (take_weight(fitter, reduce->args[0], ir_real(fitter->ir, 1)) == NULL)
        return misfit(fitter, work, shape);
    find_rows(work, fitter->load, online->row);
    online->row[rank] = (int8_t)reduced;
    const struct expr *body =
        take_weight(fitter, reduce->args[0], load_rows(fitter, tensor, online->row, reduced));
    if (work_loads(body, fitter->max->tensor, NULL, 0) > 0 ||
        (fitter->sum != NULL && work_loads(body, fitter->sum->tensor, NULL, 0) > 0))
        return misfit(fitter, work,
                      "M and S are not known while it runs; use them outside of sum[j]");
    const struct expr *sum = ir_reduce(fitter->ir, reduce->binder, body, expr_filter(reduce)),
                      *result = sum;
    if (fitter->divisor != NULL)
        result = ir_binary(fitter->ir, OP_DIV, sum, fitter->divisor);
    if (fitter->divisor != NULL && may_be_empty(fitter)) /* no terms: 0, not 0/0 */
        result =
            ir_if(fitter->ir, ir_binary(fitter->ir, OP_EQ, fitter->divisor, ir_int(fitter->ir, 0)),
                  sum, result);
    online->work = *work;
    online->work.code = bound_exchange(fitter->ir, work->code, reduce, result);
    online->work.reduce = sum;
    online->work.online = online;
    online->scale = new_tensor(fitter, "scale", rank);
    online->rescale = load_rows(fitter, online->scale, online->row, 0);
    make_weights(fitter, tensor);
    take_bounds(fitter, &online->work);
    return true;
}

/* Nobody else may need M and S: they exist for the rows of a tile only. */
static bool
is_private(struct fitter *fitter, const struct work *part)
{
    const struct schedule *schedule = fitter->schedule;
    const struct line *line = &schedule->lines[part->number];
    if (part->tensor->output >= 0)
        return misfit(fitter, part, "it is an output, and exists for the rows of a tile only");
    for (size_t i = 0; i < schedule->program->stage_count; i++) {
        const struct work *other = &schedule->works[i];
        bool vanishes = other->tensor->output < 0 && other != fitter->work;
        for (size_t r = 0; r < schedule->program->stage_count && vanishes; r++)
            vanishes = r == i || work_loads(schedule->works[r].code, other->tensor, NULL, 0) == 0;
        if (other != fitter->work && other != fitter->sum && !vanishes &&
            work_loads(other->code, part->tensor, NULL, 0) > 0)
            return misfit(fitter, part,
                          arena_printf(fitter->arena,
                                       other->reduce != NULL
                                           ? "%s reads it too, which is not among them"
                                           : "%s reads it too; inline it in those that read it",
                                       other->tensor->name));
    }
    for (size_t i = 0; i < line->count; i++)
        if (line->tokens[i].form != TOKEN_INLINE)
            return misfit(fitter, part, "it has no loops of its own; leave them out of its line");
    return true;
}

bool
online_fit(struct arena *arena, struct schedule *schedule, struct work *work, struct diags *diags)
{
    const struct line *line = &schedule->lines[work->number];
    size_t at = 0;
    while (at < line->count && line->tokens[at].form != TOKEN_ONLINE)
        at++;
    if (at == line->count)
        return true;
    const struct token *token = &line->tokens[at];
    struct fitter fitter = {.arena = arena,
                            .schedule = schedule,
                            .ir = schedule->program->ir,
                            .diags = diags,
                            .token = token,
                            .work = work,
                            .max = &schedule->works[token->together[0]],
                            .sum = token->count > 2 ? &schedule->works[token->together[1]] : NULL,
                            .online = arena_alloc(arena, sizeof(struct online))};
    const struct work *last = &schedule->works[token->together[token->count - 1]];
    for (size_t i = at + 1; i < line->count; i++)
        if (line->tokens[i].form == TOKEN_ONLINE)
            return misfit(&fitter, work, "once is enough");
    if (last != work)
        return misfit(&fitter, last, "the last stage is that of the line");
    if (work->stage->rec >= 0 || fitter.max->stage->rec >= 0)
        return misfit(&fitter, work, "stages of a rec block have loops of their own");
    enum dtype dtype = work->wide ? DTYPE_F64 : DTYPE_F32;
    if (fitter.max->tensor->dtype != dtype ||
        (fitter.sum != NULL && fitter.sum->tensor->dtype != dtype) ||
        fitter.max->lanes != work->lanes ||
        (fitter.sum != NULL && fitter.sum->lanes != work->lanes))
        return misfit(&fitter, work, "all of them compute with one type, f32 or f64");
    memset(fitter.online, 0, sizeof *fitter.online);
    fitter.online->max = fitter.max;
    fitter.online->sum = fitter.sum;
    fitter.online->token = at;
    if (!fit_max(&fitter) || !fit_sum(&fitter) || !fit_result(&fitter) ||
        !is_private(&fitter, fitter.max) ||
        (fitter.sum != NULL && !is_private(&fitter, fitter.sum)))
        return false;
    if (line->tokens[at + 1].level != fitter.online->work.reduce->binder->level)
        return misfit(&fitter, work,
                      arena_printf(arena, "it is reduced over %s; write online(%s/STEP: ..)",
                                   work->index[work->rank], work->index[work->rank]));
    fitter.online->score = fitter.score;
    work->online = fitter.online;
    return true;
}
