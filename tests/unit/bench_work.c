/* Races against a rival that answers from a table, and tasks that end in every way. */
#include "unit.h"

#include "base/clock.h"
#include "bench/bench.h"

#include <math.h>
#include <sched.h>

/* ---- a race ---- */

struct fake {
    const double *us; /* by build; 0: it cannot be built, < 0: it fails when it is timed */
    unsigned windows;
    double drift; /* the machine gets so much slower from window to window */
    char order[200];
    char name;
    double least; /* seconds from the end of the window before to the beginning of one of these */
};

static double window_ended; /* by the clock; 0: none yet */

static bool
prepare(void *context, size_t build, struct diags *diags)
{
    struct fake *fake = context;

    if (fake->us[build] == 0)
        diags_add(diags, DIAG_ERROR, (struct place){0}, "build %zu does not work", build);
    return fake->us[build] != 0;
}

static double machine = 1; /* how slow it is now */

static size_t
window(void *context, size_t build, double seconds, double *us, size_t most, struct diags *diags)
{
    struct fake *fake = context;

    assert_true(seconds > 0 && most >= 3);
    if (window_ended > 0)
        assert_true(clock_seconds() - window_ended >= fake->least);
    if (fake->us[build] < 0) {
        diags_add(diags, DIAG_ERROR, (struct place){0}, "build %zu fails", build);
        return 0;
    }
    snprintf(fake->order + strlen(fake->order), 8, "%c%zu ", fake->name, build);
    fake->windows++;
    machine *= 1 + fake->drift;
    for (size_t i = 0; i < 3; i++)
        us[i] = fake->us[build] * machine * (1 + 0.001 * (double)i);
    window_ended = clock_seconds();
    return 3;
}

static struct bench_racer
racer(struct fake *fake, size_t count)
{
    static const char *const builds[] = {"eager", "compile", "aot", "cold"};

    return (struct bench_racer){
        .context = fake, .builds = builds, .count = count, .prepare = prepare, .window = window};
}

static const struct store_baseline *
find(const struct store_baseline *rows, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(rows[i].name, name))
            return &rows[i];
    return NULL;
}

static void
is_absent(const struct store_baseline *row, const char *why)
{
    assert_non_null(row);
    assert_false(bench_took_part(row));
    assert_true(isnan(row->speedup) && isnan(row->speedup_low));
    assert_string_equal(row->build, why);
}

static void
the_best_build_counts(void **state)
{
    const struct bench_race race = {.rounds = 7, .seconds = 0.01};
    const double own[] = {10}, their[] = {30, 20, 0, 5};
    struct unit *unit = *state;
    struct fake us = {.us = own, .name = 'o'}, them = {.us = their, .name = 't'};
    struct bench_racer ours = racer(&us, 1);
    struct bench_rival theirs = {"torch", racer(&them, 4), 3, unit->diags};
    struct store_baseline *rows;
    size_t count;

    machine = 1;
    assert_int_equal(
        bench_run_race(unit->arena, &race, &ours, &theirs, 1, &rows, &count, unit->diags),
        STATUS_OK);
    assert_int_equal(count, 6);
    assert_string_equal(rows[5].name, BENCH_OURS);
    assert_true(fabs(rows[5].time_us - 10.01) < 1e-9 && rows[5].speedup == 1);
    assert_string_equal(rows[0].name, "torch");
    assert_string_equal(rows[0].build, "compile"); /* `cold` is faster, but not claimed */
    assert_true(fabs(rows[0].speedup - 2) < 1e-9 && fabs(rows[0].time_us - 20.02) < 1e-9);
    assert_non_null(find(rows, count, "torch.eager"));
    is_absent(find(rows, count, "torch.aot"), "build 2 does not work");
    assert_true(fabs(find(rows, count, "torch.cold")->speedup - 0.5) < 1e-9);
    assert_int_equal(us.windows, 7);
    assert_int_equal(them.windows, 7 + 7 + 3); /* one was too far behind to go on */
}

/* Nine rounds of calls of seconds would take minutes. */
static void
a_long_race_has_six_rounds(void **state)
{
    const struct bench_race race = {.rounds = 9, .seconds = 0.01, .most_seconds = 1e-9};
    const double own[] = {10}, their[] = {20};
    struct unit *unit = *state;
    struct fake us = {.us = own, .name = 'o'}, them = {.us = their, .name = 't'};
    struct bench_racer ours = racer(&us, 1);
    struct bench_rival theirs = {"torch", racer(&them, 1), 1, unit->diags};
    struct store_baseline *rows;
    size_t count;

    machine = 1;
    bench_run_race(unit->arena, &race, &ours, &theirs, 1, &rows, &count, unit->diags);
    assert_int_equal(us.windows, 6);
    assert_int_equal(them.windows, 6);
    assert_true(fabs(rows[0].speedup - 2) < 1e-9);
}

