/* What servers and networks do wrong, played by tests/llm/server.c: each has one defined outcome.
 */
#include "../llm/llm_unit.h"

#include "base/clock.h"

#define KEY "sk-test-0123456789abcdef"

static const char *const wires[] = {"openai", "responses", "anthropic"};

static const struct llm_result *
ask(struct llm_unit *test, const char *provider, const char *play)
{
    struct llm_request request = llm_unit_request(llm_unit_play(test, provider, play));

    return llm_unit_result(test, &request);
}

static void
every_fault_has_its_outcome(void **state)
{
    static const struct {
        const char *play;
        enum llm_outcome outcome;
        unsigned attempts;
        const char *words; /* in the message */
    } rows[] = {
        {"400", LLM_BAD_REQUEST, 1, "the moon is in the wrong phase"},
        {"401", LLM_KEY_REFUSED, 1, "401, it wants a key; write a [provider] section with key_env"},
        {"429", LLM_RATE_LIMITED, 3, "slow down"},
        {"429-then-ok", LLM_OK, 3, ""},
        {"money", LLM_NO_CREDIT, 1, "the account has no credit"},
        {"500", LLM_SERVER_ERROR, 3, "the server has a headache"},
        {"500-then-ok", LLM_OK, 2, ""},
        {"no-retry", LLM_SERVER_ERROR, 1, "no use"},
        {"html", LLM_SERVER_ERROR, 3, "502 Bad Gateway</h1>?[2J"},
        {"html-200", LLM_JUNK, 3, "Please log in"},
        {"redirect", LLM_BAD_REQUEST, 1, "302"},
        {"cut", LLM_CUT, 3, "the reply ends in the middle, after 9 bytes"},
        {"dropped", LLM_CUT, 3, "the reply ends in the middle, after 9 bytes"},
        {"cut-then-ok", LLM_OK, 2, ""},
        {"junk", LLM_JUNK, 3, "no reply but"},
        {"junk-events", LLM_JUNK, 3, "no JSON"},
        {"empty", LLM_CUT, 3, "an empty reply"},
        {"no-model", LLM_NO_MODEL, 1, "no such model"},
        {"too-long", LLM_TOO_LONG, 1, "maximum context length"},
        {"error-inside", LLM_SERVER_ERROR, 3, ""},
    };
    struct llm_unit *test = *state;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t wire = 0; wire < 3; wire++) {
            bool counted = strstr(rows[i].play, "-then-ok") != NULL;
            if (counted && wire > 0)
                continue; /* the server counts for all of them */
            const struct llm_result *result = ask(test, wires[wire], rows[i].play);
            const struct llm_record *record = &result->record;

            if (record->outcome != rows[i].outcome || record->attempts != rows[i].attempts ||
                !strstr(result->message, rows[i].words))
                fail_msg("%s %s: %s after %u: %s", wires[wire], rows[i].play,
                         llm_outcome_info[record->outcome].name, record->attempts, result->message);
            assert_int_equal(record->finish == LLM_FINISH_ERROR, rows[i].outcome != LLM_OK);
        }
    assert_int_equal(llm_unit_count(llm_unit_log(test), "wrong"), 0);
}

