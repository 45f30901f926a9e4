/* Inputs and sizes that somebody proposes: a tester, or the archive. They join the judge's own:
 * sets besides those of every kind, cases besides those of the task. A text that cannot be read is
 * left out, and so are sizes that the task does not allow: whoever proposes cannot spoil a verdict.
 */
#include "judge/judge_int.h"

#include <string.h>

const char *
judge__sizes_name(struct arena *arena, const struct program *program)
{
    struct buf name = buf_in(arena);

    for (size_t d = 0; d < program->dim_count; d++)
        if (program->dims[d].any)
            buf_printf(&name, "%s%s=%lld", name.length ? "," : "", program->dims[d].name,
                       (long long)program->dims[d].size);
    return name.data;
}

/* The task's program at these sizes; NULL: it has none, or they are those of a case. */
static struct program *
program_of(struct judge_task *task, const struct judge_extra *extra, const struct program *first)
{
    struct diags *ours = diags_create(task->arena, 1);
    struct lang_size *sizes = arena_array(task->arena, first->dim_count + 1, sizeof *sizes);
    size_t count;

    if (task_sizes(task->arena, first, extra->sizes, sizes, &count, ours) != STATUS_OK ||
        count == 0)
        return NULL;
    return lang_program(task->lang, 0, sizes, count, ours);
}

void
judge__add_sizes(struct judge_task *task, const struct judge_setup *setup,
                 const struct program *first)
{
    for (size_t i = 0; i < setup->extra_count; i++) {
        struct program *program = program_of(task, &setup->extras[i], first);
        bool known = program == NULL;

        for (size_t k = 0; k < task->case_count && !known; k++)
            known =
                !strcmp(judge__sizes_name(task->arena, program), task->cases[k].program->case_name);
        if (known)
            continue;
        program->case_name = judge__sizes_name(task->arena, program);
        program->check_only = true;
        task->cases[task->case_count++].program = program;
    }
}

/* A pattern with sizes is for that case alone, one without for all. */
static bool
is_for(struct judge__case *c, const struct judge_extra *extra)
{
    const struct program *program = program_of(c->task, extra, c->program);

    if (extra->sizes[strspn(extra->sizes, " ")] == '\0')
        return true;
    return program != NULL &&
           !strcmp(judge__sizes_name(c->task->arena, program), c->program->case_name);
}

void
judge__read_patterns(struct judge__case *c, const struct judge_setup *setup)
{
    struct arena *arena = c->task->arena;

    c->given = arena_array(arena, setup->extra_count + 1, sizeof *c->given);
    for (size_t i = 0; i < setup->extra_count; i++) {
        const struct judge_extra *extra = &setup->extras[i];
        void **data = arena_array(arena, c->program->input_count + 1, sizeof *data);

        if (extra->pattern[strspn(extra->pattern, " ")] != '\0' && is_for(c, extra) &&
            task_pattern(arena, c->program, extra->pattern, data, diags_create(arena, 1)) ==
                STATUS_OK)
            c->given[c->given_count++] = (struct judge__given){extra->pattern, data};
    }
}
