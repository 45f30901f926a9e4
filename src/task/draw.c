/* Inputs of a case, drawn from the language's distributions, within each input's domain.
 *
 * A distribution is first drawn as if there were no domain (mean 0, deviation 1 and so on), then
 * fitted: `scale s` multiplies; `from a to b` stretches what has a spread over the interval, puts
 * "small" at its end nearest zero and "offset" at the other, and clips the rest; `among` chooses.
 * Integers are drawn evenly from their range, except where the distribution says something else
 * (one value, a ramp, the ends of the range, its small end, -4..4): the edges of a range are where
 * gathers go wrong. Values are rounded to the dtype and stay inside the domain after rounding. */
#include "task/pass_int.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "base/rng.h"

#define ALIGNMENT 64
#define SMALL 0.01
#define SPIKE 200.0 /* an exponential cannot bear a difference of 88 */
#define OFFSET 10
#define MANY (1 << 15) /* numbers that are worth a second thread */

const char *const distribution_name[DRAW_COUNT] = {
#define X(id, name) name,
    TASK_DISTRIBUTIONS(X)
#undef X
};

/* One input while it is filled. */
struct draw {
    const struct tensor *tensor;
    enum distribution distribution;
    const struct passes *passes;
    struct rng rng;
    uint64_t drawn[DRAWS], first; /* some of its numbers, from this one on */
    double low, high;             /* what every element must lie in: the interval, rounded inward */
    bool interval;                /* there is a clause, or the elements are integers */
    double scale;
    double constant; /* for DRAW_CONSTANT: uniform in [0,1) and normal */
    double constant_normal;
    int64_t row; /* elements of a row: the last dimension */
};

/* ---- random numbers: those of base/rng.h, many at a time ---- */

static uint64_t
next(struct draw *draw)
{
    uint64_t number = draw->rng.count++;

    if (number - draw->first >= DRAWS) {
        draw->first = number;
        draw->passes->draw(draw->rng.key, number, draw->drawn);
    }
    return draw->drawn[number - draw->first];
}

/* rng_below() */
static uint64_t
below(struct draw *draw, uint64_t bound)
{
    unsigned __int128 product;

    do
        product = (unsigned __int128)next(draw) * bound;
    while ((uint64_t)product < bound && (uint64_t)product < -bound % bound);
    return (uint64_t)(product >> 64);
}

/* rng_uniform() */
static double
uniform(struct draw *draw)
{
    return (double)(next(draw) >> 11) * 0x1p-53;
}

/* rng_normal() */
static double
normal(struct draw *draw)
{
    double radius = sqrt(-2 * log(1 - uniform(draw)));

    return radius * cos(2 * M_PI * uniform(draw));
}

/* ---- the range of an input ---- */

/* The number nearest to `value` of the dtype that is not below (or not above) it. */
static double
rounded_inward(enum dtype dtype, double value, bool up)
{
    union {
        double align;
        unsigned char bytes[8];
    } element = {0};
    if (isinf(value))
        return value;
    dtype_set_element(dtype, element.bytes, 0, value);
    double near = dtype_element(dtype, element.bytes, 0);
    double step = 0x1p-60 * fmax(fabs(value), dtype_info[dtype].smallest);
    while (up ? near < value : near > value) {
        dtype_set_element(dtype, element.bytes, 0, up ? value + step : value - step);
        near = dtype_element(dtype, element.bytes, 0);
        step *= 2;
    }
    return near;
}

static void
range_of_floats(struct draw *draw)
{
    const struct domain *domain = &draw->tensor->domain;
    enum dtype dtype = draw->tensor->dtype;
    draw->low = -INFINITY;
    draw->high = INFINITY;
    if (domain->form != DOMAIN_INTERVAL)
        return;
    draw->interval = true;
    draw->low = rounded_inward(dtype, domain->low, true);
    draw->high = rounded_inward(dtype, domain->high, false);
    if (draw->low > draw->high)
        draw->high = draw->low;
}

