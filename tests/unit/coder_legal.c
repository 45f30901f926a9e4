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
    const char *got =
        arena_printf(unit->arena, "%u:%u: %s", diag->place.line, diag->place.column, diag->message);
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

#define GEMM                            \
    "in A: f32[9,7]; in B: f32[7,20]\n" \
    "C[i,j] = sum[k](A[i,k]*B[k,j])\n"  \
    "Y[i,j] = max(C[i,j], 0)\nout Y, C\n"
#define SOFTMAX                                                           \
    "in X: f32[5,19]\nM[r] = max[j](X[r,j])\nE[r,j] = exp(X[r,j]-M[r])\n" \
    "S[r] = sum[j](E[r,j])\nY[r,j] = E[r,j]/S[r]\nout Y\n"
#define SCAN "in X: f32[4,6]\nS[r,t] = S[r,t-1 | 0] + X[r,t]\nY[r,t] = S[r,t]*2\nout Y, S\n"
#define SUMS(from)                                                                 \
    "in X: f32[4,6]\nZ[r:4,t:6] = X[r,t]*X[r,0]\nS[r,t] = S[r,t-1 | 0] + Z[r,t]\n" \
    "Y[r:4,t:3+3] = S[r," from "]*2\nout Y\n"
#define REVERSE SUMS("5-t")
#define HALF SUMS("2+t/2")
#define REC                                                                        \
    "in X: f32[3,8]\nrec t:3 {\nH[t,j:8] = X[t,j] + 0.25*sum[k:8](G[t-1,k | 0])\n" \
    "G[t,j:8] = tanh(H[t,j])\n}\nout G\n"
#define ARG "in X: f32[5,19]\nA[r] = argmax[j](X[r,j])\nout A\n"
#define CAT                                                                                \
    "in X: f32[4]; in Z: f16[9]\nC[c:13] = cat[c](X[c], Z[c])\nY[i:5] = C[i*2] + Z[i-1 | " \
    "0.1]\nout Y\n"

static void
lines_name_stages(void **state)
{
    refuses(state, GEMM, "Q: i j", "1:1: there is no stage Q; hone task --expand lists them");
    refuses(state, GEMM, "CC: i j", "1:1: there is no stage CC; hone task --expand lists them");
    refuses(state, GEMM, "C i j", "1:1: a line begins with a stage and a colon: Y: i@p acc k j@v");
    refuses(state, GEMM, "C: i j k\nC: i j k", "2:1: a second line for C; keep one of them");
    refuses(state, GEMM, "rec C: i", "1:5: C is in no rec block; leave out `rec`");
    refuses(state, GEMM, "Y: i j\n  ! fold C i j",
            "2:3: no such rewrite; write ! pad S X, flat S y x, phase S X, rows S x, split S k "
            "STEP, chunk "
            "S t STEP, moments S k STEP or part S c STEP");
    refuses(state, GEMM, "! split C i 2", "1:1: split: i is no reduction index of C; those are k");
    refuses(state, GEMM, "! split C k 99",
            "1:1: split: 99 does not split k, which has 7 values; a step from 1 to 6 does");
    refuses(state, GEMM, "! split C k x",
            "1:1: no such rewrite; write ! pad S X, flat S y x, phase S X, rows S x, split S k "
            "STEP, chunk "
            "S t STEP, moments S k STEP or part S c STEP");
    allows(state, GEMM,
           "case other:\nQ: nonsense\ncase default:\nC: i j k # comment; with colon\n\nY:");
}

static void
loops_end_and_fall(void **state)
{
    refuses(state, GEMM, "C: i j q k",
            "1:8: q is no index of C and no word of schedules; its indices are i j k");
    refuses(state, GEMM, "C: i j/8 k",
            "1:6: j/8: j must end at step 1 or with @v; write j at the end");
    refuses(state, GEMM, "C: i j", "1:1: C: k must end at step 1 or with @v; write k at the end");
    refuses(state, GEMM, "C: i j/4 j/8 j k", "1:10: j/8: steps of j must fall: the last one was 4");
    refuses(state, GEMM, "C: i i j k", "1:6: i: i has ended already; leave it out");
    refuses(state, GEMM, "C: i j/4@v k", "1:6: j/4@v: @v takes the rest of the tile; write j@v");
    refuses(state, GEMM, "C: i@v j@v k", "1:8: j@v: lanes are given once; i@v has them");
    refuses(state, GEMM, "C: i@z j k",
            "1:4: i@z: after @ stands p (threads), u (unrolled), a (accumulators of its own) or v "
            "(vector lanes)");
    refuses(state, GEMM, "C: i/0 j k", "1:4: i/0: a step is a number, or lanes: 8, v, 2v");
    refuses(state, GEMM, "C: i/w j k", "1:4: i/w: a step is a number, or lanes: 8, v, 2v");
    refuses(state, GEMM, "C: i@a j k",
            "1:4: i@a: @a is for reduction indices; i is on the left: write @u");
    refuses(state, GEMM, "Y: i/1000@u j/v@u j/v/2 j",
            "1:19: j/v/2: a step is a number, or lanes: 8, v, 2v");
    allows(state, GEMM, "C: i/1000 i/5@u i j/2v j/v@u j@v k/3@a k");
}

