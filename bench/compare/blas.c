/* OpenBLAS and BLIS: products of matrices, by their C interface.
 *
 * OpenBLAS as distributions ship it falls back to kernels of twenty years ago on processors that it
 * does not know; its core type is therefore set (compare_core_type) and its own name for what it
 * uses is shown in the table. */
#include "compare.h"

#include "base/text.h"

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

struct product {
    sgemm_fn *sgemm;
    sgemv_fn *sgemv;
    int trans_a, trans_b, batch, m, n, k;
    const float *a, *b;
    float *y;
};

static const char *const openblas_names[] = {"libopenblas.so.0", "libopenblas.so", NULL};
static const char *const blis_names[] = {"libblis.so.4", "libblis.so", NULL};

void *
compare_load(const char *const *names)
{
    void *library = NULL;

    for (size_t i = 0; names[i] && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return library;
}

const char *
compare_core_type(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
        return "SKYLAKEX";
    if (__builtin_cpu_supports("avx2"))
        return __builtin_cpu_is("amd") ? "ZEN" : "HASWELL";
#endif
    return NULL;
}

static void
run_gemm(void *state)
{
    const struct product *p = state;
    int lda = p->trans_a == TRANS ? p->m : p->k, ldb = p->trans_b == TRANS ? p->k : p->n;

    for (int i = 0; i < p->batch; i++)
        p->sgemm(ROW_MAJOR, p->trans_a, p->trans_b, p->m, p->n, p->k, 1,
                 p->a + (size_t)i * (size_t)p->m * (size_t)p->k, lda,
                 p->b + (size_t)i * (size_t)p->k * (size_t)p->n, ldb, 0,
                 p->y + (size_t)i * (size_t)p->m * (size_t)p->n, p->n);
}

static void
run_gemv(void *state)
{
    const struct product *p = state;

    p->sgemv(ROW_MAJOR, NO_TRANS, p->m, p->k, 1, p->a, p->k, p->b, 1, 0, p->y, 1);
}

/* The product that the task is, or NULL. */
static struct product *
product_of(const struct compare_task *task)
{
    const int64_t *a, *y;
    struct product *p;
    bool matvec = strcmp(task->name, "matvec") == 0;
    size_t rank;

    if (!matvec && !text_starts(task->name, "sgemm"))
        return NULL;
    a = compare_input(task, 0);
    y = compare_output(task);
    rank = task->program->outputs[0]->rank;
    p = arena_alloc(task->arena, sizeof *p);
    *p = (struct product){.trans_a = NO_TRANS, .trans_b = NO_TRANS, .batch = 1};
    p->trans_a = text_ends(task->name, "_tn") ? TRANS : NO_TRANS;
    p->trans_b = text_ends(task->name, "_nt") ? TRANS : NO_TRANS;
    p->batch = rank == 3 ? (int)y[0] : 1;
    p->m = (int)(matvec ? y[0] : y[rank - 2]);
    p->n = (int)(matvec ? 1 : y[rank - 1]);
    p->k = (int)a[task->program->tensors[0]->rank - (p->trans_a == TRANS ? 2 : 1)];
    p->a = task->buffers[0];
    p->b = task->buffers[1];
    p->y = compare_result(task);
    return p;
}

static void
add(const struct compare_task *task, void *library, const char *name, struct contestants *all)
{
    struct product *p = product_of(task);

    p->sgemm = (sgemm_fn *)dlsym(library, "cblas_sgemm");
    p->sgemv = (sgemv_fn *)dlsym(library, "cblas_sgemv");
    if (p->sgemm && p->sgemv)
        contestants_add(all, (struct contestant){
                                 .name = name, .run = p->n == 1 ? run_gemv : run_gemm, .state = p});
}

static const char *
openblas_name(const struct compare_task *task, void *library)
{
    char *(*core)(void) = (char *(*)(void))dlsym(library, "openblas_get_corename");
    void (*threads)(int) = (void (*)(int))dlsym(library, "openblas_set_num_threads");

    if (threads)
        threads(task->threads);
    return arena_printf(task->arena, "OpenBLAS %s", core ? core() : "?");
}

static const char *
blis_name(const struct compare_task *task, void *library)
{
    int (*query)(void) = (int (*)(void))dlsym(library, "bli_arch_query_id");
    const char *(*name)(int) = (const char *(*)(int))dlsym(library, "bli_arch_string");

    return arena_printf(task->arena, "BLIS %s", query && name ? name(query()) : "?");
}

void
compare_blas(const struct compare_task *task, struct contestants *all)
{
    void *library;

    if (!product_of(task))
        return;
    library = compare_load(openblas_names);
    if (library)
        add(task, library, openblas_name(task, library), all);
    library = compare_load(blis_names);
    if (library)
        add(task, library, blis_name(task, library), all);
}
