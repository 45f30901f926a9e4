/* What the wrong elements of an output have in common: all of them, the last row, the tail of a
 * dimension, every k-th. The set of wrong elements is described as a product of one set of indices
 * for each dimension, if it is one; otherwise only by its size. */
#include "judge/judge_int.h"

#include <math.h>
#include <string.h>

enum { MOST_LOOKED_AT = 1 << 22 }; /* elements of a large output that are looked at */

/* ---- one element ---- */

static bool
is_wrong(const struct lang_result *result, const struct tolerance *tolerance, const void *got,
         int64_t at)
{
    struct tensor tensor = *result->tensor;
    struct lang_result one = *result;
    struct comparison comparison;
    int64_t row = at * result->terms;

    tensor.count = 1;
    one.tensor = &tensor;
    one.v += at;
    one.g = one.g ? one.g + at : NULL;
    one.c = one.c ? one.c + at : NULL;
    one.term_v = one.term_v ? one.term_v + row : NULL;
    one.term_g = one.term_g ? one.term_g + row : NULL;
    one.term_c = one.term_c ? one.term_c + row : NULL;
    task_compare(&one, tolerance, (const char *)got + (size_t)at * dtype_info[tensor.dtype].size,
                 &comparison);
    return comparison.wrong > 0;
}

void
judge__put_element(struct buf *buf, const struct tensor *tensor, int64_t at)
{
    int64_t index[LANG_MAX_RANK];

    for (unsigned d = tensor->rank; d-- > 0;) {
        index[d] = at % tensor->size[d];
        at /= tensor->size[d];
    }
    buf_printf(buf, "%s[", tensor->name);
    for (unsigned d = 0; d < tensor->rank; d++)
        buf_printf(buf, "%s%lld", d ? "," : "", (long long)index[d]);
    buf_putc(buf, ']');
}

/* ---- all of them ---- */

struct marks { /* of one dimension: which of its indices occur among the wrong elements */
    bool *seen;
    int64_t size, count, first, last, step; /* step 0: not evenly spaced */
};

struct spread {
    const struct tensor *tensor;
    int64_t wrong, looked_at;
    double sum_relative; /* of the errors */
    int64_t finite, zeros;
    struct marks dims[LANG_MAX_RANK];
};

static void
finish_marks(struct marks *marks)
{
    int64_t before = -1;

    marks->first = -1;
    marks->step = -1;
    for (int64_t i = 0; i < marks->size; i++) {
        if (!marks->seen[i])
            continue;
        marks->count++;
        marks->last = i;
        if (marks->first < 0)
            marks->first = i;
        else if (marks->step == -1)
            marks->step = i - before;
        else if (marks->step != i - before)
            marks->step = 0;
        before = i;
    }
}

static void
add_wrong(struct spread *spread, int64_t at, double expected, double got)
{
    double relative = fabs(got - expected) / fabs(expected);

    spread->wrong++;
    spread->zeros += got == 0;
    if (isfinite(relative)) {
        spread->sum_relative += relative;
        spread->finite++;
    }
    for (unsigned d = spread->tensor->rank; d-- > 0;) {
        spread->dims[d].seen[at % spread->tensor->size[d]] = true;
        at /= spread->tensor->size[d];
    }
}

/* `unwritten`: bits of the poison count as wrong whatever is expected there. */
static struct spread
find_spread(struct arena *arena, const struct judge__case *c, const struct judge__slot *slot,
            const struct judge__set *set, size_t output)
{
    const struct lang_result *result = &set->results[output];
    const struct tensor *tensor = result->tensor;
    const void *got = judge__judged(c, slot, set, output);
    struct spread spread = {.tensor = tensor};

    for (unsigned d = 0; d < tensor->rank; d++) {
        spread.dims[d].size = tensor->size[d];
        spread.dims[d].seen = arena_array(arena, (size_t)tensor->size[d], sizeof(bool));
    }
    spread.looked_at = tensor->count < MOST_LOOKED_AT ? tensor->count : MOST_LOOKED_AT;
    for (int64_t at = 0; at < spread.looked_at; at++)
        if (is_wrong(result, &set->tolerances[output], got, at))
            add_wrong(&spread, at, result->v[at], dtype_element(tensor->dtype, got, at));
    for (unsigned d = 0; d < tensor->rank; d++)
        finish_marks(&spread.dims[d]);
    return spread;
}

/* ---- in words ---- */

static const char *
index_name(const struct tensor *tensor, unsigned d)
{
    const char *name = tensor->stage ? tensor->stage->index[d] : NULL;

    return name && *name ? name : "index";
}

static const char *
noun(const struct tensor *tensor, unsigned d)
{
    return d + 1 == tensor->rank ? "column" : d + 2 == tensor->rank ? "row" : NULL;
}