static void
threads_are_shared_once(void **state)
{
    refuses(
        state, GEMM, "C: k@p i j",
        "1:4: k@p: a reduction is not spread over threads; ! split C k STEP makes partial results");
    refuses(state, GEMM, "C: i@p k j@p",
            "1:10: j@p: threads are shared out once; put it beside i@p");
    refuses(state, GEMM, "C: i/3@p i@p j k",
            "1:10: i@p: i is in the group already, and its steps would not be rectangular; leave "
            "out @p");
    refuses(state, SOFTMAX, "Y: r do(S) j\nS: r@p j",
            "2:4: r@p: S is computed inside of another stage's loops; leave out @p");
    refuses(state, SCAN, "S: t@p r",
            "1:4: t@p: t is carried from step to step; write t, t@u or, innermost, t@v");
    refuses(state, SCAN, "S: r t@a",
            "1:6: t@a: t is carried from step to step; write t, t@u or, innermost, t@v");
    refuses(state, SCAN, "S: t@v r", "1:4: t@v: lanes of a scan are innermost; put it last");
    refuses(state, REC, "H: t j",
            "1:4: t: t is carried from step to step; the block's own loop runs it");
    allows(state, SCAN, "S: r@p t@v");
    allows(state, GEMM, "C: k/3 i/3@p j@p i k");
}

static void
accumulators_are_registers(void **state)
{
    refuses(state, GEMM, "C: acc i j k",
            "1:8: i: below acc the tile is in registers; write @u or @v, or put it before acc");
    refuses(state, GEMM, "C: i acc j/8@u j k",
            "1:16: j: below acc the tile is in registers; write @u or @v, or put it before acc");
    refuses(state, GEMM, "C: i j acc k acc", "1:14: acc: once is enough");
    refuses(state, GEMM, "Y: i j acc", "1:8: acc: Y has no reduction; leave it out");
    refuses(state, GEMM, "C: i j k@v",
            "1:8: k@v: lanes of a reduction are joined in registers; put acc before it");
    refuses(state, ARG, "A: r j acc",
            "1:6: j: argmax cannot be kept in memory between passes; put acc before it");
    refuses(state, ARG, "A: j r",
            "1:4: j: argmax cannot be kept in memory between passes; put acc before it");
    allows(state, GEMM, "C: k/2 i acc j/v@u j@v k@a");
}

static void
packs_copy_what_is_read(void **state)
{
    refuses(state, GEMM, "C: pack(Q) i j k",
            "1:4: pack(Q): there is no such tensor; write an input or a stage that is read");
    refuses(state, GEMM, "C: pack(A@2) i j k",
            "1:4: pack(A@2): C reads A 1 times in its loops; write a number up to that");
    refuses(state, GEMM, "C: pack(A@x) i j k",
            "1:4: pack(A@x): after @ stands the number of the access, from 1");
    refuses(state, GEMM, "C: pack(C) i j k",
            "1:4: pack(C): C reads C 0 times in its loops; leave it out");
    refuses(state, GEMM, "C: i pack(A) pack(A) j k",
            "1:14: pack(A): this access is copied already; once is enough");
    refuses(state, GEMM, "C: i j@v pack(B) k",
            "1:10: pack(B): below j@v there is one vector; put it before");
    refuses(state, GEMM, "C: i pack(A j k", "1:6: pack(A j k: the bracket is not closed");
    refuses(state, CAT, "C: pack(X) c",
            "1:4: pack(X): X is read in a piece of a cat only, and not all of the tile is in it; "
            "leave it out");
    refuses(state, CAT, "Y: pack(Z) i",
            "1:4: pack(Z): Z is f16, which does not hold what is read outside of it; leave it out");
    refuses(state, GEMM, "C: i pre(A) j k",
            "1:6: pre(A): write pre(T,n): tensor and how many iterations ahead");
    refuses(state, GEMM, "C: i pre(A,0) j k",
            "1:6: pre(A,0): write pre(T,n): tensor and how many iterations ahead");
    refuses(state, "in A: f32[100000,100000]\nY[i] = sum[j](A[i,j])\nout Y\n", "Y: pack(A) i j",
            "1:4: pack(A): the copy would take more than 256 MB; write it below a tile of fewer "
            "elements");
    allows(state, GEMM, "C: i@p pack(A) j k pre(B,8) nt");
}

