/* What gcc makes of kernels: flags, symbols, the kernels that are shown to people. */
#include "target_unit.h"

/* ---- flags ---- */

/* Every row, in both forms and with every value. */
static void
gcc_knows_every_flag(void **state)
{
    struct unit *unit = *state;
    const struct program *program = program_of(unit, SMALL);

    for (const struct target_flag *flag = cpu()->flags; flag->text; flag++) {
        struct buf text = buf_in(unit->arena);
        buf_printf(&text, "//! flags %s", flag->text);
        if (flag->form == TARGET_FLAG_SWITCH)
            buf_printf(&text, " -fno-%s", flag->text + 2);
        if (flag->form == TARGET_FLAG_NUMBER)
            buf_printf(&text, "%lld", (long long)flag->most);
        if (flag->form == TARGET_FLAG_CHOICE) {
            char *rest = arena_strdup(unit->arena, flag->values);
            buf_puts(&text, strsep(&rest, " "));
            while (rest)
                buf_printf(&text, " %s%s", flag->text, strsep(&rest, " "));
        }
        buf_printf(&text, "\n%s", trivial(unit, program));
        compiles(unit, program, text.data);
    }
}

static void
flags_of_a_verdict(void **state)
{
    struct unit *unit = *state;
    const struct program *program = program_of(unit, SMALL);
    struct target_kernel kernel =
        kernel_of(unit, program, "//! flags -O3\n//! tune T = 4 8\nvoid kernel(void);\n");
    size_t chosen[] = {1};
    struct buf text = buf_in(unit->arena);

    target_put_flags(&text, cpu(), &kernel, chosen);
    assert_string_equal(text.data, "-O2 -ftree-vectorize -fvect-cost-model=dynamic -march=native "
                                   "-fopenmp -fno-math-errno -falign-functions=64 "
                                   "-falign-loops=32 -O3 -DT=8");
}

static void
lines_are_the_kernels_own(void **state)
{
    struct unit *unit = *state;
    const struct program *program = program_of(unit, SMALL);
    struct target_kernel kernel =
        kernel_of(unit, program, "\nvoid kernel(const float *X, float *Y)\n{ oops(); }");
    static const char *const more[] = {"-fsyntax-only", NULL};
    const char *err;

    assert_int_not_equal(
        gcc_run(unit, arguments_with(unit, &kernel, more), source_of(unit, program, &kernel), &err),
        0);
    assert_non_null(strstr(err, "k.c:3:3: error: implicit declaration of function"));
}

/* ---- symbols ---- */

static void
symbols_that_may_be_missing(void **state)
{
    static const char *const good[] = {"memcpy",
                                       "free",
                                       "expf",
                                       "exp",
                                       "expl",
                                       "expf@GLIBC_2.27",
                                       "sincosf",
                                       "cexpf",
                                       "_ZGVdN8v_expf",
                                       "GOMP_parallel",
                                       "GOMP_loop_dynamic_next",
                                       "GOMP_barrier",
                                       "GOMP_task",
                                       "GOMP_taskwait",
                                       "omp_get_thread_num",
                                       "__tls_get_addr",
                                       "omp_set_lock",
                                       "abort",
                                       "nan"};
    static const char *const bad[] = {"",
                                      "e",
                                      "expx",
                                      "exp2ff",
                                      "open",
                                      "printf",
                                      "f",
                                      "l",
                                      "memcpyf",
                                      "dlopen",
                                      "dlsym",
                                      "system",
                                      "fork",
                                      "clock_gettime",
                                      "time",
                                      "omp_get_wtime",
                                      "omp_get_wtick",
                                      "GOMP_target_ext",
                                      "GOMP_offload_register",
                                      "GOMP_PLUGIN_malloc",
                                      "GOMP_error",
                                      "omp_target_alloc",
                                      "syscall",
                                      "mmap",
                                      "mprotect",
                                      "pthread_create",
                                      "environ",
                                      "exit",
                                      "_exit",
                                      "signal",
                                      "getenv",
                                      "__libc_start_main",
                                      "_ZG",
                                      "memcpy "};

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!target_allows(cpu(), good[i]))
            fail_msg("%s is refused", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (target_allows(cpu(), bad[i]))
            fail_msg("%s is allowed", bad[i]);
}

/* Builds k.so from a kernel as the judge would. */
static void
build(struct unit *unit, const struct program *program, const char *text)
{
    struct target_kernel kernel = kernel_of(unit, program, text);
    static const char *const more[] = {"-Wall", "-Wextra", "-Werror", "-c", "-o", "k.o", NULL};
    const char *err, *argv[32] = {"gcc"};
    size_t count = 1;

    if (gcc_run(unit, arguments_with(unit, &kernel, more), source_of(unit, program, &kernel), &err))
        fail_msg("%s", err);
    for (const char *const *word = cpu()->linking; *word; word++)
        argv[count++] = *word;
    for (const char *word = "k.o\0-o\0k.so\0"; *word; word += strlen(word) + 1)
        argv[count++] = word;
    ran(unit, argv);
}

