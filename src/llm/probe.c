/* Three short questions that show in which form a model can be asked to answer: a C function in
 * fences, an edit, a choice in JSON. What matters is the form; that the C would compile is for the
 * judge to find out. */
#include "llm/llm_int.h"

#include "base/clock.h"

#include <math.h>
#include <string.h>

enum { QUESTIONS = 3, PROBE_TOKENS = 4096 };

static const char system_text[] = "You are a program's assistant. Answer exactly in the form that "
                                  "is asked for, with nothing around it.";

static const char choice_schema[] =
    "{\"type\":\"object\",\"properties\":{\"pick\":{\"type\":\"integer\"},"
    "\"reason\":{\"type\":\"string\"}},\"required\":[\"pick\",\"reason\"],"
    "\"additionalProperties\":false}";

static const char *const questions[QUESTIONS] = {
    "Write a C function `float total(const float *x, int n)` that returns the sum of n floats.\n"
    "Answer with one fenced block (```c ... ```) that holds the function alone.\n",

    "This is the file sum.c:\n"
    "\n"
    "float sum(const float *x, int n)\n"
    "{\n"
    "    float s = 1;\n"
    "    for (int i = 0; i < n; i++)\n"
    "        s += x[i];\n"
    "    return s;\n"
    "}\n"
    "\n"
    "The sum must start from 0. Answer with one edit in this form and nothing else:\n"
    "\n"
    "<<<<<<< SEARCH\n"
    "lines as they stand in the file\n"
    "=======\n"
    "lines that replace them\n"
    ">>>>>>> REPLACE\n",

    "Which one of these makes the sum of a large array of floats faster on a CPU?\n"
    "1 print every element\n"
    "2 sort the array first\n"
    "3 add in several vector accumulators\n"
    "4 copy the array twice\n"
    "5 use a linked list\n"
    "Answer with JSON alone: {\"pick\": NUMBER, \"reason\": \"in one sentence\"}\n",
};

/* ---- the answers ---- */

static bool
is_function(const char *text)
{
    const char *fence = strstr(text, "```"), *end = fence ? strstr(fence + 3, "\n```") : NULL;
    const char *name = fence ? strstr(fence, "total(") : NULL;
    return end != NULL && name != NULL && name < end && memchr(name, '}', (size_t)(end - name));
}

static bool
is_edit(const char *text)
{
    const char *search = strstr(text, "<<<<<<< SEARCH\n");
    const char *middle = search ? strstr(search, "\n=======\n") : NULL;
    const char *end = middle ? strstr(middle, "\n>>>>>>> REPLACE") : NULL;
    const char *old = search ? strstr(search, "    float s = 1;") : NULL;
    const char *new = middle ? strstr(middle, "float s = 0") : NULL;
    return end != NULL && old != NULL && old < middle && new != NULL &&new < end;
}

static bool
is_choice(const char *text)
{
    const char *open = strchr(text, '{'), *close = strrchr(text, '}');
    if (open == NULL || close == NULL || close < open)
        return false;
    json_t *value = json_loadb(open, (size_t)(close - open) + 1, 0, NULL);
    bool good = json_integer_value(json_object_get(value, "pick")) == 3 &&
                *llm__string(value, "reason") != '\0';
    json_decref(value);
    return good;
}

static bool (*const is_right[QUESTIONS])(const char *text) = {is_function, is_edit, is_choice};

static enum llm_skill
skill_of(const bool right[QUESTIONS])
{
    return right[0] && right[1] ? LLM_SKILL_STRONG
           : right[0]           ? LLM_SKILL_WHOLE_FILE
           : right[2]           ? LLM_SKILL_CHOOSER
                                : LLM_SKILL_NONE;
}

/* ---- asking ---- */

static enum llm_outcome
ask(struct llm *llm, const struct llm_model *model, unsigned number, struct arena *arena,
    bool *right, double *seconds, const char **message)
{
    const struct llm_message question = {LLM_USER, questions[number]};
    const struct llm_request request = {.model = model,
                                        .system = system_text,
                                        .messages = &question,
                                        .message_count = 1,
                                        .max_tokens = PROBE_TOKENS,
                                        .temperature = NAN,
                                        .schema = number == 2 ? choice_schema : NULL,
                                        .label = "probe"};
    struct diags *diags = diags_create(arena, 1);
    struct llm_call *call;
    if (llm_submit(llm, &request, &call, diags) != STATUS_OK) {
        *message = diags_count(diags) ? diags_get(diags, 0)->message : "no memory";
        return LLM_BAD_REQUEST;
    }
    while (call->state != CALL_DONE)
        llm__step(llm, 1); /* calls of others may end meanwhile; they are theirs to fetch */
    enum llm_outcome outcome = call->result.record.outcome;
    *right = outcome == LLM_OK && is_right[number](call->result.text);
    *message = arena_strdup(arena, call->result.message);
    *seconds = 1e-3 * call->result.record.total_ms;
    llm__free_done(call);
    return outcome;
}

enum llm_outcome
llm_probe(struct llm *llm, const struct llm_model *const_model, struct arena *arena,
          const char **message)
{
    struct llm_model *model = (struct llm_model *)const_model;
    bool right[QUESTIONS] = {false};
    double first = 0;
    *message = "";
    if (model->wire == LLM_BUILTIN)
        return LLM_OK;
    for (unsigned i = 0; i < QUESTIONS; i++) {
        double seconds;
        enum llm_outcome outcome = ask(llm, model, i, arena, &right[i], &seconds, message);
        if (outcome != LLM_OK)
            return outcome;
        if (i == 0)
            first = seconds;
    }
    model->skill = skill_of(right);
    model->probed = clock_wall();
    model->seconds = first;
    llm__memory_write(llm, model);
    return LLM_OK;
}
