/* oneDNN through its C interface, versions 2 and 3, without its headers.
 *
 * The two differ in how a primitive is described: version 2 fills structs that the caller owns
 * (here rooms of bytes large enough for any of them), version 3 has handles. Either way a layout is
 * a pointer, and below `describe` nothing knows which version there is.
 *
 * Plain: all tensors as the kernel has them. Blocked: oneDNN chooses every layout; reorders happen
 * before and after what is timed, so this row is what it could reach if a whole network were kept
 * in its layout. */
#include "compare.h"

#include "base/text.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* From the library's interface, the same in both versions. */
enum {
    CPU = 1,
    IN_ORDER = 1,
    F32 = 3,
    TAG_ANY = 1,
    INFERENCE = 96,
    CONVOLUTION_DIRECT = 0x1,
    DECONVOLUTION_DIRECT = 0xa,
    POOL_MAX = 0x1ff,
    POOL_AVG = 0x2ff, /* padding counts */
    SOFTMAX = 0x30000,
    GLOBAL_STATS = 1,
    QUERY_IMPLEMENTATION = 8,
    QUERY_SRC = 129,
    QUERY_WEIGHTS = 131,
    QUERY_DST = 133,
    ARG_SRC = 1,
    ARG_DST = 17,
    ARG_WEIGHTS = 33,
    ARG_MEAN = 49,
    ARG_VARIANCE = 50,
    ARG_SCALE = 51,
    ARG_SHIFT = 52,
    ROOM = 32768, /* bytes: more than any struct of version 2 */
    RANK = 12,    /* of the library's arrays of sizes */
    MOST_ARGS = 6,
};

#define ALLOCATE ((void *)(size_t)-1)

struct dnnl {
    void *library;
    int version; /* 2 or 3 */
    void *engine, *stream;
    struct arena *arena;
};

struct argument {
    int arg;
    void *memory;
};

struct job { /* a primitive with its arguments, and the reorder of its result */
    struct dnnl *dnnl;
    int (*execute)(void *primitive, void *stream, int count, const struct argument *args);
    int (*wait)(void *stream);
    void *primitive, *back;
    struct argument args[MOST_ARGS], back_args[2];
    int count;
};

enum family { CONV, DECONV, POOL, SOFTMAX_ROWS, LAYER, BATCH_EVAL, BATCH_TRAIN };

static const struct row {
    const char *prefix; /* of the task's name */
    enum family family;
    int64_t stride, pad;
    int algorithm;
} rows[] = {
    {"conv_3x3", CONV, 1, 1, CONVOLUTION_DIRECT},
    {"conv_1x1", CONV, 1, 0, CONVOLUTION_DIRECT},
    {"conv_7x7_s2", CONV, 2, 3, CONVOLUTION_DIRECT},
    {"conv_depthwise", CONV, 1, 1, CONVOLUTION_DIRECT},
    {"conv_3d", CONV, 1, 1, CONVOLUTION_DIRECT},
    {"conv_transposed", DECONV, 2, 1, DECONVOLUTION_DIRECT},
    {"pool_max", POOL, 2, 1, POOL_MAX},
    {"pool_avg", POOL, 2, 1, POOL_AVG},
    {"softmax", SOFTMAX_ROWS, 0, 0, SOFTMAX},
    {"norm_layer", LAYER, 0, 0, 0},
    {"norm_batch_eval", BATCH_EVAL, 0, 0, 0},
    {"norm_batch_train", BATCH_TRAIN, 0, 0, 0},
    {NULL, 0, 0, 0, 0},
};

static const char *const names[] = {"libdnnl.so.3", "libdnnl.so.2", NULL};

/* ---- the library ---- */

static void *
find(const struct dnnl *dnnl, const char *name)
{
    void *function = dlsym(dnnl->library, name);

    if (!function)
        fprintf(stderr, "oneDNN has no %s\n", name);
    return function;
}

static bool
open_library(struct dnnl *dnnl)
{
    const int *(*version)(void);
    int (*engine)(void **engine, int kind, size_t index);
    int (*stream)(void **stream, void *engine, unsigned flags);

    dnnl->library = compare_load(names);
    if (!dnnl->library)
        return false;
    version = (const int *(*)(void))find(dnnl, "dnnl_version");
    engine = (int (*)(void **, int, size_t))find(dnnl, "dnnl_engine_create");
    stream = (int (*)(void **, void *, unsigned))find(dnnl, "dnnl_stream_create");
    if (!version || !engine || !stream)
        return false;
    dnnl->version = version()[0];
    return (dnnl->version == 2 || dnnl->version == 3) && engine(&dnnl->engine, CPU, 0) == 0 &&
           stream(&dnnl->stream, dnnl->engine, IN_ORDER) == 0;
}

