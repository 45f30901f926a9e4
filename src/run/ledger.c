/* The order of answers, and the rows that are there already. */
#include "run/ledger_int.h"

#include "base/clock.h"
#include "base/hash.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

/* ---- opening ---- */

static enum status
read_earlier(struct ledger *ledger, struct diags *diags)
{
    struct store *store = ledger->store;
    enum status status = store_events(store, ledger->arena, ledger->run, 0, 0, &ledger->events,
                                      &ledger->event_count, diags);
    if (status == STATUS_OK)
        status = store_candidates(store, ledger->arena, ledger->run, STORE_BRIEF,
                                  &ledger->candidates, &ledger->candidate_count, diags);
    if (status == STATUS_OK)
        status = store_calls(store, ledger->arena, ledger->run, STORE_WHOLE, &ledger->calls,
                             &ledger->call_count, diags);
    ledger->verdicts =
        arena_array(ledger->arena, ledger->candidate_count + 1, sizeof *ledger->verdicts);
    return status;
}

enum status
ledger_open(struct ledger *ledger, struct arena *arena, const struct run_options *options,
            double (*clock)(void *context), void *clock_context, struct diags *diags)
{
    *ledger = (struct ledger){.arena = arena,
                              .mode = options->mode,
                              .store = options->store,
                              .run = options->store ? options->run->id : 0,
                              .clock = clock,
                              .clock_context = clock_context};
    enum status status = STATUS_OK;
    if (options->mode != RUN_FRESH)
        status = read_earlier(ledger, diags);
    ledger->began = clock(clock_context);
    if (ledger->event_count > 0)
        ledger->began -= ledger->events[ledger->event_count - 1].seconds;
    return status;
}

/* ---- answers ---- */

static enum status __attribute__((format(printf, 3, 4)))
differ(struct ledger *ledger, struct diags *diags, const char *format, ...)
{
    va_list arguments;
    struct buf text = buf_in(ledger->arena);
    va_start(arguments, format);
    buf_vprintf(&text, format, arguments);
    va_end(arguments);
    if (ledger->difference == NULL)
        ledger->difference = text.data;
    if (ledger->mode == RUN_RESUME)
        diags_add(diags, DIAG_ERROR, (struct place){0},
                  "the run cannot go on as it began: %s; were hone or its files changed since?",
                  ledger->difference);
    return STATUS_MACHINE;
}

enum status
ledger_recall(struct ledger *ledger, const char *kind, const char *key, const char **answer,
              struct diags *diags)
{
    if (ledger->difference != NULL)
        return STATUS_MACHINE;
    if (ledger->off)
        return STATUS_NO;
    if (ledger->event_next == ledger->event_count) {
        ledger->over = ledger->mode == RUN_REPLAY;
        return ledger->over ? STATUS_MACHINE : STATUS_NO;
    }
    const struct store_event *event = &ledger->events[ledger->event_next];
    if (strcmp(event->kind, kind) != 0 || strcmp(event->key, key) != 0)
        return differ(ledger, diags, "answer %zu was to \"%s %.40s\" and now \"%s %.40s\" is asked",
                      ledger->event_next, event->kind, event->key, kind, key);
    ledger->event_next++;
    ledger->seconds = event->seconds;
    *answer = event->answer;
    return STATUS_OK;
}

enum status
ledger_note(struct ledger *ledger, const char *kind, const char *key, const char *answer,
            struct diags *diags)
{
    ledger->seconds = ledger->clock(ledger->clock_context) - ledger->began;
    if (ledger->store == NULL || ledger->off)
        return STATUS_OK;
    struct store_event event = {
        .run = ledger->run, .kind = kind, .key = key, .answer = answer, .seconds = ledger->seconds};
    return store_event_add(ledger->store, &event, diags);
}

enum status
ledger_learn(struct ledger *ledger, const char *key, struct store_item *item, struct diags *diags)
{
    ledger->seconds = ledger->clock(ledger->clock_context) - ledger->began;
    if (ledger->off)
        return STATUS_OK;
    struct store_event event = {
        .run = ledger->run, .kind = "lesson", .key = key, .answer = "", .seconds = ledger->seconds};
    return store_item_learn(ledger->store, item, &event, diags);
}

/* ---- candidates ---- */

/* A replay of a run that was killed may stand where nothing more is known. */
static bool
has_ended(struct ledger *ledger)
{
    ledger->over = ledger->over || ledger->event_next == ledger->event_count;
    return ledger->over;
}

static bool
is_file(const struct store_candidate *row)
{
    return strcmp(row->phase, "file") == 0;
}

