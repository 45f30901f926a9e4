/* Expressions: one function a level of precedence, as in the grammar. */
#include "lang/parse_int.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct ast *
new_ast(struct parser *parser, enum ast_form form, struct place place)
{
    struct ast *ast = arena_alloc(parser->arena, sizeof *ast);
    ast->form = form;
    ast->place = place;
    ast->height = 1;
    return ast;
}

/* A growing list of arguments. */
struct list {
    const struct ast **items;
    size_t count, capacity;
};

static void
list_add(struct parser *parser, struct list *list, const struct ast *item)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 4;
        list->items = arena_grow(parser->arena, list->items, list->count, list->capacity,
                                 sizeof *list->items);
    }
    list->items[list->count++] = item;
}

/* Measures a finished node; too deep is an error, so that later passes may recurse. */
static const struct ast *
finish(struct parser *parser, struct ast *ast)
{
    for (size_t i = 0; i < ast->count; i++)
        if (ast->args[i] != NULL && ast->args[i]->height >= ast->height)
            ast->height = ast->args[i]->height + 1;
    if (ast->guard != NULL && ast->guard->height >= ast->height)
        ast->height = ast->guard->height + 1;
    if (ast->height > LANG_MAX_HEIGHT) {
        parser_fail(parser, ast->place,
                    "more than %d operations in one chain; split it into several stages",
                    LANG_MAX_HEIGHT);
        return NULL;
    }
    return ast;
}

static const struct ast *
number(struct parser *parser)
{
    const struct token *token = parser_take(parser);
    char text[64];
    if (token->length >= sizeof text) {
        parser_fail(parser, token->place, "a number of %u digits; at most 63 are read",
                    token->length);
        return NULL;
    }
    memcpy(text, token->text, token->length);
    text[token->length] = '\0';
    errno = 0;
    struct ast *ast;
    if (token->kind == TOKEN_INTEGER) {
        ast = new_ast(parser, AST_INTEGER, token->place);
        ast->integer = strtoll(text, NULL, 10);
        if (errno == ERANGE) {
            parser_fail(parser, token->place, "%s does not fit 63 bits; write a real number", text);
            return NULL;
        }
    } else {
        ast = new_ast(parser, AST_REAL, token->place);
        ast->real = strtod(text, NULL);
        if (isinf(ast->real)) {
            parser_fail(parser, token->place, "%s is beyond a double; write inf", text);
            return NULL;
        }
    }
    return ast;
}

/* "(" [ arg { "," arg } ] ")" after a name; arg = expr | NAME "=" cexpr */
static const struct ast *
call(struct parser *parser, const struct token *name)
{
    struct ast *ast = new_ast(parser, AST_CALL, name->place);
    ast->name = name->text;
    struct list args = {0};
    struct ast_named *named = NULL;
    size_t named_count = 0;
    parser_take(parser);
    parser->open++;
    while (!parser_accept(parser, ")")) {
        const struct token *next = parser_peek(parser);
        if (next->kind == TOKEN_NAME && token_is(parser_second(parser), "=")) {
            named = arena_grow(parser->arena, named, named_count, named_count + 1, sizeof *named);
            named[named_count].name = next->text;
            named[named_count].place = next->place;
            parser_take(parser);
            parser_take(parser);
            if ((named[named_count].value = parse_expr(parser)) == NULL)
                return NULL;
            named_count++;
        } else {
            const struct ast *arg = parse_expr(parser);
            if (arg == NULL)
                return NULL;
            list_add(parser, &args, arg);
        }
        if (!token_is(parser_peek(parser), ")") &&
            !parser_expect(parser, ",", "close the call with )"))
            return NULL;
    }
    parser->open--;
    ast->args = args.items;
    ast->count = args.count;
    ast->named = named;
    ast->named_count = named_count;
    return finish(parser, ast);
}

/* NAME "[" [ sub { "," sub } ] [ "|" expr ] "]" */
static const struct ast *
element(struct parser *parser, const struct token *name)
{
    struct ast *ast = new_ast(parser, AST_ELEMENT, name->place);
    ast->name = name->text;
    struct list subs = {0};
    parser_take(parser);
    parser->open++;
    while (!parser_accept(parser, "]")) {
        if (parser_accept(parser, "|")) {
            if ((ast->guard = parse_expr(parser)) == NULL ||
                !parser_expect(parser, "]", "one value stands after |"))
                return NULL;
            break;
        }
        const struct token *next = parser_peek(parser);
        const struct ast *sub;
        if (next->kind == TOKEN_ELLIPSIS)
            sub = new_ast(parser, AST_ELLIPSIS, parser_take(parser)->place);
        else
            sub = parse_expr(parser);
        if (sub == NULL)
            return NULL;
        list_add(parser, &subs, sub);
        next = parser_peek(parser);
        if (!token_is(next, "]") && !token_is(next, "|") &&
            !parser_expect(parser, ",", "close the subscripts with ]"))
            return NULL;
    }
    parser->open--;
    ast->args = subs.items;
    ast->count = subs.count;
    return finish(parser, ast);
}

