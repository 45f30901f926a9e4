#!/bin/sh
# 200 model calls in flight against a slow local server: one process, its memory and its time.
set -eu
out=${OUT:-build/release}
"$out/bench/llm" "$out/tests/llm/server" 200
