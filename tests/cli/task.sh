# hone task: the screen, JSON, cases, expansion, the reference, errors.
. "${0%/*}/lib.sh"

# Figures must not depend on where the tests run.
cat >machine <<'END'
name = test machine
threads = 2
gflops.f32 = 200    # a comment
gflops.f64 = 100
L1 = 65536 400
L2 = 1048576 200
memory = inf 32
ns.exp = 0.2
ns.division = 0.02
unknown = 7
END
HONE_MACHINE=$scratch/machine
export HONE_MACHINE

cat >softmax.op <<'END'
op softmax
dim R=1024, N=4096
in  X: f32[R,N]
M[r]   = max[j](X[r,j])
E[r,j] = exp(X[r,j] - M[r])
Y[r,j] = E[r,j] / sum[k](E[r,k])
out Y
case wide R=64 N=32768
case tail R=37 N=1009 check
END

expect 'the screen of a task' 0 "$HONE" task softmax.op
cp out screen
check 'nothing on stderr' '[ ! -s err ]'
sed 's/[0-9a-f]\{8\}$/HASH/' screen >plain
is_text plain 'is drawn as in the manual' 'softmax   3 stages, 1 input, 1 output                                             HASH
  in   X  f32[R,N]          out  Y  f32[R,N]
  M[r] = max    E[r,j] = exp    Y[r,j] = E / sum

  case         R       N    flops     exps     bytes   flop/byte   speed of light   limit
  default   1024    4096   16.8 M   4.19 M   33.6 MB         0.5          1.05 ms   memory
  wide        64   32768   8.39 M   2.10 M   16.8 MB         0.5           524 us   memory
  tail        37    1009    149 k   37.3 k    299 kB         0.5          8.21 us   exp
--expand shows every stage, --emit-reference the trusted C, --eval runs it on .npy files.'

expect 'the same from stdin is not a file' 2 "$HONE" task -
expect 'one case' 0 "$HONE" task softmax.op --case tail
check 'only that one' 'grep -q tail out && ! grep -q -e default -e wide out'
expect 'two cases' 0 "$HONE" task softmax.op --case tail,default
check 'both, in the order given' 'grep -n . out | grep -A1 "  tail" | grep -q default'
expect 'an unknown case' 2 "$HONE" task softmax.op --case tial
says err 'lists the cases' '--case tial: no such case; softmax has default, wide, tail'

unset HONE_MACHINE
expect 'without a description the machine is estimated' 0 \
    env XDG_CACHE_HOME="$scratch/nowhere" "$HONE" task softmax.op
says out 'and that is said' 'Speed of light estimated, not measured: '
HONE_MACHINE=$scratch/machine
export HONE_MACHINE

# --json

expect 'JSON' 0 "$HONE" task softmax.op --json
check 'one line' '[ "$(wc -l <out)" -eq 1 ]'
for field in '{"op":"softmax","hash":"' '"inputs":[{"name":"X","dtype":"f32","shape":[1024,4096]}]' \
    '"outputs":[{"name":"Y","dtype":"f32","shape":[1024,4096]}]' \
    '"cases":[{"name":"default","dims":{"R":1024,"N":4096},"flops":16777216,' \
    '"functions":{"division":4194304,"exp":4194304}' '"bytes":33554432' '"light_us":1048.58' \
    '"limit":"memory"' '"name":"tail","dims":{"R":37,"N":1009}' '"check_only":true' \
    '"machine":{"name":"test machine","threads":2,"measured":true}'; do
    says out "JSON has $field" "$field"
done
check 'the hash has 64 digits' 'grep -qE "\"hash\":\"[0-9a-f]{64}\"" out'
check 'brackets match' '[ "$(tr -cd "{[" <out | wc -c)" = "$(tr -cd "]}" <out | wc -c)" ]'
check 'the screen shows the same hash' \
    'grep -qF "\"hash\":\"$(head -n1 screen | grep -o "[0-9a-f]\{8\}$")" out'

# --see, with a cache in which nothing was found yet

