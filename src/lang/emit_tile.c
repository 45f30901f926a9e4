/* The text of a stage whose sum is computed in tiles of rows and lanes.
 *
 *   for each tile (in parallel):
 *       for each chunk of terms:
 *           fill the lane panels [vector][term] and the row panels [row][term]
 *           for each row, for a few vectors of lanes: add the chunk's terms to the accumulators
 *       for each element of the tile: what comes of the sums; store
 *
 * Every accumulator belongs to one element and meets its terms in order, whatever the tile's shape
 * or the number of threads.
 */
#include "lang/emit_panel_int.h"

#include <assert.h>
#include <string.h>

/* Terms below which a team costs more than it brings; in a rec block it is called at every step. */
#define PARALLEL_TERMS 1e5
#define PARALLEL_STEPS 1e6

/* How this panel's numbers are called: in double, or in float for the f32 kernels. */
struct numbers {
    const char *scalar, *vector, *mask, *lanes, *integer;
};

static struct numbers
numbers_of(const struct panel *p)
{
    if (p->kind == KIND_F32 && !p->em->bounds)
        return (struct numbers){"float", "vf", "mf", "LANES_F", "int32_t"};
    return (struct numbers){"double", "vd", "md", "LANES_D", "int64_t"};
}

static bool
is_sixteen(const struct panel *p)
{
    return p->em->options.form == EMIT_SIXTEEN && p->kind > KIND_INT;
}

/* Sixteen of this accumulator, in memory; the others are one, in registers. */
static bool
takes_turns(const struct panel *p, char letter)
{
    return is_sixteen(p) && letter == 's';
}

/* The accumulators by their letters. */
static const char *
letters(const struct panel *p)
{
    static const char *const of_sums[] = {"s", "sqa", "sqa", "sqagc"};
    static const char *const with_count[] = {"sn", "sqan", "sqan", "sqagcn"};

    return p->counts ? with_count[p->sums] : of_sums[p->sums];
}

/* ---- indices ---- */

/* Index names as seen where the axes of `hidden` have no value: their part is left out. */
static void
name_levels(struct panel *p, int hidden)
{
    struct emitter *em = p->em;
    bool seen[LANG_MAX_LEVELS] = {false};

    for (unsigned a = 0; a < p->axis_count; a++) {
        const struct axis *axis = &p->axes[a];
        const char *part = axis->stride == 1
                               ? emit_text(em, "j%u", a)
                               : emit_text(em, "j%u * %lld", a, (long long)axis->stride);
        if ((int)axis->side == hidden)
            part = NULL;
        if (!seen[axis->level])
            em->index[axis->level] = part ? part : "0";
        else if (part)
            em->index[axis->level] = strcmp(em->index[axis->level], "0") == 0
                                         ? part
                                         : emit_text(em, "%s + %s", em->index[axis->level], part);
        seen[axis->level] = true;
    }
    for (unsigned a = 0; a < p->axis_count; a++) {
        const char **name = &em->index[p->axes[a].level];
        if (strchr(*name, ' ') && **name != '(')
            *name = emit_text(em, "(%s)", *name);
    }
}

static unsigned
axes_on(const struct panel *p, enum side side)
{
    unsigned count = 0;

    for (unsigned a = 0; a < p->axis_count; a++)
        count += p->axes[a].side == side;
    return count;
}

/* The axes of one side from its flat number, the last axis fastest. */
static void
decode_side(const struct panel *p, enum side side, const char *format, const char *flat)
{
    struct emitter *em = p->em;
    int64_t stride = 1;
    unsigned left = axes_on(p, side);

    for (unsigned a = p->axis_count; a-- > 0;) {
        if (p->axes[a].side != side)
            continue;
        const char *value =
            stride == 1 ? flat : emit_text(em, "%s / %lld", flat, (long long)stride);
        if (--left > 0)
            value = emit_text(em, "%s %% %lld", value, (long long)p->axes[a].extent);
        if (*format == 'c')
            emit_line(em, "INDEX j%u = %s;", a, value);
        else
            emit_line(em, "lane_j%u[l] = %s;", a, value);
        stride *= p->axes[a].extent;
    }
}

/* Lanes of several axes are decoded once a tile. */
static bool
has_lane_tables(const struct panel *p)
{
    return axes_on(p, SIDE_LANE) > 1;
}

static void
print_lane_axes(const struct panel *p)
{
    if (!has_lane_tables(p)) {
        decode_side(p, SIDE_LANE, "const", "(lane0 + l)");
        return;
    }
    for (unsigned a = 0; a < p->axis_count; a++)
        if (p->axes[a].side == SIDE_LANE)
            emit_line(p->em, "INDEX j%u = lane_j%u[l];", a, a);
}

