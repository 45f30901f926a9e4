/* Philox 4x32-10: Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3",
 * SC 2011, section 3.3. */
#include "base/rng.h"

#include "base/rng_int.h"

#include <assert.h>
#include <math.h>

enum { ROUNDS = 10 };

void
rng__philox(const uint32_t counter[4], const uint32_t key[2], uint32_t block[4])
{
    uint32_t k0 = key[0], k1 = key[1];
    uint32_t x0 = counter[0], x1 = counter[1], x2 = counter[2], x3 = counter[3];

    for (int round = 0; round < ROUNDS; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53 * x0, p1 = (uint64_t)0xCD9E8D57 * x2;

        x0 = (uint32_t)(p1 >> 32) ^ x1 ^ k0;
        x1 = (uint32_t)p1;
        x2 = (uint32_t)(p0 >> 32) ^ x3 ^ k1;
        x3 = (uint32_t)p0;
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
    }
    block[0] = x0;
    block[1] = x1;
    block[2] = x2;
    block[3] = x3;
}

/* The finalizer of SplitMix64. hash_mix() would do, but may change; recorded seeds may not. */
static uint64_t
scramble(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

struct rng
rng_stream(uint64_t seed, const char *name)
{
    uint64_t hash = scramble(seed + 0x9e3779b97f4a7c15ULL);

    for (; *name; name++)
        hash = scramble((hash ^ (unsigned char)*name) + 0x9e3779b97f4a7c15ULL);
    return (struct rng){.key = {(uint32_t)hash, (uint32_t)(hash >> 32)}};
}

uint64_t
rng_at(const struct rng *rng, uint64_t n)
{
    uint32_t counter[4] = {(uint32_t)n, (uint32_t)(n >> 32), 0, 0};
    uint32_t block[4];

    rng__philox(counter, rng->key, block);
    return block[0] | (uint64_t)block[1] << 32;
}

uint64_t
rng_next(struct rng *rng)
{
    return rng_at(rng, rng->count++);
}

/* Lemire's method: the high half of draw * bound, drawn again where the low half shows that this
 * result has one preimage too many. */
uint64_t
rng_below(struct rng *rng, uint64_t bound)
{
    uint64_t surplus;
    unsigned __int128 product;

    assert(bound > 0);
    surplus = -bound % bound; /* 2^64 mod bound */
    do
        product = (unsigned __int128)rng_next(rng) * bound;
    while ((uint64_t)product < surplus);
    return (uint64_t)(product >> 64);
}

double
rng_uniform_at(const struct rng *rng, uint64_t n)
{
    return (double)(rng_at(rng, n) >> 11) * 0x1p-53;
}

double
rng_uniform(struct rng *rng)
{
    return rng_uniform_at(rng, rng->count++);
}

/* Box and Muller; the second value is dropped so that a draw needs no state but the count. */
double
rng_normal(struct rng *rng)
{
    double radius = sqrt(-2 * log(1 - rng_uniform(rng))); /* 1 - u is never 0 */
    double angle = 2 * M_PI * rng_uniform(rng);

    return radius * cos(angle);
}
