/* A library in a process of its own: the copy is made before this one has any threads. */
#include "task_unit.h"

#include "bridge/library.h"
#include "lang/lang.h"

#include <stdlib.h>

static const char product[] = "in A: f32[5,7]  in B: f32[7,3]\nY = matmul(A, B)\nout Y\n";
static const char convolution[] =
    "in X: f32[2,3,9,8]  in F: f32[4,3,3,3]\nY = conv2d(X, F)\nout Y\n";
static const struct library_terms terms = {.threads = 1, .seed = 1, .sets = 3};

static void
need(const char *name)
{
    if (!library_is_there(name)) {
        print_message("%s is not installed\n", name);
        skip();
    }
}

static void
times_of(struct unit *unit, const char *name, const char *text, size_t builds, const char *first)
{
    struct library *library = library_open(unit->arena, name, parse(unit, text));
    double us[4];
    size_t count;

    assert_non_null(library);
    assert_true(library_start(library, &terms, unit->diags));
    assert_memory_equal(library_builds(library, &count)[0], first, strlen(first));
    assert_int_equal(count, builds);
    for (size_t i = 0; i < builds; i++) {
        assert_true(library_build(library, i, unit->diags));
        count = library_window(library, i, 0.02, us, 4, unit->diags);
        assert_in_range(count, 1, 4);
        assert_true(us[0] > 0 && us[count - 1] > 0);
    }
    library_close(library);
}

static void
windows_of_openblas(void **state)
{
    need("openblas");
    times_of(*state, "openblas", product, 1, "sgemm ");
}

static void
windows_of_onednn(void **state)
{
    need("onednn");
    times_of(*state, "onednn", product, 1, "sgemm");
    times_of(*state, "onednn", convolution, 2, "plain");
}

/* What the environment asks for is no rival where it is another processor. */
static void
the_core_type_is_ours(void **state)
{
    struct unit *unit = *state;
    struct library *library;
    size_t count;

    need("openblas");
    setenv("OPENBLAS_CORETYPE", "Nehalem", 1);
    library = library_open(unit->arena, "openblas", parse(unit, product));
    assert_true(library_start(library, &terms, unit->diags));
    if (__builtin_cpu_supports("avx2"))
        assert_null(strstr(library_builds(library, &count)[0], "Nehalem"));
    library_close(library);
    unsetenv("OPENBLAS_CORETYPE");
}

static void
who_has_what(void **state)
{
    struct unit *unit = *state;
    const struct program *sum = parse(unit, "in X: f32[5,7]\nY[i] = sum[j](X[i,j])\nout Y\n");

    assert_true(library_has("openblas", parse(unit, product)));
    assert_true(library_has("onednn", parse(unit, product)));
    assert_false(library_has("openblas", parse(unit, convolution)));
    assert_true(library_has("onednn", parse(unit, convolution)));
    assert_false(library_has("openblas", sum) || library_has("onednn", sum));
    assert_null(library_named("mkl"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(windows_of_openblas),
        UNIT_TEST(windows_of_onednn),
        UNIT_TEST(the_core_type_is_ours),
        UNIT_TEST(who_has_what),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
