/* The three wires against a server that refuses what their vendors would refuse. */
#include "../llm/llm_unit.h"

static const char *const wires[] = {"openai", "responses", "anthropic"};

#define HELLO "Here it is:\n```c\nint x = 1;\n```\nDone.\n"

static void
asks_only_what_is_published(struct llm_unit *test)
{
    assert_int_equal(llm_unit_count(llm_unit_log(test), "wrong"), 0);
}

static void
a_reply_is_streamed(void **state)
{
    struct llm_unit *test = *state;

    for (size_t i = 0; i < 3; i++) {
        struct llm_request request = llm_unit_request(llm_unit_play(test, wires[i], "ok"));
        const struct llm_result *result = llm_unit_result(test, &request);
        const struct llm_record *record = &result->record;

        assert_string_equal(result->message, "");
        assert_int_equal(record->outcome, LLM_OK);
        assert_int_equal(record->finish, LLM_FINISH_STOP);
        assert_string_equal(result->text, HELLO);
        assert_string_equal(record->provider, wires[i]);
        assert_string_equal(record->wire, wires[i]);
        assert_string_equal(record->served, "test-model-1");
        assert_true(strlen(record->request_id) > 3);
        assert_int_equal(record->http_status, 200);
        assert_int_equal(record->attempts, 1);
        assert_true(record->input == 100 && record->cached == 50 && record->output == 20);
        assert_true(record->written == (i == 2 ? 10 : 0));
        assert_true(record->reasoned == 5);
        assert_false(record->estimated);
        assert_true(record->cost == 0); /* on this machine nobody bills */
        assert_true(record->first_ms > 0 && record->first_ms <= record->total_ms);
        assert_int_equal(strlen(record->request_hash), 64);
    }
    asks_only_what_is_published(test);
}

static void
everything_that_can_be_asked_for_has_its_published_form(void **state)
{
    struct llm_unit *test = *state;
    const struct llm_message turns[] = {
        {LLM_USER, "first"}, {LLM_ASSISTANT, "second"}, {LLM_USER, "th\xffird\r\nline"}};

    for (size_t i = 0; i < 3; i++) {
        struct llm_request request = llm_unit_request(llm_unit_play(test, wires[i], "ok"));

        request.messages = turns;
        request.message_count = 3;
        request.temperature = 0.5;
        request.effort = "low";
        request.cache = true;
        request.schema = "{\"type\":\"object\",\"properties\":{},\"required\":[],"
                         "\"additionalProperties\":false}";
        request.schema_name = "plan";
        assert_string_equal(llm_unit_result(test, &request)->text, HELLO);
    }
    asks_only_what_is_published(test);
    const char *log = llm_unit_log(test);
    assert_int_equal(llm_unit_count(log, "\"th?ird\\nline\""), 3);
    assert_int_equal(llm_unit_count(log, "\"additionalProperties\":false"), 3);
    assert_int_equal(llm_unit_count(log, "\"cache_control\":{\"type\":\"ephemeral\"}"), 1);
    assert_int_equal(llm_unit_count(log, "\"store\":false"), 1);
    assert_int_equal(llm_unit_count(log, "\"reasoning_effort\":\"low\""), 1);
    assert_int_equal(llm_unit_count(log, "\"temperature\":0.5"), 3);
}

static void
nothing_is_sent_that_was_not_asked_for(void **state)
{
    struct llm_unit *test = *state;
    struct llm_request request = llm_unit_request(llm_unit_play(test, "openai", "ok"));

    llm_unit_result(test, &request);
    assert_non_null(strstr(
        llm_unit_log(test),
        " {\"model\":\"test-model\",\"messages\":[{\"role\":\"system\",\"content\":\"You write "
        "kernels.\"},{\"role\":\"user\",\"content\":\"Write a kernel.\"}],\"stream\":true,"
        "\"stream_options\":{\"include_usage\":true},\"max_tokens\":100}\n"));
}

