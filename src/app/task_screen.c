/* The screen of `hone task`. */
#include "app/task.h"

#include <string.h>

#include "app/table.h"
#include "base/num.h"

#define WIDTH 92
#define MOST_LINES 4  /* of inputs, outputs, stages each */
#define MOST_NAMES 28 /* columns of a list of names */
#define MOST_DIMS 5   /* columns; with more, dims that are the same in all cases stand above */

/* ---- lines that fill up ---- */

/* Items side by side, at most MOST_LINES lines; then how many there are more. */
struct flow {
    struct buf *buf;
    const char *first, *next; /* what begins the first line and the others */
    const char *gap;
    size_t column, lines, left_out;
};

/* `count`: how many things the item stands for. */
static void
flow_item(struct flow *flow, const char *item, size_t count)
{
    size_t length = strlen(item);
    bool begin = flow->lines == 0;
    if (!begin && flow->column + strlen(flow->gap) + length > WIDTH) {
        if (flow->lines == MOST_LINES || flow->left_out > 0) {
            flow->left_out += count;
            return;
        }
        buf_putc(flow->buf, '\n');
        begin = true;
    }
    if (flow->left_out > 0) {
        flow->left_out += count;
        return;
    }
    const char *lead = !begin ? flow->gap : flow->lines == 0 ? flow->first : flow->next;
    buf_printf(flow->buf, "%s%s", lead, item);
    flow->column = begin ? strlen(lead) + length : flow->column + strlen(lead) + length;
    flow->lines += begin;
}

static void
flow_end(struct flow *flow, const char *where)
{
    if (flow->lines == 0)
        return;
    if (flow->left_out > 0)
        buf_printf(flow->buf, "\n%s... and %zu more%s", flow->next, flow->left_out, where);
    buf_putc(flow->buf, '\n');
}

/* ---- title, inputs, outputs ---- */

static size_t
shown_stages(const struct program *program, const bool *split)
{
    size_t count = 0;
    for (size_t i = 0; i < program->stage_count; i++)
        count += !split[program->stages[i].tensor->number];
    return count;
}

static void
put_title(struct buf *buf, const struct view *view, const bool *split, size_t width)
{
    const struct program *program = view->first;
    size_t start = buf->length;
    buf_printf(buf, "%s   ", program->name);
    if (program->foreign == NULL)
        put_plural(buf, shown_stages(program, split), "stage");
    else
        buf_printf(buf, "reference %s", program->foreign->path);
    buf_puts(buf, ", ");
    put_plural(buf, program->input_count, "input");
    buf_puts(buf, ", ");
    put_plural(buf, program->output_count, "output");
    do
        buf_putc(buf, ' ');
    while (buf->length - start + 8 < width);
    buf_printf(buf, "%.8s\n", view->hash);
}

/* Tensors of one type that follow one another share it: "A, B  f32[M,K]". */
static const char *
tensor_group(struct arena *arena, struct tensor *const *tensors, size_t count, size_t *used)
{
    struct buf names = buf_in(arena), type = buf_in(arena);
    put_type(&type, tensors[0]);
    for (*used = 0; *used < count && *used < 8; (*used)++) {
        struct buf other = buf_in(arena);
        put_type(&other, tensors[*used]);
        if (strcmp(other.data, type.data))
            break;
        buf_printf(&names, "%s%s", *used ? ", " : "", tensors[*used]->name);
    }
    return arena_printf(arena, "%s  %s", names.data, type.data);
}

static void
put_tensors(struct buf *buf, const char *first, struct tensor *const *tensors, size_t count)
{
    struct flow flow = {.buf = buf, .first = first, .next = "       ", .gap = "    "};
    for (size_t i = 0, used; i < count; i += used) {
        const char *item = tensor_group(buf->arena, tensors + i, count - i, &used);
        flow_item(&flow, item, used);
    }
    flow_end(&flow, "");
}

