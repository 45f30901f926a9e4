/* What is put into the archive comes out again, and is found by name, speed and hash. */
#include "store_unit.h"

#include "base/file.h"

static void
a_run_comes_back(void **state)
{
    struct unit *unit = *state;
    struct store *store = store_unit_open(unit);
    struct store_run run = store_unit_begin(unit, store), *runs;
    size_t count;

    assert_int_equal(strlen(run.name), 4);
    store_unit_must(unit,
                    store_run_finish(store, run.id, STORE_DONE, "evals", -1, 1021.5, unit->diags));
    store_close(store);
    store = store_unit_open(unit);
    store_unit_must(unit, store_runs(store, unit->arena, 0, &runs, &count, unit->diags));
    assert_int_equal(count, 1);
    assert_string_equal(runs->name, run.name);
    assert_int_equal(runs->id, run.id);
    assert_string_equal(runs->task.hash, "4f1c");
    assert_string_equal(runs->task.family, "f");
    assert_string_equal(runs->task.name, "softmax");
    assert_string_equal(runs->task.canonical, "c");
    assert_string_equal(runs->task.source, "s");
    assert_string_equal(runs->target, "cpu");
    assert_string_equal(runs->recipe, "builtin");
    assert_string_equal(runs->model, "");
    assert_string_equal(runs->cases, "default R=4 N=8");
    assert_string_equal(runs->budget, "{\"evals\":40}");
    assert_string_equal(runs->machine, "{\"cpu\":\"x\"}");
    assert_string_equal(runs->machine_key, "2 x");
    assert_true(runs->seed == 0xfedcba9876543210);
    assert_int_equal(runs->state, STORE_DONE);
    assert_string_equal(runs->stopped_by, "evals");
    assert_true(runs->started == 1000.25 && runs->ended == 1021.5);
    assert_int_equal(runs->pid, getpid());
    assert_int_equal(runs->best, -1);
    assert_int_equal(runs->candidates, 0);
    store_close(store);
}

static void
a_candidate_comes_back(void **state)
{
    struct unit *unit = *state;
    struct store *store = store_unit_open(unit);
    struct store_run run = store_unit_begin(unit, store), other = store_unit_begin(unit, store);
    struct store_candidate first = store_unit_candidate(unit, store, other.id, "Y: r");
    struct store_candidate second = store_unit_candidate(unit, store, run.id, "Y: j");
    struct store_parent parents[] = {{.candidate = second.id}, {.candidate = first.id}};
    static const char kernel[] = "void kernel(void)\0 \xff\xfe ganz \xc3\xbc";
    struct store_candidate added = {.run = run.id,
                                    .kind = STORE_SOURCE,
                                    .proposer = "coder",
                                    .phase = "think",
                                    .role = "coder",
                                    .why = "it's \"two\" blocks",
                                    .kernel = kernel,
                                    .kernel_length = sizeof kernel,
                                    .added = 7.5,
                                    .parents = parents,
                                    .parent_count = 2};
    struct store_candidate *list, found;
    char hash[HASH_TEXT];
    size_t count;

    store_unit_must(unit, store_candidate_add(store, &added, unit->diags));
    assert_int_equal(second.number, 0);
    assert_int_equal(added.number, 1);
    hash_sha256(kernel, sizeof kernel, hash);
    store_unit_must(unit, store_candidates(store, unit->arena, run.id, STORE_WHOLE, &list, &count,
                                           unit->diags));
    assert_int_equal(count, 2);
    assert_string_equal(list[0].schedule, "Y: j");
    assert_int_equal(list[0].kind, STORE_SCHEDULE);
    assert_int_equal(list[0].parent_count, 0);
    assert_int_equal(list[1].kind, STORE_SOURCE);
    assert_string_equal(list[1].proposer, "coder");
    assert_string_equal(list[1].phase, "think");
    assert_string_equal(list[1].role, "coder");
    assert_string_equal(list[1].why, "it's \"two\" blocks");
    assert_string_equal(list[1].schedule, "");
    assert_int_equal(list[1].kernel_length, sizeof kernel);
    assert_memory_equal(list[1].kernel, kernel, sizeof kernel);
    assert_string_equal(list[1].kernel_hash, hash);
    assert_string_equal(added.kernel_hash, hash);
    assert_true(list[1].added == 7.5);
    assert_int_equal(list[1].parent_count, 2);
    assert_string_equal(list[1].parents[0].run, run.name);
    assert_int_equal(list[1].parents[0].number, 0);
    assert_string_equal(list[1].parents[1].run, other.name);
    assert_int_equal(list[1].parents[1].candidate, first.id);
    store_unit_must(unit, store_candidates(store, unit->arena, run.id, STORE_BRIEF, &list, &count,
                                           unit->diags));
    assert_null(list[1].kernel);
    assert_int_equal(list[1].kernel_length, sizeof kernel);
    store_unit_must(unit, store_candidate_find(store, unit->arena,
                                               arena_printf(unit->arena, "%s.1", run.name), &found,
                                               unit->diags));
    assert_int_equal(found.id, added.id);
    assert_memory_equal(found.kernel, kernel, sizeof kernel);
    store_close(store);
}

