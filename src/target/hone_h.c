/* hone.h as a text (generated from header/hone.h), whole or in the sections that a kernel needs. A
 * section begins with a line `//@ name: the sections it needs`; a function is where a line begins
 * with its name. What stands above the first section, and the last one, are only for the file. */
#include "target/target_int.h"

#include <assert.h>
#include <string.h>

#define MARK "//@ "
#define MOST_SECTIONS 128

struct section {
    const char *name, *needs; /* in the line; a colon ends the name, a newline the needs */
    const char *text;
    size_t length;
};

/* The first mark at or behind `at`, or NULL. A kernel asks for many functions: the header is
 * searched with its length known, since a search up to a NUL walks to it each time under a
 * sanitizer. */
static const char *
next_mark(const char *at, const char *end)
{
    return memmem(at, (size_t)(end - at), MARK, strlen(MARK));
}

static size_t
read_sections(struct section *sections)
{
    const char *end = target__hone_h + strlen(target__hone_h);
    size_t count = 0;

    for (const char *mark = next_mark(target__hone_h, end); mark != NULL; count++) {
        struct section *section = &sections[count];
        assert(count < MOST_SECTIONS);
        section->name = mark + strlen(MARK);
        section->needs = strchr(section->name, ':') + 1;
        section->text = strchr(section->needs, '\n') + 1;
        mark = next_mark(section->text, end);
        section->length = (size_t)((mark ? mark : end) - section->text);
    }
    return count;
}

/* ---- finding ---- */

/* Where in the sections a line begins with the name and a bracket, or NULL. */
static const char *
definition(const char *name)
{
    const char *end = target__hone_h + strlen(target__hone_h);
    const char *at = next_mark(target__hone_h, end);
    size_t length = strlen(name);

    while ((at = memmem(at, (size_t)(end - at), name, length)) != NULL &&
           (at[-1] != '\n' || at[length] != '('))
        at++;
    return at;
}

/* Its number, or count. */
static size_t
section_of(const struct section *sections, size_t count, const char *function)
{
    const char *place = definition(function);
    size_t i = 0;

    if (place == NULL)
        return count;
    while (place >= sections[i].text + sections[i].length)
        i++;
    return i;
}

static size_t
section_named(const struct section *sections, size_t count, const char *name, size_t length)
{
    size_t i = 0;

    while (i < count &&
           (strncmp(sections[i].name, name, length) != 0 || sections[i].name[length] != ':'))
        i++;
    return i;
}

/* ---- asking ---- */

bool
target_hone_has(const char *name)
{
    return *name && definition(name) != NULL;
}

static void
want(const struct section *sections, size_t count, size_t number, bool *wanted)
{
    assert(number < count);
    if (wanted[number])
        return;
    wanted[number] = true;
    for (const char *at = sections[number].needs; *at != '\n';) {
        size_t length = strcspn(at, " \n");
        if (length > 0)
            want(sections, count, section_named(sections, count, at, length), wanted);
        at += length + (at[length] == ' ');
    }
}

void
target_hone_text(struct buf *buf, const char *const *names, size_t count)
{
    struct section sections[MOST_SECTIONS];
    bool wanted[MOST_SECTIONS] = {false};
    size_t section_count = read_sections(sections);

    for (size_t i = 0; i < count; i++)
        want(sections, section_count, section_of(sections, section_count, names[i]), wanted);
    for (size_t i = 0; i < section_count; i++)
        if (wanted[i])
            buf_add(buf, sections[i].text, sections[i].length);
}