static void
vectors_have_the_same_faults(void **state)
{
    static const struct {
        const char *play;
        enum llm_outcome outcome;
        unsigned attempts;
        const char *words;
    } rows[] = {
        {"400", LLM_BAD_REQUEST, 1, "the moon is in the wrong phase"},
        {"401", LLM_KEY_REFUSED, 1, "it wants a key"},
        {"429", LLM_RATE_LIMITED, 3, "slow down"},
        {"500-then-ok", LLM_OK, 2, ""},
        {"html-200", LLM_JUNK, 3, "Please log in"},
        {"cut", LLM_CUT, 3, "ends in the middle"},
        {"junk", LLM_JUNK, 3, "no reply but"},
        {"empty", LLM_CUT, 3, "an empty reply"},
        {"whole", LLM_JUNK, 3, "a reply without 2 vectors"}, /* one of a chat */
        {"few", LLM_JUNK, 3, "a reply without 2 vectors"},
        {"no-model", LLM_NO_MODEL, 1, "no such model"},
    };
    static const char *const texts[] = {"one", "two"};
    struct llm_unit *test = *state;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct llm_vectors vectors;
        const struct llm_model *model = llm_unit_play(test, "openai", rows[i].play);
        enum llm_outcome outcome =
            llm_embed(test->llm, model, test->unit.arena, texts, 2, &vectors);

        if (outcome != rows[i].outcome || vectors.record.attempts != rows[i].attempts ||
            !strstr(vectors.message, rows[i].words))
            fail_msg("%s: %s after %u: %s", rows[i].play, llm_outcome_info[outcome].name,
                     vectors.record.attempts, vectors.message);
        assert_int_equal(vectors.values != NULL, outcome == LLM_OK);
    }
    assert_int_equal(llm_unit_count(llm_unit_log(test), "wrong"), 0);
}

static void
nobody_listens(void **state)
{
    struct llm_unit *test = *state;
    struct llm_request request =
        llm_unit_request(llm_unit_model(test, "openai:m@http://127.0.0.1:1/v1"));
    const struct llm_result *result = llm_unit_result(test, &request);

    assert_int_equal(result->record.outcome, LLM_UNREACHABLE);
    assert_int_equal(result->record.attempts, 3);
    assert_true(result->record.input == 0 && result->record.cost == 0);
    assert_string_equal(
        result->message,
        "openai: no answer from http://127.0.0.1:1/v1 (refused). Is llama-server running?");
}

static void
a_stream_that_stalls_is_given_up(void **state)
{
    struct llm_unit *test = *state;

    test->options.idle_seconds = 0.1;
    const struct llm_result *result = ask(test, "openai", "stall");
    assert_int_equal(result->record.outcome, LLM_STALLED);
    assert_int_equal(result->record.attempts, 3);
    assert_string_equal(result->text, "half of a");
    /* What came before the silence was paid for, each time. */
    assert_true(result->record.input == 30 && result->record.output == 9);
    assert_true(result->record.estimated);
}

static void
a_stream_without_end_ends(void **state)
{
    struct llm_unit *test = *state;

    test->options.total_seconds = 0.3;
    const struct llm_result *result = ask(test, "anthropic", "drip");
    assert_int_equal(result->record.outcome, LLM_TIMED_OUT);
    assert_int_equal(result->record.attempts, 1);
    assert_non_null(strstr(result->message, "no end after 0.3 s"));
}

static void
time_begins_with_the_turn_of_a_call(void **state)
{
    struct llm_unit *test = *state;

    test->options.parallel = 1;
    test->options.total_seconds = 3; /* less than all of them take, more than one does */
    struct llm_request request = llm_unit_request(llm_unit_play(test, "openai", "slow"));
    for (size_t i = 0; i < 4; i++)
        llm_unit_submit(test, &request);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(llm_result(llm_unit_done(test))->record.outcome, LLM_OK);
}

static void
a_limit_of_a_day_is_not_waited_for(void **state)
{
    struct llm_unit *test = *state;
    const struct llm_result *result = ask(test, "openai", "429-long");

    assert_int_equal(result->record.outcome, LLM_RATE_LIMITED);
    assert_int_equal(result->record.attempts, 1);
}

static void
large_replies_are_cut_off(void **state)
{
    struct llm_unit *test = *state;

    for (size_t i = 0; i < 3; i++) {
        const struct llm_result *result = ask(test, wires[i], "big");

        assert_int_equal(result->record.outcome, LLM_TOO_LARGE);
        assert_int_equal(result->record.attempts, 1);
        assert_non_null(strstr(result->message, "more than 16777216 bytes"));
    }
    assert_int_equal(ask(test, "openai", "long-line")->record.outcome, LLM_TOO_LARGE);
}

static void
a_used_up_limit_makes_the_others_wait(void **state)
{
    struct llm_unit *test = *state;
    double start = clock_seconds();

    assert_string_equal(ask(test, "openai", "limit")->text, "paced");
    assert_string_equal(ask(test, "openai", "limit")->text, "paced");
    assert_true(clock_seconds() - start >= 0.3); /* the server said 300ms */
}

