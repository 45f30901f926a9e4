/* Profiles of kernels written by hand: what is bad about each of them is seen, and nothing is made
 * up where a tool is missing. */
#include "../box/box_test.h"

#include "profile/profile.h"

#include <math.h>

static const char softmax_op[] = "op softmax\n"
                                 "dim R=64, N=1000\n"
                                 "in X: f32[R,N]\n"
                                 "M[r] = max[j](X[r,j])\n"
                                 "E[r,j] = exp(X[r,j] - M[r])\n"
                                 "S[r] = sum[j](E[r,j])\n"
                                 "Y[r,j] = E[r,j] / S[r]\n"
                                 "out Y\n";

static const char matmul_op[] = "op matmul\n"
                                "dim M=96, N=1024, K=64\n"
                                "in A: f32[M,K]; in B: f32[K,N]\n"
                                "C[i,j] = sum[k](A[i,k] * B[k,j])\n"
                                "out C\n";

static const char pick_op[] = "op pick\n"
                              "dim N=4096\n"
                              "in X: f32[N]; in T: i32[N] from 0 to 4095\n"
                              "Y[i] = X[T[i]] * 2\n"
                              "out Y\n";

static const char long_sum_op[] = "op long_sum\n"
                                  "dim N=100000\n"
                                  "in X: f32[N]\n"
                                  "S[] = sum[i](X[i])\n"
                                  "out S\n";

static const char window_op[] =
    "op window\n"
    "in X: f32[8,57,57]; in F: f32[4,8,3,3]\n"
    "Y[k,y:29,x:29] = sum[c,r,s](F[k,c,r,s] * X[c,2*y+r-1,2*x+s-1 | 0])\n"
    "out Y\n";

static const char triangle_op[] = "op triangle\n"
                                  "in A, B: f32[40,40]\n"
                                  "Y[i,j] = sum[k ? k <= i](A[i,k] * B[k,j])\n"
                                  "out Y\n";

#define SOFTMAX(body)                                           \
    "void kernel(const float *restrict X, float *restrict Y)\n" \
    "{\n" body "}\n"

static const char scalar_softmax[] =
    SOFTMAX("#pragma omp parallel for\n"
            "    for (int r = 0; r < R; r++) {\n"
            "        float m = -INFINITY, s = 0;\n"
            "        for (int j = 0; j < N; j++)\n"
            "            m = X[r * N + j] > m ? X[r * N + j] : m;\n"
            "        for (int j = 0; j < N; j++) {\n"
            "            Y[r * N + j] = expf(X[r * N + j] - m);\n"
            "            s += Y[r * N + j];\n"
            "        }\n"
            "        for (int j = 0; j < N; j++)\n"
            "            Y[r * N + j] /= s;\n"
            "    }\n");

/* 8 floats at a time, on every machine: vectors of gcc, which splits them where it must. */
#define VECTORS                                                                   \
    "typedef float v8 __attribute__((vector_size(32), aligned(4), may_alias));\n" \
    "void kernel(const float *restrict A, const float *restrict B, float *restrict C)\n{\n"

/* A tile of ROWS x 8*COLS in registers. */
#define TILE(rows, cols)                                                          \
    VECTORS "    for (int i = 0; i < M / " rows " * " rows "; i += " rows ")\n"   \
            "        for (int j = 0; j < N; j += 8 * " cols ") {\n"               \
            "            v8 c[" rows "][" cols "] = {0};\n"                       \
            "            for (int k = 0; k < K; k++)\n"                           \
            "#pragma GCC unroll 64\n"                                             \
            "                for (int y = 0; y < " rows "; y++)\n"                \
            "#pragma GCC unroll 64\n"                                             \
            "                    for (int x = 0; x < " cols "; x++)\n"            \
            "                        c[y][x] += A[(i + y) * K + k] *\n"           \
            "                                   *(v8 *)&B[k * N + j + 8 * x];\n"  \
            "#pragma GCC unroll 64\n"                                             \
            "            for (int y = 0; y < " rows "; y++)\n"                    \
            "#pragma GCC unroll 64\n"                                             \
            "                for (int x = 0; x < " cols "; x++)\n"                \
            "                    *(v8 *)&C[(i + y) * N + j + 8 * x] = c[y][x];\n" \
            "        }\n"                                                         \
            "}\n"

