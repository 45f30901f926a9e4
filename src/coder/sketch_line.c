/* The line of one stage: a stream, rows, a tile of registers, a scan. */
#include "coder/sketch_int.h"
#include "coder/view_int.h"

#include <inttypes.h>
#include <string.h>

const char *
sketch_name(const struct look *look, int level)
{
    return look->work->index[level];
}

/* ---- streams: no reduction ---- */

static const unsigned unrolls[] = {1, 2, 4, 8};

static void
put_lanes(struct look *look, const char *mark, unsigned usual)
{
    struct sketcher *s = look->s;
    const char *stage = look->work->tensor->name, *v = sketch_name(look, look->vector);
    enum { MOST_COPIES = 32 };
    int64_t lanes = look->work->lanes, vectors = look->work->extent[look->vector] / lanes;
    if (look->row >= lanes && look->row <= MOST_COPIES * lanes) {
        /* by whole rows: then every vector knows its place in one */
        sketch_put(s, "%s/%" PRId64, v, look->row);
        if (look->row > lanes)
            sketch_put(s, "%s/v@u", v);
        sketch_put(s, "%s@v", v);
        return;
    }
    unsigned unroll = unrolls[sketch_ask(s, stage, "unroll", 4, usual)];
    if (look->row > 1 && look->row < lanes && lanes % look->row != 0)
        unroll = (unsigned)look->row; /* so many vectors are whole rows */
    if (unroll > 1 && vectors > 1) {
        sketch_put(s, "%s/%uv", v, unroll);
        sketch_put(s, "%s/v@%s", v, mark);
    }
    sketch_put(s, "%s@v", v);
}

void
sketch_put_left(struct look *look, uint32_t but, bool threads)
{
    const struct work *work = look->work;
    double tasks = 1;
    for (unsigned l = 0; l < work->rank; l++) {
        if ((but & 1u << l) || work->tensor->size[l] == 1)
            continue;
        bool shared = threads && tasks < 4.0 * look->s->space->machine.threads;
        sketch_put(look->s, "%s%s", sketch_name(look, (int)l), shared ? "@p" : "");
        threads = threads && shared;
        tasks *= (double)work->extent[l];
    }
}

static uint32_t
ones_of(const struct work *work)
{
    uint32_t ones = work->stage->rec >= 0 ? 1u << work->stage->carried : 0;
    return ones;
}

static bool
is_read(const struct sketcher *s, const struct work *work)
{
    bool read = false;
    for (size_t i = work->number + 1; i < s->program->stage_count && !read; i++)
        read = work_loads(s->schedule->works[i].code, work->tensor, NULL, 0) > 0;
    return read;
}

/* What is written would not be in the caches when somebody reads it: all that goes in and out takes
 * more than half of the last one, which others use too. */
static bool
exceeds_caches(const struct sketcher *s)
{
    const struct program *program = s->program;
    int64_t bytes = 0, last = s->space->machine.l3;
    for (size_t i = 0; i < program->tensor_count; i++)
        if (program->tensors[i]->input >= 0 || program->tensors[i]->output >= 0)
            bytes +=
                program->tensors[i]->count * (int64_t)dtype_info[program->tensors[i]->dtype].size;
    return bytes > (last > 0 ? last : CODER_USUAL_L3) / 2;
}

static void
stream_line(struct look *look, uint32_t done, bool inner)
{
    struct sketcher *s = look->s;
    const struct work *work = look->work;
    const char *stage = work->tensor->name;
    bool nt = work->tensor->output >= 0 && look->vector >= 0 && !is_read(s, work) &&
              work->tensor->count * 4 > 4 * s->space->machine.l2 &&
              sketch_ask_if(s, stage, "nt", exceeds_caches(s));
    uint32_t but = done | (look->vector >= 0 ? 1u << look->vector : 0);
    double rows = 1;
    for (unsigned l = 0; l < work->rank; l++)
        if (!(but & 1u << l))
            rows *= (double)work->extent[l];
    sketch_put_left(look, but, !inner && work->stage->rec < 0);
    if (look->vector >= 0) {
        bool alone = rows < s->space->machine.threads && !inner && work->stage->rec < 0;
        int64_t part = work->extent[look->vector] / (8 * s->space->machine.threads);
        if (alone && part > 64 * work->lanes)
            sketch_put(s, "%s/%" PRId64 "@p", sketch_name(look, look->vector),
                       part / work->lanes * work->lanes);
        if (nt)
            sketch_put(s, "nt");
        if (s->with != NULL)
            sketch_put(s, "%s", s->with);
        put_lanes(look, "u", 1);
    }
}

