/* Expressions as C: scalars where nothing varies from lane to lane, vectors where it does, and lane
 * by lane where no vector operation says it. */
#include "coder/value_int.h"

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

/* The lane type that masks have: as wide as what the stage computes with. */
static const char *
element_of(const struct nest *nest, enum lane lane)
{
    return lane == LANE_BOOL && nest_is_wide(nest) ? "i64" : lane_info[lane].element;
}

/* vf32, or f32x4 where a vector of the stage's lanes is no whole register. */
static const char *
vector_type(const struct nest *nest, const char *element)
{
    static const char *const native[2][2] = {{"f32", "i32"}, {"f64", "i64"}};
    for (int i = 0; i < 2; i++)
        if (strcmp(element, native[nest_is_wide(nest)][i]) == 0)
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
    return (lane == LANE_F32 && !nest_is_wide(nest)) || (lane == LANE_F64 && nest_is_wide(nest));
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
        return low >= INT32_MIN && high <= INT32_MAX && !nest_is_wide(nest) ? LANE_I32 : LANE_I64;
    case KIND_F64:
        return LANE_F64;
    default:
        return LANE_F32;
    }
}

/* ---- small texts ---- */

const char *
value_say(struct nest *nest, const char *format, ...)
{
    va_list args;
    struct buf buf = buf_in(nest->em->arena);
    va_start(args, format);
    buf_vprintf(&buf, format, args);
    va_end(args);
    return buf.data;
}

struct value
value_scalar(const char *text, enum lane lane)
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
        lane == LANE_F32 ? value_say(nest, "%.9g", (double)(float)x) : value_say(nest, "%.17g", x);
    if (lane == LANE_F32 && isinf((float)x))
        return x > 0 ? "INFINITY" : "(-INFINITY)";
    bool whole = strpbrk(text, ".en") == NULL;
    return value_say(nest, x < 0 || signbit(x) ? "(%s%s%s)" : "%s%s%s", text, whole ? ".0" : "",
                     suffix);
}

