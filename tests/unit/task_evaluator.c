/* The evaluator gives what task_evaluate() and task_calibrate() give, set after set; these give
 * what a plain reading of doc/tolerance.md gives. */
#include "task_unit.h"

#include "base/fault.h"
#include "base/file.h"

#include <math.h>
#include <sys/wait.h>

static struct evaluator *
opened(struct unit *unit, const struct program *program)
{
    struct evaluator *evaluator;

    if (evaluator_open(program, &evaluator, unit->diags) != STATUS_OK)
        fail_msg("%s", unit_printed(unit, false));
    return evaluator;
}

static const char softmax[] = "dim R=37, N=101\n"
                              "in X: f32[R,N]\n"
                              "M[r] = max[j](X[r,j])\n"
                              "E[r,j] = exp(X[r,j] - M[r])\n"
                              "Y[r,j] = E[r,j] / sum[k](E[r,k])\n"
                              "out Y\n";

/* Every path: vectors and what is left of them, all kinds of outputs, unjudged elements,
 * infinities, a gate that is scaled down, more elements than the medians are taken of. */
static const char *const programs[] = {
    softmax,
    "dim M=20, N=30, K=70\nin A: f16[M,K]; in B: f16[K,N]\n"
    "C[i,j] = sum[k](A[i,k]*B[k,j])\nD[i,j]: f16 = C[i,j]\nout C, D\n",
    "dim N=3001\nin A: f64[N]\nY[i] = exp(A[i])*A[(i+1)%N]\nS[] = sum[i](A[i])\nout Y, S\n",
    "dim R=50, N=33\nin A: f32[R,N]\nP[r,j] = A[r,j]*1.7\nK[r] = argmax[j](P[r,j])\n"
    "I[r,j]: i8 = i8(round(A[r,j]*3.0))\nE[r] = argmax[j](A[r,j])\nout K, I, E\n",
    "dim N=700\nin A: f32[N]\nL[i] = log(A[i])\nQ[i] = 1.0/A[i]\nT[i] = A[i]\nout L, Q, T\n",
    "dim R=300, N=231\nin A: f32[R,N]\nY[r,j] = A[r,j]*1.1 + 0.3\nout Y\n",
};

/* A net of many layers, whose gate is scaled down. */
static const char *
deep_program(struct unit *unit)
{
    struct buf text = buf_in(unit->arena);

    buf_puts(&text, "dim N=70\nin X: f32[N]; in W: f32[N,N] scale 0.2\nH0[i] = X[i]\n");
    for (int i = 0; i < 12; i++)
        buf_printf(&text, "H%d[i] = tanh(sum[j](W[i,j]*H%d[j]))\n", i + 1, i);
    buf_puts(&text, "out H12\n");
    return text.data;
}

/* ---- the same as the two calls ---- */

static void
same_doubles(const double *a, const double *b, size_t count)
{
    assert_true(!a == !b);
    if (a)
        assert_memory_equal(a, b, count * sizeof *a);
}

static void
same_results(const struct lang_result *a, const struct lang_result *b)
{
    size_t count = (size_t)a->tensor->count, terms = count * (size_t)a->terms;

    assert_int_equal(a->terms, b->terms);
    same_doubles(a->v, b->v, count);
    same_doubles(a->g, b->g, count);
    same_doubles(a->c, b->c, count);
    same_doubles(a->term_v, b->term_v, terms);
    same_doubles(a->term_g, b->term_g, terms);
    same_doubles(a->term_c, b->term_c, terms);
}

static void
same_tolerance(const struct tolerance *a, const struct tolerance *b)
{
    assert_true(a->k == b->k);
    assert_true(a->scale == b->scale);
    assert_int_equal(a->ill_posed, b->ill_posed);
}

enum { MOST_OUTPUTS = 3 };

static void
compare_set(struct unit *unit, struct evaluator *evaluator, const struct program *program,
            const void *const *inputs)
{
    struct lang_result a[MOST_OUTPUTS], b[MOST_OUTPUTS];
    struct tolerance s[MOST_OUTPUTS], t[MOST_OUTPUTS];

    if (evaluator_run(unit->arena, evaluator, inputs, a, s, unit->diags) ||
        task_evaluate(unit->arena, program, inputs, b, unit->diags) ||
        task_calibrate(unit->arena, program, inputs, b, TASK_HONEST_SEED, t, unit->diags))
        fail_msg("%s", unit_printed(unit, false));
    for (size_t o = 0; o < program->output_count; o++) {
        same_results(&a[o], &b[o]);
        same_tolerance(&s[o], &t[o]);
    }
}

