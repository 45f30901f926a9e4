/* A node as C in plain arithmetic: the kernels' own types, or double where the reference is exact.
 *
 * A node that is used once is written where it is used; any other becomes a constant of its scope.
 */
#include "lang/emit_int.h"

#include "base/num.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define INLINE_LENGTH 64 /* of a node that is used once */
#define INDEX_LENGTH 24  /* of index arithmetic that is repeated rather than named */

/* ---- constants ---- */

static const char *
integer_text(struct emitter *em, int64_t value)
{
    if (value == INT64_MIN)
        return "INT64_MIN";
    bool small = value > INT32_MIN && value <= INT32_MAX;
    const char *text =
        emit_text(em, small ? "%lld" : "INT64_C(%lld)", (long long)(value < 0 ? -value : value));
    return value < 0 ? emit_text(em, "(-%s)", text) : text;
}

const char *
emit_real(struct emitter *em, double value, enum kind kind)
{
    struct buf buf = buf_in(em->arena);
    bool single = kind == KIND_F32 && !em->bounds;

    if (isnan(value))
        return "NAN";
    if (isinf(value))
        return value > 0 ? "INFINITY" : "(-INFINITY)";
    if (value < 0 || (value == 0 && signbit(value)))
        buf_puts(&buf, "(-");
    if (single && fabs(value) > 0x1.fffffep127)
        buf_puts(&buf, "INFINITY");
    else
        num_put_double(&buf, fabs(value));
    if (single && fabs(value) <= 0x1.fffffep127)
        buf_putc(&buf, 'f');
    if (value < 0 || (value == 0 && signbit(value)))
        buf_putc(&buf, ')');
    return buf.data;
}

static bool
is_leaf(const struct expr *e)
{
    return e->op == OP_INT || e->op == OP_REAL || e->op == OP_INDEX || e->op == OP_DIM;
}

static const char *
leaf_text(struct emitter *em, const struct expr *e, enum kind kind)
{
    if (e->op == OP_REAL)
        return emit_real(em, e->real, kind);
    if (e->op == OP_INDEX)
        return em->index[e->level];
    if (e->op == OP_DIM && em->general)
        return kind > KIND_INT
                   ? emit_text(em, "(%s)%s", emit_c_type(em, kind), emit_dim(em, e->dim))
                   : emit_dim(em, e->dim);
    int64_t value = e->op == OP_DIM ? e->dim->size : e->integer;
    return kind > KIND_INT ? emit_real(em, (double)value, kind) : integer_text(em, value);
}

/* ---- text ---- */

/* An operator stands outside of all brackets; the emitter writes blanks around every one. */
static bool
is_compound(const char *text)
{
    int depth = 0;

    if (*text == '-' || *text == '!')
        return true;
    for (; *text; text++) {
        depth += (*text == '(' || *text == '[' || *text == '{');
        depth -= (*text == ')' || *text == ']' || *text == '}');
        if (depth == 0 && *text == ' ')
            return true;
    }
    return false;
}

static const char *
wrapped(struct emitter *em, const char *text)
{
    return is_compound(text) ? emit_text(em, "(%s)", text) : text;
}

/* Without the brackets around all of it. */
const char *
emit_bare(struct emitter *em, const char *text)
{
    size_t length = strlen(text);
    int depth = 0;

    if (*text != '(')
        return text;
    for (size_t i = 0; i < length; i++) {
        depth += (text[i] == '(') - (text[i] == ')');
        if (depth == 0)
            return i + 1 == length ? arena_strndup(em->arena, text + 1, length - 2) : text;
    }
    return text;
}

/* As a summand: sums of products need no brackets. */
static const char *
summand(struct emitter *em, const char *text)
{
    return strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789 +*") ==
                   strlen(text)
               ? text
               : wrapped(em, text);
}

