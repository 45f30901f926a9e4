/* A tree of C, for any text at all.
 *
 * The grammar is that of C as kernels are written: functions, declarations, statements, expressions
 * by their precedence. Types are told from variables by their place, since no header is read. What
 * fits nowhere becomes a leaf and the reader goes on behind it; so it never fails, and each step
 * takes a token or gives up its level. Nesting beyond MOST_DEPTH is cut flat, and so is a chain of
 * operators beyond MOST_HEIGHT: such text would otherwise choose how much stack is used. */
#include "report/code_int.h"

#define MOST_DEPTH 200
#define MOST_HEIGHT 1000

struct parser {
    struct arena *arena;
    const struct code_token *at; /* ends with CODE_LAST, which is never passed */
    int depth;
};

/* ---- nodes ---- */

bool
code_is_leaf(const struct code_node *node)
{
    static const bool leaf[] = {
#define X(id, is_leaf) is_leaf,
        CODE_NODES(X)
#undef X
    };
    return leaf[node->kind];
}

static struct code_node *
make(struct parser *parser, enum code_node_kind kind)
{
    struct code_node *node = arena_alloc(parser->arena, sizeof *node);
    node->kind = kind;
    node->token = parser->at;
    return node;
}

static void
append(struct code_node *node, struct code_node *child)
{
    if (child == NULL)
        return;
    if (node->last != NULL)
        node->last->next = child;
    else
        node->first = child;
    node->last = child;
    if (node->height <= child->height)
        node->height = child->height + 1;
}

/* `kind` around a first child; the child itself where it is high enough. */
static struct code_node *
wrap(struct parser *parser, enum code_node_kind kind, struct code_node *child)
{
    if (child->height >= MOST_HEIGHT)
        return child;
    struct code_node *node = make(parser, kind);
    node->token = child->token;
    append(node, child);
    return node;
}

/* ---- tokens ---- */

static bool
sees(const struct parser *parser, const char *text)
{
    return parser->at->kind != CODE_LAST && code_is(parser->at, text);
}

static void
step(struct parser *parser)
{
    if (parser->at->kind != CODE_LAST)
        parser->at++;
}

static bool
take(struct parser *parser, const char *text)
{
    bool found = sees(parser, text);
    if (found)
        step(parser);
    return found;
}

static bool
sees_end(const struct parser *parser)
{
    return parser->at->kind == CODE_LAST || sees(parser, ";") || sees(parser, "}") ||
           sees(parser, ")") || sees(parser, "]");
}

static bool
is_word(const struct code_token *token)
{
    return token->kind == CODE_NAME || token->kind == CODE_KEYWORD;
}

static bool
is_one_of(const struct code_token *token, const char *const *texts)
{
    for (; *texts != NULL; texts++)
        if (token->kind != CODE_LAST && code_is(token, *texts))
            return true;
    return false;
}

/* Keywords that begin a declaration. */
static bool
is_type_word(const struct code_token *token)
{
    static const char *const words[] = {
        "_Alignas", "_Atomic",    "_Bool",        "auto",          "char",          "const",
        "double",   "enum",       "extern",       "float",         "inline",        "int",
        "long",     "register",   "restrict",     "short",         "signed",        "static",
        "struct",   "typedef",    "union",        "unsigned",      "void",          "volatile",
        "size_t",   "__restrict", "__restrict__", "__attribute__", "_Thread_local", "_Noreturn",
        NULL};
    return is_one_of(token, words);
}

static bool
ends_in_t(const struct code_token *token)
{
    return token->kind == CODE_NAME && token->length > 2 &&
           token->start[token->length - 2] == '_' && token->start[token->length - 1] == 't';
}

/* `hvf x`, `float *y =`: words and stars before a name. */
static bool
sees_declaration(const struct parser *parser)
{
    static const char *const behind[] = {"=", ";", ",", "[", "(", ")", NULL};
    const struct code_token *at = parser->at;
    if (is_type_word(at))
        return true;
    if (at->kind != CODE_NAME)
        return false;
    bool stars = false;
    for (at++; at->kind == CODE_OPERATOR && code_is(at, "*"); at++)
        stars = true;
    return at->kind == CODE_NAME && (!stars || is_one_of(at + 1, behind));
}

