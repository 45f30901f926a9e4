/* The compile jail: hostile sources, and what must become of them. */
#include "../box/box_test.h"

#include "base/fault.h"

#define KERNEL "void kernel(const float *x, float *y) { y[0] = x[0]; }\n"

/* Compiles with limits that a test can wait for. */
static struct box_compile_result
compile_text(struct box_test *test, const char *source)
{
    struct box_compile_request request = {
        .compiler = "gcc",
        .flags = box_test_flags,
        .source = {"kernel.c", source, strlen(source)},
        .exports = box_test_exports,
        .limits = {.wall_seconds = 10, .cpu_seconds = 2, .memory = 512 << 20, .output = 8 << 20},
    };
    struct box_compile_result result;
    enum status status = box_compile(test->box, test->arena, &request, &result, test->diags);

    if (status != STATUS_OK)
        diags_print(test->diags, stderr, false);
    assert_int_equal(status, STATUS_OK);
    assert_true(result.diagnostics_length <= 64 << 10);
    assert_true((result.build == BOX_BUILT) == (result.object >= 0));
    assert_true((result.build == BOX_BUILT) == (result.reason[0] == '\0'));
    return result;
}

static void
good_source_is_built(void **state)
{
    struct box_test *test = *state;
    struct box_compile_result result = compile_text(test, KERNEL);
    char head[4];

    assert_int_equal(result.build, BOX_BUILT);
    assert_true(result.object_bytes > 1000);
    assert_int_equal(pread(result.object, head, 4, 0), 4);
    assert_memory_equal(head, "\177ELF", 4);
    assert_int_equal(write(result.object, "x", 1), -1); /* sealed */
    assert_int_equal(ftruncate(result.object, 0), -1);
    close(result.object);
}

/* Nothing of the host is there: not to include, not to embed, not even to ask for. */
static void
host_files_are_out_of_reach(void **state)
{
    static const char *const paths[] = {"/etc/passwd",     "/etc/hostname",   "/proc/self/environ",
                                        "/proc/self/maps", "/dev/zero",       "/dev/stdin",
                                        "/dev/fd/0",       "/proc/self/fd/0", "/sys/kernel/notes"};
    struct box_test *test = *state;
    bool full = box_machine(test->box)->level == BOX_FULL;

    if (!full && !(box_machine(test->box)->features >> BOX_LANDLOCK & 1))
        skip();
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        struct box_compile_result result;

        if (!full && (text_ends(paths[i], "/0") || text_ends(paths[i], "stdin")))
            continue; /* the compiler's own standard input, which is /dev/null */

        result =
            compile_text(test, arena_printf(test->arena, "#include \"%s\"\n" KERNEL, paths[i]));
        assert_int_equal(result.build, BOX_BUILD_REFUSED);
        assert_true(strstr(result.diagnostics, "No such file") ||
                    strstr(result.diagnostics, "Permission denied"));
        result = compile_text(
            test, arena_printf(test->arena, "__asm__(\".incbin \\\"%s\\\"\");\n" KERNEL, paths[i]));
        assert_int_equal(result.build, BOX_BUILD_REFUSED);
        if (!full)
            continue; /* names can be seen there, not contents */
        result = compile_text(
            test,
            arena_printf(test->arena, "#if __has_include(\"%s\")\n#error SEEN\n#endif\n" KERNEL,
                         paths[i]));
        assert_int_equal(result.build, BOX_BUILT);
        close(result.object);
    }
}

static void
wrong_sources_are_refused(void **state)
{
    static const char *const sources[] = {
        "", /* no kernel: an object, but see the audit */
        "void kernel(const float *x, float *y) { y[0] = z; }\n",
        "#error no\n",
        "#include \"kernel.c\"\n",
        "\001\002\377 binary \303(",
        "void kernel(void) { undefined_function(); }\n",
        "#include <no/such/header.h>\n",
        "__asm__(\".section .note.GNU-stack,\\\"x\\\"\\n.bogus\");\n" KERNEL,
        "int kernel(",
    };
    struct box_test *test = *state;

    for (size_t i = 1; i < sizeof sources / sizeof sources[0]; i++) {
        struct box_compile_result result = compile_text(test, sources[i]);

        if (result.build == BOX_BUILT)
            close(result.object);
        if (i != 5) { /* what is not defined is found by the audit */
            assert_int_equal(result.build, BOX_BUILD_REFUSED);
            assert_true(result.diagnostics_length > 0);
        }
    }
}

static void
lines_are_those_of_the_source(void **state)
{
    struct box_test *test = *state;
    struct box_compile_result result = compile_text(test, "\n\nint x = y;\n");

    assert_non_null(strstr(result.diagnostics, "kernel.c:3:"));
}

