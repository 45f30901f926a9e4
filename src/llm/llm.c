/* The client: calls wait for their turn, are looked after, end, and are repeated where that helps.
 * One thread does it all in llm_wait(); nothing happens outside of the functions of llm.h. */
#include "llm/llm_int.h"

#include "base/clock.h"
#include "base/text.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MEGABYTE = 1 << 20,
    DEFAULT_TOKENS = 8192,
    MOST_FDS = 128, /* outputs of programs that are waited for; the others are looked at in turn */
    IDLE_MS = 1000,
};

static const double look_seconds = 0.02; /* at what has no descriptor to wait for */

const char *const llm_wire_name[LLM_WIRE_COUNT] = {
#define X(id, name) [LLM_##id] = name,
    LLM_WIRES(X)
#undef X
};

const struct llm_outcome_info llm_outcome_info[LLM_OUTCOME_COUNT] = {
#define X(id, name, again, ends) [LLM_##id] = {name, again, ends},
    LLM_OUTCOMES(X)
#undef X
};

const char *const llm_finish_name[LLM_FINISH_COUNT] = {
#define X(id, name) [LLM_FINISH_##id] = name,
    LLM_FINISHES(X)
#undef X
};

const struct transport *
llm__transport(enum llm_wire wire)
{
    static const struct transport *const transports[LLM_WIRE_COUNT] = {
        [LLM_CHAT] = &llm__http,        [LLM_RESPONSES] = &llm__http,  [LLM_ANTHROPIC] = &llm__http,
        [LLM_EXEC] = &llm__exec,        [LLM_MAILBOX] = &llm__mailbox, [LLM_REPLAY] = &llm__replay,
        [LLM_SCRIPTED] = &llm__scripted};
    return transports[wire];
}

/* ---- opening and closing ---- */

static double
or_else(double value, double otherwise)
{
    return value > 0 ? value : otherwise;
}

static void
fill_options(struct llm_options *options)
{
    options->total_seconds = or_else(options->total_seconds, 600);
    options->idle_seconds = or_else(options->idle_seconds, 120);
    options->connect_seconds = or_else(options->connect_seconds, 10);
    options->first_delay = or_else(options->first_delay, 0.5);
    options->mailbox_seconds = or_else(options->mailbox_seconds, 0.25);
    options->attempts = options->attempts ? options->attempts : 3;
    options->parallel = options->parallel ? options->parallel : 64;
    options->reply_bytes = options->reply_bytes ? options->reply_bytes : 16 * MEGABYTE;
    options->line_bytes = options->line_bytes ? options->line_bytes : 4 * MEGABYTE;
}

enum status
llm_open(const struct llm_options *options, struct llm **result, struct diags *diags)
{
    struct arena *arena = arena_create();
    *result = NULL;
    if (arena == NULL)
        return STATUS_MACHINE;
    struct llm *llm = arena_alloc(arena, sizeof *llm);
    llm->arena = arena;
    llm->options = *options;
    fill_options(&llm->options);
    llm->rng = rng_stream(options->seed, "llm");
    enum status status = llm__prices_read(llm, diags);
    if (status == STATUS_OK && (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK ||
                                (llm->multi = curl_multi_init()) == NULL)) {
        diags_add(diags, DIAG_ERROR, (struct place){0}, "libcurl cannot be used here");
        status = STATUS_MACHINE;
    }
    if (status != STATUS_OK) {
        arena_destroy(arena);
        return status;
    }
    *result = llm;
    return STATUS_OK;
}

static void
stop(struct llm_call *call)
{
    if (call->state == CALL_ACTIVE) {
        llm__transport(call->model->wire)->stop(call);
        call->model->provider->active--;
    }
    call->state = CALL_WAITING;
}

void
llm_close(struct llm *llm)
{
    if (llm == NULL)
        return;
    for (struct llm_call *call = llm->first, *next; call != NULL; call = next) {
        next = call->next;
        stop(call);
        arena_destroy(call->arena);
    }
    for (struct llm_call *call = llm->done, *next; call != NULL; call = next) {
        next = call->next;
        arena_destroy(call->arena);
    }
    curl_multi_cleanup(llm->multi);
    curl_global_cleanup();
    arena_destroy(llm->arena);
}

/* ---- lists ---- */

static void
append(struct llm_call **first, struct llm_call **last, struct llm_call *call)
{
    call->previous = *last;
    call->next = NULL;
    *(*last != NULL ? &(*last)->next : first) = call;
    *last = call;
}

