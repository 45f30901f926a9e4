// task softmax.op
// Style: everything in double, exp() of libm, rounded once at the end; a VLA on the stack.
void kernel(const float *restrict X, float *restrict Y)
{
    const int rows = R;
    const int cols = N;
#pragma omp parallel for schedule(static, 1) num_threads(2)
    for (int r = 0; r < rows; r++) {
        double e[cols];
        double m = -INFINITY, s = 0.0;
        for (int j = 0; j < cols; j++)
            if (X[(size_t)r * cols + j] > m)
                m = X[(size_t)r * cols + j];
        for (int j = 0; j < cols; j++)
            s += e[j] = exp((double)X[(size_t)r * cols + j] - m);
        for (int j = 0; j < cols; j++)
            Y[(size_t)r * cols + j] = (float)(e[j] / s);
    }
}
