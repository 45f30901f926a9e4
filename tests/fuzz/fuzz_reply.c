/* The bytes of a model's reply: whatever they are, the call is whole or has a fault with words. The
 * first byte chooses the wire, the status and how the bytes are cut. */
#include "llm/llm_int.h"

#include "base/text.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static struct llm_call *
begin(struct llm *llm, struct diags *diags, unsigned wire)
{
    static const char *const models[] = {"openai:m@http://127.0.0.1:1/v1",
                                         "responses:m@http://127.0.0.1:1/v1",
                                         "anthropic:m@http://127.0.0.1:1"};
    const struct llm_message message = {LLM_USER, "x"};
    struct llm_request request = {.messages = &message, .message_count = 1, .temperature = NAN};
    struct llm_call *call;

    if (llm_model_find(llm, models[wire % 3], &request.model, diags) != STATUS_OK ||
        llm_submit(llm, &request, &call, diags) != STATUS_OK)
        abort();
    call->body = buf_in(call->arena);
    call->usage.cost = NAN;
    call->finish = LLM_FINISH_ERROR;
    return call;
}

static void
check(struct llm_call *call)
{
    assert(call->fault != LLM_OK || call->whole);
    assert(call->fault != LLM_OK || call->finish != LLM_FINISH_ERROR);
    assert(call->fault == LLM_OK || strlen(call->message) > 3);
    assert(call->usage.input >= 0 && call->usage.output >= 0);
    assert(call->usage.cached + call->usage.written <= call->usage.input);
    llm__split_thoughts(call);
    call->text.length = text_clean(call->text.data, call->text.length);
    assert(strlen(call->text.data) == call->text.length);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct arena *arena = count > 0 ? arena_create() : NULL;
    struct llm *llm;
    struct llm_options options = {.line_bytes = 4096, .reply_bytes = 65536};

    if (!arena)
        return 0;
    if (llm_open(&options, &llm, diags_create(arena, 1)) != STATUS_OK)
        abort();
    struct llm_call *call = begin(llm, diags_create(arena, 1), bytes[0]);
    size_t piece = 1 + bytes[0] / 6;
    call->http_status = bytes[0] % 6 < 3 ? 200 : 400;
    for (size_t i = 1; i < count; i += piece) {
        /* Exactly so many bytes, so that reading beyond them is noticed. */
        size_t length = piece < count - i ? piece : count - i;
        char *copy = malloc(length);
        memcpy(copy, bytes + i, length);
        llm__receive(call, copy, length);
        free(copy);
    }
    llm__received_all(call);
    check(call);
    llm_close(llm);
    arena_destroy(arena);
    return 0;
}
