/* A few rows of a program: where they are given, they are the whole's own; where a row looks at
 * another, or at how many there are, there are none. */
#include "unit.h"

#include "task/task.h"

#include <string.h>

static const char *const independent[] = {
    "op softmax\ndim R=9, N=7\nin X: f32[R,N]\nM[r] = max[j](X[r,j])\nE[r,j] = exp(X[r,j] - M[r])\n"
    "Y[r,j] = E[r,j] / sum[k](E[r,k])\nout Y\n",
    "op product\ndim M=8, N=8, K=5\nin A: f32[M,K]\nin B: f32[K,N]\n"
    "C[i,j] = sum[k](A[i,k]*B[k,j])\nout C\n",
    "op images\ndim N=7, C=2, K=3, H=6\nin X: f32[N,C,H,H]\nin F: f32[K,C,3,3]\nin b: f32[K]\n"
    "Z = conv2d(X, F, pad=1)\nY[n,k,y,x] = max(Z[n,k,y,x] + b[k], 0)\nS[n] = "
    "mean[k,y,x](Y[n,k,y,x])\n"
    "out Y, S\n",
    /* what has no rows may be computed on the way, and chosen by a row's own number of something */
    "op picked\ndim R=6, N=5\nin X: f32[R,N]\nin W: f32[N]\nin I: i32[R]\n"
    "V[j] = W[j] / sum[k](abs(W[k]) + 1)\nY[r,j] = X[r,j] * V[j] + V[I[r]]\nout Y\n",
    "op scan\ndim R=6, N=5\nin X: f32[R,N]\nY = cumsum(X)\nout Y\n",
};

static const char *const dependent[] = {
    "op over_rows\ndim R=9, N=7\nin X: f32[R,N]\nU[j] = mean[r](X[r,j])\nY[r,j] = X[r,j] - "
    "U[j]\nout Y\n",
    "op neighbour\ndim R=9, N=7\nin X: f32[R,N]\nY[r,j] = X[r,j] + X[(r+1)%R,j]\nout Y\n",
    "op crossed\ndim R=9, N=9\nin X: f32[R,N]\nY[r,j] = X[j,r]\nout Y\n",
    "op number\ndim R=9, N=7\nin X: f32[R,N]\nY[r,j] = if(r < 3, X[r,j], 0.0)\nout Y\n",
    "op many\ndim R=9, N=7\nin X: f32[R,N]\nY[r,j] = X[r,j] / R\nout Y\n",
    "op by_number\ndim R=9, N=9\nin X: f32[R,N]\nin W: f32[N]\nY[r,j] = X[r,j] * W[r]\nout Y\n",
    "op carried\ndim R=9, N=7\nin X: f32[R,N]\nY = cumsum_first(X)\nout Y\n",
    "op fixed\nin X: f32[9,7]\nY[r:9,j:7] = 2 * X[r,j]\nout Y\n",
    "op one_alone\ndim R=9, N=7\nin X: f32[R,N]\nY[r,j] = 2 * X[r,j]\nS[i:1] = "
    "sum[r,j](X[r,j])\nout Y, "
    "S\n",
};

static struct program *
read(struct unit *unit, const char *text, struct lang **lang)
{
    *lang = lang_parse(unit->arena, "t.op", text, strlen(text), unit->diags);
    struct program *program = *lang ? lang_program(*lang, 0, NULL, 0, unit->diags) : NULL;
    if (program == NULL)
        fail_msg("%s\n%s", text, unit_printed(unit, false));
    return program;
}

static size_t
row_bytes(const struct tensor *tensor)
{
    return (size_t)(tensor->count / tensor->size[0]) * dtype_info[tensor->dtype].size;
}

static void
check_rows(struct unit *unit, const char *text, int64_t rows, int64_t first)
{
    struct lang *lang;
    struct program *whole = read(unit, text, &lang);
    const bool *by_row;
    struct program *few = lang_rows(unit->arena, lang, 0, whole, rows, &by_row);
    if (few == NULL)
        fail_msg("no rows of\n%s", text);
    void **inputs = task_draw_all(unit->arena, whole, DRAW_NORMAL, 5);
    const void **part = arena_array(unit->arena, whole->input_count, sizeof *part);
    for (size_t i = 0; i < whole->input_count; i++)
        part[i] =
            (char *)inputs[i] + (by_row[i] ? (size_t)first * row_bytes(whole->tensors[i]) : 0);
    struct lang_result *all = arena_array(unit->arena, whole->output_count, sizeof *all);
    struct lang_result *some = arena_array(unit->arena, whole->output_count, sizeof *some);
    assert_int_equal(lang_interpret(unit->arena, whole, (const void *const *)inputs, all),
                     STATUS_OK);
    assert_int_equal(lang_interpret(unit->arena, few, part, some), STATUS_OK);
    for (size_t o = 0; o < whole->output_count; o++) {
        int64_t size = all[o].tensor->count / all[o].tensor->size[0];
        assert_int_equal(some[o].tensor->count, rows * size);
        assert_memory_equal(some[o].v, all[o].v + first * size,
                            (size_t)(rows * size) * sizeof(double));
    }
}

static void
rows_are_the_wholes_own(void **state)
{
    struct unit *unit = *state;
    for (size_t i = 0; i < sizeof independent / sizeof *independent; i++)
        for (int64_t rows = LANG_FEWEST_ROWS; rows < 5; rows++)
            check_rows(unit, independent[i], rows, rows - 2);
}

static void
rows_that_know_of_others_are_none(void **state)
{
    struct unit *unit = *state;
    for (size_t i = 0; i < sizeof dependent / sizeof *dependent; i++) {
        struct lang *lang;
        const bool *by_row;
        struct program *whole = read(unit, dependent[i], &lang);
        if (lang_rows(unit->arena, lang, 0, whole, 3, &by_row) != NULL)
            fail_msg("rows of\n%s", dependent[i]);
    }
}

static void
fewer_than_all_and_more_than_one(void **state)
{
    struct unit *unit = *state;
    struct lang *lang;
    const bool *by_row;
    struct program *whole = read(unit, independent[0], &lang);
    assert_null(lang_rows(unit->arena, lang, 0, whole, 1, &by_row));
    assert_null(lang_rows(unit->arena, lang, 0, whole, 9, &by_row));
    assert_non_null(lang_rows(unit->arena, lang, 0, whole, 8, &by_row));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(rows_are_the_wholes_own),
        UNIT_TEST(rows_that_know_of_others_are_none),
        UNIT_TEST(fewer_than_all_and_more_than_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
