/* Several of one role (`count`): the same question is put to all of them at once, and what they say
 * is one answer. */
#include "run/team_int.h"

#include <string.h>
#include <strings.h>

enum status
team__ask_all(struct team *team, const struct speech *speech, struct chorus *chorus)
{
    size_t count = speech->role->count ? speech->role->count : 1;
    enum status status = STATUS_OK;
    *chorus =
        (struct chorus){.speeches = arena_array(team->loop->arena, count, sizeof *chorus->speeches),
                        .parts = arena_array(team->loop->arena, count, sizeof *chorus->parts)};
    while (chorus->asked < count && status == STATUS_OK) {
        chorus->speeches[chorus->asked] = *speech;
        status = team__ask(team, &chorus->speeches[chorus->asked]);
        chorus->asked += status == STATUS_OK;
    }
    return status == STATUS_NO ? STATUS_OK : status; /* no calls are left: without, then */
}

enum status
team__hear_all(struct team *team, struct chorus *chorus)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < chorus->asked && status == STATUS_OK; i++) {
        struct part *part = &chorus->parts[chorus->count];
        part->speech = &chorus->speeches[i];
        status = team__hear(team, part->speech, &part->reply);
        chorus->count += status == STATUS_OK;
        if (status == STATUS_NO)
            status = STATUS_OK;
    }
    return status;
}

/* ---- as one ---- */

/* Two that choose the same, or begin with the same word. */
static bool
agree(const struct agent_reply *a, const struct agent_reply *b)
{
    const char *one = a->item_count > 0 ? a->items[0].values[0] : a->text;
    const char *other = b->item_count > 0 ? b->items[0].values[0] : b->text;
    if (a->format == AGENT_FORMAT_PICK || b->format == AGENT_FORMAT_PICK)
        return a->pick == b->pick;
    if (one == NULL || other == NULL)
        return one == other;
    size_t length = strcspn(one, " ,.;:\n");
    return strcspn(other, " ,.;:\n") == length && !strncasecmp(one, other, length);
}

/* The one that most agree with; of several the one that spoke first. */
static const struct agent_reply *
majority(const struct chorus *chorus)
{
    size_t best = 0, most = 0;
    for (size_t i = 0; i < chorus->count; i++) {
        size_t votes = 0;
        for (size_t k = 0; k < chorus->count; k++)
            votes += agree(&chorus->parts[i].reply, &chorus->parts[k].reply);
        if (votes > most) {
            most = votes;
            best = i;
        }
    }
    return &chorus->parts[best].reply;
}

/* All plans in one list: what is taken of it is taken of all. */
static void
join_lists(struct team *team, const struct chorus *chorus, struct agent_reply *reply)
{
    struct agent_item *items = NULL;
    reply->item_count = 0;
    for (size_t i = 0; i < chorus->count; i++) {
        const struct agent_reply *one = &chorus->parts[i].reply;
        items = arena_grow(team->loop->arena, items, reply->item_count,
                           reply->item_count + one->item_count, sizeof *items);
        if (one->item_count > 0)
            memcpy(&items[reply->item_count], one->items, one->item_count * sizeof *items);
        reply->item_count += one->item_count;
    }
    reply->items = items;
    reply->format = AGENT_FORMAT_LIST;
}

bool
team__join(struct team *team, const struct chorus *chorus, struct agent_reply *reply)
{
    if (chorus->count == 0)
        return false;
    *reply = *majority(chorus);
    if (chorus->count > 1 && chorus->speeches[0].role->agent.kind == AGENT_PLANNER)
        join_lists(team, chorus, reply);
    return true;
}
