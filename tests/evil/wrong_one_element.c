// task large.op: wrong; Y
/* One wrong element among a million, by one part in a thousand. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 0.5f * X[i] + 1;
    Y[777777] = 1.001f * Y[777777] + 0.001f;
}
