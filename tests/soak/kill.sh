#!/bin/sh
# A run with a scripted model is killed a hundred times and goes on.
set -eu

ROOT=$(pwd)
export ROOT
HONE_KILLS=100 "${OUT:-build/asan}/tests/unit/run_kill"
