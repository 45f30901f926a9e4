/* The kept description: written here, read here whole and by task_machine() as far as the speed of
 * light goes. doc/machine.md has the format. */
#include "measure/measure_int.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/num.h"
#include "base/text.h"
#include "task/task.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST_FILE 65536
#define FORM 3 /* raised when what the keys mean changes */

/* Single figures: reader and writer come from this table. */
static const struct row {
    const char *key;
    size_t at;
    bool needed;
} rows[] = {
    {"gflops.f32", offsetof(struct measure_figures, gflops_f32[MEASURE_ALL]), true},
    {"gflops.f64", offsetof(struct measure_figures, gflops_f64[MEASURE_ALL]), true},
    {"one.gflops.f32", offsetof(struct measure_figures, gflops_f32[MEASURE_ONE]), false},
    {"one.gflops.f64", offsetof(struct measure_figures, gflops_f64[MEASURE_ONE]), false},
    {"timer.ns", offsetof(struct measure_figures, timer_ns), false},
    {"handshake.ns", offsetof(struct measure_figures, handshake_ns), false},
    {"noise", offsetof(struct measure_figures, noise), false},
    {"seconds", offsetof(struct measure_figures, seconds), false},
    {"time", offsetof(struct measure_figures, time), false},
};

#define ROWS (sizeof rows / sizeof *rows)

static double *
field(struct measure_figures *figures, const struct row *row)
{
    return (double *)(void *)((char *)figures + row->at);
}

static const char *
function_key(unsigned op)
{
    return op == OP_DIV ? "division" : op_info[op].spelling;
}

/* ---- writing ---- */

static void
put_levels(struct buf *buf, const struct measure_figures *figures)
{
    for (unsigned i = 0; i < figures->level_count; i++) {
        const char *name = figures->level[i].name;
        buf_printf(buf, "%s = ", name);
        if (isinf(figures->level[i].bytes))
            buf_puts(buf, "inf");
        else
            buf_printf(buf, "%.0f", figures->level[i].bytes);
        buf_printf(buf, " %.4g\none.%s = %.4g\nstore.%s = %.4g\n",
                   figures->level[i].gbs[MEASURE_ALL], name, figures->level[i].gbs[MEASURE_ONE],
                   name, figures->level[i].store_gbs);
    }
}

static void
put_description(struct buf *buf, const char *key, const struct measure_facts *facts,
                const struct measure_figures *figures)
{
    buf_puts(buf, "# Measured by hone machine; hone machine --measure does it again.\n");
    buf_printf(buf, "form = %d\nkey = %s\nname = %s%s%s%s\nthreads = %u\n", FORM, key, facts->cpu,
               facts->family ? " (" : "", facts->family ? facts->family : "",
               facts->family ? ")" : "", facts->threads);
    for (size_t i = 0; i < ROWS; i++)
        buf_printf(buf, "%s = %.*g\n", rows[i].key,
                   rows[i].at == offsetof(struct measure_figures, time) ? 12 : 5,
                   *field((struct measure_figures *)figures, &rows[i]));
    put_levels(buf, figures);
    for (unsigned op = 0; op < OP_COUNT; op++)
        if (figures->function_ns[op] > 0)
            buf_printf(buf, "ns.%s = %.4g\n", function_key(op), figures->function_ns[op]);
}

enum status
measure_keep(struct arena *arena, const char *path, const struct measure_facts *facts,
             const struct measure_figures *figures, struct diags *diags)
{
    struct buf buf = buf_in(arena);
    put_description(&buf, task_machine_key(arena), facts, figures);
    return file_write(path, buf.data, buf.length, diags);
}

/* ---- reading ---- */

/* The number of the level of that name; level_count: there is none yet. */
static unsigned
level_number(struct measure_figures *figures, const char *name)
{
    unsigned number = 0;
    while (number < figures->level_count && strcmp(figures->level[number].name, name) != 0)
        number++;
    return number;
}

static void
read_level(struct measure_figures *figures, const char *name, const char *value)
{
    char *rest;
    double bytes = strtod(value, &rest), gbs = strtod(rest, NULL);
    unsigned number = level_number(figures, name);
    if (!(bytes > 0) || !(gbs > 0) || number > MEASURE_LEVELS ||
        strlen(name) >= sizeof figures->level[0].name)
        return;
    if (number == figures->level_count)
        figures->level_count++;
    memcpy(figures->level[number].name, name, strlen(name) + 1);
    figures->level[number].bytes = bytes;
    figures->level[number].gbs[MEASURE_ALL] = gbs;
}

/* "one.L2", "store.memory": of a level that was named before. */
static void
read_of_level(struct measure_figures *figures, const char *key, double value)
{
    unsigned number = level_number(figures, strchr(key, '.') + 1);
    if (number == figures->level_count)
        return;
    if (text_starts(key, "one."))
        figures->level[number].gbs[MEASURE_ONE] = value;
    else
        figures->level[number].store_gbs = value;
}

static void
read_function(struct measure_figures *figures, const char *name, double value)
{
    for (unsigned op = 0; op < OP_COUNT; op++)
        if (op_info[op].apart && !strcmp(function_key(op), name))
            figures->function_ns[op] = value;
}

static void
read_line(struct measure_figures *figures, const char *key, const char *value)
{
    double number = strtod(value, NULL);
    if (!(number >= 0))
        return;
    for (size_t i = 0; i < ROWS; i++)
        if (!strcmp(rows[i].key, key)) {
            *field(figures, &rows[i]) = number;
            return;
        }
    if (text_starts(key, "ns."))
        read_function(figures, key + 3, number);
    else if (text_starts(key, "one.") || text_starts(key, "store."))
        read_of_level(figures, key, number);
    else if (!strcmp(key, "memory") || (key[0] == 'L' && key[1] >= '1' && key[1] <= '9'))
        read_level(figures, key, value);
}

/* Whether a line of the kept file says that it is of another machine or of another hone. */
static bool
is_stale(struct arena *arena, const char *key, const char *value)
{
    if (!strcmp(key, "form"))
        return strtol(value, NULL, 10) != FORM;
    return !strcmp(key, "key") && strcmp(value, task_machine_key(arena)) != 0;
}

static bool
is_whole(struct measure_figures *figures)
{
    if (figures->level_count == 0)
        return false;
    figures->level[figures->level_count - 1].bytes = INFINITY;
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].needed && !(*field(figures, &rows[i]) > 0))
            return false;
    return true;
}

void
measure_kept_read(struct arena *arena, struct measure_kept *kept)
{
    struct source source;
    *kept = (struct measure_kept){0};
    kept->path = task_machine_path(arena, &kept->named);
    if (kept->path == NULL ||
        file_read(arena, kept->path, LARGEST_FILE, &source, diags_create(arena, 0)) != STATUS_OK)
        return;
    char *next = arena_strndup(arena, source.text, source.length);
    for (char *line, *value; text_next_setting(&next, &line, &value);) {
        if (!kept->named && is_stale(arena, line, value))
            return;
        read_line(&kept->figures, line, value);
    }
    kept->whole = is_whole(&kept->figures);
}
