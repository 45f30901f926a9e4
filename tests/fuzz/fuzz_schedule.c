/* Any bytes as a schedule: the first names a program, the second a vector width. Nothing may crash,
 * hang or eat memory; a refusal says where; what is legal is emitted and survives being written and
 * read again. */
#include "coder/coder.h"
#include "lang/lang.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const programs[] = {
    "in A: f32[9,7]; in B: f32[7,20]; in c: f32[20]\nC[i,j] = sum[k](A[i,k]*B[k,j])\n"
    "Y[i,j] = max(C[i,j] + c[j], 0)\nout Y\n",
    "in X: f32[5,19]\nM[r] = max[j](X[r,j])\nE[r,j] = exp(X[r,j]-M[r])\nS[r] = sum[j](E[r,j])\n"
    "Y[r,j]: f16 = E[r,j]/S[r]\nout Y, M\n",
    "in X: f32[2,9,11]; in F: f32[4,2,3,3]\n"
    "Y[k,y:5,x:6] = sum[c,r,s](F[k,c,r,s]*X[c,2*y+r-1,2*x+s-1 | 0])\nout Y\n",
    "in X: i8[6,17]; in P: bool[17]\nA[i] = argmax[j ? P[j]](X[i,j])\n"
    "N[j] = sum[i](X[i,j]*2)\nQ[j]: u8 = if(P[j], N[j], 0)\nout A, Q\n",
    "in X: f32[3,8]; in U: f32[8,8]\nrec t:5 {\nH[t,j:8] = tanh(sum[k:8](H[t-1,k | 0]*U[j,k]) + "
    "X[t%3,j])\n"
    "G[t,j:8] = H[t,j]*G[t-1,j | 1]\n}\nS[t:5,j:8] = S[t-1,j | 0] + G[t,j]\nY[j:8] = S[4,j]\nout "
    "Y\n",
    "in X: f64[4,5]; in Z: f64[4,9]; in T: i32[6] from 0 to 13\n"
    "C[n,c:14] = cat[c](X[n,c], Z[n,c])\nY[n:4,i:6] = C[n,T[i]] + C[n,i]\nD[] = "
    "mean[n,i](Y[n,i])\nout Y, D\n",
    "in Q, K, V: f32[9,6]\nP[i,j] = if(j <= i, sum[d](Q[i,d]*K[j,d]), -inf)\nM[i] = "
    "max[j](P[i,j])\n"
    "S[i] = sum[j](exp(P[i,j]-M[i]))\nO[i,e] = sum[j ? j <= i](exp(P[i,j]-M[i])*V[j,e])/S[i]\n"
    "out O\n",
    "in A, B: f64[11,11]\nY[i,j] = if(j <= i, sum[k ? k <= i && k >= j](A[i,k]*B[k,j]), 0)\n"
    "Z[i] = sum[k](if(2*k > i+3, A[i,k], 0))\nout Y, Z\n",
    "in X: f32[4,6,10]; in A: f32[2,4,6]; in B: f32[6,8]\nU[r,g:3] = mean[d:2,j](X[r,g*2+d,j])\n"
    "V[r,g:3] = sum[d:2,j]((X[r,g*2+d,j]-U[r,g])*(X[r,g*2+d,j]-U[r,g])) / 20\n"
    "Y[r,c,j] = (X[r,c,j]-U[r,c/2])*rsqrt(V[r,c/2]+1e-5)\nO[i:4,c:8] = sum[j](A[c/4,i,j]*B[j,c])\n"
    "out Y, O\n",
};

static struct program *
load(struct arena *arena, const char *text)
{
    struct diags *diags = diags_create(arena, 0);
    struct lang *lang = lang_parse(arena, "fuzz.op", text, strlen(text), diags);
    struct program *program = lang ? lang_program(lang, 0, NULL, 0, diags) : NULL;

    if (!program) /* ours, not the fuzzer's */
        abort();
    return program;
}

/* The kernel of a schedule, or NULL if it is refused; the schedule as written in `filled`. */
static const char *
code(struct arena *arena, const char *program, const char *text, size_t length, unsigned width,
     struct buf *filled)
{
    struct diags *diags = diags_create(arena, 0);
    struct source *source = arena_alloc(arena, sizeof *source);
    struct coder_options options = {.vector_bytes = width};
    struct buf kernel = buf_in(arena);

    *source = (struct source){"fuzz", text, length};
    struct schedule *schedule = coder_read(arena, load(arena, program), source, &options, diags);
    if (schedule)
        coder_write(filled, schedule);
    bool good = schedule && coder_emit(&kernel, arena, schedule, diags);
    if (good == (diags_errors(diags) > 0))
        abort();
    for (size_t i = 0; i < diags_count(diags); i++)
        if (diags_get(diags, i)->place.line == 0)
            abort();
    return good ? kernel.data : NULL;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const unsigned widths[] = {16, 32, 64};
    struct arena *arena = arena_create();
    struct buf once = buf_in(arena), twice = buf_in(arena);

    if (size >= 2 && size < 4096) {
        const char *program =
            programs[(uint8_t)(data[0] - '0') % (sizeof programs / sizeof *programs)];
        unsigned width = widths[data[1] % 3];
        char *text = arena_alloc(arena, size);
        memcpy(text, data + 2, size - 2);
        const char *kernel = code(arena, program, text, size - 2, width, &once);
        if (kernel) {
            const char *again =
                code(arena, program, once.data ? once.data : "", once.length, width, &twice);
            if (!again || strcmp(kernel, again) != 0 || !strstr(kernel, "kernel("))
                abort();
        }
    }
    arena_destroy(arena);
    return 0;
}
