/* Reading: rows become structs. Each call sees one state of the archive. */
#include "store/sql_int.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

const char *const store_state_name[STORE_STATE_COUNT] = {
#define X(id, name) name,
    STORE_STATES(X)
#undef X
};

const char *const store_kind_name[STORE_KIND_COUNT] = {
#define X(id, name) name,
    STORE_KINDS(X)
#undef X
};

/* The place of a word of an enumeration's table; the schema lets no other word in. */
static unsigned
word_number(const char *word, const char *const *words, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (strcmp(word, words[i]) == 0)
            return i;
    return 0;
}

void *
store__room_for(struct arena *arena, void *array, size_t count, size_t size)
{
    if (count == 0)
        return arena_array(arena, 1, size);
    return (count & (count - 1)) == 0 ? arena_grow(arena, array, count, 2 * count, size) : array;
}

enum status
store_totals(struct store *store, struct store_totals *totals, struct diags *diags)
{
    store__enter(store, SQL_READS);
    totals->runs = sql_number(store, "SELECT count(*) FROM run");
    totals->candidates = sql_number(store, "SELECT count(*) FROM candidate");
    totals->bytes = sql_number(store, "PRAGMA page_count") * sql_number(store, "PRAGMA page_size");
    return store__leave(store, diags);
}

/* ---- runs ---- */

#define RUN_QUERY                                                                                \
    "SELECT r.id, r.name, t.hash, t.family, t.name, t.canonical, t.source, r.target, r.recipe,"  \
    " r.model, r.cases, r.budget, r.machine, r.machine_key, r.seed, r.started, r.state,"         \
    " r.stopped_by, r.ended, r.pid, coalesce(r.best, -1),"                                       \
    " (SELECT count(*) FROM candidate WHERE run = r.id),"                                        \
    " (SELECT count(*) FROM verdict AS v JOIN candidate AS c ON c.id = v.candidate"              \
    "  WHERE c.run = r.id),"                                                                     \
    " max(r.started, coalesce((SELECT max(added) FROM candidate WHERE run = r.id), r.started),"  \
    "  coalesce((SELECT max(judged) FROM verdict AS v JOIN candidate AS c ON c.id = v.candidate" \
    "  WHERE c.run = r.id), r.started))"                                                         \
    " FROM run AS r JOIN task AS t ON t.id = r.task "

static void
read_task(struct sql *sql, struct arena *arena, struct store_task *task)
{
    task->hash = sql_get_text(sql, arena);
    task->family = sql_get_text(sql, arena);
    task->name = sql_get_text(sql, arena);
    task->canonical = sql_get_text(sql, arena);
    task->source = sql_get_text(sql, arena);
}

static void
read_run(struct sql *sql, struct arena *arena, struct store_run *run)
{
    double seen;

    run->id = sql_get_int(sql);
    sql_get_name(sql, run->name);
    read_task(sql, arena, &run->task);
    run->target = sql_get_text(sql, arena);
    run->recipe = sql_get_text(sql, arena);
    run->model = sql_get_text(sql, arena);
    run->cases = sql_get_text(sql, arena);
    run->budget = sql_get_text(sql, arena);
    run->machine = sql_get_text(sql, arena);
    run->machine_key = sql_get_text(sql, arena);
    run->seed = (uint64_t)sql_get_int(sql);
    run->started = sql_get_real(sql);
    run->state = word_number(sql_get_text(sql, arena), store_state_name, STORE_STATE_COUNT);
    run->stopped_by = sql_get_text(sql, arena);
    run->ended = sql_get_real(sql);
    run->pid = sql_get_int(sql);
    run->best = sql_get_int(sql);
    run->candidates = sql_get_int(sql);
    run->verdicts = sql_get_int(sql);
    seen = sql_get_real(sql);
    if (run->state == STORE_RUNNING && !store__has_owner(sql->store, run->id)) {
        run->state = STORE_STOPPED;
        run->stopped_by = "killed";
        run->ended = seen;
    }
}

enum status
store_runs(struct store *store, struct arena *arena, size_t most, struct store_run **runs,
           size_t *count, struct diags *diags)
{
    struct sql sql;

    *runs = NULL;
    *count = 0;
    store__enter(store, SQL_READS);
    sql = sql_prepare(store, RUN_QUERY "ORDER BY r.id DESC LIMIT ?");
    sql_int(&sql, most ? (int64_t)most : -1);
    while (sql_row(&sql)) {
        *runs = store__room_for(arena, *runs, *count, sizeof **runs);
        read_run(&sql, arena, &(*runs)[(*count)++]);
    }
    sql_end(&sql);
    return store__leave(store, diags);
}

enum status
store_run_find(struct store *store, struct arena *arena, const char *name, struct store_run *run,
               struct diags *diags)
{
    const char *why = "";
    int64_t id;
    struct sql sql;

    *run = (struct store_run){0};
    store__enter(store, SQL_READS);
    id = store__run_named(store, arena, name, &why);
    sql = sql_prepare(store, RUN_QUERY "WHERE r.id = ?");
    sql_int(&sql, id);
    if (sql_row(&sql))
        read_run(&sql, arena, run);
    sql_end(&sql);
    if (store->error == SQLITE_OK && id == 0) {
        store__abandon(store);
        return store__say(STATUS_INPUT, diags, "%s", why);
    }
    return store__leave(store, diags);
}

/* ---- candidates ---- */

/* The statements that reading one candidate after another takes. */
struct reader {
    struct store *store;
    struct arena *arena;
    enum store_detail detail;
    struct sql parents, verdicts, cases, speedups;
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
    reader.cases = sql_prepare(store, "SELECT id, name, sizes, median_us, min_us, low_us, high_us,"
                                      " light, error_over_gate FROM verdict_case"
                                      " WHERE verdict = ? ORDER BY place");
    reader.speedups = sql_prepare(store, "SELECT baseline, factor FROM speedup"
                                         " WHERE verdict_case = ? ORDER BY place");
    return reader;
}

