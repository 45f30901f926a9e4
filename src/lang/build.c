/* What all statements share: names, tensors, what may be stored, bounds; and the statements that
 * are not stages. */
#include "lang/build_int.h"

#include "base/num.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- errors ---- */

void
build_error(struct scope *scope, struct place place, const char *format, ...)
{
    struct builder *b = scope->builder;
    struct buf buf = buf_in(b->arena);
    va_list args;
    va_start(args, format);
    buf_vprintf(&buf, format, args);
    va_end(args);
    if (scope->caller != NULL) { /* say where it was called from, outermost */
        struct scope *outer = scope;
        while (outer->caller->caller != NULL)
            outer = outer->caller;
        buf_printf(&buf, " (in the call of %s at %s:%u)", outer->op->name,
                   outer->call_place.source->path, outer->call_place.line);
    }
    if (strcmp(b->case_name, "default") != 0)
        buf_printf(&buf, " (case %s)", b->case_name);
    diags_add(b->diags, DIAG_ERROR, place, "%s", buf.data);
}

/* ---- symbols ---- */

/* Linear for few, but 4096 inputs and 10,000 stages are allowed: slots are found by the pointer. */
static size_t
symbol_slot(const struct symbols *symbols, const char *name)
{
    size_t slot = ((uintptr_t)name >> 4) * 0x9E3779B97F4A7C15u >> 20 & (symbols->capacity - 1);
    while (symbols->slots[slot] != 0 && symbols->items[symbols->slots[slot] - 1].name != name)
        slot = (slot + 1) & (symbols->capacity - 1);
    return slot;
}

struct symbol *
symbols_find(const struct symbols *symbols, const char *name)
{
    if (symbols->capacity == 0)
        return NULL;
    size_t item = symbols->slots[symbol_slot(symbols, name)];
    return item ? &symbols->items[item - 1] : NULL;
}

static void
symbols_add(struct arena *arena, struct symbols *symbols, struct symbol symbol)
{
    if (2 * (symbols->count + 1) > symbols->capacity) {
        symbols->capacity = symbols->capacity ? 2 * symbols->capacity : 32;
        symbols->items = arena_grow(arena, symbols->items, symbols->count, symbols->capacity,
                                    sizeof *symbols->items);
        symbols->slots = arena_array(arena, symbols->capacity, sizeof *symbols->slots);
        for (size_t i = 0; i < symbols->count; i++)
            symbols->slots[symbol_slot(symbols, symbols->items[i].name)] = (uint32_t)i + 1;
    }
    symbols->items[symbols->count++] = symbol;
    symbols->slots[symbol_slot(symbols, symbol.name)] = (uint32_t)symbols->count;
}

bool
declare(struct scope *scope, struct place place, struct symbol symbol)
{
    const struct symbol *known = symbols_find(&scope->symbols, symbol.name);
    if (known != NULL) {
        build_error(scope, place, "%s is defined already, as a %s; choose another name",
                    symbol.name, known->what);
        return false;
    }
    symbols_add(scope->builder->arena, &scope->symbols, symbol);
    return true;
}

/* ---- tensors and stages ---- */

/* Operators inside of one another may have tensors of one name: the second is Y.Z.2. Names without
 * a point are people's own, and checked. */
static const char *
unique_name(const struct builder *b, const char *name)
{
    const char *unique = name;
    unsigned copy = 1;
    if (strchr(name, '.') == NULL)
        return name;
    for (size_t i = 0; i < b->tensor_count; i++)
        if (strcmp(b->tensors[i]->name, unique) == 0) {
            unique = arena_printf(b->arena, "%s.%u", name, ++copy);
            i = SIZE_MAX; /* then 0: from the first on */
        }
    return unique;
}

struct tensor *
new_tensor(struct builder *b, const char *name, enum dtype dtype, unsigned rank)
{
    struct tensor *tensor = arena_alloc(b->arena, sizeof *tensor);
    *tensor = (struct tensor){.name = unique_name(b, name),
                              .number = (unsigned)b->tensor_count,
                              .dtype = dtype,
                              .rank = rank,
                              .input = -1,
                              .output = -1};
    if (b->tensor_count == b->tensor_capacity) {
        b->tensor_capacity = b->tensor_capacity ? 2 * b->tensor_capacity : 64;
        b->tensors = arena_grow(b->arena, b->tensors, b->tensor_count, b->tensor_capacity,
                                sizeof *b->tensors);
    }
    b->tensors[b->tensor_count++] = tensor;
    return tensor;
}

