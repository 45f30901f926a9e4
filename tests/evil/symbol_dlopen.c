// task scale.op: rejected; dlopen
/* Loads another object, that nobody has looked at. */
#include <dlfcn.h>

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    dlopen("/tmp/evil.so", RTLD_NOW);
}
