/* How many points of a box of indices satisfy a conjunction of conditions.
 *
 * The conditions fall into components that share no index: their counts multiply. In a component
 * all indices but one are enumerated; for the last one each condition is an interval, found by
 * division where the condition is affine in it and by bisection where it is monotone (i/64 <=
 * j/64). Where no index is of that kind (remainders) all are enumerated. A list that is denied is
 * counted by what it leaves: points(rest) - points(rest and list). */
#include "base/num.h"
#include "lang/cost_int.h"

#include <assert.h>

#define MOST_ATOMS 64
#define MOST_DENIED 8           /* each one doubles the work */
#define MIXED 2                 /* a direction: neither rising nor falling */
#define LOOK 10                 /* steps that one look at a condition is reckoned to take */
#define BISECTION 40            /* steps that one is reckoned to take */
#define CERTAIN (INT64_MAX / 8) /* intervals within it have not been cut off */

/* ---- building lists ---- */

bool
cost__of_indices(const struct expr *e)
{
    if (e->loads || e->kind > KIND_INT || e->op == OP_REDUCE)
        return false;
    for (unsigned i = 0; i < e->count; i++)
        if (!cost__of_indices(e->args[i]))
            return false;
    return true;
}

static const struct cond *
add_atom(struct counter *counter, const struct cond *rest, struct atom atom)
{
    struct cond *cond = arena_alloc(counter->arena, sizeof *cond);
    cond->next = rest;
    cond->atom = atom;
    return cond;
}

const struct cond *
cost__within(struct counter *counter, const struct cond *rest, const struct expr *e, int64_t low,
             int64_t high)
{
    return add_atom(counter, rest, (struct atom){.a = e, .low = low, .high = high});
}

const struct cond *
cost__deny(struct counter *counter, const struct cond *rest, const struct cond *denied)
{
    struct cond *cond = arena_alloc(counter->arena, sizeof *cond);
    cond->next = rest;
    cond->denied = denied;
    return cond;
}

static enum op
opposite(enum op op)
{
    switch (op) {
    case OP_LT:
        return OP_GE;
    case OP_LE:
        return OP_GT;
    case OP_GT:
        return OP_LE;
    case OP_GE:
        return OP_LT;
    case OP_EQ:
        return OP_NE;
    default:
        return OP_EQ;
    }
}

/* Moves a constant b into the bounds, so that conditions on the same value can be seen to be so. */
static struct atom
absorb(struct atom atom)
{
    if (!expr_is_constant(atom.b))
        return atom;
    int64_t shift = expr_integer(atom.b), low = atom.low, high = atom.high;
    if ((low == INT64_MIN || num_add(low, shift, &low)) &&
        (high == INT64_MAX || num_add(high, shift, &high)))
        return (struct atom){.a = atom.a, .low = low, .high = high};
    return atom;
}

static const struct cond *
hold_comparison(struct counter *counter, const struct cond *rest, const struct expr *e, bool want)
{
    struct atom atom = {.a = e->args[0], .b = e->args[1], .low = INT64_MIN, .high = INT64_MAX};
    switch (want ? e->op : opposite(e->op)) {
    case OP_LT:
        atom.high = -1;
        break;
    case OP_LE:
        atom.high = 0;
        break;
    case OP_GT:
        atom.low = 1;
        break;
    case OP_GE:
        atom.low = 0;
        break;
    case OP_EQ:
        atom.low = atom.high = 0;
        break;
    default:
        atom.low = atom.high = 0;
        return cost__deny(counter, rest, add_atom(counter, NULL, absorb(atom)));
    }
    return add_atom(counter, rest, absorb(atom));
}

const struct cond *
cost__hold(struct counter *counter, const struct cond *rest, const struct expr *e, bool want)
{
    if (e->op == OP_NOT)
        return cost__hold(counter, rest, e->args[0], !want);
    if (e->op == (want ? OP_AND : OP_OR)) {
        rest = cost__hold(counter, rest, e->args[0], want);
        return cost__hold(counter, rest, e->args[1], want);
    }
    if (!cost__of_indices(e)) {
        counter->exact = false;
        return rest;
    }
    if (e->op == OP_AND || e->op == OP_OR)
        return cost__deny(counter, rest, cost__hold(counter, NULL, e, !want));
    if (e->op >= OP_LT && e->op <= OP_NE)
        return hold_comparison(counter, rest, e, want);
    return cost__within(counter, rest, e, want, want);
}

/* ---- one condition at one point ---- */

static int64_t
wrap(__int128 value)
{
    return (int64_t)(uint64_t)value;
}

