/* A server for the tests of llm: server LOG [SOCKET]
 *
 * Listens on a free port of the loopback (and prints it), or on a socket of that name (and prints
 * 0), until its standard input ends.
 * The first part of a path is the play: what goes wrong, if anything; the rest says which wire.
 * Every request is checked strictly against what the vendors publish, before any play: what they
 * would refuse is refused here, and written to LOG as a line that begins with "wrong". Other lines:
 * "ok PLAY WIRE NOW-OPEN HEADERS BODY".
 *
 *   http://127.0.0.1:PORT/PLAY/v1      openai, responses, embeddings
 *   http://127.0.0.1:PORT/PLAY         anthropic
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define LARGEST_REQUEST (8u << 20)

enum wire { CHAT, RESPONSES, ANTHROPIC, EMBEDDINGS, OTHER };

static const char *const wire_name[] = {"chat", "responses", "anthropic", "embeddings", "other"};

struct exchange {
    int fd;
    char *head, *body; /* of the request */
    char method[16], path[512], play[64];
    enum wire wire;
    json_t *request;
    bool chunked; /* a stream is being sent */
};

static int log_fd = -1;
static atomic_int now_open;

/* ---- small things ---- */

static void
sleep_ms(long ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

static bool
send_all(int fd, const char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t sent = send(fd, bytes, count, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        bytes += sent;
        count -= (size_t)sent;
    }
    return true;
}

static bool __attribute__((format(printf, 2, 3))) say(int fd, const char *format, ...)
{
    va_list args;
    char *text;
    va_start(args, format);
    int length = vasprintf(&text, format, args);
    va_end(args);
    bool sent = length >= 0 && send_all(fd, text, (size_t)length);
    free(length >= 0 ? text : NULL);
    return sent;
}

static void __attribute__((format(printf, 1, 2))) note(const char *format, ...)
{
    va_list args;
    char *text;
    va_start(args, format);
    int length = vasprintf(&text, format, args);
    va_end(args);
    if (length < 0)
        return;
    for (char *at = text; *at; at++)
        if (*at == '\n' || *at == '\r')
            *at = ' ';
    text[length] = '\n'; /* in place of the zero: one write, so that lines stay whole */
    if (write(log_fd, text, (size_t)length + 1) < 0)
        perror("log");
    free(text);
}

/* The value of a header of the request, or NULL. */
static bool
header(const struct exchange *exchange, const char *name, char value[512])
{
    size_t length = strlen(name);
    for (const char *line = exchange->head; line != NULL; line = strstr(line, "\r\n")) {
        line += line == exchange->head ? 0 : 2;
        if (!strncasecmp(line, name, length) && line[length] == ':') {
            const char *from = line + length + 1;
            from += strspn(from, " ");
            snprintf(value, 512, "%.*s", (int)strcspn(from, "\r\n"), from);
            return true;
        }
    }
    return false;
}

/* ---- whole replies ---- */

static void
reply(struct exchange *exchange, int status, const char *headers, const char *type,
      const char *body)
{
    say(exchange->fd,
        "HTTP/1.1 %d X\r\nContent-Type: %s\r\nContent-Length: %zu\r\nConnection: close\r\n%s\r\n%s",
        status, type, strlen(body), headers, body);
}

/* An error in the words of the vendor of this wire. */
static void
refuse(struct exchange *exchange, int status, const char *headers, const char *type,
       const char *code, const char *message)
{
    json_t *error = exchange->wire == ANTHROPIC
                        ? json_pack("{s:s, s:{s:s, s:s}, s:s}", "type", "error", "error", "type",
                                    type, "message", message, "request_id", "req_test")
                        : json_pack("{s:{s:s, s:s, s:n, s:s}}", "error", "message", message, "type",
                                    type, "param", "code", code);
    char *text = json_dumps(error, JSON_COMPACT);
    reply(exchange, status, headers, "application/json", text);
    free(text);
    json_decref(error);
}

/* ---- streams, as each vendor sends them ---- */

static void
begin_stream(struct exchange *exchange, const char *headers)
{
    exchange->chunked = true;
    say(exchange->fd,
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n"
        "Connection: close\r\nx-request-id: req_test\r\n%s\r\n",
        headers);
}

static bool
send_chunk(struct exchange *exchange, const char *bytes, size_t count)
{
    return say(exchange->fd, "%zx\r\n", count) && send_all(exchange->fd, bytes, count) &&
           say(exchange->fd, "\r\n");
}

static bool __attribute__((format(printf, 2, 3)))
stream(struct exchange *exchange, const char *format, ...)
{
    va_list args;
    char *text;
    va_start(args, format);
    int length = vasprintf(&text, format, args);
    va_end(args);
    bool sent = length >= 0 && send_chunk(exchange, text, (size_t)length);
    free(length >= 0 ? text : NULL);
    return sent;
}

static void
end_stream(struct exchange *exchange)
{
    say(exchange->fd, "0\r\n\r\n");
}

/* A text as a JSON string. */
static char *
quoted(const char *text)
{
    json_t *value = json_string(text);
    char *result = json_dumps(value, JSON_ENCODE_ANY);
    json_decref(value);
    return result;
}

#define MODEL "test-model-1"

static void
stream_start(struct exchange *exchange)
{
    if (exchange->wire == CHAT)
        stream(exchange, "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\","
                         "\"created\":1,\"model\":\"" MODEL "\",\"choices\":[{\"index\":0,"
                         "\"delta\":{\"role\":\"assistant\",\"content\":\"\"},"
                         "\"finish_reason\":null}]}\n\n");
    else if (exchange->wire == RESPONSES)
        stream(exchange,
               "event: response.created\ndata: {\"type\":\"response.created\","
               "\"sequence_number\":0,\"response\":{\"id\":\"resp_1\",\"object\":\"response\","
               "\"status\":\"in_progress\",\"model\":\"" MODEL "\",\"output\":[],\"usage\":null,"
               "\"error\":null}}\n\n");
    else
        stream(exchange,
               "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":"
               "\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"" MODEL "\","
               "\"content\":[],\"stop_reason\":null,\"usage\":{\"input_tokens\":40,"
               "\"cache_read_input_tokens\":50,\"cache_creation_input_tokens\":10,"
               "\"output_tokens\":1}}}\n\nevent: ping\ndata: {\"type\":\"ping\"}\n\n");
}

static bool
stream_words(struct exchange *exchange, const char *words, bool reasoning)
{
    char *text = quoted(words);
    bool sent;
    if (exchange->wire == CHAT)
        sent = stream(exchange,
                      "data: {\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,"
                      "\"delta\":{\"%s\":%s},\"finish_reason\":null}]}\n\n",
                      reasoning ? "reasoning_content" : "content", text);
    else if (exchange->wire == RESPONSES)
        sent = stream(exchange,
                      "event: response.%s.delta\ndata: {\"type\":\"response.%s.delta\","
                      "\"item_id\":\"m\",\"output_index\":0,\"content_index\":0,\"delta\":%s,"
                      "\"sequence_number\":1}\n\n",
                      reasoning ? "reasoning_text" : "output_text",
                      reasoning ? "reasoning_text" : "output_text", text);
    else
        sent = stream(exchange,
                      "event: content_block_delta\ndata: {\"type\":\"content_block_delta\","
                      "\"index\":0,\"delta\":{\"type\":\"%s\",\"%s\":%s}}\n\n",
                      reasoning ? "thinking_delta" : "text_delta", reasoning ? "thinking" : "text",
                      text);
    free(text);
    return sent;
}

static void
stream_end(struct exchange *exchange, const char *reason)
{
    bool cut = !strcmp(reason, "length");
    if (exchange->wire == CHAT)
        stream(exchange,
               "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"%s\"}]}\n\n"
               "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":20,"
               "\"total_tokens\":120,\"prompt_tokens_details\":{\"cached_tokens\":50},"
               "\"completion_tokens_details\":{\"reasoning_tokens\":5}}}\n\ndata: [DONE]\n\n",
               reason);
    else if (exchange->wire == RESPONSES)
        stream(exchange,
               "event: response.%s\ndata: {\"type\":\"response.%s\",\"sequence_number\":9,"
               "\"response\":{\"id\":\"resp_1\",\"object\":\"response\",\"status\":\"%s\","
               "\"model\":\"" MODEL "\",\"error\":null,\"incomplete_details\":%s,\"output\":[],"
               "\"usage\":{\"input_tokens\":100,\"input_tokens_details\":{\"cached_tokens\":50},"
               "\"output_tokens\":20,\"output_tokens_details\":{\"reasoning_tokens\":5},"
               "\"total_tokens\":120}}}\n\n",
               cut ? "incomplete" : "completed", cut ? "incomplete" : "completed",
               cut ? "incomplete" : "completed",
               cut ? "{\"reason\":\"max_output_tokens\"}" : "null");
    else
        stream(exchange,
               "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":"
               "\"%s\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":20,"
               "\"output_tokens_details\":{\"thinking_tokens\":5}}}\n\n"
               "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
               cut ? "max_tokens" : "end_turn");
    end_stream(exchange);
}

static void
stream_reply(struct exchange *exchange, const char *text)
{
    begin_stream(exchange, "");
    stream_start(exchange);
    for (size_t i = 0, length = strlen(text); i < length; i += 7) {
        char piece[8];
        snprintf(piece, sizeof piece, "%.7s", text + i);
        stream_words(exchange, piece, false);
    }
    stream_end(exchange, "stop");
}

/* ---- requests, strictly ---- */

/* One field: where it may stand, its type, and what else must hold. */
struct field {
    const char *name;
    json_type type; /* JSON_TRUE: a boolean; JSON_REAL: any number; JSON_NULL: checked elsewhere */
    bool needed;
    double low, high;  /* of numbers */
    const char *words; /* of strings: "|a|b|", NULL: any that is not empty */
};

static const struct field stream_options[] = {{"include_usage", JSON_TRUE, false, 0, 0, NULL},
                                              {"include_obfuscation", JSON_TRUE, false, 0, 0, NULL},
                                              {0}};
static const struct field json_schema[] = {{"name", JSON_STRING, true, 0, 0, NULL},
                                           {"schema", JSON_OBJECT, true, 0, 0, NULL},
                                           {"strict", JSON_TRUE, false, 0, 0, NULL},
                                           {"description", JSON_STRING, false, 0, 0, NULL},
                                           {0}};
static const struct field response_format[] = {
    {"type", JSON_STRING, true, 0, 0, "|text|json_object|json_schema|"},
    {"json_schema", JSON_OBJECT, false, 0, 0, NULL},
    {"schema", JSON_OBJECT, false, 0, 0, NULL}, /* llama.cpp's, with json_object */
    {0}};
static const struct field text_format[] = {
    {"type", JSON_STRING, true, 0, 0, "|text|json_object|json_schema|"},
    {"name", JSON_STRING, true, 0, 0, NULL},
    {"schema", JSON_OBJECT, true, 0, 0, NULL},
    {"strict", JSON_TRUE, false, 0, 0, NULL},
    {0}};
static const struct field text_field[] = {
    {"format", JSON_OBJECT, false, 0, 0, NULL}, {"verbosity", JSON_STRING, false, 0, 0, NULL}, {0}};
static const struct field reasoning_field[] = {
    {"effort", JSON_STRING, false, 0, 0, "|none|minimal|low|medium|high|xhigh|"},
    {"summary", JSON_STRING, false, 0, 0, NULL},
    {0}};
static const struct field thinking_field[] = {
    {"type", JSON_STRING, true, 0, 0, "|enabled|adaptive|disabled|between_tools|"},
    {"budget_tokens", JSON_INTEGER, false, 1024, 1e9, NULL},
    {0}};
static const struct field cache_control[] = {{"type", JSON_STRING, true, 0, 0, "|ephemeral|"},
                                             {"ttl", JSON_STRING, false, 0, 0, "|5m|1h|"},
                                             {0}};
static const struct field output_config[] = {
    {"effort", JSON_STRING, false, 0, 0, "|low|medium|high|xhigh|max|"},
    {"format", JSON_OBJECT, false, 0, 0, NULL},
    {0}};
static const struct field output_format[] = {{"type", JSON_STRING, true, 0, 0, "|json_schema|"},
                                             {"schema", JSON_OBJECT, true, 0, 0, NULL},
                                             {0}};

static const struct field chat_fields[] = {
    {"model", JSON_STRING, true, 0, 0, NULL},
    {"messages", JSON_ARRAY, true, 0, 0, NULL},
    {"stream", JSON_TRUE, false, 0, 0, NULL},
    {"stream_options", JSON_OBJECT, false, 0, 0, NULL},
    {"max_tokens", JSON_INTEGER, false, 1, 1e9, NULL},
    {"max_completion_tokens", JSON_INTEGER, false, 1, 1e9, NULL},
    {"temperature", JSON_REAL, false, 0, 2, NULL},
    {"reasoning_effort", JSON_STRING, false, 0, 0, "|none|minimal|low|medium|high|xhigh|"},
    {"response_format", JSON_OBJECT, false, 0, 0, NULL},
    {0}};
static const struct field responses_fields[] = {
    {"model", JSON_STRING, true, 0, 0, NULL},
    {"input", JSON_ARRAY, true, 0, 0, NULL},
    {"instructions", JSON_STRING, false, 0, 0, NULL},
    {"stream", JSON_TRUE, false, 0, 0, NULL},
    {"store", JSON_TRUE, false, 0, 0, NULL},
    {"max_output_tokens", JSON_INTEGER, false, 16, 1e9, NULL},
    {"temperature", JSON_REAL, false, 0, 2, NULL},
    {"reasoning", JSON_OBJECT, false, 0, 0, NULL},
    {"text", JSON_OBJECT, false, 0, 0, NULL},
    {0}};
static const struct field anthropic_fields[] = {{"model", JSON_STRING, true, 0, 0, NULL},
                                                {"max_tokens", JSON_INTEGER, true, 1, 1e9, NULL},
                                                {"messages", JSON_ARRAY, true, 0, 0, NULL},
                                                {"system", JSON_STRING, false, 0, 0, NULL},
                                                {"stream", JSON_TRUE, false, 0, 0, NULL},
                                                {"temperature", JSON_REAL, false, 0, 1, NULL},
                                                {"thinking", JSON_OBJECT, false, 0, 0, NULL},
                                                {"output_config", JSON_OBJECT, false, 0, 0, NULL},
                                                {"cache_control", JSON_OBJECT, false, 0, 0, NULL},
                                                {0}};
static const struct field embeddings_fields[] = {
    {"model", JSON_STRING, true, 0, 0, NULL},
    {"input", JSON_ARRAY, true, 0, 0, NULL},
    {"encoding_format", JSON_STRING, false, 0, 0, "|float|base64|"},
    {"dimensions", JSON_INTEGER, false, 1, 1e5, NULL},
    {0}};
static const struct field message_fields[] = {
    {"role", JSON_STRING, true, 0, 0, "|system|user|assistant|"},
    {"content", JSON_STRING, true, 0, 0, NULL},
    {0}};
static const struct field turn_fields[] = {{"role", JSON_STRING, true, 0, 0, "|user|assistant|"},
                                           {"content", JSON_STRING, true, 0, 0, NULL},
                                           {0}};

static bool
has_type(json_t *value, json_type type)
{
    return type == JSON_TRUE   ? json_is_boolean(value)
           : type == JSON_REAL ? json_is_number(value)
                               : json_typeof(value) == type;
}

/* What is wrong with an object, or NULL. The text lives until the next call of this thread. */
static const char *
check(json_t *object, const struct field *fields, const char *where)
{
    static _Thread_local char wrong[256];
    const char *key;
    json_t *value;
    if (!json_is_object(object)) {
        snprintf(wrong, sizeof wrong, "%s: not an object", where);
        return wrong;
    }
    json_object_foreach(object, key, value)
    {
        const struct field *field = fields;
        while (field->name != NULL && strcmp(field->name, key) != 0)
            field++;
        const char *word = json_string_value(value);
        char between[128];
        snprintf(between, sizeof between, "|%s|", word ? word : "");
        if (field->name == NULL)
            snprintf(wrong, sizeof wrong, "%s: %s: Extra inputs are not permitted", where, key);
        else if (!has_type(value, field->type))
            snprintf(wrong, sizeof wrong, "%s: %s has the wrong type", where, key);
        else if (json_is_number(value) &&
                 (json_number_value(value) < field->low || json_number_value(value) > field->high))
            snprintf(wrong, sizeof wrong, "%s: %s is out of range", where, key);
        else if (word != NULL &&
                 (*word == '\0' || (field->words && !strstr(field->words, between))))
            snprintf(wrong, sizeof wrong, "%s: %s is %s", where, key, word);
        else
            continue;
        return wrong;
    }
    for (; fields->name != NULL; fields++)
        if (fields->needed && json_object_get(object, fields->name) == NULL) {
            snprintf(wrong, sizeof wrong, "%s: %s is missing", where, fields->name);
            return wrong;
        }
    return NULL;
}

static const char *
check_optional(json_t *holder, const char *name, const struct field *fields)
{
    json_t *value = json_object_get(holder, name);
    return value != NULL ? check(value, fields, name) : NULL;
}

static const char *
check_list(json_t *list, const struct field *fields)
{
    size_t i;
    json_t *entry;
    const char *wrong = json_array_size(list) > 0 ? NULL : "no messages";
    json_array_foreach(list, i, entry)
    {
        const char *role = json_string_value(json_object_get(entry, "role"));
        if (wrong == NULL)
            wrong = check(entry, fields, "messages");
        if (wrong == NULL && !strcmp(role, "system") && i > 0)
            wrong = "messages: system is not the first";
    }
    return wrong;
}

#define FIRST(wrong, next) ((wrong) != NULL ? (wrong) : (next))

static const char *
check_chat(json_t *body)
{
    json_t *format = json_object_get(body, "response_format");
    const char *wrong = check(body, chat_fields, "body");
    wrong = FIRST(wrong, check_list(json_object_get(body, "messages"), message_fields));
    wrong = FIRST(wrong, check_optional(body, "stream_options", stream_options));
    wrong = FIRST(wrong, check_optional(body, "response_format", response_format));
    wrong = FIRST(wrong, check_optional(format, "json_schema", json_schema));
    if (wrong == NULL && json_object_get(body, "max_tokens") &&
        json_object_get(body, "max_completion_tokens"))
        wrong = "body: max_tokens and max_completion_tokens";
    if (wrong == NULL && json_object_get(body, "stream_options") &&
        !json_is_true(json_object_get(body, "stream")))
        wrong = "body: stream_options without stream";
    return wrong;
}

static const char *
check_responses(json_t *body)
{
    const char *wrong = check(body, responses_fields, "body");
    wrong = FIRST(wrong, check_list(json_object_get(body, "input"), turn_fields));
    wrong = FIRST(wrong, check_optional(body, "reasoning", reasoning_field));
    wrong = FIRST(wrong, check_optional(body, "text", text_field));
    return FIRST(wrong, check_optional(json_object_get(body, "text"), "format", text_format));
}

static const char *
check_anthropic(const struct exchange *exchange, json_t *body)
{
    char value[512];
    const char *wrong = check(body, anthropic_fields, "body");
    json_t *first = json_array_get(json_object_get(body, "messages"), 0);
    if (!header(exchange, "anthropic-version", value) ||
        (strcmp(value, "2023-06-01") != 0 && strcmp(value, "2026-10-21") != 0))
        wrong = FIRST(wrong, "anthropic-version: header is required");
    wrong = FIRST(wrong, check_list(json_object_get(body, "messages"), turn_fields));
    wrong = FIRST(wrong, check_optional(body, "thinking", thinking_field));
    wrong = FIRST(wrong, check_optional(body, "cache_control", cache_control));
    wrong = FIRST(wrong, check_optional(body, "output_config", output_config));
    wrong = FIRST(wrong,
                  check_optional(json_object_get(body, "output_config"), "format", output_format));
    if (wrong == NULL && strcmp(json_string_value(json_object_get(first, "role")), "user") != 0)
        wrong = "messages: first message must use the user role";
    return wrong;
}

static const char *
check_embeddings(json_t *body)
{
    json_t *input = json_object_get(body, "input"), *entry;
    const char *wrong = check(body, embeddings_fields, "body");
    size_t i, count = json_array_size(input);
    if (count == 0 || count > 2048)
        wrong = FIRST(wrong, "input: from 1 to 2048 texts");
    json_array_foreach(input, i, entry)
    {
        if (!json_is_string(entry) || json_string_length(entry) == 0)
            wrong = FIRST(wrong, "input: not a text, or an empty one");
        else if (json_string_length(entry) > 512 * 4)
            wrong = FIRST(wrong, "input: more than 512 tokens");
    }
    return wrong;
}

static const char *
check_request(const struct exchange *exchange)
{
    char type[512];
    if (strcmp(exchange->method, "POST") != 0)
        return "not a POST";
    if (!header(exchange, "content-type", type) || strncmp(type, "application/json", 16) != 0)
        return "content-type is not application/json";
    if (exchange->request == NULL)
        return "the body is no JSON";
    return exchange->wire == CHAT         ? check_chat(exchange->request)
           : exchange->wire == RESPONSES  ? check_responses(exchange->request)
           : exchange->wire == EMBEDDINGS ? check_embeddings(exchange->request)
                                          : check_anthropic(exchange, exchange->request);
}

/* ---- plays ---- */

#define HELLO "Here it is:\n```c\nint x = 1;\n```\nDone.\n"

/* How often a play was asked for before. */
static int
times_before(const char *play)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct {
        char play[64];
        int count;
    } table[64];
    int before = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < 64; i++) {
        if (table[i].play[0] == '\0')
            snprintf(table[i].play, sizeof table[i].play, "%s", play);
        if (!strcmp(table[i].play, play)) {
            before = table[i].count++;
            break;
        }
    }
    pthread_mutex_unlock(&lock);
    return before;
}

