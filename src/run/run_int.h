/* What the files of the loop share. */
#ifndef HONE_RUN_RUN_INT_H
#define HONE_RUN_RUN_INT_H

#include "run/run.h"

/* file.c */
/* One file for all cases: each case's kernel where its sizes are set, and a main of its own under
 * HONE_MAIN. */
void
run_put_file(struct buf *buf, struct arena *arena, const struct run_case *cases, size_t count);

#endif
