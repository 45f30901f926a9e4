/* Reading the command line by the table of verbs. */
#include "app/cli.h"

#include <assert.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

#define MOST_NAMES 64 /* of options or verbs that "did you mean" compares */

enum status
cli_wrong(struct cli *cli, const char *format, ...)
{
    va_list args;
    struct buf buf = buf_in(cli->arena);
    va_start(args, format);
    buf_vprintf(&buf, format, args);
    va_end(args);
    diags_add(cli->diags, DIAG_ERROR, (struct place){0}, "%s", buf.data);
    return STATUS_INPUT;
}

static bool
is_end(const struct option *option)
{
    return option->name == NULL && option->letter == 0;
}

/* ---- looking up ---- */

const struct verb *
cli_find_verb(const char *name)
{
    for (const struct verb *verb = verbs; verb->name != NULL; verb++)
        if (!strcmp(verb->name, name))
            return verb;
    return NULL;
}

enum status
cli_no_verb(struct cli *cli, const char *name)
{
    const char *names[MOST_NAMES];
    size_t count = 0;
    for (const struct verb *verb = verbs; verb->name != NULL && count < MOST_NAMES; verb++)
        names[count++] = verb->name;
    const char *near = text_nearest(name, names, count);
    if (near != NULL)
        return cli_wrong(cli, "%s: no such verb; did you mean hone %s?", name, near);
    return cli_wrong(cli, "%s: no such verb; `hone` alone lists them", name);
}

/* By letter if name is NULL. */
static const struct option *
find_option(const struct option *options, const char *name, size_t length, char letter)
{
    for (; !is_end(options); options++) {
        if (name == NULL && options->letter == letter)
            return options;
        if (name != NULL && options->name != NULL && strlen(options->name) == length &&
            !memcmp(options->name, name, length))
            return options;
    }
    return NULL;
}

static size_t
add_names(const struct option *options, const char **names, size_t count)
{
    for (; !is_end(options) && count < MOST_NAMES; options++)
        if (options->name != NULL)
            names[count++] = options->name;
    return count;
}

static enum status
no_option(struct cli *cli, const char *text)
{
    const char *names[MOST_NAMES];
    size_t count = add_names(global_options, names, 0);
    if (cli->verb != NULL)
        count = add_names(cli->verb->options, names, count);
    const char *near = NULL;
    if (text_starts(text, "--"))
        near =
            text_nearest(arena_strndup(cli->arena, text + 2, strcspn(text + 2, "=")), names, count);
    if (near != NULL)
        return cli_wrong(cli, "%s: no such option; did you mean --%s?", text, near);
    if (cli->verb == NULL)
        return cli_wrong(cli, "%s: no such option; `hone help` lists them", text);
    return cli_wrong(cli, "%s: no such option; `hone help %s` lists them", text, cli->verb->name);
}

/* ---- options ---- */

static enum status
take_colour(struct cli *cli, const char *value)
{
    static const char *const names[] = {"auto", "never", "always"};
    for (unsigned i = 0; i < 3; i++)
        if (!strcmp(value, names[i])) {
            cli->colour = (enum log_colour)i;
            return STATUS_OK;
        }
    return cli_wrong(cli, "--color %s: write never, always or auto", value);
}

static enum status
take_global(struct cli *cli, const struct option *option, const char *value)
{
    if (!strcmp(option->name, "json"))
        cli->json = true;
    else if (!strcmp(option->name, "quiet"))
        cli->verbosity = LOG_QUIET;
    else if (!strcmp(option->name, "verbose"))
        cli->verbosity = cli->verbosity < 0 ? LOG_VERBOSE : cli->verbosity + 1;
    else if (!strcmp(option->name, "help"))
        cli->help = true;
    else if (!strcmp(option->name, "archive"))
        cli->archive = value;
    else
        return take_colour(cli, value);
    return STATUS_OK;
}

static enum status
take_option(struct cli *cli, const struct option *option, const char *value)
{
    for (const struct option *global = global_options; !is_end(global); global++)
        if (global == option)
            return take_global(cli, option, value);
    const char **slot = &cli->given[option - cli->verb->options];
    if (*slot != NULL && option->value != NULL && strstr(option->value, "[,") != NULL) {
        *slot = arena_printf(cli->arena, "%s,%s", *slot, value); /* a list, given in pieces */
        return STATUS_OK;
    }
    if (*slot != NULL && option->value != NULL) {
        struct buf buf = buf_in(cli->arena);
        put_option(&buf, option);
        return cli_wrong(cli, "%s: given twice; write it once", buf.data);
    }
    *slot = value;
    return STATUS_OK;
}

/* A list of arguments that is being read. */
struct reader {
    char **argv;
    int argc, at;
};

static const struct option *
look_up(const struct cli *cli, const char *name, size_t length, char letter)
{
    const struct option *found = NULL;
    if (cli->verb != NULL)
        found = find_option(cli->verb->options, name, length, letter);
    return found != NULL ? found : find_option(global_options, name, length, letter);
}

