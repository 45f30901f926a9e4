/* Data types: their table, and elements of any of them as doubles and back. */
#include "lang/ir.h"

#include "base/num.h"

#include <assert.h>
#include <math.h>

const struct dtype_info dtype_info[DTYPE_COUNT] = {
#define X(id, name, c_type, size, kind, roundoff, smallest, largest) \
    [DTYPE_##id] = {name, c_type, size, kind, roundoff, smallest, largest},
    LANG_DTYPES(X)
#undef X
};

double
dtype_element(enum dtype dtype, const void *data, int64_t at)
{
    switch (dtype) {
    case DTYPE_F64:
        return ((const double *)data)[at];
    case DTYPE_F32:
        return ((const float *)data)[at];
    case DTYPE_F16:
        return num_double_of_half(((const uint16_t *)data)[at]);
    case DTYPE_BF16:
        return num_double_of_bf16(((const uint16_t *)data)[at]);
    case DTYPE_I32:
        return ((const int32_t *)data)[at];
    case DTYPE_I8:
        return ((const int8_t *)data)[at];
    case DTYPE_U8:
    case DTYPE_BOOL:
        return ((const uint8_t *)data)[at];
    case DTYPE_COUNT:
        break;
    }
    assert(!"a dtype");
    return 0;
}

/* Toward zero, and 0 for what 64 bits cannot hold: the caller wraps the rest. */
static uint64_t
whole_bits(double value)
{
    return fabs(value) < 9.2e18 ? (uint64_t)(int64_t)value : 0;
}

void
dtype_set_element(enum dtype dtype, void *data, int64_t at, double value)
{
    switch (dtype) {
    case DTYPE_F64:
        ((double *)data)[at] = value;
        return;
    case DTYPE_F32:
        ((float *)data)[at] = (float)value;
        return;
    case DTYPE_F16:
        ((uint16_t *)data)[at] = num_half_of_double(value);
        return;
    case DTYPE_BF16:
        ((uint16_t *)data)[at] = num_bf16_of_double(value);
        return;
    case DTYPE_I32:
        ((int32_t *)data)[at] = (int32_t)(uint32_t)whole_bits(value);
        return;
    case DTYPE_I8:
        ((int8_t *)data)[at] = (int8_t)(uint8_t)whole_bits(value);
        return;
    case DTYPE_U8:
        ((uint8_t *)data)[at] = (uint8_t)whole_bits(value);
        return;
    case DTYPE_BOOL:
        ((uint8_t *)data)[at] = value != 0;
        return;
    case DTYPE_COUNT:
        break;
    }
    assert(!"a dtype");
}
