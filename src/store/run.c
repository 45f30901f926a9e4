/* Runs: beginning, ending, listing, and the figures that are kept with them. No memory is asked of
 * an arena while a transaction that writes is open: it may jump away, and the lock would stay. */
#include "store/sql_int.h"

#include <assert.h>
#include <string.h>
#include <unistd.h>

const char *const store_state_name[STORE_STATE_COUNT] = {
#define X(id, name) name,
    STORE_STATES(X)
#undef X
};

enum status
store__no_such_run(const struct store *store, int64_t run, struct diags *diags)
{
    return store__say(STATUS_INPUT, diags, "%s: has no run number %lld", store->path,
                      (long long)run);
}

enum status
store_totals(struct store *store, struct store_totals *totals, struct diags *diags)
{
    store__enter(store, SQL_READS);
    totals->runs = sql_number(store, "SELECT count(*) FROM run");
    totals->candidates = sql_number(store, "SELECT sum(candidates) FROM run");
    totals->calls = sql_number(store, "SELECT sum(calls) FROM run");
    totals->items = sql_number(store, "SELECT count(*) FROM item");
    totals->bytes = sql_number(store, "PRAGMA page_count") * sql_number(store, "PRAGMA page_size");
    return store__leave(store, diags);
}

/* ---- beginning ---- */

/* A row for each text of a program: two authors may have written the same one in two ways. */
static void
text_hash(const struct store_task *task, char hash[HASH_TEXT])
{
    const char *const texts[] = {task->hash, task->family, task->name, task->canonical,
                                 task->source};
    char parts[sizeof texts / sizeof *texts][HASH_TEXT];

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *text = texts[i] ? texts[i] : "";

        hash_sha256(text, strlen(text), parts[i]);
    }
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
    sql_kept(&sql, task->canonical);
    sql_kept(&sql, task->source);
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
    struct sql sql = sql_prepare(
        store, "INSERT INTO run (name, task, target, cases, recipe, recipe_text, model, options,"
               " seed, budget, machine, machine_key, state, started, seen, pid)"
               " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'running', ?, ?, ?)");

    sql_text(&sql, run->name);
    sql_int(&sql, task);
    sql_text(&sql, run->target);
    sql_text(&sql, run->cases);
    sql_text(&sql, run->recipe);
    sql_kept(&sql, run->recipe_text);
    sql_text(&sql, run->model);
    sql_kept(&sql, run->options);
    sql_int(&sql, (int64_t)run->seed);
    sql_text(&sql, run->budget);
    sql_text(&sql, run->machine);
    sql_text(&sql, run->machine_key);
    sql_real(&sql, run->started);
    sql_real(&sql, run->started);
    sql_int(&sql, getpid());
    sql_run(&sql);
    run->id = sql_last_id(store);
}

/* So that other readers of the file see it too; store_runs() would say the same. */
static void
stop_the_dead(struct store *store)
{
    struct sql runs = sql_prepare(store, "SELECT id FROM run WHERE state = 'running'");
    struct sql stop = sql_prepare(store, "UPDATE run SET state = 'stopped', stopped_by = 'killed',"
                                         " ended = seen WHERE id = ?");

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

/* ---- who leads ---- */

static void
set_leader(struct store *store, int64_t run, int64_t candidate)
{
    struct sql sql = sql_prepare(
        store, "UPDATE run SET leader = ?2, (best_us, case_us, light, gain) ="
               " (SELECT v.time_us, k.median_us, k.light, s.factor FROM last_verdict AS v"
               "  LEFT JOIN verdict_case AS k ON k.id = (SELECT id FROM verdict_case"
               "   WHERE verdict = v.id AND median_us > 0 ORDER BY place LIMIT 1)"
               "  LEFT JOIN speedup AS s ON s.verdict_case = k.id AND s.place = 0"
               "  WHERE v.candidate = ?2) WHERE id = ?1");

    sql_int(&sql, run);
    sql_reference(&sql, candidate);
    sql_run(&sql);
}

/* The one that was named, else the fastest; among all candidates of the run. */
static void
find_leader(struct store *store, int64_t run)
{
    set_leader(store, run,
               sql_number_of(store,
                             "SELECT c.id FROM run AS r JOIN candidate AS c ON c.run = r.id"
                             " LEFT JOIN last_verdict AS v ON v.candidate = c.id WHERE r.id = ?"
                             " AND CASE WHEN r.best IS NOT NULL THEN c.number = r.best"
                             " ELSE v.status = 'correct' AND v.whole AND v.time_us > 0 END"
                             " ORDER BY v.time_us, c.number LIMIT 1",
                             run));
}

/* Only when the leader itself was judged again may any other be the best now. */
void
store__lead(struct store *store, int64_t run, int64_t candidate)
{
    bool leads, wins;
    struct sql sql = sql_prepare(store, "SELECT r.leader IS v.candidate, r.best IS NULL AND v.whole"
                                        " AND v.status = 'correct' AND v.time_us > 0"
                                        " AND (r.best_us IS NULL OR v.time_us < r.best_us)"
                                        " FROM run AS r JOIN last_verdict AS v WHERE r.id = ?"
                                        " AND v.candidate = ?");

    sql_int(&sql, run);
    sql_int(&sql, candidate);
    sql_row(&sql);
    leads = sql_get_int(&sql) != 0;
    wins = sql_get_int(&sql) != 0;
    sql_end(&sql);
    if (wins)
        set_leader(store, run, candidate);
    else if (leads)
        find_leader(store, run);
}

/* ---- changing ---- */

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
    if (store__changed_nothing(store)) {
        store__abandon(store);
        store__disown(store, run);
        return store__no_such_run(store, run, diags);
    }
    find_leader(store, run);
    status = store__leave(store, diags);
    if (status != STATUS_OK)
        store__disown(store, run);
    return status;
}

