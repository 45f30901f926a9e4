/* Shared memory on huge pages: a file without a name in a tmpfs of our own, mounted huge=always in
 * a private mount namespace. The setting of the machine for shared memory does not matter there,
 * and no privilege is needed beyond a user namespace. Two descriptors are sent, one to write and
 * one that can only ever be mapped read-only; the mount lives as long as they do, and no longer. */
#include "box/server/server_int.h"

#include "box/box.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

/* Without maps the file would belong to nobody, and could not be made. */
static int
own_mounts(void)
{
    unsigned uid = geteuid(), gid = getegid();
    char map[64];

    if (uid == 0 && unshare(CLONE_NEWNS) == 0)
        return 0;
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0 ||
        jail_write("/proc/self/setgroups", "deny") != 0)
        return -1;
    snprintf(map, sizeof map, "0 %u 1", uid);
    if (jail_write("/proc/self/uid_map", map) != 0)
        return -1;
    snprintf(map, sizeof map, "0 %u 1", gid);
    return jail_write("/proc/self/gid_map", map);
}

static int
mount_huge(uint64_t bytes)
{
    static const char *const places[] = {"/mnt", "/tmp", "/var"};
    char options[96];

    snprintf(options, sizeof options, "size=%llu,huge=always,mode=700", (unsigned long long)bytes);
    if (own_mounts() != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        return -1;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (mount("box", places[i], "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, options) == 0)
            return open(places[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return -1;
}

int
memory(const struct box__order *order)
{
    struct box__reply reply = {.kind = BOX__READY, .features = 1u << BOX_HUGE};
    int folder = mount_huge(order->bytes), fds[2];
    char path[32];

    fds[0] = folder < 0 ? -1 : openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fds[0] < 0 || ftruncate(fds[0], (off_t)order->bytes) != 0)
        return reply_failed(errno, "a tmpfs with huge pages cannot be mounted");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fds[0]);
    fds[1] = open(path, O_RDONLY | O_CLOEXEC);
    if (fds[1] < 0)
        return reply_failed(errno, "shared memory cannot be reopened read-only; is /proc mounted?");
    return box__send(BOX__SOCKET, &reply, sizeof reply, fds, 2) < 0;
}
