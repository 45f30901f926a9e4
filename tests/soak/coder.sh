#!/bin/sh
# Random schedules of random programs with fresh seeds, against the interpreter: ten times as many as
# in the unit test at a time.
set -eu

end=$(($(date +%s) + ${SOAK_SECONDS:-600}))
seed=${HONE_SEED:-$(date +%s)}
ROOT=$(pwd)
export ROOT
while [ "$(date +%s)" -lt "$end" ]; do
    echo "groups $seed ... $((seed + 219))"
    HONE_SEED=$seed HONE_RANDOM=220 "${OUT:-build/asan}/tests/unit/coder_random" || exit 1
    seed=$((seed + 220))
done
