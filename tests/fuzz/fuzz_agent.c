/* Any bytes as the reply of a model: the first byte says what was asked for; a line of %% separates
 * the base from the reply. Nothing may crash, hang or eat memory; a refusal has a reason; what is
 * accepted is of the form that was asked for, and its numbers are set to what they are. */
#include "agent/agent.h"
#include "base/hash.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct agent_role
role_of(unsigned formats)
{
    return (struct agent_role){.kind = AGENT_CODER,
                               .name = "coder",
                               .returns = {.formats = formats,
                                           .most = 4,
                                           .field_count = 4,
                                           .fields = {{"kind", "schedule|program|code", 0, false},
                                                      {"title", NULL, 8, false},
                                                      {"low", NULL, 0, true},
                                                      {"score", NULL, 0, true}}}};
}

static void
look_at(struct arena *arena, const char *kernel)
{
    struct diags *diags = diags_create(arena, 1);
    static const char text[] = "dim R=4\nin X: f32[R]\nY[r] = X[r]\nout Y\n";
    struct lang *lang = lang_parse(arena, "fuzz.op", text, strlen(text), diags);
    struct program *program = lang_program(lang, 0, NULL, 0, diags);
    const char *objection = agent_objection(arena, kernel, target_find("cpu"), program);
    struct agent_tunable *tunables, *again;
    size_t count = agent_tunables(arena, kernel, &tunables);
    char hash[HASH_TEXT];
    assert(objection == NULL || *objection != '\0');
    for (size_t i = 0; i < count; i++)
        assert(tunables[i].value_count > 0 && tunables[i].now < tunables[i].value_count);
    const char *tuned = agent_tune(arena, kernel, tunables, count);
    assert(agent_tunables(arena, tuned, &again) == count);
    for (size_t i = 0; i < count; i++)
        assert(again[i].now == tunables[i].now && again[i].value_count == tunables[i].value_count);
    agent_normal_hash(arena, kernel, hash);
    assert(strlen(hash) == HASH_TEXT - 1);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char mark[] = "\n%%\n";
    struct arena *arena = arena_create();
    if (arena == NULL || size < 1 || size > 1 << 16) {
        arena_destroy(arena);
        return 0;
    }
    unsigned all = (1u << AGENT_FORMAT_COUNT) - 1;
    unsigned formats = data[0] % (AGENT_FORMAT_COUNT + 1) < AGENT_FORMAT_COUNT
                           ? 1u << data[0] % (AGENT_FORMAT_COUNT + 1)
                           : all;
    const char *text = (const char *)data + 1, *base = "", *reason, *result;
    size_t length = size - 1;
    const char *cut = memmem(text, length, mark, strlen(mark));
    if (cut != NULL) {
        base = arena_strndup(arena, text, (size_t)(cut - text));
        length -= (size_t)(cut - text) + strlen(mark);
        text = cut + strlen(mark);
    }
    struct agent_role role = role_of(formats);
    struct agent_reply reply;
    enum status status = agent_parse(arena, text, length, &role, 0, &reply, &reason);
    assert(status == STATUS_OK || (status == STATUS_NO && *reason != '\0'));
    if (status == STATUS_OK) {
        assert(formats & 1u << reply.format);
        assert(reply.item_count <= role.returns.most);
        status = agent_apply(arena, base, &reply, &result, &reason);
        assert(status == STATUS_OK || (status == STATUS_NO && *reason != '\0'));
        if (status == STATUS_OK)
            look_at(arena, result);
    }
    arena_destroy(arena);
    return 0;
}
