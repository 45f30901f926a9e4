/* Where each node is computed.
 *
 * Scopes form a tree: loops, and the branches of `if`, `cat` and defaults. A node belongs to the
 * innermost scope that holds all its uses, and from there moves out of every loop whose indices it
 * does not use. So a shared node is computed once, and a branch's own nodes only if it is taken.
 * To compute a node further out than it was written is safe: every operation is total, every load
 * that can leave its tensor has a default (ir.h, invariant 5).
 */
#include "lang/emit_int.h"

#include <assert.h>
#include <stdlib.h>

void
plan_begin(struct emitter *em)
{
    em->stamp++;
    em->scope_count = 0;
    em->visited_count = 0;
}

static int
new_scope(struct emitter *em, int parent, bool loop, uint32_t bound)
{
    if (em->scope_count == em->scope_capacity) {
        em->scope_capacity = 2 * em->scope_capacity + 16;
        em->scopes = arena_grow(em->arena, em->scopes, em->scope_count, em->scope_capacity,
                                sizeof *em->scopes);
    }
    struct scope *scope = &em->scopes[em->scope_count];
    *scope = (struct scope){.parent = parent, .loop = loop, .bound = bound};
    scope->depth = parent < 0 ? 0 : em->scopes[parent].depth + 1;
    return (int)em->scope_count++;
}

int
plan_loop(struct emitter *em, int parent, uint32_t bound)
{
    return new_scope(em, parent, true, bound);
}

int
plan_branch(struct emitter *em, int parent)
{
    return new_scope(em, parent, false, 0);
}

/* The innermost scope around both. */
static int
common_scope(const struct emitter *em, int a, int b)
{
    while (a != b) {
        if (em->scopes[a].depth >= em->scopes[b].depth)
            a = em->scopes[a].parent;
        else
            b = em->scopes[b].parent;
    }
    assert(a >= 0);
    return a;
}

static void
append(struct emitter *em, size_t **keys, size_t *count, size_t *capacity, size_t key)
{
    if (*count == *capacity) {
        *capacity = 2 * *capacity + 8;
        *keys = arena_grow(em->arena, *keys, *count, *capacity, sizeof **keys);
    }
    (*keys)[(*count)++] = key;
}

/* The entry of a node in this plan; visits what lies below a new one. */
static struct node *
visit(struct emitter *em, const struct expr *e, enum kind met)
{
    size_t key = emit_key(e, met);
    struct node *node = &em->nodes[key];

    if (node->stamp == em->stamp)
        return node;
    node->e = e;
    node->kind = emit_kind(e, met);
    node->stamp = em->stamp;
    node->uses = 0;
    node->ordinal = em->ordinal++;
    node->scope = node->use_scope = node->below = -1;
    node->leaf = emit_is_formula(em, e);
    node->text = node->leaf ? emit_formula(em, e, node->kind) : NULL;
    append(em, &em->visited, &em->visited_count, &em->visited_capacity, key);
    return node;
}

void
plan_leaf(struct emitter *em, const struct expr *e, enum kind met, const char *text)
{
    struct node *node = visit(em, e, met);

    node->leaf = true;
    node->text = text;
}

static void
visit_below(struct emitter *em, struct node *node)
{
    const struct expr *e = node->e;

    for (unsigned i = 0; i < e->count && !node->leaf; i++) {
        enum kind met = emit_met(e, i, node->kind);
        bool seen = em->nodes[emit_key(e->args[i], met)].stamp == em->stamp;
        struct node *below = visit(em, e->args[i], met);
        if (!seen)
            visit_below(em, below);
    }
}

static void
use(struct emitter *em, struct node *node, int scope)
{
    node->scope = node->uses++ ? common_scope(em, node->scope, scope) : scope;
    node->use_scope = scope;
}

void
plan_use(struct emitter *em, const struct expr *e, enum kind met, int scope)
{
    bool seen = em->nodes[emit_key(e, met)].stamp == em->stamp;
    struct node *node = visit(em, e, met);

    if (!seen)
        visit_below(em, node);
    use(em, node, scope);
}

