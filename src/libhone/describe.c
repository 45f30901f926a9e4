/* The JSON description of a task. Field names are stable; new ones may be added. */
#include "libhone/face.h"

#include "base/json.h"

#include <math.h>

/* Counts are whole numbers and are written so. */
static void
put_number(struct buf *buf, double value)
{
    if (!isfinite(value))
        buf_puts(buf, "null");
    else if (value == floor(value) && fabs(value) < 1e18)
        buf_printf(buf, "%.0f", value);
    else
        buf_printf(buf, "%.6g", value);
}

static void
put_field(struct buf *buf, const char *name, double value)
{
    buf_printf(buf, "\"%s\":", name);
    put_number(buf, value);
}

static void
put_tensor(struct buf *buf, const struct tensor *tensor)
{
    buf_puts(buf, "{\"name\":");
    json_put_string(buf, tensor->name);
    buf_printf(buf, ",\"dtype\":\"%s\",\"shape\":[", dtype_info[tensor->dtype].name);
    for (unsigned d = 0; d < tensor->rank; d++)
        buf_printf(buf, "%s%lld", d ? "," : "", (long long)tensor->size[d]);
    buf_puts(buf, "]}");
}

static void
put_tensors(struct buf *buf, const char *name, struct tensor *const *tensors, size_t count)
{
    buf_printf(buf, ",\"%s\":[", name);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buf_putc(buf, ',');
        put_tensor(buf, tensors[i]);
    }
    buf_putc(buf, ']');
}

static void
put_dims(struct buf *buf, const struct program *program)
{
    buf_puts(buf, ",\"dims\":{");
    for (size_t i = 0; i < program->dim_count; i++) {
        if (i > 0)
            buf_putc(buf, ',');
        json_put_string(buf, program->dims[i].name);
        buf_printf(buf, ":%lld", (long long)program->dims[i].size);
    }
    buf_putc(buf, '}');
}

static void
put_functions(struct buf *buf, const struct cost *cost)
{
    bool first = true;
    buf_puts(buf, ",\"functions\":{");
    for (unsigned op = 0; op < OP_COUNT; op++) {
        if (!(cost->apart[op] > 0))
            continue;
        if (!first)
            buf_putc(buf, ',');
        first = false;
        put_field(buf, op == OP_DIV ? "division" : op_info[op].spelling, cost->apart[op]);
    }
    buf_putc(buf, '}');
}

static void
put_case(struct buf *buf, const struct face_case *row)
{
    const struct program *program = row->program;
    buf_puts(buf, "{\"name\":");
    json_put_string(buf, program->case_name);
    put_dims(buf, program);
    buf_putc(buf, ',');
    put_field(buf, "flops", program->foreign ? NAN : row->cost.flops);
    buf_printf(buf, ",\"exact\":%s", row->cost.exact ? "true" : "false");
    put_functions(buf, &row->cost);
    buf_putc(buf, ',');
    put_field(buf, "bytes", row->cost.bytes_in + row->cost.bytes_out);
    buf_putc(buf, ',');
    put_field(buf, "light_us", row->light.us);
    buf_puts(buf, ",\"limit\":");
    json_put_string(buf, row->light.limit);
    buf_printf(buf, ",\"check_only\":%s", program->check_only ? "true" : "false");
    put_tensors(buf, "inputs", program->tensors, program->input_count);
    put_tensors(buf, "outputs", program->outputs, program->output_count);
    buf_putc(buf, '}');
}

static void
put_machine(struct buf *buf, const struct lang_machine *machine)
{
    buf_puts(buf, ",\"machine\":{\"name\":");
    json_put_string(buf, machine->name);
    buf_printf(buf, ",\"threads\":%u,\"measured\":%s}", machine->threads,
               machine->measured ? "true" : "false");
}

/* The names of the tensors that are flagged; null if nothing is known. */
static void
put_names(struct buf *buf, const char *field, struct tensor *const *tensors, size_t count,
          const bool *flags)
{
    bool first = true;
    buf_printf(buf, ",\"%s\":%s", field, flags ? "[" : "null");
    for (size_t i = 0; flags && i < count; i++) {
        if (!flags[i])
            continue;
        if (!first)
            buf_putc(buf, ',');
        first = false;
        json_put_string(buf, tensors[i]->name);
    }
    buf_puts(buf, flags ? "]" : "");
}

static void
put_sight(struct buf *buf, const struct face_case *row)
{
    const struct program *program = row->program;
    bool *unseen = NULL, *untried = NULL;
    if (row->sights) {
        unseen = arena_array(buf->arena, program->input_count, sizeof *unseen);
        untried = arena_array(buf->arena, program->input_count, sizeof *untried);
    }
    for (size_t i = 0; row->sights && i < program->input_count; i++) {
        unseen[i] = row->sights[i].tried && !row->sights[i].seen;
        untried[i] = !row->sights[i].tried;
    }
    put_names(buf, "cannot_see", program->tensors, program->input_count, unseen);
    put_names(buf, "not_tried", program->tensors, program->input_count, untried);
    put_names(buf, "ill_posed", program->outputs, program->output_count, row->ill_posed);
}

void
face_json(struct buf *buf, const struct face_case *rows, size_t count, const char *hash,
          const struct lang_machine *machine)
{
    const struct program *program = rows[0].program;
    buf_puts(buf, "{\"op\":");
    json_put_string(buf, program->name);
    buf_printf(buf, ",\"hash\":\"%s\",\"stages\":%zu", hash, program->stage_count);
    put_tensors(buf, "inputs", program->tensors, program->input_count);
    put_tensors(buf, "outputs", program->outputs, program->output_count);
    buf_puts(buf, ",\"cases\":[");
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buf_putc(buf, ',');
        put_case(buf, &rows[i]);
    }
    buf_putc(buf, ']');
    put_sight(buf, &rows[0]);
    put_machine(buf, machine);
    buf_putc(buf, '}');
}
