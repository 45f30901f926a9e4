/* Candidates by words of their code and rationale. */
#include "store/sql_int.h"

enum {
    RANKED = 1000, /* of those that match, the newest so many are compared with one another */
    PIECES = 32,
    FOUND = 10,
};

/* Ranking all that match would take seconds where a million do. */
static int64_t
oldest_ranked(struct store *store, const char *query, bool *any)
{
    struct sql sql =
        sql_prepare(store, "SELECT min(id), count(*) FROM (SELECT rowid AS id FROM candidate_words"
                           " WHERE candidate_words MATCH ? ORDER BY rowid DESC LIMIT ?)");
    int64_t oldest = 0;

    *any = false;
    sql_text(&sql, query);
    sql_int(&sql, RANKED);
    if (sql_row(&sql)) {
        oldest = sql_get_int(&sql);
        *any = sql_get_int(&sql) > 0;
    }
    sql_end(&sql);
    return oldest;
}

static void
read_hit(struct sql *sql, struct arena *arena, struct store_hit *hit)
{
    hit->candidate = sql_get_int(sql);
    sql_get_name(sql, hit->run);
    hit->number = sql_get_int(sql);
    hit->kind = sql_get_word(sql, store_kind_name, STORE_KIND_COUNT);
    hit->task_name = sql_get_text(sql, arena);
    hit->why = sql_get_kept(sql, arena);
    hit->schedule = sql_get_kept(sql, arena);
    hit->status = sql_get_text(sql, arena);
    hit->time_us = sql_get_real(sql);
    hit->light = sql_get_real(sql);
}

static const char hits_query[] =
    "SELECT c.id, r.name, c.number, c.kind, t.name, c.why, c.schedule, v.status, v.time_us,"
    " (SELECT light FROM verdict_case WHERE verdict = v.id AND median_us > 0"
    "  ORDER BY place LIMIT 1)"
    " FROM (SELECT rowid AS id, rank AS fit FROM candidate_words WHERE candidate_words MATCH ?"
    "  AND rowid >= ? ORDER BY rank LIMIT ?) AS w"
    " JOIN candidate AS c ON c.id = w.id JOIN run AS r ON r.id = c.run"
    " JOIN task AS t ON t.id = r.task LEFT JOIN last_verdict AS v ON v.candidate = c.id"
    " ORDER BY w.fit, c.id DESC";

enum status
store_search(struct store *store, struct arena *arena, const char *words, size_t most,
             struct store_hit **hits, size_t *count, struct diags *diags)
{
    const char **pieces, *query;
    size_t piece_count = store__pieces(arena, words, store__is_blank, PIECES, &pieces);
    int64_t oldest;
    bool any;
    struct sql sql;

    *hits = NULL;
    *count = 0;
    store__enter(store, SQL_READS);
    query = store__words_query(arena, pieces, piece_count, "AND");
    oldest = oldest_ranked(store, query, &any);
    if (!any) { /* some of the words, then */
        query = store__words_query(arena, pieces, piece_count, "OR");
        oldest = oldest_ranked(store, query, &any);
    }
    sql = sql_prepare(store, hits_query);
    sql_text(&sql, query);
    sql_int(&sql, oldest);
    sql_int(&sql, most ? (int64_t)most : FOUND);
    while (any && sql_row(&sql)) {
        *hits = store__room_for(arena, *hits, *count, sizeof **hits);
        read_hit(&sql, arena, &(*hits)[(*count)++]);
    }
    sql_end(&sql);
    return store__leave(store, diags);
}