/* LANGUAGE, inputs: an i32 used as a subscript lies in that dimension, any other in -100..100. */
static void
range_of_integers(struct draw *draw)
{
    const struct tensor *tensor = draw->tensor;
    const struct domain *domain = &tensor->domain;
    bool open = tensor->low <= INT32_MIN && tensor->high >= INT32_MAX;
    double largest = dtype_info[tensor->dtype].largest;
    double smallest = tensor->dtype == DTYPE_U8 || tensor->dtype == DTYPE_BOOL ? 0 : -largest - 1;
    draw->interval = true;
    draw->low = tensor->dtype == DTYPE_I32 && open ? -100 : (double)tensor->low;
    draw->high = tensor->dtype == DTYPE_I32 && open ? 100 : (double)tensor->high;
    if (domain->form == DOMAIN_INTERVAL) {
        draw->low = ceil(domain->low);
        draw->high = floor(domain->high);
    } else if (domain->form == DOMAIN_SCALE) {
        draw->low = smallest;
        draw->high = largest;
    }
    draw->low = fmax(draw->low, smallest);
    draw->high = fmax(fmin(draw->high, largest), draw->low);
}

void
task__range(const struct tensor *tensor, double *low, double *high)
{
    struct draw draw = {.tensor = tensor};
    if (dtype_is_float(tensor->dtype))
        range_of_floats(&draw);
    else
        range_of_integers(&draw);
    *low = draw.low;
    *high = draw.high;
}

/* ---- one element ---- */

