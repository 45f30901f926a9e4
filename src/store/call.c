/* Calls of models: the prompt before it is sent, the reply before anybody acts on it. No memory is
 * asked of an arena while a transaction that writes is open. */
#include "store/sql_int.h"

/* ---- writing ---- */

static void
add_row(struct store *store, struct store_call *call)
{
    struct sql sql =
        sql_prepare(store, "INSERT INTO call (run, ordinal, phase, role, label, model, provider,"
                           " wire, request_hash, system, prompt, begun)"
                           " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");

    sql_int(&sql, call->run);
    sql_int(&sql, call->ordinal);
    sql_text(&sql, call->phase);
    sql_text(&sql, call->role);
    sql_text(&sql, call->label);
    sql_text(&sql, call->model);
    sql_text(&sql, call->provider);
    sql_text(&sql, call->wire);
    sql_text(&sql, call->request_hash);
    sql_kept(&sql, call->system);
    sql_kept(&sql, call->prompt);
    sql_real(&sql, call->begun);
    sql_run(&sql);
    call->id = sql_last_id(store);
}

enum status
store_call_begin(struct store *store, struct store_call *call, struct diags *diags)
{
    struct sql sql;

    store__enter(store, SQL_JOTS);
    call->ordinal = sql_number_of(
        store, "SELECT coalesce(max(ordinal), -1) + 1 FROM call WHERE run = ?", call->run);
    add_row(store, call);
    sql = sql_prepare(store, "UPDATE run SET calls = calls + 1, seen = max(seen, ?) WHERE id = ?");
    sql_real(&sql, call->begun);
    sql_int(&sql, call->run);
    sql_run(&sql);
    return store__leave(store, diags);
}

static void
bind_tokens(struct sql *sql, const struct store_tokens *tokens)
{
    sql_real(sql, tokens->input);
    sql_real(sql, tokens->cached);
    sql_real(sql, tokens->written);
    sql_real(sql, tokens->output);
    sql_real(sql, tokens->reasoned);
}

static void
set_end(struct store *store, const struct store_call *call)
{
    struct sql sql = sql_prepare(
        store, "UPDATE call SET reply = ?, reasoning = ?, outcome = ?, finish = ?, served = ?,"
               " message = ?, input = ?, cached = ?, written = ?, output = ?, reasoned = ?,"
               " estimated = ?, cost = ?, first_ms = ?, total_ms = ?, ended = ?"
               " WHERE id = ? AND ended IS NULL");

    sql_kept(&sql, call->reply);
    sql_kept(&sql, call->reasoning);
    sql_text(&sql, call->outcome);
    sql_text(&sql, call->finish);
    sql_text(&sql, call->served);
    sql_kept(&sql, call->message);
    bind_tokens(&sql, &call->tokens);
    sql_int(&sql, call->estimated);
    sql_real(&sql, call->cost);
    sql_real(&sql, call->first_ms);
    sql_real(&sql, call->total_ms);
    sql_real(&sql, call->ended);
    sql_int(&sql, call->id);
    sql_run(&sql);
}

static void
count_cost(struct store *store, const struct store_call *call)
{
    struct sql sql = sql_prepare(
        store, "UPDATE run SET input = input + ?, cached = cached + ?, written = written + ?,"
               " output = output + ?, reasoned = reasoned + ?,"
               " cost = coalesce(cost + ?6, ?6, cost), seen = max(seen, ?)"
               " WHERE id = (SELECT run FROM call WHERE id = ?)");

    bind_tokens(&sql, &call->tokens);
    sql_real(&sql, call->cost);
    sql_real(&sql, call->ended);
    sql_int(&sql, call->id);
    sql_run(&sql);
}

bool
store__end_call(struct store *store, const struct store_call *call)
{
    set_end(store, call);
    if (store__changed_nothing(store))
        return false;
    count_cost(store, call);
    return true;
}

enum status
store__no_such_call(struct store *store, const struct store_call *call, struct diags *diags)
{
    store__abandon(store);
    return store__say(STATUS_INPUT, diags, "%s: has no call of id %lld that did not end yet",
                      store->path, (long long)call->id);
}

enum status
store_call_end(struct store *store, const struct store_call *call, struct diags *diags)
{
    store__enter(store, SQL_WRITES);
    if (!store__end_call(store, call))
        return store__no_such_call(store, call, diags);
    return store__leave(store, diags);
}

