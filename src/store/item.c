/* Memory: what was learned, for later runs. like.c finds what is similar. No memory is asked of an
 * arena while a transaction that writes is open. */
#include "store/sql_int.h"

#include <string.h>

/* ---- writing ---- */

static void
read_stats(struct sql *sql, struct store_stats *stats)
{
    stats->uses = sql_get_int(sql);
    stats->wins = sql_get_int(sql);
    stats->gain = sql_get_real(sql);
    stats->predicted = sql_get_real(sql);
    stats->actual = sql_get_real(sql);
    stats->q = sql_get_real(sql);
}

/* Its id and figures, if it is there. */
static bool
find_item(struct store *store, struct store_item *item, const char *text_hash)
{
    struct sql sql =
        sql_prepare(store, "SELECT id, uses, wins, gain, predicted, actual, q FROM item"
                           " WHERE kind = ? AND key = ? AND text_hash = ?");
    bool found;

    sql_text(&sql, item->kind);
    sql_text(&sql, item->key);
    sql_text(&sql, text_hash);
    found = sql_row(&sql);
    if (found) {
        item->id = sql_get_int(&sql);
        read_stats(&sql, &item->stats);
    }
    sql_end(&sql);
    return found;
}

static void
add_row(struct store *store, struct store_item *item, const char *text_hash)
{
    struct sql sql =
        sql_prepare(store, "INSERT INTO item (kind, key, text, text_hash, json, family, features,"
                           " run, written, uses, wins, gain, predicted, actual, q)"
                           " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");

    sql_text(&sql, item->kind);
    sql_text(&sql, item->key);
    sql_kept(&sql, item->text);
    sql_text(&sql, text_hash);
    sql_kept(&sql, item->json);
    sql_text(&sql, item->family);
    sql_text(&sql, item->features);
    sql_reference(&sql, item->run);
    sql_real(&sql, item->written);
    sql_int(&sql, item->stats.uses);
    sql_int(&sql, item->stats.wins);
    sql_real(&sql, item->stats.gain);
    sql_real(&sql, item->stats.predicted);
    sql_real(&sql, item->stats.actual);
    sql_real(&sql, item->stats.q);
    sql_run(&sql);
    item->id = sql_last_id(store);
}

static void
bring_up_to_date(struct store *store, const struct store_item *item)
{
    struct sql sql = sql_prepare(store, "UPDATE item SET json = ?, family = ?, features = ?,"
                                        " run = ?, written = ? WHERE id = ?");

    sql_kept(&sql, item->json);
    sql_text(&sql, item->family);
    sql_text(&sql, item->features);
    sql_reference(&sql, item->run);
    sql_real(&sql, item->written);
    sql_int(&sql, item->id);
    sql_run(&sql);
}

static void
set_features(struct store *store, const struct store_item *item)
{
    struct sql sql = sql_prepare(store, "DELETE FROM item_feature WHERE item = ?");
    const char *word = item->features ? item->features : "";

    sql_int(&sql, item->id);
    sql_run(&sql);
    sql = sql_prepare(store, "INSERT INTO item_feature (word, kind, item) VALUES (?, ?, ?)"
                             " ON CONFLICT DO NOTHING");
    for (size_t length; *word; word += length) {
        for (length = 0; word[length] && !store__is_blank(word[length]);)
            length++;
        if (length > 0) {
            sql_again(&sql);
            sql_bytes(&sql, word, length);
            sql_text(&sql, item->kind);
            sql_int(&sql, item->id);
            sql_row(&sql);
        }
        length += word[length] != '\0';
    }
    sql_end(&sql);
}

static void
change_stats(struct store *store, int64_t item, const struct store_stats *change)
{
    struct sql sql = sql_prepare(store, "UPDATE item SET uses = uses + ?, wins = wins + ?,"
                                        " gain = coalesce(?, gain),"
                                        " predicted = coalesce(?, predicted),"
                                        " actual = coalesce(?, actual), q = coalesce(?, q)"
                                        " WHERE id = ?");

    sql_int(&sql, change->uses);
    sql_int(&sql, change->wins);
    sql_real(&sql, change->gain);
    sql_real(&sql, change->predicted);
    sql_real(&sql, change->actual);
    sql_real(&sql, change->q);
    sql_int(&sql, item);
    sql_run(&sql);
}

