/* Advice: what a schedule would pay for on this machine, with figures. */
#include "coder/view_int.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>

#define CHAINS 10      /* independent accumulators that hide the latency of an addition */
#define LINES_MOST 800 /* emitted for one stage: more compile slowly */
#define STACK_MOST 32768
#define TAIL_SHARE 0.1
#define ADVICE_MOST 200

struct adviser {
    struct arena *arena;
    const struct schedule *schedule;
    struct coder_machine machine;
    struct coder_advice *advice;
    size_t count;
};

__attribute__((format(printf, 3, 4))) static void
advise(struct adviser *adviser, const struct view *view, const char *format, ...)
{
    struct buf buf = buf_in(adviser->arena);
    va_list args;
    if (adviser->count == ADVICE_MOST)
        return;
    va_start(args, format);
    buf_vprintf(&buf, format, args);
    va_end(args);
    adviser->advice[adviser->count++] = (struct coder_advice){view->work->tensor->name, buf.data};
}

static double
points_of(const struct view *view)
{
    double points = 1;
    for (unsigned l = 0; l < view->work->levels; l++)
        points *= (double)view->work->extent[l];
    return points;
}

/* ---- registers and chains ---- */

/* Functions take longer than the additions that wait for them. */
static bool
calls_function(const struct expr *e)
{
    if (op_info[e->op].apart && op_info[e->op].flops == 0)
        return true;
    for (unsigned i = 0; i < e->count && e->op != OP_LOAD; i++)
        if (calls_function(e->args[i]))
            return true;
    return false;
}

static void
advise_registers(struct adviser *adviser, const struct view *view)
{
    struct view_registers registers = view_registers(view);
    double need = registers.accumulators + registers.loads + 1;
    if (view->work->reduce == NULL || !view->in_registers)
        return;
    if (need > adviser->machine.registers)
        advise(adviser, view,
               "the tile needs %.0f vector registers (%.0f results, %.0f read, 1 broadcast), here "
               "are %u; the rest goes through memory in every step: make the tile smaller",
               need, registers.accumulators, registers.loads, adviser->machine.registers);
    uint32_t all = (1u << view->work->levels) - 1;
    double terms = view_executions(view, all) / view_runs(view, view->acc);
    bool slow =
        calls_function(view_body(view)) || (view->guest && calls_function(view_body(view->parent)));
    if (registers.accumulators < CHAINS && terms / registers.accumulators >= 16 && !slow)
        advise(adviser, view,
               "%.0f accumulator%s cannot hide the latency of an addition (about 4 cycles, two "
               "units); %d "
               "or more can: unroll with @u on the left or @a on the reduction",
               registers.accumulators, registers.accumulators > 1 ? "s" : "", CHAINS);
}

static void
advise_memory_sums(struct adviser *adviser, const struct view *view)
{
    if (view->work->reduce == NULL || view->in_registers || points_of(view) < 4096)
        return;
    advise(adviser, view,
           "results are read and written in memory for every term; acc keeps them in registers");
}

/* ---- lanes ---- */

static void
advise_lanes(struct adviser *adviser, const struct view *view)
{
    const struct expr *loads[VIEW_LOADS];
    size_t count = view_loads(view_body(view), loads);
    const struct work *work = view->work;
    if (view->vector < 0) {
        if (points_of(view) >= 4096 && work->tensor->dtype != DTYPE_BOOL)
            advise(adviser, view,
                   "no index is in lanes: one element at a time, where a vector holds "
                   "%u; mark the innermost loop with @v",
                   view->lanes);
        return;
    }
    const char *name = work->index[view->vector];
    for (size_t i = 0; i < count; i++) {
        int64_t stride;
        const char *tensor = loads[i]->tensor->name;
        if (view_pack(view, loads[i]) != NULL || loads[i]->tensor == work->tensor)
            continue;
        bool even = view_lane_stride(view, loads[i], &stride);
        if (even && work_is_shuffled(work, loads[i]->tensor, stride))
            continue;
        if (even && stride >= -1 && stride <= 1) {
            if (expr_default(loads[i]) != NULL && (loads[i]->free & 1u << view->vector))
                advise(adviser, view,
                       "%s is read with a default: every vector of it asks where it ends; ! pad %s "
                       "%s copies it with a border once",
                       tensor, work->tensor->name, tensor);
            continue;
        }
        if (even)
            advise(adviser, view,
                   "%s is gathered, %u loads a vector: along %s it moves by %" PRId64
                   " elements; pack(%s), or take another index for lanes",
                   tensor, view->lanes, name, stride, tensor);
        else
            advise(adviser, view,
                   "%s is gathered, %u loads a vector: along %s it does not move "
                   "evenly",
                   tensor, view->lanes, name);
    }
    if (view->vector + 1 < (int)work->rank)
        advise(adviser, view,
               "results are scattered, %u stores a vector: %s is not the last index of %s",
               view->lanes, name, work->tensor->name);
}

