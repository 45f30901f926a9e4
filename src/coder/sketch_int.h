/* What the sketches share: questions, what a stage looks like, lines, groups. */
#ifndef HONE_CODER_SKETCH_INT_H
#define HONE_CODER_SKETCH_INT_H

#include "coder/coder_int.h"

#define SKETCH_SERIAL_POINTS 20000 /* fewer are not worth a parallel region */

struct coder_space {
    struct arena *arena;
    const struct program *program;
    struct coder_machine machine;
    struct changed *changed;
};

struct sketcher {
    struct coder_space *space;
    const struct coder_genome *genome;
    const struct program *program; /* as the rewrites so far left it */
    struct schedule *schedule;     /* works of the program, all plain */
    struct coder_hole *holes;
    size_t hole_count;
    bool *asked; /* by gene */
    const struct program *classified;
    size_t *class_of;    /* by its stages: the first one that is equal */
    double *class_share; /* by the first of a class: its part of all points */
    struct buf changes, recs, lines;
    const char **by_filters; /* filters that are in lanes, */
    size_t by_filter_count;  /* by their tensors: a stage may be inlined later */
    int *group;              /* by stage: number of the root that takes it along, or -1 */
    const char *with;        /* a guest of the next stream, or NULL, */
    const char *fetch;       /* and what it fetches of later rows, or NULL */
};

/* One of `answers`, numbered from 0; `usual` unless the genome says otherwise. Equal stages get the
 * same answer. */
unsigned
sketch_ask(struct sketcher *s, const char *stage, const char *what, unsigned answers,
           unsigned usual);
bool
sketch_ask_if(struct sketcher *s, const char *stage, const char *what, bool usual);
/* A token of the present line. */
void
sketch_put(struct sketcher *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- equal stages (sketch_class.c) ---- */

/* Finds them in the program as it is; once works are prepared, with what is inlined. */
void
sketch_classify(struct sketcher *s);
/* The name of the first stage that is equal to this one, and their part of the program's points;
 * what is no stage is alone. */
const char *
sketch_class(const struct sketcher *s, const char *stage, double *share);

/* ---- what a stage looks like (sketch_look.c) ---- */

struct look {
    const struct work *work;
    struct sketcher *s;
    const struct expr *body; /* what is computed most often */
    int vector;              /* level in lanes, or -1 */
    bool gathers;            /* some load does not follow it */
    int other;               /* left level that the vector's loads do not depend on, or -1 */
    bool window;             /* ... or on which neighbours read much the same: a small window */
    bool dots;   /* a product of `other` rows with the last left index, terms in lanes */
    int64_t row; /* loads ask for vector/row, vector%row; 0: none does */
};

struct look
sketch_look(struct sketcher *s, const struct work *work);

/* ---- lines (sketch_line.c) ---- */

/* Running sums along the last index: several steps at a time, in a register. */
bool
sketch_scans_in_lanes(const struct work *work);
/* The tokens of a stage's line; left levels in `done` have their loops already; `inner`: inside of
 * another stage's loops. */
void
sketch_line(struct sketcher *s, const struct work *work, uint32_t done, bool inner);

/* The name of a level. */
const char *
sketch_name(const struct look *look, int level);
/* Whether results go past the caches; asked only of such as may. */
bool
sketch_ask_past(const struct look *look, bool usual);
/* Left loops but these, outer to inner; the first ones on threads until there is work for all.
 * Whether threads may share the next loop too. */
bool
sketch_put_left(struct look *look, uint32_t but, bool threads);
/* Reduction levels that are unrolled from the inside: short ones, not beyond `from`, as far as
 * `most` copies of the tile. */
uint32_t
sketch_short(const struct look *look, unsigned from, int64_t most);
/* The loops over what is reduced, these levels unrolled. */
void
sketch_put_reduction(struct look *look, uint32_t unrolled);

/* Down to a multiple, at least one. */
int64_t
sketch_round_to(int64_t value, int64_t step);
/* Parts of at most so many, as equal as can be, a multiple of `groups` of them; their sizes are
 * multiples of `unit`. */
int64_t
sketch_even_part(int64_t extent, int64_t most, int64_t groups, int64_t unit);
/* A size near to `wanted`, in blocks of which the threads have equal shares. */
int64_t
sketch_fair_block(int64_t wanted, int64_t extent, int64_t threads);

/* ---- tiles of registers (sketch_tile.c) ---- */

struct tile {
    unsigned rows, vectors;
    double cost;
};

struct tile
sketch_ask_tile(const struct look *look);
/* What is inside of the loops over tiles, these reduction levels unrolled. */
void
sketch_put_registers(struct look *look, struct tile tile, uint32_t unrolled);
/* Small windows: a few rows and vectors at a time, all terms unrolled. */
void
sketch_window_line(struct look *look, uint32_t done, bool inner);
/* Products, in blocks for the caches. */
void
sketch_tile_line(struct look *look, uint32_t done, bool inner);
/* A product of this left index with the last one, whose terms lie one after the other in both. */
bool
sketch_is_dots(const struct look *look, int rows);
/* So few that copying the other side in the order in which it is read costs more than it brings. */
bool
sketch_has_few_rows(const struct look *look, int rows);
/* Its line: both sides are read where they are, the terms in lanes, a tile of sums in registers. */
void
sketch_dots_line(struct look *look, uint32_t done, bool inner);
/* The first load with this level and without that one; NULL: none. */
const struct expr *
sketch_load_with(const struct look *look, int with, int without);
/* "B", or "B@2" where it is not the first access of its tensor. */
const char *
sketch_access(const struct look *look, const struct expr *load);

/* ---- convolutions (sketch_conv.c) ---- */

/* Do results in rows of `width`, put end to end with what is read around them in rows of `row`,
 * leave so many fewer lanes idle that it pays to copy them out? */
bool
sketch_flat_pays(int64_t width, int64_t row, int64_t lanes);
/* A convolution whose rows would leave lanes idle, and whose filters would not: asks whether they
 * should be in lanes, and remembers it. */
bool
sketch_ask_filters(struct sketcher *s, const struct stage *stage);
bool
sketch_is_by_filters(const struct sketcher *s, const struct work *work);
/* Then: whether a few filters at a time go over all images, which are therefore prepared as a
 * whole, and not a few images at a time over all filters. */
bool
sketch_ask_filters_first(const struct look *look);

/* A product of filters, one for each row of a tile, with what lies around each point. */
bool
sketch_is_conv(const struct look *look);
/* Its line; `beside`: what is computed for each block of it, "do(X)". */
void
sketch_conv_line(struct look *look, uint32_t done, bool inner, const char *beside);

/* ---- groups (sketch_group.c) ---- */

/* The lines of a root and of the producers that it takes along; false: it takes none. */
bool
sketch_group(struct sketcher *s, const struct work *root);

#endif
