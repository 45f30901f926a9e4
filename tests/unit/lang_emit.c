/* The emitted C against the interpreter: values up to reassociation, bounds to a stated factor, the
 * same decisions; and honest kernels within the gates. */
#include "unit.h"

#include "base/proc.h"
#include "lang/emit_int.h"
#include "task/task.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#define FACTOR 1.01 /* between the bounds of the two; doc/tolerance.md */

static const enum distribution drawn[] = {DRAW_NORMAL, DRAW_INTEGERS, DRAW_DENORMAL, DRAW_INFINITE,
                                          DRAW_MIXED};
#define DRAWN (sizeof drawn / sizeof *drawn)

static struct program *
parse(struct unit *unit, const char *text)
{
    struct lang *lang = lang_parse(unit->arena, "test.op", text, strlen(text), unit->diags);
    struct program *program = lang ? lang_program(lang, 0, NULL, 0, unit->diags) : NULL;

    if (!program)
        fail_msg("%s", unit_printed(unit, false));
    return program;
}

static const char *
emitted(struct unit *unit, const struct program *program, enum emit form)
{
    struct buf text = buf_in(unit->arena);
    struct emit_options options = {.form = form, .seed = 5};

    lang_emit(&text, program, &options);
    return text.data;
}

/* ---- comparing ---- */

static double
at(const double *sizes, int64_t i)
{
    return sizes ? sizes[i] : 0;
}

/* Terms that underflow inside of a sum count for less in tiles than in single steps. */
static bool
agree(double a, double b, double slack)
{
    double low = fmin(a, b) + slack, high = fmax(a, b) + slack;

    return a == b || (isnan(a) && isnan(b)) || high <= FACTOR * low;
}

static void
compare_element(const struct lang_result *a, const struct lang_result *b, int64_t i,
                const char *where)
{
    const struct dtype_info *type = &dtype_info[a->tensor->dtype];
    double slack = 500 * type->smallest, ga = at(a->g, i), v = a->v[i], w = b->v[i];
    double room = 1e-12 * fabs(v) + slack + (isnan(ga) ? 0 : 1e-5 * ga);
    bool same = v == w || (isnan(v) && isnan(w)) || fabs(v - w) <= room;

    if (isnan(ga) && isnan(at(b->g, i)))
        return;
    if (!same || !agree(ga, at(b->g, i), slack) || !agree(at(a->c, i), at(b->c, i), slack))
        fail_msg("%s: %s element %lld: %.17g g %g c %g instead of %.17g g %g c %g", where,
                 a->tensor->name, (long long)i, w, at(b->g, i), at(b->c, i), v, ga, at(a->c, i));
}

static void
compare_results(const struct lang_result *a, const struct lang_result *b, const char *where)
{
    for (int64_t i = 0; i < a->tensor->count; i++)
        compare_element(a, b, i, where);
    assert_int_equal(a->terms, b->terms);
    for (int64_t i = 0; i < a->tensor->count * a->terms; i++) {
        double v = a->term_v[i], w = b->term_v[i];
        assert_true((isnan(v) && isnan(w)) || v == w || fabs(v - w) <= 1e-12 * fabs(v));
        if (!isnan(v))
            assert_true(agree(at(a->term_g, i), at(b->term_g, i), 1e-36));
    }
}

/* ---- the kernels ---- */