enum status
store_run_change(struct store *store, int64_t run, const struct store_run_change *change,
                 struct diags *diags)
{
    const struct {
        const char *update, *text;
        void (*bind)(struct sql *sql, const char *text);
    } changes[] = {
        {"UPDATE run SET recipe = ? WHERE id = ?", change->recipe, sql_text},
        {"UPDATE run SET recipe_text = ? WHERE id = ?", change->recipe_text, sql_kept},
        {"UPDATE run SET model = ? WHERE id = ?", change->model, sql_text},
        {"UPDATE run SET options = ? WHERE id = ?", change->options, sql_kept},
        {"UPDATE run SET budget = ? WHERE id = ?", change->budget, sql_text},
    };

    store__enter(store, SQL_WRITES);
    if (sql_number_of(store, "SELECT 1 FROM run WHERE id = ?", run) == 0 &&
        store->error == SQLITE_OK) {
        store__abandon(store);
        return store__no_such_run(store, run, diags);
    }
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct sql sql;

        if (!changes[i].text)
            continue;
        sql = sql_prepare(store, changes[i].update);
        changes[i].bind(&sql, changes[i].text);
        sql_int(&sql, run);
        sql_run(&sql);
    }
    return store__leave(store, diags);
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
    if (store__changed_nothing(store)) {
        store__abandon(store);
        return store__no_such_run(store, run, diags);
    }
    find_leader(store, run);
    status = store__leave(store, diags);
    if (status == STATUS_OK)
        store__disown(store, run);
    return status;
}

/* ---- reading ---- */

#define RUN_QUERY                                                                               \
    "SELECT r.id, r.name, t.hash, t.family, t.name, t.canonical, t.source, r.target, r.recipe," \
    " r.model, r.recipe_text, r.options, r.cases, r.budget, r.machine, r.machine_key, r.seed,"  \
    " r.started, r.state, r.stopped_by, r.ended, r.seen, r.pid, coalesce(r.best, -1),"          \
    " coalesce((SELECT number FROM candidate WHERE id = r.leader), -1), r.best_us, r.case_us,"  \
    " r.light, r.gain, r.candidates, r.verdicts, r.evaluations, r.calls, r.input, r.cached,"    \
    " r.written, r.output, r.reasoned, r.cost, r.hints"                                         \
    " FROM run AS r JOIN task AS t ON t.id = r.task "

static void
read_task(struct sql *sql, struct arena *arena, struct store_task *task)
{
    task->hash = sql_get_text(sql, arena);
    task->family = sql_get_text(sql, arena);
    task->name = sql_get_text(sql, arena);
    task->canonical = sql_get_kept(sql, arena);
    task->source = sql_get_kept(sql, arena);
}

/* What was asked for. */
static void
read_order(struct sql *sql, struct arena *arena, struct store_run *run)
{
    run->target = sql_get_text(sql, arena);
    run->recipe = sql_get_text(sql, arena);
    run->model = sql_get_text(sql, arena);
    run->recipe_text = sql_get_kept(sql, arena);
    run->options = sql_get_kept(sql, arena);
    run->cases = sql_get_text(sql, arena);
    run->budget = sql_get_text(sql, arena);
    run->machine = sql_get_text(sql, arena);
    run->machine_key = sql_get_text(sql, arena);
    run->seed = (uint64_t)sql_get_int(sql);
    run->started = sql_get_real(sql);
}

static void
read_state(struct sql *sql, struct arena *arena, struct store_run *run)
{
    run->state = sql_get_word(sql, store_state_name, STORE_STATE_COUNT);
    run->stopped_by = sql_get_text(sql, arena);
    run->ended = sql_get_real(sql);
    run->seen = sql_get_real(sql);
    run->pid = sql_get_int(sql);
    if (run->state == STORE_RUNNING && !store__has_owner(sql->store, run->id)) {
        run->state = STORE_STOPPED;
        run->stopped_by = "killed";
        run->ended = run->seen;
    }
}

static void
read_figures(struct sql *sql, struct store_run *run)
{
    run->best = sql_get_int(sql);
    run->leader = sql_get_int(sql);
    run->best_us = sql_get_real(sql);
    run->case_us = sql_get_real(sql);
    run->light = sql_get_real(sql);
    run->gain = sql_get_real(sql);
    run->candidates = sql_get_int(sql);
    run->verdicts = sql_get_int(sql);
    run->evaluations = sql_get_int(sql);
    run->calls = sql_get_int(sql);
    run->tokens.input = sql_get_real(sql);
    run->tokens.cached = sql_get_real(sql);
    run->tokens.written = sql_get_real(sql);
    run->tokens.output = sql_get_real(sql);
    run->tokens.reasoned = sql_get_real(sql);
    run->cost = sql_get_real(sql);
    run->hints = sql_get_int(sql);
}

static void
read_run(struct sql *sql, struct arena *arena, struct store_run *run)
{
    run->id = sql_get_int(sql);
    sql_get_name(sql, run->name);
    read_task(sql, arena, &run->task);
    read_order(sql, arena, run);
    read_state(sql, arena, run);
    read_figures(sql, run);
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
