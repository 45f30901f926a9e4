/* Adding. No memory is asked of an arena while a transaction is open: it may jump away. */
#include "store/sql_int.h"

#include <assert.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

/* ---- runs ---- */

static const char *
or_empty(const char *text)
{
    return text ? text : "";
}

/* A row for each text of a program: two authors may have written the same one in two ways. */
static void
text_hash(const struct store_task *task, char hash[HASH_TEXT])
{
    const char *const texts[] = {task->hash, task->family, task->name, task->canonical,
                                 task->source};
    char parts[sizeof texts / sizeof *texts][HASH_TEXT];

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        hash_sha256(or_empty(texts[i]), strlen(or_empty(texts[i])), parts[i]);
    hash_sha256(parts, sizeof parts, hash);
}

static int64_t
add_task(struct store *store, const struct store_task *task)
{
    char hash[HASH_TEXT];
    int64_t id = 0;
    struct sql sql;

    text_hash(task, hash);
    sql = sql_prepare(store, "INSERT INTO task (hash, family, name, canonical, source, text_hash)"
                             " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (text_hash) DO NOTHING");
    sql_text(&sql, task->hash);
    sql_text(&sql, task->family);
    sql_text(&sql, task->name);
    sql_text(&sql, task->canonical);
    sql_text(&sql, task->source);
    sql_text(&sql, hash);
    sql_run(&sql);
    sql = sql_prepare(store, "SELECT id FROM task WHERE text_hash = ?");
    sql_text(&sql, hash);
    if (sql_row(&sql))
        id = sql_get_int(&sql);
    sql_end(&sql);
    return id;
}

static void
add_run(struct store *store, struct store_run *run, int64_t task)
{
    struct sql sql =
        sql_prepare(store, "INSERT INTO run (name, task, target, cases, recipe, model, seed,"
                           " budget, machine, machine_key, state, started, pid)"
                           " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'running', ?, ?)");

    sql_text(&sql, run->name);
    sql_int(&sql, task);
    sql_text(&sql, run->target);
    sql_text(&sql, run->cases);
    sql_text(&sql, run->recipe);
    sql_text(&sql, run->model);
    sql_int(&sql, (int64_t)run->seed);
    sql_text(&sql, run->budget);
    sql_text(&sql, run->machine);
    sql_text(&sql, run->machine_key);
    sql_real(&sql, run->started);
    sql_int(&sql, getpid());
    sql_run(&sql);
    run->id = sqlite3_last_insert_rowid(store->db);
}

/* So that other readers of the file see it too; store_runs() would say the same. */
static void
stop_the_dead(struct store *store)
{
    struct sql runs = sql_prepare(store, "SELECT id FROM run WHERE state = 'running'");
    struct sql stop = sql_prepare(
        store, "UPDATE run SET state = 'stopped', stopped_by = 'killed', ended = max(started,"
               " coalesce((SELECT max(added) FROM candidate WHERE run = ?1), started),"
               " coalesce((SELECT max(judged) FROM verdict JOIN candidate AS c"
               " ON c.id = verdict.candidate WHERE c.run = ?1), started)) WHERE id = ?1");

    while (sql_row(&runs)) {
        int64_t id = sql_get_int(&runs);

        if (store__has_owner(store, id))
            continue;
        sql_again(&stop);
        sql_int(&stop, id);
        sql_row(&stop);
    }
    sql_end(&stop);
    sql_end(&runs);
}

enum status
store_run_begin(struct store *store, struct store_run *run, struct diags *diags)
{
    bool owned;
    enum status status;

    store__enter(store, SQL_WRITES);
    stop_the_dead(store);
    store__new_name(store, run->name);
    add_run(store, run, add_task(store, &run->task));
    /* Before anybody can see the run: without an owner it would seem dead. */
    owned = store__own(store, run->id);
    if (!owned && store->error == SQLITE_OK)
        store->error = SQLITE_BUSY;
    status = store__leave(store, diags);
    if (status != STATUS_OK && owned)
        store__disown(store, run->id);
    return status;
}

static enum status
no_such_run(const struct store *store, int64_t run, struct diags *diags)
{
    return store__say(STATUS_INPUT, diags, "%s: has no run number %lld", store->path,
                      (long long)run);
}

static enum status
has_other_owner(struct store *store, int64_t run, struct diags *diags)
{
    char name[STORE_NAME] = "";
    int64_t pid = 0;
    struct sql sql = sql_prepare(store, "SELECT name, pid FROM run WHERE id = ?");

    sql_int(&sql, run);
    if (sql_row(&sql)) {
        sql_get_name(&sql, name);
        pid = sql_get_int(&sql);
    }
    store__abandon(store);
    if (store->error != SQLITE_OK)
        return store__failed(store, diags);
    return store__say(STATUS_MACHINE, diags,
                      "run %s is being written by another hone (pid %lld); hone show %s --watch "
                      "follows it",
                      name, (long long)pid, name);
}

enum status
store_run_resume(struct store *store, int64_t run, struct diags *diags)
{
    struct sql sql;
    enum status status;

    store__enter(store, SQL_WRITES);
    if (store__has_owner(store, run) || !store__own(store, run))
        return store->error == SQLITE_OK ? has_other_owner(store, run, diags)
                                         : store__leave(store, diags);
    sql = sql_prepare(store, "UPDATE run SET state = 'running', stopped_by = '', ended = NULL,"
                             " best = NULL, pid = ? WHERE id = ?");
    sql_int(&sql, getpid());
    sql_int(&sql, run);
    sql_run(&sql);
    if (store->error == SQLITE_OK && sqlite3_changes(store->db) == 0) {
        store__abandon(store);
        store__disown(store, run);
        return no_such_run(store, run, diags);
    }
    status = store__leave(store, diags);
    if (status != STATUS_OK)
        store__disown(store, run);
    return status;
}

