/* Expressions: names, types, subscripts, reductions, ranges. */
#include "lang/build_int.h"

#include "base/num.h"
#include "base/text.h"

#include <string.h>

/* ---- messages ---- */

const char *
show_extent(struct builder *builder, const struct expr *extent)
{
    struct buf buf = buf_in(builder->arena);
    expr_print(&buf, extent, &spelling_plain, NULL, 0);
    if (extent->op != OP_INT)
        buf_printf(&buf, "=%lld", (long long)expr_integer(extent));
    return buf.data;
}

const char *
show_shape(struct builder *builder, const struct tensor *tensor)
{
    struct buf buf = buf_in(builder->arena);
    buf_putc(&buf, '[');
    for (unsigned i = 0; i < tensor->rank; i++)
        buf_printf(&buf, "%s%s", i ? "," : "", show_extent(builder, tensor->extent[i]));
    buf_putc(&buf, ']');
    return buf.data;
}

const char *
nearest_name(struct env *env, const char *name)
{
    const struct symbols *symbols = &env->scope->symbols;
    const char **names =
        arena_array(env->scope->builder->arena, symbols->count + env->levels, sizeof *names);
    size_t count = 0;
    for (size_t i = 0; i < symbols->count; i++)
        names[count++] = symbols->items[i].name;
    for (unsigned i = env->hidden; i < env->levels; i++)
        names[count++] = env->index[i];
    return text_nearest(name, names, count);
}

/* Whether a statement of the operator defines it, here or further down. */
static bool
defined_below(const struct statement *statements, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        const struct statement *s = &statements[i];
        if (s->form == STATEMENT_STAGE && s->name == name)
            return true;
        if (s->form == STATEMENT_REC && defined_below(s->body, s->body_count, name))
            return true;
        for (size_t j = 0; j < s->name_count && s->form == STATEMENT_WHOLE; j++)
            if (s->names[j].name == name)
                return true;
        for (size_t j = 0; j < s->named_count && s->form != STATEMENT_CASE; j++)
            if (s->named[j].name == name)
                return true;
    }
    return false;
}

static const struct expr *
unknown_name(struct env *env, const struct ast *ast)
{
    const struct operator* op = env->scope->op;
    const char *nearest = nearest_name(env, ast->name);
    if (defined_below(op->statements, op->count, ast->name))
        build_error(env->scope, ast->place,
                    "%s is used before it is defined; move its definition up, or put tensors that "
                    "need each other into a rec",
                    ast->name);
    else if (nearest != NULL)
        build_error(env->scope, ast->place, "%s is unknown; did you mean %s?", ast->name, nearest);
    else
        build_error(env->scope, ast->place,
                    "%s is unknown; declare it with in, dim, const, param or a stage above",
                    ast->name);
    return NULL;
}

/* ---- checks ---- */

/* Every new node passes here: too large is an error of the program. */
static const struct expr *
sized(struct env *env, const struct ast *ast, const struct expr *e)
{
    if (e != NULL && (e->tree > IR_MAX_TREE || e->height > LANG_MAX_HEIGHT)) {
        build_error(env->scope, ast->place,
                    "expands to more than a million operations or %d in a chain; split it into "
                    "stages",
                    LANG_MAX_HEIGHT);
        return NULL;
    }
    return e;
}

/* An integer quotient stands in it, outside of subscripts and named constants. */
static bool
holds_quotient(struct env *env, const struct ast *ast)
{
    if (ast->form == AST_OPERATOR && ast->op == OP_DIV)
        return true;
    if (ast->form == AST_CALL && word_kind(ast->name) == WORD_NONE) {
        const struct def *def = find_def(env, ast->name, ast->place);
        struct frame frame = {.def = def};
        struct env inside = {.scope = env->scope, .frame = &frame};
        return def != NULL && holds_quotient(&inside, def->statement->value);
    }
    if (ast->form != AST_OPERATOR && ast->form != AST_CALL)
        return false;
    for (size_t i = 0; i < ast->count; i++)
        if (holds_quotient(env, ast->args[i]))
            return true;
    return false;
}

bool
meets_float(struct env *env, const struct ast *ast, const struct expr *e)
{
    if (e->kind > KIND_INT || !holds_quotient(env, ast))
        return true;
    build_error(env->scope, ast->place,
                "a quotient of two integers meets a float; write 1.0/N for a real quotient, or "
                "f32(a/b) for the whole one");
    return false;
}

