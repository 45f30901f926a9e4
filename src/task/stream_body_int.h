/* Draws of a stream (base/rng.h) and normal numbers made of them, for one width of vector. Included
 * behind pass_body_int.h, with besides
 *
 *   v_mul32(x, y)   the products of the low halves of unsigned 64-bit lanes
 *   v_sqrt(x)
 */

typedef uint64_t vu __attribute__((vector_size(VECTOR_BYTES)));
typedef float vf __attribute__((vector_size(VECTOR_BYTES / 2)));
typedef int32_t vf_mask __attribute__((vector_size(VECTOR_BYTES / 2)));

enum { ROUNDS = 10 };

struct keys { /* of the rounds, in all lanes */
    vu even[ROUNDS], odd[ROUNDS];
};

TARGET static inline void
make_keys(struct keys *keys, const uint32_t key[2])
{
    uint32_t even = key[0], odd = key[1];

    for (int round = 0; round < ROUNDS; round++, even += 0x9E3779B9, odd += 0xBB67AE85) {
        keys->even[round] = (vu){0} + even;
        keys->odd[round] = (vu){0} + odd;
    }
}

/* first, first + step, ... */
TARGET static inline vu
numbers_from(uint64_t first, uint64_t step)
{
    vu numbers = {0};

    for (int i = 0; i < LANES; i++)
        numbers[i] = first + (uint64_t)i * step;
    return numbers;
}

/* Philox 4x32-10 as in base/rng.c, of two vectors at a time, since a round has to wait for the one
 * before. The high halves of lanes hold what is of no matter: products do not read them. */
TARGET static inline void
philox(vu *a, vu *b, const struct keys *keys)
{
    const vu m0 = (vu){0} + 0xD2511F53, m1 = (vu){0} + 0xCD9E8D57;
    vu a0 = *a, a1 = *a >> 32, a2 = {0}, a3 = {0}, b0 = *b, b1 = *b >> 32, b2 = {0}, b3 = {0};

    for (int round = 0; round < ROUNDS; round++) {
        vu p0 = v_mul32(m0, a0), p1 = v_mul32(m1, a2), q0 = v_mul32(m0, b0), q1 = v_mul32(m1, b2);
        a0 = (p1 >> 32) ^ (a1 ^ keys->even[round]);
        b0 = (q1 >> 32) ^ (b1 ^ keys->even[round]);
        a2 = (p0 >> 32) ^ (a3 ^ keys->odd[round]);
        b2 = (q0 >> 32) ^ (b3 ^ keys->odd[round]);
        a1 = p1;
        a3 = p0;
        b1 = q1;
        b3 = q0;
    }
    *a = (a0 & UINT32_MAX) | a1 << 32;
    *b = (b0 & UINT32_MAX) | b1 << 32;
}

/* DRAWS numbers of the stream, those at even places apart from the others. */
TARGET static inline void
draw_apart(const uint32_t key[2], uint64_t first, vu even[DRAWS / 2 / LANES],
           vu odd[DRAWS / 2 / LANES])
{
    struct keys keys;

    make_keys(&keys, key);
    for (int i = 0; i < DRAWS / 2 / LANES; i++) {
        even[i] = numbers_from(first + (uint64_t)(2 * LANES * i), 2);
        odd[i] = even[i] + 1;
        philox(&even[i], &odd[i], &keys);
    }
}

TARGET static void
draw(const uint32_t key[2], uint64_t first, uint64_t draws[DRAWS])
{
    vu even[DRAWS / 2 / LANES], odd[DRAWS / 2 / LANES];

    draw_apart(key, first, even, odd);
    for (int i = 0; i < DRAWS / 2; i++) {
        draws[2 * i] = even[i / LANES][i % LANES];
        draws[2 * i + 1] = odd[i / LANES][i % LANES];
    }
}

