/* Flops, functions and bytes against counts made by hand. */
#include "unit.h"

#include "lang/lang.h"

#include <math.h>

static struct program *
program_of(void **state, const char *text)
{
    struct unit *unit = *state;
    struct lang *lang = lang_parse(unit->arena, "test.op", text, strlen(text), unit->diags);
    struct program *program = lang ? lang_program(lang, 0, NULL, 0, unit->diags) : NULL;
    if (!program)
        fail_msg("%s", unit_printed(unit, false));
    return program;
}

static struct cost
cost_of(void **state, const char *text)
{
    struct cost cost;
    lang_cost(program_of(state, text), &cost);
    return cost;
}

static void
is_count(double got, double want)
{
    if (got != want)
        fail_msg("%.17g instead of %.17g", got, want);
}

static void
flops_are(void **state, const char *text, double want)
{
    struct cost cost = cost_of(state, text);
    is_count(cost.flops, want);
    assert_true(cost.exact);
}

/* ---- operations ---- */

static void
a_product_of_matrices(void **state)
{
    struct cost cost = cost_of(state, "dim M=3, N=5, K=7\n"
                                      "in A: f32[M,K]; in B: f32[K,N]\n"
                                      "C[m,n] = sum[k](A[m,k]*B[k,n])\n"
                                      "out C\n");
    is_count(cost.flops, 3 * 5 * 7 * 2);
    is_count(cost.bytes_in, 4 * (3 * 7 + 7 * 5));
    is_count(cost.bytes_out, 4 * 3 * 5);
    assert_true(cost.exact);
}

static void
softmax_lists_its_functions_apart(void **state)
{
    struct cost cost = cost_of(state, "dim R=4, N=10\n"
                                      "in X: f32[R,N]\n"
                                      "M[r] = max[j](X[r,j])\n"
                                      "E[r,j] = exp(X[r,j]-M[r])\n"
                                      "Y[r,j] = E[r,j] / sum[k](E[r,k])\n"
                                      "out Y\n");
    /* 40 terms of max, 40 subtractions, 40 terms of sum, 40 divisions */
    is_count(cost.flops, 160);
    is_count(cost.apart[OP_EXP], 40);
    is_count(cost.apart[OP_DIV], 40);
    is_count(cost.bytes_in + cost.bytes_out, 2 * 4 * 40);
}

static void
index_arithmetic_and_constants_are_free(void **state)
{
    flops_are(state, "dim N=10\nin X: f32[2*N]\nY[i:N] = X[2*i+1-1]\nout Y\n", 0);
    flops_are(state, "dim N=10\nin X: f32[N]\nY[i:N] = X[(i*3+1) % N]*(2.0*3+1)\nout Y\n", 10);
    flops_are(state, "dim N=10\nin X: f32[N]\nY[i] = -X[i]\nout Y\n", 0);
    flops_are(state, "dim N=10\nY[i:N] = f32(i)*0.5\nout Y\n", 10);
}

static void
integers_from_tensors_count(void **state)
{
    flops_are(state, "dim N=10\nin X: i32[N]\nY[i] = X[i]*2 + i\nout Y\n", 20);
    struct cost cost = cost_of(state, "dim N=10\nin X: i32[N]\nY[i] = X[i]/3\nout Y\n");
    is_count(cost.flops, 10);
    is_count(cost.apart[OP_DIV], 10);
}

static void
square_roots_are_both_functions_only_apart(void **state)
{
    struct cost cost =
        cost_of(state, "dim N=10\nin X: f32[N] from 1 to 2\nY[i] = sqrt(X[i]) + rsqrt(X[i])\n"
                       "out Y\n");
    is_count(cost.flops, 20);
    is_count(cost.apart[OP_SQRT], 10);
    is_count(cost.apart[OP_RSQRT], 10);
}

static void
equal_nodes_count_once(void **state)
{
    flops_are(state, "dim N=10\nin X: f32[N]\nY[i] = (X[i]+1)*(X[i]+1)\nout Y\n", 20);
    /* X+1 is known where the branches are; the first branch adds, the second multiplies */
    flops_are(state,
              "dim N=10\nin X: f32[N]\n"
              "Y[i] = if(X[i]+1 > 0, X[i]+1, 0.5*(X[i]+1))\nout Y\n",
              10 * (1 + 1 + 1 + 1));
}

