/* What is true between the two stamps: no page faults but the guest's own, and the classes in which
 * caller and guest run. No test here looks at how long something took but for being killed in time.
 */
#include "../box/box_test.h"

#include <dirent.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

#define BODY(text) "void kernel(const float *x, float *y) { " text " }\n"
#define ENDLESS BODY("\n#pragma omp parallel\nfor (;;) __asm__ volatile(\"\");")

enum { FAULTS_MOST = 8 };

/* Page faults. */

static size_t
megabytes_available(void)
{
    FILE *stream = fopen("/proc/meminfo", "re");
    char line[128];
    size_t kilobytes = 0;

    while (stream && fgets(line, sizeof line, stream))
        if (sscanf(line, "MemAvailable: %zu kB", &kilobytes) == 1)
            break;
    if (stream)
        fclose(stream);
    return kilobytes >> 10;
}

/* On one CPU and on all. */
static void
run_counted(struct box_test *test, struct box_test_job *made, int64_t least, int64_t most)
{
    for (int all = 0; all < 2; all++) {
        struct box_end end;

        if (all)
            box_test_all_cpus(test, &made->job);
        made->job.count_faults = true;
        made->job.limits.wall_seconds = 20;
        end = box_test_run(test, &made->job);
        assert_int_equal(end.ending, BOX_DONE);
        if (end.timed_faults < least || end.timed_faults > most)
            print_message("%s CPUs: %lld page faults\n", all ? "all" : "one",
                          (long long)end.timed_faults);
        assert_true(end.timed_faults >= least && end.timed_faults <= most);
    }
}

static void
tensors_do_not_fault(void **state)
{
    struct box_test *test = *state;
    size_t bytes = (size_t)(megabytes_available() > 4096 ? 256 : 8) << 20;
    char source[512];
    struct box_memory *memory;
    struct box_test_job made;
    int object;

    if (bytes < (size_t)256 << 20)
        print_message("# memory is short: tensors of %zu MB instead of 256\n", bytes >> 20);
    snprintf(source, sizeof source,
             BODY("\n#pragma omp parallel for\n"
                  "for (long i = 0; i < %zu; i++) y[i] = x[i] + 1;"),
             bytes / 4);
    object = box_test_object(test, source);
    assert_int_equal(box_memory_create(test->box, 2 * bytes + (4 << 20), &memory, test->diags),
                     STATUS_OK);
    box_test_job(test, &made, object, 256);
    for (size_t i = 0; i < 2; i++)
        made.regions[i] =
            (struct box_region){memory, box_stagger(i * bytes, i), bytes, 0, bytes, i == 1};
    run_counted(test, &made, 0, FAULTS_MOST);
    box_memory_destroy(memory);
    close(object);
}

static void
scratch_does_not_fault(void **state)
{
    struct box_test *test = *state;
    struct box_test_job made;
    int object =
        box_test_object(test, "static volatile char scratch[64 << 20];\n" BODY(
                                  "\n#pragma omp parallel for\n"
                                  "for (int i = 0; i < 64 << 20; i += 4096) scratch[i] = 1;\n"
                                  "y[0] = scratch[4096];"));

    box_test_job(test, &made, object, 256);
    run_counted(test, &made, 0, FAULTS_MOST);
    close(object);
}

/* Bringing the data near changes none of it, neither what the kernel leaves nor what it reads. */
static void
warming_changes_nothing(void **state)
{
    enum { BYTES = 256 };
    struct box_test *test = *state;
    struct box_test_job made;
    int object = box_test_object(test, BODY("y[1] = y[0] + x[0];"));

    for (int all = 0; all < 2; all++) {
        box_test_job(test, &made, object, BYTES);
        if (all)
            box_test_all_cpus(test, &made.job);
        made.job.warm = true;
        for (size_t r = 0; r < 2; r++) {
            float *data = (float *)((char *)box_memory_base(test->memory) + made.regions[r].offset +
                                    made.regions[r].lead);
            for (size_t i = 0; i < BYTES / sizeof *data; i++)
                data[i] = (float)(100 * r + i);
        }
        assert_int_equal(box_test_run(test, &made.job).ending, BOX_DONE);
        const float *y = (const float *)((char *)box_memory_base(test->memory) +
                                         made.regions[1].offset + made.regions[1].lead);
        for (size_t i = 0; i < BYTES / sizeof *y; i++)
            assert_true(y[i] == (i == 1 ? 100 : (float)(100 + i)));
    }
    close(object);
}

