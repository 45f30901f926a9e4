/* Mistakes: each is found where it stands and the message says what to write instead. */
#include "unit.h"

#include "lang/lang.h"

#include <stdlib.h>

struct mistake {
    const char *text;
    unsigned line, column;
    const char *says; /* a part of the message */
};

/* Every case of the task is built; the first message in order of position counts. */
static void
report(struct unit *unit, const char *text)
{
    struct lang *lang = lang_parse(unit->arena, "t.op", text, strlen(text), unit->diags);
    for (size_t i = 0; lang != NULL && i < lang_case_count(lang); i++)
        if (lang_program(lang, i, NULL, 0, unit->diags) == NULL)
            return;
}

static const struct diag *
first_error(const struct unit *unit)
{
    for (size_t i = 0; i < diags_count(unit->diags); i++)
        if (diags_get(unit->diags, i)->level == DIAG_ERROR)
            return diags_get(unit->diags, i);
    return NULL;
}

static void
check_all(const struct mistake *mistakes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct mistake *m = &mistakes[i];
        void *state;
        unit_setup(&state);
        struct unit *unit = state;
        report(unit, m->text);
        const struct diag *diag = first_error(unit);
        if (diag == NULL)
            fail_msg("accepted:\n%s", m->text);
        if (diag->place.line != m->line || diag->place.column != m->column ||
            strstr(diag->message, m->says) == NULL)
            fail_msg("%s\ngives %u:%u: %s\nnot   %u:%u: ... %s", m->text, diag->place.line,
                     diag->place.column, diag->message, m->line, m->column, m->says);
        if (strchr(diag->message, ';') == NULL && strchr(diag->message, '?') == NULL &&
            strchr(diag->message, ',') == NULL)
            fail_msg("does not say what to do: %s", diag->message);
        unit_teardown(&state);
    }
}

#define CHECK(table) check_all(table, sizeof table / sizeof *table)
#define HEAD "dim N=4, M=5\nin X: f32[N,M]\n"

static void
names(void **state)
{
    static const struct mistake table[] = {
        {"dim N=4\nin Xin: f32[N]\nY[i] = Xim[i]\nout Y\n", 3, 8,
         "Xim is unknown; did you mean Xin?"},
        {HEAD "Y[i] = sum[j](Weights[i,j])\nout Y\n", 3, 15, "Weights is unknown; declare"},
        {HEAD "Y[i] = sum[j](X[i,q])\nout Y\n", 3, 19, "q is unknown; declare"},
        {HEAD "Y[i,j] = Z[i,j]\nZ[i,j] = X[i,j]\nout Y\n", 3, 10, "used before it is defined"},
        {HEAD "Y[i,j] = X[i,j]\nout Q\n", 4, 5, "output Q is not a tensor"},
        {HEAD "Y[i,j] = X[i,j]\nY[i,j] = X[i,j]\nout Y\n", 4, 1, "Y is defined already"},
        {HEAD "Y[N,j] = X[N,j]\nout Y\n", 3, 3, "index N has the name of a dim"},
        {HEAD "Y[i,i] = X[i,i]\nout Y\n", 3, 5, "stands twice"},
        {HEAD "Y[i] = sum[j](sum[j](X[i,j]))\nout Y\n", 3, 19, "hides another j"},
        {HEAD "Y[i,j] = frob(X[i,j])\nout Y\n", 3, 10, "no function, def or operator frob"},
        {HEAD "Y = frob(X)\nout Y\n", 3, 5, "no operator frob"},
        {HEAD "Y[i,j] = softmax(X)\nout Y\n", 3, 10, "softmax is an operator"},
        {HEAD "if[i,j] = X[i,j]\nout Y\n", 3, 1, "word of the language"},
        {"dim n=4\nin X: f32[n]\nY[i] = X[i]\nout Y\n", 1, 5, "capital letter"},
        {HEAD "out X\n", 3, 5, "inputs cannot be outputs"},
        {HEAD "Y[i,j] = X[i,j]\n", 1, 1, "has no output; write out"},
    };
    (void)state;
    CHECK(table);
}

