/* What a reply makes of the base. Edits are made one after the other, each where its lines stand
 * exactly once: a change in the wrong place would be a kernel that nobody meant. */
#include "agent/reply_int.h"

#include "base/text.h"

#include <string.h>

enum { MOST_ADDED = 256 << 10 }; /* bytes, far more than a kernel may have */

/* ---- finding lines ---- */

enum strictness { EXACT, TRAILING, INDENTED, STRICTNESS_COUNT };

struct piece {
    const char *start, *end;
};

static struct piece
trim(const char *start, const char *end, enum strictness strictness)
{
    while (strictness >= TRAILING && end > start && strchr(" \t\r", end[-1]))
        end--;
    while (strictness >= INDENTED && start < end && strchr(" \t", *start))
        start++;
    return (struct piece){start, end};
}

static bool
same_line(const struct reply_line *a, const struct reply_line *b, enum strictness strictness)
{
    struct piece p = trim(a->start, a->start + a->length, strictness);
    struct piece q = trim(b->start, b->start + b->length, strictness);
    return p.end - p.start == q.end - q.start &&
           memcmp(p.start, q.start, (size_t)(p.end - p.start)) == 0;
}

/* Do the lines of `search` stand here? *end is where the lines of the base behind them begin. */
static bool
stands_here(const char *at, const char *search, enum strictness strictness, const char **end)
{
    struct reply_line have = {.next = at}, want = {.next = search};
    while (reply__next_line(&want))
        if (!reply__next_line(&have) || !same_line(&have, &want, strictness))
            return false;
    *end = have.next;
    return true;
}

/* How often, and where first. */
static size_t
find_lines(const char *base, const char *search, enum strictness strictness, struct piece *where)
{
    struct reply_line line = {.next = base};
    size_t count = 0;
    while (reply__next_line(&line)) {
        const char *end;
        if (!stands_here(line.start, search, strictness, &end))
            continue;
        if (count++ == 0)
            *where = (struct piece){line.start, end};
    }
    return count;
}

/* A part of a line, found once. */
static size_t
find_part(const char *base, const char *search, struct piece *where)
{
    size_t count = 0, length = strlen(search);
    while (length > 0 && search[length - 1] == '\n')
        length--;
    for (const char *at = base; length > 0 && (at = memmem(at, strlen(at), search, length));
         at += length)
        if (count++ == 0)
            *where = (struct piece){at, at + length};
    return count;
}

/* Without blank lines at its beginning and end, which authors add and forget. */
static const char *
without_blank_ends(struct arena *arena, const char *text)
{
    struct reply_line line = {.next = text};
    const char *start = NULL, *end = text;
    while (reply__next_line(&line))
        if (!reply__line_is(&line, "")) {
            start = start != NULL ? start : line.start;
            end = line.next;
        }
    return start != NULL ? arena_strndup(arena, start, (size_t)(end - start)) : "";
}

/* ---- one edit ---- */

/* "...", "// ... rest of the code ...": a line that stands for others. */
static bool
leaves_out(const char *text)
{
    struct reply_line line = {.next = text};
    while (reply__next_line(&line)) {
        const char *at = line.start + strspn(line.start, " \t/*#");
        if (text_starts(at, "...") || text_starts(at, "\xe2\x80\xa6"))
            return true;
    }
    return false;
}

static const char *
first_line(struct arena *arena, const char *text)
{
    size_t length = strcspn(text, "\n");
    return text_trim(arena_strndup(arena, text, length < 60 ? length : 60));
}

static const char *
trouble(struct arena *arena, const char *search, size_t number, size_t count)
{
    if (count > 1)
        return arena_printf(arena,
                            "edit %zu: its lines, from `%s` on, stand %zu times in the "
                            "base; add lines around them until they stand once",
                            number, first_line(arena, search), count);
    if (leaves_out(search))
        return arena_printf(arena,
                            "edit %zu: `...` stands for lines of the base; copy all lines "
                            "between SEARCH and =======, or make two edits",
                            number);
    return arena_printf(arena,
                        "edit %zu: its lines, from `%s` on, stand nowhere in the base; copy "
                        "them as they are there",
                        number, first_line(arena, search));
}

