/* Memory by meaning: what a run finds with an endpoint for vectors, what it pays for it, and what
 * happens if the endpoint fails. */
#include "../llm/llm_unit.h"
#include "team_unit.h"

static const char recalling[] = "recipe = recalling\n"
                                "[phase refine]\n"
                                "start = naive\n"
                                "topology = linear\n"
                                "select = best\n"
                                "rounds = 2\n"
                                "accept.best = faster\n"
                                "memory = insights 2\n"
                                "[role coder]\n"
                                "sees = task, base, memory\n"
                                "returns = file\n";

#define SCRIPT "=== coder\n" KERNEL("faster", "cost = 5") "=== coder\n" KERNEL("more", "cost = 4")

/* Three lessons, of which none shares a word with the task. */
static void
remember(struct unit *unit, struct store *store, int64_t run)
{
    static const char *const lessons[] = {"a gemm wants its panel packed", "clamp before expf",
                                          "a stream may go past the caches"};

    for (size_t i = 0; i < 3; i++) {
        struct store_item item = {
            .kind = "insights",
            .key = "k",
            .text = lessons[i],
            .run = run,
            .written = (double)i,
            .stats = {.uses = 1, .gain = NAN, .predicted = NAN, .actual = NAN, .q = NAN}};
        must(unit, store_item_put(store, &item, unit->diags));
    }
}

static struct played
play_with(struct llm_unit *test, const char *what, struct play how)
{
    how.recipe = recalling;
    how.script = SCRIPT;
    if (what != NULL)
        how.embeddings = arena_printf(
            test->unit.arena, "openai:test-model@http://127.0.0.1:%d/%s/v1", test->port, what);
    struct played played = play(&test->unit, &how);
    must(&test->unit, played.status);
    return played;
}

static size_t
calls_of(const struct played *played, const char *role)
{
    size_t count = 0;

    for (size_t i = 0; i < played->call_count; i++)
        count += strcmp(played->calls[i].role, role) == 0;
    return count;
}

static size_t
requests(struct llm_unit *test)
{
    return llm_unit_count(llm_unit_log(test), " embeddings ");
}

static const struct store_call *
first_prompt(const struct played *played)
{
    for (size_t i = 0; i < played->call_count; i++)
        if (strcmp(played->calls[i].role, "coder") == 0)
            return &played->calls[i];
    return NULL;
}

static void
memory_is_found_by_meaning(void **state)
{
    struct llm_unit *test = *state;
    struct played without =
        play_with(test, NULL, (struct play){.between = remember, .archive = "without.db"});
    struct played with = play_with(test, "ok", (struct play){.between = remember});

    assert_null(strstr(first_prompt(&without)->prompt, "clamp before expf"));
    assert_int_equal(calls_of(&without, "embeddings"), 0);
    assert_non_null(strstr(first_prompt(&with)->prompt, "clamp before expf"));
    assert_string_equal(with.calls[0].role, "embeddings");
    assert_string_equal(with.calls[0].outcome, "ok");
    assert_true(with.calls[0].tokens.input == 40); /* the task and three lessons */
    assert_non_null(strstr(with.calls[0].prompt, "clamp before expf"));
    assert_true(with.budget.calls_begun == (double)with.call_count);
    assert_int_equal(llm_unit_count(llm_unit_log(test), "wrong"), 0);
    assert_int_equal(diags_count(test->unit.diags), 0);
}

static void
no_text_is_paid_for_twice(void **state)
{
    struct llm_unit *test = *state;
    struct played first = play_with(test, "ok", (struct play){.between = remember});
    size_t asked = requests(test);

    assert_int_equal(calls_of(&first, "embeddings"), asked);
    /* The same task again: only what was learned meanwhile has no vector yet. */
    struct played second = play_with(test, "ok", (struct play){0});
    for (size_t i = 0; i < second.call_count; i++)
        if (strcmp(second.calls[i].role, "embeddings") == 0)
            assert_null(strstr(second.calls[i].prompt, "clamp before expf"));
}

/* Neither a replay nor a run that goes on asks for what is known, and both count what was spent. */
static void
known_answers_need_no_vectors(void **state)
{
    struct llm_unit *test = *state;
    struct played first = play_with(test, "ok", (struct play){.between = remember});
    size_t asked = requests(test);
    struct played again = play_with(test, "ok", (struct play){.mode = RUN_REPLAY});

    assert_null(again.result.difference);
    assert_int_equal(requests(test), asked);
    assert_true(again.budget.tokens_spent == first.budget.tokens_spent);
    assert_true(again.budget.calls_begun == first.budget.calls_begun);
    /* Also without the setting: the answer is what counts. */
    again = play_with(test, NULL, (struct play){.mode = RUN_RESUME});
    assert_int_equal(requests(test), asked);
    assert_int_equal(again.call_count, first.call_count);
    assert_true(again.budget.tokens_spent == first.budget.tokens_spent);
}

static void
a_fault_is_told_once(void **state)
{
    static const char *const plays[] = {"500", "few", "401", "empty"};
    struct llm_unit *test = *state;

    for (size_t i = 0; i < sizeof plays / sizeof *plays; i++) {
        struct played played =
            play_with(test, plays[i],
                      (struct play){.between = remember,
                                    .archive = arena_printf(test->unit.arena, "%s.db", plays[i])});
        const struct diag *said = diags_get(test->unit.diags, i);

        assert_int_equal(diags_count(test->unit.diags), i + 1);
        assert_int_equal(said->level, DIAG_WARNING);
        assert_non_null(strstr(said->message, "no embeddings: "));
        assert_non_null(strstr(said->message, "; memory is searched by words"));
        assert_int_equal(calls_of(&played, "embeddings"), 1);
        assert_string_not_equal(played.calls[0].outcome, "ok");
        assert_int_equal(calls_of(&played, "coder"), 2);
    }
}

static void
limits_hold_for_vectors_too(void **state)
{
    struct llm_unit *test = *state;
    struct played played = play_with(test, "ok", (struct play){.between = remember, .calls = 2});

    assert_string_equal(played.roles, "embeddings coder");
    assert_true(played.budget.calls_begun == 2);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        LLM_TEST(memory_is_found_by_meaning),    LLM_TEST(no_text_is_paid_for_twice),
        LLM_TEST(known_answers_need_no_vectors), LLM_TEST(a_fault_is_told_once),
        LLM_TEST(limits_hold_for_vectors_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
