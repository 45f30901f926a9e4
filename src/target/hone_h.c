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

/* The section at or behind `at`; false if there is none. */
static bool
next_section(const char *at, struct section *section)
{
    const char *mark = strstr(at, MARK), *end;

    if (!mark)
        return false;
    section->name = mark + strlen(MARK);
    section->needs = strchr(section->name, ':') + 1;
    section->text = strchr(section->needs, '\n') + 1;
    end = strstr(section->text, MARK);
    section->length = end ? (size_t)(end - section->text) : strlen(section->text);
    return true;
}

static size_t
read_sections(struct section *sections)
{
    size_t count = 0;

    for (const char *at = target__hone_h; next_section(at, &sections[count]); count++) {
        assert(count + 1 < MOST_SECTIONS);
        at = sections[count].text;
    }
    return count;
}

/* ---- finding ---- */

/* Does some line begin with the name and a bracket? */
static bool
defines(const struct section *section, const char *name)
{
    size_t length = strlen(name);
    const char *end = section->text + section->length;

    for (const char *line = section->text; line < end; line = strchr(line, '\n') + 1)
        if (!strncmp(line, name, length) && line[length] == '(')
            return true;
    return false;
}

/* Its number, or count. */
static size_t
section_of(const struct section *sections, size_t count, const char *function)
{
    size_t i = 0;

    while (i < count && !defines(&sections[i], function))
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
    struct section sections[MOST_SECTIONS];
    size_t count = read_sections(sections);

    return *name && section_of(sections, count, name) < count;
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
