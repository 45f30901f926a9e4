/* Some rows for all: where the reference of the whole would take long, and the rows of the outputs
 * (images of a batch, rows of a matrix) know nothing of one another, it is evaluated in a few of
 * them, which nobody outside knows.
 *
 * What a kernel gives in these rows is compared as always. In the others a verdict compares it with
 * an honest evaluation in the task's own arithmetic, which costs a small part of the reference:
 * that tells what was not computed from what was, and has no opinion on roundings. A kernel that
 * rounds too much must do so in rows that it cannot know. */
#include "judge/judge_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double TERMS_A_SECOND = 3e10; /* of the reference, roughly */
static const double USUAL_SECONDS = 0.2;   /* for one set of inputs */
enum { CHUNK = 4096 };
static const double FAR_PART = 0.01; /* of a chunk may be far off: jumps of honest evaluations */

double
judge__estimate(const struct program *program)
{
    struct lang_needs needs = {0};

    if (!program->foreign)
        lang_reference_needs(program, &needs);
    return needs.terms / TERMS_A_SECOND;
}

void
judge__choose_rows(struct judge_task *task, struct judge__case *c, size_t number, double enough)
{
    const struct program *program = c->program;
    double seconds = judge__estimate(program);
    int64_t all = program->outputs[0]->rank > 0 ? program->outputs[0]->size[0] : 0;

    enough = enough > 0 ? enough : USUAL_SECONDS;
    if (seconds <= enough)
        return;
    int64_t rows = (int64_t)fmax(LANG_FEWEST_ROWS, (double)all * enough / seconds);
    if (rows <= all / 2)
        c->rows = lang_rows(task->arena, task->lang, number, program, rows, &c->by_row);
    if (!c->rows)
        return;
    c->gathered = arena_array(task->arena, program->output_count, sizeof *c->gathered);
    for (size_t o = 0; o < program->output_count; o++)
        c->gathered[o] = arena_alloc(
            task->arena,
            (size_t)c->rows->outputs[o]->count * dtype_info[program->outputs[o]->dtype].size + 64);
}

/* ---- the rows ---- */

static int64_t
row_length(const struct tensor *tensor)
{
    return tensor->count / tensor->size[0];
}

/* So many of all, in order; two at least. Mistakes are likeliest in the first and the last, which
 * are drawn more often than others, and always where there are four. */
static int64_t *
draw_rows(struct arena *arena, uint64_t seed, int64_t count, int64_t all)
{
    struct rng random = rng_stream(seed, "rows");
    int64_t *rows = arena_array(arena, (size_t)count, sizeof *rows), drawn = 0;
    bool first = count >= 4 || rng_below(&random, 4) == 0;
    bool last = count >= 4 || rng_below(&random, 4) == 0;

    for (int64_t row = 0; row < all; row++) {
        int64_t kept = last && row < all - 1; /* a place for the last one */
        int64_t wanted = count - drawn - kept, left = all - row - kept;
        bool end = (first && row == 0) || (last && row == all - 1);
        if (end || (int64_t)rng_below(&random, (uint64_t)left) < wanted)
            rows[drawn++] = row;
    }
    return rows;
}

/* These rows of a tensor, one behind the other. */
static void
gather(const struct judge__case *c, const struct judge__set *set, const struct tensor *tensor,
       const void *from, void *to)
{
    size_t bytes = (size_t)row_length(tensor) * dtype_info[tensor->dtype].size;

    for (int64_t i = 0; i < c->rows->outputs[0]->size[0]; i++)
        memcpy((char *)to + (size_t)i * bytes, (const char *)from + (size_t)set->rows[i] * bytes,
               bytes);
}

static const void *
gather_output(const struct judge__case *c, const struct judge__set *set, size_t output,
              const void *from)
{
    gather(c, set, c->program->outputs[output], from, c->gathered[output]);
    return c->gathered[output];
}

const void *
judge__judged(const struct judge__case *c, const struct judge__slot *slot,
              const struct judge__set *set, size_t output)
{
    const void *data = judge__data(c, slot, c->program->input_count + output);

    return c->rows ? gather_output(c, set, output, data) : data;
}

int64_t
judge__element(const struct judge__case *c, const struct judge__set *set, size_t output, int64_t at)
{
    int64_t length = c->rows ? row_length(c->program->outputs[output]) : 1;

    return c->rows ? set->rows[at / length] * length + at % length : at;
}

int64_t
judge__number(const struct judge__case *c, const struct judge__set *set, size_t output,
              int64_t element)
{
    int64_t length = c->rows ? row_length(c->program->outputs[output]) : 1;

    if (!c->rows)
        return element;
    for (int64_t i = 0; i < c->rows->outputs[0]->size[0]; i++)
        if (set->rows[i] == element / length)
            return i * length + element % length;
    return -1;
}

