/* One stage as C. Emitted kernels have each stage below a comment with its schedule, as a block of
 * the kernel or as a function; the stage's loops give way to a call of what the reply wrote:
 *
 *     { for (long r0 = 0; ...) ... }   becomes   { stage_Y(X, Y); }
 *
 * with the reply's `static void stage_Y(const float *restrict X, float *restrict Y)` above it.
 * Parameters are named as the tensors are in the base, so that the call can be written from them. A
 * function that has the name of the stage's own takes its place whole. */
#include "agent/reply_int.h"

#include "base/text.h"

#include <string.h>

struct stage_place {
    const char *above;      /* behind the last definition above it */
    const char *start;      /* what follows the comment: a block or a function */
    const char *function;   /* its name, "": a block */
    const char *body, *end; /* from its opening bracket to behind the closing one */
    size_t count;           /* how often it is there */
    struct buf names;       /* of all stages: "M, Y" */
};

/* ---- names ---- */

/* "Y" of a comment that begins with "Y:" or of "//! stage Y", or NULL. */
static const char *
comment_name(struct arena *arena, const struct c_token *token)
{
    const char *end = token->start + token->length;
    const char *at = token->start + 2 + strspn(token->start + 2, " !\t");
    bool said = text_starts(at, "stage ");
    if (token->kind != C_BLOCK_COMMENT && !said)
        return NULL;
    at += said ? 6 : 0;
    size_t length = strcspn(at, " \t\n:*,");
    bool named = length > 0 && at + length < end && (said || at[length] == ':');
    return named ? arena_strndup(arena, at, length) : NULL;
}

/* "Y.layer_norm" and "Y_layer_norm" are one. */
static const char *
function_name(struct arena *arena, const char *stage)
{
    char *name = arena_strdup(arena, stage);
    for (char *c = name; *c; c++)
        *c = *c == '.' ? '_' : *c;
    return name;
}

/* ---- finding the stage ---- */

/* Behind a line of the preprocessor, and those it goes on in. */
static const char *
line_end(const char *at, const char *end)
{
    while (at < end && *at != '\n')
        at += *at == '\\' && at + 1 < end ? 2 : 1;
    return at < end ? at + 1 : end;
}

/* The block or function that begins here: up to the bracket that closes it. False: it has none. */
static bool
find_body(struct arena *arena, struct c_reader reader, struct stage_place *place)
{
    struct c_token token = c_next_code(&reader), before = {0};
    int depth = 0;
    place->start = token.start;
    place->function = "";
    for (; token.kind != C_END && !c_is(&token, "{") && !c_is(&token, ";");
         token = c_next_code(&reader)) {
        if (c_is(&token, "(") && *place->function == '\0' && before.kind == C_WORD)
            place->function = arena_strndup(arena, before.start, before.length);
        before = token;
    }
    place->body = token.start;
    if (!c_is(&token, "{"))
        return false;
    for (; token.kind != C_END; token = c_next_code(&reader)) {
        depth += c_is(&token, "{") - c_is(&token, "}");
        if (depth == 0)
            break;
    }
    place->end = token.start + token.length;
    return token.kind != C_END;
}

static void
note_stage(struct arena *arena, const struct c_reader *reader, const struct c_token *comment,
           const char *wanted, const char *above, struct stage_place *place)
{
    struct stage_place here = {.above = above};
    const char *name = comment_name(arena, comment);
    if (name == NULL || !find_body(arena, *reader, &here))
        return;
    buf_printf(&place->names, "%s%s", place->names.length > 0 ? ", " : "", name);
    if (strcmp(function_name(arena, name), wanted) != 0)
        return;
    here.count = place->count + 1;
    here.names = place->names;
    *place = here;
}

