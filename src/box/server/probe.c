/* What this machine can close, by trying it: each trial in a child of its own. Nothing is concluded
 * from version numbers or settings. */
#include "box/server/server_int.h"

#include "box/box.h"
#include "box/filter_int.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs in a child; true if it worked. */
typedef bool
trial(void);

static bool
try_in_child(trial *attempt)
{
    pid_t pid = fork();
    int status = -1;

    if (pid < 0)
        return false;
    if (pid == 0)
        _exit(attempt() ? 0 : 1);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* The whole jail: what it was built with, told by its exit code. 255: it failed. */
static bool
full_jail(uint32_t without)
{
    struct jail jail = {.without = without, .bytes = 1 << 20};

    return jail_enter(&jail) == 0 && (jail.features & (1u << BOX_MOUNTNS));
}

static bool
jail_with_user(void)
{
    struct jail jail = {.bytes = 1 << 20};

    return jail_enter(&jail) == 0 && (jail.features & (1u << BOX_USERNS));
}

static bool
jail_without_user(void)
{
    return full_jail(1u << BOX_USERNS);
}

static bool
seccomp(void)
{
    struct box__program program;

    box__filter_make(&program, BOX__FILTER_COMPILER, false);
    return box__filter_install(&program) == 0 && syscall(SYS_keyctl, 0, 0) < 0 && errno == EPERM;
}

static bool
tracing(void)
{
    pid_t pid = fork();
    bool works;

    if (pid == 0)
        for (;;)
            pause();
    if (pid < 0)
        return false;
    works = ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_EXITKILL) == 0;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, __WALL);
    return works;
}

static bool
pidfd(void)
{
    int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);

    return fd >= 0 && syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0) == 0;
}

static bool
huge_pages(void)
{
    static const char options[] = "size=4m,huge=always";

    if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
        return false;
    return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           (mount("box", "/mnt", "tmpfs", 0, options) == 0 ||
            mount("box", "/tmp", "tmpfs", 0, options) == 0);
}

/* Either hierarchy, and only if we could make a group: that needs no process to be moved. */
static bool
control_group(void)
{
    static const char *const folders[] = {"/sys/fs/cgroup/memory", "/sys/fs/cgroup"};
    static const char *const signs[] = {"memory.limit_in_bytes", "memory.max"};
    char path[128];

    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", folders[i], signs[i]);
        if (access(path, W_OK) == 0 && access(folders[i], W_OK) == 0)
            return true;
    }
    return false;
}

/* From 5.14 on the limit on processes is counted for each user namespace. */
static bool
nproc_counts_namespace(void)
{
    struct utsname name;
    int major = 0, minor = 0;

    return uname(&name) == 0 && sscanf(name.release, "%d.%d", &major, &minor) == 2 &&
           (major > 5 || (major == 5 && minor >= 14));
}

int
probe(const struct box__order *order)
{
    static const struct {
        trial *attempt;
        uint32_t features;
    } trials[] = {
        {seccomp, 1u << BOX_SECCOMP}, {tracing, 1u << BOX_PTRACE},       {pidfd, 1u << BOX_PIDFD},
        {huge_pages, 1u << BOX_HUGE}, {control_group, 1u << BOX_CGROUP},
    };
    uint32_t spaces =
        1u << BOX_MOUNTNS | 1u << BOX_PIDNS | 1u << BOX_NETNS | 1u << BOX_IPCNS | 1u << BOX_UTSNS;
    struct box__probed probed = {.kind = BOX__READY, .landlock_abi = landlock_abi()};

    (void)order;
    for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++)
        if (try_in_child(trials[i].attempt))
            probed.features |= trials[i].features;
    if (try_in_child(jail_with_user))
        probed.features |= spaces | 1u << BOX_USERNS;
    else if (geteuid() == 0 && try_in_child(jail_without_user))
        probed.features |= spaces;
    if (probed.landlock_abi > 0)
        probed.features |= 1u << BOX_LANDLOCK;
    probed.nproc_counts = nproc_counts_namespace();
    return box__send(BOX__SOCKET, &probed, sizeof probed, NULL, 0) < 0;
}
