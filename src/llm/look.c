/* What a server says of itself and its models, before anything is asked of them: lists and
 * properties, which cost nothing. */
#include "llm/llm_int.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double ollama_window = 4096; /* where nobody has set another */

struct look {
    struct llm *llm;
    struct llm_model *model;
    struct arena *arena;
    double window;
    const char *message;
};

static json_t *
get(struct look *look, const char *url, const char *post, int *status)
{
    struct buf body;
    *status = llm__http_get(look->llm, look->model->provider, url, post, look->arena, &body);
    if (*status == 0)
        look->message = llm__unreachable(look->arena, look->model->provider, body.data);
    return *status == 200 ? json_loadb(body.data, body.length, JSON_ALLOW_NUL, NULL) : NULL;
}

/* The address without its /v1: servers keep what is their own there. */
static const char *
root_of(struct look *look)
{
    char *root = arena_strdup(look->arena, look->model->provider->base_url);
    if (text_ends(root, "/v1"))
        root[strlen(root) - 3] = '\0';
    return root;
}

/* ---- lists of models ---- */

/* "qwen3" is also "qwen3:latest", and a name without its date stands for one with it. */
static bool
is_named(const char *id, const char *name)
{
    size_t length = strlen(name);
    const char *rest = id + length;
    return !strncmp(id, name, length) &&
           (*rest == '\0' || !strcmp(rest, ":latest") ||
            (*rest == '-' && strlen(rest) == 9 && strspn(rest + 1, "0123456789") == 8));
}

static double
window_in(json_t *entry)
{
    static const char *const names[] = {"max_model_len", "context_length", "context_window",
                                        "max_input_tokens"};
    double window = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names && window == 0; i++)
        window = llm__number(entry, names[i]);
    return window;
}

static void
note_server(struct llm_model *model, json_t *entry)
{
    const char *owner = llm__string(entry, "owned_by");
    if (!strcmp(owner, "llamacpp"))
        model->server = SERVER_LLAMA_CPP;
    else if (!strcmp(owner, "vllm"))
        model->server = SERVER_VLLM;
    else if (!strcmp(model->provider->name, "ollama"))
        model->server = SERVER_OLLAMA;
}

/* Whether the list has the model, or is none; the nearest name otherwise. */
static bool
search_list(struct look *look, json_t *list, const char **near)
{
    size_t count = json_array_size(list);
    const char **names = arena_array(look->arena, count + 1, sizeof *names);
    bool found = count == 0;
    for (size_t i = 0; i < count; i++) {
        json_t *entry = json_array_get(list, i);
        names[i] = arena_strdup(look->arena, llm__string(entry, "id"));
        note_server(look->model, entry);
        if (is_named(names[i], look->model->name)) {
            found = true;
            look->window = window_in(entry);
        }
    }
    *near = text_nearest(look->model->name, names, count);
    return found;
}

/* Servers with one model do not care what it is called. */
static bool
cares_for_names(const struct llm_model *model)
{
    return !model->provider->free || model->server == SERVER_VLLM || model->server == SERVER_OLLAMA;
}

static enum llm_outcome
judge_status(struct look *look, int status)
{
    const struct provider *provider = look->model->provider;
    if (status == 0)
        return LLM_UNREACHABLE;
    if (status == 401 || status == 403) {
        look->message = provider->key_from != NULL
                            ? arena_printf(look->arena, "%s: %d, the key in %s was refused",
                                           provider->name, status, provider->key_from)
                            : arena_printf(look->arena,
                                           "%s: %d, it wants a key; write a [provider] section "
                                           "with key_env",
                                           provider->name, status);
        return LLM_KEY_REFUSED;
    }
    if (status >= 500) {
        look->message =
            arena_printf(look->arena, "%s: the server answers %d", provider->name, status);
        return LLM_SERVER_ERROR;
    }
    return LLM_OK; /* some servers have no such list */
}

