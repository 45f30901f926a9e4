/* ---- comparison and choice ---- */

static inline int
decided(val a, val b)
{
    if (a.g == 0 && b.g == 0)
        return 1;
    return fabs(a.v - b.v) > 12 * g_size(g_plus(a.g, b.g));
}

static inline val
compared(int truth, val a, val b)
{
    if (a.g != a.g || b.g != b.g || a.v != a.v || b.v != b.v)
        return unjudged(truth);
    return decided(a, b) ? exactly(truth) : (val){truth, g_of(1.0 / 6), 1};
}

#define COMPARE(name, op)                              \
    static inline val val_##name(val a, val b, rule r) \
    {                                                  \
        (void)r;                                       \
        return compared(a.v op b.v, a, b);             \
    }
COMPARE(lt, <)
COMPARE(le, <=)
COMPARE(gt, >)
COMPARE(ge, >=)
COMPARE(eq, ==)
COMPARE(ne, !=)

static inline val
val_not(val a, rule r)
{
    (void)r;
    return (val){a.v == 0, a.g, a.c};
}

static inline val
val_and(val a, val b, rule r)
{
    (void)r;
    if ((a.g == 0 && a.v == 0) || (b.g == 0 && b.v == 0))
        return exactly(0);
    if (a.g == 0 && b.g == 0)
        return exactly(1);
    if (a.g != a.g || b.g != b.g)
        return unjudged(a.v != 0 && b.v != 0);
    return (val){a.v != 0 && b.v != 0, g_of(1.0 / 6), 1};
}

static inline val
val_or(val a, val b, rule r)
{
    return val_not(val_and(val_not(a, r), val_not(b, r), r), r);
}

static inline val
either(val condition, val yes, val no)
{
    const val a = condition.v != 0 ? yes : no, b = condition.v != 0 ? no : yes;
    if (condition.g == 0)
        return a;
    const double apart = a.v == b.v ? 0 : fabs(a.v - b.v);
    if (condition.g != condition.g || a.g != a.g || b.g != b.g || !isfinite(apart))
        return unjudged(a.v);
    return (val){a.v, g_of(g_size(fmax(a.g, b.g)) + apart / 6), fmax(a.c, b.c) + apart};
}

/* ---- storing ---- */

static inline val
narrow(val a, rule r)
{
    const double e = rounding(a.v, 1, r);
    return settle_one(a.v, g_plus(a.g, g_of(e)), a.c + e, a, r);
}

static inline double
wrapped(double v, rule r)
{
    const int64_t i = (int64_t)v;
    if (r.most == 1)
        return i != 0;
    if (r.most == 127)
        return (int8_t)i;
    return r.most == 255 ? (double)(uint8_t)i : (double)(int32_t)i;
}

/* An integer in doubt must not wrap to the other end. */
static inline val
store_whole(val a, rule r)
{
    const double v = wrapped(a.v, r), reach = fmin(6 * g_size(a.g), 2 * a.c);
    if (a.g != a.g)
        return unjudged(v);
    if (a.g > 0 && r.most == 1)
        return (val){v, g_of(1.0 / 6), 1};
    if (a.g > 0 && !(v - reach >= r.least && v + reach <= r.most))
        return unjudged(v);
    return (val){v, a.g, a.c};
}

/* A float as an integer: toward zero; outside of its range undefined. */
static inline val
cut(val a, rule r)
{
    const val t = val_trunc(a, F64);
    return t.v >= r.least && t.v <= r.most ? t : unjudged(0);
}
