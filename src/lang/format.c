/* `hone fmt`: the house style, token by token. The author's lines and comments stay; blanks,
 * indents and empty lines are set. What it writes reads back as the same tokens. */
#include "lang/ast_int.h"

#include <string.h>

struct formatter {
    struct buf *out;
    const struct source *source;
    const struct tokens *tokens;
    char brackets[2 * LANG_MAX_NESTING + 8]; /* open ones, innermost last */
    size_t depth;
    unsigned blocks;   /* open { */
    bool tight_equals; /* in dim, const, param, case: N=4 */
    bool in_rec;       /* in the head of a rec: t:T */
    bool in_input;     /* in an `in`: from, to, scale and among are words */
    bool line_is_empty;
    bool continues; /* the line goes on a statement */
    unsigned empty_lines;
};

static size_t
end_of(const struct token *token)
{
    return token->offset + token->length + (token->kind == TOKEN_STRING ? 2 : 0);
}

static bool
is_one_of(const struct token *token, const char *const *texts)
{
    for (; *texts != NULL; texts++)
        if (token_is(token, *texts))
            return true;
    return false;
}

static bool
is_statement_word(const struct token *token)
{
    return token->word == WORD_STATEMENT;
}

static bool
is_operand_end(const struct formatter *f, const struct token *token)
{
    static const char *const closing[] = {")", "]", NULL};
    static const char *const clauses[] = {"from", "to", "scale", "among", NULL};
    if (f->in_input && f->depth == 0 && is_one_of(token, clauses))
        return false;
    return token->kind == TOKEN_ELLIPSIS || token->kind == TOKEN_INTEGER ||
           token->kind == TOKEN_REAL || token->kind == TOKEN_STRING ||
           (token->kind == TOKEN_NAME && !is_statement_word(token)) || is_one_of(token, closing);
}

static bool
is_unary(const struct formatter *f, const struct token *before, const struct token *token)
{
    if (token_is(token, "!"))
        return true;
    return token_is(token, "-") && (before == NULL || !is_operand_end(f, before));
}

static bool
was_spaced(const struct formatter *f, const struct token *token)
{
    return token->offset > 0 && f->source->text[token->offset - 1] == ' ';
}

/* Whether an infix sign stands between blanks. */
static bool
spaces_around(const struct formatter *f, const struct token *sign)
{
    static const char *const always[] = {
        "&&", "||", "<", "<=", ">", ">=", "==", "!=", "|", "?", NULL};
    static const char *const outside[] = {"+", "-", NULL};
    static const char *const as_written[] = {"*", "/", "%", NULL};
    if (token_is(sign, "="))
        return f->depth == 0 && !f->tight_equals;
    if (is_one_of(sign, always))
        return true;
    if (is_one_of(sign, outside))
        return f->depth == 0 && !f->tight_equals;
    return is_one_of(sign, as_written) && f->depth == 0 && was_spaced(f, sign);
}

static const char *
blanks_after(const struct formatter *f, const struct token *before_last, const struct token *last)
{
    char inner = f->depth ? f->brackets[f->depth - 1] : '\0';
    if (token_is(last, "(") || token_is(last, "["))
        return "";
    if (token_is(last, ","))
        return inner == '[' ? "" : " ";
    if (token_is(last, ":"))
        return f->depth == 0 && !f->in_rec ? " " : "";
    if (token_is(last, ";") || token_is(last, "{"))
        return " ";
    if (last->kind != TOKEN_SIGN || token_is(last, ")") || token_is(last, "]"))
        return NULL; /* depends on what comes */
    return is_unary(f, before_last, last) || !spaces_around(f, last) ? "" : " ";
}

static const char *
blanks_between(const struct formatter *f, const struct token *before_last, const struct token *last,
               const struct token *next)
{
    static const char *const close[] = {",", ";", ")", "]", ":", NULL};
    const char *blanks;
    if (last == NULL || is_one_of(next, close))
        return "";
    if ((blanks = blanks_after(f, before_last, last)) != NULL)
        return is_statement_word(next) && *blanks ? "  " : blanks;
    if (is_statement_word(next))
        return "  ";
    if (token_is(next, "(") || token_is(next, "["))
        return is_statement_word(last) ? " " : "";
    if (next->kind == TOKEN_SIGN && !token_is(next, "{") && !token_is(next, "}"))
        return is_unary(f, last, next) || spaces_around(f, next) ? " " : "";
    return " ";
}