/* Every undefined symbol of k.so is allowed. */
static size_t
check_symbols(struct unit *unit)
{
    static const char *const argv[] = {"nm",   "-D", "--undefined-only", "--format=posix",
                                       "k.so", NULL};
    char *rest = arena_strdup(unit->arena, ran(unit, argv));
    size_t count = 0;

    for (char *line; (line = strsep(&rest, "\n")) && *line; count++) {
        line[strcspn(line, " ")] = 0;
        if (!target_allows(cpu(), line))
            fail_msg("k.so needs %s", line);
    }
    return count;
}

/* What honest kernels make gcc and the linker ask for. */
static void
honest_kernels_need_no_other_symbols(void **state)
{
    static const char *const bodies[] = {
        "//! flags -Ofast\nvoid kernel(const float *X, float *Y)\n{\n"
        "for (int r = 0; r < R; r++) { float s = 0; for (int j = 0; j < N; j++) "
        "s += expf(X[r*N+j]); Y[r] = s; } }\n",
        "static _Thread_local float scratch[N];\nvoid kernel(const float *X, float *Y)\n{\n"
        "#pragma omp parallel for schedule(dynamic)\n"
        "for (int r = 0; r < R; r++) { memcpy(scratch, X + r*N, sizeof scratch); Y[r] = 0;\n"
        "for (int j = 0; j < N; j++) Y[r] += scratch[j]; } }\n",
        "#include <assert.h>\n#include <complex.h>\nvoid kernel(const float *X, float *Y)\n{\n"
        "assert(X);\nfloat *p = malloc(N * sizeof *p);\n#pragma omp parallel\n{\n#pragma omp "
        "single\n"
        "#pragma omp taskloop\nfor (int r = 0; r < R; r++)\nY[r] = crealf(X[r] * (X[r] + "
        "1.0if));\n}\n"
        "#pragma omp critical\nY[0] += tanhf(X[0]) + omp_get_max_threads();\nfree(p); }\n",
        "void kernel(const float *X, float *Y)\n{\nfloat s = 0;\n"
        "#pragma omp parallel for reduction(+ : s) schedule(guided)\n"
        "for (int r = 0; r < R; r++)\ns += X[r];\n#pragma omp parallel sections\n{\n"
        "#pragma omp section\nY[0] = s;\n#pragma omp section\nY[1] = s;\n}\n"
        "#pragma omp parallel for ordered\nfor (int r = 2; r < R; r++)\n{\n#pragma omp ordered\n"
        "Y[r] = (float)((__int128)s / 3); } }\n",
    };
    struct unit *unit = *state;

    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        build(unit, program_of(unit, SMALL), bodies[i]);
        assert_true(check_symbols(unit) > 0);
    }
}

/* ---- kernels that are shown ---- */

/* The lines from the one that begins with `from` to the one that is `to`, four blanks taken off. */
static char *
quoted(struct unit *unit, const char *text, const char *from, const char *to)
{
    struct buf buf = buf_in(unit->arena);
    const char *line = strstr(text, from);

    assert_non_null(line);
    for (;;) {
        size_t length = strcspn(line, "\n");
        size_t cut = length < 4 ? length : 4;
        buf_add(&buf, line + cut, length - cut);
        buf_putc(&buf, '\n');
        if (!strncmp(line, to, strlen(to)) && line[strlen(to)] == '\n')
            return buf.data;
        line += length + 1;
        assert_true(*line != 0);
    }
}

/* Calls the kernel in k.so and compares with double. */
static const char row_sum_main[] =
    "#include <math.h>\n#include <stdlib.h>\nvoid kernel(const float *X, float *Y);\n"
    "static _Alignas(64) float X[64 * 1000], Y[64];\n"
    "int main(void) {\n"
    "for (int i = 0; i < 64 * 1000; i++) X[i] = (float)sin(i);\n"
    "kernel(X, Y);\n"
    "for (int r = 0; r < 64; r++) { double s = 0; for (int j = 0; j < 1000; j++) s += "
    "X[r*1000+j];\n"
    "if (!(fabs(Y[r] - s) < 1e-4)) return 1; }\n"
    "return 0; }\n";

static void
run_with(struct unit *unit, const char *text, const char *const *defines)
{
    const char *argv[16] = {"gcc", "-O1", "main.c", "./k.so", "-fopenmp", "-lm", "-o", "main"};
    static const char *const run[] = {"./main", NULL};
    size_t count = 8;

    while (*defines)
        argv[count++] = *defines++;
    write_text(unit, "main.c", text);
    ran(unit, argv);
    ran(unit, run);
}