bool
is_condition(struct env *env, const struct ast *ast, const struct expr *e)
{
    if (e->kind <= KIND_INT)
        return true;
    build_error(env->scope, ast->place, "a condition is expected, this is a float; write x != 0");
    return false;
}

/* ---- names ---- */

static const struct expr *
load_element(struct env *env, const struct ast *ast, struct tensor *tensor,
             const struct expr *const *subs, const struct expr *otherwise)
{
    struct builder *b = env->scope->builder;
    const struct expr *e =
        ir_load(b->ir, tensor, dtype_info[tensor->dtype].kind, tensor->rank, subs, otherwise);
    if (e->id >= b->origin_capacity) {
        size_t capacity = 2 * (e->id + 64);
        b->origin =
            arena_grow(b->arena, b->origin, b->origin_capacity, capacity, sizeof *b->origin);
        b->origin_scope = arena_grow(b->arena, b->origin_scope, b->origin_capacity, capacity,
                                     sizeof *b->origin_scope);
        b->origin_capacity = capacity;
    }
    if (b->origin[e->id] == NULL) {
        b->origin[e->id] = ast;
        b->origin_scope[e->id] = env->scope;
    }
    return e;
}

/* A tensor named without subscripts: rank 0, or each element in a whole-tensor statement. */
static const struct expr *
bare_tensor(struct env *env, const struct ast *ast, struct tensor *tensor)
{
    const struct expr *subs[LANG_MAX_RANK];
    if (tensor->rank > 0 && !env->whole) {
        build_error(env->scope, ast->place,
                    "%s has %u dimensions; write %s[...] with %u subscript%s", tensor->name,
                    tensor->rank, tensor->name, tensor->rank, tensor->rank > 1 ? "s" : "");
        return NULL;
    }
    if (tensor->rank > 0 && tensor->rank != env->whole_rank) {
        build_error(env->scope, ast->place,
                    "%s has shape %s, the others have %u dimensions; whole tensors must agree, "
                    "write subscripts to broadcast",
                    tensor->name, show_shape(env->scope->builder, tensor), env->whole_rank);
        return NULL;
    }
    for (unsigned i = 0; i < tensor->rank; i++)
        subs[i] = ir_index(env->scope->builder->ir, i);
    return load_element(env, ast, tensor, subs, NULL);
}

const struct expr *
frame_value(const struct env *env, const char *name)
{
    if (env->frame != NULL)
        for (size_t i = 0; i < env->frame->def->statement->name_count; i++)
            if (env->frame->def->statement->names[i].name == name)
                return env->frame->values[i];
    return NULL;
}

int
find_index(const struct env *env, const char *name)
{
    for (unsigned i = env->levels; i > env->hidden; i--)
        if (env->index[i - 1] == name)
            return (int)(i - 1);
    return -1;
}

static const struct expr *
build_name(struct env *env, const struct ast *ast)
{
    const struct expr *value = frame_value(env, ast->name);
    if (value != NULL)
        return value;
    int level = find_index(env, ast->name);
    if (level >= 0)
        return ir_index(env->scope->builder->ir, (unsigned)level);
    const struct symbol *symbol = symbols_find(&env->scope->symbols, ast->name);
    if (symbol == NULL)
        return unknown_name(env, ast);
    if (symbol->value != NULL)
        return symbol->value;
    if (env->constant) {
        build_error(env->scope, ast->place,
                    "%s is a tensor; only numbers, dims, consts and params may stand here",
                    ast->name);
        return NULL;
    }
    return bare_tensor(env, ast, symbol->tensor);
}

static const struct expr *
product(struct ir *ir, const struct expr *const *extents, unsigned count)
{
    const struct expr *size = ir_int(ir, 1);
    for (unsigned i = 0; i < count; i++)
        size = ir_binary(ir, OP_MUL, size, extents[i]);
    return size;
}

static const struct expr *
build_size(struct env *env, const struct ast *ast)
{
    struct scope *scope = env->scope;
    struct ir *ir = scope->builder->ir;
    if (ast->name == NULL) {
        if (scope->ellipsis_bound)
            return product(ir, scope->ellipsis, scope->ellipsis_rank);
        build_error(scope, ast->place, "no input of this operator has ...; name a tensor");
        return NULL;
    }
    const struct symbol *symbol = symbols_find(&scope->symbols, ast->name);
    if (symbol == NULL)
        return unknown_name(env, ast);
    return symbol->tensor ? product(ir, symbol->tensor->extent, symbol->tensor->rank)
                          : symbol->value;
}

