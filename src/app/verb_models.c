/* hone models: what is configured, whether it answers, what it can do, what it costs. */
#include "app/config.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"

#define KEPT_SECONDS (30 * 86400.0)

struct row {
    const char *text;
    const struct llm_model *model; /* NULL: the string names none */
    struct llm_facts facts;
    enum llm_outcome outcome;
    const char *message;
};

struct view {
    struct row *rows;
    size_t count;
    struct llm *llm;
};

/* ---- finding out ---- */

/* A person or a recording is not asked riddles; a program only where that is wished for. */
static bool
is_to_be_probed(const struct cli *cli, const struct row *row)
{
    bool again = cli_given(cli, "probe") != NULL, http = row->facts.base_url != NULL;
    bool fresh =
        row->facts.skill != LLM_SKILL_UNKNOWN && clock_wall() - row->facts.probed < KEPT_SECONDS;
    if (row->outcome != LLM_OK || cli_given(cli, "no-probe") != NULL)
        return false;
    return again ? http || row->facts.wire == LLM_EXEC : http && !fresh;
}

static void
find_out(struct cli *cli, struct view *view, struct row *row)
{
    struct diags *diags = diags_create(cli->arena, 1);
    if (llm_model_find(view->llm, row->text, &row->model, diags) != STATUS_OK) {
        row->model = NULL;
        row->outcome = LLM_FAILED;
        row->message = diags_count(diags) ? diags_get(diags, 0)->message : "no memory";
        return;
    }
    row->outcome = llm_look(view->llm, row->model, cli->arena, &row->message);
    row->facts = llm_facts(row->model);
    if (!is_to_be_probed(cli, row))
        return;
    const char *line = arena_printf(cli->arena, "%s: three questions ...", row->text);
    log_progress(&cli->log, &line, 1, line, true);
    row->outcome = llm_probe(view->llm, row->model, cli->arena, &row->message);
    log_progress_done(&cli->log);
    row->facts = llm_facts(row->model);
}

static void
add_row(struct cli *cli, struct view *view, const char *text)
{
    view->rows =
        arena_grow(cli->arena, view->rows, view->count, view->count + 1, sizeof *view->rows);
    view->rows[view->count++] = (struct row){.text = text, .message = ""};
}

/* Those named on the command line, else those of the settings. */
static enum status
choose(struct cli *cli, struct view *view)
{
    const struct config *config;
    enum status status = config_read(cli, &config);
    struct llm_choice *list;
    size_t count;
    for (size_t i = 0; i < cli->operand_count; i++)
        add_row(cli, view, cli->operands[i]);
    const char *set = status == STATUS_OK ? config->values[CONFIG_MODEL].text : NULL;
    if (status != STATUS_OK || cli->operand_count > 0 || set == NULL)
        return status;
    status = llm_models_parse(view->llm, cli->arena, set, &list, &count, cli->diags);
    for (size_t i = 0; status == STATUS_OK && i < count; i++)
        add_row(cli, view, llm_facts(list[i].model).text);
    return status;
}

/* ---- the screen ---- */

/* "200k", "32k", "1M"; windows are powers of two as often as of ten. */
static const char *
window_text(struct arena *arena, double window)
{
    if (window <= 0)
        return "window not known";
    if (window >= 1e6)
        return arena_printf(arena, "%.3gM window", window / 1e6);
    return arena_printf(arena, "%.3gk window",
                        fmod(window, 1024) == 0 ? window / 1024 : window / 1000);
}

static const char *
price_text(struct arena *arena, const struct llm_facts *facts)
{
    if (facts->priced)
        return arena_printf(arena, "%.4g/%.4g USD%s%s", facts->price.input, facts->price.output,
                            *facts->price.date ? " " : "", facts->price.date);
    return facts->free ? "free" : "no price";
}

static const char *
skill_text(struct arena *arena, const struct llm_facts *facts)
{
    return arena_printf(arena, "%s%s", llm_skill_info[facts->skill].words,
                        facts->grammar       ? ", grammar"
                        : facts->constrained ? ", schema"
                                             : "");
}

static void
put_row(struct cli *cli, const struct row *row, int width)
{
    struct arena *arena = cli->arena;
    const struct llm_facts *facts = &row->facts;
    buf_printf(&cli->out, "  %-*s", width, row->text);
    if (row->outcome != LLM_OK) {
        buf_printf(&cli->out, "   %s\n", row->message);
        return;
    }
    if (facts->base_url == NULL) {
        buf_printf(&cli->out, "   %s%s\n",
                   facts->wire == LLM_BUILTIN ? "the micro-coder, always there" : "is there; ",
                   facts->wire == LLM_BUILTIN ? "" : llm_skill_info[facts->skill].words);
        return;
    }
    buf_printf(&cli->out, "   %s   %s%s   %s   %s\n", window_text(arena, facts->window),
               facts->seconds > 0 ? arena_printf(arena, "%.1f s   ", facts->seconds) : "",
               skill_text(arena, facts), price_text(arena, facts),
               facts->key_from != NULL ? facts->key_from : "no key needed");
}

