/* What the files of llm share. */
#ifndef HONE_LLM_LLM_INT_H
#define HONE_LLM_LLM_INT_H

#include "llm/llm.h"
#include "llm/sse_int.h"

#include "base/proc.h"
#include "base/rng.h"

#include <curl/curl.h>
#include <jansson.h>

/* A field that servers differ about. A server that refuses it is asked again without it, once, and
 * the model keeps the quirk.
 *    id              kept as           what a refusal calls the field */
#define LLM_QUIRKS(X)                                                                         \
    X(OTHER_CAP, "other_cap", "max_tokens max_completion_tokens max_output_tokens")           \
    X(NO_STREAM_OPTIONS, "no_stream_options", "stream_options include_usage")                 \
    X(NO_TEMPERATURE, "no_temperature", "temperature")                                        \
    X(NO_EFFORT, "no_effort", "reasoning_effort reasoning effort thinking")                   \
    X(NO_GRAMMAR, "no_grammar", "grammar structured_outputs")                                 \
    X(OBJECT_SCHEMA, "object_schema", "response_format json_schema")                          \
    X(NO_SCHEMA, "no_schema", "response_format json_schema text.format output_config format") \
    X(NO_CACHE, "no_cache", "cache_control")                                                  \
    X(NO_SYSTEM, "no_system", "system")

enum quirk {
#define X(id, name, fields) QUIRK_##id,
    LLM_QUIRKS(X)
#undef X
        QUIRK_COUNT
};

struct quirk_info {
    const char *name, *fields;
};

extern const struct quirk_info llm__quirk_info[QUIRK_COUNT];

/* Servers that need to be told apart. */
#define LLM_SERVERS(X)        \
    X(UNKNOWN, "unknown")     \
    X(LLAMA_CPP, "llama.cpp") \
    X(VLLM, "vllm")           \
    X(OLLAMA, "ollama")

enum server {
#define X(id, name) SERVER_##id,
    LLM_SERVERS(X)
#undef X
        SERVER_COUNT
};

extern const char *const llm__server_name[SERVER_COUNT];

/* A base URL with a key: what the calls to it share. */
struct provider {
    struct provider *next;
    const char *name, *base_url;
    const char *given;  /* the address behind @, or NULL */
    const char *socket; /* path of a Unix socket, or NULL */
    enum llm_wire wire;
    const char *key, *key_from; /* NULL: none */
    bool bearer;                /* the key goes into Authorization, also with Anthropic's wire */
    bool vendor;                /* the vendor's own address: its own rules hold */
    bool free;                  /* on this machine: nobody bills */
    double window;              /* as the settings say; 0: they do not */
    struct llm_price price;
    unsigned parallel, active;
    double not_before; /* the server asked for a pause until then */
};

struct llm_model {
    struct llm_model *next;
    const char *text, *name;
    struct provider *provider;
    enum llm_wire wire;
    enum server server;
    double window;
    struct llm_price price;
    bool priced, free;
    unsigned quirks; /* bits by enum quirk */
    enum llm_skill skill;
    double probed, seconds;
    void *answers; /* of scripted and replay: what transport.open made */
};

struct price_row {
    const char *model; /* "anthropic:claude-opus-5" */
    double window;
    struct llm_price price;
};

struct llm {
    struct arena *arena;
    struct llm_options options;
    CURLM *multi;
    struct rng rng;
    struct provider *providers;
    struct llm_model *models;
    struct price_row *prices; /* the user's first */
    size_t price_count;
    struct llm_budget *budget;
    struct llm_call *first, *last; /* not ended, in the order of their beginning */
    struct llm_call *done, *last_done;
    size_t in_flight, done_count;
    const char **keys; /* all that were read */
    size_t key_count;
};

struct usage {
    bool known;
    double input, cached, written, output, reasoned;
    double cost; /* as the answering program says; NAN: it does not */
};

enum call_state { CALL_WAITING, CALL_ACTIVE, CALL_DONE, CALL_FETCHED };

struct llm_call {
    struct llm *llm;
    struct llm_model *model;
    struct arena *arena;
    struct llm_request request;
    struct llm_result result;
    struct llm_call *previous, *next;
    enum call_state state;
    double begun, deadline, not_before, first_word;
    size_t prompt_bytes;
    struct buf shown; /* what llm_progress() gave */

    /* The attempt. */
    unsigned attempt;
    double last_byte;
    struct buf text, reasoning;
    struct usage usage;
    enum llm_finish finish;
    bool whole;             /* the reply came to its end */
    bool spoke;             /* the server began to answer: it may be paid */
    enum llm_outcome fault; /* what was found wrong while receiving; OK: nothing so far */
    const char *message;    /* its words */
    const char *refused;    /* the words of the server, with the field it names */
    const char *served, *request_id;
    int http_status;
    unsigned sent;      /* bits by enum quirk: fields that could be refused */
    double retry_after; /* seconds the server asks for; negative: it does not say */
    int should_retry;   /* x-should-retry: 1 yes, 0 no, -1 not said */
    bool nothing_left;  /* a limit of the server is used up; its reset follows */

    /* What answers. */
    CURL *easy;
    struct curl_slist *headers;
    struct sse sse;
    enum { BODY_UNKNOWN, BODY_STREAM, BODY_WHOLE } body_kind;
    struct buf body;
    size_t received, junk;
    struct proc *proc;
    struct proc_request proc_request;
    unsigned number; /* of a mailbox */
    const char *question, *answer;
    double settled, answer_size;
    struct llm_recorded recorded;
    double answer_at; /* when a script answers */
    float *vectors;   /* of the request's texts */
    size_t vector_size;
};