static void
producers_come_before_readers(void **state)
{
    refuses(state, SOFTMAX, "S: r do(Y) j",
            "1:6: do(Y): Y is computed after S; only what is read can be computed here");
    refuses(state, SOFTMAX, "S: r do(S) j",
            "1:6: do(S): these lines compute each other; one stage needs loops of its own");
    refuses(state, SOFTMAX, "S: r acc do(E) j", "1:10: do(E): put it before acc");
    refuses(state, SOFTMAX, "Y: r do(M) j", "1:6: do(M): M is not read here; leave it out");
    refuses(state, SOFTMAX, "Y: r do(S) do(E) j",
            "1:12: do(E): put it before do(S), which reads it");
    refuses(state, SOFTMAX, "Y: r pack(S) do(S) j",
            "1:14: do(S): put it before pack(S), which reads it");
    refuses(state, SOFTMAX, "Y: r pack(S) do(E) j\nE: r with(S) j",
            "1:14: do(E): put it before pack(S), which reads S");
    refuses(state, SOFTMAX, "Y: r do(E) j\nS: r do(E) j",
            "1:6: do(E): E is computed in another line already");
    refuses(state, SOFTMAX, "Y: do(S) r j\nS: do(Y) r j",
            "1:4: do(S): these lines compute each other; one stage needs loops of its own");
    refuses(state, REC, "G: do(H) j",
            "1:4: do(H): nothing is computed in the loops of a rec block's stages");
    refuses(state, SCAN, "Y: do(S) r t\nS: r",
            "1:4: do(S): stages of a rec block are not computed in other loops; a scan is, if its "
            "line runs t");
    refuses(state, SCAN, "Y: r do(S) t\nS: r t",
            "1:6: do(S): S must be read by Y alone, and at every t; leave it out");
    refuses(state, REVERSE, "Y: r t do(S)\nS: r t",
            "1:8: do(S): S runs over all of t; put it before t");
    refuses(state, HALF, "Y: r do(S) t\nS: r t",
            "1:6: do(S): S must be read by Y alone, and at every t; leave it out");
    allows(state, REVERSE, "Y: r do(S) t\nS: r do(Z) t@v");
    refuses(state, SOFTMAX, "Y: r do(M) do(E) j",
            "1:12: do(E): E is computed as a whole too, and E reads M, which is computed in these "
            "loops alone; compute it in the line of E");
    allows(state, SOFTMAX, "Y: r do(E) j\nE: r do(M) j");
    allows(state, SOFTMAX, "Y: r@p do(M) do(E) do(S) j@v\nE: r j@v\nM: r acc j@v\nS: r acc j@v");
}

#define TWO                                                                                 \
    "in X: f32[5,19]; in Z: f64[19]\nS[r] = sum[j](X[r,j])\nQ[r] = sum[j](X[r,j]*X[r,j])\n" \
    "V[r] = Q[r] - S[r]\nW[r]: f64 = sum[j](X[r,j]*Z[j])\nT[j] = max[r](X[r,j]*V[r])\n"     \
    "U[r] = sum[j](X[r,j]+T[j])\nD[r] = V[r]*2\nout V, W, U, D\n"

