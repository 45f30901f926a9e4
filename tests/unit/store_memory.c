/* What was learned is found again: by kind and key, by likeness, and candidates by their words. */
#include "store_unit.h"

#include "base/rng.h"

static struct store_item
put(struct unit *unit, struct store *store, const char *kind, const char *key, const char *text,
    const char *features, double written)
{
    struct store_item item = {.kind = kind,
                              .key = key,
                              .text = text,
                              .family = "f",
                              .features = features,
                              .written = written,
                              .stats = {.gain = NAN, .predicted = NAN, .actual = NAN, .q = NAN}};

    store_unit_must(unit, store_item_put(store, &item, unit->diags));
    return item;
}

/* The texts, separated by commas. */
static const char *
texts_of(struct unit *unit, const struct store_item *items, size_t count)
{
    const char *texts = "";

    for (size_t i = 0; i < count; i++)
        texts = arena_printf(unit->arena, "%s%s%s", texts, i ? "," : "", items[i].text);
    return texts;
}

static const char *
similar(struct unit *unit, struct store *store, struct store_likeness likeness)
{
    struct store_item *items;
    size_t count;

    store_unit_must(
        unit, store_items_similar(store, unit->arena, &likeness, &items, &count, unit->diags));
    for (size_t i = 1; i < count; i++)
        assert_true(items[i].score <= items[i - 1].score);
    return texts_of(unit, items, count);
}

/* ---- items ---- */

static void
an_item_comes_back(void **state)
{
    struct unit *unit = *state;
    struct store *store = store_unit_open(unit);
    struct store_run run = store_unit_begin(unit, store);
    struct store_item item = {.kind = "insights",
                              .key = "loads > 1.3",
                              .text = "widen the tile",
                              .json = "{\"when\":\"loads\"}",
                              .family = "f",
                              .features = "contraction f32",
                              .run = run.id,
                              .written = 12.5,
                              .stats = {3, 2, 1.06, 1.1, 1.05, 0.25}},
                      *items;
    size_t count;

    store_unit_must(unit, store_item_put(store, &item, unit->diags));
    store_unit_must(
        unit, store_items(store, unit->arena, "insights", NULL, 0, &items, &count, unit->diags));
    assert_int_equal(count, 1);
    assert_int_equal(items->id, item.id);
    assert_string_equal(items->kind, "insights");
    assert_string_equal(items->key, "loads > 1.3");
    assert_string_equal(items->text, "widen the tile");
    assert_string_equal(items->json, "{\"when\":\"loads\"}");
    assert_string_equal(items->family, "f");
    assert_string_equal(items->features, "contraction f32");
    assert_int_equal(items->run, run.id);
    assert_true(items->written == 12.5 && items->stats.uses == 3 && items->stats.wins == 2);
    assert_true(items->stats.gain == 1.06 && items->stats.predicted == 1.1);
    assert_true(items->stats.actual == 1.05 && items->stats.q == 0.25);
    item.run = 99;
    item.text = "another";
    assert_int_equal(store_item_put(store, &item, unit->diags), STATUS_INPUT);
    store_close(store);
}

static void
the_same_item_is_put_once(void **state)
{
    const struct store_stats win = {1, 1, 1.2, NAN, NAN, 0.5};
    struct unit *unit = *state;
    struct store *store = store_unit_open(unit);
    struct store_item first = put(unit, store, "traps", "pack", "4x24 spills", "avx2 f32", 1);
    struct store_item again, *items;
    size_t count;

    store_unit_must(unit, store_item_update(store, first.id, &win, unit->diags));
    store_unit_must(unit, store_item_update(store, first.id, &win, unit->diags));
    again = put(unit, store, "traps", "pack", "4x24 spills", "avx512", 9);
    assert_int_equal(again.id, first.id);
    assert_int_equal(again.stats.uses, 2);
    assert_true(again.stats.gain == 1.2 && isnan(again.stats.actual) && again.stats.q == 0.5);
    again.stats = win; /* seen once more */
    store_unit_must(unit, store_item_put(store, &again, unit->diags));
    assert_true(again.stats.uses == 3 && again.stats.wins == 3 && again.stats.gain == 1.2);
    put(unit, store, "traps", "pack", "6x16 does not", "", 3);
    put(unit, store, "traps", "unpack", "4x24 spills", "", 4);
    put(unit, store, "rules", "pack", "4x24 spills", "", 5);
    store_unit_must(unit,
                    store_items(store, unit->arena, "traps", NULL, 0, &items, &count, unit->diags));
    assert_int_equal(count, 3);
    assert_int_equal(items[0].id, first.id); /* written last */
    assert_string_equal(items[0].features, "avx512");
    assert_true(items[0].written == 9 && items[0].stats.wins == 3);
    /* Features follow. */
    assert_string_equal(similar(unit, store, (struct store_likeness){.features = "avx2"}), "");
    assert_string_equal(similar(unit, store, (struct store_likeness){.features = "avx512"}),
                        "4x24 spills");
    assert_int_equal(store_item_update(store, 99, &win, unit->diags), STATUS_INPUT);
    store_unit_says(unit, "has no item of id 99");
    store_close(store);
}

