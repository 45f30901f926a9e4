/* Random programs of the tensor language, as text: well-formed by construction, of every statement,
 * data type, reduction, function and form of subscript. One seed gives one program; the same seed
 * with other names, another order of independent stages, or one changed constant gives the copies
 * that the tests of the canonical hash need. */
#ifndef HONE_TESTS_RANDOM_PROGRAM_H
#define HONE_TESTS_RANDOM_PROGRAM_H

#include "base/buf.h"
#include "base/rng.h"

#include <stdbool.h>
#include <string.h>

struct random_request {
    uint64_t seed;
    bool rename;  /* other names for dims, tensors, indices */
    bool reorder; /* independent stages in another order */
    bool change;  /* one constant differs */
};

enum random_kind { R_FLOAT, R_INT, R_BOOL };

struct random_extent {
    const char *name; /* "N1", "(N1+1)" */
    int size;
};

struct random_tensor {
    const char *name;
    enum random_kind kind;
    unsigned rank;
    int extent[4]; /* numbers of extents */
    int stage;     /* that defines it, -1: an input */
};

struct random_stage {
    struct buf text;
    uint64_t reads;    /* bit s: reads something of stage s */
    bool ends_in_real; /* "+ 0.0" follows: what `change` changes */
    bool printed;
};

struct random_index {
    const char *name;
    int extent;
};

struct random_maker {
    struct arena *arena;
    struct random_request request;
    struct rng rng;
    struct random_extent extents[12];
    int dim_count, extent_count;
    struct random_tensor tensors[48];
    int tensor_count;
    struct random_stage stages[32];
    int stage_count;
    struct random_index indices[16];
    int index_count;
    int reductions;                   /* nested now */
    int named;                        /* indices so far */
    const struct random_tensor *self; /* a scan may read it */
    const char *carried;
};

static inline bool
r_chance(struct random_maker *m, unsigned percent)
{
    return rng_below(&m->rng, 100) < percent;
}

static inline int
r_below(struct random_maker *m, int bound)
{
    return (int)rng_below(&m->rng, (uint64_t)bound);
}

#define R_PICK(m, list) ((list)[r_below((m), (int)(sizeof(list) / sizeof *(list)))])

static inline const char *
r_name(struct random_maker *m, const char *plain, const char *other, int number)
{
    return arena_printf(m->arena, "%s%d", m->request.rename ? other : plain, number);
}

static inline struct buf *
r_out(struct random_maker *m)
{
    return &m->stages[m->stage_count].text;
}

static inline void
r_float(struct random_maker *m, int depth);
static inline void
r_int(struct random_maker *m, int depth);
static inline void
r_bool(struct random_maker *m, int depth);

/* ---- numbers ---- */

static inline void
r_real(struct random_maker *m)
{
    static const char *const values[] = {"0.5", "1.25", "-0.75", "2.0",
                                         "0.1", "3.0",  "1e-2",  "-1.5"};
    const char *value = R_PICK(m, values);
    buf_puts(r_out(m), value[0] == '-' ? arena_printf(m->arena, "(%s)", value) : value);
}

/* ---- subscripts ---- */

static inline int
r_index_of_extent(struct random_maker *m, int extent)
{
    int start = m->index_count ? r_below(m, m->index_count) : 0;
    for (int i = 0; i < m->index_count; i++) {
        int at = (start + i) % m->index_count;
        if (m->extents[m->indices[at].extent].size == m->extents[extent].size &&
            m->indices[at].extent == extent)
            return at;
    }
    return -1;
}

static inline const struct random_tensor *
r_pick_tensor(struct random_maker *m, enum random_kind kind)
{
    for (int tries = 0; tries < 12; tries++) {
        const struct random_tensor *t = &m->tensors[r_below(m, m->tensor_count)];
        if (t->kind == kind && t != m->self)
            return t;
    }
    return NULL;
}

static inline void
r_note_read(struct random_maker *m, const struct random_tensor *tensor)
{
    if (tensor->stage >= 0)
        m->stages[m->stage_count].reads |= 1ull << tensor->stage;
}

