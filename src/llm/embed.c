/* Vectors of texts: POST /embeddings, as OpenAI has it and llama.cpp, vLLM and Ollama offer it. A
 * call as others are: it waits for its turn, is repeated, counted and paid like them. */
#include "llm/llm_int.h"

#include <math.h>
#include <string.h>

/* ---- the wire ---- */

static json_t *
build(struct llm_call *call)
{
    json_t *input = json_array();
    for (size_t i = 0; i < call->request.text_count; i++)
        json_array_append_new(input, json_string(call->request.texts[i]));
    return json_pack("{s:s, s:o}", "model", call->model->name, "input", input);
}

/* So that a product of two is their cosine. False: it has no direction. */
static bool
bring_to_length_1(float *vector, size_t size)
{
    double sum = 0;
    for (size_t i = 0; i < size; i++)
        sum += (double)vector[i] * vector[i];
    if (!(sum > 0) || !isfinite(sum))
        return false;
    for (size_t i = 0; i < size; i++)
        vector[i] = (float)(vector[i] / sqrt(sum));
    return true;
}

/* One entry of the list; false: it is no vector like those before it. */
static bool
take_vector(struct llm_call *call, json_t *entry, size_t place)
{
    json_t *numbers = json_object_get(entry, "embedding"), *index = json_object_get(entry, "index");
    size_t size = json_array_size(numbers), count = call->request.text_count;
    if (json_is_integer(index))
        place = (size_t)json_integer_value(index);
    if (call->vectors == NULL && size > 0) {
        call->vector_size = size;
        call->vectors = arena_array(call->arena, count * size, sizeof *call->vectors);
    }
    if (size == 0 || size != call->vector_size || place >= count)
        return false;
    float *vector = call->vectors + place * size;
    for (size_t i = 0; i < size; i++)
        vector[i] = (float)json_number_value(json_array_get(numbers, i));
    return bring_to_length_1(vector, size);
}

static bool
is_complete(const struct llm_call *call)
{
    for (size_t i = 0; i < call->request.text_count; i++) {
        const float *vector = call->vectors + i * call->vector_size;
        size_t zeros = 0;
        while (zeros < call->vector_size && vector[zeros] == 0)
            zeros++;
        if (zeros == call->vector_size)
            return false; /* an index came twice, and this one never */
    }
    return true;
}

static void
whole(struct llm_call *call, json_t *body)
{
    json_t *list = json_object_get(body, "data"), *usage = json_object_get(body, "usage"), *entry;
    const char *served = llm__string(body, "model");
    bool good = json_array_size(list) == call->request.text_count;
    size_t i;
    call->vectors = NULL;
    json_array_foreach(list, i, entry) good = good && take_vector(call, entry, i);
    call->spoke = true;
    call->served = *served ? arena_strdup(call->arena, served) : "";
    call->usage.known = json_is_number(json_object_get(usage, "prompt_tokens"));
    call->usage.input = llm__number(usage, "prompt_tokens");
    if (!good || !is_complete(call))
        llm__fault(call, LLM_JUNK, "%s: a reply without %zu vectors", call->model->text,
                   call->request.text_count);
    call->whole = true;
}

/* Nobody streams them. */
static void
event(struct llm_call *call, const char *name, json_t *data)
{
    (void)name, (void)data;
    call->junk++;
}

const struct wire llm__embeddings = {
    .path = "/embeddings", .build = build, .event = event, .whole = whole};

bool
llm_can_embed(const struct llm_model *model)
{
    return model->wire == LLM_CHAT || model->wire == LLM_RESPONSES;
}

/* ---- asking ---- */

static struct llm_request
request_of(struct arena *arena, const char *const *texts, size_t count)
{
    const char **cut = arena_array(arena, count + 1, sizeof *cut);
    for (size_t i = 0; i < count; i++)
        cut[i] = arena_strndup(arena, texts[i], strnlen(texts[i], LLM_EMBED_BYTES));
    return (struct llm_request){
        .texts = cut, .text_count = count, .temperature = NAN, .label = "embeddings"};
}

void
llm_embed_hash(struct arena *arena, const char *const *texts, size_t count, char hash[HASH_TEXT])
{
    const struct llm_request request = request_of(arena, texts, count);
    llm_request_hash(arena, &request, hash);
}

/* What is to outlive the call. */
static void
keep(struct arena *arena, const struct llm_call *call, struct llm_vectors *vectors)
{
    size_t count = call->request.text_count * call->vector_size;
    vectors->record = call->result.record;
    vectors->record.served = arena_strdup(arena, vectors->record.served);
    vectors->record.request_id = arena_strdup(arena, vectors->record.request_id);
    vectors->message = arena_strdup(arena, call->result.message);
    if (vectors->record.outcome != LLM_OK)
        return;
    float *values = arena_array(arena, count, sizeof *values);
    memcpy(values, call->vectors, count * sizeof *values);
    vectors->values = values;
    vectors->size = call->vector_size;
}

enum llm_outcome
llm_embed(struct llm *llm, const struct llm_model *model, struct arena *arena,
          const char *const *texts, size_t count, struct llm_vectors *vectors)
{
    struct llm_request request = request_of(arena, texts, count);
    struct diags *diags = diags_create(arena, 1);
    struct llm_call *call;
    *vectors = (struct llm_vectors){.record = {.outcome = LLM_BAD_REQUEST, .cost = 0}};
    vectors->record.served = vectors->record.request_id = "";
    request.model = model;
    if (llm_submit(llm, &request, &call, diags) != STATUS_OK) {
        vectors->message = diags_count(diags) ? diags_get(diags, 0)->message : "no memory";
        return LLM_BAD_REQUEST;
    }
    while (call->state != CALL_DONE)
        llm__step(llm, 1); /* calls of others may end meanwhile; they are theirs to fetch */
    keep(arena, call, vectors);
    llm__free_done(call);
    return vectors->record.outcome;
}
