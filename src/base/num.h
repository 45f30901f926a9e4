/* Integer arithmetic that says when it overflows, floor division, and how people write numbers. */
#ifndef HONE_BASE_NUM_H
#define HONE_BASE_NUM_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

/* Quotient toward minus infinity and its remainder, which has the divisor's sign (non-negative for
 * positive divisors). Division by zero gives 0: total functions, so that no program can trap. */
int64_t
num_floor_div(int64_t a, int64_t b);
int64_t
num_floor_mod(int64_t a, int64_t b);

/* The greatest common divisor, never negative; that of 0 and 0 is 0. */
int64_t
num_common_divisor(int64_t a, int64_t b);

/* false on overflow; *result is then 0. */
bool
num_add(int64_t a, int64_t b, int64_t *result);
bool
num_sub(int64_t a, int64_t b, int64_t *result);
bool
num_mul(int64_t a, int64_t b, int64_t *result);

/* "1.24 ms", "11.0 us": three digits and the unit people would say. Input in microseconds. */
void
num_put_time(struct buf *buf, double us);

/* "16.8 M", "149 k", "37": counts; with unit "B": "33.6 MB", "299 kB". Decimal steps of 1000. */
void
num_put_count(struct buf *buf, double count, const char *unit);

/* The shortest decimal text that reads back as exactly this double; always with a point, an
 * exponent, or the words inf, -inf, nan. */
void
num_put_double(struct buf *buf, double value);

/* IEEE half and bfloat16, round to nearest even, overflow to infinity. */
uint16_t
num_half_of_double(double value);
double
num_double_of_half(uint16_t bits);
uint16_t
num_bf16_of_double(double value);
double
num_double_of_bf16(uint16_t bits);

#endif
