/* The text of a recipe: refused with a message, or sound and explained line by line. */
#include "recipe/recipe.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void
check_role(const struct recipe_role *role)
{
    assert(role->agent.kind < AGENT_KIND_COUNT && *role->agent.name != '\0');
    assert(role->agent.returns.formats != 0 && role->agent.returns.field_count <= AGENT_FIELDS);
    assert(role->when_count <= RECIPE_WHENS && role->temperature_count <= RECIPE_MOST);
    assert(role->when_count > 0 || role->agent.kind == AGENT_CODER);
    assert(role->samples > 0 && role->count > 0 && role->reply > 0);
    for (size_t i = 0; i < role->agent.sight_count; i++)
        assert(role->agent.sees[i].section < AGENT_SECTION_COUNT);
}

static void
check_phase(const struct recipe_phase *phase)
{
    assert(phase->search.topology < SEARCH_TOPOLOGY_COUNT);
    assert(phase->search.select < SEARCH_SELECT_COUNT);
    assert(phase->search.width > 0 && phase->search.rounds > 0 && phase->search.children > 0);
    assert(phase->take_count <= 4 && phase->arm_count <= SEARCH_ARMS && phase->profile > 0);
    assert(phase->propose != RECIPE_BY_ROLES || phase->finish.finalists > 0 ||
           recipe_role(phase, AGENT_CODER) != NULL);
    for (size_t i = 0; i < phase->role_count; i++)
        check_role(&phase->roles[i]);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct arena *arena = arena_create();
    struct diags *diags;
    struct source source = {.path = "fuzz", .length = count};

    if (!arena)
        return 0;
    setenv("XDG_CONFIG_HOME", "/nonexistent", 1); /* nothing of the user's is like this */
    diags = diags_create(arena, 0);
    source.text = arena_strndup(arena, (const char *)bytes, count);
    struct recipe *recipe =
        memmem(bytes, count, "like", 4) && memchr(bytes, '/', count) /* any file of this machine */
            ? NULL
            : recipe_read(arena, &source, diags);
    if (recipe != NULL) {
        struct buf buf = buf_in(arena);
        assert(diags_errors(diags) == 0 && recipe->phase_count > 0 && *recipe->name != '\0');
        for (size_t i = 0; i < recipe->phase_count; i++)
            check_phase(&recipe->phases[i]);
        recipe_explain(&buf, arena, recipe);
        assert(buf.length >= strlen(source.text));
    }
    arena_destroy(arena);
    return 0;
}