/* `(float)x`, `(hvf *)p`, `(int){...}` */
static bool
sees_cast(const struct parser *parser)
{
    const struct code_token *at = parser->at + 1; /* behind the bracket */
    bool sure = is_type_word(at) || ends_in_t(at), stars = false;
    if (!sure && at->kind != CODE_NAME)
        return false;
    while (is_word(at))
        at++;
    for (; at->kind == CODE_OPERATOR && code_is(at, "*"); at++)
        stars = true;
    if (at->kind == CODE_LAST || !code_is(at, ")"))
        return false;
    return sure || stars || is_word(at + 1) || at[1].kind == CODE_NUMBER ||
           (at[1].kind == CODE_OPERATOR && code_is(at + 1, "{"));
}

/* ---- expressions ---- */

static struct code_node *
parse_expression(struct parser *parser, int least);
static struct code_node *
parse_statement(struct parser *parser);

enum { COMMA, ASSIGNMENT, CONDITION, LOWEST_BINARY };

/* What binds weaker stands first. */
static int
binary_strength(const struct code_token *token)
{
    static const char *const levels[][5] = {
        {"||", NULL},
        {"&&", NULL},
        {"|", NULL},
        {"^", NULL},
        {"&", NULL},
        {"==", "!=", NULL},
        {"<", ">", "<=", ">=", NULL},
        {"<<", ">>", NULL},
        {"+", "-", NULL},
        {"*", "/", "%", NULL},
    };
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        if (is_one_of(token, levels[i]))
            return LOWEST_BINARY + (int)i;
    return -1;
}

static bool
is_assignment(const struct code_token *token)
{
    static const char *const words[] = {
        "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", NULL};
    return is_one_of(token, words);
}

/* Up to the bracket that closes, which is taken. */
static void
parse_list(struct parser *parser, struct code_node *list, const char *close)
{
    while (parser->at->kind != CODE_LAST && !take(parser, close)) {
        const struct code_token *before = parser->at;
        append(list, parse_expression(parser, ASSIGNMENT));
        take(parser, ",");
        if (parser->at == before)
            step(parser); /* a bracket that nobody opened */
    }
}

static struct code_node *
bracketed(struct parser *parser, enum code_node_kind kind, const char *close)
{
    struct code_node *node = make(parser, kind);
    step(parser);
    parse_list(parser, node, close);
    return node;
}

static struct code_node *
parse_leaf(struct parser *parser)
{
    enum code_token_kind kind = parser->at->kind;
    struct code_node *leaf =
        make(parser, kind == CODE_NAME                            ? CODE_NODE_VARIABLE
                     : kind == CODE_KEYWORD                       ? CODE_NODE_WORD
                     : kind == CODE_NUMBER || kind == CODE_QUOTED ? CODE_NODE_LITERAL
                                                                  : CODE_NODE_OTHER);
    if (!sees_end(parser))
        step(parser);
    return leaf;
}

/* The words and stars of a type, up to `)`. */
static struct code_node *
parse_type_name(struct parser *parser)
{
    struct code_node *type = make(parser, CODE_NODE_TYPE);
    for (; is_word(parser->at) || sees(parser, "*"); step(parser))
        if (is_word(parser->at))
            append(type, make(parser, CODE_NODE_WORD));
    return type;
}

static struct code_node *
parse_cast(struct parser *parser)
{
    struct code_node *node = make(parser, CODE_NODE_CAST);
    step(parser);
    append(node, parse_type_name(parser));
    take(parser, ")");
    append(node, parse_expression(parser, LOWEST_BINARY + 10));
    return node;
}

static struct code_node *
parse_primary(struct parser *parser)
{
    if (sees(parser, "("))
        return sees_cast(parser) ? parse_cast(parser) : bracketed(parser, CODE_NODE_PAREN, ")");
    if (sees(parser, "{"))
        return bracketed(parser, CODE_NODE_LIST, "}");
    return parse_leaf(parser);
}

static struct code_node *
parse_field(struct parser *parser, struct code_node *of)
{
    struct code_node *node = wrap(parser, CODE_NODE_FIELD, of);
    step(parser);
    append(node, make(parser, CODE_NODE_WORD));
    if (is_word(parser->at))
        step(parser);
    return node;
}

