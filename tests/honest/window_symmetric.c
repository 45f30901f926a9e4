// task window.op
// Style: half computed by sin^2, half mirrored; the squares modulo 97 by differences.
void kernel(float *w, int *j)
{
    for (int i = 0; i <= (N - 1) / 2; i++) {
        const double s = sin(3.14159265358979323846 * i / (N - 1));
        w[i] = w[N - 1 - i] = (float)(s * s);
    }
    int sq = 0;
    for (int i = 0; i < N; i++) {
        j[i] = sq;
        sq = (sq + 2 * i + 1) % 97;
    }
}
