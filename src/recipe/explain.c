/* What each line of a recipe does, and what may be written: both from the table of keys. */
#include "recipe/recipe_int.h"

#include <string.h>

enum { INDENT = 8, WIDTH = 96 };

/* ---- words ---- */

/* The words of a phrase with what was written in place of its signs. */
static void
put_filled(struct buf *buf, const char *words, const char *const values[2])
{
    size_t number = 0;
    for (; *words != '\0'; words++)
        if ((*words == '#' || *words == '@') && number < 2 && values[number] != NULL)
            buf_puts(buf, values[number++]);
        else
            buf_putc(buf, *words);
}

static void
put_phrases(struct buf *buf, struct arena *arena, const struct key *key, const char *value)
{
    const char *separator = ": ";
    char *next = arena_strdup(arena, value);
    const char *values[2] = {NULL, NULL};
    const struct phrase *whole = recipe__match(arena, key->phrases, value, values);
    if (whole != NULL) {
        buf_puts(buf, separator);
        put_filled(buf, whole->words, values);
        return;
    }
    for (char *item; (item = recipe__next_item(&next)) != NULL;) {
        const char *parts[2] = {NULL, NULL};
        const struct phrase *phrase = recipe__match(arena, key->phrases, item, parts);
        buf_puts(buf, separator);
        if (phrase != NULL)
            put_filled(buf, phrase->words, parts);
        else
            buf_puts(buf, item);
        separator = "; ";
    }
}

/* ": planner: proposes what to change" */
static void
put_role(struct buf *buf, const char *name)
{
    for (unsigned i = 0; i < AGENT_KIND_COUNT; i++) {
        size_t length = strlen(agent_role_name[i].name);
        if (!strncmp(agent_role_name[i].name, name, length) &&
            (name[length] == '\0' || name[length] == ' '))
            buf_puts(buf, agent_role_name[i].words);
    }
}

static void
put_setting(struct buf *buf, struct arena *arena, const struct key *key, const char *value)
{
    buf_puts(buf, key->words);
    if (key->how == KEY_NUMBER)
        buf_printf(buf, ": %s", value);
    else if (key->phrases != NULL)
        put_phrases(buf, arena, key, value);
}

/* ---- lines ---- */

/* Indented, no line longer than WIDTH where it has blanks. */
static void
put_wrapped(struct buf *buf, const char *text)
{
    size_t column = 0;
    while (*text != '\0') {
        size_t length = strcspn(text, " ");
        if (column > 0 && column + 1 + length > WIDTH) {
            buf_putc(buf, '\n');
            column = 0;
        }
        if (column == 0) {
            buf_printf(buf, "%*s", INDENT, "");
            column = INDENT;
        } else {
            buf_putc(buf, ' ');
            column++;
        }
        buf_add(buf, text, length);
        column += length;
        text += length + strspn(text + length, " ");
    }
    buf_putc(buf, '\n');
}

/* What stands in each line of the file, in words. */
struct notes {
    const char **words; /* by line, from 1; NULL: nothing to say */
    size_t lines;
};

static void
note(struct notes *notes, uint32_t line, const char *words)
{
    if (line <= notes->lines)
        notes->words[line] = words;
}

/* What stands before the first section belongs to the file or to the only phase. */
static const struct key *
key_of(const struct settings_section *section, const char *name)
{
    for (unsigned i = 0; i < KEY_SECTION_COUNT; i++)
        if (!strcmp(recipe__section_name[i], section->kind)) {
            const struct key *key = recipe__key(i, name);
            return key != NULL || i != KEY_OF_FILE ? key : recipe__key(KEY_OF_PHASE, name);
        }
    return NULL;
}

static void
note_section(struct notes *notes, struct arena *arena, const struct settings_section *section)
{
    struct buf role = buf_in(arena);
    put_role(&role, section->name);
    if (!strcmp(section->kind, recipe__section_name[KEY_OF_ROLE]) && role.length > 0)
        note(notes, section->place.line, role.data);
    for (size_t i = 0; i < section->count; i++) {
        const struct setting *setting = &section->settings[i];
        const struct key *key = key_of(section, setting->key);
        struct buf words = buf_in(arena);
        if (key == NULL)
            continue;
        put_setting(&words, arena, key, setting->value);
        note(notes, setting->place.line, words.data);
    }
}

