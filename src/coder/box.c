/* do(S): a producer computed where it is needed, for the box that the current tile reads. */
#include "coder/emit_int.h"

#include "base/num.h"

#include <inttypes.h>
#include <string.h>

/* ---- what is read ---- */

struct hull { /* of the subscripts in one dimension */
    bool any, whole;
    struct lin base; /* variables only */
    int64_t low, high;
    int64_t least, most; /* the values they take */
};

struct reader { /* an expression and where its indices are */
    const struct expr *code;
    const struct work *work;
    struct span span[LANG_MAX_LEVELS];
};

/* i/W where the loops go by whole rows of W: which rows the tile reads. False: that is not known.
 */
static bool
take_rows(struct arena *arena, const struct reader *reader, const struct expr *e, struct lin *base,
          int64_t *low, int64_t *high)
{
    if (e->op != OP_DIV || e->args[0]->op != OP_INDEX || e->args[1]->op != OP_INT ||
        e->args[1]->integer <= 0)
        return false;
    const struct span *span = &reader->span[e->args[0]->level];
    int64_t width = e->args[1]->integer;
    if (span->var != NULL && (span->unit == 0 || span->unit % width != 0))
        return false;
    *low = num_floor_div(span->add, width);
    *high = num_floor_div(span->add + span->extent - 1, width);
    if (span->var != NULL)
        lin_add_var(base, arena_printf(arena, "(%s / %" PRId64 ")", span->var, width), 1);
    return true;
}

/* The same of a sum of indices, each times a number. */
static bool
take_sum(const struct reader *reader, const struct expr *e, struct lin *base, int64_t *low,
         int64_t *high)
{
    int64_t coefficient[LANG_MAX_LEVELS], constant;
    if (!expr_affine(e, coefficient, &constant))
        return false;
    *low = *high = constant;
    for (unsigned i = 0; i < reader->work->levels; i++) {
        const struct span *span = &reader->span[i];
        int64_t c = (e->free & 1u << i) ? coefficient[i] : 0, room = c * (span->extent - 1);
        if (c == 0)
            continue;
        *low += c * span->add + (room < 0 ? room : 0);
        *high += c * span->add + (room > 0 ? room : 0);
        if (span->var != NULL)
            lin_add_var(base, span->var, c);
    }
    return true;
}

static void
add_subscript(struct arena *arena, struct hull *hull, const struct reader *reader,
              const struct expr *e)
{
    struct level levels[LANG_MAX_LEVELS] = {0};
    struct lin base = {0};
    int64_t low, high, least, most;
    if (hull->whole)
        return;
    if (!take_sum(reader, e, &base, &low, &high) &&
        !take_rows(arena, reader, e, &base, &low, &high)) {
        hull->whole = true;
        return;
    }
    for (unsigned i = 0; i < reader->work->levels; i++) {
        const struct span *span = &reader->span[i];
        levels[i] = (struct level){NULL, NULL, span->low, span->high + span->extent - 1};
    }
    expr_interval(e, levels, &least, &most);
    if (!hull->any) {
        *hull = (struct hull){true, false, base, low, high, least, most};
        return;
    }
    struct lin difference = base;
    lin_add(&difference, &hull->base, -1);
    if (difference.count > 0) {
        hull->whole = true;
        return;
    }
    hull->low = low < hull->low ? low : hull->low;
    hull->high = high > hull->high ? high : hull->high;
    hull->least = least < hull->least ? least : hull->least;
    hull->most = most > hull->most ? most : hull->most;
}

static void
add_loads(struct arena *arena, struct hull *hulls, const struct reader *reader,
          const struct tensor *tensor)
{
    const struct expr *loads[64];
    size_t count = work_loads(reader->code, tensor, loads, 64);
    for (size_t i = 0; i < count && i < 64; i++)
        for (unsigned d = 0; d < tensor->rank; d++)
            add_subscript(arena, &hulls[d], reader, loads[i]->args[d]);
    for (unsigned d = 0; count > 64 && d < tensor->rank; d++)
        hulls[d].whole = true;
}

