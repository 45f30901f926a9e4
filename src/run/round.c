/* A round: the walk says whom to work on, advisers speak, coders answer, and what they answer goes
 * through the joints. Questions of one kind are put together; while one reply is judged, the others
 * may still be on their way. */
#include "run/team_int.h"

#include <math.h>
#include <string.h>
#include <strings.h>

enum { USUAL_CHOICES = 24 };

/* ---- slots ---- */

static struct slot
open_slot(struct phase *phase, const struct search_step *step)
{
    struct team *team = phase->team;
    struct slot slot = {.phase = phase, .step = *step, .low = NAN, .high = NAN, .gain = NAN};
    slot.base = step->parent_count > 0 ? team__node_at(team, step->parents[0]) : NULL;
    slot.cross = step->parent_count > 1;
    slot.other = slot.cross                    ? team__node_at(team, step->parents[1])
                 : step->inspiration_count > 0 ? team__node_at(team, step->inspirations[0])
                                               : NULL;
    if (slot.base == NULL && !phase->recipe->start_blank)
        slot.base = team->start;
    slot.advice = phase->advice;
    slot.documents = phase->documents;
    if (step->arm >= 0 && (size_t)step->arm < phase->recipe->arm_count)
        slot.advice =
            arena_printf(team->loop->arena, "strategy: %s", phase->recipe->arms[step->arm].name);
    slot.invent = rng_uniform(&phase->rng) < phase->recipe->invent;
    return slot;
}

/* Legal one-step changes of the base that were not tried, for a coder that may pick one. */
static void
list_changes(struct slot *slot, const struct recipe_role *coder)
{
    struct team *team = slot->phase->team;
    const struct node *base = team__solid(slot->base);
    unsigned most = coder->agent.returns.most ? coder->agent.returns.most : USUAL_CHOICES;
    if (!(coder->agent.returns.formats & 1u << AGENT_FORMAT_PICK) || base == NULL ||
        base->schedule == NULL || base->programs != NULL)
        return;
    const char **words = arena_array(team->loop->arena, most, sizeof *words);
    slot->changes = arena_array(team->loop->arena, most, sizeof *slot->changes);
    slot->change_count = team__changes(slot, slot->changes, most);
    for (size_t i = 0; i < slot->change_count; i++)
        words[i] = slot->changes[i].words;
    slot->choices = words;
}

