/* Which inputs a task can see, and which of its outputs are ill-posed. */
#include "task_unit.h"

#include "base/fault.h"
#include "base/file.h"

#include <math.h>
#include <sys/wait.h>

enum { MOST = 8 };

static void
see(struct unit *unit, const struct program *program, struct sight *sights, bool *ill_posed)
{
    assert_true(program->input_count <= MOST && program->output_count <= MOST);
    if (task_see(unit->arena, program, 1, sights, ill_posed, unit->diags) != STATUS_OK)
        fail_msg("%s", unit_printed(unit, false));
}

/* The names of what is not seen and of what is ill-posed: "X W / Y". */
static const char *
amiss(struct unit *unit, const char *text)
{
    const struct program *program = parse(unit, text);
    struct buf names = buf_in(unit->arena);
    struct sight sights[MOST];
    bool ill_posed[MOST];

    see(unit, program, sights, ill_posed);
    for (size_t i = 0; i < program->input_count; i++) {
        assert_true(sights[i].tried && sights[i].seen == (sights[i].largest > 10));
        if (!sights[i].seen)
            buf_printf(&names, "%s ", program->tensors[i]->name);
    }
    buf_puts(&names, "/");
    for (size_t o = 0; o < program->output_count; o++)
        if (ill_posed[o])
            buf_printf(&names, " %s", program->outputs[o]->name);
    return names.data;
}

/* ---- tasks that can be judged ---- */

static const char softmax[] = "dim R=5, N=70\n"
                              "in X: f32[R,N]\n"
                              "M[r] = max[j](X[r,j])\n"
                              "E[r,j] = exp(X[r,j] - M[r])\n"
                              "Y[r,j] = E[r,j] / sum[k](E[r,k])\n"
                              "out Y\n";

static void
ordinary_tasks_see_everything(void **state)
{
    static const char *const tasks[] = {
        softmax,
        "dim M=9, N=11, K=40\nin A: f32[M,K]; in B: f32[K,N]\n"
        "C[i,j] = sum[k](A[i,k]*B[k,j])\nout C\n",
        "dim C=3, S=10, K=4\nin X: f32[2,C,S,S]; in F: f32[K,C,3,3]; in B: f32[K]\n"
        "Y = conv2d(X, F, B, pad=1)\nout Y\n",
        "dim R=6, N=50\nin X: f32[R,N]; in G, H: f32[N]\nY = layer_norm(X, G, H)\nout Y\n",
        "dim N=40\nin A: f32[N]; in I: i32[N] from 0 to N-1\nin B: bool[N]\n"
        "Y[i] = if(B[i], A[I[i]], 0.0)\nK[] = argmax[i](A[i])\nout Y, K\n",
        "dim N=30\nin A: f32[N]\nY[i]: i8 = i8(round(A[i]))\nout Y\n",
    };
    struct unit *unit = *state;

    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++)
        assert_string_equal(amiss(unit, tasks[i]), "/");
}

/* ---- tasks that cannot (KernelBench, level 2, numbers 80, 83 and 23) ---- */

static void
the_largest_less_its_own_mean(void **state)
{
    assert_string_equal(amiss(*state, "dim B=8, K=32, N=16\n"
                                      "in X: f32[B,K]; in W: f32[N,K]; in H: f32[N]\n"
                                      "L[b,n] = sum[k](X[b,k]*W[n,k]) + H[n]\n"
                                      "M[b,o:1] = max[n](L[b,n])\n"
                                      "S[b,o] = M[b,o] - mean[p:1](M[b,p])\n"
                                      "Y = gelu(S)\n"
                                      "out Y\n"),
                        "X W H / Y");
}

static void
at_most_zero_clamped_to_zero_and_one(void **state)
{
    assert_string_equal(amiss(*state, "dim B=2, C=8, S=25\n"
                                      "in X: f32[B,C,S]; in W, H: f32[C]\n"
                                      "Z = group_norm(X, W, H, groups=2)\n"
                                      "Y[b,c,s] = clamp(min(Z[b,c,s], 0.0), 0.0, 1.0)\n"
                                      "out Y\n"),
                        "X W H /");
}

