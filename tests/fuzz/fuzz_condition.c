/* Any bytes as a condition. Nothing may crash, hang or eat memory; a mistake has a column within
 * the text; in brackets and twice negated a condition says the same. */
#include "agent/agent.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Some are known, some are not, by their first letter. */
static double
figure(const void *user, const char *name)
{
    (void)user;
    return name[0] < 'm' ? (double)strlen(name) : NAN;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    const struct agent_facts facts = {figure, NULL};
    const char *text = arena_strndup(arena, size ? (const char *)data : "", size), *error, *other;
    int holds = agent_condition(arena, text, &facts, &error);

    if ((holds < 0) != (error != NULL))
        abort();
    if (error && strtoul(error + strlen("column "), NULL, 10) > strlen(text) + 1)
        abort();
    if (holds >= 0) {
        int again =
            agent_condition(arena, arena_printf(arena, "not not (%s)", text), &facts, &other);
        if (again != holds && !(other && strstr(other, "more than 64")))
            abort();
    }
    arena_destroy(arena);
    return 0;
}
