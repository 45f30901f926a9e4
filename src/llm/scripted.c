/* scripted:FILE: replies written by hand, for tests.
 *
 *     # whatever stands before the first reply
 *     === coder
 *     The reply to the next call whose label begins with `coder`, up to the next such line.
 *     === * tokens=100/20 finish=length
 *     To any call. Also: cached=N reasoned=N cost=USD delay=SECONDS error=OUTCOME repeat
 *
 * Each reply is given once, the first that fits; `repeat` gives it for ever. */
#include "llm/llm_int.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_FILE = 64 << 20 };

struct scene {
    struct scene *next;
    const char *role;
    double delay;
    bool repeat, used, counted;
    struct llm_recorded recorded;
};

/* ---- reading ---- */

static bool
read_outcome(const char *value, enum llm_outcome *outcome)
{
    for (unsigned i = 0; i < LLM_OUTCOME_COUNT; i++)
        if (!strcmp(llm_outcome_info[i].name, value)) {
            *outcome = i;
            return true;
        }
    return false;
}

static bool
read_finish(const char *value, enum llm_finish *finish)
{
    for (unsigned i = 0; i < LLM_FINISH_COUNT; i++)
        if (!strcmp(llm_finish_name[i], value)) {
            *finish = i;
            return true;
        }
    return false;
}

static bool
read_option(struct scene *scene, char *word)
{
    struct llm_recorded *recorded = &scene->recorded;
    char *value = strchr(word, '='), *rest;
    if (value == NULL) {
        scene->repeat = !strcmp(word, "repeat");
        return scene->repeat;
    }
    *value++ = '\0';
    double number = strtod(value, &rest);
    if (!strcmp(word, "finish"))
        return read_finish(value, &recorded->finish);
    if (!strcmp(word, "error"))
        return read_outcome(value, &recorded->outcome);
    if (!strcmp(word, "tokens")) {
        recorded->input = number;
        recorded->output = *rest == '/' ? strtod(rest + 1, &rest) : 0;
        scene->counted = true;
        return *rest == '\0';
    }
    double *field = !strcmp(word, "cached")     ? &recorded->cached
                    : !strcmp(word, "reasoned") ? &recorded->reasoned
                    : !strcmp(word, "cost")     ? &recorded->cost
                    : !strcmp(word, "delay")    ? &scene->delay
                                                : NULL;
    if (field != NULL)
        *field = number;
    return field != NULL && rest > value && *rest == '\0' && number >= 0;
}

/* What stands behind "===". */
static bool
read_head(struct arena *arena, const char *text, size_t length, struct scene *scene)
{
    char *next = arena_strndup(arena, text, length);
    bool good = true;
    scene->recorded.finish = LLM_FINISH_STOP;
    for (char *word; (word = strsep(&next, " \t\r")) != NULL;) {
        if (*word == '\0')
            continue;
        if (scene->role == NULL)
            scene->role = word;
        else
            good &= read_option(scene, word);
    }
    return good && scene->role != NULL;
}

static bool
is_head(const char *line)
{
    return text_starts(line, "===") && (line[3] == ' ' || line[3] == '\t');
}

static enum status
read_script(struct llm *llm, struct llm_model *model, const struct source *source,
            struct diags *diags)
{
    struct scene *last = NULL;
    struct buf text = {0};
    uint32_t number = 0;
    for (const char *line = source->text, *end; *line; line = end) {
        size_t length = strcspn(line, "\n");
        end = line + length + (line[length] == '\n');
        number++;
        if (!is_head(line)) {
            if (last != NULL)
                buf_add(&text, line, (size_t)(end - line));
        } else {
            struct scene *scene = arena_alloc(llm->arena, sizeof *scene);
            if (last != NULL)
                last->recorded.text = text.data;
            if (!read_head(llm->arena, line + 3, length - 3, scene)) {
                llm__wrong_at(diags, source->path, number,
                              "no head of a scripted reply; write === ROLE or === *, then finish=, "
                              "error=, tokens=IN/OUT, cached=, reasoned=, cost=, delay= or repeat");
                return STATUS_INPUT;
            }
            *(last != NULL ? &last->next : (struct scene **)&model->answers) = scene;
            last = scene;
            text = buf_in(llm->arena);
        }
    }
    if (last == NULL) {
        llm__wrong_at(diags, source->path, number, "has no reply; begin each with a line === ROLE");
        return STATUS_INPUT;
    }
    last->recorded.text = text.data;
    return STATUS_OK;
}

static enum status
open_script(struct llm *llm, struct llm_model *model, struct diags *diags)
{
    struct source *source = arena_alloc(llm->arena, sizeof *source);
    enum status status = file_read(llm->arena, model->name, LARGEST_FILE, source, diags);
    return status == STATUS_OK ? read_script(llm, model, source, diags) : status;
}

/* ---- answering ---- */

static bool
fits(const struct scene *scene, const char *label)
{
    size_t length = strlen(scene->role);
    return !strcmp(scene->role, "*") || (!strncmp(label, scene->role, length) &&
                                         (label[length] == '\0' || label[length] == ' '));
}

static struct scene *
next_scene(const struct llm_model *model, const char *label)
{
    struct scene *scene = model->answers;
    while (scene != NULL && (scene->used || !fits(scene, label)))
        scene = scene->next;
    if (scene != NULL)
        scene->used = !scene->repeat;
    return scene;
}

void
llm__scripted_pass(const struct llm_model *model, const char *label)
{
    next_scene(model, label);
}

static void
start(struct llm_call *call)
{
    struct scene *scene = next_scene(call->model, call->request.label);
    if (scene == NULL) {
        llm__fault(call, LLM_NOT_RECORDED, "%s: no reply is left for `%s`", call->model->text,
                   call->request.label);
        llm__ended(call, LLM_NOT_RECORDED);
        return;
    }
    call->recorded = scene->recorded;
    if (!scene->counted) {
        call->recorded.input = ceil(llm_tokens_of(call->prompt_bytes));
        call->recorded.output = ceil(llm_tokens_of(strlen(scene->recorded.text)));
    }
    if (call->recorded.outcome != LLM_OK)
        call->recorded.message = arena_printf(call->arena, "%s: %s", call->model->text,
                                              llm_outcome_info[call->recorded.outcome].name);
    call->answer_at = clock_seconds() + scene->delay;
}

static void
step(struct llm_call *call)
{
    if (clock_seconds() >= call->answer_at)
        llm__take_recorded(call);
}

static void
stop(struct llm_call *call)
{
    (void)call;
}

const struct transport llm__scripted = {
    .open = open_script, .start = start, .step = step, .stop = stop};
