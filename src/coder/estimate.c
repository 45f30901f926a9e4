/* How long a schedule would take, from its text: what the units issue, what the caches move, what
 * sharing out costs. A draft to rank candidates with before any is measured. */
#include "coder/view_int.h"

#include <math.h>

#define LATENCY 4.0        /* cycles from one addition to the next that needs it */
#define FORWARD 5.0        /* and from a store to a load of it */
#define WIDTH 5.0          /* instructions a cycle */
#define OVERLAP 0.2        /* share of the lesser limits that is not hidden by the greatest */
#define REGION_US 1.0      /* to share work out and to meet again */
#define GATHER_CYCLES 0.75 /* a lane */
#define FOLD_CYCLES 10.0   /* lanes of a register into one value */

struct price { /* a machine with every figure */
    struct coder_machine machine;
    double cycle_ns;
};

static double
or_usual(double value, double usual)
{
    return value > 0 ? value : usual;
}

static struct price
price_of(const struct coder_machine *machine)
{
    struct price price = {.machine = *machine};
    struct coder_machine *m = &price.machine;
    m->threads = m->threads ? m->threads : 1;
    m->vector_bytes = m->vector_bytes ? m->vector_bytes : 32;
    m->registers = m->registers ? m->registers : 16;
    m->l1 = m->l1 ? m->l1 : 32 << 10;
    m->l2 = m->l2 ? m->l2 : 1 << 20;
    m->l3 = m->l3 ? m->l3 : CODER_USUAL_L3;
    double lanes = m->vector_bytes / 4.0;
    m->gflops = or_usual(m->gflops, 12 * lanes); /* 3 GHz, two multiply-adds */
    price.cycle_ns = 4 * lanes / m->gflops;
    m->l2_gbs = or_usual(m->l2_gbs, 32 / price.cycle_ns);
    m->l3_gbs = or_usual(m->l3_gbs, 10 / price.cycle_ns);
    m->memory_gbs = or_usual(m->memory_gbs, 15);
    m->memory_gbs_all = or_usual(m->memory_gbs_all, m->memory_gbs * fmin(m->threads, 4));
    return price;
}

/* ---- operations ---- */

struct load_units { /* cycles of each kind of unit */
    double arithmetic, loads, stores, instructions, latency;
};

/* Cycles of a vector. */
static double
usual_cycles(enum op op)
{
    switch (op) {
    case OP_DIV:
        return 6;
    case OP_SQRT:
    case OP_RSQRT:
        return 8;
    case OP_EXP:
    case OP_EXP2:
        return 12;
    case OP_LOG:
    case OP_LOG2:
        return 14;
    case OP_EXPM1:
    case OP_LOG1P:
    case OP_SIGMOID:
    case OP_SIN:
    case OP_COS:
    case OP_TANH:
    case OP_ATAN:
        return 20;
    case OP_SINH:
    case OP_COSH:
    case OP_TAN:
    case OP_ERF:
    case OP_SOFTPLUS:
        return 30;
    case OP_POW:
        return 40;
    case OP_MIN:
    case OP_MAX:
        return 1; /* a comparison more than the instruction, for NaN */
    default:
        return 0.5;
    }
}

static double
op_cycles(const struct price *price, const struct view *view, const struct expr *e)
{
    double usual = usual_cycles((enum op)e->op), known = price->machine.function_ns[e->op];
    bool function = op_info[e->op].apart && usual > 1;
    if (!function)
        return usual;
    if (view->vector < 0) /* a call for each element */
        return e->op == OP_DIV || e->op == OP_SQRT ? 4 : usual;
    double lanes = view->work->wide ? 2.0 * view->lanes : view->lanes;
    return known > 0 ? known * lanes / price->cycle_ns : usual;
}

struct counting {
    const struct price *price;
    const struct view *view;
    struct load_units *units;
    bool outside; /* of the reduction: once for each result */
    const struct expr *seen[512];
    size_t seen_count;
};

static bool
was_seen(struct counting *counting, const struct expr *e)
{
    for (size_t i = 0; i < counting->seen_count; i++)
        if (counting->seen[i] == e)
            return true;
    if (counting->seen_count < 512)
        counting->seen[counting->seen_count++] = e;
    return false;
}

static double
load_cycles(const struct view *view, const struct expr *load, double *instructions)
{
    int64_t stride = 0;
    *instructions = 1;
    if (view->vector < 0)
        return 0.5;
    double extra = expr_default(load) != NULL && view_pack(view, load) == NULL ? 1 : 0;
    if (view_pack(view, load) == NULL &&
        (!view_lane_stride(view, load, &stride) || stride < -1 || stride > 1)) {
        *instructions = view->lanes;
        return view->lanes * GATHER_CYCLES + extra;
    }
    *instructions += 2 * extra;
    return 0.5 + extra;
}