static const char good_tile[] = TILE("2", "2");
static const char spilling_tile[] = TILE("12", "6");

static const char strided[] =
    "void kernel(const float *restrict A, const float *restrict B, float *restrict C)\n"
    "{\n"
    "    for (int j = 0; j < N; j++)\n"
    "        for (int i = 0; i < M; i++) {\n"
    "            volatile float keep = 0;\n"
    "            float s = 0;\n"
    "            for (int k = 0; k < K; k++)\n"
    "                s += A[i * K + k] * B[k * N + j];\n"
    "            keep = s;\n"
    "            C[i * N + j] = keep;\n"
    "        }\n"
    "}\n";

static const char picking[] =
    "void kernel(const float *restrict X, const int *restrict T, float *restrict Y)\n"
    "{\n"
    "    for (int i = 0; i < N; i++)\n"
    "        Y[i] = X[T[i]] * 2;\n"
    "}\n";

static const char region_inside[] = SOFTMAX("    for (int r = 0; r < R; r++) {\n"
                                            "#pragma omp parallel for\n"
                                            "        for (int j = 0; j < N; j++)\n"
                                            "            Y[r * N + j] = X[r * N + j];\n"
                                            "    }\n");

/* ---- helpers ---- */

static struct program *
program_of(struct box_test *test, const char *text)
{
    struct lang *lang = lang_parse(test->arena, "test.op", text, strlen(text), test->diags);
    struct program *program = lang ? lang_program(lang, 0, NULL, 0, test->diags) : NULL;

    if (!program)
        diags_print(test->diags, stderr, false);
    assert_non_null(program);
    return program;
}

static struct profile_options
options_for(struct box_test *test, const char *op)
{
    return (struct profile_options){.box = test->box,
                                    .target = target_find("cpu"),
                                    .program = program_of(test, op),
                                    .registers = 16,
                                    .vector_bytes = 32,
                                    .l2 = 256 << 10,
                                    .us = 100,
                                    .light_us = 25,
                                    .limit = "compute",
                                    .us_one_thread = 150,
                                    .threads = 2};
}

static struct profile
profile_of(struct box_test *test, const char *op, const char *text)
{
    struct profile_options options = options_for(test, op);
    struct profile profile;
    enum status status = profile_kernel(test->arena, text, &options, &profile, test->diags);

    if (status != STATUS_OK) {
        diags_print(test->diags, stderr, false);
        print_message("%s\n", profile.missing);
    }
    assert_int_equal(status, STATUS_OK);
    return profile;
}

static bool
has_code(const struct profile *profile)
{
    return !isnan(profile_figure(profile, "parallel_regions"));
}

/* ---- tests ---- */

static void
a_scalar_softmax_is_seen_through(void **state)
{
    struct box_test *test = *state;
    struct profile profile = profile_of(test, softmax_op, scalar_softmax);
    bool maximum = false;

    assert_true(profile.remark_count >= 2);
    for (size_t i = 0; i < profile.remark_count; i++) {
        assert_true(profile.remarks[i].line >= 3 && profile.remarks[i].line <= 16);
        assert_true(i == 0 || profile.remarks[i].line > profile.remarks[i - 1].line);
        maximum = maximum || profile.remarks[i].line == 6;
    }
    assert_true(maximum);
    assert_true(profile_figure(&profile, "exps_per_element") == 1);
    assert_true(profile_figure(&profile, "row_divisions") == 1);
    assert_true(profile_figure(&profile, "contraction") == 0);
    assert_true(profile_figure(&profile, "light") == 25);
    assert_true(profile_figure(&profile, "scaling") == 1.5);
    if (!has_code(&profile))
        return;
    assert_true(profile_figure(&profile, "libm_calls") == 1);
    assert_true(profile_figure(&profile, "vector_share") < 20);
    assert_true(profile_figure(&profile, "scalar_chains") >= 1);
    assert_true(profile_figure(&profile, "parallel_regions") == 1);
    assert_true(profile_figure(&profile, "parallel_inside") == 0);
    assert_non_null(strstr(profile.hot_loop, "expf"));
}