bool
parse_indices(struct parser *parser, const struct ast_index **indices, size_t *count)
{
    struct ast_index *list = NULL;
    size_t n = 0;
    do {
        list = arena_grow(parser->arena, list, n, n + 1, sizeof *list);
        struct ast_index *index = &list[n++];
        index->place = parser_peek(parser)->place;
        if (parser_peek(parser)->kind == TOKEN_ELLIPSIS) {
            parser_take(parser);
            continue;
        }
        if ((index->name = parser_name(parser, "an index")) == NULL)
            return false;
        if (parser_accept(parser, ":") && (index->extent = parse_expr(parser)) == NULL)
            return false;
        if (n > 2 * LANG_MAX_LEVELS) {
            parser_fail(parser, index->place, "more than %d indices; a stage has at most %d",
                        2 * LANG_MAX_LEVELS, LANG_MAX_LEVELS);
            return false;
        }
    } while (parser_accept(parser, ","));
    *indices = list;
    *count = n;
    return true;
}

/* REDUCTION "[" left { "," left } [ "?" expr ] "]" "(" expr ")" */
static const struct ast *
reduce(struct parser *parser, const struct token *name)
{
    struct ast *ast = new_ast(parser, AST_REDUCE, name->place);
    ast->name = name->text;
    word_reduction(name->text, &ast->reduction);
    parser_take(parser);
    parser->open++;
    if (!parse_indices(parser, &ast->indices, &ast->index_count))
        return NULL;
    if (parser_accept(parser, "?") && (ast->guard = parse_expr(parser)) == NULL)
        return NULL;
    if (!parser_expect(parser, "]", "the indices of a reduction end with ]") ||
        !parser_expect(parser, "(", "the terms stand in ( ) after the indices"))
        return NULL;
    const struct ast **body = arena_array(parser->arena, 1, sizeof *body);
    if ((body[0] = parse_expr(parser)) == NULL ||
        !parser_expect(parser, ")", "the terms of a reduction end with )"))
        return NULL;
    parser->open--;
    ast->args = body;
    ast->count = 1;
    return finish(parser, ast);
}

/* "cat" "[" NAME "]" "(" piece { "," piece } ")" */
static const struct ast *
cat(struct parser *parser, const struct token *word)
{
    struct ast *ast = new_ast(parser, AST_CAT, word->place);
    struct list pieces = {0}, extents = {0};
    parser->open++;
    if (!parser_expect(parser, "[", "write cat[c](a, b)") ||
        (ast->name = parser_name(parser, "the index that cat runs along")) == NULL ||
        !parser_expect(parser, "]", "write cat[c](a, b)") ||
        !parser_expect(parser, "(", "write cat[c](a, b)"))
        return NULL;
    do {
        const struct ast *piece = parse_expr(parser), *extent = NULL;
        if (piece == NULL || (parser_accept(parser, ":") && (extent = parse_expr(parser)) == NULL))
            return NULL;
        list_add(parser, &pieces, piece);
        list_add(parser, &extents, extent);
    } while (parser_accept(parser, ","));
    if (!parser_expect(parser, ")", "the pieces of cat end with )"))
        return NULL;
    parser->open--;
    ast->args = pieces.items;
    ast->count = pieces.count;
    ast->extents = extents.items;
    return finish(parser, ast);
}

/* "size" "(" ( "..." | NAME ) ")" */
static const struct ast *
size(struct parser *parser, const struct token *word)
{
    struct ast *ast = new_ast(parser, AST_SIZE, word->place);
    if (!parser_expect(parser, "(", "write size(X) or size(...)"))
        return NULL;
    parser->open++;
    if (parser_peek(parser)->kind == TOKEN_ELLIPSIS)
        parser_take(parser);
    else if ((ast->name = parser_name(parser, "a tensor or dim")) == NULL)
        return NULL;
    if (!parser_expect(parser, ")", "write size(X) or size(...)"))
        return NULL;
    parser->open--;
    return ast;
}

static const struct ast *
cast(struct parser *parser, const struct token *name)
{
    struct ast *ast = new_ast(parser, AST_CAST, name->place);
    ast->name = name->text;
    word_dtype(name->text, &ast->dtype);
    const struct ast **arg = arena_array(parser->arena, 1, sizeof *arg);
    if (!parser_expect(parser, "(", "a data type converts its argument: f32(x)"))
        return NULL;
    parser->open++;
    if ((arg[0] = parse_expr(parser)) == NULL ||
        !parser_expect(parser, ")", "a conversion takes one argument"))
        return NULL;
    parser->open--;
    ast->args = arg;
    ast->count = 1;
    return finish(parser, ast);
}

