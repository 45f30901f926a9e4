# use: operators and defs from other files, found beside the file that uses them.
. "${0%/*}/lib.sh"

mkdir -p parts/deep
cat >parts/scale.op <<'END'
use "deep/twice.op"
def shifted(x) = twice(x) + 1.0
op scaled                           # s times X
in X[...]  in s[]
Y[...]: like X = s[]*X[...]
out Y
END
cat >parts/deep/twice.op <<'END'
def twice(x) = x + x
END
cat >task.op <<'END'
use "parts/scale.op"
dim N=3
in X: f32[N]  in s: f32[]
Z = scaled(X, s)
Y = shifted(Z)
out Y
END
expect 'operators and defs of used files' 0 "$HONE" task task.op --expand
says out 'the call is expanded' 'Z[e1:N]: f32 = s[] * X[e1]'
says out 'the def too' 'Y[k1:N]: f32 = Z[k1] + Z[k1] + 1.0'
cp task.op parts/task2.op
sed -i 's,parts/scale,scale,' parts/task2.op
expect 'paths are relative to the file' 0 "$HONE" task parts/task2.op
cat >round.op <<'END'
use "round.op"
dim N=3
in X: f32[N]
Y = X
out Y
END
expect 'a file that uses itself' 2 "$HONE" task round.op
says err 'is told so' 'does one use itself'
printf 'use "nowhere.op"\ndim N=3\nin X: f32[N]\nY = X\nout Y\n' >lost.op
expect 'a file that is not there' 2 "$HONE" task lost.op
says err 'is named with its place' 'lost.op:1:1: use: '
awk 'BEGIN { for (i = 0; i < 1000000; i++) print "# ten more" }' >large.op
expect 'a file of 11 MB' 2 "$HONE" task large.op
says err 'says the limit' 'at most 1048576 bytes'
finish
