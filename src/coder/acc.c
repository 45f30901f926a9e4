/* Reductions: accumulators in registers, one for each copy of unrolled code, combined at the end.
 */
#include "coder/bound_int.h"

#include <inttypes.h>
#include <string.h>

static const struct reduction_info {
    const char *f32, *integer; /* identities */
    const char *infix;
    enum op function;
    const char *lanes; /* across a vector */
} info[REDUCE_COUNT] = {
    [REDUCE_SUM] = {"0", "0", "+", OP_ADD, "sum"},
    [REDUCE_MEAN] = {"0", "0", "+", OP_ADD, "sum"},
    [REDUCE_PROD] = {"1", "1", "*", OP_MUL, "prod"},
    [REDUCE_MAX] = {"-INFINITY", "INT64_MIN", NULL, OP_MAX, "max"},
    [REDUCE_MIN] = {"INFINITY", "INT64_MAX", NULL, OP_MIN, "min"},
    [REDUCE_ARGMAX] = {"-INFINITY", "INT64_MIN", ">", OP_MAX, "max"},
    [REDUCE_ARGMIN] = {"INFINITY", "INT64_MAX", "<", OP_MIN, "min"},
};

static enum reduction
reduction_of(const struct member *member)
{
    return member->work->reduce->binder->reduction;
}

static bool
is_arg(const struct member *member)
{
    enum reduction reduction = reduction_of(member);
    return reduction == REDUCE_ARGMAX || reduction == REDUCE_ARGMIN;
}

/* A mean whose terms are filtered counts them. */
static bool
counts(const struct member *member)
{
    return reduction_of(member) == REDUCE_MEAN && expr_filter(member->work->reduce) != NULL;
}

/* ---- which registers ---- */

static bool
is_left_of(const struct member *member, unsigned host_level)
{
    for (unsigned i = 0; i < member->work->rank; i++)
        if (member->map[i] == (int)host_level)
            return true;
    return false;
}

/* Do copies of the code under this token have accumulators of their own? */
static bool
has_own(const struct nest *nest, const struct member *member, const struct token *token)
{
    if (token->form != TOKEN_LOOP || token->mark == MARK_NONE || token->mark == MARK_THREADS)
        return false;
    if (is_left_of(member, token->level))
        return true;
    return token->mark == MARK_OWN || (token->mark == MARK_UNROLL && member != &nest->member[0]);
}

static const char *
register_name(const struct nest *nest, const struct member *member, const char *suffix)
{
    struct buf buf = buf_in(nest->em->arena);
    buf_puts(&buf, member->name);
    for (size_t i = member->acc; i < nest->line->count; i++)
        if (has_own(nest, member, &nest->line->tokens[i]))
            buf_printf(&buf, "_%" PRId64, nest->ordinal[i]);
    buf_puts(&buf, suffix);
    return buf.data;
}

/* Calls `each` at every place that has registers of its own. Reduction copies (@a) are visited only
 * if `own` is set; otherwise the first stands for all. */
typedef void
visit_register(struct nest *nest, struct member *member, void *context);

static void
each_register(struct nest *nest, struct member *member, size_t at, bool own, visit_register *each,
              void *context)
{
    while (at < nest->line->count && nest->line->tokens[at].form != TOKEN_LOOP)
        at++;
    if (at == nest->line->count) {
        each(nest, member, context);
        return;
    }
    const struct token *token = &nest->line->tokens[at];
    struct span *span = &nest->span[token->level], saved = *span;
    bool left = is_left_of(member, token->level), vector = token->mark == MARK_VECTOR;
    int64_t step = vector ? nest->lanes : token->step, count = 1;
    if (left || has_own(nest, member, token))
        count = (saved.extent + step - 1) / step;
    if (!own && !left)
        count = 1;
    nest->before[at] = saved; /* copies are read by how far each loop has come */
    for (int64_t i = 0; i < count; i++) {
        int64_t rest = saved.extent - i * step;
        nest->ordinal[at] = i;
        *span = saved;
        span->add += i * step;
        span->low += i * step;
        span->high += i * step;
        span->extent = rest < step ? rest : step;
        if (vector) {
            nest->vector = (int)token->level;
            nest->active = left ? (unsigned)span->extent : nest->lanes;
            span->extent = 1;
        }
        each_register(nest, member, at + 1, own, each, context);
    }
    *span = saved;
    if (vector) {
        nest->vector = -1;
        nest->active = nest->lanes;
    }
}