/* ---- layouts ---- */

struct shape {
    int rank;
    int64_t size[RANK], stride[RANK];
};

static struct shape
row_major(int rank, const int64_t *size)
{
    struct shape shape = {.rank = rank};
    int64_t step = 1;

    for (int i = rank - 1; i >= 0; i--) {
        shape.size[i] = size[i];
        shape.stride[i] = step;
        step *= size[i];
    }
    return shape;
}

/* The layout of a shape, or one that the primitive may choose. NULL if refused. */
static const void *
layout(const struct dnnl *dnnl, const struct shape *shape, bool any)
{
    void *room = arena_array(dnnl->arena, ROOM, 1), *handle = NULL;
    void *first = dnnl->version == 2 ? room : (void *)&handle;
    int status = 1;

    if (any) {
        int (*by_tag)(void *, int, const int64_t *, int, int) =
            (int (*)(void *, int, const int64_t *, int, int))find(
                dnnl, dnnl->version == 2 ? "dnnl_memory_desc_init_by_tag"
                                         : "dnnl_memory_desc_create_with_tag");
        status = by_tag ? by_tag(first, shape->rank, shape->size, F32, TAG_ANY) : 1;
    } else {
        int (*by_strides)(void *, int, const int64_t *, int, const int64_t *) =
            (int (*)(void *, int, const int64_t *, int, const int64_t *))find(
                dnnl, dnnl->version == 2 ? "dnnl_memory_desc_init_by_strides"
                                         : "dnnl_memory_desc_create_with_strides");
        status = by_strides ? by_strides(first, shape->rank, shape->size, F32, shape->stride) : 1;
    }
    return status ? NULL : dnnl->version == 2 ? room : handle;
}

static void *
memory_of(const struct dnnl *dnnl, const void *layout, void *data)
{
    int (*create)(void **, const void *, void *, void *) =
        (int (*)(void **, const void *, void *, void *))find(dnnl, "dnnl_memory_create");
    void *memory = NULL;

    return create && create(&memory, layout, dnnl->engine, data) == 0 ? memory : NULL;
}

/* ---- descriptions ---- */

struct plan {
    const struct row *row;
    const void *src, *weights, *dst; /* layouts */
    int64_t strides[RANK], window[RANK], dilation[RANK], left[RANK], right[RANK];
    int axis;
};

/* Version 2: a struct is filled, then made a description. */
static void *
describe_2(const struct dnnl *dnnl, const struct plan *p)
{
    void *room = arena_array(dnnl->arena, ROOM, 1), *description = NULL, *f;
    int (*create)(void **, const void *, const void *, void *, const void *) =
        (int (*)(void **, const void *, const void *, void *, const void *))find(
            dnnl, "dnnl_primitive_desc_create");
    unsigned scale_shift = 8 | 16, stats = p->row->family == BATCH_EVAL ? GLOBAL_STATS : 0;
    int status = 1;

    switch (p->row->family) {
    case CONV:
    case DECONV:
        f = find(dnnl, p->row->family == CONV ? "dnnl_convolution_forward_desc_init"
                                              : "dnnl_deconvolution_forward_desc_init");
        status = ((int (*)(void *, int, int, const void *, const void *, const void *, const void *,
                           const int64_t *, const int64_t *, const int64_t *))f)(
            room, INFERENCE, p->row->algorithm, p->src, p->weights, NULL, p->dst, p->strides,
            p->left, p->right);
        break;
    case POOL:
        f = find(dnnl, "dnnl_pooling_forward_desc_init");
        status = ((int (*)(void *, int, int, const void *, const void *, const int64_t *,
                           const int64_t *, const int64_t *, const int64_t *))f)(
            room, INFERENCE, p->row->algorithm, p->src, p->dst, p->strides, p->window, p->left,
            p->right);
        break;
    case SOFTMAX_ROWS:
        f = find(dnnl, "dnnl_softmax_v2_forward_desc_init");
        status = ((int (*)(void *, int, int, const void *, const void *, int))f)(
            room, INFERENCE, SOFTMAX, p->src, p->dst, p->axis);
        break;
    case LAYER:
        f = find(dnnl, "dnnl_layer_normalization_forward_desc_init");
        status = ((int (*)(void *, int, const void *, const void *, float, unsigned))f)(
            room, INFERENCE, p->src, NULL, 1e-5f, scale_shift);
        break;
    case BATCH_EVAL:
    case BATCH_TRAIN:
        f = find(dnnl, "dnnl_batch_normalization_forward_desc_init");
        status = ((int (*)(void *, int, const void *, float, unsigned))f)(
            room, INFERENCE, p->src, 1e-5f, scale_shift | stats);
        break;
    }
    return status == 0 && create(&description, room, NULL, dnnl->engine, NULL) == 0 ? description
                                                                                    : NULL;
}

