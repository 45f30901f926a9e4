/* Calibration: how far honest evaluations are from the reference, and what follows for the gate.
 *
 * k and scale come from evaluations of the same program in its own arithmetic, on the same inputs:
 * what they do is honest by definition (doc/tolerance.md). All three are compared in one pass.
 */
#include "task/pass_int.h"

#include <math.h>
#include <string.h>

enum {
    SAMPLE = 1 << 16, /* medians of large outputs are taken of this many elements */
    FEW = 64,         /* of fewer elements nothing is scaled down */
};

void
honest_options(uint64_t seed, struct emit_options options[HONEST])
{
    static const enum emit forms[HONEST] = {EMIT_ONE, EMIT_SIXTEEN, EMIT_RANDOM};

    for (size_t i = 0; i < HONEST; i++)
        options[i] = (struct emit_options){.form = forms[i], .seed = seed};
}

/* ---- memory ---- */

/* Outputs for a kernel, aligned to 64 bytes. */
static void **
new_outputs(struct arena *arena, const struct program *program)
{
    void **outputs = arena_array(arena, program->output_count, sizeof *outputs);

    for (size_t o = 0; o < program->output_count; o++) {
        const struct tensor *tensor = program->outputs[o];
        size_t bytes = (size_t)tensor->count * dtype_info[tensor->dtype].size;
        uintptr_t start = (uintptr_t)arena_alloc(arena, bytes + 63);
        outputs[o] = (void *)((start + 63) & ~(uintptr_t)63);
    }
    return outputs;
}

/* Every which element goes into the medians. */
static int64_t
stride_of(const struct tensor *tensor)
{
    return tensor->count / SAMPLE + 1;
}

void
honest_prepare(struct arena *arena, const struct program *program, struct honest *honest)
{
    int64_t most = 0;

    honest->program = program;
    for (size_t o = 0; o < program->output_count; o++) {
        const struct tensor *tensor = program->outputs[o];
        int64_t sampled = tensor->count / stride_of(tensor) + 1;
        most = sampled > most ? sampled : most;
    }
    for (size_t i = 0; i < HONEST; i++)
        honest->outputs[i] = new_outputs(arena, program);
    honest->squares = arena_array(arena, (size_t)most, sizeof *honest->squares);
    honest->g = arena_array(arena, (size_t)most, sizeof *honest->g);
    honest->c = arena_array(arena, (size_t)most, sizeof *honest->c);
}

/* ---- what the evaluations of one output show ---- */

/* One error, of an element of any kind. A jump of an integer that its gate allows is not a
 * rounding, nor does what is within eta need a k. Returns its square. */
static double
observe_element(const struct lang_result *result, int64_t at, double got, struct shown *shown)
{
    const struct tolerance plain = {.k = 1, .scale = 1};
    enum dtype dtype = result->tensor->dtype;
    struct error error = tolerance_error(result, &plain, at, got);
    double eta = tolerance_eta(dtype), base = error.gate - eta;

    if (isnan(error.gate) || !isfinite(error.size))
        return 0;
    if (base > 0 && isfinite(result->v[at]) && error.size > (dtype_is_float(dtype) ? eta : base))
        shown->ratio = fmax(shown->ratio, error.size / base);
    return error.size * error.size;
}

/* The elements of a block, or all of an output (`squares` may be NULL then). */
static void
observe_elements(const struct lang_result *result, const void *const data[HONEST], int64_t first,
                 int64_t count, struct shown *shown, double *squares)
{
    enum dtype dtype = result->tensor->dtype;

    for (int64_t i = 0; i < count; i++) {
        double v = result->v[first + i], sum = 0;
        for (size_t h = 0; h < HONEST; h++)
            sum +=
                observe_element(result, first + i, dtype_element(dtype, data[h], first + i), shown);
        if (squares)
            squares[i] = sum;
        shown->squares += isfinite(v) ? v * v : 0;
        shown->count += isfinite(v) ? 1 : 0;
    }
}

/* Keeps what the medians are taken of. */
static void
sample_block(struct honest *honest, const struct block *block, const double squares[BLOCK],
             int64_t stride)
{
    for (int64_t i = (stride - block->first % stride) % stride; i < block->count; i += stride) {
        size_t n = honest->sampled;
        honest->g[n] = block->g[i];
        honest->c[n] = block->c[i];
        honest->squares[n] = squares[i];
        honest->sampled += isfinite(block->v[i]) != 0;
    }
}

