/* The text of a LIST, and its first line as ranges: refused with a message, or sound. */
#include "bench/suite.h"

#include <assert.h>
#include <string.h>

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void
check_list(struct arena *arena, const char *text, size_t length)
{
    struct diags *diags = diags_create(arena, 0);
    struct source source = {"LIST", text, length};
    struct suite_plan plan = {0};
    enum status status = suite_read_list(arena, &source, "s", "folder", &plan, diags);

    assert((status == STATUS_OK) == (diags_errors(diags) == 0));
    for (size_t i = 0; i < plan.count; i++) {
        assert(plan.tasks[i].number > (i ? plan.tasks[i - 1].number : 0));
        assert(*plan.tasks[i].name && !strncmp(plan.tasks[i].path, "folder/", 7));
        assert(strchr(plan.tasks[i].path + 7, '/') == NULL);
    }
}

static void
check_ranges(struct arena *arena, const char *text)
{
    struct suite_range *ranges;
    size_t count;

    if (!suite_read_ranges(arena, text, &ranges, &count))
        return;
    assert(count > 0);
    for (size_t i = 0; i < count; i++)
        assert(ranges[i].first >= 0 && (ranges[i].last == 0 || ranges[i].first <= ranges[i].last));
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct arena *arena = arena_create();

    if (!arena)
        return 0;
    const char *text = arena_strndup(arena, (const char *)bytes, count);
    check_list(arena, text, count);
    check_ranges(arena, arena_strndup(arena, text, strcspn(text, "\n")));
    arena_destroy(arena);
    return 0;
}