static enum llm_outcome
look_at_list(struct look *look)
{
    bool anthropic = look->model->wire == LLM_ANTHROPIC;
    const char *near = NULL, *path = anthropic ? "/v1/models?limit=1000" : "/models";
    int status;
    json_t *body =
        get(look, arena_printf(look->arena, "%s%s", look->model->provider->base_url, path), NULL,
            &status);
    enum llm_outcome outcome = judge_status(look, status);
    json_t *list = json_object_get(body, "data");
    if (outcome == LLM_OK && !search_list(look, list, &near) && cares_for_names(look->model)) {
        outcome = LLM_NO_MODEL;
        look->message =
            arena_printf(look->arena, "%s: no such model at %s%s%s%s", look->model->text,
                         look->model->provider->base_url, near ? "; did you mean " : "",
                         near ? near : "", near ? "?" : "");
    }
    json_decref(body);
    return outcome;
}

/* ---- what only some servers have ---- */

/* llama.cpp: the window is that of the server's start, not of the model. */
static void
look_at_props(struct look *look)
{
    int status;
    json_t *body = get(look, arena_printf(look->arena, "%s/props", root_of(look)), NULL, &status);
    double window = llm__number(json_object_get(body, "default_generation_settings"), "n_ctx");
    if (window > 0) {
        look->model->server = SERVER_LLAMA_CPP;
        look->window = window;
    }
    json_decref(body);
}

/* Ollama cuts what is longer than the window without a word. */
static void
look_at_ollama(struct look *look)
{
    const char *set = getenv("OLLAMA_CONTEXT_LENGTH");
    json_t *question = json_pack("{s:s}", "model", look->model->name);
    char *post = json_dumps(question, JSON_COMPACT);
    int status;
    json_t *body =
        get(look, arena_printf(look->arena, "%s/api/show", root_of(look)), post, &status);
    const char *own = strstr(llm__string(body, "parameters"), "num_ctx");
    look->model->server = SERVER_OLLAMA;
    look->window = own != NULL   ? strtod(own + strlen("num_ctx"), NULL)
                   : set != NULL ? strtod(set, NULL)
                                 : ollama_window;
    if (!(look->window > 0))
        look->window = ollama_window;
    json_decref(body);
    json_decref(question);
    free(post);
}

static enum llm_outcome
look_at_server(struct look *look)
{
    struct llm_model *model = look->model;
    enum llm_outcome outcome = look_at_list(look);
    if (outcome != LLM_OK)
        return outcome;
    if (!strcmp(model->provider->name, "ollama"))
        look_at_ollama(look);
    else if (look->window == 0 && !model->provider->vendor && model->wire != LLM_ANTHROPIC)
        look_at_props(look);
    if (look->window > 0 && model->provider->window == 0)
        model->window = look->window;
    llm__memory_write(look->llm, model);
    return LLM_OK;
}

/* ---- what is no server ---- */

static enum llm_outcome
look_at_program(struct look *look)
{
    const char *command = look->model->name;
    const char *program = arena_strndup(look->arena, command, strcspn(command, " \t;|&<>"));
    if (strchr(program, '=') != NULL || proc_find(look->arena, program) != NULL)
        return LLM_OK; /* a variable stands first, or it is there */
    look->message = arena_printf(look->arena, "exec: %s is not in PATH; install it", program);
    return LLM_UNREACHABLE;
}

static enum llm_outcome
look_at_folder(struct look *look)
{
    if (access(look->model->name, W_OK) == 0)
        return LLM_OK;
    look->message = arena_printf(look->arena, "mailbox: %s cannot be written", look->model->name);
    return LLM_UNREACHABLE;
}

enum llm_outcome
llm_look(struct llm *llm, const struct llm_model *model, struct arena *arena, const char **message)
{
    struct look look = {
        .llm = llm, .model = (struct llm_model *)model, .arena = arena, .message = ""};
    enum llm_outcome outcome = model->provider->base_url != NULL ? look_at_server(&look)
                               : model->wire == LLM_EXEC         ? look_at_program(&look)
                               : model->wire == LLM_MAILBOX      ? look_at_folder(&look)
                                                                 : LLM_OK;
    *message = outcome == LLM_OK ? "" : llm_redact(llm, arena, look.message);
    return outcome;
}