const char *
emit_address(struct emitter *em, const struct tensor *tensor, const char *const *subscripts,
             unsigned first)
{
    const char *text = "0";

    for (unsigned d = first; d < tensor->rank; d++) {
        if (strcmp(text, "0") == 0)
            text = subscripts[d];
        else if (strcmp(subscripts[d], "0") == 0)
            text = emit_text(em, "%s*%s", wrapped(em, text), emit_size(em, tensor->extent[d]));
        else
            text = emit_text(em, "%s*%s + %s", wrapped(em, text), emit_size(em, tensor->extent[d]),
                             summand(em, subscripts[d]));
    }
    return text;
}

/* ---- conversions ---- */

static const char *
converted(struct emitter *em, const char *text, enum kind from, enum kind to)
{
    if (from > KIND_INT || to <= KIND_INT) {
        if (from == KIND_F32 && to == KIND_F64 && !em->bounds)
            return emit_text(em, "(double)%s", wrapped(em, text));
        return text;
    }
    return emit_text(em, "(%s)%s", emit_c_type(em, to), wrapped(em, text));
}

const char *
emit_number(struct emitter *em, const struct expr *e, enum kind kind)
{
    const struct node *node = &em->nodes[emit_key(e, kind)];

    if (e->op == OP_INDEX)
        return converted(em, em->index[e->level], KIND_INT, kind);
    if (is_leaf(e))
        return leaf_text(em, e, kind);
    assert(node->stamp == em->stamp && node->text);
    return converted(em, node->text, node->kind, kind);
}

/* ---- loads ---- */

static const char *
subscript(struct emitter *em, const struct expr *e)
{
    if (emit_is_exact(em, e, KIND_INT))
        return emit_number(em, e, KIND_INT);
    return emit_text(em, "(int64_t)%s.v", wrapped(em, emit_val(em, e, KIND_INT)));
}

static bool
subscript_can_leave(const struct emitter *em, const struct expr *load, unsigned d)
{
    struct interval range = emit_interval(em, load->args[d]);

    if (em->general) /* only an index that counts this very size is known to end before it */
        return load->args[d]->op != OP_INDEX ||
               em->formula[load->args[d]->level] != load->tensor->extent[d];
    return range.low < 0 || range.high >= load->tensor->size[d];
}

bool
emit_can_leave(const struct emitter *em, const struct expr *load)
{
    for (unsigned d = 0; d < load->tensor->rank; d++)
        if (subscript_can_leave(em, load, d))
            return true;
    return false;
}

const char *
emit_place(struct emitter *em, const struct expr *load, const char **inside)
{
    const struct tensor *tensor = load->tensor;
    const char *subscripts[LANG_MAX_RANK];
    int64_t offset;
    unsigned first = emit_leading(em, load, &offset);

    *inside = "";
    for (unsigned d = first; d < tensor->rank; d++) {
        subscripts[d] = subscript(em, load->args[d]);
        if (!subscript_can_leave(em, load, d) || (!expr_default(load) && !em->cat))
            continue;
        const char *test =
            emit_text(em, em->general ? "(uint64_t)%s < (uint64_t)%s" : "(uint64_t)%s < %s",
                      wrapped(em, subscripts[d]), emit_size(em, tensor->extent[d]));
        *inside = **inside ? emit_text(em, "%s && %s", *inside, test) : test;
    }
    return emit_address(em, tensor, subscripts, first);
}

/* An element of the tensor, in the kind that its dtype is read as. */
static const char *
element(struct emitter *em, const struct expr *load, const char *address)
{
    const struct tensor *tensor = load->tensor;
    const char *text = emit_text(em, "%s[%s]", emit_array(em, emit_read(em, load)), address);

    if (em->bounds && tensor->stage)
        return dtype_is_float(tensor->dtype) ? text : emit_text(em, "(int64_t)%s", text);
    switch (tensor->dtype) {
    case DTYPE_F32:
        return em->bounds ? emit_text(em, "(double)%s", text) : text;
    case DTYPE_F16:
        return emit_text(em, em->bounds ? "(double)%s" : "(float)%s", text);
    case DTYPE_BF16:
        return emit_text(em, "f32_of_bf16(%s)", text);
    case DTYPE_I32:
    case DTYPE_I8:
    case DTYPE_U8:
        return emit_text(em, "(int64_t)%s", text);
    default:
        return text;
    }
}

