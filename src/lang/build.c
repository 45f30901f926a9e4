/* Statements: declarations, stages, rec blocks, whole tensors. */
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

struct tensor *
new_tensor(struct builder *b, const char *name, enum dtype dtype, unsigned rank)
{
    struct tensor *tensor = arena_alloc(b->arena, sizeof *tensor);
    *tensor = (struct tensor){.name = name,
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
        b->drafts = arena_grow(b->arena, b->drafts, b->draft_count, b->draft_capacity,
                               sizeof *b->drafts);
    }
    b->drafts[b->draft_count] = (struct draft){.stage.rec = -1};
    return &b->drafts[b->draft_count++];
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

static enum dtype
dtype_of_kind(enum kind kind)
{
    static const enum dtype dtypes[] = {[KIND_BOOL] = DTYPE_BOOL, [KIND_INT] = DTYPE_I32,
                                        [KIND_REAL] = DTYPE_F32,  [KIND_F32] = DTYPE_F32,
                                        [KIND_F64] = DTYPE_F64};
    return dtypes[kind];
}

/* Whether a value of this kind may be stored so. */
static bool
can_store(struct scope *scope, struct place place, const struct ast *ast,
          const struct expr *value, enum dtype dtype)
{
    struct env env = {.scope = scope, .ellipsis = -1};
    enum kind kind = dtype_info[dtype].kind;
    if (kind <= KIND_INT && value->kind > KIND_INT) {
        build_error(scope, place, "a float is stored in %s; write %s(...) to convert it",
                    dtype_info[dtype].name, dtype == DTYPE_BOOL ? "... != 0, not bool" :
                                                                  dtype_info[dtype].name);
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
        expr_interval(e->args[i], rewrite->levels, &low, &high);
        if ((low < 0 || high >= e->tensor->size[i]) && expr_default(e) == NULL) {
            report_bounds(bounds, e, i, low, high);
            bounds->failed = true;
        }
    }
    return e;
}

static void
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

/* What an integer stage can hold, from its expression; anything its dtype can if it reads itself. */
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
    expr_interval(value, levels, &tensor->low, &tensor->high);
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

/* ---- stages ---- */

struct making { /* one stage on its way */
    struct env env;
    const struct statement *statement;
    struct tensor *tensor; /* known beforehand for scans and rec, else NULL */
    const struct expr *value;
    const struct expr *extents[LANG_MAX_RANK];
    unsigned rank;
    enum dtype dtype;
};

static bool
is_tensor_name(struct scope *scope, const char *name, struct place place)
{
    const struct symbol *symbol = symbols_find(&scope->symbols, name);
    if (symbol == NULL)
        return true;
    build_error(scope, place, "index %s has the name of a %s; rename one of them", name,
                symbol->what);
    return false;
}

/* The left side: distinct plain indices, extents where written. */
static bool
open_left(struct making *making)
{
    struct env *env = &making->env;
    const struct statement *s = making->statement;
    for (size_t i = 0; i < s->left_count; i++) {
        const struct ast_index *index = &s->left[i];
        unsigned more = index->name ? 1 : env->scope->ellipsis_rank;
        if (env->levels + more > LANG_MAX_RANK) {
            build_error(env->scope, index->place, "%s has more than %d dimensions; join some",
                        s->name, LANG_MAX_RANK);
            return false;
        }
        if (index->name == NULL) {
            if (!env->scope->ellipsis_bound || env->ellipsis >= 0) {
                build_error(env->scope, index->place,
                            env->ellipsis >= 0
                                ? "... stands already among the indices; it can be used once"
                                : "no input of this operator has ...; name the indices");
                return false;
            }
            env->ellipsis = (int)env->levels;
            for (unsigned j = 0; j < more; j++) {
                env->index[env->levels] = arena_printf(env->scope->builder->arena, "e%u", j + 1);
                env->extent[env->levels++] = env->scope->ellipsis[j];
            }
            continue;
        }
        for (unsigned j = 0; j < env->levels; j++)
            if (env->index[j] == index->name) {
                build_error(env->scope, index->place,
                            "index %s stands twice on the left side; each element is written once",
                            index->name);
                return false;
            }
        const struct expr *extent = NULL;
        if (!is_tensor_name(env->scope, index->name, index->place) ||
            (index->extent != NULL &&
             (extent = build_constant(env->scope, index->extent)) == NULL))
            return false;
        if (extent != NULL && extent->kind > KIND_INT) {
            build_error(env->scope, index->extent->place, "an extent is an integer; write one");
            return false;
        }
        env->index[env->levels] = index->name;
        env->extent[env->levels++] = extent;
    }
    making->rank = env->levels;
    return true;
}

static struct place
left_place(const struct making *making, unsigned level)
{
    const struct statement *s = making->statement;
    for (size_t i = 0; i < s->left_count; i++)
        if (s->left[i].name == making->env.index[level])
            return s->left[i].place;
    return s->place;
}

/* Builds the expression and finds shape and dtype. quiet: leave what cannot be known yet. */
static bool
make_value(struct making *making, bool quiet)
{
    struct env *env = &making->env;
    making->value = build_expr(env, making->statement->value);
    if (making->value == NULL)
        return false;
    for (unsigned i = 0; i < making->rank; i++) {
        making->extents[i] = env->extent[i];
        if (making->extents[i] == NULL)
            making->extents[i] = infer_extent(env, i, env->index[i], left_place(making, i),
                                              &making->value, 1, quiet);
        if (making->extents[i] == NULL && !quiet)
            return false;
    }
    making->dtype = dtype_of_kind(making->value->kind);
    return !making->statement->types[0].given ||
           resolve_type(env->scope, &making->statement->types[0], &making->dtype);
}

static struct making
new_making(struct scope *scope, const struct statement *statement)
{
    return (struct making){.env = {.scope = scope, .ellipsis = -1}, .statement = statement};
}

static bool
declare_tensor(struct scope *scope, struct place place, const char *name, struct tensor *tensor)
{
    struct symbol symbol = {.name = name, .what = "tensor", .tensor = tensor};
    return declare(scope, place, symbol);
}

static bool
build_plain_stage(struct scope *scope, const struct statement *s)
{
    struct making making = new_making(scope, s);
    if (!open_left(&making) || !make_value(&making, false))
        return false;
    struct tensor *tensor =
        new_tensor(scope->builder, tensor_name(scope, s->name), making.dtype, making.rank);
    return set_shape(scope, s->place, tensor, making.extents) &&
           declare_tensor(scope, s->place, s->name, tensor) &&
           finish_stage(scope, tensor, s->value, making.value, making.env.index, -1, 0, s->place);
}

/* ---- rec and scans ---- */

static bool
reads(const struct ast *ast, const char *name)
{
    if (ast == NULL)
        return false;
    if (ast->form == AST_ELEMENT && ast->name == name)
        return true;
    for (size_t i = 0; i < ast->count; i++)
        if (reads(ast->args[i], name))
            return true;
    return reads(ast->guard, name);
}

struct block { /* stages advanced together */
    struct scope *scope;
    const struct statement *const *statements;
    size_t count;
    struct making *makings;
    const char *carried_name;  /* NULL: a scan, the index is found */
    const struct expr *extent; /* of the carried index; NULL: a scan */
    unsigned *carried;         /* by stage */
    bool failed;
    size_t current;            /* while checking reads */
};

/* How a member is read: distance c of the carried subscript, t-c. */
static bool
carried_distance(const struct expr *sub, unsigned level, int64_t *distance)
{
    int64_t coefficient[LANG_MAX_LEVELS], constant;
    if (!expr_affine(sub, coefficient, &constant))
        return false;
    for (unsigned i = 0; i < LANG_MAX_LEVELS; i++)
        if (coefficient[i] != (i == level))
            return false;
    *distance = -constant;
    return true;
}

static struct place
origin_place(struct builder *b, const struct expr *load, struct place otherwise)
{
    return load->id < b->origin_capacity && b->origin[load->id] ? b->origin[load->id]->place
                                                                : otherwise;
}

static void
report_ahead(struct block *block, const struct expr *load, const char *t)
{
    struct scope *scope = block->scope;
    const char *name = load->tensor->name;
    build_error(scope, origin_place(scope->builder, load, block->statements[0]->place),
                "%s is read where it is not computed yet; inside its own steps read it at %s-1, "
                "%s-2 ... with a default. A reverse scan: define V[%s] from X[N-1-%s], then "
                "Y[%s] = V[N-1-%s]",
                name, t, t, t, t, t, t);
    block->failed = true;
}

static const struct expr *
check_read(struct rewrite *rewrite, const struct expr *e, const struct expr *const *args)
{
    struct block *block = rewrite->context;
    (void)args;
    for (size_t q = 0; e->op == OP_LOAD && q < block->count; q++) {
        int64_t distance;
        if (e->tensor != block->makings[q].tensor)
            continue;
        bool affine = carried_distance(e->args[block->carried[q]], block->carried[block->current],
                                       &distance);
        bool allowed = affine && (distance >= 1 || (distance == 0 && q < block->current));
        if (!allowed && !block->failed)
            report_ahead(block, e,
                         block->makings[q].env.index[block->carried[block->current]]);
    }
    return e;
}

struct self_reads {
    const struct tensor *tensor;
    uint32_t possible; /* bit d: every read of itself is t-c at position d */
};

static const struct expr *
find_carried(struct rewrite *rewrite, const struct expr *e, const struct expr *const *args)
{
    struct self_reads *self = rewrite->context;
    (void)args;
    if (e->op == OP_LOAD && e->tensor == self->tensor)
        for (unsigned d = 0; d < e->tensor->rank; d++) {
            int64_t distance;
            if (!carried_distance(e->args[d], d, &distance) || distance < 1)
                self->possible &= ~(1u << d);
        }
    return e;
}

/* The leftmost position at which every read of itself is t-c. */
static bool
choose_carried(struct block *block)
{
    struct making *making = &block->makings[0];
    struct self_reads self = {making->tensor, (1u << making->rank) - 1};
    struct rewrite rewrite = {
        .ir = block->scope->builder->ir, .leave = find_carried, .context = &self};
    set_levels(rewrite.levels, making->tensor, making->env.index);
    ir_rewrite(&rewrite, making->value);
    for (unsigned d = 0; d < making->rank; d++)
        if (self.possible >> d & 1) {
            block->carried[0] = d;
            return true;
        }
    build_error(block->scope, block->statements[0]->place,
                "%s reads itself, but not at t-1, t-2 ... of one of its indices; read it there "
                "with a default. A reverse scan: define V[t] from X[N-1-t], then Y[t] = V[N-1-t]",
                making->tensor->name);
    return false;
}

/* Opens the left sides and declares the tensors, so that the stages can read one another. */
static bool
open_block(struct block *block)
{
    struct scope *scope = block->scope;
    for (size_t i = 0; i < block->count; i++) {
        const struct statement *s = block->statements[i];
        struct making *making = &block->makings[i];
        bool found = block->carried_name == NULL;
        *making = new_making(scope, s);
        if (!open_left(making))
            return false;
        for (unsigned d = 0; d < making->rank && block->carried_name; d++)
            if (making->env.index[d] == block->carried_name) {
                block->carried[i] = d;
                making->env.extent[d] = block->extent;
                found = true;
            }
        if (!found) {
            build_error(scope, s->place, "%s stands in a rec but lacks its index; write %s[%s,...]",
                        s->name, s->name, block->carried_name);
            return false;
        }
        enum dtype dtype = DTYPE_BOOL; /* the narrowest; widened until nothing changes */
        if (s->types[0].given && !resolve_type(scope, &s->types[0], &dtype))
            return false;
        making->tensor = new_tensor(scope->builder, tensor_name(scope, s->name), dtype,
                                    making->rank);
        for (unsigned d = 0; d < making->rank; d++)
            making->tensor->extent[d] = making->env.extent[d];
        if (!declare_tensor(scope, s->place, s->name, making->tensor))
            return false;
    }
    return true;
}

/* Builds all stages quietly and takes over what became known; true if something changed. */
static bool
settle(struct block *block)
{
    struct builder *b = block->scope->builder;
    struct diags *diags = b->diags;
    bool changed = false;
    b->diags = diags_create(b->arena, 1);
    for (size_t i = 0; i < block->count; i++) {
        struct making *making = &block->makings[i];
        if (!make_value(making, true))
            continue;
        changed |= making->dtype != making->tensor->dtype;
        making->tensor->dtype = making->dtype;
        for (unsigned d = 0; d < making->rank; d++)
            if (making->tensor->extent[d] == NULL && making->extents[d] != NULL) {
                making->tensor->extent[d] = making->extents[d];
                changed = true;
            }
    }
    b->diags = diags;
    return changed;
}

static bool
close_block(struct block *block)
{
    struct scope *scope = block->scope;
    struct builder *b = scope->builder;
    for (size_t i = 0; i < block->count; i++) {
        struct making *making = &block->makings[i];
        if (!make_value(making, false) ||
            !set_shape(scope, making->statement->place, making->tensor, making->extents))
            return false;
    }
    if (block->carried_name == NULL && !choose_carried(block))
        return false;
    int rec = (int)b->rec_count++;
    b->rec_extents = arena_grow(b->arena, b->rec_extents, (size_t)rec, (size_t)rec + 1,
                                sizeof *b->rec_extents);
    b->rec_extents[rec] = block->makings[0].tensor->extent[block->carried[0]];
    for (block->current = 0; block->current < block->count; block->current++) {
        struct making *making = &block->makings[block->current];
        struct rewrite rewrite = {.ir = b->ir, .leave = check_read, .context = block};
        set_levels(rewrite.levels, making->tensor, making->env.index);
        ir_rewrite(&rewrite, making->value);
        if (block->failed ||
            !finish_stage(scope, making->tensor, making->statement->value, making->value,
                          making->env.index, rec, block->carried[block->current],
                          making->statement->place))
            return false;
    }
    return true;
}

static bool
build_block(struct scope *scope, const struct statement *const *statements, size_t count,
            const char *carried_name, const struct expr *extent)
{
    struct arena *arena = scope->builder->arena;
    struct block block = {.scope = scope,
                          .statements = statements,
                          .count = count,
                          .carried_name = carried_name,
                          .extent = extent};
    block.makings = arena_array(arena, count, sizeof *block.makings);
    block.carried = arena_array(arena, count, sizeof *block.carried);
    if (!open_block(&block))
        return false;
    for (int round = 0; settle(&block) && round < 8; round++)
        continue;
    return close_block(&block);
}

static bool
build_rec(struct scope *scope, const struct statement *s)
{
    const struct expr *extent = build_constant(scope, s->value);
    if (extent == NULL || !is_tensor_name(scope, s->name, s->place))
        return false;
    if (extent->kind > KIND_INT || expr_integer(extent) < 1) {
        build_error(scope, s->value->place, "rec runs over %s steps; write a size of at least 1",
                    show_extent(scope->builder, extent));
        return false;
    }
    if (s->body_count == 0)
        return true;
    const struct statement **statements =
        arena_array(scope->builder->arena, s->body_count, sizeof *statements);
    for (size_t i = 0; i < s->body_count; i++) {
        statements[i] = &s->body[i];
        if (s->body[i].form != STATEMENT_STAGE) {
            build_error(scope, s->body[i].place,
                        "only stages NAME[%s,...] = value stand in a rec; no calls, no rec inside",
                        s->name);
            return false;
        }
    }
    return build_block(scope, statements, s->body_count, s->name, extent);
}

static bool
build_stage(struct scope *scope, const struct statement *s)
{
    const struct symbol *known = symbols_find(&scope->symbols, s->name);
    if (known != NULL) {
        build_error(scope, s->place, "%s is defined already, as a %s; choose another name",
                    s->name, known->what);
        return false;
    }
    if (reads(s->value, s->name))
        return build_block(scope, &s, 1, NULL, NULL);
    return build_plain_stage(scope, s);
}

/* ---- whole tensors ---- */

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
            build_error(scope, s->types[i].place, "%s is %s by the operator's own word; leave the "
                        "type out", s->names[i].name, dtype_info[tensors[i]->dtype].name);
            return false;
        }
    }
    return true;
}

static bool
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
        build_error(scope, s->place, "several results need a call: A, B = f(X); write a stage for "
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
            build_error(scope, s->place, "this requirement of %s does not hold; %s", scope->op->name,
                        scope->caller ? "give it other shapes or constants"
                                      : "choose other sizes");
            good = false;
        }
    }
    return good;
}