static void
compare_program(struct unit *unit, const char *text)
{
    const struct program *program = parse(unit, text);
    struct evaluator *evaluator = opened(unit, program);

    for (uint64_t seed = 1; seed <= 2; seed++)
        for (enum distribution d = 0; d < DRAW_COUNT; d++)
            compare_set(unit, evaluator, program,
                        (const void *const *)task_draw_all(unit->arena, program, d, seed));
    evaluator_close(evaluator);
}

static void
runs_agree_with_single_calls(void **state)
{
    struct unit *unit = *state;

    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        compare_program(unit, programs[i]);
    compare_program(unit, deep_program(unit));
}

static const char foreign_task[] = "dim N=40\n"
                                   "in A: f32[N]; in I: i8[N]\n"
                                   "out Y: f32[N]\n"
                                   "out K: i32[]\n"
                                   "reference \"foreign.c\" tolerance 1e-3 1e-6\n";

static const char foreign_file[] =
    "void reference(const double *A, const int8_t *I, double *Y, int32_t *K)\n"
    "{\n"
    "    *K = 0;\n"
    "    for (int i = 0; i < N; i++) {\n"
    "        Y[i] = sqrt(fabs(A[i])) * I[i];\n"
    "        *K += I[i];\n"
    "    }\n"
    "}\n";

static void
foreign_references_are_loaded_once(void **state)
{
    struct unit *unit = *state;

    assert_int_equal(file_write("foreign.c", foreign_file, sizeof foreign_file - 1, unit->diags),
                     0);
    compare_program(unit, foreign_task);
    assert_int_equal(scratch_count("hone/objects"), 1);
}

/* Inputs with and without denormals, in turn. */
static void
denormals_are_told_apart(void **state)
{
    struct unit *unit = *state;
    const struct program *program = parse(unit, "dim N=6\nin A: f32[N]\nY[i] = A[i]*1.5\nout Y\n");
    struct evaluator *evaluator = opened(unit, program);
    float a[] = {1, 2, 0, 0, 0, 3};
    const void *inputs[] = {a};
    struct lang_result result;
    struct tolerance tolerance;

    int before = scratch_count("hone/objects");
    for (int i = 0; i < 4; i++) {
        a[5] = i % 2 ? -1e-40F : 3;
        assert_int_equal(
            evaluator_run(unit->arena, evaluator, inputs, &result, &tolerance, unit->diags), 0);
        assert_true(result.g[0] == 1.5 * 0x1p-24);
        assert_true(i % 2 ? result.g[5] >= 1e-40 : result.g[5] == 4.5 * 0x1p-24);
        assert_int_equal(scratch_count("hone/objects"), before + (i > 0));
    }
    evaluator_close(evaluator);
}

/* ---- calibration, read plainly ---- */

struct plain {
    double *errors; /* squares, summed over the evaluations */
    double ratio;
};

static void
add_evaluation(struct plain *plain, const struct lang_result *r, const float *y)
{
    const struct tolerance one = {.k = 1, .scale = 1};

    for (int64_t i = 0; i < r->tensor->count; i++) {
        double gate = task_gate(r, &one, i), error = fabs(y[i] - r->v[i]);
        if (isnan(gate) || !isfinite(error))
            continue;
        plain->errors[i] += error * error;
        if (error > 0x1p-125 && gate > 0x1p-125)
            plain->ratio = fmax(plain->ratio, error / (gate - 0x1p-125));
    }
}

static int
by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double
middle(double *values, size_t count)
{
    qsort(values, count, sizeof *values, by_size);
    return count ? values[count / 2] : 0;
}

/* Elements that tell something new: where fewer than half of the judged ones differ in the first 40
 * bits of g, the different ones. */
static double
plain_told(struct unit *unit, const struct lang_result *r, size_t stride, size_t judged)
{
    size_t count = (size_t)r->tensor->count, n = 0, kinds = 0;
    double *g = arena_array(unit->arena, count, sizeof *g);

    for (size_t i = 0; i < count; i += stride) {
        uint64_t bits;
        memcpy(&bits, &r->g[i], sizeof bits);
        bits >>= 24;
        if (isfinite(r->v[i]) && !isnan(r->g[i]) && bits != 0)
            g[n++] = (double)bits; /* 40 bits: exact */
    }
    qsort(g, n, sizeof *g, by_size);
    for (size_t i = 0; i < n; i++)
        kinds += i == 0 || g[i] != g[i - 1];
    return kinds > 0 && kinds < 2048 && kinds < judged / 2 ? (double)kinds
                                                           : (double)(judged * stride);
}

