/* Errors with positions: several mistakes are collected and reported in one go.
 *
 * A message says what is wrong and, after a semicolon, what to write instead. diags_print() shows
 *     file:line:col: message
 *         the source line
 *         ^
 */
#ifndef HONE_BASE_DIAG_H
#define HONE_BASE_DIAG_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct source {
    const char *path; /* as the caller named it */
    const char *text;
    size_t length;
};

struct place {
    const struct source *source; /* NULL: the message has no position */
    uint32_t line, column;       /* from 1; the column counts bytes; 0: the whole file */
};

enum diag_level { DIAG_ERROR, DIAG_WARNING };

struct diag {
    enum diag_level level;
    struct place place;
    const char *message;
};

struct diags;

/* At most `most` errors are kept (0: 20); later ones are counted only. */
struct diags *
diags_create(struct arena *arena, size_t most);

void
diags_add(struct diags *diags, enum diag_level level, struct place place, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

size_t
diags_errors(const struct diags *diags); /* how many errors, kept or not */

size_t
diags_count(const struct diags *diags); /* kept messages of both levels */

const struct diag *
diags_get(const struct diags *diags, size_t number);

/* In order of position within each source; a final line says how many more there were. */
void
diags_print(const struct diags *diags, FILE *stream, bool colour);

#endif
