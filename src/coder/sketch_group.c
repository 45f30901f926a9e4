/* Producers that only the rows of one stage read are computed beside it, row by row. */
#include "coder/sketch_group_int.h"
#include "coder/view_int.h"

#include <inttypes.h>
#include <string.h>

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
double
group_count_rows(const struct group *group, uint32_t rows)
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

/* Means that squares around them are taken of: both of a chunk while it is in the cache, whoever
 * else needs the means. */
static bool
is_mean_of(const struct work *root, const struct work *work)
{
    if (root->reduce == NULL || work->reduce == NULL || root->rank != work->rank)
        return false;
    const struct expr *square = root->reduce->args[0];
    const struct expr *around = square->op == OP_MUL ? square->args[0] : NULL;
    return around != NULL && around == square->args[1] && around->op == OP_SUB &&
           around->args[1]->op == OP_LOAD && around->args[1]->tensor == work->tensor &&
           is_written_by_rows(root, work);
}

static bool
is_member(const struct group *group, const struct work *work)
{
    bool found = work == group->root;
    for (size_t m = 0; m < group->count && !found; m++)
        found = group->member[m] == work;
    return found;
}

/* Squares around means that somebody outside of the group needs, too: the means are taken along by
 * the squares, and these are on their own. */
static bool
is_on_its_own(const struct sketcher *s, const struct group *group, const struct work *work)
{
    const struct work *works = s->schedule->works;
    for (size_t i = 0; i < work->number; i++)
        for (size_t r = i + 1; r < s->program->stage_count && is_mean_of(work, &works[i]); r++)
            if (work_has_loops(&works[r]) && &works[r] != work && !is_member(group, &works[r]) &&
                work_loads(works[r].code, works[i].tensor, NULL, 0) > 0)
                return true;
    return false;
}

/* A row does not stay in the caches from what was found about it to where that is used, and with
 * rows outside something that all of them read would come from memory for each: nothing is won. */
