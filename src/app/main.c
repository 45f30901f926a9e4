/* hone VERB: reads the command line, runs the verb, writes its result, prints its messages. */
#include "app/cli.h"

#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum status
run(struct cli *cli, int argc, char **argv)
{
    enum status status = cli_parse(cli, argc, argv);
    cli->log = log_create(stderr, (enum log_level)cli->verbosity, cli->colour);
    if (status != STATUS_OK)
        return status;
    if (cli->verb == NULL)
        help_overview(&cli->out);
    else if (cli->help)
        help_verb(&cli->out, cli->verb);
    else
        return cli->verb->run(cli);
    return STATUS_OK;
}

/* A reader that went away is no news to anybody; a full disk is. */
static enum status
write_result(const struct buf *out)
{
    if (out->length == 0)
        return STATUS_OK;
    errno = 0;
    if (fwrite(out->data, 1, out->length, stdout) == out->length && fflush(stdout) == 0)
        return STATUS_OK;
    if (errno != EPIPE)
        fprintf(stderr, "stdout: cannot be written (%s)\n", strerror(errno));
    return STATUS_MACHINE;
}

/* $PAGER, if there is one and somebody sits there. */
static const char *
pager(const struct cli *cli)
{
    const char *name = getenv("PAGER"), *term = getenv("TERM");
    bool wanted = cli->verb != NULL && cli->verb->paged && !cli->json && cli->out.length > 0;
    if (!wanted || name == NULL || *name == '\0' || !isatty(STDOUT_FILENO) || term == NULL ||
        strcmp(term, "dumb") == 0)
        return NULL;
    return name;
}

/* Whoever leaves the pager early has seen enough. */
static enum status
show_paged(const struct buf *out, const char *name)
{
    setenv("LESS", "FRX", 0); /* what fits the screen is printed */
    FILE *stream = popen(name, "w");
    if (stream == NULL)
        return write_result(out);
    fwrite(out->data, 1, out->length, stream);
    pclose(stream);
    return STATUS_OK;
}

/* With -q only the errors. */
static void
print_messages(struct cli *cli)
{
    struct diags *shown = cli->diags;
    if (cli->verbosity < 0) {
        shown = diags_create(cli->arena, 0);
        for (size_t i = 0; i < diags_count(cli->diags); i++) {
            const struct diag *diag = diags_get(cli->diags, i);
            if (diag->level == DIAG_ERROR)
                diags_add(shown, diag->level, diag->place, "%s", diag->message);
        }
    }
    diags_print(shown, stderr, cli->log.colour);
}

int
main(int argc, char **argv)
{
    struct cli cli = {.arena = arena_create()};
    if (cli.arena == NULL) {
        fputs("out of memory\n", stderr);
        return status_exit_code(STATUS_MACHINE);
    }
    signal(SIGPIPE, SIG_IGN);
    setlocale(LC_CTYPE, ""); /* whether marks may be UTF-8 */
    cli.diags = diags_create(cli.arena, 0);
    cli.out = buf_in(cli.arena);
    enum status status = run(&cli, argc, argv);
    const char *paging = pager(&cli);
    enum status written = paging ? show_paged(&cli.out, paging) : write_result(&cli.out);
    print_messages(&cli);
    arena_destroy(cli.arena);
    return status_exit_code(written != STATUS_OK ? written : status);
}
