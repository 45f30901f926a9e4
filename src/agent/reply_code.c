/* Code in a reply: a whole file, a filled one, a stage, a program. The last complete block that is
 * one counts, since models write drafts first and remarks about building last. */
#include "agent/reply_int.h"

#include "base/text.h"

#include <ctype.h>
#include <string.h>

#define ENTRY "kernel"

enum { MOST_TRIES = 16 }; /* functions that are looked for by their name */

typedef bool
block_test(const struct reply_block *block);

static const struct reply_block *
last_block(const struct reply_reading *reading, block_test *fits, bool closed)
{
    for (size_t i = reading->block_count; i > 0; i--)
        if (reading->blocks[i - 1].closed == closed && fits(&reading->blocks[i - 1]))
            return &reading->blocks[i - 1];
    return NULL;
}

static size_t
count_lines(const char *text)
{
    struct reply_line line = {.next = text};
    size_t count = 0;
    while (reply__next_line(&line))
        count++;
    return count;
}

/* ---- what a block may be ---- */

static bool
is_c(const struct reply_block *block)
{
    static const char *const names[] = {"c", "cc", "cpp", "c++", "h", "cxx"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (reply__info_has(block, names[i]))
            return true;
    return false;
}

static bool
has_kernel(const struct reply_block *block)
{
    return agent__defines(block->text, strlen(block->text), ENTRY);
}

static bool
has_mark(const struct reply_block *block)
{
    struct reply_line line = {.next = block->text};
    while (reply__next_line(&line))
        if (agent__is_mark(&line, AGENT__IMPROVE))
            return true;
    return false;
}

static bool
starts_line(const char *text, const char *word)
{
    struct reply_line line = {.next = text};
    while (reply__next_line(&line))
        if (text_starts(line.start + strspn(line.start, " \t"), word))
            return true;
    return false;
}

static bool
is_program(const struct reply_block *block)
{
    return reply__info_has(block, "op") ||
           (*block->info == '\0' && starts_line(block->text, "out ") &&
            starts_line(block->text, "in "));
}

/* ---- code without fences ---- */

static bool
begins_code(const struct reply_line *line)
{
    static const char *const beginnings[] = {"#include", "#define", "#if",      "#pragma", "//!",
                                             "/*",       "static ", "typedef ", "void ",   "void\n",
                                             "const ",   "enum ",   "struct "};
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (text_starts(line->start, beginnings[i]))
            return true;
    return false;
}

static bool
ends_code(const struct reply_line *line)
{
    return line->start[0] == '}' || text_starts(line->start, "#endif") ||
           text_starts(line->start, "//! end");
}

static bool
begins_program(const struct reply_line *line)
{
    return text_starts(line->start, "op ") || text_starts(line->start, "in ") ||
           text_starts(line->start, "dim ") || text_starts(line->start, "const ");
}

static bool
ends_program(const struct reply_line *line)
{
    return text_starts(line->start, "out ") || text_starts(line->start, "case ");
}

typedef bool
line_test(const struct reply_line *line);

/* From the first line that begins it to the last one that ends it; a block of the whole text,
 * without fences. False: there is none. */
static bool
find_bare(const struct reply_reading *reading, line_test *begins, line_test *ends,
          struct reply_block *block)
{
    struct reply_line line = {.next = reading->text};
    const char *start = NULL, *end = NULL;
    while (reply__next_line(&line)) {
        if (start == NULL && begins(&line))
            start = line.start;
        if (start != NULL && ends(&line))
            end = line.next;
    }
    if (start == NULL || end == NULL)
        return false;
    *block = (struct reply_block){
        .info = "",
        .text = arena_strndup(reading->arena, start, (size_t)(end - start)),
        .start = (size_t)(start - reading->text),
        .end = (size_t)(end - reading->text),
        .closed = true,
    };
    return true;
}

/* ---- a whole file ---- */

/* The block of this file, or NULL: ```c helpers.h */
static const struct reply_block *
file_named(const struct reply_reading *reading, const char *name)
{
    for (size_t i = reading->block_count; i > 0; i--)
        if (reading->blocks[i - 1].closed && reply__info_has(&reading->blocks[i - 1], name))
            return &reading->blocks[i - 1];
    return NULL;
}

/* The name in #include "NAME", or NULL. */
static const char *
included(struct arena *arena, const struct reply_line *line)
{
    const char *at = line->start + strspn(line->start, " \t");
    if (*at != '#')
        return NULL;
    at += 1 + strspn(at + 1, " \t");
    if (!text_starts(at, "include"))
        return NULL;
    at += strlen("include");
    at += strspn(at, " \t");
    size_t length = *at == '"' ? strcspn(at + 1, "\"\n") : 0;
    return length > 0 && at[1 + length] == '"' ? arena_strndup(arena, at + 1, length) : NULL;
}

/* A kernel is one file: others that the reply holds stand where they are included. */
static const char *
join_files(const struct reply_reading *reading, const struct reply_block *block)
{
    struct buf buf = buf_in(reading->arena);
    struct reply_line line = {.next = block->text};
    while (reply__next_line(&line)) {
        const char *name = included(reading->arena, &line);
        const struct reply_block *other = name != NULL ? file_named(reading, name) : NULL;
        if (other != NULL && other != block)
            buf_puts(&buf, other->text);
        else
            buf_printf(&buf, "%.*s\n", (int)line.length, line.start);
    }
    return buf.data != NULL ? buf.data : "";
}

static enum reply_found
give(const struct reply_reading *reading, const struct reply_block *block,
     struct agent_reply *reply)
{
    reply->text = join_files(reading, block);
    reply->why = reply__prose(reading, block->start, block->end);
    return REPLY_FOUND;
}

static enum reply_found
cut_short(struct reply_reading *reading, const struct reply_block *block)
{
    return reply__broken(
        reading,
        "the reply ends inside of the code, after %zu lines of it; say less before "
        "it and write it shorter",
        count_lines(block->text));
}

/* The last complete block that fits; then one that was not closed but is whole. */
static enum reply_found
read_block(struct reply_reading *reading, block_test *fits, struct agent_reply *reply)
{
    const struct reply_block *block = last_block(reading, fits, true);
    if (block != NULL)
        return give(reading, block, reply);
    block = last_block(reading, fits, false);
    if (block == NULL)
        return REPLY_NOTHING;
    return agent__balanced(block->text, strlen(block->text)) ? give(reading, block, reply)
                                                             : cut_short(reading, block);
}

enum reply_found
reply__read_file(struct reply_reading *reading, struct agent_reply *reply)
{
    enum reply_found found = read_block(reading, has_kernel, reply);
    const struct reply_block *cut = last_block(reading, is_c, false);
    struct reply_block bare;
    if (found != REPLY_NOTHING)
        return found;
    if (cut != NULL)
        return cut_short(reading, cut);
    if (last_block(reading, is_c, true) != NULL)
        return reply__broken(reading,
                             "the C in the reply defines no function `%s`; write the "
                             "whole file, with `void %s(...) {`",
                             ENTRY, ENTRY);
    if (!find_bare(reading, begins_code, ends_code, &bare) || !has_kernel(&bare))
        return REPLY_NOTHING;
    return give(reading, &bare, reply);
}

/* With the marks, or what stands between them alone. */
enum reply_found
reply__read_fill(struct reply_reading *reading, struct agent_reply *reply)
{
    struct reply_block bare;
    enum reply_found found = read_block(reading, has_mark, reply);
    if (found == REPLY_NOTHING)
        found = read_block(reading, is_c, reply);
    if (found != REPLY_NOTHING)
        return found;
    if (!find_bare(reading, begins_code, ends_code, &bare) || !has_mark(&bare))
        return REPLY_NOTHING;
    return give(reading, &bare, reply);
}

/* ---- a program ---- */

enum reply_found
reply__read_program(struct reply_reading *reading, struct agent_reply *reply)
{
    const struct reply_block *block = last_block(reading, is_program, true);
    struct reply_block bare;
    if (block == NULL && last_block(reading, is_program, false) != NULL) {
        block = last_block(reading, is_program, false);
        if (!starts_line(block->text, "out "))
            return cut_short(reading, block);
    }
    if (block == NULL && reading->block_count == 0 &&
        find_bare(reading, begins_program, ends_program, &bare))
        block = &bare;
    if (block == NULL)
        return REPLY_NOTHING;
    if (!starts_line(block->text, "out "))
        return reply__broken(reading, "the program has no line `out NAME`; write the whole .op "
                                      "text, with the inputs and outputs of the task");
    reply->text = block->text;
    reply->why = reply__prose(reading, block->start, block->end);
    return REPLY_FOUND;
}

/* ---- a stage ---- */

static size_t
name_length(const char *at)
{
    size_t length = 0;
    while (isalnum((unsigned char)at[length]) || at[length] == '_' || at[length] == '.')
        length++;
    return length;
}

/* Behind the word `stage`, if there is a name. */
static const char *
named_stage(struct arena *arena, const char *text, size_t length)
{
    const char *at = memmem(text, length, "stage ", 6);
    if (at == NULL)
        return NULL;
    at += 6;
    at += strspn(at, " ");
    size_t name = name_length(at);
    while (name > 0 && at[name - 1] == '.')
        name--;
    return name > 0 && at + name <= text + length ? arena_strndup(arena, at, name) : NULL;
}

/* ```c stage Y, or a first line //! stage Y, or a function stage_Y. NULL: it has no name. */
static const char *
stage_of(struct arena *arena, const struct reply_block *block)
{
    const char *name = named_stage(arena, block->info, strlen(block->info));
    const char *text = block->text + strspn(block->text, " \t\n");
    if (name == NULL && (text_starts(text, "//") || text_starts(text, "/*")))
        name = named_stage(arena, text, strcspn(text, "\n"));
    const char *at = text;
    for (int i = 0; i < MOST_TRIES && name == NULL && (at = strstr(at, "stage_")) != NULL; i++) {
        at += strlen("stage_");
        size_t length = name_length(at);
        const char *function = arena_strndup(arena, at - strlen("stage_"), 6 + length);
        if (length > 0 && agent__defines(text, strlen(text), function))
            name = function + strlen("stage_");
    }
    return name;
}

static bool
is_stage(const struct reply_block *block)
{
    return is_c(block) || reply__info_has(block, "stage") || *block->info == '\0';
}

enum reply_found
reply__read_stage(struct reply_reading *reading, struct agent_reply *reply)
{
    const struct reply_block *unnamed = NULL;
    for (size_t i = reading->block_count; i > 0; i--) {
        const struct reply_block *block = &reading->blocks[i - 1];
        if (!is_stage(block) || has_kernel(block))
            continue;
        const char *name = stage_of(reading->arena, block);
        if (name == NULL && unnamed == NULL)
            unnamed = block;
        if (name == NULL)
            continue;
        if (!block->closed && !agent__balanced(block->text, strlen(block->text)))
            return cut_short(reading, block);
        reply->text = block->text;
        reply->stage = name;
        reply->why = reply__prose(reading, block->start, block->end);
        return REPLY_FOUND;
    }
    if (unnamed == NULL || !is_c(unnamed))
        return REPLY_NOTHING;
    return reply__broken(reading, "the block does not say which stage it is; begin it with ```c "
                                  "stage NAME");
}
