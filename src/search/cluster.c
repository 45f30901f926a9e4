/* Clusters of points: k-means++ to begin with, then Lloyd's steps until nothing moves. Each feature
 * is first made comparable: less its mean, in units of its deviation. */
#include "search/walk_int.h"

#define STEPS 50   /* of Lloyd's; more were never needed for hundreds of points */
#define LEAST 1e-8 /* a smaller deviation is none */

static double
usable(double value)
{
    return isfinite(value) ? value : 0;
}

static double
comparable(const struct search__clusters *clusters, double value, size_t feature)
{
    return (usable(value) - clusters->mean[feature]) / clusters->scale[feature];
}

static void
make_comparable(struct search__clusters *clusters, double (*points)[SEARCH__FEATURES], size_t count)
{
    for (size_t f = 0; f < SEARCH__FEATURES; f++) {
        double sum = 0, squares = 0;
        for (size_t i = 0; i < count; i++)
            sum += usable(points[i][f]) / (double)count;
        for (size_t i = 0; i < count; i++)
            squares += (usable(points[i][f]) - sum) * (usable(points[i][f]) - sum) / (double)count;
        double deviation = sqrt(squares);
        clusters->mean[f] = usable(sum);
        clusters->scale[f] = deviation > LEAST && isfinite(deviation) ? deviation : 1;
        for (size_t i = 0; i < count; i++)
            points[i][f] = comparable(clusters, points[i][f], f);
    }
}

static double
between(const double *a, const double *b)
{
    double sum = 0;
    for (size_t f = 0; f < SEARCH__FEATURES; f++)
        sum += (a[f] - b[f]) * (a[f] - b[f]);
    return sum;
}

static size_t
nearest_center(const struct search__clusters *clusters, const double *point)
{
    size_t nearest = 0;
    for (size_t c = 1; c < clusters->count; c++)
        if (between(point, clusters->centers[c]) < between(point, clusters->centers[nearest]))
            nearest = c;
    return nearest;
}

static void
set_center(struct search__clusters *clusters, size_t center, const double *point)
{
    for (size_t f = 0; f < SEARCH__FEATURES; f++)
        clusters->centers[center][f] = point[f];
}

/* Each further center is a point, with a chance that grows with the square of its distance from the
 * nearest one there is. */
static void
choose_centers(struct search__clusters *clusters, struct rng *rng,
               double (*points)[SEARCH__FEATURES], double *weights, size_t count, size_t wanted)
{
    clusters->count = 1;
    set_center(clusters, 0, points[rng_below(rng, count)]);
    while (clusters->count < wanted && clusters->count < count) {
        for (size_t i = 0; i < count; i++)
            weights[i] = between(points[i], clusters->centers[nearest_center(clusters, points[i])]);
        set_center(clusters, clusters->count, points[search__draw(rng, weights, count)]);
        clusters->count++;
    }
}

/* A cluster that lost all its points keeps its center. */
static bool
move_center(struct search__clusters *clusters, size_t center, double (*points)[SEARCH__FEATURES],
            const unsigned *labels, size_t count)
{
    double sum[SEARCH__FEATURES] = {0}, members = 0;
    for (size_t i = 0; i < count; i++)
        if (labels[i] == center) {
            members++;
            for (size_t f = 0; f < SEARCH__FEATURES; f++)
                sum[f] += points[i][f];
        }
    if (members == 0)
        return false;
    for (size_t f = 0; f < SEARCH__FEATURES; f++)
        sum[f] /= members;
    bool moved = between(sum, clusters->centers[center]) > LEAST * LEAST;
    set_center(clusters, center, sum);
    return moved;
}

void
search__cluster(struct search__clusters *clusters, struct rng *rng,
                double (*points)[SEARCH__FEATURES], unsigned *labels, double *weights,
                size_t point_count, size_t wanted)
{
    bool moved = true;
    make_comparable(clusters, points, point_count);
    choose_centers(clusters, rng, points, weights, point_count, wanted);
    for (unsigned step = 0; moved && step < STEPS; step++) {
        moved = false;
        for (size_t i = 0; i < point_count; i++)
            labels[i] = (unsigned)nearest_center(clusters, points[i]);
        for (size_t c = 0; c < clusters->count; c++)
            moved |= move_center(clusters, c, points, labels, point_count);
    }
}

double
search__distance(const struct search__clusters *clusters, const double *where, size_t center)
{
    double point[SEARCH__FEATURES];
    for (size_t f = 0; f < SEARCH__FEATURES; f++)
        point[f] = comparable(clusters, where[f], f);
    return between(point, clusters->centers[center]);
}

size_t
search__nearest(const struct search__clusters *clusters, const double *where)
{
    double point[SEARCH__FEATURES];
    for (size_t f = 0; f < SEARCH__FEATURES; f++)
        point[f] = comparable(clusters, where[f], f);
    return nearest_center(clusters, point);
}
