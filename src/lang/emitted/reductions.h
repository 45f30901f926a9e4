/* ---- reductions ---- */

/* Sums of terms t: s of t, q of t^2, a of |t|, g of g^2, c of c; p of s^2, for few elements. */
typedef struct {
    double s, q, a, g, c, p;
} sum;

static inline val
sum_end(sum t, double n, rule r)
{
    if (t.g != t.g)
        return unjudged(t.s);
    if (n == 0)
        return exactly(0);
    if (!(t.a < INFINITY)) /* some term was infinite or NaN */
        return exactly(t.s);
    const double square = t.s * t.s, spread = fmax(t.q - square / n, 0);
    const double any = t.q + square * (n + 1) * (2 * n + 1) / (6 * n) + (n + 1) * spread / 6;
    const double walk = fmax(any, t.p);
    const double flushed = fabs(t.s) < r.tiny ? fabs(t.s) : 0;
    const double g = g_plus(g_of(sqrt(t.g + r.u * r.u * walk)), g_of(flushed));
    if (t.a > r.most)
        return unjudged(t.s);
    return settle(t.s, g, t.c + n * r.u * (t.a + t.c) + flushed, 1, 0, r);
}

/* Terms that are products of exact numbers: each is rounded once. */
static inline val
sum_of_products(double s, double q, double a, double n, rule r)
{
    return sum_end((sum){s, q, a, a < INFINITY ? r.u * r.u * q : 0, r.u * a, 0}, n, r);
}

static inline val
sum_of_few_products(double s, double q, double a, double p, double n, rule r)
{
    return sum_end((sum){s, q, a, a < INFINITY ? r.u * r.u * q : 0, r.u * a, p}, n, r);
}

static inline val
sum_whole(sum t)
{
    return t.g == t.g ? (val){t.s, g_of(sqrt(t.g)), t.c} : unjudged(t.s);
}

static inline val
mean_end(val s, double n, rule r)
{
    return val_div(s, held(n, r), r);
}

static inline void
sum_term(sum *s, val t)
{
    s->s += t.v;
    s->q += t.v * t.v;
    s->a += fabs(t.v);
    s->g += g_square(t.g);
    s->c += t.c;
}

typedef struct {
    val total;
    double grown, shrunk; /* products of the terms above and below 1 */
} product;

static inline void
product_term(product *p, val t, rule r)
{
    const double size = fabs(t.v);
    p->total = val_mul(p->total, t, r);
    if (size > 1 && size < INFINITY)
        p->grown *= size;
    else if (size < 1)
        p->shrunk *= size;
}

static inline val
product_end(product p, rule r)
{
    const int leaves = p.grown > r.most || (p.shrunk < r.tiny && p.shrunk > 0);
    return leaves && r.u > 0 ? unjudged(p.total.v) : p.total;
}

/* max, or min with sign -1: the winner, and how high some term may lie. */
typedef struct {
    val best;
    double reach_g, reach_c;
    int64_t n;
    int unjudged;
} extreme;

static inline void
extreme_term(extreme *x, val t, double sign)
{
    x->unjudged |= t.v != t.v || t.g != t.g;
    if (x->n++ == 0 || sign * t.v > sign * x->best.v)
        x->best = t;
    x->reach_g = fmax(x->reach_g, sign * t.v + 6 * g_size(t.g));
    x->reach_c = fmax(x->reach_c, sign * t.v + t.c);
}

static inline val
extreme_end(extreme x, double sign, double empty)
{
    if (x.unjudged)
        return unjudged(x.n ? x.best.v : empty);
    if (x.n == 0)
        return exactly(empty);
    if (isinf(x.best.v))
        return exactly(x.best.v);
    const double g = fmax(g_size(x.best.g), (x.reach_g - sign * x.best.v) / 6);
    return (val){x.best.v, g_of(g), fmax(x.best.c, x.reach_c - sign * x.best.v)};
}

static inline val
val_max(val a, val b, rule r)
{
    extreme x = {.reach_g = -INFINITY, .reach_c = -INFINITY};
    (void)r;
    extreme_term(&x, a, 1);
    extreme_term(&x, b, 1);
    return extreme_end(x, 1, 0);
}

static inline val
val_min(val a, val b, rule r)
{
    extreme x = {.reach_g = -INFINITY, .reach_c = -INFINITY};
    (void)r;
    extreme_term(&x, a, -1);
    extreme_term(&x, b, -1);
    return extreme_end(x, -1, 0);
}
