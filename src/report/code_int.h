/* C as far as the likeness of two texts needs it: tokens, a tree, and which variable a value comes
 * from. Any text has all three; what is not C is cut into leaves.
 *
 * Texts are compared by hashes: those of their pieces stand in sorted lists, and what two lists
 * share, each element as often as in both, is counted by walking along them. */
#ifndef HONE_REPORT_CODE_INT_H
#define HONE_REPORT_CODE_INT_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- tokens ---- */

enum code_token_kind {
    CODE_NAME,
    CODE_KEYWORD,
    CODE_NUMBER,
    CODE_QUOTED,
    CODE_OPERATOR, /* also brackets, commas, semicolons */
    CODE_LAST,     /* stands behind the others */
};

struct code_token {
    enum code_token_kind kind;
    const char *start;
    size_t length;
    uint64_t hash; /* of its text */
    unsigned line;
};

struct code_text {
    struct code_token *tokens; /* with one CODE_LAST that is not counted */
    size_t count;
};

struct code_text
code_tokens(struct arena *arena, const char *text);

bool
code_is(const struct code_token *token, const char *text);

/* ---- the tree ---- */

/*    id            is a leaf */
#define CODE_NODES(X)     \
    X(UNIT, false)        \
    X(FUNCTION, false)    \
    X(DECLARATION, false) \
    X(DECLARATOR, false)  \
    X(INIT, false)        \
    X(PARAMETERS, false)  \
    X(TYPE, false)        \
    X(DIRECTIVE, false)   \
    X(BLOCK, false)       \
    X(IF, false)          \
    X(FOR, false)         \
    X(WHILE, false)       \
    X(DO, false)          \
    X(SWITCH, false)      \
    X(CASE, false)        \
    X(JUMP, false)        \
    X(EXPRESSION, false)  \
    X(ASSIGN, false)      \
    X(CONDITIONAL, false) \
    X(BINARY, false)      \
    X(UNARY, false)       \
    X(STEP, false)        \
    X(CAST, false)        \
    X(CALL, false)        \
    X(INDEX, false)       \
    X(FIELD, false)       \
    X(PAREN, false)       \
    X(LIST, false)        \
    X(VARIABLE, true)     \
    X(WORD, true)         \
    X(LITERAL, true)      \
    X(OTHER, true)

enum code_node_kind {
#define X(id, leaf) CODE_NODE_##id,
    CODE_NODES(X)
#undef X
};

struct code_node {
    enum code_node_kind kind;
    const struct code_token *token; /* its first one */
    int height;                     /* of a leaf 0 */
    struct code_node *first, *last, *next;
};

struct code_node *
code_tree(struct arena *arena, const struct code_text *text);

bool
code_is_leaf(const struct code_node *node);

/* ---- lists of hashes ---- */

struct code_list {
    uint64_t *items; /* sorted once all are there */
    size_t count, capacity;
};

#define CODE_HASH_START 14695981039346656037u

/* Goes on from `hash`. */
uint64_t
code_hash(uint64_t hash, const void *bytes, size_t count);

void
code_list_add(struct arena *arena, struct code_list *list, uint64_t item);
void
code_list_sort(struct code_list *list);

/* How many elements both have. */
size_t
code_list_common(const struct code_list *a, const struct code_list *b);

/* ---- what is compared ---- */

/* One hash for each subtree that is no leaf: its kinds, never names or operators. */
struct code_list
code_subtrees(struct arena *arena, const struct code_node *root);

/* One for each edge of the data flow: which variable, by the order in which they appear, comes or
 * is computed from which. */
struct code_list
code_flow(struct arena *arena, const struct code_text *text, const struct code_node *root);

#endif
