/* JSON as it is written. */
#include "unit.h"

#include "base/json.h"

#include <math.h>

static void
values(void **state)
{
    struct unit *unit = *state;
    struct buf buf = buf_in(unit->arena);

    json_put_string(&buf, "a\"b\\c\n\x7f é");
    json_field_string(&buf, "none", NULL);
    json_field_number(&buf, "whole", 40);
    json_field_number(&buf, "zero", 0);
    json_field_number(&buf, "part", 0.1);
    json_field_number(&buf, "small", -1.5e-9);
    json_field_number(&buf, "large", 1e300);
    json_field_number(&buf, "nan", NAN);
    json_field_number(&buf, "far", -INFINITY);
    json_field_bool(&buf, "yes", true);
    json_field_bool(&buf, "no", false);
    assert_string_equal(buf.data,
                        "\"a\\\"b\\\\c\\u000a\\u007f é\",\"none\":null,\"whole\":40,\"zero\":0,"
                        "\"part\":0.1,\"small\":-1.5e-9,\"large\":1e300,\"nan\":null,"
                        "\"far\":null,\"yes\":true,\"no\":false");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {UNIT_TEST(values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
