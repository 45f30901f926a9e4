/* Tools of the host that a role may use before it answers. What they say is what everybody is told:
 * the judge's words, the profile, rows of the technique table, what is in the archive. */
#include "run/team_int.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

enum { USUAL_SWEEP = 12, USUAL_STEPS = 4 };

/* ---- how they are used ---- */

unsigned
team__tool_steps(const struct recipe_role *role)
{
    return role->steps ? role->steps : USUAL_STEPS;
}

const char *
team__tool_words(struct arena *arena, const struct recipe_role *role)
{
    struct buf text = buf_in(arena);
    if (role->tools == 0)
        return "";
    buf_printf(&text,
               "\nBefore you answer you may use tools of the host, %u times at most, one in each "
               "message. Write a line that begins with TOOL and the tool's name, and below it what "
               "it is to look at, in the form of your answer; an answer has no such line.\n",
               team__tool_steps(role));
    for (unsigned i = 0; i < RECIPE_TOOL_COUNT; i++)
        if (role->tools & 1u << i)
            buf_printf(&text, "TOOL %s: %s\n", recipe_tool_name[i], recipe_tool_words[i]);
    return text.data;
}

/* ---- what they look at ---- */

/* The kernel that stands in the message, in any form that the role may answer in. NULL with a
 * reason: there is none. It is no proposal: only looked at. */
static struct node *
kernel_in(struct team *team, struct speech *speech, const char *text, const char **reason)
{
    struct slot *slot = speech->slot;
    struct arena *arena = team->loop->arena;
    struct agent_reply reply;
    struct node *node = team__node(team, slot ? slot->base : team->best);
    node->empty = true; /* until there is a kernel */
    node->aside = true;
    node->role = "tool";
    node->why = "asked for by a role";
    *reason = "you work on no kernel";
    if (slot == NULL || agent_parse(arena, text, strlen(text), &speech->role->agent,
                                    speech->formats, &reply, reason) != STATUS_OK)
        return NULL;
    node->kernel = team__kernel_of(slot, &reply, node);
    *reason = slot->failed;
    slot->failed = NULL;
    if (node->kernel != NULL && node->schedule == NULL)
        *reason = agent_objection(arena, node->kernel, team->loop->options->target,
                                  team->loop->result->cases[0].program);
    if (node->kernel == NULL || *reason != NULL)
        return NULL;
    node->empty = false;
    return node;
}

static const char *
no_kernel(struct team *team, const char *reason)
{
    return arena_printf(team->loop->arena,
                        "There is no kernel in your message that may be built: %s. Put one behind "
                        "the TOOL line, in the form of your answer.",
                        reason);
}

/* ---- compile ---- */

static void
put_remarks(struct buf *buf, struct team *team, const struct node *node)
{
    struct profile_options options = team__profile_options(team, INFINITY);
    const struct profile *profile =
        team->who->profile ? team__profile(team, node->kernel, &options) : NULL;
    for (size_t i = 0; profile != NULL && i < profile->remark_count && i < 12; i++)
        buf_printf(buf, "line %u: %s\n", profile->remarks[i].line, profile->remarks[i].text);
}

/* What the compiler says; nothing is run, so that it costs no evaluation. */
static enum status
compile_it(struct team *team, struct speech *speech, const char *rest, const char **answer)
{
    const struct run_judge *judge = team->loop->judge;
    struct judge_report report;
    struct buf buf = buf_in(team->loop->arena);
    const char *reason;
    struct node *node = kernel_in(team, speech, rest, &reason);
    *answer = reason;
    if (node == NULL) {
        *answer = no_kernel(team, reason);
        return STATUS_OK;
    }
    enum status status = judge->build(judge->context, team->all, team->loop->arena, node->kernel,
                                      &report, team->loop->diags);
    if (status != STATUS_OK)
        return status;
    buf_puts(&buf, team__words(team->loop->arena, &report));
    if (report.status == JUDGE_BUILT)
        put_remarks(&buf, team, node);
    node->empty = true; /* it was not judged: no candidate came of it */
    *answer = buf.data;
    return STATUS_OK;
}

/* ---- judge, sweep ---- */

static void
put_times(struct buf *buf, struct team *team, const struct node *node)
{
    buf_puts(buf, node->words);
    for (size_t i = 0; node->status == JUDGE_CORRECT && i < team->loop->result->case_count; i++)
        buf_printf(buf, "%s: %s\n", team->loop->result->cases[i].program->case_name,
                   team__time(team, node->us[i]));
}

static enum status
judge_it(struct team *team, struct speech *speech, const char *rest, struct node **judged,
         const char **answer)
{
    const char *reason;
    struct buf buf = buf_in(team->loop->arena);
    *judged = kernel_in(team, speech, rest, &reason);
    if (*judged == NULL) {
        *answer = no_kernel(team, reason);
        return STATUS_OK;
    }
    enum status status = team__look(team, *judged, NULL);
    if (status == STATUS_OK)
        put_times(&buf, team, *judged);
    *answer = buf.data;
    return status;
}

