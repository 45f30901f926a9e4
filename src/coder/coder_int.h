/* What the files of the coder share: the schedule as read, and stages as they are lowered. */
#ifndef HONE_CODER_CODER_INT_H
#define HONE_CODER_CODER_INT_H

#include "coder/change_int.h"
#include "coder/coder.h"
#include "lang/make.h"

#define CODER_MAX_TOKENS 48 /* of a line */
#define CODER_USUAL_L3 (INT64_C(32) << 20)
#define ONLINE_MOST 3      /* maximum, sum, weighted sum */
#define CODER_MAX_GUESTS 4 /* stages that share one stage's loops */

/* ---- a schedule ---- */

/*    id      word       what stands in brackets */
#define CODER_TOKENS(X)                  \
    X(LOOP, "", "")                      \
    X(ACC, "acc", "")                    \
    X(PACK, "pack", "T[@n]")             \
    X(DO, "do", "S")                     \
    X(WITH, "with", "S")                 \
    X(INLINE, "inline", "S")             \
    X(ONLINE, "online", "j/STEP: M,S,O") \
    X(PRE, "pre", "T,n[,i]")             \
    X(NT, "nt", "")

enum token_form {
#define X(id, ...) TOKEN_##id,
    CODER_TOKENS(X)
#undef X
        TOKEN_FORMS
};

enum mark {
    MARK_NONE = 0,
    MARK_THREADS = 'p',
    MARK_UNROLL = 'u',
    MARK_OWN = 'a',
    MARK_VECTOR = 'v'
};

struct token {
    enum token_form form;
    struct place place;
    const char *text; /* as written */
    const char *name; /* LOOP: the index; PRE: that whose steps are meant, or NULL; */
    unsigned level;   /* its level, once it is known what is inlined */
    int64_t step;     /* LOOP: elements; 1 where none is written */
    bool in_lanes;    /* LOOP: the step was written in lanes ("2v") */
    enum mark mark;
    const struct tensor *tensor; /* PACK, PRE */
    int64_t number;              /* PACK: which access, from 1; PRE: how far ahead */
    size_t stage;                /* DO, WITH, INLINE */
    const char *guest[LANG_MAX_LEVELS], *host[LANG_MAX_LEVELS]; /* WITH: k=j as written */
    unsigned pairs;
    size_t together[ONLINE_MOST]; /* ONLINE: its stages, this line's own last */
    unsigned count;
    bool hidden;                 /* written by the token before it: the loop of ONLINE */
    int8_t map[LANG_MAX_LEVELS]; /* WITH: the guest's levels in the host */
};

struct line {
    struct token tokens[CODER_MAX_TOKENS];
    size_t count;
    bool given; /* written, not filled in */
    struct place place;
};

/* How a stage comes to be. */
enum fate {
    FATE_ROOT,   /* loops of its own, the whole tensor */
    FATE_INLINE, /* gone: its readers compute it */
    FATE_DO,     /* in its consumer, a box at a time */
    FATE_WITH,   /* in its host's loops */
    FATE_SAME,   /* the memory of another tensor, in the same order: nothing to do */
};

#define BOUND_MOST 16 /* of a reduction; more are tested term by term */

/* sum of coefficient * index + constant >= 0, or the term does not count. */
struct bound {
    int64_t coefficient[LANG_MAX_LEVELS];
    int64_t constant;
    const struct expr *test; /* NULL: nothing changes if the term is added all the same */
    bool outside;            /* beyond it a factor of the term is the 0 outside of its tensor */
};

/* A stage as it is lowered: expressions of what is inlined are already in `code`. */
struct work {
    const struct stage *stage;
    const struct tensor *tensor;
    size_t number; /* of the stage */
    unsigned rank, levels;
    int64_t extent[LANG_MAX_LEVELS];
    const char *index[LANG_MAX_LEVELS];
    const struct expr *code;
    const struct expr *reduce; /* the one REDUCE in it, or NULL */
    /* Values of the left indices for which the reduction counts: fewer in a piece of a cat, outside
     * of which its loads need not be there. */
    int64_t first[LANG_MAX_RANK], last[LANG_MAX_RANK];
    struct bound *bounds; /* of the terms of its reduction */
    size_t bound_count;
    size_t shared;             /* bounds from here on hold for all that its loops compute */
    const struct expr *rest;   /* of the filter: what is in no bound, or NULL */
    struct online *online;     /* what its line's online() means, or NULL */
    unsigned lanes;            /* of a vector of what it computes with */
    bool wide;                 /* it computes with f64: lanes are 8 bytes */
    const struct expr *before; /* a scan: its own element of the step before; else NULL */
    enum fate fate;
    const struct tensor *same; /* FATE_SAME: of which it is the memory; else NULL */
    size_t consumer;           /* FATE_DO, FATE_WITH: the stage whose line names it */
    bool stored;               /* FATE_DO, FATE_WITH: the whole tensor is needed too */
    bool in_place; /* FATE_DO, FATE_WITH: its boxes make up the whole tensor, each element once */
};