static void
items_are_found_by_key(void **state)
{
    struct unit *unit = *state;
    struct store *store = store_unit_open(unit);
    struct store_item *items;
    size_t count;

    put(unit, store, "graph", "tile>pack", "a", "", 1);
    put(unit, store, "graph", "tile>fuse", "b", "", 3);
    put(unit, store, "graph", "tiles>fuse", "c", "", 2);
    put(unit, store, "graph", "t\xc3\xbc", "d", "", 4);
    put(unit, store, "skills", "tile>fuse", "e", "", 5);
    store_unit_must(
        unit, store_items(store, unit->arena, "graph", "tile>", 0, &items, &count, unit->diags));
    assert_string_equal(texts_of(unit, items, count), "b,a");
    store_unit_must(unit,
                    store_items(store, unit->arena, "graph", "t", 0, &items, &count, unit->diags));
    assert_string_equal(texts_of(unit, items, count), "d,b,c,a");
    store_unit_must(unit,
                    store_items(store, unit->arena, "graph", "", 2, &items, &count, unit->diags));
    assert_string_equal(texts_of(unit, items, count), "d,b");
    store_unit_must(unit,
                    store_items(store, unit->arena, "board", NULL, 0, &items, &count, unit->diags));
    assert_int_equal(count, 0);
    store_close(store);
}

/* ---- likeness ---- */

static void
words_and_features_are_merged(void **state)
{
    struct unit *unit = *state;
    struct store *store = store_unit_open(unit);

    put(unit, store, "insights", "", "exp by polynomial", "softmax f32", 1);
    put(unit, store, "insights", "", "pack the panel", "contraction f32", 2);
    put(unit, store, "traps", "", "exp underflows to denormals", "softmax f16", 3);
    put(unit, store, "skills", "", "store past the cache", "pointwise f32", 4);
    /* By words alone, */
    assert_string_equal(
        similar(unit, store, (struct store_likeness){.text = "Y = POLYNOMIAL(x); by", .most = 1}),
        "exp by polynomial");
    assert_string_equal(similar(unit, store, (struct store_likeness){.text = "the panel"}),
                        "pack the panel,store past the cache");
    /* by features alone, where a rare one counts more, */
    assert_string_equal(
        similar(unit, store, (struct store_likeness){.features = "f32 contraction", .most = 1}),
        "pack the panel");
    assert_string_equal(similar(unit, store, (struct store_likeness){.features = "f16 f32 f16"}),
                        "exp underflows to denormals,store past the cache,pack the panel,exp by "
                        "polynomial");
    /* by both, */
    assert_string_equal(
        similar(unit, store,
                (struct store_likeness){.text = "exp", .features = "softmax f32", .most = 2}),
        "exp by polynomial,exp underflows to denormals");
    /* of some kinds only, */
    assert_string_equal(similar(unit, store,
                                (struct store_likeness){.text = "exp the",
                                                        .features = "softmax",
                                                        .kinds = "traps skills"}),
                        "exp underflows to denormals,store past the cache");
    /* and of nothing. */
    assert_string_equal(similar(unit, store, (struct store_likeness){.text = "+ - \" *"}), "");
    assert_string_equal(similar(unit, store, (struct store_likeness){.kinds = "none"}), "");
    assert_string_equal(similar(unit, store, (struct store_likeness){.text = "unheard"}), "");
    store_close(store);
}