static bool
rereads(const struct sketcher *s, const struct work *root, uint32_t rows)
{
    const struct expr *loads[VIEW_LOADS];
    int64_t row = (int64_t)dtype_info[root->tensor->dtype].size, shared = 0;
    for (unsigned l = 0; l < root->rank; l++)
        row *= rows & 1u << l ? 1 : root->extent[l];
    for (size_t i = view_loads(root->code, loads); i-- > 0;)
        if (!(loads[i]->free & rows))
            shared += loads[i]->tensor->count * (int64_t)dtype_info[loads[i]->tensor->dtype].size;
    return root->reduce == NULL && row > s->space->machine.l2 && shared > s->space->machine.l2;
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
    if (root->stage->rec >= 0 && !sketch_scans_in_lanes(root))
        return;
    if (root->stage->rec >= 0)
        group->rows &= ~(1u << root->stage->carried);
    for (size_t i = root->number; i-- > 0 && group->count < 16;) {
        const struct work *work = &works[i];
        struct along map[LANG_MAX_RANK];
        bool inside = true, any = false;
        uint32_t steps = 0;
        if (!work_has_loops(work) || s->group[i] >= 0 ||
            (work->stage->rec >= 0 && !(sketch_scans_in_lanes(work) &&
                                        work_is_read_along(s->schedule, work, root, &steps))) ||
            (work->tensor->output >= 0 && !is_written_by_rows(root, work)))
            continue;
        for (size_t r = i + 1; r < s->program->stage_count && inside; r++) {
            if (works[r].fate == FATE_INLINE ||
                work_loads(works[r].code, work->tensor, NULL, 0) == 0)
                continue;
            size_t m = 0;
            while (m < group->count && group->member[m] != &works[r])
                m++;
            bool member = &works[r] == root || m < group->count;
            inside = member || is_mean_of(root, work);
            if (member)
                inside =
                    add_map(&works[r], &works[r] == root ? NULL : group->map[m], work, map, &any);
        }
        if (!inside || !any || is_on_its_own(s, group, work))
            continue;
        uint32_t rows = 0;
        for (unsigned d = 0; d < work->rank; d++)
            if (map[d].level >= 0)
                rows |= 1u << map[d].level;
        rows &= group->rows & ~steps;
        if (lanes >= 0 && shares_lanes(s, work, map, lanes))
            rows &= ~(1u << lanes);
        if (rows == 0 || !take_units(group, work, map) ||
            group_count_rows(group, rows) < s->space->machine.threads)
            continue;
        bool large = grows(work);
        bool same = group->count == 0 || rows == group->rows;
        if (!sketch_ask_if(s, work->tensor->name, "fuse",
                           (!is_heavy(s, work) || large) && same && !weights &&
                               !rereads(s, root, rows)))
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

/* Steps of a loop over rows: of some indices, all of a unit are needed at once. */
static int64_t
step_of(const struct group *group, int level, int tiled, int64_t tile)
{
    return level == tiled && tile > 1 ? tile : level == tiled ? 1 : group->unit[level];
}

/* A stage as one tile of rows sees it. */
struct work
group_in_rows(const struct group *group, const struct work *work, const struct along *map,
              int tiled, int64_t tile)
{
    struct work part = *work;
    for (unsigned d = 0; d < work->rank; d++) {
        struct along along = map != NULL ? map[d] : (struct along){(int8_t)d, 1};
        if (along.level >= 0 && (group->rows & 1u << along.level))
            part.extent[d] = step_of(group, along.level, tiled, tile) / along.by;
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

/* The loops over rows, shared among the threads; the last one takes `tile` of them at a time, 0:
 * all that there are. */
void
group_put_rows(struct sketcher *s, const struct group *group, int tiled, int64_t tile)
{
    const struct work *root = group->root;
    for (unsigned l = 0; l < root->rank; l++)
        if ((group->rows & 1u << l) && root->extent[l] > 1 && (int)l != tiled) {
            if (group->unit[l] > 1)
                sketch_put(s, "%s/%" PRId64 "@p", root->index[l], group->unit[l]);
            else
                sketch_put(s, "%s@p", root->index[l]);
        }
    if (tile > 1)
        sketch_put(s, "%s/%" PRId64 "@p", root->index[tiled], tile);
    else if (tile == 1 && root->extent[tiled] > 1)
        sketch_put(s, "%s@p", root->index[tiled]);
}

/* Is what was just written legal, all else being plain? */
bool
group_is_legal(struct sketcher *s, size_t from)
{
    struct arena *arena = s->space->arena;
    struct source source = {"", s->lines.data + from, s->lines.length - from};
    struct coder_options options = {.vector_bytes = s->space->machine.vector_bytes};
    return coder_read(arena, s->program, &source, &options, diags_create(arena, 1)) != NULL;
}

void
group_take_back(struct sketcher *s, size_t from)
{
    s->lines.length = from;
    s->lines.data[from] = '\0';
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
    struct work part = group_in_rows(group, work, group->map[number], tiled, tile);
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
    if (group->unit[tiled] == 1 && group_put_online(s, group, tiled))
        return;
    int64_t tile = tiles[sketch_ask(s, root->tensor->name, "rows", 7, heavy ? 5 : 0)];
    while (tile > 1 &&
           group_count_rows(group, group->rows) / (double)tile < 2 * s->space->machine.threads)
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
    group_put_rows(s, group, tiled, tile);
    for (size_t i = 0; i < group->count; i++)
        if (group->host[i] == NULL && group->nest[i] == NULL)
            sketch_put(s, "do(%s)", group->member[i]->tensor->name);
    struct work part = group_in_rows(group, root, NULL, tiled, tile);
    uint32_t done = 0; /* one by one */
    for (unsigned l = 0; l < root->rank; l++)
        if ((group->rows & 1u << l) && step_of(group, (int)l, tiled, tile) == 1)
            done |= 1u << l;
    s->fetch = fetch_text(s, group, group->count, tiled, tile);
    sketch_line(s, &part, done, true);
    buf_putc(&s->lines, '\n');
    s->fetch = NULL;
}

/* What the rules above did not foresee, as rows of one element: everybody has loops of his own.
 * Large programs are not looked at group by group. */
static bool
is_refused(struct sketcher *s, const struct group *group, size_t from)
{
    enum { SMALL = 24 };
    if (s->program->stage_count > SMALL || group_is_legal(s, from))
        return false;
    group_take_back(s, from);
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
    if (group.count > 0 && !group_put_conv(s, &group) && !group_put_sorted(s, &group))
        put_group(s, &group);
    return group.count > 0 && !is_refused(s, &group, from);
}
