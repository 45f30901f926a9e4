/* Parts of programs: cut at any stage, they are programs, and one after the other they compute what
 * the whole does. */
#include "unit.h"

#include "task/task.h"

#include <math.h>
#include <string.h>

static const char *const programs[] = {
    "op softmax\ndim R=3, N=7\nin X: f32[R,N]\nM[r] = max[j](X[r,j])\nE[r,j] = exp(X[r,j] - M[r])\n"
    "Y[r,j] = E[r,j] / sum[k](E[r,k])\nout Y\ncase wide N=9\n",
    /* names with dots, of a call and of a second reduction; an input with a domain */
    "op two\ndim R=3, N=8\nin X: f32[R,N]\nin W: f32[N] from 0 to 2\nin I: i32[R]\n"
    "Z = softmax(X)\nV[r] = sum[j](Z[r,j]*W[j]) / max[k](X[r,k])\nQ[r] = V[r] + X[r,I[r]]\n"
    "out Q, V\n",
    "op mlp\ndim B=2, D=4, H=5\nin X: f32[B,D]\nin W: f32[D,H]\nin U: f32[H,D]\n"
    "A[b,h] = max(sum[d](X[b,d]*W[d,h]), 0)\nY[b,e] = sum[h](A[b,h]*U[h,e])\nout Y\n",
};

static struct program *
read(struct unit *unit, const char *text, size_t number)
{
    struct lang *lang = lang_parse(unit->arena, "t.op", text, strlen(text), unit->diags);
    struct program *program = lang ? lang_program(lang, number, NULL, 0, unit->diags) : NULL;
    if (program == NULL)
        fail_msg("%s\n%s", text, unit_printed(unit, false));
    return program;
}

/* Elements in the tensor's own type. */
static void *
stored(struct unit *unit, const struct lang_result *result)
{
    const struct tensor *tensor = result->tensor;
    void *data = arena_alloc(unit->arena, (size_t)tensor->count * dtype_info[tensor->dtype].size);
    for (int64_t i = 0; i < tensor->count; i++)
        dtype_set_element(tensor->dtype, data, i, result->v[i]);
    return data;
}

/* Runs the part on what is known of the whole's tensors, and adds what it gives. */
static void
run_part(struct unit *unit, const struct lang_part *part, void **known)
{
    const struct program *program = read(unit, part->text, 0);
    const void **inputs = arena_array(unit->arena, part->input_count, sizeof *inputs);
    struct lang_result *results = arena_array(unit->arena, part->output_count, sizeof *results);
    assert_int_equal(program->input_count, part->input_count);
    assert_int_equal(program->output_count, part->output_count);
    for (size_t i = 0; i < part->input_count; i++) {
        inputs[i] = known[part->inputs[i]->number];
        assert_non_null(inputs[i]);
    }
    assert_int_equal(lang_interpret(unit->arena, program, inputs, results), STATUS_OK);
    for (size_t i = 0; i < part->output_count; i++)
        known[part->outputs[i]->number] = stored(unit, &results[i]);
}

static void
try_cut(struct unit *unit, const struct program *whole, size_t at)
{
    void **known = arena_array(unit->arena, whole->tensor_count, sizeof *known);
    void **inputs = task_draw_all(unit->arena, whole, DRAW_NORMAL, 3);
    struct lang_result *results = arena_array(unit->arena, whole->output_count, sizeof *results);
    struct lang_part part;
    memcpy(known, inputs, whole->input_count * sizeof *known);
    assert_true(lang_part(unit->arena, &whole, 1, 0, at, &part));
    run_part(unit, &part, known);
    assert_true(lang_part(unit->arena, &whole, 1, at, whole->stage_count - at, &part));
    run_part(unit, &part, known);
    assert_int_equal(lang_interpret(unit->arena, whole, (const void *const *)inputs, results),
                     STATUS_OK);
    for (size_t o = 0; o < whole->output_count; o++) {
        const struct tensor *tensor = whole->outputs[o];
        assert_non_null(known[tensor->number]);
        for (int64_t i = 0; i < tensor->count; i++) {
            double got = dtype_element(tensor->dtype, known[tensor->number], i);
            assert_true(fabs(got - results[o].v[i]) <= 1e-4 * (1 + fabs(results[o].v[i])));
        }
    }
}

static void
parts_compute_what_the_whole_does(void **state)
{
    struct unit *unit = *state;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        const struct program *whole = read(unit, programs[i], 0);
        assert_true(whole->stage_count >= 2);
        for (size_t at = 1; at < whole->stage_count; at++)
            try_cut(unit, whole, at);
    }
}

static void
cases_are_those_of_the_whole(void **state)
{
    struct unit *unit = *state;
    const struct program *both[] = {read(unit, programs[0], 0), read(unit, programs[0], 1)};
    struct lang_part part;
    assert_true(lang_part(unit->arena, both, 2, 0, 1, &part));
    assert_string_equal(part.text, "op softmax\ndim R=3\ndim N=7\ncase wide R=3 N=9\n"
                                   "in X: f32[R,N]\nM[r:R]: f32 = max[j:N](X[r,j])\nout M\n");
    assert_int_equal(read(unit, part.text, 1)->dims[1].size, 9);
}

static void
a_recurrence_is_not_cut(void **state)
{
    struct unit *unit = *state;
    const struct program *whole = read(unit,
                                       "op scan\ndim T=4\nin X: f32[T]\nA[t] = 2*X[t]\n"
                                       "S[t] = A[t] + S[t-1 | 0]\nY[t] = S[t]*A[t]\nout Y\n",
                                       0);
    struct lang_part part;
    for (size_t i = 0; i < whole->stage_count; i++)
        assert_int_equal(lang_part(unit->arena, &whole, 1, i, 1, &part), whole->stages[i].rec < 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(parts_compute_what_the_whole_does),
        UNIT_TEST(cases_are_those_of_the_whole),
        UNIT_TEST(a_recurrence_is_not_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
