/* Indices and what binds them: ranges, reductions, cat. */
#include "lang/build_int.h"

/* ---- ranges ---- */

struct found { /* extents an index could have */
    const struct expr *strong, *other, *weak;
};

static void
offer(struct found *found, const struct expr *extent, bool weak)
{
    if (extent == NULL) /* of a rec tensor whose shape is not known yet */
        return;
    const struct expr **slot = weak ? &found->weak : &found->strong;
    if (*slot == NULL)
        *slot = extent;
    else if (!weak && found->other == NULL && expr_integer(extent) != expr_integer(*slot))
        found->other = extent;
}

static const struct expr *
cat_total(struct ir *ir, const struct binder *binder)
{
    const struct expr *total = ir_int(ir, 0);
    for (unsigned i = 0; i < binder->count; i++)
        total = ir_binary(ir, OP_ADD, total, binder->extent[i]);
    return total;
}

static void
collect(struct builder *b, const struct expr *e, unsigned level, struct found *found)
{
    if (!(e->free >> level & 1) || b->stamps[e->id] == b->stamp)
        return;
    b->stamps[e->id] = b->stamp;
    if (e->op == OP_CAT && e->binder->level == level) {
        offer(found, cat_total(b->ir, e->binder), false);
        return;
    }
    if (e->op == OP_LOAD)
        for (unsigned i = 0; i < e->tensor->rank; i++)
            if (e->args[i]->op == OP_INDEX && e->args[i]->level == level)
                offer(found, e->tensor->extent[i], expr_default(e) != NULL);
    if (e->op == OP_REDUCE && e->count > 1)
        collect(b, e->args[1], level, found);
    for (unsigned i = 0; i < e->count; i++)
        collect(b, e->args[i], level, found);
}

const struct expr *
infer_extent(struct env *env, unsigned level, const char *name, struct place place,
             const struct expr *const *roots, size_t count, bool quiet)
{
    struct builder *b = env->scope->builder;
    struct found found = {0};
    new_stamp(b);
    for (size_t i = 0; i < count; i++)
        if (roots[i] != NULL)
            collect(b, roots[i], level, &found);
    if (found.other != NULL && !quiet) {
        struct buf choice = buf_in(b->arena);
        expr_print(&choice, found.strong, &spelling_plain, NULL, 0);
        build_error(env->scope, place,
                    "index %s has two extents, %s and %s; write %s:%s to choose "
                    "one",
                    name, show_extent(b, found.strong), show_extent(b, found.other), name,
                    choice.data);
        return NULL;
    }
    const struct expr *extent = found.strong ? found.strong : found.weak;
    if (extent == NULL && !quiet)
        build_error(env->scope, place,
                    "cannot infer the range of %s: it never stands alone as a subscript; write "
                    "%s:EXTENT",
                    name, name);
    return extent;
}

/* ---- indices ---- */

static bool
push_index(struct env *env, const char *name, struct place place, const struct expr *extent)
{
    struct scope *scope = env->scope;
    if (env->levels == LANG_MAX_LEVELS) {
        build_error(scope, place, "more than %d indices in one stage; split it", LANG_MAX_LEVELS);
        return false;
    }
    const struct symbol *symbol = symbols_find(&scope->symbols, name);
    if (symbol != NULL && env->frame == NULL) {
        build_error(scope, place, "index %s has the name of a %s; rename one of them", name,
                    symbol->what);
        return false;
    }
    if (find_index(env, name) >= 0 || frame_value(env, name) != NULL) {
        build_error(scope, place, "index %s hides another %s; rename it", name, name);
        return false;
    }
    env->index[env->levels] = name;
    env->extent[env->levels++] = extent;
    return true;
}

/* "..." brings indices with names that nobody can have written. */
static bool
push_ellipsis(struct env *env, struct place place)
{
    struct scope *scope = env->scope;
    if (!scope->ellipsis_bound) {
        build_error(scope, place, "no input of this operator has ...; name the indices");
        return false;
    }
    if (env->ellipsis >= 0) {
        build_error(scope, place, "... stands already among the indices; it can be used once");
        return false;
    }
    if (env->levels + scope->ellipsis_rank > LANG_MAX_LEVELS) {
        build_error(scope, place, "more than %d indices in one stage; split it", LANG_MAX_LEVELS);
        return false;
    }
    env->ellipsis = (int)env->levels;
    for (unsigned i = 0; i < scope->ellipsis_rank; i++) {
        env->index[env->levels] = arena_printf(scope->builder->arena, "e%u", i + 1);
        env->extent[env->levels++] = scope->ellipsis[i];
    }
    return true;
}

static bool
push_indices(struct env *env, const struct ast_index *indices, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct ast_index *index = &indices[i];
        const struct expr *extent = NULL;
        if (index->name == NULL) {
            if (!push_ellipsis(env, index->place))
                return false;
            continue;
        }
        if (index->extent != NULL && (extent = build_constant(env->scope, index->extent)) == NULL)
            return false;
        if (!push_index(env, index->name, index->place, extent))
            return false;
    }
    return true;
}