static struct tolerance
plain_conclusion(struct unit *unit, const struct plain *plain, const struct lang_result *r)
{
    size_t count = (size_t)r->tensor->count, n = 0, finite = 0;
    double *g = arena_array(unit->arena, count, sizeof *g), *spread, *gates, squares = 0;
    size_t stride = count / 65536 + 1, judged = 0;
    struct tolerance t = {.scale = 1};

    spread = arena_array(unit->arena, count, sizeof *spread);
    gates = arena_array(unit->arena, count, sizeof *gates);
    for (size_t i = 0; i < count; i++) {
        squares += isfinite(r->v[i]) ? r->v[i] * r->v[i] : 0;
        finite += isfinite(r->v[i]) != 0;
    }
    for (size_t i = 0; i < count; i += stride)
        judged += isfinite(r->v[i]) && !isnan(r->g[i]) && isfinite(fmin(6 * r->g[i], 2 * r->c[i]));
    double told = plain_told(unit, r, stride, judged);
    t.k = fmax(judged ? 1 + 7 / sqrt(told) : 1, 2 * plain->ratio);
    for (size_t i = 0; i < count; i += stride) {
        double gate = fmin(6 * t.k * r->g[i], 2 * r->c[i]);
        if (isnan(r->g[i]) || !(gate > 0) || isinf(gate) || !isfinite(r->v[i]))
            continue;
        g[n] = 6 * r->g[i];
        spread[n] = 12 * sqrt(plain->errors[i] / 3);
        gates[n++] = gate;
    }
    double size = finite ? sqrt(squares / (double)finite) : 0;
    double m = middle(g, n), s = middle(spread, n);
    if (told >= 64 && s > 12 * 0x1p-24 * size && m > 10 * s)
        t.scale = fmin(1, fmax(s / m, 6 * plain->ratio));
    t.ill_posed = middle(gates, n) * t.scale > 1e-2 * size;
    return t;
}

/* Of a program with one f32 output. Returns its scale. */
static double
check_calibration(struct unit *unit, const struct program *program, enum distribution distribution)
{
    const void *const *inputs =
        (const void *const *)task_draw_all(unit->arena, program, distribution, 3);
    size_t count = (size_t)program->outputs[0]->count;
    float *y = arena_array(unit->arena, count, sizeof *y);
    struct plain plain = {.errors = arena_array(unit->arena, count, sizeof(double))};
    struct lang_result result;
    struct tolerance found, wanted;
    void *outputs[] = {y};

    assert_int_equal(task_evaluate(unit->arena, program, inputs, &result, unit->diags), 0);
    assert_int_equal(task_calibrate(unit->arena, program, inputs, &result, 1, &found, unit->diags),
                     0);
    for (enum emit form = EMIT_ONE; form <= EMIT_RANDOM; form++) {
        struct emit_options options = {.form = form, .seed = 1};
        struct reference *kernel;
        assert_int_equal(reference_open(unit->arena, program, &options, &kernel, unit->diags), 0);
        reference_run_kernel(kernel, inputs, outputs);
        reference_close(kernel);
        add_evaluation(&plain, &result, y);
    }
    wanted = plain_conclusion(unit, &plain, &result);
    same_tolerance(&found, &wanted);
    return found.scale;
}

static void
calibration_reads_plainly(void **state)
{
    struct unit *unit = *state;
    const struct program *few = parse(unit, softmax), *many = parse(unit, programs[5]);
    const struct program *deep = parse(unit, deep_program(unit));
    double least = 1;

    for (enum distribution d = 0; d < DRAW_COUNT; d++) {
        check_calibration(unit, few, d);
        check_calibration(unit, many, d);
        least = fmin(least, check_calibration(unit, deep, d));
    }
    assert_true(least < 1);
}

/* ---- when the machine refuses ---- */

static void
a_text_that_gcc_refuses(void **state)
{
    struct unit *unit = *state;
    struct evaluator *evaluator;

    assert_int_equal(file_write("foreign.c", "void reference(", 15, unit->diags), 0);
    assert_int_equal(evaluator_open(parse(unit, foreign_task), &evaluator, unit->diags),
                     STATUS_INPUT);
    assert_null(evaluator);
    assert_non_null(strstr(unit_message(unit, 0), "gcc refuses the reference"));
    assert_int_equal(scratch_count("hone/objects"), 0);
    evaluator_close(NULL);
}

#ifdef HONE_FAULTS
/* How many objects of the cache are mapped. */
static int
loaded_objects(void)
{
    FILE *file = fopen("/proc/self/maps", "r");
    char line[1024];
    int count = 0;

    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        count += strstr(line, "/hone/objects/") != NULL;
    fclose(file);
    return count;
}

static enum status
open_and_close(struct unit *unit, const struct program *program)
{
    struct evaluator *evaluator = NULL;
    enum status status = evaluator_open(program, &evaluator, unit->diags);

    assert_true((status == STATUS_OK) == (evaluator != NULL));
    evaluator_close(evaluator);
    fault_arm(FAULT_ALLOC, 0);
    assert_int_equal(loaded_objects(), 0);
    return status;
}