static void
print_lane_tables(const struct panel *p)
{
    struct emitter *em = p->em;

    if (!has_lane_tables(p))
        return;
    for (unsigned a = 0; a < p->axis_count; a++)
        if (p->axes[a].side == SIDE_LANE)
            emit_line(em, "int64_t lane_j%u[%d];", a, PANEL_LANES);
    emit_open(em, "for (int l = 0; l < lanes; l++)");
    decode_side(p, SIDE_LANE, "table", "(lane0 + l)");
    emit_close(em);
}

/* ---- terms ---- */

static bool
has_term_tables(const struct panel *p)
{
    return p->reduce->binder->count > 1 || p->em->options.form == EMIT_RANDOM;
}

static uint32_t
term_levels(const struct panel *p)
{
    return ((1u << p->reduce->binder->count) - 1) << p->reduce->binder->level;
}

static void
print_term_tables(const struct panel *p)
{
    struct emitter *em = p->em;
    const struct binder *binder = p->reduce->binder;

    if (!has_term_tables(p))
        return;
    for (unsigned i = 0; i < binder->count; i++)
        emit_line(em, "int64_t term_%s[%lld];", em->index[binder->level + i], (long long)p->chunk);
    emit_open(em, "for (int q = 0; q < terms; q++)");
    if (em->options.form == EMIT_RANDOM && p->kind > KIND_INT)
        emit_line(em, "const int64_t o = %s;", emit_order(em, p->terms, "q0 + q"));
    else
        emit_line(em, "const int64_t o = q0 + q;");
    emit_decode(em, term_levels(p), "o");
    for (unsigned i = 0; i < binder->count; i++) {
        const char *index = em->index[binder->level + i];
        emit_line(em, "term_%s[q] = %s;", index, index);
    }
    emit_close(em);
}

static void
print_term_indices(const struct panel *p)
{
    struct emitter *em = p->em;
    const struct binder *binder = p->reduce->binder;

    for (unsigned i = 0; i < binder->count; i++) {
        const char *index = em->index[binder->level + i];
        if (has_term_tables(p))
            emit_line(em, "INDEX %s = term_%s[q];", index, index);
        else
            emit_line(em, "INDEX %s = q0 + q;", index);
    }
}

/* ---- filling the panels ---- */

static bool
has_panels(const struct panel *p, enum side side)
{
    for (unsigned i = 0; i < p->slot_count; i++)
        if (p->slots[i].side == side)
            return true;
    return p->conjunct_count[side == SIDE_LANE] > 0;
}

static void
use_slots(struct panel *p, enum side side, int scope)
{
    unsigned lane = side == SIDE_LANE;

    for (unsigned i = 0; i < p->slot_count; i++)
        if (p->slots[i].side == side)
            plan_use(p->em, p->slots[i].e, p->kind, scope);
    for (unsigned i = 0; i < p->conjunct_count[lane]; i++)
        plan_use(p->em, p->conjuncts[lane][i], KIND_BOOL, scope);
}

static void
fill_slot(const struct panel *p, unsigned number, const char *at)
{
    const struct slot *slot = &p->slots[number];
    struct emitter *em = p->em;

    if (slot->exact) {
        const char *value = emit_number(em, slot->e, p->kind);
        if (p->kind <= KIND_INT)
            value = emit_text(em, "(double)(%s)", value);
        emit_line(em, "p%u[%s] = %s;", number, at, value);
        return;
    }
    emit_line(em, "const val y%u = %s;", number, emit_val(em, slot->e, p->kind));
    emit_line(em, "p%u[%s] = y%u.v;", number, at, number);
    emit_line(em, "p%ug[%s] = g_square(y%u.g);", number, at, number);
    emit_line(em, "p%uc[%s] = y%u.c;", number, at, number);
}

static void
fill_slots(const struct panel *p, enum side side, const char *at)
{
    struct emitter *em = p->em;
    unsigned lane = side == SIDE_LANE;
    const char *test = "";

    for (unsigned i = 0; i < p->slot_count; i++)
        if (p->slots[i].side == side)
            fill_slot(p, i, at);
    for (unsigned i = 0; i < p->conjunct_count[lane]; i++) {
        const char *conjunct = emit_number(em, p->conjuncts[lane][i], KIND_BOOL);
        test = emit_text(em, i ? "%s && (%s)" : "%s(%s)", test, conjunct);
    }
    if (*test)
        emit_line(em, "%s[%s] = %s ? -1 : 0;", lane ? "lane_mask" : "row_mask", at, test);
}

