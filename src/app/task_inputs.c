/* Inputs of `hone task --eval` from .npy files.
 *
 * A file has the input's shape and its own type: NumPy's name for the dtype, or one that converts.
 * Floats of another width are rounded to the dtype, with a warning if that changed a value (NumPy's
 * default is f8, and it has no bf16 at all); integers of another width must fit. */
#include "app/task.h"

#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/npy.h"

#define ALIGNMENT 64

static bool
same_shape(const struct tensor *tensor, const struct npy *array)
{
    if (tensor->rank != array->rank)
        return false;
    for (unsigned d = 0; d < tensor->rank; d++)
        if (tensor->size[d] != array->shape[d])
            return false;
    return true;
}

static enum status
check_shape(struct cli *cli, const struct program *program, const struct tensor *tensor,
            const char *path, const struct npy *array)
{
    if (same_shape(tensor, array))
        return STATUS_OK;
    struct buf has = buf_in(cli->arena), wants = buf_in(cli->arena);
    if (array->rank == 0)
        buf_puts(&has, "scalar");
    for (unsigned d = 0; d < array->rank; d++)
        buf_printf(&has, "%s%lld", d ? "x" : "", (long long)array->shape[d]);
    face_put_shape(&wants, tensor);
    return cli_wrong(cli, "%s: its shape is %s; %s is %s in case %s", path, has.data, tensor->name,
                     wants.data, program->case_name);
}

/* An element of an .npy array as a double; integers beyond 2^53 do not fit any dtype anyway. */
static double
npy_element(const struct npy *array, int64_t at)
{
    const char *data = (const char *)array->data + (size_t)at * array->size;
    char kind = array->type[0];
    union {
        double f8;
        float f4;
        uint16_t u2;
        int64_t i8;
        int32_t i4;
        int16_t i2;
        uint64_t u8;
        uint32_t u4;
    } value;
    memcpy(&value, data, array->size > 8 ? 8 : array->size);
    if (kind == 'f')
        return array->size == 8   ? value.f8
               : array->size == 4 ? (double)value.f4
                                  : dtype_element(DTYPE_F16, data, 0);
    if (array->size == 1)
        return kind == 'i' ? (double)*(const signed char *)data
                           : (double)*(const unsigned char *)data;
    if (kind == 'i')
        return array->size == 8   ? (double)value.i8
               : array->size == 4 ? (double)value.i4
                                  : (double)value.i2;
    return array->size == 8 ? (double)value.u8 : array->size == 4 ? (double)value.u4 : value.u2;
}

/* Whether a file of this type can hold the input at all. */
static bool
convertible(const struct tensor *tensor, const struct npy *array)
{
    char kind = array->type[0];
    if (kind == 'f')
        return dtype_is_float(tensor->dtype) &&
               (array->size == 2 || array->size == 4 || array->size == 8);
    return (kind == 'i' || kind == 'u' || kind == 'b') && !dtype_is_float(tensor->dtype) &&
           array->size <= 8;
}

/* Elements that changed by conversion. */
static int64_t
convert(const struct tensor *tensor, const struct npy *array, void *data)
{
    int64_t changed = 0;
    for (int64_t at = 0; at < tensor->count; at++) {
        double value = npy_element(array, at);
        dtype_set_element(tensor->dtype, data, at, value);
        double kept = dtype_element(tensor->dtype, data, at);
        changed += kept != value && !(isnan(kept) && isnan(value));
    }
    return changed;
}

static enum status
take_array(struct cli *cli, const struct tensor *tensor, const char *path, const struct npy *array,
           void *data)
{
    const char *dtype = dtype_info[tensor->dtype].name;
    if (!convertible(tensor, array))
        return cli_wrong(cli, "%s: its type is %s; %s is %s", path, array->type, tensor->name,
                         dtype);
    int64_t changed = convert(tensor, array, data);
    if (changed > 0 && !dtype_is_float(tensor->dtype))
        return cli_wrong(cli, "%s: %lld of its values do not fit %s", path, (long long)changed,
                         dtype);
    if (changed > 0)
        log_warning(&cli->log, "%s: %s values rounded to %s, %lld of %lld changed", path,
                    array->type, dtype, (long long)changed, (long long)tensor->count);
    return task_check_input(tensor, path, data, cli->diags);
}

static enum status
read_input(struct cli *cli, const struct program *program, const struct tensor *tensor,
           const char *folder, void *data)
{
    struct npy array;
    const char *path =
        file_join(cli->arena, folder, arena_printf(cli->arena, "%s.npy", tensor->name));
    enum status status = npy_read(cli->arena, path, &array, cli->diags);
    if (status == STATUS_OK)
        status = check_shape(cli, program, tensor, path, &array);
    if (status == STATUS_OK)
        status = take_array(cli, tensor, path, &array, data);
    return status;
}

/* All files are looked at, so that all mistakes are told at once. */
enum status
task_read_inputs(struct cli *cli, const struct program *program, const char *folder, void ***inputs)
{
    enum status worst = STATUS_OK;
    *inputs = arena_array(cli->arena, program->input_count, sizeof **inputs);
    for (size_t i = 0; i < program->input_count; i++) {
        const struct tensor *tensor = program->tensors[i];
        size_t bytes = (size_t)tensor->count * dtype_info[tensor->dtype].size;
        char *room = arena_alloc(cli->arena, bytes + 2 * ALIGNMENT);
        (*inputs)[i] = room + (ALIGNMENT - (uintptr_t)room % ALIGNMENT) % ALIGNMENT;
        enum status status = read_input(cli, program, tensor, folder, (*inputs)[i]);
        worst = status < worst ? status : worst;
    }
    return worst;
}