static void
the_mean_of_what_was_normalised(void **state)
{
    assert_string_equal(amiss(*state, "dim B=4, N=300\n"
                                      "in X: f32[B,N]\n"
                                      "M[b] = mean[i](X[b,i])\n"
                                      "V[b] = mean[i]((X[b,i]-M[b])*(X[b,i]-M[b]))\n"
                                      "N1[b,i] = (X[b,i]-M[b]) * rsqrt(V[b]+1e-5)\n"
                                      "Y[b] = mean[i](N1[b,i])\n"
                                      "out Y\n"),
                        "X / Y");
}

/* What one output does not see another may. */
static void
inputs_are_told_apart(void **state)
{
    assert_string_equal(amiss(*state, "dim N=64\n"
                                      "in A, B, C, D, E: f32[N]\n"
                                      "Y[i] = A[i] + 0.0*B[i] + ((C[i] + D[i]) - D[i])\n"
                                      "Z[i] = E[i]*2.0\n"
                                      "out Y, Z\n"),
                        "B D /");
}

/* Only large values move this output: another distribution shows it. */
static void
other_distributions_are_tried(void **state)
{
    assert_string_equal(amiss(*state, "dim N=8\n"
                                      "in A: f32[N]\n"
                                      "Y[i] = max(A[i], 6.5)\n"
                                      "out Y\n"),
                        "/");
}

static void
a_difference_of_large_sums_is_ill_posed(void **state)
{
    assert_string_equal(amiss(*state, "dim N=4096\n"
                                      "in A: f32[N]; in B: f32[N] from 1000000 to 1000001\n"
                                      "Y[] = sum[i](A[i]*A[i]*B[i]) - sum[i](A[i]*A[i]*1e6)\n"
                                      "Z[] = sum[i](A[i])\n"
                                      "out Y, Z\n"),
                        "B / Y");
}

static void
foreign_references_are_seen_through(void **state)
{
    static const char file[] = "void reference(const double *A, const double *B, double *Y)\n"
                               "{\n"
                               "    for (int i = 0; i < N; i++)\n"
                               "        Y[i] = sqrt(fabs(A[i])) + 0 * B[i];\n"
                               "}\n";
    struct unit *unit = *state;

    assert_int_equal(file_write("foreign.c", file, sizeof file - 1, unit->diags), 0);
    assert_string_equal(amiss(unit, "dim N=40\n"
                                    "in A, B: f32[N]\n"
                                    "out Y: f32[N]\n"
                                    "reference \"foreign.c\" tolerance 1e-3 1e-6\n"),
                        "B /");
}

/* ---- what it costs ---- */

/* Each run is estimated at two seconds: two inputs are tried, and nothing is said of the others. */
static void
what_is_not_tried_is_neither(void **state)
{
    struct unit *unit = *state;
    const struct program *program = parse(unit, "dim N=260000000\n"
                                                "in A, B, C, D: f32[4]\n"
                                                "T[i:N] = A[0]\n"
                                                "Y[j:4] = A[j] + B[j] + C[j]*2.0 + D[j] + T[j]\n"
                                                "out Y\n");
    struct sight sights[MOST];
    bool ill_posed[MOST];

    if (task_free_bytes() < 8e9)
        skip();
    see(unit, program, sights, ill_posed);
    for (size_t i = 0; i < 4; i++)
        assert_true(sights[i].tried == (i < 2) && sights[i].seen == (i < 2));
}

static void
what_takes_too_long_is_refused(void **state)
{
    static const char *const tasks[] = {
        "dim N=20000\nin A, B: f32[N,N]\nC[i,j] = sum[k](A[i,k]*B[k,j])\nout C\n",
        "dim N=3000000000000\nin A: f32[2]\nB[i:N] = A[0]*1.5\nY[] = sum[i](B[i])\nout Y\n",
    };
    struct unit *unit = *state;
    struct sight sights[MOST];
    bool ill_posed[MOST];

    for (size_t i = 0; i < 2; i++) {
        const struct program *program = parse(unit, tasks[i]);
        enum status status = task_see(unit->arena, program, 1, sights, ill_posed, unit->diags);
        assert_int_equal(status, STATUS_INPUT);
        assert_non_null(strstr(unit_message(unit, 0), "too large to find out what it can see"));
        unit->diags = diags_create(unit->arena, 0);
    }
    assert_int_not_equal(access("hone/objects", F_OK), 0); /* nothing was built */
}

/* ---- keeping ---- */

