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

/* Looked at once, through the ledger: prompts must be the same again on a machine without the
 * tools. */
void
team__look_at(struct team *team, struct node *node)
{
    struct loop *loop = team->loop;
    const struct run_case *of = &loop->result->cases[0];
    if (node->profiled || team->who->profile == NULL || node->kernel == NULL)
        return;
    node->profiled = true;
    struct profile_options options = {.target = loop->options->target,
                                      .program = of->program,
                                      .registers = loop->options->machine.registers,
                                      .vector_bytes = loop->options->machine.vector_bytes,
                                      .l2 = loop->options->machine.l2,
                                      .threads = loop->options->machine.threads,
                                      .us = isinf(node->us[0]) ? 0 : node->us[0],
                                      .light_us = of->light.us,
                                      .limit = of->light.limit};
    node->profile = team__profile(team, node->kernel, &options);
}

/* ---- candidates ---- */

const char *
team__time(struct team *team, double us)
{
    struct arena *arena = arena_of(team);
    if (isinf(us))
        return "no time";
    if (us < 1000)
        return arena_printf(arena, us < 100 ? "%.1f us" : "%.0f us", us);
    return arena_printf(arena, us < 1e6 ? "%.2f ms" : "%.0f ms", us / 1000);
}

/* "correct: default 4.02 ms (67 % of light), tail 15 us" */
static void
put_state(struct buf *buf, struct team *team, const struct node *node)
{
    const struct run_result *result = team->loop->result;
    buf_printf(buf, "%s", judge_status_name[node->status]);
    for (size_t i = 0; i < result->case_count; i++)
        if (!isinf(node->us[i]))
            buf_printf(buf, "%s %s %s (%.0f %% of light)", i ? "," : ":",
                       result->cases[i].program->case_name, team__time(team, node->us[i]),
                       100 * result->cases[i].light.us / node->us[i]);
    if (*node->reason)
        buf_printf(buf, "; %s", node->reason);
}

/* Everything below the includes between marks, for roles that may change nothing else. */
static const char *
with_marks(struct arena *arena, const char *text, unsigned vector_bytes)
{
    const char *below = text;
    if (strstr(text, "//! improve"))
        return text;
    for (const char *at = text; (at = strstr(at, "#include ")) != NULL; at++)
        below = at + strcspn(at, "\n") + 1;
    const char *hone_h = strstr(text, "\"hone.h\"") ? ""
                                                    : arena_printf(arena,
                                                                   "#define HONE_VECTOR_BYTES %u\n"
                                                                   "#include \"hone.h\"\n",
                                                                   vector_bytes);
    return arena_printf(arena, "%.*s%s//! improve\n%s//! end\n", (int)(below - text), text, hone_h,
                        below);
}

/* The kernel of the first case; of a schedule without the functions of hone.h. */
static const char *
short_form(struct team *team, const struct node *node)
{
    struct arena *arena = arena_of(team);
    const struct program *program =
        node->programs ? node->programs[0] : team->loop->result->cases[0].program;
    struct coder_options options = {team->loop->options->machine.vector_bytes};
    struct diags *ours = diags_create(arena, 1);
    struct buf text = buf_in(arena);
    const char *part = node->parts ? node->parts[0] : node->kernel;
    if (node->lines == NULL || node->lines[0] == NULL)
        return part;
    struct source source = {"schedule", node->lines[0], strlen(node->lines[0])};
    struct schedule *schedule = coder_read(arena, program, &source, &options, ours);
    return schedule != NULL && coder_emit_short(&text, arena, schedule, ours) ? text.data : part;
}

const char *
team__shown(struct team *team, const struct node *node)
{
    const struct recipe_role *coder =
        team->phase ? recipe_role(team->phase->recipe, AGENT_CODER) : NULL;
    const char *text = short_form(team, node);
    if (coder != NULL && (coder->agent.returns.formats & 1u << AGENT_FORMAT_FILL))
        text = with_marks(arena_of(team), text, team->loop->options->machine.vector_bytes);
    return text;
}

static const char *
text_of(struct team *team, const struct node *node)
{
    struct buf buf = buf_in(arena_of(team));
    node = team__solid(node);
    if (node == NULL)
        return "";
    put_state(&buf, team, node);
    if (node->schedule != NULL)
        buf_printf(&buf, "\nschedule:\n%s", node->schedule);
    const char *shown = team__shown(team, node);
    buf_printf(&buf, "\n```c\n%s%s```\n", shown,
               *shown && shown[strlen(shown) - 1] != '\n' ? "\n" : "");
    if (team->loop->result->case_count > 1 && node->lines != NULL)
        buf_printf(&buf,
                   "This is the kernel of case %s; the other cases have kernels of their own "
                   "from the schedule.\n",
                   team->loop->result->cases[0].program->case_name);
    return buf.data;
}

