/* Calls: which operator a name means, how shapes bind, its stages in the caller's program. */
#include "lang/build_int.h"

#include "lang/library_int.h"

#include <string.h>

/* ---- looking up ---- */

/* A file of the library, parsed when a name that stands in it is first asked for; NULL if it does
 * not. Most programs call a handful of operators: reading all files would take longer than the
 * rest. */
static struct unit *
library_unit(struct scope *scope, size_t number, const char *name)
{
    struct lang *lang = scope->builder->lang;
    const struct library_file *file = &library_files[number];
    if (lang->library[number] == NULL) {
        if (strstr(file->text, name) == NULL)
            return NULL;
        struct source source = {file->path, file->text, strlen(file->text)};
        lang->library[number] = parse(lang->arena, lang->names, &source, scope->builder->diags);
    }
    return lang->library[number];
}

static bool
stands_before(struct place a, struct place b)
{
    return a.line < b.line || (a.line == b.line && a.column < b.column);
}

/* The last def of that name above `use`; any in the file if `use` is elsewhere. */
static const struct def *
def_in(const struct unit *unit, const char *name, struct place use)
{
    const struct def *found = NULL;
    for (size_t i = 0; i < unit->def_count; i++)
        if (unit->defs[i].name == name &&
            (use.source != &unit->source || stands_before(unit->defs[i].statement->place, use)))
            found = &unit->defs[i];
    return found;
}

/* The operator of that name with `inputs` inputs (any number if SIZE_MAX) below `end`. */
static const struct operator*
    operator_in(const struct unit *unit, const char *name, size_t inputs, size_t end)
{
    for (size_t i = end; i > 0; i--) {
        const struct operator* op = & unit->operators[i - 1];
        if (op->name == name && (inputs == SIZE_MAX || op->inputs == inputs))
            return op;
    }
    return NULL;
}

/* Above in the file, then in the files it uses. */
static const struct operator* find_local_operator(struct scope *scope, const char *name,
                                                  size_t inputs, const struct unit **unit)
{
    *unit = scope->unit;
    const struct operator* op = operator_in(*unit, name, inputs, scope->op->position);
    for (size_t i = scope->unit->used_count; i > 0 && op == NULL; i--) {
        *unit = scope->unit->used[i - 1];
        op = operator_in(*unit, name, inputs, (*unit)->operator_count);
    }
    return op;
}

static const struct operator*
    find_operator(struct scope *scope, const char *name, size_t inputs, const struct unit **unit)
{
    const struct operator* op = find_local_operator(scope, name, inputs, unit);
    for (size_t i = 0; library_files[i].path != NULL && op == NULL; i++)
        if ((*unit = library_unit(scope, i, name)) != NULL)
            op = operator_in(*unit, name, inputs, (*unit)->operator_count);
    return op;
}

bool
is_operator(struct scope *scope, const char *name)
{
    const struct unit *unit;
    return find_operator(scope, name, SIZE_MAX, &unit) != NULL;
}

const struct def *
find_def(struct env *env, const char *name, struct place use)
{
    const struct unit *unit = env->frame ? env->frame->def->unit : env->scope->unit, *other;
    if (env->frame != NULL)
        use = env->frame->def->statement->place; /* a def uses those above it: no recursion */
    const struct def *def = def_in(unit, name, use);
    for (size_t i = unit->used_count; i > 0 && def == NULL; i--)
        def = def_in(unit->used[i - 1], name, use);
    if (def != NULL || find_local_operator(env->scope, name, SIZE_MAX, &other) != NULL)
        return def; /* a def or operator of the file hides the library's */
    for (size_t i = 0; library_files[i].path != NULL && def == NULL; i++)
        if ((other = library_unit(env->scope, i, name)) != NULL)
            def = def_in(other, name, use);
    return def;
}

/* ---- arguments ---- */

struct binding { /* a call on its way */
    struct scope *caller;
    struct scope *scope; /* of the operator called */
    const struct ast *call;
    struct tensor **args;
};

static bool
is_plain_name(const struct ast *ast)
{
    return ast != NULL && ast->form == AST_NAME;
}

/* Names in the shapes of inputs that are consts or params of the operator are checked, not bound.
 */