static void
take_out(struct llm_call **first, struct llm_call **last, struct llm_call *call)
{
    *(call->previous != NULL ? &call->previous->next : first) = call->next;
    *(call->next != NULL ? &call->next->previous : last) = call->previous;
    call->previous = call->next = NULL;
}

/* ---- beginning a call ---- */

static char *
copy(struct arena *arena, const char *text)
{
    if (text == NULL)
        return NULL;
    char *cleaned = arena_strdup(arena, text);
    text_clean(cleaned, strlen(cleaned)); /* JSON has no room for bytes that are not UTF-8 */
    return cleaned;
}

static void
copy_texts(struct llm_call *call, const struct llm_request *request)
{
    const char **texts = arena_array(call->arena, request->text_count + 1, sizeof *texts);
    for (size_t i = 0; i < request->text_count; i++) {
        texts[i] = copy(call->arena, request->texts[i]);
        call->prompt_bytes += strlen(texts[i]);
    }
    if (request->texts != NULL)
        call->request.texts = texts;
}

static void
copy_request(struct llm_call *call, const struct llm_request *request)
{
    struct arena *arena = call->arena;
    struct llm_message *messages = arena_array(arena, request->message_count + 1, sizeof *messages);
    call->request = *request;
    call->request.system = copy(arena, request->system);
    call->request.effort = copy(arena, request->effort);
    call->request.schema = copy(arena, request->schema);
    call->request.schema_name = copy(arena, request->schema_name);
    call->request.grammar = copy(arena, request->grammar);
    call->request.label = arena_strdup(arena, request->label ? request->label : "");
    call->request.wanted = copy(arena, request->wanted);
    call->request.max_tokens = request->max_tokens ? request->max_tokens : DEFAULT_TOKENS;
    call->prompt_bytes = request->system ? strlen(request->system) : 0;
    for (size_t i = 0; i < request->message_count; i++) {
        messages[i].role = request->messages[i].role;
        messages[i].text = copy(arena, request->messages[i].text);
        call->prompt_bytes += strlen(messages[i].text);
    }
    call->request.messages = messages;
    copy_texts(call, request);
}

static bool
is_json(const char *text)
{
    json_t *value = json_loads(text, 0, NULL);
    json_decref(value);
    return value != NULL;
}

/* What can be known to fail before anything is sent. */
static enum status
check_request(const struct llm_call *call, struct diags *diags)
{
    const struct llm *llm = call->llm;
    const struct llm_model *model = call->model;
    const char *reached = llm->budget != NULL ? llm_budget_reached(llm->budget) : NULL;
    double needed = ceil(llm_tokens_of(call->prompt_bytes) + call->request.max_tokens);
    if (call->request.schema != NULL && !is_json(call->request.schema))
        diags_add(diags, DIAG_ERROR, (struct place){0}, "%s: the schema of its reply is no JSON",
                  call->request.label);
    else if (llm->options.offline)
        diags_add(diags, DIAG_ERROR, (struct place){0}, "%s: nothing is sent in a replay",
                  call->request.label);
    else if (model->wire == LLM_BUILTIN)
        diags_add(diags, DIAG_ERROR, (struct place){0},
                  "builtin takes no prompts; name a model to call: --model PROVIDER:NAME");
    else if (reached != NULL)
        diags_add(diags, DIAG_ERROR, (struct place){0},
                  "the limit on %s is reached: --%s N raises it", reached, reached);
    else if (llm->budget != NULL && isfinite(llm->budget->cost) && !model->priced && !model->free)
        diags_add(diags, DIAG_ERROR, (struct place){0},
                  "%s has no price, so --cost cannot hold; add a price, or use --tokens N",
                  model->text);
    else if (call->request.texts != NULL && !llm_can_embed(model))
        diags_add(diags, DIAG_ERROR, (struct place){0},
                  "%s gives no vectors; name a model of an OpenAI-like server", model->text);
    else if (call->request.texts == NULL && model->window > 0 && needed > model->window)
        diags_add(diags, DIAG_ERROR, (struct place){0},
                  "%s has a window of %.0f tokens; this prompt and its reply need %.0f%s",
                  model->text, model->window, needed,
                  model->server == SERVER_OLLAMA ? "; set OLLAMA_CONTEXT_LENGTH" : "");
    else
        return STATUS_OK;
    return STATUS_INPUT;
}

void
llm_pass(struct llm *llm, const struct llm_request *request)
{
    (void)llm;
    if (request->model->wire == LLM_SCRIPTED)
        llm__scripted_pass(request->model, request->label);
}

