/* Advisers: roles that speak before the coder does, and where their words go. */
#include "run/team_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- when a role speaks ---- */

static bool
is_failing(const struct slot *slot)
{
    const struct node *base = slot ? slot->base : NULL;
    return base != NULL && base->status != JUDGE_CORRECT;
}

static bool
has_moment(const struct recipe_role *role, enum recipe_moment moment)
{
    for (size_t i = 0; i < role->when_count; i++)
        if (role->when[i].moment == moment)
            return true;
    return false;
}

static bool
speaks_now(const struct phase *phase, const struct recipe_role *role, const struct slot *slot)
{
    if (role->when_count == 0)
        return true;
    for (size_t i = 0; i < role->when_count; i++) {
        const struct recipe_when *when = &role->when[i];
        switch (when->moment) {
        case RECIPE_ROUND:
            return true;
        case RECIPE_START:
            if (phase->round == 0)
                return true;
            break;
        case RECIPE_NO_PLAN:
            if (slot != NULL && slot->plan == NULL)
                return true;
            break;
        case RECIPE_FAILING:
            if (is_failing(slot))
                return true;
            break;
        case RECIPE_PASSING:
            if (!is_failing(slot))
                return true;
            break;
        case RECIPE_STAGNANT:
            if (phase->quiet > 0 &&
                phase->quiet % (phase->recipe->stagnant ? phase->recipe->stagnant : 3) == 0)
                return true;
            break;
        case RECIPE_EVERY:
            if (when->number > 0 && phase->round > 0 && phase->round % (unsigned)when->number == 0)
                return true;
            break;
        default:
            break;
        }
    }
    return false;
}

/* ---- advice ---- */

static const char *
joined_advice(struct slot *slot, const char *title, const char *text)
{
    struct arena *arena = slot->phase->team->loop->arena;
    return slot->advice ? arena_printf(arena, "%s\n%s: %s", slot->advice, title, text)
                        : arena_printf(arena, "%s: %s", title, text);
}

/* An object in words: "bottleneck: ...; method: ...". */
static const char *
item_words(struct team *team, const struct recipe_role *role, const struct agent_item *item)
{
    struct buf buf = buf_in(team->loop->arena);
    for (size_t i = 0; i < role->agent.returns.field_count; i++)
        if (item->values[i] != NULL)
            buf_printf(&buf, "%s%s: %s", buf.length ? "; " : "", role->agent.returns.fields[i].name,
                       item->values[i]);
    return buf.data ? buf.data : "";
}

static const char *
documents_named(struct team *team, const char *text)
{
    struct buf buf = buf_in(team->loop->arena);
    for (size_t i = 0; i < agent_technique_count; i++)
        if (text != NULL && strstr(text, agent_techniques[i].name))
            buf_printf(&buf, "%s: %s. Measured: %s\n", agent_techniques[i].name,
                       agent_techniques[i].what, agent_techniques[i].measured);
    return buf.data;
}

static void
steer(struct phase *phase, const char *words)
{
    if (strstr(words, "stop"))
        phase->ended = true;
    const char *redirect = strstr(words, "redirect");
    if (redirect != NULL)
        phase->redirect = redirect;
}

/* What an adviser said goes where it belongs. */
static void
take_advice(struct slot *slot, const struct recipe_role *role, const struct agent_reply *reply)
{
    struct phase *phase = slot->phase;
    struct team *team = phase->team;
    const char *words = reply->item_count > 0 ? item_words(team, role, &reply->items[0])
                        : reply->text != NULL ? reply->text
                                              : reply->why;
    switch (role->agent.kind) {
    case AGENT_PLANNER:
        team__add_plans(phase, role, reply);
        break;
    case AGENT_SELECTOR:
        if (reply->pick > 0 && (size_t)reply->pick <= team->node_count &&
            !team->nodes[reply->pick - 1]->empty) {
            slot->base = team->nodes[reply->pick - 1];
            slot->step.parents[0] = slot->base->number;
            slot->step.parent_count = slot->step.parent_count ? slot->step.parent_count : 1;
        }
        break;
    case AGENT_LIBRARIAN:
        slot->documents = documents_named(team, words);
        break;
    case AGENT_CONTROLLER:
        steer(phase, words);
        break;
    case AGENT_CRITIC:
        if (reply->item_count > 0) {
            slot->low = team__number(role, &reply->items[0], "low");
            slot->high = team__number(role, &reply->items[0], "high");
        }
        slot->advice = joined_advice(slot, role->agent.name, words);
        break;
    default:
        slot->advice = joined_advice(slot, role->agent.name, words);
        break;
    }
}

