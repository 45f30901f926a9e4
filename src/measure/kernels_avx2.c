/* AVX2 with fused multiply-add. */
#include "measure/kernels_int.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <stdint.h>

#define TARGET __attribute__((target("avx2,fma")))
#define VECTOR_BYTES 32
#define KERNELS measure__kernels_avx2
#define KERNELS_NAME "AVX2"
#define KERNELS_REGISTERS 16
#define KERNELS_MVEC "_ZGVdN8"

typedef float vf __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef double vd __attribute__((vector_size(VECTOR_BYTES), may_alias));

#define v_fma(x, y, z) (vf) _mm256_fmadd_ps((x), (y), (z))
#define w_fma(x, y, z) (vd) _mm256_fmadd_pd((x), (y), (z))
#define v_max(x, y) (vf) _mm256_max_ps((x), (y))
#define v_min(x, y) (vf) _mm256_min_ps((x), (y))
#define v_sqrt(x) (vf) _mm256_sqrt_ps(x)
#define v_rcp(x) (vf) _mm256_rcp_ps(x)
#define v_rsqrt(x) (vf) _mm256_rsqrt_ps(x)
#define v_store_past(to, x) _mm256_stream_ps((float *)(to), (x))

static bool
supported(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

#include "measure/kernels_body_int.h"
#endif