/* Lanes that only fill up the last vector hold zeros. */
static void
clear_padding(const struct panel *p)
{
    struct emitter *em = p->em;
    struct numbers n = numbers_of(p);

    emit_open(em, "for (int l = lanes; l < vectors * %s; l++)", n.lanes);
    emit_line(em, "const int to = (l / %s * %lld + q) * %s + l %% %s;", n.lanes,
              (long long)p->chunk, n.lanes, n.lanes);
    for (unsigned i = 0; i < p->slot_count; i++) {
        if (p->slots[i].side != SIDE_LANE)
            continue;
        emit_line(em, p->slots[i].exact ? "p%u[to] = 0;" : "p%u[to] = p%ug[to] = p%uc[to] = 0;", i,
                  i, i);
    }
    if (p->conjunct_count[1])
        emit_line(em, "lane_mask[to] = 0;");
    emit_close(em);
}

static void
fill_lanes(struct panel *p)
{
    struct emitter *em = p->em;
    struct numbers n = numbers_of(p);

    if (!has_panels(p, SIDE_LANE))
        return;
    name_levels(p, SIDE_ROW);
    plan_begin(em);
    int tile = plan_loop(em, -1, 0);
    int term = plan_loop(em, tile, term_levels(p));
    int lane = plan_loop(em, term, panel_levels(p, SIDE_LANE));
    use_slots(p, SIDE_LANE, lane);
    plan_end(em);
    emit_open(em, "%s", "");
    emit_scope(em, tile);
    emit_open(em, "for (int q = 0; q < terms; q++)");
    print_term_indices(p);
    emit_scope(em, term);
    emit_open(em, "for (int l = 0; l < lanes; l++)");
    print_lane_axes(p);
    emit_scope(em, lane);
    emit_line(em, "const int to = (l / %s * %lld + q) * %s + l %% %s;", n.lanes,
              (long long)p->chunk, n.lanes, n.lanes);
    fill_slots(p, SIDE_LANE, "to");
    emit_close(em);
    clear_padding(p);
    emit_close(em);
    emit_close(em);
}

static void
fill_rows(struct panel *p)
{
    struct emitter *em = p->em;

    if (!has_panels(p, SIDE_ROW))
        return;
    name_levels(p, SIDE_LANE);
    plan_begin(em);
    int tile = plan_loop(em, -1, 0);
    int row = plan_loop(em, tile, panel_levels(p, SIDE_ROW));
    int term = plan_loop(em, row, term_levels(p));
    use_slots(p, SIDE_ROW, term);
    plan_end(em);
    emit_open(em, "%s", "");
    emit_scope(em, tile);
    emit_open(em, "for (int r = 0; r < rows; r++)");
    decode_side(p, SIDE_ROW, "const", "(row0 + r)");
    emit_scope(em, row);
    emit_open(em, "for (int q = 0; q < terms; q++)");
    print_term_indices(p);
    emit_scope(em, term);
    emit_line(em, "const int to = r * %lld + q;", (long long)p->chunk);
    fill_slots(p, SIDE_ROW, "to");
    emit_close(em);
    emit_close(em);
    emit_close(em);
}

/* ---- vector arithmetic ---- */

/* A number as a vector expression: its value, and where it is not exact g (squared) and c. */
struct lane {
    const char *v, *g, *c; /* g and c are NULL if exact */
};

/* What is known while the terms of one vector are printed. */
struct weaver {
    struct panel *p;
    unsigned vector; /* its number among those taken together */
    bool fast;       /* nothing is infinite or NaN: checked after the chunk */
    struct {
        const struct expr *e;
        struct lane lane;
    } done[64];
    unsigned count;
};

static struct lane
weave(struct weaver *w, const struct expr *e, bool root);

static struct lane
slot_lane(struct weaver *w, const struct expr *e)
{
    struct panel *p = w->p;
    struct emitter *em = p->em;

    for (unsigned i = 0; i < p->slot_count; i++) {
        if (p->slots[i].e != e)
            continue;
        const char *suffix = p->slots[i].side == SIDE_LANE ? emit_text(em, "_%u", w->vector) : "";
        struct lane lane = {.v = emit_text(em, "x%u%s", i, suffix)};
        if (!p->slots[i].exact) {
            lane.g = emit_text(em, "x%ug%s", i, suffix);
            lane.c = emit_text(em, "x%uc%s", i, suffix);
        }
        return lane;
    }
    if (e->op == OP_REAL)
        return (struct lane){.v = emit_real(em, e->real, p->kind)};
    return (struct lane){.v = emit_real(em, (double)e->integer, p->kind)};
}

/* |a| cb + |b| ca + ca cb, and a^2 gb + b^2 ga, of what is not exact. `by` keeps what is exact so
 * even when it meets an infinity. */
