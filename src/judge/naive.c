/* The baseline that is always there: the plain C of the program, its outermost loop under OpenMP,
 * in the best of a few builds that is itself right. Which build is best is remembered in the cache,
 * so that only the first judge of a task pays for finding it. */
#include "judge/judge_int.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/proc.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct build {
    const char *compiler;
    const char *shown;    /* as the verdict names it */
    const char *flags[8]; /* beside those that every kernel gets */
    bool one_thread;      /* clang's OpenMP needs a library that the runner has not */
};

static const struct build builds[] = {
    {"gcc", "gcc -O3", {"-O3", "-march=native", "-fopenmp", NULL}, false},
    {"gcc", "gcc -Ofast", {"-Ofast", "-march=native", "-fopenmp", NULL}, false},
    {"clang",
     "clang -O3 -ffast-math -fveclib=libmvec",
     {"-O3", "-ffast-math", "-fveclib=libmvec", "-march=native", NULL},
     true},
};
#define BUILDS (sizeof builds / sizeof *builds)
enum { ROUNDS = 5 };
static const double LONG_NS = 2e9;       /* of all calls that choosing takes */
static const double CURIOUS_TERMS = 2e8; /* of the reference: the best build is checked by it */

static const char *
plain_text(struct arena *arena, const struct program *program)
{
    struct buf text = buf_in(arena);

    lang_emit(&text, program, &(struct emit_options){.form = EMIT_NAIVE});
    return text.data;
}

static const char *const *
all_flags(struct arena *arena, const struct target *target, const struct build *build)
{
    size_t count = 0, n = 0;
    const char **flags;

    while (target->service[count])
        count++;
    flags = arena_array(arena, count + 9, sizeof *flags);
    for (size_t i = 0; i < count; i++)
        if (strcmp(build->compiler, "gcc") == 0 || strncmp(target->service[i], "-fmax", 5) != 0)
            flags[n++] = target->service[i];
    for (size_t i = 0; build->flags[i]; i++)
        flags[n++] = build->flags[i];
    return flags;
}

/* An object, or none: a build that fails is left out. Only gcc's headers are precompiled. */
static enum status
make(struct judge__case *c, struct arena *arena, const struct build *build,
     struct judge__object *object, struct diags *diags)
{
    const struct target *target = c->task->target;
    struct buf defines = buf_in(arena);
    struct judge_report report = {0};
    bool gcc = strcmp(build->compiler, "gcc") == 0;

    object->fd = -1;
    object->ours = true;
    if ((build->one_thread && c->task->threads > 1) || !proc_find(arena, build->compiler))
        return STATUS_OK;
    buf_puts(&defines, gcc ? "" : target->headers);
    target->prelude(&defines, c->program);
    const char *text = plain_text(arena, c->program);
    struct judge__source source = {.compiler = build->compiler,
                                   .flags = all_flags(arena, target, build),
                                   .headers = gcc ? target->headers : NULL,
                                   .defines = defines.data,
                                   .file = "naive.c",
                                   .text = text,
                                   .length = strlen(text)};
    return judge__object(c->task->judge, arena, target, &source, object, &report, diags);
}

/* ---- what is remembered ---- */

static const char *
memory_path(struct judge__case *c, struct arena *arena)
{
    struct judge *judge = c->task->judge;
    struct buf key = buf_in(arena);
    char hash[HASH_TEXT];

    if (!judge->cache)
        return NULL;
    buf_printf(&key, "3 %s %u\n", judge->key, c->task->threads); /* 3: kinds of inputs, form */
    for (size_t i = 0; i < BUILDS; i++)
        buf_printf(&key, "%s %d\n", builds[i].shown, proc_find(arena, builds[i].compiler) != NULL);
    buf_puts(&key, plain_text(arena, c->program));
    hash_sha256(key.data, key.length, hash);
    return file_join(arena, judge->cache, arena_printf(arena, "%s.naive", hash));
}

struct choice {
    int build; /* -1: none */
    double ns; /* of one call */
};

static struct choice
recall(const char *path)
{
    FILE *file = path ? fopen(path, "r") : NULL;
    struct choice choice = {-1, 0};

    if (file) {
        if (fscanf(file, "%d %lf", &choice.build, &choice.ns) != 2 || choice.build < 0 ||
            choice.build >= (int)BUILDS || !(choice.ns > 0))
            choice = (struct choice){-1, 0};
        fclose(file);
    }
    return choice;
}

/* ---- choosing ---- */

struct trial { /* of a build */
    struct judge__object object;
    double ns;   /* of one call; INFINITY: it does not work */
    bool wrong;  /* on the inputs that it was timed on */
    bool failed; /* it died or had no end in time */
};

/* On inputs of every kind; where that takes long, on those that it was timed on. */
static enum status
is_right(struct judge__case *c, struct arena *arena, struct trial *trial, bool *right,
         struct diags *diags)
{
    struct judge_report report = {.status = JUDGE_BUILT, .reason = "", .seed = c->task->seed};
    struct judge_case seen = {0};
    enum status status = STATUS_OK;

    *right = !trial->wrong;
    if (*right && trial->ns * (double)c->kind_count < LONG_NS) {
        status = judge__check_case(c, arena, &trial->object, ONCE, 0, &seen, &report, diags);
        *right = report.status == JUDGE_BUILT;
    }
    return status;
}