static size_t
count_lines(const char *text)
{
    size_t count = 1;
    for (; (text = strchr(text, '\n')) != NULL; text++)
        count++;
    return count;
}

/* A line that begins with blanks belongs to the one above: words stand behind both. */
static bool
is_continued(const char *next)
{
    return next != NULL && (*next == ' ' || *next == '\t');
}

void
recipe_explain(struct buf *buf, struct arena *arena, const struct recipe *recipe)
{
    struct settings settings;
    struct source source = {recipe->file, recipe->text, strlen(recipe->text)};
    struct notes notes = {.lines = count_lines(recipe->text)};
    const char *pending = NULL;
    char *next = arena_strdup(arena, recipe->text);
    size_t number = 0;
    notes.words = arena_array(arena, notes.lines + 1, sizeof *notes.words);
    if (settings_parse(arena, &source, false, &settings, diags_create(arena, 0)) == STATUS_OK)
        for (size_t i = 0; i < settings.count; i++)
            note_section(&notes, arena, &settings.sections[i]);
    for (char *line; (line = strsep(&next, "\n")) != NULL && (next != NULL || *line != '\0');) {
        if (notes.words[++number] != NULL)
            pending = notes.words[number];
        buf_printf(buf, "%s\n", line);
        if (pending != NULL && !is_continued(next)) {
            put_wrapped(buf, pending);
            pending = NULL;
        }
    }
}

/* ---- what may be written ---- */

/* A cell of a table in Markdown: its bars are escaped. */
static void
put_cell(struct buf *buf, const char *text)
{
    for (; *text != '\0'; text++) {
        buf_puts(buf, *text == '|' ? "\\" : "");
        buf_putc(buf, *text);
    }
}

static void
put_title(struct buf *buf, const char *what, const char *words)
{
    buf_printf(buf, "\n| %s | %s |\n|---|---|\n", what, words);
}

static void
put_row(struct buf *buf, const char *name, const char *words)
{
    buf_printf(buf, "| `%s` | %s |\n", name, words);
}

/* The words that values are made of. */
static void
put_vocabulary(struct buf *buf)
{
    put_title(buf, "topology", "how it goes on");
    for (unsigned i = 0; i < SEARCH_TOPOLOGY_COUNT; i++)
        put_row(buf, search_topology_name[i].name, search_topology_name[i].words);
    put_title(buf, "select", "its number");
    for (unsigned i = 0; i < SEARCH_SELECT_COUNT; i++)
        put_row(buf, search_select_name[i].name, search_select_name[i].words);
    put_title(buf, "role", "what it does");
    for (unsigned i = 0; i < AGENT_KIND_COUNT; i++)
        put_row(buf, agent_role_name[i].name, agent_role_name[i].words);
    put_title(buf, "section", "what it holds");
    for (unsigned i = 0; i < AGENT_SECTION_COUNT; i++)
        put_row(buf, agent_section_info[i].name, agent_section_info[i].words);
    put_title(buf, "format", "what is returned");
    for (unsigned i = 0; i < AGENT_FORMAT_COUNT; i++)
        put_row(buf, agent_format_name[i].name, agent_format_name[i].words);
    put_title(buf, "memory", "what it holds");
    for (unsigned i = 0; i < RECIPE_MEMORY_COUNT; i++)
        put_row(buf, recipe_memory_info[i].name, recipe_memory_info[i].words);
    put_title(buf, "figure", "what it means");
#define X(id, name, unit, shown, meaning) put_row(buf, name, meaning);
    PROFILE_FIGURES(X)
#undef X
}

void
recipe_put_keys(struct buf *buf)
{
    static const char *const titles[KEY_SECTION_COUNT] = {"the file", "[phase NAME]", "[role NAME]",
                                                          "[budget]"};
    buf_puts(buf, "| where | key | value | what it does | without it |\n|---|---|---|---|---|\n");
    for (const struct key *key = recipe__keys; key->name != NULL; key++) {
        buf_printf(buf, "| %s | `%s` | `", titles[key->section], key->name);
        put_cell(buf, key->form);
        buf_printf(buf, "` | %s | ", key->words);
        put_cell(buf, key->preset != NULL ? key->preset : "");
        buf_puts(buf, " |\n");
    }
    put_vocabulary(buf);
}
