#include "bridge/dnnl.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum {
    CPU = 1,
    IN_ORDER = 1,
    F32 = 3,
    TAG_ANY = 1,
    CONVOLUTION_DIRECT = 0x1,
    DECONVOLUTION_DIRECT = 0xa,
    QUERY_IMPLEMENTATION = 8,
    QUERY_SRC = 129,
    QUERY_WEIGHTS = 131,
    QUERY_DST = 133,
};

#define ALLOCATE ((void *)(size_t)-1)

/* ---- the library ---- */

void *
dnnl_find(const struct dnnl *dnnl, const char *name)
{
    void *function = dlsym(dnnl->library, name);
    if (!function)
        fprintf(stderr, "oneDNN has no %s\n", name);
    return function;
}

bool
dnnl_open(struct dnnl *dnnl, struct arena *arena)
{
    *dnnl = (struct dnnl){.library = library_load(library_named("onednn")->files), .arena = arena};
    if (!dnnl->library)
        return false;
    const int *(*version)(void) = (const int *(*)(void))dnnl_find(dnnl, "dnnl_version");
    int (*engine)(void **, int, size_t) =
        (int (*)(void **, int, size_t))dnnl_find(dnnl, "dnnl_engine_create");
    int (*stream)(void **, void *, unsigned) =
        (int (*)(void **, void *, unsigned))dnnl_find(dnnl, "dnnl_stream_create");
    if (!version || !engine || !stream)
        return false;
    dnnl->version = version()[0];
    return (dnnl->version == 2 || dnnl->version == 3) && engine(&dnnl->engine, CPU, 0) == 0 &&
           stream(&dnnl->stream, dnnl->engine, IN_ORDER) == 0;
}

/* ---- layouts ---- */

struct dnnl_shape
dnnl_row_major(int rank, const int64_t *size)
{
    struct dnnl_shape shape = {.rank = rank};
    int64_t step = 1;
    for (int i = rank - 1; i >= 0; i--) {
        shape.size[i] = size[i];
        shape.stride[i] = step;
        step *= size[i];
    }
    return shape;
}

const void *
dnnl_layout(const struct dnnl *dnnl, const struct dnnl_shape *shape, bool any)
{
    void *room = arena_array(dnnl->arena, DNNL_ROOM, 1), *handle = NULL;
    void *first = dnnl->version == 2 ? room : (void *)&handle;
    int status = 1;
    if (any) {
        int (*by_tag)(void *, int, const int64_t *, int, int) =
            (int (*)(void *, int, const int64_t *, int, int))dnnl_find(
                dnnl, dnnl->version == 2 ? "dnnl_memory_desc_init_by_tag"
                                         : "dnnl_memory_desc_create_with_tag");
        status = by_tag ? by_tag(first, shape->rank, shape->size, F32, TAG_ANY) : 1;
    } else {
        int (*by_strides)(void *, int, const int64_t *, int, const int64_t *) =
            (int (*)(void *, int, const int64_t *, int, const int64_t *))dnnl_find(
                dnnl, dnnl->version == 2 ? "dnnl_memory_desc_init_by_strides"
                                         : "dnnl_memory_desc_create_with_strides");
        status = by_strides ? by_strides(first, shape->rank, shape->size, F32, shape->stride) : 1;
    }
    return status ? NULL : dnnl->version == 2 ? room : handle;
}

void *
dnnl_memory(const struct dnnl *dnnl, const void *layout, void *data)
{
    int (*create)(void **, const void *, void *, void *) =
        (int (*)(void **, const void *, void *, void *))dnnl_find(dnnl, "dnnl_memory_create");
    void *memory = NULL;
    return create && create(&memory, layout, dnnl->engine, data) == 0 ? memory : NULL;
}

/* ---- jobs ---- */

void
dnnl_run(void *state)
{
    const struct dnnl_job *job = state;
    job->execute(job->primitive, job->dnnl->stream, job->count, job->args);
    job->wait(job->dnnl->stream);
}

static void
fetch(void *state)
{
    const struct dnnl_job *job = state;
    job->execute(job->back, job->dnnl->stream, 2, job->back_args);
    job->wait(job->dnnl->stream);
}

