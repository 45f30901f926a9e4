/* Texts, each kept once.
 *
 * A column of kept texts holds a short text itself (it is a TEXT) and of a longer one the number of
 * its row in the table `text` (it is an INTEGER): found by its SHA-256, packed by zlib, or as it is
 * where that is not shorter. sqlar_uncompress(bytes, length) of the sqlite3 shell reads both. */
#include "store/sql_int.h"

#include <string.h>
#include <zlib.h>

enum {
    SHORTEST = 128,   /* bytes that are worth a row and a packing of their own */
    EXPANSION = 1032, /* zlib never packs tighter: a length beyond that is damage */
};

static const size_t LONGEST = 1000000000; /* SQLite's limit, too */

bool
store__is_short(size_t count)
{
    return count < SHORTEST;
}

/* ---- packing ---- */

/* SQLite's memory, whose refusals can be tested. */
static void *
allocate(void *user, unsigned count, unsigned size)
{
    (void)user;
    return sqlite3_malloc64((sqlite3_uint64)count * size);
}

static void
release(void *user, void *memory)
{
    (void)user;
    sqlite3_free(memory);
}

/* At most `room` bytes; 0: they do not suffice. Negative: no memory. */
static long
deflate_into(unsigned char *to, size_t room, const char *bytes, size_t count)
{
    z_stream stream = {.zalloc = allocate, .zfree = release};
    long packed = 0;

    if (deflateInit(&stream, Z_DEFAULT_COMPRESSION) != Z_OK)
        return -1;
    stream.next_in = (Bytef *)(uintptr_t)bytes;
    stream.avail_in = (uInt)count;
    stream.next_out = to;
    stream.avail_out = (uInt)room;
    if (deflate(&stream, Z_FINISH) == Z_STREAM_END)
        packed = (long)stream.total_out;
    deflateEnd(&stream);
    return packed;
}

/* Exactly `count` bytes, or it is damaged. */
static bool
inflate_into(char *to, size_t count, const void *bytes, size_t packed, bool *memory)
{
    z_stream stream = {.zalloc = allocate, .zfree = release};
    int code = inflateInit(&stream);

    *memory = code != Z_MEM_ERROR;
    if (code != Z_OK)
        return false;
    stream.next_in = (Bytef *)(uintptr_t)bytes;
    stream.avail_in = (uInt)packed;
    stream.next_out = (Bytef *)to;
    stream.avail_out = (uInt)count;
    code = inflate(&stream, Z_FINISH);
    *memory = code != Z_MEM_ERROR;
    inflateEnd(&stream);
    return code == Z_STREAM_END && stream.total_out == count;
}

/* ---- writing ---- */

static int64_t
find_text(struct store *store, const char *hash)
{
    struct sql sql = sql_prepare(store, "SELECT id FROM text WHERE hash = ?");
    int64_t id;

    sql_text(&sql, hash);
    id = sql_row(&sql) ? sql_get_int(&sql) : 0;
    sql_end(&sql);
    return id;
}

static int64_t
add_row(struct store *store, const char *hash, size_t length, const void *bytes, size_t count)
{
    struct sql sql = sql_prepare(store, "INSERT INTO text (hash, length, bytes) VALUES (?, ?, ?)");

    sql_text(&sql, hash);
    sql_int(&sql, (int64_t)length);
    sql_blob(&sql, bytes, count);
    sql_run(&sql);
    return sql_last_id(store);
}

static int64_t
add_packed(struct store *store, const char *hash, const char *bytes, size_t count)
{
    unsigned char *room = sqlite3_malloc64(count);
    long packed = room ? deflate_into(room, count - 1, bytes, count) : -1;
    int64_t id = 0;

    if (packed < 0)
        store__fail(store, SQLITE_NOMEM, "out of memory");
    else if (packed == 0)
        id = add_row(store, hash, count, bytes, count);
    else
        id = add_row(store, hash, count, room, (size_t)packed);
    sqlite3_free(room);
    return id;
}

int64_t
store__text_add(struct store *store, const char *bytes, size_t count)
{
    char hash[HASH_TEXT];
    int64_t id;

    if (store->error != SQLITE_OK)
        return 0;
    if (count > LONGEST) {
        store__fail(store, SQLITE_TOOBIG, "a text is longer than 1 GB");
        return 0;
    }
    hash_sha256(bytes, count, hash);
    id = find_text(store, hash);
    return id ? id : add_packed(store, hash, bytes, count);
}

/* ---- reading ---- */

static char *
damaged(struct store *store, struct arena *arena, size_t *count)
{
    store__fail(store, SQLITE_CORRUPT, "a kept text cannot be unpacked");
    *count = 0;
    return arena_strdup(arena, "");
}

static char *
unpack(struct sql *sql, struct arena *arena, size_t *count)
{
    sqlite3_stmt *statement = sql->kept->statement;
    int64_t length = sqlite3_column_int64(statement, 0);
    const void *bytes = sqlite3_column_blob(statement, 1);
    int packed = sqlite3_column_bytes(statement, 1);
    bool memory = true;
    char *text;

    if (length <= 0 || packed <= 0 || length / EXPANSION > packed || !bytes)
        return damaged(sql->store, arena, count);
    *count = (size_t)length;
    text = arena_alloc(arena, *count + 1);
    if (length == packed)
        memcpy(text, bytes, *count);
    else if (!inflate_into(text, *count, bytes, (size_t)packed, &memory) && memory)
        return damaged(sql->store, arena, count);
    if (!memory)
        store__fail(sql->store, SQLITE_NOMEM, "out of memory");
    return text;
}

char *
store__text_get(struct store *store, struct arena *arena, int64_t id, size_t *count)
{
    struct sql sql = sql_prepare(store, "SELECT length, bytes FROM text WHERE id = ?");
    char *text;

    sql_int(&sql, id);
    text = sql_row(&sql) ? unpack(&sql, arena, count) : damaged(store, arena, count);
    sql_end(&sql);
    return text;
}

/* ---- in SQL, for migration ---- */

static void
keep(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct store *store = sqlite3_user_data(context);
    const char *bytes = (const char *)sqlite3_value_text(values[0]);
    size_t length = (size_t)sqlite3_value_bytes(values[0]);
    int64_t id;

    (void)count;
    if (!bytes || store__is_short(length)) {
        sqlite3_result_value(context, values[0]);
        return;
    }
    id = store__text_add(store, bytes, length);
    if (store->error != SQLITE_OK)
        sqlite3_result_error_code(context, store->error);
    else
        sqlite3_result_int64(context, id);
}

void
store__text_functions(struct store *store)
{
    store__note(store,
                sqlite3_create_function(store->db, "hone_keep", 1, SQLITE_UTF8 | SQLITE_DIRECTONLY,
                                        store, keep, NULL, NULL));
}
