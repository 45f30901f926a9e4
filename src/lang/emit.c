/* The driver: what is read where and how long it lives; what the whole needs. */
#include "lang/emit_int.h"

#include <assert.h>
#include <stdarg.h>

/* ---- printing ---- */

static void
put_indent(struct emitter *em, const char *text)
{
    for (unsigned i = 0; i < em->indent && *text != '#'; i++)
        buf_puts(em->out, "    ");
}

void
emit_line(struct emitter *em, const char *format, ...)
{
    va_list args;

    put_indent(em, format);
    va_start(args, format);
    buf_vprintf(em->out, format, args);
    va_end(args);
    buf_putc(em->out, '\n');
}

void
emit_open(struct emitter *em, const char *format, ...)
{
    va_list args;
    size_t start;

    put_indent(em, format);
    start = em->out->length;
    va_start(args, format);
    buf_vprintf(em->out, format, args);
    va_end(args);
    buf_puts(em->out, em->out->length > start ? " {\n" : "{\n");
    em->indent++;
}

void
emit_close(struct emitter *em)
{
    em->indent--;
    emit_line(em, "}");
}

/* ---- what is read ---- */

/* Calls f once for each node below e in this stage. */
static void
each_node(struct emitter *em, const struct expr *e,
          void (*f)(struct emitter *, const struct expr *))
{
    struct node *node = &em->nodes[emit_key(e, KIND_F32)];

    if (node->seen == em->walk)
        return;
    node->seen = em->walk;
    for (unsigned i = 0; i < e->count; i++)
        each_node(em, e->args[i], f);
    f(em, e);
}

void
emit_walk(struct emitter *em, const struct stage *stage,
          void (*f)(struct emitter *, const struct expr *))
{
    em->walk++;
    each_node(em, stage->code, f);
}

/* ---- arrays ---- */

unsigned
emit_leading(const struct emitter *em, const struct expr *load, int64_t *offset)
{
    const struct tensor *tensor = load->tensor;
    unsigned count = 0;

    *offset = 0;
    if (em->single || tensor == em->stage->tensor)
        return 0;
    while (count < tensor->rank && load->args[count]->op == OP_INT &&
           load->args[count]->integer >= 0 && load->args[count]->integer < tensor->size[count]) {
        *offset = *offset * tensor->size[count] + load->args[count]->integer;
        count++;
    }
    for (unsigned d = count; d < tensor->rank; d++)
        *offset *= tensor->size[d];
    return count;
}

unsigned
emit_read(const struct emitter *em, const struct expr *load)
{
    int64_t offset;
    unsigned n = 0;

    emit_leading(em, load, &offset);
    while (n < em->read_count &&
           (em->reads[n].tensor != load->tensor || em->reads[n].offset != offset))
        n++;
    return n;
}

const char *
emit_array(struct emitter *em, unsigned place)
{
    const struct tensor *tensor = em->reads[place].tensor;

    if (em->single)
        return em->name[tensor->number];
    return emit_text(em, !em->bounds ? "x%u" : tensor->stage ? "v%u" : "in%u", place);
}

static void
note_array(struct emitter *em, const struct tensor *tensor, int64_t offset)
{
    if (em->read_count == em->read_capacity) {
        em->read_capacity = 2 * em->read_capacity + 8;
        em->reads =
            arena_grow(em->arena, em->reads, em->read_count, em->read_capacity, sizeof *em->reads);
    }
    em->reads[em->read_count++] = (struct read){tensor, offset};
}

static void
note_load(struct emitter *em, const struct expr *load)
{
    int64_t offset;

    emit_leading(em, load, &offset);
    if (emit_read(em, load) == em->read_count)
        note_array(em, load->tensor, offset);
}

static void
note_node(struct emitter *em, const struct expr *e)
{
    if (e->op == OP_LOAD)
        note_load(em, e);
    if (e->op == OP_REDUCE)
        em->reduce = e;
    if (e->op == OP_CAT)
        em->cat = true;
}

static void
note_extent(struct emitter *em, unsigned level, const struct expr *extent)
{
    em->extent[level] = expr_integer(extent);
    em->formula[level] = extent;
    em->size[level] = emit_size(em, extent);
}

void
emit_enter(struct emitter *em, size_t s)
{
    const struct stage *stage = &em->program->stages[s];

    em->stage = stage;
    em->number = s;
    em->stage_stamp++;
    em->reduce = NULL;
    em->cat = false;
    em->ordinal = 0;
    em->read_count = 0;
    note_array(em, stage->tensor, 0);
    emit_walk(em, stage, note_node);
    for (unsigned l = 0; l < stage->tensor->rank; l++)
        note_extent(em, l, stage->tensor->extent[l]);
    for (unsigned i = 0; em->reduce && i < em->reduce->binder->count; i++)
        note_extent(em, em->reduce->binder->level + i, em->reduce->binder->extent[i]);
}

size_t
emit_step_end(const struct program *program, size_t s)
{
    int rec = program->stages[s].rec;

    return rec < 0 ? s : program->recs[rec].first + program->recs[rec].count - 1;
}

