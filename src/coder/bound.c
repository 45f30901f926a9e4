/* Bounds: what conditions on indices say about loops. A filter k <= i of a reduction, a select
 * whose other branch adds nothing, or one around the reduction, is an inequality of indices. Loops
 * over the reduction then begin and end where it can hold for the tile at hand, and it is tested
 * only where it does not hold for all of it. */
#include "coder/bound_int.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- finding them ---- */

struct finder {
    struct arena *arena;
    struct ir *ir;
    const struct work *works;
    const struct program *program;
    struct work *work;
    struct bound bounds[BOUND_MOST];
    size_t count;
    struct level levels[LANG_MAX_LEVELS];
};

/* difference >= 0; one that always holds says nothing. False: no such form, or no room. */
static bool
add_bound(struct finder *finder, const struct expr *difference, int64_t more,
          const struct expr *test)
{
    struct bound bound = {.test = test};
    int64_t low, high;
    if (!expr_affine(difference, bound.coefficient, &bound.constant))
        return false;
    bound.constant += more;
    expr_interval(difference, finder->levels, &low, &high);
    if (low + more >= 0)
        return true;
    if (finder->count == BOUND_MOST)
        return false;
    finder->bounds[finder->count++] = bound;
    return true;
}

/* A comparison of integers as inequalities. */
static bool
add_comparison(struct finder *finder, const struct expr *e, const struct expr *test)
{
    if (e->op < OP_LT || e->op > OP_EQ || e->loads || e->args[0]->kind != KIND_INT ||
        e->args[1]->kind != KIND_INT)
        return false;
    const struct expr *up = ir_binary(finder->ir, OP_SUB, e->args[1], e->args[0]);
    const struct expr *down = ir_binary(finder->ir, OP_SUB, e->args[0], e->args[1]);
    size_t count = finder->count;
    bool good = true;
    if (e->op == OP_LT || e->op == OP_LE || e->op == OP_EQ)
        good = add_bound(finder, up, e->op == OP_LT ? -1 : 0, test);
    if (good && (e->op == OP_GT || e->op == OP_GE || e->op == OP_EQ))
        good = add_bound(finder, down, e->op == OP_GT ? -1 : 0, test);
    if (!good)
        finder->count = count;
    return good;
}

/* The parts of a conjunction; what is no inequality is added to *rest. Without `tested` they need
 * not be asked: beyond them nothing counts anyway. */
static void
add_conjunction(struct finder *finder, const struct expr *e, bool tested, const struct expr **rest)
{
    if (e->op == OP_AND) {
        add_conjunction(finder, e->args[0], tested, rest);
        add_conjunction(finder, e->args[1], tested, rest);
    } else if (!add_comparison(finder, e, tested ? e : NULL))
        *rest = *rest != NULL ? ir_binary(finder->ir, OP_AND, *rest, e) : e;
}

/* Adding it changes no result of this kind of reduction. */
static bool
is_identity(const struct expr *e, enum reduction reduction)
{
    if (!expr_is_constant(e) || e->kind == KIND_BOOL)
        return false;
    double x = expr_real(e);
    switch (reduction) {
    case REDUCE_SUM:
        return x == 0;
    case REDUCE_PROD:
        return x == 1;
    case REDUCE_MAX:
        return x == -INFINITY;
    case REDUCE_MIN:
        return x == INFINITY;
    default:
        return false;
    }
}

struct exchange {
    const struct expr *from, *to;
};

static const struct expr *
leave_exchange(struct rewrite *rewrite, const struct expr *e, const struct expr *const *args)
{
    const struct exchange *exchange = rewrite->context;
    if (e == exchange->from)
        return exchange->to;
    return e->count == 0 ? e : ir_with_args(rewrite->ir, e, args);
}

