/* What a group of loops moves into a cache: from the outermost tile that fits, each tensor is
 * fetched once and stays for the loops around it that do not move it. */
#include "coder/view_int.h"

#define FULL 0.8 /* of a cache: the rest goes to what was not counted */

struct slot { /* a tensor, or the packed copy of an access */
    const void *key;
    double bytes, room, weight; /* 2: written, which first reads */
};

struct mover {
    struct arena *arena;
    double capacity, threads;
    bool first;
    bool resident; /* the program fits as a whole and is there already */
};

struct set { /* views that share their first loops */
    const struct view *const *views;
    size_t count;
};

static const void *
key_of(const struct view *view, const struct expr *load)
{
    return view_pack(view, load) != NULL ? (const void *)load : (const void *)load->tensor;
}

static void
add_slot(struct slot *slots, size_t *count, size_t most, struct slot slot)
{
    size_t i = 0;
    while (i < *count && slots[i].key != slot.key)
        i++;
    if (i == *count) {
        if (*count < most)
            slots[(*count)++] = slot;
        return;
    }
    slots[i].bytes = slot.bytes > slots[i].bytes ? slot.bytes : slots[i].bytes;
    slots[i].room = slot.room > slots[i].room ? slot.room : slots[i].room;
    slots[i].weight = slot.weight > slots[i].weight ? slot.weight : slots[i].weight;
}

/* What the set touches inside of its first `depth` loops. */
#define SLOTS 96

static size_t
find_slots(const struct set *set, size_t depth, struct slot *slots)
{
    size_t count = 0;
    for (size_t v = 0; v < set->count; v++) {
        const struct view *view = set->views[v];
        const int64_t *extent = view_extent(view, depth);
        const struct expr *loads[VIEW_LOADS];
        size_t reads = view_loads(view->work->code, loads);
        for (size_t i = 0; i < reads; i++) {
            double room, bytes = view_bytes(view, loads[i], extent, &room);
            add_slot(slots, &count, SLOTS, (struct slot){key_of(view, loads[i]), bytes, room, 1});
        }
        double room, bytes = view_result_bytes(view, extent, &room);
        add_slot(slots, &count, SLOTS,
                 (struct slot){view->work->tensor, bytes, room, view_stores_past(view) ? 1 : 2});
    }
    return count;
}

static double
slot_bytes(const struct set *set, size_t depth, const void *key)
{
    struct slot slots[SLOTS];
    size_t count = find_slots(set, depth, slots);
    for (size_t i = 0; i < count; i++)
        if (slots[i].key == key)
            return slots[i].bytes;
    return 0;
}

/* Does a loop move on in what the slot stands for? A box moves with no loop around it. */
static bool
is_moved(const struct set *set, const void *key, size_t loop)
{
    for (size_t v = 0; v < set->count; v++)
        if (set->views[v]->scratch && set->views[v]->work->tensor == key &&
            loop < set->views[v]->place)
            return false;
    for (size_t v = 0; v < set->count; v++) {
        const struct view *view = set->views[v];
        const struct expr *loads[VIEW_LOADS];
        uint32_t moves = view->loops[loop].moves;
        size_t reads = view_loads(view->work->code, loads);
        if (view->work->tensor == key && (moves & ((1u << view->work->rank) - 1)))
            return true;
        for (size_t i = 0; i < reads; i++)
            if (key_of(view, loads[i]) == key && (loads[i]->free & moves))
                return true;
    }
    return false;
}

/* The loops, of these, around the accumulators that a slot is written from. */
static size_t
outside_registers(const struct set *set, const void *key, size_t depth)
{
    for (size_t v = 0; v < set->count; v++)
        if (set->views[v]->work->tensor == key && set->views[v]->acc < depth)
            return set->views[v]->acc;
    return depth;
}

static double
fetched(const struct mover *mover, const struct set *set, size_t depth)
{
    struct slot slots[SLOTS];
    size_t count = find_slots(set, depth, slots);
    double total = 0;
    for (size_t s = 0; s < count; s++) {
        double bytes = slots[s].bytes, times = 1;
        /* what its own rows drive out does not stay */
        bool started = mover->first && slots[s].room > mover->capacity;
        for (size_t i = outside_registers(set, slots[s].key, depth); i-- > 0;) {
            double trips = set->views[0]->loops[i].trips;
            if (started)
                times *= trips;
            else if (is_moved(set, slots[s].key, i)) {
                double whole = slot_bytes(set, i, slots[s].key);
                bytes = bytes * trips < whole ? bytes * trips : whole;
                started = true;
            }
        }
        /* once around, and it was there before */
        if (times == 1 && (mover->resident || (!started && depth > 0)))
            continue;
        total += bytes * times * slots[s].weight;
    }
    return total;
}

static double
descend(const struct mover *mover, const struct set *set, size_t depth)
{
    struct slot slots[SLOTS];
    size_t count = find_slots(set, depth, slots);
    double total = 0, moved = 0;
    bool inside = false, deeper = false;
    for (size_t i = 0; i < count; i++)
        total += slots[i].bytes;
    for (size_t i = 0; i < depth; i++)
        inside = inside || set->views[0]->loops[i].mark == MARK_THREADS;
    for (size_t v = 0; v < set->count; v++)
        deeper = deeper || set->views[v]->count > depth;
    if (!deeper || view_fits(total, mover->capacity * (inside ? 1 : mover->threads)))
        return fetched(mover, set, depth);
    /* views that go on in the same loop stay together */
    bool *done = arena_array(mover->arena, set->count, sizeof *done);
    for (size_t v = 0; v < set->count; v++) {
        const struct view **part = arena_array(mover->arena, set->count, sizeof *part);
        const struct view *view = set->views[v];
        struct set rest = {part, 0};
        if (done[v])
            continue;
        for (size_t w = v; w < set->count; w++) {
            const struct view *other = set->views[w];
            bool same = w == v || (view->count > depth && other->count > depth &&
                                   view->loops[depth].token == other->loops[depth].token);
            if (!done[w] && same) {
                part[rest.count++] = other;
                done[w] = true;
            }
        }
        moved +=
            view->count > depth ? descend(mover, &rest, depth + 1) : fetched(mover, &rest, depth);
    }
    return moved;
}

bool
view_fits(double bytes, double capacity)
{
    return bytes <= FULL * capacity;
}

double
view_touched(struct arena *arena, const struct view_group *group, size_t depth)
{
    const struct view *root = group->views[0];
    const struct view **inside = arena_array(arena, group->count, sizeof *inside);
    struct set set = {inside, 0};
    struct slot slots[SLOTS];
    double total = 0;
    for (size_t v = 0; v < group->count; v++) {
        const struct view *view = group->views[v];
        bool shares = view->count >= depth;
        for (size_t i = 0; i < depth && shares; i++)
            shares = view->loops[i].token == root->loops[i].token;
        if (shares)
            inside[set.count++] = view;
    }
    size_t count = find_slots(&set, depth, slots);
    for (size_t i = 0; i < count; i++)
        total += slots[i].bytes;
    return total;
}

double
view_traffic(struct arena *arena, const struct view_group *group, double capacity, double threads,
             bool resident, bool first)
{
    struct mover mover = {arena, capacity, threads, first, resident};
    struct set set = {(const struct view *const *)group->views, group->count};
    return descend(&mover, &set, 0);
}
