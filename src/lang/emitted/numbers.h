/* ---- plain functions ---- */

static inline double
max_f64(double a, double b)
{
    return a > b ? a : b;
}
static inline double
min_f64(double a, double b)
{
    return a < b ? a : b;
}
static inline double
sign_f64(double a)
{
    return (a > 0) - (a < 0);
}
static inline int64_t
max_i64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}
static inline int64_t
min_i64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}
static inline int64_t
abs_i64(int64_t a)
{
    return a < 0 ? -a : a;
}
static inline int64_t
sign_i64(int64_t a)
{
    return (a > 0) - (a < 0);
}
static inline double
f32_of_bf16(uint16_t x)
{
    const uint32_t bits = (uint32_t)x << 16;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}
