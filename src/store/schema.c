/* The tables, as the steps that lead to them. user_version is the number of steps that were taken;
 * application_id says that the file is ours. */
#include "store/sql_int.h"

const char *const store__steps[] = {
    /* 0 -> 1 */
    "CREATE TABLE migration (\n"
    "    version INTEGER PRIMARY KEY,\n"
    "    program TEXT NOT NULL,\n"
    "    made REAL NOT NULL\n"
    ") STRICT;\n"
    "CREATE TABLE task (\n"
    "    id INTEGER PRIMARY KEY,\n"
    "    hash TEXT NOT NULL,\n"
    "    family TEXT NOT NULL,\n"
    "    name TEXT NOT NULL,\n"
    "    canonical TEXT NOT NULL,\n"
    "    source TEXT NOT NULL,\n"
    "    text_hash TEXT NOT NULL UNIQUE\n"
    ") STRICT;\n"
    "CREATE INDEX task_hash ON task (hash);\n"
    "CREATE INDEX task_family ON task (family);\n"
    "CREATE TABLE run (\n"
    "    id INTEGER PRIMARY KEY AUTOINCREMENT,\n"
    "    name TEXT NOT NULL UNIQUE,\n"
    "    task INTEGER NOT NULL REFERENCES task,\n"
    "    target TEXT NOT NULL,\n"
    "    cases TEXT NOT NULL,\n"
    "    recipe TEXT NOT NULL,\n"
    "    model TEXT NOT NULL,\n"
    "    seed INTEGER NOT NULL,\n"
    "    budget TEXT NOT NULL,\n"
    "    machine TEXT NOT NULL,\n"
    "    machine_key TEXT NOT NULL,\n"
    "    state TEXT NOT NULL CHECK (state IN ('running', 'done', 'stopped')),\n"
    "    stopped_by TEXT NOT NULL DEFAULT '',\n"
    "    started REAL NOT NULL,\n"
    "    ended REAL,\n"
    "    pid INTEGER NOT NULL,\n"
    "    best INTEGER\n"
    ") STRICT;\n"
    "CREATE INDEX run_task ON run (task);\n"
    "CREATE INDEX run_running ON run (id) WHERE state = 'running';\n"
    "CREATE TABLE candidate (\n"
    "    id INTEGER PRIMARY KEY,\n"
    "    run INTEGER NOT NULL REFERENCES run,\n"
    "    number INTEGER NOT NULL,\n"
    "    kind TEXT NOT NULL CHECK (kind IN ('schedule', 'source')),\n"
    "    proposer TEXT NOT NULL,\n"
    "    phase TEXT NOT NULL,\n"
    "    role TEXT NOT NULL,\n"
    "    why TEXT NOT NULL,\n"
    "    added REAL NOT NULL,\n"
    "    kernel_hash TEXT NOT NULL,\n"
    "    schedule TEXT NOT NULL,\n"
    "    kernel TEXT NOT NULL,\n"
    "    UNIQUE (run, number)\n"
    ") STRICT;\n"
    "CREATE INDEX candidate_kernel ON candidate (kernel_hash);\n"
    "CREATE TABLE parent (\n"
    "    candidate INTEGER NOT NULL REFERENCES candidate,\n"
    "    place INTEGER NOT NULL,\n"
    "    parent INTEGER NOT NULL REFERENCES candidate,\n"
    "    PRIMARY KEY (candidate, place)\n"
    ") STRICT, WITHOUT ROWID;\n"
    "CREATE INDEX parent_parent ON parent (parent);\n"
    "CREATE TABLE verdict (\n"
    "    id INTEGER PRIMARY KEY,\n"
    "    candidate INTEGER NOT NULL REFERENCES candidate,\n"
    "    status TEXT NOT NULL,\n"
    "    reason TEXT NOT NULL,\n"
    "    whole INTEGER NOT NULL CHECK (whole IN (0, 1)),\n"
    "    time_us REAL,\n"
    "    judged REAL NOT NULL,\n"
    "    json TEXT NOT NULL\n"
    ") STRICT;\n"
    "CREATE INDEX verdict_candidate ON verdict (candidate);\n"
    "CREATE TABLE verdict_case (\n"
    "    id INTEGER PRIMARY KEY,\n"
    "    verdict INTEGER NOT NULL REFERENCES verdict,\n"
    "    place INTEGER NOT NULL,\n"
    "    name TEXT NOT NULL,\n"
    "    sizes TEXT NOT NULL,\n"
    "    median_us REAL,\n"
    "    min_us REAL,\n"
    "    low_us REAL,\n"
    "    high_us REAL,\n"
    "    light REAL,\n"
    "    error_over_gate REAL,\n"
    "    UNIQUE (verdict, place)\n"
    ") STRICT;\n"
    "CREATE TABLE speedup (\n"
    "    verdict_case INTEGER NOT NULL REFERENCES verdict_case,\n"
    "    place INTEGER NOT NULL,\n"
    "    baseline TEXT NOT NULL,\n"
    "    factor REAL,\n"
    "    PRIMARY KEY (verdict_case, place)\n"
    ") STRICT, WITHOUT ROWID;\n"
    /* The verdict that counts: the last one. */
    "CREATE VIEW last_verdict AS\n"
    "    SELECT * FROM verdict AS v\n"
    "    WHERE id = (SELECT max(id) FROM verdict WHERE candidate = v.candidate);\n",
};
const size_t store__step_count = sizeof store__steps / sizeof *store__steps;

