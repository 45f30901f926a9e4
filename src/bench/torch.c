/* PyTorch as a rival: its builds in a process of their own. */
#include "bench/rivals_int.h"

#include "base/file.h"
#include "base/text.h"
#include "bridge/bridge.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- its builds ---- */

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

/* The module that the task was imported from, as it says itself, or beside it: X.py for X.op. */
static struct bridge_origin
origin_of(struct arena *arena, const struct bench_rivalry *rivalry)
{
    const char *path = rivalry->path;
    struct bridge_origin origin =
        bridge_origin(arena, lang_text(rivalry->lang), file_folder_of(arena, path));
    size_t length = strlen(path) - (text_ends(path, ".op") ? strlen(".op") : 0);
    const char *beside = arena_printf(arena, "%.*s.py", (int)length, path);

    if (!origin.module && access(beside, R_OK) == 0)
        origin.module = beside;
    return origin;
}

static struct bridge_module *
load(struct bridge *bridge, struct arena *arena, const struct bench__terms *terms,
     struct diags *diags)
{
    const struct bench_rivalry *rivalry = terms->rivalry;
    const struct bridge_origin origin = origin_of(arena, rivalry);
    const struct bridge_terms same = {.train = origin.train, .program = terms->program};

    if (origin.module)
        return bridge_load(bridge, origin.module, &same, diags);
    void **inputs = task_draw_all(arena, terms->program, DRAW_NORMAL, rivalry->seed);
    return bridge_load_task(bridge, name_in_suite(arena, rivalry), terms->program,
                            (const void *const *)inputs, diags);
}

static const char *const *
build_names(struct arena *arena)
{
    const char **names = arena_array(arena, BRIDGE_BUILDS, sizeof *names);

    for (unsigned i = 0; i < BRIDGE_BUILDS; i++)
        names[i] = bridge_build_name((enum bridge_build)i);
    return names;
}

/* ---- taking part ---- */

/* Its process looks for these when it times: kernels that go before all other processes, or calls
 * on the same inputs again and again, would decide who wins. */
static void
set_conditions(struct arena *arena, const struct bench__terms *terms)
{
    if (terms->precedence)
        setenv("HONE_PRECEDENCE", "1", 1);
    else
        unsetenv("HONE_PRECEDENCE");
    setenv("HONE_SETS", arena_printf(arena, "%zu", terms->sets), 1);
}

static void
leave(void *held)
{
    bridge_close(held);
}

bool
bench__enter_torch(struct arena *arena, const struct bench__terms *terms,
                   struct bench__entrant *entrant)
{
    struct diags *diags = entrant->rival.diags;
    const struct bridge_options options = {.environment = terms->rivalry->torch,
                                           .threads = terms->rivalry->threads};

    set_conditions(arena, terms);
    struct bridge *bridge = bridge_open(arena, &options, diags);
    struct bridge_module *module = bridge ? load(bridge, arena, terms, diags) : NULL;
    if (module == NULL) {
        bridge_close(bridge);
        return false;
    }
    entrant->rival.racer = (struct bench_racer){.context = module,
                                                .builds = build_names(arena),
                                                .count = BRIDGE_BUILDS,
                                                .prepare = prepare_build,
                                                .window = take_theirs};
    entrant->rival.claimed = BRIDGE_SHIPPED;
    entrant->held = bridge;
    entrant->close = leave;
    return true;
}

bool
bench_prepare(struct arena *arena, const struct bench_rivalry *rivalry, struct diags *diags)
{
    const struct bench__terms terms = {
        .rivalry = rivalry,
        .program = lang_program(rivalry->lang, rivalry->case_number, NULL, 0, diags),
        .sets = 1};
    struct bench__entrant entrant = {.rival = {.diags = diags}};
    size_t made = 0;

    if (!terms.program || !bench__enter_torch(arena, &terms, &entrant))
        return false;
    for (size_t build = 0; build < entrant.rival.claimed; build++)
        made += prepare_build(entrant.rival.racer.context, build, diags);
    entrant.close(entrant.held);
    return made > 0;
}
