/* The prelude: gcc accepts it for every task, and what is a macro already cannot be a size. */
#include "target_unit.h"

#include <glob.h>

#include "target/target_int.h"

static void
every_example_has_a_prelude(void **state)
{
    struct unit *unit = *state;
    glob_t found;

    assert_int_equal(glob(project(unit, "examples/*.op"), 0, NULL, &found), 0);
    assert_true(found.gl_pathc >= 18);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct lang *lang = lang_open(unit->arena, found.gl_pathv[i], unit->diags);
        assert_non_null(lang);
        for (size_t c = 0; c < lang_case_count(lang); c++) {
            const struct program *program = lang_program(lang, c, NULL, 0, unit->diags);
            assert_non_null(program);
            assert_null(target_supports(unit->arena, cpu(), program));
            compiles(unit, program, trivial(unit, program));
        }
    }
    globfree(&found);
}

/* The plain kernel leaves to the prelude what it has. */
static void
plain_kernels_fit_the_prelude(void **state)
{
    static const char *const files[] = {"softmax", "max_pool", "hgemm", "top1", "qlinear"};
    struct unit *unit = *state;

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char *path = arena_printf(unit->arena, "examples/%s.op", files[i]);
        struct lang *lang = lang_open(unit->arena, project(unit, path), unit->diags);
        assert_non_null(lang);
        struct program *program = lang_program(lang, 0, NULL, 0, unit->diags);
        struct buf text = buf_in(unit->arena);
        lang_emit(&text, program, &(struct emit_options){.form = EMIT_NAIVE});
        compiles(unit, program, text.data);
    }
}

static void
every_type_and_a_negative_const(void **state)
{
    struct unit *unit = *state;
    const struct program *program =
        program_of(unit, "dim N=3\nconst Shift=N-8, Least=-9223372036854775807-1\n"
                         "in A: f64[N]\nin B: f16[N]\nin C: bf16[N]\nin D: i32[]\nin E: i8[N]\n"
                         "in F: u8[N]\nin G: bool[N]\n"
                         "Y[i]: bf16 = A[i]+B[i]+C[i]+E[i]+F[i]+if(G[i],1,2)+D[]+Shift\nout Y\n");

    compiles(unit, program,
             "#include <immintrin.h>\n"
             "#if Shift != -5 || N != 3 || Least >= 0 || !HONE\n#error macros\n#endif\n"
             "void kernel(const double *A, const _Float16 *B, const bf16 *C, const int32_t *D,\n"
             "const int8_t *E, const uint8_t *F, const uint8_t *G, bf16 *Y)\n"
             "{ Y[0] = bf16_of_f32(f32_of_bf16(C[0])); }\n");
}

/* What gcc defines by itself and by the prelude's headers, one name a line, after `#define `. */
static const char *
all_macros(struct unit *unit)
{
    static const char *const argv[] = {"gcc", "-std=gnu17", "-march=native", "-fopenmp", "-O2",
                                       "-dM", "-E",         "headers.c",     NULL};

    write_text(unit, "headers.c",
               "#include <stddef.h>\n#include <stdint.h>\n#include <math.h>\n#include <string.h>\n"
               "#include <stdlib.h>\n#include <omp.h>\n");
    return ran(unit, argv);
}

/* The names of object-like macros that an author could also think of. */
static size_t
macro_names(struct unit *unit, const char **names, size_t most)
{
    char *rest = arena_strdup(unit->arena, all_macros(unit));
    size_t count = 0;

    for (char *line; (line = strsep(&rest, "\n"));) {
        char *name = line + strlen("#define ");
        if (strncmp(line, "#define ", 8) || name[0] == '_')
            continue;
        size_t length = strcspn(name, " (");
        if (name[length] == '(')
            continue;
        name[length] = 0;
        assert_true(count < most);
        names[count++] = name;
    }
    return count;
}

/* A size with such a name is an error of the task, a tensor's is only spelt otherwise. */
static void
names_that_are_macros_already(void **state)
{
    struct unit *unit = *state;
    const char *names[400];
    size_t count = macro_names(unit, names, 400);

    assert_true(count > 60);
    for (size_t i = 0; i < count; i++)
        if (!target__c_taken(names[i]))
            fail_msg("%s is a macro and nobody knows", names[i]);
    assert_false(target__c_taken("N") || target__c_taken("INTER") || target__c_taken("SIZE"));
}

static void
tensors_with_such_names(void **state)
{
    struct unit *unit = *state;
    const struct program *program = program_of(
        unit,
        "in NULL, double, unix, restrict, X, expf, isnan, kernel: f32[4]\n"
        "Y[i] = NULL[i]+double[i]+unix[i]+restrict[i]+X[i]+expf[i]+isnan[i]+kernel[i]\nout Y\n");

    compiles(unit, program, trivial(unit, program));
}

static void
sizes_with_such_names(void **state)
{
    struct unit *unit = *state;
    const struct program *program =
        program_of(unit, "dim NAN=4\nin X: f32[NAN]\nY[i] = X[i]\nout Y\n");
    struct target_kernel kernel = {.text = "", .length = 0};
    static const char *const more[] = {"-fsyntax-only", NULL};
    const char *err, *reason = target_supports(unit->arena, cpu(), program);

    assert_non_null(strstr(reason, "dim NAN has a name that means something else in C"));
    assert_int_not_equal(
        gcc_run(unit, arguments_with(unit, &kernel, more), source_of(unit, program, &kernel), &err),
        0);
    assert_non_null(strstr(err, "NAN is a size of the task and a macro already"));

    program = program_of(unit, SMALL); /* a macro that nobody could foresee */
    const char *const given[] = {"-fsyntax-only", "-DN=3", NULL};
    assert_int_not_equal(gcc_run(unit, arguments_with(unit, &kernel, given),
                                 source_of(unit, program, &kernel), &err),
                         0);
    assert_non_null(strstr(err, "N is a size of the task and a macro already"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(every_example_has_a_prelude),     SCRATCH_TEST(plain_kernels_fit_the_prelude),
        SCRATCH_TEST(every_type_and_a_negative_const), SCRATCH_TEST(names_that_are_macros_already),
        SCRATCH_TEST(tensors_with_such_names),         SCRATCH_TEST(sizes_with_such_names),
    };

    remember_project();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