/* Which way the coder answers, by the recipe's mix. */
static unsigned
formats_for(struct phase *phase, struct slot *slot, const struct recipe_role *coder)
{
    const struct recipe_phase *recipe = phase->recipe;
    list_changes(slot, coder);
    unsigned all = coder->agent.returns.formats;
    double sum = recipe->mix_edit + recipe->mix_whole + recipe->mix_cross;
    double at = rng_uniform(&phase->rng) * sum;
    unsigned whole =
        1u << AGENT_FORMAT_FILE | 1u << AGENT_FORMAT_SCHEDULE | 1u << AGENT_FORMAT_PROGRAM;
    unsigned edit = 1u << AGENT_FORMAT_EDITS | 1u << AGENT_FORMAT_STAGE | 1u << AGENT_FORMAT_FILL |
                    1u << AGENT_FORMAT_SCHEDULE;
    unsigned first = team__solid(slot->base) == NULL ? all & whole : 0;
    if (first != 0)
        return first;
    if (slot->change_count > 0 && team__chooses(phase->team, coder))
        return 1u << AGENT_FORMAT_PICK;
    all &= ~(1u << AGENT_FORMAT_PICK);
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

/* Small models choose, they do not write: the host names legal changes of the base. */
static void
offer_changes(struct slot *slot)
{
    struct speech *speech = slot->speech;
    speech->choices = slot->choices;
    speech->choice_count = slot->change_count;
    speech->question = team__numbered(slot->phase->team->loop->arena,
                                      "Which one of these changes shall be made?", speech);
}

static enum status
ask_coder(struct phase *phase, struct slot *slot)
{
    struct team *team = phase->team;
    choose_cross(phase, slot);
    const struct recipe_role *role = coder_for(phase, slot);
    slot->formats = formats_for(phase, slot, role);
    slot->speech = arena_alloc(team->loop->arena, sizeof *slot->speech);
    *slot->speech = (struct speech){.role = role,
                                    .slot = slot,
                                    .formats = slot->formats,
                                    .question = slot->cross ? "Join the two kernels: take from "
                                                              "each what makes it fast."
                                                            : NULL};
    if (slot->formats == 1u << AGENT_FORMAT_PICK)
        offer_changes(slot);
    return team__ask(team, slot->speech);
}

static enum status
hear_coder(struct phase *phase, struct slot *slot)
{
    slot->heard = true;
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

/* It is kept, without a verdict. */
static enum status
leave_out(struct phase *phase, struct slot *slot, int votes)
{
    struct node *node = slot->made;
    enum status status = STATUS_OK;
    slot->dropped = true;
    slot->made = NULL;
    team__news(phase->team, "verifier", slot->step.lane, "%d votes: not run", votes);
    if (node != NULL && node->status != JUDGE_REJECTED) { /* else it is there already */
        status = team__record(phase->team, node, NULL);
        if (status == STATUS_OK)
            status = team__decide(phase->team, node, "not run");
    }
    return status;
}

/* What the verifiers think of a proposal. */
struct opinion {
    int votes;
    double score;
};

/* By votes, then by what is expected of it; the first one where there is no difference. */
static bool
is_liked_more(const struct opinion *opinions, size_t a, size_t b)
{
    if (opinions[a].votes != opinions[b].votes)
        return opinions[a].votes > opinions[b].votes;
    return opinions[a].score != opinions[b].score ? opinions[a].score > opinions[b].score : a < b;
}

/* By its first word. */
static bool
is_yes(const char *words)
{
    static const char *const yes[] = {"yes", "true", "run", "ok", "pass", "correct"};
    size_t length = strcspn(words, " ,.;:\n");
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        if (strlen(yes[i]) == length && !strncasecmp(words, yes[i], length))
            return true;
    return false;
}

static bool
may_run(const struct slot *slot)
{
    return !slot->dropped && slot->failed == NULL;
}

/* A verifier without an answer abstains. */
static enum status
hear_verifier(struct team *team, struct speech *speech, struct opinion *opinion)
{
    struct agent_reply reply;
    enum status status = team__hear(team, speech, &reply);
    speech->slot->failed = NULL;
    if (status != STATUS_OK)
        return status == STATUS_NO ? STATUS_OK : status;
    const struct agent_item *item = reply.item_count ? &reply.items[0] : NULL;
    const char *words = item ? item->values[0] : reply.text;
    double score = item ? team__number(speech->role, item, "score") : NAN;
    opinion->score += isnan(score) ? 0 : score;
    opinion->votes += words != NULL && is_yes(words);
    return STATUS_OK;
}

/* All proposals are put to one verifier at once. */
static enum status
ask_verifier(struct phase *phase, const struct recipe_role *role, struct slot *slots, size_t count,
             struct opinion *opinions)
{
    struct team *team = phase->team;
    struct speech *speeches = arena_array(team->loop->arena, count, sizeof *speeches);
    bool asked[TEAM_SLOTS] = {false};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        if (!may_run(&slots[i]))
            continue;
        speeches[i] = (struct speech){.role = role,
                                      .slot = &slots[i],
                                      .formats = role->agent.returns.formats,
                                      .question = "Is it worth running?"};
        status = team__ask(team, &speeches[i]);
        asked[i] = status == STATUS_OK;
        status = status == STATUS_NO ? STATUS_OK : status;
    }
    for (size_t i = 0; i < count && status == STATUS_OK; i++)
        if (asked[i])
            status = hear_verifier(team, &speeches[i], &opinions[i]);
    return status;
}

/* Verifiers vote on proposals before anything is built; the recipe says how many are run. */
static enum status
prefilter(struct phase *phase, struct slot *slots, size_t count)
{
    struct opinion opinions[TEAM_SLOTS] = {0};
    bool out[TEAM_SLOTS];
    enum status status = STATUS_OK;
    for (size_t r = 0; r < phase->recipe->role_count; r++) {
        const struct recipe_role *role = &phase->recipe->roles[r];
        unsigned times = role->agent.kind != AGENT_VERIFIER ? 0 : role->count ? role->count : 1;
        for (unsigned n = 0; n < times && status == STATUS_OK; n++)
            status = ask_verifier(phase, role, slots, count, opinions);
    }
    for (size_t i = 0; i < count; i++) {
        size_t better = 0;
        for (size_t k = 0; k < count; k++)
            better += may_run(&slots[k]) && is_liked_more(opinions, k, i);
        out[i] = may_run(&slots[i]) && better >= phase->recipe->prefilter;
    }
    for (size_t i = 0; i < count && status == STATUS_OK; i++)
        if (out[i])
            status = leave_out(phase, &slots[i], opinions[i].votes);
    return status;
}

/* ---- repairs ---- */

static bool
may_be_repaired(const struct phase *phase, const struct slot *slot)
{
    return recipe_role(phase->recipe, AGENT_DEBUGGER) != NULL && slot->failed != NULL &&
           !slot->dropped && !slot->numbers && slot->repairs < phase->recipe->repair &&
           !run__is_spent(phase->team->loop);
}

/* All debuggers are asked at once. */
static enum status
ask_debuggers(struct phase *phase, struct slot *slot, struct chorus *chorus)
{
    const struct recipe_role *role = recipe_role(phase->recipe, AGENT_DEBUGGER);
    struct speech speech = {.role = role,
                            .slot = slot,
                            .formats = role->agent.returns.formats,
                            .candidate = slot->made,
                            .question = arena_printf(phase->team->loop->arena,
                                                     "Repair it (attempt %u of %u).", slot->repairs,
                                                     phase->recipe->repair)};
    enum status status = team__ask_all(phase->team, &speech, chorus);
    return status == STATUS_OK ? team__hear_all(phase->team, chorus) : status;
}

/* What a debugger made of it; the base of a repair is what failed. */
static enum status
try_repair(struct slot *slot, struct node *failed, const struct part *part)
{
    struct node *base = slot->base;
    slot->dropped = false;
    slot->speech = part->speech;
    slot->reply = part->reply;
    slot->base = failed->kernel && failed->status != JUDGE_REJECTED ? failed : base;
    enum status status = team__prepare(slot);
    slot->base = base;
    if (slot->made != NULL && !slot->made->empty)
        slot->made->role = "debugger";
    if (status == STATUS_OK && slot->failed == NULL && !slot->dropped)
        status = team__judge(slot);
    return status;
}

/* The repairs are tried in turn, until one is right. */
static enum status
repair(struct phase *phase, struct slot *slot)
{
    struct node *failed = slot->made;
    struct chorus chorus;
    slot->repairs++;
    enum status status = ask_debuggers(phase, slot, &chorus);
    slot->dropped = status == STATUS_OK && chorus.asked > 0; /* unless one of them helps */
    if (chorus.asked == 0)
        slot->repairs = phase->recipe->repair;
    for (size_t i = 0; i < chorus.count && status == STATUS_OK; i++)
        if (i == 0 || slot->dropped || slot->failed != NULL)
            status = try_repair(slot, failed, &chorus.parts[i]);
    return status;
}

/* What failed is repaired as long as the recipe allows it. */
static enum status
judge_slot(struct phase *phase, struct slot *slot)
{
    enum status status = STATUS_OK;
    if (run__is_spent(phase->team->loop)) {
        slot->made = NULL; /* what nobody may judge is no candidate */
        slot->dropped = true;
    }
    if (!slot->dropped && slot->failed == NULL)
        status = team__judge(slot);
    while (status == STATUS_OK && may_be_repaired(phase, slot))
        status = repair(phase, slot);
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
struct search_node
team__told(struct phase *phase, const struct slot *slot)
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
        bool rated = base && !isinf(node->cost) && !isinf(base->cost);
        double gain = rated ? base->cost / node->cost : NAN;
        status = team__learn(slot, base, isnan(slot->gain) ? gain : slot->gain);
    }
    phase->last = node ? node : phase->last;
    phase->reverts = slot->accepted ? 0 : phase->reverts + 1;
    return status;
}

