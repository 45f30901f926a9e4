/* A recipe at work: its phases one after the other, then the end (finish.c). */
#include "run/team_int.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

/* ---- news ---- */

void
team__news(struct team *team, const char *role, unsigned lane, const char *format, ...)
{
    const struct node *best = team__solid(team->best);
    const struct loop *loop = team->loop;
    va_list arguments;
    struct buf text = buf_in(loop->arena);
    if (team->who->news == NULL)
        return;
    va_start(arguments, format);
    buf_vprintf(&text, format, arguments);
    va_end(arguments);
    team->who->news(
        team->who->context,
        &(struct run_news){.phase = team->phase ? team->phase->recipe->name : "",
                           .role = role,
                           .lane = lane,
                           .round = team->phase ? team->phase->round : 0,
                           .rounds = team->phase ? team->phase->recipe->search.rounds : 0,
                           .text = text.data ? text.data : "",
                           .tokens = team->tokens,
                           .waiting = team->waiting,
                           .best_us = best ? best->us[0] : INFINITY,
                           .light_us = loop->result->cases[0].light.us,
                           .evaluations = loop->result->evaluations,
                           .seconds = run__elapsed(loop),
                           .budget = team->who->budget});
}

/* ---- the draft ---- */

/* Does a subscript add two indices, as those of convolutions do? */
static bool
has_windows(const struct team *team, const struct program *program)
{
    struct buf text = buf_in(team->loop->arena);
    lang_canonical(&text, program);
    for (size_t i = 2; i < text.length; i++)
        if (text.data[i] == '+' && strchr("[,", text.data[i - 2]) != NULL)
            return true;
    return false;
}

/* How many evaluations the built-in search is given, by what kind of program it is. */
static unsigned
draft_evaluations(const struct team *team, const struct recipe_phase *phase)
{
    enum { USUAL = 48, MANY_STAGES = 24 };
    const struct program *program = team->loop->result->cases[0].program;
    struct cost cost;
    if (phase->evals > 0)
        return phase->evals;
    lang_cost(program, &cost);
    double bytes = (double)(cost.bytes_in + cost.bytes_out);
    bool computes = bytes > 0 && (double)cost.flops / bytes > 4;
    unsigned by_family = program->stage_count > MANY_STAGES       ? phase->evals_many
                         : computes && has_windows(team, program) ? phase->evals_convolution
                         : computes                               ? phase->evals_contraction
                         : program->stage_count > 1               ? phase->evals_chain
                                                                  : phase->evals_pointwise;
    return by_family ? by_family : USUAL;
}

/* The kernels that the cases have now, as one candidate. */
static enum status
drafted_node(struct team *team, struct node **made)
{
    struct run_result *result = team->loop->result;
    struct buf text = buf_in(team->loop->arena);
    const char *reason;
    *made = NULL;
    for (size_t i = 0; i < result->case_count; i++) {
        const struct run_candidate *best = result->cases[i].best;
        if (best == NULL || best->schedule == NULL)
            return STATUS_OK;
        if (result->case_count > 1)
            buf_printf(&text, "case %s:\n", result->cases[i].program->case_name);
        buf_puts(&text, best->schedule);
    }
    struct node *node = team__node(team, NULL);
    int64_t *ids = arena_array(team->loop->arena, result->case_count, sizeof *ids);
    for (size_t i = 0; i < result->case_count; i++)
        ids[i] = result->cases[i].best->id;
    node->made_of = ids;
    node->made_of_count = result->case_count;
    node->role = node->proposer = "builtin";
    node->phase = "draft";
    node->why = "the best schedule of each case";
    if (!team__schedule(team, text.data ? text.data : "", node, &reason)) {
        node->empty = true;
        return STATUS_OK;
    }
    *made = node;
    return team__meet(team, node);
}

/* The best candidate of the first case whose structure is not that of the draft's best. */
static enum status
other_structure(struct team *team, const struct node *best, struct node **made)
{
    const struct run_case *of = &team->loop->result->cases[0];
    const struct run_candidate *found = NULL;
    uint64_t structure = team__structure(team, best);
    *made = NULL;
    for (size_t i = 0; i < of->tried_count; i++) {
        const struct run_candidate *one = &of->tried[i];
        struct node probe = {.schedule = one->schedule};
        if (one->schedule == NULL || one->status != JUDGE_CORRECT ||
            team__structure(team, &probe) == structure)
            continue;
        if (found == NULL || one->us < found->us)
            found = one;
    }
    if (found == NULL)
        return STATUS_OK;
    struct node *node = team__node(team, NULL);
    const char *reason;
    node->made_of = &found->id;
    node->made_of_count = 1;
    node->role = node->proposer = "builtin";
    node->phase = "draft";
    node->why = "the best of another structure";
    if (!team__schedule(team, found->schedule, node, &reason)) {
        node->empty = true;
        return STATUS_OK;
    }
    *made = node;
    return team__meet(team, node);
}