/* The value behind an option: what is left of its own argument, else the next argument. */
static enum status
take_with_value(struct cli *cli, struct reader *reader, const struct option *option,
                const char *attached)
{
    const char *text = reader->argv[reader->at];
    if (attached == NULL && reader->at + 1 < reader->argc)
        attached = reader->argv[++reader->at];
    if (attached == NULL)
        return cli_wrong(cli, "%s: %s is missing; write %s %s", text, option->value, text,
                         option->value);
    return take_option(cli, option, attached);
}

static enum status
read_long(struct cli *cli, struct reader *reader)
{
    const char *text = reader->argv[reader->at], *equals = strchr(text, '=');
    size_t length = equals ? (size_t)(equals - text) - 2 : strlen(text) - 2;
    const struct option *option = look_up(cli, text + 2, length, 0);
    if (option == NULL)
        return no_option(cli, text);
    if (option->value != NULL)
        return take_with_value(cli, reader, option, equals ? equals + 1 : NULL);
    if (equals != NULL)
        return cli_wrong(cli, "%s: takes no value; write --%s", text, option->name);
    return take_option(cli, option, "");
}

static enum status
read_letters(struct cli *cli, struct reader *reader)
{
    const char *text = reader->argv[reader->at];
    for (const char *letter = text + 1; *letter; letter++) {
        const struct option *option = look_up(cli, NULL, 0, *letter);
        if (option == NULL)
            return no_option(cli, text);
        if (option->value != NULL)
            return take_with_value(cli, reader, option, letter[1] ? letter + 1 : NULL);
        enum status status = take_option(cli, option, "");
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

/* ---- the whole line ---- */

static enum status
take_verb(struct cli *cli, const char *name)
{
    cli->verb = cli_find_verb(name);
    if (cli->verb == NULL)
        return cli_no_verb(cli, name);
    size_t count = 0;
    while (!is_end(&cli->verb->options[count]))
        count++;
    cli->given = arena_array(cli->arena, count + 1, sizeof *cli->given);
    return STATUS_OK;
}

static enum status
read_argument(struct cli *cli, struct reader *reader, bool only_operands)
{
    const char *text = reader->argv[reader->at];
    if (!only_operands && text_starts(text, "--")) {
        if (cli->verb == NULL && !strcmp(text, "--version"))
            return take_verb(cli, "version");
        return read_long(cli, reader);
    }
    if (!only_operands && text[0] == '-' && text[1] != 0)
        return read_letters(cli, reader);
    if (cli->verb == NULL)
        return take_verb(cli, text);
    cli->operands[cli->operand_count++] = text;
    return STATUS_OK;
}

static enum status
check_operands(struct cli *cli)
{
    const struct verb *verb = cli->verb;
    if (verb == NULL || cli->help)
        return STATUS_OK;
    if (cli->operand_count < verb->least)
        return cli_wrong(cli, "hone %s: %s is missing; write hone %s %s", verb->name,
                         verb->operands, verb->name, verb->operands);
    if (cli->operand_count > verb->most)
        return cli_wrong(cli, "%s: one too many; write hone %s %s", cli->operands[verb->most],
                         verb->name, verb->operands);
    return STATUS_OK;
}

enum status
cli_parse(struct cli *cli, int argc, char **argv)
{
    struct reader reader = {.argv = argv, .argc = argc, .at = 1};
    bool only_operands = false;
    cli->operands = arena_array(cli->arena, (size_t)argc + 1, sizeof *cli->operands);
    for (; reader.at < argc; reader.at++) {
        if (!only_operands && !strcmp(argv[reader.at], "--")) {
            only_operands = true;
            continue;
        }
        enum status status = read_argument(cli, &reader, only_operands);
        if (status != STATUS_OK)
            return status;
    }
    return check_operands(cli);
}

const char *
cli_given(const struct cli *cli, const char *name)
{
    for (size_t i = 0; !is_end(&cli->verb->options[i]); i++) {
        const struct option *option = &cli->verb->options[i];
        if (option->name != NULL ? !strcmp(option->name, name) : option->letter == name[0])
            return cli->given[i];
    }
    assert(!"an option of this verb");
    return NULL;
}

enum status
cli_stdin(struct cli *cli, struct source *source)
{
    struct buf buf = buf_in(cli->arena);
    char block[65536];
    ssize_t count;
    while ((count = read(STDIN_FILENO, block, sizeof block)) > 0 && buf.length <= LANG_MAX_FILE)
        buf_add(&buf, block, (size_t)count);
    if (count < 0)
        return cli_wrong(cli, "the standard input cannot be read");
    if (buf.length > LANG_MAX_FILE)
        return cli_wrong(cli, "the standard input is larger than 1 MB");
    *source = (struct source){.path = "stdin", .text = buf.data, .length = buf.length};
    return STATUS_OK;
}
