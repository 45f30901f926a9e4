/* pack(T): a copy of what the loops below read, in the order in which they read it. */
#include "coder/emit_int.h"
#include "coder/view_int.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define PACK_MOST ((int64_t)256 << 20) /* bytes */
#define LEAST_COLUMN 4                 /* elements: shorter ones are not worth squares */

/* The loop tokens behind `at` over indices that the access depends on. */
static bool
is_part(const struct nest *nest, size_t at, uint32_t free)
{
    const struct token *token = &nest->line->tokens[at];
    return token->form == TOKEN_LOOP && (free & 1u << token->level);
}

/* ---- layout ---- */

/* Sizes of the copy by token, from the tile at the pack; elements in all. */
static int64_t
lay_out(const struct nest *nest, struct pack *pack)
{
    int64_t extent[LANG_MAX_LEVELS], size[CODER_MAX_TOKENS], total = 1;
    uint32_t free = pack->load->free;
    for (unsigned i = 0; i < LANG_MAX_LEVELS; i++)
        extent[i] = nest->span[i].extent;
    for (size_t i = pack->token + 1; i < nest->line->count; i++) {
        if (!is_part(nest, i, free))
            continue;
        const struct token *token = &nest->line->tokens[i];
        int64_t all = extent[token->level], lanes = nest->lanes;
        if (token->mark == MARK_VECTOR) {
            size[i] = (all + lanes - 1) / lanes * lanes;
            extent[token->level] = 1;
        } else {
            size[i] = (all + token->step - 1) / token->step;
            extent[token->level] = token->step < all ? token->step : all;
        }
    }
    for (size_t i = nest->line->count; i-- > pack->token + 1;)
        if (is_part(nest, i, free)) {
            pack->stride[i] = total;
            total *= size[i];
        }
    return total;
}

/* How far the index has moved in the loop of token number `at`, in elements. */
static struct lin
moved(const struct nest *nest, size_t at)
{
    unsigned level = nest->line->tokens[at].level;
    const struct span *now = &nest->span[level], *then = &nest->before[at];
    for (size_t i = at + 1; i < nest->line->count; i++)
        if (nest->line->tokens[i].form == TOKEN_LOOP && nest->line->tokens[i].level == level) {
            now = &nest->before[i];
            break;
        }
    struct lin lin = {.add = now->add - then->add};
    if (now->var != NULL)
        lin_add_var(&lin, now->var, 1);
    if (then->var != NULL)
        lin_add_var(&lin, then->var, -1);
    return lin;
}

/* Adds steps of a loop times the stride of the copy. */
static void
add_steps(struct nest *nest, struct lin *offset, const struct lin *elements, int64_t step,
          int64_t stride)
{
    if (lin_is_number(elements))
        offset->add += elements->add / step * stride;
    else if (stride % step == 0)
        lin_add(offset, elements, stride / step);
    else
        lin_add_var(offset,
                    arena_printf(nest->em->arena, "((%s)/%" PRId64 ")",
                                 lin_text(nest->em->arena, elements), step),
                    stride);
}

static int64_t
step_of(const struct token *token)
{
    return token->mark == MARK_VECTOR ? 1 : token->step;
}

const char *
pack_address(struct nest *nest, const struct member *member, const struct expr *load,
             int64_t *stride)
{
    const struct pack *pack = nest->packs;
    struct lin offset = {0};
    while (pack != NULL && pack->load != load)
        pack = pack->outer;
    if (pack == NULL || member->work != nest->member[0].work)
        return NULL;
    *stride = 0;
    for (size_t i = pack->token + 1; i < nest->line->count; i++) {
        if (!is_part(nest, i, load->free))
            continue;
        const struct token *token = &nest->line->tokens[i];
        struct lin elements = moved(nest, i);
        add_steps(nest, &offset, &elements, step_of(token), pack->stride[i]);
        if (token->mark == MARK_VECTOR && nest->vector == (int)token->level)
            *stride = pack->stride[i];
    }
    if (lin_is_number(&offset) && offset.add == 0)
        return pack->name;
    return arena_printf(nest->em->arena, "%s + %s", pack->name, lin_text(nest->em->arena, &offset));
}

void
pack_use(const struct nest *nest, const struct expr *load)
{
    for (const struct pack *pack = nest->packs; pack != NULL; pack = pack->outer)
        if (pack->load == load)
            *pack->used = true;
}