static void
the_contracts_example_is_right(void **state)
{
    static const char *const none[] = {NULL};
    struct unit *unit = *state;
    struct buf contract = buf_in(unit->arena);

    target_contract(&contract, cpu(), NULL, 0, 0);
    char *task = quoted(unit, contract.data, "    op row_sum", "    out Y");
    char *text = quoted(unit, contract.data, "    //! flags -O3", "    }");
    build(unit, program_of(unit, task), text);
    assert_true(check_symbols(unit) > 0);
    run_with(unit, row_sum_main, none);
}

static const char softmax_main[] =
    "#include <math.h>\n#include <stdlib.h>\nvoid kernel(const float *X, float *Y);\n"
    "static _Alignas(64) float X[R * N], Y[R * N];\n"
    "static double value(int r, int j) {\n"
    "double most = -INFINITY, sum = 0;\n"
    "for (int k = 0; k < N; k++) most = fmax(most, X[r*N+k]);\n"
    "for (int k = 0; k < N; k++) sum += exp(X[r*N+k] - most);\n"
    "return exp(X[r*N+j] - most) / sum; }\n"
    "int main(void) {\n"
    "for (int i = 0; i < R * N; i++) X[i] = (float)((1 + i % 30) * sin(i));\n"
    "X[3] = -INFINITY; X[4] = -1e30f;\n"
    "kernel(X, Y);\n"
    "for (int r = 0; r < R; r++) for (int j = 0; j < N; j += j < 40 || j + 40 >= N ? 1 : 37) {\n"
    "double v = value(r, j);\n"
    "if (!(fabs(Y[r*N+j] - v) <= 1e-5 * v + 0x1p-126)) return 1; }\n"
    "return 0; }\n";

/* As a candidate for every case, with its sizes, and alone. */
static void
the_softmax_kernel_is_right(void **state)
{
    struct unit *unit = *state;
    struct lang *lang = lang_open(unit->arena, project(unit, "examples/softmax.op"), unit->diags);
    struct source source;

    assert_non_null(lang);
    assert_int_equal(
        file_read(unit->arena, project(unit, "examples/softmax.c"), 1 << 20, &source, unit->diags),
        STATUS_OK);
    for (size_t c = 0; c < lang_case_count(lang); c++) {
        const struct program *program = lang_program(lang, c, NULL, 0, unit->diags);
        build(unit, program, source.text);
        assert_true(check_symbols(unit) > 0);
        if (program->dims[0].size * program->dims[1].size > 100000)
            continue; /* the check below takes the square of a row's time */
        const char *const defines[] = {
            arena_printf(unit->arena, "-DR=%lld", (long long)program->dims[0].size),
            arena_printf(unit->arena, "-DN=%lld", (long long)program->dims[1].size), NULL};
        run_with(unit, softmax_main, defines);
    }
}

static void
the_softmax_kernel_stands_alone(void **state)
{
    struct unit *unit = *state;
    const char *path = project(unit, "examples/softmax.c");
    const char *const as_it_is[] = {"gcc",   "-O2",     "-march=native", "-fopenmp",
                                    "-Wall", "-Wextra", "-Werror",       "-c",
                                    path,    "-o",      "s.o",           NULL};
    const char *const with_sizes[] = {
        "gcc", "-O2", "-fopenmp", "-Wall", "-Werror", "-DR=3", "-DN=17", "-Dkernel=softmax",
        "-c",  path,  "-o",       "s.o",   NULL};
    static const char *const names[] = {"nm", "s.o", NULL};

    ran(unit, as_it_is);
    ran(unit, with_sizes);
    assert_non_null(strstr(ran(unit, names), " T softmax\n"));
}

/* ---- the table ---- */

static void
targets_by_name(void **state)
{
    (void)state;
    assert_null(target_find("gpu"));
    assert_string_equal(target_nearest("cpuu"), "cpu");
    assert_null(target_nearest("abacus"));
    for (size_t i = 0; targets[i]; i++) {
        const struct target *target = targets[i];
        assert_ptr_equal(target_find(target->name), target);
        assert_non_null(target->summary);
        assert_non_null(target->suffix);
        assert_non_null(target->entry);
        assert_non_null(target->contract);
        assert_true(target->limits.text_bytes > 0 && target->limits.alignment > 0);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(gcc_knows_every_flag),
        SCRATCH_TEST(flags_of_a_verdict),
        SCRATCH_TEST(lines_are_the_kernels_own),
        SCRATCH_TEST(symbols_that_may_be_missing),
        SCRATCH_TEST(honest_kernels_need_no_other_symbols),
        SCRATCH_TEST(the_contracts_example_is_right),
        SCRATCH_TEST(the_softmax_kernel_is_right),
        SCRATCH_TEST(the_softmax_kernel_stands_alone),
        SCRATCH_TEST(targets_by_name),
    };

    remember_project();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
