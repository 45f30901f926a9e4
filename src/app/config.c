#include "app/config.h"

#include "base/file.h"
#include "base/settings.h"
#include "base/text.h"
#include "box/box.h"
#include "bridge/bridge.h"
#include "store/store.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LARGEST_FILE 65536

const char *const config_key[CONFIG_COUNT] = {
#define X(id, key, variable) [CONFIG_##id] = key,
    CONFIG_SETTINGS(X)
#undef X
};

static const char *const variables[CONFIG_COUNT] = {
#define X(id, key, variable) [CONFIG_##id] = variable,
    CONFIG_SETTINGS(X)
#undef X
};

/* A file that is being read. */
struct reading {
    struct cli *cli;
    struct config *config;
    const char *shown; /* its name, for `hone config` */
    bool ours;         /* the user's own, not one that came with a repository */
    bool failed;
};

static void __attribute__((format(printf, 3, 4)))
complain(struct reading *reading, struct place place, const char *format, ...)
{
    va_list args;
    struct buf buf = buf_in(reading->cli->arena);
    va_start(args, format);
    buf_vprintf(&buf, format, args);
    va_end(args);
    diags_add(reading->cli->diags, DIAG_ERROR, place, "%s", buf.data);
    reading->failed = true;
}

/* ---- values ---- */

static bool
is_number(const char *text, double *number)
{
    char *end;
    *number = strtod(text, &end);
    return end > text && *end == '\0' && isfinite(*number) && *number >= 0;
}

/* What is wrong with a value, or NULL. */
static const char *
wrong_with(enum config_id id, const char *text)
{
    double number;
    int64_t threads;
    if (*text == '\0')
        return "is empty; write a value, or leave the line out";
    if (id == CONFIG_COST && !is_number(text, &number))
        return "write US dollars, as in 2.00";
    if (id == CONFIG_THREADS &&
        (!text_integer(text, &threads) || threads < 1 || threads > BOX_CPUS_MAX))
        return "write a number from 1 on";
    return NULL;
}

/* A folder from somewhere else must not run programs or send prompts to its own addresses. */
static bool
is_harmless(enum config_id id, const char *text)
{
    if (id == CONFIG_TORCH)
        return false;
    return (id != CONFIG_MODEL && id != CONFIG_EMBEDDINGS) ||
           (strstr(text, "exec:") == NULL && strstr(text, "@http") == NULL &&
            strstr(text, "@unix") == NULL);
}

static void
take_value(struct reading *reading, const struct setting *setting)
{
    const char *const *keys = config_key;
    unsigned id = 0;
    while (id < CONFIG_COUNT && strcmp(keys[id], setting->key) != 0)
        id++;
    if (id == CONFIG_COUNT) {
        settings_unknown(reading->cli->diags, setting->place, setting->key, "setting", keys,
                         CONFIG_COUNT);
        reading->failed = true;
        return;
    }
    const char *wrong = wrong_with(id, setting->value);
    if (wrong != NULL)
        complain(reading, setting->at, "%s %s: %s", setting->key, setting->value, wrong);
    else if (!reading->ours && !is_harmless(id, setting->value))
        complain(reading, setting->at,
                 "%s: %s; write it into config in your configuration folder instead",
                 setting->value,
                 id == CONFIG_TORCH ? "a folder whose programs would be run"
                                    : "a model with a command or an address of its own");
    else
        reading->config->values[id] = (struct config_value){
            setting->value,
            arena_printf(reading->cli->arena, "%s:%u", reading->shown, setting->place.line)};
}

/* ---- providers ---- */

static void
take_wire(struct reading *reading, const struct setting *setting, enum llm_wire *wire)
{
    for (unsigned i = LLM_CHAT; i <= LLM_ANTHROPIC; i++)
        if (!strcmp(llm_wire_name[i], setting->value)) {
            *wire = i;
            return;
        }
    settings_unknown(reading->cli->diags, setting->at, setting->value,
                     "wire (openai, responses, anthropic)", llm_wire_name, LLM_ANTHROPIC + 1);
    reading->failed = true;
}

/* "0.10 0.02 0.40": in, cached, out. */
static bool
read_prices(char *text, double prices[3])
{
    size_t count = 0;
    for (char *word; (word = strsep(&text, " \t,")) != NULL;) {
        if (*word == '\0')
            continue;
        if (count == 3 || !is_number(word, &prices[count]))
            return false;
        count++;
    }
    return count == 3;
}

static void
take_price(struct reading *reading, const struct setting *setting, struct llm_price *price)
{
    double prices[3];
    if (read_prices(arena_strdup(reading->cli->arena, setting->value), prices))
        *price = (struct llm_price){prices[0], prices[1], -1, prices[2], ""};
    else
        complain(reading, setting->at,
                 "price %s: write three numbers, USD per million tokens: in, cached, out",
                 setting->value);
}

static void
take_count(struct reading *reading, const struct setting *setting, double *count)
{
    if (!is_number(setting->value, count) || *count < 1 || *count > 1e9)
        complain(reading, setting->at, "%s %s: write a number from 1 on", setting->key,
                 setting->value);
}