/* What the numbers of the best are, for who has to write them down. */
static void
put_numbers(struct buf *buf, struct team *team, const struct node *best)
{
    struct agent_tunable *tunables;
    if (best->schedule != NULL) {
        buf_printf(buf, "the best:\n%s", best->schedule);
        return;
    }
    size_t count = agent_tunables(team->loop->arena, best->kernel, &tunables);
    buf_puts(buf, "the best:");
    for (size_t i = 0; i < count; i++)
        buf_printf(buf, " %s=%ld", tunables[i].name, tunables[i].values[tunables[i].now]);
    buf_putc(buf, '\n');
}

/* Tries the numbers that the kernel marks, as the host does after a proposal. */
static enum status
sweep_it(struct team *team, struct speech *speech, const char *rest, const char **answer)
{
    unsigned most = team->phase->recipe->sweep ? team->phase->recipe->sweep : USUAL_SWEEP;
    struct buf buf = buf_in(team->loop->arena);
    struct agent_tunable *tunables;
    struct node *node, *best;
    enum status status = judge_it(team, speech, rest, &node, answer);
    if (status != STATUS_OK || node == NULL || node->status != JUDGE_CORRECT)
        return status;
    buf_puts(&buf, *answer);
    size_t first = team->node_count;
    if (node->schedule == NULL && agent_tunables(team->loop->arena, node->kernel, &tunables) == 0) {
        buf_puts(&buf, "No number is marked; write //! tune T = 4 8 16 above #define T 8.\n");
        *answer = buf.data;
        return STATUS_OK;
    }
    status = team__sweep(speech->slot, node, most, &best);
    for (size_t i = first; i < team->node_count && status == STATUS_OK; i++) {
        const struct node *one = team->nodes[i];
        team->nodes[i]->aside = true;
        buf_printf(&buf, "%s: %s\n", one->why,
                   one->status == JUDGE_CORRECT ? team__time(team, one->us[0])
                                                : judge_status_name[one->status]);
    }
    put_numbers(&buf, team, best);
    *answer = buf.data;
    return status;
}

/* ---- the others ---- */

static const char *
profile_it(struct team *team, struct speech *speech, const char *rest)
{
    const char *reason;
    const struct node *node = kernel_in(team, speech, rest, &reason);
    if (node == NULL && speech->slot != NULL)
        node = team__solid(speech->slot->base);
    const char *kernel = node ? node->kernel : NULL;
    struct profile_options options = team__profile_options(team, node ? node->us[0] : INFINITY);
    struct profile *profile =
        kernel && team->who->profile ? team__profile(team, kernel, &options) : NULL;
    struct buf buf = buf_in(team->loop->arena);
    if (profile == NULL)
        return "No figures can be had of it.";
    profile_put(&buf, profile, &options, 12);
    return buf.data ? buf.data : "";
}

static const char *
read_it(struct team *team, const char *rest)
{
    struct buf buf = buf_in(team->loop->arena);
    for (size_t i = 0; i < agent_technique_count; i++)
        if (strstr(rest, agent_techniques[i].name))
            buf_printf(&buf, "%s: when %s: %s (%s)\n", agent_techniques[i].name,
                       agent_techniques[i].when, agent_techniques[i].what,
                       agent_techniques[i].measured);
    return buf.data ? buf.data : "There is no document of that name.";
}

enum status
team__tool(struct team *team, struct speech *speech, enum recipe_tool tool, const char *rest,
           const char **answer)
{
    team__news(team, recipe_tool_name[tool], speech->slot ? speech->slot->step.lane : 0, "for %s",
               speech->role->agent.name);
    struct node *judged;
    bool spent = run__is_spent(team->loop);
    *answer = "No evaluations are left.";
    switch (tool) {
    case RECIPE_TOOL_COMPILE:
        return compile_it(team, speech, rest, answer);
    case RECIPE_TOOL_JUDGE:
        return spent ? STATUS_OK : judge_it(team, speech, rest, &judged, answer);
    case RECIPE_TOOL_SWEEP:
        return spent ? STATUS_OK : sweep_it(team, speech, rest, answer);
    case RECIPE_TOOL_PROFILE:
        *answer = profile_it(team, speech, rest);
        return STATUS_OK;
    case RECIPE_TOOL_SEARCH:
        *answer = team__recall(team, RECIPE_MEMORY_CASES, 4);
        return STATUS_OK;
    case RECIPE_TOOL_READ:
        *answer = read_it(team, rest);
        return STATUS_OK;
    case RECIPE_TOOL_COUNT:
        break;
    }
    return STATUS_OK;
}
