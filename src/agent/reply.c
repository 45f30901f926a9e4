/* From a reply to what can be used of it: which form it has, of those that were asked for, and what
 * stands around it. A reply is data: all it can do is be one of these. */
#include "agent/reply_int.h"

#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum { LONGEST_NAME = 80, LONGEST_TEXT = 32 << 10 };

/* ---- plain words ---- */

enum reply_found
reply__read_text(struct reply_reading *reading, struct agent_reply *reply)
{
    char *text = arena_strdup(reading->arena, reading->text + strspn(reading->text, " \t\n"));
    size_t length = strlen(text);
    if (length > LONGEST_TEXT)
        return reply__broken(reading, "the reply is %zu kB long; say it on a page", length >> 10);
    while (length > 0 && strchr(" \t\n", text[length - 1]))
        text[--length] = '\0';
    reply->text = text;
    return REPLY_FOUND;
}

/* ---- what stands around the answer ---- */

static const char *
label_in(struct arena *arena, const char *prose, const char *label)
{
    struct reply_line line = {.next = prose};
    while (reply__next_line(&line)) {
        const char *value = reply__labelled(arena, &line, label);
        if (value != NULL)
            return value;
    }
    return NULL;
}

/* A line `Title: ...`, or the first heading. */
static const char *
title_of(struct arena *arena, const char *prose)
{
    struct reply_line line = {.next = prose};
    const char *title = label_in(arena, prose, "title");
    while (title == NULL && reply__next_line(&line))
        if (line.length > 2 && line.start[0] == '#') {
            size_t marks = strspn(line.start, "# \t");
            if (marks < line.length)
                title = arena_strndup(arena, line.start + marks, line.length - marks);
        }
    if (title == NULL)
        return "";
    size_t length = strlen(title);
    if (length > LONGEST_NAME) {
        length = LONGEST_NAME;
        while (((unsigned char)title[length] & 0xc0) == 0x80)
            length--;
    }
    return arena_strndup(arena, title, length);
}

/* "Expected gain: 5-12 %" */
static void
find_gain(struct arena *arena, const char *prose, struct agent_reply *reply)
{
    static const char *const labels[] = {"expected gain", "expected", "gain", "expected speedup",
                                         "speedup"};
    for (size_t i = 0; i < sizeof labels / sizeof *labels && isnan(reply->low); i++) {
        const char *value = label_in(arena, prose, labels[i]);
        if (value != NULL && !reply__figures(value, true, &reply->low, &reply->high))
            reply->low = reply->high = NAN;
    }
}

/* ---- which form ---- */

/* In the order in which they are looked for: the most distinct first, since an edit holds C, and
 * everything is words. */
static const struct {
    enum agent_format format;
    enum reply_found (*read)(struct reply_reading *reading, struct agent_reply *reply);
    const char *missing;
} readers[] = {
    {AGENT_FORMAT_EDITS, reply__read_edits,
     "no edits in the reply; write <<<<<<< SEARCH, lines of the base, =======, their replacement, "
     ">>>>>>> REPLACE"},
    {AGENT_FORMAT_STAGE, reply__read_stage,
     "no stage in the reply; write its C in one block that begins with ```c stage NAME"},
    {AGENT_FORMAT_PROGRAM, reply__read_program,
     "no program in the reply; write the whole .op text in one block that begins with ```op"},
    {AGENT_FORMAT_FILL, reply__read_fill,
     "no code in the reply; write the base with its //! improve and //! end lines in one block "
     "that begins with ```c"},
    {AGENT_FORMAT_FILE, reply__read_file,
     "no C in the reply; write the whole kernel file in one block that begins with ```c"},
    {AGENT_FORMAT_SCHEDULE, reply__read_schedule,
     "no schedule in the reply; write lines such as `Y: r@p j/v@u j@v` in one block that begins "
     "with ```schedule"},
    {AGENT_FORMAT_LIST, reply__read_list, "no JSON in the reply; write {\"items\": [...]}"},
    {AGENT_FORMAT_PICK, reply__read_pick,
     "no choice in the reply; write {\"pick\": NUMBER, \"reason\": \"...\"}"},
    {AGENT_FORMAT_OBJECT, reply__read_object, "no JSON object in the reply; write {...}"},
    {AGENT_FORMAT_TEXT, reply__read_text, "the reply is empty"},
};

enum { READERS = sizeof readers / sizeof *readers };

_Static_assert((int)READERS == (int)AGENT_FORMAT_COUNT, "a reader for every format");

static struct agent_reply
nothing(void)
{
    return (struct agent_reply){
        .text = "", .stage = "", .why = "", .name = "", .low = NAN, .high = NAN};
}

/* A whole file instead of edits or of a part is as good, where the role may give one at all. */
static unsigned
accepted(const struct agent_role *role, unsigned formats)
{
    const unsigned parts =
        1u << AGENT_FORMAT_EDITS | 1u << AGENT_FORMAT_STAGE | 1u << AGENT_FORMAT_FILL;
    unsigned narrowed = formats & role->returns.formats;
    if (narrowed == 0)
        narrowed = role->returns.formats;
    return narrowed | (narrowed & parts ? role->returns.formats & 1u << AGENT_FORMAT_FILE : 0);
}

static enum status
read_any(struct reply_reading *reading, struct agent_reply *reply, const char **reason)
{
    const char *broken = NULL, *missing = NULL;
    for (size_t i = 0; i < READERS; i++) {
        if (!(reading->formats & 1u << readers[i].format))
            continue;
        *reply = nothing();
        reply->format = readers[i].format;
        enum reply_found found = readers[i].read(reading, reply);
        if (found == REPLY_FOUND)
            return STATUS_OK;
        if (found == REPLY_BROKEN && broken == NULL)
            broken = reading->reason;
        if (missing == NULL)
            missing = readers[i].missing;
    }
    *reply = nothing();
    *reason = broken != NULL ? broken : missing;
    return STATUS_NO;
}

enum status
agent_parse(struct arena *arena, const char *text, size_t length, const struct agent_role *role,
            unsigned formats, struct agent_reply *reply, const char **reason)
{
    struct reply_reading reading = {
        .arena = arena, .role = role, .formats = accepted(role, formats)};
    *reply = nothing();
    *reason = "";
    if (!reply__open(&reading, text, length)) {
        *reason = reading.reason;
        return STATUS_NO;
    }
    enum status status = read_any(&reading, reply, reason);
    if (status == STATUS_OK && *reply->name == '\0')
        reply->name = title_of(arena, reply->why);
    if (status == STATUS_OK && isnan(reply->low))
        find_gain(arena, reply->why, reply);
    return status;
}
