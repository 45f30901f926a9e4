/* Convolutions: the filters of a tile stay in L1 while the image passes by, so that each plane of
 * the result is written from its beginning to its end; blocks of rows of the image stay in L2 while
 * one filter after the other comes.
 *
 *     pack(F) n@p y/16@p do(P) k/6 y x/2v acc c r@u s@u k@u x/v@u x@v
 *
 * Rows of the image that fill vectors badly are taken value by value, with filters in lanes:
 *
 *     pack(F) k/2v@p n@p y acc c s r x@u k/v@u k@v
 */
#include "coder/sketch_int.h"
#include "coder/view_int.h"

#include <inttypes.h>
#include <string.h>

struct conv {
    struct look *look;
    struct tile tile;
    const struct expr *image, *filter;
    uint32_t phases;               /* left levels that say which terms count: copies of the code */
    uint32_t points;               /* others that the filters do not depend on, */
    int64_t blocks[LANG_MAX_RANK]; /* and steps of their blocks; 0: none */
    uint32_t batch;                /* left levels outside of all */
};

/* Left levels that only the image has; those of the result's planes, which lie inside of the
 * filters'. */
static uint32_t
points_of(const struct look *look, const struct expr *image, const struct expr *filter)
{
    uint32_t points = 0;
    for (unsigned l = (unsigned)look->other + 1; l < look->work->rank; l++)
        if ((int)l != look->vector && (image->free & 1u << l) && !(filter->free & 1u << l))
            points |= 1u << l;
    return points;
}

bool
sketch_is_conv(const struct look *look)
{
    if (look->other < 0 || look->vector != (int)look->work->rank - 1 || look->gathers)
        return false;
    const struct expr *image = sketch_load_with(look, look->vector, look->other);
    const struct expr *filter = sketch_load_with(look, look->other, look->vector);
    return image != NULL && filter != NULL && points_of(look, image, filter) != 0;
}

/* The few values of a remainder, on which it depends whether a term counts. */
static uint32_t
phases_of(const struct look *look)
{
    enum { MOST_PHASES = 8 };
    const struct work *work = look->work;
    const struct expr *filter = expr_filter(work->reduce);
    uint32_t phases = 0;
    for (unsigned l = 0; l < work->rank && filter != NULL; l++)
        if ((filter->free & 1u << l) && (int)l != look->vector && (int)l != look->other &&
            work->tensor->size[l] <= MOST_PHASES)
            phases |= 1u << l;
    return phases;
}

/* Bytes of the image that all of its loops but those of these left levels read. */
static double
bytes_without(const struct conv *conv, uint32_t left)
{
    const struct work *work = conv->look->work;
    struct level levels[LANG_MAX_LEVELS];
    double bytes = (double)dtype_info[conv->image->tensor->dtype].size;
    work_ranges(work, levels);
    for (unsigned l = 0; l < work->rank; l++)
        if (left & 1u << l)
            levels[l].high = levels[l].low;
    for (unsigned d = 0; d < conv->image->tensor->rank; d++) {
        int64_t low, high;
        expr_interval(conv->image->args[d], levels, &low, &high);
        bytes *= (double)(high - low + 1);
    }
    return bytes;
}

/* Blocks of points, from the outermost level on, until what they read of the image fits. */
static void
ask_blocks(struct conv *conv, double tasks)
{
    const struct work *work = conv->look->work;
    struct sketcher *s = conv->look->s;
    const int64_t l2 = s->space->machine.l2;
    const double budgets[] = {(double)l2 / 2, (double)l2, (double)l2 / 4, 1e18, (double)l2 / 8};
    double budget = budgets[sketch_ask(s, work->tensor->name, "image", 5, 0)];
    double wanted = 4.0 * s->space->machine.threads / tasks;
    uint32_t fixed = conv->batch;
    for (unsigned l = 0; l < work->rank; l++) {
        if (!(conv->points & 1u << l) || work->extent[l] == 1)
            continue;
        double whole = bytes_without(conv, fixed), one = bytes_without(conv, fixed | 1u << l);
        double each = (whole - one) / (double)(work->extent[l] - 1);
        double parts = wanted > 1 ? wanted : 1, fits = 1 + (budget - one) / (each > 1 ? each : 1);
        int64_t step = (int64_t)((double)work->extent[l] / parts);
        if (whole > budget && fits < (double)step)
            step = fits < 1 ? 1 : sketch_even_part(work->extent[l], (int64_t)fits, 1, 1);
        conv->blocks[l] = step < 1 ? 1 : step < work->extent[l] ? step : 0;
        wanted /= (double)work->extent[l] / (double)(step < 1 ? 1 : step);
        fixed |= 1u << l;
        if (one <= budget)
            break;
    }
}

/* The loops over batches and blocks; threads share the first ones until there is work for all.
 * Returns how many tasks they have. */