enum status
store_item_learn(struct store *store, struct store_item *item, struct store_event *event,
                 struct diags *diags)
{
    const char *text = item->text ? item->text : "", *key = item->key ? item->key : "";
    const struct store_stats change = item->stats;
    char hash[HASH_TEXT];

    hash_sha256(text, strlen(text), hash);
    store__enter(store, SQL_JOTS);
    if (find_item(store, item, hash)) {
        bring_up_to_date(store, item);
        change_stats(store, item->id, &change);
        find_item(store, item, hash);
    } else {
        add_row(store, item, hash);
        store__add_words(store, &store__item_words, item->id, key, strlen(key), text);
    }
    set_features(store, item);
    if (event != NULL)
        store__add_event(store, event);
    return store__leave(store, diags);
}

enum status
store_item_put(struct store *store, struct store_item *item, struct diags *diags)
{
    return store_item_learn(store, item, NULL, diags);
}

enum status
store_item_update(struct store *store, int64_t item, const struct store_stats *change,
                  struct diags *diags)
{
    store__enter(store, SQL_JOTS);
    change_stats(store, item, change);
    if (store__changed_nothing(store)) {
        store__abandon(store);
        return store__say(STATUS_INPUT, diags, "%s: has no item of id %lld", store->path,
                          (long long)item);
    }
    return store__leave(store, diags);
}

/* ---- reading ---- */

#define ITEM_QUERY                                                                         \
    "SELECT id, kind, key, text, json, family, features, coalesce(run, 0), written, uses," \
    " wins, gain, predicted, actual, q FROM item "

static void
read_item(struct sql *sql, struct arena *arena, struct store_item *item)
{
    *item = (struct store_item){0};
    item->id = sql_get_int(sql);
    item->kind = sql_get_text(sql, arena);
    item->key = sql_get_text(sql, arena);
    item->text = sql_get_kept(sql, arena);
    item->json = sql_get_kept(sql, arena);
    item->family = sql_get_text(sql, arena);
    item->features = sql_get_text(sql, arena);
    item->run = sql_get_int(sql);
    item->written = sql_get_real(sql);
    read_stats(sql, &item->stats);
}

bool
store__read_item(struct store *store, struct arena *arena, int64_t id, struct store_item *item)
{
    struct sql sql = sql_prepare(store, ITEM_QUERY "WHERE id = ?");
    bool found;

    sql_int(&sql, id);
    found = sql_row(&sql);
    if (found)
        read_item(&sql, arena, item);
    sql_end(&sql);
    return found;
}

/* By the order of their times, or by that of their keys where those are few. */
static const char *
items_query(const char *key_prefix)
{
    return key_prefix && *key_prefix
               ? ITEM_QUERY "WHERE kind = ?1 AND key >= ?3 AND key < ?3 || char(1114111)"
                            " ORDER BY written DESC, id DESC LIMIT ?2"
               : ITEM_QUERY "WHERE kind = ?1 ORDER BY written DESC, id DESC LIMIT ?2";
}

enum status
store_items(struct store *store, struct arena *arena, const char *kind, const char *key_prefix,
            size_t most, struct store_item **items, size_t *count, struct diags *diags)
{
    struct sql sql;

    *items = NULL;
    *count = 0;
    store__enter(store, SQL_READS);
    sql = sql_prepare(store, items_query(key_prefix));
    sql_text(&sql, kind);
    sql_int(&sql, most ? (int64_t)most : -1);
    if (key_prefix && *key_prefix)
        sql_text(&sql, key_prefix);
    while (sql_row(&sql)) {
        *items = store__room_for(arena, *items, *count, sizeof **items);
        read_item(&sql, arena, &(*items)[(*count)++]);
    }
    sql_end(&sql);
    return store__leave(store, diags);
}
