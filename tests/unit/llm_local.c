/* Whoever answers without a network: programs, a folder, recordings, scripts. */
#include "../llm/llm_unit.h"

#include "base/fault.h"

static void
write_file(struct llm_unit *test, const char *path, const char *text)
{
    assert_int_equal(file_write(path, text, strlen(text), test->unit.diags), STATUS_OK);
}

static const char *
read_text(struct llm_unit *test, const char *path)
{
    struct source source;

    if (file_read(test->unit.arena, path, 1 << 20, &source, test->unit.diags) != STATUS_OK)
        fail_msg("%s", unit_message(&test->unit, 0));
    return source.text;
}

static const struct llm_result *
ask(struct llm_unit *test, const char *model, const char *label)
{
    struct llm_request request = llm_unit_request(llm_unit_model(test, model));

    request.label = label;
    return llm_unit_result(test, &request);
}

/* ---- programs ---- */

static void
a_program_gets_the_prompt_and_prints_the_reply(void **state)
{
    struct llm_unit *test = *state;
    const struct llm_result *result = ask(test, "exec:tr a-z A-Z", "coder");

    assert_string_equal(result->message, "");
    assert_string_equal(result->text, "YOU WRITE KERNELS.\n\nWRITE A KERNEL.\n\n");
    assert_true(result->record.estimated && result->record.cost == 0);
    assert_string_equal(result->record.wire, "exec");
}

static void
programs_that_print_json_are_taken_apart(void **state)
{
    static const struct {
        const char *output, *text, *reasoning;
        double input, cached, output_tokens, cost;
    } rows[] = {
        {"{\"type\":\"result\",\"is_error\":false,\"result\":\"from claude\",\"usage\":"
         "{\"input_tokens\":10,\"cache_read_input_tokens\":30,\"cache_creation_input_tokens\":2,"
         "\"output_tokens\":7},\"total_cost_usd\":0.25}\n",
         "from claude", "", 42, 30, 7, 0.25},
        {"{\"type\":\"thread.started\",\"thread_id\":\"x\"}\n{\"type\":\"item.completed\",\"item\":"
         "{\"type\":\"reasoning\",\"text\":\"hm\"}}\n{\"type\":\"item.completed\",\"item\":{"
         "\"type\":"
         "\"agent_message\",\"text\":\"from codex\"}}\n{\"type\":\"turn.completed\",\"usage\":"
         "{\"input_tokens\":50,\"cached_input_tokens\":20,\"output_tokens\":9}}\n",
         "from codex", "hm", 50, 20, 9, 0},
        {"{\"text\":\"own\",\"usage\":{\"input_tokens\":5,\"output_tokens\":6}}", "own", "", 5, 0,
         6, 0},
        {"{\"response\":\"from gemini\",\"stats\":{}}", "from gemini", "", 10, 0, 4, 0},
        {"{\"plans\":[1,2]}", "{\"plans\":[1,2]}", "", 10, 0, 5, 0}, /* the reply itself */
    };
    struct llm_unit *test = *state;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *command = arena_printf(test->unit.arena, "exec:cat output%zu", i);

        write_file(test, command + strlen("exec:cat "), rows[i].output);
        const struct llm_result *result = ask(test, command, "coder");
        assert_string_equal(result->text, rows[i].text);
        assert_string_equal(result->reasoning, rows[i].reasoning);
        assert_true(result->record.input == rows[i].input);
        assert_true(result->record.cached == rows[i].cached);
        assert_true(result->record.output == rows[i].output_tokens);
        assert_true(result->record.cost == rows[i].cost);
    }
}

