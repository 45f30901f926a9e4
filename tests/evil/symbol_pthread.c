// task scale.op: rejected; pthread_create
/* A thread that is not one of OpenMP. */
#include <pthread.h>

static void *
work(void *data)
{
    return data;
}

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
}
