/* What an error means, whether another attempt is worth it, and when: as the vendors' own libraries
 * do it, but for errors about money, which no patience cures. */
#include "llm/llm_int.h"

#include "base/clock.h"
#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

const struct quirk_info llm__quirk_info[QUIRK_COUNT] = {
#define X(id, name, fields) [QUIRK_##id] = {name, fields},
    LLM_QUIRKS(X)
#undef X
};

static const double longest_pause = 60; /* that a limit's own reset is waited for */

/* ---- what it means ---- */

static bool
is_one_of(const char *word, const char *const *words)
{
    for (; *words != NULL; words++)
        if (!strcasecmp(word, *words))
            return true;
    return false;
}

static bool
has_one_of(const char *text, const char *const *words)
{
    for (; *words != NULL; words++)
        if (strcasestr(text, *words) != NULL)
            return true;
    return false;
}

static bool
is_about_money(int status, const char *type, const char *code, const char *message)
{
    static const char *const codes[] = {
        "insufficient_quota",         "credit_balance_exhausted", "billing_error",
        "billing_hard_limit_reached", "billing_not_active",       "enforced_spend_limit_reached",
        "spend_limit_reached",        "usage_limit_reached",      NULL};
    static const char *const words[] = {"credit balance is too low", "insufficient balance",
                                        "exceeded your current quota", NULL};
    return status == 402 || is_one_of(type, codes) || is_one_of(code, codes) ||
           has_one_of(message, words);
}

static bool
is_about_length(const char *code, const char *message)
{
    static const char *const words[] = {"maximum context length", "context size", "context window",
                                        "prompt is too long", NULL};
    return !strcmp(code, "context_length_exceeded") || has_one_of(message, words);
}

enum llm_outcome
llm__classify(int status, const char *type, const char *code, const char *message)
{
    static const struct {
        const char *word;
        enum llm_outcome outcome;
    } words[] = {
        {"model_not_found", LLM_NO_MODEL},          {"not_found_error", LLM_NO_MODEL},
        {"invalid_api_key", LLM_KEY_REFUSED},       {"authentication_error", LLM_KEY_REFUSED},
        {"permission_error", LLM_KEY_REFUSED},      {"rate_limit_error", LLM_RATE_LIMITED},
        {"rate_limit_exceeded", LLM_RATE_LIMITED},  {"overloaded_error", LLM_SERVER_ERROR},
        {"invalid_request_error", LLM_BAD_REQUEST}, {"request_too_large", LLM_TOO_LONG},
    };
    if (is_about_money(status, type, code, message))
        return LLM_NO_CREDIT;
    if (status != 429 && status < 500 && is_about_length(code, message))
        return LLM_TOO_LONG;
    if (status == 401 || status == 403)
        return LLM_KEY_REFUSED;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(code, words[i].word) || !strcmp(type, words[i].word))
            return words[i].outcome;
    return status == 404                                     ? LLM_NO_MODEL
           : status == 413                                   ? LLM_TOO_LONG
           : status == 429                                   ? LLM_RATE_LIMITED
           : status == 408 || status == 409 || status >= 500 ? LLM_SERVER_ERROR
           : status >= 300                                   ? LLM_BAD_REQUEST
                                                             : LLM_SERVER_ERROR;
}

/* ---- how long to wait ---- */

/* "6m0s", "120ms", "1h2m": a sum of numbers with units. */
static double
sum_of_units(const char *text)
{
    double sum = 0;
    while (*text) {
        char *unit;
        double number = strtod(text, &unit);
        if (unit == text || !(number >= 0))
            return -1;
        if (!strncmp(unit, "ms", 2))
            sum += number / 1e3, text = unit + 2;
        else if (*unit == 's' || *unit == '\0')
            sum += number, text = unit + (*unit != '\0');
        else if (*unit == 'm')
            sum += number * 60, text = unit + 1;
        else if (*unit == 'h')
            sum += number * 3600, text = unit + 1;
        else
            return -1;
    }
    return sum;
}

