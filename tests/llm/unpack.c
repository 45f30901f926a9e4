/* For tests that look for words in an archive: unpack FILE.db
 *
 * Prints every value of every table, a line each; the packed texts are unpacked, since a key that
 * was kept in one of them would not be seen in the bytes of the file. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

static void
give_up(sqlite3 *db, const char *what)
{
    fprintf(stderr, "unpack: %s: %s\n", what, sqlite3_errmsg(db));
    exit(3);
}

static void
print_line(const void *bytes, size_t count)
{
    fwrite(bytes, 1, count, stdout);
    putchar('\n');
}

/* The text behind these bytes, or false if they are not packed. */
static int
print_unpacked(const void *bytes, size_t count)
{
    for (uLongf room = 1 << 16; room <= 1 << 28; room *= 4) {
        Bytef *text = malloc(room);
        uLongf length = room;
        int code = text ? uncompress(text, &length, bytes, (uLong)count) : Z_MEM_ERROR;
        if (code == Z_OK)
            print_line(text, length);
        free(text);
        if (code != Z_BUF_ERROR)
            return code == Z_OK;
    }
    return 0;
}

static void
print_table(sqlite3 *db, const char *name)
{
    char *query = sqlite3_mprintf("SELECT * FROM \"%w\"", name);
    sqlite3_stmt *rows;
    if (sqlite3_prepare_v2(db, query, -1, &rows, NULL) != SQLITE_OK)
        give_up(db, name);
    while (sqlite3_step(rows) == SQLITE_ROW)
        for (int i = 0; i < sqlite3_column_count(rows); i++) {
            const void *bytes = sqlite3_column_blob(rows, i);
            size_t count = (size_t)sqlite3_column_bytes(rows, i);
            if (bytes != NULL && !print_unpacked(bytes, count))
                print_line(bytes, count);
        }
    sqlite3_finalize(rows);
    sqlite3_free(query);
}

int
main(int argc, char **argv)
{
    sqlite3 *db;
    sqlite3_stmt *tables;
    if (argc != 2 || sqlite3_open_v2(argv[1], &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK) {
        fprintf(stderr, "unpack: write unpack FILE.db\n");
        return 2;
    }
    if (sqlite3_prepare_v2(db, "SELECT name FROM sqlite_schema WHERE type = 'table'", -1, &tables,
                           NULL) != SQLITE_OK)
        give_up(db, argv[1]);
    while (sqlite3_step(tables) == SQLITE_ROW)
        print_table(db, (const char *)sqlite3_column_text(tables, 0));
    sqlite3_finalize(tables);
    sqlite3_close(db);
    return 0;
}