static bool
is_constant_of(const struct operator* op, const char *name)
{
    for (size_t i = 0; i < op->count; i++)
        if (op->statements[i].form == STATEMENT_CONST || op->statements[i].form == STATEMENT_PARAM)
            for (size_t j = 0; j < op->statements[i].named_count; j++)
                if (op->statements[i].named[j].name == name)
                    return true;
    return false;
}

static const char *
argument_text(struct binding *binding, size_t number)
{
    const struct tensor *tensor = binding->args[number];
    return arena_printf(binding->scope->builder->arena, "argument %zu of %s (%s: %s%s)", number + 1,
                        binding->call->name, tensor->name, dtype_info[tensor->dtype].name,
                        show_shape(binding->scope->builder, tensor));
}

static bool
bind_name(struct binding *binding, size_t number, const char *name, const struct expr *extent)
{
    struct scope *scope = binding->scope;
    struct symbol *known = symbols_find(&scope->symbols, name);
    if (known == NULL) {
        struct symbol symbol = {.name = name, .what = "dim", .value = extent};
        return declare(scope, binding->call->place, symbol);
    }
    if (known->value != NULL && expr_integer(known->value) == expr_integer(extent))
        return true;
    build_error(binding->caller, binding->call->place,
                "%s: its %s is %s, but %s was %s before; the shapes must agree",
                argument_text(binding, number), name, show_extent(scope->builder, extent), name,
                known->value ? show_extent(scope->builder, known->value) : "a tensor");
    return false;
}

static bool
bind_ellipsis(struct binding *binding, size_t number, const struct expr *const *extents,
              unsigned rank)
{
    struct scope *scope = binding->scope;
    if (!scope->ellipsis_bound) {
        scope->ellipsis_bound = true;
        scope->ellipsis_rank = rank;
        memcpy(scope->ellipsis, extents, rank * sizeof *extents);
        return true;
    }
    bool same = rank == scope->ellipsis_rank;
    for (unsigned i = 0; i < rank && same; i++)
        same = expr_integer(extents[i]) == expr_integer(scope->ellipsis[i]);
    if (!same)
        build_error(binding->caller, binding->call->place,
                    "%s: the dimensions that ... stands for differ from those of an earlier "
                    "argument; they must be the same",
                    argument_text(binding, number));
    return same;
}

static bool
shape_mismatch(struct binding *binding, size_t number, const struct statement *in, size_t plain)
{
    build_error(binding->caller, binding->call->place, "%s has %u dimension%s; %s wants %s%zu",
                argument_text(binding, number), binding->args[number]->rank,
                binding->args[number]->rank == 1 ? "" : "s", binding->call->name,
                plain < in->left_count ? "at least " : "", plain);
    return false;
}

/* Binds the names in the shape of one input; everything else is checked later. */
static bool
bind_shape(struct binding *binding, size_t number, const struct statement *in)
{
    const struct tensor *tensor = binding->args[number];
    size_t ellipses = 0;
    for (size_t i = 0; i < in->left_count; i++)
        ellipses += in->left[i].extent == NULL;
    if (ellipses > 1) {
        build_error(binding->scope, in->place, "... may stand once in a shape");
        return false;
    }
    size_t plain = in->left_count - ellipses;
    if (tensor->rank < plain || (ellipses == 0 && tensor->rank != plain))
        return shape_mismatch(binding, number, in, plain);
    unsigned at = 0, rest = tensor->rank - (unsigned)plain;
    for (size_t i = 0; i < in->left_count; i++) {
        const struct ast *extent = in->left[i].extent;
        if (extent == NULL) {
            if (!bind_ellipsis(binding, number, tensor->extent + at, rest))
                return false;
            at += rest;
            continue;
        }
        if (is_plain_name(extent) && !is_constant_of(binding->scope->op, extent->name) &&
            !bind_name(binding, number, extent->name, tensor->extent[at]))
            return false;
        at++;
    }
    return true;
}

static bool
check_type(struct binding *binding, size_t number, const struct statement *in)
{
    const struct type *type = &in->types[0];
    enum dtype dtype;
    if (!type->given)
        return true;
    if (!resolve_type(binding->scope, type, &dtype))
        return false;
    if (dtype == binding->args[number]->dtype)
        return true;
    build_error(binding->caller, binding->call->place,
                "%s: %s wants %s there; "
                "convert it in a stage of its own",
                argument_text(binding, number), binding->call->name, dtype_info[dtype].name);
    return false;
}

