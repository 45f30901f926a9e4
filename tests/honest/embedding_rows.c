// task embedding.op
// Style: rows added, then divided; const pointers and struct of arguments.
struct job {
    const float *table;
    const int32_t *index;
    float *out;
};
static void bag(const struct job *job, int b)
{
    float sum[D];
    memset(sum, 0, sizeof sum);
    for (int l = 0; l < L; l++) {
        const float *row = job->table + (size_t)job->index[b * L + l] * D;
        for (int d = 0; d < D; d++)
            sum[d] += row[d];
    }
    for (int d = 0; d < D; d++)
        job->out[(size_t)b * D + d] = sum[d] / L;
}
void kernel(const float *restrict E, const int32_t *restrict T, float *restrict Y)
{
    const struct job job = {E, T, Y};
#pragma omp parallel for schedule(nonmonotonic : dynamic, 2)
    for (int b = 0; b < B; b++)
        bag(&job, b);
}