/* ---- elements ---- */

/* One gather deep: an element of an i32 tensor whose own subscripts hold none. */
static bool
subscript_allowed(const struct expr *e, bool gathered)
{
    if (expr_is_constant(e))
        return e->kind <= KIND_INT;
    switch (e->op) {
    case OP_INDEX:
        return true;
    case OP_LOAD:
        if (gathered || e->tensor->dtype != DTYPE_I32)
            return false;
        for (unsigned i = 0; i < e->count; i++)
            if (!subscript_allowed(e->args[i], true))
                return false;
        return true;
    case OP_MUL:
        return (expr_is_constant(e->args[0]) || expr_is_constant(e->args[1])) &&
               subscript_allowed(e->args[0], gathered) && subscript_allowed(e->args[1], gathered);
    case OP_DIV:
    case OP_MOD:
        return expr_is_constant(e->args[1]) && expr_integer(e->args[1]) > 0 &&
               subscript_allowed(e->args[0], gathered);
    case OP_REDUCE:
    case OP_CAT:
    case OP_CAST:
        return false;
    default:
        if (e->kind > KIND_INT)
            return false;
        for (unsigned i = 0; i < e->count; i++)
            if (!subscript_allowed(e->args[i], gathered))
                return false;
        return true;
    }
}

static const struct expr *
build_subscript(struct env *env, const struct ast *ast)
{
    const struct expr *e = build_expr(env, ast);
    if (e == NULL)
        return NULL;
    if (e->kind > KIND_INT) {
        build_error(env->scope, ast->place,
                    "a subscript is an integer, this is a float; write "
                    "i32(...) into a stage of its own and use that");
        return NULL;
    }
    if (!subscript_allowed(e, false)) {
        build_error(env->scope, ast->place,
                    "a subscript holds indices, + -, * / %% by constants (/ %% by positive ones), "
                    "min max abs if, and one element of an i32 tensor; put the rest into an i32 "
                    "stage");
        return NULL;
    }
    return e;
}

/* Fills subs[] and counts them; "..." stands for the indices of its own. */
static bool
build_subscripts(struct env *env, const struct ast *ast, const struct expr **subs, size_t *count)
{
    struct scope *scope = env->scope;
    for (size_t i = 0; i < ast->count; i++) {
        size_t more = ast->args[i]->form == AST_ELLIPSIS ? scope->ellipsis_rank : 1;
        if (*count + more > LANG_MAX_RANK) {
            build_error(scope, ast->args[i]->place,
                        "more than %d subscripts; no tensor has that "
                        "many dimensions",
                        LANG_MAX_RANK);
            return false;
        }
        if (ast->args[i]->form != AST_ELLIPSIS) {
            if ((subs[(*count)++] = build_subscript(env, ast->args[i])) == NULL)
                return false;
            continue;
        }
        if (env->ellipsis < 0 && more > 0) {
            build_error(scope, ast->args[i]->place,
                        "... is not among the indices here; write it on the left side or in the "
                        "reduction");
            return false;
        }
        if (!scope->ellipsis_bound) {
            build_error(scope, ast->args[i]->place,
                        "no input of this operator has ...; name the "
                        "indices");
            return false;
        }
        for (size_t j = 0; j < more; j++)
            subs[(*count)++] = ir_index(scope->builder->ir, (unsigned)env->ellipsis + j);
    }
    return true;
}

static const struct expr *
build_element(struct env *env, const struct ast *ast)
{
    const struct symbol *symbol = symbols_find(&env->scope->symbols, ast->name);
    const struct expr *subs[LANG_MAX_RANK], *otherwise = NULL;
    size_t count = 0;
    if (symbol == NULL)
        return unknown_name(env, ast);
    if (symbol->tensor == NULL || env->constant) {
        build_error(env->scope, ast->place,
                    symbol->tensor ? "%s is a tensor; only numbers, dims, consts and params may "
                                     "stand here"
                                   : "%s has no elements; write it without [ ]",
                    ast->name);
        return NULL;
    }
    if (!build_subscripts(env, ast, subs, &count) ||
        (ast->guard != NULL && (otherwise = build_expr(env, ast->guard)) == NULL))
        return NULL;
    if (count != symbol->tensor->rank) {
        build_error(env->scope, ast->place,
                    "%s has %u dimension%s, here are %zu subscript%s; its shape is %s",
                    symbol->tensor->name, symbol->tensor->rank,
                    symbol->tensor->rank == 1 ? "" : "s", count, count == 1 ? "" : "s",
                    show_shape(env->scope->builder, symbol->tensor));
        return NULL;
    }
    if (otherwise != NULL && dtype_info[symbol->tensor->dtype].kind > KIND_INT &&
        !meets_float(env, ast->guard, otherwise))
        return NULL;
    return load_element(env, ast, symbol->tensor, subs, otherwise);
}