static int64_t
cast_value(enum dtype dtype, int64_t a)
{
    switch (dtype) {
    case DTYPE_I32:
        return (int32_t)a;
    case DTYPE_I8:
        return (int8_t)a;
    case DTYPE_U8:
        return (uint8_t)a;
    default:
        return dtype == DTYPE_BOOL ? a != 0 : a;
    }
}

static int64_t
value(const struct expr *e, const int64_t *at)
{
    int64_t result;
    switch (e->op) {
    case OP_INT:
        return e->integer;
    case OP_DIM:
        return e->dim->size;
    case OP_INDEX:
        return at[e->level];
    case OP_NEG:
        return wrap(-(__int128)value(e->args[0], at));
    case OP_NOT:
        return !value(e->args[0], at);
    case OP_ABS: {
        int64_t a = value(e->args[0], at);
        return a < 0 ? wrap(-(__int128)a) : a;
    }
    case OP_SIGN: {
        int64_t a = value(e->args[0], at);
        return (a > 0) - (a < 0);
    }
    case OP_CAST:
        return cast_value(e->dtype, value(e->args[0], at));
    case OP_IF:
        return value(e->args[value(e->args[0], at) ? 1 : 2], at);
    case OP_FLOOR:
    case OP_CEIL:
    case OP_ROUND:
    case OP_TRUNC:
        return value(e->args[0], at);
    default:
        assert(e->count == 2);
        apply_int(e->op, value(e->args[0], at), value(e->args[1], at), &result);
        return result; /* 0 where it overflows: no subscript does */
    }
}

static __int128
difference(const struct atom *atom, const int64_t *at)
{
    return (__int128)value(atom->a, at) - (atom->b ? value(atom->b, at) : 0);
}

static bool
holds(const struct atom *atom, const int64_t *at)
{
    __int128 v = difference(atom, at);
    return v >= atom->low && v <= atom->high;
}

/* ---- how a condition depends on one index ---- */

/* The constant k in e = k*index + rest; false if there is none. */
static bool
slope(const struct expr *e, unsigned level, int64_t *k)
{
    int64_t a, b;
    *k = 0;
    if (!(e->free >> level & 1))
        return true;
    switch (e->op) {
    case OP_INDEX:
        *k = 1;
        return true;
    case OP_NEG:
        return slope(e->args[0], level, &a) && num_sub(0, a, k);
    case OP_ADD:
        return slope(e->args[0], level, &a) && slope(e->args[1], level, &b) && num_add(a, b, k);
    case OP_SUB:
        return slope(e->args[0], level, &a) && slope(e->args[1], level, &b) && num_sub(a, b, k);
    case OP_MUL:
        for (unsigned i = 0; i < 2; i++)
            if (expr_is_constant(e->args[i]))
                return slope(e->args[1 - i], level, &a) && num_mul(a, expr_integer(e->args[i]), k);
        return false;
    default:
        return false;
    }
}

static int
both_ways(int a, int b)
{
    if (a == 0 || a == b)
        return b;
    return b == 0 ? a : MIXED;
}

static int
turned(int direction, int64_t sign)
{
    if (direction == MIXED || sign == 0)
        return sign == 0 ? 0 : MIXED;
    return sign < 0 ? -direction : direction;
}

/* 1: never falls as the index rises, -1: never rises, 0: does not change. */
static int
direction(const struct expr *e, unsigned level)
{
    if (!(e->free >> level & 1))
        return 0;
    switch (e->op) {
    case OP_INDEX:
        return 1;
    case OP_NEG:
        return turned(direction(e->args[0], level), -1);
    case OP_ADD:
    case OP_MIN:
    case OP_MAX:
        return both_ways(direction(e->args[0], level), direction(e->args[1], level));
    case OP_SUB:
        return both_ways(direction(e->args[0], level), turned(direction(e->args[1], level), -1));
    case OP_MUL:
    case OP_DIV:
        if (!expr_is_constant(e->args[1]))
            return MIXED;
        return turned(direction(e->args[0], level), expr_integer(e->args[1]));
    default:
        return MIXED;
    }
}

/* How an atom is solved for the index of one level. */
struct solution {
    bool affine;
    int64_t slope;
    int direction;
};

static struct solution
solve(const struct atom *atom, unsigned level)
{
    struct solution s = {.direction = direction(atom->a, level)};
    int64_t a = 0, b = 0;
    if (atom->b)
        s.direction = both_ways(s.direction, turned(direction(atom->b, level), -1));
    s.affine = slope(atom->a, level, &a) && (!atom->b || slope(atom->b, level, &b)) &&
               num_sub(a, b, &s.slope);
    return s;
}

/* ---- counting ---- */

