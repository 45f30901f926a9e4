/* What a role is shown: the sections of its prompt, made of the task, the machine, the candidates
 * and what was learned. */
#include "run/team_int.h"

#include "base/rng.h"

#include <math.h>
#include <string.h>

static struct arena *
arena_of(const struct team *team)
{
    return team->loop->arena;
}

/* ---- figures ---- */

/* A node's figure by name: what conditions are made of. */
double
team__figure(const void *user, const char *name)
{
    const struct node *node = user;
    return node != NULL && node->profile != NULL ? profile_figure(node->profile, name) : NAN;
}

struct profile_options
team__profile_options(const struct team *team, double us)
{
    const struct run_options *options = team->loop->options;
    const struct run_case *of = &team->loop->result->cases[0];
    return (struct profile_options){.target = options->target,
                                    .program = of->program,
                                    .registers = options->machine.registers,
                                    .vector_bytes = options->machine.vector_bytes,
                                    .l2 = options->machine.l2,
                                    .threads = options->machine.threads,
                                    .us = isinf(us) ? 0 : us,
                                    .light_us = of->light.us,
                                    .limit = of->light.limit};
}

/* Looked at once, through the ledger: prompts must be the same again on a machine without the
 * tools. */
void
team__look_at(struct team *team, struct node *node)
{
    struct profile_options options = team__profile_options(team, node->us[0]);
    if (node->profiled || team->who->profile == NULL || node->kernel == NULL)
        return;
    node->profiled = true;
    node->profile = team__profile(team, node->kernel, &options);
}

/* ---- lists ---- */

static const char *
put_lines(struct team *team, const struct lines *lines, size_t most)
{
    struct buf buf = buf_in(arena_of(team));
    size_t first = lines->count > TEAM_LINES ? lines->count - TEAM_LINES : 0;
    for (size_t i = lines->count; i-- > first && most > 0; most--)
        buf_printf(&buf, "- %s\n", lines->line[i % TEAM_LINES]);
    return buf.data ? buf.data : "";
}

static size_t
all_rows(size_t *rows, size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < agent_technique_count && count < most; i++)
        if (!agent_techniques[i].anti)
            rows[count++] = i;
    return count;
}

/* Rows of the technique table, where the recipe gates them those whose condition holds for the
 * base; some are left out, so that not every prompt says the same. */
static size_t
open_menu(struct team *team, const struct slot *slot, size_t *rows)
{
    const struct recipe_phase *phase = team->phase->recipe;
    const struct node *base = slot ? team__solid(slot->base) : team__solid(team->best);
    struct agent_facts facts = {team__figure, base};
    size_t found = phase->menu ? agent_menu(arena_of(team), &facts, rows, 64) : all_rows(rows, 64);
    size_t count = 0;
    struct rng rng = rng_stream(team->loop->options->seed, "menu");
    for (size_t i = 0; i < found; i++)
        if (rng_uniform_at(&rng, team->calls * 64 + i) >= phase->menu_dropout)
            rows[count++] = rows[i];
    return count;
}

static const char *
put_menu(struct team *team, const struct slot *slot)
{
    size_t rows[64];
    struct buf buf = buf_in(arena_of(team));
    agent_put_menu(&buf, rows, open_menu(team, slot, rows));
    if (slot != NULL && slot->invent)
        buf_puts(&buf, "This time leave the menu: propose what is not on it.\n");
    return buf.data ? buf.data : "";
}

static const char *
put_index(struct team *team)
{
    struct buf buf = buf_in(arena_of(team));
    for (size_t i = 0; i < agent_technique_count; i++)
        if (!agent_techniques[i].anti)
            buf_printf(&buf, "%s: %s\n", agent_techniques[i].name, agent_techniques[i].when);
    return buf.data;
}

static const char *
put_skills(struct team *team, const struct node *base)
{
    struct buf buf = buf_in(arena_of(team));
    struct agent_facts facts = {team__figure, base};
    size_t rows[64], count = agent_menu(arena_of(team), &facts, rows, 64);
    for (size_t i = 0; i < count; i++)
        buf_printf(&buf, "when %s: %s\n", agent_techniques[rows[i]].when,
                   agent_techniques[rows[i]].what);
    buf_puts(&buf, team__recall(team, RECIPE_MEMORY_SKILLS, 8));
    return buf.data ? buf.data : "";
}

static const char *
put_world(struct team *team)
{
    struct buf buf = buf_in(arena_of(team));
    for (size_t i = 0; i < team->phase->plan_count; i++) {
        const struct plan *plan = &team->phase->plans[i];
        buf_printf(&buf, "%zu %s: %s (%.2f-%.2f)%s\n", i + 1, plan->kind, plan->title, plan->low,
                   plan->high, plan->taken ? " tried" : " open");
    }
    return buf.data ? buf.data : "";
}