/* Candidates that a selector may choose from: number i is node i - 1. */
static const char *const *
choices_of(struct team *team, size_t *count)
{
    const char **choices = arena_array(team->loop->arena, team->node_count + 1, sizeof *choices);
    *count = team->node_count;
    for (size_t i = 0; i < team->node_count; i++) {
        const struct node *node = team->nodes[i];
        choices[i] = arena_printf(team->loop->arena, "#%d %s %s", node->number,
                                  judge_status_name[node->status], team__time(team, node->us[0]));
    }
    return choices;
}

/* Whether a role speaks once a round, before there is a step to speak about. */
static bool
is_of_phase(const struct recipe_role *role)
{
    return role->agent.kind == AGENT_CONTROLLER ||
           (role->agent.kind == AGENT_PLANNER && role->when_count > 0);
}

static bool
is_adviser(const struct recipe_role *role)
{
    switch (role->agent.kind) {
    case AGENT_PLANNER:
    case AGENT_SELECTOR:
    case AGENT_CRITIC:
    case AGENT_PROFILER:
    case AGENT_REFLECTOR:
    case AGENT_LIBRARIAN:
    case AGENT_CONTROLLER:
        return true;
    default:
        return false;
    }
}

static const char *
question_for(struct phase *phase, const struct recipe_role *role)
{
    struct arena *arena = phase->team->loop->arena;
    if (role->question != NULL)
        return role->question;
    if (role->agent.kind == AGENT_PLANNER)
        return arena_printf(
            arena, "Propose %u plan%s.%s", phase->recipe->plans ? phase->recipe->plans : 1,
            phase->recipe->plans > 1 ? "s" : "",
            phase->round > 0 ? " What is on the board was tried; propose what is structurally "
                               "different."
                             : "");
    return NULL;
}

/* One adviser speaks about every slot that it is due for. */
static enum status
consult(struct phase *phase, const struct recipe_role *role, struct slot *slots, size_t count)
{
    struct team *team = phase->team;
    struct speech *speeches = arena_array(team->loop->arena, count, sizeof *speeches);
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        if (!speaks_now(phase, role, &slots[i]) || (is_of_phase(role) && i > 0))
            continue;
        speeches[i] = (struct speech){.role = role,
                                      .slot = &slots[i],
                                      .formats = role->agent.returns.formats,
                                      .question = question_for(phase, role)};
        if (role->agent.kind == AGENT_SELECTOR)
            speeches[i].choices = choices_of(team, &speeches[i].choice_count);
        status = team__ask(team, &speeches[i]);
        if (status == STATUS_NO) { /* no calls are left: without advice, then */
            speeches[i].role = NULL;
            status = STATUS_OK;
        }
    }
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        struct agent_reply reply;
        if (speeches[i].role == NULL)
            continue;
        status = team__hear(team, &speeches[i], &reply);
        if (status == STATUS_OK)
            take_advice(&slots[i], role, &reply);
        else if (status == STATUS_NO)
            status = STATUS_OK;
    }
    return status;
}

enum status
team__advise(struct phase *phase, struct slot *slots, size_t count)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < phase->recipe->role_count && status == STATUS_OK; i++) {
        const struct recipe_role *role = &phase->recipe->roles[i];
        if (role->agent.kind == AGENT_PLANNER && phase->round > 0 &&
            has_moment(role, RECIPE_STAGNANT) && speaks_now(phase, role, &slots[0])) {
            if (phase->replans >= (phase->recipe->replans ? phase->recipe->replans : 2))
                continue;
            phase->replans++;
        }
        if (is_adviser(role))
            status = consult(phase, role, slots, count);
        /* plans that are open are taken before the next adviser speaks */
        for (size_t k = 0; k < count && role->agent.kind == AGENT_PLANNER; k++) {
            struct plan *plan = slots[k].plan ? NULL : team__next_plan(phase, slots[k].step.plan);
            if (plan != NULL) {
                plan->taken = true;
                slots[k].plan = plan;
            }
        }
    }
    return status;
}