static void
guests_share_loops(void **state)
{
    refuses(state, TWO, "S: r acc j with(Q)",
            "1:12: with(Q): put it before j, over which Q is reduced");
    refuses(state, TWO, "S: with(Q) r acc j",
            "1:4: with(Q): put it behind r, which is on the left of Q");
    refuses(state, TWO, "S: r with(T) acc j",
            "1:6: with(T): put it before r, over which T is reduced");
    refuses(state, TWO, "S: r with(T, j=r) acc j",
            "1:6: with(T, j=r): index j of T has no loop of the same extent here; write j=j");
    refuses(state, TWO, "S: r with(Q, q=r) acc j",
            "1:6: q is no index of Q and no word of schedules; its indices are r j");
    refuses(state, TWO, "S: r with(Q, r) acc j",
            "1:6: with(Q, r): after the stage stand pairs like k=j");
    refuses(state, TWO, "S: r with(Q) acc j\nQ: r j",
            "1:6: with(Q): Q runs in these loops; it has no line of its own");
    refuses(state, TWO, "S: r with(W) acc j",
            "1:6: with(W): W computes with another type; give it loops of its own");
    refuses(state, TWO, "S: r with(U) acc j", "1:6: with(U): U reads T, which is computed after S");
    refuses(state, TWO, "Q: r with(V) acc j",
            "1:6: with(V): V reads Q, which is not known until its loops have ended");
    refuses(state, TWO, "D: with(V) r",
            "1:4: with(V): index j of V has no loop of the same extent here; write j=j");
    refuses(state, TWO, "V: with(T, j=r) r",
            "1:4: with(T, j=r): index j of T has no loop of the same extent here; write j=j");
    refuses(state, TWO, "S: r with(Q) acc j\nU: r with(Q) acc j",
            "2:6: with(Q): Q is computed in another line already");
    refuses(state, SCAN, "Y: r t with(S)",
            "1:8: with(S): stages of a rec block have loops of their own");
    allows(state, TWO, "S: r with(Q) acc j\nV: r@v with(D)");
}

static void
says(void **state, const char *program, const char *text, const char *want)
{
    struct unit *unit = *state;
    struct diags *diags = diags_create(unit->arena, 0);
    const char *kernel = code(unit, program, text, 32, NULL, diags);
    if (kernel == NULL)
        fail_msg("%s\nis refused: %s", text, diags_get(diags, 0)->message);
    if (strstr(kernel, want) == NULL)
        fail_msg("%s\n%s\nhas no\n%s", text, kernel, want);
}

static void
inlined_stages_vanish(void **state)
{
    refuses(state, SOFTMAX, "E: inline(M) r j\nY: r j inline(S)",
            "1:4: inline(M): inlined can be a stage that E reads, without a reduction, or with the "
            "only one and read at the same indices");
    refuses(state, SOFTMAX, "M: r inline(E) j",
            "1:6: inline(E): inlined can be a stage that M reads, without a reduction, or with the "
            "only one and read at the same indices");
    refuses(state, CAT, "Y: inline(C) i",
            "1:1: Y reads a cat that it inlines at more than a plain index; use do()");
    refuses(state, "in X: f32[5]\nA[i] = X[i]*2\nY[i:7] = A[i-1 | 0]\nout Y\n", "Y: inline(A) i",
            "1:1: Y reads what it inlines with a default; use do() or ! pad");
    refuses(state, SCAN, "Y: inline(S) r t",
            "1:4: inline(S): inlined can be a stage that Y reads, without a reduction, or with the "
            "only one and read at the same indices");
    refuses(state, SOFTMAX, "E: do(M) r j\nY: inline(E) r j\nS: inline(E) r j",
            "1:4: do(M): E is inlined and has no loops; name it where E is inlined");
    allows(state, SOFTMAX, "Y: inline(E) r j@v\nS: inline(E) r acc j@v");
    says(state, "in X: f32[64]\nA[i] = X[i]*2\nY[] = sum[i](A[i])\nout Y\n", "! split Y i 16",
         "Y.i: inline(A) ic@p acc i\n"); /* read by chunks, and still once */
    says(state, "in X, Z: f32[32]\nC[i:64] = cat[i](X[i], Z[i])\nY[] = sum[i](C[i])\nout Y\n",
         "! split Y i 16", "\n *   Y.i: ic@p acc i\n");
    allows(state, TWO, "V: r"); /* whose own line would be another with a reduction in it */
    allows(state, TWO, "Q: r j\nV: r acc j");
}

#define SCORES                                                                              \
    "in X: f32[12,20]; in V: f32[20,9]\nM[i] = max[j](X[i,j])\nE[i,j] = exp(X[i,j]-M[i])\n" \
    "S[i] = sum[j](E[i,j])\nA[i,j] = E[i,j]/S[i]\nO[i,e] = sum[j](A[i,j]*V[j,e])\nout O\n"
#define INLINED "S: inline(E); A: inline(E); O: inline(A) "

