/* Suites of tasks: which tasks a word of the command line means.
 *
 *   kernelbench/1          a suite that comes with hone, or a folder with a LIST
 *   kernelbench/1:1-20,35  some of its tasks, by number
 *   kernelbench            every suite below it, in the order of their names
 *   my/folder              without a LIST: every .op file in it
 *   my/task.op             a file; where its folder has a LIST, with its number and marks
 *
 * doc/suites.md has the form of a LIST.
 *
 * Ownership law: what is returned lives in the arena given.
 */
#ifndef HONE_BENCH_SUITE_H
#define HONE_BENCH_SUITE_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

/*    id          name       what it says of a task */
#define SUITE_MARKS(X)                                                   \
    X(WASTEFUL, "wasteful") /* computes what its result does not need */ \
    X(CONSTANT, "constant") /* its output hardly depends on the data */  \
    X(SMALLER, "smaller")   /* its shape is smaller than the original's */

enum suite_mark {
#define X(id, name) SUITE_##id,
    SUITE_MARKS(X)
#undef X
        SUITE_MARK_COUNT
};

struct suite_task {
    const char *suite; /* "kernelbench/1"; "": a file that is of none */
    int64_t number;    /* in its suite or folder; of a file 0 */
    const char *name;  /* "softmax": the file's, without number and .op */
    const char *path;
    const char *marks; /* as the list has them, separated by blanks */
};

struct suite_plan {
    struct suite_task *tasks;
    size_t count;
};

bool
suite_has_mark(const char *marks, enum suite_mark mark);

/* How figures of a suite's tasks are to be called wherever they are shown, so that nobody takes
 * them for others of the same name; NULL: as you like. */
const char *
suite_label(const char *suite);

/* The text of a LIST that lies in `folder`; `suite` is its name. */
enum status
suite_read_list(struct arena *arena, const struct source *source, const char *suite,
                const char *folder, struct suite_plan *plan, struct diags *diags);

/* "1-20,35": numbers and ranges in any order. False: it is none. A bound of 0 that was not written:
 * from the first, to the last. */
struct suite_range {
    int64_t first, last;
};

bool
suite_read_ranges(struct arena *arena, const char *text, struct suite_range **ranges,
                  size_t *count);

/* Adds the tasks that a word means to the plan; none twice. */
enum status
suite_select(struct arena *arena, const char *word, struct suite_plan *plan, struct diags *diags);

/* Where the suites are that come with hone: $HONE_SUITES, beside the program's data, beside its
 * sources. NULL: nowhere. */
const char *
suite_folder(struct arena *arena);

#endif
