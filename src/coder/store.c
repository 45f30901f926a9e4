/* Results into memory: outputs, scratch, partial results between passes. */
#include "coder/emit_int.h"

#include <inttypes.h>
#include <string.h>

/* ---- where ---- */

/* The current left indices of a member. */
static void
left_forms(const struct nest *nest, const struct member *member, struct lin *forms)
{
    for (unsigned i = 0; i < member->work->rank; i++) {
        const struct span *span = &nest->span[member->map[i]];
        forms[i] = (struct lin){.add = span->add};
        if (span->var != NULL)
            lin_add_var(&forms[i], span->var, 1);
    }
}

/* How far the place moves from lane to lane, in a box of these extents. */
static int64_t
lane_stride(const struct nest *nest, const struct member *member, const int64_t *extents)
{
    int64_t stride = 1;
    for (unsigned i = member->work->rank; i-- > 0; stride *= extents[i])
        if (member->map[i] == nest->vector)
            return stride;
    return 0;
}

/* ---- storing ---- */

static const struct {
    enum lane lane;
    const char *narrow, *wide; /* functions of hone.h */
} stores[DTYPE_COUNT] = {
    [DTYPE_F64] = {LANE_F64, NULL, "vf64_store"},
    [DTYPE_F32] = {LANE_F32, "vf32_store", NULL},
    [DTYPE_F16] = {LANE_F32, "vf32_store_f16", NULL},
    [DTYPE_BF16] = {LANE_F32, "vf32_store_bf16", NULL},
    [DTYPE_I32] = {LANE_I32, "vi32_store", NULL},
    [DTYPE_I8] = {LANE_I32, "vi32_store_i8", NULL},
    [DTYPE_U8] = {LANE_I32, "vi32_store_u8", NULL},
    [DTYPE_BOOL] = {LANE_I32, "vi32_store_u8", NULL},
};

const char *
value_place(struct emitter *em, const char *address, int64_t more)
{
    const char *plus = strstr(address, " + ");
    if (plus == NULL)
        return arena_printf(em->arena, "%s[%" PRId64 "]", address, more);
    if (more == 0)
        return arena_printf(em->arena, "%.*s[%s]", (int)(plus - address), address, plus + 3);
    return arena_printf(em->arena, "%.*s[%s + %" PRId64 "]", (int)(plus - address), address,
                        plus + 3, more);
}

const char *
value_element(struct emitter *em, enum dtype dtype, struct value scalar)
{
    const char *value = scalar.text;
    enum lane lane = scalar.lane;
    switch (dtype) {
    case DTYPE_BF16:
        return arena_printf(em->arena, "%s(%s)", code_helper(em, "bf16_of_f32"), value);
    case DTYPE_F16:
        return arena_printf(em->arena, "(_Float16)%s", value);
    case DTYPE_BOOL:
        return arena_printf(em->arena, "%s != 0", value);
    case DTYPE_I8:
    case DTYPE_U8:
    case DTYPE_I32:
        return arena_printf(em->arena, lane >= LANE_F32 ? "(%s)(long)%s" : "(%s)%s",
                            dtype_info[dtype].c_type, value);
    default:
        return value;
    }
}

/* Streaming stores need the vector's own alignment, which addresses show only if all of their parts
 * have it. */
static bool
may_stream(const struct nest *nest, const struct member *member, const int64_t *extents)
{
    int64_t stride = 1;
    if (!nest->stream || nest->active < nest->lanes || nest->vector < 0)
        return false;
    for (unsigned i = member->work->rank; i-- > 0; stride *= extents[i]) {
        const struct span *span = &nest->span[member->map[i]];
        if (member->map[i] == nest->vector) {
            const struct token *token = NULL;
            for (size_t t = 0; t < nest->line->count; t++) {
                token = &nest->line->tokens[t];
                if (token->form == TOKEN_LOOP && (int)token->level == nest->vector &&
                    token->mark != MARK_VECTOR && token->step % nest->lanes != 0)
                    return false;
            }
            if (stride != 1 || span->add % nest->lanes != 0)
                return false;
        } else if (extents[i] > 1 && stride % nest->lanes != 0)
            return false;
    }
    return true;
}