/* The copies of one place: the same left indices, all accumulators of reduction copies. `tile` is
 * what is left of each index: the last of unrolled tiles may have fewer copies inside. */
static void
each_copy(struct nest *nest, struct member *member, size_t at, const int64_t *tile,
          visit_register *each, void *context)
{
    while (at < nest->line->count && (nest->line->tokens[at].form != TOKEN_LOOP ||
                                      is_left_of(member, nest->line->tokens[at].level)))
        at++;
    if (at == nest->line->count) {
        each(nest, member, context);
        return;
    }
    const struct token *token = &nest->line->tokens[at];
    int64_t inner[LANG_MAX_LEVELS], all = tile[token->level], count = 1;
    memcpy(inner, tile, sizeof inner);
    if (has_own(nest, member, token))
        count = (all + token->step - 1) / token->step;
    for (int64_t i = 0; i < count; i++) {
        int64_t rest = all - i * token->step;
        nest->ordinal[at] = i;
        inner[token->level] = rest < token->step ? rest : token->step;
        each_copy(nest, member, at + 1, inner, each, context);
    }
    nest->ordinal[at] = 0;
}

/* ---- types ---- */

/* The lane type of the accumulator. */
static enum lane
register_lane(const struct nest *nest, const struct member *member)
{
    const struct expr *reduce = member->work->reduce, *body = reduce->args[0];
    struct level levels[LANG_MAX_LEVELS];
    int64_t low, high, terms = expr_terms(reduce);
    if (body->kind == KIND_F64 || (reduce->kind == KIND_F64 && !is_arg(member)))
        return LANE_F64;
    if (body->kind >= KIND_REAL || (reduce->kind >= KIND_REAL && !is_arg(member)))
        return LANE_F32;
    if (nest->vector < 0 || nest_is_wide(nest))
        return LANE_I64;
    work_ranges(member->work, levels);
    expr_interval(body, levels, &low, &high);
    bool sum = reduction_of(member) == REDUCE_SUM;
    int64_t most = INT32_MAX / (sum && terms > 0 ? terms : 1);
    return low >= -most && high <= most && reduction_of(member) != REDUCE_PROD ? LANE_I32
                                                                               : LANE_I64;
}

static const char *
identity(const struct nest *nest, const struct member *member, enum lane lane)
{
    const struct reduction_info *row = &info[reduction_of(member)];
    (void)nest;
    if (lane == LANE_I32 && strcmp(row->integer, "INT64_MIN") == 0)
        return "INT32_MIN";
    if (lane == LANE_I32 && strcmp(row->integer, "INT64_MAX") == 0)
        return "INT32_MAX";
    return lane == LANE_F32 || lane == LANE_F64 ? row->f32 : row->integer;
}

static struct value
identity_value(struct nest *nest, const struct member *member, enum lane lane, bool vector)
{
    const char *text = identity(nest, member, lane);
    text = arena_printf(nest->em->arena, text[0] == '-' ? "(%s)" : "%s", text);
    return value_as(nest, (struct value){text, lane, false}, lane, vector);
}

/* ---- declaring ---- */

static enum lane
index_lane(const struct nest *nest)
{
    bool wide = nest_is_wide(nest);
    return nest->vector >= 0 && !wide ? LANE_I32 : LANE_I64;
}

/* Left indices are within the piece that the reduction stands in: always, never, or under a
 * condition, which is added to `buf`. Spans are narrowed to it. */
static bool
is_in_piece(struct nest *nest, const struct member *member, struct buf *buf)
{
    const struct work *work = member->work;
    for (unsigned i = 0; i < work->rank; i++) {
        struct span *span = &nest->span[member->map[i]];
        if (!work_is_cut(work, i))
            continue;
        if (span->high < work->first[i] || span->low > work->last[i])
            return false;
        struct lin at = {.add = span->add};
        if (span->var != NULL)
            lin_add_var(&at, span->var, 1);
        const char *text = lin_text(nest->em->arena, &at);
        if (span->low < work->first[i])
            buf_printf(buf, "%s%s >= %" PRId64, buf->length ? " && " : "", text, work->first[i]);
        if (span->high > work->last[i])
            buf_printf(buf, "%s%s <= %" PRId64, buf->length ? " && " : "", text, work->last[i]);
        span->low = span->low > work->first[i] ? span->low : work->first[i];
        span->high = span->high < work->last[i] ? span->high : work->last[i];
    }
    return true;
}

