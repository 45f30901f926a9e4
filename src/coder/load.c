/* Loads as C: a vector where the lanes lie in one piece, every second element, lane by lane; and
 * what is read outside of a tensor. */
#include "coder/value_int.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Elements from one value of a subscript to the next. */
static int64_t
dimension_stride(const struct box *box, const struct tensor *tensor, unsigned dimension)
{
    int64_t stride = 1;
    for (unsigned i = dimension + 1; i < tensor->rank; i++)
        stride *= box != NULL && !box->whole ? box->at[i].extent : tensor->size[i];
    return stride;
}

/* From where a tensor's storage or box begins. */
static struct lin
offset_of(const struct nest *nest, const struct tensor *tensor, const struct lin *subscripts)
{
    const struct box *box = box_find(nest, tensor);
    bool scratch = box != NULL && !box->whole;
    struct lin offset = {.add = scratch ? 0 : -nest->em->ahead[tensor->number]};
    for (unsigned i = 0; i < tensor->rank; i++) {
        int64_t stride = dimension_stride(box, tensor, i);
        lin_add(&offset, &subscripts[i], stride);
        if (scratch) {
            offset.add -= box->at[i].add * stride;
            if (box->at[i].var != NULL)
                lin_add_var(&offset, box->at[i].var, -stride);
        }
    }
    return offset;
}

static const char *
address_at(struct nest *nest, const struct tensor *tensor, const struct lin *offset)
{
    const struct box *box = box_find(nest, tensor);
    const char *name = box != NULL && !box->whole ? box->name : nest->em->storage[tensor->number];
    if (lin_is_number(offset) && offset->add == 0)
        return name;
    return value_say(nest, "%s + %s", name, lin_text(nest->em->arena, offset));
}

const char *
value_address(struct nest *nest, const struct member *member, const struct tensor *tensor,
              const struct lin *subscripts)
{
    struct lin offset = offset_of(nest, tensor, subscripts);
    (void)member;
    return address_at(nest, tensor, &offset);
}

static struct value
scalar_element(struct nest *nest, const struct tensor *tensor, const char *address)
{
    const char *element = value_place(nest->em, address, 0);
    switch (tensor->dtype) {
    case DTYPE_F64:
        return value_scalar(element, LANE_F64);
    case DTYPE_F32:
        return value_scalar(element, LANE_F32);
    case DTYPE_F16:
        return value_scalar(value_say(nest, "(float)%s", element), LANE_F32);
    case DTYPE_BF16:
        return value_scalar(
            value_say(nest, "%s(%s)", code_helper(nest->em, "f32_of_bf16"), element), LANE_F32);
    case DTYPE_BOOL:
        return value_scalar(value_say(nest, "(%s != 0)", element), LANE_BOOL);
    default:
        return value_scalar(value_say(nest, "(long)%s", element), LANE_I64);
    }
}

/* Vectors from memory; false if hone.h has no such load. */
static bool
vector_load(struct nest *nest, const struct tensor *tensor, const char *address, bool tail,
            struct value *value)
{
    static const struct {
        enum lane lane;
        const char *narrow, *wide;
    } loads[DTYPE_COUNT] = {
        [DTYPE_F64] = {LANE_F64, NULL, "vf64_load"},
        [DTYPE_F32] = {LANE_F32, "vf32_load", NULL},
        [DTYPE_F16] = {LANE_F32, "vf32_load_f16", NULL},
        [DTYPE_BF16] = {LANE_F32, "vf32_load_bf16", NULL},
        [DTYPE_I32] = {LANE_I32, "vi32_load", NULL},
        [DTYPE_I8] = {LANE_I32, "vi32_load_i8", NULL},
        [DTYPE_U8] = {LANE_I32, "vi32_load_u8", NULL},
        [DTYPE_BOOL] = {LANE_I32, "vi32_load_u8", NULL},
    };
    const char *load = nest_is_wide(nest) ? loads[tensor->dtype].wide : loads[tensor->dtype].narrow;
    if (load == NULL)
        return false;
    if (tail)
        value->text =
            value_say(nest, "%s(%s, %u)", code_helper(nest->em, value_say(nest, "%s_tail", load)),
                      address, nest->active);
    else
        value->text = value_say(nest, "%s(%s)", code_helper(nest->em, load), address);
    value->lane = loads[tensor->dtype].lane;
    value->vector = true;
    if (tensor->dtype == DTYPE_BOOL) {
        value->text = value_say(nest, "(%s != 0)", value->text);
        value->lane = LANE_BOOL;
    }
    return true;
}