static void
a_mean_divides_once(void **state)
{
    struct cost cost = cost_of(state, "dim R=3, N=10\nin X: f32[R,N]\n"
                                      "Y[r] = mean[j](X[r,j]*X[r,j])\nout Y\n");
    is_count(cost.flops, 3 * (20 + 1));
    is_count(cost.apart[OP_DIV], 3);
}

static void
argmax_compares_each_term(void **state)
{
    flops_are(state, "dim R=3, N=10\nin X: f32[R,N]\nY[r] = argmax[j](X[r,j])\nout Y\n", 30);
}

/* ---- conditions ---- */

static void
a_causal_filter(void **state)
{
    const double terms = 16 * 17 / 2;
    flops_are(state,
              "dim S=16, D=4\nin A: f32[S,S]; in V: f32[S,D]\n"
              "O[i,d] = sum[j ? j <= i](A[i,j]*V[j,d])\nout O\n",
              4 * terms * 2);
    flops_are(state,
              "dim S=16, D=4\nin Q, K: f32[S,D]\n"
              "P[i,j] = if(j <= i, 0.5*sum[d](Q[i,d]*K[j,d]), -inf)\nout P\n",
              256 + terms * (1 + 2 * 4));
}

static void
a_window(void **state)
{
    /* i-j in 0..2: 1 + 2 + 14*3 pairs of 16 */
    flops_are(state,
              "dim S=16\nin A: f32[S,S]; in V: f32[S]\n"
              "O[i] = sum[j ? j <= i && i-j < 3](A[i,j]*V[j])\nout O\n",
              2 * (1 + 2 + 14 * 3));
}

static void
blocks_of_a_mask(void **state)
{
    /* j/4 <= i/4 of 16: 4 rows of each of 4, 8, 12, 16 */
    flops_are(state, "dim S=16\nin A: f32[S,S]\nO[i] = sum[j ? j/4 <= i/4](A[i,j])\nout O\n",
              4 * (4 + 8 + 12 + 16));
}

static void
a_large_causal_filter_is_exact(void **state)
{
    const double s = 1 << 17;
    flops_are(state,
              "dim S=131072\nin X: f32[S]\n"
              "O[i:S] = sum[j ? j <= i](X[j])\nout O\n",
              s * (s + 1) / 2);
}

static void
alternatives_are_counted_by_what_they_leave(void **state)
{
    /* not (2 <= i < 7): 5 of 10 */
    flops_are(state,
              "dim N=10\nin X: f32[N]\n"
              "Y[] = sum[i ? i < 2 || i >= 7](X[i])\nout Y\n",
              5);
    flops_are(state, "dim N=10\nin X: f32[N]\nY[] = sum[i ? i != 3](X[i])\nout Y\n", 9);
    flops_are(state, "dim N=10\nin X: f32[N]\nY[] = sum[i ? !(i < 2 || i == 5)](X[i])\nout Y\n", 7);
}

static void
a_transposed_convolution(void **state)
{
    /* along one dimension: x+1-r even for x < 8, r < 4: 16 of 32 pairs, two of them outside */
    flops_are(state,
              "dim C=3, K=5, H=4, W=4\nin X: f32[C,H,W]; in F: f32[C,K,4,4]\n"
              "Y[k,y:8,x:8] = sum[c,r,s ? (y+1-r)%2 == 0 && (x+1-s)%2 == 0]"
              "(F[c,k,r,s]*X[c,(y+1-r)/2,(x+1-s)/2 | 0])\nout Y\n",
              2.0 * 3 * 5 * 14 * 14);
}

