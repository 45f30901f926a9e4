/* A program cut into parts, each with a run of its own and its share of what is left: evaluations,
 * time, calls, money. The parts are joined again, and the verdict is on the whole. A part is judged
 * as a task; its candidates are in the archive as steps of this run that serve no case. */
#include "run/team_int.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- shares ---- */

/* What a part may spend, counted from the beginning of the run but for its evaluations. */
struct part_share {
    double evaluations, seconds, calls, tokens, cost;
};

/* What is left, divided among the parts that are left and the whole. */
static double
part_of(double most, double spent, size_t left)
{
    return isfinite(most) && spent < most ? spent + (most - spent) / (double)(left + 1) : most;
}

static struct part_share
divide(const struct team *team, size_t left)
{
    const struct loop *loop = team->loop;
    const struct run_options *options = loop->options;
    const struct llm_budget none = llm_budget_without_limits();
    const struct llm_budget *budget = team->who->budget ? team->who->budget : &none;
    double spent = loop->result->evaluations;
    return (struct part_share){
        floor(part_of(options->evaluations, spent, left)) - spent,
        options->seconds > 0 ? part_of(options->seconds, run__elapsed(loop), left) : 0,
        ceil(part_of(budget->calls, budget->calls_begun, left)),
        part_of(budget->tokens, budget->tokens_spent, left),
        part_of(budget->cost, budget->cost_spent, left)};
}

/* Limits may be raised when a run goes on; shares stay those that it was begun with. */
static enum status
read_share(struct team *team, size_t number, size_t left, struct part_share *share)
{
    struct loop *loop = team->loop;
    const char *key = arena_printf(loop->arena, "part %zu", number), *answer;
    enum status status = ledger_recall(loop->ledger, "share", key, &answer, loop->diags);
    if (status == STATUS_NO) {
        struct part_share now = divide(team, left);
        answer = arena_printf(loop->arena, "%.17g %.17g %.17g %.17g %.17g", now.evaluations,
                              now.seconds, now.calls, now.tokens, now.cost);
        status = ledger_note(loop->ledger, "share", key, answer, loop->diags);
    }
    if (status == STATUS_OK &&
        sscanf(answer, "%lf %lf %lf %lf %lf", &share->evaluations, &share->seconds, &share->calls,
               &share->tokens, &share->cost) != 5) {
        diags_add(loop->diags, DIAG_ERROR, (struct place){0},
                  "the archive has no share where one should be: %.60s", answer);
        status = STATUS_MACHINE;
    }
    return status;
}

/* The limits on models while a part has its turn; counts stay those of the run. */
static void
set_limits(struct llm_budget *budget, double calls, double tokens, double cost)
{
    budget->calls = calls;
    budget->tokens = tokens;
    budget->cost = cost;
}

/* ---- one part ---- */

struct turn { /* of a part */
    struct run_options options;
    struct run_result result;
    struct loop loop;
    struct run_team who;
    struct recipe recipe;
    struct recipe_phase phase;
    struct team team;
};

static struct turn *
open_turn(struct team *team, const struct recipe_phase *phase, struct lang *lang, size_t number,
          const struct part_share *share)
{
    struct loop *loop = team->loop;
    struct turn *turn = arena_alloc(loop->arena, sizeof *turn);
    size_t cases = loop->result->case_count;
    size_t *numbers = arena_array(loop->arena, cases, sizeof *numbers);
    for (size_t i = 0; i < cases; i++)
        numbers[i] = i;
    turn->options = *loop->options;
    turn->options.lang = lang;
    turn->options.cases = numbers;
    turn->options.evaluations = (unsigned)share->evaluations;
    turn->options.seconds = share->seconds;
    turn->options.start = NULL;
    turn->options.team = &turn->who;
    turn->result = (struct run_result){.case_count = cases, .number = -1, .drafted_us = INFINITY};
    turn->loop = run__part(loop, &turn->options, &turn->result);
    turn->phase = *phase;
    turn->phase.name = arena_printf(loop->arena, "%s, part %zu", phase->name, number);
    turn->phase.split = 0;
    turn->recipe = *team->who->recipe;
    turn->recipe.phases = &turn->phase;
    turn->recipe.phase_count = 1;
    turn->who = *team->who;
    turn->who.recipe = &turn->recipe;
    turn->team = (struct team){.loop = &turn->loop, .who = &turn->who, .hints = team->hints};
    return turn;
}

static void
count_turn(struct team *team, const struct turn *turn)
{
    struct run_result *result = team->loop->result;
    result->evaluations += turn->result.evaluations;
    result->failed += turn->result.failed;
    result->proposals += turn->result.proposals;
    result->accepted += turn->result.accepted;
    result->unusable += turn->result.unusable;
}