/* Where the last one is gone on from, one that was not accepted is not, unless there is nothing
 * better: the line stays where it was. */
static bool
goes_on(const struct phase *phase, const struct slot *slot)
{
    const struct search_rule *rule = &phase->recipe->search;
    const struct node *base = team__solid(slot->base);
    bool line = rule->select == SEARCH_SELECT_LAST &&
                (rule->topology == SEARCH_LINEAR || rule->topology == SEARCH_TRAJECTORIES ||
                 rule->topology == SEARCH_RACE);
    return !line || slot->accepted || phase->recipe->base.any || base == NULL ||
           base->status != JUDGE_CORRECT;
}

/* The walk is told the best of a step's samples. */
static void
tell(struct phase *phase, const struct slot *samples, size_t count)
{
    const struct slot *best = &samples[0];
    for (size_t i = 1; i < count; i++)
        if (samples[i].made != NULL &&
            (best->made == NULL || (samples[i].accepted && !best->accepted) ||
             (samples[i].accepted == best->accepted && samples[i].made->cost < best->made->cost)))
            best = &samples[i];
    struct slot stays = {.phase = phase, .made = best->base, .accepted = true};
    struct search_node seen = team__told(phase, goes_on(phase, best) ? best : &stays);
    search_walk_tell(phase->walk, &best->step, &seen);
}

