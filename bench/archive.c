/* archive FILE [CANDIDATES]: fills an archive with so many candidates (a million), in runs of 400,
 * unless it has them already, and prints how long it takes to show a run, to find ten similar cases
 * and to record a verdict, and what else a search does all the time. The rows are made in bulk, by
 * SQL: adding them one by one, each safe on the disk, would take hours. */
#include "base/clock.h"
#include "base/rng.h"
#include "store/store.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EACH = 400, REPEATS = 60 };

static const double aim_ms = 10;

/* ---- filling ---- */

/* :n is the number of candidates. 200 programs in 40 families, each at two sizes; one run in 40 is
 * about a program of the same family. */
static const char *const filling[] = {
    "INSERT INTO task SELECT value, 'hash' || value, 'family' || (value % 40), 'task' || value,"
    " 'canonical', 'source', 'text' || value FROM series WHERE value <= 200",

    "INSERT INTO setting SELECT value * 2 + size, 'family' || (value % 40), 'cpu', 'key',"
    " 'hash' || value, 'N=' || (8 << size) FROM series, (SELECT 0 AS size UNION SELECT 1)"
    " WHERE value <= 200",

    "INSERT INTO run (id, name, task, target, cases, recipe, model, seed, budget, machine,"
    " machine_key, state, started, ended, seen, pid, candidates, verdicts, evaluations, calls, "
    "input,"
    " cached, output, cost) SELECT value, printf('a%05d', value), 1 + value % 200, 'cpu',"
    " 'default N=8; wide N=16', 'hone', 'm', value, '{}', '{}', 'key', 'done', value, value + 600,"
    " value, 1, 400, 400, 400, 10, 79000, 61000, 38000, 0.34 FROM series WHERE value <= :n / 400",

    "INSERT INTO text SELECT value, printf('%064x', value * 7919), 700, randomblob(700) FROM "
    "series",

    "INSERT INTO candidate (id, run, number, kind, proposer, phase, role, why, added, kernel_hash,"
    " kernel_length, schedule, kernel) SELECT value, 1 + (value - 1) / 400, (value - 1) % 400,"
    " iif(value % 5, 'schedule', 'source'), 'builtin', 'draft', 'coder', 'keep tile ' ||"
    " (abs(random()) % 5000) || ' of the ' || (abs(random()) % 500) || ' panel', value,"
    " printf('%064x', value * 7919), 700, 'C: k/' || (abs(random()) % 900) || ' j/' ||"
    " (abs(random()) % 900) || ' pack(B) i/96@p j/2v i/6 acc k i@u j/v@u j@v', value FROM series",

    "INSERT INTO candidate_words (rowid, code, why) SELECT id, schedule, why FROM candidate",

    "INSERT INTO parent SELECT id, 0, id - 1 FROM candidate WHERE number > 0",

    "INSERT INTO verdict SELECT value, value, iif(value % 7, 'correct', 'wrong'), '', 1,"
    " 50 + abs(random()) % 100000 / 1000.0, value, '{}' FROM series",

    "INSERT INTO verdict_case SELECT v.id * 2 + place, v.id, place, iif(place, 'wide', 'default'),"
    " (1 + c.run % 200) * 2 + place, v.time_us * (1 + place), v.time_us, v.time_us, v.time_us,"
    " 40 / v.time_us, 0.2, v.status = 'correct' AND c.kind = 'schedule'"
    " FROM verdict AS v JOIN candidate AS c ON c.id = v.candidate, (SELECT 0 AS place UNION"
    " SELECT 1)",

    "INSERT INTO speedup SELECT id, 0, 'naive', 2.5 FROM verdict_case",

    "UPDATE run SET leader = (SELECT v.candidate FROM candidate AS c JOIN verdict AS v"
    " ON v.candidate = c.id WHERE c.run = run.id AND v.status = 'correct' ORDER BY v.time_us LIMIT "
    "1)",

    "UPDATE run SET (best_us, case_us, light, gain) = (SELECT v.time_us, v.time_us, 40 / v.time_us,"
    " 2.5 FROM verdict AS v WHERE v.candidate = run.leader)",

    "INSERT INTO call (run, ordinal, phase, role, label, model, provider, wire, request_hash, "
    "system,"
    " prompt, begun, reply, input, cached, output, cost, ended) SELECT 1 + value / 10, value % 10,"
    " 'think', 'coder', 'coder', 'm', 'lab', 'openai', printf('%064x', value), value % 100 + 1, "
    "value"
    " + 1, value, value + 1, 7900, 6100, 3800, 0.034, value FROM series WHERE value < :n / 40",

    "INSERT INTO event SELECT 1 + value / 100, value % 100, 'clock', 'k', '17', value FROM series"
    " WHERE value < :n / 4",

    "INSERT INTO item SELECT value, iif(value % 3, 'insights', 'traps'), 'key' || (value % 50),"
    " 'tile ' || (abs(random()) % 3000) || ' of row ' || (abs(random()) % 300) || ' in the loop "
    "over '"
    " || (abs(random()) % 30), value, '', 'family' || (value % 40), 'f32 family' || (value % 40) ||"
    " ' stage' || (value % 7), NULL, value, 0, 0, NULL, NULL, NULL, NULL FROM series"
    " WHERE value <= :n / 10",

    "INSERT INTO item_words (rowid, key, text) SELECT id, key, text FROM item",
    "INSERT INTO item_feature SELECT 'f32', kind, id FROM item",
    "INSERT INTO item_feature SELECT family, kind, id FROM item",
    "INSERT INTO item_feature SELECT 'stage' || (id % 7), kind, id FROM item",
};

