#include "base/buf.h"
#include "base/fault.h"
#include "base/npy.h"
#include "scratch.h"

#include <stdio.h>

/* A whole file in memory: version, dictionary, data. */
static struct buf
make(struct unit *unit, int version, const char *dictionary, const void *data, size_t bytes)
{
    struct buf buf = buf_in(unit->arena);
    size_t length = strlen(dictionary);

    buf_puts(&buf, "\x93NUMPY");
    buf_putc(&buf, (char)version);
    buf_putc(&buf, 0);
    for (int i = 0; i < (version == 1 ? 2 : 4); i++)
        buf_putc(&buf, (char)(length >> 8 * i));
    buf_puts(&buf, dictionary);
    buf_add(&buf, data, bytes);
    return buf;
}

static enum status
parse(struct unit *unit, struct buf file, struct npy *array)
{
    unit->diags = diags_create(unit->arena, 0);
    return npy_parse(unit->arena, "f.npy", file.data, file.length, array, unit->diags);
}

static void
every_version_is_read(void **state)
{
    struct unit *unit = *state;
    const float data[] = {1, 2, 3, 4, 5, 6};

    for (int version = 1; version <= 3; version++) {
        struct npy array;
        struct buf file =
            make(unit, version, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n",
                 data, sizeof data);

        assert_int_equal(parse(unit, file, &array), STATUS_OK);
        assert_string_equal(array.type, "f4");
        assert_int_equal(array.rank, 2);
        assert_int_equal(array.shape[0], 2);
        assert_int_equal(array.shape[1], 3);
        assert_int_equal(array.count, 6);
        assert_int_equal(array.size, 4);
        assert_int_equal((uintptr_t)array.data % 64, 0);
        assert_memory_equal(array.data, data, sizeof data);
    }
}

static void
headers_may_be_written_otherwise(void **state)
{
    static const char *const same[] = {
        "{\"shape\":(2,3),\"fortran_order\":False,\"descr\":\"=i2\"}",
        "  { 'descr' : '<i2' , 'fortran_order' : False , 'shape' : ( 2L , 3L , ) , } ",
    };
    struct unit *unit = *state;
    const int16_t data[] = {1, -2, 3, -4, 5, -6};

    for (size_t i = 0; i < 2; i++) {
        struct npy array;

        assert_int_equal(parse(unit, make(unit, 1, same[i], data, sizeof data), &array), STATUS_OK);
        assert_string_equal(array.type, "i2");
        assert_memory_equal(array.data, data, sizeof data);
    }
}

static void
scalars_and_empty_arrays_are_read(void **state)
{
    struct unit *unit = *state;
    const double pi = 3.14;
    struct npy array;
    struct buf file =
        make(unit, 1, "{'descr': '<f8', 'fortran_order': False, 'shape': ()}", &pi, 8);

    assert_int_equal(parse(unit, file, &array), STATUS_OK);
    assert_int_equal(array.rank, 0);
    assert_int_equal(array.count, 1);
    assert_memory_equal(array.data, &pi, 8);
    file = make(unit, 1, "{'descr': '<f8', 'fortran_order': True, 'shape': (4, 0, 9)}", NULL, 0);
    assert_int_equal(parse(unit, file, &array), STATUS_OK);
    assert_int_equal(array.count, 0);
    assert_non_null(array.data);
}

static void
fortran_order_is_converted(void **state)
{
    struct unit *unit = *state;
    uint8_t data[24], expected[24];
    struct npy array;

    for (uint8_t i = 0; i < 2; i++)
        for (uint8_t j = 0; j < 3; j++)
            for (uint8_t k = 0; k < 4; k++) {
                data[i + 2 * (j + 3 * k)] = (uint8_t)(100 * i + 10 * j + k);
                expected[(i * 3 + j) * 4 + k] = (uint8_t)(100 * i + 10 * j + k);
            }
    assert_int_equal(
        parse(unit,
              make(unit, 1, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 4)}", data,
                   sizeof data),
              &array),
        STATUS_OK);
    assert_memory_equal(array.data, expected, sizeof expected);
}

static void
big_endian_is_converted(void **state)
{
    struct unit *unit = *state;
    const unsigned char data[] = {0x3f, 0x80, 0, 0, 0xc0, 0x20, 0, 0};
    const float expected[] = {1, -2.5};
    struct npy array;

    assert_int_equal(parse(unit,
                           make(unit, 1, "{'descr': '>f4', 'fortran_order': False, 'shape': (2,)}",
                                data, sizeof data),
                           &array),
                     STATUS_OK);
    assert_string_equal(array.type, "f4");
    assert_memory_equal(array.data, expected, sizeof expected);
}

