/* What a task can see: an input of which no output depends might as well be left unread, and no
 * comparison of outputs would tell. `max` over a dim of size 1 minus its own mean is such a task;
 * there are more of them than one would think.
 *
 * Each input is redrawn alone, all others as they were, first from the normal distribution and, if
 * no output moves, from others too. What moves by less than ten of its tolerances is not seen: a
 * kernel that got it wrong by as much might still pass.
 *
 * The work is bounded by what the runs are estimated to cost, not by a clock, so that the same task
 * gives the same answer on a busy machine.
 */
#include "task/task_int.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Roughly what two cores do: contractions pass 1e11 terms a second, functions with their bounds are
 * a hundred times slower, but then a task with many is bound by the second figure. */
#define TERMS_PER_SECOND 2.5e10
#define BYTES_PER_SECOND 1e9
#define MOST_SECONDS 2.5 /* of one run */
#define MOST_IN_ALL 8.0  /* of all */
#define MOST_MEMORY 0.5  /* of what is free */
#define ENOUGH 10        /* tolerances */
#define KEPT_LIMIT 1000000
#define VERSION 4 /* of what is kept and how it is found, rules of the tolerance included */

/* What an input is redrawn from, in this order. Denormals move nothing, infinities too much. */
static const enum distribution tries[] = {
    DRAW_NORMAL, DRAW_NORMAL,   DRAW_UNIFORM, DRAW_OFFSET,   DRAW_HEAVY,
    DRAW_SMALL,  DRAW_CONSTANT, DRAW_RAMP,    DRAW_INTEGERS,
};
#define TRY_COUNT (sizeof tries / sizeof *tries)

struct look {
    const struct program *program;
    struct evaluator *evaluator;
    uint64_t seed;
    void **inputs; /* as they are when none is redrawn */
    struct lang_result *results;
    struct tolerance *tolerances;
    double seconds;              /* estimated, of a run */
    double left;                 /* of the seconds that all may take */
    struct arena *arena, *trial; /* of all that is above, and of one run */
    jmp_buf no_memory;           /* of both */
    struct diags *diags;         /* in `arena` */
    enum status status;
};

/* ---- how much moves ---- */

/* In tolerances of both results; NaN: unjudged. */
static double
element_move(const struct lang_result *a, const struct lang_result *b,
             const struct tolerance *tolerance, int64_t at)
{
    double apart = fabs(a->v[at] - b->v[at]);

    if (a->v[at] == b->v[at] || (isnan(a->v[at]) && isnan(b->v[at])))
        return 0;
    double gate = task_gate(a, tolerance, at) + task_gate(b, tolerance, at);
    if (isnan(gate))
        return NAN;
    return isnan(apart) ? INFINITY : apart / gate;
}

static double
largest_move(const struct look *look, const struct lang_result *results)
{
    double largest = 0;

    for (size_t o = 0; o < look->program->output_count; o++)
        for (int64_t at = 0; at < results[o].tensor->count; at++)
            largest = fmax(largest,
                           element_move(&look->results[o], &results[o], &look->tolerances[o], at));
    return largest;
}

/* ---- one input ---- */

/* What moves when `input` is redrawn. */
static enum status
redraw(struct look *look, size_t input, size_t try, double *move)
{
    struct arena *arena = look->trial;
    const struct program *program = look->program;
    const struct tensor *tensor = program->tensors[input];
    const void **inputs = arena_array(arena, program->input_count, sizeof *inputs);
    struct lang_result *results = arena_array(arena, program->output_count, sizeof *results);
    void *fresh = arena_array(arena, (size_t)tensor->count, dtype_info[tensor->dtype].size);
    enum status status;

    memcpy(inputs, look->inputs, program->input_count * sizeof *inputs);
    task_draw(program, input, tries[try], look->seed + 1 + try, fresh);
    inputs[input] = fresh;
    status = evaluator_values(arena, look->evaluator, inputs, results, look->diags);
    if (status == STATUS_OK)
        *move = largest_move(look, results);
    return status;
}

