/* Testers: roles that propose inputs and sizes which may break a kernel. A proposal is data for the
 * judge, and can only add: it joins the judge's own inputs in every verdict from now on, and what
 * is right is found out as always. One that breaks a kernel which was right without it is kept with
 * the task, for every later run. */
#include "run/team_int.h"

#include "base/text.h"
#include "task/task.h"

#include <string.h>

enum { MOST_EXTRAS = 32 };

/* Stands between pattern and sizes, and behind them, where they are one text. */
static const char BETWEEN[] = "\x1f", BEHIND[] = "\x1e";

static bool
is_known(const struct loop *loop, const struct judge_extra *extra)
{
    for (size_t i = 0; i < loop->extra_count; i++)
        if (!strcmp(loop->extras[i].pattern, extra->pattern) &&
            !strcmp(loop->extras[i].sizes, extra->sizes))
            return true;
    return false;
}

/* Why it says nothing to the judge; NULL: it does. */
static const char *
objection(struct loop *loop, const struct judge_extra *extra)
{
    const struct program *program = loop->result->cases[0].program;
    struct diags *ours = diags_create(loop->arena, 1);
    void **inputs = arena_array(loop->arena, program->input_count + 1, sizeof *inputs);
    struct lang_size *sizes = arena_array(loop->arena, program->dim_count + 1, sizeof *sizes);
    size_t count = 0;
    if (loop->extra_count == MOST_EXTRAS)
        return "there are enough";
    enum status status = task_sizes(loop->arena, program, extra->sizes, sizes, &count, ours);
    if (status == STATUS_OK && count > 0 &&
        lang_program(loop->options->lang, 0, sizes, count, ours) == NULL)
        status = STATUS_INPUT;
    if (status == STATUS_OK)
        status = task_pattern(loop->arena, program, extra->pattern, inputs, ours);
    if (status != STATUS_OK)
        return diags_count(ours) > 0 ? diags_get(ours, 0)->message : "it cannot be read";
    return count == 0 && extra->pattern[strspn(extra->pattern, " ;\n")] == '\0' ? "it says nothing"
                                                                                : NULL;
}

/* Returns why it is not taken, or NULL. */
static const char *
add(struct loop *loop, const char *pattern, const char *sizes)
{
    struct judge_extra extra = {pattern ? pattern : "", sizes ? sizes : ""};
    const char *reason = is_known(loop, &extra) ? "it is there already" : objection(loop, &extra);
    if (reason != NULL)
        return reason;
    loop->extras = arena_grow(loop->arena, loop->extras, loop->extra_count, loop->extra_count + 1,
                              sizeof *loop->extras);
    loop->extras[loop->extra_count++] = extra;
    return NULL;
}

/* ---- what a tester says ---- */

static const char *
field(const struct recipe_role *role, const struct agent_item *item, const char *name)
{
    const struct agent_shape *shape = &role->agent.returns;
    for (size_t i = 0; i < shape->field_count; i++)
        if (!strcmp(shape->fields[i].name, name))
            return item->values[i];
    return NULL;
}

/* A statement has an index; what has none is a list of sizes. */
static void
take(struct team *team, const struct recipe_role *role, const struct agent_item *item)
{
    const char *pattern = field(role, item, "pattern"), *sizes = field(role, item, "sizes");
    if (pattern == NULL && sizes == NULL && item->values[0] != NULL)
        *(strchr(item->values[0], '[') ? &pattern : &sizes) = item->values[0];
    const char *reason = add(team->loop, pattern, sizes);
    team__news(team, role->agent.name, 0, "%s%s%s%s%s", pattern ? pattern : "",
               pattern && sizes ? ", " : "", sizes ? sizes : "", reason ? ": left out: " : "",
               reason ? reason : "");
}

static bool
speaks(const struct recipe_role *role, enum recipe_moment moment)
{
    for (size_t i = 0; i < role->when_count; i++)
        if (role->when[i].moment == moment ||
            (role->when[i].moment == RECIPE_ROUND && moment == RECIPE_START))
            return true;
    return false;
}

static enum status
ask(struct team *team, const struct recipe_role *role)
{
    struct chorus chorus;
    struct speech speech = {
        .role = role,
        .formats = role->agent.returns.formats,
        .candidate = team->best,
        .question = "Propose inputs that may break it. A pattern is a statement of the tensor "
                    "language that gives an input, such as X[i,j] = if(i == 0, 64, 0); sizes are "
                    "of dims that may have any size, such as N=17. Leave out what you do not "
                    "need."};
    enum status status = team__ask_all(team, &speech, &chorus);
    if (status == STATUS_OK)
        status = team__hear_all(team, &chorus);
    for (size_t n = 0; n < chorus.count && status == STATUS_OK; n++)
        for (size_t i = 0; i < chorus.parts[n].reply.item_count; i++)
            take(team, role, &chorus.parts[n].reply.items[i]);
    return status;
}

