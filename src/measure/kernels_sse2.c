/* SSE2, which every x86-64 has: a multiplication and an addition. */
#include "measure/kernels_int.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <stdint.h>

#define TARGET __attribute__((target("sse2")))
#define VECTOR_BYTES 16
#define KERNELS measure__kernels_sse2
#define KERNELS_NAME "SSE2"
#define KERNELS_REGISTERS 16
#define KERNELS_MVEC "_ZGVbN4"

typedef float vf __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef double vd __attribute__((vector_size(VECTOR_BYTES), may_alias));

#define v_fma(x, y, z) ((x) * (y) + (z))
#define w_fma(x, y, z) ((x) * (y) + (z))
#define v_max(x, y) (vf) _mm_max_ps((x), (y))
#define v_min(x, y) (vf) _mm_min_ps((x), (y))
#define v_sqrt(x) (vf) _mm_sqrt_ps(x)
#define v_rcp(x) (vf) _mm_rcp_ps(x)
#define v_rsqrt(x) (vf) _mm_rsqrt_ps(x)
#define v_store_past(to, x) _mm_stream_ps((float *)(to), (x))

static bool
supported(void)
{
    return true;
}

#include "measure/kernels_body_int.h"
#endif
