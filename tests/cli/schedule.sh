# hone schedule: words, advice, the estimate; mistakes; --emit, --judge, --json; the page's examples.
. "${0%/*}/lib.sh"

cat >mul.op <<'EOF'
op mul
dim M=256, N=256, K=256
in A: f32[M,K]
in B: f32[K,N]
C[i,j] = sum[k](A[i,k] * B[k,j])
out C
case odd M=37 N=29 K=11
EOF
tile='C: k/64 j/128 pack(B) i/24@p j/2v i/6 acc k i@u j/v@u j@v'

expect 'the usual schedule' 0 "$HONE" schedule mul.op
says out 'is said to be it' 'mul   case default, the usual schedule'
says out 'has a line' '  C: '
says out 'and an estimate' '  estimate  '
says out 'says what to do next' '--judge'
check 'fits 100 columns' "! grep -q '.\{101\}' out"
expect 'quietly' 0 "$HONE" schedule mul.op -q
check 'without the hint' '! grep -q -e --judge out'

expect 'given lines' 0 "$HONE" schedule mul.op "$tile" --width 256
says out 'are shown' "  $tile"
says out 'in words' 'blocks of 24 i are shared among the threads'
says out 'with their sizes' 'Tiles of 6 i by 16 j stay in'
expect 'a plain line' 0 "$HONE" schedule mul.op C: --width 256
says out 'is filled in' '  C: i@p j acc k'
says out 'and advised' '  advice    C: '
says out 'with figures' 'one element at a time, where a vector holds 8'
expect 'another width' 0 "$HONE" schedule mul.op C: --width 512
says out 'is another vector' 'vectors of 16 x f32, 32 registers'
expect 'another case' 0 "$HONE" schedule mul.op --case odd
says out 'is named' 'case odd'
printf '# my own\n%s\n' "$tile" >tile.txt
expect 'from a file' 0 "$HONE" schedule mul.op --file tile.txt
says out 'the same' "  $tile"
code=0
"$HONE" schedule mul.op - <tile.txt >out 2>err || code=$?
check 'from the standard input' "[ $code -eq 0 ]"
says out 'the same too' "  $tile"

expect 'as JSON' 0 "$HONE" schedule mul.op "$tile" --json --width 256
check 'is one line' '[ "$(wc -l <out)" -eq 1 ]'
for field in '"op":"mul"' '"case":"default"' '"width":256' '"schedule":"C: k/64' '"how":"C: blocks' \
    '"lines":[{"text":"C: ' '"stage":"C"' '"does":"' '"advice":[' '"estimate_us":'; do
    says out "it has $field" "$field"
done
if command -v python3 >/dev/null; then
    check 'a JSON reader accepts it' 'python3 -c "import json; json.load(open(\"out\"))"'
fi

# A line for one case takes the place of one for all.
expect 'lines of a case' 0 "$HONE" schedule mul.op 'C: i j k; case odd: C: i k j' --case odd
says out 'stand in place of general ones' '  C: i k j'
expect 'and for that case alone' 0 "$HONE" schedule mul.op 'C: i j k; case odd: C: i k j'
says out 'as it is shown' '  C: i j k'

# What goes past the caches is vectors of f32.
printf 'op whole\ndim N=4096\nin X: i32[N]\nY[i]: i32 = X[i] + 1\nout Y\n' >whole.op
expect 'nt where it does nothing' 0 "$HONE" schedule whole.op 'Y: nt i@v'
says out 'is advised against' 'nt does nothing'
check 'and not said to be done' '! grep -q "past the caches\. " out'

# The kernel.
expect '--emit' 0 "$HONE" schedule mul.op "$tile" --emit --width 256
says out 'prints C' 'kernel(const float *restrict A, const float *restrict B, float *restrict C)'
says out 'with its schedule' " *   $tile"
cp out first.c
expect 'again' 0 "$HONE" schedule mul.op "$tile" --emit --width 256
check 'the same text, byte for byte' 'cmp first.c out'
expect '--judge' 0 "$HONE" schedule mul.op "$tile" --judge --case odd
says out 'is a verdict' 'correct   mul.c for mul'
check 'on this case alone' 'grep -q "^  odd " out && ! grep -q "^  default " out'
rows='C: j/16@p k/10 pack(B) i/24 pack(A) j/v i/6 acc k i@u j@v'
expect 'tiles of rows, copied by squares that are not whole' 0 "$HONE" schedule mul.op "$rows" \
    --case odd --width 256 --emit
