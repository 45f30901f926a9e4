/* Building, keeping, loading and running the compiled reference. */
#include "task_unit.h"

#include "base/file.h"

#include <math.h>
#include <sys/wait.h>

static const char scale[] = "dim N=6\n"
                            "in A: f32[N]\n"
                            "Y[i] = A[i]*1.5\n"
                            "out Y\n";

static struct reference *
opened(struct unit *unit, const struct program *program, enum emit form)
{
    struct emit_options options = {.form = form};
    struct reference *reference = NULL;

    if (reference_open(unit->arena, program, &options, &reference, unit->diags) != STATUS_OK)
        fail_msg("%s", unit_printed(unit, false));
    return reference;
}

static void
runs_a_reference(void **state)
{
    struct unit *unit = *state;
    const float a[] = {1, 2, -3, 0, INFINITY, 1e-40F};
    const void *inputs[] = {a};
    struct reference *reference = opened(unit, parse(unit, scale), EMIT_REFERENCE);
    struct lang_result result;

    assert_int_equal(reference_run(unit->arena, reference, inputs, &result, unit->diags), 0);
    reference_close(reference);
    for (size_t i = 0; i < 6; i++)
        assert_true(result.v[i] == 1.5 * (double)a[i]);
    assert_true(result.g[1] == 3 * 0x1p-24 && result.c[1] == 3 * 0x1p-24);
    assert_true(result.g[4] == 0);
}

static void
runs_a_kernel(void **state)
{
    struct unit *unit = *state;
    const float a[] = {1, 2, -3, 0, 5, 6};
    float y[6];
    const void *inputs[] = {a};
    void *outputs[] = {y};
    struct program *program = parse(unit, scale);

    for (enum emit form = EMIT_NAIVE; form <= EMIT_RANDOM; form++) {
        struct reference *reference = opened(unit, program, form);
        memset(y, 0xff, sizeof y);
        reference_run_kernel(reference, inputs, outputs);
        reference_close(reference);
        for (size_t i = 0; i < 6; i++)
            assert_true(y[i] == 1.5F * a[i]);
    }
}

/* The variant for denormals is chosen by what stands in the inputs. */
static void
denormals_carry_their_size(void **state)
{
    struct unit *unit = *state;
    const float a[] = {1, 1e-40F, 0, 0, 0, 0};
    const void *inputs[] = {a};
    struct lang_result result;

    assert_int_equal(task_evaluate(unit->arena, parse(unit, scale), inputs, &result, unit->diags),
                     0);
    assert_true(result.g[0] == 1.5 * 0x1p-24);
    assert_true(result.g[1] >= 1.5 * (double)a[1]);
}

static void
the_cache_is_used_and_mended(void **state)
{
    struct unit *unit = *state;
    struct program *program = parse(unit, scale);

    reference_close(opened(unit, program, EMIT_NAIVE));
    assert_int_equal(scratch_count("hone/objects"), 1);
    reference_close(opened(unit, program, EMIT_NAIVE));
    assert_int_equal(scratch_count("hone/objects"), 1);
    int files = scratch_open_files();
    for (int i = 0; i < 4; i++)
        reference_close(opened(unit, program, EMIT_NAIVE));
    assert_int_equal(scratch_open_files(), files);

    DIR *folder = opendir("hone/objects");
    for (struct dirent *entry; (entry = readdir(folder));)
        if (entry->d_name[0] != '.')
            assert_int_equal(file_write(file_join(unit->arena, "hone/objects", entry->d_name), "no",
                                        2, unit->diags),
                             STATUS_OK);
    closedir(folder);
    reference_close(opened(unit, program, EMIT_NAIVE));
    assert_int_equal(scratch_count("hone/objects"), 1);
}

