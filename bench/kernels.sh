#!/bin/sh
# What `hone optimize` finds, beside OpenBLAS, BLIS, oneDNN and PyTorch, as far as they are there:
# doc/benchmarks.md. A short list of tasks, about a minute each the first time; BENCH_ALL=1 takes
# all (hours), BENCH_KERNELS='TASK ...' some, BENCH_KERNELS=none nothing; EVALS is the search's
# budget. Kernels are kept in build/kernels: a second run only measures.
set -eu
out=${OUT:-build/release}
cd "$(dirname "$0")/.."
[ "${BENCH_KERNELS:-}" != none ] || exit 0
HONE=${HONE:-$PWD/$out/hone}
export HONE
# shellcheck disable=SC2086
"$out/bench/kernels" --evals "${EVALS:-40}" ${BENCH_ALL:+--all} ${BENCH_KERNELS:-}