/* rng_uniform(): 53 bits, exactly. */
TARGET static inline vd
uniform(vu drawn)
{
    vu bits = drawn >> 11;
    vd low = (vd)((bits & UINT32_MAX) | 0x4330000000000000) - 0x1p52;
    vd high = (vd)((bits >> 32) | 0x4530000000000000) - 0x1p84;

    return (high + low) * 0x1p-53;
}

/* log() of a positive number that is not denormal, to a few roundings: fdlibm's polynomial. */
TARGET static inline vd
near_log(vd x)
{
    vu bits = (vu)x, upper = (vu)((vm)(bits & 0x000fffffffffffff) > 0x6a09e667f3bcc) & 1;
    vd k = (vd)((bits >> 52) + upper + 0x4330000000000000) - (0x1p52 + 1023);
    vd f = (vd)((bits & 0x000fffffffffffff) | (0x3ff0000000000000 - (upper << 52))) - 1;
    vd s = f / (2 + f), z = s * s, half = 0.5 * f * f;
    vd r = 1.479819860511658591e-01 * z + 1.531383769920937332e-01;

    r = r * z + 1.818357216161805012e-01;
    r = r * z + 2.222219843214978396e-01;
    r = r * z + 2.857142874366239149e-01;
    r = r * z + 3.999999999940941908e-01;
    r = (r * z + 6.666666666666735130e-01) * z;
    return k * 6.93147180369123816490e-01 -
           ((half - (s * (half + r) + k * 1.90821492927058770002e-10)) - f);
}

TARGET static inline vd
near_sin(vd a)
{
    vd z = a * a, r = 1.58969099521155010221e-10 * z - 2.50507602534068634195e-08;

    r = r * z + 2.75573137070700676789e-06;
    r = r * z - 1.98412698298579493134e-04;
    r = r * z + 8.33333333332248946124e-03;
    r = r * z - 1.66666666666666324348e-01;
    return a + a * z * r;
}

TARGET static inline vd
near_cos(vd a)
{
    vd z = a * a, r = 2.08757232129817482790e-09 - 1.13596475577881948265e-11 * z;

    r = r * z - 2.75573143513906633035e-07;
    r = r * z + 2.48015872894767294178e-05;
    r = r * z - 1.38888888888741095749e-03;
    r = r * z + 4.16666666666666019037e-02;
    return 1 - 0.5 * z + z * z * r;
}

/* cos(2 pi u): of the distance to the nearest quarter turn. */
TARGET static inline vd
near_cos_of_turns(vd u)
{
    vd shifted = 4 * u + 0x1.8p52, a = (u - 0.25 * (shifted - 0x1.8p52)) * (2 * M_PI);
    vu quarter = (vu)shifted, odd = -(quarter & 1), sign = ((quarter + 1) & 2) << 62;
    vu found = ((vu)near_sin(a) & odd) | ((vu)near_cos(a) & ~odd);

    return (vd)(found ^ sign);
}

/* What rng_normal() gives is within `reach` of the middle, so where both ends become the same f32
 * it does too. */
TARGET static bool
normals(const uint32_t key[2], uint64_t first, const struct fit *fit, float low[NORMALS],
        float high[NORMALS])
{
    vu even[DRAWS / 2 / LANES], odd[DRAWS / 2 / LANES];
    vf_mask differ = {0};

    draw_apart(key, first, even, odd);
    for (int i = 0; i < NORMALS / LANES; i++) {
        vd radius = v_sqrt(-2 * near_log(1 - uniform(even[i])));
        vd z = radius * near_cos_of_turns(uniform(odd[i])), reach = radius * 1e-14;
        vd below = (fit->offset + fit->factor * (z - reach)) * fit->scale;
        vd above = (fit->offset + fit->factor * (z + reach)) * fit->scale;
        vf a = __builtin_convertvector(below, vf), b = __builtin_convertvector(above, vf);
        memcpy(low + i * LANES, &a, sizeof a);
        memcpy(high + i * LANES, &b, sizeof b);
        differ |= a != b;
    }
    for (int i = 1; i < LANES; i++)
        differ[0] |= differ[i];
    return !differ[0];
}
