# hone bench: a tiny suite with broken tasks, going on after kill -9, comparing, forms of the result.
. "${0%/*}/lib.sh"

HONE_ARCHIVE=$PWD/archive.db HONE_TORCH=$PWD/no_torch
export HONE_ARCHIVE HONE_TORCH
unset HONE_MODEL HONE_RECIPE

mkdir tiny
cat >tiny/001_scale.op <<'END'
# Twice a vector.
op scale
dim N=300
in X: f32[N]
Y[i] = 2 * X[i]
out Y
case other N=5
case small N=37 check
END
cat >tiny/002_broken.op <<'END'
# Not a program.
op broken
dim N=4
in X: f32[N]
Y[i] = X[i,i]
out Y
END
cat >tiny/003_total.op <<'END'
# The sum of each row.
op total
dim R=7, N=40
in X: f32[R,N]
Y[r] = sum[j](X[r,j])
out Y
END
cat >tiny/LIST <<'END'
# three and a half tasks
1 001_scale.op
2 002_broken.op
3 003_total.op wasteful
4 004_missing.op
END

expect 'a suite with broken tasks' 1 "$HONE" bench tiny --evals 2
cp out whole
says err 'warns once that PyTorch is not there' 'warning: no PyTorch, its baselines are left out'
check 'really once' '[ "$(grep -c PyTorch err)" -eq 1 ]'
says err 'tells of each task in a pipe' 'tiny: 1/4 1 scale '
says err 'of the broken one too' 'tiny: 2/4 2 broken broken: 002_broken.op:5: '
says out 'has a title' 'tiny   4 tasks, builtin, '
says out 'its columns' '  against              geomean    fast_1   fast_1.5    fast_2     tasks'
says out 'the plain C' '  naive, best build '
says out 'the headline' '    without 1 whose reference wastes work'
says out 'light' '  light                median '
says out 'the slowest' '  slowest two '
says out 'counts' '  correct 2, wrong 0, broken 2'
says out 'why one is broken' '  broken  2 broken: 002_broken.op:5: X has 1 dimension'
says out 'why another is' '  broken  4 missing: '
check 'it fits 100 columns' "! grep -q '.\{101\}' out"
first=$(sed -n 's/.* run \([a-z0-9]*\)$/\1/p' out)
check 'it has a name' '[ -n "$first" ]'
expect 'which shows it again' 1 "$HONE" bench --resume "$first"
check 'as it was' 'cmp -s whole out'
expect 'the searches are runs' 0 "$HONE" show
says out 'of both tasks that work' 'scale '

expect 'as JSON' 1 "$HONE" bench --resume last --json
check 'it is one line' '[ "$(wc -l <out)" -eq 1 ]'
for field in '"run":"' '"title":"tiny"' '"against":"naive"' '"state":"done"' '"tasks":[{"suite":"tiny"' \
    '"number":1,"name":"scale"' '"status":"correct"' '"status":"broken"' '"time_us":' '"light":' \
    '"speedups":{"naive":' '"evaluations":2' '"metrics":[{"recipe":"builtin"' \
    '"part":"headline"' '"fast_1.5":' '"machine":{"cpu":"'; do
    says out "it has $field" "$field"
done
for field in '"limit":"' '"attempts":' '"built":' '"right":' '"sol_score":' '"area":' '"code_bleu":' \
    '"slowest":[{"suite":"tiny","number":' '"figures":{"baseline":"naive","attempts":' \
    '"compile_rate":' '"best_of":[{"k":1,"build":' '"efficiency":' '"perf":' '"equal_cost":[]'; do
    says out "the published figures have $field" "$field"
done
says out 'the limit is more than a word' ' evaluation'
expect 'with more to see' 1 "$HONE" bench --resume last -v
says out 'each far from light says why' '  what limits the slowest, and all below 70 % of light'
says out 'in words' ' evaluation'
says out 'figures of others' ' kernels that were judged, against naive (doc/metrics.md)'
says out 'shares' '  compile rate   correct   SOL score   area under best-so-far   CodeBLEU to the start'
says out 'bests of k' '  k   build@k   pass@k   speedup@k   efficiency@k   Perf@k'
expect 'a benchmark is shown by its name' 0 "$HONE" show "$first"
check 'as it was' 'cmp -s whole out'
expect 'and listed beside the runs' 0 "$HONE" show
says out 'with what it is of' "$first"
says out 'and how much of it is done' '4/4   done'
expect 'as JSON too' 0 "$HONE" show --json
says out 'by their names' '"benchmarks":[{"bench":"'
expect 'a benchmark has no tree' 2 "$HONE" show "$first" --watch
says err 'says who has' 'is a benchmark, which has neither calls nor a tree'
expect 'as CSV, into a file' 1 "$HONE" bench --resume last --csv -o table.csv
check 'which is not printed' '[ ! -s out ]'
check 'it has five lines' '[ "$(wc -l <table.csv)" -eq 5 ]'
says table.csv 'it has the figures of each task' ',seconds,limit,attempts,built,right,sol_score,area,code_bleu,'
says table.csv 'and quotes what has commas' ',broken,"002_broken.op:5: X has 1 dimension, here '

# Each finished task has an entry in the archive; what is killed in the middle of one has not.
: >killed.err
mkdir many
for i in 01 02 03 04 05 06 07 08 09 10 11 12 13 14 15 16 17 18 19 20; do
    sed "s/op scale/op scale$i/; /^case/d" tiny/001_scale.op >"many/0${i}_scale$i.op"
    echo "${i#0} 0${i}_scale$i.op" >>many/LIST
done
"$HONE" bench many --evals 1 >killed.out 2>killed.err &
pid=$!
tries=0
while ! grep -q 'many: 7/20 ' killed.err && [ "$tries" -lt 1200 ]; do
    sleep 0.05
    tries=$((tries + 1))