static void
declare(struct nest *nest, struct member *member, void *context)
{
    struct emitter *em = nest->em;
    enum lane lane = register_lane(nest, member);
    bool vector = nest->vector >= 0;
    (void)context;
    code_line(em, "%s %s = %s;", value_type(nest, lane, vector), register_name(nest, member, ""),
              identity_value(nest, member, lane, vector).text);
    if (is_arg(member)) {
        struct value none = {expr_filter(member->work->reduce) != NULL ? "-1" : "0", LANE_I64,
                             false};
        none = value_as(nest, none, index_lane(nest), vector);
        code_line(em, "%s %s = %s;", value_type(nest, index_lane(nest), vector),
                  register_name(nest, member, "_at"), none.text);
    }
    if (counts(member))
        code_line(em, "%s %s = %s;", value_type(nest, lane, vector),
                  register_name(nest, member, "_n"),
                  identity_value(nest, member, lane, vector).text);
    struct span saved[LANG_MAX_LEVELS];
    struct buf condition = buf_in(em->arena);
    memcpy(saved, nest->span, sizeof saved);
    bool empty = is_arg(member) && (member->work->bound_count > 0 || member->work->rest != NULL);
    if (!is_in_piece(nest, member, &condition) || empty) { /* perhaps nothing is ever added */
        code_line(em, "(void)%s;", register_name(nest, member, ""));
        if (is_arg(member))
            code_line(em, "(void)%s;", register_name(nest, member, "_at"));
        if (counts(member))
            code_line(em, "(void)%s;", register_name(nest, member, "_n"));
    }
    memcpy(nest->span, saved, sizeof saved);
}

/* ---- terms ---- */

/* The lanes of a last, shorter vector of a reduction index that count. */
struct value
acc_active_lanes(struct nest *nest)
{
    struct buf buf = buf_in(nest->em->arena);
    buf_printf(&buf, "(%s){", value_type(nest, LANE_BOOL, true));
    for (unsigned i = 0; i < nest->lanes; i++)
        buf_printf(&buf, "%s%d", i ? ", " : "", i < nest->active ? -1 : 0);
    buf_puts(&buf, "}");
    return (struct value){buf.data, LANE_BOOL, true};
}

/* The place of the term: its indices, the last one fastest. */
static struct value
term_index(struct nest *nest, const struct member *member)
{
    const struct binder *binder = member->work->reduce->binder;
    struct ir *ir = nest->em->schedule->program->ir;
    const struct expr *index = ir_index(ir, binder->level);
    for (unsigned i = 1; i < binder->count; i++)
        index = ir_binary(ir, OP_ADD, ir_binary(ir, OP_MUL, index, binder->extent[i]),
                          ir_index(ir, binder->level + i));
    struct value value = value_of(nest, member, index, NULL);
    return value_as(nest, value, index_lane(nest), nest->vector >= 0);
}

static const char *
combined(struct nest *nest, const struct member *member, enum lane lane, bool vector, const char *a,
         const char *b)
{
    struct arena *arena = nest->em->arena;
    const struct reduction_info *row = &info[reduction_of(member)];
    if (row->infix != NULL && !is_arg(member))
        return arena_printf(arena, "%s %s %s", a, row->infix, b);
    return value_choice(nest, row->function, lane, vector, a, b);
}

/* A comparison as a mask that fits those of indices, whatever is compared. */
static const char *
compared(struct nest *nest, enum lane lane, bool vector, const char *a, const char *sign,
         const char *b)
{
    struct value value = {arena_printf(nest->em->arena, "(%s %s %s)", a, sign, b), LANE_BOOL,
                          vector};
    return value_mask(nest, value, lane).text;
}