static void
a_tile_is_counted(void **state)
{
    struct box_test *test = *state;
    struct profile good = profile_of(test, matmul_op, good_tile);
    struct profile bad = profile_of(test, matmul_op, spilling_tile);

    assert_true(profile_figure(&good, "contraction") == 1);
    assert_true(profile_figure(&good, "row_bytes") == 4096);
    assert_true(profile_figure(&good, "row_power") == 1);
    if (!has_code(&good))
        return;
    assert_true(profile_figure(&good, "vector_share") == 100);
    assert_true(profile_figure(&good, "accumulators") >= 4);
    assert_true(profile_figure(&good, "loads_per_fma") <= 2);
    assert_true(profile_figure(&good, "spills") == 0);
    assert_true(profile_figure(&good, "libm_calls") == 0);
    assert_true(profile_figure(&good, "gathers") == 0);
    assert_true(profile_figure(&bad, "spills") > 0);
    size_t lines = 0;
    for (const char *at = bad.hot_loop; *at; at++)
        lines += *at == '\n';
    assert_int_equal(lines, 40);
    assert_non_null(strstr(bad.hot_loop, " more\n"));
}

static void
odd_loads_are_seen(void **state)
{
    struct box_test *test = *state;
    struct profile far = profile_of(test, matmul_op, strided);
    struct profile pick = profile_of(test, pick_op, picking);

    if (!has_code(&far))
        return;
    assert_true(profile_figure(&far, "stride") > 100 || profile_figure(&far, "gathers") > 0);
    assert_true(profile_figure(&pick, "gathers") > 0 || profile_figure(&pick, "vector_share") == 0);
}

static void
a_region_in_a_loop_is_seen(void **state)
{
    struct box_test *test = *state;
    struct profile profile = profile_of(test, softmax_op, region_inside);

    if (has_code(&profile))
        assert_true(profile_figure(&profile, "parallel_inside") == 1);
}

/* What follows from the program alone. */
static void
programs_have_facts(void **state)
{
    static const struct {
        const char *op, *name;
        double value;
    } rows[] = {
        {softmax_op, "shared_reductions", 0}, {softmax_op, "intermediate_l2", 256000.0 / 262144},
        {softmax_op, "exp_open", 1},          {softmax_op, "k_over_mn", 1000.0 / 64},
        {softmax_op, "output_read", 0},       {matmul_op, "filter", 0},
        {matmul_op, "output_l2", 1.5},        {matmul_op, "padding", 0},
        {long_sum_op, "k_over_mn", 100000},   {window_op, "padding", 1},
        {window_op, "window_stride", 2},      {window_op, "contraction", 1},
        {triangle_op, "filter", 1},           {pick_op, "contraction", 0},
    };
    struct box_test *test = *state;
    struct profile profile = {0};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (i == 0 || rows[i].op != rows[i - 1].op) {
            struct program *program = program_of(test, rows[i].op);
            struct buf text = buf_in(test->arena);
            lang_emit(&text, program, &(struct emit_options){.form = EMIT_NAIVE});
            profile = profile_of(test, rows[i].op, text.data);
        }
        if (profile_figure(&profile, rows[i].name) != rows[i].value)
            fail_msg("%s of row %zu is %g", rows[i].name, i,
                     profile_figure(&profile, rows[i].name));
    }
}

