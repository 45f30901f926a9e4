/* Benchmarks in the archive: the plan, what came of a task, going on after the process died. */
#include "store_unit.h"

static struct store_bench
bench_row(void)
{
    return (struct store_bench){.title = "kernelbench/1:1-2",
                                .against = "torch,naive",
                                .recipes = "builtin",
                                .options = "{\"evals\":4}",
                                .machine = "{}",
                                .machine_key = "2 x",
                                .started = 1000};
}

static struct store_bench
begin(struct unit *unit, struct store *store, struct store_bench_task tasks[2])
{
    struct store_bench bench = bench_row();

    tasks[0] = (struct store_bench_task){
        .suite = "kernelbench/1", .number = 1, .name = "one", .path = "/1.op", .recipe = "builtin"};
    tasks[1] = tasks[0];
    tasks[1].number = 12;
    tasks[1].name = "two";
    tasks[1].marks = "wasteful smaller";
    store_unit_must(unit, store_bench_begin(store, &bench, tasks, 2, unit->diags));
    return bench;
}

static struct store_bench_task
ended(struct store_bench_task task)
{
    static const struct store_baseline baselines[] = {
        {.name = "torch",
         .build = "compile",
         .time_us = 20,
         .speedup = 2,
         .speedup_low = 1.9,
         .speedup_high = 2.1,
         .low_us = 19,
         .high_us = 21},
        {.name = "naive",
         .build = "gcc -O3",
         .time_us = 30,
         .speedup = 3,
         .low_us = NAN,
         .high_us = NAN,
         .speedup_low = NAN,
         .speedup_high = NAN},
    };

    task.status = "correct";
    task.run = "k7f3";
    task.time_us = 10;
    task.low_us = 9.5;
    task.high_us = 10.5;
    task.light = 0.8;
    task.light_us = 8;
    task.limited = "memory";
    task.evaluations = 7;
    task.seconds = 3.5;
    task.ended = 1010;
    task.baselines = baselines;
    task.baseline_count = 2;
    return task;
}

static void
a_plan_is_kept(void **state)
{
    struct unit *unit = *state;
    struct store *store = store_unit_open(unit);
    struct store_bench_task planned[2], *tasks;
    struct store_bench bench = begin(unit, store, planned), found;
    size_t count;

    assert_true(bench.id > 0 && strlen(bench.name) >= 4);
    store_unit_must(unit, store_bench_find(store, unit->arena, "last", &found, unit->diags));
    assert_string_equal(found.name, bench.name);
    assert_string_equal(found.title, "kernelbench/1:1-2");
    assert_string_equal(found.options, "{\"evals\":4}");
    assert_true(found.state == STORE_RUNNING && found.tasks == 2 && found.finished == 0);
    store_unit_must(unit,
                    store_bench_tasks(store, unit->arena, bench.id, &tasks, &count, unit->diags));
    assert_int_equal(count, 2);
    assert_string_equal(tasks[1].name, "two");
    assert_string_equal(tasks[1].marks, "wasteful smaller");
    assert_string_equal(tasks[1].status, "");
    assert_true(tasks[1].number == 12 && isnan(tasks[1].time_us) && tasks[1].baseline_count == 0);
    store_close(store);
}

static void
the_newest_stands_first(void **state)
{
    struct unit *unit = *state;
    struct store *store = store_unit_open(unit);
    struct store_bench_task planned[2];
    struct store_bench first = begin(unit, store, planned), second = begin(unit, store, planned);
    struct store_bench *benches;
    size_t count;

    store_unit_must(unit, store_benches(store, unit->arena, 0, &benches, &count, unit->diags));
    assert_int_equal(count, 2);
    assert_string_equal(benches[0].name, second.name);
    assert_string_equal(benches[1].name, first.name);
    assert_int_equal(benches[1].tasks, 2);
    store_unit_must(unit, store_benches(store, unit->arena, 1, &benches, &count, unit->diags));
    assert_int_equal(count, 1);
    store_close(store);
}

