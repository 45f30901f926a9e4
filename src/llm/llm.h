/* llm: language models behind one client.
 *
 *   llm_open           reads prices and what is remembered of models; makes no call
 *   llm_model_find     "anthropic:NAME", "openai:NAME@http://host:8080/v1", "exec:COMMAND" ...
 *   llm_look           is it there, how large is its window: costs nothing
 *   llm_submit         begins a call; the prompt is checked against window and budget first
 *   llm_wait           looks after all calls in flight, on this thread
 *   llm_next_done      a call that has ended; llm_result() is its reply or why there is none
 *   llm_call_free      when the reply is recorded
 *   llm_embed          vectors of texts, for what looks for similar ones
 *
 * Who makes a model speak is a wire (three ways to talk HTTP) or something else that answers a
 * prompt: a program, a folder, a recording, a script. All look alike from here. A call that fails
 * is data: an outcome and a message in its result, never an error path. STATUS_INPUT is for what is
 * wrong before anything was sent: a model that cannot be, no key, a prompt that cannot fit, a
 * budget that is used up.
 *
 * Keys come from the environment or a command, stay in this module, go nowhere but into the header
 * of a request, and are cut out of every text that leaves it (llm_redact).
 *
 * Ownership: a client belongs to one thread. Models live as long as the client. A request is copied
 * by llm_submit; result and texts of a call live until llm_call_free. doc/models.md is the manual.
 */
#ifndef HONE_LLM_LLM_H
#define HONE_LLM_LLM_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/hash.h"
#include "base/status.h"

struct llm;
struct llm_model;
struct llm_call;

/*    id         name in settings and records */
#define LLM_WIRES(X)          \
    X(CHAT, "openai")         \
    X(RESPONSES, "responses") \
    X(ANTHROPIC, "anthropic") \
    X(EXEC, "exec")           \
    X(MAILBOX, "mailbox")     \
    X(REPLAY, "replay")       \
    X(SCRIPTED, "scripted")   \
    X(BUILTIN, "builtin")

enum llm_wire {
#define X(id, name) LLM_##id,
    LLM_WIRES(X)
#undef X
        LLM_WIRE_COUNT
};

extern const char *const llm_wire_name[LLM_WIRE_COUNT];

/* How a call ended.
 *    id             name            again: worth another attempt; ends: no other call will fare
 *                                   better, so the run should stop */
#define LLM_OUTCOMES(X)                          \
    X(OK, "ok", false, false)                    \
    X(UNREACHABLE, "unreachable", true, false)   \
    X(KEY_REFUSED, "key_refused", false, true)   \
    X(NO_CREDIT, "no_credit", false, true)       \
    X(RATE_LIMITED, "rate_limited", true, false) \
    X(BAD_REQUEST, "bad_request", false, false)  \
    X(NO_MODEL, "no_model", false, true)         \
    X(TOO_LONG, "too_long", false, false)        \
    X(SERVER_ERROR, "server_error", true, false) \
    X(CUT, "cut", true, false)                   \
    X(STALLED, "stalled", true, false)           \
    X(JUNK, "junk", true, false)                 \
    X(TIMED_OUT, "timed_out", false, false)      \
    X(TOO_LARGE, "too_large", false, false)      \
    X(NOT_RECORDED, "not_recorded", false, true) \
    X(FAILED, "failed", false, false)            \
    X(CANCELLED, "cancelled", false, false)

enum llm_outcome {
#define X(id, name, again, ends) LLM_##id,
    LLM_OUTCOMES(X)
#undef X
        LLM_OUTCOME_COUNT
};

struct llm_outcome_info {
    const char *name;
    bool again, ends;
};

extern const struct llm_outcome_info llm_outcome_info[LLM_OUTCOME_COUNT];

/* Why the model stopped speaking. */
#define LLM_FINISHES(X) \
    X(STOP, "stop")     \
    X(LENGTH, "length") \
    X(TOOL, "tool")     \
    X(FILTER, "filter") \
    X(ERROR, "error")

