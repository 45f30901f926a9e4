#!/bin/sh
# After how many evaluations the best kernel is within 5 % of what three times as many find as
# `hone optimize` makes by itself. TASKS='NAME ...' names others of bench/kernels.
set -eu
out=${OUT:-build/release}
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
printf '%-26s %12s %12s %8s\n' task evaluations 'within 5 %' best
for task in ${TASKS:-sgemm_512 conv_3x3_14 conv_depthwise pool_max softmax_1024x4096 norm_layer bias_gelu \
    cumsum causal_attention_8x512 linear_bias_gelu}; do
    "$out/hone" optimize "bench/kernels/$task.op" --evals 120 --patience 120 --until 1 --time 5m \
        --archive "$folder/$task" -o "$folder/$task.c" 2>"$folder/said" >/dev/null || :
    # each line is a new best: "NAME: default 7/120 1.2 ms 75 % light ..."
    awk -v task="$task" '
    $2 == "default" && $3 ~ /^[0-9]+\/[0-9]+$/ {
        scale = $5 == "ns" ? 1e-3 : $5 == "us" ? 1 : $5 == "ms" ? 1e3 : 1e6
        split($3, at, "/"); number[++count] = at[1]; most = at[2]; us[count] = $4 * scale
    }
    END {
        for (i = 1; i <= count && us[i] > 1.05 * us[count]; i++)
            continue
        printf "%-26s %12d %12d %8.4g us\n", task, most, number[i], us[count]
    }' "$folder/said"
done
