/* The block function itself, for the test against published answers. */
#ifndef HONE_BASE_RNG_INT_H
#define HONE_BASE_RNG_INT_H

#include <stdint.h>

void
rng__philox(const uint32_t counter[4], const uint32_t key[2], uint32_t block[4]);

#endif
