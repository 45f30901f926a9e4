/* What a role says with no model. Which form is answered is decided by the role: who writes code
 * gives a schedule if it may, since that is what the micro-coder is made for; who says what he
 * thinks gives data if he may. */
#include "agent/builtin_int.h"

#include <string.h>

#define BIT(format) (1u << AGENT_FORMAT_##format)
#define CODE_FORMATS \
    (BIT(SCHEDULE) | BIT(PROGRAM) | BIT(STAGE) | BIT(EDITS) | BIT(FILE) | BIT(FILL))

/* In the order of liking. */
static const enum agent_format code_first[] = {
    AGENT_FORMAT_SCHEDULE, AGENT_FORMAT_FILE, AGENT_FORMAT_EDITS,  AGENT_FORMAT_FILL,
    AGENT_FORMAT_STAGE,    AGENT_FORMAT_PICK, AGENT_FORMAT_OBJECT, AGENT_FORMAT_LIST,
    AGENT_FORMAT_PROGRAM,  AGENT_FORMAT_TEXT};
static const enum agent_format words_first[] = {
    AGENT_FORMAT_LIST,     AGENT_FORMAT_OBJECT, AGENT_FORMAT_PICK,  AGENT_FORMAT_TEXT,
    AGENT_FORMAT_SCHEDULE, AGENT_FORMAT_FILE,   AGENT_FORMAT_EDITS, AGENT_FORMAT_FILL,
    AGENT_FORMAT_STAGE,    AGENT_FORMAT_PROGRAM};

/* ---- what the stand-ins share ---- */

size_t
builtin__early(struct builtin *builtin, size_t count)
{
    size_t a = rng_below(&builtin->rng, count), b = rng_below(&builtin->rng, count);

    return a < b ? a : b;
}

bool
builtin__has_word(const char *list, const char *word, size_t length)
{
    while (*list) {
        size_t own = strcspn(list, " ");
        if (own == length && !memcmp(list, word, length))
            return true;
        list += own + strspn(list + own, " ");
    }
    return false;
}

/* The row that was named; else one that the plan names; else one that holds. */
static const struct agent_technique *
row_of(struct builtin *builtin)
{
    const struct agent_moment *moment = builtin->moment;
    size_t *rows = arena_array(builtin->arena, agent_technique_count, sizeof *rows);
    const struct agent_technique *named = agent_technique_in(moment->technique);

    if (!named)
        named = agent_technique_in(moment->plan);
    if (named)
        return named;
    size_t count = agent_menu(builtin->arena, &moment->facts, rows, agent_technique_count);
    return count ? &agent_techniques[rows[builtin__early(builtin, count)]] : NULL;
}

/* ---- which form ---- */

static bool
writes_code(enum agent_kind role)
{
    return role == AGENT_CODER || role == AGENT_DEBUGGER || role == AGENT_CROSSOVER;
}

static bool
can_give(const struct agent_moment *moment, enum agent_format format)
{
    bool choices = format != AGENT_FORMAT_PICK || moment->choice_count > 0;
    bool base = (format != AGENT_FORMAT_EDITS && format != AGENT_FORMAT_FILL) || moment->kernel;

    return choices && base;
}

static enum agent_format
choose_format(const struct agent_moment *moment)
{
    const enum agent_format *order = writes_code(moment->role) ? code_first : words_first;
    unsigned formats = moment->formats;

    if (formats == 0 && moment->returns)
        formats = moment->returns->formats;
    if (formats == 0)
        formats = writes_code(moment->role) ? BIT(SCHEDULE) : BIT(TEXT);
    for (size_t i = 0; i < AGENT_FORMAT_COUNT; i++)
        if ((formats & 1u << order[i]) && can_give(moment, order[i]))
            return order[i];
    for (size_t i = 0; i < AGENT_FORMAT_COUNT; i++) /* one that cannot be helped */
        if (formats & 1u << order[i])
            return order[i];
    return AGENT_FORMAT_TEXT;
}

/* ---- the reply ---- */

static struct builtin_proposal
propose(struct builtin *builtin)
{
    switch (builtin->moment->role) {
    case AGENT_DEBUGGER:
        return builtin__go_back(builtin);
    case AGENT_CROSSOVER:
        return builtin__cross(builtin);
    default:
        return builtin__change(builtin);
    }
}

void
agent_builtin(struct buf *reply, struct arena *arena, const struct agent_moment *moment)
{
    struct builtin builtin = {.arena = arena,
                              .moment = moment,
                              .rng = rng_stream(moment->seed, agent_role_name[moment->role].name)};
    enum agent_format format = choose_format(moment);

    builtin.schedule =
        moment->schedule ? moment->schedule : builtin__schedule_in(&builtin, moment->kernel);
    builtin.row = row_of(&builtin);
    if (CODE_FORMATS & 1u << format) {
        struct builtin_proposal proposal = propose(&builtin);
        builtin__put_code(&builtin, reply, format, &proposal);
    } else if (format == AGENT_FORMAT_PICK)
        builtin__put_pick(&builtin, reply);
    else
        builtin__put_words(&builtin, reply, format);
}