/* May a whole vector be read from here although fewer lanes are in use? */
static bool
may_read_on(const struct nest *nest, const struct member *member, const struct expr *load,
            const struct box *box)
{
    const struct tensor *tensor = load->tensor;
    int64_t end = 0, low, high;
    size_t size = dtype_info[tensor->dtype].size;
    if (box != NULL && !box->whole)
        return true; /* scratch has room behind its end */
    const struct tensor *memory = work_memory(nest->em->schedule, tensor);
    if (memory->input < 0 && memory->output < 0)
        return true;
    for (unsigned i = 0; i < tensor->rank; i++) {
        subscript_interval(nest, member, load->args[i], &low, &high);
        end += high * dimension_stride(box, tensor, i);
    }
    end += 1 + nest->lanes - nest->active;
    int64_t room = memory->count;
    if (memory->input >= 0) /* the rest of the last 64 bytes may be read */
        room = (int64_t)((memory->count * size + 63) / 64 * 64 / size);
    return end <= room;
}

/* The condition under which a load is inside; NULL: always. `lanes` of them: the whole vector.
 * Where it is in dimension `known` is not asked; -1: none. */
static const char *
inside_text(struct nest *nest, const struct member *member, const struct expr *load,
            const struct lin *subscripts, int known, bool *by_lane)
{
    struct buf buf = buf_in(nest->em->arena);
    *by_lane = false;
    for (unsigned i = 0; i < load->tensor->rank; i++) {
        int64_t low, high, stride = 0, size = load->tensor->size[i];
        subscript_interval(nest, member, load->args[i], &low, &high);
        if ((low >= 0 && high < size) || (int)i == known)
            continue;
        bool even = subscript_stride(nest, member, load->args[i], &stride);
        const char *text = lin_text(nest->em->arena, &subscripts[i]);
        const char *and = buf.length ? " && " : "";
        *by_lane = *by_lane || !even || stride != 0;
        if (!even || stride < 0 || stride > 3)
            return "0"; /* lane by lane throughout */
        if (low < 0)
            buf_printf(&buf, "%s%s >= 0", and, text);
        if (high >= size)
            buf_printf(&buf, "%s%s < %" PRId64, buf.length ? " && " : "", text,
                       size - stride * (nest->active - 1));
    }
    return buf.length ? buf.data : NULL;
}

/* Never inside its tensor at the current point. */
static bool
is_outside(const struct nest *nest, const struct member *member, const struct expr *load)
{
    for (unsigned i = 0; i < load->tensor->rank; i++) {
        int64_t low, high;
        subscript_interval(nest, member, load->args[i], &low, &high);
        if (high < 0 || low >= load->tensor->size[i])
            return true;
    }
    return false;
}

/* What a load is outside of its tensor, in the lanes of the load. */
static struct value
default_value(struct nest *nest, const struct member *member, const struct expr *load, bool vector)
{
    const struct expr *e = expr_default(load);
    bool saved = nest->conditional;
    nest->conditional = true;
    struct value value =
        value_operand(nest, member, e, value_lane(nest, member, load, vector), false, NULL);
    nest->conditional = saved;
    return value;
}