/* An arena for a trial; without one it is the other's turn to say that memory ran out. */
static void
renew_trial(struct look *look)
{
    arena_destroy(look->trial);
    look->trial = arena_create();
    if (!look->trial)
        longjmp(look->no_memory, 1);
    arena_on_no_memory(look->trial, &look->no_memory);
}

static enum status
try_input(struct look *look, size_t input, size_t try, struct sight *sight)
{
    double move = 0;
    enum status status;

    renew_trial(look);
    status = redraw(look, input, try, &move);
    look->left -= look->seconds;
    sight->largest = fmax(sight->largest, move);
    sight->seen = sight->largest > ENOUGH;
    sight->tried = sight->seen || try == TRY_COUNT - 1;
    return status;
}

/* ---- all of them ---- */

/* The inputs that are redrawn one at a time, and what they give. */
static enum status
stand_still(struct look *look)
{
    const struct program *program = look->program;
    double start = clock_seconds();
    enum status status;

    look->inputs = task_draw_all(look->arena, program, DRAW_NORMAL, look->seed);
    look->results = arena_array(look->arena, program->output_count, sizeof *look->results);
    look->tolerances = arena_array(look->arena, program->output_count, sizeof *look->tolerances);
    status = evaluator_run(look->arena, look->evaluator, (const void *const *)look->inputs,
                           look->results, look->tolerances, look->diags);
    if (program->foreign) /* there is nothing to estimate from */
        look->seconds = clock_seconds() - start;
    look->left = MOST_IN_ALL - look->seconds;
    return status;
}

static enum status
look_at_all(struct look *look, struct sight *sights, bool *ill_posed)
{
    const struct program *program = look->program;
    enum status status = stand_still(look);

    for (size_t o = 0; o < program->output_count && status == STATUS_OK; o++)
        ill_posed[o] = look->tolerances[o].ill_posed;
    for (size_t try = 0; try < TRY_COUNT; try++)
        for (size_t i = 0; i < program->input_count && status == STATUS_OK; i++)
            if (!sights[i].seen && look->left >= look->seconds)
                status = try_input(look, i, try, &sights[i]);
    return status;
}

/* In arenas of its own, lest the caller's jump away while the evaluator is open. `message` has room
 * for TASK_MESSAGE bytes. */
static enum status
look_apart(struct look *look, struct sight *sights, bool *ill_posed, char *message)
{
    snprintf(message, TASK_MESSAGE, "memory ran out while inputs were redrawn");
    look->status = STATUS_MACHINE;
    look->arena = arena_create();
    if (look->arena && setjmp(look->no_memory) == 0) {
        arena_on_no_memory(look->arena, &look->no_memory);
        look->diags = diags_create(look->arena, 0);
        look->status = look_at_all(look, sights, ill_posed);
        if (look->status != STATUS_OK && diags_count(look->diags) > 0)
            snprintf(message, TASK_MESSAGE, "%s", diags_get(look->diags, 0)->message);
    }
    arena_destroy(look->trial);
    arena_destroy(look->arena);
    return look->status;
}

static enum status
find_out(const struct program *program, uint64_t seed, double seconds, struct sight *sights,
         bool *ill_posed, struct diags *diags)
{
    struct look look = {.program = program, .seed = seed, .seconds = seconds};
    char message[TASK_MESSAGE];
    enum status status = evaluator_open(program, &look.evaluator, diags);

    if (status != STATUS_OK)
        return status;
    memset(sights, 0, program->input_count * sizeof *sights);
    memset(ill_posed, 0, program->output_count * sizeof *ill_posed);
    status = look_apart(&look, sights, ill_posed, message);
    evaluator_close(look.evaluator);
    if (status != STATUS_OK)
        diags_add(diags, DIAG_ERROR, (struct place){0}, "%s", message);
    return status;
}

