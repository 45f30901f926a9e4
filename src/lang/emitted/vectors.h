#if defined __AVX512F__
#define VECTOR 64
#elif defined __AVX__
#define VECTOR 32
#else
#define VECTOR 16
#endif
enum { LANES_D = VECTOR / 8, LANES_F = VECTOR / 4 };
typedef double vd __attribute__((vector_size(VECTOR), may_alias));
typedef int64_t md __attribute__((vector_size(VECTOR), may_alias));
typedef float vf __attribute__((vector_size(VECTOR), may_alias));
typedef int32_t mf __attribute__((vector_size(VECTOR), may_alias));

static inline int64_t
least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}
static inline vd
every_vd(double x)
{
    return x - (vd){0};
}
static inline vf
every_vf(float x)
{
    return x - (vf){0};
}
static inline vd
same_vd(vd x)
{
    return x;
}
static inline vf
same_vf(vf x)
{
    return x;
}
static inline vd
size_vd(vd x)
{
    return (vd)((md)x & INT64_MAX);
}
static inline vf
size_vf(vf x)
{
    return (vf)((mf)x & INT32_MAX);
}
static inline vd
pick_vd(md yes, vd a, vd b)
{
    return (vd)(((md)a & yes) | ((md)b & ~yes));
}
static inline vf
pick_vf(mf yes, vf a, vf b)
{
    return (vf)(((mf)a & yes) | ((mf)b & ~yes));
}
#define every(x) _Generic((x), vd : same_vd, vf : same_vf, float : every_vf, default : every_vd)(x)
#define size(x) _Generic((x), vd : size_vd, vf : size_vf, float : fabsf, default : fabs)(x)