static void
a_whole_reply_will_do(void **state)
{
    struct llm_unit *test = *state;

    for (size_t i = 0; i < 3; i++) {
        struct llm_request request = llm_unit_request(llm_unit_play(test, wires[i], "whole"));
        const struct llm_result *result = llm_unit_result(test, &request);

        assert_string_equal(result->message, "");
        assert_string_equal(result->text, "whole");
        assert_string_equal(result->reasoning, "thought");
        assert_true(result->record.input == 7 && result->record.output == 3);
    }
}

static void
reasoning_is_kept_apart(void **state)
{
    struct llm_unit *test = *state;

    for (size_t i = 0; i < 3; i++) {
        struct llm_request request = llm_unit_request(llm_unit_play(test, wires[i], "reasons"));
        const struct llm_result *result = llm_unit_result(test, &request);

        assert_string_equal(result->reasoning, "let me think");
        assert_string_equal(result->text, "the answer");
        assert_int_equal(result->record.finish, LLM_FINISH_LENGTH);
    }
    struct llm_request request = llm_unit_request(llm_unit_play(test, "openai", "think-tags"));
    const struct llm_result *result = llm_unit_result(test, &request);
    assert_string_equal(result->text, "shown");
    assert_string_equal(result->reasoning, "\nhidden\n");
}

static void
odd_streams_are_understood(void **state)
{
    struct llm_unit *test = *state;
    struct llm_request request = llm_unit_request(llm_unit_play(test, "openai", "odd"));
    const struct llm_result *result = llm_unit_result(test, &request);

    assert_string_equal(result->message, "");
    assert_string_equal(result->text, "odd");
    assert_int_equal(result->record.finish, LLM_FINISH_STOP);
    assert_true(result->record.output == 2);

    request = llm_unit_request(llm_unit_play(test, "openai", "no-done"));
    result = llm_unit_result(test, &request);
    assert_string_equal(result->text, "short");
    assert_true(result->record.estimated); /* it did not count */
    assert_true(result->record.output == 2 && result->record.input == 10);
}

static void
packed_replies_and_sockets_will_do(void **state)
{
    struct llm_unit *test = *state;
    struct llm_request request = llm_unit_request(llm_unit_play(test, "openai", "gzip"));

    assert_string_equal(llm_unit_result(test, &request)->text, "unpacked");
    llm_unit_stop_server(test);
    llm_unit_start_server(test, "socket");
    request.model = llm_unit_model(test, "openai:m@unix:socket");
    /* Its path has no play, so that is what it says; but it was reached. */
    assert_int_equal(llm_unit_result(test, &request)->record.http_status, 404);
}

static void
the_key_goes_where_the_wire_wants_it(void **state)
{
    struct llm_unit *test = *state;
    struct llm_provider providers[3];

    setenv("TEST_KEY", "sk-test-0123456789abcdef", 1);
    for (size_t i = 0; i < 3; i++)
        providers[i] = (struct llm_provider){
            .name = arena_printf(test->unit.arena, "lab%zu", i),
            .wire = (enum llm_wire)i,
            .base_url = arena_printf(test->unit.arena, "http://127.0.0.1:%d/key%s", test->port,
                                     i < 2 ? "/v1/" : ""),
            .key_env = i == 0 ? NULL : "TEST_KEY",
            .key_command = i == 0 ? "echo $TEST_KEY" : NULL,
            .price = {2, 1, -1, 10, ""}};
    test->options.providers = providers;
    test->options.provider_count = 3;
    for (size_t i = 0; i < 3; i++) {
        struct llm_request request =
            llm_unit_request(llm_unit_model(test, arena_printf(test->unit.arena, "lab%zu:m", i)));
        const struct llm_result *result = llm_unit_result(test, &request);

        assert_string_equal(result->message, "");
        /* 100 in, 50 of them cached (and 10 written at the usual price), 20 out. */
        assert_float_equal(result->record.cost, 1e-6 * (50 * 2 + 50 * 1 + 20 * 10), 1e-12);
        assert_string_equal(llm_facts(request.model).key_from, i == 0 ? "key_command" : "TEST_KEY");
    }
    unsetenv("TEST_KEY");
}