/* A space of three meanings: what a text is about, whatever its words. */
static json_t *
vector_of(const char *text)
{
    static const char *const meanings[][3] = {{"matmul", "gemm", "contraction"},
                                              {"softmax", "exp", "sum of"},
                                              {"copy", "stream", "transpose"}};
    json_t *vector = json_array();
    for (size_t i = 0; i < 3; i++) {
        double weight = 0.125;
        for (size_t k = 0; k < 3; k++)
            weight += strstr(text, meanings[i][k]) != NULL;
        json_array_append_new(vector, json_real(weight));
    }
    return vector;
}

/* The last comes first, as the index allows; "few": one of them is not there. */
static void
send_vectors(struct exchange *exchange)
{
    json_t *input = json_object_get(exchange->request, "input"), *list = json_array();
    size_t count = json_array_size(input);
    for (size_t i = count; i-- > (strcmp(exchange->play, "few") ? 0 : 1);)
        json_array_append_new(
            list, json_pack("{s:s, s:I, s:o}", "object", "embedding", "index", (json_int_t)i,
                            "embedding", vector_of(json_string_value(json_array_get(input, i)))));
    json_t *body = json_pack("{s:s, s:s, s:o, s:{s:I, s:I}}", "object", "list", "model", MODEL,
                             "data", list, "usage", "prompt_tokens", (json_int_t)(10 * count),
                             "total_tokens", (json_int_t)(10 * count));
    char *text = json_dumps(body, JSON_COMPACT);
    reply(exchange, 200, "", "application/json", text);
    free(text);
    json_decref(body);
}