static void
a_verdict_comes_back(void **state)
{
    struct unit *unit = *state;
    struct store *store = store_unit_open(unit);
    struct store_run run = store_unit_begin(unit, store);
    struct store_candidate added = store_unit_candidate(unit, store, run.id, "Y: r"), *list;
    const struct store_speedup speedups[] = {{"naive", 2.31}, {"torch", NAN}};
    const struct store_case cases[] = {
        {"default", "R=4 N=8", 100, 99, 98, 102, 0.85, 0.21, speedups, 2},
        {"tail", "R=3 N=5", 4, 3.5, 3.75, 4.25, NAN, 0.24, NULL, 0},
        {"any", "R=1 N=1", NAN, NAN, NAN, NAN, NAN, 0.5, NULL, 0},
    };
    struct store_verdict right = {.status = "correct",
                                  .json = "{\"status\":\"correct\"}",
                                  .whole = true,
                                  .judged = 1005,
                                  .cases = cases,
                                  .case_count = 3};
    struct store_verdict wrong = {.status = "wrong", .reason = "the last column", .judged = 1006};
    const struct store_verdict *read;
    size_t count;

    store_unit_must(unit, store_verdict_add(store, added.id, &right, unit->diags));
    store_unit_must(unit, store_verdict_add(store, added.id, &wrong, unit->diags));
    store_unit_must(unit, store_candidates(store, unit->arena, run.id, STORE_WHOLE, &list, &count,
                                           unit->diags));
    assert_int_equal(list[0].verdict_count, 2);
    read = &list[0].verdicts[0];
    assert_string_equal(read->status, "correct");
    assert_string_equal(read->reason, "");
    assert_string_equal(read->json, "{\"status\":\"correct\"}");
    assert_true(read->whole && read->judged == 1005);
    assert_true(fabs(read->time_us - 20) < 1e-9); /* the geometric mean of 100 and 4 */
    assert_int_equal(read->case_count, 3);
    assert_string_equal(read->cases[0].name, "default");
    assert_string_equal(read->cases[0].sizes, "R=4 N=8");
    assert_true(read->cases[0].median_us == 100 && read->cases[0].min_us == 99);
    assert_true(read->cases[0].low_us == 98 && read->cases[0].high_us == 102);
    assert_true(read->cases[0].light == 0.85 && read->cases[0].error_over_gate == 0.21);
    assert_int_equal(read->cases[0].speedup_count, 2);
    assert_string_equal(read->cases[0].speedups[0].baseline, "naive");
    assert_true(read->cases[0].speedups[0].factor == 2.31);
    assert_true(isnan(read->cases[0].speedups[1].factor));
    assert_true(isnan(read->cases[1].light) && isnan(read->cases[2].median_us));
    assert_string_equal(list[0].verdicts[1].reason, "the last column");
    assert_int_equal(list[0].verdicts[1].case_count, 0);
    assert_true(isnan(list[0].verdicts[1].time_us));
    store_close(store);
}

