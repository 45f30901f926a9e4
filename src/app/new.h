/* The pieces of `hone new`. */
#ifndef HONE_APP_NEW_H
#define HONE_APP_NEW_H

#include "app/cli.h"

/* The program that --model drafts from the words; `nearest` is shown to it (NULL: nothing is).
 * STATUS_NO: no program came of it. */
enum status
new_by_model(struct cli *cli, const char *words, const char *nearest, const char *file,
             const char **program);

#endif
