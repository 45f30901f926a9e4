/* The plain schedule: left loops in order, the first on threads, one accumulator, reduction loops.
 * Legal for every stage. */
#include "coder/coder_int.h"

static struct token *
add_token(struct line *line, struct token token)
{
    token.place = line->place;
    line->tokens[line->count] = token;
    return &line->tokens[line->count++];
}

/* A scan runs its own index, innermost of the left ones. */
static void
add_carried(struct line *line, const struct work *work)
{
    unsigned level = work->stage->carried;
    add_token(line, (struct token){
                        .form = TOKEN_LOOP, .text = work->index[level], .level = level, .step = 1});
}

void
plain_line(struct arena *arena, struct line *line, const struct work *work, bool threads)
{
    bool rec = work->stage->rec >= 0;
    for (unsigned i = 0; i < work->levels; i++) {
        if (i == work->rank) {
            if (work->before != NULL)
                add_carried(line, work);
            add_token(line, (struct token){.form = TOKEN_ACC, .text = "acc"});
        }
        if (rec && i == work->stage->carried)
            continue;
        struct token *token = add_token(
            line,
            (struct token){.form = TOKEN_LOOP, .text = work->index[i], .level = i, .step = 1});
        if (threads && i < work->rank) {
            token->mark = MARK_THREADS;
            token->text = arena_printf(arena, "%s@p", work->index[i]);
            threads = false;
        }
    }
    if (work->before != NULL && work->levels == work->rank)
        add_carried(line, work);
}
