/* The line of a stage with a tile of registers: windows, and products in blocks for the caches. */
#include "coder/sketch_int.h"
#include "coder/view_int.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- tiles ---- */

enum { TILES = 8 };
static const double FAR_FILTERS = 3; /* they come from the second cache */

/* Cycles of one term: two products and two loads are begun in each, and a sum is there after four
 * or a little more, so that fewer than eight or nine leave the units idle; a few more make up for
 * what comes late. */
static double
tile_cycles(int64_t rows, int64_t vectors)
{
    const double latency = 4.2, enough = 6;
    double products = (double)(rows * vectors) / 2, loads = (double)(rows + vectors) / 2;
    double cycles = products > loads ? products : loads;
    return (cycles > latency ? cycles : latency) +
           (products < enough ? 0.15 * (enough - products) : 0);
}

/* For all rows and vectors with what is left at their ends; of tiles that take the same, the one
 * that leaves nothing there, which is less code, and that loads less; a vector counts as `far`
 * values of rows. */
static double
tile_cost(int64_t all_rows, int64_t all_vectors, int64_t rows, int64_t vectors, double far)
{
    int64_t down = all_rows / rows, across = all_vectors / vectors;
    int64_t short_row = all_rows % rows, short_vector = all_vectors % vectors;
    double cycles = (double)(down * across) * tile_cycles(rows, vectors);
    if (short_row > 0)
        cycles += (double)across * tile_cycles(short_row, vectors);
    if (short_vector > 0)
        cycles += (double)down * tile_cycles(rows, short_vector);
    if (short_row > 0 && short_vector > 0)
        cycles += tile_cycles(short_row, short_vector);
    return cycles / (double)(all_rows * all_vectors) +
           0.1 * ((double)rows + far * (double)vectors) / (double)(rows * vectors) +
           0.01 * ((short_row > 0) + (short_vector > 0));
}

/* Register tiles that fit, the cheapest first, of so many rows by so many vectors. */
static unsigned
list_tiles(unsigned registers, int64_t extent, int64_t width, unsigned widest, double far,
           struct tile tiles[TILES + 1])
{
    unsigned count = 0;
    for (unsigned vectors = 1; vectors <= widest && vectors <= width; vectors++)
        for (unsigned rows = 1; rows <= 28 && rows <= extent; rows++) {
            struct tile tile = {rows, vectors, tile_cost(extent, width, rows, vectors, far)};
            unsigned at = count;
            if (rows * vectors + vectors + 1 >= registers) /* gcc spills at the last one */
                continue;
            for (; at > 0 && tiles[at - 1].cost > tile.cost; at--)
                tiles[at] = tiles[at - 1];
            tiles[at] = tile;
            count += count < TILES;
        }
    return count;
}

struct tile
sketch_ask_tile(const struct look *look)
{
    struct tile tiles[TILES + 1];
    const struct work *work = look->work;
    unsigned registers = look->s->space->machine.registers;
    /* places: two registers for each vector of results, and nothing else to keep */
    bool places = work->reduce != NULL && work->reduce->binder->reduction >= REDUCE_ARGMAX;
    unsigned count = list_tiles(registers, look->other >= 0 ? work->extent[look->other] : 1,
                                (work->extent[look->vector] + work->lanes - 1) / work->lanes,
                                places ? registers / 4 : 4,
                                sketch_is_by_filters(look->s, work) ? FAR_FILTERS : 1, tiles);
    return tiles[sketch_ask(look->s, look->work->tensor->name, "tile", count, 0)];
}

const struct expr *
sketch_load_with(const struct look *look, int with, int without)
{
    const struct expr *loads[VIEW_LOADS];
    size_t count = view_loads(look->body, loads);
    for (size_t i = 0; i < count; i++)
        if (with >= 0 && (loads[i]->free & 1u << with) &&
            !(without >= 0 && (loads[i]->free & 1u << without)))
            return loads[i];
    return NULL;
}

const char *
sketch_access(const struct look *look, const struct expr *load)
{
    const struct expr *loads[32];
    size_t count = work_loads(look->body, load->tensor, loads, 32), at = 0;
    while (at < count && at < 32 && loads[at] != load)
        at++;
    return at == 0 ? load->tensor->name
                   : arena_printf(look->s->space->arena, "%s@%zu", load->tensor->name, at + 1);
}