enum status
llm_submit(struct llm *llm, const struct llm_request *request, struct llm_call **result,
           struct diags *diags)
{
    struct arena *arena = arena_create();
    *result = NULL;
    if (arena == NULL)
        return STATUS_MACHINE;
    struct llm_call *call = arena_alloc(arena, sizeof *call);
    call->llm = llm;
    call->arena = arena;
    call->model = (struct llm_model *)request->model; /* the client's own, const for others */
    copy_request(call, request);
    enum status status = check_request(call, diags);
    if (status != STATUS_OK) {
        arena_destroy(arena);
        return status;
    }
    llm__hash_request(call);
    call->begun = clock_seconds();
    call->deadline = INFINITY; /* its time begins with its turn */
    call->text = buf_in(arena);
    call->reasoning = buf_in(arena);
    call->shown = buf_in(arena);
    call->message = call->served = call->request_id = "";
    if (llm->budget != NULL)
        llm->budget->calls_begun++;
    append(&llm->first, &llm->last, call);
    llm->in_flight++;
    *result = call;
    return STATUS_OK;
}

/* ---- attempts ---- */

static void
begin_attempt(struct llm_call *call)
{
    call->text = buf_in(call->arena);
    call->reasoning = buf_in(call->arena);
    call->usage = (struct usage){.cost = NAN};
    call->finish = LLM_FINISH_ERROR;
    call->whole = call->spoke = false;
    call->fault = LLM_OK;
    call->message = "";
    call->served = call->request_id = "";
    call->http_status = 0;
    call->sent = 0;
    call->retry_after = -1;
    call->should_retry = -1;
    call->nothing_left = false;
    call->refused = NULL;
    call->body_kind = BODY_UNKNOWN;
    call->received = call->junk = 0;
    call->last_byte = clock_seconds();
    /* A person may take as long as a person takes. */
    if (call->attempt++ == 0 && call->model->wire != LLM_MAILBOX)
        call->deadline = call->last_byte + call->llm->options.total_seconds;
    call->state = CALL_ACTIVE;
    call->model->provider->active++;
    llm__transport(call->model->wire)->start(call);
}

static bool
is_its_turn(const struct llm_call *call, double now)
{
    const struct provider *provider = call->model->provider;
    return call->state == CALL_WAITING && now >= call->not_before && now >= provider->not_before &&
           provider->active < provider->parallel;
}

/* What this attempt cost, as far as it can be known, is added to the record and the budget. */
static void
account(struct llm_call *call)
{
    struct llm_record *record = &call->result.record;
    struct usage *usage = &call->usage;
    if (!usage->known && call->spoke) { /* paid for, but nobody counted */
        usage->input = ceil(llm_tokens_of(call->prompt_bytes));
        usage->output = ceil(llm_tokens_of(call->text.length + call->reasoning.length));
        usage->reasoned = ceil(llm_tokens_of(call->reasoning.length));
        record->estimated = true;
    }
    double cost = !isnan(usage->cost)                ? usage->cost
                  : call->model->priced              ? llm__cost(&call->model->price, usage)
                  : call->model->free                ? 0
                  : usage->input + usage->output > 0 ? NAN
                                                     : 0;
    record->input += usage->input;
    record->cached += usage->cached;
    record->written += usage->written;
    record->output += usage->output;
    record->reasoned += usage->reasoned;
    record->cost += cost;
    struct llm_budget *budget = call->llm->budget;
    if (budget == NULL)
        return;
    budget->tokens_spent += usage->input + usage->output;
    budget->input_spent += usage->input;
    budget->cached_spent += usage->cached;
    budget->output_spent += usage->output;
    budget->cost_spent += isnan(cost) ? 0 : cost;
}

static void
fill_result(struct llm_call *call, enum llm_outcome outcome)
{
    struct llm_result *result = &call->result;
    struct llm_record *record = &result->record;
    double now = clock_seconds();
    llm__split_thoughts(call);
    call->text.length = text_clean(call->text.data, call->text.length);
    call->reasoning.length = text_clean(call->reasoning.data, call->reasoning.length);
    result->text = llm_redact(call->llm, call->arena, call->text.data);
    result->reasoning = llm_redact(call->llm, call->arena, call->reasoning.data);
    result->text_length = strlen(result->text);
    result->reasoning_length = strlen(result->reasoning);
    result->message = llm_redact(call->llm, call->arena, call->message);
    record->provider = call->model->provider->name;
    record->wire = llm_wire_name[call->model->wire];
    record->model = call->model->text;
    record->served = llm_redact(call->llm, call->arena, call->served);
    record->request_id = llm_redact(call->llm, call->arena, call->request_id);
    record->outcome = outcome;
    record->finish = outcome == LLM_OK ? call->finish : LLM_FINISH_ERROR;
    record->http_status = call->http_status;
    record->attempts = call->attempt;
    record->first_ms = 1e3 * ((call->first_word > 0 ? call->first_word : now) - call->begun);
    record->total_ms = 1e3 * (now - call->begun);
}