const void **
judge__reference_inputs(struct arena *arena, const struct judge__case *c,
                        const struct judge__slot *slot, struct judge__set *set)
{
    size_t count = c->program->input_count;
    const void **inputs = arena_array(arena, count + 1, sizeof *inputs);
    int64_t rows = c->rows ? c->rows->outputs[0]->size[0] : 0;

    if (c->rows)
        set->rows = draw_rows(set->arena, set->seed, rows, c->program->outputs[0]->size[0]);
    for (size_t i = 0; i < count; i++) {
        const struct tensor *tensor = c->program->tensors[i];

        inputs[i] = judge__data(c, slot, i);
        if (!c->rows || !c->by_row[tensor->number])
            continue;
        void *own = arena_alloc(
            arena, (size_t)(rows * row_length(tensor)) * dtype_info[tensor->dtype].size + 64);
        gather(c, set, tensor, inputs[i], own);
        inputs[i] = own;
    }
    return inputs;
}

/* ---- all rows ---- */

/* How near is near is measured on the honest evaluation itself, in the rows whose meaning is known.
 * The unit of distance is what the results there differ from one another, and a little of their
 * size: an offset that all have in common says nothing of what was computed. */

struct chunk {
    int64_t first, count;
    double expected[CHUNK], got[CHUNK];
};

static void
read_chunk(enum dtype dtype, const void *data, int64_t first, int64_t count, double *values)
{
    if (dtype == DTYPE_F32)
        for (int64_t i = 0; i < count; i++)
            values[i] = ((const float *)data)[first + i];
    else
        for (int64_t i = 0; i < count; i++)
            values[i] = dtype_element(dtype, data, first + i);
}

/* The root of the mean square of what is expected there, about its mean. */
static double
usual_difference(const struct chunk *chunk)
{
    double sum = 0, squares = 0;
    int64_t count = 0;

    for (int64_t i = 0; i < chunk->count; i++)
        if (isfinite(chunk->expected[i])) {
            sum += chunk->expected[i];
            count++;
        }
    for (int64_t i = 0; i < chunk->count; i++)
        if (isfinite(chunk->expected[i])) {
            double off = chunk->expected[i] - sum / (double)count;
            squares += off * off;
        }
    return count > 0 ? sqrt(squares / (double)count) : 0;
}

static double
unit_at(const struct chunk *chunk, double usual, int64_t at)
{
    return usual + fabs(chunk->expected[at]) / 32;
}

/* In units; where nothing finite is expected, nothing is far. */
static double
distance(const struct chunk *chunk, double usual, int64_t at)
{
    double off = fabs(chunk->got[at] - chunk->expected[at]);

    if (!isfinite(chunk->expected[at]) || off == 0)
        return 0;
    off /= unit_at(chunk, usual, at);
    return isnan(off) ? INFINITY : off;
}

static int64_t
count_far(const struct chunk *chunk, double near, int64_t *first)
{
    double usual = usual_difference(chunk);
    int64_t far = 0;

    for (int64_t i = chunk->count; i-- > 0;)
        if (distance(chunk, usual, i) > near) {
            far++;
            *first = i;
        }
    return far;
}

static int
by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The honest evaluation against the reference, in the rows that it knows: `near` is five times what
 * all but a twentieth of its elements are within, `part` how many are farther: jumps. */
static void
know_nearness(const struct judge__case *c, struct judge__set *set, size_t output)
{
    enum { SAMPLED = 1 << 16 };
    const struct lang_result *result = &set->results[output];
    const struct tensor *tensor = result->tensor;
    const void *honest = gather_output(c, set, output, set->whole[output]);
    struct arena *arena = arena_create();
    int64_t chunks = (tensor->count + CHUNK - 1) / CHUNK, step = chunks / (SAMPLED / CHUNK) + 1;
    double *off = arena_array(arena, SAMPLED + CHUNK, sizeof *off);
    size_t count = 0, far = 0;
    struct chunk chunk;

    for (int64_t i = 0; i < chunks; i += step) {
        chunk.first = i * CHUNK;
        chunk.count = tensor->count - chunk.first < CHUNK ? tensor->count - chunk.first : CHUNK;
        memcpy(chunk.expected, result->v + chunk.first,
               (size_t)chunk.count * sizeof *chunk.expected);
        read_chunk(tensor->dtype, honest, chunk.first, chunk.count, chunk.got);
        double usual = usual_difference(&chunk);
        for (int64_t e = 0; e < chunk.count; e++)
            off[count++] = distance(&chunk, usual, e);
    }
    qsort(off, count, sizeof *off, by_size);
    double near = 0x1p-11 + 8 * dtype_info[tensor->dtype].roundoff;
    near = fmax(near, 5 * off[(count - 1) * 19 / 20]);
    while (far < count && off[count - 1 - far] > near)
        far++;
    set->near[output] = (struct judge__near){near, FAR_PART + 2 * (double)far / (double)count};
    arena_destroy(arena);
}

