/* A stage and the producers that it takes along, and those who write their lines. */
#ifndef HONE_CODER_SKETCH_GROUP_INT_H
#define HONE_CODER_SKETCH_GROUP_INT_H

#include "coder/sketch_int.h"

struct group {
    const struct work *root;
    const struct work *member[16];       /* in their order; the root is not among them */
    struct along map[16][LANG_MAX_RANK]; /* their dimensions in the levels of the root */
    const struct work *host[16];         /* the member in whose loops it runs, or NULL */
    const struct work *nest[16];         /* the member in whose chunks it is computed, or NULL */
    size_t count;
    uint32_t rows;               /* levels of the root that are plain in all of them, */
    int64_t unit[LANG_MAX_RANK]; /* or go by so many values */
};

/* How many of these rows the root has. */
double
group_count_rows(const struct group *group, uint32_t rows);
/* A stage as one tile of rows sees it; map: of a member, NULL: of the root. */
struct work
group_in_rows(const struct group *group, const struct work *work, const struct along *map,
              int tiled, int64_t tile);
/* The loops over rows, shared among the threads; the last one takes `tile` of them at a time, 0:
 * all that there are. */
void
group_put_rows(struct sketcher *s, const struct group *group, int tiled, int64_t tile);
/* Is what was written from there on legal, all else being plain? */
bool
group_is_legal(struct sketcher *s, size_t from);
void
group_take_back(struct sketcher *s, size_t from);

/* ---- who may write its lines; false: it is not theirs ---- */

/* Sums of exponentials times something (sketch_online.c). */
bool
group_put_online(struct sketcher *s, const struct group *group, int tiled);
/* A convolution of what its members enlarge or sort, and one whose results its root only puts in
 * order (sketch_beside.c). */
bool
group_put_conv(struct sketcher *s, const struct group *group);
bool
group_put_sorted(struct sketcher *s, const struct group *group);

#endif
