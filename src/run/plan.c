/* Plans: what a planner proposed, which of it is taken, and what comes next. */
#include "run/team_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int
field_of(const struct agent_shape *shape, const char *name)
{
    for (size_t i = 0; i < shape->field_count; i++)
        if (!strcmp(shape->fields[i].name, name))
            return (int)i;
    return -1;
}

static const char *
value_of(const struct recipe_role *role, const struct agent_item *item, const char *name,
         const char *otherwise)
{
    int field = field_of(&role->agent.returns, name);
    return field >= 0 && item->values[field] != NULL ? item->values[field] : otherwise;
}

double
team__number(const struct recipe_role *role, const struct agent_item *item, const char *name)
{
    int field = field_of(&role->agent.returns, name);
    return field >= 0 ? item->numbers[field] : NAN;
}

static struct plan
plan_of(struct team *team, const struct recipe_role *role, const struct agent_item *item)
{
    struct plan plan = {.role = role,
                        .item = item,
                        .kind = value_of(role, item, "kind", "code"),
                        .title = value_of(role, item, "title", ""),
                        .change = value_of(role, item, "change", ""),
                        .low = team__number(role, item, "low"),
                        .high = team__number(role, item, "high")};
    if (!*plan.change)
        plan.change = value_of(role, item, "plan", value_of(role, item, "method", plan.title));
    if (!*plan.title)
        plan.title = plan.change;
    const struct agent_technique *row =
        agent_technique_in(arena_printf(team->loop->arena, "%s %s %s", plan.title, plan.change,
                                        value_of(role, item, "technique", "")));
    plan.technique = row ? row->name : NULL;
    return plan;
}

static bool
is_repeated(const struct phase *phase, const struct plan *plan)
{
    for (size_t i = 0; i < phase->plan_count; i++)
        if (phase->plans[i].taken && !strcmp(phase->plans[i].kind, plan->kind) &&
            !strcmp(phase->plans[i].title, plan->title))
            return true;
    return false;
}

static double
figure_of(const struct plan *plan, const char *field)
{
    double value = team__number(plan->role, plan->item, field);
    return isnan(value) ? 0 : value;
}

/* Which of the new plans are wanted, by one rule; those that are already are left alone. */
static void
take_by(const struct recipe_taking *rule, struct plan *plans, size_t count, bool *wanted)
{
    unsigned left = rule->take == RECIPE_TAKE_TOP ? rule->most : 1;
    for (; left > 0; left--) {
        size_t best = count;
        for (size_t i = 0; i < count; i++) {
            bool new_kind = true;
            for (size_t k = 0; k < count; k++)
                new_kind = new_kind && !(wanted[k] && !strcmp(plans[k].kind, plans[i].kind));
            if (wanted[i] || (rule->take == RECIPE_TAKE_NEW_KIND && !new_kind))
                continue;
            const char *field = rule->field ? rule->field : "high";
            if (best == count || figure_of(&plans[i], field) > figure_of(&plans[best], field))
                best = i;
        }
        if (best < count)
            wanted[best] = true;
    }
}

static void
add_plan(struct phase *phase, const struct plan *plan)
{
    struct team *team = phase->team;
    phase->plans = arena_grow(team->loop->arena, phase->plans, phase->plan_count,
                              phase->plan_count + 1, sizeof *phase->plans);
    phase->plans[phase->plan_count] = *plan;
    search_walk_plan(phase->walk,
                     &(struct search_plan){.number = (int)phase->plan_count,
                                           .parent = team->best ? team->best->number : 0,
                                           .score = figure_of(plan, "high"),
                                           .difficulty = 1,
                                           .rating = figure_of(plan, "low")});
    phase->plan_count++;
    team__news(team, "plan", 0, "%s (%s)", plan->title, plan->kind);
}

/* The one plan of a step is carried out, whatever was tried before. */
static void
plan_step(struct slot *slot, const struct plan *plan)
{
    struct phase *phase = slot->phase;
    add_plan(phase, plan);
    phase->plans[phase->plan_count - 1].taken = true;
    slot->plan = &phase->plans[phase->plan_count - 1];
    phase->barren = false;
}

void
team__add_plans(struct slot *slot, const struct recipe_role *role, const struct agent_reply *reply,
                const struct node *base)
{
    struct phase *phase = slot->phase;
    struct arena *arena = phase->team->loop->arena;
    struct plan *plans = arena_array(arena, reply->item_count + 1, sizeof *plans);
    bool *wanted = arena_array(arena, reply->item_count + 1, sizeof *wanted);
    size_t count = 0;
    for (size_t i = 0; i < reply->item_count; i++) {
        plans[count] = plan_of(phase->team, role, &reply->items[i]);
        plans[count].base = base;
        if (reply->format != AGENT_FORMAT_LIST) {
            plan_step(slot, &plans[count]);
            return;
        }
        count += !is_repeated(phase, &plans[count]);
    }
    for (size_t i = 0; i < phase->recipe->take_count; i++)
        if (phase->recipe->take[i].take == RECIPE_TAKE_ALL)
            memset(wanted, true, count * sizeof *wanted);
        else
            take_by(&phase->recipe->take[i], plans, count, wanted);
    for (size_t i = 0; i < count; i++)
        if (wanted[i] || phase->recipe->take_count == 0)
            add_plan(phase, &plans[i]);
    phase->barren = count == 0;
}

struct plan *
team__next_plan(struct phase *phase, const struct slot *slot)
{
    int number = slot->step.plan;
    if (number >= 0 && (size_t)number < phase->plan_count)
        return &phase->plans[number];
    for (size_t i = 0; i < phase->plan_count; i++)
        if (!phase->plans[i].taken &&
            (phase->plans[i].base == NULL || phase->plans[i].base == slot->base))
            return &phase->plans[i];
    return NULL;
}
