/* What the tests of the archive share: an open one, and rows to put into it. */
#ifndef HONE_TESTS_STORE_UNIT_H
#define HONE_TESTS_STORE_UNIT_H

#include "scratch.h"

#include "store/store_int.h"

#include <math.h>
#include <signal.h>
#include <sys/wait.h>

static const struct store_options store_unit_options = {.program = "hone 0.1", .now = 1e9};

static inline void
store_unit_must(struct unit *unit, enum status status)
{
    if (status != STATUS_OK)
        print_message("%s\n", unit_message(unit, diags_count(unit->diags) - 1));
    assert_int_equal(status, STATUS_OK);
}

static inline struct store *
store_unit_open(struct unit *unit)
{
    struct store *store;

    store_unit_must(unit, store_open("archive.db", &store_unit_options, &store, unit->diags));
    return store;
}

/* The last message has these words. */
static inline void
store_unit_says(struct unit *unit, const char *words)
{
    const char *message = unit_message(unit, diags_count(unit->diags) - 1);

    if (!strstr(message, words))
        print_message("'%s' is not in '%s'\n", words, message);
    assert_non_null(strstr(message, words));
}

static inline struct store_run
store_unit_run(void)
{
    return (struct store_run){
        .task = {.hash = "4f1c", .family = "f", .name = "softmax", .canonical = "c", .source = "s"},
        .target = "cpu",
        .recipe = "builtin",
        .model = "",
        .cases = "default R=4 N=8",
        .budget = "{\"evals\":40}",
        .machine = "{\"cpu\":\"x\"}",
        .machine_key = "2 x",
        .seed = 0xfedcba9876543210,
        .started = 1000.25,
    };
}

static inline struct store_run
store_unit_begin(struct unit *unit, struct store *store)
{
    struct store_run run = store_unit_run();

    store_unit_must(unit, store_run_begin(store, &run, unit->diags));
    return run;
}

/* A candidate with this schedule, and a kernel that depends on it. */
static inline struct store_candidate
store_unit_candidate(struct unit *unit, struct store *store, int64_t run, const char *schedule)
{
    struct store_candidate candidate = {
        .run = run, .kind = STORE_SCHEDULE, .proposer = "builtin", .schedule = schedule};

    candidate.kernel = arena_printf(unit->arena, "/* %s */ void kernel(void) {}", schedule);
    candidate.kernel_length = strlen(candidate.kernel);
    candidate.added = 1001;
    store_unit_must(unit, store_candidate_add(store, &candidate, unit->diags));
    return candidate;
}

/* A verdict with one case; light is 1 at 10 us. */
static inline int64_t
store_unit_verdict(struct unit *unit, struct store *store, int64_t candidate, const char *status,
                   double us, const char *sizes)
{
    struct store_case row = {.name = "default",
                             .sizes = sizes,
                             .median_us = us,
                             .min_us = us,
                             .low_us = us,
                             .high_us = us,
                             .light = 10 / us};
    struct store_verdict verdict = {
        .status = status, .whole = true, .judged = 1002, .cases = &row, .case_count = 1};

    store_unit_must(unit, store_verdict_add(store, candidate, &verdict, unit->diags));
    return verdict.id;
}

/* The first column of a query's first row. */
static inline const char *
store_unit_ask_of(struct unit *unit, sqlite3 *db, const char *query)
{
    sqlite3_stmt *statement;
    const char *answer = "";

    assert_int_equal(sqlite3_prepare_v2(db, query, -1, &statement, NULL), SQLITE_OK);
    if (sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_text(statement, 0))
        answer = arena_strdup(unit->arena, (const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    return answer;
}

/* The same, by a connection of its own. */
static inline const char *
store_unit_ask(struct unit *unit, const char *path, const char *query)
{
    sqlite3 *db;
    const char *answer;

    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    sqlite3_busy_timeout(db, 10000);
    answer = store_unit_ask_of(unit, db, query);
    sqlite3_close(db);
    return answer;
}

static inline void
store_unit_execute(const char *path, const char *text)
{
    sqlite3 *db;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

#endif
