/* What is remembered of models between runs: quirks, windows, and what the probe showed. One JSON
 * file in the cache folder; what cannot be read or written is found out again. */
#include "llm/llm_int.h"

#include "base/file.h"

#include <stdlib.h>
#include <string.h>

enum { LARGEST_FILE = 1 << 20 };

const char *const llm__server_name[SERVER_COUNT] = {
#define X(id, name) [SERVER_##id] = name,
    LLM_SERVERS(X)
#undef X
};

const struct llm_skill_info llm_skill_info[LLM_SKILL_COUNT] = {
#define X(id, name, words) [LLM_SKILL_##id] = {name, words},
    LLM_SKILLS(X)
#undef X
};

/* An object, perhaps empty; the caller's. */
static json_t *
read_file(const struct llm *llm)
{
    struct arena *arena = arena_create();
    struct source source;
    json_t *all = NULL;
    if (arena != NULL && llm->options.memory != NULL &&
        file_read(arena, llm->options.memory, LARGEST_FILE, &source, diags_create(arena, 1)) ==
            STATUS_OK)
        all = json_loadb(source.text, source.length, 0, NULL);
    arena_destroy(arena);
    if (json_is_object(all))
        return all;
    json_decref(all);
    return json_object();
}

static unsigned
find_name(const char *const *names, unsigned count, const char *name)
{
    for (unsigned i = 0; i < count; i++)
        if (!strcmp(names[i], name))
            return i;
    return 0;
}

void
llm__memory_read(struct llm *llm, struct llm_model *model)
{
    json_t *all = read_file(llm), *entry = json_object_get(all, model->text);
    json_t *quirks = json_object_get(entry, "quirks");
    for (unsigned quirk = 0; quirk < QUIRK_COUNT; quirk++)
        if (json_is_true(json_object_get(quirks, llm__quirk_info[quirk].name)))
            model->quirks |= 1u << quirk;
    model->server = find_name(llm__server_name, SERVER_COUNT, llm__string(entry, "server"));
    if (model->window == 0)
        model->window = llm__number(entry, "window");
    for (unsigned skill = 0; skill < LLM_SKILL_COUNT; skill++)
        if (!strcmp(llm__string(entry, "skill"), llm_skill_info[skill].name))
            model->skill = skill;
    model->probed = llm__number(entry, "probed");
    model->seconds = llm__number(entry, "seconds");
    json_decref(all);
}

static json_t *
entry_of(const struct llm_model *model)
{
    json_t *quirks = json_object();
    for (unsigned quirk = 0; quirk < QUIRK_COUNT; quirk++)
        if (model->quirks & 1u << quirk)
            json_object_set_new(quirks, llm__quirk_info[quirk].name, json_true());
    return json_pack("{s:o, s:s, s:f, s:s, s:f, s:f}", "quirks", quirks, "server",
                     llm__server_name[model->server], "window", model->window, "skill",
                     llm_skill_info[model->skill].name, "probed", model->probed, "seconds",
                     model->seconds);
}

void
llm__memory_write(struct llm *llm, const struct llm_model *model)
{
    struct arena *arena = arena_create();
    if (arena == NULL || llm->options.memory == NULL) {
        arena_destroy(arena);
        return;
    }
    json_t *all = read_file(llm);
    json_object_set_new(all, model->text, entry_of(model));
    char *text = json_dumps(all, JSON_INDENT(1));
    if (text != NULL)
        (void)file_write(llm->options.memory, text, strlen(text), diags_create(arena, 1));
    free(text);
    json_decref(all);
    arena_destroy(arena);
}
