/* Every operator and function of the library as a task of usual sizes: operators FOLDER
 *
 * Writes NAME.op for each, as `hone new NAME` does; bench/operators.sh measures them. */
#include "base/file.h"
#include "lang/lang.h"

#include <stdio.h>
#include <sys/stat.h>

static bool
write_task(struct arena *arena, const char *folder, const struct lang_entry *entry)
{
    const struct lang_wish usual = {.dtype = DTYPE_F32};
    struct diags *diags = diags_create(arena, 1);
    struct buf text = buf_in(arena);
    const char *unused;
    const char *path = arena_printf(arena, "%s/%s.op", folder, entry->name);

    if (lang_instance(arena, &text, entry, &usual, &unused, diags) == STATUS_OK &&
        file_write(path, text.data, text.length, diags) == STATUS_OK)
        return true;
    fprintf(stderr, "%s: %s\n", path, diags_count(diags) ? diags_get(diags, 0)->message : "?");
    return false;
}

int
main(int argc, char **argv)
{
    struct arena *arena = arena_create();
    struct lang_entry *entries;
    size_t failed = 0, written = 0;

    if (argc != 2) {
        fprintf(stderr, "usage: operators FOLDER\n");
        return 2;
    }
    mkdir(argv[1], 0777);
    size_t count = lang_catalogue(arena, &entries);
    for (size_t i = 0; i < count; i++)
        if (entries[i].kind != LANG_EXAMPLE) {
            bool done = write_task(arena, argv[1], &entries[i]);
            written += done;
            failed += !done;
        }
    printf("%zu entries of the library in %s\n", written, argv[1]);
    arena_destroy(arena);
    return failed > 0;
}
