/* Expansion, canonical text and house style, word by word. */
#include "unit.h"

#include "lang/lang.h"

static struct program *
program_of(struct unit *unit, const char *text)
{
    struct lang *lang = lang_parse(unit->arena, "t.op", text, strlen(text), unit->diags);
    struct program *program = lang ? lang_program(lang, 0, NULL, 0, unit->diags) : NULL;
    if (program == NULL)
        fail_msg("%s", unit_printed(unit, false));
    return program;
}

static const char *
stage_names(struct unit *unit, const char *text)
{
    struct program *program = program_of(unit, text);
    struct buf names = buf_in(unit->arena);
    for (size_t i = 0; i < program->stage_count; i++)
        buf_printf(&names, "%s%s", i ? " " : "", program->stages[i].tensor->name);
    return names.data;
}

static const char *
expanded(struct unit *unit, const char *text)
{
    struct buf buf = buf_in(unit->arena);
    lang_expand(&buf, program_of(unit, text));
    return buf.data;
}

static const char *
hash_of(struct unit *unit, const char *text)
{
    return lang_hash(unit->arena, program_of(unit, text));
}

/* ---- expansion ---- */

static void
stages_of_calls_are_called_after_their_result(void **state)
{
    struct unit *unit = *state;
    assert_string_equal(stage_names(unit, "dim B=2, S=3, D=4\n"
                                          "in X: f32[B,S,D]  in G, H: f32[D]\n"
                                          "Y = X + gelu(layer_norm(X, G, H, eps=1e-6))\n"
                                          "out Y\n"),
                        "Y.layer_norm.U Y.layer_norm.V Y.layer_norm Y");
    assert_string_equal(stage_names(unit, "op twice\nin A[N]\nT[i] = 2*A[i]\nB[i] = T[i]+1\nout B\n"
                                          "op t\ndim N=4\nin X: f32[N]\n"
                                          "Y = twice(X) + twice(X*3.0)\nout Y\n"),
                        "Y.twice.T Y.twice Y.twice.2.A Y.twice.2.T Y.twice.2 Y");
    assert_string_equal(stage_names(unit,
                                    "op both\nin A[N]\nT[i] = 2*A[i]\nP[i] = T[i]+1\n"
                                    "Q[i] = T[i]+2\nout P, Q\n"
                                    "op t\ndim N=4\nin X: f32[N]\nY, Z = both(X)\nout Z, Y\n"),
                        "Y.T Y Z");
}

static void
one_reduction_stays_in_a_stage(void **state)
{
    struct unit *unit = *state;
    const char *head = "dim R=3, N=4\nin X: f32[R,N]  in W: f32[N,N]\n";
    assert_string_equal(
        expanded(unit,
                 arena_printf(unit->arena, "%sY[r,j] = X[r,j] / sum[k](X[r,k])\nout Y\n", head)),
        "Y.1[r:R]: f32 = sum[k:N](X[r,k])\nY[r:R,j:N]: f32 = X[r,j] / Y.1[r]\n");
    assert_string_equal(
        stage_names(unit, arena_printf(unit->arena,
                                       "%sY[r,j] = sum[k](X[r,k]*W[k,j]) + max[q](X[r,q])\nout Y\n",
                                       head)),
        "Y.1 Y");
    assert_string_equal(
        expanded(unit, arena_printf(unit->arena, "%sY[] = sum[r](max[j](X[r,j]))\nout Y\n", head)),
        "Y.1[r:R]: f32 = max[j:N](X[r,j])\nY[]: f32 = sum[r:R](Y.1[r])\n");
    /* the same reduction twice is one stage, under whatever name */
    assert_string_equal(
        stage_names(unit, arena_printf(unit->arena,
                                       "%sY[r,j] = X[r,j]*sum[k](X[r,k]) - sum[q](X[r,q])\nout Y\n",
                                       head)),
        "Y.1 Y");
}

static void
equal_stages_are_merged_and_unread_ones_dropped(void **state)
{
    struct unit *unit = *state;
    assert_string_equal(stage_names(unit, "dim N=4\nin X: f32[N]\nA[i] = X[i]*2\nB[j] = X[j]*2\n"
                                          "C[i] = X[i]+1\nY[i] = A[i] - B[i]\nout Y\n"),
                        "A Y");
    assert_int_equal(diags_count(unit->diags), 1);
    assert_non_null(strstr(unit_message(unit, 0), "C is never read"));
    /* an output keeps its name */
    assert_string_equal(stage_names(unit, "dim N=4\nin X: f32[N]\nA[i] = X[i]*2\nY[i] = X[i]*2\n"
                                          "Z[i] = A[i]+1\nout Y, Z\n"),
                        "Y Z");
    /* scans and rec blocks too */
    assert_string_equal(stage_names(unit, "dim N=4\nin X: f32[N]\nA[t] = A[t-1 | 0] + X[t]\n"
                                          "B[u] = B[u-1 | 0] + X[u]\nY[i] = A[i]*B[i]\nout Y\n"),
                        "A Y");
    assert_string_equal(hash_of(unit, "dim N=4\nin X: f32[N]\nP[i] = X[i]+1\nQ[i] = X[i]+1\n"
                                      "out P, Q\n"),
                        hash_of(unit, "dim N=4\nin X: f32[N]\nQ[i] = X[i]+1\nP[i] = X[i]+1\n"
                                      "out P, Q\n"));
}

