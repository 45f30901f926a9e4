/* The joints: what stands between a reply and the archive, in one order, the same for every recipe.
 *
 *   text -> static checks -> duplicates -> (prefilter) -> build -> smallest case -> all cases
 *        -> sweep -> acceptance
 */
#include "run/team_int.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* ---- text ---- */

static const char *
fail(struct slot *slot, const char *reason)
{
    slot->failed = reason;
    return NULL;
}

static bool
same_tensor(const struct tensor *a, const struct tensor *b)
{
    return !strcmp(a->name, b->name) && a->dtype == b->dtype && a->count == b->count;
}

/* A rewritten program must take and give the same tensors. That it means the same is found out as
 * with any kernel: by the judge, at the gate of the original. */
static bool
rewrite(struct slot *slot, const char *text, struct node *node)
{
    struct team *team = slot->phase->team;
    struct arena *arena = team->loop->arena;
    const struct run_result *result = team->loop->result;
    struct diags *diags = diags_create(arena, 4);
    struct lang *lang = lang_parse(arena, "program", text, strlen(text), diags);
    const struct program **programs = arena_array(arena, result->case_count, sizeof *programs);
    bool same = lang != NULL;
    for (size_t i = 0; i < result->case_count && same; i++) {
        const struct program *from = result->cases[i].program;
        struct lang_size *sizes = arena_array(arena, from->dim_count + 1, sizeof *sizes);
        for (size_t d = 0; d < from->dim_count; d++)
            sizes[d] = (struct lang_size){from->dims[d].name, from->dims[d].size};
        programs[i] = lang_program(lang, 0, sizes, from->dim_count, diags);
        same = programs[i] != NULL && programs[i]->input_count == from->input_count &&
               programs[i]->output_count == from->output_count;
        for (size_t t = 0; same && t < from->input_count; t++)
            same = same_tensor(programs[i]->tensors[t], from->tensors[t]);
        for (size_t t = 0; same && t < from->output_count; t++)
            same = same_tensor(programs[i]->outputs[t], from->outputs[t]);
    }
    if (!same)
        slot->failed = diags_count(diags) > 0
                           ? diags_get(diags, 0)->message
                           : "its inputs and outputs must be those of the operator, in that order";
    node->programs = same ? programs : NULL;
    return same;
}

static const char *
from_schedule(struct slot *slot, const char *text, struct node *node)
{
    struct team *team = slot->phase->team;
    const char *reason;
    return team__schedule(team, text, node, &reason) ? node->kernel : fail(slot, reason);
}

/* C for the first case, or for all of them. */
static const char *
from_c(struct slot *slot, const char *text, const struct node *shown_from, struct node *node)
{
    struct team *team = slot->phase->team;
    struct loop *loop = team->loop;
    size_t cases = loop->result->case_count;
    node->schedule = NULL;
    if (shown_from == NULL || shown_from->parts == NULL || cases == 1)
        return run__judged_text(loop, &loop->result->cases[0], text, false);
    const char **parts = arena_array(loop->arena, cases, sizeof *parts);
    const char **lines = arena_array(loop->arena, cases, sizeof *lines);
    for (size_t i = 0; i < cases; i++) {
        parts[i] = i ? shown_from->parts[i] : text;
        lines[i] = i ? shown_from->lines[i] : NULL;
    }
    node->parts = parts;
    node->lines = lines;
    return run__joined(loop, parts);
}

/* A file of the micro-coder, as stand-ins give it, is the sum of its schedules. */
static const char *
from_file(struct slot *slot, const char *text, struct node *node)
{
    struct team *team = slot->phase->team;
    size_t cases = team->loop->result->case_count;
    struct source source = {"reply", text, strlen(text)};
    struct buf lines = buf_in(team->loop->arena);
    struct run_start file;
    const char *reason;
    run_start_read(team->loop->arena, &source, &file);
    for (size_t i = 0; i < file.line_count; i++)
        buf_printf(&lines, "case %s:\n%s", file.lines[i].case_name, file.lines[i].schedule);
    if (slot->speech->model == NULL && file.line_count == cases &&
        team__schedule(team, lines.data, node, &reason))
        return node->kernel;
    return from_c(slot, text, NULL, node);
}

