/* What the stand-ins say, as data and as sentences: put under the names of the fields that were
 * asked for. */
#include "agent/builtin_int.h"

#include "base/json.h"
#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum { PLANS = 5, TESTS = 6 };

/* ---- a choice ---- */

/* The first choice that begins with the word, or the count of them. */
static size_t
choice_named(const struct agent_moment *moment, const char *word)
{
    size_t i = 0;

    while (i < moment->choice_count && strncasecmp(moment->choices[i], word, strlen(word)) != 0)
        i++;
    return i;
}

/* Who gives a verdict chooses the one that says it. */
static size_t
choose(struct builtin *builtin, const char **reason)
{
    const struct agent_moment *moment = builtin->moment;
    struct builtin_said said;

    if (moment->role == AGENT_VERIFIER || moment->role == AGENT_CONTROLLER) {
        builtin__say(builtin, &said, 1);
        size_t named = choice_named(moment, said.text[SAY_VERDICT]);
        *reason = said.text[SAY_WHY];
        if (named < moment->choice_count)
            return named;
    }
    return builtin__choose(builtin, reason);
}

void
builtin__put_pick(struct builtin *builtin, struct buf *reply)
{
    const char *reason;

    buf_printf(reply, "{\"pick\":%zu", choose(builtin, &reason) + 1);
    json_field_string(reply, "reason", reason);
    buf_puts(reply, "}\n");
}

/* ---- fields ---- */

static const struct {
    const char *name, *others;
} saying_info[SAYING_COUNT] = {
#define X(id, name, others) {name, others},
    BUILTIN_SAYINGS(X)
#undef X
};

/* The fields of a role whose shape names none. */
static const char *const usual_fields[AGENT_KIND_COUNT] = {
    [AGENT_PLANNER] = "kind title reason change low high risk",
    [AGENT_CRITIC] = "reason change low high",
    [AGENT_SUMMARISER] = "when change high snippet",
    [AGENT_REFLECTOR] = "when change high reason",
    [AGENT_VERIFIER] = "verdict reason",
    [AGENT_CONTROLLER] = "verdict reason",
    [AGENT_TESTER] = "input pattern sizes",
    [AGENT_LIBRARIAN] = "document reason",
    [AGENT_SELECTOR] = "base reference reason",
};

static enum builtin_saying
saying_of(const char *field)
{
    for (size_t i = 0; i < SAYING_COUNT; i++)
        if (!strcasecmp(saying_info[i].name, field) ||
            builtin__has_word(saying_info[i].others, field, strlen(field)))
            return (enum builtin_saying)i;
    return SAY_WHAT;
}

/* At most so many words; 0: all. */
static const char *
few_words(struct arena *arena, const char *text, unsigned words)
{
    const char *at = text;

    for (unsigned i = 0; words > 0 && i < words && *at; i++)
        at += strspn(at, " \n") + strcspn(at + strspn(at, " \n"), " \n");
    return words > 0 ? arena_strndup(arena, text, (size_t)(at - text)) : text;
}

/* What a field with choices may call the verdicts of ours. */
static const struct {
    const char *verdict, *others;
} synonyms[] = {
    {"agree", "yes true pass accept correct good run ok"},
    {"refuse", "no false fail reject wrong bad drop"},
    {"continue", "go on yes"},
    {"stop", "end done no finish"},
    {"accept", "stop done finish"},
};

static bool
is_meant(const char *choice, size_t length, const char *text)
{
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++)
        if (!strcmp(synonyms[i].verdict, text) &&
            builtin__has_word(synonyms[i].others, choice, length))
            return true;
    return false;
}

/* Letters at the beginning of some word of the text that the choice begins with: "fusion" and
 * "fuse" have three in common. */
static size_t
likeness(const char *choice, size_t length, const char *text)
{
    size_t most = 0;

    for (const char *at = text; text && *at; at++) {
        size_t same = 0;
        if (at > text && isalpha((unsigned char)at[-1]))
            continue;
        while (same < length &&
               tolower((unsigned char)at[same]) == tolower((unsigned char)choice[same]))
            same++;
        most = same > most ? same : most;
    }
    return most;
}

/* The choice of "a|b|c" that is the text, or means it, or looks most like the change; else the
 * first. */
