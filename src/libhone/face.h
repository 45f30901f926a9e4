/* What the faces of the program share: the command line and the C library show the same things. */
#ifndef HONE_LIBHONE_FACE_H
#define HONE_LIBHONE_FACE_H

#include "base/buf.h"
#include "lang/lang.h"
#include "task/task.h"

/* A case with what follows from it. */
struct face_case {
    struct program *program;
    struct cost cost;
    struct light light;
    const struct sight *sights; /* what it can see, by input; NULL: not known */
    const bool *ill_posed;      /* by output, where sights are known */
};

/* Fills in cost and light; STATUS_MACHINE: no memory to count with. */
enum status
face_measure(struct face_case *row, const struct lang_machine *machine);

/* The description of a task as one JSON object on one line, without a newline. */
void
face_json(struct buf *buf, const struct face_case *rows, size_t count, const char *hash,
          const struct lang_machine *machine);

/* All messages as text, as a terminal would show them. */
void
face_put_diags(struct buf *buf, const struct diags *diags, enum diag_level level);

/* "1024x4096", "scalar" */
void
face_put_shape(struct buf *buf, const struct tensor *tensor);

#endif