static void
play_ok(struct exchange *exchange)
{
    if (exchange->wire == EMBEDDINGS)
        send_vectors(exchange);
    else
        stream_reply(exchange, HELLO);
}

/* A kernel for an input and an output, with a cost for judges that go by words. */
static void
play_kernel(struct exchange *exchange)
{
    stream_reply(exchange,
                 "```c\nenum { cost = 5 };\n"
                 "void kernel(const float *restrict X, float *restrict Y)\n"
                 "{\n    for (long i = 0; i < R * N; i++)\n        Y[i] = X[i];\n}\n```\n");
}

static void
play_whole(struct exchange *exchange)
{
    static const char *const bodies[] = {
        "{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion\",\"model\":\"" MODEL "\",\"choices\":"
        "[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"whole\",\"refusal\":null,"
        "\"reasoning\":\"thought\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":7,"
        "\"completion_tokens\":3}}",
        "{\"id\":\"resp_1\",\"object\":\"response\",\"status\":\"completed\",\"model\":\"" MODEL
        "\",\"error\":null,\"output\":[{\"type\":\"reasoning\",\"summary\":[{\"type\":"
        "\"summary_text\",\"text\":\"thought\"}]},{\"type\":\"message\",\"role\":\"assistant\","
        "\"content\":[{\"type\":\"output_text\",\"text\":\"whole\",\"annotations\":[]}]}],"
        "\"usage\":{\"input_tokens\":7,\"output_tokens\":3}}",
        "{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"" MODEL
        "\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"thought\",\"signature\":\"s\"},"
        "{\"type\":\"text\",\"text\":\"whole\"}],\"stop_reason\":\"end_turn\",\"usage\":"
        "{\"input_tokens\":7,\"output_tokens\":3}}"};
    reply(exchange, 200, "", "application/json",
          bodies[exchange->wire == EMBEDDINGS ? CHAT : exchange->wire]);
}

