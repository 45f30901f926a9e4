/* Schedule lines in a reply, in a block or in the text. Only their form is looked at: what they
 * mean is for the micro-coder to say. */
#include "agent/reply_int.h"

#include "base/text.h"

#include <ctype.h>
#include <string.h>

enum { MOST_LINES = 2000 };

static size_t
word_length(const char *at)
{
    size_t length = 0;
    while (isalnum((unsigned char)at[length]) || at[length] == '_' || at[length] == '.')
        length++;
    return length;
}

/* r, r/2, r/2v@p, r/v@u: the end, or NULL. *marked: it can be nothing but a loop. */
static const char *
skip_loop(const char *at, bool *marked)
{
    size_t name = word_length(at);
    if (name == 0 || isdigit((unsigned char)*at))
        return NULL;
    at += name;
    if (*at == '/') {
        at++;
        size_t step = strspn(at, "0123456789");
        step += at[step] == 'v';
        if (step == 0)
            return NULL;
        at += step;
        *marked = true;
    }
    if (*at == '@') {
        if (!isalpha((unsigned char)at[1]))
            return NULL;
        at += 2;
        *marked = true;
    }
    return at;
}

/* pack(B), with(S, k=j), online(j/64: M,S,O) */
static const char *
skip_call(const char *at, bool *marked)
{
    static const char *const names[] = {"pack(", "do(", "with(", "inline(", "online(", "pre("};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (text_starts(at, names[i])) {
            size_t length = strcspn(at, ")\n");
            if (at[length] != ')')
                return NULL;
            *marked = true;
            return at + length + 1;
        }
    return NULL;
}

static const char *
skip_token(const char *at, bool *marked)
{
    const char *end = skip_call(at, marked);
    if (end != NULL)
        return end;
    if (text_starts(at, "acc") || text_starts(at, "nt")) {
        end = at + (*at == 'a' ? 3 : 2);
        if (*end == ' ' || *end == '\0') {
            *marked = true;
            return end;
        }
    }
    return skip_loop(at, marked);
}

/* Tokens to the end of the text. */
static bool
are_tokens(const char *at, bool *marked)
{
    at += strspn(at, " \t");
    while (*at != '\0') {
        at = skip_token(at, marked);
        if (at == NULL || (*at != ' ' && *at != '\t' && *at != '\0'))
            return false;
        at += strspn(at, " \t");
    }
    return true;
}

static bool
is_rewrite(const char *text)
{
    static const char *const names[] = {"pad ",   "flat ",    "phase ", "split ",
                                        "chunk ", "moments ", "part "};
    const char *at = text + 1 + strspn(text + 1, " \t");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (*text == '!' && text_starts(at, names[i]))
            return true;
    return false;
}

static bool
is_case(const char *text)
{
    size_t name = text_starts(text, "case ") ? word_length(text + 5) : 0;
    return name > 0 && text[5 + name] == ':' && text[6 + name] == '\0';
}

/* One line of a schedule. `sure`: what could be a sentence is none. */
static bool
is_line(const char *text, bool sure)
{
    const char *at = text + (text_starts(text, "rec ") ? 4 : 0);
    size_t name = word_length(at);
    bool marked = false;
    if (is_rewrite(text) || is_case(text))
        return true;
    if (name == 0 || isdigit((unsigned char)*at) || at[name] != ':')
        return false;
    return are_tokens(at + name + 1, &marked) && (marked || !sure);
}

/* Without a comment, a bullet, and the quotes around a line. */
static char *
bare_line(struct arena *arena, const struct reply_line *line)
{
    char *text = arena_strndup(arena, line->start, line->length);
    text[strcspn(text, "#")] = '\0';
    text = text_trim(text);
    if (text_starts(text, "- ") || text_starts(text, "* "))
        text = text_trim(text + 2);
    size_t length = strlen(text);
    if (length >= 2 && *text == '`' && text[length - 1] == '`') {
        text[length - 1] = '\0';
        text = text_trim(text + 1);
    }
    return text;
}

/* Lines, and lines separated by semicolons, added to `buf`. False: one of them is none. */
static bool
add_lines(struct buf *buf, char *text, bool sure)
{
    for (char *part; (part = strsep(&text, ";")) != NULL;) {
        part = text_trim(part);
        if (*part == '\0')
            continue;
        if (!is_line(part, sure))
            return false;
        buf_printf(buf, "%s\n", part);
    }
    return true;
}

/* All of a text. False, with the line, if it holds anything else. */
static bool
whole_schedule(struct arena *arena, const char *text, struct buf *buf, const char **wrong)
{
    struct reply_line line = {.next = text};
    for (size_t i = 0; i < MOST_LINES && reply__next_line(&line); i++) {
        *wrong = bare_line(arena, &line);
        if (!add_lines(buf, arena_strdup(arena, *wrong), false))
            return false;
    }
    return buf->length > 0;
}

/* Lines that can be nothing else, wherever they stand in the text. */
static void
scattered_lines(struct arena *arena, const char *text, struct buf *buf)
{
    struct reply_line line = {.next = text};
    for (size_t i = 0; i < MOST_LINES && reply__next_line(&line); i++) {
        struct buf found = buf_in(arena);
        if (add_lines(&found, bare_line(arena, &line), true) && found.length > 0)
            buf_puts(buf, found.data);
    }
}

static bool
is_meant(const struct reply_block *block)
{
    return reply__info_has(block, "schedule") || reply__info_has(block, "sched");
}

enum reply_found
reply__read_schedule(struct reply_reading *reading, struct agent_reply *reply)
{
    const char *wrong = "";
    for (size_t i = reading->block_count; i > 0; i--) {
        const struct reply_block *block = &reading->blocks[i - 1];
        struct buf buf = buf_in(reading->arena);
        bool whole = whole_schedule(reading->arena, block->text, &buf, &wrong);
        if (is_meant(block) && !whole)
            return reply__broken(reading,
                                 "%.60s: no line of a schedule; write STAGE: and loops, such as "
                                 "`Y: r@p j/v@u j@v`",
                                 wrong);
        if (!whole)
            continue;
        reply->text = buf.data;
        reply->why = reply__prose(reading, block->start, block->end);
        return REPLY_FOUND;
    }
    struct buf buf = buf_in(reading->arena);
    const char *prose = reply__prose(reading, 0, 0);
    scattered_lines(reading->arena, prose, &buf);
    if (buf.length == 0)
        return REPLY_NOTHING;
    reply->text = buf.data;
    reply->why = prose;
    return REPLY_FOUND;
}
