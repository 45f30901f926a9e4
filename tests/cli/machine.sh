# hone machine: the screen, the JSON, what is kept. No figure that a clock gave is looked at.
. "${0%/*}/lib.sh"

XDG_CACHE_HOME=$scratch/cache
export XDG_CACHE_HOME
unset HONE_MACHINE

expect 'the first use measures' 0 "$HONE" machine
says err 'and keeps' "kept in $scratch/cache/hone/machine"
check 'a title: cores, threads, vectors' \
    "head -1 out | grep -Eq ', [0-9]+ cores?, [0-9]+ threads?, .*: [0-9]+ x f32, [0-9]+ registers'"
check 'peaks and memory' "grep -Eq '^  peak +[0-9.]+ GFLOP/s.*; memory .* GB/s; L1 ' out"
check 'noise' "grep -Eq '^  timer .*noise [0-9.]+ % [(]A/A[)]' out"
check 'counters' "grep -Eq '^  counters    (present|none)' out"
check 'the compiler' "grep -Eq '^  found       gcc [0-9]' out"
check 'whether it is fit' "grep -Eq '^(not )?fit to measure' out"
check 'the description is whole' \
    'grep -q "^gflops.f32 = " cache/hone/machine && grep -q "^memory = inf " cache/hone/machine'
check 'every function has a cost' '[ "$(grep -c "^ns\\." cache/hone/machine)" -ge 20 ]'
cp cache/hone/machine first

expect 'the second use does not' 0 "$HONE" machine
check 'nothing was measured' 'cmp -s first cache/hone/machine'
check 'nothing is said' '[ ! -s err ]'

cat >op.op <<'END'
op twice
dim N=1024
in X: f32[N]
Y[i] = 2 * X[i]
out Y
END
expect 'hone task takes the figures' 0 "$HONE" task op.op --json
says out 'measured' '"measured":true'
sed 's/^key = .*/key = 512 another machine/' first >cache/hone/machine
expect 'those of another machine are not taken' 0 "$HONE" task op.op
says out 'but estimated' 'Speed of light estimated, not measured: '
says out 'and what to do' 'hone machine measures it'

cat >description <<'END'
name = test machine
threads = 2
gflops.f32 = 204
gflops.f64 = 102
one.gflops.f32 = 102
one.gflops.f64 = 51
L1 = 65536 400
one.L1 = 200
memory = inf 32
one.memory = 16
store.memory = 12
ns.exp = 0.125
ns.division = 0.0625
timer.ns = 30
handshake.ns = 310
noise = 0.011
seconds = 4.1
time = 1794784936
END
HONE_MACHINE=$scratch/description
export HONE_MACHINE
expect 'a named description is shown' 0 "$HONE" machine --json
check 'one line' '[ "$(wc -l <out)" -eq 1 ]'
for field in '"cpu":"' '"cores":' '"threads":' '"vector_bits":' '"vector_registers":' \
    '"peak_gflops":[102,204]' '"peak_gflops_f64":[51,102]' '"bandwidth_gbs":[16,32]' \
    '"caches":[{"level":1,"bytes":' '"noise":' '"steal":' '"fit":' '"advice":[' \
    '"levels":[{"name":"L1","bytes":65536,"gbs":[200,400],"store_gbs":null},{"name":"memory","bytes":null,"gbs":[16,32],"store_gbs":12}]' \
    '"function_ns":{"division":0.0625,"exp":0.125}' '"timer_ns":30,"handshake_ns":310' \
    '"compilers":{"gcc":"' '"measured":{"time":1794784936,"seconds":4.1,"noise":0.011,'; do
    says out "JSON has $field" "$field"
done
if command -v python3 >/dev/null; then
    check 'it is JSON' 'python3 -m json.tool out'
fi
expect 'details' 0 "$HONE" machine -v
says out 'levels' 'memory    16 GB/s    32 GB/s         12 GB/s'
says out 'functions' 'ns an f32   division 0.0625, exp 0.125'
check 'nothing was measured for it' '[ ! -s err ]'

expect 'a named one is not written over' 2 "$HONE" machine --measure
says err 'what to do' 'unset it first'
echo 'nonsense' >description
expect 'what is no description' 2 "$HONE" machine
says err 'is said' 'no description of a machine'
rm description
expect 'nor a file that is not there' 2 "$HONE" machine
unset HONE_MACHINE

expect 'no operand' 2 "$HONE" machine now
cp first cache/hone/machine
PATH=/nonexistent
expect 'without compilers' 0 "$HONE" machine
PATH=/usr/local/bin:/usr/bin:/bin
says out 'they are missing' 'missing     gcc (needed): sudo apt-get install gcc'
finish
