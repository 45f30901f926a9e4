/* hone import: a module of PyTorch becomes a program. */
#include "app/config.h"

#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "bridge/bridge.h"

static void
show(struct cli *cli, const char *file, const struct bridge_imported *imported)
{
    struct buf *out = &cli->out;
    if (cli->json) {
        buf_puts(out, "{\"op\":");
        json_put_string(out, imported->name);
        json_field_string(out, "file", file);
        json_field_string(out, "checked", imported->checked);
        json_field_bool(out, "double", imported->in_double);
        json_field_number(out, "difference", imported->difference);
        buf_puts(out, "}\n");
        return;
    }
    buf_printf(out, "%s written; it agrees with PyTorch to %.1g (%s, %s precision).\n", file,
               imported->difference, imported->checked,
               imported->in_double ? "double" : "partly single");
}

static enum status
read_mode(struct cli *cli, bool *train)
{
    const char *mode = cli_given(cli, "mode");
    *train = mode != NULL && !strcmp(mode, "train");
    if (mode == NULL || *train || !strcmp(mode, "eval"))
        return STATUS_OK;
    return cli_wrong(cli, "--mode %s: write eval or train", mode);
}

static enum status
write_program(struct cli *cli, const char *folder, const struct bridge_imported *imported,
              const struct bridge_origin *origin, const char **file)
{
    const char *text, *name = arena_printf(cli->arena, "%s.op", imported->name);
    *file = folder != NULL ? file_join(cli->arena, folder, name) : name;
    if (access(*file, F_OK) == 0 && cli_given(cli, "force") == NULL)
        return cli_wrong(cli, "%s is there already; write --force, or -o DIR", *file);
    if (folder != NULL) {
        enum status status = file_make_folder(folder, cli->diags);
        if (status != STATUS_OK)
            return status;
    }
    text = bridge_signed(cli->arena, imported->text, folder != NULL ? folder : ".", origin);
    return file_write(*file, text, strlen(text), cli->diags);
}

static enum status
read_seconds(struct cli *cli, double *seconds)
{
    const char *text = cli_given(cli, "time");
    *seconds = 0;
    if (text == NULL || text_seconds(text, seconds))
        return STATUS_OK;
    return cli_wrong(cli, "--time %s: write seconds, or as in 2m", text);
}

enum status
verb_import(struct cli *cli)
{
    const struct config *config;
    struct bridge_imported imported;
    uint64_t seed = 1;
    const char *file;
    double seconds;
    bool train;
    if (strcmp(cli->operands[0], "kernelbench") != 0)
        return cli_wrong(cli, "%s: nothing is imported so; write hone import kernelbench FILE.py",
                         cli->operands[0]);
    enum status status = read_mode(cli, &train);
    if (status == STATUS_OK)
        status = read_seconds(cli, &seconds);
    if (status == STATUS_OK)
        status = cli_seed(cli, 15, &seed);
    if (status == STATUS_OK)
        status = config_read(cli, &config);
    if (status != STATUS_OK)
        return status;
    struct bridge_options options = {.environment = config->values[CONFIG_TORCH].text,
                                     .seconds = seconds};
    const struct bridge_origin origin = {cli->operands[1], train};
    status = bridge_import(cli->arena, &options, origin.module, train, seed, &imported, cli->diags);
    if (status == STATUS_OK)
        status = write_program(cli, cli_given(cli, "o"), &imported, &origin, &file);
    if (status == STATUS_OK)
        show(cli, file, &imported);
    return status;
}
