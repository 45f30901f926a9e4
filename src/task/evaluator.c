/* Expected values, many times: the reference and the honest evaluators of a program, kept loaded.
 *
 * The evaluator's memory is an arena of its own, in which what honest evaluators write is kept from
 * run to run. What is needed while something is opened goes to another arena, dropped at once. No
 * arena of ours is held where the caller's might jump away. */
#include "task/task_int.h"

#include <malloc.h>
#include <stdio.h>

struct evaluator {
    struct arena *arena;
    const struct program *program;
    struct reference plain;    /* for inputs without denormals, and the foreign one */
    struct reference denormal; /* opened when it is first needed */
    struct honest honest;
};

static enum status
no_memory(struct diags *diags)
{
    diags_add(diags, DIAG_ERROR, (struct place){0}, "memory ran out while a reference was opened");
    return STATUS_MACHINE;
}

/* Each run takes and frees the same few large pieces, here and in the compiled reference. malloc()
 * would give them back to the system, which then makes every page anew: that cost more than the
 * evaluation itself. */
static void
keep_freed_memory(void)
{
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 128 << 20);
}

/* NULL: no memory. */
static struct evaluator *
create(const struct program *program)
{
    struct arena *arena = arena_create();
    struct evaluator *evaluator;
    jmp_buf jump;

    if (!arena)
        return NULL;
    if (setjmp(jump) != 0) {
        arena_destroy(arena);
        return NULL;
    }
    arena_on_no_memory(arena, &jump);
    evaluator = arena_alloc(arena, sizeof *evaluator);
    evaluator->arena = arena;
    evaluator->program = program;
    if (!program->foreign)
        honest_prepare(arena, program, &evaluator->honest);
    arena_on_no_memory(arena, NULL);
    return evaluator;
}

/* Opens references in an arena of their own. `message` has room for TASK_MESSAGE bytes. */
static enum status
open_apart(const struct program *program, const struct emit_options *options, size_t count,
           struct reference *references, char *message)
{
    struct arena *arena = arena_create();
    enum status status = STATUS_MACHINE;
    jmp_buf jump;

    snprintf(message, TASK_MESSAGE, "memory ran out while a reference was opened");
    if (arena && setjmp(jump) == 0) {
        arena_on_no_memory(arena, &jump);
        struct diags *diags = diags_create(arena, 0);
        status = reference_open_all(arena, program, options, count, references, diags);
        if (status != STATUS_OK && diags_count(diags) > 0)
            snprintf(message, TASK_MESSAGE, "%s", diags_get(diags, 0)->message);
    }
    arena_destroy(arena);
    return status;
}

static enum status
open_all(struct evaluator *evaluator, char *message)
{
    enum { ALL = HONEST + 1 };
    struct emit_options options[ALL] = {{.form = EMIT_REFERENCE}};
    struct reference references[ALL] = {0};
    enum status status;

    honest_options(TASK_HONEST_SEED, options + 1);
    status = open_apart(evaluator->program, options, evaluator->program->foreign ? 1 : ALL,
                        references, message);
    evaluator->plain = references[0];
    for (size_t i = 0; i < HONEST; i++)
        evaluator->honest.kernels[i] = references[i + 1];
    return status;
}

enum status
evaluator_open(const struct program *program, struct evaluator **evaluator, struct diags *diags)
{
    struct evaluator *opened = create(program);
    char message[TASK_MESSAGE];
    enum status status;

    *evaluator = NULL;
    if (!opened)
        return no_memory(diags);
    keep_freed_memory();
    status = open_all(opened, message);
    if (status == STATUS_OK) {
        *evaluator = opened;
        return STATUS_OK;
    }
    evaluator_close(opened);
    diags_add(diags, DIAG_ERROR, (struct place){0}, "%s", message);
    return status;
}

void
evaluator_close(struct evaluator *evaluator)
{
    if (!evaluator)
        return;
    reference_close(&evaluator->plain);
    reference_close(&evaluator->denormal);
    for (size_t i = 0; i < HONEST; i++)
        reference_close(&evaluator->honest.kernels[i]);
    arena_destroy(evaluator->arena);
}

/* The reference for these inputs; NULL, and a message, if it cannot be opened. */
static enum status
choose(struct evaluator *evaluator, const void *const *inputs, struct reference **reference,
       struct diags *diags)
{
    const struct program *program = evaluator->program;
    struct emit_options options = {.form = EMIT_REFERENCE, .denormals = true};
    char message[TASK_MESSAGE];
    enum status status = STATUS_OK;

    *reference = &evaluator->plain;
    if (program->foreign || !task_has_denormals(program, inputs))
        return STATUS_OK;
    *reference = &evaluator->denormal;
    if (!evaluator->denormal.handle)
        status = open_apart(program, &options, 1, &evaluator->denormal, message);
    if (status != STATUS_OK)
        diags_add(diags, DIAG_ERROR, (struct place){0}, "%s", message);
    return status;
}

enum status
evaluator_values(struct arena *arena, struct evaluator *evaluator, const void *const *inputs,
                 struct lang_result *results, struct diags *diags)
{
    struct reference *reference;
    enum status status = choose(evaluator, inputs, &reference, diags);

    return status == STATUS_OK ? reference_evaluate(arena, reference, inputs, results, diags)
                               : status;
}

enum status
evaluator_run(struct arena *arena, struct evaluator *evaluator, const void *const *inputs,
              struct lang_result *results, struct tolerance *tolerances, struct diags *diags)
{
    const struct program *program = evaluator->program;
    enum status status = evaluator_values(arena, evaluator, inputs, results, diags);

    if (status != STATUS_OK)
        return status;
    for (size_t o = 0; o < program->output_count; o++)
        tolerances[o] = (struct tolerance){.k = 1, .scale = 1};
    if (!program->foreign) /* its tolerance is given */
        honest_calibrate(&evaluator->honest, inputs, results, tolerances);
    return STATUS_OK;
}
