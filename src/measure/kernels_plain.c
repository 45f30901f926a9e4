/* No instruction set in particular: vectors of 16 bytes, which the compiler lowers to what there
 * is. */
#include "measure/kernels_int.h"

#include <math.h>
#include <stdint.h>

#define TARGET
#define VECTOR_BYTES 16
#define KERNELS measure__kernels_plain
#define KERNELS_MVEC NULL
#if defined(__aarch64__)
#define KERNELS_NAME "NEON"
#define KERNELS_REGISTERS 32
#else
#define KERNELS_NAME "plain C"
#define KERNELS_REGISTERS 16
#endif

typedef float vf __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef double vd __attribute__((vector_size(VECTOR_BYTES), may_alias));

static inline vf
v_fma(vf x, vf y, vf z)
{
#ifdef __FP_FAST_FMAF
    return (vf){fmaf(x[0], y[0], z[0]), fmaf(x[1], y[1], z[1]), fmaf(x[2], y[2], z[2]),
                fmaf(x[3], y[3], z[3])};
#else
    return x * y + z;
#endif
}

static inline vd
w_fma(vd x, vd y, vd z)
{
#ifdef __FP_FAST_FMA
    return (vd){fma(x[0], y[0], z[0]), fma(x[1], y[1], z[1])};
#else
    return x * y + z;
#endif
}

static inline vf
v_max(vf x, vf y)
{
    return (vf){fmaxf(x[0], y[0]), fmaxf(x[1], y[1]), fmaxf(x[2], y[2]), fmaxf(x[3], y[3])};
}

static inline vf
v_min(vf x, vf y)
{
    return (vf){fminf(x[0], y[0]), fminf(x[1], y[1]), fminf(x[2], y[2]), fminf(x[3], y[3])};
}

static inline vf
v_sqrt(vf x)
{
    return (vf){sqrtf(x[0]), sqrtf(x[1]), sqrtf(x[2]), sqrtf(x[3])};
}

/* No guess is to be had here. */
static inline vf
v_rcp(vf x)
{
    return 1 / x;
}

static inline vf
v_rsqrt(vf x)
{
    return 1 / v_sqrt(x);
}

static inline void
v_store_past(vf *to, vf x)
{
    *to = x;
}

static bool
supported(void)
{
    return true;
}

#include "measure/kernels_body_int.h"