static void
play_reasons(struct exchange *exchange)
{
    begin_stream(exchange, "");
    stream_start(exchange);
    stream_words(exchange, "let me ", true);
    stream_words(exchange, "think", true);
    stream_words(exchange, "the answer", false);
    stream_end(exchange, "length");
}

static void
play_think_tags(struct exchange *exchange)
{
    stream_reply(exchange, "<think>\nhidden\n</think>\n\nshown");
}

/* Every form that has been met: comments, CRLF, no blank, several lines, nulls, nothing at the end.
 */
static void
play_odd(struct exchange *exchange)
{
    begin_stream(exchange, "");
    stream(exchange, "\xef\xbb\xbf: keepalive\r\n\r\n: OPENROUTER PROCESSING\r\n");
    stream(exchange, "event: ping\r\ndata: {}\r\n\r\nid: 7\r\nretry: 10\r\n");
    stream(exchange, "data:{\"id\":null,\"model\":null,\"choices\":[]}\r\n\r\n");
    stream(exchange, "data:{\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":null}}]}"
                     "\r\n\r\n");
    stream(exchange, "data: {\"choices\":[{\"delta\":\r\ndata: {\"content\":\"od\"}}]}\r\n\r\n");
    stream(exchange, "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}],"
                     "\"usage\":null}\n\n");
    stream(exchange, "data: {\"choices\":[{\"delta\":{\"content\":\"d\"},\"finish_reason\":null}],"
                     "\"unknown\":{\"a\":[1]}}\n\ndata: not json\n\n");
    stream(exchange, "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"eos\"}],\"usage\":"
                     "{\"prompt_tokens\":null,\"completion_tokens\":2}}");
    end_stream(exchange);
}

