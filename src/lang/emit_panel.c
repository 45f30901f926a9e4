/* Which sums of products become blocked vector code, and how their indices are shared out.
 *
 * The left indices are divided into rows, lanes and outer ones such that every operand of the sum's
 * terms depends on rows or on lanes but not on both; only + - * and their like join the two. The
 * operands are then computed by scalar code once a tile, into panels of numbers (which also does
 * padding, transposition and conversion), and used for every row or every lane of the tile.
 *
 * An index that occurs as i/b and i%b is two axes where b divides its extent: the groups of a
 * convolution become outer, their channels rows.
 */
#include "lang/emit_panel_int.h"

#include "base/num.h"

#include <assert.h>

#define PANEL_TREE 60 /* operations of the terms, written out */
#define EXACT_INTEGERS ((int64_t)1 << 52)

/* Costs of one term for one element, in cycles, as found on a Zen 3. */
#define COST_VECTOR 0.5 /* with all lanes in use */
#define COST_FILL 8.0   /* one number of a panel */
#define COST_PLAIN 6.0

/* ---- axes ---- */

static bool
is_level(const struct expr *e, unsigned level)
{
    return e->op == OP_INDEX && e->level == level;
}

/* b if e is index/b or index%b. */
static int64_t
divisor_of(const struct expr *e, unsigned level)
{
    if ((e->op != OP_DIV && e->op != OP_MOD) || e->args[1]->op != OP_INT ||
        !is_level(e->args[0], level))
        return 0;
    return e->args[1]->integer;
}

static int64_t
find_divisor(const struct expr *e, unsigned level)
{
    int64_t found = divisor_of(e, level);

    for (unsigned i = 0; i < e->count && !found && e->tree < 1000; i++)
        if (e->args[i]->free >> level & 1)
            found = find_divisor(e->args[i], level);
    return found;
}

static void
add_axis(struct panel *p, unsigned level, int64_t extent, int64_t stride)
{
    p->axes[p->axis_count++] = (struct axis){.level = level, .extent = extent, .stride = stride};
}

static void
find_axes(struct panel *p, bool split)
{
    const struct emitter *em = p->em;

    p->axis_count = 0;
    for (unsigned l = 0; l < em->stage->tensor->rank; l++) {
        int64_t extent = em->extent[l], b = split ? find_divisor(p->reduce, l) : 0;
        if (em->stage->rec >= 0 && em->stage->carried == l)
            continue;
        if (b > 1 && b < extent && extent % b == 0 && p->axis_count + 2 < PANEL_AXES) {
            add_axis(p, l, extent / b, b);
            add_axis(p, l, b, 1);
        } else {
            add_axis(p, l, extent, 1);
        }
    }
}

static uint32_t
axes_of_level(const struct panel *p, unsigned level, int64_t stride)
{
    uint32_t axes = 0;

    for (unsigned a = 0; a < p->axis_count; a++)
        if (p->axes[a].level == level && (stride == 0 || p->axes[a].stride == stride))
            axes |= 1u << a;
    return axes;
}

uint32_t
panel_axes(const struct panel *p, const struct expr *e)
{
    struct node *node = &p->em->nodes[emit_key(e, KIND_F32)];
    uint32_t axes = 0;

    if (e->op == OP_INDEX)
        return axes_of_level(p, e->level, 0);
    if (e->free == 0)
        return 0;
    if (node->axes_known == p->em->walk)
        return node->axes;
    for (unsigned i = 0; i < e->count; i++)
        axes |= panel_axes(p, e->args[i]);
    if (e->op == OP_CAT)
        axes |= axes_of_level(p, e->binder->level, 0);
    if ((e->op == OP_DIV || e->op == OP_MOD) && e->args[0]->op == OP_INDEX) {
        unsigned level = e->args[0]->level;
        int64_t b = divisor_of(e, level);
        uint32_t high = b > 1 ? axes_of_level(p, level, b) : 0;
        if (high)
            axes = e->op == OP_DIV ? high : axes_of_level(p, level, 1);
    }
    node->axes_known = p->em->walk;
    node->axes = axes;
    return axes;
}

uint32_t
panel_levels(const struct panel *p, enum side side)
{
    uint32_t levels = 0;

    for (unsigned a = 0; a < p->axis_count; a++)
        if (p->axes[a].side == side)
            levels |= 1u << p->axes[a].level;
    return levels;
}

static uint32_t
side_axes(const struct panel *p, enum side side)
{
    uint32_t axes = 0;

    for (unsigned a = 0; a < p->axis_count; a++)
        if (p->axes[a].side == side)
            axes |= 1u << a;
    return axes;
}

