/* mailbox:DIR: the question is a file, and so is the answer that somebody writes next to it.
 *
 *   0007.prompt.md   appears whole, by renaming; its head says what is wanted and where it goes
 *   0007.reply.md    the answer; read when it has not changed between two looks, so that an editor
 *                    may write it in place
 *   done/            where both go when the caller has recorded the answer
 *
 * A question that a hone left behind when it was killed is asked again by the one that resumes its
 * run, so that an answer given in between is not lost. */
#include "llm/llm_int.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    HEAD = 4096,        /* bytes in which the head of a question ends */
    MOST_NUMBERS = 100, /* that are tried when others write into the same folder */
};

static enum status
open_folder(struct llm *llm, struct llm_model *model, struct diags *diags)
{
    (void)llm;
    return file_make_folder(model->name, diags);
}

/* ---- names ---- */

static const char *
path_of(struct llm_call *call, unsigned number, const char *ending)
{
    return arena_printf(call->arena, "%s/%04u.%s.md", call->model->name, number, ending);
}

/* The number of "0007.prompt.md"; 0: another name. */
static unsigned
number_in(const char *name)
{
    char *end;
    unsigned long number = strtoul(name, &end, 10);
    return end > name && (text_starts(end, ".prompt.md") || text_starts(end, ".reply.md")) &&
                   number < 1000000
               ? (unsigned)number
               : 0;
}

/* ---- asking ---- */

static const char *
format_of(const struct llm_request *request)
{
    return request->schema != NULL ? "JSON alone, as the schema at the end says"
                                   : "text; code in fences (```c ... ```)";
}

static void
put_question(struct buf *buf, const struct llm_call *call, unsigned number)
{
    const struct llm_request *request = &call->request;
    buf_printf(buf, "wanted:    %s\n",
               request->wanted ? request->wanted : "an answer to what follows");
    buf_printf(buf, "for:       %s\n", *request->label ? request->label : "-");
    buf_printf(buf, "form:      %s; at most about %u tokens\n", format_of(request),
               request->max_tokens);
    buf_printf(buf,
               "answer in: %04u.reply.md, in this folder (best: write another name, then "
               "rename)\n",
               number);
    buf_printf(buf, "asked by:  hone, process %ld\n", (long)getpid());
    buf_printf(buf, "request:   %s\n", call->result.record.request_hash);
    buf_puts(buf, "----\n\n");
    llm__put_prompt(buf, request);
}

/* Whether a question that lies there was asked by a process that is gone, in the same words. */
static bool
is_left_behind(const char *path, const char *hash)
{
    char head[HEAD + 1];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, head, HEAD) : -1;
    if (fd >= 0)
        close(fd);
    if (length <= 0)
        return false;
    head[length] = '\0';
    const char *process = strstr(head, "asked by:  hone, process ");
    const char *request = strstr(head, "request:   ");
    if (process == NULL || request == NULL || strncmp(request + 11, hash, strlen(hash)) != 0)
        return false;
    pid_t pid = (pid_t)strtol(process + 25, NULL, 10);
    return pid > 0 && pid != getpid() && kill(pid, 0) != 0 && errno == ESRCH;
}

static bool
is_taken(const struct llm_call *call, unsigned number)
{
    for (const struct llm_call *other = call->llm->first; other != NULL; other = other->next)
        if (other != call && other->model == call->model && other->number == number)
            return true;
    return false;
}

/* The largest number in the folder and in done/; a question of ours that was left behind. */
static unsigned
look_through(struct llm_call *call, const char *folder, unsigned *left_behind)
{
    DIR *open = opendir(folder);
    unsigned largest = 0;
    for (struct dirent *entry; open != NULL && (entry = readdir(open)) != NULL;) {
        unsigned number = number_in(entry->d_name);
        largest = number > largest ? number : largest;
        if (number > 0 && left_behind != NULL && text_ends(entry->d_name, ".prompt.md") &&
            !is_taken(call, number) && (*left_behind == 0 || number < *left_behind) &&
            is_left_behind(path_of(call, number, "prompt"), call->result.record.request_hash))
            *left_behind = number;
    }
    if (open != NULL)
        closedir(open);
    return largest;
}

