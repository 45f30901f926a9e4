/* What the three wires have in common: reading JSON that may lack anything, and what is sent. */
#include "llm/llm_int.h"

#include <string.h>
#include <strings.h>

enum { LONGEST_MESSAGE = 300 };

const struct wire *
llm__wire(const struct llm_call *call)
{
    enum llm_wire wire = call->model->wire;
    return call->request.texts     ? &llm__embeddings
           : wire == LLM_CHAT      ? &llm__chat
           : wire == LLM_RESPONSES ? &llm__responses
                                   : &llm__anthropic;
}

const char *
llm__string(json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text != NULL ? text : "";
}

double
llm__number(json_t *object, const char *name)
{
    double value = json_number_value(json_object_get(object, name));
    return value > 0 && value < 1e15 ? value : 0;
}

void
llm__append(struct buf *buf, json_t *string)
{
    if (json_is_string(string))
        buf_add(buf, json_string_value(string), json_string_length(string));
}

bool
llm__may_send(struct llm_call *call, enum quirk quirk)
{
    if (call->model->quirks & 1u << quirk)
        return false;
    call->sent |= 1u << quirk;
    return true;
}

json_t *
llm__schema(struct llm_call *call)
{
    const char *schema = call->request.schema;
    if (schema == NULL || !llm__may_send(call, QUIRK_NO_SCHEMA))
        return NULL;
    return json_loads(schema, 0, NULL);
}

const char *
llm__schema_name(const struct llm_call *call)
{
    return call->request.schema_name != NULL ? call->request.schema_name : "reply";
}

enum llm_finish
llm__finish_of(const char *word)
{
    static const struct {
        const char *word;
        enum llm_finish finish;
    } words[] = {
        {"length", LLM_FINISH_LENGTH},
        {"max_tokens", LLM_FINISH_LENGTH},
        {"max_output_tokens", LLM_FINISH_LENGTH},
        {"model_context_window_exceeded", LLM_FINISH_LENGTH},
        {"tool_calls", LLM_FINISH_TOOL},
        {"function_call", LLM_FINISH_TOOL},
        {"tool_use", LLM_FINISH_TOOL},
        {"content_filter", LLM_FINISH_FILTER},
        {"refusal", LLM_FINISH_FILTER},
        {"safety", LLM_FINISH_FILTER},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcasecmp(word, words[i].word))
            return words[i].finish;
    return LLM_FINISH_STOP; /* `stop`, `eos`, `end_turn`, and what nobody has thought of yet */
}

/* ---- errors ---- */

/* Of what a server says, one line: some send the place in their own program too. */
static char *
one_line(struct arena *arena, const char *message)
{
    char *line = arena_strndup(arena, message, strnlen(message, LONGEST_MESSAGE));
    for (char *at = line; *at; at++)
        if (*at == '\n' || *at == '\t' || *at == '\r')
            *at = ' ';
    return line;
}

/* {"error": X} or X itself; X is a text or has a message. Codes are numbers or texts. */
void
llm__take_error(struct llm_call *call, int status, json_t *body)
{
    json_t *error = json_object_get(body, "error");
    char number[32] = "";
    if (error == NULL || json_is_null(error))
        error = body;
    json_t *code = json_object_get(error, "code");
    const char *message =
        json_is_string(error) ? json_string_value(error) : llm__string(error, "message");
    const char *type = llm__string(error, "type"), *word = llm__string(error, "code");
    if (json_is_integer(code)) {
        snprintf(number, sizeof number, "%d", (int)json_integer_value(code));
        if (status == 0)
            status = (int)json_integer_value(code);
        word = number;
    }
    if (*message == '\0') /* {"detail": "..."}, as some Python servers have it */
        message = llm__string(body, "detail");
    enum llm_outcome outcome = llm__classify(status, type, word, message);
    const struct provider *provider = call->model->provider;
    char *words = one_line(call->arena, message);
    call->refused = arena_printf(call->arena, "%s %s", llm__string(error, "param"), message);
    if (outcome == LLM_KEY_REFUSED && provider->key_from == NULL)
        llm__fault(call, outcome,
                   "%s: %d, it wants a key; write a [provider] section with key_env: %s",
                   provider->name, status, words);
    else if (outcome == LLM_KEY_REFUSED)
        llm__fault(call, outcome, "%s: %d, the key in %s was refused; nothing was spent",
                   provider->name, status, provider->key_from);
    else if (outcome == LLM_NO_CREDIT)
        llm__fault(call, outcome, "%s: %d %s, the account has no credit", provider->name, status,
                   *word ? word : type);
    else if (outcome == LLM_NO_MODEL)
        llm__fault(call, outcome, "%s: no such model at %s: %s", call->model->text,
                   provider->base_url, words);
    else
        llm__fault(call, outcome, "%s: %d%s%s, %s", provider->name, status, *type ? " " : "", type,
                   *words ? words : llm_outcome_info[outcome].name);
}