enum status
store_run_finish(struct store *store, int64_t run, enum store_state state, const char *stopped_by,
                 int64_t best, double ended, struct diags *diags)
{
    struct sql sql;
    enum status status;

    assert(state == STORE_DONE || state == STORE_STOPPED);
    store__enter(store, SQL_WRITES);
    sql = sql_prepare(store, "UPDATE run SET state = ?, stopped_by = ?, ended = ?,"
                             " best = nullif(?, -1) WHERE id = ?");
    sql_text(&sql, store_state_name[state]);
    sql_text(&sql, stopped_by);
    sql_real(&sql, ended);
    sql_int(&sql, best);
    sql_int(&sql, run);
    sql_run(&sql);
    if (store->error == SQLITE_OK && sqlite3_changes(store->db) == 0) {
        store__abandon(store);
        return no_such_run(store, run, diags);
    }
    status = store__leave(store, diags);
    if (status == STATUS_OK)
        store__disown(store, run);
    return status;
}

/* ---- candidates ---- */

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

enum status
store_candidate_add(struct store *store, struct store_candidate *candidate, struct diags *diags)
{
    struct sql sql;

    hash_sha256(or_empty(candidate->kernel), candidate->kernel_length, candidate->kernel_hash);
    store__enter(store, SQL_WRITES);
    sql = sql_prepare(store, "SELECT coalesce(max(number), -1) + 1 FROM candidate WHERE run = ?");
    sql_int(&sql, candidate->run);
    candidate->number = sql_row(&sql) ? sql_get_int(&sql) : 0;
    sql_end(&sql);
    sql = sql_prepare(store, "INSERT INTO candidate (run, number, kind, proposer, phase, role, why,"
                             " added, kernel_hash, schedule, kernel)"
                             " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    sql_int(&sql, candidate->run);
    sql_int(&sql, candidate->number);
    sql_text(&sql, store_kind_name[candidate->kind]);
    sql_text(&sql, candidate->proposer);
    sql_text(&sql, candidate->phase);
    sql_text(&sql, candidate->role);
    sql_text(&sql, candidate->why);
    sql_real(&sql, candidate->added);
    sql_text(&sql, candidate->kernel_hash);
    sql_text(&sql, candidate->schedule);
    sql_bytes(&sql, candidate->kernel, candidate->kernel_length);
    sql_run(&sql);
    candidate->id = sqlite3_last_insert_rowid(store->db);
    add_parents(store, candidate);
    return store__leave(store, diags);
}

/* ---- verdicts ---- */

static double
middle_of(const struct store_verdict *verdict)
{
    double sum = 0;
    size_t count = 0;

    for (size_t i = 0; i < verdict->case_count; i++)
        if (verdict->cases[i].median_us > 0) {
            sum += log(verdict->cases[i].median_us);
            count++;
        }
    return count ? exp(sum / (double)count) : NAN;
}

static void
add_speedups(struct store *store, const struct store_case *row, int64_t id)
{
    struct sql sql =
        sql_prepare(store, "INSERT INTO speedup (verdict_case, place, baseline, factor)"
                           " VALUES (?, ?, ?, ?)");

    for (size_t i = 0; i < row->speedup_count; i++) {
        sql_again(&sql);
        sql_int(&sql, id);
        sql_int(&sql, (int64_t)i);
        sql_text(&sql, row->speedups[i].baseline);
        sql_real(&sql, row->speedups[i].factor);
        sql_row(&sql);
    }
    sql_end(&sql);
}

static void
add_case(struct store *store, int64_t verdict, size_t place, const struct store_case *row)
{
    const double figures[] = {row->median_us, row->min_us, row->low_us,
                              row->high_us,   row->light,  row->error_over_gate};
    struct sql sql =
        sql_prepare(store, "INSERT INTO verdict_case (verdict, place, name, sizes, median_us,"
                           " min_us, low_us, high_us, light, error_over_gate)"
                           " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");

    sql_int(&sql, verdict);
    sql_int(&sql, (int64_t)place);
    sql_text(&sql, row->name);
    sql_text(&sql, row->sizes);
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        sql_real(&sql, figures[i]);
    sql_run(&sql);
    add_speedups(store, row, sqlite3_last_insert_rowid(store->db));
}

enum status
store_verdict_add(struct store *store, int64_t candidate, struct store_verdict *verdict,
                  struct diags *diags)
{
    struct sql sql;

    store__enter(store, SQL_WRITES);
    sql = sql_prepare(store, "INSERT INTO verdict (candidate, status, reason, whole, time_us,"
                             " judged, json) VALUES (?, ?, ?, ?, ?, ?, ?)");
    sql_int(&sql, candidate);
    sql_text(&sql, verdict->status);
    sql_text(&sql, verdict->reason);
    sql_int(&sql, verdict->whole);
    sql_real(&sql, verdict->time_us > 0 ? verdict->time_us : middle_of(verdict));
    sql_real(&sql, verdict->judged);
    sql_text(&sql, verdict->json);
    sql_run(&sql);
    verdict->id = sqlite3_last_insert_rowid(store->db);
    for (size_t i = 0; i < verdict->case_count; i++)
        add_case(store, verdict->id, i, &verdict->cases[i]);
    return store__leave(store, diags);
}
