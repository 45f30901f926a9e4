/* What the machine refuses, memory or disk, is told; the archive stays whole and goes on. */
#include "store_unit.h"

#include "base/fault.h"

#include <errno.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>

/* How many calls were told to have succeeded. */
struct progress {
    int64_t runs, candidates, verdicts, calls, replies, events, notes, items;
};

static enum status
add_candidate(struct store *store, int64_t run, size_t length, struct progress *progress,
              struct diags *diags)
{
    static char kernel[1 << 20];
    const struct store_speedup speedup = {"naive", 2};
    struct store_case row = {"default", "N=8", 1, 1, 1, 1, 1, 0, &speedup, 1};
    struct store_verdict verdict = {
        .status = "correct", .whole = true, .cases = &row, .case_count = 1};
    struct store_candidate candidate = {.run = run, .kernel = kernel, .kernel_length = length};
    enum status status;

    /* No two alike, and nothing to pack. */
    for (size_t i = 0; i < length; i++)
        kernel[i] = (char)random();
    status = store_candidate_add(store, &candidate, diags);
    progress->candidates += status == STATUS_OK;
    if (status == STATUS_OK)
        status = store_verdict_add(store, candidate.id, &verdict, diags);
    progress->verdicts += status == STATUS_OK;
    return status;
}

static enum status
add_call(struct store *store, int64_t run, const char *text, struct progress *progress,
         struct diags *diags)
{
    struct store_call call = {.run = run, .request_hash = "aa", .prompt = text, .ended = 1};
    enum status status = store_call_begin(store, &call, diags);

    progress->calls += status == STATUS_OK;
    call.reply = text + 1;
    if (status == STATUS_OK)
        status = store_call_end(store, &call, diags);
    progress->replies += status == STATUS_OK;
    return status;
}

static enum status
add_others(struct store *store, int64_t run, struct progress *progress, struct diags *diags)
{
    char text[400];
    struct store_event event = {.run = run, .answer = text};
    struct store_note note = {.run = run, .kind = "say", .text = text + 2};
    struct store_item item = {.kind = "rules", .text = text, .features = "f32 avx2"};
    enum status status;

    memset(text, 'x', sizeof text);
    snprintf(text, sizeof text, "%300ld tile", random());
    status = add_call(store, run, text, progress, diags);
    if (status == STATUS_OK)
        status = store_event_add(store, &event, diags);
    progress->events += status == STATUS_OK;
    if (status == STATUS_OK)
        status = store_inbox_add(store, &note, diags);
    progress->notes += status == STATUS_OK;
    if (status == STATUS_OK)
        status = store_item_put(store, &item, diags);
    progress->items += status == STATUS_OK;
    return status;
}

static enum status
add_some(struct store *store, unsigned count, size_t kernel_length, struct progress *progress,
         struct diags *diags)
{
    struct store_run run = store_unit_run();
    enum status status = store_run_begin(store, &run, diags);

    progress->runs += status == STATUS_OK;
    for (unsigned i = 0; i < count && status == STATUS_OK; i++) {
        status = add_candidate(store, run.id, kernel_length, progress, diags);
        if (status == STATUS_OK)
            status = add_others(store, run.id, progress, diags);
    }
    return status;
}

static void
has_exactly(struct unit *unit, const struct progress *progress)
{
    const struct {
        const char *query;
        int64_t count;
    } wanted[] = {
        {"SELECT count(*) FROM run", progress->runs},
        {"SELECT count(*) FROM candidate", progress->candidates},
        {"SELECT count(*) FROM candidate_words_docsize", progress->candidates},
        {"SELECT sum(candidates) FROM run", progress->candidates},
        {"SELECT count(*) FROM verdict", progress->verdicts},
        {"SELECT count(*) FROM speedup", progress->verdicts},
        {"SELECT sum(verdicts) FROM run", progress->verdicts},
        {"SELECT count(*) FROM call", progress->calls},
        {"SELECT count(ended) FROM call", progress->replies},
        {"SELECT count(*) FROM event", progress->events},
        {"SELECT count(*) FROM inbox", progress->notes},
        {"SELECT count(*) FROM item", progress->items},
        {"SELECT count(*) FROM item_words_docsize", progress->items},
        {"SELECT count(*) FROM item_feature", 2 * progress->items},
    };

    sqlite3 *db;

    assert_int_equal(sqlite3_open("archive.db", &db), SQLITE_OK);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        assert_int_equal(strtoll(store_unit_ask_of(unit, db, wanted[i].query), NULL, 10),
                         wanted[i].count);
    assert_string_equal(store_unit_ask_of(unit, db, "PRAGMA integrity_check"), "ok");
    sqlite3_close(db);
}

