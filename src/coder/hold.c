/* Vectors that several rows of a tile of registers read: loaded once for all of them, by name. So
 * are those of a window: what one row reads at its second term, the next one has read at its first.
 *
 * Left to itself gcc folds the load into each product of a tile of few rows, so that the loads are
 * what takes the time, and not the products: hone.h's hold() is for that. */
#include "coder/value_int.h"
#include "coder/view_int.h"

#include <string.h>

struct held {
    const char *text, *name;
    uint32_t across; /* reduction levels whose next terms read it again */
};

/* Does the load stay while an index of the tile moves, with nothing but unrolled code between? */
static bool
is_read_again(const struct nest *nest, const struct member *member, const struct expr *load)
{
    for (size_t i = nest->line->count; i-- > member->acc;) {
        const struct token *token = &nest->line->tokens[i];
        if (token->form != TOKEN_LOOP || token->mark == MARK_VECTOR ||
            nest->before[i].extent <= token->step)
            continue;
        if (token->mark != MARK_UNROLL)
            return false;
        for (unsigned l = 0; l < member->work->rank; l++)
            if (member->map[l] == (int)token->level && !(load->free & 1u << l))
                return true;
    }
    return false;
}

static int64_t
copies_of(const struct nest *nest, size_t at)
{
    int64_t step = nest->line->tokens[at].step;
    return (nest->before[at].extent + step - 1) / step;
}

/* Reduction levels across which rows of the tile read the same of a window, as far as there are
 * registers for what is between. */
static uint32_t
levels_across(const struct nest *nest, const struct member *member, const struct expr *load)
{
    const struct work *work = member->work;
    int64_t registers = nest->em->schedule->vector_bytes == 64 ? 32 : 16, results = 1;
    int64_t live = 1;
    uint32_t across = 0;
    for (size_t i = member->acc; i < nest->line->count; i++)
        if (nest->line->tokens[i].form == TOKEN_LOOP && nest->line->tokens[i].mark == MARK_UNROLL &&
            work_is_left(work, nest->line->tokens[i].level))
            results *= copies_of(nest, i);
    for (size_t i = nest->line->count; i-- > member->acc;) {
        const struct token *token = &nest->line->tokens[i];
        if (token->form != TOKEN_LOOP || token->mark == MARK_VECTOR || copies_of(nest, i) == 1)
            continue;
        if (token->mark != MARK_UNROLL)
            break;
        for (size_t j = i + 1; j < nest->line->count && !work_is_left(work, token->level); j++) {
            const struct token *row = &nest->line->tokens[j];
            if (row->form == TOKEN_LOOP && row->mark == MARK_UNROLL &&
                work_is_left(work, row->level) && copies_of(nest, j) > 1 &&
                view_overlaps(load, row->level, token->level, copies_of(nest, i)) &&
                results + live + 2 <= registers)
                across |= 1u << token->level;
        }
        live *= load->free & 1u << token->level ? copies_of(nest, i) : 1;
    }
    return across;
}

void
hold_forget(struct nest *nest, unsigned level)
{
    size_t kept = 0;
    for (size_t i = 0; i < nest->held_count; i++)
        if (nest->held[i].across & 1u << level)
            nest->held[kept++] = nest->held[i];
    nest->held_count = kept;
}

static const char *
find(struct nest *nest, const char *text)
{
    if (nest->held_block != nest->em->blocks)
        nest->held_count = 0;
    nest->held_block = nest->em->blocks;
    for (size_t i = 0; i < nest->held_count; i++)
        if (strcmp(nest->held[i].text, text) == 0)
            return nest->held[i].name;
    return NULL;
}

static const char *
add(struct nest *nest, struct value value, uint32_t across)
{
    const char *hold = code_helper(nest->em, value.lane == LANE_F64 ? "vf64_hold" : "vf32_hold");
    const char *text = value.text;
    value.text = value_say(nest, "%s(%s)", hold, text);
    value = value_named(nest, "x", value);
    if (nest->held_count == nest->held_capacity) {
        nest->held_capacity = nest->held_capacity ? 2 * nest->held_capacity : 8;
        nest->held = arena_grow(nest->em->arena, nest->held, nest->held_count, nest->held_capacity,
                                sizeof *nest->held);
    }
    nest->held[nest->held_count++] = (struct held){text, value.text, across};
    return value.text;
}

struct value
hold_load(struct nest *nest, const struct member *member, const struct expr *load,
          struct value value)
{
    bool native = value.lane == (nest_is_wide(nest) ? LANE_F64 : LANE_F32);
    if (!value.vector || !native || nest->conditional || nest->members > 1 || !member->open)
        return value;
    uint32_t across = levels_across(nest, member, load);
    if (across == 0 && !is_read_again(nest, member, load))
        return value;
    const char *name = find(nest, value.text);
    value.text = name != NULL ? name : add(nest, value, across);
    return value;
}
