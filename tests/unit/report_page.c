/* Pages: whatever the data says stays data, and nothing is loaded from elsewhere. */
#include "base/json.h"
#include "report/report.h"
#include "unit.h"

#include <jansson.h>

static const char *
page_of(struct unit *unit, enum report_kind kind, const char *title, const char *json)
{
    struct buf page = buf_in(unit->arena);
    report_put_page(&page, kind, title, json);
    return page.data;
}

static size_t
count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = text; (at = strcasestr(at, part)) != NULL; at += strlen(part))
        count++;
    return count;
}

/* What stands between the tags of the data, as a browser cuts it: up to the first end tag. */
static json_t *
data_of(struct unit *unit, const char *page)
{
    static const char open[] = "<script type=\"application/json\" id=\"data\">";
    const char *start = strstr(page, open);
    assert_non_null(start);
    start += strlen(open);
    const char *end = strcasestr(start, "</script");
    assert_non_null(end);
    return json_loads(arena_strndup(unit->arena, start, (size_t)(end - start)), 0, NULL);
}

static void
data_cannot_leave_its_block(void **state)
{
    struct unit *unit = *state;
    static const char *const texts[] = {
        "</script><script>alert(1)</script>",
        "</SCRIPT >",
        "<!-- <script>",
        "-->",
        "]]>",
        "&lt;/script&gt; & < >",
        "\"}</script>",
        "\\u003c/script\\u003e",
        "line\xe2\x80\xa8separators\xe2\x80\xa9",
        "// </script>\n\ttab \x01 control",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (enum report_kind kind = REPORT_RUN; kind <= REPORT_BENCH; kind++) {
            struct buf json = buf_in(unit->arena);
            buf_puts(&json, "{\"text\":");
            json_put_string(&json, texts[i]);
            buf_puts(&json, "}");
            const char *page = page_of(unit, kind, "title", json.data);
            json_t *data = data_of(unit, page);
            assert_non_null(data);
            assert_string_equal(json_string_value(json_object_get(data, "text")), texts[i]);
            json_decref(data);
            assert_int_equal(count_of(page, "<script"), 2);
            assert_int_equal(count_of(page, "</script"), 2);
            assert_int_equal(count_of(page, "<!--"), 0);
        }
}

static void
titles_are_text(void **state)
{
    struct unit *unit = *state;
    const char *page = page_of(unit, REPORT_RUN, "</title><b>&", "{}");
    assert_non_null(strstr(page, "<title>&lt;/title>&lt;b>&amp;</title>"));
}

static void
bytes_that_are_no_text_are_shown_as_such(void **state)
{
    struct unit *unit = *state;
    json_t *data = data_of(unit, page_of(unit, REPORT_RUN, "t", "{\"text\":\"\xff\xc3+\"}"));
    assert_non_null(data);
    assert_string_equal(json_string_value(json_object_get(data, "text")), "\?\?+");
    json_decref(data);
}

/* The one address in it names SVG. */
static void
nothing_is_loaded(void **state)
{
    struct unit *unit = *state;
    for (enum report_kind kind = REPORT_RUN; kind <= REPORT_BENCH; kind++) {
        const char *page = page_of(unit, kind, "t", "{}");
        assert_int_equal(count_of(page, "://"), count_of(page, "http://www.w3.org/2000/svg"));
        assert_int_equal(count_of(page, "src="), 0);
        assert_int_equal(count_of(page, "@import"), 0);
        assert_int_equal(count_of(page, "fetch("), 0);
        assert_int_equal(count_of(page, "innerHTML"), 0); /* text enters as text */
        assert_non_null(strstr(page, "default-src 'none'"));
        assert_non_null(strstr(page, "prefers-color-scheme: dark"));
        assert_non_null(strstr(page, "width=device-width"));
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(data_cannot_leave_its_block),
        UNIT_TEST(titles_are_text),
        UNIT_TEST(bytes_that_are_no_text_are_shown_as_such),
        UNIT_TEST(nothing_is_loaded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
