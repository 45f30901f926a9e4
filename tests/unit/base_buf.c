#include "base/buf.h"
#include "unit.h"

static void
a_new_one_is_empty_text(void **state)
{
    struct unit *unit = *state;
    struct buf buf = buf_in(unit->arena);

    assert_int_equal(buf.length, 0);
    assert_string_equal(buf.data, "");
    buf_add(&buf, NULL, 0);
    buf_puts(&buf, "");
    buf_printf(&buf, "%s", "");
    assert_string_equal(buf.data, "");
}

/* Lengths around every capacity, by each way of adding. */
static void
it_grows_and_stays_terminated(void **state)
{
    struct unit *unit = *state;
    struct buf by_char = buf_in(unit->arena), by_text = buf_in(unit->arena);
    struct buf by_format = buf_in(unit->arena);

    for (size_t i = 0; i < 1000; i++) {
        buf_putc(&by_char, (char)('a' + i % 26));
        buf_add(&by_text, &by_char.data[i], 1);
        buf_printf(&by_format, "%c", by_char.data[i]);
        assert_int_equal(by_char.length, i + 1);
        assert_int_equal(strlen(by_char.data), i + 1);
        assert_string_equal(by_text.data, by_char.data);
        assert_string_equal(by_format.data, by_char.data);
    }
}

static void
long_formats_fit(void **state)
{
    struct unit *unit = *state;

    for (int width = 1; width < 300; width++) {
        struct buf buf = buf_in(unit->arena);

        buf_puts(&buf, "x = ");
        buf_printf(&buf, "%*d", width, 7);
        buf_puts(&buf, ";");
        assert_int_equal(buf.length, (size_t)width + 5);
        assert_int_equal(strlen(buf.data), buf.length);
        assert_string_equal(buf.data + buf.length - 2, "7;");
    }
}

static void
bytes_may_be_zero(void **state)
{
    struct unit *unit = *state;
    struct buf buf = buf_in(unit->arena);

    buf_add(&buf, "a\0b", 3);
    assert_int_equal(buf.length, 3);
    assert_memory_equal(buf.data, "a\0b", 4);
}

static void
it_may_be_added_to_itself(void **state)
{
    struct unit *unit = *state;
    struct buf buf = buf_in(unit->arena);

    buf_puts(&buf, "0123456789");
    for (int i = 0; i < 6; i++)
        buf_add(&buf, buf.data, buf.length);
    assert_int_equal(buf.length, 640);
    for (size_t i = 0; i < buf.length; i++)
        assert_int_equal(buf.data[i], '0' + i % 10);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(a_new_one_is_empty_text),   UNIT_TEST(it_grows_and_stays_terminated),
        UNIT_TEST(long_formats_fit),          UNIT_TEST(bytes_may_be_zero),
        UNIT_TEST(it_may_be_added_to_itself),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