static void
running_maxima_have_a_shape(void **state)
{
    refuses(state, SCORES, "O: online(M,S,O) i e j",
            "1:4: online(M,S,O): write online(j/STEP: M,S,O): the tile, maximum, sum, result");
    refuses(state, SCORES, "O: online(j/x: M,S,O) i e j",
            "1:4: online(j/x: M,S,O): a step is a number, or lanes: 8, v, 2v");
    refuses(state, SCORES, "O: online(j/8: O) i e j",
            "1:4: online(j/8: O): two or three stages go together: M,S,O or M,O");
    refuses(state, SCORES, "O: online(j/8: M,S,Q) i e j",
            "1:4: there is no stage Q; hone task --expand lists them");
    refuses(state, SCORES, "O: online(j/8: M,O,S) i e j",
            "1:4: online(j/8: M,O,S): S does not fit: the last stage is that of the line");
    refuses(state, SCORES, "O: online(j/8: S,S,O) i e j",
            "1:4: online(j/8: S,S,O): S does not fit: the first stage is M[..] = max[j](P[..,j])");
    refuses(state, SCORES, "O: online(j/8: M,S,O) i e j",
            "1:4: online(j/8: M,S,O): S does not fit: the second stage is S[..] = "
            "sum[j](exp(P[..,j]-M[..])), all of it in one stage (inline what is between)");
    refuses(state, SCORES, "S: inline(E)\nO: online(j/8: M,S,O) i e j",
            "2:4: online(j/8: M,S,O): O does not fit: the last stage is O[..] = "
            "sum[j](exp(P[..,j]-M[..])*V[..]), perhaps divided by S[..], all of it in one stage "
            "(inline what is between)");
    refuses(state, SCORES, INLINED "online(j/8: M,O) i e j",
            "1:42: online(j/8: M,O): M does not fit: S reads it too, which is not among them");
    refuses(state, SCORES, INLINED "online(e/8: M,S,O) i e j",
            "1:42: online(e/8: M,S,O): O does not fit: it is reduced over j; write "
            "online(j/STEP: ..)");
    refuses(state, SCORES, INLINED "online(j/8: M,S,O) online(j/4: M,S,O) i e j",
            "1:42: online(j/8: M,S,O): O does not fit: once is enough");
    refuses(state, SCORES, "M: i acc j; " INLINED "online(j/8: M,S,O) i e j",
            "1:54: online(j/8: M,S,O): M does not fit: it has no loops of its own; leave them out "
            "of its line");
    refuses(state, SCORES, INLINED "online(j/8: M,S,O) i@p e j",
            "1:61: i@p: threads each have tiles of their own; put it before online()");
    refuses(state, SCORES, INLINED "e@v online(j/8: M,S,O) i j",
            "1:42: e@v: lanes are those of one tile; put it behind online()");
    refuses(state, SCORES, INLINED "i acc online(j/8: M,S,O) e@u j",
            "1:48: online(j/8: M,S,O): put it before acc");
    refuses(state, SCORES, INLINED "i online(j/8: M,S,O) j/16 e j",
            "1:63: j/16: steps of j must fall: the last one was 8");
    refuses(state, SCORES, "S: i j; E: i online(j/2: M,E) j",
            "1:14: online(j/2: M,E): E does not fit: the last stage is O[..] = "
            "sum[j](exp(P[..,j]-M[..])*V[..]), perhaps divided by S[..], all of it in one stage "
            "(inline what is between)");
    refuses(state,
            "in X: f32[9,9]; in V: f32[9]\nM[i] = max[j](if(j >= i, X[i,j], -inf))\n"
            "S[i] = sum[j ? j > i](exp(if(j >= i, X[i,j], -inf)-M[i]))\n"
            "O[i] = sum[j](exp(if(j >= i, X[i,j], -inf)-M[i])*V[j])/S[i]\nout O\n",
            "O: i online(j/4: M,S,O) acc j",
            "1:6: online(j/4: M,S,O): S does not fit: its terms are those of M: leave out the "
            "filter, or write M's");
    allows(state, SCORES, INLINED "i/4@p online(j/2v: M,S,O) i/2 e/v acc j i@u e@v");
    /* in words of the kernel: the sum so far is scaled once for each tile */
    says(state, SCORES, INLINED "i@p online(j/8: M,S,O) e/v acc j e@v", "scale_0[0]");
}

#define STEPS                                                                                 \
    "in X: f32[4,6,8]; in U: f32[8,8]; in Z: f32[6,8]\nrec t:4 {\nH[t,n:6,g:8] = X[t,n,g] + " \
    "0.25*sum[j:8](G[t-1,n,j | 0]*U[g,j])\nG[t,n:6,g:8] = tanh(H[t,n,g] + Z[n,g])\n}\n"       \
    "Y[n:6,g:8] = G[3,n,g]\nout Y\n"

