/* What the processor and the system say: no measuring here. */
#include "measure/measure_int.h"

#include "base/text.h"
#include "measure/kernels_int.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* ---- the processor's name ---- */

/* Families of models, by vendor; the first row that fits counts. */
static const struct {
    const char *vendor;
    unsigned family, from, to; /* models */
    const char *name;
} families[] = {
    {"AuthenticAMD", 23, 0x00, 0x2f, "Zen"},
    {"AuthenticAMD", 23, 0x30, 0xff, "Zen 2"},
    {"AuthenticAMD", 25, 0x10, 0x1f, "Zen 4"},
    {"AuthenticAMD", 25, 0x60, 0x7f, "Zen 4"},
    {"AuthenticAMD", 25, 0xa0, 0xaf, "Zen 4"},
    {"AuthenticAMD", 25, 0x00, 0xff, "Zen 3"},
    {"AuthenticAMD", 26, 0x00, 0xff, "Zen 5"},
    {"GenuineIntel", 6, 0x3c, 0x3f, "Haswell"},
    {"GenuineIntel", 6, 0x45, 0x46, "Haswell"},
    {"GenuineIntel", 6, 0x3d, 0x3d, "Broadwell"},
    {"GenuineIntel", 6, 0x47, 0x4f, "Broadwell"},
    {"GenuineIntel", 6, 0x56, 0x56, "Broadwell"},
    {"GenuineIntel", 6, 0x55, 0x55, "Skylake server"},
    {"GenuineIntel", 6, 0x4e, 0x5e, "Skylake"},
    {"GenuineIntel", 6, 0x8e, 0x8e, "Skylake"},
    {"GenuineIntel", 6, 0x9e, 0x9e, "Skylake"},
    {"GenuineIntel", 6, 0x6a, 0x6c, "Ice Lake server"},
    {"GenuineIntel", 6, 0x7d, 0x7e, "Ice Lake"},
    {"GenuineIntel", 6, 0x8c, 0x8d, "Tiger Lake"},
    {"GenuineIntel", 6, 0x8f, 0x8f, "Sapphire Rapids"},
    {"GenuineIntel", 6, 0xcf, 0xcf, "Emerald Rapids"},
    {"GenuineIntel", 6, 0xad, 0xae, "Granite Rapids"},
    {"GenuineIntel", 6, 0x97, 0x9a, "Alder Lake"},
    {"GenuineIntel", 6, 0xb7, 0xbf, "Raptor Lake"},
};

const char *
measure_family_name(const struct measure_cpuinfo *info)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (!strcmp(info->vendor, families[i].vendor) && info->family == families[i].family &&
            info->model >= families[i].from && info->model <= families[i].to)
            return families[i].name;
    return NULL;
}

static void
take_line(struct measure_cpuinfo *info, const char *key, const char *value)
{
    if (!strcmp(key, "vendor_id"))
        info->vendor = value;
    else if (!strcmp(key, "model name") && *value)
        info->name = value;
    else if (!strcmp(key, "cpu family"))
        info->family = (unsigned)strtoul(value, NULL, 10);
    else if (!strcmp(key, "model"))
        info->model = (unsigned)strtoul(value, NULL, 10);
    else if (!strcmp(key, "stepping"))
        info->stepping = (unsigned)strtoul(value, NULL, 10);
}

/* "key<tabs>: value" lines; an empty one ends the first processor. */
void
measure_parse_cpuinfo(struct arena *arena, const char *text, struct measure_cpuinfo *info)
{
    *info = (struct measure_cpuinfo){.vendor = "", .name = "this machine"};
    char *next = arena_strdup(arena, text);
    for (char *line = strsep(&next, "\n"); line != NULL && *line; line = strsep(&next, "\n")) {
        char *colon = strchr(line, ':');
        if (colon == NULL)
            continue;
        *colon = 0;
        line[strcspn(line, "\t")] = 0;
        take_line(info, line, colon[1] == ' ' ? colon + 2 : colon + 1);
    }
}

/* ---- the rest ---- */

/* The file's first word in the arena, or NULL. */
static const char *
read_word(struct arena *arena, const char *path)
{
    char text[64];
    if (!measure__read(path, text, sizeof text))
        return NULL;
    text[strcspn(text, "\n ")] = 0;
    return *text ? arena_strdup(arena, text) : NULL;
}

static void
read_name(struct arena *arena, struct measure_facts *facts)
{
    char text[8192] = "";
    struct measure_cpuinfo info;
    measure__read("/proc/cpuinfo", text, sizeof text);
    measure_parse_cpuinfo(arena, text, &info);
    facts->cpu = info.name;
    facts->family = measure_family_name(&info);
}

/* A core counts once, by the first of its processors that we may use. */
static unsigned
count_cores(struct arena *arena, const int *cpus, size_t count)
{
    const char **seen = arena_array(arena, count, sizeof *seen);
    unsigned cores = 0;
    for (size_t i = 0; i < count; i++) {
        const char *siblings = read_word(
            arena,
            arena_printf(arena, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
                         cpus[i]));
        unsigned known = 0;
        while (siblings != NULL && known < cores && strcmp(seen[known], siblings) != 0)
            known++;
        if (siblings == NULL)
            return (unsigned)count;
        if (known == cores)
            seen[cores++] = siblings;
    }
    return cores;
}

static const char *
find_hypervisor(struct arena *arena)
{
#if defined(__x86_64__)
    unsigned a, part[3], c;
    char name[13] = "";
    if (!__get_cpuid(1, &a, &part[0], &c, &part[1]) || !(c & 1u << 31))
        return NULL;
    __cpuid(0x40000000, a, part[0], part[1], part[2]);
    memcpy(name, part, 12);
    static const char *const known[][2] = {{"KVMKVMKVM", "KVM"},
                                           {"Microsoft Hv", "Hyper-V"},
                                           {"VMwareVMware", "VMware"},
                                           {"XenVMMXenVMM", "Xen"}};
    for (unsigned i = 0; i < 4; i++)
        if (!strcmp(name, known[i][0]))
            return known[i][1];
    return *name ? arena_strdup(arena, name) : "yes";
#else
    (void)arena;
    return access("/proc/device-tree/hypervisor", F_OK) == 0 ? "yes" : NULL;
#endif
}

static bool
has_counters(void)
{
    struct perf_event_attr attributes = {.type = PERF_TYPE_HARDWARE,
                                         .size = sizeof attributes,
                                         .config = PERF_COUNT_HW_CPU_CYCLES,
                                         .exclude_kernel = 1,
                                         .exclude_hv = 1};
    long fd = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0ul);
    if (fd >= 0)
        close((int)fd);
    return fd >= 0;
}

void
measure_facts_read(struct arena *arena, struct measure_facts *facts)
{
    int *cpus;
    size_t count = measure_cpus(arena, &cpus);
    const struct kernels *kernels = measure__kernels_here();
    *facts = (struct measure_facts){
        .threads = (unsigned)count,
        .cores = count_cores(arena, cpus, count),
        .vector = kernels->name,
        .vector_bits = kernels->bits,
        .vector_registers = kernels->registers,
        .hypervisor = find_hypervisor(arena),
        .counters = has_counters(),
        .governor = read_word(
            arena,
            arena_printf(arena, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", cpus[0])),
        .clock_source = read_word(arena, MEASURE_CLOCK_SOURCE),
    };
    read_name(arena, facts);
    measure__caches(arena, facts);
}
