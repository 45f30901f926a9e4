/* Producers that only the rows of one stage read are computed beside it, row by row. */
#include "coder/sketch_int.h"
#include "coder/view_int.h"

#include <inttypes.h>
#include <string.h>

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

/* Where the members' dimensions lie, from what one reader says; false: readers disagree. */
static bool
add_map(const struct work *reader, const struct along *reader_map, const struct work *work,
        struct along *map, bool *any)
{
    const struct expr *loads[32];
    size_t count = work_loads(reader->code, work->tensor, loads, 32);
    for (size_t i = 0; i < count && i < 32; i++, *any = true)
        for (unsigned d = 0; d < work->rank; d++) {
            struct along along = work_along(reader, loads[i]->args[d], work->extent[d]);
            if (along.level >= (int)reader->rank || (reader_map != NULL && along.by > 1))
                along = (struct along){-1, 1};
            else if (along.level >= 0 && reader_map != NULL)
                along = reader_map[along.level];
            if (*any && (map[d].level != along.level || map[d].by != along.by))
                along = (struct along){-1, 1};
            map[d] = along;
        }
    return count <= 32;
}

/* How many of these rows the root has. */
static double
rows_of(const struct group *group, uint32_t rows)
{
    const struct work *root = group->root;
    double count = 1;
    for (unsigned l = 0; l < root->rank; l++)
        if (rows & 1u << l)
            count *= (double)(root->extent[l] / group->unit[l]);
    return count;
}

static bool
is_heavy(struct sketcher *s, const struct work *work)
{
    struct look look = sketch_look(s, work);
    double depth = 1;
    for (unsigned l = work->rank; l < work->levels; l++)
        depth *= (double)work->extent[l];
    return work->reduce != NULL && look.other >= 0 && look.vector >= 0 && depth >= 16;
}

/* Its result is far larger than what it is made of: better never stored. */
static bool
grows(const struct work *work)
{
    const struct expr *loads[VIEW_LOADS];
    struct level levels[LANG_MAX_LEVELS];
    double read = 0;
    size_t count = view_loads(work->code, loads);
    work_ranges(work, levels);
    for (size_t i = 0; i < count; i++) {
        double elements = 1; /* it may be a part of the tensor: one of several in a row */
        for (unsigned d = 0; d < loads[i]->tensor->rank; d++) {
            int64_t low, high, size = loads[i]->tensor->size[d];
            expr_interval(loads[i]->args[d], levels, &low, &high);
            elements *= (double)(high - low < size ? high - low + 1 : size);
        }
        read += elements;
    }
    return (double)work->tensor->count > 2 * read;
}

/* A product with something that all rows share, weights: it is worth being copied once for all of
 * them, and not for each block of rows that something is computed beside. */
static bool
shares_weights(struct sketcher *s, const struct work *root)
{
    const struct look look = sketch_look(s, root);
    const struct expr *loads[VIEW_LOADS];
    if (!is_heavy(s, root))
        return false;
    size_t count = view_loads(look.body, loads);
    for (size_t i = 0; i < count; i++) {
        uint32_t left = loads[i]->free & ((1u << root->rank) - 1);
        if (left == 1u << look.vector && loads[i]->tensor->count > 4096)
            return true;
    }
    return false;
}

/* An output whose boxes the root's loops make up: it is written where it is and read from the
 * cache.
 */
static bool
is_written_by_rows(const struct work *root, const struct work *work)
{
    const struct expr *load;
    if (work_loads(root->code, work->tensor, &load, 1) != 1)
        return false;
    for (unsigned d = 0; d < work->rank; d++)
        if (load->args[d]->op != OP_INDEX || root->extent[load->args[d]->level] != work->extent[d])
            return false;
    return true;
}

/* Loops by groups suit all members, or those that came first. */
static bool
take_units(struct group *group, const struct work *work, const struct along *map)
{
    int64_t unit[LANG_MAX_RANK];
    memcpy(unit, group->unit, sizeof unit);
    for (unsigned d = 0; d < work->rank; d++)
        if (map[d].level >= 0 && map[d].by > 1) {
            if (unit[map[d].level] > 1 && unit[map[d].level] != map[d].by)
                return false;
            unit[map[d].level] = map[d].by;
        }
    memcpy(group->unit, unit, sizeof unit);
    return true;
}