/* Large scratch of a parallel loop is static, a part for each thread, and such loops have no more
 * threads than parts; what is small stays on the stack, and the loop is anybody's. */
static void
threads_have_their_part_of_scratch(void **state)
{
    static const char wide[] = "in X: f32[4,20000]\nE[i,j] = exp(X[i,j])\n"
                               "Y[i,j] = E[i,j] + E[i,19999-j]\nout Y\n";
    static const char narrow[] = "in X: f32[4,200]\nE[i,j] = exp(X[i,j])\n"
                                 "Y[i,j] = E[i,j] + E[i,199-j]\nout Y\n";
    struct unit *unit = *state;
    says(state, wide, "Y: i@p do(E) j", "[HONE_THREADS][");
    says(state, wide, "Y: i@p do(E) j", "#pragma omp parallel for num_threads(HONE_TEAM)\n");
    says(state, narrow, "Y: i@p do(E) j", "#pragma omp parallel for\n");
    const char *kernel = code(unit, narrow, "Y: i@p do(E) j", 32, NULL, unit->diags);
    assert_null(strstr(kernel, "HONE_TEAM"));
}

static void
steps_are_shared_by_rows(void **state)
{
    refuses(state, STEPS, "rec H: g@p",
            "1:8: g@p: H reads G at another g than its own, so steps cannot be shared by it; put "
            "@p in the lines of the stages");
    refuses(state, STEPS, "rec H: n",
            "1:8: n: around the steps stand pack(T) and left indices with @p");
    refuses(state, STEPS, "rec H: n@p acc",
            "1:12: acc: around the steps stand pack(T) and left indices with @p");
    refuses(state, STEPS, "rec H: n/2@p n@p", "1:14: n@p: once is enough");
    refuses(state, STEPS, "rec H: t@p", "1:8: t@p: H has no left index t of the same extent");
    refuses(state, STEPS, "rec H: n@p; G: n@p g",
            "1:16: n@p: the steps of the block are shared among threads; leave out @p");
    refuses(state, STEPS, "rec H: pack(G)",
            "1:8: pack(G): G changes from step to step; put it in the line that reads it");
    refuses(state, STEPS, "rec H: pack(Y)",
            "1:8: pack(Y): no stage of the block reads Y in its loops; leave it out");
    refuses(state, STEPS, "rec H: n@p; G: pack(Z) n g",
            "1:16: pack(Z): what is copied depends on n, by which the steps are shared; put it "
            "behind a loop");
    refuses(state, SCAN, "rec S: r@p; S: r t",
            "1:8: r@p: the line of S runs t itself; put r@p there");
    says(state, STEPS, "rec H: n/4@p pack(U); H: n g/v acc j g@v",
         "#pragma omp parallel for\n        for (long n");
    says(state, STEPS, "rec H: n/4@p pack(U); H: n g/v acc j g@v", "static float U_0[");
}

static void
fetches_are_ahead_of_loops(void **state)
{
    refuses(state, GEMM, "C: i pre(B,2) j k",
            "1:6: pre(B,2): no loop before it moves B; put it behind j");
    refuses(state, GEMM, "C: i j k pre(Y,2)",
            "1:10: pre(Y,2): C does not read Y in its loops; leave it out");
    refuses(state, GEMM, "C: pack(B) i j k pre(B,2)",
            "1:18: pre(B,2): B is copied by pack(B) and read in order; leave out one of them");
    refuses(state, "in X: f32[9]; in s: f32[]\nY[i] = X[i]*s[]\nout Y\n", "Y: i pre(s,2)",
            "1:6: pre(s,2): no loop moves s; leave it out");
    refuses(state, "in X: f32[9]; in T: i32[5] from 0 to 8\nY[i] = X[T[i]]\nout Y\n",
            "Y: i pre(X,2)",
            "1:6: pre(X,2): where X is read is itself read from memory; leave it out");
    refuses(state, SOFTMAX, "Y: r pre(S,2) do(S) j",
            "1:6: pre(S,2): S is computed just before it is read; leave it out");
    refuses(state, GEMM, "C: i j k pre(B,2,i)",
            "1:10: pre(B,2,i): what is read of B does not depend on i; leave it out");
    refuses(state, GEMM, "C: i j k pre(B,2,k)",
            "1:10: pre(B,2,k): k is no left index; leave it out");
    refuses(state, GEMM, "C: i j k pre(B,2,q)",
            "1:10: q is no index of C and no word of schedules; its indices are i j k");
    /* the rows are run by the consumer: one of its boxes further */
    says(state, "in X: f32[64,64]\nS[r] = sum[j](X[r,j])\nY[r,j] = X[r,j]/S[r]\nout Y\n",
         "S: r acc j; Y: r@p do(S) j/2v pre(X,1,r) j/v@u j@v", "__builtin_prefetch(X + r0*64 + j");
    says(state, "in X: f32[64,64]\nS[r] = sum[j](X[r,j])\nY[r,j] = X[r,j]/S[r]\nout Y\n",
         "S: r acc j/2v pre(X,1,r) j/v@a j@v; Y: r/4@p do(S) r j", " + 64 + 0, 0, 2);");
    /* k/2 is the innermost before it; 32 floats are two lines */
    says(state, "in A: f32[8,64]; in B: f32[64,64]\nC[i,j] = sum[k](A[i,k]*B[k,j])\nout C\n",
         "C: i j/4v acc k/2 pre(B,3) k j/v@u j@v",
         "__builtin_prefetch(B + k0*64 + j0 + 384 + 0);\n");
    says(state, "in A: f32[8,64]; in B: f32[64,64]\nC[i,j] = sum[k](A[i,k]*B[k,j])\nout C\n",
         "C: i j/4v acc k/2 pre(B,3) k j/v@u j@v",
         "__builtin_prefetch(B + k0*64 + j0 + 384 + 16);\n");
}

