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
    struct coder_options options = {avx2.vector_bytes};
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
spills_are_behind(void **state)
{
    static const char *const texts[] = {
        "C: k/256 j/512 pack(B) i/96@p j/2v i/6 acc k i@u j/v@u j@v",
        "C: k/256 j/512 pack(B) i/96@p j/4v i/12 acc k i@u j/v@u j@v",
        NULL,
    };
    assert_order(*state, sgemm, texts);
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

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(a_packed_tile_is_before_others),
        UNIT_TEST(lanes_are_before_none),
        UNIT_TEST(threads_are_before_one),
        UNIT_TEST(spills_are_behind),
        UNIT_TEST(rows_together_are_before_passes),
        UNIT_TEST(chains_are_before_one),
        UNIT_TEST(estimates_are_near),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
