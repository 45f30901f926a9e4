/* A phase: rounds of steps. In each round the walk says whom to work on, advisers speak, coders
 * answer, and what they answer goes through the joints. Questions of one kind are put together;
 * while one reply is judged, the others may still be on their way. */
#include "run/team_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SLOTS = 64 };

/* ---- when a role speaks ---- */

static bool
is_failing(const struct slot *slot)
{
    const struct node *base = slot ? slot->base : NULL;
    return base != NULL && base->status != JUDGE_CORRECT;
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

/* ---- plans ---- */

static int
field_of(const struct agent_shape *shape, const char *name)
{
    for (size_t i = 0; i < shape->field_count; i++)
        if (!strcmp(shape->fields[i].name, name))
            return (int)i;
    return -1;
}

static const char *
value_of(const struct recipe_role *role, const struct agent_item *item, const char *name,
         const char *otherwise)
{
    int field = field_of(&role->agent.returns, name);
    return field >= 0 && item->values[field] != NULL ? item->values[field] : otherwise;
}

static double
number_of(const struct recipe_role *role, const struct agent_item *item, const char *name)
{
    int field = field_of(&role->agent.returns, name);
    return field >= 0 ? item->numbers[field] : NAN;
}

/* A row of the technique table that the words name. */
static const char *
technique_in(const char *text)
{
    for (size_t i = 0; text != NULL && i < agent_technique_count; i++)
        if (strstr(text, agent_techniques[i].name))
            return agent_techniques[i].name;
    return NULL;
}

static struct plan
plan_of(struct team *team, const struct recipe_role *role, const struct agent_item *item)
{
    struct plan plan = {.kind = value_of(role, item, "kind", "code"),
                        .title = value_of(role, item, "title", ""),
                        .change = value_of(role, item, "change", ""),
                        .low = number_of(role, item, "low"),
                        .high = number_of(role, item, "high")};
    if (!*plan.change)
        plan.change = value_of(role, item, "plan", value_of(role, item, "method", plan.title));
    if (!*plan.title)
        plan.title = plan.change;
    plan.technique = technique_in(arena_printf(team->loop->arena, "%s %s %s", plan.title,
                                               plan.change, value_of(role, item, "technique", "")));
    return plan;
}

static bool
is_repeated(const struct phase *phase, const struct plan *plan)
{
    for (size_t i = 0; i < phase->plan_count; i++)
        if (phase->plans[i].taken && !strcmp(phase->plans[i].kind, plan->kind) &&
            !strcmp(phase->plans[i].title, plan->title))
            return true;
    return false;
}

static double
figure_of(const struct plan *plan, const char *field)
{
    double value = !strcmp(field, "high") ? plan->high : plan->low;
    return isnan(value) ? 0 : value;
}

/* Which of the new plans are wanted, by one rule; those that are already are left alone. */
static void
take_by(const struct recipe_taking *rule, struct plan *plans, size_t count, bool *wanted)
{
    unsigned left = rule->take == RECIPE_TAKE_TOP ? rule->most : 1;
    for (; left > 0; left--) {
        size_t best = count;
        for (size_t i = 0; i < count; i++) {
            bool new_kind = true;
            for (size_t k = 0; k < count; k++)
                new_kind = new_kind && !(wanted[k] && !strcmp(plans[k].kind, plans[i].kind));
            if (wanted[i] || (rule->take == RECIPE_TAKE_NEW_KIND && !new_kind))
                continue;
            const char *field = rule->field ? rule->field : "high";
            if (best == count || figure_of(&plans[i], field) > figure_of(&plans[best], field))
                best = i;
        }
        if (best < count)
            wanted[best] = true;
    }
}

static void
add_plans(struct phase *phase, const struct recipe_role *role, const struct agent_reply *reply)
{
    struct team *team = phase->team;
    struct arena *arena = team->loop->arena;
    struct plan *plans = arena_array(arena, reply->item_count + 1, sizeof *plans);
    bool *wanted = arena_array(arena, reply->item_count + 1, sizeof *wanted);
    size_t count = 0;
    for (size_t i = 0; i < reply->item_count; i++) {
        plans[count] = plan_of(team, role, &reply->items[i]);
        count += !is_repeated(phase, &plans[count]);
    }
    for (size_t i = 0; i < phase->recipe->take_count; i++)
        if (phase->recipe->take[i].take != RECIPE_TAKE_ALL)
            take_by(&phase->recipe->take[i], plans, count, wanted);
    for (size_t i = 0; i < count; i++)
        if (wanted[i] || phase->recipe->take_count == 0) {
            phase->plans = arena_grow(arena, phase->plans, phase->plan_count, phase->plan_count + 1,
                                      sizeof *phase->plans);
            phase->plans[phase->plan_count] = plans[i];
            search_walk_plan(phase->walk,
                             &(struct search_plan){.number = (int)phase->plan_count,
                                                   .parent = team->best ? team->best->number : 0,
                                                   .score = figure_of(&plans[i], "high"),
                                                   .difficulty = 1,
                                                   .rating = figure_of(&plans[i], "low")});
            phase->plan_count++;
            team__news(team, "plan", 0, "%s (%s)", plans[i].title, plans[i].kind);
        }
}

static struct plan *
next_plan(struct phase *phase, int number)
{
    if (number >= 0 && (size_t)number < phase->plan_count)
        return &phase->plans[number];
    for (size_t i = 0; i < phase->plan_count; i++)
        if (!phase->plans[i].taken)
            return &phase->plans[i];
    return NULL;
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
        add_plans(phase, role, reply);
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
            slot->low = number_of(role, &reply->items[0], "low");
            slot->high = number_of(role, &reply->items[0], "high");
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

/* ---- slots ---- */

static struct node *
node_at(struct team *team, int number)
{
    return number >= 0 && (size_t)number < team->node_count ? team->nodes[number] : NULL;
}

/* The stage that a step of a split program is about: one after the other, by size. */
static const char *
part_of(const struct phase *phase, unsigned turn)
{
    const struct program *program = phase->team->loop->result->cases[0].program;
    size_t parts =
        phase->recipe->split < program->stage_count ? phase->recipe->split : program->stage_count;
    return parts > 0 ? program->stages[program->stage_count - 1 - turn % parts].tensor->name : NULL;
}

static struct slot
open_slot(struct phase *phase, const struct search_step *step, unsigned turn)
{
    struct team *team = phase->team;
    struct slot slot = {.phase = phase, .step = *step, .low = NAN, .high = NAN, .gain = NAN};
    slot.base = step->parent_count > 0 ? node_at(team, step->parents[0]) : NULL;
    slot.cross = step->parent_count > 1;
    slot.other = slot.cross                    ? node_at(team, step->parents[1])
                 : step->inspiration_count > 0 ? node_at(team, step->inspirations[0])
                                               : NULL;
    if (slot.base == NULL && !phase->recipe->start_blank)
        slot.base = team->start;
    slot.part = phase->recipe->split ? part_of(phase, turn) : NULL;
    if (step->arm >= 0 && (size_t)step->arm < phase->recipe->arm_count)
        slot.advice =
            arena_printf(team->loop->arena, "strategy: %s", phase->recipe->arms[step->arm].name);
    slot.invent = rng_uniform(&phase->rng) < phase->recipe->invent;
    return slot;
}

/* Which way the coder answers, by the recipe's mix. */
static unsigned
formats_for(struct phase *phase, const struct slot *slot, const struct recipe_role *coder)
{
    const struct recipe_phase *recipe = phase->recipe;
    unsigned all = coder->agent.returns.formats;
    double sum = recipe->mix_edit + recipe->mix_whole + recipe->mix_cross;
    double at = rng_uniform(&phase->rng) * sum;
    unsigned whole =
        1u << AGENT_FORMAT_FILE | 1u << AGENT_FORMAT_SCHEDULE | 1u << AGENT_FORMAT_PROGRAM;
    unsigned edit = 1u << AGENT_FORMAT_EDITS | 1u << AGENT_FORMAT_STAGE | 1u << AGENT_FORMAT_FILL |
                    1u << AGENT_FORMAT_SCHEDULE;
    const struct node *base = team__solid(slot->base);
    if (base == NULL && (all & whole))
        return all & whole;
    if (slot->plan != NULL && !strcmp(slot->plan->kind, "schedule") &&
        (all & 1u << AGENT_FORMAT_SCHEDULE))
        return 1u << AGENT_FORMAT_SCHEDULE;
    if (slot->plan != NULL && !strcmp(slot->plan->kind, "program") &&
        (all & 1u << AGENT_FORMAT_PROGRAM))
        return 1u << AGENT_FORMAT_PROGRAM;
    if (sum <= 0)
        return all;
    unsigned wanted = all & (at < recipe->mix_edit ? edit : whole);
    return wanted ? wanted : all;
}

/* Another structure than the base's, to be crossed with it. */
static struct node *
another_structure(struct team *team, const struct node *base)
{
    struct node *best = NULL;
    for (size_t i = 0; i < team->node_count; i++) {
        struct node *node = team->nodes[i];
        if (node == base || node->empty || node->status != JUDGE_CORRECT ||
            team__structure(team, node) == team__structure(team, base))
            continue;
        if (best == NULL || node->cost < best->cost)
            best = node;
    }
    return best;
}

static void
choose_cross(struct phase *phase, struct slot *slot)
{
    const struct recipe_phase *recipe = phase->recipe;
    double sum = recipe->mix_edit + recipe->mix_whole + recipe->mix_cross;
    if (slot->cross || recipe->mix_cross <= 0 || slot->base == NULL ||
        rng_uniform(&phase->rng) * sum >= recipe->mix_cross)
        return;
    slot->other = another_structure(phase->team, slot->base);
    slot->cross = slot->other != NULL;
}

/* ---- proposals ---- */

static const struct recipe_role *
coder_for(const struct phase *phase, const struct slot *slot)
{
    const struct recipe_role *cross =
        slot->cross ? recipe_role(phase->recipe, AGENT_CROSSOVER) : NULL;
    return cross ? cross : recipe_role(phase->recipe, AGENT_CODER);
}

static enum status
ask_coder(struct phase *phase, struct slot *slot)
{
    struct team *team = phase->team;
    const struct recipe_role *role = coder_for(phase, slot);
    choose_cross(phase, slot);
    slot->formats = formats_for(phase, slot, role);
    slot->speech = arena_alloc(team->loop->arena, sizeof *slot->speech);
    *slot->speech = (struct speech){.role = role,
                                    .slot = slot,
                                    .formats = slot->formats,
                                    .question = slot->cross ? "Join the two kernels: take from "
                                                              "each what makes it fast."
                                                            : NULL};
    return team__ask(team, slot->speech);
}

static enum status
hear_coder(struct phase *phase, struct slot *slot)
{
    enum status status = team__hear(phase->team, slot->speech, &slot->reply);
    if (status == STATUS_OK)
        return team__prepare(slot);
    if (status == STATUS_NO) {
        slot->dropped = true;
        status = STATUS_OK;
    }
    return status;
}

/* ---- the prefilter ---- */

/* Verifiers vote on proposals before anything is built; the recipe says how many are run. */
static enum status
prefilter(struct phase *phase, struct slot *slots, size_t count)
{
    struct team *team = phase->team;
    int votes[MOST_SLOTS] = {0};
    enum status status = STATUS_OK;
    for (size_t r = 0; r < phase->recipe->role_count && status == STATUS_OK; r++) {
        const struct recipe_role *role = &phase->recipe->roles[r];
        for (unsigned n = 0; n < (role->count ? role->count : 1) &&
                             role->agent.kind == AGENT_VERIFIER && status == STATUS_OK;
             n++)
            for (size_t i = 0; i < count && status == STATUS_OK; i++) {
                struct agent_reply reply;
                struct speech speech = {.role = role,
                                        .slot = &slots[i],
                                        .formats = role->agent.returns.formats,
                                        .candidate = NULL,
                                        .question = "Is it worth running?"};
                if (slots[i].dropped || slots[i].failed != NULL)
                    continue;
                status = team__ask(team, &speech);
                if (status == STATUS_OK)
                    status = team__hear(team, &speech, &reply);
                if (status == STATUS_OK) {
                    const char *words = reply.item_count ? reply.items[0].values[0] : reply.text;
                    votes[i] += words != NULL && (strstr(words, "yes") || strstr(words, "true") ||
                                                  strstr(words, "run") || strstr(words, "ok"));
                }
                slots[i].failed = NULL; /* a verifier without an answer abstains */
                status = status == STATUS_NO ? STATUS_OK : status;
            }
    }
    for (size_t kept = 0, i = 0; i < count; i++) {
        size_t better = 0;
        for (size_t k = 0; k < count; k++)
            better += !slots[k].dropped && (votes[k] > votes[i] || (votes[k] == votes[i] && k < i));
        if (!slots[i].dropped && better >= phase->recipe->prefilter) {
            slots[i].text = NULL;
            team__news(team, "verifier", slots[i].step.lane, "%d votes: not run", votes[i]);
        } else
            kept++;
    }
    for (size_t i = 0; i < count; i++)
        slots[i].dropped = slots[i].dropped || slots[i].text == NULL;
    return status;
}

/* ---- repairs ---- */

static enum status
ask_debugger(struct phase *phase, struct slot *slot, bool *asked)
{
    struct team *team = phase->team;
    const struct recipe_role *role = recipe_role(phase->recipe, AGENT_DEBUGGER);
    *asked = false;
    if (role == NULL || slot->failed == NULL || slot->repairs >= phase->recipe->repair ||
        team->loop->result->evaluations >= team->loop->options->evaluations)
        return STATUS_OK;
    slot->repairs++;
    *slot->speech =
        (struct speech){.role = role,
                        .slot = slot,
                        .formats = role->agent.returns.formats,
                        .candidate = slot->made,
                        .question = arena_printf(team->loop->arena, "Repair it (attempt %u of %u).",
                                                 slot->repairs, phase->recipe->repair)};
    enum status status = team__ask(team, slot->speech);
    *asked = status == STATUS_OK;
    return status == STATUS_NO ? STATUS_OK : status;
}

/* What failed is repaired as long as the recipe allows it; the base of a repair is what failed. */
static enum status
judge_slot(struct phase *phase, struct slot *slot)
{
    struct node *base = slot->base;
    enum status status = STATUS_OK;
    bool again = true;
    while (status == STATUS_OK && again && !slot->dropped) {
        if (slot->failed == NULL)
            status = team__judge(slot);
        if (status == STATUS_OK)
            status = ask_debugger(phase, slot, &again);
        if (status == STATUS_OK && again) {
            slot->base =
                slot->made->kernel && slot->made->status != JUDGE_REJECTED ? slot->made : base;
            status = hear_coder(phase, slot);
            slot->base = base;
            if (slot->made != NULL && slot->made->parent_count > 0 && !slot->made->empty)
                slot->made->role = "debugger";
        }
    }
    return status;
}

/* ---- the end of a step ---- */

/* How much of what an arm aims at is used already: the speed of light says what limits the program.
 */
static double
used_of(const struct team *team, const struct node *node, enum recipe_aim aim)
{
    const struct light *light = &team->loop->result->cases[0].light;
    bool compute =
        light->limit != NULL && strcmp(light->limit, "memory") != 0 && light->limit[0] != 'L';
    double share = light->us / node->us[0];
    return (aim == RECIPE_AIM_COMPUTE) == compute ? share : 0;
}

/* What was not accepted does not stand before its base, whatever the noise says. */
static struct search_node
told(struct phase *phase, const struct slot *slot)
{
    struct team *team = phase->team;
    const struct node *node = slot->made, *base = team__solid(slot->base);
    struct search_node seen = {.number = -1, .cost = INFINITY};
    if (node == NULL)
        return seen;
    seen.number = node->number;
    seen.cost = node->cost;
    if (!slot->accepted && base != NULL && seen.cost < base->cost)
        seen.cost = base->cost * (1 + 1e-6);
    seen.cell = (unsigned)(team__structure(team, node) % 64);
    seen.where[0] = isinf(seen.cost) ? 0 : log(seen.cost);
    seen.where[1] = (double)(node->kernel ? strlen(node->kernel) : 0) / 1000;
    seen.where[2] = node->schedule ? (double)strlen(node->schedule) / 10 : 0;
    for (size_t i = 0; i < phase->recipe->arm_count && !isinf(seen.cost); i++)
        seen.used[i] = used_of(team, node, phase->recipe->arms[i].aim);
    return seen;
}

static enum status
finish_slot(struct phase *phase, struct slot *slot)
{
    struct team *team = phase->team;
    const struct node *base = team__solid(slot->base);
    struct node *node = slot->made;
    enum status status = STATUS_OK;
    if (node != NULL && !*node->decision)
        status = team__decide(team, node, node->status == JUDGE_CORRECT ? "not taken" : "dropped");
    if (status == STATUS_OK && node != NULL) {
        double gain = base && !isinf(node->cost) ? base->cost / node->cost : 0;
        status = team__learn(slot, base, isnan(slot->gain) ? gain : slot->gain);
    }
    phase->reverts = slot->accepted ? 0 : phase->reverts + 1;
    struct search_node seen = told(phase, slot);
    search_walk_tell(phase->walk, &slot->step, &seen);
    return status;
}

/* ---- people ---- */

/* What was said or added from outside since the last round. */
static enum status
take_inbox(struct phase *phase)
{
    struct team *team = phase->team;
    struct loop *loop = team->loop;
    struct store_note *notes = NULL;
    size_t count = 0;
    const char *answer, *key = arena_printf(loop->arena, "round %u", phase->round);
    if (loop->ledger->store == NULL)
        return STATUS_OK;
    enum status status = ledger_recall(loop->ledger, "inbox", key, &answer, loop->diags);
    if (status == STATUS_NO) {
        struct buf text = buf_in(loop->arena);
        status = store_inbox_take(loop->ledger->store, loop->arena, loop->ledger->run,
                                  loop->ledger->seconds, &notes, &count, loop->diags);
        for (size_t i = 0; i < count; i++)
            buf_printf(&text, "%s %zu\n%s\n", notes[i].kind, strlen(notes[i].text), notes[i].text);
        answer = text.data ? text.data : "";
        if (status == STATUS_OK)
            status = ledger_note(loop->ledger, "inbox", key, answer, loop->diags);
    }
    while (status == STATUS_OK && *answer) {
        char *end;
        bool says = answer[0] == 's';
        size_t length = strtoul(answer + 4, &end, 10);
        const char *text = arena_strndup(loop->arena, end + 1, length);
        answer = end + 1 + length + 1;
        if (says)
            team->hints = team->hints ? arena_printf(loop->arena, "%s\"%s\"\n", team->hints, text)
                                      : arena_printf(loop->arena, "\"%s\"\n", text);
        else
            status = team__add(team, text);
    }
    return status;
}

/* ---- a round ---- */

static enum status
advise(struct phase *phase, struct slot *slots, size_t count)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < phase->recipe->role_count && status == STATUS_OK; i++) {
        const struct recipe_role *role = &phase->recipe->roles[i];
        if (role->agent.kind == AGENT_PLANNER && phase->round > 0) {
            unsigned most = phase->recipe->replans ? phase->recipe->replans : 2;
            bool again = role->when_count > 0 && phase->quiet > 0;
            if (again && phase->replans >= most)
                continue;
            phase->replans += again && speaks_now(phase, role, &slots[0]);
        }
        if (is_adviser(role))
            status = consult(phase, role, slots, count);
        /* plans that are open are taken before the next adviser speaks */
        for (size_t k = 0; k < count && role->agent.kind == AGENT_PLANNER; k++) {
            struct plan *plan = slots[k].plan ? NULL : next_plan(phase, slots[k].step.plan);
            if (plan != NULL) {
                plan->taken = true;
                slots[k].plan = plan;
            }
        }
    }
    return status;
}

