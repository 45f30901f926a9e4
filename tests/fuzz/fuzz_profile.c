/* Any bytes as what objdump or the compiler wrote: both come from a guest's text. Nothing may
 * crash, hang or eat memory; loops lie within the code; what is shown has at most 40 lines. */
#include "profile/profile_int.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_loops(const struct profile__code *code)
{
    for (size_t i = 0; i < code->loop_count; i++)
        if (code->loops[i].first > code->loops[i].last || code->loops[i].last >= code->insn_count)
            abort();
}

static void
check_text(const char *text)
{
    unsigned lines = 0;

    for (const char *at = text; *at; at++)
        lines += *at == '\n';
    if (lines > 40)
        abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    const char *text = arena_strndup(arena, size ? (const char *)data : "", size);
    const struct profile_options options = {.registers = 16};
    struct profile__values values = {.note = {0}};
    struct profile__code code;
    struct profile_remark *remarks;

    profile__code(arena, text, &code);
    check_loops(&code);
    const struct profile__loop *hot = profile__hot_loop(&code);
    profile__mix(arena, &code, hot, &options, &values);
    if (hot)
        check_text(profile__loop_text(arena, &code, hot));
    if (!(values.value[PROFILE_VECTOR_SHARE] <= 100))
        abort();
    size_t count = profile__remarks(arena, text, &remarks);
    if (profile__reduction_remarks(remarks, count) > count)
        abort();
    arena_destroy(arena);
    return 0;
}
