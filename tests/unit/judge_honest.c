/* No kernel in tests/honest is ever refused: alone, and while every processor has other work. */
#include "../judge/fixtures.h"

#include <signal.h>
#include <sys/prctl.h>

/* Processes that do nothing but take time, one for each processor. A little less urgent than the
 * judge: as urgent ones make every handshake wait for a slice of theirs, and all of it takes ten
 * minutes. */
enum { NICE = 5 };

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
            for (;;)
                __asm__ volatile("" ::: "memory");
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