static const char *
replace(struct arena *arena, const char *base, const struct piece *where, const char *text)
{
    struct buf buf = buf_in(arena);
    buf_add(&buf, base, (size_t)(where->start - base));
    buf_puts(&buf, text);
    buf_puts(&buf, where->end);
    return buf.length > 0 ? buf.data : "";
}

static const char *
without_last_newline(struct arena *arena, const char *text)
{
    size_t length = strlen(text);
    return arena_strndup(arena, text, length - (length > 0 && text[length - 1] == '\n'));
}

/* The base with the edit made, or NULL with *reason. */
static const char *
make_edit(struct arena *arena, const char *base, const struct agent_edit *edit, size_t number,
          const char **reason)
{
    const char *search = without_blank_ends(arena, edit->search);
    struct piece where;
    size_t count = 0;
    for (int strictness = EXACT; strictness < STRICTNESS_COUNT && count == 0; strictness++)
        count = find_lines(base, search, (enum strictness)strictness, &where);
    if (count == 1)
        return replace(arena, base, &where, edit->replace);
    if (count == 0) {
        count = find_part(base, search, &where);
        if (count == 1)
            return replace(arena, base, &where, without_last_newline(arena, edit->replace));
    }
    *reason = trouble(arena, search, number, count);
    return NULL;
}

static enum status
make_edits(struct arena *arena, const char *base, const struct agent_reply *reply,
           const char **text, const char **reason)
{
    const char *now = base;
    size_t most = strlen(base) + MOST_ADDED;
    for (size_t i = 0; i < reply->edit_count; i++) {
        now = make_edit(arena, now, &reply->edits[i], i + 1, reason);
        if (now == NULL)
            return STATUS_NO;
        if (strlen(now) > most) {
            *reason = "the edits make a file of more than 256 kB; write less";
            return STATUS_NO;
        }
    }
    if (strcmp(now, base) == 0) {
        *reason = "the edits change nothing";
        return STATUS_NO;
    }
    *text = now;
    return STATUS_OK;
}

/* ---- declarations ---- */

static bool
is_declaration(const struct c_token *token)
{
    if (token->kind != C_LINE_COMMENT || token->length < 4 || token->start[2] != '!')
        return false;
    const char *word = token->start + 3 + strspn(token->start + 3, " \t");
    return text_starts(word, "tune ") || text_starts(word, "flags ");
}

/* //! tune and //! flags count above the code only, but authors like to write them where the number
 * is used: they move to the top, in their order. */
static const char *
raise_declarations(struct arena *arena, const char *text)
{
    struct c_reader reader = c_reader_of(text, strlen(text));
    struct buf top = buf_in(arena), rest = buf_in(arena);
    const char *from = text;
    bool head = true;
    for (struct c_token token = c_next(&reader); token.kind != C_END; token = c_next(&reader)) {
        if (token.kind != C_LINE_COMMENT && token.kind != C_BLOCK_COMMENT)
            head = false;
        if (head || !is_declaration(&token) || memchr(token.start, '\n', token.length) != NULL)
            continue;
        buf_printf(&top, "%.*s\n", (int)token.length, token.start);
        buf_add(&rest, from, (size_t)(token.start - from));
        from = token.start + token.length;
    }
    if (top.length == 0)
        return text;
    buf_puts(&rest, from);
    buf_add(&top, rest.data, rest.length);
    return top.data;
}

/* ---- the whole ---- */

enum status
agent_apply(struct arena *arena, const char *base, const struct agent_reply *reply,
            const char **text, const char **reason)
{
    enum status status = STATUS_OK;
    *text = reply->text;
    *reason = "";
    switch (reply->format) {
    case AGENT_FORMAT_EDITS:
        status = make_edits(arena, base, reply, text, reason);
        break;
    case AGENT_FORMAT_FILL:
        return agent__fill(arena, base, reply->text, text, reason);
    case AGENT_FORMAT_STAGE:
        status = agent__put_stage(arena, base, reply->stage, reply->text, text, reason);
        break;
    case AGENT_FORMAT_FILE:
        break;
    default: /* no text of a kernel: schedules, programs and words are taken as they are */
        return STATUS_OK;
    }
    if (status == STATUS_OK)
        *text = raise_declarations(arena, *text);
    return status;
}