static enum status
propose(struct phase *phase, struct slot *slots, size_t count)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        status = ask_coder(phase, &slots[i]);
        if (status == STATUS_NO) {
            slots[i].dropped = true;
            status = STATUS_OK;
        }
    }
    if (phase->recipe->prefilter > 0) {
        for (size_t i = 0; i < count && status == STATUS_OK; i++)
            if (!slots[i].dropped)
                status = hear_coder(phase, &slots[i]);
        if (status == STATUS_OK)
            status = prefilter(phase, slots, count);
    }
    return status;
}

static enum status
work_round(struct phase *phase, const struct search_step *steps, size_t count)
{
    struct slot *slots = arena_array(phase->team->loop->arena, count, sizeof *slots);
    unsigned accepted = 0;
    enum status status = take_inbox(phase);
    for (size_t i = 0; i < count; i++)
        slots[i] = open_slot(phase, &steps[i], phase->round * (unsigned)count + (unsigned)i);
    if (status == STATUS_OK)
        status = advise(phase, slots, count);
    if (status == STATUS_OK && !phase->ended)
        status = propose(phase, slots, count);
    for (size_t i = 0; i < count && status == STATUS_OK && !phase->ended; i++) {
        if (!slots[i].dropped && phase->recipe->prefilter == 0)
            status = hear_coder(phase, &slots[i]);
        if (status == STATUS_OK && !slots[i].dropped)
            status = judge_slot(phase, &slots[i]);
        if (status == STATUS_OK)
            status = finish_slot(phase, &slots[i]);
        accepted += slots[i].accepted;
    }
    phase->quiet = accepted > 0 ? 0 : phase->quiet + 1;
    phase->round++;
    return status;
}