static void
what_does_not_exist_is_refused(void **state)
{
    struct unit *unit = *state;
    struct store *store = store_unit_open(unit);
    struct store_candidate candidate = {.run = 77};
    struct store_verdict verdict = {.status = "correct"};
    struct store_parent nobody = {.candidate = 999};
    struct store_run run = store_unit_begin(unit, store);
    struct store_totals totals;

    assert_int_equal(store_candidate_add(store, &candidate, unit->diags), STATUS_INPUT);
    assert_int_equal(store_verdict_add(store, 5, &verdict, unit->diags), STATUS_INPUT);
    candidate = (struct store_candidate){.run = run.id, .parents = &nobody, .parent_count = 1};
    assert_int_equal(store_candidate_add(store, &candidate, unit->diags), STATUS_INPUT);
    assert_int_equal(store_run_finish(store, 77, STORE_DONE, "", -1, 1, unit->diags), STATUS_INPUT);
    assert_int_equal(store_run_resume(store, 77, unit->diags), STATUS_INPUT);
    store_unit_must(unit, store_totals(store, &totals, unit->diags));
    assert_int_equal(totals.candidates, 0);
    assert_int_equal(totals.runs, 1);
    assert_true(totals.bytes > 0);
    store_close(store);
}

/* ---- names ---- */

static void
rename_run(struct unit *unit, struct store *store, int64_t id, const char *name)
{
    char *text = arena_printf(unit->arena, "UPDATE run SET name = '%s' WHERE id = %lld", name,
                              (long long)id);

    assert_int_equal(sqlite3_exec(store->db, text, NULL, NULL, NULL), SQLITE_OK);
}

static const char *
find(struct unit *unit, struct store *store, const char *name)
{
    struct store_run run;

    store_unit_must(unit, store_run_find(store, unit->arena, name, &run, unit->diags));
    return arena_strdup(unit->arena, run.name);
}

static void
prefixes_name_runs(void **state)
{
    static const char *const names[] = {"k7f3", "k7m2", "k7f3a1", "m2c9", "b4k1"};
    struct unit *unit = *state;
    struct store *store = store_unit_open(unit);
    struct store_run run;

    assert_int_equal(store_run_find(store, unit->arena, "last", &run, unit->diags), STATUS_INPUT);
    store_unit_says(unit, "there are no runs yet");
    assert_int_equal(store_run_find(store, unit->arena, "best", &run, unit->diags), STATUS_INPUT);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        rename_run(unit, store, store_unit_begin(unit, store).id, names[i]);
    assert_string_equal(find(unit, store, "m"), "m2c9");
    assert_string_equal(find(unit, store, "M2C"), "m2c9");
    assert_string_equal(find(unit, store, "k7m"), "k7m2");
    assert_string_equal(find(unit, store, "k7f3"), "k7f3");
    assert_string_equal(find(unit, store, "k7f3a"), "k7f3a1");
    assert_string_equal(find(unit, store, "b"), "b4k1");
    assert_string_equal(find(unit, store, "last"), "b4k1");
    assert_int_equal(store_run_find(store, unit->arena, "k7", &run, unit->diags), STATUS_INPUT);
    store_unit_says(unit, "k7: 3 runs have names that begin so: k7f3a1, k7m2, k7f3; write more");
    assert_int_equal(store_run_find(store, unit->arena, "k7f", &run, unit->diags), STATUS_INPUT);
    assert_int_equal(store_run_find(store, unit->arena, "z", &run, unit->diags), STATUS_INPUT);
    store_unit_says(unit, "z: no run has that name; hone show lists them");
    assert_int_equal(store_run_find(store, unit->arena, "", &run, unit->diags), STATUS_INPUT);
    assert_int_equal(store_run_find(store, unit->arena, "%", &run, unit->diags), STATUS_INPUT);
    assert_int_equal(store_run_find(store, unit->arena, "k7f3'", &run, unit->diags), STATUS_INPUT);
    store_close(store);
}