/* Writes a subscript for a dimension of this extent; true if it may leave it. */
static inline bool
r_subscript(struct random_maker *m, int extent, bool gather)
{
    struct buf *out = r_out(m);
    const char *size = m->extents[extent].name;
    int same = r_index_of_extent(m, extent);
    int way = r_below(m, 14);
    if (same >= 0 && way < 7) {
        buf_puts(out, m->indices[same].name);
        return false;
    }
    if (same >= 0 && way == 7) {
        buf_printf(out, "%s-1-%s", size, m->indices[same].name);
        return false;
    }
    const struct random_tensor *numbers = gather && way == 8 ? r_pick_tensor(m, R_INT) : NULL;
    if (numbers != NULL && numbers->stage < 0) { /* inputs of that kind are i32 */
        buf_puts(out, "max(min(");
        r_note_read(m, numbers);
        buf_printf(out, "%s[", numbers->name);
        bool leaves = false;
        for (unsigned d = 0; d < numbers->rank; d++) {
            buf_puts(out, d ? "," : "");
            leaves |= r_subscript(m, numbers->extent[d], false);
        }
        buf_printf(out, "%s],%s-1),0)", leaves ? " | 0" : "", size);
        return false;
    }
    if (m->index_count == 0 || way == 9) {
        buf_puts(out, "0");
        return false;
    }
    const char *i = m->indices[r_below(m, m->index_count)].name;
    switch (r_below(m, 6)) {
    case 0:
        buf_printf(out, "min(%s,%s-1)", i, size);
        return false;
    case 1:
        buf_printf(out, "%s%%%s", i, size);
        return false;
    case 2:
        buf_printf(out, "%s-%d", i, 1 + r_below(m, 2));
        return true;
    case 3:
        buf_printf(out, "%s*2-%d", i, r_below(m, 3));
        return true;
    case 4:
        buf_printf(out, "(%s+%d)/2", i, r_below(m, 3));
        return true;
    default:
        buf_printf(out, "%s+%d", i, r_below(m, 3));
        return true;
    }
}

static inline void
r_load(struct random_maker *m, const struct random_tensor *tensor, int depth)
{
    struct buf *out = r_out(m);
    bool leaves = false;
    r_note_read(m, tensor);
    buf_printf(out, "%s[", tensor->name);
    for (unsigned d = 0; d < tensor->rank; d++) {
        buf_puts(out, d ? "," : "");
        leaves |= r_subscript(m, tensor->extent[d], true);
    }
    if (leaves) {
        buf_puts(out, " | ");
        if (tensor->kind == R_BOOL)
            r_bool(m, 0);
        else if (tensor->kind == R_INT)
            r_int(m, 0);
        else if (depth > 0 && r_chance(m, 20))
            r_float(m, 0);
        else
            r_real(m);
    }
    buf_puts(out, "]");
}

/* ---- reductions ---- */

static inline void
r_reduce(struct random_maker *m, const char *name, enum random_kind kind, int depth)
{
    struct buf *out = r_out(m);
    int before = m->index_count, count = name[0] == 'a' ? 1 : 1 + r_chance(m, 25);
    m->reductions++;
    buf_printf(out, "%s[", name);
    for (int i = 0; i < count; i++) {
        int extent = r_below(m, m->extent_count);
        const char *index = r_name(m, "r", "s", m->named++);
        buf_printf(out, "%s%s:%s", i ? "," : "", index, m->extents[extent].name);
        m->indices[m->index_count++] = (struct random_index){index, extent};
    }
    if (r_chance(m, 30)) {
        buf_puts(out, " ? ");
        r_bool(m, 0);
    }
    buf_puts(out, "](");
    if (kind == R_INT)
        r_int(m, depth);
    else
        r_float(m, depth);
    buf_puts(out, ")");
    m->index_count = before;
    m->reductions--;
}

/* ---- expressions ---- */

static inline void
r_infix(struct random_maker *m, void (*side)(struct random_maker *, int), const char *sign,
        int depth)
{
    buf_puts(r_out(m), "(");
    side(m, depth);
    buf_printf(r_out(m), " %s ", sign);
    side(m, depth);
    buf_puts(r_out(m), ")");
}

static inline void
r_call(struct random_maker *m, void (*arg)(struct random_maker *, int), const char *name, int count,
       int depth)
{
    buf_printf(r_out(m), "%s(", name);
    for (int i = 0; i < count; i++) {
        buf_puts(r_out(m), i ? ", " : "");
        arg(m, depth);
    }
    buf_puts(r_out(m), ")");
}

