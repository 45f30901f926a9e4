/* //! tune NAME = 4 8 16: a number that the host chooses, given to the compiler as a macro. */
#include "target/target_int.h"

#include <ctype.h>
#include <string.h>

#include "base/text.h"

#define MOST_VALUES 64
#define LONGEST_NAME 63
#define LARGEST 1000000000000 /* no size is larger, and no product of two overflows silently */

/* Why the name cannot be a macro of its own, or NULL. */
static const char *
name_trouble(struct arena *arena, const struct program *program, const char *name)
{
    if (!isalpha((unsigned char)name[0]))
        return "a name begins with a letter";
    if (strlen(name) > LONGEST_NAME)
        return "the name is longer than 63 characters";
    if (target__c_taken(name))
        return "the name means something else already";
    for (size_t i = 0; i < program->dim_count; i++)
        if (!strcmp(name, program->dims[i].name))
            return arena_printf(arena, "%s is a size of the task", name);
    for (size_t i = 0; i < program->const_count; i++)
        if (!strcmp(name, program->const_names[i]))
            return arena_printf(arena, "%s is a constant of the task", name);
    return NULL;
}

static bool
is_among(const int64_t *values, size_t count, int64_t value)
{
    for (size_t i = 0; i < count; i++)
        if (values[i] == value)
            return true;
    return false;
}

/* Numbers separated by blanks or commas. */
static bool
read_values(struct arena *arena, char *rest, uint32_t line, struct target_tune *tune,
            struct target_fault *fault)
{
    int64_t *values = arena_array(arena, MOST_VALUES, sizeof *values);

    tune->values = values;
    for (char *word; (word = strsep(&rest, " \t\r\f\v,"));) {
        int64_t value;
        if (!*word)
            continue;
        if (!text_integer(word, &value) || value < -LARGEST || value > LARGEST)
            return target__wrong(
                arena, fault, line,
                "//! tune %s: %.20s is not a whole number; write //! tune %s = 4 8", tune->name,
                word, tune->name);
        if (is_among(values, tune->count, value))
            continue;
        if (tune->count == MOST_VALUES)
            return target__wrong(arena, fault, line, "//! tune %s: more than %d values", tune->name,
                                 MOST_VALUES);
        values[tune->count++] = value;
    }
    if (tune->count == 0)
        return target__wrong(arena, fault, line,
                             "//! tune %s: no values; write //! tune %s = 4 8 16", tune->name,
                             tune->name);
    return true;
}

bool
target__read_tune(struct arena *arena, const struct program *program, const char *words,
                  uint32_t line, struct target_tune *tune, struct target_fault *fault)
{
    const char *start = words + strspn(words, " \t");
    size_t length = 0;

    while (isalnum((unsigned char)start[length]) || start[length] == '_')
        length++;
    const char *equals = start + length + strspn(start + length, " \t");
    if (length == 0 || *equals != '=')
        return target__wrong(arena, fault, line, "//! tune: write //! tune NAME = 4 8 16");
    *tune = (struct target_tune){.name = arena_strndup(arena, start, length), .line = line};
    const char *trouble = name_trouble(arena, program, tune->name);
    if (trouble)
        return target__wrong(arena, fault, line, "//! tune %s: %s; choose another name", tune->name,
                             trouble);
    return read_values(arena, arena_strdup(arena, equals + 1), line, tune, fault);
}