/* ---- reductions ---- */

/* The extents of a reduction's indices, written or inferred from what stands inside it. */
static const struct binder *
close_reduction(struct env *env, const struct ast *ast, unsigned first, const struct expr *body,
                const struct expr *filter)
{
    struct builder *b = env->scope->builder;
    struct binder *binder = arena_alloc(b->arena, sizeof *binder);
    unsigned count = env->levels - first;
    const struct expr **extents = arena_array(b->arena, count, sizeof *extents);
    const char **names = arena_array(b->arena, count, sizeof *names);
    const struct expr *roots[2] = {filter, body};
    for (unsigned i = 0; i < count; i++) {
        names[i] = env->index[first + i];
        extents[i] = env->extent[first + i];
        struct place place = ast->index_count == count ? ast->indices[i].place : ast->place;
        if (extents[i] == NULL &&
            (extents[i] = infer_extent(env, first + i, names[i], place, roots, 2, false)) == NULL)
            return NULL;
        if (expr_integer(extents[i]) < 0) {
            build_error(env->scope, place, "index %s has the extent %s; sizes are not negative",
                        names[i], show_extent(b, extents[i]));
            return NULL;
        }
    }
    *binder = (struct binder){ast->reduction, first, count, names, extents};
    return binder;
}

const struct expr *
build_reduce(struct env *env, const struct ast *ast)
{
    unsigned first = env->levels;
    int ellipsis = env->ellipsis;
    const struct expr *filter = NULL, *body = NULL, *result = NULL;
    bool arg = ast->reduction == REDUCE_ARGMAX || ast->reduction == REDUCE_ARGMIN;
    if (env->constant || env->whole) {
        build_error(env->scope, ast->place,
                    env->whole
                        ? "%s needs subscripts; write NAME[i] = %s[j](...) or call a library "
                          "operator"
                        : "%s cannot stand in a constant%s",
                    ast->name, env->whole ? ast->name : "");
        return NULL;
    }
    if (push_indices(env, ast->indices, ast->index_count) &&
        (ast->guard == NULL || ((filter = build_expr(env, ast->guard)) != NULL &&
                                is_condition(env, ast->guard, filter))) &&
        (body = build_expr(env, ast->args[0])) != NULL) {
        const struct binder *binder = close_reduction(env, ast, first, body, filter);
        if (binder != NULL && arg && binder->count != 1)
            build_error(env->scope, ast->place,
                        "%s takes one index, here are %u; number the "
                        "elements with one index",
                        ast->name, binder->count);
        else if (binder != NULL)
            result = ir_reduce(env->scope->builder->ir, binder, body, filter);
    }
    env->levels = first;
    env->ellipsis = ellipsis;
    return result;
}

/* ---- cat ---- */

static const struct expr *
piece_extent(struct env *env, const struct ast *ast, size_t piece, unsigned level,
             const struct expr *value)
{
    if (ast->extents[piece] != NULL)
        return build_constant(env->scope, ast->extents[piece]);
    const struct expr *extent =
        infer_extent(env, level, ast->name, ast->args[piece]->place, &value, 1, true);
    if (extent == NULL)
        build_error(env->scope, ast->args[piece]->place,
                    "the extent of this piece is unknown: %s never stands alone in it; write the "
                    "piece as e:EXTENT",
                    ast->name);
    return extent;
}

const struct expr *
build_cat(struct env *env, const struct ast *ast)
{
    struct builder *b = env->scope->builder;
    int level = find_index(env, ast->name);
    if (env->constant || env->whole || level < 0) {
        build_error(env->scope, ast->place, "cat runs along an index of the left side; %s is none",
                    ast->name);
        return NULL;
    }
    const struct expr **pieces = arena_array(b->arena, ast->count, sizeof *pieces);
    const struct expr **extents = arena_array(b->arena, ast->count, sizeof *extents);
    for (size_t i = 0; i < ast->count; i++) {
        if ((pieces[i] = build_expr(env, ast->args[i])) == NULL ||
            (extents[i] = piece_extent(env, ast, i, (unsigned)level, pieces[i])) == NULL)
            return NULL;
        if (expr_integer(extents[i]) < 0) {
            build_error(env->scope, ast->args[i]->place, "this piece has the extent %s",
                        show_extent(b, extents[i]));
            return NULL;
        }
    }
    for (size_t i = 0; i < ast->count; i++)
        for (size_t j = 0; j < ast->count; j++)
            if (pieces[j]->kind > KIND_INT && !meets_float(env, ast->args[i], pieces[i]))
                return NULL;
    struct binder *binder = arena_alloc(b->arena, sizeof *binder);
    *binder = (struct binder){0, (unsigned)level, (unsigned)ast->count, NULL, extents};
    return ir_cat(b->ir, binder, pieces);
}
