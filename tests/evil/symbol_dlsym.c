// task scale.op: rejected; dlsym
/* Looks for what it may not name. */
#include <dlfcn.h>

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    ((int (*)(const char *))dlsym(NULL, "system"))("true");
}
