/* What SQLite says, as what happened and what to do about it. */
#include "store/store_int.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void
store__note(struct store *store, int code)
{
    if (store->error != SQLITE_OK || code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE)
        return;
    store->error = code;
    store->system_error = sqlite3_system_errno(store->db);
    snprintf(store->message, sizeof store->message, "%s", sqlite3_errmsg(store->db));
}

void
store__fail(struct store *store, int code, const char *message)
{
    if (store->error != SQLITE_OK)
        return;
    store->error = code;
    store->system_error = 0;
    snprintf(store->message, sizeof store->message, "%s", message);
}

enum status
store__say(enum status status, struct diags *diags, const char *format, ...)
{
    char text[2000];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    diags_add(diags, DIAG_ERROR, (struct place){0}, "%s", text);
    return status;
}

enum status
store__no_memory(struct diags *diags)
{
    return store__say(STATUS_MACHINE, diags, "out of memory");
}

/* SQLite tells ENOSPC from the rest, but neither a quota nor a limit on the size of files. */
static bool
is_full(const struct store *store)
{
    switch (store->error) {
    case SQLITE_FULL:
    case SQLITE_IOERR_WRITE:
    case SQLITE_IOERR_FSYNC:
    case SQLITE_IOERR_TRUNCATE:
    case SQLITE_IOERR_SHMSIZE:
        return true;
    default:
        return false;
    }
}

/* The file or its folder does not let us. SQLite's word for why is that of its last attempt, which
 * often is not the one that matters. */
static enum status
not_accessible(const struct store *store, struct diags *diags)
{
    int error = store->system_error;

    if (error == EMFILE || error == ENFILE)
        return store__say(STATUS_MACHINE, diags, "%s: cannot be opened: too many open files",
                          store->path);
    if (access(store->folder, F_OK) != 0)
        return store__say(STATUS_INPUT, diags,
                          "%s: cannot be made, its folder does not exist; make it first",
                          store->path);
    return store__say(STATUS_INPUT, diags,
                      "%s: it and its folder must be writable, also for reading; name a copy or "
                      "another archive with --archive FILE",
                      store->path);
}

enum status
store__failed(struct store *store, struct diags *diags)
{
    const char *path = store->path;

    if (is_full(store))
        return store__say(STATUS_MACHINE, diags,
                          "%s: cannot be written: %s; what was there is safe; make room and try "
                          "again",
                          path,
                          store->error == SQLITE_FULL
                              ? "the disk is full"
                              : "a full disk, a quota, a limit on files or a failing disk");
    switch (store->error & 0xff) {
    case SQLITE_NOMEM:
        return store__no_memory(diags);
    case SQLITE_NOTADB:
        return store__say(STATUS_INPUT, diags,
                          "%s: is no archive; name another file with --archive FILE", path);
    case SQLITE_CORRUPT:
        return store__say(STATUS_MACHINE, diags,
                          "%s: is damaged (%s); save what can be read with:  sqlite3 '%s' .recover "
                          "| sqlite3 saved.db",
                          path, store->message, path);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
        return store__say(STATUS_MACHINE, diags,
                          "%s: another process has kept it locked for %g s; try again, or see who "
                          "it is with:  fuser '%s'",
                          path, store->patience, path);
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return not_accessible(store, diags);
    case SQLITE_CONSTRAINT:
    case SQLITE_TOOBIG:
        return store__say(STATUS_INPUT, diags, "%s: not added: %s", path, store->message);
    default:
        return store__say(STATUS_MACHINE, diags, "%s: %s%s%s%s", path, store->message,
                          store->system_error ? " (" : "",
                          store->system_error ? strerror(store->system_error) : "",
                          store->system_error ? ")" : "");
    }
}