static void
product_sizes(struct weaver *w, struct lane a, struct lane b, const char **g, const char **c)
{
    struct emitter *em = w->p->em;

    if (a.g && !b.g) {
        product_sizes(w, b, a, g, c);
        return;
    }
    *g = emit_text(em, w->fast ? "%s * %s * %s" : "by(%s * %s, %s)", a.v, a.v, b.g);
    *c = emit_text(em, w->fast ? "size(%s) * %s" : "by(size(%s), %s)", a.v, b.c);
    if (!a.g)
        return;
    *g = emit_text(em, w->fast ? "%s + %s * %s * %s" : "%s + by(%s * %s, %s)", *g, b.v, b.v, a.g);
    *c = emit_text(em, w->fast ? "%s + (size(%s) + %s) * %s" : "%s + by(size(%s) + %s, %s)", *c,
                   b.v, b.c, a.c);
}

static void
sum_sizes(struct weaver *w, struct lane a, struct lane b, const char **g, const char **c)
{
    struct emitter *em = w->p->em;

    if (a.g && b.g) {
        *g = emit_text(em, "%s + %s", a.g, b.g);
        *c = emit_text(em, "%s + %s", a.c, b.c);
    } else {
        *g = a.g ? a.g : b.g;
        *c = a.g ? a.c : b.c;
    }
}

static const char *
or_zero(const char *text)
{
    return text ? text : "0.0";
}

/* A rounding operation of the reference: its own rounding (the root's is added at the end), and
 * what is infinite, NaN or too large. */
static struct lane
settled(struct weaver *w, const struct expr *e, struct lane a, struct lane b, const char *name,
        bool root)
{
    struct emitter *em = w->p->em;
    const char *g = NULL, *c = NULL;

    if (a.g || b.g)
        (e->op == OP_MUL ? product_sizes : sum_sizes)(w, a, b, &g, &c);
    if (!g && root)
        return (struct lane){.v = name};
    emit_line(em, "vd %sg = every(%s), %sc = every(%s);", name, or_zero(g), name, or_zero(c));
    if (!(w->fast && root))
        emit_line(em, "settle_%s(%s, &%sg, &%sc, every(%s), every(%s), every(%s), every(%s), %s);",
                  root ? "root" : "lanes", name, name, name, a.v, or_zero(a.g), b.v, or_zero(b.g),
                  emit_rule(w->p->kind));
    return (struct lane){
        .v = name, .g = emit_text(em, "%sg", name), .c = emit_text(em, "%sc", name)};
}

static struct lane
weave_binary(struct weaver *w, const struct expr *e, const char *name, bool root)
{
    struct emitter *em = w->p->em;
    struct lane a = weave(w, e->args[0], false), b = weave(w, e->args[1], false);
    struct numbers n = numbers_of(w->p);
    const char *sign = op_info[e->op].spelling;

    if (e->op == OP_MIN || e->op == OP_MAX)
        sign = e->op == OP_MIN ? "<" : ">";
    if (e->op == OP_MIN || e->op == OP_MAX)
        emit_line(em, "const %s %s = pick_%s(every(%s) %s every(%s), every(%s), every(%s));",
                  n.vector, name, n.vector, a.v, sign, b.v, a.v, b.v);
    else
        emit_line(em, "const %s %s = %s %s %s;", n.vector, name, a.v, sign, b.v);
    if (!em->bounds || w->p->kind <= KIND_INT || e->op == OP_MIN || e->op == OP_MAX)
        return (struct lane){.v = name};
    return settled(w, e, a, b, name, root);
}

static struct lane
weave_unary(struct weaver *w, const struct expr *e, const char *name)
{
    struct emitter *em = w->p->em;
    struct lane a = weave(w, e->args[0], false);
    struct numbers n = numbers_of(w->p);

    emit_line(em, e->op == OP_NEG ? "const %s %s = -%s;" : "const %s %s = size(%s);", n.vector,
              name, a.v);
    return (struct lane){.v = name, .g = a.g, .c = a.c};
}

static struct lane
weave(struct weaver *w, const struct expr *e, bool root)
{
    struct lane lane;

    if (!panel_is_mixed(w->p, e))
        return slot_lane(w, e);
    for (unsigned i = 0; i < w->count; i++)
        if (w->done[i].e == e)
            return w->done[i].lane;
    const char *name = emit_text(w->p->em, "t%u_%u", e->id, w->vector);
    lane = e->count == 2 ? weave_binary(w, e, name, root) : weave_unary(w, e, name);
    if (w->count < sizeof w->done / sizeof *w->done) {
        w->done[w->count].e = e;
        w->done[w->count++].lane = lane;
    }
    return lane;
}

/* ---- the inner loop ---- */