static void
hand(struct team *team, struct node *node)
{
    if (node == NULL)
        return;
    team->handed = arena_grow(team->loop->arena, team->handed, team->handed_count,
                              team->handed_count + 1, sizeof *team->handed);
    team->handed[team->handed_count++] = node;
}

static enum status
draft(struct team *team, const struct recipe_phase *phase, bool more_to_come)
{
    struct loop *loop = team->loop;
    unsigned most = draft_evaluations(team, phase) * (unsigned)loop->result->case_count;
    unsigned may = more_to_come ? loop->begun_evaluations / 2 : loop->begun_evaluations;
    double seconds = loop->begun_seconds > 0 && phase->share > 0 && more_to_come
                         ? loop->begun_seconds * phase->share
                         : loop->begun_seconds;
    struct node *best, *other = NULL;
    loop->result->stopped = NULL; /* that of the phase before */
    loop->seeds = phase->seeds;
    enum status status = run__tune_cases(loop, most < may ? most : may, seconds);
    if (status == STATUS_OK && more_to_come) {
        status = drafted_node(team, &best);
        if (status == STATUS_OK && best != NULL && phase->pass == RECIPE_PASS_CELLS)
            status = other_structure(team, best, &other);
        if (status == STATUS_OK && best != NULL && best->status == JUDGE_CORRECT) {
            team->best = team->start = best;
            team->handed_count = 0;
            hand(team, best);
            hand(team, other && other->status == JUDGE_CORRECT ? other : NULL);
            loop->result->drafted_us = best->us[0];
        }
    }
    return status;
}

/* ---- where a team begins without a draft ---- */

/* What was given, or the plain program; NULL: it cannot be expressed. */
static enum status
first_node(struct team *team, const struct run_start *given, struct node **made)
{
    struct loop *loop = team->loop;
    struct node *node = team__node(team, NULL);
    const char *reason;
    *made = NULL;
    node->phase = "start";
    node->role = node->proposer = given ? "start" : "builtin";
    node->why = given ? "what was given" : "the plain program";
    team__news(team, "judge", 0, "begins with %s", node->why);
    if (given != NULL && given->line_count == 0)
        node->kernel = run__judged_text(loop, &loop->result->cases[0], given->text, false);
    else if (!team__schedule(team, given ? given->lines[0].schedule : "", node, &reason) &&
             !team__schedule(team, "", node, &reason)) {
        node->empty = true;
        return STATUS_OK;
    }
    *made = node;
    return team__meet(team, node);
}

static enum status
begin(struct team *team)
{
    struct loop *loop = team->loop;
    struct node *node;
    enum status status = first_node(team, loop->options->start, &node);
    if (node == NULL)
        return status;
    team->start = node;
    if (status == STATUS_OK && node->status == JUDGE_CORRECT) {
        team->best = node;
        loop->result->drafted_us = node->us[0];
    }
    hand(team, node);
    return status;
}

/* A phase that wants the plain program, after others: it alone is handed on. */
static enum status
begin_again(struct team *team)
{
    struct node *node;
    enum status status = first_node(team, NULL, &node);
    if (status == STATUS_OK && node != NULL && node->status == JUDGE_CORRECT) {
        team->handed_count = 0;
        hand(team, node);
    }
    return status;
}

/* ---- a person's kernel ---- */

enum status
team__add(struct team *team, const char *text)
{
    struct loop *loop = team->loop;
    if (loop->result->evaluations >= loop->options->evaluations)
        return STATUS_OK;
    struct node *node = team__node(team, team->best);
    node->role = node->proposer = "person";
    node->why = "added by a person";
    node->kernel = run__judged_text(loop, &loop->result->cases[0], text, false);
    return team__enter(team, node);
}

enum status
team__enter(struct team *team, struct node *node)
{
    enum status status = team__meet(team, node);
    if (status != STATUS_OK || node->status != JUDGE_CORRECT)
        return status;
    struct run_difference difference = {.faster = true};
    double worst;
    if (team->best != NULL && team->best->built != NULL)
        status = team__compare(team, team->best, node, &difference, &worst);
    if (status == STATUS_OK && difference.faster)
        status = team__check(team, node);
    difference.faster = difference.faster && node->status == JUDGE_CORRECT;
    if (status == STATUS_OK && difference.faster)
        team->best = node;
    hand(team, node);
    return status == STATUS_OK ? team__decide(team, node, difference.faster ? "best" : "same")
                               : status;
}

/* ---- the phases ---- */

static bool
has_roles(const struct recipe_phase *phase)
{
    return phase->propose == RECIPE_BY_ROLES && phase->finish.finalists == 0;
}

static bool
is_skipped(const struct team *team, const struct recipe_phase *phase)
{
    const struct run_team *who = team->who;
    if (phase->finish.finalists > 0)
        return true;       /* that is how all recipes end */
    if (!has_roles(phase)) /* the draft gives each case a kernel, unless somebody has */
        return team->best != NULL && run__is_spent(team->loop);
    if (who->model_count == 0 && !who->stand_ins)
        return true;
    if (phase->skip_correct && team->best != NULL && team->best->status == JUDGE_CORRECT)
        return true;
    return phase->skip_light > 0 && team__has_light(team, phase->skip_light);
}

