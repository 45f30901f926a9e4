/* Model strings: who is asked, at which address, with which key. */
#include "llm/llm_int.h"

#include "base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_NAMES = 64,
    KEY_SECONDS = 30, /* that key_command may take: somebody may have to type a password */
    LONGEST_KEY = 4096,
};

/* Providers that need no settings. */
static const struct known {
    const char *name;
    enum llm_wire wire;
    const char *base_url; /* NULL: not over HTTP */
    const char *base_env, *key_env, *bearer_env;
    const char *what; /* stands behind the colon */
} known[] = {
    {"openai", LLM_CHAT, "https://api.openai.com/v1", "OPENAI_BASE_URL", "OPENAI_API_KEY", NULL,
     "MODEL"},
    {"responses", LLM_RESPONSES, "https://api.openai.com/v1", "OPENAI_BASE_URL", "OPENAI_API_KEY",
     NULL, "MODEL"},
    {"anthropic", LLM_ANTHROPIC, "https://api.anthropic.com", "ANTHROPIC_BASE_URL",
     "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "MODEL"},
    {"ollama", LLM_CHAT, "http://127.0.0.1:11434/v1", "OLLAMA_HOST", NULL, NULL, "MODEL"},
    {"openrouter", LLM_CHAT, "https://openrouter.ai/api/v1", NULL, "OPENROUTER_API_KEY", NULL,
     "MODEL"},
    {"deepseek", LLM_CHAT, "https://api.deepseek.com/v1", NULL, "DEEPSEEK_API_KEY", NULL, "MODEL"},
    {"gemini", LLM_CHAT, "https://generativelanguage.googleapis.com/v1beta/openai", NULL,
     "GEMINI_API_KEY", NULL, "MODEL"},
    {"exec", LLM_EXEC, NULL, NULL, NULL, NULL, "COMMAND"},
    {"mailbox", LLM_MAILBOX, NULL, NULL, NULL, NULL, "DIR"},
    {"replay", LLM_REPLAY, NULL, NULL, NULL, NULL, "RUN or FILE"},
    {"scripted", LLM_SCRIPTED, NULL, NULL, NULL, NULL, "FILE"},
    {"builtin", LLM_BUILTIN, NULL, NULL, NULL, NULL, ""},
};

#define KNOWN (sizeof known / sizeof *known)

static const struct known *
find_known(const char *name)
{
    for (size_t i = 0; i < KNOWN; i++)
        if (!strcmp(known[i].name, name))
            return &known[i];
    return NULL;
}

static const struct llm_provider *
find_own(const struct llm *llm, const char *name)
{
    for (size_t i = 0; i < llm->options.provider_count; i++)
        if (!strcmp(llm->options.providers[i].name, name))
            return &llm->options.providers[i];
    return NULL;
}

static enum status __attribute__((format(printf, 2, 3)))
wrong(struct diags *diags, const char *format, ...)
{
    va_list args;
    char text[1024];
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    diags_add(diags, DIAG_ERROR, (struct place){0}, "%s", text);
    return STATUS_INPUT;
}

/* ---- addresses ---- */

/* The host of a URL is this machine. */
static bool
is_local(const char *url)
{
    const char *host = strstr(url, "://");
    if (host == NULL)
        return false;
    host += 3;
    size_t length = *host == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":/");
    return (length == 9 && !strncmp(host, "localhost", 9)) || !strncmp(host, "127.", 4) ||
           (length == 5 && !strncmp(host, "[::1]", 5));
}

/* "host", "host:port", "http://host:port" as Ollama takes them. */
static const char *
ollama_url(struct arena *arena, const char *host)
{
    const char *scheme = strstr(host, "://") ? "" : "http://";
    const char *rest = strstr(host, "://") ? strstr(host, "://") + 3 : host;
    bool port = strchr(rest, ':') != NULL;
    if (text_starts(rest, "0.0.0.0")) /* where it listens, not where one calls */
        return arena_printf(arena, "http://127.0.0.1%s/v1", port ? strchr(rest, ':') : ":11434");
    return arena_printf(arena, "%s%s%s/v1", scheme, host, port ? "" : ":11434");
}

