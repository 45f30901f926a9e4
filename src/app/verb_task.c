/* hone task: what a program computes, what it costs, its speed of light. */
#include "app/task.h"

#include <string.h>

#include "base/text.h"

static enum status
make_programs(struct cli *cli, struct view *view, const size_t *numbers)
{
    view->first = lang_program(view->lang, 0, NULL, 0, cli->diags);
    if (view->first == NULL)
        return STATUS_INPUT;
    view->rows = arena_array(cli->arena, view->count, sizeof *view->rows);
    for (size_t i = 0; i < view->count; i++) {
        view->rows[i].program = numbers[i] == 0
                                    ? view->first
                                    : lang_program(view->lang, numbers[i], NULL, 0, cli->diags);
        if (view->rows[i].program == NULL)
            return STATUS_INPUT;
    }
    view->hash = lang_hash(cli->arena, view->first);
    return STATUS_OK;
}

/* What the first case can see: found out if asked for, otherwise shown if it was found before,
 * since gcc has to build references for it. */
static void
look(struct cli *cli, struct view *view)
{
    struct face_case *row = &view->rows[0];
    const struct program *program = row->program;
    struct sight *sights = arena_array(cli->arena, program->input_count, sizeof *sights);
    bool *ill_posed = arena_array(cli->arena, program->output_count, sizeof *ill_posed);
    struct diags *diags = diags_create(cli->arena, 0);
    view->see = cli_given(cli, "see") != NULL;
    if (!task_seen(cli->arena, program, TASK_SIGHT_SEED, sights, ill_posed) &&
        (!view->see || task_see(cli->arena, program, TASK_SIGHT_SEED, sights, ill_posed, diags))) {
        if (diags_count(diags) > 0)
            log_warning(&cli->log, "%s", diags_get(diags, 0)->message);
        return;
    }
    row->sights = sights;
    row->ill_posed = ill_posed;
}

static enum status
show_costs(struct cli *cli, struct view *view)
{
    look(cli, view);
    task_machine(cli->arena, &view->machine);
    for (size_t i = 0; i < view->count; i++)
        if (face_measure(&view->rows[i], &view->machine) != STATUS_OK) {
            cli_wrong(cli, "out of memory");
            return STATUS_MACHINE;
        }
    if (cli->json) {
        face_json(&cli->out, view->rows, view->count, view->hash, &view->machine);
        buf_putc(&cli->out, '\n');
    } else {
        task_screen(&cli->out, view, cli->verbosity);
    }
    return STATUS_OK;
}

static enum status
emit_reference(struct cli *cli, const struct view *view)
{
    if (view->first->foreign != NULL)
        return cli_wrong(cli, "--emit-reference: the reference of %s is %s", view->first->name,
                         view->first->foreign->path);
    lang_emit(&cli->out, view->rows[0].program, &(struct emit_options){.form = EMIT_REFERENCE});
    return STATUS_OK;
}

/* Options that only go together, or not at all. */
static enum status
check_options(struct cli *cli)
{
    static const char *const of_eval[] = {"inputs", "seed", "o"};
    int forms = (cli_given(cli, "expand") != NULL) + (cli_given(cli, "emit-reference") != NULL) +
                (cli_given(cli, "eval") != NULL) + (cli_given(cli, "see") != NULL);
    if (forms > 1)
        return cli_wrong(cli, "--see, --expand, --emit-reference, --eval: write one of them");
    for (unsigned i = 0; i < 3; i++)
        if (cli_given(cli, of_eval[i]) && !cli_given(cli, "eval"))
            return cli_wrong(cli, "%s%s belongs to --eval; write --eval too",
                             of_eval[i][1] ? "--" : "-", of_eval[i]);
    return STATUS_OK;
}

enum status
verb_task(struct cli *cli)
{
    struct view view = {0};
    size_t *numbers;
    enum status status = check_options(cli);
    if (status != STATUS_OK)
        return status;
    view.lang = lang_open(cli->arena, cli->operands[0], cli->diags);
    if (view.lang == NULL)
        return STATUS_INPUT;
    bool one =
        cli_given(cli, "expand") || cli_given(cli, "emit-reference") || cli_given(cli, "eval");
    status = cli_cases(cli, view.lang, one ? 1 : lang_case_count(view.lang), &numbers, &view.count);
    if (status == STATUS_OK)
        status = make_programs(cli, &view, numbers);
    if (status != STATUS_OK)
        return status;
    if (cli_given(cli, "eval"))
        return task_eval(cli, &view);
    if (cli_given(cli, "emit-reference"))
        return emit_reference(cli, &view);
    if (!cli_given(cli, "expand"))
        return show_costs(cli, &view);
    lang_expand(&cli->out, view.rows[0].program);
    return STATUS_OK;
}
