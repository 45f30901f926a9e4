# hone contract: the rules, a task's own part, JSON, mistakes.
. "${0%/*}/lib.sh"

expect 'which targets there are' 0 "$HONE" contract
says out 'cpu is one' '  cpu      one C file'
expect 'the same as JSON' 0 "$HONE" contract --json
says out 'in a list' '{"targets":[{"target":"cpu","summary":"'

expect 'the rules of cpu' 0 "$HONE" contract cpu
cp out rules
check 'nothing on stderr' '[ ! -s err ]'
check 'fits 100 columns' "! grep -q '.\{101\}' rules"
check 'no blanks at the ends of lines' "! grep -q ' \$' rules"
for text in 'void kernel(const T *restrict in1, ..., T *restrict out1, ...);' \
    'f16 _Float16' 'multiples of 64 bytes' 'at most 1 GB' 'at most 1 MB a thread' \
    '#if N == 4096' 'dim any' '//! flags -O3' '//! tune' 'omp_get_max_threads()' \
    'everything of <math.h>' '-mprefer-vector-width=none|128|256|512' 'fast-math' \
    '-falign-functions=64 -falign-loops=32' 'hone contract cpu FILE.op'; do
    says rules "it says $text" "$text"
done

expect 'the header' 0 "$HONE" contract hone.h
check 'as it is' 'cmp -s out "$ROOT/src/target/header/hone.h"'
expect 'the header as JSON' 0 "$HONE" contract hone.h --json
says out 'name and text' '{"header":"hone.h","text":"/* hone.h: '
expect 'a header has no task' 2 "$HONE" contract hone.h "$ROOT/examples/softmax.op"

expect 'a task' 0 "$HONE" contract cpu "$ROOT/examples/softmax.op"
check 'nothing on stderr' '[ ! -s err ]'
says out 'its prototype' 'void kernel(const float *restrict X, float *restrict Y);'
says out 'the prelude begins' '#define HONE 1'
check 'the rules stand before it' \
    'head -n $(($(wc -l <rules) - 2)) rules >a; head -n $(wc -l <a) out | cmp - a'
sed -n '/^The task softmax wants/,/^The prelude/p' out >own
is_text own 'what is its own' 'The task softmax wants

void kernel(const float *restrict X, float *restrict Y);

    in   X f32[R,N]
    out  Y f32[R,N]

Sizes, as macros; the same file must serve every case:
    default  R=1024 N=4096
    wide     R=64 N=32768
    tail     R=37 N=1009

The prelude of case default; the kernel'"'"'s text follows it:'

expect 'another case' 0 "$HONE" contract cpu "$ROOT/examples/softmax.op" --case wide
says out 'has its own sizes' '#define N 32768'
says out 'and its name' 'The prelude of case wide'
expect 'a task for any size' 0 "$HONE" contract cpu "$ROOT/examples/window_attention.op"
says out 'says which' 'and every S from 1 to 2048 that the task'
expect 'sizes that are computed' 0 "$HONE" contract cpu "$ROOT/examples/max_pool.op"
says out 'are shown as the task has them' 'f32[N,C,(H-1)/2+1,(W-1)/2+1]'
says out 'and as macros' 'H=112 W=112 OH=56 OW=56'

for file in "$ROOT"/examples/*.op; do
    name=${file##*/}
    expect "$name" 0 "$HONE" contract cpu "$file"
    check "$name fits 100 columns" "! grep -q '.\{101\}' out"
done

# --json

expect 'JSON' 0 "$HONE" contract cpu "$ROOT/examples/softmax.op" --json --case tail
check 'one line' '[ "$(wc -l <out)" -eq 1 ]'
for field in '{"target":"cpu","summary":"' '"entry":"kernel"' '"suffix":".c"' '"compiler":"gcc"' \
    '"flags":["-O2","-ftree-vectorize"' '"allowed_flags":["-O1",' '"-f[no-]fast-math"' \
    '"--param=max-unroll-times=N"' '"symbols":[{"what":"memcpy ' '"limits":{"text_bytes":4194304,' \
    '"alignment":64}' '"contract":"A kernel for cpu is one C file' '"op":"softmax","case":"tail"' \
    '"signature":"void kernel(const float *restrict X, float *restrict Y)"' \
    '"prelude":"#define HONE 1\u000a' '/* softmax, case tail */' \
    '"cases":[{"name":"default","macros":{"R":1024,"N":4096}},{"name":"wide",'; do
    says out "JSON has $field" "$field"
done
if command -v python3 >/dev/null; then
    check 'a JSON reader accepts it' 'python3 -c "import json; json.load(open(\"out\"))"'
fi

# The prelude and a kernel are all that a compiler needs.

sed -n '/^#define HONE/,/^void kernel/p' >k.c <<END
$("$HONE" contract cpu "$ROOT/examples/softmax.op")
END
cat "$ROOT/examples/softmax.c" >>k.c
expect 'gcc compiles prelude and kernel' 0 gcc -O2 -fopenmp -Wall -Werror -c k.c -o k.o

# mistakes

expect 'an unknown target' 2 "$HONE" contract cpuu
is_text err 'is said' 'cpuu: no such target; did you mean cpu?'
expect 'one that resembles nothing' 2 "$HONE" contract abacus
is_text err 'lists what there is' 'abacus: no such target; there is cpu'
check 'nothing on stdout' '[ ! -s out ]'
expect 'no such file' 2 "$HONE" contract cpu nowhere.op
says err 'is said' 'nowhere.op: no such file'
expect 'an unknown case' 2 "$HONE" contract cpu "$ROOT/examples/softmax.op" --case big
says err 'lists the cases' '--case big: no such case; softmax has default, wide, tail'
expect 'a case without a task' 2 "$HONE" contract cpu --case tail
says err 'is said' '--case belongs to a task; write hone contract TARGET FILE.op'
printf 'dim NAN=4\nin X: f32[NAN]\nY[i] = X[i]\nout Y\n' >bad.op
expect 'a task that C cannot spell' 2 "$HONE" contract cpu bad.op
says err 'is said' 'bad.op: cpu cannot run it: dim NAN has a name that means something else in C'
printf 'in X: f32[4]\nY[i] = Z[i]\nout Y\n' >bad.op
expect 'a task with a mistake' 2 "$HONE" contract cpu bad.op
says err 'its place is shown' 'bad.op:2:'
expect 'one operand too many' 2 "$HONE" contract cpu a.op b.op
finish