double
llm__duration(const char *text, double wall)
{
    struct tm date = {0};
    if (*text == '\0')
        return -1;
    if (isdigit((unsigned char)*text) && strchr(text, 'T') == NULL)
        return sum_of_units(text);
    if (strptime(text, "%Y-%m-%dT%H:%M:%S", &date) == NULL &&
        strptime(text, "%a, %d %b %Y %H:%M:%S GMT", &date) == NULL)
        return -1;
    return fmax(0, (double)timegm(&date) - wall);
}

double
llm__delay(struct llm_call *call)
{
    double first = call->llm->options.first_delay;
    double delay = fmin(first * exp2(call->attempt - 1), 16 * first);
    delay *= 1 - 0.25 * rng_uniform(&call->llm->rng);
    return call->retry_after >= 0 ? call->retry_after : delay;
}

/* ---- the head of a reply ---- */

/* Nothing is left until the reset: all calls to this server wait. */
static void
note_limit(struct llm_call *call, const char *name, const char *value)
{
    struct provider *provider = call->model->provider;
    double reset;
    if (strcasestr(name, "ratelimit") == NULL)
        return;
    if (strcasestr(name, "remaining") != NULL) {
        call->nothing_left |= !strcmp(value, "0");
    } else if (strcasestr(name, "reset") != NULL && call->nothing_left) {
        reset = llm__duration(value, clock_wall());
        if (reset > 0 && reset <= longest_pause)
            provider->not_before = fmax(provider->not_before, clock_seconds() + reset);
        call->nothing_left = false;
    }
}

void
llm__header(struct llm_call *call, const char *line, size_t length)
{
    char *name = arena_strndup(call->arena, line, length), *value = strchr(name, ':');
    if (value == NULL)
        return;
    *value++ = '\0';
    value[strcspn(value, "\r\n")] = '\0';
    value = text_trim(value);
    if (!strcasecmp(name, "retry-after-ms"))
        call->retry_after = llm__duration(value, clock_wall()) / 1e3;
    else if (!strcasecmp(name, "retry-after") && call->retry_after < 0)
        call->retry_after = llm__duration(value, clock_wall());
    else if (!strcasecmp(name, "x-should-retry"))
        call->should_retry = !strcasecmp(value, "true");
    else if (!strcasecmp(name, "x-request-id") || !strcasecmp(name, "request-id"))
        call->request_id = value;
    else
        note_limit(call, name, value);
}

/* ---- quirks ---- */

/* Whether the words name the field as a word of its own. */
static bool
names_field(const char *words, const char *field, size_t length)
{
    for (const char *at = words; (at = strcasestr(at, field)) != NULL; at++) {
        bool before = at > words && (isalnum((unsigned char)at[-1]) || at[-1] == '_');
        bool after = isalnum((unsigned char)at[length]) || at[length] == '_';
        if (!before && !after)
            return true;
    }
    return false;
}

static bool
names_any(const char *words, const char *fields)
{
    while (*fields) {
        size_t length = strcspn(fields, " ");
        char field[64];
        snprintf(field, sizeof field, "%.*s", (int)length, fields);
        if (names_field(words, field, length))
            return true;
        fields += length + (fields[length] == ' ');
    }
    return false;
}

/* Some servers answer 500 where they mean 400: then the words must say that a field is meant. */
static bool
is_refusal(enum llm_outcome outcome, const char *words)
{
    static const char *const refusing[] = {
        "validation error", "not supported", "unsupported", "not permitted",
        "unknown field",    "unexpected",    NULL};
    return outcome == LLM_BAD_REQUEST ||
           (outcome == LLM_SERVER_ERROR && has_one_of(words, refusing));
}

bool
llm__learn_quirk(struct llm_call *call, enum llm_outcome outcome)
{
    unsigned open = call->sent & ~call->model->quirks;
    if (call->refused == NULL || !is_refusal(outcome, call->refused))
        return false;
    for (unsigned quirk = 0; quirk < QUIRK_COUNT; quirk++)
        if (open & 1u << quirk && names_any(call->refused, llm__quirk_info[quirk].fields)) {
            call->model->quirks |= 1u << quirk;
            return true;
        }
    return false;
}
