# hone optimize: a kernel that stands alone, its result, mistakes found before the work, ^C.
. "${0%/*}/lib.sh"

HONE_ARCHIVE=$PWD/archive.db
export HONE_ARCHIVE
cat >norm.op <<'END'
op norm
dim R=24, N=200
in X: f32[R,N]
M[r] = mean[j](X[r,j])
Y[r,j] = exp(X[r,j] - M[r])
out Y
case odd R=3 N=37
case seen R=1 N=5 check
END

expect 'a small operator' 0 "$HONE" optimize norm.op --evals 6
says out 'gives the time of each case' '  odd '
says out 'compares with the plain C' 'naive'
says out 'says how' '  How '
says out 'says what was written' 'norm.c written, stands alone:'
says out 'and how it is called' 'from C:   void kernel(const float *restrict X, float *restrict Y);'
says err 'what is about to be done' 'norm: 3 cases, '
says err 'and how it stands to the plain C meanwhile' 'x naive  '
check 'names the run' "grep -q '^run [a-z0-9]*' out"
check 'fits 100 columns' "! grep -q '.\{101\}' out"
expect 'the file compiles alone' 0 gcc -O2 -march=native -fopenmp -Wall -Werror -c norm.c -o norm.o
expect 'and for another case' 0 gcc -O2 -march=native -fopenmp -DR=3 -DN=37 -c norm.c -o norm.o
expect 'sizes that are no case are refused' 1 gcc -O2 -fopenmp -DR=4 -DN=4 -c norm.c -o norm.o
expect 'it has a main that tests it' 0 gcc -O2 -march=native -fopenmp -DHONE_MAIN norm.c -lm -o norm
expect 'which is content' 0 ./norm
says out 'and says what it measured' 'largest difference from the plain C'
expect 'the judge agrees' 0 "$HONE" judge norm.op norm.c --effort quick

# helpers that the kernel and the plain C both have; a division by zero, which gives zero
cat >both.op <<'END'
op both
dim M=6, N=40
in X: bf16[M,N]
in D: i32[M] from 0 to 2
Y[m,n]: bf16 = sigmoid(X[m,n]) + f32((m - 3) / D[m])
out Y
END
expect 'kernels with helpers' 0 "$HONE" optimize both.op --evals 2
expect 'have a main as well' 0 gcc -O2 -march=native -fopenmp -DHONE_MAIN both.c -lm -o both
expect 'that runs' 0 ./both

# a case that cannot be judged here is told before the first one is tuned
sed 's/^op norm/op beyond/; s/^case odd.*/case huge R=4000000 N=200000/' norm.op >huge.op
expect 'a case beyond this machine' 2 "$HONE" optimize huge.op
says err 'says which, and what to do' 'case huge'
check 'nothing was written' '! [ -e beyond.c ]'
check 'and no run was begun' '"$HONE" show >out && ! grep -q beyond out'

expect 'as JSON' 0 "$HONE" optimize norm.op --case odd --evals 3 -o other.c --json
check 'is one line' '[ "$(wc -l <out)" -eq 1 ]'
for field in '"run":"' '"task":"norm"' '"target":"cpu"' '"recipe":"builtin"' '"best":{' '"time_us":' \
    '"light":' '"speedups":{"naive":' '"schedule":"' '"proposer":"' '"evaluations":' \
    '"seconds":' '"calls":0' '"cost_usd":0' '"stopped":"' '"file":"other.c"'; do
    says out "it has $field" "$field"
done
check 'the best is a candidate of the run' "grep -q '\"candidate\":\"[a-z0-9]*\\.3\"' out"
check 'nothing but the result with -q' '"$HONE" optimize norm.op --case odd --evals 1 -q -o quiet.c 2>err >out && ! [ -s err ]'

