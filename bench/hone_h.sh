#!/bin/sh
# The functions of hone.h beside libm's. Every row should say more than 1.
set -eu
out=${OUT:-build/release}
cd "$(dirname "$0")/.."
mkdir -p "$out/bench"
gcc -std=gnu17 -O2 -march=native -fno-math-errno -fno-tree-vectorize -Isrc/target/header \
    bench/hone_h/speed.c -o "$out/bench/hone_h" -lm
"$out/bench/hone_h"
