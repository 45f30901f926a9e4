/* A program remembers the module that it was made from, in a comment: "# module: ../relu.py". */
#include "bridge/bridge_int.h"

#include "base/file.h"
#include "base/text.h"

#include <string.h>

static const char *const key[] = {[false] = "# module: ", [true] = "# module, training: "};

/* How many bytes of the two are folders that they have in common. */
static size_t
common(const char *a, const char *b)
{
    size_t length = 0;
    for (size_t i = 0; a[i] != '\0' && a[i] == b[i]; i++)
        if (a[i] == '/')
            length = i + 1;
    return length;
}

/* "../relu.py": the file as seen from the folder; a folder that was moved with it still finds it.
 */
static const char *
seen_from(struct arena *arena, const char *folder, const char *file)
{
    struct buf path = buf_in(arena);
    const char *from = bridge__real_path(arena, folder), *to = bridge__real_path(arena, file);
    if (from == NULL || to == NULL)
        return file;
    from = strcmp(from, "/") != 0 ? arena_printf(arena, "%s/", from) : from;
    size_t same = common(from, to);
    for (const char *at = from + same; *at != '\0'; at++)
        if (*at == '/')
            buf_puts(&path, "../");
    buf_puts(&path, to + same);
    return path.data;
}

const char *
bridge_signed(struct arena *arena, const char *text, const char *folder,
              const struct bridge_origin *origin)
{
    size_t first = strcspn(text, "\n");
    return arena_printf(arena, "%.*s\n%s%s%s", (int)first, text, key[origin->train],
                        seen_from(arena, folder, origin->module), text + first);
}

struct bridge_origin
bridge_origin(struct arena *arena, const char *text, const char *folder)
{
    for (const char *line = text; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        for (unsigned train = 0; train < 2; train++)
            if (text_starts(line, key[train])) {
                size_t skipped = strlen(key[train]);
                const char *path = arena_strndup(arena, line + skipped, length - skipped);
                return (struct bridge_origin){file_join(arena, folder, path), train};
            }
        line += length + (line[length] == '\n');
    }
    return (struct bridge_origin){0};
}
