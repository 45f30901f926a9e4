/* The end of every recipe: for each case the finalists are measured once more, side by side with
 * whoever serves it so far, checked as the recipe asks, and the fastest is given.
 *
 * Whoever was drafted is the first champion of each case, whatever the recipe says, and gives way
 * only to one that is faster beyond the noise: so a team can never make the result worse. */
#include "run/team_int.h"

#include <math.h>
#include <string.h>

enum { MOST_FINALISTS = 16 };

/* Recipes without a last phase. */
static const struct recipe_finish usual = {.finalists = 1, .windows = 1, .draft_in_doubt = true};

struct ending {
    struct team *team;
    struct recipe_finish rule;
    struct judge_task *alone; /* with one thread; NULL: not needed so far */
};

/* ---- finalists ---- */

static const struct run_candidate *
candidate_of(const struct run_case *of, const struct node *node)
{
    for (size_t i = 0; i < of->tried_count; i++)
        if (of->tried[i].node == node->number + 1 && of->tried[i].status == JUDGE_CORRECT)
            return &of->tried[i];
    return NULL;
}

static bool
may_serve(const struct node *node)
{
    return !node->empty && node->status == JUDGE_CORRECT &&
           (!strcmp(node->decision, "best") || !strncmp(node->decision, "accepted", 8) ||
            !strcmp(node->phase, "start") || !strcmp(node->phase, "draft"));
}

/* The fastest of a case, besides the champion. */
static size_t
find_finalists(const struct team *team, size_t number, const struct node *champion, size_t most,
               struct node **list)
{
    size_t count = 0;
    for (size_t i = 0; i < team->node_count; i++) {
        struct node *node = team->nodes[i];
        if (node == champion || !may_serve(node) || isinf(node->us[number]))
            continue;
        size_t at = count < most ? count++ : most;
        for (; at > 0 && list[at - 1]->us[number] > node->us[number]; at--)
            if (at < most)
                list[at] = list[at - 1];
        if (at < most)
            list[at] = node;
    }
    return count;
}

/* ---- measuring ---- */

struct duel { /* of a challenger with the champion, over some windows */
    unsigned windows, faster, slower;
    double ratio; /* its time / the champion's: the geometric mean */
};

static enum status
fight(struct ending *ending, struct judge_task *task, struct judge_kernel *champion,
      struct judge_kernel *challenger, size_t number, unsigned windows, struct duel *duel)
{
    const struct run_judge *judge = ending->team->loop->judge;
    enum status status = STATUS_OK;
    double sum = 0;
    *duel = (struct duel){.windows = windows};
    for (unsigned i = 0; i < windows && status == STATUS_OK; i++) {
        struct run_difference one;
        status = judge->compare(judge->context, task, champion, challenger, number, &one,
                                ending->team->loop->diags);
        duel->faster += one.faster;
        duel->slower += one.slower;
        sum += log(one.ratio);
    }
    duel->ratio = exp(sum / windows);
    return status;
}

/* Most windows call it faster and none slower. */
static bool
is_won(const struct duel *duel)
{
    return 2 * duel->faster > duel->windows && duel->slower == 0;
}

static bool
is_undecided(const struct duel *duel)
{
    return !is_won(duel) && 2 * duel->slower <= duel->windows;
}

/* A kernel belongs to the task that it was built for. */
static enum status
build_alone(struct ending *ending, const struct node *node, struct judge_kernel **kernel)
{
    struct loop *loop = ending->team->loop;
    struct judge_report report;
    enum status status = STATUS_OK;
    *kernel = NULL;
    if (ending->alone == NULL) {
        struct judge_setup setup =
            run__setup(loop, loop->options->cases, loop->options->case_count);
        setup.threads = 1;
        setup.same_inputs = true;
        status = loop->judge->open(loop->judge->context, &setup, &ending->alone, loop->diags);
    }
    if (status == STATUS_OK)
        status = loop->judge->look(loop->judge->context, ending->alone, loop->arena, node->kernel,
                                   kernel, &report, loop->diags);
    return status;
}

