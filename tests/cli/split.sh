# A program that is cut into parts: each is written on its own, and the kernel of the whole is built from
# their C, judged as a whole, and replayed.
. "${0%/*}/lib.sh"

HONE_ARCHIVE=$PWD/archive.db HOME=$scratch/home XDG_CACHE_HOME=$scratch/cache
export HONE_ARCHIVE HOME XDG_CACHE_HOME
unset XDG_CONFIG_HOME HONE_MODEL HONE_RECIPE
mkdir -p home

# So small that the plain C is never so much faster that it is given instead.
cat >soft.op <<'END_OF_OP'
op soft
dim R=4, N=9
in X: f32[R,N]
M[r] = max[j](X[r,j])
Y[r,j] = exp(X[r,j] - M[r])
out Y
END_OF_OP
cat >cut <<'END_OF_RECIPE'
recipe = cut
[phase refine]
start = blank
rounds = 1
split = 2
stop = 1 correct
[role coder]
sees = contract, task
returns = file
END_OF_RECIPE
# Both have a function, a macro and a type of the same name.
cat >script <<'END_OF_SCRIPT'
=== coder
```c
#define STEP 1
typedef float number;
static number of(number a, number b) { return a > b ? a : b; }
void
kernel(const float *restrict X, float *restrict M)
{
    for (int r = 0; r < R; r++) {
        M[r] = X[r * N];
        for (int j = 1; j < N; j += STEP)
            M[r] = of(M[r], X[r * N + j]);
    }
}
```
=== coder
```c
#include <math.h>
#define STEP 1
typedef double number;
static number of(number a, number b) { return exp(a - b); }
void
kernel(const float *restrict X, const float *restrict M, float *restrict Y)
{
    for (int r = 0; r < R; r++)
        for (int j = 0; j < N; j += STEP)
            Y[r * N + j] = (float)of(X[r * N + j], M[r]);
}
```
END_OF_SCRIPT
expect 'two parts' 0 "$HONE" optimize soft.op --recipe ./cut --model scripted:script --threads 1 \
    --evals 9 --calls 6 --effort quick -o soft.c
says err 'are joined' 'its 2 parts, joined: '
check 'and what is given is made of both' 'grep -q part1_kernel soft.c && grep -q part2_kernel soft.c'
expect 'the judge agrees' 0 "$HONE" judge soft.op soft.c --effort quick
check 'it stands alone' 'gcc -O2 -march=native -fopenmp -DHONE_MAIN soft.c -lm -o soft && ./soft'
expect 'it is replayed' 0 "$HONE" replay last
says out 'as it was' 'identical'
finish
