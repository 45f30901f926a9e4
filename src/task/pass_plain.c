/* Passes in vectors of two: what every processor has. */
#include "task/pass_int.h"

#include <math.h>

#define TARGET
#define VECTOR_BYTES 16
#if defined(__SSE2__)
#include <emmintrin.h>
#define v_mul32(x, y) (vu) _mm_mul_epu32((__m128i)(x), (__m128i)(y))
#else
#define v_mul32(x, y) (((x)&UINT32_MAX) * ((y)&UINT32_MAX))
#endif

typedef double vd __attribute__((vector_size(VECTOR_BYTES)));

static inline vd
v_max(vd x, vd y)
{
    return (vd){x[0] > y[0] ? x[0] : y[0], x[1] > y[1] ? x[1] : y[1]};
}

static inline vd
v_sqrt(vd x)
{
    return (vd){sqrt(x[0]), sqrt(x[1])};
}

static bool
supported(void)
{
    return true;
}

#include "task/pass_body_int.h"
#include "task/stream_body_int.h"

const struct passes pass__plain = {supported, observe, compare, has_denormals, draw, normals};
