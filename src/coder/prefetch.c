/* pre(T,n): what a loop will read of T n steps later is fetched now. pre(T,n,i): what will be read
 * when i is n steps further; where the loop over i is another stage's, a step is the box that is
 * computed here. So the next rows come while these are worked on. */
#include "coder/emit_int.h"

#include <inttypes.h>

#define MOST_LINES 8 /* more at a time are not taken up */

const struct expr *
prefetch_access(const struct work *work, const struct tensor *tensor)
{
    const struct expr *load = NULL;
    work_loads(work->reduce != NULL ? work->reduce->args[0] : work->code, tensor, &load, 1);
    return load;
}

const struct token *
prefetch_loop(const struct line *line, size_t at, const struct expr *load)
{
    const struct token *pre = &line->tokens[at];
    while (at-- > 0)
        if (line->tokens[at].form == TOKEN_LOOP && (load->free & 1u << line->tokens[at].level) &&
            (pre->name == NULL || line->tokens[at].level == pre->level))
            return &line->tokens[at];
    return NULL;
}

/* Elements side by side that the tile inside reads. */
static int64_t
width_of(const struct nest *nest, const struct expr *load)
{
    int64_t coefficient[LANG_MAX_LEVELS], constant, width = 1;
    const struct tensor *tensor = load->tensor;
    if (tensor->rank == 0 || !expr_affine(load->args[tensor->rank - 1], coefficient, &constant))
        return 1;
    for (unsigned l = 0; l < nest->member[0].work->levels; l++) {
        int64_t extent = (int)l == nest->vector ? (int64_t)nest->active : nest->span[l].extent;
        if (coefficient[l] == 1 && extent > width)
            width = extent;
    }
    return width;
}

void
prefetch_walk(struct nest *nest, size_t at)
{
    struct emitter *em = nest->em;
    const struct token *token = &nest->line->tokens[at];
    const struct expr *load = prefetch_access(nest->member[0].work, token->tensor);
    const struct token *loop = prefetch_loop(nest->line, at, load);
    unsigned level = loop != NULL ? loop->level : token->level;
    int64_t step = loop == NULL                ? nest->span[level].extent
                   : loop->mark == MARK_VECTOR ? (int64_t)nest->lanes
                                               : loop->step;
    int64_t size = (int64_t)dtype_info[token->tensor->dtype].size;
    int64_t lines = (width_of(nest, load) * size + LINE_BYTES - 1) / LINE_BYTES;
    struct span *span = &nest->span[level], saved = *span;
    struct lin subscripts[LANG_MAX_RANK];
    bool conditional = nest->conditional;
    nest->conditional = true;
    span->add += token->number * step;
    span->low += token->number * step;
    span->high += token->number * step;
    for (unsigned d = 0; d < token->tensor->rank; d++)
        subscripts[d] = subscript_form(nest, &nest->member[0], load->args[d]);
    const char *address = value_address(nest, &nest->member[0], token->tensor, subscripts);
    *span = saved;
    nest->conditional = conditional;
    for (int64_t i = 0; i < lines && i < MOST_LINES; i++)
        code_line(em, "__builtin_prefetch(%s + %" PRId64 "%s);", address, i * LINE_BYTES / size,
                  token->name != NULL ? ", 0, 2" : ""); /* rows: not into the nearest cache */
}
