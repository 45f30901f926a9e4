/* Statements and files. A mistake ends its statement only: the parser skips to what looks like the
 * next one and goes on, so that one run reports them all. */
#include "lang/parse_int.h"

#include <stdlib.h>
#include <string.h>

/* ---- tokens ---- */

/* After these a line goes on. */
static bool
continues(const struct token *token)
{
    static const char *const signs[] = {"+",  "-",  "*",  "/", "%", "<", ">", "<=", ">=", "==",
                                        "!=", "&&", "||", "!", ",", "=", ":", "|",  "?"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (token->kind == TOKEN_SIGN && token_is(token, signs[i]))
            return true;
    return false;
}

const struct token *
parser_peek(struct parser *parser)
{
    const struct token *items = parser->tokens.items;
    bool passes = parser->open > 0 || (parser->last != NULL && continues(parser->last));
    while (passes && items[parser->at].kind == TOKEN_NEWLINE)
        parser->at++;
    return &items[parser->at];
}

const struct token *
parser_take(struct parser *parser)
{
    const struct token *token = parser_peek(parser);
    if (token->kind != TOKEN_END)
        parser->at++;
    parser->last = token;
    return token;
}

const struct token *
parser_second(struct parser *parser)
{
    parser_peek(parser);
    const struct token *items = parser->tokens.items;
    size_t at = parser->at;
    if (items[at].kind != TOKEN_END)
        at++;
    while (parser->open > 0 && items[at].kind == TOKEN_NEWLINE)
        at++;
    return &items[at];
}

bool
parser_accept(struct parser *parser, const char *text)
{
    if (!token_is(parser_peek(parser), text))
        return false;
    parser_take(parser);
    return true;
}

void
parser_fail(struct parser *parser, struct place place, const char *format, ...)
{
    if (parser->failed)
        return;
    parser->failed = true;
    va_list args;
    va_start(args, format);
    struct buf buf = buf_in(parser->arena);
    buf_vprintf(&buf, format, args);
    va_end(args);
    diags_add(parser->diags, DIAG_ERROR, place, "%s", buf.data);
}

static const char *
shown(struct parser *parser, const struct token *token)
{
    if (token->kind == TOKEN_END)
        return "the end of the file";
    if (token->kind == TOKEN_NEWLINE)
        return "the end of the line";
    return arena_printf(parser->arena, "`%.*s`", (int)(token->length < 40 ? token->length : 40),
                        token->text);
}

bool
parser_expect(struct parser *parser, const char *text, const char *instead)
{
    if (parser_accept(parser, text))
        return true;
    const struct token *token = parser_peek(parser);
    parser_fail(parser, token->place, "expected `%s`, found %s; %s", text, shown(parser, token),
                instead);
    return false;
}

const char *
parser_name(struct parser *parser, const char *what)
{
    const struct token *token = parser_peek(parser);
    if (token->kind != TOKEN_NAME) {
        parser_fail(parser, token->place, "expected %s, found %s; write a name", what,
                    shown(parser, token));
        return NULL;
    }
    if (token->word != WORD_NONE) {
        parser_fail(parser, token->place, "`%s` is a word of the language; choose another name",
                    token->text);
        return NULL;
    }
    return parser_take(parser)->text;
}

/* ---- recovery ---- */

/* Whether the line at `at` looks like a statement: it begins with a statement word or }, or has a
 * name first and = outside brackets. */
static bool
looks_like_statement(const struct token *items, size_t at)
{
    if (items[at].kind == TOKEN_END || token_is(&items[at], "}"))
        return true;
    if (items[at].kind != TOKEN_NAME)
        return false;
    if (items[at].word == WORD_STATEMENT)
        return true;
    int depth = 0;
    for (; items[at].kind != TOKEN_NEWLINE && items[at].kind != TOKEN_END; at++) {
        if (token_is(&items[at], "[") || token_is(&items[at], "("))
            depth++;
        else if (token_is(&items[at], "]") || token_is(&items[at], ")"))
            depth--;
        else if (depth == 0 && token_is(&items[at], "="))
            return true;
    }
    return false;
}

/* `start` is where the statement with the mistake began. A bracket left open was noticed on the
 * next line: that line is read again. */
static void
skip_statement(struct parser *parser, size_t start)
{
    const struct token *items = parser->tokens.items;
    parser->last = NULL;
    parser->open = 0;
    parser->nesting = 0;
    parser->failed = false;
    if (parser->at > start && items[parser->at - 1].kind == TOKEN_NEWLINE &&
        looks_like_statement(items, parser->at))
        return;
    for (;; parser->at++) {
        const struct token *token = &items[parser->at];
        if (token->kind == TOKEN_END || token_is(token, "}"))
            return;
        if (token->word == WORD_STATEMENT)
            return;
        if (token->kind == TOKEN_NEWLINE && looks_like_statement(items, parser->at + 1))
            return;
    }
}

/* ---- statements ---- */

/* NAME "=" cexpr { "," NAME "=" cexpr }; a case has no commas. */
static bool
bindings(struct parser *parser, struct statement *statement, bool commas)
{
    struct ast_named *list = NULL;
    size_t count = 0;
    for (;;) {
        const struct token *next = parser_peek(parser);
        if (!commas && (next->kind != TOKEN_NAME || !token_is(parser_second(parser), "=")))
            break;
        list = arena_grow(parser->arena, list, count, count + 1, sizeof *list);
        struct ast_named *item = &list[count];
        item->place = next->place;
        if ((item->name = parser_name(parser, "a name")) == NULL ||
            !parser_expect(parser, "=", "a value is given by NAME=VALUE") ||
            (item->value = parse_expr(parser)) == NULL)
            return false;
        count++;
        if (commas && !parser_accept(parser, ","))
            break;
    }
    statement->named = list;
    statement->named_count = count;
    return true;
}

static bool
name_list(struct parser *parser, struct statement *statement, const char *what)
{
    struct ast_index *list = NULL;
    size_t count = 0;
    do {
        list = arena_grow(parser->arena, list, count, count + 1, sizeof *list);
        list[count].place = parser_peek(parser)->place;
        if ((list[count].name = parser_name(parser, what)) == NULL)
            return false;
        count++;
    } while (parser_accept(parser, ","));
    statement->names = list;
    statement->name_count = count;
    return true;
}

static bool
type(struct parser *parser, struct type *result)
{
    const struct token *token = parser_peek(parser);
    result->given = true;
    result->place = token->place;
    if (token_is(token, "like")) {
        parser_take(parser);
        return (result->like = parser_name(parser, "a tensor")) != NULL;
    }
    if (token->kind == TOKEN_NAME && word_dtype(token->text, &result->dtype)) {
        parser_take(parser);
        return true;
    }
    parser_fail(parser, token->place,
                "expected a data type, found %s; write f64 f32 f16 bf16 i32 i8 u8 bool or like X",
                shown(parser, token));
    return false;
}

/* "[" [ extent { "," extent } ] "]" into `left`: extent, or name NULL and extent NULL for "..." */
static bool
shape(struct parser *parser, struct statement *statement)
{
    struct ast_index *list = NULL;
    size_t count = 0;
    if (!parser_expect(parser, "[", "a shape stands in brackets; rank 0 is []"))
        return false;
    parser->open++;
    while (!parser_accept(parser, "]")) {
        list = arena_grow(parser->arena, list, count, count + 1, sizeof *list);
        list[count].place = parser_peek(parser)->place;
        if (parser_peek(parser)->kind == TOKEN_ELLIPSIS)
            parser_take(parser);
        else if ((list[count].extent = parse_expr(parser)) == NULL)
            return false;
        count++;
        if (!token_is(parser_peek(parser), "]") &&
            !parser_expect(parser, ",", "close the shape with ]"))
            return false;
    }
    parser->open--;
    statement->left = list;
    statement->left_count = count;
    statement->has_shape = true;
    return true;
}

static bool
domain_value(struct parser *parser, struct domain_clause *domain)
{
    domain->values = arena_grow(parser->arena, domain->values, domain->count, domain->count + 1,
                                sizeof *domain->values);
    const struct ast *value = parse_expr(parser);
    domain->values[domain->count++] = value;
    return value != NULL;
}

static bool
domain_form(struct parser *parser, struct domain_clause *domain)
{
    static const struct {
        const char *word;
        enum domain_form form;
    } forms[] = {{"softmax", DOMAIN_SOFTMAX},
                 {"lower", DOMAIN_LOWER},
                 {"upper", DOMAIN_UPPER},
                 {"symmetric", DOMAIN_SYMMETRIC}};
    const struct token *token = parser_take(parser);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (token_is(token, forms[i].word)) {
            domain->form = forms[i].form;
            return true;
        }
    parser_fail(parser, token->place,
                "expected a form, found %s; write as softmax, lower, upper or symmetric",
                shown(parser, token));
    return false;
}

static bool
domain(struct parser *parser, struct domain_clause *clause)
{
    clause->place = parser_peek(parser)->place;
    if (parser_accept(parser, "from")) {
        clause->form = DOMAIN_INTERVAL;
        return domain_value(parser, clause) &&
               parser_expect(parser, "to", "an interval is from A to B") &&
               domain_value(parser, clause);
    }
    if (parser_accept(parser, "scale")) {
        clause->form = DOMAIN_SCALE;
        return domain_value(parser, clause);
    }
    if (parser_accept(parser, "among")) {
        clause->form = DOMAIN_AMONG;
        do
            if (!domain_value(parser, clause))
                return false;
        while (parser_accept(parser, ","));
        return true;
    }
    return !parser_accept(parser, "as") || domain_form(parser, clause);
}

static bool
in_statement(struct parser *parser, struct statement *statement)
{
    return name_list(parser, statement, "an input") &&
           (!parser_accept(parser, ":") || type(parser, &statement->types[0])) &&
           shape(parser, statement) && domain(parser, &statement->domain);
}

static bool
out_statement(struct parser *parser, struct statement *statement)
{
    if (!name_list(parser, statement, "an output"))
        return false;
    if (!parser_accept(parser, ":"))
        return true;
    return type(parser, &statement->types[0]) && shape(parser, statement);
}

static bool
def_statement(struct parser *parser, struct statement *statement)
{
    if ((statement->name = parser_name(parser, "the name of a def")) == NULL ||
        !parser_expect(parser, "(", "write def f(x) = ..."))
        return false;
    parser->open++;
    if (!name_list(parser, statement, "a parameter") ||
        !parser_expect(parser, ")", "write def f(x, y) = ..."))
        return false;
    parser->open--;
    return parser_expect(parser, "=", "write def f(x) = ...") &&
           (statement->value = parse_expr(parser)) != NULL;
}

static bool
case_statement(struct parser *parser, struct statement *statement)
{
    if ((statement->name = parser_name(parser, "the name of a case")) == NULL ||
        !bindings(parser, statement, false))
        return false;
    statement->flag = parser_accept(parser, "check");
    return true;
}

static bool
string(struct parser *parser, struct statement *statement)
{
    const struct token *token = parser_peek(parser);
    if (token->kind != TOKEN_STRING) {
        parser_fail(parser, token->place, "expected a path, found %s; write it in \"quotes\"",
                    shown(parser, token));
        return false;
    }
    statement->name = parser_take(parser)->text;
    return true;
}

static bool
real_number(struct parser *parser, double *value)
{
    const struct token *token = parser_peek(parser);
    if (token->kind != TOKEN_REAL && token->kind != TOKEN_INTEGER) {
        parser_fail(parser, token->place,
                    "expected a number, found %s; write tolerance RELATIVE ABSOLUTE",
                    shown(parser, token));
        return false;
    }
    *value = strtod(token->text, NULL);
    parser_take(parser);
    return true;
}

static bool
reference_statement(struct parser *parser, struct statement *statement)
{
    return string(parser, statement) &&
           parser_expect(parser, "tolerance",
                         "write reference \"f.c\" tolerance RELATIVE ABSOLUTE") &&
           real_number(parser, &statement->relative) && real_number(parser, &statement->absolute);
}

static bool
stage(struct parser *parser, struct statement *statement)
{
    statement->form = STATEMENT_STAGE;
    parser_take(parser); /* [ */
    parser->open++;
    if (!token_is(parser_peek(parser), "]") &&
        !parse_indices(parser, &statement->left, &statement->left_count))
        return false;
    if (!parser_expect(parser, "]", "the indices of a stage end with ]"))
        return false;
    parser->open--;
    return (!parser_accept(parser, ":") || type(parser, &statement->types[0])) &&
           parser_expect(parser, "=", "a stage is NAME[i,j] = value") &&
           (statement->value = parse_expr(parser)) != NULL;
}

/* result { "," result } "=" expr, the first name already taken */
static bool
whole(struct parser *parser, struct statement *statement, const struct token *first)
{
    struct ast_index *names = NULL;
    size_t count = 0;
    statement->form = STATEMENT_WHOLE;
    statement->types = NULL;
    do {
        names = arena_grow(parser->arena, names, count, count + 1, sizeof *names);
        statement->types =
            arena_grow(parser->arena, statement->types, count, count + 1, sizeof *statement->types);
        names[count].place = count ? parser_peek(parser)->place : first->place;
        names[count].name = count ? parser_name(parser, "a result") : first->text;
        if (names[count].name == NULL ||
            (parser_accept(parser, ":") && !type(parser, &statement->types[count])))
            return false;
        count++;
    } while (parser_accept(parser, ","));
    statement->names = names;
    statement->name_count = count;
    statement->name = first->text;
    return parser_expect(parser, "=", "a statement is NAME[i,j] = value, or NAME = call(...)") &&
           (statement->value = parse_expr(parser)) != NULL;
}

static bool
stage_or_whole(struct parser *parser, struct statement *statement)
{
    const struct token *first = parser_peek(parser);
    if ((statement->name = parser_name(parser, "a statement")) == NULL)
        return false;
    if (token_is(parser_peek(parser), "["))
        return stage(parser, statement);
    return whole(parser, statement, first);
}

/* Statements end at a newline, at ";", or before a statement word or "}". */
static bool
end_of_statement(struct parser *parser)
{
    const struct token *token = &parser->tokens.items[parser->at];
    if (token->kind == TOKEN_END || token->kind == TOKEN_NEWLINE || token_is(token, "}") ||
        token->word == WORD_STATEMENT)
        return true;
    if (parser_accept(parser, ";"))
        return true;
    parser_fail(parser, token->place,
                "the statement was complete before %s; put an operator, a newline or ; here",
                shown(parser, token));
    return false;
}

static void
skip_ends(struct parser *parser)
{
    const struct token *items = parser->tokens.items;
    parser->last = NULL;
    while (items[parser->at].kind == TOKEN_NEWLINE || token_is(&items[parser->at], ";"))
        parser->at++;
}

static bool
parse_statement(struct parser *parser, struct statement *statement);

/* "rec" NAME ":" cexpr "{" { stage end } "}" */
static bool
rec_statement(struct parser *parser, struct statement *statement)
{
    if ((statement->name = parser_name(parser, "the carried index")) == NULL ||
        !parser_expect(parser, ":", "write rec t:T { ... }") ||
        (statement->value = parse_expr(parser)) == NULL ||
        !parser_expect(parser, "{", "write rec t:T { ... }"))
        return false;
    struct statement *body = NULL;
    size_t count = 0, capacity = 0;
    for (skip_ends(parser); !token_is(&parser->tokens.items[parser->at], "}"); skip_ends(parser)) {
        const struct token *token = &parser->tokens.items[parser->at];
        if (token->kind == TOKEN_END || token->word == WORD_STATEMENT) {
            parser_fail(parser, token->place, "%s stands inside rec; close the block with }",
                        shown(parser, token));
            return false;
        }
        if (count == capacity) {
            capacity = capacity ? 2 * capacity : 4;
            body = arena_grow(parser->arena, body, count, capacity, sizeof *body);
        }
        size_t start = parser->at;
        if (parse_statement(parser, &body[count]))
            count++;
        else
            skip_statement(parser, start);
        if (parser->at == start)
            parser->at++;
    }
    parser->at++; /* } */
    statement->body = body;
    statement->body_count = count;
    return true;
}

static const struct {
    const char *word;
    enum statement_form form;
} statement_forms[] = {
    {"dim", STATEMENT_DIM},         {"const", STATEMENT_CONST},
    {"param", STATEMENT_PARAM},     {"in", STATEMENT_IN},
    {"out", STATEMENT_OUT},         {"def", STATEMENT_DEF},
    {"require", STATEMENT_REQUIRE}, {"case", STATEMENT_CASE},
    {"use", STATEMENT_USE},         {"reference", STATEMENT_REFERENCE},
    {"rec", STATEMENT_REC},
};

static bool
statement_by_word(struct parser *parser, struct statement *statement)
{
    switch (statement->form) {
    case STATEMENT_DIM:
        statement->flag =
            token_is(parser_peek(parser), "any") && parser_second(parser)->kind == TOKEN_NAME;
        if (statement->flag)
            parser_take(parser);
        return bindings(parser, statement, true);
    case STATEMENT_CONST:
    case STATEMENT_PARAM:
        return bindings(parser, statement, true);
    case STATEMENT_IN:
        return in_statement(parser, statement);
    case STATEMENT_OUT:
        return out_statement(parser, statement);
    case STATEMENT_DEF:
        return def_statement(parser, statement);
    case STATEMENT_REQUIRE:
        return (statement->value = parse_expr(parser)) != NULL;
    case STATEMENT_CASE:
        return case_statement(parser, statement);
    case STATEMENT_USE:
        return string(parser, statement);
    case STATEMENT_REFERENCE:
        return reference_statement(parser, statement);
    default:
        return rec_statement(parser, statement);
    }
}

static bool
parse_statement(struct parser *parser, struct statement *statement)
{
    const struct token *token = parser_peek(parser);
    *statement = (struct statement){.place = token->place};
    statement->types = arena_alloc(parser->arena, sizeof *statement->types);
    for (size_t i = 0; i < sizeof statement_forms / sizeof *statement_forms; i++)
        if (token_is(token, statement_forms[i].word)) {
            parser_take(parser);
            statement->form = statement_forms[i].form;
            return statement_by_word(parser, statement) && end_of_statement(parser);
        }
    return stage_or_whole(parser, statement) && end_of_statement(parser);
}

/* ---- files ---- */

struct reading { /* a file as it is read: the operator under way and the finished ones */
    struct statement *statements;
    size_t count, capacity;
    struct operator* operators;
    size_t operator_count;
    struct operator current;
    bool named;
};

/* A file may begin with defs and uses that belong to no operator. */
static bool
has_content(const struct reading *reading)
{
    for (size_t i = 0; i < reading->count; i++)
        if (reading->statements[i].form != STATEMENT_DEF &&
            reading->statements[i].form != STATEMENT_USE)
            return true;
    return reading->named;
}

static void
finish_operator(struct parser *parser, struct reading *reading)
{
    if (has_content(reading)) {
        struct operator* op = & reading->current;
        op->statements = reading->statements;
        op->count = reading->count;
        op->position = reading->operator_count;
        for (size_t i = 0; i < op->count; i++)
            if (op->statements[i].form == STATEMENT_IN)
                op->inputs += op->statements[i].name_count;
        reading->operators = arena_grow(parser->arena, reading->operators, reading->operator_count,
                                        reading->operator_count + 1, sizeof *reading->operators);
        reading->operators[reading->operator_count++] = *op;
        reading->statements = NULL;
        reading->count = reading->capacity = 0;
    }
}

/* "softmax" of "examples/softmax.op", with only letters, digits and _ */
static const char *
name_of_file(struct parser *parser, struct names *names, const struct source *source)
{
    const char *slash = strrchr(source->path, '/');
    char *name = arena_strdup(parser->arena, slash ? slash + 1 : source->path);
    char *dot = strrchr(name, '.');
    if (dot != NULL && dot != name)
        *dot = '\0';
    for (char *c = name; *c != '\0'; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9')))
            *c = '_';
    return names_intern(names, name, strlen(name));
}

static void
read_operators(struct parser *parser, struct reading *reading)
{
    for (skip_ends(parser); parser->tokens.items[parser->at].kind != TOKEN_END; skip_ends(parser)) {
        const struct token *token = &parser->tokens.items[parser->at];
        if (token_is(token, "op")) {
            finish_operator(parser, reading);
            parser_take(parser);
            reading->current = (struct operator){.place = token->place};
            reading->named = true;
            reading->current.name = parser_name(parser, "the name of an operator");
            if (reading->current.name == NULL || !end_of_statement(parser))
                skip_statement(parser, parser->at);
            continue;
        }
        if (token_is(token, "}")) {
            if (diags_errors(parser->diags) == 0) /* else it closes a rec that was misread */
                diags_add(parser->diags, DIAG_ERROR, token->place,
                          "this } closes nothing; remove it");
            parser->at++;
            continue;
        }
        if (reading->count == reading->capacity) {
            reading->capacity = reading->capacity ? 2 * reading->capacity : 16;
            reading->statements = arena_grow(parser->arena, reading->statements, reading->count,
                                             reading->capacity, sizeof *reading->statements);
        }
        size_t start = parser->at;
        if (parse_statement(parser, &reading->statements[reading->count]))
            reading->count++;
        else
            skip_statement(parser, start);
    }
    finish_operator(parser, reading);
}

/* A def is known in its file from where it stands on. */
static void
collect_defs(struct parser *parser, struct unit *unit, const struct statement *statements,
             size_t count)
{
    struct def *defs = (struct def *)unit->defs;
    for (size_t i = 0; i < count; i++)
        if (statements[i].form == STATEMENT_DEF) {
            defs =
                arena_grow(parser->arena, defs, unit->def_count, unit->def_count + 1, sizeof *defs);
            defs[unit->def_count++] = (struct def){statements[i].name, &statements[i], unit};
        }
    unit->defs = defs;
}

struct unit *
parse(struct arena *arena, struct names *names, const struct source *source, struct diags *diags)
{
    struct unit *unit = arena_alloc(arena, sizeof *unit);
    unit->source = *source;
    struct parser parser = {.arena = arena, .diags = diags};
    struct reading reading = {0};
    parser.tokens = lex(arena, names, &unit->source, diags);
    reading.current.name = name_of_file(&parser, names, &unit->source);
    reading.current.place = (struct place){&unit->source, 1, 1};
    read_operators(&parser, &reading);
    for (size_t i = 0; i < reading.operator_count; i++)
        collect_defs(&parser, unit, reading.operators[i].statements, reading.operators[i].count);
    if (reading.count > 0) /* defs after the last operator, or a file of defs alone */
        collect_defs(&parser, unit, reading.statements, reading.count);
    unit->operators = reading.operators;
    unit->operator_count = reading.operator_count;
    return unit;
}
