/* Vectors of texts. A text is known by its hash, so that nothing is asked for twice: neither for
 * two items with the same words nor by a run that goes on. Only the newest items of a kind are
 * compared: what is found must not take longer as the archive grows. */
#include "store/sql_int.h"

#include <string.h>

enum { NEWEST = 1000 };

static void
hash_of(const char *text, char hash[HASH_TEXT])
{
    hash_sha256(text, strlen(text), hash);
}

/* ---- writing ---- */

static void
add_vector(struct store *store, const char *model, const struct store_vector *vector)
{
    struct sql sql = sql_prepare(store, "INSERT INTO vector (model, text_hash, numbers)"
                                        " VALUES (?, ?, ?) ON CONFLICT DO NOTHING");
    char hash[HASH_TEXT];

    hash_of(vector->text, hash);
    sql_text(&sql, model);
    sql_text(&sql, hash);
    sql_blob(&sql, vector->numbers, vector->size * sizeof *vector->numbers);
    sql_run(&sql);
}

enum status
store_vectors_put(struct store *store, const char *model, const struct store_vector *vectors,
                  size_t count, const struct store_call *call, struct diags *diags)
{
    store__enter(store, SQL_WRITES);
    if (call != NULL && !store__end_call(store, call))
        return store__no_such_call(store, call, diags);
    for (size_t i = 0; i < count; i++)
        add_vector(store, model, &vectors[i]);
    return store__leave(store, diags);
}

/* ---- what is missing ---- */

static bool
has_vector(struct store *store, const char *model, const char *text)
{
    struct sql sql = sql_prepare(store, "SELECT 1 FROM vector WHERE model = ? AND text_hash = ?");
    char hash[HASH_TEXT];
    bool found;

    hash_of(text, hash);
    sql_text(&sql, model);
    sql_text(&sql, hash);
    found = sql_row(&sql);
    sql_end(&sql);
    return found;
}

static void
add_missing(struct store *store, struct arena *arena, const char *model, const char *kind,
            size_t most, const char **texts, size_t *count)
{
    struct sql sql = sql_prepare(
        store,
        "SELECT text FROM (SELECT id, written, text, text_hash FROM item WHERE kind = ?"
        " ORDER BY written DESC, id DESC LIMIT ?) AS i"
        " WHERE NOT EXISTS (SELECT 1 FROM vector WHERE model = ? AND text_hash = i.text_hash)"
        " GROUP BY text_hash ORDER BY max(written) DESC, max(id) DESC LIMIT ?");

    sql_text(&sql, kind);
    sql_int(&sql, NEWEST);
    sql_text(&sql, model);
    sql_int(&sql, (int64_t)(most - *count));
    while (sql_row(&sql))
        texts[(*count)++] = sql_get_kept(&sql, arena);
    sql_end(&sql);
}

enum status
store_vectors_missing(struct store *store, struct arena *arena,
                      const struct store_likeness *likeness, size_t most, const char ***texts,
                      size_t *count, struct diags *diags)
{
    const char **kinds;
    size_t kind_count;

    *texts = arena_array(arena, most + 1, sizeof **texts);
    *count = 0;
    store__enter(store, SQL_READS);
    kind_count = store__kinds(store, arena, likeness->kinds, &kinds);
    if (most > 0 && !has_vector(store, likeness->model, likeness->meaning))
        (*texts)[(*count)++] = likeness->meaning;
    for (size_t k = 0; k < kind_count && *count < most; k++)
        add_missing(store, arena, likeness->model, kinds[k], most, *texts, count);
    return store__leave(store, diags);
}

/* ---- what is near ---- */

/* A vector is kept as the bytes of its numbers; those of another machine's order or of a model that
 * was changed under its name have another size, and are near nothing. */
static bool
cosine(const float *numbers, size_t size, const void *bytes, size_t count, double *result)
{
    *result = 0;
    if (count != size * sizeof *numbers)
        return false;
    for (size_t i = 0; i < size; i++) {
        float other;

        memcpy(&other, (const char *)bytes + i * sizeof other, sizeof other);
        *result += (double)numbers[i] * other;
    }
    return true;
}

static const float *
vector_of(struct store *store, struct arena *arena, const char *model, const char *text,
          size_t *size)
{
    struct sql sql =
        sql_prepare(store, "SELECT numbers FROM vector WHERE model = ? AND text_hash = ?");
    const void *numbers = NULL;
    char hash[HASH_TEXT];
    size_t count = 0;

    hash_of(text, hash);
    sql_text(&sql, model);
    sql_text(&sql, hash);
    if (sql_row(&sql))
        numbers = sql_get_bytes(&sql, arena, &count);
    sql_end(&sql);
    *size = count / sizeof(float);
    return numbers;
}

size_t
store__near(struct store *store, struct arena *arena, const char *model, const char *text,
            const char *kind, struct store_near **near)
{
    size_t size, bytes, count = 0;
    const float *own = vector_of(store, arena, model, text, &size);
    struct sql sql;

    *near = NULL;
    if (own == NULL)
        return 0;
    sql = sql_prepare(store, "SELECT i.id, v.numbers FROM (SELECT id, text_hash FROM item"
                             " WHERE kind = ? ORDER BY written DESC, id DESC LIMIT ?) AS i"
                             " JOIN vector AS v ON v.model = ? AND v.text_hash = i.text_hash");
    sql_text(&sql, kind);
    sql_int(&sql, NEWEST);
    sql_text(&sql, model);
    while (sql_row(&sql)) {
        struct store_near one = {.item = sql_get_int(&sql)};
        const void *numbers = sql_peek_bytes(&sql, &bytes);

        if (!cosine(own, size, numbers, bytes, &one.cosine))
            continue;
        *near = store__room_for(arena, *near, count, sizeof **near);
        (*near)[count++] = one;
    }
    sql_end(&sql);
    return count;
}