static void
names_are_never_given_twice(void **state)
{
    struct unit *unit = *state;
    struct store *store = store_unit_open(unit);
    char name[STORE_NAME];

    /* All names of four but those with a z are taken: soon a longer one is given. */
    assert_int_equal(
        sqlite3_exec(store->db,
                     "INSERT INTO task VALUES (1, '', '', '', '', '', '');"
                     "WITH l(x) AS (VALUES('a'),('b'),('c'),('d'),('e'),('f'),('g'),('h'),('j'),"
                     "('k'),('m'),('n'),('p'),('q'),('r'),('s'),('t'),('v'),('w'),('x'),('y')),"
                     "d(x) AS (VALUES('0'),('1'),('2'),('3'),('4'),('5'),('6'),('7'),('8'),('9'))"
                     "INSERT INTO run (name, task, target, cases, recipe, model, seed, budget,"
                     " machine, machine_key, state, started, pid)"
                     "SELECT a.x || b.x || c.x || e.x, 1, '', '', '', '', 0, '', '', '', 'done',"
                     " 0, 0 FROM l AS a, d AS b, l AS c, d AS e",
                     NULL, NULL, NULL),
        SQLITE_OK);
    for (unsigned i = 0; i < 100; i++) {
        store__new_name(store, name);
        assert_true(strlen(name) > 4 || strchr(name, 'z'));
    }
    store_close(store);
}

static void
numbers_name_candidates(void **state)
{
    struct unit *unit = *state;
    struct store *store = store_unit_open(unit);
    struct store_run run = store_unit_begin(unit, store), empty = store_unit_begin(unit, store);
    struct store_candidate found;
    int64_t id[3];

    for (unsigned i = 0; i < 3; i++)
        id[i] = store_unit_candidate(unit, store, run.id, "Y: r").id;
    rename_run(unit, store, run.id, "k7f3");
    rename_run(unit, store, empty.id, "m2c9");
    store_unit_verdict(unit, store, id[1], "correct", 10, "N=8");
    store_unit_must(unit, store_candidate_find(store, unit->arena, "k7.2", &found, unit->diags));
    assert_int_equal(found.id, id[2]);
    store_unit_must(unit, store_candidate_find(store, unit->arena, "k.best", &found, unit->diags));
    assert_int_equal(found.id, id[1]);
    store_unit_must(unit, store_candidate_find(store, unit->arena, "k7f3", &found, unit->diags));
    assert_int_equal(found.id, id[1]);
    store_unit_must(unit,
                    store_candidate_find(store, unit->arena, "best.last", &found, unit->diags));
    assert_int_equal(found.id, id[2]);
    assert_int_equal(store_candidate_find(store, unit->arena, "k7f3.3", &found, unit->diags),
                     STATUS_INPUT);
    store_unit_says(unit, "k7f3.3: the run has no such candidate; hone show k7f3 lists them");
    assert_int_equal(store_candidate_find(store, unit->arena, "m2c9", &found, unit->diags),
                     STATUS_INPUT);
    store_unit_says(unit, "no correct candidate");
    assert_int_equal(store_candidate_find(store, unit->arena, "m2c9.last", &found, unit->diags),
                     STATUS_INPUT);
    assert_int_equal(store_candidate_find(store, unit->arena, "k7f3.x", &found, unit->diags),
                     STATUS_INPUT);
    assert_int_equal(store_candidate_find(store, unit->arena, ".1", &found, unit->diags),
                     STATUS_INPUT);
    store_close(store);
}