static void
load_slots(const struct panel *p, enum side side, unsigned vector)
{
    struct emitter *em = p->em;
    struct numbers n = numbers_of(p);

    for (unsigned i = 0; i < p->slot_count; i++) {
        const struct slot *slot = &p->slots[i];
        for (unsigned k = 0; k < (slot->exact ? 1 : 3) && slot->side == side; k++) {
            const char *part = k == 0 ? "" : k == 1 ? "g" : "c";
            if (side == SIDE_ROW)
                emit_line(em, "const %s x%u%s = p%u%s[r * %lld + q];", n.scalar, i, part, i, part,
                          (long long)p->chunk);
            else
                emit_line(em, "const %s x%u%s_%u = ((const %s *)p%u%s)[(v + %u) * %lld + q];",
                          n.vector, i, part, vector, n.vector, i, part, vector,
                          (long long)p->chunk);
        }
    }
}

/* Which lanes keep the term, or NULL for all; terms that a row's own filter drops are skipped. */
static const char *
mask_text(const struct panel *p, unsigned vector)
{
    if (p->conjunct_count[1] == 0)
        return NULL;
    return emit_text(p->em, "((const %s *)lane_mask)[(v + %u) * %lld + q]", numbers_of(p).mask,
                     vector, (long long)p->chunk);
}

static void
add_masked(const struct panel *p, char letter, const char *value, unsigned vector)
{
    struct numbers n = numbers_of(p);

    if (mask_text(p, vector))
        value = emit_text(p->em, "(%s)((%s)every(%s) & keep)", n.vector, n.mask, value);
    if (takes_turns(p, letter))
        emit_line(p->em, "%c%u[q & 15] += %s;", letter, vector, value);
    else
        emit_line(p->em, "%c%u += %s;", letter, vector, value);
}

/* One term for one vector of lanes. */
static void
print_term(struct panel *p, unsigned vector, bool fast)
{
    struct emitter *em = p->em;
    struct weaver w = {.p = p, .vector = vector, .fast = fast};
    struct numbers n = numbers_of(p);
    const char *mask = mask_text(p, vector);

    emit_open(em, "%s", "");
    load_slots(p, SIDE_LANE, vector);
    struct lane t = weave(&w, p->body, p->rounds);
    if (mask)
        emit_line(em, "const %s keep = %s;", n.mask, mask);
    for (const char *c = letters(p); *c; c++) {
        if (*c == 's')
            add_masked(p, 's', t.v, vector);
        else if (*c == 'q')
            add_masked(p, 'q', emit_text(em, "%s * %s", t.v, t.v), vector);
        else if (*c == 'a')
            add_masked(p, 'a', emit_text(em, "size(%s)", t.v), vector);
        else if (*c == 'n')
            add_masked(p, 'n', emit_real(em, 1, p->kind), vector);
        else
            add_masked(p, *c, *c == 'g' ? or_zero(t.g) : or_zero(t.c), vector);
    }
    emit_close(em);
}

static void
load_sums(const struct panel *p, unsigned width)
{
    struct emitter *em = p->em;
    struct numbers n = numbers_of(p);

    for (unsigned i = 0; i < width; i++)
        for (const char *c = letters(p); *c; c++) {
            bool turns = takes_turns(p, *c);
            const char *at = emit_text(em, "&sum_%c[(r * %d + (v + %u) * %s)%s]", *c, PANEL_LANES,
                                       i, n.lanes, turns ? " * 16" : "");
            if (turns)
                emit_line(em, "%s *const %c%u = (%s *)%s;", n.vector, *c, i, n.vector, at);
            else
                emit_line(em, "%s %c%u = *(%s *)%s;", n.vector, *c, i, n.vector, at);
        }
}

static void
store_sums(const struct panel *p, unsigned width)
{
    struct numbers n = numbers_of(p);

    for (unsigned i = 0; i < width; i++)
        for (const char *c = letters(p); *c; c++)
            if (!takes_turns(p, *c))
                emit_line(p->em, "*(%s *)&sum_%c[r * %d + (v + %u) * %s] = %c%u;", n.vector, *c,
                          PANEL_LANES, i, n.lanes, *c, i);
}

static void
print_chunk(struct panel *p, unsigned width, bool fast)
{
    struct emitter *em = p->em;

    load_sums(p, width);
    emit_open(em, "for (int q = 0; q < terms; q++)");
    if (p->conjunct_count[0]) {
        emit_line(em, "if (!row_mask[r * %lld + q])", (long long)p->chunk);
        emit_line(em, "    continue;");
    }
    load_slots(p, SIDE_ROW, 0);
    for (unsigned i = 0; i < width; i++)
        print_term(p, i, fast);
    emit_close(em);
}

/* Sizes of terms that are infinite or NaN need care; they show in the sum of |t|, and the chunk is
 * then done again. */
