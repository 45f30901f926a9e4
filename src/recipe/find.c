/* Where recipes are: in the user's folder, and in the program. */
#include "recipe/recipe_int.h"

#include "base/file.h"
#include "base/text.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LARGEST_FILE = 65536 };

/* NULL without a home. */
static const char *
own_folder(struct arena *arena)
{
    const char *config = file_config_folder(arena);
    return config != NULL ? file_join(arena, config, "recipes") : NULL;
}

static const char *
name_in(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static const struct recipe_file *
find_built_in(const char *name)
{
    for (const struct recipe_file *file = recipe__files; file->path != NULL; file++)
        if (!strcmp(name_in(file->path), name))
            return file;
    return NULL;
}

/* ---- names ---- */

struct names {
    const char **list;
    size_t count;
};

static void
add_name(struct arena *arena, struct names *names, const char *name)
{
    names->list =
        arena_grow(arena, names->list, names->count, names->count + 1, sizeof *names->list);
    names->list[names->count++] = arena_strdup(arena, name);
}

/* Editors leave files beside the true ones. */
static int
is_recipe_file(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && !text_ends(entry->d_name, "~");
}

static int
by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* All there are, each once. */
static struct names
all_names(struct arena *arena)
{
    struct names names = {0}, unique = {0};
    struct dirent **entries;
    const char *folder = own_folder(arena);
    int count = folder != NULL ? scandir(folder, &entries, is_recipe_file, alphasort) : -1;
    for (int i = 0; i < count; i++) {
        add_name(arena, &names, entries[i]->d_name);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    for (const struct recipe_file *file = recipe__files; file->path != NULL; file++)
        add_name(arena, &names, name_in(file->path));
    qsort(names.list, names.count, sizeof *names.list, by_name);
    for (size_t i = 0; i < names.count; i++)
        if (i == 0 || strcmp(names.list[i - 1], names.list[i]) != 0)
            add_name(arena, &unique, names.list[i]);
    return unique;
}

/* ---- texts ---- */

static const struct source *
read_source(struct arena *arena, const char *path, struct diags *diags)
{
    struct source *source = arena_alloc(arena, sizeof *source);
    return file_read(arena, path, LARGEST_FILE, source, diags) == STATUS_OK ? source : NULL;
}

static const struct source *
built_in_source(struct arena *arena, const struct recipe_file *file)
{
    struct source *source = arena_alloc(arena, sizeof *source);
    *source = (struct source){file->path, file->text, strlen(file->text)};
    return source;
}

static void
complain_of_name(struct arena *arena, const char *name, struct place place, struct diags *diags)
{
    struct names names = all_names(arena);
    const char *near = text_nearest(name, names.list, names.count);
    if (near != NULL)
        diags_add(diags, DIAG_ERROR, place, "%s: no such recipe; did you mean %s?", name, near);
    else
        diags_add(diags, DIAG_ERROR, place,
                  "%s: no such recipe; `hone recipes` lists them, ./%s is a file", name, name);
}

const struct source *
recipe__find_source(struct arena *arena, const char *name, const char *not_this, struct place place,
                    struct diags *diags)
{
    if (strchr(name, '/') != NULL)
        return read_source(arena, name, diags);
    const char *folder = own_folder(arena);
    const char *own = folder != NULL ? file_join(arena, folder, name) : NULL;
    if (own != NULL && *name != '\0' && access(own, F_OK) == 0 &&
        (not_this == NULL || strcmp(own, not_this) != 0))
        return read_source(arena, own, diags);
    const struct recipe_file *file = find_built_in(name);
    if (file != NULL)
        return built_in_source(arena, file);
    complain_of_name(arena, name, place, diags);
    return NULL;
}

/* ---- recipes ---- */

struct recipe *
recipe_find(struct arena *arena, const char *name, struct diags *diags)
{
    const struct source *source = recipe__find_source(arena, name, NULL, (struct place){0}, diags);
    struct recipe *recipe = source != NULL ? recipe_read(arena, source, diags) : NULL;
    if (recipe == NULL || strchr(name, '/') != NULL || !strcmp(recipe->name, name))
        return recipe;
    diags_add(diags, DIAG_ERROR, (struct place){source, 0, 0},
              "says recipe = %s; write recipe = %s, or call the file %s", recipe->name, name,
              recipe->name);
    return NULL;
}

size_t
recipe_list(struct arena *arena, struct recipe ***recipes, struct diags *diags)
{
    struct names names = all_names(arena);
    size_t count = 0;
    *recipes = arena_array(arena, names.count + 1, sizeof **recipes);
    for (size_t i = 0; i < names.count; i++) {
        struct recipe *recipe = recipe_find(arena, names.list[i], diags);
        if (recipe != NULL)
            (*recipes)[count++] = recipe;
    }
    return count;
}
