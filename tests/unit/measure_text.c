/* What /proc says, read from given texts; the judgement and the advice that follow. */
#include "unit.h"

#include "measure/measure.h"

#include <math.h>

static void
schedstat_is_read(void **state)
{
    struct measure_schedstat stat;
    (void)state;
    assert_true(measure_parse_schedstat("324116 190826 2\n", &stat));
    assert_true(stat.run_ns == 324116 && stat.wait_ns == 190826);
    assert_true(measure_parse_schedstat("18446744073709551615 7 0", &stat));
    assert_true(stat.run_ns == UINT64_MAX);
    assert_false(measure_parse_schedstat("", &stat));
    assert_false(measure_parse_schedstat("12\n", &stat));
    assert_false(measure_parse_schedstat("words here\n", &stat));
}

static void
waiting_disturbs(void **state)
{
    struct measure_schedstat before = {.wait_ns = 1000}, after = {.wait_ns = 5999};
    (void)state;
    assert_false(measure_disturbed(&before, &after, 500e3));
    after.wait_ns = 6001;
    assert_true(measure_disturbed(&before, &after, 500e3));
    assert_true(measure_read_schedstat(0, &before) || before.wait_ns == 1000);
}

static void
stat_is_read(void **state)
{
    struct measure_ticks_of ticks;
    (void)state;
    assert_true(
        measure_parse_stat("cpu  322362 1 48080 587228 3283 2 413 2380 5 6\ncpu0 1 2\n", &ticks));
    assert_int_equal(ticks.steal, 2380);
    assert_int_equal(ticks.idle, 587228 + 3283);
    assert_int_equal(ticks.all, 322362 + 1 + 48080 + 587228 + 3283 + 2 + 413 + 2380);
    assert_true(measure_parse_stat("cpu 1 2 3 4\n", &ticks)); /* as old kernels write it */
    assert_true(ticks.all == 10 && ticks.steal == 0 && ticks.idle == 4);
    assert_false(measure_parse_stat("intr 1 2 3\n", &ticks));
    assert_false(measure_parse_stat("", &ticks));
}

static void
processes_are_read(void **state)
{
    const char *line = "4121 (a (b) c) R 1 4121 4121 0 -1 4194304 82 0 0 0 37 5 0 0 20 0 1 0 99 "
                       "1000 90 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 3 0 0 0 0 0\n";
    struct measure_busy process;
    (void)state;
    assert_true(measure_parse_process(line, &process));
    assert_int_equal(process.pid, 4121);
    assert_string_equal(process.name, "a (b) c");
    assert_int_equal(process.ticks, 42);
    assert_int_equal(process.cpu, 3);
    assert_true(measure_parse_process("7 (a very long name indeed) S 1 1 1 0 -1 4 8 0 0 0 3 4 0",
                                      &process));
    assert_string_equal(process.name, "a very long nam");
    assert_true(process.ticks == 7 && process.cpu == -1);
    assert_false(measure_parse_process("7 (cut) S 1 1 1 0 -1 4 8 0 0 0 3", &process));
    assert_false(measure_parse_process("7 cut", &process));
    assert_false(measure_parse_process(")7 (cut", &process));
    assert_false(measure_parse_process("", &process));
}

static void
cpuinfo_is_read(void **state)
{
    struct unit *unit = *state;
    struct measure_cpuinfo info;
    measure_parse_cpuinfo(unit->arena,
                          "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\n"
                          "model\t\t: 1\nmodel name\t: AMD EPYC\nstepping\t: 2\nflags\t\t: fpu\n"
                          "\nprocessor\t: 1\nmodel name\t: another\n",
                          &info);
    assert_string_equal(info.vendor, "AuthenticAMD");
    assert_string_equal(info.name, "AMD EPYC");
    assert_true(info.family == 25 && info.model == 1 && info.stepping == 2);
    assert_string_equal(measure_family_name(&info), "Zen 3");
    measure_parse_cpuinfo(unit->arena, "", &info);
    assert_string_equal(info.name, "this machine");
    assert_null(measure_family_name(&info));
    measure_parse_cpuinfo(unit->arena, "model name\t:\nno colon\nvendor_id:X\n", &info);
    assert_string_equal(info.name, "this machine");
    assert_string_equal(info.vendor, "X");
}