static enum status
check_size(const struct program *program, double *seconds, struct diags *diags)
{
    double bytes = task_needed_bytes(program), available = task_free_bytes();
    struct lang_needs needs;

    lang_reference_needs(program, &needs);
    *seconds = needs.terms / TERMS_PER_SECOND + bytes / BYTES_PER_SECOND;
    if (*seconds <= MOST_SECONDS && bytes <= MOST_MEMORY * available)
        return STATUS_OK;
    diags_add(diags, DIAG_ERROR, (struct place){0},
              "%s (case %s) is too large to find out what it can see: its reference takes about "
              "%.0f s and %.1f GB, of %.1f GB free; use smaller sizes",
              program->name, program->case_name, ceil(*seconds), bytes / 1e9, available / 1e9);
    return STATUS_INPUT;
}

/* ---- keeping it ---- */

/* NULL: there is no cache folder. */
static const char *
kept_path(struct arena *arena, const struct program *program, uint64_t seed)
{
    const char *cache = file_cache_folder(arena);
    struct buf key = buf_in(arena);
    char name[HASH_TEXT];

    if (!cache)
        return NULL;
    buf_printf(&key, "%d %llu %s", VERSION, (unsigned long long)seed, lang_hash(arena, program));
    for (size_t d = 0; d < program->dim_count; d++)
        buf_printf(&key, " %lld", (long long)program->dims[d].size);
    for (size_t t = 0; t < program->tensor_count; t++) /* dims may be declared in another order */
        for (unsigned d = 0; d < program->tensors[t]->rank; d++)
            buf_printf(&key, "%c%lld", d ? 'x' : ' ', (long long)program->tensors[t]->size[d]);
    hash_sha256(key.data, key.length, name);
    return file_join(arena, file_join(arena, cache, "sight"), name);
}

/* A row an input, then one an output. */
static void
put_kept(struct buf *buf, const struct program *program, const struct sight *sights,
         const bool *ill_posed)
{
    for (size_t i = 0; i < program->input_count; i++)
        buf_printf(buf, "input %d %d %.3g\n", sights[i].tried, sights[i].seen, sights[i].largest);
    for (size_t o = 0; o < program->output_count; o++)
        buf_printf(buf, "output %d\n", ill_posed[o]);
}

static bool
take_kept(const char *text, const struct program *program, struct sight *sights, bool *ill_posed)
{
    int used = 0, flags[2];

    for (size_t i = 0; i < program->input_count; i++, text += used) {
        struct sight *sight = &sights[i];
        if (sscanf(text, "input %d %d %lf\n%n", &flags[0], &flags[1], &sight->largest, &used) != 3)
            return false;
        sight->tried = flags[0];
        sight->seen = flags[1];
    }
    for (size_t o = 0; o < program->output_count; o++, text += used) {
        if (sscanf(text, "output %d\n%n", &flags[0], &used) != 1)
            return false;
        ill_posed[o] = flags[0];
    }
    return *text == '\0';
}

/* What cannot be kept is found again. */
static void
keep(struct arena *arena, const struct program *program, uint64_t seed, const struct sight *sights,
     const bool *ill_posed)
{
    const char *path = kept_path(arena, program, seed);
    struct diags *diags = diags_create(arena, 0);
    struct buf text = buf_in(arena);

    put_kept(&text, program, sights, ill_posed);
    if (path && file_make_folder(file_folder_of(arena, path), diags) == STATUS_OK)
        (void)file_write(path, text.data, text.length, diags);
}

bool
task_seen(struct arena *arena, const struct program *program, uint64_t seed, struct sight *sights,
          bool *ill_posed)
{
    const char *path = kept_path(arena, program, seed);
    struct diags *diags = diags_create(arena, 0);
    struct source source;

    return path && access(path, R_OK) == 0 &&
           file_read(arena, path, KEPT_LIMIT, &source, diags) == STATUS_OK &&
           take_kept(source.text, program, sights, ill_posed);
}

enum status
task_see(struct arena *arena, const struct program *program, uint64_t seed, struct sight *sights,
         bool *ill_posed, struct diags *diags)
{
    double seconds;
    enum status status;

    if (task_seen(arena, program, seed, sights, ill_posed))
        return STATUS_OK;
    status = check_size(program, &seconds, diags);
    if (status == STATUS_OK)
        status = find_out(program, seed, seconds, sights, ill_posed, diags);
    if (status == STATUS_OK)
        keep(arena, program, seed, sights, ill_posed);
    return status;
}
