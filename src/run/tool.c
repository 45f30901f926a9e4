/* Tools of the host that a role may use before it answers. What they say is what everybody is told:
 * the judge's words, the profile, rows of the technique table, what is in the archive. */
#include "run/team_int.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

/* The kernel that stands in the message, in any form that the role may answer in; else the base. */
static struct node *
kernel_in(struct team *team, struct speech *speech, const char *text)
{
    struct slot *slot = speech->slot;
    struct agent_reply reply;
    const char *reason;
    struct node *node = team__node(team, slot ? slot->base : team->best);
    node->empty = true; /* until there is a kernel */
    node->role = "tool";
    node->why = "asked for by a role";
    if (slot == NULL || agent_parse(team->loop->arena, text, strlen(text), &speech->role->agent,
                                    speech->formats, &reply, &reason) != STATUS_OK)
        return NULL;
    node->kernel = team__kernel_of(slot, &reply, node);
    slot->failed = NULL;
    if (node->kernel == NULL ||
        (node->schedule == NULL &&
         agent_objection(team->loop->arena, node->kernel, team->loop->options->target,
                         team->loop->result->cases[0].program) != NULL))
        return NULL;
    node->empty = false;
    return node;
}

static enum status
judge_it(struct team *team, struct speech *speech, const char *rest, const char **answer)
{
    struct node *node = kernel_in(team, speech, rest);
    struct buf buf = buf_in(team->loop->arena);
    if (node == NULL) {
        *answer = "There is no kernel in your message that may be built; put one into a fence.";
        return STATUS_OK;
    }
    enum status status = team__look(team, node, NULL);
    buf_printf(&buf, "%s", node->words);
    if (status == STATUS_OK && node->status == JUDGE_CORRECT)
        for (size_t i = 0; i < team->loop->result->case_count; i++)
            buf_printf(&buf, "%s: %s\n", team->loop->result->cases[i].program->case_name,
                       team__time(team, node->us[i]));
    *answer = buf.data;
    return status;
}

static const char *
profile_it(struct team *team, struct speech *speech, const char *rest)
{
    const struct node *node = kernel_in(team, speech, rest);
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
    *answer = "";
    switch (tool) {
    case RECIPE_TOOL_COMPILE:
    case RECIPE_TOOL_JUDGE:
    case RECIPE_TOOL_SWEEP:
        if (team->loop->result->evaluations < team->loop->options->evaluations)
            return judge_it(team, speech, rest, answer);
        *answer = "No evaluations are left.";
        return STATUS_OK;
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
