/* The format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
 *
 *     "\x93NUMPY" major minor length header data
 *
 * where the header is the text of a Python dictionary with three keys, padded by blanks. Nothing in
 * a file is trusted: each count is compared with the bytes that are there before it is used. */
#include "base/npy.h"

#include "base/file.h"
#include "base/file_int.h"
#include "base/num.h"

#include <assert.h>
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "elements are stored as they lie here");

enum {
    MAGIC = 6,
    ALIGNMENT = 64,
    HEADER_MOST = 1024, /* bytes of a header that we write: 32 extents of 20 digits fit */
};

static const char magic[] = "\x93NUMPY";

struct header {
    const char *at, *end; /* what is left to read */
    bool big_endian, fortran;
    const char *wrong; /* the first mistake */
};

static bool
fail(struct header *header, const char *wrong)
{
    if (!header->wrong)
        header->wrong = wrong;
    return false;
}

static void
skip_blanks(struct header *header)
{
    while (header->at < header->end && isspace((unsigned char)*header->at))
        header->at++;
}

static bool
take(struct header *header, char c)
{
    skip_blanks(header);
    if (header->at == header->end || *header->at != c)
        return false;
    header->at++;
    return true;
}

static bool
take_word(struct header *header, const char *word)
{
    size_t length = strlen(word);

    skip_blanks(header);
    if ((size_t)(header->end - header->at) < length || memcmp(header->at, word, length) != 0)
        return false;
    header->at += length;
    return true;
}

/* A quoted string without escapes, cut to the size of `text`. */
static bool
take_string(struct header *header, char *text, size_t size)
{
    char quote;
    size_t length = 0;

    skip_blanks(header);
    if (header->at == header->end || (*header->at != '\'' && *header->at != '"'))
        return false;
    quote = *header->at++;
    for (; header->at < header->end && *header->at != quote; header->at++)
        if (length + 1 < size)
            text[length++] = *header->at;
    text[length] = '\0';
    return take(header, quote);
}

static bool
take_integer(struct header *header, int64_t *value)
{
    const char *start;

    skip_blanks(header);
    start = header->at;
    *value = 0;
    for (; header->at < header->end && isdigit((unsigned char)*header->at); header->at++)
        if (!num_mul(*value, 10, value) || !num_add(*value, *header->at - '0', value))
            return fail(header, "an extent is too large");
    if (header->at == start)
        return fail(header, "an extent is not a non-negative integer");
    take(header, 'L'); /* Python 2 wrote long integers so */
    return true;
}

static bool
is_known_type(const char *type)
{
    static const char *const known[] = {"f2", "f4", "f8", "i1", "i2", "i4",
                                        "i8", "u1", "u2", "u4", "u8", "b1"};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(type, known[i]) == 0)
            return true;
    return false;
}

static bool
take_type(struct header *header, struct npy *array)
{
    char text[8];

    if (!take_string(header, text, sizeof text) || text[0] == '\0' || !is_known_type(text + 1))
        return fail(header, "its elements are neither float (2, 4, 8 bytes), integer nor bool; "
                            "convert them with astype");
    if (!strchr("<>=|", text[0]))
        return fail(header, "its byte order is none of < > = |");
    memcpy(array->type, text + 1, strlen(text));
    array->size = (size_t)(text[2] - '0');
    header->big_endian = text[0] == '>';
    return true;
}

static bool
take_shape(struct header *header, struct npy *array)
{
    bool closed, comma = true;

    array->rank = 0;
    if (!take(header, '('))
        return fail(header, "its shape is not a tuple");
    while (!(closed = take(header, ')')) && comma) {
        if (array->rank == NPY_MAX_RANK)
            return fail(header, "it has more than 32 dimensions");
        if (!take_integer(header, &array->shape[array->rank]))
            return false;
        array->rank++;
        comma = take(header, ',');
    }
    if (!closed || (array->rank == 1 && !comma))
        return fail(header, "its shape is not a tuple of integers");
    return true;
}

