/* Conditions over figures: "contraction > 0 and (accumulators < 10 or not spills == 0)".
 *
 *     any     = all { "or" all }
 *     all     = one { "and" one }
 *     one     = "not" one | "(" any ")" | side COMPARISON side
 *     side    = NUMBER | NAME
 *
 * They are evaluated while they are read: there is no tree. A figure that is not known is NAN, and
 * a comparison with it does not hold, != neither. */
#include "agent/agent.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 64, LONGEST_NAME = 63 };

struct reader {
    struct arena *arena;
    const char *text, *at;
    const struct agent_facts *facts;
    const char *error; /* the first */
    unsigned depth;
};

static bool
wrong(struct reader *reader, const char *what)
{
    if (!reader->error)
        reader->error = arena_printf(reader->arena, "column %zu: %s",
                                     (size_t)(reader->at - reader->text) + 1, what);
    return false;
}

static void
skip_blanks(struct reader *reader)
{
    reader->at += strspn(reader->at, " \t\n");
}

static size_t
word_length(const char *at)
{
    size_t length = 0;

    if (isalpha((unsigned char)*at))
        while (isalnum((unsigned char)at[length]) || at[length] == '_')
            length++;
    return length;
}

/* Goes past this word if it comes next. */
static bool
take_word(struct reader *reader, const char *word)
{
    skip_blanks(reader);
    if (word_length(reader->at) != strlen(word) || strncmp(reader->at, word, strlen(word)) != 0)
        return false;
    reader->at += strlen(word);
    return true;
}

static bool
is_number(const char *at)
{
    at += *at == '-';
    return isdigit((unsigned char)*at) || (*at == '.' && isdigit((unsigned char)at[1]));
}

static double
read_side(struct reader *reader)
{
    skip_blanks(reader);
    size_t length = word_length(reader->at);
    if (is_number(reader->at)) {
        char *end;
        double value = strtod(reader->at, &end);
        reader->at = end;
        return value;
    }
    if (length == 0 || length > LONGEST_NAME) {
        wrong(reader,
              length ? "a name of more than 63 letters" : "a figure or a number is missing");
        return NAN;
    }
    char *name = arena_strndup(reader->arena, reader->at, length);
    reader->at += length;
    return reader->facts->figure ? reader->facts->figure(reader->facts->user, name) : NAN;
}

static bool
read_comparison(struct reader *reader)
{
    static const char *const spelling[] = {"<=", ">=", "==", "!=", "<", ">"};
    size_t kind = 0;
    double a = read_side(reader);

    skip_blanks(reader);
    while (kind < 6 && strncmp(reader->at, spelling[kind], strlen(spelling[kind])) != 0)
        kind++;
    if (kind == 6)
        return wrong(reader, "a comparison is missing; write < <= > >= == or !=");
    reader->at += strlen(spelling[kind]);
    double b = read_side(reader);
    if (isnan(a) || isnan(b))
        return false;
    const bool holds[] = {a <= b, a >= b, a == b, a != b, a<b, a> b};
    return holds[kind];
}

static bool
read_any(struct reader *reader);

static bool
read_one(struct reader *reader)
{
    bool holds;

    if (++reader->depth > DEEPEST)
        return wrong(reader, "more than 64 brackets and negations inside one another");
    if (take_word(reader, "not"))
        holds = !read_one(reader);
    else if (*reader->at == '(') {
        reader->at++;
        holds = read_any(reader);
        skip_blanks(reader);
        if (*reader->at == ')')
            reader->at++;
        else
            wrong(reader, "a bracket is not closed");
    } else
        holds = read_comparison(reader);
    reader->depth--;
    return holds;
}

static bool
read_all(struct reader *reader)
{
    bool holds = read_one(reader);

    while (!reader->error && take_word(reader, "and"))
        holds = read_one(reader) && holds;
    return holds;
}

static bool
read_any(struct reader *reader)
{
    bool holds = read_all(reader);

    while (!reader->error && take_word(reader, "or"))
        holds = read_all(reader) || holds;
    return holds;
}

int
agent_condition(struct arena *arena, const char *when, const struct agent_facts *facts,
                const char **error)
{
    struct reader reader = {.arena = arena, .text = when, .at = when, .facts = facts};
    bool holds = read_any(&reader);

    skip_blanks(&reader);
    if (*reader.at)
        wrong(&reader, "the condition should end here; write and or or between comparisons");
    *error = reader.error;
    return reader.error ? -1 : holds;
}
