/* Transcripts: a role that sees the history of a phase which keeps `transcript N` goes on with the
 * conversation that it had, instead of beginning a new one in each round. What it used tools for is
 * left out: the question and the answer count. */
#include "run/team_int.h"

#include <string.h>

static bool
keeps_talk(const struct team *team, const struct recipe_role *role)
{
    if (team->phase == NULL || team->phase->recipe->memory[RECIPE_MEMORY_TRANSCRIPT].most == 0)
        return false;
    for (size_t i = 0; i < role->agent.sight_count; i++)
        if (role->agent.sees[i].section == AGENT_SECTION_HISTORY)
            return true;
    return false;
}

static unsigned
lane_of(const struct speech *speech)
{
    return speech->slot ? speech->slot->step.lane : 0;
}

static bool
is_of(const struct exchange *exchange, const struct speech *speech)
{
    return exchange->lane == lane_of(speech) && !strcmp(exchange->role, speech->role->agent.name);
}

/* The newest turns of this role and line that there is room for, as numbers, the newest first. */
static size_t
choose_turns(const struct phase *phase, const struct speech *speech, double room, size_t *chosen)
{
    size_t most = phase->recipe->memory[RECIPE_MEMORY_TRANSCRIPT].most, count = 0;
    double used = llm_tokens_of(strlen(speech->system) + strlen(speech->messages[0].text));
    for (size_t i = phase->talk_count; i-- > 0 && count < most;) {
        const struct exchange *one = &phase->talk[i];
        if (!is_of(one, speech))
            continue;
        used += llm_tokens_of(strlen(one->question) + strlen(one->answer));
        if (room > 0 && used > room)
            break;
        chosen[count++] = i;
    }
    return count;
}

void
team__go_back(struct team *team, struct speech *speech, double room)
{
    struct phase *phase = team->phase;
    if (!keeps_talk(team, speech->role))
        return;
    struct arena *arena = team->loop->arena;
    size_t *chosen = arena_array(arena, phase->talk_count + 1, sizeof *chosen);
    size_t count = choose_turns(phase, speech, room, chosen), at = 0;
    struct llm_message *messages = arena_array(arena, 2 * count + 1, sizeof *messages);
    for (size_t i = count; i-- > 0;) {
        const struct exchange *one = &phase->talk[chosen[i]];
        messages[at++] = (struct llm_message){LLM_USER, one->question};
        messages[at++] = (struct llm_message){LLM_ASSISTANT, one->answer};
    }
    messages[at] = speech->messages[0];
    speech->messages = messages;
    speech->first = at;
    speech->message_count = at + 1;
}

void
team__remember(struct team *team, const struct speech *speech)
{
    struct phase *phase = team->phase;
    if (!keeps_talk(team, speech->role))
        return;
    phase->talk = arena_grow(team->loop->arena, phase->talk, phase->talk_count,
                             phase->talk_count + 1, sizeof *phase->talk);
    phase->talk[phase->talk_count++] =
        (struct exchange){speech->role->agent.name, lane_of(speech),
                          speech->messages[speech->first].text, speech->text};
}
