/* Candidates: adding them, and reading them with their parents and verdicts. */
#include "store/sql_int.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

const char *const store_kind_name[STORE_KIND_COUNT] = {
#define X(id, name) name,
    STORE_KINDS(X)
#undef X
};

/* ---- adding ---- */

static void
add_parents(struct store *store, const struct store_candidate *candidate)
{
    struct sql sql =
        sql_prepare(store, "INSERT INTO parent (candidate, place, parent) VALUES (?, ?, ?)");

    for (size_t i = 0; i < candidate->parent_count; i++) {
        sql_again(&sql);
        sql_int(&sql, candidate->id);
        sql_int(&sql, (int64_t)i);
        sql_int(&sql, candidate->parents[i].candidate);
        sql_row(&sql);
    }
    sql_end(&sql);
}

/* 0 stands for not said. */
static void
bind_gain(struct sql *sql, double gain)
{
    sql_real(sql, gain > 0 ? gain : __builtin_nan(""));
}

static void
add_row(struct store *store, struct store_candidate *candidate)
{
    struct sql sql = sql_prepare(
        store, "INSERT INTO candidate (run, number, kind, proposer, phase, role, why, added,"
               " kernel_hash, kernel_length, schedule, kernel, expected_low, expected_high, call,"
               " lane, round, accepted)"
               " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");

    sql_int(&sql, candidate->run);
    sql_int(&sql, candidate->number);
    sql_text(&sql, store_kind_name[candidate->kind]);
    sql_text(&sql, candidate->proposer);
    sql_text(&sql, candidate->phase);
    sql_text(&sql, candidate->role);
    sql_kept(&sql, candidate->why);
    sql_real(&sql, candidate->added);
    sql_text(&sql, candidate->kernel_hash);
    sql_int(&sql, (int64_t)candidate->kernel_length);
    sql_kept(&sql, candidate->schedule);
    sql_kept_bytes(&sql, candidate->kernel, candidate->kernel_length);
    bind_gain(&sql, candidate->expected_low);
    bind_gain(&sql, candidate->expected_high);
    sql_reference(&sql, candidate->call);
    sql_int(&sql, candidate->lane);
    sql_int(&sql, candidate->round);
    sql_text(&sql, candidate->accepted);
    sql_run(&sql);
    candidate->id = sql_last_id(store);
}

/* What store_search() finds: source, or a schedule instead of the code that follows from it. */
static void
add_words(struct store *store, const struct store_candidate *candidate)
{
    const char *schedule = candidate->schedule ? candidate->schedule : "";
    bool source = candidate->kind == STORE_SOURCE;

    store__add_words(store, &store__candidate_words, candidate->id,
                     source ? candidate->kernel : schedule,
                     source ? candidate->kernel_length : strlen(schedule), candidate->why);
}

static void
count_candidate(struct store *store, const struct store_candidate *candidate)
{
    struct sql sql = sql_prepare(store, "UPDATE run SET candidates = candidates + 1,"
                                        " seen = max(seen, ?) WHERE id = ?");

    sql_real(&sql, candidate->added);
    sql_int(&sql, candidate->run);
    sql_run(&sql);
}

/* No memory is asked of an arena: it may jump away, and the lock would stay. */
enum status
store_candidate_add(struct store *store, struct store_candidate *candidate, struct diags *diags)
{
    hash_sha256(candidate->kernel ? candidate->kernel : "", candidate->kernel_length,
                candidate->kernel_hash);
    store__enter(store, SQL_JOTS);
    candidate->number = sql_number_of(
        store, "SELECT coalesce(max(number), -1) + 1 FROM candidate WHERE run = ?", candidate->run);
    add_row(store, candidate);
    add_parents(store, candidate);
    add_words(store, candidate);
    count_candidate(store, candidate);
    return store__leave(store, diags);
}

enum status
store_candidate_decide(struct store *store, int64_t candidate, const char *decision,
                       struct diags *diags)
{
    struct sql sql;