/* What has the same index in lanes as the root is computed for all of them at once. */
static bool
shares_lanes(struct sketcher *s, const struct work *work, const struct along *map, int lanes)
{
    const struct look look = sketch_look(s, work);
    return look.vector >= 0 && look.vector < (int)work->rank && map[look.vector].level == lanes;
}

static void
find_group(struct sketcher *s, struct group *group, const struct work *root)
{
    const struct work *works = s->schedule->works;
    int lanes = sketch_look(s, root).vector;
    bool weights = shares_weights(s, root);
    *group = (struct group){.root = root};
    group->rows = root->rank ? (1u << root->rank) - 1 : 0;
    for (unsigned l = 0; l < root->rank; l++)
        group->unit[l] = 1;
    if (root->stage->rec >= 0)
        return;
    for (size_t i = root->number; i-- > 0 && group->count < 16;) {
        const struct work *work = &works[i];
        struct along map[LANG_MAX_RANK];
        bool inside = true, any = false;
        if (!work_has_loops(work) || work->stage->rec >= 0 || s->group[i] >= 0 ||
            (work->tensor->output >= 0 && !is_written_by_rows(root, work)))
            continue;
        for (size_t r = i + 1; r < s->program->stage_count && inside; r++) {
            if (works[r].fate == FATE_INLINE ||
                work_loads(works[r].code, work->tensor, NULL, 0) == 0)
                continue;
            size_t m = 0;
            while (m < group->count && group->member[m] != &works[r])
                m++;
            inside = &works[r] == root || m < group->count;
            if (inside)
                inside =
                    add_map(&works[r], &works[r] == root ? NULL : group->map[m], work, map, &any);
        }
        if (!inside || !any)
            continue;
        uint32_t rows = 0;
        for (unsigned d = 0; d < work->rank; d++)
            if (map[d].level >= 0)
                rows |= 1u << map[d].level;
        rows &= group->rows;
        if (lanes >= 0 && shares_lanes(s, work, map, lanes))
            rows &= ~(1u << lanes);
        if (rows == 0 || !take_units(group, work, map) ||
            rows_of(group, rows) < s->space->machine.threads)
            continue;
        bool large = grows(work);
        bool same = group->count == 0 || rows == group->rows;
        if (!sketch_ask_if(s, work->tensor->name, "fuse",
                           (!is_heavy(s, work) || large) && same && !weights))
            continue;
        memmove(group->member + 1, group->member, group->count * sizeof *group->member);
        memmove(group->map + 1, group->map, group->count * sizeof *group->map);
        group->member[0] = work;
        memcpy(group->map[0], map, sizeof map);
        group->count++;
        group->rows = rows;
    }
    for (size_t i = 0; i < group->count; i++)
        s->group[group->member[i]->number] = (int)root->number;
}

/* Reductions over the rows of a member that has no reduction itself run in its loops. */
static void
find_hosts(struct sketcher *s, struct group *group)
{
    for (size_t i = 0; i < group->count; i++) {
        const struct work *guest = group->member[i];
        const struct expr *load;
        if (guest->reduce == NULL || guest->levels != guest->rank + 1)
            continue;
        for (size_t h = 0; h < i; h++) {
            const struct work *host = group->member[h];
            bool fits = host->reduce == NULL && host->rank == guest->rank + 1 &&
                        host->lanes == guest->lanes &&
                        work_loads(guest->code, host->tensor, &load, 1) == 1 &&
                        host->extent[host->rank - 1] == guest->extent[guest->rank];
            for (unsigned d = 0; d < host->rank && fits; d++)
                fits = load->args[d]->op == OP_INDEX && load->args[d]->level == d;
            bool free = true;
            for (size_t j = 0; j < group->count; j++)
                free = free && group->host[j] != host;
            if (fits && free && sketch_ask_if(s, guest->tensor->name, "with", true)) {
                group->host[i] = host;
                break;
            }
        }
    }
}

/* Levels of a member that are no rows of the root: chunks of a row. */
static uint32_t
chunks_of(const struct group *group, size_t member)
{
    uint32_t chunks = 0;
    for (unsigned d = 0; d < group->member[member]->rank; d++)
        if (group->map[member][d].level < 0 && group->member[member]->extent[d] > 1)
            chunks |= 1u << d;
    return chunks;
}