/* ---- what servers do not take ---- */

static void
a_refused_field_is_left_out_and_remembered(void **state)
{
    struct llm_unit *test = *state;
    struct llm_request request = llm_unit_request(llm_unit_play(test, "openai", "quirks"));
    const char *text = arena_strdup(test->unit.arena, llm_facts(request.model).text);

    request.temperature = 1;
    request.effort = "high";
    request.schema = "{\"type\":\"object\"}";
    const struct llm_result *result = llm_unit_result(test, &request);
    assert_string_equal(result->message, "");
    assert_int_equal(result->record.attempts, 1);
    assert_int_equal(llm_unit_count(llm_unit_log(test), "ok quirks"), 7);
    assert_false(llm_facts(request.model).constrained);
    llm_unit_result(test, &request);
    assert_int_equal(llm_unit_count(llm_unit_log(test), "ok quirks"), 8);

    llm_unit_close(test); /* and the next run still knows */
    request.model = llm_unit_model(test, text);
    llm_unit_result(test, &request);
    assert_int_equal(llm_unit_count(llm_unit_log(test), "ok quirks"), 9);
}

static void
a_schema_has_an_older_form(void **state)
{
    struct llm_unit *test = *state;
    struct llm_request request = llm_unit_request(llm_unit_play(test, "openai", "quirk-500"));

    request.schema = "{\"type\":\"object\"}";
    assert_string_equal(llm_unit_result(test, &request)->message, "");
    assert_non_null(strstr(llm_unit_log(test), "\"response_format\":{\"type\":\"json_object\","
                                               "\"schema\":{\"type\":\"object\"}}"));
    assert_int_equal(llm_unit_count(llm_unit_log(test), "ok quirk-500"), 2);
    assert_true(llm_facts(request.model).constrained);
}

static void
a_server_that_refuses_everything_is_not_asked_for_ever(void **state)
{
    struct llm_unit *test = *state;
    struct llm_request request = llm_unit_request(llm_unit_play(test, "openai", "stubborn"));

    request.temperature = 1;
    const struct llm_result *result = llm_unit_result(test, &request);
    assert_int_equal(result->record.outcome, LLM_BAD_REQUEST);
    assert_int_equal(llm_unit_count(llm_unit_log(test), "ok stubborn"), 3);
}

/* ---- keys ---- */

static void
no_key_leaves(void **state)
{
    struct llm_unit *test = *state;
    struct llm_provider provider = {.name = "lab", .wire = LLM_CHAT, .key_env = "TEST_KEY"};
    struct buf line = buf_in(test->unit.arena);

    setenv("TEST_KEY", KEY, 1);
    provider.base_url = arena_printf(test->unit.arena, "http://127.0.0.1:%d/leak/v1", test->port);
    test->options.providers = &provider;
    test->options.provider_count = 1;
    struct llm_request request = llm_unit_request(llm_unit_model(test, "lab:m"));
    const struct llm_result *refused = llm_unit_result(test, &request);
    assert_int_equal(refused->record.outcome, LLM_BAD_REQUEST);
    assert_string_equal(refused->message, "lab: 400 invalid_request_error, your key is [key], or "
                                          "[key]... for short");
    struct llm_call *call = llm_unit_submit(test, &request);
    while (llm_in_flight(test->llm) > 0) {
        llm_wait(test->llm, 0.001);
        assert_null(strstr(llm_progress(call).text, "sk-test-0123"));
    }
    const struct llm_result *result = llm_result(llm_unit_done(test));
    assert_string_equal(result->text, "your key is [key], or [key]... for short");
    assert_string_equal(result->reasoning, result->text);
    llm_put_recorded(&line, result);
    assert_null(strstr(line.data, "sk-test"));
    assert_string_equal(llm_redact(test->llm, test->unit.arena, "x" KEY "y"), "x[key]y");
    llm_unit_close(test);
    struct source memory;
    if (file_read(test->unit.arena, "memory.json", 1 << 20, &memory, test->unit.diags) == STATUS_OK)
        assert_null(strstr(memory.text, "sk-test"));
    unsetenv("TEST_KEY");
}