    store__enter(store, SQL_JOTS);
    sql = sql_prepare(store, "UPDATE candidate SET accepted = ? WHERE id = ?");
    sql_text(&sql, decision);
    sql_int(&sql, candidate);
    sql_run(&sql);
    if (store__changed_nothing(store)) {
        store__abandon(store);
        return store__say(STATUS_INPUT, diags, "%s: has no candidate of id %lld", store->path,
                          (long long)candidate);
    }
    return store__leave(store, diags);
}

/* ---- reading ---- */

/* The statements that reading one candidate after another takes. */
struct reader {
    struct store *store;
    struct arena *arena;
    enum store_detail detail;
    struct sql parents, verdicts, cases;
};

static struct reader
reader_open(struct store *store, struct arena *arena, enum store_detail detail)
{
    struct reader reader = {.store = store, .arena = arena, .detail = detail};

    reader.parents = sql_prepare(store, "SELECT p.parent, r.name, c.number FROM parent AS p"
                                        " JOIN candidate AS c ON c.id = p.parent"
                                        " JOIN run AS r ON r.id = c.run"
                                        " WHERE p.candidate = ? ORDER BY p.place");
    reader.verdicts = sql_prepare(store, detail == STORE_BRIEF
                                             ? "SELECT id, status, reason, whole, time_us, judged"
                                               " FROM verdict WHERE candidate = ? ORDER BY id"
                                             : "SELECT id, status, reason, whole, time_us, judged,"
                                               " json FROM verdict WHERE candidate = ?"
                                               " ORDER BY id");
    /* A row for each baseline of a case: a statement of its own for those took a fifth of the time
     * of a run. */
    reader.cases = sql_prepare(
        store,
        "SELECT k.id, x.place IS NOT NULL, x.baseline, x.factor, k.name, s.sizes, k.median_us,"
        " k.min_us, k.low_us, k.high_us, k.light, k.error_over_gate"
        " FROM verdict_case AS k JOIN setting AS s ON s.id = k.setting"
        " LEFT JOIN speedup AS x ON x.verdict_case = k.id"
        " WHERE k.verdict = ? ORDER BY k.place, x.place");
    return reader;
}

static void
reader_close(struct reader *reader)
{
    sql_end(&reader->parents);
    sql_end(&reader->verdicts);
    sql_end(&reader->cases);
}

/* Of the row that the statement stands at: three columns. */
static void
add_speedup(struct reader *reader, struct store_case *row)
{
    struct sql *sql = &reader->cases;
    struct store_speedup *speedups = (struct store_speedup *)row->speedups; /* its own until now */
    bool has_one = sql_get_int(sql) != 0;
    const char *baseline = sql_get_text(sql, reader->arena);
    double factor = sql_get_real(sql);

    if (!has_one)
        return;
    speedups = store__room_for(reader->arena, speedups, row->speedup_count, sizeof *speedups);
    speedups[row->speedup_count++] = (struct store_speedup){baseline, factor};
    row->speedups = speedups;
}

static void
read_case(struct reader *reader, struct store_case *row)
{
    struct sql *sql = &reader->cases;

    row->name = sql_get_text(sql, reader->arena);
    row->sizes = sql_get_text(sql, reader->arena);
    row->median_us = sql_get_real(sql);
    row->min_us = sql_get_real(sql);
    row->low_us = sql_get_real(sql);
    row->high_us = sql_get_real(sql);
    row->light = sql_get_real(sql);
    row->error_over_gate = sql_get_real(sql);
}

static void
read_cases(struct reader *reader, struct store_verdict *verdict)
{
    struct sql *sql = &reader->cases;
    struct store_case *cases = NULL;
    size_t count = 0;
    int64_t last = 0;

    sql_again(sql);
    sql_int(sql, verdict->id);
    while (sql_row(sql)) {
        int64_t id = sql_get_int(sql);
        bool another = count == 0 || id != last;

        if (another) {
            cases = store__room_for(reader->arena, cases, count, sizeof *cases);
            cases[count++] = (struct store_case){0};
        }
        add_speedup(reader, &cases[count - 1]);
        if (another)
            read_case(reader, &cases[count - 1]);
        last = id;
    }
    verdict->cases = cases;
    verdict->case_count = count;
}