const struct expr *
bound_exchange(struct ir *ir, const struct expr *code, const struct expr *from,
               const struct expr *to)
{
    struct exchange exchange = {from, to};
    struct rewrite rewrite = {
        .ir = ir, .leave = leave_exchange, .context = &exchange, .pieces = PIECES_CODE};
    return ir_rewrite(&rewrite, code);
}

/* sum[k](if(k <= i, x, 0)) is sum[k ? k <= i](x). */
static void
filter_selects(struct finder *finder)
{
    struct work *work = finder->work;
    const struct expr *reduce = work->reduce, *body = reduce->args[0], *none = NULL;
    const struct binder *binder = reduce->binder;
    size_t found = finder->count;
    if (body->op != OP_IF || body->args[0]->loads || body->args[1]->kind != body->kind ||
        !is_identity(body->args[2], binder->reduction))
        return;
    add_conjunction(finder, body->args[0], true, &none);
    found = finder->count - found;
    finder->count = 0;
    if (found == 0)
        return;
    const struct expr *filter = expr_filter(reduce);
    filter = filter ? ir_binary(finder->ir, OP_AND, filter, body->args[0]) : body->args[0];
    work->reduce = ir_reduce(finder->ir, binder, body->args[1], filter);
    work->code = bound_exchange(finder->ir, work->code, reduce, work->reduce);
    filter_selects(finder);
}

static bool
contains(const struct expr *e, const struct expr *part)
{
    if (e == part)
        return true;
    for (unsigned i = 0; e->loads && i < e->count; i++)
        if (contains(e->args[i], part))
            return true;
    return false;
}

/* if(j <= i, f(sum[d](..)), -inf): beyond the condition nobody asks for the sum. */
static void
add_selects_around(struct finder *finder, const struct expr *e)
{
    const struct expr *reduce = finder->work->reduce, *next = NULL, *none = NULL;
    if (e == reduce || e->op == OP_CAT)
        return;
    for (unsigned i = 0; i < e->count; i++)
        if (contains(e->args[i], reduce)) {
            if (next != NULL)
                return; /* used in two ways */
            next = e->args[i];
        }
    if (next == NULL)
        return;
    if (e->op == OP_IF && next == e->args[1])
        add_conjunction(finder, e->args[0], false, &none);
    add_selects_around(finder, next);
}

/* What a stage computes at the place where a load reads it. */
static const struct expr *
read_through(struct finder *finder, const struct expr *load, const struct expr *code)
{
    struct exchange nothing = {NULL, NULL};
    struct rewrite rewrite = {
        .ir = finder->ir, .leave = leave_exchange, .context = &nothing, .pieces = PIECES_CODE};
    for (unsigned i = 0; i < load->tensor->rank; i++)
        rewrite.replace[i] = load->args[i];
    return ir_rewrite(&rewrite, code);
}

/* max[j](P[i,j]) where P[i,j] = if(j <= i, .., -inf). */
static void
add_selects_below(struct finder *finder, const struct expr *body)
{
    const struct expr *none = NULL;
    if (body->op != OP_LOAD || body->tensor->stage == NULL || expr_default(body) != NULL)
        return;
    const struct work *below = &finder->works[body->tensor->stage - finder->program->stages];
    const struct expr *e = below->code;
    if (below->number >= finder->work->number || e->op != OP_IF || e->args[0]->loads ||
        !dtype_is_float(below->tensor->dtype) ||
        !is_identity(e->args[2], finder->work->reduce->binder->reduction))
        return;
    add_conjunction(finder, read_through(finder, body, e->args[0]), false, &none);
}