static void
print_vectors(struct panel *p, unsigned width)
{
    struct emitter *em = p->em;

    print_chunk(p, width, true);
    if (p->sums == SUM_GENERAL && p->rounds) {
        emit_open(em, width > 1 ? "if (is_finite(a0 + a1))" : "if (is_finite(a0))");
        store_sums(p, width);
        emit_close(em);
        emit_open(em, "else");
        print_chunk(p, width, false);
        store_sums(p, width);
        emit_close(em);
        return;
    }
    store_sums(p, width);
}

static void
print_products(struct panel *p)
{
    struct emitter *em = p->em;

    emit_open(em, "for (int r = 0; r < rows; r++)");
    emit_line(em, "int v = 0;");
    if (p->width > 1) {
        emit_open(em, "for (; v + %u <= vectors; v += %u)", p->width, p->width);
        print_vectors(p, p->width);
        emit_close(em);
    }
    emit_open(em, "for (; v < vectors; v++)");
    print_vectors(p, 1);
    emit_close(em);
    emit_close(em);
}

/* ---- results ---- */

static const char *
count_text(const struct panel *p)
{
    return p->counts ? "sum_n[e]" : emit_text(p->em, "%lld", (long long)p->terms);
}

/* The sums of element e as the reduction's value, called y0. */
static void
print_plain_result(const struct panel *p)
{
    struct emitter *em = p->em;
    struct numbers n = numbers_of(p);

    if (is_sixteen(p)) {
        emit_line(em, "%s part[16];", n.scalar);
        emit_line(em, "for (int i = 0; i < 16; i++)");
        emit_line(em, "    part[i] = sum_s[(e / %s * 16 + i) * %s + e %% %s];", n.lanes, n.lanes,
                  n.lanes);
        emit_line(em, "for (int w = 8; w > 0; w /= 2)");
        emit_line(em, "    for (int i = 0; i < w; i++)");
        emit_line(em, "        part[i] += part[i + w];");
    }
    const char *sum = is_sixteen(p) ? "part[0]" : "sum_s[e]";
    if (p->kind <= KIND_INT)
        emit_line(em, "const int64_t y0 = (int64_t)%s;", sum);
    else if (p->reduce->binder->reduction == REDUCE_MEAN)
        emit_line(em, "const %s y0 = %s / (%s)%s;", n.scalar, sum, n.scalar, count_text(p));
    else
        emit_line(em, "const %s y0 = %s;", n.scalar, sum);
}

static void
print_result(const struct panel *p)
{
    struct emitter *em = p->em;
    const char *rule = emit_rule(p->kind);

    if (p->sums == SUM_PLAIN) {
        print_plain_result(p);
        return;
    }
    if (p->sums == SUM_PRODUCTS)
        emit_line(em, "val y0 = sum_of_products(sum_s[e], sum_q[e], sum_a[e], %s, %s);",
                  count_text(p), rule);
    else if (p->sums == SUM_EXACT)
        emit_line(em, "val y0 = sum_end((sum){sum_s[e], sum_q[e], sum_a[e], 0, 0}, %s, %s);",
                  count_text(p), rule);
    else
        emit_line(em,
                  "val y0 = sum_of_roundings((sum){sum_s[e], sum_q[e], sum_a[e], sum_g[e], "
                  "sum_c[e]}, %d, %s, %s);",
                  p->rounds, count_text(p), rule);
    if (p->reduce->binder->reduction == REDUCE_MEAN)
        emit_line(em, "y0 = mean_end(y0, %s, %s);", count_text(p), rule);
}

static void
print_results(struct panel *p)
{
    struct emitter *em = p->em;
    const struct expr *value = em->stage->code;
    enum kind kind = emit_kind(value, KIND_F32);

    name_levels(p, -1);
    plan_begin(em);
    int tile = plan_loop(em, -1, 0);
    int row = plan_loop(em, tile, panel_levels(p, SIDE_ROW));
    int lane = plan_loop(em, row, panel_levels(p, SIDE_LANE));
    plan_leaf(em, p->reduce, emit_kind(p->reduce, KIND_F32), "y0");
    plan_use(em, value, kind, lane);
    plan_end(em);
    emit_scope(em, tile);
    emit_open(em, "for (int r = 0; r < rows; r++)");
    decode_side(p, SIDE_ROW, "const", "(row0 + r)");
    emit_scope(em, row);
    emit_open(em, "for (int l = 0; l < lanes; l++)");
    print_lane_axes(p);
    emit_line(em, "const int e = r * %d + l;", PANEL_LANES);
    print_result(p);
    emit_scope(em, lane);
    emit_store(em);
    emit_close(em);
    emit_close(em);
}

/* ---- the stage ---- */

static void
declare(const struct panel *p, const char *type, const char *name, int64_t count, bool cleared)
{
    emit_line(p->em, "%s %s[%lld] __attribute__((aligned(64)))%s;", type, name, (long long)count,
              cleared ? " = {0}" : "");
}

