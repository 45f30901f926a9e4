/* Which variable each value comes from.
 *
 * As in the graph of the original: each use of a variable that is known is an edge `comes from`
 * itself, each assignment one `computed from` the variables of its right side. A first appearance
 * has no source; it counts only if something comes from it. Names are then replaced by the order in
 * which they appear, so that renaming changes nothing. */
#include "report/code_int.h"

#include <stdlib.h>
#include <string.h>

#define NONE SIZE_MAX

enum relation { COMES_FROM, COMPUTED_FROM };

struct edge {
    size_t name; /* number in `names` */
    enum relation relation;
    const size_t *sources; /* numbers too, each once */
    size_t source_count;
    bool kept;
};

struct flow {
    struct arena *arena;
    struct code_list names; /* hashes of the variables, sorted, each once */
    size_t *latest;         /* by name: the edge that gave it its value; NONE: not seen yet */
    size_t *source_of;      /* by name: the last edge that has it among its sources, plus one */
    struct edge *edges;
    size_t count, capacity;
};

/* ---- names ---- */

static int
compare_hash(const void *key, const void *item)
{
    uint64_t a = *(const uint64_t *)key, b = *(const uint64_t *)item;
    return (a > b) - (a < b);
}

static size_t
name_of(const struct flow *flow, const struct code_node *leaf)
{
    const uint64_t *found = bsearch(&leaf->token->hash, flow->names.items, flow->names.count,
                                    sizeof *flow->names.items, compare_hash);
    return (size_t)(found - flow->names.items);
}

static void
collect_names(struct flow *flow, const struct code_text *text)
{
    struct code_list all = {0};
    for (size_t i = 0; i < text->count; i++)
        if (text->tokens[i].kind == CODE_NAME)
            code_list_add(flow->arena, &all, text->tokens[i].hash);
    code_list_sort(&all);
    for (size_t i = 0; i < all.count; i++)
        if (i == 0 || all.items[i] != all.items[i - 1])
            code_list_add(flow->arena, &flow->names, all.items[i]);
    flow->latest = arena_array(flow->arena, flow->names.count, sizeof *flow->latest);
    flow->source_of = arena_array(flow->arena, flow->names.count, sizeof *flow->source_of);
    for (size_t i = 0; i < flow->names.count; i++)
        flow->latest[i] = NONE;
}

/* ---- edges ---- */

static size_t
add_edge(struct flow *flow, struct edge edge)
{
    if (flow->count == flow->capacity) {
        flow->capacity = flow->capacity ? 2 * flow->capacity : 64;
        flow->edges =
            arena_grow(flow->arena, flow->edges, flow->count, flow->capacity, sizeof *flow->edges);
    }
    flow->edges[flow->count] = edge;
    return flow->count++;
}

static void
use(struct flow *flow, const struct code_node *leaf)
{
    size_t name = name_of(flow, leaf), from = flow->latest[name];
    struct edge edge = {.name = name, .relation = COMES_FROM};
    if (from != NONE) {
        size_t *source = arena_alloc(flow->arena, sizeof *source);
        *source = name;
        edge.sources = source;
        edge.source_count = 1;
        edge.kept = flow->edges[from].kept = true;
    }
    size_t number = add_edge(flow, edge);
    if (from == NONE)
        flow->latest[name] = number;
}

/* The variables of the edges from `begin` on, each once: what an expression used. */
static size_t
sources_since(struct flow *flow, size_t begin, const size_t **sources)
{
    size_t *list = arena_array(flow->arena, flow->count - begin, sizeof *list);
    size_t count = 0;
    for (size_t i = begin; i < flow->count; i++) {
        size_t name = flow->edges[i].name;
        if (flow->source_of[name] != flow->count + 1)
            list[count++] = name;
        flow->source_of[name] = flow->count + 1;
        flow->edges[i].kept = true;
    }
    *sources = list;
    return count;
}