static void
read_verdicts(struct reader *reader, struct store_candidate *candidate)
{
    struct sql *sql = &reader->verdicts;
    struct store_verdict *verdicts = NULL;
    size_t count = 0;

    sql_again(sql);
    sql_int(sql, candidate->id);
    while (sql_row(sql)) {
        struct store_verdict *verdict;

        verdicts = store__room_for(reader->arena, verdicts, count, sizeof *verdicts);
        verdict = &verdicts[count++];
        verdict->id = sql_get_int(sql);
        verdict->status = sql_get_text(sql, reader->arena);
        verdict->reason = sql_get_kept(sql, reader->arena);
        verdict->whole = sql_get_int(sql) != 0;
        verdict->time_us = sql_get_real(sql);
        verdict->judged = sql_get_real(sql);
        if (reader->detail == STORE_WHOLE)
            verdict->json = sql_get_kept(sql, reader->arena);
        read_cases(reader, verdict);
    }
    candidate->verdicts = verdicts;
    candidate->verdict_count = count;
}

static void
read_parents(struct reader *reader, struct store_candidate *candidate)
{
    struct sql *sql = &reader->parents;
    struct store_parent *parents = NULL;
    size_t count = 0;

    sql_again(sql);
    sql_int(sql, candidate->id);
    while (sql_row(sql)) {
        parents = store__room_for(reader->arena, parents, count, sizeof *parents);
        parents[count].candidate = sql_get_int(sql);
        sql_get_name(sql, parents[count].run);
        parents[count++].number = sql_get_int(sql);
    }
    candidate->parents = parents;
    candidate->parent_count = count;
}

#define CANDIDATE_COLUMNS                                                                     \
    "SELECT id, run, number, kind, proposer, phase, role, why, added, kernel_hash, schedule," \
    " expected_low, expected_high, coalesce(call, 0), lane, round, accepted, kernel_length"

static const char *
candidate_query(enum store_detail detail, bool of_run)
{
    static const char *const queries[][2] = {
        [STORE_BRIEF] = {CANDIDATE_COLUMNS " FROM candidate WHERE id = ?",
                         CANDIDATE_COLUMNS " FROM candidate WHERE run = ? ORDER BY number"},
        [STORE_WHOLE] = {CANDIDATE_COLUMNS ", kernel FROM candidate WHERE id = ?",
                         CANDIDATE_COLUMNS ", kernel FROM candidate WHERE run = ? ORDER BY number"},
    };

    return queries[detail][of_run];
}

static void
read_hash(struct sql *sql, char hash[HASH_TEXT], struct arena *arena)
{
    snprintf(hash, HASH_TEXT, "%s", sql_get_text(sql, arena));
}

static void
read_candidate(struct reader *reader, struct sql *sql, struct store_candidate *candidate)
{
    struct arena *arena = reader->arena;

    *candidate = (struct store_candidate){0};
    candidate->id = sql_get_int(sql);
    candidate->run = sql_get_int(sql);
    candidate->number = sql_get_int(sql);
    candidate->kind = sql_get_word(sql, store_kind_name, STORE_KIND_COUNT);
    candidate->proposer = sql_get_text(sql, arena);
    candidate->phase = sql_get_text(sql, arena);
    candidate->role = sql_get_text(sql, arena);
    candidate->why = sql_get_kept(sql, arena);
    candidate->added = sql_get_real(sql);
    read_hash(sql, candidate->kernel_hash, arena);
    candidate->schedule = sql_get_kept(sql, arena);
    candidate->expected_low = sql_get_real(sql);
    candidate->expected_high = sql_get_real(sql);
    candidate->call = sql_get_int(sql);
    candidate->lane = sql_get_int(sql);
    candidate->round = sql_get_int(sql);
    candidate->accepted = sql_get_text(sql, arena);
    candidate->kernel_length = (size_t)sql_get_int(sql);
    if (reader->detail == STORE_WHOLE)
        candidate->kernel = sql_get_kept_bytes(sql, arena, &candidate->kernel_length);
    read_parents(reader, candidate);
    read_verdicts(reader, candidate);
}

