/* What a schedule may say: every rule with its message, which names the token and what would be
 * legal; and the text: what is written reads as itself and gives the same kernel, byte for byte. */
#include "unit.h"

#include "coder/coder.h"
#include "lang/lang.h"

static struct program *
load(struct unit *unit, const char *text)
{
    struct lang *lang = lang_parse(unit->arena, "test.op", text, strlen(text), unit->diags);
    struct program *program = lang ? lang_program(lang, 0, NULL, 0, unit->diags) : NULL;
    if (program == NULL)
        fail_msg("%s", unit_printed(unit, false));
    return program;
}

/* The kernel, or NULL with messages in `diags`; the filled schedule goes to `filled`. */
static const char *
code(struct unit *unit, const char *program, const char *text, unsigned width, struct buf *filled,
     struct diags *diags)
{
    struct source *source = arena_alloc(unit->arena, sizeof *source);
    struct coder_options options = {.vector_bytes = width};
    struct buf kernel = buf_in(unit->arena);
    *source = (struct source){"schedule", text, strlen(text)};
    struct schedule *schedule =
        coder_read(unit->arena, load(unit, program), source, &options, diags);
    if (schedule == NULL || !coder_emit(&kernel, unit->arena, schedule, diags))
        return NULL;
    if (filled != NULL)
        coder_write(filled, schedule);
    return kernel.data;
}

/* ---- refusals ---- */

/* `want` is "line:column: message", of the first message. */
static void
refuses(void **state, const char *program, const char *text, const char *want)
{
    struct unit *unit = *state;
    struct diags *diags = diags_create(unit->arena, 0);
    if (code(unit, program, text, 32, NULL, diags) != NULL)
        fail_msg("legal:\n%s", text);
    assert_true(diags_errors(diags) > 0);
    const struct diag *diag = diags_get(diags, 0);
    const char *got = arena_printf(unit->arena, "%u:%u: %s", diag->place.line, diag->place.column,
                                   diag->message);
    if (strcmp(got, want) != 0)
        fail_msg("%s\nis refused with\n%s\ninstead of\n%s", text, got, want);
}

static void
allows(void **state, const char *program, const char *text)
{
    struct unit *unit = *state;
    struct diags *diags = diags_create(unit->arena, 0);
    if (code(unit, program, text, 32, NULL, diags) == NULL)
        fail_msg("%s\nis refused: %s", text, diags_get(diags, 0)->message);
}

#define GEMM                                    \
    "in A: f32[9,7]; in B: f32[7,20]\n"         \
    "C[i,j] = sum[k](A[i,k]*B[k,j])\n"          \
    "Y[i,j] = max(C[i,j], 0)\nout Y, C\n"
#define SOFTMAX                                                       \
    "in X: f32[5,19]\nM[r] = max[j](X[r,j])\nE[r,j] = exp(X[r,j]-M[r])\n" \
    "S[r] = sum[j](E[r,j])\nY[r,j] = E[r,j]/S[r]\nout Y\n"
#define SCAN "in X: f32[4,6]\nS[r,t] = S[r,t-1 | 0] + X[r,t]\nY[r,t] = S[r,t]*2\nout Y, S\n"
#define ARG "in X: f32[5,19]\nA[r] = argmax[j](X[r,j])\nout A\n"
#define CAT \
    "in X: f32[4]; in Z: f16[9]\nC[c:13] = cat[c](X[c], Z[c])\nY[i:5] = C[i*2] + Z[i-1 | 0.1]\nout Y\n"

static void
lines_name_stages(void **state)
{
    refuses(state, GEMM, "Q: i j", "?");
    refuses(state, GEMM, "CC: i j", "?");
    refuses(state, GEMM, "C i j", "?");
    refuses(state, GEMM, "C: i j k\nC: i j k", "?");
    refuses(state, GEMM, "rec C: i", "?");
    refuses(state, GEMM, "Y: i j\n  ! fold C i j", "?");
    refuses(state, GEMM, "! split C i 2", "?");
    refuses(state, GEMM, "! split C k 99", "?");
    refuses(state, GEMM, "! split C k x", "?");
    allows(state, GEMM, "case other:\nQ: nonsense\ncase default:\nC: i j k # comment; with colon\n\nY:");
}

