/* Values of constants, in double and in 64-bit integers. */
#include "lang/ir_int.h"

#include "base/num.h"

#include <assert.h>
#include <math.h>

double
apply_real(enum op op, double a, double b)
{
    switch (op) {
    case OP_NEG:
        return -a;
    case OP_ADD:
        return a + b;
    case OP_SUB:
        return a - b;
    case OP_MUL:
        return a * b;
    case OP_DIV:
        return a / b;
    case OP_MIN:
        return fmin(a, b);
    case OP_MAX:
        return fmax(a, b);
    case OP_ABS:
        return fabs(a);
    case OP_SQRT:
        return sqrt(a);
    case OP_RSQRT:
        return 1 / sqrt(a);
    case OP_EXP:
        return exp(a);
    case OP_EXP2:
        return exp2(a);
    case OP_EXPM1:
        return expm1(a);
    case OP_LOG:
        return log(a);
    case OP_LOG2:
        return log2(a);
    case OP_LOG1P:
        return log1p(a);
    case OP_SIN:
        return sin(a);
    case OP_COS:
        return cos(a);
    case OP_TAN:
        return tan(a);
    case OP_ATAN:
        return atan(a);
    case OP_SINH:
        return sinh(a);
    case OP_COSH:
        return cosh(a);
    case OP_TANH:
        return tanh(a);
    case OP_ERF:
        return erf(a);
    case OP_SIGMOID:
        return 1 / (1 + exp(-a));
    case OP_SOFTPLUS:
        return a > 20 ? a : log1p(exp(a));
    case OP_POW:
        return pow(a, b);
    case OP_SIGN:
        return (a > 0) - (a < 0);
    case OP_FLOOR:
        return floor(a);
    case OP_CEIL:
        return ceil(a);
    case OP_ROUND:
        return rint(a);
    case OP_TRUNC:
        return trunc(a);
    default:
        assert(!"no operation on reals");
        return NAN;
    }
}

bool
compare_real(enum op op, double a, double b)
{
    switch (op) {
    case OP_LT:
        return a < b;
    case OP_LE:
        return a <= b;
    case OP_GT:
        return a > b;
    case OP_GE:
        return a >= b;
    case OP_EQ:
        return a == b;
    default:
        return a != b;
    }
}

bool
is_comparison(enum op op)
{
    return op >= OP_LT && op <= OP_NE;
}

/* false when it overflows. */
bool
apply_int(enum op op, int64_t a, int64_t b, int64_t *result)
{
    switch (op) {
    case OP_NEG:
        return num_sub(0, a, result);
    case OP_ADD:
        return num_add(a, b, result);
    case OP_SUB:
        return num_sub(a, b, result);
    case OP_MUL:
        return num_mul(a, b, result);
    case OP_DIV:
        *result = num_floor_div(a, b);
        return b != 0;
    case OP_MOD:
        *result = num_floor_mod(a, b);
        return b != 0;
    case OP_MIN:
        *result = a < b ? a : b;
        return true;
    case OP_MAX:
        *result = a > b ? a : b;
        return true;
    case OP_ABS:
        *result = a;
        return a >= 0 || num_sub(0, a, result);
    case OP_SIGN:
        *result = (a > 0) - (a < 0);
        return true;
    case OP_NOT:
        *result = !a;
        return true;
    case OP_AND:
        *result = a && b;
        return true;
    case OP_OR:
        *result = a || b;
        return true;
    case OP_LT:
        *result = a < b;
        return true;
    case OP_LE:
        *result = a <= b;
        return true;
    case OP_GT:
        *result = a > b;
        return true;
    case OP_GE:
        *result = a >= b;
        return true;
    case OP_EQ:
        *result = a == b;
        return true;
    case OP_NE:
        *result = a != b;
        return true;
    default:
        *result = 0;
        return false;
    }
}

bool
expr_checked_integer(const struct expr *e, int64_t *value)
{
    int64_t a = 0, b = 0;
    assert(expr_is_constant(e));
    *value = 0;
    switch (e->op) {
    case OP_INT:
        *value = e->integer;
        return true;
    case OP_DIM:
        *value = e->dim->size;
        return true;
    case OP_IF:
        return expr_checked_integer(e->args[0], &a) &&
               expr_checked_integer(e->args[a ? 1 : 2], value);
    case OP_CAST:
        if (e->args[0]->kind < KIND_REAL)
            return expr_checked_integer(e->args[0], value);
        double v = expr_real(e->args[0]);
        *value = fabs(v) < 9.2e18 ? (int64_t)v : 0;
        return fabs(v) < 9.2e18;
    default:
        break;
    }
    if (is_comparison(e->op) && (e->args[0]->kind >= KIND_REAL || e->args[1]->kind >= KIND_REAL)) {
        *value = compare_real(e->op, expr_real(e->args[0]), expr_real(e->args[1]));
        return true;
    }
    return expr_checked_integer(e->args[0], &a) &&
           (e->count == 1 || expr_checked_integer(e->args[1], &b)) && apply_int(e->op, a, b, value);
}

int64_t
expr_integer(const struct expr *e)
{
    int64_t value;
    expr_checked_integer(e, &value);
    return value;
}

double
expr_real(const struct expr *e)
{
    assert(expr_is_constant(e));
    if (e->op == OP_REAL)
        return e->real;
    if (e->kind <= KIND_INT)
        return (double)expr_integer(e);
    if (e->op == OP_IF)
        return expr_integer(e->args[0]) ? expr_real(e->args[1]) : expr_real(e->args[2]);
    if (e->op == OP_CAST) {
        double v = expr_real(e->args[0]);
        switch (e->dtype) {
        case DTYPE_F16:
            return num_double_of_half(num_half_of_double(v));
        case DTYPE_BF16:
            return num_double_of_bf16(num_bf16_of_double(v));
        case DTYPE_F32:
            return (double)(float)v;
        default:
            return v;
        }
    }
    return apply_real(e->op, expr_real(e->args[0]), e->count > 1 ? expr_real(e->args[1]) : 0);
}
