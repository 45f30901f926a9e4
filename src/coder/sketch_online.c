/* Groups that end in exponentials of scores times values: in tiles of scores, with a maximum that
 * runs along, so that their matrix is never there. */
#include "coder/sketch_group_int.h"

#include <inttypes.h>

struct chain {                      /* members of a group that online() may take together */
    const struct work *max, *sum;   /* sum may be NULL */
    const struct work *between[16]; /* without a reduction, from the maximum to the root */
    size_t count;
    const struct work *score; /* what the maximum is taken of, or NULL: no member */
    unsigned dimension;       /* of the score, over which it is taken */
};

static bool
reads(const struct work *work, const struct work *other)
{
    return work_loads(work->code, other->tensor, NULL, 0) > 0;
}

static bool
is_in_chain(const struct chain *chain, const struct work *work)
{
    bool found = work == chain->max || work == chain->sum;
    for (size_t i = 0; i < chain->count; i++)
        found = found || work == chain->between[i];
    return found;
}

/* Does it read the maximum, or what is between it and the root? */
static bool
follows(const struct chain *chain, const struct work *work)
{
    bool found = chain->max != NULL && reads(work, chain->max);
    for (size_t i = 0; i < chain->count; i++)
        found = found || reads(work, chain->between[i]);
    return found;
}

static bool
is_one_reduction(const struct work *work, enum reduction reduction)
{
    return work->reduce != NULL && work->levels == work->rank + 1 &&
           work->reduce->binder->reduction == reduction;
}

/* Members by their place in the chain; whether they fit in every detail is online()'s own matter.
 */
static bool
find_chain(const struct group *group, struct chain *chain)
{
    const struct work *root = group->root;
    *chain = (struct chain){0};
    if (!is_one_reduction(root, REDUCE_SUM))
        return false;
    for (size_t i = 0; i < group->count; i++) {
        const struct work *work = group->member[i];
        if (is_one_reduction(work, REDUCE_MAX) && chain->max == NULL)
            chain->max = work;
        else if (is_one_reduction(work, REDUCE_SUM) && follows(chain, work) && chain->sum == NULL)
            chain->sum = work;
        else if (work->reduce == NULL && follows(chain, work))
            chain->between[chain->count++] = work;
        else if (follows(chain, work))
            return false;
    }
    if (chain->max == NULL || !follows(chain, root))
        return false;
    const struct expr *load = chain->max->reduce->args[0];
    for (size_t i = 0; i < group->count && load->op == OP_LOAD; i++)
        if (load->tensor == group->member[i]->tensor) {
            chain->score = group->member[i];
            while (chain->dimension < chain->score->rank &&
                   !(load->args[chain->dimension]->op == OP_INDEX &&
                     load->args[chain->dimension]->level == chain->max->rank))
                chain->dimension++;
        }
    return chain->score == NULL || chain->dimension < chain->score->rank;
}

/* inline(E) for all of the chain that a member reads; false: it reads none. */
static bool
put_inlined(struct sketcher *s, const struct chain *chain, const struct work *work)
{
    bool any = false;
    for (size_t i = 0; i < chain->count; i++)
        if (reads(work, chain->between[i])) {
            if (!any)
                buf_printf(&s->lines, "%s:", work->tensor->name);
            sketch_put(s, "inline(%s)", chain->between[i]->tensor->name);
            any = true;
        }
    return any;
}

/* The rows of a tile, shared among the threads as far as there are enough. */
static int64_t
ask_rows(struct sketcher *s, const struct group *group, int tiled)
{
    static const int64_t tiles[] = {16, 32, 48, 64, 96, 128, 192};
    int64_t tile = tiles[sketch_ask(s, group->root->tensor->name, "online rows", 7, 4)];
    while (tile > 8 &&
           group_count_rows(group, group->rows) / (double)tile < 2 * s->space->machine.threads)
        tile /= 2;
    return tile < group->root->extent[tiled] ? tile : group->root->extent[tiled];
}

static void
put_chain(struct sketcher *s, const struct group *group, const struct chain *chain, int tiled)
{
    static const int64_t steps[] = {32, 64, 128, 256, 512};
    const struct work *root = group->root;
    int64_t tile = ask_rows(s, group, tiled), extent = root->extent[root->rank];
    int64_t step = steps[sketch_ask(s, root->tensor->name, "online step", 5, 2)];
    step = step < extent ? step : extent;
    for (size_t i = 0; i < group->count; i++) {
        const struct work *work = group->member[i];
        if (is_in_chain(chain, work)) {
            if (put_inlined(s, chain, work))
                buf_putc(&s->lines, '\n');
            continue;
        }
        struct work part = group_in_rows(group, work, group->map[i], tiled, tile);
        if (work == chain->score)
            part.extent[chain->dimension] = step;
        buf_printf(&s->lines, "%s:", part.tensor->name);
        sketch_line(s, &part, 0, true);
        buf_putc(&s->lines, '\n');
    }
    if (!put_inlined(s, chain, root))
        buf_printf(&s->lines, "%s:", root->tensor->name);
    group_put_rows(s, group, tiled, tile < root->extent[tiled] ? tile : 0);
    for (size_t i = 0; i < group->count; i++)
        if (!is_in_chain(chain, group->member[i]) && group->member[i] != chain->score)
            sketch_put(s, "do(%s)", group->member[i]->tensor->name);
    sketch_put(s, "online(%s/%" PRId64 ": %s%s%s, %s)", root->index[root->rank], step,
               chain->max->tensor->name, chain->sum != NULL ? ", " : "",
               chain->sum != NULL ? chain->sum->tensor->name : "", root->tensor->name);
    if (chain->score != NULL)
        sketch_put(s, "do(%s)", chain->score->tensor->name);
    struct work part = group_in_rows(group, root, NULL, tiled, tile);
    part.extent[root->rank] = step;
    sketch_line(s, &part, tile > 1 ? group->rows & ~(1u << tiled) : group->rows, true);
    buf_putc(&s->lines, '\n');
}

/* The lines of a group that ends in a sum of exponentials times something; false: it does not, or
 * is not to be taken in one go. */
bool
group_put_online(struct sketcher *s, const struct group *group, int tiled)
{
    struct chain chain;
    size_t from = s->lines.length;
    if (!find_chain(group, &chain) || !sketch_ask_if(s, group->root->tensor->name, "online", true))
        return false;
    put_chain(s, group, &chain, tiled);
    if (group_is_legal(s, from))
        return true;
    group_take_back(s, from);
    return false;
}
