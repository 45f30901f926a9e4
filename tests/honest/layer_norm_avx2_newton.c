// task layer_norm.op
// Style: AVX2, rsqrtss with one Newton step, FMA; scalar loops without AVX2.
#ifdef __AVX2__
#include <immintrin.h>
#define HAVE_V 1
#else
#define HAVE_V 0
#endif

static inline float rsqrt_newton(float a)
{
#if HAVE_V
    float y = _mm_cvtss_f32(_mm_rsqrt_ss(_mm_set_ss(a)));
    y = y * (1.5f - 0.5f * a * y * y);
    return y * (1.5f - 0.5f * a * y * y);
#else
    return 1.0f / sqrtf(a);
#endif
}

static float sum_of(const float *x, float minus, int square)
{
    float s = 0;
    int j = 0;
#if HAVE_V
    __m256 acc = _mm256_setzero_ps(), m = _mm256_set1_ps(minus);
    for (; j + 8 <= N; j += 8) {
        __m256 d = _mm256_sub_ps(_mm256_loadu_ps(x + j), m);
        acc = square ? _mm256_fmadd_ps(d, d, acc) : _mm256_add_ps(acc, d);
    }
    float part[8];
    _mm256_storeu_ps(part, acc);
    for (int l = 0; l < 8; l++)
        s += part[l];
#endif
    for (; j < N; j++) {
        float d = x[j] - minus;
        s += square ? d * d : d;
    }
    return s;
}

void kernel(const float *restrict X, const float *restrict G, const float *restrict B, float *restrict Y)
{
#pragma omp parallel for schedule(static, 4)
    for (int r = 0; r < R; r++) {
        const float *x = X + (size_t)r * N;
        const float mean = sum_of(x, 0, 0) / N;
        const float k = rsqrt_newton(sum_of(x, mean, 1) / N + 1e-5f);
        for (int j = 0; j < N; j++)
            Y[(size_t)r * N + j] = (x[j] - mean) * k * G[j] + B[j];
    }
}
