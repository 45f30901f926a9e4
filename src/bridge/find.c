/* Where PyTorch is: a virtual environment that `run setup-torch` made, or one like it. */
#include "bridge/bridge_int.h"

#include "base/file.h"
#include "base/text.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LARGEST_FILE 65536

const char *
bridge_environment(struct arena *arena)
{
    const char *given = getenv("HONE_TORCH");
    const char *data = given != NULL && *given != '\0' ? NULL : file_data_folder(arena);
    if (given != NULL && *given != '\0')
        return given;
    return data != NULL ? file_join(arena, data, "torch") : NULL;
}

const char *
bridge__real_path(struct arena *arena, const char *path)
{
    char *found = realpath(path, NULL);
    const char *kept = found != NULL ? arena_strdup(arena, found) : NULL;
    free(found);
    return kept;
}

/* Whether lib/python3.X/site-packages/torch is there. */
static bool
has_torch(struct arena *arena, const char *environment)
{
    glob_t found;
    const char *pattern =
        arena_printf(arena, "%s/lib/python3*/site-packages/torch/version.py", environment);
    bool there = glob(pattern, GLOB_NOSORT, NULL, &found) == 0;
    if (there)
        globfree(&found);
    return there;
}

/* "home = /usr/bin" of pyvenv.cfg: where the interpreter came from. Its library is beside that. */
static const char *
home_of(struct arena *arena, const char *environment)
{
    struct source source;
    char *next, *key, *value;
    struct diags *ignored = diags_create(arena, 1);
    const char *path = file_join(arena, environment, "pyvenv.cfg");
    if (access(path, R_OK) != 0 ||
        file_read(arena, path, LARGEST_FILE, &source, ignored) != STATUS_OK)
        return NULL;
    next = arena_strdup(arena, source.text);
    while (text_next_setting(&next, &key, &value))
        if (!strcmp(key, "home")) {
            const char *folder = bridge__real_path(arena, file_join(arena, value, ".."));
            return folder == NULL || !strcmp(folder, "/usr") || text_starts(folder, "/usr/")
                       ? NULL
                       : folder;
        }
    return NULL;
}

bool
bridge__find(struct arena *arena, const char *environment, struct bridge__place *place,
             struct diags *diags)
{
    const char *wanted = environment != NULL ? environment : bridge_environment(arena);
    *place = (struct bridge__place){0};
    place->environment = wanted != NULL ? bridge__real_path(arena, wanted) : NULL;
    if (place->environment != NULL) {
        place->python = file_join(arena, place->environment, "bin/python3");
        if (access(place->python, X_OK) == 0 && has_torch(arena, place->environment)) {
            place->home = home_of(arena, place->environment);
            return true;
        }
    }
    if (diags != NULL)
        diags_add(diags, DIAG_ERROR, (struct place){0},
                  "PyTorch is not installed in %s; type  ./run setup-torch",
                  wanted != NULL ? wanted : "any place (there is no home)");
    return false;
}

bool
bridge_is_there(struct arena *arena, const struct bridge_options *options)
{
    struct bridge__place place;
    return bridge__find(arena, options != NULL ? options->environment : NULL, &place, NULL);
}
