/* The description of the machine: read from a file, else estimated. */
#include "scratch.h"

#include "base/file.h"
#include "task/task.h"

#include <math.h>

static struct lang_machine
machine_of(void **state, const char *text)
{
    struct unit *unit = *state;
    struct lang_machine machine;
    assert_int_equal(file_write("machine.txt", text, strlen(text), unit->diags), STATUS_OK);
    setenv("HONE_MACHINE", "machine.txt", 1);
    task_machine(unit->arena, &machine);
    unsetenv("HONE_MACHINE");
    return machine;
}

static void
a_description_is_read(void **state)
{
    struct lang_machine m = machine_of(state, "# measured\n"
                                              "name = My  machine # really\n"
                                              "threads=4\n"
                                              "  gflops.f32 = 300.5\n"
                                              "gflops.f64 = 150\n"
                                              "L1 = 32768 500\n"
                                              "memory = inf 25\n"
                                              "ns.exp = 0.25\r\n"
                                              "ns.division = 0.5\n"
                                              "ns.nothing = 3\n"
                                              "later.key = yes\n"
                                              "not a line\n");
    assert_true(m.measured);
    assert_string_equal(m.name, "My  machine");
    assert_int_equal(m.threads, 4);
    assert_true(m.gflops_f32 == 300.5 && m.gflops_f64 == 150);
    assert_int_equal(m.level_count, 2);
    assert_string_equal(m.level[0].name, "L1");
    assert_true(m.level[0].bytes == 32768 && m.level[0].gbs == 500);
    assert_true(isinf(m.level[1].bytes) && m.level[1].gbs == 25);
    assert_true(m.function_ns[OP_EXP] == 0.25 && m.function_ns[OP_DIV] == 0.5);
    assert_true(m.function_ns[OP_LOG] == 0);
}

static void
the_last_level_holds_everything(void **state)
{
    struct lang_machine m = machine_of(state, "gflops.f32=1\ngflops.f64=1\nL1 = 100 5\n"
                                              "L2 = 1000 3\n");
    assert_true(m.measured && isinf(m.level[1].bytes));
}

static void
is_estimated(const struct lang_machine *m)
{
    assert_false(m->measured);
    assert_true(m->threads >= 1 && m->name[0] != 0);
    assert_true(m->gflops_f32 > 1 && m->gflops_f32 == 2 * m->gflops_f64);
    assert_true(m->level_count >= 3);
    assert_string_equal(m->level[m->level_count - 1].name, "memory");
    assert_true(isinf(m->level[m->level_count - 1].bytes));
    for (unsigned i = 1; i < m->level_count; i++)
        assert_true(m->level[i].gbs <= m->level[i - 1].gbs);
    for (unsigned op = 0; op < OP_COUNT; op++)
        assert_true((m->function_ns[op] > 0) == op_info[op].apart);
}

static void
what_is_not_whole_is_not_used(void **state)
{
    const char *const texts[] = {"", "gflops.f32 = 3\ngflops.f64 = 2\n", "L1 = 3 4\n",
                                 "gflops.f32 = x\ngflops.f64 = -1\nmemory = inf 3\n"};
    for (unsigned i = 0; i < 4; i++) {
        struct lang_machine m = machine_of(state, texts[i]);
        is_estimated(&m);
    }
}

static void
too_many_levels_do_no_harm(void **state)
{
    struct lang_machine m =
        machine_of(state, "gflops.f32=1\ngflops.f64=1\nL1=1 9\nL2=2 8\nL3=3 7\nL4=4 6\nL5=5 5\n"
                          "L6=6 4\nL7=7 3\nL8superlongname=8 2\n");
    assert_int_equal(m.level_count, 5);
    assert_true(isinf(m.level[4].bytes));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(a_description_is_read),
        SCRATCH_TEST(the_last_level_holds_everything),
        SCRATCH_TEST(what_is_not_whole_is_not_used),
        SCRATCH_TEST(too_many_levels_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
