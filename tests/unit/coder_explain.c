/* Schedules in words. */
#include "unit.h"

#include "base/buf.h"
#include "coder/coder.h"
#include "lang/lang.h"

static struct schedule *
read_schedule(struct unit *unit, const char *op, const char *text)
{
    struct lang *lang = lang_parse(unit->arena, "test.op", op, strlen(op), unit->diags);
    struct program *program = lang ? lang_program(lang, 0, NULL, 0, unit->diags) : NULL;
    struct source *source = arena_alloc(unit->arena, sizeof *source);
    struct coder_options options = {.vector_bytes = 32};
    *source = (struct source){"schedule", text, strlen(text)};
    struct schedule *schedule =
        program ? coder_read(unit->arena, program, source, &options, unit->diags) : NULL;
    if (schedule == NULL)
        fail_msg("refused: %s\n%s", text, unit_printed(unit, false));
    return schedule;
}

static const char *
explained_on(struct unit *unit, const struct coder_machine *machine, const char *op,
             const char *text)
{
    struct buf buf = buf_in(unit->arena);
    coder_explain(&buf, read_schedule(unit, op, text), machine);
    return buf.data;
}

static const char *
explained(struct unit *unit, const char *op, const char *text)
{
    return explained_on(unit, NULL, op, text);
}

static const char sgemm[] = "op sgemm\ndim M=1024, N=1024, K=1024\nin A: f32[M,K]\nin B: f32[K,N]\n"
                            "C[i,j] = sum[k](A[i,k] * B[k,j])\nout C\n";
static const char softmax[] = "op softmax\ndim R=1024, N=4096\nin X: f32[R,N]\n"
                              "M[r] = max[j](X[r,j])\nE[r,j] = exp(X[r,j] - M[r])\n"
                              "S[r] = sum[j](E[r,j])\nY[r,j] = E[r,j] / S[r]\nout Y\n";

static void
a_matrix_product(void **state)
{
    assert_string_equal(
        explained(*state, sgemm, "C: k/256 j/512 pack(B) i/96@p j/2v i/6 acc k i@u j/v@u j@v"),
        "C: blocks of 96 i are shared among the threads, in pieces of 256 k and 512 j; B is copied "
        "in the order in which it is read, once for all threads. Tiles of 6 i by 16 j stay in "
        "registers while k runs; vectors of 8 lanes along j, 2 unrolled, i unrolled.");
    assert_string_equal(explained(*state, sgemm, "C:"),
                        "C: i is shared among the threads. Each result stays in a register while k "
                        "runs; one element at a time.");
    assert_string_equal(explained(*state, sgemm, "C: i k j@v"),
                        "C: one thread does it all. Results are added up in memory over k; vectors "
                        "of 8 lanes along j.");
}

/* Which cache keeps what the innermost cut touches, where the machine is known. */
static void
caches_are_named(void **state)
{
    const struct coder_machine machine = {
        .vector_bytes = 32, .registers = 16, .threads = 2, .l1 = 32 << 10, .l2 = 1 << 20};
    assert_non_null(
        strstr(explained_on(*state, &machine, sgemm,
                            "C: k/256 j/512 pack(B) i/24@p j/2v i/6 acc k i@u j/v@u j@v"),
               "; one turn of i touches 584 KB, which the second cache keeps."));
    assert_non_null(strstr(
        explained_on(*state, &machine, softmax, "M: r acc j; E: r with(S) j; Y: r@p do(M) do(E) j"),
        "which the second cache keeps"));
    assert_null(strstr(explained(*state, sgemm, "C:"), "cache"));
}

static void
a_triangle(void **state)
{
    assert_string_equal(
        explained(*state,
                  "op trmm\ndim M=512, N=512\nin A: f32[M,M]\nin B: f32[M,N]\n"
                  "C[i,j] = sum[k ? k <= i](A[i,k] * B[k,j])\nout C\n",
                  "C: i/96@p j/2v i/6 acc k i@u j/v@u j@v"),
        "C: blocks of 96 i are shared among the threads. Tiles of 6 i by 16 j stay in registers "
        "while k runs as far as its condition holds; vectors of 8 lanes along j, 2 unrolled, i "
        "unrolled.");
}

static void
a_border(void **state)
{
    static const char op[] = "op border\ndim N=8, C=3\nin X: f32[C,N]\nin F: f32[C,3]\n"
                             "Y[i:N+2] = sum[c,r](F[c,r]*X[c,i-r | 0])\nout Y\n";
    assert_string_equal(explained(*state, op, "Y: i acc c r"),
                        "Y: one thread does it all. Each result stays in a register while c and r "
                        "run as far as they read what is there; one element at a time.");
    assert_string_equal(explained(*state, op, "Y: i acc c r@u"),
                        "Y: one thread does it all. Each result stays in a register while c and r "
                        "run; one element at a time, r unrolled.");
}

static void
a_running_maximum(void **state)
{
    struct unit *unit = *state;
    static const char op[] =
        "op scores\ndim R=64, N=512, D=32\nin X: f32[R,N]\nin V: f32[N,D]\n"
        "M[i] = max[j](X[i,j])\nE[i,j] = exp(X[i,j]-M[i])\nS[i] = sum[j](E[i,j])\n"
        "O[i,e] = sum[j](E[i,j]*V[j,e])/S[i]\nout O\n";
    struct coder_line *lines;
    struct schedule *schedule = read_schedule(unit, op,
                                              "S: inline(E); O: inline(E) i/8@p "
                                              "online(j/64: M,S,O) i/4 e/v acc j i@u e@v");
    assert_int_equal(coder_explain_lines(unit->arena, schedule, &lines), 2);
    assert_string_equal(lines[0].does, "Inside of O, while it runs.");
    assert_string_equal(lines[1].text,
                        "O: inline(E) i/8@p online(j/64: M,S,O) i/4 e/v acc j i@u e@v");
    assert_string_equal(
        lines[1].does,
        "blocks of 8 i are shared among the threads, in pieces of 64 j. Tiles of 4 i by 8 e stay "
        "in registers while j runs; vectors of 8 lanes along e, i unrolled; M and S are kept for "
        "each row while j runs, and what was added up is scaled when the maximum grows; E "
        "computed where it is read.");
}