static inline void
r_if(struct random_maker *m, void (*branch)(struct random_maker *, int), int depth)
{
    buf_puts(r_out(m), "if(");
    r_bool(m, depth > 0 ? depth - 1 : 0);
    for (int i = 0; i < 2; i++) {
        buf_puts(r_out(m), ", ");
        branch(m, depth);
    }
    buf_puts(r_out(m), ")");
}

static inline void
r_float(struct random_maker *m, int depth)
{
    static const char *const infix[] = {"+", "-", "*", "*", "+", "/"};
    static const char *const functions[] = {
        "exp",   "tanh",     "sigmoid", "erf",  "sin",   "cos",   "abs",  "sqrt",
        "atan",  "softplus", "floor",   "ceil", "round", "trunc", "sign", "expm1",
        "log1p", "log",      "rsqrt",   "sinh", "cosh",  "exp2",  "log2", "tan"};
    static const char *const reductions[] = {"sum", "sum", "sum", "mean", "max", "min", "prod"};
    static const char *const casts[] = {"f32", "f16", "bf16", "f32"};
    struct buf *out = r_out(m);
    const struct random_tensor *tensor;
    if (m->self != NULL && m->self->kind == R_FLOAT && r_chance(m, 40)) {
        buf_printf(out, "%s[", m->self->name);
        for (unsigned d = 0; d < m->self->rank; d++)
            buf_printf(out, "%s%s%s", d ? "," : "", m->indices[d].name,
                       m->indices[d].name == m->carried ? "-1" : "");
        buf_puts(out, " | 0.25]");
        return;
    }
    int way = r_below(m, depth > 0 ? 100 : 30);
    if (way < 25 && (tensor = r_pick_tensor(m, R_FLOAT)) != NULL)
        r_load(m, tensor, depth);
    else if (way < 30)
        r_real(m);
    else if (way < 55)
        r_infix(m, r_float, R_PICK(m, infix), depth - 1);
    else if (way < 68)
        r_call(m, r_float, R_PICK(m, functions), 1, depth - 1);
    else if (way < 72)
        r_call(m, r_float, r_chance(m, 50) ? "min" : "max", 2, depth - 1);
    else if (way < 74)
        r_call(m, r_float, "clamp", 3, 0);
    else if (way < 79)
        r_if(m, r_float, depth - 1);
    else if (way < 82)
        r_call(m, r_float, R_PICK(m, casts), 1, depth - 1);
    else if (way < 84)
        r_call(m, r_int, "f32", 1, depth - 1);
    else if (way < 86)
        r_call(m, r_float, "sq", 1, depth - 1);
    else if (way < 97 && m->reductions < 2 && m->index_count < 8)
        r_reduce(m, R_PICK(m, reductions), R_FLOAT, depth - 1);
    else
        r_real(m);
}

static inline void
r_int(struct random_maker *m, int depth)
{
    static const char *const infix[] = {"+", "-", "*"};
    struct buf *out = r_out(m);
    const struct random_tensor *tensor;
    int way = r_below(m, depth > 0 ? 100 : 40);
    if (way < 15 && m->index_count > 0)
        buf_puts(out, m->indices[r_below(m, m->index_count)].name);
    else if (way < 30 && (tensor = r_pick_tensor(m, R_INT)) != NULL)
        r_load(m, tensor, depth);
    else if (way < 40)
        buf_printf(out, "%d", r_below(m, 5));
    else if (way < 55)
        r_infix(m, r_int, R_PICK(m, infix), depth - 1);
    else if (way < 65) {
        buf_puts(out, "(");
        r_int(m, depth - 1);
        buf_printf(out, " %s (abs(", r_chance(m, 50) ? "/" : "%");
        r_int(m, depth - 1);
        buf_puts(out, ")+1))");
    } else if (way < 72)
        r_call(m, r_int, r_chance(m, 50) ? "min" : "max", 2, depth - 1);
    else if (way < 76)
        r_if(m, r_int, depth - 1);
    else if (way < 82)
        r_call(m, r_bool, "i32", 1, depth - 1);
    else if (way < 86) {
        buf_puts(out, "i32(clamp(");
        r_float(m, depth - 1);
        buf_puts(out, ", -50.0, 50.0))");
    } else if (way < 96 && m->reductions < 2 && m->index_count < 8)
        r_reduce(m,
                 r_chance(m, 30)   ? "argmax"
                 : r_chance(m, 20) ? "argmin"
                                   : "sum",
                 r_chance(m, 50) ? R_INT : R_INT, depth - 1);
    else
        buf_puts(out, "3");
}