/* online(j/STEP: M,S,O): M = max_j P, S = sum_j exp(P-M), O = sum_j exp(P-M)*V/S. Tile by tile of j
 * the exponentials of P are taken with the maximum so far, and what was added up before is scaled
 * by exp(old-new). */
struct online {
    struct work work;             /* O with the exponentials as a tensor, divided by S at the end */
    struct work weights;          /* that tensor's: exp(P-M) in the levels of M */
    struct line line;             /* by which it is computed */
    const struct work *max, *sum; /* sum may be NULL */
    const struct expr *score;     /* P in the levels of M */
    const struct expr *is_max;    /* M there */
    const struct tensor *scale;   /* exp(old-new) of each row */
    const struct expr *rescale;   /* the same where O reads it */
    int8_t row[LANG_MAX_LEVELS];  /* levels of M in O */
    int8_t sum_row[LANG_MAX_RANK]; /* dimensions of S in M */
    size_t token;                  /* the line's own */
};

struct schedule {
    const struct program *program; /* as the rewrites left it */
    const struct change_line *changes;
    size_t change_count;
    struct line *lines; /* one a stage */
    struct line *recs;  /* one a rec block: what runs around its steps */
    struct work *works; /* one a stage */
    unsigned vector_bytes;
};

/* work.c */
/* Fills in schedule->works: fates from the lines, expressions inlined. False after errors. */
bool
work_prepare(struct arena *arena, struct schedule *schedule, struct diags *diags);
/* The one REDUCE of a stage's expression, or NULL. */
const struct expr *
work_reduce(const struct expr *code);
/* The different loads of a tensor in an expression, in textual order; returns how many there are,
 * writes up to `most`. */
size_t
work_loads(const struct expr *e, const struct tensor *tensor, const struct expr **loads,
           size_t most);
/* Has it a line, or loops of another line? */
static inline bool
work_has_loops(const struct work *work)
{
    return work->fate != FATE_INLINE && work->fate != FATE_SAME;
}
/* The whole tensor lies in memory. */
static inline bool
work_is_stored(const struct work *work)
{
    return work->fate == FATE_ROOT || (work_has_loops(work) && work->stored);
}
/* It is computed as a whole by loops of its own, perhaps in those of another stage too. */
static inline bool
work_is_root(const struct work *work)
{
    return work->fate == FATE_ROOT || (work->fate == FATE_DO && work->stored && !work->in_place);
}
/* Do rows of its result lie anywhere, and not at multiples of a vector? */
static inline bool
work_has_ragged_rows(const struct work *work)
{
    return work->rank > 1 && work->tensor->size[work->rank - 1] % work->lanes != 0;
}
#define CODER_PAST_ELEMENTS 16384 /* of such rows are collected for nt */
/* Vectors of elements so far apart come from a few loads and shuffles. */
static inline bool
work_is_shuffled(const struct work *work, const struct tensor *read, int64_t stride)
{
    return read->dtype == DTYPE_F32 && !work->wide && (stride == -1 || stride == 2 || stride == 3);
}
/* whole.c */
/* A level of a stage, or that divided by `by`, one value for each `by` of it: groups of channels.
 */
struct along {
    int8_t level; /* -1: none */
    int64_t by;
};
/* Which one a subscript of a dimension with so many values is. */
struct along
work_along(const struct work *reader, const struct expr *e, int64_t values);
/* The root stage in whose loops a stage is computed. */
size_t
work_place(const struct schedule *schedule, size_t stage);
/* In the loops of one root: is the reader computed after this producer, tile by tile? */
bool
work_comes_after(const struct schedule *schedule, size_t producer, size_t reader);
/* Do the boxes of a producer, computed at token `at` of its consumer's line, make up its tensor,
 * each element once and before others read it? */
bool
work_is_made_up(const struct schedule *schedule, const struct work *producer, size_t at);
/* Is this the only stage that reads a scan, at every step of it? Then `levels` are those of the
 * reader that choose the step. */
bool
work_is_read_along(const struct schedule *schedule, const struct work *scan,
                   const struct work *reader, uint32_t *levels);
