/* hone optimize --dry-run: what would be asked, and what it would cost. */
#include "app/optimize.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

static const double REPLY_TOKENS = 2500; /* of a usual reply, with what was thought */

/* USD of one call of this kind, after the first; NAN: no price. */
static double
price_of(const struct run_dry_prompt *prompt)
{
    if (prompt->model == NULL)
        return 0;
    struct llm_facts facts = llm_facts(prompt->model);
    double cached = facts.price.cached >= 0 ? facts.price.cached : facts.price.input;
    if (!facts.priced)
        return facts.free ? 0 : NAN;
    return (prompt->constant * cached + (prompt->tokens - prompt->constant) * facts.price.input +
            REPLY_TOKENS * facts.price.output) /
           1e6;
}

static enum status
write_prompts(struct cli *cli, const struct run_dry *dry, const char **folder)
{
    char *name = arena_strdup(cli->arena, "hone-dry-XXXXXX");
    enum status status = STATUS_OK;
    *folder = name;
    if (mkdtemp(name) == NULL)
        return cli_wrong(cli, "no folder for the prompts can be made here: %s", strerror(errno));
    for (size_t i = 0; i < dry->count && status == STATUS_OK; i++) {
        const struct run_dry_prompt *prompt = &dry->prompts[i];
        const char *file =
            arena_printf(cli->arena, "%zu-%s-%s.md", i + 1, prompt->phase, prompt->role);
        for (char *at = (char *)file; *at; at++)
            *at = *at == ' ' ? '-' : *at;
        const char *text = arena_printf(cli->arena, "%s\n\n%s\n", prompt->system, prompt->user);
        status = file_write(file_join(cli->arena, name, file), text, strlen(text), cli->diags);
    }
    return status;
}

static void
put_models(struct cli *cli, const struct run_team *team)
{
    for (size_t i = 0; i < team->model_count; i++) {
        struct llm_facts facts = llm_facts(team->models[i].model);
        buf_printf(&cli->out, "  %s", facts.text);
        if (facts.window > 0)
            buf_printf(&cli->out, "   window %.0fk", facts.window / 1000);
        buf_printf(&cli->out, "   %s   %s%s\n", llm_skill_info[facts.skill].words,
                   facts.priced ? "priced "
                   : facts.free ? "free"
                                : "no price",
                   facts.priced ? facts.price.date : "");
    }
    if (team->model_count == 0)
        buf_puts(&cli->out, "  no model: builtin plays every role\n");
}

enum status
optimize_dry(struct cli *cli, const struct run_options *options)
{
    const struct run_team *team = options->team;
    struct run_dry dry;
    const char *folder;
    double cost = 0, most = 0;
    if (team == NULL)
        return cli_wrong(cli, "--dry-run: no model and no recipe are given, so nothing would be "
                              "asked; add --model M or --recipe R");
    enum status status = run_dry(cli->arena, options, &dry, cli->diags);
    if (status == STATUS_OK)
        status = write_prompts(cli, &dry, &folder);
    if (status != STATUS_OK)
        return status;
    buf_printf(&cli->out, "%s   recipe %s: %s\n", lang_name(options->lang), team->recipe->name,
               team->recipe->about);
    put_models(cli, team);
    for (size_t i = 0; i < dry.count; i++) {
        const struct run_dry_prompt *prompt = &dry.prompts[i];
        buf_printf(&cli->out, "  %-10s %-12s prompt %.1fk tokens (%.1fk the same each time)\n",
                   prompt->phase, prompt->role, prompt->tokens / 1000, prompt->constant / 1000);
        cost += price_of(prompt) / (double)dry.count;
        most = fmax(most, prompt->tokens);
    }
    double calls = isinf(team->budget->calls) ? options->evaluations : team->budget->calls;
    buf_printf(&cli->out, "  at most %.0f calls, %u evaluations%s; limits: ", calls,
               options->evaluations,
               options->seconds > 0 ? arena_printf(cli->arena, ", %.0f s", options->seconds) : "");
    if (isinf(team->budget->cost))
        buf_puts(&cli->out, "no limit of cost");
    else
        buf_printf(&cli->out, "%.2f USD", team->budget->cost);
    if (team->model_count > 0 && !isnan(cost))
        buf_printf(&cli->out, "; estimate %.2f USD (%.2f-%.2f)", cost * calls, cost * calls / 2,
                   cost * calls * 2);
    buf_printf(&cli->out, "\nFirst prompts are in %s/. Nothing was sent.\n", folder);
    return STATUS_OK;
}
