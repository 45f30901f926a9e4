#!/bin/sh
# The compiled reference on the two contractions it must be fast at, then on the other examples.
# Budget on two cores of a Zen 3: sgemm and conv2d at most 0.6 s each, memory at most four times the
# tensors in double.
set -eu
out=${OUT:-build/release}
for task in sgemm conv2d softmax layer_norm window_attention bilstm; do
    "$out/bench/reference" "examples/$task.op"
done
