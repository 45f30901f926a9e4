/* Differences: fixed texts, and random ones whose scripts are applied and compared with the longest
 * common subsequence. */
#include "base/diff.h"
#include "base/rng.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

static struct diff_text
text(const char *name, const char *content)
{
    return (struct diff_text){name, content, strlen(content)};
}

static const char *
unified(struct unit *unit, const char *old, const char *new, size_t context)
{
    struct buf buf = buf_in(unit->arena);
    struct diff_text before = text("a", old), after = text("b", new);
    diff_put_unified(unit->arena, &buf, &before, &after, context);
    return buf.length ? buf.data : "";
}

static void
equal_texts_have_none(void **state)
{
    struct unit *unit = *state;
    assert_string_equal(unified(unit, "", "", 3), "");
    assert_string_equal(unified(unit, "x\ny\n", "x\ny\n", 3), "");
}

static void
changes_stand_in_their_context(void **state)
{
    struct unit *unit = *state;
    assert_string_equal(unified(unit, "1\n2\n3\n4\n5\n", "1\n2\nthree\n4\n5\n", 1),
                        "--- a\n+++ b\n@@ -2,3 +2,3 @@\n 2\n-3\n+three\n 4\n");
    assert_string_equal(unified(unit, "", "x\n", 3), "--- a\n+++ b\n@@ -0,0 +1,1 @@\n+x\n");
    assert_string_equal(unified(unit, "x\n", "", 3), "--- a\n+++ b\n@@ -1,1 +0,0 @@\n-x\n");
    assert_string_equal(unified(unit, "a\nb\nc\nd\ne\nf\ng\n", "A\nb\nc\nd\ne\nf\nG\n", 1),
                        "--- a\n+++ b\n@@ -1,2 +1,2 @@\n-a\n+A\n b\n"
                        "@@ -6,2 +6,2 @@\n f\n-g\n+G\n");
    assert_string_equal(unified(unit, "a\nb\nc\nd\n", "A\nb\nc\nD\n", 1),
                        "--- a\n+++ b\n@@ -1,4 +1,4 @@\n-a\n+A\n b\n c\n-d\n+D\n");
}

static void
a_missing_newline_is_told(void **state)
{
    struct unit *unit = *state;
    assert_string_equal(unified(unit, "x\ny", "x\ny\n", 0),
                        "--- a\n+++ b\n@@ -2,1 +2,1 @@\n-y\n\\ no newline at the end\n+y\n");
}

static void
bytes_of_any_kind_are_compared(void **state)
{
    struct unit *unit = *state;
    struct diff_text a = {"a", "x\0y\n", 4}, b = {"b", "x\0z\n", 4};
    struct diff_count count = diff_put_unified(unit->arena, NULL, &a, &b, 3);
    assert_int_equal(count.removed, 1);
    assert_int_equal(count.added, 1);
}

/* ---- random texts ---- */

static const char *
random_text(struct arena *arena, struct rng *rng, size_t most, unsigned letters)
{
    struct buf buf = buf_in(arena);
    size_t lines = rng_below(rng, most + 1);
    for (size_t i = 0; i < lines; i++)
        buf_printf(&buf, "%c\n", (int)('a' + rng_below(rng, letters)));
    return buf.length ? buf.data : "";
}

/* Of texts with lines of one letter. */
static size_t
common(const char *a, const char *b)
{
    size_t m = strlen(a) / 2, n = strlen(b) / 2, rows[64][64] = {{0}};
    for (size_t i = 1; i <= m; i++)
        for (size_t j = 1; j <= n; j++) {
            size_t longer = rows[i - 1][j] > rows[i][j - 1] ? rows[i - 1][j] : rows[i][j - 1];
            rows[i][j] = a[2 * i - 2] == b[2 * j - 2] ? rows[i - 1][j - 1] + 1 : longer;
        }
    return rows[m][n];
}

/* The old text with the changes made; lines of one letter. */
static const char *
apply(struct arena *arena, const char *old, const char *diff)
{
    struct buf buf = buf_in(arena);
    size_t at = 0; /* line of the old text */
    for (const char *line = diff; *line; line = strchr(line, '\n') + 1) {
        size_t begin, count;
        if (sscanf(line, "@@ -%zu,%zu", &begin, &count) == 2) {
            for (begin -= count > 0; at < begin; at++)
                buf_add(&buf, old + 2 * at, 2);
        } else if (line[1] != '-' && line[1] != '+') {
            if (line[0] != '-')
                buf_add(&buf, line + 1, 2);
            if (line[0] != '+') {
                assert_memory_equal(old + 2 * at, line + 1, 2);
                at++;
            }
        }
    }
    buf_puts(&buf, old + 2 * at);
    return buf.data;
}

static void
scripts_are_shortest_and_lead_from_one_to_the_other(void **state)
{
    struct unit *unit = *state;
    struct rng rng = rng_stream(7, "diff");
    for (int i = 0; i < 3000; i++) {
        const char *a = random_text(unit->arena, &rng, 20, 1 + i % 5);
        const char *b = random_text(unit->arena, &rng, 20, 1 + i % 5);
        struct buf buf = buf_in(unit->arena);
        struct diff_text before = text("a", a), after = text("b", b);
        struct diff_count count =
            diff_put_unified(unit->arena, &buf, &before, &after, (size_t)i % 4);
        assert_int_equal(count.removed, strlen(a) / 2 - common(a, b));
        assert_int_equal(count.added, strlen(b) / 2 - common(a, b));
        assert_string_equal(apply(unit->arena, a, buf.length ? buf.data : ""), b);
    }
}

static void
more_than_can_be_compared_is_replaced(void **state)
{
    struct unit *unit = *state;
    struct buf a = buf_in(unit->arena), b = buf_in(unit->arena);
    buf_puts(&a, "same\n");
    buf_puts(&b, "same\n");
    for (int i = 0; i < 1500; i++) {
        buf_printf(&a, "old %d\n", i);
        buf_printf(&b, "new %d\n", i);
    }
    struct diff_text before = text("a", a.data), after = text("b", b.data);
    struct diff_count count = diff_put_unified(unit->arena, NULL, &before, &after, 3);
    assert_int_equal(count.removed, 1500);
    assert_int_equal(count.added, 1500);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(equal_texts_have_none),
        UNIT_TEST(changes_stand_in_their_context),
        UNIT_TEST(a_missing_newline_is_told),
        UNIT_TEST(bytes_of_any_kind_are_compared),
        UNIT_TEST(scripts_are_shortest_and_lead_from_one_to_the_other),
        UNIT_TEST(more_than_can_be_compared_is_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
