/* online(j/STEP: M,S,O) as C. Each row of the tile that the loops outside of it leave has its
 * maximum and its sum in scratch. A tile of j goes:
 *
 *     new = max(old, max_j P)      scale = exp(old - new)
 *     weights_j = exp(P - new)     S = S*scale + sum_j weights
 *     O = O*scale + sum_j weights*V
 *
 * The last line are the loops of O itself, which see the weights as a tensor. They take the place
 * of P where that was computed for this tile. */
#include "coder/online_int.h"

#include "coder/bound_int.h"

#include <inttypes.h>

#define COPIES 4 /* vectors of a row at a time, each with a register of its own */

/* ---- scratch ---- */

/* Rows of the current tile, by dimension of M. */
static struct box *
push_box(struct nest *nest, const struct tensor *tensor, const int8_t *dimension)
{
    struct box *box = arena_alloc(nest->em->arena, sizeof *box);
    *box = (struct box){.outer = nest->boxes, .tensor = tensor};
    box->used = arena_alloc(nest->em->arena, sizeof *box->used);
    for (unsigned d = 0; d < tensor->rank; d++)
        box->at[d] = nest->span[nest->online->row[dimension != NULL ? dimension[d] : (int)d]];
    nest->boxes = box;
    return box;
}

static int64_t
elements_of(const struct box *box)
{
    int64_t count = 1;
    for (unsigned d = 0; d < box->tensor->rank; d++)
        count *= box->at[d].extent;
    return count;
}

void
online_open(struct nest *nest, size_t at)
{
    struct emitter *em = nest->em;
    const struct online *online = nest->online;
    const struct box *outer = nest->boxes;
    struct box *max = push_box(nest, online->max->tensor, NULL), *sum = NULL;
    int64_t rows = elements_of(max);
    max->name = code_scratch(nest, "max", max->tensor->dtype, rows);
    if (online->sum != NULL) {
        sum = push_box(nest, online->sum->tensor, online->sum_row);
        sum->name = code_scratch(nest, "sum", sum->tensor->dtype, rows);
    }
    struct box *scale = push_box(nest, online->scale, NULL);
    scale->name = code_scratch(nest, "scale", scale->tensor->dtype, rows);
    code_open(em, "for (long row = 0; row < %" PRId64 "; row++) {", rows);
    code_line(em, "%s[row] = -INFINITY;", max->name);
    if (sum != NULL)
        code_line(em, "%s[row] = 0;", sum->name);
    code_close(em);
    nest_walk(nest, at + 1);
    nest->boxes = outer;
}

/* The tile of P itself if it is scratch of this tile and looks the same. */
static void
push_weights(struct nest *nest)
{
    const struct online *online = nest->online;
    const struct expr *score = online->score;
    struct box *weights = push_box(nest, online->weights.tensor, NULL);
    const struct box *box = weights->outer;
    bool same = score->op == OP_LOAD && score->tensor->rank == weights->tensor->rank &&
                score->tensor->dtype == weights->tensor->dtype && score->tensor->stage != NULL;
    for (unsigned d = 0; d < weights->tensor->rank && same; d++)
        same = score->args[d]->op == OP_INDEX && score->args[d]->level == d;
    while (box != NULL && same && box->tensor != score->tensor)
        box = box->outer;
    if (same && box != NULL && !box->whole) {
        size_t stage = (size_t)(score->tensor->stage - nest->em->schedule->program->stages);
        const struct token *made = work_names(nest->line, TOKEN_DO, stage);
        same = made > &nest->line->tokens[online->token] &&
               work_loads(online->work.code, score->tensor, NULL, 0) == 0;
        for (unsigned d = 0; d < weights->tensor->rank; d++)
            same = same && box->at[d].extent == weights->at[d].extent;
    } else
        same = false;
    weights->name =
        same ? box->name
             : code_scratch(nest, "weights", weights->tensor->dtype, elements_of(weights));
    if (same)
        *box->used = true;
}

/* ---- rows ---- */

struct row {
    struct nest nest; /* in the levels of the weights */
    enum lane lane;
    const char *name[COPIES]; /* registers */
};

typedef void
visit_vector(struct row *row, unsigned copy);

static void
visit_at(struct row *row, struct span span, int64_t active, unsigned copy, visit_vector *visit)
{
    struct nest *nest = &row->nest;
    unsigned level = nest->member[0].work->levels - 1;
    struct span saved = nest->span[level];
    span.extent = 1;
    nest->span[level] = span;
    nest->vector = (int)level;
    nest->active = (unsigned)active;
    value_forget(nest);
    visit(row, copy);
    nest->span[level] = saved;
    nest->vector = -1;
    nest->active = nest->lanes;
}

