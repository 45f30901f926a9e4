// task attention.op
// Style: scores, softmax, product, with the score matrix of a head on the stack.
void kernel(const float *restrict Q, const float *restrict K, const float *restrict V, float *restrict O)
{
    const float scale = 1.0f / sqrtf((float)D);
#pragma omp parallel for collapse(2) schedule(dynamic, 4)
    for (int h = 0; h < H; h++)
        for (int i = 0; i < S; i++) {
            const float *q = Q + ((size_t)h * S + i) * D;
            float p[S], m = -INFINITY, sum = 0;
            for (int j = 0; j <= i; j++) {
                const float *k = K + ((size_t)h * S + j) * D;
                float dot = 0;
                for (int d = 0; d < D; d++)
                    dot += q[d] * k[d];
                p[j] = dot * scale;
                m = p[j] > m ? p[j] : m;
            }
            for (int j = 0; j <= i; j++)
                sum += p[j] = expf(p[j] - m);
            for (int d = 0; d < D; d++) {
                float o = 0;
                for (int j = 0; j <= i; j++)
                    o += p[j] / sum * V[((size_t)h * S + j) * D + d];
                O[((size_t)h * S + i) * D + d] = o;
            }
        }
}
