#!/bin/sh
# Operators of the library at their usual sizes beside the plain C of them: none should be slower. A
# few of them; BENCH_ALL=1 takes all (some 260), OPERATORS='NAME ...' some. A few evaluations each (EVALS):
# the last per cent is not what is asked. JOBS=2 measures two at once, with a thread each.
set -eu
out=${OUT:-build/release}
cd "$(dirname "$0")/.."
folder=build/operators
rm -rf "$folder"
"$out/bench/operators" "$folder"
tasks=
for name in ${OPERATORS:-softmax layer_norm gelu conv2d sum_last lstm_cell cumsum max_pool2d}; do
    tasks="$tasks $folder/$name.op"
done
[ -z "${BENCH_ALL:-}" ] || tasks=$folder
# shellcheck disable=SC2086
"$out/hone" bench $tasks --against naive --evals "${EVALS:-6}" --time 6 \
    ${JOBS:+--jobs "$JOBS" --threads 1} --archive "$folder/archive" -v || :