/* ---- copying ---- */

struct copying {
    struct nest nest; /* spans as the copy's own loops set them */
    const struct pack *pack;
    const char *end[LANG_MAX_LEVELS]; /* of each index's tile */
    bool ragged[LANG_MAX_LEVELS];     /* the tile may be smaller than its extent says */
    bool threads;                     /* the first loop may be spread */
};

static void
copy_element(struct copying *copying, const struct lin *offset)
{
    struct nest *nest = &copying->nest;
    struct emitter *em = nest->em;
    const struct expr *load = copying->pack->load;
    value_forget(nest);
    struct value value = value_of(nest, &nest->member[0], load, NULL);
    code_line(em, "%s[%s] = %s;", copying->pack->name, lin_text(em->arena, offset),
              value_element(em, load->tensor->dtype, value));
}

/* `offset` behind the copy's start for the element that a loop variable stands for. */
static struct lin
offset_at(struct copying *copying, size_t at, const struct span *start, const char *var,
          const struct lin *offset)
{
    const struct token *token = &copying->nest.line->tokens[at];
    struct lin here = *offset, elements = {.add = -start->add};
    lin_add_var(&elements, var, 1);
    if (start->var != NULL)
        lin_add_var(&elements, start->var, -1);
    add_steps(&copying->nest, &here, &elements, step_of(token), copying->pack->stride[at]);
    return here;
}

/* Do vectors of the copy lie in one piece in the tensor too? */
static bool
has_vectors(const struct copying *copying, size_t at)
{
    const struct token *token = &copying->nest.line->tokens[at];
    const struct expr *load = copying->pack->load;
    int64_t stride;
    return token->mark == MARK_VECTOR && copying->pack->stride[at] == 1 &&
           load->tensor->dtype == DTYPE_F32 && !copying->nest.member[0].work->wide &&
           view_stride(load, token->level, &stride) && stride == 1 &&
           copying->nest.span[token->level].extent >= copying->nest.lanes;
}

/* No other loop of the copy is inside of this one. */
static bool
is_last(const struct copying *copying, size_t at)
{
    const struct nest *nest = &copying->nest;
    for (size_t i = at + 1; i < nest->line->count; i++)
        if (is_part(nest, i, copying->pack->load->free))
            return false;
    return true;
}

/* Rows of a tile that lie in one piece in the tensor too, of a size that is known. */
static bool
is_run(const struct copying *copying, size_t at)
{
    const struct token *token = &copying->nest.line->tokens[at];
    const struct expr *load = copying->pack->load;
    int64_t stride;
    for (unsigned d = 0; d < load->tensor->rank; d++)
        if (load->args[d]->loads)
            return false;
    return is_last(copying, at) && box_find(&copying->nest, load->tensor) == NULL &&
           copying->pack->stride[at] == 1 && step_of(token) == 1 &&
           load->tensor->dtype == DTYPE_F32 && !copying->nest.member[0].work->wide &&
           expr_default(load) == NULL && view_stride(load, token->level, &stride) && stride == 1 &&
           !copying->ragged[token->level];
}

static void
copy_run(struct copying *copying, size_t at, const struct lin *offset)
{
    struct nest *nest = &copying->nest;
    const struct expr *load = copying->pack->load;
    struct lin subscripts[LANG_MAX_RANK];
    for (unsigned d = 0; d < load->tensor->rank; d++)
        subscripts[d] = subscript_form(nest, &nest->member[0], load->args[d]);
    code_line(nest->em, "memcpy(&%s[%s], %s, %" PRId64 " * sizeof(float));", copying->pack->name,
              lin_text(nest->em->arena, offset),
              value_address(nest, &nest->member[0], load->tensor, subscripts),
              nest->span[nest->line->tokens[at].level].extent);
}

static void
copy_vector(struct copying *copying, unsigned level, const struct lin *offset)
{
    struct nest *nest = &copying->nest;
    nest->vector = (int)level;
    nest->active = nest->lanes;
    value_forget(nest);
    struct value value = value_of(nest, &nest->member[0], copying->pack->load, NULL);
    value = value_as(nest, value, LANE_F32, true);
    nest->vector = -1;
    code_line(nest->em, "%s(%s + %s, %s);", code_helper(nest->em, "vf32_store"),
              copying->pack->name, lin_text(nest->em->arena, offset), value.text);
}