static void
observe_floats(struct honest *honest, const struct lang_result *result,
               const void *const data[HONEST], struct shown *shown)
{
    const struct passes *passes = pass_here();
    struct got got[HONEST];
    struct block block;
    double squares[BLOCK];

    honest->sampled = 0;
    for (int64_t first = 0; first < result->tensor->count; first += BLOCK) {
        block_take(&block, result, first);
        for (size_t h = 0; h < HONEST; h++)
            block_read(&block, data[h], &got[h]);
        if (!passes->observe(&block, got, shown, squares))
            observe_elements(result, data, first, block.count, shown, squares);
        sample_block(honest, &block, squares, stride_of(result->tensor));
    }
}

/* ---- medians ---- */

static uint64_t
bits_of(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

struct range {
    uint64_t low, high;
};

static struct range
range_of(const double *values, size_t count)
{
    struct range range = {UINT64_MAX, 0};

    for (size_t i = 0; i < count; i++) {
        uint64_t bits = bits_of(values[i]);
        range.low = bits < range.low ? bits : range.low;
        range.high = bits > range.high ? bits : range.high;
    }
    return range;
}

enum { BUCKET_BITS = 10, BUCKETS = 1 << BUCKET_BITS };

/* Keeps the values of the bucket in which number *rank of them lies, and its number there. */
static size_t
narrow(double *values, size_t count, struct range range, size_t *rank)
{
    uint32_t held[BUCKETS] = {0};
    int width = 64 - __builtin_clzll(range.high - range.low);
    int shift = width > BUCKET_BITS ? width - BUCKET_BITS : 0;
    uint64_t bucket = 0;
    size_t kept = 0;

    for (size_t i = 0; i < count; i++)
        held[(bits_of(values[i]) - range.low) >> shift]++;
    while (*rank >= held[bucket])
        *rank -= held[bucket++];
    for (size_t i = 0; i < count; i++) {
        double value = values[i];
        values[kept] = value;
        kept += (bits_of(value) - range.low) >> shift == bucket;
    }
    return kept;
}

/* The middle one of numbers that are not negative, which are in the order of their bits. They are
 * moved about. 0 of none. */
static double
median(double *values, size_t count)
{
    size_t rank = count / 2;

    if (count == 0)
        return 0;
    for (;;) {
        struct range range = range_of(values, count);
        if (range.low == range.high)
            return values[0];
        count = narrow(values, count, range, &rank);
    }
}

struct medians {      /* over judged elements that have a gate */
    double roundings; /* 6g */
    double spread;    /* 12 times the honest one */
    double gate;      /* without eta */
};

/* The gates take the place of c. 6g and the spread are monotone in what is sampled, so they are
 * worked out once, for the middle one. */
static struct medians
find_medians(struct honest *honest, double k, bool f64)
{
    size_t count = 0;

    for (size_t i = 0; i < honest->sampled; i++) {
        double gate = tolerance_width(honest->g[i], honest->c[i], k, f64);
        honest->g[count] = honest->g[i];
        honest->squares[count] = honest->squares[i];
        honest->c[count] = gate;
        count += gate > 0;
    }
    return (struct medians){6 * median(honest->g, count),
                            12 * sqrt(median(honest->squares, count) / HONEST),
                            median(honest->c, count)};
}

/* ---- conclusions ---- */

enum {
    MANY_BITS = 12,
    MANY = 1 << (MANY_BITS - 1), /* different values: as good as all of them */
};

/* How many different sizes of roundings there are among the sampled elements, as far as MANY. */
static size_t
different(const struct honest *honest)
{
    uint64_t slots[1 << MANY_BITS] = {0};
    size_t count = 0;

    for (size_t i = 0; i < honest->sampled && count < MANY; i++) {
        uint64_t g = bits_of(honest->g[i]) >> 24; /* the last digits depend on the order of sums */
        size_t slot = (size_t)(g * 0x9e3779b97f4a7c15u >> (64 - MANY_BITS));
        if (g == 0 || isnan(honest->g[i]))
            continue;
        while (slots[slot] != 0 && slots[slot] != g)
            slot = (slot + 1) % (1 << MANY_BITS);
        count += slots[slot] == 0;
        slots[slot] = g;
    }
    return count;
}

/* Elements as far as they tell something new: those that are all the same, as constant inputs make
 * them, tell no more than one. */
static double
elements_told(const struct honest *honest, int64_t stride)
{
    size_t judged = 0, kinds = different(honest);

    for (size_t i = 0; i < honest->sampled; i++)
        judged += !isnan(tolerance_width(honest->g[i], honest->c[i], 1, false));
    if (kinds > 0 && kinds < MANY && kinds < judged / 2)
        return (double)kinds;
    return (double)judged * (double)stride;
}

/* The largest of many honest errors is well known from three evaluations; that of one element is
 * not: the three may all be near 0 by luck, and another order then lies many times further away.
 * So k has room that shrinks with the number of elements (doc/tolerance.md has the figures). */
static double
least_k(double told)
{
    return told > 0 ? 1 + 7 / sqrt(told) : 1;
}

/* How far a loose gate is scaled down. Two things keep it from catching honest kernels: evaluations
 * that happen to be exact (sums of equal terms) say nothing about others, so a spread below the
 * output's own rounding scales nothing; and the largest error seen keeps six times its room, since
 * three evaluations do not show the largest there is (twice let through all but 5 % of deep nets,
 * the medians alone far fewer). */
static double
scaled_down(const struct medians *m, double ratio, double output_rounding)
{
    if (m->spread <= 12 * output_rounding || m->roundings <= 10 * m->spread)
        return 1;
    return fmin(1, fmax(m->spread / m->roundings, 6 * ratio));
}

static struct tolerance
calibrate(struct honest *honest, const struct lang_result *result, const void *const data[HONEST])
{
    enum dtype dtype = result->tensor->dtype;
    bool floats = dtype_is_float(dtype) && !result->terms;
    struct tolerance tolerance = {.k = 1, .scale = 1};
    struct shown shown = {0};

    if (!result->g && !result->term_g) /* exact: nothing to scale */
        return tolerance;
    if (floats)
        observe_floats(honest, result, data, &shown);
    else
        observe_elements(result, data, 0, result->tensor->count, &shown, NULL);
    tolerance.k = fmax(1, 2 * shown.ratio);
    if (!floats)
        return tolerance;
    double told = elements_told(honest, stride_of(result->tensor));
    tolerance.k = fmax(tolerance.k, least_k(told));
    double size = shown.count > 0 ? sqrt(shown.squares / shown.count) : 0;
    struct medians m = find_medians(honest, tolerance.k, dtype == DTYPE_F64);
    if (told >= FEW)
        tolerance.scale = scaled_down(&m, shown.ratio, dtype_info[dtype].roundoff * size);
    tolerance.ill_posed = m.gate * tolerance.scale > 1e-2 * size;
    return tolerance;
}

void
honest_calibrate(struct honest *honest, const void *const *inputs,
                 const struct lang_result *results, struct tolerance *tolerances)
{
    for (size_t h = 0; h < HONEST; h++)
        honest->kernels[h].kernel(inputs, honest->outputs[h]);
    for (size_t o = 0; o < honest->program->output_count; o++) {
        const void *data[HONEST];
        for (size_t h = 0; h < HONEST; h++)
            data[h] = honest->outputs[h][o];
        tolerances[o] = calibrate(honest, &results[o], data);
    }
}

enum status
task_calibrate(struct arena *arena, const struct program *program, const void *const *inputs,
               const struct lang_result *results, uint64_t seed, struct tolerance *tolerances,
               struct diags *diags)
{
    struct emit_options options[HONEST];
    struct honest honest = {0};
    enum status status;

    for (size_t o = 0; o < program->output_count; o++)
        tolerances[o] = (struct tolerance){.k = 1, .scale = 1};
    if (program->foreign) /* its tolerance is given */
        return STATUS_OK;
    honest_prepare(arena, program, &honest);
    honest_options(seed, options);
    status = reference_open_all(arena, program, options, HONEST, honest.kernels, diags);
    if (status == STATUS_OK)
        honest_calibrate(&honest, inputs, results, tolerances);
    for (size_t i = 0; i < HONEST; i++)
        reference_close(&honest.kernels[i]);
    return status;
}
