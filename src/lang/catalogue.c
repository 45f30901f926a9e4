/* The library and the examples as a list: each operator with its comment and its text. */
#include "lang/ast_int.h"
#include "lang/library_int.h"

#include <stdlib.h>
#include <string.h>

struct catalogue {
    struct arena *arena;
    struct lang_entry *items;
    size_t count, capacity;
};

static void
add_entry(struct catalogue *catalogue, const struct lang_entry *entry)
{
    if (catalogue->count == catalogue->capacity) {
        size_t capacity = catalogue->capacity ? 2 * catalogue->capacity : 256;
        catalogue->items = arena_grow(catalogue->arena, catalogue->items, catalogue->count,
                                      capacity, sizeof *catalogue->items);
        catalogue->capacity = capacity;
    }
    catalogue->items[catalogue->count++] = *entry;
}

/* ---- pieces of a file ---- */

struct piece { /* an operator or a def */
    const char *name;
    enum lang_entry_kind kind;
    uint32_t line;           /* where it begins, from 1 */
    const char *begin, *end; /* with its comment */
};

static const char *
line_at(const char *text, uint32_t line)
{
    for (; line > 1 && *text; line--) {
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    return text;
}

/* The lines of comment right above. */
static const char *
with_comment(const char *text, const char *begin)
{
    while (begin > text) {
        const char *above = begin - 1;
        while (above > text && above[-1] != '\n')
            above--;
        if (*above != '#')
            break;
        begin = above;
    }
    return begin;
}

static int
by_line(const void *a, const void *b)
{
    uint32_t left = ((const struct piece *)a)->line, right = ((const struct piece *)b)->line;
    return left < right ? -1 : left > right;
}

static size_t
split_file(struct arena *arena, const struct unit *unit, const char *text, struct piece **pieces)
{
    size_t count = 0;
    struct piece *items = arena_array(arena, unit->operator_count + unit->def_count, sizeof *items);
    for (size_t i = 0; i < unit->operator_count; i++)
        items[count++] = (struct piece){.name = unit->operators[i].name,
                                        .kind = LANG_OPERATOR,
                                        .line = unit->operators[i].place.line};
    for (size_t i = 0; i < unit->def_count; i++)
        items[count++] = (struct piece){.name = unit->defs[i].name,
                                        .kind = LANG_FUNCTION,
                                        .line = unit->defs[i].statement->place.line};
    qsort(items, count, sizeof *items, by_line);
    for (size_t i = 0; i < count; i++)
        items[i].begin = with_comment(text, line_at(text, items[i].line));
    for (size_t i = 0; i < count; i++)
        items[i].end = i + 1 < count ? items[i + 1].begin : text + strlen(text);
    *pieces = items;
    return count;
}

/* ---- comments ---- */

/* All that stands behind a '#'. */
static const char *
comments_of(struct arena *arena, const char *begin, const char *end)
{
    struct buf buf = buf_in(arena);
    for (const char *at = begin; at < end;) {
        const char *stop = at + strcspn(at, "\n");
        const char *sign = memchr(at, '#', (size_t)(stop - at));
        if (sign != NULL) {
            sign += 1 + strspn(sign + 1, " ");
            buf_printf(&buf, "%s%.*s", buf.length ? " " : "", (int)(stop - sign), sign);
        }
        at = stop + (*stop == '\n');
    }
    return buf.length ? buf.data : "";
}

static const char *
trimmed(struct arena *arena, const char *begin, const char *end)
{
    while (end > begin && (end[-1] == '\n' || end[-1] == ' '))
        end--;
    return arena_printf(arena, "%.*s\n", (int)(end - begin), begin);
}

/* ---- files ---- */

static struct unit *
parse_file(struct arena *arena, const struct library_file *file)
{
    struct source *source = arena_alloc(arena, sizeof *source);
    *source = (struct source){file->path, file->text, strlen(file->text)};
    return parse(arena, names_create(arena), source, diags_create(arena, 1));
}

static void
add_library_file(struct catalogue *catalogue, const struct library_file *file)
{
    struct arena *arena = catalogue->arena;
    struct piece *pieces;
    size_t count = split_file(arena, parse_file(arena, file), file->text, &pieces);
    for (size_t i = 0; i < count; i++)
        add_entry(catalogue,
                  &(struct lang_entry){pieces[i].kind, file->path, pieces[i].name,
                                       comments_of(arena, pieces[i].begin, pieces[i].end),
                                       trimmed(arena, pieces[i].begin, pieces[i].end)});
}

/* An example is all of its file. */
static void
add_example(struct catalogue *catalogue, const struct library_file *file)
{
    struct arena *arena = catalogue->arena;
    const struct unit *unit = parse_file(arena, file);
    const char *end = file->text + strlen(file->text);
    if (unit->operator_count > 0)
        add_entry(catalogue, &(struct lang_entry){LANG_EXAMPLE, file->path,
                                                  unit->operators[unit->operator_count - 1].name,
                                                  comments_of(arena, file->text, end), file->text});
}

size_t
lang_catalogue(struct arena *arena, struct lang_entry **entries)
{
    struct catalogue catalogue = {.arena = arena};
    for (const struct library_file *file = library_files; file->path != NULL; file++)
        add_library_file(&catalogue, file);
    for (const struct library_file *file = example_files; file->path != NULL; file++)
        add_example(&catalogue, file);
    *entries = catalogue.items;
    return catalogue.count;
}
