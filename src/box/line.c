/* The source line of an instruction. The object was made by the guest's text, debug data included,
 * so it is read where the compiler runs: in the jail. */
#include "box/compile_int.h"

#include "base/proc.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* "/job/kernel.c:14 (discriminator 3)" is line 14 of kernel.c; 0 for any other file. */
static uint32_t
line_in(const char *answer, const char *name)
{
    const char *found = strstr(answer, name);
    unsigned long line = found ? strtoul(found + strlen(name) + 1, NULL, 10) : 0;

    if (!found || found[strlen(name)] != ':' || (found != answer && found[-1] != '/'))
        return 0;
    return line < UINT32_MAX ? (uint32_t)line : 0;
}

uint32_t
box_source_line(const struct box *box, int object, size_t bytes, uint64_t offset, const char *name)
{
    struct arena *arena = arena_create();
    struct box__command *command;
    struct box_compile_result result;
    struct box__why why = {{0}};
    void *mapped = mmap(NULL, bytes, PROT_READ, MAP_SHARED, object, 0);
    char *tool = NULL;
    uint32_t line = 0;

    if (arena && mapped != MAP_FAILED && proc_find(arena, "addr2line"))
        tool = realpath(proc_find(arena, "addr2line"), NULL);
    if (tool && strncmp(tool, "/usr/", 5) == 0) {
        command = arena_alloc(arena, sizeof *command);
        box__command_arg(command, tool);
        box__command_arg(command, "-e");
        box__command_arg(command, "guest.so");
        box__command_arg(command, arena_printf(arena, "0x%llx", (unsigned long long)offset));
        box__command_file(command, "guest.so", mapped, bytes);
        command->limits = (struct box_compile_limits){.wall_seconds = 2, .cpu_seconds = 1};
        if (box__command_run(box, arena, command, &result, &why) == STATUS_OK)
            line = line_in(result.diagnostics, name);
    }
    free(tool);
    if (mapped != MAP_FAILED)
        munmap(mapped, bytes);
    arena_destroy(arena);
    return line;
}
