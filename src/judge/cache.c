/* Built objects, kept on disk: a kernel that was built before is not built again. What is read back
 * is audited again, so nothing depends on the folder being untouched. */
#include "judge/judge_int.h"

#include "base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_OBJECTS = 8192, MOST_BYTES = 64 << 20 };

static const char *
path_of(struct arena *arena, const struct judge *judge, const char *key)
{
    return file_join(arena, judge->cache, arena_printf(arena, "%s.so", key));
}

static bool
copy_all(int from, int to, size_t bytes)
{
    while (bytes > 0) {
        char block[1 << 16];
        ssize_t got = read(from, block, bytes < sizeof block ? bytes : sizeof block);

        if (got <= 0 || write(to, block, (size_t)got) != got)
            return false;
        bytes -= (size_t)got;
    }
    return true;
}

/* A copy that nobody can change any more, whatever happens to the file. */
static int
sealed_copy(int file, size_t bytes)
{
    int copy = memfd_create("object", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (copy < 0)
        return -1;
    if (copy_all(file, copy, bytes) &&
        fcntl(copy, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) == 0)
        return copy;
    close(copy);
    return -1;
}

int
judge__cache_get(struct judge *judge, const char *key, size_t *bytes)
{
    struct arena *arena = arena_create();
    struct stat facts;
    int file = -1, object = -1;

    if (arena && judge->cache)
        file = open(path_of(arena, judge, key), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file >= 0 && fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size > 0 &&
        facts.st_size <= MOST_BYTES) {
        *bytes = (size_t)facts.st_size;
        object = sealed_copy(file, *bytes);
        futimens(file, NULL); /* in use: the last to be thrown out */
    }
    if (file >= 0)
        close(file);
    arena_destroy(arena);
    return object;
}

struct entry {
    char name[80];
    time_t used;
};

static int
older_first(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    return (x->used > y->used) - (x->used < y->used);
}

/* When there are too many, the older half goes. */
static void
make_room(const struct judge *judge, struct arena *arena)
{
    DIR *folder = opendir(judge->cache);
    struct entry *entries = arena_array(arena, MOST_OBJECTS + 1, sizeof *entries);
    size_t count = 0;
    struct dirent *item;

    while (folder && count <= MOST_OBJECTS && (item = readdir(folder)))
        if (item->d_name[0] != '.' && strlen(item->d_name) < sizeof entries->name) {
            struct stat facts;
            if (fstatat(dirfd(folder), item->d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0)
                continue;
            strcpy(entries[count].name, item->d_name);
            entries[count++].used = facts.st_mtime;
        }
    if (count > MOST_OBJECTS) {
        qsort(entries, count, sizeof *entries, older_first);
        for (size_t i = 0; i < count / 2; i++)
            unlinkat(dirfd(folder), entries[i].name, 0);
    }
    if (folder)
        closedir(folder);
}

/* Failing to keep an object costs time later, nothing else. */
void
judge__cache_put(struct judge *judge, const char *key, int object, size_t bytes)
{
    struct arena *arena = arena_create();
    void *mapped = MAP_FAILED;

    if (arena && judge->cache)
        mapped = mmap(NULL, bytes, PROT_READ, MAP_SHARED, object, 0);
    if (mapped != MAP_FAILED) {
        if (key[0] == '0' && key[1] == '0') /* now and then: one in 256 */
            make_room(judge, arena);
        (void)file_write(path_of(arena, judge, key), mapped, bytes, diags_create(arena, 0));
        munmap(mapped, bytes);
    }
    arena_destroy(arena);
}
