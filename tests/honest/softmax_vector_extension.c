// task softmax.op
// Style: GCC vector extensions, whole vectors at the end of the input (allowed), lanes masked.
typedef float v8 __attribute__((vector_size(32)));
typedef float v8u __attribute__((vector_size(32), aligned(4)));
typedef int32_t i8x __attribute__((vector_size(32)));

static inline v8 splat(float f) { return (v8){f, f, f, f, f, f, f, f}; }

static inline v8 vexp(v8 x) /* x <= 0 */
{
    const v8 magic = splat(12582912.0f);
    i8x low = x < splat(-88.0f);
    x = (v8)(((i8x)splat(-88.0f) & low) | ((i8x)x & ~low));
    v8 z = x * splat(1.44269504f) + magic;
    v8 n = z - magic;
    v8 r = (x - n * splat(0.693145752f)) - n * splat(1.42860677e-6f);
    v8 p = splat(1.39219369e-3f);
    p = p * r + splat(8.36151931e-3f);
    p = p * r + splat(4.16664705e-2f);
    p = p * r + splat(1.66664198e-1f);
    p = p * r + splat(0.5f);
    p = p * r * r + r + splat(1.0f);
    return p * (v8)(((i8x)z + 127) << 23);
}

void kernel(const float *restrict X, float *restrict Y)
{
    const i8x lane = {0, 1, 2, 3, 4, 5, 6, 7};
#pragma omp parallel for schedule(auto)
    for (int r = 0; r < R; r++) {
        const float *x = X + (size_t)r * N;
        float *y = Y + (size_t)r * N;
        const int whole = N & ~7;
        v8 m = splat(-INFINITY), s = splat(0);
        for (int j = 0; j < whole; j += 8) {
            v8 a = *(const v8u *)(x + j);
            i8x g = a > m;
            m = (v8)(((i8x)a & g) | ((i8x)m & ~g));
        }
        float most = -INFINITY, sum = 0;
        for (int l = 0; l < 8; l++)
            most = m[l] > most ? m[l] : most;
        for (int j = whole; j < N; j++)
            most = x[j] > most ? x[j] : most;
        for (int j = 0; j < whole; j += 8) {
            v8 e = vexp(*(const v8u *)(x + j) - splat(most));
            *(v8u *)(y + j) = e;
            s += e;
        }
        if (whole < N) {
            v8 a = splat(-INFINITY), e;
            memcpy(&a, x + whole, (N - whole) * sizeof(float));
            e = vexp(a - splat(most));
            e = (v8)((i8x)e & (lane < (i8x){N - whole, N - whole, N - whole, N - whole, N - whole,
                                           N - whole, N - whole, N - whole}));
            memcpy(y + whole, &e, (N - whole) * sizeof(float));
            s += e;
        }
        for (int l = 0; l < 8; l++)
            sum += s[l];
        for (int j = 0; j < N; j++)
            y[j] *= 1.0f / sum;
    }
}
