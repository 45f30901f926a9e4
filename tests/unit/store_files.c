/* Files that are no archives, damaged ones, older and newer schemas. */
#include "store_unit.h"

#include "base/file.h"
#include "base/rng.h"
#include "store_version1.h"

static enum status
try_open(struct unit *unit, const char *path)
{
    struct store *store;
    enum status status = store_open(path, &store_unit_options, &store, unit->diags);

    store_close(store);
    return status;
}

/* ---- not ours ---- */

static void
other_files_are_left_alone(void **state)
{
    static const char text[] = "op softmax\ndim R=1024, N=4096\nin X: f32[R,N]\nM[r] = max[j](X)\n";
    struct unit *unit = *state;
    struct source before, after;

    store_unit_must(unit, file_write("softmax.op", text, sizeof text - 1, unit->diags));
    assert_int_equal(try_open(unit, "softmax.op"), STATUS_INPUT);
    store_unit_says(unit, "softmax.op: is no archive; name another file with --archive FILE");
    store_unit_must(unit, file_read(unit->arena, "softmax.op", 4096, &after, unit->diags));
    assert_string_equal(after.text, text);

    store_unit_execute("other.db", "CREATE TABLE bookmark (url TEXT)");
    store_unit_must(unit, file_read(unit->arena, "other.db", 1 << 20, &before, unit->diags));
    assert_int_equal(try_open(unit, "other.db"), STATUS_INPUT);
    store_unit_says(unit, "other.db: is a database of another program");
    store_unit_must(unit, file_read(unit->arena, "other.db", 1 << 20, &after, unit->diags));
    assert_int_equal(after.length, before.length);
    assert_memory_equal(after.text, before.text, before.length);
}

static void
an_empty_file_becomes_one(void **state)
{
    struct unit *unit = *state;

    store_unit_must(unit, file_write("archive.db", "", 0, unit->diags));
    store_close(store_unit_open(unit));
    assert_string_equal(store_unit_ask(unit, "archive.db", "PRAGMA journal_mode"), "wal");
    assert_string_equal(store_unit_ask(unit, "archive.db", "PRAGMA application_id"), "1215262309");
}

/* ---- damaged ---- */

/* Reads and writes all there is; whatever comes of it, it comes as a status. */
static void
use_all(struct unit *unit, const char *path)
{
    struct arena *arena = arena_create();
    struct diags *diags = diags_create(arena, 0);
    const struct store_question question = {"f", "cpu", "2 x", 5, 0};
    struct store_run *runs, run = store_unit_run();
    struct store_candidate *candidates, candidate;
    struct store_answer *answers;
    struct store *store;
    size_t count;
    enum status status = store_open(path, &store_unit_options, &store, diags);

    (void)unit;
    if (status == STATUS_OK) {
        status = store_runs(store, arena, 0, &runs, &count, diags);
        for (size_t i = 0, n = count; i < n; i++)
            store_candidates(store, arena, runs[i].id, STORE_WHOLE, &candidates, &count, diags);
        store_run_find(store, arena, "best", &run, diags);
        store_candidate_find(store, arena, "last.last", &candidate, diags);
        store_earlier(store, arena, &question, &answers, &count, diags);
        run = store_unit_run();
        store_run_begin(store, &run, diags);
        candidate = (struct store_candidate){.run = run.id};
        store_candidate_add(store, &candidate, diags);
        store_close(store);
    }
    assert_true(status == STATUS_OK || diags_errors(diags) > 0);
    arena_destroy(arena);
}

static void
make_one(struct unit *unit)
{
    struct store *store = store_unit_open(unit);
    struct store_run run = store_unit_begin(unit, store);

    for (unsigned i = 0; i < 30; i++)
        store_unit_verdict(unit, store, store_unit_candidate(unit, store, run.id, "Y: r").id,
                           "correct", 10 + i, "N=8");
    store_close(store);
}