/* Reductions of chunks that only the next reduction of the same chunks needs at once, as the mean
 * of each in ! moments: both are taken of a chunk while it is in the cache. */
static void
find_nests(struct group *group)
{
    for (size_t i = 0; i + 1 < group->count; i++) {
        const struct work *work = group->member[i], *next = group->member[i + 1];
        const struct expr *load;
        uint32_t chunks = chunks_of(group, i);
        bool fits = chunks != 0 && chunks == chunks_of(group, i + 1) && work->reduce != NULL &&
                    next->reduce != NULL && work->rank == next->rank && group->host[i] == NULL &&
                    group->host[i + 1] == NULL && (i == 0 || group->nest[i - 1] == NULL) &&
                    work_loads(next->code, work->tensor, &load, 1) == 1;
        for (unsigned d = 0; d < work->rank && fits; d++)
            fits = load->args[d]->op == OP_INDEX && load->args[d]->level == d &&
                   work->extent[d] == next->extent[d];
        if (fits)
            group->nest[i] = next;
    }
}

/* A stage as one tile of rows sees it. */
static struct work
in_rows(const struct group *group, const struct work *work, const struct along *map, int tiled,
        int64_t tile)
{
    struct work part = *work;
    for (unsigned d = 0; d < work->rank; d++) {
        struct along along = map != NULL ? map[d] : (struct along){(int8_t)d, 1};
        if (along.level >= 0 && (group->rows & 1u << along.level))
            part.extent[d] = along.level == tiled && tile > 1 ? tile / along.by : 1;
    }
    return part;
}

/* with(S, k=j): pairs where the names differ. */
static const char *
guest_text(struct sketcher *s, const struct work *guest, const struct work *host)
{
    struct buf text = buf_in(s->space->arena);
    buf_printf(&text, "with(%s", guest->tensor->name);
    for (unsigned l = 0; l < guest->levels; l++)
        if (strcmp(guest->index[l], host->index[l]) != 0)
            buf_printf(&text, ", %s=%s", guest->index[l], host->index[l]);
    buf_puts(&text, ")");
    return text.data;
}

/* ---- exponentials of scores times values ---- */

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

/* The loops over rows, shared among the threads; the last one takes `tile` of them at a time, 0:
 * all that there are. */
static void
put_rows(struct sketcher *s, const struct group *group, int tiled, int64_t tile)
{
    const struct work *root = group->root;
    for (unsigned l = 0; l < root->rank; l++)
        if ((group->rows & 1u << l) && root->extent[l] > 1 && (int)l != tiled)
            sketch_put(s, "%s@p", root->index[l]);
    if (tile > 1)
        sketch_put(s, "%s/%" PRId64 "@p", root->index[tiled], tile);
    else if (tile == 1 && root->extent[tiled] > 1)
        sketch_put(s, "%s@p", root->index[tiled]);
}

/* The rows of a tile, shared among the threads as far as there are enough. */
static int64_t
ask_rows(struct sketcher *s, const struct group *group, int tiled)
{
    static const int64_t tiles[] = {16, 32, 48, 64, 96, 128, 192};
    int64_t tile = tiles[sketch_ask(s, group->root->tensor->name, "online rows", 7, 4)];
    while (tile > 8 && rows_of(group, group->rows) / (double)tile < 2 * s->space->machine.threads)
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
        struct work part = in_rows(group, work, group->map[i], tiled, tile);
        if (work == chain->score)
            part.extent[chain->dimension] = step;
        buf_printf(&s->lines, "%s:", part.tensor->name);
        sketch_line(s, &part, 0, true);
        buf_putc(&s->lines, '\n');
    }
    if (!put_inlined(s, chain, root))
        buf_printf(&s->lines, "%s:", root->tensor->name);
    put_rows(s, group, tiled, tile < root->extent[tiled] ? tile : 0);
    for (size_t i = 0; i < group->count; i++)
        if (!is_in_chain(chain, group->member[i]) && group->member[i] != chain->score)
            sketch_put(s, "do(%s)", group->member[i]->tensor->name);
    sketch_put(s, "online(%s/%" PRId64 ": %s%s%s, %s)", root->index[root->rank], step,
               chain->max->tensor->name, chain->sum != NULL ? ", " : "",
               chain->sum != NULL ? chain->sum->tensor->name : "", root->tensor->name);
    if (chain->score != NULL)
        sketch_put(s, "do(%s)", chain->score->tensor->name);
    struct work part = in_rows(group, root, NULL, tiled, tile);
    part.extent[root->rank] = step;
    sketch_line(s, &part, tile > 1 ? group->rows & ~(1u << tiled) : group->rows, true);
    buf_putc(&s->lines, '\n');
}