bool
panel_is_mixed(const struct panel *p, const struct expr *e)
{
    uint32_t axes = panel_axes(p, e);

    return (axes & side_axes(p, SIDE_ROW)) && (axes & side_axes(p, SIDE_LANE));
}

/* ---- what vectors can do ---- */

bool
panel_is_vector(const struct panel *p, const struct expr *e)
{
    const struct emitter *em = p->em;

    if (emit_kind(e, p->kind) != p->kind)
        return false;
    switch (e->op) {
    case OP_ADD:
    case OP_SUB:
        if (em->bounds && emit_joins_sums(e, p->kind))
            return false;
        break;
    case OP_MUL:
    case OP_NEG:
    case OP_ABS:
        break;
    case OP_MIN:
    case OP_MAX:
        if (!emit_is_exact(em, e, p->kind))
            return false;
        break;
    default:
        return false;
    }
    struct interval range = emit_interval(em, e);
    return p->kind > KIND_INT || (range.low > -EXACT_INTEGERS && range.high < EXACT_INTEGERS);
}

/* The operands below the vector operations; false if there are too many. */
struct operands {
    const struct expr *items[2 * PANEL_SLOTS];
    unsigned count;
};

static bool
find_operands(const struct panel *p, const struct expr *e, struct operands *all)
{
    if (panel_is_vector(p, e)) {
        for (unsigned i = 0; i < e->count; i++)
            if (!find_operands(p, e->args[i], all))
                return false;
        return true;
    }
    for (unsigned i = 0; i < all->count; i++)
        if (all->items[i] == e)
            return true;
    if (all->count == 2 * PANEL_SLOTS)
        return false;
    all->items[all->count++] = e;
    return true;
}

/* Each side of && is an operand of its own. */
static bool
find_conjuncts(const struct expr *filter, struct operands *all)
{
    if (filter->op == OP_AND)
        return find_conjuncts(filter->args[0], all) && find_conjuncts(filter->args[1], all);
    if (all->count == 2 * PANEL_SLOTS)
        return false;
    all->items[all->count++] = filter;
    return true;
}

/* ---- sharing out ---- */

static void
count_sides(struct panel *p)
{
    for (unsigned s = 0; s < 3; s++)
        p->count[s] = 1;
    for (unsigned a = 0; a < p->axis_count; a++)
        p->count[p->axes[a].side] *= p->axes[a].extent;
}

static double
share_cost(const struct panel *p)
{
    double rows = (double)p->count[SIDE_ROW], lanes = (double)p->count[SIDE_LANE];
    double used = lanes / (8 * ((double)(int64_t)((lanes + 7) / 8)));
    const struct axis *last = &p->axes[p->axis_count - 1];
    double cost = COST_VECTOR / used;

    cost += COST_FILL / (rows < 64 ? rows : 64) + COST_FILL / (lanes < 64 ? lanes : 64);
    return last->side == SIDE_LANE ? cost : 1.01 * cost; /* results then lie together */
}

static bool
fits(const struct panel *p, const struct operands *all)
{
    for (unsigned i = 0; i < all->count; i++)
        if (panel_is_mixed(p, all->items[i]))
            return false;
    return panel_is_mixed(p, p->body);
}

/* Tries all ways; the best one stays in p->axes. */
static double
share_axes(struct panel *p, const struct operands *all)
{
    unsigned ways = 1, best = 0;
    double least = COST_PLAIN;

    p->em->walk++; /* forget other axes */
    for (unsigned a = 0; a < p->axis_count; a++)
        ways *= 3;
    for (unsigned way = 1; way <= ways; way++) {
        unsigned rest = way == ways ? best : way;
        for (unsigned a = 0; a < p->axis_count; a++, rest /= 3)
            p->axes[a].side = (enum side)(rest % 3);
        count_sides(p);
        if (way == ways || !fits(p, all))
            continue;
        double cost = share_cost(p);
        if (cost < least) {
            least = cost;
            best = way;
        }
    }
    return best ? least : COST_PLAIN;
}

/* ---- slots ---- */

static bool
has_slot(const struct panel *p, const struct expr *e)
{
    for (unsigned i = 0; i < p->slot_count; i++)
        if (p->slots[i].e == e)
            return true;
    return false;
}

static bool
is_plain_constant(const struct panel *p, const struct expr *e)
{
    return (e->op == OP_INT || e->op == OP_REAL) && emit_is_exact(p->em, e, p->kind);
}