/* Each bomb ends as the guest's failure, never as ours and never as an endless wait. */
static void
bombs_are_the_guests_failure(void **state)
{
    static const char *const bombs[] = {
        "char x[1L << 32] = {1};\n" KERNEL,
        "__asm__(\".rept 2000000000\\n.quad 1\\n.endr\");\n" KERNEL,
        "#define A(x) x x x x x x x x x x\n#define B(x) A(A(A(A(A(x)))))\n"
        "const char *s = B(B(\"aaaaaaaaaaaaaaaaaaaa\"));\n" KERNEL,
        "__asm__(\".fill 500000000\");\n" KERNEL,
    };
    struct box_test *test = *state;

    for (size_t i = 0; i < sizeof bombs / sizeof bombs[0]; i++) {
        struct box_compile_result result = compile_text(test, bombs[i]);

        assert_int_not_equal(result.build, BOX_BUILT);
    }
}

static void
nested_parentheses(void **state)
{
    struct box_test *test = *state;
    size_t depth = 200000;
    char *source = arena_alloc(test->arena, 2 * depth + 100), *at = source;

    at = stpcpy(at, "int x = ");
    memset(at, '(', depth);
    at = stpcpy(at + depth, "1");
    memset(at, ')', depth);
    strcpy(at + depth, ";\n" KERNEL);
    assert_int_not_equal(compile_text(test, source).build, BOX_BUILT);
}

