/* Words and data with no model: what the technique table, the figures and the verdicts say by
 * themselves, put under the names of the fields that were asked for. */
#include "agent/builtin_int.h"

#include "base/json.h"
#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FIGURES = 6, SNIPPET_LINES = 6, PLANS = 5, TESTS = 6, STAGNANT = 3 };

/* ---- what there is to say ---- */

/* id, usual name of the field, other names */
#define SAYINGS(X)                                                                          \
    X(TITLE, "title", "name technique row id optimization")                                 \
    X(WHAT, "change",                                                                       \
      "method what do plan suggestion strategy proposal modification fix minimal_fix_hint " \
      "rubric question")                                                                    \
    X(WHY, "reason",                                                                        \
      "bottleneck limit why diagnosis analysis rationale because summary text critique "    \
      "evidence error critical_issue why_it_matters")                                       \
    X(WHEN, "when", "condition state predicate key")                                        \
    X(KIND, "kind", "type category")                                                        \
    X(LOW, "low", "min lower")                                                              \
    X(HIGH, "high", "max upper gain speedup expected predicted")                            \
    X(SCORE, "score", "rating confidence priority value probability innovation")            \
    X(DIFFICULTY, "difficulty", "effort cost")                                              \
    X(RISK, "risk", "danger")                                                               \
    X(SNIPPET, "snippet", "code example schedule lines region anchors")                     \
    X(VERDICT, "verdict", "decision agree answer vote next run correct pass action")        \
    X(INPUT, "input", "tensor")                                                             \
    X(PATTERN, "pattern", "values expression inputs fill")                                  \
    X(SIZES, "sizes", "dims shape size")                                                    \
    X(DOCUMENT, "document", "documents file files doc docs")                                \
    X(BASE, "base", "pick choice parent")                                                   \
    X(OTHER, "reference", "other second partner")

enum saying {
#define X(id, ...) SAY_##id,
    SAYINGS(X)
#undef X
        SAYING_COUNT
};

static const struct {
    const char *name, *others;
} saying_info[SAYING_COUNT] = {
#define X(id, name, others) {name, others},
    SAYINGS(X)
#undef X
};