static const char *
base_of(struct llm *llm, const struct known *row)
{
    const char *value = row->base_env != NULL ? getenv(row->base_env) : NULL;
    if (value == NULL || *value == '\0')
        return row->base_url;
    if (!strcmp(row->name, "ollama"))
        return ollama_url(llm->arena, value);
    return arena_strdup(llm->arena, value);
}

static enum status
set_address(struct llm *llm, struct provider *provider, const char *url, struct diags *diags)
{
    if (text_starts(url, "unix:")) {
        provider->socket = arena_strdup(llm->arena, url + 5);
        provider->base_url =
            provider->wire == LLM_ANTHROPIC ? "http://localhost" : "http://localhost/v1";
    } else {
        char *trimmed = arena_strdup(llm->arena, url);
        while (text_ends(trimmed, "/"))
            trimmed[strlen(trimmed) - 1] = '\0';
        provider->base_url = trimmed;
    }
    if (!text_starts(provider->base_url, "http://") && !text_starts(provider->base_url, "https://"))
        return wrong(diags, "%s: no address; write http://HOST:PORT/v1 or https://...", url);
    if (strpbrk(provider->base_url, " \t\r\n") != NULL || strchr(provider->base_url, '@') != NULL)
        return wrong(diags, "the address of %s has a blank or a key in it; keys stand in variables",
                     provider->name);
    provider->free = is_local(provider->base_url);
    return STATUS_OK;
}

/* ---- keys ---- */

static enum status
take_key(struct llm *llm, struct provider *provider, const char *key, const char *from,
         struct diags *diags)
{
    for (const char *at = key; *at; at++)
        if (iscntrl((unsigned char)*at) || strlen(key) > LONGEST_KEY)
            return wrong(diags, "%s: the key in %s is not one line of text", provider->name, from);
    provider->key = arena_strdup(llm->arena, key);
    provider->key_from = arena_strdup(llm->arena, from);
    llm__add_key(llm, provider->key);
    return STATUS_OK;
}

static const char *
variable(const char *name)
{
    const char *value = name != NULL ? getenv(name) : NULL;
    return value != NULL && *value ? value : NULL;
}

static enum status
run_key_command(struct llm *llm, struct provider *provider, const char *command,
                struct diags *diags)
{
    const char *argv[] = {"sh", "-c", command, NULL};
    struct proc_result result;
    const struct proc_request request = {
        .argv = argv, .output_limit = LONGEST_KEY, .seconds = KEY_SECONDS};
    if (proc_run(llm->arena, &request, &result) != STATUS_OK || result.exit_code != 0)
        return wrong(diags, "%s: key_command failed; it must print the key and nothing else",
                     provider->name);
    result.out[strcspn(result.out, "\r\n")] = '\0';
    if (*result.out == '\0')
        return wrong(diags, "%s: key_command printed no key", provider->name);
    return take_key(llm, provider, result.out, "key_command", diags);
}

static enum status
known_key(struct llm *llm, struct provider *provider, const struct known *row, struct diags *diags)
{
    const char *key = variable(row->key_env), *bearer = variable(row->bearer_env);
    if (key != NULL)
        return take_key(llm, provider, key, row->key_env, diags);
    if (bearer != NULL) {
        provider->bearer = true;
        return take_key(llm, provider, bearer, row->bearer_env, diags);
    }
    if (row->key_env == NULL || provider->free)
        return STATUS_OK;
    return wrong(diags, "%s: no key: set %s, or use ollama:NAME, exec:claude, mailbox:DIR",
                 row->name, row->key_env);
}

static enum status
own_key(struct llm *llm, struct provider *provider, const struct llm_provider *own,
        struct diags *diags)
{
    const char *key = variable(own->key_env);
    if (key != NULL)
        return take_key(llm, provider, key, own->key_env, diags);
    if (own->key_command != NULL)
        return run_key_command(llm, provider, own->key_command, diags);
    if (own->key_env != NULL)
        return wrong(diags, "%s: no key: set %s", own->name, own->key_env);
    return STATUS_OK;
}

