/* Numbers that the host tunes: those that C declares with `//! tune`, and the tiles of a schedule.
 * Coordinate by coordinate, nearest neighbours first, twice round. */
#include "run/team_int.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NUMBERS = 32 };

struct sweep {
    struct slot *slot;
    struct node *best;
    unsigned left; /* evaluations */
    const char *what;
};

/* Tries one text; takes it if it is faster. */
static enum status
try_node(struct sweep *sweep, struct node *node)
{
    struct team *team = sweep->slot->phase->team;
    struct loop *loop = team->loop;
    if (sweep->left == 0 || run__is_spent(loop) || run__is_stopped(loop))
        return STATUS_OK;
    sweep->left--;
    node->role = "sweep";
    node->proposer = "builtin";
    node->why = sweep->what;
    node->lane = sweep->slot->step.lane;
    node->round = sweep->slot->step.round;
    agent_normal_hash(loop->arena, node->kernel, node->normal);
    enum status status = team__look(team, node, sweep->best);
    team__news(team, "sweep", node->lane, "%s: %s", sweep->what, team__time(team, node->us[0]));
    if (status == STATUS_OK && node->status == JUDGE_CORRECT &&
        node->cost < 0.99 * sweep->best->cost)
        sweep->best = node;
    return status;
}

static bool
is_tried(const struct team *team, const char *schedule)
{
    for (size_t i = 0; i < team->node_count; i++)
        if (team->nodes[i]->schedule != NULL && !strcmp(team->nodes[i]->schedule, schedule))
            return true;
    return false;
}

/* ---- schedules ---- */

/* Where the numbers of "i/96", "j/2v" stand. */
static size_t
find_numbers(const char *text, size_t *places)
{
    size_t count = 0;
    for (size_t i = 1; text[i] && count < MOST_NUMBERS; i++)
        if (text[i - 1] == '/' && isdigit((unsigned char)text[i]))
            places[count++] = i;
    return count;
}

static const char *
with_number(struct arena *arena, const char *text, size_t place, long value)
{
    size_t digits = strspn(text + place, "0123456789");
    return arena_printf(arena, "%.*s%ld%s", (int)place, text, value, text + place + digits);
}

/* The schedule with another number there, unless it is illegal or known. */
static enum status
try_number(struct sweep *sweep, size_t place, long from, long to)
{
    struct team *team = sweep->slot->phase->team;
    struct node probe = {.programs = sweep->best->programs};
    const char *reason;
    if (to < 1 ||
        !team__schedule(team, with_number(team->loop->arena, sweep->best->schedule, place, to),
                        &probe, &reason) ||
        is_tried(team, probe.schedule))
        return STATUS_OK;
    struct node *node = team__node(team, sweep->best);
    node->programs = probe.programs;
    node->schedule = probe.schedule;
    node->kernel = probe.kernel;
    node->parts = probe.parts;
    node->lines = probe.lines;
    node->technique = sweep->best->technique;
    sweep->what = arena_printf(team->loop->arena, "/%ld -> /%ld", from, to);
    return try_node(sweep, node);
}

static enum status
sweep_schedule(struct sweep *sweep)
{
    enum status status = STATUS_OK;
    size_t places[MOST_NUMBERS];
    for (unsigned around = 0; around < 2; around++)
        for (size_t i = 0; i < find_numbers(sweep->best->schedule, places); i++) {
            const struct node *before = sweep->best;
            long value = strtol(before->schedule + places[i], NULL, 10);
            if (status == STATUS_OK && sweep->left > 0)
                status = try_number(sweep, places[i], value, value * 2);
            if (status == STATUS_OK && sweep->left > 0 && sweep->best == before)
                status = try_number(sweep, places[i], value, value / 2);
        }
    return status;
}

/* ---- declared numbers ---- */

static enum status
try_tunable(struct sweep *sweep, struct agent_tunable *tunables, size_t count, size_t which,
            size_t value)
{
    struct team *team = sweep->slot->phase->team;
    size_t before = tunables[which].now;
    tunables[which].now = value;
    struct node *node = team__node(team, sweep->best);
    node->kernel = agent_tune(team->loop->arena, sweep->best->kernel, tunables, count);
    node->technique = sweep->best->technique;
    sweep->what = arena_printf(team->loop->arena, "%s=%ld", tunables[which].name,
                               tunables[which].values[value]);
    enum status status = try_node(sweep, node);
    if (sweep->best != node)
        tunables[which].now = before;
    return status;
}

static enum status
sweep_declared(struct sweep *sweep)
{
    struct arena *arena = sweep->slot->phase->team->loop->arena;
    struct agent_tunable *tunables;
    size_t count = agent_tunables(arena, sweep->best->kernel, &tunables);
    enum status status = STATUS_OK;
    for (unsigned around = 0; around < 2; around++)
        for (size_t i = 0; i < count && sweep->left > 0; i++)
            for (size_t away = 1; away < tunables[i].value_count && sweep->left > 0; away++) {
                size_t now = tunables[i].now;
                if (status == STATUS_OK && now + away < tunables[i].value_count)
                    status = try_tunable(sweep, tunables, count, i, now + away);
                if (status == STATUS_OK && tunables[i].now == now && now >= away)
                    status = try_tunable(sweep, tunables, count, i, now - away);
                if (tunables[i].now != now)
                    break; /* it moved: go on from there in the second round */
            }
    return status;
}

enum status
team__sweep(struct slot *slot, struct node *from, unsigned evaluations, struct node **best)
{
    struct sweep sweep = {.slot = slot, .best = from, .left = evaluations, .what = ""};
    enum status status = from->schedule != NULL ? sweep_schedule(&sweep) : sweep_declared(&sweep);
    *best = sweep.best;
    return status;
}
