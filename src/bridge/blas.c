/* OpenBLAS and BLIS: products of matrices, by their C interface. */
#include "bridge/library.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_MAJOR = 101, NO_TRANS = 111, TRANS = 112 };

typedef void
sgemm_fn(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float *a,
         int lda, const float *b, int ldb, float beta, float *c, int ldc);
typedef void
sgemv_fn(int order, int trans, int m, int n, float alpha, const float *a, int lda, const float *x,
         int step_x, float beta, float *y, int step_y);

struct job {
    sgemm_fn *sgemm;
    sgemv_fn *sgemv;
    int trans_a, trans_b, batch, m, n, k;
    const float *a, *b;
    float *y;
};

/* ---- loading ---- */

const struct library_info library_table[] = {
    {"openblas", "OpenBLAS", "libopenblas0-openmp", {"libopenblas.so.0", "libopenblas.so"}},
    {"blis", "BLIS", "libblis4-openmp", {"libblis.so.4", "libblis.so"}},
    {"onednn", "oneDNN", "libdnnl2", {"libdnnl.so.3", "libdnnl.so.2"}},
    {0},
};

const struct library_info *
library_named(const char *name)
{
    for (const struct library_info *one = library_table; one->name; one++)
        if (strcmp(one->name, name) == 0)
            return one;
    return NULL;
}

void *
library_load(const char *const *names)
{
    void *library = NULL;
    for (size_t i = 0; names[i] && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return library;
}

/* As distributions ship them, both fall back to plain loops on processors newer than themselves. A
 * choice that is set already gives way: who set it did not mean to be compared. NULL: their own. */
struct kernels_for {
    const char *openblas; /* a name */
    const char *blis;     /* a number of its arch_t: skx, zen3, haswell */
};

static struct kernels_for
kernels_for_this_processor(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
        return (struct kernels_for){"SKYLAKEX", "0"};
    if (__builtin_cpu_supports("avx2"))
        return __builtin_cpu_is("amd") ? (struct kernels_for){"ZEN", "6"}
                                       : (struct kernels_for){"HASWELL", "3"};
#endif
    return (struct kernels_for){NULL, NULL};
}

static void
set_or_leave(const char *name, const char *value)
{
    if (value != NULL)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

void
library_environment(struct arena *arena, unsigned threads)
{
    const char *count = arena_printf(arena, "%u", threads);
    struct kernels_for own = kernels_for_this_processor();
    setenv("OMP_NUM_THREADS", count, 1);
    setenv("OPENBLAS_NUM_THREADS", count, 1);
    setenv("BLIS_NUM_THREADS", count, 1);
    setenv("MKL_NUM_THREADS", count, 1);
    setenv("OMP_DYNAMIC", "false", 1);
    setenv("OPENBLAS_THREAD_TIMEOUT", "20", 0); /* its threads sleep soon, and disturb nobody */
    unsetenv("OPENBLAS_L2_SIZE");
    set_or_leave("OPENBLAS_CORETYPE", own.openblas);
    set_or_leave("BLIS_ARCH_TYPE", own.blis);
}

/* ---- calling ---- */

static void
run_gemm(void *state)
{
    const struct job *j = state;
    int lda = j->trans_a == TRANS ? j->m : j->k, ldb = j->trans_b == TRANS ? j->k : j->n;
    for (int i = 0; i < j->batch; i++)
        j->sgemm(ROW_MAJOR, j->trans_a, j->trans_b, j->m, j->n, j->k, 1,
                 j->a + (size_t)i * (size_t)j->m * (size_t)j->k, lda,
                 j->b + (size_t)i * (size_t)j->k * (size_t)j->n, ldb, 0,
                 j->y + (size_t)i * (size_t)j->m * (size_t)j->n, j->n);
}

static void
run_gemv(void *state)
{
    const struct job *j = state;
    bool turned = j->trans_a == TRANS;
    j->sgemv(ROW_MAJOR, j->trans_a, turned ? j->k : j->m, turned ? j->m : j->k, 1, j->a,
             turned ? j->m : j->k, j->b, 1, 0, j->y, 1);
}

static bool
prepare(struct arena *arena, void *library, const struct exact_product *p, void *const *buffers,
        struct library_call *call)
{
    struct job *job = arena_alloc(arena, sizeof *job);
    *job = (struct job){.sgemm = (sgemm_fn *)dlsym(library, "cblas_sgemm"),
                        .sgemv = (sgemv_fn *)dlsym(library, "cblas_sgemv"),
                        .trans_a = p->transposed_a ? TRANS : NO_TRANS,
                        .trans_b = p->transposed_b ? TRANS : NO_TRANS,
                        .batch = (int)p->batch,
                        .m = (int)p->m,
                        .n = (int)p->n,
                        .k = (int)p->k,
                        .a = buffers[p->a],
                        .b = buffers[p->b],
                        .y = buffers[2]};
    call->run = p->n == 1 && p->batch == 1 ? run_gemv : run_gemm;
    call->state = job;
    return job->sgemm != NULL && job->sgemv != NULL;
}

const char *
library_openblas_core(void)
{
    void *library = library_load(library_named("openblas")->files);
    char *(*core)(void) = library ? (char *(*)(void))dlsym(library, "openblas_get_corename") : NULL;
    return core ? core() : NULL;
}

bool
library_openblas(struct arena *arena, const struct exact_product *product, void *const *buffers,
                 struct library_call *call)
{
    void *library = library_load(library_named("openblas")->files);
    const char *core = library_openblas_core();
    *call = (struct library_call){.name = arena_printf(arena, "OpenBLAS %s", core ? core : "?")};
    return library != NULL && prepare(arena, library, product, buffers, call);
}

bool
library_blis(struct arena *arena, const struct exact_product *product, void *const *buffers,
             struct library_call *call)
{
    void *library = library_load(library_named("blis")->files);
    if (library == NULL)
        return false;
    void (*start)(void) = (void (*)(void))dlsym(library, "bli_init");
    if (start != NULL)
        start(); /* before that it cannot say what it uses */
    int (*query)(void) = (int (*)(void))dlsym(library, "bli_arch_query_id");
    const char *(*name)(int) = (const char *(*)(int))dlsym(library, "bli_arch_string");
    *call = (struct library_call){
        .name = arena_printf(arena, "BLIS %s", query && name ? name(query()) : "?")};
    return prepare(arena, library, product, buffers, call);
}