/* ---- operators and functions ---- */

static const struct expr *
build_operator(struct env *env, const struct ast *ast)
{
    struct ir *ir = env->scope->builder->ir;
    const struct expr *a = build_expr(env, ast->args[0]), *b = NULL;
    if (a == NULL || (ast->count > 1 && (b = build_expr(env, ast->args[1])) == NULL))
        return NULL;
    bool logic = ast->op == OP_NOT || ast->op == OP_AND || ast->op == OP_OR;
    if (logic &&
        (!is_condition(env, ast->args[0], a) || (b != NULL && !is_condition(env, ast->args[1], b))))
        return NULL;
    if (b == NULL)
        return ir_unary(ir, ast->op, a);
    bool floats = a->kind > KIND_INT || b->kind > KIND_INT;
    if (floats && (!meets_float(env, ast->args[0], a) || !meets_float(env, ast->args[1], b)))
        return NULL;
    if (floats && ast->op == OP_MOD) {
        build_error(env->scope, ast->place, "%% is for integers; write x - floor(x/y)*y");
        return NULL;
    }
    bool divides = ast->op == OP_DIV || ast->op == OP_MOD;
    if (!floats && divides && expr_is_constant(b) && expr_integer(b) == 0) {
        build_error(env->scope, ast->place, "division by zero; the divisor is %s",
                    show_extent(env->scope->builder, b));
        return NULL;
    }
    return ir_binary(ir, ast->op, a, b);
}

static const struct expr *
build_function(struct env *env, const struct ast *ast, const struct expr *const *args)
{
    struct ir *ir = env->scope->builder->ir;
    enum op op;
    if (strcmp(ast->name, "clamp") == 0)
        return ir_binary(ir, OP_MIN, ir_binary(ir, OP_MAX, args[0], args[1]), args[2]);
    word_function(ast->name, &op);
    if (op == OP_IF)
        return is_condition(env, ast->args[0], args[0]) ? ir_if(ir, args[0], args[1], args[2])
                                                        : NULL;
    return op_info[op].args == 1 ? ir_unary(ir, op, args[0]) : ir_binary(ir, op, args[0], args[1]);
}

static size_t
function_arguments(const char *name)
{
    enum op op;
    if (strcmp(name, "clamp") == 0)
        return 3;
    return word_function(name, &op) ? (size_t)op_info[op].args : 0;
}

/* A quotient meets a float when another argument is one, or the function gives one. */
static bool
check_function_arguments(struct env *env, const struct ast *ast, const struct expr *const *args)
{
    static const char *const integer_functions[] = {"if",   "min",   "max",  "clamp", "abs",
                                                    "sign", "floor", "ceil", "round", "trunc"};
    bool integers = false, floats = false;
    size_t first = strcmp(ast->name, "if") == 0;
    for (size_t i = 0; i < sizeof integer_functions / sizeof *integer_functions; i++)
        integers |= strcmp(ast->name, integer_functions[i]) == 0;
    for (size_t i = first; i < ast->count; i++)
        floats |= args[i]->kind > KIND_INT;
    for (size_t i = first; i < ast->count && (floats || !integers); i++)
        if (!meets_float(env, ast->args[i], args[i]))
            return false;
    return true;
}

static const struct expr *
build_def_use(struct env *env, const struct ast *ast, const struct def *def,
              const struct expr *const *args)
{
    const struct frame *outer = env->frame;
    struct frame frame = {def, args, outer ? outer->depth + 1 : 1};
    unsigned hidden = env->hidden;
    int ellipsis = env->ellipsis;
    if (ast->count != def->statement->name_count) {
        build_error(env->scope, ast->place, "%s takes %zu argument%s, here are %zu", ast->name,
                    def->statement->name_count, def->statement->name_count == 1 ? "" : "s",
                    ast->count);
        return NULL;
    }
    if (frame.depth > BUILD_MAX_CALLS) {
        build_error(env->scope, ast->place,
                    "defs inside defs more than %d deep: does %s use "
                    "itself?",
                    BUILD_MAX_CALLS, ast->name);
        return NULL;
    }
    env->frame = &frame;
    env->hidden = env->levels;
    env->ellipsis = -1;
    const struct expr *result = build_expr(env, def->statement->value);
    env->frame = outer;
    env->hidden = hidden;
    env->ellipsis = ellipsis;
    return result;
}

