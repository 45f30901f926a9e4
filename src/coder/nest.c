/* Loops: the walk over the tokens of a line. */
#include "coder/bound_int.h"
#include "coder/online_int.h"

#include "base/num.h"

#include <inttypes.h>
#include <string.h>

/* ---- steps of a loop ---- */

/* From here inwards with the index at this span. */
static void
walk_at(struct nest *nest, size_t at, struct span span)
{
    unsigned level = nest->line->tokens[at].level;
    struct span saved = nest->span[level];
    nest->before[at] = saved;
    nest->span[level] = span;
    size_t before = hoist_open(nest, at + 1);
    nest_walk(nest, at + 1);
    hoist_close(nest, before);
    nest->span[level] = saved;
}

const char *
span_text(struct emitter *em, const struct span *span, int64_t more)
{
    struct lin lin = {.add = span->add + more};
    if (span->var != NULL)
        lin_add_var(&lin, span->var, 1);
    return lin_text(em->arena, &lin);
}

static struct span
part_of(const struct span *span, int64_t from, int64_t extent)
{
    struct span part = *span;
    part.add += from;
    part.extent = extent;
    part.low += from;
    part.high += from;
    return part;
}

/* The tile that a loop variable stands for: it runs over `count` steps from the span's start. */
static struct span
looped(const struct span *span, const char *var, int64_t step, int64_t count)
{
    int64_t unit =
        num_common_divisor(step, num_common_divisor(span->add, span->var ? span->unit : 0));
    bool known = span->var == NULL || span->unit > 0;
    return (struct span){
        var, 0, step, span->low, span->high + (count - 1) * step, known ? unit : 0};
}

/* Reduction loops outside of the accumulators: is this the first, the last pass? */
static bool
is_outer_reduction(const struct nest *nest, size_t at)
{
    const struct member *host = &nest->member[0];
    return host->work->reduce != NULL && at < host->acc &&
           !work_is_left(host->work, nest->line->tokens[at].level);
}

static void
push_condition(struct nest *nest, const char *first, const char *last)
{
    nest->first[nest->conditions] = first;
    nest->last[nest->conditions++] = last;
}

/* ---- loops ---- */

typedef void
walk_step(struct nest *nest, size_t at, struct span span);

/* One of the loops that follow one another over the same variable. */
static void
run_piece(struct nest *nest, size_t at, struct span tile, const char *end, walk_step *walk,
          uint32_t holds)
{
    struct emitter *em = nest->em;
    uint32_t saved = nest->holds;
    nest->holds |= holds;
    code_open(em, "for (; %s < %s; %s += %" PRId64 ") {", tile.var, end, tile.var, tile.extent);
    walk(nest, at, tile);
    code_close(em);
    nest->holds = saved;
}

/* The full steps of a loop: all, or as far as bounds reach, without tests where none are needed. */
static void
run_steps(struct nest *nest, size_t at, const char *var, int64_t step, int64_t full,
          const struct reach *reach, walk_step *walk)
{
    struct emitter *em = nest->em;
    const struct span span = nest->span[nest->line->tokens[at].level];
    struct span tile = looped(&span, var, step, full);
    const char *end = span_text(em, &span, full * step);
    if (reach == NULL) {
        code_open(em, "for (long %s = %s; %s < %s; %s += %" PRId64 ") {", var,
                  span_text(em, &span, 0), var, end, var, step);
        walk(nest, at, tile);
        code_close(em);
        return;
    }
    code_line(em, "long %s = %s;", var, reach->low);
    end = full * step == span.extent ? reach->high : bound_choice(em, reach->high, '<', end);
    if (reach->from != NULL)
        run_piece(nest, at, tile, bound_choice(em, reach->from, '<', end), walk, 0);
    if (reach->inside != 0)
        run_piece(nest, at, tile, bound_choice(em, reach->until, '<', end), walk, reach->inside);
    if (reach->inside == 0 || reach->until != NULL)
        run_piece(nest, at, tile, end, walk, 0);
}

