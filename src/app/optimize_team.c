/* Who proposes, for `hone optimize`: the recipe, the models, their limits, a person at the
 * terminal, and what is seen of them while they work. */
#include "app/config.h"
#include "app/optimize.h"

#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/screen.h"
#include "app/table.h"
#include "base/text.h"

/* ---- limits ---- */

static enum status
read_limit(struct cli *cli, const char *name, const char *unit, double *limit)
{
    const char *text = cli_given(cli, name);
    char *end;
    if (text == NULL)
        return STATUS_OK;
    *limit = strtod(text, &end);
    if (end == text || *end || !(*limit >= 0))
        return cli_wrong(cli, "--%s %s: write %s", name, text, unit);
    return STATUS_OK;
}

static enum status
read_budget(struct cli *cli, const struct recipe *recipe, struct llm_budget *budget)
{
    *budget = llm_budget_without_limits();
    if (recipe->budget.calls > 0)
        budget->calls = recipe->budget.calls;
    if (recipe->budget.tokens > 0)
        budget->tokens = recipe->budget.tokens;
    /* a limit on tokens stands for one on money where there is no price */
    if (cli_given(cli, "tokens") == NULL)
        budget->cost = strtod(cli->config->values[CONFIG_COST].text, NULL);
    enum status status = read_limit(cli, "calls", "how many calls at most", &budget->calls);
    if (status == STATUS_OK)
        status = read_limit(cli, "tokens", "how many tokens at most", &budget->tokens);
    if (status == STATUS_OK)
        status = read_limit(cli, "cost", "US dollars, as in 2.00", &budget->cost);
    return status;
}

/* What the command line leaves open is the recipe's. */
static void
take_budget(struct cli *cli, const struct recipe *recipe, struct run_options *options)
{
    bool effort = cli_given(cli, "effort") != NULL;
    if (cli_given(cli, "evals") == NULL && !effort && recipe->budget.evals > 0)
        options->evaluations = recipe->budget.evals;
    if (cli_given(cli, "time") == NULL && !effort && recipe->budget.seconds > 0)
        options->seconds = recipe->budget.seconds;
}

/* ---- models ---- */

/* "coder=M", separated by commas, as often as wanted. */
static enum status
read_roles(struct cli *cli, struct run_team *team)
{
    const char *text = cli_given(cli, "role");
    char *next = text ? arena_strdup(cli->arena, text) : NULL;
    struct run_role_model *roles = NULL;
    for (char *word; (word = strsep(&next, ",")) != NULL;) {
        char *model = strchr(word, '=');
        bool known = false;
        if (model == NULL)
            return cli_wrong(cli, "--role %s: write ROLE=MODEL, as in coder=anthropic:NAME", word);
        *model++ = '\0';
        for (unsigned i = 0; i < AGENT_KIND_COUNT; i++)
            known = known || !strcmp(agent_role_name[i].name, word);
        if (!known)
            return cli_wrong(cli,
                             "--role %s: no such role; write planner, coder, critic, debugger "
                             "and the like: hone recipes NAME",
                             word);
        roles =
            arena_grow(cli->arena, roles, team->role_count, team->role_count + 1, sizeof *roles);
        roles[team->role_count].role = word;
        roles[team->role_count].model = NULL;
        enum status status =
            strcmp(model, "builtin") == 0
                ? STATUS_OK
                : llm_model_find(team->llm, model, &roles[team->role_count].model, cli->diags);
        if (status != STATUS_OK)
            return status;
        team->role_count++;
    }
    team->roles = roles;
    return STATUS_OK;
}

static enum status
read_models(struct cli *cli, bool replay, struct run_team *team)
{
    const char *text = cli_given(cli, "model");
    struct llm_choice *list = NULL;
    if (text == NULL)
        text = cli->config->values[CONFIG_MODEL].text;
    team->stand_ins = text == NULL || strcmp(text, "builtin") == 0;
    if (team->stand_ins && cli_given(cli, "role") == NULL)
        return STATUS_OK;
    enum status status = config_open_llm(cli, NULL, replay, &team->llm);
    if (status == STATUS_OK && !team->stand_ins)
        status =
            llm_models_parse(team->llm, cli->arena, text, &list, &team->model_count, cli->diags);
    team->models = list;
    if (status == STATUS_OK)
        status = read_roles(cli, team);
    return status;
}

/* Who gives vectors for memory, if a setting says so: only beside a model, for without --model
 * nobody is ever called. */
static enum status
read_embeddings(struct cli *cli, struct run_team *team)
{
    const char *text = cli->config->values[CONFIG_EMBEDDINGS].text;
    if (text == NULL || team->model_count == 0)
        return STATUS_OK;
    enum status status = llm_model_find(team->llm, text, &team->embeddings, cli->diags);
    if (status == STATUS_OK && !llm_can_embed(team->embeddings))
        status = cli_wrong(cli,
                           "embeddings = %s: gives no vectors; name a model of an OpenAI-like "
                           "server, as in ollama:nomic-embed-text",
                           text);
    return status;
}

static enum status
check_price(struct cli *cli, const struct llm_model *model)
{
    struct llm_facts facts = llm_facts(model);
    if (facts.priced || facts.free)
        return STATUS_OK;
    return cli_wrong(cli,
                     "%s has no price, so --cost cannot hold; add a price, or use "
                     "--tokens N",
                     facts.text);
}

/* A limit that cannot be held is told before anything is spent. */
static enum status
check_prices(struct cli *cli, const struct run_team *team, const struct llm_budget *budget)
{
    enum status status = STATUS_OK;
    if (isinf(budget->cost))
        return STATUS_OK;
    for (size_t i = 0; i < team->model_count && status == STATUS_OK; i++)
        status = check_price(cli, team->models[i].model);
    if (status == STATUS_OK && team->embeddings != NULL)
        status = check_price(cli, team->embeddings);
    return status;
}