static double
put_outer(struct conv *conv, bool threads)
{
    const struct work *work = conv->look->work;
    struct sketcher *s = conv->look->s;
    double tasks = 1, enough = 4.0 * s->space->machine.threads;
    for (unsigned l = 0; l < work->rank; l++) {
        int64_t step = conv->batch & 1u << l ? 1 : conv->blocks[l];
        if (step == 0 || work->tensor->size[l] == 1)
            continue;
        threads = threads && tasks < enough;
        if (step > 1)
            sketch_put(s, "%s/%" PRId64 "%s", work->index[l], step, threads ? "@p" : "");
        else
            sketch_put(s, "%s%s", work->index[l], threads ? "@p" : "");
        tasks *= threads ? (double)((work->extent[l] + step - 1) / step) : 1;
    }
    return tasks;
}

/* The window as a whole, but for very large ones, and what says which terms count. In networks the
 * compiler's time counts too. */
static uint32_t
ask_unrolled(const struct conv *conv)
{
    enum { NETWORK = 24 }; /* stages */
    static const int64_t copies[] = {49, 25, 9, 3};
    const struct look *look = conv->look;
    const struct work *work = look->work;
    unsigned window = work->rank + (work->levels > work->rank + 1);
    bool network = look->s->space->program->stage_count > NETWORK;
    int64_t most = copies[sketch_ask(look->s, work->tensor->name, "unroll", 4, network ? 3 : 0)];
    return sketch_short(look, window, most) |
           (conv->phases != 0 ? expr_filter(work->reduce)->free : 0);
}

/* Unrolled, so that each copy has its own terms of the window. */
static void
put_phases(const struct conv *conv)
{
    const struct look *look = conv->look;
    for (unsigned l = 0; l < look->work->rank; l++)
        if (conv->phases & 1u << l)
            sketch_put(look->s, "%s@u", sketch_name(look, (int)l));
}

/* Filters and points inside of a block. */
static void
put_inner(struct conv *conv, bool threads)
{
    struct look *look = conv->look;
    struct sketcher *s = look->s;
    const struct work *work = look->work;
    bool cut = work->extent[look->other] > conv->tile.rows;
    bool filters_first = sketch_ask_if(s, work->tensor->name, "filters first", true);
    if (cut && (filters_first || threads))
        sketch_put(s, "%s/%u%s", sketch_name(look, look->other), conv->tile.rows,
                   threads ? "@p" : "");
    put_phases(conv);
    for (unsigned l = 0; l < work->rank; l++)
        if ((conv->points & 1u << l) && work->tensor->size[l] > 1 && conv->blocks[l] != 1)
            sketch_put(s, "%s", sketch_name(look, (int)l));
    if (work->extent[look->vector] > conv->tile.vectors * (int64_t)work->lanes)
        sketch_put(s, conv->tile.vectors > 1 ? "%s/%uv" : "%s/v", sketch_name(look, look->vector),
                   conv->tile.vectors);
    if (cut && !filters_first && !threads)
        sketch_put(s, "%s/%u", sketch_name(look, look->other), conv->tile.rows);
    sketch_put_registers(look, conv->tile, ask_unrolled(conv));
}

/* ---- filters in lanes ---- */

struct filters {
    const struct expr *load; /* NULL: it is no convolution of images with filters */
    int level;               /* which the image's load does not depend on */
};

static struct filters
find_filters(const struct expr *reduce, unsigned rank)
{
    const struct expr *loads[VIEW_LOADS];
    size_t count = reduce != NULL && rank >= 3 ? view_loads(reduce->args[0], loads) : 0;
    if (count != 2)
        return (struct filters){NULL, -1};
    uint32_t last = 1u << (rank - 1), plane = last | 1u << (rank - 2);
    uint32_t asked = expr_filter(reduce) ? expr_filter(reduce)->free : 0;
    if (asked & plane) /* of phases it may ask: they are unrolled */
        return (struct filters){NULL, -1};
    bool second = loads[0]->free & last;
    const struct expr *image = loads[!second], *filter = loads[second];
    for (unsigned l = 0; l + 1 < rank && (image->free & last) && !(filter->free & plane); l++)
        if ((filter->free & 1u << l) && !((image->free | asked) & 1u << l))
            return (struct filters){filter, (int)l};
    return (struct filters){NULL, -1};
}

/* Copying the results out of rows that were put end to end is worth more idle lanes than having
 * them lie there as they should. */
bool
sketch_flat_pays(int64_t width, int64_t row, int64_t lanes)
{
    int64_t rounded = (width + lanes - 1) / lanes * lanes;
    return width < lanes || 10 * rounded > (row > width ? 12 : 11) * row;
}

/* The part of the lanes that do something: rows as they are, or put end to end with what stands
 * around them. */