static void
play_no_done(struct exchange *exchange)
{
    begin_stream(exchange, "");
    stream(exchange, "data: {\"choices\":[{\"delta\":{\"content\":\"short\"},"
                     "\"finish_reason\":\"stop\"}]}\n\n");
    end_stream(exchange);
}

/* {"choices":[{"delta":{"content":"unpacked"},...}]} and [DONE], by gzip. */
static void
play_gzip(struct exchange *exchange)
{
    static const unsigned char bytes[] = {
        0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x1d, 0xcc, 0x41, 0x0a, 0x80,
        0x20, 0x10, 0x46, 0xe1, 0xbd, 0xa7, 0x88, 0x7f, 0xdd, 0x09, 0x5c, 0xd7, 0xb6, 0x0e, 0x10,
        0x12, 0x83, 0x4e, 0x24, 0xc5, 0x28, 0x39, 0xad, 0xc4, 0xbb, 0x27, 0x6d, 0xdf, 0x07, 0x2f,
        0x90, 0x92, 0x1d, 0x2a, 0xfc, 0x99, 0xa2, 0xe7, 0x02, 0xbb, 0x55, 0x04, 0xbe, 0x95, 0x60,
        0x7b, 0x4c, 0xa2, 0x2c, 0x0a, 0x8b, 0x57, 0x32, 0xf9, 0x8b, 0x03, 0xda, 0x88, 0x23, 0x4a,
        0x2c, 0xe7, 0xfe, 0x30, 0x95, 0x24, 0xdd, 0x8a, 0xa6, 0x8c, 0xe6, 0x9a, 0x31, 0xe1, 0x9f,
        0x6d, 0xd3, 0xba, 0xcc, 0xce, 0x98, 0x0f, 0xac, 0x67, 0x7d, 0xe2, 0x5b, 0x00, 0x00, 0x00};
    begin_stream(exchange, "Content-Encoding: gzip\r\n");
    send_chunk(exchange, (const char *)bytes, sizeof bytes);
    end_stream(exchange);
}

static void
play_400(struct exchange *exchange)
{
    refuse(exchange, 400, "", "invalid_request_error", "bad", "the moon is in the wrong phase");
}

static void
play_429(struct exchange *exchange)
{
    refuse(exchange, 429, "", "rate_limit_error", "rate_limit_exceeded", "slow down");
}

static void
play_429_then_ok(struct exchange *exchange)
{
    if (times_before(exchange->play) < 2)
        refuse(exchange, 429, "retry-after-ms: 30\r\nretry-after: 100\r\n", "rate_limit_error",
               "rate_limit_exceeded", "slow down");
    else
        play_ok(exchange);
}

static void
play_429_long(struct exchange *exchange)
{
    refuse(exchange, 429, "retry-after: 86400\r\n", "rate_limit_error", "rate_limit_exceeded",
           "come back tomorrow");
}

