/* A file of settings: refused with a place, or every key and value is there. */
#include "base/settings.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct arena *arena = arena_create();
    struct diags *diags;
    struct settings settings;
    struct source source = {.path = "fuzz", .length = count};

    if (!arena)
        return 0;
    diags = diags_create(arena, 0);
    source.text = arena_strndup(arena, (const char *)bytes, count);
    if (settings_parse(arena, &source, true, &settings, diags) == STATUS_OK) {
        assert(diags_errors(diags) == 0 && settings.count > 0);
        for (size_t i = 0; i < settings.count; i++)
            for (size_t j = 0; j < settings.sections[i].count; j++) {
                const struct setting *setting = &settings.sections[i].settings[j];
                assert(*setting->key != '\0' && setting->place.line > 0);
                assert(settings_get(&settings.sections[i], setting->key) == setting);
            }
    } else {
        assert(diags_errors(diags) > 0);
    }
    arena_destroy(arena);
    return 0;
}
