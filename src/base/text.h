/* Small questions about strings. */
#ifndef HONE_BASE_TEXT_H
#define HONE_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The candidate closest to `word` by edit distance, if close enough to be a typing error, else
 * NULL: for "did you mean". */
const char *
text_nearest(const char *word, const char *const *candidates, size_t count);

/* A whole decimal integer, nothing else. */
bool
text_integer(const char *text, int64_t *value);

/* A time in seconds: "90", "90s", "2m", "1.5h"; positive, at most 1e9. */
bool
text_seconds(const char *text, double *seconds);

bool
text_starts(const char *text, const char *prefix);
bool
text_ends(const char *text, const char *suffix);

/* Cuts blanks off both ends, in place. */
char *
text_trim(char *text);

/* Makes text of unknown origin fit to be shown, in place: control characters but newline and tab,
 * and bytes that are not UTF-8, become '?'. */
char *
text_printable(char *text);

/* The same for text that may hold zero bytes, which become '?' too; and every kind of line end
 * becomes a newline. text[length] is overwritten. How long it is then. */
size_t
text_clean(char *text, size_t length);

/* The next `key = value` line of a text, cut up in place; comments run from '#' to the end of a
 * line, lines without '=' are passed over. *next moves on; false: there is none left. */
bool
text_next_setting(char **next, char **key, char **value);

#endif
