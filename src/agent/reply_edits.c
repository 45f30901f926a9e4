/* Edits in a reply: blocks between SEARCH and REPLACE, wherever they stand, or the hunks of a diff.
 * Whether they fit the base is found when they are applied. */
#include "agent/reply_int.h"

#include "base/text.h"

#include <string.h>

enum { MOST_EDITS = 200, FEWEST_MARKS = 5, MOST_MARKS = 9 };

struct edits {
    struct reply_reading *reading;
    struct agent_edit list[MOST_EDITS];
    size_t count;
    size_t start, end; /* of all of them in the text */
};

/* ---- search and replace ---- */

/* "<<<<<<< SEARCH": so many of one sign, then blanks and perhaps a word. */
static bool
is_marker(const struct reply_line *line, char sign, const char *word)
{
    const char *at = line->start, *end = line->start + line->length;
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    size_t marks = 0;
    while (at < end && *at == sign) {
        at++;
        marks++;
    }
    if (marks < FEWEST_MARKS || marks > MOST_MARKS)
        return false;
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    size_t left = (size_t)(end - at);
    while (left > 0 && strchr(" \t:", at[left - 1]))
        left--;
    return left == 0 || (left == strlen(word) && strncasecmp(at, word, left) == 0);
}

static bool
begins_edit(const struct reply_line *line)
{
    return is_marker(line, '<', "SEARCH") || is_marker(line, '<', "ORIGINAL");
}

static bool
ends_edit(const struct reply_line *line)
{
    return is_marker(line, '>', "REPLACE") || is_marker(line, '>', "UPDATED");
}

/* Adds lines until one that is a marker; false: there is none. */
static bool
take_until(struct reply_line *line, bool middle, struct buf *buf)
{
    while (reply__next_line(line)) {
        if (middle ? is_marker(line, '=', "") : ends_edit(line))
            return true;
        if (begins_edit(line))
            return false;
        buf_add(buf, line->start, line->length);
        buf_putc(buf, '\n');
    }
    return false;
}

static const char *
text_of(const struct buf *buf)
{
    return buf->length > 0 ? buf->data : "";
}

static bool
is_blank(const char *text)
{
    return text[strspn(text, " \t\n")] == '\0';
}

/* From behind the line with SEARCH. */
static enum reply_found
read_edit(struct edits *edits, struct reply_line *line)
{
    struct buf search = buf_in(edits->reading->arena), replace = buf_in(edits->reading->arena);
    size_t number = edits->count + 1;
    if (number > MOST_EDITS)
        return reply__broken(edits->reading, "more than %d edits; give the whole file instead",
                             MOST_EDITS);
    if (!take_until(line, true, &search))
        return reply__broken(edits->reading,
                             "edit %zu has no line ======= ; write it between the "
                             "lines to find and their replacement",
                             number);
    if (!take_until(line, false, &replace))
        return reply__broken(edits->reading,
                             "edit %zu has no line >>>>>>> REPLACE; the reply may "
                             "have been cut, so write fewer or shorter edits",
                             number);
    if (is_blank(text_of(&search)))
        return reply__broken(edits->reading,
                             "edit %zu searches for nothing; copy the lines of the "
                             "base that it replaces",
                             number);
    edits->list[edits->count++] = (struct agent_edit){text_of(&search), text_of(&replace)};
    return REPLY_FOUND;
}

static enum reply_found
read_blocks(struct edits *edits)
{
    struct reply_reading *reading = edits->reading;
    struct reply_line line = {.next = reading->text};
    enum reply_found found = REPLY_NOTHING;
    while (found != REPLY_BROKEN && reply__next_line(&line)) {
        if (!begins_edit(&line))
            continue;
        if (edits->count == 0)
            edits->start = (size_t)(line.start - reading->text);
        found = read_edit(edits, &line);
        edits->end = (size_t)(line.next - reading->text);
    }
    return found;
}

/* ---- diffs ---- */

static bool
is_hunk(const struct reply_line *line)
{
    return text_starts(line->start, "@@");
}

