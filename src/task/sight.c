/* What a task can see: an input of which no output depends might as well be left unread, and no
 * comparison of outputs would tell. `max` over a dim of size 1 minus its own mean is such a task;
 * there are more of them than one would think.
 *
 * Each input is redrawn alone, all others as they were, first from the normal distribution and, if
 * no output moves, from others too. What moves by less than ten of its tolerances is not seen: a
 * kernel that got it wrong by as much might still pass.
 *
 * The work is bounded by what the runs are estimated to cost, not by a clock, so that the same task
 * gives the same answer on a busy machine.
 */
#include "task/task_int.h"

#include "base/file.h"
#include "base/hash.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Roughly what two cores do: contractions pass 1e11 terms a second, functions with their bounds are
 * a hundred times slower, but then a task with many is bound by the second figure. */
#define TERMS_PER_SECOND 2.5e10
#define BYTES_PER_SECOND 1e9
#define MOST_SECONDS 2.5  /* of one run */
#define MOST_IN_ALL 8.0   /* of all */
#define MOST_MEMORY 0.5   /* of what is free */
#define ENOUGH 10         /* tolerances */
#define KEPT_LIMIT 1000000
#define VERSION 1 /* of what is kept, and of how it is found */

/* What an input is redrawn from, in this order. Denormals move nothing, infinities too much. */
static const enum distribution tries[] = {
    DRAW_NORMAL, DRAW_NORMAL,   DRAW_UNIFORM, DRAW_OFFSET, DRAW_HEAVY,
    DRAW_SMALL,  DRAW_CONSTANT, DRAW_RAMP,    DRAW_INTEGERS,
};
#define TRY_COUNT (sizeof tries / sizeof *tries)

struct look {
    const struct program *program;
    struct evaluator *evaluator;
    uint64_t seed;
    void **inputs; /* as they are when none is redrawn */
    struct lang_result *results;
    struct tolerance *tolerances;
    double seconds; /* estimated, of a run */
    double left;    /* of the seconds that all may take */
    struct diags *diags;
};

/* ---- how much moves ---- */

/* In tolerances of both results; NaN: unjudged. */
static double
element_move(const struct lang_result *a, const struct lang_result *b,
             const struct tolerance *tolerance, int64_t at)
{
    double apart = fabs(a->v[at] - b->v[at]);

    if (a->v[at] == b->v[at] || (isnan(a->v[at]) && isnan(b->v[at])))
        return 0;
    double gate = task_gate(a, tolerance, at) + task_gate(b, tolerance, at);
    if (isnan(gate))
        return NAN;
    return isnan(apart) ? INFINITY : apart / gate;
}

static double
largest_move(const struct look *look, const struct lang_result *results)
{
    double largest = 0;

    for (size_t o = 0; o < look->program->output_count; o++)
        for (int64_t at = 0; at < results[o].tensor->count; at++)
            largest = fmax(largest, element_move(&look->results[o], &results[o],
                                                 &look->tolerances[o], at));
    return largest;
}

/* ---- one input ---- */

/* What moves when `input` is redrawn, in an arena that is dropped afterwards. */
static enum status
redraw(struct look *look, struct arena *arena, size_t input, size_t try, double *move)
{
    const struct program *program = look->program;
    const struct tensor *tensor = program->tensors[input];
    const void **inputs = arena_array(arena, program->input_count, sizeof *inputs);
    struct lang_result *results = arena_array(arena, program->output_count, sizeof *results);
    void *fresh = arena_array(arena, (size_t)tensor->count, dtype_info[tensor->dtype].size);
    enum status status;

    memcpy(inputs, look->inputs, program->input_count * sizeof *inputs);
    task_draw(program, input, tries[try], look->seed + 1 + try, fresh);
    inputs[input] = fresh;
    status = evaluator_values(arena, look->evaluator, inputs, results, look->diags);
    if (status == STATUS_OK)
        *move = largest_move(look, results);
    return status;
}
