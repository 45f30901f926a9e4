/* Benchmarks: a plan of tasks, and what came of each. The plan is written when it begins, so that
 * what is still to be done is known however the process ends. No memory is asked of an arena while
 * a transaction that writes is open. */
#include "store/sql_int.h"

#include <assert.h>
#include <unistd.h>

/* ---- beginning ---- */

static void
add_bench(struct store *store, struct store_bench *bench)
{
    struct sql sql =
        sql_prepare(store, "INSERT INTO bench (name, title, against, recipes, model, options,"
                           " machine, machine_key, state, started, seen, pid)"
                           " VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'running', ?, ?, ?)");

    sql_text(&sql, bench->name);
    sql_text(&sql, bench->title);
    sql_text(&sql, bench->against);
    sql_text(&sql, bench->recipes);
    sql_text(&sql, bench->model);
    sql_kept(&sql, bench->options);
    sql_text(&sql, bench->machine);
    sql_text(&sql, bench->machine_key);
    sql_real(&sql, bench->started);
    sql_real(&sql, bench->started);
    sql_int(&sql, getpid());
    sql_run(&sql);
    bench->id = sql_last_id(store);
}

static void
add_plan(struct store *store, int64_t bench, struct store_bench_task *tasks, size_t count)
{
    struct sql sql = sql_prepare(store, "INSERT INTO bench_task (bench, place, suite, number, name,"
                                        " path, marks, recipe) VALUES (?, ?, ?, ?, ?, ?, ?, ?)");

    for (size_t i = 0; i < count; i++) {
        tasks[i].bench = bench;
        tasks[i].place = (int64_t)i;
        sql_again(&sql);
        sql_int(&sql, bench);
        sql_int(&sql, tasks[i].place);
        sql_text(&sql, tasks[i].suite);
        sql_int(&sql, tasks[i].number);
        sql_text(&sql, tasks[i].name);
        sql_text(&sql, tasks[i].path);
        sql_text(&sql, tasks[i].marks);
        sql_text(&sql, tasks[i].recipe);
        sql_row(&sql);
    }
    sql_end(&sql);
}

enum status
store_bench_begin(struct store *store, struct store_bench *bench, struct store_bench_task *tasks,
                  size_t count, struct diags *diags)
{
    bool owned;
    enum status status;

    store__enter(store, SQL_WRITES);
    store__new_name(store, bench->name);
    add_bench(store, bench);
    add_plan(store, bench->id, tasks, count);
    owned = store__own(store, STORE_OWNED_BENCH + bench->id);
    if (!owned && store->error == SQLITE_OK)
        store->error = SQLITE_BUSY;
    status = store__leave(store, diags);
    if (status != STATUS_OK && owned)
        store__disown(store, STORE_OWNED_BENCH + bench->id);
    return status;
}

/* ---- changing ---- */

static enum status
no_such_bench(const struct store *store, int64_t bench, struct diags *diags)
{
    return store__say(STATUS_INPUT, diags, "%s: has no benchmark number %lld", store->path,
                      (long long)bench);
}

enum status
store_bench_resume(struct store *store, int64_t bench, struct diags *diags)
{
    int64_t byte = STORE_OWNED_BENCH + bench;
    struct sql sql;
    enum status status;

    store__enter(store, SQL_WRITES);
    if (store__has_owner(store, byte) || !store__own(store, byte)) {
        int64_t pid = sql_number_of(store, "SELECT pid FROM bench WHERE id = ?", bench);

        if (store->error != SQLITE_OK)
            return store__leave(store, diags);
        store__abandon(store);
        return store__say(STATUS_MACHINE, diags,
                          "this benchmark is being written by another hone (pid %lld); wait for it",
                          (long long)pid);
    }
    sql = sql_prepare(store, "UPDATE bench SET state = 'running', stopped_by = '', ended = NULL,"
                             " pid = ? WHERE id = ?");
    sql_int(&sql, getpid());
    sql_int(&sql, bench);
    sql_run(&sql);
    if (store__changed_nothing(store)) {
        store__abandon(store);
        store__disown(store, byte);
        return no_such_bench(store, bench, diags);
    }
    status = store__leave(store, diags);
    if (status != STATUS_OK)
        store__disown(store, byte);
    return status;
}

enum status
store_bench_finish(struct store *store, int64_t bench, enum store_state state,
                   const char *stopped_by, double ended, struct diags *diags)
{
    struct sql sql;
    enum status status;

    assert(state == STORE_DONE || state == STORE_STOPPED);
    store__enter(store, SQL_WRITES);
    sql = sql_prepare(store, "UPDATE bench SET state = ?, stopped_by = ?, ended = ?, seen = ?3"
                             " WHERE id = ?");
    sql_text(&sql, store_state_name[state]);
    sql_text(&sql, stopped_by);
    sql_real(&sql, ended);
    sql_int(&sql, bench);
    sql_run(&sql);
    if (store__changed_nothing(store)) {
        store__abandon(store);
        return no_such_bench(store, bench, diags);
    }
    status = store__leave(store, diags);
    if (status == STATUS_OK)
        store__disown(store, STORE_OWNED_BENCH + bench);
    return status;
}