static void
shapes(void **state)
{
    static const struct mistake table[] = {
        {HEAD "Y[i] = sum[j](X[i])\nout Y\n", 3, 15, "X has 2 dimensions, here are 1 subscript"},
        {HEAD "Y[i] = X[i,0]+X\nout Y\n", 3, 15, "write X[...] with 2 subscripts"},
        {HEAD "Y[i,j:M] = X[i,j+1]\nout Y\n", 3, 17, "runs from 1 to 5, the dimension from 0 to 4"},
        {HEAD "Y[i:9,j] = X[i,j]\nout Y\n", 3, 14, "runs from 0 to 8"},
        {HEAD "Y[i,j:M] = X[i,j*2-1]\nout Y\n", 3, 19, "runs from -1 to 7"},
        {HEAD "Y[i] = sum[j](X[i,j]*X[j,i])\nout Y\n", 3, 12,
         "index j has two extents, M=5 and N=4; "
         "write j:M"},
        {HEAD "Y[i,j] = X[i,j]*k\nout Y\n", 3, 17, "k is unknown"},
        {HEAD "Y[i,k] = X[i,2*k]\nout Y\n", 3, 5, "cannot infer the range of k"},
        {HEAD "Y[i] = sum[k](X[i,0])\nout Y\n", 3, 12, "cannot infer the range of k"},
        {HEAD "in Z: f32[N]\nY = X + Z\nout Y\n", 4, 9, "Z has shape"},
        {HEAD "in Z: f32[M,N]\nY = X + Z\nout Y\n", 4, 1, "different shapes"},
        {"dim N=0\nin X: f32[N]\nY[i] = X[i]\nout Y\n", 1, 5, "at least 1"},
        {"dim N=4\nin X: f32[N]\nY[i:N-4] = X[i]\nout Y\n", 3, 1, "sizes are at least 1"},
        {"dim N=9223372036854775807\nin X: f32[N]\nY[i:N,j:N] = X[i]*X[j]\nout Y\n", 3, 1,
         "more than 2^63-1 elements"},
        {"dim N=9223372036854775807\nconst K=N*N\nin X: f32[N]\nY[i] = X[i]\nout Y\n", 2, 10,
         "overflows 63 bits"},
        {"dim N=99999999999999999999\nin X: f32[N]\nY[i] = X[i]\nout Y\n", 1, 7,
         "does not fit 63 bits"},
        {"in X: f32[...]\nY[i] = X[i]\nout Y\n", 1, 11, "sizes in the place of ..."},
        {"dim N=3\nin X[N]\nY[i] = X[i]\nout Y\n", 2, 4, "no data type"},
        {HEAD "Y[i,j,k:2,l:2,m:2,n:2,o:2,p:2,q:2] = X[i,j]\nout Y\n", 3, 31, "more than 8"},
        {"dim N=4\nin X: f32[N]\nY[i] = X[i]\nout Y\ncase big N=2\nrequire N >= 3\n", 6, 1,
         "does not hold"},
        {"dim N=4\nin X: f32[N]\nY[i] = X[i]\nout Y\ncase big Q=2\n", 5, 10, "no dim of this task"},
        {HEAD "Y[i] = argmax[j,k:2](X[i,j])\nout Y\n", 3, 8, "takes one index"},
    };
    (void)state;
    CHECK(table);
}

static void
types(void **state)
{
    static const struct mistake table[] = {
        {HEAD "Y[i,j] = X[i,j]*(1/N)\nout Y\n", 3, 19, "write 1.0/N"},
        {HEAD "Y[i,j] = X[i,j] + i/2\nout Y\n", 3, 20, "quotient of two integers"},
        {HEAD "Y[i:N]: f32 = i/2\nout Y\n", 3, 16, "quotient of two integers"},
        {HEAD "def half(x) = x/2\nY[i,j] = X[i,j]*half(i)\nout Y\n", 4, 17,
         "quotient of two integers"},
        {HEAD "param a = 1/3\nY[i,j] = X[i,j]*a\nout Y\n", 3, 12, "write 1.0/N"},
        {HEAD "Y[i,j] = X[i,j] % 2\nout Y\n", 3, 17, "is for integers"},
        {HEAD "Y[i,j]: i32 = X[i,j]\nout Y\n", 3, 1, "write i32(...)"},
        {HEAD "Y[i,j] = if(X[i,j], 1.0, 2.0)\nout Y\n", 3, 13, "write x != 0"},
        {HEAD "Y[i,j] = X[i,j] && 1\nout Y\n", 3, 10, "write x != 0"},
        {HEAD "Y[i] = X[i,X[i,0]]\nout Y\n", 3, 12, "a subscript is an integer"},
        {HEAD "Y[i,j] = X[i*i%N,j]\nout Y\n", 3, 15, "a subscript holds"},
        {HEAD "Y[i,j] = X[i,j/0]\nout Y\n", 3, 15, "division by zero"},
        {HEAD "const a = 0.5\nY[i,j] = X[i,j]*a\nout Y\n", 3, 7, "write param a"},
        {HEAD "Y[i,j] = exp(X[i,j], 2)\nout Y\n", 3, 10, "exp takes 1 argument, here are 2"},
        {HEAD "def f(x) = f(x)\nY[i,j] = f(X[i,j])\nout Y\n", 3, 12,
         "no function, def or operator"},
    };
    (void)state;
    CHECK(table);
}