static __int128
floor_div(__int128 a, __int128 b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static void
narrow(struct span *span, __int128 low, __int128 high)
{
    if (low > span->low)
        span->low = low > INT64_MAX ? INT64_MAX : (int64_t)low;
    if (high < span->high)
        span->high = high < INT64_MIN ? INT64_MIN : (int64_t)high;
}

static void
narrow_affine(const struct atom *atom, int64_t k, unsigned level, int64_t *at, struct span *span)
{
    at[level] = 0;
    __int128 v = difference(atom, at);
    if (k == 0) {
        if (v < atom->low || v > atom->high)
            span->high = span->low - 1;
        return;
    }
    __int128 first = k > 0 ? atom->low : atom->high, last = k > 0 ? atom->high : atom->low;
    narrow(span, -floor_div(-(first - v), k), floor_div(last - v, k));
}

/* The first index in the span at which (value >= limit) != falling; one past it if there is none.
 */
static int64_t
bisect(const struct atom *atom, unsigned level, int64_t *at, struct span span, __int128 limit,
       bool falling)
{
    int64_t low = span.low, high = span.high + 1;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        at[level] = middle;
        if ((difference(atom, at) >= limit) != falling)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void
narrow_monotone(const struct atom *atom, bool falling, unsigned level, int64_t *at,
                struct span *span)
{
    __int128 enter = falling ? (__int128)atom->high + 1 : atom->low;
    __int128 leave = falling ? atom->low : (__int128)atom->high + 1;
    int64_t first = bisect(atom, level, at, *span, enter, falling);
    int64_t end = bisect(atom, level, at, *span, leave, falling);
    *span = (struct span){first, end - 1};
}

struct component {
    struct atom atom[MOST_ATOMS];
    struct solution solution[MOST_ATOMS];
    unsigned count;
    uint32_t levels;
    int inner; /* the level that is solved for, or -1 */
};

static int64_t
solve_inner(const struct component *component, const struct box *box, int64_t *at)
{
    unsigned level = component->inner;
    struct span span = {0, box->size[level] - 1};
    for (unsigned i = 0; i < component->count && span.low <= span.high; i++) {
        const struct solution *s = &component->solution[i];
        if (s->affine)
            narrow_affine(&component->atom[i], s->slope, level, at, &span);
        else
            narrow_monotone(&component->atom[i], s->direction < 0, level, at, &span);
    }
    return span.low <= span.high ? span.high - span.low + 1 : 0;
}

static int64_t
points_here(const struct component *component, const struct box *box, int64_t *at)
{
    if (component->inner >= 0)
        return solve_inner(component, box, at);
    for (unsigned i = 0; i < component->count; i++)
        if (!holds(&component->atom[i], at))
            return 0;
    return 1;
}

/* Steps to the next point of the enumerated levels; false after the last one. */
static bool
advance(const struct component *component, const struct box *box, int64_t *at)
{
    for (unsigned l = 0; l < box->count; l++) {
        if (!(component->levels >> l & 1) || (int)l == component->inner)
            continue;
        if (++at[l] < box->size[l])
            return true;
        at[l] = 0;
    }
    return false;
}

static double
enumerate(const struct component *component, const struct box *box)
{
    int64_t at[LANG_MAX_LEVELS] = {0};
    double points = 0;
    do
        points += (double)points_here(component, box, at);
    while (advance(component, box, at));
    return points;
}

/* Steps that counting takes if this level is solved for (-1: none); infinite if it cannot be. */
static double
effort(struct component *component, const struct box *box, int inner)
{
    double steps = 0, points = 1;
    for (unsigned i = 0; i < component->count; i++) {
        const struct atom *atom = &component->atom[i];
        double once = 2.0 + atom->a->tree + (atom->b ? atom->b->tree : 0);
        if (inner >= 0) {
            struct solution s = component->solution[i] = solve(atom, inner);
            if (!s.affine && s.direction == MIXED)
                return 1e300;
            once *= s.affine ? 1 : BISECTION;
        }
        steps += once;
    }
    for (unsigned l = 0; l < box->count; l++)
        if ((component->levels >> l & 1) && (int)l != inner)
            points *= (double)box->size[l];
    return steps * points;
}

static double
box_points(const struct box *box, uint32_t levels)
{
    double points = 1;
    for (unsigned l = 0; l < box->count; l++)
        if (levels >> l & 1)
            points *= (double)box->size[l];
    return points;
}

static double
component_points(struct counter *counter, const struct box *box, struct component *component)
{
    double least = effort(component, box, -1);
    component->inner = -1;
    for (unsigned l = 0; l < box->count; l++) {
        double steps = component->levels >> l & 1 ? effort(component, box, l) : 1e300;
        if (steps < least) {
            least = steps;
            component->inner = l;
        }
    }
    if (least > (double)counter->budget) {
        counter->exact = false;
        return box_points(box, component->levels);
    }
    counter->budget -= (int64_t)least;
    effort(component, box, component->inner); /* leaves the solutions for that level */
    return enumerate(component, box);
}

static uint32_t
levels_of(const struct atom *atom)
{
    return atom->a->free | (atom->b ? atom->b->free : 0);
}

/* 1: holds everywhere, 0: nowhere, -1: to be counted. */
static int
decide(const struct atom *atom, const struct box *box)
{
    struct span a = cost__span(atom->a, box), b = {0, 0};
    if (atom->b)
        b = cost__span(atom->b, box);
    __int128 low = (__int128)a.low - b.high, high = (__int128)a.high - b.low;
    if (low < -CERTAIN || high > CERTAIN)
        return -1;
    if (low >= atom->low && high <= atom->high)
        return 1;
    return low > atom->high || high < atom->low ? 0 : -1;
}

/* Moves the atoms that share indices, directly or not, with the first one into the component. */
static unsigned
take_component(struct atom *atoms, unsigned count, struct component *component)
{
    uint32_t before;
    component->levels = levels_of(&atoms[0]);
    do {
        before = component->levels;
        for (unsigned i = 0; i < count; i++)
            if (levels_of(&atoms[i]) & component->levels)
                component->levels |= levels_of(&atoms[i]);
    } while (component->levels != before);
    unsigned left = 0;
    component->count = 0;
    for (unsigned i = 0; i < count; i++) {
        if (i == 0 || levels_of(&atoms[i]) & component->levels)
            component->atom[component->count++] = atoms[i];
        else
            atoms[left++] = atoms[i];
    }
    return left;
}

/* Adds a condition to those of `count` others, or narrows the one on the same value. */
static bool
gather(struct atom *atoms, unsigned *count, const struct atom *atom)
{
    for (unsigned i = 0; i < *count; i++)
        if (atoms[i].a == atom->a && atoms[i].b == atom->b) {
            atoms[i].low = atom->low > atoms[i].low ? atom->low : atoms[i].low;
            atoms[i].high = atom->high < atoms[i].high ? atom->high : atoms[i].high;
            return true;
        }
    if (*count == MOST_ATOMS)
        return false;
    atoms[(*count)++] = *atom;
    return true;
}

/* A list without denied ones. */
static double
points_of_atoms(struct counter *counter, const struct box *box, const struct cond *list)
{
    struct atom atoms[MOST_ATOMS];
    unsigned count = 0;
    for (; list != NULL; list = list->next) {
        int decided = decide(&list->atom, box);
        counter->budget -= LOOK;
        if (decided == 0)
            return 0;
        if (decided < 0 && !gather(atoms, &count, &list->atom))
            counter->exact = false;
    }
    double points = 1;
    uint32_t bound = 0;
    while (count > 0 && points > 0) {
        struct component component;
        count = take_component(atoms, count, &component);
        points *= component_points(counter, box, &component);
        bound |= component.levels;
    }
    return points * box_points(box, ~bound);
}

/* `list` without its entry `gone`, in front of `rest`. */
static const struct cond *
without(struct counter *counter, const struct cond *list, const struct cond *gone,
        const struct cond *rest)
{
    for (; list != NULL; list = list->next) {
        if (list == gone)
            continue;
        struct cond *copy = arena_alloc(counter->arena, sizeof *copy);
        *copy = *list;
        copy->next = rest;
        rest = copy;
    }
    return rest;
}

double
cost__points(struct counter *counter, const struct box *box, const struct cond *list)
{
    const struct cond *denied = NULL;
    unsigned count = 0;
    if (list != NULL && counter->budget <= 0) {
        counter->exact = false;
        return box_points(box, ~0u);
    }
    for (const struct cond *c = list; c != NULL; c = c->next)
        if (c->denied != NULL) {
            denied = c;
            count++;
        }
    if (denied == NULL)
        return points_of_atoms(counter, box, list);
    const struct cond *rest = without(counter, list, denied, NULL);
    double all = cost__points(counter, box, rest);
    if (all == 0)
        return 0;
    if (count > MOST_DENIED) {
        counter->exact = false;
        return all;
    }
    /* If those denied cannot be counted, none is taken away: the condition passes. */
    struct counter inner = *counter;
    inner.exact = true;
    double gone = cost__points(&inner, box, without(counter, denied->denied, NULL, rest));
    counter->budget = inner.budget;
    counter->exact &= inner.exact;
    return inner.exact ? all - gone : all;
}