/* The same in a child, for the n-th allocation: where lang_reference_needs() has no memory it ends
 * the program, with the same code, or goes on. What leaks shows when the child ends. */
static int
code_without_memory(struct unit *unit, const struct program *program, unsigned long n)
{
    int code = -1;

    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        fault_arm(FAULT_ALLOC, n);
        exit(status_exit_code(open_and_close(unit, program)));
    }
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_true(WIFEXITED(code));
    return WEXITSTATUS(code);
}

static struct program *
foreign_program(struct unit *unit, unsigned long variant)
{
    const char *text = arena_printf(unit->arena, "/* %lu */\n%s", variant, foreign_file);

    assert_int_equal(file_write("foreign.c", text, strlen(text), unit->diags), 0);
    return parse(unit, foreign_task);
}

/* Of a foreign reference, since lang_emit() answers a lack of memory by ending the program.
 * Everything is in the cache, so that the many tries take no time. */
static void
no_memory_is_an_answer(void **state)
{
    struct unit *unit = *state;
    const struct program *program = foreign_program(unit, 0);
    int succeeded = 0, failed = 0;

    assert_int_equal(open_and_close(unit, program), STATUS_OK);
    for (unsigned long n = 1; succeeded < 3; n++) {
        int code = code_without_memory(unit, program, n);
        assert_true(code == 0 || code == 3);
        succeeded = code == 0 ? succeeded + 1 : 0;
        failed += code == 3;
    }
    assert_true(failed > 20);
}

/* Files that were begun are gone. */
static void
no_memory_while_building(void **state)
{
    struct unit *unit = *state;
    int succeeded = 0;

    for (unsigned long n = 10; succeeded < 2; n += 1 + n / 10) {
        int code = code_without_memory(unit, foreign_program(unit, n), n);
        assert_true(code == 0 || code == 3);
        succeeded = code == 0 ? succeeded + 1 : 0;
        DIR *folder = opendir("hone/objects");
        for (struct dirent *entry; folder && (entry = readdir(folder));)
            assert_true(entry->d_name[0] == '.' || strlen(entry->d_name) == 64 + 3);
        if (folder)
            closedir(folder);
    }
}

static void
no_process_and_no_disk_are_answers(void **state)
{
    struct unit *unit = *state;
    const struct program *program = parse(unit, softmax);
    static const enum fault kinds[] = {FAULT_FORK, FAULT_WRITE};

    for (size_t i = 0; i < 2; i++) {
        fault_arm(kinds[i], 1);
        assert_int_equal(open_and_close(unit, program), STATUS_MACHINE);
        fault_arm(kinds[i], 0);
    }
    assert_int_equal(open_and_close(unit, program), STATUS_OK);
    assert_int_equal(scratch_count("hone/objects"), 4);
}

/* The caller's arena jumps away in the middle of a run: the evaluator goes on working. */
static void
a_run_may_be_left(void **state)
{
    struct unit *unit = *state;
    const struct program *program = parse(unit, softmax);
    struct evaluator *evaluator = opened(unit, program);
    void **inputs = task_draw_all(unit->arena, program, DRAW_NORMAL, 1);
    volatile bool finished = false;

    for (volatile unsigned long n = 1; !finished; n++) {
        struct arena *volatile arena = arena_create();
        struct lang_result result;
        struct tolerance tolerance;
        jmp_buf no_memory;
        if (setjmp(no_memory) == 0) {
            arena_on_no_memory(arena, &no_memory);
            fault_arm(FAULT_ALLOC, n);
            finished = evaluator_run(arena, evaluator, (const void *const *)inputs, &result,
                                     &tolerance, unit->diags) == STATUS_OK;
        }
        fault_arm(FAULT_ALLOC, 0);
        arena_destroy(arena);
    }
    evaluator_close(evaluator);
    assert_int_equal(loaded_objects(), 0);
}
#endif

int
main(void)
{
    const struct CMUnitTest tests[] = {
#ifdef HONE_FAULTS /* first: they fork, and nothing has started threads yet */
        CACHED_TEST(no_memory_is_an_answer),
        CACHED_TEST(no_memory_while_building),
#endif
        CACHED_TEST(runs_agree_with_single_calls),
        CACHED_TEST(foreign_references_are_loaded_once),
        CACHED_TEST(denormals_are_told_apart),
        CACHED_TEST(calibration_reads_plainly),
        CACHED_TEST(a_text_that_gcc_refuses),
#ifdef HONE_FAULTS
        CACHED_TEST(no_process_and_no_disk_are_answers),
        CACHED_TEST(a_run_may_be_left),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
