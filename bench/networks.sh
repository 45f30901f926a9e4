#!/bin/sh
# Networks that are written with helpers, optimised with no limits given: how long that takes, with
# an empty archive, and what it finds. NETWORKS='NAME ...' names others of examples/.
set -eu
out=${OUT:-build/release}
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# field NAME: a number of the JSON, the first of that name
field()
{
    sed -n "s/.*\"$1\":\([0-9.e+-]*\).*/\1/p" "$folder/found" | head -n 1
}

printf '%-20s %8s %12s %6s %8s\n' network seconds us light naive
for name in ${NETWORKS:-resnet18 transformer_block}; do
    began=$(date +%s)
    "$out/hone" optimize "examples/$name.op" --archive "$folder/$name" -o "$folder/$name.c" --json -q \
        >"$folder/all" || :
    sed 's/.*"best":\({[^}]*}[^}]*}\).*/\1/' "$folder/all" >"$folder/found"
    printf '%-20s %8s %12s %6s %8s\n' "$name" "$(($(date +%s) - began))" "$(field time_us)" \
        "$(field light)" "$(field naive)"
done