static void
order(void **state)
{
    static const struct mistake table[] = {
        {HEAD "Y[i,t:M] = Y[i,t+1|0] + X[i,t]\nout Y\n", 3, 1, "A reverse scan"},
        {HEAD "Y[i,t:M] = Y[i,t|0] + X[i,t]\nout Y\n", 3, 1, "reads itself"},
        {HEAD "Y[i,t:M] = Y[i,t-1] + X[i,t]\nout Y\n", 3, 17, "runs from -1 to 3"},
        {HEAD "rec t:N {\n  A[t,j:M] = B[t,j] + X[t,j]\n  B[t,j:M] = A[t,j]\n}\nout B\n", 4, 14,
         "not computed yet"},
        {HEAD "rec t:N {\n  A[j:M] = X[0,j]\n}\nout A\n", 4, 3, "lacks its index"},
        {HEAD "rec t:N {\n  A = softmax(X)\n}\nout A\n", 4, 3, "only stages"},
        {HEAD "A[i,j] = B[i,j]\nB[i,j] = A[i,j]\nout A\n", 3, 10,
         "put tensors that need each other "
         "into a rec"},
    };
    (void)state;
    CHECK(table);
}

static void
calls(void **state)
{
    static const struct mistake table[] = {
        {HEAD "Y = linear(X)\nout Y\n", 3, 5, "linear takes"},
        {HEAD "in W: f32[N,N]\nY = linear(X, W)\nout Y\n", 4, 5,
         "argument 2 of linear (W: f32[N=4,N=4]): its K is N=4, but K was M=5"},
        {HEAD "in G: f32[N]\nY = layer_norm(X, G, G)\nout Y\n", 4, 5, "argument 2 of layer_norm"},
        {HEAD "in W: f32[3,N,1,1]\nY = conv2d(X, W)\nout Y\n", 4, 5,
         "has 2 dimensions; conv2d wants 4"},
        {HEAD "Y = softmax(X, axis=1)\nout Y\n", 3, 16, "softmax has no constant axis"},
        {HEAD "Y, Z = softmax(X)\nout Y\n", 3, 8, "softmax has 1 result"},
        {HEAD "Y: f64 = softmax(X)\nout Y\n", 3, 4, "leave the type out"},
        {"op f\nin A: f64[N]\nB[i] = A[i]\nout B\nop g\n" HEAD "Z[i] = X[i,0]\nY = f(Z)\nout Y\n",
         9, 5, "f wants f64"},
        {"op f\nin A[N]\nrequire N % 2 == 1\nB[i] = A[i]\nout B\nop g\n" HEAD
         "Z[i] = X[i,0]\nY = f(Z)\nout Y\n",
         3, 1, "does not hold; give it other shapes"},
        {"use \"nowhere.op\"\n" HEAD "Y = X\nout Y\n", 1, 1, "nowhere.op: no such file"},
    };
    (void)state;
    CHECK(table);
}

static void
syntax(void **state)
{
    static const struct mistake table[] = {
        {HEAD "Y[i,j] = X[i,j] +\nout Y\n", 4, 1, "expected a value before `out`"},
        {HEAD "Y[i,j] = (X[i,j]\nout Y\n", 4, 1, "expected `)`, found `out`"},
        {HEAD "Y[i,j] = X[i,j]) \nout Y\n", 3, 16, "the statement was complete"},
        {HEAD "Y[i,j] = 1 < 2 < 3\nout Y\n", 3, 16, "comparisons do not chain"},
        {HEAD "Y[i,j] X[i,j]\nout Y\n", 3, 8, "expected `=`"},
        {HEAD "Y[i,j] = X[i,j] $ 2\nout Y\n", 3, 17, "'$' means nothing here"},
        {HEAD "Y[i,j] = 2x\nout Y\n", 3, 10, "a letter follows this number"},
        {HEAD "Y[i,j] = sum(X[i,j])\nout Y\n", 3, 10, "sum takes"},
        {"in X: f99[4]\nout X\n", 1, 7, "expected a data type"},
        {"use \"a\nout X\n", 1, 5, "this string has no end"},
        {"", 1, 1, "no operator in this file"},
        {"# nothing\n", 1, 1, "no operator in this file"},
        {HEAD "Y[i,j] = X[i,j]\n}\nout Y\n", 4, 1, "closes nothing"},
        {HEAD "rec t:N {\n A[t] = X[t,0]\nout A\n", 5, 1, "close the block with }"},
    };
    (void)state;
    CHECK(table);
}

