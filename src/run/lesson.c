/* Memory: what a run keeps of its steps for itself and for later runs, and what it shows again.
 * All kinds are items of one table of the archive; what is read from there is an answer of the
 * world, and goes through the ledger. */
#include "run/team_int.h"

#include "base/clock.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

enum { SNIPPET = 700, POOL = 64 };

void
team__line(struct team *team, struct lines *lines, const char *format, ...)
{
    va_list arguments;
    struct buf text = buf_in(team->loop->arena);
    va_start(arguments, format);
    buf_vprintf(&text, format, arguments);
    va_end(arguments);
    lines->line[lines->count++ % TEAM_LINES] = text.data ? text.data : "";
}

/* ---- what describes a task ---- */

/* Words that tasks with the same answers share: "contraction exp f32 3stages compute". */
static const char *
features(struct team *team)
{
    const struct run_case *of = &team->loop->result->cases[0];
    const struct program *program = of->program;
    struct buf buf = buf_in(team->loop->arena);
    buf_printf(&buf, "stages:%zu inputs:%zu", program->stage_count, program->input_count);
    if (of->light.limit != NULL)
        buf_printf(&buf, " limit:%s", of->light.limit);
    for (size_t i = 0; i < program->stage_count && i < 16; i++)
        buf_printf(&buf, " %s rank:%zu", program->stages[i].tensor->name,
                   (size_t)program->stages[i].tensor->rank);
    return buf.data;
}

/* ---- writing ---- */

enum status
team__keep(struct team *team, const char *kind, const char *key, const char *text, double gain)
{
    struct loop *loop = team->loop;
    const char *ignored;
    enum status status = ledger_recall(loop->ledger, "lesson", kind, &ignored, loop->diags);
    if (status != STATUS_NO || loop->ledger->store == NULL)
        return status == STATUS_NO ? STATUS_OK : status;
    struct store_item item = {.kind = kind,
                              .key = key,
                              .text = text,
                              .family = loop->options->family,
                              .features = features(team),
                              .run = loop->ledger->run,
                              .written = clock_wall(),
                              .stats = {.uses = 1,
                                        .wins = gain > 1,
                                        .gain = gain,
                                        .predicted = NAN,
                                        .actual = gain,
                                        .q = gain > 1   ? 1
                                             : gain > 0 ? 0
                                                        : -1}};
    return ledger_learn(loop->ledger, kind, &item, loop->diags);
}

enum status
team__put_item(struct team *team, enum recipe_memory kind, const char *key, const char *text,
               double gain)
{
    return team__keep(team, recipe_memory_info[kind].name, key, text, gain);
}

static bool
is_kept(const struct recipe_phase *phase, enum recipe_memory kind, double gain)
{
    const struct recipe_remember *rule = &phase->memory[kind];
    if (rule->most == 0)
        return false;
    if (isnan(rule->above) && isnan(rule->below))
        return true;
    return (!isnan(rule->above) && rule->above > 0 && gain > rule->above) ||
           (!isnan(rule->below) && gain < rule->below) || (rule->above == 0 && rule->below == 0);
}

static const char *
snippet(struct team *team, const struct node *node)
{
    if (node->schedule != NULL)
        return node->schedule;
    return arena_printf(team->loop->arena, "%.*s", SNIPPET, node->kernel ? node->kernel : "");
}

/* An object in words: "when: ...; do: ..."; or the words. */
static void
put_lesson(struct buf *text, const struct recipe_role *role, const struct agent_reply *reply)
{
    for (size_t i = 0; reply->item_count > 0 && i < role->agent.returns.field_count; i++)
        if (reply->items[0].values[i] != NULL)
            buf_printf(text, "%s%s: %s", text->length ? "; " : "",
                       role->agent.returns.fields[i].name, reply->items[0].values[i]);
    if (reply->item_count == 0 && reply->text != NULL && *reply->text)
        buf_printf(text, "%s%s", text->length ? "; " : "", reply->text);
}

