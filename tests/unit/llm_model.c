/* Model strings, prices, waiting times, streams of events: what needs no server. */
#include "scratch.h"

#include "base/file.h"
#include "llm/llm_int.h"

#include <math.h>

static void
forget_environment(void)
{
    static const char *const names[] = {
        "OPENAI_API_KEY",       "OPENAI_BASE_URL",    "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "OPENROUTER_API_KEY",
        "DEEPSEEK_API_KEY",     "GEMINI_API_KEY",     "OLLAMA_HOST"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
}

static struct llm *
open_client(struct unit *unit, const struct llm_options *options)
{
    struct llm *llm;
    forget_environment();
    assert_int_equal(llm_open(options, &llm, unit->diags), STATUS_OK);
    return llm;
}

/* ---- strings ---- */

static void
strings_say_who_is_asked(void **state)
{
    static const struct {
        const char *text, *provider, *name, *base;
        enum llm_wire wire;
        bool free;
    } rows[] = {
        {"openai:gpt-5", "openai", "gpt-5", "https://api.openai.com/v1", LLM_CHAT, false},
        {"responses:gpt-5", "responses", "gpt-5", "https://api.openai.com/v1", LLM_RESPONSES,
         false},
        {"anthropic:claude-opus-5", "anthropic", "claude-opus-5", "https://api.anthropic.com",
         LLM_ANTHROPIC, false},
        {"ollama:qwen3:8b", "ollama", "qwen3:8b", "http://127.0.0.1:11434/v1", LLM_CHAT, true},
        {"openrouter:a/b@preset", "openrouter", "a/b@preset", "https://openrouter.ai/api/v1",
         LLM_CHAT, false},
        {"openai:m@http://10.0.0.1:8080/v1/", "openai", "m", "http://10.0.0.1:8080/v1", LLM_CHAT,
         false},
        {"anthropic:m@http://localhost:1", "anthropic", "m", "http://localhost:1", LLM_ANTHROPIC,
         true},
        {"openai:m@unix:/run/llama.sock", "openai", "m", "http://localhost/v1", LLM_CHAT, true},
        {"exec:claude -p --model x=1,y", "exec", "claude -p --model x=1,y", NULL, LLM_EXEC, true},
        {"builtin", "builtin", "", NULL, LLM_BUILTIN, true},
        {"lab:big", "lab", "big", "http://gpu1:8000/v1", LLM_RESPONSES, false},
    };
    struct unit *unit = *state;
    const struct llm_provider lab = {.name = "lab",
                                     .wire = LLM_RESPONSES,
                                     .base_url = "http://gpu1:8000/v1",
                                     .window = 65536,
                                     .price = {0.1, 0.02, -1, 0.4, ""}};
    struct llm *llm =
        open_client(unit, &(struct llm_options){.providers = &lab, .provider_count = 1});
    setenv("OPENAI_API_KEY", "sk-one-0123456789", 1);
    setenv("ANTHROPIC_API_KEY", "sk-two-0123456789", 1);
    setenv("OPENROUTER_API_KEY", "sk-three-0123456789", 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct llm_model *model, *again;
        if (llm_model_find(llm, rows[i].text, &model, unit->diags) != STATUS_OK)
            fail_msg("%s: %s", rows[i].text, unit_message(unit, 0));
        struct llm_facts facts = llm_facts(model);
        assert_string_equal(facts.provider, rows[i].provider);
        assert_string_equal(facts.name, rows[i].name);
        assert_int_equal(facts.wire, rows[i].wire);
        assert_int_equal(facts.free, rows[i].free);
        if (rows[i].base != NULL)
            assert_string_equal(facts.base_url, rows[i].base);
        else
            assert_null(facts.base_url);
        assert_int_equal(llm_model_find(llm, rows[i].text, &again, unit->diags), STATUS_OK);
        assert_ptr_equal(again, model);
    }
    const struct llm_model *model;
    llm_model_find(llm, "lab:big", &model, unit->diags);
    assert_true(llm_facts(model).window == 65536 && llm_facts(model).price.output == 0.4);
    llm_model_find(llm, "openai:gpt-5", &model, unit->diags);
    assert_string_equal(llm_facts(model).key_from, "OPENAI_API_KEY");
    llm_model_find(llm, "openai:m@http://10.0.0.1:8080/v1/", &model, unit->diags);
    assert_null(llm_facts(model).key_from);
    llm_close(llm);
}

static void
wrong_strings_are_explained(void **state)
{
    static const char *const rows[][2] = {
        {"gpt-5", "--model gpt-5: which provider? write openai:gpt-5, or openai:gpt-5@URL for your "
                  "own server"},
        {"opnai:gpt-5", "--model opnai:gpt-5: no such provider; did you mean openai:gpt-5?"},
        {"zzzzzzzzz:x", "--model zzzzzzzzz:x: no such provider; `hone models` lists them"},
        {"anthropic:m",
         "anthropic: no key: set ANTHROPIC_API_KEY, or use ollama:NAME, exec:claude, "
         "mailbox:DIR"},
        {"ollama:", "--model ollama:: which? write ollama:MODEL"},
        {"mailbox:", "--model mailbox:: which? write mailbox:DIR"},
        {"openai:m@http://user:pass@host/v1", "the address of openai has a blank or a key in it; "
                                              "keys stand in variables"},
    };
    struct unit *unit = *state;
    struct llm *llm = open_client(unit, &(struct llm_options){0});
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct diags *diags = diags_create(unit->arena, 0);
        const struct llm_model *model;
        assert_int_equal(llm_model_find(llm, rows[i][0], &model, diags), STATUS_INPUT);
        assert_string_equal(diags_get(diags, 0)->message, rows[i][1]);
    }
    setenv("ANTHROPIC_API_KEY", "two\nlines", 1);
    const struct llm_model *model;
    assert_int_equal(llm_model_find(llm, "anthropic:m", &model, unit->diags), STATUS_INPUT);
    assert_string_equal(unit_message(unit, 0),
                        "anthropic: the key in ANTHROPIC_API_KEY is not one line of text");
    llm_close(llm);
}