static void
a_server_says_what_it_is(void **state)
{
    struct llm_unit *test = *state;
    const struct llm_model *model = llm_unit_play(test, "openai", "llama");
    const char *message;

    assert_int_equal(llm_look(test->llm, model, test->unit.arena, &message), LLM_OK);
    assert_true(llm_facts(model).window == 8192);
    assert_true(llm_facts(model).grammar);

    model = llm_unit_play(test, "openai", "ok");
    assert_int_equal(llm_look(test->llm, model, test->unit.arena, &message), LLM_OK);
    assert_true(llm_facts(model).window == 32768);

    model = llm_unit_model(
        test,
        arena_printf(test->unit.arena, "openai:test-modle@http://127.0.0.1:%d/ok/v1", test->port));
    assert_int_equal(llm_look(test->llm, model, test->unit.arena, &message), LLM_NO_MODEL);
    assert_non_null(strstr(message, "did you mean test-model?"));

    model = llm_unit_play(test, "openai", "401");
    assert_int_equal(llm_look(test->llm, model, test->unit.arena, &message), LLM_KEY_REFUSED);
    model = llm_unit_model(test, "openai:m@http://127.0.0.1:1/v1");
    assert_int_equal(llm_look(test->llm, model, test->unit.arena, &message), LLM_UNREACHABLE);
    assert_string_equal(
        message,
        "openai: no answer from http://127.0.0.1:1/v1 (refused). Is llama-server running?");
}

static void
ollama_says_how_much_it_reads(void **state)
{
    static const struct {
        const char *play, *variable;
        double window;
    } rows[] = {{"ollama", NULL, 16384}, {"ok", "8192", 8192}, {"ok", NULL, 4096}};
    struct llm_unit *test = *state;
    const char *message;

    for (size_t i = 0; i < 3; i++) {
        setenv("OLLAMA_HOST",
               arena_printf(test->unit.arena, "http://127.0.0.1:%d/%s", test->port, rows[i].play),
               1);
        if (rows[i].variable != NULL)
            setenv("OLLAMA_CONTEXT_LENGTH", rows[i].variable, 1);
        const struct llm_model *model = llm_unit_model(test, "ollama:test-model");
        assert_int_equal(llm_look(test->llm, model, test->unit.arena, &message), LLM_OK);
        assert_true(llm_facts(model).window == rows[i].window);
        unsetenv("OLLAMA_CONTEXT_LENGTH");
        llm_unit_close(test);
    }
    unsetenv("OLLAMA_HOST");
}

static void
a_prompt_that_cannot_fit_is_not_sent(void **state)
{
    struct llm_unit *test = *state;
    const struct llm_model *model = llm_unit_play(test, "openai", "llama");
    struct llm_request request = llm_unit_request(model);
    struct llm_call *call;
    const char *message;

    llm_look(test->llm, model, test->unit.arena, &message);
    request.max_tokens = 8190;
    assert_int_equal(llm_submit(test->llm, &request, &call, test->unit.diags), STATUS_INPUT);
    assert_non_null(strstr(unit_message(&test->unit, 0), "has a window of 8192 tokens; this prompt "
                                                         "and its reply need 8200"));
    request.max_tokens = 1;
    request.schema = "{";
    assert_int_equal(llm_submit(test->llm, &request, &call, test->unit.diags), STATUS_INPUT);
    assert_string_equal(unit_message(&test->unit, 1),
                        "coder 1: the schema of its reply is no JSON");
    assert_int_equal(llm_in_flight(test->llm), 0);
    assert_string_equal(llm_unit_log(test), "");
}

