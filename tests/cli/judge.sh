# hone judge: verdicts, exit codes, options, JSON, mistakes.
. "${0%/*}/lib.sh"

cat >twice.op <<'END'
op twice
dim N=1000
in X: f32[N]
Y[i] = X[i] + X[i]
out Y
case odd N=37
END
cat >good.c <<'END'
void kernel(const float *X, float *Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2 * X[i];
}
END
cat >slow.c <<'END'
void kernel(const float *X, float *Y)
{
    for (int k = 0; k < 50; k++)
        for (int i = 0; i < N; i++)
            ((volatile float *)Y)[i] = 2 * X[i];
}
END
sed 's/2 \* X/3 * X/' good.c >bad.c
sed 's/i < N/i + 8 <= N/' good.c >tail.c

expect 'a correct kernel' 0 "$HONE" judge twice.op good.c
says out 'says so' 'correct   good.c for twice'
says out 'shows its cases' '  odd '
says out 'compares with the plain kernel' 'naive       the plain C, gcc -O'
says out 'says on what' ' kinds x 2 cases, '
says out 'says whether it is deterministic' 'the same twice'
check 'fits 100 columns' "! grep -q '.\{101\}' out"
expect 'one case' 0 "$HONE" judge twice.op good.c --case odd --effort quick --threads 1
check 'only that one' '! grep -q default out'
expect 'as JSON' 0 "$HONE" judge twice.op good.c --effort quick --json
check 'is one line' '[ "$(wc -l <out)" -eq 1 ]'
for field in '"status":"correct"' '"target":"cpu"' '"threads":' '"flags":"-O2' '"compiler":"gcc"' \
    '"error_over_gate":' '"time_us":{' '"median":' '"light":' '"speedups":{"naive":' '"seed":"'; do
    says out "it has $field" "$field"
done

expect 'a wrong kernel' 1 "$HONE" judge twice.op bad.c --effort quick
says out 'says so' 'wrong   bad.c: case default, '
says out 'where' '  where       every element'
says out 'and how to repeat it' 'Repeat:  hone judge twice.op bad.c --case default --seed '
seed=$(sed -n 's/.*--seed //p' out)
sed '$d' out >first
expect 'the same again' 1 "$HONE" judge twice.op bad.c --effort quick --seed "$seed"
sed '$d' out >again
check 'says the same' 'diff first again'
expect 'a tail that is dropped' 1 "$HONE" judge twice.op tail.c --case odd --effort quick
says out 'is told' 'i >= 30; all else is right'
says out 'as unwritten' 'never written'

echo 'void kernel(const float *X, float *Y) { Y[0] = nothing; }' >broken.c
expect 'one that does not compile' 1 "$HONE" judge twice.op broken.c
says out 'says where' "build_failed   broken.c:1: 'nothing' undeclared"
: >empty.c
expect 'an empty one' 1 "$HONE" judge twice.op empty.c
says out 'is rejected' 'rejected   empty.c:'
printf 'int open(const char *, int);\nvoid kernel(const float *X, float *Y) { Y[0] = open("x", 0); }\n' >opens.c
expect 'one that opens files' 1 "$HONE" judge twice.op opens.c
says out 'is rejected by name' 'open'

# Several kernels, baselines.
expect 'several kernels' 0 "$HONE" judge twice.op slow.c good.c --case default --effort quick
check 'the faster one is first' 'grep -q "^  1  *good.c" out'
says out 'the slower one is told' 'slower than good.c'
expect 'with a wrong one among them' 1 "$HONE" judge twice.op good.c bad.c --case odd --effort quick
says out 'which is named' 'wrong   bad.c'
expect 'another baseline' 0 "$HONE" judge twice.op good.c --case default --effort quick --baseline slow.c
check 'instead of naive' 'grep -q slow.c out && ! grep -q naive out'
expect 'both' 0 "$HONE" judge twice.op good.c --effort quick --baseline slow.c --baseline naive
check 'are there' 'grep -q slow.c out && grep -q naive out'
expect 'a wrong baseline' 2 "$HONE" judge twice.op good.c --effort quick --baseline bad.c
says err 'is a mistake' 'a baseline must be correct'

expect 'what is kept' 1 "$HONE" judge twice.op bad.c --effort quick --keep kept
check 'are the verdict and the text' '[ -s kept/bad.c.json ] && [ -s kept/bad.default.c ]'
expect 'and the inputs' 0 "$HONE" task twice.op --eval --inputs kept/bad.c.inputs -o evaluated

# Mistakes.
expect 'no such kernel' 2 "$HONE" judge twice.op none.c
says err 'is said' 'none.c: no such file'
head -c 4200000 /dev/zero | tr '\0' ' ' >large.c
expect 'a kernel of more than 4 MB' 2 "$HONE" judge twice.op large.c
expect 'an unknown case' 2 "$HONE" judge twice.op good.c --case even
says err 'has the known ones beside it' 'default, odd'
expect 'too many threads' 2 "$HONE" judge twice.op good.c --threads 100000
expect 'a bad seed' 2 "$HONE" judge twice.op good.c --seed xyz
expect 'a bad effort' 2 "$HONE" judge twice.op good.c --effort deep
expect 'no kernel at all' 2 "$HONE" judge twice.op
sed 's/N=1000/N=100000000000/' twice.op >huge.op
expect 'a task too large for this machine' 2 "$HONE" judge huge.op good.c --case default
says err 'says what it needs and what to shrink' 'make N smaller'

# Our own faults are exit code 3. A cache on a full disk stops nothing; no hone-box stops all.
expect 'no hone-box' 3 env HONE_BOX=/nowhere/hone-box "$HONE" judge twice.op good.c
finish
