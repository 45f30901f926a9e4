/* A task as the judge sees it: the program of each case, its reference, its memory; and for dims
 * that may have any size, cases with sizes of our own. */
#include "judge/judge_int.h"

#include <math.h>
#include <string.h>

static const double MOST_SECONDS = 120; /* of the reference */
static const double FREE_PART = 0.75;   /* of memory, for a task */
enum { DRAWN_SIZES = 2, DRAW_ATTEMPTS = 20 };

/* ---- what can be judged here ---- */

struct demand {
    double bytes, seconds;
};

static double
tensor_bytes(const struct tensor *tensor)
{
    return (double)tensor->count * (double)dtype_info[tensor->dtype].size;
}

/* Inputs and outputs twice over, and the reference at its worst moment. Where that is of some rows,
 * an honest evaluation of all: no more than a value of each stage, and a small part of the time. */
static struct demand
demand_of(const struct judge__case *c)
{
    enum { HONEST_FASTER = 15 };
    const struct program *program = c->program;
    struct demand demand = {2 * task_needed_bytes(c->rows ? c->rows : program),
                            judge__estimate(c->rows ? c->rows : program)};

    for (size_t o = 0; o < program->output_count; o++)
        demand.bytes += 2 * tensor_bytes(program->outputs[o]);
    if (c->rows) {
        for (size_t t = 0; t < program->tensor_count; t++)
            demand.bytes += (t < program->input_count ? 2 : 1) * tensor_bytes(program->tensors[t]);
        demand.seconds += judge__estimate(program) / HONEST_FASTER;
    }
    return demand;
}

static double
badness(const struct demand *demand, double bytes)
{
    return fmax(demand->bytes / bytes, demand->seconds / MOST_SECONDS);
}

/* The dim that helps most when halved. */
static const char *
dim_to_shrink(struct judge_task *task, size_t number, const struct program *program, double bytes)
{
    const char *best = program->dim_count ? program->dims[0].name : "a dim";
    double least = INFINITY;

    for (size_t d = 0; d < program->dim_count; d++) {
        struct lang_size half = {program->dims[d].name, (program->dims[d].size + 1) / 2};
        struct program *smaller =
            lang_program(task->lang, number, &half, 1, diags_create(task->arena, 0));
        struct demand demand = smaller ? demand_of(&(struct judge__case){.program = smaller})
                                       : (struct demand){INFINITY, INFINITY};

        if (badness(&demand, bytes) < least) {
            least = badness(&demand, bytes);
            best = program->dims[d].name;
        }
    }
    return best;
}

static enum status
check_demand(struct judge_task *task, size_t number, const struct judge__case *c,
             struct diags *diags)
{
    const struct program *program = c->program;
    struct demand demand = demand_of(c);
    double bytes = FREE_PART * task_free_bytes();

    if (task->only_timed)
        demand.seconds = 0;
    if (badness(&demand, bytes) <= 1)
        return STATUS_OK;
    const char *dim = dim_to_shrink(task, number, program, bytes);
    if (demand.bytes > bytes)
        diags_add(
            diags, DIAG_ERROR, (struct place){0},
            "%s: case %s needs %.1f GB to be judged, and of what is free here %.1f GB can be had; "
            "make %s smaller, or name other cases with --case",
            program->name, program->case_name, demand.bytes / 1e9, bytes / 1e9, dim);
    else
        diags_add(diags, DIAG_ERROR, (struct place){0},
                  "%s: the reference of case %s would take about %.0f s, at most %.0f are allowed; "
                  "make %s smaller, or name other cases with --case",
                  program->name, program->case_name, demand.seconds, MOST_SECONDS, dim);
    return STATUS_INPUT;
}

/* ---- one case ---- */

/* The figures of the machine are for all threads; a part of them has a part of the peaks. */
static void
light_of(struct judge__case *c)
{
    struct lang_machine *machine = arena_alloc(c->task->arena, sizeof *machine);
    const struct measure_figures *figures = &c->task->judge->kept.figures;
    double part;

    *machine = c->task->judge->machine; /* `light` points into it */
    part = (double)c->task->threads / fmax(1, (double)machine->threads);
    if (part < 1) {
        for (unsigned op = 0; op < OP_COUNT; op++)
            machine->function_ns[op] /= part;
        machine->gflops_f32 *= part;
        machine->gflops_f64 *= part;
        for (unsigned l = 0; l < machine->level_count; l++)
            machine->level[l].gbs = c->task->judge->kept.whole && c->task->threads == 1
                                        ? figures->level[l].gbs[MEASURE_ONE]
                                        : machine->level[l].gbs * part;
        machine->threads = c->task->threads;
    }
    lang_cost(c->program, &c->cost);
    lang_light(c->program, &c->cost, machine, &c->light);
}

