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
#define CODER_CHANGES(X)                                                                  \
    X(PAD, "pad", "X", "reads of X in S that may miss it become plain")                   \
    X(FLAT, "flat", "y x", "adjacent left indices become one")                            \
    X(PHASE, "phase", "X", "X is stored by the remainder of its stride")                  \
    X(ROWS, "rows", "x", "a window is reduced by whole rows, and along x then")           \
    X(SPLIT, "split", "k STEP", "partial results per chunk of k")                         \
    X(CHUNK, "chunk", "t STEP", "scan per chunk, scan of the ends, add")                  \
    X(MOMENTS, "moments", "k STEP", "mean and squares per chunk of k, one pass for both") \
    X(PART, "part", "c STEP", "a left index becomes two")

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
    int64_t step;      /* split, chunk, moments, part */
};

/* Those with a STEP stand last in the table. */
static inline bool
change_has_step(enum change change)
{
    return change >= CHANGE_SPLIT;
}

/* What each does; S is the stage, and its name, shape, dtype and values stay what they were. The
 * files have an example each.
 *
 *  pad S X        S.X = X enlarged as far as the guarded reads of S reach, filled with their
 *                 default; S reads S.X without guards.
 *  phase S X      X[.., y*st+r] of S: S.X[.., yp:st, y] = X[.., y*st+yp], and S reads it at
 *                 [.., r%st, y + r/st]. X[.., (y+p-r)/st] of S, filtered by (y+p-r)%st == 0 or not:
 *                 S.X is the result itself with y*st+yp for y, S puts it together.
 *  flat S y x     S.yx = S with one index for both, in rows as wide as those it reads; what it
 *                 reads is stored flat too; S copies out, with the epilogue if that cannot go
 *                 along.
 *  rows S x       S.x = the window across x, for every x of what is read; S takes it along x.
 *  split S k STEP S.k[kc, ..] = the reduction over each chunk of k, in the accumulator's type; S
 *                 combines them in order. argmax, argmin: also S.k.best and S.k.chunk.
 *  chunk S t STEP S.t = the scan of each chunk, S.t.end = the scan of their ends, S combines both.
 *  moments S k STEP   S = sum[k]((x-U)*(x-U)), U made of sum[k](x): S.k[kc, ..] = the mean of each
 *                 chunk, S.k.sq the squares around it; U and S combine them.
 *  part S c STEP  S.c = S with cc*STEP+c for its left index c; S is the same memory.
 *
 * pad, phase and flat change the S.X of one another instead of copying it again, as long as S alone
 * reads it: `X` may be said of it too. They leave every value bit for bit; rows, split, chunk and
 * moments add in another order.
 *
 * New names: S.X, S.yx, S.x, S.k, S.t, with .2 if there is one already; indices of a flat stage
 * become `yx`, chunks `kc`, phases `yp`. A new stage stands before S (before its rec block, if it
 * is a copy of something from outside), and value = code in it and in S.
 *
 * Every stage and tensor of the new program is a new object; names, dims and expressions without
 * loads are shared with the old one, which must live as long. New expressions cost memory of the
 * arena that the program's struct ir was made in, also when the line is refused.
 *
 * NULL: it does not apply; *why says what is wrong and what would be legal, in one line that begins
 * with the word that is wrong ("k is no reduction index of Y; those are c, r, s"). */
struct program *
change_program(struct arena *arena, const struct program *program, const struct change_line *line,
               const char **why);

#endif