/* One line: "#12 coder 3.61 ms: two query blocks share each K tile". */
static void
put_line(struct buf *buf, struct team *team, const struct node *node)
{
    buf_printf(buf, "#%d %s ", node->number, *node->role ? node->role : node->proposer);
    if (node->status == JUDGE_CORRECT)
        buf_puts(buf, team__time(team, node->us[0]));
    else
        buf_printf(buf, "%s", judge_status_name[node->status]);
    if (*node->why)
        buf_printf(buf, ": %.*s", (int)strcspn(node->why, "\n"), node->why);
    if (node->status != JUDGE_CORRECT && *node->reason)
        buf_printf(buf, " (%s)", node->reason);
    if (*node->decision)
        buf_printf(buf, " [%s]", node->decision);
    buf_putc(buf, '\n');
}

/* Correct ones, fastest first. */
static size_t
ranked(struct team *team, const struct node **list, size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < team->node_count; i++) {
        const struct node *node = team->nodes[i];
        if (node->empty || node->status != JUDGE_CORRECT || isinf(node->cost))
            continue;
        size_t at = count < most ? count++ : most;
        for (; at > 0 && list[at - 1]->cost > node->cost; at--)
            if (at < most)
                list[at] = list[at - 1];
        if (at < most)
            list[at] = node;
    }
    return count;
}

static const char *
put_top(struct team *team, size_t most, bool code)
{
    const struct node *list[16];
    struct buf buf = buf_in(arena_of(team));
    size_t count = ranked(team, list, most < 16 ? most : 16);
    for (size_t i = count; i-- > 0;) { /* the fastest last: nearest to the question */
        put_line(&buf, team, list[i]);
        if (code)
            buf_printf(&buf, "```c\n%s\n```\n", team__shown(team, list[i]));
    }
    return buf.data ? buf.data : "";
}

/* Kernels of other speeds than the best: what distinguishes fast from slow shows in the contrast.
 */
static const char *
put_exemplars(struct team *team, size_t most)
{
    const struct node *list[64];
    struct buf buf = buf_in(arena_of(team));
    size_t count = ranked(team, list, 64);
    most = most < count ? most : count;
    for (size_t i = 0; i < most; i++) {
        const struct node *node = list[most > 1 ? i * (count - 1) / (most - 1) : 0];
        buf_printf(&buf, "score %.2f\n```c\n%s\n```\n",
                   team->start && team->start->status == JUDGE_CORRECT
                       ? team->start->cost / node->cost
                       : 1.0,
                   team__shown(team, node));
    }
    return buf.data ? buf.data : "";
}

static bool
is_child(const struct node *node, const struct node *parent)
{
    return parent != NULL && node->parent_count > 0 && node->parents[0] == parent;
}

/* Changes of this base, newest first; or children, siblings and cousins. */
static const char *
put_attempts(struct team *team, const struct node *base, size_t most)
{
    struct buf buf = buf_in(arena_of(team));
    for (size_t i = team->node_count; i-- > 0 && most > 0;)
        if (is_child(team->nodes[i], base) && !team->nodes[i]->empty) {
            const struct node *node = team->nodes[i];
            put_line(&buf, team, node);
            if (!isnan(node->high) && node->status == JUDGE_CORRECT && base->cost > 0)
                buf_printf(&buf, "  expected %.0f-%.0f %%, got %.0f %%\n", 100 * (node->low - 1),
                           100 * (node->high - 1), 100 * (base->cost / node->cost - 1));
            most--;
        }
    return buf.data ? buf.data : "";
}

static const char *
put_family(struct team *team, const struct node *base, size_t most)
{
    struct buf buf = buf_in(arena_of(team));
    const struct node *parent = base && base->parent_count ? base->parents[0] : NULL;
    const struct node *grand = parent && parent->parent_count ? parent->parents[0] : NULL;
    for (size_t i = team->node_count; i-- > 0 && most > 0;) {
        const struct node *node = team->nodes[i];
        const char *kin = is_child(node, base)                     ? "child"
                          : node != base && is_child(node, parent) ? "sibling"
                          : grand && node->parent_count && is_child(node->parents[0], grand) &&
                                  node->parents[0] != parent
                              ? "cousin"
                              : NULL;
        if (kin == NULL || node->empty)
            continue;
        buf_printf(&buf, "%s ", kin);
        put_line(&buf, team, node);
        most--;
    }
    return buf.data ? buf.data : "";
}

