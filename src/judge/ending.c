/* Why a run did not end well, in words that its author can act on. */
#include "judge/judge_int.h"

#include <sys/syscall.h>

/* "row 1023, column 4096" is what people say; "element [1023,4096]" is exact for any rank. */
static void
put_element(struct buf *buf, const struct tensor *tensor, int64_t byte)
{
    int64_t at = byte / (int64_t)dtype_info[tensor->dtype].size;

    if (at >= 0 && at < tensor->count)
        buf_printf(buf, " (element %lld of %lld)", (long long)at, (long long)tensor->count);
}

static const struct tensor *
faulting_tensor(const struct judge__calls *calls, const struct box_end *end)
{
    return judge__tensor(calls->c, end->region % calls->c->tensor_count);
}

static void
tell_fault(struct buf *buf, const struct judge__calls *calls, const struct box_end *end)
{
    const struct tensor *tensor;
    long long bytes;

    switch (end->fault) {
    case BOX_FAULT_PAST_END:
        tensor = faulting_tensor(calls, end);
        bytes = (long long)(end->offset -
                            (int64_t)(tensor->count * (int64_t)dtype_info[tensor->dtype].size));
        buf_puts(buf, "touches memory ");
        if (bytes > 0)
            buf_printf(buf, "%lld bytes ", bytes);
        buf_printf(buf, "past the end of %s", tensor->name);
        break;
    case BOX_FAULT_BEFORE_START:
        tensor = faulting_tensor(calls, end);
        buf_printf(buf, "touches memory %lld bytes before the start of %s", (long long)-end->offset,
                   tensor->name);
        break;
    case BOX_FAULT_READ_ONLY:
        tensor = faulting_tensor(calls, end);
        buf_printf(buf, "writes to input %s", tensor->name);
        put_element(buf, tensor, end->offset);
        buf_puts(buf, "; inputs are read-only");
        break;
    case BOX_FAULT_NULL:
        buf_puts(buf, "uses a null pointer");
        break;
    case BOX_FAULT_STACK:
        buf_printf(buf, "overflows the stack; at most %zu KB may be used",
                   calls->c->task->target->limits.stack_bytes >> 10);
        break;
    case BOX_FAULT_CODE:
        buf_puts(buf, "jumps to memory that is not code");
        break;
    default:
        buf_puts(buf, end->reason);
    }
}

static void
tell_timeout(struct buf *buf, const struct judge__calls *calls)
{
    buf_printf(buf, "no end after %.1f s", calls->seconds);
    if (calls->count > 1)
        buf_printf(buf, " for %zu calls", calls->count);
    buf_printf(buf, "; the reference needs %.3g ms a call", 1e3 * calls->c->reference_seconds);
}

void
judge__explain_ending(struct arena *arena, const struct judge__calls *calls,
                      const struct box_end *end, struct judge_report *report)
{
    struct buf buf = buf_in(arena);

    report->status = JUDGE_CRASHED;
    switch (end->ending) {
    case BOX_FORBIDDEN:
        if (end->syscall == SYS_tgkill && end->code_offset == 0) { /* how the C library aborts */
            buf_puts(&buf, "calls abort()");
            break;
        }
        report->status = JUDGE_REJECTED;
        buf_printf(&buf, "makes the system call %s; only memory and math functions may be called",
                   end->syscall_name);
        break;
    case BOX_NOT_LOADED:
        report->status = JUDGE_REJECTED;
        buf_printf(&buf, "cannot be loaded: %s", end->reason);
        break;
    case BOX_TIMEOUT:
        report->status = JUDGE_TIMED_OUT;
        tell_timeout(&buf, calls);
        break;
    case BOX_EXITED:
        buf_printf(&buf, "ended its process with exit code %d before the call returned",
                   end->exit_code);
        break;
    default:
        tell_fault(&buf, calls, end);
    }
    if (end->code_offset)
        report->line =
            box_source_line(calls->c->task->judge->box, calls->object->fd, calls->object->bytes,
                            end->code_offset, calls->object->source);
    report->reason = buf.data;
    report->case_name = calls->c->program->case_name;
}