static void
programs_that_fail_are_told_about(void **state)
{
    static const struct {
        const char *command;
        enum llm_outcome outcome;
        unsigned attempts;
        const char *words;
    } rows[] = {
        {"exec:no-such-program-here", LLM_FAILED, 1, "exit code 127"},
        {"exec:echo oops >&2; exit 3", LLM_FAILED, 1, "exit code 3: oops"},
        {"exec:echo later >&2; exit 75", LLM_SERVER_ERROR, 3, "exit code 75, try again: later"},
        {"exec:kill -9 $$", LLM_FAILED, 1, "signal 9"},
        {"exec:yes", LLM_TOO_LARGE, 1, "more than 1000 bytes"},
        {"exec:sleep 60", LLM_TIMED_OUT, 1, "no end after 0.5 s"},
        {"exec:echo '{\"type\":\"result\",\"is_error\":true,\"result\":\"no login\"}'", LLM_FAILED,
         1, "no login"},
    };
    struct llm_unit *test = *state;

    test->options.reply_bytes = 1000;
    test->options.total_seconds = 0.5;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct llm_result *result = ask(test, rows[i].command, "coder");

        if (result->record.outcome != rows[i].outcome ||
            result->record.attempts != rows[i].attempts || !strstr(result->message, rows[i].words))
            fail_msg("%s: %s after %u: %s", rows[i].command,
                     llm_outcome_info[result->record.outcome].name, result->record.attempts,
                     result->message);
    }
}

static void
what_the_machine_refuses_is_told(void **state)
{
    struct llm_unit *test = *state;

    fault_arm(FAULT_FORK, 1);
    assert_string_equal(ask(test, "exec:true", "coder")->message,
                        "exec: /bin/sh: cannot be started (Resource temporarily unavailable)");
    llm_unit_model(test, "mailbox:box");
    fault_arm(FAULT_WRITE, 1);
    const struct llm_result *result = ask(test, "mailbox:box", "coder");
    assert_int_equal(result->record.outcome, LLM_FAILED);
    assert_non_null(strstr(result->message, "the question cannot be written"));
    assert_int_equal(scratch_count("box"), 0);
    fault_arm(FAULT_WRITE, 0);
}

static void
programs_run_side_by_side(void **state)
{
    struct llm_unit *test = *state;
    /* Each waits for the other's file: one after the other they would wait for ever. */
    struct llm_request one = llm_unit_request(
        llm_unit_model(test, "exec:touch one; until [ -e two ]; do sleep 0.01; done; echo 1"));
    struct llm_request two = llm_unit_request(
        llm_unit_model(test, "exec:touch two; until [ -e one ]; do sleep 0.01; done; echo 2"));

    llm_unit_submit(test, &one);
    llm_unit_submit(test, &two);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(llm_result(llm_unit_done(test))->record.outcome, LLM_OK);
}

static void
programs_inherit_no_connection(void **state)
{
    struct llm_unit *test = *state;
    struct llm_request slow = llm_unit_request(llm_unit_play(test, "openai", "slow"));
    struct llm_request look = llm_unit_request(
        llm_unit_model(test, "exec:ls -l /proc/self/fd | grep -c socket: || true"));
    const char *before = llm_unit_result(test, &look)->text; /* the library has some of its own */

    llm_unit_submit(test, &slow);
    llm_wait(test->llm, 0.2);
    struct llm_call *call = llm_unit_submit(test, &look);
    assert_ptr_equal(llm_unit_done(test), call);
    assert_string_equal(llm_result(call)->text, before);
}

/* ---- mailboxes ---- */

static void
a_mailbox_asks_and_is_answered(void **state)
{
    struct llm_unit *test = *state;
    struct llm_request request = llm_unit_request(llm_unit_model(test, "mailbox:box"));

    request.wanted = "one C file in a fenced block";
    struct llm_call *first = llm_unit_submit(test, &request);
    request.label = "critic 2";
    request.schema = "{\"type\":\"object\"}";
    struct llm_call *second = llm_unit_submit(test, &request);
    assert_int_equal(llm_wait(test->llm, 0.05), 0);
    const char *question = read_text(test, "box/0001.prompt.md");
    assert_non_null(strstr(question, "wanted:    one C file in a fenced block\n"));
    assert_non_null(strstr(question, "for:       coder 1\n"));
    assert_non_null(strstr(question, "answer in: 0001.reply.md"));
    assert_non_null(strstr(question, "\n----\n\nYou write kernels.\n\nWrite a kernel.\n"));
    assert_non_null(strstr(read_text(test, "box/0002.prompt.md"),
                           "Answer with JSON that fits this schema:\n\n{\"type\":\"object\"}\n"));
    assert_int_equal(scratch_count("box"), 2); /* nothing half written */

    write_file(test, "box/0002.reply.md", "to the second\r\n");
    assert_ptr_equal(llm_unit_done(test), second);
    assert_string_equal(llm_result(second)->text, "to the second\n");
    write_file(test, "box/0001.reply.md", "to the first\n");
    assert_ptr_equal(llm_unit_done(test), first);
    assert_string_equal(llm_result(first)->text, "to the first\n");
    assert_int_equal(scratch_count("box"), 4); /* until the replies are recorded */
    test->fetched_count = 0;
    llm_call_free(first);
    llm_call_free(second);
    assert_int_equal(scratch_count("box"), 1);
    assert_int_equal(scratch_count("box/done"), 4);

    llm_unit_submit(test, &request);
    llm_wait(test->llm, 0.01);
    assert_int_equal(access("box/0003.prompt.md", F_OK), 0); /* numbers go on */
    llm_unit_close(test);
    assert_int_equal(access("box/0003.prompt.md", F_OK), -1); /* nobody waits for it any more */
}

