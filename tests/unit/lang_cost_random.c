/* Counting points: random conditions on three indices against looking at every point. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/num.h"
#include "base/rng.h"
#include "lang/cost_int.h"
#include "lang/ir_int.h"

#define LEVELS 3
#define ROUNDS 3000

struct maker {
    struct ir *ir;
    struct rng rng;
};

static const struct expr *
make_integer(struct maker *maker, unsigned depth)
{
    static const enum op ops[] = {OP_ADD, OP_SUB, OP_ADD, OP_SUB, OP_MUL,
                                  OP_DIV, OP_MOD, OP_MIN, OP_MAX};
    unsigned pick = (unsigned)rng_below(&maker->rng, depth > 0 ? 14 : 5);
    if (pick < 4)
        return ir_index(maker->ir, (unsigned)rng_below(&maker->rng, LEVELS));
    if (pick == 4)
        return ir_int(maker->ir, (int64_t)rng_below(&maker->rng, 9) - 3);
    enum op op = ops[pick - 5];
    const struct expr *a = make_integer(maker, depth - 1);
    if (op == OP_MUL)
        return ir_binary(maker->ir, op, a,
                         ir_int(maker->ir, (int64_t)rng_below(&maker->rng, 7) - 3));
    if (op == OP_DIV || op == OP_MOD)
        return ir_binary(maker->ir, op, a,
                         ir_int(maker->ir, (int64_t)rng_below(&maker->rng, 4) + 1));
    return ir_binary(maker->ir, op, a, make_integer(maker, depth - 1));
}

static const struct expr *
make_truth(struct maker *maker, unsigned depth)
{
    unsigned pick = (unsigned)rng_below(&maker->rng, depth > 0 ? 7 : 3);
    if (pick < 3)
        return ir_binary(maker->ir, (enum op)(OP_LT + rng_below(&maker->rng, 6)),
                         make_integer(maker, 2), make_integer(maker, 1));
    if (pick == 3)
        return ir_unary(maker->ir, OP_NOT, make_truth(maker, depth - 1));
    return ir_binary(maker->ir, pick == 4 ? OP_OR : OP_AND, make_truth(maker, depth - 1),
                     make_truth(maker, depth - 1));
}

static int64_t
value(const struct expr *e, const int64_t *at)
{
    int64_t a = e->count > 0 ? value(e->args[0], at) : 0;
    int64_t b = e->count > 1 ? value(e->args[1], at) : 0;
    switch (e->op) {
    case OP_INT:
        return e->integer;
    case OP_INDEX:
        return at[e->level];
    case OP_NEG:
        return -a;
    case OP_NOT:
        return !a;
    case OP_OR:
        return a || b;
    case OP_AND:
        return a && b;
    case OP_LT:
        return a < b;
    case OP_LE:
        return a <= b;
    case OP_GT:
        return a > b;
    case OP_GE:
        return a >= b;
    case OP_EQ:
        return a == b;
    case OP_NE:
        return a != b;
    case OP_ADD:
        return a + b;
    case OP_SUB:
        return a - b;
    case OP_MUL:
        return a * b;
    case OP_DIV:
        return num_floor_div(a, b);
    case OP_MOD:
        return num_floor_mod(a, b);
    case OP_MIN:
        return a < b ? a : b;
    case OP_MAX:
        return a > b ? a : b;
    default:
        fail_msg("operation %d", e->op);
        return 0;
    }
}

static double
count_all(const struct box *box, const struct expr *e)
{
    int64_t at[LEVELS];
    double points = 0;
    for (at[0] = 0; at[0] < box->size[0]; at[0]++)
        for (at[1] = 0; at[1] < box->size[1]; at[1]++)
            for (at[2] = 0; at[2] < box->size[2]; at[2]++)
                points += value(e, at) != 0;
    return points;
}

static void
counts_agree(void **state)
{
    struct arena *arena = arena_create();
    (void)state;
    struct maker maker = {.rng = rng_stream(1, "conditions")};
    unsigned exact = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct counter counter = {.arena = arena, .budget = 1000000, .exact = true};
        struct box box = {.count = LEVELS};
        maker.ir = ir_create(arena);
        for (unsigned l = 0; l < LEVELS; l++)
            box.size[l] = 1 + (int64_t)rng_below(&maker.rng, 7);
        const struct expr *e = make_truth(&maker, 3);
        double got = cost__points(&counter, &box, cost__hold(&counter, NULL, e, true));
        double rest = cost__points(&counter, &box, cost__hold(&counter, NULL, e, false));
        double want = count_all(&box, e);
        if (counter.exact && (got != want || got + rest != box.size[0] * box.size[1] * box.size[2]))
            fail_msg("round %u: %g and %g instead of %g", round, got, rest, want);
        exact += counter.exact;
        if (!counter.exact)
            assert_true(got >= want);
    }
    assert_true(exact > ROUNDS * 9 / 10);
    arena_destroy(arena);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(counts_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
