/* Passes in vectors of four. */
#include "task/pass_int.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx2")))
#define VECTOR_BYTES 32
#define v_max(x, y) (vd) _mm256_max_pd((x), (y))
#define v_sqrt(x) (vd) _mm256_sqrt_pd(x)
#define v_mul32(x, y) (vu) _mm256_mul_epu32((__m256i)(x), (__m256i)(y))

typedef double vd __attribute__((vector_size(VECTOR_BYTES)));

static bool
supported(void)
{
    return __builtin_cpu_supports("avx2");
}

#include "task/pass_body_int.h"
#include "task/stream_body_int.h"

const struct passes pass__avx2 = {supported, observe, compare, has_denormals, draw, normals};
#endif
