// task chain.op
// Style: one loop a stage with 512 KB of scratch on the stack, a line each.
void kernel(const float *restrict X, const float *restrict Z, const float *restrict b, float *restrict Y)
{
    float t[128 * 1024];
    _Static_assert(M * N <= 128 * 1024, "the scratch holds every case");
    for (int e = 0; e < M * N; e++) t[e] = X[e] + b[e % N];
    for (int e = 0; e < M * N; e++) t[e] = t[e] >= 0 ? 1 / (1 + expf(-t[e])) : expf(t[e]) / (1 + expf(t[e]));
    for (int e = 0; e < M * N; e++) t[e] *= tanhf(Z[e]);
    for (int e = 0; e < M * N; e++) t[e] = fmaxf(t[e], 0) + 0.01f * fminf(t[e], 0);
    for (int e = 0; e < M * N; e++) t[e] += sqrtf(fabsf(X[e]));
    for (int e = 0; e < M * N; e++) Y[e] = t[e] + expf(-(Z[e] * Z[e]));
}