static void
note_read(struct emitter *em, const struct expr *e)
{
    em->wide |= e->kind == KIND_F64;
    if (e->op != OP_LOAD)
        return;
    size_t end = emit_step_end(em->program, em->number);
    if (em->last[e->tensor->number] < end)
        em->last[e->tensor->number] = end;
}

static void
find_lives(struct emitter *em)
{
    const struct program *program = em->program;

    for (size_t s = 0; s < program->stage_count; s++) {
        em->number = s;
        em->last[program->stages[s].tensor->number] = emit_step_end(program, s);
        em->wide |= program->stages[s].tensor->dtype == DTYPE_F64;
    }
    for (size_t s = 0; s < program->stage_count; s++) {
        em->number = s;
        emit_walk(em, &program->stages[s], note_read);
    }
}

struct emitter *
emit_create(struct arena *arena, const struct program *program, const struct emit_options *options)
{
    struct emitter *em = arena_alloc(arena, sizeof *em);

    em->arena = arena;
    em->options = *options;
    em->bounds = options->form == EMIT_REFERENCE;
    em->general = options->form == EMIT_GENERAL;
    em->single = em->general || options->form == EMIT_NAIVE;
    em->plain = em->single;
    if (em->general)
        program = emit_generalise(arena, program);
    em->program = program;
    em->exact = arena_array(arena, program->tensor_count, sizeof *em->exact);
    em->last = arena_array(arena, program->tensor_count, sizeof *em->last);
    em->name = arena_array(arena, program->tensor_count, sizeof *em->name);
    em->nodes = arena_array(arena, 2 * program->expr_count, sizeof *em->nodes);
    for (size_t t = 0; t < program->tensor_count; t++)
        em->name[t] = emit_text(em, "x%zu", t);
    find_lives(em);
    if (em->bounds)
        emit_find_exact(em);
    for (unsigned l = 0; l < LANG_MAX_LEVELS; l++)
        em->index[l] = emit_text(em, "i%u", l);
    return em;
}

bool
emit_shows_terms(const struct tensor *tensor)
{
    const struct expr *code = tensor->stage ? tensor->stage->code : NULL;

    return tensor->output >= 0 && code && code->op == OP_REDUCE &&
           code->binder->reduction >= REDUCE_ARGMAX;
}

/* ---- all of it ---- */

static void
print_program(struct buf *buf, const struct program *program, const struct emit_options *options,
              bool plain)
{
    struct arena *arena = arena_create();
    struct emitter *em;

    assert(!program->foreign && arena);
    em = emit_create(arena, program, options);
    em->out = buf;
    em->plain |= plain;
    if (em->bounds)
        emit_reference(em);
    else
        emit_kernel(em);
    arena_destroy(arena);
}

void
lang_emit(struct buf *buf, const struct program *program, const struct emit_options *options)
{
    print_program(buf, program, options, false);
}

void
emit_without_panels(struct buf *buf, const struct program *program,
                    const struct emit_options *options)
{
    print_program(buf, program, options, true);
}

/* ---- what it needs ---- */

static double
bytes_of(const struct emitter *em, const struct tensor *tensor)
{
    double count = (double)tensor->count * (em->exact[tensor->number] ? 8 : 24);

    if (emit_shows_terms(tensor))
        count *= 1 + (double)expr_terms(tensor->stage->code);
    return count;
}

static double
outputs_bytes(const struct emitter *em)
{
    double bytes = 0;

    for (size_t o = 0; o < em->program->output_count; o++)
        bytes += bytes_of(em, em->program->outputs[o]);
    return bytes;
}

/* The same order of making and dropping as print_run. */
static double
peak_bytes(const struct emitter *em)
{
    const struct program *program = em->program;
    double live = outputs_bytes(em), peak = live;

    for (size_t s = 0; s < program->stage_count; s++) {
        size_t end = emit_step_end(program, s);
        for (size_t i = s; i <= end; i++)
            if (program->stages[i].tensor->output < 0)
                live += bytes_of(em, program->stages[i].tensor);
        peak = live > peak ? live : peak;
        for (size_t i = 0; i <= end; i++) {
            const struct tensor *tensor = program->stages[i].tensor;
            if (tensor->output < 0 && em->last[tensor->number] == end)
                live -= bytes_of(em, tensor);
        }
        s = end;
    }
    return peak;
}

void
lang_reference_needs(const struct program *program, struct lang_needs *needs)
{
    struct emit_options options = {.form = EMIT_REFERENCE};
    struct arena *arena = arena_create();

    *needs = (struct lang_needs){0};
    if (!arena)
        return;
    struct emitter *em = emit_create(arena, program, &options);
    needs->peak_bytes = program->foreign ? 3 * outputs_bytes(em) : peak_bytes(em);
    for (size_t s = 0; s < program->stage_count; s++) {
        emit_enter(em, s);
        needs->terms += (double)program->stages[s].tensor->count * emit_work(em);
    }
    arena_destroy(arena);
}
