/* What the world answered, in order. */
#include "store/sql_int.h"

void
store__add_event(struct store *store, struct store_event *event)
{
    struct sql sql;

    event->seq = sql_number_of(store, "SELECT coalesce(max(seq), -1) + 1 FROM event WHERE run = ?",
                               event->run);
    sql = sql_prepare(store, "INSERT INTO event (run, seq, kind, key, answer, seconds)"
                             " VALUES (?, ?, ?, ?, ?, ?)");
    sql_int(&sql, event->run);
    sql_int(&sql, event->seq);
    sql_text(&sql, event->kind);
    sql_text(&sql, event->key);
    sql_kept(&sql, event->answer);
    sql_real(&sql, event->seconds);
    sql_run(&sql);
}

enum status
store_event_add(struct store *store, struct store_event *event, struct diags *diags)
{
    store__enter(store, SQL_JOTS);
    store__add_event(store, event);
    return store__leave(store, diags);
}

static void
read_event(struct sql *sql, struct arena *arena, struct store_event *event)
{
    event->run = sql_get_int(sql);
    event->seq = sql_get_int(sql);
    event->kind = sql_get_text(sql, arena);
    event->key = sql_get_text(sql, arena);
    event->answer = sql_get_kept(sql, arena);
    event->seconds = sql_get_real(sql);
}

enum status
store_events(struct store *store, struct arena *arena, int64_t run, int64_t seq, size_t most,
             struct store_event **events, size_t *count, struct diags *diags)
{
    struct sql sql;

    *events = NULL;
    *count = 0;
    store__enter(store, SQL_READS);
    sql = sql_prepare(store, "SELECT run, seq, kind, key, answer, seconds FROM event"
                             " WHERE run = ? AND seq >= ? ORDER BY seq LIMIT ?");
    sql_int(&sql, run);
    sql_int(&sql, seq);
    sql_int(&sql, most ? (int64_t)most : -1);
    while (sql_row(&sql)) {
        *events = store__room_for(arena, *events, *count, sizeof **events);
        read_event(&sql, arena, &(*events)[(*count)++]);
    }
    sql_end(&sql);
    return store__leave(store, diags);
}
