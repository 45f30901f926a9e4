// task hgemm.op: wrong; Y
/* The task sums halves in single precision; this sums in half. */
void
kernel(const _Float16 *restrict A, const _Float16 *restrict W, _Float16 *restrict Y)
{
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            volatile _Float16 sum = 0;

            for (int k = 0; k < K; k++)
                sum = (_Float16)(sum + A[m * K + k] * W[k * N + n]);
            Y[m * N + n] = sum;
        }
}
