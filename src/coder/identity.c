/* Identities of functions: the same values by cheaper ones, as near as rounding allows. */
#include "coder/coder_int.h"

/* tanh(softplus(x)) = ((1+e)^2 - 1) / ((1+e)^2 + 1) = n/(n+2) with n = e*(e+2), e = exp(x). Nothing
 * cancels in it. From 20 on it is 1, and n would overflow later; a NaN is no more than 20. */
static const struct expr *
tanh_of_softplus(struct ir *ir, const struct expr *x)
{
    const struct expr *most = ir_real(ir, 20), *two = ir_real(ir, 2);
    const struct expr *near = ir_if(ir, ir_binary(ir, OP_GT, x, most), most, x);
    const struct expr *e = ir_unary(ir, OP_EXP, near);
    const struct expr *n = ir_binary(ir, OP_MUL, e, ir_binary(ir, OP_ADD, e, two));
    return ir_binary(ir, OP_DIV, n, ir_binary(ir, OP_ADD, n, two));
}

static const struct expr *
leave_cheaper(struct rewrite *rewrite, const struct expr *e, const struct expr *const *args)
{
    if (e->op == OP_TANH && args[0]->op == OP_SOFTPLUS)
        return tanh_of_softplus(rewrite->ir, args[0]->args[0]);
    return e->count == 0 ? e : ir_with_args(rewrite->ir, e, args);
}

const struct expr *
identity_cheaper(struct ir *ir, const struct expr *code)
{
    struct rewrite rewrite = {.ir = ir, .leave = leave_cheaper, .pieces = PIECES_CODE};
    return ir_rewrite(&rewrite, code);
}