static const char *
load_text(struct emitter *em, const struct node *node, const char **inside)
{
    const struct tensor *tensor = node->e->tensor;
    const char *address = emit_place(em, node->e, inside);

    if (!em->bounds || emit_is_exact(em, node->e, node->kind))
        return converted(em, element(em, node->e, address), dtype_info[tensor->dtype].kind,
                         node->kind);
    return emit_val_load(em, node, address);
}

/* ---- operations ---- */

struct spelling {
    const char *single, *twice; /* f32 and f64, or int */
};

static const struct spelling functions[OP_COUNT] = {
    [OP_MIN] = {"min_f32", "min_f64"},
    [OP_MAX] = {"max_f32", "max_f64"},
    [OP_ABS] = {"fabsf", "fabs"},
    [OP_SQRT] = {"sqrtf", "sqrt"},
    [OP_RSQRT] = {"rsqrt_f32", "rsqrt_f64"},
    [OP_EXP] = {"expf", "exp"},
    [OP_EXP2] = {"exp2f", "exp2"},
    [OP_EXPM1] = {"expm1f", "expm1"},
    [OP_LOG] = {"logf", "log"},
    [OP_LOG2] = {"log2f", "log2"},
    [OP_LOG1P] = {"log1pf", "log1p"},
    [OP_SIN] = {"sinf", "sin"},
    [OP_COS] = {"cosf", "cos"},
    [OP_TAN] = {"tanf", "tan"},
    [OP_ATAN] = {"atanf", "atan"},
    [OP_SINH] = {"sinhf", "sinh"},
    [OP_COSH] = {"coshf", "cosh"},
    [OP_TANH] = {"tanhf", "tanh"},
    [OP_ERF] = {"erff", "erf"},
    [OP_SIGMOID] = {"sigmoid_f32", "sigmoid_f64"},
    [OP_SOFTPLUS] = {"softplus_f32", "softplus_f64"},
    [OP_POW] = {"powf", "pow"},
    [OP_SIGN] = {"sign_f32", "sign_f64"},
    [OP_FLOOR] = {"floorf", "floor"},
    [OP_CEIL] = {"ceilf", "ceil"},
    [OP_ROUND] = {"rintf", "rint"},
    [OP_TRUNC] = {"truncf", "trunc"},
};

const char *
emit_function(const struct emitter *em, enum op op, enum kind kind)
{
    if (kind <= KIND_INT) {
        switch (op) {
        case OP_MIN:
            return "min_i64";
        case OP_MAX:
            return "max_i64";
        case OP_ABS:
            return "abs_i64";
        case OP_SIGN:
            return "sign_i64";
        default: /* whole numbers are their own floor */
            return "";
        }
    }
    return kind == KIND_F32 && !em->bounds ? functions[op].single : functions[op].twice;
}

static const char *
call_text(struct emitter *em, const struct node *node, const char *const *args)
{
    const char *name = emit_function(em, node->e->op, node->kind);

    assert(name);
    if (node->e->count == 1)
        return *name ? emit_text(em, "%s(%s)", name, emit_bare(em, args[0])) : args[0];
    return emit_text(em, "%s(%s, %s)", name, emit_bare(em, args[0]), emit_bare(em, args[1]));
}

/* Floor division is C's own where nothing is negative. */
static const char *
division_text(struct emitter *em, const struct node *node, const char *const *args)
{
    const struct expr *e = node->e;
    bool div = e->op == OP_DIV;

    if (node->kind > KIND_INT ||
        (emit_interval(em, e->args[0]).low >= 0 && emit_interval(em, e->args[1]).low > 0))
        return emit_text(em, "%s %s %s", wrapped(em, args[0]), div ? "/" : "%",
                         wrapped(em, args[1]));
    return emit_text(em, "floor_%s(%s, %s)", div ? "div" : "mod", args[0], args[1]);
}