/* Below the reduction `free` is widened by nothing: nodes know what they depend on. */
static void
count_node(struct counting *counting, const struct expr *e, bool fused)
{
    struct load_units *units = counting->units;
    if (was_seen(counting, e) || e->kind == KIND_INT)
        return;
    double times = counting->outside ? view_results(counting->view, e->free)
                                     : view_executions(counting->view, e->free);
    if (e->op == OP_LOAD && counting->view->scan && e->tensor == counting->view->work->tensor)
        return;
    if (e->op == OP_LOAD) {
        double instructions, cycles = load_cycles(counting->view, e, &instructions);
        units->loads += times * cycles;
        units->instructions += times * instructions;
        return;
    }
    if (e->op == OP_REDUCE)
        return;
    bool works = op_info[e->op].flops > 0 || op_info[e->op].apart;
    if (works && !fused && !expr_is_constant(e)) {
        double cycles = op_cycles(counting->price, counting->view, e);
        units->arithmetic += times * cycles;
        units->instructions += times * fmax(1, 2 * cycles);
    }
    bool free_product = e->op == OP_ADD || e->op == OP_SUB;
    for (unsigned i = 0; i < e->count; i++) {
        bool product = free_product && e->args[i]->op == OP_MUL;
        count_node(counting, e->args[i], product);
        free_product = free_product && !product;
    }
}

/* Terms into their accumulators. */
static void
count_reduction(struct counting *counting)
{
    const struct view *view = counting->view;
    const struct expr *reduce = view->work->reduce;
    struct load_units *units = counting->units;
    enum reduction reduction = reduce->binder->reduction;
    bool sum = reduction == REDUCE_SUM || reduction == REDUCE_MEAN;
    bool choice = reduction == REDUCE_ARGMAX || reduction == REDUCE_ARGMIN;
    uint32_t all = (1u << view->work->levels) - 1;
    double times = view_executions(view, all), results = 1;
    count_node(counting, reduce->args[0], sum && reduce->args[0]->op == OP_MUL);
    if (expr_filter(reduce) != NULL)
        count_node(counting, expr_filter(reduce), false);
    double cycles = choice ? 2 : reduction == REDUCE_SUM || reduction == REDUCE_PROD ? 0.5 : 1;
    units->arithmetic += times * cycles;
    units->instructions += times * 2 * cycles;
    struct view_registers registers = view_registers(view);
    if (view->in_registers) {
        units->latency += times / registers.accumulators * LATENCY;
        double need = registers.accumulators + registers.loads + 1;
        double spilled = fmax(0, need - counting->price->machine.registers);
        units->loads += times / registers.copies * spilled;
        units->stores += times / registers.copies * spilled;
        if (view->vector >= (int)view->work->rank)
            units->arithmetic += view_runs(view, view->acc) * FOLD_CYCLES;
        return;
    }
    /* in memory: each result is read, added to and written */
    for (size_t i = view->count; i-- > view->place;) {
        if (!(view->loops[i].moves & ((1u << view->work->rank) - 1)))
            break;
        results *= view->loops[i].trips;
    }
    units->loads += times * 0.5;
    units->stores += times;
    units->instructions += 2 * times;
    units->latency += times / results * (LATENCY + FORWARD);
}

static void
count_stores(struct counting *counting)
{
    const struct view *view = counting->view;
    struct load_units *units = counting->units;
    uint32_t left = (1u << view->work->rank) - 1;
    double times = 1, passes = 1;
    for (size_t i = 0; i < view->count; i++) {
        bool of_left = view->loops[i].moves & left;
        if (of_left || i < view->place || i < view->acc)
            times *= view->loops[i].trips;
        if (!of_left && i >= view->place && i < view->acc && view->work->reduce != NULL)
            passes *= view->loops[i].trips;
    }
    bool scattered = view->vector >= 0 && view->vector + 1 < (int)view->work->rank;
    double cycles = scattered ? view->lanes : 1;
    if (view->work->reduce != NULL && !view->in_registers)
        return;
    units->stores += times * cycles;
    units->loads += passes > 1 ? times * cycles * 0.5 : 0;
    units->instructions += times * cycles;
}

/* Each element waits for the one before it; in lanes each vector does, after some shuffles. */
static void
count_scan(struct counting *counting)
{
    const struct view *view = counting->view;
    unsigned carried = view->work->stage->carried;
    double times = view_executions(view, (1u << view->work->levels) - 1);
    bool lanes = view->vector == (int)carried;
    if (view->count == 0 || !(view->loops[view->count - 1].moves & 1u << carried))
        return;
    counting->units->latency += times * (lanes ? LATENCY + FOLD_CYCLES / 2 : LATENCY);
    counting->units->arithmetic += lanes ? times * FOLD_CYCLES / 2 : 0;
}

static void
add_units(struct load_units *to, const struct load_units *units, double share)
{
    to->arithmetic += share * units->arithmetic;
    to->loads += share * units->loads;
    to->stores += share * units->stores;
    to->instructions += share * units->instructions;
    to->latency += share * units->latency;
}