/* More than are looked at have the common words: the rare one still finds its own, however old; the
 * common ones find the newest. */
static void
a_common_word_does_not_hide_a_rare_one(void **state)
{
    struct unit *unit = *state;
    struct store *store = store_unit_open(unit);

    put(unit, store, "insights", "", "oldest tile of zirconium", "f32 zircon", 1);
    store_unit_execute(
        "archive.db", "WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE"
                      " i < 600) INSERT INTO item SELECT i, 'insights', i, 'tile ' || i, i, '', '',"
                      " 'f32', NULL, i, 0, 0, NULL, NULL, NULL, NULL FROM n;"
                      "INSERT INTO item_words (rowid, key, text) SELECT id, key, text FROM item"
                      " WHERE id > 1;"
                      "INSERT INTO item_feature SELECT 'f32', kind, id FROM item WHERE id > 1");
    assert_string_equal(
        similar(unit, store, (struct store_likeness){.text = "tile zirconium", .most = 1}),
        "oldest tile of zirconium");
    assert_string_equal(
        similar(unit, store, (struct store_likeness){.features = "f32 zircon", .most = 1}),
        "oldest tile of zirconium");
    assert_string_equal(similar(unit, store, (struct store_likeness){.text = "tile", .most = 2}),
                        "tile 600,tile 599");
    assert_string_equal(similar(unit, store, (struct store_likeness){.features = "f32", .most = 2}),
                        "tile 600,tile 599");
    store_close(store);
}

/* ---- search ---- */

static void
add_source(struct unit *unit, struct store *store, int64_t run, const char *why, const char *kernel)
{
    struct store_candidate candidate = {.run = run,
                                        .kind = STORE_SOURCE,
                                        .why = why,
                                        .kernel = kernel,
                                        .kernel_length = strlen(kernel)};

    store_unit_must(unit, store_candidate_add(store, &candidate, unit->diags));
    store_unit_verdict(unit, store, candidate.id, "correct", 20, "N=8");
}

static void
search_is(struct unit *unit, struct store *store, const char *words, const char *numbers)
{
    const char *found = "";
    struct store_hit *hits;
    size_t count;

    store_unit_must(unit, store_search(store, unit->arena, words, 0, &hits, &count, unit->diags));
    for (size_t i = 0; i < count; i++)
        found =
            arena_printf(unit->arena, "%s%s%lld", found, i ? " " : "", (long long)hits[i].number);
    assert_string_equal(found, numbers);
}

static void
candidates_are_found_by_their_words(void **state)
{
    struct unit *unit = *state;
    struct store *store = store_unit_open(unit);
    struct store_run run = store_unit_begin(unit, store);
    struct store_hit *hits;
    size_t count;

    add_source(unit, store, run.id, "two blocks share each tile",
               "void kernel(const float *restrict X) { vf32_store(Y, hv_exp(x)); }");
    add_source(unit, store, run.id, "prefetch the next tile", "void kernel(float *Y) {}");
    store_unit_candidate(unit, store, run.id, "Y: r/2@p do(M) with(S) j@v");
    search_is(unit, store, "prefetch", "1");
    search_is(unit, store, "PREFETCH tile", "1");
    search_is(unit, store, "vf32_store", "0");
    search_is(unit, store, "store_vf32", ""); /* a phrase: its order matters */
    search_is(unit, store, "do(M)", "2");
    search_is(unit, store, "hv_exp prefetch", "1 0"); /* nobody has both */
    search_is(unit, store, "\"tile", "1 0");
    search_is(unit, store, "", "");
    search_is(unit, store, "AND OR NEAR(", "");
    store_unit_must(unit,
                    store_search(store, unit->arena, "blocks", 5, &hits, &count, unit->diags));
    assert_int_equal(count, 1);
    assert_string_equal(hits->run, run.name);
    assert_int_equal(hits->kind, STORE_SOURCE);
    assert_string_equal(hits->task_name, "softmax");
    assert_string_equal(hits->why, "two blocks share each tile");
    assert_string_equal(hits->status, "correct");
    assert_true(fabs(hits->time_us - 20) < 1e-9 && hits->light == 0.5);
    store_unit_must(unit,
                    store_search(store, unit->arena, "with(S)", 5, &hits, &count, unit->diags));
    assert_string_equal(hits->schedule, "Y: r/2@p do(M) with(S) j@v");
    assert_string_equal(hits->status, "");
    assert_true(isnan(hits->time_us) && isnan(hits->light));
    store_close(store);
}

