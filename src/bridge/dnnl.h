/* oneDNN through its C interface, versions 2 and 3, without its headers.
 *
 * The two differ in how a primitive is described: version 2 fills structs that the caller owns
 * (here rooms of bytes large enough for any of them), version 3 has handles. Either way a layout is
 * a pointer, and once something is described nothing knows which version there is. */
#ifndef HONE_BRIDGE_DNNL_H
#define HONE_BRIDGE_DNNL_H

#include "bridge/library.h"

/* From the library's interface, the same in both versions. */
enum {
    DNNL_INFERENCE = 96,
    DNNL_SRC = 1, /* arguments of primitives */
    DNNL_DST = 17,
    DNNL_WEIGHTS = 33,
    DNNL_RANK = 12,    /* of its arrays of sizes */
    DNNL_ROOM = 32768, /* bytes: more than any struct of version 2 */
    DNNL_MOST_ARGUMENTS = 6,
};

struct dnnl {
    void *library;
    int version; /* 2 or 3 */
    void *engine, *stream;
    struct arena *arena;
};

bool
dnnl_open(struct dnnl *dnnl, struct arena *arena);

/* A function; NULL after a message on stderr. */
void *
dnnl_find(const struct dnnl *dnnl, const char *name);

/* ---- layouts ---- */

struct dnnl_shape {
    int rank;
    int64_t size[DNNL_RANK], stride[DNNL_RANK];
};

struct dnnl_shape
dnnl_row_major(int rank, const int64_t *size);

/* The layout of a shape, or one that the primitive may choose. NULL: it is refused. */
const void *
dnnl_layout(const struct dnnl *dnnl, const struct dnnl_shape *shape, bool any);

/* Memory of this layout at `data`. */
void *
dnnl_memory(const struct dnnl *dnnl, const void *layout, void *data);

/* ---- jobs ---- */

struct dnnl_argument {
    int arg;
    void *memory;
};

struct dnnl_job { /* a primitive with its arguments, and the reorder of its result */
    struct dnnl *dnnl;
    int (*execute)(void *primitive, void *stream, int count, const struct dnnl_argument *args);
    int (*wait)(void *stream);
    void *primitive, *back;
    struct dnnl_argument args[DNNL_MOST_ARGUMENTS], back_args[2];
    int count;
};

/* NULL: it cannot be made. */
struct dnnl_job *
dnnl_make_job(struct dnnl *dnnl, void *description);
void
dnnl_add_argument(struct dnnl_job *job, int arg, void *memory);
void
dnnl_run(void *job);

/* The name of the implementation that was chosen, or NULL. */
const char *
dnnl_implementation(const struct dnnl *dnnl, void *description);

/* ---- convolutions ---- */

struct dnnl_convolution {
    bool transposed;
    struct dnnl_shape src, weights, dst;
    int64_t stride[DNNL_RANK], dilation[DNNL_RANK], left[DNNL_RANK], right[DNNL_RANK];
    void *x, *f, *y; /* data */
};

bool
dnnl_convolution(struct dnnl *dnnl, const struct dnnl_convolution *convolution, bool blocked,
                 struct library_call *call);

#endif
