/* The text of a kernel: what is refused, what its //! lines declare. */
#include "target_unit.h"

#include "base/rng.h"
#include "target/target_int.h"

#define BODY "void kernel(const float *X, float *Y) { Y[0] = X[0]; }\n"

/* The message of a refusal, or "" if the text is accepted; `line` may be NULL. */
static const char *
refused(struct unit *unit, const char *text, size_t length, uint32_t *line)
{
    struct target_kernel kernel;
    struct target_fault fault;
    bool fine =
        target_read(unit->arena, cpu(), program_of(unit, SMALL), text, length, &kernel, &fault);

    assert_true(fine == (fault.message == NULL));
    if (line)
        *line = fault.line;
    return fine ? "" : fault.message;
}

#define REFUSED(text, says)                                                           \
    do {                                                                              \
        const char *message_ = refused(*state, text, strlen(text), NULL);             \
        if (!strstr(message_, says) || (!*says && *message_))                         \
            fail_msg("%s\nis answered by: %s\nand not by: %s", text, message_, says); \
    } while (0)

#define ACCEPTED(text) REFUSED(text, "")

static void
texts_that_are_no_kernels(void **state)
{
    static const char zero[] = "void kernel(void) {}\0more";
    size_t large = ((size_t)4 << 20) + 1;
    char *huge = test_malloc(large);

    memset(huge, ' ', large);
    REFUSED("", "the file is empty");
    REFUSED(" \n\t\r\n", "the file is empty");
    REFUSED("/* kernel */\n// kernel\n", "nothing but comments");
    REFUSED("int x;\n", "no function `kernel`");
    REFUSED("int x; // kernel\n", "no function `kernel`");
    REFUSED("const char *x = \"kernel\";\n", "no function `kernel`");
    REFUSED("void kernels(void) {}\n", "no function `kernel`");
    assert_non_null(strstr(refused(*state, zero, sizeof zero - 1, NULL), "byte 20 is zero"));
    assert_non_null(strstr(refused(*state, huge, large, NULL), "larger than 4 MB"));
    assert_non_null(strstr(refused(*state, huge, large - 1, NULL), "empty"));
    test_free(huge);
}

static void
texts_that_are(void **state)
{
    ACCEPTED(BODY);
    ACCEPTED("\xef\xbb\xbf//! flags -O3\n" BODY);
    ACCEPTED("#define NAME kernel\nvoid NAME(const float *X, float *Y) {}\n");
    ACCEPTED("//! Sums rows; flags and tunes nothing.\n" BODY);
    ACCEPTED(BODY "//! tune the block size one day\n//! flags are fine\n");
    ACCEPTED(BODY "/* an open comment\n");
    ACCEPTED("//! improve\n" BODY "//! end\n");
}

static void
flags_are_collected(void **state)
{
    struct unit *unit = *state;
    struct target_kernel kernel =
        kernel_of(unit, program_of(unit, SMALL),
                  "/* softmax */\n\n//! flags -O3 -ffast-math\t-fno-signed-zeros\n// more\n"
                  "  //!flags --param max-unroll-times=4 --param=unroll-jam-max-unroll=2 "
                  "-mprefer-vector-width=256\r\n" BODY);
    static const char *const wanted[] = {"-O3",
                                         "-ffast-math",
                                         "-fno-signed-zeros",
                                         "--param=max-unroll-times=4",
                                         "--param=unroll-jam-max-unroll=2",
                                         "-mprefer-vector-width=256"};

    assert_int_equal(kernel.flag_count, 6);
    for (size_t i = 0; i < 6; i++)
        assert_string_equal(kernel.flags[i], wanted[i]);
    assert_int_equal(kernel_of(unit, program_of(unit, SMALL), "//! flags\n" BODY).flag_count, 0);
}

