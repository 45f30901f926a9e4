/* Advisers: roles that speak before the coder does, and where their words go. */
#include "run/team_int.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- when a role speaks ---- */

static bool
sees_section(const struct recipe_role *role, enum agent_section section)
{
    for (size_t i = 0; i < role->agent.sight_count; i++)
        if (role->agent.sees[i].section == section)
            return true;
    return false;
}

/* What a role speaks about: the base, or, if it sees a candidate, the one that was judged last. */
static const struct node *
subject_of(const struct recipe_role *role, const struct slot *slot)
{
    const struct node *last = slot->phase->last;
    return last != NULL && sees_section(role, AGENT_SECTION_CANDIDATE) ? last
                                                                       : team__solid(slot->base);
}

/* On a blank page nothing fails and nothing passes yet. */
static bool
is_failing(const struct recipe_role *role, const struct slot *slot)
{
    const struct node *subject = subject_of(role, slot);
    return subject != NULL && subject->status != JUDGE_CORRECT;
}

static bool
is_passing(const struct recipe_role *role, const struct slot *slot)
{
    const struct node *subject = subject_of(role, slot);
    return subject != NULL && subject->status == JUDGE_CORRECT;
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
            if (slot->plan == NULL)
                return true;
            break;
        case RECIPE_FAILING:
            if (is_failing(role, slot))
                return true;
            break;
        case RECIPE_PASSING:
            if (is_passing(role, slot))
                return true;
            break;
        case RECIPE_STAGNANT:
            if (team__is_stagnant(phase))
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

static bool
is_each_round(const struct recipe_role *role)
{
    return !has_moment(role, RECIPE_START) && !has_moment(role, RECIPE_STAGNANT);
}

static bool
gives_list(const struct recipe_role *role)
{
    return role->agent.kind == AGENT_PLANNER &&
           (role->agent.returns.formats & 1u << AGENT_FORMAT_LIST);
}

/* What is said before the first round holds for all of them. */
static bool
is_standing(const struct recipe_role *role)
{
    return role->agent.kind != AGENT_PLANNER && role->when_count == 1 &&
           role->when[0].moment == RECIPE_START;
}

/* Speaks once in a round: who chooses, steers, is a person, or speaks about the phase. */
static bool
is_of_round(const struct recipe_role *role)
{
    return role->agent.kind == AGENT_CONTROLLER || role->agent.kind == AGENT_SELECTOR ||
           is_standing(role) || (gives_list(role) && !is_each_round(role)) ||
           (role->model != NULL && !strcmp(role->model, "ask"));
}

/* What is said of a base serves all steps from it; a plan, and advice where no plan is left, is for
 * one step alone. */
static bool
is_of_base(const struct recipe_role *role)
{
    return gives_list(role) ||
           (role->agent.kind != AGENT_PLANNER && !has_moment(role, RECIPE_NO_PLAN));
}

/* The step of this round whose advice serves that of this number, too. */
static size_t
served_by(const struct recipe_role *role, const struct slot *slots, size_t number)
{
    if (is_of_round(role))
        return 0;
    for (size_t i = 0; i < number && is_of_base(role); i++)
        if (slots[i].base == slots[number].base)
            return i;
    return number;
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

/* What is to be done stands first; words after it may say anything. Who accepts what there is has
 * no more to ask for in this phase. */
static void
steer(struct phase *phase, const char *action, const char *words)
{
    action += strspn(action, " \t\n\"");
    if (text_starts(action, "stop") || text_starts(action, "accept"))
        phase->ended = true;
    phase->redirect = text_starts(action, "redirect") ? words : NULL;
}

/* ---- whom to go on from ---- */

/* The candidate that a choice of this number, from 1 on, names. */
static struct node *
choice_at(struct team *team, size_t number)
{
    for (size_t i = 0; i < team->node_count; i++)
        if (!team->nodes[i]->empty && --number == 0)
            return team->nodes[i];
    return NULL;
}

static const char *const *
choices_of(struct team *team, size_t *count)
{
    const char **choices = arena_array(team->loop->arena, team->node_count + 1, sizeof *choices);
    *count = 0;
    for (const struct node *node; (node = choice_at(team, *count + 1)) != NULL;)
        choices[(*count)++] =
            arena_printf(team->loop->arena, "#%d %s %s", node->number,
                         judge_status_name[node->status], team__time(team, node->us[0]));
    return choices;
}

/* All steps of the round go on from the one that was chosen; the next best stands beside it. */
static void
choose_base(struct slot *slots, size_t count, int pick)
{
    struct team *team = slots[0].phase->team;
    struct node *base = pick > 0 ? choice_at(team, (size_t)pick) : NULL, *other = NULL;
    if (base == NULL)
        return;
    for (size_t i = 0; i < team->node_count; i++) {
        struct node *node = team->nodes[i];
        if (node != base && !node->empty && node->status == JUDGE_CORRECT &&
            (other == NULL || node->cost < other->cost))
            other = node;
    }
    for (size_t i = 0; i < count; i++) {
        slots[i].base = base;
        slots[i].other = other;
        slots[i].step.parents[0] = base->number;
        slots[i].step.parent_count = slots[i].step.parent_count ? slots[i].step.parent_count : 1;
    }
}

/* Advice is for each step that it serves; plans, choices and directions are for the round. */
static bool
is_shared(const struct recipe_role *role)
{
    return role->agent.kind != AGENT_PLANNER && role->agent.kind != AGENT_SELECTOR &&
           role->agent.kind != AGENT_CONTROLLER;
}

static const char *
words_of(struct team *team, const struct recipe_role *role, const struct agent_reply *reply)
{
    return reply->item_count > 0 ? item_words(team, role, &reply->items[0])
           : reply->text != NULL ? reply->text
                                 : reply->why;
}

static void
take_for_round(struct slot *slots, size_t count, struct slot *slot, const struct recipe_role *role,
               const struct agent_reply *reply)
{
    struct phase *phase = slot->phase;
    const char *words = words_of(phase->team, role, reply);
    const char *first = reply->item_count > 0 ? reply->items[0].values[0] : NULL;
    if (role->agent.kind == AGENT_PLANNER)
        team__add_plans(slot, role, reply, is_each_round(role) ? slot->base : NULL);
    else if (role->agent.kind == AGENT_SELECTOR)
        choose_base(slots, count, reply->pick);
    else
        steer(phase, first ? first : words, words);
}

static void
take_advice(struct slot *slot, const struct recipe_role *role, const struct agent_reply *reply)
{
    struct phase *phase = slot->phase;
    const char *words = words_of(phase->team, role, reply);
    if (role->agent.kind == AGENT_LIBRARIAN) {
        const char *named = documents_named(phase->team, words);
        slot->documents = slot->documents && named ? arena_printf(phase->team->loop->arena, "%s%s",
                                                                  slot->documents, named)
                          : named                  ? named
                                                   : slot->documents;
        phase->no_cases = text_starts(words, "none");
    } else
        slot->advice = joined_advice(slot, role->agent.name, words);
    if (role->agent.kind == AGENT_CRITIC && reply->item_count > 0) {
        slot->low = team__number(role, &reply->items[0], "low");
        slot->high = team__number(role, &reply->items[0], "high");
    }
    if (is_standing(role)) {
        phase->documents = slot->documents;
        phase->advice = slot->advice;
    }
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
question_for(struct phase *phase, const struct recipe_role *role, const struct speech *speech)
{
    struct arena *arena = phase->team->loop->arena;
    if (role->agent.kind == AGENT_SELECTOR)
        return team__numbered(arena, "Which one is to be gone on from?", speech);
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

static struct speech
speech_of(struct phase *phase, const struct recipe_role *role, struct slot *slot)
{
    struct speech speech = {.role = role, .slot = slot, .formats = role->agent.returns.formats};
    if (sees_section(role, AGENT_SECTION_CANDIDATE)) {
        speech.candidate = subject_of(role, slot);
        speech.parent = speech.candidate && speech.candidate->parent_count > 0
                            ? speech.candidate->parents[0]
                            : NULL;
    }
    if (role->agent.kind == AGENT_SELECTOR)
        speech.choices = choices_of(phase->team, &speech.choice_count);
    speech.question = question_for(phase, role, &speech);
    return speech;
}

/* What all of a role said of a slot. */
static void
take_all(struct slot *slots, size_t count, size_t number, const struct recipe_role *role,
         const struct chorus *chorus)
{
    struct agent_reply reply;
    for (size_t n = 0; n < chorus->count && is_shared(role); n++)
        for (size_t k = number; k < count; k++)
            if (served_by(role, slots, k) == number)
                take_advice(&slots[k], role, &chorus->parts[n].reply);
    if (!is_shared(role) && team__join(slots[number].phase->team, chorus, &reply))
        take_for_round(slots, count, &slots[number], role, &reply);
}

/* One adviser, or several of its kind, speak about every slot that they are due for. */
static enum status
consult(struct phase *phase, const struct recipe_role *role, struct slot *slots, size_t count)
{
    struct team *team = phase->team;
    struct chorus *choruses = arena_array(team->loop->arena, count, sizeof *choruses);
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        if (!speaks_now(phase, role, &slots[i]) || served_by(role, slots, i) != i)
            continue;
        struct speech speech = speech_of(phase, role, &slots[i]);
        status = team__ask_all(team, &speech, &choruses[i]);
    }
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        status = team__hear_all(team, &choruses[i]);
        if (status == STATUS_OK)
            take_all(slots, count, i, role, &choruses[i]);
    }
    return status;
}

enum status
team__plan_ahead(struct phase *phase)
{
    struct slot slot = {.phase = phase,
                        .step = {.plan = -1, .arm = -1},
                        .base = phase->team->best ? phase->team->best : phase->team->start};
    enum status status = STATUS_OK;
    phase->barren = true;
    for (size_t i = 0; i < phase->recipe->role_count && status == STATUS_OK; i++)
        if (phase->recipe->roles[i].agent.kind == AGENT_PLANNER)
            status = consult(phase, &phase->recipe->roles[i], &slot, 1);
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
            if (phase->replans >= team__replans(phase->recipe))
                continue;
            phase->replans++;
        }
        bool ahead = role->agent.kind == AGENT_PLANNER &&
                     phase->recipe->search.topology == SEARCH_BEST_FIRST; /* it spoke already */
        if (is_adviser(role) && !ahead)
            status = consult(phase, role, slots, count);
        /* plans that are open are taken before the next adviser speaks */
        for (size_t k = 0; k < count && role->agent.kind == AGENT_PLANNER; k++) {
            struct plan *plan = slots[k].plan ? NULL : team__next_plan(phase, &slots[k]);
            if (plan != NULL) {
                plan->taken = true;
                slots[k].plan = plan;
            }
        }
    }
    return status;
}