/* Few terms are added up in less time than their sum is stored: it need not be read for that. */
static bool
ask_past(const struct look *look)
{
    enum { FEW = 64 };
    const struct work *work = look->work;
    int64_t terms = 1;
    for (unsigned l = work->rank; l < work->levels; l++)
        terms *= work->extent[l];
    return terms <= 2 * FEW && !work_has_ragged_rows(work) && sketch_ask_past(look, terms <= FEW);
}

void
sketch_put_registers(struct look *look, struct tile tile, uint32_t unrolled)
{
    struct sketcher *s = look->s;
    const struct work *work = look->work;
    const char *v = sketch_name(look, look->vector);
    if (ask_past(look))
        sketch_put(s, "nt");
    sketch_put(s, "acc");
    sketch_put_reduction(look, unrolled);
    if (look->other >= 0 && work->extent[look->other] > 1)
        sketch_put(s, "%s@u", sketch_name(look, look->other));
    if (tile.vectors > 1 && work->extent[look->vector] > work->lanes)
        sketch_put(s, "%s/v@u", v);
    sketch_put(s, "%s@v", v);
}

static uint32_t
ask_unrolled(struct look *look, struct tile tile)
{
    static const int64_t copies[] = {4, 9, 1, 25};
    const struct work *work = look->work;
    int64_t most = copies[sketch_ask(look->s, work->tensor->name, "unroll", 4, 1)] * 12 /
                   (tile.rows * tile.vectors);
    return sketch_short(look, work->rank, most > 0 ? most : 1);
}

void
sketch_window_line(struct look *look, uint32_t done, bool inner)
{
    static const struct {
        unsigned rows, vectors;
    } tiles[] = {{1, 4}, {2, 4}, {2, 2}, {4, 1}, {1, 2}, {2, 1}, {4, 2}, {6, 1}};
    enum { WIDE, TWO_ROWS, SIX_ROWS = 7 };
    struct sketcher *s = look->s;
    const struct work *work = look->work;
    const char *v = sketch_name(look, look->vector), *o = sketch_name(look, look->other);
    const struct expr *loads[VIEW_LOADS];
    bool guarded = false; /* conditions at the borders are worth being shared by rows */
    int shared = -1;      /* level of the terms that rows share: what was read stays in registers */
    for (size_t i = view_loads(look->body, loads); i-- > 0;) {
        guarded = guarded || expr_default(loads[i]) != NULL;
        for (unsigned l = work->rank; l < work->levels; l++)
            if (view_overlaps(loads[i], (unsigned)look->other, l, work->extent[l]))
                shared = (int)l;
    }
    unsigned choice = sketch_ask(s, work->tensor->name, "window", 8,
                                 guarded       ? TWO_ROWS
                                 : shared >= 0 ? SIX_ROWS
                                               : WIDE);
    unsigned rows = tiles[choice].rows, vectors = tiles[choice].vectors;
    bool threads = !inner;
    sketch_put_left(look, done | 1u << look->vector | 1u << look->other, threads);
    for (unsigned l = 0; l < work->rank; l++)
        if ((int)l != look->vector && (int)l != look->other && !(done & 1u << l))
            threads = threads && work->extent[l] == 1;
    const char *mark = threads ? "@p" : "";
    if (rows > 1 && rows < work->extent[look->other])
        sketch_put(s, "%s/%u%s", o, rows, mark);
    else if (rows == 1)
        sketch_put(s, "%s%s", o, mark);
    if (vectors * work->lanes < work->extent[look->vector])
        sketch_put(s, vectors > 1 ? "%s/%uv" : "%s/v", v, vectors);
    sketch_put(s, "acc");
    uint32_t unrolled = sketch_short(look, work->rank, 64);
    bool last = rows > 1 && shared >= 0 && (unrolled & 1u << shared);
    for (unsigned l = work->rank; l < work->levels; l++)
        if (!last || (int)l != shared)
            sketch_put(s, "%s%s", sketch_name(look, (int)l), unrolled & 1u << l ? "@u" : "");
    if (last)
        sketch_put(s, "%s@u", sketch_name(look, shared));
    if (rows > 1)
        sketch_put(s, "%s@u", o);
    if (vectors > 1 && work->extent[look->vector] > work->lanes)
        sketch_put(s, "%s/v@u", v);
    sketch_put(s, "%s@v", v);
}