/* ---- a round ---- */

static enum status
propose(struct phase *phase, struct slot *slots, size_t count)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        status = ask_coder(phase, &slots[i]);
        if (status == STATUS_NO) {
            slots[i].dropped = true;
            status = STATUS_OK;
        } else if (status == STATUS_OK && slots[i].speech->model == NULL)
            status = hear_coder(phase, &slots[i]); /* the next one will not say the same */
    }
    if (phase->recipe->prefilter > 0) {
        for (size_t i = 0; i < count && status == STATUS_OK; i++)
            if (!slots[i].dropped && !slots[i].heard)
                status = hear_coder(phase, &slots[i]);
        if (status == STATUS_OK)
            status = prefilter(phase, slots, count);
    }
    return status;
}

/* So many slots for each step, with the same advice. */
static struct slot *
sampled(struct phase *phase, const struct slot *steps, size_t count, unsigned samples)
{
    struct slot *slots = arena_array(phase->team->loop->arena, count * samples, sizeof *slots);
    for (size_t i = 0; i < count * samples; i++)
        slots[i] = steps[i / samples];
    return slots;
}

unsigned
team__samples(const struct phase *phase)
{
    const struct recipe_role *coder = recipe_role(phase->recipe, AGENT_CODER);
    unsigned samples = coder && coder->samples ? coder->samples : 1;
    samples *= coder && coder->count ? coder->count : 1; /* each of them is asked so often */
    return samples < TEAM_SLOTS ? samples : TEAM_SLOTS;
}

static enum status
carry_out(struct phase *phase, struct slot *slots, size_t count, unsigned samples)
{
    enum status status = propose(phase, slots, count);
    unsigned accepted = 0;
    for (size_t i = 0; i < count && status == STATUS_OK && !run__is_stopped(phase->team->loop);
         i++) {
        if (!slots[i].dropped && !slots[i].heard)
            status = hear_coder(phase, &slots[i]);
        if (status == STATUS_OK && !slots[i].dropped)
            status = judge_slot(phase, &slots[i]);
        if (status == STATUS_OK)
            status = finish_slot(phase, &slots[i]);
        if (status == STATUS_OK)
            status = team__express(&slots[i]);
        if (status == STATUS_OK && (i + 1) % samples == 0)
            tell(phase, &slots[i + 1 - samples], samples);
        accepted += slots[i].accepted;
    }
    phase->quiet = accepted > 0 ? 0 : phase->quiet + 1;
    return status;
}

enum status
team__round(struct phase *phase, const struct search_step *steps, size_t count)
{
    struct slot *slots = arena_array(phase->team->loop->arena, count, sizeof *slots);
    unsigned samples = team__samples(phase);
    enum status status = team__take_inbox(phase);
    for (size_t i = 0; i < count; i++)
        slots[i] = open_slot(phase, &steps[i]);
    if (status == STATUS_OK)
        status = team__advise(phase, slots, count);
    if (status == STATUS_OK && !phase->ended)
        status = carry_out(phase, sampled(phase, slots, count, samples), count * samples, samples);
    phase->round++;
    return status;
}
