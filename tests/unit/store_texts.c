/* Texts are kept once, packed, and come back byte for byte; what is short stays where it is. */
#include "store_unit.h"

#include "base/rng.h"

enum { LONG = 200000 };

/* Letters that repeat can be packed, random bytes cannot. */
static char *
draw_text(struct unit *unit, struct rng *random, size_t length, bool packable)
{
    char *text = arena_alloc(unit->arena, length + 1);

    for (size_t i = 0; i < length; i++)
        text[i] = packable ? "for (int j = 0; j < N; j++)\n"[i % 28] : (char)rng_next(random);
    return text;
}

static int64_t
count_texts(struct unit *unit)
{
    return strtoll(store_unit_ask(unit, "archive.db", "SELECT count(*) FROM text"), NULL, 10);
}

static void
kernels_come_back_at_every_length(void **state)
{
    static const size_t lengths[] = {0, 1, 127, 128, 129, 1000, 4096, 70000, LONG};
    struct unit *unit = *state;
    struct store *store = store_unit_open(unit);
    struct store_run run = store_unit_begin(unit, store);
    struct rng random = rng_stream(5, "kernels");

    for (size_t i = 0; i < 2 * sizeof lengths / sizeof *lengths; i++) {
        size_t length = lengths[i / 2];
        char *kernel = draw_text(unit, &random, length, i % 2);
        struct store_candidate candidate = {
            .run = run.id, .kind = STORE_SOURCE, .kernel = kernel, .kernel_length = length};
        struct store_candidate found;

        store_unit_must(unit, store_candidate_add(store, &candidate, unit->diags));
        store_unit_must(unit,
                        store_candidate_find(store, unit->arena, "last.last", &found, unit->diags));
        assert_int_equal(found.id, candidate.id);
        assert_int_equal(found.kernel_length, length);
        assert_memory_equal(found.kernel, kernel, length + 1);
    }
    store_close(store);
    assert_string_equal(store_unit_ask(unit, "archive.db",
                                       "SELECT sum(length(bytes) < length / 20) || ' ' ||"
                                       " sum(length(bytes) = length) FROM text"),
                        "4 6");
}

static void
equal_texts_are_kept_once(void **state)
{
    struct unit *unit = *state;
    struct store *store = store_unit_open(unit);
    struct store_run run = store_unit_begin(unit, store);
    struct rng random = rng_stream(6, "texts");
    char *text = draw_text(unit, &random, 5000, true);

    for (unsigned i = 0; i < 3; i++) {
        struct store_candidate candidate = {
            .run = run.id, .why = text, .schedule = text, .kernel = text, .kernel_length = 5000};
        struct store_verdict verdict = {.status = "wrong", .reason = text, .json = text};
        struct store_event event = {.run = run.id, .answer = text};
        struct store_item item = {.kind = "traps", .key = (char[]){(char)('a' + i), 0}};

        item.text = text;
        store_unit_must(unit, store_candidate_add(store, &candidate, unit->diags));
        store_unit_must(unit, store_verdict_add(store, candidate.id, &verdict, unit->diags));
        store_unit_must(unit, store_event_add(store, &event, unit->diags));
        store_unit_must(unit, store_item_put(store, &item, unit->diags));
    }
    assert_int_equal(count_texts(unit), 1);
    store_unit_candidate(unit, store, run.id, "short");
    assert_int_equal(count_texts(unit), 1);
    store_close(store);
}