static void
what_was_found_is_kept(void **state)
{
    struct unit *unit = *state;
    const struct program *program = parse(unit, softmax);
    struct sight first, again;
    bool ill_posed = true;
    char *path = arena_strdup(unit->arena, getenv("PATH"));

    assert_false(task_seen(unit->arena, program, 1, &first, &ill_posed));
    see(unit, program, &first, &ill_posed);
    assert_false(ill_posed);
    assert_int_equal(scratch_count("hone/sight"), 1);
    setenv("PATH", "/nonexistent", 1); /* no compiler is needed */
    ill_posed = true;
    see(unit, program, &again, &ill_posed);
    setenv("PATH", path, 1);
    assert_true(again.tried && again.seen && !ill_posed);
    assert_true(fabs(again.largest / first.largest - 1) < 0.01);

    const char *other = "dim R=5, N=71\n"; /* other sizes, other results */
    const char *rest = strchr(softmax, '\n') + 1;
    program = parse(unit, arena_printf(unit->arena, "%s%s", other, rest));
    assert_false(task_seen(unit->arena, program, 1, &again, &ill_posed));
    program = parse(unit, softmax);
    assert_false(task_seen(unit->arena, program, 2, &again, &ill_posed));
}

static void
a_damaged_file_is_found_again(void **state)
{
    static const char *const texts[] = {"", "input 1", "input 1 1 5\n", "output 0\n",
                                        "input 1 1 5\noutput 0\nmore"};
    struct unit *unit = *state;
    const struct program *program = parse(unit, softmax);
    struct sight sight;
    bool ill_posed;
    const char *file = NULL;

    see(unit, program, &sight, &ill_posed);
    DIR *folder = opendir("hone/sight");
    for (struct dirent *entry; (entry = readdir(folder));)
        if (entry->d_name[0] != '.')
            file = file_join(unit->arena, "hone/sight", entry->d_name);
    closedir(folder);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(file_write(file, texts[i], strlen(texts[i]), unit->diags), 0);
        assert_false(task_seen(unit->arena, program, 1, &sight, &ill_posed));
        see(unit, program, &sight, &ill_posed);
        assert_true(task_seen(unit->arena, program, 1, &sight, &ill_posed));
    }
}

#ifdef HONE_FAULTS
/* In a child each: where lang has no memory it ends the program. */
static void
no_memory_is_an_answer(void **state)
{
    static const char file[] = "void reference(const double *A, double *Y) { *Y = *A; }\n";
    struct unit *unit = *state;
    int succeeded = 0;

    assert_int_equal(file_write("foreign.c", file, sizeof file - 1, unit->diags), 0);
    const struct program *program = parse(unit, "in A: f32[]\nout Y: f32[]\n"
                                                "reference \"foreign.c\" tolerance 1e-3 1e-6\n");
    for (unsigned long n = 1; succeeded < 3; n += 1 + n / 30) {
        int code = -1;
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            struct sight sight;
            bool ill_posed;
            fault_arm(FAULT_ALLOC, n);
            enum status status = task_see(unit->arena, program, n, &sight, &ill_posed, unit->diags);
            fault_arm(FAULT_ALLOC, 0);
            _exit(status_exit_code(status));
        }
        assert_int_equal(waitpid(child, &code, 0), child);
        assert_true(WIFEXITED(code));
        assert_true(WEXITSTATUS(code) == 0 || WEXITSTATUS(code) == 3);
        succeeded = code == 0 ? succeeded + 1 : 0;
    }
}
#endif

int
main(void)
{
    const struct CMUnitTest tests[] = {
#ifdef HONE_FAULTS /* first: it forks, and nothing has started threads yet */
        CACHED_TEST(no_memory_is_an_answer),
#endif
        CACHED_TEST(ordinary_tasks_see_everything),
        CACHED_TEST(the_largest_less_its_own_mean),
        CACHED_TEST(at_most_zero_clamped_to_zero_and_one),
        CACHED_TEST(the_mean_of_what_was_normalised),
        CACHED_TEST(inputs_are_told_apart),
        CACHED_TEST(other_distributions_are_tried),
        CACHED_TEST(a_difference_of_large_sums_is_ill_posed),
        CACHED_TEST(foreign_references_are_seen_through),
        CACHED_TEST(what_is_not_tried_is_neither),
        CACHED_TEST(what_takes_too_long_is_refused),
        CACHED_TEST(what_was_found_is_kept),
        CACHED_TEST(a_damaged_file_is_found_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
