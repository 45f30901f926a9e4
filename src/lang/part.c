/* Some stages of a program as a program of their own: what they read from others is an input, what
 * others read or the program gives is an output. The text has the author's names, so that a
 * schedule of the part is lines of a schedule of the whole; only dots, which no name may have,
 * become underscores. */
#include "lang/ir_int.h"

#include "base/num.h"

#include <string.h>

struct cutting {
    struct arena *arena;
    const struct program *program;
    size_t first, count;
    bool *read;   /* by tensor number: some stage of the part reads it */
    bool *wanted; /* some stage behind the part does, or it is an output */
    bool *seen;   /* by expression */
};

const char *
lang_part_name(struct arena *arena, const struct tensor *tensor)
{
    char *name = arena_strdup(arena, tensor->name);
    for (char *at = name; (at = strchr(at, '.')) != NULL;)
        *at = '_';
    return name;
}

static void
note_reads(struct cutting *cutting, const struct expr *e, bool *into)
{
    if (cutting->seen[e->id])
        return;
    cutting->seen[e->id] = true;
    if (e->op == OP_LOAD)
        into[e->tensor->number] = true;
    for (unsigned i = 0; i < e->count; i++)
        note_reads(cutting, e->args[i], into);
}

static void
note_all(struct cutting *cutting)
{
    const struct program *program = cutting->program;
    for (size_t i = cutting->first; i < program->stage_count; i++) {
        bool inside = i < cutting->first + cutting->count;
        memset(cutting->seen, 0, program->expr_count * sizeof *cutting->seen);
        note_reads(cutting, program->stages[i].value, inside ? cutting->read : cutting->wanted);
    }
    for (size_t i = 0; i < program->output_count; i++)
        cutting->wanted[program->outputs[i]->number] = true;
}

static bool
is_inside(const struct cutting *cutting, const struct tensor *tensor)
{
    return tensor->stage >= &cutting->program->stages[cutting->first] &&
           tensor->stage < &cutting->program->stages[cutting->first + cutting->count];
}

/* A recurrence is one whole. */
static bool
cuts_rec(const struct cutting *cutting)
{
    for (size_t i = cutting->first; i < cutting->first + cutting->count; i++)
        if (cutting->program->stages[i].rec >= 0)
            return true;
    return false;
}

/* ---- text ---- */

static const char *
part_tensor(void *context, const struct tensor *tensor)
{
    const struct cutting *cutting = context;
    return lang_part_name(cutting->arena, tensor);
}

static const char *
part_dim(void *context, const struct dim *dim)
{
    (void)context;
    return dim->name;
}

static const char *
part_index(void *context, unsigned level, const char *name)
{
    (void)context;
    (void)level;
    return name;
}

static struct spelling
spelling_of(struct cutting *cutting)
{
    return (struct spelling){part_tensor, part_dim, part_index, cutting, true};
}

static void
put_real(struct buf *buf, const char *word, double value)
{
    buf_printf(buf, " %s ", word);
    num_put_double(buf, value);
}

static void
put_domain(struct buf *buf, const struct domain *domain)
{
    static const char *const forms[DOMAIN_FORMS] = {[DOMAIN_SOFTMAX] = "softmax",
                                                    [DOMAIN_LOWER] = "lower",
                                                    [DOMAIN_UPPER] = "upper",
                                                    [DOMAIN_SYMMETRIC] = "symmetric"};
    if (forms[domain->form] != NULL)
        buf_printf(buf, " as %s", forms[domain->form]);
    else if (domain->form == DOMAIN_SCALE)
        put_real(buf, "scale", domain->low);
    else if (domain->form == DOMAIN_INTERVAL) {
        put_real(buf, "from", domain->low);
        put_real(buf, "to", domain->high);
    }
    for (size_t i = 0; domain->form == DOMAIN_AMONG && i < domain->count; i++)
        put_real(buf, i ? "," : "among", domain->values[i]);
}