enum status
judge__expect_whole(struct judge__case *c, const struct judge__slot *slot, struct judge__set *set,
                    struct diags *diags)
{
    const struct program *program = c->program;
    const struct emit_options options = {.form = EMIT_ONE};
    enum status status = STATUS_OK;

    if (!c->rows || set->whole)
        return STATUS_OK;
    if (!c->honest)
        status = reference_open(c->task->arena, program, &options, &c->honest, diags);
    if (status != STATUS_OK)
        return status;
    const void **inputs = arena_array(set->arena, program->input_count + 1, sizeof *inputs);
    set->whole = arena_array(set->arena, program->output_count, sizeof *set->whole);
    set->near = arena_array(set->arena, program->output_count, sizeof *set->near);
    for (size_t i = 0; i < program->input_count; i++)
        inputs[i] = judge__data(c, slot, i);
    for (size_t o = 0; o < program->output_count; o++) {
        const struct tensor *tensor = program->outputs[o];
        size_t bytes = (size_t)tensor->count * dtype_info[tensor->dtype].size;

        set->whole[o] = arena_alloc(set->arena, bytes + 64);
        set->whole[o] = (char *)set->whole[o] + (-(uintptr_t)set->whole[o] & 63);
    }
    reference_run_kernel(c->honest, inputs, set->whole);
    for (size_t o = 0; o < program->output_count; o++)
        know_nearness(c, set, o);
    return STATUS_OK;
}

static void
tell_far(struct arena *arena, const struct judge__case *c, const struct judge__set *set,
         size_t output, const struct chunk *chunk, int64_t at, int64_t far,
         struct judge_wrong *wrong)
{
    const struct tensor *tensor = c->program->outputs[output];
    struct buf element = buf_in(arena);

    judge__put_element(&element, tensor, chunk->first + at);
    *wrong = (struct judge_wrong){
        .case_name = c->program->case_name,
        .tensor = tensor->name,
        .element = element.data,
        .expected = chunk->expected[at],
        .got = chunk->got[at],
        .allowed = set->near[output].near * unit_at(chunk, usual_difference(chunk), at),
        .wrong = far,
        .elements = tensor->count,
        .where = arena_printf(arena,
                              "%lld of %lld elements that follow one another are far from any "
                              "rounding",
                              (long long)far, (long long)chunk->count),
        .kinds = judge__set_name(set),
        .kind = set->kind,
        .draw_seed = set->seed,
    };
}

static bool
whole_output_is_right(struct arena *arena, const struct judge__case *c,
                      const struct judge__slot *slot, const struct judge__set *set, size_t output,
                      struct judge__every every, struct judge_wrong *wrong)
{
    const struct tensor *tensor = c->program->outputs[output];
    const void *data = judge__data(c, slot, c->program->input_count + output);
    const struct judge__near *near = &set->near[output];
    struct chunk chunk;

    if (tensor->count <= (int64_t)every.step * CHUNK)
        every = (struct judge__every){0, 1};
    for (chunk.first = (int64_t)every.first * CHUNK; chunk.first < tensor->count;
         chunk.first += (int64_t)every.step * CHUNK) {
        int64_t left = tensor->count - chunk.first, at = 0;

        chunk.count = left < CHUNK ? left : CHUNK;
        read_chunk(tensor->dtype, set->whole[output], chunk.first, chunk.count, chunk.expected);
        read_chunk(tensor->dtype, data, chunk.first, chunk.count, chunk.got);
        int64_t far = count_far(&chunk, near->near, &at);
        if ((double)far > near->part * (double)chunk.count) {
            if (wrong)
                tell_far(arena, c, set, output, &chunk, at, far, wrong);
            return false;
        }
    }
    return true;
}

bool
judge__whole_is_right(struct arena *arena, const struct judge__case *c,
                      const struct judge__slot *slot, const struct judge__set *set,
                      struct judge__every every, struct judge_wrong *wrong)
{
    for (size_t o = 0; o < c->program->output_count && set->whole; o++)
        if (!whole_output_is_right(arena, c, slot, set, o, every, wrong))
            return false;
    return true;
}