static double
view_cycles(const struct price *price, const struct view *view)
{
    struct load_units units = {0};
    struct counting *counting = &(struct counting){
        .price = price, .view = view, .units = &units, .outside = view->work->reduce != NULL};
    count_node(counting, view->work->code, false);
    counting->outside = false;
    struct load_units terms = {0};
    counting->units = &terms;
    if (view->work->reduce != NULL)
        count_reduction(counting);
    add_units(&units, &terms, view->guest ? 1 : bound_share(view->work));
    counting->units = &units;
    if (view->scan)
        count_scan(counting);
    count_stores(counting);
    /* loops themselves */
    double straight = view_registers(view).copies;
    units.instructions +=
        2 * view_executions(view, (1u << view->work->levels) - 1) / fmax(1, straight);
    return fmax(fmax(units.arithmetic, units.loads),
                fmax(fmax(units.stores, units.latency), units.instructions / WIDTH));
}

/* ---- copies ---- */

/* Nanoseconds on one core, reading from where the program lies. */
static double
pack_ns(const struct price *price, const struct view *view, double program_bytes)
{
    const struct coder_machine *m = &price->machine;
    double ns = 0, gbs = program_bytes <= (double)m->l2   ? m->l2_gbs
                         : program_bytes <= (double)m->l3 ? m->l3_gbs
                                                          : m->memory_gbs;
    for (size_t i = 0; i < view->line->count && !view->guest; i++) {
        const struct token *token = &view->line->tokens[i];
        const struct expr *loads[VIEW_LOADS];
        size_t depth = view->place, number = (size_t)token->number;
        if (token->form != TOKEN_PACK || number > VIEW_LOADS ||
            work_loads(view->work->code, token->tensor, loads, VIEW_LOADS) < number)
            continue;
        const struct expr *load = loads[number - 1];
        int64_t stride = 0;
        while (depth < view->count && view->loops[depth].at < i)
            depth++;
        double elements = view_runs(view, depth);
        const int64_t *extent = view_extent(view, depth);
        for (unsigned l = 0; l < view->work->levels; l++)
            if (load->free & 1u << l)
                elements *= (double)extent[l];
        bool even = view->vector >= 0 && view_lane_stride(view, load, &stride) &&
                    (stride == 1 || stride == -1);
        ns += elements * ((even ? 0.5 : 1.5) * price->cycle_ns +
                          (double)dtype_info[load->tensor->dtype].size / gbs);
    }
    return ns;
}

/* ---- the whole ---- */

static double
program_bytes(const struct schedule *schedule)
{
    const struct program *program = schedule->program;
    double bytes = 0;
    for (size_t i = 0; i < program->tensor_count; i++) {
        const struct tensor *tensor = program->tensors[i];
        bool there = tensor->stage == NULL;
        if (!there)
            there = work_is_stored(&schedule->works[tensor->stage - program->stages]);
        bytes += there ? (double)tensor->count * (double)dtype_info[tensor->dtype].size : 0;
    }
    return bytes;
}

static double
group_us(const struct price *price, struct arena *arena, const struct view_group *group,
         double bytes)
{
    const struct coder_machine *m = &price->machine;
    double regions, issue = 0, tasks = view_tasks(group->views[0], &regions);
    double threads = m->threads < tasks ? m->threads : tasks;
    threads = tasks / ceil(tasks / threads); /* the last round may leave some idle */
    for (size_t i = 0; i < group->count; i++)
        issue += (view_cycles(price, group->views[i]) * price->cycle_ns +
                  pack_ns(price, group->views[i], bytes)) /
                 threads;
    double l1 = view_traffic(arena, group, (double)m->l1, threads, bytes <= (double)m->l1, true);
    double l2 = view_traffic(arena, group, (double)m->l2, threads,
                             bytes <= (double)m->l2 * m->threads, false);
    double l3 =
        view_traffic(arena, group, (double)m->l3 / threads, threads, bytes <= (double)m->l3, false);
    double part[] = {issue, l1 / m->l2_gbs / threads, l2 / m->l3_gbs / threads,
                     l3 / fmin(m->memory_gbs * threads, m->memory_gbs_all)};
    double most = 0, sum = 0;
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        most = fmax(most, part[i]);
        sum += part[i];
    }
    double overhead = m->threads > 1 ? regions * REGION_US : 0;
    return (most + OVERLAP * (sum - most)) / 1000 + overhead;
}

double
coder_estimate_us(const struct schedule *schedule, const struct coder_machine *machine)
{
    struct price price = price_of(machine);
    struct arena *arena = arena_create();
    size_t *roots = arena_array(arena, schedule->program->stage_count + 1, sizeof *roots);
    size_t count = view_roots(schedule, roots);
    double us = 0, bytes = program_bytes(schedule);
    for (size_t i = 0; i < count; i++) {
        struct view_group group = view_group(arena, schedule, roots[i]);
        us += group_us(&price, arena, &group, bytes);
    }
    arena_destroy(arena);
    return us;
}
