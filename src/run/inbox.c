/* What people say and add while a run goes on. */
#include "run/team_int.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

/* Those that came since the last round, as a text: "say LENGTH", the words, and so on. They are
 * told apart by their numbers, and marked as taken only when the answer is written. */
static enum status
look_for_notes(struct team *team, const char **answer)
{
    struct loop *loop = team->loop;
    struct store_note *notes;
    size_t count = 0;
    struct buf text = buf_in(loop->arena);
    enum status status = store_inbox(loop->ledger->store, loop->arena, loop->ledger->run, &notes,
                                     &count, loop->diags);
    for (size_t i = team->notes; i < count && status == STATUS_OK; i++)
        buf_printf(&text, "%s %zu\n%s\n", notes[i].kind, strlen(notes[i].text), notes[i].text);
    *answer = text.data ? text.data : "";
    return status;
}

static enum status
note_answer(struct team *team, const char *key, const char *answer)
{
    struct loop *loop = team->loop;
    struct store_note *notes;
    size_t count;
    enum status status = ledger_note(loop->ledger, "inbox", key, answer, loop->diags);
    if (status != STATUS_OK || !*answer)
        return status;
    return store_inbox_take(loop->ledger->store, loop->arena, loop->ledger->run, clock_wall(),
                            &notes, &count, loop->diags);
}

static enum status
take_note(struct team *team, bool says, const char *text)
{
    struct arena *arena = team->loop->arena;
    team->notes++;
    if (!says)
        return team__add(team, text);
    team->hints = arena_printf(arena, "%s\"%s\"\n", team->hints ? team->hints : "", text);
    return STATUS_OK;
}

enum status
team__take_inbox(struct phase *phase)
{
    struct team *team = phase->team;
    struct loop *loop = team->loop;
    const char *answer, *key = arena_printf(loop->arena, "round %u", phase->round);
    if (loop->ledger->store == NULL || loop->is_part) /* what people say is about the whole */
        return STATUS_OK;
    enum status status = ledger_recall(loop->ledger, "inbox", key, &answer, loop->diags);
    if (status == STATUS_NO) {
        status = look_for_notes(team, &answer);
        if (status == STATUS_OK)
            status = note_answer(team, key, answer);
    }
    while (status == STATUS_OK && *answer) {
        char *end;
        bool says = answer[0] == 's';
        size_t length = strtoul(answer + 4, &end, 10);
        status = take_note(team, says, arena_strndup(loop->arena, end + 1, length));
        answer = end + 1 + length + 1;
    }
    return status;
}
