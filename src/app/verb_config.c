/* hone config: what is set, and where. */
#include "app/config.h"

#include "app/table.h"
#include "base/json.h"

static const char *
value_text(const struct config *config, enum config_id id)
{
    const char *text = config->values[id].text;
    return text != NULL ? text : id == CONFIG_THREADS ? "all" : "-";
}

static void
put_screen(struct cli *cli, const struct config *config)
{
    struct table table = table_create(cli->arena);
    table_column(&table, "setting", true);
    table_column(&table, "value", true);
    table_column(&table, "from", true);
    for (unsigned id = 0; id < CONFIG_COUNT; id++)
        table_row(&table, (const char *[]){config_key[id], value_text(config, id),
                                           config->values[id].from});
    for (size_t i = 0; i < config->provider_count; i++)
        table_row(&table, (const char *[]){"provider", config->providers[i].name,
                                           config->providers[i].base_url});
    table_print(&cli->out, &table);
    if (config->folder != NULL)
        buf_printf(&cli->out,
                   "Yours: %s/config. A flag or a variable (HONE_MODEL) goes before it.\n",
                   config->folder);
}

static void
put_json(struct cli *cli, const struct config *config)
{
    struct buf *out = &cli->out;
    buf_puts(out, "{\"settings\":[");
    for (unsigned id = 0; id < CONFIG_COUNT; id++) {
        buf_printf(out, "%s{\"key\":\"%s\",\"value\":", id ? "," : "", config_key[id]);
        if (config->values[id].text != NULL)
            json_put_string(out, config->values[id].text);
        else
            buf_puts(out, "null");
        buf_puts(out, ",\"from\":");
        json_put_string(out, config->values[id].from);
        buf_putc(out, '}');
    }
    buf_puts(out, "],\"providers\":[");
    for (size_t i = 0; i < config->provider_count; i++) {
        buf_puts(out, i ? ",{\"name\":" : "{\"name\":");
        json_put_string(out, config->providers[i].name);
        buf_puts(out, ",\"base_url\":");
        json_put_string(out, config->providers[i].base_url);
        buf_putc(out, '}');
    }
    buf_puts(out, "]}\n");
}

/* ---- keys: which are set, never what they are ---- */

static void
put_keys(struct cli *cli, const struct llm *llm)
{
    struct llm_provider_facts facts;
    struct table table = table_create(cli->arena);
    table_column(&table, "provider", true);
    table_column(&table, "variable", true);
    table_column(&table, "key", true);
    for (size_t i = 0; llm_provider_at(llm, i, &facts); i++)
        if (facts.needs_key)
            table_row(&table, (const char *[]){facts.name, facts.key_from,
                                               facts.has_key ? "set" : "not set"});
    table_print(&cli->out, &table);
}

static void
put_keys_json(struct cli *cli, const struct llm *llm)
{
    struct llm_provider_facts facts;
    size_t shown = 0;
    buf_puts(&cli->out, "{\"keys\":[");
    for (size_t i = 0; llm_provider_at(llm, i, &facts); i++) {
        if (!facts.needs_key)
            continue;
        buf_puts(&cli->out, shown++ ? ",{\"provider\":" : "{\"provider\":");
        json_put_string(&cli->out, facts.name);
        buf_puts(&cli->out, ",\"variable\":");
        json_put_string(&cli->out, facts.key_from);
        buf_printf(&cli->out, ",\"set\":%s}", facts.has_key ? "true" : "false");
    }
    buf_puts(&cli->out, "]}\n");
}

enum status
verb_config(struct cli *cli)
{
    const struct config *config;
    struct llm *llm;
    enum status status = config_read(cli, &config);
    if (status != STATUS_OK)
        return status;
    if (cli_given(cli, "keys") == NULL) {
        (cli->json ? put_json : put_screen)(cli, config);
        return STATUS_OK;
    }
    status = config_open_llm(cli, NULL, false, &llm);
    if (status == STATUS_OK)
        (cli->json ? put_keys_json : put_keys)(cli, llm);
    llm_close(llm);
    return status;
}