/* More have the common words than are ranked. */
static void
search_is_as_good_among_many(void **state)
{
    struct unit *unit = *state;
    struct store *store = store_unit_open(unit);

    store_unit_begin(unit, store);
    store_unit_execute(
        "archive.db",
        "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 499)"
        " INSERT INTO candidate (id, run, number, kind, proposer, phase, role, why, added,"
        " kernel_hash, kernel_length, schedule, kernel) SELECT i + 1, 1, i, 'source', '', '', '', "
        "'',"
        " 0, '', 0, '', 'void kernel' || iif(i % 100 = 7, ' rare', '') || iif(i = 7, ' oldest', '')"
        " || iif(i % 2, ' odd', ' even') FROM n;"
        "INSERT INTO candidate_words (rowid, code, why) SELECT id, kernel, why FROM candidate");
    search_is(unit, store, "kernel", "499 498 497 496 495 494 493 492 491 490");
    search_is(unit, store, "odd void", "499 497 495 493 491 489 487 485 483 481");
    search_is(unit, store, "odd even", "499 498 497 496 495 494 493 492 491 490");
    search_is(unit, store, "void oldest", "7");
    search_is(unit, store, "void rare odd", "407 307 207 107 7");
    search_is(unit, store, "rare even", "407 307 207 107 7"); /* nobody has both */
    search_is(unit, store, "rare unheard", "407 307 207 107 7");
    store_close(store);
}

/* Any bytes are words or none, never a mistake. */
static void
any_bytes_may_be_asked_for(void **state)
{
    static const char parts[] = "\"'()*+-:^ \t\nANDORNEAR{}.,;\\\xc3\xbc\xff\x01 tile key";
    struct unit *unit = *state;
    struct store *store = store_unit_open(unit);
    struct rng random = rng_stream(13, "bytes");

    put(unit, store, "traps", "key", "tile", "f32", 1);
    for (unsigned i = 0; i < 300; i++) {
        struct store_item *items;
        struct store_hit *hits;
        char text[40] = "";
        size_t count, length = rng_below(&random, sizeof text);

        for (size_t k = 0; k < length; k++)
            text[k] = parts[rng_below(&random, sizeof parts - 1)];
        store_unit_must(unit,
                        store_search(store, unit->arena, text, 0, &hits, &count, unit->diags));
        store_unit_must(unit, store_items_similar(store, unit->arena,
                                                  &(struct store_likeness){.text = text,
                                                                           .features = text,
                                                                           .kinds = text,
                                                                           .meaning = text,
                                                                           .model = text,
                                                                           .most = 3},
                                                  &items, &count, unit->diags));
        store_unit_must(
            unit, store_items(store, unit->arena, text, text, 0, &items, &count, unit->diags));
    }
    store_close(store);
}

/* ---- vectors ---- */

static void
give(struct unit *unit, struct store *store, const char *text, float x, float y)
{
    const float numbers[] = {x, y};
    const struct store_vector vector = {text, numbers, 2};

    store_unit_must(unit, store_vectors_put(store, "lab:m", &vector, 1, NULL, unit->diags));
}

/* How many texts have no vector yet; the first of them. */
static size_t
missing(struct unit *unit, struct store *store, const char *model, size_t most, const char **first)
{
    const struct store_likeness likeness = {
        .meaning = "multiply", .model = model, .kinds = "traps"};
    const char **texts;
    size_t count;

    store_unit_must(unit, store_vectors_missing(store, unit->arena, &likeness, most, &texts, &count,
                                                unit->diags));
    *first = count ? texts[0] : "";
    return count;
}