static bool
roles_follow(const struct team *team, size_t number)
{
    const struct recipe *recipe = team->who->recipe;
    for (size_t i = number + 1; i < recipe->phase_count; i++)
        if (has_roles(&recipe->phases[i]) && !is_skipped(team, &recipe->phases[i]))
            return true;
    return false;
}

/* What the archive has joins what was handed on. */
static enum status
add_seeds(struct team *team, const struct recipe_phase *phase)
{
    struct loop *loop = team->loop;
    const char *found, *reason;
    const char *key = arena_printf(loop->arena, "phase %s", phase->name);
    enum status status =
        run__seeds(loop, loop->result->cases[0].program, phase->seeds, key, &found);
    while (status == STATUS_OK && *found && !run__is_spent(loop)) {
        struct node *node = team__node(team, NULL);
        node->phase = "start";
        node->role = node->proposer = "memory";
        node->why = "a schedule of an earlier run";
        node->empty = !team__schedule(team, run__next_seed(loop->arena, &found), node, &reason);
        if (!node->empty)
            status = team__meet(team, node);
        if (status == STATUS_OK && node->status == JUDGE_CORRECT && !node->empty)
            hand(team, node);
    }
    return status;
}

enum status
team__phase(struct team *team, size_t number)
{
    const struct recipe_phase *phase = &team->who->recipe->phases[number];
    enum status status = STATUS_OK;
    if (is_skipped(team, phase))
        return STATUS_OK;
    if (phase->propose == RECIPE_BY_MEMORY)
        return team__study(team, phase);
    if (!has_roles(phase))
        return draft(team, phase, roles_follow(team, number));
    if (team->start == NULL && !phase->start_blank && team->best == NULL)
        status = begin(team);
    else if (team->start != NULL && phase->start_naive)
        status = begin_again(team);
    if (status == STATUS_OK)
        status = add_seeds(team, phase);
    if (status == STATUS_OK)
        status = team__split(team, phase);
    return status == STATUS_OK ? team__work(team, phase) : status;
}

/* ---- all of it ---- */

static enum status
open_task(struct team *team, const size_t *cases, size_t count, struct judge_task **task)
{
    const struct loop *loop = team->loop;
    struct judge_setup setup = run__setup(loop, cases, count);
    setup.same_inputs = true;
    return loop->judge->open(loop->judge->context, &setup, task, loop->diags);
}

static size_t
smallest_case(const struct loop *loop)
{
    size_t smallest = 0;
    for (size_t i = 1; i < loop->result->case_count; i++)
        if (loop->result->cases[i].light.us < loop->result->cases[smallest].light.us)
            smallest = i;
    return smallest;
}

void
team__set_scene(struct team *team)
{
    struct loop *loop = team->loop;
    const struct run_options *options = loop->options;
    size_t cases = loop->result->case_count;
    const struct program **programs = arena_array(loop->arena, cases, sizeof *programs);
    struct light *lights = arena_array(loop->arena, cases, sizeof *lights);
    for (size_t i = 0; i < cases; i++) {
        programs[i] = loop->result->cases[i].program;
        lights[i] = loop->result->cases[i].light;
    }
    team->scene = (struct agent_scene){.lang = options->lang,
                                       .programs = programs,
                                       .lights = lights,
                                       .case_count = cases,
                                       .target = options->target,
                                       .machine = &options->machine,
                                       .compiler = team->who->compiler,
                                       .flags = team->who->flags,
                                       .cpu = team->who->cpu};
}

enum status
team__open(struct team *team)
{
    const struct run_options *options = team->loop->options;
    size_t cases = team->loop->result->case_count;
    enum status status = run__read_lights(team->loop);
    team__set_scene(team);
    if (status == STATUS_OK)
        status = open_task(team, options->cases, cases, &team->all);
    team->small = team->all;
    team->smallest = smallest_case(team->loop);
    if (status == STATUS_OK && cases > 1)
        status = open_task(team, &options->cases[team->smallest], 1, &team->small);
    return status;
}

void
team__close(struct team *team)
{
    const struct run_judge *judge = team->loop->judge;
    for (size_t i = 0; i < team->node_count; i++)
        judge->drop(judge->context, team->nodes[i]->built);
    if (team->small != team->all)
        judge->close(judge->context, team->small);
    judge->close(judge->context, team->all);
}

enum status
run__team(struct loop *loop)
{
    struct team team = {.loop = loop, .who = loop->options->team};
    loop->result->drafted_us = INFINITY;
    enum status status = team__open(&team);
    for (size_t i = 0; i < team.who->recipe->phase_count && status == STATUS_OK; i++)
        status = team__phase(&team, i);
    run__is_stopped(loop);
    if (status == STATUS_OK)
        status = team__finish(&team);
    team__close(&team);
    return status;
}
