/* A node of the reference that is not exact, as C: calls of the rules in emit_rules.c. */
#include "lang/emit_int.h"

#include <assert.h>
#include <ctype.h>

/* An exact node as a val of this kind; an integer or constant may not fit its float type. */
static const char *
exact_as_val(struct emitter *em, const struct expr *e, enum kind kind)
{
    if (e->op == OP_REAL || (e->kind <= KIND_INT && kind > KIND_INT))
        return emit_text(em, "held(%s, %s)", emit_number(em, e, kind), emit_rule(kind));
    return emit_text(em, "exactly(%s)", emit_number(em, e, kind));
}

const char *
emit_val(struct emitter *em, const struct expr *e, enum kind kind)
{
    const struct node *node = &em->nodes[emit_key(e, kind)];

    if (emit_is_exact(em, e, kind))
        return emit_text(em, "exactly(%s)", emit_number(em, e, kind));
    if (e->op == OP_REAL || emit_is_exact(em, e, (enum kind)e->kind))
        return exact_as_val(em, e, kind);
    assert(node->stamp == em->stamp && node->text);
    if (e->kind <= KIND_INT && kind > KIND_INT)
        return emit_text(em, "convert(%s, %s)", node->text, emit_rule(kind));
    return node->text;
}

/* ---- loads ---- */

/* A subscript in doubt makes the element unjudged. */
const char *
emit_in_doubt(struct emitter *em, const struct node *node, const char *text)
{
    const struct expr *load = node->e;

    for (unsigned d = 0; em->bounds && d < load->tensor->rank; d++)
        if (!emit_is_exact(em, load->args[d], KIND_INT))
            text = emit_text(em, "read_at(%s, %s)", text, emit_val(em, load->args[d], KIND_INT));
    return text;
}

const char *
emit_val_load(struct emitter *em, const struct node *node, const char *address)
{
    const struct tensor *tensor = node->e->tensor;
    const char *name = emit_array(em, emit_read(em, node->e)), *text;
    unsigned n = emit_read(em, node->e);
    bool whole = !dtype_is_float(tensor->dtype);

    if (tensor->stage && !em->exact[tensor->number])
        text = emit_text(em, "load(v%u, g%u, c%u, %s)", n, n, n, address);
    else if (!tensor->stage && !whole && em->options.denormals)
        text = emit_text(em, "input(%s%s[%s]%s, %s)",
                         tensor->dtype == DTYPE_BF16 ? "f32_of_bf16(" : "", name, address,
                         tensor->dtype == DTYPE_BF16 ? ")" : "",
                         emit_real(em, dtype_info[tensor->dtype].smallest, KIND_F64));
    else
        text =
            emit_text(em, "exactly(%s%s[%s]%s)", tensor->dtype == DTYPE_BF16 ? "f32_of_bf16(" : "",
                      name, address, tensor->dtype == DTYPE_BF16 ? ")" : "");
    if (whole && node->kind > KIND_INT)
        text = emit_text(em, "convert(%s, %s)", text, emit_rule(node->kind));
    return emit_in_doubt(em, node, text);
}

/* ---- operations ---- */

/* "val_exp": every function's rule has the name of its spelling. */
static const char *
call(struct emitter *em, const struct node *node, const char *name)
{
    const struct expr *e = node->e;
    const char *a = emit_val(em, e->args[0], emit_met(e, 0, node->kind));

    if (e->count == 1)
        return emit_text(em, "val_%s(%s, %s)", name, a, emit_rule(node->kind));
    return emit_text(em, "val_%s(%s, %s, %s)", name, a,
                     emit_val(em, e->args[1], emit_met(e, 1, node->kind)), emit_rule(node->kind));
}

static const char *
infix_name(const struct node *node)
{
    bool whole = node->kind <= KIND_INT;

    switch (node->e->op) {
    case OP_NEG:
        return "neg";
    case OP_NOT:
        return "not";
    case OP_OR:
        return "or";
    case OP_AND:
        return "and";
    case OP_LT:
        return "lt";
    case OP_LE:
        return "le";
    case OP_GT:
        return "gt";
    case OP_GE:
        return "ge";
    case OP_EQ:
        return "eq";
    case OP_NE:
        return "ne";
    case OP_ADD:
        return "add";
    case OP_SUB:
        return "sub";
    case OP_MUL:
        return "mul";
    case OP_DIV:
        return whole ? "floor_div" : "div";
    case OP_MOD:
        return "floor_mod";
    default:
        return op_info[node->e->op].spelling;
    }
}

const char *
emit_val_stored(struct emitter *em, const char *text, enum kind kind, enum dtype dtype)
{
    const struct dtype_info *type = &dtype_info[dtype];
    char name[8] = "";

    for (size_t i = 0; type->name[i]; i++)
        name[i] = (char)toupper((unsigned char)type->name[i]);
    if (!dtype_is_float(dtype)) {
        if (dtype == DTYPE_BOOL && kind > KIND_INT)
            return emit_text(em, "val_ne(%s, exactly(0.0), %s)", text, emit_rule(kind));
        return emit_text(em, "%s(%s, %s)", kind <= KIND_INT ? "store_whole" : "cut", text, name);
    }
    if (kind <= KIND_INT) {
        text = emit_text(em, "convert(%s, %s)", text, emit_rule(type->kind));
        kind = type->kind;
    }
    if (dtype == DTYPE_F64 || (dtype == DTYPE_F32 && kind == KIND_F32))
        return text;
    return emit_text(em, "narrow(%s, %s)", text, name);
}

bool
emit_joins_sums(const struct expr *e, enum kind kind)
{
    return (e->op == OP_ADD || e->op == OP_SUB) &&
           (expr_sum_terms(e->args[0], kind) > 0 || expr_sum_terms(e->args[1], kind) > 0);
}

/* A sum plus something; NULL for any other node. */
static const char *
add_sums(struct emitter *em, const struct node *node)
{
    const struct expr *e = node->e;
    const char *rule = emit_rule(node->kind);

    if (!emit_joins_sums(e, node->kind))
        return NULL;
    const char *b = emit_val(em, e->args[1], node->kind);
    return emit_text(em, "val_add_sums(%s, %lld, %s, %lld, %s)",
                     emit_val(em, e->args[0], node->kind),
                     (long long)expr_sum_terms(e->args[0], node->kind),
                     e->op == OP_SUB ? emit_text(em, "val_neg(%s, %s)", b, rule) : b,
                     (long long)expr_sum_terms(e->args[1], node->kind), rule);
}

const char *
emit_val_node(struct emitter *em, const struct node *node)
{
    const struct expr *e = node->e;
    const char *sums = add_sums(em, node);

    if (sums)
        return sums;

    if (e->op == OP_CAST) {
        enum kind kind = emit_met(e, 0, node->kind);
        return emit_val_stored(em, emit_val(em, e->args[0], kind), kind, e->dtype);
    }
    if (e->op == OP_IF)
        return emit_text(em, "either(%s, %s, %s)", emit_val(em, e->args[0], KIND_BOOL),
                         emit_val(em, e->args[1], node->kind),
                         emit_val(em, e->args[2], node->kind));
    return call(em, node, infix_name(node));
}