/* ---- a full disk ---- */

/* In a child, with a limit on the size of files: 0 if all went as it must. */
static int
fill_the_disk(struct unit *unit)
{
    const struct rlimit limit = {1 << 20, 1 << 20};
    struct progress progress = {0};
    struct store *store;
    struct store_run *runs;
    size_t count;

    signal(SIGXFSZ, SIG_IGN);
    if (store_open("archive.db", &store_unit_options, &store, unit->diags) != STATUS_OK)
        return 10;
    setrlimit(RLIMIT_FSIZE, &limit);
    if (add_some(store, 100, 60000, &progress, unit->diags) != STATUS_MACHINE)
        return 11;
    if (!strstr(unit_message(unit, 0), "archive.db: cannot be written: a full disk"))
        return 12;
    if (progress.candidates == 0 || progress.candidates == 100)
        return 13;
    if (store_runs(store, unit->arena, 0, &runs, &count, unit->diags) != STATUS_OK ||
        runs[0].candidates != progress.candidates || runs[0].verdicts != progress.verdicts)
        return 14;
    store_close(store);
    return 0;
}

static void
a_full_disk_is_told(void **state)
{
    struct unit *unit = *state;
    struct store *store;
    struct store_run run;
    pid_t child = fork();
    int status;

    if (child == 0)
        _exit(fill_the_disk(unit));
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_string_equal(store_unit_ask(unit, "archive.db", "PRAGMA integrity_check"), "ok");
    store = store_unit_open(unit);
    store_unit_must(unit, store_run_find(store, unit->arena, "last", &run, unit->diags));
    assert_int_equal(run.state, STORE_STOPPED);
    assert_true(run.candidates > 0);
    store_unit_candidate(unit, store, run.id, "there is room again");
    store_close(store);
}

/* In a child that may mount: 0 if all went as it must, 77 if it may not. */
static int
fill_a_small_disk(struct unit *unit)
{
    struct progress progress = {0};
    struct store *store;

    if (unshare(CLONE_NEWNS) != 0 || mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mkdir("small", 0777) != 0 || mount("small", "small", "tmpfs", 0, "size=1m") != 0)
        return 77;
    if (store_open("small/archive.db", &store_unit_options, &store, unit->diags) != STATUS_OK)
        return 10;
    if (add_some(store, 100, 60000, &progress, unit->diags) != STATUS_MACHINE)
        return 11;
    if (!strstr(unit_message(unit, 0), "small/archive.db: cannot be written: "))
        return 12;
    store_close(store);
    if (strcmp(store_unit_ask(unit, "small/archive.db", "PRAGMA integrity_check"), "ok") != 0 ||
        strtoll(store_unit_ask(unit, "small/archive.db", "SELECT count(*) FROM candidate"), NULL,
                10) != progress.candidates)
        return 13;
    return 0;
}

static void
a_small_disk_is_told(void **state)
{
    struct unit *unit = *state;
    pid_t child = fork();
    int status;

    if (child == 0)
        _exit(fill_a_small_disk(unit));
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

#ifdef HONE_FAULTS

/* ---- the n-th write ---- */

static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static int (*real_ftruncate)(int, off_t);

static int
refuse(void)
{
    if (!fault_hit(FAULT_WRITE))
        return 0;
    errno = ENOSPC;
    return -1;
}

static ssize_t
write_or_not(int file, const void *bytes, size_t count)
{
    return refuse() ? -1 : real_write(file, bytes, count);
}

static ssize_t
pwrite_or_not(int file, const void *bytes, size_t count, off_t place)
{
    return refuse() ? -1 : real_pwrite(file, bytes, count, place);
}

/* Nobody pulls the plug in a test: syncing would only take time. */
static int
fsync_or_not(int file)
{
    (void)file;
    return refuse();
}

static int
ftruncate_or_not(int file, off_t length)
{
    return refuse() ? -1 : real_ftruncate(file, length);
}

/* SQLite lets its system calls be replaced one by one; once it has started. */
static void
replace_calls(void)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);

    real_write = write;
    real_pwrite = pwrite;
    real_ftruncate = ftruncate;
    assert_int_equal(vfs->xSetSystemCall(vfs, "write", (sqlite3_syscall_ptr)write_or_not),
                     SQLITE_OK);
    vfs->xSetSystemCall(vfs, "pwrite", (sqlite3_syscall_ptr)pwrite_or_not);
    vfs->xSetSystemCall(vfs, "pwrite64", (sqlite3_syscall_ptr)pwrite_or_not);
    vfs->xSetSystemCall(vfs, "fsync", (sqlite3_syscall_ptr)fsync_or_not);
    vfs->xSetSystemCall(vfs, "ftruncate", (sqlite3_syscall_ptr)ftruncate_or_not);
}