static void
put_input(struct buf *buf, struct cutting *cutting, const struct tensor *tensor)
{
    struct spelling spelling = spelling_of(cutting);
    buf_printf(buf, "in %s: %s[", lang_part_name(cutting->arena, tensor),
               dtype_info[tensor->dtype].name);
    for (unsigned i = 0; i < tensor->rank; i++) {
        buf_puts(buf, i ? "," : "");
        expr_print(buf, tensor->extent[i], &spelling, NULL, 0);
    }
    buf_putc(buf, ']');
    if (tensor->input >= 0)
        put_domain(buf, &tensor->domain);
    buf_putc(buf, '\n');
}

static void
put_stage(struct buf *buf, struct cutting *cutting, const struct stage *stage)
{
    struct spelling spelling = spelling_of(cutting);
    const struct tensor *tensor = stage->tensor;
    buf_printf(buf, "%s[", lang_part_name(cutting->arena, tensor));
    for (unsigned i = 0; i < tensor->rank; i++) {
        buf_printf(buf, "%s%s:", i ? "," : "", stage->index[i]);
        expr_print(buf, tensor->extent[i], &spelling, NULL, 0);
    }
    buf_printf(buf, "]: %s = ", dtype_info[tensor->dtype].name);
    expr_print(buf, stage->value, &spelling, stage->index, tensor->rank);
    buf_putc(buf, '\n');
}

static void
put_sizes(struct buf *buf, const struct program *const *programs, size_t count)
{
    for (size_t i = 0; i < programs[0]->dim_count; i++)
        buf_printf(buf, "dim %s=%lld\n", programs[0]->dims[i].name,
                   (long long)programs[0]->dims[i].size);
    for (size_t p = 1; p < count; p++) {
        buf_printf(buf, "case %s", programs[p]->case_name);
        for (size_t i = 0; i < programs[p]->dim_count; i++)
            buf_printf(buf, " %s=%lld", programs[p]->dims[i].name,
                       (long long)programs[p]->dims[i].size);
        buf_puts(buf, programs[p]->check_only ? " check\n" : "\n");
    }
}

/* ---- all of it ---- */

static void
list_tensors(struct cutting *cutting, struct lang_part *part)
{
    const struct program *program = cutting->program;
    part->inputs = arena_array(cutting->arena, program->tensor_count, sizeof *part->inputs);
    part->outputs = arena_array(cutting->arena, program->tensor_count, sizeof *part->outputs);
    for (size_t i = 0; i < program->tensor_count; i++) {
        const struct tensor *tensor = program->tensors[i];
        bool inside = tensor->stage != NULL && is_inside(cutting, tensor);
        if (!inside && cutting->read[tensor->number])
            part->inputs[part->input_count++] = tensor;
        if (inside && cutting->wanted[tensor->number])
            part->outputs[part->output_count++] = tensor;
    }
}

bool
lang_part(struct arena *arena, const struct program *const *programs, size_t program_count,
          size_t first, size_t count, struct lang_part *part)
{
    const struct program *program = programs[0];
    struct buf text = buf_in(arena);
    struct cutting cutting = {
        .arena = arena,
        .program = program,
        .first = first,
        .count = count,
        .read = arena_array(arena, program->tensor_count, sizeof *cutting.read),
        .wanted = arena_array(arena, program->tensor_count, sizeof *cutting.wanted),
        .seen = arena_array(arena, program->expr_count, sizeof *cutting.seen)};
    *part = (struct lang_part){0};
    if (program->foreign || cuts_rec(&cutting))
        return false;
    note_all(&cutting);
    list_tensors(&cutting, part);
    buf_printf(&text, "op %s\n", program->name);
    put_sizes(&text, programs, program_count);
    for (size_t i = 0; i < part->input_count; i++)
        put_input(&text, &cutting, part->inputs[i]);
    for (size_t i = first; i < first + count; i++)
        put_stage(&text, &cutting, &program->stages[i]);
    for (size_t i = 0; i < part->output_count; i++)
        buf_printf(&text, "out %s\n", lang_part_name(arena, part->outputs[i]));
    part->text = text.data;
    return part->input_count > 0 && part->output_count > 0;
}
