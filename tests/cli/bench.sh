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
says out 'its columns' '  against              geomean    fast_0    fast_1   fast_1.5    fast_2     tasks'
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
    '"part":"headline"' '"claimed":true' '"fast_0":' '"fast_1.5":' '"label":null' '"machine":{"cpu":"'; do
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
says table.csv 'it has a column for the label' 'suite,number,name,marks,label,recipe,'
check 'it has five lines' '[ "$(wc -l <table.csv)" -eq 5 ]'
says table.csv 'it has the figures of each task' ',seconds,limit,attempts,built,right,sol_score,area,code_bleu,'
says table.csv 'and quotes what has commas' ',broken,"002_broken.op:5: X has 1 dimension, here '

# Each finished task has an entry in the archive; what is killed in the middle of one has not.
mkdir many
for i in 01 02 03 04 05 06 07 08 09 10 11 12 13 14 15 16 17 18 19 20; do
    sed "s/op scale/op scale$i/; /^case/d" tiny/001_scale.op >"many/0${i}_scale$i.op"
    echo "${i#0} 0${i}_scale$i.op" >>many/LIST
done
: >killed.err
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

# What a person would see after a change that made a kernel slower, and with PyTorch: figures that
# no clock has measured, in the archive.
if command -v sqlite3 >/dev/null; then
    sqlite3 archive.db "
        CREATE TEMP TABLE two AS SELECT id, name FROM bench WHERE name IN ('$first', '$second');
        UPDATE bench_task SET time_us = 10, low_us = 9.9, high_us = 10.1
            WHERE status = 'correct' AND bench IN (SELECT id FROM two);
        UPDATE bench_baseline SET speedup = 3, speedup_low = 2.95, speedup_high = 3.05
            WHERE bench IN (SELECT id FROM two);
        DELETE FROM two WHERE name = '$first';
        UPDATE bench_task SET time_us = 11, low_us = 10.9, high_us = 11.1
            WHERE number = 1 AND bench IN (SELECT id FROM two);
        UPDATE bench_baseline SET speedup = 2.73, speedup_low = 2.69, speedup_high = 2.77
            WHERE place = 0 AND bench IN (SELECT id FROM two);"
    expect 'one task got slower' 0 "$HONE" bench --compare "$first" "$second"
    says out 'it is counted' '  faster 0, slower 1, same 1 (beyond 2 %, paired)'
    says out 'and told' '  slower   1 scale   10.0 us -> 11.0 us   10 % [7.9, 12.1]'
    expect 'a gate shuts' 1 "$HONE" bench --compare "$first" "$second" --gate 3
    says out 'and says so' 'exit 1 with --gate 3: a task got more than 3 % slower'
    expect 'for programs too' 1 "$HONE" bench --compare "$first" "$second" --gate 3 --json
    says out 'in a field' '"regressed":true'
    expect 'a wider gate does not' 0 "$HONE" bench --compare "$first" "$second" --gate 9
    expect 'what got faster shuts none' 0 "$HONE" bench --compare "$second" "$first" --gate 3

    pretend_torch archive.db "$second" 'no compiler'
    expect 'a build that did not work' 1 "$HONE" bench --resume "$second" -v
    says out 'is told in the summary' '  torch, best of 2 builds (1 task with fewer)'
    says out 'and by name' '  3 total  torch.aot: no compiler'
    says out 'as shipped is shown' '  torch, as shipped       6.0x '
    expect 'as JSON' 1 "$HONE" bench --resume "$second" --json
    says out 'with the reason' '"absent":[{"name":"torch.aot","reason":"no compiler"}]'
    says out 'and how many tasks' '"builds":2,"fewer":1}'
    says out 'as shipped is never claimed against' '{"baseline":"torch.as shipped","part":"all","claimed":false,'
    check 'its times are those that there are' '! grep -q "\"torch.aot\":null" out'
else
    echo 'ok - results that got slower # SKIP sqlite3 is not installed'
fi
mkdir suites
cp -r tiny suites/tiny
cp tiny/002_broken.op suites/tiny/001_scale.op
expect 'a task that is no more' 1 "$HONE" bench suites/tiny:1 --evals 1 -q
expect 'shuts a gate' 1 "$HONE" bench --compare "$first" last --gate 3
says out 'as lost' '  lost     1 scale   correct -> broken '
says out 'which it says' 'a task got more than 3 % slower, or was lost'

expect 'recipes side by side' 0 "$HONE" bench tiny:3 --evals 2 --recipe builtin --recipe best-of-n \
    --model builtin
says out 'have a line each' '  best-of-n '
says out 'at equal evaluations' '  against naive, at most 2 evaluations and 60 s a task each'
expect 'and more figures' 0 "$HONE" show "$(sed -n 's/.* run \([a-z0-9]*\)$/\1/p' out)" -v
says out 'of each' '  best-of-n: figures over '
says out 'at equal cost' '  over builtin at equal   evaluations   tokens   usd'
expect 'files are tasks too' 0 "$HONE" bench tiny/001_scale.op --evals 1 -q
says out 'by their name' 'tiny/001_scale.op   1 task, builtin,'