/* What the guest itself asks for in the sample is its own time, and is seen. */
static void
faults_are_seen(void **state)
{
    struct box_test *test = *state;
    struct box_test_job made;
    int object = box_test_object(
        test, BODY("volatile char *p = __builtin_alloca(2 << 20);\n"
                   "for (int i = (2 << 20) - 1; i >= 0; i -= 4096) p[i] = 1; y[0] = p[5];"));

    box_test_job(test, &made, object, 256);
    run_counted(test, &made, 100, 1000);
    made.job.count_faults = false;
    assert_int_equal(box_test_run(test, &made.job).timed_faults, -1);
    close(object);
}

/* Real time. */

static bool
may_be_realtime(void)
{
    struct sched_param param = {.sched_priority = 2}, none = {0};
    bool may = sched_setscheduler(0, SCHED_FIFO, &param) == 0;

    if (may)
        sched_setscheduler(0, SCHED_OTHER, &none);
    return may;
}

struct seen {
    struct box_test *test;
    int caller, threads, realtime_threads;
    bool kill_server;
};

static void
note_classes(void *context)
{
    struct seen *seen = context;
    char path[64];
    DIR *folder;

    seen->caller = sched_getscheduler(0);
    snprintf(path, sizeof path, "/proc/%d/task", box_test_last_pid(seen->test));
    folder = opendir(path);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));)
        if (entry->d_name[0] != '.') {
            seen->threads++;
            seen->realtime_threads += sched_getscheduler(atoi(entry->d_name)) == SCHED_FIFO;
        }
    closedir(folder);
    if (seen->kill_server)
        box_test_kill_server(seen->test);
    seen->kill_server = false;
}

static void
realtime_job(struct box_test *test, struct box_test_job *made, int object, struct seen *seen)
{
    *seen = (struct seen){.test = test};
    box_test_job(test, made, object, 256);
    box_test_all_cpus(test, &made->job);
    made->job.realtime = true;
    made->job.limits.wall_seconds = 1;
    made->job.hooks = (struct box_hooks){seen, NULL, note_classes, NULL, NULL};
}

static void
assert_ordinary(void)
{
    assert_int_equal(sched_getscheduler(0), SCHED_OTHER);
}

static void
realtime_where_allowed(void **state)
{
    struct box_test *test = *state;
    int object = box_test_object(test, BODY("y[0] = 7;"));
    bool may = may_be_realtime();
    struct box_test_job made;
    struct seen seen;
    struct box_end end;

    box_test_fresh_server(test);
    realtime_job(test, &made, object, &seen);
    end = box_test_run(test, &made.job);
    assert_int_equal(end.ending, BOX_DONE);
    assert_true(end.realtime == may);
    assert_int_equal(seen.threads, test->cpu_count);
    assert_int_equal(seen.realtime_threads, may ? test->cpu_count : 0);
    assert_int_equal(seen.caller, may ? SCHED_FIFO : SCHED_OTHER);
    assert_ordinary();

    realtime_job(test, &made, object, &seen);
    made.job.limits.wall_seconds = 2; /* too long */
    assert_false(box_test_run(test, &made.job).realtime);
    assert_int_equal(seen.realtime_threads, 0);
    assert_int_equal(seen.caller, SCHED_OTHER);
    made.job.realtime = false;
    made.job.limits.wall_seconds = 1;
    assert_false(box_test_run(test, &made.job).realtime);
    close(object);
}