/* All vectors of the row, COPIES at a time. */
static void
each_vector(struct row *row, visit_vector *visit)
{
    struct nest *nest = &row->nest;
    unsigned level = nest->member[0].work->levels - 1;
    const struct span span = nest->span[level];
    int64_t lanes = nest->lanes, vectors = span.extent / lanes, step = COPIES * lanes;
    int64_t together = vectors / COPIES, done = 0;
    if (together > 1) {
        const char *var = code_name(nest->em, nest->member[0].work->index[level]);
        code_open(nest->em, "for (long %s = %s; %s < %s; %s += %" PRId64 ") {", var,
                  span_text(nest->em, &span, 0), var, span_text(nest->em, &span, together * step),
                  var, step);
        for (unsigned i = 0; i < COPIES; i++)
            visit_at(row,
                     (struct span){var, i * lanes, 1, span.low + i * lanes,
                                   span.high + (together - 1) * step + i * lanes, 0},
                     lanes, i, visit);
        code_close(nest->em);
        done = together * COPIES;
    }
    for (int64_t from = done * lanes; from < span.extent; from += lanes) {
        struct span part = {span.var,        span.add + from,  1,
                            span.low + from, span.high + from, span.unit};
        int64_t rest = span.extent - from;
        visit_at(row, part, rest < lanes ? rest : lanes, (unsigned)(from / lanes % COPIES), visit);
    }
}

/* What of a vector counts; the rest is as given. */
static struct value
counted(struct row *row, struct value value, const char *otherwise)
{
    struct nest *nest = &row->nest;
    value = value_as(nest, value, row->lane, true);
    if (nest->active == nest->lanes)
        return value;
    return value_select(nest, acc_active_lanes(nest), value,
                        (struct value){otherwise, row->lane, false});
}

static void
visit_score(struct row *row, unsigned copy)
{
    struct nest *nest = &row->nest;
    struct value score = value_of(nest, &nest->member[0], nest->online->score, NULL);
    score = counted(row, score, "(-INFINITY)");
    code_line(nest->em, "%s = %s;", row->name[copy],
              value_choice(nest, OP_MAX, row->lane, true, row->name[copy], score.text));
}

static void
row_forms(const struct nest *nest, const int8_t *dimension, unsigned rank, struct lin *forms)
{
    for (unsigned d = 0; d < rank; d++) {
        const struct span *span = &nest->span[dimension != NULL ? dimension[d] : (int)d];
        forms[d] = (struct lin){.add = span->add};
        if (span->var != NULL)
            lin_add_var(&forms[d], span->var, 1);
    }
}

static const char *
element_address(struct nest *nest, const struct tensor *tensor, const int8_t *dimension)
{
    struct lin forms[LANG_MAX_RANK];
    row_forms(nest, dimension, tensor->rank, forms);
    return value_address(nest, &nest->member[0], tensor, forms);
}

static void
visit_weight(struct row *row, unsigned copy)
{
    struct nest *nest = &row->nest;
    const struct work *weights = &nest->online->weights;
    const char *store = row->lane == LANE_F64 ? "vf64_store" : "vf32_store";
    struct value weight = value_of(nest, &nest->member[0], weights->code, NULL);
    weight = value_named(nest, "w", value_as(nest, weight, row->lane, true));
    const char *address = element_address(nest, weights->tensor, NULL);
    if (nest->active < nest->lanes)
        code_line(nest->em, "%s(%s, %s, %u);",
                  code_helper(nest->em, arena_printf(nest->em->arena, "%s_tail", store)), address,
                  weight.text, nest->active);
    else
        code_line(nest->em, "%s(%s, %s);", code_helper(nest->em, store), address, weight.text);
    if (nest->online->sum != NULL)
        code_line(nest->em, "%s += %s;", row->name[copy], counted(row, weight, "0").text);
}

static void
declare_registers(struct row *row, const char *start)
{
    struct nest *nest = &row->nest;
    for (unsigned i = 0; i < COPIES; i++) {
        row->name[i] = code_name(nest->em, "t");
        struct value value =
            value_as(nest, (struct value){start, row->lane, false}, row->lane, true);
        code_line(nest->em, "%s %s = %s;", value_type(nest, row->lane, true), row->name[i],
                  value.text);
    }
}

