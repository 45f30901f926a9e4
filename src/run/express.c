/* What C does better, said as a schedule. A model's kernel that beats the best schedule is given
 * back once: if the micro-coder can express its idea, the idea serves the other cases, can be swept
 * and goes on from there. If it cannot, the reason is kept: a list of what schedules lack. */
#include "run/team_int.h"

#include <math.h>
#include <string.h>
#include <strings.h>

/* So much faster than the best schedule that there is something to say. */
static const double WORTH = 1.03;

static const struct node *
best_schedule(const struct team *team)
{
    const struct node *best = NULL;
    for (size_t i = 0; i < team->node_count; i++) {
        const struct node *node = team->nodes[i];
        if (!node->empty && node->schedule != NULL && node->programs == NULL &&
            node->status == JUDGE_CORRECT && (best == NULL || node->cost < best->cost))
            best = node;
    }
    return best;
}

/* The coder, where it may say schedules and is a model; NULL. */
static const struct recipe_role *
speaker(struct team *team, const struct recipe_phase *phase, unsigned *formats)
{
    const struct recipe_role *coder = recipe_role(phase, AGENT_CODER);
    *formats =
        coder->agent.returns.formats & (1u << AGENT_FORMAT_SCHEDULE | 1u << AGENT_FORMAT_PROGRAM);
    if (*formats == 0 || team__model(team, coder) == NULL)
        return NULL;
    struct recipe_role *role = arena_alloc(team->loop->arena, sizeof *role);
    *role = *coder;
    role->agent.returns.formats = *formats |= 1u << AGENT_FORMAT_TEXT;
    role->tools = 0;
    return role;
}

/* The reason is on the board for this run, and in the archive for us. */
static enum status
cannot(struct slot *slot, const struct node *kernel, const char *reason)
{
    struct team *team = slot->phase->team;
    static const char words[] = "not expressible:";
    if (!strncasecmp(reason, words, sizeof words - 1))
        reason += sizeof words - 1;
    reason += strspn(reason, " ");
    const char *line = arena_printf(team->loop->arena, "not expressible: %.*s",
                                    (int)strcspn(reason, "\n"), reason);
    team__line(team, &team->board, "#%d as a schedule -> %s", kernel->number, line);
    team__news(team, "coder", slot->step.lane, "#%d %s", kernel->number, line);
    return team__keep(team, "missing", lang_name(team->loop->options->lang), line,
                      slot->base->cost / kernel->cost);
}

static enum status
ask(struct slot *slot, const struct recipe_role *role, unsigned formats, const struct node *kernel)
{
    struct team *team = slot->phase->team;
    slot->speech = arena_alloc(team->loop->arena, sizeof *slot->speech);
    *slot->speech = (struct speech){
        .role = role,
        .slot = slot,
        .formats = formats,
        .question = arena_printf(
            team->loop->arena,
            "This kernel is %.0f %% faster than the best schedule, which is the base:\n"
            "```c\n%s\n```\n"
            "Say its idea as a schedule or a program for the micro-coder, so that it can be used "
            "for other sizes. If that cannot be said, write `not expressible:` and what is "
            "missing.",
            100 * (slot->base->cost / kernel->cost - 1), team__shown(team, kernel))};
    enum status status = team__ask(team, slot->speech);
    if (status == STATUS_OK)
        status = team__hear(team, slot->speech, &slot->reply);
    return status;
}

/* The new schedule is judged as any proposal, with the best schedule as its base, and swept. */
static enum status
try_it(struct slot *slot, const struct node *kernel)
{
    enum status status = team__prepare(slot);
    if (status == STATUS_OK && slot->failed != NULL)
        return cannot(slot, kernel, slot->failed);
    if (status == STATUS_OK && !slot->dropped)
        status = team__judge(slot);
    if (status == STATUS_OK && slot->made != NULL && !*slot->made->decision)
        status = team__decide(slot->phase->team, slot->made, "dropped");
    return status;
}

enum status
team__express(struct slot *slot)
{
    struct team *team = slot->phase->team;
    const struct node *kernel = slot->made, *schedule = best_schedule(team);
    unsigned formats;
    if (kernel == NULL || kernel != team->best || kernel->schedule != NULL || schedule == NULL ||
        schedule->cost < WORTH * kernel->cost || run__is_spent(team->loop))
        return STATUS_OK;
    const struct recipe_role *role = speaker(team, slot->phase->recipe, &formats);
    if (role == NULL)
        return STATUS_OK;
    struct slot own = {.phase = slot->phase,
                       .step = slot->step,
                       .base = team->nodes[schedule->number],
                       .low = NAN,
                       .high = NAN,
                       .gain = NAN};
    enum status status = ask(&own, role, formats, kernel);
    if (status == STATUS_NO)
        return STATUS_OK;
    if (status == STATUS_OK && own.reply.format != AGENT_FORMAT_TEXT)
        status = try_it(&own, kernel);
    else if (status == STATUS_OK && strcasestr(own.reply.text, "not expressible") != NULL)
        status = cannot(&own, kernel, strcasestr(own.reply.text, "not expressible"));
    if (status == STATUS_OK && own.made != NULL && own.made->status == JUDGE_CORRECT &&
        own.made->cost <= kernel->cost)
        slot->made = own.made; /* the search goes on from what can be swept */
    return status;
}
