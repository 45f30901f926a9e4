/* Where and in which class the calling thread and the guest run during a sample.
 *
 * In BOX_FUTEX mode both share a CPU. In the ordinary class the guest's first thread is made
 * SCHED_BATCH, or it would preempt the caller inside the very call that wakes it, and the caller
 * would steal a slice of the sample later. In real time the caller has the higher priority, which
 * says the same and also keeps everybody else away.
 *
 * A real-time guest is dangerous: an endless loop of it on all CPUs stops the machine. Hence
 *  1. never a real-time guest without a caller above it: the caller changes first and back last;
 *  2. only where the deadline is short;
 *  3. the guest has a limit on real time (RLIMIT_RTTIME), for the case that the caller dies;
 *  4. the guest cannot change its class: no such call passes its filter. Threads that it makes have
 *     the class of their maker. */
#include "box/run_int.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

enum { CALLER_PRIORITY = 2, GUEST_PRIORITY = 1 };

static bool
stay_on(int cpu, cpu_set_t *before)
{
    cpu_set_t wanted;

    if (cpu < 0 || sched_getaffinity(0, sizeof *before, before) != 0)
        return false;
    CPU_ZERO(&wanted);
    CPU_SET(cpu, &wanted);
    return !CPU_EQUAL(&wanted, before) && sched_setaffinity(0, sizeof wanted, &wanted) == 0;
}

void
box__settle(struct box__turn *turn, int cpu)
{
    *turn = (struct box__turn){0};
    turn->moved = stay_on(cpu, &turn->cpus);
}

/* All threads of the guest, whose pool is complete; false if one could not be changed. */
static bool
change_threads(pid_t guest, int policy, int priority)
{
    struct sched_param param = {.sched_priority = priority};
    char path[64];
    struct dirent *entry;
    bool changed = false;
    DIR *folder;

    snprintf(path, sizeof path, "/proc/%d/task", (int)guest);
    folder = opendir(path);
    if (!folder)
        return false;
    while ((entry = readdir(folder))) {
        if (entry->d_name[0] == '.')
            continue;
        changed = sched_setscheduler((pid_t)atoi(entry->d_name), policy, &param) == 0;
        if (!changed)
            break;
    }
    closedir(folder);
    return changed;
}

static bool
change_caller(struct box__turn *turn)
{
    struct sched_param wanted = {.sched_priority = CALLER_PRIORITY};

    turn->policy = sched_getscheduler(0);
    if (turn->policy < 0 || sched_getparam(0, &turn->param) != 0)
        return false;
    if ((turn->policy & ~SCHED_RESET_ON_FORK) > SCHED_IDLE)
        return false; /* a class to which there is no simple way back */
    if (turn->param.sched_priority >= CALLER_PRIORITY)
        return true; /* whoever uses us is in real time already */
    turn->changed = sched_setscheduler(0, SCHED_FIFO, &wanted) == 0;
    return turn->changed;
}

static void
change_back(struct box__turn *turn)
{
    if (turn->changed)
        sched_setscheduler(0, turn->policy, &turn->param);
    turn->changed = false;
}

bool
box__take_turn(struct box__turn *turn, pid_t guest, bool realtime)
{
    struct sched_param none = {0};

    if (guest <= 0)
        return false;
    if (realtime && change_caller(turn)) {
        if (change_threads(guest, SCHED_FIFO, GUEST_PRIORITY))
            return true;
        change_threads(guest, SCHED_OTHER, 0);
        change_back(turn);
    }
    /* The first thread alone: others would wait for a tick behind any foreign process. Where it is
     * refused, the time is only noisier. */
    sched_setscheduler(guest, SCHED_BATCH, &none);
    return false;
}

void
box__unsettle(struct box__turn *turn)
{
    change_back(turn);
    if (turn->moved)
        sched_setaffinity(0, sizeof turn->cpus, &turn->cpus);
    turn->moved = false;
}