static const char *
cast_text(struct emitter *em, const struct expr *e, const char *arg)
{
    const char *a = wrapped(em, arg);
    bool whole = e->args[0]->kind <= KIND_INT;

    if (dtype_is_float(e->dtype) && em->bounds) /* only what is exact comes here */
        return whole ? emit_text(em, "(double)%s", a) : arg;
    switch (e->dtype) {
    case DTYPE_F64:
        return emit_text(em, "(double)%s", a);
    case DTYPE_F32:
        return emit_text(em, "(float)%s", a);
    case DTYPE_F16:
        return emit_text(em, "(float)(_Float16)%s", a);
    case DTYPE_BF16:
        return emit_text(em, "f32_of_bf16(bf16_of_f32((float)%s))", a);
    case DTYPE_BOOL:
        return emit_text(em, "%s != 0", a);
    default:
        return emit_text(em, whole ? "(int64_t)(%s)%s" : "(int64_t)(%s)(int64_t)%s",
                         dtype_info[e->dtype].c_type, a);
    }
}

static const char *
number_text(struct emitter *em, const struct node *node)
{
    const struct expr *e = node->e;
    const char *args[2] = {"", ""};

    for (unsigned i = 0; i < e->count && i < 2; i++)
        args[i] = emit_number(em, e->args[i], emit_met(e, i, node->kind));
    switch (e->op) {
    case OP_CAST:
        return cast_text(em, e, args[0]);
    case OP_NEG:
        return emit_text(em, "-%s", wrapped(em, args[0]));
    case OP_NOT:
        return emit_text(em, "!%s", wrapped(em, args[0]));
    case OP_DIV:
    case OP_MOD:
        return division_text(em, node, args);
    default:
        if (op_info[e->op].form != FORM_INFIX)
            return call_text(em, node, args);
        return emit_text(em, "%s %s %s", wrapped(em, args[0]), op_info[e->op].spelling,
                         wrapped(em, args[1]));
    }
}

/* ---- statements ---- */

static const char *
type_of(const struct emitter *em, const struct node *node)
{
    return emit_is_exact(em, node->e, node->kind) ? emit_c_type(em, node->kind) : "val";
}

static const char *
temporary(struct emitter *em, const struct node *node)
{
    return emit_text(em, "t%u", node->ordinal);
}

static bool
stays_inline(const struct node *node, const char *text)
{
    size_t length = strlen(text);

    if (node->uses == 1 && node->use_scope == node->scope)
        return length <= INLINE_LENGTH;
    return node->kind <= KIND_INT && !node->e->loads && length <= INDEX_LENGTH;
}

static void
finish(struct emitter *em, struct node *node, const char *text)
{
    if (stays_inline(node, text)) {
        node->text = wrapped(em, text);
        return;
    }
    node->text = temporary(em, node);
    emit_line(em, "const %s %s = %s;", type_of(em, node), node->text, text);
}

/* What a branch is worth: its own statements, then the value. */
struct branch {
    struct buf statements;
    const char *value;
};

static struct branch
print_branch(struct emitter *em, const struct node *node, unsigned arg, int scope)
{
    struct branch branch = {.statements = buf_in(em->arena)};
    struct buf *out = em->out;
    enum kind kind = emit_met(node->e, arg, node->kind);

    em->out = &branch.statements;
    em->indent++;
    if (scope >= 0)
        emit_scope(em, scope);
    em->indent--;
    em->out = out;
    branch.value = emit_is_exact(em, node->e, node->kind)
                       ? emit_number(em, node->e->args[arg], kind)
                       : emit_val(em, node->e->args[arg], kind);
    return branch;
}