/* The largest parts that are not mixed. */
static bool
find_slots(struct panel *p, const struct expr *e)
{
    if (panel_is_mixed(p, e)) {
        for (unsigned i = 0; i < e->count; i++)
            if (!find_slots(p, e->args[i]))
                return false;
        return true;
    }
    if (is_plain_constant(p, e) || has_slot(p, e))
        return true;
    if (p->slot_count == PANEL_SLOTS)
        return false;
    bool lane = panel_axes(p, e) & side_axes(p, SIDE_LANE);
    p->slots[p->slot_count++] = (struct slot){
        .e = e, .side = lane ? SIDE_LANE : SIDE_ROW, .exact = emit_is_exact(p->em, e, p->kind)};
    return true;
}

static bool
find_filters(struct panel *p, const struct expr *filter)
{
    struct operands all = {.count = 0};

    if (!filter)
        return true;
    if (!find_conjuncts(filter, &all) || all.count > PANEL_SLOTS)
        return false;
    for (unsigned i = 0; i < all.count; i++) {
        const struct expr *e = all.items[i];
        bool lane = panel_axes(p, e) & side_axes(p, SIDE_LANE);
        p->conjuncts[lane][p->conjunct_count[lane]++] = e;
    }
    return true;
}

/* ---- the choice ---- */

static enum sums
find_sums(const struct panel *p)
{
    if (!p->em->bounds || p->kind <= KIND_INT)
        return SUM_PLAIN;
    if (emit_sums_products(p->em, p->reduce, p->kind))
        return SUM_PRODUCTS;
    return emit_is_exact(p->em, p->body, p->kind) ? SUM_EXACT : SUM_GENERAL;
}

static int64_t
tiles(const struct panel *p)
{
    int64_t rows = (p->count[SIDE_ROW] + p->rows - 1) / p->rows;

    return p->count[SIDE_OUTER] * rows * ((p->count[SIDE_LANE] + PANEL_LANES - 1) / PANEL_LANES);
}

static void
find_sizes(struct panel *p)
{
    enum reduction form = p->reduce->binder->reduction;
    bool sixteen = p->em->options.form == EMIT_SIXTEEN;

    p->sums = find_sums(p);
    p->rounds = p->body->op == OP_ADD || p->body->op == OP_SUB || p->body->op == OP_MUL;
    p->counts =
        expr_filter(p->reduce) && (form == REDUCE_MEAN || (p->em->bounds && p->kind > KIND_INT));
    p->rows = sixteen ? 16 : 64;
    while (p->rows > 8 && (tiles(p) < 16 || p->rows >= 2 * p->count[SIDE_ROW]))
        p->rows /= 2;
    p->chunk = p->sums == SUM_GENERAL || p->slot_count > 3 ? 128 : 256;
    if (p->chunk > p->terms)
        p->chunk = (p->terms + 15) / 16 * 16;
    p->width = sixteen ? 1 : p->sums == SUM_PLAIN ? 8 : p->sums == SUM_GENERAL ? 2 : 4;
}

static bool
is_sum(const struct panel *p)
{
    const struct expr *filter = expr_filter(p->reduce);
    struct interval range;
    int64_t most;

    if (p->reduce->binder->reduction > REDUCE_MEAN || p->terms < 4)
        return false;
    if (p->em->bounds && p->kind > KIND_INT && tensor_is_few(p->em->stage->tensor))
        return false; /* tiles have no sums of partial sums */
    if (filter && !emit_is_exact(p->em, filter, KIND_BOOL))
        return false;
    if (p->kind > KIND_INT)
        return true;
    range = emit_interval(p->em, p->body);
    most = -range.low > range.high ? -range.low : range.high;
    return emit_is_exact(p->em, p->reduce, p->kind) && num_mul(most, p->terms, &most) &&
           most < EXACT_INTEGERS;
}

bool
emit_panel(struct emitter *em)
{
    struct panel p = {.em = em, .reduce = em->reduce};
    struct operands all = {.count = 0};

    if (!em->reduce)
        return false;
    const struct expr *filter = expr_filter(em->reduce);
    p.body = em->reduce->args[0];
    p.kind = emit_met(em->reduce, 0, emit_kind(em->reduce, KIND_F32));
    p.terms = expr_terms(em->reduce);
    if (p.body->tree > PANEL_TREE || !is_sum(&p) || !panel_is_vector(&p, p.body) ||
        !find_operands(&p, p.body, &all))
        return false;
    if (filter && !find_conjuncts(filter, &all))
        return false;
    find_axes(&p, false);
    if (share_axes(&p, &all) >= COST_PLAIN) {
        find_axes(&p, true);
        if (share_axes(&p, &all) >= COST_PLAIN)
            return false;
    }
    if (!find_slots(&p, p.body) || !find_filters(&p, filter))
        return false;
    find_sizes(&p);
    panel_print(&p);
    return true;
}
