/* OpenAI's chat completions, which every server speaks in its own way. Sends as little as can be:
 * what is not sent cannot be refused. */
#include "llm/llm_int.h"

#include <math.h>

static void
add_message(json_t *messages, const char *role, const char *text)
{
    json_array_append_new(messages, json_pack("{s:s, s:s}", "role", role, "content", text));
}

/* Plain strings as contents: some templates refuse parts. */
static json_t *
messages_of(struct llm_call *call)
{
    const struct llm_request *request = &call->request;
    json_t *messages = json_array();
    bool apart = request->system != NULL && llm__may_send(call, QUIRK_NO_SYSTEM);
    if (apart)
        add_message(messages, "system", request->system);
    for (size_t i = 0; i < request->message_count; i++) {
        const char *text = request->messages[i].text;
        if (i == 0 && request->system != NULL && !apart)
            text = arena_printf(call->arena, "%s\n\n%s", request->system, text);
        add_message(messages, request->messages[i].role == LLM_USER ? "user" : "assistant", text);
    }
    return messages;
}

/* The vendor's newer models refuse the old name, most other servers do not know the new one. */
static const char *
cap_name(struct llm_call *call)
{
    bool newer = call->model->provider->vendor;
    if (call->model->quirks & 1u << QUIRK_OTHER_CAP)
        newer = !newer;
    else
        call->sent |= 1u << QUIRK_OTHER_CAP;
    return newer ? "max_completion_tokens" : "max_tokens";
}

/* true: the grammar says all that the schema would. */
static bool
add_grammar(struct llm_call *call, json_t *body)
{
    const char *grammar = call->request.grammar;
    enum server server = call->model->server;
    if (grammar == NULL || (server != SERVER_LLAMA_CPP && server != SERVER_VLLM) ||
        !llm__may_send(call, QUIRK_NO_GRAMMAR))
        return false;
    if (server == SERVER_LLAMA_CPP)
        json_object_set_new(body, "grammar", json_string(grammar));
    else
        json_object_set_new(body, "structured_outputs", json_pack("{s:s}", "grammar", grammar));
    return true;
}

/* OpenAI's form; llama.cpp's older one where that is refused. */
static void
add_schema(struct llm_call *call, json_t *body)
{
    json_t *schema = llm__schema(call);
    if (schema == NULL)
        return;
    json_object_set_new(body, "response_format",
                        llm__may_send(call, QUIRK_OBJECT_SCHEMA)
                            ? json_pack("{s:s, s:{s:s, s:o, s:b}}", "type", "json_schema",
                                        "json_schema", "name", llm__schema_name(call), "schema",
                                        schema, "strict", 1)
                            : json_pack("{s:s, s:o}", "type", "json_object", "schema", schema));
}

static json_t *
build(struct llm_call *call)
{
    const struct llm_request *request = &call->request;
    json_t *body = json_object();
    json_object_set_new(body, "model", json_string(call->model->name));
    json_object_set_new(body, "messages", messages_of(call));
    json_object_set_new(body, "stream", json_true());
    if (llm__may_send(call, QUIRK_NO_STREAM_OPTIONS))
        json_object_set_new(body, "stream_options", json_pack("{s:b}", "include_usage", 1));
    json_object_set_new(body, cap_name(call), json_integer(request->max_tokens));
    if (!isnan(request->temperature) && llm__may_send(call, QUIRK_NO_TEMPERATURE))
        json_object_set_new(body, "temperature", json_real(request->temperature));
    if (request->effort != NULL && llm__may_send(call, QUIRK_NO_EFFORT))
        json_object_set_new(body, "reasoning_effort", json_string(request->effort));
    if (!add_grammar(call, body))
        add_schema(call, body);
    return body;
}

/* ---- replies ---- */

static void
take_usage(struct llm_call *call, json_t *usage)
{
    json_t *in = json_object_get(usage, "prompt_tokens_details");
    json_t *out = json_object_get(usage, "completion_tokens_details");
    if (!json_is_number(json_object_get(usage, "completion_tokens")) &&
        !json_is_number(json_object_get(usage, "prompt_tokens")))
        return;
    call->usage.known = true;
    call->usage.input = llm__number(usage, "prompt_tokens");
    call->usage.output = llm__number(usage, "completion_tokens");
    call->usage.cached =
        fmax(llm__number(in, "cached_tokens"), llm__number(usage, "prompt_cache_hit_tokens"));
    call->usage.cached = fmin(call->usage.cached, call->usage.input);
    call->usage.reasoned = llm__number(out, "reasoning_tokens");
}

/* A delta of a stream or the message of a whole reply. */
static void
take_message(struct llm_call *call, json_t *message)
{
    json_t *refusal = json_object_get(message, "refusal");
    llm__append(&call->text, json_object_get(message, "content"));
    llm__append(&call->reasoning, json_object_get(message, "reasoning_content"));
    if (json_object_get(message, "reasoning_content") == NULL)
        llm__append(&call->reasoning, json_object_get(message, "reasoning"));
    if (json_is_string(refusal) && json_string_length(refusal) > 0) {
        llm__append(&call->text, refusal);
        call->finish = LLM_FINISH_FILTER;
    }
}

static void
take_choice(struct llm_call *call, json_t *choice)
{
    json_t *reason = json_object_get(choice, "finish_reason");
    take_message(call, json_object_get(choice, "delta"));
    take_message(call, json_object_get(choice, "message"));
    if (!json_is_string(reason))
        return;
    call->whole = true;
    if (call->finish != LLM_FINISH_FILTER)
        call->finish = llm__finish_of(json_string_value(reason));
}

static void
event(struct llm_call *call, const char *name, json_t *data)
{
    json_t *choices = json_object_get(data, "choices");
    const char *served = llm__string(data, "model"), *id = llm__string(data, "id");
    (void)name;
    call->spoke |= json_is_array(choices);
    if (*served && *call->served == '\0')
        call->served = arena_strdup(call->arena, served);
    if (*id && *call->request_id == '\0')
        call->request_id = arena_strdup(call->arena, id);
    if (json_array_size(choices) > 0)
        take_choice(call, json_array_get(choices, 0));
    if (json_is_object(json_object_get(data, "usage")))
        take_usage(call, json_object_get(data, "usage"));
}

static void
whole(struct llm_call *call, json_t *body)
{
    event(call, "", body);
    if (json_array_size(json_object_get(body, "choices")) == 0)
        llm__fault(call, LLM_JUNK, "%s: a reply without choices", call->model->text);
    call->whole = true;
}

const struct wire llm__chat = {
    .path = "/chat/completions", .build = build, .event = event, .whole = whole};