static void
put_dimension(struct buf *buf, const struct tensor *tensor, unsigned d, const struct marks *marks)
{
    const char *name = index_name(tensor, d), *what = noun(tensor, d);
    bool ends = marks->last == marks->size - 1, begins = marks->first == 0;

    if (marks->count == 1 && ends && what)
        buf_printf(buf, "the last %s (%s = %lld)", what, name, (long long)marks->last);
    else if (marks->count == 1 && begins && what)
        buf_printf(buf, "the first %s (%s = 0)", what, name);
    else if (marks->count == 1)
        buf_printf(buf, "%s = %lld", name, (long long)marks->first);
    else if (marks->step == 1 && ends)
        buf_printf(buf, "%s >= %lld", name, (long long)marks->first);
    else if (marks->step == 1 && begins)
        buf_printf(buf, "%s <= %lld", name, (long long)marks->last);
    else if (marks->step == 1)
        buf_printf(buf, "%s from %lld to %lld", name, (long long)marks->first,
                   (long long)marks->last);
    else if (marks->step > 1 && marks->count > 2)
        buf_printf(buf, "every %lldth %s (from %lld)", (long long)marks->step, name,
                   (long long)marks->first);
    else
        buf_printf(buf, "%lld of %lld values of %s", (long long)marks->count,
                   (long long)marks->size, name);
}

static const char *
words_for(struct arena *arena, const struct spread *spread)
{
    const struct tensor *tensor = spread->tensor;
    struct buf buf = buf_in(arena);
    double product = 1;
    bool whole = true;

    for (unsigned d = 0; d < tensor->rank; d++) {
        product *= (double)spread->dims[d].count;
        whole = whole && spread->dims[d].count == spread->dims[d].size;
    }
    if (spread->wrong == spread->looked_at)
        return "every element";
    if (whole || product != (double)spread->wrong)
        return arena_printf(arena, "scattered over %.3g %% of the elements",
                            100 * (double)spread->wrong / (double)spread->looked_at);
    for (unsigned d = 0; d < tensor->rank; d++) {
        if (spread->dims[d].count == spread->dims[d].size)
            continue;
        buf_puts(&buf, buf.length ? ", " : "");
        put_dimension(&buf, tensor, d, &spread->dims[d]);
    }
    buf_puts(&buf, "; all else is right");
    return buf.data;
}

/* A tail that is what remains after steps of some width. */
static const char *
guess_tail(struct arena *arena, const struct spread *spread)
{
    static const int64_t steps[] = {8, 16, 4, 32, 64, 2}; /* the likely ones first */

    for (unsigned d = 0; d < spread->tensor->rank; d++) {
        const struct marks *marks = &spread->dims[d];
        int64_t rest = marks->size - marks->first;

        if (marks->count == marks->size || marks->last != marks->size - 1 || marks->count != rest)
            continue;
        for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
            int64_t step = steps[i];

            if (marks->first > 0 && marks->size % step == rest)
                return arena_printf(
                    arena, "a loop that steps by %lld and drops the rest: %lld = %lld*%lld + %lld",
                    (long long)step, (long long)marks->size, (long long)(marks->size / step),
                    (long long)step, (long long)rest);
        }
    }
    return NULL;
}

static const char *
guess(struct arena *arena, const struct spread *spread, bool unwritten)
{
    const char *tail = guess_tail(arena, spread);
    double relative = spread->finite ? spread->sum_relative / (double)spread->finite : INFINITY;

    if (tail)
        return tail;
    if (unwritten)
        return "elements that are never written";
    if (spread->zeros == spread->wrong)
        return "elements that are written as 0";
    if (relative > 0x1p-10 && relative < 0x1p-6)
        return "arithmetic in bf16 or an approximate function: the errors are that large";
    if (relative > 0x1p-14 && relative <= 0x1p-10)
        return "arithmetic in tf32 or f16: the errors are that large";
    return NULL;
}

void
judge__describe_wrong(struct arena *arena, const struct judge__case *c,
                      const struct judge__slot *slot, const struct judge__set *set, size_t output,
                      struct judge_wrong *wrong)
{
    const struct lang_result *result = &set->results[output];
    const struct tensor *tensor = c->program->outputs[output];
    const void *data = judge__data(c, slot, c->program->input_count + output);
    struct spread spread = find_spread(arena, c, slot, set, output);
    struct comparison comparison;
    struct buf element = buf_in(arena);
    int64_t first, unwritten = judge__unwritten(c, slot, output, &first);

    task_compare(result, &set->tolerances[output], judge__judged(c, slot, set, output),
                 &comparison);
    if (comparison.first_wrong >= 0)
        first = judge__element(c, set, output, comparison.first_wrong);
    first = first < 0 ? 0 : first;
    judge__put_element(&element, tensor, first);
    /* what is unwritten may lie where nothing was evaluated */
    int64_t at = judge__number(c, set, output, first);
    bool known = at >= 0;
    *wrong = (struct judge_wrong){
        .case_name = c->program->case_name,
        .tensor = tensor->name,
        .element = element.data,
        .expected = known ? result->v[at] : NAN,
        .got = dtype_element(tensor->dtype, data, first),
        .allowed = known ? task_gate(result, &set->tolerances[output], at) : NAN,
        .unwritten = unwritten > 0,
        .wrong = comparison.wrong > unwritten ? comparison.wrong : unwritten,
        .elements = comparison.wrong > unwritten ? result->tensor->count : tensor->count,
        .where = words_for(arena, &spread),
        .kinds = judge__set_name(set),
        .kind = set->kind,
        .draw_seed = set->seed,
        .guess = guess(arena, &spread, unwritten > 0),
    };
}