/* What became of it; where nothing is right, the plain schedule of the part. */
static const struct node *
best_of(struct team *team)
{
    const struct node *best = team__solid(team->best);
    const char *reason;
    if (best != NULL && best->status == JUDGE_CORRECT)
        return best;
    struct node *plain = team__node(team, NULL);
    return team__schedule(team, "", plain, &reason) ? plain : NULL;
}

static enum status
run_turn(struct turn *turn, struct run_part *part)
{
    enum status status = run__open_cases(&turn->loop);
    if (status == STATUS_OK)
        status = team__open(&turn->team);
    if (status == STATUS_OK)
        status = team__phase(&turn->team, 0);
    if (status == STATUS_OK) {
        part->program = turn->result.cases[0].program;
        part->best = best_of(&turn->team);
    }
    team__close(&turn->team);
    return status;
}

static enum status
run_part(struct team *team, const struct recipe_phase *phase, struct run_part *part, size_t number,
         size_t left)
{
    struct llm_budget *budget = team->who->budget;
    struct llm_budget whole = budget ? *budget : llm_budget_without_limits();
    struct part_share share;
    enum status status = read_share(team, number, left, &share);
    if (status != STATUS_OK || share.evaluations < 1)
        return status; /* too little is left to run a part */
    struct turn *turn = open_turn(team, phase, part->lang, number, &share);
    team__news(team, "split", 0, "part %zu: %zu stages, %u evaluations", number, part->stage_count,
               turn->options.evaluations);
    if (budget != NULL)
        set_limits(budget, share.calls, share.tokens, share.cost);
    status = run_turn(turn, part);
    if (budget != NULL)
        set_limits(budget, whole.calls, whole.tokens, whole.cost);
    count_turn(team, turn);
    return status;
}

/* ---- cutting ---- */

/* As many as the recipe says at most, each of about as many stages; 0: it cannot be cut. */
static size_t
cut(struct team *team, unsigned most, struct run_part **parts)
{
    struct loop *loop = team->loop;
    const struct program **programs =
        arena_array(loop->arena, loop->result->case_count, sizeof *programs);
    size_t stages = loop->result->cases[0].program->stage_count, first = 0;
    size_t count = most < stages ? most : stages;
    *parts = arena_array(loop->arena, count + 1, sizeof **parts);
    for (size_t i = 0; i < loop->result->case_count; i++)
        programs[i] = loop->result->cases[i].program;
    for (size_t i = 0; i < count; i++) {
        struct run_part *part = &(*parts)[i];
        struct diags *ours = diags_create(loop->arena, 1);
        part->stage_count = (stages - first) / (count - i);
        if (!lang_part(loop->arena, programs, loop->result->case_count, first, part->stage_count,
                       &part->cut))
            return 0;
        part->lang = lang_parse(loop->arena, "part", part->cut.text, strlen(part->cut.text), ours);
        for (size_t k = 0; k < loop->result->case_count; k++)
            if (part->lang == NULL || lang_program(part->lang, k, NULL, 0, ours) == NULL)
                return 0;
        first += part->stage_count;
    }
    return count;
}

/* ---- all of it ---- */

static enum status
join(struct team *team, const struct recipe_phase *phase, const struct run_part *parts,
     size_t count)
{
    struct node *node = team__node(team, NULL);
    node->phase = phase->name;
    node->role = "compose";
    node->why = arena_printf(team->loop->arena, "its %zu parts, joined", count);
    team__compose_parts(team, parts, count, node);
    if (run__is_spent(team->loop)) {
        node->empty = true;
        return STATUS_OK;
    }
    enum status status = team__enter(team, node);
    team__news(team, "compose", 0, "#%d %s: %s", node->number, node->why,
               node->status == JUDGE_CORRECT ? team__time(team, node->us[0]) : node->reason);
    return status;
}

enum status
team__split(struct team *team, const struct recipe_phase *phase)
{
    struct loop *loop = team->loop;
    struct run_part *parts;
    enum status status = STATUS_OK;
    /* kernels for every size are not cut: what parts hand to each other has the sizes of a case */
    if (phase->split < 2 || loop->is_part || loop->general != NULL)
        return STATUS_OK;
    size_t count = cut(team, phase->split, &parts);
    if (count < 2)
        return STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        status = run_part(team, phase, &parts[i], i + 1, count - i);
        if (status == STATUS_OK && parts[i].best == NULL)
            return STATUS_OK; /* then the whole is worked on as it is */
    }
    return status == STATUS_OK ? join(team, phase, parts, count) : status;
}