static void
store_at(struct nest *nest, enum dtype dtype, const char *address, int64_t stride, bool stream,
         struct value value)
{
    struct emitter *em = nest->em;
    bool wide = nest_is_wide(nest);
    const char *store = wide ? stores[dtype].wide : stores[dtype].narrow;
    if (!value.vector && nest->vector >= 0 && stride != 0)
        value = value_as(nest, value, value.lane, true);
    if (!value.vector) {
        if (dtype_is_float(dtype) && value.lane < LANE_F32)
            value = value_as(nest, value, dtype == DTYPE_F64 ? LANE_F64 : LANE_F32, false);
        code_line(em, "%s = %s;", value_place(em, address, 0), value_element(em, dtype, value));
        return;
    }
    enum lane lane = stores[dtype].lane;
    if (store != NULL && stride == 1) {
        if (dtype == DTYPE_BOOL)
            value = value_as(nest, value_as(nest, value, LANE_BOOL, true), lane, true);
        value = value_as(nest, value, lane, true);
        if (stream && strcmp(store, "vf32_store") == 0)
            code_line(em, "%s(%s, %s);", code_helper(em, "vf32_stream"), address, value.text);
        else if (nest->active < nest->lanes)
            code_line(em, "%s(%s, %s, %u);",
                      code_helper(em, arena_printf(em->arena, "%s_tail", store)), address,
                      value.text, nest->active);
        else
            code_line(em, "%s(%s, %s);", code_helper(em, store), address, value.text);
        return;
    }
    if (dtype == DTYPE_F32 && !wide) {
        value = value_as(nest, value, lane, true);
        code_line(em, "%s(%s, %" PRId64 ", %s, %u);", code_helper(em, "vf32_store_apart"), address,
                  stride, value.text, nest->active);
        return;
    }
    value = value_named(nest, "y", value);
    for (unsigned i = 0; i < nest->active; i++) {
        struct value element = {arena_printf(em->arena, "%s[%u]", value.text, i), value.lane,
                                false};
        code_line(em, "%s = %s;", value_place(em, address, i * stride),
                  value_element(em, dtype, element));
    }
}

/* The scratch that holds the tensor here, or NULL. */
static const struct box *
scratch_of(const struct nest *nest, const struct tensor *tensor)
{
    const struct box *box = box_find(nest, tensor);
    return box != NULL && !box->whole ? box : NULL;
}

void
value_store(struct nest *nest, const struct member *member, struct value value)
{
    const struct tensor *tensor = member->work->tensor;
    const struct box *box = scratch_of(nest, tensor);
    struct lin forms[LANG_MAX_RANK];
    int64_t extents[LANG_MAX_RANK];
    for (unsigned i = 0; i < tensor->rank; i++)
        extents[i] = box != NULL ? box->at[i].extent : tensor->size[i];
    left_forms(nest, member, forms);
    store_at(nest, tensor->dtype, value_address(nest, member, tensor, forms),
             lane_stride(nest, member, extents), box == NULL && may_stream(nest, member, extents),
             value);
}

/* ---- partial results ---- */

/* What is kept between passes must lose no digits: the output's own type, or scratch. */
static enum dtype
partial_dtype(const struct work *work)
{
    const struct expr *reduce = work->reduce;
    if (reduce->kind == KIND_F64)
        return DTYPE_F64;
    return reduce->kind == KIND_INT || reduce->kind == KIND_BOOL ? DTYPE_I32 : DTYPE_F32;
}

void
partial_open(struct nest *nest)
{
    const struct work *work = nest->member[0].work;
    enum dtype dtype = partial_dtype(work);
    int64_t count = 1;
    if (dtype == work->tensor->dtype)
        return;
    struct box *box = arena_alloc(nest->em->arena, sizeof *box);
    box->tensor = work->tensor;
    for (unsigned i = 0; i < work->rank; i++) {
        box->at[i] = nest->span[i];
        if ((int)i == nest->vector)
            box->at[i].extent = nest->active;
        count *= box->at[i].extent;
    }
    box->name = code_scratch(nest, nest->em->storage[work->tensor->number], dtype, count);
    nest->partial = box;
}

