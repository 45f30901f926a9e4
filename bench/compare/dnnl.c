/* oneDNN: products and convolutions that the program shows (bridge/library.h); transposed
 * convolutions, pools, softmax and norms by the task's name. */
#include "compare.h"

#include "base/text.h"
#include "bridge/dnnl.h"

#include <string.h>

/* From the library's interface, the same in both versions. */
enum {
    POOL_MAX = 0x1ff,
    POOL_AVG = 0x2ff, /* padding counts */
    SOFTMAX = 0x30000,
    GLOBAL_STATS = 1,
    ARG_MEAN = 49,
    ARG_VARIANCE = 50,
    ARG_SCALE = 51,
    ARG_SHIFT = 52,
};

enum family { DECONV, POOL, SOFTMAX_ROWS, LAYER, BATCH_EVAL, BATCH_TRAIN };

static const struct row {
    const char *prefix; /* of the task's name */
    enum family family;
    int64_t stride, pad;
    int algorithm;
} rows[] = {
    {"conv_transposed", DECONV, 2, 1, 0},
    {"pool_max", POOL, 2, 1, POOL_MAX},
    {"pool_avg", POOL, 2, 1, POOL_AVG},
    {"softmax", SOFTMAX_ROWS, 0, 0, SOFTMAX},
    {"norm_layer", LAYER, 0, 0, 0},
    {"norm_batch_eval", BATCH_EVAL, 0, 0, 0},
    {"norm_batch_train", BATCH_TRAIN, 0, 0, 0},
    {NULL, 0, 0, 0, 0},
};

/* ---- descriptions ---- */

struct plan {
    const struct row *row;
    const void *src, *dst; /* layouts */
    int64_t strides[DNNL_RANK], window[DNNL_RANK], dilation[DNNL_RANK], left[DNNL_RANK],
        right[DNNL_RANK];
    int axis;
};

/* Version 2: a struct is filled, then made a description. */
static void *
describe_2(const struct dnnl *dnnl, const struct plan *p)
{
    void *room = arena_array(dnnl->arena, DNNL_ROOM, 1), *description = NULL, *f;
    int (*create)(void **, const void *, const void *, void *, const void *) =
        (int (*)(void **, const void *, const void *, void *, const void *))dnnl_find(
            dnnl, "dnnl_primitive_desc_create");
    unsigned scale_shift = 8 | 16, stats = p->row->family == BATCH_EVAL ? GLOBAL_STATS : 0;
    int status = 1;

    switch (p->row->family) {
    case DECONV:
        return NULL; /* dnnl_convolution() has it */
    case POOL:
        f = dnnl_find(dnnl, "dnnl_pooling_forward_desc_init");
        status = ((int (*)(void *, int, int, const void *, const void *, const int64_t *,
                           const int64_t *, const int64_t *, const int64_t *))f)(
            room, DNNL_INFERENCE, p->row->algorithm, p->src, p->dst, p->strides, p->window, p->left,
            p->right);
        break;
    case SOFTMAX_ROWS:
        f = dnnl_find(dnnl, "dnnl_softmax_v2_forward_desc_init");
        status = ((int (*)(void *, int, int, const void *, const void *, int))f)(
            room, DNNL_INFERENCE, SOFTMAX, p->src, p->dst, p->axis);
        break;
    case LAYER:
        f = dnnl_find(dnnl, "dnnl_layer_normalization_forward_desc_init");
        status = ((int (*)(void *, int, const void *, const void *, float, unsigned))f)(
            room, DNNL_INFERENCE, p->src, NULL, 1e-5f, scale_shift);
        break;
    case BATCH_EVAL:
    case BATCH_TRAIN:
        f = dnnl_find(dnnl, "dnnl_batch_normalization_forward_desc_init");
        status = ((int (*)(void *, int, const void *, float, unsigned))f)(
            room, DNNL_INFERENCE, p->src, 1e-5f, scale_shift | stats);
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
    case DECONV:
        return NULL; /* dnnl_convolution() has it */
    case POOL:
        f = dnnl_find(dnnl, "dnnl_pooling_forward_primitive_desc_create");
        status = ((int (*)(void **, void *, int, int, const void *, const void *, const int64_t *,
                           const int64_t *, const int64_t *, const int64_t *, const int64_t *,
                           const void *))f)(&description, engine, DNNL_INFERENCE, p->row->algorithm,
                                            p->src, p->dst, p->strides, p->window, p->dilation,
                                            p->left, p->right, NULL);
        break;
    case SOFTMAX_ROWS:
        f = dnnl_find(dnnl, "dnnl_softmax_forward_primitive_desc_create");
        status =
            ((int (*)(void **, void *, int, int, const void *, const void *, int, const void *))f)(
                &description, engine, DNNL_INFERENCE, SOFTMAX, p->src, p->dst, p->axis, NULL);
        break;
    case LAYER:
        f = dnnl_find(dnnl, "dnnl_layer_normalization_forward_primitive_desc_create");
        status = ((int (*)(void **, void *, int, const void *, const void *, const void *, float,
                           unsigned, const void *))f)(&description, engine, DNNL_INFERENCE, p->src,
                                                      p->dst, NULL, 1e-5f, scale_shift, NULL);
        break;
    case BATCH_EVAL:
    case BATCH_TRAIN:
        f = dnnl_find(dnnl, "dnnl_batch_normalization_forward_primitive_desc_create");
        status = ((int (*)(void **, void *, int, const void *, const void *, float, unsigned,
                           const void *))f)(&description, engine, DNNL_INFERENCE, p->src, p->dst,
                                            1e-5f, scale_shift | stats, NULL);
        break;
    }
    return status == 0 ? description : NULL;
}

