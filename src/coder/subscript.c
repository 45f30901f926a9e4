/* Subscripts: integer expressions as linear forms of loop variables, their ranges and strides. */
#include "coder/emit_int.h"

#include "base/num.h"

#include <inttypes.h>
#include <string.h>

/* ---- linear forms ---- */

void
lin_add_var(struct lin *lin, const char *var, int64_t coefficient)
{
    if (coefficient == 0)
        return;
    for (unsigned i = 0; i < lin->count; i++)
        if (strcmp(lin->term[i].var, var) == 0) {
            lin->term[i].coefficient += coefficient;
            if (lin->term[i].coefficient == 0)
                lin->term[i] = lin->term[--lin->count];
            return;
        }
    lin->term[lin->count].var = var;
    lin->term[lin->count++].coefficient = coefficient;
}

void
lin_add(struct lin *lin, const struct lin *other, int64_t coefficient)
{
    lin->add += other->add * coefficient;
    for (unsigned i = 0; i < other->count; i++)
        lin_add_var(lin, other->term[i].var, other->term[i].coefficient * coefficient);
}

const char *
lin_text(struct arena *arena, const struct lin *lin)
{
    struct buf buf = buf_in(arena);
    for (unsigned i = 0; i < lin->count; i++) {
        int64_t c = lin->term[i].coefficient;
        if (buf.length > 0)
            buf_puts(&buf, c < 0 ? " - " : " + ");
        else if (c < 0)
            buf_putc(&buf, '-');
        buf_puts(&buf, lin->term[i].var);
        if (c != 1 && c != -1)
            buf_printf(&buf, "*%" PRId64, c < 0 ? -c : c);
    }
    if (buf.length == 0)
        buf_printf(&buf, "%" PRId64, lin->add);
    else if (lin->add != 0)
        buf_printf(&buf, " %c %" PRId64, lin->add < 0 ? '-' : '+',
                   lin->add < 0 ? -lin->add : lin->add);
    return buf.data;
}

/* ---- ranges and strides ---- */

void
subscript_ranges(const struct nest *nest, const struct member *member,
                 struct level levels[LANG_MAX_LEVELS])
{
    memset(levels, 0, LANG_MAX_LEVELS * sizeof *levels);
    for (unsigned i = 0; i < member->work->levels; i++) {
        const struct span *span = &nest->span[member->map[i]];
        levels[i] = (struct level){NULL, member->work->index[i], span->low, span->high};
        if (member->map[i] == nest->vector)
            levels[i].high += nest->active - 1;
        else
            levels[i].high += span->extent - 1;
    }
}

/* e/W or e%W, where the loops go by whole rows of W: then the row is known and so is the place in
 * it. e = rows * W + place; `place` runs over `lanes` by `step`. */
struct row {
    int64_t width;
    int64_t place, step, lanes;
    int64_t factor[LANG_MAX_LEVELS]; /* of the loop variables in e, all multiples of the width */
};

static bool
find_row(const struct nest *nest, const struct member *member, const struct expr *e,
         struct row *row)
{
    int64_t constant;
    *row = (struct row){.lanes = nest->vector >= 0 ? nest->active : 1};
    if ((e->op != OP_DIV && e->op != OP_MOD) || e->kind != KIND_INT || e->args[1]->op != OP_INT ||
        e->args[1]->integer <= 0 || !expr_affine(e->args[0], row->factor, &constant))
        return false;
    row->width = e->args[1]->integer;
    row->place = constant;
    for (unsigned l = 0; l < member->work->levels; l++) {
        const struct span *span = &nest->span[member->map[l]];
        row->place += row->factor[l] * span->add;
        if (member->map[l] == nest->vector)
            row->step += row->factor[l];
        if (row->factor[l] != 0 && span->var != NULL &&
            (span->unit == 0 || row->factor[l] * span->unit % row->width != 0 ||
             (row->factor[l] % row->width != 0 &&
              (row->factor[l] < 0 || row->width % row->factor[l] != 0))))
            return false;
    }
    int64_t last = row->place + row->step * (row->lanes - 1);
    return num_floor_div(row->place, row->width) == num_floor_div(last, row->width);
}

void
subscript_interval(const struct nest *nest, const struct member *member, const struct expr *e,
                   int64_t *low, int64_t *high)
{
    struct level levels[LANG_MAX_LEVELS];
    struct row row;
    int64_t other_low, other_high;
    if (e->op == OP_MOD && find_row(nest, member, e, &row)) {
        int64_t first = num_floor_mod(row.place, row.width);
        int64_t last = first + row.step * (row.lanes - 1);
        *low = first < last ? first : last;
        *high = first < last ? last : first;
    } else if (e->op == OP_ADD || e->op == OP_SUB) {
        subscript_interval(nest, member, e->args[0], low, high);
        subscript_interval(nest, member, e->args[1], &other_low, &other_high);
        *low += e->op == OP_ADD ? other_low : -other_high;
        *high += e->op == OP_ADD ? other_high : -other_low;
    } else {
        subscript_ranges(nest, member, levels);
        expr_interval(e, levels, low, high);
    }
}

/* What one lane adds; false: not the same for all. */
static bool
stride_of(const struct nest *nest, const struct member *member, const struct expr *e,
          int64_t *stride)
{
    int64_t a, b;
    struct row row;
    *stride = 0;
    switch (e->op) {
    case OP_ADD:
    case OP_SUB:
        if (!subscript_stride(nest, member, e->args[0], &a) ||
            !subscript_stride(nest, member, e->args[1], &b))
            return false;
        *stride = e->op == OP_ADD ? a + b : a - b;
        return true;
    case OP_MUL:
        if (e->args[1]->op != OP_INT || !subscript_stride(nest, member, e->args[0], &a))
            return false;
        *stride = a * e->args[1]->integer;
        return true;
    case OP_DIV:
    case OP_MOD:
        if (!find_row(nest, member, e, &row))
            return false;
        *stride = e->op == OP_MOD ? row.step : 0;
        return true;
    default:
        return false;
    }
}