# where to begin
expect 'a file of its own to begin with' 0 "$HONE" optimize norm.op --start norm.c --evals 3 -o again.c --json
says out 'is read for its schedules' '"proposer":"start"'
check 'and is given again when nothing else was tried' 'cmp norm.c again.c'
cat >mine.c <<'END'
//! flags -O3
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int r = 0; r < R; r++) {
        float mean = 0;
        for (int j = 0; j < N; j++)
            mean += X[r * N + j] / N;
        for (int j = 0; j < N; j++)
            Y[r * N + j] = (float)exp((double)(X[r * N + j] - mean));
    }
}
END
sed 's/- mean/+ mean/' mine.c >wrong.c
cat >product.op <<'END'
op product
dim N=96
in A, B: f32[N,N]
Y[i,j] = sum[k](A[i,k]*B[k,j])
out Y
END
cat >product_mine.c <<'END'
//! flags -O3
void
kernel(const float *restrict A, const float *restrict B, float *restrict Y)
{
    for (int i = 0; i < N; i++) {
        float row[N] = {0};
        for (int k = 0; k < N; k++)
            for (int j = 0; j < N; j++)
                row[j] += A[i * N + k] * B[k * N + j];
        memcpy(Y + i * N, row, sizeof row);
    }
}
END
expect 'a kernel to beat' 0 "$HONE" optimize product.op --start product_mine.c --evals 1 -o best.c
says out 'is named where nothing was faster' 'product_mine.c as it is'
check 'and given back' 'cmp product_mine.c best.c'
# with one processor the plain C may be clang's, whose build no kernel can ask for
if [ "$(nproc)" -gt 1 ] || ! command -v clang >/dev/null; then
    expect 'a slow one' 0 "$HONE" optimize norm.op --case default --start mine.c --evals 1 -o best.c
    says out 'gives way to the plain C' 'The plain C of the operator'
    says out 'with its flags' 'gcc -O2 -march=native -O'
    check 'which stands alone' 'gcc -O2 -march=native -Ofast -fopenmp -DHONE_MAIN best.c -lm -o best && ./best >out'
    expect 'as a library' 0 "$HONE" export lib made norm.op best.c
fi
expect 'one that is wrong' 0 "$HONE" optimize norm.op --case odd --start wrong.c --evals 2 -o best.c
says err 'is told' '--start wrong.c: wrong in case odd'
expect 'none at all' 2 "$HONE" optimize norm.op --start nothing.c
head -c 100 /dev/zero >zero.c
expect 'one that is no text' 2 "$HONE" optimize norm.op --start zero.c
says err 'is told too' 'it is binary'

# when it is enough
expect 'times as fast as naive' 0 "$HONE" optimize norm.op --case odd --until 0.001x --json -o best.c
says out 'end it' '"stopped":"gain"'
expect 'no goal' 2 "$HONE" optimize norm.op --until soon
says err 'is explained' 'write a share of the speed of light, 0.9, or how many times as fast as naive, 2x'
expect 'beyond the limit' 2 "$HONE" optimize norm.op --until 1.5
expect 'no effort' 2 "$HONE" optimize norm.op --effort little
says err 'lists them' 'write quick, normal or deep'
expect 'an effort' 0 "$HONE" optimize norm.op --case odd --effort quick --evals 1 -o best.c

# what it must keep to
if [ "$(uname -m)" = x86_64 ]; then
    expect 'fewer instructions' 0 "$HONE" optimize norm.op --case default --evals 2 -o narrow.c \
        --require 'isa<=sse2 threads<=1 deterministic' --json
    check 'are part of the file' "head -1 narrow.c | grep -qx '//! flags -mno-avx'"
    expect 'which builds with them' 0 gcc -O2 -fopenmp -Wall -Werror -c narrow.c -o narrow.o
    check 'and has no wider ones' '! objdump -d narrow.o | grep -q ymm'
    expect 'the judge agrees to it' 0 "$HONE" judge norm.op narrow.c --case default --effort quick
