/* OpenAI's responses. Nothing is kept at the server: every call says all it has to say. */
#include "llm/llm_int.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

static json_t *
input_of(const struct llm_request *request)
{
    json_t *input = json_array();
    for (size_t i = 0; i < request->message_count; i++)
        json_array_append_new(
            input, json_pack("{s:s, s:s}", "role",
                             request->messages[i].role == LLM_USER ? "user" : "assistant",
                             "content", request->messages[i].text));
    return input;
}

static json_t *
build(struct llm_call *call)
{
    const struct llm_request *request = &call->request;
    json_t *body = json_object(), *schema = llm__schema(call);
    json_object_set_new(body, "model", json_string(call->model->name));
    if (request->system != NULL)
        json_object_set_new(body, "instructions", json_string(request->system));
    json_object_set_new(body, "input", input_of(request));
    json_object_set_new(body, "stream", json_true());
    json_object_set_new(body, "store", json_false());
    json_object_set_new(body, "max_output_tokens", json_integer(request->max_tokens));
    if (!isnan(request->temperature) && llm__may_send(call, QUIRK_NO_TEMPERATURE))
        json_object_set_new(body, "temperature", json_real(request->temperature));
    if (request->effort != NULL && llm__may_send(call, QUIRK_NO_EFFORT))
        json_object_set_new(body, "reasoning", json_pack("{s:s}", "effort", request->effort));
    if (schema != NULL)
        json_object_set_new(body, "text",
                            json_pack("{s:{s:s, s:s, s:o, s:b}}", "format", "type", "json_schema",
                                      "name", llm__schema_name(call), "schema", schema, "strict",
                                      1));
    return body;
}

/* ---- replies ---- */

static void
take_usage(struct llm_call *call, json_t *usage)
{
    if (!json_is_number(json_object_get(usage, "output_tokens")))
        return;
    call->usage.known = true;
    call->usage.input = llm__number(usage, "input_tokens");
    call->usage.output = llm__number(usage, "output_tokens");
    call->usage.cached =
        fmin(llm__number(json_object_get(usage, "input_tokens_details"), "cached_tokens"),
             call->usage.input);
    call->usage.reasoned =
        llm__number(json_object_get(usage, "output_tokens_details"), "reasoning_tokens");
}

static void
take_parts(struct buf *buf, json_t *parts)
{
    for (size_t i = 0; i < json_array_size(parts); i++) {
        json_t *part = json_array_get(parts, i);
        llm__append(buf, json_object_get(part, "text"));
        llm__append(buf, json_object_get(part, "refusal"));
    }
}

static void
take_output(struct llm_call *call, json_t *output)
{
    for (size_t i = 0; i < json_array_size(output); i++) {
        json_t *item = json_array_get(output, i);
        const char *type = llm__string(item, "type");
        if (!strcmp(type, "message"))
            take_parts(&call->text, json_object_get(item, "content"));
        else if (!strcmp(type, "reasoning")) {
            take_parts(&call->reasoning, json_object_get(item, "summary"));
            take_parts(&call->reasoning, json_object_get(item, "content"));
        } else if (!strcmp(type, "function_call"))
            call->finish = LLM_FINISH_TOOL;
    }
}

/* The state of a response: names, counts, and whether it came to its end. */
static void
take_response(struct llm_call *call, json_t *response)
{
    const char *status = llm__string(response, "status");
    json_t *details = json_object_get(response, "incomplete_details");
    call->spoke = true;
    call->served = arena_strdup(call->arena, llm__string(response, "model"));
    call->request_id = arena_strdup(call->arena, llm__string(response, "id"));
    take_usage(call, json_object_get(response, "usage"));
    if (!strcmp(status, "failed") || !strcmp(status, "cancelled")) {
        llm__take_error(call, 0, response);
    } else if (!strcmp(status, "completed") || !strcmp(status, "incomplete")) {
        call->whole = true;
        call->finish =
            !strcmp(status, "incomplete")
                ? llm__finish_of(*llm__string(details, "reason") ? llm__string(details, "reason")
                                                                 : "length")
            : call->finish == LLM_FINISH_ERROR ? LLM_FINISH_STOP
                                               : call->finish;
    }
}

static void
event(struct llm_call *call, const char *name, json_t *data)
{
    const char *type = llm__string(data, "type");
    json_t *delta = json_object_get(data, "delta"), *item = json_object_get(data, "item");
    if (*type == '\0')
        type = name;
    if (!strcmp(type, "response.output_text.delta")) {
        llm__append(&call->text, delta);
    } else if (!strcmp(type, "response.refusal.delta")) {
        llm__append(&call->text, delta);
        call->finish = LLM_FINISH_FILTER;
    } else if (!strcmp(type, "response.reasoning_text.delta") ||
               !strcmp(type, "response.reasoning_summary_text.delta")) {
        llm__append(&call->reasoning, delta);
    } else if (!strcmp(type, "response.output_item.added") &&
               !strcmp(llm__string(item, "type"), "function_call")) {
        call->finish = LLM_FINISH_TOOL;
    } else if (!strcmp(type, "error")) {
        llm__take_error(call, 0, data);
    } else if (text_starts(type, "response.") &&
               json_is_object(json_object_get(data, "response"))) {
        json_t *response = json_object_get(data, "response");
        take_response(call, response);
        if (call->whole && call->text.length == 0) /* a server that sends no deltas */
            take_output(call, json_object_get(response, "output"));
    }
}

static void
whole(struct llm_call *call, json_t *body)
{
    if (!json_is_array(json_object_get(body, "output")))
        llm__fault(call, LLM_JUNK, "%s: a reply without output", call->model->text);
    take_output(call, json_object_get(body, "output"));
    take_response(call, body);
}

const struct wire llm__responses = {
    .path = "/responses", .build = build, .event = event, .whole = whole};
