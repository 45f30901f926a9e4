/* What the program itself says, whatever the kernel: which functions it needs, what it keeps
 * between stages, what it reads twice. */
#include "profile/profile_int.h"

#include <math.h>
#include <string.h>

#define USUAL_L2 ((double)(1 << 20))
#define CHEAP_TREE 8 /* operations: fewer are cheaper than a store and a load */

/* ---- expressions ---- */

struct facts {
    struct arena *arena;
    const struct program *program;
    unsigned *seen, walk;      /* by id: the last walk that came by */
    const struct stage *stage; /* at present */
    const struct expr *reduce; /* its reduction, or NULL */
    double contraction, k_over_mn, filter, padding, window_stride, row_bytes, row_power;
    double exp_scaled, exp_open, row_divisions;
    unsigned *readers;      /* by tensor: stages that read it */
    const struct expr **in; /* loads that reductions read, */
    unsigned *from;         /* and the number of the reduction that did first */
    size_t load_count;
    double shared; /* reductions that read what an earlier one does */
};

static void
walk_expr(struct facts *facts, const struct expr *e,
          void (*visit)(struct facts *facts, const struct expr *e))
{
    if (facts->seen[e->id] == facts->walk)
        return;
    facts->seen[e->id] = facts->walk;
    visit(facts, e);
    for (unsigned i = 0; i < e->count; i++)
        walk_expr(facts, e->args[i], visit);
}

/* Every expression of the present stage's code once. */
static void
walk_stage(struct facts *facts, void (*visit)(struct facts *facts, const struct expr *e))
{
    facts->walk++;
    walk_expr(facts, facts->stage->code, visit);
}

static uint32_t
left_bits(const struct stage *stage)
{
    return (1u << stage->tensor->rank) - 1;
}

static bool
is_scaled(const struct expr *e)
{
    return e->op == OP_MUL && (expr_is_constant(e->args[0]) || expr_is_constant(e->args[1]));
}

/* By how many elements a left index moves a subscript: the factor of it in a sum. */
static int64_t
factor_of(const struct expr *subscript, uint32_t left)
{
    int64_t most = 0;

    if (subscript->op == OP_MUL && (subscript->free & left))
        for (unsigned i = 0; i < 2; i++)
            if (subscript->args[i]->op == OP_INT && subscript->args[i]->integer > most)
                most = subscript->args[i]->integer;
    if (subscript->op == OP_ADD || subscript->op == OP_SUB)
        for (unsigned i = 0; i < subscript->count; i++) {
            int64_t factor = factor_of(subscript->args[i], left);
            most = factor > most ? factor : most;
        }
    return most;
}

static void
look_at_load(struct facts *facts, const struct expr *load)
{
    for (unsigned d = 0; d < load->tensor->rank; d++)
        facts->window_stride =
            fmax(facts->window_stride, (double)factor_of(load->args[d], left_bits(facts->stage)));
    facts->padding += expr_default(load) != NULL;
}

static bool
is_row_division(const struct facts *facts, const struct expr *e)
{
    unsigned rank = facts->stage->tensor->rank;
    uint32_t last = rank > 0 ? 1u << (rank - 1) : 0;

    return e->op == OP_DIV && e->kind >= KIND_F32 && (e->args[0]->free & last) &&
           !(e->args[1]->free & last) && !expr_is_constant(e->args[0]);
}

static void
look_at(struct facts *facts, const struct expr *e)
{
    if (e->op == OP_LOAD)
        look_at_load(facts, e);
    if (e->op == OP_REDUCE)
        facts->reduce = e;
    if (e->op == OP_EXP && !expr_is_constant(e->args[0])) {
        const struct expr *x = e->args[0];
        facts->exp_open++;
        facts->exp_scaled += is_scaled(x) || ((x->op == OP_SUB || x->op == OP_ADD) &&
                                              (is_scaled(x->args[0]) || is_scaled(x->args[1])));
    }
    facts->row_divisions += is_row_division(facts, e);
}

/* ---- reductions ---- */

/* The widest row that a contraction's operand has. */
static void
look_at_row(struct facts *facts, const struct expr *e)
{
    if (e->op != OP_LOAD || e->tensor->rank < 2)
        return;
    int64_t elements = e->tensor->size[e->tensor->rank - 1];
    double bytes = (double)elements * (double)dtype_info[e->tensor->dtype].size;
    facts->row_bytes = fmax(facts->row_bytes, bytes);
    if (bytes >= 1024 && (elements & (elements - 1)) == 0)
        facts->row_power = 1;
}

/* Another reduction of this program reads the same elements in the same order. */
static void
share_load(struct facts *facts, const struct expr *e)
{
    unsigned number = facts->stage->tensor->number;

    if (e->op != OP_LOAD)
        return;
    for (size_t i = 0; i < facts->load_count; i++)
        if (facts->in[i] == e) {
            facts->shared += facts->from[i] != number;
            return;
        }
    facts->in = arena_grow(facts->arena, facts->in, facts->load_count, facts->load_count + 1,
                           sizeof *facts->in);
    facts->from = arena_grow(facts->arena, facts->from, facts->load_count, facts->load_count + 1,
                             sizeof *facts->from);
    facts->in[facts->load_count] = e;
    facts->from[facts->load_count++] = number;
}