/* The share of the elements in lanes that is left over at the ends. */
static void
advise_tails(struct adviser *adviser, const struct view *view)
{
    double useful = 1;
    const char *worst = NULL;
    int64_t step = 0, extent = 0;
    for (size_t i = view->place; i < view->count; i++) {
        const struct view_loop *loop = &view->loops[i];
        if (loop->token == NULL)
            continue;
        int64_t inside =
            loop->mark == MARK_VECTOR ? (int64_t)view->lanes : loop->extent[loop->token->level];
        int64_t rest = loop->before % inside;
        double share = (double)rest / (double)loop->before;
        bool block =
            loop->mark == MARK_THREADS && 10 * rest >= 9 * inside; /* a thread's, as others */
        if (rest == 0 || inside == 1 || share < TAIL_SHARE || block)
            continue;
        if (share > 1 - useful || worst == NULL) {
            worst = view->work->index[loop->token->level];
            step = inside;
            extent = loop->before;
        }
        useful *= 1 - share;
    }
    if (worst != NULL && useful < 1 - TAIL_SHARE)
        advise(adviser, view,
               "%.0f %% of the work is in remainders: %s has %" PRId64 ", in steps of %" PRId64
               "; a step that divides it saves code and time",
               100 * (1 - useful), worst, extent, step);
}

/* ---- caches ---- */

static double
tile_bytes(const struct view *view, size_t depth)
{
    const struct expr *loads[VIEW_LOADS];
    size_t count = view_loads(view->work->code, loads);
    double room, bytes = view_result_bytes(view, view_extent(view, depth), &room);
    for (size_t i = 0; i < count; i++)
        bytes += view_bytes(view, loads[i], view_extent(view, depth), &room);
    return bytes;
}

/* A tile that was cut on purpose and still does not fit. */
static void
advise_caches(struct adviser *adviser, const struct view *view)
{
    const struct coder_machine *machine = &adviser->machine;
    size_t inner = view->count;
    for (size_t i = view->place; i < view->count && i < view->acc; i++) {
        const struct view_loop *loop = &view->loops[i];
        if (loop->token == NULL || loop->trips <= 1)
            continue;
        inner = i + 1;
    }
    if (view->work->reduce == NULL || inner == view->count)
        return;
    double bytes = tile_bytes(view, inner);
    if (bytes > (double)machine->l1 && bytes <= (double)machine->l2)
        advise(adviser, view,
               "the innermost tile reads %s, L1 has %s: it comes from L2 each time; cut the "
               "reduction index",
               view_size_text(adviser->arena, bytes),
               view_size_text(adviser->arena, (double)machine->l1));
    else if (bytes > (double)machine->l2)
        advise(adviser, view, "the innermost tile reads %s, L2 has %s; cut the reduction index",
               view_size_text(adviser->arena, bytes),
               view_size_text(adviser->arena, (double)machine->l2));
}

/* Rows that lie a power of two apart take one another's places. */
static void
advise_conflicts(struct adviser *adviser, const struct view *view)
{
    const struct expr *loads[VIEW_LOADS];
    size_t count = view_loads(view_body(view), loads), depth = view->acc;
    for (size_t i = 0; i < count && view->work->reduce != NULL; i++) {
        double room, bytes;
        if (view_pack(view, loads[i]) != NULL)
            continue;
        bytes = view_bytes(view, loads[i], view_extent(view, depth), &room);
        if (room <= (double)adviser->machine.l1 || room < 4 * bytes ||
            bytes > (double)adviser->machine.l1)
            continue;
        advise(adviser, view,
               "rows of %s lie a power of two apart: the %s of a tile keep falling out of L1; "
               "pack(%s) puts them side by side",
               loads[i]->tensor->name, view_size_text(adviser->arena, bytes),
               loads[i]->tensor->name);
    }
}

