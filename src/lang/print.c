/* Expressions and stages as text. */
#include "lang/ir_int.h"

#include "base/num.h"

#include <math.h>

/* How tightly an expression binds; operands that bind less stand in brackets. */
enum binding { BIND_OR = 1, BIND_AND, BIND_COMPARE, BIND_ADD, BIND_MUL, BIND_UNARY, BIND_PRIMARY };

static enum binding
binding_of(const struct expr *e)
{
    switch (e->op) {
    case OP_OR:
        return BIND_OR;
    case OP_AND:
        return BIND_AND;
    case OP_LT:
    case OP_LE:
    case OP_GT:
    case OP_GE:
    case OP_EQ:
    case OP_NE:
        return BIND_COMPARE;
    case OP_ADD:
    case OP_SUB:
        return BIND_ADD;
    case OP_MUL:
    case OP_DIV:
    case OP_MOD:
        return BIND_MUL;
    case OP_NEG:
    case OP_NOT:
        return BIND_UNARY;
    case OP_INT:
        if (e->kind == KIND_BOOL)
            return BIND_COMPARE;
        return e->integer < 0 ? BIND_UNARY : BIND_PRIMARY;
    case OP_REAL:
        return signbit(e->real) ? BIND_UNARY : isnan(e->real) ? BIND_ADD : BIND_PRIMARY;
    default:
        return BIND_PRIMARY;
    }
}

struct printer {
    struct buf *buf;
    const struct spelling *spelling;
    const char *names[LANG_MAX_LEVELS];
};

static void
print(struct printer *printer, const struct expr *e, enum binding least, bool spaced);

static const char *
index_name(struct printer *printer, unsigned level, const char *name)
{
    return printer->spelling->index(printer->spelling->context, level, name);
}

static void
print_args(struct printer *printer, const struct expr *e, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (i > 0)
            buf_puts(printer->buf, e->op == OP_LOAD ? "," : ", ");
        print(printer, e->args[i], BIND_OR, false);
    }
}

static void
print_load(struct printer *printer, const struct expr *e)
{
    const struct spelling *spelling = printer->spelling;
    buf_printf(printer->buf, "%s[", spelling->tensor(spelling->context, e->tensor));
    print_args(printer, e, e->tensor->rank);
    if (expr_default(e) != NULL) {
        buf_puts(printer->buf, " | ");
        print(printer, expr_default(e), BIND_OR, false);
    }
    buf_putc(printer->buf, ']');
}

static void
print_reduce(struct printer *printer, const struct expr *e)
{
    const struct binder *binder = e->binder;
    buf_printf(printer->buf, "%s[", reduction_name[binder->reduction]);
    for (unsigned i = 0; i < binder->count; i++) {
        unsigned level = binder->level + i;
        printer->names[level] = index_name(printer, level, binder->names[i]);
        buf_printf(printer->buf, "%s%s", i ? "," : "", printer->names[level]);
        if (printer->spelling->extents) {
            buf_putc(printer->buf, ':');
            print(printer, binder->extent[i], BIND_OR, false);
        }
    }
    if (expr_filter(e) != NULL) {
        buf_puts(printer->buf, " ? ");
        print(printer, expr_filter(e), BIND_OR, false);
    }
    buf_puts(printer->buf, "](");
    print(printer, e->args[0], BIND_OR, false);
    buf_putc(printer->buf, ')');
}

static void
print_cat(struct printer *printer, const struct expr *e)
{
    buf_printf(printer->buf, "cat[%s](", printer->names[e->binder->level]);
    for (unsigned i = 0; i < e->count; i++) {
        if (i > 0)
            buf_puts(printer->buf, ", ");
        print(printer, e->args[i], BIND_OR, false);
        if (printer->spelling->extents) {
            buf_putc(printer->buf, ':');
            print(printer, e->binder->extent[i], BIND_OR, false);
        }
    }
    buf_putc(printer->buf, ')');
}

static void
print_infix(struct printer *printer, const struct expr *e, enum binding binding, bool spaced)
{
    bool compares = binding == BIND_COMPARE;
    bool blanks = spaced || binding < BIND_ADD;
    print(printer, e->args[0], binding + compares, spaced && binding >= BIND_ADD);
    buf_printf(printer->buf, blanks ? " %s " : "%s", op_info[e->op].spelling);
    print(printer, e->args[1], binding + 1, false);
}