says out 'the last column of which is stored in part' 'vf32_store_tail(A_'
expect 'they hold what was there' 0 "$HONE" schedule mul.op "$rows" --judge --case odd --width 256 --json
says out 'as the judge sees' '"status":"correct"'
expect '--judge --json' 0 "$HONE" schedule mul.op --judge --case odd --json
says out 'as judge writes it' '"status":"correct"'

# wrong NAME TEXT ARGUMENT...: exit code 2, the text on stderr, nothing on stdout.
wrong()
{
    name=$1 text=$2
    shift 2
    expect "$name" 2 "$HONE" "$@"
    says err "$name: is said" "$text"
    check 'nothing on stdout' '[ ! -s out ]'
}

wrong 'no such index' 'schedule:1:8: x is no index of C' schedule mul.op 'C: i@p x'
wrong 'a reduction on threads' 'schedule:1:4: k@p: a reduction is not spread over threads; ! split' \
    schedule mul.op 'C: k@p i j'
wrong 'behind a semicolon' 'schedule:1:11: there is no stage D' schedule mul.op 'C: i j k; D: i'
wrong 'a case that there is not' 'schedule:1:6: there is no case od; write one of default, odd' \
    schedule mul.op 'case od: C: i@p j acc k'
wrong 'a copy of what is not read' 'write a number up to that' schedule mul.op 'C: i@p pack(B@3) j acc k'
printf 'C: i@p j\n   acc\n' >bad.txt
wrong 'in a file' 'bad.txt:2:4: a line begins with a stage and a colon' schedule mul.op --file bad.txt
wrong 'no such file' 'none.txt: no such file' schedule mul.op --file none.txt
wrong 'both' 'write one of them' schedule mul.op C: --file tile.txt
wrong 'a width that is none' '--width 100: write 128, 256 or 512' schedule mul.op --width 100
wrong 'emit and judge' '--emit and --judge: write one of them' schedule mul.op --emit --judge
wrong 'two cases' 'name one' schedule mul.op --case default,odd
wrong 'no such task' 'none.op: no such file' schedule none.op

# A norm far from 0, in one pass: a sum of squares less the square of the sum would have no digits left.
cat >far.op <<'EOF'
op far
dim R=3, N=1500
in X: f32[R,N] from 4000 to 4001
Y = layer_norm(X)
out Y
EOF
cat >far.txt <<'EOF'
! moments Y.V j 256
Y.V.j.sq: jc do(Y.V.j) e1 acc j/4v j/v@a j@v
Y: e1@p do(Y.V.j.sq) do(Y.U) do(Y.V) j@v
EOF
expect 'a norm by chunks' 0 "$HONE" schedule far.op --file far.txt
says out 'in words' 'taken in one pass, in chunks of 256 j'
expect 'keeps its digits' 0 "$HONE" schedule far.op --file far.txt --judge --json
says out 'which the judge sees' '"status":"correct"'

# The page: every `$ hone schedule ...` in doc/schedule.md, with the files that its `$ cat FILE` show.
# What depends on the machine is left out: threads, advice, the estimate.
page=$ROOT/doc/schedule.md
awk '/^    \$ cat /{file = $3; next}
    file != "" && (/^[^ ]/ || /^    \$ /) {file = ""}
    file != "" {sub(/^    /, ""); print >file}' "$page"
sed -n 's/^    \$ hone schedule /schedule /p' "$page" >commands
check 'the page has examples' '[ "$(wc -l <commands)" -ge 10 ]'

# steady FILE: its text up to the advice.
steady()
{
    sed -e 's/, [0-9]* threads*$//' -e '/^  advice /,$d' -e '/^  estimate /,$d' "$1" |
        sed -e :a -e '/^\n*$/{$d;N;ba' -e '}'
}

while read -r command; do
    awk -v command="    \$ hone $command" '
        $0 == command { on = 1; next }
        on && (/^    \$ / || /^[^ ]/) { exit }
        on { sub(/^    /, ""); print }
    ' "$page" >want
    eval "\"\$HONE\" $command" >out 2>err </dev/null || :
    cat out err >got
    steady want >want.steady
    steady got >got.steady
    check "the page: $command" '[ -s want.steady ] && diff want.steady got.steady'
done <commands
finish