static void
add_arg_term(struct nest *nest, struct member *member, struct value term,
             const struct value *counts_if)
{
    struct emitter *em = nest->em;
    bool vector = nest->vector >= 0, one = member->work->reduce->binder->count == 1;
    const char *best = register_name(nest, member, ""), *at = register_name(nest, member, "_at");
    const char *sign = info[reduction_of(member)].infix;
    struct value index = value_named(nest, "at", term_index(nest, member));
    term = value_named(nest, "x", value_as(nest, term, register_lane(nest, member), vector));
    const char *and = vector ? "&" : "&&", * or = vector ? "|" : "||";
    struct buf buf = buf_in(em->arena);
    buf_puts(&buf, compared(nest, term.lane, vector, term.text, sign, best));
    if (!one)
        buf_printf(&buf, " %s (%s %s (%s < %s))", or,
                   compared(nest, term.lane, vector, term.text, "==", best), and, index.text, at);
    if (expr_filter(member->work->reduce) != NULL)
        buf_printf(&buf, " %s (%s < 0)", or, at);
    struct value better = {arena_printf(em->arena, "(%s)", buf.data), LANE_BOOL, vector};
    if (counts_if != NULL)
        better.text = arena_printf(em->arena, "(%s %s %s)", better.text, and,
                                   value_as(nest, *counts_if, LANE_BOOL, vector).text);
    better = value_named(nest, "better", better);
    struct value old = {best, term.lane, vector}, old_at = {at, index.lane, vector};
    code_line(em, "%s = %s;", best, value_select(nest, better, term, old).text);
    code_line(em, "%s = %s;", at, value_select(nest, better, index, old_at).text);
}

static void
add_term(struct nest *nest, struct member *member);

void
acc_term(struct nest *nest, struct member *member)
{
    struct span saved[LANG_MAX_LEVELS];
    struct buf condition = buf_in(nest->em->arena);
    memcpy(saved, nest->span, sizeof saved);
    if (is_in_piece(nest, member, &condition)) {
        size_t known = nest->known_count;
        if (condition.length > 0)
            code_open(nest->em, "if (%s) {", condition.data);
        add_term(nest, member);
        if (condition.length > 0) {
            code_close(nest->em);
            nest->known_count = known;
        }
    }
    memcpy(nest->span, saved, sizeof saved);
}

/* What is to be tested of the filter; no text: nothing. */
static struct value
filter_value(struct nest *nest, struct member *member, bool *never)
{
    const struct expr *tests[BOUND_MOST + 1];
    size_t count = bound_tests(nest, member, tests, never);
    struct value all = {0};
    for (size_t i = 0; i < count && !*never; i++) {
        struct value test = value_of(nest, member, tests[i], NULL);
        bool vector = test.vector || (all.text != NULL && all.vector);
        test = value_as(nest, test, LANE_BOOL, vector);
        if (all.text != NULL) {
            all = value_as(nest, all, LANE_BOOL, vector);
            test.text = arena_printf(nest->em->arena, "(%s %s %s)", all.text, vector ? "&" : "&&",
                                     test.text);
        }
        all = test;
    }
    return all;
}

static void
add_term(struct nest *nest, struct member *member)
{
    struct emitter *em = nest->em;
    const struct expr *reduce = member->work->reduce;
    enum lane lane = register_lane(nest, member);
    bool vector = nest->vector >= 0, never;
    bool cut = vector && nest->active < nest->lanes && !is_left_of(member, (unsigned)nest->vector);
    struct value condition = filter_value(nest, member, &never);
    bool block = false;
    if (never)
        return;
    if (condition.text != NULL && !condition.vector && !cut) {
        code_open(em, "if (%s) {", condition.text);
        block = true;
        condition.text = NULL;
    } else if (cut) {
        struct value lanes = acc_active_lanes(nest);
        if (condition.text != NULL)
            lanes.text = arena_printf(em->arena, "(%s & %s)", lanes.text,
                                      value_as(nest, condition, LANE_BOOL, true).text);
        condition = lanes;
    }
    size_t known = nest->known_count;
    struct value term = value_of(nest, member, reduce->args[0], NULL);
    const char *name = register_name(nest, member, "");
    if (is_arg(member))
        add_arg_term(nest, member, term, condition.text ? &condition : NULL);
    else {
        term = value_as(nest, term, lane, condition.text != NULL || (vector && lane < LANE_F32));
        if (condition.text != NULL)
            term = value_select(nest, condition, term, identity_value(nest, member, lane, vector));
        if (info[reduction_of(member)].infix != NULL)
            code_line(em, "%s %s= %s;", name, info[reduction_of(member)].infix, term.text);
        else
            code_line(em, "%s = %s;", name,
                      combined(nest, member, lane, vector, name,
                               value_as(nest, term, lane, vector).text));
        if (counts(member)) {
            struct value one = value_as(nest, (struct value){"1", lane, false}, lane, vector);
            if (condition.text != NULL)
                one =
                    value_select(nest, condition, one, identity_value(nest, member, lane, vector));
            code_line(em, "%s += %s;", register_name(nest, member, "_n"), one.text);
        }
    }
    if (block) {
        code_close(em);
        nest->known_count = known; /* names inside of the block are gone */
    }
}