static void
lists_have_weights(void **state)
{
    static const struct {
        const char *text;
        size_t count;
        double weights[3];
    } rows[] = {
        {"builtin", 1, {1}},
        {"ollama:a,ollama:b=0.3", 2, {0.7, 0.3}},
        {"ollama:a=3,ollama:b=1", 2, {0.75, 0.25}},
        {"ollama:a=0.5,exec:run --a=1,2,builtin", 3, {0.5, 0.25, 0.25}},
    };
    struct unit *unit = *state;
    struct llm *llm = open_client(unit, &(struct llm_options){0});
    struct llm_choice *list;
    size_t count;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(
            llm_models_parse(llm, unit->arena, rows[i].text, &list, &count, unit->diags),
            STATUS_OK);
        assert_int_equal(count, rows[i].count);
        for (size_t j = 0; j < count; j++)
            assert_float_equal(list[j].weight, rows[i].weights[j], 1e-12);
    }
    assert_string_equal(llm_facts(list[1].model).name, "run --a=1,2");
    assert_int_equal(
        llm_models_parse(llm, unit->arena, "builtin,ollama:a=1.0", &list, &count, unit->diags),
        STATUS_INPUT);
    assert_non_null(strstr(unit_message(unit, 0), "leave nothing for the others"));
    llm_close(llm);
}

static void
ollama_is_found_where_its_variable_says(void **state)
{
    static const char *const rows[][2] = {
        {"0.0.0.0", "http://127.0.0.1:11434/v1"},
        {"0.0.0.0:9", "http://127.0.0.1:9/v1"},
        {"gpu1", "http://gpu1:11434/v1"},
        {"https://gpu1:443", "https://gpu1:443/v1"},
    };
    struct unit *unit = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct llm *llm = open_client(unit, &(struct llm_options){0});
        const struct llm_model *model;
        setenv("OLLAMA_HOST", rows[i][0], 1);
        assert_int_equal(llm_model_find(llm, "ollama:m", &model, unit->diags), STATUS_OK);
        assert_string_equal(llm_facts(model).base_url, rows[i][1]);
        llm_close(llm);
    }
}

/* ---- prices ---- */

