#include "base/num.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t
num_floor_div(int64_t a, int64_t b)
{
    int64_t quotient;

    if (b == 0)
        return 0;
    if (b == -1)
        return (int64_t)(0 - (uint64_t)a); /* the least integer has no opposite: it wraps */
    quotient = a / b;
    return quotient - (a % b != 0 && (a < 0) != (b < 0));
}

int64_t
num_floor_mod(int64_t a, int64_t b)
{
    int64_t remainder;

    if (b == 0 || b == -1)
        return 0;
    remainder = a % b;
    return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

int64_t
num_common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = b == -1 ? 0 : a % b;

        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

bool
num_add(int64_t a, int64_t b, int64_t *result)
{
    if (!__builtin_add_overflow(a, b, result))
        return true;
    *result = 0;
    return false;
}

bool
num_sub(int64_t a, int64_t b, int64_t *result)
{
    if (!__builtin_sub_overflow(a, b, result))
        return true;
    *result = 0;
    return false;
}

bool
num_mul(int64_t a, int64_t b, int64_t *result)
{
    if (!__builtin_mul_overflow(a, b, result))
        return true;
    *result = 0;
    return false;
}

static void
put_three_digits(struct buf *buf, double value)
{
    double size = fabs(value);

    buf_printf(buf, "%.*f", size < 9.995 ? 2 : size < 99.95 ? 1 : 0, value);
}

/* The number of steps of 1000 after which `value`, rounded to three digits, is below 1000. */
static size_t
scale_down(double *value, size_t most)
{
    size_t steps = 0;

    while (fabs(*value) >= 999.5 && steps < most) {
        *value /= 1000;
        steps++;
    }
    return steps;
}

void
num_put_time(struct buf *buf, double us)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    double value = us * 1000;
    size_t unit;

    if (us == 0 || !isfinite(us)) {
        buf_printf(buf, "%g us", us);
        return;
    }
    unit = scale_down(&value, 3);
    put_three_digits(buf, value);
    buf_printf(buf, " %s", units[unit]);
}

void
num_put_count(struct buf *buf, double count, const char *unit)
{
    static const char steps[][2] = {"", "k", "M", "G", "T", "P", "E"};
    bool has_unit = unit && *unit;
    double value = count;
    size_t step = 0;

    if (!isfinite(count)) {
        buf_printf(buf, "%g", count);
    } else if (fabs(count) < 1000 && count == floor(count)) {
        buf_printf(buf, "%.0f", count);
    } else {
        step = scale_down(&value, 6);
        put_three_digits(buf, value);
    }
    if (step > 0 || has_unit)
        buf_printf(buf, " %s%s", steps[step], has_unit ? unit : "");
}

/* Under some locales printf() writes another decimal point, of one byte or more. */
static void
put_with_point(struct buf *buf, const char *text)
{
    static const char usual[] = "0123456789+-";
    size_t whole = strspn(text, usual), foreign = strcspn(text + whole, usual);

    buf_add(buf, text, whole);
    if (foreign > 0)
        buf_putc(buf, '.');
    buf_puts(buf, text + whole + foreign);
}

/* How many digits behind the first one are needed to read the same value back. */
static int
digits_needed(double value, char *text, size_t size)
{
    for (int digits = 0; digits < 17; digits++) {
        snprintf(text, size, "%.*e", digits, value);
        if (strtod(text, NULL) == value)
            return digits;
    }
    assert(!"17 digits tell any two doubles apart");
    return 16;
}

void
num_put_double(struct buf *buf, double value)
{
    char text[64];
    char *e;
    int digits, exponent;

    if (!isfinite(value)) {
        buf_puts(buf, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
        return;
    }
    digits = digits_needed(value, text, sizeof text);
    e = strchr(text, 'e');
    exponent = atoi(e + 1);
    if (exponent >= -4 && exponent <= 15) {
        snprintf(text, sizeof text, "%.*f", digits > exponent ? digits - exponent : 1, value);
        put_with_point(buf, text);
    } else {
        *e = '\0';
        put_with_point(buf, text);
        buf_printf(buf, "e%d", exponent);
    }
}

/* A short IEEE-like format: sign, `exponent_bits`, `digits` of mantissa. */
static uint16_t
encode(double value, int exponent_bits, int digits)
{
    int bias = (1 << (exponent_bits - 1)) - 1;
    unsigned infinity = ((1u << exponent_bits) - 1) << digits;
    unsigned sign = signbit(value) ? 0x8000 : 0;
    unsigned bits;
    int exponent;

    if (isnan(value))
        return (uint16_t)(sign | infinity | 1u << (digits - 1));
    if (isinf(value))
        return (uint16_t)(sign | infinity);
    frexp(value, &exponent); /* in [1/2, 1): hence one less */
    exponent = exponent - 1 < 1 - bias || value == 0 ? 1 - bias : exponent - 1;
    if (exponent > bias)
        return (uint16_t)(sign | infinity);
    /* Scaling by a power of two is exact, so this rounds once. The leading one of a normal number
     * adds 1 to the exponent's field, and a carry out of the mantissa does so once more. */
    bits = (unsigned)rint(ldexp(fabs(value), digits - exponent));
    bits += (unsigned)(exponent + bias - 1) << digits;
    return (uint16_t)(sign | (bits < infinity ? bits : infinity));
}

static double
decode(uint16_t bits, int exponent_bits, int digits)
{
    int bias = (1 << (exponent_bits - 1)) - 1;
    int most = (1 << exponent_bits) - 1;
    int exponent = bits >> digits & most;
    int mantissa = bits & ((1 << digits) - 1);
    double size;

    if (exponent == most)
        size = mantissa ? NAN : INFINITY;
    else if (exponent == 0)
        size = ldexp(mantissa, 1 - bias - digits);
    else
        size = ldexp(mantissa + (1 << digits), exponent - bias - digits);
    return bits & 0x8000 ? -size : size;
}

uint16_t
num_half_of_double(double value)
{
    return encode(value, 5, 10);
}

double
num_double_of_half(uint16_t bits)
{
    return decode(bits, 5, 10);
}

uint16_t
num_bf16_of_double(double value)
{
    return encode(value, 8, 7);
}

double
num_double_of_bf16(uint16_t bits)
{
    return decode(bits, 8, 7);
}