static void
track(struct formatter *f, const struct token *token)
{
    static const char *const tight[] = {"dim", "const", "param", "case", NULL};
    if (is_statement_word(token)) {
        f->tight_equals = is_one_of(token, tight);
        f->in_rec = token_is(token, "rec");
        f->in_input = token_is(token, "in");
        f->depth = 0;
    } else if ((token_is(token, "(") || token_is(token, "[")) && f->depth < sizeof f->brackets) {
        f->brackets[f->depth++] = *token->text;
    } else if ((token_is(token, ")") || token_is(token, "]")) && f->depth > 0) {
        f->depth--;
    } else if (token_is(token, "{")) {
        f->blocks++;
        f->in_rec = false;
    } else if (token_is(token, "}") && f->blocks > 0) {
        f->blocks--;
    }
}

static void
begin_line(struct formatter *f, bool closes)
{
    if (f->empty_lines > 0 && f->out->length > 0)
        buf_putc(f->out, '\n');
    f->empty_lines = 0;
    for (unsigned i = closes ? 1 : 0; i < f->blocks + f->continues; i++)
        buf_puts(f->out, "    ");
    f->line_is_empty = false;
}

/* The comment between two offsets, if there is one. */
static void
put_comment(struct formatter *f, size_t from, size_t to)
{
    const char *text = f->source->text;
    const char *mark = memchr(text + from, '#', to - from);
    if (mark == NULL)
        return;
    size_t end = to;
    while (end > (size_t)(mark - text) &&
           (text[end - 1] == ' ' || text[end - 1] == '\t' || text[end - 1] == '\r'))
        end--;
    if (f->line_is_empty) {
        begin_line(f, false);
    } else { /* the author lined it up: keep at least one blank, and the column where possible */
        size_t line = f->out->length, column = 0, start = (size_t)(mark - text), wanted = 0;
        while (line > 0 && f->out->data[line - 1] != '\n')
            line--, column++;
        while (start > 0 && text[start - 1] != '\n')
            start--, wanted++;
        do
            buf_putc(f->out, ' ');
        while (++column < wanted && column < 100);
    }
    buf_add(f->out, mark, end - (size_t)(mark - text));
}

static void
end_line(struct formatter *f)
{
    if (f->line_is_empty)
        f->empty_lines++;
    else
        buf_putc(f->out, '\n');
    f->line_is_empty = true;
}

static bool
line_goes_on(const struct formatter *f, const struct token *last)
{
    static const char *const signs[] = {"+",  "-",  "*",  "/", "%", "<", ">", "<=", ">=", "==",
                                        "!=", "&&", "||", "!", ",", "=", ":", "|",  "?",  NULL};
    return f->depth > 0 || (last != NULL && is_one_of(last, signs));
}

static void
format_tokens(struct formatter *f)
{
    const struct token *before_last = NULL, *last = NULL;
    size_t end = 0;
    for (size_t i = 0; i < f->tokens->count; i++) {
        const struct token *token = &f->tokens->items[i];
        put_comment(f, end, token->offset);
        end = end_of(token);
        if (token->kind == TOKEN_NEWLINE || token->kind == TOKEN_END) {
            if (token->kind == TOKEN_NEWLINE || !f->line_is_empty)
                end_line(f);
            f->continues = line_goes_on(f, last);
            if (!f->continues) {
                before_last = last = NULL;
                f->tight_equals = false;
            }
            continue;
        }
        if (f->line_is_empty) {
            begin_line(f, token_is(token, "}"));
        } else {
            buf_puts(f->out, blanks_between(f, before_last, last, token));
        }
        track(f, token);
        buf_add(f->out, f->source->text + token->offset, end - token->offset);
        before_last = last;
        last = token;
    }
}

enum status
lang_format(struct buf *buf, const char *path, const char *text, size_t length, struct diags *diags)
{
    struct source source = {path, text, length};
    struct names *names = names_create(buf->arena);
    size_t errors = diags_errors(diags);
    parse(buf->arena, names, &source, diags);
    if (diags_errors(diags) > errors)
        return STATUS_INPUT;
    struct diags *ignored = diags_create(buf->arena, 1);
    struct tokens tokens = lex(buf->arena, names, &source, ignored);
    struct formatter formatter = {
        .out = buf, .source = &source, .tokens = &tokens, .line_is_empty = true};
    format_tokens(&formatter);
    return STATUS_OK;
}