static void
rows(void **state)
{
    assert_string_equal(
        explained(*state, softmax,
                  "M: r acc j/4v j/v@a j@v; E: r with(S) j/2v j/v@u j@v; "
                  "Y: r@p do(M) do(E) nt j/2v j/v@u j@v"),
        "Y: r is shared among the threads; for each of them M and E (with S) are computed first, "
        "as "
        "far as it is read there. Vectors of 8 lanes along j, 2 unrolled; results are stored past "
        "the caches.");
}

static void
lines_one_by_one(void **state)
{
    struct unit *unit = *state;
    struct coder_line *lines;
    struct schedule *schedule =
        read_schedule(unit, softmax,
                      "M: r acc j/4v j/v@a j@v; E: r with(S) j/2v j/v@u j@v; "
                      "Y: r@p do(M) do(E) j/2v j/v@u j@v");
    assert_int_equal(coder_explain_lines(unit->arena, schedule, &lines), 3);
    assert_string_equal(lines[0].text, "M: r acc j/4v j/v@a j@v");
    assert_string_equal(lines[0].stage, "M");
    assert_string_equal(lines[0].does,
                        "Inside of Y: each result stays in a register while j runs; vectors of 8 "
                        "lanes along j, 4 with accumulators of their own.");
    assert_string_equal(
        lines[1].does, "Inside of Y: vectors of 8 lanes along j, 2 unrolled; S in the same loops.");
}

static void
rewrites(void **state)
{
    struct unit *unit = *state;
    static const char conv[] = "op conv\ndim N=4, C=8, H=16, W=16, K=8\nin X: f32[N,C,H,W]\n"
                               "in F: f32[K,C,3,3]\n"
                               "Y[n,k,y:H,x:W] = sum[c,r,s](X[n,c,y+r-1,x+s-1|0] * F[k,c,r,s])\n"
                               "out Y\n";
    struct coder_line *lines;
    struct schedule *schedule =
        read_schedule(unit, conv, "! pad Y X\nY: n@p k y x/v acc c r s x@v");
    assert_true(coder_explain_lines(unit->arena, schedule, &lines) >= 2);
    assert_string_equal(lines[0].text, "! pad Y X");
    assert_null(lines[0].stage);
    assert_string_equal(
        lines[0].does,
        "X is first copied with a border, so that Y reads it without asking where it ends.");
}

static void
equal_stages_are_said_once(void **state)
{
    static const char op[] = "op many\ndim N=64\nin X: f32[N,N]\n"
                             "A[i,j] = sum[k](X[i,k] * X[k,j])\nB[i,j] = sum[k](A[i,k] * A[k,j])\n"
                             "D[i,j] = sum[k](B[i,k] * B[k,j])\nout D\n";
    assert_string_equal(
        explained(*state, op, ""),
        "A, B and D: i is shared among the threads. Each result stays in a register "
        "while k runs; one element at a time.");
}

/* Twelve different stages: the eight with the most operations are told. */
static void
only_the_costliest_of_many(void **state)
{
    struct unit *unit = *state;
    struct buf op = buf_in(unit->arena), lines = buf_in(unit->arena);
    buf_puts(&op, "op many\ndim N=64\nin X: f32[N,N]\n");
    for (int i = 0; i < 12; i++) {
        buf_printf(&op, "A%d[i:%d,j] = sum[k](X[i,k] * X[k,j])\n", i, 20 + i);
        buf_printf(&lines, "A%d: i/%d@p i j acc k\n", i, 2 + i);
    }
    buf_puts(&op, "out A0, A1, A2, A3, A4, A5, A6, A7, A8, A9, A10, A11\n");
    const char *text = explained(unit, op.data, lines.data);
    assert_null(strstr(text, "A3: "));
    assert_non_null(strstr(text, "A4: blocks of 6 i"));
    assert_non_null(strstr(text, "A11: blocks of 13 i"));
    assert_non_null(strstr(text, "4 more stages with fewer operations have loops of their own."));
}

static void
steps_of_a_recurrence(void **state)
{
    static const char op[] = "op cumsum\ndim R=8, T=32\nin X: f32[R,T]\n"
                             "Y[r,t] = Y[r,t-1|0] + X[r,t]\nout Y\n";
    assert_string_equal(
        explained(*state, op, ""),
        "Y: in order along t, r is shared among the threads. One element at a time.");
    assert_string_equal(explained(*state, op, "Y: r"),
                        "Y: step by step along t. One element at a time.");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(a_matrix_product),
        UNIT_TEST(rows),
        UNIT_TEST(caches_are_named),
        UNIT_TEST(a_triangle),
        UNIT_TEST(a_border),
        UNIT_TEST(a_running_maximum),
        UNIT_TEST(lines_one_by_one),
        UNIT_TEST(rewrites),
        UNIT_TEST(equal_stages_are_said_once),
        UNIT_TEST(only_the_costliest_of_many),
        UNIT_TEST(steps_of_a_recurrence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