static inline void
r_bool(struct random_maker *m, int depth)
{
    static const char *const compare[] = {"<", "<=", ">", ">=", "==", "!="};
    struct buf *out = r_out(m);
    const struct random_tensor *tensor;
    int way = r_below(m, depth > 0 ? 100 : 60);
    if (way < 10 && (tensor = r_pick_tensor(m, R_BOOL)) != NULL)
        r_load(m, tensor, depth);
    else if (way < 45)
        r_infix(m, r_int, R_PICK(m, compare), 0);
    else if (way < 60)
        r_infix(m, r_float, r_chance(m, 50) ? "<" : ">=", 0);
    else if (way < 85)
        r_infix(m, r_bool, r_chance(m, 50) ? "&&" : "||", depth - 1);
    else {
        buf_puts(out, "!");
        r_infix(m, r_int, R_PICK(m, compare), 0);
    }
}

/* ---- stages ---- */

static inline void
r_end_stage(struct random_maker *m)
{
    m->index_count = 0;
    m->self = NULL;
    m->carried = NULL;
    m->stage_count++;
}

static inline void
r_begin_stage(struct random_maker *m)
{
    m->stages[m->stage_count].text = buf_in(m->arena);
    m->stages[m->stage_count].reads = 0;
}

/* "T3[i1:N1,i2:N2]" and the indices in scope. */
static inline struct random_tensor
r_left(struct random_maker *m, enum random_kind kind, int least)
{
    struct random_tensor tensor = {.kind = kind, .stage = m->stage_count};
    tensor.name = r_name(m, "T", "Zeta", m->stage_count + 1);
    tensor.rank = (unsigned)(least + r_below(m, 4 - least));
    buf_printf(r_out(m), "%s[", tensor.name);
    for (unsigned d = 0; d < tensor.rank; d++) {
        int extent = r_below(m, m->extent_count);
        const char *index = r_name(m, "a", "k", m->named++);
        tensor.extent[d] = extent;
        m->indices[m->index_count++] = (struct random_index){index, extent};
        buf_printf(r_out(m), "%s%s:%s", d ? "," : "", index, m->extents[extent].name);
    }
    buf_puts(r_out(m), "]");
    return tensor;
}

static inline void
r_plain_stage(struct random_maker *m)
{
    static const char *const floats[] = {"", "", "", ": f32", ": f64", ": f16", ": bf16"};
    static const char *const ints[] = {"", ": i32", ": i8", ": u8"};
    int way = r_below(m, 10);
    enum random_kind kind = way < 7 ? R_FLOAT : way < 9 ? R_INT : R_BOOL;
    struct random_tensor tensor = r_left(m, kind, 0);
    if (kind == R_FLOAT)
        buf_puts(r_out(m), R_PICK(m, floats));
    if (kind == R_INT)
        buf_puts(r_out(m), R_PICK(m, ints));
    buf_puts(r_out(m), " = ");
    if (kind == R_FLOAT)
        r_float(m, 3), m->stages[m->stage_count].ends_in_real = true;
    else if (kind == R_INT)
        r_int(m, 3), buf_puts(r_out(m), " + 0");
    else
        r_infix(m, r_bool, "&&", 1);
    m->tensors[m->tensor_count++] = tensor;
    r_end_stage(m);
}

static inline void
r_scan(struct random_maker *m)
{
    struct random_tensor tensor = r_left(m, R_FLOAT, 1);
    m->carried = m->indices[r_below(m, (int)tensor.rank)].name;
    m->self = &tensor;
    buf_puts(r_out(m), ": f32 = 0.5*");
    r_float(m, 2);
    m->self = NULL;
    m->tensors[m->tensor_count++] = tensor;
    r_end_stage(m);
}

