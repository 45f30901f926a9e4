/* What people and programs write for models: strings, prices, scripts, recordings, waiting times.
 * The first byte says which. Refused with a message, or sound. */
#include "llm/llm_int.h"

#include "base/text.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

/* The name of a file with these bytes, as long as *fd is open. */
static const char *
in_file(struct arena *arena, const uint8_t *bytes, size_t count, int *fd)
{
    *fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (*fd < 0 || write(*fd, bytes, count) != (ssize_t)count)
        abort();
    return arena_printf(arena, "/proc/self/fd/%d", *fd);
}

static void
try_models(struct arena *arena, struct llm *llm, const char *text, struct diags *diags)
{
    struct llm_choice *list;
    size_t count;
    double sum = 0;

    /* No folders: they would be made. */
    if (strstr(text, "mailbox:") != NULL)
        return;
    if (llm_models_parse(llm, arena, text, &list, &count, diags) != STATUS_OK) {
        assert(diags_errors(diags) == 1);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        assert(llm_facts(list[i].model).name != NULL && list[i].weight >= 0);
        sum += list[i].weight;
    }
    assert(sum > 0.999 && sum < 1.001);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct arena *arena = count > 0 ? arena_create() : NULL;
    struct diags *diags;
    struct llm *llm = NULL;
    struct llm_options options = {0};
    int fd = -1;

    if (!arena)
        return 0;
    diags = diags_create(arena, 0);
    unsigned kind = bytes[0] % 5;
    char *text = arena_strndup(arena, (const char *)bytes + 1, count - 1);
    const char *path = in_file(arena, bytes + 1, count - 1, &fd);
    if (kind == 0)
        options.prices = path;
    if (llm_open(&options, &llm, diags) != STATUS_OK) {
        assert(kind == 0 && diags_errors(diags) > 0);
    } else if (kind == 1 || kind == 2) {
        const struct llm_model *model;
        const char *name = arena_printf(arena, "%s:%s", kind == 1 ? "scripted" : "replay", path);
        if (llm_model_find(llm, name, &model, diags) != STATUS_OK)
            assert(diags_errors(diags) > 0);
    } else if (kind == 3) {
        try_models(arena, llm, text, diags);
    } else {
        double seconds = llm__duration(text, 1e9);
        assert(seconds == -1 || seconds >= 0);
    }
    llm_close(llm);
    close(fd);
    arena_destroy(arena);
    return 0;
}
