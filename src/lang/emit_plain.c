/* Any stage as nested loops over its left indices, the outer ones in parallel. */
#include "lang/emit_int.h"

#include <assert.h>

/* Operations below which a team costs more than it brings; in a rec block it is called at every
 * step, on a machine that may be busy. */
#define PARALLEL_WORK 5e4
#define PARALLEL_STEP 1e6
#define PARALLEL_ITERATIONS 64

/* ---- storing ---- */

static const char *
stored_number(struct emitter *em, const char *text, enum kind kind, enum dtype dtype)
{
    const char *type = dtype_info[dtype].c_type;

    if (em->bounds && dtype_is_float(dtype))
        return kind <= KIND_INT ? emit_text(em, "(double)(%s)", text) : text;
    switch (dtype) {
    case DTYPE_F64:
    case DTYPE_F32:
        return (dtype_info[dtype].kind == kind) ? text : emit_text(em, "(%s)(%s)", type, text);
    case DTYPE_BF16:
        return emit_text(em, "bf16_of_f32((float)(%s))", text);
    case DTYPE_BOOL:
        return kind == KIND_BOOL ? text : emit_text(em, "(%s) != 0", text);
    default:
        if (kind > KIND_INT && !dtype_is_float(dtype))
            return emit_text(em, "(%s)(int64_t)(%s)", type, text);
        return emit_text(em, "(%s)(%s)", type, text);
    }
}

void
emit_store(struct emitter *em)
{
    const struct tensor *tensor = em->stage->tensor;
    const struct expr *value = em->stage->code;
    enum kind kind = emit_kind(value, KIND_F32);
    const char *address = emit_address(em, tensor, em->index, 0);

    if (!em->bounds || em->exact[tensor->number]) {
        emit_line(
            em, "%s[%s] = %s;", emit_array(em, 0), address,
            stored_number(em, emit_bare(em, emit_number(em, value, kind)), kind, tensor->dtype));
        return;
    }
    emit_line(em, "const int64_t at = %s;", address);
    emit_line(em, "const val y = %s;",
              emit_val_stored(em, emit_val(em, value, kind), kind, tensor->dtype));
    emit_line(em, "v0[at] = y.v;");
    emit_line(em, "g0[at] = g_size(y.g);");
    emit_line(em, "c0[at] = y.c;");
}

/* ---- loops ---- */

static bool
is_fixed(const struct emitter *em, unsigned level)
{
    return em->stage->rec >= 0 && em->stage->carried == level;
}

static double
elements(const struct emitter *em)
{
    double count = 1;

    for (unsigned l = 0; l < em->stage->tensor->rank; l++)
        count *= is_fixed(em, l) ? 1 : (double)em->extent[l];
    return count;
}

/* How many of the outer loops share the work; 0: none is worth it. */
static unsigned
parallel_loops(struct emitter *em, const unsigned *levels, unsigned count)
{
    double iterations = 1;
    unsigned loops = 0;

    double enough = em->stage->rec >= 0 ? PARALLEL_STEP : PARALLEL_WORK;
    if (count == 0 || elements(em) * emit_work(em) < enough)
        return 0;
    while (loops < count && (loops == 0 || (iterations < PARALLEL_ITERATIONS && loops + 1 < count)))
        iterations *= (double)em->extent[levels[loops++]];
    return loops;
}

void
emit_plain(struct emitter *em)
{
    const struct expr *value = em->stage->code;
    unsigned levels[LANG_MAX_RANK], count = 0;
    int scopes[LANG_MAX_RANK + 1];

    for (unsigned l = 0; l < em->stage->tensor->rank; l++)
        if (!is_fixed(em, l))
            levels[count++] = l;
    plan_begin(em);
    scopes[0] = plan_loop(em, -1, 0);
    for (unsigned i = 0; i < count; i++)
        scopes[i + 1] = plan_loop(em, scopes[i], 1u << levels[i]);
    plan_use(em, value, emit_kind(value, KIND_F32), scopes[count]);
    plan_end(em);

    unsigned shared = parallel_loops(em, levels, count);
    if (shared == 1)
        emit_line(em, "#pragma omp parallel for");
    else if (shared > 1)
        emit_line(em, "#pragma omp parallel for collapse(%u)", shared);
    else
        emit_scope(em, scopes[0]);
    for (unsigned i = 0; i < count; i++) {
        const char *index = em->index[levels[i]];
        emit_open(em, "for (int64_t %s = 0; %s < %s; %s++)", index, index, em->size[levels[i]],
                  index);
        if (i + 1 < shared) /* nothing may stand between loops that are shared together */
            continue;
        for (unsigned s = i + 1 == shared ? 0 : i + 1; s <= i + 1; s++)
            emit_scope(em, scopes[s]);
    }
    emit_store(em);
    for (unsigned i = 0; i < count; i++)
        emit_close(em);
}
