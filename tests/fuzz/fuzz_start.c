/* Any bytes as a kernel file to begin with. Nothing may crash, hang or eat memory; what is found is
 * found again in a file that is written from it. */
#include "run/run.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
put_title(struct buf *buf, const struct coder_title *lines)
{
    buf_printf(buf, "/* x, case %s\n *\n", lines->case_name);
    for (const char *at = lines->schedule; *at;) {
        size_t length = strcspn(at, "\n");
        buf_printf(buf, " *   %.*s\n", (int)length, at);
        at += length + 1;
    }
    buf_puts(buf, " */\n");
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    struct source source = {"fuzz.c", size ? (const char *)data : "", size};
    struct run_start start, again;
    struct buf text = buf_in(arena);

    run_start_read(arena, &source, &start);
    for (size_t i = 0; i < start.line_count; i++)
        put_title(&text, &start.lines[i]);
    struct source written = {"again.c", text.data ? text.data : "", text.length};
    run_start_read(arena, &written, &again);
    if (again.line_count != start.line_count)
        abort();
    for (size_t i = 0; i < start.line_count; i++)
        if (strcmp(again.lines[i].schedule, start.lines[i].schedule) != 0)
            abort();
    arena_destroy(arena);
    return 0;
}