struct dnnl_job *
dnnl_make_job(struct dnnl *dnnl, void *description)
{
    int (*create)(void **, const void *) =
        (int (*)(void **, const void *))dnnl_find(dnnl, "dnnl_primitive_create");
    struct dnnl_job *job = arena_array(dnnl->arena, 1, sizeof *job);
    job->dnnl = dnnl;
    job->execute = (int (*)(void *, void *, int, const struct dnnl_argument *))dnnl_find(
        dnnl, "dnnl_primitive_execute");
    job->wait = (int (*)(void *))dnnl_find(dnnl, "dnnl_stream_wait");
    return create && job->execute && job->wait && create(&job->primitive, description) == 0 ? job
                                                                                            : NULL;
}

void
dnnl_add_argument(struct dnnl_job *job, int arg, void *memory)
{
    job->args[job->count++] = (struct dnnl_argument){arg, memory};
}

/* A copy of `memory` between two layouts. */
static struct dnnl_job *
reorder(struct dnnl *dnnl, const void *from, const void *to, void *source, void *target)
{
    int (*describe)(void **, const void *, void *, const void *, void *, const void *) =
        (int (*)(void **, const void *, void *, const void *, void *, const void *))dnnl_find(
            dnnl, "dnnl_reorder_primitive_desc_create");
    void *description = NULL;
    if (describe(&description, from, dnnl->engine, to, dnnl->engine, NULL) != 0)
        return NULL;
    struct dnnl_job *job = dnnl_make_job(dnnl, description);
    if (job) {
        dnnl_add_argument(job, DNNL_SRC, source);
        dnnl_add_argument(job, DNNL_DST, target);
    }
    return job;
}

static const void *
query_layout(const struct dnnl *dnnl, void *description, int what)
{
    const void *(*query)(void *, int, int) =
        (const void *(*)(void *, int, int))dnnl_find(dnnl, "dnnl_primitive_desc_query_md");
    return query(description, what, 0);
}

const char *
dnnl_implementation(const struct dnnl *dnnl, void *description)
{
    int (*query)(void *, int, int, void *) =
        (int (*)(void *, int, int, void *))dnnl_find(dnnl, "dnnl_primitive_desc_query");
    const char *name = NULL;
    return query && query(description, QUERY_IMPLEMENTATION, 0, &name) == 0 ? name : NULL;
}

/* ---- convolutions ---- */

struct layouts {
    const void *src, *weights, *dst;
};

/* Version 2: a struct is filled, then made a description. */
static void *
describe_2(const struct dnnl *dnnl, const struct dnnl_convolution *c, const struct layouts *l)
{
    void *room = arena_array(dnnl->arena, DNNL_ROOM, 1), *description = NULL;
    int (*init)(void *, int, int, const void *, const void *, const void *, const void *,
                const int64_t *, const int64_t *, const int64_t *, const int64_t *) =
        (int (*)(void *, int, int, const void *, const void *, const void *, const void *,
                 const int64_t *, const int64_t *, const int64_t *, const int64_t *))
            dnnl_find(dnnl, c->transposed ? "dnnl_dilated_deconvolution_forward_desc_init"
                                          : "dnnl_dilated_convolution_forward_desc_init");
    int (*create)(void **, const void *, const void *, void *, const void *) =
        (int (*)(void **, const void *, const void *, void *, const void *))dnnl_find(
            dnnl, "dnnl_primitive_desc_create");
    int algorithm = c->transposed ? DECONVOLUTION_DIRECT : CONVOLUTION_DIRECT;
    if (!init || !create ||
        init(room, DNNL_INFERENCE, algorithm, l->src, l->weights, NULL, l->dst, c->stride,
             c->dilation, c->left, c->right) != 0)
        return NULL;
    return create(&description, room, NULL, dnnl->engine, NULL) == 0 ? description : NULL;
}

