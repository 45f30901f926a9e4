/* Where the machine can refuse: tests make the n-th such call fail.
 *
 * In debug and asan builds (HONE_FAULTS) each seam to the operating system asks fault_hit() first;
 * in release builds it is a constant 0. The counters are the one mutable global of the program. */
#ifndef HONE_BASE_FAULT_H
#define HONE_BASE_FAULT_H

enum fault { FAULT_ALLOC, FAULT_WRITE, FAULT_FORK, FAULT_KINDS };

#ifdef HONE_FAULTS
/* The n-th call from now on (1: the next) fails, and only that one; 0 switches off. */
void
fault_arm(enum fault kind, unsigned long n);

int
fault_hit(enum fault kind);
#else
static inline int
fault_hit(enum fault kind)
{
    (void)kind;
    return 0;
}
#endif

#endif