/* Builds and loads a text with the test's own hands. */
static void *
built(struct unit *unit, const char *text, const char *name)
{
    const char *folder = getenv("TMPDIR");
    const char *base =
        arena_printf(unit->arena, "%s/%s-%d", folder ? folder : "/tmp", name, getpid());
    const char *source = arena_printf(unit->arena, "%s.c", base);
    const char *object = arena_printf(unit->arena, "%s.so", base);
    const char *argv[] = {"gcc",   "-O2",     "-Wall", "-Werror", "-fopenmp", "-ffp-contract=off",
                          "-fPIC", "-shared", "-o",    object,    source,     "-lm",
                          NULL};
    struct proc_result result;
    FILE *file = fopen(source, "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    assert_int_equal(proc_run(unit->arena, &(struct proc_request){.argv = argv}, &result), 0);
    if (result.exit_code)
        fail_msg("%s", result.err);
    assert_non_null(dlopen("libgomp.so.1", RTLD_NOW | RTLD_NODELETE));
    void *handle = dlopen(object, RTLD_NOW);
    assert_non_null(handle);
    remove(source);
    remove(object);
    return handle;
}

static void
compare_outputs(const struct program *program, const char *form, void **outputs,
                const struct lang_result *results, const struct tolerance *tolerances)
{
    for (size_t o = 0; o < program->output_count; o++) {
        struct comparison comparison;
        task_compare(&results[o], &tolerances[o], outputs[o], &comparison);
        if (comparison.wrong)
            fail_msg("%s: %s element %lld is wrong, %g times its gate", form,
                     program->outputs[o]->name, (long long)comparison.first_wrong,
                     comparison.worst);
    }
}

static void **
make_outputs(struct unit *unit, const struct program *program)
{
    void **outputs = arena_array(unit->arena, program->output_count, sizeof *outputs);

    for (size_t o = 0; o < program->output_count; o++)
        outputs[o] = arena_array(unit->arena, (size_t)program->outputs[o]->count, 8);
    return outputs;
}

typedef void
served(void *const *in, void *const *out);

/* The general kernel that was emitted from one program, at the sizes of another. */
static void
run_general(struct unit *unit, const struct program *from, const struct program *program,
            void **inputs, const struct lang_result *results, const struct tolerance *tolerances)
{
    struct buf text = buf_in(unit->arena);
    void **outputs = make_outputs(unit, program);

    buf_puts(&text, emitted(unit, from, EMIT_GENERAL));
    buf_puts(&text, "void served(void *const *in, void *const *out)\n{\n    general(");
    for (size_t d = 0; d < program->dim_count; d++)
        buf_printf(&text, "%lld, ", (long long)program->dims[d].size);
    for (size_t i = 0; i < program->input_count; i++)
        buf_printf(&text, "in[%zu], ", i);
    for (size_t o = 0; o < program->output_count; o++)
        buf_printf(&text, "%sout[%zu]", o ? ", " : "", o);
    buf_puts(&text, ");\n}\n");
    void *handle = built(unit, text.data, "general");
    served *f = (served *)(uintptr_t)dlsym(handle, "served");
    assert_non_null(f);
    f(inputs, outputs);
    dlclose(handle);
    compare_outputs(program, "general", outputs, results, tolerances);
}

static void
run_kernel(struct unit *unit, const struct program *program, enum emit form, void **inputs,
           const struct lang_result *results, const struct tolerance *tolerances)
{
    struct emit_options options = {.form = form, .seed = 5};
    struct reference *reference;
    void **outputs = make_outputs(unit, program);

    if (reference_open(unit->arena, program, &options, &reference, unit->diags) != STATUS_OK)
        fail_msg("%s", unit_printed(unit, false));
    reference_run_kernel(reference, (const void *const *)inputs, outputs);
    reference_close(reference);
    compare_outputs(program, arena_printf(unit->arena, "form %d", (int)form), outputs, results,
                    tolerances);
}

static struct lang_result *
interpreted(struct unit *unit, const struct program *program, void **inputs)
{
    struct lang_result *results = arena_array(unit->arena, program->output_count, sizeof *results);

    assert_int_equal(lang_interpret(unit->arena, program, (const void *const *)inputs, results),
                     STATUS_OK);
    return results;
}

/* The reference on every distribution; the kernels, where asked for, on the first. */
static void
check(struct unit *unit, const struct program *program, bool kernels)
{
    size_t count = program->output_count;
    struct lang_result *b = arena_array(unit->arena, count, sizeof *b);
    struct tolerance *tolerances = arena_array(unit->arena, count, sizeof *tolerances);

    for (size_t d = 0; d < DRAWN; d++) {
        void **inputs = task_draw_all(unit->arena, program, drawn[d], 11);
        struct lang_result *a = interpreted(unit, program, inputs);
        if (task_evaluate(unit->arena, program, (const void *const *)inputs, b, unit->diags))
            fail_msg("%s", unit_printed(unit, false));
        for (size_t o = 0; o < count; o++) {
            compare_results(&a[o], &b[o], distribution_name[drawn[d]]);
            tolerances[o] = (struct tolerance){.k = 2, .scale = 1};
        }
        for (enum emit form = EMIT_NAIVE; form <= EMIT_RANDOM && kernels && d == 0; form++)
            run_kernel(unit, program, form, inputs, a, tolerances);
        if (kernels && d == 0)
            run_general(unit, program, program, inputs, a, tolerances);
    }
}

/* ---- programs ---- */

static void
operations_agree(void **state)
{
    struct unit *unit = *state;

    check(unit,
          parse(unit,
                "dim M=5, N=13\n"
                "in A, B: f32[M,N]; in P: f32[M,N] from 0.5 to 3\n"
                "in I: i32[M,N]; in J: i8[M,N]; in U: u8[M,N]; in F: bool[M,N]\n"
                "Y1[m,n] = A[m,n]+B[m,n]*2.5 - 0.1\n"
                "Y2[m,n] = A[m,n]/B[m,n]\n"
                "Y3[m,n] = sqrt(P[m,n]) + rsqrt(P[m,n]) + log(P[m,n]) + log2(P[m,n]) + "
                "log1p(P[m,n])\n"
                "Y4[m,n] = exp(A[m,n]) + exp2(B[m,n]) + expm1(A[m,n])\n"
                "Y5[m,n] = sin(A[m,n])+cos(B[m,n])+tan(P[m,n])+atan(A[m,n]+B[m,n])\n"
                "Y6[m,n] = sinh(A[m,n]+0.1)+cosh(B[m,n]*0.3)+tanh(A[m,n]*B[m,n])+erf(B[m,n]+1.0)\n"
                "Y7[m,n] = sigmoid(A[m,n]*0.7)+softplus(B[m,n]*3.3)+pow(P[m,n]+0.3,A[m,n])\n"
                "Y8[m,n] = floor(A[m,n]*3.3)+ceil(B[m,n]*1.7)+round(A[m,n]*2.2)+trunc(B[m,n]*1.1)\n"
                "Y9[m,n] = if(A[m,n]*1.1 < B[m,n], A[m,n]*3.0, B[m,n]+1.0)\n"
                "Y10[m,n] = min(A[m,n]*1.3, B[m,n]) + max(A[m,n]+0.3, B[m,n]) + abs(A[m,n]-1.1)\n"
                "Y11[m,n] = A[m,n] > B[m,n]*1.0 && F[m,n] || !(I[m,n] == 3)\n"
                "Y12[m,n] = I[m,n]*J[m,n] + U[m,n]/7 + (I[m,n] % 5) - i32(A[m,n]*5.1)\n"
                "Y13[m,n] = abs(I[m,n]) + sign(J[m,n]) + min(I[m,n], U[m,n]) + max(I[m,n], 3)\n"
                "Y14[m,n] = pow(A[m,n],3) + sign(A[m,n]-B[m,n]*1.1) + clamp(A[m,n], -1, 1)\n"
                "Y15[m,n] = f32(I[m,n]*16777) * 0.3 + 0.3*n + 0.1*m*A[m,n]\n"
                "out Y1,Y2,Y3,Y4,Y5,Y6,Y7,Y8,Y9,Y10,Y11,Y12,Y13,Y14,Y15\n"),
          true);
}

static void
dtypes_agree(void **state)
{
    struct unit *unit = *state;

    check(unit,
          parse(unit, "dim M=9, N=21, K=18\n"
                      "in H: f16[M,K]; in W: bf16[K,N]; in D: f64[M,K]; in A: f32[K,N]\n"
                      "in I: i8[M,K]; in J: u8[K,N]\n"
                      "Y1[m,n]: f16 = sum[k](H[m,k]*W[k,n])\n"
                      "Y2[m,n]: bf16 = sum[k](H[m,k]*A[k,n])*0.1\n"
                      "Y3[m,n] = sum[k](D[m,k]*A[k,n])\n"
                      "Y4[m,n] = sum[k](I[m,k]*J[k,n])\n"
                      "Y5[m,k]: i8 = i8(clamp(round(H[m,k]*13.7), -128, 127))\n"
                      "Y6[m,k] = f32(D[m,k]) + f32(f16(D[m,k])) + f64(bf16(H[m,k]))\n"
                      "Y7[m,k]: u8 = I[m,k]\n"
                      "Y8[m,k] = f64(0.3*k) + D[m,k]*(0.3*k)\n"
                      "out Y1,Y2,Y3,Y4,Y5,Y6,Y7,Y8\n"),
          true);
}

static void
reductions_agree(void **state)
{
    struct unit *unit = *state;

    check(unit,
          parse(unit, "dim M=7, N=19\n"
                      "in A: f32[M,N]; in I: i32[M,N]; in P: f32[M,N] from 0.8 to 1.3\n"
                      "Y1[m] = sum[n](A[m,n])\n"
                      "Y2[m] = mean[n](A[m,n]*1.5)\n"
                      "Y3[m] = prod[n](P[m,n])\n"
                      "Y4[m] = max[n](A[m,n]*1.1)\n"
                      "Y5[m] = min[n](A[m,n])\n"
                      "Y6[m] = argmax[n](A[m,n])\n"
                      "Y7[m] = argmin[n](A[m,n]*A[m,n])\n"
                      "Y8[m] = sum[n](I[m,n]*I[m,n]) + max[n](I[m,n])\n"
                      "Y9[m] = min[n ? n > 3](I[m,n])\n"
                      "Y10[m] = sum[n ? A[m,n] > 0](A[m,n])\n"
                      "Y11[m] = mean[n ? A[m,n]*1.1 > 0.3](A[m,n])\n"
                      "Y12[m] = argmax[n ? n > 4](A[m,n])\n"
                      "Y13[m] = argmax[n ? A[m,n] > 5.5](A[m,n])\n"
                      "Y14[m] = argmin[n ? A[m,n]*1.1 > 0.5](A[m,n]*1.3)\n"
                      "Y15[] = sum[m,n](A[m,n]*A[m,n])\n"
                      "Y16[m] = if(m > 3, sum[n](A[m,n]), 2.5)\n"
                      "Y17[m] = prod[n ? n < 3](I[m,n])\n"
                      "Y18[m] = max[n ? n > 100](A[m,n])\n"
                      "Y19[m] = max[n ? I[m,n] > 200](I[m,n])\n"
                      "Y20[m] = sum[n](i32(A[m,n]*7.7))\n"
                      "Y21[m] = mean[n](I[m,n])\n"
                      "Y22[m:3] = argmin[n ? n > 2](A[0,n])\n"
                      "out Y1,Y2,Y3,Y4,Y5,Y6,Y7,Y8,Y9,Y10,Y11,Y12,Y13,Y14,Y15,Y16,Y17,Y18,Y19,Y20,"
                      "Y21,Y22\n"),
          true);
}

/* Sums that are computed in tiles, ragged in rows, lanes and terms. */
static const char contractions[] = "dim M=9, N=67, K=275\n"
                                   "in A: f32[M,K]; in B: f32[K,N]; in S: f32[K]\n"
                                   "Y1[m,n] = sum[k](A[m,k]*B[k,n])\n"
                                   "Y2[m,n] = sum[k ? k <= m*20](A[m,k]*B[k,n])\n"
                                   "Y3[m,n] = mean[k ? k <= m*20 && k >= n](A[m,k]*B[k,n]) + 1.0\n"
                                   "Y4[m,n] = sum[k](abs(A[m,k]-B[k,n]))\n"
                                   "Y5[m,n] = sum[k](tanh(A[m,k])*B[k,n])\n"
                                   "Y6[m,n] = sum[k](tanh(A[m,k])*(B[k,n]*0.3)*S[k])\n"
                                   "Y7[m,n] = sum[k]((A[m,k]-B[k,n])*(A[m,k]-B[k,n]))\n"
                                   "Y8[m,n] = sum[k]((A[m,k]+B[k,n])*(sin(A[m,k])-B[k,n]))\n"
                                   "Y9[m,n] = sum[k](min(A[m,k],B[k,n]))\n"
                                   "Y10[m,n] = if(n < m, 0.1*sum[k](A[m,k]*B[k,n]), -inf)\n"
                                   "Y11[m,n] = sum[k](-(A[m,k]*B[k,n]))\n"
                                   "Y12[m,n] = sum[k](0.1*A[m,k]*B[k,n])\n"
                                   "out Y1,Y2,Y3,Y4,Y5,Y6,Y7,Y8,Y9,Y10,Y11,Y12\n";

static size_t
occurrences(const char *text, const char *word)
{
    size_t count = 0;

    for (; (text = strstr(text, word)); text++)
        count++;
    return count;
}

static void
contractions_agree(void **state)
{
    struct unit *unit = *state;
    struct program *program = parse(unit, contractions);

    assert_int_equal(occurrences(emitted(unit, program, EMIT_REFERENCE), "int64_t tile"), 12);
    check(unit, program, true);
}

/* What is added to a sum: where it stands, in a stage of its own, in chains, from both sides, and
 * inside of sums that tiles compute. */
static const char addends[] = "dim M=9, N=35, K=12\n"
                              "in A: f32[M,K]; in B: f32[K,N]; in S: f32[N]\n"
                              "Y1[m,n] = sum[k](A[m,k]*B[k,n]) + S[n]\n"
                              "Y2[m,n] = S[n] - sum[k](A[m,k]*B[k,n]) - A[m,0]\n"
                              "Y3[m,n] = Y1[m,n] + tanh(S[n])\n"
                              "Y4[m,n] = sum[k](A[m,k]*A[m,k]) + sum[k](B[k,n]*B[k,n])\n"
                              "Y5[m,n] = (sum[k](A[m,k]*B[k,n]) + S[n])*0.3 + S[n]\n"
                              "Y6[m,n] = sum[k](A[m,k]*B[k,n]) - Y4[m,n]\n"
                              "Y7[m,n] = mean[k](A[m,k]*B[k,n]) + S[n]\n"
                              "Y8[m] = sum[k](i32(A[m,k]*3.3)) + A[m,0]\n"
                              "R[m] = sum[k](A[m,k])\n"
                              "Y9[m,n] = sum[k]((R[m] + A[m,k])*B[k,n])\n"
                              "Y10[m,n] = sum[k]((R[m] - B[k,n])*A[m,k])\n"
                              "out Y1,Y2,Y3,Y4,Y5,Y6,Y7,Y8,Y9,Y10\n";

/* f64, where g is not kept squared; Y2 adds in another arithmetic than it sums in. */
static const char wide_addends[] = "dim M=9, K=41\n"
                                   "in A: f32[M,K]; in D: f64[M,K]\n"
                                   "Y1[m] = sum[k](D[m,k]) - D[m,0]\n"
                                   "Y2[m] = sum[k](A[m,k]) + D[m,0]\n"
                                   "out Y1,Y2\n";

static void
addends_of_sums_agree(void **state)
{
    struct unit *unit = *state;
    struct program *program = parse(unit, addends), *wide = parse(unit, wide_addends);
    const char *text = emitted(unit, program, EMIT_REFERENCE);

    assert_int_equal(occurrences(text, "val_add_sums("), 10);
    assert_int_equal(occurrences(text, "int64_t tile"), 6); /* not Y10: its terms add to a sum */
    assert_int_equal(occurrences(emitted(unit, wide, EMIT_REFERENCE), "val_add_sums("), 2);
    check(unit, program, true);
    check(unit, wide, true);
}

static void
convolutions_agree(void **state)
{
    struct unit *unit = *state;
    struct program *program =
        parse(unit, "dim N=2\n"
                    "in X: f32[N,4,7,8]; in F: f32[6,2,3,3]; in G: f32[4,3,3]; in E: f32[5,4,1,1]\n"
                    "Y[n,k,y:5,x:6] = sum[c,r,s](F[k,c,r,s]*X[n,k/3*2+c,y+r,x+s])\n"
                    "Z[n,k,y:7,x:8] = sum[c:2,r:3,s:3](F[k,c,r,s]*X[n,k/3*2+c,y+r-1,x+s-1|0])\n"
                    "D[n,c,y:7,x:8] = sum[r:3,s:3](G[c,r,s]*X[n,c,y+r-1,x+s-1|0])\n"
                    "P[n,k,y:7,x:8] = sum[c:4](E[k,c,0,0]*X[n,c,y,x])\n"
                    "W[k,c:4,r:3,s:3] = sum[n,y:5,x:6](Y[n,k,y,x]*X[n,c,y+r,x+s])\n"
                    "M[n,k:4,y:3,x:4] = max[r:3,s:3](X[n,k,y*2+r-1,x*2+s-1|-inf])\n"
                    "V[n,k:4,y:3,x:4] = mean[r:2,s:2](X[n,k,y*2+r,x*2+s])\n"
                    "out Y, Z, D, P, W, M, V\n");

    /* the grouped two, the pointwise and the weights' gradient */
    assert_int_equal(occurrences(emitted(unit, program, EMIT_REFERENCE), "int64_t tile"), 4);
    check(unit, program, true);
}

static void
places_agree(void **state)
{
    struct unit *unit = *state;

    check(unit,
          parse(unit, "dim M=6, N=9, K=5\n"
                      "in A: f32[M,N]; in B: f32[K,N]; in G: i32[M] from 0 to K-1\n"
                      "C1[c:M+K+2,n] = cat[c](A[c,n], B[c,n]*2.0, 0.5:2)\n"
                      "C2[c:M+K,n] = cat[c](exp(A[c,n]), sum[j](B[c,j]*A[0,j]) + B[c,n])\n"
                      "C3[m,n] = B[G[m],n]\n"
                      "K0[m] = argmax[n](A[m,n]*1.01)\n"
                      "C4[m] = A[m,K0[m]]\n"
                      "C5[m,n] = A[m-1,n | B[0,n]] + A[m,n+1 | 0]\n"
                      "C6[m:M,n:N] = A[m-1,n-1 | exp(B[m-2, n | -1.0])]\n"
                      "C7[c:6] = cat[c](A[c,0]:2, A[c,1]:2, A[c+2,1]:2)\n"
                      "S1[m,n] = A[m,n] + S1[m-1,n | 0]\n"
                      "S2[m,n] = A[m,n]*0.5 + S2[m,n-1 | B[0,0]]*0.9\n"
                      "S3[m,n] = max(A[m,n], S3[m-1,n | -inf])\n"
                      "T1[m:M,n:N] = A[M-1-m, N-1-n]\n"
                      "T2[i:M*N] = A[i/N, i%N]\n"
                      "rec t:M {\n"
                      "  Z1[t,k:K] = A[t,k] + sum[j:K](H1[t-1,j | B[0,j]]*B[k,j])\n"
                      "  H1[t,k:K] = tanh(Z1[t,k])\n"
                      "}\n"
                      "out C1,C2,C3,K0,C4,C5,C6,C7,S1,S2,S3,T1,T2,H1\n"),
          true);
}

static void
blocks_agree(void **state)
{
    struct unit *unit = *state;

    check(unit,
          parse(unit, "dim T=4, B=9, I=7, H=12\n"
                      "in X: f32[B,T,I]; in W: f32[4*H,I] scale 1/sqrt(H)\n"
                      "in U: f32[4*H,H] scale 1/sqrt(H); in H0, C0: f32[B,H]\n"
                      "G[t,n,g] = sum[i](X[n,t,i]*W[g,i])\n"
                      "rec t:T {\n"
                      "  Z[t,n:B,g:4*H] = G[t,n,g] + sum[j:H](S[t-1,n,j | H0[n,j]]*U[g,j])\n"
                      "  C[t,n:B,j:H] = sigmoid(Z[t,n,H+j])*C[t-1,n,j | C0[n,j]] + "
                      "sigmoid(Z[t,n,j])*tanh(Z[t,n,2*H+j])\n"
                      "  S[t,n:B,j:H] = sigmoid(Z[t,n,3*H+j])*tanh(C[t,n,j])\n"
                      "}\n"
                      "Y[n:B,t:T,j:H] = S[T-1-t,n,j]\n"
                      "out Y\n"),
          true);
}

/* ---- the two paths ---- */

typedef int
entry(const void *const *in, double *const *v, double *const *g, double *const *c,
      double *const *tv, double *const *tg, double *const *tc);

static struct lang_result *
run_text(struct unit *unit, const struct program *program, void *handle, void **inputs)
{
    size_t count = program->output_count;
    struct lang_result *results = arena_array(unit->arena, count, sizeof *results);
    double **columns[3];
    entry *run;

    *(void **)&run = dlsym(handle, "hone_reference");
    for (size_t k = 0; k < 3; k++) {
        columns[k] = arena_array(unit->arena, count, sizeof *columns[k]);
        for (size_t o = 0; o < count; o++)
            columns[k][o] =
                arena_array(unit->arena, (size_t)program->outputs[o]->count, sizeof(double));
    }
    assert_int_equal(
        run((const void *const *)inputs, columns[0], columns[1], columns[2], NULL, NULL, NULL), 0);
    for (size_t o = 0; o < count; o++)
        results[o] = (struct lang_result){.tensor = program->outputs[o],
                                          .v = columns[0][o],
                                          .g = columns[1][o],
                                          .c = columns[2][o]};
    return results;
}

static void
tiles_agree_with_loops(void **state)
{
    struct unit *unit = *state;
    struct program *program = parse(unit, contractions);
    struct emit_options options = {.form = EMIT_REFERENCE};
    struct buf text = buf_in(unit->arena);

    emit_without_panels(&text, program, &options);
    assert_int_equal(occurrences(text.data, "int64_t tile"), 0);
    void *loops = built(unit, text.data, "loops");
    void *tiles = built(unit, emitted(unit, program, EMIT_REFERENCE), "tiles");
    for (size_t d = 0; d < DRAWN; d++) {
        if (drawn[d] == DRAW_DENORMAL || drawn[d] == DRAW_MIXED)
            continue;
        void **inputs = task_draw_all(unit->arena, program, drawn[d], 3);
        struct lang_result *a = run_text(unit, program, loops, inputs);
        struct lang_result *b = run_text(unit, program, tiles, inputs);
        for (size_t o = 0; o < program->output_count; o++)
            compare_results(&a[o], &b[o], distribution_name[drawn[d]]);
    }
}

/* Bits do not depend on how many threads there are. */
static void
threads_do_not_matter(void **state)
{
    struct unit *unit = *state;
    struct program *program = parse(unit, "dim M=70, N=90, K=300\n"
                                          "in A: f32[M,K]; in B: f32[K,N]\n"
                                          "Y[m,n] = sum[k](A[m,k]*B[k,n])\n"
                                          "Z[m,n] = exp(Y[m,n]) / sum[j](exp(Y[m,j]))\n"
                                          "S[] = sum[m,n](Y[m,n])\n"
                                          "out Y, Z, S\n");
    void *handle = built(unit, emitted(unit, program, EMIT_REFERENCE), "threads");
    void **inputs = task_draw_all(unit->arena, program, DRAW_NORMAL, 3);
    void (*set_threads)(int);

    *(void **)&set_threads = dlsym(handle, "omp_set_num_threads");
    assert_non_null(set_threads);
    set_threads(1);
    struct lang_result *a = run_text(unit, program, handle, inputs);
    set_threads(3);
    struct lang_result *b = run_text(unit, program, handle, inputs);
    for (size_t o = 0; o < program->output_count; o++) {
        size_t bytes = (size_t)a[o].tensor->count * sizeof(double);
        assert_memory_equal(a[o].v, b[o].v, bytes);
        assert_memory_equal(a[o].g, b[o].g, bytes);
        assert_memory_equal(a[o].c, b[o].c, bytes);
    }
}

/* ---- what the text says ---- */

static void
exact_stages_keep_nothing_but_values(void **state)
{
    struct unit *unit = *state;
    struct program *program = parse(unit, "dim M=5, N=7\n"
                                          "in A: f32[M,N]; in I: i32[M,N]\n"
                                          "T[n,m] = max(A[m,n], -A[m,n])\n"
                                          "Y[m] = max[n](T[n,m])\n"
                                          "Z[m] = sum[n](I[m,n])\n"
                                          "X[m] = Y[m] * 2.0\n"
                                          "out Y, Z, X\n");
    const char *text = emitted(unit, program, EMIT_REFERENCE);
    struct lang_result results[3];
    void **inputs = task_draw_all(unit->arena, program, DRAW_NORMAL, 1);

    assert_non_null(strstr(text, "hone_exact[4] = {1, 1, 0, 0}"));
    assert_non_null(strstr(text, "make(m, 2, 35, 0)"));
    assert_int_equal(
        task_evaluate(unit->arena, program, (const void *const *)inputs, results, unit->diags), 0);
    assert_null(results[0].g);
    assert_null(results[1].c);
    assert_non_null(results[2].g);
}

static void
memory_is_given_back(void **state)
{
    struct unit *unit = *state;
    struct program *program = parse(unit, "dim N=1000\n"
                                          "in A: f32[N]\n"
                                          "B[i] = A[i]*2.5\n"
                                          "C[i] = B[i]*2.5\n"
                                          "D[i] = C[i]*2.5\n"
                                          "E[i] = D[i]*2.5\n"
                                          "out E\n");
    const char *text = emitted(unit, program, EMIT_REFERENCE);
    const char *drop = strstr(text, "drop(m, 1)"),
               *third = strstr(text, "(const struct place[]){{3, 0}, {2, 0}}");
    struct lang_needs needs;

    assert_non_null(drop);
    assert_non_null(third);
    assert_true(drop < third);
    assert_int_equal(occurrences(text, "\nstage_"), 2); /* the later three are one function */
    lang_reference_needs(program, &needs);
    assert_true(needs.peak_bytes == 3 * 24000.0);
    assert_true(needs.terms >= 4000);
}

/* A kernel stands alone, without warnings, whatever the author called things. */
static void
kernels_compile_alone(void **state)
{
    struct unit *unit = *state;
    struct program *program =
        parse(unit, "dim N=3, K=4\n"
                    "const Half=2\n"
                    "in int, x0: f32[N,K]; in s1: bf16[N]\n"
                    "kernel[double,t1] = tanh(int[double,t1]) + x0[double,t1]*s1[double]\n"
                    "at[double] = sum[t1](kernel[double,t1])*Half\n"
                    "tanhf[double]: f16 = at[double] / mean[k](int[double,k])\n"
                    "rec step:N {\n"
                    "  r[step] = at[step] + r[step-1 | 0]\n"
                    "}\n"
                    "out tanhf, r\n");

    for (enum emit form = EMIT_NAIVE; form <= EMIT_RANDOM; form++)
        dlclose(built(unit, emitted(unit, program, form), "alone"));
    check(unit, program, true);
    dlclose(built(unit, emitted(unit, parse(unit, contractions), EMIT_SIXTEEN), "alone"));
    dlclose(built(unit, emitted(unit, parse(unit, contractions), EMIT_RANDOM), "alone"));
}

/* Everything that sizes decide in a case: defaults, divisions, filters, pieces, blocks, constants.
 */
static void
general_serves_every_size(void **state)
{
    struct unit *unit = *state;
    static const char text[] =
        "dim any M=12, N=20\n"
        "const Half=(N+1)/2\n"
        "in A: f32[M,N]; in I: i32[M] from 0 to 3\n"
        "S[m] = mean[n](A[m,n])\n"
        "D[m,n:N] = A[m,n-1 | 0] + A[m,n+2 | 1.5] - S[m]*(1/sqrt(N))\n"
        "H[m,k:Half] = max[j:2](A[m,2*k+j | -inf])\n"
        "P[m,n] = cat[n](A[m,n], S[m]:1, D[m,n])\n"
        "T[m] = sum[n ? n <= m](A[m,n]) + f32((m - 3) / max(N, 2)) + f32(m*N % 3)\n"
        "G[m] = argmax[n](D[m,n])\n"
        "G2[m] = G[m] + I[m]\n"
        "rec t:M {\n"
        "  C[t] = C[t-1 | 0]*0.5 + S[t]\n"
        "}\n"
        "out D, H, P, T, G2, C\n";
    static const int64_t sizes[][2] = {{12, 20}, {1, 1}, {3, 2}, {7, 33}, {24, 5}};
    struct lang *lang = lang_parse(unit->arena, "test.op", text, strlen(text), unit->diags);
    const struct program *from = lang ? lang_program(lang, 0, NULL, 0, unit->diags) : NULL;

    if (!from)
        fail_msg("%s", unit_printed(unit, false));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct lang_size at[] = {{"M", sizes[i][0]}, {"N", sizes[i][1]}};
        const struct program *program = lang_program(lang, 0, at, 2, unit->diags);
        if (!program)
            fail_msg("%s", unit_printed(unit, false));
        void **inputs = task_draw_all(unit->arena, program, DRAW_NORMAL, 3);
        struct lang_result *results = interpreted(unit, program, inputs);
        struct tolerance *tolerances =
            arena_array(unit->arena, program->output_count, sizeof *tolerances);
        for (size_t o = 0; o < program->output_count; o++)
            tolerances[o] = (struct tolerance){.k = 2, .scale = 1};
        run_general(unit, from, program, inputs, results, tolerances);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(general_serves_every_size),
        UNIT_TEST(operations_agree),
        UNIT_TEST(dtypes_agree),
        UNIT_TEST(reductions_agree),
        UNIT_TEST(contractions_agree),
        UNIT_TEST(addends_of_sums_agree),
        UNIT_TEST(convolutions_agree),
        UNIT_TEST(places_agree),
        UNIT_TEST(blocks_agree),
        UNIT_TEST(tiles_agree_with_loops),
        UNIT_TEST(threads_do_not_matter),
        UNIT_TEST(exact_stages_keep_nothing_but_values),
        UNIT_TEST(memory_is_given_back),
        UNIT_TEST(kernels_compile_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