static void
play_money(struct exchange *exchange)
{
    refuse(exchange, 429, "retry-after-ms: 1\r\nx-should-retry: true\r\n",
           exchange->wire == ANTHROPIC ? "billing_error" : "insufficient_quota",
           "insufficient_quota", "You exceeded your current quota");
}

static void
play_500(struct exchange *exchange)
{
    refuse(exchange, 500, "", "api_error", "server_error", "the server has a headache");
}

static void
play_500_then_ok(struct exchange *exchange)
{
    if (times_before(exchange->play) < 1)
        refuse(exchange, 529, "", "overloaded_error", "overloaded", "Overloaded");
    else
        play_ok(exchange);
}

static void
play_no_retry(struct exchange *exchange)
{
    refuse(exchange, 500, "x-should-retry: false\r\n", "api_error", "server_error", "no use");
}

static void
play_html(struct exchange *exchange)
{
    reply(exchange, 502, "", "text/html", "<html><h1>502 Bad Gateway</h1>\x1b[2J</html>");
}

static void
play_html_200(struct exchange *exchange)
{
    reply(exchange, 200, "", "text/html", "<html>Please log in to the hotel's network</html>");
}

static void
play_redirect(struct exchange *exchange)
{
    reply(exchange, 302, "Location: http://127.0.0.1:1/elsewhere\r\n", "text/plain", "");
}

static void
play_cut(struct exchange *exchange)
{
    begin_stream(exchange, "");
    stream_start(exchange);
    stream_words(exchange, "half of a", false);
}

/* A server that dropped the call for a newer one. */
static void
play_dropped(struct exchange *exchange)
{
    begin_stream(exchange, "");
    stream_start(exchange);
    stream_words(exchange, "half of a", false);
    stream(exchange, "data: [DONE]\n\n");
    end_stream(exchange);
}

static void
play_cut_then_ok(struct exchange *exchange)
{
    if (times_before(exchange->play) < 1)
        play_cut(exchange);
    else
        play_ok(exchange);
}

static void
play_stall(struct exchange *exchange)
{
    struct pollfd gone = {.fd = exchange->fd, .events = POLLRDHUP};
    play_cut(exchange);
    poll(&gone, 1, 60000);
}

static void
play_drip(struct exchange *exchange)
{
    begin_stream(exchange, "");
    stream_start(exchange);
    while (stream(exchange, ": still here\n\n"))
        sleep_ms(10);
}

static void
play_junk(struct exchange *exchange)
{
    char bytes[4096];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * 2654435761u >> 13);
    bytes[0] = 'x';
    begin_stream(exchange, "");
    send_chunk(exchange, bytes, sizeof bytes);
    end_stream(exchange);
}

static void
play_junk_events(struct exchange *exchange)
{
    begin_stream(exchange, "");
    stream(exchange, "data: {\"choices\":[{\n\ndata: ]\n\ndata: \xff\xfe\n\n");
    end_stream(exchange);
}

static void
play_big(struct exchange *exchange)
{
    char words[8192];
    memset(words, 'x', sizeof words - 1);
    words[sizeof words - 1] = '\0';
    begin_stream(exchange, "");
    stream_start(exchange);
    for (size_t sent = 0; sent < 50u << 20; sent += sizeof words)
        if (!stream_words(exchange, words, false))
            return;
    stream_end(exchange, "stop");
}

static void
play_long_line(struct exchange *exchange)
{
    char bytes[65536];
    memset(bytes, 'y', sizeof bytes);
    begin_stream(exchange, "");
    stream(exchange, "data: ");
    for (size_t sent = 0; sent < 50u << 20; sent += sizeof bytes)
        if (!send_chunk(exchange, bytes, sizeof bytes))
            return;
}

static void
play_empty(struct exchange *exchange)
{
    reply(exchange, 200, "", "text/event-stream", "");
}

static void
play_no_model(struct exchange *exchange)
{
    refuse(exchange, 404, "",
           exchange->wire == ANTHROPIC ? "not_found_error" : "invalid_request_error",
           "model_not_found", "The model does not exist");
}

static void
play_too_long(struct exchange *exchange)
{
    refuse(exchange, 400, "", "invalid_request_error", "context_length_exceeded",
           "This model's maximum context length is 4096 tokens");
}

static void
play_error_inside(struct exchange *exchange)
{
    begin_stream(exchange, "");
    stream_start(exchange);
    stream_words(exchange, "half", false);
    stream(exchange, exchange->wire == ANTHROPIC
                         ? "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":"
                           "\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n"
                     : exchange->wire == CHAT
                         ? "{\"error\":\"model runner has unexpectedly stopped\"}\n"
                         : "event: error\ndata: {\"type\":\"error\",\"code\":\"server_error\","
                           "\"message\":\"gone\",\"param\":null}\n\n");
    end_stream(exchange);
}

static void
play_limit(struct exchange *exchange)
{
    begin_stream(exchange,
                 "x-ratelimit-remaining-requests: 0\r\nx-ratelimit-reset-requests: 300ms\r\n");
    stream_start(exchange);
    stream_words(exchange, "paced", false);
    stream_end(exchange, "stop");
}

static void
play_slow(struct exchange *exchange)
{
    begin_stream(exchange, "");
    stream_start(exchange);
    for (int i = 0; i < 20; i++) {
        if (!stream_words(exchange, "word ", false))
            return;
        sleep_ms(50);
    }
    stream_end(exchange, "stop");
}

/* Refuses one field, as the vendors put it; then takes the request. */
static bool
refuses(struct exchange *exchange, const char *field, const char *message)
{
    if (json_object_get(exchange->request, field) == NULL)
        return false;
    refuse(exchange, 400, "", "invalid_request_error", "unsupported_parameter", message);
    return true;
}