/* ---- a phase ---- */

static bool
has_light(const struct team *team, double share)
{
    const struct run_result *result = team->loop->result;
    const struct node *best = team->best;
    if (best == NULL || best->status != JUDGE_CORRECT)
        return false;
    for (size_t i = 0; i < result->case_count; i++)
        if (!result->cases[i].program->check_only &&
            !(result->cases[i].light.us / best->us[i] >= share))
            return false;
    return true;
}

static unsigned
correct_count(const struct team *team, const struct phase *phase)
{
    unsigned count = 0;
    for (size_t i = 0; i < team->node_count; i++)
        count += team->nodes[i]->status == JUDGE_CORRECT && !team->nodes[i]->empty &&
                 !strcmp(team->nodes[i]->phase, phase->recipe->name);
    return count;
}

static bool
has_open_plan(const struct phase *phase)
{
    for (size_t i = 0; i < phase->plan_count; i++)
        if (!phase->plans[i].taken)
            return true;
    return false;
}

static const char *
why_stop(const struct phase *phase)
{
    const struct team *team = phase->team;
    const struct loop *loop = team->loop;
    const struct recipe_phase *recipe = phase->recipe;
    const struct recipe_stop *stop = &recipe->stop;
    double until = stop->light > 0 ? stop->light : loop->options->until_light;
    if (run__is_stopped(loop))
        return "you";
    if (phase->ended)
        return "controller";
    if (team__spent(team) != NULL)
        return team__spent(team);
    if (loop->result->evaluations >= loop->options->evaluations)
        return "evals";
    if (loop->options->seconds > 0 && run__elapsed(loop) >= loop->options->seconds)
        return "time";
    if (stop->seconds > 0 && run__elapsed(loop) - phase->began >= stop->seconds)
        return "phase time";
    if (has_light(team, until))
        return "light";
    if (stop->stagnant > 0 && phase->quiet >= stop->stagnant)
        return "no progress";
    if (stop->unusable > 0 && team->unusable_in_a_row >= stop->unusable)
        return "unusable replies";
    if (stop->reverts > 0 && phase->reverts >= stop->reverts)
        return "reverts";
    if (stop->correct > 0 && correct_count(team, phase) >= stop->correct)
        return "correct";
    if (stop->plans_empty && phase->round > 0 && phase->plan_count > 0 && !has_open_plan(phase) &&
        phase->replans >= (recipe->replans ? recipe->replans : 2))
        return "plans empty";
    return NULL;
}

