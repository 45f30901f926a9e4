/* Stages: left sides, shapes and data types; scans and rec blocks, whose stages read one another.
 */
#include "lang/build_int.h"

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
            (index->extent != NULL && (extent = build_constant(env->scope, index->extent)) == NULL))
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
    size_t current; /* while checking reads */
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
        bool affine =
            carried_distance(e->args[block->carried[q]], block->carried[block->current], &distance);
        bool allowed = affine && (distance >= 1 || (distance == 0 && q < block->current));
        if (!allowed && !block->failed)
            report_ahead(block, e, block->makings[q].env.index[block->carried[block->current]]);
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
        making->tensor =
            new_tensor(scope->builder, tensor_name(scope, s->name), dtype, making->rank);
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
    b->rec_extents =
        arena_grow(b->arena, b->rec_extents, (size_t)rec, (size_t)rec + 1, sizeof *b->rec_extents);
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

bool
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

bool
build_stage(struct scope *scope, const struct statement *s)
{
    const struct symbol *known = symbols_find(&scope->symbols, s->name);
    if (known != NULL) {
        build_error(scope, s->place, "%s is defined already, as a %s; choose another name", s->name,
                    known->what);
        return false;
    }
    if (reads(s->value, s->name))
        return build_block(scope, &s, 1, NULL, NULL);
    return build_plain_stage(scope, s);
}
