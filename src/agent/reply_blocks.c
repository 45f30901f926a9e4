/* The text of a reply: cleaned, without thoughts, cut at its fences. */
#include "agent/reply_int.h"

#include "base/text.h"

#include <stdarg.h>
#include <string.h>

enum {
    LONGEST_REPLY = 2 << 20, /* bytes; no kernel and no thought that led to one is so long */
    LONGEST_PROSE = 4000,
    MOST_BLOCKS = 200,
};

enum reply_found
reply__broken(struct reply_reading *reading, const char *format, ...)
{
    struct buf buf = buf_in(reading->arena);
    va_list args;
    va_start(args, format);
    buf_vprintf(&buf, format, args);
    va_end(args);
    reading->reason = buf.data;
    return REPLY_BROKEN;
}

/* ---- lines ---- */

bool
reply__next_line(struct reply_line *line)
{
    if (*line->next == '\0')
        return false;
    line->start = line->next;
    line->length = strcspn(line->start, "\n");
    line->next = line->start + line->length + (line->start[line->length] == '\n');
    return true;
}

bool
reply__line_is(const struct reply_line *line, const char *word)
{
    const char *at = line->start, *end = line->start + line->length;
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    while (at < end && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    return (size_t)(end - at) == strlen(word) && memcmp(at, word, strlen(word)) == 0;
}

const char *
reply__labelled(struct arena *arena, const struct reply_line *line, const char *label)
{
    const char *at = line->start + strspn(line->start, " \t#*->_`");
    size_t length = strlen(label), number = strspn(at, "0123456789");
    const char *end = line->start + line->length;
    if (number > 0 && (at[number] == '.' || at[number] == ')')) /* "1. **Title:** ..." */
        at += number + 1 + strspn(at + number + 1, " \t*_`");
    if (at + length >= end || strncasecmp(at, label, length) != 0)
        return NULL;
    at += length;
    at += strspn(at, " *_`");
    if (*at != ':' && *at != '=')
        return NULL;
    at++;
    at += strspn(at, " \t*_`\"");
    if (at >= end)
        return NULL;
    while (end > at && strchr(" \t*_`\"", end[-1]))
        end--;
    return arena_strndup(arena, at, (size_t)(end - at));
}

/* ---- thoughts ---- */

static bool
begins_line(const char *text, const char *at)
{
    while (at > text && (at[-1] == ' ' || at[-1] == '\t'))
        at--;
    return at == text || at[-1] == '\n';
}

/* The next tag that stands at the beginning of a line, or NULL. */
static char *
find_tag(char *text, char *from, const char *tag)
{
    char *at = strstr(from, tag);
    while (at != NULL && !begins_line(text, at))
        at = strstr(at + 1, tag);
    return at;
}

static size_t
cut(char *text, size_t length, char *from, char *to)
{
    memmove(from, to, length - (size_t)(to - text) + 1);
    return length - (size_t)(to - from);
}

/* Some templates write the opening tag into the prompt, so that only the closing one is seen.
 * False: the reply ends while it thinks. */
static bool
remove_thoughts(struct reply_reading *reading)
{
    static const char opening[] = "<think>", closing[] = "</think>";
    char *text = reading->text;
    char *open = find_tag(text, text, opening), *close = strstr(text, closing);
    if (close != NULL && (open == NULL || close < open)) {
        reading->length = cut(text, reading->length, text, close + strlen(closing));
        open = find_tag(text, text, opening);
    }
    while (open != NULL) {
        close = strstr(open, closing);
        if (close == NULL) {
            *open = '\0';
            reading->length = (size_t)(open - text);
            return false;
        }
        reading->length = cut(text, reading->length, open, close + strlen(closing));
        open = find_tag(text, open, opening);
    }
    return true;
}

/* ---- fences ---- */

/* How long a fence of ``` or ~~~ the line begins with, 0 if it is none; *info is what follows. */
static size_t
fence_of(const struct reply_line *line, const char **info)
{
    const char *at = line->start + strspn(line->start, " \t>");
    size_t length = strspn(at, *at == '~' ? "~" : "`");
    *info = at + length;
    return at + length <= line->start + line->length && length >= 3 ? length : 0;
}

/* One line can hold a whole: ```kernel``` is no fence but a word. */
static bool
is_word(const struct reply_line *line, const char *info)
{
    return memchr(info, '`', (size_t)(line->start + line->length - info)) != NULL;
}

static const char *
info_text(struct arena *arena, const struct reply_line *line, const char *info)
{
    return text_trim(arena_strndup(arena, info, (size_t)(line->start + line->length - info)));
}

static struct reply_block *
add_block(struct reply_reading *reading)
{
    reading->blocks = arena_grow(reading->arena, reading->blocks, reading->block_count,
                                 reading->block_count + 1, sizeof *reading->blocks);
    return &reading->blocks[reading->block_count++];
}

static void
end_block(struct reply_reading *reading, struct reply_block *block, const char *content,
          const char *end, const char *next, bool closed)
{
    block->text = arena_strndup(reading->arena, content, (size_t)(end - content));
    block->end = (size_t)(next - reading->text);
    block->closed = closed;
}

/* A fence with words behind it cannot close; C has no such lines, so it opens the next block of an
 * author who forgot to close this one. A fence of another kind or shorter is part of the text. */
static void
find_blocks(struct reply_reading *reading)
{
    struct reply_line line = {.next = reading->text};
    struct reply_block *block = NULL;
    const char *content = NULL, *info;
    size_t opened = 0;
    char kind = '\0';
    while (reply__next_line(&line) && reading->block_count < MOST_BLOCKS) {
        size_t fence = fence_of(&line, &info);
        const char *rest = fence > 0 ? info_text(reading->arena, &line, info) : "";
        if (fence == 0 || is_word(&line, info) ||
            (block != NULL && (info[-1] != kind || fence < opened)))
            continue;
        if (block != NULL)
            end_block(reading, block, content, line.start, *rest ? line.start : line.next, true);
        if (block != NULL && *rest == '\0') {
            block = NULL;
            continue;
        }
        block = add_block(reading);
        *block = (struct reply_block){.info = rest, .start = (size_t)(line.start - reading->text)};
        content = line.next;
        opened = fence;
        kind = info[-1];
    }
    if (block != NULL)
        end_block(reading, block, content, reading->text + reading->length,
                  reading->text + reading->length, false);
}

bool
reply__info_has(const struct reply_block *block, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = block->info; *at;) {
        size_t here = strcspn(at, " \t,:{}");
        if (here == length && strncasecmp(at, word, length) == 0)
            return true;
        at += here + (at[here] != '\0');
    }
    return false;
}