old_cache=${XDG_CACHE_HOME-}
XDG_CACHE_HOME=$scratch/cache
export XDG_CACHE_HOME
cat >blind.op <<'END'
op blind
dim B=8, N=16
in X: f32[B,N]  in W: f32[N]  in H: f32[B]
M[b,o:1] = max[n](X[b,n]*W[n])
S[b,o] = M[b,o] - mean[p:1](M[b,p])
Y[b] = S[b,0]*2.0 + H[b]
Z[] = sum[b](H[b]*1e6 + 1.0) - sum[b](H[b]*1e6)
out Y, Z
case small N=3
END
expect 'a task before anybody looked' 0 "$HONE" task blind.op
check 'nothing is said of what it can see' '! grep -q -e "cannot see" -e ill-posed out'
expect 'as JSON' 0 "$HONE" task blind.op --json
says out 'it is not known' '"cannot_see":null,"not_tried":null,"ill_posed":null'
expect '--see' 0 "$HONE" task blind.op --see
says out 'what no output depends on' '  cannot see   X, W: no output moves when it is redrawn alone'
says out 'what is ill-posed' '  ill-posed    Z: its tolerance exceeds 1 % of its size'
check 'nothing on stderr' '[ ! -s err ]'
cp out seen
expect 'from then on' 0 env PATH=/nonexistent "$HONE" task blind.op
check 'it is shown without being asked for, or built' 'cmp -s seen out'
expect 'as JSON, too' 0 "$HONE" task blind.op --json
says out 'by name' '"cannot_see":["X","W"],"not_tried":[],"ill_posed":["Z"]'
expect 'of the first case that is shown' 0 "$HONE" task blind.op --case small
check 'which nobody has looked at' '! grep -q "cannot see" out'
printf 'dim N=50\nin A, B: f32[N]\nY[i] = A[i]*B[i]\nout Y\n' >fine.op
expect 'a task that sees everything' 0 "$HONE" task fine.op --see
says out 'that was asked for and is said' '  sees         every input: some output moves'
expect 'not asked for' 0 "$HONE" task fine.op
check 'it is not said' '! grep -q "  sees" out'
printf 'dim N=90000\nin A, B: f32[N,N]\nC[i,j] = sum[k](A[i,k]*B[k,j])\nout C\n' >vast.op
expect 'a task that is too large' 0 "$HONE" task vast.op --see
says err 'for that' 'warning: vast (case default) is too large to find out what it can see'
expect '--see and another' 2 "$HONE" task fine.op --see --expand
if [ -n "$old_cache" ]; then XDG_CACHE_HOME=$old_cache; else unset XDG_CACHE_HOME; fi

# --expand, --emit-reference

expect '--expand' 0 "$HONE" task softmax.op --expand
says out 'the stage that was split off' 'Y.1[r'
says out 'the stage it came from' 'E[r,j] / Y.1[r]'
expect '--emit-reference' 0 "$HONE" task softmax.op --emit-reference --case tail
says out 'defines the reference' 'hone_reference'
cp out reference.c
check 'gcc compiles it' 'gcc -O1 -fopenmp -Wall -Werror -c reference.c -o reference.o'

# files and mistakes

expect 'no such file' 2 "$HONE" task sotfmax.op
says err 'is said' 'sotfmax.op: no such file'
printf 'in X: f32[4]\nY[i] = X[i] + Z[i]\nout Y\n' >bad.op
expect 'a program with a mistake' 2 "$HONE" task bad.op
says err 'its place is shown' 'bad.op:2:'
check 'nothing on stdout' '[ ! -s out ]'
printf 'in X, Z: f32[4]\nY[i] = X[i]\nout Y\n' >unread.op
expect 'an input that is not read' 0 "$HONE" task unread.op
says err 'is a warning' 'warning:'
expect 'with -q' 0 "$HONE" task unread.op -q
check 'it is not said' '[ ! -s err ]'

# every example

for file in "$ROOT"/examples/*.op; do
    name=${file##*/}
    expect "$name" 0 "$HONE" task "$file"
    check "$name fits 100 columns" "! grep -q '.\{101\}' out"
    check "$name: no inexact counts" "! grep -q '<=' out"
done
finish