struct draft *
new_draft(struct builder *b)
{
    if (b->draft_count == b->draft_capacity) {
        b->draft_capacity = b->draft_capacity ? 2 * b->draft_capacity : 64;
        b->drafts =
            arena_grow(b->arena, b->drafts, b->draft_count, b->draft_capacity, sizeof *b->drafts);
    }
    b->drafts[b->draft_count] = (struct draft){.stage.rec = -1};
    return &b->drafts[b->draft_count++];
}

void
new_stamp(struct builder *b)
{
    if (ir_count(b->ir) > b->stamp_capacity) {
        size_t capacity = 2 * ir_count(b->ir);
        b->stamps = arena_grow(b->arena, b->stamps, b->stamp_capacity, capacity, sizeof *b->stamps);
        b->stamp_capacity = capacity;
    }
    b->stamp++;
}

bool
set_shape(struct scope *scope, struct place place, struct tensor *tensor,
          const struct expr *const *extents)
{
    int64_t count = 1;
    for (unsigned i = 0; i < tensor->rank; i++) {
        int64_t size = expr_integer(extents[i]);
        tensor->extent[i] = extents[i];
        tensor->size[i] = size;
        if (size < 1) {
            build_error(scope, place, "dimension %u of %s is %s; sizes are at least 1", i + 1,
                        tensor->name, show_extent(scope->builder, extents[i]));
            return false;
        }
        if (!num_mul(count, size, &count)) {
            build_error(scope, place, "%s has more than 2^63-1 elements: %s; choose smaller sizes",
                        tensor->name, show_shape(scope->builder, tensor));
            return false;
        }
    }
    tensor->count = count;
    return true;
}

const char *
tensor_name(struct scope *scope, const char *name)
{
    size_t number = 0;
    if (scope->prefix == NULL)
        return name;
    for (size_t i = 0; i < scope->op->count; i++)
        for (size_t j = 0; scope->op->statements[i].form == STATEMENT_OUT &&
                           j < scope->op->statements[i].name_count;
             j++, number++)
            if (scope->op->statements[i].names[j].name == name)
                return scope->result_names[number];
    return arena_printf(scope->builder->arena, "%s.%s", scope->prefix, name);
}

bool
resolve_type(struct scope *scope, const struct type *type, enum dtype *dtype)
{
    *dtype = type->dtype;
    if (type->like == NULL)
        return true;
    const struct symbol *symbol = symbols_find(&scope->symbols, type->like);
    if (symbol == NULL || symbol->tensor == NULL) {
        build_error(scope, type->place, "like %s: no such tensor above; name one", type->like);
        return false;
    }
    *dtype = symbol->tensor->dtype;
    return true;
}

enum dtype
dtype_of_kind(enum kind kind)
{
    static const enum dtype dtypes[] = {[KIND_BOOL] = DTYPE_BOOL,
                                        [KIND_INT] = DTYPE_I32,
                                        [KIND_REAL] = DTYPE_F32,
                                        [KIND_F32] = DTYPE_F32,
                                        [KIND_F64] = DTYPE_F64};
    return dtypes[kind];
}

/* Whether a value of this kind may be stored so. */
static bool
can_store(struct scope *scope, struct place place, const struct ast *ast, const struct expr *value,
          enum dtype dtype)
{
    struct env env = {.scope = scope, .ellipsis = -1};
    enum kind kind = dtype_info[dtype].kind;
    if (kind <= KIND_INT && value->kind > KIND_INT) {
        build_error(scope, place, "a float is stored in %s; write %s(...) to convert it",
                    dtype_info[dtype].name,
                    dtype == DTYPE_BOOL ? "... != 0, not bool" : dtype_info[dtype].name);
        return false;
    }
    if (kind == KIND_BOOL && value->kind == KIND_INT) {
        build_error(scope, place, "an integer is stored in bool; write ... != 0");
        return false;
    }
    return kind <= KIND_INT || meets_float(&env, ast, value);
}