/* Expected values that stay for the timed calls and, where the inputs are the task's, for the next
 * kernel. */
static bool
can_keep(const struct judge__case *c)
{
    double bytes = 0;

    for (size_t o = 0; o < c->program->output_count; o++)
        bytes += 24.0 * (double)(c->rows ? c->rows : c->program)->outputs[o]->count;
    return bytes * (double)c->kind_count < task_free_bytes() / 4;
}

static enum status
open_case(struct judge__case *c, struct diags *diags)
{
    enum status status;

    judge__progress(c->task->judge, "%s  preparing case %s", c->program->name,
                    c->program->case_name);
    light_of(c);
    status = c->task->only_timed
                 ? STATUS_OK
                 : evaluator_open(c->rows ? c->rows : c->program, &c->evaluator, diags);
    if (status == STATUS_OK)
        status = judge__slots_create(c, diags);
    if (status == STATUS_OK)
        status = judge__choose_kinds(c, diags);
    c->keeps = can_keep(c);
    return status;
}

static void
close_case(struct judge__case *c)
{
    for (size_t k = 0; k < DRAW_COUNT; k++)
        judge__set_drop(&c->kept[k]);
    judge_kernel_close(c->naive);
    judge__slots_destroy(c);
    evaluator_close(c->evaluator);
    reference_close(c->honest);
}

/* ---- sizes for `any` ---- */

static bool
has_any(const struct program *program)
{
    for (size_t d = 0; d < program->dim_count; d++)
        if (program->dims[d].any)
            return true;
    return false;
}

/* The first draw has the smallest size that `require` lets through, near 1; the others lie anywhere
 * up to twice the given one. */
static struct program *
draw_sizes(struct judge_task *task, const struct program *program, size_t number, struct rng *rng)
{
    struct lang_size *sizes = arena_array(task->arena, program->dim_count, sizeof *sizes);
    struct program *drawn = NULL;

    for (unsigned attempt = 0; attempt < DRAW_ATTEMPTS && !drawn; attempt++) {
        size_t count = 0;

        for (size_t d = 0; d < program->dim_count; d++) {
            const struct dim *dim = &program->dims[d];
            int64_t size = number == 0 && attempt < 4
                               ? 1 + (int64_t)attempt
                               : 1 + (int64_t)rng_below(rng, 2 * (uint64_t)dim->given);

            if (dim->any)
                sizes[count++] = (struct lang_size){dim->name, size};
        }
        drawn = lang_program(task->lang, 0, sizes, count, diags_create(task->arena, 0));
    }
    return drawn;
}

static void
add_drawn_cases(struct judge_task *task, const struct program *first)
{
    struct rng rng = rng_stream(task->seed, "sizes");

    for (size_t i = 0; i < DRAWN_SIZES; i++) {
        struct program *drawn = draw_sizes(task, first, i, &rng);

        if (!drawn)
            continue;
        drawn->case_name = judge__sizes_name(task->arena, drawn);
        drawn->check_only = true;
        task->seeded = true; /* the sizes are part of what a seed repeats */
        task->cases[task->case_count++].program = drawn;
    }
}

/* ---- the task ---- */

