/* Walking over expressions: rewriting with memory, intervals, linear forms.
 *
 * A node under a reduction may stand under another one too, with other ranges for the same levels
 * (ir.h, invariant 2). So results are remembered per scope: entering a reduction or a piece of a
 * cat starts a fresh memory, leaving it returns to the old one. */
#include "lang/ir_int.h"

#include "base/num.h"

#include <assert.h>
#include <string.h>

/* ---- memory ---- */

struct memo { /* open addressing, node to result */
    struct memo *outer;
    const struct expr **keys, **values;
    size_t capacity, count;
};

static struct memo *
push_memo(struct rewrite *rewrite)
{
    struct arena *arena = ir_arena(rewrite->ir);
    struct memo *memo = arena_alloc(arena, sizeof *memo);
    memo->outer = rewrite->memo;
    memo->capacity = 32;
    memo->keys = arena_array(arena, memo->capacity, sizeof *memo->keys);
    memo->values = arena_array(arena, memo->capacity, sizeof *memo->values);
    return memo;
}

static size_t
memo_slot(const struct memo *memo, const struct expr *e)
{
    size_t slot = (e->id * 2654435761u) & (memo->capacity - 1);
    while (memo->keys[slot] != NULL && memo->keys[slot] != e)
        slot = (slot + 1) & (memo->capacity - 1);
    return slot;
}

static void
remember(struct rewrite *rewrite, const struct expr *e, const struct expr *result)
{
    struct memo *memo = rewrite->memo;
    if (2 * (memo->count + 1) > memo->capacity) {
        struct memo old = *memo;
        struct arena *arena = ir_arena(rewrite->ir);
        memo->capacity *= 2;
        memo->keys = arena_array(arena, memo->capacity, sizeof *memo->keys);
        memo->values = arena_array(arena, memo->capacity, sizeof *memo->values);
        for (size_t i = 0; i < old.capacity; i++)
            if (old.keys[i] != NULL) {
                size_t slot = memo_slot(memo, old.keys[i]);
                memo->keys[slot] = old.keys[i];
                memo->values[slot] = old.values[i];
            }
    }
    size_t slot = memo_slot(memo, e);
    memo->keys[slot] = e;
    memo->values[slot] = result;
    memo->count++;
}

/* ---- rewriting ---- */

static const struct expr *
visit(struct rewrite *rewrite, const struct expr *e);

static const struct expr *
visit_reduce(struct rewrite *rewrite, const struct expr *e)
{
    const struct binder *binder = e->binder;
    const struct expr *args[2] = {NULL, NULL};
    struct level saved[LANG_MAX_LEVELS];
    memcpy(saved, rewrite->levels, sizeof saved);
    for (unsigned i = 0; i < binder->count; i++)
        rewrite->levels[binder->level + i] = (struct level){binder->extent[i], binder->names[i], 0,
                                                            expr_integer(binder->extent[i]) - 1};
    rewrite->memo = push_memo(rewrite);
    rewrite->depth++;
    if (e->count > 1)
        args[1] = visit(rewrite, e->args[1]); /* the filter is read first */
    args[0] = visit(rewrite, e->args[0]);
    rewrite->depth--;
    rewrite->memo = rewrite->memo->outer;
    memcpy(rewrite->levels, saved, sizeof saved);
    return rewrite->leave(rewrite, e, args);
}

static const struct expr *
visit_cat(struct rewrite *rewrite, const struct expr *e)
{
    const struct binder *binder = e->binder;
    const struct expr **args = arena_array(ir_arena(rewrite->ir), e->count, sizeof *args);
    struct level *level = &rewrite->levels[binder->level], saved = *level;
    const struct expr *replaced = rewrite->replace[binder->level];
    const struct expr *general = ir_int(rewrite->ir, 0); /* the start, with its dims */
    int64_t start = 0;
    for (unsigned i = 0; i < e->count; i++) {
        int64_t size = expr_integer(binder->extent[i]);
        rewrite->memo = push_memo(rewrite);
        if (rewrite->pieces >= PIECES_VALUE_TO_CODE) {
            const struct expr *index = replaced ? replaced : ir_index(rewrite->ir, binder->level);
            const struct expr *from =
                rewrite->pieces == PIECES_VALUE_TO_GENERAL ? general : ir_int(rewrite->ir, start);
            rewrite->replace[binder->level] = ir_binary(rewrite->ir, OP_SUB, index, from);
        }
        if (rewrite->pieces == PIECES_VALUE)
            level->extent = binder->extent[i];
        level->low = rewrite->pieces == PIECES_VALUE ? 0 : start;
        level->high = level->low + size - 1;
        args[i] = visit(rewrite, e->args[i]);
        rewrite->memo = rewrite->memo->outer;
        start += size;
        general = ir_binary(rewrite->ir, OP_ADD, general, binder->extent[i]);
    }
    *level = saved;
    rewrite->replace[binder->level] = replaced;
    return rewrite->leave(rewrite, e, args);
}