/* Whole vectors, then what is left one by one. */
static void
copy_lanes(struct copying *copying, size_t at, const struct lin *offset)
{
    struct nest *nest = &copying->nest;
    struct emitter *em = nest->em;
    unsigned level = nest->line->tokens[at].level;
    struct span *span = &nest->span[level], saved = *span;
    const char *end = copying->end[level], *start = span_text(em, &saved, 0);
    bool whole = !copying->ragged[level] && saved.extent % nest->lanes == 0;
    if (whole && saved.extent == nest->lanes) {
        copy_vector(copying, level, offset);
        return;
    }
    const char *var = code_name(em, nest->member[0].work->index[level]);
    int64_t high = saved.high + saved.extent;
    struct lin here = offset_at(copying, at, &saved, var, offset);
    if (!whole)
        code_line(em, "long %s = %s;", var, start);
    if (whole)
        code_open(em, "for (long %s = %s; %s < %s; %s += %u) {", var, start, var, end, var,
                  nest->lanes);
    else
        code_open(em, "for (; %s + %u <= %s; %s += %u) {", var, nest->lanes, end, var, nest->lanes);
    *span = (struct span){var, 0, nest->lanes, saved.low, high - nest->lanes, 0};
    copy_vector(copying, level, &here);
    code_close(em);
    if (!whole) {
        code_open(em, "for (; %s < %s; %s += 1) {", var, end, var);
        *span = (struct span){var, 0, 1, saved.low, high - 1, 0};
        copy_element(copying, &here);
        code_close(em);
    }
    *span = saved;
}

/* ---- copies across: what lies in one piece in the tensor is a column of the copy ---- */

/* The loop is along rows of the tensor, what is inside of it along columns of the copy, which lie
 * end to end. */
static bool
goes_across(const struct copying *copying, size_t at)
{
    const struct nest *nest = &copying->nest;
    const struct expr *load = copying->pack->load;
    const struct token *token = &nest->line->tokens[at];
    int64_t stride;
    int level = -1;
    bool lanes = false;
    if (token->mark == MARK_VECTOR || token->step != 1 || load->tensor->dtype != DTYPE_F32 ||
        nest->member[0].work->wide || expr_default(load) != NULL ||
        nest->span[token->level].extent < nest->lanes ||
        !view_stride(load, token->level, &stride) || stride != 1)
        return false;
    for (size_t i = at + 1; i < nest->line->count; i++) {
        const struct token *inner = &nest->line->tokens[i];
        if (!is_part(nest, i, load->free))
            continue;
        if ((level >= 0 && level != (int)inner->level) ||
            copying->pack->stride[i] != step_of(inner))
            return false;
        level = (int)inner->level;
        lanes = inner->mark == MARK_VECTOR;
    }
    if (level < 0 || !view_stride(load, (unsigned)level, &stride))
        return false;
    int64_t column = nest->span[level].extent;
    return lanes ? column % nest->lanes == 0 && !copying->ragged[level]
                 : column >= LEAST_COLUMN && copying->pack->stride[at] == column;
}

/* A square of as many rows as a vector has lanes, or what is left of it. A vector of fewer than
 * that goes on into the next columns, which are stored after it; behind the last it must not. */
static void
copy_square(struct copying *copying, unsigned along, unsigned across, const struct lin *offset,
            int64_t stride)
{
    struct nest *nest = &copying->nest;
    struct emitter *em = nest->em;
    const char *rows = code_name(em, "rows");
    const char *vector = code_helper(em, "vf32_transpose");
    struct span saved = nest->span[across];
    unsigned count = saved.extent < nest->lanes ? (unsigned)saved.extent : nest->lanes;
    code_line(em, "vf32 %s[%u]%s;", rows, nest->lanes, count < nest->lanes ? " = {0}" : "");
    nest->vector = (int)along;
    nest->active = nest->lanes;
    nest->span[across].extent = 1;
    for (unsigned i = 0; i < count; i++) {
        value_forget(nest);
        nest->span[across].add = saved.add + i;
        struct value value = value_of(nest, &nest->member[0], copying->pack->load, NULL);
        code_line(em, "%s[%u] = %s;", rows, i, value.text);
    }
    nest->vector = -1;
    nest->span[across] = saved;
    code_line(em, "%s(%s);", vector, rows);
    for (unsigned i = 0; i < nest->lanes; i++) {
        struct lin here = *offset;
        here.add += i * stride;
        const char *to = lin_text(em->arena, &here);
        if (count < nest->lanes && (nest->lanes - i) * stride < stride - count + nest->lanes)
            code_line(em, "%s(%s + %s, %s[%u], %u);", code_helper(em, "vf32_store_tail"),
                      copying->pack->name, to, rows, i, count);
        else
            code_line(em, "%s(%s + %s, %s[%u]);", code_helper(em, "vf32_store"),
                      copying->pack->name, to, rows, i);
    }
}