/* Several processes want the same object at once: all get it, and no leftovers. */
static void
processes_share_the_cache(void **state)
{
    struct unit *unit = *state;
    struct program *program = parse(unit, scale);
    enum { PROCESSES = 4 };
    pid_t children[PROCESSES];

    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            const float a[] = {1, 2, 3, 4, 5, 6};
            const void *inputs[] = {a};
            struct lang_result result;
            int failed = task_evaluate(unit->arena, program, inputs, &result, unit->diags) != 0 ||
                         result.v[3] != 6;
            _exit(failed);
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status = -1;
        waitpid(children[i], &status, 0);
        assert_int_equal(status, 0);
    }
    assert_int_equal(scratch_count("hone/objects"), 1);
}

static void
what_does_not_fit_is_refused(void **state)
{
    struct unit *unit = *state;
    struct program *program = parse(unit, "dim N=3000000000000\n"
                                          "in A: f32[2]\n"
                                          "B[i:N] = A[0]*1.5\n"
                                          "Y[] = sum[i](B[i])\n"
                                          "out Y\n");
    const float a[] = {1, 2};
    const void *inputs[] = {a};
    struct lang_result result;

    assert_int_equal(task_evaluate(unit->arena, program, inputs, &result, unit->diags),
                     STATUS_INPUT);
    assert_non_null(strstr(unit_message(unit, 0), "needs 72000.0 GB"));
}

static void
a_missing_compiler_is_said(void **state)
{
    struct unit *unit = *state;
    struct program *program = parse(unit, scale);
    struct emit_options options = {.form = EMIT_NAIVE};
    struct reference *reference = NULL;
    char *path = arena_strdup(unit->arena, getenv("PATH"));

    setenv("PATH", "/nonexistent", 1);
    assert_int_equal(reference_open(unit->arena, program, &options, &reference, unit->diags),
                     STATUS_MACHINE);
    setenv("PATH", path, 1);
    assert_non_null(strstr(unit_message(unit, 0), "gcc"));
}

/* ---- reference "file.c" ---- */

static const char foreign_task[] = "dim N=4\n"
                                   "in A: f16[N]; in I: i8[N]\n"
                                   "out Y: f32[N]\n"
                                   "out K: i32[]\n"
                                   "reference \"foreign.c\" tolerance 1e-3 1e-6\n";

static const char foreign_file[] =
    "void reference(const double *A, const int8_t *I, double *Y, int32_t *K)\n"
    "{\n"
    "    *K = 0;\n"
    "    for (int i = 0; i < N; i++) {\n"
    "        Y[i] = sqrt(A[i]) * I[i];\n"
    "        *K += I[i];\n"
    "    }\n"
    "}\n";

static void
a_foreign_reference_sets_the_gate(void **state)
{
    struct unit *unit = *state;
    const uint16_t a[] = {0x4400, 0x4880, 0x3c00, 0}; /* 4, 9, 1, 0 */
    const int8_t i[] = {1, 2, -3, 4};
    const void *inputs[] = {a, i};
    struct lang_result results[2];

    assert_int_equal(file_write("foreign.c", foreign_file, sizeof foreign_file - 1, unit->diags),
                     0);
    if (task_evaluate(unit->arena, parse(unit, foreign_task), inputs, results, unit->diags))
        fail_msg("%s", unit_printed(unit, false));
    const double want[] = {2, 6, -3, 0};
    for (int n = 0; n < 4; n++) {
        assert_true(results[0].v[n] == want[n]);
        assert_true(fabs(6 * results[0].g[n] - (1e-3 * fabs(want[n]) + 1e-6)) < 1e-15);
    }
    assert_true(results[1].v[0] == 4);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CACHED_TEST(runs_a_reference),           CACHED_TEST(runs_a_kernel),
        CACHED_TEST(denormals_carry_their_size), CACHED_TEST(the_cache_is_used_and_mended),
        CACHED_TEST(processes_share_the_cache),  CACHED_TEST(what_does_not_fit_is_refused),
        CACHED_TEST(a_missing_compiler_is_said), CACHED_TEST(a_foreign_reference_sets_the_gate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
