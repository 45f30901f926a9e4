/* Estimates order schedules of one program as measuring would; advice has figures. */
#include "unit.h"

#include "base/buf.h"
#include "coder/coder.h"
#include "lang/lang.h"

#include <stdio.h>
#include <stdlib.h>

static const struct coder_machine avx2 = {.vector_bytes = 32,
                                          .registers = 16,
                                          .threads = 2,
                                          .l1 = 32 << 10,
                                          .l2 = 512 << 10,
                                          .l3 = 32 << 20,
                                          .gflops = 100};

static struct program *
load(struct unit *unit, const char *text)
{
    struct lang *lang = lang_parse(unit->arena, "test.op", text, strlen(text), unit->diags);
    struct program *program = lang ? lang_program(lang, 0, NULL, 0, unit->diags) : NULL;
    if (program == NULL)
        fail_msg("refused:\n%s", unit_printed(unit, false));
    return program;
}

static struct schedule *
schedule_of(struct unit *unit, const struct program *program, const char *text)
{
    struct source *source = arena_alloc(unit->arena, sizeof *source);
    *source = (struct source){"schedule", text, strlen(text)};
    struct coder_options options = {.vector_bytes = avx2.vector_bytes};
    struct schedule *schedule = coder_read(unit->arena, program, source, &options, unit->diags);
    if (schedule == NULL)
        fail_msg("illegal: %s\n%s", text, unit_printed(unit, false));
    return schedule;
}

static double
estimate(struct unit *unit, const struct program *program, const char *text)
{
    double us = coder_estimate_us(schedule_of(unit, program, text), &avx2);
    if (getenv("HONE_SHOW"))
        printf("# %12.1f us  %s\n", us, text);
    return us;
}

/* Each is estimated to be slower than the one before it. */
static void
assert_order(struct unit *unit, const char *op, const char *const *texts)
{
    struct program *program = load(unit, op);
    double last = 0;
    for (; *texts; texts++) {
        double us = estimate(unit, program, *texts);
        if (!(us > last))
            fail_msg("%s: estimated %.1f us, the one before it %.1f us", *texts, us, last);
        last = us;
    }
}

static const char sgemm[] = "op sgemm\ndim M=1024, N=1024, K=1024\nin A: f32[M,K]\nin B: f32[K,N]\n"
                            "C[i,j] = sum[k](A[i,k] * B[k,j])\nout C\n";
static const char flat[] = "op flat\ndim C=64, H=56, W=58\nin X: f32[C,H,W]\n"
                           "Y[c,i:H*W] = X[c,i/W,i%W]\nout Y\n";

static const char softmax[] = "op softmax\ndim R=1024, N=4096\nin X: f32[R,N]\n"
                              "M[r] = max[j](X[r,j])\nE[r,j] = exp(X[r,j] - M[r])\n"
                              "S[r] = sum[j](E[r,j])\nY[r,j] = E[r,j] / S[r]\nout Y\n";

static void
a_packed_tile_is_before_others(void **state)
{
    static const char *const texts[] = {
        "C: k/256 j/512 pack(B) i/96@p j/2v i/6 acc k i@u j/v@u j@v",
        "C: k/256 j/512 i/96@p j/2v i/6 acc k i@u j/v@u j@v",
        "C: i/96@p j/2v i/6 acc k i@u j/v@u j@v",
        "C: i@p j/v acc k j@v",
        "C: i@p j acc k",
        NULL,
    };
    assert_order(*state, sgemm, texts);
}

static void
lanes_are_before_none(void **state)
{
    static const char *const texts[] = {
        "C: i@p k j/4v j/v@u j@v",
        "C: i@p k j",
        "C: j@p k i",
        NULL,
    };
    assert_order(*state, sgemm, texts);
}

static void
threads_are_before_one(void **state)
{
    static const char *const texts[] = {
        "C: k/256 j/512 pack(B) i/96@p j/2v i/6 acc k i@u j/v@u j@v",
        "C: k/256 j/512 pack(B) i/96 j/2v i/6 acc k i@u j/v@u j@v",
        NULL,
    };
    assert_order(*state, sgemm, texts);
}

