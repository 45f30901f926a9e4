/* Expressions as the rest of the language sees them: made, rewritten (make.h) and printed. */
#ifndef HONE_LANG_IR_INT_H
#define HONE_LANG_IR_INT_H

#include "lang/ast_int.h"
#include "lang/make.h"

/* ---- printing ---- */

struct spelling { /* how names are written */
    const char *(*tensor)(void *context, const struct tensor *tensor);
    const char *(*dim)(void *context, const struct dim *dim);
    const char *(*index)(void *context, unsigned level, const char *name);
    void *context;
    bool extents; /* write the extents of all indices */
};

extern const struct spelling spelling_plain; /* as the author wrote them, no extents */

/* Indices of levels below `rank` are named by left[]. */
void
expr_print(struct buf *buf, const struct expr *e, const struct spelling *spelling,
           const char *const *left, unsigned rank);

#endif
