/* hone task: what a program computes, what it costs, its speed of light. */
#include "app/task.h"

#include <string.h>

#include "base/text.h"

static enum status
no_case(struct cli *cli, const struct lang *lang, const char *name)
{
    struct buf list = buf_in(cli->arena);
    for (size_t i = 0; i < lang_case_count(lang); i++)
        buf_printf(&list, "%s%s", i ? ", " : "", lang_case_name(lang, i));
    return cli_wrong(cli, "--case %s: no such case; %s has %s", name, lang_name(lang), list.data);
}

static bool
find_case(const struct lang *lang, const char *name, size_t *number)
{
    for (size_t i = 0; i < lang_case_count(lang); i++)
        if (!strcmp(lang_case_name(lang, i), name)) {
            *number = i;
            return true;
        }
    return false;
}

static bool
is_among(const size_t *numbers, size_t count, size_t number)
{
    for (size_t i = 0; i < count; i++)
        if (numbers[i] == number)
            return true;
    return false;
}

/* The numbers of the cases asked for: those of --case, else `otherwise` from the first on. */
static enum status
choose_cases(struct cli *cli, const struct lang *lang, size_t otherwise, size_t **numbers,
             size_t *count)
{
    const char *list = cli_given(cli, "case");
    *numbers = arena_array(cli->arena, lang_case_count(lang), sizeof **numbers);
    *count = 0;
    if (list == NULL)
        for (; *count < otherwise; (*count)++)
            (*numbers)[*count] = *count;
    char *next = list ? arena_strdup(cli->arena, list) : NULL;
    for (char *name = strsep(&next, ","); name != NULL; name = strsep(&next, ",")) {
        size_t number;
        if (!find_case(lang, name, &number))
            return no_case(cli, lang, name);
        if (!is_among(*numbers, *count, number))
            (*numbers)[(*count)++] = number;
    }
    return STATUS_OK;
}

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

static enum status
show_costs(struct cli *cli, struct view *view)
{
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
                (cli_given(cli, "eval") != NULL);
    if (forms > 1)
        return cli_wrong(cli, "--expand, --emit-reference, --eval: write one of them");
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
    status =
        choose_cases(cli, view.lang, one ? 1 : lang_case_count(view.lang), &numbers, &view.count);
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
