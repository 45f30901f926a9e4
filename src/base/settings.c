#include "base/settings.h"

#include "base/text.h"

#include <string.h>

enum { MOST_SECTIONS = 1000, MOST_SETTINGS = 1000 };

struct reader {
    struct arena *arena;
    const struct source *source;
    struct settings *settings;
    struct diags *diags;
    uint32_t line;
    bool unique, failed;
    struct setting *last; /* which a line that begins with blanks continues */
};

static struct place
place_at(const struct reader *reader, size_t column)
{
    return (struct place){reader->source, reader->line, (uint32_t)column + 1};
}

static void
complain(struct reader *reader, struct place place, const char *message)
{
    diags_add(reader->diags, DIAG_ERROR, place, "%s", message);
    reader->failed = true;
}

static void
add_section(struct reader *reader, const char *kind, const char *name, struct place place)
{
    struct settings *settings = reader->settings;
    for (size_t i = 1; reader->unique && i < settings->count; i++)
        if (!strcmp(settings->sections[i].kind, kind) && !strcmp(settings->sections[i].name, name))
            complain(reader, place, "this section is there twice; put its lines together");
    if (settings->count > MOST_SECTIONS) {
        complain(reader, place, "more than 1000 sections");
        return;
    }
    settings->sections = arena_grow(reader->arena, settings->sections, settings->count,
                                    settings->count + 1, sizeof *settings->sections);
    settings->sections[settings->count++] =
        (struct settings_section){.kind = kind, .name = name, .place = place};
    reader->last = NULL;
}

/* "[kind name]" */
static void
read_section(struct reader *reader, char *line)
{
    size_t length = strlen(line);
    struct place place = place_at(reader, 0);
    if (length < 2 || line[length - 1] != ']') {
        complain(reader, place, "the section has no end; write [kind name]");
        return;
    }
    line[length - 1] = '\0';
    char *kind = text_trim(line + 1), *name = kind + strcspn(kind, " \t");
    if (*name != '\0')
        *name++ = '\0';
    name = text_trim(name);
    if (*kind == '\0' || strpbrk(kind, "[]") || strpbrk(name, "[]"))
        complain(reader, place, "no name of a section; write [kind name]");
    else
        add_section(reader, kind, name, place);
}

static void
add_setting(struct reader *reader, struct setting setting)
{
    struct settings_section *section = &reader->settings->sections[reader->settings->count - 1];
    const struct setting *before = settings_get(section, setting.key);
    if (before != NULL) {
        diags_add(reader->diags, DIAG_ERROR, setting.place,
                  "%s is given twice, first in line %u; write it once", setting.key,
                  before->place.line);
        reader->failed = true;
    }
    if (section->count >= MOST_SETTINGS) {
        complain(reader, setting.place, "more than 1000 settings in a section");
        return;
    }
    section->settings = arena_grow(reader->arena, section->settings, section->count,
                                   section->count + 1, sizeof *section->settings);
    section->settings[section->count] = setting;
    reader->last = &section->settings[section->count++];
}

/* "key = value" */
static void
read_setting(struct reader *reader, char *line)
{
    char *equals = strchr(line, '=');
    if (equals == NULL) {
        complain(reader, place_at(reader, 0),
                 "no setting; write key = value, or # before a remark");
        return;
    }
    *equals = '\0';
    char *value = equals + 1 + strspn(equals + 1, " \t");
    struct setting setting = {.key = text_trim(line),
                              .value = text_trim(value),
                              .place = place_at(reader, 0),
                              .at = place_at(reader, (size_t)(value - line))};
    if (*setting.key == '\0' || strpbrk(setting.key, " \t[]"))
        complain(reader, setting.place, "no name before the =; write key = value");
    else
        add_setting(reader, setting);
}

static void
continue_setting(struct reader *reader, char *line)
{
    char *more = text_trim(line);
    if (reader->last == NULL)
        complain(reader, place_at(reader, (size_t)(more - line)),
                 "a line that begins with blanks continues one above; there is none");
    else
        reader->last->value = arena_printf(reader->arena, "%s%s%s", reader->last->value,
                                           *reader->last->value ? " " : "", more);
}

static void
read_line(struct reader *reader, char *line)
{
    line[strcspn(line, "#")] = '\0';
    size_t length = strlen(line);
    while (length > 0 && strchr(" \t\r", line[length - 1]))
        line[--length] = '\0';
    if (length == 0)
        return;
    if (line[0] == ' ' || line[0] == '\t')
        continue_setting(reader, line);
    else if (line[0] == '[')
        read_section(reader, line);
    else
        read_setting(reader, line);
}

enum status
settings_parse(struct arena *arena, const struct source *source, bool unique,
               struct settings *settings, struct diags *diags)
{
    struct reader reader = {
        .arena = arena, .source = source, .settings = settings, .diags = diags, .unique = unique};
    *settings = (struct settings){0};
    add_section(&reader, "", "", (struct place){source, 1, 0});
    if (memchr(source->text, '\0', source->length) != NULL) {
        complain(&reader, (struct place){source, 0, 0}, "is no text: it has zero bytes");
        return STATUS_INPUT;
    }
    char *next = arena_strndup(arena, source->text, source->length);
    for (char *line; (line = strsep(&next, "\n")) != NULL;) {
        reader.line++;
        read_line(&reader, line);
    }
    return reader.failed ? STATUS_INPUT : STATUS_OK;
}

const struct setting *
settings_get(const struct settings_section *section, const char *key)
{
    for (size_t i = 0; i < section->count; i++)
        if (!strcmp(section->settings[i].key, key))
            return &section->settings[i];
    return NULL;
}

enum status
settings_unknown(struct diags *diags, struct place place, const char *word, const char *what,
                 const char *const *words, size_t count)
{
    const char *near = text_nearest(word, words, count);
    if (near != NULL)
        diags_add(diags, DIAG_ERROR, place, "%s: no such %s; did you mean %s?", word, what, near);
    else
        diags_add(diags, DIAG_ERROR, place, "%s: no such %s", word, what);
    return STATUS_INPUT;
}