static double
clip(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

/* Position of an element along the whole tensor, from 0 to 1. */
static double
position(const struct draw *draw, int64_t at)
{
    int64_t last = draw->tensor->count - 1;
    return last > 0 ? (double)at / (double)last : 0.5;
}

/* Some elements are far out, none so far that sums of squares leave the dtype. */
static double
heavy_tail(struct draw *draw)
{
    double most = draw->tensor->dtype == DTYPE_F16 ? 100 : 1e4;
    double z = normal(draw);
    return clip(z / sqrt(1 - uniform(draw)), -most, most);
}

static double
denormal(struct draw *draw)
{
    double u = 2 * uniform(draw) - 1;
    return u * dtype_info[draw->tensor->dtype].smallest;
}

/* A value as if there were no domain. */
static double
plain_value(struct draw *draw, enum distribution distribution, int64_t at)
{
    switch (distribution) {
    case DRAW_UNIFORM:
        return uniform(draw);
    case DRAW_HEAVY:
        return heavy_tail(draw);
    case DRAW_SMALL:
        return SMALL * normal(draw);
    case DRAW_OFFSET:
        return OFFSET + normal(draw);
    case DRAW_CONSTANT:
        return draw->constant_normal;
    case DRAW_RAMP:
        return 2 * position(draw, at) - 1;
    case DRAW_INTEGERS:
        return (double)below(draw, 9) - 4;
    case DRAW_DENORMAL:
        return denormal(draw);
    default:
        return normal(draw);
    }
}

/* A value in a finite interval, as a share of it from 0 to 1. */
static double
share(struct draw *draw, enum distribution distribution, int64_t at)
{
    bool positive = fabs(draw->high) >= fabs(draw->low);
    double u;
    switch (distribution) {
    case DRAW_UNIFORM:
        return uniform(draw);
    case DRAW_HEAVY:
        return 0.5 + heavy_tail(draw) / 12;
    case DRAW_OFFSET:
        u = 0.1 * uniform(draw);
        return positive ? 1 - u : u;
    case DRAW_CONSTANT:
        return draw->constant;
    case DRAW_RAMP:
        return position(draw, at);
    default:
        return 0.5 + normal(draw) / 6;
    }
}

/* Within 1 % of the interval's width from its point nearest to zero. */
static double
near_zero(struct draw *draw)
{
    double nearest = clip(0, draw->low, draw->high);
    double width = 0.01 * (draw->high - draw->low);
    return nearest + width * (2 * uniform(draw) - 1);
}

static double
value_in_interval(struct draw *draw, enum distribution distribution, int64_t at)
{
    double value;
    if (isinf(draw->low) || isinf(draw->high)) {
        value = plain_value(draw, distribution, at);
        if (isfinite(draw->low))
            value = draw->low + fabs(value);
        else if (isfinite(draw->high))
            value = draw->high - fabs(value);
    } else if (distribution == DRAW_INTEGERS || distribution == DRAW_DENORMAL) {
        value = plain_value(draw, distribution, at);
    } else if (distribution == DRAW_SMALL) {
        value = near_zero(draw);
    } else {
        value = draw->low + share(draw, distribution, at) * (draw->high - draw->low);
    }
    return clip(value, draw->low, draw->high);
}

static double
even_integer(struct draw *draw, double low, double high)
{
    return low + (double)below(draw, (uint64_t)(high - low) + 1);
}

static double
small_integer(struct draw *draw)
{
    double nearest = clip(0, draw->low, draw->high), reach = floor((draw->high - draw->low) / 100);
    return even_integer(draw, fmax(nearest - reach - 1, draw->low),
                        fmin(nearest + reach + 1, draw->high));
}

static double
integer_value(struct draw *draw, enum distribution distribution, int64_t at)
{
    double low = draw->low, high = draw->high;
    switch (distribution) {
    case DRAW_HEAVY: {
        uint64_t which = below(draw, 4);
        return which == 0 ? low : which == 1 ? high : even_integer(draw, low, high);
    }
    case DRAW_SMALL:
    case DRAW_DENORMAL:
        return small_integer(draw);
    case DRAW_OFFSET:
        return even_integer(draw, high - floor((high - low) / 10), high);
    case DRAW_CONSTANT:
        return low + floor(draw->constant * (high - low + 1));
    case DRAW_RAMP:
        return low + floor(position(draw, at) * (high - low));
    case DRAW_INTEGERS:
        return clip((double)below(draw, 9) - 4, low, high);
    default:
        return even_integer(draw, low, high);
    }
}

static double
one_among(struct draw *draw, enum distribution distribution, int64_t at)
{
    const struct domain *domain = &draw->tensor->domain;
    size_t last = domain->count - 1;
    if (distribution == DRAW_CONSTANT)
        return domain->values[(size_t)(draw->constant * (double)domain->count)];
    if (distribution == DRAW_RAMP)
        return domain->values[(size_t)(position(draw, at) * (double)last)];
    return domain->values[below(draw, domain->count)];
}

static double
element(struct draw *draw, enum distribution distribution, int64_t at)
{
    const struct domain *domain = &draw->tensor->domain;
    bool is_float = dtype_is_float(draw->tensor->dtype);
    if (domain->form == DOMAIN_AMONG)
        return one_among(draw, distribution, at);
    if (!is_float && domain->form != DOMAIN_SCALE)
        return integer_value(draw, distribution, at);
    if (draw->interval && is_float)
        return value_in_interval(draw, distribution, at);
    double value = plain_value(draw, distribution, at);
    if (distribution != DRAW_DENORMAL)
        value *= draw->scale;
    if (!is_float)
        return clip(rint(value), draw->low, draw->high);
    double largest = dtype_info[draw->tensor->dtype].largest;
    return clip(value, -largest, largest);
}

/* ---- rows and whole tensors ---- */

/* DRAW_MIXED: the distribution of a row, any finite one. */
static enum distribution
row_distribution(struct draw *draw)
{
    if (draw->distribution != DRAW_MIXED)
        return draw->distribution;
    return (enum distribution)below(draw, DRAW_INFINITE);
}

/* Logits as drawn, at most 80 apart so that every share stays positive; in f16 less. */
static void
softmax_row(struct draw *draw, enum distribution distribution, int64_t first, void *data)
{
    enum dtype dtype = draw->tensor->dtype;
    double spread = dtype == DTYPE_F16 ? 4 : 40, sum = 0;
    struct rng start = draw->rng;
    if (distribution == DRAW_INFINITE)
        distribution = DRAW_NORMAL;
    for (int64_t i = 0; i < draw->row; i++)
        sum += exp(clip(plain_value(draw, distribution, first + i), -spread, spread));
    draw->rng = start;
    for (int64_t i = 0; i < draw->row; i++) {
        double e = exp(clip(plain_value(draw, distribution, first + i), -spread, spread));
        dtype_set_element(dtype, data, first + i, fmax(e / sum, dtype_info[dtype].smallest));
    }
}

static void
fill_row(struct draw *draw, int64_t first, void *data)
{
    enum distribution distribution = row_distribution(draw);
    if (draw->tensor->domain.form == DOMAIN_SOFTMAX && dtype_is_float(draw->tensor->dtype)) {
        softmax_row(draw, distribution, first, data);
        return;
    }
    for (int64_t at = first; at < first + draw->row; at++)
        dtype_set_element(draw->tensor->dtype, data, at, element(draw, distribution, at));
}

/* ---- normal numbers in vectors ---- */

/* f32 without a domain that bends them: by far the most. */
static bool
is_plainly_normal(const struct draw *draw)
{
    enum domain_form form = draw->tensor->domain.form;
    enum distribution d = draw->distribution;

    return draw->tensor->dtype == DTYPE_F32 && form != DOMAIN_INTERVAL && form != DOMAIN_AMONG &&
           form != DOMAIN_SOFTMAX && (d == DRAW_NORMAL || d == DRAW_SMALL || d == DRAW_OFFSET) &&
           fabs(draw->scale) < 1e30;
}

struct span { /* of an input's elements */
    const struct draw *draw;
    float *data;
    int64_t first, end;
};

/* One that vectors leave in doubt: only libm can tell. */
static void
settle(const struct span *span, int64_t at)
{
    struct draw draw = *span->draw;

    draw.rng.count += 2 * (uint64_t)at;
    span->data[at] = (float)element(&draw, draw.distribution, at);
}

static void *
fill_span(void *data)
{
    const struct span *span = data;
    const struct draw *draw = span->draw;
    const struct fit fit = {.factor = draw->distribution == DRAW_SMALL ? SMALL : 1,
                            .offset = draw->distribution == DRAW_OFFSET ? OFFSET : 0,
                            .scale = draw->scale};

    for (int64_t at = span->first; at < span->end; at += NORMALS) {
        int64_t left = span->end - at, count = left < NORMALS ? left : NORMALS;
        uint64_t number = draw->rng.count + 2 * (uint64_t)at;
        float low[NORMALS], high[NORMALS];
        bool sure = draw->passes->normals(draw->rng.key, number, &fit, low, high);
        memcpy(span->data + at, low, (size_t)count * sizeof *low);
        for (int64_t i = 0; !sure && i < count; i++)
            if (low[i] != high[i])
                settle(span, at + i);
    }
    return NULL;
}

static void
fill_normals(const struct draw *draw, float *data)
{
    int64_t count = draw->tensor->count, half = count / 2 / NORMALS * NORMALS;
    struct span whole = {draw, data, 0, count}, second = {draw, data, half, count};
    pthread_t thread;
    bool both = count >= MANY && pthread_create(&thread, NULL, fill_span, &second) == 0;

    if (both)
        whole.end = half;
    fill_span(&whole);
    if (both)
        pthread_join(thread, NULL);
}

/* ---- spikes ---- */

/* In every other row of the heavy tails one element towers above the rest, often at an end: what a
 * kernel forgets is forgotten there, and a maximum that misses the largest shows only if it is so
 * much larger. */
static void
plant_spikes(struct draw *draw, void *data)
{
    const struct tensor *tensor = draw->tensor;
    enum domain_form form = tensor->domain.form;

    if (draw->distribution != DRAW_HEAVY || !dtype_is_float(tensor->dtype) || draw->row < 2 ||
        (form != DOMAIN_NONE && form != DOMAIN_SCALE))
        return;
    for (int64_t first = 0; first < tensor->count; first += 2 * draw->row) {
        const int64_t ends[] = {0, draw->row - 1, 1, (int64_t)below(draw, (uint64_t)draw->row)};
        double size = SPIKE * draw->scale * (1 + uniform(draw));

        dtype_set_element(tensor->dtype, data, first + ends[below(draw, 4)],
                          below(draw, 4) == 0 ? -size : size);
    }
}

/* Two infinities in all: where they meet there is only NaN. The highest bits of the seed choose
 * their signs: both, only -, only +, so that who finds a NaN can ask for others. */
static void
plant_infinities(struct draw *draw, uint64_t signs, void *data)
{
    const struct tensor *tensor = draw->tensor;

    if (draw->distribution != DRAW_INFINITE || !dtype_is_float(tensor->dtype) ||
        tensor->domain.form == DOMAIN_AMONG || tensor->domain.form == DOMAIN_SOFTMAX)
        return;
    for (unsigned i = 0; i < 2; i++) {
        bool negative = signs % 3 == 0 ? i == 0 : signs % 3 == 1;
        int64_t at = (int64_t)below(draw, (uint64_t)tensor->count);

        if (negative && draw->low == -INFINITY)
            dtype_set_element(tensor->dtype, data, at, -INFINITY);
        else if (!negative && draw->high == INFINITY)
            dtype_set_element(tensor->dtype, data, at, INFINITY);
    }
}

/* ---- matrices ---- */

/* Element (i,j) of one matrix: zero outside a triangle, or that of (j,i). */
static void
shape_element(const struct tensor *tensor, char *matrix, int64_t i, int64_t j)
{
    size_t size = dtype_info[tensor->dtype].size;
    int64_t rows = tensor->size[tensor->rank - 2], columns = tensor->size[tensor->rank - 1];
    char *here = matrix + (size_t)(i * columns + j) * size;
    switch (tensor->domain.form) {
    case DOMAIN_LOWER:
        if (j > i)
            memset(here, 0, size);
        break;
    case DOMAIN_UPPER:
        if (j < i)
            memset(here, 0, size);
        break;
    default:
        if (j < i && i < columns && j < rows)
            memcpy(here, matrix + (size_t)(j * columns + i) * size, size);
    }
}

static void
shape_matrices(const struct tensor *tensor, char *data)
{
    enum domain_form form = tensor->domain.form;
    if (form != DOMAIN_LOWER && form != DOMAIN_UPPER && form != DOMAIN_SYMMETRIC)
        return;
    assert(tensor->rank >= 2);
    int64_t rows = tensor->size[tensor->rank - 2], columns = tensor->size[tensor->rank - 1];
    size_t bytes = (size_t)(rows * columns) * dtype_info[tensor->dtype].size;
    for (int64_t m = 0; m < tensor->count / (rows * columns); m++)
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < columns; j++)
                shape_element(tensor, data + (size_t)m * bytes, i, j);
}

