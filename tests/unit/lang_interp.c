/* The interpreter: the meaning of small programs, and how sure the reference is of it. */
#include "unit.h"

#include "base/fault.h"
#include "base/num.h"
#include "lang/lang.h"

#include <math.h>

#define U 0x1p-24

static struct program *
load(struct unit *unit, const char *text)
{
    struct lang *lang = lang_parse(unit->arena, "test.op", text, strlen(text), unit->diags);
    struct program *program = lang ? lang_program(lang, 0, NULL, 0, unit->diags) : NULL;

    if (!program)
        fail_msg("%s", unit_printed(unit, false));
    return program;
}

/* Runs a program on these inputs. */
static struct lang_result *
run(void **state, const char *text, ...)
{
    struct unit *unit = *state;
    struct program *program = load(unit, text);
    const void *inputs[16];
    struct lang_result *results;
    va_list args;

    va_start(args, text);
    for (size_t i = 0; i < program->input_count; i++)
        inputs[i] = va_arg(args, const void *);
    va_end(args);
    results = arena_array(unit->arena, program->output_count, sizeof *results);
    assert_int_equal(lang_interpret(unit->arena, program, inputs, results), STATUS_OK);
    return results;
}

static void
close_to(double got, double want)
{
    if (got == want || (isnan(got) && isnan(want)))
        return;
    if (!(fabs(got - want) <= 1e-9 * fabs(want)))
        fail_msg("%.17g instead of %.17g", got, want);
}

static void
is_values(const struct lang_result *result, const double *want, int64_t count)
{
    assert_int_equal(result->tensor->count, count);
    for (int64_t i = 0; i < count; i++)
        close_to(result->v[i], want[i]);
}