/* Who answers. */
struct transport {
    /* Reads what the model's name points at, once a model; NULL: nothing to read. */
    enum status (*open)(struct llm *llm, struct llm_model *model, struct diags *diags);
    /* Begins an attempt; what fails is told by llm__ended(). */
    void (*start)(struct llm_call *call);
    /* Looks whether there is news; NULL: somebody calls back. */
    void (*step)(struct llm_call *call);
    /* Lets go of what the attempt holds. */
    void (*stop)(struct llm_call *call);
    /* The caller has recorded the answer; NULL: nobody cares. */
    void (*put_away)(struct llm_call *call);
};

/* The next reply for this label counts as given. */
void
llm__scripted_pass(const struct llm_model *model, const char *label);

extern const struct transport llm__http, llm__exec, llm__mailbox, llm__replay, llm__scripted;

const struct transport *
llm__transport(enum llm_wire wire);

/* ---- wires ---- */

struct wire {
    const char *path; /* behind the base URL */
    json_t *(*build)(struct llm_call *call);
    /* One event of a stream, or a whole reply. */
    void (*event)(struct llm_call *call, const char *event, json_t *data);
    void (*whole)(struct llm_call *call, json_t *body);
};

extern const struct wire llm__chat, llm__responses, llm__anthropic, llm__embeddings;

const struct wire *
llm__wire(const struct llm_call *call);

/* Whether a field may be sent that this quirk is about; notes that it was. */
bool
llm__may_send(struct llm_call *call, enum quirk quirk);

/* Fields of a JSON object that may be missing, null or of another kind. */
const char *
llm__string(json_t *object, const char *name); /* "" */
double
llm__number(json_t *object, const char *name); /* 0 */
void
llm__append(struct buf *buf, json_t *string);

/* The schema of a request, parsed; NULL: there is none, or it is not to be sent. */
json_t *
llm__schema(struct llm_call *call);
const char *
llm__schema_name(const struct llm_call *call);

/* An error in any of the shapes in use: a string, {message type code}, {error: ...}. */
void
llm__take_error(struct llm_call *call, int status, json_t *body);

/* The reply's bytes, as received. For http.c and the fuzzers. */
void
llm__receive(struct llm_call *call, const char *bytes, size_t count);
/* No more will come: sets fault if the reply is not whole. */
void
llm__received_all(struct llm_call *call);

/* ---- ends ---- */

enum llm_outcome
llm__classify(int status, const char *type, const char *code, const char *message);

enum llm_finish
llm__finish_of(const char *word);

/* The attempt is over: the call is repeated or done. call->message has the words. */
void
llm__ended(struct llm_call *call, enum llm_outcome outcome);

/* Looks after all calls once, waiting so long at most. */
void
llm__step(struct llm *llm, double seconds);

/* Fetches one that is done, and frees it. */
void
llm__free_done(struct llm_call *call);

/* Sets fault and message, unless there is one already. */
void
llm__fault(struct llm_call *call, enum llm_outcome outcome, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Takes one line of the head of a reply. */
void
llm__header(struct llm_call *call, const char *line, size_t length);

/* Seconds: "120ms", "6m0s", "1.5", an HTTP or RFC 3339 date (from `wall`); negative: none. */
double
llm__duration(const char *text, double wall);

double
llm__delay(struct llm_call *call);

/* If the server refused a field: the quirk is noted, and another attempt is worth it. */
bool
llm__learn_quirk(struct llm_call *call, enum llm_outcome outcome);

/* ---- texts ---- */

/* <think> ... </think> at the beginning goes to the reasoning. */
void
llm__split_thoughts(struct llm_call *call);

/* The parts of a prompt as one text: for programs, folders and people. */
void
llm__put_prompt(struct buf *buf, const struct llm_request *request);

void
llm__hash_request(struct llm_call *call);

/* A recorded or scripted reply becomes that of the call, and ends it. */
void
llm__take_recorded(struct llm_call *call);

/* "file:3: what is wrong", as text alone: the file is read into the client's memory, and the
 * message may be shown when the client is gone. */
void
llm__wrong_at(struct diags *diags, const char *path, uint32_t line, const char *message);

/* ---- prices, memory, keys ---- */

extern const char llm__price_table[]; /* src/llm/data/prices */

enum status
llm__prices_read(struct llm *llm, struct diags *diags);
const struct price_row *
llm__price_of(const struct llm *llm, const char *provider, const char *model);
double
llm__cost(const struct llm_price *price, const struct usage *usage);

/* What the memory file says of this model, and writing what is now known of all. */
void
llm__memory_read(struct llm *llm, struct llm_model *model);
void
llm__memory_write(struct llm *llm, const struct llm_model *model);

void
llm__add_key(struct llm *llm, const char *key);
void
llm__redact(const struct llm *llm, char *text);

/* Money or tokens are used up: not even a call that was begun may be repeated. */
bool
llm__budget_spent(const struct llm_budget *budget);

/* ---- HTTP ---- */

/* The transfer of a call has ended. */
void
llm__http_ended(struct llm_call *call, CURLcode code);

/* What every request to the provider has in common. The caller frees the list. */
struct curl_slist *
llm__http_prepare(const struct llm *llm, struct arena *arena, const struct provider *provider,
                  CURL *easy);

/* "ollama: no answer from URL (refused); start it with ..." */
const char *
llm__unreachable(struct arena *arena, const struct provider *provider, const char *why);

/* Reads this URL, waiting; 0: no answer, the body is then the reason. */
int
llm__http_get(struct llm *llm, const struct provider *provider, const char *url, const char *post,
              struct arena *arena, struct buf *body);

#endif
