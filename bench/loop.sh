#!/bin/sh
# What the loop costs for each proposal beyond compiling and measuring, with a model that answers at
# once. ROUNDS (24) may be set.
set -eu
out=${OUT:-build/release}
HONE_BOX=${HONE_BOX:-$out/hone-box}
export HONE_BOX
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$out/bench/loop" "$folder" "${ROUNDS:-24}"