static void
play_quirks(struct exchange *exchange)
{
    if (!refuses(exchange, "max_tokens",
                 "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
                 "'max_completion_tokens' instead.") &&
        !refuses(exchange, "temperature", "body.temperature: Extra inputs are not permitted") &&
        !refuses(exchange, "stream_options", "unknown field \"stream_options\"") &&
        !refuses(exchange, "response_format",
                 "'response_format' of type 'json_schema' is not "
                 "supported") &&
        !refuses(exchange, "reasoning_effort", "reasoning_effort is not supported"))
        play_ok(exchange);
}

/* As llama-cpp-python puts it: 500, and the place in its own program. */
static void
play_quirk_500(struct exchange *exchange)
{
    json_t *format = json_object_get(exchange->request, "response_format");
    const char *type = json_string_value(json_object_get(format, "type"));
    if (type != NULL && !strcmp(type, "json_schema"))
        refuse(exchange, 500, "", "internal_server_error", "",
               "1 validation error:\n  {'loc': ('body', 'response_format', 'type'), 'msg': \"Input "
               "should be 'text' or 'json_object'\"}\n\n  File \"app.py\", line 376");
    else
        play_ok(exchange);
}

/* The cap cannot be sent under its only other name either. */
static void
play_stubborn(struct exchange *exchange)
{
    refuse(exchange, 400, "", "invalid_request_error", "x",
           "max_tokens and max_completion_tokens are both forbidden, and so is temperature");
}

/* The key of the request, or "". */
static void
key_of(struct exchange *exchange, char key[512])
{
    char value[512] = "";
    key[0] = '\0';
    if (header(exchange, "x-api-key", value))
        snprintf(key, 512, "%s", value);
    else if (header(exchange, "authorization", value) && !strncmp(value, "Bearer ", 7))
        snprintf(key, 512, "%s", value + 7);
}

static void
play_key(struct exchange *exchange)
{
    char key[512];
    key_of(exchange, key);
    if (!strcmp(key, "sk-test-0123456789abcdef"))
        play_ok(exchange);
    else
        refuse(exchange, 401, "", "authentication_error", "invalid_api_key", "Incorrect API key");
}

/* A server that tells the key to whoever listens. */
static void
play_leak(struct exchange *exchange)
{
    char key[512], text[2048];
    key_of(exchange, key);
    snprintf(text, sizeof text, "your key is %s, or %.14s... for short", key, key);
    if (times_before(exchange->play) % 2 == 0) {
        refuse(exchange, 400, "", "invalid_request_error", key, text);
        return;
    }
    begin_stream(exchange, "");
    stream_start(exchange);
    stream_words(exchange, text, true);
    stream_words(exchange, text, false);
    stream_end(exchange, "stop");
}

static void
play_401(struct exchange *exchange)
{
    char key[512], text[1024];
    key_of(exchange, key);
    snprintf(text, sizeof text, "Incorrect API key provided: %s", key);
    refuse(exchange, 401, "", "authentication_error", "invalid_api_key", text);
}

static void
play_401_then_kernel(struct exchange *exchange)
{
    if (times_before(exchange->play) < 1)
        play_401(exchange);
    else
        play_kernel(exchange);
}

/* Answers the three questions of the probe; how well, says the play. */
static void
play_probe(struct exchange *exchange)
{
    bool edits = !strcmp(exchange->play, "probe"), writes = strcmp(exchange->play, "probe-small");
    if (strstr(exchange->body, "float total(") != NULL)
        stream_reply(exchange,
                     writes ? "```c\nfloat total(const float *x, int n)\n{\n    return 0;\n}\n"
                              "```\n"
                            : "I cannot do that.");
    else if (strstr(exchange->body, "SEARCH") != NULL)
        stream_reply(exchange, edits
                                   ? "<<<<<<< SEARCH\n    float s = 1;\n=======\n    float s = 0;\n"
                                     ">>>>>>> REPLACE\n"
                                   : "Change the 1 to a 0.");
    else
        stream_reply(exchange, "{\"pick\": 3, \"reason\": \"lanes\"}");
}

static const struct play {
    const char *name;
    void (*run)(struct exchange *exchange);
} plays[] = {
    {"ok", play_ok},
    {"few", play_ok},
    {"kernel", play_kernel},
    {"llama", play_ok},
    {"whole", play_whole},
    {"reasons", play_reasons},
    {"think-tags", play_think_tags},
    {"odd", play_odd},
    {"no-done", play_no_done},
    {"gzip", play_gzip},
    {"400", play_400},
    {"401", play_401},
    {"401-then-kernel", play_401_then_kernel},
    {"429", play_429},
    {"429-then-ok", play_429_then_ok},
    {"429-long", play_429_long},
    {"money", play_money},
    {"500", play_500},
    {"500-then-ok", play_500_then_ok},
    {"no-retry", play_no_retry},
    {"html", play_html},
    {"html-200", play_html_200},
    {"redirect", play_redirect},
    {"cut", play_cut},
    {"dropped", play_dropped},
    {"cut-then-ok", play_cut_then_ok},
    {"stall", play_stall},
    {"drip", play_drip},
    {"junk", play_junk},
    {"junk-events", play_junk_events},
    {"big", play_big},
    {"long-line", play_long_line},
    {"empty", play_empty},
    {"no-model", play_no_model},
    {"too-long", play_too_long},
    {"error-inside", play_error_inside},
    {"limit", play_limit},
    {"slow", play_slow},
    {"quirks", play_quirks},
    {"quirk-500", play_quirk_500},
    {"stubborn", play_stubborn},
    {"key", play_key},
    {"leak", play_leak},
    {"probe", play_probe},
    {"probe-whole", play_probe},
    {"probe-small", play_probe},
};

/* ---- lists and properties ---- */

static bool
answer_get(struct exchange *exchange)
{
    bool llama = !strcmp(exchange->play, "llama");
    if (strcmp(exchange->method, "GET") != 0)
        return false;
    if (!strcmp(exchange->play, "401"))
        refuse(exchange, 401, "", "authentication_error", "invalid_api_key", "no");
    else if (strstr(exchange->path, "/v1/models") != NULL)
        reply(exchange, 200, "", "application/json",
              llama ? "{\"object\":\"list\",\"data\":[{\"id\":\"qwen.gguf\",\"owned_by\":"
                      "\"llamacpp\"}]}"
                    : "{\"object\":\"list\",\"data\":[{\"id\":\"test-model\",\"owned_by\":\"vllm\","
                      "\"max_model_len\":32768},{\"id\":\"other\"}]}");
    else if (strstr(exchange->path, "/props") != NULL && llama)
        reply(exchange, 200, "", "application/json",
              "{\"default_generation_settings\":{\"n_ctx\":8192},\"total_slots\":1}");
    else
        reply(exchange, 404, "", "application/json", "{\"error\":{\"message\":\"not found\"}}");
    return true;
}