static void
several_in_one_go(void **state)
{
    struct unit *unit = *state;
    report(unit, HEAD "A[i] = sum[j](X[i,j]\nB[i] = X[i,,0]\nout A, B\n");
    assert_int_equal(diags_errors(unit->diags), 2);
    unit_teardown(state);
    unit_setup(state);
    unit = *state;
    report(unit, HEAD "A[i,j:M] = X[i,j+1]\nB[i,j] = Q[i]\nC[i] = X[i]\nout A, B, C\n");
    assert_int_equal(diags_errors(unit->diags), 3);
    assert_non_null(strstr(unit_printed(unit, false), "t.op:3:17: subscript 2 of X"));
    assert_non_null(strstr(unit_printed(unit, false), "    A[i,j:M] = X[i,j+1]\n"
                                                      "                    ^\n"));
}

/* ---- hostile files: an answer, soon, in bounded memory ---- */

static void
answered(const char *text, size_t length, size_t memory)
{
    void *state;
    unit_setup(&state);
    struct unit *unit = state;
    struct lang *lang = lang_parse(unit->arena, "t.op", text, length, unit->diags);
    struct program *program = lang ? lang_program(lang, 0, NULL, 0, unit->diags) : NULL;
    if (program == NULL)
        assert_true(diags_errors(unit->diags) > 0);
    assert_true(arena_used(unit->arena) < memory);
    unit_teardown(&state);
}

static char *
repeated(const char *before, const char *part, size_t times, const char *after)
{
    size_t length = strlen(part);
    char *text = malloc(strlen(before) + length * times + strlen(after) + 1);
    char *at = stpcpy(text, before);
    for (size_t i = 0; i < times; i++)
        at = stpcpy(at, part);
    strcpy(at, after);
    return text;
}

static void
refused_with(char *text, const char *says)
{
    void *state;
    unit_setup(&state);
    struct unit *unit = state;
    report(unit, text);
    assert_non_null(first_error(unit));
    assert_non_null(strstr(first_error(unit)->message, says));
    assert_true(arena_used(unit->arena) < 256u << 20);
    unit_teardown(&state);
    free(text);
}

static void
deep_and_long_files(void **state)
{
    (void)state;
    refused_with(repeated(HEAD "Y[i,j] = ", "(", 100000, "X[i,j]\nout Y\n"),
                 "nested more than 256");
    refused_with(repeated(HEAD "Y[i,j] = ", "-", 100000, "X[i,j]\nout Y\n"),
                 "nested more than 256");
    refused_with(repeated(HEAD "Y[i,j] = ", "[", 100000, "\nout Y\n"), "expected a value");
    refused_with(repeated(HEAD "Y[i,j] = X[i,j]", "+1.5", 100000, "\nout Y\n"),
                 "operations in one chain");
    refused_with(repeated(HEAD "Y[i,j] = X", "[i,j", 50000, "\nout Y\n"), "");
    refused_with(repeated("", "}", 500000, ""), "closes nothing");
    refused_with(repeated("rec t:4 {", "{", 100000, ""), "");
    refused_with(repeated(HEAD, "x", 100, "[i] = 1\nout Y\n"), "at most 63");
    char *large = repeated("", "# ten bytes\n", 1000000, "out Y\n");
    refused_with(large, "at most 1 MB");
}

/* f(f(f(...))) with f(x) = x*x is small as a graph and endless as a text. */
static void
defs_that_explode(void **state)
{
    (void)state;
    refused_with(
        repeated(HEAD "def f(x) = x*x\nY[i,j] = ", "f(", 100,
                 "X[i,j]))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))"
                 "))))))))))))))))))))))))))))))))\nout Y\n"),
        "more than a million operations");
}

static void
many_stages(void **state)
{
    (void)state;
    char *text = malloc(1 << 20), *at = stpcpy(text, HEAD);
    for (int i = 0; i < 10001; i++)
        at += sprintf(at, "T%d[i,j] = X[i,j]+%d\n", i, i);
    strcpy(at, "out T1\n");
    refused_with(text, "more than 10000 stages");
}

static void
random_bytes(void **state)
{
    (void)state;
    uint64_t x = 88172645463325252ull;
    char text[4096];
    for (int round = 0; round < 300; round++) {
        for (size_t i = 0; i < sizeof text; i++) {
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            text[i] = round % 2 ? (char)x : (" XYij[](){}+-*/=,:|?.\n019dimoutnsum"[x % 36]);
        }
        answered(text, sizeof text, 64u << 20);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(shapes),
        cmocka_unit_test(types),
        cmocka_unit_test(order),
        cmocka_unit_test(calls),
        cmocka_unit_test(syntax),
        UNIT_TEST(several_in_one_go),
        cmocka_unit_test(deep_and_long_files),
        cmocka_unit_test(defs_that_explode),
        cmocka_unit_test(many_stages),
        cmocka_unit_test(random_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
