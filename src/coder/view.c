/* Views of a schedule: see view_int.h. */
#include "coder/view_int.h"

#include "base/num.h"

#include <math.h>
#include <string.h>

#define CACHE_LINE 64
#define PAGE 4096
#define WAYS 8

const char *
view_size_text(struct arena *arena, double bytes)
{
    if (bytes < 1 << 20)
        return arena_printf(arena, "%.0f KB", fmax(bytes / 1024, 1));
    return arena_printf(arena, "%.1f MB", bytes / (1 << 20));
}

bool
view_stores_past(const struct view *view)
{
    bool asked = false;
    for (size_t i = 0; i < view->line->count; i++)
        asked = asked || view->line->tokens[i].form == TOKEN_NT;
    return asked && view->vector >= 0 && view->work->tensor->dtype == DTYPE_F32;
}

/* ---- what is read ---- */

static void
add_loads(const struct expr *e, const struct expr **loads, size_t *count)
{
    if (!e->loads)
        return;
    if (e->op == OP_LOAD) {
        for (size_t i = 0; i < *count; i++)
            if (loads[i] == e)
                return;
        if (*count < VIEW_LOADS)
            loads[(*count)++] = e;
        return; /* what subscripts read is small */
    }
    for (unsigned i = 0; i < e->count; i++)
        add_loads(e->args[i], loads, count);
}

size_t
view_loads(const struct expr *e, const struct expr **loads)
{
    size_t count = 0;
    add_loads(e, loads, &count);
    return count;
}

const struct expr *
view_body(const struct view *view)
{
    return view->work->reduce != NULL ? view->work->reduce->args[0] : view->work->code;
}

static bool
is_straight(const struct view_loop *loop)
{
    return loop->mark == MARK_UNROLL || loop->mark == MARK_OWN || loop->mark == MARK_VECTOR;
}

static bool
is_running(const struct view_loop *loop)
{
    return !is_straight(loop) || (loop->mark == MARK_VECTOR && loop->trips > 1);
}

/* e/W or e%W, e = place + step * the index in lanes + what its loops add. */
struct row {
    int64_t width, place, step;
};

/* Do vectors of `extent` elements from the first on, cut by the straight loops from number `at` on,
 * lie in one row each? */
static bool
keeps_row(const struct view *view, const struct row *row, size_t at, int64_t first, int64_t extent)
{
    while (at < view->count &&
           (is_running(&view->loops[at]) || !(view->loops[at].moves & 1u << view->vector)))
        at++;
    if (at == view->count)
        return num_floor_div(row->place + row->step * first, row->width) ==
               num_floor_div(row->place + row->step * (first + extent - 1), row->width);
    int64_t part = view->loops[at].extent[view->vector];
    for (int64_t i = 0; i < extent; i += part)
        if (!keeps_row(view, row, at + 1, first + i, part < extent - i ? part : extent - i))
            return false;
    return true;
}

/* e/W or e%W where the loops go by whole rows of W and no vector reaches into the next one: there
 * the emitter knows the row and the place in it. */
static bool
goes_by_rows(const struct view *view, const struct expr *e)
{
    int64_t factor[LANG_MAX_LEVELS], extent = view->work->extent[view->vector];
    struct row row = {.width = e->args[1]->integer};
    if (e->args[1]->op != OP_INT || row.width <= 0 || !expr_affine(e->args[0], factor, &row.place))
        return false;
    for (size_t i = 0; i < view->count; i++) {
        const struct view_loop *loop = &view->loops[i];
        for (unsigned l = 0; l < view->work->levels && is_running(loop); l++)
            if ((loop->moves & 1u << l) && factor[l] * loop->extent[l] % row.width != 0)
                return false;
        if (is_running(loop) && (loop->moves & 1u << view->vector))
            extent = loop->extent[view->vector];
    }
    row.step = factor[view->vector];
    return keeps_row(view, &row, 0, 0, extent);
}

/* What one step of a level adds to an expression, however the rest of it is made; false: it
 * depends on where one is. With a view: what one lane adds. */