static enum status
make_programs(struct judge_task *task, const struct judge_setup *setup, struct diags *diags)
{
    size_t count = setup->cases ? setup->case_count : lang_case_count(task->lang);
    const struct program *first = NULL;

    task->cases =
        arena_array(task->arena, count + DRAWN_SIZES + setup->extra_count, sizeof *task->cases);
    for (size_t i = 0; i < count; i++) {
        size_t number = setup->cases ? setup->cases[i] : i;
        struct program *program = lang_program(task->lang, number, NULL, 0, diags);

        if (!program)
            return STATUS_INPUT;
        struct judge__case *c = &task->cases[task->case_count++];
        c->program = program;
        if (!task->only_timed)
            judge__choose_rows(task, c, number, setup->enough);
        enum status status = check_demand(task, number, c, diags);
        if (status != STATUS_OK)
            return status;
        first = first ? first : program;
    }
    const char *reason = target_supports(task->arena, task->target, first);
    if (reason) {
        diags_add(diags, DIAG_ERROR, (struct place){0}, "%s: %s cannot run it: %s", first->name,
                  task->target->name, reason);
        return STATUS_INPUT;
    }
    if (has_any(first))
        add_drawn_cases(task, first);
    judge__add_sizes(task, setup, first);
    return STATUS_OK;
}

/* Seen from the first case; a task too large for that is not asked. */
static void
find_blind_spots(struct judge_task *task)
{
    struct judge__case *c = &task->cases[0];
    const struct program *program = c->program;
    struct sight *sights = arena_array(task->arena, program->input_count + 1, sizeof *sights);
    bool *ill_posed = arena_array(task->arena, program->output_count, sizeof *ill_posed);
    struct buf unseen = buf_in(task->arena), vague = buf_in(task->arena);

    if (c->freshness != FRESH || task_see(task->arena, program, 1, sights, ill_posed,
                                          diags_create(task->arena, 0)) != STATUS_OK)
        return;
    for (size_t i = 0; i < program->input_count; i++)
        if (sights[i].tried && !sights[i].seen)
            buf_printf(&unseen, "%s%s", unseen.length ? ", " : "", program->tensors[i]->name);
    for (size_t o = 0; o < program->output_count; o++)
        if (ill_posed[o])
            buf_printf(&vague, "%s%s", vague.length ? ", " : "", program->outputs[o]->name);
    c->cannot_see = unseen.length ? unseen.data : NULL;
    c->ill_posed = vague.length ? vague.data : NULL;
}

static struct judge_task *
new_task(struct judge *judge, const struct judge_setup *setup)
{
    struct arena *arena = arena_create();
    struct judge_task *task;

    if (!arena)
        return NULL;
    task = arena_alloc(arena, sizeof *task);
    task->judge = judge;
    task->arena = arena;
    task->lang = setup->lang;
    task->target = setup->target;
    task->threads = setup->threads ? setup->threads : (unsigned)judge->cpu_count;
    task->seeded = setup->seeded;
    task->seed = setup->seeded ? setup->seed : judge__secret();
    task->same_inputs = setup->same_inputs;
    task->effort = setup->effort;
    task->no_baseline = setup->no_baseline;
    task->only_timed = setup->only_timed;
    return task;
}

enum status
judge_fits(struct judge *judge, const struct judge_setup *setup, struct diags *diags)
{
    struct judge_task *task = new_task(judge, setup);

    if (!task)
        return judge__no_memory(diags);
    enum status status = make_programs(task, setup, diags);
    judge_task_close(task);
    return status;
}

enum status
judge_task_open(struct judge *judge, const struct judge_setup *setup, struct judge_task **result,
                struct diags *diags)
{
    struct judge_task *task = new_task(judge, setup);
    enum status status;

    *result = NULL;
    if (!task)
        return judge__no_memory(diags);
    if (task->threads > judge->cpu_count) {
        diags_add(diags, DIAG_ERROR, (struct place){0},
                  "--threads %u: this program may use %zu processors; write at most that",
                  task->threads, judge->cpu_count);
        status = STATUS_INPUT;
    } else {
        status = make_programs(task, setup, diags);
    }
    for (size_t i = 0; i < task->case_count && status == STATUS_OK; i++) {
        task->cases[i].task = task;
        status = open_case(&task->cases[i], diags);
        judge__read_patterns(&task->cases[i], setup);
        /* sets that stay for the whole task have the seed that every verdict then names */
        task->seeded = task->seeded || task->cases[i].freshness != FRESH;
    }
    if (status != STATUS_OK) {
        judge_task_close(task);
        return status;
    }
    find_blind_spots(task);
    *result = task;
    return STATUS_OK;
}

void
judge_task_close(struct judge_task *task)
{
    if (!task)
        return;
    for (size_t i = 0; i < task->case_count; i++)
        close_case(&task->cases[i]);
    arena_destroy(task->arena);
}