/* --- a/kernel.c, +++ b/kernel.c, diff --git, index, "\ No newline" */
static bool
is_header(const struct reply_line *line)
{
    if (text_starts(line->start, "+++ ") || text_starts(line->start, "diff ") ||
        text_starts(line->start, "index ") || line->start[0] == '\\')
        return true;
    return text_starts(line->start, "--- ") && text_starts(line->next, "+++ ");
}

static enum reply_found
add_hunk(struct edits *edits, struct buf *search, struct buf *replace)
{
    size_t number = edits->count + 1;
    bool same = search->length == replace->length &&
                memcmp(text_of(search), text_of(replace), search->length) == 0;
    if (same)
        return REPLY_FOUND; /* no hunk yet, or one without a change */
    if (number > MOST_EDITS)
        return reply__broken(edits->reading, "more than %d hunks; give the whole file instead",
                             MOST_EDITS);
    if (is_blank(text_of(search)))
        return reply__broken(edits->reading,
                             "hunk %zu of the diff has no line of the base around "
                             "what it adds; give at least one",
                             number);
    edits->list[edits->count++] = (struct agent_edit){text_of(search), text_of(replace)};
    *search = buf_in(edits->reading->arena);
    *replace = buf_in(edits->reading->arena);
    return REPLY_FOUND;
}

/* A line of a hunk; one without any sign is context whose blank was lost. */
static void
add_line(struct buf *search, struct buf *replace, const struct reply_line *line)
{
    char sign = line->length > 0 ? line->start[0] : ' ';
    size_t skip = line->length > 0 && strchr(" +-", sign) ? 1 : 0;
    if (sign != '+') {
        buf_add(search, line->start + skip, line->length - skip);
        buf_putc(search, '\n');
    }
    if (sign != '-') {
        buf_add(replace, line->start + skip, line->length - skip);
        buf_putc(replace, '\n');
    }
}

static enum reply_found
read_diff(struct edits *edits, const struct reply_block *block)
{
    struct buf search = buf_in(edits->reading->arena), replace = buf_in(edits->reading->arena);
    struct reply_line line = {.next = block->text};
    enum reply_found found = REPLY_FOUND;
    if (!block->closed)
        return reply__broken(edits->reading, "the reply ends inside of the diff; write fewer or "
                                             "shorter edits");
    while (found == REPLY_FOUND && reply__next_line(&line)) {
        if (is_hunk(&line))
            found = add_hunk(edits, &search, &replace);
        else if (!is_header(&line))
            add_line(&search, &replace, &line);
    }
    if (found == REPLY_FOUND)
        found = add_hunk(edits, &search, &replace);
    if (found == REPLY_FOUND && edits->count == 0)
        return reply__broken(edits->reading, "the diff changes nothing; mark what goes with - and "
                                             "what comes with +");
    return found;
}

static bool
is_diff(const struct reply_block *block)
{
    struct reply_line line = {.next = block->text};
    if (reply__info_has(block, "diff") || reply__info_has(block, "patch"))
        return true;
    while (reply__next_line(&line))
        if (text_starts(line.start, "@@ -"))
            return true;
    return false;
}

/* The last one counts, as with every other form. */
static enum reply_found
read_diffs(struct edits *edits)
{
    for (size_t i = edits->reading->block_count; i > 0; i--)
        if (is_diff(&edits->reading->blocks[i - 1]))
            return read_diff(edits, &edits->reading->blocks[i - 1]);
    return REPLY_NOTHING;
}

/* ---- the whole ---- */

enum reply_found
reply__read_edits(struct reply_reading *reading, struct agent_reply *reply)
{
    struct edits *edits = arena_alloc(reading->arena, sizeof *edits);
    edits->reading = reading;
    enum reply_found found = read_blocks(edits);
    if (found == REPLY_NOTHING)
        found = read_diffs(edits);
    if (found != REPLY_FOUND)
        return found;
    reply->edits = edits->list;
    reply->edit_count = edits->count;
    reply->why = reply__prose(reading, edits->start, edits->end);
    return REPLY_FOUND;
}