/* What is left behind the full steps. */
static void
run_rest(struct nest *nest, size_t at, int64_t full, int64_t step, const struct reach *reach)
{
    struct emitter *em = nest->em;
    struct span *span = &nest->span[nest->line->tokens[at].level], saved = *span;
    struct span rest = part_of(&saved, full * step, saved.extent - full * step);
    bool outer = is_outer_reduction(nest, at);
    struct buf possible = buf_in(em->arena);
    const char *end = span_text(em, &saved, full * step), *first = "0";
    if (reach != NULL && outer) {
        buf_printf(&possible, "%s > %s", reach->high, end);
        first = arena_printf(em->arena, "%s >= %s", reach->low, end);
    } else if (!outer && !work_is_left(nest->member[0].work, nest->line->tokens[at].level)) {
        *span = rest;
        bool some = bound_is_possible(nest, 0, &possible);
        *span = saved;
        if (!some)
            return;
    }
    if (outer)
        push_condition(nest, first, "1");
    if (possible.length > 0)
        code_open(em, "if (%s) { /* what the steps of %" PRId64 " leave */", possible.data, step);
    else
        code_open(em, "{ /* what the steps of %" PRId64 " leave */", step);
    walk_at(nest, at, rest);
    code_close(em);
    nest->conditions -= outer;
}

static void
plain_loop(struct nest *nest, size_t at)
{
    struct emitter *em = nest->em;
    const struct token *token = &nest->line->tokens[at];
    const struct span span = nest->span[token->level];
    int64_t step = token->step < span.extent ? token->step : span.extent;
    int64_t full = span.extent / step, rest = span.extent % step;
    bool outer = is_outer_reduction(nest, at);
    struct reach reach;
    nest->ordinal[at] = 0;
    if (full + (rest > 0) <= 1) {
        walk_at(nest, at, span);
        return;
    }
    bool tight = bound_reach(nest, at, step, outer, &reach);
    if (full == 1 && !tight) {
        if (outer)
            push_condition(nest, "1", "0");
        code_open(em, "{");
        walk_at(nest, at, part_of(&span, 0, step));
        code_close(em);
    } else {
        const char *var = code_name(em, nest->member[0].work->index[token->level]);
        const char *first = tight ? reach.low : span_text(em, &span, 0);
        const char *last =
            tight ? arena_printf(em->arena, "%s + %" PRId64 " >= %s", var, step, reach.high)
            : rest
                ? "0"
                : arena_printf(em->arena, "%s == %s", var, span_text(em, &span, (full - 1) * step));
        if (outer)
            push_condition(nest, arena_printf(em->arena, "%s == %s", var, first), last);
        run_steps(nest, at, var, step, full, tight ? &reach : NULL, walk_at);
    }
    nest->conditions -= outer;
    if (rest > 0)
        run_rest(nest, at, full, step, tight ? &reach : NULL);
}

static void
unrolled_loop(struct nest *nest, size_t at)
{
    const struct token *token = &nest->line->tokens[at];
    const struct span span = nest->span[token->level];
    int64_t step = token->step, number = 0;
    bool outer = is_outer_reduction(nest, at);
    for (int64_t from = 0; from < span.extent; from += step, number++) {
        int64_t extent = span.extent - from < step ? span.extent - from : step;
        nest->ordinal[at] = number;
        if (!work_is_left(nest->member[0].work, token->level))
            hold_forget(nest, token->level);
        if (outer)
            push_condition(nest, from == 0 ? "1" : "0", from + step >= span.extent ? "1" : "0");
        walk_at(nest, at, part_of(&span, from, extent));
        nest->conditions -= outer;
    }
}

/* One vector at this span, `active` lanes of it. */
static void
walk_vector(struct nest *nest, size_t at, struct span span)
{
    nest->vector = (int)nest->line->tokens[at].level;
    nest->active = (unsigned)span.extent;
    span.extent = 1;
    walk_at(nest, at, span);
    nest->vector = -1;
    nest->active = nest->lanes;
}

/* Inside accumulators that the index is part of, every vector has registers of its own. */
static bool
must_unroll(const struct nest *nest, size_t at)
{
    unsigned level = nest->line->tokens[at].level;
    for (unsigned i = 0; i < nest->members; i++) {
        const struct member *member = &nest->member[i];
        if (member->work->reduce == NULL || at < member->acc)
            continue;
        for (unsigned l = 0; l < member->work->rank; l++)
            if (member->map[l] == (int)level)
                return true;
    }
    return false;
}

