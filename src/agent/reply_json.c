/* JSON as models write it. Whatever looks like an object or a list is first made strict: comments
 * and trailing commas go, quotes of other kinds and bare words become strings, newlines inside of
 * strings are escaped. Then a true parser reads it. */
#include "agent/reply_int.h"

#include "base/text.h"

#include <ctype.h>
#include <jansson.h>
#include <string.h>

enum { DEEPEST = 32, MOST_WORK = 16 << 20 /* bytes that are looked at, all attempts together */ };

struct tidying {
    const char *at;
    struct buf out;
    unsigned depth;
    char closing[DEEPEST]; /* of what is open */
};

/* ---- between values ---- */

static bool
at_comment(const char *at)
{
    return *at == '#' || (at[0] == '/' && (at[1] == '/' || at[1] == '*'));
}

static const char *
skip_comment(const char *at)
{
    if (at[0] == '/' && at[1] == '*') {
        const char *end = strstr(at + 2, "*/");
        return end != NULL ? end + 2 : at + strlen(at);
    }
    return at + strcspn(at, "\n");
}

static const char *
skip_gap(const char *at)
{
    for (;;) {
        at += strspn(at, " \t\n");
        if (!at_comment(at))
            return at;
        at = skip_comment(at);
    }
}

/* ---- strings ---- */

static void
put_char(struct buf *out, char c)
{
    if (c == '\n')
        buf_puts(out, "\\n");
    else if (c == '\t')
        buf_puts(out, "\\t");
    else if (c == '"')
        buf_puts(out, "\\\"");
    else
        buf_putc(out, c);
}

/* What JSON does not know stands for itself, such as \' or \d. */
static const char *
put_escape(struct buf *out, const char *at)
{
    if (at[1] != '\0' && strchr("\"\\/bfnrtu", at[1]) != NULL) {
        buf_add(out, at, 2);
        return at + 2;
    }
    if (at[1] == '\'')
        return at + 1;
    buf_puts(out, "\\\\");
    return at + 1;
}

/* Does the quote at `at` end a string in such quotes, or is it an apostrophe? */
static bool
ends_single(const char *at)
{
    const char *next = at + 1 + strspn(at + 1, " \t\n");
    return *next == '\0' || strchr(",:}]", *next) != NULL;
}

static bool
put_string(struct tidying *t)
{
    char quote = *t->at++;
    buf_putc(&t->out, '"');
    while (*t->at != '\0' && !(*t->at == quote && (quote == '"' || ends_single(t->at)))) {
        if (*t->at == '\\')
            t->at = put_escape(&t->out, t->at);
        else
            put_char(&t->out, *t->at++);
    }
    buf_putc(&t->out, '"');
    return *t->at != '\0' && t->at++ != NULL;
}

/* ---- bare words ---- */

static bool
is_number(const char *text)
{
    const char *at = text + (*text == '-');
    size_t whole = strspn(at, "0123456789");
    if (whole == 0 || (whole > 1 && *at == '0'))
        return false;
    at += whole;
    if (*at == '.') {
        size_t part = strspn(at + 1, "0123456789");
        at += part > 0 ? 1 + part : 0;
    }
    if (*at == 'e' || *at == 'E') {
        const char *power = at + 1 + (at[1] == '-' || at[1] == '+');
        size_t digits = strspn(power, "0123456789");
        at = digits > 0 ? power + digits : at;
    }
    return *at == '\0';
}

/* true, 5, 5 %, schedule: up to what can end a value. */
static bool
put_bare(struct tidying *t)
{
    static const char *const words[][2] = {
        {"true", "true"}, {"false", "false"}, {"null", "null"},    {"none", "null"},
        {"nan", "null"},  {"inf", "null"},    {"infinity", "null"}};
    size_t length = 0;
    while (t->at[length] != '\0' && strchr(",:}]{[\"\n", t->at[length]) == NULL &&
           !at_comment(t->at + length))
        length++;
    char *text = text_trim(arena_strndup(t->out.arena, t->at, length));
    t->at += length;
    text += *text == '+' && isdigit((unsigned char)text[1]);
    if (*text == '\0')
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(text, words[i][0]) == 0) {
            buf_puts(&t->out, words[i][1]);
            return true;
        }
    if (is_number(text)) {
        buf_puts(&t->out, text);
        return true;
    }
    buf_putc(&t->out, '"');
    for (; *text; text++)
        if (*text == '\\')
            buf_puts(&t->out, "\\\\");
        else
            put_char(&t->out, *text);
    buf_putc(&t->out, '"');
    return true;
}

/* ---- a whole value ---- */

static bool
put_mark(struct tidying *t)
{
    char mark = *t->at++;
    if (mark == '{' || mark == '[') {
        if (t->depth == DEEPEST)
            return false;
        t->closing[t->depth++] = mark == '{' ? '}' : ']';
    } else if (mark == '}' || mark == ']') {
        if (t->closing[--t->depth] != mark)
            return false;
    } else if (mark == ',') {
        const char *next = skip_gap(t->at);
        if (*next == '}' || *next == ']')
            return true;
    }
    buf_putc(&t->out, mark);
    return true;
}

/* From the bracket at t->at to the one that closes it. */
static bool
tidy(struct tidying *t)
{
    do {
        t->at = skip_gap(t->at);
        bool good = *t->at == '\0'                    ? false
                    : strchr("{}[],:", *t->at)        ? put_mark(t)
                    : *t->at == '"' || *t->at == '\'' ? put_string(t)
                                                      : put_bare(t);
        if (!good)
            return false;
    } while (t->depth > 0);
    return true;
}

/* Does an object or a list of values begin here, rather than C or a word in brackets? */
static bool
may_begin(const char *at)
{
    const char *next = skip_gap(at + 1);
    if (*at == '[')
        return *next == '{' || *next == '"' || *next == '\'' || *next == ']' ||
               isdigit((unsigned char)*next);
    return *next == '"' || *next == '\'' || *next == '}' || isalpha((unsigned char)*next);
}

size_t
reply__find_json(struct reply_reading *reading, json_t **values, size_t most, bool *cut)
{
    size_t count = 0, work = 0;
    *cut = false;
    for (const char *at = reading->text; *at && count < most && work < MOST_WORK;) {
        if ((*at != '{' && *at != '[') || !may_begin(at)) {
            at++;
            continue;
        }
        struct tidying t = {.at = at, .out = buf_in(reading->arena)};
        bool whole = tidy(&t);
        json_t *value = whole ? json_loadb(t.out.data, t.out.length, 0, NULL) : NULL;
        work += (size_t)(t.at - at) + 1;
        *cut = *cut || *t.at == '\0';
        if (value != NULL) {
            *cut = false;
            values[count++] = value;
        }
        at = value != NULL ? t.at : at + 1;
    }
    return count;
}

void
reply__drop(json_t **values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        json_decref(values[i]);
}