/* Times grow by half and more during the race; the ratio does not. */
static void
a_drift_is_shared(void **state)
{
    const struct bench_race race = {.rounds = 9, .seconds = 0.01};
    const double own[] = {10}, their[] = {24, 20};
    struct unit *unit = *state;
    struct fake us = {.us = own, .name = 'o', .drift = 0.02},
                them = {.us = their, .name = 't', .drift = 0.02};
    struct bench_racer ours = racer(&us, 1);
    struct bench_rival theirs = {"torch", racer(&them, 2), 2, unit->diags};
    struct store_baseline *rows;
    size_t count;

    machine = 1;
    bench_run_race(unit->arena, &race, &ours, &theirs, 1, &rows, &count, unit->diags);
    assert_true(machine > 1.5);
    assert_true(rows[0].speedup_low > 1.9 && rows[0].speedup_high < 2.1);
    assert_true(rows[0].high_us > 1.3 * rows[0].low_us);
    assert_memory_equal(them.order, "t0 t1 t0 t1 ", 6); /* our kernel begins, then they do */
}

static void
a_build_that_fails_is_out(void **state)
{
    const struct bench_race race = {.rounds = 3, .seconds = 0.01};
    const double own[] = {10}, some[] = {-1, 20}, none[] = {-1, 0}, broken[] = {-1};
    struct unit *unit = *state;
    struct fake us = {.us = own, .name = 'o'}, them = {.us = some, .name = 't'};
    struct bench_racer ours = racer(&us, 1);
    struct bench_rival theirs = {"torch", racer(&them, 2), 2, unit->diags};
    struct store_baseline *rows;
    size_t count;

    machine = 1;
    bench_run_race(unit->arena, &race, &ours, &theirs, 1, &rows, &count, unit->diags);
    assert_int_equal(count, 4);
    assert_string_equal(rows[0].build, "compile");
    is_absent(&rows[1], "build 0 fails");
    assert_string_equal(unit_message(unit, 0), "build 0 fails");
    them.us = none;
    us.windows = 0;
    assert_int_equal(
        bench_run_race(unit->arena, &race, &ours, &theirs, 1, &rows, &count, unit->diags),
        STATUS_OK);
    assert_int_equal(count, 2); /* neither a best one nor ours: there was no race */
    is_absent(&rows[0], "build 0 fails");
    is_absent(&rows[1], "build 1 does not work");
    assert_int_equal(us.windows, 1);
    us.us = broken;
    them.us = some;
    assert_int_equal(
        bench_run_race(unit->arena, &race, &ours, &theirs, 1, &rows, &count, unit->diags),
        STATUS_MACHINE);
}

/* Threads of the one before may spin for a while: nobody's window begins meanwhile. */
static void
windows_are_apart(void **state)
{
    const struct bench_race race = {.rounds = 3, .seconds = 0.01, .pause = 0.004};
    const double own[] = {10}, their[] = {30, 20};
    struct unit *unit = *state;
    struct fake us = {.us = own, .name = 'o', .least = race.pause},
                them = {.us = their, .name = 't', .least = race.pause};
    struct bench_racer ours = racer(&us, 1);
    struct bench_rival theirs = {"torch", racer(&them, 2), 2, unit->diags};
    struct store_baseline *rows;
    size_t count;

    window_ended = 0;
    bench_run_race(unit->arena, &race, &ours, &theirs, 1, &rows, &count, unit->diags);
    assert_int_equal(us.windows + them.windows, 9);
}

