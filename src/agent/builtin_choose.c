/* Choosing with no model: candidates by rank, documents by the words that they share with what is
 * asked. */
#include "agent/builtin_int.h"

#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- documents ---- */

static bool
mentions(const char *text, const char *word, size_t length)
{
    for (const char *at = text; text && *at; at++)
        if (!strncasecmp(at, word, length))
            return true;
    return false;
}

/* Words of four letters and more that a document's line shares with what is asked. */
static unsigned
overlap(const struct builtin *builtin, const char *document)
{
    const struct agent_moment *moment = builtin->moment;
    unsigned count = 0;

    for (const char *at = document; *at;) {
        size_t length = strcspn(at, " \t\n,.;:()/_-");
        if (length >= 4)
            count += mentions(moment->plan, at, length) || mentions(moment->verdict, at, length) ||
                     mentions(moment->technique, at, length) ||
                     mentions(moment->scene->programs[0]->name, at, length) ||
                     (builtin->row && mentions(builtin->row->what, at, length));
        at += length + (at[length] != '\0');
    }
    return count;
}

size_t
builtin__documents(const struct builtin *builtin, size_t *chosen, size_t most)
{
    const struct agent_moment *moment = builtin->moment;
    unsigned *points = arena_array(builtin->arena, moment->choice_count + 1, sizeof *points);
    size_t count = 0;

    for (size_t i = 0; i < moment->choice_count; i++)
        points[i] = overlap(builtin, moment->choices[i]);
    for (; count < most; count++) {
        size_t best = 0;
        for (size_t i = 1; i < moment->choice_count; i++)
            best = points[i] > points[best] ? i : best;
        if (moment->choice_count == 0 || points[best] == 0)
            break;
        chosen[count] = best;
        points[best] = 0;
    }
    return count;
}

/* ---- candidates ---- */

/* The time that a line tells, in microseconds; INFINITY: none. */
static double
time_of(const char *line)
{
    for (const char *at = line; *at; at++)
        if (isdigit((unsigned char)*at)) {
            char *end;
            double value = strtod(at, &end);
            if (text_starts(end, " us") || text_starts(end, " ms") || text_starts(end, " s"))
                return value * (end[1] == 'u' ? 1 : end[1] == 'm' ? 1e3 : 1e6);
            at = end - 1;
        }
    return INFINITY;
}

size_t
builtin__choice_at(const struct builtin *builtin, size_t rank)
{
    const struct agent_moment *moment = builtin->moment;

    for (size_t i = 0; i < moment->choice_count; i++) {
        double own = time_of(moment->choices[i]);
        size_t before = 0;
        for (size_t k = 0; k < moment->choice_count; k++) {
            double other = time_of(moment->choices[k]);
            before += other < own || (other == own && k < i);
        }
        if (before == rank)
            return i;
    }
    return 0;
}

/* How many of them have a time; all if none has. */
static size_t
worth_choosing(const struct agent_moment *moment)
{
    size_t count = 0;

    for (size_t i = 0; i < moment->choice_count; i++)
        count += isfinite(time_of(moment->choices[i]));
    return count ? count : moment->choice_count;
}

size_t
builtin__choose(struct builtin *builtin, const char **reason)
{
    const struct agent_moment *moment = builtin->moment;
    size_t document;

    if (moment->role == AGENT_LIBRARIAN && builtin__documents(builtin, &document, 1) == 1) {
        *reason = "it shares most words with what is asked";
        return document;
    }
    *reason = "by rank, the better ones more often";
    return moment->choice_count
               ? builtin__choice_at(builtin, builtin__early(builtin, worth_choosing(moment)))
               : 0;
}
