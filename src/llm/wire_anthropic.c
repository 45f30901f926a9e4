/* Anthropic's messages. */
#include "llm/llm_int.h"

#include <math.h>
#include <string.h>

static json_t *
messages_of(const struct llm_request *request)
{
    json_t *messages = json_array();
    for (size_t i = 0; i < request->message_count; i++)
        json_array_append_new(
            messages, json_pack("{s:s, s:s}", "role",
                                request->messages[i].role == LLM_USER ? "user" : "assistant",
                                "content", request->messages[i].text));
    return messages;
}

/* How hard to think, and the form of the reply. */
static void
add_output_config(struct llm_call *call, json_t *body)
{
    json_t *config = json_object(), *schema = llm__schema(call);
    const char *effort = call->request.effort;
    if (effort != NULL && llm__may_send(call, QUIRK_NO_EFFORT)) {
        json_object_set_new(config, "effort", json_string(effort));
        json_object_set_new(body, "thinking", json_pack("{s:s}", "type", "adaptive"));
    }
    if (schema != NULL)
        json_object_set_new(config, "format",
                            json_pack("{s:s, s:o}", "type", "json_schema", "schema", schema));
    if (json_object_size(config) > 0)
        json_object_set(body, "output_config", config);
    json_decref(config);
}

static json_t *
build(struct llm_call *call)
{
    const struct llm_request *request = &call->request;
    json_t *body = json_object();
    json_object_set_new(body, "model", json_string(call->model->name));
    json_object_set_new(body, "max_tokens", json_integer(request->max_tokens));
    if (request->system != NULL)
        json_object_set_new(body, "system", json_string(request->system));
    json_object_set_new(body, "messages", messages_of(request));
    json_object_set_new(body, "stream", json_true());
    if (!isnan(request->temperature) && llm__may_send(call, QUIRK_NO_TEMPERATURE))
        json_object_set_new(body, "temperature", json_real(request->temperature));
    if (request->cache && llm__may_send(call, QUIRK_NO_CACHE))
        json_object_set_new(body, "cache_control", json_pack("{s:s}", "type", "ephemeral"));
    add_output_config(call, body);
    return body;
}

/* ---- replies ---- */

/* Counts are cumulative, and a later event may leave out what an earlier one said. The input of
 * this wire leaves out what was cached; ours has it in it. */
static void
take_usage(struct llm_call *call, json_t *usage)
{
    struct usage *known = &call->usage;
    double fresh = known->input - known->cached - known->written;
    if (!json_is_object(usage))
        return;
    known->known = true;
    if (json_is_number(json_object_get(usage, "input_tokens")))
        fresh = llm__number(usage, "input_tokens");
    if (json_is_number(json_object_get(usage, "cache_read_input_tokens")))
        known->cached = llm__number(usage, "cache_read_input_tokens");
    if (json_is_number(json_object_get(usage, "cache_creation_input_tokens")))
        known->written = llm__number(usage, "cache_creation_input_tokens");
    if (json_is_number(json_object_get(usage, "output_tokens")))
        known->output = llm__number(usage, "output_tokens");
    known->input = fresh + known->cached + known->written;
    known->reasoned =
        fmax(known->reasoned,
             llm__number(json_object_get(usage, "output_tokens_details"), "thinking_tokens"));
}

static void
take_reason(struct llm_call *call, json_t *holder)
{
    json_t *reason = json_object_get(holder, "stop_reason");
    if (!json_is_string(reason))
        return;
    call->finish = llm__finish_of(json_string_value(reason));
    call->whole = true;
}

static void
take_start(struct llm_call *call, json_t *message)
{
    call->spoke = true;
    call->served = arena_strdup(call->arena, llm__string(message, "model"));
    if (*call->request_id == '\0')
        call->request_id = arena_strdup(call->arena, llm__string(message, "id"));
    take_usage(call, json_object_get(message, "usage"));
}

/* A block, or what is added to one. */
static void
take_block(struct llm_call *call, json_t *block)
{
    llm__append(&call->text, json_object_get(block, "text"));
    llm__append(&call->reasoning, json_object_get(block, "thinking"));
}

static void
event(struct llm_call *call, const char *name, json_t *data)
{
    const char *type = llm__string(data, "type");
    if (*type == '\0')
        type = name;
    if (!strcmp(type, "message_start")) {
        take_start(call, json_object_get(data, "message"));
    } else if (!strcmp(type, "content_block_start")) {
        take_block(call, json_object_get(data, "content_block"));
    } else if (!strcmp(type, "content_block_delta")) {
        take_block(call, json_object_get(data, "delta"));
    } else if (!strcmp(type, "message_delta")) {
        take_reason(call, json_object_get(data, "delta"));
        take_usage(call, json_object_get(data, "usage"));
    } else if (!strcmp(type, "message_stop")) {
        call->whole = true;
    } /* `ping`, and what may be added to the wire */
}

static void
whole(struct llm_call *call, json_t *body)
{
    json_t *content = json_object_get(body, "content");
    if (!json_is_array(content))
        llm__fault(call, LLM_JUNK, "%s: a reply without content", call->model->text);
    take_start(call, body);
    for (size_t i = 0; i < json_array_size(content); i++)
        take_block(call, json_array_get(content, i));
    take_reason(call, body);
    call->whole = true;
}

const struct wire llm__anthropic = {
    .path = "/v1/messages", .build = build, .event = event, .whole = whole};