static bool
step_of(const struct view *view, const struct expr *e, unsigned level, int64_t *step)
{
    int64_t a = 0, b = 0;
    *step = 0;
    if (!(e->free & 1u << level))
        return true;
    switch (e->op) {
    case OP_INDEX:
        *step = 1;
        return true;
    case OP_NEG:
    case OP_ADD:
    case OP_SUB:
        if (!step_of(view, e->args[0], level, &a) ||
            (e->count > 1 && !step_of(view, e->args[1], level, &b)))
            return false;
        *step = e->op == OP_NEG ? -a : e->op == OP_ADD ? a + b : a - b;
        return true;
    case OP_MUL:
        for (unsigned i = 0; i < 2; i++)
            if (e->args[i]->op == OP_INT && step_of(view, e->args[1 - i], level, &a)) {
                *step = a * e->args[i]->integer;
                return true;
            }
        return false;
    case OP_DIV:
    case OP_MOD:
        if (view == NULL || !goes_by_rows(view, e) || !step_of(view, e->args[0], level, &a))
            return false;
        *step = e->op == OP_MOD ? a : 0;
        return true;
    default:
        return false;
    }
}

static bool
stride_of(const struct view *view, const struct expr *load, unsigned level, int64_t *stride)
{
    int64_t size = 1;
    *stride = 0;
    for (unsigned d = load->tensor->rank; d-- > 0; size *= load->tensor->size[d]) {
        int64_t step;
        if (!step_of(view, load->args[d], level, &step))
            return false;
        *stride += step * size;
    }
    return true;
}

bool
view_stride(const struct expr *load, unsigned level, int64_t *stride)
{
    return stride_of(NULL, load, level, stride);
}

bool
view_lane_stride(const struct view *view, const struct expr *load, int64_t *stride)
{
    return stride_of(view, load, (unsigned)view->vector, stride);
}

bool
view_overlaps(const struct expr *load, unsigned left, unsigned reduced, int64_t terms)
{
    int64_t coefficient[LANG_MAX_LEVELS], constant;
    bool overlaps = false;
    for (unsigned d = 0; d < load->tensor->rank; d++) {
        const uint32_t both = 1u << left | 1u << reduced;
        if ((load->args[d]->free & both) != both)
            continue;
        if (!expr_affine(load->args[d], coefficient, &constant))
            return false;
        int64_t by = coefficient[left], term = coefficient[reduced];
        overlaps = overlaps || (term != 0 && by % term == 0 && by / term > 0 && by / term < terms);
    }
    return overlaps;
}

const struct token *
view_pack(const struct view *view, const struct expr *load)
{
    for (size_t i = 0; i < view->line->count && !view->guest; i++) {
        const struct token *token = &view->line->tokens[i];
        const struct expr *loads[VIEW_LOADS];
        if (token->form != TOKEN_PACK || token->tensor != load->tensor)
            continue;
        size_t count = work_loads(view->work->code, token->tensor, loads, VIEW_LOADS);
        if ((size_t)token->number <= count && token->number <= VIEW_LOADS &&
            loads[token->number - 1] == load)
            return token;
    }
    return NULL;
}

/* Elements of one dimension that a subscript takes in a tile. */
static int64_t
subscript_width(const struct expr *e, const int64_t *extent, int64_t size)
{
    struct level levels[LANG_MAX_LEVELS] = {0};
    int64_t low, high;
    if (e->free == 0)
        return 1;
    int64_t points = 1;
    for (unsigned l = 0; l < LANG_MAX_LEVELS; l++)
        if (e->free & 1u << l) {
            levels[l].high = extent[l] - 1;
            points = points < size ? points * extent[l] : size;
        }
    if (e->loads) /* anywhere */
        return points < size ? points : size;
    expr_interval(e, levels, &low, &high);
    return high - low + 1 < size ? high - low + 1 : size;
}

/* Rows of cache lines; dimensions that are taken whole run on into the next one. In a cache whose
 * ways are PAGE bytes, more than WAYS rows that lie a multiple of that apart take one another's
 * places: *room. */
static double
box_bytes(const struct tensor *tensor, const int64_t *width, double *room)
{
    int64_t size = (int64_t)dtype_info[tensor->dtype].size, stride = size;
    double run = (double)size, rows = 1;
    unsigned d = tensor->rank;
    while (d > 0) {
        run *= (double)width[--d];
        stride *= tensor->size[d];
        if (width[d] < tensor->size[d])
            break;
    }
    while (d > 0)
        rows *= (double)width[--d];
    double bytes = ceil(run / CACHE_LINE) * CACHE_LINE;
    *room = rows * (rows > WAYS ? fmax(bytes, (double)num_common_divisor(stride, PAGE)) : bytes);
    return rows * bytes;
}

