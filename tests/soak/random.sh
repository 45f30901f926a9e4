#!/bin/sh
# Thousands of random programs with fresh seeds: texts, hashes, and both references compared.
set -eu

end=$(($(date +%s) + ${SOAK_SECONDS:-600}))
seed=${HONE_SEED:-$(date +%s)000}
while [ "$(date +%s)" -lt "$end" ]; do
    echo "seeds $seed ... $((seed + 999))"
    HONE_SEED=$seed HONE_RANDOM=1000 "${OUT:-build/asan}/tests/unit/lang_random" || exit 1
    seed=$((seed + 1000))
done