static void
print_choice(struct emitter *em, const char *name, const char *head, const struct branch *branch)
{
    emit_open(em, "%s", head);
    buf_add(em->out, branch->statements.data, branch->statements.length);
    emit_line(em, "%s = %s;", name, emit_bare(em, branch->value));
    emit_close(em);
}

/* `condition ? yes : no`, as one expression where neither needs statements. */
static void
finish_choice(struct emitter *em, struct node *node, const char *condition,
              const struct branch *yes, const struct branch *no)
{
    if (yes->statements.length + no->statements.length == 0) {
        finish(em, node,
               emit_text(em, "%s ? %s : %s", wrapped(em, condition), wrapped(em, yes->value),
                         wrapped(em, no->value)));
        return;
    }
    const char *name = temporary(em, node);
    emit_line(em, "%s %s;", type_of(em, node), name);
    print_choice(em, name, emit_text(em, "if (%s)", emit_bare(em, condition)), yes);
    print_choice(em, name, "else", no);
    node->text = name;
}

static int
next_scope(const struct node *node, unsigned arg, int *used)
{
    if (node->below < 0 || node->e->args[arg]->count == 0)
        return -1;
    return node->below + (*used)++;
}

static void
emit_if(struct emitter *em, struct node *node)
{
    int used = 0;
    int first = next_scope(node, 1, &used), second = next_scope(node, 2, &used);
    struct branch yes = print_branch(em, node, 1, first);
    struct branch no = print_branch(em, node, 2, second);

    finish_choice(em, node, emit_number(em, node->e->args[0], KIND_BOOL), &yes, &no);
}

static void
emit_load(struct emitter *em, struct node *node)
{
    const char *inside;
    struct branch yes = {.statements = buf_in(em->arena)}, no = yes;

    yes.value = load_text(em, node, &inside);
    if (!*inside) {
        finish(em, node, yes.value);
        return;
    }
    no.value = emit_is_exact(em, node->e, node->kind) ? "0" : "(val){0}";
    if (expr_default(node->e))
        no = print_branch(em, node, node->e->tensor->rank, node->below);
    no.value = emit_in_doubt(em, node, no.value);
    finish_choice(em, node, inside, &yes, &no);
}

static void
emit_cat(struct emitter *em, struct node *node)
{
    const struct binder *binder = node->e->binder;
    const char *name = temporary(em, node);
    const char *end = "";
    int used = 0;

    emit_line(em, "%s %s;", type_of(em, node), name);
    for (unsigned i = 0; i < binder->count; i++) {
        struct branch piece = print_branch(em, node, i, next_scope(node, i, &used));
        end = emit_text(em, "%s%s%s", end, i ? " + " : "", emit_size(em, binder->extent[i]));
        const char *test = emit_text(em, "if (%s < %s)", em->index[binder->level], end);
        if (i + 1 == binder->count)
            test = "";
        print_choice(em, name,
                     emit_text(em, "%s%s%s", i ? "else" : "", i && *test ? " " : "", test), &piece);
    }
    node->text = name;
}

static void
emit_node(struct emitter *em, struct node *node)
{
    const struct expr *e = node->e;

    if (is_leaf(e))
        return;
    if (e->op == OP_REDUCE)
        emit_reduction(em, node);
    else if (e->op == OP_LOAD)
        emit_load(em, node);
    else if (e->op == OP_CAT)
        emit_cat(em, node);
    else if (e->op == OP_IF && emit_is_exact(em, e->args[0], KIND_BOOL))
        emit_if(em, node);
    else if (emit_is_exact(em, e, node->kind))
        finish(em, node, number_text(em, node));
    else
        finish(em, node, emit_val_node(em, node));
}

void
emit_scope(struct emitter *em, int scope)
{
    for (size_t i = em->scopes[scope].count; i-- > 0;)
        emit_node(em, &em->nodes[em->scopes[scope].keys[i]]);
}
