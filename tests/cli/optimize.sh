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

expect 'as JSON' 0 "$HONE" optimize norm.op --case odd --evals 3 -o other.c --json
check 'is one line' '[ "$(wc -l <out)" -eq 1 ]'
for field in '"run":"' '"task":"norm"' '"target":"cpu"' '"recipe":"builtin"' '"best":{' '"time_us":' \
    '"light":' '"speedups":{"naive":' '"schedule":"' '"proposer":"builtin"' '"evaluations":' \
    '"seconds":' '"calls":0' '"cost_usd":0' '"stopped":"' '"file":"other.c"'; do
    says out "it has $field" "$field"
done
check 'nothing but the result with -q' '"$HONE" optimize norm.op --case odd --evals 1 -q 2>err >out && ! [ -s err ]'

expect 'a budget of nothing' 2 "$HONE" optimize norm.op --evals 0
says err 'says what to write' 'write a number from 1 on'
expect 'a time of nothing' 2 "$HONE" optimize norm.op --time 0
expect 'a case that there is not' 2 "$HONE" optimize norm.op --case nothing

expect 'a place that cannot be written' 2 "$HONE" optimize norm.op -o /proc/norm.c
says err 'is found before the work' 'cannot be written'
expect 'no file' 2 "$HONE" optimize nothing.op
echo nonsense >broken.db
HONE_ARCHIVE=$PWD/broken.db expect 'an archive that is none' 0 "$HONE" optimize norm.op --case odd --evals 1
says err 'only warns' 'nothing is recorded'

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
check '^C ends it well' "[ $? -eq 0 ]"
says err 'and is answered' 'stopping after this one'
says out 'with what was found' 'long.c written'
finish
