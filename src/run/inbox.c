/* What people say and add while a run goes on. */
#include "run/team_int.h"

#include <stdlib.h>
#include <string.h>

/* What was said or added from outside since the last round. */
enum status
team__take_inbox(struct phase *phase)
{
    struct team *team = phase->team;
    struct loop *loop = team->loop;
    struct store_note *notes = NULL;
    size_t count = 0;
    const char *answer, *key = arena_printf(loop->arena, "round %u", phase->round);
    if (loop->ledger->store == NULL)
        return STATUS_OK;
    enum status status = ledger_recall(loop->ledger, "inbox", key, &answer, loop->diags);
    if (status == STATUS_NO) {
        struct buf text = buf_in(loop->arena);
        status = store_inbox_take(loop->ledger->store, loop->arena, loop->ledger->run,
                                  loop->ledger->seconds, &notes, &count, loop->diags);
        for (size_t i = 0; i < count; i++)
            buf_printf(&text, "%s %zu\n%s\n", notes[i].kind, strlen(notes[i].text), notes[i].text);
        answer = text.data ? text.data : "";
        if (status == STATUS_OK)
            status = ledger_note(loop->ledger, "inbox", key, answer, loop->diags);
    }
    while (status == STATUS_OK && *answer) {
        char *end;
        bool says = answer[0] == 's';
        size_t length = strtoul(answer + 4, &end, 10);
        const char *text = arena_strndup(loop->arena, end + 1, length);
        answer = end + 1 + length + 1;
        if (says)
            team->hints = team->hints ? arena_printf(loop->arena, "%s\"%s\"\n", team->hints, text)
                                      : arena_printf(loop->arena, "\"%s\"\n", text);
        else
            status = team__add(team, text);
    }
    return status;
}
