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
    struct numbers n = panel_numbers(p);

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
    struct numbers n = panel_numbers(p);

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
    struct numbers n = panel_numbers(p);

    if (panel_is_sixteen(p)) {
        emit_line(em, "%s part[16];", n.scalar);
        emit_line(em, "for (int i = 0; i < 16; i++)");
        emit_line(em, "    part[i] = sum_s[(e / %s * 16 + i) * %s + e %% %s];", n.lanes, n.lanes,
                  n.lanes);
        emit_line(em, "for (int w = 8; w > 0; w /= 2)");
        emit_line(em, "    for (int i = 0; i < w; i++)");
        emit_line(em, "        part[i] += part[i + w];");
    }
    const char *sum = panel_is_sixteen(p) ? "part[0]" : "sum_s[e]";
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
    struct numbers n = panel_numbers(p);
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
    for (const char *c = panel_letters(p); *c; c++)
        declare(p, n.scalar, emit_text(em, "sum_%c", *c),
                p->rows * PANEL_LANES * (panel_takes_turns(p, *c) ? 16 : 1), true);
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
    emit_line(em, "const int vectors = (lanes + %s - 1) / %s;", panel_numbers(p).lanes,
              panel_numbers(p).lanes);
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
    panel_print_products(p);
    emit_close(em);
    print_results(p);
    emit_close(em);
    memcpy(em->index, saved, sizeof saved);
}
