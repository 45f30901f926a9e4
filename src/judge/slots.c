/* Memory of the calls. A slot holds the inputs and outputs of one call, each on pages of its own,
 * so that in the guest there is nothing on either side of it. The data stand at the left end of
 * their pages or at the right one, as near as their alignment allows; what is left of the pages of
 * an output is poisoned like the output and looked at afterwards.
 *
 * Behind each input there is some room, which only windows show to a kernel (window.c).
 *
 * Successive large tensors are staggered (box.h), lest they compete for the same cache lines. */
#include "judge/judge_int.h"

#include <string.h>

#define MB ((size_t)1 << 20)

enum {
    MOST_SLOTS = 256,
    USUAL_SLOTS = DRAW_COUNT, /* one for each kind of inputs, where that is cheap */
    LARGE = 1 << 18,          /* from this size on, tensors are staggered */
};

static size_t
round_up(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

static size_t
tensor_bytes(const struct tensor *tensor)
{
    return (size_t)tensor->count * dtype_info[tensor->dtype].size;
}

/* ---- layout ---- */

static size_t
slot_bytes(const struct judge__case *c)
{
    size_t bytes = 0;

    for (size_t t = 0; t < c->tensor_count; t++)
        bytes += round_up(tensor_bytes(judge__tensor(c, t)), BOX_PAGE);
    return bytes;
}

static size_t
least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* As many as make samples long enough, within a few megabytes: fresh memory is slow to get. */
static size_t
useful_slots(const struct judge__case *c)
{
    size_t bytes = c->slot_bytes, count = least(USUAL_SLOTS, 64 * MB / bytes);

    if (16 * MB / bytes > count)
        count = 16 * MB / bytes;
    count = least(count, least(MOST_SLOTS, BOX_REGIONS_MAX / c->tensor_count));
    return count > 0 ? count : 1;
}

/* Places all regions; returns the bytes they need. */
static size_t
lay_out(struct judge__case *c)
{
    size_t at = 0;

    for (size_t s = 0; s < c->slot_count; s++)
        for (size_t t = 0; t < c->tensor_count; t++) {
            struct box_region *region = &c->slots[s].regions[t];

            region->bytes = tensor_bytes(judge__tensor(c, t));
            region->span = round_up(region->bytes, BOX_PAGE);
            region->writable = t >= c->program->input_count;
            if (region->bytes >= LARGE)
                at = box_stagger(at, t);
            region->offset = at;
            at += region->span + (region->writable ? 0 : JUDGE__ROOM);
        }
    return at;
}

enum status
judge__slots_create(struct judge__case *c, struct diags *diags)
{
    struct arena *arena = c->task->arena;
    enum status status;

    c->tensor_count = c->program->input_count + c->program->output_count;
    c->slot_bytes = slot_bytes(c);
    c->slot_count = useful_slots(c);
    c->slots = arena_array(arena, c->slot_count, sizeof *c->slots);
    for (size_t s = 0; s < c->slot_count; s++)
        c->slots[s].regions = arena_array(arena, c->tensor_count, sizeof *c->slots[s].regions);
    status = box_memory_create(c->task->judge->box, lay_out(c), &c->memory, diags);
    for (size_t s = 0; s < c->slot_count; s++)
        for (size_t t = 0; t < c->tensor_count; t++)
            c->slots[s].regions[t].memory = c->memory;
    return status;
}

void
judge__slots_destroy(struct judge__case *c)
{
    box_memory_destroy(c->memory);
    c->memory = NULL;
}

static char *
start_of(const struct judge__case *c, const struct box_region *region)
{
    return (char *)box_memory_base(c->memory) + region->offset;
}

void *
judge__data(const struct judge__case *c, const struct judge__slot *slot, size_t t)
{
    return start_of(c, &slot->regions[t]) + slot->regions[t].lead;
}

void
judge__place(struct judge__case *c, enum placement placement)
{
    size_t alignment = c->task->target->limits.alignment;

    if (c->placement == placement)
        return;
    c->placement = placement;
    for (size_t s = 0; s < c->slot_count; s++)
        for (size_t t = 0; t < c->tensor_count; t++) {
            struct box_region *region = &c->slots[s].regions[t];
            size_t lead =
                placement == AT_LEFT ? 0 : region->span - round_up(region->bytes, alignment);

            if (!region->writable && c->slots[s].filled && lead != region->lead)
                memmove(start_of(c, region) + lead, start_of(c, region) + region->lead,
                        region->bytes);
            region->lead = lead;
        }
}

/* ---- poison ---- */

/* A signalling NaN with a random payload, as wide as an element; for integers any number, which may
 * be a result by chance: it is another one in each run. Repeated to 64 bits. */
static uint64_t
pattern(enum dtype dtype, uint64_t random)
{
    uint64_t bits;

    switch (dtype) {
    case DTYPE_F64:
        return UINT64_C(0x7ff4000000000001) | (random & 0xffffffff);
    case DTYPE_F32:
        bits = 0x7fa00001 | (random & 0xffff);
        return bits << 32 | bits;
    case DTYPE_F16:
        bits = 0x7d00 | (random & 0xff);
        break;
    case DTYPE_BF16:
        bits = 0x7fa0 | (random & 0x1f);
        break;
    case DTYPE_I32:
        bits = random & 0xffffffff;
        return bits << 32 | bits;
    case DTYPE_BOOL:
        bits = 0x80 | (random & 0x7f);
        bits |= bits << 8;
        break;
    default:
        bits = random & 0xff;
        bits |= bits << 8;
    }
    return bits << 48 | bits << 32 | bits << 16 | bits;
}

void
judge__poison(const struct judge__case *c, struct judge__slot *slot, uint64_t random)
{
    slot->poison = random;
    for (size_t t = c->program->input_count; t < c->tensor_count; t++) {
        const struct box_region *region = &slot->regions[t];
        uint64_t bits = pattern(judge__tensor(c, t)->dtype, random);
        uint64_t *at = (uint64_t *)start_of(c, region);

        for (size_t i = 0; i < region->span / 8; i++)
            at[i] = bits;
    }
}

#define COUNT_EQUAL(type)                                          \
    do {                                                           \
        const type *at = data, wanted = (type)bits;                \
        for (int64_t i = 0; i < count; i++)                        \
            equal += at[i] == wanted;                              \
        for (int64_t i = 0; equal && i < count && *first < 0; i++) \
            if (at[i] == wanted)                                   \
                *first = i;                                        \
    } while (0)

int64_t
judge__unwritten(const struct judge__case *c, const struct judge__slot *slot, size_t output,
                 int64_t *first)
{
    size_t t = c->program->input_count + output;
    const struct tensor *tensor = judge__tensor(c, t);
    const void *data = judge__data(c, slot, t);
    uint64_t bits = pattern(tensor->dtype, slot->poison);
    int64_t count = tensor->count, equal = 0;

    *first = -1;
    if (!dtype_is_float(tensor->dtype))
        return 0;
    switch (dtype_info[tensor->dtype].size) {
    case 8:
        COUNT_EQUAL(uint64_t);
        break;
    case 4:
        COUNT_EQUAL(uint32_t);
        break;
    default:
        COUNT_EQUAL(uint16_t);
    }
    return equal;
}

bool
judge__untouched(const struct judge__case *c, const struct judge__slot *slot, size_t output)
{
    size_t t = c->program->input_count + output;
    const struct box_region *region = &slot->regions[t];
    const unsigned char *data = judge__data(c, slot, t);
    uint64_t bits = pattern(judge__tensor(c, t)->dtype, slot->poison);
    unsigned char wanted[8];

    memcpy(wanted, &bits, sizeof wanted);
    for (size_t i = 0; i < region->bytes; i++)
        if (data[i] != wanted[i % 8])
            return false;
    return true;
}

int64_t
judge__overrun(const struct judge__case *c, const struct judge__slot *slot, size_t output)
{
    size_t t = c->program->input_count + output;
    const struct box_region *region = &slot->regions[t];
    const unsigned char *start = (const unsigned char *)start_of(c, region);
    uint64_t bits = pattern(judge__tensor(c, t)->dtype, slot->poison);
    unsigned char wanted[8];

    memcpy(wanted, &bits, sizeof wanted);
    for (size_t i = region->lead + region->bytes; i < region->span; i++)
        if (start[i] != wanted[i % 8])
            return (int64_t)(i - region->lead - region->bytes) + 1;
    for (size_t i = region->lead; i > 0; i--)
        if (start[i - 1] != wanted[(i - 1) % 8])
            return (int64_t)(i - 1) - (int64_t)region->lead;
    return 0;
}