static void
print_bare(struct printer *printer, const struct expr *e, enum binding binding, bool spaced)
{
    struct buf *buf = printer->buf;
    switch (e->op) {
    case OP_INT:
        if (e->kind == KIND_BOOL)
            buf_puts(buf, e->integer ? "0 == 0" : "0 == 1");
        else
            buf_printf(buf, "%lld", (long long)e->integer);
        return;
    case OP_REAL:
        if (isnan(e->real))
            buf_puts(buf, "inf-inf");
        else
            num_put_double(buf, e->real);
        return;
    case OP_INDEX:
        buf_puts(buf, printer->names[e->level]);
        return;
    case OP_DIM:
        buf_puts(buf, printer->spelling->dim(printer->spelling->context, e->dim));
        return;
    case OP_LOAD:
        print_load(printer, e);
        return;
    case OP_REDUCE:
        print_reduce(printer, e);
        return;
    case OP_CAT:
        print_cat(printer, e);
        return;
    case OP_NEG:
    case OP_NOT:
        buf_puts(buf, op_info[e->op].spelling);
        print(printer, e->args[0], BIND_UNARY, false);
        return;
    default:
        break;
    }
    if (op_info[e->op].form == FORM_INFIX) {
        print_infix(printer, e, binding, spaced);
        return;
    }
    buf_printf(buf, "%s(", e->op == OP_CAST ? dtype_info[e->dtype].name : op_info[e->op].spelling);
    print_args(printer, e, e->count);
    buf_putc(buf, ')');
}

static void
print(struct printer *printer, const struct expr *e, enum binding least, bool spaced)
{
    enum binding binding = binding_of(e);
    if (binding < least)
        buf_putc(printer->buf, '(');
    print_bare(printer, e, binding, spaced && binding >= least);
    if (binding < least)
        buf_putc(printer->buf, ')');
}

void
expr_print(struct buf *buf, const struct expr *e, const struct spelling *spelling,
           const char *const *left, unsigned rank)
{
    struct printer printer = {.buf = buf, .spelling = spelling};
    for (unsigned i = 0; i < rank; i++)
        printer.names[i] = left[i];
    print(&printer, e, BIND_OR, left != NULL); /* extents are written without blanks */
}

/* ---- the expanded program, names as written ---- */

static const char *
plain_tensor(void *context, const struct tensor *tensor)
{
    (void)context;
    return tensor->name;
}

static const char *
plain_dim(void *context, const struct dim *dim)
{
    (void)context;
    return dim->name;
}

static const char *
plain_index(void *context, unsigned level, const char *name)
{
    (void)context;
    (void)level;
    return name;
}

const struct spelling spelling_plain = {plain_tensor, plain_dim, plain_index, NULL, false};
static const struct spelling spelling_full = {plain_tensor, plain_dim, plain_index, NULL, true};

static void
print_stage(struct buf *buf, const struct stage *stage, const struct spelling *spelling)
{
    const struct tensor *tensor = stage->tensor;
    buf_printf(buf, "%s[", tensor->name);
    for (unsigned i = 0; i < tensor->rank; i++) {
        buf_printf(buf, "%s%s", i ? "," : "", stage->index[i]);
        if (spelling->extents) {
            buf_putc(buf, ':');
            expr_print(buf, tensor->extent[i], &spelling_plain, NULL, 0);
        }
    }
    buf_puts(buf, "]");
    if (spelling->extents)
        buf_printf(buf, ": %s", dtype_info[tensor->dtype].name);
    buf_puts(buf, " = ");
    expr_print(buf, stage->value, spelling, stage->index, tensor->rank);
}

void
lang_expand_stage(struct buf *buf, const struct program *program, const struct stage *stage)
{
    (void)program;
    print_stage(buf, stage, &spelling_plain);
}

void
lang_expand(struct buf *buf, const struct program *program)
{
    int rec = -1;
    for (size_t i = 0; i < program->stage_count; i++) {
        const struct stage *stage = &program->stages[i];
        if (rec >= 0 && stage->rec != rec)
            buf_puts(buf, "}\n");
        if (stage->rec >= 0 && stage->rec != rec) {
            buf_printf(buf, "rec %s:", stage->index[stage->carried]);
            expr_print(buf, program->recs[stage->rec].extent, &spelling_plain, NULL, 0);
            buf_puts(buf, " {\n");
        }
        rec = stage->rec;
        buf_puts(buf, rec >= 0 ? "    " : "");
        print_stage(buf, stage, &spelling_full);
        buf_putc(buf, '\n');
    }
    if (rec >= 0)
        buf_puts(buf, "}\n");
}
