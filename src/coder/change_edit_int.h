/* What the rewrites share: a program being changed, expressions moved to other indices, tensors
 * stored in other ways.
 *
 * The program at work is a copy (change.c): every stage and every tensor is a new object and every
 * load of it points to those, so a rewrite changes it in place and the old program never notices.
 * A refusal leaves the copy behind, half changed, in the arena. */
#ifndef HONE_CODER_CHANGE_EDIT_INT_H
#define HONE_CODER_CHANGE_EDIT_INT_H

#include "coder/change_int.h"
#include "lang/make.h"

struct edit {
    struct arena *arena;
    struct ir *ir;
    struct program *program; /* the copy; inserting moves its stages */
    const struct change_line *line;
    size_t at;               /* number of the stage S */
    const char *why;         /* of a refusal */
    uint32_t *stamps, stamp; /* by expression: looked at in this search */
    size_t stamp_count;
};

/* One function for each rewrite; false: refused. */
bool
change__pad(struct edit *edit);
bool
change__flat(struct edit *edit);
bool
change__phase(struct edit *edit);
bool
change__rows(struct edit *edit);
bool
change__split(struct edit *edit);
bool
change__chunk(struct edit *edit);
bool
change__moments(struct edit *edit);
bool
change__part(struct edit *edit);

/* ---- the program ---- */

static inline struct stage *
change__stage(const struct edit *edit)
{
    return &edit->program->stages[edit->at];
}

/* Sets `why`, once; always false. */
bool
change__refuse(struct edit *edit, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The tensor that S reads under this name: one of just that name, else S.name of an earlier
 * rewrite. NULL: refused. One of S's own rec block is refused too. */
struct tensor *
change__source(struct edit *edit, const char *name);

struct tensor *
change__find_tensor(const struct program *program, const char *name);

/* S.suffix, or S.suffix.2 if there is one already. */
const char *
change__name(struct edit *edit, const char *suffix);

/* An index name that neither the first `count` indices of the stage nor `code` have yet: `wish`, or
 * wish2 and so on. */
const char *
change__index(struct edit *edit, const struct stage *stage, unsigned count, const struct expr *code,
              const char *wish);

/* A tensor without a stage; shape and dtype are in `shape`, of which name, dtype, rank and size are
 * read. */
struct tensor *
change__tensor(struct edit *edit, const struct tensor *shape);

/* Puts the stage before stage number `before`, S moves on. The result lives until the next call. */
struct stage *
change__insert(struct edit *edit, size_t before, const struct stage *stage);

/* Makes `code` what the stage computes: simplified, every load that can leave its tensor guarded
 * (with 0: the identity says that the element is not used), value and range following. */
void
change__set_code(struct edit *edit, struct stage *stage, const struct expr *code);

/* Ranges of the left indices. */
void
change__levels(const struct stage *stage, struct level levels[LANG_MAX_LEVELS]);

/* ---- looking ---- */

/* The REDUCE of an expression, or NULL. */
const struct expr *
change__reduction(struct edit *edit, const struct expr *e);

/* Whether a CAT cuts the index of this level; -1: of any. */
bool
change__cuts(struct edit *edit, const struct expr *e, int level);

/* Whether the tensor is read in the expression. */
bool
change__reads_any(struct edit *edit, const struct expr *e, const struct tensor *tensor);

/* Whether two constants are the same number. */
bool
change__same_number(const struct expr *a, const struct expr *b);

/* The left index of that name; -1 if there is none. */
int
change__left(const struct stage *stage, const char *name);

/* "a, b, c" of some names, for messages. */
const char *
change__list(struct edit *edit, const char *const *names, size_t count);

/* Calls `visit` for each load of S's code with the ranges where it stands. */
struct visit {
    struct edit *edit;
    void (*load)(struct visit *visit, const struct expr *load, const struct level *levels);
    void *context;
};
void
change__visit(struct visit *visit, const struct expr *code);

/* How S reads a tensor. */
struct reads {
    const struct tensor *tensor;
    unsigned count, guarded;
    const struct expr *fill; /* default of the guarded ones: NULL or a constant that the tensor's
                                dtype can hold */
    int64_t low[LANG_MAX_RANK], high[LANG_MAX_RANK]; /* hull of the subscripts of guarded reads */
};

/* false: refused, since guarded reads differ in their default or it is no constant of its dtype. */
bool
change__reads(struct edit *edit, const struct tensor *tensor, struct reads *reads);

/* ---- sums ---- */

#define CHANGE_TERMS 16

struct sum { /* constant + sum of factor * atom; an atom is an index or anything that is no sum */
    struct {
        int64_t factor;
        const struct expr *atom;
    } terms[CHANGE_TERMS];
    unsigned count;
    int64_t constant;
};

/* false: too many terms or too large numbers. */
bool
change__sum(const struct expr *e, struct sum *sum);
const struct expr *
change__expr(struct ir *ir, const struct sum *sum);

/* e/step and e%step, where e = step*q + rest with as much in q as can be: q + rest/step, rest%step.
 */
const struct expr *
change__quotient(struct ir *ir, const struct expr *e, int64_t step);
const struct expr *
change__remainder(struct ir *ir, const struct expr *e, int64_t step);

/* ---- moving ---- */

/* Takes an expression of a stage to another stage with `rank` left indices: left index l becomes
 * rewrite.replace[l], those of the reduction follow the left ones. */
struct move {
    struct edit *edit;
    struct rewrite rewrite;
    unsigned rank;
    bool divides;                      /* e/c and e%c are split again: change__quotient */
    const struct expr *drop, *instead; /* this node becomes that one */
    /* What a load becomes, given its moved subscripts; NULL: itself. */
    const struct expr *(*load)(struct move *move, const struct expr *load,
                               const struct expr *const *args);
    void *context;
};

void
change__begin_move(struct edit *edit, struct move *move, const struct expr *code, unsigned rank);
const struct expr *
change__move(struct move *move, const struct expr *e);

/* ---- storing a tensor in another way ---- */

struct layout {
    unsigned rank;
    int64_t size[LANG_MAX_RANK];
    const char *index[LANG_MAX_RANK];
    const struct expr *from[LANG_MAX_RANK]; /* subscripts of the old tensor, by new indices */
    const struct expr *fill;                /* what is outside of it; NULL: not used, 0 */
};

/* The tensor as S would like to read it: a new stage S.X before S (before the whole rec block if S
 * is in one), or, if the tensor is such a copy already and S is its only reader, that stage
 * changed. Loads of the old object must be replaced by the caller. NULL: refused, too large. */
struct tensor *
change__store_as(struct edit *edit, struct tensor *tensor, const struct layout *layout,
                 bool in_place);

/* A name for each dimension: the copy's own, else after the index that S reads it with. */
void
change__dimension_names(struct edit *edit, const struct tensor *tensor,
                        const char *names[LANG_MAX_RANK]);

/* A load of the tensor in its own kind, sums in its subscripts gathered. */
const struct expr *
change__load(struct edit *edit, const struct tensor *tensor, const struct expr *const *subscripts,
             const struct expr *otherwise);

enum dtype
change__dtype(enum kind kind);

#endif