/* ---- reading ---- */

#define CALL_QUERY                                                                             \
    "SELECT id, run, ordinal, phase, role, label, model, provider, wire, request_hash, begun," \
    " outcome, finish, served, message, input, cached, written, output, reasoned, estimated,"  \
    " cost, first_ms, total_ms, ended, system, prompt, reply, reasoning FROM call "

static void
read_tokens(struct sql *sql, struct store_tokens *tokens)
{
    tokens->input = sql_get_real(sql);
    tokens->cached = sql_get_real(sql);
    tokens->written = sql_get_real(sql);
    tokens->output = sql_get_real(sql);
    tokens->reasoned = sql_get_real(sql);
}

static void
read_texts(struct sql *sql, struct arena *arena, struct store_call *call)
{
    call->system = sql_get_kept(sql, arena);
    call->prompt = sql_get_kept(sql, arena);
    call->reply = sql_get_kept(sql, arena);
    call->reasoning = sql_get_kept(sql, arena);
}

static void
read_call(struct sql *sql, struct arena *arena, enum store_detail detail, struct store_call *call)
{
    *call = (struct store_call){0};
    call->id = sql_get_int(sql);
    call->run = sql_get_int(sql);
    call->ordinal = sql_get_int(sql);
    call->phase = sql_get_text(sql, arena);
    call->role = sql_get_text(sql, arena);
    call->label = sql_get_text(sql, arena);
    call->model = sql_get_text(sql, arena);
    call->provider = sql_get_text(sql, arena);
    call->wire = sql_get_text(sql, arena);
    call->request_hash = sql_get_text(sql, arena);
    call->begun = sql_get_real(sql);
    call->outcome = sql_get_text(sql, arena);
    call->finish = sql_get_text(sql, arena);
    call->served = sql_get_text(sql, arena);
    call->message = sql_get_kept(sql, arena);
    read_tokens(sql, &call->tokens);
    call->estimated = sql_get_int(sql) != 0;
    call->cost = sql_get_real(sql);
    call->first_ms = sql_get_real(sql);
    call->total_ms = sql_get_real(sql);
    call->ended = sql_get_real(sql);
    if (detail == STORE_WHOLE)
        read_texts(sql, arena, call);
}

enum status
store_calls(struct store *store, struct arena *arena, int64_t run, enum store_detail detail,
            struct store_call **calls, size_t *count, struct diags *diags)
{
    struct sql sql;

    *calls = NULL;
    *count = 0;
    store__enter(store, SQL_READS);
    sql = sql_prepare(store, CALL_QUERY "WHERE run = ? ORDER BY ordinal");
    sql_int(&sql, run);
    while (sql_row(&sql)) {
        *calls = store__room_for(arena, *calls, *count, sizeof **calls);
        read_call(&sql, arena, detail, &(*calls)[(*count)++]);
    }
    sql_end(&sql);
    return store__leave(store, diags);
}

/* The one row of a query that has its values. */
static enum status
leave_with_call(struct sql *sql, struct arena *arena, struct store_call *call, struct diags *diags)
{
    struct store *store = sql->store;
    bool found = sql_row(sql);

    if (found)
        read_call(sql, arena, STORE_WHOLE, call);
    sql_end(sql);
    return store__leave_found(store, found, diags);
}

enum status
store_call_get(struct store *store, struct arena *arena, int64_t id, struct store_call *call,
               struct diags *diags)
{
    struct sql sql;

    *call = (struct store_call){0};
    store__enter(store, SQL_READS);
    sql = sql_prepare(store, CALL_QUERY "WHERE id = ?");
    sql_int(&sql, id);
    return leave_with_call(&sql, arena, call, diags);
}

enum status
store_call_find(struct store *store, struct arena *arena, int64_t run, const char *request_hash,
                size_t nth, struct store_call *call, struct diags *diags)
{
    struct sql sql;

    *call = (struct store_call){0};
    store__enter(store, SQL_READS);
    sql = sql_prepare(store, CALL_QUERY "WHERE run = ? AND request_hash = ? AND ended IS NOT NULL"
                                        " ORDER BY ordinal LIMIT 1 OFFSET ?");
    sql_int(&sql, run);
    sql_text(&sql, request_hash);
    sql_int(&sql, (int64_t)nth);
    return leave_with_call(&sql, arena, call, diags);
}
