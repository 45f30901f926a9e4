/* What does not change in the loops that follow is computed before them, once: gcc cannot, where
 * what is stored might be what is read. Divisors get their reciprocal beside them. */
#include "coder/bound_int.h"

/* Only loops follow: nothing else is computed between here and the point. */
static bool
only_loops_follow(const struct nest *nest, size_t from)
{
    bool any = false;
    for (size_t i = from; i < nest->line->count; i++) {
        enum token_form form = nest->line->tokens[i].form;
        if (form == TOKEN_DO || form == TOKEN_PACK || form == TOKEN_ONLINE)
            return false;
        any = any || form == TOKEN_LOOP;
    }
    if (nest->online != NULL && !nest->tile_done)
        return false;
    for (unsigned m = 0; m < nest->members; m++)
        if (nest->member[m].work->reduce != NULL && !nest->member[m].open)
            return false;
    return any && nest->carry == NULL;
}

/* The host's levels that no later loop changes. */
static uint32_t
fixed_levels(const struct nest *nest, size_t from)
{
    uint32_t fixed = ~0u;
    for (size_t i = from; i < nest->line->count; i++)
        if (nest->line->tokens[i].form == TOKEN_LOOP)
            fixed &= ~(1u << nest->line->tokens[i].level);
    return fixed;
}

static bool
is_fixed(const struct member *member, const struct expr *e, uint32_t fixed)
{
    for (unsigned i = 0; i < member->work->levels; i++)
        if ((e->free & 1u << i) && !(fixed & 1u << member->map[i]))
            return false;
    return true;
}

/* Does it read what these loops write? */
static bool
reads_results(const struct nest *nest, const struct expr *e)
{
    for (unsigned m = 0; m < nest->members; m++)
        if (work_loads(e, nest->member[m].work->tensor, NULL, 0) > 0)
            return true;
    return false;
}

/* Will it be a vector? */
static bool
varies_in_lanes(const struct nest *nest, const struct member *member, const struct expr *e)
{
    for (size_t i = 0; i < nest->line->count; i++)
        for (unsigned l = 0; nest->line->tokens[i].mark == MARK_VECTOR && l < member->work->levels;
             l++)
            if (member->map[l] == (int)nest->line->tokens[i].level && (e->free & 1u << l))
                return true;
    return false;
}

static void
hoist_parts(struct nest *nest, const struct member *member, const struct expr *e, uint32_t fixed,
            unsigned depth)
{
    if (!e->loads || e->count == 0 || depth > 64 || value_is_known(nest, member, e))
        return;
    if (is_fixed(member, e, fixed)) {
        if (e->kind >= KIND_F32 && !reads_results(nest, e))
            value_hoist(nest, member, e);
        return;
    }
    if (e->op == OP_LOAD || e->op == OP_CAT || e->op == OP_REDUCE)
        return;
    for (unsigned i = 0; i < e->count; i++)
        hoist_parts(nest, member, e->args[i], fixed, depth + 1);
    if (e->op == OP_DIV && e->kind >= KIND_F32 && is_fixed(member, e->args[1], fixed) &&
        varies_in_lanes(nest, member, e->args[0]))
        value_hoist_reciprocal(nest, member, e->args[1]);
}

/* Does no term of it count here? */
static bool
is_empty(const struct nest *nest, const struct member *member)
{
    const struct expr *tests[BOUND_MOST + 1];
    bool never = false;
    if (member->work->reduce != NULL)
        bound_tests(nest, member, tests, &never);
    return never;
}

size_t
hoist_open(struct nest *nest, size_t from)
{
    size_t before = nest->hoisted_count;
    if (nest->em->failed || nest->conditional || !only_loops_follow(nest, from))
        return before;
    uint32_t fixed = fixed_levels(nest, from);
    value_forget(nest);
    for (unsigned m = 0; m < nest->members; m++) {
        const struct member *member = &nest->member[m];
        const struct work *work = member->work;
        bool cut =
            is_empty(nest, member); /* outside of its piece of a cat the terms may not be there */
        for (unsigned l = 0; l < work->rank; l++)
            cut = cut || work_is_cut(work, l);
        if (!cut)
            hoist_parts(nest, member, work->reduce != NULL ? work->reduce->args[0] : work->code,
                        fixed, 0);
    }
    nest->hoisted_count = nest->known_count;
    return before;
}

void
hoist_close(struct nest *nest, size_t before)
{
    nest->hoisted_count = before;
    nest->known_count = before;
}
