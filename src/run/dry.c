/* What would be asked: the first prompt of every role, with the usual schedule as the base. Nothing
 * is built, measured or sent. */
#include "run/team_int.h"

#include <string.h>

static double
no_clock(void *context)
{
    (void)context;
    return 0;
}

/* The usual schedule of each case, as the draft would begin. */
static struct node *
usual_node(struct team *team)
{
    struct node *node = team__node(team, NULL);
    const char *reason;
    if (!team__schedule(team, team__usual_lines(team, node), node, &reason))
        team__schedule(team, "", node, &reason);
    return node;
}

static enum status
dry_phase(struct team *team, const struct recipe_phase *recipe, struct run_dry *dry)
{
    struct arena *arena = team->loop->arena;
    struct phase *phase = arena_alloc(arena, sizeof *phase);
    struct search_step step = {.arm = -1, .plan = -1};
    struct slot slot = {.phase = phase, .step = step, .base = team->start};
    enum status status = STATUS_OK;
    *phase = (struct phase){.team = team, .recipe = recipe};
    team->phase = phase;
    for (size_t i = 0; i < recipe->role_count && status == STATUS_OK; i++) {
        const struct recipe_role *role = &recipe->roles[i];
        struct speech speech = {.role = role,
                                .slot = &slot,
                                .formats = role->agent.returns.formats,
                                .model = team__model(team, role)};
        status = team__compose(team, &speech);
        if (status == STATUS_NO) {
            status = STATUS_OK;
            continue;
        }
        if (status != STATUS_OK)
            break;
        dry->prompts =
            arena_grow(arena, dry->prompts, dry->count, dry->count + 1, sizeof *dry->prompts);
        dry->prompts[dry->count++] = (struct run_dry_prompt){
            .phase = recipe->name,
            .role = role->agent.name,
            .model = speech.model,
            .system = speech.system,
            .user = speech.messages[speech.first].text,
            .tokens =
                llm_tokens_of(strlen(speech.system) + strlen(speech.messages[speech.first].text)),
            .constant = llm_tokens_of(strlen(speech.system))};
    }
    team->phase = NULL;
    return status;
}

enum status
run_dry(struct arena *arena, const struct run_options *options, struct run_dry *dry,
        struct diags *diags)
{
    struct ledger ledger;
    struct run_options alone = *options;
    struct run_result result = {.case_count = options->case_count};
    struct loop loop = {.arena = arena,
                        .options = &alone,
                        .result = &result,
                        .diags = diags,
                        .ledger = &ledger,
                        .most_tried = 1};
    struct team team = {.loop = &loop, .who = options->team};
    alone.store = NULL;
    alone.mode = RUN_FRESH;
    *dry = (struct run_dry){0};
    enum status status = ledger_open(&ledger, arena, &alone, no_clock, NULL, diags);
    if (status == STATUS_OK)
        status = run__open_cases(&loop);
    if (status == STATUS_OK)
        status = run__read_lights(&loop);
    if (status != STATUS_OK)
        return status;
    team__set_scene(&team);
    team.start = team.best = usual_node(&team);
    for (size_t i = 0; i < team.who->recipe->phase_count && status == STATUS_OK; i++)
        status = dry_phase(&team, &team.who->recipe->phases[i], dry);
    return status;
}
