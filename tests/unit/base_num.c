#include "base/num.h"
#include "base/rng.h"
#include "unit.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>

/* The definition: a = q b + r, with r between 0 and b. */
static void
floor_division_is_exact(void **state)
{
    (void)state;
    for (int64_t a = -20; a <= 20; a++)
        for (int64_t b = -7; b <= 7; b++) {
            int64_t q = num_floor_div(a, b), r = num_floor_mod(a, b);

            if (b == 0) {
                assert_int_equal(q, 0);
                assert_int_equal(r, 0);
                continue;
            }
            assert_int_equal(q * b + r, a);
            assert_true(b > 0 ? r >= 0 && r < b : r <= 0 && r > b);
        }
}

static void
floor_division_never_traps(void **state)
{
    (void)state;
    assert_true(num_floor_div(INT64_MIN, -1) == INT64_MIN);
    assert_true(num_floor_mod(INT64_MIN, -1) == 0);
    assert_true(num_floor_div(INT64_MIN, 1) == INT64_MIN);
    assert_true(num_floor_div(INT64_MIN, INT64_MIN) == 1);
    assert_true(num_floor_div(INT64_MAX, INT64_MIN) == -1);
    assert_true(num_floor_mod(INT64_MIN, INT64_MAX) == INT64_MAX - 1);
}

static void
common_divisors(void **state)
{
    (void)state;
    assert_int_equal(num_common_divisor(12, 18), 6);
    assert_int_equal(num_common_divisor(-12, 18), 6);
    assert_int_equal(num_common_divisor(5, -1), 1);
    assert_int_equal(num_common_divisor(0, -7), 7);
    assert_int_equal(num_common_divisor(7, 0), 7);
    assert_int_equal(num_common_divisor(0, 0), 0);
}

static void
overflow_is_told(void **state)
{
    int64_t result;

    (void)state;
    assert_true(num_add(INT64_MAX, INT64_MIN, &result) && result == -1);
    assert_true(num_sub(-1, INT64_MAX, &result) && result == INT64_MIN);
    assert_true(num_mul(INT64_C(1) << 31, INT64_C(1) << 31, &result) && result == INT64_C(1) << 62);
    result = 7;
    assert_false(num_add(INT64_MAX, 1, &result) || result != 0);
    result = 7;
    assert_false(num_sub(INT64_MIN, 1, &result) || result != 0);
    result = 7;
    assert_false(num_mul(INT64_C(1) << 32, INT64_C(1) << 31, &result) || result != 0);
}

static const char *
time_text(struct unit *unit, double us)
{
    struct buf buf = buf_in(unit->arena);

    num_put_time(&buf, us);
    return buf.data;
}

static void
times_are_as_people_say_them(void **state)
{
    struct unit *unit = *state;

    assert_string_equal(time_text(unit, 1240), "1.24 ms");
    assert_string_equal(time_text(unit, 11), "11.0 us");
    assert_string_equal(time_text(unit, 118.4), "118 us");
    assert_string_equal(time_text(unit, 0.31), "310 ns");
    assert_string_equal(time_text(unit, 0.0007149), "0.71 ns");
    assert_string_equal(time_text(unit, 1), "1.00 us");
    assert_string_equal(time_text(unit, 999.4), "999 us");
    assert_string_equal(time_text(unit, 999.6), "1.00 ms");
    assert_string_equal(time_text(unit, 9.996), "10.0 us");
    assert_string_equal(time_text(unit, 99.96), "100 us");
    assert_string_equal(time_text(unit, 2.5e6), "2.50 s");
    assert_string_equal(time_text(unit, 5.4e9), "5400 s");
    assert_string_equal(time_text(unit, 0), "0 us");
    assert_string_equal(time_text(unit, INFINITY), "inf us");
}

static const char *
count_text(struct unit *unit, double count, const char *unit_name)
{
    struct buf buf = buf_in(unit->arena);

    num_put_count(&buf, count, unit_name);
    return buf.data;
}

static void
counts_are_as_people_say_them(void **state)
{
    struct unit *unit = *state;

    assert_string_equal(count_text(unit, 16777216, NULL), "16.8 M");
    assert_string_equal(count_text(unit, 149332, ""), "149 k");
    assert_string_equal(count_text(unit, 37, NULL), "37");
    assert_string_equal(count_text(unit, 0, NULL), "0");
    assert_string_equal(count_text(unit, 999, NULL), "999");
    assert_string_equal(count_text(unit, 1000, NULL), "1.00 k");
    assert_string_equal(count_text(unit, 999500, NULL), "1.00 M");
    assert_string_equal(count_text(unit, 33554432, "B"), "33.6 MB");
    assert_string_equal(count_text(unit, 298664, "B"), "299 kB");
    assert_string_equal(count_text(unit, 12, "B"), "12 B");
    assert_string_equal(count_text(unit, 0.5, NULL), "0.50");
    assert_string_equal(count_text(unit, 1e21, NULL), "1000 E");
}

static const char *
double_text(struct unit *unit, double value)
{
    struct buf buf = buf_in(unit->arena);

    num_put_double(&buf, value);
    return buf.data;
}

