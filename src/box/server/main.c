/* hone-box VERB: the small program that does everything for which a jail must be built. It is
 * started by the library with an empty environment, one socket, and nothing else. */
#include "box/server/server_int.h"

#include "box/box.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

int
reply_failed(int error, const char *text)
{
    struct box__reply reply = {.kind = BOX__FAILED, .error = error};

    snprintf(reply.text, sizeof reply.text, "%s", text);
    box__send(BOX__SOCKET, &reply, sizeof reply, NULL, 0);
    return 1;
}

/* When memory runs out the guests go first, not the program that judges them. */
static void
offer_to_die(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return;
    if (write(fd, "1000", 4) < 0)
        errno = 0; /* a courtesy: nothing depends on it */
    close(fd);
}

static int
obey(const struct box__order *order, char *texts, const int *fds, size_t fd_count)
{
    switch (order->verb) {
    case BOX__PROBE:
        return probe(order);
    case BOX__COMPILE:
        return compile(order, texts, fds, fd_count);
    case BOX__MEMORY:
        return memory(order);
    case BOX__SERVE:
        return serve(order);
    case BOX__PROGRAM:
        return program(order, texts, fds, fd_count);
    }
    return reply_failed(EINVAL, "this hone-box and this hone do not belong together");
}

int
main(void)
{
    char packet[BOX__PACKET] = {0};
    struct box__order order;
    struct rlimit no_core = {0, 0};
    int fds[BOX__FDS];
    size_t fd_count;
    ssize_t got;

    signal(SIGPIPE, SIG_IGN);
    setrlimit(RLIMIT_CORE, &no_core);
    offer_to_die();
    got = box__receive(BOX__SOCKET, packet, sizeof packet - 1, fds, BOX__FDS, &fd_count);
    if (got < 0) {
        fprintf(stderr, "hone-box is started by hone; there is nothing to do for it here\n");
        return 2;
    }
    if ((size_t)got < sizeof order)
        return 0;
    memcpy(&order, packet, sizeof order);
    return obey(&order, packet + sizeof order, fds, fd_count);
}