static void
finish(struct llm_call *call, enum llm_outcome outcome)
{
    struct llm *llm = call->llm;
    fill_result(call, outcome);
    take_out(&llm->first, &llm->last, call);
    append(&llm->done, &llm->last_done, call);
    call->state = CALL_DONE;
    llm->in_flight--;
    llm->done_count++;
}

/* Whether the call is worth another attempt, and when. */
static bool
is_worth_another(struct llm_call *call, enum llm_outcome outcome)
{
    const struct llm *llm = call->llm;
    bool again = llm_outcome_info[outcome].again;
    if (call->should_retry >= 0 && outcome != LLM_NO_CREDIT && outcome != LLM_KEY_REFUSED)
        again = call->should_retry == 1;
    if (!again || call->attempt >= llm->options.attempts)
        return false;
    if (llm->budget != NULL && llm__budget_spent(llm->budget))
        return false;
    call->not_before = clock_seconds() + llm__delay(call);
    if (call->not_before >= call->deadline)
        return false;
    if (outcome == LLM_RATE_LIMITED && call->retry_after > 0) /* the others would fare no better */
        call->model->provider->not_before =
            fmax(call->model->provider->not_before, call->not_before);
    return true;
}

void
llm__ended(struct llm_call *call, enum llm_outcome outcome)
{
    assert(call->state == CALL_ACTIVE);
    stop(call);
    account(call);
    if (llm__learn_quirk(call, outcome)) {
        llm__memory_write(call->llm, call->model);
        call->attempt--; /* the server only told us how to ask */
        call->not_before = 0;
        return;
    }
    if (outcome != LLM_OK && is_worth_another(call, outcome))
        return;
    finish(call, outcome);
}

void
llm__fault(struct llm_call *call, enum llm_outcome outcome, const char *format, ...)
{
    va_list args;
    struct buf buf = buf_in(call->arena);
    if (call->fault != LLM_OK)
        return;
    va_start(args, format);
    buf_vprintf(&buf, format, args);
    va_end(args);
    text_clean(buf.data, buf.length);
    call->fault = outcome;
    call->message = buf.data;
}

/* ---- looking after them ---- */

static void
check_time(struct llm_call *call, double now)
{
    const struct llm_options *options = &call->llm->options;
    bool waits_for_a_person = call->model->wire == LLM_MAILBOX;
    if (now >= call->deadline) {
        bool active = call->state == CALL_ACTIVE;
        call->fault = LLM_OK;
        llm__fault(call, LLM_TIMED_OUT, "%s: no end after %.3g s", call->model->text,
                   options->total_seconds);
        if (active)
            llm__ended(call, LLM_TIMED_OUT);
        else
            finish(call, LLM_TIMED_OUT);
    } else if (call->state == CALL_ACTIVE && !waits_for_a_person &&
               now - call->last_byte >= options->idle_seconds) {
        llm__fault(call, LLM_STALLED, "%s: no word for %.3g s", call->model->text,
                   options->idle_seconds);
        llm__ended(call, LLM_STALLED);
    }
}

static void
collect_transfers(struct llm *llm)
{
    int left;
    for (CURLMsg *message; (message = curl_multi_info_read(llm->multi, &left)) != NULL;) {
        struct llm_call *call;
        CURLcode code = message->data.result;
        if (message->msg != CURLMSG_DONE ||
            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&call) != CURLE_OK)
            continue;
        llm__http_ended(call, code);
    }
}

/* Everything that can be done without waiting. */
static void
step(struct llm *llm)
{
    int running;
    double now = clock_seconds();
    for (struct llm_call *call = llm->first, *next; call != NULL; call = next) {
        next = call->next;
        if (is_its_turn(call, now))
            begin_attempt(call);
    }
    curl_multi_perform(llm->multi, &running);
    collect_transfers(llm);
    now = clock_seconds();
    for (struct llm_call *call = llm->first, *next; call != NULL; call = next) {
        next = call->next;
        const struct transport *transport = llm__transport(call->model->wire);
        if (call->state == CALL_ACTIVE && transport->step != NULL)
            transport->step(call);
        if (call->state == CALL_ACTIVE || call->state == CALL_WAITING)
            check_time(call, now);
    }
}