static void
damage_is_told(void **state)
{
    struct unit *unit = *state;
    struct rng random = rng_stream((uint64_t)getpid(), "damage");
    struct source whole;
    char *bytes;

    make_one(unit);
    store_unit_must(unit, file_read(unit->arena, "archive.db", 1 << 24, &whole, unit->diags));
    bytes = arena_alloc(unit->arena, whole.length);
    for (unsigned i = 0; i < 120; i++) {
        size_t length = i % 3 ? whole.length : rng_below(&random, whole.length);
        size_t from = i < 60 ? 100 : 0; /* spares the header, or not */

        memcpy(bytes, whole.text, whole.length);
        for (unsigned k = 0; k < 1U << (i % 8); k++)
            bytes[from + rng_below(&random, whole.length - from)] = (char)rng_next(&random);
        store_unit_must(unit, file_write("bad.db", bytes, length, unit->diags));
        use_all(unit, "bad.db");
        unlink("bad.db-wal");
        unlink("bad.db-shm");
    }
    memcpy(bytes, whole.text, whole.length);
    memset(bytes + 100, 0x5a, whole.length - 100);
    store_unit_must(unit, file_write("bad.db", bytes, whole.length, unit->diags));
    assert_int_equal(try_open(unit, "bad.db"), STATUS_MACHINE);
    store_unit_says(unit, "bad.db: is damaged (");
    store_unit_says(unit, "sqlite3 'bad.db' .recover");
}

/* ---- versions ---- */

static void
a_newer_one_is_refused(void **state)
{
    struct unit *unit = *state;
    struct store *store;

    make_one(unit);
    store_unit_execute("archive.db", "INSERT INTO migration VALUES (7, 'hone 0.4', 2e9);"
                                     "PRAGMA user_version = 7");
    assert_int_equal(store_open("archive.db", &store_unit_options, &store, unit->diags),
                     STATUS_MACHINE);
    assert_null(store);
    store_unit_says(unit, "archive.db was made by hone 0.4 (schema 7, this one knows 2); use "
                          "--archive FILE");
    store_unit_execute("archive.db", "DROP TABLE migration");
    assert_int_equal(try_open(unit, "archive.db"), STATUS_MACHINE);
    store_unit_says(unit, "archive.db was made by a newer hone (schema 7");
}

static void
the_first_version_is_read(void **state)
{
    struct unit *unit = *state;
    struct store *store;
    struct store_run *runs;
    struct store_candidate best, *candidates;
    size_t count;

    store_unit_execute("archive.db", store_version1);
    store = store_unit_open(unit);
    store_unit_must(unit, store_runs(store, unit->arena, 0, &runs, &count, unit->diags));
    assert_int_equal(count, 2);
    assert_string_equal(runs[0].name, "m2c9");
    assert_int_equal(runs[0].state, STORE_STOPPED);
    assert_true(runs[0].seed == UINT64_MAX);
    assert_string_equal(runs[1].stopped_by, "evals");
    store_unit_must(unit,
                    store_best(store, unit->arena, runs[1].id, STORE_WHOLE, &best, unit->diags));
    assert_string_equal(best.kernel, "void kernel(void) {}");
    assert_true(best.verdicts[0].cases[0].speedups[0].factor == 2.5);
    store_unit_must(unit, store_candidates(store, unit->arena, runs[1].id, STORE_WHOLE, &candidates,
                                           &count, unit->diags));
    assert_int_equal(count, 2);
    assert_string_equal(candidates[1].why, "two blocks");
    assert_int_equal(candidates[1].parents[0].candidate, 1);
    store_close(store);
}

/* Whoever changes a step that was released, instead of adding one, is told here. */
static void
the_first_step_never_changes(void **state)
{
    static const char query[] = "SELECT group_concat(sql, ';') FROM sqlite_schema";
    struct unit *unit = *state;
    struct store *store;

    store_unit_execute("version1.db", store_version1);
    store_unit_must(
        unit, store__open("new.db", &store_unit_options, store__steps, 1, &store, unit->diags));
    store_close(store);
    assert_string_equal(store_unit_ask(unit, "new.db", query),
                        store_unit_ask(unit, "version1.db", query));
}