static void
declare_panels(const struct panel *p)
{
    struct emitter *em = p->em;
    struct numbers n = numbers_of(p);
    int64_t lanes = PANEL_LANES * p->chunk, rows = p->rows * p->chunk;

    for (unsigned i = 0; i < p->slot_count; i++)
        for (unsigned k = 0; k < (p->slots[i].exact ? 1 : 3); k++) {
            bool lane = p->slots[i].side == SIDE_LANE;
            declare(p, n.scalar,
                    emit_text(em, "p%u%s", i,
                              k == 0   ? ""
                              : k == 1 ? "g"
                                       : "c"),
                    lane ? lanes : rows, false);
        }
    if (p->conjunct_count[0])
        declare(p, n.integer, "row_mask", rows, false);
    if (p->conjunct_count[1])
        declare(p, n.integer, "lane_mask", lanes, false);
    for (const char *c = letters(p); *c; c++)
        declare(p, n.scalar, emit_text(em, "sum_%c", *c),
                p->rows * PANEL_LANES * (takes_turns(p, *c) ? 16 : 1), true);
}

static void
print_tile_place(const struct panel *p)
{
    struct emitter *em = p->em;
    int64_t row_tiles = (p->count[SIDE_ROW] + p->rows - 1) / p->rows;
    int64_t lane_tiles = (p->count[SIDE_LANE] + PANEL_LANES - 1) / PANEL_LANES;

    emit_line(em, "const int64_t row0 = tile / %lld %% %lld * %lld, lane0 = tile %% %lld * %d;",
              (long long)lane_tiles, (long long)row_tiles, (long long)p->rows,
              (long long)lane_tiles, PANEL_LANES);
    emit_line(em, "const int rows = (int)least(%lld, %lld - row0);", (long long)p->rows,
              (long long)p->count[SIDE_ROW]);
    emit_line(em, "const int lanes = (int)least(%d, %lld - lane0);", PANEL_LANES,
              (long long)p->count[SIDE_LANE]);
    emit_line(em, "const int vectors = (lanes + %s - 1) / %s;", numbers_of(p).lanes,
              numbers_of(p).lanes);
    decode_side(p, SIDE_OUTER, "const",
                emit_text(em, "(tile / %lld)", (long long)(row_tiles * lane_tiles)));
}

void
panel_print(struct panel *p)
{
    struct emitter *em = p->em;
    const char *saved[LANG_MAX_LEVELS];
    int64_t row_tiles = (p->count[SIDE_ROW] + p->rows - 1) / p->rows;
    int64_t lane_tiles = (p->count[SIDE_LANE] + PANEL_LANES - 1) / PANEL_LANES;
    double work = (double)(p->count[0] * p->count[1] * p->count[2]) * (double)p->terms;

    memcpy(saved, em->index, sizeof saved);
    if (work > (em->stage->rec >= 0 ? PARALLEL_STEPS : PARALLEL_TERMS))
        emit_line(em, "#pragma omp parallel for schedule(dynamic)");
    emit_open(em, "for (int64_t tile = 0; tile < %lld; tile++)",
              (long long)(p->count[SIDE_OUTER] * row_tiles * lane_tiles));
    print_tile_place(p);
    declare_panels(p);
    print_lane_tables(p);
    emit_open(em, "for (int64_t q0 = 0; q0 < %lld; q0 += %lld)", (long long)p->terms,
              (long long)p->chunk);
    emit_line(em, "const int terms = (int)least(%lld, %lld - q0);", (long long)p->chunk,
              (long long)p->terms);
    print_term_tables(p);
    fill_lanes(p);
    fill_rows(p);
    print_products(p);
    emit_close(em);
    print_results(p);
    emit_close(em);
    memcpy(em->index, saved, sizeof saved);
}

/* ---- what tiles call ---- */