static struct code_node *
parse_call(struct parser *parser, struct code_node *function)
{
    if (function->kind == CODE_NODE_VARIABLE)
        function->kind = CODE_NODE_WORD; /* what is called is no variable */
    struct code_node *node = wrap(parser, CODE_NODE_CALL, function);
    step(parser);
    parse_list(parser, node, ")");
    return node;
}

static struct code_node *
parse_index(struct parser *parser, struct code_node *array)
{
    struct code_node *node = wrap(parser, CODE_NODE_INDEX, array);
    step(parser);
    parse_list(parser, node, "]");
    return node;
}

static struct code_node *
parse_step(struct parser *parser, struct code_node *of)
{
    struct code_node *node = wrap(parser, CODE_NODE_STEP, of);
    step(parser);
    return node;
}

static struct code_node *
parse_postfix(struct parser *parser)
{
    struct code_node *node = parse_primary(parser);
    for (;;) {
        if (sees(parser, "("))
            node = parse_call(parser, node);
        else if (sees(parser, "["))
            node = parse_index(parser, node);
        else if (sees(parser, ".") || sees(parser, "->"))
            node = parse_field(parser, node);
        else if (sees(parser, "++") || sees(parser, "--"))
            node = parse_step(parser, node);
        else
            return node;
    }
}

static struct code_node *
parse_unary(struct parser *parser)
{
    static const char *const signs[] = {"-", "+", "!", "~", "*", "&", "sizeof", NULL};
    bool steps = sees(parser, "++") || sees(parser, "--");
    if (!steps && !is_one_of(parser->at, signs))
        return parse_postfix(parser);
    struct code_node *node = make(parser, steps ? CODE_NODE_STEP : CODE_NODE_UNARY);
    step(parser);
    append(node, parse_expression(parser, LOWEST_BINARY + 10));
    return node;
}

static struct code_node *
parse_conditional(struct parser *parser, struct code_node *condition)
{
    struct code_node *node = wrap(parser, CODE_NODE_CONDITIONAL, condition);
    step(parser);
    append(node, parse_expression(parser, COMMA));
    take(parser, ":");
    append(node, parse_expression(parser, CONDITION));
    return node;
}

/* The operator is taken; `least` is how strongly the right side must bind. */
static struct code_node *
parse_right(struct parser *parser, enum code_node_kind kind, struct code_node *left, int least)
{
    struct code_node *node = wrap(parser, kind, left);
    step(parser);
    append(node, parse_expression(parser, least));
    return node;
}

static struct code_node *
parse_operators(struct parser *parser, int least)
{
    struct code_node *left = parse_unary(parser);
    for (;;) {
        int strength = binary_strength(parser->at);
        if (strength >= least && strength >= 0)
            left = parse_right(parser, CODE_NODE_BINARY, left, strength + 1);
        else if (least <= CONDITION && sees(parser, "?"))
            left = parse_conditional(parser, left);
        else if (least <= ASSIGNMENT && is_assignment(parser->at))
            left = parse_right(parser, CODE_NODE_ASSIGN, left, ASSIGNMENT);
        else if (least <= COMMA && sees(parser, ","))
            left = parse_right(parser, CODE_NODE_BINARY, left, ASSIGNMENT);
        else
            return left;
    }
}

static struct code_node *
parse_expression(struct parser *parser, int least)
{
    if (parser->depth == MOST_DEPTH)
        return parse_leaf(parser);
    parser->depth++;
    struct code_node *node = parse_operators(parser, least);
    parser->depth--;
    return node;
}

/* ---- declarations ---- */

/* __attribute__((...)), _Alignas(64) */
static void
skip_brackets(struct parser *parser)
{
    size_t open = 0;
    do {
        open += sees(parser, "(");
        open -= sees(parser, ")");
        step(parser);
    } while (open > 0 && parser->at->kind != CODE_LAST);
}

static void
parse_block_into(struct parser *parser, struct code_node *block)
{
    step(parser);
    while (parser->at->kind != CODE_LAST && !take(parser, "}")) {
        const struct code_token *before = parser->at;
        append(block, parse_statement(parser));
        if (parser->at == before)
            step(parser);
    }
}

static struct code_node *
parse_block(struct parser *parser)
{
    struct code_node *block = make(parser, CODE_NODE_BLOCK);
    parse_block_into(parser, block);
    return block;
}