struct said {
    const char *text[SAYING_COUNT]; /* NULL: nothing */
    double number[SAYING_COUNT];    /* NAN: none */
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

static struct said
nothing_said(void)
{
    struct said said = {.text = {0}};

    for (size_t i = 0; i < SAYING_COUNT; i++)
        said.number[i] = NAN;
    return said;
}

static double
figure(const struct builtin *builtin, const char *name)
{
    const struct agent_facts *facts = &builtin->moment->facts;

    return facts->figure ? facts->figure(facts->user, name) : NAN;
}

/* ---- gains ---- */

/* The factor that a text of measurements tells: "272 -> 37 us" is 7.4, "1.4-1.5x" 1.5, "+5-10
 * %" 1.1; 0: none. */
static double
factor_of(const char *measured)
{
    const char *arrow = strstr(measured, " -> ");
    double last = 0;

    if (arrow) {
        const char *start = arrow;
        while (start > measured && strchr("0123456789.", start[-1]))
            start--;
        double from = strtod(start, NULL), to = strtod(arrow + 4, NULL);
        return from > 0 && to > 0 ? fmax(from / to, to / from) : 0;
    }
    for (const char *at = measured; *at;) {
        char *end;
        if (!isdigit((unsigned char)*at)) {
            at++;
            continue;
        }
        last = strtod(at, &end);
        if (*end == 'x' && !isalnum((unsigned char)end[1]))
            return last;
        if (text_starts(end, " %"))
            return 1 + last / 100;
        at = end;
    }
    return 0;
}

void
builtin__gain(const struct builtin *builtin, const struct agent_technique *row, double *low,
              double *high)
{
    double factor = factor_of(row->measured), light = figure(builtin, "light");

    *high = factor > 0 ? factor : 1.1;
    if (light > 0)
        *high = fmin(*high, fmax(1, 100 / light));
    *low = 1 + (*high - 1) / 10;
}

/* ---- figures ---- */

/* Figures that a condition names and that are known: "accumulators = 4, contraction = 1". */
static void
put_condition_figures(const struct builtin *builtin, struct buf *buf, const char *when)
{
    unsigned count = 0;

    for (const char *at = when; *at;) {
        size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyz_0123456789");
        char *name = arena_strndup(builtin->arena, at, length);
        double value = length && isalpha((unsigned char)*at) ? figure(builtin, name) : NAN;
        if (!isnan(value) && !strstr(at + length, name))
            buf_printf(buf, "%s%s = %.4g", count++ ? ", " : "", name, value);
        at += length ? length : 1;
    }
}

static const char *
diagnosis(const struct builtin *builtin, const struct agent_technique *row)
{
    struct buf buf = buf_in(builtin->arena);

    put_condition_figures(builtin, &buf, row->when);
    return buf.length ? buf.data : "the figures are not known";
}

/* The most telling figures of the profile in a sentence. */
static const char *
figures_in_words(const struct builtin *builtin)
{
    const struct profile *profile = builtin->moment->profile;
    struct buf buf = buf_in(builtin->arena);

    for (size_t i = 0; profile && i < profile->figure_count && i < MOST_FIGURES; i++) {
        const struct profile_figure *f = &profile->figures[i];
        buf_printf(&buf, "%s%s is %.4g%s%s (%s)", i ? "; " : "", f->name, f->value,
                   *f->unit ? " " : "", f->unit, f->meaning);
    }
    return buf.length ? buf.data : "no figures are known";
}

/* ---- pairs ---- */

/* Lines of one schedule that the other has not, or the first of all. */
static const char *
changed_lines(const struct builtin *builtin)
{
    const char *schedule = builtin->moment->schedule, *other = builtin->moment->other;
    struct buf buf = buf_in(builtin->arena);
    unsigned count = 0;

    for (const char *line = schedule; line && *line && count < SNIPPET_LINES;) {
        size_t length = strcspn(line, "\n");
        const char *text = arena_strndup(builtin->arena, line, length);
        if (length > 0 && (!other || !strstr(other, text)))
            buf_printf(&buf, "%s%s", count++ ? "\n" : "", text);
        line += length + (line[length] == '\n');
    }
    return buf.length ? buf.data : "";
}

static const char *
lesson(const struct builtin *builtin)
{
    const struct agent_moment *moment = builtin->moment;
    double gain = figure(builtin, "gain");
    struct buf buf = buf_in(builtin->arena);

    buf_puts(&buf, builtin->row ? builtin->row->name : moment->plan ? moment->plan : "the change");
    if (!isnan(gain))
        buf_printf(&buf, " made it %.2f times as fast", gain);
    else if (moment->verdict)
        buf_printf(&buf, " ended so: %s", moment->verdict);
    else
        buf_puts(&buf, " was tried");
    if (*changed_lines(builtin))
        buf_printf(&buf, ", with %s", changed_lines(builtin));
    return buf.data;
}

/* ---- roles ---- */

static size_t
choose(struct builtin *builtin, const char **reason);
static size_t
choice_at(const struct builtin *builtin, size_t rank);

static void
say_row(const struct builtin *builtin, const struct agent_technique *row, struct said *said)
{
    said->text[SAY_TITLE] = row->name;
    /* by the name the coder will know which row is meant, whatever fields were asked for */
    said->text[SAY_WHAT] = arena_printf(builtin->arena, "%s: %s", row->name, row->what);
    said->text[SAY_WHY] = diagnosis(builtin, row);
    said->text[SAY_SNIPPET] = builtin->moment->schedule;
    said->text[SAY_WHEN] = row->when;
    said->text[SAY_KIND] = *row->holes ? "schedule" : "code";
    said->text[SAY_RISK] = *row->measured ? "low" : "not measured";
    builtin__gain(builtin, row, &said->number[SAY_LOW], &said->number[SAY_HIGH]);
    said->number[SAY_SCORE] = fmin(1, said->number[SAY_HIGH] - 1);
    said->number[SAY_DIFFICULTY] = *row->holes ? 1 : 3;
}

static struct said
say_critic(const struct builtin *builtin)
{
    struct said said = nothing_said();

    if (builtin->row) {
        say_row(builtin, builtin->row, &said);
        said.text[SAY_WHY] =
            arena_printf(builtin->arena, "%s: %s", builtin->row->name, said.text[SAY_WHY]);
        return said;
    }
    said.text[SAY_TITLE] = "numbers";
    said.text[SAY_WHY] = "no rule of the technique table holds";
    said.text[SAY_WHAT] = "try other tile sizes";
    said.text[SAY_KIND] = "schedule";
    said.number[SAY_LOW] = 1;
    said.number[SAY_HIGH] = 1.05;
    return said;
}

static struct said
say_lesson(const struct builtin *builtin)
{
    struct said said = nothing_said();
    double gain = figure(builtin, "gain");

    if (builtin->row)
        say_row(builtin, builtin->row, &said);
    said.text[SAY_WHEN] = builtin->row ? builtin->row->when : "this program";
    said.text[SAY_WHY] = lesson(builtin);
    if (!said.text[SAY_WHAT])
        said.text[SAY_WHAT] = builtin->moment->plan ? builtin->moment->plan : lesson(builtin);
    said.text[SAY_SNIPPET] = changed_lines(builtin);
    said.number[SAY_LOW] = said.number[SAY_HIGH] = isnan(gain) ? 1 : gain;
    return said;
}

static struct said
say_verifier(struct builtin *builtin)
{
    struct said said = nothing_said();
    const char *objection = builtin__objection(builtin);

    said.text[SAY_VERDICT] = objection ? "refuse" : "agree";
    said.text[SAY_WHY] =
        objection ? objection : "nothing is wrong that can be seen without running";
    said.text[SAY_WHAT] = said.text[SAY_WHY];
    said.number[SAY_SCORE] = said.number[SAY_VERDICT] = objection ? 0 : 1;
    return said;
}

/* Goes on until nothing got better for some rounds, or nothing is left to gain. */
static struct said
say_controller(const struct builtin *builtin)
{
    struct said said = nothing_said();
    double stagnant = figure(builtin, "stagnant"), light = figure(builtin, "light");

    said.text[SAY_VERDICT] = stagnant >= STAGNANT ? "stop" : light >= 95 ? "accept" : "continue";
    said.text[SAY_WHY] =
        stagnant >= STAGNANT
            ? arena_printf(builtin->arena, "%.0f rounds without progress", stagnant)
        : light >= 95 ? "the speed of light is reached"
                      : "there is progress, or too little was tried";
    said.text[SAY_WHAT] = said.text[SAY_WHY];
    return said;
}

static struct said
say_profiler(const struct builtin *builtin)
{
    struct said said = builtin->row ? say_critic(builtin) : nothing_said();

    said.text[SAY_WHY] = figures_in_words(builtin);
    if (!said.text[SAY_WHAT])
        said.text[SAY_WHAT] = said.text[SAY_WHY];
    return said;
}

static struct said
say_coder(const struct builtin *builtin)
{
    struct said said = say_critic(builtin);

    if (builtin->moment->plan)
        said.text[SAY_WHAT] = builtin->moment->plan;
    said.text[SAY_SNIPPET] = builtin->moment->schedule;
    return said;
}

static struct said
say_selector(struct builtin *builtin)
{
    struct said said = nothing_said();
    const char *reason;
    size_t pick = choose(builtin, &reason),
           other = choice_at(builtin, pick == choice_at(builtin, 0));

    said.text[SAY_BASE] = arena_printf(builtin->arena, "%zu", pick + 1);
    said.text[SAY_OTHER] = arena_printf(builtin->arena, "%zu", other + 1);
    said.text[SAY_WHY] = said.text[SAY_WHAT] = reason;
    return said;
}

static struct said
say_one(struct builtin *builtin)
{
    switch (builtin->moment->role) {
    case AGENT_SUMMARISER:
    case AGENT_REFLECTOR:
        return say_lesson(builtin);
    case AGENT_VERIFIER:
        return say_verifier(builtin);
    case AGENT_CONTROLLER:
        return say_controller(builtin);
    case AGENT_PROFILER:
        return say_profiler(builtin);
    case AGENT_SELECTOR:
        return say_selector(builtin);
    case AGENT_CODER:
    case AGENT_DEBUGGER:
    case AGENT_CROSSOVER:
        return say_coder(builtin);
    default:
        return say_critic(builtin);
    }
}

/* ---- lists ---- */

/* Rows that hold, the earlier ones first and more often. */
static size_t
say_plans(struct builtin *builtin, struct said *said, size_t most)
{
    size_t *rows = arena_array(builtin->arena, agent_technique_count, sizeof *rows), count = 0;
    size_t left = agent_menu(builtin->arena, &builtin->moment->facts, rows, agent_technique_count);

    while (left > 0 && count < most) {
        size_t at = left > most - count ? builtin__early(builtin, left) : 0;
        said[count] = nothing_said();
        say_row(builtin, &agent_techniques[rows[at]], &said[count++]);
        memmove(&rows[at], &rows[at + 1], (--left - at) * sizeof *rows);
    }
    return count;
}

/* "X[i,j] = if((i + j) % 2 == 0, 1, -1)": a statement that draws an input. */
static const char *
pattern_of(const struct builtin *builtin, const struct tensor *input, const char *value)
{
    static const char indices[LANG_MAX_RANK] = {'i', 'j', 'k', 'l', 'm', 'n', 'o', 'p'};
    struct buf buf = buf_in(builtin->arena);

    buf_printf(&buf, "%s[", input->name);
    for (unsigned d = 0; d < input->rank; d++)
        buf_printf(&buf, "%s%c", d ? "," : "", indices[d]);
    buf_printf(&buf, "] = %s", value);
    return buf.data;
}

/* Inputs that break what is careless: all equal, one large among small ones, signs in turn; and the
 * sizes at the edges of what must be right. */
static size_t
say_tests(const struct builtin *builtin, struct said *said, size_t most)
{
    static const char *const values[] = {"0", "1", "if(i == 0, 64, 0)", "if(i % 2 == 0, 8, -8)"};
    const struct program *program = builtin->moment->scene->programs[0];
    size_t count = 0;

    for (size_t d = 0; d < program->dim_count && count < most; d++) {
        const struct dim *dim = &program->dims[d];
        const int64_t sizes[] = {1, dim->given - 1, dim->given + 1};
        for (size_t s = 0; s < 3 && dim->any && count < most; s++)
            if (sizes[s] > 0) {
                said[count] = nothing_said();
                said[count].text[SAY_TITLE] = said[count].text[SAY_SIZES] =
                    arena_printf(builtin->arena, "%s=%lld", dim->name, (long long)sizes[s]);
                said[count++].text[SAY_WHY] = "a size at the edge of what must be right";
            }
    }
    for (size_t v = 0; v < 4; v++)
        for (size_t i = 0; i < program->input_count && count < most; i++) {
            const struct tensor *input = program->tensors[i];
            if (!dtype_is_float(input->dtype) || input->rank == 0)
                continue;
            said[count] = nothing_said();
            said[count].text[SAY_TITLE] = said[count].text[SAY_PATTERN] =
                pattern_of(builtin, input, values[v]);
            said[count].text[SAY_INPUT] = input->name;
            said[count++].text[SAY_WHY] = "values that careless code does not expect";
        }
    return count;
}

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

/* The best choices by overlap, at most `most`; none that shares nothing. */
static size_t
best_documents(const struct builtin *builtin, size_t *chosen, size_t most)
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

static size_t
say_documents(const struct builtin *builtin, struct said *said, size_t most)
{
    size_t *chosen = arena_array(builtin->arena, most + 1, sizeof *chosen);
    size_t count = best_documents(builtin, chosen, most);

    for (size_t i = 0; i < count; i++) {
        const char *line = builtin->moment->choices[chosen[i]];
        said[i] = nothing_said();
        said[i].text[SAY_TITLE] = said[i].text[SAY_DOCUMENT] =
            arena_strndup(builtin->arena, line, strcspn(line, " :\t\n"));
        said[i].text[SAY_WHY] = "it shares words with what is asked";
    }
    return count;
}

/* ---- a choice ---- */

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

/* The number of the choice at this rank: by time where times are told, else as they stand. */
static size_t
choice_at(const struct builtin *builtin, size_t rank)
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

/* The first choice that begins with the word, or the count of them. */
static size_t
choice_named(const struct agent_moment *moment, const char *word)
{
    size_t i = 0;

    while (i < moment->choice_count && strncasecmp(moment->choices[i], word, strlen(word)) != 0)
        i++;
    return i;
}

static size_t
choose(struct builtin *builtin, const char **reason)
{
    const struct agent_moment *moment = builtin->moment;
    size_t document, named = moment->choice_count;

    if (moment->role == AGENT_VERIFIER || moment->role == AGENT_CONTROLLER) {
        struct said said = say_one(builtin);
        *reason = said.text[SAY_WHY];
        named = choice_named(moment, said.text[SAY_VERDICT]);
    }
    if (named < moment->choice_count)
        return named;
    if (moment->role == AGENT_LIBRARIAN && best_documents(builtin, &document, 1) == 1) {
        *reason = "it shares most words with what is asked";
        return document;
    }
    *reason = "by rank, the better ones more often";
    return moment->choice_count
               ? choice_at(builtin, builtin__early(builtin, worth_choosing(moment)))
               : 0;
}

void
builtin__put_pick(struct builtin *builtin, struct buf *reply)
{
    const char *reason;

    buf_printf(reply, "{\"pick\":%zu", choose(builtin, &reason) + 1);
    json_field_string(reply, "reason", reason);
    buf_puts(reply, "}\n");
}

/* ---- as JSON ---- */

static enum saying
saying_of(const char *field)
{
    for (size_t i = 0; i < SAYING_COUNT; i++)
        if (!strcasecmp(saying_info[i].name, field) ||
            builtin__has_word(saying_info[i].others, field, strlen(field)))
            return (enum saying)i;
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
          const struct said *said)
{
    enum saying saying = saying_of(field->name);
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
put_object(const struct builtin *builtin, struct buf *reply, const struct said *said)
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

static size_t
say_many(struct builtin *builtin, struct said *said, size_t most)
{
    switch (builtin->moment->role) {
    case AGENT_PLANNER:
        return say_plans(builtin, said, most);
    case AGENT_TESTER:
        return say_tests(builtin, said, most);
    case AGENT_LIBRARIAN:
        return say_documents(builtin, said, most);
    default:
        said[0] = say_one(builtin);
        return 1;
    }
}

static void
put_list(struct builtin *builtin, struct buf *reply)
{
    const struct agent_shape *shape = builtin->moment->returns;
    size_t usual = builtin->moment->role == AGENT_TESTER ? TESTS : PLANS;
    size_t most = shape && shape->most > 0 ? shape->most : usual;
    struct said *said = arena_array(builtin->arena, most, sizeof *said);
    size_t count = say_many(builtin, said, most);

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
    struct said said[TESTS];
    size_t count = say_many(builtin, said, TESTS);

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
        struct said said[1];
        if (say_many(builtin, said, 1) == 0)
            said[0] = say_one(builtin);
        put_object(builtin, reply, said);
        buf_putc(reply, '\n');
    } else
        put_sentences(builtin, reply);
}
