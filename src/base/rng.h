/* A counted random generator (Philox 4x32-10): value n of the stream (seed, name) is a pure
 * function of the three, so that any draw can be repeated, in any order, by any thread. */
#ifndef HONE_BASE_RNG_H
#define HONE_BASE_RNG_H

#include <stdint.h>

struct rng {
    uint32_t key[2];
    uint64_t count; /* draws made by the rng_ functions below */
};

struct rng
rng_stream(uint64_t seed, const char *name);

/* Value n of the stream; does not move it. */
uint64_t
rng_at(const struct rng *rng, uint64_t n);

/* The same as a number of [0,1), 53 bits. */
double
rng_uniform_at(const struct rng *rng, uint64_t n);

uint64_t
rng_next(struct rng *rng);

/* Uniform in 0..bound-1, without bias; bound > 0. */
uint64_t
rng_below(struct rng *rng, uint64_t bound);

/* Uniform in [0,1), 53 bits. */
double
rng_uniform(struct rng *rng);

/* Mean 0, deviation 1. */
double
rng_normal(struct rng *rng);

#endif