/* ---- the whole ---- */

bool
reply__open(struct reply_reading *reading, const char *text, size_t length)
{
    static const char mark[] = "\xef\xbb\xbf";
    if (length > LONGEST_REPLY) {
        reply__broken(reading, "the reply is %.1f MB long; give the answer alone, in a few pages",
                      (double)length / 1e6);
        return false;
    }
    if (length >= 3 && memcmp(text, mark, 3) == 0) {
        text += 3;
        length -= 3;
    }
    reading->text = arena_alloc(reading->arena, length + 1);
    memcpy(reading->text, text, length);
    reading->length = text_clean(reading->text, length);
    bool whole = remove_thoughts(reading);
    if (reading->text[strspn(reading->text, " \t\n")] == '\0') {
        reply__broken(reading, "%s",
                      whole ? "the reply is empty; answer in the form that was asked for"
                            : "the reply ended while it was still thinking; think less, and answer "
                              "in the form that was asked for");
        return false;
    }
    find_blocks(reading);
    return true;
}

static void
add_prose(struct buf *buf, const char *text, size_t from, size_t to, size_t start, size_t end)
{
    if (from < start && start < to) {
        add_prose(buf, text, from, start, start, end);
        from = start;
    }
    if (from >= start && from < end)
        from = end;
    if (from < to)
        buf_add(buf, text + from, to - from);
}

const char *
reply__prose(const struct reply_reading *reading, size_t start, size_t end)
{
    struct buf buf = buf_in(reading->arena);
    size_t from = 0;
    for (size_t i = 0; i < reading->block_count; i++) {
        add_prose(&buf, reading->text, from, reading->blocks[i].start, start, end);
        from = reading->blocks[i].end;
    }
    add_prose(&buf, reading->text, from, reading->length, start, end);
    if (buf.length == 0)
        return "";
    size_t length = buf.length;
    if (length > LONGEST_PROSE) {
        length = LONGEST_PROSE;
        while (((unsigned char)buf.data[length] & 0xc0) == 0x80)
            length--; /* not inside of a character */
        buf.data[length] = '\0';
    }
    char *prose = buf.data + strspn(buf.data, " \t\n");
    length = strlen(prose);
    while (length > 0 && strchr(" \t\n", prose[length - 1]))
        prose[--length] = '\0';
    return prose;
}
