/* Expressions as C: scalars where nothing varies from lane to lane, vectors where it does, and lane
 * by lane where no vector operation says it. */
#include "coder/emit_int.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- types ---- */

static const struct lane_info {
    const char *scalar, *element;
} lane_info[] = {
    [LANE_BOOL] = {"int", "i32"},  [LANE_I32] = {"int", "i32"},    [LANE_I64] = {"long", "i64"},
    [LANE_F32] = {"float", "f32"}, [LANE_F64] = {"double", "f64"},
};

static bool
is_wide(const struct nest *nest)
{
    return nest->em->schedule->vector_bytes / nest->lanes == 8;
}

/* The lane type that masks have: as wide as what the stage computes with. */
static const char *
element_of(const struct nest *nest, enum lane lane)
{
    return lane == LANE_BOOL && is_wide(nest) ? "i64" : lane_info[lane].element;
}

/* vf32, or f32x4 where a vector of the stage's lanes is no whole register. */
static const char *
vector_type(const struct nest *nest, const char *element)
{
    static const char *const native[2][2] = {{"f32", "i32"}, {"f64", "i64"}};
    for (int i = 0; i < 2; i++)
        if (strcmp(element, native[is_wide(nest)][i]) == 0)
            return code_helper(nest->em, arena_printf(nest->em->arena, "v%s", element));
    return code_vector(nest->em, element, nest->lanes);
}

const char *
value_type(const struct nest *nest, enum lane lane, bool vector)
{
    return vector ? vector_type(nest, element_of(nest, lane)) : lane_info[lane].scalar;
}

static bool
is_native(const struct nest *nest, enum lane lane)
{
    return (lane == LANE_F32 && !is_wide(nest)) || (lane == LANE_F64 && is_wide(nest));
}

enum lane
value_lane(const struct nest *nest, const struct member *member, const struct expr *e, bool vector)
{
    struct level levels[LANG_MAX_LEVELS];
    int64_t low, high;
    switch (e->kind) {
    case KIND_BOOL:
        return LANE_BOOL;
    case KIND_INT:
        if (!vector)
            return LANE_I64;
        subscript_ranges(nest, member, levels);
        expr_interval(e, levels, &low, &high);
        return low >= INT32_MIN && high <= INT32_MAX && !is_wide(nest) ? LANE_I32 : LANE_I64;
    case KIND_F64:
        return LANE_F64;
    default:
        return LANE_F32;
    }
}

/* ---- small texts ---- */

__attribute__((format(printf, 2, 3))) static const char *
say(struct nest *nest, const char *format, ...)
{
    va_list args;
    struct buf buf = buf_in(nest->em->arena);
    va_start(args, format);
    buf_vprintf(&buf, format, args);
    va_end(args);
    return buf.data;
}

static struct value
scalar(const char *text, enum lane lane)
{
    return (struct value){text, lane, false};
}

static const char *
number_text(struct nest *nest, double x, enum lane lane)
{
    const char *suffix = lane == LANE_F32 ? "f" : "";
    if (isinf(x))
        return x > 0 ? "INFINITY" : "(-INFINITY)";
    if (isnan(x))
        return "NAN";
    const char *text =
        lane == LANE_F32 ? say(nest, "%.9g", (double)(float)x) : say(nest, "%.17g", x);
    if (lane == LANE_F32 && isinf((float)x))
        return x > 0 ? "INFINITY" : "(-INFINITY)";
    bool whole = strpbrk(text, ".en") == NULL;
    return say(nest, x < 0 || signbit(x) ? "(%s%s%s)" : "%s%s%s", text, whole ? ".0" : "", suffix);
}