static void *
describe_3(const struct dnnl *dnnl, const struct plan *p)
{
    void *description = NULL, *engine = dnnl->engine, *f;
    unsigned scale_shift = 2 | 4, stats = p->row->family == BATCH_EVAL ? GLOBAL_STATS : 0;
    int status = 1;

    switch (p->row->family) {
    case CONV:
    case DECONV:
        f = find(dnnl, p->row->family == CONV ? "dnnl_convolution_forward_primitive_desc_create"
                                              : "dnnl_deconvolution_forward_primitive_desc_create");
        status = ((int (*)(void **, void *, int, int, const void *, const void *, const void *,
                           const void *, const int64_t *, const int64_t *, const int64_t *,
                           const int64_t *, const void *))f)(
            &description, engine, INFERENCE, p->row->algorithm, p->src, p->weights, NULL, p->dst,
            p->strides, p->dilation, p->left, p->right, NULL);
        break;
    case POOL:
        f = find(dnnl, "dnnl_pooling_forward_primitive_desc_create");
        status = ((int (*)(void **, void *, int, int, const void *, const void *, const int64_t *,
                           const int64_t *, const int64_t *, const int64_t *, const int64_t *,
                           const void *))f)(&description, engine, INFERENCE, p->row->algorithm,
                                            p->src, p->dst, p->strides, p->window, p->dilation,
                                            p->left, p->right, NULL);
        break;
    case SOFTMAX_ROWS:
        f = find(dnnl, "dnnl_softmax_forward_primitive_desc_create");
        status =
            ((int (*)(void **, void *, int, int, const void *, const void *, int, const void *))f)(
                &description, engine, INFERENCE, SOFTMAX, p->src, p->dst, p->axis, NULL);
        break;
    case LAYER:
        f = find(dnnl, "dnnl_layer_normalization_forward_primitive_desc_create");
        status = ((int (*)(void **, void *, int, const void *, const void *, const void *, float,
                           unsigned, const void *))f)(&description, engine, INFERENCE, p->src,
                                                      p->dst, NULL, 1e-5f, scale_shift, NULL);
        break;
    case BATCH_EVAL:
    case BATCH_TRAIN:
        f = find(dnnl, "dnnl_batch_normalization_forward_primitive_desc_create");
        status = ((int (*)(void **, void *, int, const void *, const void *, float, unsigned,
                           const void *))f)(&description, engine, INFERENCE, p->src, p->dst, 1e-5f,
                                            scale_shift | stats, NULL);
        break;
    }
    return status == 0 ? description : NULL;
}

/* ---- jobs ---- */

static void
run_job(void *state)
{
    const struct job *job = state;

    job->execute(job->primitive, job->dnnl->stream, job->count, job->args);
    job->wait(job->dnnl->stream);
}

static void
fetch_job(void *state)
{
    const struct job *job = state;

    job->execute(job->back, job->dnnl->stream, 2, job->back_args);
    job->wait(job->dnnl->stream);
}

static struct job *
make_job(struct dnnl *dnnl, void *description)
{
    int (*create)(void **, const void *) =
        (int (*)(void **, const void *))find(dnnl, "dnnl_primitive_create");
    struct job *job = arena_array(dnnl->arena, 1, sizeof *job);

    job->dnnl = dnnl;
    job->execute =
        (int (*)(void *, void *, int, const struct argument *))find(dnnl, "dnnl_primitive_execute");
    job->wait = (int (*)(void *))find(dnnl, "dnnl_stream_wait");
    return create(&job->primitive, description) == 0 ? job : NULL;
}

static void
argument(struct job *job, int arg, void *memory)
{
    job->args[job->count++] = (struct argument){arg, memory};
}

/* A copy of `memory` between two layouts. */
static struct job *
reorder(struct dnnl *dnnl, const void *from, const void *to, void *source, void *target)
{
    int (*describe)(void **, const void *, void *, const void *, void *, const void *) =
        (int (*)(void **, const void *, void *, const void *, void *, const void *))find(
            dnnl, "dnnl_reorder_primitive_desc_create");
    void *description = NULL;
    struct job *job;

    if (describe(&description, from, dnnl->engine, to, dnnl->engine, NULL) != 0)
        return NULL;
    job = make_job(dnnl, description);
    if (job) {
        argument(job, ARG_SRC, source);
        argument(job, ARG_DST, target);
    }
    return job;
}