/* ---- the best ---- */

static void
the_last_whole_verdict_makes_the_best(void **state)
{
    struct unit *unit = *state;
    struct store *store = store_unit_open(unit);
    struct store_run run = store_unit_begin(unit, store);
    struct store_verdict part = {.status = "correct", .time_us = 1, .whole = false};
    struct store_candidate best;
    int64_t id[4];

    assert_int_equal(store_best(store, unit->arena, run.id, STORE_BRIEF, &best, unit->diags),
                     STATUS_NO);
    for (unsigned i = 0; i < 4; i++)
        id[i] = store_unit_candidate(unit, store, run.id, "Y: r").id;
    store_unit_verdict(unit, store, id[0], "wrong", 1, "N=8");
    store_unit_must(unit, store_verdict_add(store, id[1], &part, unit->diags));
    assert_int_equal(store_best(store, unit->arena, run.id, STORE_BRIEF, &best, unit->diags),
                     STATUS_NO);
    store_unit_verdict(unit, store, id[2], "correct", 30, "N=8");
    store_unit_verdict(unit, store, id[3], "correct", 20, "N=8");
    store_unit_must(unit, store_best(store, unit->arena, run.id, STORE_BRIEF, &best, unit->diags));
    assert_int_equal(best.id, id[3]);
    store_unit_verdict(unit, store, id[3], "wrong", 20, "N=8"); /* looked at once more */
    store_unit_must(unit, store_best(store, unit->arena, run.id, STORE_BRIEF, &best, unit->diags));
    assert_int_equal(best.id, id[2]);
    store_unit_must(unit, store_run_finish(store, run.id, STORE_DONE, "", 1, 2000, unit->diags));
    store_unit_must(unit, store_best(store, unit->arena, run.id, STORE_BRIEF, &best, unit->diags));
    assert_int_equal(best.id, id[1]);
    store_close(store);
}

static int64_t
run_of(struct unit *unit, struct store *store, const char *cases, double us)
{
    struct store_run run = store_unit_run();

    run.cases = cases;
    store_unit_must(unit, store_run_begin(store, &run, unit->diags));
    store_unit_verdict(unit, store, store_unit_candidate(unit, store, run.id, "Y: r").id, "correct",
                       us, "N=8");
    return run.id;
}

static void
the_best_run_is_comparable_with_the_last(void **state)
{
    struct unit *unit = *state;
    struct store *store = store_unit_open(unit);
    struct store_run best;
    int64_t fast;

    run_of(unit, store, "default N=8", 30);
    fast = run_of(unit, store, "default N=8", 20);
    run_of(unit, store, "default N=4", 10);
    run_of(unit, store, "default N=8", 25);
    store_unit_must(unit, store_run_find(store, unit->arena, "best", &best, unit->diags));
    assert_int_equal(best.id, fast);
    assert_int_equal(best.candidates, 1);
    assert_int_equal(best.verdicts, 1);
    store_close(store);
}

static void
runs_come_newest_first(void **state)
{
    struct unit *unit = *state;
    struct store *store = store_unit_open(unit);
    struct store_run *runs;
    int64_t ids[5];
    size_t count;

    for (unsigned i = 0; i < 5; i++)
        ids[i] = store_unit_begin(unit, store).id;
    store_unit_must(unit, store_runs(store, unit->arena, 3, &runs, &count, unit->diags));
    assert_int_equal(count, 3);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(runs[i].id, ids[4 - i]);
    assert_int_equal(runs[0].state, STORE_RUNNING);
    assert_true(isnan(runs[0].ended));
    assert_string_equal(store_unit_ask(unit, "archive.db", "SELECT count(*) FROM task"), "1");
    store_close(store);
}

/* ---- what is known ---- */

