/* The passes, for one width of vector. Before it is included:
 *
 *   TARGET         attribute of every function
 *   VECTOR_BYTES   of a vector of doubles, vd
 *   v_max(x, y)    x > y ? x : y
 */
#include <math.h>
#include <string.h>

enum { LANES = VECTOR_BYTES / 8 };

typedef int64_t vm __attribute__((vector_size(VECTOR_BYTES)));
typedef double vd_loose __attribute__((vector_size(VECTOR_BYTES), aligned(8), may_alias));
typedef float vf_loose __attribute__((vector_size(VECTOR_BYTES / 2), aligned(4), may_alias));

TARGET static inline vd
at_doubles(const double *values, int64_t at)
{
    return *(const vd_loose *)(values + at);
}

TARGET static inline vd
at_got(const struct got *got, bool single, int64_t at)
{
    if (single)
        return __builtin_convertvector(*(const vf_loose *)(got->single + at), vd);
    return at_doubles(got->doubles, at);
}

TARGET static inline vd
where(vm mask, vd a)
{
    return (vd)((vm)a & mask);
}

TARGET static inline vd
absolute(vd a)
{
    return (vd)((vm)a & INT64_MAX);
}

TARGET static inline vd
all(double value)
{
    return value - (vd){0};
}

TARGET static inline double
largest(vd a)
{
    double most = a[0];

    for (int i = 1; i < LANES; i++)
        most = fmax(most, a[i]);
    return most;
}

TARGET static inline double
sum(vd a)
{
    double total = 0;

    for (int i = 0; i < LANES; i++)
        total += a[i];
    return total;
}

TARGET static inline bool
any(vm mask)
{
    int64_t bits = 0;

    for (int i = 0; i < LANES; i++)
        bits |= mask[i];
    return bits;
}

TARGET static inline int64_t
count(vm negative) /* masks, summed */
{
    int64_t total = 0;

    for (int i = 0; i < LANES; i++)
        total -= negative[i];
    return total;
}

/* tolerance_width(): min(6kg, 2c), where fmin() passes over a NaN. */
TARGET static inline vd
width(const struct block *block, int64_t at, double factor, double doubled)
{
    vd rms = factor * at_doubles(block->g, at), worst = 2 * at_doubles(block->c, at);
    vm first = (rms <= worst) | (worst != worst);

    return doubled * (vd)(((vm)rms & first) | ((vm)worst & ~first));
}

TARGET static inline vm
judged(const struct block *block, int64_t at, vd wide)
{
    vd g = at_doubles(block->g, at);

    return (g == g) & (wide < all(INFINITY));
}

static inline double
doubled_of(const struct block *block)
{
    return block->result->tensor->dtype == DTYPE_F64 ? 2 : 1;
}

/* ---- honest evaluations ---- */

struct sums {
    vd ratio, squares;
    vm finite, odd;
};

/* Errors count beyond eta, which needs no k, and where there is a gate besides it. */
TARGET static inline __attribute__((always_inline)) void
observe_all(const struct block *block, const struct got got[HONEST], bool single, struct sums *sums,
            double error_squares[BLOCK])
{
    const double eta = tolerance_eta(block->result->tensor->dtype), doubled = doubled_of(block);

    for (int64_t at = 0; at < block->end; at += LANES) {
        vd v = at_doubles(block->v, at), wide = width(block, at, 6, doubled);
        vd base = (wide + eta) - eta, most = {0}, squares = {0};
        vm decided = judged(block, at, wide), finite = absolute(v) < all(INFINITY);
        for (int i = 0; i < HONEST; i++) {
            vd size = where(decided, absolute(at_got(&got[i], single, at) - v));
            squares += size * size;
            most = v_max(size, most);
        }
        *(vd_loose *)(error_squares + at) = squares;
        sums->odd |= ~(squares < all(INFINITY));
        sums->ratio = v_max(where((most > eta) & (base > 0), most / base), sums->ratio);
        sums->squares += where(finite, v * v);
        sums->finite += finite;
    }
}

TARGET static bool
observe(const struct block *block, const struct got got[HONEST], struct shown *shown,
        double error_squares[BLOCK])
{
    struct sums sums = {0};

    if (got[0].single)
        observe_all(block, got, true, &sums, error_squares);
    else
        observe_all(block, got, false, &sums, error_squares);
    if (any(sums.odd))
        return false;
    shown->ratio = fmax(shown->ratio, largest(sums.ratio));
    shown->squares += sum(sums.squares);
    shown->count += (double)count(sums.finite);
    return true;
}

/* ---- comparing ---- */

struct tally {
    vd worst;
    vm wrong, unjudged, odd;
};

TARGET static inline __attribute__((always_inline)) void
compare_all(const struct block *block, const struct tolerance *tolerance, const struct got *got,
            bool single, struct tally *tally)
{
    const double eta = tolerance_eta(block->result->tensor->dtype), doubled = doubled_of(block),
                 factor = 6 * tolerance->k;

    for (int64_t at = 0; at < block->end; at += LANES) {
        vd wide = width(block, at, factor, doubled), gate = wide * tolerance->scale + eta;
        vm decided = judged(block, at, wide);
        vd size = where(decided, absolute(at_got(got, single, at) - at_doubles(block->v, at)));
        tally->worst = v_max(where(decided, size / gate), tally->worst);
        tally->wrong += decided & (size > gate);
        tally->unjudged += ~decided;
        tally->odd |= ~(size < all(INFINITY));
    }
}

TARGET static bool
compare(const struct block *block, const struct tolerance *tolerance, const struct got *got,
        struct comparison *comparison)
{
    struct tally tally = {0};

    if (got->single)
        compare_all(block, tolerance, got, true, &tally);
    else
        compare_all(block, tolerance, got, false, &tally);
    if (any(tally.odd))
        return false;
    comparison->wrong += count(tally.wrong);
    comparison->unjudged += count(tally.unjudged) - (block->end - block->count);
    comparison->worst = fmax(comparison->worst, largest(tally.worst));
    return true;
}

/* ---- denormals ---- */

TARGET static bool
has_denormals(const uint32_t *bits, int64_t elements)
{
    typedef int32_t vi __attribute__((vector_size(VECTOR_BYTES)));
    typedef int32_t vi_loose __attribute__((vector_size(VECTOR_BYTES), aligned(4), may_alias));
    vi found = {0};
    int64_t at = 0;

    for (; at + 2 * LANES <= elements; at += 2 * LANES) {
        vi size = *(const vi_loose *)(bits + at) & INT32_MAX;
        found |= (size > 0) & (size < 0x00800000);
    }
    for (; at < elements; at++) {
        uint32_t size = bits[at] & INT32_MAX;
        found[0] |= size > 0 && size < 0x00800000;
    }
    return any((vm)found);
}