const char *
team__kernel_of(struct slot *slot, const struct agent_reply *reply, struct node *node)
{
    struct team *team = slot->phase->team;
    const struct node *base = team__solid(slot->base);
    const char *shown = base ? team__shown(team, base) : "";
    const char *text = NULL, *reason = NULL;
    switch (reply->format) {
    case AGENT_FORMAT_SCHEDULE:
        return from_schedule(slot,
                             base && base->schedule && !base->programs
                                 ? team__overlay(team, base->schedule, reply->text)
                                 : reply->text,
                             node);
    case AGENT_FORMAT_PROGRAM:
        return rewrite(slot, reply->text, node)
                   ? from_schedule(slot, team__usual_lines(team, node), node)
                   : NULL;
    case AGENT_FORMAT_STAGE:
    case AGENT_FORMAT_EDITS:
    case AGENT_FORMAT_FILL:
    case AGENT_FORMAT_FILE:
        if (agent_apply(team->loop->arena, shown, reply, &text, &reason) != STATUS_OK)
            return fail(slot, reason);
        return reply->format == AGENT_FORMAT_FILE ? from_file(slot, text, node)
                                                  : from_c(slot, text, base, node);
    case AGENT_FORMAT_PICK:
        if (reply->pick < 1 || (size_t)reply->pick > slot->change_count)
            return fail(slot, "there is no choice of that number");
        node->why = slot->changes[reply->pick - 1].words;
        return from_schedule(slot, slot->changes[reply->pick - 1].schedule, node);
    default:
        return fail(slot, "it has no kernel in it");
    }
}

/* ---- static checks and duplicates ---- */

static const struct node *
find_same(struct team *team, const struct node *node)
{
    for (size_t i = 0; i < team->node_count; i++)
        if (team->nodes[i] != node && team->nodes[i]->kernel != NULL && !team->nodes[i]->empty &&
            !team->nodes[i]->aside && strcmp(team->nodes[i]->normal, node->normal) == 0)
            return team->nodes[i];
    return NULL;
}

/* Numbers belong to the host: a schedule that changes nothing else is only where a sweep begins. */
static bool
differs_in_numbers(const struct node *base, const struct node *node)
{
    if (base == NULL || base->schedule == NULL || node->schedule == NULL)
        return false;
    const char *a = base->schedule, *b = node->schedule;
    while (*a && (*a == *b || (isdigit((unsigned char)*a) && isdigit((unsigned char)*b))))
        if (isdigit((unsigned char)*a)) {
            a += strspn(a, "0123456789");
            b += strspn(b, "0123456789");
        } else {
            a++;
            b++;
        }
    return *a == *b && strcmp(base->schedule, node->schedule) != 0;
}

/* The archive has every proposal, also what could not be built. */
static enum status
refuse(struct slot *slot, struct node *node, const char *text)
{
    struct team *team = slot->phase->team;
    struct judge_report report = {.status = JUDGE_REJECTED,
                                  .reason = slot->failed,
                                  .details = "",
                                  .flags = "",
                                  .compiler = ""};
    node->status = JUDGE_REJECTED;
    node->reason = slot->failed;
    node->words = arena_printf(team->loop->arena, "rejected: %s\n", slot->failed);
    node->kernel = text;
    node->schedule = NULL;
    node->parts = node->lines = NULL;
    agent_normal_hash(team->loop->arena, text, node->normal);
    return team__record(team, node, &report);
}

static void
describe(struct slot *slot, struct node *node)
{
    const struct agent_reply *reply = &slot->reply;
    const struct plan *plan = slot->plan;
    struct arena *arena = slot->phase->team->loop->arena;
    node->lane = slot->step.lane;
    node->round = slot->step.round;
    node->why = reply->name != NULL && *reply->name ? reply->name
                : plan != NULL                      ? plan->title
                : reply->why != NULL && *reply->why ? reply->why
                : slot->advice != NULL              ? slot->advice
                                                    : "";
    if (reply->name && *reply->name && reply->why && *reply->why)
        node->why = arena_printf(arena, "%s\n%s", reply->name, reply->why);
    node->technique = plan ? plan->technique : NULL;
    node->low = !isnan(reply->low) ? reply->low : plan ? plan->low : slot->low;
    node->high = !isnan(reply->high) ? reply->high : plan ? plan->high : slot->high;
    node->role = slot->speech->role->agent.name;
    node->proposer = slot->speech->row.model;
    node->call = slot->speech->row.id;
    if (slot->other != NULL && slot->cross)
        node->parents[node->parent_count++] = slot->other;
}

