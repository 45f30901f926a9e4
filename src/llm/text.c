/* Texts that come in and go out: cleaned, cut apart, without keys. */
#include "llm/llm_int.h"

#include <string.h>

#define MASK "[key]"

enum {
    SHORTEST_KEY = 8,    /* shorter ones are words for servers that ask for some key, not secrets */
    SHORTEST_PIECE = 12, /* of a key, that is cut out where the whole is not there */
};

double
llm_tokens_of(size_t bytes)
{
    return (double)bytes / 3.5;
}

/* ---- cleaning ---- */

/* Some servers leave the reasoning in the answer; some of their templates write the opening tag
 * into the prompt, so that only the closing one is seen. */
void
llm__split_thoughts(struct llm_call *call)
{
    static const char opening[] = "<think>", closing[] = "</think>";
    char *text = call->text.data + strspn(call->text.data, " \t\r\n");
    char *end = strstr(text, closing), *begin = strstr(text, opening);
    if (call->model->wire != LLM_CHAT || (begin != text && (begin != NULL || end == NULL)))
        return;
    if (begin == text)
        text += strlen(opening);
    if (end == NULL)
        end = call->text.data + call->text.length; /* cut while it thought */
    buf_add(&call->reasoning, text, (size_t)(end - text));
    if (*end != '\0')
        end += strlen(closing);
    end += strspn(end, " \t\r\n");
    size_t rest = call->text.length - (size_t)(end - call->text.data);
    memmove(call->text.data, end, rest + 1);
    call->text.length = rest;
}

/* ---- keys ---- */

void
llm__add_key(struct llm *llm, const char *key)
{
    if (strlen(key) < SHORTEST_KEY)
        return;
    for (size_t i = 0; i < llm->key_count; i++)
        if (!strcmp(llm->keys[i], key))
            return;
    llm->keys =
        arena_grow(llm->arena, llm->keys, llm->key_count, llm->key_count + 1, sizeof *llm->keys);
    llm->keys[llm->key_count++] = key;
}

/* How much of a key stands here: all of it, or so much of its beginning that it is no accident. */
static size_t
key_at(const char *text, const char *key)
{
    size_t same = 0, length = strlen(key);
    while (same < length && text[same] == key[same])
        same++;
    return same == length || same >= SHORTEST_PIECE ? same : 0;
}

void
llm__redact(const struct llm *llm, char *text)
{
    char *to = text;
    while (*text) {
        size_t longest = 0;
        for (size_t i = 0; i < llm->key_count; i++) {
            size_t length = key_at(text, llm->keys[i]);
            longest = length > longest ? length : longest;
        }
        if (longest == 0) {
            *to++ = *text++;
            continue;
        }
        memcpy(to, MASK, sizeof MASK - 1);
        to += sizeof MASK - 1;
        text += longest;
    }
    *to = '\0';
}

char *
llm_redact(const struct llm *llm, struct arena *arena, const char *text)
{
    char *copy = arena_strdup(arena, text);
    llm__redact(llm, copy);
    return copy;
}

void
llm__wrong_at(struct diags *diags, const char *path, uint32_t line, const char *message)
{
    diags_add(diags, DIAG_ERROR, (struct place){0}, "%s:%u: %s", path, line, message);
}

/* ---- prompts as one text ---- */

void
llm__put_prompt(struct buf *buf, const struct llm_request *request)
{
    if (request->system != NULL)
        buf_printf(buf, "%s\n\n", request->system);
    for (size_t i = 0; i < request->message_count; i++) {
        if (request->message_count > 1)
            buf_printf(buf, "--- %s\n\n",
                       request->messages[i].role == LLM_USER ? "question" : "your earlier answer");
        buf_printf(buf, "%s\n\n", request->messages[i].text);
    }
    if (request->schema != NULL)
        buf_printf(buf, "--- Answer with JSON that fits this schema:\n\n%s\n", request->schema);
}

/* Of what is asked, so that the same question is known again whoever answers it: not of the model.
 */
void
llm_request_hash(struct arena *arena, const struct llm_request *request, char hash[HASH_TEXT])
{
    struct buf buf = buf_in(arena);
    buf_printf(&buf, "%s\n%u %g\n", request->label, request->max_tokens, request->temperature);
    const char *parts[] = {request->effort, request->schema, request->grammar, request->system};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        buf_printf(&buf, "%zu:%s\n", parts[i] ? strlen(parts[i]) : 0, parts[i] ? parts[i] : "");
    for (size_t i = 0; i < request->message_count; i++)
        buf_printf(&buf, "%d %zu:%s\n", (int)request->messages[i].role,
                   strlen(request->messages[i].text), request->messages[i].text);
    for (size_t i = 0; i < request->text_count; i++)
        buf_printf(&buf, "%zu:%s\n", strlen(request->texts[i]), request->texts[i]);
    hash_sha256(buf.data, buf.length, hash);
}

void
llm__hash_request(struct llm_call *call)
{
    llm_request_hash(call->arena, &call->request, call->result.record.request_hash);
}
