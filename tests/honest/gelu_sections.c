// task gelu.op
// Style: two omp sections, each half of the vector; pragma GCC optimize for this file.
#pragma GCC optimize("O3")
static void part(const float *x, float *y, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        y[i] = x[i] * 0.5f * (erff(x[i] * (float)M_SQRT1_2) + 1.0f);
}
void kernel(const float *restrict X, float *restrict Y)
{
#pragma omp parallel sections
    {
#pragma omp section
        part(X, Y, 0, N / 2);
#pragma omp section
        part(X, Y, N / 2, N);
    }
}