static void
the_probe_finds_the_form_of_replies(void **state)
{
    static const struct {
        const char *play;
        enum llm_skill skill;
    } rows[] = {{"probe", LLM_SKILL_STRONG},
                {"probe-whole", LLM_SKILL_WHOLE_FILE},
                {"probe-small", LLM_SKILL_CHOOSER},
                {"ok", LLM_SKILL_NONE}};
    struct llm_unit *test = *state;
    const char *message;

    for (size_t i = 0; i < 4; i++) {
        const struct llm_model *model = llm_unit_play(test, wires[i % 3], rows[i].play);

        assert_int_equal(llm_probe(test->llm, model, test->unit.arena, &message), LLM_OK);
        assert_int_equal(llm_facts(model).skill, rows[i].skill);
    }
    const char *text =
        arena_strdup(test->unit.arena, llm_facts(llm_unit_play(test, "openai", "probe")).text);
    llm_unit_close(test);
    assert_int_equal(llm_facts(llm_unit_model(test, text)).skill, LLM_SKILL_STRONG);
    assert_int_equal(llm_unit_count(llm_unit_log(test), "wrong"), 0);
}

static void
vectors_come_in_the_order_of_their_texts(void **state)
{
    static const char *const texts[] = {"a gemm", "softmax", "a stream that \xff copies"};
    struct llm_unit *test = *state;
    const struct llm_model *model = llm_unit_play(test, "openai", "ok");
    struct llm_budget budget = llm_budget_without_limits();
    struct llm_vectors vectors;
    char *longest = arena_alloc(test->unit.arena, 9001);

    llm_set_budget(test->llm, &budget);
    assert_int_equal(llm_embed(test->llm, model, test->unit.arena, texts, 3, &vectors), LLM_OK);
    assert_int_equal(vectors.size, 3);
    for (size_t i = 0; i < 3; i++) {
        const float *one = vectors.values + 3 * i;

        assert_true(fabsf(one[0] * one[0] + one[1] * one[1] + one[2] * one[2] - 1) < 1e-5F);
        for (size_t k = 0; k < 3; k++)
            assert_true(k == i ? one[k] > 0.9F : one[k] < 0.2F);
    }
    assert_true(vectors.record.input == 30 && vectors.record.output == 0);
    assert_true(vectors.record.cost == 0 && !vectors.record.estimated);
    assert_true(budget.calls_begun == 1 && budget.tokens_spent == 30);
    /* The server takes no more than 512 tokens of a text. */
    memset(longest, 'x', 9000);
    assert_int_equal(
        llm_embed(test->llm, model, test->unit.arena, (const char *const *)&longest, 1, &vectors),
        LLM_OK);
    assert_int_equal(llm_unit_count(llm_unit_log(test), "wrong"), 0);
    /* Anthropic has no such thing. */
    model = llm_unit_play(test, "anthropic", "ok");
    assert_false(llm_can_embed(model));
    assert_int_equal(llm_embed(test->llm, model, test->unit.arena, texts, 3, &vectors),
                     LLM_BAD_REQUEST);
    assert_non_null(strstr(vectors.message, "gives no vectors"));
    budget.calls = 2;
    model = llm_unit_play(test, "openai", "ok");
    assert_int_equal(llm_embed(test->llm, model, test->unit.arena, texts, 3, &vectors),
                     LLM_BAD_REQUEST);
    assert_non_null(strstr(vectors.message, "the limit on calls is reached"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        LLM_TEST(a_reply_is_streamed),
        LLM_TEST(everything_that_can_be_asked_for_has_its_published_form),
        LLM_TEST(nothing_is_sent_that_was_not_asked_for),
        LLM_TEST(a_whole_reply_will_do),
        LLM_TEST(reasoning_is_kept_apart),
        LLM_TEST(odd_streams_are_understood),
        LLM_TEST(packed_replies_and_sockets_will_do),
        LLM_TEST(the_key_goes_where_the_wire_wants_it),
        LLM_TEST(a_server_says_what_it_is),
        LLM_TEST(ollama_says_how_much_it_reads),
        LLM_TEST(a_prompt_that_cannot_fit_is_not_sent),
        LLM_TEST(the_probe_finds_the_form_of_replies),
        LLM_TEST(vectors_come_in_the_order_of_their_texts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
