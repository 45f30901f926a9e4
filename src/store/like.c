/* Memory that is similar to what is asked about.
 *
 * Lists by words (bm25 of full text), by features (overlap, rare ones count more) and, where a
 * model gave them, by vectors (cosine) are merged by reciprocal rank: an item gets 1 / (60 + place)
 * of each list that it is in. No list may cost more as the archive grows, so a word or feature that
 * many items have is looked at in the newest of them only, and so are vectors; those that few have,
 * and that say more, in all. */
#include "store/sql_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    WORDS = 32,     /* of the question, */
    RARE_WORDS = 8, /* those that bm25 is asked for, */
    KINDS = 32,     /* and so many features and kinds */
    DEPTH = 50,     /* of each list */
    FOUND = 10,
};

static const double RECIPROCAL = 60;

struct scored {
    int64_t item;
    double score;
};

struct likes {
    struct store *store;
    struct arena *arena;
    const char **kinds;
    size_t kind_count;
    struct scored *merged;
    size_t count;
};

static int
by_item(const void *left, const void *right)
{
    const struct scored *a = left, *b = right;

    return (a->item > b->item) - (a->item < b->item);
}

/* The newer of two equal ones first. */
static int
by_score(const void *left, const void *right)
{
    const struct scored *a = left, *b = right;

    if (a->score != b->score)
        return a->score > b->score ? -1 : 1;
    return by_item(right, left);
}

/* One entry for each item, with the sum of its scores, the highest first. */
static size_t
add_up(struct scored *list, size_t count)
{
    size_t kept = 0;

    if (count == 0)
        return 0;
    qsort(list, count, sizeof *list, by_item);
    for (size_t i = 1; i < count; i++)
        if (list[i].item == list[kept].item)
            list[kept].score += list[i].score;
        else
            list[++kept] = list[i];
    qsort(list, kept + 1, sizeof *list, by_score);
    return kept + 1;
}

static void
add_scored(struct arena *arena, struct scored **list, size_t *count, int64_t item, double score)
{
    *list = store__room_for(arena, *list, *count, sizeof **list);
    (*list)[(*count)++] = (struct scored){item, score};
}

static void
add_place(struct likes *likes, int64_t item, size_t place)
{
    add_scored(likes->arena, &likes->merged, &likes->count, item,
               1 / (RECIPROCAL + (double)place + 1));
}

/* ---- kinds ---- */

/* All that there are, each found by a step over the index. */
static size_t
read_kinds(struct store *store, struct arena *arena, const char ***kinds)
{
    size_t count = 0;
    struct sql sql =
        sql_prepare(store, "WITH RECURSIVE known (kind) AS (SELECT min(kind) FROM item UNION ALL"
                           " SELECT (SELECT min(kind) FROM item WHERE kind > known.kind) FROM known"
                           " WHERE known.kind IS NOT NULL)"
                           " SELECT kind FROM known WHERE kind IS NOT NULL LIMIT ?");

    *kinds = arena_array(arena, KINDS, sizeof **kinds);
    sql_int(&sql, KINDS);
    while (sql_row(&sql))
        (*kinds)[count++] = sql_get_text(&sql, arena);
    sql_end(&sql);
    return count;
}

size_t
store__kinds(struct store *store, struct arena *arena, const char *words, const char ***kinds)
{
    size_t count = store__pieces(arena, words, store__is_blank, KINDS, kinds);

    return count > 0 ? count : read_kinds(store, arena, kinds);
}

/* ---- by features ---- */

static void
rank_by_features(struct likes *likes, const char *features)
{
    const char **words;
    size_t word_count = store__pieces(likes->arena, features, store__is_blank, KINDS, &words);
    double all = (double)sql_number(likes->store, "SELECT max(id) FROM item");
    struct scored *list = NULL;
    size_t count = 0;
    struct sql sql = sql_prepare(likes->store, "SELECT item FROM item_feature WHERE word = ?"
                                               " AND kind = ? ORDER BY item DESC LIMIT ?");

    for (size_t i = 0; i < word_count; i++) {
        size_t from = count;

        for (size_t k = 0; k < likes->kind_count; k++) {
            sql_again(&sql);
            sql_text(&sql, words[i]);
            sql_text(&sql, likes->kinds[k]);
            sql_int(&sql, STORE_FEW);
            while (sql_row(&sql))
                add_scored(likes->arena, &list, &count, sql_get_int(&sql), 0);
        }
        for (size_t n = from; n < count; n++)
            list[n].score = log1p(all / (double)(count - from));
    }
    sql_end(&sql);
    count = add_up(list, count);
    for (size_t i = 0; i < count && i < DEPTH; i++)
        add_place(likes, list[i].item, i);
}

