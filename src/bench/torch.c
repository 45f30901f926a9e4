/* PyTorch as a rival: its builds in a process of their own, our kernel in the judge's box. */
#include "bench/torch.h"

#include "base/file.h"
#include "base/text.h"
#include "bench/bench.h"
#include "bridge/bridge.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 9 };
static const double WINDOW_SECONDS = 0.08;
static const double PAUSE_SECONDS = 0.025; /* an OpenMP team spins for some ms behind its work */
static const double SUSPICIOUS = 4;        /* times as fast as the judge has seen it */

/* ---- our kernel ---- */

struct ours {
    struct judge_task *task;
    struct judge_kernel *kernel;
    struct judge_window *window;
    double least_us; /* what is faster is not believed */
};

static enum status
open_ours(struct ours *ours, struct arena *arena, const struct bench_rivalry *rivalry,
          struct diags *diags)
{
    struct judge_setup setup = {.lang = rivalry->lang,
                                .cases = &rivalry->case_number,
                                .case_count = 1,
                                .target = rivalry->target,
                                .threads = rivalry->threads,
                                .no_baseline = true,
                                .effort = JUDGE_NORMAL};
    struct judge_report report;
    enum status status = judge_task_open(rivalry->judge, &setup, &ours->task, diags);

    if (status == STATUS_OK)
        status = judge_build(ours->task, arena, "kernel.c", rivalry->kernel,
                             strlen(rivalry->kernel), &ours->kernel, &report, diags);
    if (status == STATUS_OK && ours->kernel == NULL)
        return STATUS_NO;
    return status == STATUS_OK
               ? judge_window_open(ours->task, ours->kernel, 0, &ours->window, diags)
               : status;
}

static void
close_ours(struct ours *ours)
{
    judge_window_close(ours->window);
    judge_kernel_close(ours->kernel);
    judge_task_close(ours->task);
}

static bool
is_ready(void *context, size_t build, struct diags *diags)
{
    (void)build;
    (void)diags;
    return ((struct ours *)context)->window != NULL;
}

/* Inputs come again here, unlike in a verdict: a kernel that remembers them does not win by it. */
static size_t
take_ours(void *context, size_t build, double seconds, double *us, size_t most, struct diags *diags)
{
    const struct ours *ours = context;
    size_t count;

    (void)build;
    if (judge_window_take(ours->window, seconds, us, most, &count, diags) != STATUS_OK)
        return 0;
    for (size_t i = 0; i < count; i++)
        if (us[i] < ours->least_us) {
            diags_add(diags, DIAG_ERROR, (struct place){0},
                      "%.3g us where inputs come again, far less than on new ones", us[i]);
            return 0;
        }
    return count;
}

/* ---- theirs ---- */

static bool
prepare_build(void *context, size_t build, struct diags *diags)
{
    return bridge_build(context, (enum bridge_build)build, diags);
}

static size_t
take_theirs(void *context, size_t build, double seconds, double *us, size_t most,
            struct diags *diags)
{
    return bridge_window(context, (enum bridge_build)build, seconds, us, most, diags);
}

/* "kernelbench/1/023_softmax" */
static const char *
name_in_suite(struct arena *arena, const struct bench_rivalry *rivalry)
{
    const char *slash = strrchr(rivalry->path, '/'), *name = slash ? slash + 1 : rivalry->path;
    size_t length = strlen(name) - (text_ends(name, ".op") ? strlen(".op") : 0);

    return arena_printf(arena, "%s/%.*s", rivalry->suite, (int)length, name);
}

/* The module that the task was imported from: beside it, X.py for X.op. NULL: none. */
static const char *
module_beside(struct arena *arena, const char *path)
{
    size_t length = strlen(path) - (text_ends(path, ".op") ? strlen(".op") : 0);
    const char *module = arena_printf(arena, "%.*s.py", (int)length, path);

    return access(module, R_OK) == 0 ? module : NULL;
}

static struct bridge_module *
load(struct bridge *bridge, struct arena *arena, const struct bench_rivalry *rivalry,
     struct diags *diags)
{
    const char *module = module_beside(arena, rivalry->path);
    struct program *program;

    if (module)
        return bridge_load(bridge, module, NULL, 0, diags);
    program = lang_program(rivalry->lang, rivalry->case_number, NULL, 0, diags);
    if (!program)
        return NULL;
    void **inputs = task_draw_all(arena, program, DRAW_NORMAL, rivalry->seed);
    return bridge_load_task(bridge, name_in_suite(arena, rivalry), program,
                            (const void *const *)inputs, diags);
}

/* ---- the race ---- */

/* PyTorch's process looks for these when it times: kernels that go before all other processes, or
 * calls on the same inputs again and again, would decide who wins. */
static void
set_conditions(struct arena *arena, const struct judge *judge, const struct judge_window *window)
{
    if (judge_goes_first(judge))
        setenv("HONE_PRECEDENCE", "1", 1);
    else
        unsetenv("HONE_PRECEDENCE");
    setenv("HONE_SETS", arena_printf(arena, "%zu", judge_window_sets(window)), 1);
}

static const char *const *
build_names(struct arena *arena)
{
    const char **names = arena_array(arena, BRIDGE_BUILDS, sizeof *names);

    for (unsigned i = 0; i < BRIDGE_BUILDS; i++)
        names[i] = bridge_build_name((enum bridge_build)i);
    return names;
}

enum status
bench_against_torch(struct arena *arena, const struct bench_rivalry *rivalry,
                    struct store_baseline **rows, size_t *count, struct diags *diags)
{
    static const char *const own[] = {"kernel"};
    const struct bench_race race = {.rounds = ROUNDS,
                                    .seconds = WINDOW_SECONDS,
                                    .pause = PAUSE_SECONDS,
                                    .claimed = BRIDGE_SHIPPED};
    const struct bridge_options options = {.threads = rivalry->threads};
    struct ours ours = {.least_us = rivalry->judged_us / SUSPICIOUS};
    struct bridge *bridge = NULL;
    struct bridge_module *module = NULL;
    enum status status = open_ours(&ours, arena, rivalry, diags);

    *rows = NULL;
    *count = 0;
    if (status == STATUS_OK) {
        set_conditions(arena, rivalry->judge, ours.window);
        bridge = bridge_open(arena, &options, diags);
        module = bridge ? load(bridge, arena, rivalry, diags) : NULL;
        status = module ? STATUS_OK : STATUS_NO;
    }
    if (status == STATUS_OK)
        status = bench_run_race(arena, &race, "torch",
                                &(struct bench_racer){.context = &ours,
                                                      .builds = own,
                                                      .count = 1,
                                                      .prepare = is_ready,
                                                      .window = take_ours},
                                &(struct bench_racer){.context = module,
                                                      .builds = build_names(arena),
                                                      .count = BRIDGE_BUILDS,
                                                      .prepare = prepare_build,
                                                      .window = take_theirs},
                                rows, count, diags);
    close_ours(&ours);
    bridge_close(bridge);
    return status == STATUS_OK && *count == 0 ? STATUS_NO : status;
}
