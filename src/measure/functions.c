/* What functions cost: one f32 element, in the first cache, by the polynomials of this program and
 * by the C library's vector functions where it has them; the faster counts, since the speed of
 * light is a limit. So does what a function costs that is composed of others: a library cares for
 * every argument and the last bit, a kernel need not. */
#include "measure/measure_int.h"

#include "measure/kernels_int.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>

#define BUDGET_NS 6e6
#define ROUNDS 2 /* apart in time: who disturbs the one may be gone in the other */
#define ELEMENTS 1024
#define PASSES 256 /* of a slice: some 50 us */

/* Names in the vector library of one argument, and of two. */
static const struct {
    enum op op;
    const char *name;
    bool two;
} library_functions[] = {
    {OP_EXP, "expf", false},   {OP_EXP2, "exp2f", false}, {OP_EXPM1, "expm1f", false},
    {OP_LOG, "logf", false},   {OP_LOG2, "log2f", false}, {OP_LOG1P, "log1pf", false},
    {OP_SIN, "sinf", false},   {OP_COS, "cosf", false},   {OP_TAN, "tanf", false},
    {OP_ATAN, "atanf", false}, {OP_SINH, "sinhf", false}, {OP_COSH, "coshf", false},
    {OP_TANH, "tanhf", false}, {OP_ERF, "erff", false},   {OP_POW, "powf", true},
};

/* op need not cost more than `of` and `with` together, times `times`. In order: what is used stands
 * before. */
static const struct {
    enum op op, of, with;
    double times;
} composed[] = {
    {OP_LOG2, OP_LOG, OP_LOG, 0.5},     {OP_EXPM1, OP_EXP, OP_EXP, 0.65},
    {OP_LOG1P, OP_LOG, OP_LOG, 0.65},   {OP_COS, OP_SIN, OP_SIN, 0.5},
    {OP_TAN, OP_SIN, OP_DIV, 1.25},     {OP_ATAN, OP_SIN, OP_DIV, 1.25},
    {OP_SINH, OP_EXP, OP_DIV, 1},       {OP_COSH, OP_EXP, OP_DIV, 1},
    {OP_POW, OP_EXP, OP_LOG, 1.5},      {OP_SOFTPLUS, OP_EXP, OP_LOG, 1},
    {OP_SIGN, OP_ROUND, OP_ROUND, 0.5}, {OP_FLOOR, OP_ROUND, OP_ROUND, 0.5},
    {OP_CEIL, OP_ROUND, OP_ROUND, 0.5}, {OP_TRUNC, OP_ROUND, OP_ROUND, 0.5},
};

static void
take_least(double *ns, double other)
{
    *ns = *ns > 0 ? fmin(*ns, other) : other;
}

struct mapping {
    const struct kernels *kernels;
    enum function function;
    void *library; /* a function of the vector library, or NULL */
    bool two;
    float *in, *out;
};

static void
run_map(void *context, size_t number)
{
    const struct mapping *m = context;
    (void)number;
    for (unsigned pass = 0; pass < PASSES; pass++)
        if (m->library == NULL)
            m->kernels->apply(m->function, m->out, m->in, ELEMENTS);
        else if (m->two)
            m->kernels->map_call_2(m->out, m->in, ELEMENTS, m->library);
        else
            m->kernels->map_call(m->out, m->in, ELEMENTS, m->library);
}

static void
take_one(struct taking *taking, struct mapping *mapping, enum op op)
{
    double ns = measure__best(taking, 1, BUDGET_NS, run_map, mapping) / (PASSES * ELEMENTS);
    take_least(&taking->figures->function_ns[op], ns);
}

static void
take_own(struct taking *taking, struct mapping *mapping)
{
    mapping->library = NULL;
    for (unsigned i = 0; i < FUNCTION_COUNT; i++) {
        mapping->function = (enum function)i;
        take_one(taking, mapping, function_op[i]);
    }
}

static void
take_library(struct taking *taking, struct mapping *mapping)
{
    void *library = taking->kernels->mvec ? dlopen("libmvec.so.1", RTLD_NOW | RTLD_LOCAL) : NULL;
    if (library == NULL)
        return;
    for (size_t i = 0; i < sizeof library_functions / sizeof *library_functions; i++) {
        char name[64];
        mapping->two = library_functions[i].two;
        snprintf(name, sizeof name, "%s%s_%s", taking->kernels->mvec, mapping->two ? "vv" : "v",
                 library_functions[i].name);
        mapping->library = dlsym(library, name);
        if (mapping->library != NULL)
            take_one(taking, mapping, library_functions[i].op);
    }
    dlclose(library);
}

static void
compose(struct measure_figures *figures)
{
    double *ns = figures->function_ns;
    for (size_t i = 0; i < sizeof composed / sizeof *composed; i++)
        take_least(&ns[composed[i].op],
                   composed[i].times * (ns[composed[i].of] + ns[composed[i].with]));
}

void
measure__take_functions(struct taking *taking)
{
    _Alignas(64) float memory[2][ELEMENTS];
    struct mapping mapping = {.kernels = taking->kernels, .in = memory[0], .out = memory[1]};
    for (unsigned i = 0; i < ELEMENTS; i++)
        memory[0][i] = 0.125f + (float)i / 256; /* 0.1 to 4.1: in the domain of all of them */
    for (unsigned round = 0; round < ROUNDS; round++) {
        take_own(taking, &mapping);
        take_library(taking, &mapping);
    }
    compose(taking->figures);
    /* From one core to all threads as the peak grows: functions are arithmetic, too. */
    double grows =
        taking->figures->gflops_f32[MEASURE_ALL] / taking->figures->gflops_f32[MEASURE_ONE];
    for (unsigned op = 0; op < OP_COUNT; op++)
        taking->figures->function_ns[op] /= grows;
}
