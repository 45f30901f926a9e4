#include "app/table.h"

#include <assert.h>
#include <string.h>

#include "base/num.h"

#define GAP 3
#define INDENT 2

struct table
table_create(struct arena *arena)
{
    struct table table = {.arena = arena, .rows = 1, .capacity = 8};
    table.cells = arena_array(arena, table.capacity * TABLE_MAX_COLUMNS, sizeof *table.cells);
    return table;
}

void
table_column(struct table *table, const char *heading, bool left)
{
    assert(table->rows == 1 && table->columns < TABLE_MAX_COLUMNS);
    table->left[table->columns] = left;
    table->cells[table->columns++] = arena_strdup(table->arena, heading);
}

void
table_row(struct table *table, const char *const *cells)
{
    if (table->rows == table->capacity) {
        size_t used = table->rows * TABLE_MAX_COLUMNS;
        table->cells = arena_grow(table->arena, table->cells, used, 2 * used, sizeof *table->cells);
        table->capacity *= 2;
    }
    const char **row = table->cells + table->rows++ * TABLE_MAX_COLUMNS;
    for (unsigned c = 0; c < table->columns; c++)
        row[c] = arena_strdup(table->arena, cells[c]);
}

static size_t
column_width(const struct table *table, unsigned column)
{
    size_t width = 0;
    for (size_t r = 0; r < table->rows; r++) {
        size_t length = strlen(table->cells[r * TABLE_MAX_COLUMNS + column]);
        width = length > width ? length : width;
    }
    return width;
}

size_t
table_width(const struct table *table)
{
    size_t width = INDENT;
    for (unsigned c = 0; c < table->columns; c++)
        width += column_width(table, c) + (c > 0 ? GAP : 0);
    return width;
}

void
table_print(struct buf *buf, const struct table *table)
{
    int width[TABLE_MAX_COLUMNS];
    for (unsigned c = 0; c < table->columns; c++)
        width[c] = (int)column_width(table, c);
    for (size_t r = 0; r < table->rows; r++) {
        const char **row = table->cells + r * TABLE_MAX_COLUMNS;
        buf_printf(buf, "%*s", INDENT, "");
        for (unsigned c = 0; c < table->columns; c++) {
            bool last = c + 1 == table->columns;
            int side = table->left[c] ? (last ? 0 : -width[c]) : width[c];
            buf_printf(buf, "%*s%*s", c > 0 ? GAP : 0, "", side, row[c]);
        }
        while (buf->length > 0 && buf->data[buf->length - 1] == ' ')
            buf->data[--buf->length] = '\0';
        buf_putc(buf, '\n');
    }
}

const char *
table_time(struct arena *arena, double us)
{
    struct buf buf = buf_in(arena);
    num_put_time(&buf, us);
    return buf.data;
}
