/* Libraries that are there give what the program means; those that are not are skipped. */
#include "task_unit.h"

#include "bridge/library.h"
#include "lang/lang.h"
#include "task/task.h"

#include <math.h>

/* What the libraries make lives as long as their process. */
const char *
__asan_default_options(void);

const char *
__asan_default_options(void)
{
    return "detect_leaks=0";
}

/* A kernel's arguments: inputs drawn, the output never written. */
static void **
buffers_of(struct unit *unit, const struct program *program)
{
    void **inputs = task_draw_all(unit->arena, program, DRAW_NORMAL, 1);
    void **buffers = arena_array(unit->arena, 3, sizeof *buffers);

    buffers[0] = inputs[0];
    buffers[1] = inputs[1];
    buffers[2] = arena_array(unit->arena, (size_t)program->outputs[0]->count, sizeof(float));
    return buffers;
}

static void
gives_the_meaning(struct unit *unit, const struct program *program, void **buffers,
                  const struct library_call *call)
{
    size_t count = (size_t)program->outputs[0]->count;
    struct lang_result result = {0};
    float *got = buffers[2];

    memset(got, 0xff, count * sizeof *got);
    call->run(call->state);
    if (call->fetch)
        call->fetch(call->state);
    assert_int_equal(lang_interpret(unit->arena, program, (const void *const *)buffers, &result),
                     STATUS_OK);
    for (size_t i = 0; i < count; i++)
        if (!(fabs((double)got[i] - result.v[i]) < 1e-4))
            fail_msg("%s: element %zu is %g, not %g", call->name, i, (double)got[i], result.v[i]);
}

static const char *const products[] = {
    "in A: f32[5,7]  in B: f32[7,3]\nY = matmul(A, B)\nout Y\n",
    "in A: f32[7,5]  in B: f32[7,3]\nY = matmul_tn(A, B)\nout Y\n",
    "in A: f32[5,7]  in B: f32[3,7]\nY = matmul_nt(A, B)\nout Y\n",
    "in A: f32[7,5]  in B: f32[3,7]\nY = matmul_tt(A, B)\nout Y\n",
    "in A: f32[2,5,7]  in B: f32[2,3,7]\nY = matmul_nt(A, B)\nout Y\n",
    "in A: f32[2,5,7]  in B: f32[7,3]\nY = matmul_shared(A, B)\nout Y\n",
    "in A: f32[5,7]  in X: f32[7]\nY = matvec(A, X)\nout Y\n",
    "in A: f32[7,5]  in X: f32[7]\nY[m] = sum[k](A[k,m]*X[k])\nout Y\n",
    "in B: f32[7,3]  in A: f32[5,7]\nY[i,j] = sum[k](B[k,j]*A[i,k])\nout Y\n",
    NULL,
};

static const char *const convolutions[] = {
    "in X: f32[2,3,9,8]  in F: f32[4,3,3,5]\nY = conv2d(X, F, stride=2, pad=1)\nout Y\n",
    "in X: f32[2,4,9,9]  in F: f32[6,2,3,3]\nY = conv2d(X, F, groups=2, pad=2, dilation=2)\nout "
    "Y\n",
    "in X: f32[2,4,9,8]  in F: f32[4,1,3,3]\nY = depthwise_conv2d(X, F, stride=2)\nout Y\n",
    "in X: f32[2,3,20]  in F: f32[4,3,5]\nY = conv1d(X, F, stride=3, dilation=2)\nout Y\n",
    "in X: f32[2,3,5,6,7]  in F: f32[4,3,3,3,1]\nY = conv3d(X, F, pad_d=1)\nout Y\n",
    NULL,
};

/* Needs none of them: every program here is one that they are asked for, and each says what to
 * install. */
static void
each_is_known(void **state)
{
    struct unit *unit = *state;
    struct exact_product product;
    struct exact_convolution convolution;

    for (const struct library_info *info = library_table; info->name; info++) {
        assert_ptr_equal(library_named(info->name), info);
        assert_true(*info->title && *info->package && info->files[0]);
    }
    assert_null(library_named("nobody"));
    for (size_t i = 0; products[i]; i++) {
        assert_true(exact_product(parse(unit, products[i]), &product));
        assert_false(exact_convolution(parse(unit, products[i]), &convolution));
    }
    for (size_t i = 0; convolutions[i]; i++) {
        assert_true(exact_convolution(parse(unit, convolutions[i]), &convolution));
        assert_false(exact_product(parse(unit, convolutions[i]), &product));
    }
}

typedef bool
product_fn(struct arena *arena, const struct exact_product *product, void *const *buffers,
           struct library_call *call);

static void
try_products(struct unit *unit, const char *library, product_fn *prepare)
{
    if (!library_load(library_named(library)->files)) {
        print_message("%s is not installed\n", library);
        skip();
    }
    for (size_t i = 0; products[i]; i++) {
        const struct program *program = parse(unit, products[i]);
        void **buffers = buffers_of(unit, program);
        struct exact_product product;
        struct library_call call;

        assert_true(exact_product(program, &product));
        assert_true(prepare(unit->arena, &product, buffers, &call));
        gives_the_meaning(unit, program, buffers, &call);
    }
}

static void
openblas(void **state)
{
    library_environment(((struct unit *)*state)->arena, 1);
    try_products(*state, "openblas", library_openblas);
}

static void
blis(void **state)
{
    library_environment(((struct unit *)*state)->arena, 1);
    try_products(*state, "blis", library_blis);
}

static void
onednn_products(void **state)
{
    library_environment(((struct unit *)*state)->arena, 1);
    try_products(*state, "onednn", library_dnnl_product);
}

static void
onednn_convolutions(void **state)
{
    struct unit *unit = *state;

    library_environment(unit->arena, 1);
    if (!library_load(library_named("onednn")->files)) {
        print_message("oneDNN is not installed\n");
        skip();
    }
    for (size_t i = 0; convolutions[i]; i++) {
        const struct program *program = parse(unit, convolutions[i]);
        void **buffers = buffers_of(unit, program);
        struct exact_convolution c;
        struct library_call call;

        assert_true(exact_convolution(program, &c));
        for (int blocked = 0; blocked < 2; blocked++) {
            assert_true(
                library_dnnl_convolution(unit->arena, program, &c, buffers, blocked, &call));
            gives_the_meaning(unit, program, buffers, &call);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(each_is_known),
        UNIT_TEST(openblas),
        UNIT_TEST(blis),
        UNIT_TEST(onednn_products),
        UNIT_TEST(onednn_convolutions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