static void
what_does_not_compile_is_no_profile(void **state)
{
    struct box_test *test = *state;
    struct profile_options options = options_for(test, softmax_op);
    struct profile profile;
    const char *texts[] = {SOFTMAX("    Y[0] = nothing;\n"), "int x;\n", ""};

    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(profile_kernel(test->arena, texts[i], &options, &profile, test->diags),
                         STATUS_NO);
        assert_int_equal(profile.figure_count, 0);
        assert_non_null(strstr(profile.missing, "does not compile: "));
    }
    assert_int_equal(diags_count(test->diags), 0);
    profile_kernel(test->arena, texts[0], &options, &profile, test->diags);
    assert_non_null(strstr(profile.missing, "line 3: "));
}

static void
a_reader_gets_a_dozen(void **state)
{
    static const struct profile_stage stages[] = {{"M", 10, 0.1, 0.5, "memory"},
                                                  {"Y", 90, 0.9, 0.2, "exp"}};
    struct box_test *test = *state;
    struct profile_options options = options_for(test, softmax_op);
    struct profile profile = profile_of(test, softmax_op, scalar_softmax);
    struct buf once = buf_in(test->arena), again = buf_in(test->arena), none = buf_in(test->arena);

    options.stages = stages;
    options.stage_count = 2;
    profile_put(&once, &profile, &options, 12);
    profile = profile_of(test, softmax_op, scalar_softmax);
    profile_put(&again, &profile, &options, 12);
    assert_string_equal(once.data, again.data);
    assert_non_null(strstr(once.data, "light = 25 %: of the speed of light"));
    assert_non_null(strstr(once.data, "the limit is compute"));
    assert_non_null(strstr(once.data, "90 %    20 %  exp\n"));
    size_t shown = 0;
    for (const char *at = once.data; (at = strstr(at, " = ")); at++)
        shown++;
    assert_true(shown <= 12 && shown >= 4);
    options.stage_count = 0;
    profile_put(&none, &profile, &options, 0);
    assert_true(none.length == 0 || text_starts(none.data, "not known here"));
    assert_true(isnan(profile_figure(&profile, "no such figure")));
}

/* Only the compiler is found: figures that need other tools are missing, with a word. */
static void
without_tools_less_is_known(void **state)
{
    struct box_test *test = *state;
    char folder[] = "/tmp/hone-path-XXXXXX", link[64];
    char *path = arena_strdup(test->arena, getenv("PATH"));

    assert_non_null(mkdtemp(folder));
    snprintf(link, sizeof link, "%s/gcc", folder);
    assert_int_equal(symlink("/usr/bin/gcc", link), 0);
    setenv("PATH", folder, 1);
    struct profile profile = profile_of(test, softmax_op, scalar_softmax);
    a_scalar_softmax_is_seen_through(state);
    a_tile_is_counted(state);
    odd_loads_are_seen(state);
    a_region_in_a_loop_is_seen(state);
    a_reader_gets_a_dozen(state);
    setenv("PATH", path, 1);
    unlink(link);
    rmdir(folder);
    assert_non_null(strstr(profile.missing, "objdump"));
    assert_true(isnan(profile_figure(&profile, "vector_share")));
    assert_string_equal(profile.hot_loop, "");
    assert_true(profile.remark_count > 0);
    assert_true(profile_figure(&profile, "exps_per_element") == 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scalar_softmax_is_seen_through),
        cmocka_unit_test(a_tile_is_counted),
        cmocka_unit_test(odd_loads_are_seen),
        cmocka_unit_test(a_region_in_a_loop_is_seen),
        cmocka_unit_test(programs_have_facts),
        cmocka_unit_test(what_does_not_compile_is_no_profile),
        cmocka_unit_test(a_reader_gets_a_dozen),
        cmocka_unit_test(without_tools_less_is_known),
    };
    return cmocka_run_group_tests(tests, box_test_setup, box_test_teardown);
}