/* A tile of registers and what stands around it: what was asked, before it is written. */
struct tiling {
    struct look *look;
    struct tile tile;
    bool inner;
    uint32_t but;                   /* levels whose loops are not left to sketch_put_left() */
    int64_t width, rows, across;    /* of the stage; of a tile */
    int red;                        /* the longest reduction index, or -1 */
    double depth, others;           /* points of the reduction, and of other left indices */
    bool heavy;                     /* worth blocks for the caches */
    bool alone;                     /* one reduction index: no windows */
    bool flat;                      /* few rows, many columns */
    int apart;                      /* each thread has a part of this level to itself; -1: no */
    int64_t part;                   /* of so many values */
    int64_t cut, wide;              /* of the reduction and of the width; 0: none */
    const struct expr *across_load; /* what is read along the vector, */
    const struct expr *down_load;   /* and along the rows; or NULL */
    bool pack_across, pack_down;    /* they are copied, */
    bool whole_down;                /* the latter before all loops */
    bool by_other;                  /* the other left indices are outside of the copies */
    bool threads;                   /* tiles are shared among them */
    bool cut_to_tile;               /* the loop of the threads is that of tiles already */
};

static struct tiling
measure_tiling(struct look *look, struct tile tile, uint32_t done, bool inner)
{
    const struct work *work = look->work;
    struct tiling t = {.look = look, .tile = tile, .inner = inner, .red = -1, .apart = -1};
    t.width = work->extent[look->vector];
    t.rows = look->other >= 0 ? work->extent[look->other] : 1;
    t.across = tile.vectors * work->lanes;
    t.depth = t.others = 1;
    for (unsigned l = work->rank; l < work->levels; l++) {
        t.depth *= (double)work->extent[l];
        if (t.red < 0 || work->extent[l] > work->extent[t.red])
            t.red = (int)l;
    }
    t.but = done | 1u << look->vector | (look->other >= 0 ? 1u << look->other : 0);
    for (unsigned l = 0; l < work->rank; l++)
        if (!(t.but & 1u << l))
            t.others *= (double)work->extent[l];
    t.alone = work->levels == work->rank + 1;
    t.heavy = look->other >= 0 && t.depth >= (t.alone ? 8 : 32) && !inner && work->stage->rec < 0;
    t.flat = t.width > 8 * t.rows;
    return t;
}

static int64_t
element_bytes(const struct tiling *t)
{
    return (int64_t)dtype_info[t->look->work->tensor->dtype].size;
}

/* Terms of the reduction in one pass. */
static double
pass_depth(const struct tiling *t)
{
    return t->cut > 0 ? t->depth * (double)t->cut / (double)t->look->work->extent[t->red]
                      : t->depth;
}

/* Columns of which one pass reads so many bytes. */
static int64_t
columns_in(const struct tiling *t, double bytes)
{
    return sketch_round_to((int64_t)(bytes / (pass_depth(t) * (double)element_bytes(t))),
                           t->across);
}

/* The part of the last cache that may be filled with what is read along the vector. */
static double
shared_bytes(const struct tiling *t)
{
    int64_t last = t->look->s->space->machine.l3;
    return (double)(last > 0 ? last : CODER_USUAL_L3) / 4;
}

/* A column of tiles stays in the first cache while the rows pass by: parts of the reduction. */
static void
ask_depth(struct tiling *t)
{
    static const int64_t depths[] = {0, 128, 192, 256, 384, 512, 1024};
    const struct work *work = t->look->work;
    int64_t extent = t->red >= 0 ? work->extent[t->red] : 0;
    if (!t->heavy || extent <= 128)
        return;
    unsigned usual = extent <= 512 ? 0 : !t->alone ? 3 : extent <= 640 ? 0 : 5;
    if (t->alone && t->flat && extent > 384)
        usual = 3;
    t->cut = depths[sketch_ask(t->look->s, work->tensor->name, "depth", 7, usual)];
    if (t->cut > 0)
        t->cut = sketch_even_part(extent, t->cut, 1, 8);
    if (t->cut >= extent)
        t->cut = 0;
}