static bool
take_order(struct header *header)
{
    if (take_word(header, "True"))
        header->fortran = true;
    else if (!take_word(header, "False"))
        return fail(header, "its fortran_order is neither True nor False");
    return true;
}

static bool
take_value(struct header *header, const char *key, unsigned *seen, struct npy *array)
{
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    size_t i = 0;

    while (i < 3 && strcmp(key, keys[i]) != 0)
        i++;
    if (i == 3 || *seen & 1u << i)
        return fail(header, "its header has an unknown key, or one twice");
    *seen |= 1u << i;
    return i == 0   ? take_type(header, array)
           : i == 1 ? take_order(header)
                    : take_shape(header, array);
}

static bool
take_dictionary(struct header *header, struct npy *array)
{
    static const char damaged[] =
        "its header is not a dictionary of descr, fortran_order and shape";
    unsigned seen = 0;
    bool closed, comma = true;
    char key[16];

    if (!take(header, '{'))
        return fail(header, damaged);
    while (!(closed = take(header, '}')) && comma) {
        if (!take_string(header, key, sizeof key) || !take(header, ':'))
            return fail(header, damaged);
        if (!take_value(header, key, &seen, array))
            return false;
        comma = take(header, ',');
    }
    skip_blanks(header);
    if (!closed || seen != 7 || header->at != header->end)
        return fail(header, damaged);
    return true;
}

/* Finds the header's text; *data is where it ends. */
static bool
open_header(struct header *header, const char *bytes, size_t count, const char **data)
{
    const unsigned char *raw = (const unsigned char *)bytes;
    size_t start = MAGIC + 2, length;

    if (count < start + 2 || memcmp(bytes, magic, MAGIC) != 0)
        return fail(header, "not a .npy file; write one with numpy.save");
    if (raw[MAGIC] < 1 || raw[MAGIC] > 3)
        return fail(header, "its version is not 1, 2 or 3");
    length = raw[start] | (size_t)raw[start + 1] << 8;
    start += 2;
    if (raw[MAGIC] > 1) {
        if (count < start + 2)
            return fail(header, "it ends within its header");
        length |= (size_t)raw[start] << 16 | (size_t)raw[start + 1] << 24;
        start += 2;
    }
    if (length > count - start)
        return fail(header, "it ends within its header");
    header->at = bytes + start;
    header->end = *data = header->at + length;
    return true;
}

/* An array without elements is fine, but its other extents must not overflow either: whoever
 * computes strides multiplies them. */
static bool
count_elements(struct header *header, struct npy *array, size_t available)
{
    int64_t product = 1, bytes;
    bool empty = false;

    for (unsigned d = 0; d < array->rank; d++) {
        if (array->shape[d] == 0)
            empty = true;
        else if (!num_mul(product, array->shape[d], &product))
            return fail(header, "its shape is too large");
    }
    if (!num_mul(product, (int64_t)array->size, &bytes))
        return fail(header, "its shape is too large");
    array->count = empty ? 0 : product;
    if (!empty && (uint64_t)bytes > available)
        return fail(header, "it is cut off: its shape needs more bytes than it has");
    return true;
}

static void
swap_bytes(char *data, int64_t count, size_t size)
{
    for (int64_t i = 0; i < count; i++, data += size)
        for (size_t low = 0, high = size - 1; low < high; low++, high--) {
            char byte = data[low];

            data[low] = data[high];
            data[high] = byte;
        }
}

/* Walks the elements in C order, which is that of the copy, and keeps the offset of each in Fortran
 * order, where the first index is the fastest. */
static void
copy_fortran(const struct npy *array, const char *from, char *to)
{
    int64_t index[NPY_MAX_RANK] = {0}, stride[NPY_MAX_RANK] = {0}, offset = 0;
    size_t size = array->size;

    for (unsigned d = 0; d < array->rank; d++)
        stride[d] = d == 0 ? 1 : stride[d - 1] * array->shape[d - 1];
    for (int64_t i = 0; i < array->count; i++) {
        memcpy(to + (size_t)i * size, from + (size_t)offset * size, size);
        for (unsigned d = array->rank; d-- > 0;) {
            offset += stride[d];
            if (++index[d] < array->shape[d])
                break;
            offset -= stride[d] * array->shape[d];
            index[d] = 0;
        }
    }
}