/* ---- rows: the reduction is in lanes ---- */

uint32_t
sketch_short(const struct look *look, unsigned from, int64_t most)
{
    const struct work *work = look->work;
    uint32_t unrolled = 0;
    int64_t copies = 1;
    for (unsigned l = work->levels; l-- > from && work->extent[l] <= 8;) {
        if (copies * work->extent[l] > most)
            break;
        copies *= work->extent[l];
        unrolled |= 1u << l;
    }
    return unrolled;
}

static void
put_reduction(struct look *look, uint32_t unrolled)
{
    const struct work *work = look->work;
    for (unsigned l = work->rank; l < work->levels; l++)
        sketch_put(look->s, "%s%s", sketch_name(look, (int)l), (unrolled & 1u << l) ? "@u" : "");
}

/* The innermost left level that has loops here, or -1. */
static int
last_left(const struct work *work, uint32_t done)
{
    for (unsigned l = work->rank; l-- > 0;)
        if (!(done & 1u << l) && work->extent[l] > 1)
            return (int)l;
    return -1;
}

/* Several rows at a time: memory is read faster from several places. */
static void
rows_line(struct look *look, uint32_t done, bool inner)
{
    static const unsigned rows_of[] = {1, 4, 2, 8};
    struct sketcher *s = look->s;
    const struct work *work = look->work;
    const char *stage = work->tensor->name, *v = sketch_name(look, look->vector);
    bool threads = !inner && work->stage->rec < 0;
    int level = last_left(work, done);
    unsigned rows = level < 0 ? 1 : rows_of[sketch_ask(s, stage, "rows", 4, !inner)];
    if (level >= 0 && work->extent[level] < 4 * (int64_t)rows)
        rows = 1;
    if (rows > 1) {
        const char *o = sketch_name(look, level);
        double others = 1;
        for (unsigned l = 0; l < work->rank; l++)
            if (!(done & 1u << l) && (int)l != level)
                others *= (double)work->extent[l];
        sketch_put_left(look, done | 1u << level, threads);
        sketch_put(s, "%s/%u%s", o, rows, threads && others == 1 ? "@p" : "");
    } else
        sketch_put_left(look, done, threads);
    sketch_put(s, "acc");
    for (unsigned l = work->rank; l < work->levels; l++)
        if ((int)l != look->vector)
            sketch_put(s, "%s", sketch_name(look, (int)l));
    if (rows == 1) {
        put_lanes(look, "a", 2);
        return;
    }
    unsigned unroll = unrolls[sketch_ask(s, stage, "unroll", 3, 1)];
    bool apart = unroll > 1 && work->extent[look->vector] > unroll * work->lanes;
    sketch_put(s, apart ? "%s/%uv" : "%s/v", v, unroll);
    sketch_put(s, "%s@u", sketch_name(look, level));
    if (apart)
        sketch_put(s, "%s/v@a", v);
    sketch_put(s, "%s@v", v);
}

/* ---- tiles: left indices in registers ---- */

enum { TILES = 8 };

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
 * that loads less. */
static double
tile_cost(int64_t all_rows, int64_t all_vectors, int64_t rows, int64_t vectors)
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
           0.1 * (double)(rows + vectors) / (double)(rows * vectors);
}