static struct rng
stream_of(size_t input, enum distribution distribution, uint64_t seed)
{
    char name[64];
    snprintf(name, sizeof name, "input %zu %s", input, distribution_name[distribution]);
    return rng_stream(seed, name);
}

void
task_draw(const struct program *program, size_t input, enum distribution distribution,
          uint64_t seed, void *data)
{
    const struct tensor *tensor = program->tensors[input];
    struct draw draw = {.tensor = tensor, .distribution = distribution, .scale = 1};
    assert(input < program->input_count);
    draw.passes = pass_here();
    draw.first = UINT64_C(1) << 63; /* nothing is drawn yet */
    draw.rng = stream_of(input, distribution, seed);
    draw.row = tensor->rank > 0 ? tensor->size[tensor->rank - 1] : 1;
    if (dtype_is_float(tensor->dtype))
        range_of_floats(&draw);
    else
        range_of_integers(&draw);
    if (tensor->domain.form == DOMAIN_SCALE)
        draw.scale = tensor->domain.low;
    draw.constant = uniform(&draw);
    draw.constant_normal = normal(&draw);
    if (is_plainly_normal(&draw))
        fill_normals(&draw, data);
    else
        for (int64_t first = 0; first < tensor->count; first += draw.row)
            fill_row(&draw, first, data);
    plant_spikes(&draw, data);
    plant_infinities(&draw, seed >> 60, data);
    shape_matrices(tensor, data);
}