double
view_bytes(const struct view *view, const struct expr *load, const int64_t *extent, double *room)
{
    int64_t width[LANG_MAX_RANK];
    if (view_pack(view, load) != NULL) {
        double bytes = (double)dtype_info[load->tensor->dtype].size;
        for (unsigned l = 0; l < view->work->levels; l++)
            if (load->free & 1u << l)
                bytes *= (double)extent[l];
        *room = bytes;
        return bytes;
    }
    for (unsigned d = 0; d < load->tensor->rank; d++)
        width[d] = subscript_width(load->args[d], extent, load->tensor->size[d]);
    return box_bytes(load->tensor, width, room);
}

double
view_result_bytes(const struct view *view, const int64_t *extent, double *room)
{
    return box_bytes(view->work->tensor, extent, room);
}

/* ---- loops ---- */

const int64_t *
view_extent(const struct view *view, size_t depth)
{
    return depth == 0 ? view->work->extent : view->loops[depth - 1].extent;
}

double
view_runs(const struct view *view, size_t depth)
{
    double runs = 1;
    for (size_t i = 0; i < depth; i++)
        runs *= view->loops[i].trips;
    return runs;
}

static double
count_runs(const struct view *view, uint32_t free, bool results)
{
    uint32_t left = (1u << view->work->rank) - 1;
    double times = 1;
    bool inside = true; /* nothing that moves it was met yet */
    for (size_t i = view->count; i-- > 0;) {
        const struct view_loop *loop = &view->loops[i];
        bool moved = loop->moves & free;
        if (results && i >= view->place && !(loop->moves & left))
            continue;
        if (moved || (!inside && !is_straight(loop)))
            times *= loop->trips;
        inside = inside && !moved;
    }
    return times;
}

double
view_executions(const struct view *view, uint32_t free)
{
    return count_runs(view, free, false);
}

double
view_results(const struct view *view, uint32_t free)
{
    return count_runs(view, free, true);
}

double
view_tasks(const struct view *view, double *regions)
{
    double tasks = 1;
    size_t first = 0;
    for (size_t i = 0; i < view->count; i++)
        if (view->loops[i].mark == MARK_THREADS) {
            if (tasks == 1)
                first = i;
            tasks *= ceil(view->loops[i].trips - 1e-9);
        }
    *regions = tasks > 1 ? view_runs(view, first) : 0;
    return tasks;
}

struct view_registers
view_registers(const struct view *view)
{
    struct view_registers registers = {1, 0, 1};
    const struct expr *loads[VIEW_LOADS];
    size_t count = view_loads(view_body(view), loads), straight = view->count;
    while (straight > view->place && is_straight(&view->loops[straight - 1]))
        straight--;
    for (size_t i = view->place; i < view->count; i++) {
        const struct view_loop *loop = &view->loops[i];
        bool left = loop->moves & ((1u << view->work->rank) - 1);
        if (i >= straight)
            registers.copies *= ceil(loop->trips - 1e-9);
        if (view->work->reduce != NULL && i >= view->acc && is_straight(loop) &&
            (left || loop->mark == MARK_OWN))
            registers.accumulators *= ceil(loop->trips - 1e-9);
    }
    for (size_t l = 0; l < count; l++) {
        double vectors = 1;
        if (view->vector >= 0 && !(loads[l]->free & 1u << view->vector))
            continue; /* one value for all lanes, read from memory as it is used */
        for (size_t i = straight; i < view->count; i++)
            if ((view->loops[i].moves & loads[l]->free) && view->loops[i].mark != MARK_OWN)
                vectors *= ceil(view->loops[i].trips - 1e-9);
        /* unrolled terms of a reduction follow one another */
        for (size_t i = straight; i < view->count; i++)
            if (view->loops[i].mark != MARK_VECTOR && (view->loops[i].moves & loads[l]->free) &&
                !(view->loops[i].moves & ((1u << view->work->rank) - 1)))
                vectors /= ceil(view->loops[i].trips - 1e-9);
        registers.loads += vectors < 1 ? 1 : vectors;
    }
    return registers;
}

/* ---- building ---- */

struct builder {
    struct arena *arena;
    const struct schedule *schedule;
    struct view_group *group;
};

