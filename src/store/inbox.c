/* What people say to a run while it works. */
#include "store/sql_int.h"

static void
count_hints(struct store *store, int64_t run)
{
    struct sql sql = sql_prepare(store, "UPDATE run SET hints = (SELECT count(*) FROM inbox"
                                        " WHERE run = ?1 AND taken IS NULL) WHERE id = ?1");

    sql_int(&sql, run);
    sql_run(&sql);
}

enum status
store_inbox_add(struct store *store, struct store_note *note, struct diags *diags)
{
    struct sql sql;

    store__enter(store, SQL_WRITES);
    note->seq = sql_number_of(store, "SELECT coalesce(max(seq), -1) + 1 FROM inbox WHERE run = ?",
                              note->run);
    sql = sql_prepare(store, "INSERT INTO inbox (run, seq, kind, text, file, written)"
                             " VALUES (?, ?, ?, ?, ?, ?)");
    sql_int(&sql, note->run);
    sql_int(&sql, note->seq);
    sql_text(&sql, note->kind);
    sql_kept(&sql, note->text);
    sql_text(&sql, note->file);
    sql_real(&sql, note->written);
    sql_run(&sql);
    count_hints(store, note->run);
    return store__leave(store, diags);
}

static void
read_note(struct sql *sql, struct arena *arena, struct store_note *note)
{
    note->run = sql_get_int(sql);
    note->seq = sql_get_int(sql);
    note->kind = sql_get_text(sql, arena);
    note->text = sql_get_kept(sql, arena);
    note->file = sql_get_text(sql, arena);
    note->written = sql_get_real(sql);
    note->taken = sql_get_real(sql);
}

#define NOTE_QUERY "SELECT run, seq, kind, text, file, written, taken FROM inbox WHERE run = ? "

static enum status
read_notes(struct store *store, struct arena *arena, const char *query, int64_t run,
           struct store_note **notes, size_t *count, struct diags *diags)
{
    struct sql sql;

    *notes = NULL;
    *count = 0;
    store__enter(store, SQL_READS);
    sql = sql_prepare(store, query);
    sql_int(&sql, run);
    while (sql_row(&sql)) {
        *notes = store__room_for(arena, *notes, *count, sizeof **notes);
        read_note(&sql, arena, &(*notes)[(*count)++]);
    }
    sql_end(&sql);
    return store__leave(store, diags);
}

enum status
store_inbox(struct store *store, struct arena *arena, int64_t run, struct store_note **notes,
            size_t *count, struct diags *diags)
{
    return read_notes(store, arena, NOTE_QUERY "ORDER BY seq", run, notes, count, diags);
}

static enum status
mark_taken(struct store *store, int64_t run, int64_t last, double now, struct diags *diags)
{
    struct sql sql;

    store__enter(store, SQL_WRITES);
    sql = sql_prepare(store,
                      "UPDATE inbox SET taken = ? WHERE run = ? AND seq <= ? AND taken IS NULL");
    sql_real(&sql, now);
    sql_int(&sql, run);
    sql_int(&sql, last);
    sql_run(&sql);
    count_hints(store, run);
    return store__leave(store, diags);
}

/* They are read first and marked then: whoever dies in between gets them again. Reading asks for
 * memory, which a transaction that writes must not. */
enum status
store_inbox_take(struct store *store, struct arena *arena, int64_t run, double now,
                 struct store_note **notes, size_t *count, struct diags *diags)
{
    enum status status = read_notes(store, arena, NOTE_QUERY "AND taken IS NULL ORDER BY seq", run,
                                    notes, count, diags);

    if (status != STATUS_OK || *count == 0)
        return status;
    for (size_t i = 0; i < *count; i++)
        (*notes)[i].taken = now;
    return mark_taken(store, run, (*notes)[*count - 1].seq, now, diags);
}
