/* Which programs are exactly a product or a convolution, and which only look like one. */
#include "task_unit.h"

#include "bench/suite.h"
#include "bridge/exact.h"
#include "lang/lang.h"

#include <stdlib.h>

/* ---- products ---- */

static void
products(void **state)
{
    static const struct {
        const char *text;
        int64_t batch, m, n, k;
        bool a, b; /* transposed */
        size_t first;
    } rows[] = {
        {"in A: f32[5,7]  in B: f32[7,3]\nY = matmul(A, B)\nout Y\n", 1, 5, 3, 7, 0, 0, 0},
        {"in A: f32[7,5]  in B: f32[7,3]\nY = matmul_tn(A, B)\nout Y\n", 1, 5, 3, 7, 1, 0, 0},
        {"in A: f32[5,7]  in B: f32[3,7]\nY = matmul_nt(A, B)\nout Y\n", 1, 5, 3, 7, 0, 1, 0},
        {"in A: f32[7,5]  in B: f32[3,7]\nY = matmul_tt(A, B)\nout Y\n", 1, 5, 3, 7, 1, 1, 0},
        {"in A: f32[2,5,7]  in B: f32[2,7,3]\nY = bmm(A, B)\nout Y\n", 2, 5, 3, 7, 0, 0, 0},
        {"in A: f32[2,4,5,7]  in B: f32[2,4,3,7]\nY = matmul_nt(A, B)\nout Y\n", 8, 5, 3, 7, 0, 1,
         0},
        {"in A: f32[2,5,7]  in B: f32[7,3]\nY = matmul_shared(A, B)\nout Y\n", 1, 10, 3, 7, 0, 0,
         0},
        {"in A: f32[5,7]  in X: f32[7]\nY = matvec(A, X)\nout Y\n", 1, 5, 1, 7, 0, 0, 0},
        {"in A: f32[5,7]  in B: f32[7,1]\nY = matmul(A, B)\nout Y\n", 1, 5, 1, 7, 0, 0, 0},
        /* however it is written: the second input stands on the left, the factors are swapped */
        {"in B: f32[7,3]  in A: f32[5,7]\nY[i,j] = sum[k](B[k,j] * A[i,k])\nout Y\n", 1, 5, 3, 7, 0,
         0, 1},
    };
    struct unit *unit = *state;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct exact_product p;
        struct exact_convolution c;
        const struct program *program = parse(unit, rows[i].text);

        if (!exact_product(program, &p))
            fail_msg("not seen: %s", rows[i].text);
        assert_true(p.batch == rows[i].batch && p.m == rows[i].m && p.n == rows[i].n &&
                    p.k == rows[i].k);
        assert_true(p.transposed_a == rows[i].a && p.transposed_b == rows[i].b);
        assert_true(p.a == rows[i].first && p.b == 1 - rows[i].first);
        assert_false(exact_convolution(program, &c));
    }
}

/* ---- convolutions ---- */

static void
convolutions(void **state)
{
    static const struct {
        const char *text;
        unsigned spatial;
        int64_t groups, stride[3], pad[3], dilation[3];
    } rows[] = {
        {"in X: f32[2,3,9,8]  in F: f32[4,3,3,3]\nY = conv2d(X, F)\nout Y\n",
         2,
         1,
         {1, 1},
         {0, 0},
         {1, 1}},
        {"in X: f32[2,3,9,8]  in F: f32[4,3,3,5]\nY = conv2d(X, F, stride=2, pad=1)\nout Y\n",
         2,
         1,
         {2, 2},
         {1, 1},
         {1, 1}},
        {"in X: f32[2,4,9,9]  in F: f32[6,2,3,3]\nY = conv2d(X, F, groups=2, pad=2, "
         "dilation=2)\nout Y\n",
         2,
         2,
         {1, 1},
         {2, 2},
         {2, 2}},
        {"in X: f32[2,4,9,9]  in F: f32[4,1,3,3]\nY = depthwise_conv2d(X, F, pad=1)\nout Y\n",
         2,
         4,
         {1, 1},
         {1, 1},
         {1, 1}},
        {"in X: f32[2,4,9,9]  in F: f32[6,4,1,1]\nY = conv2d(X, F)\nout Y\n",
         2,
         1,
         {1, 1},
         {0, 0},
         {1, 1}},
        {"in X: f32[2,3,20]  in F: f32[4,3,5]\nY = conv1d(X, F, stride=3, dilation=2)\nout Y\n",
         1,
         1,
         {3},
         {0},
         {2}},
        {"in X: f32[2,3,5,6,7]  in F: f32[4,3,3,3,1]\nY = conv3d(X, F, pad_d=1)\nout Y\n",
         3,
         1,
         {1, 1, 1},
         {1, 0, 0},
         {1, 1, 1}},
    };
    struct unit *unit = *state;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct exact_convolution c;
        struct exact_product p;
        const struct program *program = parse(unit, rows[i].text);

        if (!exact_convolution(program, &c))
            fail_msg("not seen: %s", rows[i].text);
        assert_true(c.spatial == rows[i].spatial && c.groups == rows[i].groups);
        assert_true(c.x == 0 && c.f == 1);
        for (unsigned d = 0; d < c.spatial; d++)
            assert_true(c.stride[d] == rows[i].stride[d] && c.pad[d] == rows[i].pad[d] &&
                        c.dilation[d] == rows[i].dilation[d]);
        assert_false(exact_product(program, &p));
    }
}

