/* Tables of text: columns as wide as their widest cell. */
#ifndef HONE_APP_TABLE_H
#define HONE_APP_TABLE_H

#include "base/buf.h"

#include <stdbool.h>

#define TABLE_MAX_COLUMNS 24

struct table {
    struct arena *arena;
    unsigned columns;
    bool left[TABLE_MAX_COLUMNS]; /* aligned to the left; numbers are to the right */
    const char **cells;           /* row by row; the first row is the heading */
    size_t rows, capacity;
};

struct table
table_create(struct arena *arena);

/* Columns are added before rows. */
void
table_column(struct table *table, const char *heading, bool left);

/* Cells of the row after the last one, one for each column. */
void
table_row(struct table *table, const char *const *cells);

/* Indented by two; no blanks at the ends of lines. */
void
table_print(struct buf *buf, const struct table *table);

/* A cell: "1.24 ms". */
const char *
table_time(struct arena *arena, double us);

/* The length of its longest line. */
size_t
table_width(const struct table *table);

#endif
