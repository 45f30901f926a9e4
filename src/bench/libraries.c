/* OpenBLAS and oneDNN as rivals, where the task is exactly something that they have. */
#include "bench/rivals_int.h"

#include "bridge/library.h"

#include <string.h>

static bool
prepare(void *context, size_t build, struct diags *diags)
{
    return library_build(context, build, diags);
}

static size_t
take(void *context, size_t build, double seconds, double *us, size_t most, struct diags *diags)
{
    return library_window(context, build, seconds, us, most, diags);
}

enum { MOST_LIBRARIES = 4 };

struct bench_standby {
    const char *names[MOST_LIBRARIES];
    struct library *libraries[MOST_LIBRARIES];
    size_t count;
};

struct bench_standby *
bench_stand_by(struct arena *arena, const char *against, const struct program *program)
{
    struct bench_standby *standby = arena_alloc(arena, sizeof *standby);

    *standby = (struct bench_standby){0};
    for (const char *const *name = bench_rival_names; *name != NULL; name++) {
        bool wanted = bench_is_partial(*name) && bench_is_against(against, *name) &&
                      library_has(*name, program);
        struct library *library = wanted ? library_open(arena, *name, program) : NULL;

        if (library == NULL || standby->count == MOST_LIBRARIES)
            continue;
        standby->names[standby->count] = *name;
        standby->libraries[standby->count++] = library;
    }
    return standby;
}

void
bench_stand_down(struct bench_standby *standby)
{
    for (size_t i = 0; standby != NULL && i < standby->count; i++)
        library_close(standby->libraries[i]);
}

static struct library *
waiting(const struct bench_standby *standby, const char *name)
{
    for (size_t i = 0; standby != NULL && i < standby->count; i++)
        if (strcmp(standby->names[i], name) == 0)
            return standby->libraries[i];
    return NULL;
}

bool
bench__enter_library(const struct bench__terms *terms, struct bench__entrant *entrant)
{
    struct bench_rival *rival = &entrant->rival;
    const struct library_terms wish = {.threads = terms->rivalry->threads,
                                       .seed = terms->rivalry->seed,
                                       .sets = terms->sets,
                                       .precedence = terms->precedence};
    struct library *library = waiting(terms->rivalry->standby, rival->name);

    if (library == NULL || !library_start(library, &wish, rival->diags))
        return false;
    rival->racer = (struct bench_racer){.context = library, .prepare = prepare, .window = take};
    rival->racer.builds = library_builds(library, &rival->racer.count);
    rival->claimed = 1; /* its own layouts cost it nothing here: shown, and never claimed against */
    return true;
}