static struct view_loop *
add_loop(struct builder *builder, struct view *view)
{
    view->loops =
        arena_grow(builder->arena, view->loops, view->count, view->count + 1, sizeof *view->loops);
    struct view_loop *loop = &view->loops[view->count];
    memset(loop, 0, sizeof *loop);
    memcpy(loop->extent, view_extent(view, view->count), sizeof loop->extent);
    view->count++;
    return loop;
}

static void
add_own_loops(struct builder *builder, struct view *view)
{
    bool opened = false;
    for (size_t i = 0; i < view->line->count; i++) {
        const struct token *token = &view->line->tokens[i];
        if (token->form == TOKEN_ACC) {
            view->acc = view->count;
            opened = view->in_registers = true;
        }
        if (token->form != TOKEN_LOOP)
            continue;
        struct view_loop *loop = add_loop(builder, view);
        int64_t before = loop->extent[token->level], inside = token->step;
        loop->token = token;
        loop->at = i;
        loop->mark = token->mark;
        loop->moves = 1u << token->level;
        if (token->mark == MARK_VECTOR) {
            inside = view->lanes;
            view->vector = (int)token->level;
        }
        if (inside > before)
            inside = before;
        loop->before = before;
        loop->trips = token->mark == MARK_VECTOR ? (double)((before + inside - 1) / inside)
                                                 : (double)before / (double)inside;
        loop->extent[token->level] = inside;
    }
    if (!opened)
        view->acc = view->count;
}

static struct view *
add_view(struct builder *builder, size_t stage)
{
    struct view_group *group = builder->group;
    struct view *view = arena_alloc(builder->arena, sizeof *view);
    const struct online *online = builder->schedule->works[stage].online;
    const struct work *work = online != NULL ? &online->work : &builder->schedule->works[stage];
    memset(view, 0, sizeof *view);
    view->work = work;
    view->line = &builder->schedule->lines[stage];
    view->vector = -1;
    view->lanes = work->lanes;
    group->views = arena_grow(builder->arena, group->views, group->count, group->count + 1,
                              sizeof(struct view *));
    group->views[group->count++] = view;
    return view;
}

/* The host's loops, seen by a stage that runs in them. */
static struct view *
add_guest(struct builder *builder, const struct view *host, const struct token *token, size_t at)
{
    struct view *view = add_view(builder, token->stage);
    view->line = host->line;
    view->parent = host;
    view->place = host->place;
    view->guest = true;
    view->in_registers = view->work->reduce != NULL;
    view->scratch = !view->work->stored || !view->work->in_place;
    for (size_t i = 0; i < host->count; i++) {
        const struct view_loop *from = &host->loops[i];
        struct view_loop *loop = add_loop(builder, view);
        loop->token = from->token;
        loop->at = from->at;
        loop->mark = from->mark;
        loop->before = from->before;
        loop->trips = from->trips;
        for (unsigned l = 0; l < view->work->levels; l++) {
            loop->moves |= from->moves & 1u << token->map[l] ? 1u << l : 0;
            loop->extent[l] = from->extent[token->map[l]];
        }
        if (i < host->place || from->at < at)
            view->acc = i + 1;
        if (from->mark == MARK_VECTOR)
            for (unsigned l = 0; l < view->work->levels; l++)
                view->vector = from->moves & 1u << token->map[l] ? (int)l : view->vector;
    }
    if (view->work->reduce == NULL)
        view->acc = view->count;
    return view;
}

/* The exponentials of a tile of online(). */
static void
add_weights(struct builder *builder, const struct view *host)
{
    const struct online *online = host->work->online;
    struct view *view = add_view(builder, online->max->number);
    view->work = &online->weights;
    view->line = &online->line;
    view->parent = host;
    view->scratch = true;
    for (size_t i = 0; i < host->count; i++) {
        const struct view_loop *from = &host->loops[i];
        if (i >= host->place && from->at > online->token + 1)
            break;
        struct view_loop *loop = add_loop(builder, view);
        loop->token = from->token;
        loop->at = from->at;
        loop->mark = from->mark;
        loop->before = from->before;
        loop->trips = from->trips;
        for (unsigned l = 0; l < view->work->levels; l++) {
            loop->moves |= from->moves & 1u << online->row[l] ? 1u << l : 0;
            loop->extent[l] = from->extent[online->row[l]];
        }
    }
    view->place = view->count;
    add_own_loops(builder, view);
}