/* What is read along the rows has each in a page of its own, so far from the next that they fall on
 * the same lines of the caches. */
static bool
has_far_rows(const struct tiling *t)
{
    enum { FAR = 65536 };
    int64_t stride;
    return t->down_load != NULL && t->width > 128 &&
           view_stride(t->down_load, (unsigned)t->look->other, &stride) &&
           stride * element_bytes(t) >= FAR;
}

static void
ask_copies(struct tiling *t)
{
    struct look *look = t->look;
    struct sketcher *s = look->s;
    const struct work *work = look->work;
    const char *stage = work->tensor->name;
    t->across_load = sketch_load_with(look, look->vector, look->other);
    t->down_load = sketch_load_with(look, look->other, look->vector);
    uint32_t others = ((1u << work->rank) - 1) & ~t->but; /* their levels */
    bool large = t->alone && t->rows >= 32 && t->depth >= 64 && (t->width > 512 || has_far_rows(t));
    t->pack_across = t->across_load != NULL && look->other >= 0 && t->depth >= 8 &&
                     sketch_ask_if(s, stage, "pack",
                                   look->gathers || (t->heavy && t->rows >= (t->flat ? 16 : 64)));
    t->pack_down = t->down_load != NULL && t->heavy && sketch_ask_if(s, stage, "pack down", large);
    bool own = t->down_load != NULL && (t->down_load->free & others);
    t->whole_down = t->pack_down &&
                    sketch_ask_if(s, stage, "pack down whole", (t->others > 1 && !own) || t->flat);
    /* what all of them share is copied once, before them */
    bool shared = t->pack_across && !(t->across_load->free & others);
    t->by_other = t->others > 1 && t->others >= s->space->machine.threads && !t->inner &&
                  sketch_ask_if(s, stage, "threads outside", !shared);
    double points = t->depth * t->others * (double)(t->rows * t->width);
    t->threads = !t->inner && (work->stage->rec < 0 || points > 20 * SKETCH_SERIAL_POINTS);
}

/* Columns or rows for each thread, with copies of its own: one parallel region, in which nothing
 * goes from one to another. What is read along the other direction is copied by each of them. */
static void
ask_apart(struct tiling *t)
{
    static const int64_t parts[] = {0, 128, 256, 64, 512, 32};
    struct look *look = t->look;
    struct sketcher *s = look->s;
    const char *stage = look->work->tensor->name;
    int64_t threads = s->space->machine.threads;
    bool columns = t->width >= 8 * t->across * threads && 2 * t->width > t->rows;
    bool rows = t->rows >= 8 * t->tile.rows * threads;
    int64_t length = columns ? t->width : t->rows;
    if (!t->heavy || t->others > 1 || look->work->bound_count > 0 || !(columns || rows) ||
        !sketch_ask_if(s, stage, "apart",
                       t->flat || (t->alone && threads > 1 && length >= 128 * threads)))
        return;
    if (columns) {
        double bytes = t->pack_down && !t->whole_down ? shared_bytes(t) / (double)threads
                                                      : (double)s->space->machine.l2 / 2;
        int64_t most = parts[sketch_ask(s, stage, "part", 6, t->alone ? 0 : 1)];
        if (most == 0)
            most = columns_in(t, bytes);
        t->apart = look->vector;
        t->part = t->width = sketch_even_part(t->width, most, threads, t->across);
    } else {
        t->apart = look->other;
        t->part = t->rows = sketch_even_part(t->rows, t->rows, threads, t->tile.rows);
    }
    t->threads = false;
}