done
kill -9 "$pid"
wait "$pid" 2>/dev/null
sed -n 's|^many: [0-9]*/20 [0-9]* \(scale[0-9]*\) .*|\1|p' killed.err >finished
check 'it was killed in the middle' '[ "$(wc -l <finished)" -ge 7 ] && [ "$(wc -l <finished)" -lt 20 ]'
expect 'a killed one goes on' 0 "$HONE" bench --resume last
check 'it has another name' '! grep -q "run $first\$" out'
check 'what was finished is not done again' '! grep -q -w -f finished err'
says err 'the rest is done' 'many: 20/20 20 scale20 '
says out 'and all are there' '  correct 20, wrong 0, broken 0'
"$HONE" show --all >runs
check 'each search that was finished was made once' \
    'while read -r name; do [ "$(grep -c -w "$name" runs)" -eq 1 ] || exit 1; done <finished'

expect 'one compared with itself' 0 "$HONE" bench --compare "$first" "$first" --gate 3
says out 'is the same' '  faster 0, slower 0, same 2 (beyond 2 %, paired)'
expect 'with more to see' 0 "$HONE" bench --compare "$first" "$first" -v
says out 'at equal cost too' '  at equal evaluations: same (2 tasks)'
expect 'a second one' 1 "$HONE" bench tiny --evals 1 -q
second=$(sed -n 's/.* run \([a-z0-9]*\)$/\1/p' out)
expect 'two of them' 0 "$HONE" bench --compare "$first" "$second" --json
says out 'as JSON' '"only_before":0,"only_after":0,"regressed":false'
says out 'with equal costs' '"equal_cost":{"evaluations":'

expect 'recipes side by side' 0 "$HONE" bench tiny:3 --evals 2 --recipe builtin --recipe best-of-n \
    --model builtin
says out 'have a line each' '  best-of-n '
says out 'at equal evaluations' '  against naive, at most 2 evaluations and 60 s a task each'
expect 'and more figures' 0 "$HONE" show "$(sed -n 's/.* run \([a-z0-9]*\)$/\1/p' out)" -v
says out 'of each' '  best-of-n: figures over '
says out 'at equal cost' '  over builtin at equal   evaluations   tokens   usd'
expect 'files are tasks too' 0 "$HONE" bench tiny/001_scale.op --evals 1 -q
says out 'by their name' 'tiny/001_scale.op   1 tasks'

# Libraries, where a task is exactly theirs.
cat >product.op <<'END'
op product
dim M=24, N=32, K=40
in A: f32[M,K]  in B: f32[K,N]
Y = matmul(A, B)
out Y
END
expect 'against a library' 0 "$HONE" bench product.op tiny/003_total.op --evals 1 --against openblas,naive --csv
if grep -q 'no OpenBLAS' err; then
    says err 'that is not there' 'apt-get install libopenblas0-openmp installs it'
else
    says out 'its time is a column' ',openblas_us,openblas_speedup,'
    says out 'its build names the processor' ',openblas.sgemm '
    check 'a task that is none of its own has no time of it' "grep -q '^tiny,.*,,,,,' out"
fi

# The setting says where PyTorch is: here something that only notes that it was started.
mkdir -p config/hone torch/bin torch/lib/python3.11/site-packages/torch
: >torch/lib/python3.11/site-packages/torch/version.py
printf '#!/bin/sh\n: >"%s/started"\nexit 1\n' "$PWD" >torch/bin/python3
chmod +x torch/bin/python3
printf 'torch = %s/torch\n' "$PWD" >config/hone/config
expect 'PyTorch where the setting says' 1 \
    env -u HONE_TORCH XDG_CONFIG_HOME="$PWD/config" "$HONE" bench tiny:1 --prepare
says err 'is thought to be there' "PyTorch's process ended"
check 'and is started' '[ -e started ]'

# Mistakes, before anything is begun.
expect 'nothing' 2 "$HONE" bench
says err 'says what to write' 'Write a suite, as in hone bench kernelbench/1:1-20'
expect 'no such suite' 2 "$HONE" bench kernelbench/4
says err 'names one' 'did you mean kernelbench/'
expect 'no such number' 2 "$HONE" bench kernelbench/1:1-200
says err 'says which there are' 'its tasks are 1 to 100'
expect 'a list that is none' 2 sh -c "mkdir bad && echo '1 ../x.op' >bad/LIST && '$HONE' bench bad"
says err 'has its line' 'bad/LIST:1: '
expect 'no such baseline' 2 "$HONE" bench tiny --against jax
says err 'names those' 'write torch, openblas, onednn, naive, or several'
expect 'builds of PyTorch without PyTorch' 2 "$HONE" bench tiny --prepare
says err 'says what it is for' "--prepare: it makes PyTorch's builds; write --against torch"

expect 'no such recipe' 2 "$HONE" bench tiny --recipe nosuch
expect 'too many jobs' 2 "$HONE" bench tiny --jobs 64 --threads 64
says err 'says what there is' 'processors, here are '
expect 'no such benchmark' 2 "$HONE" bench --resume zzzz
says err 'says so' 'zzzz: no benchmark has that name'
expect 'a gate without a comparison' 2 "$HONE" bench tiny --gate 3
expect 'a comparison of one' 2 "$HONE" bench --compare "$first"
says err 'wants two' 'two benchmarks are wanted'
expect 'a gate that is none' 2 "$HONE" bench --compare "$first" last --gate much
says err 'wants per cents' 'write per cents, as in 3'
expect 'a place that cannot be written' 2 "$HONE" bench tiny -o /nonexistent/x
finish
