/* Which kernels there are, and which this processor can run. */
#include "measure/kernels_int.h"

#include <stddef.h>

const enum op function_op[FUNCTION_COUNT] = {
#define X(id, op, name) [FUNCTION_##id] = op,
    KERNEL_FUNCTIONS(X)
#undef X
};

const char *const function_name[FUNCTION_COUNT] = {
#define X(id, op, name) [FUNCTION_##id] = name,
    KERNEL_FUNCTIONS(X)
#undef X
};

const struct kernels *const measure__kernels[] = {
#if defined(__x86_64__)
    &measure__kernels_avx512, &measure__kernels_avx2,
    &measure__kernels_sse2,
#endif
    &measure__kernels_plain,  NULL,
};

const struct kernels *
measure__kernels_here(void)
{
    const struct kernels *const *kernels = measure__kernels;
    while (!(*kernels)->supported())
        kernels++;
    return *kernels;
}
