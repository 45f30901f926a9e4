/* What earlier runs found that a new one need not find again. */
#include "store/sql_int.h"

/* The fastest few of each program and sizes: a long run at one size must not crowd out the others.
 * A schedule that was tried several times counts once. */
static const char earlier_query[] =
    "WITH hit AS ("
    " SELECT c.schedule, t.hash, t.name AS task, k.name AS case_name, k.sizes,"
    "  k.median_us AS us, k.light, r.name AS run, c.number,"
    "  row_number() OVER (PARTITION BY t.hash, k.sizes, c.schedule ORDER BY k.median_us, c.id)"
    "   AS repetition"
    " FROM task AS t JOIN run AS r ON r.task = t.id JOIN candidate AS c ON c.run = r.id"
    "  JOIN last_verdict AS v ON v.candidate = c.id JOIN verdict_case AS k ON k.verdict = v.id"
    " WHERE t.family = ? AND r.target = ? AND r.machine_key = ? AND c.kind = 'schedule'"
    "  AND v.status = 'correct' AND k.median_us > 0),"
    "ranked AS ("
    " SELECT *, row_number() OVER (PARTITION BY hash, sizes ORDER BY us, run, number) AS place"
    " FROM hit WHERE repetition = 1)"
    "SELECT schedule, hash, task, case_name, sizes, us, light, run, number FROM ranked"
    " WHERE place <= ? ORDER BY light DESC NULLS LAST, us, run, number LIMIT ?";

static void
read_answer(struct sql *sql, struct arena *arena, struct store_answer *answer)
{
    answer->schedule = sql_get_text(sql, arena);
    answer->task_hash = sql_get_text(sql, arena);
    answer->task_name = sql_get_text(sql, arena);
    answer->case_name = sql_get_text(sql, arena);
    answer->sizes = sql_get_text(sql, arena);
    answer->time_us = sql_get_real(sql);
    answer->light = sql_get_real(sql);
    sql_get_name(sql, answer->run);
    answer->number = sql_get_int(sql);
}

enum status
store_earlier(struct store *store, struct arena *arena, const struct store_question *question,
              struct store_answer **answers, size_t *count, struct diags *diags)
{
    struct sql sql;

    *answers = NULL;
    *count = 0;
    store__enter(store, SQL_READS);
    sql = sql_prepare(store, earlier_query);
    sql_text(&sql, question->family);
    sql_text(&sql, question->target);
    sql_text(&sql, question->machine_key);
    sql_int(&sql, question->each ? (int64_t)question->each : 1);
    sql_int(&sql, question->most ? (int64_t)question->most : -1);
    while (sql_row(&sql)) {
        *answers = store__room_for(arena, *answers, *count, sizeof **answers);
        read_answer(&sql, arena, &(*answers)[(*count)++]);
    }
    sql_end(&sql);
    return store__leave(store, diags);
}

/* ---- never twice ---- */

/* A verdict without cases was reached before any case mattered. */
static const char judged_query[] =
    "SELECT v.id, c.id FROM candidate AS c JOIN run AS r ON r.id = c.run"
    " JOIN task AS t ON t.id = r.task JOIN verdict AS v ON v.candidate = c.id"
    " WHERE c.kernel_hash = ? AND t.hash = ? AND r.target = ? AND r.machine_key = ?"
    " AND (EXISTS (SELECT 1 FROM verdict_case WHERE verdict = v.id AND sizes = ?)"
    "  OR NOT EXISTS (SELECT 1 FROM verdict_case WHERE verdict = v.id))"
    " ORDER BY v.id DESC LIMIT 1";

enum status
store_verdict_find(struct store *store, struct arena *arena, const struct store_key *key,
                   struct store_candidate *candidate, struct store_verdict *verdict,
                   struct diags *diags)
{
    int64_t id = 0, owner = 0;
    struct sql sql;
    enum status status;

    *candidate = (struct store_candidate){0};
    *verdict = (struct store_verdict){0};
    store__enter(store, SQL_READS);
    sql = sql_prepare(store, judged_query);
    sql_text(&sql, key->kernel_hash);
    sql_text(&sql, key->task_hash);
    sql_text(&sql, key->target);
    sql_text(&sql, key->machine_key);
    sql_text(&sql, key->sizes);
    if (sql_row(&sql)) {
        id = sql_get_int(&sql);
        owner = sql_get_int(&sql);
    }
    sql_end(&sql);
    store__read_candidate(store, arena, owner, STORE_WHOLE, candidate);
    status = store__leave(store, diags);
    for (size_t i = 0; i < candidate->verdict_count; i++)
        if (candidate->verdicts[i].id == id)
            *verdict = candidate->verdicts[i];
    return status != STATUS_OK ? status : id ? STATUS_OK : STATUS_NO;
}
