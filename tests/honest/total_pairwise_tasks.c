// task total.op
// Style: pairwise summation by recursive tasks with a cut-off, results through pointers.
static float tree(const float *x, int n)
{
    float a, b;
    if (n <= 128) {
        float s = 0;
        for (int i = 0; i < n; i++)
            s += x[i];
        return s;
    }
#pragma omp task shared(a) if (n > 4096)
    a = tree(x, n / 2);
    b = tree(x + n / 2, n - n / 2);
#pragma omp taskwait
    return a + b;
}
void kernel(const float *restrict X, float *restrict S)
{
#pragma omp parallel
#pragma omp master
    S[0] = tree(X, N);
}
