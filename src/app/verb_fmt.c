/* hone fmt: programs in the house style. */
#include "app/cli.h"

#include <string.h>

#include "base/file.h"
#include "lang/lang.h"

/* A file that would change, or has changed. */
static enum status
settle(struct cli *cli, const char *path, const struct buf *formatted)
{
    if (cli_given(cli, "check")) {
        buf_printf(&cli->out, "%s\n", path);
        return STATUS_NO;
    }
    log_detail(&cli->log, "%s: rewritten", path);
    return file_write(path, formatted->data, formatted->length, cli->diags);
}

static enum status
format_one(struct cli *cli, const char *path)
{
    struct source source;
    struct buf formatted = buf_in(cli->arena);
    bool is_stdin = !strcmp(path, "-");
    enum status status = is_stdin ? cli_stdin(cli, &source)
                                  : file_read(cli->arena, path, LANG_MAX_FILE, &source, cli->diags);
    if (status == STATUS_OK)
        status = lang_format(&formatted, source.path, source.text, source.length, cli->diags);
    if (status != STATUS_OK)
        return status;
    bool same =
        formatted.length == source.length && !memcmp(formatted.data, source.text, source.length);
    if (is_stdin && !cli_given(cli, "check"))
        buf_add(&cli->out, formatted.data, formatted.length);
    else if (!same)
        return settle(cli, source.path, &formatted);
    return STATUS_OK;
}

/* All files are looked at; the gravest answer counts. */
enum status
verb_fmt(struct cli *cli)
{
    enum status worst = STATUS_OK;
    for (size_t i = 0; i < cli->operand_count; i++) {
        enum status status = format_one(cli, cli->operands[i]);
        if (status < worst)
            worst = status;
    }
    return worst;
}
