# hone export lib: a library that serves the tuned sizes and all others.
. "${0%/*}/lib.sh"

HONE_ARCHIVE=$PWD/archive.db
export HONE_ARCHIVE
make_any_op
cat >norm.op <<'END'
op norm
dim R=24, N=200
in X: f32[R,N]
M[r] = mean[j](X[r,j])
Y[r,j] = exp(X[r,j] - M[r])
out Y
case odd R=3 N=37
END
# helpers that the kernel and the plain C both have; a division by zero, which gives zero
cat >both.op <<'END'
op both
dim M=6, N=40
in X: bf16[M,N]
in D: i32[M] from 0 to 2
Y[m,n]: bf16 = sigmoid(X[m,n]) + f32((m - 3) / D[m])
out Y
END
for name in any norm both; do
    expect "a kernel for $name" 0 "$HONE" optimize $name.op --evals 2
done
printf 'void\nkernel(const float *X, float *Y)\n{\n}\n' >mine.c
printf 'dim N=40\nin X: f32[N]\nY[i] = X[i]*2.0\nout Y\n' >2nd.op

expect 'a library' 0 "$HONE" export lib made any.op
says out 'names its files' 'made/anysize.c and made/anysize.h written'
cat >use.c <<'END'
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "made/anysize.h"

static double
worst(int64_t R, int64_t N)
{
    size_t bytes = (size_t)(R * N * 4 + 127) / 64 * 64;
    float *x = aligned_alloc(64, bytes), *y = aligned_alloc(64, bytes);
    double worst = 0;
    for (int64_t i = 0; i < R * N; i++)
        x[i] = sinf((float)i);
    hone_anysize(R, N, x, y);
    for (int64_t r = 0; r < R; r++) {
        double mean = 0;
        for (int64_t j = 0; j < N; j++)
            mean += x[r * N + j] / (double)N;
        for (int64_t j = 0; j < N; j++) {
            double e = fabs(((j ? x[r * N + j - 1] : 0) - mean) / sqrt((double)N) - y[r * N + j]);
            worst = e <= worst ? worst : e;
        }
    }
    free(x);
    free(y);
    return worst;
}

int
main(void)
{
    printf("%g %g %g\n", worst(24, 200), worst(5, 7), worst(1, 1));
    return worst(24, 200) < 1e-6 && worst(5, 7) < 1e-6 && worst(1, 1) < 1e-6 ? 0 : 1;
}
END
expect 'that builds without remarks' 0 gcc -O2 -fopenmp -Wall -Wextra -Werror -c made/anysize.c -o made.o
expect 'for those who call it' 0 gcc -O2 -fopenmp -Wall -Werror use.c made.o -lm -o use
expect 'serves the tuned size and others' 0 ./use
# the narrowest version runs everywhere, whatever this processor would choose
cat >inside.c <<'END'
#include "made/anysize.c"
#include <stdio.h>

static _Alignas(64) float x[4864], y[4864], z[4864];

int
main(void)
{
    double worst = 0;
    for (int i = 0; i < 4800; i++)
        x[i] = sinf((float)i);
    hone_anysize_default_any(x, y);
    general(24, 200, x, z);
    for (int i = 0; i < 4800; i++)
        worst = fabs(y[i] - z[i]) <= worst ? worst : fabs(y[i] - z[i]);
    printf("%g\n", worst);
    return worst < 1e-6 ? 0 : 1;
}
END
expect 'its parts can be called' 0 gcc -O2 -fopenmp inside.c -lm -o inside
expect 'and agree' 0 ./inside
check 'with one name to be seen' '[ "$(nm -g --defined-only made.o | wc -l)" -eq 1 ]'
expect 'as JSON' 0 "$HONE" export lib made any.op anysize.c --json
says out 'says what was made' '"source":"made/anysize.c","header":"made/anysize.h","kernels":3'
expect 'a library of both cases' 0 "$HONE" export lib made norm.op norm.c
expect 'builds too' 0 gcc -O2 -fopenmp -Wall -Wextra -Werror -c made/norm.c -o made.o
expect 'a library of bf16' 0 "$HONE" export lib made both.op
expect 'builds as well' 0 gcc -O2 -fopenmp -Wall -Wextra -Werror -c made/both.c -o made.o
expect 'a name that begins with a digit' 0 "$HONE" optimize 2nd.op --evals 1
expect 'can be exported' 0 "$HONE" export lib made 2nd.op
expect 'and built' 0 gcc -O2 -fopenmp -Wall -Wextra -Werror -c made/2nd.c -o made.o
printf 'dim N=4\nin X: f32[N]\nout Y: f32[N]\nreference "ref.c" tolerance 1e-5 1e-6\n' >own.op
printf 'void reference(const float *X, float *Y) { for (int i = 0; i < N; i++) Y[i] = X[i]; }\n' >ref.c
expect 'a task with a reference in C' 2 "$HONE" export lib made own.op norm.c
says err 'has no stages' 'no stages'
expect 'and is not searched for either' 2 "$HONE" optimize own.op
says err 'for the same reason' 'no stages to schedule'
expect 'where the kernel lies' 2 "$HONE" export lib . any.op
says err 'would lose it' 'name another folder'
expect 'of a kernel that has no schedules' 2 "$HONE" export lib made norm.op mine.c
says err 'says what is wanted' 'name the kernel that `hone optimize` wrote'
expect 'a folder that cannot be made' 2 "$HONE" export lib /proc/made norm.op
says err 'is told' '/proc/made: the folder cannot be made'
expect 'a folder that is a file' 2 "$HONE" export lib any.op norm.op
says err 'is told as well' 'any.op: the folder cannot be made'
expect 'a folder that cannot be written' 2 "$HONE" export lib /proc norm.op
says err 'says which file' '/proc/norm.c'
expect 'something else' 2 "$HONE" export book made any.op
expect 'too little' 2 "$HONE" export lib made
finish