static void
inputs_that_are_not_read_are_named(void **state)
{
    struct unit *unit = *state;
    program_of(unit, "dim N=4\nin X, Z: f32[N]\nY[i] = X[i]\nout Y\n");
    assert_non_null(strstr(unit_message(unit, 0), "input Z is never read"));
}

/* ---- names do not matter ---- */

static const char softmax[] = "dim R=5, N=7\nin X: f32[R,N]\nM[r] = max[j](X[r,j])\n"
                              "E[r,j] = exp(X[r,j]-M[r])\nY[r,j] = E[r,j]/sum[k](E[r,k])\nout Y\n";

static void
the_hash_names_what_is_computed(void **state)
{
    struct unit *unit = *state;
    const char *hash = hash_of(unit, softmax);
    static const char *const same[] = {
        "op other\ndim Rows=9, C=2\nin Data: f32[Rows,C]\nTop[a] = max[b](Data[a,b])\n"
        "P[a,b] = exp(Data[a,b]-Top[a])\nOut[a,b] = P[a,b]/sum[z](P[a,z])\nout Out\n",
        "dim R=5, N=7\nin X: f32[R,N] from -1 to 1\nY = softmax(X)\nout Y\ncase big R=50\n",
        "dim N=7, R=5\nin X: f32[R,N]\nM[r] = max[j](X[r,j])\nE[r,j] = exp(X[r,j+1-1]-M[r])\n"
        "S[r] = sum[k](E[r,k])\nY[r,j] = E[r,j]/S[r]\nout Y\n",
    };
    static const char *const different[] = {
        "dim R=5, N=7\nin X: f64[R,N]\nY = softmax(X)\nout Y\n",
        "dim R=5, N=7\nin X: f32[N,R]\nY[r:R,j:N] = exp(X[j,r]) / sum[k](exp(X[k,r]))\nout Y\n",
        "dim R=5, N=7\nin X: f32[R,N]\nY = softmax(X)\nZ = Y*1.0\nout Z\n",
        "dim R=5, N=7\nin X: f32[R,N]\nM[r] = min[j](X[r,j])\nE[r,j] = exp(X[r,j]-M[r])\n"
        "Y[r,j] = E[r,j]/sum[k](E[r,k])\nout Y\n",
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        assert_string_equal(hash, hash_of(unit, same[i]));
    for (size_t i = 0; i < sizeof different / sizeof *different; i++)
        assert_string_not_equal(hash, hash_of(unit, different[i]));
}

static void
the_canonical_text(void **state)
{
    struct unit *unit = *state;
    struct buf buf = buf_in(unit->arena);
    lang_canonical(&buf, program_of(unit, "dim N=3, M=4\nin X: f32[M,N]\n"
                                          "Y[t,j:N] = Y[t-1,j | 0] + sum[k](X[t,k]*2.0)\nout Y\n"));
    assert_string_equal(buf.data, "op task\n"
                                  "dim D1=1, D2=1\n"
                                  "in X1: f32[D1,D2]\n"
                                  "T1[k1:D1]: f32 = sum[k2:D2](X1[k1,k2]*2.0)\n"
                                  "rec t:D1 {\n"
                                  "Y1[t:D1,k2:D2]: f32 = Y1[t-1,k2 | 0] + T1[t]\n"
                                  "}\n"
                                  "out Y1\n");
}

/* ---- house style ---- */

static void
format_sets_blanks_and_keeps_comments(void **state)
{
    struct unit *unit = *state;
    static const char text[] =
        "# a task\n\n\n\ndim   N = 4 ,M=5   # sizes\n"
        "in X:f32[ N , M ] from -1 to 1  in G : f32[]\n"
        "rec t : N{\nY[t,j:M]=X[t,j]+Y[ t-1,j|0 ]*2\n}\n"
        "Z[i,j] = if( i<j&&i>=0 ,\nY[i,j],-1.0 )\nout Y,Z;case c N = 2  check\n";
    struct buf buf = buf_in(unit->arena);
    assert_int_equal(lang_format(&buf, "t.op", text, strlen(text), unit->diags), STATUS_OK);
    assert_string_equal(buf.data, "# a task\n\ndim N=4, M=5       # sizes\n"
                                  "in X: f32[N,M] from -1 to 1  in G: f32[]\n"
                                  "rec t:N {\n    Y[t,j:M] = X[t,j] + Y[t-1,j | 0]*2\n}\n"
                                  "Z[i,j] = if(i < j && i >= 0,\n    Y[i,j], -1.0)\n"
                                  "out Y, Z;  case c N=2 check\n");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(stages_of_calls_are_called_after_their_result),
        UNIT_TEST(one_reduction_stays_in_a_stage),
        UNIT_TEST(equal_stages_are_merged_and_unread_ones_dropped),
        UNIT_TEST(inputs_that_are_not_read_are_named),
        UNIT_TEST(the_hash_names_what_is_computed),
        UNIT_TEST(the_canonical_text),
        UNIT_TEST(format_sets_blanks_and_keeps_comments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
