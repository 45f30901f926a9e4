/* The description that is kept: written, read back here and by the speed of light, stale when the
 * machine is another one. */
#include "scratch.h"

#include "base/file.h"
#include "measure/measure.h"
#include "task/task.h"

#include <math.h>

static const struct measure_facts facts = {.cpu = "Some CPU", .family = "Zen 9", .threads = 2};

static struct measure_figures
some_figures(void)
{
    struct measure_figures figures = {
        .gflops_f32 = {102, 204},
        .gflops_f64 = {51, 102},
        .level_count = 2,
        .level = {{"L1", 65536, {100, 200}, 90}, {"memory", INFINITY, {16, 32}, 30}},
        .timer_ns = 30,
        .handshake_ns = 310,
        .noise = 0.011,
        .seconds = 4.1,
        .time = 1794784936,
    };
    figures.function_ns[OP_EXP] = 0.125;
    figures.function_ns[OP_DIV] = 0.0625;
    return figures;
}

/* The cache is in the scratch folder. */
static void
use_cache_here(struct unit *unit)
{
    char *here = getcwd(NULL, 0);
    setenv("XDG_CACHE_HOME", arena_strdup(unit->arena, here), 1);
    unsetenv("HONE_MACHINE");
    free(here);
}

static void
what_is_kept_is_read_back(void **state)
{
    struct unit *unit = *state;
    struct measure_figures written = some_figures();
    struct measure_kept kept;
    use_cache_here(unit);
    measure_kept_read(unit->arena, &kept);
    assert_false(kept.whole || kept.named);
    assert_int_equal(measure_keep(unit->arena, kept.path, &facts, &written, unit->diags),
                     STATUS_OK);
    measure_kept_read(unit->arena, &kept);
    assert_true(kept.whole);
    const struct measure_figures *read = &kept.figures;
    assert_memory_equal(read->gflops_f32, written.gflops_f32, sizeof written.gflops_f32);
    assert_memory_equal(read->gflops_f64, written.gflops_f64, sizeof written.gflops_f64);
    assert_int_equal(read->level_count, 2);
    assert_memory_equal(read->level, written.level, sizeof written.level);
    assert_memory_equal(read->function_ns, written.function_ns, sizeof written.function_ns);
    assert_true(read->timer_ns == 30 && read->handshake_ns == 310 && read->noise == 0.011);
    assert_true(read->seconds == 4.1 && read->time == 1794784936);
}

static void
the_speed_of_light_reads_it(void **state)
{
    struct unit *unit = *state;
    struct measure_figures written = some_figures();
    struct measure_kept kept;
    struct lang_machine machine;
    use_cache_here(unit);
    measure_kept_read(unit->arena, &kept);
    measure_keep(unit->arena, kept.path, &facts, &written, unit->diags);
    task_machine(unit->arena, &machine);
    assert_true(machine.measured);
    assert_string_equal(machine.name, "Some CPU (Zen 9)");
    assert_int_equal(machine.threads, 2);
    assert_true(machine.gflops_f32 == 204 && machine.gflops_f64 == 102);
    assert_int_equal(machine.level_count, 2);
    assert_true(machine.level[0].gbs == 200 && machine.level[1].gbs == 32);
    assert_true(machine.function_ns[OP_EXP] == 0.125 && machine.function_ns[OP_DIV] == 0.0625);
}

/* The same text with another line in the place of the one that begins with `key`. */
static void
replace_line(struct unit *unit, const char *path, const char *key, const char *line)
{
    struct source source;
    assert_int_equal(file_read(unit->arena, path, 65536, &source, unit->diags), STATUS_OK);
    const char *at = strstr(source.text, key);
    assert_non_null(at);
    const char *text = arena_printf(unit->arena, "%.*s%s%s", (int)(at - source.text), source.text,
                                    line, at + strcspn(at, "\n"));
    assert_int_equal(file_write(path, text, strlen(text), unit->diags), STATUS_OK);
}

static void
another_machine_makes_it_stale(void **state)
{
    const char *const lines[][2] = {{"key = ", "key = 64 GenuineIntel 6 207"},
                                    {"form = ", "form = 9"}};
    struct unit *unit = *state;
    struct measure_figures written = some_figures();
    struct measure_kept kept;
    use_cache_here(unit);
    for (unsigned i = 0; i < 2; i++) {
        measure_kept_read(unit->arena, &kept);
        measure_keep(unit->arena, kept.path, &facts, &written, unit->diags);
        replace_line(unit, kept.path, lines[i][0], lines[i][1]);
        measure_kept_read(unit->arena, &kept);
        assert_false(kept.whole);
    }
    replace_line(unit, kept.path, "form = ", "form = 1");
    replace_line(unit, kept.path, "key = ", "key = another");
    struct lang_machine machine;
    task_machine(unit->arena, &machine);
    assert_false(machine.measured);
    /* Named, it is taken as it is. */
    setenv("HONE_MACHINE", kept.path, 1);
    measure_kept_read(unit->arena, &kept);
    assert_true(kept.named && kept.whole);
    task_machine(unit->arena, &machine);
    assert_true(machine.measured);
    unsetenv("HONE_MACHINE");
}

static void
a_key_says_which_machine(void **state)
{
    struct unit *unit = *state;
    cpu_set_t all, one;
    const char *key = task_machine_key(unit->arena);
    assert_string_equal(task_machine_key(unit->arena), key);
    assert_null(strpbrk(key, "#\n\t"));
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    if (CPU_COUNT(&all) < 2)
        return;
    CPU_ZERO(&one);
    for (int cpu = 0; CPU_COUNT(&one) == 0; cpu++)
        if (CPU_ISSET((size_t)cpu, &all))
            CPU_SET((size_t)cpu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_string_not_equal(task_machine_key(unit->arena), key);
    sched_setaffinity(0, sizeof all, &all);
}

static void
broken_files_are_not_whole(void **state)
{
    const char *const texts[] = {"",
                                 "gflops.f32 = 1\ngflops.f64 = 1\n",
                                 "gflops.f32 = 1\nmemory = inf 3\n",
                                 "gflops.f32 = -1\ngflops.f64 = nan\nmemory = inf 3\n",
                                 "gflops.f32 = 1\ngflops.f64 = 1\nL1 = x\nmemory = inf\nL2\n",
                                 "one.L7 = 3\nstore. = 4\none. = 1\n = \n=\nL1longername = 5 5\n"};
    struct unit *unit = *state;
    struct measure_kept kept;
    setenv("HONE_MACHINE", "description", 1);
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(file_write("description", texts[i], strlen(texts[i]), unit->diags),
                         STATUS_OK);
        measure_kept_read(unit->arena, &kept);
        assert_true(kept.named && !kept.whole);
    }
    const char *many = "gflops.f32=1\ngflops.f64=1\nL1=1 9\nL2=2 8\nL3=3 7\nL4=4 6\nL5=5 5\n"
                       "L6=6 4\nL7=7 3\n";
    assert_int_equal(file_write("description", many, strlen(many), unit->diags), STATUS_OK);
    measure_kept_read(unit->arena, &kept);
    assert_true(kept.whole);
    assert_int_equal(kept.figures.level_count, MEASURE_LEVELS + 1);
    unsetenv("HONE_MACHINE");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(what_is_kept_is_read_back),      SCRATCH_TEST(the_speed_of_light_reads_it),
        SCRATCH_TEST(another_machine_makes_it_stale), SCRATCH_TEST(a_key_says_which_machine),
        SCRATCH_TEST(broken_files_are_not_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