/* ---- by words ---- */

static const char newest_query[] =
    "SELECT rowid FROM item_words WHERE item_words MATCH ? ORDER BY rowid DESC LIMIT ?";

static const char kind_query[] = "SELECT kind FROM item WHERE id = ?";

static bool
is_wanted(struct likes *likes, int64_t item)
{
    struct sql sql = sql_prepare(likes->store, kind_query);
    bool wanted = false;

    sql_int(&sql, item);
    if (sql_row(&sql)) {
        const char *kind = sql_get_text(&sql, likes->arena);

        for (size_t i = 0; i < likes->kind_count && !wanted; i++)
            wanted = strcmp(likes->kinds[i], kind) == 0;
    }
    sql_end(&sql);
    return wanted;
}

static void
rank_by_rare_words(struct likes *likes, const char *const *words, size_t count)
{
    struct sql sql = sql_prepare(likes->store, "SELECT rowid FROM item_words WHERE item_words"
                                               " MATCH ? ORDER BY rank, rowid DESC");
    size_t place = 0;

    sql_text(&sql, store__words_query(likes->arena, words, count, "OR"));
    while (place < DEPTH && sql_row(&sql)) {
        int64_t item = sql_get_int(&sql);

        if (is_wanted(likes, item))
            add_place(likes, item, place++);
    }
    sql_end(&sql);
}

/* By how many of them an item has. */
static void
rank_by_common_words(struct likes *likes, const char *const *words, size_t count)
{
    struct scored *list = NULL;
    size_t length = 0, place = 0;
    struct sql sql = sql_prepare(likes->store, newest_query);

    for (size_t i = 0; i < count; i++) {
        sql_again(&sql);
        sql_text(&sql, store__words_query(likes->arena, &words[i], 1, ""));
        sql_int(&sql, STORE_FEW);
        while (sql_row(&sql))
            add_scored(likes->arena, &list, &length, sql_get_int(&sql), 1);
    }
    sql_end(&sql);
    length = add_up(list, length);
    for (size_t i = 0; i < length && place < DEPTH; i++)
        if (is_wanted(likes, list[i].item))
            add_place(likes, list[i].item, place++);
}

static void
rank_by_words(struct likes *likes, const char *text)
{
    const char **words;
    size_t count = store__pieces(likes->arena, text, store__is_no_letter, WORDS, &words), rare;

    count = store__weigh_words(likes->store, likes->arena, newest_query, words, count, &rare);
    if (rare > 0)
        rank_by_rare_words(likes, words, rare < RARE_WORDS ? rare : RARE_WORDS);
    else
        rank_by_common_words(likes, words, count);
}

/* ---- by vectors ---- */

static void
rank_by_vectors(struct likes *likes, const struct store_likeness *likeness)
{
    struct scored *list = NULL;
    size_t count = 0;

    for (size_t k = 0; k < likes->kind_count; k++) {
        struct store_near *near;
        size_t found = store__near(likes->store, likes->arena, likeness->model, likeness->meaning,
                                   likes->kinds[k], &near);

        for (size_t i = 0; i < found; i++)
            add_scored(likes->arena, &list, &count, near[i].item, near[i].cosine);
    }
    count = add_up(list, count);
    for (size_t i = 0; i < count && i < DEPTH && list[i].score > 0; i++)
        add_place(likes, list[i].item, i);
}

/* ---- together ---- */

static void
read_best(struct likes *likes, size_t most, struct store_item **items, size_t *count)
{
    size_t merged = add_up(likes->merged, likes->count);

    for (size_t i = 0; i < merged && *count < most; i++) {
        *items = store__room_for(likes->arena, *items, *count, sizeof **items);
        if (!store__read_item(likes->store, likes->arena, likes->merged[i].item, &(*items)[*count]))
            return;
        (*items)[(*count)++].score = likes->merged[i].score;
    }
}

enum status
store_items_similar(struct store *store, struct arena *arena, const struct store_likeness *likeness,
                    struct store_item **items, size_t *count, struct diags *diags)
{
    struct likes likes = {.store = store, .arena = arena};

    *items = NULL;
    *count = 0;
    store__enter(store, SQL_READS);
    likes.kind_count = store__kinds(store, arena, likeness->kinds, &likes.kinds);
    rank_by_features(&likes, likeness->features);
    rank_by_words(&likes, likeness->text);
    if (likeness->meaning != NULL)
        rank_by_vectors(&likes, likeness);
    read_best(&likes, likeness->most ? likeness->most : FOUND, items, count);
    return store__leave(store, diags);
}