/* ---- a task ---- */

static void
end_task(struct store *store, const struct store_bench_task *task)
{
    struct sql sql =
        sql_prepare(store, "UPDATE bench_task SET status = ?, reason = ?, run = ?, time_us = ?,"
                           " low_us = ?, high_us = ?, light = ?, light_us = ?, limited = ?,"
                           " evaluations = ?, seconds = ?, ended = ? WHERE bench = ? AND place = ?"
                           " AND status = ''");

    sql_text(&sql, task->status);
    sql_kept(&sql, task->reason);
    sql_text(&sql, task->run);
    sql_real(&sql, task->time_us);
    sql_real(&sql, task->low_us);
    sql_real(&sql, task->high_us);
    sql_real(&sql, task->light);
    sql_real(&sql, task->light_us);
    sql_text(&sql, task->limited);
    sql_int(&sql, task->evaluations);
    sql_real(&sql, task->seconds);
    sql_real(&sql, task->ended);
    sql_int(&sql, task->bench);
    sql_int(&sql, task->place);
    sql_run(&sql);
}

static void
add_baselines(struct store *store, const struct store_bench_task *task)
{
    struct sql sql =
        sql_prepare(store, "INSERT INTO bench_baseline (bench, place, ordinal, name, build,"
                           " time_us, low_us, high_us, speedup, speedup_low, speedup_high)"
                           " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");

    for (size_t i = 0; i < task->baseline_count; i++) {
        const struct store_baseline *baseline = &task->baselines[i];

        sql_again(&sql);
        sql_int(&sql, task->bench);
        sql_int(&sql, task->place);
        sql_int(&sql, (int64_t)i);
        sql_text(&sql, baseline->name);
        sql_text(&sql, baseline->build);
        sql_real(&sql, baseline->time_us);
        sql_real(&sql, baseline->low_us);
        sql_real(&sql, baseline->high_us);
        sql_real(&sql, baseline->speedup);
        sql_real(&sql, baseline->speedup_low);
        sql_real(&sql, baseline->speedup_high);
        sql_row(&sql);
    }
    sql_end(&sql);
}

enum status
store_bench_task_end(struct store *store, const struct store_bench_task *task, struct diags *diags)
{
    struct sql sql;

    assert(task->status && *task->status);
    store__enter(store, SQL_WRITES);
    end_task(store, task);
    if (store__changed_nothing(store) && store->error == SQLITE_OK) {
        store__abandon(store);
        return store__say(STATUS_INPUT, diags,
                          "%s: benchmark number %lld has no task %lld that is still to be done",
                          store->path, (long long)task->bench, (long long)task->place);
    }
    add_baselines(store, task);
    sql = sql_prepare(store, "UPDATE bench SET seen = ? WHERE id = ?");
    sql_real(&sql, task->ended);
    sql_int(&sql, task->bench);
    sql_run(&sql);
    return store__leave(store, diags);
}

/* ---- reading ---- */

static void
read_bench(struct sql *sql, struct arena *arena, struct store_bench *bench)
{
    bench->id = sql_get_int(sql);
    sql_get_name(sql, bench->name);
    bench->title = sql_get_text(sql, arena);
    bench->against = sql_get_text(sql, arena);
    bench->recipes = sql_get_text(sql, arena);
    bench->model = sql_get_text(sql, arena);
    bench->options = sql_get_kept(sql, arena);
    bench->machine = sql_get_text(sql, arena);
    bench->machine_key = sql_get_text(sql, arena);
    bench->state = sql_get_word(sql, store_state_name, STORE_STATE_COUNT);
    bench->stopped_by = sql_get_text(sql, arena);
    bench->started = sql_get_real(sql);
    bench->seen = sql_get_real(sql);
    bench->ended = sql_get_real(sql);
    bench->pid = sql_get_int(sql);
    bench->tasks = sql_get_int(sql);
    bench->finished = sql_get_int(sql);
    if (bench->state == STORE_RUNNING &&
        !store__has_owner(sql->store, STORE_OWNED_BENCH + bench->id)) {
        bench->state = STORE_STOPPED;
        bench->stopped_by = "killed";
        bench->ended = bench->seen;
    }
}

#define BENCH_COLUMNS                                                                        \
    "SELECT id, name, title, against, recipes, model, options, machine, machine_key, state," \
    " stopped_by, started, seen, ended, pid,"                                                \
    " (SELECT count(*) FROM bench_task WHERE bench = b.id),"                                 \
    " (SELECT count(*) FROM bench_task WHERE bench = b.id AND status <> '') FROM bench AS b"