static int64_t
tried(struct unit *unit, struct store *store, int64_t run, const char *schedule, const char *status,
      double us, const char *sizes)
{
    int64_t id = store_unit_candidate(unit, store, run, schedule).id;

    store_unit_verdict(unit, store, id, status, us, sizes);
    return id;
}

static void
earlier_schedules_by_speed(void **state)
{
    struct unit *unit = *state;
    struct store *store = store_unit_open(unit);
    struct store_run here = store_unit_begin(unit, store), there = store_unit_run();
    struct store_question question = {.family = "f", .target = "cpu", .machine_key = "2 x"};
    struct store_answer *answers;
    size_t count;

    tried(unit, store, here.id, "slow", "correct", 40, "N=8");
    tried(unit, store, here.id, "fast", "correct", 20, "N=8");
    tried(unit, store, here.id, "fast", "correct", 21, "N=8"); /* again */
    tried(unit, store, here.id, "never", "wrong", 1, "N=8");
    tried(unit, store, here.id, "large", "correct", 12.5, "N=16");
    there.machine_key = "64 y";
    store_unit_must(unit, store_run_begin(store, &there, unit->diags));
    tried(unit, store, there.id, "elsewhere", "correct", 2, "N=8");
    there.machine_key = "2 x";
    there.task.family = "g";
    store_unit_must(unit, store_run_begin(store, &there, unit->diags));
    tried(unit, store, there.id, "other family", "correct", 2, "N=8");

    store_unit_must(unit,
                    store_earlier(store, unit->arena, &question, &answers, &count, unit->diags));
    assert_int_equal(count, 2);
    assert_string_equal(answers[0].schedule, "large");
    assert_string_equal(answers[0].sizes, "N=16");
    assert_string_equal(answers[0].task_hash, "4f1c");
    assert_string_equal(answers[0].case_name, "default");
    assert_true(answers[0].time_us == 12.5 && answers[0].light == 0.8);
    assert_string_equal(answers[0].run, here.name);
    assert_int_equal(answers[0].number, 4);
    assert_string_equal(answers[1].schedule, "fast");
    assert_int_equal(answers[1].number, 1);
    question.each = 5;
    store_unit_must(unit,
                    store_earlier(store, unit->arena, &question, &answers, &count, unit->diags));
    assert_int_equal(count, 3);
    assert_string_equal(answers[2].schedule, "slow");
    question.most = 1;
    store_unit_must(unit,
                    store_earlier(store, unit->arena, &question, &answers, &count, unit->diags));
    assert_int_equal(count, 1);
    question.family = "h";
    store_unit_must(unit,
                    store_earlier(store, unit->arena, &question, &answers, &count, unit->diags));
    assert_int_equal(count, 0);
    question.task_hash = "g"; /* which was once the family of a task */
    store_unit_must(unit,
                    store_earlier(store, unit->arena, &question, &answers, &count, unit->diags));
    assert_int_equal(count, 1);
    store_close(store);
}

static void
nothing_is_judged_twice(void **state)
{
    struct unit *unit = *state;
    struct store *store = store_unit_open(unit);
    struct store_run run = store_unit_begin(unit, store);
    struct store_candidate known = store_unit_candidate(unit, store, run.id, "Y: r");
    struct store_candidate broken = store_unit_candidate(unit, store, run.id, "Y: x"), found;
    struct store_verdict failed = {.status = "build_failed"}, verdict;
    const struct store_key key = {known.kernel_hash, "4f1c", "cpu", "N=8", "2 x"};
    struct store_key other[5] = {key, key, key, key, key};
    int64_t newest;

    assert_int_equal(store_verdict_find(store, unit->arena, &key, &found, &verdict, unit->diags),
                     STATUS_NO);
    store_unit_verdict(unit, store, known.id, "correct", 30, "N=8");
    newest = store_unit_verdict(unit, store, known.id, "correct", 20, "N=8");
    store_unit_verdict(unit, store, known.id, "correct", 40, "N=16");
    store_unit_must(unit,
                    store_verdict_find(store, unit->arena, &key, &found, &verdict, unit->diags));
    assert_int_equal(verdict.id, newest);
    assert_true(verdict.cases[0].median_us == 20);
    assert_int_equal(found.id, known.id);
    other[0].kernel_hash = "00";
    other[1].task_hash = "00";
    other[2].target = "opencl";
    other[3].sizes = "N=9";
    other[4].machine_key = "64 y";
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(
            store_verdict_find(store, unit->arena, &other[i], &found, &verdict, unit->diags),
            STATUS_NO);
    /* What was never built fails in every case. */
    store_unit_must(unit, store_verdict_add(store, broken.id, &failed, unit->diags));
    other[3].kernel_hash = broken.kernel_hash;
    store_unit_must(
        unit, store_verdict_find(store, unit->arena, &other[3], &found, &verdict, unit->diags));
    assert_string_equal(verdict.status, "build_failed");
    store_close(store);
}