static double
lanes_in_use(const struct stage *stage, const struct expr *reduce, int64_t lanes)
{
    const struct expr *loads[VIEW_LOADS];
    unsigned last = stage->tensor->rank - 1;
    int64_t width = stage->tensor->size[last], row = width;
    for (size_t i = view_loads(reduce->args[0], loads); i-- > 0;)
        for (unsigned d = 0; d < loads[i]->tensor->rank; d++) {
            const struct expr *e = loads[i]->args[d];
            for (unsigned b = 0; b < reduce->binder->count && (e->free & 1u << last); b++)
                if (e->free & 1u << (reduce->binder->level + b))
                    row = width + expr_integer(reduce->binder->extent[b]) - 1;
        }
    int64_t rounded = (width + lanes - 1) / lanes * lanes;
    return (double)width / (double)(sketch_flat_pays(width, row, lanes) ? row : rounded);
}

bool
sketch_ask_filters(struct sketcher *s, const struct stage *stage)
{
    enum { DEEP = 4 };                    /* vectors of terms */
    const double worth = 0.95, copy = 28; /* a filter is copied in the time of so many points */
    const struct expr *reduce = work_reduce(stage->code);
    int64_t lanes = s->space->machine.vector_bytes / 4;
    struct filters filters = find_filters(reduce, stage->tensor->rank);
    if (filters.load == NULL || stage->tensor->dtype != DTYPE_F32)
        return false;
    int64_t count = stage->tensor->size[filters.level], terms = expr_terms(reduce);
    for (unsigned l = 0; l < stage->tensor->rank && expr_filter(reduce) != NULL; l++)
        if (expr_filter(reduce)->free & 1u << l)
            terms /= stage->tensor->size[l]; /* each phase has its part of them */
    double points = (double)(stage->tensor->count / count);
    if (count < lanes || terms < DEEP * lanes ||
        !sketch_ask_if(s, stage->tensor->name, "filter lanes",
                       (count % lanes == 0 || count > 8 * lanes) && terms >= 4 * DEEP * lanes &&
                           lanes_in_use(stage, reduce, lanes) * (1 + copy / points) < worth))
        return false;
    s->by_filters[s->by_filter_count++] = filters.load->tensor->name;
    return true;
}

bool
sketch_is_by_filters(const struct sketcher *s, const struct work *work)
{
    const struct expr *load = find_filters(work->reduce, work->rank).load;
    for (size_t i = 0; i < s->by_filter_count && load != NULL; i++)
        if (strcmp(s->by_filters[i], load->tensor->name) == 0)
            return true;
    return false;
}

/* What is gone over again and again is to be the smaller one. */
bool
sketch_ask_filters_first(const struct look *look)
{
    const struct work *work = look->work;
    const struct expr *image = sketch_load_with(look, look->vector, look->other);
    const struct expr *filter = sketch_load_with(look, look->other, look->vector);
    double threads = look->s->space->machine.threads, images = 1;
    double blocks = (double)work->extent[look->other] / (2.0 * work->lanes);
    uint32_t points = points_of(look, image, filter);
    for (unsigned l = 0; l < work->rank; l++)
        if ((int)l != look->vector && (int)l != look->other &&
            (!(points & 1u << l) || images < 4 * threads))
            images *= (double)work->extent[l];
    return blocks >= threads && sketch_ask_if(look->s, work->tensor->name, "filters first",
                                              blocks * (double)image->tensor->count <
                                                  images * (double)filter->tensor->count);
}

/* The terms of a tile, those that phases choose from unrolled. Neighbours read the same values at
 * the next place of the window: were that the innermost loop, gcc would carry them along, and has
 * no registers for it. */
static void
put_terms(const struct conv *conv)
{
    const struct work *work = conv->look->work;
    uint32_t beside = 0, chosen = conv->phases != 0 ? expr_filter(work->reduce)->free : 0;
    int inner = -1;
    for (unsigned d = 0; d < conv->image->tensor->rank; d++)
        if (conv->image->args[d]->free & 1u << conv->look->other)
            beside |= conv->image->args[d]->free;
    for (unsigned l = work->rank; l < work->levels; l++)
        if (!((beside | chosen) & 1u << l) && work->extent[l] > 1)
            inner = (int)l;
    for (unsigned l = work->rank; l < work->levels; l++)
        if (!((beside | chosen) & 1u << l) && (int)l != inner)
            sketch_put(conv->look->s, "%s", work->index[l]);
    for (unsigned l = work->rank; l < work->levels; l++)
        if (beside & ~chosen & 1u << l)
            sketch_put(conv->look->s, "%s", work->index[l]);
    if (inner >= 0)
        sketch_put(conv->look->s, "%s", work->index[inner]);
    for (unsigned l = work->rank; l < work->levels; l++)
        if (chosen & 1u << l)
            sketch_put(conv->look->s, "%s@u", work->index[l]);
}

