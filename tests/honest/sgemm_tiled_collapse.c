// task sgemm.op
//! flags -O3 -funroll-loops
//! tune TI = 32 16 64
//! tune TJ = 32 48
//! tune TK = 16 8
// Style: blocked loops with collapse(2), three tuned numbers, ragged edges by a minimum macro.
#define MIN(a, b) ((a) < (b) ? (a) : (b))
void kernel(const float *restrict A, const float *restrict B, float *restrict C)
{
#pragma omp parallel for collapse(2) schedule(static)
    for (int ii = 0; ii < M; ii += TI)
        for (int jj = 0; jj < N; jj += TJ) {
            float acc[TI][TJ];
            for (int i = 0; i < TI; i++)
                for (int j = 0; j < TJ; j++)
                    acc[i][j] = 0.f;
            for (int kk = 0; kk < K; kk += TK)
                for (int i = ii; i < MIN(ii + TI, M); i++)
                    for (int k = kk; k < MIN(kk + TK, K); k++)
                        for (int j = jj; j < MIN(jj + TJ, N); j++)
                            acc[i - ii][j - jj] += A[i * K + k] * B[k * N + j];
            for (int i = ii; i < MIN(ii + TI, M); i++)
                for (int j = jj; j < MIN(jj + TJ, N); j++)
                    C[i * N + j] = acc[i - ii][j - jj];
        }
}