static void
flags_that_reach_outside_are_refused(void **state)
{
    static const char *const bad[] = {
        "-fplugin=/tmp/x.so",
        "-fplugin-arg-x-y=z",
        "-specs=x",
        "--specs=x",
        "-wrapper",
        "@file",
        "-include",
        "-include=x.h",
        "-imacros",
        "-I/etc",
        "-isystem/etc",
        "-iquote.",
        "-B/tmp",
        "--sysroot=/",
        "-L.",
        "-lcurl",
        "-Wl,-init,main",
        "-Wa,--defsym",
        "-Wp,-MD,x",
        "-Xlinker",
        "-Xassembler",
        "-T",
        "-o",
        "-o/tmp/x",
        "-E",
        "-S",
        "-M",
        "-MD",
        "-MF",
        "-save-temps",
        "-dumpdir",
        "-fdump-tree-all",
        "-fopt-info=/x",
        "-fprofile-use=/x",
        "-fprofile-generate",
        "--coverage",
        "-x",
        "-xc++",
        "-",
        "--",
        "k2.c",
        "/etc/passwd",
        "-DN=1",
        "-UN",
        "-march=x86-64",
        "-mavx512f",
        "-fno-openmp",
        "-nostdlib",
        "-static",
        "-shared",
        "-pthread",
        "-falign-loops=1",
        "-finstrument-functions",
        "-fsanitize=address",
        "-flto",
        "-fauto-profile=x",
        "-O",
        "-O4",
        "-Os",
        "-O3x",
        "-ofast",
        "-ffast-math=1",
        "-fno-fast-math-x",
        "-f",
        "-fno-",
        "-ffast-mathx",
        "-mprefer-vector-width=",
        "-mprefer-vector-width=1024",
        "-mprefer-vector-width=256,512",
        "--param",
        "--param=",
        "--param=max-unroll-times=",
        "--param=max-unroll-times=-1",
        "--param=max-unroll-times=65",
        "--param=max-unroll-times=4x",
        "--param=max-unroll-times=99999999999999999999",
        "--param=ggc-min-heapsize=1",
        "-ffast-math;ls",
        "$(ls)",
        "`ls`",
        "\\",
        "-fno-PIC",
        "-fno-PIE",
        "-fno-builtin",
        "-fdebug-prefix-map=a=b",
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct unit *unit = *state;
        char *text = arena_printf(unit->arena, "//! flags -O3 %s\n" BODY, bad[i]);
        uint32_t line = 0;
        if (!*refused(unit, text, strlen(text), &line) || line != 1)
            fail_msg("%s passed", bad[i]);
    }
}

static void
refusals_say_what_to_write(void **state)
{
    REFUSED("//! flags -O4\n" BODY, "-O4 is not allowed; did you mean -O");
    REFUSED("//! flags -ffastmath\n" BODY, "did you mean -ffast-math?");
    REFUSED("//! flags -fplugin=x\n" BODY, "hone contract cpu lists what is");
    REFUSED("//! flags -mprefer-vector-width=64\n" BODY,
            "write -mprefer-vector-width=none|128|256|512");
    REFUSED("//! flags --param max-unroll-times=1000\n" BODY,
            "write --param=max-unroll-times=N with N from 0 to 64");
    REFUSED("//! flag -O3\n" BODY, "did you mean //! flags?");
    REFUSED("//! tun T = 4\n" BODY, "did you mean //! tune?");
    REFUSED(BODY "//! flags -O3\n", "move it to the top");
    REFUSED(BODY "//! tune T = 4 8\n", "move it to the top");
    REFUSED("//! flags -O3\x1b[31m\n" BODY, "-O3?[31m is not allowed");
}

static void
too_many_flags(void **state)
{
    struct unit *unit = *state;
    struct buf text = buf_in(unit->arena);

    buf_puts(&text, "//! flags");
    for (int i = 0; i < TARGET__MOST_FLAGS; i++)
        buf_puts(&text, " -O3");
    char *many = arena_printf(unit->arena, "%s -O3\n" BODY, text.data);
    buf_puts(&text, "\n" BODY);
    ACCEPTED(text.data);
    REFUSED(many, "more than 32");
}

static void
numbers_to_tune(void **state)
{
    struct unit *unit = *state;
    struct target_kernel kernel =
        kernel_of(unit, program_of(unit, SMALL),
                  "//! tune T = 4 8 16\n//! tune DEPTH=-1,0, 1 0\r\n//! tune b2_ = 7\n" BODY);
    size_t chosen[] = {2, 0, 0};

    assert_int_equal(kernel.tune_count, 3);
    assert_string_equal(kernel.tunes[0].name, "T");
    assert_int_equal(kernel.tunes[0].count, 3);
    assert_int_equal(kernel.tunes[0].values[2], 16);
    assert_int_equal(kernel.tunes[0].line, 1);
    assert_int_equal(kernel.tunes[1].count, 3); /* the second 0 is no new value */
    assert_int_equal(kernel.tunes[1].values[0], -1);
    assert_int_equal(kernel.tunes[2].line, 3);
    const char *const *argv = target_arguments(unit->arena, cpu(), &kernel, chosen);
    while (argv[3])
        argv++;
    assert_string_equal(argv[0], "-DT=16");
    assert_string_equal(argv[1], "-DDEPTH=-1");
    assert_string_equal(argv[2], "-Db2_=7");
    argv = target_arguments(unit->arena, cpu(), &kernel, NULL);
    while (argv[3])
        argv++;
    assert_string_equal(argv[0], "-DT=4");
}