static void
a_task_ends_once(void **state)
{
    struct unit *unit = *state;
    struct store *store = store_unit_open(unit);
    struct store_bench_task planned[2], *tasks, row;
    struct store_bench bench = begin(unit, store, planned), found;
    size_t count;

    row = ended(planned[1]);
    store_unit_must(unit, store_bench_task_end(store, &row, unit->diags));
    store_unit_must(unit,
                    store_bench_tasks(store, unit->arena, bench.id, &tasks, &count, unit->diags));
    assert_string_equal(tasks[0].status, "");
    assert_string_equal(tasks[1].status, "correct");
    assert_string_equal(tasks[1].run, "k7f3");
    assert_string_equal(tasks[1].limited, "memory");
    assert_true(tasks[1].time_us == 10 && tasks[1].light == 0.8 && tasks[1].evaluations == 7);
    assert_int_equal(tasks[1].baseline_count, 2);
    assert_string_equal(tasks[1].baselines[0].build, "compile");
    assert_true(tasks[1].baselines[0].speedup_low == 1.9 && tasks[1].baselines[1].speedup == 3);
    assert_true(isnan(tasks[1].baselines[1].speedup_high));
    store_unit_must(unit, store_bench_find(store, unit->arena, bench.name, &found, unit->diags));
    assert_true(found.finished == 1 && found.seen == 1010);

    assert_int_equal(store_bench_task_end(store, &row, unit->diags), STATUS_INPUT);
    store_unit_says(unit, "has no task 1 that is still to be done");
    store_unit_must(unit,
                    store_bench_tasks(store, unit->arena, bench.id, &tasks, &count, unit->diags));
    assert_int_equal(tasks[1].baseline_count, 2);
    store_close(store);
}

static void
one_whose_process_died_goes_on(void **state)
{
    struct unit *unit = *state;
    struct store_bench found;
    struct store *store;
    int status;
    pid_t child = fork();

    if (child == 0) {
        struct store_bench_task planned[2], row;

        store = store_unit_open(unit);
        begin(unit, store, planned);
        row = ended(planned[0]);
        store_unit_must(unit, store_bench_task_end(store, &row, unit->diags));
        kill(getpid(), SIGKILL);
    }
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status));
    store = store_unit_open(unit);
    store_unit_must(unit, store_bench_find(store, unit->arena, "last", &found, unit->diags));
    assert_true(found.state == STORE_STOPPED && found.finished == 1 && found.ended == 1010);
    assert_string_equal(found.stopped_by, "killed");
    store_unit_must(unit, store_bench_resume(store, found.id, unit->diags));
    store_unit_must(unit, store_bench_find(store, unit->arena, "last", &found, unit->diags));
    assert_int_equal(found.state, STORE_RUNNING);
    store_unit_must(unit, store_bench_finish(store, found.id, STORE_DONE, "", 2000, unit->diags));
    store_unit_must(unit, store_bench_find(store, unit->arena, "last", &found, unit->diags));
    assert_true(found.state == STORE_DONE && found.ended == 2000);
    assert_int_equal(store_bench_resume(store, 99, unit->diags), STATUS_INPUT);
    store_unit_says(unit, "has no benchmark number 99");
    store_close(store);
}

static void
another_process_may_have_it(void **state)
{
    struct unit *unit = *state;
    struct store *store = store_unit_open(unit);
    struct store_bench_task planned[2];
    struct store_bench bench = begin(unit, store, planned);
    struct store *other = store_unit_open(unit);

    assert_int_equal(store_bench_resume(other, bench.id, unit->diags), STATUS_MACHINE);
    store_unit_says(unit, "is being written by another hone");
    store_close(other);
    store_close(store);
}

static void
names_are_found(void **state)
{
    struct unit *unit = *state;
    struct store *store = store_unit_open(unit);
    struct store_bench_task planned[2];
    struct store_bench found;

    assert_int_equal(store_bench_find(store, unit->arena, "last", &found, unit->diags),
                     STATUS_INPUT);
    store_unit_says(unit, "there are no benchmarks yet; hone bench SUITE");
    begin(unit, store, planned);
    assert_int_equal(store_bench_find(store, unit->arena, "nope", &found, unit->diags),
                     STATUS_INPUT);
    store_unit_says(unit, "nope: no benchmark has that name");
    store_close(store);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(a_plan_is_kept),
        SCRATCH_TEST(the_newest_stands_first),
        SCRATCH_TEST(a_task_ends_once),
        SCRATCH_TEST(one_whose_process_died_goes_on),
        SCRATCH_TEST(another_process_may_have_it),
        SCRATCH_TEST(names_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
