/* Calls over HTTP: one transfer each, all in one multi handle. What arrives is either a stream of
 * events or one JSON text, whatever was asked for; anything else is the words of somebody between
 * us and the server. Redirections are not followed: the key would go with them. */
#include "llm/llm_int.h"

#include "base/clock.h"
#include "base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum {
    CURL_BYTES = 16 * 1024,  /* of each buffer of a transfer: hundreds are open at once */
    ERROR_BYTES = 64 * 1024, /* that are read of a reply that is an error */
    QUOTED = 200,            /* bytes of a foreign text in a message */
};

/* ---- what every request has ---- */

static struct curl_slist *
add_header(struct curl_slist *list, struct arena *arena, const char *name, const char *value)
{
    struct buf buf = buf_in(arena);
    buf_printf(&buf, "%s: %s", name, value);
    struct curl_slist *longer = curl_slist_append(list, buf.data);
    explicit_bzero(buf.data, buf.length); /* it may be the key */
    return longer != NULL ? longer : list;
}

static struct curl_slist *
add_key(struct curl_slist *list, struct arena *arena, const struct provider *provider)
{
    if (provider->key == NULL)
        return list;
    if (provider->wire == LLM_ANTHROPIC && !provider->bearer)
        return add_header(list, arena, "x-api-key", provider->key);
    struct buf value = buf_in(arena);
    buf_printf(&value, "Bearer %s", provider->key);
    list = add_header(list, arena, "Authorization", value.data);
    explicit_bzero(value.data, value.length);
    return list;
}

static struct curl_slist *
add_vendor(struct curl_slist *list, struct arena *arena, const struct provider *provider)
{
    static const char *const pairs[][2] = {{"OPENAI_ORG_ID", "OpenAI-Organization"},
                                           {"OPENAI_PROJECT_ID", "OpenAI-Project"}};
    if (provider->wire == LLM_ANTHROPIC)
        return add_header(list, arena, "anthropic-version", "2023-06-01");
    for (size_t i = 0; i < 2 && provider->vendor; i++) {
        const char *value = getenv(pairs[i][0]);
        if (value != NULL && *value && strpbrk(value, "\r\n") == NULL)
            list = add_header(list, arena, pairs[i][1], value);
    }
    return list;
}

/* Programs that are started meanwhile must not inherit the connection. */
static curl_socket_t
open_socket(void *user, curlsocktype purpose, struct curl_sockaddr *address)
{
    (void)user, (void)purpose;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

struct curl_slist *
llm__http_prepare(const struct llm *llm, struct arena *arena, const struct provider *provider,
                  CURL *easy)
{
    const char *authorities = getenv("SSL_CERT_FILE"); /* the library does not read it itself */
    struct curl_slist *list = curl_slist_append(NULL, "Content-Type: application/json");
    list = add_header(list, arena, "Accept", "application/json, text/event-stream");
    list = add_header(list, arena, "Expect", ""); /* no pause before the prompt */
    list = add_key(list, arena, provider);
    list = add_vendor(list, arena, provider);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, list);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "hone");
    curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, (long)CURL_BYTES);
    curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, (long)CURL_BYTES);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)(1e3 * llm->options.connect_seconds));
    if (provider->free) /* a proxy is for what is far away */
        curl_easy_setopt(easy, CURLOPT_PROXY, "");
    if (provider->socket != NULL)
        curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, provider->socket);
    if (authorities != NULL && *authorities)
        curl_easy_setopt(easy, CURLOPT_CAINFO, authorities);
    return list;
}

/* ---- receiving ---- */

/* The text of an event becomes JSON; what is none is counted, and forgiven if the reply comes to
 * its end all the same. */
static json_t *
parse(const char *text, size_t length)
{
    struct arena *arena = NULL;
    json_t *value = json_loadb(text, length, JSON_ALLOW_NUL | JSON_DECODE_ANY, NULL);
    if (value == NULL && (arena = arena_create()) != NULL) { /* perhaps only a bad byte */
        char *cleaned = arena_strndup(arena, text, length);
        size_t left = text_clean(cleaned, strnlen(cleaned, length));
        value = json_loadb(cleaned, left, JSON_ALLOW_NUL | JSON_DECODE_ANY, NULL);
    }
    arena_destroy(arena);
    return value;
}

static void
take_event(void *user, const char *event, const char *data, size_t length)
{
    struct llm_call *call = user;
    if (call->fault != LLM_OK)
        return;
    /* Says nothing: servers leave it out, or send it when they drop a call for another one. */
    if (length == 6 && !memcmp(data, "[DONE]", 6))
        return;
    json_t *value = parse(data, length);
    if (!json_is_object(value)) {
        call->junk += data[strspn(data, " \t")] != '\0';
    } else {
        json_t *error = json_object_get(value, "error");
        bool failed = !json_is_null(error) && error != NULL;
        if (failed && strcmp(llm__string(value, "object"), "response") != 0)
            llm__take_error(call, 0, value);
        else
            llm__wire(call)->event(call, event, value);
    }
    json_decref(value);
    if (call->first_word == 0 && call->text.length + call->reasoning.length > 0)
        call->first_word = clock_seconds();
}

