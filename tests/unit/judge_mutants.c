/* The judge finds single faults: a fixed sample of mutants of the honest kernels. bench/mutants.c
 * is the whole of it. First that the mutator does what it says. */
#include "../box/box_test.h"
#include "../judge/mutants.h"

static const char *
root(void)
{
    return getenv("ROOT") ? getenv("ROOT") : ".";
}

/* ---- the mutator ---- */

static const char small[] = "//! tune T = 4 8\n"
                            "#define TWICE(x) ((x) * 2)\n"
                            "static const float half[] = {0.5f};\n"
                            "void kernel(const float *restrict X, float *restrict Y)\n"
                            "{\n"
                            "#pragma omp parallel for schedule(static, 4)\n"
                            "    for (int r = 0; r < R; r++) { /* 1 + 1 */\n"
                            "        float s = 0; // 2 * 2\n"
                            "        for (int j = 0; j < N; j++)\n"
                            "            s += X[r * N + j];\n"
                            "        Y[r] = fmaxf(s, 3.25f);\n"
                            "    }\n"
                            "}\n";

/* Every fault of a class, each as what the line becomes. */
static void
expect_faults(enum mutate_class class, const char *const *lines)
{
    struct arena *arena = arena_create();
    struct mutate_fault *faults = NULL;
    size_t count = mutate_faults(arena, small, strlen(small), class, &faults), wanted = 0;

    for (; lines[wanted]; wanted++) {
        const char *text, *line = "nothing";

        if (wanted < count) {
            text = mutate_apply(arena, small, strlen(small), &faults[wanted]);
            line = mutants_line(arena, text, faults[wanted].line);
        }
        assert_string_equal(line, lines[wanted]);
    }
    assert_int_equal(count, wanted);
    arena_destroy(arena);
}

static void
test_operators(void **state)
{
    (void)state;
    expect_faults(MUTATE_OPERATOR, (const char *const[]){"s -= X[r * N + j];", "s += X[r + N + j];",
                                                         "s += X[r / N + j];", "s += X[r * N - j];",
                                                         "Y[r] = fminf(s, 3.25f);", NULL});
}

static void
test_constants(void **state)
{
    (void)state;
    expect_faults(
        MUTATE_CONSTANT,
        (const char *const[]){"float s = (0 + 1); // 2 * 2", "float s = (0 - 1); // 2 * 2",
                              "Y[r] = fmaxf(s, (3.25f + 1));", "Y[r] = fmaxf(s, (3.25f - 1));",
                              "Y[r] = fmaxf(s, (3.25f * 2));", "Y[r] = fmaxf(s, (-3.25f));",
                              "Y[r] = fmaxf(s, 0.0f);", "Y[r] = fmaxf(s, 3.26f);", NULL});
}

static void
test_bounds(void **state)
{
    (void)state;
    expect_faults(MUTATE_BOUND, (const char *const[]){
                                    "for (int r = 1; r < R; r++) { /* 1 + 1 */",
                                    "for (int r = 0; r <= R; r++) { /* 1 + 1 */",
                                    "for (int r = 0; r < (R) + 1; r++) { /* 1 + 1 */",
                                    "for (int r = 0; r < (R) - 1; r++) { /* 1 + 1 */",
                                    "for (int j = 1; j < N; j++)", "for (int j = 0; j <= N; j++)",
                                    "for (int j = 0; j < (N) + 1; j++)",
                                    "for (int j = 0; j < (N) - 1; j++)", NULL});
}

static void
test_drops(void **state)
{
    (void)state;
    expect_faults(MUTATE_DROPPED, (const char *const[]){";", ";", ";", NULL});
}

static void
test_indices(void **state)
{
    (void)state;
    expect_faults(MUTATE_INDEX,
                  (const char *const[]){"s += X[(r * N + j) + 1];", "s += X[(r * N + j) - 1];",
                                        "s += X[j * N + r];", "Y[(r) + 1] = fmaxf(s, 3.25f);",
                                        "Y[(r) - 1] = fmaxf(s, 3.25f);", NULL});
}

static void
test_precisions(void **state)
{
    (void)state;
    expect_faults(
        MUTATE_PRECISION,
        (const char *const[]){"s = ((float)(_Float16)(s + (X[r * N + j])));",
                              "s = ({ union { float f; unsigned u; } low_ = {s + (X[r * N + j])}; "
                              "low_.u &= 0xffff0000u; low_.f; });",
                              "s = ({ union { float f; unsigned u; } low_ = {s + (X[r * N + j])}; "
                              "low_.u &= 0xffffe000u; low_.f; });",
                              "s += ((float)(_Float16)(X[r * N + j]));",
                              "s += ({ union { float f; unsigned u; } low_ = {X[r * N + j]}; "
                              "low_.u &= 0xffff0000u; low_.f; });",
                              "s += ({ union { float f; unsigned u; } low_ = {X[r * N + j]}; "
                              "low_.u &= 0xffffe000u; low_.f; });",
                              "Y[r] = fmaxf(((float)(_Float16)(s)), 3.25f);",
                              "Y[r] = fmaxf(({ union { float f; unsigned u; } low_ = {s}; "
                              "low_.u &= 0xffff0000u; low_.f; }), 3.25f);",
                              "Y[r] = fmaxf(({ union { float f; unsigned u; } low_ = {s}; "
                              "low_.u &= 0xffffe000u; low_.f; }), 3.25f);",
                              NULL});
}

