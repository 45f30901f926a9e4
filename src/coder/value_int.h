/* What the printers of values share: value.c, and load.c for what is read from memory. */
#ifndef HONE_CODER_VALUE_INT_H
#define HONE_CODER_VALUE_INT_H

#include "coder/emit_int.h"

/* ---- small texts ---- */

const char *
value_say(struct nest *nest, const char *format, ...) __attribute__((format(printf, 2, 3)));
struct value
value_scalar(const char *text, enum lane lane);
/* "c ? a : b" of one lane type. Vectors are cast, since C tells a typedef from what it adds up to.
 */
const char *
value_chosen(struct nest *nest, const char *condition, struct value a, struct value b);

/* ---- parts of an expression ---- */

/* Does it vary from lane to lane? */
bool
value_varies(const struct nest *nest, const struct member *member, const struct expr *e);
/* An operand in the lanes that the operation needs; numbers have all of their digits. */
struct value
value_operand(struct nest *nest, const struct member *member, const struct expr *e, enum lane lane,
              bool vector, const struct value *reduced);
/* A vector whose lanes are printed as scalars: for what no vector operation does. */
struct value
value_by_lane(struct nest *nest, const struct member *member, const struct expr *e,
              const struct value *reduced);

/* load.c */
struct value
value_load(struct nest *nest, const struct member *member, const struct expr *e);

#endif