enum status
store_benches(struct store *store, struct arena *arena, size_t most, struct store_bench **benches,
              size_t *count, struct diags *diags)
{
    struct sql sql;

    *benches = NULL;
    *count = 0;
    store__enter(store, SQL_READS);
    sql = sql_prepare(store, BENCH_COLUMNS " ORDER BY id DESC LIMIT ?");
    sql_int(&sql, most > 0 ? (int64_t)most : -1);
    while (sql_row(&sql)) {
        *benches = store__room_for(arena, *benches, *count, sizeof **benches);
        read_bench(&sql, arena, &(*benches)[(*count)++]);
    }
    sql_end(&sql);
    return store__leave(store, diags);
}

enum status
store_bench_find(struct store *store, struct arena *arena, const char *name,
                 struct store_bench *bench, struct diags *diags)
{
    const char *why = "";
    int64_t id;
    struct sql sql;

    *bench = (struct store_bench){0};
    store__enter(store, SQL_READS);
    id = store__bench_named(store, arena, name, &why);
    sql = sql_prepare(store, BENCH_COLUMNS " WHERE id = ?");
    sql_int(&sql, id);
    if (sql_row(&sql))
        read_bench(&sql, arena, bench);
    sql_end(&sql);
    if (store->error == SQLITE_OK && id == 0) {
        store__abandon(store);
        return store__say(STATUS_INPUT, diags, "%s", why);
    }
    return store__leave(store, diags);
}

static void
read_task(struct sql *sql, struct arena *arena, struct store_bench_task *task)
{
    task->bench = sql_get_int(sql);
    task->place = sql_get_int(sql);
    task->suite = sql_get_text(sql, arena);
    task->number = sql_get_int(sql);
    task->name = sql_get_text(sql, arena);
    task->path = sql_get_text(sql, arena);
    task->marks = sql_get_text(sql, arena);
    task->recipe = sql_get_text(sql, arena);
    task->status = sql_get_text(sql, arena);
    task->reason = sql_get_kept(sql, arena);
    task->run = sql_get_text(sql, arena);
    task->time_us = sql_get_real(sql);
    task->low_us = sql_get_real(sql);
    task->high_us = sql_get_real(sql);
    task->light = sql_get_real(sql);
    task->light_us = sql_get_real(sql);
    task->limited = sql_get_text(sql, arena);
    task->evaluations = sql_get_int(sql);
    task->seconds = sql_get_real(sql);
    task->ended = sql_get_real(sql);
    task->baselines = NULL;
    task->baseline_count = 0;
}

static void
read_baseline(struct sql *sql, struct arena *arena, struct store_baseline *baseline)
{
    baseline->name = sql_get_text(sql, arena);
    baseline->build = sql_get_text(sql, arena);
    baseline->time_us = sql_get_real(sql);
    baseline->low_us = sql_get_real(sql);
    baseline->high_us = sql_get_real(sql);
    baseline->speedup = sql_get_real(sql);
    baseline->speedup_low = sql_get_real(sql);
    baseline->speedup_high = sql_get_real(sql);
}

static void
read_baselines(struct store *store, struct arena *arena, struct store_bench_task *task)
{
    struct store_baseline *list = NULL;
    struct sql sql =
        sql_prepare(store, "SELECT name, build, time_us, low_us, high_us, speedup, speedup_low,"
                           " speedup_high FROM bench_baseline WHERE bench = ? AND place = ?"
                           " ORDER BY ordinal");

    sql_int(&sql, task->bench);
    sql_int(&sql, task->place);
    while (sql_row(&sql)) {
        list = store__room_for(arena, list, task->baseline_count, sizeof *list);
        read_baseline(&sql, arena, &list[task->baseline_count++]);
    }
    sql_end(&sql);
    task->baselines = list;
}

enum status
store_bench_tasks(struct store *store, struct arena *arena, int64_t bench,
                  struct store_bench_task **tasks, size_t *count, struct diags *diags)
{
    struct sql sql;

    *tasks = NULL;
    *count = 0;
    store__enter(store, SQL_READS);
    sql = sql_prepare(store, "SELECT bench, place, suite, number, name, path, marks, recipe,"
                             " status, reason, run, time_us, low_us, high_us, light, light_us,"
                             " limited, evaluations, seconds, ended FROM bench_task"
                             " WHERE bench = ? ORDER BY place");
    sql_int(&sql, bench);
    while (sql_row(&sql)) {
        *tasks = store__room_for(arena, *tasks, *count, sizeof **tasks);
        read_task(&sql, arena, &(*tasks)[(*count)++]);
    }
    sql_end(&sql);
    for (size_t i = 0; i < *count; i++)
        read_baselines(store, arena, &(*tasks)[i]);
    return store__leave(store, diags);
}