/* Rounds of all builds, fewer where they are slow. One that failed is not asked again; where it had
 * no end in time, neither are the others: nobody waits for minutes to hear how slow plain C is. */
static enum status
time_builds(struct judge__case *c, struct arena *arena, struct trial *trials, struct diags *diags)
{
    struct judge__pool pool;
    double spent = 0;
    enum status status = judge__pool_open(arena, c, c->task->seed, 1, 1, &pool, diags);

    for (size_t i = 0; i < ROUNDS * BUILDS && status == STATUS_OK && spent < LONG_NS; i++) {
        struct judge__sample sample;
        struct trial *trial = &trials[i % BUILDS];

        if (trial->object.fd < 0 || trial->failed)
            continue;
        status = judge__sample(&pool, arena, &trial->object, 1, 0, true, &sample, diags);
        trial->failed = status == STATUS_OK && sample.end.ending != BOX_DONE;
        if (status == STATUS_OK && !trial->failed)
            trial->ns = fmin(trial->ns, sample.ns);
        trial->wrong = trial->wrong || sample.wrong;
        spent += sample.end.ending == BOX_TIMEOUT ? LONG_NS : sample.ns;
    }
    judge__pool_close(&pool);
    return status;
}

/* The fastest that is right. */
static enum status
find_best(struct judge__case *c, struct arena *arena, struct choice *best, struct diags *diags)
{
    struct trial trials[BUILDS];
    bool right = false;
    enum status status = STATUS_OK;

    for (size_t i = 0; i < BUILDS; i++)
        trials[i] = (struct trial){.object.fd = -1, .ns = INFINITY};
    for (size_t i = 0; i < BUILDS && status == STATUS_OK; i++)
        status = make(c, arena, &builds[i], &trials[i].object, diags);
    if (status == STATUS_OK)
        status = time_builds(c, arena, trials, diags);
    while (status == STATUS_OK && !right) {
        *best = (struct choice){-1, INFINITY};
        for (size_t i = 0; i < BUILDS; i++)
            if (trials[i].ns < best->ns)
                *best = (struct choice){(int)i, trials[i].ns};
        if (best->build < 0)
            break;
        status = is_right(c, arena, &trials[best->build], &right, diags);
        trials[best->build].ns = INFINITY;
    }
    for (size_t i = 0; i < BUILDS; i++)
        if (trials[i].object.fd >= 0)
            close(trials[i].object.fd);
    return status;
}

static enum status
keep_build(struct judge__case *c, const struct choice *choice, struct diags *diags)
{
    struct arena *arena = arena_create();
    struct judge_kernel *kernel;
    enum status status;

    if (!arena)
        return judge__no_memory(diags);
    kernel = arena_alloc(arena, sizeof *kernel);
    kernel->task = c->task;
    kernel->arena = arena;
    kernel->file = "naive";
    kernel->flags = builds[choice->build].shown;
    kernel->objects = arena_alloc(arena, sizeof *kernel->objects);
    kernel->object_count = 1;
    status = make(c, arena, &builds[choice->build], kernel->objects, diags);
    kernel->objects->ns = choice->ns;
    if (status == STATUS_OK && kernel->objects->fd >= 0)
        c->naive = kernel;
    else
        arena_destroy(arena);
    return status;
}

enum status
judge__naive(struct judge__case *c, struct diags *diags)
{
    struct arena *arena;
    enum status status = STATUS_OK;

    if (c->naive_tried || c->program->foreign)
        return STATUS_OK;
    c->naive_tried = true;
    arena = arena_create();
    if (!arena)
        return judge__no_memory(diags);
    const char *path = memory_path(c, arena);
    struct choice choice = recall(path);
    if (choice.build < 0) {
        judge__progress(c->task->judge, "%s  building naive for case %s", c->program->name,
                        c->program->case_name);
        status = find_best(c, arena, &choice, diags);
        if (status == STATUS_OK && choice.build >= 0 && path) {
            const char *text = arena_printf(arena, "%d %.0f\n", choice.build, ceil(choice.ns));
            (void)file_write(path, text, strlen(text), diags_create(arena, 0));
        }
    }
    if (status == STATUS_OK && choice.build >= 0)
        status = keep_build(c, &choice, diags);
    arena_destroy(arena);
    return status;
}

enum status
judge_naive_us(struct judge_task *task, size_t number, double *us, struct diags *diags)
{
    struct judge__case *c = &task->cases[number];
    struct lang_needs needs = {0};
    struct arena *arena = arena_create();
    enum status status = STATUS_OK;

    *us = 0;
    if (!arena)
        return judge__no_memory(diags);
    if (!c->program->foreign)
        lang_reference_needs(c->program, &needs);
    double ns = c->program->foreign ? 0 : recall(memory_path(c, arena)).ns;
    if (ns == 0 && needs.terms > 0 && needs.terms < CURIOUS_TERMS) {
        status = judge__naive(c, diags);
        ns = c->naive ? c->naive->objects->ns : 0;
    }
    *us = ns / 1e3;
    arena_destroy(arena);
    return status;
}