/* What Ollama says of a model beside the wire. */
static bool
answer_show(struct exchange *exchange)
{
    if (strstr(exchange->path, "/api/show") == NULL)
        return false;
    if (strcmp(exchange->play, "ollama") != 0)
        reply(exchange, 404, "", "application/json", "{\"error\":\"model not found\"}");
    else
        reply(exchange, 200, "", "application/json",
              "{\"parameters\":\"stop x\\nnum_ctx                        16384\"}");
    return true;
}

/* ---- connections ---- */

/* Reads head and body; false: they are not there. */
static bool
read_request(struct exchange *exchange)
{
    char *text = malloc(LARGEST_REQUEST + 1), value[512];
    size_t length = 0, body = 0;
    exchange->head = text;
    while (length < LARGEST_REQUEST) {
        ssize_t got = recv(exchange->fd, text + length, LARGEST_REQUEST - length, 0);
        if (got <= 0)
            return false;
        length += (size_t)got;
        text[length] = '\0';
        char *end = strstr(text, "\r\n\r\n");
        if (end == NULL)
            continue;
        exchange->body = end + 4;
        body = header(exchange, "content-length", value) ? strtoul(value, NULL, 10) : 0;
        if ((size_t)(text + length - exchange->body) >= body) {
            *(end + 2) = '\0';
            return sscanf(text, "%15s %511s", exchange->method, exchange->path) == 2;
        }
    }
    return false;
}

static void
take_apart(struct exchange *exchange)
{
    const char *path = exchange->path;
    sscanf(path, "/%63[^/]", exchange->play);
    path += 1 + strlen(exchange->play);
    exchange->wire = !strcmp(path, "/v1/chat/completions") ? CHAT
                     : !strcmp(path, "/v1/responses")      ? RESPONSES
                     : !strcmp(path, "/v1/messages")       ? ANTHROPIC
                     : !strcmp(path, "/v1/embeddings")     ? EMBEDDINGS
                                                           : OTHER;
    exchange->request = json_loads(exchange->body, 0, NULL);
}

static void
answer(struct exchange *exchange)
{
    const char *wrong;
    if (answer_get(exchange) || answer_show(exchange))
        return;
    if (exchange->wire == OTHER) {
        note("wrong %s: no such path", exchange->path);
        reply(exchange, 404, "", "application/json", "{\"error\":\"no such path\"}");
        return;
    }
    wrong = check_request(exchange);
    note("%s %s %s %d %s", wrong ? wrong : "ok", exchange->play, wire_name[exchange->wire],
         atomic_load(&now_open), exchange->body);
    if (wrong != NULL) {
        note("wrong %s: %s", exchange->path, wrong);
        refuse(exchange, 400, "", "invalid_request_error", "invalid", wrong);
        return;
    }
    for (size_t i = 0; i < sizeof plays / sizeof *plays; i++)
        if (!strcmp(plays[i].name, exchange->play)) {
            plays[i].run(exchange);
            return;
        }
    note("wrong %s: no such play", exchange->path);
    reply(exchange, 404, "", "application/json", "{\"error\":\"no such play\"}");
}

static void *
serve(void *argument)
{
    struct exchange exchange = {.fd = (int)(intptr_t)argument};
    atomic_fetch_add(&now_open, 1);
    if (read_request(&exchange)) {
        take_apart(&exchange);
        answer(&exchange);
    }
    shutdown(exchange.fd, SHUT_WR);
    close(exchange.fd);
    json_decref(exchange.request);
    free(exchange.head);
    atomic_fetch_sub(&now_open, 1);
    return NULL;
}

/* The port; 0: a socket of that name; negative: neither. */
static int
listen_at(const char *name, int *listener)
{
    struct sockaddr_in inet = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    socklen_t size = sizeof inet;
    *listener = socket(name ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (name != NULL) {
        snprintf(local.sun_path, sizeof local.sun_path, "%s", name);
        return bind(*listener, (struct sockaddr *)&local, sizeof local) == 0 &&
                       listen(*listener, 16) == 0
                   ? 0
                   : -1;
    }
    if (bind(*listener, (struct sockaddr *)&inet, size) != 0 || listen(*listener, 1024) != 0 ||
        getsockname(*listener, (struct sockaddr *)&inet, &size) != 0)
        return -1;
    return ntohs(inet.sin_port);
}

/* A thread for each connection, until whoever started it is gone. */
static void
accept_all(int listener)
{
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 512 * 1024);
    pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
    for (;;) {
        struct pollfd polled[2] = {{.fd = listener, .events = POLLIN}, {.fd = 0, .events = POLLIN}};
        pthread_t thread;
        char byte;
        if (poll(polled, 2, -1) < 0)
            continue;
        if (polled[1].revents != 0 && read(0, &byte, 1) <= 0)
            _exit(0);
        int fd = polled[0].revents & POLLIN ? accept(listener, NULL, NULL) : -1;
        if (fd >= 0 && pthread_create(&thread, &small, serve, (void *)(intptr_t)fd) != 0)
            close(fd);
    }
}

int
main(int argc, char **argv)
{
    int listener, port;
    if (argc < 2 || (log_fd = open(argv[1], O_WRONLY | O_CREAT | O_APPEND, 0666)) < 0) {
        fprintf(stderr, "server LOG [SOCKET]\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    port = listen_at(argc > 2 ? argv[2] : NULL, &listener);
    if (port < 0) {
        perror("server");
        return 3;
    }
    printf("%d\n", port);
    fflush(stdout);
    accept_all(listener);
}
