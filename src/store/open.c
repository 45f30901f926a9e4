/* Opening and closing. */
#include "store/sql_int.h"

#include "base/clock.h"
#include "base/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const double PATIENCE = 10; /* seconds */

const char *
store_default_path(struct arena *arena)
{
    const char *named = getenv("HONE_ARCHIVE");
    const char *folder;

    if (named && *named)
        return named;
    folder = file_data_folder(arena);
    return folder ? file_join(arena, folder, "archive.db") : NULL;
}

/* NULL: no memory. */
static struct store *
create(const char *path, double patience)
{
    struct arena *arena = arena_create();
    struct store *store;
    jmp_buf no_memory;

    if (!arena)
        return NULL;
    if (setjmp(no_memory) != 0) {
        arena_destroy(arena);
        return NULL;
    }
    arena_on_no_memory(arena, &no_memory);
    store = arena_alloc(arena, sizeof *store);
    *store = (struct store){.arena = arena, .runs_file = -1};
    store->path = arena_strdup(arena, path);
    store->folder = file_folder_of(arena, path);
    store->patience = patience > 0 ? patience : PATIENCE;
    arena_on_no_memory(arena, NULL);
    return store;
}

void
store_close(struct store *store)
{
    if (!store)
        return;
    if (store->db) {
        store__abandon(store);
        store__forget_statements(store);
        sqlite3_close(store->db);
    }
    if (store->runs_file >= 0)
        close(store->runs_file);
    sqlite3_free(store->runs_path);
    arena_destroy(store->arena);
}

/* ---- the connection ---- */

/* "./" keeps SQLite from reading a meaning into names like ":memory:". */
static void
connect_to(struct store *store)
{
    const int flags =
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    char *name = sqlite3_mprintf("%s%s", store->path[0] == '/' ? "" : "./", store->path);
    int code = name ? sqlite3_open_v2(name, &store->db, flags, NULL) : SQLITE_NOMEM;

    sqlite3_free(name);
    if (!store->db) {
        store->error = SQLITE_NOMEM;
        return;
    }
    store__note(store, code);
    sqlite3_busy_timeout(store->db, (int)(store->patience * 1000));
    if (code != SQLITE_OK)
        return;
    /* Where links lead to, as SQLite found it: all who open the archive must mean one file. */
    store->runs_path = sqlite3_mprintf("%s-runs", sqlite3_db_filename(store->db, "main"));
    if (!store->runs_path)
        store->error = SQLITE_NOMEM;
}

static bool
has_write_ahead_log(struct store *store)
{
    return sql_number(store, "SELECT journal_mode = 'wal' FROM pragma_journal_mode") != 0;
}

/* Readers then do not wait for a writer. It is a mark in the file, set once. While it is being set,
 * SQLite does not wait for others by itself. Where it cannot be (some network file systems), the
 * older journal serves: slower and just as safe. */
static void
use_write_ahead_log(struct store *store)
{
    double until = clock_seconds() + store->patience;

    store->error = SQLITE_OK;
    sql_execute(store, "PRAGMA journal_mode = WAL");
    while ((store->error & 0xff) == SQLITE_BUSY && clock_seconds() < until) {
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        store->error = SQLITE_OK;
        sql_execute(store, "PRAGMA journal_mode = WAL");
    }
}

static enum status
prepare(struct store *store, const struct store_options *options, const char *const *steps,
        size_t count, struct diags *diags)
{
    enum status status;

    connect_to(store);
    if (store->error != SQLITE_OK)
        return store__failed(store, diags);
    status = store__identify(store, count, diags);
    if (status != STATUS_OK)
        return status;
    if (sqlite3_db_readonly(store->db, "main") == 0) {
        use_write_ahead_log(store);
        sql_execute(store, "PRAGMA synchronous = FULL"); /* what is committed is on the disk */
        store->has_log = has_write_ahead_log(store);
        if (store->error != SQLITE_OK)
            return store__failed(store, diags);
    }
    store__text_functions(store);
    status = store__migrate(store, steps, count, options->program, options->now, diags);
    if (status != STATUS_OK)
        return status;
    sql_execute(store, "PRAGMA foreign_keys = ON");
    return store->error == SQLITE_OK ? STATUS_OK : store__failed(store, diags);
}

enum status
store__open(const char *path, const struct store_options *options, const char *const *steps,
            size_t count, struct store **store, struct diags *diags)
{
    struct stat facts;
    bool there = stat(path, &facts) == 0;
    struct store *opened;
    enum status status;

    *store = NULL;
    if (!there && options->access == STORE_READ && (errno == ENOENT || errno == ENOTDIR))
        return STATUS_NO;
    if (there && !S_ISREG(facts.st_mode))
        return store__say(STATUS_INPUT, diags,
                          "%s: is %s, no archive; name a file with --archive FILE", path,
                          S_ISDIR(facts.st_mode) ? "a folder" : "not a regular file");
    opened = create(path, options->patience);
    if (!opened)
        return store__no_memory(diags);
    status = prepare(opened, options, steps, count, diags);
    if (status != STATUS_OK)
        store_close(opened);
    else
        *store = opened;
    return status;
}

enum status
store_open(const char *path, const struct store_options *options, struct store **store,
           struct diags *diags)
{
    return store__open(path, options, store__steps, store__step_count, store, diags);
}