static const char vectors[] =
    "#if defined __AVX512F__\n"
    "#define VECTOR 64\n"
    "#elif defined __AVX__\n"
    "#define VECTOR 32\n"
    "#else\n"
    "#define VECTOR 16\n"
    "#endif\n"
    "enum { LANES_D = VECTOR / 8, LANES_F = VECTOR / 4 };\n"
    "typedef double vd __attribute__((vector_size(VECTOR), may_alias));\n"
    "typedef int64_t md __attribute__((vector_size(VECTOR), may_alias));\n"
    "typedef float vf __attribute__((vector_size(VECTOR), may_alias));\n"
    "typedef int32_t mf __attribute__((vector_size(VECTOR), may_alias));\n"
    "\n"
    "static inline int64_t\n"
    "least(int64_t a, int64_t b)\n"
    "{\n"
    "    return a < b ? a : b;\n"
    "}\n"
    "static inline vd\n"
    "every_vd(double x)\n"
    "{\n"
    "    return x - (vd){0};\n"
    "}\n"
    "static inline vf\n"
    "every_vf(float x)\n"
    "{\n"
    "    return x - (vf){0};\n"
    "}\n"
    "static inline vd\n"
    "same_vd(vd x)\n"
    "{\n"
    "    return x;\n"
    "}\n"
    "static inline vf\n"
    "same_vf(vf x)\n"
    "{\n"
    "    return x;\n"
    "}\n"
    "static inline vd\n"
    "size_vd(vd x)\n"
    "{\n"
    "    return (vd)((md)x & INT64_MAX);\n"
    "}\n"
    "static inline vf\n"
    "size_vf(vf x)\n"
    "{\n"
    "    return (vf)((mf)x & INT32_MAX);\n"
    "}\n"
    "static inline vd\n"
    "pick_vd(md yes, vd a, vd b)\n"
    "{\n"
    "    return (vd)(((md)a & yes) | ((md)b & ~yes));\n"
    "}\n"
    "static inline vf\n"
    "pick_vf(mf yes, vf a, vf b)\n"
    "{\n"
    "    return (vf)(((mf)a & yes) | ((mf)b & ~yes));\n"
    "}\n"
    "#define every(x) _Generic((x), vd: same_vd, vf: same_vf, float: every_vf, default: "
    "every_vd)(x)\n"
    "#define size(x) _Generic((x), vd: size_vd, vf: size_vf, float: fabsf, default: fabs)(x)\n"
    "\n";

static const char vector_rules[] =
    "static inline int\n"
    "is_finite(vd x)\n"
    "{\n"
    "    int finite = 1;\n"
    "    for (int l = 0; l < LANES_D; l++)\n"
    "        finite &= fabs(x[l]) < INFINITY;\n"
    "    return finite;\n"
    "}\n"
    "\n"
    "/* A size times a factor; what is exact stays exact. */\n"
    "static inline vd\n"
    "by_vd(vd factor, vd size)\n"
    "{\n"
    "    return (vd)((md)(factor * size) & (size != 0));\n"
    "}\n"
    "#define by(factor, size) by_vd(every(factor), every(size))\n"
    "\n"
    "/* g of results v that are not finite: unjudged if an operand was, or if an infinity met a "
    "number\n"
    " * whose sign is in doubt; otherwise 0. */\n"
    "static inline vd\n"
    "doubt(vd a, vd ga, vd b, vd gb)\n"
    "{\n"
    "    const md in_doubt = ((size(a) == INFINITY) & (gb > 0) & (b * b <= 144 * gb)) |\n"
    "                        ((size(b) == INFINITY) & (ga > 0) & (a * a <= 144 * ga));\n"
    "    return (ga + gb) * 0 + (vd)((md)every(NAN) & in_doubt);\n"
    "}\n"
    "\n"
    "/* The root of a sum's terms: its rounding and its overflow are the sum's. */\n"
    "static inline void\n"
    "settle_root(vd v, vd *g, vd *c, vd a, vd ga, vd b, vd gb, rule r)\n"
    "{\n"
    "    const md odd = ~(size(v) < INFINITY);\n"
    "    (void)r;\n"
    "    *g = pick_vd(odd, doubt(a, ga, b, gb), *g);\n"
    "    *c = pick_vd(odd, every(0.0), *c);\n"
    "}\n"
    "\n"
    "static inline void\n"
    "settle_lanes(vd v, vd *g, vd *c, vd a, vd ga, vd b, vd gb, rule r)\n"
    "{\n"
    "    const vd s = size(v), e = pick_vd(s < r.tiny, s, s * r.u);\n"
    "    const md odd = ~(s <= r.most), finite = (size(a) < INFINITY) & (size(b) < INFINITY);\n"
    "    const vd overflow = (vd)((md)every(NAN) & finite & (v == v));\n"
    "    *g = pick_vd(odd, doubt(a, ga, b, gb) + overflow, *g + e * e);\n"
    "    *c = pick_vd(odd, every(0.0), *c + e);\n"
    "}\n"
    "\n"
    "/* Terms with sizes of their own, each rounded once more if `rounds`. */\n"
    "static inline val\n"
    "sum_of_roundings(sum t, int rounds, double n, rule r)\n"
    "{\n"
    "    if (rounds && t.a < INFINITY) {\n"
    "        t.g += r.u * r.u * t.q;\n"
    "        t.c += r.u * t.a;\n"
    "    }\n"
    "    return sum_end(t, n, r);\n"
    "}\n"
    "\n";

void
emit_tile_helpers(struct emitter *em, const char *body)
{
    if (!strstr(body, "int64_t tile"))
        return;
    buf_puts(em->out, vectors);
    if (em->bounds)
        buf_puts(em->out, vector_rules);
}