static void
a_refused_key_is_named_by_its_variable(void **state)
{
    struct llm_unit *test = *state;

    setenv("ANTHROPIC_API_KEY", KEY, 1);
    setenv("ANTHROPIC_BASE_URL",
           arena_printf(test->unit.arena, "http://127.0.0.1:%d/401", test->port), 1);
    struct llm_request request = llm_unit_request(llm_unit_model(test, "anthropic:m"));
    const struct llm_result *result = llm_unit_result(test, &request);
    assert_string_equal(result->message,
                        "anthropic: 401, the key in ANTHROPIC_API_KEY was refused; "
                        "nothing was spent");
    assert_true(result->record.cost == 0);
    assert_true(llm_outcome_info[result->record.outcome].ends);
    unsetenv("ANTHROPIC_API_KEY");
    unsetenv("ANTHROPIC_BASE_URL");
}

static void
a_vendors_key_does_not_go_to_another_address(void **state)
{
    struct llm_unit *test = *state;

    setenv("OPENAI_API_KEY", KEY, 1);
    assert_int_equal(ask(test, "openai", "key")->record.outcome, LLM_KEY_REFUSED);
    unsetenv("OPENAI_API_KEY");
}

/* ---- limits ---- */

static void
limits_are_not_crossed(void **state)
{
    struct llm_unit *test = *state;
    struct llm_provider provider = {
        .name = "lab", .wire = LLM_CHAT, .price = {10000, 10000, -1, 10000, ""}};
    struct llm_budget budget = llm_budget_without_limits();
    struct llm_call *call;
    size_t begun = 0;

    provider.base_url = arena_printf(test->unit.arena, "http://127.0.0.1:%d/ok/v1", test->port);
    test->options.providers = &provider;
    test->options.provider_count = 1;
    struct llm_request request = llm_unit_request(llm_unit_model(test, "lab:m"));
    llm_set_budget(test->llm, &budget);
    budget.cost = 3; /* each call costs 1.20 */
    while (llm_submit(test->llm, &request, &call, test->unit.diags) == STATUS_OK) {
        llm_unit_done(test);
        begun++;
    }
    assert_int_equal(begun, 3);
    assert_float_equal(budget.cost_spent, 3.6, 1e-9);
    assert_string_equal(unit_message(&test->unit, 0),
                        "the limit on cost is reached: --cost N raises it");
    assert_true(budget.tokens_spent == 360 && budget.cached_spent == 150);

    budget = llm_budget_without_limits();
    budget.calls = 4;
    for (begun = 0; llm_submit(test->llm, &request, &call, test->unit.diags) == STATUS_OK;)
        begun++;
    assert_int_equal(begun, 4); /* counted when they begin */
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(llm_result(llm_unit_done(test))->record.outcome, LLM_OK);
    assert_string_equal(llm_budget_reached(&budget), "calls");

    budget = llm_budget_without_limits();
    budget.tokens = 100;
    llm_unit_result(test, &request);
    assert_string_equal(llm_budget_reached(&budget), "tokens");
}

static void
a_spent_budget_ends_repetitions(void **state)
{
    struct llm_unit *test = *state;
    struct llm_budget budget = llm_budget_without_limits();
    struct llm_request request = llm_unit_request(llm_unit_play(test, "openai", "cut"));

    llm_set_budget(test->llm, &budget);
    budget.tokens = 5; /* the first attempt takes more */
    assert_int_equal(llm_unit_result(test, &request)->record.attempts, 1);
    budget.cost = 1;
    struct llm_call *call;
    request.model = llm_unit_model(test, "mailbox:box");
    budget.tokens = INFINITY;
    assert_int_equal(llm_submit(test->llm, &request, &call, test->unit.diags), STATUS_OK);
    llm_cancel(call);
    assert_int_equal(llm_result(llm_unit_done(test))->record.outcome, LLM_CANCELLED);
}

