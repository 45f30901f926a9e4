/* replay:NAME: the same question gets the answer that it got before, from a file of recorded calls
 * or from the caller's source, which is the archive. A question that was not recorded is an error:
 * nothing is ever asked anew. */
#include "llm/llm_int.h"

#include "base/clock.h"
#include "base/file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LARGEST_FILE = 256 << 20 };

/* How often a question was asked; and a line of the file, if there is one. */
struct line {
    struct line *next;
    char hash[HASH_TEXT];
    size_t asked; /* of the first line with this hash: how often */
    struct llm_recorded recorded;
};

struct recording {
    struct line *first, *last; /* of the file */
    struct line *counts;       /* where the caller is the source */
    bool is_file;
};

/* ---- lines ---- */

void
llm_put_recorded(struct buf *buf, const struct llm_result *result)
{
    const struct llm_record *record = &result->record;
    json_t *line = json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:f, s:f, s:f, s:f, s:f, s:f}", "request",
        record->request_hash, "outcome", llm_outcome_info[record->outcome].name, "finish",
        llm_finish_name[record->finish], "text", result->text, "reasoning", result->reasoning,
        "served", record->served, "message", result->message, "input", record->input, "cached",
        record->cached, "written", record->written, "output", record->output, "reasoned",
        record->reasoned, "cost", isnan(record->cost) ? 0 : record->cost);
    char *text = json_dumps(line, JSON_COMPACT);
    buf_printf(buf, "%s\n", text != NULL ? text : "{}");
    free(text);
    json_decref(line);
}

static const char *
copy(struct arena *arena, json_t *object, const char *name)
{
    return arena_strdup(arena, llm__string(object, name));
}

static bool
read_line(struct arena *arena, const char *text, struct line *line)
{
    json_t *object = json_loads(text, JSON_ALLOW_NUL, NULL);
    const char *hash = llm__string(object, "request");
    struct llm_recorded *recorded = &line->recorded;
    bool good = strlen(hash) == HASH_TEXT - 1 && json_is_string(json_object_get(object, "text"));
    if (good) {
        memcpy(line->hash, hash, HASH_TEXT);
        recorded->text = copy(arena, object, "text");
        recorded->reasoning = copy(arena, object, "reasoning");
        recorded->served = copy(arena, object, "served");
        recorded->message = copy(arena, object, "message");
        for (unsigned i = 0; i < LLM_OUTCOME_COUNT; i++)
            if (!strcmp(llm_outcome_info[i].name, llm__string(object, "outcome")))
                recorded->outcome = i;
        for (unsigned i = 0; i < LLM_FINISH_COUNT; i++)
            if (!strcmp(llm_finish_name[i], llm__string(object, "finish")))
                recorded->finish = i;
        recorded->input = llm__number(object, "input");
        recorded->cached = llm__number(object, "cached");
        recorded->written = llm__number(object, "written");
        recorded->output = llm__number(object, "output");
        recorded->reasoned = llm__number(object, "reasoned");
        recorded->cost = llm__number(object, "cost");
    }
    json_decref(object);
    return good;
}

static enum status
read_recording(struct llm *llm, struct recording *recording, const struct source *source,
               struct diags *diags)
{
    char *next = arena_strndup(llm->arena, source->text, source->length);
    uint32_t number = 0;
    for (char *text; (text = strsep(&next, "\n")) != NULL;) {
        struct line *line = arena_alloc(llm->arena, sizeof *line);
        number++;
        if (text[strspn(text, " \t\r")] == '\0')
            continue;
        if (!read_line(llm->arena, text, line)) {
            llm__wrong_at(diags, source->path, number,
                          "no recorded call; a line is {\"request\":HASH,\"text\":...}");
            return STATUS_INPUT;
        }
        *(recording->last != NULL ? &recording->last->next : &recording->first) = line;
        recording->last = line;
    }
    return STATUS_OK;
}

static enum status
open_recording(struct llm *llm, struct llm_model *model, struct diags *diags)
{
    struct recording *recording = arena_alloc(llm->arena, sizeof *recording);
    struct source *source = arena_alloc(llm->arena, sizeof *source);
    recording->is_file = access(model->name, F_OK) == 0 || llm->options.replay.find == NULL;
    model->answers = recording;
    if (!recording->is_file)
        return STATUS_OK;
    enum status status = file_read(llm->arena, model->name, LARGEST_FILE, source, diags);
    return status == STATUS_OK ? read_recording(llm, recording, source, diags) : status;
}

/* ---- answering ---- */

static struct line *
find_line(struct line *from, const char *hash)
{
    while (from != NULL && strcmp(from->hash, hash) != 0)
        from = from->next;
    return from;
}

static bool
find_in_file(struct recording *recording, struct llm_call *call)
{
    struct line *first = find_line(recording->first, call->result.record.request_hash);
    struct line *line = first;
    for (size_t i = 0; first != NULL && line != NULL && i < first->asked; i++)
        line = find_line(line->next, first->hash);
    if (line == NULL)
        return false;
    first->asked++;
    call->recorded = line->recorded;
    return true;
}

static bool
find_in_source(struct recording *recording, struct llm_call *call)
{
    const struct llm_source *source = &call->llm->options.replay;
    const char *hash = call->result.record.request_hash;
    struct line *count = find_line(recording->counts, hash);
    if (count == NULL) {
        count = arena_alloc(call->llm->arena, sizeof *count);
        memcpy(count->hash, hash, HASH_TEXT);
        count->next = recording->counts;
        recording->counts = count;
    }
    return source->find(source->user, call->arena, call->model->name, hash, count->asked++,
                        &call->recorded) == STATUS_OK;
}

static const char *
text_or_empty(const char *text)
{
    return text != NULL ? text : "";
}

void
llm__take_recorded(struct llm_call *call)
{
    const struct llm_recorded *recorded = &call->recorded;
    buf_puts(&call->text, text_or_empty(recorded->text));
    buf_puts(&call->reasoning, text_or_empty(recorded->reasoning));
    call->served = text_or_empty(recorded->served);
    call->finish = recorded->finish;
    call->usage = (struct usage){.known = true,
                                 .input = recorded->input,
                                 .cached = recorded->cached,
                                 .written = recorded->written,
                                 .output = recorded->output,
                                 .reasoned = recorded->reasoned,
                                 .cost = recorded->cost};
    call->first_word = clock_seconds();
    call->should_retry = 0; /* what was recorded is the end of all attempts */
    if (recorded->outcome != LLM_OK)
        llm__fault(call, recorded->outcome, "%s", text_or_empty(recorded->message));
    llm__ended(call, recorded->outcome);
}

static void
start(struct llm_call *call)
{
    struct recording *recording = call->model->answers;
    if (recording->is_file ? find_in_file(recording, call) : find_in_source(recording, call)) {
        llm__take_recorded(call);
        return;
    }
    llm__fault(call, LLM_NOT_RECORDED, "%s: has no reply to this question (%s)", call->model->text,
               *call->request.label ? call->request.label : "no label");
    llm__ended(call, LLM_NOT_RECORDED);
}

static void
stop(struct llm_call *call)
{
    (void)call;
}

const struct transport llm__replay = {.open = open_recording, .start = start, .stop = stop};