/* Writes the question under the first number that nobody else takes meanwhile. */
static int
write_question(struct llm_call *call, unsigned first)
{
    struct diags *diags = diags_create(call->arena, 1);
    const char *draft =
        arena_printf(call->arena, "%s/.%ld-%p", call->model->name, (long)getpid(), (void *)call);
    int error = 0;
    for (unsigned number = first; number < first + MOST_NUMBERS; number++) {
        struct buf text = buf_in(call->arena);
        put_question(&text, call, number);
        if (file_write(draft, text.data, text.length, diags) != STATUS_OK)
            return EIO;
        call->number = number;
        call->question = path_of(call, number, "prompt");
        if (renameat2(AT_FDCWD, draft, AT_FDCWD, call->question, RENAME_NOREPLACE) == 0)
            return 0;
        error = errno;
        unlink(draft);
        if (error != EEXIST)
            break;
    }
    return error;
}

static void
start(struct llm_call *call)
{
    unsigned left_behind = 0, largest = look_through(call, call->model->name, &left_behind);
    unsigned put_away =
        look_through(call, arena_printf(call->arena, "%s/done", call->model->name), NULL);
    int error = 0;
    if (left_behind > 0) {
        call->number = left_behind;
        call->question = path_of(call, left_behind, "prompt");
    } else {
        error = write_question(call, (largest > put_away ? largest : put_away) + 1);
    }
    call->answer = path_of(call, call->number, "reply");
    call->answer_size = -1;
    if (error == 0)
        return;
    call->question = NULL;
    llm__fault(call, LLM_FAILED, "mailbox: %s: the question cannot be written (%s)",
               call->model->name, strerror(error));
    llm__ended(call, LLM_FAILED);
}

/* ---- being answered ---- */

static void
read_answer(struct llm_call *call)
{
    struct diags *diags = diags_create(call->arena, 1);
    struct source source;
    if (file_read(call->arena, call->answer, call->llm->options.reply_bytes, &source, diags) !=
        STATUS_OK)
        llm__fault(call, LLM_TOO_LARGE, "mailbox: %s", diags_get(diags, 0)->message);
    else
        buf_add(&call->text, source.text, source.length);
    call->finish = LLM_FINISH_STOP;
    call->spoke = true;
    call->first_word = clock_seconds();
    llm__ended(call, call->fault);
}

static void
step(struct llm_call *call)
{
    struct stat facts;
    double now = clock_seconds();
    call->last_byte = now;
    if (now < call->settled)
        return;
    call->settled = now + call->llm->options.mailbox_seconds;
    if (stat(call->answer, &facts) != 0 || facts.st_size == 0)
        return;
    double size = (double)facts.st_size + 1e-9 * (double)facts.st_mtim.tv_nsec;
    bool same = size == call->answer_size;
    call->answer_size = size;
    if (same)
        read_answer(call);
}

/* A question that nobody waits for any more is taken back. */
static void
stop(struct llm_call *call)
{
    bool answered = call->finish == LLM_FINISH_STOP;
    if (call->question != NULL && !answered)
        unlink(call->question);
}

static void
move_to(struct llm_call *call, const char *folder, const char *path)
{
    const char *name = strrchr(path, '/') + 1;
    (void)rename(path, arena_printf(call->arena, "%s/%s", folder, name));
}

static void
put_away(struct llm_call *call)
{
    const char *folder = arena_printf(call->arena, "%s/done", call->model->name);
    if (call->result.record.outcome != LLM_OK || call->question == NULL)
        return;
    if (file_make_folder(folder, diags_create(call->arena, 1)) != STATUS_OK)
        return;
    move_to(call, folder, call->answer);
    move_to(call, folder, call->question);
}

const struct transport llm__mailbox = {
    .open = open_folder, .start = start, .step = step, .stop = stop, .put_away = put_away};