/* ---- the task ---- */

/* Strides, windows and both paddings of each spatial dimension. */
static void
windows(const struct compare_task *task, const struct row *row, struct plan *p)
{
    const int64_t *in = compare_input(task, 0), *out = compare_output(task);
    int spatial = (int)task->program->tensors[0]->rank - 2;

    for (int i = 0; i < spatial; i++) {
        p->strides[i] = row->stride;
        p->window[i] = 3;
        p->left[i] = row->pad;
        p->right[i] = (out[2 + i] - 1) * row->stride + p->window[i] - in[2 + i] - row->pad;
    }
}

static void
add_norm_arguments(const struct compare_task *task, struct dnnl_job *job, enum family family)
{
    size_t count = task->program->input_count;

    for (size_t i = 1; i < count; i++) {
        static const int eval[] = {ARG_MEAN, ARG_VARIANCE, ARG_SCALE, ARG_SHIFT};
        const struct tensor *tensor = task->program->tensors[i];
        struct dnnl_shape shape = dnnl_row_major(1, tensor->size);
        int arg = family == BATCH_EVAL ? eval[i - 1] : i == 1 ? ARG_SCALE : ARG_SHIFT;
        dnnl_add_argument(
            job, arg,
            dnnl_memory(job->dnnl, dnnl_layout(job->dnnl, &shape, false), task->buffers[i]));
    }
}

/* Filters F[C,K,...]; the library names the outputs first. */
static void
add_transposed(struct dnnl *dnnl, const struct compare_task *task, const struct row *row,
               struct contestants *all)
{
    const struct tensor *x = task->program->tensors[0], *f = task->program->tensors[1];
    const struct tensor *y = task->program->outputs[0];
    struct dnnl_shape filters = dnnl_row_major((int)f->rank, f->size);
    struct dnnl_convolution c = {.transposed = true,
                                 .src = dnnl_row_major((int)x->rank, x->size),
                                 .weights = filters,
                                 .dst = dnnl_row_major((int)y->rank, y->size),
                                 .x = task->buffers[0],
                                 .f = task->buffers[1],
                                 .y = compare_result(task)};
    struct library_call call;

    for (int i = 0; i < 2; i++) {
        c.weights.size[i] = filters.size[1 - i];
        c.weights.stride[i] = filters.stride[1 - i];
    }
    for (unsigned i = 0; i + 2 < x->rank; i++) {
        c.stride[i] = row->stride;
        c.left[i] = row->pad;
        c.right[i] =
            (x->size[2 + i] - 1) * row->stride + f->size[2 + i] - y->size[2 + i] - row->pad;
    }
    for (int blocked = 0; blocked < 2; blocked++)
        if (dnnl_convolution(dnnl, &c, blocked, &call))
            contestants_add(all, call);
}

static void
add_plain(struct dnnl *dnnl, const struct compare_task *task, const struct row *row,
          struct contestants *all)
{
    const struct tensor *in = task->program->tensors[0], *out = task->program->outputs[0];
    const struct dnnl_shape src = dnnl_row_major((int)in->rank, in->size);
    const struct dnnl_shape dst = dnnl_row_major((int)out->rank, out->size);
    struct plan p = {.row = row,
                     .src = dnnl_layout(dnnl, &src, false),
                     .dst = dnnl_layout(dnnl, &dst, false),
                     .axis = (int)in->rank - 1};

    if (row->family == POOL)
        windows(task, row, &p);
    void *description = dnnl->version == 2 ? describe_2(dnnl, &p) : describe_3(dnnl, &p);
    struct dnnl_job *job = description ? dnnl_make_job(dnnl, description) : NULL;
    if (!job)
        return;
    dnnl_add_argument(job, DNNL_SRC, dnnl_memory(dnnl, p.src, task->buffers[0]));
    dnnl_add_argument(job, DNNL_DST, dnnl_memory(dnnl, p.dst, compare_result(task)));
    if (row->family >= LAYER)
        add_norm_arguments(task, job, row->family);
    contestants_add(all, (struct library_call){.name = "oneDNN plain",
                                               .run = dnnl_run,
                                               .state = job,
                                               .note = dnnl_implementation(dnnl, description)});
}

/* Whether the task is one that the program shows. */
static bool
add_exact(const struct compare_task *task, struct contestants *all)
{
    struct exact_product product;
    struct exact_convolution convolution;
    struct library_call call;

    if (exact_product(task->program, &product)) {
        if (library_dnnl_product(task->arena, &product, task->buffers, &call))
            contestants_add(all, call);
        return true;
    }
    if (!exact_convolution(task->program, &convolution))
        return false;
    for (int blocked = 0; blocked < 2; blocked++)
        if (library_dnnl_convolution(task->arena, task->program, &convolution, task->buffers,
                                     blocked, &call))
            contestants_add(all, call);
    return true;
}

void
compare_dnnl(const struct compare_task *task, struct contestants *all)
{
    const struct row *row = rows;
    struct dnnl *dnnl;

    if (add_exact(task, all))
        return;
    while (row->prefix && !text_starts(task->name, row->prefix))
        row++;
    dnnl = arena_array(task->arena, 1, sizeof *dnnl);
    if (!row->prefix || !dnnl_open(dnnl, task->arena))
        return;
    if (row->family == DECONV)
        add_transposed(dnnl, task, row, all);
    else
        add_plain(dnnl, task, row, all);
}