/* The address of the current partial result and its stride. */
static const char *
partial_address(struct nest *nest, const struct member *member, int64_t *stride)
{
    const struct tensor *tensor = member->work->tensor;
    const struct box *box = nest->partial;
    struct lin forms[LANG_MAX_RANK];
    int64_t extents[LANG_MAX_RANK];
    left_forms(nest, member, forms);
    if (box == NULL) {
        const struct box *of = scratch_of(nest, tensor);
        for (unsigned i = 0; i < tensor->rank; i++)
            extents[i] = of != NULL ? of->at[i].extent : tensor->size[i];
        *stride = lane_stride(nest, member, extents);
        return value_address(nest, member, tensor, forms);
    }
    struct lin offset = {0};
    int64_t step = 1;
    for (unsigned i = tensor->rank; i-- > 0; step *= box->at[i].extent) {
        lin_add(&offset, &forms[i], step);
        offset.add -= box->at[i].add * step;
        if (box->at[i].var != NULL)
            lin_add_var(&offset, box->at[i].var, -step);
        extents[i] = box->at[i].extent;
    }
    *stride = lane_stride(nest, member, extents);
    if (lin_is_number(&offset) && offset.add == 0)
        return box->name;
    return arena_printf(nest->em->arena, "%s + %s", box->name, lin_text(nest->em->arena, &offset));
}

struct value
value_reload(struct nest *nest, const struct member *member, enum lane lane)
{
    struct emitter *em = nest->em;
    int64_t stride;
    const char *address = partial_address(nest, member, &stride);
    enum dtype dtype = partial_dtype(member->work);
    struct value value = {NULL,
                          dtype == DTYPE_F64   ? LANE_F64
                          : dtype == DTYPE_I32 ? LANE_I32
                                               : LANE_F32,
                          nest->vector >= 0};
    bool wide = nest_is_wide(nest);
    const char *load = dtype == DTYPE_F64   ? "vf64_load"
                       : dtype == DTYPE_I32 ? "vi32_load"
                                            : "vf32_load";
    if (!value.vector)
        value.text = arena_printf(em->arena, "%s", value_place(em, address, 0));
    else if (stride == 1 && wide == (dtype == DTYPE_F64)) {
        if (nest->active < nest->lanes)
            value.text = arena_printf(em->arena, "%s(%s, %u)",
                                      code_helper(em, arena_printf(em->arena, "%s_tail", load)),
                                      address, nest->active);
        else
            value.text = arena_printf(em->arena, "%s(%s)", code_helper(em, load), address);
    } else {
        struct buf buf = buf_in(em->arena);
        buf_printf(&buf, "(%s){", value_type(nest, value.lane, true));
        for (unsigned i = 0; i < nest->active; i++)
            buf_printf(&buf, "%s%s", i ? ", " : "", value_place(em, address, i * stride));
        buf_puts(&buf, "}");
        value.text = buf.data;
    }
    if (!value.vector && value.lane == LANE_I32)
        value.lane = LANE_I64;
    return value_as(nest, value, lane, value.vector);
}

/* One line of the cache holds several registers of a row: the first of them fetches it. */
void
value_prefetch_partial(struct nest *nest, const struct member *member)
{
    int64_t stride, size = (int64_t)dtype_info[partial_dtype(member->work)].size;
    const char *address = partial_address(nest, member, &stride);
    if (nest->vector >= 0 && stride == 1 && nest->span[nest->vector].add * size % LINE_BYTES == 0)
        code_line(nest->em, "__builtin_prefetch(%s);", address);
}

void
value_store_partial(struct nest *nest, const struct member *member, struct value value)
{
    int64_t stride;
    const char *address = partial_address(nest, member, &stride);
    store_at(nest, partial_dtype(member->work), address, stride, false, value);
}