/* ---- neither ---- */

static void
what_only_looks_like_one(void **state)
{
    static const char *const texts[] = {
        /* something besides */
        "in A: f32[5,7]  in B: f32[7,3]\nM = matmul(A, B)\nY[i,j] = max(M[i,j], 0)\nout Y\n",
        "in A: f32[5,7]  in B: f32[7,3]\nY[i,j] = 2 * sum[k](A[i,k]*B[k,j])\nout Y\n",
        "in A: f32[5,7]  in B: f32[7,3]  in C: f32[3]\nY[i,j] = C[j] + sum[k](A[i,k]*B[k,j])\n"
        "out Y\n",
        "in X: f32[2,3,9,8]  in F: f32[4,3,3,3]  in b: f32[4]\nY = conv2d(X, F, b)\nout Y\n",
        "in A: f32[5,7]  in B: f32[7,3]\nY = matmul(A, B)\nZ = matmul(A, B)\nout Y, Z\n",
        /* another type, another reduction, another order */
        "in A: f64[5,7]  in B: f64[7,3]\nY = matmul(A, B)\nout Y\n",
        "in A: f16[5,7]  in B: f16[7,3]\nY = matmul(A, B)\nout Y\n",
        "in A: f32[5,7]  in B: f32[7,3]\nY[i,j] = mean[k](A[i,k]*B[k,j])\nout Y\n",
        "in A: f32[5,7]  in B: f32[7,3]\nY[i,j] = sum[k](A[i,k]+B[k,j])\nout Y\n",
        "in A: f32[5,7]  in B: f32[5,7]\nY[i,j] = A[i,j]*B[i,j]\nout Y\n",
        "in A: f32[7,7]  in B: f32[7,7]\nY[i,j] = sum[k ? k <= i](A[i,k]*B[k,j])\nout Y\n",
        "in A: f32[7,7]  in B: f32[7,7]\nY[i,j] = sum[k](A[i,6-k]*B[k,j])\nout Y\n",
        "in A: f32[7,7]  in B: f32[7,7]\nY[i,j:7] = sum[k](A[i,k]*B[k,i])\nout Y\n",
        "in A: f32[9,7]  in B: f32[7,3]\nY[i:5,j] = sum[k](A[i,k]*B[k,j])\nout Y\n",
        "in A: f32[7,7]\nY[i,j] = sum[k](A[i,k]*A[k,j])\nout Y\n",
        /* windows: filled with ones, turned round, of a transposed convolution */
        "in X: f32[2,3,9]  in F: f32[4,3,3]\nY[n,k,y:9] = sum[c,r](F[k,c,r]*X[n,c,y+r-1 | 1])\n"
        "out Y\n",
        "in X: f32[2,3,9]  in F: f32[4,3,3]\nY[n,k,y:7] = sum[c,r](F[k,c,r]*X[n,c,y+2-r])\nout Y\n",
        "in X: f32[2,3,9,8]  in F: f32[3,4,3,3]\nY = conv_transpose2d(X, F, stride=2)\nout Y\n",
        "in X: f32[2,4,9]  in F: f32[4,2,3]\nY[n,k,y:7] = sum[c,r](F[k,c,r]*X[n,k%2*2+c,y+r])\n"
        "out Y\n",
    };
    struct unit *unit = *state;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const struct program *program = parse(unit, texts[i]);
        struct exact_product p;
        struct exact_convolution c;

        if (exact_product(program, &p) || exact_convolution(program, &c))
            fail_msg("taken for one: %s", texts[i]);
    }
}

/* ---- suites ---- */

/* Which tasks of KernelBench's first level a library has, by their numbers. */
static void
tasks_of_a_suite(void **state)
{
    static const int64_t products[] = {1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 13, 16, 17, 18, 0};
    static const int64_t convolutions[] = {54, 55, 56, 59, 60, 62, 63, 66, 67,
                                           76, 80, 82, 83, 84, 85, 87, 0};
    struct unit *unit = *state;
    struct suite_plan plan = {0};
    const int64_t *product = products, *convolution = convolutions;

    setenv("HONE_SUITES", arena_printf(unit->arena, "%s/suites", getenv("ROOT")), 1);
    assert_int_equal(suite_select(unit->arena, "kernelbench/1", &plan, unit->diags), STATUS_OK);
    for (size_t i = 0; i < plan.count; i++) {
        struct lang *lang = lang_open(unit->arena, plan.tasks[i].path, unit->diags);
        const struct program *program = lang_program(lang, 0, NULL, 0, unit->diags);
        struct exact_product p;
        struct exact_convolution c;

        if (exact_product(program, &p))
            assert_int_equal(plan.tasks[i].number, *product++);
        if (exact_convolution(program, &c))
            assert_int_equal(plan.tasks[i].number, *convolution++);
    }
    assert_true(*product == 0 && *convolution == 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(products),
        UNIT_TEST(convolutions),
        UNIT_TEST(what_only_looks_like_one),
        UNIT_TEST(tasks_of_a_suite),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
