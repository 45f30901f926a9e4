// task scale.op: rejected; dl_iterate_phdr
/* Looks at the host's objects. */
#define _GNU_SOURCE
#include <link.h>

struct dl_phdr_info;
int
dl_iterate_phdr(int (*)(struct dl_phdr_info *, size_t, void *), void *);

static int
one(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)info, (void)size, (void)data;
    return 0;
}

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    dl_iterate_phdr(one, NULL);
}
