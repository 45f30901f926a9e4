#!/bin/sh
# Every operator of the library is optimised, three evaluations each.
set -eu

ROOT=$(pwd)
export ROOT
HONE_EVERY=1 "${OUT:-build/asan}/tests/unit/run_operators"