/* A name belongs to the type while another word, or a star before one, stands behind it. */
static bool
sees_type(const struct parser *parser)
{
    const struct code_token *at = parser->at;
    if (is_type_word(at))
        return true;
    if (at->kind != CODE_NAME)
        return false;
    for (at++; at->kind == CODE_OPERATOR && code_is(at, "*"); at++)
        ;
    return is_word(at);
}

static struct code_node *
parse_type(struct parser *parser)
{
    static const char *const tagged[] = {"struct", "union", "enum", NULL};
    struct code_node *type = make(parser, CODE_NODE_TYPE);
    while (sees_type(parser)) {
        bool tag = is_one_of(parser->at, tagged);
        append(type, make(parser, CODE_NODE_WORD));
        step(parser);
        if (sees(parser, "("))
            skip_brackets(parser);
        if (tag && parser->at->kind == CODE_NAME)
            step(parser);
        if (tag && sees(parser, "{"))
            append(type, parse_block(parser));
    }
    return type;
}

static struct code_node *
parse_declarator(struct parser *parser);

static struct code_node *
parse_parameters(struct parser *parser)
{
    struct code_node *node = make(parser, CODE_NODE_PARAMETERS);
    step(parser);
    while (parser->at->kind != CODE_LAST && !take(parser, ")")) {
        const struct code_token *before = parser->at;
        struct code_node *one = make(parser, CODE_NODE_DECLARATION);
        append(one, parse_type(parser));
        if (!sees(parser, ",") && !sees(parser, ")"))
            append(one, parse_declarator(parser));
        append(node, one);
        take(parser, ",");
        if (parser->at == before)
            step(parser);
    }
    return node;
}

static void
parse_suffixes(struct parser *parser, struct code_node *declarator)
{
    for (;;) {
        if (sees(parser, "["))
            append(declarator, bracketed(parser, CODE_NODE_LIST, "]"));
        else if (sees(parser, "("))
            append(declarator, parse_parameters(parser));
        else if (sees(parser, "__attribute__"))
            skip_brackets((step(parser), parser));
        else
            return;
    }
}

/* Stars, a name or a declarator in brackets, sizes or parameters. */
static struct code_node *
parse_declarator(struct parser *parser)
{
    struct code_node *node = make(parser, CODE_NODE_DECLARATOR);
    while (sees(parser, "*") || is_type_word(parser->at))
        step(parser);
    if (sees(parser, "(") && parser->depth < MOST_DEPTH) {
        parser->depth++;
        step(parser);
        append(node, parse_declarator(parser));
        take(parser, ")");
        parser->depth--;
    } else if (is_word(parser->at)) {
        append(node, parse_leaf(parser));
    }
    parse_suffixes(parser, node);
    return node;
}

static struct code_node *
parse_initialised(struct parser *parser)
{
    struct code_node *declarator = parse_declarator(parser);
    if (!sees(parser, "="))
        return declarator;
    struct code_node *node = wrap(parser, CODE_NODE_INIT, declarator);
    step(parser);
    append(node, parse_expression(parser, ASSIGNMENT));
    return node;
}

/* With its semicolon, or a body. */
static struct code_node *
parse_declaration(struct parser *parser)
{
    struct code_node *node = make(parser, CODE_NODE_DECLARATION);
    append(node, parse_type(parser));
    while (!sees_end(parser)) {
        const struct code_token *before = parser->at;
        if (sees(parser, "{")) {
            node->kind = CODE_NODE_FUNCTION;
            append(node, parse_block(parser));
            return node;
        }
        append(node, parse_initialised(parser));
        take(parser, ",");
        if (parser->at == before)
            step(parser);
    }
    take(parser, ";");
    return node;
}

/* ---- statements ---- */

/* A line, and those that a backslash adds. */
static struct code_node *
parse_directive(struct parser *parser)
{
    struct code_node *node = make(parser, CODE_NODE_DIRECTIVE);
    unsigned line = parser->at->line;
    step(parser);
    append(node, make(parser, CODE_NODE_WORD));
    while (parser->at->kind != CODE_LAST && parser->at->line == line) {
        line += sees(parser, "\\") && parser->at[1].line > line;
        step(parser);
    }
    return node;
}

static struct code_node *
parse_condition(struct parser *parser)
{
    return sees(parser, "(") ? bracketed(parser, CODE_NODE_PAREN, ")") : NULL;
}