/* ---- finishing ---- */

struct joining {
    const char *name, *at, *n;
};

/* The other copies' registers are added to the first. */
static void
join(struct nest *nest, struct member *member, void *context)
{
    struct joining *to = context;
    struct emitter *em = nest->em;
    enum lane lane = register_lane(nest, member);
    bool vector = nest->vector >= 0;
    const char *name = register_name(nest, member, "");
    if (to->name == NULL) {
        to->name = name;
        to->at = register_name(nest, member, "_at");
        to->n = register_name(nest, member, "_n");
        return;
    }
    if (is_arg(member)) {
        const char *at = register_name(nest, member, "_at");
        const char *and = vector ? "&" : "&&", * or = vector ? "|" : "||";
        struct value better = {arena_printf(em->arena, "(%s %s (%s %s (%s < %s)))",
                                            compared(nest, lane, vector, name,
                                                     info[reduction_of(member)].infix, to->name),
                                            or, compared(nest, lane, vector, name, "==", to->name),
                                            and, at, to->at),
                               LANE_BOOL, vector};
        if (expr_filter(member->work->reduce) != NULL) /* -1: nothing was seen */
            better.text = arena_printf(em->arena, "((%s %s (%s < 0)) %s (%s >= 0))", better.text,
                                       or, to->at, and, at);
        better = value_named(nest, "better", better);
        struct value a = {name, lane, vector}, b = {to->name, lane, vector};
        struct value a_at = {at, index_lane(nest), vector},
                     b_at = {to->at, index_lane(nest), vector};
        code_line(em, "%s = %s;", to->name, value_select(nest, better, a, b).text);
        code_line(em, "%s = %s;", to->at, value_select(nest, better, a_at, b_at).text);
        return;
    }
    code_line(em, "%s = %s;", to->name, combined(nest, member, lane, vector, to->name, name));
    if (counts(member))
        code_line(em, "%s += %s;", to->n, register_name(nest, member, "_n"));
}

static const char *
across_lanes(struct nest *nest, struct member *member, enum lane lane, const char *name,
             const char *how)
{
    struct emitter *em = nest->em;
    bool wide = nest_is_wide(nest);
    const char *result = code_name(em, "s");
    if ((lane == LANE_F32 && !wide) || (lane == LANE_F64 && wide)) {
        const char *helper = arena_printf(em->arena, "v%s_h%s", wide ? "f64" : "f32", how);
        code_line(em, "const %s %s = %s(%s);", value_type(nest, lane, false), result,
                  code_helper(em, helper), name);
        return result;
    }
    code_line(em, "%s %s = %s[0];", value_type(nest, lane == LANE_I32 ? LANE_I64 : lane, false),
              result, name);
    for (unsigned i = 1; i < nest->lanes; i++) {
        const char *other = arena_printf(em->arena, "%s[%u]", name, i);
        code_line(em, "%s = %s;", result, combined(nest, member, lane, false, result, other));
    }
    return result;
}

