/* hone new --model: a model drafts the program, the checker reads it, and what is wrong goes back
 * once. */
#include "app/config.h"
#include "app/new.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char language[] =
    "You write programs in a small tensor language. A program is the specification of an "
    "operator:\n"
    "- `op NAME`, then `dim R=1024, N=4096` (sizes), `in X: f32[R,N]` (one line an input), stages, "
    "`out Y`, perhaps `case small R=7 N=101`.\n"
    "- A stage defines a whole tensor, every element once: `Y[r,j] = X[r,j] / sum[k](X[r,k])`. "
    "Indices are lower case; their extents follow from the tensors they subscript, or `Y[r:R]`.\n"
    "- Reductions: sum mean prod max min argmax argmin, as `max[j](X[r,j])`; `sum[k ? k <= "
    "i](...)` "
    "keeps the terms for which the condition holds.\n"
    "- Functions: exp log sqrt rsqrt tanh erf sigmoid abs floor min max clamp pow, `if(c, a, b)`. "
    "`X[i-1,j|0]` is 0 out of bounds. Types: f32 f64 f16 bf16 i32 i8.\n"
    "- Operators of the library are called on whole tensors: `Y = layer_norm(X, G, B)`.\n"
    "- Comments begin with #. Every tensor is defined above its first use; `out` comes last but "
    "for cases.\n"
    "Answer with the program alone, in one fence ```op.";

static enum status
ask(struct cli *cli, struct llm *llm, const struct llm_request *request, const char **text)
{
    struct llm_call *call;
    enum status status = llm_submit(llm, request, &call, cli->diags);
    if (status != STATUS_OK)
        return status;
    while (llm_wait(llm, 0.5) == 0)
        ;
    call = llm_next_done(llm);
    const struct llm_result *result = llm_result(call);
    *text = arena_strndup(cli->arena, result->text, result->text_length);
    if (result->record.outcome != LLM_OK) {
        diags_add(cli->diags, DIAG_ERROR, (struct place){0}, "%s", result->message);
        status = STATUS_MACHINE;
    }
    llm_call_free(call);
    return status;
}

/* The checker's complaints as a text for the model. */
static const char *
complaints(struct cli *cli, const struct diags *diags)
{
    struct buf text = buf_in(cli->arena);
    buf_puts(&text, "That is no program yet:\n");
    for (size_t i = 0; i < diags_count(diags); i++)
        buf_printf(&text, "line %u: %s\n", diags_get(diags, i)->place.line,
                   diags_get(diags, i)->message);
    buf_puts(&text, "Write all of it again, mended.");
    return text.data;
}

static enum status
converse(struct cli *cli, struct llm *llm, struct llm_request *request, const char *file,
         const char **program)
{
    struct llm_message messages[3] = {request->messages[0]};
    struct diags *wrong = NULL;
    const char *reply;
    request->messages = messages;
    for (request->message_count = 1; request->message_count <= 3; request->message_count += 2) {
        enum status status = ask(cli, llm, request, &reply);
        if (status != STATUS_OK)
            return status;
        wrong = diags_create(cli->arena, 8);
        if (lang_draft(cli->arena, reply, file, program, wrong) == STATUS_OK)
            return STATUS_OK;
        messages[1] = (struct llm_message){LLM_ASSISTANT, reply};
        messages[2] = (struct llm_message){LLM_USER, complaints(cli, wrong)};
    }
    log_warning(&cli->log, "the model's second draft is no program either: %s",
                diags_count(wrong) ? diags_get(wrong, 0)->message : "it is empty");
    return STATUS_NO;
}

enum status
new_by_model(struct cli *cli, const char *words, const char *nearest, const char *file,
             const char **program)
{
    const struct llm_model *model;
    const struct config *config;
    struct llm *llm;
    struct llm_budget budget = llm_budget_without_limits();
    enum status status = config_read(cli, &config);
    if (status == STATUS_OK)
        status = config_open_llm(cli, NULL, false, &llm);
    if (status != STATUS_OK)
        return status;
    budget.cost = strtod(config->values[CONFIG_COST].text, NULL);
    llm_set_budget(llm, &budget);
    status = llm_model_find(llm, cli_given(cli, "model"), &model, cli->diags);
    if (status == STATUS_OK) {
        struct llm_message question = {
            LLM_USER,
            arena_printf(cli->arena, "The operator: %s\n%s%s", words,
                         nearest ? "\nA program of the library that may be near:\n\n" : "",
                         nearest ? nearest : "")};
        struct llm_request request = {.model = model,
                                      .system = language,
                                      .messages = &question,
                                      .message_count = 1,
                                      .temperature = NAN,
                                      .label = "new",
                                      .wanted = "a program in the tensor language"};
        status = converse(cli, llm, &request, file, program);
    }
    llm_close(llm);
    return status;
}