struct value
value_as(struct nest *nest, struct value value, enum lane lane, bool vector)
{
    if (value.vector && value.lane != lane) {
        const char *type = value_type(nest, lane, true);
        if (value.lane == LANE_BOOL) /* masks are -1 and 0 */
            value.text = say(nest, "__builtin_convertvector(%s & 1, %s)", value.text, type);
        else if (lane == LANE_BOOL)
            value.text = say(nest, "__builtin_convertvector(%s != 0, %s)", value.text, type);
        else
            value.text = say(nest, "__builtin_convertvector(%s, %s)", value.text, type);
    } else if (value.lane != lane) {
        if (lane == LANE_BOOL)
            value.text = say(nest, "(%s != 0)", value.text);
        else
            value.text = say(nest, "(%s)%s", lane_info[lane].scalar, value.text);
    }
    value.lane = lane;
    if (vector && !value.vector) {
        const char *type = value_type(nest, lane, true);
        struct buf lanes = buf_in(nest->em->arena);
        if (is_native(nest, lane)) {
            buf_printf(&lanes, "%s(%s)",
                       code_helper(nest->em, is_wide(nest) ? "vf64_all" : "vf32_all"), value.text);
        } else {
            buf_printf(&lanes, "(%s){", type);
            for (unsigned i = 0; i < nest->lanes; i++)
                buf_printf(&lanes, "%s%s%s", i ? ", " : "", lane == LANE_BOOL ? "-" : "",
                           value.text);
            buf_puts(&lanes, "}");
        }
        value.text = lanes.data;
        value.vector = true;
    }
    return value;
}

/* "c ? a : b" of one lane type. Vectors are cast, since C tells a typedef from what it adds up to.
 */
static const char *
chosen(struct nest *nest, const char *condition, struct value a, struct value b)
{
    if (!a.vector)
        return say(nest, "(%s ? %s : %s)", condition, a.text, b.text);
    const char *type = value_type(nest, a.lane, true);
    return say(nest, "(%s ? (%s)%s : (%s)%s)", condition, type, a.text, type, b.text);
}

/* ---- what has been computed already ---- */

struct known {
    const struct expr *e;
    const struct member *member;
    struct value value;
    const char *reciprocal, *safe; /* of a divisor that was hoisted, or NULL */
};

void
value_forget(struct nest *nest)
{
    nest->known_count = nest->hoisted_count;
}

static const struct known *
find_known(const struct nest *nest, const struct member *member, const struct expr *e)
{
    for (size_t i = nest->known_count; i-- > 0;)
        if (nest->known[i].e == e && nest->known[i].member == member)
            return &nest->known[i];
    return NULL;
}

static void
remember(struct nest *nest, const struct member *member, const struct expr *e, struct value value)
{
    if (nest->known_count == nest->known_capacity) {
        nest->known_capacity = nest->known_capacity ? 2 * nest->known_capacity : 32;
        nest->known = arena_grow(nest->em->arena, nest->known, nest->known_count,
                                 nest->known_capacity, sizeof *nest->known);
    }
    nest->known[nest->known_count++] = (struct known){e, member, value, NULL, NULL};
}

static const char *
without_brackets(struct nest *nest, const char *text)
{
    size_t length = strlen(text);
    int depth = 0;
    if (text[0] != '(' || text[length - 1] != ')')
        return text;
    for (size_t i = 0; i + 1 < length; i++) {
        depth += (text[i] == '(') - (text[i] == ')');
        if (depth == 0)
            return text;
    }
    return arena_strndup(nest->em->arena, text + 1, length - 2);
}

struct value
value_named(struct nest *nest, const char *base, struct value value)
{
    const char *name = code_name(nest->em, base);
    code_line(nest->em, "const %s %s = %s;", value_type(nest, value.lane, value.vector), name,
              without_brackets(nest, value.text));
    value.text = name;
    return value;
}

bool
value_is_known(const struct nest *nest, const struct member *member, const struct expr *e)
{
    return find_known(nest, member, e) != NULL;
}

void
value_hoist(struct nest *nest, const struct member *member, const struct expr *e)
{
    struct value value = value_of(nest, member, e, NULL);
    if (find_known(nest, member, e) == NULL)
        remember(nest, member, e, value_named(nest, "f", value));
}

void
value_know(struct nest *nest, const struct member *member, const struct expr *e, struct value value)
{
    nest->known_count = nest->hoisted_count;
    remember(nest, member, e, value);
    nest->hoisted_count = nest->known_count;
}

/* A product with the reciprocal is one rounding worse than a division and much faster, but for
 * divisors so large or small that their reciprocal is not exact to the last digit. */
void
value_hoist_reciprocal(struct nest *nest, const struct member *member, const struct expr *divisor)
{
    struct known *known = NULL;
    for (size_t i = nest->known_count; i-- > 0 && known == NULL;)
        if (nest->known[i].e == divisor && nest->known[i].member == member)
            known = &nest->known[i];
    if (known == NULL || known->reciprocal != NULL || known->value.vector ||
        known->value.lane != LANE_F32)
        return;
    known->reciprocal = code_name(nest->em, "q");
    known->safe = code_name(nest->em, "safe");
    code_line(nest->em, "const float %s = 1 / %s;", known->reciprocal, known->value.text);
    code_line(nest->em, "const int %s = fabsf(%s) > 0x1p-100f && fabsf(%s) < 0x1p100f;",
              known->safe, known->reciprocal, known->reciprocal);
}

