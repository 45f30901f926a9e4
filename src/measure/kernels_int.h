/* Kernels that reach what the machine can do: one set for each instruction set, all built into the
 * program, the best that this processor has chosen at run time. */
#ifndef HONE_MEASURE_KERNELS_INT_H
#define HONE_MEASURE_KERNELS_INT_H

#include "lang/lang.h"

#define KERNEL_CHAINS 12 /* independent accumulators of the peaks: latency x ports, and some */

/*    id           name        arrays read, arrays written, past the cache */
#define KERNEL_STREAMS(X)                 \
    X(READ, "read", 1, 0, false)          \
    X(FILL, "fill", 0, 1, false)          \
    X(COPY, "copy", 1, 1, false)          \
    X(TRIAD, "triad", 2, 1, false)        \
    X(FILL_PAST, "fill past", 0, 1, true) \
    X(TRIAD_PAST, "triad past", 2, 1, true)

enum stream {
#define X(id, ...) STREAM_##id,
    KERNEL_STREAMS(X)
#undef X
        STREAM_COUNT
};

/* Functions of one f32 vector, written here. Several ways to one function: the fastest counts.
 *     id              of            name */
#define KERNEL_FUNCTIONS(X)                           \
    X(DIVIDE, OP_DIV, "division")                     \
    X(DIVIDE_STEP, OP_DIV, "division, one step")      \
    X(ROOT, OP_SQRT, "sqrt")                          \
    X(ROOT_STEP, OP_SQRT, "sqrt, one step")           \
    X(INVERSE_ROOT, OP_RSQRT, "rsqrt")                \
    X(INVERSE_ROOT_STEP, OP_RSQRT, "rsqrt, one step") \
    X(EXPONENTIAL, OP_EXP, "exp")                     \
    X(EXPONENTIAL_2, OP_EXP2, "exp2")                 \
    X(LOGARITHM, OP_LOG, "log")                       \
    X(SINE, OP_SIN, "sin")                            \
    X(TANGENT_H, OP_TANH, "tanh")                     \
    X(ERROR, OP_ERF, "erf")                           \
    X(LOGISTIC, OP_SIGMOID, "sigmoid")                \
    X(NEAREST, OP_ROUND, "round")

enum function {
#define X(id, ...) FUNCTION_##id,
    KERNEL_FUNCTIONS(X)
#undef X
        FUNCTION_COUNT
};

extern const enum op function_op[FUNCTION_COUNT];
extern const char *const function_name[FUNCTION_COUNT];

/* Arrays are aligned to 64 bytes; counts are multiples of KERNEL_STEP. */
#define KERNEL_STEP 128

struct kernels {
    const char *name; /* "AVX2" */
    unsigned bits, registers;
    bool (*supported)(void);
    /* Each round is a multiply-add in each lane of each chain. The result keeps it from being
     * left out. */
    double (*peak_f32)(size_t rounds);
    double (*peak_f64)(size_t rounds);
    void (*stream[STREAM_COUNT])(float *a, const float *b, const float *c, size_t count);
    void (*apply)(enum function function, float *out, const float *in, size_t count);
    /* The same with a function of the C library's vector library, named `mvec` and v_expf or
     * vv_powf; NULL: there is none for this instruction set. */
    const char *mvec;
    void (*map_call)(float *out, const float *in, size_t count, void *function);
    void (*map_call_2)(float *out, const float *in, size_t count, void *function);
};

extern const struct kernels measure__kernels_plain;
#if defined(__x86_64__)
extern const struct kernels measure__kernels_sse2, measure__kernels_avx2, measure__kernels_avx512;
#endif

/* All there are in this program, best first; ended by NULL. */
extern const struct kernels *const measure__kernels[];

/* The best that this processor can run. */
const struct kernels *
measure__kernels_here(void);

#endif
