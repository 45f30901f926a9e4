/* The compile jail, seen from outside: one C file becomes a shared object.
 *
 * The command is fixed here; the caller adds flags that box_flag_allowed() knows and texts. Without
 * start files there is no code that runs on loading but what the source itself asks for, and that
 * the audit refuses; a version script shows the wanted functions and hides all else. */
#include "box/compile_int.h"

#include "base/buf.h"
#include "base/proc.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const fixed[] = {"-fPIC",
                                    "-shared",
                                    "-nostartfiles",
                                    "-fmax-errors=20",
                                    "-fdiagnostics-color=never",
                                    "-fno-diagnostics-show-caret",
                                    NULL};
static const char *const linking[] = {"-Wl,-z,now",
                                      "-Wl,-z,relro",
                                      "-Wl,-z,noexecstack",
                                      "-Wl,--no-allow-shlib-undefined",
                                      "-Wl,--build-id=none",
                                      "-Wl,--hash-style=gnu",
                                      "-Wl,--version-script=exports.map",
                                      "-lm",
                                      NULL};

static void
add_all(struct box__command *command, const char *const *texts)
{
    for (; *texts; texts++)
        box__command_arg(command, *texts);
}

/* The compiler itself, not the name of a link that may lead out of the jail. */
static const char *
find_compiler(struct arena *arena, const char *name, struct box__why *why)
{
    const char *found = proc_find(arena, name);
    char *path = found ? realpath(found, NULL) : NULL;
    const char *kept = path ? arena_strdup(arena, path) : NULL;

    free(path);
    if (!kept) {
        snprintf(why->text, sizeof why->text, "%s: no such compiler; install it", name);
        return NULL;
    }
    if (!text_starts(kept, "/usr/")) {
        snprintf(why->text, sizeof why->text, "%s: lies outside /usr, where the jail cannot see it",
                 kept);
        return NULL;
    }
    return kept;
}

static const char *
export_map(struct arena *arena, const char *const *exports)
{
    struct buf buf = buf_in(arena);

    buf_puts(&buf, "{");
    if (*exports)
        buf_puts(&buf, " global:");
    for (; *exports; exports++)
        buf_printf(&buf, " %s;", *exports);
    buf_puts(&buf, " local: *; };\n");
    return buf.data;
}

static enum status
check_request(const struct box_compile_request *request, struct box__why *why)
{
    const char *const *flag = request->flags;

    for (; *flag; flag++)
        if (!box_flag_allowed(*flag)) {
            snprintf(why->text, sizeof why->text, "compiler flag %.200s is not allowed", *flag);
            return STATUS_INPUT;
        }
    if (flag - request->flags > 128 || request->header_count > 64) {
        snprintf(why->text, sizeof why->text, "too many flags or headers");
        return STATUS_INPUT;
    }
    return STATUS_OK;
}

static void
add_texts(struct box__command *command, struct arena *arena,
          const struct box_compile_request *request)
{
    const char *map = export_map(arena, request->exports);

    if (request->prelude) { /* it must be file 0, see struct box__command */
        box__command_arg(command, "-include");
        box__command_arg(command, "prelude.h");
        box__command_file(command, "prelude.h", request->prelude, strlen(request->prelude));
    }
    if (request->defines) {
        box__command_arg(command, "-include");
        box__command_arg(command, "defines.h");
        box__command_file(command, "defines.h", request->defines, strlen(request->defines));
    }
    box__command_file(command, request->source.name, request->source.text, request->source.length);
    box__command_file(command, "exports.map", map, strlen(map));
    for (size_t i = 0; i < request->header_count; i++)
        box__command_file(command, request->headers[i].name, request->headers[i].text,
                          request->headers[i].length);
}

enum status
box_compile(const struct box *box, struct arena *arena, const struct box_compile_request *request,
            struct box_compile_result *result, struct diags *diags)
{
    struct box__command *command = arena_alloc(arena, sizeof *command);
    struct box__why why = {{0}};
    const char *compiler;
    enum status status = check_request(request, &why);

    *result = (struct box_compile_result){.object = -1, .reason = "", .diagnostics = ""};
    if (status != STATUS_OK)
        return box__report(status, &why, diags);
    compiler = find_compiler(arena, request->compiler, &why);
    if (!compiler)
        return box__report(STATUS_MACHINE, &why, diags);
    box__command_arg(command, compiler);
    add_all(command, request->flags);
    add_all(command, fixed);
    add_texts(command, arena, request);
    box__command_arg(command, "-xc");
    box__command_arg(command, request->source.name);
    box__command_arg(command, "-xnone");
    box__command_arg(command, "-o");
    box__command_arg(command, "object");
    add_all(command, linking);
    command->limits = request->limits;
    if (request->prelude)
        command->cache = box__prelude_folder(box, arena, compiler, request);
    status = box__command_run(box, arena, command, result, &why);
    return box__report(status, &why, diags);
}
