/* --case: which cases of a task are meant. */
#include "app/cli.h"

#include <string.h>

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

enum status
cli_cases(struct cli *cli, const struct lang *lang, size_t otherwise, size_t **numbers,
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

enum status
cli_one_case(struct cli *cli, const struct lang *lang, size_t *number)
{
    size_t *numbers, count;
    enum status status = cli_cases(cli, lang, 1, &numbers, &count);
    if (status == STATUS_OK && count > 1)
        return cli_wrong(cli, "--case %s: one case is shown; name one", cli_given(cli, "case"));
    *number = status == STATUS_OK ? numbers[0] : 0;
    return status;
}