static void
floods_are_cut(void **state)
{
    struct box_test *test = *state;
    char *source = arena_alloc(test->arena, 1 << 20), *at = source;
    struct box_compile_result result;

    for (int i = 0; i < 4000; i++)
        at = stpcpy(at, "#pragma message \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"\n");
    strcpy(at, KERNEL);
    result = compile_text(test, source);
    assert_int_equal(result.build, BOX_BUILT);
    assert_int_equal(result.diagnostics_length, 64 << 10);
    assert_true(result.diagnostics_dropped > 100000);
    close(result.object);
}

static void
time_is_limited(void **state)
{
    struct box_test *test = *state;
    const char *source = "#define A(x) x x x x x x x x\n#define B(x) A(A(A(A(A(A(x))))))\n"
                         "int f(int a) { B(if (a == __COUNTER__) a *= 3;) return a; }\n" KERNEL;
    struct box_compile_request request = {
        .compiler = "gcc",
        .flags = box_test_flags,
        .source = {"kernel.c", source, strlen(source)},
        .exports = box_test_exports,
        .limits = {.wall_seconds = 0.2},
    };
    struct box_compile_result result;

    assert_int_equal(box_compile(test->box, test->arena, &request, &result, test->diags),
                     STATUS_OK);
    assert_int_equal(result.build, BOX_BUILD_TIMEOUT);
    assert_non_null(strstr(result.reason, "0.2 s"));
}

/* A source that prints what a killed compiler prints is still the guest's failure. */
static void
words_are_no_proof(void **state)
{
    struct box_test *test = *state;
    struct box_compile_result result =
        compile_text(test, "#error Killed signal terminated program cc1\n");

    assert_int_not_equal(result.build, BOX_BUILT);
}

static void
same_source_same_object(void **state)
{
    struct box_test *test = *state;
    const char *source = "const char *when(void) { return __DATE__ __TIME__; }\n" KERNEL;
    struct box_compile_result a = compile_text(test, source), b = compile_text(test, source);
    char *bytes[2];

    assert_int_equal(a.object_bytes, b.object_bytes);
    for (int i = 0; i < 2; i++) {
        bytes[i] = arena_alloc(test->arena, a.object_bytes);
        assert_int_equal(pread(i ? b.object : a.object, bytes[i], a.object_bytes, 0),
                         a.object_bytes);
    }
    assert_memory_equal(bytes[0], bytes[1], a.object_bytes);
    close(a.object);
    close(b.object);
}

static void
flags_are_on_a_list(void **state)
{
    static const char *const good[] = {"-O3",
                                       "-ffast-math",
                                       "-funroll-loops",
                                       "-march=native",
                                       "-mprefer-vector-width=512",
                                       "-DN=4",
                                       "-std=gnu17",
                                       "-Wall",
                                       "-falign-functions=64",
                                       "-fopenmp",
                                       "-g"};
    static const char *const bad[] = {"-fplugin=x.so",
                                      "-fplugin-arg-a-b",
                                      "-wrapper",
                                      "@file",
                                      "-specs=x",
                                      "-B/tmp",
                                      "-I/etc",
                                      "-include",
                                      "/etc/passwd",
                                      "-Wl,-rpath,/tmp",
                                      "-Wa,-a",
                                      "-Wp,-MD",
                                      "-fuse-ld=gold",
                                      "-x",
                                      "-o",
                                      "-L/tmp",
                                      "-lfoo",
                                      "-T",
                                      "-imacros",
                                      "-M",
                                      "",
                                      "-",
                                      "-fprofile-use",
                                      "-fdump-tree-all",
                                      "-save-temps",
                                      "-flto",
                                      "-O2 -I/etc",
                                      "-march=native;x",
                                      "-E",
                                      "-S",
                                      "-c",
                                      "-f",
                                      "-D"};
    struct box_test *test = *state;
    struct box_compile_request request = {.compiler = "gcc",
                                          .flags = (const char *[]){"-fplugin=x", NULL},
                                          .source = {"kernel.c", KERNEL, strlen(KERNEL)},
                                          .exports = box_test_exports};
    struct box_compile_result result;

    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_true(box_flag_allowed(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(box_flag_allowed(bad[i]));
    assert_int_equal(box_compile(test->box, test->arena, &request, &result, test->diags),
                     STATUS_INPUT);
}

static void
headers_lie_beside_the_source(void **state)
{
    struct box_test *test = *state;
    const char *source =
        "#include \"help.h\"\nvoid kernel(float *y) { y[0] = HELP + SIZE + one; }\n";
    struct box_text header = {"help.h", "#define HELP 4\n", 15};
    struct box_compile_request request = {
        .compiler = "gcc",
        .flags = box_test_flags,
        .source = {"kernel.c", source, strlen(source)},
        .prelude = "#include <math.h>\nstatic const int one = 1;\n",
        .defines = "#define SIZE 8\n",
        .headers = &header,
        .header_count = 1,
        .exports = box_test_exports,
    };
    struct box_compile_result result;

    for (int i = 0; i < 2; i++) {
        assert_int_equal(box_compile(test->box, test->arena, &request, &result, test->diags),
                         STATUS_OK);
        if (result.build != BOX_BUILT)
            print_message("%s\n", result.diagnostics);
        assert_int_equal(result.build, BOX_BUILT);
        close(result.object);
    }
    if (box_machine(test->box)->level == BOX_FULL)
        assert_true(result.precompiled);
}

static void
missing_compiler_is_our_fault(void **state)
{
    struct box_test *test = *state;
    struct box_compile_request request = {.compiler = "no-such-compiler",
                                          .flags = box_test_flags,
                                          .source = {"kernel.c", KERNEL, strlen(KERNEL)},
                                          .exports = box_test_exports};
    struct box_compile_result result;

    assert_int_equal(box_compile(test->box, test->arena, &request, &result, test->diags),
                     STATUS_MACHINE);
}

#ifdef HONE_FAULTS
/* Ours: no process, no memory. Never blamed on the source. */
static void
faults_are_ours(void **state)
{
    struct box_test *test = *state;
    struct box_compile_request request = {.compiler = "gcc",
                                          .flags = box_test_flags,
                                          .source = {"kernel.c", KERNEL, strlen(KERNEL)},
                                          .exports = box_test_exports};
    struct box_compile_result result;

    fault_arm(FAULT_FORK, 1);
    assert_int_equal(box_compile(test->box, test->arena, &request, &result, test->diags),
                     STATUS_MACHINE);
    fault_arm(FAULT_FORK, 0);
    assert_int_equal(result.object, -1);
    assert_int_equal(compile_text(test, KERNEL).build, BOX_BUILT);
}
#endif

static int
setup_without_walls(void **state)
{
    struct box_options options = {.without = 1u << BOX_MOUNTNS};

    *state = box_test_create(&options);
    return *state ? 0 : -1;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_source_is_built),
        cmocka_unit_test(host_files_are_out_of_reach),
        cmocka_unit_test(wrong_sources_are_refused),
        cmocka_unit_test(lines_are_those_of_the_source),
        cmocka_unit_test(bombs_are_the_guests_failure),
        cmocka_unit_test(nested_parentheses),
        cmocka_unit_test(floods_are_cut),
        cmocka_unit_test(time_is_limited),
        cmocka_unit_test(words_are_no_proof),
        cmocka_unit_test(same_source_same_object),
        cmocka_unit_test(flags_are_on_a_list),
        cmocka_unit_test(headers_lie_beside_the_source),
        cmocka_unit_test(missing_compiler_is_our_fault),
#ifdef HONE_FAULTS
        cmocka_unit_test(faults_are_ours),
#endif
    };
    const struct CMUnitTest without_walls[] = {
        cmocka_unit_test(good_source_is_built),
        cmocka_unit_test(host_files_are_out_of_reach),
        cmocka_unit_test(headers_lie_beside_the_source),
        cmocka_unit_test(lines_are_those_of_the_source),
    };
    int failed = cmocka_run_group_tests(tests, box_test_setup, box_test_teardown);

    failed += cmocka_run_group_tests(without_walls, setup_without_walls, box_test_teardown);
    return box_test_as_nobody(failed);
}
