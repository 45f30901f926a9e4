/* SQL statements with values in and out, in order.
 *
 * After an error every function does nothing and gives 0, "" or false; the error waits in the store
 * until store__leave() makes a message of it. So a call reads as if nothing could fail.
 *
 *     store__enter(store, SQL_READS);
 *     struct sql sql = sql_prepare(store, "SELECT name FROM run WHERE id = ?");
 *     sql_int(&sql, 3);
 *     if (sql_row(&sql))
 *         name = sql_get_text(&sql, arena);
 *     sql_end(&sql);
 *     return store__leave(store, diags);
 *
 * The arena may jump away in the middle: whatever is then left open is closed by the next
 * store__enter() or by store_close(). */
#ifndef HONE_STORE_SQL_INT_H
#define HONE_STORE_SQL_INT_H

#include "store/store_int.h"

struct sql {
    struct store *store;
    sqlite3_stmt *statement; /* NULL after an error */
    int bound, got;          /* parameters and columns dealt with */
};

#define SQL_READS "BEGIN"
#define SQL_WRITES "BEGIN IMMEDIATE" /* a later start of writing could not wait for others */

void
store__enter(struct store *store, const char *begin);
/* Ends the transaction: all of it if nothing failed, else none. */
enum status
store__leave(struct store *store, struct diags *diags);
/* Nothing of it, whatever happened. */
void
store__abandon(struct store *store);

struct sql
sql_prepare(struct store *store, const char *text);

void
sql_int(struct sql *sql, int64_t value);
void
sql_real(struct sql *sql, double value); /* NAN: NULL */
void
sql_text(struct sql *sql, const char *text); /* must live until the statement ends */
void
sql_bytes(struct sql *sql, const char *bytes, size_t count); /* as a text */

/* The next row; false: there is none. */
bool
sql_row(struct sql *sql);
/* The same statement with new values. */
void
sql_again(struct sql *sql);
void
sql_end(struct sql *sql);
/* For statements without rows: executes and ends it. */
void
sql_run(struct sql *sql);

int64_t
sql_get_int(struct sql *sql);
double
sql_get_real(struct sql *sql); /* NULL: NAN */
char *
sql_get_text(struct sql *sql, struct arena *arena);
char *
sql_get_bytes(struct sql *sql, struct arena *arena, size_t *count);
void
sql_get_name(struct sql *sql, char name[STORE_NAME]);

/* A statement without values. */
void
sql_execute(struct store *store, const char *text);
/* The first column of its first row; 0: there is none. */
int64_t
sql_number(struct store *store, const char *text);

#endif
