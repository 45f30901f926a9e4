/* Whose file it is, and bringing an older one up to date. user_version is the number of steps that
 * were taken; application_id says that the file is ours. */
#include "store/sql_int.h"

/* ---- whose file is it ---- */

static enum status
too_new(struct store *store, int64_t version, size_t count, struct diags *diags)
{
    const char *path = store->path;
    char program[64] = "a newer hone";
    struct sql sql;

    store->error = SQLITE_OK;
    sql = sql_prepare(store, "SELECT program FROM migration ORDER BY version DESC LIMIT 1");
    if (sql_row(&sql) && sqlite3_column_text(sql.kept->statement, 0))
        sqlite3_snprintf(sizeof program, program, "%s",
                         sqlite3_column_text(sql.kept->statement, 0));
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
