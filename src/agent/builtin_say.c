/* What each role has to say with no model: what the technique table, the figures and the verdicts
 * tell by themselves. */
#include "agent/builtin_int.h"

#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FIGURES = 6, SNIPPET_LINES = 6, STAGNANT = 3 };

struct builtin_said
builtin__nothing(void)
{
    struct builtin_said said = {.text = {0}};

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

static void
say_row(const struct builtin *builtin, const struct agent_technique *row, struct builtin_said *said)
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

static struct builtin_said
say_critic(const struct builtin *builtin)
{
    struct builtin_said said = builtin__nothing();

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

static struct builtin_said
say_lesson(const struct builtin *builtin)
{
    struct builtin_said said = builtin__nothing();
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

static struct builtin_said
say_verifier(struct builtin *builtin)
{
    struct builtin_said said = builtin__nothing();
    const char *objection = builtin__objection(builtin);

    said.text[SAY_VERDICT] = objection ? "refuse" : "agree";
    said.text[SAY_WHY] =
        objection ? objection : "nothing is wrong that can be seen without running";
    said.text[SAY_WHAT] = said.text[SAY_WHY];
    said.number[SAY_SCORE] = said.number[SAY_VERDICT] = objection ? 0 : 1;
    return said;
}

/* Goes on until nothing got better for some rounds, or nothing is left to gain. */
static struct builtin_said
say_controller(const struct builtin *builtin)
{
    struct builtin_said said = builtin__nothing();
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

static struct builtin_said
say_profiler(const struct builtin *builtin)
{
    struct builtin_said said = builtin->row ? say_critic(builtin) : builtin__nothing();

    said.text[SAY_WHY] = figures_in_words(builtin);
    if (!said.text[SAY_WHAT])
        said.text[SAY_WHAT] = said.text[SAY_WHY];
    return said;
}

static struct builtin_said
say_coder(const struct builtin *builtin)
{
    struct builtin_said said = say_critic(builtin);

    if (builtin->moment->plan)
        said.text[SAY_WHAT] = builtin->moment->plan;
    said.text[SAY_SNIPPET] = builtin->moment->schedule;
    return said;
}

static struct builtin_said
say_selector(struct builtin *builtin)
{
    struct builtin_said said = builtin__nothing();
    const char *reason;
    size_t pick = builtin__choose(builtin, &reason),
           other = builtin__choice_at(builtin, pick == builtin__choice_at(builtin, 0));

    said.text[SAY_BASE] = arena_printf(builtin->arena, "%zu", pick + 1);
    said.text[SAY_OTHER] = arena_printf(builtin->arena, "%zu", other + 1);
    said.text[SAY_WHY] = said.text[SAY_WHAT] = reason;
    return said;
}

static struct builtin_said
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
say_plans(struct builtin *builtin, struct builtin_said *said, size_t most)
{
    size_t *rows = arena_array(builtin->arena, agent_technique_count, sizeof *rows), count = 0;
    size_t left = agent_menu(builtin->arena, &builtin->moment->facts, rows, agent_technique_count);

    while (left > 0 && count < most) {
        size_t at = left > most - count ? builtin__early(builtin, left) : 0;
        said[count] = builtin__nothing();
        say_row(builtin, &agent_techniques[rows[at]], &said[count++]);
        memmove(&rows[at], &rows[at + 1], (--left - at) * sizeof *rows);
    }
    if (count == 0 && most == 1) /* who must have a plan gets one */
        said[count++] = say_critic(builtin);
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
say_tests(const struct builtin *builtin, struct builtin_said *said, size_t most)
{
    static const char *const values[] = {"0", "1", "if(i == 0, 64, 0)", "if(i % 2 == 0, 8, -8)"};
    const struct program *program = builtin->moment->scene->programs[0];
    size_t count = 0;

    for (size_t d = 0; d < program->dim_count && count < most; d++) {
        const struct dim *dim = &program->dims[d];
        const int64_t sizes[] = {1, dim->given - 1, dim->given + 1};
        for (size_t s = 0; s < 3 && dim->any && count < most; s++)
            if (sizes[s] > 0) {
                said[count] = builtin__nothing();
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
            said[count] = builtin__nothing();
            said[count].text[SAY_TITLE] = said[count].text[SAY_PATTERN] =
                pattern_of(builtin, input, values[v]);
            said[count].text[SAY_INPUT] = input->name;
            said[count++].text[SAY_WHY] = "values that careless code does not expect";
        }
    return count;
}

static size_t
say_documents(const struct builtin *builtin, struct builtin_said *said, size_t most)
{
    size_t *chosen = arena_array(builtin->arena, most + 1, sizeof *chosen);
    size_t count = builtin__documents(builtin, chosen, most);

    for (size_t i = 0; i < count; i++) {
        const char *line = builtin->moment->choices[chosen[i]];
        said[i] = builtin__nothing();
        said[i].text[SAY_TITLE] = said[i].text[SAY_DOCUMENT] =
            arena_strndup(builtin->arena, line, strcspn(line, " :\t\n"));
        said[i].text[SAY_WHY] = "it shares words with what is asked";
    }
    return count;
}

/* ---- all of them ---- */

size_t
builtin__say(struct builtin *builtin, struct builtin_said *said, size_t most)
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
