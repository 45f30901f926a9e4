// task gelu.op
//! flags -Ofast
// Style: -Ofast and simd; gcc calls libmvec where there is a vector erff.
void kernel(const float *restrict X, float *restrict Y)
{
#pragma omp parallel for simd schedule(static)
    for (long i = 0; i < N; i++) {
        const float x = X[i];
        Y[i] = 0.5f * x * (1.0f + erff(x * 0.7071067811865476f));
    }
}
