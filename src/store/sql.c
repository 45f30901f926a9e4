#include "store/sql_int.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* ---- transactions ---- */

/* What a jump out of the middle of an earlier call left open, too. Full-text search has statements
 * of its own on the connection: only ours may be touched. */
void
store__abandon(struct store *store)
{
    for (size_t i = 0; i < store->statement_count; i++)
        if (store->statements[i].busy) {
            sqlite3_reset(store->statements[i].statement);
            sqlite3_clear_bindings(store->statements[i].statement);
            store->statements[i].busy = false;
        }
    if (!sqlite3_get_autocommit(store->db))
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
}

void
store__forget_statements(struct store *store)
{
    for (size_t i = 0; i < store->statement_count; i++)
        sqlite3_finalize(store->statements[i].statement);
    store->statement_count = 0;
}

/* Without a write-ahead log a transaction that is not synced can damage the file. */
static void
choose_durability(struct store *store, enum sql_access access)
{
    bool loose = access == SQL_JOTS && store->has_log;

    if (access == SQL_READS || loose == store->loose)
        return;
    sql_execute(store, loose ? "PRAGMA synchronous = NORMAL" : "PRAGMA synchronous = FULL");
    store->loose = loose;
}

void
store__enter(struct store *store, enum sql_access access)
{
    store__abandon(store);
    store->error = SQLITE_OK;
    choose_durability(store, access);
    /* A later start of writing could not wait for others. */
    sql_execute(store, access == SQL_READS ? "BEGIN" : "BEGIN IMMEDIATE");
}

enum status
store__leave(struct store *store, struct diags *diags)
{
    if (store->error == SQLITE_OK)
        sql_execute(store, "COMMIT");
    store__abandon(store);
    return store->error == SQLITE_OK ? STATUS_OK : store__failed(store, diags);
}

enum status
store__leave_found(struct store *store, bool found, struct diags *diags)
{
    enum status status = store__leave(store, diags);

    return status != STATUS_OK ? status : found ? STATUS_OK : STATUS_NO;
}

/* ---- statements ---- */

static struct store_statement *
idle_one(struct store *store, const char *text)
{
    for (size_t i = 0; i < store->statement_count; i++)
        if (!store->statements[i].busy && (!text || store->statements[i].text == text))
            return &store->statements[i];
    return NULL;
}

/* A place for another statement; that of one that is not in use, if there are too many. */
static struct store_statement *
place_for_one(struct store *store)
{
    struct store_statement *place;

    if (store->statement_count < STORE_STATEMENTS) {
        place = &store->statements[store->statement_count++];
    } else {
        place = idle_one(store, NULL);
        assert(place);
        sqlite3_finalize(place->statement);
    }
    *place = (struct store_statement){0};
    return place;
}

struct sql
sql_prepare(struct store *store, const char *text)
{
    struct sql sql = {.store = store};
    struct store_statement *kept;

    if (store->error != SQLITE_OK)
        return sql;
    kept = idle_one(store, text);
    if (!kept) {
        kept = place_for_one(store);
        store__note(store, sqlite3_prepare_v3(store->db, text, -1, SQLITE_PREPARE_PERSISTENT,
                                              &kept->statement, NULL));
        if (store->error != SQLITE_OK)
            return sql;
        kept->text = text;
    }
    kept->busy = true;
    sql.kept = kept;
    return sql;
}

/* Values and rows are passed over after an error. */
static bool
is_open(const struct sql *sql)
{
    return sql->kept && sql->store->error == SQLITE_OK;
}

void
sql_int(struct sql *sql, int64_t value)
{
    if (is_open(sql))
        store__note(sql->store, sqlite3_bind_int64(sql->kept->statement, ++sql->bound, value));
}

void
sql_reference(struct sql *sql, int64_t id)
{
    if (id != 0)
        sql_int(sql, id);
    else
        sql_real(sql, __builtin_nan(""));
}

void
sql_real(struct sql *sql, double value)
{
    if (is_open(sql))
        store__note(sql->store, sqlite3_bind_double(sql->kept->statement, ++sql->bound, value));
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
                    sqlite3_bind_text64(sql->kept->statement, ++sql->bound, count ? bytes : "",
                                        count, SQLITE_STATIC, SQLITE_UTF8));
}

