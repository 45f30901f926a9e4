/* Whether an output is right, element by element.
 *
 * The gate of an element is min(6kg, 2c) * scale + eta (doc/tolerance.md). tolerance_error() is the
 * definition, for elements of any kind; outputs of floats, which are most, are compared in blocks.
 */
#include "task/pass_int.h"

#include <math.h>

/* ---- the gate ---- */

static double
or_zero(const double *sizes, int64_t at)
{
    return sizes ? sizes[at] : 0;
}

static double
element_width(const struct lang_result *result, double k, int64_t at)
{
    return tolerance_width(or_zero(result->g, at), or_zero(result->c, at), k,
                           result->tensor->dtype == DTYPE_F64);
}

double
task_gate(const struct lang_result *result, const struct tolerance *tolerance, int64_t at)
{
    enum dtype dtype = result->tensor->dtype;
    double gate = element_width(result, tolerance->k, at) * tolerance->scale + tolerance_eta(dtype);

    return dtype_is_float(dtype) ? gate : floor(gate + 1e-9); /* decision 3 */
}

/* ---- argmax and argmin ---- */

/* The best term and the one chosen may each be wrong by its own gate (decision 4). */
static double
term_gate(const struct lang_result *result, const struct tolerance *tolerance, int64_t term)
{
    double most = tolerance_width(or_zero(result->term_g, term), or_zero(result->term_c, term),
                                  tolerance->k, false);

    return most * tolerance->scale + tolerance_eta(DTYPE_F32);
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

struct error
tolerance_error(const struct lang_result *result, const struct tolerance *tolerance, int64_t at,
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

/* ---- whole outputs ---- */

static void
add_error(struct comparison *comparison, int64_t at, struct error error)
{
    if (isnan(error.gate)) {
        comparison->unjudged++;
        return;
    }
    if (error.size > 0)
        comparison->worst = fmax(comparison->worst, error.size / error.gate);
    if (!(error.size <= error.gate) && comparison->wrong++ == 0)
        comparison->first_wrong = at;
}

static void
compare_elements(const struct lang_result *result, const struct tolerance *tolerance,
                 const void *got, int64_t first, int64_t end, struct comparison *comparison)
{
    enum dtype dtype = result->tensor->dtype;

    for (int64_t at = first; at < end; at++)
        add_error(comparison, at,
                  tolerance_error(result, tolerance, at, dtype_element(dtype, got, at)));
}

static void
compare_floats(const struct lang_result *result, const struct tolerance *tolerance,
               const void *data, struct comparison *comparison)
{
    const struct passes *passes = pass_here();
    struct block block;
    struct got got;

    for (int64_t first = 0; first < result->tensor->count; first += BLOCK) {
        struct comparison before = *comparison;
        block_take(&block, result, first);
        block_read(&block, data, &got);
        bool done = passes->compare(&block, tolerance, &got, comparison);
        if (done && (before.wrong > 0 || comparison->wrong == 0))
            continue;
        *comparison = before; /* the first wrong one is here, or what is no number */
        compare_elements(result, tolerance, data, first, first + block.count, comparison);
    }
}

void
task_compare(const struct lang_result *result, const struct tolerance *tolerance, const void *got,
             struct comparison *comparison)
{
    *comparison = (struct comparison){.first_wrong = -1};
    if (dtype_is_float(result->tensor->dtype) && !result->terms)
        compare_floats(result, tolerance, got, comparison);
    else
        compare_elements(result, tolerance, got, 0, result->tensor->count, comparison);
}
