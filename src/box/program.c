/* A program in a jail, seen from outside. */
#include "box/box_int.h"

#include "base/buf.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

enum { START_SECONDS = 30, END_SECONDS = 1 };

struct box_program {
    struct box__process process;
};

static uint32_t
put_texts(struct buf *texts, const char *const *list)
{
    uint32_t count = 0;

    for (; list[count]; count++)
        buf_add(texts, list[count], strlen(list[count]) + 1);
    return count;
}

static enum status
start(const struct box *box, struct arena *arena, const struct box_program_request *request,
      struct box_program *program, struct box__why *why)
{
    struct buf texts = buf_in(arena);
    struct box__reply reply;
    struct box__order order = {.verb = BOX__PROGRAM,
                               .without = box__without(box),
                               .use_nproc = box->nproc_counts,
                               .bytes = request->files,
                               .address_space = request->memory,
                               .cpu_seconds = (uint64_t)(request->cpu_seconds + 0.999)};
    enum status status;

    order.argc = put_texts(&texts, request->argv);
    order.env_count = put_texts(&texts, request->environment);
    order.folder_count = put_texts(&texts, request->folders);
    order.text_bytes = texts.length;
    status = box__start(box, &order, texts.data, request->fds, BOX__PROGRAM_FDS, NULL,
                        &program->process, why);
    if (status != STATUS_OK)
        return status;
    status = box__answer_of(&program->process, &reply, sizeof reply, sizeof reply, NULL, 0, NULL,
                            START_SECONDS, why);
    if (status != STATUS_OK)
        box__stop(&program->process);
    return status;
}

enum status
box_program_start(const struct box *box, struct arena *arena,
                  const struct box_program_request *request, struct box_program **result,
                  struct diags *diags)
{
    struct box_program *program = arena_alloc(arena, sizeof *program);
    struct box__why why = {{0}};
    enum status status;

    *result = NULL;
    if (box->machine.level == BOX_NONE && !box->options.unsafe)
        status = box__fault(&why, 0, "this machine has no sandbox; `hone machine` says why");
    else
        status = start(box, arena, request, program, &why);
    if (status == STATUS_OK)
        *result = program;
    return box__report(status, &why, diags);
}

void
box_program_end(struct box_program *program, int *signal)
{
    struct box__why ignored = {{0}};
    struct box__ended ended;

    if (signal)
        *signal = 0;
    if (!program)
        return;
    if (signal &&
        box__answer_of(&program->process, &ended, sizeof ended, sizeof ended, NULL, 0, NULL,
                       END_SECONDS, &ignored) == STATUS_OK &&
        WIFSIGNALED(ended.status))
        *signal = WTERMSIG(ended.status);
    box__stop(&program->process);
}