/* Where one lane of a load lies. */
static struct lin
lane_offset(const struct nest *nest, const struct member *member, const struct expr *load,
            unsigned lane)
{
    struct nest one = *nest;
    struct lin subscripts[LANG_MAX_RANK];
    struct span *span = &one.span[nest->vector];
    one.vector = -1;
    span->extent = 1;
    span->add += lane;
    span->low += lane;
    span->high += lane;
    for (unsigned i = 0; i < load->tensor->rank; i++)
        subscripts[i] = subscript_form(&one, member, load->args[i]);
    return offset_of(nest, load->tensor, subscripts);
}

/* Do lanes come from this number of places in turn, one element after the other from each? */
static bool
is_zip(struct nest *nest, const struct member *member, const struct expr *load, unsigned places,
       struct lin *at)
{
    for (unsigned i = 0; i < nest->active; i++) {
        struct lin offset = lane_offset(nest, member, load, i), *first = &at[i % places];
        if (i < places)
            *first = offset;
        struct lin expected = *first;
        expected.add += i / places;
        if (strcmp(lin_text(nest->em->arena, &offset), lin_text(nest->em->arena, &expected)) != 0)
            return false;
    }
    return nest->active >= places;
}

/* Lanes from several places in turn, as where the phases of a stride are put in order. A tail, or a
 * vector from more than two, reads elements that it does not use: there must be room for them. */
static bool
zipped_load(struct nest *nest, const struct member *member, const struct expr *load,
            struct value *value)
{
    enum { MOST_PLACES = 5 };
    struct lin at[MOST_PLACES];
    const struct box *box = box_find(nest, load->tensor);
    const struct tensor *memory = work_memory(nest->em->schedule, load->tensor);
    bool room = (box != NULL && !box->whole) || (memory->input < 0 && memory->output < 0);
    unsigned places = 2, most = room ? MOST_PLACES : 2;
    if (load->tensor->dtype != DTYPE_F32 || nest_is_wide(nest) || expr_default(load) != NULL ||
        nest->conditional || (nest->active < nest->lanes && !room))
        return false;
    while (places <= most && !is_zip(nest, member, load, places, at))
        places++;
    if (places > most)
        return false;
    const char *name = places == 2 ? "vf32_load_zip" : value_say(nest, "vf32_load_zip%u", places);
    struct buf text = buf_in(nest->em->arena);
    for (unsigned i = 0; i < places; i++)
        buf_printf(&text, "%s%s", i > 0 ? ", " : "", address_at(nest, load->tensor, &at[i]));
    *value = (struct value){value_say(nest, "%s(%s)", code_helper(nest->em, name), text.data),
                            LANE_F32, true};
    if (box != NULL)
        *box->used = true;
    return true;
}

/* Every second element. Windows of two read both of a pair, one for each term: where the partners
 * lie inside of the tensor, too, both terms come from the same loads. */
static struct value
second_load(struct nest *nest, const struct member *member, const struct expr *load,
            const struct lin *subscripts)
{
    const struct tensor *tensor = load->tensor;
    const struct box *box = box_find(nest, tensor);
    const unsigned last = tensor->rank - 1;
    struct lin offset = offset_of(nest, tensor, subscripts);
    const char *name = "vf32_load_second";
    int64_t low, high, step = 0;
    subscript_interval(nest, member, load->args[last], &low, &high);
    if ((box == NULL || box->whole) && low >= 0 && high < tensor->size[last] &&
        subscript_stride(nest, member, load->args[last], &step) && step == 2) {
        bool odd = subscripts[last].add % 2 != 0;
        if (odd && low > 0) {
            name = "vf32_load_odd";
            offset.add--;
        } else if (!odd && high + 1 < tensor->size[last])
            name = "vf32_load_even";
    }
    const char *address = address_at(nest, tensor, &offset), *text;
    if (nest->active < nest->lanes)
        text =
            value_say(nest, "%s(%s, %u)", code_helper(nest->em, value_say(nest, "%s_tail", name)),
                      address, nest->active);
    else
        text = value_say(nest, "%s(%s)", code_helper(nest->em, name), address);
    return (struct value){text, LANE_F32, true};
}