static void
reader_close(struct reader *reader)
{
    sql_end(&reader->parents);
    sql_end(&reader->verdicts);
    sql_end(&reader->cases);
    sql_end(&reader->speedups);
}

static void
read_speedups(struct reader *reader, int64_t id, struct store_case *row)
{
    struct sql *sql = &reader->speedups;
    struct store_speedup *speedups = NULL;
    size_t count = 0;

    sql_again(sql);
    sql_int(sql, id);
    while (sql_row(sql)) {
        speedups = store__room_for(reader->arena, speedups, count, sizeof *speedups);
        speedups[count].baseline = sql_get_text(sql, reader->arena);
        speedups[count++].factor = sql_get_real(sql);
    }
    row->speedups = speedups;
    row->speedup_count = count;
}

static void
read_cases(struct reader *reader, struct store_verdict *verdict)
{
    struct sql *sql = &reader->cases;
    struct store_case *cases = NULL;
    size_t count = 0;

    sql_again(sql);
    sql_int(sql, verdict->id);
    while (sql_row(sql)) {
        struct store_case *row;
        int64_t id = sql_get_int(sql);

        cases = store__room_for(reader->arena, cases, count, sizeof *cases);
        row = &cases[count++];
        row->name = sql_get_text(sql, reader->arena);
        row->sizes = sql_get_text(sql, reader->arena);
        row->median_us = sql_get_real(sql);
        row->min_us = sql_get_real(sql);
        row->low_us = sql_get_real(sql);
        row->high_us = sql_get_real(sql);
        row->light = sql_get_real(sql);
        row->error_over_gate = sql_get_real(sql);
        read_speedups(reader, id, row);
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
        verdict->reason = sql_get_text(sql, reader->arena);
        verdict->whole = sql_get_int(sql) != 0;
        verdict->time_us = sql_get_real(sql);
        verdict->judged = sql_get_real(sql);
        if (reader->detail == STORE_WHOLE)
            verdict->json = sql_get_text(sql, reader->arena);
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
    " length(CAST(kernel AS BLOB))"

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
read_candidate(struct reader *reader, struct sql *sql, struct store_candidate *candidate)
{
    struct arena *arena = reader->arena;

    *candidate = (struct store_candidate){0};
    candidate->id = sql_get_int(sql);
    candidate->run = sql_get_int(sql);
    candidate->number = sql_get_int(sql);
    candidate->kind = word_number(sql_get_text(sql, arena), store_kind_name, STORE_KIND_COUNT);
    candidate->proposer = sql_get_text(sql, arena);
    candidate->phase = sql_get_text(sql, arena);
    candidate->role = sql_get_text(sql, arena);
    candidate->why = sql_get_text(sql, arena);
    candidate->added = sql_get_real(sql);
    snprintf(candidate->kernel_hash, HASH_TEXT, "%s", sql_get_text(sql, arena));
    candidate->schedule = sql_get_text(sql, arena);
    candidate->kernel_length = (size_t)sql_get_int(sql);
    if (reader->detail == STORE_WHOLE)
        candidate->kernel = sql_get_bytes(sql, arena, &candidate->kernel_length);
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
candidate_id(struct store *store, int64_t run, int64_t number)
{
    struct sql sql = sql_prepare(store, "SELECT id FROM candidate WHERE run = ? AND number = ?");
    int64_t id;

    sql_int(&sql, run);
    sql_int(&sql, number);
    id = sql_row(&sql) ? sql_get_int(&sql) : 0;
    sql_end(&sql);
    return id;
}

int64_t
store__best_number(struct store *store, int64_t run)
{
    struct sql sql =
        sql_prepare(store, "SELECT c.number FROM run AS r JOIN candidate AS c ON c.run = r.id"
                           " LEFT JOIN last_verdict AS v ON v.candidate = c.id WHERE r.id = ?"
                           " AND CASE WHEN r.best IS NOT NULL THEN c.number = r.best"
                           " ELSE v.status = 'correct' AND v.whole AND v.time_us > 0 END"
                           " ORDER BY v.time_us, c.number LIMIT 1");
    int64_t number;

    sql_int(&sql, run);
    number = sql_row(&sql) ? sql_get_int(&sql) : -1;
    sql_end(&sql);
    return number;
}

enum status
store_best(struct store *store, struct arena *arena, int64_t run, enum store_detail detail,
           struct store_candidate *candidate, struct diags *diags)
{
    bool found;
    enum status status;

    *candidate = (struct store_candidate){0};
    store__enter(store, SQL_READS);
    found = store__read_candidate(
        store, arena, candidate_id(store, run, store__best_number(store, run)), detail, candidate);
    status = store__leave(store, diags);
    return status != STATUS_OK ? status : found ? STATUS_OK : STATUS_NO;
}

/* What stands after the run's name: a number, `last` or `best`. -1: there is no such one. */
static int64_t
number_named(struct store *store, int64_t run, const char *name)
{
    int64_t number;

    if (strcmp(name, "best") == 0)
        return store__best_number(store, run);
    if (strcmp(name, "last") == 0) {
        struct sql sql = sql_prepare(store, "SELECT max(number) FROM candidate WHERE run = ?");

        sql_int(&sql, run);
        number = sql_row(&sql) ? sql_get_int(&sql) : -1;
        sql_end(&sql);
        return number;
    }
    return text_integer(name, &number) ? number : -1;
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
        id = candidate_id(store, run, number_named(store, run, dot ? dot + 1 : "best"));
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