static void
refused(struct unit *unit, struct buf file, const char *text)
{
    struct npy array;

    assert_int_equal(parse(unit, file, &array), STATUS_INPUT);
    assert_int_equal(diags_errors(unit->diags), 1);
    if (!strstr(unit_message(unit, 0), text))
        fail_msg("\"%s\" does not say \"%s\"", unit_message(unit, 0), text);
    assert_null(array.data);
    assert_int_equal(array.count, 0);
}

static void
bad_headers_are_refused(void **state)
{
    static const struct {
        const char *dictionary, *message;
    } bad[] = {
        {"", "not a dictionary"},
        {"{}", "not a dictionary"},
        {"{'descr': '<f4', 'shape': (1,)}", "not a dictionary"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)", "not a dictionary"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x", "not a dictionary"},
        {"{'descr': '<f4' 'fortran_order': False, 'shape': (1,)}", "not a dictionary"},
        {"{'descr: 1", "not a dictionary"},
        {"{'descr': '<f4', 'descr': '<f4', 'shape': (1,)}", "one twice"},
        {"{'colour': 'red'}", "unknown key"},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", "neither float"},
        {"{'descr': '<f3', 'fortran_order': False, 'shape': (1,)}", "neither float"},
        {"{'descr': '<f16', 'fortran_order': False, 'shape': (1,)}", "neither float"},
        {"{'descr': '|S5', 'fortran_order': False, 'shape': (1,)}", "neither float"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", "neither float"},
        {"{'descr': '', 'fortran_order': False, 'shape': (1,)}", "neither float"},
        {"{'descr': '<f4_and_more', 'fortran_order': False, 'shape': (1,)}", "neither float"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "neither float"},
        {"{'descr': '!f4', 'fortran_order': False, 'shape': (1,)}", "byte order"},
        {"{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}", "neither True nor False"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': 1}", "not a tuple"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1)}", "not a tuple"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1 1)}", "not a tuple"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", "non-negative"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1.5,)}", "not a tuple"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (,)}", "non-negative"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999999999999,)}", "too large"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}",
         "too large"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 4294967296, 4294967296)}",
         "too large"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904,)}", "too large"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (17,)}", "cut off"},
    };
    struct unit *unit = *state;
    char data[64] = {0};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused(unit, make(unit, 1, bad[i].dictionary, data, sizeof data), bad[i].message);
}

static void
the_rank_is_bounded(void **state)
{
    struct unit *unit = *state;
    struct npy array;

    for (int rank = 31; rank <= 34; rank++) {
        struct buf text = buf_in(unit->arena);
        struct buf file;

        buf_puts(&text, "{'descr': '|i1', 'fortran_order': True, 'shape': (");
        for (int i = 0; i < rank; i++)
            buf_puts(&text, i == 2 ? "3, " : "1, ");
        buf_puts(&text, ")}");
        file = make(unit, 1, text.data, "abc", 3);
        if (rank <= 32) {
            assert_int_equal(parse(unit, file, &array), STATUS_OK);
            assert_int_equal(array.rank, rank);
            assert_memory_equal(array.data, "abc", 3);
        } else {
            refused(unit, file, "more than 32 dimensions");
        }
    }
}

/* Cut anywhere, in a buffer of exactly that size: never accepted, never read beyond. */
static void
truncated_files_are_refused(void **state)
{
    struct unit *unit = *state;
    const double data[] = {1, 2, 3};

    for (int version = 1; version <= 2; version++) {
        struct buf file =
            make(unit, version, "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }\n", data,
                 sizeof data);

        for (size_t length = 0; length < file.length; length++) {
            struct buf cut = file;

            cut.data = memcpy(malloc(length + !length), file.data, length);
            cut.length = length;
            refused(unit, cut, "f.npy: ");
            free(cut.data);
        }
    }
}

static struct npy
example(struct unit *unit, const char *type, size_t size)
{
    struct npy array = {.rank = 2, .shape = {3, 5}, .count = 15, .size = size};

    strcpy(array.type, type);
    array.data = arena_alloc(unit->arena, 15 * size);
    for (size_t i = 0; i < 15 * size; i++)
        ((char *)array.data)[i] = (char)(i * 3);
    return array;
}