static void
prices_are_looked_up(void **state)
{
    struct unit *unit = *state;
    const char own[] = "# mine\nanthropic:claude-opus-5  100  1 - - 2  2026-11-01\n"
                       "lab:m 1000 3 1.5 4 5 2026-11-02 # a remark\n";
    file_write("prices", own, strlen(own), unit->diags);
    struct llm *llm = open_client(unit, &(struct llm_options){.prices = "prices"});
    assert_true(llm__price_of(llm, "anthropic", "claude-opus-5")->price.input == 1);
    assert_true(llm__price_of(llm, "anthropic", "claude-opus-5-20260701")->price.input == 1);
    assert_true(llm__price_of(llm, "anthropic", "claude-opus-4-5")->price.input == 5);
    assert_true(llm__price_of(llm, "anthropic", "claude-opus-4-5-20251101")->price.input == 5);
    assert_true(llm__price_of(llm, "responses", "gpt-5-2025-08-07")->price.output == 10);
    assert_true(llm__price_of(llm, "lab", "m")->window == 1000);
    assert_null(llm__price_of(llm, "anthropic", "claude-opus-9"));
    assert_null(llm__price_of(llm, "anthropic", "claude"));
    assert_null(llm__price_of(llm, "openrouter", "gpt-5"));
    const struct usage usage = {.input = 1e6, .cached = 4e5, .written = 1e5, .output = 2e6};
    assert_float_equal(llm__cost(&llm__price_of(llm, "lab", "m")->price, &usage),
                       0.5 * 3 + 0.4 * 1.5 + 0.1 * 4 + 2 * 5, 1e-12);
    /* Not billed apart: at the price of other input. */
    assert_float_equal(llm__cost(&llm__price_of(llm, "anthropic", "claude-opus-5")->price, &usage),
                       1 * 1 + 2 * 2, 1e-12);
    struct buf table = buf_in(unit->arena);
    llm_put_prices(llm, &table);
    llm_close(llm);

    file_write("prices", table.data, table.length, unit->diags); /* what is printed can be read */
    llm = open_client(unit, &(struct llm_options){.prices = "prices"});
    assert_true(llm__price_of(llm, "lab", "m")->price.written == 4);
    llm_close(llm);
}

static void
wrong_prices_are_refused_with_their_line(void **state)
{
    static const char *const rows[] = {"a:b 1 2 3 4",         "a:b 1 2 3 4 5 2026-01-01 more",
                                       "a 1 1 1 1 1 x",       "a:b 1 x 1 1 1 2026",
                                       "a:b 1 -1 1 1 1 2026", "a:b 1 - 1 1 1 2026",
                                       "a:b w 1 1 1 1 2026"};
    struct unit *unit = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct diags *diags = diags_create(unit->arena, 0);
        struct llm *llm;
        char *text = arena_printf(unit->arena, "# prices\n%s\n", rows[i]);
        file_write("prices", text, strlen(text), diags);
        assert_int_equal(llm_open(&(struct llm_options){.prices = "prices"}, &llm, diags),
                         STATUS_INPUT);
        assert_memory_equal(diags_get(diags, 0)->message, "prices:2: no row of prices", 26);
    }
}

/* ---- waiting ---- */

