/* JSON as it is written: values, and fields of an object that is under way. */
#ifndef HONE_BASE_JSON_H
#define HONE_BASE_JSON_H

#include "base/buf.h"

#include <stdbool.h>

/* With its quotes; NULL is null. */
void
json_put_string(struct buf *buf, const char *text);

/* All its digits; whole numbers without a point, what is not finite as null. */
void
json_put_number(struct buf *buf, double value);

/* ,"name":value */
void
json_field_string(struct buf *buf, const char *name, const char *text);
void
json_field_number(struct buf *buf, const char *name, double value);
void
json_field_bool(struct buf *buf, const char *name, bool value);

#endif