enum status
team__prepare(struct slot *slot)
{
    struct team *team = slot->phase->team;
    struct arena *arena = team->loop->arena;
    struct node *node = team__node(team, slot->base);
    const struct program *program = team->loop->result->cases[0].program;
    slot->failed = NULL;
    slot->made = node;
    describe(slot, node);
    team->loop->result->proposals++;
    node->kernel = team__kernel_of(slot, &slot->reply, node);
    if (node->kernel == NULL)
        return refuse(slot, node, slot->speech->text);
    slot->text = node->kernel;
    agent_normal_hash(arena, node->kernel, node->normal);
    if (node->schedule == NULL)
        slot->failed = agent_objection(arena, node->kernel, team->loop->options->target, program);
    if (slot->failed != NULL)
        return refuse(slot, node, node->kernel);
    slot->numbers = differs_in_numbers(team__solid(slot->base), node);
    const struct node *same = find_same(team, node);
    if (same == NULL)
        return STATUS_OK;
    node->empty = true; /* not judged again, and no candidate of its own */
    slot->made = NULL;
    slot->dropped = true;
    team__line(team, &team->board, "%.*s -> same as #%d", (int)strcspn(node->why, "\n"), node->why,
               same->number);
    team__news(team, node->role, node->lane, "same as #%d", same->number);
    return STATUS_OK;
}

/* ---- acceptance ---- */

/* All kinds of inputs, before anything is built on it. */
enum status
team__check(struct team *team, struct node *node)
{
    struct loop *loop = team->loop;
    const struct run_judge *judge = loop->judge;
    struct judge_setup setup =
        run__setup_verdict(loop, loop->options->cases, loop->options->case_count);
    struct judge_task *task;
    struct judge_report report;
    enum status status = judge->open(judge->context, &setup, &task, loop->diags);
    if (status != STATUS_OK)
        return status;
    status = judge->verdict(judge->context, task, loop->arena, node->kernel, &report, loop->diags);
    judge->close(judge->context, task);
    if (status != STATUS_OK)
        return status;
    if (report.status != JUDGE_CORRECT) {
        node->status = report.status;
        node->reason = report.reason;
        node->words = team__words(loop->arena, &report);
        node->cost = INFINITY;
        team__withdraw(team, node);
    }
    struct store_candidate row = {.id = node->id, .number = node->row};
    status = run__record_verdict(loop, &row, &report);
    return status == STATUS_OK ? team__keep_breaker(team, &report) : status;
}

static size_t
line_count(const char *text)
{
    size_t count = 0;
    for (; *text; text++)
        count += *text == '\n';
    return count;
}

struct contrast {       /* of a candidate with another */
    double gain, worst; /* over all cases, and in the case where it is least */
    bool faster, same;
};

/* Its time over all cases; of one that was too slow for that, what it would be. */
static double
time_of(const struct team *team, const struct node *node)
{
    double us = team__cost(team, NULL, node);
    return isinf(us) ? node->cost : us;
}

/* By time, whatever the phase makes better; `closely`: side by side, so that noise shows. */
static enum status
compare(struct team *team, const struct node *than, const struct node *node, bool closely,
        struct contrast *comparison)
{
    struct run_difference difference;
    double gain = isinf(node->us[0]) ? 0 : time_of(team, than) / time_of(team, node);
    *comparison = (struct contrast){
        .gain = gain, .worst = gain, .faster = gain > 1, .same = fabs(gain - 1) < 0.005};
    for (size_t i = 0; i < team->loop->result->case_count; i++)
        if (than->us[i] / node->us[i] < comparison->worst)
            comparison->worst = than->us[i] / node->us[i];
    if (!closely || gain < 0.97 || node->built == NULL || than->built == NULL)
        return STATUS_OK;
    enum status status = team__compare(team, than, node, &difference, &comparison->worst);
    comparison->gain = 1 / difference.ratio;
    comparison->faster = difference.faster;
    comparison->same = !difference.faster && !difference.slower;
    return status;
}

static bool
passes(const struct recipe_accept *rule, const struct contrast *comparison)
{
    return comparison->faster && comparison->gain >= rule->gain && comparison->worst >= rule->worst;
}

