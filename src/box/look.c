/* Programs that read what the guest made. The object is the guest's, debug data and symbol names
 * included, so it is read in the compile jail. */
#include "box/compile_int.h"

#include "base/proc.h"
#include "base/text.h"

#include <stdlib.h>
#include <unistd.h>

const char *
box_look(const struct box *box, struct arena *arena, const struct box_look *look)
{
    const char *found = proc_find(arena, look->tool);
    char *path = found ? realpath(found, NULL) : NULL;
    struct box__command *command = arena_alloc(arena, sizeof *command);
    double seconds = look->seconds > 0 ? look->seconds : 5;
    struct box_compile_result result = {.object = -1};
    struct box__why why = {{0}};
    enum status status = STATUS_NO;

    if (path && text_starts(path, "/usr/")) {
        box__command_arg(command, arena_strdup(arena, path));
        for (const char *const *arg = look->args; *arg; arg++)
            box__command_arg(command, *arg);
        box__command_file(command, look->file.name, look->file.text, look->file.length);
        command->limits = (struct box_compile_limits){
            .wall_seconds = seconds, .cpu_seconds = seconds, .diagnostics = look->output};
        status = box__command_run(box, arena, command, &result, &why);
    }
    free(path);
    if (result.object >= 0) /* a file that it left: nobody asked for one */
        close(result.object);
    return status == STATUS_OK ? result.diagnostics : NULL;
}