/* All in one race, each with its own best; who cannot be built has no row. */
static void
several_rivals(void **state)
{
    const struct bench_race race = {.rounds = 3, .seconds = 0.01};
    const double own[] = {10}, first[] = {30, 20}, second[] = {5, 4}, third[] = {0, 8};
    struct unit *unit = *state;
    struct fake us = {.us = own, .name = 'o'}, a = {.us = first, .name = 'a'};
    struct fake b = {.us = second, .name = 'b'}, c = {.us = third, .name = 'c'};
    struct bench_racer ours = racer(&us, 1);
    const struct bench_rival rivals[] = {{"torch", racer(&a, 2), 2, unit->diags},
                                         {"openblas", racer(&c, 2), 1, unit->diags},
                                         {"onednn", racer(&b, 2), 1, unit->diags}};
    struct store_baseline *rows;
    size_t count;

    machine = 1;
    assert_int_equal(
        bench_run_race(unit->arena, &race, &ours, rivals, 3, &rows, &count, unit->diags),
        STATUS_OK);
    assert_int_equal(count, 9);
    assert_true(fabs(find(rows, count, "torch")->speedup - 2) < 1e-9);
    assert_true(fabs(find(rows, count, "onednn")->speedup - 0.5) < 1e-9);
    assert_non_null(find(rows, count, "onednn.compile")); /* faster, and not claimed */
    assert_null(find(rows, count, "openblas"));
    is_absent(find(rows, count, "openblas.eager"), "build 0 does not work");
    assert_true(bench_took_part(find(rows, count, "openblas.compile")));
    assert_string_equal(rows[8].name, BENCH_OURS);
}

/* ---- the work ---- */

struct shop {
    const char *const *scripts;
    char ended[400];
    char news[400];
    volatile sig_atomic_t stop;
    size_t stop_after, count;
    enum status answer;
};

static const char *const *
command(void *context, struct arena *arena, size_t task)
{
    struct shop *shop = context;
    const char **argv = arena_array(arena, 4, sizeof *argv);

    argv[0] = "/bin/sh";
    argv[1] = "-c";
    argv[2] = shop->scripts[task];
    return argv;
}

static void
on_news(void *context, size_t task, const char *text)
{
    struct shop *shop = context;

    snprintf(shop->news + strlen(shop->news), 100, "%zu:%s", task, text);
}

static enum status
on_end(void *context, size_t task, const struct proc_result *result)
{
    struct shop *shop = context;

    snprintf(shop->ended + strlen(shop->ended), 100, "%zu:%d/%d%s ", task, result->exit_code,
             result->signal, result->timed_out ? "!" : "");
    if (++shop->count == shop->stop_after)
        shop->stop = 1;
    return shop->answer;
}

static enum status
work(struct unit *unit, struct shop *shop, size_t tasks, unsigned jobs, double patience)
{
    struct bench_team team = {.context = shop,
                              .jobs = jobs,
                              .patience = patience,
                              .stop = &shop->stop,
                              .command = command,
                              .news = on_news,
                              .ended = on_end};

    return bench_work(&team, tasks, unit->diags);
}

static void
tasks_end_in_every_way(void **state)
{
    static const char *const scripts[] = {"echo at 1; echo at 2; printf half", "exit 3",
                                          "kill -9 $$", "sleep 60", "exit 0"};
    struct unit *unit = *state;
    struct shop shop = {.scripts = scripts};

    assert_int_equal(work(unit, &shop, 5, 1, 1), STATUS_OK);
    assert_string_equal(shop.ended, "0:0/0 1:3/0 2:-1/9 3:-1/9! 4:0/0 ");
    assert_non_null(strstr(shop.news, "at 2\n"));
    assert_null(strstr(shop.news, "half"));
}

static void
several_at_once(void **state)
{
    static const char *const scripts[] = {"exit 1", "exit 2", "exit 3", "exit 4", "exit 5"};
    struct unit *unit = *state;
    struct shop shop = {.scripts = scripts};
    cpu_set_t before, after;

    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    assert_int_equal(work(unit, &shop, 5, 2, 0), STATUS_OK);
    assert_int_equal(shop.count, 5);
    assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
    assert_memory_equal(&before, &after, sizeof before); /* given back */
}

static void
no_other_is_begun_after_a_stop(void **state)
{
    static const char *const scripts[] = {"exit 0", "exit 0", "exit 0"};
    struct unit *unit = *state;
    struct shop shop = {.scripts = scripts, .stop_after = 2};

    assert_int_equal(work(unit, &shop, 3, 1, 0), STATUS_OK);
    assert_string_equal(shop.ended, "0:0/0 1:0/0 ");
    shop = (struct shop){.scripts = scripts, .answer = STATUS_MACHINE};
    assert_int_equal(work(unit, &shop, 3, 1, 0), STATUS_MACHINE);
    assert_int_equal(shop.count, 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(the_best_build_counts),
        UNIT_TEST(a_long_race_has_six_rounds),
        UNIT_TEST(a_drift_is_shared),
        UNIT_TEST(a_build_that_fails_is_out),
        UNIT_TEST(several_rivals),
        UNIT_TEST(windows_are_apart),
        UNIT_TEST(tasks_end_in_every_way),
        UNIT_TEST(several_at_once),
        UNIT_TEST(no_other_is_begun_after_a_stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
