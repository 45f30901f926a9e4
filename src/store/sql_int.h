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
 * Statements are compiled once and kept with the store. The arena may jump away in the middle:
 * whatever is then left open is closed by the next store__enter() or by store_close(). */
#ifndef HONE_STORE_SQL_INT_H
#define HONE_STORE_SQL_INT_H

#include "store/store_int.h"

/* ---- transactions ---- */

enum sql_access {
    SQL_READS,
    SQL_WRITES, /* on the disk when it ends */
    SQL_JOTS,   /* with the system when it ends, on the disk with the next one that writes */
};

void
store__enter(struct store *store, enum sql_access access);
/* Ends the transaction: all of it if nothing failed, else none. */
enum status
store__leave(struct store *store, struct diags *diags);
/* The same, where an answer of none is STATUS_NO. */
enum status
store__leave_found(struct store *store, bool found, struct diags *diags);
/* Nothing of it, whatever happened. */
void
store__abandon(struct store *store);
/* Of store_close(). */
void
store__forget_statements(struct store *store);

/* ---- statements ---- */

struct sql {
    struct store *store;
    struct store_statement *kept; /* NULL after an error */
    int bound, got;               /* parameters and columns dealt with */
};

/* The text is a constant of the program: it is known again by its address. */
struct sql
sql_prepare(struct store *store, const char *text);

void
sql_int(struct sql *sql, int64_t value);
void
sql_reference(struct sql *sql, int64_t id); /* 0: NULL */
void
sql_real(struct sql *sql, double value); /* NAN: NULL */
void
sql_text(struct sql *sql, const char *text); /* must live until the statement ends */
void
sql_bytes(struct sql *sql, const char *bytes, size_t count); /* as a text */
void
sql_blob(struct sql *sql, const void *bytes, size_t count);
/* For a column of kept texts (text.c). Before the first row of the statement. */
void
sql_kept(struct sql *sql, const char *text);
void
sql_kept_bytes(struct sql *sql, const char *bytes, size_t count);

/* The next row; false: there is none. */
bool
sql_row(struct sql *sql);
/* For the next use of the statement, with values of its own. */
void
sql_again(struct sql *sql);
void
sql_end(struct sql *sql);
/* For statements without rows: executes and ends it. */
void
sql_run(struct sql *sql);

/* ---- columns ---- */

int64_t
sql_get_int(struct sql *sql);
double
sql_get_real(struct sql *sql); /* NULL: NAN */
char *
sql_get_text(struct sql *sql, struct arena *arena);
char *
sql_get_bytes(struct sql *sql, struct arena *arena, size_t *count);
/* Without a copy: only until the next row. */
const void *
sql_peek_bytes(struct sql *sql, size_t *count);
char *
sql_get_kept(struct sql *sql, struct arena *arena);
char *
sql_get_kept_bytes(struct sql *sql, struct arena *arena, size_t *count);
void
sql_get_name(struct sql *sql, char name[STORE_NAME]);
/* The place of a word of an enumeration's table; the schema lets no other word in. */
unsigned
sql_get_word(struct sql *sql, const char *const *words, unsigned count);

/* Room for one element more in an array that grows by doubling. */
void *
store__room_for(struct arena *arena, void *array, size_t count, size_t size);

/* ---- in one go ---- */

/* A statement without values. */
void
sql_execute(struct store *store, const char *text);
/* The first column of its first row; 0: there is none. */
int64_t
sql_number(struct store *store, const char *text);
/* The same, with one value. */
int64_t
sql_number_of(struct store *store, const char *text, int64_t value);
/* The last statement changed no row. */
bool
store__changed_nothing(const struct store *store);
/* The number of the row that was added last. */
int64_t
sql_last_id(const struct store *store);

#endif
