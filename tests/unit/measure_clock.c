/* Clock, pinning, samples and the team: what they do, never how fast. */
#include "unit.h"

#include "measure/measure_int.h"

#include <stdatomic.h>

static void
time_goes_on(void **state)
{
    const struct measure_clock clocks[] = {measure_clock_open(), {.tsc = false, .ns_per_tick = 1}};
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        const struct timespec pause = {.tv_nsec = 5000000};
        uint64_t from = measure_ticks(&clocks[i]);
        nanosleep(&pause, NULL);
        double ns = measure_ns(&clocks[i], from, measure_ticks(&clocks[i]));
        assert_true(ns > 4.9e6); /* no upper limit: who knows who else is here */
        assert_true(clocks[i].ns_per_tick > 0);
        assert_true(measure_clock_overhead(&clocks[i]) >= 0);
    }
}

static void
a_thread_is_pinned_and_released(void **state)
{
    struct unit *unit = *state;
    int *cpus, *now;
    size_t count = measure_cpus(unit->arena, &cpus);
    assert_true(count >= 1);
    struct measure_pin pin = measure_pin(cpus[count - 1]);
    if (!pin.pinned)
        skip();
    assert_int_equal(measure_cpus(unit->arena, &now), 1);
    assert_int_equal(now[0], cpus[count - 1]);
    measure_unpin(&pin);
    assert_int_equal(measure_cpus(unit->arena, &now), count);
    pin = measure_pin(CPU_SETSIZE - 1);
    assert_int_equal(pin.pinned, cpus[count - 1] == CPU_SETSIZE - 1);
    measure_unpin(&pin);
}

struct counted {
    size_t calls;
    unsigned runs;
};

static void
count_calls(void *context, size_t calls)
{
    struct counted *counted = context;
    counted->calls += calls;
    counted->runs++;
    for (volatile size_t i = 0; i < 100 * calls; i++)
        ;
}

static void
samples_are_filled(void **state)
{
    struct measure_clock clock = {.tsc = false, .ns_per_tick = 1};
    struct counted counted = {0};
    struct measure_work work = {count_calls, &counted};
    (void)state;
    size_t calls = measure_calls_for(&clock, &work, 100e3);
    assert_true(calls >= 1 && counted.runs >= 1);
    counted = (struct counted){0};
    assert_true(measure_sample(&clock, &work, 7) > 0);
    assert_true(counted.calls == 7 && counted.runs == 1);
}

/* Whatever the machine does meanwhile, a comparison ends with a verdict. */
static void
a_comparison_ends(void **state)
{
    struct unit *unit = *state;
    struct measure_clock clock = measure_clock_open();
    struct counted counted = {0};
    struct measure_work work = {count_calls, &counted};
    struct measure_rule rule = measure_usual_rule;
    rule.last = 32;
    struct measure_outcome outcome =
        measure_compare(unit->arena, &clock, &work, &work, 20e3, &rule);
    assert_int_not_equal(outcome.verdict, MEASURE_OPEN);
    assert_true(outcome.rounds <= 32);
}

static void
note_number(void *context, size_t number)
{
    atomic_fetch_add((atomic_uint *)context, 1u << (8 * number));
}

/* More threads than processors is allowed: slow, not stuck. */
static void
a_team_works_together(void **state)
{
    struct unit *unit = *state;
    struct measure_clock clock = {.tsc = false, .ns_per_tick = 1};
    int *cpus;
    measure_cpus(unit->arena, &cpus);
    const int places[3] = {cpus[0], cpus[0], cpus[0]};
    struct team *team = measure__team_create(places, 3);
    atomic_uint seen = 0;
    assert_non_null(team);
    assert_int_equal(measure__team_size(team), 3);
    for (unsigned i = 0; i < 100; i++)
        assert_true(measure__team_run(team, i % 3 + 1, &clock, note_number, &seen) >= 0);
    assert_int_equal(seen, 33 << 16 | 66 << 8 | 100);
    measure__team_destroy(team);
    measure__team_destroy(NULL);
}

static void
facts_are_there(void **state)
{
    struct unit *unit = *state;
    struct measure_facts facts;
    measure_facts_read(unit->arena, &facts);
    assert_true(facts.cpu[0] && facts.threads >= 1);
    assert_true(facts.cores >= 1 && facts.cores <= facts.threads);
    assert_true(facts.cache_count >= 1 && facts.cache[0].level == 1);
    for (unsigned i = 0; i < facts.cache_count; i++) {
        assert_true(facts.cache[i].bytes >= 1024);
        assert_true(facts.cache[i].all_bytes >= facts.cache[i].bytes);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(time_goes_on),          UNIT_TEST(a_thread_is_pinned_and_released),
        UNIT_TEST(samples_are_filled),    UNIT_TEST(a_comparison_ends),
        UNIT_TEST(a_team_works_together), UNIT_TEST(facts_are_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
