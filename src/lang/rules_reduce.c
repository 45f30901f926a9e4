/* The rules of reductions: terms come in index order, one function a reduction ends them. */
#include "lang/rules_rows_int.h"

#include <string.h>

static double
direction(enum reduction reduction)
{
    return reduction == REDUCE_MIN || reduction == REDUCE_ARGMIN ? -1 : 1;
}

void
val_begin(struct val_reduction *r, enum reduction reduction, enum kind kind, struct val *terms)
{
    memset(r, 0, sizeof *r);
    r->reduction = reduction;
    r->kind = kind;
    r->terms = terms;
    r->best = -1;
    r->reach_g = r->reach_c = -INFINITY;
    r->grown = r->shrunk = 1;
    if (reduction == REDUCE_PROD)
        r->total = val_integer(1);
}

static void
add_term(struct val_reduction *r, struct val t)
{
    r->total.v += t.v;
    r->total.i = (int64_t)((uint64_t)r->total.i + (uint64_t)t.i);
    r->total.c += t.c;
    r->roundings += t.g * t.g;
    r->prefixes += r->few ? r->total.v * r->total.v : 0;
    if (isfinite(t.v)) {
        r->squares += t.v * t.v;
        r->sizes += fabs(t.v);
    }
}

static void
multiply_term(struct val_reduction *r, struct val t)
{
    double size = fabs(t.v);

    r->total = val_mul(r->total, t, r->kind);
    if (size > 1 && isfinite(size))
        r->grown *= size;
    else if (size < 1)
        r->shrunk *= size;
}

static bool
beats(struct val a, struct val b, enum reduction reduction, enum kind kind)
{
    return rule_holds(direction(reduction) > 0 ? OP_GT : OP_LT, a, b, kind);
}

static void
compare_term(struct val_reduction *r, struct val t)
{
    double height = direction(r->reduction) * t.v;

    if (r->count == 0 || beats(t, r->total, r->reduction, r->kind))
        r->total = t;
    r->reach_g = fmax(r->reach_g, height + 6 * t.g);
    r->reach_c = fmax(r->reach_c, height + t.c);
}

static void
race_term(struct val_reduction *r, struct val t)
{
    if (r->best < 0 || beats(t, r->terms[r->best], r->reduction, r->kind))
        r->best = r->term_count;
    r->terms[r->term_count++] = t;
}

void
val_term(struct val_reduction *r, struct val t)
{
    bool ordered = r->reduction >= REDUCE_MAX;

    if (ordered && isnan(t.v)) /* decision 7 */
        t.g = NAN;
    r->unjudged |= isnan(t.g);
    r->infinite |= isinf(t.v);
    switch (r->reduction) {
    case REDUCE_SUM:
    case REDUCE_MEAN:
        add_term(r, t);
        break;
    case REDUCE_PROD:
        multiply_term(r, t);
        break;
    case REDUCE_MAX:
    case REDUCE_MIN:
        compare_term(r, t);
        break;
    default:
        race_term(r, t);
    }
    r->count++;
}

void
val_drop(struct val_reduction *r)
{
    if (r->reduction >= REDUCE_ARGMAX)
        r->terms[r->term_count++] = (struct val){.v = NAN};
}

void
val_doubt(struct val_reduction *r)
{
    r->unjudged = true;
    if (r->reduction >= REDUCE_ARGMAX)
        r->terms[r->term_count - 1].g = NAN;
}

/* The row "sum": honest kernels add in any order, of which the table takes the mean. */
static struct val
end_sum(const struct val_reduction *r)
{
    const struct dtype_info *type = arithmetic(r->kind);
    double n = (double)r->count, s = r->total.v, q = r->squares, u = type->roundoff;

    if (is_whole(r->kind))
        return whole(r->total.i, r->unjudged ? NAN : sqrt(r->roundings), r->total.c);
    if (r->count == 0)
        return exact(0);
    double spread = fmax(q - s * s / n, 0);
    double walk = q + s * s * (n + 1) * (2 * n + 1) / (6 * n) + (n + 1) * spread / 6;
    walk = fmax(walk, r->prefixes);
    double flushed = fabs(s) < type->smallest ? fabs(s) : 0;
    struct val sum = {.v = s};
    sum.g = root(sqrt(r->roundings + u * u * walk), flushed);
    sum.c = r->total.c + n * u * (r->sizes + r->total.c) + flushed;
    if (r->sizes > type->largest) /* decision 5: another order could overflow */
        return val_unjudged(s);
    return settle(sum, true, r->infinite, type);
}

static struct val
end_mean(const struct val_reduction *r)
{
    struct val count = val_convert(val_integer(r->count), KIND_INT, r->kind);

    count.i = r->count;
    return val_div(end_sum(r), count, r->kind);
}

static struct val
end_product(const struct val_reduction *r)
{
    const struct dtype_info *type = arithmetic(r->kind);

    if (is_whole(r->kind))
        return r->total;
    bool leaves = r->grown > type->largest || (r->shrunk < type->smallest && r->shrunk > 0);
    return leaves ? val_unjudged(r->total.v) : r->total;
}

/* The winner and how far another could rise above it. `sign` is 1 for max, -1 for min. */
static struct val
winner(struct val best, double reach_g, double reach_c, double sign)
{
    if (isinf(best.v))
        return exact(best.v);
    best.g = fmax(best.g, (reach_g - sign * best.v) / 6);
    best.c = fmax(best.c, reach_c - sign * best.v);
    return best;
}

/* The integers of an expression have 64 bits, but all that is stored fits i32: its ends. */
static struct val
end_extreme(const struct val_reduction *r)
{
    double sign = direction(r->reduction);

    if (r->count > 0)
        return winner(r->total, r->reach_g, r->reach_c, sign);
    if (is_whole(r->kind))
        return val_integer(sign > 0 ? INT32_MIN : INT32_MAX);
    return exact(-sign * INFINITY);
}

/* Decision 4: decided if no other term could win. */
static struct val
end_race(const struct val_reduction *r)
{
    bool sure = true;

    for (int64_t k = 0; k < r->term_count && sure; k++)
        if (k != r->best && !isnan(r->terms[k].v))
            sure = rule_decided(r->terms[k], r->terms[r->best]);
    return whole(r->best, sure ? 0 : NAN, 0);
}

struct val
val_end(struct val_reduction *r)
{
    struct val end;

    if (r->reduction == REDUCE_SUM)
        end = end_sum(r);
    else if (r->reduction == REDUCE_MEAN)
        end = end_mean(r);
    else if (r->reduction == REDUCE_PROD)
        end = end_product(r);
    else if (r->reduction <= REDUCE_MIN)
        end = end_extreme(r);
    else
        end = end_race(r);
    if (r->unjudged)
        end.g = NAN, end.c = INFINITY;
    return end;
}

struct val
val_extreme(enum op op, struct val a, struct val b, enum kind kind)
{
    struct val_reduction r;

    val_begin(&r, op == OP_MAX ? REDUCE_MAX : REDUCE_MIN, kind, NULL);
    val_term(&r, a);
    val_term(&r, b);
    return val_end(&r);
}