static void
find_stage(struct arena *arena, const char *base, const char *wanted, struct stage_place *place)
{
    struct c_reader reader = c_reader_of(base, strlen(base));
    const char *above = base;
    int depth = 0;
    *place = (struct stage_place){.names = buf_in(arena)};
    for (struct c_token token = c_next(&reader); token.kind != C_END; token = c_next(&reader)) {
        if (token.kind == C_LINE_COMMENT || token.kind == C_BLOCK_COMMENT) {
            note_stage(arena, &reader, &token, wanted, above, place);
            continue;
        }
        if (c_is(&token, "#"))
            reader.at = line_end(token.start, reader.end);
        depth += c_is(&token, "{") - c_is(&token, "}");
        if (depth == 0 && (c_is(&token, "}") || c_is(&token, ";") || c_is(&token, "#")))
            above = reader.at;
    }
}

/* ---- calling it ---- */

/* The names of the parameters of the function in the text, as they stand in a call. False: it is
 * not there. */
static bool
put_arguments(struct buf *buf, const char *text, const char *function)
{
    struct c_reader reader = c_reader_of(text, strlen(text));
    struct c_token token = c_next_code(&reader), name = {0};
    while (token.kind != C_END && !(token.kind == C_WORD && c_is(&token, function)))
        token = c_next_code(&reader);
    token = c_next_code(&reader);
    if (!c_is(&token, "("))
        return false;
    for (int depth = 1; depth > 0 && token.kind != C_END;) {
        token = c_next_code(&reader);
        depth += c_is(&token, "(") + c_is(&token, "[") - c_is(&token, ")") - c_is(&token, "]");
        if (token.kind == C_WORD && depth == 1)
            name = token;
        bool ends = (c_is(&token, ",") && depth == 1) || depth == 0;
        if (ends && name.kind == C_WORD && !c_is(&name, "void"))
            buf_printf(buf, "%s%.*s", buf->length > 0 ? ", " : "", (int)name.length, name.start);
    }
    return true;
}

static const char *
with_call(struct arena *arena, const char *base, const struct stage_place *place,
          const char *function, const char *text)
{
    struct buf buf = buf_in(arena), arguments = buf_in(arena);
    put_arguments(&arguments, text, function);
    buf_add(&buf, base, (size_t)(place->above - base));
    buf_printf(&buf, "\n%s\n", text);
    buf_add(&buf, place->above, (size_t)(place->body - place->above));
    buf_printf(&buf, "{\n        %s(%s);\n    }", function,
               arguments.length > 0 ? arguments.data : "");
    buf_puts(&buf, place->end);
    return buf.data;
}

static const char *
with_function(struct arena *arena, const char *base, const struct stage_place *place,
              const char *text)
{
    struct buf buf = buf_in(arena);
    buf_add(&buf, base, (size_t)(place->start - base));
    buf_puts(&buf, text);
    buf_puts(&buf, place->end);
    return buf.data;
}

enum status
agent__put_stage(struct arena *arena, const char *base, const char *stage, const char *text,
                 const char **result, const char **reason)
{
    const char *wanted = function_name(arena, stage);
    const char *function = arena_printf(arena, "stage_%s", wanted);
    struct stage_place place;
    find_stage(arena, base, wanted, &place);
    if (place.count == 1 && agent__defines(text, strlen(text), function)) {
        *result = with_call(arena, base, &place, function, text);
        return STATUS_OK;
    }
    if (place.count == 1 && *place.function != '\0' &&
        agent__defines(text, strlen(text), place.function)) {
        *result = with_function(arena, base, &place, text);
        return STATUS_OK;
    }
    if (place.count == 1)
        *reason = arena_printf(arena,
                               "no function %s in the C of stage %s; write `static void "
                               "%s(...)` with parameters named as the tensors in the base",
                               function, stage, function);
    else if (place.count > 1)
        *reason = arena_printf(arena,
                               "stage %s stands %zu times in the base; give edits or the "
                               "whole file instead",
                               stage, place.count);
    else if (place.names.length > 0)
        *reason =
            arena_printf(arena, "the base has no stage %s with loops of its own; it has %.200s",
                         stage, place.names.data);
    else
        *reason = "the base has no stages of the micro-coder; give edits or the whole file instead";
    return STATUS_NO;
}