/* Extents that are not plain names, once consts are known. */
static bool
check_extents(struct binding *binding, size_t number, const struct statement *in)
{
    const struct tensor *tensor = binding->args[number];
    unsigned at = 0;
    for (size_t i = 0; i < in->left_count; i++) {
        if (in->left[i].extent == NULL) {
            at += binding->scope->ellipsis_rank;
            continue;
        }
        const struct expr *want = build_constant(binding->scope, in->left[i].extent);
        if (want == NULL)
            return false;
        if (expr_integer(want) != tensor->size[at]) {
            build_error(binding->caller, binding->call->place,
                        "%s: dimension %u is %lld, %s wants %s there; give it "
                        "another shape or other constants",
                        argument_text(binding, number), at + 1, (long long)tensor->size[at],
                        binding->call->name, show_extent(binding->scope->builder, want));
            return false;
        }
        at++;
    }
    return true;
}

/* Calls `each` for every input of the operator, in order, with its argument's number. */
static bool
for_each_input(struct binding *binding,
               bool (*each)(struct binding *, size_t, const struct statement *))
{
    const struct operator* op = binding->scope->op;
    size_t number = 0;
    for (size_t i = 0; i < op->count; i++)
        for (size_t j = 0;
             op->statements[i].form == STATEMENT_IN && j < op->statements[i].name_count; j++)
            if (!each(binding, number++, &op->statements[i]))
                return false;
    return true;
}

static bool
declare_inputs(struct binding *binding)
{
    const struct operator* op = binding->scope->op;
    size_t number = 0;
    for (size_t i = 0; i < op->count; i++)
        for (size_t j = 0;
             op->statements[i].form == STATEMENT_IN && j < op->statements[i].name_count; j++) {
            const struct ast_index *name = &op->statements[i].names[j];
            struct symbol symbol = {
                .name = name->name, .what = "tensor", .tensor = binding->args[number++]};
            if (!declare(binding->scope, name->place, symbol))
                return false;
        }
    return true;
}

/* Dims that no argument bound keep their number. */
static bool
declare_dims(struct binding *binding)
{
    struct scope *scope = binding->scope;
    const struct ast_named *given = binding->call->named;
    for (size_t i = 0; i < scope->op->count; i++) {
        const struct statement *s = &scope->op->statements[i];
        for (size_t j = 0; s->form == STATEMENT_DIM && j < s->named_count; j++) {
            if (symbols_find(&scope->symbols, s->named[j].name) != NULL)
                continue;
            const struct expr *value = NULL;
            for (size_t k = 0; k < binding->call->named_count; k++)
                if (given[k].name == s->named[j].name)
                    value = build_constant(binding->caller, given[k].value);
            if (value == NULL)
                value = build_constant(scope, s->named[j].value);
            struct symbol symbol = {.name = s->named[j].name, .what = "dim", .value = value};
            if (value == NULL || !declare(scope, s->named[j].place, symbol))
                return false;
        }
    }
    return true;
}

static bool
check_given_names(struct binding *binding)
{
    const struct operator* op = binding->scope->op;
    for (size_t i = 0; i < binding->call->named_count; i++) {
        const struct ast_named *given = &binding->call->named[i];
        bool known = is_constant_of(op, given->name);
        for (size_t j = 0; j < op->count && !known; j++)
            for (size_t k = 0;
                 op->statements[j].form == STATEMENT_DIM && k < op->statements[j].named_count; k++)
                known |= op->statements[j].named[k].name == given->name;
        if (known)
            continue;
        struct buf names = buf_in(binding->scope->builder->arena);
        for (size_t j = 0; j < op->count; j++)
            for (size_t k = 0; (op->statements[j].form == STATEMENT_CONST ||
                                op->statements[j].form == STATEMENT_PARAM) &&
                               k < op->statements[j].named_count;
                 k++)
                buf_printf(&names, "%s%s", names.length ? ", " : "",
                           op->statements[j].named[k].name);
        build_error(binding->caller, given->place, "%s has no constant %s; it has %s", op->name,
                    given->name, names.length ? names.data : "none");
        return false;
    }
    return true;
}

/* ---- evaluating arguments ---- */