static void
put_interface(struct buf *buf, const struct program *program)
{
    if (program->input_count != 1 || program->output_count != 1) {
        put_tensors(buf, "  in   ", program->tensors, program->input_count);
        put_tensors(buf, "  out  ", program->outputs, program->output_count);
        return;
    }
    buf_printf(buf, "  in   %s  ", program->tensors[0]->name);
    put_type(buf, program->tensors[0]);
    buf_printf(buf, "          out  %s  ", program->outputs[0]->name);
    put_type(buf, program->outputs[0]);
    buf_putc(buf, '\n');
}

static void
put_stages(struct buf *buf, const struct program *program, const bool *split)
{
    struct flow flow = {.buf = buf, .first = "  ", .next = "  ", .gap = "    "};
    for (size_t i = 0; i < program->stage_count; i++) {
        if (split[program->stages[i].tensor->number])
            continue;
        struct buf item = buf_in(buf->arena);
        put_short_stage(&item, split, &program->stages[i]);
        flow_item(&flow, item.data, 1);
    }
    flow_end(&flow, ": --expand shows them");
}

/* ---- the table of cases ---- */

/* The costliest function over all cases; OP_COUNT: there is none. */
static enum op
dominant_function(const struct view *view)
{
    enum op best = OP_COUNT;
    double most = 0;
    for (unsigned op = 0; op < OP_COUNT; op++) {
        double total = 0;
        for (size_t i = 0; i < view->count; i++)
            total += view->rows[i].cost.apart[op] * (view->machine.function_ns[op] + 1e-9);
        if (total > most) {
            most = total;
            best = (enum op)op;
        }
    }
    return best;
}

static bool
is_common(const struct view *view, size_t dim)
{
    for (size_t i = 1; i < view->count; i++)
        if (view->rows[i].program->dims[dim].size != view->rows[0].program->dims[dim].size)
            return false;
    return true;
}

/* Which dims have a column. */
static bool
has_column(const struct view *view, size_t dim)
{
    const struct program *program = view->first;
    if (program->dim_count <= MOST_DIMS)
        return true;
    size_t before = 0;
    for (size_t i = 0; i < dim; i++)
        before += !is_common(view, i);
    return !is_common(view, dim) && before < 2 * MOST_DIMS;
}

static void
put_common_dims(struct buf *buf, const struct view *view)
{
    struct flow flow = {.buf = buf, .first = "  ", .next = "  ", .gap = "  "};
    const struct program *program = view->rows[0].program;
    for (size_t d = 0; d < program->dim_count; d++)
        if (!has_column(view, d) && is_common(view, d))
            flow_item(&flow,
                      arena_printf(buf->arena, "%s=%lld", program->dims[d].name,
                                   (long long)program->dims[d].size),
                      1);
    flow_end(&flow, " dims");
}

static void
add_columns(struct table *table, const struct view *view, enum op function)
{
    table_column(table, "case", true);
    for (size_t d = 0; d < view->first->dim_count; d++)
        if (has_column(view, d))
            table_column(table, view->first->dims[d].name, false);
    table_column(table, "flops", false);
    if (function != OP_COUNT)
        table_column(table,
                     arena_printf(table->arena, "%ss",
                                  function == OP_DIV ? "div" : op_info[function].spelling),
                     false);
    table_column(table, "bytes", false);
    table_column(table, "flop/byte", false);
    table_column(table, "speed of light", false);
    table_column(table, "limit", true);
}

static const char *
count_text(struct arena *arena, double count, const char *unit)
{
    struct buf buf = buf_in(arena);
    num_put_count(&buf, count, unit);
    return buf.data;
}

/* What a reference in C does is not known. */
static const char *
flops_text(struct arena *arena, const struct face_case *row)
{
    if (row->program->foreign != NULL)
        return "-";
    return arena_printf(arena, "%s%s",
                        row->cost.exact ? "" : "<= ", count_text(arena, row->cost.flops, ""));
}