/* By the first byte: content types are not to be trusted. */
static void
decide_kind(struct llm_call *call)
{
    const char *at = call->body.data + strspn(call->body.data, " \t\r\n\xef\xbb\xbf");
    if (*at == '\0' && call->body.length < QUOTED)
        return;
    bool whole = *at == '{' || *at == '[' || *at == '<';
    call->body_kind = whole ? BODY_WHOLE : BODY_STREAM;
    if (whole)
        return;
    call->sse = sse_create(call->arena, call->llm->options.line_bytes, take_event, call);
    if (!sse_feed(&call->sse, call->body.data, call->body.length))
        llm__fault(call, LLM_TOO_LARGE, "%s: an event of more than %zu bytes", call->model->text,
                   call->llm->options.line_bytes);
}

void
llm__receive(struct llm_call *call, const char *bytes, size_t count)
{
    bool failed = call->http_status >= 300;
    call->received += count;
    if (failed || call->body_kind != BODY_STREAM) {
        if (!failed || call->body.length < ERROR_BYTES)
            buf_add(&call->body, bytes, count);
        if (!failed && call->body_kind == BODY_UNKNOWN)
            decide_kind(call);
    } else if (!sse_feed(&call->sse, bytes, count)) {
        llm__fault(call, LLM_TOO_LARGE, "%s: an event of more than %zu bytes", call->model->text,
                   call->llm->options.line_bytes);
    }
    if (call->received > call->llm->options.reply_bytes)
        llm__fault(call, LLM_TOO_LARGE, "%s: a reply of more than %zu bytes; it was dropped",
                   call->model->text, call->llm->options.reply_bytes);
}

/* Some of a text that was not meant for us. */
static const char *
quoted(struct llm_call *call)
{
    char *text = arena_strndup(call->arena, call->body.data,
                               call->body.length < QUOTED ? call->body.length : QUOTED);
    text_clean(text, strlen(text));
    for (char *at = text; *at; at++)
        if (*at == '\n' || *at == '\t')
            *at = ' ';
    return text;
}

static void
take_whole(struct llm_call *call)
{
    json_t *value = parse(call->body.data, call->body.length);
    if (!json_is_object(value)) {
        llm__fault(call, LLM_JUNK, "%s: no reply but: %s", call->model->text, quoted(call));
    } else {
        json_t *error = json_object_get(value, "error");
        if (error != NULL && !json_is_null(error))
            llm__take_error(call, 0, value);
        else
            llm__wire(call)->whole(call, value);
    }
    json_decref(value);
}

/* What an error's body says: JSON in some shape, or the page of a proxy. */
static void
take_failure(struct llm_call *call)
{
    json_t *value = parse(call->body.data, call->body.length);
    if (value == NULL)
        value = json_string(quoted(call));
    llm__take_error(call, call->http_status, value);
    json_decref(value);
}

void
llm__received_all(struct llm_call *call)
{
    if (call->fault != LLM_OK)
        return;
    if (call->http_status >= 300)
        take_failure(call);
    else if (call->body_kind == BODY_WHOLE)
        take_whole(call);
    else if (call->body_kind == BODY_STREAM)
        sse_end(&call->sse);
    if (call->whole && call->finish == LLM_FINISH_ERROR)
        call->finish = LLM_FINISH_STOP; /* it ended, and nobody said why */
    if (call->fault != LLM_OK || call->whole)
        return;
    size_t words = call->text.length + call->reasoning.length;
    if (call->junk > 0 && words == 0)
        llm__fault(call, LLM_JUNK, "%s: %zu events that are no JSON", call->model->text,
                   call->junk);
    else if (call->received == 0)
        llm__fault(call, LLM_CUT, "%s: an empty reply", call->model->text);
    else if (words == 0 && !call->spoke)
        llm__fault(call, LLM_JUNK, "%s: no reply but: %s", call->model->text, quoted(call));
    else
        llm__fault(call, LLM_CUT, "%s: the reply ends in the middle, after %zu bytes",
                   call->model->text, words);
}

/* ---- the callbacks ---- */

static size_t
on_header(char *line, size_t size, size_t count, void *user)
{
    struct llm_call *call = user;
    long status = 0;
    curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
    call->http_status = (int)status;
    call->last_byte = clock_seconds();
    llm__header(call, line, size * count);
    return size * count;
}

static size_t
on_body(char *bytes, size_t size, size_t count, void *user)
{
    struct llm_call *call = user;
    call->last_byte = clock_seconds();
    llm__receive(call, bytes, size * count);
    /* An error is read to its end, another fault ends the transfer. */
    return call->fault == LLM_OK ? size * count : 0;
}

