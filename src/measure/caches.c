/* Sizes of the data caches. /sys also tells who shares them; cpuid, for where /sys is not there,
 * only how large they are. */
#include "measure/measure_int.h"

#include "base/text.h"

#include <stdlib.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define MOST_INDICES 8

static struct measure_cache *
cache_of_level(struct measure_facts *facts, unsigned level)
{
    for (unsigned i = 0; i < facts->cache_count; i++)
        if (facts->cache[i].level == level)
            return &facts->cache[i];
    if (facts->cache_count == MEASURE_LEVELS)
        return NULL;
    facts->cache[facts->cache_count] = (struct measure_cache){.level = level};
    return &facts->cache[facts->cache_count++];
}

static bool
read_attribute(struct arena *arena, int cpu, unsigned index, const char *name, char *text)
{
    const char *path =
        arena_printf(arena, "/sys/devices/system/cpu/cpu%d/cache/index%u/%s", cpu, index, name);
    return measure__read(path, text, 64);
}

/* Whether a list such as "0-3,8" names the processor. */
static bool
is_listed(const char *list, int cpu)
{
    while (*list >= '0' && *list <= '9') {
        char *end;
        long from = strtol(list, &end, 10), to = *end == '-' ? strtol(end + 1, &end, 10) : from;
        if (cpu >= from && cpu <= to)
            return true;
        list = *end == ',' ? end + 1 : end;
    }
    return false;
}

/* One cache as one processor sees it. The first of ours that share it counts it. */
static bool
read_index(struct arena *arena, const int *cpus, size_t number, unsigned index,
           struct measure_facts *facts)
{
    char type[64], size[64], level[64], shared[64] = "", *unit;
    if (!read_attribute(arena, cpus[number], index, "type", type) ||
        !read_attribute(arena, cpus[number], index, "size", size) ||
        !read_attribute(arena, cpus[number], index, "level", level))
        return false;
    double bytes = strtod(size, &unit) * (*unit == 'M' ? 1048576 : *unit == 'K' ? 1024 : 1);
    if (text_starts(type, "Instruction") || !(bytes > 0))
        return true;
    struct measure_cache *cache = cache_of_level(facts, (unsigned)strtoul(level, NULL, 10));
    if (cache == NULL)
        return true;
    cache->bytes = bytes;
    read_attribute(arena, cpus[number], index, "shared_cpu_list", shared);
    for (size_t before = 0; before < number; before++)
        if (is_listed(shared, cpus[before]))
            return true;
    cache->all_bytes += bytes;
    return true;
}

/* Leaf 4 of Intel and 0x8000001d of AMD have one form. */
static void
ask_processor(struct measure_facts *facts)
{
#if defined(__x86_64__)
    const unsigned leaves[2] = {4, 0x8000001d};
    for (unsigned i = 0; i < 2 && facts->cache_count == 0; i++)
        for (unsigned index = 0, a, b, c, d; index < MOST_INDICES; index++) {
            if (!__get_cpuid_count(leaves[i], index, &a, &b, &c, &d) || (a & 31) == 0)
                break;
            struct measure_cache *cache = (a & 31) == 2 ? NULL : cache_of_level(facts, a >> 5 & 7);
            if (cache != NULL)
                cache->bytes = (double)((b >> 22) + 1) * ((b >> 12 & 1023) + 1) * ((b & 4095) + 1) *
                               ((double)c + 1);
        }
#endif
    if (facts->cache_count == 0) {
        cache_of_level(facts, 1)->bytes = 32768;
        cache_of_level(facts, 2)->bytes = 262144;
    }
    for (unsigned i = 0; i < facts->cache_count; i++)
        facts->cache[i].all_bytes =
            facts->cache[i].bytes * (facts->cache[i].level < 3 ? facts->cores : 1);
}

void
measure__caches(struct arena *arena, struct measure_facts *facts)
{
    int *cpus;
    size_t count = measure_cpus(arena, &cpus);
    for (size_t number = 0; number < count; number++)
        for (unsigned index = 0; index < MOST_INDICES; index++)
            if (!read_index(arena, cpus, number, index, facts))
                break;
    if (facts->cache_count == 0)
        ask_processor(facts);
}