static void
families_have_names(void **state)
{
    const struct {
        struct measure_cpuinfo info;
        const char *name;
    } known[] = {
        {{"AuthenticAMD", "", 23, 0x31, 0}, "Zen 2"},
        {{"AuthenticAMD", "", 25, 0x11, 0}, "Zen 4"},
        {{"AuthenticAMD", "", 25, 0x61, 0}, "Zen 4"},
        {{"AuthenticAMD", "", 26, 0x02, 0}, "Zen 5"},
        {{"GenuineIntel", "", 6, 0x55, 0}, "Skylake server"},
        {{"GenuineIntel", "", 6, 207, 0}, "Emerald Rapids"},
        {{"GenuineIntel", "", 6, 143, 0}, "Sapphire Rapids"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_string_equal(measure_family_name(&known[i].info), known[i].name);
    assert_null(measure_family_name(&(struct measure_cpuinfo){"GenuineIntel", "", 6, 1, 0}));
    assert_null(measure_family_name(&(struct measure_cpuinfo){"Other", "", 25, 1, 0}));
}

static void
a_quiet_machine_is_fit(void **state)
{
    struct unit *unit = *state;
    struct measure_state quiet = {.noise = 0.011, .same.verdict = MEASURE_EQUAL, .pinned = true};
    measure_judge_state(unit->arena, &quiet);
    assert_true(quiet.fit && quiet.reason_count == 0);
}

static void
reasons_are_given(void **state)
{
    struct unit *unit = *state;
    struct measure_state loud = {
        .noise = 0.09, .steal = 0.2, .waited = 0.31, .same.verdict = MEASURE_SLOWER};
    measure_judge_state(unit->arena, &loud);
    assert_false(loud.fit);
    assert_int_equal(loud.reason_count, 4);
    assert_string_equal(loud.reason[0], "noise 9.0 % (5 % at most)");
    assert_string_equal(loud.reason[1], "it had to wait for its core 31 % of the time");
    assert_string_equal(loud.reason[2], "the host took 20 % of the time");
    struct measure_state unknown = {.noise = NAN};
    measure_judge_state(unit->arena, &unknown);
    assert_false(unknown.fit);
}

static void
advice_is_given(void **state)
{
    struct unit *unit = *state;
    const char *advice[MEASURE_MOST_ADVICE];
    struct measure_facts facts = {
        .hypervisor = "KVM", .governor = "powersave", .clock_source = "tsc"};
    struct measure_figures figures = {.noise = 0.09};
    struct measure_state s = {.steal = 0.03,
                              .pinned = true,
                              .fit = true,
                              .busy_count = 2,
                              .busy = {{.name = "python3", .cpu = 1, .share = 0.98},
                                       {.name = "make", .cpu = 0, .share = 1.5}}};
    assert_int_equal(measure_advice(unit->arena, &facts, &figures, &s, advice), 4);
    assert_string_equal(advice[0],
                        "stop 2 busy processes (python3, 98 % of core 1; make, 150 % of a core)");
    assert_string_equal(advice[1], "pin the virtual machine's cores");
    assert_string_equal(advice[2],
                        "set the governor of the clock rate to performance (it is powersave)");
    assert_non_null(strstr(advice[3], "hone machine --measure"));
    s = (struct measure_state){.pinned = true, .others = 0.4};
    facts = (struct measure_facts){.governor = "performance", .clock_source = "tsc"};
    assert_int_equal(measure_advice(unit->arena, &facts, &figures, &s, advice), 1);
    assert_non_null(strstr(advice[0], "40 % of the machine"));
    s = (struct measure_state){.pinned = true};
    assert_int_equal(measure_advice(unit->arena, &facts, &figures, &s, advice), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(schedstat_is_read),      UNIT_TEST(waiting_disturbs),
        UNIT_TEST(stat_is_read),           UNIT_TEST(processes_are_read),
        UNIT_TEST(cpuinfo_is_read),        UNIT_TEST(families_have_names),
        UNIT_TEST(a_quiet_machine_is_fit), UNIT_TEST(reasons_are_given),
        UNIT_TEST(advice_is_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