static struct tensor *
argument(struct scope *scope, const struct ast *ast, const char *prefix, const char *input,
         struct nested *nested)
{
    if (ast->form == AST_NAME) {
        const struct symbol *symbol = symbols_find(&scope->symbols, ast->name);
        if (symbol != NULL && symbol->tensor != NULL)
            return symbol->tensor;
    }
    if (is_operator_call(scope, ast))
        return build_nested_call(scope, ast, nested);
    const char *name = arena_printf(scope->builder->arena, "%s.%s", prefix, input);
    struct type none = {0};
    return build_whole_stage(scope, ast, name, &none, ast->place, nested);
}

static const char *
input_name(const struct operator* op, size_t number)
{
    for (size_t i = 0; i < op->count; i++)
        if (op->statements[i].form == STATEMENT_IN) {
            if (number < op->statements[i].name_count)
                return op->statements[i].names[number].name;
            number -= op->statements[i].name_count;
        }
    return NULL;
}

/* ---- results ---- */

static size_t
count_outputs(const struct operator* op)
{
    size_t count = 0;
    for (size_t i = 0; i < op->count; i++)
        if (op->statements[i].form == STATEMENT_OUT)
            count += op->statements[i].name_count;
    return count;
}

static bool
take_results(struct binding *binding, struct tensor **tensors)
{
    const struct operator* op = binding->scope->op;
    size_t number = 0;
    for (size_t i = 0; i < op->count; i++)
        for (size_t j = 0;
             op->statements[i].form == STATEMENT_OUT && j < op->statements[i].name_count; j++) {
            const struct ast_index *name = &op->statements[i].names[j];
            const struct symbol *symbol = symbols_find(&binding->scope->symbols, name->name);
            if (symbol == NULL || symbol->tensor == NULL) {
                build_error(binding->scope, name->place, "%s is not a tensor of this operator",
                            name->name);
                return false;
            }
            tensors[number++] = symbol->tensor;
        }
    return true;
}

static bool
wrong_call(struct scope *scope, const struct ast *call)
{
    const struct unit *unit;
    const struct operator* other = find_operator(scope, call->name, SIZE_MAX, &unit);
    if (other != NULL)
        build_error(scope, call->place, "%s takes %zu tensor%s, here are %zu; give it %zu",
                    call->name, other->inputs, other->inputs == 1 ? "" : "s", call->count,
                    other->inputs);
    else
        build_error(scope, call->place,
                    "there is no operator %s; define it above, or `use` the "
                    "file that does",
                    call->name);
    return false;
}

bool
build_call(struct scope *scope, const struct ast *call, const char *const *names, size_t count,
           struct nested *nested, struct tensor **tensors)
{
    struct builder *b = scope->builder;
    const struct unit *unit;
    const struct operator* op = find_operator(scope, call->name, call->count, &unit);
    if (op == NULL)
        return wrong_call(scope, call);
    if (scope->depth == BUILD_MAX_CALLS) {
        build_error(scope, call->place,
                    "calls inside calls more than %d deep: does %s call "
                    "itself?",
                    BUILD_MAX_CALLS, call->name);
        return false;
    }
    if (count_outputs(op) != count) {
        build_error(scope, call->place, "%s has %zu result%s, here %s %zu; write one name for each",
                    call->name, count_outputs(op), count_outputs(op) == 1 ? "" : "s",
                    count == 1 ? "is" : "are", count);
        return false;
    }
    struct scope *inner = arena_alloc(b->arena, sizeof *inner);
    *inner = (struct scope){.builder = b,
                            .unit = unit,
                            .op = op,
                            .prefix = names[0],
                            .result_names = names,
                            .caller = scope,
                            .call_place = call->place,
                            .depth = scope->depth + 1};
    struct binding binding = {scope, inner, call, NULL};
    binding.args = arena_array(b->arena, call->count + 1, sizeof *binding.args);
    for (size_t i = 0; i < call->count; i++)
        if ((binding.args[i] =
                 argument(scope, call->args[i], names[0], input_name(op, i), nested)) == NULL)
            return false;
    return check_given_names(&binding) && for_each_input(&binding, bind_shape) &&
           declare_dims(&binding) && declare_inputs(&binding) &&
           for_each_input(&binding, check_type) &&
           build_constants(inner, call->named, call->named_count, scope) &&
           for_each_input(&binding, check_extents) && check_requirements(inner) &&
           build_statements(inner) && take_results(&binding, tensors);
}