static void
zeros_from_outside_do_not_count(void **state)
{
    /* of 10 times 3 places two are outside */
    flops_are(state,
              "dim N=10\nin X: f32[N]; in F: f32[3]\n"
              "Y[i:N] = sum[r](F[r]*X[i+r-1 | 0])\nout Y\n",
              2.0 * (30 - 2));
    /* other defaults and other reductions do */
    flops_are(state,
              "dim N=10\nin X: f32[N]; in F: f32[3]\n"
              "Y[i:N] = sum[r](F[r]*X[i+r-1 | 1])\nout Y\n",
              2.0 * 30);
    flops_are(state,
              "dim N=10\nin X: f32[N]; in F: f32[3]\n"
              "Y[i:N] = max[r](F[r]*X[i+r-1 | 0])\nout Y\n",
              2.0 * 30);
    flops_are(state,
              "dim N=10\nin X: f32[N]; in F: f32[3]\n"
              "Y[i:N] = sum[r](F[r]+X[i+r-1 | 0])\nout Y\n",
              2.0 * 30);
}

static void
each_piece_counts_in_its_part(void **state)
{
    /* 6 selects, 2 additions in the first piece, 3 exponentials in the second, none in the third */
    struct cost cost = cost_of(state, "dim A=2, B=3\nin X: f32[A]; in Z: f32[B]\n"
                                      "Y[c:A+B+1] = cat[c](X[c]+1, exp(Z[c]), 0.0:1)\nout Y\n");
    is_count(cost.flops, 6 + 2);
    is_count(cost.apart[OP_EXP], 3);
}

static void
only_the_chosen_branch_counts(void **state)
{
    struct cost cost = cost_of(state, "dim N=10\nin X: f32[N]\n"
                                      "Y[i] = if(i < 3, exp(X[i]), X[i]*X[i]+1)\nout Y\n");
    is_count(cost.apart[OP_EXP], 3);
    is_count(cost.flops, 10 + 7 * 2);
    /* on data: the dearer one */
    cost = cost_of(state, "dim N=10\nin X: f32[N]\n"
                          "Y[i] = if(X[i] > 0, X[i]*3, X[i]*X[i]+1)\nout Y\n");
    is_count(cost.flops, 10 * (1 + 1 + 2));
    assert_true(cost.exact);
}

static void
a_default_counts_where_it_is_taken(void **state)
{
    /* i-1 and i+1: outside once each */
    flops_are(state,
              "dim N=10\nin X: f32[N]; in B: f32[N]\n"
              "Y[i] = X[i-1 | B[i]*2] + X[i+1 | 0]\nout Y\n",
              10 + 1);
}

static void
a_filter_on_data_is_not_exact(void **state)
{
    struct cost cost = cost_of(state, "dim N=10\nin X: f32[N]\n"
                                      "Y[] = sum[i ? X[i] > 0 && i < 5](X[i]*X[i])\nout Y\n");
    is_count(cost.flops, 10 + 5 * 2);
    assert_false(cost.exact);
}

static void
what_is_too_large_counts_as_passing(void **state)
{
    struct cost cost = cost_of(state, "dim N=65536\nin X: f32[N]\n"
                                      "Y[i:N] = sum[j ? (i*j) % 7 == 0](X[j])\nout Y\n");
    is_count(cost.flops, 65536.0 * 65536.0);
    assert_false(cost.exact);
}

/* ---- bytes ---- */

static void
only_what_can_be_read_counts(void **state)
{
    struct cost cost = cost_of(state, "dim N=10\nin X: f32[N,N]\n"
                                      "Y[i:4] = X[2,i+1] + X[3,i]\nout Y\n");
    is_count(cost.bytes_in, 4 * 2 * 5);
    is_count(cost.bytes_out, 4 * 4);
    cost = cost_of(state, "dim N=10\nin X: f16[N]\nY[i:N]: f64 = X[i-3 | 0]\nout Y\n");
    is_count(cost.bytes_in, 2 * 7);
    is_count(cost.bytes_out, 80);
}

static void
a_gather_can_read_its_domain(void **state)
{
    struct cost cost = cost_of(state, "dim V=100, D=8, B=3\n"
                                      "in E: f32[V,D]; in T: i32[B] from 10 to 19\n"
                                      "Y[b,d] = E[T[b],d]\nout Y\n");
    is_count(cost.bytes_in, 4 * 10 * 8 + 4 * 3);
    is_count(cost.bytes_out, 4 * 3 * 8);
}

