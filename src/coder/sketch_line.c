/* The line of one stage: a stream, rows, columns, a scan; or what the other sketches write. */
#include "coder/sketch_int.h"
#include "coder/view_int.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const char *
sketch_name(const struct look *look, int level)
{
    return look->work->index[level];
}

/* ---- streams: no reduction ---- */

static const unsigned unrolls[] = {1, 2, 4, 8};

static void
put_fetch(struct sketcher *s)
{
    if (s->fetch != NULL)
        sketch_put(s, "%s", s->fetch);
}

/* All that goes in and out. */
static int64_t
bytes_around(const struct sketcher *s)
{
    const struct program *program = s->program;
    int64_t bytes = 0;
    for (size_t i = 0; i < program->tensor_count; i++)
        if (program->tensors[i]->input >= 0 || program->tensors[i]->output >= 0)
            bytes +=
                program->tensors[i]->count * (int64_t)dtype_info[program->tensors[i]->dtype].size;
    return bytes;
}

/* More than half of the last cache, which others use too. */
static bool
exceeds_caches(const struct sketcher *s)
{
    int64_t last = s->space->machine.l3;
    return bytes_around(s) > (last > 0 ? last : CODER_USUAL_L3) / 2;
}

/* An input that comes from afar, and here first, in the order in which it lies. */
static bool
comes_from_afar(const struct look *look, const struct tensor *tensor)
{
    const struct work *work = look->work;
    const struct expr *load = prefetch_access(work, tensor);
    int64_t bytes = tensor->count * (int64_t)dtype_info[tensor->dtype].size, stride;
    if (tensor->input < 0 || load == NULL || bytes <= look->s->space->machine.l2 / 2 ||
        !view_stride(load, (unsigned)look->vector, &stride) || stride != 1)
        return false;
    for (unsigned d = 0; d < tensor->rank; d++)
        if (load->args[d]->loads) /* where it is read is itself read */
            return false;
    for (size_t i = 0; i < work->number; i++) {
        const struct work *earlier = &look->s->schedule->works[i];
        if (work_has_loops(earlier) && work_loads(earlier->code, tensor, NULL, 0) > 0)
            return false;
    }
    return true;
}

/* From the last cache, elements come faster if they are asked for in time: the processor's own
 * guesses are made for memory, and there they are better alone. pre() for each such input; NULL:
 * none. */
static const char *
ahead_text(const struct look *look, unsigned unroll)
{
    enum { AHEAD_BYTES = 1024 };
    struct sketcher *s = look->s;
    int64_t step = unroll * look->work->lanes * (int64_t)dtype_info[look->work->tensor->dtype].size;
    struct buf text = buf_in(s->space->arena);
    if (step >= AHEAD_BYTES)
        return NULL;
    for (size_t t = 0; t < s->program->tensor_count; t++)
        if (comes_from_afar(look, s->program->tensors[t]))
            buf_printf(&text, "%spre(%s,%" PRId64 ")", text.length > 0 ? " " : "",
                       s->program->tensors[t]->name, AHEAD_BYTES / step);
    return text.length > 0 &&
                   sketch_ask_if(s, look->work->tensor->name, "ahead", !exceeds_caches(s))
               ? text.data
               : NULL;
}

static void
put_lanes(struct look *look, const char *mark, unsigned usual)
{
    struct sketcher *s = look->s;
    const char *stage = look->work->tensor->name, *v = sketch_name(look, look->vector);
    enum { MOST_COPIES = 32 };
    int64_t lanes = look->work->lanes, vectors = look->work->extent[look->vector] / lanes;
    if (look->row >= lanes && look->row <= MOST_COPIES * lanes) {
        /* by whole rows: then every vector knows its place in one */
        if (look->row < look->work->extent[look->vector])
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
        if (unroll * lanes < look->work->extent[look->vector]) {
            const char *ahead = ahead_text(look, unroll);
            sketch_put(s, "%s/%uv", v, unroll);
            if (ahead != NULL)
                sketch_put(s, "%s", ahead);
        }
        put_fetch(s);
        sketch_put(s, "%s/v@%s", v, mark);
    } else if (s->fetch != NULL && vectors > 1) {
        sketch_put(s, "%s/v", v);
        put_fetch(s);
    }
    sketch_put(s, "%s@v", v);
}