static void
doubles_are_short(void **state)
{
    struct unit *unit = *state;

    assert_string_equal(double_text(unit, 3), "3.0");
    assert_string_equal(double_text(unit, 100), "100.0");
    assert_string_equal(double_text(unit, 0.1), "0.1");
    assert_string_equal(double_text(unit, -2.5), "-2.5");
    assert_string_equal(double_text(unit, 0), "0.0");
    assert_string_equal(double_text(unit, -0.0), "-0.0");
    assert_string_equal(double_text(unit, 1e-5), "1e-5");
    assert_string_equal(double_text(unit, 0.0001), "0.0001");
    assert_string_equal(double_text(unit, 1e22), "1e22");
    assert_string_equal(double_text(unit, 1.5e300), "1.5e300");
    assert_string_equal(double_text(unit, 9007199254740992.0), "9007199254740992.0");
    assert_string_equal(double_text(unit, 5e-324), "5e-324");
    assert_string_equal(double_text(unit, 1.7976931348623157e308), "1.7976931348623157e308");
    assert_string_equal(double_text(unit, INFINITY), "inf");
    assert_string_equal(double_text(unit, -INFINITY), "-inf");
    assert_string_equal(double_text(unit, NAN), "nan");
    assert_string_equal(double_text(unit, -NAN), "nan");
}

static void
doubles_read_back(void **state)
{
    struct unit *unit = *state;
    struct rng rng = rng_stream(1, "doubles");

    for (int i = 0; i < 20000; i++) {
        uint64_t bits = rng_next(&rng);
        double value, again;
        const char *text;

        memcpy(&value, &bits, sizeof value);
        if (i % 2)
            value = ldexp((double)(bits >> 11), -(int)(bits & 63)); /* of everyday size */
        if (!isfinite(value))
            continue;
        text = double_text(unit, value);
        again = strtod(text, NULL);
        assert_memory_equal(&again, &value, sizeof value);
        assert_non_null(strpbrk(text, ".e"));
    }
}

/* A program that embeds the library may have set a locale with a decimal comma. */
static void
locales_do_not_matter(void **state)
{
    struct unit *unit = *state;

    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8"))
        skip();
    assert_string_equal(double_text(unit, 0.1), "0.1");
    assert_string_equal(double_text(unit, 1.5e300), "1.5e300");
    setlocale(LC_NUMERIC, "C");
}

/* Every value of the short format survives; midpoints go to the even neighbour. */
static void
check_format(uint16_t (*encode)(double), double (*decode)(uint16_t), uint16_t infinity)
{
    for (unsigned bits = 0; bits < infinity; bits++) {
        double value = decode((uint16_t)bits);
        double next = bits + 1 < infinity ? decode((uint16_t)(bits + 1)) : 0;
        double middle = (value + next) / 2;

        assert_int_equal(encode(value), bits);
        assert_int_equal(encode(-value), bits | 0x8000);
        if (bits + 1 == infinity)
            continue;
        assert_true(value < next);
        assert_int_equal(encode(middle), bits % 2 ? bits + 1 : bits);
        assert_int_equal(encode(nextafter(middle, INFINITY)), bits + 1);
        assert_int_equal(encode(nextafter(middle, -INFINITY)), bits);
    }
    assert_int_equal(encode(INFINITY), infinity);
    assert_int_equal(encode(-INFINITY), infinity | 0x8000);
    assert_int_equal(encode(1e300), infinity);
    assert_int_equal(encode(5e-324), 0);
    assert_true(isinf(decode(infinity)) && decode((uint16_t)(infinity | 0x8000)) == -INFINITY);
    assert_true(isnan(decode(encode(NAN))) && isnan(decode((uint16_t)(infinity + 1))));
    assert_true(signbit(decode(0x8000)));
}

static void
half_is_ieee(void **state)
{
    (void)state;
    check_format(num_half_of_double, num_double_of_half, 0x7c00);
    assert_int_equal(num_half_of_double(1), 0x3c00);
    assert_int_equal(num_half_of_double(65504), 0x7bff);
    assert_int_equal(num_half_of_double(65519.99), 0x7bff);
    assert_int_equal(num_half_of_double(65520), 0x7c00);
    assert_true(num_double_of_half(1) == 0x1p-24);
    /* By way of float this would be rounded twice, and up. */
    assert_int_equal(num_half_of_double(1 + 0x1p-11 + 0x1p-40), 0x3c01);
    assert_int_equal(num_half_of_double(1 + 0x1p-11 - 0x1p-40), 0x3c00);
}

static void
bf16_is_the_upper_half_of_float(void **state)
{
    (void)state;
    check_format(num_bf16_of_double, num_double_of_bf16, 0x7f80);
    for (unsigned bits = 0; bits < 0x7f80; bits += 3) {
        uint32_t wide = bits << 16;
        float value;

        memcpy(&value, &wide, sizeof value);
        assert_true(num_double_of_bf16((uint16_t)bits) == (double)value);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floor_division_is_exact),
        cmocka_unit_test(floor_division_never_traps),
        cmocka_unit_test(common_divisors),
        cmocka_unit_test(overflow_is_told),
        UNIT_TEST(times_are_as_people_say_them),
        UNIT_TEST(counts_are_as_people_say_them),
        UNIT_TEST(doubles_are_short),
        UNIT_TEST(doubles_read_back),
        UNIT_TEST(locales_do_not_matter),
        cmocka_unit_test(half_is_ieee),
        cmocka_unit_test(bf16_is_the_upper_half_of_float),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