static void
without_a_price_a_limit_on_cost_cannot_hold(void **state)
{
    struct llm_unit *test = *state;
    struct llm_budget budget = llm_budget_without_limits();
    struct llm_call *call;

    setenv("DEEPSEEK_API_KEY", KEY, 1);
    struct llm_request request = llm_unit_request(llm_unit_model(test, "deepseek:new"));
    budget.cost = 1;
    llm_set_budget(test->llm, &budget);
    assert_int_equal(llm_submit(test->llm, &request, &call, test->unit.diags), STATUS_INPUT);
    assert_string_equal(unit_message(&test->unit, 0),
                        "deepseek:new has no price, so --cost cannot hold; add a price, or use "
                        "--tokens N");
    unsetenv("DEEPSEEK_API_KEY");
}

/* ---- many ---- */

static void
many_calls_are_in_flight_at_once(void **state)
{
    enum { CALLS = 60 };
    struct llm_unit *test = *state;
    struct llm_request request = llm_unit_request(llm_unit_play(test, "openai", "slow"));
    double start = clock_seconds();
    bool live = false;
    struct llm_call *first = NULL;

    for (size_t i = 0; i < CALLS; i++) {
        struct llm_call *call = llm_unit_submit(test, &request);
        first = first ? first : call;
    }
    assert_int_equal(llm_in_flight(test->llm), CALLS);
    while (llm_wait(test->llm, 0.02) == 0) {
        struct llm_progress progress = llm_progress(first);
        live |= progress.started && progress.tokens > 1 && progress.text[0] == 'w';
    }
    assert_true(live);
    for (size_t i = 0; i < CALLS; i++)
        assert_int_equal(llm_result(llm_unit_done(test))->text_length, 100);
    assert_true(clock_seconds() - start < CALLS * 1.0 / 2); /* each takes a second */
}

static void
calls_wait_for_their_turn_and_can_be_cancelled(void **state)
{
    struct llm_unit *test = *state;

    test->options.parallel = 1;
    struct llm_request request = llm_unit_request(llm_unit_play(test, "openai", "slow"));
    struct llm_call *first = llm_unit_submit(test, &request),
                    *second = llm_unit_submit(test, &request);
    llm_wait(test->llm, 0.1);
    assert_true(llm_progress(first).started);
    assert_false(llm_progress(second).started);
    llm_cancel(first);
    assert_ptr_equal(llm_unit_done(test), first);
    assert_int_equal(llm_result(first)->record.outcome, LLM_CANCELLED);
    llm_wait(test->llm, 0.1);
    assert_true(llm_progress(second).started);
    llm_unit_close(test); /* in the middle of one */
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        LLM_TEST(every_fault_has_its_outcome),
        LLM_TEST(vectors_have_the_same_faults),
        LLM_TEST(nobody_listens),
        LLM_TEST(a_stream_that_stalls_is_given_up),
        LLM_TEST(a_stream_without_end_ends),
        LLM_TEST(time_begins_with_the_turn_of_a_call),
        LLM_TEST(a_limit_of_a_day_is_not_waited_for),
        LLM_TEST(large_replies_are_cut_off),
        LLM_TEST(a_used_up_limit_makes_the_others_wait),
        LLM_TEST(a_refused_field_is_left_out_and_remembered),
        LLM_TEST(a_schema_has_an_older_form),
        LLM_TEST(a_server_that_refuses_everything_is_not_asked_for_ever),
        LLM_TEST(no_key_leaves),
        LLM_TEST(a_refused_key_is_named_by_its_variable),
        LLM_TEST(a_vendors_key_does_not_go_to_another_address),
        LLM_TEST(limits_are_not_crossed),
        LLM_TEST(a_spent_budget_ends_repetitions),
        LLM_TEST(without_a_price_a_limit_on_cost_cannot_hold),
        LLM_TEST(many_calls_are_in_flight_at_once),
        LLM_TEST(calls_wait_for_their_turn_and_can_be_cancelled),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
