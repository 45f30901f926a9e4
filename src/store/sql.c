#include "store/sql_int.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* ---- transactions ---- */

/* What a jump out of the middle of an earlier call left open, too. */
void
store__abandon(struct store *store)
{
    for (sqlite3_stmt *open; (open = sqlite3_next_stmt(store->db, NULL));)
        sqlite3_finalize(open);
    if (!sqlite3_get_autocommit(store->db))
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
}

void
store__enter(struct store *store, const char *begin)
{
    store__abandon(store);
    store->error = SQLITE_OK;
    sql_execute(store, begin);
}

enum status
store__leave(struct store *store, struct diags *diags)
{
    if (store->error == SQLITE_OK)
        sql_execute(store, "COMMIT");
    store__abandon(store);
    return store->error == SQLITE_OK ? STATUS_OK : store__failed(store, diags);
}

/* ---- statements ---- */

struct sql
sql_prepare(struct store *store, const char *text)
{
    struct sql sql = {.store = store};

    if (store->error == SQLITE_OK)
        store__note(store, sqlite3_prepare_v2(store->db, text, -1, &sql.statement, NULL));
    return sql;
}

/* Values and rows are passed over after an error. */
static bool
is_open(const struct sql *sql)
{
    return sql->statement && sql->store->error == SQLITE_OK;
}

void
sql_int(struct sql *sql, int64_t value)
{
    if (is_open(sql))
        store__note(sql->store, sqlite3_bind_int64(sql->statement, ++sql->bound, value));
}

void
sql_real(struct sql *sql, double value)
{
    if (is_open(sql))
        store__note(sql->store, sqlite3_bind_double(sql->statement, ++sql->bound, value));
}

void
sql_text(struct sql *sql, const char *text)
{
    sql_bytes(sql, text, text ? strlen(text) : 0);
}

void
sql_bytes(struct sql *sql, const char *bytes, size_t count)
{
    if (is_open(sql))
        store__note(sql->store,
                    sqlite3_bind_text64(sql->statement, ++sql->bound, count ? bytes : "", count,
                                        SQLITE_STATIC, SQLITE_UTF8));
}

bool
sql_row(struct sql *sql)
{
    int code;

    if (!is_open(sql))
        return false;
    sql->got = 0;
    code = sqlite3_step(sql->statement);
    store__note(sql->store, code);
    return code == SQLITE_ROW;
}

void
sql_again(struct sql *sql)
{
    sql->bound = 0;
    if (is_open(sql))
        store__note(sql->store, sqlite3_reset(sql->statement));
}

void
sql_end(struct sql *sql)
{
    sqlite3_finalize(sql->statement); /* its error was noted by the step that made it */
    sql->statement = NULL;
}

void
sql_run(struct sql *sql)
{
    while (sql_row(sql))
        continue;
    sql_end(sql);
}

/* ---- columns ---- */

int64_t
sql_get_int(struct sql *sql)
{
    return is_open(sql) ? sqlite3_column_int64(sql->statement, sql->got++) : 0;
}

double
sql_get_real(struct sql *sql)
{
    int column = sql->got++;

    if (!is_open(sql) || sqlite3_column_type(sql->statement, column) == SQLITE_NULL)
        return __builtin_nan("");
    return sqlite3_column_double(sql->statement, column);
}

char *
sql_get_bytes(struct sql *sql, struct arena *arena, size_t *count)
{
    const void *bytes = NULL;
    char *copy;

    *count = 0;
    if (is_open(sql)) {
        bytes = sqlite3_column_text(sql->statement, sql->got);
        if (!bytes && sqlite3_errcode(sql->store->db) == SQLITE_NOMEM)
            store__note(sql->store, SQLITE_NOMEM);
        if (bytes)
            *count = (size_t)sqlite3_column_bytes(sql->statement, sql->got);
        sql->got++;
    }
    copy = arena_alloc(arena, *count + 1);
    if (*count)
        memcpy(copy, bytes, *count);
    return copy;
}

char *
sql_get_text(struct sql *sql, struct arena *arena)
{
    size_t count;

    return sql_get_bytes(sql, arena, &count);
}

void
sql_get_name(struct sql *sql, char name[STORE_NAME])
{
    const void *text = is_open(sql) ? sqlite3_column_text(sql->statement, sql->got++) : NULL;

    snprintf(name, STORE_NAME, "%s", text ? (const char *)text : "");
}

/* ---- in one go ---- */

void
sql_execute(struct store *store, const char *text)
{
    if (store->error == SQLITE_OK)
        store__note(store, sqlite3_exec(store->db, text, NULL, NULL, NULL));
}

int64_t
sql_number(struct store *store, const char *text)
{
    struct sql sql = sql_prepare(store, text);
    int64_t number = sql_row(&sql) ? sql_get_int(&sql) : 0;

    sql_end(&sql);
    return number;
}
