// task embedding.op
// Style: element by element, multiplied by the reciprocal; omp loop construct.
void kernel(const float *E, const int *T, float *Y)
{
#pragma omp parallel
#pragma omp loop collapse(2)
    for (int b = 0; b < B; b++)
        for (int d = 0; d < D; d++) {
            float s = 0;
            for (int l = 0; l < L; l++)
                s += E[(size_t)T[b * L + l] * D + d] * (1.0f / L);
            Y[(size_t)b * D + d] = s;
        }
}