static const void *
query_layout(const struct dnnl *dnnl, void *description, int what)
{
    const void *(*query)(void *, int, int) =
        (const void *(*)(void *, int, int))find(dnnl, "dnnl_primitive_desc_query_md");

    return query(description, what, 0);
}

static const char *
implementation(const struct dnnl *dnnl, void *description)
{
    int (*query)(void *, int, int, void *) =
        (int (*)(void *, int, int, void *))find(dnnl, "dnnl_primitive_desc_query");
    const char *name = NULL;

    return query && query(description, QUERY_IMPLEMENTATION, 0, &name) == 0 ? name : NULL;
}

/* ---- the task as a plan ---- */

struct shapes {
    struct shape src, weights, dst;
};

/* Filters F[K,C/groups,...]; a transposed convolution's are F[C,K,...], and the library names the
 * outputs first. Groups are a dimension of their own in front. */
static struct shape
filters(const struct compare_task *task, const struct row *row)
{
    const struct tensor *f = task->program->tensors[1];
    struct shape plain = row_major((int)f->rank, f->size), shape = plain;
    int64_t groups = compare_input(task, 0)[1] / f->size[1];

    if (row->family == DECONV) {
        for (int i = 0; i < 2; i++) {
            shape.size[i] = plain.size[1 - i];
            shape.stride[i] = plain.stride[1 - i];
        }
    } else if (groups > 1) {
        const int64_t *s = f->size;
        int64_t size[RANK] = {groups, s[0] / groups, s[1], s[2], s[3], f->rank > 4 ? s[4] : 0};
        shape = row_major((int)f->rank + 1, size);
    }
    return shape;
}

/* Strides, windows and both paddings of each spatial dimension. */
static void
windows(const struct compare_task *task, const struct row *row, struct plan *p)
{
    const int64_t *in = compare_input(task, 0), *out = compare_output(task);
    const struct tensor *f = row->family == POOL ? NULL : task->program->tensors[1];
    int spatial = (int)task->program->tensors[0]->rank - 2;

    for (int i = 0; i < spatial; i++) {
        int64_t large = row->family == DECONV ? out[2 + i] : in[2 + i];
        int64_t small = row->family == DECONV ? in[2 + i] : out[2 + i];
        p->strides[i] = row->stride;
        p->window[i] = f ? f->size[f->rank - (unsigned)spatial + (unsigned)i] : 3;
        p->left[i] = row->pad;
        p->right[i] = (small - 1) * row->stride + p->window[i] - large - row->pad;
    }
}

static void
add_norm_arguments(const struct compare_task *task, struct job *job, enum family family)
{
    size_t count = task->program->input_count;

    for (size_t i = 1; i < count; i++) {
        static const int eval[] = {ARG_MEAN, ARG_VARIANCE, ARG_SCALE, ARG_SHIFT};
        const struct tensor *tensor = task->program->tensors[i];
        struct shape shape = row_major(1, tensor->size);
        int arg = family == BATCH_EVAL ? eval[i - 1] : i == 1 ? ARG_SCALE : ARG_SHIFT;
        argument(job, arg,
                 memory_of(job->dnnl, layout(job->dnnl, &shape, false), task->buffers[i]));
    }
}

/* One tensor of the job in the layout that the primitive chose; inputs are brought there now. */
static void *
blocked_memory(struct dnnl *dnnl, const struct shape *shape, const void *chosen, void *data,
               bool input)
{
    const void *plain = layout(dnnl, shape, false);
    void *memory = memory_of(dnnl, chosen, ALLOCATE);

    if (input) {
        struct job *job = reorder(dnnl, plain, chosen, memory_of(dnnl, plain, data), memory);
        if (!job)
            return NULL;
        run_job(job);
    }
    return memory;
}

static struct job *
plain_job(struct dnnl *dnnl, const struct compare_task *task, const struct plan *p,
          void *description)
{
    struct job *job = make_job(dnnl, description);

    if (!job)
        return NULL;
    argument(job, ARG_SRC, memory_of(dnnl, p->src, task->buffers[0]));
    argument(job, ARG_DST, memory_of(dnnl, p->dst, compare_result(task)));
    if (p->row->family <= DECONV)
        argument(job, ARG_WEIGHTS, memory_of(dnnl, p->weights, task->buffers[1]));
    if (p->row->family >= LAYER)
        add_norm_arguments(task, job, p->row->family);
    return job;
}