static void
a_reply_is_read_when_it_is_whole(void **state)
{
    struct llm_unit *test = *state;
    struct llm_request request = llm_unit_request(llm_unit_model(test, "mailbox:box"));
    FILE *reply;

    test->options.mailbox_seconds = 0.5;
    llm_unit_close(test);
    request.model = llm_unit_model(test, "mailbox:box");
    llm_unit_submit(test, &request);
    llm_wait(test->llm, 0);
    reply = fopen("box/0001.reply.md", "w");
    assert_int_equal(llm_wait(test->llm, 0.15), 0); /* empty as yet */
    for (int i = 0; i < 5; i++) {
        fprintf(reply, "line %d\n", i);
        fflush(reply);
        assert_int_equal(llm_wait(test->llm, 0.04), 0); /* still being written */
    }
    fclose(reply);
    assert_non_null(strstr(llm_result(llm_unit_done(test))->text, "line 4\n"));
}

static void
a_question_left_behind_is_taken_up_again(void **state)
{
    struct llm_unit *test = *state;
    struct llm_request request = llm_unit_request(llm_unit_model(test, "mailbox:box"));
    pid_t child;

    llm_unit_close(test);
    child = fork();
    if (child == 0) { /* a hone that asks and is killed */
        request.model = llm_unit_model(test, "mailbox:box");
        llm_unit_submit(test, &request);
        llm_wait(test->llm, 0);
        kill(getpid(), SIGKILL);
    }
    waitpid(child, NULL, 0);
    write_file(test, "box/0001.reply.md", "meanwhile\n");
    request.model = llm_unit_model(test, "mailbox:box");
    assert_string_equal(llm_unit_result(test, &request)->text, "meanwhile\n");
    assert_int_equal(access("box/0002.prompt.md", F_OK), -1);
}

/* ---- scripts and recordings ---- */

static void
a_script_answers_by_role(void **state)
{
    struct llm_unit *test = *state;

    write_file(test, "script",
               "# replies of a test\n"
               "=== coder tokens=100/20 cached=50 cost=0.5\nfirst\nlines\n"
               "=== critic finish=length\nno code here\n"
               "=== coder error=rate_limited\n"
               "=== * repeat\nanything\n");
    const struct llm_result *result = ask(test, "scripted:script", "critic");
    assert_string_equal(result->text, "no code here\n");
    assert_int_equal(result->record.finish, LLM_FINISH_LENGTH);
    result = ask(test, "scripted:script", "coder 1");
    assert_string_equal(result->text, "first\nlines\n");
    assert_true(result->record.input == 100 && result->record.cached == 50);
    assert_true(result->record.output == 20 && result->record.cost == 0.5);
    result = ask(test, "scripted:script", "coder 2");
    assert_int_equal(result->record.outcome, LLM_RATE_LIMITED);
    assert_int_equal(result->record.attempts, 1);
    assert_string_equal(ask(test, "scripted:script", "coders")->text, "anything\n");
    assert_string_equal(ask(test, "scripted:script", "")->text, "anything\n");

    write_file(test, "short", "=== coder\nonce\n");
    ask(test, "scripted:short", "coder");
    result = ask(test, "scripted:short", "coder");
    assert_int_equal(result->record.outcome, LLM_NOT_RECORDED);
    assert_string_equal(result->message, "scripted:short: no reply is left for `coder`");
}

