/* Rewrites of the schedule language: identities of the program. Each takes a program and returns
 * another that computes the same outputs, with one more stage or other indices; the interpreter
 * gives both the same values.
 *
 * Ownership law: the new program and its stages live in the arena; expressions are shared and new
 * ones are made in the program's own struct ir. The old program stays as it was. */
#ifndef HONE_CODER_CHANGE_INT_H
#define HONE_CODER_CHANGE_INT_H

#include "base/arena.h"
#include "lang/ir.h"

/*    id     word      what follows the stage */
#define CODER_CHANGES(X)                                                 \
    X(PAD, "pad", "X", "reads of X in S that may miss it become plain")  \
    X(FLAT, "flat", "y x", "adjacent left indices become one")           \
    X(PHASE, "phase", "X", "X is stored by the remainder of its stride") \
    X(SPLIT, "split", "k STEP", "partial results per chunk of k")        \
    X(CHUNK, "chunk", "t STEP", "scan per chunk, scan of the ends, add")

enum change {
#define X(id, ...) CHANGE_##id,
    CODER_CHANGES(X)
#undef X
        CHANGE_COUNT
};

struct change_line { /* "! pad Y X", "! flat Y y x", "! split Y k 512" */
    enum change change;
    const char *stage; /* a tensor's name, as the schedule writes it */
    const char *name;  /* tensor or index */
    const char *other; /* flat: the second index; otherwise NULL */
    int64_t step;      /* split, chunk */
};

/* NULL: it does not apply; *why says what is wrong and what would be legal, in one line that begins
 * with the word that is wrong ("k is no reduction index of Y; those are c, r, s"). New stages are
 * named S.X, S.yx, S.k, S.t; indices of a flat stage y and x become `yx`. */
struct program *
change_program(struct arena *arena, const struct program *program, const struct change_line *line,
               const char **why);

#endif
