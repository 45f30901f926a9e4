/* A folder for the tests that write files: it is the working folder while they run. */
#ifndef HONE_TESTS_SCRATCH_H
#define HONE_TESTS_SCRATCH_H

#include "unit.h"

#include <dirent.h>
#include <ftw.h>
#include <stdlib.h>
#include <unistd.h>

static inline int
scratch_remove(const char *path, const struct stat *facts, int type, struct FTW *walk)
{
    (void)facts, (void)type, (void)walk;
    return remove(path);
}

static inline int
scratch_setup(void **state)
{
    struct unit *unit;
    const char *parent = getenv("TMPDIR");
    char *folder;

    unit_setup(state);
    unit = *state;
    folder = arena_printf(unit->arena, "%s/hone-test-XXXXXX", parent ? parent : "/tmp");
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static inline int
scratch_teardown(void **state)
{
    char *folder = getcwd(NULL, 0);
    int failed =
        chdir("/") != 0 || nftw(folder, scratch_remove, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) != 0;

    free(folder);
    return unit_teardown(state) != 0 || failed ? -1 : 0;
}

#define SCRATCH_TEST(function) \
    cmocka_unit_test_setup_teardown(function, scratch_setup, scratch_teardown)

/* How many files a folder holds. */
static inline int
scratch_count(const char *folder)
{
    DIR *open = opendir(folder);
    int count = 0;

    assert_non_null(open);
    for (struct dirent *entry; (entry = readdir(open));)
        count += entry->d_name[0] != '.';
    closedir(open);
    return count;
}

/* How many descriptors this process has open: what leaks shows here. */
static inline int
scratch_open_files(void)
{
    return scratch_count("/proc/self/fd");
}

#endif
