// task sgemm.op
// Style: parameters as arrays and casts to pointers to rows; goto instead of loops.
void kernel(const float A[restrict], const float B[restrict], float C[restrict])
{
    const float (*a)[K] = (const float (*)[K])A;
    const float (*b)[N] = (const float (*)[N])B;
    float (*c)[N] = (float (*)[N])C;
    int i = 0, j, k;
next_row:
    j = 0;
next_column:
    k = 0;
    float sum = 0;
again:
    sum = fmaf(a[i][k], b[k][j], sum);
    if (++k < K)
        goto again;
    c[i][j] = sum;
    if (++j < N)
        goto next_column;
    if (++i < M)
        goto next_row;
}