/* Does it belong to the line of work that the slot goes on with? */
static bool
is_of_line(const struct node *node, const struct slot *slot)
{
    return !node->empty && node->lane == slot->step.lane &&
           !strcmp(node->phase, slot->phase->recipe->name) && strcmp(node->role, "sweep") != 0 &&
           strcmp(node->role, "tool") != 0;
}

/* What was done, said and found in one turn, as the recipe wants it told. */
static void
put_turn(struct buf *buf, struct team *team, const struct node *node, bool is_base,
         enum recipe_history how)
{
    const char *more = node->why + strcspn(node->why, "\n");
    put_line(buf, team, node);
    if (how == RECIPE_SUMMARIES && *more)
        buf_printf(buf, "  %s\n", more + 1);
    if (how == RECIPE_ALL && !is_base && node->kernel != NULL)
        buf_printf(buf, "```c\n%s\n```\n", team__shown(team, node));
    if (how == RECIPE_ALL || how == RECIPE_LAST)
        buf_puts(buf, node->words);
}

/* The turns of this line of work: oldest first, at most `most`. */
static const char *
put_history(struct team *team, const struct slot *slot, enum recipe_history how, unsigned most)
{
    struct buf buf = buf_in(arena_of(team));
    unsigned turns = 0, before = 0;
    if (how == RECIPE_LAST)
        most = 1;
    for (size_t i = 0; slot != NULL && i < team->node_count; i++)
        turns += is_of_line(team->nodes[i], slot);
    for (size_t i = 0; slot != NULL && how != RECIPE_NO_HISTORY && i < team->node_count; i++)
        if (is_of_line(team->nodes[i], slot) && before++ + most >= turns)
            put_turn(&buf, team, team->nodes[i], team->nodes[i] == slot->base, how);
    return buf.data ? buf.data : "";
}

static const char *
put_schedules(struct team *team, unsigned best, unsigned worst)
{
    const struct run_case *of = &team->loop->result->cases[0];
    struct buf buf = buf_in(arena_of(team));
    for (unsigned k = 0; k < 2; k++) {
        double last = k ? INFINITY : 0;
        for (unsigned n = 0; n < (k ? worst : best); n++) {
            const struct run_candidate *next = NULL;
            for (size_t i = 0; i < of->tried_count; i++) {
                const struct run_candidate *one = &of->tried[i];
                if (one->schedule == NULL || one->status != JUDGE_CORRECT || isinf(one->us))
                    continue;
                if (k ? one->us < last && (!next || one->us > next->us)
                      : one->us > last && (!next || one->us < next->us))
                    next = one;
            }
            if (next == NULL)
                break;
            buf_printf(&buf, "%s %s\n%s", k ? "slow" : "fast", team__time(team, next->us),
                       next->schedule);
            last = next->us;
        }
    }
    return buf.data ? buf.data : "";
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
        if ((double)(rng_at(&rng, team->calls * 64 + i) >> 11) * 0x1p-53 >= phase->menu_dropout)
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
    if (slot->part != NULL)
        buf_printf(&buf, "Work on stage %s alone; leave the others as they are.\n", slot->part);
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
    put_state(&buf, team, best);
    buf_puts(&buf, ". A change counts as useful from 3 % beyond the noise on.\n");
    return buf.data;
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
        return put_exemplars(team, most ? most : 2);
    case AGENT_SECTION_MENU:
        return put_menu(team, slot);
    case AGENT_SECTION_SCHEDULES:
        return put_schedules(team, most ? most : 5, sight->worst);
    case AGENT_SECTION_TOP:
        return put_top(team, most ? most : 3, true);
    case AGENT_SECTION_BEST:
        return team->best == base && sees(speech, AGENT_SECTION_BASE) ? ""
                                                                      : text_of(team, team->best);
    case AGENT_SECTION_ROOT:
        return text_of(team, team->start);
    case AGENT_SECTION_BASE:
        return text_of(team, base);
    case AGENT_SECTION_OTHER:
        return slot ? text_of(team, slot->other) : "";
    case AGENT_SECTION_PARENT:
        return text_of(team, speech->parent);
    case AGENT_SECTION_CANDIDATE:
    case AGENT_SECTION_FINALIST:
        return candidate            ? text_of(team, candidate)
               : slot && slot->text ? arena_printf(arena_of(team), "```c\n%s\n```\n", slot->text)
                                    : text_of(team, team->best);
    case AGENT_SECTION_FAMILY:
        return put_family(team, base, most ? most : 8);
    case AGENT_SECTION_LEADERBOARD:
        return put_top(team, most ? most : 5, false);
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
        return put_history(team, slot, phase->history, most ? most : 16);
    case AGENT_SECTION_ATTEMPTS:
        return put_attempts(team, base, most ? most : 3);
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
        return agent_constant_section(arena_of(team), &team->scene, sight->section);
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