/* All squares of a column, the smaller one first: the next overwrites what it has too much. */
static void
copy_squares(struct copying *copying, size_t at, unsigned across, const struct lin *offset)
{
    struct nest *nest = &copying->nest;
    const struct span tile = nest->span[across];
    int64_t lanes = nest->lanes;
    for (int64_t from = (tile.extent - 1) / lanes * lanes; from >= 0; from -= lanes) {
        struct lin square = *offset;
        square.add += from;
        nest->span[across] = tile;
        nest->span[across].add += from;
        nest->span[across].low += from;
        nest->span[across].high += from;
        nest->span[across].extent = tile.extent - from;
        code_open(nest->em, "{");
        copy_square(copying, nest->line->tokens[at].level, across, &square,
                    copying->pack->stride[at]);
        code_close(nest->em);
    }
    nest->span[across] = tile;
}

static void
copy_from(struct copying *copying, size_t at, const struct lin *offset);

/* Squares as far as they go, then the rest row by row. */
static void
copy_across(struct copying *copying, size_t at, const struct lin *offset)
{
    struct nest *nest = &copying->nest;
    struct emitter *em = nest->em;
    unsigned along = nest->line->tokens[at].level, across = along;
    struct span saved = nest->span[along];
    const char *end = copying->end[along];
    int64_t high = saved.high + saved.extent;
    for (size_t i = at + 1; i < nest->line->count; i++)
        if (is_part(nest, i, copying->pack->load->free))
            across = nest->line->tokens[i].level;
    const struct span *tile = &nest->span[across];
    const char *var = code_name(em, nest->member[0].work->index[along]), *whole = "";
    if (copying->ragged[across])
        whole = arena_printf(em->arena, "%s == %s && ", copying->end[across],
                             span_text(em, tile, tile->extent));
    code_line(em, "long %s = %s;", var, span_text(em, &saved, 0));
    code_open(em, "for (; %s%s + %u <= %s; %s += %u) {", whole, var, nest->lanes, end, var,
              nest->lanes);
    nest->span[along] = (struct span){var, 0, nest->lanes, saved.low, high - nest->lanes, 0};
    struct lin here = offset_at(copying, at, &saved, var, offset);
    copy_squares(copying, at, across, &here);
    code_close(em);
    code_open(em, "for (; %s < %s; %s += 1) {", var, end, var);
    nest->span[along] = (struct span){var, 0, 1, saved.low, high - 1, 0};
    copy_from(copying, at + 1, &here);
    code_close(em);
    nest->span[along] = saved;
}

static void
copy_from(struct copying *copying, size_t at, const struct lin *offset)
{
    struct nest *nest = &copying->nest;
    struct emitter *em = nest->em;
    uint32_t free = copying->pack->load->free;
    while (at < nest->line->count && !is_part(nest, at, free))
        at++;
    if (at == nest->line->count) {
        copy_element(copying, offset);
        return;
    }
    const struct token *token = &nest->line->tokens[at];
    struct span *span = &nest->span[token->level], saved = *span;
    int64_t step = step_of(token);
    if (saved.extent <= step) { /* one step */
        copy_from(copying, at + 1, offset);
        return;
    }
    if (has_vectors(copying, at) && is_last(copying, at)) {
        copy_lanes(copying, at, offset);
        return;
    }
    if (is_run(copying, at) && !copying->threads) {
        copy_run(copying, at, offset);
        return;
    }
    if (goes_across(copying, at) && !copying->threads) {
        copy_across(copying, at, offset);
        return;
    }
    const char *saved_end = copying->end[token->level];
    bool saved_ragged = copying->ragged[token->level];
    const char *var = code_name(em, nest->member[0].work->index[token->level]);
    if (copying->threads)
        code_line(em, "#pragma omp parallel for");
    copying->threads = false;
    code_open(em, "for (long %s = %s; %s < %s; %s += %" PRId64 ") {", var, span_text(em, &saved, 0),
              var, saved_end, var, step);
    *span = (struct span){var, 0, step, saved.low, saved.high + saved.extent - step, 0};
    struct lin here = offset_at(copying, at, &saved, var, offset);
    if (step > 1) {
        const char *end = code_name(em, "end");
        copying->ragged[token->level] = saved_ragged || saved.extent % step != 0;
        if (copying->ragged[token->level])
            code_line(em, "const long %s = %s + %" PRId64 " < %s ? %s + %" PRId64 " : %s;", end,
                      var, step, saved_end, var, step, saved_end);
        else
            code_line(em, "const long %s = %s + %" PRId64 ";", end, var, step);
        copying->end[token->level] = end;
    }
    copy_from(copying, at + 1, &here);
    code_close(em);
    copying->end[token->level] = saved_end;
    copying->ragged[token->level] = saved_ragged;
    *span = saved;
}

