/* NumPy's .npy files, versions 1 to 3, C order, little-endian. */
#ifndef HONE_BASE_NPY_H
#define HONE_BASE_NPY_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/status.h"

#define NPY_MAX_RANK 32

struct npy {
    char type[8]; /* as in the header without byte order: "f4", "f8", "f2", "i4", "i8", "b1" ... */
    unsigned rank;
    int64_t shape[NPY_MAX_RANK];
    int64_t count; /* elements */
    size_t size;   /* bytes of an element */
    void *data;    /* mapped or allocated in the arena, aligned to 64 bytes */
};

/* Fortran order and big-endian files are converted. A file that is not .npy, is truncated, or has a
 * type other than float, integer and bool is STATUS_INPUT with a message in `diags`. */
enum status
npy_read(struct arena *arena, const char *path, struct npy *array, struct diags *diags);

/* Writes version 1; a partial file is removed. */
enum status
npy_write(const char *path, const struct npy *array, struct diags *diags);

/* The parser of the header alone, for fuzzing: bytes of a whole file in memory. */
enum status
npy_parse(struct arena *arena, const char *path, const void *bytes, size_t count, struct npy *array,
          struct diags *diags);

#endif