/* ---- the transport ---- */

static char *
url_of(struct llm_call *call)
{
    const char *base = call->model->provider->base_url;
    return arena_printf(call->arena, "%s%s", base, llm__wire(call)->path);
}

static void
start(struct llm_call *call)
{
    json_t *request = llm__wire(call)->build(call);
    char *body = json_dumps(request, JSON_COMPACT);
    json_decref(request);
    call->body = buf_in(call->arena);
    call->easy = curl_easy_init();
    if (call->easy == NULL || body == NULL) {
        free(body);
        llm__fault(call, LLM_FAILED, "%s: no memory for the request", call->model->text);
        llm__ended(call, LLM_FAILED);
        return;
    }
    call->headers = llm__http_prepare(call->llm, call->arena, call->model->provider, call->easy);
    curl_easy_setopt(call->easy, CURLOPT_URL, url_of(call));
    curl_easy_setopt(call->easy, CURLOPT_POSTFIELDSIZE, (long)strlen(body));
    curl_easy_setopt(call->easy, CURLOPT_COPYPOSTFIELDS, body);
    curl_easy_setopt(call->easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(call->easy, CURLOPT_WRITEDATA, call);
    curl_easy_setopt(call->easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(call->easy, CURLOPT_HEADERDATA, call);
    curl_easy_setopt(call->easy, CURLOPT_PRIVATE, call);
    curl_multi_add_handle(call->llm->multi, call->easy);
    free(body);
}

static void
stop(struct llm_call *call)
{
    if (call->easy != NULL) {
        curl_multi_remove_handle(call->llm->multi, call->easy);
        curl_easy_cleanup(call->easy);
    }
    curl_slist_free_all(call->headers);
    call->easy = NULL;
    call->headers = NULL;
}

const struct transport llm__http = {.start = start, .stop = stop};

/* "refused", "no such host": what a person would say. */
static const char *
why_not(CURLcode code, long system_error)
{
    switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
        return "no such host";
    case CURLE_COULDNT_CONNECT:
        return system_error == ECONNREFUSED ? "refused" : "cannot be connected to";
    case CURLE_OPERATION_TIMEDOUT:
        return "no connection in time";
    case CURLE_PEER_FAILED_VERIFICATION:
        return "its certificate is not trusted";
    default:
        return curl_easy_strerror(code);
    }
}

const char *
llm__unreachable(struct arena *arena, const struct provider *provider, const char *why)
{
    return arena_printf(arena, "%s: no answer from %s (%s)%s", provider->name,
                        provider->socket ? provider->socket : provider->base_url, why,
                        !strcmp(provider->name, "ollama") ? "; start it with `ollama serve`"
                        : provider->free                  ? ". Is llama-server running?"
                                                          : "");
}

static void
tell_unreachable(struct llm_call *call, CURLcode code)
{
    long error = 0;
    curl_easy_getinfo(call->easy, CURLINFO_OS_ERRNO, &error);
    llm__fault(call, LLM_UNREACHABLE, "%s",
               llm__unreachable(call->arena, call->model->provider, why_not(code, error)));
}

void
llm__http_ended(struct llm_call *call, CURLcode code)
{
    bool began = call->http_status > 0;
    if (code == CURLE_OK)
        llm__received_all(call);
    else if (call->fault == LLM_OK && !began)
        tell_unreachable(call, code);
    else if (call->fault == LLM_OK && call->http_status >= 300)
        take_failure(call);
    else if (call->whole) /* all was said: how the connection ends is nobody's business */
        llm__received_all(call);
    else
        llm__fault(call, LLM_CUT, "%s: the reply ends in the middle, after %zu bytes (%s)",
                   call->model->text, call->text.length + call->reasoning.length,
                   curl_easy_strerror(code));
    llm__ended(call, call->fault);
}

/* ---- besides calls ---- */

static size_t
on_any_body(char *bytes, size_t size, size_t count, void *user)
{
    struct buf *buf = user;
    if (buf->length > 4u << 20)
        return 0;
    buf_add(buf, bytes, size * count);
    return size * count;
}

int
llm__http_get(struct llm *llm, const struct provider *provider, const char *url, const char *post,
              struct arena *arena, struct buf *body)
{
    CURL *easy = curl_easy_init();
    long status = 0, error = 0;
    *body = buf_in(arena);
    if (easy == NULL)
        return 0;
    struct curl_slist *headers = llm__http_prepare(llm, arena, provider, easy);
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_any_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, body);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)(1e3 * llm->options.connect_seconds));
    if (post != NULL)
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, post);
    CURLcode code = curl_easy_perform(easy);
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, &error);
    curl_slist_free_all(headers);
    curl_easy_cleanup(easy);
    if (code == CURLE_OK)
        return (int)status;
    *body = buf_in(arena);
    buf_puts(body, why_not(code, error));
    return 0;
}