static void
vector_loop(struct nest *nest, size_t at)
{
    const struct token *token = &nest->line->tokens[at];
    const struct span span = nest->span[token->level];
    int64_t lanes = nest->lanes, full = span.extent / lanes, rest = span.extent % lanes;
    bool unroll = full <= 1 || must_unroll(nest, at);
    nest->ordinal[at] = 0;
    if (unroll)
        for (int64_t i = 0; i < full; i++) {
            nest->ordinal[at] = i;
            walk_vector(nest, at, part_of(&span, i * lanes, lanes));
        }
    else {
        struct reach reach;
        bool tight = bound_reach(nest, at, lanes, false, &reach);
        const char *var = code_name(nest->em, nest->member[0].work->index[token->level]);
        run_steps(nest, at, var, lanes, full, tight ? &reach : NULL, walk_vector);
    }
    nest->ordinal[at] = full;
    if (rest > 0)
        walk_vector(nest, at, part_of(&span, full * lanes, rest));
}

/* ---- threads ---- */

/* The last steps of collapsed loops may be smaller: each has two cases. */
static void
walk_threads(struct nest *nest, size_t at, size_t end, const char *const *vars)
{
    struct emitter *em = nest->em;
    if (at == end) {
        size_t before = hoist_open(nest, end);
        nest_walk(nest, end);
        hoist_close(nest, before);
        return;
    }
    const struct token *token = &nest->line->tokens[at];
    const struct span span = nest->span[token->level];
    const char *var = vars[0];
    int64_t step = token->step < span.extent ? token->step : span.extent;
    int64_t full = span.extent / step, rest = span.extent % step;
    struct span tile = looped(&span, var, step, full);
    nest->before[at] = span;
    nest->ordinal[at] = 0;
    if (rest > 0)
        code_open(em, "if (%s < %s) {", var, span_text(em, &span, full * step));
    nest->span[token->level] = tile;
    walk_threads(nest, at + 1, end, vars + 1);
    if (rest > 0) {
        em->indent--;
        code_line(em, "} else {");
        em->indent++;
        nest->span[token->level] = part_of(&span, full * step, rest);
        walk_threads(nest, at + 1, end, vars + 1);
        code_close(em);
    }
    nest->span[token->level] = span;
}

/* Are some iterations much shorter than others? */
static bool
is_uneven(const struct schedule *schedule, const struct line *line)
{
    const double even = 0.75; /* of the terms are left: a border of zeros, no triangle */
    const struct work *work = &schedule->works[line - schedule->lines];
    work = work->online != NULL ? &work->online->work : work;
    bool few_cut = work->bound_count > 0 && bound_share(work) > even;
    for (size_t b = 0; b < work->bound_count && !few_cut; b++)
        for (unsigned l = 0; l < work->rank; l++)
            if (work->bounds[b].coefficient[l] != 0)
                return true;
    for (size_t i = 0; i < line->count; i++)
        if (line->tokens[i].form == TOKEN_DO &&
            is_uneven(schedule, &schedule->lines[line->tokens[i].stage]))
            return true;
    return false;
}

static void
parallel_loops(struct nest *nest, size_t at)
{
    struct emitter *em = nest->em;
    size_t end = at;
    const char *vars[CODER_MAX_TOKENS];
    double points = 1;
    while (end < nest->line->count && nest->line->tokens[end].form == TOKEN_LOOP &&
           nest->line->tokens[end].mark == MARK_THREADS)
        end++;
    for (size_t i = at; i < end; i++) {
        const struct token *token = &nest->line->tokens[i];
        int64_t step = token->step, extent = nest->span[token->level].extent;
        points *= (double)((extent + step - 1) / step);
    }
    if (points <= 1) {
        for (size_t i = at; i < end; i++)
            nest->before[i] = nest->span[nest->line->tokens[i].level];
        nest_walk(nest, end);
        return;
    }
    const char *uneven = is_uneven(em->schedule, nest->line) ? " schedule(dynamic)" : "";
    size_t began = code_parallel(em, end - at, uneven);
    for (size_t i = at; i < end; i++) {
        const struct token *token = &nest->line->tokens[i];
        const struct span *span = &nest->span[token->level];
        const char *var = vars[i - at] = code_name(em, nest->member[0].work->index[token->level]);
        code_open(em, "for (long %s = %s; %s < %s; %s += %" PRId64 ")%s", var,
                  span_text(em, span, 0), var, span_text(em, span, span->extent), var, token->step,
                  i + 1 < end ? "" : " {");
    }
    nest->parallel = true;
    walk_threads(nest, at, end, vars);
    nest->parallel = false;
    em->indent -= (unsigned)(end - at - 1);
    code_close(em);
    code_parallel_end(em, began);
}

