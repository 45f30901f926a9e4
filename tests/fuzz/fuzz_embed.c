/* The bytes of a reply that should be two vectors: whatever they are, both are there and of length
 * 1, or the call has a fault with words. The first byte says how they are cut. */
#include "llm/llm_int.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static struct llm_call *
begin(struct llm *llm, struct diags *diags)
{
    static const char *const texts[] = {"one", "two"};
    struct llm_request request = {
        .texts = texts, .text_count = 2, .temperature = NAN, .label = "embeddings"};
    struct llm_call *call;

    if (llm_model_find(llm, "openai:m@http://127.0.0.1:1/v1", &request.model, diags) != STATUS_OK ||
        llm_submit(llm, &request, &call, diags) != STATUS_OK)
        abort();
    call->body = buf_in(call->arena);
    call->finish = LLM_FINISH_ERROR;
    call->http_status = 200;
    return call;
}

static void
check(const struct llm_call *call)
{
    if (call->fault != LLM_OK) {
        assert(strlen(call->message) > 3);
        return;
    }
    assert(call->whole && call->vectors != NULL && call->vector_size > 0);
    for (size_t i = 0; i < 2; i++) {
        double sum = 0;

        for (size_t k = 0; k < call->vector_size; k++)
            sum += pow(call->vectors[i * call->vector_size + k], 2);
        assert(fabs(sum - 1) < 1e-3);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct arena *arena = count > 0 ? arena_create() : NULL;
    struct llm_options options = {.line_bytes = 4096, .reply_bytes = 65536};
    struct llm *llm;

    if (!arena)
        return 0;
    if (llm_open(&options, &llm, diags_create(arena, 1)) != STATUS_OK)
        abort();
    struct llm_call *call = begin(llm, diags_create(arena, 1));
    for (size_t i = 1, piece = 1 + bytes[0]; i < count; i += piece) {
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
