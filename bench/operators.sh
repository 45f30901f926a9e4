#!/bin/sh
# Operators of the library at their usual sizes beside the plain C of them: none should be slower. A
# few of them; BENCH_ALL=1 takes all (281, half an hour), OPERATORS='NAME ...' some. A few
# evaluations each (EVALS): the last per cent is not what is asked.
set -eu
out=${OUT:-build/release}
cd "$(dirname "$0")/.."
folder=build/operators
rm -rf "$folder"
"$out/bench/operators" "$folder"
tasks=
for name in ${OPERATORS:-softmax layer_norm gelu conv2d sum_dim lstm_cell cumsum max_pool2d}; do
    tasks="$tasks $folder/$name.op"
done
# shellcheck disable=SC2086
"$out/hone" bench ${BENCH_ALL:+"$folder"} ${BENCH_ALL:-$tasks} --against naive --evals "${EVALS:-6}" \
    --time 6 --archive "$folder/archive" -v || :