/* ---- the profile ---- */

static const char *
put_profile(struct team *team, struct node *base, unsigned most)
{
    struct buf buf = buf_in(arena_of(team));
    if (base == NULL || base->profile == NULL)
        return "";
    for (size_t i = 0; i < base->profile->figure_count && i < most; i++) {
        const struct profile_figure *figure = &base->profile->figures[i];
        buf_printf(&buf, "%s = %.4g%s%s  (%s)\n", figure->name, figure->value,
                   *figure->unit ? " " : "", figure->unit, figure->meaning);
    }
    return buf.data ? buf.data : "";
}

static const char *
put_remarks(struct team *team, const struct node *base)
{
    struct buf buf = buf_in(arena_of(team));
    if (base == NULL || base->profile == NULL)
        return "";
    for (size_t i = 0; i < base->profile->remark_count && i < 12; i++)
        buf_printf(&buf, "line %u: %s\n", base->profile->remarks[i].line,
                   base->profile->remarks[i].text);
    return buf.data ? buf.data : "";
}

/* What each stage would need at least, and by what it is limited: estimates, and called so. */
static const char *
put_stages(struct team *team)
{
    const struct program *program = team->loop->result->cases[0].program;
    struct buf buf = buf_in(arena_of(team));
    for (size_t i = 0; i < program->stage_count && i < 24; i++)
        buf_printf(&buf, "%s: %lld elements\n", program->stages[i].tensor->name,
                   (long long)program->stages[i].tensor->count);
    return buf.data ? buf.data : "";
}

/* ---- now ---- */

static const char *
put_plan(struct team *team, const struct slot *slot)
{
    struct buf buf = buf_in(arena_of(team));
    if (slot == NULL)
        return "";
    if (slot->plan != NULL)
        buf_printf(&buf, "%s (%s): %s\nexpected gain %.0f-%.0f %%\n", slot->plan->title,
                   slot->plan->kind, slot->plan->change, 100 * (slot->plan->low - 1),
                   100 * (slot->plan->high - 1));
    if (slot->advice != NULL)
        buf_printf(&buf, "%s\n", slot->advice);
    if (team->phase->redirect != NULL)
        buf_printf(&buf, "%s\n", team->phase->redirect);
    return buf.data ? buf.data : "";
}

static const char *
put_target(struct team *team)
{
    const struct node *best = team__solid(team->best);
    struct buf buf = buf_in(arena_of(team));
    if (best == NULL)
        return "";
    buf_puts(&buf, "now ");
    team__put_state(&buf, team, best);
    buf_puts(&buf, ". A change counts as useful from 3 % beyond the noise on.\n");
    return buf.data;
}

/* Made once: the example is emitted by the micro-coder, which takes as long as all the rest. */
static const char *
put_constant(struct team *team, enum agent_section section)
{
    const char **kept = &team->constant[section];
    if (*kept == NULL)
        *kept = agent_constant_section(arena_of(team), &team->scene, section);
    return *kept;
}

static const char *
put_memory(struct team *team, enum recipe_memory kind, unsigned most)
{
    unsigned shown = team->phase->recipe->memory[kind].most;
    return team__recall(team, kind, most ? most : shown ? shown : 4);
}

static bool
sees(const struct speech *speech, enum agent_section section)
{
    for (size_t i = 0; i < speech->role->agent.sight_count; i++)
        if (speech->role->agent.sees[i].section == section)
            return true;
    return false;
}

static struct node *
base_of(struct team *team, const struct speech *speech)
{
    const struct node *base = speech->slot ? team__solid(speech->slot->base) : team->best;
    return base ? team->nodes[base->number] : NULL;
}