/* All registers into one value. */
static const char *
joined(struct row *row, const char *how, bool max)
{
    struct nest *nest = &row->nest;
    const char *a = row->name[0];
    for (unsigned i = 1; i < COPIES; i++)
        code_line(nest->em, "%s = %s;", a,
                  max ? value_choice(nest, OP_MAX, row->lane, true, a, row->name[i])
                      : arena_printf(nest->em->arena, "%s + %s", a, row->name[i]));
    const char *helper =
        arena_printf(nest->em->arena, "v%s_h%s", row->lane == LANE_F64 ? "f64" : "f32", how);
    return arena_printf(nest->em->arena, "%s(%s)", code_helper(nest->em, helper), a);
}

static void
one_row(struct row *row)
{
    struct nest *nest = &row->nest;
    struct emitter *em = nest->em;
    const struct online *online = nest->online;
    const char *type = value_type(nest, row->lane, false), *e = row->lane == LANE_F64 ? "" : "f";
    const char *max = element_address(nest, online->max->tensor, NULL);
    const char *old = code_name(em, "old"), *now = code_name(em, "now"),
               *most = code_name(em, "most"), *scale = code_name(em, "scale"),
               *base = code_name(em, "base");
    declare_registers(row, "(-INFINITY)");
    each_vector(row, visit_score);
    code_line(em, "const %s %s = *(%s);", type, old, max);
    code_line(em, "const %s %s = %s;", type, most, joined(row, "max", true));
    code_line(em, "const %s %s = %s > %s ? %s : %s;", type, now, old, most, old, most);
    code_line(em, "const %s %s = %s == %s ? 1 : exp%s(%s - %s);", type, scale, old, now, e, old,
              now);
    code_line(em, "const %s %s = %s == -INFINITY ? 0 : %s;", type, base, now, now);
    code_line(em, "*(%s) = %s;", max, now);
    code_line(em, "*(%s) = %s;", element_address(nest, online->scale, NULL), scale);
    value_know(nest, &nest->member[0], online->is_max, (struct value){base, row->lane, false});
    if (online->sum != NULL)
        declare_registers(row, "0");
    each_vector(row, visit_weight);
    if (online->sum == NULL)
        return;
    const char *sum = element_address(nest, online->sum->tensor, online->sum_row);
    code_line(em, "*(%s) = *(%s) * %s + %s;", sum, sum, scale, joined(row, "sum", false));
}

static void
each_row(struct row *row, unsigned level)
{
    struct nest *nest = &row->nest;
    struct emitter *em = nest->em;
    const struct work *weights = nest->member[0].work;
    if (level + 1 == weights->levels) {
        one_row(row);
        return;
    }
    const struct span span = nest->span[level];
    if (span.extent > 1) {
        const char *var = code_name(em, weights->index[level]);
        code_open(em, "for (long %s = %s; %s < %s; %s++) {", var, span_text(em, &span, 0), var,
                  span_text(em, &span, span.extent), var);
        nest->span[level] = (struct span){var, 0, 1, span.low, span.high + span.extent - 1, 0};
    }
    each_row(row, level + 1);
    if (span.extent > 1)
        code_close(em);
    nest->span[level] = span;
}

void
online_tile(struct nest *nest, size_t at)
{
    const struct online *online = nest->online;
    const struct box *outer = nest->boxes;
    struct row *row = arena_alloc(nest->em->arena, sizeof *row);
    push_weights(nest);
    row->lane = online->work.wide ? LANE_F64 : LANE_F32;
    row->nest = (struct nest){.em = nest->em,
                              .line = &online->line,
                              .members = 1,
                              .vector = -1,
                              .lanes = nest->lanes,
                              .active = nest->lanes,
                              .boxes = nest->boxes,
                              .parallel = nest->parallel,
                              .online = online};
    row->nest.member[0] = (struct member){.work = &online->weights, .acc = online->line.count};
    for (unsigned l = 0; l < LANG_MAX_LEVELS; l++)
        row->nest.member[0].map[l] = (int8_t)l;
    for (unsigned l = 0; l < online->weights.levels; l++)
        row->nest.span[l] = nest->span[online->row[l]];
    code_open(nest->em, "{");
    each_row(row, 0);
    code_close(nest->em);
    nest->tile_done = true;
    nest->tile_conditions = nest->conditions;
    nest_walk(nest, at);
    nest->tile_done = false;
    nest->boxes = outer;
}
