/* exec:COMMAND: the prompt goes to a program's standard input, what it prints is the reply. Coding
 * agents' programs print JSON around it, which is taken apart. Exit code 75 (EX_TEMPFAIL) asks for
 * another attempt. */
#include "llm/llm_int.h"

#include "base/clock.h"

#include <math.h>
#include <string.h>
#include <sysexits.h>

enum { MOST_OUTPUT = 4 << 20 };

/* A name alone stands for how that program is best asked one question. */
static const struct preset {
    const char *name, *command;
} presets[] = {
    {"claude", "claude -p --output-format json --tools '' --strict-mcp-config "
               "--no-session-persistence"},
    {"codex", "codex exec --json --ephemeral --skip-git-repo-check -s read-only -"},
    {"gemini", "gemini -p '' -o json"},
    {"llm", "llm --no-stream"},
};

static const char *
command_of(const char *name)
{
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++)
        if (!strcmp(presets[i].name, name))
            return presets[i].command;
    return name;
}

static void
start(struct llm_call *call)
{
    struct proc_result failed;
    struct buf prompt = buf_in(call->arena);
    const char **argv = arena_array(call->arena, 4, sizeof *argv);
    size_t limit = call->llm->options.reply_bytes;
    llm__put_prompt(&prompt, &call->request);
    argv[0] = "/bin/sh";
    argv[1] = "-c";
    argv[2] = command_of(call->model->name);
    call->proc_request =
        (struct proc_request){.argv = argv,
                              .input = prompt.data,
                              .input_length = prompt.length,
                              .output_limit = limit < MOST_OUTPUT ? limit : MOST_OUTPUT};
    call->proc = proc_start(call->arena, &call->proc_request, &failed);
    if (call->proc != NULL)
        return;
    llm__fault(call, LLM_FAILED, "exec: %s", failed.err);
    llm__ended(call, LLM_FAILED);
}

/* ---- what they print ---- */

static void
take_counts(struct llm_call *call, json_t *usage)
{
    struct usage *counted = &call->usage;
    if (!json_is_object(usage))
        return;
    counted->known = true;
    counted->cached = llm__number(usage, "cache_read_input_tokens");
    counted->written = llm__number(usage, "cache_creation_input_tokens");
    counted->input = llm__number(usage, "input_tokens") + counted->cached + counted->written;
    /* codex counts as OpenAI does: the cached ones are among the input. */
    if (json_object_get(usage, "cached_input_tokens") != NULL) {
        counted->cached = llm__number(usage, "cached_input_tokens");
        counted->input = fmax(llm__number(usage, "input_tokens"), counted->cached);
    }
    counted->output = llm__number(usage, "output_tokens");
    counted->reasoned = llm__number(usage, "reasoning_output_tokens");
}

/* {"type":"result","result":...}, {"response":...,"stats":...}, {"text":...,"usage":...} */
static bool
take_object(struct llm_call *call, json_t *object)
{
    bool claude = !strcmp(llm__string(object, "type"), "result");
    bool gemini = json_object_get(object, "stats") != NULL;
    json_t *usage = json_object_get(object, "usage");
    json_t *text = json_object_get(object, claude ? "result" : gemini ? "response" : "text");
    if (!json_is_string(text) || (!claude && !gemini && !json_is_object(usage)))
        return false;
    if (json_is_true(json_object_get(object, "is_error")))
        llm__fault(call, LLM_FAILED, "exec: %s", json_string_value(text));
    llm__append(&call->text, text);
    take_counts(call, usage);
    if (json_is_number(json_object_get(object, "total_cost_usd")))
        call->usage.cost = llm__number(object, "total_cost_usd");
    return true;
}

/* codex: a line of JSON for each thing that happens; the last message counts. */
static void
take_line(struct llm_call *call, json_t *line)
{
    const char *type = llm__string(line, "type");
    json_t *item = json_object_get(line, "item");
    const char *kind = llm__string(item, "type");
    if (!strcmp(type, "item.completed") && !strcmp(kind, "agent_message")) {
        call->text = buf_in(call->arena);
        llm__append(&call->text, json_object_get(item, "text"));
    } else if (!strcmp(type, "item.completed") && !strcmp(kind, "reasoning")) {
        llm__append(&call->reasoning, json_object_get(item, "text"));
    } else if (!strcmp(type, "turn.completed")) {
        take_counts(call, json_object_get(line, "usage"));
    } else if (!strcmp(type, "turn.failed")) {
        llm__fault(call, LLM_FAILED, "exec: %s",
                   llm__string(json_object_get(line, "error"), "message"));
    }
}

static void
take_lines(struct llm_call *call, char *text)
{
    for (char *line; (line = strsep(&text, "\n")) != NULL;) {
        json_t *value = json_loads(line, JSON_ALLOW_NUL, NULL);
        if (value != NULL)
            take_line(call, value);
        json_decref(value);
    }
}

static void
take_output(struct llm_call *call, const struct proc_result *result)
{
    json_t *object = json_loadb(result->out, result->out_length, JSON_ALLOW_NUL, NULL);
    bool taken = json_is_object(object) && take_object(call, object);
    json_decref(object);
    if (!taken && !strncmp(result->out, "{\"type\":\"thread.started\"", 24))
        take_lines(call, result->out);
    else if (!taken)
        buf_add(&call->text, result->out, result->out_length);
    call->finish = LLM_FINISH_STOP;
}

/* ---- its end ---- */

static void
take_result(struct llm_call *call, const struct proc_result *result)
{
    const char *error = result->err;
    int length = (int)strcspn(error, "\n");
    call->spoke = result->out_length > 0;
    if (result->out_length >= call->proc_request.output_limit)
        llm__fault(call, LLM_TOO_LARGE, "exec: more than %zu bytes of reply; it was dropped",
                   call->proc_request.output_limit);
    else if (result->exit_code == EX_TEMPFAIL)
        llm__fault(call, LLM_SERVER_ERROR, "exec: exit code 75, try again: %.*s", length, error);
    else if (result->exit_code != 0)
        llm__fault(call, LLM_FAILED, "exec: `%s` ended with %s %d: %.*s", call->model->name,
                   result->signal ? "signal" : "exit code",
                   result->signal ? result->signal : result->exit_code, length, error);
    else
        take_output(call, result);
}

static void
step(struct llm_call *call)
{
    struct proc_result result;
    call->last_byte = clock_seconds(); /* an agent may think for minutes before its first word */
    if (call->first_word == 0 && proc_out_length(call->proc) > 0)
        call->first_word = call->last_byte;
    if (!proc_step(call->proc) && proc_out_length(call->proc) < call->proc_request.output_limit)
        return;
    proc_end(call->proc, &result);
    call->proc = NULL;
    take_result(call, &result);
    llm__ended(call, call->fault);
}

static void
stop(struct llm_call *call)
{
    struct proc_result result;
    if (call->proc != NULL)
        proc_end(call->proc, &result);
    call->proc = NULL;
}

const struct transport llm__exec = {.start = start, .step = step, .stop = stop};