static const char *
dynamic_section(struct team *team, const struct speech *speech, const struct agent_sight *sight)
{
    const struct slot *slot = speech->slot;
    const struct recipe_phase *phase = team->phase->recipe;
    struct node *base = base_of(team, speech);
    const struct node *candidate = team__solid(speech->candidate);
    unsigned most = sight->most;
    switch (sight->section) {
    case AGENT_SECTION_INDEX:
        return put_index(team);
    case AGENT_SECTION_DOCUMENTS:
        return slot && slot->documents ? slot->documents : "";
    case AGENT_SECTION_SKILLS:
        return put_skills(team, base);
    case AGENT_SECTION_RULES:
        return put_memory(team, RECIPE_MEMORY_RULES, most);
    case AGENT_SECTION_GRAPH:
        return put_memory(team, RECIPE_MEMORY_GRAPH, most);
    case AGENT_SECTION_CASES:
        return team->phase->no_cases ? "" : put_memory(team, RECIPE_MEMORY_CASES, most);
    case AGENT_SECTION_EXEMPLARS:
        return team__put_exemplars(team, most ? most : 2);
    case AGENT_SECTION_MENU:
        return put_menu(team, slot);
    case AGENT_SECTION_SCHEDULES:
        return team__put_schedules(team, most ? most : 5, sight->worst);
    case AGENT_SECTION_TOP:
        return team__put_top(team, most ? most : 3, true);
    case AGENT_SECTION_BEST:
        return team->best == base && sees(speech, AGENT_SECTION_BASE)
                   ? ""
                   : team__text_of(team, team->best);
    case AGENT_SECTION_ROOT:
        return team__text_of(team, team->start);
    case AGENT_SECTION_BASE:
        return team__text_of(team, base);
    case AGENT_SECTION_OTHER:
        return slot ? team__text_of(team, slot->other) : "";
    case AGENT_SECTION_PARENT:
        return team__text_of(team, speech->parent);
    case AGENT_SECTION_CANDIDATE:
    case AGENT_SECTION_FINALIST:
        return candidate            ? team__text_of(team, candidate)
               : slot && slot->text ? arena_printf(arena_of(team), "```c\n%s\n```\n", slot->text)
                                    : team__text_of(team, team->best);
    case AGENT_SECTION_FAMILY:
        return team__put_family(team, base, most ? most : 8);
    case AGENT_SECTION_LEADERBOARD:
        return team__put_top(team, most ? most : 5, false);
    case AGENT_SECTION_STAGES:
        return put_stages(team);
    case AGENT_SECTION_PROFILE:
        return put_profile(team, base, most ? most : phase->profile ? phase->profile : 12);
    case AGENT_SECTION_REMARKS:
        return put_remarks(team, base);
    case AGENT_SECTION_HOT_LOOP:
        return base && base->profile ? base->profile->hot_loop : "";
    case AGENT_SECTION_WORLD:
        return put_world(team);
    case AGENT_SECTION_STATES:
        return put_memory(team, RECIPE_MEMORY_STATES, most);
    case AGENT_SECTION_PAIRS:
        return put_memory(team, RECIPE_MEMORY_PAIRS, most);
    case AGENT_SECTION_INSIGHTS:
        return put_memory(team, RECIPE_MEMORY_INSIGHTS, most);
    case AGENT_SECTION_TRAPS:
        return put_lines(team, &team->traps, most ? most : 6);
    case AGENT_SECTION_BOARD:
        return put_lines(team, &team->board, most ? most : 16);
    case AGENT_SECTION_HISTORY:
        return team__put_history(team, slot, phase->history, most ? most : 16);
    case AGENT_SECTION_ATTEMPTS:
        return team__put_attempts(team, base, most ? most : 3);
    case AGENT_SECTION_PLAN:
        return put_plan(team, slot);
    case AGENT_SECTION_VERDICT:
        return candidate              ? candidate->words
               : slot && slot->failed ? slot->failed
               : base                 ? base->words
                                      : "";
    case AGENT_SECTION_CHANGE:
        return candidate ? candidate->why : put_plan(team, slot);
    case AGENT_SECTION_QUESTION:
        return speech->question ? speech->question : "";
    case AGENT_SECTION_TARGET:
        return put_target(team);
    case AGENT_SECTION_HINTS:
        return team->hints ? team->hints : "";
    default:
        return put_constant(team, sight->section);
    }
}

static bool
needs_profile(enum agent_section section)
{
    return section == AGENT_SECTION_PROFILE || section == AGENT_SECTION_REMARKS ||
           section == AGENT_SECTION_HOT_LOOP || section == AGENT_SECTION_MENU ||
           section == AGENT_SECTION_SKILLS;
}

/* The question always, what the role sees besides it. */
size_t
team__sections(struct team *team, const struct speech *speech, struct agent_text *texts)
{
    const struct agent_role *role = &speech->role->agent;
    struct node *base = base_of(team, speech);
    size_t count = 0;
    bool asked = false;
    for (size_t i = 0; i < role->sight_count && count < AGENT_SECTION_COUNT; i++) {
        const struct agent_sight *sight = &role->sees[i];
        if (needs_profile(sight->section) && base != NULL)
            team__look_at(team, base);
        asked = asked || sight->section == AGENT_SECTION_QUESTION;
        texts[count++] = (struct agent_text){sight->section, dynamic_section(team, speech, sight)};
    }
    if (!asked && speech->question != NULL && count < AGENT_SECTION_COUNT)
        texts[count++] = (struct agent_text){AGENT_SECTION_QUESTION, speech->question};
    return count;
}