/* ---- the walk ---- */

/* ---- scans ---- */

/* Is this the lanes' loop of a scan? */
static bool
is_scan_lanes(const struct nest *nest, const struct token *token)
{
    const struct work *work = nest->member[0].work;
    return work->before != NULL && token->mark == MARK_VECTOR &&
           token->level == work->stage->carried;
}

/* What is added to all lanes: the element before the tile. */
static void
open_carry(struct nest *nest)
{
    const struct member *host = &nest->member[0];
    const struct tensor *tensor = host->work->tensor;
    value_forget(nest);
    struct value start = value_of(nest, host, host->work->before, NULL);
    enum lane lane = tensor->dtype == DTYPE_F64 ? LANE_F64 : LANE_F32;
    nest->carry = code_name(nest->em, "carry");
    code_line(nest->em, "%s %s = %s;", value_type(nest, lane, true), nest->carry,
              value_as(nest, value_as(nest, start, lane, false), lane, true).text);
}

/* Steps wait for each other only in the carry, which is why the last lane of a step's own scan is
 * added to it: the last lane of the result is the same number, later. */
static void
scan_point(struct nest *nest)
{
    struct emitter *em = nest->em;
    struct member *host = &nest->member[0];
    enum lane lane = host->work->tensor->dtype == DTYPE_F64 ? LANE_F64 : LANE_F32;
    const char *scan = code_helper(em, lane == LANE_F64 ? "vf64_scan_add" : "vf32_scan_add");
    const char *last = code_helper(em, lane == LANE_F64 ? "vf64_last" : "vf32_last");
    struct value x = value_of(nest, host, work_running_sum(host->work), NULL);
    x = value_as(nest, x, lane, true);
    x.text = arena_printf(em->arena, "%s(%s)", scan, x.text);
    x = value_named(nest, "s", x);
    struct value y = x;
    y.text = arena_printf(em->arena, "(%s + %s)", x.text, nest->carry);
    value_store(nest, host, value_named(nest, "y", y));
    if (nest->active == nest->lanes)
        code_line(em, "%s += %s(%s);", nest->carry, last, x.text);
}

/* Everything has a place: host first, then guests, which may read it. */
static void
walk_point(struct nest *nest)
{
    value_forget(nest);
    if (nest->carry != NULL) {
        scan_point(nest);
        return;
    }
    for (unsigned i = 0; i < nest->members; i++) {
        struct member *member = &nest->member[i];
        if (member->work->reduce != NULL)
            acc_term(nest, member);
        else {
            struct value value = value_of(nest, member, member->work->code, NULL);
            if (i == 0 && nest->members > 1)
                value = nest->member[0].result = value_named(nest, "e", value);
            value_store(nest, member, value);
        }
    }
    nest->member[0].result.text = NULL;
}

static void
walk_loop(struct nest *nest, size_t at)
{
    switch (nest->line->tokens[at].mark) {
    case MARK_THREADS:
        if (!nest->parallel)
            parallel_loops(nest, at);
        else
            plain_loop(nest, at);
        return;
    case MARK_UNROLL:
    case MARK_OWN:
        unrolled_loop(nest, at);
        return;
    case MARK_VECTOR:
        if (is_scan_lanes(nest, &nest->line->tokens[at]))
            open_carry(nest);
        vector_loop(nest, at);
        nest->carry = NULL;
        return;
    default:
        plain_loop(nest, at);
    }
}

