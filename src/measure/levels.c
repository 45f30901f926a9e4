/* Bandwidth of each memory level: reading, writing, copying and a triad, of which the fastest is
 * the level's limit. Stores past the cache save the read of what is overwritten, so they count for
 * memory. */
#include "measure/measure_int.h"

#include "measure/kernels_int.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BUDGET_NS 20e6
#define PASSES 2         /* apart in time: who disturbs the one may be gone in the other */
#define CACHE_SLICE 32e6 /* bytes that a thread moves in one slice: some 0.1 ms ... */
#define MEMORY_SLICE 8e6 /* ... or more */
#define LEAST_SLICES 5
#define MOST_SLICES 512
#define PAGE 4096.0        /* loads and stores with equal low 12 bits wait for each other ... */
#define STAGGER 336        /* ... so arrays begin this many elements apart beyond whole pages */
#define LEAST_MEMORY 256e6 /* bytes of all threads together */
#define MOST_MEMORY 384e6  /* touching a page for the first time is slow on virtual machines */
#define MOST_L3 8e6        /* of a thread: a large L3 is shared with whoever else is there */

static const struct {
    double reads, writes;
    bool past;
} streams[STREAM_COUNT] = {
#define X(id, name, reads, writes, past) [STREAM_##id] = {reads, writes, past},
    KERNEL_STREAMS(X)
#undef X
};

/* One stream in one level. A slice goes over whole arrays many times or, in memory, once over the
 * next part of them, so that it is never found in a cache. */
struct streaming {
    const struct kernels *kernels;
    enum stream stream;
    float *memory; /* of all threads */
    size_t share;  /* elements of a thread */
    size_t count;  /* elements of each array */
    size_t step;   /* elements of one go */
    size_t goes;   /* in a slice */
    size_t at;     /* where the next slice begins */
};

static double
arrays_of(enum stream stream)
{
    return streams[stream].reads + streams[stream].writes;
}

static void
touch(void *context, size_t number)
{
    struct streaming *s = context;
    memset(s->memory + number * s->share, 1, s->share * sizeof(float));
}

static void
run_slice(void *context, size_t number)
{
    const struct streaming *s = context;
    size_t apart = s->count + STAGGER;
    float *a = s->memory + number * s->share + s->at;
    float *b = streams[s->stream].writes > 0 ? a + apart : a;
    for (size_t go = 0; go < s->goes; go++)
        s->kernels->stream[s->stream](a, b, b + apart, s->step);
}

/* The arrays, `bytes` in all, and how much of them a slice goes over. */
static void
lay_out(struct streaming *s, double bytes, bool memory)
{
    double arrays = arrays_of(s->stream), pages = fmax(floor(bytes / arrays / PAGE), 1);
    double step = memory ? fmin(floor(MEMORY_SLICE / arrays / PAGE), pages) : pages;
    s->at = 0;
    s->count = (size_t)(pages * PAGE) / sizeof(float);
    s->step = (size_t)(step * PAGE) / sizeof(float);
    s->goes = memory ? 1 : (size_t)fmax(CACHE_SLICE / (arrays * step * PAGE), 1);
}

static double
take_slice(struct taking *taking, struct streaming *s, size_t threads)
{
    double ns = measure__team_run(taking->team, threads, taking->clock, run_slice, s);
    s->at = s->at + 2 * s->step <= s->count ? s->at + s->step : 0;
    return ns;
}

/* GB/s of `threads` threads with `bytes` each, by the fastest slice. Of a large memory some parts
 * are found in a cache all the same, which may keep what it was asked for before: there the fastest
 * quarter does not count. */
static double
rate(struct taking *taking, struct streaming *s, size_t threads, double bytes, bool memory)
{
    double ns[MOST_SLICES];
    size_t slices = 0;
    uint64_t from = measure_ticks(taking->clock);
    lay_out(s, bytes, memory);
    do
        ns[slices++] = take_slice(taking, s, threads);
    while (slices < LEAST_SLICES ||
           (slices < MOST_SLICES &&
            measure_ns(taking->clock, from, measure_ticks(taking->clock)) < BUDGET_NS));
    measure_summarise(ns, slices); /* sorts them */
    double best = ns[memory ? slices / 4 : 0];
    double moved = arrays_of(s->stream) * (double)(s->step * s->goes) * sizeof(float);
    return moved * (double)threads / fmax(best, 1);
}

