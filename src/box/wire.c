/* Packets with descriptors, and futexes: what both programs need. */
#include "box/wire_int.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

union control {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int) * BOX__FDS)];
};

ssize_t
box__send(int socket, const void *bytes, size_t count, const int *fds, size_t fd_count)
{
    struct iovec vector = {(void *)bytes, count};
    struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
    union control control = {0};
    ssize_t sent;

    if (fd_count > BOX__FDS) {
        errno = E2BIG;
        return -1;
    }
    if (fd_count > 0) {
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(sizeof(int) * fd_count);
        control.header = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
                                          .cmsg_type = SCM_RIGHTS,
                                          .cmsg_len = CMSG_LEN(sizeof(int) * fd_count)};
        memcpy(CMSG_DATA(&control.header), fds, sizeof(int) * fd_count);
    }
    do
        sent = sendmsg(socket, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent;
}

static void
take_fds(struct msghdr *message, int *fds, size_t most, size_t *fd_count)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
        size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        for (size_t i = 0; i < count; i++) {
            int fd;

            memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
            if (*fd_count < most)
                fds[(*fd_count)++] = fd;
            else
                close(fd);
        }
    }
}

ssize_t
box__receive(int socket, void *bytes, size_t room, int *fds, size_t most, size_t *fd_count)
{
    struct iovec vector = {bytes, room};
    union control control;
    struct msghdr message = {.msg_iov = &vector,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    size_t taken = 0;
    ssize_t got;

    do
        got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got >= 0)
        take_fds(&message, fds, most, &taken);
    if (fd_count)
        *fd_count = taken;
    return got;
}

int
box__close_all(const int *fds, size_t count)
{
    int error = errno;

    for (size_t i = 0; i < count; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    errno = error;
    return 0;
}

long
box__futex_wait(uint32_t *word, uint32_t value, long microseconds)
{
    struct timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000};

    return syscall(SYS_futex, word, FUTEX_WAIT, value, microseconds < 0 ? NULL : &time, NULL, 0);
}

long
box__futex_wake(uint32_t *word)
{
    return syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
