/* Several processes at one archive, and processes that are killed in the middle of writing. */
#include "store_unit.h"

#include "base/rng.h"

#include <fcntl.h>
#include <time.h>

enum { WRITERS = 3, EACH = 40, KILLS = 25 };

/* A child never comes back: its exit code is its answer, and cmocka's checks are not for it. */
static void
child_must(enum status status)
{
    if (status != STATUS_OK)
        _exit(9);
}

static void
wait_for_child(pid_t child, int code)
{
    int status;

    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), code);
}

/* ---- at once ---- */

static void
write_some(struct unit *unit, char who)
{
    struct store *store;
    struct store_run run = store_unit_run();

    child_must(store_open("archive.db", &store_unit_options, &store, unit->diags));
    run.model = (char[]){who, '\0'};
    child_must(store_run_begin(store, &run, unit->diags));
    for (unsigned i = 0; i < EACH; i++) {
        struct store_candidate candidate = {.run = run.id, .kernel = &who, .kernel_length = 1};
        struct store_case row = {.name = "default", .sizes = "N=8", .median_us = 1 + i};
        struct store_verdict verdict = {
            .status = "correct", .whole = true, .cases = &row, .case_count = 1};

        child_must(store_candidate_add(store, &candidate, unit->diags));
        child_must(store_verdict_add(store, candidate.id, &verdict, unit->diags));
        if (candidate.number != i)
            _exit(8);
    }
    child_must(store_run_finish(store, run.id, STORE_DONE, "", -1, 1, unit->diags));
    store_close(store);
    _exit(0);
}

/* They also make the archive together: nobody did before. */
static void
several_write_at_once(void **state)
{
    struct unit *unit = *state;
    struct store *store;
    struct store_run *runs;
    pid_t children[WRITERS];
    size_t count;

    for (unsigned i = 0; i < WRITERS; i++) {
        children[i] = fork();
        if (children[i] == 0)
            write_some(unit, (char)('a' + i));
    }
    for (unsigned i = 0; i < WRITERS; i++)
        wait_for_child(children[i], 0);
    store = store_unit_open(unit);
    store_unit_must(unit, store_runs(store, unit->arena, 0, &runs, &count, unit->diags));
    assert_int_equal(count, WRITERS);
    for (size_t i = 0; i < count; i++) {
        struct store_candidate *candidates;
        size_t number;

        assert_int_equal(runs[i].state, STORE_DONE);
        assert_int_equal(runs[i].verdicts, EACH);
        store_unit_must(unit, store_candidates(store, unit->arena, runs[i].id, STORE_WHOLE,
                                               &candidates, &number, unit->diags));
        assert_int_equal(number, EACH);
        for (size_t k = 0; k < number; k++)
            assert_string_equal(candidates[k].kernel, runs[i].model);
    }
    store_close(store);
    assert_string_equal(store_unit_ask(unit, "archive.db", "PRAGMA integrity_check"), "ok");
}

static void
many_open_a_new_one_at_once(void **state)
{
    struct unit *unit = *state;
    pid_t children[8];

    for (unsigned round = 0; round < 10; round++) {
        const char *path = arena_printf(unit->arena, "new%u.db", round);

        for (unsigned i = 0; i < 8; i++) {
            children[i] = fork();
            if (children[i] == 0) {
                struct store *store;

                child_must(store_open(path, &store_unit_options, &store, unit->diags));
                store_close(store);
                _exit(0);
            }
        }
        for (unsigned i = 0; i < 8; i++)
            wait_for_child(children[i], 0);
        assert_string_equal(store_unit_ask(unit, path, "SELECT count(*) FROM migration"),
                            arena_printf(unit->arena, "%zu", store__step_count));
    }
}