/* Ranges over the whole tile, so that what may lie outside has its default. */
static void
copy_out(struct nest *nest, const struct pack *pack)
{
    struct copying *copying = arena_alloc(nest->em->arena, sizeof *copying);
    struct lin offset = {0};
    copying->nest = *nest;
    copying->nest.packs = NULL;
    copying->nest.known = NULL;
    copying->nest.known_count = copying->nest.known_capacity = 0;
    copying->pack = pack;
    copying->threads = !nest->parallel;
    for (unsigned i = 0; i < nest->member[0].work->levels; i++) {
        const struct span *span = &nest->span[i];
        copying->end[i] = span_text(nest->em, span, span->extent);
    }
    copy_from(copying, pack->token + 1, &offset);
}

/* Can it be read at every point of these ranges, its default too? In a piece of a cat it need not.
 */
static bool
is_readable(const struct expr *e, const struct level *levels)
{
    int64_t low, high;
    if (!e->loads)
        return true;
    for (unsigned i = 0; e->op == OP_LOAD && expr_default(e) == NULL && i < e->tensor->rank; i++) {
        expr_interval(e->args[i], levels, &low, &high);
        if (low < 0 || high >= e->tensor->size[i])
            return false;
    }
    for (unsigned i = 0; i < e->count; i++)
        if (!is_readable(e->args[i], levels))
            return false;
    return true;
}

/* Is the default a value that a copy in the tensor's own type keeps? */
static bool
holds_default(const struct work *work, const struct expr *load)
{
    const struct expr *e = expr_default(load);
    enum dtype dtype = load->tensor->dtype;
    struct level levels[LANG_MAX_LEVELS];
    int64_t low, high;
    if (e == NULL)
        return true;
    if (dtype_is_float(dtype)) {
        if (dtype == DTYPE_F64 || (dtype == DTYPE_F32 && load->kind != KIND_F64))
            return true;
        double element, x = expr_is_constant(e) ? (double)(float)expr_real(e) : NAN;
        dtype_set_element(dtype, &element, 0, x);
        return dtype_element(dtype, &element, 0) == x;
    }
    if (load->kind != dtype_info[dtype].kind)
        return false;
    work_ranges(work, levels);
    expr_interval(e, levels, &low, &high);
    int64_t top = (int64_t)dtype_info[dtype].largest;
    return low >= (dtype == DTYPE_I32 || dtype == DTYPE_I8 ? -top - 1 : 0) && high <= top;
}