/* ---- bounds ---- */

struct bounds {
    struct scope *scope;
    bool failed;
};

/* An i32 input without a clause that is used as a subscript lies in that dimension. */
static bool
limits_itself(struct builder *b, const struct expr *sub, int64_t size)
{
    if (sub->op != OP_LOAD || sub->tensor->input < 0 || sub->tensor->domain.form != DOMAIN_NONE)
        return false;
    int64_t *limit = &b->subscript_limit[sub->tensor->input];
    if (*limit == 0 || size < *limit)
        *limit = size;
    if (b->known_limit == NULL || b->known_limit[sub->tensor->input] != *limit)
        b->limits_changed = true;
    return true;
}

static void
report_bounds(struct bounds *bounds, const struct expr *load, unsigned at, int64_t low,
              int64_t high)
{
    struct builder *b = bounds->scope->builder;
    const struct ast *ast = load->id < b->origin_capacity ? b->origin[load->id] : NULL;
    struct scope *scope = ast ? b->origin_scope[load->id] : bounds->scope;
    struct place place = {0};
    if (ast != NULL)
        place = ast->form == AST_ELEMENT && ast->count == load->tensor->rank ? ast->args[at]->place
                                                                             : ast->place;
    build_error(scope, place,
                "subscript %u of %s runs from %lld to %lld, the dimension from 0 to %lld; add a "
                "default, %s[... | 0], or shorten the range",
                at + 1, load->tensor->name, (long long)low, (long long)high,
                (long long)load->tensor->size[at] - 1, load->tensor->name);
}

static const struct expr *
check_load(struct rewrite *rewrite, const struct expr *e, const struct expr *const *args)
{
    struct bounds *bounds = rewrite->context;
    (void)args;
    if (e->op != OP_LOAD)
        return e;
    for (unsigned i = 0; i < e->tensor->rank; i++) {
        int64_t low, high;
        if (limits_itself(bounds->scope->builder, e->args[i], e->tensor->size[i]))
            continue;
        expr_value_interval(e->args[i], rewrite->levels, &low, &high);
        if ((low < 0 || high >= e->tensor->size[i]) && expr_default(e) == NULL) {
            report_bounds(bounds, e, i, low, high);
            bounds->failed = true;
        }
    }
    return e;
}

void
set_levels(struct level *levels, const struct tensor *tensor, const char *const *names)
{
    for (unsigned i = 0; i < tensor->rank; i++)
        levels[i] = (struct level){tensor->extent[i], names[i], 0, tensor->size[i] - 1};
}

static bool
check_bounds(struct scope *scope, const struct tensor *tensor, const struct expr *value,
             const char *const *names)
{
    struct bounds bounds = {scope, false};
    struct rewrite rewrite = {.ir = scope->builder->ir, .leave = check_load, .context = &bounds};
    set_levels(rewrite.levels, tensor, names);
    ir_rewrite(&rewrite, value);
    return !bounds.failed;
}

/* What an integer stage can hold, from its expression; anything its dtype can if it reads itself.
 */
static void
set_interval(struct tensor *tensor, const struct expr *value, const char *const *names,
             bool whole_range)
{
    struct level levels[LANG_MAX_LEVELS] = {0};
    if (dtype_is_float(tensor->dtype))
        return;
    int64_t top = (int64_t)dtype_info[tensor->dtype].largest;
    int64_t bottom = tensor->dtype == DTYPE_U8 || tensor->dtype == DTYPE_BOOL ? 0 : -top - 1;
    set_levels(levels, tensor, names);
    expr_value_interval(value, levels, &tensor->low, &tensor->high);
    if (whole_range || tensor->low < bottom || tensor->high > top) {
        tensor->low = bottom;
        tensor->high = top;
    }
}