static void
what_would_be_too_much(void **state)
{
    refuses(state, "in X: f32[200,200]\nY[i,j] = X[i,j]\nout Y\n", "Y: i@u j@u",
            "1:1: the kernel would have more than 20400 lines; unroll less");
    refuses(
        state, GEMM,
        "C: nt nt nt nt nt nt nt nt nt nt nt nt nt nt nt nt nt nt nt nt nt nt nt nt nt nt nt nt "
        "nt nt nt nt nt nt nt nt nt nt nt nt nt nt nt nt nt nt nt i j k",
        "1:147: a line has at most 48 tokens");
}

/* ---- texts ---- */

#define TRIANGLE(body) "dim N=64\nin A, B: f32[N,N]\n" body "\nout Y\n"

static void
filters_bound_loops(void **state)
{
    static const char lower[] = TRIANGLE("Y[i,j] = sum[k ? k <= i](A[i,k]*B[k,j])");
    /* a tile of four rows: k ends with the last of them, and is tested behind the first only */
    says(state, lower, "Y: i/4@p j/v acc k i@u j@v", "parallel for schedule(dynamic)\n");
    says(state, lower, "Y: i/4@p j/v acc k i@u j@v", "const long end0 = i0 + 4;\n");
    says(state, lower, "Y: i/4@p j/v acc k i@u j@v", "const long all0 = i0 + 1;\n");
    /* passes that add nothing are left out but for the first and the last */
    says(state, lower, "Y: k/16 i/4 j/v acc k i@u j@v",
         "if ((i0 - k0 + 3 >= 0) || (k0 == 0) || (k0 == 48)) {\n");
    /* a select around the sum: tiles above the diagonal have no loop */
    says(state, TRIANGLE("Y[i,j] = if(j <= i, sum[k](A[i,k]*B[k,j]), 0)"),
         "Y: i/4@p j/v acc k i@u j@v", "if (i0 - j0 + 3 >= 0) {\n");
    /* a select whose other branch adds nothing */
    says(state, TRIANGLE("Y[i] = max[k](if(k >= i, A[i,k]*B[k,i], -inf))"), "Y: i@p acc k",
         "const long begin0 = i0;\n");
    /* one that is in the tensor that is read */
    says(state,
         TRIANGLE("P[i,k] = if(2*k <= i+5, A[i,k]+B[k,i], -inf)\nM[i] = max[k](P[i,k])\n"
                  "Y[i,k] = P[i,k] - M[i]"),
         "P: i k@v\nM: i@p acc k", "const long end0 = floor_div(i1 + 5, 2) + 1;\n");
    /* one of which a factor is zero elsewhere */
    says(state, TRIANGLE("D[i:64,k:64] = if(i == k, A[i,0], 0)\nY[i,j] = sum[k](D[i,k]*B[k,j])"),
         "D: i k@v\nY: i@p j/v acc k j@v", "const long begin0 = i1;\n");
    /* a diagonal has one term */
    says(state, TRIANGLE("Y[i,j] = sum[k ? k == i](A[i,k]*B[k,j])"), "Y: i@p j/v acc k j@v",
         "const long end0 = i0 + 1;\n");
}

