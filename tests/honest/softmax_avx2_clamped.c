// task softmax.op
// Style: AVX2 and FMA intrinsics with a polynomial exp clamped at the smallest normal, a plain fallback, scalar tails.
#ifdef __AVX2__
#include <immintrin.h>

static inline __m256 exp256_ps(__m256 x)
{
    const __m256 one = _mm256_set1_ps(1.0f);
    x = _mm256_max_ps(x, _mm256_set1_ps(-87.33654f));
    x = _mm256_min_ps(x, _mm256_set1_ps(88.02969f));
    __m256 n = _mm256_round_ps(_mm256_mul_ps(x, _mm256_set1_ps(1.44269504088896341f)),
                               _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    x = _mm256_fnmadd_ps(n, _mm256_set1_ps(0.693359375f), x);
    x = _mm256_fnmadd_ps(n, _mm256_set1_ps(-2.12194440e-4f), x);
    __m256 p = _mm256_set1_ps(1.9875691500E-4f);
    p = _mm256_fmadd_ps(p, x, _mm256_set1_ps(1.3981999507E-3f));
    p = _mm256_fmadd_ps(p, x, _mm256_set1_ps(8.3334519073E-3f));
    p = _mm256_fmadd_ps(p, x, _mm256_set1_ps(4.1665795894E-2f));
    p = _mm256_fmadd_ps(p, x, _mm256_set1_ps(1.6666665459E-1f));
    p = _mm256_fmadd_ps(p, x, _mm256_set1_ps(5.0000001201E-1f));
    p = _mm256_fmadd_ps(p, _mm256_mul_ps(x, x), _mm256_add_ps(x, one));
    __m256i e = _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23);
    return _mm256_mul_ps(p, _mm256_castsi256_ps(e));
}

static inline float hmax(__m256 v)
{
    __m128 a = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    a = _mm_max_ps(a, _mm_movehl_ps(a, a));
    a = _mm_max_ss(a, _mm_shuffle_ps(a, a, 1));
    return _mm_cvtss_f32(a);
}

static inline float hsum(__m256 v)
{
    __m128 a = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    a = _mm_add_ps(a, _mm_movehl_ps(a, a));
    a = _mm_add_ss(a, _mm_shuffle_ps(a, a, 1));
    return _mm_cvtss_f32(a);
}

static void row(const float *x, float *y)
{
    int j = 0;
    float m = -INFINITY, s = 0;
    if (N >= 8) {
        __m256 vm = _mm256_loadu_ps(x);
        for (j = 8; j + 8 <= N; j += 8)
            vm = _mm256_max_ps(vm, _mm256_loadu_ps(x + j));
        m = hmax(vm);
    }
    for (; j < N; j++)
        if (x[j] > m) m = x[j];
    __m256 vs = _mm256_setzero_ps(), bm = _mm256_set1_ps(m);
    for (j = 0; j + 8 <= N; j += 8) {
        __m256 e = exp256_ps(_mm256_sub_ps(_mm256_loadu_ps(x + j), bm));
        _mm256_storeu_ps(y + j, e);
        vs = _mm256_add_ps(vs, e);
    }
    for (; j < N; j++)
        s += y[j] = expf(x[j] - m);
    s += hsum(vs);
    __m256 inv = _mm256_set1_ps(1.0f / s);
    for (j = 0; j + 8 <= N; j += 8)
        _mm256_storeu_ps(y + j, _mm256_mul_ps(_mm256_loadu_ps(y + j), inv));
    for (; j < N; j++)
        y[j] *= 1.0f / s;
}
#else
static void row(const float *x, float *y)
{
    float m = x[0], s = 0;
    for (int j = 1; j < N; j++) m = x[j] > m ? x[j] : m;
    for (int j = 0; j < N; j++) s += y[j] = expf(x[j] - m);
    for (int j = 0; j < N; j++) y[j] /= s;
}
#endif

void kernel(const float *restrict X, float *restrict Y)
{
#pragma omp parallel for schedule(static)
    for (int r = 0; r < R; r++)
        row(X + (size_t)r * N, Y + (size_t)r * N);
}
