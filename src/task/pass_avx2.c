/* Passes in vectors of four. */
#include "task/pass_int.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx2")))
#define VECTOR_BYTES 32
#define PASSES pass__avx2
#define v_max(x, y) (vd) _mm256_max_pd((x), (y))

typedef double vd __attribute__((vector_size(VECTOR_BYTES)));

static bool
supported(void)
{
    return __builtin_cpu_supports("avx2");
}

#include "task/pass_body_int.h"
#endif
