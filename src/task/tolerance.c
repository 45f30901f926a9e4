/* Whether an output is right, element by element, and how much room honest kernels need.
 *
 * The gate of an element is min(6kg, 2c) * scale + eta (doc/tolerance.md). k and scale come from
 * evaluations of the same program in its own arithmetic, on the same inputs: what they do is honest
 * by definition.
 */
#include "task/task.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the gate ---- */

static double
or_zero(const double *sizes, int64_t at)
{
    return sizes ? sizes[at] : 0;
}

/* min(6kg, 2c); the reference rounds too where the task is f64. NaN: unjudged. */
static double
width(double g, double c, double k, bool f64)
{
    double most = fmin(6 * k * g, 2 * c);

    return isnan(g) || isinf(most) ? NAN : f64 ? 2 * most : most;
}

static double
element_width(const struct lang_result *result, double k, int64_t at)
{
    return width(or_zero(result->g, at), or_zero(result->c, at), k,
                 result->tensor->dtype == DTYPE_F64);
}

/* The smallest normal number; 0 for integers. */
static double
eta(const struct lang_result *result)
{
    return dtype_info[result->tensor->dtype].smallest;
}

double
task_gate(const struct lang_result *result, const struct tolerance *tolerance, int64_t at)
{
    double gate = element_width(result, tolerance->k, at) * tolerance->scale + eta(result);

    return dtype_is_float(result->tensor->dtype) ? gate : floor(gate + 1e-9); /* decision 3 */
}

/* ---- argmax and argmin ---- */

/* The best term and the one chosen may each be wrong by its own gate (decision 4). */
static double
term_gate(const struct lang_result *result, const struct tolerance *tolerance, int64_t term)
{
    double most =
        width(or_zero(result->term_g, term), or_zero(result->term_c, term), tolerance->k, false);

    return most * tolerance->scale + dtype_info[DTYPE_F32].smallest;
}

/* Some term is unjudged, or whether it takes part is. */
static bool
race_in_doubt(const struct lang_result *result, int64_t at)
{
    for (int64_t k = 0; result->term_g && k < result->terms; k++)
        if (isnan(result->term_g[at * result->terms + k]))
            return true;
    return false;
}

struct error { /* of one element; both are NaN if it is unjudged */
    double size, gate;
};

static const struct error unjudged = {NAN, NAN};
static const struct error wrong = {INFINITY, 0};

static struct error
race_error(const struct lang_result *result, const struct tolerance *tolerance, int64_t at,
           double got)
{
    int64_t row = at * result->terms;
    double best = result->v[at];

    if (race_in_doubt(result, at))
        return unjudged;
    if (got == best)
        return (struct error){0, 0};
    if (!(got >= 0 && got < (double)result->terms) || best < 0)
        return wrong;
    int64_t chosen = row + (int64_t)got, right = row + (int64_t)best;
    double apart = result->term_v[chosen] == result->term_v[right]
                       ? 0
                       : fabs(result->term_v[chosen] - result->term_v[right]);
    if (isnan(apart)) /* a term that the filter drops */
        return wrong;
    bool tie = or_zero(result->term_g, chosen) == 0 && or_zero(result->term_g, right) == 0;
    double gate = term_gate(result, tolerance, chosen) + term_gate(result, tolerance, right);
    return tie ? wrong : (struct error){apart, gate};
}

/* ---- one element ---- */

static struct error
element_error(const struct lang_result *result, const struct tolerance *tolerance, int64_t at,
              double got)
{
    double v = result->v[at];

    if (result->terms)
        return race_error(result, tolerance, at, got);
    double gate = task_gate(result, tolerance, at);
    if (isnan(gate))
        return unjudged;
    if (isnan(v) || isinf(v))
        return got == v || (isnan(got) && isnan(v)) ? (struct error){0, 0} : wrong;
    double size = fabs(got - v);
    return isfinite(size) ? (struct error){size, gate} : wrong;
}

void
task_compare(const struct lang_result *result, const struct tolerance *tolerance, const void *got,
             struct comparison *comparison)
{
    const struct tensor *tensor = result->tensor;

    *comparison = (struct comparison){.first_wrong = -1};
    for (int64_t at = 0; at < tensor->count; at++) {
        struct error error =
            element_error(result, tolerance, at, dtype_element(tensor->dtype, got, at));
        if (isnan(error.gate)) {
            comparison->unjudged++;
            continue;
        }
        if (error.size > 0)
            comparison->worst = fmax(comparison->worst, error.size / error.gate);
        if (error.size <= error.gate)
            continue;
        if (comparison->wrong++ == 0)
            comparison->first_wrong = at;
    }
}

/* ---- calibration ---- */

struct honest {      /* what the evaluations of one output have shown */
    double *squares; /* of the errors, summed over the evaluations */
    double ratio;    /* the largest error, in units of the gate with k = 1 */
    unsigned runs;
};

/* An error that says something about k: of a finite, judged element, beyond what needs no k. */
static bool
counts(const struct lang_result *result, int64_t at, struct error error)
{
    double free = eta(result);

    if (!dtype_is_float(result->tensor->dtype)) /* a jump that the gate allows is not a rounding */
        free = error.gate;
    return isfinite(result->v[at]) && isfinite(error.size) && error.size > free;
}

