/* The measuring kernels compute what they are said to: a limit from a wrong function is none. */
#include "unit.h"

#include "measure/kernels_int.h"

#include <math.h>

#define COUNT 4096

static double
expected(enum op op, double x)
{
    switch (op) {
    case OP_DIV:
        return 3 / x;
    case OP_SQRT:
        return sqrt(x);
    case OP_RSQRT:
        return 1 / sqrt(x);
    case OP_EXP:
        return exp(x);
    case OP_EXP2:
        return exp2(x);
    case OP_LOG:
        return log(x);
    case OP_SIN:
        return sin(x);
    case OP_TANH:
        return tanh(x);
    case OP_ERF:
        return erf(x);
    case OP_SIGMOID:
        return 1 / (1 + exp(-x));
    default:
        return rint(x);
    }
}

static bool
needs_positive(enum op op)
{
    return op == OP_SQRT || op == OP_RSQRT || op == OP_LOG;
}

/* Eight units of 2^-24, of the value and absolute where the language allows absolute roundings. */
static void
check_function(const struct kernels *kernels, unsigned function)
{
    static _Alignas(64) float in[COUNT], out[COUNT];
    enum op op = function_op[function];
    for (unsigned i = 0; i < COUNT; i++)
        in[i] = needs_positive(op) ? ldexpf(1 + (float)(i % 256) / 256, (int)(i / 256) - 8)
                                   : ((float)i - 2047.5f) / 200;
    kernels->apply((enum function)function, out, in, COUNT);
    for (unsigned i = 0; i < COUNT; i++) {
        double value = expected(op, (double)in[i]), error = fabs((double)out[i] - value);
        double size = fabs(value) + (op_info[op].floor > 0 ? 1 : 0);
        if (!(error <= 8 * 0x1p-24 * size))
            fail_msg("%s, %s: of %a is %a, not %a: %.1f units", kernels->name,
                     function_name[function], (double)in[i], (double)out[i], value,
                     error / size / 0x1p-24);
    }
}

static void
functions_are_right(void **state)
{
    (void)state;
    for (unsigned set = 0; measure__kernels[set] != NULL; set++)
        for (unsigned function = 0; function < FUNCTION_COUNT; function++)
            if (measure__kernels[set]->supported())
                check_function(measure__kernels[set], function);
}

static void
check_streams(const struct kernels *kernels)
{
    static _Alignas(64) float a[KERNEL_STEP + 1], b[KERNEL_STEP], c[KERNEL_STEP];
    for (unsigned stream = 0; stream < STREAM_COUNT; stream++) {
        for (unsigned i = 0; i < KERNEL_STEP; i++) {
            a[i] = -1;
            b[i] = (float)i;
            c[i] = (float)(2 * i);
        }
        a[KERNEL_STEP] = -7;
        kernels->stream[stream](a, b, c, KERNEL_STEP);
        for (unsigned i = 0; i < KERNEL_STEP; i++) {
            float filled = 1.5f, triad = b[i] + 1.25f * c[i];
            float wanted = stream == STREAM_READ                                 ? -1
                           : stream == STREAM_COPY                               ? b[i]
                           : stream == STREAM_FILL || stream == STREAM_FILL_PAST ? filled
                                                                                 : triad;
            assert_true(a[i] == wanted);
        }
        assert_true(a[KERNEL_STEP] == -7);
    }
}

static void
streams_do_what_they_are_called(void **state)
{
    (void)state;
    for (unsigned set = 0; measure__kernels[set] != NULL; set++)
        if (measure__kernels[set]->supported())
            check_streams(measure__kernels[set]);
}

/* x -> 0.75 x + 0.25 tends to 1 in every chain. */
static void
peaks_do_arithmetic(void **state)
{
    (void)state;
    for (unsigned set = 0; measure__kernels[set] != NULL; set++)
        if (measure__kernels[set]->supported()) {
            assert_true(fabs(measure__kernels[set]->peak_f32(1000) - KERNEL_CHAINS) < 1e-3);
            assert_true(fabs(measure__kernels[set]->peak_f64(1000) - KERNEL_CHAINS) < 1e-9);
        }
}

static void
the_best_is_chosen(void **state)
{
    const struct kernels *here = measure__kernels_here();
    (void)state;
    assert_true(here->supported());
    for (unsigned set = 0; measure__kernels[set] != here; set++)
        assert_false(measure__kernels[set]->supported());
    assert_true(here->bits >= 128 && here->registers >= 16);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_right),
        cmocka_unit_test(streams_do_what_they_are_called),
        cmocka_unit_test(peaks_do_arithmetic),
        cmocka_unit_test(the_best_is_chosen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