bool
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
    return threads;
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

bool
sketch_ask_past(const struct look *look, bool usual)
{
    struct sketcher *s = look->s;
    const struct work *work = look->work;
    return work->tensor->output >= 0 && look->vector >= 0 && !is_read(s, work) &&
           work->tensor->count * 4 > 4 * s->space->machine.l2 &&
           sketch_ask_if(s, work->tensor->name, "nt", usual && exceeds_caches(s));
}

/* Bytes of what is read in the same way for all values of a level, in one step of another. */
static int64_t
shared_bytes(const struct look *look, unsigned level, int step)
{
    const struct expr *loads[VIEW_LOADS];
    int64_t bytes = 0;
    for (size_t i = view_loads(look->body, loads); i-- > 0;) {
        const struct tensor *tensor = loads[i]->tensor;
        bool moves = step >= 0 && (loads[i]->free & 1u << step);
        if (!(loads[i]->free & 1u << level))
            bytes += tensor->count * (int64_t)dtype_info[tensor->dtype].size /
                     (moves ? look->work->extent[step] : 1);
    }
    return bytes;
}

/* The weights of a norm of large images, say: they would come from memory for each image. So a part
 * of them that stays in the first cache goes over all images. False: there are none such. */
static bool
put_shared(struct look *look, bool nt)
{
    struct sketcher *s = look->s;
    const struct work *work = look->work;
    int outer = -1, cut = -1;
    double tasks = 1;
    for (unsigned l = 0; l < work->rank; l++)
        if ((int)l != look->vector && work->extent[l] > 1) {
            cut = outer < 0 ? -1 : (int)l;
            outer = outer < 0 ? (int)l : outer;
        }
    if (cut < 0 || shared_bytes(look, (unsigned)outer, -1) <= s->space->machine.l2 ||
        !sketch_ask_if(s, work->tensor->name, "shared", exceeds_caches(s)))
        return false;
    int64_t step = shared_bytes(look, (unsigned)outer, cut);
    for (unsigned l = 0; l < work->rank; l++) {
        bool moves =
            shared_bytes(look, (unsigned)outer, (int)l) < shared_bytes(look, (unsigned)outer, -1);
        if ((int)l == outer || (int)l == cut || (int)l == look->vector || work->extent[l] == 1)
            continue;
        sketch_put(s, "%s%s", sketch_name(look, (int)l),
                   tasks < 4.0 * s->space->machine.threads ? "@p" : "");
        tasks *= (double)work->extent[l];
        step /= moves ? work->extent[l] : 1;
    }
    int64_t part = s->space->machine.l1 * 2 / 3 / (step > 0 ? step : 1);
    part = part < 1 ? 1 : part < work->extent[cut] ? part : work->extent[cut];
    sketch_put(s, "%s/%" PRId64 "%s", sketch_name(look, cut), part,
               tasks < 4.0 * s->space->machine.threads ? "@p" : "");
    sketch_put(s, "%s %s%s", sketch_name(look, outer), sketch_name(look, cut), nt ? " nt" : "");
    put_lanes(look, "u", 1);
    return true;
}

/* Rows that begin anywhere go past the caches in long pieces: loops over the rows of a piece. */
struct piece {
    uint32_t loops;
    int level;   /* whose loop is cut, or -1, */
    int64_t cut; /* to so many */
};

