/* The source line of an instruction. */
#include "box/box.h"

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
    void *mapped = mmap(NULL, bytes, PROT_READ, MAP_SHARED, object, 0);
    const char *said = NULL;
    uint32_t line = 0;

    if (arena && mapped != MAP_FAILED) {
        const char *const args[] = {
            "-e", "guest.so", arena_printf(arena, "0x%llx", (unsigned long long)offset), NULL};
        said = box_look(box, arena,
                        &(struct box_look){.tool = "addr2line",
                                           .args = args,
                                           .file = {"guest.so", mapped, bytes},
                                           .seconds = 2});
    }
    if (said)
        line = line_in(said, name);
    if (mapped != MAP_FAILED)
        munmap(mapped, bytes);
    arena_destroy(arena);
    return line;
}