/* Where all threads cannot tell two kernels apart, one thread may. */
static enum status
fight_alone(struct ending *ending, const struct node *champion, const struct node *challenger,
            size_t number, struct duel *duel)
{
    const struct run_judge *judge = ending->team->loop->judge;
    struct judge_kernel *one = NULL, *other = NULL;
    enum status status = build_alone(ending, champion, &one);
    if (status == STATUS_OK)
        status = build_alone(ending, challenger, &other);
    if (status == STATUS_OK && one != NULL && other != NULL)
        status = fight(ending, ending->alone, one, other, number, duel->windows, duel);
    judge->drop(judge->context, one);
    judge->drop(judge->context, other);
    return status;
}

static enum status
measure(struct ending *ending, const struct node *champion, const struct node *challenger,
        size_t number, bool *wins)
{
    struct team *team = ending->team;
    const struct recipe_finish *rule = &ending->rule;
    bool again = number == 0 || (rule->measures & 1u << RECIPE_MEASURE_CASES);
    bool threads = team->loop->options->threads != 1 && team->loop->options->machine.threads > 1 &&
                   (rule->measures & 1u << RECIPE_MEASURE_THREADS);
    struct duel duel;
    enum status status = fight(ending, team->all, champion->built, challenger->built, number,
                               again ? rule->windows : 1, &duel);
    if (status == STATUS_OK && threads && is_undecided(&duel))
        status = fight_alone(ending, champion, challenger, number, &duel);
    *wins = rule->draft_in_doubt ? is_won(&duel) : duel.ratio < 1;
    team__news(team, "finish", 0, "case %s: #%d takes %+.1f %% against #%d, %u of %u windows%s",
               team->loop->result->cases[number].program->case_name, challenger->number,
               100 * (duel.ratio - 1), champion->number, duel.faster, duel.windows,
               *wins ? ": it serves" : "");
    return status;
}

/* ---- for each case ---- */

/* It was checked when it was accepted; the recipe may ask for more before it is given. */
static enum status
check(struct ending *ending, struct node *node)
{
    return ending->rule.checks != 0 ? team__check(ending->team, node) : STATUS_OK;
}

static bool
can_be_compared(const struct run_case *of, const struct node *champion,
                const struct node *challenger)
{
    return champion != NULL && champion->status == JUDGE_CORRECT && champion->built != NULL &&
           challenger->built != NULL && of->best != NULL && !of->program->check_only;
}

static enum status
choose(struct ending *ending, size_t number)
{
    struct team *team = ending->team;
    struct run_case *of = &team->loop->result->cases[number];
    struct node *finalists[MOST_FINALISTS];
    const struct node *champion = team->start;
    size_t most = ending->rule.finalists < MOST_FINALISTS ? ending->rule.finalists : MOST_FINALISTS;
    size_t count = find_finalists(team, number, champion, most, finalists);
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        struct node *node = finalists[i];
        bool wins = true;
        if (can_be_compared(of, champion, node))
            status = measure(ending, champion, node, number, &wins);
        else if (of->program->check_only && of->best != NULL)
            wins = false;
        if (status == STATUS_OK && wins)
            status = check(ending, node);
        const struct run_candidate *candidate = candidate_of(of, node);
        if (status == STATUS_OK && wins && candidate != NULL) {
            champion = node;
            of->best = candidate;
        }
    }
    return status;
}

static struct recipe_finish
rule_of(const struct team *team)
{
    const struct recipe *recipe = team->who->recipe;
    struct recipe_finish rule = usual;
    const struct run_options *options = team->loop->options;
    bool late = options->seconds > 0 && run__elapsed(team->loop) >= options->seconds;
    if (late || run__is_stopped(team->loop)) /* a kernel is wanted now, and no more */
        return rule;
    for (size_t i = 0; i < recipe->phase_count; i++)
        if (recipe->phases[i].finish.finalists > 0)
            rule = recipe->phases[i].finish;
    rule.windows = rule.windows ? rule.windows : 1;
    return rule;
}

enum status
team__finish(struct team *team)
{
    struct run_result *result = team->loop->result;
    const struct run_judge *judge = team->loop->judge;
    struct ending ending = {.team = team, .rule = rule_of(team)};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < result->case_count && status == STATUS_OK; i++) {
        struct run_case *of = &result->cases[i];
        if (of->best == NULL && team->start != NULL) /* nothing was drafted: the start serves */
            of->best = candidate_of(of, team->start);
        status = choose(&ending, i);
        if (status == STATUS_OK && of->best == NULL)
            status = STATUS_NO;
    }
    if (ending.alone != NULL)
        judge->close(judge->context, ending.alone);
    return status;
}
