/* Between the two halves of the panel path: the plan of a stage, and its text. */
#ifndef HONE_LANG_EMIT_PANEL_INT_H
#define HONE_LANG_EMIT_PANEL_INT_H

#include "lang/emit_int.h"

#define PANEL_AXES 10
#define PANEL_SLOTS 8
#define PANEL_LANES 64 /* of a tile: a multiple of any vector's length */

enum side { SIDE_OUTER, SIDE_ROW, SIDE_LANE };

/* A left index, or one of the two parts i/b and i%b it was split into. */
struct axis {
    unsigned level;
    int64_t extent, stride; /* the index is the sum of value*stride over its axes */
    enum side side;
};

/* A number that the vector code reads: computed by scalar code into a panel beforehand. */
struct slot {
    const struct expr *e;
    enum side side; /* SIDE_ROW: [row][term], a scalar to the vectors; SIDE_LANE: [vector][term] */
    bool exact;
};

enum sums {
    SUM_PLAIN,    /* s: kernels, and integers */
    SUM_EXACT,    /* s, q, a: exact terms */
    SUM_PRODUCTS, /* the same, each term rounded once */
    SUM_GENERAL,  /* s, q, a, g, c */
};

struct panel {
    struct emitter *em;
    const struct expr *reduce, *body;
    enum kind kind; /* of the body; INT is computed in double */
    struct axis axes[PANEL_AXES];
    unsigned axis_count;
    int64_t count[3]; /* elements of each side */
    struct slot slots[PANEL_SLOTS];
    unsigned slot_count;
    const struct expr *conjuncts[2][PANEL_SLOTS]; /* of the filter: of a row, of a lane */
    unsigned conjunct_count[2];
    enum sums sums;
    bool counts; /* the terms that pass the filter are counted */
    bool rounds; /* SUM_GENERAL: the root's own rounding is added at the end */
    int64_t terms;
    int64_t rows;   /* of a tile */
    int64_t chunk;  /* terms at a time */
    unsigned width; /* vectors at a time */
};

/* An operation that vectors do, with arguments of the panel's kind. */
bool
panel_is_vector(const struct panel *p, const struct expr *e);

/* Depends on both a row's and a lane's axes. */
bool
panel_is_mixed(const struct panel *p, const struct expr *e);

/* Bit a: axis number a matters to e. */
uint32_t
panel_axes(const struct panel *p, const struct expr *e);

/* Levels with an axis on this side. */
uint32_t
panel_levels(const struct panel *p, enum side side);

/* How this panel's numbers are called: in double, or in float for the f32 kernels. */
struct numbers {
    const char *scalar, *vector, *mask, *lanes, *integer;
};

struct numbers
panel_numbers(const struct panel *p);

bool
panel_is_sixteen(const struct panel *p);

/* Sixteen of this accumulator, in memory; the others are one, in registers. */
bool
panel_takes_turns(const struct panel *p, char letter);

/* The accumulators by their letters. */
const char *
panel_letters(const struct panel *p);

/* The whole stage (emit_tile.c). */
void
panel_print(struct panel *p);

/* Adds the terms of a chunk to the accumulators (emit_weave.c). */
void
panel_print_products(struct panel *p);

#endif
