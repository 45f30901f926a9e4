/* Other people's libraries, for what they have exactly (exact.h): found at run time, none is needed
 * to build.
 *
 *   blas.c   OpenBLAS and BLIS: products of matrices
 *   dnnl.c   oneDNN, versions 2 and 3: products and convolutions; dnnl.h has its parts
 *
 *   library_process.c   one of them in a process of its own, timed a window at a time
 *
 * Threads and the choice of kernels are read from the environment when a library is loaded: it is
 * set before, in a process that is for this alone.
 *
 * Ownership law: what is returned lives in the arena given, and refers to the buffers given.
 */
#ifndef HONE_BRIDGE_LIBRARY_H
#define HONE_BRIDGE_LIBRARY_H

#include "base/arena.h"
#include "base/diag.h"
#include "bridge/exact.h"

/* A function of a library, ready to be called. */
struct library_call {
    const char *name; /* "OpenBLAS Zen", "oneDNN blocked" */
    void (*run)(void *state);
    void *state;
    /* Puts the result where a kernel would have put it, after a run. NULL: it is there. */
    void (*fetch)(void *state);
    const char *note; /* which implementation was chosen, or NULL */
};

/* The library, by the first of these names that loads; NULL. */
void *
library_load(const char *const *names);

struct library_info {
    const char *name, *title; /* "openblas", "OpenBLAS" */
    const char *package;      /* of Debian and its children */
    const char *files[3];     /* ended by NULL */
};

extern const struct library_info library_table[]; /* ended by a NULL name */

/* NULL: there is none of this name. */
const struct library_info *
library_named(const char *name);

/* Sets what libraries read when they are loaded: threads, and which kernels suit this processor. */
void
library_environment(struct arena *arena, unsigned threads);

/* `buffers` are inputs, then outputs, 64-byte aligned: a kernel's arguments. False: the library is
 * not there, or refuses. */
bool
library_openblas(struct arena *arena, const struct exact_product *product, void *const *buffers,
                 struct library_call *call);
bool
library_blis(struct arena *arena, const struct exact_product *product, void *const *buffers,
             struct library_call *call);
bool
library_dnnl_product(struct arena *arena, const struct exact_product *product, void *const *buffers,
                     struct library_call *call);

/* Plain: all tensors as the kernel has them. Blocked: oneDNN chooses every layout; reorders happen
 * before and after what is called, so this is what it could reach if a whole network were kept in
 * its layout. */
bool
library_dnnl_convolution(struct arena *arena, const struct program *program,
                         const struct exact_convolution *convolution, void *const *buffers,
                         bool blocked, struct library_call *call);

/* What OpenBLAS says that it uses; NULL: it is not there. */
const char *
library_openblas_core(void);

/* ---- in a process of its own ---- */

struct library;

/* Whether it can be loaded, without loading it here. */
bool
library_is_there(const char *name);

/* Whether the program is exactly something that it has. */
bool
library_has(const char *name, const struct program *program);

/* Makes its process, which waits: to be called before anything here has started threads, or loaded
 * OpenMP, which a copy of this process could not use any more. The program must live as long.
 * NULL: there can be no other process. */
struct library *
library_open(struct arena *arena, const char *name, const struct program *program);
void
library_close(struct library *library); /* NULL is allowed */

struct library_terms {
    unsigned threads;
    uint64_t seed;   /* of the inputs */
    size_t sets;     /* of inputs and outputs, which calls go round */
    bool precedence; /* short calls run before other processes, if this user may do that */
};

/* Loads the library there. False, with the reason: it is not there, or uses kernels of another
 * processor. */
bool
library_start(struct library *library, const struct library_terms *terms, struct diags *diags);

/* What it has for the program, the plain one first: the others have their data in layouts that a
 * kernel is not given. */
const char *const *
library_builds(const struct library *library, size_t *count);

/* As those of PyTorch (bridge.h). */
bool
library_build(struct library *library, size_t build, struct diags *diags);
size_t
library_window(struct library *library, size_t build, double seconds, double *us, size_t most,
               struct diags *diags);

#endif
