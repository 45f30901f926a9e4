/* This machine as the speed of light sees it: a kept description, or an estimate.
 *
 * The description is a text file of `key = value` lines (doc/machine.md): $HONE_MACHINE names one,
 * else it is `machine` in the cache folder. Lines with an unknown key are skipped, so that a newer
 * program can add some; without the peaks and one memory level the file is not used, nor is a kept
 * one whose `key` is that of another machine. */
#include "task/task.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/text.h"

#define LARGEST_FILE 65536

/* ---- the kept description ---- */

static bool
positive(const char *text, double *value)
{
    char *end;
    double read = strtod(text, &end);
    if (end == text || *end != 0 || !(read > 0))
        return false;
    *value = read;
    return true;
}

static void
add_level(struct lang_machine *machine, const char *name, double bytes, double gbs)
{
    unsigned number = machine->level_count++;
    snprintf(machine->level[number].name, sizeof machine->level[number].name, "%s", name);
    machine->level[number].bytes = bytes;
    machine->level[number].gbs = gbs;
}

/* "L2 = 1048576 120": what it holds in bytes, GB/s. "memory = inf 32". */
static void
read_level(struct lang_machine *machine, const char *name, const char *text)
{
    char *end;
    double bytes = strtod(text, &end), gbs;
    unsigned most = sizeof machine->level / sizeof machine->level[0];
    if (end == text || !(bytes > 0) || !positive(text_trim(end), &gbs) ||
        machine->level_count == most)
        return;
    add_level(machine, name, bytes, gbs);
}

static void
read_function(struct lang_machine *machine, const char *name, const char *text)
{
    for (unsigned op = 0; op < OP_COUNT; op++)
        if (op_info[op].apart && !strcmp(op == OP_DIV ? "division" : op_info[op].spelling, name))
            positive(text, &machine->function_ns[op]);
}

static void
read_line(struct arena *arena, struct lang_machine *machine, char *key, char *value)
{
    double number;
    if (!strcmp(key, "name"))
        machine->name = arena_strdup(arena, value);
    else if (!strcmp(key, "threads") && positive(value, &number))
        machine->threads = (unsigned)number;
    else if (!strcmp(key, "gflops.f32"))
        positive(value, &machine->gflops_f32);
    else if (!strcmp(key, "gflops.f64"))
        positive(value, &machine->gflops_f64);
    else if (text_starts(key, "ns."))
        read_function(machine, key + 3, value);
    else if (!strcmp(key, "memory") || (key[0] == 'L' && key[1] >= '1' && key[1] <= '9'))
        read_level(machine, key, value);
}

/* `key`: of this machine; NULL: the description may be of any. */
static bool
read_description(struct arena *arena, const char *path, const char *key,
                 struct lang_machine *machine)
{
    struct source source;
    struct diags *diags = diags_create(arena, 0);
    if (file_read(arena, path, LARGEST_FILE, &source, diags) != STATUS_OK)
        return false;
    *machine = (struct lang_machine){.name = "this machine", .threads = 1, .measured = true};
    char *next = arena_strndup(arena, source.text, source.length);
    for (char *line, *value; text_next_setting(&next, &line, &value);) {
        if (key != NULL && !strcmp(line, "key") && strcmp(value, key) != 0)
            return false;
        read_line(arena, machine, line, value);
    }
    if (machine->level_count == 0)
        return false;
    machine->level[machine->level_count - 1].bytes = INFINITY;
    return machine->gflops_f32 > 0 && machine->gflops_f64 > 0;
}

/* ---- the estimate ---- */

struct facts {
    unsigned threads;
    double ghz;
    bool avx512, avx2, avx, fma;
    double cache[4]; /* bytes by level; 0: not known */
};

static unsigned
count_threads(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    int count = CPU_COUNT(&set);
    return count > 0 ? (unsigned)count : 1;
}

static bool
has_flag(const char *flags, const char *flag)
{
    size_t length = strlen(flag);
    for (const char *at = strstr(flags, flag); at != NULL; at = strstr(at + 1, flag))
        if (at[-1] == ' ' && (at[length] == ' ' || at[length] == 0))
            return true;
    return false;
}

/* /proc and /sys files have no size, so file_read() is not for them. */
static char *
read_small(struct arena *arena, const char *path, size_t limit)
{
    char *text = arena_alloc(arena, limit + 1);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return text;
    text[fread(text, 1, limit, file)] = 0;
    fclose(file);
    return text;
}

static void
read_cpuinfo(struct arena *arena, struct facts *facts, struct lang_machine *machine)
{
    char *next = read_small(arena, "/proc/cpuinfo", 16384);
    for (char *line = strsep(&next, "\n"); line != NULL; line = strsep(&next, "\n")) {
        char *value = strchr(line, ':');
        if (value == NULL)
            continue;
        *value++ = 0;
        if (text_starts(line, "model name") && *text_trim(value))
            machine->name = text_trim(value);
        else if (text_starts(line, "cpu MHz"))
            facts->ghz = fmax(facts->ghz, strtod(value, NULL) / 1000);
        else if (text_starts(line, "flags")) {
            facts->avx512 = has_flag(value, "avx512f");
            facts->avx2 = has_flag(value, "avx2");
            facts->avx = has_flag(value, "avx");
            facts->fma = has_flag(value, "fma");
        }
    }
    char *most = read_small(arena, "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", 64);
    facts->ghz = fmax(facts->ghz, strtod(most, NULL) / 1e6);
    if (!(facts->ghz > 0.1 && facts->ghz < 10))
        facts->ghz = 2.5;
}

