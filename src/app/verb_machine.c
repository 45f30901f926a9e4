/* hone machine: what this machine can do, and whether it is fit to measure on. */
#include "app/machine.h"

#include <ctype.h>
#include <string.h>

#include "base/proc.h"

/* The first word of what a compiler says that begins with a digit. */
static const char *
find_version(struct arena *arena, const char *program)
{
    const char *const argv[] = {program, "--version", NULL};
    struct proc_result result;
    if (proc_find(arena, program) == NULL ||
        proc_run(arena, &(struct proc_request){.argv = argv, .seconds = 10}, &result) !=
            STATUS_OK ||
        result.exit_code != 0)
        return NULL;
    for (const char *at = result.out; *at && *at != '\n'; at++)
        if (isdigit((unsigned char)*at) && at > result.out && at[-1] == ' ')
            return arena_strndup(arena, at, strcspn(at, " -+~\n"));
    return "of some version";
}

/* What cannot be kept is measured again next time: a warning, no error. */
static void
keep(struct cli *cli, const struct machine_view *view)
{
    struct diags *diags = diags_create(cli->arena, 1);
    if (view->kept.path != NULL && measure_keep(cli->arena, view->kept.path, &view->facts,
                                                &view->kept.figures, diags) == STATUS_OK)
        log_hint(&cli->log, "measured in %.1f s, kept in %s", view->kept.figures.seconds,
                 view->kept.path);
    else
        log_warning(&cli->log, "the figures cannot be kept (%s); they will be measured each time",
                    diags_count(diags) ? diags_get(diags, 0)->message : "no cache folder");
}

/* The kept figures if they are of this machine, else new ones. */
static enum status
find_figures(struct cli *cli, struct machine_view *view, const struct measure_clock *clock)
{
    bool again = cli_given(cli, "measure") != NULL;
    measure_kept_read(cli->arena, &view->kept);
    if (view->kept.named && again)
        return cli_wrong(cli, "--measure: HONE_MACHINE says what the machine is; unset it first");
    if (view->kept.named && !view->kept.whole)
        return cli_wrong(cli,
                         "%s: HONE_MACHINE names it, but it is no description of a machine; write "
                         "one (doc/machine.md) or unset HONE_MACHINE",
                         view->kept.path);
    measure_state_read(cli->arena, clock, &view->state);
    if (view->kept.whole && !again)
        return STATUS_OK;
    enum status status = measure_figures_take(cli->arena, &view->facts, clock, &cli->log,
                                              &view->kept.figures, cli->diags);
    if (status != STATUS_OK)
        return status;
    view->kept.figures.noise = view->state.noise;
    keep(cli, view);
    return STATUS_OK;
}

enum status
verb_machine(struct cli *cli)
{
    struct machine_view view = {0};
    struct box *box = NULL;
    struct measure_clock clock = measure_clock_open();
    view.tsc = clock.tsc;
    measure_facts_read(cli->arena, &view.facts);
    enum status status = find_figures(cli, &view, &clock);
    if (status != STATUS_OK)
        return status;
    view.gcc = find_version(cli->arena, "gcc");
    view.clang = find_version(cli->arena, "clang");
    view.advice_count =
        measure_advice(cli->arena, &view.facts, &view.kept.figures, &view.state, view.advice);
    if (box_open(NULL, &box, diags_create(cli->arena, 1)) == STATUS_OK)
        view.sandbox = box_machine(box);
    if (cli->json)
        machine_json(&cli->out, &view);
    else
        machine_screen(&cli->out, &view, cli->verbosity);
    box_close(box);
    return STATUS_OK;
}