/* The best lane, the smallest index among equals. */
static void
across_arg_lanes(struct nest *nest, struct member *member, enum lane lane, struct joining *joined)
{
    struct emitter *em = nest->em;
    const char *best = code_name(em, "s"), *at = code_name(em, "s");
    code_line(em, "%s %s = %s[0];", value_type(nest, lane, false), best, joined->name);
    code_line(em, "long %s = %s[0];", at, joined->at);
    code_open(em, "for (int lane = 1; lane < %u; lane++) {", nest->lanes);
    code_line(em, "const int seen = %s[lane] >= 0;", joined->at);
    code_open(em, "if (seen && (%s < 0 || %s[lane] %s %s || (%s[lane] == %s && %s[lane] < %s))) {",
              at, joined->name, info[reduction_of(member)].infix, best, joined->name, best,
              joined->at, at);
    code_line(em, "%s = %s[lane];", best, joined->name);
    code_line(em, "%s = %s[lane];", at, joined->at);
    code_close(em);
    code_close(em);
    joined->name = best;
    joined->at = at;
}

/* All conditions hold: "1" always, "0" never. */
static const char *
conjunction(struct emitter *em, const char *const *conditions, size_t count)
{
    struct buf buf = buf_in(em->arena);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(conditions[i], "0") == 0)
            return "0";
        if (strcmp(conditions[i], "1") != 0)
            buf_printf(&buf, "%s%s", buf.length ? " && " : "", conditions[i]);
    }
    return buf.length ? buf.data : "1";
}

static void
store_result(struct nest *nest, struct member *member, struct value result, const char *n)
{
    const struct expr *reduce = member->work->reduce;
    struct arena *arena = nest->em->arena;
    value_forget(nest);
    if (reduction_of(member) == REDUCE_MEAN) {
        if (reduce->kind == KIND_F64 || reduce->kind == KIND_F32 || reduce->kind == KIND_REAL)
            result = value_as(nest, result, reduce->kind == KIND_F64 ? LANE_F64 : LANE_F32,
                              result.vector);
        result.text = counts(member) ? arena_printf(arena, "(%s / %s)", result.text, n)
                                     : arena_printf(arena, "(%s / %" PRId64 "%s)", result.text,
                                                    expr_terms(reduce),
                                                    result.lane == LANE_F32   ? ".0f"
                                                    : result.lane == LANE_F64 ? ".0"
                                                                              : "");
    }
    if (member->work->code != reduce && (result.vector || reduction_of(member) == REDUCE_MEAN))
        result = value_named(nest, "r", result);
    value_store(nest, member, value_of(nest, member, member->work->code, &result));
}

/* Of the passes that a tile of online() takes, is this the first? */
static const char *
begins_tile(const struct nest *nest)
{
    return conjunction(nest->em, nest->first + nest->tile_conditions,
                       nest->conditions - nest->tile_conditions);
}

/* The result of the passes before, scaled to the maximum of now. */
static const char *
before(struct nest *nest, const struct member *member, enum lane lane)
{
    struct arena *arena = nest->em->arena;
    struct value value = value_reload(nest, member, lane);
    const char *first = nest->online != NULL ? begins_tile(nest) : "0";
    if (strcmp(first, "0") == 0)
        return value.text;
    value_forget(nest);
    struct value scale = value_of(nest, member, nest->online->rescale, NULL);
    if (strcmp(first, "1") != 0)
        scale = value_select(nest, (struct value){first, LANE_BOOL, false}, scale,
                             (struct value){"1", scale.lane, false});
    return arena_printf(arena, "%s * %s", value.text,
                        value_as(nest, scale, lane, value.vector).text);
}

