/* hone explain: how a run, or one candidate, came to what it is. */
#include "app/explain.h"
#include "app/screen.h"
#include "app/table.h"

#include "base/json.h"
#include "base/text.h"

#include <string.h>

void
explain_say(struct explain *explain, const char *text)
{
    struct arena *arena = explain->out->arena;
    if (*text != '\0')
        screen_paragraph(explain->out, arena_printf(arena, "%zu", ++explain->said), 4, text);
}

const char *
explain_time(const struct explain *explain, const struct store_candidate *candidate)
{
    struct arena *arena = explain->out->arena;
    const struct store_case *timed = archive_timed(candidate);
    const struct store_verdict *verdict = archive_verdict(candidate);
    if (timed == NULL)
        return verdict ? verdict->status : "not judged";
    const char *time = table_time(arena, timed->median_us);
    bool plain = archive_is_first_case(explain->run, timed) ||
                 archive_is_draft(explain->run, candidate); /* whose case is told otherwise */
    return plain ? time : arena_printf(arena, "%s in case %s", time, timed->name);
}

/* The text, as it is read by people. */
static void
put_json(struct buf *buf, const char *name, const struct buf *text)
{
    buf_puts(buf, "{\"name\":");
    json_put_string(buf, name);
    json_field_string(buf, "text", text->data);
    buf_puts(buf, "}\n");
}

static enum status
explain_named(struct cli *cli, struct store *store, struct buf *text)
{
    const char *name = cli->operands[0];
    bool one = archive_is_candidate(name);
    struct store_candidate candidate = {0};
    struct archive_run run;
    enum status status = STATUS_OK;
    if (one)
        status = store_candidate_find(store, cli->arena, name, &candidate, cli->diags);
    if (status == STATUS_OK)
        status =
            archive_read_run(store, cli->arena, arena_strndup(cli->arena, name, strcspn(name, ".")),
                             STORE_BRIEF, &run, cli->diags);
    if (status != STATUS_OK)
        return status;
    struct explain explain = {.out = text, .store = store, .run = &run, .diags = cli->diags};
    return one ? explain_candidate(&explain, archive_candidate(&run, candidate.number))
               : explain_run(&explain);
}

enum status
verb_explain(struct cli *cli)
{
    struct store *store;
    struct buf text = buf_in(cli->arena);
    enum status status = archive_need(cli, STORE_READ, &store);
    if (status == STATUS_OK)
        status = explain_named(cli, store, &text);
    store_close(store);
    if (status != STATUS_OK)
        return status;
    text_printable(text.data);
    if (cli->json)
        put_json(&cli->out, cli->operands[0], &text);
    else
        buf_puts(&cli->out, text.data);
    return STATUS_OK;
}
