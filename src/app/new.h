/* `hone new`: a program from words. */
#ifndef HONE_APP_NEW_H
#define HONE_APP_NEW_H

#include "app/cli.h"

/* What the words say besides the operator's name. */
struct new_request {
    struct lang_wish wish;
    const char *const *words; /* what is left, in lower case */
    const bool *without;      /* each: it stands behind "without" or "no" */
    size_t count;
};

/* "rms norm, 4096x1024 floats, N=512". STATUS_INPUT: a size that is none. */
enum status
new_read_words(struct cli *cli, const char *text, struct new_request *request);

struct new_match {
    const struct lang_entry *entry;
    double score;
};

/* The entries by how well the words fit, the best first; those that do not fit at all are left out.
 */
size_t
new_rank(struct arena *arena, const struct new_request *request, const struct lang_entry *entries,
         size_t count, struct new_match **matches);

/* A program that somebody drafted, a model perhaps: the text of its reply, with or without words
 * and fences around it. *program is what was found in it, in the house style. STATUS_INPUT: it is
 * none, and `diags` says why in words that may be sent back. */
enum status
new_from_reply(struct arena *arena, const char *reply, const char *path, const char **program,
               struct diags *diags);

#endif
