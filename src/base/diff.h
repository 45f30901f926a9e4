/* How one text becomes another, line by line. */
#ifndef HONE_BASE_DIFF_H
#define HONE_BASE_DIFF_H

#include "base/buf.h"

struct diff_text {
    const char *name; /* behind --- and +++ */
    const char *text;
    size_t length;
};

struct diff_count { /* lines */
    size_t removed, added;
};

/* A unified diff with `context` equal lines around each change; nothing where the texts are equal.
 * It is a shortest one, unless more than 2000 lines changed: then what lies between the equal
 * beginnings and ends is replaced as a whole. `buf` may be NULL: only the lines are counted. */
struct diff_count
diff_put_unified(struct arena *arena, struct buf *buf, const struct diff_text *old,
                 const struct diff_text *new, size_t context);

#endif