static const struct expr *
visit_plain(struct rewrite *rewrite, const struct expr *e)
{
    const struct expr *args[LANG_MAX_RANK + 1];
    for (unsigned i = 0; i < e->count; i++)
        args[i] = visit(rewrite, e->args[i]);
    return rewrite->leave(rewrite, e, args);
}

static const struct expr *
visit(struct rewrite *rewrite, const struct expr *e)
{
    if (e->op == OP_INDEX && rewrite->replace[e->level] != NULL)
        return rewrite->replace[e->level];
    if (e->count == 0)
        return rewrite->leave(rewrite, e, NULL);
    size_t slot = memo_slot(rewrite->memo, e);
    if (rewrite->memo->keys[slot] != NULL)
        return rewrite->memo->values[slot];
    const struct expr *result = e->op == OP_REDUCE ? visit_reduce(rewrite, e)
                                : e->op == OP_CAT  ? visit_cat(rewrite, e)
                                                   : visit_plain(rewrite, e);
    remember(rewrite, e, result);
    return result;
}

const struct expr *
ir_rewrite(struct rewrite *rewrite, const struct expr *e)
{
    rewrite->memo = NULL;
    rewrite->memo = push_memo(rewrite);
    return visit(rewrite, e);
}

/* ---- intervals ---- */

#define FAR (INT64_MAX / 4) /* beyond any size; sums of two do not overflow */

/* Of an expression whose CATs are read in this way. */
static void
interval(const struct expr *e, const struct level *levels, enum pieces pieces, int64_t *low,
         int64_t *high);

static int64_t
saturate(__int128 value)
{
    return value > FAR ? FAR : value < -FAR ? -FAR : (int64_t)value;
}

static void
hull(int64_t *low, int64_t *high, int64_t other_low, int64_t other_high)
{
    if (other_low < *low)
        *low = other_low;
    if (other_high > *high)
        *high = other_high;
}

static void
interval_of_product(int64_t a, int64_t b, int64_t c, int64_t d, int64_t *low, int64_t *high)
{
    __int128 corners[4] = {(__int128)a * c, (__int128)a * d, (__int128)b * c, (__int128)b * d};
    *low = *high = saturate(corners[0]);
    for (int i = 1; i < 4; i++)
        hull(low, high, saturate(corners[i]), saturate(corners[i]));
}

static void
interval_of_quotient(enum op op, int64_t a, int64_t b, int64_t divisor, int64_t *low, int64_t *high)
{
    int64_t first = num_floor_div(a, divisor), last = num_floor_div(b, divisor);
    if (op == OP_DIV) {
        *low = first;
        *high = last;
    } else if (first == last) {
        *low = num_floor_mod(a, divisor);
        *high = num_floor_mod(b, divisor);
    } else {
        *low = 0;
        *high = divisor - 1;
    }
}

static void
interval_of_reduction(const struct expr *e, const struct level *levels, enum pieces pieces,
                      int64_t *low, int64_t *high)
{
    struct level inner[LANG_MAX_LEVELS];
    __int128 terms = 1;
    memcpy(inner, levels, sizeof inner);
    for (unsigned i = 0; i < e->binder->count; i++) {
        int64_t size = expr_integer(e->binder->extent[i]);
        inner[e->binder->level + i] = (struct level){.low = 0, .high = size - 1};
        terms = terms * size > FAR ? FAR : terms * size;
    }
    int64_t a, b;
    switch (e->binder->reduction) {
    case REDUCE_ARGMAX:
    case REDUCE_ARGMIN:
        *low = e->count > 1 ? -1 : 0;
        *high = (int64_t)terms - 1;
        return;
    case REDUCE_SUM:
        interval(e->args[0], inner, pieces, &a, &b);
        *low = saturate((a < 0 || e->count == 1 ? (__int128)a : 0) * terms);
        *high = saturate((b > 0 || e->count == 1 ? (__int128)b : 0) * terms);
        if (e->count > 1)
            hull(low, high, 0, 0);
        return;
    case REDUCE_MAX:
    case REDUCE_MIN:
        interval(e->args[0], inner, pieces, low, high);
        if (e->count > 1) /* nothing may pass: the smallest or largest i32 */
            hull(low, high, INT32_MIN, INT32_MAX);
        return;
    default:
        *low = -FAR;
        *high = FAR;
    }
}

