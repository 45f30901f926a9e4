#!/bin/sh
# Every recipe with the stand-ins, on five tasks, at equal evaluations: what each makes of them.
# Prints times in microseconds of the first case, and the geometric mean against the built-in search
# alone (1.00). EVALS (24), RECIPES and TASKS may be set.
set -eu

out=${OUT:-build/release}
evals=${EVALS:-24}
tasks=${TASKS:-examples/softmax.op examples/layer_norm.op examples/sgemm.op examples/gelu_mlp.op examples/max_pool.op}
recipes=${RECIPES:-$(ls recipes)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The time of the first case, or "-" where nothing correct was found.
time_of() {
    task=$1
    shift
    "$out/hone" optimize "$task" --archive "$work/archive.db" --evals "$evals" --case default -o "$work/k.c" \
        --json -q "$@" 2>"$work/err" | sed -n 's/.*"best":{[^}]*"time_us":\([0-9.e+-]*\).*/\1/p' | grep . || echo -
}

printf '%-20s' "recipe, $evals evaluations"
for task in $tasks; do printf ' %12s' "$(basename "$task" .op)"; done
printf ' %8s\n' mean

base=
printf '%-20s' 'builtin alone'
for task in $tasks; do
    us=$(time_of "$task")
    base="$base $us"
    printf ' %12s' "$us"
done
printf ' %8s\n' 1.00

for recipe in $recipes; do
    printf '%-20s' "$recipe"
    found=
    for task in $tasks; do
        us=$(time_of "$task" --recipe "$recipe" --model builtin)
        found="$found $us"
        printf ' %12s' "$us"
    done
    echo "$base $found" | awk '{
        n = NF / 2
        for (i = 1; i <= n; i++)
            if ($i != "-" && $(n + i) != "-") { sum += log($i / $(n + i)); count++ }
        printf " %8s\n", count ? sprintf("%.2f", exp(sum / count)) : "-"
    }'
done