static inline void
r_cat(struct random_maker *m)
{
    int a = r_below(m, m->dim_count), b = r_below(m, m->dim_count);
    struct random_tensor tensor = {.kind = R_FLOAT, .rank = 1, .stage = m->stage_count};
    tensor.name = r_name(m, "T", "Zeta", m->stage_count + 1);
    const char *index = r_name(m, "a", "k", m->named++);
    m->extents[m->extent_count].name =
        arena_printf(m->arena, "(%s+%s)", m->extents[a].name, m->extents[b].name);
    m->extents[m->extent_count].size = m->extents[a].size + m->extents[b].size;
    buf_printf(r_out(m), "%s[%s] = cat[%s](", tensor.name, index, index);
    for (int piece = 0; piece < 2; piece++) {
        int extent = piece ? b : a;
        m->indices[0] = (struct random_index){index, extent};
        m->index_count = 1;
        buf_puts(r_out(m), piece ? ", " : "");
        r_float(m, 1);
        buf_printf(r_out(m), ":%s", m->extents[extent].name);
    }
    buf_puts(r_out(m), ")");
    if (m->extent_count < 10) {
        tensor.extent[0] = m->extent_count++;
        m->tensors[m->tensor_count++] = tensor;
    }
    r_end_stage(m);
}

/* Two stages that advance together. */
static inline void
r_rec(struct random_maker *m)
{
    int steps = r_below(m, m->dim_count), wide = r_below(m, m->dim_count);
    const char *t = r_name(m, "t", "v", m->named++), *j = r_name(m, "j", "q", m->named++),
               *k = r_name(m, "r", "s", m->named++);
    struct random_tensor a = {
        .kind = R_FLOAT, .rank = 2, .extent = {steps, wide}, .stage = m->stage_count};
    struct random_tensor b = a;
    a.name = r_name(m, "T", "Zeta", m->stage_count + 1);
    b.name = r_name(m, "U", "Eta", m->stage_count + 1);
    const char *T = m->extents[steps].name, *W = m->extents[wide].name;
    struct buf *out = r_out(m);
    buf_printf(out, "rec %s:%s {\n    %s[%s,%s:%s] = 0.5*sum[%s:%s](%s[%s-1,%s | 0.125]*0.25) + ",
               t, T, a.name, t, j, W, k, W, b.name, t, k);
    m->indices[0] = (struct random_index){t, steps};
    m->indices[1] = (struct random_index){j, wide};
    m->index_count = 2;
    r_float(m, 1);
    buf_printf(out, "\n    %s[%s,%s:%s] = tanh(%s[%s,%s] + %s[%s-2,%s | 0.5])\n}", b.name, t, j, W,
               a.name, t, j, a.name, t, j);
    m->tensors[m->tensor_count++] = a;
    m->tensors[m->tensor_count++] = b;
    r_end_stage(m);
}

/* A whole-tensor statement or a library call on a float tensor of rank 2 or more. */
static inline void
r_whole(struct random_maker *m)
{
    static const char *const forms[] = {"softmax(%s)", "relu(%s)", "1.0 + tanh(%s)*%s",
                                        "log_softmax(%s)", "gelu(%s) - %s"};
    const struct random_tensor *from = r_pick_tensor(m, R_FLOAT);
    if (from == NULL || from->rank < 1)
        return;
    struct random_tensor tensor = *from;
    r_note_read(m, from);
    tensor.stage = m->stage_count;
    tensor.name = r_name(m, "T", "Zeta", m->stage_count + 1);
    const char *form = R_PICK(m, forms);
    buf_printf(r_out(m), "%s = ", tensor.name);
    for (const char *c = form; *c != '\0'; c++)
        if (*c == '%')
            buf_puts(r_out(m), from->name), c++;
        else
            buf_putc(r_out(m), *c);
    m->tensors[m->tensor_count++] = tensor;
    r_end_stage(m);
}

/* ---- programs ---- */