/* ---- the box ---- */

/* The span of a dimension; declares a variable where no single one says it. */
static struct span
span_of(struct emitter *em, const struct hull *hull, int64_t size, const char *index)
{
    int64_t extent = hull->high - hull->low + 1;
    struct span whole = {.extent = size};
    if (!hull->any || hull->whole || extent >= size)
        return whole;
    if (hull->base.count == 0) {
        int64_t low = hull->low < 0 ? 0 : hull->low,
                high = hull->high >= size ? size - 1 : hull->high;
        if (high < low)
            return whole;
        return (struct span){.add = low, .extent = high - low + 1, .low = low, .high = low};
    }
    struct lin start = hull->base;
    start.add += hull->low;
    int64_t low = hull->least, high = hull->most - extent + 1;
    if (low >= 0 && hull->most < size && start.count == 1 && start.term[0].coefficient == 1)
        return (struct span){start.term[0].var, start.add, extent, low, high, 0};
    const char *var = code_name(em, index);
    if (low >= 0 && hull->most < size) {
        code_line(em, "const long %s = %s;", var, lin_text(em->arena, &start));
        return (struct span){var, 0, extent, low, high, 0};
    }
    /* Near the ends the box is moved inwards: it has the same size everywhere. */
    const char *text = lin_text(em->arena, &start);
    code_line(em, "const long %s = %s < 0 ? 0 : %s > %" PRId64 " ? %" PRId64 " : %s;", var, text,
              text, size - extent, size - extent, text);
    return (struct span){var, 0, extent, 0, size - extent, 0};
}

/* A guest that reduces over an index of its host needs all of it. */
static void
widen_for_guests(const struct schedule *schedule, const struct line *line, struct hull *hulls)
{
    for (size_t t = 0; t < line->count; t++) {
        const struct token *token = &line->tokens[t];
        if (token->form != TOKEN_WITH)
            continue;
        const struct work *guest = &schedule->works[token->stage];
        for (unsigned l = guest->rank; l < guest->levels; l++)
            if (token->map[l] < LANG_MAX_RANK)
                hulls[token->map[l]].whole = true;
    }
}

/* What the host, its guests, and stages computed later in its line read of a stage. */
static void
find_hulls(struct nest *nest, size_t at, size_t stage, struct hull *hulls, int depth)
{
    const struct schedule *schedule = nest->em->schedule;
    const struct tensor *tensor = schedule->works[stage].tensor;
    for (unsigned m = 0; m < nest->members; m++) {
        const struct member *member = &nest->member[m];
        /* as the program has it: online() reads what it makes of it */
        const struct work *work = &schedule->works[member->work->number];
        struct reader reader = {.code = work->code, .work = work};
        for (unsigned i = 0; i < member->work->levels; i++) {
            reader.span[i] = nest->span[member->map[i]];
            if (member->map[i] == nest->vector)
                reader.span[i].extent = nest->active;
        }
        add_loads(nest->em->arena, hulls, &reader, tensor);
    }
    for (size_t t = at + 1; t < nest->line->count && depth < 16; t++) {
        const struct token *token = &nest->line->tokens[t];
        if (token->form != TOKEN_DO)
            continue;
        const struct work *work = &schedule->works[token->stage];
        struct hull inner[LANG_MAX_RANK] = {0};
        struct reader reader = {.code = work->code, .work = work};
        bool reads = work_loads(work->code, tensor, NULL, 0) > 0;
        const struct line *line = &schedule->lines[token->stage];
        for (size_t g = 0; g < line->count && !reads; g++)
            reads = line->tokens[g].form == TOKEN_WITH &&
                    work_loads(schedule->works[line->tokens[g].stage].code, tensor, NULL, 0) > 0;
        if (!reads)
            continue;
        find_hulls(nest, t, token->stage, inner, depth + 1);
        widen_for_guests(schedule, line, inner);
        for (unsigned i = 0; i < work->levels; i++) {
            reader.span[i] = (struct span){.extent = work->extent[i]};
            if (i >= work->rank || !inner[i].any || inner[i].whole)
                continue;
            /* the same place, not yet moved inwards */
            const struct hull *h = &inner[i];
            if (h->base.count == 1 && h->base.term[0].coefficient == 1)
                reader.span[i] = (struct span){h->base.term[0].var,          h->low,
                                               h->high - h->low + 1,         h->least,
                                               h->most - (h->high - h->low), 0};
            else if (h->base.count == 0)
                reader.span[i] =
                    (struct span){NULL, h->low, h->high - h->low + 1, h->low, h->low, 0};
        }
        add_loads(nest->em->arena, hulls, &reader, tensor);
        for (size_t g = 0; g < line->count; g++)
            if (line->tokens[g].form == TOKEN_WITH) {
                const struct work *guest = &schedule->works[line->tokens[g].stage];
                struct reader other = {.code = guest->code, .work = guest};
                for (unsigned i = 0; i < guest->levels; i++)
                    other.span[i] = reader.span[line->tokens[g].map[i]];
                add_loads(nest->em->arena, hulls, &other, tensor);
            }
    }
}