static void
items_are_found_by_meaning(void **state)
{
    struct unit *unit = *state;
    struct store *store = store_unit_open(unit);
    struct store_likeness likeness = {.meaning = "multiply", .model = "lab:m"};
    const char *first, *long_text = arena_printf(unit->arena, "%0400d", 7);

    put(unit, store, "traps", "a", "gemm tiles", "", 1);
    put(unit, store, "traps", "b", "row copies", "", 2);
    put(unit, store, "traps", "c", "gemm tiles", "", 3); /* the same words again */
    put(unit, store, "traps", "d", long_text, "", 4);
    put(unit, store, "rules", "e", "of another kind", "", 5);
    assert_int_equal(missing(unit, store, "lab:m", 9, &first), 4);
    assert_string_equal(first, "multiply");
    assert_int_equal(missing(unit, store, "lab:m", 2, &first), 2);
    /* Nothing is near what has no vector, and words do not match. */
    assert_string_equal(similar(unit, store, likeness), "");
    give(unit, store, "multiply", 1, 0);
    give(unit, store, "gemm tiles", 0.8F, 0.6F);
    give(unit, store, "row copies", -0.6F, 0.8F); /* the other way: not similar at all */
    give(unit, store, "gemm tiles", 0, 1);        /* too late */
    assert_int_equal(missing(unit, store, "lab:m", 9, &first), 1);
    assert_string_equal(first, long_text);
    give(unit, store, long_text, 0.6F, 0.8F);
    assert_int_equal(missing(unit, store, "lab:m", 9, &first), 0);
    assert_int_equal(missing(unit, store, "lab:other", 9, &first), 4);
    assert_string_equal(similar(unit, store, likeness),
                        arena_printf(unit->arena, "gemm tiles,gemm tiles,%s", long_text));
    likeness.kinds = "rules";
    assert_string_equal(similar(unit, store, likeness), "");
    likeness.kinds = NULL;
    likeness.model = "lab:other";
    assert_string_equal(similar(unit, store, likeness), "");
    store_close(store);
}

/* A model that was changed under its name has vectors of another size. */
static void
vectors_of_another_size_are_near_nothing(void **state)
{
    const float numbers[] = {0.6F, 0, 0.8F};
    const struct store_vector vector = {"row copies", numbers, 3};
    struct unit *unit = *state;
    struct store *store = store_unit_open(unit);

    put(unit, store, "traps", "a", "gemm tiles", "", 1);
    put(unit, store, "traps", "b", "row copies", "", 2);
    give(unit, store, "multiply", 1, 0);
    give(unit, store, "gemm tiles", 1, 0);
    store_unit_must(unit, store_vectors_put(store, "lab:m", &vector, 1, NULL, unit->diags));
    assert_string_equal(
        similar(unit, store, (struct store_likeness){.meaning = "multiply", .model = "lab:m"}),
        "gemm tiles");
    store_close(store);
}

static void
vectors_come_with_the_end_of_their_call(void **state)
{
    const float numbers[] = {1, 0};
    const struct store_vector vector = {"multiply", numbers, 2};
    struct unit *unit = *state;
    struct store *store = store_unit_open(unit);
    struct store_run run = store_unit_begin(unit, store);
    struct store_call call = {.run = run.id, .role = "embeddings", .cost = 0.5, .ended = 9}, then;
    const char *first;

    store_unit_must(unit, store_call_begin(store, &call, unit->diags));
    store_unit_must(unit, store_vectors_put(store, "lab:m", &vector, 1, &call, unit->diags));
    store_unit_must(unit, store_call_get(store, unit->arena, call.id, &then, unit->diags));
    assert_true(then.ended == 9 && then.cost == 0.5);
    assert_int_equal(missing(unit, store, "lab:m", 9, &first), 0);
    /* A call that has ended: nothing of it is written. */
    assert_int_equal(store_vectors_put(store, "lab:other", &vector, 1, &call, unit->diags),
                     STATUS_INPUT);
    store_unit_says(unit, "has no call of id 1 that did not end yet");
    assert_int_equal(missing(unit, store, "lab:other", 9, &first), 1);
    store_close(store);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(an_item_comes_back),
        SCRATCH_TEST(the_same_item_is_put_once),
        SCRATCH_TEST(items_are_found_by_key),
        SCRATCH_TEST(words_and_features_are_merged),
        SCRATCH_TEST(a_common_word_does_not_hide_a_rare_one),
        SCRATCH_TEST(candidates_are_found_by_their_words),
        SCRATCH_TEST(search_is_as_good_among_many),
        SCRATCH_TEST(any_bytes_may_be_asked_for),
        SCRATCH_TEST(items_are_found_by_meaning),
        SCRATCH_TEST(vectors_of_another_size_are_near_nothing),
        SCRATCH_TEST(vectors_come_with_the_end_of_their_call),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