/* False: they are too short for that. */
static bool
find_piece(const struct look *look, uint32_t but, bool threads, struct piece *piece)
{
    enum { ENOUGH = 2048, MOST = CODER_PAST_ELEMENTS };
    const struct work *work = look->work;
    double tasks = threads ? 4.0 * look->s->space->machine.threads : 1;
    *piece = (struct piece){.level = -1};
    if (look->vector + 1 != (int)work->rank)
        return false;
    int64_t length = work->extent[look->vector];
    for (unsigned l = work->rank - 1; l-- > 0 && length < ENOUGH;) {
        double others = 1;
        for (unsigned o = 0; o < l; o++)
            others *= but & 1u << o ? 1 : (double)work->extent[o];
        if (but & 1u << l)
            return false;
        piece->loops |= 1u << l;
        if (length * work->extent[l] > MOST || others < tasks) {
            piece->level = (int)l;
            piece->cut = MOST / 2 / length;
            return piece->cut < work->extent[l];
        }
        length *= work->extent[l];
    }
    return length >= ENOUGH;
}

static void
stream_line(struct look *look, uint32_t done, bool inner)
{
    struct sketcher *s = look->s;
    const struct work *work = look->work;
    uint32_t but = done | (look->vector >= 0 ? 1u << look->vector : 0);
    struct piece piece = {.level = -1};
    const bool parallel = !inner && work->stage->rec < 0;
    bool nt = (!work_has_ragged_rows(work) || find_piece(look, but, parallel, &piece)) &&
              sketch_ask_past(look, true);
    if (!nt)
        piece = (struct piece){.level = -1};
    if (parallel && done == 0 && look->vector >= 0 && piece.loops == 0 && put_shared(look, nt))
        return;
    double rows = 1;
    for (unsigned l = 0; l < work->rank; l++)
        if (!(but & 1u << l))
            rows *= (double)work->extent[l];
    bool threads = sketch_put_left(look, but | piece.loops, parallel);
    if (piece.level >= 0)
        sketch_put(s, "%s/%" PRId64 "%s", sketch_name(look, piece.level), piece.cut,
                   threads ? "@p" : "");
    if (look->vector >= 0) {
        bool alone = rows < s->space->machine.threads && parallel;
        int64_t part = work->extent[look->vector] / (8 * s->space->machine.threads);
        if (alone && part > 64 * work->lanes)
            sketch_put(s, "%s/%" PRId64 "@p", sketch_name(look, look->vector),
                       part / work->lanes * work->lanes);
        if (nt)
            sketch_put(s, "nt");
        sketch_put_left(look, ~piece.loops, false);
        if (s->with != NULL)
            sketch_put(s, "%s", s->with);
        put_lanes(look, "u", exceeds_caches(s) ? 1 : 2);
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

void
sketch_put_reduction(struct look *look, uint32_t unrolled)
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

/* Several rows at a time: some machines read memory faster so, others half as fast. */
static void
rows_line(struct look *look, uint32_t done, bool inner)
{
    static const unsigned rows_of[] = {1, 4, 2, 8};
    struct sketcher *s = look->s;
    const struct work *work = look->work;
    const char *stage = work->tensor->name, *v = sketch_name(look, look->vector);
    bool threads = !inner && work->stage->rec < 0;
    int level = last_left(work, done);
    unsigned rows = level < 0 ? 1 : rows_of[sketch_ask(s, stage, "rows", 4, 0)];
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

/* ---- parts ---- */

int64_t
sketch_round_to(int64_t value, int64_t step)
{
    value = value / step * step;
    return value < step ? step : value;
}

int64_t
sketch_even_part(int64_t extent, int64_t most, int64_t groups, int64_t unit)
{
    int64_t parts = (extent + most - 1) / most;
    parts = (parts + groups - 1) / groups * groups;
    int64_t part = (extent + parts - 1) / parts;
    return (part + unit - 1) / unit * unit;
}

int64_t
sketch_fair_block(int64_t wanted, int64_t extent, int64_t threads)
{
    int64_t share = (extent + threads - 1) / threads, best = 1;
    double least = INFINITY;
    wanted = wanted < share ? wanted : share;
    for (int64_t size = (wanted + 1) / 2; size <= 2 * wanted && size <= share; size++) {
        int64_t blocks = (extent + size - 1) / size;
        double busiest = (double)((blocks + threads - 1) / threads * size);
        double cost = busiest / (double)share + 0.02 * fabs(log2((double)size / (double)wanted));
        if (cost < least) {
            least = cost;
            best = size;
        }
    }
    return best;
}

/* ---- columns: what is added lies in other rows ---- */

/* A left index whose neighbours are nearer to each other than terms of the reduction are: rows that
 * lie one after the other. -1: none. */
static int
near_rows(const struct look *look, unsigned red)
{
    const struct expr *loads[VIEW_LOADS];
    size_t count = view_loads(look->body, loads);
    int level = look->vector - 1;
    int64_t down, far;
    if (level < 0 || look->work->extent[level] < 2)
        return -1;
    for (size_t i = 0; i < count; i++)
        if (!view_stride(loads[i], (unsigned)level, &down) || !view_stride(loads[i], red, &far) ||
            down == 0 || far <= down)
            return -1;
    return count > 0 ? level : -1;
}

static bool
is_place(const struct work *work)
{
    return work->reduce->binder->reduction >= REDUCE_ARGMAX;
}

/* Left loops of columns_line(): `near` in blocks, or the width in parts, so that results stay in
 * the first cache. How wide it is inside of them. */
static int64_t
put_column_blocks(struct look *look, uint32_t done, int near, int64_t across)
{
    struct sketcher *s = look->s;
    const struct work *work = look->work;
    int64_t threads = s->space->machine.threads, width = work->extent[look->vector];
    int64_t fits = s->space->machine.l1 / (int64_t)dtype_info[work->tensor->dtype].size;
    uint32_t but = done | 1u << look->vector | (near >= 0 ? 1u << near : 0);
    double others = 1;
    for (unsigned l = 0; l < work->rank; l++)
        others *= but & 1u << l ? 1 : (double)work->extent[l];
    sketch_put_left(look, but, true);
    const char *mark = others < 4.0 * (double)threads ? "@p" : "";
    if (near >= 0) {
        int64_t rows = fits / width > 1 ? fits / width : 1;
        sketch_put(s, "%s/%" PRId64 "%s", sketch_name(look, near),
                   sketch_fair_block(rows, work->extent[near], threads), mark);
    } else {
        int64_t part =
            sketch_even_part(width, sketch_round_to(fits / 2, across), *mark ? threads : 1, across);
        if (part < width) {
            sketch_put(s, "%s/%" PRId64 "%s", sketch_name(look, look->vector), part, mark);
            width = part;
        }
    }
    return width;
}

/* Memory is read faster in whole rows, a few at a time, than down a column: the results wait in the
 * first cache. */
static bool
columns_line(struct look *look, uint32_t done, bool inner)
{
    static const int64_t depths[] = {8, 16, 4, 0};
    static const unsigned vectors[] = {4, 2, 8};
    struct sketcher *s = look->s;
    const struct work *work = look->work;
    const char *stage = work->tensor->name, *v = sketch_name(look, look->vector);
    unsigned red = work->rank;
    if (look->other >= 0 || inner || work->stage->rec >= 0 || work->levels != red + 1 ||
        work->extent[red] < 16 || is_place(work) || work->bound_count > 0 || look->gathers ||
        work->extent[look->vector] < 4 * (int64_t)work->lanes)
        return false;
    int64_t depth = depths[sketch_ask(s, stage, "passes", 4, 0)];
    if (depth == 0)
        return false;
    unsigned wide = vectors[sketch_ask(s, stage, "vectors", 3, 0)];
    int near = near_rows(look, red);
    int64_t width = put_column_blocks(look, done, near, wide * work->lanes);
    sketch_put(s, "%s/%" PRId64, sketch_name(look, (int)red), depth);
    if (near >= 0)
        sketch_put(s, "%s", sketch_name(look, near));
    if (wide * work->lanes < width)
        sketch_put(s, "%s/%uv", v, wide);
    sketch_put(s, "acc %s@u %s/v@u %s@v", sketch_name(look, (int)red), v, v);
    return true;
}

/* ---- one stage ---- */

/* Each step of a scan waits for the one before it: those of several rows do not wait for each
 * other. */
static bool
scan_rows(struct look *look, uint32_t but)
{
    static const unsigned rows_of[] = {16, 8, 4, 1};
    struct sketcher *s = look->s;
    const struct work *work = look->work;
    int level = last_left(work, but);
    double others = 1;
    if (level < 0 || work->extent[level] < 16)
        return false;
    unsigned rows = rows_of[sketch_ask(s, work->tensor->name, "rows", 4, 0)];
    while (rows > 1 && 2 * rows * (int64_t)s->space->machine.threads > work->extent[level])
        rows /= 2;
    if (rows == 1)
        return false;
    for (unsigned l = 0; l < work->rank; l++)
        others *= (but & 1u << l) || (int)l == level ? 1 : (double)work->extent[l];
    sketch_put_left(look, but | 1u << level, true);
    sketch_put(s, "%s/%u%s", sketch_name(look, level), rows, others == 1 ? "@p" : "");
    sketch_put(s, "%s %s@u", sketch_name(look, (int)work->stage->carried),
               sketch_name(look, level));
    return true;
}

bool
sketch_scans_in_lanes(const struct work *work)
{
    return work->before != NULL && work->stage->carried + 1 == work->rank &&
           work_running_sum(work) != NULL &&
           (work->tensor->dtype == DTYPE_F32 || work->tensor->dtype == DTYPE_F64);
}

/* Scans: along their own index in a register, or with another index in lanes. Those with others in
 * their loops or in other loops are of the first kind. */
static void
scan_line(struct sketcher *s, const struct work *work, uint32_t done, bool inner)
{
    struct look look = sketch_look(s, work);
    unsigned carried = work->stage->carried;
    bool last = carried + 1 == work->rank;
    uint32_t but = 1u << carried;
    if (sketch_scans_in_lanes(work) &&
        (inner || sketch_ask_if(s, work->tensor->name, "scan in lanes", true))) {
        sketch_put_left(&look, but | done, !inner);
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
    if (work->reduce == NULL && scan_rows(&look, but))
        return;
    sketch_put_left(&look, but, true);
    sketch_put(s, "%s", sketch_name(&look, (int)carried));
    if (work->reduce != NULL) {
        sketch_put(s, "acc");
        sketch_put_reduction(&look, sketch_short(&look, work->rank, 8));
    }
}

/* A reduction of fewer terms than lanes: the chunks of a total. */
static bool
is_short(const struct work *work, int level)
{
    return work->levels == work->rank + 1 && level == (int)work->rank &&
           work->extent[level] < work->lanes;
}

void
sketch_line(struct sketcher *s, const struct work *work, uint32_t done, bool inner)
{
    if (work->before != NULL && (!inner || sketch_scans_in_lanes(work))) {
        scan_line(s, work, done, inner);
        return;
    }
    struct look look = sketch_look(s, work);
    if (work->reduce == NULL)
        stream_line(&look, done | ones_of(work), inner);
    else if (look.vector < 0 || is_short(work, look.vector)) {
        sketch_put_left(&look, done | ones_of(work), !inner && work->stage->rec < 0);
        sketch_put(s, "acc");
        sketch_put_reduction(&look, sketch_short(&look, work->rank, 8));
    } else if (look.dots)
        sketch_dots_line(&look, done | ones_of(work), inner);
    else if (look.vector >= (int)work->rank)
        rows_line(&look, done | ones_of(work), inner);
    else if (look.window)
        sketch_window_line(&look, done | ones_of(work), inner);
    else if (work->stage->rec < 0 && sketch_is_conv(&look))
        sketch_conv_line(&look, done, inner, "");
    else if (!columns_line(&look, done | ones_of(work), inner))
        sketch_tile_line(&look, done | ones_of(work), inner);
}