static void
a_triangle_is_half(void **state)
{
    struct unit *unit = *state;
    static const char *const line = "C: i/96@p j/2v i/6 acc k i@u j/v@u j@v";
    double whole = estimate(unit, load(unit, sgemm), line);
    double half = estimate(unit,
                           load(unit, "op trmm\ndim N=1024\nin A, B: f32[N,N]\n"
                                      "C[i,j] = sum[k ? k <= i](A[i,k] * B[k,j])\nout C\n"),
                           line);
    if (!(half < 0.8 * whole))
        fail_msg("%.1f us, the whole product %.1f us", half, whole);
}

static void
spills_are_behind(void **state)
{
    static const char *const texts[] = {
        "C: k/256 j/512 pack(B) i/96@p j/2v i/6 acc k i@u j/v@u j@v",
        "C: k/256 j/512 pack(B) i/96@p j/4v i/12 acc k i@u j/v@u j@v",
        NULL,
    };
    assert_order(*state, sgemm, texts);
}

/* Rows end to end: by whole rows each vector is one load. */
static void
whole_rows_are_before_others(void **state)
{
    static const char *const texts[] = {"Y: c@p i/58 i/v@u i@v", "Y: c@p i/64 i/v@u i@v", NULL};
    assert_order(*state, flat, texts);
}

static void
rows_together_are_before_passes(void **state)
{
    static const char *const texts[] = {
        "M: r acc j/4v j/v@a j@v; E: r with(S) j/2v j/v@u j@v; Y: r@p do(M) do(E) j/2v j/v@u j@v",
        "M: r@p acc j/4v j/v@a j@v; E: r@p j/2v j/v@u j@v; S: r@p acc j/4v j/v@a j@v; "
        "Y: r@p j/2v j/v@u j@v",
        "M: r@p acc j; E: r@p j; S: r@p acc j; Y: r@p j",
        NULL,
    };
    assert_order(*state, softmax, texts);
}

static void
chains_are_before_one(void **state)
{
    static const char op[] = "op total\ndim R=64, N=2048\nin X: f32[R,N]\n"
                             "Y[r] = sum[j](X[r,j])\nout Y\n";
    static const char *const texts[] = {
        "Y: r@p acc j/8v j/v@a j@v",
        "Y: r@p acc j/2v j/v@a j@v",
        "Y: r@p acc j@v",
        "Y: r@p acc j",
        NULL,
    };
    assert_order(*state, op, texts);
}

static void
estimates_are_near(void **state)
{
    /* 2^31 operations at 200 GFLOP/s are 10.7 ms; nothing may promise less */
    struct unit *unit = *state;
    double us = estimate(unit, load(unit, sgemm),
                         "C: k/256 j/512 pack(B) i/96@p j/2v i/6 acc k i@u j/v@u j@v");
    assert_true(us > 10700 && us < 16000);
    /* 32 MB from and to memory */
    us = estimate(unit, load(unit, softmax),
                  "M: r acc j/4v j/v@a j@v; E: r with(S) j/2v j/v@u j@v; "
                  "Y: r@p do(M) do(E) j/2v j/v@u j@v");
    assert_true(us > 500 && us < 5000);
    /* a machine of which nothing is known */
    struct coder_machine nothing = {0};
    us = coder_estimate_us(schedule_of(unit, load(unit, sgemm), "C:"), &nothing);
    assert_true(us > 1000 && us < 1e8);
}

/* Some advice to the stage begins so or holds it. */
static void
assert_advice(struct unit *unit, const char *op, const char *text, const char *wanted)
{
    struct coder_advice *advice;
    size_t count =
        coder_advise(unit->arena, schedule_of(unit, load(unit, op), text), &avx2, &advice);
    for (size_t i = 0; i < count; i++)
        if (strstr(advice[i].text, wanted))
            return;
    for (size_t i = 0; i < count; i++)
        fprintf(stderr, "%s: %s\n", advice[i].stage, advice[i].text);
    fail_msg("%s: nobody says \"%s\"", text, wanted);
}