/* Of the points of the loops, the part within these bounds: from a few thousand of them. */
static double
share_within(const struct work *work, const struct bound *bounds, size_t count)
{
    uint64_t within = 0, tried = 4096, state = 1;
    if (count == 0)
        return 1;
    for (uint64_t t = 0; t < tried; t++) {
        int64_t index[LANG_MAX_LEVELS];
        bool inside = true;
        for (unsigned l = 0; l < work->levels; l++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            index[l] = (int64_t)((state >> 33) % (uint64_t)work->extent[l]);
        }
        for (size_t b = 0; b < count && inside; b++) {
            int64_t value = bounds[b].constant;
            for (unsigned l = 0; l < work->levels; l++)
                value += bounds[b].coefficient[l] * index[l];
            inside = value >= 0;
        }
        within += inside;
    }
    return (double)(within + 1) / (double)(tried + 1);
}

/* 0 <= subscript < size. Loops that end early have a price: where nearly all terms are inside they
 * are not worth it. */
static void
add_inside(struct finder *finder, const struct expr *subscript, int64_t size)
{
    const double most = 0.96;
    struct ir *ir = finder->ir;
    size_t before = finder->count;
    if (!add_bound(finder, subscript, 0, NULL) ||
        !add_bound(finder, ir_binary(ir, OP_SUB, ir_int(ir, size - 1), subscript), 0, NULL) ||
        share_within(finder->work, finder->bounds + before, finder->count - before) > most)
        finder->count = before;
    for (size_t b = before; b < finder->count; b++)
        finder->bounds[b].outside = true;
}

/* sum[c,r](F[c,r]*X[c,y-r | 0]): outside of X nothing is added. The load may be that of a copy with
 * a border of zeros, or of a tensor that is 0 but where a condition holds, as a diagonal matrix. */
static void
add_zeros(struct finder *finder, const struct expr *body)
{
    enum { MOST_FACTORS = 4 };
    const struct expr *loads[MOST_FACTORS];
    size_t count = expr_load_factors(body, loads, MOST_FACTORS);
    for (size_t i = 0; i < count; i++) {
        const struct stage *stage = loads[i]->tensor->stage;
        const struct work *below = stage ? &finder->works[stage - finder->program->stages] : NULL;
        const struct expr *load = loads[i];
        const struct expr *none = NULL;
        if (expr_default(load) != NULL || below == NULL || below->number >= finder->work->number)
            below = NULL;
        if (below != NULL && below->code->op == OP_LOAD)
            load = read_through(finder, load, below->code);
        if (below != NULL && below->code->op == OP_IF && !below->code->args[0]->loads &&
            is_identity(below->code->args[2], REDUCE_SUM))
            add_conjunction(finder, read_through(finder, load, below->code->args[0]), false, &none);
        for (unsigned d = 0; d < load->tensor->rank && expr_is_zero_outside(load); d++)
            add_inside(finder, load->args[d], load->tensor->size[d]);
    }
}

void
bound_find(struct arena *arena, const struct schedule *schedule, struct work *work)
{
    struct finder finder = {.arena = arena,
                            .ir = schedule->program->ir,
                            .works = schedule->works,
                            .program = schedule->program,
                            .work = work};
    if (work->reduce == NULL)
        return;
    work_ranges(work, finder.levels);
    filter_selects(&finder);
    const struct expr *filter = expr_filter(work->reduce);
    if (filter != NULL)
        add_conjunction(&finder, filter, true, &work->rest);
    enum reduction reduction = work->reduce->binder->reduction;
    if (reduction != REDUCE_MEAN && work->reduce->kind >= KIND_REAL) {
        add_selects_around(&finder, work->code);
        add_selects_below(&finder, work->reduce->args[0]);
    }
    if (reduction == REDUCE_SUM && work->reduce->kind >= KIND_REAL)
        add_zeros(&finder, work->reduce->args[0]);
    work->bound_count = finder.count;
    work->bounds = arena_array(arena, finder.count + 1, sizeof *work->bounds);
    memcpy(work->bounds, finder.bounds, finder.count * sizeof *work->bounds);
}

double
bound_share(const struct work *work)
{
    return share_within(work, work->bounds, work->bound_count);
}

/* ---- where they hold ---- */

static int64_t
tile_of(const struct nest *nest, unsigned level)
{
    return (int)level == nest->vector ? (int64_t)nest->active : nest->span[level].extent;
}