static const struct ast *
word(struct parser *parser)
{
    const struct token *name = parser_take(parser), *next = parser_peek(parser);
    enum word_kind kind = name->word;
    if (kind == WORD_REDUCTION && token_is(next, "["))
        return reduce(parser, name);
    if (kind == WORD_DTYPE)
        return cast(parser, name);
    if (token_is(name, "cat"))
        return cat(parser, name);
    if (token_is(name, "size"))
        return size(parser, name);
    if (token_is(name, "inf") || token_is(name, "pi")) {
        struct ast *ast = new_ast(parser, AST_REAL, name->place);
        ast->real = token_is(name, "pi") ? M_PI : INFINITY;
        return ast;
    }
    if (kind == WORD_STATEMENT) {
        parser_fail(parser, name->place, "expected a value before `%s`; finish the line above it",
                    name->text);
        return NULL;
    }
    if (token_is(next, "("))
        return call(parser, name);
    if (kind != WORD_NONE) {
        parser_fail(parser, name->place, "%s needs its arguments; write %s%s", name->text,
                    name->text, kind == WORD_REDUCTION ? "[i](...)" : "(...)");
        return NULL;
    }
    if (token_is(next, "["))
        return element(parser, name);
    struct ast *ast = new_ast(parser, AST_NAME, name->place);
    ast->name = name->text;
    return ast;
}

static const struct ast *
primary(struct parser *parser)
{
    const struct token *token = parser_peek(parser);
    if (token->kind == TOKEN_INTEGER || token->kind == TOKEN_REAL)
        return number(parser);
    if (token->kind == TOKEN_NAME)
        return word(parser);
    if (token_is(token, "(")) {
        parser_take(parser);
        parser->open++;
        const struct ast *inner = parse_expr(parser);
        if (inner == NULL || !parser_expect(parser, ")", "this bracket was opened and not closed"))
            return NULL;
        parser->open--;
        return inner;
    }
    if (token->kind == TOKEN_END || token->kind == TOKEN_NEWLINE)
        parser_fail(parser, token->place, "the line ends where a value is expected; write one");
    else
        parser_fail(parser, token->place,
                    "expected a value, found `%.*s`; write a number, a "
                    "tensor's element or an expression",
                    (int)token->length, token->text);
    return NULL;
}

static const struct ast *
operation(struct parser *parser, enum op op, struct place place, const struct ast *a,
          const struct ast *b)
{
    if (a == NULL || (b == NULL && op_info[op].args == 2))
        return NULL;
    struct ast *ast = new_ast(parser, AST_OPERATOR, place);
    const struct ast **args = arena_array(parser->arena, 2, sizeof *args);
    args[0] = a;
    args[1] = b;
    ast->op = op;
    ast->args = args;
    ast->count = (size_t)op_info[op].args;
    return finish(parser, ast);
}

static const struct ast *
unary(struct parser *parser)
{
    const struct token *token = parser_peek(parser);
    if (!token_is(token, "-") && !token_is(token, "!"))
        return primary(parser);
    if (++parser->nesting > LANG_MAX_NESTING) {
        parser_fail(parser, token->place, "nested more than %d deep; split it into stages",
                    LANG_MAX_NESTING);
        return NULL;
    }
    parser_take(parser);
    enum op op = token_is(token, "-") ? OP_NEG : OP_NOT;
    const struct ast *ast = operation(parser, op, token->place, unary(parser), NULL);
    parser->nesting--;
    return ast;
}

/* Infix operations by level of binding, loosest first. */
static const enum op levels[][6] = {
    {OP_OR},
    {OP_AND},
    {OP_LT, OP_LE, OP_GT, OP_GE, OP_EQ, OP_NE},
    {OP_ADD, OP_SUB},
    {OP_MUL, OP_DIV, OP_MOD},
};
enum { COMPARE_LEVEL = 2, LEVELS = sizeof levels / sizeof levels[0] };

static bool
operator_at(const struct token *token, size_t level, enum op *op)
{
    for (size_t i = 0; i < 6 && levels[level][i] != 0; i++)
        if (token->kind == TOKEN_SIGN && token_is(token, op_info[levels[level][i]].spelling)) {
            *op = levels[level][i];
            return true;
        }
    return false;
}

static const struct ast *
binary(struct parser *parser, size_t level)
{
    if (level == LEVELS)
        return unary(parser);
    const struct ast *left = binary(parser, level + 1);
    enum op op;
    for (bool chained = false; left != NULL && operator_at(parser_peek(parser), level, &op);
         chained = true) {
        const struct token *sign = parser_take(parser);
        if (level == COMPARE_LEVEL && chained) {
            parser_fail(parser, sign->place, "comparisons do not chain; write a < b && b < c");
            return NULL;
        }
        left = operation(parser, op, sign->place, left, binary(parser, level + 1));
    }
    return left;
}

const struct ast *
parse_expr(struct parser *parser)
{
    if (++parser->nesting > LANG_MAX_NESTING) {
        parser_fail(parser, parser_peek(parser)->place,
                    "nested more than %d deep; split it into stages", LANG_MAX_NESTING);
        return NULL;
    }
    const struct ast *ast = binary(parser, 0);
    parser->nesting--;
    return ast;
}
