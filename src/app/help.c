/* `hone`, `hone help VERB`, `hone version`. */
#include "app/cli.h"

#include <string.h>

#include "libhone/libhone.h"

#define INDENT 2

static void
put_padding(struct buf *buf, size_t start, size_t width)
{
    for (size_t length = buf->length - start; length < width; length++)
        buf_putc(buf, ' ');
}

void
put_option(struct buf *buf, const struct option *option)
{
    if (option->letter)
        buf_printf(buf, "-%c%s", option->letter, option->name ? ", " : "");
    if (option->name)
        buf_printf(buf, "--%s", option->name);
    if (option->value)
        buf_printf(buf, " %s", option->value);
}

static size_t
option_width(struct arena *arena, const struct option *options, size_t width)
{
    for (; options->name != NULL || options->letter; options++) {
        struct buf buf = buf_in(arena);
        put_option(&buf, options);
        if (buf.length > width)
            width = buf.length;
    }
    return width;
}

static void
put_options(struct buf *buf, const struct option *options, size_t width)
{
    for (; options->name != NULL || options->letter; options++) {
        buf_puts(buf, "  ");
        size_t start = buf->length;
        put_option(buf, options);
        put_padding(buf, start, width + 3);
        buf_printf(buf, "%s\n", options->help);
    }
}

static void
put_examples(struct buf *buf)
{
    for (const struct verb *verb = verbs; verb->name != NULL; verb++) {
        if (verb->example == NULL)
            continue;
        buf_puts(buf, "  ");
        size_t start = buf->length;
        buf_puts(buf, verb->example);
        put_padding(buf, start, 41);
        buf_printf(buf, "%s\n", verb->example_note);
    }
}

static void
put_group(struct buf *buf, enum group group)
{
    bool any = false;
    size_t start = buf->length;
    for (const struct verb *verb = verbs; verb->name != NULL; verb++) {
        if (verb->group != group)
            continue;
        if (!any) {
            buf_printf(buf, "%s:", group_name[group]);
            put_padding(buf, start, 7);
        }
        buf_printf(buf, "  %s", verb->name);
        any = true;
    }
    if (any)
        buf_putc(buf, '\n');
}

void
help_overview(struct buf *buf)
{
    buf_printf(buf, "hone %s  finds fast kernels and proves that they are right\n\n", HONE_VERSION);
    put_examples(buf);
    buf_putc(buf, '\n');
    for (unsigned group = 0; group < GROUP_COUNT; group++)
        put_group(buf, (enum group)group);
    buf_puts(buf, "`hone help VERB` explains one; the manual is hone(1).\n"
                  "Exit codes: 0 yes, 1 no, 2 your input, 3 this machine.\n");
}

void
help_verb(struct buf *buf, const struct verb *verb)
{
    size_t width = option_width(buf->arena, global_options, 0);
    width = option_width(buf->arena, verb->options, width);
    buf_printf(buf, "hone %s: %s\n\n", verb->name, verb->summary);
    buf_printf(buf, "  hone %s%s%s%s\n\n", verb->name, *verb->operands ? " " : "", verb->operands,
               verb->options->name || verb->options->letter ? " [option ...]" : "");
    buf_printf(buf, "%s\n", verb->details);
    put_options(buf, verb->options, width);
    put_options(buf, global_options, width);
}

enum status
verb_help(struct cli *cli)
{
    if (cli_given(cli, "man")) {
        man_page(&cli->out);
        return STATUS_OK;
    }
    if (cli_given(cli, "completion")) {
        completion(&cli->out);
        return STATUS_OK;
    }
    if (cli->operand_count == 0) {
        help_overview(&cli->out);
        return STATUS_OK;
    }
    const struct verb *verb = cli_find_verb(cli->operands[0]);
    if (verb == NULL)
        return cli_no_verb(cli, cli->operands[0]);
    help_verb(&cli->out, verb);
    return STATUS_OK;
}

enum status
verb_version(struct cli *cli)
{
    if (cli->json)
        buf_printf(&cli->out, "{\"name\":\"hone\",\"version\":\"%s\"}\n", hone_version());
    else
        buf_printf(&cli->out, "hone %s\n", hone_version());
    return STATUS_OK;
}