struct value
value_as(struct nest *nest, struct value value, enum lane lane, bool vector)
{
    if (value.vector && value.lane != lane) {
        const char *type = value_type(nest, lane, true);
        if (value.lane == LANE_BOOL) /* masks are -1 and 0 */
            value.text = value_say(nest, "__builtin_convertvector(%s & 1, %s)", value.text, type);
        else if (lane == LANE_BOOL)
            value.text = value_say(nest, "__builtin_convertvector(%s != 0, %s)", value.text, type);
        else
            value.text = value_say(nest, "__builtin_convertvector(%s, %s)", value.text, type);
    } else if (value.lane != lane) {
        if (lane == LANE_BOOL)
            value.text = value_say(nest, "(%s != 0)", value.text);
        else
            value.text = value_say(nest, "(%s)%s", lane_info[lane].scalar, value.text);
    }
    value.lane = lane;
    if (vector && !value.vector) {
        const char *type = value_type(nest, lane, true);
        struct buf lanes = buf_in(nest->em->arena);
        if (is_native(nest, lane)) {
            buf_printf(&lanes, "%s(%s)",
                       code_helper(nest->em, nest_is_wide(nest) ? "vf64_all" : "vf32_all"),
                       value.text);
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

const char *
value_chosen(struct nest *nest, const char *condition, struct value a, struct value b)
{
    if (!a.vector)
        return value_say(nest, "(%s ? %s : %s)", condition, a.text, b.text);
    const char *type = value_type(nest, a.lane, true);
    return value_say(nest, "(%s ? (%s)%s : (%s)%s)", condition, type, a.text, type, b.text);
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
    code_line(nest->em,
              "/* a product with it serves for the quotient unless it is out of range */");
    code_line(nest->em, "const int %s = fabsf(%s) > 0x1p-100f && fabsf(%s) < 0x1p100f;",
              known->safe, known->reciprocal, known->reciprocal);
}

/* ---- lane by lane ---- */

static struct value
value_at(struct nest *nest, const struct member *member, const struct expr *e,
         const struct value *reduced);

struct value
value_by_lane(struct nest *nest, const struct member *member, const struct expr *e,
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
            part = value_scalar(value_say(nest, "%s[%u]", reduced->text, i), reduced->lane);
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

bool
value_varies(const struct nest *nest, const struct member *member, const struct expr *e)
{
    if (nest->vector < 0)
        return false;
    for (unsigned i = 0; i < member->work->levels; i++)
        if (member->map[i] == nest->vector && (e->free & 1u << i))
            return true;
    return false;
}

/* ---- operations ---- */

struct value
value_operand(struct nest *nest, const struct member *member, const struct expr *e, enum lane lane,
              bool vector, const struct value *reduced)
{
    if (e->op == OP_REAL || (e->op == OP_INT && lane >= LANE_F32)) {
        double x = e->op == OP_REAL ? e->real : (double)e->integer;
        if (lane >= LANE_F32)
            return value_as(nest, value_scalar(number_text(nest, x, lane), lane), lane, vector);
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
        a.text = value_chosen(nest, condition.text, a, b);
        return a;
    }
    a = value_as(nest, a, a.lane, true);
    b = value_as(nest, b, a.lane, true);
    if (is_native(nest, a.lane))
        a.text =
            value_say(nest, "%s(%s, %s, %s)",
                      code_helper(nest->em, nest_is_wide(nest) ? "vf64_select" : "vf32_select"),
                      condition.text, a.text, b.text);
    else if (a.lane == LANE_BOOL || (a.lane == LANE_I32 && !nest_is_wide(nest)) ||
             (a.lane == LANE_I64 && nest_is_wide(nest)))
        a.text = value_say(nest, "((%s & %s) | (~%s & %s))", condition.text, a.text, condition.text,
                           b.text);
    else { /* lanes of another width than the mask's */
        const char *mask =
            vector_type(nest, a.lane == LANE_F32 || a.lane == LANE_I32 ? "i32" : "i64");
        const char *type = value_type(nest, a.lane, true);
        const char *m = value_say(nest, "__builtin_convertvector(%s, %s)", condition.text, mask);
        a.text = value_say(nest, "(%s)((%s & (%s)%s) | (~%s & (%s)%s))", type, m, mask, a.text, m,
                           mask, b.text);
    }
    return a;
}

struct value
value_mask(struct nest *nest, struct value comparison, enum lane compared)
{
    bool wide = compared == LANE_I64 || compared == LANE_F64;
    if (comparison.vector && wide != nest_is_wide(nest))
        comparison.text = value_say(nest, "__builtin_convertvector(%s, %s)", comparison.text,
                                    value_type(nest, LANE_BOOL, true));
    return comparison;
}

const char *
value_choice(struct nest *nest, enum op op, enum lane lane, bool vector, const char *a,
             const char *b)
{
    const char *word = op == OP_MAX ? "max" : "min";
    if (vector && is_native(nest, lane))
        return value_say(nest, "%s(%s, %s)",
                         code_helper(nest->em, value_say(nest, "v%s_%s",
                                                         nest_is_wide(nest) ? "f64" : "f32", word)),
                         a, b);
    struct value condition = {value_say(nest, "(%s %c %s)", a, op == OP_MAX ? '>' : '<', b),
                              LANE_BOOL, vector};
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
        return code_helper_if_any(
            nest->em, value_say(nest, "v%s_%s", wide ? "f64" : "f32", op_info[op].spelling));
    }
    if (math[op] != NULL)
        return value_say(nest, "%s%s", math[op], wide ? "" : "f");
    /* rsqrt sigmoid softplus sign min max */
    return code_helper(nest->em,
                       value_say(nest, "%s_%s", op_info[op].spelling, wide ? "f64" : "f32"));
}

static struct value
call_value(struct nest *nest, const struct member *member, const struct expr *e,
           const struct value *reduced)
{
    struct value args[2];
    bool vector = false;
    enum lane lane = e->kind == KIND_F64 ? LANE_F64 : LANE_F32;
    for (unsigned i = 0; i < e->count; i++) {
        args[i] = value_operand(nest, member, e->args[i], lane, false, reduced);
        vector = vector || args[i].vector;
    }
    const char *name = function_name(nest, e->op, lane, vector);
    if (name == NULL)
        return value_by_lane(nest, member, e, reduced);
    for (unsigned i = 0; i < e->count; i++)
        args[i] = value_as(nest, args[i], lane, vector);
    const char *text = e->count == 1
                           ? value_say(nest, "%s(%s)", name, args[0].text)
                           : value_say(nest, "%s(%s, %s)", name, args[0].text, args[1].text);
    return (struct value){text, lane, vector};
}

/* min, max, abs, sign of integers. */
static struct value
integer_choice(struct nest *nest, const struct member *member, const struct expr *e,
               const struct value *reduced)
{
    bool vector = value_varies(nest, member, e);
    if (e->count == 2 && e->args[0] == e->args[1]) /* compilers remark it */
        return value_at(nest, member, e->args[0], reduced);
    for (unsigned i = 0; i < e->count; i++) /* what was reduced may be a vector all the same */
        vector = vector || value_at(nest, member, e->args[i], reduced).vector;
    enum lane lane = value_lane(nest, member, e, vector);
    struct value a = value_operand(nest, member, e->args[0], lane, vector, reduced), b, condition;
    if (e->op == OP_SIGN) {
        a.text = vector ? value_say(nest, "((%s < 0) - (%s > 0))", a.text, a.text)
                        : value_say(nest, "((%s > 0) - (%s < 0))", a.text, a.text);
        return a;
    }
    b = e->op == OP_ABS ? (struct value){value_say(nest, "(-%s)", a.text), lane, vector}
                        : value_operand(nest, member, e->args[1], lane, vector, reduced);
    condition =
        (struct value){value_say(nest, "(%s %s %s)", a.text, e->op == OP_MIN ? "<" : ">", b.text),
                       LANE_BOOL, vector};
    return value_select(nest, value_mask(nest, condition, lane), a, b);
}

/* A comparison of floats that chooses between floats is one function with it: machines compare into
 * masks of another kind than vf32_select() takes. */
static const char *
compared_choice(struct nest *nest, const struct member *member, const struct expr *condition)
{
    static const char *const names[OP_COUNT] = {
        [OP_LT] = "vf32_if_lt", [OP_LE] = "vf32_if_le", [OP_GT] = "vf32_if_gt",
        [OP_GE] = "vf32_if_ge", [OP_EQ] = "vf32_if_eq", [OP_NE] = "vf32_if_ne",
    };
    if (names[condition->op] == NULL || nest_is_wide(nest) ||
        !value_varies(nest, member, condition) || find_known(nest, member, condition) != NULL)
        return NULL;
    for (unsigned i = 0; i < 2; i++)
        if (value_lane(nest, member, condition->args[i], true) != LANE_F32)
            return NULL;
    return code_helper(nest->em, names[condition->op]);
}

static struct value
if_value(struct nest *nest, const struct member *member, const struct expr *e,
         const struct value *reduced)
{
    const struct expr *condition = e->args[0];
    enum lane lane = value_lane(nest, member, e, value_varies(nest, member, e));
    const char *choice = lane == LANE_F32 ? compared_choice(nest, member, condition) : NULL;
    struct value chosen[2], compared[2];
    for (unsigned i = 0; i < 2; i++) {
        const struct expr *either = e->args[i + 1];
        if (choice != NULL)
            compared[i] = value_operand(nest, member, condition->args[i], LANE_F32, true, reduced);
        chosen[i] = value_operand(nest, member, either, lane, choice != NULL, reduced);
    }
    if (choice == NULL)
        return value_select(nest, value_operand(nest, member, condition, LANE_BOOL, false, reduced),
                            chosen[0], chosen[1]);
    return (struct value){value_say(nest, "%s(%s, %s, %s, %s)", choice, compared[0].text,
                                    compared[1].text, chosen[0].text, chosen[1].text),
                          LANE_F32, true};
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
        bool v = value_varies(nest, member, x) || value_varies(nest, member, y);
        enum lane other = value_lane(nest, member, wider == x ? y : x, v);
        lane = value_lane(nest, member, wider, v);
        if (wider->kind == KIND_INT && other == LANE_I64)
            lane = LANE_I64;
        if (lane == LANE_BOOL && v)
            lane = nest_is_wide(nest) ? LANE_I64 : LANE_I32;
    } else
        lane = value_lane(nest, member, e, value_varies(nest, member, e));
    a = value_operand(nest, member, x, lane, false, reduced);
    b = value_operand(nest, member, y, lane, false, reduced);
    vector = a.vector || b.vector;
    if (vector && e->kind == KIND_INT && (e->op == OP_DIV || e->op == OP_MOD))
        return value_by_lane(nest, member, e, reduced);
    if (vector && (logic || !is_native(nest, lane))) {
        a = value_as(nest, a, lane, true);
        b = value_as(nest, b, lane, true);
    }
    const struct known *divisor = e->op == OP_DIV && vector ? find_known(nest, member, y) : NULL;
    if (divisor != NULL && divisor->reciprocal != NULL && lane == LANE_F32 && a.vector) {
        a = value_named(nest, "t", a);
        a.text = value_say(nest, "(%s ? %s * %s : %s / %s)", divisor->safe, a.text,
                           divisor->reciprocal, a.text, b.text);
        return a;
    }
    const char *sign = op_info[e->op].spelling;
    if (comparison && !vector && lane < LANE_F32 && strcmp(a.text, b.text) == 0)
        return value_scalar(e->op == OP_LE || e->op == OP_GE || e->op == OP_EQ ? "1" : "0",
                            LANE_BOOL);
    if (vector && logic)
        sign = e->op == OP_AND ? "&" : "|";
    struct value value = {value_say(nest, "(%s %s %s)", a.text, sign, b.text), lane, vector};
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
        return value_operand(nest, member, e->args[0], LANE_F64, false, reduced);
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
        return value_by_lane(nest, member, e, reduced);
    if (dtype == DTYPE_F16)
        return value_scalar(value_say(nest, "(float)(_Float16)%s", a.text), LANE_F32);
    if (dtype == DTYPE_BF16)
        return value_scalar(value_say(nest, "%s(%s((float)%s))",
                                      code_helper(nest->em, "f32_of_bf16"),
                                      code_helper(nest->em, "bf16_of_f32"), a.text),
                            LANE_F32);
    return value_scalar(value_say(nest, "(long)(%s)(long)%s", dtype_info[dtype].c_type, a.text),
                        LANE_I64);
}

/* Pieces one after the other in lanes: most vectors lie in one of them, and only others are made up
 * lane by lane. */
static struct value
cat_lanes(struct nest *nest, const struct member *member, const struct expr *e,
          const struct value *reduced)
{
    struct value value = value_by_lane(nest, member, e, reduced);
    struct span *span = &nest->span[member->map[e->binder->level]], whole = *span;
    bool saved = nest->conditional;
    int64_t next = 0, active = nest->active;
    if (member->map[e->binder->level] != nest->vector)
        return value;
    const struct expr *index = ir_index(nest->em->schedule->program->ir, e->binder->level);
    struct lin at = subscript_form(nest, member, index);
    const char *place = lin_text(nest->em->arena, &at);
    nest->conditional = true;
    for (unsigned i = 0; i < e->count; i++) {
        int64_t start = next, end = (next += expr_integer(e->binder->extent[i])) - active;
        span->low = whole.low > start ? whole.low : start;
        span->high = whole.high < end ? whole.high : end;
        if (span->high - span->low < active)
            continue; /* no two vectors */
        const char *from = value_say(nest, "%s >= %" PRId64, place, start);
        const char *to = value_say(nest, "%s <= %" PRId64, place, end);
        const char *within = whole.low >= start  ? to
                             : whole.high <= end ? from
                                                 : value_say(nest, "%s && %s", from, to);
        struct value piece = value_operand(nest, member, e->args[i], value.lane, true, reduced);
        value.text = value_chosen(nest, within, piece, value);
    }
    *span = whole;
    nest->conditional = saved;
    return value;
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
            return e->kind < KIND_F32
                       ? value_at(nest, member, e->args[i], reduced)
                       : value_operand(nest, member, e->args[i], value_lane(nest, member, e, false),
                                       false, reduced);
        start = end;
    }
    if (value_varies(nest, member, index))
        return cat_lanes(nest, member, e, reduced);
    struct buf buf = buf_in(nest->em->arena);
    struct lin at = subscript_form(nest, member, index);
    enum lane lane = value_lane(nest, member, e, nest->vector >= 0);
    bool vector = value_varies(nest, member, e), saved = nest->conditional;
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
        if (vector) /* see value_chosen() */
            buf_printf(&buf, "(%s)", value_type(nest, lane, true));
        buf_puts(&buf, value_operand(nest, member, e->args[i], lane, vector, reduced).text);
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
    if (!value_varies(nest, member, e))
        return value_scalar(value_say(nest, "(%s)", lin_text(nest->em->arena, &form)), LANE_I64);
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
            return value_scalar(e->integer ? "1" : "0", LANE_BOOL);
        return value_scalar(
            value_say(nest, e->integer < 0 ? "(%" PRId64 ")" : "%" PRId64, e->integer), LANE_I64);
    case OP_REAL:
        return value_scalar(number_text(nest, e->real, LANE_F32), LANE_F32);
    case OP_INDEX:
        return index_value(nest, member, e);
    case OP_LOAD:
        return hold_load(nest, member, e, value_load(nest, member, e));
    case OP_REDUCE:
        return *reduced;
    case OP_CAT:
        return cat_value(nest, member, e, reduced);
    case OP_CAST:
        return cast_value(nest, member, e, reduced);
    case OP_IF:
        return if_value(nest, member, e, reduced);
    case OP_NEG:
        a = value_at(nest, member, e->args[0], reduced);
        a = value_as(nest, a, value_lane(nest, member, e, a.vector), a.vector);
        a.text = value_say(nest, "(-%s)", a.text);
        return a;
    case OP_NOT:
        a = value_operand(nest, member, e->args[0], LANE_BOOL, false, reduced);
        a.text = value_say(nest, a.vector ? "(~%s)" : "(!%s)", a.text);
        return a;
    case OP_DIV:
    case OP_MOD:
        if (e->kind == KIND_INT && !value_varies(nest, member, e) &&
            !(e->loads && reduced != NULL && reduced->vector)) {
            struct lin form = subscript_form(nest, member, e);
            return value_scalar(value_say(nest, "(%s)", lin_text(nest->em->arena, &form)),
                                LANE_I64);
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
