/* hone say, hone add: what a person gives to a run. It is put into the run's inbox; the process
 * that searches takes it from there. */
#include "app/archive.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "target/target.h"

#include <string.h>

#define LONGEST_HINT 4000 /* bytes: it stands in every prompt */

/* What becomes of it, by the state of the run. */
struct fate {
    const char *running, *stopped;
};

/* A run that is done would never look. */
static enum status
refuse(struct cli *cli, const struct store_run *run)
{
    if (strcmp(cli->verb->name, "add") == 0)
        return cli_wrong(cli,
                         "%s is done and takes nothing more; begin a run with the kernel: hone "
                         "optimize FILE.op --start %s",
                         run->name, cli->operands[1]);
    return cli_wrong(cli,
                     "%s is done and listens no more; begin another run of %s and tell that one",
                     run->name, run->task.name);
}

static void
put_result(struct cli *cli, const struct store_run *run, const struct store_note *note,
           const struct fate *fate)
{
    bool running = run->state == STORE_RUNNING;
    if (cli->json) {
        buf_puts(&cli->out, "{\"run\":");
        json_put_string(&cli->out, run->name);
        json_field_string(&cli->out, "kind", note->kind);
        json_field_number(&cli->out, "note", (double)note->seq);
        json_field_string(&cli->out, "state", store_state_name[run->state]);
        buf_puts(&cli->out, "}\n");
        return;
    }
    buf_printf(&cli->out, "noted; %s\n", running ? fate->running : fate->stopped);
}

static enum status
deliver(struct cli *cli, struct store_note *note, const struct fate *fate)
{
    struct store *store;
    struct store_run run;
    enum status status = archive_need(cli, STORE_WRITE, &store);
    if (status == STATUS_OK)
        status = store_run_find(store, cli->arena, cli->operands[0], &run, cli->diags);
    if (status == STATUS_OK && run.state == STORE_DONE)
        status = refuse(cli, &run);
    if (status == STATUS_OK) {
        note->run = run.id;
        note->written = clock_wall();
        status = store_inbox_add(store, note, cli->diags);
    }
    if (status == STATUS_OK)
        put_result(cli, &run, note, fate);
    store_close(store);
    return status;
}

enum status
verb_say(struct cli *cli)
{
    static const struct fate fate = {
        "the next planner and coder will see it",
        "the run is stopped: its next planner and coder will see it when it is resumed"};
    char *text = text_printable(text_trim(arena_strdup(cli->arena, cli->operands[1])));
    struct store_note note = {.kind = "say", .text = text};
    if (*text == '\0')
        return cli_wrong(cli, "there are no words; write hone say %s \"what to try\"",
                         cli->operands[0]);
    if (strlen(text) > LONGEST_HINT)
        return cli_wrong(cli,
                         "%zu characters: every prompt would carry them; write at most %d, or give "
                         "a kernel: hone add %s KERNEL.c",
                         strlen(text), LONGEST_HINT, cli->operands[0]);
    return deliver(cli, &note, &fate);
}

enum status
verb_add(struct cli *cli)
{
    static const struct fate fate = {"the run judges it next, and it competes with what was found",
                                     "the run is stopped: it will be judged when it is resumed"};
    const char *path = cli->operands[1];
    const struct target *target = target_find("cpu");
    struct source source;
    enum status status =
        file_read(cli->arena, path, target->limits.text_bytes, &source, cli->diags);
    if (status != STATUS_OK)
        return status;
    if (strlen(source.text) != source.length)
        return cli_wrong(cli, "%s: it is binary; a kernel is C text", path);
    if (source.length == 0)
        return cli_wrong(cli, "%s: it is empty; hone contract cpu shows what a kernel is", path);
    struct store_note note = {.kind = "add", .text = source.text, .file = path};
    return deliver(cli, &note, &fate);
}