/* A fault is one stretch of one text, never in a comment or a preprocessor line. */
static void
check_fault(const struct mutants_kernel *kernel, const struct mutate_fault *fault)
{
    const char *text = kernel->source.text;
    size_t line = fault->at;

    assert_true(fault->at + fault->length <= kernel->source.length);
    assert_true(strlen(fault->text) != fault->length ||
                memcmp(text + fault->at, fault->text, fault->length) != 0);
    while (line > 0 && text[line - 1] != '\n')
        line--;
    line += strspn(text + line, " \t");
    assert_int_not_equal(text[line], '#');
    assert_int_not_equal(memcmp(text + line, "//", 2), 0);
}

static void
test_all_kernels(void **state)
{
    struct mutants_options options = {.seed = 1};
    struct mutants m;
    size_t of_class[MUTATE_CLASS_COUNT] = {0};

    (void)state;
    assert_true(mutants_open(&m, &options, root()));
    assert_true(m.kernel_count > 100);
    for (size_t i = 0; i < m.kernel_count; i++)
        for (unsigned class = 0; class < MUTATE_CLASS_COUNT; class ++) {
            struct arena *arena = arena_create();
            const struct source *source = &m.kernels[i].source;
            struct mutate_fault *faults;
            size_t count = mutate_faults(arena, source->text, source->length,
                                         (enum mutate_class) class, &faults);

            of_class[class] += count > 0;
            for (size_t f = 0; f < count; f++)
                check_fault(&m.kernels[i], &faults[f]);
            arena_destroy(arena);
        }
    for (unsigned class = 0; class < MUTATE_CLASS_COUNT; class ++)
        assert_true(of_class[class] > m.kernel_count / 2);
    mutants_close(&m);
}

static void
test_seed(void **state)
{
    struct mutants_options options = {.seed = 7, .count = 60};
    struct mutants a, b, c;
    size_t different = 0;

    (void)state;
    assert_true(mutants_open(&a, &options, root()));
    assert_true(mutants_open(&b, &options, root()));
    options.seed = 8;
    assert_true(mutants_open(&c, &options, root()));
    assert_int_equal(a.count, 60);
    for (size_t i = 0; i < a.count; i++) {
        assert_string_equal(a.list[i].text, b.list[i].text);
        different += strcmp(a.list[i].text, c.list[i].text) != 0;
        assert_true(i == 0 || strcmp(a.list[i].text, a.list[i - 1].text) != 0);
    }
    assert_true(different > 50);
    mutants_close(&a);
    mutants_close(&b);
    mutants_close(&c);
}

/* ---- the judge ---- */

/* Named, so that the sample stays the same when others are added. */
static const char *const sampled[] = {"argmax_first_backwards.c",
                                      "chain_one_loop.c",
                                      "conv2d_direct.c",
                                      "cross_entropy_plain.c",
                                      "cumsum_serial.c",
                                      "embedding_rows.c",
                                      "hgemm_plain.c",
                                      "layer_norm_two_pass.c",
                                      "lstm_plain.c",
                                      "max_pool_plain.c",
                                      "qlinear_plain.c",
                                      "softmax.c",
                                      "transpose_tiled.c",
                                      "variance_rows_double.c",
                                      NULL};

/* The seed is one whose sample has no miss, so that this test says when the judge gets worse. It is
 * no estimate of how good it is: that is what bench/mutants.c is for. */
static void
test_sample(void **state)
{
    struct mutants_options options = {
        .seed = 5, .count = 60, .names = sampled, .rounds = 8, .measure = true};
    struct mutants_tally tallies[MUTATE_CLASS_COUNT + 1];
    struct mutants m;

    (void)state;
    assert_true(mutants_open(&m, &options, root()));
    assert_int_equal(m.kernel_count + 1, sizeof sampled / sizeof *sampled);
    for (size_t i = 0; i < m.count; i++) {
        if (mutants_judge(&m, &m.list[i]) != STATUS_OK) {
            diags_print(m.diags, stderr, false);
            fail();
        }
        if (m.list[i].fate == MUTANTS_MISSED)
            mutants_print(&m, &m.list[i], stderr);
    }
    mutants_print_table(&m, stderr);
    mutants_count(&m, tallies);
    assert_int_equal(m.wrong_originals, 0);
    for (unsigned class = 0; class < MUTATE_CLASS_COUNT; class ++)
        assert_true(tallies[class].fates[MUTANTS_CAUGHT] > 0);
    assert_true(mutants_share(&tallies[MUTATE_CLASS_COUNT]) >= 0.98);
    assert_int_equal(tallies[MUTATE_CLASS_COUNT].fates[MUTANTS_MISSED], 0);
    mutants_close(&m);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operators),   cmocka_unit_test(test_constants),
        cmocka_unit_test(test_bounds),      cmocka_unit_test(test_drops),
        cmocka_unit_test(test_indices),     cmocka_unit_test(test_precisions),
        cmocka_unit_test(test_all_kernels), cmocka_unit_test(test_seed),
        cmocka_unit_test(test_sample),
    };

    box_test_find_program();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
