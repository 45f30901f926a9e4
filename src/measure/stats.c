/* Order statistics: exact intervals of a median, and the summary of a sample. */
#include "measure/measure.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#define SUMMARY_ALPHA 0.05

/* Of n values, the number below the median is binomial(n, 1/2). `cut` is the largest number of
 * values that may be cut off at each end such that each tail has at most alpha/2. The tail is
 * summed by logarithms: 2^-n is no double beyond n = 1074. */
static size_t
count_cut(size_t n, double alpha)
{
    double log_term = -(double)n * log(2), tail = exp(log_term);
    size_t cut = 0;
    while (2 * cut < n && tail <= alpha / 2) {
        cut++;
        log_term += log((double)(n - cut + 1) / (double)cut);
        tail += exp(log_term);
    }
    return cut;
}

bool
measure_median_ranks(size_t count, double alpha, size_t *low, size_t *high)
{
    size_t cut = count_cut(count, alpha);
    if (cut == 0 || 2 * cut > count)
        return false;
    *low = cut - 1;
    *high = count - cut;
    return true;
}

static int
by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Between the two values nearest to that part of the sample. */
static double
quantile(const double *sorted, size_t count, double part)
{
    double at = part * (double)(count - 1);
    size_t below = (size_t)at;
    double rest = at - (double)below;
    return below + 1 < count ? sorted[below] + rest * (sorted[below + 1] - sorted[below])
                             : sorted[count - 1];
}

struct measure_summary
measure_summarise(double *values, size_t count)
{
    assert(count > 0);
    qsort(values, count, sizeof *values, by_value);
    size_t low = 0, high = count - 1;
    measure_median_ranks(count, SUMMARY_ALPHA, &low, &high);
    return (struct measure_summary){
        .count = count,
        .min = values[0],
        .p10 = quantile(values, count, 0.1),
        .median = quantile(values, count, 0.5),
        .p90 = quantile(values, count, 0.9),
        .low = values[low],
        .high = values[high],
    };
}
