#ifndef HONE_BF16
#define HONE_BF16
typedef uint16_t bf16;
static inline float
f32_of_bf16(bf16 x)
{
    const uint32_t bits = (uint32_t)x << 16;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}
static inline bf16
bf16_of_f32(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    if ((bits & 0x7fffffff) > 0x7f800000)
        return (bf16)(bits >> 16 | 64);
    return (bf16)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
#endif