/* What a reader takes of a producer inside of its first `depth` loops. */
static void
widen_box(const struct view *reader, size_t depth, const struct work *producer, int64_t *extent,
          uint32_t *moves)
{
    const struct expr *loads[VIEW_LOADS];
    size_t count = work_loads(reader->work->code, producer->tensor, loads, VIEW_LOADS);
    for (size_t i = 0; i < count && i < VIEW_LOADS; i++)
        for (unsigned d = 0; d < producer->rank; d++) {
            const struct expr *e = loads[i]->args[d];
            int64_t width = subscript_width(e, view_extent(reader, depth), producer->extent[d]);
            extent[d] = width > extent[d] ? width : extent[d];
            if (e->free & reader->loops[depth - 1].moves)
                *moves |= 1u << d;
        }
}

static void
add_producers(struct builder *builder, const struct view *parent);

/* do(S): the parent's loops outside of it, with the boxes that are read inside of each. */
static void
add_producer(struct builder *builder, const struct view *parent, size_t at)
{
    const struct token *token = &parent->line->tokens[at];
    size_t readers = builder->group->count;
    struct view *view = add_view(builder, token->stage);
    size_t place = parent->place;
    while (place < parent->count && parent->loops[place].at < at)
        place++;
    view->parent = parent;
    view->scratch = !(view->work->stored && view->work->in_place);
    for (size_t i = 0; i < place; i++) {
        struct view_loop *loop = add_loop(builder, view);
        loop->token = parent->loops[i].token;
        loop->at = parent->loops[i].at;
        loop->mark = parent->loops[i].mark;
        loop->before = parent->loops[i].before;
        loop->trips = parent->loops[i].trips;
        for (unsigned d = 0; d < view->work->rank; d++)
            loop->extent[d] = 1;
        for (size_t r = 0; r < readers; r++)
            if (builder->group->views[r]->count > i)
                widen_box(builder->group->views[r], i + 1, view->work, loop->extent, &loop->moves);
    }
    view->place = place;
    add_own_loops(builder, view);
    add_producers(builder, view);
}

/* Guests, then producers from the last to the first: earlier ones are read by later ones. */
static void
add_producers(struct builder *builder, const struct view *parent)
{
    for (size_t i = 0; i < parent->line->count; i++)
        if (parent->line->tokens[i].form == TOKEN_WITH)
            add_guest(builder, parent, &parent->line->tokens[i], i);
    if (parent->work->online != NULL)
        add_weights(builder, parent);
    for (size_t i = parent->line->count; i-- > 0;)
        if (parent->line->tokens[i].form == TOKEN_DO)
            add_producer(builder, parent, i);
}

/* Those that stand around the steps of its block. */
static void
add_rec_loops(struct builder *builder, struct view *view)
{
    const struct line *line = &builder->schedule->recs[view->work->stage->rec];
    for (size_t i = 0; i < line->count; i++) {
        const struct token *token = &line->tokens[i];
        int level = token->form == TOKEN_LOOP ? work_left_level(view->work, token->name) : -1;
        if (level < 0)
            continue;
        struct view_loop *loop = add_loop(builder, view);
        loop->token = token;
        loop->mark = token->mark;
        loop->moves = 1u << level;
        loop->before = loop->extent[level];
        int64_t inside = token->step < loop->before ? token->step : loop->before;
        loop->trips = (double)loop->before / (double)inside;
        loop->extent[level] = inside;
    }
}

struct view_group
view_group(struct arena *arena, const struct schedule *schedule, size_t root)
{
    struct view_group group = {0};
    struct builder builder = {arena, schedule, &group};
    struct view *view = add_view(&builder, root);
    const struct stage *stage = view->work->stage;
    view->scan = work_runs_scan(schedule, view->work);
    if (stage->rec >= 0 && !view->scan) {
        add_rec_loops(&builder, view);
        struct view_loop *loop = add_loop(&builder, view);
        loop->before = view->work->extent[stage->carried];
        loop->trips = (double)loop->before;
        loop->moves = 1u << stage->carried;
        loop->extent[stage->carried] = 1;
        view->place = view->count;
    }
    add_own_loops(&builder, view);
    add_producers(&builder, view);
    return group;
}

size_t
view_roots(const struct schedule *schedule, size_t *roots)
{
    size_t count = 0;
    for (size_t i = 0; i < schedule->program->stage_count; i++)
        if (work_is_root(&schedule->works[i]))
            roots[count++] = i;
    return count;
}