/* Windows and keys are known before the first call. */
static enum status
look_at_models(struct cli *cli, const struct run_team *team)
{
    for (size_t i = 0; i < team->model_count; i++) {
        const char *message;
        enum llm_outcome outcome = llm_look(team->llm, team->models[i].model, cli->arena, &message);
        if (outcome != LLM_OK) {
            diags_add(cli->diags, DIAG_ERROR, (struct place){0}, "%s; nothing was spent", message);
            return STATUS_MACHINE;
        }
    }
    return STATUS_OK;
}

/* ---- figures ---- */

static enum status
profile(void *context, struct arena *arena, const char *kernel,
        const struct profile_options *options, struct profile *result, struct diags *diags)
{
    struct optimize_team *team = context;
    struct profile_options filled = *options;
    if (team->judge == NULL)
        return STATUS_NO;
    filled.box = judge_jail(team->judge);
    return profile_kernel(arena, kernel, &filled, result, diags);
}

/* ---- a person ---- */

static const char *
ask(void *context, const char *question, const char *choices, double seconds)
{
    struct optimize_team *team = context;
    struct pollfd terminal = {.fd = STDIN_FILENO, .events = POLLIN};
    char line[4096];
    if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
        return NULL;
    log_progress_done(&team->cli->log);
    fprintf(stderr, "%s asks: %s\n%s%s(none in %.0f s) > ", team->task, question,
            choices ? choices : "", choices ? "  " : "", seconds);
    if (poll(&terminal, 1, (int)(seconds * 1000)) <= 0 || fgets(line, sizeof line, stdin) == NULL)
        return NULL;
    line[strcspn(line, "\n")] = '\0';
    return arena_strdup(team->cli->arena, line);
}

/* ---- news ---- */

static void
news(void *context, const struct run_news *said)
{
    struct optimize_team *team = context;
    struct arena *arena = team->cli->arena;
    const struct llm_budget *budget = said->budget;
    const char *best = isinf(said->best_us) ? "nothing yet" : table_time(arena, said->best_us);
    const char *now = arena_printf(arena, "%-10s lane %c  round %u  %s", said->role,
                                   'A' + (int)(said->lane % 26), said->round + 1, said->text);
    const char *lines[5];
    size_t count = 0;
    lines[count++] = arena_printf(arena, "%s  recipe %s  phase %s   best %s   %s", team->task,
                                  team->team.recipe->name, said->phase, best,
                                  screen_clock(arena, said->seconds));
    lines[count++] = arena_printf(arena, " now   %s", now);
    for (size_t i = 0; i < 2; i++)
        if (team->said[i] != NULL)
            lines[count++] = arena_printf(arena, " %s  %s", i ? "    " : "last", team->said[i]);
    lines[count++] =
        arena_printf(arena,
                     " %u evaluations   calls %.0f%s   in %.0fk out %.0fk   "
                     "%.2f USD",
                     said->evaluations, budget->calls_begun,
                     isinf(budget->calls) ? "" : arena_printf(arena, "/%.0f", budget->calls),
                     budget->input_spent / 1000, budget->output_spent / 1000, budget->cost_spent);
    log_progress(&team->cli->log, lines, count, arena_printf(arena, "%s: %s", team->task, now),
                 !said->waiting);
    if (!said->waiting) {
        team->said[1] = team->said[0];
        team->said[0] = now;
    }
}

/* ---- all of it ---- */

static bool
is_wanted(const struct cli *cli, const struct store_run *of)
{
    if (of != NULL)
        return *of->recipe_text != '\0';
    return cli_given(cli, "recipe") != NULL || cli_given(cli, "model") != NULL ||
           cli->config->values[CONFIG_MODEL].text != NULL;
}

enum status
optimize_open_team(struct cli *cli, const struct store_run *of, struct run_options *options,
                   struct optimize_team *team)
{
    const struct config *config;
    const char *name = cli_given(cli, "recipe");
    enum status status = config_read(cli, &config);
    if (status != STATUS_OK || !is_wanted(cli, of))
        return status;
    team->cli = cli;
    team->team.recipe =
        of != NULL
            ? recipe_read(cli->arena,
                          &(struct source){of->recipe, of->recipe_text, strlen(of->recipe_text)},
                          cli->diags)
            : recipe_find(cli->arena, name ? name : config->values[CONFIG_RECIPE].text, cli->diags);
    if (team->team.recipe == NULL)
        return STATUS_INPUT;
    status = read_models(cli, options->mode == RUN_REPLAY, &team->team);
    if (status == STATUS_OK)
        status = read_embeddings(cli, &team->team);
    if (status == STATUS_OK)
        status = read_budget(cli, team->team.recipe, &team->budget);
    if (status == STATUS_OK && options->mode != RUN_REPLAY)
        status = check_prices(cli, &team->team, &team->budget);
    if (status == STATUS_OK && options->mode != RUN_REPLAY)
        status = look_at_models(cli, &team->team);
    if (status != STATUS_OK) {
        optimize_close_team(team);
        return status;
    }
    take_budget(cli, team->team.recipe, options);
    team->team.budget = &team->budget;
    team->team.profile = profile;
    team->team.ask = ask;
    team->team.news = options->mode == RUN_REPLAY ? NULL : news;
    team->team.context = team;
    team->team.compiler = "gcc";
    team->team.flags = options->flags;
    options->team = &team->team;
    return STATUS_OK;
}

void
optimize_close_team(struct optimize_team *team)
{
    llm_close(team->team.llm);
    team->team.llm = NULL;
}
