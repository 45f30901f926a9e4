/* A phase from its seeds to what it hands on: when it ends, and why. */
#include "run/team_int.h"

#include <math.h>
#include <string.h>

bool
team__has_light(const struct team *team, double share)
{
    const struct run_result *result = team->loop->result;
    for (size_t i = 0; i < result->case_count; i++) {
        const struct run_case *of = &result->cases[i];
        double us = team->best ? team->best->us[i] : of->best ? of->best->us : INFINITY;
        if (!of->program->check_only && !(of->light.us / us >= share))
            return false;
    }
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

unsigned
team__replans(const struct recipe_phase *recipe)
{
    return recipe->replans ? recipe->replans : 2;
}

bool
team__is_stagnant(const struct phase *phase)
{
    unsigned rounds = phase->recipe->stagnant ? phase->recipe->stagnant : 3;
    return phase->quiet > 0 && phase->quiet % rounds == 0;
}

/* Against the plain program, if that is what it began with. */
static bool
has_gain(const struct team *team, double gain)
{
    const struct node *start = team->start, *best = team__solid(team->best);
    return start != NULL && best != NULL && !strcmp(start->phase, "start") &&
           start->cost / best->cost >= gain;
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
    if (loop->result->evaluations >= loop->options->evaluations ||
        (recipe->evals > 0 && loop->result->evaluations - phase->evaluated >= recipe->evals))
        return "evals";
    if (loop->options->seconds > 0 && run__elapsed(loop) >= loop->options->seconds)
        return "time";
    if (stop->seconds > 0 && run__elapsed(loop) - phase->began >= stop->seconds)
        return "phase time";
    if (team__has_light(team, until))
        return "light";
    if (stop->stagnant > 0 && phase->quiet >= stop->stagnant)
        return "no progress";
    if (stop->reverts > 0 && phase->reverts >= stop->reverts)
        return "reverts";
    if (stop->correct > 0 && correct_count(team, phase) >= stop->correct)
        return "correct";
    if (stop->replanned && phase->replans >= team__replans(recipe) && team__is_stagnant(phase))
        return "no progress";
    if (stop->plans_empty && phase->barren && !has_open_plan(phase))
        return "plans empty";
    if (stop->gain > 0 && has_gain(team, stop->gain))
        return "gain";
    if (recipe->share > 0 && loop->options->seconds > 0 &&
        run__elapsed(loop) - phase->began >= recipe->share * loop->options->seconds)
        return "phase time";
    return NULL;
}

/* Is one of this structure handed on already? They come the fastest first. */
static bool
has_structure(struct team *team, const struct node *node)
{
    for (size_t i = 0; i < team->handed_count; i++)
        if (team__structure(team, team->handed[i]) == team__structure(team, node))
            return true;
    return false;
}

static void
hand_on(struct phase *phase)
{
    struct team *team = phase->team;
    int numbers[TEAM_SLOTS];
    size_t most = phase->recipe->pass == RECIPE_PASS_BEST ? 1
                  : phase->recipe->pass_count             ? phase->recipe->pass_count
                                                          : TEAM_SLOTS;
    size_t count = search_walk_best(phase->walk, numbers, most < TEAM_SLOTS ? most : TEAM_SLOTS);
    team->handed = arena_array(team->loop->arena, count + 1, sizeof *team->handed);
    team->handed_count = 0;
    for (size_t i = 0; i < count; i++) {
        struct node *node = team__node_at(team, numbers[i]);
        if (node != NULL && !node->empty && node->status == JUDGE_CORRECT &&
            !(phase->recipe->pass == RECIPE_PASS_CELLS && has_structure(team, node)))
            team->handed[team->handed_count++] = node;
    }
    if (team->handed_count == 0 && team->best != NULL)
        team->handed[team->handed_count++] = team->best;
}

static void
seed(struct phase *phase)
{
    struct team *team = phase->team;
    if (phase->recipe->objective == RECIPE_COUNTER && team->start != NULL)
        team__look_at(team, team->start);
    for (size_t i = 0; i < team->node_count; i++) { /* phases need not want the same */
        double cost = team__cost(team, phase->recipe, team->nodes[i]);
        if (!isinf(cost))
            team->nodes[i]->cost = cost;
    }
    for (size_t i = 0; i < team->handed_count && !phase->recipe->start_blank; i++) {
        struct slot slot = {.phase = phase, .made = team->handed[i], .accepted = true};
        struct search_node seen = team__told(phase, &slot);
        search_walk_seed(phase->walk, &seen);
    }
}

/* Whoever gives too much that cannot be used is asked no more. */
static void
give_up_models(struct phase *phase)
{
    struct team *team = phase->team;
    unsigned most = phase->recipe->stop.unusable;
    if (most == 0 || team->unusable_in_a_row < most || team->alone)
        return;
    team->alone = true;
    team__news(team, "builtin", 0, "%u replies in a row could not be used: the micro-coder goes on",
               team->unusable_in_a_row);
}

/* The steps of the next round. Best-first goes on from plans, so that the planner is asked before
 * there is a step. */
static enum status
next_steps(struct phase *phase, struct search_step *steps, size_t most, size_t *count)
{
    *count = search_walk_ask(phase->walk, steps, most);
    if (*count > 0 || phase->recipe->search.topology != SEARCH_BEST_FIRST || phase->barren)
        return STATUS_OK;
    enum status status = team__plan_ahead(phase);
    if (status == STATUS_OK)
        *count = search_walk_ask(phase->walk, steps, most);
    return status;
}

enum status
team__work(struct team *team, const struct recipe_phase *recipe)
{
    struct loop *loop = team->loop;
    struct search_rule rule = recipe->search;
    struct search_step steps[TEAM_SLOTS];
    struct phase *phase = arena_alloc(loop->arena, sizeof *phase);
    *phase = (struct phase){.team = team,
                            .evaluated = loop->result->evaluations,
                            .recipe = recipe,
                            .began = run__elapsed(loop),
                            .rng = rng_stream(loop->options->seed, recipe->name)};
    enum status status = STATUS_OK;
    team->phase = phase;
    phase->walk = search_walk_open(loop->arena, &rule, loop->options->seed);
    seed(phase);
    status = team__test(phase, RECIPE_START);
    while (status == STATUS_OK && (phase->why = why_stop(phase)) == NULL) {
        size_t count;
        give_up_models(phase);
        status = next_steps(phase, steps, TEAM_SLOTS / team__samples(phase), &count);
        if (count == 0)
            break;
        if (status == STATUS_OK)
            status = team__round(phase, steps, count);
    }
    if (status == STATUS_OK)
        status = team__test(phase, RECIPE_END);
    loop->result->stopped = phase->why ? phase->why : "rounds";
    hand_on(phase);
    team->phase = NULL;
    return status;
}
