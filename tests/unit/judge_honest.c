/* No kernel in tests/honest is ever refused: alone, and while every processor has other work. */
#include "../judge/fixtures.h"

#include "base/clock.h"

#include <signal.h>
#include <sys/prctl.h>

/* Processes that do nothing but take time, one for each processor: a third of it, in bursts of some
 * milliseconds, so that samples are hit in their middle and other tests get on. A little less
 * urgent than the judge: as urgent ones make every handshake wait for a slice of theirs, and all of
 * it takes ten minutes. */
enum { NICE = 5, BURST_MS = 4 };

static void
take_time(void)
{
    for (;;) {
        double end = clock_seconds() + BURST_MS * 1e-3;
        while (clock_seconds() < end)
            __asm__ volatile("" ::: "memory");
        usleep(2 * BURST_MS * 1000);
    }
}

static size_t
start_hogs(pid_t *hogs, size_t most)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    size_t started = 0;

    for (; started < most && (long)started < count; started++) {
        hogs[started] = fork();
        if (hogs[started] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (nice(NICE) == -1)
                _exit(1);
            take_time();
        }
    }
    return started;
}

int
main(int argc, char **argv)
{
    pid_t hogs[64];
    size_t count = start_hogs(hogs, 64);
    int failed = fixtures_run("tests/honest", argc > 1 ? argv[1] : NULL);

    for (size_t i = 0; i < count; i++) {
        kill(hogs[i], SIGKILL);
        waitpid(hogs[i], NULL, 0);
    }
    return failed;
}
