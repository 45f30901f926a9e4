#include "base/hash.h"
#include "base/status.h"
#include "base/text.h"
#include "unit.h"

static const char *const verbs[] = {"task",    "judge",   "optimize", "bench",
                                    "machine", "recipes", "t"};

static const char *
nearest(const char *word)
{
    const char *found = text_nearest(word, verbs, sizeof verbs / sizeof *verbs);

    return found ? found : "(none)";
}

static void
typing_errors_are_recognised(void **state)
{
    (void)state;
    assert_string_equal(nearest("optmize"), "optimize");
    assert_string_equal(nearest("optimise"), "optimize");
    assert_string_equal(nearest("jugde"), "judge");
    assert_string_equal(nearest("OPTIMIZE"), "optimize");
    assert_string_equal(nearest("tsak"), "task");
    assert_string_equal(nearest("tasks"), "task");
    assert_string_equal(nearest("benhc"), "bench");
    assert_string_equal(nearest("recpies"), "recipes");
}

static void
other_words_are_not(void **state)
{
    char longest[200];

    (void)state;
    memset(longest, 't', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    assert_string_equal(nearest("frobnicate"), "(none)");
    assert_string_equal(nearest("x"), "(none)");
    assert_string_equal(nearest(""), "(none)");
    assert_string_equal(nearest("desk"), "(none)");
    assert_string_equal(nearest(longest), "(none)");
    assert_null(text_nearest("task", verbs, 0));
}

static void
integers_are_whole(void **state)
{
    static const char *const bad[] = {"",
                                      "-",
                                      "+1",
                                      " 1",
                                      "1 ",
                                      "0x10",
                                      "1e3",
                                      "1.0",
                                      "--1",
                                      "a",
                                      "12a",
                                      "9223372036854775808",
                                      "-9223372036854775809"};
    int64_t value = 5;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(text_integer(bad[i], &value));
    assert_int_equal(value, 5);
    assert_true(text_integer("0", &value) && value == 0);
    assert_true(text_integer("-17", &value) && value == -17);
    assert_true(text_integer("007", &value) && value == 7);
    assert_true(text_integer("9223372036854775807", &value) && value == INT64_MAX);
    assert_true(text_integer("-9223372036854775808", &value) && value == INT64_MIN);
}

static void
times_are_read(void **state)
{
    static const char *const bad[] = {"",    "m",    "0",   "-3",  "10 m",
                                      "10d", "10mm", "nan", "inf", "1e9h"};
    double seconds = 7;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(text_seconds(bad[i], &seconds));
    assert_true(seconds == 7);
    assert_true(text_seconds("90", &seconds) && seconds == 90);
    assert_true(text_seconds("45s", &seconds) && seconds == 45);
    assert_true(text_seconds("2m", &seconds) && seconds == 120);
    assert_true(text_seconds("1.5h", &seconds) && seconds == 5400);
}

static void
beginnings_and_ends(void **state)
{
    (void)state;
    assert_true(text_starts("softmax.op", "soft") && text_starts("a", "") && text_starts("a", "a"));
    assert_false(text_starts("soft", "softmax"));
    assert_true(text_ends("softmax.op", ".op") && text_ends("a", "") && text_ends(".op", ".op"));
    assert_false(text_ends("op", ".op") || text_ends("x.opx", ".op"));
}

static void
statuses_are_exit_codes(void **state)
{
    (void)state;
    assert_int_equal(status_exit_code(STATUS_OK), 0);
    assert_int_equal(status_exit_code(STATUS_NO), 1);
    assert_int_equal(status_exit_code(STATUS_INPUT), 2);
    assert_int_equal(status_exit_code(STATUS_MACHINE), 3);
}

/* FIPS 180-4's examples. */
static void
sha256_is_the_published_one(void **state)
{
    char text[HASH_TEXT];

    (void)state;
    hash_sha256("", 0, text);
    assert_string_equal(text, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    hash_sha256("abc", 3, text);
    assert_string_equal(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    hash_sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56, text);
    assert_string_equal(text, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

static void
mixing_tells_texts_apart(void **state)
{
    static const char zeros[64];
    uint64_t seen[65];

    (void)state;
    for (size_t i = 0; i <= 64; i++) { /* even zeros of different lengths */
        seen[i] = hash_mix(1, zeros, i);
        for (size_t j = 0; j < i; j++)
            assert_true(seen[i] != seen[j]);
    }
    assert_true(hash_mix(0, "ab", 2) == hash_mix(0, "ab", 2));
    assert_true(hash_mix(0, "ab", 2) != hash_mix(0, "ba", 2));
    assert_true(hash_mix(0, "ab", 2) != hash_mix(1, "ab", 2));
    assert_true(hash_mix(0, NULL, 0) == hash_mix(0, "", 0));
}

/* Buckets are chosen by low bits: one changed bit of the input must change about half of them. */
static void
mixing_spreads_single_bits(void **state)
{
    unsigned char bytes[24] = {0};
    uint64_t plain = hash_mix(0, bytes, sizeof bytes);

    (void)state;
    for (size_t bit = 0; bit < 8 * sizeof bytes; bit++) {
        int changed;

        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        changed = __builtin_popcountll(plain ^ hash_mix(0, bytes, sizeof bytes));
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        assert_in_range(changed, 10, 54);
    }
}

static void
settings_are_cut_out_of_lines(void **state)
{
    char text[] = "# head\n  a = 1 2 \t# why\r\n\nno sign\nb=\r\n = c\nlast = x = y";
    static const char *const want[][2] = {{"a", "1 2"}, {"b", ""}, {"", "c"}, {"last", "x = y"}};
    char *next = text, *key, *value;

    (void)state;
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        assert_true(text_next_setting(&next, &key, &value));
        assert_string_equal(key, want[i][0]);
        assert_string_equal(value, want[i][1]);
    }
    assert_false(text_next_setting(&next, &key, &value));
    assert_false(text_next_setting(&next, &key, &value));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(typing_errors_are_recognised),
        cmocka_unit_test(other_words_are_not),
        cmocka_unit_test(integers_are_whole),
        cmocka_unit_test(times_are_read),
        cmocka_unit_test(beginnings_and_ends),
        cmocka_unit_test(settings_are_cut_out_of_lines),
        cmocka_unit_test(statuses_are_exit_codes),
        cmocka_unit_test(sha256_is_the_published_one),
        cmocka_unit_test(mixing_tells_texts_apart),
        cmocka_unit_test(mixing_spreads_single_bits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
