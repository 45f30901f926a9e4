/* hone recipes: which there are; what one of them says. */
#include "app/config.h"

#include "base/json.h"
#include "recipe/recipe.h"

#include <string.h>

/* ---- the screen ---- */

static bool
is_default(const struct cli *cli, const struct recipe *recipe)
{
    return !strcmp(recipe->name, cli->config->values[CONFIG_RECIPE].text);
}

/* The default goes before the others. */
static void
put_default_first(const struct cli *cli, struct recipe **recipes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_default(cli, recipes[i])) {
            struct recipe *first = recipes[i];
            memmove(recipes + 1, recipes, i * sizeof *recipes);
            recipes[0] = first;
        }
}

static void
put_list(struct cli *cli, struct recipe *const *recipes, size_t count)
{
    size_t name = 0, about = 0;
    for (size_t i = 0; i < count; i++) {
        size_t length = *recipes[i]->paper ? strlen(recipes[i]->about) : 0;
        name = strlen(recipes[i]->name) > name ? strlen(recipes[i]->name) : name;
        about = length > about ? length : about;
    }
    for (size_t i = 0; i < count; i++) {
        const char *text = arena_printf(
            cli->arena, "%s%s", is_default(cli, recipes[i]) ? "default: " : "", recipes[i]->about);
        buf_printf(&cli->out, "  %-*s   %-*s%s%s\n", (int)name, recipes[i]->name,
                   *recipes[i]->paper ? (int)about : 0, text, *recipes[i]->paper ? "   " : "",
                   recipes[i]->paper);
    }
    buf_printf(&cli->out,
               "%zu recipes. hone recipes NAME prints its file and what each line does.\n", count);
    if (cli->config->folder != NULL)
        buf_printf(&cli->out, "Your own: %s/recipes/\n",
                   config_shorten(cli->arena, cli->config->folder));
}

/* ---- JSON ---- */

static void
put_names(struct buf *out, const char *field, const char *const *names, unsigned bits)
{
    const char *separator = "";
    buf_printf(out, ",\"%s\":[", field);
    for (unsigned i = 0; bits >> i != 0; i++)
        if (bits >> i & 1) {
            buf_printf(out, "%s\"%s\"", separator, names[i]);
            separator = ",";
        }
    buf_putc(out, ']');
}

static void
put_returns(struct buf *out, const struct agent_shape *shape)
{
    const char *names[AGENT_FORMAT_COUNT];
    for (unsigned i = 0; i < AGENT_FORMAT_COUNT; i++)
        names[i] = agent_format_name[i].name;
    put_names(out, "returns", names, shape->formats);
    buf_puts(out, ",\"fields\":[");
    for (size_t i = 0; i < shape->field_count; i++)
        buf_printf(out, "%s\"%s\"", i ? "," : "", shape->fields[i].name);
    buf_putc(out, ']');
}

static void
put_json_role(struct buf *out, const struct recipe_role *role)
{
    unsigned moments = 0;
    buf_puts(out, "{\"role\":");
    json_put_string(out, agent_role_name[role->agent.kind].name);
    json_field_string(out, "name", role->agent.name);
    for (size_t i = 0; i < role->when_count; i++)
        moments |= 1U << role->when[i].moment;
    put_names(out, "when", recipe_moment_name, moments);
    buf_puts(out, ",\"sees\":[");
    for (size_t i = 0; i < role->agent.sight_count; i++)
        buf_printf(out, "%s\"%s\"", i ? "," : "",
                   agent_section_info[role->agent.sees[i].section].name);
    buf_putc(out, ']');
    put_returns(out, &role->agent.returns);
    json_field_string(out, "model", role->model);
    put_names(out, "tools", recipe_tool_name, role->tools);
    buf_putc(out, '}');
}

static void
put_json_phase(struct buf *out, const struct recipe_phase *phase)
{
    static const char *const proposers[] = {"roles", "builtin", "memory"};
    const char *names[RECIPE_MEMORY_COUNT];
    unsigned memories = 0;
    buf_puts(out, "{\"name\":");
    json_put_string(out, phase->name);
    json_field_string(out, "propose", phase->finish.finalists ? NULL : proposers[phase->propose]);
    json_field_string(out, "topology", search_topology_name[phase->search.topology].name);
    json_field_number(out, "width", phase->search.width);
    json_field_string(out, "select", search_select_name[phase->search.select].name);
    json_field_number(out, "rounds", phase->search.rounds);
    json_field_number(out, "finalists", phase->finish.finalists);
    for (unsigned i = 0; i < RECIPE_MEMORY_COUNT; i++) {
        names[i] = recipe_memory_info[i].name;
        memories |= phase->memory[i].most > 0 ? 1U << i : 0;
    }
    put_names(out, "memory", names, memories);
    buf_puts(out, ",\"roles\":[");
    for (size_t i = 0; i < phase->role_count; i++) {
        buf_puts(out, i ? "," : "");
        put_json_role(out, &phase->roles[i]);
    }
    buf_puts(out, "]}");
}

static void
put_json_recipe(struct buf *out, const struct recipe *recipe)
{
    buf_puts(out, "{\"name\":");
    json_put_string(out, recipe->name);
    json_field_string(out, "about", recipe->about);
    json_field_string(out, "paper", *recipe->paper ? recipe->paper : NULL);
    json_field_string(out, "file", recipe->file);
    buf_puts(out, ",\"phases\":[");
    for (size_t i = 0; i < recipe->phase_count; i++) {
        buf_puts(out, i ? "," : "");
        put_json_phase(out, &recipe->phases[i]);
    }
    buf_puts(out, "]}");
}

static void
put_json_list(struct buf *out, struct recipe *const *recipes, size_t count)
{
    buf_puts(out, "{\"recipes\":[");
    for (size_t i = 0; i < count; i++) {
        buf_puts(out, i ? "," : "");
        put_json_recipe(out, recipes[i]);
    }
    buf_puts(out, "]}\n");
}

/* ---- the verb ---- */

static enum status
show_one(struct cli *cli, const char *name)
{
    const struct recipe *recipe = recipe_find(cli->arena, name, cli->diags);
    if (recipe == NULL)
        return STATUS_INPUT;
    if (cli_given(cli, "plain") != NULL) {
        buf_puts(&cli->out, recipe->text);
    } else if (cli->json) {
        put_json_recipe(&cli->out, recipe);
        buf_putc(&cli->out, '\n');
    } else {
        recipe_explain(&cli->out, cli->arena, recipe);
    }
    return STATUS_OK;
}

enum status
verb_recipes(struct cli *cli)
{
    const struct config *config;
    struct recipe **recipes;
    enum status status = config_read(cli, &config);
    if (status != STATUS_OK)
        return status;
    if (cli_given(cli, "keys") != NULL) {
        recipe_put_keys(&cli->out);
        return STATUS_OK;
    }
    if (cli->operand_count > 0)
        return show_one(cli, cli->operands[0]);
    size_t count = recipe_list(cli->arena, &recipes, cli->diags);
    put_default_first(cli, recipes, count);
    if (cli->json)
        put_json_list(&cli->out, recipes, count);
    else
        put_list(cli, recipes, count);
    return diags_errors(cli->diags) > 0 ? STATUS_INPUT : STATUS_OK;
}
