/* hone new: a program from words, by the nearest operator of the library. */
#include "app/new.h"

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

#include <string.h>
#include <unistd.h>

#define MOST_OTHERS 3

/* ---- what is said ---- */

/* Others of the ranking, each name once; "" where the first is far ahead. */
static const char *
others_text(struct arena *arena, const struct lang_match *matches, size_t count)
{
    struct buf buf = buf_in(arena);
    size_t told = 0;
    for (size_t i = 1; i < count && told < MOST_OTHERS; i++) {
        bool again = matches[i].score < 0.75 * matches[0].score;
        for (size_t k = 0; k < i; k++)
            again = again || strcmp(matches[k].entry->name, matches[i].entry->name) == 0;
        if (again)
            continue;
        buf_printf(&buf, "%s%s (%s)", told++ ? ", " : "", matches[i].entry->name,
                   matches[i].entry->file);
    }
    return buf.length ? buf.data : "";
}

static void
put_indented(struct buf *buf, const char *text)
{
    while (*text) {
        size_t length = strcspn(text, "\n");
        buf_printf(buf, "  %.*s\n", (int)length, text);
        text += length + (text[length] == '\n');
    }
}

struct draft {
    const struct lang_entry *entry;
    const char *text, *unused, *others, *file;
};

static void
put_draft(struct buf *buf, const struct draft *draft)
{
    buf_printf(buf, "Nearest of the library is %s (%s). Written: %s\n", draft->entry->name,
               draft->entry->file, draft->file);
    put_indented(buf, draft->text);
    if (*draft->unused)
        buf_printf(buf, "Not used, since it is not clear where it belongs: %s\n", draft->unused);
    if (*draft->others)
        buf_printf(buf, "Also near: %s; use more of their words\n", draft->others);
    buf_printf(buf, "Check it: hone task %s --eval\n", draft->file);
}

static void
put_json(struct buf *buf, const struct draft *draft)
{
    buf_puts(buf, "{\"file\":");
    json_put_string(buf, draft->file);
    json_field_string(buf, "nearest", draft->entry->name);
    json_field_string(buf, "from", draft->entry->file);
    json_field_string(buf, "program", draft->text);
    json_field_string(buf, "unused", draft->unused);
    json_field_string(buf, "others", draft->others);
    buf_puts(buf, "}\n");
}

/* ---- the verb ---- */

static enum status
no_match(struct cli *cli)
{
    log_hint(&cli->log, "no operator of the library fits these words; doc/language.md shows how "
                        "to write one, examples/ has programs to begin with");
    return STATUS_NO;
}

/* What is there is not overwritten unasked. */
static enum status
write_draft(struct cli *cli, const struct draft *draft)
{
    if (access(draft->file, F_OK) == 0 && cli_given(cli, "force") == NULL)
        return cli_wrong(cli, "%s is there already; write -o OTHER.op, or --force", draft->file);
    return file_write(draft->file, draft->text, strlen(draft->text), cli->diags);
}

/* A model drafts it, with the nearest of the library before its eyes. */
static enum status
draft_by_model(struct cli *cli, const char *words, const struct lang_wish *wish,
               const struct lang_entry *nearest)
{
    struct buf text = buf_in(cli->arena);
    struct draft draft = {.unused = "", .others = ""};
    const char *unused;
    if (nearest != NULL && lang_instance(cli->arena, &text, nearest, wish, &unused,
                                         diags_create(cli->arena, 1)) != STATUS_OK)
        nearest = NULL;
    draft.file = cli_given(cli, "o");
    if (draft.file == NULL)
        draft.file = nearest ? arena_printf(cli->arena, "%s.op", nearest->name) : "new.op";
    enum status status =
        new_by_model(cli, words, nearest ? text.data : NULL, draft.file, &draft.text);
    if (status == STATUS_OK)
        status = write_draft(cli, &draft);
    if (status != STATUS_OK)
        return status;
    if (cli->json) {
        buf_puts(&cli->out, "{\"file\":");
        json_put_string(&cli->out, draft.file);
        json_field_string(&cli->out, "model", cli_given(cli, "model"));
        json_field_string(&cli->out, "program", draft.text);
        buf_puts(&cli->out, "}\n");
        return STATUS_OK;
    }
    buf_printf(&cli->out, "Drafted by %s, checked. Written: %s\n", cli_given(cli, "model"),
               draft.file);
    put_indented(&cli->out, draft.text);
    buf_printf(&cli->out, "Whether it is what you mean only you can say: hone task %s --eval\n",
               draft.file);
    return STATUS_OK;
}

enum status
verb_new(struct cli *cli)
{
    struct lang_words request;
    struct lang_entry *entries;
    struct lang_match *matches;
    struct buf words = buf_in(cli->arena), text = buf_in(cli->arena);
    struct draft draft;
    for (size_t i = 0; i < cli->operand_count; i++)
        buf_printf(&words, "%s ", cli->operands[i]);
    enum status status = lang_read_words(cli->arena, words.data, &request, cli->diags);
    if (status != STATUS_OK)
        return status;
    size_t count = lang_catalogue(cli->arena, &entries);
    size_t found = lang_rank(cli->arena, &request, entries, count, &matches);
    if (cli_given(cli, "model") != NULL)
        return draft_by_model(cli, words.data, &request.wish, found ? matches[0].entry : NULL);
    if (found == 0)
        return no_match(cli);
    draft.entry = matches[0].entry;
    status =
        lang_instance(cli->arena, &text, draft.entry, &request.wish, &draft.unused, cli->diags);
    if (status != STATUS_OK)
        return status;
    draft.text = text.data;
    draft.others = others_text(cli->arena, matches, found);
    draft.file = cli_given(cli, "o");
    if (draft.file == NULL)
        draft.file = arena_printf(cli->arena, "%s.op", draft.entry->name);
    status = write_draft(cli, &draft);
    if (status == STATUS_OK)
        (cli->json ? put_json : put_draft)(&cli->out, &draft);
    return status;
}
