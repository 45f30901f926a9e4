/* What outsiders do to caller, server and guest in the middle of a run: it is never blamed on the
 * guest, and never changes what the next run finds. */
#include "../box/box_test.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>

#define KERNEL "void kernel(const float *x, float *y) { y[0] = x[0] + 1; }\n"
#define LONG_KERNEL                           \
    "void kernel(const float *x, float *y)\n" \
    "{ for (volatile long i = 0; i < 30000000; i++); y[0] += 3; }\n"

struct outsider {
    struct box_test *test;
    int signals[2];  /* to the guest, 0: none */
    int guest;       /* of the first attempt */
    int kill_server; /* how often */
    int stop_server;
    int prepared;
    bool guest_was_left; /* it lived when the run was repeated */
    int server;
};

static void
on_prepare(void *context)
{
    struct outsider *outsider = context;

    outsider->prepared++;
    if (outsider->guest > 0)
        outsider->guest_was_left |= box_test_is_alive(outsider->guest);
}

static void
on_armed(void *context)
{
    struct outsider *outsider = context;
    int pid;

    outsider->guest = box_test_last_pid(outsider->test);
    for (int i = 0; i < 2; i++)
        if (outsider->signals[i])
            kill(outsider->guest, outsider->signals[i]);
    if (outsider->stop_server-- > 0)
        kill(outsider->server, SIGSTOP);
    if (outsider->kill_server-- > 0 && box_server_pids(outsider->test->server, &pid, 1) == 1)
        kill(pid, SIGKILL);
}

/* A job on a fresh server, with hooks for the outsider. */
static void
prepare(struct box_test *test, struct box_test_job *made, struct outsider *outsider, int object)
{
    outsider->test = test;
    box_test_fresh_server(test);
    box_test_job(test, made, object, 256);
    made->job.limits.wall_seconds = 20;
    made->job.hooks = (struct box_hooks){outsider, on_prepare, on_armed, NULL, NULL};
}

static void
signals_to_the_guest_are_ours(void **state)
{
    static const int signals[] = {SIGKILL, SIGTERM, SIGSEGV, SIGXCPU, SIGHUP};
    struct box_test *test = *state;
    int object = box_test_object(test, LONG_KERNEL);
    bool traced = box_machine(test->box)->features >> BOX_PTRACE & 1;
    struct box_test_job made;

    for (size_t i = 0; i < (traced ? 5 : 1); i++) {
        struct outsider outsider = {.signals = {signals[i]}};

        prepare(test, &made, &outsider, object);
        box_test_fails(test, &made.job, "killed from outside");
        made.job.hooks = (struct box_hooks){0};
        assert_int_equal(box_test_run(test, &made.job).ending, BOX_DONE);
    }
    close(object);
}

/* Signals that end nobody change nothing, and do not hide a crash that comes later. */
static void
harmless_signals_hide_nothing(void **state)
{
    struct box_test *test = *state;
    int object = box_test_object(test, LONG_KERNEL);
    int crash =
        box_test_object(test, "void kernel(const float *x, float *y)\n"
                              "{ for (volatile long i = 0; i < 30000000; i++); y[64] = 1; }");
    struct outsider outsider = {.signals = {SIGSTOP, SIGWINCH}};
    struct box_test_job made;
    struct box_end end;

    if (!(box_machine(test->box)->features >> BOX_PTRACE & 1))
        skip();
    prepare(test, &made, &outsider, object);
    assert_int_equal(box_test_run(test, &made.job).ending, BOX_DONE);
    prepare(test, &made, &outsider, crash);
    end = box_test_run(test, &made.job);
    assert_int_equal(end.ending, BOX_CRASHED);
    assert_int_equal(end.fault, BOX_FAULT_PAST_END);
    close(object);
    close(crash);
}

static int
count_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;

    assert_non_null(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

/* The guest of a lost server is dead before the run is repeated: both have the same memory. */
static void
lost_guests_do_not_linger(void **state)
{
    struct box_test *test = *state;
    int object = box_test_object(test, LONG_KERNEL), before = 0;
    struct box_test_job made;

    for (int i = 0; i < 20; i++) {
        struct outsider outsider = {.kill_server = 1 + i % 3};
        struct box_end end;

        prepare(test, &made, &outsider, object);
        made.job.mode = i % 2 ? made.job.mode : BOX_FUTEX;
        end = box_test_run(test, &made.job);
        assert_int_equal(end.ending, BOX_DONE);
        assert_int_equal(end.replaced, 1 + i % 3);
        assert_int_equal(outsider.prepared, 2 + i % 3);
        assert_false(outsider.guest_was_left);
        if (i == 0)
            before = count_descriptors();
    }
    assert_int_equal(count_descriptors(), before);
    close(object);
}

/* A server that is stopped is one that is lost, in the end. */
static void
stopped_server_is_replaced(void **state)
{
    struct box_test *test = *state;
    int object = box_test_object(test, KERNEL);
    struct outsider outsider = {.stop_server = 1};
    struct box_test_job made;
    struct box_end end;
    time_t start;

    prepare(test, &made, &outsider, object);
    made.job.hooks = (struct box_hooks){0};
    assert_int_equal(box_test_run(test, &made.job).ending, BOX_DONE);
    outsider.server = box_test_last_pid(test);
    made.job.hooks = (struct box_hooks){&outsider, on_prepare, on_armed, NULL, NULL};
    start = time(NULL);
    end = box_test_run(test, &made.job);
    assert_true(time(NULL) - start < 25);
    assert_int_equal(end.ending, BOX_DONE);
    assert_int_equal(end.replaced, 1);
    assert_false(box_test_is_alive(outsider.server));
    close(object);
}

/* Signals to the caller: its waits are interrupted, and nothing else happens. */
static void
ignore_signal(int number)
{
    (void)number;
}

static void
interrupted_caller(void **state)
{
    struct box_test *test = *state;
    int object = box_test_object(test, KERNEL);
    struct sigaction action = {.sa_handler = ignore_signal}, kept;
    struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    struct box_test_job made;

    box_test_job(test, &made, object, 256);
    box_test_run(test, &made.job);
    assert_int_equal(sigaction(SIGALRM, &action, &kept), 0);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < 300; i++) {
        struct box_end end;

        made.job.mode = i % 2 && test->cpu_count > 1 ? BOX_SPIN : BOX_FUTEX;
        made.job.realtime = i % 4 == 0;
        made.job.limits.wall_seconds = 1;
        end = box_test_run(test, &made.job);
        assert_int_equal(end.ending, BOX_DONE);
        assert_int_equal(end.replaced, 0);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &kept, NULL);
    close(object);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signals_to_the_guest_are_ours),
        cmocka_unit_test(harmless_signals_hide_nothing),
        cmocka_unit_test(lost_guests_do_not_linger),
        cmocka_unit_test(stopped_server_is_replaced),
        cmocka_unit_test(interrupted_caller),
    };

    return box_test_as_nobody(cmocka_run_group_tests(tests, box_test_setup, box_test_teardown));
}
