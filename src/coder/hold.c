/* Vectors that several rows of a tile of registers read: loaded once for all of them, by name.
 *
 * Left to itself gcc folds the load into each product of a tile of few rows, so that the loads are
 * what takes the time, and not the products: hone.h's hold() is for that. */
#include "coder/value_int.h"

#include <string.h>

struct held {
    const char *text, *name;
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

void
hold_forget(struct nest *nest)
{
    nest->held_count = 0;
}

static const char *
find(struct nest *nest, const char *text)
{
    if (nest->held_block != nest->em->blocks)
        hold_forget(nest);
    nest->held_block = nest->em->blocks;
    for (size_t i = 0; i < nest->held_count; i++)
        if (strcmp(nest->held[i].text, text) == 0)
            return nest->held[i].name;
    return NULL;
}

static const char *
add(struct nest *nest, struct value value)
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
    nest->held[nest->held_count++] = (struct held){text, value.text};
    return value.text;
}

struct value
hold_load(struct nest *nest, const struct member *member, const struct expr *load,
          struct value value)
{
    bool native = value.lane == (nest_is_wide(nest) ? LANE_F64 : LANE_F32);
    if (!value.vector || !native || nest->conditional || nest->members > 1 || !member->open ||
        !is_read_again(nest, member, load))
        return value;
    const char *name = find(nest, value.text);
    value.text = name != NULL ? name : add(nest, value);
    return value;
}
