/* Whole tensors: Y = expression without subscripts, and the operator calls inside it. */
#include "lang/build_int.h"

struct wholes { /* the operator calls inside a whole-tensor expression, and its shape */
    struct scope *scope;
    struct nested *nested;
    const struct result_memo *calls;
    const struct tensor *shape; /* the first tensor that has dimensions */
};

static const char *
nested_name(struct arena *arena, struct nested *nested, const char *op)
{
    size_t i = 0;
    while (i < nested->count && nested->seen[i].op != op)
        i++;
    if (i == nested->count) {
        nested->seen = arena_grow(arena, nested->seen, i, i + 1, sizeof *nested->seen);
        nested->seen[i].op = op;
        nested->count++;
    }
    unsigned number = ++nested->seen[i].count;
    return number == 1 ? arena_printf(arena, "%s.%s", nested->base, op)
                       : arena_printf(arena, "%s.%s.%u", nested->base, op, number);
}

bool
is_operator_call(struct scope *scope, const struct ast *ast)
{
    struct env env = {.scope = scope, .ellipsis = -1};
    return ast->form == AST_CALL && word_kind(ast->name) == WORD_NONE &&
           find_def(&env, ast->name, ast->place) == NULL;
}

struct tensor *
build_nested_call(struct scope *scope, const struct ast *call, struct nested *nested)
{
    struct tensor *tensor;
    const char *name = nested_name(scope->builder->arena, nested, call->name);
    return build_call(scope, call, &name, 1, nested, &tensor) ? tensor : NULL;
}

static void
note_shape(struct wholes *wholes, const struct tensor *tensor)
{
    if (wholes->shape == NULL && tensor->rank > 0)
        wholes->shape = tensor;
}

/* Builds the calls in reading order and finds the shape. */
static bool
prepare_whole(struct wholes *wholes, const struct ast *ast)
{
    struct scope *scope = wholes->scope;
    if (ast->form == AST_NAME) {
        const struct symbol *symbol = symbols_find(&scope->symbols, ast->name);
        if (symbol != NULL && symbol->tensor != NULL)
            note_shape(wholes, symbol->tensor);
        return true;
    }
    if (is_operator_call(scope, ast)) {
        struct result_memo *memo = arena_alloc(scope->builder->arena, sizeof *memo);
        if ((memo->tensor = build_nested_call(scope, ast, wholes->nested)) == NULL)
            return false;
        memo->call = ast;
        memo->next = wholes->calls;
        wholes->calls = memo;
        note_shape(wholes, memo->tensor);
        return true;
    }
    if (ast->form == AST_ELEMENT || ast->form == AST_REDUCE || ast->form == AST_CAT)
        return true; /* build_expr says what is wrong */
    for (size_t i = 0; i < ast->count; i++)
        if (!prepare_whole(wholes, ast->args[i]))
            return false;
    return true;
}

/* Whole tensors must have the shape of the first one. */
static const struct expr *
check_whole_load(struct rewrite *rewrite, const struct expr *e, const struct expr *const *args)
{
    const struct tensor **shape = rewrite->context;
    (void)args;
    for (unsigned i = 0; e->op == OP_LOAD && *shape != NULL && i < e->tensor->rank; i++)
        if (e->tensor->size[i] != (*shape)->size[i])
            *shape = NULL;
    return e;
}

static bool
shapes_agree(struct scope *scope, struct wholes *wholes, const struct expr *value,
             struct place place)
{
    const struct tensor *shape = wholes->shape;
    struct rewrite rewrite = {
        .ir = scope->builder->ir, .leave = check_whole_load, .context = &shape};
    if (wholes->shape == NULL)
        return true;
    ir_rewrite(&rewrite, value);
    if (shape == NULL)
        build_error(scope, place,
                    "the tensors of %s have different shapes, the first is %s %s; write "
                    "subscripts to broadcast",
                    wholes->nested->base, wholes->shape->name,
                    show_shape(scope->builder, wholes->shape));
    return shape != NULL;
}

struct tensor *
build_whole_stage(struct scope *scope, const struct ast *ast, const char *name,
                  const struct type *type, struct place place, struct nested *nested)
{
    struct builder *b = scope->builder;
    struct wholes wholes = {.scope = scope, .nested = nested};
    struct env env = {.scope = scope, .ellipsis = -1, .whole = true};
    const char *names[LANG_MAX_RANK];
    if (!prepare_whole(&wholes, ast))
        return NULL;
    env.calls = wholes.calls;
    env.whole_rank = env.levels = wholes.shape ? wholes.shape->rank : 0;
    for (unsigned i = 0; i < env.levels; i++)
        names[i] = env.index[i] = arena_printf(b->arena, "k%u", i + 1);
    env.hidden = env.levels; /* nobody can name them */
    const struct expr *value = build_expr(&env, ast);
    if (value == NULL || !shapes_agree(scope, &wholes, value, place))
        return NULL;
    enum dtype dtype = dtype_of_kind(value->kind);
    if (type->given && !resolve_type(scope, type, &dtype))
        return NULL;
    struct tensor *tensor = new_tensor(b, name, dtype, env.levels);
    if (!set_shape(scope, place, tensor, wholes.shape ? wholes.shape->extent : NULL) ||
        !finish_stage(scope, tensor, ast, value, names, -1, 0, place))
        return NULL;
    return tensor;
}

static bool
check_result_types(struct scope *scope, const struct statement *s, struct tensor *const *tensors)
{
    for (size_t i = 0; i < s->name_count; i++) {
        enum dtype dtype;
        if (!s->types[i].given)
            continue;
        if (!resolve_type(scope, &s->types[i], &dtype))
            return false;
        if (dtype != tensors[i]->dtype) {
            build_error(scope, s->types[i].place,
                        "%s is %s by the operator's own word; leave the "
                        "type out",
                        s->names[i].name, dtype_info[tensors[i]->dtype].name);
            return false;
        }
    }
    return true;
}

bool
build_whole(struct scope *scope, const struct statement *s)
{
    struct arena *arena = scope->builder->arena;
    struct tensor **tensors = arena_array(arena, s->name_count, sizeof *tensors);
    const char **names = arena_array(arena, s->name_count, sizeof *names);
    for (size_t i = 0; i < s->name_count; i++)
        names[i] = tensor_name(scope, s->names[i].name);
    struct nested nested = {.base = names[0]};
    if (is_operator_call(scope, s->value)) {
        if (!build_call(scope, s->value, names, s->name_count, &nested, tensors) ||
            !check_result_types(scope, s, tensors))
            return false;
    } else if (s->name_count > 1) {
        build_error(scope, s->place,
                    "several results need a call: A, B = f(X); write a stage for "
                    "each");
        return false;
    } else if ((tensors[0] = build_whole_stage(scope, s->value, names[0], &s->types[0], s->place,
                                               &nested)) == NULL) {
        return false;
    }
    for (size_t i = 0; i < s->name_count; i++)
        if (!declare_tensor(scope, s->names[i].place, s->names[i].name, tensors[i]))
            return false;
    return true;
}