static void
numbers_that_cannot_be_tuned(void **state)
{
    REFUSED("//! tune\n" BODY, "write //! tune NAME = 4 8 16");
    REFUSED("//! tune T\n" BODY, "write //! tune NAME = 4 8 16");
    REFUSED("//! tune T 4 8\n" BODY, "write //! tune NAME = 4 8 16");
    REFUSED("//! tune T =\n" BODY, "no values");
    REFUSED("//! tune T = 4 x\n" BODY, "x is not a whole number");
    REFUSED("//! tune T = 4.5\n" BODY, "4.5 is not a whole number");
    REFUSED("//! tune T = 4)\n" BODY, "is not a whole number");
    REFUSED("//! tune T = 9223372036854775807\n" BODY, "is not a whole number");
    REFUSED("//! tune N = 4\n" BODY, "N is a size of the task");
    REFUSED("//! tune 2T = 4\n" BODY, "begins with a letter");
    REFUSED("//! tune _T = 4\n" BODY, "begins with a letter");
    REFUSED("//! tune float = 4\n" BODY, "means something else");
    REFUSED("//! tune HONE = 4\n" BODY, "means something else");
    REFUSED("//! tune kernel = 4\n" BODY, "means something else");
    REFUSED("//! tune T = 4\n//! tune T = 8\n" BODY, "declared already in line 1");
}

static void
the_line_of_a_fault(void **state)
{
    uint32_t line = 0;
    const char *text = "/* one\n two */ // three\n\n//! tune T = x\n" BODY;

    refused(*state, text, strlen(text), &line);
    assert_int_equal(line, 4);
    text = BODY "/* a\n b */ char c = '\"'; //! flags -O3\n";
    refused(*state, text, strlen(text), &line);
    assert_int_equal(line, 3);
}

/* Pieces of what is meant to pass and what is not, in any order: whatever is accepted must fit a
 * row of the table by itself, and nothing may crash. */
static void
random_texts(void **state)
{
    static const char *const pieces[] = {"//! flags", "//! tune",
                                         " -O3",      " -ffast-math",
                                         " --param",  " max-unroll-times=4",
                                         "=",         " T",
                                         " = 4 8",    "\n",
                                         "\\\n",      "/*",
                                         "*/",        "//",
                                         "\"",        "'",
                                         "kernel",    "(",
                                         ")",         " -fplugin=x",
                                         " @x",       "\xff\xfe",
                                         "{}",        ",",
                                         " -f",       "no-",
                                         "\t",        "\r",
                                         "-",         "99999999999999999999"};
    struct rng rng = rng_stream(4, "target_text");
    struct unit *unit = *state;
    const struct program *program = program_of(unit, SMALL);
    size_t accepted = 0;

    for (int round = 0; round < 4000; round++) {
        struct arena *arena = arena_create();
        struct buf text = buf_in(arena);
        struct target_kernel kernel;
        struct target_fault fault;
        if (rng_below(&rng, 2))
            buf_puts(&text, "//! flags -O3");
        for (uint64_t n = rng_below(&rng, 12); n > 0; n--)
            buf_puts(&text, pieces[rng_below(&rng, sizeof pieces / sizeof *pieces)]);
        buf_puts(&text, "\n" BODY);
        if (target_read(arena, cpu(), program, text.data, text.length, &kernel, &fault)) {
            accepted++;
            for (size_t i = 0; i < kernel.flag_count; i++)
                assert_true(strncmp(kernel.flags[i], "-O", 2) == 0 ||
                            strncmp(kernel.flags[i], "-f", 2) == 0 ||
                            strncmp(kernel.flags[i], "--param=max-", 12) == 0);
        } else {
            assert_non_null(fault.message);
        }
        arena_destroy(arena);
    }
    assert_in_range(accepted, 100, 3900);
}

static void
random_bytes(void **state)
{
    struct rng rng = rng_stream(5, "target_text");
    struct unit *unit = *state;
    const struct program *program = program_of(unit, SMALL);

    for (int round = 0; round < 4000; round++) {
        struct arena *arena = arena_create();
        size_t length = rng_below(&rng, 60);
        char *text = test_malloc(length + 1); /* of its own: reading past the end is seen */
        struct target_kernel kernel;
        struct target_fault fault;
        for (size_t i = 0; i < length; i++)
            text[i] = (char)(rng_below(&rng, 4) ? "//! flagstune-O3=\n\"'*\\"[rng_below(&rng, 22)]
                                                : (char)rng_next(&rng));
        target_read(arena, cpu(), program, text, length, &kernel, &fault);
        test_free(text);
        arena_destroy(arena);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(texts_that_are_no_kernels),
        UNIT_TEST(texts_that_are),
        UNIT_TEST(flags_are_collected),
        UNIT_TEST(flags_that_reach_outside_are_refused),
        UNIT_TEST(refusals_say_what_to_write),
        UNIT_TEST(too_many_flags),
        UNIT_TEST(numbers_to_tune),
        UNIT_TEST(numbers_that_cannot_be_tuned),
        UNIT_TEST(the_line_of_a_fault),
        UNIT_TEST(random_texts),
        UNIT_TEST(random_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
