/* The inner loop of a tile: terms as vector arithmetic, several vectors of lanes at a time. */
#include "lang/emit_panel_int.h"

/* ---- accumulators ---- */

struct numbers
panel_numbers(const struct panel *p)
{
    if (p->kind == KIND_F32 && !p->em->bounds)
        return (struct numbers){"float", "vf", "mf", "LANES_F", "int32_t"};
    return (struct numbers){"double", "vd", "md", "LANES_D", "int64_t"};
}

bool
panel_is_sixteen(const struct panel *p)
{
    return p->em->options.form == EMIT_SIXTEEN && p->kind > KIND_INT;
}

bool
panel_takes_turns(const struct panel *p, char letter)
{
    return panel_is_sixteen(p) && letter == 's';
}

const char *
panel_letters(const struct panel *p)
{
    static const char *const of_sums[] = {"s", "sqa", "sqa", "sqagc"};
    static const char *const with_count[] = {"sn", "sqan", "sqan", "sqagcn"};

    return p->counts ? with_count[p->sums] : of_sums[p->sums];
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
    unsigned ordinal;
    bool fast; /* nothing is infinite or NaN: checked after the chunk */
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

/* |a| cb + |b| ca + ca cb, and a^2 gb + b^2 ga + ga gb, of what is not exact. `by` keeps what is
 * exact so even when it meets an infinity. */
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
    *g = emit_text(em, w->fast ? "%s + (%s * %s + %s) * %s" : "%s + by(%s * %s + %s, %s)", *g, b.v,
                   b.v, b.g, a.g);
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
    struct numbers n = panel_numbers(w->p);
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
    struct numbers n = panel_numbers(w->p);

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
    const char *name = emit_text(w->p->em, "t%u_%u", w->ordinal++, w->vector);
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
    struct numbers n = panel_numbers(p);

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
    return emit_text(p->em, "((const %s *)lane_mask)[(v + %u) * %lld + q]", panel_numbers(p).mask,
                     vector, (long long)p->chunk);
}

static void
add_masked(const struct panel *p, char letter, const char *value, unsigned vector)
{
    struct numbers n = panel_numbers(p);

    if (mask_text(p, vector))
        value = emit_text(p->em, "(%s)((%s)every(%s) & keep)", n.vector, n.mask, value);
    if (panel_takes_turns(p, letter))
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
    struct numbers n = panel_numbers(p);
    const char *mask = mask_text(p, vector);

    emit_open(em, "%s", "");
    load_slots(p, SIDE_LANE, vector);
    struct lane t = weave(&w, p->body, p->rounds);
    if (mask)
        emit_line(em, "const %s keep = %s;", n.mask, mask);
    for (const char *c = panel_letters(p); *c; c++) {
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
    struct numbers n = panel_numbers(p);

    for (unsigned i = 0; i < width; i++)
        for (const char *c = panel_letters(p); *c; c++) {
            bool turns = panel_takes_turns(p, *c);
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
    struct numbers n = panel_numbers(p);

    for (unsigned i = 0; i < width; i++)
        for (const char *c = panel_letters(p); *c; c++)
            if (!panel_takes_turns(p, *c))
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

void
panel_print_products(struct panel *p)
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
