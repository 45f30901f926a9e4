/* Candidates as roles see them: one whole, the best, the family of one, the turns of a line. */
#include "run/team_int.h"

#include "base/num.h"

#include <math.h>
#include <string.h>

static struct arena *
arena_of(const struct team *team)
{
    return team->loop->arena;
}

const char *
team__time(struct team *team, double us)
{
    struct buf text = buf_in(arena_of(team));
    if (isinf(us))
        return "no time";
    num_put_time(&text, us);
    return text.data;
}

void
team__put_state(struct buf *buf, struct team *team, const struct node *node)
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

/* The kernel of the first case; of a schedule without the functions of hone.h. */
static const char *
short_form(struct team *team, const struct node *node)
{
    struct arena *arena = arena_of(team);
    const struct program *program =
        node->programs ? node->programs[0] : team->loop->result->cases[0].program;
    struct coder_options options = {.vector_bytes = team->loop->options->machine.vector_bytes};
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
        text = agent_protect(arena_of(team), text, team->loop->options->machine.vector_bytes);
    return text;
}

const char *
team__text_of(struct team *team, const struct node *node)
{
    struct buf buf = buf_in(arena_of(team));
    node = team__solid(node);
    if (node == NULL)
        return "";
    team__put_state(&buf, team, node);
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

const char *
team__put_top(struct team *team, size_t most, bool code)
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
const char *
team__put_exemplars(struct team *team, size_t most)
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
const char *
team__put_attempts(struct team *team, const struct node *base, size_t most)
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

const char *
team__put_family(struct team *team, const struct node *base, size_t most)
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
const char *
team__put_history(struct team *team, const struct slot *slot, enum recipe_history how,
                  unsigned most)
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

const char *
team__put_schedules(struct team *team, unsigned best, unsigned worst)
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
