// task linear_scan.op
// Style: pairs (a, x) composed in blocks of 16, the carry applied afterwards; in double.
void kernel(const float *restrict A, const float *restrict X, float *restrict Y)
{
#pragma omp parallel for schedule(dynamic)
    for (int r = 0; r < R; r++) {
        double carry = 0;
        for (int b = 0; b < N; b += 16) {
            const int n = N - b < 16 ? N - b : 16;
            double a[16], x[16];
            for (int i = 0; i < n; i++) {
                a[i] = A[r * N + b + i];
                x[i] = X[r * N + b + i];
            }
            for (int d = 1; d < n; d *= 2)
                for (int i = n - 1; i >= d; i--) {
                    x[i] += a[i] * x[i - d];
                    a[i] *= a[i - d];
                }
            for (int i = 0; i < n; i++)
                Y[r * N + b + i] = (float)(a[i] * carry + x[i]);
            carry = a[n - 1] * carry + x[n - 1];
        }
    }
}