/* ---- providers ---- */

static struct provider *
add_provider(struct llm *llm, const char *name, enum llm_wire wire)
{
    struct provider *provider = arena_alloc(llm->arena, sizeof *provider);
    provider->name = arena_strdup(llm->arena, name);
    provider->wire = wire;
    provider->parallel = llm->options.parallel;
    provider->price = (struct llm_price){-1, -1, -1, -1, ""};
    provider->next = llm->providers;
    llm->providers = provider;
    return provider;
}

/* One that was opened under the same name and, if it was given, at the same address. */
static struct provider *
find_open(const struct llm *llm, const char *name, const char *address)
{
    for (struct provider *provider = llm->providers; provider; provider = provider->next)
        if (!strcmp(provider->name, name) &&
            (address == NULL ? provider->given == NULL
                             : provider->given != NULL && !strcmp(provider->given, address)))
            return provider;
    return NULL;
}

/* An address that the caller gave. The vendor's key stays at home: whoever runs that server need
 * not have it. */
static enum status
open_at(struct llm *llm, const struct known *row, const char *address, struct provider **result,
        struct diags *diags)
{
    *result = add_provider(llm, row->name, row->wire);
    (*result)->given = arena_strdup(llm->arena, address);
    return set_address(llm, *result, address, diags);
}

static enum status
open_known(struct llm *llm, const struct known *row, struct provider **result, struct diags *diags)
{
    const char *base = row->base_url != NULL ? base_of(llm, row) : NULL;
    struct provider *provider = *result = add_provider(llm, row->name, row->wire);
    provider->free = base == NULL;
    if (base == NULL)
        return STATUS_OK;
    enum status status = set_address(llm, provider, base, diags);
    provider->vendor = !strcmp(base, row->base_url) && row->key_env != NULL &&
                       strcmp(row->key_env, "OPENAI_API_KEY") == 0;
    return status == STATUS_OK && !llm->options.offline ? known_key(llm, provider, row, diags)
                                                        : status;
}

static enum status
open_own(struct llm *llm, const struct llm_provider *own, struct provider **result,
         struct diags *diags)
{
    struct provider *provider = *result = add_provider(llm, own->name, own->wire);
    provider->window = own->window;
    provider->price = own->price;
    if (own->parallel > 0)
        provider->parallel = own->parallel;
    enum status status = set_address(llm, provider, own->base_url, diags);
    return status == STATUS_OK && !llm->options.offline ? own_key(llm, provider, own, diags)
                                                        : status;
}

static void
forget(struct llm *llm, struct provider *failed)
{
    if (llm->providers == failed)
        llm->providers = failed->next;
}

static enum status
open_provider(struct llm *llm, const char *name, const char *address, struct provider **result,
              struct diags *diags)
{
    const struct llm_provider *own = find_own(llm, name);
    const struct known *row = find_known(name);
    struct provider *before = llm->providers;
    enum status status = own != NULL       ? open_own(llm, own, result, diags)
                         : address != NULL ? open_at(llm, row, address, result, diags)
                                           : open_known(llm, row, result, diags);
    if (status != STATUS_OK && llm->providers != before)
        forget(llm, *result);
    return status;
}

/* ---- model strings ---- */

static enum status
no_provider(struct llm *llm, const char *text, const char *name, struct diags *diags)
{
    const char *names[MOST_NAMES];
    size_t count = 0;
    for (size_t i = 0; i < KNOWN; i++)
        names[count++] = known[i].name;
    for (size_t i = 0; i < llm->options.provider_count && count < MOST_NAMES; i++)
        names[count++] = llm->options.providers[i].name;
    const char *near = text_nearest(name, names, count);
    if (strchr(text, ':') == NULL && near == NULL)
        return wrong(diags,
                     "--model %s: which provider? write openai:%s, or openai:%s@URL for your own "
                     "server",
                     text, text, text);
    if (near != NULL)
        return wrong(diags, "--model %s: no such provider; did you mean %s:%s?", text, near,
                     strchr(text, ':') ? strchr(text, ':') + 1 : "NAME");
    return wrong(diags, "--model %s: no such provider; `hone models` lists them", text);
}