static void
read_caches(struct arena *arena, struct facts *facts)
{
    for (unsigned i = 0; i < 8; i++) {
        const char *folder = arena_printf(arena, "/sys/devices/system/cpu/cpu0/cache/index%u/", i);
        char *type = read_small(arena, file_join(arena, folder, "type"), 32);
        char *size = read_small(arena, file_join(arena, folder, "size"), 32), *unit;
        long level = strtol(read_small(arena, file_join(arena, folder, "level"), 32), NULL, 10);
        double bytes = strtod(size, &unit) * (*unit == 'M' ? 1048576 : *unit == 'K' ? 1024 : 1);
        if (level >= 1 && level <= 3 && !text_starts(type, "Instruction"))
            facts->cache[level] = bytes;
    }
    const double usual[4] = {0, 32768, 262144, 0};
    for (unsigned level = 1; level < 4; level++)
        if (!(facts->cache[level] > 0))
            facts->cache[level] = usual[level];
}

/* Cycles for one vector of f32 with two ports: what a polynomial or a step of Newton from the
 * hardware's guess needs. Limits, so on the low side. */
static const struct {
    enum op op;
    double cycles;
} function_cycles[] = {
    {OP_DIV, 2},   {OP_SQRT, 3}, {OP_RSQRT, 2},     {OP_EXP, 6},    {OP_EXP2, 5},
    {OP_EXPM1, 9}, {OP_LOG, 8},  {OP_LOG2, 8},      {OP_LOG1P, 10}, {OP_SIN, 9},
    {OP_COS, 9},   {OP_TAN, 14}, {OP_ATAN, 10},     {OP_SINH, 10},  {OP_COSH, 10},
    {OP_TANH, 8},  {OP_ERF, 10}, {OP_SIGMOID, 8},   {OP_POW, 16},   {OP_SIGN, 1},
    {OP_FLOOR, 1}, {OP_CEIL, 1}, {OP_SOFTPLUS, 14}, {OP_ROUND, 1},  {OP_TRUNC, 1},
};

static void
estimate_levels(const struct facts *facts, double vector_bytes, struct lang_machine *machine)
{
    double cycles = facts->ghz * facts->threads; /* of all threads, in a nanosecond */
    add_level(machine, "L1", facts->cache[1] * facts->threads, 2 * vector_bytes * cycles);
    add_level(machine, "L2", facts->cache[2] * facts->threads, 32 * cycles);
    if (facts->cache[3] > 0)
        add_level(machine, "L3", facts->cache[3], 16 * cycles);
    add_level(machine, "memory", INFINITY, 16.0 * facts->threads);
}

/* Two vector ports, fused multiply-add where there is one. */
static void
estimate(struct arena *arena, struct lang_machine *machine)
{
    struct facts facts = {.threads = count_threads()};
    *machine = (struct lang_machine){.name = "this machine", .threads = facts.threads};
    read_cpuinfo(arena, &facts, machine);
    read_caches(arena, &facts);
    double vector_bytes = facts.avx512 ? 64 : facts.avx || facts.avx2 ? 32 : 16;
    double lanes = vector_bytes / 4, cycles = facts.ghz * facts.threads;
    machine->gflops_f32 = lanes * 2 * (facts.fma ? 2 : 1) * cycles;
    machine->gflops_f64 = machine->gflops_f32 / 2;
    for (size_t i = 0; i < sizeof function_cycles / sizeof *function_cycles; i++)
        machine->function_ns[function_cycles[i].op] = function_cycles[i].cycles / (lanes * cycles);
    estimate_levels(&facts, vector_bytes, machine);
}

/* ---- which description ---- */

const char *
task_machine_path(struct arena *arena, bool *named)
{
    const char *name = getenv("HONE_MACHINE");
    *named = name != NULL && *name;
    if (*named)
        return name;
    const char *folder = file_cache_folder(arena);
    return folder ? file_join(arena, folder, "machine") : NULL;
}

/* The first processor's own words and how many there are: another processor, another number of
 * them or another set of instructions (a virtual machine moved) make a kept description stale. */
const char *
task_machine_key(struct arena *arena)
{
    static const char *const words[] = {"vendor_id", "cpu family", "model\t", "model name",
                                        "stepping"};
    static const char *const sets[] = {"avx", "avx2", "fma", "avx512f"};
    struct buf key = buf_in(arena);
    char *next = read_small(arena, "/proc/cpuinfo", 16384);
    buf_printf(&key, "%u", count_threads());
    for (char *line = strsep(&next, "\n"); line != NULL && *line; line = strsep(&next, "\n")) {
        char *value = strchr(line, ':');
        for (unsigned i = 0; value != NULL && i < sizeof words / sizeof *words; i++)
            if (text_starts(line, words[i]))
                buf_printf(&key, " %s", text_trim(value + 1));
        for (unsigned i = 0; value != NULL && i < sizeof sets / sizeof *sets; i++)
            if (text_starts(line, "flags") && has_flag(value, sets[i]))
                buf_printf(&key, " %s", sets[i]);
    }
    for (char *c = key.data; *c; c++) /* it has to survive being a line of the file */
        *c = *c == '#' || *c == '\t' ? '_' : *c;
    return text_trim(key.data);
}

void
task_machine(struct arena *arena, struct lang_machine *machine)
{
    bool named;
    const char *path = task_machine_path(arena, &named);
    const char *key = named ? NULL : task_machine_key(arena);
    if (path == NULL || !read_description(arena, path, key, machine))
        estimate(arena, machine);
}