enum llm_finish {
#define X(id, name) LLM_FINISH_##id,
    LLM_FINISHES(X)
#undef X
        LLM_FINISH_COUNT
};

extern const char *const llm_finish_name[LLM_FINISH_COUNT];

/* What the three questions of the probe showed. */
#define LLM_SKILLS(X)                                  \
    X(UNKNOWN, "unknown", "not asked yet")             \
    X(NONE, "none", "follows no format")               \
    X(CHOOSER, "chooser", "chooses, does not write C") \
    X(WHOLE_FILE, "whole-file", "whole files")         \
    X(STRONG, "strong", "writes C, edits")

enum llm_skill {
#define X(id, name, words) LLM_SKILL_##id,
    LLM_SKILLS(X)
#undef X
        LLM_SKILL_COUNT
};

struct llm_skill_info {
    const char *name, *words;
};

extern const struct llm_skill_info llm_skill_info[LLM_SKILL_COUNT];

/* ---- prices ---- */

struct llm_price { /* USD per million tokens; negative: not known */
    double input, cached, written, output;
    char date[12]; /* of the table's row; "" if it has none */
};

/* ---- the client ---- */

/* A provider of the user's own: a [provider NAME] section of the settings. */
struct llm_provider {
    const char *name;
    enum llm_wire wire; /* one of the three HTTP ones */
    const char *base_url;
    const char *key_env;     /* name of a variable, or NULL */
    const char *key_command; /* prints the key, or NULL */
    double window;           /* tokens; 0: not said */
    struct llm_price price;
    unsigned parallel; /* calls at once; 0: the default */
};

/* A call that was made before, for replay. */
struct llm_recorded {
    const char *text, *reasoning, *served, *message; /* NULL: "" */
    enum llm_outcome outcome;                        /* failures are replayed too */
    enum llm_finish finish;
    double input, cached, written, output, reasoned; /* tokens */
    double cost;
};

/* Where replies come from that were given before. `nth` counts calls with the same request, from 0.
 * STATUS_NO: there is none. */
struct llm_source {
    enum status (*find)(void *user, struct arena *arena, const char *name, const char *request_hash,
                        size_t nth, struct llm_recorded *recorded);
    void *user;
};

struct llm_options { /* zeros: the defaults that are named */
    const struct llm_provider *providers;
    size_t provider_count;
    const char *prices;       /* path of the user's price table, or NULL */
    const char *memory;       /* path where quirks, windows and probes are kept, or NULL */
    struct llm_source replay; /* answers replay:NAME where NAME is no file */
    double total_seconds;     /* of a call with all its attempts, from its turn on (600) */
    double idle_seconds;      /* without a byte (120) */
    double connect_seconds;   /* (10) */
    double first_delay;       /* before the first repetition (0.5); doubles up to 16 times that */
    double mailbox_seconds;   /* how often the folder is looked at (0.25) */
    unsigned attempts;        /* at one call (3) */
    unsigned parallel;        /* calls at once with one provider (64) */
    size_t reply_bytes;       /* of one attempt, as sent (16 MB) */
    size_t line_bytes;        /* of one line of a stream (4 MB) */
    uint64_t seed;            /* of the jitter */
    bool offline;             /* a replay: no key is read, no file of a model opened, and nothing
                                 can be sent */
};

enum status
llm_open(const struct llm_options *options, struct llm **llm, struct diags *diags);

/* Ends what is in flight. NULL is allowed. */
void
llm_close(struct llm *llm);

/* ---- models ---- */

/* Finds provider, base URL and key. Makes no call; the same text gives the same model. */
enum status
llm_model_find(struct llm *llm, const char *text, const struct llm_model **model,
               struct diags *diags);

struct llm_choice {
    const struct llm_model *model;
    double weight; /* all of a list add up to 1 */
};

/* "M", "M,M2=0.3": those without a weight share what the others leave. */
enum status
llm_models_parse(struct llm *llm, struct arena *arena, const char *text, struct llm_choice **list,
                 size_t *count, struct diags *diags);

