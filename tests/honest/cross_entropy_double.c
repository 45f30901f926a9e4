// task cross_entropy.op
// Style: losses of rows in static scratch, added by one thread; double and log2/exp2.
static double row_loss[B];
void kernel(const float *x, const int *t, float *y)
{
#pragma omp parallel
    {
#pragma omp for schedule(dynamic)
        for (int b = 0; b < B; b++) {
            double m = -1e300, s = 0;
            for (int c = 0; c < C; c++)
                if (x[b * C + c] > m)
                    m = x[b * C + c];
            for (int c = 0; c < C; c++)
                s += exp2((x[b * C + c] - m) * 1.44269504088896340736);
            row_loss[b] = log2(s) * 0.69314718055994530942 + m - x[b * C + t[b]];
        }
#pragma omp single
        {
            double sum = 0;
            for (int b = B - 1; b >= 0; b--)
                sum += row_loss[b];
            *y = (float)(sum / B);
        }
    }
}