/* The summariser's words if there is one, else what the host can say itself. */
static enum status
lesson_of(struct slot *slot, const struct node *base, double gain, const char **lesson)
{
    struct team *team = slot->phase->team;
    const struct recipe_role *role = NULL;
    struct node *node = slot->made;
    for (size_t i = 0; i < slot->phase->recipe->role_count; i++) {
        const struct recipe_role *one = &slot->phase->recipe->roles[i];
        for (size_t k = 0; k < one->when_count && one->agent.kind == AGENT_SUMMARISER; k++) {
            const struct recipe_when *when = &one->when[k];
            if ((when->moment == RECIPE_ACCEPTED && slot->accepted) ||
                (when->moment == RECIPE_GAIN_BELOW && gain > 0 && gain < when->number) ||
                (when->moment == RECIPE_GAIN_ABOVE && gain > when->number) ||
                when->moment == RECIPE_ROUND)
                role = one;
        }
    }
    *lesson = arena_printf(team->loop->arena, "%.*s: %.2fx", (int)strcspn(node->why, "\n"),
                           *node->why ? node->why : "a change", gain);
    if (role == NULL)
        return STATUS_OK;
    struct speech speech = {.role = role,
                            .slot = slot,
                            .formats = role->agent.returns.formats,
                            .candidate = node,
                            .parent = base,
                            .question = "What is to be learned from this pair?"};
    struct chorus chorus;
    struct buf text = buf_in(team->loop->arena);
    enum status status = team__ask_all(team, &speech, &chorus);
    if (status == STATUS_OK)
        status = team__hear_all(team, &chorus);
    for (size_t n = 0; n < chorus.count && status == STATUS_OK; n++)
        put_lesson(&text, role, &chorus.parts[n].reply);
    if (status == STATUS_OK && text.length > 0)
        *lesson = text.data;
    return status;
}

static enum status
learn_from_speed(struct slot *slot, const struct node *base, double gain)
{
    struct team *team = slot->phase->team;
    const struct recipe_phase *phase = slot->phase->recipe;
    struct node *node = slot->made;
    struct arena *arena = team->loop->arena;
    const char *lesson, *technique = node->technique ? node->technique : "change";
    enum status status = lesson_of(slot, base, gain, &lesson);
    if (status == STATUS_OK && is_kept(phase, RECIPE_MEMORY_INSIGHTS, gain)) {
        team__line(team, &team->insights, "%s", lesson);
        status = team__put_item(team, RECIPE_MEMORY_INSIGHTS, technique, lesson, gain);
    }
    if (status == STATUS_OK && base != NULL && is_kept(phase, RECIPE_MEMORY_PAIRS, gain))
        status = team__put_item(team, RECIPE_MEMORY_PAIRS, technique,
                                arena_printf(arena, "%s\nbefore:\n%s\nafter:\n%s\n", lesson,
                                             snippet(team, base), snippet(team, node)),
                                gain);
    if (status == STATUS_OK && phase->memory[RECIPE_MEMORY_STATES].most > 0)
        status = team__put_item(
            team, RECIPE_MEMORY_STATES,
            team->loop->result->cases[0].light.limit ? team->loop->result->cases[0].light.limit
                                                     : "unknown",
            arena_printf(arena, "%s: predicted %.2f, actual %.2f", technique,
                         isnan(node->high) ? 1.0 : (node->low + node->high) / 2, gain),
            gain);
    if (status == STATUS_OK && phase->memory[RECIPE_MEMORY_GRAPH].most > 0)
        status = team__put_item(team, RECIPE_MEMORY_GRAPH,
                                arena_printf(arena, "%s -> %s",
                                             base && base->technique ? base->technique : "start",
                                             technique),
                                arena_printf(arena, "%s\n%s", lesson, snippet(team, node)), gain);
    if (status == STATUS_OK && gain > 1 &&
        (phase->memory[RECIPE_MEMORY_CASES].most || phase->memory[RECIPE_MEMORY_RETRIEVAL].most))
        status = team__put_item(team, RECIPE_MEMORY_CASES, lang_name(team->loop->options->lang),
                                snippet(team, node), gain);
    if (status == STATUS_OK && gain > 1 && phase->memory[RECIPE_MEMORY_SKILLS].most)
        status = team__put_item(team, RECIPE_MEMORY_SKILLS, technique, lesson, gain);
    return status;
}

