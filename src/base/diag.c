#include "base/diag.h"

#include <stdarg.h>
#include <string.h>

enum {
    DEFAULT_MOST = 20,
    WIDEST = 100, /* bytes of a source line that are shown */
    BEFORE = 60,  /* of them, before the column of a far one */
};

struct diags {
    struct arena *arena;
    struct diag *kept; /* those of one source side by side, in order of position */
    size_t count, capacity, most;
    size_t seen[2]; /* of each level, kept or not */
};

struct diags *
diags_create(struct arena *arena, size_t most)
{
    struct diags *diags = arena_alloc(arena, sizeof *diags);

    diags->arena = arena;
    diags->most = most ? most : DEFAULT_MOST;
    return diags;
}

static bool
stands_before(struct place a, struct place b)
{
    return a.line != b.line ? a.line < b.line : a.column < b.column;
}

/* Where it belongs: in its source's group, behind those at the same place; a new source comes last.
 */
static size_t
slot_for(const struct diags *diags, struct place place)
{
    size_t slot = diags->count;

    while (slot > 0 && diags->kept[slot - 1].place.source != place.source)
        slot--;
    if (slot == 0)
        return diags->count;
    while (slot > 0 && diags->kept[slot - 1].place.source == place.source &&
           stands_before(place, diags->kept[slot - 1].place))
        slot--;
    return slot;
}

static void
insert(struct diags *diags, struct diag diag)
{
    size_t slot = slot_for(diags, diag.place);

    if (diags->count == diags->capacity) {
        size_t capacity = diags->capacity ? diags->capacity * 2 : 4;

        diags->kept =
            arena_grow(diags->arena, diags->kept, diags->count, capacity, sizeof *diags->kept);
        diags->capacity = capacity;
    }
    memmove(diags->kept + slot + 1, diags->kept + slot,
            (diags->count - slot) * sizeof *diags->kept);
    diags->kept[slot] = diag;
    diags->count++;
}

void
diags_add(struct diags *diags, enum diag_level level, struct place place, const char *format, ...)
{
    va_list args;
    char *message;
    int length;

    if (diags->seen[level]++ >= diags->most)
        return;
    va_start(args, format);
    length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    message = arena_alloc(diags->arena, (length < 0 ? 0 : (size_t)length) + 1);
    va_start(args, format);
    vsnprintf(message, (length < 0 ? 0 : (size_t)length) + 1, format, args);
    va_end(args);
    insert(diags, (struct diag){.level = level, .place = place, .message = message});
}

size_t
diags_errors(const struct diags *diags)
{
    return diags->seen[DIAG_ERROR];
}

size_t
diags_count(const struct diags *diags)
{
    return diags->count;
}

const struct diag *
diags_get(const struct diags *diags, size_t number)
{
    return number < diags->count ? &diags->kept[number] : NULL;
}

static const char *
code(bool colour, const char *sequence)
{
    return colour ? sequence : "";
}

/* Files are not trusted with the terminal: their control characters are shown as '?'. */
static void
put_safely(FILE *stream, const char *text, size_t length, const char *allowed)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        bool control = c < 32 || c == 127;

        putc(control && !(c && strchr(allowed, c)) ? '?' : c, stream);
    }
}

static bool
continues_character(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80; /* UTF-8 */
}

/* The bytes of line number `line`, without its end. false if there is no such line. */
static bool
find_line(const struct source *source, uint32_t line, const char **start, size_t *length)
{
    const char *at = source->text, *end = source->text + source->length, *newline;

    for (uint32_t i = 1; i < line; i++) {
        newline = memchr(at, '\n', (size_t)(end - at));
        if (!newline)
            return false;
        at = newline + 1;
    }
    newline = memchr(at, '\n', (size_t)(end - at));
    *start = at;
    *length = (size_t)((newline ? newline : end) - at);
    if (*length > 0 && at[*length - 1] == '\r')
        --*length;
    return true;
}

static void
print_caret(FILE *stream, const char *line, size_t length, size_t before, bool colour)
{
    fputs("    ", stream);
    for (size_t i = 0; i < before; i++) {
        if (i < length && continues_character(line[i]))
            continue;
        putc(i < length && line[i] == '\t' ? '\t' : ' ', stream);
    }
    fprintf(stream, "%s^%s\n", code(colour, "\033[31m"), code(colour, "\033[0m"));
}

static void
print_line(FILE *stream, struct place place, bool colour)
{
    const char *line;
    size_t length, skipped = 0;

    if (!place.source->text || !find_line(place.source, place.line, &line, &length))
        return;
    if (place.column > WIDEST) {
        skipped = place.column - BEFORE < length ? place.column - BEFORE : length;
        while (skipped < length && continues_character(line[skipped]))
            skipped++;
    }
    line += skipped;
    length -= skipped;
    if (length > WIDEST) {
        length = WIDEST;
        while (length > 0 && continues_character(line[length]))
            length--;
    }
    fputs("    ", stream);
    put_safely(stream, line, length, "\t");
    putc('\n', stream);
    if (place.column > skipped && place.column - 1 - skipped <= length)
        print_caret(stream, line, length, place.column - 1 - skipped, colour);
}

static void
print_one(const struct diag *diag, FILE *stream, bool colour)
{
    struct place place = diag->place;

    if (place.source) {
        fputs(code(colour, "\033[1m"), stream);
        put_safely(stream, place.source->path, strlen(place.source->path), "");
        if (place.line > 0)
            fprintf(stream, ":%u", place.line);
        if (place.line > 0 && place.column > 0)
            fprintf(stream, ":%u", place.column);
        fprintf(stream, ":%s ", code(colour, "\033[0m"));
    }
    if (diag->level == DIAG_WARNING)
        fprintf(stream, "%swarning:%s ", code(colour, "\033[33m"), code(colour, "\033[0m"));
    put_safely(stream, diag->message, strlen(diag->message), "\n\t");
    putc('\n', stream);
    if (place.source && place.line > 0)
        print_line(stream, place, colour);
}

static void
print_rest(size_t seen, size_t most, const char *what, FILE *stream)
{
    if (seen > most)
        fprintf(stream, "and %zu more %s%s\n", seen - most, what, seen - most == 1 ? "" : "s");
}

void
diags_print(const struct diags *diags, FILE *stream, bool colour)
{
    for (size_t i = 0; i < diags->count; i++)
        print_one(&diags->kept[i], stream, colour);
    print_rest(diags->seen[DIAG_ERROR], diags->most, "error", stream);
    print_rest(diags->seen[DIAG_WARNING], diags->most, "warning", stream);
}