/* The greatest or the least value of a bound over the current tile, but for one level (or -1),
 * and between which values that lies. */
static struct lin
extreme(const struct nest *nest, const struct bound *bound, int but, bool greatest, int64_t *low,
        int64_t *high)
{
    struct lin lin = {.add = bound->constant};
    *low = *high = bound->constant;
    for (unsigned l = 0; l < nest->member[0].work->levels; l++) {
        const struct span *span = &nest->span[l];
        int64_t c = bound->coefficient[l], room = c * (tile_of(nest, l) - 1);
        if (c == 0 || (int)l == but)
            continue;
        room = (room > 0) == greatest ? room : 0;
        lin.add += c * span->add + room;
        if (span->var != NULL)
            lin_add_var(&lin, span->var, c);
        *low += (c > 0 ? c * span->low : c * span->high) + room;
        *high += (c > 0 ? c * span->high : c * span->low) + room;
    }
    return lin;
}

bool
bound_is_possible(struct nest *nest, size_t first, struct buf *text)
{
    const struct work *work = nest->member[0].work;
    for (size_t b = first; b < work->bound_count && nest->members == 1; b++) {
        int64_t low, high;
        struct lin most = extreme(nest, &work->bounds[b], -1, true, &low, &high);
        if (high < 0)
            return false;
        if (low < 0 && !(nest->holds & 1u << b))
            buf_printf(text, "%s%s >= 0", text->length ? " && " : "",
                       lin_text(nest->em->arena, &most));
    }
    return true;
}

size_t
bound_tests(const struct nest *nest, const struct member *member,
            const struct expr *tests[BOUND_MOST + 1], bool *never)
{
    const struct work *work = member->work;
    struct level levels[LANG_MAX_LEVELS];
    size_t count = 0;
    subscript_ranges(nest, member, levels);
    *never = false;
    for (size_t b = 0; b < work->bound_count; b++) {
        const struct expr *test = work->bounds[b].test;
        int64_t low, high;
        bool holds = member == &nest->member[0] && (nest->holds & 1u << b);
        if (test == NULL || holds || (count > 0 && tests[count - 1] == test))
            continue;
        expr_interval(test, levels, &low, &high);
        *never = *never || high == 0;
        if (low == 0)
            tests[count++] = test;
    }
    if (work->rest != NULL) {
        int64_t low, high; /* of a stride's remainder, where the code is unrolled */
        expr_interval(work->rest, levels, &low, &high);
        *never = *never || high == 0;
        if (low == 0)
            tests[count++] = work->rest;
    }
    return count;
}

/* ---- loops ---- */

/* floor(value / divisor) + more, as a name. */
static const char *
quotient_name(struct nest *nest, const char *base, struct lin value, int64_t divisor, int64_t more)
{
    struct emitter *em = nest->em;
    const char *name = code_name(em, base);
    if (divisor == 1) {
        value.add += more;
        code_line(em, "const long %s = %s;", name, lin_text(em->arena, &value));
    } else
        code_line(em, "const long %s = %s(%s, %" PRId64 ") + %" PRId64 ";", name,
                  code_helper(em, "floor_div"), lin_text(em->arena, &value), divisor, more);
    return name;
}

const char *
bound_choice(struct emitter *em, const char *a, char sign, const char *b)
{
    if (a == NULL || strcmp(a, b) == 0)
        return b;
    const char *name = code_name(em, "to");
    code_line(em, "const long %s = %s %c %s ? %s : %s;", name, a, sign, b, a, b);
    return name;
}