/* The name of a variable; a key itself is caught before it is shown to anybody. */
static void
take_variable(struct reading *reading, const struct setting *setting, const char **name)
{
    const char *at = setting->value;
    while (isupper((unsigned char)*at) || isdigit((unsigned char)*at) || *at == '_')
        at++;
    if (*at != '\0' || *setting->value == '\0')
        complain(reading, (struct place){setting->place.source, 0, 0},
                 "key_env in line %u: write the name of a variable (A-Z, 0-9, _), never a key",
                 setting->place.line);
    else
        *name = setting->value;
}

static void
take_provider_setting(struct reading *reading, const struct setting *setting,
                      struct llm_provider *provider)
{
    static const char *const keys[] = {"wire",   "base_url", "key_env", "key_command",
                                       "window", "price",    "parallel"};
    double parallel = 0;
    if (!strcmp(setting->key, "wire"))
        take_wire(reading, setting, &provider->wire);
    else if (!strcmp(setting->key, "base_url"))
        provider->base_url = setting->value;
    else if (!strcmp(setting->key, "key_env"))
        take_variable(reading, setting, &provider->key_env);
    else if (!strcmp(setting->key, "key_command"))
        provider->key_command = setting->value;
    else if (!strcmp(setting->key, "window"))
        take_count(reading, setting, &provider->window);
    else if (!strcmp(setting->key, "price"))
        take_price(reading, setting, &provider->price);
    else if (!strcmp(setting->key, "parallel"))
        take_count(reading, setting, &parallel);
    else {
        settings_unknown(reading->cli->diags, setting->place, setting->key, "setting of a provider",
                         keys, sizeof keys / sizeof *keys);
        reading->failed = true;
    }
    if (parallel > 0)
        provider->parallel = (unsigned)parallel;
}

static void
take_section(struct reading *reading, const struct settings_section *section)
{
    static const char *const kinds[] = {"provider"};
    struct config *config = reading->config;
    struct llm_provider provider = {.name = section->name, .price = {-1, -1, -1, -1, ""}};
    if (strcmp(section->kind, "provider") != 0) {
        settings_unknown(reading->cli->diags, section->place, section->kind, "section", kinds, 1);
        reading->failed = true;
        return;
    }
    bool named = *section->name != '\0' && strpbrk(section->name, " \t") == NULL;
    if (!reading->ours || !named) {
        complain(reading, section->place,
                 named ? "providers stand in config in your configuration folder, not here"
                       : "which provider? write [provider NAME]");
        return;
    }
    for (size_t i = 0; i < section->count; i++)
        take_provider_setting(reading, &section->settings[i], &provider);
    if (provider.base_url == NULL)
        complain(reading, section->place,
                 "the provider has no address; write base_url = "
                 "http://HOST:PORT/v1");
    config->providers = arena_grow(reading->cli->arena, config->providers, config->provider_count,
                                   config->provider_count + 1, sizeof *config->providers);
    config->providers[config->provider_count++] = provider;
}

/* ---- files ---- */

static enum status
read_config_file(struct reading *reading, const char *path)
{
    struct cli *cli = reading->cli;
    struct source *source = arena_alloc(cli->arena, sizeof *source);
    struct settings settings;
    if (access(path, F_OK) != 0)
        return STATUS_OK;
    enum status status = file_read(cli->arena, path, LARGEST_FILE, source, cli->diags);
    if (status == STATUS_OK)
        status = settings_parse(cli->arena, source, true, &settings, cli->diags);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < settings.sections[0].count; i++)
        take_value(reading, &settings.sections[0].settings[i]);
    for (size_t i = 1; i < settings.count; i++)
        take_section(reading, &settings.sections[i]);
    return reading->failed ? STATUS_INPUT : STATUS_OK;
}

const char *
config_shorten(struct arena *arena, const char *path)
{
    const char *home = getenv("HOME");
    if (home != NULL && home[0] == '/' && text_starts(path, home) && path[strlen(home)] == '/')
        return arena_printf(arena, "~%s", path + strlen(home));
    return path;
}

/* The .hone that holds here: of this folder, or of one above it in the same repository. Outside of
 * any, that of this folder alone. */
static const char *
find_dot_hone(struct arena *arena)
{
    char *here = getcwd(NULL, 0);
    const char *found = NULL, *folder = here != NULL ? arena_strdup(arena, here) : "/";
    free(here);
    for (; strcmp(folder, "/") != 0; folder = file_folder_of(arena, folder)) {
        const char *file = file_join(arena, folder, ".hone");
        if (found == NULL && access(file, F_OK) == 0)
            found = file;
        if (access(file_join(arena, folder, ".git"), F_OK) == 0)
            return found;
    }
    return access(".hone", F_OK) == 0 ? ".hone" : NULL;
}