/* Out of the loops that do not matter to it; never out of a branch. A reduction that shows its
 * terms shows them for every element. */
static int
outermost(const struct emitter *em, const struct expr *e, int scope)
{
    if (em->bounds && e == em->stage->code && emit_shows_terms(em->stage->tensor))
        return scope;
    while (em->scopes[scope].loop && em->scopes[scope].parent >= 0 &&
           !(e->free & em->scopes[scope].bound))
        scope = em->scopes[scope].parent;
    return scope;
}

static bool
is_lazy(const struct emitter *em, const struct expr *e, unsigned i)
{
    if (e->args[i]->count == 0)
        return false;
    if (e->op == OP_IF) /* an undecided condition needs both */
        return i > 0 && emit_is_exact(em, e->args[0], KIND_BOOL);
    return e->op == OP_CAT || (e->op == OP_LOAD && i == e->tensor->rank);
}

/* The loops of a reduction: one scope an index, or one for all if they are flattened; and one more
 * for what passes the filter, which only a node without the reduction's indices leaves. */
static int
reduction_scopes(struct emitter *em, struct node *node)
{
    const struct binder *binder = node->e->binder;
    uint32_t all = ((1u << binder->count) - 1) << binder->level;
    bool flat = em->options.form == EMIT_RANDOM;
    int scope = node->scope;

    for (unsigned i = 0; i < (flat ? 1 : binder->count); i++) {
        scope = plan_loop(em, scope, flat ? all : 1u << (binder->level + i));
        if (i == 0)
            node->below = scope;
    }
    return scope;
}

static int
pass_scope(struct emitter *em, const struct expr *reduce, int inner)
{
    const struct binder *binder = reduce->binder;

    return plan_loop(em, inner, ((1u << binder->count) - 1) << binder->level);
}

/* The filter, and the body in the scope of what passes it. */
static void
use_terms(struct emitter *em, const struct node *node, int inner)
{
    const struct expr *e = node->e, *body = e->args[0], *filter = expr_filter(e);
    enum kind kind = emit_met(e, 0, node->kind);
    int scope = filter ? pass_scope(em, e, inner) : inner;

    if (filter)
        use(em, &em->nodes[emit_key(filter, KIND_BOOL)], inner);
    if (!emit_sums_products(em, e, kind)) {
        use(em, &em->nodes[emit_key(body, kind)], scope);
        return;
    }
    use(em, &em->nodes[emit_key(body->args[0], kind)], scope);
    use(em, &em->nodes[emit_key(body->args[1], kind)], scope);
}

/* Asks for the node's arguments where it needs them. Scopes it opens are numbered from `below` in
 * the order of the arguments. */
static void
use_below(struct emitter *em, struct node *node)
{
    const struct expr *e = node->e;
    int inner = node->scope;

    if (e->op == OP_REDUCE) {
        inner = reduction_scopes(em, node);
        use_terms(em, node, inner);
        return;
    }
    for (unsigned i = 0; i < e->count; i++) {
        enum kind met = emit_met(e, i, node->kind);
        int scope = inner;
        if (e->op == OP_LOAD && i == e->tensor->rank && !emit_can_leave(em, e))
            continue;
        if (is_lazy(em, e, i)) {
            scope = plan_branch(em, inner);
            if (node->below < 0)
                node->below = scope;
        }
        use(em, &em->nodes[emit_key(e->args[i], met)], scope);
    }
}

static int
falling(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return (x < y) - (x > y);
}

/* Users have larger keys than what they use (ir.h, invariant 1), so in falling order every use of a
 * node is known when its turn comes. */
void
plan_end(struct emitter *em)
{
    qsort(em->visited, em->visited_count, sizeof *em->visited, falling);
    for (size_t i = 0; i < em->visited_count; i++) {
        struct node *node = &em->nodes[em->visited[i]];
        if (node->uses == 0 || node->leaf)
            continue;
        node->scope = outermost(em, node->e, node->scope);
        struct scope *scope = &em->scopes[node->scope];
        append(em, &scope->keys, &scope->count, &scope->capacity, em->visited[i]);
        use_below(em, node);
    }
}