/* What is copied of the width at a time stays in the last cache. */
static void
ask_width(struct tiling *t)
{
    static const int64_t widths[] = {0, 128, 256, 512, 1024, 2048, 4096};
    if (!t->heavy || t->width <= 128 || t->apart == t->look->vector)
        return;
    int64_t fits = columns_in(t, shared_bytes(t));
    unsigned usual = t->alone ? 0 : t->width > 512 ? 3 : 0;
    while (t->alone && t->width > fits && usual < 6 && (usual == 0 || widths[usual] < fits))
        usual++;
    t->wide = widths[sketch_ask(t->look->s, t->look->work->tensor->name, "width", 7, usual)];
    t->wide = t->wide > 0 ? sketch_even_part(t->width, t->wide, 1, t->across) : 0;
    if (t->wide >= t->width)
        t->wide = 0;
}

/* Loops over blocks, copies, other left indices. */
static void
put_blocks(struct tiling *t)
{
    struct look *look = t->look;
    struct sketcher *s = look->s;
    if (t->pack_down && t->whole_down)
        sketch_put(s, "pack(%s)", sketch_access(look, t->down_load));
    if (t->apart >= 0)
        sketch_put(s, "%s/%" PRId64 "@p", sketch_name(look, t->apart), t->part);
    if (t->by_other || t->others == 1)
        sketch_put_left(look, t->but, t->threads);
    if (t->others > 1)
        t->threads = t->threads && !t->by_other;
    if (t->cut > 0)
        sketch_put(s, "%s/%" PRId64, sketch_name(look, t->red), t->cut);
    if (t->wide > 0)
        sketch_put(s, "%s/%" PRId64, sketch_name(look, look->vector), t->wide);
    if (t->pack_across)
        sketch_put(s, "pack(%s)", sketch_access(look, t->across_load));
    if (!t->by_other && t->others > 1)
        t->threads = sketch_put_left(look, t->but, t->threads);
}

/* Tiles of a block whose part of what is read along the rows stays in the second cache; rows of
 * results are pages apart, and short reductions soon come to the next. */
static int64_t
cached_block(const struct tiling *t)
{
    double row = pass_depth(t) * (double)element_bytes(t);
    int64_t tiles = (int64_t)((double)t->look->s->space->machine.l2 / 2 / row) / t->tile.rows;
    int64_t most = pass_depth(t) < 128 ? 8 : 42;
    return tiles < 1 ? 1 : tiles < most ? tiles : most;
}

/* A block of rows for each thread. */
static void
put_rows(struct tiling *t, bool share)
{
    static const int64_t blocks[] = {0, 1, 2, 4, 8, 16, 32, 64};
    struct sketcher *s = t->look->s;
    const char *o = sketch_name(t->look, t->look->other);
    unsigned choice = sketch_ask(s, t->look->work->tensor->name, "block", 8, t->heavy ? 0 : 3);
    int64_t tile = t->tile.rows, threads = s->space->machine.threads;
    int64_t wanted = choice == 0 ? cached_block(t) : blocks[choice];
    if (share)
        wanted = sketch_fair_block(wanted, (t->rows + tile - 1) / tile, threads);
    int64_t block = wanted * tile;
    bool blocked = block > tile && block < t->rows;
    t->cut_to_tile = !blocked && share && t->rows >= threads * tile;
    if (blocked)
        sketch_put(s, "%s/%" PRId64 "%s", o, block, share ? "@p" : "");
    else if (t->cut_to_tile)
        sketch_put(s, "%s/%" PRId64 "@p", o, tile);
}

/* What the threads share: blocks of rows, or parts of the width. */
static void
put_shares(struct tiling *t)
{
    struct look *look = t->look;
    int64_t shares = 2 * (int64_t)look->s->space->machine.threads;
    bool share = t->threads && (t->others == 1 || !t->by_other);
    if (look->other >= 0 && t->rows > t->tile.rows)
        put_rows(t, share);
    else if (share && t->others == 1 && t->width >= shares * t->across && t->wide == 0) {
        t->width = sketch_round_to((t->width + shares - 1) / shares, t->across);
        sketch_put(look->s, "%s/%" PRId64 "@p", sketch_name(look, look->vector), t->width);
    }
}