static void
advise_scratch(struct adviser *adviser, const struct view *view)
{
    if (!view->scratch || view->parent == NULL)
        return;
    const int64_t *extent = view_extent(view, view->place);
    double bytes = (double)dtype_info[view->work->tensor->dtype].size;
    for (unsigned d = 0; d < view->work->rank; d++)
        bytes *= (double)extent[d];
    if (bytes > (double)adviser->machine.l2)
        advise(
            adviser, view,
            "its box inside of %s takes %s, L2 has %s: each pass over it goes to the next level; "
            "smaller blocks of %s",
            view->parent->work->tensor->name, view_size_text(adviser->arena, bytes),
            view_size_text(adviser->arena, (double)adviser->machine.l2),
            view->parent->work->tensor->name);
    else if (bytes > STACK_MOST / 2 && bytes <= STACK_MOST)
        advise(adviser, view, "its box inside of %s takes %s of the stack",
               view->parent->work->tensor->name, view_size_text(adviser->arena, bytes));
}

static void
advise_past(struct adviser *adviser, const struct view *view)
{
    for (size_t i = 0; i < view->line->count && !view->guest; i++)
        if (view->line->tokens[i].form == TOKEN_NT && !view_stores_past(view))
            advise(adviser, view,
                   "nt does nothing: only vectors of f32 are stored past the caches");
}

/* ---- threads, size ---- */

static void
advise_threads(struct adviser *adviser, const struct view *view)
{
    unsigned threads = adviser->machine.threads;
    double regions, tasks = view_tasks(view, &regions);
    if (view->parent != NULL || threads < 2 || points_of(view) < 32768)
        return;
    if (tasks <= 1) {
        if (view->work->stage->rec < 0)
            advise(adviser, view, "one of %u threads does it all; mark a left index with @p",
                   threads);
    } else if (tasks / ceil(tasks / threads) < 0.9 * threads)
        advise(adviser, view,
               "%.0f iterations for %u threads: %.0f %% of the time they wait; smaller blocks",
               tasks, threads, 100 * (1 - tasks / ceil(tasks / threads) / threads));
    if (regions > 64)
        advise(adviser, view,
               "work is shared out %.0f times, about 1 us each; put @p farther outside", regions);
}

/* Copies of the innermost code: each unrolled one, and again for each remainder. */
static double
estimated_lines(const struct view *view)
{
    const struct expr *loads[VIEW_LOADS];
    double copies = 1, clones = 1;
    size_t reads = view_loads(view->work->code, loads);
    for (size_t i = view->place; i < view->count; i++) {
        const struct view_loop *loop = &view->loops[i];
        if (loop->token == NULL)
            continue;
        bool straight = loop->mark == MARK_UNROLL || loop->mark == MARK_OWN ||
                        (loop->mark == MARK_VECTOR && view->in_registers && i >= view->acc);
        int64_t inside =
            loop->mark == MARK_VECTOR ? (int64_t)view->lanes : loop->extent[loop->token->level];
        if (straight)
            copies *= ceil(loop->trips);
        else if (loop->before % inside != 0 && loop->trips > 1)
            clones *= 1.6; /* the remainder is smaller */
    }
    return clones * (copies * (1 + 0.5 * (double)reads) + 12);
}

static void
advise_size(struct adviser *adviser, const struct view *view)
{
    double lines = estimated_lines(view);
    if (lines > LINES_MOST)
        advise(adviser, view,
               "about %.0f lines of C, more than %d compile slowly; unroll less, or steps that "
               "divide",
               lines, LINES_MOST);
}

/* ---- the whole ---- */

static void
advise_view(struct adviser *adviser, const struct view *view)
{
    advise_threads(adviser, view);
    advise_lanes(adviser, view);
    advise_registers(adviser, view);
    advise_memory_sums(adviser, view);
    advise_caches(adviser, view);
    advise_conflicts(adviser, view);
    advise_scratch(adviser, view);
    advise_past(adviser, view);
    advise_tails(adviser, view);
    advise_size(adviser, view);
}

size_t
coder_advise(struct arena *arena, const struct schedule *schedule,
             const struct coder_machine *machine, struct coder_advice **advice)
{
    struct adviser adviser = {.arena = arena, .schedule = schedule, .machine = *machine};
    size_t *roots = arena_array(arena, schedule->program->stage_count + 1, sizeof *roots);
    size_t count = view_roots(schedule, roots);
    adviser.machine.registers = machine->registers ? machine->registers : 16;
    adviser.machine.l1 = machine->l1 ? machine->l1 : 32 << 10;
    adviser.machine.l2 = machine->l2 ? machine->l2 : 1 << 20;
    adviser.advice = arena_array(arena, ADVICE_MOST, sizeof *adviser.advice);
    for (size_t i = 0; i < count; i++) {
        struct view_group group = view_group(arena, schedule, roots[i]);
        for (size_t v = 0; v < group.count; v++)
            advise_view(&adviser, group.views[v]);
    }
    *advice = adviser.advice;
    return adviser.count;
}