/* Providers that could be asked: no call is made to find that out. */
static void
put_providers(struct cli *cli, const struct llm *llm)
{
    struct llm_provider_facts facts;
    buf_puts(&cli->out, "no model is set; hone models PROVIDER:NAME looks at one\n");
    for (size_t i = 0; llm_provider_at(llm, i, &facts); i++)
        if (facts.has_key || (facts.own && !facts.needs_key))
            buf_printf(&cli->out, "  %s:NAME   %s%s\n", facts.name,
                       facts.key_from != NULL ? facts.key_from : facts.base_url,
                       facts.key_from != NULL ? " is set" : "");
    buf_puts(&cli->out, "  also ollama:NAME, openai:NAME@http://HOST:PORT/v1, exec:COMMAND, "
                        "mailbox:DIR, builtin\n");
}

static void
put_screen(struct cli *cli, const struct view *view)
{
    int width = 0;
    for (size_t i = 0; i < view->count; i++)
        width = (int)fmax(width, (double)strlen(view->rows[i].text));
    for (size_t i = 0; i < view->count; i++)
        put_row(cli, &view->rows[i], width);
    if (view->count == 0)
        put_providers(cli, view->llm);
    else
        buf_puts(&cli->out, "probe: 3 short questions a model, kept 30 days.  --probe repeats it. "
                            " --prices shows the table.\n");
}

/* ---- JSON ---- */

/* What is not known is 0. */
static void
put_known(struct buf *out, const char *name, double value)
{
    json_field_number(out, name, value > 0 ? value : NAN);
}

static void
put_price(struct buf *out, const struct llm_facts *facts)
{
    const struct llm_price *price = &facts->price;
    buf_puts(out, ",\"price\":");
    if (!facts->priced) {
        buf_puts(out, "null");
        return;
    }
    buf_printf(out, "{\"input\":%.6g", price->input);
    put_known(out, "cached", price->cached);
    put_known(out, "written", price->written);
    buf_printf(out, ",\"output\":%.6g", price->output);
    json_field_string(out, "date", *price->date ? price->date : NULL);
    buf_putc(out, '}');
}

static void
put_json_row(struct buf *out, const struct row *row)
{
    const struct llm_facts *facts = &row->facts;
    buf_puts(out, "{\"model\":");
    json_put_string(out, row->text);
    buf_printf(out, ",\"reachable\":%s", row->outcome == LLM_OK ? "true" : "false");
    json_field_string(out, "outcome", llm_outcome_info[row->outcome].name);
    json_field_string(out, "message", row->message);
    if (row->model != NULL) {
        json_field_string(out, "provider", facts->provider);
        json_field_string(out, "wire", llm_wire_name[facts->wire]);
        json_field_string(out, "base_url", facts->base_url);
        json_field_string(out, "key_from", facts->key_from);
        put_known(out, "window", facts->window);
        json_field_string(out, "skill", llm_skill_info[facts->skill].name);
        put_known(out, "seconds", facts->seconds);
        buf_printf(out, ",\"schema\":%s,\"grammar\":%s,\"free\":%s",
                   facts->constrained ? "true" : "false", facts->grammar ? "true" : "false",
                   facts->free ? "true" : "false");
        put_price(out, facts);
    }
    buf_putc(out, '}');
}

static void
put_json(struct cli *cli, const struct view *view)
{
    buf_puts(&cli->out, "{\"models\":[");
    for (size_t i = 0; i < view->count; i++) {
        buf_puts(&cli->out, i ? "," : "");
        put_json_row(&cli->out, &view->rows[i]);
    }
    buf_puts(&cli->out, "]}\n");
}

/* ---- the verb ---- */

static enum status
look_at_models(struct cli *cli, struct view *view)
{
    enum status status = choose(cli, view);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < view->count; i++) {
        find_out(cli, view, &view->rows[i]);
        if (view->rows[i].outcome != LLM_OK)
            status = STATUS_NO;
    }
    (cli->json ? put_json : put_screen)(cli, view);
    return status;
}

enum status
verb_models(struct cli *cli)
{
    struct view view = {0};
    enum status status = config_open_llm(cli, NULL, false, &view.llm);
    if (status != STATUS_OK)
        return status;
    if (cli_given(cli, "prices") != NULL)
        llm_put_prices(view.llm, &cli->out);
    else
        status = look_at_models(cli, &view);
    llm_close(view.llm);
    return status;
}