void **
task_draw_all(struct arena *arena, const struct program *program, enum distribution distribution,
              uint64_t seed)
{
    void **inputs = arena_array(arena, program->input_count, sizeof *inputs);
    for (size_t i = 0; i < program->input_count; i++) {
        const struct tensor *tensor = program->tensors[i];
        size_t bytes = (size_t)tensor->count * dtype_info[tensor->dtype].size;
        char *room = arena_alloc(arena, bytes + 2 * ALIGNMENT);
        inputs[i] = room + (ALIGNMENT - (uintptr_t)room % ALIGNMENT) % ALIGNMENT;
        task_draw(program, i, distribution, seed, inputs[i]);
    }
    return inputs;
}

/* ---- denormals ---- */

static bool
has_denormals(enum dtype dtype, const void *data, int64_t count)
{
    if (dtype == DTYPE_F32)
        return pass_here()->has_denormals(data, count);
    for (int64_t i = 0; i < count; i++) {
        double value = fabs(dtype_element(dtype, data, i));
        if (value > 0 && value < dtype_info[dtype].smallest)
            return true;
    }
    return false;
}

bool
task_has_denormals(const struct program *program, const void *const *inputs)
{
    for (size_t i = 0; i < program->input_count; i++) {
        const struct tensor *tensor = program->tensors[i];
        if (dtype_is_float(tensor->dtype) && has_denormals(tensor->dtype, inputs[i], tensor->count))
            return true;
    }
    return false;
}