static void
loops_end_and_fall(void **state)
{
    refuses(state, GEMM, "C: i j q k", "?");
    refuses(state, GEMM, "C: i j/8 k", "?");
    refuses(state, GEMM, "C: i j", "?");
    refuses(state, GEMM, "C: i j/4 j/8 j k", "?");
    refuses(state, GEMM, "C: i i j k", "?");
    refuses(state, GEMM, "C: i j/4@v k", "?");
    refuses(state, GEMM, "C: i@v j@v k", "?");
    refuses(state, GEMM, "C: i@z j k", "?");
    refuses(state, GEMM, "C: i/0 j k", "?");
    refuses(state, GEMM, "C: i/w j k", "?");
    refuses(state, GEMM, "C: i@a j k", "?");
    refuses(state, GEMM, "Y: i/1000@u j/v@u j/v/2 j", "?");
    allows(state, GEMM, "C: i/1000 i/5@u i j/2v j/v@u j@v k/3@a k");
}

static void
threads_are_shared_once(void **state)
{
    refuses(state, GEMM, "C: k@p i j", "?");
    refuses(state, GEMM, "C: i@p k j@p", "?");
    refuses(state, GEMM, "C: i/3@p i@p j k", "?");
    refuses(state, SOFTMAX, "Y: r do(S) j\nS: r@p j", "?");
    refuses(state, SCAN, "S: t r", "?");
    allows(state, GEMM, "C: k/3 i/3@p j@p i k");
}

static void
accumulators_are_registers(void **state)
{
    refuses(state, GEMM, "C: acc i j k", "?");
    refuses(state, GEMM, "C: i acc j/8@u j k", "?");
    refuses(state, GEMM, "C: i j acc k acc", "?");
    refuses(state, GEMM, "Y: i j acc", "?");
    refuses(state, GEMM, "C: i j k@v", "?");
    refuses(state, ARG, "A: r j acc", "?");
    refuses(state, ARG, "A: j r", "?");
    allows(state, GEMM, "C: k/2 i acc j/v@u j@v k@a");
}

static void
packs_copy_what_is_read(void **state)
{
    refuses(state, GEMM, "C: pack(Q) i j k", "?");
    refuses(state, GEMM, "C: pack(A@2) i j k", "?");
    refuses(state, GEMM, "C: pack(A@x) i j k", "?");
    refuses(state, GEMM, "C: pack(C) i j k", "?");
    refuses(state, GEMM, "C: i pack(A) pack(A) j k", "?");
    refuses(state, GEMM, "C: i j@v pack(B) k", "?");
    refuses(state, GEMM, "C: i pack(A j k", "?");
    refuses(state, CAT, "C: pack(X) c", "?");
    refuses(state, CAT, "Y: pack(Z) i", "?");
    refuses(state, GEMM, "C: i pre(A) j k", "?");
    refuses(state, GEMM, "C: i pre(A,0) j k", "?");
    refuses(state, "in A: f32[100000,100000]\nY[i] = sum[j](A[i,j])\nout Y\n", "Y: pack(A) i j", "?");
    allows(state, GEMM, "C: pack(B) i@p pack(A) j pre(B,8) k nt");
}

static void
producers_come_before_readers(void **state)
{
    refuses(state, SOFTMAX, "S: r do(Y) j", "?");
    refuses(state, SOFTMAX, "S: r do(S) j", "?");
    refuses(state, SOFTMAX, "S: r acc do(E) j", "?");
    refuses(state, SOFTMAX, "Y: r do(M) j", "?");
    refuses(state, SOFTMAX, "Y: r do(S) do(E) j", "?");
    refuses(state, SOFTMAX, "Y: r pack(S) do(S) j", "?");
    refuses(state, SOFTMAX, "Y: r do(E) j\nS: r do(E) j", "?");
    refuses(state, SOFTMAX, "Y: do(S) r j\nS: do(Y) r j", "?");
    refuses(state, SCAN, "Y: do(S) r t", "?");
    allows(state, SOFTMAX, "Y: r@p do(M) do(E) do(S) j@v\nE: r j@v\nM: r acc j@v\nS: r acc j@v");
}

#define TWO                                                                         \
    "in X: f32[5,19]; in Z: f64[19]\nS[r] = sum[j](X[r,j])\nQ[r] = sum[j](X[r,j]*X[r,j])\n" \
    "V[r] = Q[r] - S[r]\nW[r]: f64 = sum[j](X[r,j]*Z[j])\nT[j] = max[r](X[r,j]*V[r])\n"      \
    "U[r] = sum[j](X[r,j]+T[j])\nD[r] = V[r]*2\nout V, W, U, D\n"