/* Is what was just written legal, all else being plain? */
static bool
is_legal(struct sketcher *s, size_t from)
{
    struct arena *arena = s->space->arena;
    struct source source = {"", s->lines.data + from, s->lines.length - from};
    struct coder_options options = {s->space->machine.vector_bytes};
    return coder_read(arena, s->program, &source, &options, diags_create(arena, 1)) != NULL;
}

static void
take_back(struct sketcher *s, size_t from)
{
    s->lines.length = from;
    s->lines.data[from] = '\0';
}

/* The lines of a group that ends in a sum of exponentials times something; false: it does not, or
 * is not to be taken in one go. */
static bool
put_online(struct sketcher *s, const struct group *group, int tiled)
{
    struct chain chain;
    size_t from = s->lines.length;
    if (!find_chain(group, &chain) || !sketch_ask_if(s, group->root->tensor->name, "online", true))
        return false;
    put_chain(s, group, &chain, tiled);
    if (is_legal(s, from))
        return true;
    take_back(s, from);
    return false;
}

/* ---- the next rows ---- */

/* The level of a stage that is the root's `tiled`, one by one; -1: none. */
static int
row_level(const struct work *work, const struct along *map, int tiled)
{
    for (unsigned d = 0; d < work->rank; d++)
        if (map == NULL ? (int)d == tiled : map[d].level == tiled && map[d].by == 1)
            return (int)d;
    return -1;
}

/* Does it read this tensor row by row, from one end of a row to the other? */
static bool
reads_rows(struct sketcher *s, const struct work *work, const struct along *map, int tiled,
           const struct tensor *tensor)
{
    const struct expr *load = prefetch_access(work, tensor);
    int row = row_level(work, map, tiled);
    const struct look look = sketch_look(s, work);
    int64_t stride;
    return load != NULL && row >= 0 && (load->free & 1u << row) && look.vector >= 0 &&
           view_stride(load, (unsigned)look.vector, &stride) && stride == 1;
}

/* What several passes over a row read comes from memory in the first one, and nothing comes in the
 * others. So the last one that reads it fetches the next rows: pre() for each such tensor; NULL:
 * none. */
static const char *
fetch_text(struct sketcher *s, const struct group *group, size_t number, int tiled, int64_t tile)
{
    const struct coder_machine *machine = &s->space->machine;
    const struct work *work = number < group->count ? group->member[number] : group->root;
    const struct along *map = number < group->count ? group->map[number] : NULL;
    struct buf text = buf_in(s->space->arena);
    for (size_t t = 0; t < s->program->tensor_count; t++) {
        const struct tensor *tensor = s->program->tensors[t];
        int64_t bytes = tensor->count * (int64_t)dtype_info[tensor->dtype].size;
        int64_t rows = group->root->extent[tiled] / tile;
        bool earlier = false, later = false, made = false;
        if (!reads_rows(s, work, map, tiled, tensor))
            continue;
        for (size_t i = 0; i < group->count; i++) {
            made = made || group->member[i]->tensor == tensor;
            bool also = work_loads(group->member[i]->code, tensor, NULL, 0) > 0;
            earlier = earlier || (also && i < number);
            later = later || (also && i > number);
        }
        later = later || (number < group->count && reads_rows(s, group->root, NULL, tiled, tensor));
        if ((earlier || number < group->count) && !later && !made && rows > 1 &&
            sketch_ask_if(s, work->tensor->name, "fetch",
                          bytes > machine->l2 && bytes / rows <= machine->l2 / 4))
            buf_printf(&text, "%spre(%s,%" PRId64 ",%s)", text.length > 0 ? " " : "", tensor->name,
                       tile, work->index[row_level(work, map, tiled)]);
    }
    return text.length > 0 ? text.data : NULL;
}