static void
put_tiles(struct tiling *t)
{
    struct look *look = t->look;
    struct sketcher *s = look->s;
    const char *v = sketch_name(look, look->vector);
    bool cut = look->other >= 0 && !t->cut_to_tile && t->rows > t->tile.rows;
    if (t->pack_down && !t->whole_down)
        sketch_put(s, "pack(%s)", sketch_access(look, t->down_load));
    bool down_first = t->heavy && sketch_ask_if(s, look->work->tensor->name, "down first", false);
    if (down_first && cut)
        sketch_put(s, "%s/%u", sketch_name(look, look->other), t->tile.rows);
    if (t->width > t->across)
        sketch_put(s, t->tile.vectors > 1 ? "%s/%uv" : "%s/v", v, t->tile.vectors);
    if (!down_first && cut)
        sketch_put(s, "%s/%u", sketch_name(look, look->other), t->tile.rows);
    sketch_put_registers(look, t->tile, ask_unrolled(look, t->tile));
}

void
sketch_tile_line(struct look *look, uint32_t done, bool inner)
{
    struct tile tile = sketch_ask_tile(look);
    struct tiling t = measure_tiling(look, tile, done, inner);
    ask_depth(&t);
    ask_copies(&t);
    ask_apart(&t);
    ask_width(&t);
    put_blocks(&t);
    put_shares(&t);
    put_tiles(&t);
}

/* ---- products of few rows ---- */

bool
sketch_is_dots(const struct look *look, int rows)
{
    const struct work *work = look->work;
    int64_t others = 1;
    for (unsigned l = 0; l + 1 < work->rank; l++)
        others *= (int)l == rows ? 1 : work->extent[l];
    return others == 1 && work->levels == work->rank + 1 && !look->gathers &&
           work->stage->rec < 0 && work->bound_count == 0 && work->extent[rows] > 1;
}

bool
sketch_has_few_rows(const struct look *look, int rows)
{
    enum { FEW = 64, SHORT = 8 }; /* rows; vectors of terms */
    const struct work *work = look->work;
    int64_t threads = look->s->space->machine.threads;
    return work->extent[rows] <= FEW &&
           work->extent[look->vector] >= SHORT * (int64_t)work->lanes &&
           work->extent[work->rank - 1] >= 8 * threads;
}

void
sketch_dots_line(struct look *look, uint32_t done, bool inner)
{
    enum { WIDEST = 8 };
    struct sketcher *s = look->s;
    const struct work *work = look->work;
    const struct coder_machine *machine = &s->space->machine;
    const char *stage = work->tensor->name, *v = sketch_name(look, look->vector);
    const char *o = sketch_name(look, look->other), *n = sketch_name(look, (int)work->rank - 1);
    int64_t rows = work->extent[look->other], columns = work->extent[work->rank - 1];
    int64_t terms = work->extent[look->vector], threads = machine->threads;
    struct tile tiles[TILES + 1];
    unsigned count = list_tiles(machine->registers, rows, columns, WIDEST, 1, tiles);
    struct tile tile = tiles[sketch_ask(s, stage, "dots", count, 0)];
    int64_t bytes = rows * (int64_t)dtype_info[work->tensor->dtype].size;
    int64_t fits = sketch_round_to(machine->l2 / 2 / bytes, work->lanes);
    static const int64_t shares[] = {8, 2, 1, 32};
    int64_t share = shares[sketch_ask(s, stage, "share", 4, 0)];
    sketch_put_left(look, done | 1u << look->other | 1u << (work->rank - 1), false);
    if (!inner && columns >= 2 * threads * tile.vectors) {
        columns = sketch_even_part(columns, (columns + share * threads - 1) / (share * threads),
                                   threads, tile.vectors);
        sketch_put(s, "%s/%" PRId64 "@p", n, columns);
    }
    if (sketch_ask_if(s, stage, "depth", terms > 2 * fits) && fits < terms)
        sketch_put(s, "%s/%" PRId64, v, sketch_even_part(terms, fits, 1, work->lanes));
    if (tile.vectors < columns)
        sketch_put(s, "%s/%u", n, tile.vectors);
    if (tile.rows < rows)
        sketch_put(s, "%s/%u", o, tile.rows);
    sketch_put(s, "acc %s/v", v);
    sketch_put(s, "%s@u %s@u %s@v", n, o, v);
}