static void
zeros_from_outside_bound_loops(void **state)
{
    static const char window[] = "dim N=8, C=3\nin X: f32[C,N]; in F: f32[C,3]\n"
                                 "Y[i:N+2] = sum[c,r](F[c,r]*X[c,i-r | 0])\nout Y\n";
    says(state, window, "Y: i@p acc c r", "const long end0 = i0 + 1;\n");
    says(state, window, "Y: i@p acc c r", "const long begin0 = i0 - 7;\n");
    says(state, window, "Y: i@p acc c r", "parallel for\n"); /* nearly all are equal */
    /* the same of a copy with a border, which needs no questions */
    says(state, window, "! pad Y X\nY: i acc c r", "const long begin0 = i1 - 7;\n");
    /* the tile of a vector reaches inside wherever it is */
    says(state, window, "! pad Y X\nY: i/v acc c r i@v", "for (long r0 = 0; r0 < 3; r0 += 1) {\n");
    /* other defaults count, and so do terms that are no products */
    says(state, "in X: f32[8]; in F: f32[3]\nY[i:10] = sum[r](F[r]*X[i-r | 1])\nout Y\n",
         "Y: i acc r", "for (long r0 = 0; r0 < 3; r0 += 1) {\n");
    says(state, "in X: f32[8]; in F: f32[3]\nY[i:10] = sum[r](F[r]+X[i-r | 0])\nout Y\n",
         "Y: i acc r", "for (long r0 = 0; r0 < 3; r0 += 1) {\n");
    /* hardly any are outside: the loops stay as they are */
    says(state, "in X: f32[800]; in F: f32[3]\nY[i:802] = sum[r](F[r]*X[i-r | 0])\nout Y\n",
         "Y: i acc r", "for (long r0 = 0; r0 < 3; r0 += 1) {\n");
}

/* U is computed as a whole before V, whose loops alone would have made up what it reads. */
static void
what_is_read_early_is_there(void **state)
{
    says(state,
         "dim R=4, N=21\nin X: f32[R,N]\nU[r] = sum[j](X[r,j])/N\n"
         "V[r] = sum[j]((X[r,j]-U[r])*(X[r,j]-U[r]))/N\nY[r,j] = (X[r,j]-U[r])*V[r]\nout Y\n",
         "! moments V j 3\nV.j.sq: r jc do(V.j) acc j\nU: r acc jc\nV: do(V.j.sq) r acc jc\n"
         "Y: r do(U) j@v",
         "stage0_V_j(X, V_j);\n");
    /* what is read of T in these loops is its diagonal alone */
    says(state, "in X: f32[3,3]\nT[i,j] = X[i,j]*2\nY[i:3] = T[i,i]\nout Y, T\n",
         "Y: i do(T)\nT: i j", "T[i0*3 + j0] = ");
}

/* Of two tiles the first is finished with its own part of the copy. */
static void
copies_are_read_tile_by_tile(void **state)
{
    says(state,
         "in X: f32[2,5,3]\nM[n:2,e:3] = max[c:5](X[n,c,e])\n"
         "Y[n:2,e:3] = log(sum[c:5](exp(X[n,c,e]-M[n,e]))) + M[n,e]\nout Y\n",
         "Y: n pack(M) acc e/2@u e@v c", "const vf32 t3 = vf32_load(M_0);\n");
}

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
        {SCORES, INLINED "i/4@p online(j/2v: M, S, O) i/2 e/v acc j i@u e@v"},
        {STEPS, "rec H: n/4@p pack(U)\nH: n g/v acc j g@v"},
        {"in A: f32[6,9]\nC[i,j] = A[i,j]*2\nZ[i] = sum[j](C[i,j])\nW[i] = max[j](A[i,j])\n"
         "out Z, W\n",
         "W: i with(Z) acc j"},
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
        UNIT_TEST(threads_have_their_part_of_scratch),
        UNIT_TEST(steps_are_shared_by_rows),
        UNIT_TEST(filters_bound_loops),
        UNIT_TEST(what_is_read_early_is_there),
        UNIT_TEST(copies_are_read_tile_by_tile),
        UNIT_TEST(zeros_from_outside_bound_loops),
        UNIT_TEST(fetches_are_ahead_of_loops),
        UNIT_TEST(running_maxima_have_a_shape),
        UNIT_TEST(what_would_be_too_much),
        UNIT_TEST(filled_text_is_a_fixed_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
