// task bf16_axpy.op
// Style: own conversion by a union and shifts, parameters as uint16_t (what bf16 is).
union bits { uint32_t u; float f; };
static inline float up(uint16_t h) { return ((union bits){.u = (uint32_t)h << 16}).f; }
static inline uint16_t down(float f)
{
    union bits b = {.f = f};
    if ((b.u & 0x7f800000u) == 0x7f800000u) /* infinities; NaN stays one */
        return (uint16_t)((b.u >> 16) | ((b.u & 0x7fffff) ? 0x40 : 0));
    b.u += 0x7fffu + ((b.u >> 16) & 1u);
    return (uint16_t)(b.u >> 16);
}
void kernel(const float *alpha, const uint16_t *x, const uint16_t *y, uint16_t *z)
{
    const float a = alpha[0];
#pragma omp parallel for schedule(static, 1024)
    for (int i = 0; i < N; i++)
        z[i] = down(fmaf(a, up(x[i]), up(y[i])));
}