# Figures of these tasks are not those of others of that name, and say so in every form.
mkdir -p suites/kernelbench/own
cp tiny/001_scale.op suites/kernelbench/own
echo '1 001_scale.op' >suites/kernelbench/own/LIST
label='KernelBench tasks on CPU (own text, v0 shapes, f32, weights as inputs)'
expect 'a suite with a label' 0 "$HONE" bench suites/kernelbench/own --evals 1
says out 'is shown with it' "$label"
expect 'as CSV' 0 "$HONE" bench --resume last --csv
says out 'it is a column' "kernelbench/own,1,scale,,\"$label\",builtin,correct,"
expect 'as JSON' 0 "$HONE" bench --resume last --json
says out 'it is a field of the whole' "\"label\":\"$label\",\"against\":"
says out 'and of each task' "\"label\":\"$label\",\"recipe\":"

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

# Thirteen that are broken: twelve are named, and how many there are besides.
mkdir bad_ones
for i in 01 02 03 04 05 06 07 08 09 10 11 12 13; do
    cp tiny/002_broken.op "bad_ones/0${i}_broken.op"
done
expect 'many broken tasks' 1 "$HONE" bench bad_ones --evals 1 -q
check 'a dozen are named' "[ \$(grep -c '^  broken  ' out) -eq 12 ]"
says out 'and the others counted' '  ... and 1 more: --csv has them all'
rm bad_ones/013_broken.op
expect 'a dozen' 1 "$HONE" bench bad_ones --evals 1 -q
check 'has no others' "! grep -q 'has them all' out"
expect 'with tasks that the first has not' 2 "$HONE" bench --compare "$first" last --gate 3
says err 'there is nothing to compare' ': no task is done in both (4 only in the first, 12 only in the second)'

# Mistakes, before anything is begun: a name of a model is read once, not once a task.
"$HONE" show --json >before
expect 'no such model' 2 "$HONE" bench tiny --evals 1 --model nosuch:x
says err 'names it' '--model nosuch:x: no such provider'
expect 'a limit that is none' 2 "$HONE" bench tiny --evals 1 --model builtin --cost much
says err 'says what to write' '--cost much: write US dollars'
expect 'another' 2 "$HONE" bench tiny --evals 1 --model builtin --recipe builtin,best-of-n --calls some
says err 'says so too' '--calls some: write how many calls at most'
expect 'no such role' 2 "$HONE" bench tiny --evals 1 --model builtin --role cook=builtin
expect 'a recipe twice' 2 "$HONE" bench tiny --recipe best-of-n,builtin --recipe best-of-n
says err 'is a mistake' '--recipe best-of-n: it stands there twice; write each recipe once'
expect 'other limits for one that goes on' 2 "$HONE" bench --resume "$first" --evals 9
says err 'are refused' "--resume $first: it goes on as it was begun; leave --evals out"
expect 'a number that no task has' 2 "$HONE" bench kernelbench-train/2:11-12,13
says err 'is named' 'kernelbench-train/2:11-12,13: no task has the number 13; its tasks are 11 to 97'
expect 'a range that falls' 2 "$HONE" bench kernelbench/1:5-3
says err 'says how ranges are written' 'the smaller one of a range first, as in kernelbench/1:1-20,35'
"$HONE" show --json >after
check 'none of them was begun' 'sed "s/\"age\":[0-9.]*//g" before >b && sed "s/\"age\":[0-9.]*//g" after >a && cmp -s a b'
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
expect 'no jobs' 2 "$HONE" bench tiny --jobs 0
expect 'more jobs than can be' 2 "$HONE" bench tiny --jobs 65
says err 'says how many' '--jobs 65: write a number from 1 to 64'
expect 'too many jobs' 2 "$HONE" bench tiny --jobs 64 --threads 64
says err 'says what there is' 'processors, here are '
expect 'no such benchmark' 2 "$HONE" bench --resume zzzz
says err 'says so' 'zzzz: no benchmark has that name'
expect 'a gate without a comparison' 2 "$HONE" bench tiny --gate 3
expect 'a comparison of one' 2 "$HONE" bench --compare "$first"
says err 'wants two' 'two benchmarks are wanted'
expect 'a comparison as a table' 2 "$HONE" bench --compare "$first" "$first" --csv
expect 'a comparison into a file' 0 "$HONE" bench --compare "$first" "$first" -o compared
says compared 'stands there' '  faster 0, slower 0, same '
check 'and is not printed' '[ ! -s out ]'
expect 'a gate that is none' 2 "$HONE" bench --compare "$first" last --gate much
says err 'wants per cents' 'write per cents, as in 3'
expect 'a place that cannot be written' 2 "$HONE" bench tiny -o /nonexistent/x
finish