void
sql_blob(struct sql *sql, const void *bytes, size_t count)
{
    if (is_open(sql))
        store__note(sql->store, sqlite3_bind_blob64(sql->kept->statement, ++sql->bound, bytes,
                                                    count, SQLITE_STATIC));
}

void
sql_kept(struct sql *sql, const char *text)
{
    sql_kept_bytes(sql, text, text ? strlen(text) : 0);
}

void
sql_kept_bytes(struct sql *sql, const char *bytes, size_t count)
{
    if (store__is_short(count))
        sql_bytes(sql, bytes, count);
    else
        sql_int(sql, store__text_add(sql->store, bytes, count));
}

bool
sql_row(struct sql *sql)
{
    int code;

    if (!is_open(sql))
        return false;
    sql->got = 0;
    code = sqlite3_step(sql->kept->statement);
    store__note(sql->store, code);
    return code == SQLITE_ROW;
}

void
sql_again(struct sql *sql)
{
    sql->bound = 0;
    if (is_open(sql))
        store__note(sql->store, sqlite3_reset(sql->kept->statement));
}

/* Values are let go: they point to what may be gone by the next use. */
void
sql_end(struct sql *sql)
{
    if (!sql->kept)
        return;
    sqlite3_reset(sql->kept->statement); /* its error was noted by the step that made it */
    sqlite3_clear_bindings(sql->kept->statement);
    sql->kept->busy = false;
    sql->kept = NULL;
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
    return is_open(sql) ? sqlite3_column_int64(sql->kept->statement, sql->got++) : 0;
}

double
sql_get_real(struct sql *sql)
{
    int column = sql->got++;

    if (!is_open(sql) || sqlite3_column_type(sql->kept->statement, column) == SQLITE_NULL)
        return __builtin_nan("");
    return sqlite3_column_double(sql->kept->statement, column);
}

/* NULL: there is none, or no memory. */
const void *
sql_peek_bytes(struct sql *sql, size_t *count)
{
    const void *bytes = NULL;

    *count = 0;
    if (!is_open(sql))
        return NULL;
    bytes = sqlite3_column_text(sql->kept->statement, sql->got);
    if (!bytes && sqlite3_errcode(sql->store->db) == SQLITE_NOMEM)
        store__note(sql->store, SQLITE_NOMEM);
    if (bytes)
        *count = (size_t)sqlite3_column_bytes(sql->kept->statement, sql->got);
    sql->got++;
    return bytes;
}

char *
sql_get_bytes(struct sql *sql, struct arena *arena, size_t *count)
{
    const void *bytes = sql_peek_bytes(sql, count);
    char *copy = arena_alloc(arena, *count + 1);

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

char *
sql_get_kept_bytes(struct sql *sql, struct arena *arena, size_t *count)
{
    if (is_open(sql) && sqlite3_column_type(sql->kept->statement, sql->got) == SQLITE_INTEGER)
        return store__text_get(sql->store, arena, sql_get_int(sql), count);
    return sql_get_bytes(sql, arena, count);
}

char *
sql_get_kept(struct sql *sql, struct arena *arena)
{
    size_t count;

    return sql_get_kept_bytes(sql, arena, &count);
}

void
sql_get_name(struct sql *sql, char name[STORE_NAME])
{
    size_t count;
    const char *text = sql_peek_bytes(sql, &count);

    snprintf(name, STORE_NAME, "%s", text ? text : "");
}

unsigned
sql_get_word(struct sql *sql, const char *const *words, unsigned count)
{
    size_t length;
    const char *word = sql_peek_bytes(sql, &length);

    for (unsigned i = 0; word && i < count; i++)
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

int64_t
sql_number_of(struct store *store, const char *text, int64_t value)
{
    struct sql sql = sql_prepare(store, text);
    int64_t number;

    sql_int(&sql, value);
    number = sql_row(&sql) ? sql_get_int(&sql) : 0;
    sql_end(&sql);
    return number;
}

int64_t
sql_last_id(const struct store *store)
{
    return sqlite3_last_insert_rowid(store->db);
}

bool
store__changed_nothing(const struct store *store)
{
    return store->error == SQLITE_OK && sqlite3_changes(store->db) == 0;
}