static struct job *
blocked_job(struct dnnl *dnnl, const struct compare_task *task, const struct shapes *s,
            void *description)
{
    struct job *job = make_job(dnnl, description), *back;
    const void *dst = query_layout(dnnl, description, QUERY_DST);
    const void *plain = layout(dnnl, &s->dst, false);

    if (!job)
        return NULL;
    argument(job, ARG_SRC,
             blocked_memory(dnnl, &s->src, query_layout(dnnl, description, QUERY_SRC),
                            task->buffers[0], true));
    argument(job, ARG_WEIGHTS,
             blocked_memory(dnnl, &s->weights, query_layout(dnnl, description, QUERY_WEIGHTS),
                            task->buffers[1], true));
    argument(job, ARG_DST, blocked_memory(dnnl, &s->dst, dst, NULL, false));
    back = reorder(dnnl, dst, plain, job->args[2].memory,
                   memory_of(dnnl, plain, compare_result(task)));
    if (!back || !job->args[0].memory || !job->args[1].memory)
        return NULL;
    job->back = back->primitive;
    memcpy(job->back_args, back->args, sizeof job->back_args);
    return job;
}

static void
add_form(struct dnnl *dnnl, const struct compare_task *task, const struct row *row, bool any,
         struct contestants *all)
{
    const struct tensor *in = task->program->tensors[0], *out = task->program->outputs[0];
    struct shapes s = {.src = row_major((int)in->rank, in->size),
                       .dst = row_major((int)out->rank, out->size)};
    struct plan p = {.row = row, .axis = (int)in->rank - 1};
    struct job *job;

    if (row->family <= DECONV)
        s.weights = filters(task, row);
    p.src = layout(dnnl, &s.src, any);
    p.dst = layout(dnnl, &s.dst, any);
    p.weights = row->family <= DECONV ? layout(dnnl, &s.weights, any) : NULL;
    if (row->family <= POOL)
        windows(task, row, &p);
    void *description = dnnl->version == 2 ? describe_2(dnnl, &p) : describe_3(dnnl, &p);
    if (!description)
        return;
    job = any ? blocked_job(dnnl, task, &s, description) : plain_job(dnnl, task, &p, description);
    if (job)
        contestants_add(all, (struct contestant){.name = any ? "oneDNN blocked" : "oneDNN plain",
                                                 .run = run_job,
                                                 .state = job,
                                                 .fetch = any ? fetch_job : NULL,
                                                 .note = implementation(dnnl, description)});
}

/* ---- products of matrices ---- */

struct sgemm {
    int (*sgemm)(char, char, int64_t, int64_t, int64_t, float, const float *, int64_t,
                 const float *, int64_t, float, float *, int64_t);
    char a, b;
    int64_t m, n, k;
    const float *left, *right;
    float *result;
};

static void
run_sgemm(void *state)
{
    const struct sgemm *s = state;

    s->sgemm(s->a, s->b, s->m, s->n, s->k, 1, s->left, s->a == 'T' ? s->m : s->k, s->right,
             s->b == 'T' ? s->k : s->n, 0, s->result, s->n);
}

static void
add_sgemm(struct dnnl *dnnl, const struct compare_task *task, struct contestants *all)
{
    struct sgemm *s = arena_array(dnnl->arena, 1, sizeof *s);
    const int64_t *a = compare_input(task, 0), *y = compare_output(task);

    s->a = text_ends(task->name, "_tn") ? 'T' : 'N';
    s->b = text_ends(task->name, "_nt") ? 'T' : 'N';
    s->m = y[0];
    s->n = y[1];
    s->k = a[s->a == 'T' ? 0 : 1];
    s->left = task->buffers[0];
    s->right = task->buffers[1];
    s->result = compare_result(task);
    s->sgemm = (int (*)(char, char, int64_t, int64_t, int64_t, float, const float *, int64_t,
                        const float *, int64_t, float, float *, int64_t))find(dnnl, "dnnl_sgemm");
    if (s->sgemm)
        contestants_add(all,
                        (struct contestant){.name = "oneDNN sgemm", .run = run_sgemm, .state = s});
}

void
compare_dnnl(const struct compare_task *task, struct contestants *all)
{
    bool product = text_starts(task->name, "sgemm") && task->program->outputs[0]->rank == 2;
    const struct row *row = rows;
    struct dnnl *dnnl;

    while (row->prefix && !text_starts(task->name, row->prefix))
        row++;
    if (!product && !row->prefix)
        return;
    dnnl = arena_array(task->arena, 1, sizeof *dnnl);
    dnnl->arena = task->arena;
    if (!open_library(dnnl))
        return;
    if (product) {
        add_sgemm(dnnl, task, all);
        return;
    }
    add_form(dnnl, task, row, false, all);
    if (row->family <= DECONV)
        add_form(dnnl, task, row, true, all);
}
