/* The contract as it is shown: the rules of the target and, for a task, its own prototype, sizes
 * and prelude. */
#include "target/target_int.h"

#include <string.h>

#define WIDTH 96

void
target__fill(struct filler *filler, const char *word)
{
    size_t length = strlen(word);

    if (filler->column > 0 && filler->column + 1 + length > WIDTH)
        target__fill_end(filler);
    if (filler->column == 0)
        buf_printf(filler->buf, "%*s%s", (int)filler->indent, "", word);
    else
        buf_printf(filler->buf, " %s", word);
    filler->column += (filler->column == 0 ? filler->indent : 1) + length;
}

void
target__fill_end(struct filler *filler)
{
    if (filler->column > 0)
        buf_putc(filler->buf, '\n');
    filler->column = 0;
}

/* ---- shapes ---- */

static int
rank_of(const struct expr *e)
{
    switch ((enum op)e->op) {
    case OP_ADD:
    case OP_SUB:
        return 1;
    case OP_MUL:
    case OP_DIV:
    case OP_MOD:
        return 2;
    default:
        return op_info[e->op].form == FORM_INFIX ? 0 : 3;
    }
}

static void
put_size(struct buf *buf, const struct expr *e, int around);

static void
put_operation(struct buf *buf, const struct expr *e)
{
    if (op_info[e->op].form == FORM_INFIX) {
        put_size(buf, e->args[0], rank_of(e));
        buf_puts(buf, op_info[e->op].spelling);
        put_size(buf, e->args[1], rank_of(e) + 1);
        return;
    }
    buf_puts(buf, op_info[e->op].spelling);
    if (op_info[e->op].form == FORM_PREFIX) {
        put_size(buf, e->args[0], 3);
        return;
    }
    for (unsigned i = 0; i < e->count; i++) {
        buf_putc(buf, i ? ',' : '(');
        put_size(buf, e->args[i], 0);
    }
    buf_putc(buf, ')');
}

/* A size over dims; in brackets if it binds less than what stands around it. */
static void
put_size(struct buf *buf, const struct expr *e, int around)
{
    bool brackets = rank_of(e) < around;

    if (e->op == OP_DIM) {
        buf_puts(buf, e->dim->name);
    } else if (e->op == OP_INT || op_info[e->op].form == FORM_OWN) {
        buf_printf(buf, "%lld", (long long)expr_integer(e));
    } else {
        buf_puts(buf, brackets ? "(" : "");
        put_operation(buf, e);
        buf_puts(buf, brackets ? ")" : "");
    }
}

void
target_put_type(struct buf *buf, const struct tensor *tensor)
{
    buf_printf(buf, "%s[", dtype_info[tensor->dtype].name);
    for (unsigned d = 0; d < tensor->rank; d++) {
        buf_puts(buf, d ? "," : "");
        put_size(buf, tensor->extent[d], 0);
    }
    buf_putc(buf, ']');
}

void
target_put_sizes(struct buf *buf, const struct program *program)
{
    for (size_t i = 0; i < program->dim_count; i++)
        buf_printf(buf, "%s%s == %lld", i ? " && " : "", program->dims[i].name,
                   (long long)program->dims[i].size);
}

/* ---- a task ---- */

static void
put_parameters(struct buf *buf, const char *what, struct tensor *const *tensors, size_t count)
{
    struct filler filler = {.buf = buf, .indent = 4};

    for (size_t i = 0; i < count; i++) {
        struct buf word = buf_in(buf->arena);
        buf_printf(&word, "%s%s %s", i ? "" : what, i ? "" : " ", tensors[i]->name);
        buf_puts(&word, " ");
        target_put_type(&word, tensors[i]);
        buf_puts(&word, i + 1 < count ? "," : "");
        target__fill(&filler, word.data);
    }
    target__fill_end(&filler);
}

/* "R=1024 N=4096 S=1 to 2048" */
static void
put_case(struct buf *buf, const struct program *program, int width)
{
    buf_printf(buf, "    %-*s ", width, program->case_name);
    for (size_t i = 0; i < program->dim_count; i++)
        buf_printf(buf, " %s=%lld", program->dims[i].name, (long long)program->dims[i].size);
    for (size_t i = 0; i < program->const_count; i++)
        buf_printf(buf, " %s=%lld", program->const_names[i], (long long)program->const_values[i]);
    buf_puts(buf, program->check_only ? "  (checked, not timed)\n" : "\n");
}

static void
put_cases(struct buf *buf, const struct program *const *programs, size_t count)
{
    size_t width = 0;

    buf_puts(buf, count > 1 ? "Sizes, as macros; the same file must serve every case:\n"
                            : "Sizes, as macros:\n");
    for (size_t i = 0; i < count; i++)
        width = strlen(programs[i]->case_name) > width ? strlen(programs[i]->case_name) : width;
    for (size_t i = 0; i < count; i++)
        put_case(buf, programs[i], (int)width);
    for (size_t i = 0; i < programs[0]->dim_count; i++) {
        const struct dim *dim = &programs[0]->dims[i];
        if (dim->any)
            buf_printf(buf, "    and every %s from 1 to %lld that the task's `require` admits\n",
                       dim->name, 2 * (long long)dim->given);
    }
}

static void
put_task(struct buf *buf, const struct target *target, const struct program *const *programs,
         size_t count, size_t shown)
{
    const struct program *program = programs[shown];

    if (target->signature) {
        struct buf signature = buf_in(buf->arena);
        target->signature(&signature, program);
        buf_printf(buf, "\nThe task %s wants\n\n%s;\n\n", program->name, signature.data);
    }
    put_parameters(buf, "in ", program->tensors, program->input_count);
    put_parameters(buf, "out", program->outputs, program->output_count);
    buf_putc(buf, '\n');
    put_cases(buf, programs, count);
    if (target->prelude) {
        buf_printf(buf, "\nThe prelude of case %s; the kernel's text follows it:\n\n",
                   program->case_name);
        target_put_prelude(buf, target, program);
    }
}

void
target_contract(struct buf *buf, const struct target *target, const struct program *const *programs,
                size_t count, size_t shown)
{
    target->contract(buf, target);
    if (programs)
        put_task(buf, target, programs, count, shown);
}