static void
add_row(struct table *table, const struct view *view, const struct face_case *row, enum op function)
{
    struct arena *arena = table->arena;
    const char *cells[TABLE_MAX_COLUMNS];
    unsigned n = 0;
    double bytes = row->cost.bytes_in + row->cost.bytes_out;
    cells[n++] = row->program->case_name;
    for (size_t d = 0; d < view->first->dim_count; d++)
        if (has_column(view, d))
            cells[n++] = arena_printf(arena, "%lld", (long long)row->program->dims[d].size);
    cells[n++] = flops_text(arena, row);
    if (function != OP_COUNT)
        cells[n++] = count_text(arena, row->cost.apart[function], "");
    cells[n++] = count_text(arena, bytes, "B");
    cells[n++] = row->program->foreign ? "-" : arena_printf(arena, "%.1f", row->cost.flops / bytes);
    cells[n++] = table_time(arena, row->light.us);
    cells[n++] = row->light.limit;
    table_row(table, cells);
}

/* ---- what it can see ---- */

static void
put_names(struct buf *buf, const char *label, struct tensor *const *tensors, const bool *flags,
          size_t count, const char *why)
{
    struct buf names = buf_in(buf->arena);
    size_t shown = 0, flagged = 0;
    for (size_t i = 0; i < count; i++) {
        flagged += flags[i];
        if (flags[i] && names.length < MOST_NAMES) {
            buf_printf(&names, "%s%s", shown ? ", " : "", tensors[i]->name);
            shown++;
        }
    }
    if (flagged > shown)
        buf_printf(&names, " and %zu more", flagged - shown);
    if (flagged > 0)
        buf_printf(buf, "  %-12s %s: %s\n", label, names.data, why);
}

/* Only what is amiss, unless it was asked for. */
static void
put_sight(struct buf *buf, const struct view *view)
{
    const struct face_case *row = &view->rows[0];
    const struct program *program = row->program;
    size_t count = program->input_count, seen = 0;
    if (!row->sights)
        return;
    bool *unseen = arena_array(buf->arena, count, sizeof *unseen);
    bool *untried = arena_array(buf->arena, count, sizeof *untried);
    for (size_t i = 0; i < count; i++) {
        seen += row->sights[i].seen;
        unseen[i] = row->sights[i].tried && !row->sights[i].seen;
        untried[i] = view->see && !row->sights[i].tried;
    }
    put_names(buf, "cannot see", program->tensors, unseen, count,
              "no output moves when it is redrawn alone");
    put_names(buf, "not tried", program->tensors, untried, count, "others took the time there is");
    put_names(buf, "ill-posed", program->outputs, row->ill_posed, program->output_count,
              "its tolerance exceeds 1 % of its size");
    if (view->see && seen == count)
        buf_printf(buf, "  %-12s every input: some output moves when it is redrawn alone\n",
                   "sees");
}

static void
put_end(struct buf *buf, const struct view *view)
{
    if (!view->machine.measured)
        buf_printf(buf,
                   "  Speed of light estimated, not measured: %s, %u thread%s; hone machine "
                   "measures it.\n",
                   view->machine.name, view->machine.threads,
                   view->machine.threads == 1 ? "" : "s");
    buf_puts(buf,
             "--expand shows every stage, --emit-reference the trusted C, --eval runs it on .npy"
             " files.\n");
}

void
task_screen(struct buf *buf, const struct view *view, int verbosity)
{
    enum op function = dominant_function(view);
    struct table table = table_create(buf->arena);
    add_columns(&table, view, function);
    for (size_t i = 0; i < view->count; i++)
        add_row(&table, view, &view->rows[i], function);
    size_t width = table_width(&table);
    const bool *split = find_split_off(buf->arena, view->first);
    put_title(buf, view, split, width > WIDTH ? WIDTH : width);
    put_interface(buf, view->first);
    put_stages(buf, view->first, split);
    buf_putc(buf, '\n');
    put_common_dims(buf, view);
    table_print(buf, &table);
    put_sight(buf, view);
    if (verbosity >= 0)
        put_end(buf, view);
}