/* Where "@http..." or "@unix:" begins, or NULL: other signs may be part of a name. */
static const char *
address_in(const char *name)
{
    static const char *const schemes[] = {"@http://", "@https://", "@unix:"};
    const char *last = NULL;
    for (size_t i = 0; i < 3; i++)
        for (const char *at = name; (at = strstr(at, schemes[i])) != NULL; at++)
            last = at > last ? at : last;
    return last;
}

static void
set_price(struct llm *llm, struct llm_model *model)
{
    const struct provider *provider = model->provider;
    const struct price_row *row = llm__price_of(llm, provider->name, model->name);
    model->price = provider->price;
    model->window = provider->window;
    model->free = provider->free;
    if (model->price.input >= 0)
        model->priced = true;
    else if (row != NULL && !provider->free) {
        model->price = row->price;
        model->priced = true;
    }
    if (model->window == 0 && row != NULL && !provider->free)
        model->window = row->window;
    model->free &= !model->priced;
}

static enum status
add_model(struct llm *llm, const char *text, const char *name, struct provider *provider,
          struct llm_model **result, struct diags *diags)
{
    struct llm_model *model = arena_alloc(llm->arena, sizeof *model);
    const struct transport *transport = llm__transport(provider->wire);
    model->text = arena_strdup(llm->arena, text);
    model->name = arena_strdup(llm->arena, name);
    model->provider = provider;
    model->wire = provider->wire;
    set_price(llm, model);
    if (provider->base_url != NULL || provider->wire == LLM_EXEC)
        llm__memory_read(llm, model);
    if (transport != NULL && transport->open != NULL && !llm->options.offline) {
        enum status status = transport->open(llm, model, diags);
        if (status != STATUS_OK)
            return status;
    }
    model->next = llm->models;
    llm->models = model;
    *result = model;
    return STATUS_OK;
}

enum status
llm_model_find(struct llm *llm, const char *text, const struct llm_model **result,
               struct diags *diags)
{
    size_t head = strcspn(text, ":");
    const char *provider_name = arena_strndup(llm->arena, text, head);
    const char *name = text[head] ? text + head + 1 : "", *at = NULL;
    const struct known *row = find_known(provider_name);
    for (struct llm_model *model = llm->models; model != NULL; model = model->next)
        if (!strcmp(model->text, text)) {
            *result = model;
            return STATUS_OK;
        }
    if (row == NULL && find_own(llm, provider_name) == NULL)
        return no_provider(llm, text, provider_name, diags);
    if (*name == '\0' && (row == NULL || row->wire != LLM_BUILTIN))
        return wrong(diags, "--model %s: which? write %s:%s", text, provider_name,
                     row != NULL ? row->what : "MODEL");
    if (row != NULL && row->base_url != NULL && (at = address_in(name)) != NULL)
        name = arena_strndup(llm->arena, name, (size_t)(at - name));
    const char *address = at != NULL ? at + 1 : NULL;
    struct provider *provider = find_open(llm, provider_name, address);
    enum status status = STATUS_OK;
    if (provider == NULL)
        status = open_provider(llm, provider_name, address, &provider, diags);
    struct llm_model *model = NULL;
    if (status == STATUS_OK)
        status = add_model(llm, text, name, provider, &model, diags);
    *result = model;
    return status;
}

/* ---- lists ---- */

/* Whether a comma separates models: what follows is "name:" or "builtin". Commands have commas of
 * their own. */
static bool
begins_model(const char *text)
{
    size_t length = 0;
    while (isalnum((unsigned char)text[length]) || text[length] == '-' || text[length] == '_')
        length++;
    return length > 0 && (text[length] == ':' || (length == 7 && !strncmp(text, "builtin", 7)));
}

/* Up to the comma before the next one. */
static size_t
model_length(const char *text)
{
    size_t length = strcspn(text, ",");
    while (text[length] == ',' && !begins_model(text + length + 1))
        length += 1 + strcspn(text + length + 1, ",");
    return length;
}