static void
interval_of_cat(const struct expr *e, const struct level *levels, enum pieces pieces, int64_t *low,
                int64_t *high)
{
    struct level inner[LANG_MAX_LEVELS];
    struct level *cut = &inner[e->binder->level];
    int64_t start = 0, first = levels[e->binder->level].low, last = levels[e->binder->level].high;
    bool any = false;
    memcpy(inner, levels, sizeof inner);
    for (unsigned i = 0; i < e->count; i++) {
        int64_t a, b, size = expr_integer(e->binder->extent[i]);
        cut->low = 0;
        cut->high = size - 1;
        if (pieces != PIECES_VALUE) { /* counted from the whole's start: those in range */
            cut->low = first > start ? first : start;
            cut->high = last < start + size - 1 ? last : start + size - 1;
        }
        start += size;
        if (cut->low > cut->high)
            continue;
        interval(e->args[i], inner, pieces, &a, &b);
        if (!any)
            *low = a, *high = b;
        any = true;
        hull(low, high, a, b);
    }
}

static void
interval_of_comparison(enum op op, int64_t a, int64_t b, int64_t c, int64_t d, int64_t *low,
                       int64_t *high)
{
    bool always = false, never = false; /* a..b OP c..d */
    switch (op) {
    case OP_LT:
        always = b < c, never = a >= d;
        break;
    case OP_LE:
        always = b <= c, never = a > d;
        break;
    case OP_GT:
        always = a > d, never = b <= c;
        break;
    case OP_GE:
        always = a >= d, never = b < c;
        break;
    case OP_EQ:
        always = a == b && c == d && a == c, never = b < c || a > d;
        break;
    default:
        never = a == b && c == d && a == c, always = b < c || a > d;
        break;
    }
    *low = always;
    *high = !never;
}

static void
interval_of_binary(const struct expr *e, const struct level *levels, enum pieces pieces,
                   int64_t *low, int64_t *high)
{
    int64_t a, b, c, d;
    *low = e->kind == KIND_BOOL ? 0 : -FAR;
    *high = e->kind == KIND_BOOL ? 1 : FAR;
    if (e->args[0]->kind > KIND_INT || e->args[1]->kind > KIND_INT)
        return;
    interval(e->args[0], levels, pieces, &a, &b);
    interval(e->args[1], levels, pieces, &c, &d);
    switch (e->op) {
    case OP_ADD:
        *low = saturate((__int128)a + c), *high = saturate((__int128)b + d);
        return;
    case OP_SUB:
        *low = saturate((__int128)a - d), *high = saturate((__int128)b - c);
        return;
    case OP_MUL:
        interval_of_product(a, b, c, d, low, high);
        return;
    case OP_DIV:
    case OP_MOD:
        if (c == d && c > 0)
            interval_of_quotient(e->op, a, b, c, low, high);
        return;
    case OP_MIN:
        *low = a < c ? a : c, *high = b < d ? b : d;
        return;
    case OP_MAX:
        *low = a > c ? a : c, *high = b > d ? b : d;
        return;
    case OP_AND:
        *low = (a > 0 || b < 0) && (c > 0 || d < 0), *high = (a || b) && (c || d);
        return;
    case OP_OR:
        *low = a > 0 || b < 0 || c > 0 || d < 0, *high = a || b || c || d;
        return;
    default:
        interval_of_comparison(e->op, a, b, c, d, low, high);
    }
}