/* What is known of a model. */
struct llm_facts {
    const char *text;     /* as it was given */
    const char *provider; /* "anthropic", "lab" */
    const char *name;     /* the model's, as it is sent; the command, folder or file */
    const char *base_url; /* NULL: not over HTTP */
    const char *key_from; /* name of the variable, "key_command", NULL: none is used */
    enum llm_wire wire;
    double window; /* tokens; 0: not known */
    struct llm_price price;
    bool priced, free; /* free: no table is needed, nobody bills */
    enum llm_skill skill;
    double probed;    /* seconds since 1970; 0: never */
    double seconds;   /* how long the probe's first question took */
    bool constrained; /* replies can be held to a schema or grammar */
    bool grammar;     /* also to a GBNF grammar */
};

struct llm_facts
llm_facts(const struct llm_model *model);

/* Asks the server what it knows (/models, /props): window, whether it is there, whether it takes
 * the key. Waits; costs nothing. What is found is remembered. */
enum llm_outcome
llm_look(struct llm *llm, const struct llm_model *model, struct arena *arena, const char **message);

/* Three short questions: a C function, an edit, a choice. Waits, and costs three calls. The skill
 * is remembered with the time. On failure the outcome of the call that failed. */
enum llm_outcome
llm_probe(struct llm *llm, const struct llm_model *model, struct arena *arena,
          const char **message);

/* How many tokens a text will be, about: 3.5 bytes each, which is code. */
double
llm_tokens_of(size_t bytes);

/* ---- limits ---- */

/* Hard limits, never crossed by more than what is in flight: a call begins, and is repeated, only
 * while all hold. The caller's struct; the client adds to what was spent. INFINITY: no limit. */
struct llm_budget {
    double cost, tokens, calls; /* limits: USD, all tokens, calls begun */
    double cost_spent, tokens_spent, calls_begun;
    double cached_spent, input_spent, output_spent; /* tokens_spent by kind */
};

struct llm_budget
llm_budget_without_limits(void);

/* From now on; NULL: none. The budget must live as long as the client or until another is set. */
void
llm_set_budget(struct llm *llm, struct llm_budget *budget);

/* Which limit is reached: "cost", "tokens", "calls"; NULL: none. */
const char *
llm_budget_reached(const struct llm_budget *budget);

/* ---- calls ---- */

enum llm_role { LLM_USER, LLM_ASSISTANT };

struct llm_message {
    enum llm_role role;
    const char *text;
};

struct llm_request {
    const struct llm_model *model;
    const char *system; /* or NULL */
    const struct llm_message *messages;
    size_t message_count;
    unsigned max_tokens;      /* of the reply, with its reasoning; 0: 8192 */
    double temperature;       /* NAN: not said, which is what most models want */
    const char *effort;       /* of reasoning: low, medium, high; NULL: the model's own */
    const char *schema;       /* JSON Schema that the reply must fit, or NULL */
    const char *schema_name;  /* NULL: "reply" */
    const char *grammar;      /* GBNF, for servers that have it; the schema serves the others */
    bool cache;               /* the beginning will be sent again: ask the server to keep it */
    const char *label;        /* "coder 3": begins with the role */
    const char *wanted;       /* what a reply is, in a sentence, for a person; or NULL */
    const char *const *texts; /* whose vectors are wanted, in place of messages: llm_embed() */
    size_t text_count;
    void *user; /* the caller's */
};

/* What store keeps of a call: plain values, no key in any of them. */
struct llm_record {
    const char *provider, *wire;
    const char *model, *served; /* asked for; what the server says it was */
    const char *request_id;     /* the server's, "" if it gave none */
    char request_hash[HASH_TEXT];
    enum llm_outcome outcome;
    enum llm_finish finish;
    int http_status; /* of the last attempt; 0: none */
    unsigned attempts;
    double input, cached, written, output, reasoned; /* tokens of all attempts; input has cached and
                                                        written in it, output what was reasoned */
    bool estimated;                                  /* the server did not count: by their length */
    double cost;                                     /* USD; NAN: the model has no price */
    double first_ms, total_ms; /* from llm_submit to the first word, and to the end */
};