static void
wrong_scripts_are_refused_with_their_line(void **state)
{
    struct llm_unit *test = *state;
    const struct llm_model *model;

    llm_unit_open(test);
    write_file(test, "script", "=== coder\nx\n=== coder tokens=a/b\n");
    assert_int_equal(llm_model_find(test->llm, "scripted:script", &model, test->unit.diags),
                     STATUS_INPUT);
    assert_non_null(strstr(unit_printed(&test->unit, false), "script:3: no head of a scripted"));
    write_file(test, "empty", "nothing\n");
    assert_int_equal(llm_model_find(test->llm, "scripted:empty", &model, test->unit.diags),
                     STATUS_INPUT);
    assert_int_equal(llm_model_find(test->llm, "scripted:nowhere", &model, test->unit.diags),
                     STATUS_INPUT);
    write_file(test, "recording", "{\"request\":\"abc\"}\n");
    assert_int_equal(llm_model_find(test->llm, "replay:recording", &model, test->unit.diags),
                     STATUS_INPUT);
    assert_non_null(strstr(unit_printed(&test->unit, false), "recording:1: no recorded call"));
}

static void
what_was_recorded_is_replayed(void **state)
{
    struct llm_unit *test = *state;
    struct buf recording = buf_in(test->unit.arena);

    write_file(test, "script",
               "=== * tokens=9/8 reasoned=7 cost=0.125\none \"two\"\n"
               "=== * error=cut\npart\n=== * \nthird\n");
    for (size_t i = 0; i < 3; i++)
        llm_put_recorded(&recording, ask(test, "scripted:script", "coder"));
    write_file(test, "recording", recording.data);
    const struct llm_result *result = ask(test, "replay:recording", "coder");
    assert_string_equal(result->text, "one \"two\"\n");
    assert_true(result->record.input == 9 && result->record.reasoned == 7);
    assert_true(result->record.cost == 0.125);
    result = ask(test, "replay:recording", "coder");
    assert_int_equal(result->record.outcome, LLM_CUT);
    assert_string_equal(result->text, "part\n");
    assert_string_equal(ask(test, "replay:recording", "coder")->text, "third\n");
    assert_int_equal(ask(test, "replay:recording", "coder")->record.outcome, LLM_NOT_RECORDED);
    assert_int_equal(ask(test, "replay:recording", "critic")->record.outcome, LLM_NOT_RECORDED);
}

static enum status
find(void *user, struct arena *arena, const char *name, const char *request_hash, size_t nth,
     struct llm_recorded *recorded)
{
    size_t *asked = user;

    assert_int_equal(strlen(request_hash), 64);
    if (strcmp(name, "m2c9") != 0 || nth > 1)
        return STATUS_NO;
    *asked += 1;
    *recorded = (struct llm_recorded){.text = arena_printf(arena, "reply %zu", nth)};
    return STATUS_OK;
}

static void
the_archive_can_be_the_source(void **state)
{
    struct llm_unit *test = *state;
    size_t asked = 0;

    test->options.replay = (struct llm_source){find, &asked};
    assert_string_equal(ask(test, "replay:m2c9", "coder")->text, "reply 0");
    assert_string_equal(ask(test, "replay:m2c9", "critic")->text, "reply 0");
    assert_string_equal(ask(test, "replay:m2c9", "coder")->text, "reply 1");
    assert_int_equal(ask(test, "replay:m2c9", "coder")->record.outcome, LLM_NOT_RECORDED);
    assert_int_equal(asked, 3);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        LLM_TEST(a_program_gets_the_prompt_and_prints_the_reply),
        LLM_TEST(programs_that_print_json_are_taken_apart),
        LLM_TEST(programs_that_fail_are_told_about),
        LLM_TEST(what_the_machine_refuses_is_told),
        LLM_TEST(programs_run_side_by_side),
        LLM_TEST(programs_inherit_no_connection),
        LLM_TEST(a_mailbox_asks_and_is_answered),
        LLM_TEST(a_reply_is_read_when_it_is_whole),
        LLM_TEST(a_question_left_behind_is_taken_up_again),
        LLM_TEST(a_script_answers_by_role),
        LLM_TEST(wrong_scripts_are_refused_with_their_line),
        LLM_TEST(what_was_recorded_is_replayed),
        LLM_TEST(the_archive_can_be_the_source),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