/* same.c */
/* The tensor whose memory a stage without a line would be; NULL: none. Earlier stages are known. */
const struct tensor *
work_same(const struct schedule *schedule, const struct work *work);
/* The tensor in whose memory this one lies: itself, an input, an output. */
const struct tensor *
work_memory(const struct schedule *schedule, const struct tensor *tensor);
/* It needs memory that is neither an argument nor another tensor's. */
bool
work_has_own_memory(const struct schedule *schedule, const struct work *work);
/* memory.c */
struct memory { /* an array for tensors no two of which are needed at once */
    size_t number;
    const struct tensor *largest;
    size_t tensors;
};
/* For each stage the array that its tensor lies in; NULL: it needs none of its own. */
struct memory **
memory_plan(struct arena *arena, const struct schedule *schedule);
/* The ranges of a stage's indices. */
void
work_ranges(const struct work *work, struct level levels[LANG_MAX_LEVELS]);
/* Is the reduction used for some values of this left index only? */
static inline bool
work_is_cut(const struct work *work, unsigned level)
{
    return work->reduce != NULL && level < work->rank &&
           (work->first[level] > 0 || work->last[level] < work->extent[level] - 1);
}
static inline bool
work_is_left(const struct work *work, unsigned level)
{
    return level < work->rank;
}
/* The token of this form that names the stage in a line, or NULL. */
const struct token *
work_names(const struct line *line, enum token_form form, size_t stage);
/* Other stages are computed in its loops by `with`. */
bool
work_has_guests(const struct line *line);
/* What stage `reader` reads of stage `number` is computed for it where it is read. */
bool
work_is_provided(const struct schedule *schedule, size_t number, size_t reader);
/* The same without the lines in whose loops stage `top` is computed. */
bool
work_is_provided_in(const struct schedule *schedule, size_t number, size_t reader, size_t top);

/* Loops of a block's own line, which share its steps among threads? */
bool
work_rec_has_loops(const struct schedule *schedule, int rec);
/* Does every stage of a block have this left index, and read what the block computes at its own
 * value of it only? If not, *reader does not, reading *read; or it has no such index: *read is
 * NULL.
 */
bool
work_is_own(const struct schedule *schedule, const struct rec *rec, const char *name,
            const struct work **reader, const struct work **read);
/* The level of a left index of this name, or -1. */
int
work_left_level(const struct work *work, const char *name);

/* A scan whose line runs the carried index itself, not the block's loop. */
bool
work_runs_scan(const struct schedule *schedule, const struct work *work);
/* The other operand of a scan that is a running sum, or NULL. */
const struct expr *
work_running_sum(const struct work *work);

/* bound.c */
/* The same value by cheaper functions. */
const struct expr *
identity_cheaper(struct ir *ir, const struct expr *code);
/* Fills in the bounds of a reduction, once all that is inlined is in its expression. */
void
bound_find(struct arena *arena, const struct schedule *schedule, struct work *work);
/* The part of the points of a stage's loops that lies within its bounds. */
double
bound_share(const struct work *work);

/* fate.c */
/* Who computes it, from the lines. */
bool
fate_decide(struct schedule *schedule, struct work *work, struct diags *diags);
/* Stages that compute each other, each in the loops of the next, are computed nowhere. */
bool
fate_check_circles(const struct schedule *schedule, const struct work *work, struct diags *diags);
/* Levels of the tokens, once the stages' indices are known. */
bool
fate_resolve_names(struct arena *arena, struct schedule *schedule, const struct work *work,
                   struct line *line, struct diags *diags);

/* prefetch.c */
/* The first access of a tensor in a stage's loops, or NULL; and the innermost loop before pre()
 * that moves it, of its index if it names one, or NULL. */
const struct expr *
prefetch_access(const struct work *work, const struct tensor *tensor);
const struct token *
prefetch_loop(const struct line *line, size_t at, const struct expr *load);

/* online.c */
/* Finds the shapes that online() needs. False after errors. */
bool
online_fit(struct arena *arena, struct schedule *schedule, struct work *work, struct diags *diags);
/* The token of a line that computes this stage while it runs, or NULL. */
const struct token *
online_names(const struct line *line, size_t stage);

/* check.c */
/* Steps, marks and positions; messages name the token and say what would be legal. */
bool
check_schedule(struct schedule *schedule, struct diags *diags);

/* kernel.c */
/* The pieces of what coder_emit gives: tests put many kernels in one file, where helpers stand once
 * and globals have other names. */
struct code_parts {
    struct buf helpers, globals, signature, body;
};
bool
code_parts(struct code_parts *parts, struct arena *arena, const struct schedule *schedule,
           struct diags *diags);
/* All helpers that are not of hone.h. */
void
code_scalars(struct buf *buf);

/* plain.c */
/* The line that `S:` alone stands for. */
void
plain_line(struct arena *arena, struct line *line, const struct work *work, bool threads);

#endif