static inline void
r_declare(struct random_maker *m, struct buf *text)
{
    static const char *const floats[] = {"f32", "f32", "f32", "f64", "f16", "bf16"};
    static const char *const domains[] = {
        "", "", "", " from -2 to 2", " scale 0.5", " among -1, 0, 0.5"};
    m->dim_count = 2 + r_below(m, 3);
    for (int i = 0; i < m->dim_count; i++) {
        m->extents[i] = (struct random_extent){r_name(m, "N", "Dim", i + 1), 1 + r_below(m, 6)};
        buf_printf(text, "dim %s=%d\n", m->extents[i].name, m->extents[i].size);
    }
    m->extent_count = m->dim_count;
    m->extents[m->extent_count++] = (struct random_extent){
        arena_printf(m->arena, "(%s+1)", m->extents[0].name), m->extents[0].size + 1};
    buf_puts(text, "def sq(x) = x*x\n");
    int inputs = 2 + r_below(m, 3);
    for (int i = 0; i < inputs; i++) {
        struct random_tensor t = {.kind = i == 0            ? R_FLOAT
                                          : i == 1          ? R_INT
                                          : r_chance(m, 80) ? R_FLOAT
                                                            : R_BOOL,
                                  .stage = -1};
        t.name = r_name(m, "X", "Input", i + 1);
        t.rank = (unsigned)r_below(m, 4);
        buf_printf(text, "in %s: %s[", t.name,
                   t.kind == R_FLOAT ? R_PICK(m, floats)
                   : t.kind == R_INT ? "i32"
                                     : "bool");
        for (unsigned d = 0; d < t.rank; d++) {
            t.extent[d] = r_below(m, m->dim_count);
            buf_printf(text, "%s%s", d ? "," : "", m->extents[t.extent[d]].name);
        }
        buf_printf(text, "]%s\n", t.kind == R_FLOAT ? R_PICK(m, domains) : "");
        m->tensors[m->tensor_count++] = t;
    }
}

/* Prints the stages in some order that respects what they read. */
static inline void
r_print_stages(struct random_maker *m, struct buf *text, int changed)
{
    struct rng order = rng_stream(m->request.seed, "order");
    for (int done = 0; done < m->stage_count;) {
        int at = m->request.reorder ? (int)rng_below(&order, (uint64_t)m->stage_count) : done;
        bool ready = !m->stages[at].printed;
        for (int s = 0; s < m->stage_count; s++)
            if (m->stages[at].reads >> s & 1 && !m->stages[s].printed)
                ready = false;
        if (!ready)
            continue;
        buf_printf(text, "%s%s\n", m->stages[at].text.data,
                   !m->stages[at].ends_in_real ? ""
                   : at == changed             ? " + 0.8125"
                                               : " + 0.0");
        m->stages[at].printed = true;
        done++;
    }
}

/* The last two tensors that were made, and some others. */
static inline bool
r_is_output(const struct random_maker *m, int tensor)
{
    return m->tensors[tensor].stage >= 0 && (tensor >= m->tensor_count - 2 || tensor % 3 == 0);
}

/* The text of a random program; *changed says whether `change` found a constant to change. */
static inline const char *
random_program(struct arena *arena, struct random_request request, bool *changed)
{
    struct random_maker *m = arena_alloc(arena, sizeof *m);
    struct buf text = buf_in(arena);
    m->arena = arena;
    m->request = request;
    m->rng = rng_stream(request.seed, "program");
    r_declare(m, &text);
    int stages = 1 + r_below(m, 6);
    for (int i = 0; i < stages || m->tensors[m->tensor_count - 1].stage < 0; i++) {
        int way = r_below(m, 20);
        r_begin_stage(m);
        if (way < 14)
            r_plain_stage(m);
        else if (way < 16)
            r_scan(m);
        else if (way < 17)
            r_cat(m);
        else if (way < 18)
            r_rec(m);
        else
            r_whole(m);
    }
    int change = -1;
    for (int i = 0; i < m->tensor_count; i++)
        if (request.change && r_is_output(m, i) && m->stages[m->tensors[i].stage].ends_in_real)
            change = m->tensors[i].stage;
    r_print_stages(m, &text, change);
    bool first = true;
    for (int i = 0; i < m->tensor_count; i++)
        if (r_is_output(m, i)) {
            buf_printf(&text, "%s%s", first ? "out " : ", ", m->tensors[i].name);
            first = false;
        }
    buf_putc(&text, '\n');
    if (changed != NULL)
        *changed = change >= 0;
    return text.data;
}

#endif
