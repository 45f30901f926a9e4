// task total.op
// Style: inline assembly that only computes (vaddps), the tail in C.
void kernel(const float *restrict X, float *restrict S)
{
    float s = 0;
    int i = 0;
#if defined(__AVX__)
    float lane[8];
    long blocks = N / 8;
    const float *p = X;
    __asm__("vxorps %%ymm0, %%ymm0, %%ymm0\n\t"
            "test %[n], %[n]\n\t"
            "jz 2f\n"
            "1:\n\t"
            "vaddps (%[p]), %%ymm0, %%ymm0\n\t"
            "add $32, %[p]\n\t"
            "dec %[n]\n\t"
            "jnz 1b\n"
            "2:\n\t"
            "vmovups %%ymm0, %[out]\n\t"
            "vzeroupper"
            : [p] "+r"(p), [n] "+r"(blocks), [out] "=m"(lane)
            : "m"(*(const float(*)[N])X)
            : "ymm0", "cc");
    for (int l = 0; l < 8; l++)
        s += lane[l];
    i = N / 8 * 8;
#endif
    for (; i < N; i++)
        s += X[i];
    *S = s;
}
