#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_WORD = 63 };

static int
lower(char c)
{
    return tolower((unsigned char)c);
}

static size_t
least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Insertions, deletions, replacements and swaps of neighbours that turn a into b, whatever the
 * case. Both have at most LONGEST_WORD bytes. */
static size_t
edit_distance(const char *a, const char *b)
{
    size_t rows[3][LONGEST_WORD + 1];
    size_t *older = rows[0], *old = rows[1], *row = rows[2], *spare;
    size_t m = strlen(a), n = strlen(b);

    for (size_t j = 0; j <= n; j++)
        old[j] = j;
    for (size_t i = 1; i <= m; i++) {
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            row[j] = least(old[j] + 1, row[j - 1] + 1);
            row[j] = least(row[j], old[j - 1] + (lower(a[i - 1]) != lower(b[j - 1])));
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                lower(a[i - 2]) == lower(b[j - 1]))
                row[j] = least(row[j], older[j - 2] + 1);
        }
        spare = older;
        older = old;
        old = row;
        row = spare;
    }
    return old[n];
}

const char *
text_nearest(const char *word, const char *const *candidates, size_t count)
{
    size_t length = strlen(word);
    size_t best_distance = (length + 1) / 3 + 1; /* one mistake in three letters is still a typo */
    const char *best = NULL;

    if (length > LONGEST_WORD)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        size_t distance;

        if (strlen(candidates[i]) > LONGEST_WORD)
            continue;
        distance = edit_distance(word, candidates[i]);
        if (distance < best_distance && distance < strlen(candidates[i])) {
            best_distance = distance;
            best = candidates[i];
        }
    }
    return best;
}

bool
text_integer(const char *text, int64_t *value)
{
    const char *digits = text + (*text == '-');
    char *end;
    long long number;

    if (!isdigit((unsigned char)*digits))
        return false;
    errno = 0;
    number = strtoll(text, &end, 10);
    if (errno != 0 || *end != '\0')
        return false;
    *value = number;
    return true;
}

bool
text_seconds(const char *text, double *seconds)
{
    char *end;
    double value = strtod(text, &end);
    double unit = strcmp(end, "m") == 0 ? 60 : strcmp(end, "h") == 0 ? 3600 : 1;

    if (end == text || !(value > 0) || value * unit > 1e9 ||
        (*end && unit == 1 && strcmp(end, "s") != 0))
        return false;
    *seconds = value * unit;
    return true;
}

bool
text_starts(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool
text_ends(const char *text, const char *suffix)
{
    size_t length = strlen(text), tail = strlen(suffix);

    return length >= tail && strcmp(text + length - tail, suffix) == 0;
}

char *
text_trim(char *text)
{
    text += strspn(text, " \t");
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t\r", text[length - 1]))
        text[--length] = '\0';
    return text;
}

/* Bytes of the UTF-8 sequence that begins here, 0 if it is none. */
static size_t
sequence(const unsigned char *at)
{
    size_t length = at[0] < 0x80                     ? 1
                    : at[0] >= 0xc2 && at[0] <= 0xdf ? 2
                    : (at[0] & 0xf0) == 0xe0         ? 3
                    : at[0] >= 0xf0 && at[0] <= 0xf4 ? 4
                                                     : 0;

    for (size_t i = 1; i < length; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) ||
        (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f) ||
        (at[0] == 0xc2 && at[1] < 0xa0)) /* overlong, surrogates, beyond, control */
        return 0;
    return length;
}

char *
text_printable(char *text)
{
    unsigned char *at = (unsigned char *)text;

    while (*at) {
        size_t length = sequence(at);
        if (length == 0 || (length == 1 && (*at < 32 || *at == 127) && *at != '\n' && *at != '\t'))
            *at = '?';
        at += length ? length : 1;
    }
    return text;
}

size_t
text_clean(char *text, size_t length)
{
    size_t kept = 0;

    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\r' && i + 1 < length && text[i + 1] == '\n')
            continue;
        text[kept++] = text[i] == '\0' ? '?' : text[i] == '\r' ? '\n' : text[i];
    }
    text[kept] = '\0';
    text_printable(text);
    return kept;
}

bool
text_next_setting(char **next, char **key, char **value)
{
    for (char *line; (line = strsep(next, "\n")) != NULL;) {
        line[strcspn(line, "#")] = '\0';
        char *equals = strchr(line, '=');
        if (equals == NULL)
            continue;
        *equals = '\0';
        *key = text_trim(line);
        *value = text_trim(equals + 1);
        return true;
    }
    return false;
}