fi
for word in 'isa<=mmx' 'threads<=0' 'threads<=many' fast 'isa=avx2' ''; do
    expect "--require '$word'" 2 "$HONE" optimize norm.op --require "$word"
    says err 'says what to write' 'write '
done
expect 'more threads than allowed' 2 "$HONE" optimize norm.op --threads 2 --require 'threads<=1'

# every size
make_any_op
expect 'dims of any size' 0 "$HONE" optimize any.op --evals 2
expect 'are served at others' 0 gcc -O2 -march=native -fopenmp -Wall -Werror -DR=5 -DN=7 -c anysize.c -o any.o
expect 'and where they were tuned' 0 gcc -O2 -march=native -fopenmp -Wall -Werror -c anysize.c -o any.o
expect 'the judge agrees at all' 0 "$HONE" judge any.op anysize.c --effort quick

expect 'a budget of nothing' 2 "$HONE" optimize norm.op --evals 0
says err 'says what to write' 'write a number from 1 on'
expect 'a time of nothing' 2 "$HONE" optimize norm.op --time 0
expect 'a case that there is not' 2 "$HONE" optimize norm.op --case nothing

expect 'a place that cannot be written' 2 "$HONE" optimize norm.op -o /proc/norm.c
says err 'is found before the work' 'cannot be written'
expect 'a folder' 2 "$HONE" optimize norm.op -o .
says err 'is none for a kernel' 'it is a folder'
expect 'its own task' 2 "$HONE" optimize norm.op -o norm.op
says err 'is not replaced' 'norm.op is what it begins with'
mkdir other
echo 'int written_by_somebody;' >other/norm.c
expect 'a file of somebody' 2 sh -c 'cd other && "$0" optimize ../norm.op --evals 1' "$HONE"
says err 'is not replaced either' 'norm.c is there already and not of hone'
expect 'no file' 2 "$HONE" optimize nothing.op
echo nonsense >broken.db
HONE_ARCHIVE=$PWD/broken.db expect 'an archive that is none' 0 "$HONE" optimize norm.op --case odd --evals 1
says err 'only warns' 'nothing is recorded'

# a compiler that is missing, fails without a word, is killed, or lies where the jail cannot see it
mkdir bare silent killed elsewhere
ln -s /usr/bin/false silent/gcc
printf '#!/bin/sh\nkill -9 $$\n' >killed/gcc
printf '#!/bin/sh\nexec %s "$@"\n' "$(command -v gcc)" >elsewhere/gcc
chmod +x killed/gcc elsewhere/gcc
# optimize_with PATH WORDS
optimize_with()
{
    expect "without a compiler: $2" 3 env PATH="$1" "$HONE" optimize norm.op --evals 2 -o none.c
    says err 'is told' "$2"
    check 'and nothing is written' '! [ -e none.c ]'
}
optimize_with silent 'gcc ended without a word (exit code 1)'
optimize_with killed 'gcc ended without a word (signal 9)'
optimize_with "$PWD/elsewhere:$PATH" 'elsewhere/gcc: lies outside /usr'
optimize_with bare 'gcc: not found in PATH; install it'
expect 'with a compiler it goes on' 0 "$HONE" resume last
check 'and writes what was wanted' '[ -s none.c ]'

cat >long.op <<'END'
op long
dim M=96, N=96, K=96
in A: f32[M,K]
in B: f32[K,N]
C[m,n] = sum[k](A[m,k]*B[k,n])
out C
END
# ^C once: the best so far is given
"$HONE" optimize long.op --evals 5000 --patience 5000 --until 1 >out 2>err &
pid=$!
tries=0
while ! grep -q 'long: default' err && [ $tries -lt 600 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
kill -INT $pid
wait $pid
code=$?
[ $code -eq 0 ] || quote err
check '^C ends it well' "[ $code -eq 0 ]"
says err 'and is answered' 'stopping after this one'
says out 'with what was found' 'long.c written'
finish