static void
parse_if(struct parser *parser, struct code_node *node)
{
    append(node, parse_condition(parser));
    append(node, parse_statement(parser));
    if (take(parser, "else"))
        append(node, parse_statement(parser));
}

/* The first part ends with its own semicolon. */
static void
parse_for(struct parser *parser, struct code_node *node)
{
    if (take(parser, "(")) {
        append(node, parse_statement(parser));
        append(node, parse_expression(parser, COMMA));
        take(parser, ";");
        append(node, parse_expression(parser, COMMA));
        take(parser, ")");
    }
    append(node, parse_statement(parser));
}

static void
parse_loop(struct parser *parser, struct code_node *node)
{
    append(node, parse_condition(parser));
    append(node, parse_statement(parser));
}

static void
parse_do(struct parser *parser, struct code_node *node)
{
    append(node, parse_statement(parser));
    if (take(parser, "while"))
        append(node, parse_condition(parser));
    take(parser, ";");
}

static void
parse_case(struct parser *parser, struct code_node *node)
{
    if (!sees(parser, ":"))
        append(node, parse_expression(parser, CONDITION));
    take(parser, ":");
}

static void
parse_jump(struct parser *parser, struct code_node *node)
{
    if (!sees_end(parser))
        append(node, parse_expression(parser, COMMA));
    take(parser, ";");
}

static const struct statement {
    const char *word;
    enum code_node_kind kind;
    void (*parse)(struct parser *parser, struct code_node *node);
} statements[] = {
    {"if", CODE_NODE_IF, parse_if},          {"for", CODE_NODE_FOR, parse_for},
    {"while", CODE_NODE_WHILE, parse_loop},  {"switch", CODE_NODE_SWITCH, parse_loop},
    {"do", CODE_NODE_DO, parse_do},          {"case", CODE_NODE_CASE, parse_case},
    {"default", CODE_NODE_CASE, parse_case}, {"return", CODE_NODE_JUMP, parse_jump},
    {"break", CODE_NODE_JUMP, parse_jump},   {"continue", CODE_NODE_JUMP, parse_jump},
    {"goto", CODE_NODE_JUMP, parse_jump},
};

static struct code_node *
parse_plain(struct parser *parser)
{
    struct code_node *node = make(parser, CODE_NODE_EXPRESSION);
    if (!sees_end(parser))
        append(node, parse_expression(parser, COMMA));
    take(parser, ";");
    return node;
}

static struct code_node *
parse_any(struct parser *parser)
{
    if (sees(parser, "{"))
        return parse_block(parser);
    if (sees(parser, "#"))
        return parse_directive(parser);
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
        if (sees(parser, statements[i].word)) {
            struct code_node *node = make(parser, statements[i].kind);
            step(parser);
            statements[i].parse(parser, node);
            return node;
        }
    return sees_declaration(parser) ? parse_declaration(parser) : parse_plain(parser);
}

static struct code_node *
parse_statement(struct parser *parser)
{
    if (parser->depth == MOST_DEPTH)
        return parse_leaf(parser);
    parser->depth++;
    struct code_node *node = parse_any(parser);
    parser->depth--;
    return node;
}

struct code_node *
code_tree(struct arena *arena, const struct code_text *text)
{
    struct parser parser = {.arena = arena, .at = text->tokens};
    struct code_node *unit = make(&parser, CODE_NODE_UNIT);
    while (parser.at->kind != CODE_LAST) {
        const struct code_token *before = parser.at;
        append(unit, parse_statement(&parser));
        if (parser.at == before)
            step(&parser);
    }
    return unit;
}

/* ---- subtrees ---- */

static uint64_t
subtree_hash(struct arena *arena, const struct code_node *node, struct code_list *list)
{
    uint64_t hash = code_hash(CODE_HASH_START, &node->kind, sizeof node->kind);
    for (const struct code_node *child = node->first; child != NULL; child = child->next) {
        uint64_t part = subtree_hash(arena, child, list);
        hash = code_hash(hash, &part, sizeof part);
    }
    if (!code_is_leaf(node))
        code_list_add(arena, list, hash);
    return hash;
}

struct code_list
code_subtrees(struct arena *arena, const struct code_node *root)
{
    struct code_list list = {0};
    subtree_hash(arena, root, &list);
    code_list_sort(&list);
    return list;
}
