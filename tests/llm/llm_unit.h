/* What the tests of llm share: a client, and the server of tests/llm/server.c beside it. */
#ifndef HONE_TESTS_LLM_UNIT_H
#define HONE_TESTS_LLM_UNIT_H

#include "../unit/scratch.h"
#include "base/file.h"
#include "llm/llm.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

struct llm_unit {
    struct unit unit; /* first: the helpers of unit.h work on it */
    struct llm_options options;
    struct llm *llm;
    int port;
    pid_t server;
    int server_in;
    struct llm_call *fetched[512]; /* freed when the client is closed */
    size_t fetched_count;
};

/* The server stands beside the folder of the test's own program. */
static inline void
llm_unit_exec_server(const char *socket)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 64);

    path[length > 0 ? length : 0] = '\0';
    *strrchr(path, '/') = '\0';
    strcpy(strrchr(path, '/'), "/llm/server");
    execl(path, path, "server.log", socket, (char *)NULL);
    perror(path);
    _exit(127);
}

static inline int
llm_unit_start_server(struct llm_unit *test, const char *socket)
{
    int in[2], out[2];
    char line[32] = "";

    if (pipe(in) != 0 || pipe(out) != 0)
        return -1;
    test->server = fork();
    if (test->server == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        close(in[1]);
        llm_unit_exec_server(socket);
    }
    close(in[0]);
    close(out[1]);
    test->server_in = in[1];
    if (read(out[0], line, sizeof line - 1) <= 0)
        return -1;
    close(out[0]);
    test->port = atoi(line);
    return test->port > 0 || socket ? 0 : -1;
}

static inline void
llm_unit_stop_server(struct llm_unit *test)
{
    close(test->server_in);
    waitpid(test->server, NULL, 0);
}

static inline int
llm_unit_setup(void **state)
{
    struct llm_unit *test;
    struct unit *unit;

    if (scratch_setup(state) != 0)
        return -1;
    unit = *state;
    test = arena_alloc(unit->arena, sizeof *test);
    test->unit = *unit;
    *state = test;
    test->options = (struct llm_options){
        .first_delay = 0.005, .idle_seconds = 5, .mailbox_seconds = 0.01, .memory = "memory.json"};
    return llm_unit_start_server(test, NULL);
}

static inline void
llm_unit_close(struct llm_unit *test)
{
    while (test->fetched_count > 0)
        llm_call_free(test->fetched[--test->fetched_count]);
    llm_close(test->llm);
    test->llm = NULL;
}

static inline int
llm_unit_teardown(void **state)
{
    struct llm_unit *test = *state;

    llm_unit_close(test);
    llm_unit_stop_server(test);
    return scratch_teardown(state);
}

#define LLM_TEST(function) \
    cmocka_unit_test_setup_teardown(function, llm_unit_setup, llm_unit_teardown)

static inline void
llm_unit_open(struct llm_unit *test)
{
    if (test->llm == NULL)
        assert_int_equal(llm_open(&test->options, &test->llm, test->unit.diags), STATUS_OK);
}

static inline const struct llm_model *
llm_unit_model(struct llm_unit *test, const char *text)
{
    const struct llm_model *model = NULL;

    llm_unit_open(test);
    if (llm_model_find(test->llm, text, &model, test->unit.diags) != STATUS_OK)
        fail_msg("%s: %s", text, unit_message(&test->unit, 0));
    return model;
}

/* "openai" and a play of the server become a model. */
static inline const struct llm_model *
llm_unit_play(struct llm_unit *test, const char *provider, const char *play)
{
    const char *format = !strcmp(provider, "anthropic") ? "%s:test-model@http://127.0.0.1:%d/%s"
                                                        : "%s:test-model@http://127.0.0.1:%d/%s/v1";
    char *text = arena_alloc(test->unit.arena, 256);

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(text, 256, format, provider, test->port, play);
#pragma GCC diagnostic pop
    return llm_unit_model(test, text);
}

static inline struct llm_request
llm_unit_request(const struct llm_model *model)
{
    static const struct llm_message question = {LLM_USER, "Write a kernel."};

    return (struct llm_request){.model = model,
                                .system = "You write kernels.",
                                .messages = &question,
                                .message_count = 1,
                                .max_tokens = 100,
                                .temperature = NAN,
                                .label = "coder 1"};
}

static inline struct llm_call *
llm_unit_submit(struct llm_unit *test, const struct llm_request *request)
{
    struct llm_call *call;

    if (llm_submit(test->llm, request, &call, test->unit.diags) != STATUS_OK)
        fail_msg("%s", unit_message(&test->unit, 0));
    return call;
}

/* The next call that ends. */
static inline struct llm_call *
llm_unit_done(struct llm_unit *test)
{
    while (llm_wait(test->llm, 10) == 0)
        assert_true(llm_in_flight(test->llm) > 0);
    assert_true(test->fetched_count < sizeof test->fetched / sizeof *test->fetched);
    return test->fetched[test->fetched_count++] = llm_next_done(test->llm);
}

static inline const struct llm_result *
llm_unit_result(struct llm_unit *test, const struct llm_request *request)
{
    struct llm_call *call = llm_unit_submit(test, request), *done = llm_unit_done(test);

    assert_ptr_equal(done, call);
    return llm_result(done);
}

/* What the server noted, all of it. */
static inline const char *
llm_unit_log(struct llm_unit *test)
{
    struct source source = {.text = ""};

    (void)file_read(test->unit.arena, "server.log", 64u << 20, &source, test->unit.diags);
    return source.text;
}

static inline size_t
llm_unit_count(const char *text, const char *word)
{
    size_t count = 0;

    for (; (text = strstr(text, word)); text += strlen(word))
        count++;
    return count;
}

#endif
