/* Sketches: schedules with holes, chosen by the shapes of the stages and filled in by a genome.
 *
 * The same walk asks the questions and writes the text. Stages are taken from the last to the
 * first; a root takes along the producers that its rows alone read (norms, softmax, attention);
 * what is left is a nest of its own, laid out as a tile of registers, as rows, or as a stream. */
#include "coder/coder_int.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#define MAX_HOLES 128
#define SERIAL_POINTS 20000 /* fewer are not worth a parallel region */

struct coder_space {
    struct arena *arena;
    const struct program *program;
    struct coder_machine machine;
    struct changed *changed;
};

struct sketcher {
    struct coder_space *space;
    const struct coder_genome *genome;
    const struct program *program; /* as the rewrites so far left it */
    struct schedule *schedule;     /* works of the program, all plain */
    struct coder_hole *holes;
    size_t hole_count;
    struct buf changes, lines;
    int *group;       /* by stage: number of the root that takes it along, or -1 */
    const char *with; /* a guest of the next stream, or NULL */
};

/* ---- questions ---- */

static uint8_t
gene_of(const char *stage, const char *what)
{
    uint32_t hash = 2166136261u;
    for (const char *c = stage; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    for (const char *c = what; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    return (uint8_t)(hash ^ hash >> 8 ^ hash >> 16);
}

/* One of `answers`, numbered from 0; `usual` unless the genome says otherwise. */
static unsigned
ask(struct sketcher *s, const char *stage, const char *what, unsigned answers, unsigned usual)
{
    uint8_t gene = gene_of(stage, what);
    uint8_t value = s->genome->gene[gene];
    if (answers < 2)
        return 0;
    if (s->hole_count < MAX_HOLES)
        s->holes[s->hole_count++] =
            (struct coder_hole){arena_printf(s->space->arena, "%s %s", stage, what), gene, answers};
    if (usual >= answers)
        usual = answers - 1;
    return (usual + value) % answers;
}

static bool
ask_if(struct sketcher *s, const char *stage, const char *what, bool usual)
{
    return ask(s, stage, what, 2, usual);
}

/* ---- what a stage looks like ---- */

struct look {
    const struct work *work;
    struct sketcher *s;
    const struct expr *body; /* what is computed most often */
    int vector;              /* level in lanes, or -1 */
    bool gathers;            /* some load does not follow it */
    int other;               /* left level that the vector's loads do not depend on, or -1 */
};

static void
find_loads(const struct expr *e, const struct expr **loads, size_t *count, size_t most)
{
    if (!e->loads)
        return;
    if (e->op == OP_LOAD) {
        for (size_t i = 0; i < *count; i++)
            if (loads[i] == e)
                return;
        if (*count < most)
            loads[(*count)++] = e;
    }
    for (unsigned i = 0; i < e->count; i++)
        find_loads(e->args[i], loads, count, most);
}

/* Elements that a load moves by with one step of a level; false: not evenly. */
static bool
load_stride(const struct expr *load, unsigned level, int64_t *stride)
{
    int64_t size = 1;
    *stride = 0;
    for (unsigned d = load->tensor->rank; d-- > 0; size *= load->tensor->size[d]) {
        int64_t coefficient[LANG_MAX_LEVELS], constant;
        if (!(load->args[d]->free & 1u << level))
            continue;
        if (!expr_affine(load->args[d], coefficient, &constant))
            return false;
        *stride += coefficient[level] * size;
    }
    return true;
}

/* Loads that a vector of this level cannot read in one piece. */
static unsigned
bad_loads(const struct look *look, unsigned level)
{
    const struct expr *loads[32];
    size_t count = 0;
    unsigned bad = 0;
    find_loads(look->body, loads, &count, 32);
    for (size_t i = 0; i < count; i++) {
        int64_t stride;
        if (!load_stride(loads[i], level, &stride) || (stride != 0 && stride != 1))
            bad++;
    }
    return bad;
}

static void
choose_vector(struct look *look)
{
    const struct work *work = look->work;
    unsigned best_bad = 0;
    int64_t best_extent = 0;
    look->vector = -1;
    for (unsigned l = 0; l < work->levels; l++) {
        bool last = work->rank > 0 && l == work->rank - 1;
        bool carried = work->stage->rec >= 0 && l == work->stage->carried;
        if ((l < work->rank && !last) || carried || work->extent[l] < 2)
            continue;
        unsigned bad = 2 * bad_loads(look, l) + (l >= work->rank);
        int64_t extent = work->extent[l];
        bool wide = extent >= work->lanes, was_wide = best_extent >= work->lanes;
        if (look->vector < 0 || (wide && !was_wide) || (wide == was_wide && bad < best_bad)) {
            look->vector = (int)l;
            best_bad = bad;
            best_extent = extent;
        }
    }
    look->gathers = best_bad >= 2;
}

static void
choose_other(struct look *look)
{
    const struct work *work = look->work;
    const struct expr *loads[32];
    size_t count = 0;
    int64_t best = 1;
    look->other = -1;
    find_loads(look->body, loads, &count, 32);
    for (unsigned l = 0; l < work->rank; l++) {
        bool reused = false, needed = false;
        if ((int)l == look->vector || (work->stage->rec >= 0 && l == work->stage->carried))
            continue;
        for (size_t i = 0; i < count; i++) {
            bool has_vector = loads[i]->free & 1u << look->vector, has = loads[i]->free & 1u << l;
            reused = reused || (has_vector && !has);
            needed = needed || (has_vector && has);
        }
        if (reused && !needed && work->extent[l] > best) {
            look->other = (int)l;
            best = work->extent[l];
        }
    }
}

static struct look
look_at(struct sketcher *s, const struct work *work)
{
    struct look look = {.work = work, .s = s, .other = -1};
    look.body = work->reduce != NULL ? work->reduce->args[0] : work->code;
    choose_vector(&look);
    if (look.vector >= (int)work->rank && work->rank > 0 &&
        work->extent[work->rank - 1] >= work->lanes) {
        /* a product of matrices: what the lanes would gather is copied, each element used often */
        struct look left = look;
        left.vector = (int)work->rank - 1;
        left.gathers = true;
        choose_other(&left);
        if (left.other >= 0 && work->extent[left.other] >= 4 &&
            ask_if(s, work->tensor->name, "left lanes", true))
            return left;
    }
    if (look.vector >= 0)
        choose_other(&look);
    return look;
}

/* ---- text ---- */

static void
put(struct sketcher *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void
put(struct sketcher *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    buf_putc(&s->lines, ' ');
    buf_vprintf(&s->lines, format, args);
    va_end(args);
}

static const char *
name_of(const struct look *look, int level)
{
    return look->work->index[level];
}

/* ---- streams: no reduction ---- */

static const unsigned unrolls[] = {1, 2, 4, 8};

static void
put_lanes(struct look *look, const char *mark, unsigned usual)
{
    struct sketcher *s = look->s;
    const char *stage = look->work->tensor->name, *v = name_of(look, look->vector);
    int64_t vectors = look->work->extent[look->vector] / look->work->lanes;
    unsigned unroll = unrolls[ask(s, stage, "unroll", 4, usual)];
    if (unroll > 1 && vectors > 1) {
        put(s, "%s/%uv", v, unroll);
        put(s, "%s/v@%s", v, mark);
    }
    put(s, "%s@v", v);
}

/* Left loops but these, outer to inner; the first ones on threads until there is work for all. */
static void
put_left(struct look *look, uint32_t but, bool threads)
{
    const struct work *work = look->work;
    double tasks = 1;
    for (unsigned l = 0; l < work->rank; l++) {
        if ((but & 1u << l) || work->tensor->size[l] == 1)
            continue;
        bool shared = threads && tasks < 4.0 * look->s->space->machine.threads;
        put(look->s, "%s%s", name_of(look, (int)l), shared ? "@p" : "");
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

static void
stream_line(struct look *look, uint32_t done, bool inner)
{
    struct sketcher *s = look->s;
    const struct work *work = look->work;
    const char *stage = work->tensor->name;
    bool nt = !inner && work->tensor->output >= 0 && look->vector >= 0 &&
              work->tensor->count * 4 > 4 * s->space->machine.l2 && ask_if(s, stage, "nt", true);
    uint32_t but = done | (look->vector >= 0 ? 1u << look->vector : 0);
    double rows = 1;
    for (unsigned l = 0; l < work->rank; l++)
        if (!(but & 1u << l))
            rows *= (double)work->extent[l];
    put_left(look, but, !inner && work->stage->rec < 0);
    if (look->vector >= 0) {
        bool alone = rows < s->space->machine.threads && !inner && work->stage->rec < 0;
        int64_t part = work->extent[look->vector] / (8 * s->space->machine.threads);
        if (alone && part > 64 * work->lanes)
            put(s, "%s/%" PRId64 "@p", name_of(look, look->vector),
                part / work->lanes * work->lanes);
        if (nt)
            put(s, "nt");
        if (s->with != NULL)
            put(s, "%s", s->with);
        put_lanes(look, "u", 1);
    }
}

/* ---- rows: the reduction is in lanes ---- */

/* Reduction loops; short ones are unrolled from the inside, as far as `most` copies of the tile. */
static void
put_reduction(struct look *look, int64_t most)
{
    const struct work *work = look->work;
    uint32_t unrolled = 0;
    int64_t copies = 1;
    for (unsigned l = work->levels; l-- > work->rank && work->extent[l] <= 8;) {
        if (copies * work->extent[l] > most)
            break;
        copies *= work->extent[l];
        unrolled |= 1u << l;
    }
    for (unsigned l = work->rank; l < work->levels; l++)
        put(look->s, "%s%s", name_of(look, (int)l), (unrolled & 1u << l) ? "@u" : "");
}

static void
rows_line(struct look *look, uint32_t done, bool inner)
{
    const struct work *work = look->work;
    put_left(look, done, !inner && work->stage->rec < 0);
    put(look->s, "acc");
    for (unsigned l = work->rank; l < work->levels; l++)
        if ((int)l != look->vector)
            put(look->s, "%s", name_of(look, (int)l));
    put_lanes(look, "a", 2);
}

/* ---- tiles: left indices in registers ---- */

struct tile {
    unsigned rows, vectors;
};

/* Register tiles, those with the least loads for a multiplication first. */
static unsigned
list_tiles(const struct look *look, struct tile *tiles, unsigned most)
{
    unsigned registers = look->s->space->machine.registers, count = 0;
    int64_t extent = look->other >= 0 ? look->work->extent[look->other] : 1;
    int64_t width = (look->work->extent[look->vector] + look->work->lanes - 1) / look->work->lanes;
    for (unsigned vectors = 1; vectors <= 4 && vectors <= width; vectors++)
        for (unsigned rows = 1; rows <= 28 && rows <= extent; rows++) {
            unsigned used = rows * vectors;
            if (used + vectors + 1 >= registers) /* gcc spills at the last one */
                continue;
            /* loads for each product; too few chains leave the units idle */
            double cost = (double)(rows + vectors) / used + (used < 10 ? (10 - used) * 0.2 : 0);
            unsigned at = count < most ? count++ : most - 1;
            struct tile tile = {rows, vectors};
            if (at == most - 1 && count == most) {
                double last = (double)(tiles[at].rows + tiles[at].vectors) /
                              (tiles[at].rows * tiles[at].vectors);
                if (tiles[at].rows && last <= cost)
                    continue;
            }
            while (at > 0) {
                const struct tile *before = &tiles[at - 1];
                unsigned n = before->rows * before->vectors;
                double other =
                    (double)(before->rows + before->vectors) / n + (n < 10 ? (10 - n) * 0.2 : 0);
                if (other <= cost)
                    break;
                tiles[at] = *before;
                at--;
            }
            tiles[at] = tile;
        }
    return count;
}

/* The tensor of the first load with this level and without that one; NULL: none. */
static const struct expr *
load_with(const struct look *look, int with, int without)
{
    const struct expr *loads[32];
    size_t count = 0;
    find_loads(look->body, loads, &count, 32);
    for (size_t i = 0; i < count; i++)
        if (with >= 0 && (loads[i]->free & 1u << with) &&
            !(without >= 0 && (loads[i]->free & 1u << without)))
            return loads[i];
    return NULL;
}

/* "B", or "B@2" where it is not the first access of its tensor. */
static const char *
access_name(const struct look *look, const struct expr *load)
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

static void
tile_line(struct look *look, uint32_t done, bool inner)
{
    struct sketcher *s = look->s;
    const struct work *work = look->work;
    const struct coder_machine *machine = &s->space->machine;
    const char *stage = work->tensor->name, *v = name_of(look, look->vector);
    int64_t width = work->extent[look->vector],
            rows = look->other >= 0 ? work->extent[look->other] : 1;
    struct tile tiles[8];
    unsigned count = list_tiles(look, tiles, 8);
    struct tile tile = tiles[ask(s, stage, "tile", count, 0)];
    int64_t lanes = work->lanes, across = tile.vectors * lanes;
    const char *o = look->other >= 0 ? name_of(look, look->other) : NULL;

    /* The longest reduction index is cut for the caches. */
    int red = -1;
    double depth = 1, others = 1;
    for (unsigned l = work->rank; l < work->levels; l++) {
        depth *= (double)work->extent[l];
        if (red < 0 || work->extent[l] > work->extent[red])
            red = (int)l;
    }
    for (unsigned l = 0; l < work->rank; l++)
        if ((int)l != look->vector && (int)l != look->other && !(done & 1u << l))
            others *= (double)work->extent[l];
    static const int64_t depths[] = {0, 128, 192, 256, 384, 512, 1024};
    static const int64_t widths[] = {0, 128, 256, 512, 1024, 2048};
    bool rec = work->stage->rec >= 0;
    bool heavy = look->other >= 0 && depth >= 32 && !inner && !rec;
    int64_t cut = heavy && work->extent[red] > 128
                      ? depths[ask(s, stage, "depth", 7, work->extent[red] > 512 ? 3 : 0)]
                      : 0;
    int64_t wide =
        heavy && width > 128 ? widths[ask(s, stage, "width", 6, width > 512 ? 3 : 0)] : 0;
    const struct expr *across_load = load_with(look, look->vector, look->other);
    const struct expr *down_load = load_with(look, look->other, look->vector);
    bool pack_across = across_load != NULL && look->other >= 0 && depth >= 8 &&
                       ask_if(s, stage, "pack", look->gathers || (heavy && rows >= 64));
    bool pack_down = down_load != NULL && heavy && ask_if(s, stage, "pack down", false);
    bool whole_down = pack_down && ask_if(s, stage, "pack down whole", others > 1);
    bool by_other =
        others >= machine->threads && !inner && ask_if(s, stage, "threads outside", true);
    double points = depth * others * (double)(rows * width);
    bool threads = !inner && (!rec || points > 20 * SERIAL_POINTS);

    if (cut >= work->extent[red < 0 ? 0 : red])
        cut = 0;
    wide = wide > 0 ? round_to(wide, across) : 0;
    if (wide >= width)
        wide = 0;
    if (pack_down && whole_down)
        put(s, "pack(%s)", access_name(look, down_load));
    uint32_t but = done | 1u << look->vector | (look->other >= 0 ? 1u << look->other : 0);
    if (by_other || others == 1)
        put_left(look, but, threads);
    if (others > 1)
        threads = threads && !by_other;
    if (cut > 0)
        put(s, "%s/%" PRId64, name_of(look, red), cut);
    if (wide > 0)
        put(s, "%s/%" PRId64, v, wide);
    if (pack_across)
        put(s, "pack(%s)", access_name(look, across_load));
    if (!by_other && others > 1)
        put_left(look, but, threads);
    /* A block of rows for each thread. */
    static const int64_t blocks[] = {0, 1, 2, 4, 8, 16, 32};
    bool share = threads && (others == 1 || !by_other);
    if (o != NULL && rows > tile.rows) {
        int64_t block = blocks[ask(s, stage, "block", 7, heavy ? 5 : 3)] * tile.rows;
        while (share && block > tile.rows && rows / block < 2 * machine->threads)
            block /= 2;
        block = round_to(block, tile.rows);
        if (block > tile.rows && block < rows)
            put(s, "%s/%" PRId64 "%s", o, block, share ? "@p" : "");
        else if (share && rows >= machine->threads * tile.rows)
            put(s, "%s/%u@p", o, tile.rows);
        if (block <= tile.rows || block >= rows) {
            if (share && rows >= machine->threads * tile.rows)
                o = NULL; /* already cut to the tile */
        }
    } else if (share && others == 1 && width >= 2 * across * machine->threads && wide == 0) {
        int64_t part =
            round_to((width + 2 * machine->threads - 1) / (2 * machine->threads), across);
        put(s, "%s/%" PRId64 "@p", v, part);
    }
    if (pack_down && !whole_down)
        put(s, "pack(%s)", access_name(look, down_load));
    bool down_first = heavy && ask_if(s, stage, "down first", false);
    if (down_first && o != NULL && rows > tile.rows)
        put(s, "%s/%u", o, tile.rows);
    if (width > across)
        put(s, tile.vectors > 1 ? "%s/%uv" : "%s/v", v, tile.vectors);
    if (!down_first && o != NULL && rows > tile.rows)
        put(s, "%s/%u", o, tile.rows);
    put(s, "acc");
    static const int64_t copies[] = {4, 9, 1, 25};
    int64_t most = copies[ask(s, stage, "unroll", 4, 0)] * 12 / (tile.rows * tile.vectors);
    put_reduction(look, most > 0 ? most : 1);
    if (look->other >= 0 && rows > 1)
        put(s, "%s@u", name_of(look, look->other));
    if (tile.vectors > 1 && width > lanes)
        put(s, "%s/v@u", v);
    put(s, "%s@v", v);
}

/* ---- one stage ---- */

/* Scans: along their own index in a register, or with another index in lanes. */
static void
scan_line(struct sketcher *s, const struct work *work)
{
    struct look look = look_at(s, work);
    unsigned carried = work->stage->carried;
    bool last = carried + 1 == work->rank;
    bool sum = work_running_sum(work) != NULL &&
               (work->tensor->dtype == DTYPE_F32 || work->tensor->dtype == DTYPE_F64);
    uint32_t but = 1u << carried;
    if (last && sum && ask_if(s, work->tensor->name, "scan in lanes", true)) {
        put_left(&look, but, true);
        put(s, "%s@v", name_of(&look, (int)carried));
        return;
    }
    if (!last && work->extent[work->rank - 1] > 1 && work->reduce == NULL) {
        unsigned lanes = work->rank - 1;
        const char *v = name_of(&look, (int)lanes);
        unsigned wide = unrolls[ask(s, work->tensor->name, "unroll", 4, 2)];
        put_left(&look, but | 1u << lanes, true);
        put(s, "%s/%uv", v, wide);
        put(s, "%s", name_of(&look, (int)carried));
        if (wide > 1)
            put(s, "%s/v@u", v);
        put(s, "%s@v", v);
        return;
    }
    put_left(&look, but, true);
    put(s, "%s", name_of(&look, (int)carried));
    if (work->reduce != NULL) {
        put(s, "acc");
        put_reduction(&look, 8);
    }
}

static void
stage_line(struct sketcher *s, const struct work *work, uint32_t done, bool inner)
{
    if (work->before != NULL && !inner) {
        scan_line(s, work);
        return;
    }
    struct look look = look_at(s, work);
    if (work->reduce == NULL)
        stream_line(&look, done | ones_of(work), inner);
    else if (look.vector < 0) {
        put_left(&look, done | ones_of(work), !inner && work->stage->rec < 0);
        put(s, "acc");
        put_reduction(&look, 8);
    } else if (look.vector >= (int)work->rank)
        rows_line(&look, done | ones_of(work), inner);
    else
        tile_line(&look, done | ones_of(work), inner);
}

/* ---- groups: producers that the rows of one stage alone read ---- */

struct group {
    const struct work *root;
    const struct work *member[16]; /* in their order; the root is not among them */
    int8_t map[16][LANG_MAX_RANK]; /* their dimensions as levels of the root, -1: none */
    const struct work *host[16];   /* the member in whose loops it runs, or NULL */
    size_t count;
    uint32_t rows; /* levels of the root that are plain in all of them */
};

/* Where the members' dimensions lie, from what one reader says; false: readers disagree. */
static bool
add_map(const struct work *reader, const int8_t *reader_map, const struct work *work, int8_t *map,
        bool *any)
{
    const struct expr *loads[32];
    size_t count = work_loads(reader->code, work->tensor, loads, 32);
    for (size_t i = 0; i < count && i < 32; i++, *any = true)
        for (unsigned d = 0; d < work->rank; d++) {
            const struct expr *e = loads[i]->args[d];
            int8_t level = -1;
            if (e->op == OP_INDEX && e->level < reader->rank)
                level = reader_map != NULL ? reader_map[e->level] : (int8_t)e->level;
            map[d] = !*any || map[d] == level ? level : -1;
        }
    return count <= 32;
}

static double
rows_of(const struct work *root, uint32_t rows)
{
    double count = 1;
    for (unsigned l = 0; l < root->rank; l++)
        if (rows & 1u << l)
            count *= (double)root->extent[l];
    return count;
}

static bool
is_heavy(struct sketcher *s, const struct work *work)
{
    struct look look = look_at(s, work);
    double depth = 1;
    for (unsigned l = work->rank; l < work->levels; l++)
        depth *= (double)work->extent[l];
    return work->reduce != NULL && look.other >= 0 && look.vector >= 0 && depth >= 16;
}

/* Its result is far larger than what it is made of: better never stored. */
static bool
grows(const struct work *work)
{
    const struct expr *loads[32];
    size_t count = 0;
    double read = 0;
    find_loads(work->code, loads, &count, 32);
    for (size_t i = 0; i < count; i++)
        read += (double)loads[i]->tensor->count;
    return (double)work->tensor->count > 2 * read;
}

static void
find_group(struct sketcher *s, struct group *group, const struct work *root)
{
    const struct work *works = s->schedule->works;
    *group = (struct group){.root = root};
    group->rows = root->rank ? (1u << root->rank) - 1 : 0;
    if (root->stage->rec >= 0)
        return;
    for (size_t i = root->number; i-- > 0 && group->count < 16;) {
        const struct work *work = &works[i];
        int8_t map[LANG_MAX_RANK];
        bool inside = true, any = false;
        if (work->fate == FATE_INLINE || work->tensor->output >= 0 || work->stage->rec >= 0 ||
            s->group[i] >= 0)
            continue;
        for (size_t r = i + 1; r < s->program->stage_count && inside; r++) {
            if (works[r].fate == FATE_INLINE ||
                work_loads(works[r].code, work->tensor, NULL, 0) == 0)
                continue;
            size_t m = 0;
            while (m < group->count && group->member[m] != &works[r])
                m++;
            inside = &works[r] == root || m < group->count;
            if (inside)
                inside =
                    add_map(&works[r], &works[r] == root ? NULL : group->map[m], work, map, &any);
        }
        if (!inside || !any)
            continue;
        uint32_t rows = 0;
        for (unsigned d = 0; d < work->rank; d++)
            if (map[d] >= 0)
                rows |= 1u << map[d];
        rows &= group->rows;
        if (rows == 0 || rows_of(root, rows) < s->space->machine.threads)
            continue;
        bool large = grows(work);
        bool same = group->count == 0 || rows == group->rows;
        if (!ask_if(s, work->tensor->name, "fuse", (!is_heavy(s, work) || large) && same))
            continue;
        memmove(group->member + 1, group->member, group->count * sizeof *group->member);
        memmove(group->map + 1, group->map, group->count * sizeof *group->map);
        group->member[0] = work;
        memcpy(group->map[0], map, sizeof map);
        group->count++;
        group->rows = rows;
    }
    for (size_t i = 0; i < group->count; i++)
        s->group[group->member[i]->number] = (int)root->number;
}

/* Reductions over the rows of a member that has no reduction itself run in its loops. */
static void
find_hosts(struct sketcher *s, struct group *group)
{
    for (size_t i = 0; i < group->count; i++) {
        const struct work *guest = group->member[i];
        const struct expr *load;
        if (guest->reduce == NULL || guest->levels != guest->rank + 1)
            continue;
        for (size_t h = 0; h < i; h++) {
            const struct work *host = group->member[h];
            bool fits = host->reduce == NULL && host->rank == guest->rank + 1 &&
                        host->lanes == guest->lanes &&
                        work_loads(guest->code, host->tensor, &load, 1) == 1 &&
                        host->extent[host->rank - 1] == guest->extent[guest->rank];
            for (unsigned d = 0; d < host->rank && fits; d++)
                fits = load->args[d]->op == OP_INDEX && load->args[d]->level == d;
            bool free = true;
            for (size_t j = 0; j < group->count; j++)
                free = free && group->host[j] != host;
            if (fits && free && ask_if(s, guest->tensor->name, "with", true)) {
                group->host[i] = host;
                break;
            }
        }
    }
}

/* A stage as one tile of rows sees it. */
static struct work
in_rows(const struct group *group, const struct work *work, const int8_t *map, int tiled,
        int64_t tile)
{
    struct work part = *work;
    for (unsigned d = 0; d < work->rank; d++) {
        int level = map != NULL ? map[d] : (int)d;
        if (level >= 0 && (group->rows & 1u << level))
            part.extent[d] = level == tiled && tile > 1 ? tile : 1;
    }
    return part;
}

/* with(S, k=j): pairs where the names differ. */
static const char *
guest_text(struct sketcher *s, const struct work *guest, const struct work *host)
{
    struct buf text = buf_in(s->space->arena);
    buf_printf(&text, "with(%s", guest->tensor->name);
    for (unsigned l = 0; l < guest->levels; l++)
        if (strcmp(guest->index[l], host->index[l]) != 0)
            buf_printf(&text, ", %s=%s", guest->index[l], host->index[l]);
    buf_puts(&text, ")");
    return text.data;
}

static void
put_group(struct sketcher *s, struct group *group)
{
    static const int64_t tiles[] = {1, 2, 4, 8, 16, 32, 64};
    const struct work *root = group->root;
    int tiled = -1;
    bool heavy = false;
    for (size_t i = 0; i < group->count; i++)
        heavy = heavy || is_heavy(s, group->member[i]);
    heavy = heavy || is_heavy(s, root);
    for (unsigned l = 0; l < root->rank; l++)
        if (group->rows & 1u << l)
            tiled = (int)l;
    int64_t tile = tiles[ask(s, root->tensor->name, "rows", 7, heavy ? 5 : 0)];
    while (tile > 1 && rows_of(root, group->rows) / (double)tile < 2 * s->space->machine.threads)
        tile /= 2;
    if (tile >= root->extent[tiled])
        tile = 1;
    find_hosts(s, group);
    for (size_t i = 0; i < group->count; i++) {
        if (group->host[i] != NULL)
            continue;
        struct work part = in_rows(group, group->member[i], group->map[i], tiled, tile);
        for (size_t j = 0; j < group->count; j++)
            if (group->host[j] == group->member[i])
                s->with = guest_text(s, group->member[j], &part);
        buf_printf(&s->lines, "%s:", part.tensor->name);
        stage_line(s, &part, 0, true);
        buf_putc(&s->lines, '\n');
        s->with = NULL;
    }
    buf_printf(&s->lines, "%s:", root->tensor->name);
    for (unsigned l = 0; l < root->rank; l++)
        if ((group->rows & 1u << l) && root->extent[l] > 1) {
            if ((int)l == tiled && tile > 1)
                put(s, "%s/%" PRId64 "@p", root->index[l], tile);
            else
                put(s, "%s@p", root->index[l]);
        }
    for (size_t i = 0; i < group->count; i++)
        if (group->host[i] == NULL)
            put(s, "do(%s)", group->member[i]->tensor->name);
    struct work part = in_rows(group, root, NULL, tiled, tile);
    stage_line(s, &part, tile > 1 ? group->rows & ~(1u << tiled) : group->rows, true);
    buf_putc(&s->lines, '\n');
}

/* ---- rewrites ---- */

struct changed { /* programs after rewrites, by the text of those */
    struct changed *next;
    const char *text;
    struct program *program; /* NULL: refused */
};

static bool
change(struct sketcher *s, const struct change_line *line, const char *text)
{
    struct coder_space *space = s->space;
    const char *key =
        arena_printf(space->arena, "%s%s\n", s->changes.length ? s->changes.data : "", text);
    struct changed *known = space->changed;
    while (known != NULL && strcmp(known->text, key) != 0)
        known = known->next;
    if (known == NULL) {
        const char *why;
        known = arena_alloc(space->arena, sizeof *known);
        *known = (struct changed){space->changed, key,
                                  change_program(space->arena, s->program, line, &why)};
        space->changed = known;
    }
    if (known->program == NULL)
        return false;
    s->program = known->program;
    buf_printf(&s->changes, "%s\n", text);
    return true;
}

static const struct stage *
stage_named(const struct program *program, const char *name)
{
    for (size_t i = 0; i < program->stage_count; i++)
        if (strcmp(program->stages[i].tensor->name, name) == 0)
            return &program->stages[i];
    return NULL;
}

/* Windows: what may lie outside is padded, strides become phases, short rows are put end to end. */
static void
change_windows(struct sketcher *s, const char *name)
{
    struct arena *arena = s->space->arena;
    const struct stage *stage = stage_named(s->program, name);
    const struct expr *reduce = work_reduce(stage->code), *loads[32];
    size_t count = 0;
    if (reduce == NULL || stage->rec >= 0 || stage->tensor->rank < 2)
        return;
    find_loads(reduce->args[0], loads, &count, 32);
    unsigned last = stage->tensor->rank - 1;
    const char *padded = NULL, *window = NULL;
    bool strided = false;
    for (size_t i = 0; i < count; i++) {
        int64_t stride;
        if (expr_default(loads[i]) != NULL)
            padded = loads[i]->tensor->name;
        bool plain = true;
        for (unsigned d = 0; d < loads[i]->tensor->rank; d++)
            plain = plain &&
                    (loads[i]->args[d]->op == OP_INDEX || !(loads[i]->args[d]->free & 1u << last));
        if (!plain && (loads[i]->free & 1u << last)) {
            window = loads[i]->tensor->name;
            strided = strided || !load_stride(loads[i], last, &stride) || stride > 1;
        }
    }
    if (window == NULL)
        return;
    if (padded != NULL && ask_if(s, name, "pad", true))
        change(s, &(struct change_line){CHANGE_PAD, name, padded, NULL, 0},
               arena_printf(arena, "! pad %s %s", name, padded));
    const char *flat = name;
    if (strided && ask_if(s, name, "phase", true) &&
        change(s, &(struct change_line){CHANGE_PHASE, name, window, NULL, 0},
               arena_printf(arena, "! phase %s %s", name, window))) {
        /* a transposed convolution is computed in a stage of its own, which may need padding */
        const char *own = arena_printf(arena, "%s.%s", name, window);
        const struct stage *made = stage_named(s->program, own);
        if (made != NULL && work_reduce(made->code) != NULL) {
            flat = own;
            if (ask_if(s, own, "pad", true))
                change(s, &(struct change_line){CHANGE_PAD, own, window, NULL, 0},
                       arena_printf(arena, "! pad %s %s", own, window));
        }
    }
    const struct stage *target = stage_named(s->program, flat);
    unsigned rank = target->tensor->rank;
    int64_t width = target->tensor->size[rank - 1];
    unsigned lanes = s->space->machine.vector_bytes / 4;
    if (ask_if(s, name, "flat", width < 16 * lanes))
        change(s,
               &(struct change_line){CHANGE_FLAT, flat, target->index[rank - 2],
                                     target->index[rank - 1], 0},
               arena_printf(arena, "! flat %s %s %s", flat, target->index[rank - 2],
                            target->index[rank - 1]));
}

/* ---- the whole ---- */

static bool
prepare(struct sketcher *s)
{
    struct arena *arena = s->space->arena;
    struct source none = {"", "", 0};
    struct coder_options options = {s->space->machine.vector_bytes};
    struct diags *diags = diags_create(arena, 1);
    s->schedule = coder_read(arena, s->program, &none, &options, diags);
    return s->schedule != NULL;
}

/* Points of all loops: what there is to share. */
static double
points_of(const struct sketcher *s)
{
    double total = 0;
    for (size_t i = 0; i < s->program->stage_count; i++) {
        const struct work *work = &s->schedule->works[i];
        double points = 1;
        for (unsigned l = 0; l < work->levels; l++)
            points *= (double)work->extent[l];
        total += points;
    }
    return total;
}

/* Small work is done before other threads have begun. */
static void
drop_threads(struct buf *lines)
{
    char *to = lines->data;
    for (const char *from = lines->data; from != NULL && *from; from++)
        if (from[0] == '@' && from[1] == 'p')
            from++;
        else
            *to++ = *from;
    if (to != NULL) {
        *to = '\0';
        lines->length = (size_t)(to - lines->data);
    }
}

struct coder_space *
coder_space_open(struct arena *arena, const struct program *program,
                 const struct coder_machine *machine)
{
    struct coder_space *space = arena_alloc(arena, sizeof *space);
    *space = (struct coder_space){.arena = arena, .program = program, .machine = *machine};
    return space;
}

struct coder_sketch
coder_sketch(struct coder_space *space, const struct coder_genome *genome)
{
    struct arena *arena = space->arena;
    struct sketcher s = {.space = space,
                         .genome = genome,
                         .program = space->program,
                         .holes = arena_array(arena, MAX_HOLES, sizeof *s.holes),
                         .changes = buf_in(arena),
                         .lines = buf_in(arena)};
    for (size_t i = 0; i < space->program->stage_count; i++)
        change_windows(&s, space->program->stages[i].tensor->name);
    if (!prepare(&s))
        return (struct coder_sketch){"", s.holes, s.hole_count};
    size_t count = s.program->stage_count;
    s.group = arena_array(arena, count + 1, sizeof *s.group);
    for (size_t i = 0; i < count; i++)
        s.group[i] = -1;
    for (size_t i = count; i-- > 0;) {
        const struct work *work = &s.schedule->works[i];
        struct group group;
        if (work->fate == FATE_INLINE || s.group[i] >= 0)
            continue;
        find_group(&s, &group, work);
        if (group.count > 0) {
            put_group(&s, &group);
            continue;
        }
        buf_printf(&s.lines, "%s:", work->tensor->name);
        stage_line(&s, work, 0, false);
        buf_putc(&s.lines, '\n');
    }
    if (!ask_if(&s, "all", "threads", points_of(&s) > SERIAL_POINTS))
        drop_threads(&s.lines);
    buf_add(&s.changes, s.lines.data, s.lines.length);
    return (struct coder_sketch){s.changes.data ? s.changes.data : "", s.holes, s.hole_count};
}
