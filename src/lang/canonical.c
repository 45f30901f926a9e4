/* The canonical text: what a program computes, whatever its author called things.
 *
 * Inputs, dims and outputs are renamed by position, indices by level, stages by their place in an
 * order that depends on nothing but their meaning: among the stages whose producers are printed,
 * the one with the smallest hash comes next. A stage's hash is that of its own text, in which
 * producers stand by their hashes; a rec block is one unit. */
#include "lang/ir_int.h"

#include "base/hash.h"

#include <string.h>

struct canon {
    struct arena *arena;
    const struct program *program;
    const char **tensor_names; /* by number: as printed now */
    const char **dim_names;    /* by number */
    const struct stage *stage; /* whose indices are named now */
};

struct unit_of_order { /* a stage, or all stages of a rec block */
    size_t first, count;
    char hash[HASH_TEXT];
    int output; /* the first of its stages that is an output, by position; -1: none */
};

static const char *
canon_tensor(void *context, const struct tensor *tensor)
{
    const struct canon *canon = context;
    return canon->tensor_names[tensor->number];
}

static const char *
canon_dim(void *context, const struct dim *dim)
{
    const struct canon *canon = context;
    return canon->dim_names[dim - canon->program->dims];
}

static const char *
canon_index(void *context, unsigned level, const char *name)
{
    const struct canon *canon = context;
    (void)name;
    if (canon->stage->rec >= 0 && level == canon->stage->carried)
        return "t";
    return arena_printf(canon->arena, "k%u", level + 1); /* not i: i8 is a data type */
}

static struct spelling
spelling_of(struct canon *canon)
{
    return (struct spelling){canon_tensor, canon_dim, canon_index, canon, true};
}

static void
print_shape(struct buf *buf, struct canon *canon, const struct tensor *tensor)
{
    struct spelling spelling = spelling_of(canon);
    buf_putc(buf, '[');
    for (unsigned i = 0; i < tensor->rank; i++) {
        buf_puts(buf, i ? "," : "");
        expr_print(buf, tensor->extent[i], &spelling, NULL, 0);
    }
    buf_putc(buf, ']');
}

static void
print_stage(struct buf *buf, struct canon *canon, const struct stage *stage)
{
    struct spelling spelling = spelling_of(canon);
    const struct tensor *tensor = stage->tensor;
    const char *left[LANG_MAX_RANK];
    canon->stage = stage;
    buf_printf(buf, "%s[", canon->tensor_names[tensor->number]);
    for (unsigned i = 0; i < tensor->rank; i++) {
        left[i] = canon_index(canon, i, NULL);
        buf_printf(buf, "%s%s:", i ? "," : "", left[i]);
        expr_print(buf, tensor->extent[i], &spelling, NULL, 0);
    }
    buf_printf(buf, "]: %s = ", dtype_info[tensor->dtype].name);
    expr_print(buf, stage->value, &spelling, left, tensor->rank);
    buf_putc(buf, '\n');
}

static void
print_unit(struct buf *buf, struct canon *canon, const struct unit_of_order *unit)
{
    const struct stage *stages = &canon->program->stages[unit->first];
    struct spelling spelling = spelling_of(canon);
    if (stages[0].rec >= 0) {
        buf_puts(buf, "rec t:");
        expr_print(buf, canon->program->recs[stages[0].rec].extent, &spelling, NULL, 0);
        buf_puts(buf, " {\n");
    }
    for (size_t i = 0; i < unit->count; i++)
        print_stage(buf, canon, &stages[i]);
    if (stages[0].rec >= 0)
        buf_puts(buf, "}\n");
}

/* ---- naming ---- */

static void
name_dims_in(struct canon *canon, const struct expr *e, size_t *count)
{
    if (e->op == OP_DIM) {
        const char **name = &canon->dim_names[e->dim - canon->program->dims];
        if (*name == NULL)
            *name = arena_printf(canon->arena, "D%zu", ++*count);
    }
    for (unsigned i = 0; i < e->count; i++)
        name_dims_in(canon, e->args[i], count);
}

/* By the shapes of the inputs, then as declared. */
static size_t
name_dims(struct canon *canon)
{
    const struct program *program = canon->program;
    size_t count = 0;
    for (size_t i = 0; i < program->input_count; i++)
        for (unsigned d = 0; d < program->tensors[i]->rank; d++)
            name_dims_in(canon, program->tensors[i]->extent[d], &count);
    for (size_t i = 0; i < program->dim_count; i++)
        if (canon->dim_names[i] == NULL)
            canon->dim_names[i] = arena_printf(canon->arena, "D%zu", ++count);
    return count;
}

