/* Files of settings: people write them, so every line has a place to complain about.
 *
 *     # a remark
 *     key = value              # to the end of the line
 *         a line that begins with blanks continues the one above
 *     [kind name]
 *     key = value
 */
#ifndef HONE_BASE_SETTINGS_H
#define HONE_BASE_SETTINGS_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/status.h"

struct setting {
    const char *key, *value; /* without the blanks around them; the value may be "" */
    struct place place;      /* of the key, */
    struct place at;         /* of the value */
};

struct settings_section {
    const char *kind, *name; /* "provider" and "lab", "role" and "verifier memory"; "" and "" of
                                what stands before the first */
    struct place place;
    struct setting *settings;
    size_t count;
};

struct settings {
    struct settings_section *sections; /* the first is the nameless one, perhaps empty */
    size_t count;
};

/* The source must live as long as the messages. Keys are given once in a section, sections once in
 * a file where `unique` is said (recipes have several roles of one name). */
enum status
settings_parse(struct arena *arena, const struct source *source, bool unique,
               struct settings *settings, struct diags *diags);

/* The setting of that key, or NULL. */
const struct setting *
settings_get(const struct settings_section *section, const char *key);

/* Complains about a word that is none of these, with the nearest one: "cots: no such setting; did
 * you mean cost?". `what` is the word for them. Always STATUS_INPUT. */
enum status
settings_unknown(struct diags *diags, struct place place, const char *word, const char *what,
                 const char *const *words, size_t count);

#endif