static bool
execute(sqlite3 *db, const char *text, long candidates)
{
    sqlite3_stmt *statement;
    int code = sqlite3_prepare_v2(db, text, -1, &statement, NULL);

    if (code == SQLITE_OK) {
        sqlite3_bind_int64(statement, sqlite3_bind_parameter_index(statement, ":n"), candidates);
        code = sqlite3_step(statement);
        sqlite3_finalize(statement);
    }
    if (code == SQLITE_DONE || code == SQLITE_ROW)
        return true;
    fprintf(stderr, "archive: %s\n  in: %s\n", sqlite3_errmsg(db), text);
    return false;
}

static bool
fill(const char *path, long candidates)
{
    sqlite3 *db;
    bool good = sqlite3_open(path, &db) == SQLITE_OK &&
                execute(db, "PRAGMA synchronous = OFF", 0) &&
                execute(db, "PRAGMA cache_size = -200000", 0) &&
                execute(db, "CREATE TEMP TABLE series (value INTEGER PRIMARY KEY)", 0) &&
                execute(db, "BEGIN", 0) &&
                execute(db,
                        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE"
                        " i < :n) INSERT INTO series SELECT i FROM n",
                        candidates);

    for (size_t i = 0; good && i < sizeof filling / sizeof *filling; i++)
        good = execute(db, filling[i], candidates);
    good = good && execute(db, "COMMIT", 0) && execute(db, "PRAGMA wal_checkpoint(TRUNCATE)", 0);
    sqlite3_close(db);
    return good;
}

/* ---- measuring ---- */

struct bench {
    struct store *store;
    struct arena *arena; /* of one repetition */
    struct diags *diags;
    struct rng random;
    long candidates;
    struct store_run own; /* the run that is written to */
    int64_t candidate;    /* of it, not judged yet */
};

static long
any_run(struct bench *bench)
{
    return 1 + (long)rng_below(&bench->random, (uint64_t)(bench->candidates / EACH));
}

static enum status
list_runs(struct bench *bench)
{
    struct store_totals totals;
    struct store_run *runs;
    size_t count;
    enum status status = store_runs(bench->store, bench->arena, 20, &runs, &count, bench->diags);

    return status == STATUS_OK ? store_totals(bench->store, &totals, bench->diags) : status;
}

static enum status
show_run(struct bench *bench)
{
    struct store_candidate *candidates;
    struct store_call *calls;
    struct store_run run;
    size_t count;
    enum status status =
        store_run_find(bench->store, bench->arena,
                       arena_printf(bench->arena, "a%05ld", any_run(bench)), &run, bench->diags);

    if (status == STATUS_OK)
        status = store_candidates(bench->store, bench->arena, run.id, STORE_BRIEF, &candidates,
                                  &count, bench->diags);
    if (status == STATUS_OK)
        status = store_calls(bench->store, bench->arena, run.id, STORE_BRIEF, &calls, &count,
                             bench->diags);
    return status;
}

static enum status
find_schedules(struct bench *bench)
{
    const struct store_question question = {
        .family = arena_printf(bench->arena, "family%ld", any_run(bench) % 40),
        .target = "cpu",
        .machine_key = "key",
        .each = 3,
        .most = 10};
    struct store_answer *answers;
    size_t count;
    enum status status =
        store_earlier(bench->store, bench->arena, &question, &answers, &count, bench->diags);

    return status == STATUS_OK && count == 0 ? STATUS_NO : status;
}

static enum status
find_memories(struct bench *bench)
{
    long number = any_run(bench);
    const struct store_likeness likeness = {
        .text = arena_printf(bench->arena, "the loop over row %ld of tile %ld is in the panel %ld",
                             number % 300, number % 3000, number % 30),
        .features = arena_printf(bench->arena, "f32 family%ld stage%ld", number % 40, number % 7),
        .kinds = "insights traps",
        .most = 10};
    struct store_item *items;
    size_t count;
    enum status status =
        store_items_similar(bench->store, bench->arena, &likeness, &items, &count, bench->diags);

    return status == STATUS_OK && count == 0 ? STATUS_NO : status;
}

static enum status
search_words(struct bench *bench)
{
    struct store_hit *hits;
    size_t count;

    return store_search(bench->store, bench->arena,
                        arena_printf(bench->arena, "tile %ld pack(B)", any_run(bench)), 10, &hits,
                        &count, bench->diags);
}