/* A product of which each factor has an index of the result that the other has not. */
static bool
is_contraction(const struct expr *reduce, uint32_t left)
{
    const struct expr *body = reduce->args[0];

    while (body->op == OP_CAST)
        body = body->args[0];
    return reduce->binder->reduction == REDUCE_SUM && body->op == OP_MUL &&
           (body->args[0]->free & ~body->args[1]->free & left) &&
           (body->args[1]->free & ~body->args[0]->free & left);
}

static bool
skips_by_index(const struct expr *reduce, uint32_t left)
{
    const struct expr *filter = expr_filter(reduce), *body = reduce->args[0];

    if (filter)
        return !filter->loads;
    return body->op == OP_IF && !body->args[0]->loads && (body->args[0]->free & left) &&
           (body->args[0]->free & ~left);
}

static void
look_at_reduction(struct facts *facts)
{
    const struct tensor *result = facts->stage->tensor;
    const struct expr *reduce = facts->reduce;
    int64_t widest = 1;

    for (unsigned d = 0; d < result->rank; d++)
        widest = result->size[d] > widest ? result->size[d] : widest;
    facts->k_over_mn = fmax(facts->k_over_mn, (double)expr_terms(reduce) / (double)widest);
    facts->filter += skips_by_index(reduce, left_bits(facts->stage));
    if (is_contraction(reduce, left_bits(facts->stage))) {
        facts->contraction = 1;
        walk_stage(facts, look_at_row);
    }
    walk_stage(facts, share_load);
}

/* ---- tensors ---- */

static void
count_reader(struct facts *facts, const struct expr *e)
{
    if (e->op == OP_LOAD && e->tensor->stage != facts->stage)
        facts->readers[e->tensor->number]++;
}

static bool
is_cheap(const struct stage *stage, unsigned readers)
{
    return stage->tensor->output < 0 && readers == 1 && stage->code->tree <= CHEAP_TREE &&
           stage->code->op != OP_REDUCE && stage->rec < 0;
}

static double
bytes_of(const struct tensor *tensor)
{
    return (double)tensor->count * (double)dtype_info[tensor->dtype].size;
}

static void
look_at_tensors(const struct facts *facts, double l2, struct profile__values *values)
{
    double largest = 0, outputs = 0, read = 0, cheap = 0;

    for (size_t i = 0; i < facts->program->stage_count; i++) {
        const struct stage *stage = &facts->program->stages[i];
        unsigned readers = facts->readers[stage->tensor->number];
        if (stage->tensor->output < 0)
            largest = fmax(largest, bytes_of(stage->tensor));
        else {
            outputs += bytes_of(stage->tensor);
            read += readers > 0;
        }
        cheap += is_cheap(stage, readers);
    }
    values->value[PROFILE_INTERMEDIATE_L2] = largest / l2;
    values->value[PROFILE_OUTPUT_L2] = outputs / l2;
    values->value[PROFILE_OUTPUT_READ] = read;
    values->value[PROFILE_CHEAP_STAGES] = cheap;
}

/* Functions that take many operations: not divisions, roots and roundings. */
static double
functions_of(const struct cost *cost)
{
    double count = 0;

    for (int op = OP_EXP; op <= OP_POW; op++)
        count += cost->apart[op];
    return count;
}

void
profile__facts(struct arena *arena, const struct profile_options *options,
               struct profile__values *values)
{
    const struct program *program = options->program;
    struct facts facts = {.arena = arena, .program = program};
    struct cost cost;
    double elements = 0;

    facts.seen = arena_array(arena, program->expr_count + 1, sizeof *facts.seen);
    facts.readers = arena_array(arena, program->tensor_count + 1, sizeof *facts.readers);
    for (size_t i = 0; i < program->stage_count; i++) {
        facts.stage = &program->stages[i];
        facts.reduce = NULL;
        walk_stage(&facts, look_at);
        walk_stage(&facts, count_reader);
        if (facts.reduce)
            look_at_reduction(&facts);
    }
    for (size_t i = 0; i < program->output_count; i++)
        elements += (double)program->outputs[i]->count;
    lang_cost(program, &cost);
    values->value[PROFILE_EXPS_PER_ELEMENT] = elements > 0 ? functions_of(&cost) / elements : 0;
    look_at_tensors(&facts, options->l2 > 0 ? (double)options->l2 : USUAL_L2, values);
    values->value[PROFILE_CONTRACTION] = facts.contraction;
    values->value[PROFILE_K_OVER_MN] = facts.k_over_mn;
    values->value[PROFILE_SHARED_REDUCTIONS] = facts.shared;
    values->value[PROFILE_FILTER] = facts.filter;
    values->value[PROFILE_PADDING] = facts.padding;
    values->value[PROFILE_WINDOW_STRIDE] = facts.window_stride;
    values->value[PROFILE_ROW_BYTES] = facts.row_bytes;
    values->value[PROFILE_ROW_POWER] = facts.row_power;
    values->value[PROFILE_EXP_SCALED] = facts.exp_scaled;
    values->value[PROFILE_EXP_OPEN] = facts.exp_open;
    values->value[PROFILE_ROW_DIVISIONS] = facts.row_divisions;
}