/* ---- speed of light ---- */

static const struct lang_machine simple = {
    .name = "test",
    .threads = 1,
    .gflops_f32 = 10,
    .gflops_f64 = 5,
    .level_count = 2,
    .level = {{"L1", 1000, 100}, {"memory", INFINITY, 10}},
};

static void
light_is_the_largest_of_three(void **state)
{
    struct lang_machine machine = simple;
    struct program *program = program_of(state, "dim N=1000\nin X: f32[N]\n"
                                                "Y[i] = exp(X[i])\nout Y\n");
    struct cost cost;
    struct light light;
    lang_cost(program, &cost);
    lang_light(program, &cost, &machine, &light);
    assert_string_equal(light.limit, "memory");
    is_count(light.us, 8000 / 10e3);
    machine.function_ns[OP_EXP] = 2;
    lang_light(program, &cost, &machine, &light);
    assert_string_equal(light.limit, "exp");
    is_count(light.us, 2);
    cost.flops = 1e9;
    lang_light(program, &cost, &machine, &light);
    assert_string_equal(light.limit, "compute");
    is_count(light.us, 1e5);
}

static void
light_knows_levels_and_f64(void **state)
{
    struct program *program = program_of(state, "dim N=10\nin X: f64[N]\n"
                                                "Y[i] = X[i]*X[i]\nout Y\n");
    struct cost cost;
    struct light light;
    lang_cost(program, &cost);
    lang_light(program, &cost, &simple, &light);
    assert_string_equal(light.level, "L1");
    is_count(light.memory_us, 160 / 100e3);
    is_count(light.compute_us, 10 / 5e3);
}

/* Half a level is its own; then more and more of it is the next one's, which it is when full. */
static void
light_fades_into_the_next_level(void **state)
{
    static const struct {
        double bytes, us;
        const char *level;
    } at[] = {{500, 500 / 100e3, "L1"},
              {625, 0.75 * 625 / 100e3 + 0.25 * 625 / 10e3, "L1"},
              {875, 0.25 * 875 / 100e3 + 0.75 * 875 / 10e3, "memory"},
              {1000, 1000 / 10e3, "memory"},
              {1001, 1001 / 10e3, "memory"}};
    struct program *program = program_of(state, "in X: f32[9]\nY[i] = X[i]\nout Y\n");
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        struct cost cost = {.bytes_in = at[i].bytes - 100, .bytes_out = 100};
        struct light light;
        lang_light(program, &cost, &simple, &light);
        assert_true(fabs(light.us - at[i].us) < 1e-12);
        assert_string_equal(light.level, at[i].level);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(a_product_of_matrices),
        UNIT_TEST(softmax_lists_its_functions_apart),
        UNIT_TEST(index_arithmetic_and_constants_are_free),
        UNIT_TEST(integers_from_tensors_count),
        UNIT_TEST(square_roots_are_both_functions_only_apart),
        UNIT_TEST(equal_nodes_count_once),
        UNIT_TEST(a_mean_divides_once),
        UNIT_TEST(argmax_compares_each_term),
        UNIT_TEST(a_causal_filter),
        UNIT_TEST(a_window),
        UNIT_TEST(blocks_of_a_mask),
        UNIT_TEST(a_large_causal_filter_is_exact),
        UNIT_TEST(alternatives_are_counted_by_what_they_leave),
        UNIT_TEST(a_transposed_convolution),
        UNIT_TEST(zeros_from_outside_do_not_count),
        UNIT_TEST(each_piece_counts_in_its_part),
        UNIT_TEST(only_the_chosen_branch_counts),
        UNIT_TEST(a_default_counts_where_it_is_taken),
        UNIT_TEST(a_filter_on_data_is_not_exact),
        UNIT_TEST(what_is_too_large_counts_as_passing),
        UNIT_TEST(only_what_can_be_read_counts),
        UNIT_TEST(a_gather_can_read_its_domain),
        UNIT_TEST(light_is_the_largest_of_three),
        UNIT_TEST(light_knows_levels_and_f64),
        UNIT_TEST(light_fades_into_the_next_level),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
