/* No file is open while the arena is asked for memory: it may jump away. Hence reading opens the
 * file anew when the buffer proved too small, and messages are made after closing. */
#include "base/file.h"

#include "base/fault.h"
#include "base/file_int.h"
#include "base/text.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FIRST_READ = 4096,
    NAMES_COMPARED = 1000,
    TEMPORARY_NAMES = 100,
    WHY = 128, /* bytes of an error's text */
};

/* The error's text as part of a sentence: "permission denied". */
static const char *
why(int error, char text[WHY])
{
    snprintf(text, WHY, "%s", strerror(error));
    text[0] = (char)tolower((unsigned char)text[0]);
    return text;
}

static void
complain(struct diags *diags, const char *path, const char *what, int error)
{
    char text[WHY];

    diags_add(diags, DIAG_ERROR, (struct place){0}, "%s: %s (%s)", path, what, why(error, text));
}

static const char *
name_in(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Reading. */

/* Reads until the end or until `capacity` is full; -errno if it fails. */
static ssize_t
read_up_to(const char *path, char *data, size_t capacity)
{
    /* A pipe without a writer would block in open(). */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat facts;
    size_t length = 0;
    ssize_t got = 0;

    if (fd < 0)
        return -errno;
    if (fstat(fd, &facts) == 0 && !S_ISREG(facts.st_mode)) {
        close(fd);
        return S_ISDIR(facts.st_mode) ? -EISDIR : -ENOTSUP;
    }
    while (length < capacity) {
        got = read(fd, data + length, capacity - length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        length += (size_t)got;
    }
    got = got < 0 ? -errno : (ssize_t)length;
    close(fd);
    return got;
}

/* The file in `folder` whose name is nearest to `name`, or NULL. */
static const char *
nearest_in(struct arena *arena, const char *folder, const char *name)
{
    const char **names = arena_array(arena, NAMES_COMPARED, sizeof *names);
    struct dirent **entries;
    const char *nearest;
    int count = scandir(folder, &entries, NULL, alphasort);
    int compared = count < NAMES_COMPARED ? count : NAMES_COMPARED;
    char found[NAME_MAX + 1] = "";

    if (count < 0)
        return NULL;
    for (int i = 0; i < compared; i++)
        names[i] = entries[i]->d_name;
    nearest = text_nearest(name, names, (size_t)compared);
    if (nearest)
        snprintf(found, sizeof found, "%s", nearest);
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
    return nearest ? file_join(arena, strcmp(folder, ".") == 0 ? "" : folder, found) : NULL;
}

static const char *
what_was_meant(struct arena *arena, const char *path)
{
    const char *name = name_in(path);
    const char *example = file_join(arena, "examples", name);
    const char *neighbour;

    if (*name && strcmp(example, path) != 0 && access(example, R_OK) == 0)
        return example;
    neighbour = nearest_in(arena, file_folder_of(arena, path), name);
    return neighbour ? neighbour : nearest_in(arena, "examples", name);
}

static enum status
cannot_read(struct arena *arena, const char *path, int error, struct diags *diags)
{
    const struct place nowhere = {0};
    const char *meant;

    switch (error) {
    case ENOENT:
    case ENOTDIR:
        meant = what_was_meant(arena, path);
        diags_add(diags, DIAG_ERROR, nowhere, "%s: no such file%s%s%s", path,
                  meant ? "; did you mean " : "", meant ? meant : "", meant ? "?" : "");
        break;
    case EISDIR:
        diags_add(diags, DIAG_ERROR, nowhere, "%s: is a folder; name a file in it", path);
        break;
    case ENOTSUP:
    case ENXIO: /* a socket */
        diags_add(diags, DIAG_ERROR, nowhere, "%s: not a regular file; save it to one first", path);
        break;
    default:
        complain(diags, path, "cannot be read", error);
    }
    return STATUS_INPUT;
}

/* Bytes to begin with: as many as the file says it has and one more, to see the end. */
static size_t
first_capacity(const char *path)
{
    struct stat facts;

    if (stat(path, &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_size < FIRST_READ)
        return FIRST_READ;
    return (size_t)facts.st_size + 1;
}

enum status
file_read(struct arena *arena, const char *path, size_t limit, struct source *source,
          struct diags *diags)
{
    size_t most =
        limit < PTRDIFF_MAX ? limit + 1 : PTRDIFF_MAX; /* one more shows it is too large */
    size_t capacity = first_capacity(path);
    char *data;
    ssize_t length;

    *source = (struct source){.path = arena_strdup(arena, path)};
    for (;;) {
        capacity = capacity < most ? capacity : most;
        data = arena_alloc(arena, capacity + 1);
        length = read_up_to(path, data, capacity);
        if (length < 0)
            return cannot_read(arena, path, (int)-length, diags);
        if ((size_t)length > limit) {
            diags_add(diags, DIAG_ERROR, (struct place){0},
                      "%s: too large; at most %zu bytes are read", path, limit);
            return STATUS_INPUT;
        }
        if ((size_t)length < capacity)
            break;
        capacity *= 2;
    }
    data[length] = '\0';
    source->text = data;
    source->length = (size_t)length;
    return STATUS_OK;
}

/* Writing. Each returns 0 or an errno. */

static int
write_all(int fd, const char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t written;

        if (fault_hit(FAULT_WRITE))
            return ENOSPC;
        written = write(fd, bytes, count);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return errno;
        bytes += written;
        count -= (size_t)written;
    }
    return 0;
}

/* Takes the descriptor over. */
static int
write_and_close(int fd, const struct file_part *parts, size_t count)
{
    int error = 0;

    for (size_t i = 0; i < count && !error; i++)
        error = write_all(fd, parts[i].bytes, parts[i].count);
    /* Before the name shows the new content, that must be on the disk. Pipes cannot do it. */
    if (!error && fsync(fd) != 0 && errno != EINVAL && errno != EROFS)
        error = errno;
    if (close(fd) != 0 && !error)
        error = errno;
    return error;
}

/* A new file beside `path`; its name is stored in `name`. Negative errno if there is none. */
static int
open_temporary(const char *path, char name[PATH_MAX])
{
    int fd = -1;

    for (int i = 0; i < TEMPORARY_NAMES && fd < 0; i++) {
        int length = snprintf(name, PATH_MAX, "%s.tmp-%ld-%d", path, (long)getpid(), i);

        if (length < 0 || length >= PATH_MAX)
            return -ENAMETOOLONG;
        if (fault_hit(FAULT_WRITE))
            return -ENOSPC;
        fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    return fd < 0 ? -errno : fd;
}

/* `mode` is that of the file to replace, or 0. */
static int
replace(const char *path, mode_t mode, const struct file_part *parts, size_t count)
{
    char name[PATH_MAX];
    int fd = open_temporary(path, name);
    int error;

    if (fd < 0)
        return -fd;
    if (mode != 0)
        fchmod(fd, mode & 0777); /* some file systems have no modes; the content matters more */
    error = write_and_close(fd, parts, count);
    if (!error && fault_hit(FAULT_WRITE))
        error = EIO;
    if (!error && rename(name, path) != 0)
        error = errno;
    if (error)
        unlink(name);
    return error;
}

static int
write_parts(const char *path, const struct file_part *parts, size_t count)
{
    char real[PATH_MAX];
    struct stat facts;
    int fd;

    if (!realpath(path, real) || stat(real, &facts) != 0)
        return errno == ENOENT ? replace(path, 0, parts, count) : errno;
    if (S_ISDIR(facts.st_mode))
        return EISDIR;
    if (S_ISREG(facts.st_mode)) /* beside the file itself, not beside a link to it */
        return access(real, W_OK) == 0 ? replace(real, facts.st_mode, parts, count) : errno;
    /* A device or a pipe (/dev/null, /dev/stdout) must not be renamed over. */
    fd = open(path, O_WRONLY | O_CLOEXEC);
    return fd < 0 ? errno : write_and_close(fd, parts, count);
}

static bool
is_the_machines_fault(int error)
{
    return error == ENOSPC || error == EDQUOT || error == EIO || error == ENOMEM ||
           error == EMFILE || error == ENFILE;
}

enum status
file__write_parts(const char *path, const struct file_part *parts, size_t count,
                  struct diags *diags)
{
    int error = write_parts(path, parts, count);

    if (!error)
        return STATUS_OK;
    if (error == ENOENT)
        diags_add(diags, DIAG_ERROR, (struct place){0},
                  "%s: cannot be written, its folder does not exist; make it first", path);
    else
        complain(diags, path, "cannot be written", error);
    return is_the_machines_fault(error) ? STATUS_MACHINE : STATUS_INPUT;
}

enum status
file_write(const char *path, const void *bytes, size_t count, struct diags *diags)
{
    return file__write_parts(path, &(struct file_part){bytes, count}, 1, diags);
}

/* Folders. */

static int
make_one(const char *path, mode_t mode)
{
    struct stat facts;
    int error;

    if (mkdir(path, mode) == 0)
        return 0;
    error = errno;
    /* Where a folder already is, the answer may also be EROFS or EACCES. */
    if (stat(path, &facts) == 0)
        return S_ISDIR(facts.st_mode) ? 0 : ENOTDIR;
    return error;
}

static int
make_all(const char *path, mode_t mode)
{
    char part[PATH_MAX];
    size_t length = strlen(path);
    int error;

    if (length == 0)
        return ENOENT;
    if (length >= sizeof part)
        return ENAMETOOLONG;
    memcpy(part, path, length + 1);
    for (size_t i = 1; i < length; i++) {
        if (part[i] != '/')
            continue;
        part[i] = '\0';
        error = make_one(part, mode);
        if (error)
            return error;
        part[i] = '/';
    }
    return make_one(part, mode);
}

enum status
file_make_folder(const char *path, struct diags *diags)
{
    int error = make_all(path, 0777);

    if (!error)
        return STATUS_OK;
    complain(diags, path, "the folder cannot be made", error);
    return is_the_machines_fault(error) ? STATUS_MACHINE : STATUS_INPUT;
}

/* In /tmp anybody may have made the folder before us, to read or replace what we keep there. */
static bool
is_ours_alone(const char *path)
{
    struct stat facts;

    return lstat(path, &facts) == 0 && S_ISDIR(facts.st_mode) && facts.st_uid == getuid() &&
           (facts.st_mode & 077) == 0;
}

/* The folder that `variable` names a place for, else `below` the home, else NULL. */
static const char *
folder_for(struct arena *arena, const char *variable, const char *below)
{
    const char *place = getenv(variable), *home = getenv("HOME");

    if (place && place[0] == '/') /* a relative one is to be ignored, says the specification */
        return file_join(arena, place, "hone");
    return home && home[0] == '/' ? file_join(arena, home, below) : NULL;
}

/* The same, made; without a home below /tmp. */
static const char *
own_folder(struct arena *arena, const char *variable, const char *below)
{
    const char *path = folder_for(arena, variable, below);

    if (path)
        return make_all(path, 0700) == 0 ? path : NULL;
    path = arena_printf(arena, "/tmp/hone-%ld", (long)getuid());
    return make_all(path, 0700) == 0 && is_ours_alone(path) ? path : NULL;
}

const char *
file_config_folder(struct arena *arena)
{
    return folder_for(arena, "XDG_CONFIG_HOME", ".config/hone");
}

const char *
file_cache_folder(struct arena *arena)
{
    return own_folder(arena, "XDG_CACHE_HOME", ".cache/hone");
}

const char *
file_data_folder(struct arena *arena)
{
    return own_folder(arena, "XDG_DATA_HOME", ".local/share/hone");
}

char *
file_join(struct arena *arena, const char *folder, const char *name)
{
    if (name[0] == '/' || folder[0] == '\0')
        return arena_strdup(arena, name);
    return arena_printf(arena, "%s%s%s", folder, text_ends(folder, "/") ? "" : "/", name);
}

char *
file_folder_of(struct arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');

    if (!slash)
        return arena_strdup(arena, ".");
    return arena_strndup(arena, path, slash == path ? 1 : (size_t)(slash - path));
}
