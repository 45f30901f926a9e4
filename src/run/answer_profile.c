/* Figures of a kernel as a text that can be read back. */
#include "run/team_int.h"

#include "base/json.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

static const char *
answer_of_profile(struct arena *arena, const struct profile *profile)
{
    struct buf buf = buf_in(arena);
    buf_puts(&buf, "{\"figures\":[");
    for (size_t i = 0; i < profile->figure_count; i++) {
        const struct profile_figure *figure = &profile->figures[i];
        buf_puts(&buf, i ? ",{\"name\":" : "{\"name\":");
        json_put_string(&buf, figure->name);
        json_field_number(&buf, "value", figure->value);
        json_field_string(&buf, "unit", figure->unit);
        json_field_string(&buf, "meaning", figure->meaning);
        buf_putc(&buf, '}');
    }
    buf_puts(&buf, "],\"remarks\":[");
    for (size_t i = 0; i < profile->remark_count; i++) {
        buf_printf(&buf, "%s{\"line\":%u", i ? "," : "", profile->remarks[i].line);
        json_field_string(&buf, "text", profile->remarks[i].text);
        buf_putc(&buf, '}');
    }
    buf_putc(&buf, ']');
    json_field_string(&buf, "hot_loop", profile->hot_loop);
    json_field_string(&buf, "missing", profile->missing);
    buf_putc(&buf, '}');
    return buf.data;
}

static const char *
text_at(struct arena *arena, const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? arena_strdup(arena, text) : "";
}

static struct profile *
read_profile(struct arena *arena, const char *answer)
{
    json_t *root = json_loads(answer, 0, NULL);
    const json_t *figures = json_object_get(root, "figures");
    const json_t *remarks = json_object_get(root, "remarks");
    if (figures == NULL) {
        json_decref(root);
        return NULL;
    }
    struct profile *profile = arena_alloc(arena, sizeof *profile);
    *profile = (struct profile){.figure_count = json_array_size(figures),
                                .remark_count = json_array_size(remarks),
                                .hot_loop = text_at(arena, root, "hot_loop"),
                                .missing = text_at(arena, root, "missing")};
    struct profile_figure *list = arena_array(arena, profile->figure_count, sizeof *list);
    struct profile_remark *lines = arena_array(arena, profile->remark_count, sizeof *lines);
    for (size_t i = 0; i < profile->figure_count; i++) {
        const json_t *from = json_array_get(figures, i), *value = json_object_get(from, "value");
        list[i] = (struct profile_figure){
            .name = text_at(arena, from, "name"),
            .value = value && json_is_number(value) ? json_number_value(value) : NAN,
            .unit = text_at(arena, from, "unit"),
            .meaning = text_at(arena, from, "meaning")};
    }
    for (size_t i = 0; i < profile->remark_count; i++) {
        const json_t *from = json_array_get(remarks, i);
        lines[i].line = (unsigned)json_integer_value(json_object_get(from, "line"));
        lines[i].text = text_at(arena, from, "text");
    }
    profile->figures = list;
    profile->remarks = lines;
    json_decref(root);
    return profile;
}

struct profile *
team__profile(struct team *team, const char *kernel, const struct profile_options *options)
{
    struct loop *loop = team->loop;
    struct profile profile;
    char hash[HASH_TEXT];
    const char *answer = "";
    hash_sha256(kernel, strlen(kernel), hash);
    hash[16] = '\0';
    enum status status = ledger_recall(loop->ledger, "profile", hash, &answer, loop->diags);
    if (status == STATUS_NO) {
        struct diags *ours = diags_create(loop->arena, 4); /* no figures are no fault of the run */
        status =
            team->who->profile(team->who->context, loop->arena, kernel, options, &profile, ours);
        answer = status == STATUS_OK ? answer_of_profile(loop->arena, &profile) : "";
        status = ledger_note(loop->ledger, "profile", hash, answer, loop->diags);
    }
    /* Read back even when it is new: a second time must see the same. */
    return status == STATUS_OK && *answer ? read_profile(loop->arena, answer) : NULL;
}
