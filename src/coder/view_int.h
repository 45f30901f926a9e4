/* Views: a stage as its line runs it, loops with their trips and the sizes of their tiles. What is
 * said, advised and estimated about a schedule is read from them; nothing is emitted. */
#ifndef HONE_CODER_VIEW_INT_H
#define HONE_CODER_VIEW_INT_H

#include "coder/coder_int.h"

struct view_loop {
    const struct token *token; /* NULL: the loop of a rec block */
    size_t at;                 /* number of the token in its line */
    enum mark mark;
    uint32_t moves;                  /* levels of the view that it moves */
    int64_t before;                  /* extent of its index outside of it, */
    double trips;                    /* and how often it runs, the rest counted as a part */
    int64_t extent[LANG_MAX_LEVELS]; /* of the tile inside of it, by level of the view */
};

struct view {
    const struct work *work;
    const struct line *line; /* whose loops these are: the host's for a guest */
    const struct view *parent;
    struct view_loop *loops; /* outer to inner, those of the parents first */
    size_t count, place;     /* loops; those of the parents */
    size_t acc;              /* loops outside of the accumulators; `count` without them */
    bool in_registers;       /* there are accumulators */
    bool scratch;            /* its result is a box of the parent's tile */
    bool guest;
    bool scan;  /* it runs the carried index itself, its own last element in a register */
    int vector; /* its level in lanes, or -1 */
    unsigned lanes;
};

struct view_group { /* a root and what is computed in its loops, the root first */
    struct view **views;
    size_t count;
};

/* The stages that have loops of their own, in the order in which they run. */
size_t
view_roots(const struct schedule *schedule, size_t *roots);
struct view_group
view_group(struct arena *arena, const struct schedule *schedule, size_t root);

/* Extents outside of loop number `depth`, inside of all before it. */
const int64_t *
view_extent(const struct view *view, size_t depth);

/* How often a node that depends on these levels is computed: unrolled copies share it, loops that
 * do not move it are left by the compiler. */
double
view_executions(const struct view *view, uint32_t free);
/* The same outside of the reduction, where loops over it do not count. */
double
view_results(const struct view *view, uint32_t free);
/* How often what stands inside the first `depth` loops runs. */
double
view_runs(const struct view *view, size_t depth);

/* The different loads of an expression, subscripts left out; returns how many. */
#define VIEW_LOADS 64
size_t
view_loads(const struct expr *e, const struct expr **loads);
/* The expression that is computed most often. */
const struct expr *
view_body(const struct view *view);

/* How far a load moves with one step of a level, in elements; false: not evenly. */
bool
view_stride(const struct expr *load, unsigned level, int64_t *stride);
/* The same from lane to lane of a view that has lanes; its loops may go by whole rows. */
bool
view_lane_stride(const struct view *view, const struct expr *load, int64_t *stride);
/* A window: do neighbours along a left level read some of the same, at other terms of a reduction
 * level of so many? */
bool
view_overlaps(const struct expr *load, unsigned left, unsigned reduced, int64_t terms);
/* The pack token of a load, or NULL. */
const struct token *
view_pack(const struct view *view, const struct expr *load);
/* Bytes of whole cache lines that a load touches in a tile, and those that it keeps others from in
 * a first-level cache. */
double
view_bytes(const struct view *view, const struct expr *load, const int64_t *extent, double *room);
/* Bytes of the result in a tile. */
double
view_result_bytes(const struct view *view, const int64_t *extent, double *room);

/* Registers: vectors of results kept, and what the innermost unrolled copies read. */
struct view_registers {
    double accumulators; /* independent chains */
    double loads;        /* different vectors read by them */
    double copies;       /* bodies of the innermost straight code */
};
struct view_registers
view_registers(const struct view *view);

/* Iterations that are shared out, 1 without @p; and how often that is done. */
double
view_tasks(const struct view *view, double *regions);

/* nt is asked for, and there are vectors of f32 that can be stored so. */
bool
view_stores_past(const struct view *view);

/* traffic.c: bytes that the group moves into a cache of this size. `resident`: all that is touched
 * was there before; `first`: the cache is of the first level. */
double
view_traffic(struct arena *arena, const struct view_group *group, double capacity, double threads,
             bool resident, bool first);
/* Bytes that the group touches inside of the first `depth` loops of its root. */
double
view_touched(struct arena *arena, const struct view_group *group, size_t depth);
/* Does this fit a cache of so many bytes, with what else is there? */
bool
view_fits(double bytes, double capacity);

/* "32 KB", "1.6 MB" */
const char *
view_size_text(struct arena *arena, double bytes);

#endif