static void *
describe_3(const struct dnnl *dnnl, const struct dnnl_convolution *c, const struct layouts *l)
{
    void *description = NULL;
    int (*create)(void **, void *, int, int, const void *, const void *, const void *, const void *,
                  const int64_t *, const int64_t *, const int64_t *, const int64_t *,
                  const void *) =
        (int (*)(void **, void *, int, int, const void *, const void *, const void *, const void *,
                 const int64_t *, const int64_t *, const int64_t *, const int64_t *, const void *))
            dnnl_find(dnnl, c->transposed ? "dnnl_deconvolution_forward_primitive_desc_create"
                                          : "dnnl_convolution_forward_primitive_desc_create");
    int algorithm = c->transposed ? DECONVOLUTION_DIRECT : CONVOLUTION_DIRECT;
    if (!create || create(&description, dnnl->engine, DNNL_INFERENCE, algorithm, l->src, l->weights,
                          NULL, l->dst, c->stride, c->dilation, c->left, c->right, NULL) != 0)
        return NULL;
    return description;
}

/* One tensor of the job in the layout that the primitive chose; inputs are brought there now. */
static void *
blocked_memory(struct dnnl *dnnl, const struct dnnl_shape *shape, const void *chosen, void *data,
               bool input)
{
    const void *plain = dnnl_layout(dnnl, shape, false);
    void *memory = dnnl_memory(dnnl, chosen, ALLOCATE);
    if (input) {
        struct dnnl_job *job = reorder(dnnl, plain, chosen, dnnl_memory(dnnl, plain, data), memory);
        if (!job)
            return NULL;
        dnnl_run(job);
    }
    return memory;
}

static struct dnnl_job *
plain_job(struct dnnl *dnnl, const struct dnnl_convolution *c, const struct layouts *l,
          void *description)
{
    struct dnnl_job *job = dnnl_make_job(dnnl, description);
    if (!job)
        return NULL;
    dnnl_add_argument(job, DNNL_SRC, dnnl_memory(dnnl, l->src, c->x));
    dnnl_add_argument(job, DNNL_DST, dnnl_memory(dnnl, l->dst, c->y));
    dnnl_add_argument(job, DNNL_WEIGHTS, dnnl_memory(dnnl, l->weights, c->f));
    return job;
}

static struct dnnl_job *
blocked_job(struct dnnl *dnnl, const struct dnnl_convolution *c, void *description)
{
    struct dnnl_job *job = dnnl_make_job(dnnl, description), *back;
    const void *dst = query_layout(dnnl, description, QUERY_DST);
    const void *plain = dnnl_layout(dnnl, &c->dst, false);
    if (!job)
        return NULL;
    dnnl_add_argument(
        job, DNNL_SRC,
        blocked_memory(dnnl, &c->src, query_layout(dnnl, description, QUERY_SRC), c->x, true));
    dnnl_add_argument(job, DNNL_WEIGHTS,
                      blocked_memory(dnnl, &c->weights,
                                     query_layout(dnnl, description, QUERY_WEIGHTS), c->f, true));
    dnnl_add_argument(job, DNNL_DST, blocked_memory(dnnl, &c->dst, dst, NULL, false));
    back = reorder(dnnl, dst, plain, job->args[2].memory, dnnl_memory(dnnl, plain, c->y));
    if (!back || !job->args[0].memory || !job->args[1].memory)
        return NULL;
    job->back = back->primitive;
    memcpy(job->back_args, back->args, sizeof job->back_args);
    return job;
}

bool
dnnl_convolution(struct dnnl *dnnl, const struct dnnl_convolution *c, bool blocked,
                 struct library_call *call)
{
    struct layouts l = {.src = dnnl_layout(dnnl, &c->src, blocked),
                        .weights = dnnl_layout(dnnl, &c->weights, blocked),
                        .dst = dnnl_layout(dnnl, &c->dst, blocked)};
    if (!l.src || !l.weights || !l.dst)
        return false;
    void *description = dnnl->version == 2 ? describe_2(dnnl, c, &l) : describe_3(dnnl, c, &l);
    if (!description)
        return false;
    struct dnnl_job *job =
        blocked ? blocked_job(dnnl, c, description) : plain_job(dnnl, c, &l, description);
    *call = (struct library_call){.name = blocked ? "oneDNN blocked" : "oneDNN plain",
                                  .run = dnnl_run,
                                  .state = job,
                                  .fetch = blocked ? fetch : NULL,
                                  .note = dnnl_implementation(dnnl, description)};
    return job != NULL;
}