/* Declares and fills the copy; NULL after errors. */
static struct pack *
make_pack(struct nest *nest, size_t at)
{
    struct emitter *em = nest->em;
    const struct token *token = &nest->line->tokens[at];
    const struct work *work = nest->member[0].work;
    const struct expr *loads[32];
    const struct expr *where = work->reduce != NULL ? work->reduce->args[0] : work->code;
    size_t count = work_loads(where, token->tensor, loads, 32);
    if ((size_t)token->number > count || token->number > 32) {
        code_fail(em, token->place, "%s: %s reads %s %zu times in its loops; %s", token->text,
                  work->tensor->name, token->tensor->name, count,
                  count == 0 ? "leave it out" : "write a number up to that");
        return NULL;
    }
    for (const struct pack *other = nest->packs; other != NULL; other = other->outer)
        if (other->load == loads[token->number - 1]) {
            code_fail(em, token->place, "%s: this access is copied already; once is enough",
                      token->text);
            return NULL;
        }
    struct level levels[LANG_MAX_LEVELS];
    work_ranges(work, levels);
    if (!is_readable(loads[token->number - 1], levels)) {
        code_fail(em, token->place,
                  "%s: %s is read in a piece of a cat only, and not all of the tile is in it; "
                  "leave it out",
                  token->text, token->tensor->name);
        return NULL;
    }
    if (!holds_default(work, loads[token->number - 1])) {
        code_fail(em, token->place,
                  "%s: %s is %s, which does not hold what is read outside of it; leave it out",
                  token->text, token->tensor->name, dtype_info[token->tensor->dtype].name);
        return NULL;
    }
    struct pack *pack = arena_alloc(em->arena, sizeof *pack);
    *pack = (struct pack){.outer = nest->packs, .load = loads[token->number - 1], .token = at};
    int64_t elements = lay_out(nest, pack);
    if (elements > PACK_MOST / (int64_t)dtype_info[token->tensor->dtype].size) {
        code_fail(
            em, token->place,
            "%s: the copy would take more than 256 MB; write it below a tile of fewer elements",
            token->text);
        return NULL;
    }
    pack->used = arena_alloc(em->arena, sizeof *pack->used);
    pack->name =
        code_scratch(nest, em->storage[token->tensor->number], token->tensor->dtype, elements);
    code_line(em, "/* a copy, in the order in which the loops below read it */");
    copy_out(nest, pack);
    return pack;
}

/* The index of a loop around the steps that an access depends on, or NULL. */
static const char *
shared_index(const struct nest *nest, const struct expr *load)
{
    const struct work *work = nest->member[0].work;
    const struct line *line = &nest->em->schedule->recs[work->stage->rec];
    for (size_t i = 0; i < line->count; i++) {
        const struct token *token = &line->tokens[i];
        int level = token->form == TOKEN_LOOP ? work_left_level(work, token->name) : -1;
        if (level >= 0 && (load->free & 1u << level))
            return token->name;
    }
    return NULL;
}

/* The copies that a line begins with can be made before the steps of its block, if what they copy
 * does not change with them. */
void
pack_hoist(struct nest *nest)
{
    struct emitter *em = nest->em;
    const struct work *work = nest->member[0].work;
    for (size_t at = 0; at < nest->line->count && !em->failed; at++) {
        const struct token *token = &nest->line->tokens[at];
        if (token->form == TOKEN_INLINE)
            continue;
        bool inside = token->form == TOKEN_PACK && token->tensor->stage != NULL &&
                      token->tensor->stage->rec == work->stage->rec;
        if (token->form != TOKEN_PACK || inside)
            return;
        struct pack *pack = make_pack(nest, at);
        if (pack == NULL)
            return;
        if (pack->load->free & 1u << work->stage->carried)
            code_fail(em, token->place,
                      "%s: what is copied changes from step to step; put it "
                      "behind a loop",
                      token->text);
        const char *shared = shared_index(nest, pack->load);
        if (shared != NULL)
            code_fail(em, token->place,
                      "%s: what is copied depends on %s, by which the steps are shared; put it "
                      "behind a loop",
                      token->text, shared);
        pack->line = nest->line;
        pack->hoisted = em->hoisted;
        em->hoisted = pack;
    }
}

static struct pack *
find_hoisted(const struct nest *nest, size_t at)
{
    struct pack *pack = nest->em->hoisted;
    while (pack != NULL && !(pack->line == nest->line && pack->token == at))
        pack = pack->hoisted;
    return pack;
}

void
pack_walk(struct nest *nest, size_t at)
{
    struct emitter *em = nest->em;
    struct pack *pack = find_hoisted(nest, at);
    if (pack != NULL) {
        pack->outer = nest->packs;
        nest->packs = pack;
        nest_walk(nest, at + 1);
        nest->packs = pack->outer;
        return;
    }
    size_t start = em->out->length;
    pack = make_pack(nest, at);
    if (pack == NULL)
        return;
    size_t end = em->out->length;
    nest->packs = pack;
    nest_walk(nest, at + 1);
    nest->packs = pack->outer;
    if (!*pack->used) { /* this tile lies in another piece of a cat */
        code_remove(em, start, end);
    }
}