static void
every_long_text_comes_back(void **state)
{
    struct unit *unit = *state;
    struct store *store = store_unit_open(unit);
    struct store_run run = store_unit_run(), found;
    struct rng random = rng_stream(7, "texts");
    const char *text[12];
    struct store_candidate *candidates;
    size_t count;

    for (size_t i = 0; i < 12; i++)
        text[i] = arena_printf(unit->arena, "%zu: %s", i, draw_text(unit, &random, 999, true));
    run.task.canonical = text[0];
    run.task.source = text[1];
    run.recipe_text = text[2];
    run.options = text[3];
    run.budget = text[4];
    run.machine = text[5];
    store_unit_must(unit, store_run_begin(store, &run, unit->diags));
    store_unit_must(unit, store_run_find(store, unit->arena, run.name, &found, unit->diags));
    assert_string_equal(found.task.canonical, text[0]);
    assert_string_equal(found.task.source, text[1]);
    assert_string_equal(found.recipe_text, text[2]);
    assert_string_equal(found.options, text[3]);
    assert_string_equal(found.budget, text[4]);
    assert_string_equal(found.machine, text[5]);

    struct store_candidate candidate = {.run = run.id,
                                        .why = text[6],
                                        .schedule = text[7],
                                        .kernel = text[8],
                                        .kernel_length = strlen(text[8])};
    struct store_verdict verdict = {.status = "wrong", .reason = text[9], .json = text[10]};

    store_unit_must(unit, store_candidate_add(store, &candidate, unit->diags));
    store_unit_must(unit, store_verdict_add(store, candidate.id, &verdict, unit->diags));
    store_unit_must(unit, store_candidates(store, unit->arena, run.id, STORE_WHOLE, &candidates,
                                           &count, unit->diags));
    assert_string_equal(candidates[0].why, text[6]);
    assert_string_equal(candidates[0].schedule, text[7]);
    assert_string_equal(candidates[0].kernel, text[8]);
    assert_string_equal(candidates[0].verdicts[0].reason, text[9]);
    assert_string_equal(candidates[0].verdicts[0].json, text[10]);
    store_close(store);
}

static void
a_run_may_change_its_mind(void **state)
{
    struct unit *unit = *state;
    struct store *store = store_unit_open(unit);
    struct store_run run = store_unit_begin(unit, store), found;
    struct rng random = rng_stream(8, "texts");
    const char *text = draw_text(unit, &random, 500, true);
    const struct store_run_change none = {0}, some = {.recipe = "hone",
                                                      .recipe_text = text,
                                                      .model = "exec:m",
                                                      .options = "{\"time\":600}",
                                                      .budget = text};

    store_unit_must(unit, store_run_change(store, run.id, &some, unit->diags));
    store_unit_must(unit, store_run_change(store, run.id, &none, unit->diags));
    store_unit_must(unit, store_run_find(store, unit->arena, "last", &found, unit->diags));
    assert_string_equal(found.recipe, "hone");
    assert_string_equal(found.recipe_text, text);
    assert_string_equal(found.model, "exec:m");
    assert_string_equal(found.options, "{\"time\":600}");
    assert_string_equal(found.budget, text);
    assert_string_equal(found.target, "cpu");
    assert_int_equal(store_run_change(store, 99, &some, unit->diags), STATUS_INPUT);
    store_unit_says(unit, "has no run number 99");
    store_close(store);
}

/* ---- damage ---- */

static void
damaged_texts_are_told(void **state)
{
    static const char *const changes[] = {
        "UPDATE text SET bytes = x'789c03'",
        "UPDATE text SET bytes = x''",
        "UPDATE text SET length = 0",
        "UPDATE text SET length = -5",
        "UPDATE text SET length = length - 1",
        "UPDATE text SET length = length + 1",
        "UPDATE text SET length = 9000000000000000000",
        "UPDATE text SET bytes = substr(bytes, 1, length(bytes) - 3)",
        "UPDATE candidate SET kernel = 77",
        "DELETE FROM text",
    };
    struct unit *unit = *state;
    struct rng random = rng_stream(9, "damage");
    char *kernel = draw_text(unit, &random, 3000, true);

    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct store *store = store_unit_open(unit);
        struct store_run run = store_unit_begin(unit, store);
        struct store_candidate added = {.run = run.id, .kernel = kernel, .kernel_length = 3000};
        struct store_candidate found;

        store_unit_must(unit, store_candidate_add(store, &added, unit->diags));
        store_unit_execute("archive.db", changes[i]);
        assert_int_equal(store_candidate_find(store, unit->arena, "last.last", &found, unit->diags),
                         STATUS_MACHINE);
        store_unit_says(unit, "archive.db: is damaged (a kept text cannot be unpacked)");
        store_unit_execute("archive.db", "DELETE FROM text");
        store_close(store);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(kernels_come_back_at_every_length),
        SCRATCH_TEST(equal_texts_are_kept_once),
        SCRATCH_TEST(every_long_text_comes_back),
        SCRATCH_TEST(a_run_may_change_its_mind),
        SCRATCH_TEST(damaged_texts_are_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