static enum status
read_files(struct cli *cli, struct config *config)
{
    struct reading own = {.cli = cli, .config = config, .ours = true};
    struct reading here = {.cli = cli, .config = config};
    enum status status = STATUS_OK;
    if (config->folder != NULL) {
        const char *path = file_join(cli->arena, config->folder, "config");
        own.shown = config_shorten(cli->arena, path);
        status = read_config_file(&own, path);
    }
    const char *path = find_dot_hone(cli->arena);
    if (status == STATUS_OK && path != NULL) {
        here.shown = config_shorten(cli->arena, path);
        status = read_config_file(&here, path);
    }
    return status;
}

static enum status
read_variables(struct cli *cli, struct config *config)
{
    for (unsigned id = 0; id < CONFIG_COUNT; id++) {
        const char *value = getenv(variables[id]);
        if (value == NULL || *value == '\0')
            continue;
        const char *wrong = wrong_with(id, value);
        if (wrong != NULL)
            return cli_wrong(cli, "%s=%s: %s", variables[id], value, wrong);
        config->values[id] = (struct config_value){value, variables[id]};
    }
    return STATUS_OK;
}

enum status
config_read(struct cli *cli, const struct config **result)
{
    struct config *config = arena_alloc(cli->arena, sizeof *config);
    if (cli->config != NULL) {
        *result = cli->config;
        return STATUS_OK;
    }
    config->folder = file_config_folder(cli->arena);
    config->values[CONFIG_COST] = (struct config_value){"1.00", "default"};
    config->values[CONFIG_RECIPE] = (struct config_value){"hone", "default"};
    config->values[CONFIG_ARCHIVE] =
        (struct config_value){store_default_path(cli->arena), "default"};
    config->values[CONFIG_TORCH] = (struct config_value){bridge_environment(cli->arena), "default"};
    enum status status = read_files(cli, config);
    if (status == STATUS_OK)
        status = read_variables(cli, config);
    if (cli->archive != NULL)
        config->values[CONFIG_ARCHIVE] = (struct config_value){cli->archive, "--archive"};
    for (unsigned id = 0; id < CONFIG_COUNT; id++)
        if (config->values[id].from == NULL)
            config->values[id].from = "default";
    *result = cli->config = config;
    return status;
}

/* ---- uses ---- */

enum status
config_threads(struct cli *cli, unsigned *threads)
{
    const char *text = cli_given(cli, "threads");
    const struct config *config;
    int64_t number = 0;
    enum status status = config_read(cli, &config);
    if (status != STATUS_OK)
        return status;
    if (text != NULL && wrong_with(CONFIG_THREADS, text) != NULL)
        return cli_wrong(cli, "--threads %s: write a number from 1 on", text);
    if (text == NULL)
        text = config->values[CONFIG_THREADS].text;
    if (text != NULL)
        text_integer(text, &number);
    *threads = (unsigned)number;
    return STATUS_OK;
}

/* "export NAME='value'": what shells and others write into such files. */
static bool
set_variable(char *line)
{
    char *name = text_trim(line);
    if (text_starts(name, "export "))
        name = text_trim(name + strlen("export "));
    char *equals = strchr(name, '=');
    if (equals == NULL || equals == name || strcspn(name, " \t") < (size_t)(equals - name))
        return false;
    *equals = '\0';
    char *value = text_trim(equals + 1);
    size_t length = strlen(value);
    if (length >= 2 && strchr("'\"", value[0]) && value[length - 1] == value[0]) {
        value[length - 1] = '\0';
        value++;
    }
    return setenv(name, value, 0) == 0;
}

/* No message shows a line: it may be a key. */
static enum status
read_env_file(struct cli *cli)
{
    const char *path = cli_given(cli, "env-file");
    struct source source;
    uint32_t number = 0;
    if (path == NULL)
        return STATUS_OK;
    enum status status = file_read(cli->arena, path, LARGEST_FILE, &source, cli->diags);
    char *next = status == STATUS_OK ? arena_strdup(cli->arena, source.text) : NULL;
    for (char *line; (line = strsep(&next, "\n")) != NULL;) {
        number++;
        line = text_trim(line);
        if (*line != '\0' && *line != '#' && !set_variable(line))
            status = cli_wrong(cli, "%s:%u: no variable; write NAME=VALUE", path, number);
    }
    return status;
}

enum status
config_open_llm(struct cli *cli, const struct llm_source *replay, bool offline, struct llm **llm)
{
    const struct config *config;
    const char *cache = file_cache_folder(cli->arena);
    enum status status = read_env_file(cli);
    *llm = NULL;
    if (status == STATUS_OK)
        status = config_read(cli, &config);
    if (status != STATUS_OK)
        return status;
    struct llm_options options = {.providers = config->providers,
                                  .provider_count = config->provider_count,
                                  .offline = offline};
    if (replay != NULL)
        options.replay = *replay;
    if (cache != NULL)
        options.memory = file_join(cli->arena, cache, "models.json");
    if (config->folder != NULL) {
        const char *prices = file_join(cli->arena, config->folder, "prices");
        options.prices = access(prices, F_OK) == 0 ? prices : NULL;
    }
    return llm_open(&options, llm, cli->diags);
}
