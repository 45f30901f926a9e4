static inline int
is_finite(vd x)
{
    int finite = 1;
    for (int l = 0; l < LANES_D; l++)
        finite &= fabs(x[l]) < INFINITY;
    return finite;
}

/* A size times a factor; what is exact stays exact. */
static inline vd
by_vd(vd factor, vd size)
{
    return (vd)((md)(factor * size) & (size != 0));
}
#define by(factor, size) by_vd(every(factor), every(size))

/* g of results v that are not finite: unjudged if an operand was, or if an infinity met a number
 * whose sign is in doubt; otherwise 0. */
static inline vd
doubt(vd a, vd ga, vd b, vd gb, rule r)
{
    const md a_flushed = (a != 0) & (size(a) < r.tiny), b_flushed = (b != 0) & (size(b) < r.tiny);
    const md in_doubt = ((size(a) == INFINITY) & (b_flushed | ((gb > 0) & (b * b <= 144 * gb)))) |
                        ((size(b) == INFINITY) & (a_flushed | ((ga > 0) & (a * a <= 144 * ga))));
    return (ga + gb) * 0 + (vd)((md)every(NAN) & in_doubt);
}

/* The root of a sum's terms: its rounding and its overflow are the sum's. */
static inline void
settle_root(vd v, vd *g, vd *c, vd a, vd ga, vd b, vd gb, rule r)
{
    const md odd = ~(size(v) < INFINITY);
    *g = pick_vd(odd, doubt(a, ga, b, gb, r), *g);
    *c = pick_vd(odd, every(0.0), *c);
}

static inline void
settle_lanes(vd v, vd *g, vd *c, vd a, vd ga, vd b, vd gb, rule r)
{
    const vd s = size(v), e = pick_vd(s < r.tiny, s, s * r.u);
    const md odd = ~(s <= r.most), finite = (size(a) < INFINITY) & (size(b) < INFINITY);
    const vd overflow = (vd)((md)every(NAN) & finite & (v == v));
    *g = pick_vd(odd, doubt(a, ga, b, gb, r) + overflow, *g + e * e);
    *c = pick_vd(odd, every(0.0), *c + e);
}

/* Terms with sizes of their own, each rounded once more if `rounds`. */
static inline val
sum_of_roundings(sum t, int rounds, double n, rule r)
{
    if (rounds && t.a < INFINITY) {
        t.g += r.u * r.u * t.q;
        t.c += r.u * t.a;
    }
    return sum_end(t, n, r);
}