enum status
team__learn(struct slot *slot, const struct node *base, double gain)
{
    struct team *team = slot->phase->team;
    const struct recipe_phase *phase = slot->phase->recipe;
    struct node *node = slot->made;
    const char *what = *node->why ? node->why : "a change";
    int length = (int)strcspn(what, "\n");
    if (node->status != JUDGE_CORRECT) {
        team__line(team, &team->traps, "%.*s: %s: %s", length, what,
                   judge_status_name[node->status], node->reason);
        if (phase->memory[RECIPE_MEMORY_RULES].most > 0)
            return team__put_item(team, RECIPE_MEMORY_RULES, judge_status_name[node->status],
                                  arena_printf(team->loop->arena, "You cannot: %s", node->reason),
                                  0);
        return STATUS_OK;
    }
    if (isnan(gain)) {
        team__line(team, &team->board, "%.*s -> the first that is correct", length, what);
        return STATUS_OK;
    }
    if (isnan(node->high))
        team__line(team, &team->board, "%.*s -> got %+.0f %%", length, what, 100 * (gain - 1));
    else
        team__line(team, &team->board, "%.*s -> expected %.0f-%.0f %%, got %+.0f %%", length, what,
                   100 * (node->low - 1), 100 * (node->high - 1), 100 * (gain - 1));
    return learn_from_speed(slot, base, gain);
}

/* ---- reading ---- */

/* Of a pool the most valuable ones, or, with the chance that the recipe gives, any. */
static void
choose_by_value(struct team *team, double chance, struct store_item *items, size_t count,
                size_t most)
{
    struct rng rng = rng_stream(team->loop->options->seed, "memory");
    for (size_t i = 0; i < count && i < most; i++) {
        uint64_t draw = team->calls * 64 + i;
        size_t chosen = i;
        for (size_t k = i + 1; k < count; k++)
            if (items[k].stats.q > items[chosen].stats.q)
                chosen = k;
        if (rng_uniform_at(&rng, draw) < chance)
            chosen = i + (size_t)(rng_at(&rng, draw) % (count - i));
        struct store_item kept = items[i];
        items[i] = items[chosen];
        items[chosen] = kept;
    }
}

static const char *
find_items(struct team *team, enum recipe_memory kind, unsigned most, const char **text)
{
    struct loop *loop = team->loop;
    struct buf buf = buf_in(loop->arena);
    struct store_item *items = NULL;
    size_t count = 0;
    const struct recipe_remember *rule = &team->phase->recipe->memory[kind];
    struct store_likeness likeness = {.text = lang_name(loop->options->lang),
                                      .features = features(team),
                                      .kinds = recipe_memory_info[kind].name,
                                      .most = rule->q > 0 ? POOL : most};
    *text = "";
    if (loop->ledger->store == NULL || most == 0)
        return *text;
    struct diags *ours = diags_create(loop->arena, 2); /* without memory the run goes on */
    if (team__embed(team, &likeness) != STATUS_OK ||
        store_items_similar(loop->ledger->store, loop->arena, &likeness, &items, &count, ours) !=
            STATUS_OK)
        return *text;
    if (rule->q > 0)
        choose_by_value(team, rule->q, items, count, most);
    for (size_t i = 0; i < count && i < most; i++)
        if (items[i].stats.uses >= (int64_t)rule->count)
            buf_printf(&buf, "- [%s] %s\n", items[i].key, items[i].text);
    *text = buf.data ? buf.data : "";
    return *text;
}

const char *
team__recall(struct team *team, enum recipe_memory kind, unsigned most)
{
    struct loop *loop = team->loop;
    const char *text = "";
    enum status status =
        ledger_recall(loop->ledger, "memory", recipe_memory_info[kind].name, &text, loop->diags);
    team__pass_embeddings(team);
    if (status == STATUS_NO) {
        find_items(team, kind, most, &text);
        status =
            ledger_note(loop->ledger, "memory", recipe_memory_info[kind].name, text, loop->diags);
    }
    if (status != STATUS_OK)
        return "";
    if (kind != RECIPE_MEMORY_INSIGHTS || *text)
        return text;
    struct buf own = buf_in(loop->arena); /* without an archive: those of this run */
    size_t first = team->insights.count > most ? team->insights.count - most : 0;
    for (size_t i = team->insights.count; i-- > first;)
        buf_printf(&own, "- %s\n", team->insights.line[i % TEAM_LINES]);
    return own.data ? own.data : "";
}
