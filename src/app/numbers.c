/* Options that several verbs have: numbers. */
#include "app/cli.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "box/box.h"

enum status
cli_threads(struct cli *cli, unsigned *threads)
{
    const char *text = cli_given(cli, "threads");
    int64_t value = 0;
    if (text != NULL && (!text_integer(text, &value) || value < 1 || value > BOX_CPUS_MAX))
        return cli_wrong(cli, "--threads %s: write a number from 1 on", text);
    *threads = (unsigned)value;
    return STATUS_OK;
}

enum status
cli_seed(struct cli *cli, size_t digits, uint64_t *seed)
{
    const char *text = cli_given(cli, "seed");
    if (text == NULL)
        return STATUS_OK;
    if (*text == 0 || text[strspn(text, "0123456789abcdefABCDEF")] != 0 || strlen(text) > digits)
        return cli_wrong(cli, "--seed %s: write at most %zu hex digits, as in 5d2a91c4", text,
                         digits);
    *seed = strtoull(text, NULL, 16);
    return STATUS_OK;
}