/* The caller is in its own class again, however the run ended. */
static void
class_is_restored(void **state)
{
    static const struct {
        const char *source;
        enum box_ending ending;
    } cases[] = {
        {BODY("y[0] = 1;"), BOX_DONE},
        {BODY("y[64] = 1;"), BOX_CRASHED},
        {"static volatile char a[2000L << 20];\n" BODY("y[0] = a[(long)x[0]];"), BOX_NOT_LOADED},
        {ENDLESS, BOX_TIMEOUT},
    };
    struct box_test *test = *state;
    struct box_test_job made;
    struct seen seen;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int object = box_test_object(test, cases[i].source);

        for (int lost = 0; lost < 2; lost++) {
            struct box_end end;

            box_test_fresh_server(test);
            realtime_job(test, &made, object, &seen);
            seen.kill_server = lost;
            made.job.limits.wall_seconds = 0.3;
            end = box_test_run(test, &made.job);
            assert_int_equal(end.ending, cases[i].ending);
            assert_true(end.replaced <= (unsigned)lost); /* its guest may end before it */
            assert_ordinary();
        }
        close(object);
    }
}

/* An endless loop in real time on all CPUs, also with more threads than CPUs, ends in time. */
static void
endless_realtime_is_ended(void **state)
{
    struct box_test *test = *state;
    int object = box_test_object(test, ENDLESS);
    struct box_test_job made;
    struct seen seen;

    for (int i = 0; i < 5; i++) {
        struct timespec start, stop;
        struct box_end end;

        realtime_job(test, &made, object, &seen);
        made.job.hooks = (struct box_hooks){0};
        made.job.limits.wall_seconds = i == 4 ? 1 : 0.2;
        clock_gettime(CLOCK_MONOTONIC, &start);
        end = box_test_run(test, &made.job);
        clock_gettime(CLOCK_MONOTONIC, &stop);
        assert_int_equal(end.ending, BOX_TIMEOUT);
        assert_true(stop.tv_sec - start.tv_sec < 5);
        assert_ordinary();
    }
    close(object);
}

/* The caller dies while its guest spins in real time on all CPUs: the limit on real time ends that
 * guest even if nobody else gets to run. */
static int
count_children(void)
{
    char path[64];
    int child, count = 0;
    FILE *stream;

    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    stream = fopen(path, "re");
    while (stream && fscanf(stream, "%d", &child) == 1)
        count++;
    if (stream)
        fclose(stream);
    return count;
}

static void
caller_of_realtime_dies(void **state)
{
    struct box_test *test = *state;
    int object = box_test_object(test, ENDLESS), before, tries = 0;
    struct timespec nap = {0, 20000000};
    struct box_test_job made;
    struct box_end end;
    struct seen seen;
    pid_t pid;

    prctl(PR_SET_CHILD_SUBREAPER, 1);
    before = count_children();
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        if (box_server_start(test->box, &test->server, test->diags) != STATUS_OK)
            _exit(1);
        realtime_job(test, &made, object, &seen);
        made.job.hooks = (struct box_hooks){0};
        box_run(test->server, &made.job, &end, test->diags);
        _exit(0);
    }
    nanosleep(&(struct timespec){0, 500000000}, NULL);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    for (; tries < 500 && count_children() > before; tries++) {
        while (waitpid(-1, NULL, WNOHANG) > 0)
            continue;
        nanosleep(&nap, NULL);
    }
    assert_int_equal(count_children(), before);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    close(object);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_do_not_fault),    cmocka_unit_test(scratch_does_not_fault),
        cmocka_unit_test(faults_are_seen),         cmocka_unit_test(realtime_where_allowed),
        cmocka_unit_test(class_is_restored),       cmocka_unit_test(endless_realtime_is_ended),
        cmocka_unit_test(caller_of_realtime_dies), cmocka_unit_test(warming_changes_nothing),
    };

    return box_test_as_nobody(cmocka_run_group_tests(tests, box_test_setup, box_test_teardown));
}