/* When something will have to be done although nothing is heard. */
static double
next_time(const struct llm *llm, double end)
{
    double now = clock_seconds();
    for (const struct llm_call *call = llm->first; call != NULL; call = call->next) {
        double at = call->deadline;
        if (call->state == CALL_WAITING &&
            call->model->provider->active < call->model->provider->parallel)
            at = fmin(at, fmax(call->not_before, call->model->provider->not_before));
        else if (call->model->wire == LLM_MAILBOX)
            at = now + llm->options.mailbox_seconds;
        else if (call->model->provider->base_url == NULL)
            at = fmin(at, now + look_seconds);
        else if (call->state == CALL_ACTIVE)
            at = fmin(at, call->last_byte + llm->options.idle_seconds);
        end = fmin(end, at);
    }
    return fmax(0, end - now);
}

static unsigned
descriptors(const struct llm *llm, struct curl_waitfd fds[MOST_FDS])
{
    unsigned count = 0;
    for (const struct llm_call *call = llm->first; call != NULL; call = call->next) {
        int pipes[2];
        size_t open = call->state == CALL_ACTIVE && call->proc ? proc_fds(call->proc, pipes) : 0;
        for (size_t i = 0; i < open && count < MOST_FDS; i++)
            fds[count++] = (struct curl_waitfd){.fd = pipes[i], .events = CURL_WAIT_POLLIN};
    }
    return count;
}

static void
wait_for_news(struct llm *llm, double seconds)
{
    struct curl_waitfd fds[MOST_FDS];
    unsigned count = descriptors(llm, fds);
    double left = next_time(llm, clock_seconds() + seconds);
    curl_multi_poll(llm->multi, fds, count, (int)ceil(fmin(left * 1e3, IDLE_MS)), NULL);
}

void
llm__step(struct llm *llm, double seconds)
{
    size_t before = llm->in_flight;
    step(llm);
    if (llm->in_flight == before)
        wait_for_news(llm, seconds);
}

size_t
llm_wait(struct llm *llm, double seconds)
{
    double end = clock_seconds() + seconds;
    for (;;) {
        double left = end - clock_seconds();
        llm__step(llm, llm->done_count > 0 ? 0 : fmax(0, left));
        if (llm->done_count > 0 || left <= 0 || llm->in_flight == 0)
            return llm->done_count;
    }
}

static void
fetch(struct llm_call *call)
{
    struct llm *llm = call->llm;
    take_out(&llm->done, &llm->last_done, call);
    llm->done_count--;
    call->state = CALL_FETCHED;
}

struct llm_call *
llm_next_done(struct llm *llm)
{
    struct llm_call *call = llm->done;
    if (call != NULL)
        fetch(call);
    return call;
}

void
llm__free_done(struct llm_call *call)
{
    fetch(call);
    llm_call_free(call);
}

/* ---- questions about calls ---- */

size_t
llm_in_flight(const struct llm *llm)
{
    return llm->in_flight;
}

const struct llm_result *
llm_result(const struct llm_call *call)
{
    assert(call->state == CALL_DONE || call->state == CALL_FETCHED);
    return &call->result;
}

void *
llm_user(const struct llm_call *call)
{
    return call->request.user;
}

struct llm_progress
llm_progress(struct llm_call *call)
{
    size_t text = call->text.length;
    if (call->proc != NULL && call->state == CALL_ACTIVE)
        text = proc_out_length(call->proc);
    call->shown.length = 0;
    buf_add(&call->shown, call->text.data, call->text.length);
    buf_putc(&call->shown, '\0'); /* also where it is empty */
    llm__redact(call->llm, call->shown.data);
    return (struct llm_progress){.started = call->state == CALL_ACTIVE,
                                 .attempt = call->attempt ? call->attempt : 1,
                                 .seconds = clock_seconds() - call->begun,
                                 .tokens = llm_tokens_of(text),
                                 .reasoned = llm_tokens_of(call->reasoning.length),
                                 .text = call->shown.data};
}

void
llm_cancel(struct llm_call *call)
{
    if (call->state != CALL_ACTIVE && call->state != CALL_WAITING)
        return;
    bool active = call->state == CALL_ACTIVE;
    stop(call);
    if (active)
        account(call);
    call->fault = LLM_OK;
    llm__fault(call, LLM_CANCELLED, "%s: cancelled", call->model->text);
    finish(call, LLM_CANCELLED);
}

void
llm_call_free(struct llm_call *call)
{
    const struct transport *transport = llm__transport(call->model->wire);
    assert(call->state == CALL_FETCHED);
    if (transport->put_away != NULL)
        transport->put_away(call);
    arena_destroy(call->arena);
}