/* ---- lane by lane ---- */

static struct value
value_at(struct nest *nest, const struct member *member, const struct expr *e,
         const struct value *reduced);

/* A vector whose lanes are printed as scalars: for what no vector operation does. */
static struct value
lane_by_lane(struct nest *nest, const struct member *member, const struct expr *e,
             const struct value *reduced)
{
    struct nest one = *nest;
    enum lane lane = value_lane(nest, member, e, true);
    struct buf buf = buf_in(nest->em->arena);
    struct span *span = &one.span[nest->vector];
    one.vector = -1;
    one.known_count = nest->hoisted_count;
    for (size_t i = 0; i < nest->hoisted_count; i++)
        if (nest->known[i].value.vector) /* of no use for a single lane */
            one.known_count = 0;
    one.conditional = true;
    span->extent = 1;
    buf_printf(&buf, "(%s){", value_type(nest, lane, true));
    for (unsigned i = 0; i < nest->active; i++) {
        struct value part = reduced != NULL ? *reduced : (struct value){0};
        if (part.vector)
            part = scalar(say(nest, "%s[%u]", reduced->text, i), reduced->lane);
        one.reduced = &part;
        struct value value = value_at(&one, member, e, &part);
        value = value_as(&one, value, lane, false);
        buf_printf(&buf, "%s%s%s", i ? ", " : "", lane == LANE_BOOL ? "-" : "", value.text);
        span->add++;
        span->low++;
        span->high++;
    }
    buf_puts(&buf, "}");
    return (struct value){buf.data, lane, true};
}

/* Does it vary from lane to lane? */
static bool
varies(const struct nest *nest, const struct member *member, const struct expr *e)
{
    if (nest->vector < 0)
        return false;
    for (unsigned i = 0; i < member->work->levels; i++)
        if (member->map[i] == nest->vector && (e->free & 1u << i))
            return true;
    return false;
}

/* ---- loads ---- */

static const struct box *
find_box(const struct nest *nest, const struct tensor *tensor)
{
    const struct box *box = nest->boxes;
    while (box != NULL && box->tensor != tensor)
        box = box->outer;
    return box;
}

/* Elements from one value of a subscript to the next. */
static int64_t
dimension_stride(const struct box *box, const struct tensor *tensor, unsigned dimension)
{
    int64_t stride = 1;
    for (unsigned i = dimension + 1; i < tensor->rank; i++)
        stride *= box != NULL && !box->whole ? box->at[i].extent : tensor->size[i];
    return stride;
}

const char *
value_address(struct nest *nest, const struct member *member, const struct tensor *tensor,
              const struct lin *subscripts)
{
    const struct box *box = find_box(nest, tensor);
    struct lin offset = {0};
    (void)member;
    for (unsigned i = 0; i < tensor->rank; i++) {
        int64_t stride = dimension_stride(box, tensor, i);
        lin_add(&offset, &subscripts[i], stride);
        if (box != NULL && !box->whole) {
            offset.add -= box->at[i].add * stride;
            if (box->at[i].var != NULL)
                lin_add_var(&offset, box->at[i].var, -stride);
        }
    }
    const char *name = box != NULL && !box->whole ? box->name : nest->em->storage[tensor->number];
    if (lin_is_number(&offset) && offset.add == 0)
        return name;
    return say(nest, "%s + %s", name, lin_text(nest->em->arena, &offset));
}

static const char *
element_text(struct nest *nest, const char *address)
{
    const char *plus = strstr(address, " + ");
    if (plus == NULL)
        return say(nest, "%s[0]", address);
    return say(nest, "%.*s[%s]", (int)(plus - address), address, plus + 3);
}