static void
remove_archive(void)
{
    unlink("archive.db");
    unlink("archive.db-wal");
    unlink("archive.db-shm");
    unlink("archive.db-runs");
}

static void
any_write_may_fail(void **state)
{
    struct unit *unit = *state;
    unsigned failures = 0;

    for (unsigned long n = 1; n <= 300; n += n < 60 ? 1 : 7) {
        struct progress progress = {0};
        struct store *store;
        struct store_run *runs;
        size_t count;
        enum status status;

        remove_archive();
        fault_arm(FAULT_WRITE, n);
        status = store_open("archive.db", &store_unit_options, &store, unit->diags);
        if (status == STATUS_OK)
            status = add_some(store, 3, 9000, &progress, unit->diags);
        fault_arm(FAULT_WRITE, 0);
        assert_true(status == STATUS_OK || status == STATUS_MACHINE);
        failures += status != STATUS_OK;
        if (store) { /* it goes on where it stood */
            store_unit_must(unit, store_runs(store, unit->arena, 0, &runs, &count, unit->diags));
            assert_int_equal(count, progress.runs);
            store_unit_must(unit, add_some(store, 1, 10, &progress, unit->diags));
            store_close(store);
        } else {
            store_close(store_unit_open(unit));
        }
        has_exactly(unit, &progress);
    }
    assert_true(failures > 50);
}

/* ---- the n-th piece of memory ---- */

static sqlite3_mem_methods real_memory;
static bool spare_sqlite;

static void *
malloc_or_not(int bytes)
{
    return !spare_sqlite && fault_hit(FAULT_ALLOC) ? NULL : real_memory.xMalloc(bytes);
}

static void *
realloc_or_not(void *old, int bytes)
{
    return !spare_sqlite && fault_hit(FAULT_ALLOC) ? NULL : real_memory.xRealloc(old, bytes);
}

/* Before SQLite starts. */
static void
replace_memory(void)
{
    sqlite3_mem_methods memory;

    sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real_memory);
    memory = real_memory;
    memory.xMalloc = malloc_or_not;
    memory.xRealloc = realloc_or_not;
    sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0);
    sqlite3_config(SQLITE_CONFIG_MALLOC, &memory);
}

/* All that is read. */
static enum status
read_all(struct unit *unit, struct store *store)
{
    const struct store_question question = {
        .family = "f", .target = "cpu", .machine_key = "2 x", .each = 5};
    const struct store_likeness likeness = {.text = "tile", .features = "f32"};
    struct store_candidate *candidates, candidate;
    struct store_answer *answers;
    struct store_call *calls, call;
    struct store_event *events;
    struct store_note *notes;
    struct store_item *items;
    struct store_hit *hits;
    size_t count;
    enum status status =
        store_candidates(store, unit->arena, 1, STORE_WHOLE, &candidates, &count, unit->diags);

    if (status == STATUS_OK)
        status = store_candidate_find(store, unit->arena, "last.best", &candidate, unit->diags);
    if (status == STATUS_OK)
        status = store_earlier(store, unit->arena, &question, &answers, &count, unit->diags);
    if (status == STATUS_OK)
        status = store_calls(store, unit->arena, 1, STORE_WHOLE, &calls, &count, unit->diags);
    if (status == STATUS_OK)
        status = store_call_find(store, unit->arena, 1, "aa", 0, &call, unit->diags);
    if (status == STATUS_OK)
        status = store_events(store, unit->arena, 1, 0, 0, &events, &count, unit->diags);
    if (status == STATUS_OK)
        status = store_inbox_take(store, unit->arena, 1, 5, &notes, &count, unit->diags);
    if (status == STATUS_OK)
        status = store_items_similar(store, unit->arena, &likeness, &items, &count, unit->diags);
    if (status == STATUS_OK && count == 0)
        return STATUS_NO;
    if (status == STATUS_OK)
        status = store_search(store, unit->arena, "kernel", 0, &hits, &count, unit->diags);
    return status;
}