#define VALUES(result, ...)                          \
    is_values(result, (const double[]){__VA_ARGS__}, \
              sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

static bool
is_judged(const struct lang_result *result, int64_t at)
{
    return !isnan(result->g[at]);
}

/* ---- values ---- */

static void
sums_of_products(void **state)
{
    const float a[] = {1, 2, 3, 4, 5, 6}, b[] = {1, -1, 2, 0.5F, 0, 3};
    struct lang_result *r = run(state,
                                "dim M=2, N=2, K=3\n"
                                "in A: f32[M,K]; in B: f32[K,N]\n"
                                "Y[m,n] = sum[k](A[m,k]*B[k,n])\n"
                                "out Y\n",
                                a, b);
    double s = 5, q = 1 + 16, n = 3; /* the terms of the first element: 1, 4, 0 */
    double walk = q + s * s * (n + 1) * (2 * n + 1) / (6 * n) + (n + 1) * (q - s * s / n) / 6;

    VALUES(r, 5, 9, 14, 16.5);
    close_to(r->g[0], U * sqrt(q + walk));
    close_to(r->c[0], 5 * U + 3 * U * (5 + 5 * U));
}

static void
stages_feed_each_other(void **state)
{
    const float x[] = {1, 2, 3, 4, 0, 0, 0, 8};
    struct lang_result *r = run(state,
                                "dim R=2, N=4\n"
                                "in X: f32[R,N]\n"
                                "M[r] = max[j](X[r,j])\n"
                                "E[r,j] = exp(X[r,j]-M[r])\n"
                                "Y[r,j] = E[r,j] / sum[k](E[r,k])\n"
                                "out Y, M\n",
                                x);
    double sum = exp(-3) + exp(-2) + exp(-1) + 1;

    VALUES(&r[0], exp(-3) / sum, exp(-2) / sum, exp(-1) / sum, 1 / sum, exp(-8) / (1 + 3 * exp(-8)),
           exp(-8) / (1 + 3 * exp(-8)), exp(-8) / (1 + 3 * exp(-8)), 1 / (1 + 3 * exp(-8)));
    VALUES(&r[1], 4, 8);
    assert_true(r[1].g[0] == 0 && r[1].c[1] == 0);
    assert_true(r[0].g[0] > 0 && r[0].g[0] < 10 * U * r[0].v[0] && r[0].c[0] >= r[0].g[0]);
}

static void
shared_nodes_follow_the_indices(void **state)
{
    const float x[] = {1, 2, 3};
    struct lang_result *r = run(state,
                                "dim N=3\n"
                                "in X: f32[N]\n"
                                "Y[i] = sum[j:N,k:2]((X[i]+X[j])*(X[i]+X[j]) + k*X[i]) + X[i]\n"
                                "Z[i:N] = sum[j](X[j]*X[j]) + sum[j:2](X[j]*X[j])\n"
                                "out Y, Z\n",
                                x);

    VALUES(&r[0], 2 * (4 + 9 + 16) + 3 + 1, 2 * (9 + 16 + 25) + 6 + 2, 2 * (16 + 25 + 36) + 9 + 3);
    VALUES(&r[1], 19, 19, 19);
}

static void
integers_floor_and_wrap(void **state)
{
    const int32_t a[] = {-7, 7, 2000000000};
    const int8_t w[] = {100, -128, 5};
    struct lang_result *r = run(state,
                                "dim N=3\n"
                                "in A: i32[N]; in W: i8[N]\n"
                                "Q[i] = A[i]/2\n"
                                "R[i] = A[i]%2\n"
                                "S[i] = A[i]+A[i]\n"
                                "T[i]: i8 = W[i]*2\n"
                                "V[i]: u8 = -W[i]\n"
                                "L[i] = A[i]*A[i]/A[i]\n"
                                "out Q, R, S, T, V, L\n",
                                a, w);

    VALUES(&r[0], -4, 3, 1000000000);
    VALUES(&r[1], 1, 1, 0);
    VALUES(&r[2], -14, 14, -294967296);
    VALUES(&r[3], -56, 0, 10);
    VALUES(&r[4], 156, 128, 251);
    VALUES(&r[5], -7, 7, 2000000000); /* 64 bits in between */
    for (size_t o = 0; o < 6; o++)
        for (int64_t i = 0; i < 3; i++)
            assert_true(r[o].g[i] == 0 && r[o].c[i] == 0);
}

static void
empty_and_filtered_reductions(void **state)
{
    const float x[] = {3, -1, 4, -1};
    struct lang_result *r = run(state,
                                "dim N=4\n"
                                "in X: f32[N]\n"
                                "S[i:N] = sum[j ? j < i](X[j])\n"
                                "P[i:N] = prod[j ? j < i](X[j])\n"
                                "H[i:N] = max[j ? j < i](X[j])\n"
                                "L[i:N] = min[j ? j < i](X[j])\n"
                                "A[i:N] = argmax[j ? j < i](X[j])\n"
                                "M[i:N] = mean[j ? j < i](X[j])\n"
                                "I[i:N] = max[j:N ? j < i](j*j)\n"
                                "out S, P, H, L, A, M, I\n",
                                x);

    VALUES(&r[0], 0, 3, 2, 6);
    VALUES(&r[1], 1, 3, -3, -12);
    VALUES(&r[2], -INFINITY, 3, 3, 4);
    VALUES(&r[3], INFINITY, 3, -1, -1);
    VALUES(&r[4], -1, 0, 0, 2);
    close_to(r[5].v[2], 1);
    assert_false(is_judged(&r[5], 0)); /* 0/0 */
    assert_true(is_judged(&r[5], 1));
    VALUES(&r[6], INT32_MIN, 0, 1, 4);
    assert_true(r[2].g[0] == 0 && r[2].c[0] == 0);
}

/* A filter that rounding could turn leaves its result unjudged. */
static void
filters_in_doubt(void **state)
{
    const float x[] = {0.1F, 0.2F, 0.3F, 5};
    struct lang_result *r = run(state,
                                "dim N=4\n"
                                "in X: f32[N]\n"
                                "Y[i:2] = sum[j ? X[0]*3 + i <= X[j] + 0](X[j])\n"
                                "A[i:2] = argmax[j ? X[0]*3 + i <= X[j] + 0](X[j])\n"
                                "out Y, A\n",
                                x);

    assert_false(is_judged(&r[0], 0));
    assert_true(is_judged(&r[0], 1));
    close_to(r[0].v[1], 5);
    assert_true(isnan(r[1].term_g[2]) && isnan(r[1].term_v[4]));
    assert_true(r[1].term_g[4] == 0);
}

static void
argmax_shows_its_terms(void **state)
{
    const float x[] = {1, 7, 7, 2, /**/ 1, 2, 3, 4, /**/ 0.1F, 0.3F, 0.2F, 0.3F};
    const float e[] = {10, 20, 30, 40};
    struct lang_result *r = run(state,
                                "dim B=3, N=4\n"
                                "in X: f32[B,N]; in E: f32[N]\n"
                                "K[b] = argmax[j](X[b,j])\n"
                                "Z[b] = argmin[j](X[b,j])\n"
                                "S[b] = argmax[j](X[b,j]*0.7)\n"
                                "Y[b] = E[K[b]]\n"
                                "W[b] = E[S[b]]\n"
                                "out K, Z, S, Y, W\n",
                                x, e);

    VALUES(&r[0], 1, 3, 1); /* the smallest among equals */
    VALUES(&r[1], 0, 0, 0);
    VALUES(&r[3], 20, 40, 20);
    assert_int_equal(r[0].terms, 4);
    for (int64_t i = 0; i < 12; i++)
        assert_true(r[0].term_v[i] == x[i] && r[0].term_g[i] == 0);
    assert_true(is_judged(&r[2], 1) && is_judged(&r[4], 1));
    assert_false(is_judged(&r[2], 0) || is_judged(&r[2], 2)); /* ties after rounding */
    assert_false(is_judged(&r[4], 0) || is_judged(&r[4], 2)); /* and what they choose */
    close_to(r[2].term_v[1], 7 * 0.7);
    assert_true(r[2].term_g[1] > 0 && r[2].term_c[1] >= r[2].term_g[1]);
    assert_int_equal(r[3].terms, 0);
}

static void
gathers_and_defaults(void **state)
{
    const float x[] = {1, 2, 3, 4};
    const int32_t at[] = {3, 0, 2};
    struct lang_result *r = run(state,
                                "dim N=4, M=3\n"
                                "in X: f32[N]; in T: i32[M] from 0 to N-1\n"
                                "G[m] = X[T[m]]\n"
                                "D[i:6] = X[i-1 | 9.5]\n"
                                "F[i:6] = X[i | X[i-4 | -1]]\n"
                                "H[m] = X[T[m]+1 | 0]\n"
                                "out G, D, F, H\n",
                                x, at);

    VALUES(&r[0], 4, 1, 3);
    VALUES(&r[1], 9.5, 1, 2, 3, 4, 9.5);
    VALUES(&r[2], 1, 2, 3, 4, 1, 2);
    VALUES(&r[3], 0, 2, 4);
}

static void
pieces_are_joined(void **state)
{
    const float a[] = {1, 2}, b[] = {3, 4, 5};
    struct lang_result *r = run(state,
                                "dim N=2, M=3\n"
                                "in A: f32[N]; in B: f32[M]\n"
                                "Y[c] = cat[c](A[c], 0.5:2, B[c])\n"
                                "out Y\n",
                                a, b);

    VALUES(r, 1, 2, 0.5, 0.5, 3, 4, 5);
}

static void
pieces_keep_their_ranges(void **state)
{
    const float x[] = {1, 2, 3, 4, 5, 6}, w[] = {1, 10, 100};
    /* a condition over a piece is not decided as if the piece began where the whole does */
    struct lang_result *r = run(state, "Y[c:5] = i32(cat[c](0:2, c:3) > 0)\nout Y\n");
    VALUES(r, 0, 0, 0, 1, 1);
    /* a reduction moved out of a piece has the piece's extent: X has two rows */
    r = run(state,
            "in X: f32[2,3]; in W: f32[3]\n"
            "Y[c:5] = cat[c](W[c]:3, sum[k](X[c,k]):2)*sum[j](W[j])\n"
            "out Y\n",
            x, w);
    VALUES(r, 111, 1110, 11100, 666, 1665);
}

static void
branches_are_lazy(void **state)
{
    const float x[] = {0, 2, -3};
    struct lang_result *r = run(state,
                                "dim N=3\n"
                                "in X: f32[N]\n"
                                "Y[i] = if(X[i] > 0, log(X[i]), 1/(X[i]-1))\n"
                                "B[i] = X[i] == 0 || 1/X[i] > 0\n"
                                "C[i] = X[i] != 0 && 1/X[i] > 0\n"
                                "out Y, B, C\n",
                                x);

    VALUES(&r[0], -1, log(2), -0.25);
    VALUES(&r[1], 1, 1, 0);
    VALUES(&r[2], 0, 1, 0);
    for (int64_t i = 0; i < 3; i++)
        assert_true(is_judged(&r[0], i) && r[1].g[i] == 0 && r[2].g[i] == 0);
}

static void
choices_in_doubt(void **state)
{
    const float x[] = {0.1F, 5};
    struct lang_result *r = run(state,
                                "dim N=2\n"
                                "in X: f32[N]\n"
                                "Y[i] = if(X[i]*3 > 0.3, 1, 2.5)\n"
                                "B[i] = X[i]*3 > 0.3\n"
                                "out Y, B\n",
                                x);

    close_to(r[0].g[0], 1.5 / 6);
    close_to(r[0].c[0], 1.5);
    assert_true(r[0].g[1] == 0 && r[0].v[1] == 1);
    close_to(r[1].g[0], 1.0 / 6);
    assert_true(r[1].g[1] == 0 && r[1].v[1] == 1);
}

static void
scans_run_along_their_index(void **state)
{
    const float x[] = {1, 2, 3, 4};
    struct lang_result *r = run(state,
                                "dim T=4\n"
                                "in X: f32[T]\n"
                                "S[t] = X[t] + S[t-1 | 10]\n"
                                "F[t:T,k:2]: f32 = F[t-1,1-k | k] + F[t-1,k | 1]*0\n"
                                "out S, F\n",
                                x);

    VALUES(&r[0], 11, 13, 16, 20);
    VALUES(&r[1], 0, 1, 1, 0, 0, 1, 1, 0);
    /* both sums rounded; in a tree over four elements each meets up to four more additions */
    close_to(r[0].g[1], U * sqrt(11 * 11 + 13 * 13 + 4 * (1 + 10) + 4 * (4 + 2 * 11)));
    close_to(r[0].c[3], U * (11 + 13 + 16 + 20 + 4 * (1 + 2 + 3 + 4)));
}

static void
recurrences_advance_together(void **state)
{
    const float w[] = {0.5F, -0.25F, 1, 0.125F};
    const float x[] = {1, 2, 3, 4, 5, 6};
    double h[2] = {1, 1}, want[6];
    struct lang_result *r = run(state,
                                "dim T=3, N=2\n"
                                "in X: f32[T,N]; in W: f32[N,N]\n"
                                "rec t:T {\n"
                                "    Z[t,n:N] = X[t,n] + sum[k:N](W[n,k]*H[t-1,k | 1])\n"
                                "    H[t,n:N] = tanh(Z[t,n]) + Z[t,n]\n"
                                "}\n"
                                "out H\n",
                                x, w);

    for (int t = 0; t < 3; t++) {
        double z[2];
        for (int n = 0; n < 2; n++)
            z[n] = x[2 * t + n] + w[2 * n] * h[0] + w[2 * n + 1] * h[1];
        for (int n = 0; n < 2; n++)
            want[2 * t + n] = h[n] = tanh(z[n]) + z[n];
    }
    is_values(r, want, 6);
}

static void
narrow_types_store_what_they_hold(void **state)
{
    const uint16_t half[] = {num_half_of_double(1.5), num_half_of_double(300)};
    const uint16_t brain[] = {num_bf16_of_double(1.5), num_bf16_of_double(3)};
    struct lang_result *r = run(state,
                                "dim N=2\n"
                                "in A: f16[N]; in B: bf16[N]\n"
                                "P[i]: f16 = A[i]*A[i]\n"
                                "Q[i]: bf16 = B[i]*B[i]\n"
                                "R[i] = A[i]*A[i]\n"
                                "S[i] = f64(A[i])*f64(B[i])\n"
                                "T[i]: f32 = S[i]*2.0\n"
                                "out P, Q, R, S, T\n",
                                half, brain);

    VALUES(&r[0], 2.25, 90000);
    close_to(r[0].g[0], hypot(U * 2.25, 0x1p-11 * 2.25));
    assert_false(is_judged(&r[0], 1)); /* beyond 65504 */
    close_to(r[1].g[1], hypot(U * 9, 0x1p-8 * 9));
    close_to(r[2].g[1], U * 90000);
    close_to(r[3].g[0], 0x1p-53 * 2.25);
    close_to(r[4].g[0], hypot(hypot(0x1p-53 * 4.5, 0x1p-53 * 4.5), U * 4.5));
}

static void
quantised_values_may_jump(void **state)
{
    const int8_t a[] = {3, 5, 100, 7};
    const float s[] = {0.5F, 0.1F, 2, 0.3F};
    struct lang_result *r = run(state,
                                "dim N=4\n"
                                "in A: i8[N]; in S: f32[N]\n"
                                "Y[i]: i8 = i8(clamp(round(A[i]*S[i]), -128, 127))\n"
                                "out Y\n",
                                a, s);

    VALUES(r, 2, 1, 127, 2); /* 1.5 and 0.5 (0.1F is above 0.1): to even, and upward */
    close_to(r->g[0], 1.0 / 6);
    close_to(r->g[1], 1.0 / 6);
    assert_true(r->g[2] == 0 && r->g[3] == 0);
}

static void
overflow_is_unjudged_infinity_is_not(void **state)
{
    const float x[] = {1e20F, -INFINITY, 1e-30F, 0x1p-140F};
    struct lang_result *r = run(state,
                                "dim N=4\n"
                                "in X: f32[N]\n"
                                "Y[i] = X[i]*X[i]\n"
                                "Z[i] = sum[j:2](X[i]) \n"
                                "E[i] = exp(X[i])\n"
                                "D[i] = f64(X[i])*f64(X[i])\n"
                                "out Y, Z, E, D\n",
                                x);

    assert_false(is_judged(&r[0], 0));
    assert_true(is_judged(&r[3], 0));
    assert_true(r[0].v[1] == INFINITY && r[0].g[1] == 0 && r[0].c[1] == 0);
    assert_true(r[1].v[1] == -INFINITY && r[1].g[1] == 0);
    assert_true(r[2].v[1] == 0 && r[2].g[1] == 0);
    close_to(r[0].g[2], r[0].v[2]);         /* underflows */
    assert_true(r[1].g[3] >= 2 * 0x1p-140); /* denormal: may be flushed */
    assert_false(is_judged(&r[2], 0));
}

static void
functions_in_programs(void **state)
{
    const float x[] = {-1, 0.5F, 25};
    struct lang_result *r = run(state,
                                "dim N=3\n"
                                "in X: f32[N]\n"
                                "A[i] = softplus(X[i])\n"
                                "B[i] = sigmoid(X[i]) + rsqrt(abs(X[i]))\n"
                                "C[i] = clamp(X[i], -0.25, 2) + sign(X[i]) + trunc(X[i]*1.5)\n"
                                "D[i] = pow(X[i], 2)\n"
                                "out A, B, C, D\n",
                                x);

    VALUES(&r[0], log1p(exp(-1)), log1p(exp(0.5)), 25);
    VALUES(&r[1], 1 / (1 + M_E) + 1, 1 / (1 + exp(-0.5)) + 1 / sqrt(0.5), 1 / (1 + exp(-25)) + 0.2);
    VALUES(&r[2], -0.25 - 1 - 1, 0.5 + 1 + 0, 2 + 1 + 37);
    VALUES(&r[3], 1, 0.25, 625);
    assert_true(is_judged(&r[3], 0));
}

static void
a_scalar_has_one_element(void **state)
{
    const float x[] = {2, 3}, s[] = {10};
    struct lang_result *r = run(state,
                                "dim N=2\n"
                                "in X: f32[N]; in s: f32[]\n"
                                "L[] = s[] * sum[i](X[i])\n"
                                "out L\n",
                                x, s);

    VALUES(r, 50);
}

static void
a_reference_in_c_is_not_ours(void **state)
{
    const struct foreign foreign = {.path = "f.c"};
    const struct program program = {.foreign = &foreign};
    struct unit *unit = *state;

    assert_int_equal(lang_interpret(unit->arena, &program, NULL, NULL), STATUS_INPUT);
}

#ifdef HONE_FAULTS
/* Whichever allocation fails, it is reported: by the status, or by the caller's own arena. */
static void
memory_runs_out(void **state)
{
    struct unit *unit = *state;
    const float x[] = {1, 2, 3};
    const void *inputs[] = {x};
    struct program *program = load(unit, "dim N=3\n"
                                         "in X: f32[N]\n"
                                         "H[i] = X[i] + 1.0\n"
                                         "Y[i] = argmax[j](H[j]*X[i])\n"
                                         "out Y\n");
    volatile unsigned long n = 0, failed = 0;
    enum status status = STATUS_MACHINE;

    while (status == STATUS_MACHINE && ++n < 100) {
        struct lang_result result;
        struct arena *arena = arena_create();
        jmp_buf no_memory;
        if (setjmp(no_memory) == 0) {
            arena_on_no_memory(arena, &no_memory);
            fault_arm(FAULT_ALLOC, n);
            status = lang_interpret(arena, program, inputs, &result);
        }
        fault_arm(FAULT_ALLOC, 0);
        failed += status == STATUS_MACHINE;
        arena_destroy(arena);
    }
    assert_int_equal(status, STATUS_OK);
    assert_true(failed >= 3); /* results, the scratch arena, and in it */
}
#endif

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(sums_of_products),
        UNIT_TEST(stages_feed_each_other),
        UNIT_TEST(shared_nodes_follow_the_indices),
        UNIT_TEST(integers_floor_and_wrap),
        UNIT_TEST(empty_and_filtered_reductions),
        UNIT_TEST(filters_in_doubt),
        UNIT_TEST(argmax_shows_its_terms),
        UNIT_TEST(gathers_and_defaults),
        UNIT_TEST(pieces_are_joined),
        UNIT_TEST(pieces_keep_their_ranges),
        UNIT_TEST(branches_are_lazy),
        UNIT_TEST(choices_in_doubt),
        UNIT_TEST(scans_run_along_their_index),
        UNIT_TEST(recurrences_advance_together),
        UNIT_TEST(narrow_types_store_what_they_hold),
        UNIT_TEST(quantised_values_may_jump),
        UNIT_TEST(overflow_is_unjudged_infinity_is_not),
        UNIT_TEST(functions_in_programs),
        UNIT_TEST(a_scalar_has_one_element),
        UNIT_TEST(a_reference_in_c_is_not_ours),
#ifdef HONE_FAULTS
        UNIT_TEST(memory_runs_out),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