/* Is there no loop further in, but copies of code, over an index of this bound? */
static bool
is_innermost(const struct nest *nest, size_t at, const struct bound *bound, int64_t step)
{
    for (size_t i = at + 1; i < nest->line->count; i++) {
        const struct token *token = &nest->line->tokens[i];
        if (token->form != TOKEN_LOOP || bound->coefficient[token->level] == 0)
            continue;
        bool same = token->level == nest->line->tokens[at].level;
        int64_t extent = same ? step : nest->span[token->level].extent;
        bool lanes = token->mark == MARK_VECTOR && extent > nest->lanes &&
                     !work_is_left(nest->member[0].work, token->level);
        if ((token->mark == MARK_NONE && extent > 1) || lanes)
            return false;
    }
    return true;
}

/* The bound's part of a loop in steps: where it begins or ends, and where all of it is inside. */
static void
add_reach(struct nest *nest, size_t at, size_t number, struct reach *reach)
{
    const struct bound *bound = &nest->member[0].work->bounds[number];
    unsigned level = nest->line->tokens[at].level;
    const struct span *span = &nest->span[level];
    int64_t c = bound->coefficient[level], size = c < 0 ? -c : c, low, high;
    int64_t first = span->low, last = span->high + span->extent - 1;
    if (c == 0 || nest->holds & 1u << number)
        return;
    struct lin most = extreme(nest, bound, (int)level, true, &low, &high), negative = {0};
    if (c < 0 ? low + c * last < 0 : low + c * first < 0) { /* it may cut something off */
        if (c < 0)
            reach->high =
                bound_choice(nest->em, reach->high, '<', quotient_name(nest, "end", most, size, 1));
        else {
            lin_add(&negative, &most, -1);
            negative.add += size - 1;
            reach->low = bound_choice(nest->em, reach->low, '>',
                                      quotient_name(nest, "begin", negative, size, 0));
        }
    }
    if (bound->test == NULL || !is_innermost(nest, at, bound, reach->step))
        return;
    struct lin least = extreme(nest, bound, (int)level, false, &low, &high);
    reach->inside |= 1u << number;
    if (c < 0)
        reach->until = bound_choice(nest->em, reach->until, '<',
                                    quotient_name(nest, "all", least, size, 2 - reach->step));
    else {
        negative = (struct lin){0};
        lin_add(&negative, &least, -1);
        negative.add += size - 1;
        reach->from =
            bound_choice(nest->em, reach->from, '>', quotient_name(nest, "all", negative, size, 0));
    }
}

bool
bound_reach(struct nest *nest, size_t at, int64_t step, bool once, struct reach *reach)
{
    struct emitter *em = nest->em;
    const struct work *work = nest->member[0].work;
    const struct token *token = &nest->line->tokens[at];
    const struct span *span = &nest->span[token->level];
    *reach = (struct reach){.step = step};
    if (nest->members > 1 || work_is_left(work, token->level))
        return false;
    for (size_t b = token->hidden ? work->shared : 0; b < work->bound_count; b++)
        add_reach(nest, at, b, reach);
    if (reach->low == NULL && reach->high == NULL && reach->inside == 0)
        return false;
    int64_t steps = (span->extent + step - 1) / step;
    const char *begin = span_text(em, span, 0), *end = span_text(em, span, span->extent);
    if (reach->low != NULL) {
        reach->low = bound_choice(nest->em, reach->low, '>', begin);
        if (step > 1) { /* the step that it lies in, counted from the start */
            const char *name = code_name(em, "low");
            code_line(em, "const long %s = %s - (%s - (%s)) %% %" PRId64 ";", name, reach->low,
                      reach->low, begin, step);
            reach->low = name;
        }
        if (once)
            reach->low =
                bound_choice(nest->em, reach->low, '<', span_text(em, span, (steps - 1) * step));
    } else
        reach->low = begin;
    reach->high = bound_choice(nest->em, reach->high, '<', end);
    if (once) {
        const char *name = code_name(em, "high");
        code_line(em, "const long %s = %s > %s ? %s : %s + 1;", name, reach->high, reach->low,
                  reach->high, reach->low);
        reach->high = name;
    }
    return true;
}