/* From the last to the first. */
static struct value
back_load(struct nest *nest, const char *address)
{
    const char *name = nest->active < nest->lanes ? "vf32_load_back_tail" : "vf32_load_back";
    const char *helper = code_helper(nest->em, name);
    const char *text = nest->active < nest->lanes
                           ? value_say(nest, "%s(%s, %u)", helper, address, nest->active)
                           : value_say(nest, "%s(%s)", helper, address);
    return (struct value){text, LANE_F32, true};
}

/* ---- across a border ---- */

struct border { /* lanes from `first` up to `end` are inside of dimension `dim`, others are not */
    int dim;    /* -1: this is not known, or all are inside */
    unsigned first, end;
};

/* Known where the place is a number. */
static struct border
find_border(const struct nest *nest, const struct member *member, const struct expr *load,
            const struct lin *subscripts)
{
    struct border border = {.dim = -1};
    for (unsigned d = 0; d < load->tensor->rank; d++) {
        int64_t low, high, stride = 0, size = load->tensor->size[d], at = subscripts[d].add;
        subscript_interval(nest, member, load->args[d], &low, &high);
        if (!subscript_stride(nest, member, load->args[d], &stride) || stride == 0 ||
            (low >= 0 && high < size))
            continue;
        if (border.dim >= 0 || stride < 0 || !lin_is_number(&subscripts[d]))
            return (struct border){.dim = -1};
        border.dim = (int)d;
        while (border.first < nest->active && at + border.first * stride < 0)
            border.first++;
        border.end = border.first;
        while (border.end < nest->active && at + border.end * stride < size)
            border.end++;
        if (border.end == border.first || border.end - border.first == nest->lanes)
            return (struct border){.dim = -1};
    }
    return border;
}

/* The lanes that are inside, in their places, the others 0. A whole vector that begins or ends with
 * them is read where there is one: a load under a mask that ends behind the tensor may meet a page
 * that is not there, which takes processors a microsecond to find harmless. */
static const char *
inner_lanes(struct nest *nest, const struct expr *load, const struct lin *subscripts,
            int64_t stride, const struct border *border)
{
    const char *name = stride == 2 ? "vf32_load_second" : "vf32_load";
    int64_t at = subscripts[border->dim].add, size = load->tensor->size[border->dim];
    int64_t whole = (nest->lanes - 1) * stride, count = border->end - border->first;
    struct lin offset = offset_of(nest, load->tensor, subscripts);
    bool begins = at + border->first * stride + whole < size && border->end == nest->lanes;
    bool ends = at + (border->end - 1) * stride - whole >= 0 && border->first == 0;
    offset.add += begins || !ends ? border->first * stride : (border->end - 1) * stride - whole;
    const char *address = address_at(nest, load->tensor, &offset);
    const char *text =
        begins || ends
            ? value_say(nest, "%s(%s)", code_helper(nest->em, name), address)
            : value_say(nest, "%s(%s, %" PRId64 ")",
                        code_helper(nest->em, value_say(nest, "%s_tail", name)), address, count);
    if (begins || !ends)
        return border->first == 0
                   ? text
                   : value_say(nest, "%s(%s, %u)", code_helper(nest->em, "vf32_later"), text,
                               border->first);
    return value_say(nest, "%s(%s, %" PRId64 ")", code_helper(nest->em, "vf32_sooner"), text,
                     nest->lanes - count);
}