/* ---- whose file is it ---- */

static enum status
too_new(struct store *store, int64_t version, size_t count, struct diags *diags)
{
    const char *path = store->path;
    char program[64] = "a newer hone";
    struct sql sql;

    store->error = SQLITE_OK;
    sql = sql_prepare(store, "SELECT program FROM migration ORDER BY version DESC LIMIT 1");
    if (sql_row(&sql) && sqlite3_column_text(sql.statement, 0))
        sqlite3_snprintf(sizeof program, program, "%s", sqlite3_column_text(sql.statement, 0));
    store__abandon(store);
    return store__say(STATUS_MACHINE, diags,
                      "%s was made by %s (schema %lld, this one knows %zu); use --archive FILE, or "
                      "the newer hone",
                      path, program, (long long)version, count);
}

enum status
store__identify(struct store *store, size_t count, struct diags *diags)
{
    int64_t version, application, objects;

    store__enter(store, SQL_READS);
    application = sql_number(store, "PRAGMA application_id");
    version = sql_number(store, "PRAGMA user_version");
    objects = sql_number(store, "SELECT count(*) FROM sqlite_schema");
    if (store->error == SQLITE_OK && application != STORE_APPLICATION &&
        (application != 0 || version != 0 || objects != 0)) {
        store__abandon(store);
        return store__say(STATUS_INPUT, diags,
                          "%s: is a database of another program; name another file with --archive "
                          "FILE",
                          store->path);
    }
    if (store->error == SQLITE_OK && version > (int64_t)count)
        return too_new(store, version, count, diags);
    return store__leave(store, diags);
}

/* ---- steps ---- */

static void
take_step(struct store *store, const char *step, int64_t version, const char *program, double now)
{
    struct sql sql;

    sql_execute(store, step);
    sql = sql_prepare(store, "INSERT INTO migration (version, program, made) VALUES (?, ?, ?)");
    sql_int(&sql, version);
    sql_text(&sql, program);
    sql_real(&sql, now);
    sql_run(&sql);
}

static void
mark_version(struct store *store, size_t count)
{
    char text[100];

    sqlite3_snprintf(sizeof text, text, "PRAGMA application_id = %d; PRAGMA user_version = %lld",
                     STORE_APPLICATION, (long long)count);
    sql_execute(store, text);
}

enum status
store__migrate(struct store *store, const char *const *steps, size_t count, const char *program,
               double now, struct diags *diags)
{
    int64_t version, homeless;

    store->error = SQLITE_OK;
    if (sql_number(store, "PRAGMA user_version") == (int64_t)count)
        return STATUS_OK;
    /* Another process may do the same: only what is seen within the transaction counts. References
     * are not checked while steps are taken, so that one may rebuild a table; they are afterwards.
     */
    store__enter(store, SQL_WRITES);
    version = sql_number(store, "PRAGMA user_version");
    if (store->error == SQLITE_OK && version > (int64_t)count)
        return too_new(store, version, count, diags);
    for (int64_t v = version; v < (int64_t)count; v++)
        take_step(store, steps[v], v + 1, program, now);
    homeless = sql_number(store, "SELECT count(*) FROM pragma_foreign_key_check");
    if (store->error == SQLITE_OK && homeless > 0) {
        store__abandon(store);
        return store__say(STATUS_MACHINE, diags,
                          "%s: cannot be brought from schema %lld to %zu: %lld rows refer to what "
                          "is not there; nothing was changed",
                          store->path, (long long)version, count, (long long)homeless);
    }
    mark_version(store, count);
    return store__leave(store, diags);
}