static enum status
add_candidate(struct bench *bench)
{
    char *kernel = arena_alloc(bench->arena, 6000);
    struct store_candidate candidate = {.run = bench->own.id,
                                        .schedule = "C: k/512 j/512 pack(B) i/96@p",
                                        .why = "keep the tile",
                                        .kernel = kernel,
                                        .kernel_length = 6000};
    enum status status;

    for (size_t i = 0; i < 6000; i++)
        kernel[i] = "for (long i = 0; i < N; i++) x += y[i];\n"[rng_below(&bench->random, 40)];
    status = store_candidate_add(bench->store, &candidate, bench->diags);
    bench->candidate = candidate.id;
    return status;
}

static enum status
add_verdict(struct bench *bench)
{
    const struct store_speedup speedup = {"naive", 2.5};
    struct store_case rows[] = {{"default", "N=8", 60, 60, 60, 60, 0.6, 0.2, &speedup, 1},
                                {"wide", "N=16", 120, 120, 120, 120, 0.3, 0.2, &speedup, 1}};
    struct store_verdict verdict = {
        .status = "correct", .whole = true, .json = "{}", .cases = rows, .case_count = 2};

    return store_verdict_add(bench->store, bench->candidate, &verdict, bench->diags);
}

static enum status
add_event(struct bench *bench)
{
    struct store_event event = {.run = bench->own.id, .kind = "clock", .answer = "17"};

    return store_event_add(bench->store, &event, bench->diags);
}

static int
by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

static double
processor_seconds(void)
{
    struct timespec time;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Middle and worst of its repetitions, each after a candidate was added: nothing stays as it was
 * in a cache. Besides, what the processor needed: on a machine that has other work to do the worst
 * time is that of the others. */
static bool
time_one(struct bench *bench, const char *name, enum status (*work)(struct bench *), double aim)
{
    double ms[REPEATS], processor[REPEATS];

    for (size_t i = 0; i < REPEATS; i++) {
        enum status status = STATUS_OK;
        double start, busy;

        bench->arena = arena_create();
        if (work != add_candidate)
            status = add_candidate(bench);
        start = clock_seconds();
        busy = processor_seconds();
        if (status == STATUS_OK)
            status = work(bench);
        ms[i] = 1000 * (clock_seconds() - start);
        processor[i] = 1000 * (processor_seconds() - busy);
        arena_destroy(bench->arena);
        if (status != STATUS_OK) {
            fprintf(stderr, "archive: %s: nothing was found\n", name);
            diags_print(bench->diags, stderr, false);
            return false;
        }
    }
    qsort(ms, REPEATS, sizeof *ms, by_value);
    qsort(processor, REPEATS, sizeof *processor, by_value);
    printf("  %-20s %7.2f ms   worst of %d %7.2f ms   processor %6.2f, worst %6.2f ms", name,
           ms[REPEATS / 2], REPEATS, ms[REPEATS - 1], processor[REPEATS / 2],
           processor[REPEATS - 1]);
    if (aim > 0)
        printf("   (aim: %.0f ms)", aim);
    printf("\n");
    return true;
}

static bool
time_all(struct bench *bench)
{
    return time_one(bench, "show RUN", show_run, aim_ms) &&
           time_one(bench, "10 similar cases", find_schedules, aim_ms) &&
           time_one(bench, "10 similar memories", find_memories, aim_ms) &&
           time_one(bench, "record a verdict", add_verdict, aim_ms) &&
           time_one(bench, "record a candidate", add_candidate, 0) &&
           time_one(bench, "record an event", add_event, 1) &&
           time_one(bench, "list 20 runs", list_runs, 0) &&
           time_one(bench, "search for words", search_words, 0);
}

int
main(int argc, char **argv)
{
    const struct store_options options = {.access = STORE_WRITE, .program = "bench", .now = 1};
    struct arena *arena = arena_create();
    struct bench bench = {.diags = diags_create(arena, 0),
                          .random = rng_stream(1, "archive"),
                          .candidates = argc > 2 ? atol(argv[2]) : 1000000,
                          .own = {.task = {.hash = "hash1", .family = "family1", .name = "task1"},
                                  .target = "cpu",
                                  .machine_key = "key",
                                  .started = 1}};
    struct store_totals totals;
    double start = clock_seconds();
    bool good;

    if (argc < 2 || bench.candidates < EACH) {
        fprintf(stderr, "archive FILE [CANDIDATES]: at least %d\n", EACH);
        return 2;
    }
    good = store_open(argv[1], &options, &bench.store, bench.diags) == STATUS_OK &&
           store_totals(bench.store, &totals, bench.diags) == STATUS_OK &&
           (totals.candidates >= bench.candidates ||
            (fill(argv[1], bench.candidates) &&
             store_totals(bench.store, &totals, bench.diags) == STATUS_OK));
    if (good)
        printf("  %lld candidates in %lld runs, %lld memories: %.0f MB, made in %.0f s\n",
               (long long)totals.candidates, (long long)totals.runs, (long long)totals.items,
               (double)totals.bytes / 1e6, clock_seconds() - start);
    good = good && store_run_begin(bench.store, &bench.own, bench.diags) == STATUS_OK &&
           time_all(&bench);
    if (!good)
        diags_print(bench.diags, stderr, false);
    store_close(bench.store);
    arena_destroy(arena);
    return good ? 0 : 3;
}