enum status
team__test(struct phase *phase, enum recipe_moment moment)
{
    enum status status = STATUS_OK;
    if (phase->team->loop->is_part) /* what is tested is the whole */
        return STATUS_OK;
    for (size_t i = 0; i < phase->recipe->role_count && status == STATUS_OK; i++) {
        const struct recipe_role *role = &phase->recipe->roles[i];
        if (role->agent.kind == AGENT_TESTER && speaks(role, moment))
            status = ask(phase->team, role);
    }
    return status;
}

/* ---- kept with the task ---- */

/* Of "2 of 13 kinds: A, B" the first: those of the judge stand before what was proposed. */
static bool
begins_with(const char *kinds, const char *pattern)
{
    const char *list = strstr(kinds, " kinds: ");
    return *pattern && text_starts(list ? list + 8 : kinds, pattern);
}

/* "R=1,N=17" is the case of "N=17 R=1". */
static bool
is_case(struct loop *loop, const char *name, const char *text)
{
    const struct program *program = loop->result->cases[0].program;
    struct lang_size *sizes = arena_array(loop->arena, program->dim_count + 1, sizeof *sizes);
    size_t count = 0;
    struct diags *ours = diags_create(loop->arena, 1);
    bool same = task_sizes(loop->arena, program, text, sizes, &count, ours) == STATUS_OK;
    const char *listed = arena_printf(loop->arena, ",%s,", name);
    for (size_t i = 0; i < count && same; i++)
        same = strstr(listed, arena_printf(loop->arena, ",%s=%lld,", sizes[i].dim,
                                           (long long)sizes[i].size)) != NULL;
    return same && count > 0;
}

/* The proposal that a verdict names, where nothing else broke the kernel. */
static const struct judge_extra *
find_breaker(struct loop *loop, const struct judge_report *report)
{
    for (size_t i = 0; i < loop->extra_count; i++) {
        const struct judge_extra *extra = &loop->extras[i];
        if (report->wrong.kinds != NULL && begins_with(report->wrong.kinds, extra->pattern))
            return extra;
        if (report->case_name != NULL && is_case(loop, report->case_name, extra->sizes))
            return extra;
    }
    return NULL;
}

enum status
team__keep_breaker(struct team *team, const struct judge_report *report)
{
    struct loop *loop = team->loop;
    const struct judge_extra *extra =
        report->status == JUDGE_CORRECT ? NULL : find_breaker(loop, report);
    if (extra == NULL)
        return STATUS_OK;
    team__news(team, "tester", 0, "kept with the task: %s %s", extra->pattern, extra->sizes);
    return team__keep(team, "inputs", loop->options->run ? loop->options->run->task.hash : "",
                      arena_printf(loop->arena, "%s%s%s", extra->pattern, BETWEEN, extra->sizes),
                      0);
}

static enum status
find_kept(struct loop *loop, const char **found)
{
    struct store_item *items = NULL;
    size_t count = 0;
    struct buf text = buf_in(loop->arena);
    enum status status =
        store_items(loop->options->store, loop->arena, "inputs", loop->options->run->task.hash,
                    MOST_EXTRAS, &items, &count, loop->diags);
    for (size_t i = 0; i < count && status == STATUS_OK; i++)
        buf_printf(&text, "%s%s", items[i].text, BEHIND);
    *found = text.data ? text.data : "";
    return status == STATUS_NO ? STATUS_OK : status;
}

enum status
run__read_inputs(struct loop *loop)
{
    const char *found;
    if (loop->options->store == NULL)
        return STATUS_OK;
    enum status status = ledger_recall(loop->ledger, "inputs", "task", &found, loop->diags);
    if (status == STATUS_NO) {
        status = find_kept(loop, &found);
        if (status == STATUS_OK)
            status = ledger_note(loop->ledger, "inputs", "task", found, loop->diags);
    }
    while (status == STATUS_OK && *found) {
        size_t length = strcspn(found, BEHIND), pattern = strcspn(found, BETWEEN);
        if (pattern < length)
            add(loop, arena_strndup(loop->arena, found, pattern),
                arena_strndup(loop->arena, found + pattern + 1, length - pattern - 1));
        found += length + (found[length] != '\0');
    }
    return status;
}