/* The variable gets its value from what was used since `begin`. */
static void
define(struct flow *flow, const struct code_node *leaf, size_t begin)
{
    struct edge edge = {.name = name_of(flow, leaf), .relation = COMPUTED_FROM};
    edge.source_count = sources_since(flow, begin, &edge.sources);
    edge.kept = edge.source_count > 0;
    flow->latest[edge.name] = add_edge(flow, edge);
}

/* ---- the tree ---- */

static void
visit(struct flow *flow, const struct code_node *node);

static void
visit_all(struct flow *flow, const struct code_node *first)
{
    for (; first != NULL; first = first->next)
        visit(flow, first);
}

/* The variable that an assignment changes: the first leaf on the left. */
static const struct code_node *
target_of(const struct code_node *node)
{
    while (node != NULL && node->first != NULL)
        node = node->first;
    return node != NULL && node->kind == CODE_NODE_VARIABLE ? node : NULL;
}

/* What else stands on the left: subscripts, sizes, parameters. The target is the first of the first
 * of the first. */
static void
visit_left(struct flow *flow, const struct code_node *node, const struct code_node *target)
{
    if (target == NULL)
        visit(flow, node);
    for (; target != NULL && node != target; node = node->first)
        visit_all(flow, node->first->next);
}

static void
visit_assignment(struct flow *flow, const struct code_node *node)
{
    const struct code_node *target = target_of(node->first);
    size_t begin = flow->count;
    visit_all(flow, node->first->next);
    if (target != NULL)
        define(flow, target, begin);
    visit_left(flow, node->first, target);
}

/* x++ is computed from x. */
static void
visit_step(struct flow *flow, const struct code_node *node)
{
    const struct code_node *target = target_of(node);
    size_t begin = flow->count;
    visit_all(flow, node->first);
    if (target != NULL)
        define(flow, target, begin);
}

/* A parameter, or a variable without a value. */
static void
visit_declarator(struct flow *flow, const struct code_node *node)
{
    const struct code_node *target = target_of(node);
    if (target == NULL) {
        visit_all(flow, node->first);
        return;
    }
    define(flow, target, flow->count);
    visit_left(flow, node, target);
}

static void
visit(struct flow *flow, const struct code_node *node)
{
    switch (node->kind) {
    case CODE_NODE_VARIABLE:
        use(flow, node);
        break;
    case CODE_NODE_ASSIGN:
    case CODE_NODE_INIT:
        visit_assignment(flow, node);
        break;
    case CODE_NODE_STEP:
        visit_step(flow, node);
        break;
    case CODE_NODE_DECLARATOR:
        visit_declarator(flow, node);
        break;
    default:
        visit_all(flow, node->first);
    }
}

/* ---- the result ---- */

static size_t
order_of(size_t *order, size_t name, size_t *next)
{
    if (order[name] == NONE)
        order[name] = (*next)++;
    return order[name];
}

static uint64_t
edge_hash(const struct edge *edge, size_t *order, size_t *next)
{
    uint64_t hash = code_hash(CODE_HASH_START, &edge->relation, sizeof edge->relation);
    for (size_t i = 0; i < edge->source_count; i++) {
        size_t source = order_of(order, edge->sources[i], next);
        hash = code_hash(hash, &source, sizeof source);
    }
    size_t name = order_of(order, edge->name, next);
    return code_hash(hash, &name, sizeof name);
}

struct code_list
code_flow(struct arena *arena, const struct code_text *text, const struct code_node *root)
{
    struct flow flow = {.arena = arena};
    struct code_list list = {0};
    size_t next = 0;
    collect_names(&flow, text);
    visit(&flow, root);
    for (size_t i = 0; i < flow.names.count; i++)
        flow.latest[i] = NONE; /* now the order of appearance */
    for (size_t i = 0; i < flow.count; i++)
        if (flow.edges[i].kept)
            code_list_add(arena, &list, edge_hash(&flow.edges[i], flow.latest, &next));
    code_list_sort(&list);
    return list;
}