/* ---- order ---- */

/* Stages come in an order of computation, so producers have their hashes already. */
static struct unit_of_order *
hash_units(struct canon *canon, size_t *count)
{
    const struct program *program = canon->program;
    struct unit_of_order *units =
        arena_array(canon->arena, program->stage_count + 1, sizeof *units);
    for (size_t i = 0; i < program->stage_count;) {
        struct unit_of_order *unit = &units[(*count)++];
        unit->first = i;
        unit->count = program->stages[i].rec < 0 ? 1 : program->recs[program->stages[i].rec].count;
        for (size_t j = 0; j < unit->count; j++)
            canon->tensor_names[program->stages[i + j].tensor->number] =
                arena_printf(canon->arena, "S%zu", j + 1);
        struct buf text = buf_in(canon->arena);
        print_unit(&text, canon, unit);
        hash_sha256(text.data, text.length, unit->hash);
        unit->output = -1;
        for (size_t j = unit->count; j > 0; j--)
            if (program->stages[i + j - 1].tensor->output >= 0)
                unit->output = program->stages[i + j - 1].tensor->output;
        for (size_t j = 0; j < unit->count; j++)
            canon->tensor_names[program->stages[i + j].tensor->number] =
                arena_printf(canon->arena, "T%s%zu", unit->hash, j + 1);
        i += unit->count;
    }
    return units;
}

struct marks {              /* which units the unit with this stamp reads */
    const size_t *unit_of;  /* by tensor number */
    uint32_t *seen, *reads; /* by node, by unit: the stamp of who was there last */
    uint32_t stamp;
};

static void
mark_producers(struct marks *marks, const struct expr *e)
{
    if (marks->seen[e->id] == marks->stamp)
        return;
    marks->seen[e->id] = marks->stamp;
    if (e->op == OP_LOAD && e->tensor->input < 0)
        marks->reads[marks->unit_of[e->tensor->number]] = marks->stamp;
    for (unsigned i = 0; i < e->count; i++)
        mark_producers(marks, e->args[i]);
}

struct order {
    struct unit_of_order *units;
    size_t count;
    size_t *missing;  /* by unit: producers not printed yet */
    size_t **readers; /* by unit: who reads it */
    size_t *reader_count;
    size_t *heap; /* units that can be printed, smallest hash first */
    size_t heap_count;
};

/* Equal stages were merged unless both are outputs: then the order of outputs decides. */
static bool
heap_before(const struct order *order, size_t a, size_t b)
{
    const struct unit_of_order *x = &order->units[a], *y = &order->units[b];
    int compared = strcmp(x->hash, y->hash);
    return compared < 0 || (compared == 0 && x->output < y->output);
}

static void
heap_push(struct order *order, size_t unit)
{
    size_t at = order->heap_count++;
    for (; at > 0 && heap_before(order, unit, order->heap[(at - 1) / 2]); at = (at - 1) / 2)
        order->heap[at] = order->heap[(at - 1) / 2];
    order->heap[at] = unit;
}

static size_t
heap_pop(struct order *order)
{
    size_t top = order->heap[0], last = order->heap[--order->heap_count], at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child + 1 < order->heap_count &&
            heap_before(order, order->heap[child + 1], order->heap[child]))
            child++;
        if (child >= order->heap_count || !heap_before(order, order->heap[child], last))
            break;
        order->heap[at] = order->heap[child];
        at = child;
    }
    order->heap[at] = last;
    return top;
}

static void
link_units(struct canon *canon, struct order *order)
{
    const struct program *program = canon->program;
    size_t *unit_of = arena_array(canon->arena, program->tensor_count, sizeof *unit_of);
    for (size_t u = 0; u < order->count; u++)
        for (size_t j = 0; j < order->units[u].count; j++)
            unit_of[program->stages[order->units[u].first + j].tensor->number] = u;
    struct marks marks = {.unit_of = unit_of};
    marks.seen = arena_array(canon->arena, program->expr_count, sizeof *marks.seen);
    marks.reads = arena_array(canon->arena, order->count + 1, sizeof *marks.reads);
    for (size_t u = 0; u < order->count; u++) {
        marks.stamp = (uint32_t)u + 1;
        for (size_t j = 0; j < order->units[u].count; j++)
            mark_producers(&marks, program->stages[order->units[u].first + j].value);
        for (size_t p = 0; p < u; p++) {
            if (marks.reads[p] != marks.stamp)
                continue;
            order->missing[u]++;
            order->readers[p] = arena_grow(canon->arena, order->readers[p], order->reader_count[p],
                                           order->reader_count[p] + 1, sizeof **order->readers);
            order->readers[p][order->reader_count[p]++] = u;
        }
    }
}

