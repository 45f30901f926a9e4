/* A program in somebody's reply. */
#include "lang/lang.h"

#include <string.h>

/* The inside of the last fence, else all of it. */
static const char *
unfenced(struct arena *arena, const char *reply)
{
    const char *begin = NULL, *end = NULL, *open = NULL;
    for (const char *at = reply; (at = strstr(at, "```")) != NULL; at += 3) {
        if (open == NULL) {
            open = strchrnul(at, '\n');
            continue;
        }
        if (at >= open) { /* else it closes on its own line: words, not a program */
            begin = open;
            end = at;
        }
        open = NULL;
    }
    if (begin == NULL)
        return reply;
    return arena_strndup(arena, begin, (size_t)(end - begin));
}

enum status
lang_draft(struct arena *arena, const char *reply, const char *path, const char **program,
           struct diags *diags)
{
    const char *text = unfenced(arena, reply);
    struct buf pretty = buf_in(arena);
    struct lang *lang = lang_parse(arena, path, text, strlen(text), diags);
    for (size_t i = 0; lang != NULL && i < lang_case_count(lang); i++)
        if (lang_program(lang, i, NULL, 0, diags) == NULL)
            return STATUS_INPUT;
    if (lang == NULL || lang_format(&pretty, path, text, strlen(text), diags) != STATUS_OK)
        return STATUS_INPUT;
    *program = pretty.data;
    return STATUS_OK;
}