/* An operator called inside a whole-tensor expression was built before: its result is a tensor. */
static const struct expr *
build_call_result(struct env *env, const struct ast *ast)
{
    for (const struct result_memo *memo = env->calls; memo != NULL; memo = memo->next)
        if (memo->call == ast)
            return bare_tensor(env, ast, memo->tensor);
    if (is_operator(env->scope, ast->name))
        build_error(env->scope, ast->place,
                    "%s is an operator: it works on whole tensors; write Z = %s(...) and use Z",
                    ast->name, ast->name);
    else
        build_error(env->scope, ast->place,
                    "there is no function, def or operator %s; define it "
                    "above, or `use` the file that does",
                    ast->name);
    return NULL;
}

static const struct expr *
build_named_call(struct env *env, const struct ast *ast)
{
    const struct expr **args =
        arena_array(env->scope->builder->arena, ast->count + 1, sizeof *args);
    enum word_kind kind = word_kind(ast->name);
    const struct def *def = kind == WORD_NONE ? find_def(env, ast->name, ast->place) : NULL;
    if (kind == WORD_NONE && def == NULL)
        return build_call_result(env, ast);
    if (ast->named_count > 0) {
        build_error(env->scope, ast->named[0].place,
                    "%s takes no named constants; only operators do", ast->name);
        return NULL;
    }
    if (kind != WORD_NONE && ast->count != function_arguments(ast->name)) {
        build_error(env->scope, ast->place, "%s takes %zu argument%s, here are %zu", ast->name,
                    function_arguments(ast->name), function_arguments(ast->name) == 1 ? "" : "s",
                    ast->count);
        return NULL;
    }
    for (size_t i = 0; i < ast->count; i++)
        if ((args[i] = build_expr(env, ast->args[i])) == NULL)
            return NULL;
    if (def != NULL)
        return build_def_use(env, ast, def, args);
    return check_function_arguments(env, ast, args) ? build_function(env, ast, args) : NULL;
}

static const struct expr *
build_cast(struct env *env, const struct ast *ast)
{
    const struct expr *value = build_expr(env, ast->args[0]);
    if (value == NULL)
        return NULL;
    if (ast->dtype == DTYPE_BOOL && value->kind > KIND_INT) {
        build_error(env->scope, ast->place, "a float is no bool; write x != 0");
        return NULL;
    }
    return ir_cast(env->scope->builder->ir, ast->dtype, value);
}

const struct expr *
build_expr(struct env *env, const struct ast *ast)
{
    struct ir *ir = env->scope->builder->ir;
    switch (ast->form) {
    case AST_INTEGER:
        return ir_int(ir, ast->integer);
    case AST_REAL:
        return ir_real(ir, ast->real);
    case AST_NAME:
        return build_name(env, ast);
    case AST_SIZE:
        return build_size(env, ast);
    case AST_ELEMENT:
        return sized(env, ast, build_element(env, ast));
    case AST_REDUCE:
        return sized(env, ast, build_reduce(env, ast));
    case AST_CAT:
        return sized(env, ast, build_cat(env, ast));
    case AST_CALL:
        return sized(env, ast, build_named_call(env, ast));
    case AST_CAST:
        return sized(env, ast, build_cast(env, ast));
    case AST_OPERATOR:
        return sized(env, ast, build_operator(env, ast));
    case AST_ELLIPSIS:
        break;
    }
    build_error(env->scope, ast->place, "... stands where a value is expected");
    return NULL;
}

const struct expr *
build_constant(struct scope *scope, const struct ast *ast)
{
    struct env env = {.scope = scope, .ellipsis = -1, .constant = true};
    const struct expr *e = build_expr(&env, ast);
    int64_t value;
    if (e != NULL && e->kind <= KIND_INT && !expr_checked_integer(e, &value)) {
        build_error(scope, ast->place,
                    "this overflows 63 bits or divides by zero; choose smaller sizes");
        return NULL;
    }
    return e;
}