/* Filters F[K,C/groups,...]; groups are a dimension of their own in front. */
static struct dnnl_shape
filters(const struct tensor *f, int64_t groups)
{
    int64_t size[DNNL_RANK] = {groups, f->size[0] / groups};
    if (groups == 1)
        return dnnl_row_major((int)f->rank, f->size);
    for (unsigned d = 1; d < f->rank; d++)
        size[d + 1] = f->size[d];
    return dnnl_row_major((int)f->rank + 1, size);
}

/* oneDNN counts what lies between taps, and wants the padding behind the last window too. */
static void
set_windows(struct dnnl_convolution *c, const struct exact_convolution *exact,
            const struct tensor *x, const struct tensor *f, const struct tensor *y)
{
    for (unsigned d = 0; d < exact->spatial; d++) {
        int64_t reach =
            (y->size[2 + d] - 1) * exact->stride[d] + (f->size[2 + d] - 1) * exact->dilation[d] + 1;
        int64_t behind = reach - x->size[2 + d] - exact->pad[d];
        c->stride[d] = exact->stride[d];
        c->dilation[d] = exact->dilation[d] - 1;
        c->left[d] = exact->pad[d];
        c->right[d] = behind > 0 ? behind : 0;
    }
}

bool
library_dnnl_convolution(struct arena *arena, const struct program *program,
                         const struct exact_convolution *exact, void *const *buffers, bool blocked,
                         struct library_call *call)
{
    const struct tensor *x = program->tensors[exact->x], *f = program->tensors[exact->f];
    const struct tensor *y = program->outputs[0];
    struct dnnl_convolution c = {.src = dnnl_row_major((int)x->rank, x->size),
                                 .weights = filters(f, exact->groups),
                                 .dst = dnnl_row_major((int)y->rank, y->size),
                                 .x = buffers[exact->x],
                                 .f = buffers[exact->f],
                                 .y = buffers[2]};
    struct dnnl *dnnl = arena_alloc(arena, sizeof *dnnl);
    set_windows(&c, exact, x, f, y);
    return dnnl_open(dnnl, arena) && dnnl_convolution(dnnl, &c, blocked, call);
}

/* ---- products of matrices ---- */

struct sgemm {
    int (*sgemm)(char, char, int64_t, int64_t, int64_t, float, const float *, int64_t,
                 const float *, int64_t, float, float *, int64_t);
    struct exact_product p;
    const float *a, *b;
    float *y;
};

static void
run_sgemm(void *state)
{
    const struct sgemm *s = state;
    const struct exact_product *p = &s->p;
    for (int64_t i = 0; i < p->batch; i++)
        s->sgemm(p->transposed_a ? 'T' : 'N', p->transposed_b ? 'T' : 'N', p->m, p->n, p->k, 1,
                 s->a + i * p->m * p->k, p->transposed_a ? p->m : p->k, s->b + i * p->k * p->n,
                 p->transposed_b ? p->k : p->n, 0, s->y + i * p->m * p->n, p->n);
}

bool
library_dnnl_product(struct arena *arena, const struct exact_product *product, void *const *buffers,
                     struct library_call *call)
{
    struct sgemm *s = arena_alloc(arena, sizeof *s);
    struct dnnl dnnl;
    if (!dnnl_open(&dnnl, arena))
        return false;
    *s = (struct sgemm){
        .p = *product, .a = buffers[product->a], .b = buffers[product->b], .y = buffers[2]};
    s->sgemm =
        (int (*)(char, char, int64_t, int64_t, int64_t, float, const float *, int64_t,
                 const float *, int64_t, float, float *, int64_t))dnnl_find(&dnnl, "dnnl_sgemm");
    *call = (struct library_call){.name = "oneDNN sgemm", .run = run_sgemm, .state = s};
    return s->sgemm != NULL;
}
