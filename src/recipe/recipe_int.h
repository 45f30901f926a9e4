/* How a recipe's text is read: a table of keys, whose values are mostly made of phrases.
 *
 *   keys.c      every key: what it is for, how its value is read, what holds without it
 *   phrase.c    values made of words and numbers: "light 0.95", "5 unusable replies"
 *   value.c     values with a grammar of their own: sees, returns, model, write
 *   read.c      the sections of a file, and of those that it is like, become phases and roles
 *   check.c     what a phase's parts need of each other
 *   find.c      where recipes are
 *   explain.c   the same table, for readers
 */
#ifndef HONE_RECIPE_RECIPE_INT_H
#define HONE_RECIPE_RECIPE_INT_H

#include "base/settings.h"
#include "recipe/recipe.h"

struct reading {
    struct arena *arena;
    struct diags *diags;
    bool failed;
};

/* `place` is shown as file and line; the source line follows, so the message need not repeat it. */
void
recipe__complain(struct reading *reading, struct place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- phrases ---- */

/* Where a number or word of a phrase is put, counted from the beginning of the object. */
struct slot {
    enum slot_kind {
        SLOT_NONE,
        SLOT_COUNT,   /* unsigned */
        SLOT_REAL,    /* double */
        SLOT_SECONDS, /* double: "15m" */
        SLOT_PERCENT, /* double: "1" of "1 %" is 1.01 */
        SLOT_WORD,    /* const char * */
    } kind;
    size_t offset;
    double low, high;
};

/* What saying the phrase means besides. */
struct mark {
    enum mark_kind {
        MARK_NONE,
        MARK_FLAG, /* bool: true */
        MARK_ENUM, /* its value */
        MARK_BIT,  /* unsigned: 1 << value */
        MARK_REAL, /* double */
    } kind;
    size_t offset;
    double value;
};

/* "light #" is the word and a number, "max(@)" has a word in it; each # and @ has its slot. */
struct phrase {
    const char *form;
    struct mark mark;
    struct slot slots[2];
    const char *words; /* for readers, with the same # and @ */
};

/* ---- keys ---- */

enum key_section { KEY_OF_FILE, KEY_OF_PHASE, KEY_OF_ROLE, KEY_OF_BUDGET, KEY_SECTION_COUNT };

enum key_how {
    KEY_NUMBER,  /* one, into `slot` */
    KEY_TEXT,    /* all of it, into `slot` */
    KEY_PHRASE,  /* one of `phrases` */
    KEY_PHRASES, /* some of them, each once */
    KEY_LIST,    /* any number of them, each into an element of its own */
    KEY_OWN,     /* by `own` */
};

struct key_list {
    size_t offset, count; /* of the array, and of the size_t that counts */
    size_t size;
    size_t most;
};

struct key;

typedef void (*recipe__reader)(struct reading *reading, const struct setting *setting,
                               void *object);

struct key {
    enum key_section section;
    const char *name;
    enum key_how how;
    const char *form;   /* what to write, for readers: "N", "light X, 5 reverts" */
    const char *words;  /* what it does */
    const char *preset; /* read before the value; in brackets: only said */
    struct slot slot;
    const struct phrase *phrases; /* ended by a NULL form; offsets count from `inside` */
    size_t inside;
    const char *noun; /* what a phrase is called: "topology" */
    struct key_list list;
    recipe__reader own;
};

extern const struct key recipe__keys[]; /* ended by a NULL name */
extern const char *const recipe__section_name[KEY_SECTION_COUNT];

const struct key *
recipe__key(enum key_section section, const char *name); /* NULL: no such */

/* Reads the value into the object; complains about what is wrong. */
void
recipe__read_key(struct reading *reading, const struct key *key, const struct setting *setting,
                 void *object);

/* ---- pieces of values ---- */

/* The next item of a list by commas (none within braces), cut out and trimmed; NULL: no more. */
char *
recipe__next_item(char **next);

/* The phrase that an item is, and what stands at its # and @; NULL: none. */
const struct phrase *
recipe__match(struct arena *arena, const struct phrase *phrases, const char *item,
              const char *values[2]);

/* Matches one item and puts what it says into the object. NULL after a complaint. */
const struct phrase *
recipe__take_phrase(struct reading *reading, const struct setting *setting, const char *item,
                    const struct phrase *phrases, const char *noun, void *object);

/* The number of `word` in a table of names, complaining with the nearest; -1: none. */
int
recipe__take_name(struct reading *reading, const struct setting *setting, const char *word,
                  const char *noun, const char *const *names, size_t count);

/* ---- values with a grammar of their own ---- */

void
recipe__read_sees(struct reading *reading, const struct setting *setting, void *role);
void
recipe__read_returns(struct reading *reading, const struct setting *setting, void *role);
void
recipe__read_model(struct reading *reading, const struct setting *setting, void *role);
void
recipe__read_write(struct reading *reading, const struct setting *setting, void *phase);
void
recipe__read_name(struct reading *reading, const struct setting *setting, void *recipe);

/* Stands in `sees` for all memories of the phase. */
#define RECIPE_ALL_MEMORIES AGENT_SECTION_COUNT

/* ---- the whole ---- */

/* A phase with its section, and those of its roles, for messages. */
struct written_phase {
    struct recipe_phase *phase;
    const struct settings_section *section, *roles;
};

void
recipe__check_phase(struct reading *reading, const struct written_phase *written);

/* The text of a recipe by name or path; NULL with a message at `place`. `not_this`: a path that is
 * passed over, so that a recipe of the user's may be like the one of its own name. */
const struct source *
recipe__find_source(struct arena *arena, const char *name, const char *not_this, struct place place,
                    struct diags *diags);

/* The files of recipes/, in the program (generated). */
struct recipe_file {
    const char *path, *text;
};

extern const struct recipe_file recipe__files[]; /* by name, ended by a NULL path */

#endif