static void
observe(struct honest *honest, const struct lang_result *result, const void *got)
{
    const struct tensor *tensor = result->tensor;
    const struct tolerance plain = {.k = 1, .scale = 1};

    for (int64_t at = 0; at < tensor->count; at++) {
        struct error error =
            element_error(result, &plain, at, dtype_element(tensor->dtype, got, at));
        if (isnan(error.gate) || !isfinite(error.size))
            continue;
        honest->squares[at] += error.size * error.size;
        double base = error.gate - eta(result);
        if (base > 0 && counts(result, at, error))
            honest->ratio = fmax(honest->ratio, error.size / base);
    }
    honest->runs++;
}

static int
by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

enum { SAMPLE = 1 << 16 }; /* medians of large outputs are taken of this many elements */

struct sample {
    double *values;
    size_t count;
};

static double
median(struct sample sample)
{
    if (sample.count == 0)
        return 0;
    qsort(sample.values, sample.count, sizeof *sample.values, by_size);
    return sample.values[sample.count / 2];
}

static double
size_of(const struct lang_result *result) /* root-mean-square of the finite values */
{
    double squares = 0;
    int64_t count = 0;

    for (int64_t at = 0; at < result->tensor->count; at++)
        if (isfinite(result->v[at])) {
            squares += result->v[at] * result->v[at];
            count++;
        }
    return count ? sqrt(squares / (double)count) : 0;
}

struct medians {      /* over judged elements */
    double roundings; /* 6g */
    double spread;    /* 12 times the honest one */
    double gate;      /* without eta */
};

static struct medians
find_medians(struct arena *arena, const struct lang_result *result, const struct honest *honest,
             double k)
{
    int64_t count = result->tensor->count, stride = count / SAMPLE + 1;
    struct sample roundings, spread, gate;

    roundings.values = arena_array(arena, SAMPLE, sizeof(double));
    spread.values = arena_array(arena, SAMPLE, sizeof(double));
    gate.values = arena_array(arena, SAMPLE, sizeof(double));
    roundings.count = spread.count = gate.count = 0;
    for (int64_t at = 0; at < count; at += stride) {
        double one = element_width(result, k, at);
        if (!(one > 0) || !isfinite(result->v[at]))
            continue;
        double seen = sqrt(honest->squares[at] / honest->runs);
        roundings.values[roundings.count++] = 6 * or_zero(result->g, at);
        spread.values[spread.count++] = 12 * seen;
        gate.values[gate.count++] = one;
    }
    return (struct medians){median(roundings), median(spread), median(gate)};
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
conclude(struct arena *arena, const struct lang_result *result, const struct honest *honest)
{
    const struct dtype_info *type = &dtype_info[result->tensor->dtype];
    double size = size_of(result);
    struct tolerance tolerance = {.k = fmax(1, 2 * honest->ratio), .scale = 1};

    if (result->terms || !dtype_is_float(result->tensor->dtype))
        return tolerance;
    struct medians m = find_medians(arena, result, honest, tolerance.k);
    tolerance.scale = scaled_down(&m, honest->ratio, type->roundoff * size);
    tolerance.ill_posed = m.gate * tolerance.scale > 1e-2 * size;
    return tolerance;
}

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

static enum status
run_honest(struct arena *arena, const struct program *program, const struct emit_options *options,
           const void *const *inputs, void *const *outputs, struct diags *diags)
{
    struct reference *kernel;
    enum status status = reference_open(arena, program, options, &kernel, diags);

    if (status != STATUS_OK)
        return status;
    reference_run_kernel(kernel, inputs, outputs);
    reference_close(kernel);
    return STATUS_OK;
}

enum status
task_calibrate(struct arena *arena, const struct program *program, const void *const *inputs,
               const struct lang_result *results, uint64_t seed, struct tolerance *tolerances,
               struct diags *diags)
{
    static const enum emit forms[] = {EMIT_ONE, EMIT_SIXTEEN, EMIT_RANDOM};
    size_t count = program->output_count;
    struct honest *honest = arena_array(arena, count, sizeof *honest);
    void **outputs = new_outputs(arena, program);

    for (size_t o = 0; o < count; o++) {
        tolerances[o] = (struct tolerance){.k = 1, .scale = 1};
        honest[o].squares =
            arena_array(arena, (size_t)results[o].tensor->count, sizeof *honest[o].squares);
    }
    if (program->foreign) /* its tolerance is given */
        return STATUS_OK;
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        struct emit_options options = {.form = forms[f], .seed = seed};
        enum status status = run_honest(arena, program, &options, inputs, outputs, diags);
        if (status != STATUS_OK)
            return status;
        for (size_t o = 0; o < count; o++)
            observe(&honest[o], &results[o], outputs[o]);
    }
    for (size_t o = 0; o < count; o++)
        tolerances[o] = conclude(arena, &results[o], &honest[o]);
    return STATUS_OK;
}