static void
hand_on(struct phase *phase)
{
    struct team *team = phase->team;
    int numbers[MOST_SLOTS];
    size_t most = phase->recipe->pass == RECIPE_PASS_BEST ? 1
                  : phase->recipe->pass_count             ? phase->recipe->pass_count
                                                          : MOST_SLOTS;
    size_t count = search_walk_best(phase->walk, numbers, most < MOST_SLOTS ? most : MOST_SLOTS);
    team->handed = arena_array(team->loop->arena, count + 1, sizeof *team->handed);
    team->handed_count = 0;
    for (size_t i = 0; i < count; i++) {
        struct node *node = node_at(team, numbers[i]);
        if (node != NULL && !node->empty && node->status == JUDGE_CORRECT)
            team->handed[team->handed_count++] = node;
    }
    if (team->handed_count == 0 && team->best != NULL)
        team->handed[team->handed_count++] = team->best;
}

static void
seed(struct phase *phase)
{
    struct team *team = phase->team;
    for (size_t i = 0; i < team->handed_count && !phase->recipe->start_blank; i++) {
        const struct node *node = team->handed[i];
        struct slot slot = {.phase = phase, .made = team->handed[i], .accepted = true};
        (void)node;
        struct search_node seen = told(phase, &slot);
        search_walk_seed(phase->walk, &seen);
    }
}

enum status
team__work(struct team *team, const struct recipe_phase *recipe)
{
    struct loop *loop = team->loop;
    struct search_rule rule = recipe->search;
    struct search_step steps[MOST_SLOTS];
    struct phase phase = {.team = team,
                          .recipe = recipe,
                          .began = run__elapsed(loop),
                          .rng = rng_stream(loop->options->seed, recipe->name)};
    enum status status = STATUS_OK;
    team->phase = &phase;
    phase.walk = search_walk_open(loop->arena, &rule, loop->options->seed);
    seed(&phase);
    while (status == STATUS_OK && (phase.why = why_stop(&phase)) == NULL) {
        size_t count = search_walk_ask(phase.walk, steps, MOST_SLOTS);
        if (count == 0)
            break;
        status = work_round(&phase, steps, count);
    }
    if (phase.why != NULL && (loop->result->stopped == NULL || !strcmp(phase.why, "you")))
        loop->result->stopped = phase.why;
    hand_on(&phase);
    team->phase = NULL;
    return status;
}
