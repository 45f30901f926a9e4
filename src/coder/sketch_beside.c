/* Convolutions with what is computed beside them: what they read, enlarged or sorted, for each
 * block of them; what puts their results in order, around them. */
#include "coder/sketch_group_int.h"

#include <inttypes.h>

/* A convolution of what its members enlarge or sort: they are computed for each block of it. */
bool
group_put_conv(struct sketcher *s, const struct group *group)
{
    const struct work *root = group->root;
    struct look look = sketch_look(s, root);
    struct buf beside = buf_in(s->space->arena);
    if (root->reduce == NULL || look.vector < 0 || look.window || !sketch_is_conv(&look))
        return false;
    for (size_t i = 0; i < group->count; i++)
        if (group->member[i]->reduce != NULL)
            return false;
    bool apart = sketch_is_by_filters(s, root) && sketch_ask_filters_first(&look);
    for (size_t i = 0; i < group->count; i++) {
        const char *name = group->member[i]->tensor->name;
        if (!apart)
            buf_printf(&beside, "%sdo(%s)", i > 0 ? " " : "", name);
        buf_printf(&s->lines, "%s:", name);
        sketch_line(s, group->member[i], 0, !apart);
        buf_putc(&s->lines, '\n');
    }
    buf_printf(&s->lines, "%s:", root->tensor->name);
    sketch_conv_line(&look, 0, false, apart ? "" : beside.data);
    buf_putc(&s->lines, '\n');
    return true;
}

/* Where the dimensions of a member lie in its root, all phases of a stride together. */
static bool
map_phases(const struct work *root, const struct work *work, struct along map[LANG_MAX_RANK])
{
    const struct expr *load;
    if (work_loads(root->code, work->tensor, &load, 1) != 1)
        return false;
    for (unsigned d = 0; d < work->rank; d++) {
        const struct expr *e = load->args[d];
        bool part = e->op == OP_DIV && e->args[0]->op == OP_INDEX && e->args[1]->op == OP_INT;
        map[d] = e->op == OP_INDEX ? (struct along){(int8_t)e->level, 1}
                 : part            ? (struct along){(int8_t)e->args[0]->level, e->args[1]->integer}
                                   : (struct along){-1, 1};
    }
    return true;
}

/* How many rows of the root, in units, stay in the cache with so many filters, and leave enough
 * blocks for the threads. */
static int64_t
block_rows(const struct sketcher *s, const struct work *root, unsigned level, int64_t unit,
           int64_t filters, double tasks)
{
    int64_t bytes = filters * (int64_t)dtype_info[root->tensor->dtype].size;
    for (unsigned l = level + 1; l < root->rank; l++)
        bytes *= root->extent[l];
    int64_t rows = s->space->machine.l2 / 4 / bytes;
    int64_t most = (int64_t)((double)root->extent[level] * tasks / (4 * s->space->machine.threads));
    rows = (rows < most ? rows : most) / unit * unit;
    return rows < unit ? unit : rows;
}

/* A convolution whose results its root only puts in order, as those of all remainders of a stride:
 * a few filters and rows at a time, which are copied from the cache. */
bool
group_put_sorted(struct sketcher *s, const struct group *group)
{
    const struct work *root = group->root, *conv = group->member[0];
    struct look look = sketch_look(s, conv);
    struct along map[LANG_MAX_RANK];
    if (group->count != 1 || root->reduce != NULL || conv->reduce == NULL || look.vector < 0 ||
        look.window || !sketch_is_conv(&look) || !map_phases(root, conv, map) ||
        map[look.other].level < 0 || map[look.other].level + 2 >= (int)root->rank)
        return false;
    unsigned filters = (unsigned)map[look.other].level, rows = filters + 1;
    int64_t unit = 1, tile = sketch_ask_tile(&look).rows;
    struct work part = *conv, rest = *root;
    struct buf outer = buf_in(s->space->arena);
    double tasks = 1;
    for (unsigned d = 0; d < conv->rank; d++)
        if (map[d].level == (int)rows)
            unit = map[d].by;
    for (unsigned l = 0; l < filters; l++) {
        if (root->tensor->size[l] > 1)
            buf_printf(&outer, " %s%s", root->index[l],
                       tasks < 4 * s->space->machine.threads ? "@p" : "");
        tasks *= (double)root->extent[l];
        rest.extent[l] = 1;
    }
    rest.extent[filters] = tile;
    rest.extent[rows] = block_rows(s, root, rows, unit, tile, tasks);
    const char *shared = tasks < 4 * s->space->machine.threads ? "@p" : "";
    uint32_t done = (1u << filters) - 1;
    if (rest.extent[rows] == 1) {
        buf_printf(&outer, " %s%s", root->index[rows], shared);
        done |= 1u << rows;
    } else if (rest.extent[rows] < root->extent[rows])
        buf_printf(&outer, " %s/%" PRId64 "%s", root->index[rows], rest.extent[rows], shared);
    else
        rest.extent[rows] = root->extent[rows];
    for (unsigned d = 0; d < conv->rank; d++)
        if (map[d].level >= 0 && map[d].level <= (int)rows)
            part.extent[d] = (rest.extent[map[d].level] + map[d].by - 1) / map[d].by;
    buf_printf(&s->lines, "%s:", conv->tensor->name);
    sketch_line(s, &part, 0, true);
    buf_printf(&s->lines, "\n%s:%s", root->tensor->name, outer.data != NULL ? outer.data : "");
    sketch_put(s, "%s/%" PRId64 " do(%s)", root->index[filters], tile, conv->tensor->name);
    sketch_line(s, &rest, done, true);
    buf_putc(&s->lines, '\n');
    return true;
}
