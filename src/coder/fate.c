/* What the lines of a schedule say of a stage: who computes it, and which indices they mean. */
#include "coder/coder_int.h"

#include <string.h>

/* ---- names of indices ---- */

static int
find_level(const struct work *work, const char *name)
{
    for (unsigned i = 0; i < work->levels; i++)
        if (strcmp(work->index[i], name) == 0)
            return (int)i;
    return -1;
}

static bool
no_index(struct arena *arena, const struct work *work, const struct token *token, const char *name,
         struct diags *diags)
{
    struct buf names = buf_in(arena);
    for (unsigned i = 0; i < work->levels; i++)
        buf_printf(&names, " %s", work->index[i]);
    diags_add(diags, DIAG_ERROR, token->place,
              "%s is no index of %s and no word of schedules; its indices are%s", name,
              work->tensor->name, names.length ? names.data : " none");
    return false;
}

bool
fate_resolve_names(struct arena *arena, struct schedule *schedule, const struct work *work,
                   struct line *line, struct diags *diags)
{
    bool good = true;
    for (size_t i = 0; i < line->count; i++) {
        struct token *token = &line->tokens[i];
        int level = 0;
        if ((token->form == TOKEN_LOOP || token->form == TOKEN_PRE) && token->name != NULL) {
            level = find_level(work, token->name);
            if (level < 0)
                good = no_index(arena, work, token, token->name, diags);
            token->level = level < 0 ? 0 : (unsigned)level;
        }
        const struct work *guest = &schedule->works[token->form == TOKEN_WITH ? token->stage : 0];
        for (unsigned p = 0; p < token->pairs; p++) {
            int from = find_level(guest, token->guest[p]), to = find_level(work, token->host[p]);
            if (from < 0)
                good = no_index(arena, guest, token, token->guest[p], diags);
            else if (to < 0)
                good = no_index(arena, work, token, token->host[p], diags);
            else
                token->map[from] = (int8_t)to;
        }
    }
    return good;
}

bool
fate_decide(struct schedule *schedule, struct work *work, struct diags *diags)
{
    const struct program *program = schedule->program;
    const struct token *named = NULL;
    for (size_t i = 0; i < program->stage_count; i++) {
        const struct line *line = &schedule->lines[i];
        const struct token *token = work_names(line, TOKEN_DO, work->number);
        if (token == NULL)
            token = work_names(line, TOKEN_WITH, work->number);
        if (token == NULL && i != work->number)
            token = online_names(line, work->number);
        if (token == NULL)
            continue;
        if (named != NULL) {
            diags_add(diags, DIAG_ERROR, token->place, "%s: %s is computed in another line already",
                      token->text, work->tensor->name);
            return false;
        }
        named = token;
        work->consumer = i;
        work->fate = token->form == TOKEN_DO ? FATE_DO : FATE_WITH;
    }
    return true;
}

bool
fate_check_circles(const struct schedule *schedule, const struct work *work, struct diags *diags)
{
    size_t steps = 0, at = work->number;
    while ((schedule->works[at].fate == FATE_DO || schedule->works[at].fate == FATE_WITH) &&
           steps++ <= schedule->program->stage_count)
        at = schedule->works[at].consumer;
    if (schedule->works[at].fate != FATE_DO && schedule->works[at].fate != FATE_WITH)
        return true;
    const struct line *line = &schedule->lines[work->consumer];
    const struct token *token = work_names(line, TOKEN_DO, work->number);
    if (token == NULL)
        token = work_names(line, TOKEN_WITH, work->number);
    if (token == NULL)
        token = online_names(line, work->number);
    diags_add(diags, DIAG_ERROR, token->place,
              "%s: these lines compute each other; one stage needs loops of its own", token->text);
    return false;
}