/* ---- where it is ---- */

static void
the_archive_has_its_place(void **state)
{
    struct unit *unit = *state;
    char *here = getcwd(NULL, 0);

    unsetenv("HONE_ARCHIVE");
    setenv("XDG_DATA_HOME", here, 1);
    assert_string_equal(store_default_path(unit->arena),
                        arena_printf(unit->arena, "%s/hone/archive.db", here));
    unsetenv("XDG_DATA_HOME");
    setenv("HOME", here, 1);
    assert_string_equal(store_default_path(unit->arena),
                        arena_printf(unit->arena, "%s/.local/share/hone/archive.db", here));
    setenv("HONE_ARCHIVE", "mine.db", 1);
    assert_string_equal(store_default_path(unit->arena), "mine.db");
    unsetenv("HONE_ARCHIVE");
    free(here);
}

static void
a_missing_archive_is_made_to_write_only(void **state)
{
    const struct store_options reading = {.access = STORE_READ};
    struct unit *unit = *state;
    struct store *store;
    int files = scratch_open_files();

    assert_int_equal(store_open(":memory:", &reading, &store, unit->diags), STATUS_NO);
    assert_null(store);
    assert_int_equal(diags_count(unit->diags), 0);
    store_unit_must(unit, store_open(":memory:", &store_unit_options, &store, unit->diags));
    store_unit_begin(unit, store);
    store_close(store);
    assert_int_equal(access(":memory:", F_OK), 0);
    assert_int_equal(scratch_open_files(), files);
    store_unit_must(unit, store_open(":memory:", &reading, &store, unit->diags));
    store_close(store);
    store_close(NULL);
    assert_int_equal(store_open("no/such/folder.db", &store_unit_options, &store, unit->diags),
                     STATUS_INPUT);
    store_unit_says(unit, "its folder does not exist; make it first");
    assert_int_equal(store_open(".", &store_unit_options, &store, unit->diags), STATUS_INPUT);
    store_unit_says(unit, ".: is a folder, no archive");
    assert_int_equal(scratch_open_files(), files);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(a_run_comes_back),
        SCRATCH_TEST(a_candidate_comes_back),
        SCRATCH_TEST(a_verdict_comes_back),
        SCRATCH_TEST(what_does_not_exist_is_refused),
        SCRATCH_TEST(prefixes_name_runs),
        SCRATCH_TEST(names_are_never_given_twice),
        SCRATCH_TEST(numbers_name_candidates),
        SCRATCH_TEST(the_last_whole_verdict_makes_the_best),
        SCRATCH_TEST(the_best_run_is_comparable_with_the_last),
        SCRATCH_TEST(runs_come_newest_first),
        SCRATCH_TEST(earlier_schedules_by_speed),
        SCRATCH_TEST(nothing_is_judged_twice),
        SCRATCH_TEST(the_archive_has_its_place),
        SCRATCH_TEST(a_missing_archive_is_made_to_write_only),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
