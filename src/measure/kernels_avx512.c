/* AVX-512, its foundation alone. */
#include "measure/kernels_int.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <stdint.h>

#define TARGET __attribute__((target("avx512f")))
#define VECTOR_BYTES 64
#define KERNELS measure__kernels_avx512
#define KERNELS_NAME "AVX-512"
#define KERNELS_REGISTERS 32
#define KERNELS_MVEC "_ZGVeN16"

typedef float vf __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef double vd __attribute__((vector_size(VECTOR_BYTES), may_alias));

#define v_fma(x, y, z) (vf) _mm512_fmadd_ps((x), (y), (z))
#define w_fma(x, y, z) (vd) _mm512_fmadd_pd((x), (y), (z))
#define v_max(x, y) (vf) _mm512_max_ps((x), (y))
#define v_min(x, y) (vf) _mm512_min_ps((x), (y))
#define v_sqrt(x) (vf) _mm512_sqrt_ps(x)
#define v_rcp(x) (vf) _mm512_rcp14_ps(x)
#define v_rsqrt(x) (vf) _mm512_rsqrt14_ps(x)
#define v_store_past(to, x) _mm512_stream_ps((float *)(to), (x))

static bool
supported(void)
{
    return __builtin_cpu_supports("avx512f");
}

#include "measure/kernels_body_int.h"
#endif