static void
guests_share_loops(void **state)
{
    refuses(state, TWO, "S: r acc j with(Q)", "?");
    refuses(state, TWO, "S: with(Q) r acc j", "?");
    refuses(state, TWO, "S: r with(T) acc j", "?");
    refuses(state, TWO, "S: r with(T, j=r) acc j", "?");
    refuses(state, TWO, "S: r with(Q, q=r) acc j", "?");
    refuses(state, TWO, "S: r with(Q, r) acc j", "?");
    refuses(state, TWO, "S: r with(Q) acc j\nQ: r j", "?");
    refuses(state, TWO, "S: r with(W) acc j", "?");
    refuses(state, TWO, "S: r with(U) acc j", "?");
    refuses(state, TWO, "Q: r with(V) acc j", "?");
    refuses(state, TWO, "V: with(S, j=r) r", "?");
    refuses(state, TWO, "D: with(V) r", "?");
    refuses(state, TWO, "S: r with(Q) acc j\nU: r with(Q) acc j", "?");
    refuses(state, SCAN, "Y: r t with(S)", "?");
    allows(state, TWO, "S: r with(Q) acc j\nV: r@v with(D)");
}

static void
inlined_stages_vanish(void **state)
{
    refuses(state, SOFTMAX, "E: inline(M) r j\nY: r j inline(S)", "?");
    refuses(state, SOFTMAX, "M: r inline(E) j", "?");
    refuses(state, CAT, "Y: inline(C) i", "?");
    refuses(state, "in X: f32[5]\nA[i] = X[i]*2\nY[i:7] = A[i-1 | 0]\nout Y\n", "Y: inline(A) i", "?");
    refuses(state, SCAN, "Y: inline(S) r t", "?");
    allows(state, SOFTMAX, "Y: inline(E) r j@v\nS: inline(E) r acc j@v");
}

static void
what_would_be_too_much(void **state)
{
    refuses(state, "in X: f32[200,200]\nY[i,j] = X[i,j]\nout Y\n", "Y: i@u j@u", "?");
    refuses(state, SOFTMAX, "Y: online(j/8: M,S) r j", "?");
    refuses(state, GEMM,
            "C: nt nt nt nt nt nt nt nt nt nt nt nt nt nt nt nt nt nt nt nt nt nt nt nt nt nt nt nt "
            "nt nt nt nt nt nt nt nt nt nt nt nt nt nt nt nt nt nt nt i j k",
            "?");
}

/* ---- texts ---- */

static void
filled_text_is_a_fixed_point(void **state)
{
    static const struct {
        const char *program, *text;
    } rows[] = {
        {GEMM, ""},
        {GEMM, "C: k/4 j/v@p pack(B) i/3 acc k@a i@u j@v\nY: i j@v nt"},
        {GEMM, "! split C k 3\nC.k: kc@p i j@v k\n"},
        {SOFTMAX, ""},
        {SOFTMAX, "Y: inline(E) r@p do(S) j@v"},
        {SOFTMAX, "Y:\nM:\nE:\nS:"},
        {SCAN, ""},
        {SCAN, "! chunk S t 4\nS: r@p t"},
        {ARG, "A: r@p acc j/2v@a j@v"},
        {CAT, "C: c@v"},
        {TWO, ""},
        {TWO, "S: r with(Q) acc j\nV: r@v with(D)\nU: j/5 r acc j"},
    };
    struct unit *unit = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (unsigned width = 16; width <= 64; width *= 2) {
            struct diags *diags = diags_create(unit->arena, 0);
            struct buf once = buf_in(unit->arena), twice = buf_in(unit->arena);
            const char *first = code(unit, rows[i].program, rows[i].text, width, &once, diags);
            if (first == NULL)
                fail_msg("%s\nis refused: %s", rows[i].text, diags_get(diags, 0)->message);
            const char *again = code(unit, rows[i].program, rows[i].text, width, NULL, diags);
            const char *filled = code(unit, rows[i].program, once.data, width, &twice, diags);
            if (filled == NULL)
                fail_msg("%s\nbecomes\n%s\nwhich is refused: %s", rows[i].text, once.data,
                         diags_get(diags, 0)->message);
            assert_string_equal(first, again);
            assert_string_equal(once.data, twice.data);
            assert_string_equal(first, filled);
        }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(lines_name_stages),
        UNIT_TEST(loops_end_and_fall),
        UNIT_TEST(threads_are_shared_once),
        UNIT_TEST(accumulators_are_registers),
        UNIT_TEST(packs_copy_what_is_read),
        UNIT_TEST(producers_come_before_readers),
        UNIT_TEST(guests_share_loops),
        UNIT_TEST(inlined_stages_vanish),
        UNIT_TEST(what_would_be_too_much),
        UNIT_TEST(filled_text_is_a_fixed_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
