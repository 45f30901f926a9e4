#include "base/fault.h"

#ifdef HONE_FAULTS

#include <stdatomic.h>

static atomic_ulong calls_left[FAULT_KINDS]; /* 0: off */

void
fault_arm(enum fault kind, unsigned long n)
{
    atomic_store(&calls_left[kind], n);
}

int
fault_hit(enum fault kind)
{
    unsigned long left = atomic_load(&calls_left[kind]);

    while (left != 0 && !atomic_compare_exchange_weak(&calls_left[kind], &left, left - 1))
        continue;
    return left == 1;
}

#endif
