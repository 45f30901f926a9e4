// task scale.op: rejected; setjmp
/* Leaves by another way than it came. */
#include <setjmp.h>

static jmp_buf place;

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    if (setjmp(place) == 0)
        longjmp(place, 1);
}
