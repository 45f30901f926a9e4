#!/bin/sh
# What the judge costs and how well it tells, then how much escapes it: mutants of correct kernels.
# The aim is 99.5 % caught of those that are faults, and 98 % in each class. MUTANTS says how many
# are tried; 600 take about ten minutes on two cores.
set -eu
out=${OUT:-build/release}
HONE_BOX=${HONE_BOX:-$out/hone-box}
export HONE_BOX
"$out/bench/judge"
"$out/bench/mutants" "${MUTANTS:-600}"
