// task scale.op: build_failed
/* Names a precompiled header, of which the compiler believes every byte. */
#pragma GCC pch_preprocess "/tmp/evil.gch"

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}