static const char second_step[] = "CREATE TABLE prompt (id INTEGER PRIMARY KEY, candidate INTEGER"
                                  " REFERENCES candidate, text TEXT NOT NULL) STRICT;"
                                  "ALTER TABLE run ADD COLUMN note TEXT NOT NULL DEFAULT '-'";

static enum status
open_with(struct unit *unit, const char *second, const char *third)
{
    const char *const steps[] = {store__steps[0], second, third};
    const struct store_options options = {.program = "hone 0.2", .now = 2e9};
    struct store *store;
    enum status status = store__open("archive.db", &options, steps,
                                     third    ? 3
                                     : second ? 2
                                              : 1,
                                     &store, unit->diags);

    store_close(store);
    return status;
}

static void
an_older_one_is_migrated(void **state)
{
    struct unit *unit = *state;

    store_unit_execute("archive.db", store_version1);
    assert_int_equal(open_with(unit, second_step, NULL), STATUS_OK);
    assert_string_equal(store_unit_ask(unit, "archive.db", "PRAGMA user_version"), "2");
    assert_string_equal(store_unit_ask(unit, "archive.db",
                                       "SELECT group_concat(version || program, ' ') FROM"
                                       " migration"),
                        "1hone 0.1 2hone 0.2");
    assert_string_equal(
        store_unit_ask(unit, "archive.db", "SELECT group_concat(name || note, ' ') FROM run"),
        "k7f3- m2c9-");
    assert_int_equal(open_with(unit, second_step, NULL), STATUS_OK);
    assert_int_equal(open_with(unit, NULL, NULL), STATUS_MACHINE);
    store_unit_says(unit, "made by hone 0.2 (schema 2, this one knows 1)");
}

static void
several_migrate_at_once(void **state)
{
    struct unit *unit = *state;
    pid_t children[6];

    store_unit_execute("archive.db", store_version1);
    for (unsigned i = 0; i < 6; i++) {
        children[i] = fork();
        if (children[i] == 0)
            _exit(status_exit_code(open_with(unit, second_step, NULL)));
    }
    for (unsigned i = 0; i < 6; i++) {
        int status;

        waitpid(children[i], &status, 0);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    assert_string_equal(store_unit_ask(unit, "archive.db", "SELECT count(*) FROM migration"), "2");
}

static void
a_migration_is_all_or_nothing(void **state)
{
    struct unit *unit = *state;
    const char *schema;

    store_unit_execute("archive.db", store_version1);
    schema = store_unit_ask(unit, "archive.db", "SELECT group_concat(sql) FROM sqlite_schema");
    assert_int_equal(open_with(unit, second_step, "CREATE TABLE a (b); SELECT no_such_thing"),
                     STATUS_MACHINE);
    store_unit_says(unit, "no_such_thing");
    assert_int_equal(open_with(unit, "DELETE FROM task", NULL), STATUS_MACHINE);
    store_unit_says(unit, "from schema 1 to 2: 2 rows refer to what is not there");
    assert_string_equal(store_unit_ask(unit, "archive.db", "PRAGMA user_version"), "1");
    assert_string_equal(
        store_unit_ask(unit, "archive.db", "SELECT group_concat(sql) FROM sqlite_schema"), schema);
    assert_string_equal(store_unit_ask(unit, "archive.db", "SELECT count(*) FROM task"), "1");
    store_close(store_unit_open(unit));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(other_files_are_left_alone),
        SCRATCH_TEST(an_empty_file_becomes_one),
        SCRATCH_TEST(damage_is_told),
        SCRATCH_TEST(a_newer_one_is_refused),
        SCRATCH_TEST(the_first_version_is_read),
        SCRATCH_TEST(the_first_step_never_changes),
        SCRATCH_TEST(an_older_one_is_migrated),
        SCRATCH_TEST(several_migrate_at_once),
        SCRATCH_TEST(a_migration_is_all_or_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