bool
subscript_stride(const struct nest *nest, const struct member *member, const struct expr *e,
                 int64_t *stride)
{
    int64_t coefficient[LANG_MAX_LEVELS], constant;
    *stride = 0;
    for (unsigned i = 0; i < member->work->levels; i++)
        if (member->map[i] == nest->vector && (e->free & 1u << i)) {
            if (!expr_affine(e, coefficient, &constant))
                return stride_of(nest, member, e, stride);
            *stride = coefficient[i];
        }
    return true;
}

/* ---- the form of an expression ---- */

static const char *
bracket(struct arena *arena, const struct lin *lin)
{
    const char *text = lin_text(arena, lin);
    bool simple =
        lin->count == 0 || (lin->count == 1 && lin->add == 0 && lin->term[0].coefficient == 1);
    return simple ? text : arena_printf(arena, "(%s)", text);
}

static struct lin
row_form(struct nest *nest, const struct member *member, const struct expr *e,
         const struct row *row)
{
    struct lin result = {0};
    if (e->op == OP_MOD) {
        result.add = num_floor_mod(row->place, row->width);
        return result;
    }
    result.add = num_floor_div(row->place, row->width);
    for (unsigned l = 0; l < member->work->levels; l++) {
        const struct span *span = &nest->span[member->map[l]];
        if (row->factor[l] == 0 || span->var == NULL)
            continue;
        if (row->factor[l] % row->width == 0)
            lin_add_var(&result, span->var, row->factor[l] / row->width);
        else
            lin_add_var(&result,
                        arena_printf(nest->em->arena, "(%s / %" PRId64 ")", span->var,
                                     row->width / row->factor[l]),
                        1);
    }
    return result;
}

/* a/b and a%b of floor division, as a number or a C text. */
static struct lin
divided(struct nest *nest, const struct member *member, const struct expr *e)
{
    struct arena *arena = nest->em->arena;
    struct lin a = subscript_form(nest, member, e->args[0]), result = {0};
    struct lin b = subscript_form(nest, member, e->args[1]);
    struct level levels[LANG_MAX_LEVELS];
    int64_t low, high, divisor_low, divisor_high;
    struct row row;
    if (find_row(nest, member, e, &row))
        return row_form(nest, member, e, &row);
    if (lin_is_number(&a) && lin_is_number(&b)) {
        result.add = e->op == OP_DIV ? num_floor_div(a.add, b.add) : num_floor_mod(a.add, b.add);
        return result;
    }
    subscript_ranges(nest, member, levels);
    expr_interval(e->args[0], levels, &low, &high);
    expr_interval(e->args[1], levels, &divisor_low, &divisor_high);
    if (low >= 0 && divisor_low > 0)
        lin_add_var(&result,
                    arena_printf(arena, "(%s %c %s)", bracket(arena, &a),
                                 e->op == OP_DIV ? '/' : '%', bracket(arena, &b)),
                    1);
    else
        lin_add_var(&result,
                    arena_printf(arena, "%s(%s, %s)",
                                 code_helper(nest->em, e->op == OP_DIV ? "floor_div" : "floor_mod"),
                                 lin_text(arena, &a), lin_text(arena, &b)),
                    1);
    return result;
}

/* Anything else: its value as the printer of scalars gives it. */
static struct lin
opaque(struct nest *nest, const struct member *member, const struct expr *e)
{
    struct lin result = {0};
    int vector = nest->vector;
    nest->vector = -1;
    struct value value = value_of(nest, member, e, nest->reduced);
    nest->vector = vector;
    lin_add_var(&result, arena_printf(nest->em->arena, "(%s)", value.text), 1);
    return result;
}

struct lin
subscript_form(struct nest *nest, const struct member *member, const struct expr *e)
{
    struct lin result = {0}, a, b;
    switch (e->op) {
    case OP_INT:
        result.add = e->integer;
        return result;
    case OP_INDEX: {
        const struct span *span = &nest->span[member->map[e->level]];
        result.add = span->add;
        if (span->var != NULL)
            lin_add_var(&result, span->var, 1);
        return result;
    }
    case OP_NEG:
        a = subscript_form(nest, member, e->args[0]);
        lin_add(&result, &a, -1);
        return result;
    case OP_ADD:
    case OP_SUB:
        result = subscript_form(nest, member, e->args[0]);
        b = subscript_form(nest, member, e->args[1]);
        if (result.count + b.count > LIN_TERMS)
            return opaque(nest, member, e);
        lin_add(&result, &b, e->op == OP_ADD ? 1 : -1);
        return result;
    case OP_MUL:
        a = subscript_form(nest, member, e->args[0]);
        b = subscript_form(nest, member, e->args[1]);
        if (lin_is_number(&a))
            lin_add(&result, &b, a.add);
        else if (lin_is_number(&b))
            lin_add(&result, &a, b.add);
        else
            lin_add_var(&result,
                        arena_printf(nest->em->arena, "%s*%s", bracket(nest->em->arena, &a),
                                     bracket(nest->em->arena, &b)),
                        1);
        return result;
    case OP_DIV:
    case OP_MOD:
        return divided(nest, member, e);
    default:
        return opaque(nest, member, e);
    }
}