/* In a child, since messages that find no memory end the program: 0 all was done, 3 it was told. */
static int
use_with_fault(struct unit *unit, unsigned long n)
{
    struct progress progress = {0};
    struct store *store;
    enum status status;

    freopen("/dev/null", "w", stderr);
    fault_arm(FAULT_ALLOC, n);
    status = store_open("archive.db", &store_unit_options, &store, unit->diags);
    if (status == STATUS_OK)
        status = add_some(store, 2, 9000, &progress, unit->diags);
    if (status == STATUS_OK)
        status = read_all(unit, store);
    if (status == STATUS_NO)
        return 20;
    if (status != STATUS_OK && diags_errors(unit->diags) == 0)
        return 21;
    fault_arm(FAULT_ALLOC, 0);
    if (store && add_some(store, 1, 10, &progress, unit->diags) != STATUS_OK)
        return 22;
    if (store && read_all(unit, store) != STATUS_OK)
        return 23;
    store_close(store);
    return status_exit_code(status);
}

static void
any_memory_may_be_refused(void **state)
{
    struct unit *unit = *state;
    unsigned told = 0;

    store_close(store_unit_open(unit)); /* a new one costs too many allocations to try them all */
    for (unsigned long n = 1; n < 8000; n += n < 100 ? 3 : 97) {
        int status;
        pid_t child;

        if (n % 4 == 0)
            remove_archive();
        child = fork();
        if (child == 0)
            _exit(use_with_fault(unit, n));
        waitpid(child, &status, 0);
        if (!WIFEXITED(status) || (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 3))
            print_message("allocation %lu: %d\n", n, status);
        assert_true(WIFEXITED(status));
        assert_true(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 3);
        told += WEXITSTATUS(status) == 3;
        if (access("archive.db", F_OK) == 0)
            assert_string_equal(store_unit_ask(unit, "archive.db", "PRAGMA integrity_check"), "ok");
    }
    assert_true(told > 20);
}

/* An arena that jumps away in the middle of reading leaves a store that goes on. */
static void
a_jump_out_of_reading_does_no_harm(void **state)
{
    struct unit *unit = *state;
    struct store *store = store_unit_open(unit), *other = store_unit_open(unit);
    struct progress progress = {0};
    volatile unsigned jumps = 0;

    spare_sqlite = true;
    store_unit_must(unit, add_some(store, 3, 100, &progress, unit->diags));
    for (volatile unsigned long n = 1; n < 60; n++) {
        struct arena *arena = arena_create();
        struct store_candidate *candidates;
        struct store_run run;
        jmp_buf no_memory;
        size_t count;

        if (setjmp(no_memory) == 0) {
            arena_on_no_memory(arena, &no_memory);
            fault_arm(FAULT_ALLOC, n);
            store_candidates(store, arena, 1, STORE_WHOLE, &candidates, &count, unit->diags);
        } else {
            jumps++;
        }
        fault_arm(FAULT_ALLOC, 0);
        arena_destroy(arena);
        /* Nothing is locked for others, */
        store_unit_must(unit, add_some(other, 0, 10, &progress, unit->diags));
        /* and what they wrote is seen. */
        store_unit_must(unit, store_run_find(store, unit->arena, "last", &run, unit->diags));
        assert_int_equal(run.id, progress.runs);
    }
    spare_sqlite = false;
    assert_true(jumps > 30);
    store_close(store);
    store_close(other);
}

#endif

int
main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(a_full_disk_is_told),
        SCRATCH_TEST(a_small_disk_is_told),
#ifdef HONE_FAULTS
        SCRATCH_TEST(any_write_may_fail),
        SCRATCH_TEST(any_memory_may_be_refused),
        SCRATCH_TEST(a_jump_out_of_reading_does_no_harm),
#endif
    };

#ifdef HONE_FAULTS
    replace_memory();
    replace_calls();
#endif
    return cmocka_run_group_tests(tests, NULL, NULL);
}
