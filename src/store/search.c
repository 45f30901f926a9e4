/* Candidates by words of their code and rationale.
 *
 * Those that have all the words, else those that have some. Where a word is rare, the order is that
 * of bm25 by the rare words, and whether the others are there is asked of each one; where none is,
 * the newest come first, since bm25 would look at all that have a word. */
#include "store/sql_int.h"

enum {
    PIECES = 32,
    FOUND = 10,
};

static const char newest_query[] =
    "SELECT rowid FROM candidate_words WHERE candidate_words MATCH ? ORDER BY rowid DESC LIMIT ?";

struct search {
    struct store *store;
    struct arena *arena;
    const char **words; /* the rarest first */
    size_t count, rare;
    size_t most;
    struct store_hit *hits;
    size_t hit_count;
};

/* ---- hits ---- */

static const char hit_query[] =
    "SELECT c.id, r.name, c.number, c.kind, t.name, c.why, c.schedule, v.status, v.time_us,"
    " (SELECT light FROM verdict_case WHERE verdict = v.id AND median_us > 0"
    "  ORDER BY place LIMIT 1)"
    " FROM candidate AS c JOIN run AS r ON r.id = c.run JOIN task AS t ON t.id = r.task"
    " LEFT JOIN last_verdict AS v ON v.candidate = c.id WHERE c.id = ?";

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

static void
add_hit(struct search *search, int64_t candidate)
{
    struct sql sql = sql_prepare(search->store, hit_query);

    sql_int(&sql, candidate);
    if (sql_row(&sql)) {
        search->hits =
            store__room_for(search->arena, search->hits, search->hit_count, sizeof *search->hits);
        read_hit(&sql, search->arena, &search->hits[search->hit_count++]);
    }
    sql_end(&sql);
}

/* ---- matches ---- */

/* Does it have all words that are not rare? */
static bool
has_the_others(struct search *search, int64_t candidate)
{
    struct sql sql;
    bool has;

    if (search->rare == search->count)
        return true;
    sql = sql_prepare(search->store, "SELECT 1 FROM candidate_words WHERE candidate_words MATCH ?"
                                     " AND rowid = ?");
    sql_text(&sql, store__words_query(search->arena, search->words + search->rare,
                                      search->count - search->rare, "AND"));
    sql_int(&sql, candidate);
    has = sql_row(&sql);
    sql_end(&sql);
    return has;
}

static void
find_by_rare_words(struct search *search, const char *joint, bool all)
{
    struct sql sql = sql_prepare(search->store, "SELECT rowid FROM candidate_words WHERE"
                                                " candidate_words MATCH ?"
                                                " ORDER BY rank, rowid DESC");

    sql_text(&sql, store__words_query(search->arena, search->words, search->rare, joint));
    while (search->hit_count < search->most && sql_row(&sql)) {
        int64_t candidate = sql_get_int(&sql);

        if (!all || has_the_others(search, candidate))
            add_hit(search, candidate);
    }
    sql_end(&sql);
}

static void
find_newest(struct search *search, const char *joint)
{
    struct sql sql = sql_prepare(search->store, newest_query);

    sql_text(&sql, store__words_query(search->arena, search->words, search->count, joint));
    sql_int(&sql, (int64_t)search->most);
    while (sql_row(&sql))
        add_hit(search, sql_get_int(&sql));
    sql_end(&sql);
}

static void
find(struct search *search, const char *joint, bool all)
{
    if (search->rare > 0)
        find_by_rare_words(search, joint, all);
    else
        find_newest(search, joint);
}

enum status
store_search(struct store *store, struct arena *arena, const char *words, size_t most,
             struct store_hit **hits, size_t *count, struct diags *diags)
{
    struct search search = {.store = store, .arena = arena, .most = most ? most : FOUND};
    size_t pieces = store__pieces(arena, words, store__is_blank, PIECES, &search.words);

    store__enter(store, SQL_READS);
    search.count =
        store__weigh_words(store, arena, newest_query, search.words, pieces, &search.rare);
    if (search.count == pieces)
        find(&search, "AND", true);
    if (search.hit_count == 0)
        find(&search, "OR", false);
    *hits = search.hits;
    *count = search.hit_count;
    return store__leave(store, diags);
}