static char *
align_down(char *pointer)
{
    return pointer - (uintptr_t)pointer % ALIGNMENT;
}

/* `spare` is the writable copy of the file in which `from` lies, or NULL. The data is moved to the
 * nearest aligned place before it, over the header, so that a large file is in memory once. */
static void
place_data(struct arena *arena, const struct header *header, const char *from, char *spare,
           struct npy *array)
{
    size_t bytes = (size_t)array->count * array->size;
    char *to = spare ? align_down(spare + (from - spare)) : NULL;

    if (!spare || to < spare || header->fortran)
        to = align_down((char *)arena_alloc(arena, bytes + ALIGNMENT) + ALIGNMENT - 1);
    if (header->fortran && array->count > 0)
        copy_fortran(array, from, to);
    else if (bytes > 0)
        memmove(to, from, bytes);
    if (header->big_endian)
        swap_bytes(to, array->count, array->size);
    array->data = to;
}

static enum status
parse(struct arena *arena, const char *path, const char *bytes, size_t count, char *spare,
      struct npy *array, struct diags *diags)
{
    struct header header = {0};
    const char *data = NULL;

    *array = (struct npy){0};
    if (open_header(&header, bytes, count, &data) && take_dictionary(&header, array) &&
        count_elements(&header, array, count - (size_t)(data - bytes))) {
        place_data(arena, &header, data, spare, array);
        return STATUS_OK;
    }
    diags_add(diags, DIAG_ERROR, (struct place){0}, "%s: %s", path, header.wrong);
    *array = (struct npy){0};
    return STATUS_INPUT;
}

enum status
npy_parse(struct arena *arena, const char *path, const void *bytes, size_t count, struct npy *array,
          struct diags *diags)
{
    return parse(arena, path, bytes, count, NULL, array, diags);
}

enum status
npy_read(struct arena *arena, const char *path, struct npy *array, struct diags *diags)
{
    struct source source;
    enum status status = file_read(arena, path, PTRDIFF_MAX - 2, &source, diags);

    *array = (struct npy){0};
    if (status != STATUS_OK)
        return status;
    return parse(arena, path, source.text, source.length, (char *)source.text, array, diags);
}

/* The text of the header with the bytes before it; a multiple of ALIGNMENT, as NumPy writes it. */
static size_t
make_header(const struct npy *array, char text[HEADER_MOST])
{
    int length = MAGIC + 4;
    size_t total;

    length += snprintf(text + length, HEADER_MOST - (size_t)length,
                       "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
                       array->size == 1 ? '|' : '<', array->type);
    for (unsigned d = 0; d < array->rank; d++)
        length +=
            snprintf(text + length, HEADER_MOST - (size_t)length, "%s%lld%s", d > 0 ? ", " : "",
                     (long long)array->shape[d], array->rank == 1 ? "," : "");
    length += snprintf(text + length, HEADER_MOST - (size_t)length, "), }");
    total = ((size_t)length + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    assert(total <= HEADER_MOST);
    memset(text + length, ' ', total - (size_t)length - 1);
    text[total - 1] = '\n';
    memcpy(text, magic, MAGIC);
    text[MAGIC] = 1;
    text[MAGIC + 1] = 0;
    text[MAGIC + 2] = (char)((total - MAGIC - 4) & 255);
    text[MAGIC + 3] = (char)((total - MAGIC - 4) >> 8);
    return total;
}

enum status
npy_write(const char *path, const struct npy *array, struct diags *diags)
{
    char header[HEADER_MOST];
    struct file_part parts[2];

    assert(array->rank <= NPY_MAX_RANK && is_known_type(array->type));
    parts[0] = (struct file_part){header, make_header(array, header)};
    parts[1] = (struct file_part){array->data, (size_t)array->count * array->size};
    return file__write_parts(path, parts, 2, diags);
}
