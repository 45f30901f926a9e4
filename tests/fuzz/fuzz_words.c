/* Words for a new task, and replies that should hold a program: whatever they are, there is a
 * program that can be read or a message. */
#include "lang/lang.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

/* Read once: it is always the same. */
static size_t
catalogue(struct lang_entry **entries)
{
    static struct arena *arena;
    static struct lang_entry *all;
    static size_t count;

    if (arena == NULL && (arena = arena_create()) != NULL)
        count = lang_catalogue(arena, &all);
    *entries = all;
    return count;
}

static void
try_words(struct arena *arena, const char *text)
{
    struct diags *diags = diags_create(arena, 0);
    struct lang_words words;
    struct lang_entry *entries;
    struct lang_match *matches;
    struct buf program = buf_in(arena);
    const char *unused;

    if (lang_read_words(arena, text, &words, diags) != STATUS_OK) {
        assert(diags_errors(diags) > 0);
        return;
    }
    size_t all = catalogue(&entries);
    size_t found = lang_rank(arena, &words, entries, all, &matches);
    if (found == 0)
        return;
    if (lang_instance(arena, &program, matches[0].entry, &words.wish, &unused, diags) == STATUS_OK)
        assert(lang_parse(arena, "x.op", program.data, program.length, diags) != NULL);
    else
        assert(diags_errors(diags) > 0);
}

static void
try_reply(struct arena *arena, const char *text)
{
    struct diags *diags = diags_create(arena, 0);
    const char *program;

    if (lang_draft(arena, text, "x.op", &program, diags) == STATUS_OK)
        assert(lang_parse(arena, "x.op", program, strlen(program), diags) != NULL);
    else
        assert(diags_errors(diags) > 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct arena *arena = arena_create();

    if (arena == NULL)
        abort();
    const char *text = arena_strndup(arena, (const char *)bytes, count);
    if (strstr(text, "in ") != NULL)
        try_reply(arena, text);
    else
        try_words(arena, text);
    arena_destroy(arena);
    return 0;
}
