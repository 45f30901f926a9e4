/* hone resume, hone replay: a run goes on where it was, or takes its decisions again. */
#include "app/archive.h"
#include "app/optimize.h"

#include <jansson.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"

/* ---- the command line of then ---- */

/* What this verb was given under the name, if it has such an option. */
static const char *
given_now(const struct cli *cli, const char *name)
{
    for (size_t i = 0; cli->verb->options[i].name != NULL; i++)
        if (name != NULL && !strcmp(cli->verb->options[i].name, name))
            return cli->given[i];
    return NULL;
}

/* The options of `optimize` as they were given then; what is given now counts before them. */
static enum status
recall_options(struct cli *cli, const struct store_run *run, struct cli *then)
{
    json_t *root = json_loads(run->options, 0, NULL);
    const json_t *options = json_object_get(root, "options");
    const char *operand = json_string_value(json_object_get(root, "operand"));
    enum status status = STATUS_OK;
    size_t count = 0;
    *then = *cli;
    then->verb = cli_find_verb("optimize");
    while (then->verb->options[count].name != NULL || then->verb->options[count].letter)
        count++;
    then->given = arena_array(cli->arena, count + 1, sizeof *then->given);
    then->operands = arena_array(cli->arena, 1, sizeof *then->operands);
    then->operand_count = 1;
    if (operand == NULL)
        status = cli_wrong(cli,
                           "%s: the archive does not know how it was begun: an older hone made it; "
                           "begin it again with hone optimize",
                           run->name);
    else
        then->operands[0] = arena_strdup(cli->arena, operand);
    for (size_t i = 0; i < count; i++) {
        const struct option *option = &then->verb->options[i];
        const char *name = option->name ? option->name : (char[]){option->letter, 0};
        const char *now = given_now(cli, option->name);
        const char *before = json_string_value(json_object_get(options, name));
        then->given[i] = now ? now : before ? arena_strdup(cli->arena, before) : NULL;
    }
    json_decref(root);
    return status;
}

static enum status
find_run(struct cli *cli, enum store_access access, struct store **store, struct store_run *run)
{
    enum status status = archive_need(cli, access, store);
    if (status == STATUS_OK)
        status = store_run_find(*store, cli->arena, cli->operands[0], run, cli->diags);
    return status;
}

/* ---- resume ---- */

enum status
verb_resume(struct cli *cli)
{
    struct store *store = NULL;
    struct store_run run;
    struct cli then;
    struct run_result result = {0};
    enum status status = find_run(cli, STORE_WRITE, &store, &run);
    if (status == STATUS_OK && run.state == STORE_DONE)
        status = cli_wrong(cli, "%s is done: hone show %s, or begin another with hone optimize",
                           run.name, run.name);
    if (status == STATUS_OK)
        status = recall_options(cli, &run, &then);
    if (status != STATUS_OK) {
        store_close(store);
        return status;
    }
    struct optimize_job job = {.cli = &then, .mode = RUN_RESUME, .store = store, .earlier = &run};
    status = optimize_do(&job, &result); /* closes the store */
    cli->out = then.out;
    cli->log = then.log;
    return status;
}

/* ---- replay ---- */

static void
put_replay(struct cli *cli, const struct store_run *run, const struct run_result *result,
           size_t answers, double seconds)
{
    bool same = result->difference == NULL;
    if (cli->json) {
        buf_puts(&cli->out, "{\"run\":");
        json_put_string(&cli->out, run->name);
        json_field_bool(&cli->out, "identical", same);
        buf_printf(&cli->out, ",\"answers\":%zu,\"calls\":%lld", answers, (long long)run->calls);
        json_field_string(&cli->out, "difference", result->difference);
        json_field_number(&cli->out, "seconds", seconds);
        buf_puts(&cli->out, "}\n");
        return;
    }
    buf_printf(&cli->out, "%s: %zu answers, %lld replies from the archive, no network: ", run->name,
               answers, (long long)run->calls);
    if (same)
        buf_printf(&cli->out, "identical%s (%.1f s)\n", result->over ? ", as far as it went" : "",
                   seconds);
    else
        buf_printf(&cli->out, "it differs: %s\n", result->difference);
}

enum status
verb_replay(struct cli *cli)
{
    struct store *store = NULL;
    struct store_run run;
    struct store_event *events;
    size_t count = 0;
    struct cli then;
    struct run_result result = {0};
    double began = clock_seconds();
    enum status status = find_run(cli, STORE_READ, &store, &run);
    if (status == STATUS_OK)
        status = recall_options(cli, &run, &then);
    if (status == STATUS_OK)
        status = store_events(store, cli->arena, run.id, 0, 0, &events, &count, cli->diags);
    if (status == STATUS_OK && count == 0)
        status = cli_wrong(cli, "%s: nothing of what it was answered is kept", run.name);
    if (status == STATUS_OK) {
        struct optimize_job job = {
            .cli = &then, .mode = RUN_REPLAY, .store = store, .earlier = &run};
        then.verbosity = -1; /* a replay makes no progress that one would look at */
        status = optimize_do(&job, &result);
        if (result.difference != NULL || result.over)
            status = STATUS_OK;
        if (status == STATUS_OK || status == STATUS_NO) {
            put_replay(cli, &run, &result, count, clock_seconds() - began);
            status = result.difference != NULL ? STATUS_NO : STATUS_OK;
        }
    }
    store_close(store);
    return status;
}