static struct value
scalar_element(struct nest *nest, const struct tensor *tensor, const char *address)
{
    const char *element = element_text(nest, address);
    switch (tensor->dtype) {
    case DTYPE_F64:
        return scalar(element, LANE_F64);
    case DTYPE_F32:
        return scalar(element, LANE_F32);
    case DTYPE_F16:
        return scalar(say(nest, "(float)%s", element), LANE_F32);
    case DTYPE_BF16:
        return scalar(say(nest, "%s(%s)", code_helper(nest->em, "f32_of_bf16"), element), LANE_F32);
    case DTYPE_BOOL:
        return scalar(say(nest, "(%s != 0)", element), LANE_BOOL);
    default:
        return scalar(say(nest, "(long)%s", element), LANE_I64);
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
    const char *load = is_wide(nest) ? loads[tensor->dtype].wide : loads[tensor->dtype].narrow;
    if (load == NULL)
        return false;
    if (tail)
        value->text = say(nest, "%s(%s, %u)", code_helper(nest->em, say(nest, "%s_tail", load)),
                          address, nest->active);
    else
        value->text = say(nest, "%s(%s)", code_helper(nest->em, load), address);
    value->lane = loads[tensor->dtype].lane;
    value->vector = true;
    if (tensor->dtype == DTYPE_BOOL) {
        value->text = say(nest, "(%s != 0)", value->text);
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

/* The condition under which a load is inside; NULL: always. `lanes` of them: the whole vector. */
static const char *
inside_text(struct nest *nest, const struct member *member, const struct expr *load,
            const struct lin *subscripts, bool *by_lane)
{
    struct buf buf = buf_in(nest->em->arena);
    *by_lane = false;
    for (unsigned i = 0; i < load->tensor->rank; i++) {
        int64_t low, high, stride = 0, size = load->tensor->size[i];
        subscript_interval(nest, member, load->args[i], &low, &high);
        if (low >= 0 && high < size)
            continue;
        bool even = subscript_stride(nest, member, load->args[i], &stride);
        const char *text = lin_text(nest->em->arena, &subscripts[i]);
        const char *and = buf.length ? " && " : "";
        *by_lane = *by_lane || !even || stride != 0;
        if (!even || stride < 0 || stride > 2)
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

static struct value
operand(struct nest *nest, const struct member *member, const struct expr *e, enum lane lane,
        bool vector, const struct value *reduced);

/* What a load is outside of its tensor, in the lanes of the load. */
static struct value
default_value(struct nest *nest, const struct member *member, const struct expr *load, bool vector)
{
    const struct expr *e = expr_default(load);
    bool saved = nest->conditional;
    nest->conditional = true;
    struct value value =
        operand(nest, member, e, value_lane(nest, member, load, vector), false, NULL);
    nest->conditional = saved;
    return value;
}

static struct value
load_value(struct nest *nest, const struct member *member, const struct expr *e)
{
    if (expr_default(e) != NULL && is_outside(nest, member, e))
        return default_value(nest, member, e, varies(nest, member, e));
    const struct tensor *tensor = e->tensor;
    const struct box *box = find_box(nest, tensor);
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
            return lane_by_lane(nest, member, e, NULL);
        stride += step * dimension_stride(box, tensor, i);
        subscripts[i] = subscript_form(nest, member, e->args[i]);
    }
    bool vector = nest->vector >= 0 && stride != 0;
    bool second = stride == 2 && packed == NULL && tensor->dtype == DTYPE_F32 && !is_wide(nest) &&
                  nest->active == nest->lanes;
    if (vector && stride != 1 && !second)
        return lane_by_lane(nest, member, e, NULL);
    const char *address = packed ? packed : value_address(nest, member, tensor, subscripts);
    const char *inside = packed ? NULL : inside_text(nest, member, e, subscripts, &by_lane);
    if (inside != NULL && by_lane && (strcmp(inside, "0") == 0 || !vector))
        return lane_by_lane(nest, member, e, NULL);
    if (!vector)
        value = scalar_element(nest, tensor, address);
    else if (second)
        value =
            (struct value){say(nest, "%s(%s)", code_helper(nest->em, "vf32_load_second"), address),
                           LANE_F32, true};
    else {
        bool tail = nest->active < nest->lanes && packed == NULL &&
                    !(inside == NULL && may_read_on(nest, member, e, box));
        if (!vector_load(nest, tensor, address, tail, &value))
            return lane_by_lane(nest, member, e, NULL);
    }
    if (packed != NULL)
        pack_use(nest, e);
    else if (box != NULL)
        *box->used = true;
    if (inside != NULL) {
        struct value otherwise;
        if (by_lane)
            otherwise = lane_by_lane(nest, member, e, NULL);
        else
            otherwise = default_value(nest, member, e, varies(nest, member, e));
        bool vectors = value.vector || otherwise.vector;
        enum lane lane = value_lane(nest, member, e, vectors);
        value = value_as(nest, value, lane, vectors);
        otherwise = value_as(nest, otherwise, lane, vectors);
        value.text = chosen(nest, inside, value, otherwise);
    }
    return value;
}

/* ---- operations ---- */

static struct value
operand(struct nest *nest, const struct member *member, const struct expr *e, enum lane lane,
        bool vector, const struct value *reduced)
{
    if (e->op == OP_REAL || (e->op == OP_INT && lane >= LANE_F32)) {
        double x = e->op == OP_REAL ? e->real : (double)e->integer;
        if (lane >= LANE_F32)
            return value_as(nest, scalar(number_text(nest, x, lane), lane), lane, vector);
    }
    return value_as(nest, value_at(nest, member, e, reduced), lane, vector);
}

struct value
value_select(struct nest *nest, struct value condition, struct value a, struct value b)
{
    if (!condition.vector) {
        bool vector = a.vector || b.vector;
        a = value_as(nest, a, a.lane, vector);
        b = value_as(nest, b, a.lane, vector);
        a.text = chosen(nest, condition.text, a, b);
        return a;
    }
    a = value_as(nest, a, a.lane, true);
    b = value_as(nest, b, a.lane, true);
    if (is_native(nest, a.lane))
        a.text = say(nest, "%s(%s, %s, %s)",
                     code_helper(nest->em, is_wide(nest) ? "vf64_select" : "vf32_select"),
                     condition.text, a.text, b.text);
    else if (a.lane == LANE_BOOL || (a.lane == LANE_I32 && !is_wide(nest)) ||
             (a.lane == LANE_I64 && is_wide(nest)))
        a.text =
            say(nest, "((%s & %s) | (~%s & %s))", condition.text, a.text, condition.text, b.text);
    else { /* lanes of another width than the mask's */
        const char *mask =
            vector_type(nest, a.lane == LANE_F32 || a.lane == LANE_I32 ? "i32" : "i64");
        const char *type = value_type(nest, a.lane, true);
        const char *m = say(nest, "__builtin_convertvector(%s, %s)", condition.text, mask);
        a.text = say(nest, "(%s)((%s & (%s)%s) | (~%s & (%s)%s))", type, m, mask, a.text, m, mask,
                     b.text);
    }
    return a;
}

struct value
value_mask(struct nest *nest, struct value comparison, enum lane compared)
{
    bool wide = compared == LANE_I64 || compared == LANE_F64;
    if (comparison.vector && wide != is_wide(nest))
        comparison.text = say(nest, "__builtin_convertvector(%s, %s)", comparison.text,
                              value_type(nest, LANE_BOOL, true));
    return comparison;
}

const char *
value_choice(struct nest *nest, enum op op, enum lane lane, bool vector, const char *a,
             const char *b)
{
    const char *word = op == OP_MAX ? "max" : "min";
    if (vector && is_native(nest, lane))
        return say(nest, "%s(%s, %s)",
                   code_helper(nest->em, say(nest, "v%s_%s", is_wide(nest) ? "f64" : "f32", word)),
                   a, b);
    struct value condition = {say(nest, "(%s %c %s)", a, op == OP_MAX ? '>' : '<', b), LANE_BOOL,
                              vector};
    struct value x = {a, lane, vector}, y = {b, lane, vector};
    return value_select(nest, value_mask(nest, condition, lane), x, y).text;
}

/* Functions and operators that are functions in C. NULL: the vector has none. */
static const char *
function_name(struct nest *nest, enum op op, enum lane lane, bool vector)
{
    static const char *const math[OP_COUNT] = {
        [OP_SQRT] = "sqrt",   [OP_EXP] = "exp",   [OP_EXP2] = "exp2",   [OP_EXPM1] = "expm1",
        [OP_LOG] = "log",     [OP_LOG2] = "log2", [OP_LOG1P] = "log1p", [OP_SIN] = "sin",
        [OP_COS] = "cos",     [OP_TAN] = "tan",   [OP_ATAN] = "atan",   [OP_SINH] = "sinh",
        [OP_COSH] = "cosh",   [OP_TANH] = "tanh", [OP_ERF] = "erf",     [OP_POW] = "pow",
        [OP_FLOOR] = "floor", [OP_CEIL] = "ceil", [OP_ROUND] = "rint",  [OP_TRUNC] = "trunc",
        [OP_ABS] = "fabs",
    };
    bool wide = lane == LANE_F64;
    if (vector) {
        if (!is_native(nest, lane))
            return NULL;
        return code_helper_if_any(nest->em,
                                  say(nest, "v%s_%s", wide ? "f64" : "f32", op_info[op].spelling));
    }
    if (math[op] != NULL)
        return say(nest, "%s%s", math[op], wide ? "" : "f");
    /* rsqrt sigmoid softplus sign min max */
    return code_helper(nest->em, say(nest, "%s_%s", op_info[op].spelling, wide ? "f64" : "f32"));
}

static struct value
call_value(struct nest *nest, const struct member *member, const struct expr *e,
           const struct value *reduced)
{
    struct value args[2];
    bool vector = false;
    enum lane lane = e->kind == KIND_F64 ? LANE_F64 : LANE_F32;
    for (unsigned i = 0; i < e->count; i++) {
        args[i] = operand(nest, member, e->args[i], lane, false, reduced);
        vector = vector || args[i].vector;
    }
    const char *name = function_name(nest, e->op, lane, vector);
    if (name == NULL)
        return lane_by_lane(nest, member, e, reduced);
    for (unsigned i = 0; i < e->count; i++)
        args[i] = value_as(nest, args[i], lane, vector);
    const char *text = e->count == 1 ? say(nest, "%s(%s)", name, args[0].text)
                                     : say(nest, "%s(%s, %s)", name, args[0].text, args[1].text);
    return (struct value){text, lane, vector};
}

/* min, max, abs, sign of integers. */
static struct value
integer_choice(struct nest *nest, const struct member *member, const struct expr *e,
               const struct value *reduced)
{
    bool vector = varies(nest, member, e);
    if (e->count == 2 && e->args[0] == e->args[1]) /* compilers remark it */
        return value_at(nest, member, e->args[0], reduced);
    for (unsigned i = 0; i < e->count; i++) /* what was reduced may be a vector all the same */
        vector = vector || value_at(nest, member, e->args[i], reduced).vector;
    enum lane lane = value_lane(nest, member, e, vector);
    struct value a = operand(nest, member, e->args[0], lane, vector, reduced), b, condition;
    if (e->op == OP_SIGN) {
        a.text = vector ? say(nest, "((%s < 0) - (%s > 0))", a.text, a.text)
                        : say(nest, "((%s > 0) - (%s < 0))", a.text, a.text);
        return a;
    }
    b = e->op == OP_ABS ? (struct value){say(nest, "(-%s)", a.text), lane, vector}
                        : operand(nest, member, e->args[1], lane, vector, reduced);
    condition = (struct value){say(nest, "(%s %s %s)", a.text, e->op == OP_MIN ? "<" : ">", b.text),
                               LANE_BOOL, vector};
    return value_select(nest, value_mask(nest, condition, lane), a, b);
}

static struct value
infix_value(struct nest *nest, const struct member *member, const struct expr *e,
            const struct value *reduced)
{
    bool comparison = e->op >= OP_LT && e->op <= OP_NE;
    bool logic = e->op == OP_AND || e->op == OP_OR;
    const struct expr *x = e->args[0], *y = e->args[1];
    struct value a, b;
    enum lane lane;
    bool vector = false;
    if (logic)
        lane = LANE_BOOL;
    else if (comparison) { /* in the wider of the two */
        const struct expr *wider = x->kind > y->kind ? x : y;
        bool v = varies(nest, member, x) || varies(nest, member, y);
        enum lane other = value_lane(nest, member, wider == x ? y : x, v);
        lane = value_lane(nest, member, wider, v);
        if (wider->kind == KIND_INT && other == LANE_I64)
            lane = LANE_I64;
        if (lane == LANE_BOOL && v)
            lane = is_wide(nest) ? LANE_I64 : LANE_I32;
    } else
        lane = value_lane(nest, member, e, varies(nest, member, e));
    a = operand(nest, member, x, lane, false, reduced);
    b = operand(nest, member, y, lane, false, reduced);
    vector = a.vector || b.vector;
    if (vector && e->kind == KIND_INT && (e->op == OP_DIV || e->op == OP_MOD))
        return lane_by_lane(nest, member, e, reduced);
    if (vector && (logic || !is_native(nest, lane))) {
        a = value_as(nest, a, lane, true);
        b = value_as(nest, b, lane, true);
    }
    const struct known *divisor = e->op == OP_DIV && vector ? find_known(nest, member, y) : NULL;
    if (divisor != NULL && divisor->reciprocal != NULL && lane == LANE_F32 && a.vector) {
        a = value_named(nest, "t", a);
        a.text = say(nest, "(%s ? %s * %s : %s / %s)", divisor->safe, a.text, divisor->reciprocal,
                     a.text, b.text);
        return a;
    }
    const char *sign = op_info[e->op].spelling;
    if (comparison && !vector && lane < LANE_F32 && strcmp(a.text, b.text) == 0)
        return scalar(e->op == OP_LE || e->op == OP_GE || e->op == OP_EQ ? "1" : "0", LANE_BOOL);
    if (vector && logic)
        sign = e->op == OP_AND ? "&" : "|";
    struct value value = {say(nest, "(%s %s %s)", a.text, sign, b.text), lane, vector};
    if (comparison) {
        value.lane = LANE_BOOL;
        value = value_mask(nest, value, lane);
    }
    return value;
}

static struct value
cast_value(struct nest *nest, const struct member *member, const struct expr *e,
           const struct value *reduced)
{
    enum dtype dtype = e->dtype;
    if (dtype == DTYPE_F64)
        return operand(nest, member, e->args[0], LANE_F64, false, reduced);
    struct value a = value_at(nest, member, e->args[0], reduced);
    switch (dtype) {
    case DTYPE_F32:
        return value_as(nest, a, LANE_F32, a.vector);
    case DTYPE_BOOL:
        return value_as(nest, a, LANE_BOOL, a.vector);
    default:
        break;
    }
    if (a.vector)
        return lane_by_lane(nest, member, e, reduced);
    if (dtype == DTYPE_F16)
        return scalar(say(nest, "(float)(_Float16)%s", a.text), LANE_F32);
    if (dtype == DTYPE_BF16)
        return scalar(say(nest, "%s(%s((float)%s))", code_helper(nest->em, "f32_of_bf16"),
                          code_helper(nest->em, "bf16_of_f32"), a.text),
                      LANE_F32);
    return scalar(say(nest, "(long)(%s)(long)%s", dtype_info[dtype].c_type, a.text), LANE_I64);
}

/* The piece in force, or a chain of conditions. */
static struct value
cat_value(struct nest *nest, const struct member *member, const struct expr *e,
          const struct value *reduced)
{
    struct level levels[LANG_MAX_LEVELS];
    const struct expr *index = ir_index(nest->em->schedule->program->ir, e->binder->level);
    int64_t low, high, start = 0;
    subscript_ranges(nest, member, levels);
    expr_interval(index, levels, &low, &high);
    for (unsigned i = 0; i < e->count; i++) {
        int64_t end = start + expr_integer(e->binder->extent[i]);
        if (low >= start && high < end) /* a number has as many digits as the whole */
            return e->kind < KIND_F32 ? value_at(nest, member, e->args[i], reduced)
                                      : operand(nest, member, e->args[i],
                                                value_lane(nest, member, e, false), false, reduced);
        start = end;
    }
    if (varies(nest, member, index))
        return lane_by_lane(nest, member, e, reduced);
    struct buf buf = buf_in(nest->em->arena);
    struct lin at = subscript_form(nest, member, index);
    enum lane lane = value_lane(nest, member, e, nest->vector >= 0);
    bool vector = varies(nest, member, e), saved = nest->conditional;
    nest->conditional = true;
    start = 0;
    buf_putc(&buf, '(');
    struct span *span = &nest->span[member->map[e->binder->level]], whole = *span;
    for (unsigned i = 0; i < e->count; i++) { /* each piece is read within its own range */
        int64_t end = start + expr_integer(e->binder->extent[i]);
        span->low = whole.low > start ? whole.low : start;
        span->high = whole.high < end - 1 ? whole.high : end - 1;
        start = end;
        if (i + 1 < e->count)
            buf_printf(&buf, "%s < %" PRId64 " ? ", lin_text(nest->em->arena, &at), start);
        if (vector) /* see chosen() */
            buf_printf(&buf, "(%s)", value_type(nest, lane, true));
        buf_puts(&buf, operand(nest, member, e->args[i], lane, vector, reduced).text);
        buf_puts(&buf, i + 1 < e->count ? " : " : ")");
    }
    *span = whole;
    nest->conditional = saved;
    return (struct value){buf.data, lane, vector};
}

static struct value
index_value(struct nest *nest, const struct member *member, const struct expr *e)
{
    struct lin form = subscript_form(nest, member, e);
    if (!varies(nest, member, e))
        return scalar(say(nest, "(%s)", lin_text(nest->em->arena, &form)), LANE_I64);
    enum lane lane = value_lane(nest, member, e, true);
    struct buf buf = buf_in(nest->em->arena);
    buf_printf(&buf, "((%s){", value_type(nest, lane, true));
    for (unsigned i = 0; i < nest->lanes; i++)
        buf_printf(&buf, "%s%u", i ? ", " : "", i);
    buf_printf(&buf, "} + %s(%s))", lane == LANE_I32 ? "(int)" : "",
               lin_text(nest->em->arena, &form));
    return (struct value){buf.data, lane, true};
}

static struct value
plain_value(struct nest *nest, const struct member *member, const struct expr *e,
            const struct value *reduced)
{
    struct value a;
    switch (e->op) {
    case OP_INT:
        if (e->kind == KIND_BOOL)
            return scalar(e->integer ? "1" : "0", LANE_BOOL);
        return scalar(say(nest, e->integer < 0 ? "(%" PRId64 ")" : "%" PRId64, e->integer),
                      LANE_I64);
    case OP_REAL:
        return scalar(number_text(nest, e->real, LANE_F32), LANE_F32);
    case OP_INDEX:
        return index_value(nest, member, e);
    case OP_LOAD:
        return load_value(nest, member, e);
    case OP_REDUCE:
        return *reduced;
    case OP_CAT:
        return cat_value(nest, member, e, reduced);
    case OP_CAST:
        return cast_value(nest, member, e, reduced);
    case OP_IF: {
        enum lane lane = value_lane(nest, member, e, varies(nest, member, e));
        struct value condition = operand(nest, member, e->args[0], LANE_BOOL, false, reduced);
        return value_select(nest, condition,
                            operand(nest, member, e->args[1], lane, false, reduced),
                            operand(nest, member, e->args[2], lane, false, reduced));
    }
    case OP_NEG:
        a = value_at(nest, member, e->args[0], reduced);
        a = value_as(nest, a, value_lane(nest, member, e, a.vector), a.vector);
        a.text = say(nest, "(-%s)", a.text);
        return a;
    case OP_NOT:
        a = operand(nest, member, e->args[0], LANE_BOOL, false, reduced);
        a.text = say(nest, a.vector ? "(~%s)" : "(!%s)", a.text);
        return a;
    case OP_DIV:
    case OP_MOD:
        if (e->kind == KIND_INT && !varies(nest, member, e) &&
            !(e->loads && reduced != NULL && reduced->vector)) {
            struct lin form = subscript_form(nest, member, e);
            return scalar(say(nest, "(%s)", lin_text(nest->em->arena, &form)), LANE_I64);
        }
        return infix_value(nest, member, e, reduced);
    default:
        break;
    }
    if (op_info[e->op].form == FORM_INFIX)
        return infix_value(nest, member, e, reduced);
    if (e->kind <= KIND_INT)
        return integer_choice(nest, member, e, reduced);
    return call_value(nest, member, e, reduced);
}

/* Is it worth a name of its own? */
static bool
is_shared(const struct nest *nest, const struct member *member, const struct expr *e)
{
    return e->count > 0 && !nest->conditional && e->op != OP_REDUCE &&
           (e->kind >= KIND_F32 || e->loads) && code_uses(nest->em, member->work)[e->id] > 1;
}

static struct value
value_at(struct nest *nest, const struct member *member, const struct expr *e,
         const struct value *reduced)
{
    const struct known *known = find_known(nest, member, e);
    if (known != NULL)
        return known->value;
    struct value value = plain_value(nest, member, e, reduced);
    if (is_shared(nest, member, e)) {
        value = value_named(nest, "t", value);
        remember(nest, member, e, value);
    }
    return value;
}

struct value
value_of(struct nest *nest, const struct member *member, const struct expr *e,
         const struct value *reduced)
{
    const struct value *saved = nest->reduced;
    nest->reduced = reduced;
    struct value value = value_at(nest, member, e, reduced);
    nest->reduced = saved;
    return value;
}
