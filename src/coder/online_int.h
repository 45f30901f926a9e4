/* Running maxima: see online_walk.c. */
#ifndef HONE_CODER_ONLINE_INT_H
#define HONE_CODER_ONLINE_INT_H

#include "coder/emit_int.h"

/* Before the loop over tiles, from token `at`: scratch of the rows. */
void
online_open(struct nest *nest, size_t at);

/* Inside of it, before the loops of the line's own stage, which begin at token `at`. */
void
online_tile(struct nest *nest, size_t at);

#endif