static void
a_lock_is_not_waited_for_for_ever(void **state)
{
    const struct store_options hurried = {.program = "hone 0.1", .patience = 0.05};
    struct unit *unit = *state;
    struct store *holder = store_unit_open(unit), *store;
    struct store_run run = store_unit_run(), *runs;
    size_t count;

    store_unit_must(unit, store_open("archive.db", &hurried, &store, unit->diags));
    assert_int_equal(sqlite3_exec(holder->db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(store_run_begin(store, &run, unit->diags), STATUS_MACHINE);
    store_unit_says(unit, "archive.db: another process has kept it locked for 0.05 s; try again");
    store_unit_must(unit, store_runs(store, unit->arena, 0, &runs, &count, unit->diags));
    assert_int_equal(count, 0);
    assert_int_equal(sqlite3_exec(holder->db, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    store_unit_must(unit, store_run_begin(store, &run, unit->diags));
    store_close(store);
    store_close(holder);
}

/* A person's process speaks to the one that works. */
static void
a_note_reaches_another_process(void **state)
{
    struct unit *unit = *state;
    struct store *store = store_unit_open(unit);
    struct store_run run = store_unit_begin(unit, store);
    struct store_note *notes;
    size_t count;
    pid_t child = fork();

    if (child == 0) {
        struct store_note note = {.run = run.id, .kind = "say", .text = "try tiles"};
        struct store *theirs;

        child_must(store_open("archive.db", &store_unit_options, &theirs, unit->diags));
        child_must(store_inbox_add(theirs, &note, unit->diags));
        store_close(theirs);
        _exit(0);
    }
    wait_for_child(child, 0);
    store_unit_must(unit,
                    store_inbox_take(store, unit->arena, run.id, 1, &notes, &count, unit->diags));
    assert_int_equal(count, 1);
    assert_string_equal(notes[0].text, "try tiles");
    store_close(store);
}

/* ---- whose run ---- */

static void
a_run_belongs_to_one_process(void **state)
{
    struct unit *unit = *state;
    struct store *store = store_unit_open(unit), *other = store_unit_open(unit);
    struct store_run run = store_unit_begin(unit, store), found;

    store_unit_must(unit, store_run_find(other, unit->arena, run.name, &found, unit->diags));
    assert_int_equal(found.state, STORE_RUNNING);
    assert_int_equal(store_run_resume(other, run.id, unit->diags), STATUS_MACHINE);
    store_unit_says(unit, arena_printf(unit->arena,
                                       "run %s is being written by another hone (pid %ld); hone "
                                       "show %s --watch follows it",
                                       run.name, (long)getpid(), run.name));
    store_unit_candidate(unit, other, run.id, "a person's");
    store_close(store); /* without an end */
    store_unit_must(unit, store_run_find(other, unit->arena, run.name, &found, unit->diags));
    assert_int_equal(found.state, STORE_STOPPED);
    assert_string_equal(found.stopped_by, "killed");
    assert_true(found.ended == 1001);
    /* The next run writes it down. */
    store_unit_begin(unit, other);
    assert_string_equal(store_unit_ask(unit, "archive.db",
                                       "SELECT state || stopped_by || ended FROM run WHERE id = 1"),
                        "stoppedkilled1001.0");
    store_unit_must(unit, store_run_resume(other, run.id, unit->diags));
    store_unit_must(unit, store_run_find(other, unit->arena, run.name, &found, unit->diags));
    assert_int_equal(found.state, STORE_RUNNING);
    assert_true(isnan(found.ended));
    store_close(other);
}

static void
a_copy_elsewhere_has_no_running_runs(void **state)
{
    struct unit *unit = *state;
    struct store *store = store_unit_open(unit), *copy;
    struct store_run run = store_unit_begin(unit, store), found;

    store_unit_execute("archive.db", "VACUUM INTO 'copy.db'");
    store_unit_must(unit, store_open("copy.db", &store_unit_options, &copy, unit->diags));
    store_unit_must(unit, store_run_find(copy, unit->arena, run.name, &found, unit->diags));
    assert_int_equal(found.state, STORE_STOPPED);
    store_close(copy);
    assert_int_equal(symlink("archive.db", "link.db"), 0);
    store_unit_must(unit, store_open("link.db", &store_unit_options, &copy, unit->diags));
    store_unit_must(unit, store_run_find(copy, unit->arena, run.name, &found, unit->diags));
    assert_int_equal(found.state, STORE_RUNNING);
    store_close(copy);
    store_close(store);
}

/* ---- kill -9 ---- */

/* What was added: its row is found by the number; where the run counts, that is a million times
 * the run and its count.
 *    id         query, before the number */
#define ADDITIONS(X)                                                                         \
    X(CANDIDATE, "SELECT kernel_length FROM candidate WHERE id = ")                          \
    X(VERDICT, "SELECT count(*) * 10000 FROM verdict_case WHERE verdict = ")                 \
    X(EVENT, "SELECT 20000 FROM event WHERE run * 1000000 + seq = ")                         \
    X(CALL, "SELECT 20000 FROM call WHERE id = ")                                            \
    X(REPLY,                                                                                 \
      "SELECT length FROM call JOIN text ON text.id = reply WHERE ended = 5 AND call.id = ") \
    X(NOTE, "SELECT 20000 FROM inbox WHERE run * 1000000 + seq = ")                          \
    X(ITEM, "SELECT 20000 FROM item JOIN item_feature ON item = id WHERE id = ")

enum addition {
#define X(id, query) ADDED_##id,
    ADDITIONS(X)
#undef X
};

static const char *const addition_query[] = {
#define X(id, query) query,
    ADDITIONS(X)
#undef X
};

struct said {
    enum addition what;
    int64_t id;
};

static void
tell(int pipe, enum addition what, int64_t id)
{
    const struct said said = {what, id};

    if (write(pipe, &said, sizeof said) != (ssize_t)sizeof said)
        _exit(7);
}

static void
write_candidate(struct unit *unit, struct store *store, int pipe, int64_t run, const char *text)
{
    struct store_case rows[] = {{.name = "a", .sizes = "N=8", .median_us = 2},
                                {.name = "b", .sizes = "N=9", .median_us = 2}};
    struct store_verdict verdict = {
        .status = "correct", .whole = true, .cases = rows, .case_count = 2};
    struct store_candidate candidate = {.run = run,
                                        .kind = STORE_SOURCE,
                                        .kernel = text,
                                        .kernel_length = strlen(text),
                                        .added = 2000};

    child_must(store_candidate_add(store, &candidate, unit->diags));
    tell(pipe, ADDED_CANDIDATE, candidate.id);
    child_must(store_verdict_add(store, candidate.id, &verdict, unit->diags));
    tell(pipe, ADDED_VERDICT, verdict.id);
}

static void
write_others(struct unit *unit, struct store *store, int pipe, int64_t run, const char *text)
{
    struct store_call call = {.run = run, .prompt = text, .tokens = {.input = 1}, .cost = 1};
    struct store_note note = {.run = run, .kind = "say", .text = "faster"};
    struct store_item item = {.kind = "rules", .text = text, .features = "f32"};

    for (unsigned i = 0; i < 5; i++) {
        struct store_event event = {.run = run, .kind = "clock", .answer = "17"};

        child_must(store_event_add(store, &event, unit->diags));
        tell(pipe, ADDED_EVENT, run * 1000000 + event.seq);
    }
    child_must(store_call_begin(store, &call, unit->diags));
    tell(pipe, ADDED_CALL, call.id);
    call.reply = text;
    call.ended = 5;
    child_must(store_call_end(store, &call, unit->diags));
    tell(pipe, ADDED_REPLY, call.id);
    child_must(store_inbox_add(store, &note, unit->diags));
    tell(pipe, ADDED_NOTE, run * 1000000 + note.seq);
    child_must(store_item_put(store, &item, unit->diags));
    tell(pipe, ADDED_ITEM, item.id);
}

/* Until it is killed; what each call that returned has added goes down the pipe. */
static void
write_for_ever(struct unit *unit, int pipe)
{
    struct store *store;
    struct store_run run = store_unit_run();
    char text[20001] = "";

    child_must(store_open("archive.db", &store_unit_options, &store, unit->diags));
    child_must(store_run_begin(store, &run, unit->diags));
    for (unsigned i = 0;; i++) {
        memset(text, 'a' + (char)(i % 26), sizeof text - 1);
        snprintf(text, 20, "%d %u", getpid(), i);
        text[strlen(text)] = ' ';
        write_candidate(unit, store, pipe, run.id, text);
        write_others(unit, store, pipe, run.id, text);
    }
}

/* Everything that the killed one was told to be safe is there, and whole. */
static unsigned
check_what_was_said(struct unit *unit, struct store *store, int pipe)
{
    unsigned count = 0;
    struct said said;

    for (; read(pipe, &said, sizeof said) == (ssize_t)sizeof said; count++) {
        const char *query =
            arena_printf(unit->arena, "%s%lld", addition_query[said.what], (long long)said.id);
        const char *answer = store_unit_ask_of(unit, store->db, query);

        if (strcmp(answer, "20000") != 0)
            print_message("missing: %s\n", query);
        assert_string_equal(answer, "20000");
    }
    return count;
}

/* What is half there or counted wrongly. */
static void
check_consistency(struct unit *unit, struct store *store)
{
    static const char wrong[] =
        "SELECT count(*) FROM run AS r WHERE"
        " candidates <> (SELECT count(*) FROM candidate WHERE run = r.id) OR"
        " verdicts <> (SELECT count(*) FROM verdict JOIN candidate AS c ON c.id = candidate"
        "  WHERE c.run = r.id) OR evaluations <> verdicts OR"
        " calls <> (SELECT count(*) FROM call WHERE run = r.id) OR"
        " input <> (SELECT count(ended) FROM call WHERE run = r.id) OR"
        " coalesce(cost, 0) <> input OR"
        " hints <> (SELECT count(*) FROM inbox WHERE run = r.id) OR"
        " (leader IS NULL) <> (verdicts = 0)";

    assert_string_equal(store_unit_ask_of(unit, store->db, "PRAGMA integrity_check"), "ok");
    assert_string_equal(
        store_unit_ask_of(unit, store->db, "SELECT count(*) FROM pragma_foreign_key_check"), "0");
    assert_string_equal(store_unit_ask_of(unit, store->db, wrong), "0");
    assert_string_equal(store_unit_ask(unit, "archive.db",
                                       "SELECT (SELECT count(*) FROM candidate) ="
                                       " (SELECT count(*) FROM candidate_words_docsize)"),
                        "1");
    assert_int_equal(sqlite3_exec(store->db,
                                  "INSERT INTO candidate_words (candidate_words)"
                                  " VALUES ('integrity-check');"
                                  "INSERT INTO item_words (item_words)"
                                  " VALUES ('integrity-check')",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
}

static void
a_killed_writer_loses_nothing(void **state)
{
    struct unit *unit = *state;
    struct rng random = rng_stream((uint64_t)getpid(), "kill");
    size_t runs_before = 0;
    unsigned said = 0;

    for (unsigned i = 0; i < KILLS; i++) {
        long microseconds = (long)rng_below(&random, 150000);
        struct store *store;
        struct store_run *runs;
        size_t count;
        int ends[2], status;
        pid_t child;

        assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
        fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
        child = fork();
        if (child == 0)
            write_for_ever(unit, ends[1]);
        close(ends[1]);
        nanosleep(&(struct timespec){.tv_nsec = microseconds * 1000}, NULL);
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        assert_true(WIFSIGNALED(status));

        store = store_unit_open(unit);
        said += check_what_was_said(unit, store, ends[0]);
        store_unit_must(unit, store_runs(store, unit->arena, 0, &runs, &count, unit->diags));
        assert_true(count == runs_before || count == runs_before + 1);
        runs_before = count;
        for (size_t k = 0; k < count; k++)
            assert_int_equal(runs[k].state, STORE_STOPPED);
        check_consistency(unit, store);
        store_close(store);
        close(ends[0]);
    }
    assert_true(runs_before > 0 && said > 0);
}

/* A reader sees the run while it is written, and that it has ended as soon as it was killed. */
static void
a_reader_sees_the_end(void **state)
{
    struct unit *unit = *state;
    struct store *store;
    struct store_run run = {0};
    int ends[2];
    struct said said;
    pid_t child;

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    child = fork();
    if (child == 0)
        write_for_ever(unit, ends[1]);
    close(ends[1]);
    assert_int_equal(read(ends[0], &said, sizeof said), sizeof said);
    store = store_unit_open(unit);
    store_unit_must(unit, store_run_find(store, unit->arena, "last", &run, unit->diags));
    assert_int_equal(run.state, STORE_RUNNING);
    assert_int_equal(run.pid, child);
    assert_true(run.candidates > 0);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    store_unit_must(unit, store_run_find(store, unit->arena, "last", &run, unit->diags));
    assert_int_equal(run.state, STORE_STOPPED);
    assert_true(run.ended == 2000);
    store_close(store);
    close(ends[0]);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(several_write_at_once),
        SCRATCH_TEST(many_open_a_new_one_at_once),
        SCRATCH_TEST(a_lock_is_not_waited_for_for_ever),
        SCRATCH_TEST(a_note_reaches_another_process),
        SCRATCH_TEST(a_run_belongs_to_one_process),
        SCRATCH_TEST(a_copy_elsewhere_has_no_running_runs),
        SCRATCH_TEST(a_killed_writer_loses_nothing),
        SCRATCH_TEST(a_reader_sees_the_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