static void
interval_of_unary(const struct expr *e, const struct level *levels, enum pieces pieces,
                  int64_t *low, int64_t *high)
{
    int64_t a = -FAR, b = FAR;
    if (e->args[0]->kind <= KIND_INT)
        interval(e->args[0], levels, pieces, &a, &b);
    switch (e->op) {
    case OP_NEG:
        *low = -b, *high = -a;
        return;
    case OP_ABS:
        *low = a > 0 ? a : b < 0 ? -b : 0;
        *high = -a > b ? -a : b;
        return;
    case OP_SIGN:
        *low = a > 0 ? 1 : a == 0 ? 0 : -1, *high = b > 0 ? 1 : b == 0 ? 0 : -1;
        return;
    case OP_NOT:
        *low = a == 0 && b == 0, *high = !(a > 0 || b < 0);
        return;
    case OP_CAST: {
        double largest = dtype_info[e->dtype].largest;
        int64_t top = (int64_t)largest;
        int64_t bottom = e->dtype == DTYPE_U8 || e->dtype == DTYPE_BOOL ? 0 : -top - 1;
        bool fits = a >= bottom && b <= top;
        *low = fits ? a : bottom;
        *high = fits ? b : top;
        return;
    }
    default:
        *low = a, *high = b;
    }
}

static void
interval(const struct expr *e, const struct level *levels, enum pieces pieces, int64_t *low,
         int64_t *high)
{
    int64_t c, d;
    *low = -FAR;
    *high = FAR;
    if (e->kind > KIND_INT)
        return;
    if (expr_is_constant(e)) { /* also an `if` on sizes alone, whose branches would make a hull */
        if (expr_checked_integer(e, &c))
            *low = *high = saturate(c);
        return;
    }
    if (e->tree > 2000) /* too long to walk again and again */
        return;
    switch (e->op) {
    case OP_INDEX:
        *low = levels[e->level].low, *high = levels[e->level].high;
        return;
    case OP_LOAD:
        *low = e->tensor->low;
        *high = e->tensor->high;
        if (expr_default(e) != NULL) {
            interval(expr_default(e), levels, pieces, &c, &d);
            hull(low, high, c, d);
        }
        return;
    case OP_REDUCE:
        interval_of_reduction(e, levels, pieces, low, high);
        return;
    case OP_CAT:
        interval_of_cat(e, levels, pieces, low, high);
        return;
    case OP_IF:
        interval(e->args[1], levels, pieces, low, high);
        interval(e->args[2], levels, pieces, &c, &d);
        hull(low, high, c, d);
        return;
    default:
        if (e->count == 1)
            interval_of_unary(e, levels, pieces, low, high);
        else
            interval_of_binary(e, levels, pieces, low, high);
    }
}

void
expr_interval(const struct expr *e, const struct level *levels, int64_t *low, int64_t *high)
{
    interval(e, levels, PIECES_CODE, low, high);
}

void
expr_value_interval(const struct expr *e, const struct level *levels, int64_t *low, int64_t *high)
{
    interval(e, levels, PIECES_VALUE, low, high);
}

/* ---- linear forms ---- */

static bool
affine_scaled(const struct expr *e, int64_t factor, int64_t coefficient[LANG_MAX_LEVELS],
              int64_t *constant)
{
    int64_t part;
    if (expr_is_constant(e))
        return e->kind <= KIND_INT && num_mul(expr_integer(e), factor, &part) &&
               num_add(*constant, part, constant);
    switch (e->op) {
    case OP_INDEX:
        return num_add(coefficient[e->level], factor, &coefficient[e->level]);
    case OP_NEG:
        return affine_scaled(e->args[0], -factor, coefficient, constant);
    case OP_ADD:
    case OP_SUB:
        return affine_scaled(e->args[0], factor, coefficient, constant) &&
               affine_scaled(e->args[1], e->op == OP_ADD ? factor : -factor, coefficient, constant);
    case OP_MUL:
        for (int i = 0; i < 2; i++)
            if (expr_is_constant(e->args[i]) && e->args[i]->kind <= KIND_INT)
                return num_mul(expr_integer(e->args[i]), factor, &part) &&
                       affine_scaled(e->args[1 - i], part, coefficient, constant);
        return false;
    default:
        return false;
    }
}

bool
expr_affine(const struct expr *e, int64_t coefficient[LANG_MAX_LEVELS], int64_t *constant)
{
    memset(coefficient, 0, LANG_MAX_LEVELS * sizeof *coefficient);
    *constant = 0;
    return e->tree <= 2000 && e->kind <= KIND_INT && affine_scaled(e, 1, coefficient, constant);
}