/* Register tiles that fit, the cheapest first. */
static unsigned
list_tiles(const struct look *look, struct tile tiles[TILES + 1])
{
    unsigned registers = look->s->space->machine.registers, count = 0;
    int64_t extent = look->other >= 0 ? look->work->extent[look->other] : 1;
    int64_t width = (look->work->extent[look->vector] + look->work->lanes - 1) / look->work->lanes;
    for (unsigned vectors = 1; vectors <= 4 && vectors <= width; vectors++)
        for (unsigned rows = 1; rows <= 28 && rows <= extent; rows++) {
            struct tile tile = {rows, vectors, tile_cost(extent, width, rows, vectors)};
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
    unsigned count = list_tiles(look, tiles);
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

static int64_t
round_to(int64_t value, int64_t step)
{
    value = value / step * step;
    return value < step ? step : value;
}

void
sketch_put_registers(struct look *look, struct tile tile, uint32_t unrolled)
{
    struct sketcher *s = look->s;
    const struct work *work = look->work;
    const char *v = sketch_name(look, look->vector);
    sketch_put(s, "acc");
    put_reduction(look, unrolled);
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

/* Few rows and many columns: the threads share the columns, each copies its own. */
static bool
wide_line(struct look *look, struct tile tile, bool inner)
{
    static const int64_t parts[] = {128, 256, 64, 512, 32};
    struct sketcher *s = look->s;
    const struct work *work = look->work;
    const char *stage = work->tensor->name, *v = sketch_name(look, look->vector);
    int64_t width = work->extent[look->vector], rows = 1, depth = 1;
    int64_t across = tile.vectors * work->lanes;
    for (unsigned l = 0; l < work->rank; l++)
        rows *= (int)l == look->vector ? 1 : work->extent[l];
    for (unsigned l = work->rank; l < work->levels; l++)
        depth *= work->extent[l];
    if (inner || work->stage->rec >= 0 || look->other < 0 || rows != work->extent[look->other] ||
        depth < 32 || width < 8 * across * s->space->machine.threads ||
        !sketch_ask_if(s, stage, "by width", width > 8 * rows))
        return false;
    const struct expr *load = sketch_load_with(look, look->vector, look->other);
    int64_t part = round_to(parts[sketch_ask(s, stage, "part", 5, 0)], across);
    sketch_put(s, "%s/%" PRId64 "@p", v, part);
    if (load != NULL && sketch_ask_if(s, stage, "pack", rows >= 16))
        sketch_put(s, "pack(%s)", sketch_access(look, load));
    if (part > across)
        sketch_put(s, tile.vectors > 1 ? "%s/%uv" : "%s/v", v, tile.vectors);
    if (rows > tile.rows)
        sketch_put(s, "%s/%u", sketch_name(look, look->other), tile.rows);
    sketch_put_registers(look, tile, ask_unrolled(look, tile));
    return true;
}

/* Small windows: a few rows and vectors at a time, all terms unrolled. */
static void
window_line(struct look *look, uint32_t done, bool inner)
{
    static const struct {
        unsigned rows, vectors;
    } tiles[] = {{1, 4}, {2, 4}, {2, 2}, {4, 1}, {1, 2}, {2, 1}, {4, 2}, {3, 2}};
    struct sketcher *s = look->s;
    const struct work *work = look->work;
    const char *v = sketch_name(look, look->vector), *o = sketch_name(look, look->other);
    const struct expr *loads[VIEW_LOADS];
    bool guarded = false; /* conditions at the borders are worth being shared by rows */
    for (size_t i = view_loads(look->body, loads); i-- > 0;)
        guarded = guarded || expr_default(loads[i]) != NULL;
    unsigned choice = sketch_ask(s, work->tensor->name, "window", 8, guarded);
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
    put_reduction(look, sketch_short(look, work->rank, 64));
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
    struct tiling t = {.look = look, .tile = tile, .inner = inner, .red = -1};
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
    t.heavy = look->other >= 0 && t.depth >= 32 && !inner && work->stage->rec < 0;
    return t;
}

/* Blocks for the caches, of the longest reduction index and of the width. */
static void
ask_blocks(struct tiling *t)
{
    static const int64_t depths[] = {0, 128, 192, 256, 384, 512, 1024};
    static const int64_t widths[] = {0, 128, 256, 512, 1024, 2048};
    struct sketcher *s = t->look->s;
    const struct work *work = t->look->work;
    const char *stage = work->tensor->name;
    if (t->heavy && work->extent[t->red] > 128)
        t->cut = depths[sketch_ask(s, stage, "depth", 7, work->extent[t->red] > 512 ? 3 : 0)];
    if (t->heavy && t->width > 128)
        t->wide = widths[sketch_ask(s, stage, "width", 6, t->width > 512 ? 3 : 0)];
    if (t->cut > 0 && t->cut >= work->extent[t->red])
        t->cut = 0;
    t->wide = t->wide > 0 ? round_to(t->wide, t->across) : 0;
    if (t->wide >= t->width)
        t->wide = 0;
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
    t->pack_across = t->across_load != NULL && look->other >= 0 && t->depth >= 8 &&
                     sketch_ask_if(s, stage, "pack", look->gathers || (t->heavy && t->rows >= 64));
    t->pack_down = t->down_load != NULL && t->heavy && sketch_ask_if(s, stage, "pack down", false);
    t->whole_down = t->pack_down && sketch_ask_if(s, stage, "pack down whole", t->others > 1);
    /* what all of them share is copied once, before them */
    bool shared = t->pack_across && !(t->across_load->free & ((1u << work->rank) - 1) & ~t->but);
    t->by_other = t->others >= s->space->machine.threads && !t->inner &&
                  sketch_ask_if(s, stage, "threads outside", !shared);
    double points = t->depth * t->others * (double)(t->rows * t->width);
    t->threads = !t->inner && (work->stage->rec < 0 || points > 20 * SKETCH_SERIAL_POINTS);
}

/* Loops over blocks, copies, other left indices. */
static void
put_blocks(struct tiling *t)
{
    struct look *look = t->look;
    struct sketcher *s = look->s;
    if (t->pack_down && t->whole_down)
        sketch_put(s, "pack(%s)", sketch_access(look, t->down_load));
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
        sketch_put_left(look, t->but, t->threads);
}

/* A block of rows for each thread. */
static void
put_rows(struct tiling *t, bool share)
{
    static const int64_t blocks[] = {0, 1, 2, 4, 8, 16, 32};
    struct sketcher *s = t->look->s;
    const char *o = sketch_name(t->look, t->look->other);
    unsigned choice = sketch_ask(s, t->look->work->tensor->name, "block", 7, t->heavy ? 5 : 3);
    int64_t tile = t->tile.rows, threads = s->space->machine.threads;
    int64_t block = blocks[choice] * tile;
    while (share && block > tile && t->rows / block < 2 * threads)
        block /= 2;
    block = round_to(block, tile);
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
    else if (share && t->others == 1 && t->width >= shares * t->across && t->wide == 0)
        sketch_put(look->s, "%s/%" PRId64 "@p", sketch_name(look, look->vector),
                   round_to((t->width + shares - 1) / shares, t->across));
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

static void
tile_line(struct look *look, uint32_t done, bool inner)
{
    struct tile tile = sketch_ask_tile(look);
    if (wide_line(look, tile, inner))
        return;
    struct tiling t = measure_tiling(look, tile, done, inner);
    ask_blocks(&t);
    ask_copies(&t);
    put_blocks(&t);
    put_shares(&t);
    put_tiles(&t);
}

/* ---- one stage ---- */

/* Scans: along their own index in a register, or with another index in lanes. */
static void
scan_line(struct sketcher *s, const struct work *work)
{
    struct look look = sketch_look(s, work);
    unsigned carried = work->stage->carried;
    bool last = carried + 1 == work->rank;
    bool sum = work_running_sum(work) != NULL &&
               (work->tensor->dtype == DTYPE_F32 || work->tensor->dtype == DTYPE_F64);
    uint32_t but = 1u << carried;
    if (last && sum && sketch_ask_if(s, work->tensor->name, "scan in lanes", true)) {
        sketch_put_left(&look, but, true);
        sketch_put(s, "%s@v", sketch_name(&look, (int)carried));
        return;
    }
    if (!last && work->extent[work->rank - 1] > 1 && work->reduce == NULL) {
        unsigned lanes = work->rank - 1;
        const char *v = sketch_name(&look, (int)lanes);
        unsigned wide = unrolls[sketch_ask(s, work->tensor->name, "unroll", 4, 2)];
        sketch_put_left(&look, but | 1u << lanes, true);
        sketch_put(s, "%s/%uv", v, wide);
        sketch_put(s, "%s", sketch_name(&look, (int)carried));
        if (wide > 1)
            sketch_put(s, "%s/v@u", v);
        sketch_put(s, "%s@v", v);
        return;
    }
    sketch_put_left(&look, but, true);
    sketch_put(s, "%s", sketch_name(&look, (int)carried));
    if (work->reduce != NULL) {
        sketch_put(s, "acc");
        put_reduction(&look, sketch_short(&look, work->rank, 8));
    }
}

void
sketch_line(struct sketcher *s, const struct work *work, uint32_t done, bool inner)
{
    if (work->before != NULL && !inner) {
        scan_line(s, work);
        return;
    }
    struct look look = sketch_look(s, work);
    if (work->reduce == NULL)
        stream_line(&look, done | ones_of(work), inner);
    else if (look.vector < 0) {
        sketch_put_left(&look, done | ones_of(work), !inner && work->stage->rec < 0);
        sketch_put(s, "acc");
        put_reduction(&look, sketch_short(&look, work->rank, 8));
    } else if (look.vector >= (int)work->rank)
        rows_line(&look, done | ones_of(work), inner);
    else if (look.window)
        window_line(&look, done | ones_of(work), inner);
    else if (work->stage->rec < 0 && sketch_is_conv(&look))
        sketch_conv_line(&look, done, inner, "");
    else
        tile_line(&look, done | ones_of(work), inner);
}