static const char *
choice_of(const struct builtin *builtin, const char *choices, const char *text, const char *change)
{
    const char *best = choices, *at = choices;
    size_t best_length = strcspn(choices, "|"), best_points = 0;

    for (;;) {
        at += strspn(at, " ");
        size_t length = strcspn(at, "|"), own = length, points = likeness(at, own, change);
        while (own > 0 && at[own - 1] == ' ')
            own--;
        points = points < 3 ? 0 : points;
        if (text && own == strlen(text) && !strncasecmp(at, text, own))
            points = 1000;
        else if (text && is_meant(at, own, text))
            points = 500;
        if (points > best_points) {
            best = at;
            best_length = own;
            best_points = points;
        }
        if (!at[length])
            return text_trim(arena_strndup(builtin->arena, best, best_length));
        at += length + 1;
    }
}

static void
put_field(const struct builtin *builtin, struct buf *reply, const struct agent_field *field,
          const struct builtin_said *said)
{
    enum builtin_saying saying = saying_of(field->name);
    const char *text = said->text[saying];
    double number = said->number[saying];

    json_put_string(reply, field->name);
    buf_putc(reply, ':');
    if (field->choices)
        json_put_string(reply, choice_of(builtin, field->choices,
                                         said->text[SAY_VERDICT] ? said->text[SAY_VERDICT] : text,
                                         said->text[SAY_WHAT]));
    else if (field->number || (!text && !isnan(number)))
        json_put_number(reply, isnan(number) ? 1 : round(number * 1000) / 1000);
    else
        json_put_string(reply, text ? few_words(builtin->arena, text, field->words) : NULL);
}

static const struct agent_field *
fields_of(const struct builtin *builtin, size_t *count)
{
    const struct agent_shape *shape = builtin->moment->returns;
    struct agent_field *fields = arena_array(builtin->arena, AGENT_FIELDS, sizeof *fields);

    *count = 0;
    if (shape && shape->field_count > 0) {
        *count = shape->field_count;
        return shape->fields;
    }
    const char *usual = usual_fields[builtin->moment->role];
    char *names = arena_strdup(builtin->arena, usual ? usual : "reason change");
    for (char *name; (name = strsep(&names, " "));)
        fields[(*count)++].name = name;
    return fields;
}

static void
put_object(const struct builtin *builtin, struct buf *reply, const struct builtin_said *said)
{
    size_t count;
    const struct agent_field *fields = fields_of(builtin, &count);

    buf_putc(reply, '{');
    for (size_t i = 0; i < count; i++) {
        buf_puts(reply, i ? "," : "");
        put_field(builtin, reply, &fields[i], said);
    }
    buf_putc(reply, '}');
}

static void
put_list(struct builtin *builtin, struct buf *reply)
{
    const struct agent_shape *shape = builtin->moment->returns;
    size_t usual = builtin->moment->role == AGENT_TESTER ? TESTS : PLANS;
    size_t most = shape && shape->most > 0 ? shape->most : usual;
    struct builtin_said *said = arena_array(builtin->arena, most, sizeof *said);
    size_t count = builtin__say(builtin, said, most);

    buf_puts(reply, "{\"items\":[");
    for (size_t i = 0; i < count; i++) {
        buf_puts(reply, i ? ",\n" : "");
        put_object(builtin, reply, &said[i]);
    }
    buf_puts(reply, "]}\n");
}

/* ---- as words ---- */

static void
put_sentences(struct builtin *builtin, struct buf *reply)
{
    struct builtin_said said[TESTS];
    size_t count = builtin__say(builtin, said, TESTS);

    for (size_t i = 0; i < count; i++) {
        const char *verdict = said[i].text[SAY_VERDICT], *why = said[i].text[SAY_WHY];
        const char *what = said[i].text[SAY_WHAT], *title = said[i].text[SAY_TITLE];
        if (verdict)
            buf_printf(reply, "%s: ", verdict);
        else if (title && count > 1)
            buf_printf(reply, "%s: ", title);
        buf_puts(reply, why ? why : "");
        if (what && what != why)
            buf_printf(reply, "; %s", what);
        buf_puts(reply, ".\n");
    }
    if (count == 0)
        buf_puts(reply, "Nothing: no rule holds and no words are shared.\n");
}

void
builtin__put_words(struct builtin *builtin, struct buf *reply, enum agent_format format)
{
    if (format == AGENT_FORMAT_LIST)
        put_list(builtin, reply);
    else if (format == AGENT_FORMAT_OBJECT) {
        struct builtin_said said;
        if (builtin__say(builtin, &said, 1) == 0)
            said = builtin__nothing();
        put_object(builtin, reply, &said);
        buf_putc(reply, '\n');
    } else
        put_sentences(builtin, reply);
}
