/* Which runs have a living process.
 *
 * The owner of run n holds a lock on byte n of a file beside the archive until the run ends or its
 * process does: the kernel takes the lock back however that died. A process id could not say it: it
 * is given again, and means nothing in another container. The lock is one of the open file (OFD),
 * since the other kind is lost as soon as the process closes the file anywhere; SQLite's own file
 * cannot serve for the same reason. */
#include "store/store_int.h"

#include "base/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct flock
byte_of(int64_t run, short type)
{
    return (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = run, .l_len = 1};
}

static void
cannot(struct store *store, int error)
{
    store->error = SQLITE_IOERR;
    store->system_error = error;
    snprintf(store->message, sizeof store->message, "cannot lock %s", store->runs_path);
}

/* Whoever may write to the archive may write to this file. */
static int
open_runs_file(const struct store *store)
{
    struct stat facts;
    int file;

    if (fault_hit(FAULT_WRITE)) {
        errno = ENOSPC;
        return -1;
    }
    file = open(store->runs_path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file >= 0 && stat(sqlite3_db_filename(store->db, "main"), &facts) == 0)
        (void)!fchmod(file,
                      facts.st_mode & 0666); /* refused where it is another's: as it is, then */
    return file;
}

bool
store__own(struct store *store, int64_t run)
{
    struct flock lock = byte_of(run, F_WRLCK);

    if (store->error != SQLITE_OK)
        return false;
    if (store->runs_file < 0)
        store->runs_file = open_runs_file(store);
    if (store->runs_file < 0) {
        cannot(store, errno);
        return false;
    }
    if (fcntl(store->runs_file, F_OFD_SETLK, &lock) == 0)
        return true;
    if (errno != EAGAIN && errno != EACCES)
        cannot(store, errno);
    return false;
}

void
store__disown(struct store *store, int64_t run)
{
    struct flock lock = byte_of(run, F_UNLCK);

    if (store->runs_file >= 0)
        fcntl(store->runs_file, F_OFD_SETLK, &lock);
}

/* Through a file of its own: to the one that holds it a lock would seem free. */
bool
store__has_owner(const struct store *store, int64_t run)
{
    struct flock lock = byte_of(run, F_WRLCK);
    int file = open(store->runs_path, O_RDONLY | O_CLOEXEC);
    bool owned;

    if (file < 0)
        return errno != ENOENT; /* not known: what the run last said holds */
    owned = fcntl(file, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
    close(file);
    return owned;
}