static void
advice_has_figures(void **state)
{
    static const char conv[] = "op conv\ndim N=4, C=8, H=16, W=16, K=8\nin X: f32[N,C,H,W]\n"
                               "in F: f32[K,C,3,3]\n"
                               "Y[n,k,y:H,x:W] = sum[c,r,s](X[n,c,y+r-1,x+s-1|0] * F[k,c,r,s])\n"
                               "out Y\n";
    struct unit *unit = *state;
    assert_advice(unit, sgemm, "C: i/12@p j/4v acc k i@u j/v@u j@v",
                  "needs 53 vector registers (48 results, 4 read, 1 broadcast), here are 16");
    assert_advice(unit, sgemm, "C: i@p j/v acc k j@v", "1 accumulator cannot hide the latency");
    assert_advice(unit, sgemm, "C: i@p j acc k/4v k/v@a k@v",
                  "B is gathered, 8 loads a vector: along k it moves by 1024 elements; pack(B)");
    assert_advice(unit, sgemm, "C: j@p i/v acc k i@v", "results are scattered, 8 stores a vector");
    assert_advice(unit, sgemm, "C: i j/v acc k j@v", "one of 2 threads does it all");
    assert_advice(unit, sgemm, "C: i/400@p i j/v acc k j@v", "3 iterations for 2 threads");
    assert_advice(unit, sgemm, "C: i@p j acc k", "no index is in lanes");
    assert_advice(unit, sgemm, "C: i@p k j@v", "acc keeps them in registers");
    assert_advice(unit, sgemm, "C: i/6@p j/2v acc k i@u j/v@u j@v", "L1 has 32 KB");
    assert_advice(unit, sgemm, "C: k/128 i/6@p j/2v acc k i@u j/v@u j@v",
                  "rows of B lie a power of two apart");
    assert_advice(unit, sgemm, "C: i/600@p i j/v acc k j@v", "of the work is in remainders");
    assert_advice(unit, conv, "Y: n@p k y x/v acc c r s x@v", "! pad Y X");
    assert_advice(unit, flat, "Y: c@p i/64 i/v@u i@v",
                  "X is gathered, 8 loads a vector: along i it does not move evenly");
    assert_advice(unit, flat, "Y: c@p i/58 i@v", "along i it does not move evenly");
    assert_advice(unit, softmax, "Y: r/256@p do(E) r j@v; E: r j@v",
                  "its box inside of Y takes 4.0 MB");
}

static void
assert_no_advice(struct unit *unit, const char *op, const char *text)
{
    struct coder_advice *advice;
    size_t count =
        coder_advise(unit->arena, schedule_of(unit, load(unit, op), text), &avx2, &advice);
    for (size_t i = 0; i < count; i++)
        fprintf(stderr, "%s: %s\n", advice[i].stage, advice[i].text);
    assert_int_equal(count, 0);
}

/* What the sketch of a product proposes needs no advice; nor do copies by whole rows, whose places
 * in them are known. */
static void
a_good_schedule_is_left_alone(void **state)
{
    assert_no_advice(*state, sgemm, "C: k/256 j/512 pack(B) i/96@p j/2v i/6 acc k i@u j/v@u j@v");
    assert_no_advice(*state, flat, "Y: c@p i/58 i/v@u i@v");
    assert_no_advice(*state, flat, "Y: c@p i/116 i/58@u i/v@u i@v");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(a_packed_tile_is_before_others),
        UNIT_TEST(lanes_are_before_none),
        UNIT_TEST(threads_are_before_one),
        UNIT_TEST(a_triangle_is_half),
        UNIT_TEST(spills_are_behind),
        UNIT_TEST(whole_rows_are_before_others),
        UNIT_TEST(rows_together_are_before_passes),
        UNIT_TEST(chains_are_before_one),
        UNIT_TEST(estimates_are_near),
        UNIT_TEST(advice_has_figures),
        UNIT_TEST(a_good_schedule_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