static void
name_outputs_and_stages(struct canon *canon, const struct unit_of_order *unit, size_t *count)
{
    const struct program *program = canon->program;
    for (size_t j = 0; j < unit->count; j++) {
        const struct tensor *tensor = program->stages[unit->first + j].tensor;
        canon->tensor_names[tensor->number] =
            tensor->output >= 0 ? arena_printf(canon->arena, "Y%d", tensor->output + 1)
                                : arena_printf(canon->arena, "T%zu", ++*count);
    }
}

static void
print_units(struct buf *buf, struct canon *canon)
{
    struct order order = {0};
    struct arena *arena = canon->arena;
    size_t named = 0;
    order.units = hash_units(canon, &order.count);
    order.missing = arena_array(arena, order.count + 1, sizeof *order.missing);
    order.readers = arena_array(arena, order.count + 1, sizeof *order.readers);
    order.reader_count = arena_array(arena, order.count + 1, sizeof *order.reader_count);
    order.heap = arena_array(arena, order.count + 1, sizeof *order.heap);
    link_units(canon, &order);
    for (size_t u = 0; u < order.count; u++)
        if (order.missing[u] == 0)
            heap_push(&order, u);
    while (order.heap_count > 0) {
        size_t u = heap_pop(&order);
        name_outputs_and_stages(canon, &order.units[u], &named);
        print_unit(buf, canon, &order.units[u]);
        for (size_t i = 0; i < order.reader_count[u]; i++)
            if (--order.missing[order.readers[u][i]] == 0)
                heap_push(&order, order.readers[u][i]);
    }
}

static void
print_foreign(struct buf *buf, struct canon *canon)
{
    const struct program *program = canon->program;
    buf_printf(buf, "reference \"%s\" tolerance %.17g %.17g\n", program->foreign->hash,
               program->foreign->relative, program->foreign->absolute);
    for (size_t i = 0; i < program->output_count; i++) {
        buf_printf(buf, "out Y%zu: %s", i + 1, dtype_info[program->outputs[i]->dtype].name);
        print_shape(buf, canon, program->outputs[i]);
        buf_putc(buf, '\n');
    }
}

void
lang_canonical(struct buf *buf, const struct program *program)
{
    struct canon canon = {.arena = buf->arena, .program = program};
    canon.tensor_names = arena_array(buf->arena, program->tensor_count, sizeof *canon.tensor_names);
    canon.dim_names = arena_array(buf->arena, program->dim_count + 1, sizeof *canon.dim_names);
    size_t dims = name_dims(&canon);
    buf_puts(buf, "op task\n");
    for (size_t i = 1; i <= dims; i++)
        buf_printf(buf, "%sD%zu=1%s", i == 1 ? "dim " : ", ", i, i == dims ? "\n" : "");
    for (size_t i = 0; i < program->input_count; i++) {
        const struct tensor *tensor = program->tensors[i];
        canon.tensor_names[tensor->number] = arena_printf(buf->arena, "X%zu", i + 1);
        buf_printf(buf, "in X%zu: %s", i + 1, dtype_info[tensor->dtype].name);
        print_shape(buf, &canon, tensor);
        buf_putc(buf, '\n');
    }
    if (program->foreign != NULL) {
        print_foreign(buf, &canon);
        return;
    }
    print_units(buf, &canon);
    buf_puts(buf, "out ");
    for (size_t i = 0; i < program->output_count; i++)
        buf_printf(buf, "%sY%zu", i ? ", " : "", i + 1);
    buf_putc(buf, '\n');
}

const char *
lang_hash(struct arena *arena, const struct program *program)
{
    struct buf text = buf_in(arena);
    char *hash = arena_alloc(arena, HASH_TEXT);
    lang_canonical(&text, program);
    hash_sha256(text.data, text.length, hash);
    return hash;
}