/* Does it take the place of its base? */
static enum status
accept_base(struct slot *slot, const struct node *node, struct contrast *with_base)
{
    struct team *team = slot->phase->team;
    const struct recipe_phase *phase = slot->phase->recipe;
    const struct node *base = team__solid(slot->base);
    if (base == NULL || base->status != JUDGE_CORRECT) {
        *with_base = (struct contrast){.gain = NAN, .worst = INFINITY, .faster = true};
        slot->accepted = true;
        return STATUS_OK;
    }
    bool closely = phase->base.significant || (base == team->best && phase->best.significant);
    enum status status = compare(team, base, node, closely, with_base);
    bool anyway = (phase->base.always || phase->base.any) && with_base->worst >= phase->base.worst;
    bool better = phase->objective == RECIPE_COUNTER ? node->cost < base->cost
                                                     : passes(&phase->base, with_base);
    slot->simpler = !better && with_base->same && phase->tie_simpler &&
                    line_count(node->kernel) < line_count(base->kernel);
    slot->accepted = better || anyway || slot->simpler;
    slot->gain = with_base->gain;
    return status;
}

static enum status
accept_best(struct slot *slot, const struct node *node, const struct contrast *with_base,
            bool *best)
{
    struct team *team = slot->phase->team;
    const struct recipe_accept *rule = &slot->phase->recipe->best;
    struct contrast with_best = *with_base;
    enum status status = STATUS_OK;
    *best = team->best == NULL || team->best->status != JUDGE_CORRECT;
    if (*best)
        return STATUS_OK;
    if (team->best != team__solid(slot->base))
        status = compare(team, team->best, node, rule->significant, &with_best);
    *best = passes(rule, &with_best);
    return status;
}

static const char *
decision_on(const struct slot *slot, const struct contrast *with_base, bool best)
{
    if (best)
        return "best";
    if (slot->simpler)
        return "accepted: simpler";
    if (slot->accepted && with_base->faster)
        return "accepted";
    return with_base->same ? "same" : with_base->gain < 1 ? "slower" : "not taken";
}

static enum status
accept(struct slot *slot, struct node *node)
{
    struct team *team = slot->phase->team;
    const struct recipe_phase *phase = slot->phase->recipe;
    struct contrast with_base;
    bool best = false;
    enum status status = accept_base(slot, node, &with_base);
    if (status == STATUS_OK)
        status = accept_best(slot, node, &with_base, &best);
    if (status == STATUS_OK &&
        (best || (slot->accepted && !phase->base.always && !phase->base.any)))
        status = team__check(team, node);
    if (status != STATUS_OK)
        return status;
    if (node->status != JUDGE_CORRECT) {
        slot->accepted = false;
        slot->failed = node->words;
        return STATUS_OK;
    }
    if (best)
        team->best = node;
    team->loop->result->accepted += slot->accepted;
    return team__decide(team, node, decision_on(slot, &with_base, best));
}

/* ---- judging ---- */

/* Numbers are the host's: a structure that comes near its base is swept before it is judged by its
 * time. */
static enum status
sweep(struct slot *slot, struct node **node)
{
    struct team *team = slot->phase->team;
    const struct recipe_phase *phase = slot->phase->recipe;
    const struct node *base = team__solid(slot->base);
    struct agent_tunable *tunables;
    double from = phase->sweep_from > 0 ? phase->sweep_from : 0.9;
    bool near = base == NULL || base->status != JUDGE_CORRECT || base->cost / (*node)->cost >= from;
    bool declared = (*node)->schedule == NULL &&
                    agent_tunables(team->loop->arena, (*node)->kernel, &tunables) > 0;
    if (phase->sweep == 0 || (!near && !declared && !slot->numbers))
        return STATUS_OK;
    return team__sweep(slot, *node, phase->sweep, node);
}

enum status
team__judge(struct slot *slot)
{
    struct team *team = slot->phase->team;
    struct node *node = slot->made;
    const struct node *base = team__solid(slot->base);
    enum status status = team__look(team, node, base);
    if (status != STATUS_OK)
        return status;
    if (node->status != JUDGE_CORRECT) {
        slot->failed = node->words;
        team__news(team, node->role, node->lane, "#%d %s: %s", node->number,
                   judge_status_name[node->status], node->reason);
        return STATUS_OK;
    }
    status = sweep(slot, &node);
    slot->made = node;
    if (status == STATUS_OK)
        status = accept(slot, node);
    if (status == STATUS_OK)
        team__news(team, node->role, node->lane, "#%d correct %s, %s", node->number,
                   team__time(team, node->us[0]), node->decision);
    return status;
}