/* Blocks of filters as wide as a tile; of such that threads share each is to have as many. */
static int64_t
blocks_of(const struct look *look, struct tile *tile, bool shared)
{
    int64_t vectors =
        (look->work->extent[look->vector] + look->work->lanes - 1) / look->work->lanes;
    int64_t threads = look->s->space->machine.threads;
    for (unsigned wide = tile->vectors; wide > 0 && shared; wide--)
        if ((vectors + wide - 1) / wide % threads == 0) {
            tile->vectors = wide;
            break;
        }
    return (vectors + tile->vectors - 1) / tile->vectors;
}

/* Loops over these left levels, shared among the threads until there are tasks enough. */
static void
put_levels(const struct conv *conv, uint32_t levels, double *tasks)
{
    const struct work *work = conv->look->work;
    double enough = 4.0 * conv->look->s->space->machine.threads;
    for (unsigned l = 0; l < work->rank; l++) {
        bool shared = *tasks < enough;
        if (!(levels & 1u << l) || work->tensor->size[l] == 1)
            continue;
        sketch_put(conv->look->s, "%s%s", work->index[l], shared ? "@p" : "");
        *tasks *= shared ? (double)work->extent[l] : 1;
    }
}

/* `conv` as it is with the image in lanes. */
static void
filters_line(struct conv conv, bool inner, const char *beside)
{
    struct look look = *conv.look;
    struct sketcher *s = look.s;
    const struct work *work = look.work;
    double enough = 4.0 * s->space->machine.threads, tasks = inner ? enough : 1;
    bool first = beside[0] == '\0' && sketch_ask_filters_first(&look);
    look.vector = conv.look->other;
    look.other = conv.look->vector;
    conv.look = &look;
    const char *k = sketch_name(&look, look.vector), *x = sketch_name(&look, look.other);
    struct tile tile = sketch_ask_tile(&look);
    const char *filters = sketch_access(conv.look, conv.filter);
    int64_t blocks = blocks_of(&look, &tile, first);
    if (!inner && !first)
        sketch_put(s, "pack(%s)", filters);
    if (first) {
        if (blocks > 1)
            sketch_put(s, "%s/%uv%s", k, tile.vectors, inner ? "" : "@p");
        sketch_put(s, "pack(%s)", filters);
        tasks = enough;
    }
    put_levels(&conv, conv.batch, &tasks);
    bool spread = tasks < enough; /* over rows of the image, too */
    if (spread)
        put_levels(&conv, conv.points, &tasks);
    if (beside[0] != '\0')
        sketch_put(s, "%s", beside);
    if (!first && blocks > 1)
        sketch_put(s, "%s/%uv", k, tile.vectors);
    put_phases(&conv);
    if (!spread)
        put_levels(&conv, conv.points, &tasks);
    if (work->extent[look.other] > tile.rows)
        sketch_put(s, "%s/%u", x, tile.rows);
    sketch_put(s, "acc");
    put_terms(&conv);
    if (work->extent[look.other] > 1)
        sketch_put(s, "%s@u", x);
    if (tile.vectors > 1)
        sketch_put(s, "%s/v@u", k);
    sketch_put(s, "%s@v", k);
}

void
sketch_conv_line(struct look *look, uint32_t done, bool inner, const char *beside)
{
    enum { DEEP = 128 };
    const struct work *work = look->work;
    struct sketcher *s = look->s;
    struct conv conv = {.look = look,
                        .image = sketch_load_with(look, look->vector, look->other),
                        .filter = sketch_load_with(look, look->other, look->vector)};
    conv.phases = phases_of(look) & ~done;
    conv.points = points_of(look, conv.image, conv.filter) & ~done & ~conv.phases;
    conv.batch = ((1u << work->rank) - 1) & ~done & ~conv.points & ~conv.phases &
                 ~(1u << look->vector) & ~(1u << look->other);
    if (sketch_is_by_filters(s, work)) {
        filters_line(conv, inner, beside);
        return;
    }
    conv.tile = sketch_ask_tile(look);
    double batches = 1, depth = 1;
    for (unsigned l = 0; l < work->rank; l++)
        batches *= conv.batch & 1u << l ? (double)work->extent[l] : 1;
    for (unsigned l = work->rank; l < work->levels; l++)
        depth *= (double)work->extent[l];
    ask_blocks(&conv, inner ? 1e18 : batches);
    if (!inner && sketch_ask_if(s, work->tensor->name, "pack filters", depth >= DEEP))
        sketch_put(s, "pack(%s)", sketch_access(look, conv.filter));
    double tasks = put_outer(&conv, !inner);
    if (beside[0] != '\0')
        sketch_put(s, "%s", beside);
    put_inner(&conv, !inner && tasks == 1);
}
