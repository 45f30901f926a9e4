/* --seed, which several verbs have. */
#include "app/cli.h"

#include <stdlib.h>
#include <string.h>

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