void
nest_walk(struct nest *nest, size_t at)
{
    struct emitter *em = nest->em;
    if (em->failed)
        return;
    size_t most = CODER_MAX_LINES + CODER_STAGE_LINES * em->schedule->program->stage_count;
    if (em->lines > most) {
        code_fail(em, nest->line->place, "the kernel would have more than %zu lines; unroll less",
                  most);
        return;
    }
    if (nest->online != NULL && nest->tile_at == at && !nest->tile_done) {
        online_tile(nest, at);
        return;
    }
    for (unsigned i = 0; i < nest->members; i++)
        if (nest->member[i].work->reduce != NULL && nest->member[i].acc == at &&
            !nest->member[i].open) {
            acc_walk(nest, at, i);
            return;
        }
    if (at == nest->line->count) {
        walk_point(nest);
        return;
    }
    const struct token *token = &nest->line->tokens[at];
    switch (token->form) {
    case TOKEN_PACK:
        pack_walk(nest, at);
        return;
    case TOKEN_DO:
        box_walk(nest, at);
        return;
    case TOKEN_ONLINE:
        online_open(nest, at);
        return;
    case TOKEN_PRE:
        prefetch_walk(nest, at);
        nest_walk(nest, at + 1);
        return;
    case TOKEN_NT:
        past_walk(nest, at);
        return;
    case TOKEN_LOOP:
        break;
    default: /* acc, with, inline: what they say is known already */
        nest_walk(nest, at + 1);
        return;
    }
    const struct box *partial = nest->partial;
    if (is_outer_reduction(nest, at) && partial == NULL)
        partial_open(nest);
    walk_loop(nest, at);
    nest->partial = partial; /* a clone of this loop has its own */
}

/* ---- a stage ---- */

static void
add_member(struct nest *nest, const struct work *work, size_t acc, const int8_t *map)
{
    struct member *member = &nest->member[nest->members++];
    *member = (struct member){.work = work, .acc = acc};
    memcpy(member->map, map, sizeof member->map);
}

/* Without `acc` results go to memory at every point: as if it stood last. */
static size_t
acc_position(const struct line *line)
{
    for (size_t i = 0; i < line->count; i++)
        if (line->tokens[i].form == TOKEN_ACC)
            return i;
    return line->count;
}

static struct nest *
open_nest(struct emitter *em, size_t stage, const struct span *left, const struct nest *outer)
{
    const struct schedule *schedule = em->schedule;
    const struct online *online = schedule->works[stage].online;
    const struct work *work = online != NULL ? &online->work : &schedule->works[stage];
    const struct line *line = &schedule->lines[stage];
    struct nest *nest = arena_alloc(em->arena, sizeof *nest);
    int8_t same[LANG_MAX_LEVELS];
    for (int i = 0; i < LANG_MAX_LEVELS; i++)
        same[i] = (int8_t)i;
    *nest = (struct nest){.em = em, .line = line, .vector = -1, .lanes = work->lanes};
    nest->active = nest->lanes;
    nest->online = online;
    nest->tile_at = online != NULL ? online->token + 2 : 0; /* behind its loop */
    while (nest->tile_at < line->count && line->tokens[nest->tile_at].form != TOKEN_LOOP &&
           line->tokens[nest->tile_at].form != TOKEN_ACC)
        nest->tile_at++;
    nest->parallel = em->parallel;
    if (outer != NULL) {
        nest->boxes = outer->boxes;
        nest->parallel = outer->parallel;
    }
    for (unsigned i = 0; i < work->levels; i++)
        nest->span[i] =
            i < work->rank && left != NULL ? left[i] : (struct span){.extent = work->extent[i]};
    add_member(nest, work, acc_position(line), same);
    for (size_t i = 0; i < line->count; i++)
        if (line->tokens[i].form == TOKEN_WITH)
            add_member(nest, &schedule->works[line->tokens[i].stage], i, line->tokens[i].map);
    return nest;
}

void
nest_stage(struct emitter *em, size_t stage, const struct span *left, const struct nest *outer)
{
    nest_walk(open_nest(em, stage, left, outer), 0);
}

void
nest_hoist(struct emitter *em, size_t stage, const struct span *left)
{
    pack_hoist(open_nest(em, stage, left, NULL));
}