static void
finish(struct nest *nest, struct member *member, void *context)
{
    struct emitter *em = nest->em;
    struct joining joined = {0};
    enum lane lane = register_lane(nest, member);
    int saved = nest->vector;
    bool vector = saved >= 0;
    (void)context;
    each_copy(nest, member, member->acc, member->tile, join, &joined);
    if (vector && !is_left_of(member, (unsigned)nest->vector)) {
        if (is_arg(member))
            across_arg_lanes(nest, member, lane, &joined);
        else
            joined.name =
                across_lanes(nest, member, lane, joined.name, info[reduction_of(member)].lanes);
        if (counts(member))
            joined.n = across_lanes(nest, member, lane, joined.n, "sum");
        if (lane == LANE_I32)
            lane = LANE_I64;
        vector = false;
        nest->vector = -1;
    }
    struct value result = {joined.name, lane, vector};
    if (is_arg(member))
        result = (struct value){joined.at, vector ? index_lane(nest) : LANE_I64, vector};
    size_t conditions = member == &nest->member[0] ? nest->conditions : 0;
    const char *first = conjunction(em, nest->first, conditions);
    const char *last = conjunction(em, nest->last, conditions);
    if (strcmp(first, "1") != 0) {
        const char *name = code_name(em, "r");
        code_line(em, "%s %s = %s;", value_type(nest, lane, vector), name, result.text);
        if (strcmp(first, "0") != 0)
            code_open(em, "if (!(%s)) {", first);
        code_line(em, "%s = %s;", name,
                  combined(nest, member, lane, vector, name, before(nest, member, lane)));
        if (strcmp(first, "0") != 0)
            code_close(em);
        result.text = name;
    }
    bool plain = member->work->code == member->work->reduce && nest->partial == NULL &&
                 reduction_of(member) != REDUCE_MEAN && !is_arg(member);
    if (plain || strcmp(last, "1") == 0)
        store_result(nest, member, result, joined.n);
    else if (strcmp(last, "0") == 0)
        value_store_partial(nest, member, result);
    else {
        code_open(em, "if (%s) {", last);
        store_result(nest, member, result, joined.n);
        em->indent--;
        code_line(em, "} else {");
        em->indent++;
        value_store_partial(nest, member, result);
        code_close(em);
    }
    nest->vector = saved; /* the next register is a vector again */
}

static void
fetch(struct nest *nest, struct member *member, void *context)
{
    (void)context;
    value_prefetch_partial(nest, member);
}

/* A pass over a part of the reduction that adds nothing to the tile matters only if it is the first
 * or the last one. */
static const char *
pass_is_needed(struct nest *nest, const struct member *member)
{
    struct emitter *em = nest->em;
    struct buf possible = buf_in(em->arena), buf = buf_in(em->arena);
    if (member != &nest->member[0] || nest->conditions == 0)
        return "1";
    bool some = bound_is_possible(nest, member->work->shared, &possible);
    if (some && possible.length == 0)
        return "1";
    const char *first = conjunction(em, nest->first, nest->conditions);
    const char *last = conjunction(em, nest->last, nest->conditions);
    const char *begins = nest->online != NULL ? begins_tile(nest) : "0";
    if (strcmp(first, "1") == 0 || strcmp(last, "1") == 0)
        return "1";
    if (strcmp(begins, "1") != 0 && strcmp(begins, "0") != 0)
        buf_printf(&buf, "(%s)", begins); /* it scales what was there */
    if (some)
        buf_printf(&buf, "%s(%s)", buf.length ? " || " : "", possible.data);
    if (strcmp(first, "0") != 0)
        buf_printf(&buf, "%s(%s)", buf.length ? " || " : "", first);
    if (strcmp(last, "0") != 0)
        buf_printf(&buf, "%s(%s)", buf.length ? " || " : "", last);
    return buf.length ? buf.data : "0";
}

void
acc_walk(struct nest *nest, size_t at, unsigned number)
{
    struct emitter *em = nest->em;
    struct member *member = &nest->member[number];
    int vector = nest->vector;
    unsigned active = nest->active;
    member->name = code_name(em, "c");
    member->open = true;
    for (unsigned i = 0; i < LANG_MAX_LEVELS; i++)
        member->tile[i] = nest->span[i].extent;
    struct buf possible = buf_in(em->arena);
    bool some = bound_is_possible(nest, 0, &possible), tested = some && possible.length > 0;
    const char *needed = pass_is_needed(nest, member);
    if (strcmp(needed, "0") == 0) {
        member->open = false;
        return;
    }
    code_open(em, strcmp(needed, "1") == 0 ? "{" : "if (%s) {", needed);
    each_register(nest, member, at, true, declare, NULL);
    nest->vector = vector;
    nest->active = active;
    if (number == 0 && nest->conditions > 0) /* the results of the passes before are far away */
        each_register(nest, member, at, false, fetch, NULL);
    nest->vector = vector;
    nest->active = active;
    if (tested)
        code_open(em, "if (%s) {", possible.data);
    size_t before = hoist_open(nest, at);
    if (some)
        nest_walk(nest, at);
    hoist_close(nest, before);
    if (tested)
        code_close(em);
    nest->vector = vector;
    nest->active = active;
    each_register(nest, member, at, false, finish, NULL);
    nest->vector = vector;
    nest->active = active;
    code_close(em);
    member->open = false;
}
