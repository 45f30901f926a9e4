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
}

/* Elements in front of the rows that set->results tells of. */
static int64_t
skipped(const struct judge__set *set, const struct tensor *tensor)
{
    return set->first_row * (tensor->count / tensor->size[0]);
}

const void *
judge__judged(const struct judge__case *c, const struct judge__slot *slot,
              const struct judge__set *set, size_t output)
{
    const struct tensor *tensor = c->program->outputs[output];
    const char *data = judge__data(c, slot, c->program->input_count + output);

    return c->rows ? data + (size_t)skipped(set, tensor) * dtype_info[tensor->dtype].size : data;
}

int64_t
judge__element(const struct judge__case *c, const struct judge__set *set, size_t output, int64_t at)
{
    return c->rows ? at + skipped(set, c->program->outputs[output]) : at;
}

const void **
judge__reference_inputs(const struct judge__case *c, const struct judge__slot *slot,
                        struct judge__set *set)
{
    size_t count = c->program->input_count;
    const void **inputs = arena_array(set->arena, count + 1, sizeof *inputs);
    struct rng random = rng_stream(set->seed, "rows");

    if (c->rows)
        set->first_row = (int64_t)rng_below(&random, (uint64_t)(c->program->outputs[0]->size[0] -
                                                                c->rows->outputs[0]->size[0] + 1));
    for (size_t i = 0; i < count; i++) {
        const struct tensor *tensor = c->program->tensors[i];
        const char *data = judge__data(c, slot, i);

        inputs[i] = c->rows && c->by_row[tensor->number]
                        ? data + (size_t)skipped(set, tensor) * dtype_info[tensor->dtype].size
                        : data;
    }
    return inputs;
}

/* ---- all rows ---- */

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
    for (size_t i = 0; i < program->input_count; i++)
        inputs[i] = judge__data(c, slot, i);
    for (size_t o = 0; o < program->output_count; o++) {
        const struct tensor *tensor = program->outputs[o];
        size_t bytes = (size_t)tensor->count * dtype_info[tensor->dtype].size;

        set->whole[o] = arena_alloc(set->arena, bytes + 64);
        set->whole[o] = (char *)set->whole[o] + (-(uintptr_t)set->whole[o] & 63);
    }
    reference_run_kernel(c->honest, inputs, set->whole);
    return STATUS_OK;
}

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

/* The root of the mean square of what is expected. */
static double
usual_size(const struct chunk *chunk)
{
    double sum = 0;
    int64_t count = 0;

    for (int64_t i = 0; i < chunk->count; i++)
        if (isfinite(chunk->expected[i])) {
            sum += chunk->expected[i] * chunk->expected[i];
            count++;
        }
    return count > 0 ? sqrt(sum / (double)count) : 0;
}

/* What no rounding explains: beyond some thousand of what is usual there. */
static double
far_off(enum dtype dtype, double usual, double expected)
{
    return (0x1p-11 + 8 * dtype_info[dtype].roundoff) * (usual + fabs(expected));
}

/* How many are far off; where nothing finite is expected, nothing is. */
static int64_t
count_far(const struct chunk *chunk, enum dtype dtype, int64_t *first)
{
    double usual = usual_size(chunk);
    int64_t far = 0;

    for (int64_t i = chunk->count; i-- > 0;) {
        double expected = chunk->expected[i], off = fabs(chunk->got[i] - expected);

        if (isfinite(expected) && !(off <= far_off(dtype, usual, expected))) {
            far++;
            *first = i;
        }
    }
    return far;
}

/* The part of a chunk that the honest evaluation itself has far from the reference. */
static double
honest_part(const struct judge__case *c, const struct judge__set *set, size_t output,
            struct chunk *chunk)
{
    const struct lang_result *result = &set->results[output];
    const struct tensor *tensor = result->tensor;
    int64_t ignored, skip = skipped(set, c->program->outputs[output]);
    double most = 0;

    for (chunk->first = 0; chunk->first < tensor->count; chunk->first += CHUNK) {
        chunk->count = tensor->count - chunk->first;
        chunk->count = chunk->count < CHUNK ? chunk->count : CHUNK;
        memcpy(chunk->expected, result->v + chunk->first,
               (size_t)chunk->count * sizeof *chunk->expected);
        read_chunk(tensor->dtype, set->whole[output], skip + chunk->first, chunk->count,
                   chunk->got);
        most = fmax(most, (double)count_far(chunk, tensor->dtype, &ignored) / (double)chunk->count);
    }
    return most;
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
        .allowed = far_off(tensor->dtype, usual_size(chunk), chunk->expected[at]),
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
                      struct judge_wrong *wrong)
{
    const struct tensor *tensor = c->program->outputs[output];
    const void *data = judge__data(c, slot, c->program->input_count + output);
    struct chunk chunk;
    double allowed = FAR_PART + 2 * honest_part(c, set, output, &chunk);

    for (chunk.first = 0; chunk.first < tensor->count; chunk.first += CHUNK) {
        int64_t left = tensor->count - chunk.first, at = 0;

        chunk.count = left < CHUNK ? left : CHUNK;
        read_chunk(tensor->dtype, set->whole[output], chunk.first, chunk.count, chunk.expected);
        read_chunk(tensor->dtype, data, chunk.first, chunk.count, chunk.got);
        int64_t far = count_far(&chunk, tensor->dtype, &at);
        if ((double)far > allowed * (double)chunk.count) {
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
                      struct judge_wrong *wrong)
{
    for (size_t o = 0; o < c->program->output_count && set->whole; o++)
        if (!whole_output_is_right(arena, c, slot, set, o, wrong))
            return false;
    return true;
}
