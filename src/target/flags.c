/* //! flags: each word must be a row of the target's list, so nothing that names a file, a plugin,
 * another program or the linker can pass: there is no row for it. */
#include "target/target_int.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"

#define MOST_SHOWN 60 /* characters of a flag that a message repeats */
#define MOST_ROWS 160

/* ---- one row ---- */

/* "-ffast-math" -> "-fno-fast-math" */
static const char *
opposite(struct arena *arena, const char *flag)
{
    assert(flag[0] == '-' && flag[1] && flag[2]);
    return arena_printf(arena, "-%cno-%s", flag[1], flag + 2);
}

static bool
is_one_of(const char *word, const char *list)
{
    size_t length = strlen(word);

    for (const char *at = list; *at; at += strspn(at, " ")) {
        size_t size = strcspn(at, " ");
        if (size == length && !memcmp(at, word, size))
            return true;
        at += size;
    }
    return false;
}

static bool
is_number(const char *text, int64_t most)
{
    int64_t value;

    return text[0] != '-' && text_integer(text, &value) && value <= most;
}

static bool
fits(struct arena *arena, const struct target_flag *row, const char *word)
{
    size_t length = strlen(row->text);

    switch (row->form) {
    case TARGET_FLAG_EXACT:
        return !strcmp(word, row->text);
    case TARGET_FLAG_SWITCH:
        return !strcmp(word, row->text) || !strcmp(word, opposite(arena, row->text));
    case TARGET_FLAG_CHOICE:
        return text_starts(word, row->text) && is_one_of(word + length, row->values);
    case TARGET_FLAG_NUMBER:
        return text_starts(word, row->text) && is_number(word + length, row->most);
    }
    return false;
}

void
target_put_flag(struct buf *buf, const struct target_flag *flag)
{
    if (flag->form == TARGET_FLAG_SWITCH)
        buf_printf(buf, "-%c[no-]%s", flag->text[1], flag->text + 2);
    else
        buf_puts(buf, flag->text);
    if (flag->form == TARGET_FLAG_NUMBER)
        buf_puts(buf, "N");
    if (flag->form == TARGET_FLAG_CHOICE)
        for (const char *c = flag->values; *c; c++)
            buf_putc(buf, *c == ' ' ? '|' : *c);
}

/* ---- refusing ---- */

/* The row whose value alone is wrong, or NULL. */
static const struct target_flag *
same_option(const struct target_flag *rows, const char *word)
{
    for (; rows->text; rows++)
        if ((rows->form == TARGET_FLAG_CHOICE || rows->form == TARGET_FLAG_NUMBER) &&
            text_starts(word, rows->text))
            return rows;
    return NULL;
}

static const char *
nearest(struct arena *arena, const struct target_flag *rows, const char *word)
{
    const char *names[2 * MOST_ROWS];
    size_t count = 0;

    for (; rows->text && count + 2 <= 2 * MOST_ROWS; rows++) {
        names[count++] = rows->text;
        if (rows->form == TARGET_FLAG_SWITCH)
            names[count++] = opposite(arena, rows->text);
    }
    return text_nearest(word, names, count);
}

/* What is repeated of a stranger's text: short, and nothing that a terminal would obey. */
static const char *
shown(struct arena *arena, const char *word)
{
    char *text =
        arena_printf(arena, "%.*s%s", MOST_SHOWN, word, strlen(word) > MOST_SHOWN ? "..." : "");

    for (char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || (unsigned char)*c >= 0x7f)
            *c = '?';
    return text;
}

static bool
refuse(struct arena *arena, const struct target *target, const char *word, uint32_t line,
       struct target_fault *fault)
{
    const struct target_flag *row = same_option(target->flags, word);
    const char *near = nearest(arena, target->flags, word);

    if (row) {
        struct buf buf = buf_in(arena);
        target_put_flag(&buf, row);
        if (row->form == TARGET_FLAG_NUMBER)
            buf_printf(&buf, " with N from 0 to %lld", (long long)row->most);
        return target__wrong(arena, fault, line, "//! flags: %s is not allowed; write %s",
                             shown(arena, word), buf.data);
    }
    if (near)
        return target__wrong(arena, fault, line, "//! flags: %s is not allowed; did you mean %s?",
                             shown(arena, word), near);
    return target__wrong(arena, fault, line,
                         "//! flags: %s is not allowed; hone contract %s lists what is",
                         shown(arena, word), target->name);
}

/* ---- a line ---- */

static bool
is_allowed(struct arena *arena, const struct target *target, const char *word)
{
    for (const struct target_flag *row = target->flags; row->text; row++)
        if (fits(arena, row, word))
            return true;
    return false;
}

/* The next word, "--param" joined to the one behind it; NULL at the end. */
static const char *
next_word(struct arena *arena, char **rest)
{
    const char *word;

    do
        word = strsep(rest, " \t\r\f\v");
    while (word && !*word);
    if (!word || strcmp(word, "--param") || !*rest)
        return word;
    *rest += strspn(*rest, " \t");
    const char *value = strsep(rest, " \t\r\f\v");
    return arena_printf(arena, "--param=%s", value ? value : "");
}

bool
target__read_flags(struct arena *arena, const struct target *target, const char *words,
                   uint32_t line, const char **flags, size_t *count, struct target_fault *fault)
{
    char *rest = arena_strdup(arena, words);
    const char *word;

    if (!target->flags)
        return target__wrong(arena, fault, line, "//! flags: %s takes none", target->name);
    while ((word = next_word(arena, &rest))) {
        if (!is_allowed(arena, target, word))
            return refuse(arena, target, word, line, fault);
        if (*count == TARGET__MOST_FLAGS)
            return target__wrong(arena, fault, line, "//! flags: more than %d", TARGET__MOST_FLAGS);
        flags[(*count)++] = word;
    }
    return true;
}