static void
take_level(struct taking *taking, struct streaming *s, unsigned number, double bytes)
{
    size_t threads[MEASURE_SCOPES] = {1, measure__team_size(taking->team)};
    bool memory = isinf(taking->figures->level[number].bytes);
    for (unsigned stream = 0; stream < STREAM_COUNT; stream++) {
        if (streams[stream].past && !memory)
            continue;
        s->stream = (enum stream)stream;
        for (unsigned scope = 0; scope < MEASURE_SCOPES; scope++) {
            /* one thread alone goes over the memory of all: a share may fit a cache that the
             * machine does not own up to */
            double alone = memory && scope == MEASURE_ONE ? (double)threads[MEASURE_ALL] : 1;
            double gbs = rate(taking, s, threads[scope], alone * bytes, memory);
            double *best = &taking->figures->level[number].gbs[scope];
            *best = fmax(*best, gbs);
            if (scope == MEASURE_ALL && streams[stream].reads == 0)
                taking->figures->level[number].store_gbs =
                    fmax(taking->figures->level[number].store_gbs, gbs);
        }
    }
}

/* What a thread goes over to be sure to be in this cache and not in the one before it. */
static double
footprint(const struct measure_facts *facts, unsigned cache)
{
    double bytes = facts->cache[cache].bytes / 2;
    if (facts->cache[cache].level >= 3)
        bytes = fmin(facts->cache[cache].all_bytes / 2 / facts->threads, MOST_L3);
    if (cache > 0)
        bytes = fmax(bytes, 2 * facts->cache[cache - 1].bytes);
    return bytes;
}

static void
add_level(struct measure_figures *figures, const struct measure_facts *facts, unsigned cache)
{
    unsigned number = figures->level_count++;
    bool memory = cache == facts->cache_count;
    if (memory)
        memcpy(figures->level[number].name, "memory", sizeof "memory");
    else
        snprintf(figures->level[number].name, sizeof figures->level[number].name, "L%u",
                 facts->cache[cache].level % 10);
    figures->level[number].bytes = memory ? INFINITY : facts->cache[cache].all_bytes;
}

/* Four times the caches, within reason and an eighth of what there is. */
static double
memory_bytes(const struct measure_facts *facts)
{
    double there = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    double last = facts->cache_count ? facts->cache[facts->cache_count - 1].all_bytes : 0;
    return fmin(fmin(fmax(4 * last, LEAST_MEMORY), MOST_MEMORY), there / 8);
}

/* Disturbed, a nearer level may look slower than a farther one, and all cores slower than one: the
 * speed of light takes neither. */
static void
make_falling(struct measure_figures *figures)
{
    for (unsigned number = 0; number < figures->level_count; number++)
        figures->level[number].gbs[MEASURE_ALL] =
            fmax(figures->level[number].gbs[MEASURE_ALL], figures->level[number].gbs[MEASURE_ONE]);
    for (unsigned number = figures->level_count - 1; number > 0; number--)
        for (unsigned scope = 0; scope < MEASURE_SCOPES; scope++)
            figures->level[number - 1].gbs[scope] =
                fmax(figures->level[number - 1].gbs[scope], figures->level[number].gbs[scope]);
}

bool
measure__take_levels(struct taking *taking)
{
    const struct measure_facts *facts = taking->facts;
    size_t threads = measure__team_size(taking->team);
    double share = memory_bytes(facts) / (double)threads;
    for (unsigned cache = 0; cache < facts->cache_count; cache++)
        share = fmax(share, footprint(facts, cache));
    struct streaming s = {.kernels = taking->kernels};
    size_t mine = ((size_t)share / (size_t)PAGE + 4) * (size_t)PAGE, bytes = mine * threads;
    s.share = mine / sizeof(float);
    s.memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (s.memory == MAP_FAILED)
        return false;
    madvise(s.memory, bytes, MADV_HUGEPAGE);
    measure__team_run(taking->team, threads, taking->clock, touch, &s);
    for (unsigned cache = 0; cache <= facts->cache_count; cache++)
        add_level(taking->figures, facts, cache);
    for (unsigned pass = 0; pass < PASSES; pass++)
        for (unsigned cache = 0; cache <= facts->cache_count; cache++)
            take_level(taking, &s, cache,
                       cache < facts->cache_count ? footprint(facts, cache) : share);
    munmap(s.memory, bytes);
    make_falling(taking->figures);
    return true;
}