static struct box *
new_box(struct nest *nest, const struct work *work, const struct span *at, bool *used)
{
    struct box *box = arena_alloc(nest->em->arena, sizeof *box);
    int64_t count = 1;
    box->outer = nest->boxes;
    box->used = used;
    box->tensor = work->tensor;
    box->whole = work->stored && work->in_place;
    for (unsigned i = 0; i < work->rank; i++) {
        box->at[i] = at[i];
        count *= at[i].extent;
    }
    if (!box->whole)
        box->name =
            code_scratch(nest, nest->em->storage[work->tensor->number], work->tensor->dtype, count);
    return box;
}

void
box_walk(struct nest *nest, size_t at)
{
    struct emitter *em = nest->em;
    const struct schedule *schedule = em->schedule;
    const struct token *token = &nest->line->tokens[at];
    const struct work *work = &schedule->works[token->stage];
    const struct line *line = &schedule->lines[token->stage];
    const struct box *outer = nest->boxes;
    struct hull hulls[LANG_MAX_RANK] = {0};
    struct span spans[LANG_MAX_LEVELS];
    bool *used = arena_alloc(em->arena, sizeof *used);
    size_t start = em->out->length;
    find_hulls(nest, at, token->stage, hulls, 0);
    widen_for_guests(schedule, line, hulls);
    for (unsigned i = 0; i < work->levels; i++)
        spans[i] = i < work->rank ? span_of(em, &hulls[i], work->extent[i], work->index[i])
                                  : (struct span){.extent = work->extent[i]};
    nest->boxes = new_box(nest, work, spans, used);
    for (size_t i = 0; i < line->count; i++)
        if (line->tokens[i].form == TOKEN_WITH) {
            const struct work *guest = &schedule->works[line->tokens[i].stage];
            struct span guest_spans[LANG_MAX_RANK];
            for (unsigned d = 0; d < guest->rank; d++)
                guest_spans[d] = spans[line->tokens[i].map[d]];
            nest->boxes = new_box(nest, guest, guest_spans, used);
        }
    code_open(em, "{");
    nest_stage(em, token->stage, spans, nest);
    code_close(em);
    size_t end = em->out->length;
    *used = work->stored && work->in_place;
    size_t before = hoist_open(nest, at + 1);
    nest_walk(nest, at + 1);
    hoist_close(nest, before);
    nest->boxes = outer;
    if (!*used) /* this tile reads its defaults only */
        code_remove(em, start, end);
}

const struct box *
box_find(const struct nest *nest, const struct tensor *tensor)
{
    const struct box *box = nest->boxes;
    while (box != NULL && box->tensor != tensor)
        box = box->outer;
    return box;
}
