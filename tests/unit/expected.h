/* The tasks of tests/expected: every operator of the library at small sizes. */
#ifndef HONE_TESTS_EXPECTED_H
#define HONE_TESTS_EXPECTED_H

#include "unit.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static inline int
expected_order(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Paths of the files, in the order of their names. */
static inline const char *const *
expected_tasks(struct arena *arena, size_t *count)
{
    enum { MOST = 2000 };
    const char *root = getenv("ROOT");
    const char *folder = arena_printf(arena, "%s/tests/expected", root ? root : ".");
    const char **paths = arena_array(arena, MOST, sizeof *paths);
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    *count = 0;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL && *count < MOST;)
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
            paths[(*count)++] = arena_printf(arena, "%s/%s/task.op", folder, entry->d_name);
    closedir(dir);
    qsort(paths, *count, sizeof *paths, expected_order);
    return paths;
}

#endif