static void
what_is_written_is_read(void **state)
{
    static const char *const types[] = {"f2", "f4", "f8", "i1", "i2", "i4",
                                        "i8", "u1", "u2", "u4", "u8", "b1"};
    struct unit *unit = *state;

    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct npy array = example(unit, types[i], (size_t)(types[i][1] - '0'));
        struct npy again;

        assert_int_equal(npy_write("a.npy", &array, unit->diags), STATUS_OK);
        assert_int_equal(npy_read(unit->arena, "a.npy", &again, unit->diags), STATUS_OK);
        assert_string_equal(again.type, types[i]);
        assert_int_equal(again.rank, 2);
        assert_int_equal(again.shape[1], 5);
        assert_int_equal((uintptr_t)again.data % 64, 0);
        assert_memory_equal(again.data, array.data, 15 * array.size);
    }
    assert_int_equal(scratch_count("."), 1);
}

/* Byte for byte what numpy.save() writes for numpy.array([1, 2], dtype="<i2"). */
static void
the_form_is_numpys(void **state)
{
    static const char expected[] =
        "\x93NUMPY\x01\x00\x76\x00{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }"
        "                                                            \n\x01\x00\x02";
    struct unit *unit = *state;
    int16_t data[] = {1, 2};
    struct npy array = {.type = "i2", .rank = 1, .shape = {2}, .count = 2, .size = 2, .data = data};
    char bytes[200];
    size_t count;
    FILE *file;

    assert_int_equal(npy_write("a.npy", &array, unit->diags), STATUS_OK);
    file = fopen("a.npy", "rb");
    assert_non_null(file);
    count = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_int_equal(count, sizeof expected);
    assert_memory_equal(bytes, expected, sizeof expected);
}

static void
extreme_shapes_are_written(void **state)
{
    struct unit *unit = *state;
    struct npy array = {.type = "f4", .rank = NPY_MAX_RANK, .size = 4}, again;

    for (unsigned d = 1; d < NPY_MAX_RANK; d++)
        array.shape[d] = INT64_MAX;
    assert_int_equal(npy_write("a.npy", &array, unit->diags), STATUS_OK);
    assert_int_equal(npy_read(unit->arena, "a.npy", &again, unit->diags), STATUS_INPUT);
    array = (struct npy){.type = "f4", .size = 4, .count = 1, .data = (float[]){7}};
    assert_int_equal(npy_write("a.npy", &array, unit->diags), STATUS_OK);
    assert_int_equal(npy_read(unit->arena, "a.npy", &again, unit->diags), STATUS_OK);
    assert_int_equal(again.rank, 0);
    assert_memory_equal(again.data, array.data, 4);
}

static void
no_partial_file_is_left(void **state)
{
    struct unit *unit = *state;
    struct npy array = example(unit, "f4", 4);
    enum status status;
    unsigned long n = 0;

    do {
        fault_arm(FAULT_WRITE, ++n);
        status = npy_write("a.npy", &array, unit->diags);
        fault_arm(FAULT_WRITE, 0);
        assert_int_equal(scratch_count("."), status == STATUS_OK);
        assert_true(status == STATUS_OK || status == STATUS_MACHINE);
    } while (status != STATUS_OK);
    assert_int_equal(n, 5);
}

static void
missing_files_are_reported(void **state)
{
    struct unit *unit = *state;
    struct npy array;

    assert_int_equal(npy_read(unit->arena, "x.npy", &array, unit->diags), STATUS_INPUT);
    assert_string_equal(unit_message(unit, 0), "x.npy: no such file");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(every_version_is_read),
        UNIT_TEST(headers_may_be_written_otherwise),
        UNIT_TEST(scalars_and_empty_arrays_are_read),
        UNIT_TEST(fortran_order_is_converted),
        UNIT_TEST(big_endian_is_converted),
        UNIT_TEST(bad_headers_are_refused),
        UNIT_TEST(the_rank_is_bounded),
        UNIT_TEST(truncated_files_are_refused),
        SCRATCH_TEST(what_is_written_is_read),
        SCRATCH_TEST(the_form_is_numpys),
        SCRATCH_TEST(extreme_shapes_are_written),
        SCRATCH_TEST(no_partial_file_is_left),
        SCRATCH_TEST(missing_files_are_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