enum status
store_candidates(struct store *store, struct arena *arena, int64_t run, enum store_detail detail,
                 struct store_candidate **candidates, size_t *count, struct diags *diags)
{
    struct reader reader;
    struct sql sql;

    *candidates = NULL;
    *count = 0;
    store__enter(store, SQL_READS);
    reader = reader_open(store, arena, detail);
    sql = sql_prepare(store, candidate_query(detail, true));
    sql_int(&sql, run);
    while (sql_row(&sql)) {
        *candidates = store__room_for(arena, *candidates, *count, sizeof **candidates);
        read_candidate(&reader, &sql, &(*candidates)[(*count)++]);
    }
    sql_end(&sql);
    reader_close(&reader);
    return store__leave(store, diags);
}

bool
store__read_candidate(struct store *store, struct arena *arena, int64_t id,
                      enum store_detail detail, struct store_candidate *candidate)
{
    struct reader reader = reader_open(store, arena, detail);
    struct sql sql = sql_prepare(store, candidate_query(detail, false));
    bool found;

    sql_int(&sql, id);
    found = sql_row(&sql);
    if (found)
        read_candidate(&reader, &sql, candidate);
    sql_end(&sql);
    reader_close(&reader);
    return found && store->error == SQLITE_OK;
}

/* ---- one of them ---- */

static int64_t
leader_of(struct store *store, int64_t run)
{
    return sql_number_of(store, "SELECT leader FROM run WHERE id = ?", run);
}

enum status
store_best(struct store *store, struct arena *arena, int64_t run, enum store_detail detail,
           struct store_candidate *candidate, struct diags *diags)
{
    bool found;

    *candidate = (struct store_candidate){0};
    store__enter(store, SQL_READS);
    found = store__read_candidate(store, arena, leader_of(store, run), detail, candidate);
    return store__leave_found(store, found, diags);
}

static int64_t
candidate_of_number(struct store *store, int64_t run, int64_t number)
{
    struct sql sql = sql_prepare(store, "SELECT id FROM candidate WHERE run = ? AND number = ?");
    int64_t id;

    sql_int(&sql, run);
    sql_int(&sql, number);
    id = sql_row(&sql) ? sql_get_int(&sql) : 0;
    sql_end(&sql);
    return id;
}

/* By what stands after the run's name: a number, `last` or `best`. 0: there is no such one. */
static int64_t
candidate_named(struct store *store, int64_t run, const char *name)
{
    int64_t number;

    if (strcmp(name, "best") == 0)
        return leader_of(store, run);
    if (strcmp(name, "last") == 0)
        return sql_number_of(
            store, "SELECT id FROM candidate WHERE run = ? ORDER BY number DESC LIMIT 1", run);
    return text_integer(name, &number) ? candidate_of_number(store, run, number) : 0;
}

enum status
store_candidate_find(struct store *store, struct arena *arena, const char *name,
                     struct store_candidate *candidate, struct diags *diags)
{
    const char *dot = strchr(name, '.');
    const char *run_name = dot ? arena_strndup(arena, name, (size_t)(dot - name)) : name;
    const char *why = "";
    int64_t run, id = 0;

    *candidate = (struct store_candidate){0};
    store__enter(store, SQL_READS);
    run = store__run_named(store, arena, run_name, &why);
    if (run != 0) {
        id = candidate_named(store, run, dot ? dot + 1 : "best");
        why = arena_printf(
            arena, "%s: the run has no %s; hone show %s lists them", name,
            dot && strcmp(dot, ".best") != 0 ? "such candidate" : "correct candidate", run_name);
    }
    store__read_candidate(store, arena, id, STORE_WHOLE, candidate);
    if (store->error == SQLITE_OK && id == 0) {
        store__abandon(store);
        return store__say(STATUS_INPUT, diags, "%s", why);
    }
    return store__leave(store, diags);
}