/* The next one of then. A run that was stopped gave a file, which is no step of it: who goes on
 * passes over it. */
static const struct store_candidate *
next_candidate(struct ledger *ledger, const struct store_candidate *row, const char *hash)
{
    while (ledger->candidate_next < ledger->candidate_count) {
        const struct store_candidate *then = &ledger->candidates[ledger->candidate_next];
        if (is_file(then) == is_file(row) && (!is_file(row) || !strcmp(then->kernel_hash, hash)))
            return then;
        if (!is_file(then))
            return is_file(row) && ledger->mode == RUN_RESUME ? NULL : then;
        ledger->candidate_next++;
    }
    return NULL;
}

enum status
ledger_candidate(struct ledger *ledger, struct store_candidate *row, struct diags *diags)
{
    char hash[HASH_TEXT];
    row->id = 0;
    row->number = -1;
    if (ledger->off && !is_file(row))
        return STATUS_OK; /* no part of the run */
    hash_sha256(row->kernel, row->kernel_length, hash);
    const struct store_candidate *then = next_candidate(ledger, row, hash);
    if (then != NULL) {
        ledger->candidate_next++;
        if (strcmp(then->kernel_hash, hash) != 0)
            return differ(ledger, diags, "candidate %lld was another kernel",
                          (long long)then->number);
        row->id = then->id;
        row->number = then->number;
        return STATUS_OK;
    }
    row->number = (int64_t)ledger->candidate_next++;
    if (ledger->store == NULL)
        return STATUS_OK;
    if (ledger->mode == RUN_REPLAY)
        return has_ended(ledger)
                   ? STATUS_MACHINE
                   : differ(ledger, diags, "candidate %lld was not there", (long long)row->number);
    return store_candidate_add(ledger->store, row, diags);
}

/* Whether its next verdict is there already. */
static bool
is_known(struct ledger *ledger, const struct store_candidate *row)
{
    size_t number = (size_t)row->number;
    return row->number >= 0 && number < ledger->candidate_count &&
           ledger->verdicts[number]++ < ledger->candidates[number].verdict_count;
}

enum status
ledger_verdict(struct ledger *ledger, const struct store_candidate *row,
               struct store_verdict *verdict, struct diags *diags)
{
    if (is_known(ledger, row) || ledger->store == NULL || row->id == 0)
        return STATUS_OK;
    if (ledger->mode == RUN_REPLAY)
        return has_ended(ledger) ? STATUS_MACHINE
                                 : differ(ledger, diags, "candidate %lld has one more verdict",
                                          (long long)row->number);
    return store_verdict_add(ledger->store, row->id, verdict, diags);
}

enum status
ledger_decide(struct ledger *ledger, const struct store_candidate *row, const char *decision,
              struct diags *diags)
{
    size_t number = (size_t)row->number;
    if (ledger->store == NULL || row->id == 0)
        return STATUS_OK;
    if (ledger->mode == RUN_REPLAY) {
        const char *then = ledger->candidates[number].accepted;
        if (!*then && has_ended(ledger))
            return STATUS_MACHINE;
        return strcmp(then, decision) == 0
                   ? STATUS_OK
                   : differ(ledger, diags, "candidate %zu was \"%s\" and is \"%s\" now", number,
                            then, decision);
    }
    return store_candidate_decide(ledger->store, row->id, decision, diags);
}

/* ---- calls ---- */

enum status
ledger_call(struct ledger *ledger, struct store_call *call, const struct store_call **then,
            struct diags *diags)
{
    *then = NULL;
    if (ledger->call_next < ledger->call_count) {
        const struct store_call *earlier = &ledger->calls[ledger->call_next++];
        if (strcmp(earlier->request_hash, call->request_hash) != 0)
            return differ(ledger, diags, "call %lld (%s) had another prompt",
                          (long long)earlier->ordinal, earlier->label);
        call->id = earlier->id;
        call->ordinal = earlier->ordinal;
        if (!isnan(earlier->ended))
            *then = earlier;
        else if (ledger->mode == RUN_REPLAY) { /* nobody is asked */
            ledger->over = true;
            return STATUS_MACHINE;
        }
        return STATUS_OK;
    }
    call->ordinal = (int64_t)ledger->call_next++;
    if (ledger->mode == RUN_REPLAY) {
        ledger->over = true;
        return STATUS_MACHINE;
    }
    return ledger->store ? store_call_begin(ledger->store, call, diags) : STATUS_OK;
}

enum status
ledger_call_end(struct ledger *ledger, const struct store_call *call, struct diags *diags)
{
    return ledger->store ? store_call_end(ledger->store, call, diags) : STATUS_OK;
}