static struct value
border_load(struct nest *nest, const struct member *member, const struct expr *load,
            const struct lin *subscripts, int64_t stride, const struct border *border)
{
    const struct expr *fill = expr_default(load);
    struct value value = {inner_lanes(nest, load, subscripts, stride, border), LANE_F32, true};
    if (expr_is_constant(fill) && expr_real(fill) == 0 && !signbit(expr_real(fill)))
        return value;
    const char *lane = code_helper(nest->em, "vi32_iota");
    struct value inside = {
        value_say(nest, "((%s() >= %u) & (%s() < %u))", lane, border->first, lane, border->end),
        LANE_BOOL, true};
    return value_select(nest, inside, value,
                        value_as(nest, default_value(nest, member, load, true), LANE_F32, true));
}

struct value
value_load(struct nest *nest, const struct member *member, const struct expr *e)
{
    if (expr_default(e) != NULL && is_outside(nest, member, e))
        return default_value(nest, member, e, value_varies(nest, member, e));
    const struct tensor *tensor = e->tensor;
    const struct box *box = box_find(nest, tensor);
    struct lin subscripts[LANG_MAX_RANK];
    int64_t stride = 0;
    bool by_lane = false;
    struct value value;
    if (nest->vector >= 0 && !nest->conditional && member != &nest->member[0] &&
        tensor == nest->member[0].work->tensor && nest->member[0].result.text != NULL)
        return nest->member[0].result; /* a guest reads its host at the current point */
    const char *packed = pack_address(nest, member, e, &stride);
    for (unsigned i = 0; packed == NULL && i < tensor->rank; i++) {
        int64_t step;
        if (!subscript_stride(nest, member, e->args[i], &step))
            return zipped_load(nest, member, e, &value) ? value
                                                        : value_by_lane(nest, member, e, NULL);
        stride += step * dimension_stride(box, tensor, i);
        subscripts[i] = subscript_form(nest, member, e->args[i]);
    }
    bool vector = nest->vector >= 0 && stride != 0;
    bool floats = packed == NULL && tensor->dtype == DTYPE_F32 && !nest_is_wide(nest);
    bool second = stride == 2 && floats, back = stride == -1 && floats;
    bool third = stride == 3 && floats && nest->active == nest->lanes;
    if (vector && stride != 1 && !second && !third && !back)
        return value_by_lane(nest, member, e, NULL);
    const char *address = packed ? packed : value_address(nest, member, tensor, subscripts);
    struct border border = {.dim = -1};
    if (vector && floats && (stride == 1 || stride == 2) && expr_default(e) != NULL)
        border = find_border(nest, member, e, subscripts);
    const char *inside =
        packed ? NULL : inside_text(nest, member, e, subscripts, border.dim, &by_lane);
    if (inside != NULL && by_lane && (strcmp(inside, "0") == 0 || !vector))
        return value_by_lane(nest, member, e, NULL);
    if (!vector)
        value = scalar_element(nest, tensor, address);
    else if (border.dim >= 0)
        value = border_load(nest, member, e, subscripts, stride, &border);
    else if (second)
        value = second_load(nest, member, e, subscripts);
    else if (third)
        value = (struct value){
            value_say(nest, "%s(%s)", code_helper(nest->em, "vf32_load_third"), address), LANE_F32,
            true};
    else if (back)
        value = back_load(nest, address);
    else {
        bool tail = nest->active < nest->lanes && packed == NULL &&
                    !(inside == NULL && may_read_on(nest, member, e, box));
        if (!vector_load(nest, tensor, address, tail, &value))
            return value_by_lane(nest, member, e, NULL);
    }
    if (packed != NULL)
        pack_use(nest, e);
    else if (box != NULL)
        *box->used = true;
    if (inside != NULL) {
        struct value otherwise;
        if (by_lane)
            otherwise = value_by_lane(nest, member, e, NULL);
        else
            otherwise = default_value(nest, member, e, value_varies(nest, member, e));
        bool vectors = value.vector || otherwise.vector;
        enum lane lane = value_lane(nest, member, e, vectors);
        value = value_as(nest, value, lane, vectors);
        otherwise = value_as(nest, otherwise, lane, vectors);
        value.text = value_chosen(nest, inside, value, otherwise);
    }
    return value;
}