bool
finish_stage(struct scope *scope, struct tensor *tensor, const struct ast *ast,
             const struct expr *value, const char *const *index_names, int rec, unsigned carried,
             struct place place)
{
    struct builder *b = scope->builder;
    if (!can_store(scope, place, ast, value, tensor->dtype) ||
        !check_bounds(scope, tensor, value, index_names))
        return false;
    if (b->draft_count >= LANG_MAX_STAGES) {
        build_error(scope, place, "more than %d stages; split the program", LANG_MAX_STAGES);
        return false;
    }
    set_interval(tensor, value, index_names, rec >= 0);
    struct draft *draft = new_draft(b);
    draft->place = place;
    draft->by_author = scope->caller == NULL;
    draft->stage.tensor = tensor;
    draft->stage.value = value;
    draft->stage.rec = rec;
    draft->stage.carried = carried;
    for (unsigned i = 0; i < tensor->rank; i++)
        draft->stage.index[i] = index_names[i];
    return true;
}

bool
declare_tensor(struct scope *scope, struct place place, const char *name, struct tensor *tensor)
{
    struct symbol symbol = {.name = name, .what = "tensor", .tensor = tensor};
    return declare(scope, place, symbol);
}

/* ---- operators ---- */

bool
build_statements(struct scope *scope)
{
    bool good = true;
    for (size_t i = 0; i < scope->op->count; i++) {
        const struct statement *s = &scope->op->statements[i];
        bool built = true;
        if (s->form == STATEMENT_STAGE)
            built = build_stage(scope, s);
        else if (s->form == STATEMENT_REC)
            built = build_rec(scope, s);
        else if (s->form == STATEMENT_WHOLE)
            built = build_whole(scope, s);
        good &= built;
        if (!built && scope->caller != NULL)
            return false; /* one mistake in a called operator is enough */
    }
    return good;
}

static const struct expr *
constant_value(struct scope *scope, const struct statement *s, const struct ast_named *named,
               const struct ast *ast, struct scope *where)
{
    const struct expr *value = build_constant(where, ast);
    if (value == NULL)
        return NULL;
    if (s->form == STATEMENT_CONST && value->kind > KIND_INT) {
        build_error(scope, named->place, "const %s is real; consts are integers, write param %s",
                    named->name, named->name);
        return NULL;
    }
    if (s->form == STATEMENT_PARAM && value->kind <= KIND_INT) {
        struct env env = {.scope = where, .ellipsis = -1};
        if (!meets_float(&env, ast, value))
            return NULL;
        value = ir_binary(scope->builder->ir, OP_MUL, ir_real(scope->builder->ir, 1.0), value);
    }
    return value;
}

bool
build_constants(struct scope *scope, const struct ast_named *given, size_t given_count,
                struct scope *giver)
{
    bool good = true;
    for (size_t i = 0; i < scope->op->count; i++) {
        const struct statement *s = &scope->op->statements[i];
        if (s->form != STATEMENT_CONST && s->form != STATEMENT_PARAM)
            continue;
        for (size_t j = 0; j < s->named_count; j++) {
            const struct ast *ast = s->named[j].value;
            struct scope *where = scope;
            for (size_t k = 0; k < given_count; k++)
                if (given[k].name == s->named[j].name) {
                    ast = given[k].value;
                    where = giver;
                }
            const struct expr *value = constant_value(scope, s, &s->named[j], ast, where);
            struct symbol symbol = {.name = s->named[j].name,
                                    .what = s->form == STATEMENT_CONST ? "const" : "param",
                                    .value = value};
            if (value == NULL || !declare(scope, s->named[j].place, symbol))
                good = false;
        }
    }
    return good;
}

bool
check_requirements(struct scope *scope)
{
    bool good = true;
    for (size_t i = 0; i < scope->op->count; i++) {
        const struct statement *s = &scope->op->statements[i];
        if (s->form != STATEMENT_REQUIRE)
            continue;
        const struct expr *value = build_constant(scope, s->value);
        if (value == NULL) {
            good = false;
        } else if (value->kind > KIND_INT) {
            build_error(scope, s->value->place, "require needs a condition; write a comparison");
            good = false;
        } else if (expr_integer(value) == 0) {
            build_error(scope, s->place, "this requirement of %s does not hold; %s",
                        scope->op->name,
                        scope->caller ? "give it other shapes or constants" : "choose other sizes");
            good = false;
        }
    }
    return good;
}
