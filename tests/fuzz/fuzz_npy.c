/* The bytes of a .npy file: refused with one message, or a sound array. */
#include "base/npy.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void
check_accepted(const struct npy *array)
{
    int64_t product = 1;

    assert(array->rank <= NPY_MAX_RANK);
    assert(array->size == 1 || array->size == 2 || array->size == 4 || array->size == 8);
    for (unsigned d = 0; d < array->rank; d++) {
        assert(array->shape[d] >= 0);
        product *= array->shape[d] ? array->shape[d] : 1;
    }
    assert(array->count == 0 || array->count == product);
    assert((uintptr_t)array->data % 64 == 0);
}

/* Every byte of the result is read, and the sum kept, so that no sanitizer can miss one. */
static unsigned
sum_bytes(const struct npy *array)
{
    const unsigned char *data = array->data;
    unsigned sum = 0;

    for (size_t i = 0; i < (size_t)array->count * array->size; i++)
        sum += data[i];
    return sum;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct arena *arena = arena_create();
    struct diags *diags;
    struct npy array;
    volatile unsigned sum;

    if (!arena)
        return 0;
    diags = diags_create(arena, 0);
    if (npy_parse(arena, "fuzz.npy", bytes, count, &array, diags) == STATUS_OK) {
        check_accepted(&array);
        sum = sum_bytes(&array);
        (void)sum;
        assert(diags_errors(diags) == 0);
    } else {
        assert(diags_errors(diags) == 1 && strlen(diags_get(diags, 0)->message) > 10);
    }
    arena_destroy(arena);
    return 0;
}