struct llm_result {
    struct llm_record record;
    const char *text, *reasoning; /* never NULL; of a failed call what came before */
    size_t text_length, reasoning_length;
    const char *message; /* why it failed, in a sentence; "" if it did not */
};

/* STATUS_INPUT, with a message: the prompt cannot fit, the budget is used up, it cannot be held
 * (a limit on cost and no price), the model is `builtin`, which nobody can call. */
enum status
llm_submit(struct llm *llm, const struct llm_request *request, struct llm_call **call,
           struct diags *diags);

/* What the record of the call will have: of what is asked, not of the model. */
void
llm_request_hash(struct arena *arena, const struct llm_request *request, char hash[HASH_TEXT]);

/* This was asked and answered by an earlier process: a script goes on behind that reply. */
void
llm_pass(struct llm *llm, const struct llm_request *request);

/* Looks after the calls until one ends or so much time has passed; 0: does what can be done at
 * once. How many have ended and were not fetched. */
size_t
llm_wait(struct llm *llm, double seconds);

/* One that has ended and was not fetched yet, in the order of their ends; NULL: none. */
struct llm_call *
llm_next_done(struct llm *llm);

/* Calls that have not ended. */
size_t
llm_in_flight(const struct llm *llm);

const struct llm_result *
llm_result(const struct llm_call *call);

void *
llm_user(const struct llm_call *call);

/* While it runs. */
struct llm_progress {
    bool started;     /* not waiting for its turn or for another attempt */
    unsigned attempt; /* from 1 */
    double seconds;
    double tokens, reasoned; /* received, about */
    const char *text;        /* so far, redacted; valid until the next llm_wait() */
};

struct llm_progress
llm_progress(struct llm_call *call);

/* It ends as CANCELLED and is fetched as others are. */
void
llm_cancel(struct llm_call *call);

/* Only of a call that was fetched. A mailbox puts question and answer away now, not before. */
void
llm_call_free(struct llm_call *call);

/* ---- vectors of texts ---- */

#define LLM_EMBED_BYTES 1400 /* of a text: about 400 tokens, which the smallest servers take */
#define LLM_EMBED_TEXTS 32   /* at once */

struct llm_vectors {
    const float *values; /* one after the other, each of length 1; NULL: there are none */
    size_t size;         /* numbers in each */
    struct llm_record record;
    const char *message; /* why there are none; "" if there are */
};

/* Whether a model can be asked for vectors: by the form of OpenAI, which others offer too. */
bool
llm_can_embed(const struct llm_model *model);

/* One call, with its attempts, at /embeddings; waits. What is longer than a text may be is cut. All
 * is in the arena. The outcome is that of the record. */
enum llm_outcome
llm_embed(struct llm *llm, const struct llm_model *model, struct arena *arena,
          const char *const *texts, size_t count, struct llm_vectors *vectors);

/* The hash that the record of such a call has. */
void
llm_embed_hash(struct arena *arena, const char *const *texts, size_t count, char hash[HASH_TEXT]);

/* ---- texts ---- */

/* A copy of text without any key that this client has read. */
char *
llm_redact(const struct llm *llm, struct arena *arena, const char *text);

/* One line of a file that replay:FILE reads, with its newline. */
void
llm_put_recorded(struct buf *buf, const struct llm_result *result);

/* The price table in effect, as a file that the user may edit. */
void
llm_put_prices(const struct llm *llm, struct buf *buf);

/* Providers that have a key in the environment or need none: for `hone models`. The i-th of all
 * known, the user's first; false: there are no more. */
struct llm_provider_facts {
    const char *name, *key_from, *base_url;
    bool has_key, needs_key, own; /* own: of the settings */
};

bool
llm_provider_at(const struct llm *llm, size_t i, struct llm_provider_facts *facts);

#endif