/* Cuts "=0.3" off the end; negative: none is there. */
static double
cut_weight(char *text)
{
    char *equals = strrchr(text, '='), *end;
    double weight = equals != NULL ? strtod(equals + 1, &end) : -1;
    if (equals == NULL || end == equals + 1 || *end != '\0' || !(weight >= 0))
        return -1;
    *equals = '\0';
    return weight;
}

static enum status
share_out(struct llm_choice *list, size_t count, const char *text, struct diags *diags)
{
    double given = 0, open = 0;
    for (size_t i = 0; i < count; i++)
        if (list[i].weight >= 0)
            given += list[i].weight;
        else
            open++;
    if (open == 0 ? !(given > 0) : given >= 1)
        return wrong(diags,
                     "--model %s: the weights leave nothing for the others; write shares "
                     "of 1, as in A,B=0.3",
                     text);
    for (size_t i = 0; i < count; i++)
        list[i].weight = open == 0             ? list[i].weight / given
                         : list[i].weight >= 0 ? list[i].weight
                                               : (1 - given) / open;
    return STATUS_OK;
}

enum status
llm_models_parse(struct llm *llm, struct arena *arena, const char *text, struct llm_choice **list,
                 size_t *count, struct diags *diags)
{
    char *rest = arena_strdup(arena, text);
    bool more = true;
    *list = arena_array(arena, strlen(text) + 1, sizeof **list);
    *count = 0;
    while (more) {
        char *one = rest;
        size_t length = model_length(one);
        more = one[length] == ',';
        one[length] = '\0';
        rest = one + length + more;
        struct llm_choice *choice = &(*list)[(*count)++];
        choice->weight = cut_weight(one);
        enum status status = llm_model_find(llm, one, &choice->model, diags);
        if (status != STATUS_OK)
            return status;
    }
    return share_out(*list, *count, text, diags);
}

/* ---- facts ---- */

struct llm_facts
llm_facts(const struct llm_model *model)
{
    const struct provider *provider = model->provider;
    bool http = provider->base_url != NULL;
    bool grammar = model->wire == LLM_CHAT &&
                   (model->server == SERVER_LLAMA_CPP || model->server == SERVER_VLLM) &&
                   !(model->quirks & 1u << QUIRK_NO_GRAMMAR);
    return (struct llm_facts){
        .text = model->text,
        .provider = provider->name,
        .name = model->name,
        .base_url = provider->base_url,
        .key_from = provider->key_from,
        .wire = model->wire,
        .window = model->window,
        .price = model->price,
        .priced = model->priced,
        .free = model->free,
        .skill = model->skill,
        .probed = model->probed,
        .seconds = model->seconds,
        .constrained = http && !(model->quirks & 1u << QUIRK_NO_SCHEMA),
        .grammar = grammar,
    };
}

bool
llm_provider_at(const struct llm *llm, size_t i, struct llm_provider_facts *facts)
{
    if (i < llm->options.provider_count) {
        const struct llm_provider *own = &llm->options.providers[i];
        *facts = (struct llm_provider_facts){
            .name = own->name,
            .key_from = own->key_env != NULL ? own->key_env
                        : own->key_command   ? "key_command"
                                             : NULL,
            .base_url = own->base_url,
            .has_key = variable(own->key_env) != NULL || own->key_command != NULL,
            .needs_key = own->key_env != NULL || own->key_command != NULL,
            .own = true};
        return true;
    }
    i -= llm->options.provider_count;
    if (i >= KNOWN)
        return false;
    bool bearer = variable(known[i].key_env) == NULL && variable(known[i].bearer_env) != NULL;
    *facts =
        (struct llm_provider_facts){.name = known[i].name,
                                    .key_from = bearer ? known[i].bearer_env : known[i].key_env,
                                    .base_url = known[i].base_url,
                                    .has_key = bearer || variable(known[i].key_env) != NULL,
                                    .needs_key = known[i].key_env != NULL};
    return true;
}
