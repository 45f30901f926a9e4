/* How a run ended, in words and numbers, from what the kernel said and from what was known before
 * the guest ran. Nothing the guest could have written is used. */
#include "box/box_int.h"

#include <assert.h>
#include <errno.h>
#include <linux/audit.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define NULL_LIMIT 65536u       /* the first addresses, which nobody can map */
#define STACK_SLACK (32u << 20) /* a frame may skip the guard page */
#define X32_BIT 0x40000000

const char *
box_ending_name(enum box_ending ending)
{
    static const char *const names[] = {"done",    "not loaded", "exited early",
                                        "crashed", "forbidden",  "timed out"};

    return names[ending];
}

static void
say(struct box_end *end, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void
say(struct box_end *end, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(end->reason, sizeof end->reason, format, args);
    va_end(args);
}

/* Addresses. */

/* The region that is nearest, if one is near: windows are wide and begin a quarter before. */
static int
region_near(const struct box__seen *seen, uint64_t address)
{
    const struct box__region *regions = box__regions(seen->table);
    int nearest = -1;
    uint64_t best = BOX__WINDOW / 4;

    if (address < BOX__REGION_ADDRESS || address >= BOX__REGION_LIMIT)
        return -1;
    for (uint32_t i = 0; i < seen->table->region_count; i++) {
        uint64_t start = regions[i].address, stop = start + regions[i].span;
        uint64_t distance = address < start ? start - address : address < stop ? 0 : address - stop;

        if (distance < best) {
            best = distance;
            nearest = (int)i;
        }
    }
    return nearest;
}

static void
blame_region(const struct box__seen *seen, uint32_t number, struct box_end *end)
{
    const struct box_region *region = &seen->job->regions[number];
    uint64_t data = box__regions(seen->table)[number].address + region->lead;

    end->region = number;
    end->offset = (int64_t)(end->address - data);
    if (end->offset < 0)
        end->fault = BOX_FAULT_BEFORE_START;
    else if (end->offset >= (int64_t)region->bytes)
        end->fault = BOX_FAULT_PAST_END;
    else
        end->fault = BOX_FAULT_READ_ONLY;
    say(end, "region %u, byte %lld of %zu: %s", number, (long long)end->offset, region->bytes,
        end->fault == BOX_FAULT_BEFORE_START ? "before the start"
        : end->fault == BOX_FAULT_PAST_END   ? "past the end"
        : region->writable                   ? "cannot be accessed"
                                             : "a write to read-only memory");
}

static bool
in_a_stack(const struct box__seen *seen, uint64_t address)
{
    uint64_t size = seen->table->stack + STACK_SLACK;

    for (uint32_t i = 0; i < seen->table->threads && i < BOX__STACKS; i++) {
        uint64_t top = seen->before.stacks[i];

        if (top != 0 && address < top && top - address < size)
            return true;
    }
    return false;
}

static void
blame_address(const struct box__seen *seen, const struct box__ended *ended, struct box_end *end)
{
    int region = region_near(seen, ended->address);

    end->address = ended->address;
    if (ended->code <= 0 || ended->code == SI_KERNEL) {
        say(end, "%s: not a plain address, or the clock was read",
            ended->signal == SIGBUS ? "bus error" : "segmentation fault");
    } else if (region >= 0) {
        blame_region(seen, (uint32_t)region, end);
    } else if (ended->address < NULL_LIMIT) {
        end->fault = BOX_FAULT_NULL;
        say(end, "null pointer (address 0x%llx)", (unsigned long long)ended->address);
    } else if (ended->rip == ended->address) {
        end->fault = BOX_FAULT_CODE;
        say(end, "jump to 0x%llx, which is not code", (unsigned long long)ended->address);
    } else if (in_a_stack(seen, ended->address)) {
        end->fault = BOX_FAULT_STACK;
        say(end, "stack overflow (limit %llu KB)", (unsigned long long)seen->table->stack >> 10);
    } else {
        say(end, "address 0x%llx belongs to nothing", (unsigned long long)ended->address);
    }
}

/* Signals. */

static void
blame_call(const struct box__ended *ended, struct box_end *end)
{
    bool known = ended->signal == SIGSYS; /* it was traced */

    end->ending = BOX_FORBIDDEN;
    end->syscall = ended->syscall;
#if defined(__x86_64__)
    if (known && ended->arch == AUDIT_ARCH_I386) {
        end->syscall_name = "32-bit call";
        say(end, "forbidden system call: number %d of the 32-bit interface", ended->syscall);
        return;
    }
    if (known && (ended->syscall & X32_BIT)) {
        end->syscall_name = "x32 call";
        say(end, "forbidden system call: number %d of the x32 interface",
            ended->syscall & ~X32_BIT);
        return;
    }
#endif
    end->syscall_name = known ? box_syscall_name(ended->syscall) : "unknown";
    say(end, "forbidden system call: %s%s", end->syscall_name,
        strcmp(end->syscall_name, "tgkill") == 0 ? " (abort)" : "");
}

static void
blame_signal(const struct box__seen *seen, const struct box__ended *ended, struct box_end *end)
{
    int number = WTERMSIG(ended->status);

    end->ending = BOX_CRASHED;
    end->signal = number;
    end->signal_code = ended->signal == number ? ended->code : 0;
    if (ended->signal == number && ended->rip > seen->before.code &&
        ended->rip - seen->before.code < seen->before.code_bytes)
        end->code_offset = ended->rip - seen->before.code;
    if (number == SIGSYS)
        blame_call(ended, end);
    else if (number == SIGXCPU) {
        end->ending = BOX_TIMEOUT;
        say(end, "more than %llu s of CPU time", (unsigned long long)seen->table->cpu_seconds);
    } else if ((number == SIGSEGV || number == SIGBUS) && ended->signal == number)
        blame_address(seen, ended, end);
    else if (number == SIGFPE)
        say(end, "arithmetic exception (division by zero?)");
    else if (number == SIGILL)
        say(end, "illegal instruction");
    else
        say(end, "signal %d (%s)", number, strsignal(number));
}

/* The stub could not prepare the run. Its words can be believed: the guest had not run. */
static bool
blame_stub(const struct box__seen *seen, struct box_end *end, struct box__why *why)
{
    if (seen->before.stage == BOX__STAGE_LOAD) {
        end->ending = BOX_NOT_LOADED;
        say(end, "the object cannot be loaded: %.*s", BOX__TEXT - 1, seen->before.text);
        return true;
    }
    box__fault(why, seen->before.error,
               seen->before.stage == BOX__STAGE_NONE ? "the runner ended before it was ready"
                                                     : seen->before.text);
    return false;
}

static void
copy_usage(const struct box__ended *ended, struct box_end *end)
{
    end->minor_faults = ended->minor_faults;
    end->major_faults = ended->major_faults;
    end->involuntary_switches = ended->involuntary;
    end->user_seconds = 1e-6 * (double)ended->user_us;
    end->system_seconds = 1e-6 * (double)ended->system_us;
}

/* The guest can send no signal: one that a process sent, as its code says, came from elsewhere. */
static bool
is_from_outside(const struct box__ended *ended)
{
    int number = WTERMSIG(ended->status);

    return number == SIGKILL || (ended->signal == number && ended->code <= 0);
}

bool
box__classify(const struct box__seen *seen, const struct box__ended *ended, struct box_end *end,
              struct box__why *why)
{
    copy_usage(ended, end);
    if (!seen->went)
        return blame_stub(seen, end, why);
    if (seen->timed_out) {
        end->ending = BOX_TIMEOUT;
        say(end, "no end after %g s", seen->job->limits.wall_seconds);
    } else if (seen->killed_by_us) {
        end->ending = BOX_DONE;
    } else if (WIFEXITED(ended->status)) {
        end->ending = BOX_EXITED;
        end->exit_code = WEXITSTATUS(ended->status);
        say(end, "the process exited with code %d before the calls had returned", end->exit_code);
    } else if (is_from_outside(ended)) {
        box__fault(why, 0, "the runner was killed from outside (out of memory?)");
        return false;
    } else {
        blame_signal(seen, ended, end);
    }
    return true;
}