/* The line of a member: with its guests, and what is computed in its chunks. */
static void
put_member(struct sketcher *s, const struct group *group, size_t number, int tiled, int64_t tile)
{
    const struct work *work = group->member[number], *inner = NULL;
    struct work part = in_rows(group, work, group->map[number], tiled, tile);
    uint32_t chunks = 0;
    for (size_t j = 0; j < group->count; j++) {
        if (group->host[j] == work)
            s->with = guest_text(s, group->member[j], &part);
        if (group->nest[j] == work)
            inner = group->member[j];
    }
    if (inner != NULL || group->nest[number] != NULL)
        chunks = chunks_of(group, number);
    buf_printf(&s->lines, "%s:", work->tensor->name);
    for (unsigned d = 0; d < work->rank; d++) {
        if (chunks & 1u << d)
            part.extent[d] = 1;
        if (inner != NULL && (chunks & 1u << d))
            sketch_put(s, "%s", work->index[d]);
    }
    if (inner != NULL)
        sketch_put(s, "do(%s)", inner->tensor->name);
    s->fetch = fetch_text(s, group, number, tiled, tile);
    sketch_line(s, &part, inner != NULL ? chunks : 0, true);
    buf_putc(&s->lines, '\n');
    s->with = s->fetch = NULL;
}

/* A convolution of what its members enlarge or sort: they are computed for each block of it. */
static bool
put_conv(struct sketcher *s, const struct group *group)
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
static bool
put_sorted(struct sketcher *s, const struct group *group)
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

static void
put_group(struct sketcher *s, struct group *group)
{
    static const int64_t tiles[] = {1, 2, 4, 8, 16, 32, 64};
    const struct work *root = group->root;
    int tiled = -1;
    bool heavy = false;
    for (size_t i = 0; i < group->count; i++)
        heavy = heavy || is_heavy(s, group->member[i]);
    heavy = heavy || is_heavy(s, root);
    for (unsigned l = 0; l < root->rank; l++)
        if ((group->rows & 1u << l) && (tiled < 0 || group->unit[tiled] == 1))
            tiled = (int)l;
    /* rows of a product share what it reads along the vector: one head's */
    int other = sketch_look(s, root).other;
    if (root->reduce != NULL && other >= 0 && (group->rows & 1u << other) &&
        group->unit[tiled] == 1)
        tiled = other;
    if (group->unit[tiled] == 1 && put_online(s, group, tiled))
        return;
    int64_t tile = tiles[sketch_ask(s, root->tensor->name, "rows", 7, heavy ? 5 : 0)];
    while (tile > 1 && rows_of(group, group->rows) / (double)tile < 2 * s->space->machine.threads)
        tile /= 2;
    tile *= group->unit[tiled];
    if (tile >= root->extent[tiled])
        tile = group->unit[tiled];
    find_hosts(s, group);
    find_nests(group);
    for (size_t i = 0; i < group->count; i++)
        if (group->host[i] == NULL)
            put_member(s, group, i, tiled, tile);
    buf_printf(&s->lines, "%s:", root->tensor->name);
    put_rows(s, group, tiled, tile);
    for (size_t i = 0; i < group->count; i++)
        if (group->host[i] == NULL && group->nest[i] == NULL)
            sketch_put(s, "do(%s)", group->member[i]->tensor->name);
    struct work part = in_rows(group, root, NULL, tiled, tile);
    s->fetch = fetch_text(s, group, group->count, tiled, tile);
    sketch_line(s, &part, tile > 1 ? group->rows & ~(1u << tiled) : group->rows, true);
    buf_putc(&s->lines, '\n');
    s->fetch = NULL;
}

/* What the rules above did not foresee, as rows of one element: everybody has loops of his own.
 * Large programs are not looked at group by group. */
static bool
is_refused(struct sketcher *s, const struct group *group, size_t from)
{
    enum { SMALL = 24 };
    if (s->program->stage_count > SMALL || is_legal(s, from))
        return false;
    take_back(s, from);
    for (size_t i = 0; i < group->count; i++)
        s->group[group->member[i]->number] = -1;
    return true;
}

bool
sketch_group(struct sketcher *s, const struct work *root)
{
    struct group group;
    size_t from = s->lines.length;
    find_group(s, &group, root);
    if (group.count > 0 && !put_conv(s, &group) && !put_sorted(s, &group))
        put_group(s, &group);
    return group.count > 0 && !is_refused(s, &group, from);
}