static void
durations_are_read_in_all_their_forms(void **state)
{
    static const struct {
        const char *text;
        double seconds;
    } rows[] = {
        {"6m0s", 360},
        {"120ms", 0.12},
        {"1h2m3s", 3723},
        {"1.5", 1.5},
        {"0", 0},
        {"", -1},
        {"-1", -1},
        {"soon", -1},
        {"3 weeks", -1},
        {"Sun, 06 Nov 1994 08:49:37 GMT", 37},
        {"1994-11-06T08:49:40Z", 40},
        {"1990-11-06T08:49:40Z", 0}, /* over already */
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_float_equal(llm__duration(rows[i].text, 784111740), rows[i].seconds, 1e-9);
}

static void
delays_double_and_servers_decide(void **state)
{
    struct unit *unit = *state;
    struct llm *llm = open_client(unit, &(struct llm_options){0});
    for (unsigned attempt = 1; attempt < 9; attempt++) {
        struct llm_call call = {.llm = llm, .attempt = attempt, .retry_after = -1};
        double most = fmin(0.5 * exp2(attempt - 1), 8), delay = llm__delay(&call);
        assert_true(delay > 0.75 * most - 1e-9 && delay <= most);
        call.retry_after = 33;
        assert_true(llm__delay(&call) == 33);
    }
    llm_close(llm);
}

static void
errors_mean_what_they_mean(void **state)
{
    static const struct {
        int status;
        const char *type, *code, *message;
        enum llm_outcome outcome;
    } rows[] = {
        {401, "", "", "", LLM_KEY_REFUSED},
        {403, "permission_error", "", "", LLM_KEY_REFUSED},
        {402, "", "", "", LLM_NO_CREDIT},
        {429, "insufficient_quota", "insufficient_quota", "", LLM_NO_CREDIT},
        {429, "rate_limit_error", "enforced_spend_limit_reached", "", LLM_NO_CREDIT},
        {400, "invalid_request_error", "", "Your credit balance is too low", LLM_NO_CREDIT},
        {429, "", "", "", LLM_RATE_LIMITED},
        {408, "", "", "", LLM_SERVER_ERROR},
        {409, "", "", "", LLM_SERVER_ERROR},
        {503, "", "503", "Loading model", LLM_SERVER_ERROR},
        {529, "overloaded_error", "", "", LLM_SERVER_ERROR},
        {0, "overloaded_error", "", "", LLM_SERVER_ERROR},
        {404, "not_found_error", "", "model: x", LLM_NO_MODEL},
        {404, "", "", "", LLM_NO_MODEL},
        {400, "", "context_length_exceeded", "", LLM_TOO_LONG},
        {400, "", "", "the request exceeds the available context size", LLM_TOO_LONG},
        {413, "request_too_large", "", "", LLM_TOO_LONG},
        {400, "", "", "", LLM_BAD_REQUEST},
        {422, "", "", "", LLM_BAD_REQUEST},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(llm__classify(rows[i].status, rows[i].type, rows[i].code, rows[i].message),
                         rows[i].outcome);
}

/* ---- events ---- */

static void
note_event(void *user, const char *event, const char *data, size_t length)
{
    buf_printf(user, "[%s|%s|%zu]", event, data, length);
}

static void
events_do_not_depend_on_where_they_are_cut(void **state)
{
    static const char text[] =
        "\xef\xbb\xbf: remark\r\n\r\ndata: a\rdata:b\r\revent: ping\n\ndata\n"
        "event: x\ndata:  two\n\n{\"error\":1}\nid: 3\n\ndata: end";
    static const char wanted[] = "[|a\nb|3][x| two|4][|{\"error\":1}|11][|end|3]";
    struct unit *unit = *state;
    for (size_t piece = 1; piece < sizeof text; piece++) {
        struct buf seen = buf_in(unit->arena);
        struct sse sse = sse_create(unit->arena, 100, note_event, &seen);
        for (size_t i = 0; i < sizeof text - 1; i += piece)
            assert_true(sse_feed(&sse, text + i,
                                 piece < sizeof text - 1 - i ? piece : sizeof text - 1 - i));
        assert_true(sse_end(&sse));
        assert_string_equal(seen.data, wanted);
    }
}

static void
endless_lines_and_events_are_refused(void **state)
{
    struct unit *unit = *state;
    struct buf seen = buf_in(unit->arena);
    struct sse sse = sse_create(unit->arena, 10, note_event, &seen);
    assert_true(sse_feed(&sse, "data: 1234\n", 11));
    assert_false(sse_feed(&sse, "data: 12345", 11));
    sse = sse_create(unit->arena, 10, note_event, &seen);
    assert_true(sse_feed(&sse, "data:12345\n", 11));
    assert_false(sse_feed(&sse, "data:12345\n", 11));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(strings_say_who_is_asked),
        UNIT_TEST(wrong_strings_are_explained),
        UNIT_TEST(lists_have_weights),
        UNIT_TEST(ollama_is_found_where_its_variable_says),
        SCRATCH_TEST(prices_are_looked_up),
        SCRATCH_TEST(wrong_prices_are_refused_with_their_line),
        UNIT_TEST(durations_are_read_in_all_their_forms),
        UNIT_TEST(delays_double_and_servers_decide),
        UNIT_TEST(errors_mean_what_they_mean),
        UNIT_TEST(events_do_not_depend_on_where_they_are_cut),
        UNIT_TEST(endless_lines_and_events_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
