/* What is ours stays ours: whatever this machine refuses, no kernel is blamed for it; and whatever
 * happens to the judge, nothing of it is left behind. */
#include "../judge/judge_test.h"

#include "base/fault.h"
#include "base/file.h"
#include "judge/judge_int.h"

#include <dirent.h>
#include <signal.h>
#include <time.h>

static const char twice_op[] = "op twice\ndim N=64\nin X: f32[N]\nY[i] = X[i] + X[i]\nout Y\n";
static const char right[] = "void kernel(const float *X, float *Y)\n"
                            "{\n    for (int i = 0; i < N; i++)\n        Y[i] = 2 * X[i];\n}\n";
static const char wrong[] = "void kernel(const float *X, float *Y)\n"
                            "{\n    for (int i = 0; i < N; i++)\n        Y[i] = X[i];\n}\n";

/* ---- leaks ---- */

static size_t
entries(const char *folder)
{
    DIR *dir = opendir(folder);
    size_t count = 0;

    while (dir && readdir(dir))
        count++;
    if (dir)
        closedir(dir);
    return count;
}

static size_t
lines(const char *path)
{
    FILE *file = fopen(path, "r");
    size_t count = 0;
    int c;

    while (file && (c = getc(file)) != EOF)
        count += c == '\n';
    if (file)
        fclose(file);
    return count;
}

/* Processes whose program is the file at `path`. */
static size_t
processes_of(const char *path)
{
    DIR *dir = opendir("/proc");
    struct dirent *item;
    size_t count = 0;

    while (dir && (item = readdir(dir))) {
        char link[300], target[4096];
        ssize_t length;

        if (item->d_name[0] < '0' || item->d_name[0] > '9')
            continue;
        snprintf(link, sizeof link, "/proc/%s/exe", item->d_name);
        length = readlink(link, target, sizeof target - 1);
        if (length <= 0)
            continue;
        target[length] = '\0';
        count += strcmp(target, path) == 0;
    }
    if (dir)
        closedir(dir);
    return count;
}

/* hone-box under another name, so that only our own processes are counted. */
static const char *
own_box(struct arena *arena)
{
    const char *tmp = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
    char *path = arena_printf(arena, "%s/box-%ld", tmp, (long)getpid());
    char *real;

    box_test_find_program();
    assert_int_equal(system(arena_printf(arena, "cp '%s' '%s'", getenv("HONE_BOX"), path)), 0);
    setenv("HONE_BOX", path, 1);
    real = realpath(path, NULL);
    path = arena_strdup(arena, real);
    free(real);
    return path;
}

static double
resident_pages(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    double all = 0, resident = 0;

    if (file && fscanf(file, "%lf %lf", &all, &resident) != 2)
        resident = 0;
    if (file)
        fclose(file);
    return resident;
}

static void
many_verdicts_leave_nothing(void **state)
{
    struct judge_test *test = *state;
    size_t count = getenv("HONE_SOAK_VERDICTS") ? (size_t)atol(getenv("HONE_SOAK_VERDICTS")) : 1000;
    size_t files = 0, mounts = 0;
    double pages = 0;

    judge_test_task(test, twice_op, 0);
    for (size_t i = 0; i < count; i++) {
        struct arena *arena = arena_create();
        struct judge_report report;
        const char *text = i % 25 == 0 ? right : wrong;

        judge_test_must(test, judge_verdict(test->task, arena, "test.c", text, strlen(text), NULL,
                                            0, NULL, &report, test->diags));
        assert_int_equal(report.status, i % 25 == 0 ? JUDGE_CORRECT : JUDGE_WRONG);
        arena_destroy(arena);
        if (i == 100) {
            files = entries("/proc/self/fd");
            mounts = lines("/proc/self/mountinfo");
            pages = resident_pages();
        }
    }
    assert_int_equal(entries("/proc/self/fd"), files);
    assert_int_equal(lines("/proc/self/mountinfo"), mounts);
#ifndef __SANITIZE_ADDRESS__ /* it keeps freed memory for a while */
    assert_true(resident_pages() < pages + 2048);
#else
    (void)pages;
#endif
}

/* ---- killing ---- */

static void
a_killed_server_is_replaced(void **state)
{
    struct judge_test *test = *state;

    judge_test_task(test, twice_op, 0);
    for (unsigned i = 0; i < 5; i++) {
        int pids[8];
        size_t count;

        judge_test_expect(test, right, JUDGE_CORRECT);
        count = box_server_pids(test->judge->server, pids, 8);
        assert_true(count > 0);
        for (size_t k = 0; k < count; k++)
            kill(pids[k], SIGKILL);
    }
    judge_test_expect(test, right, JUDGE_CORRECT);
}

/* A child judges and is killed at some moment; soon afterwards nothing of it runs, and nothing new
 * is mounted or lies in the temporary folder. */
static void
a_killed_judge_leaves_nothing(void **state)
{
    struct arena *arena = arena_create();
    const char *box = own_box(arena);
    char tmp[] = "/tmp/hone-killed-XXXXXX";
    struct rng random = rng_stream((uint64_t)getpid(), "kill");
    size_t mounts = lines("/proc/self/mountinfo"), files;

    (void)state;
    assert_non_null(mkdtemp(tmp));
    setenv("TMPDIR", tmp, 1);
    files = entries(tmp);
    for (unsigned i = 0; i < 12; i++) {
        long microseconds = (long)rng_below(&random, 400000);
        size_t left = 1;
        pid_t child = fork();

        if (child == 0) {
            struct judge_test *test = judge_test_create();
            judge_test_task(test, twice_op, 0);
            for (;;)
                judge_test_verdict(test, right);
        }
        nanosleep(&(struct timespec){.tv_nsec = microseconds * 1000}, NULL);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        for (unsigned wait = 0; wait < 1000 && left > 0; wait++) {
            nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
            left = processes_of(box);
        }
        assert_int_equal(left, 0);
    }
    assert_int_equal(lines("/proc/self/mountinfo"), mounts);
    assert_int_equal(entries(tmp), files);
    assert_int_equal(rmdir(tmp), 0);
    unlink(box);
    arena_destroy(arena);
}

/* ---- faults ---- */

#ifdef HONE_FAULTS
/* In a child, since running out of memory may end the program. Its exit code: 0 correct, 3 our
 * fault; anything else blames the kernel. */
static int
verdict_with_fault(enum fault kind, unsigned long number)
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        struct judge_test *test = judge_test_create();
        struct judge_report report = {0};
        struct judge_setup setup = {.target = target_find("cpu"), .effort = JUDGE_QUICK};
        enum status code;

        freopen("/dev/null", "w", stderr);
        setup.lang = lang_parse(test->arena, "test.op", twice_op, strlen(twice_op), test->diags);
        fault_arm(kind, number);
        code = judge_task_open(test->judge, &setup, &test->task, test->diags);
        if (code == STATUS_OK)
            code = judge_verdict(test->task, test->arena, "test.c", right, strlen(right), NULL, 0,
                                 NULL, &report, test->diags);
        _exit(code != STATUS_OK ? status_exit_code(code) : report.status == JUDGE_CORRECT ? 0 : 1);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 100;
}

static void
no_kernel_is_blamed_for_our_faults(void **state)
{
    static const unsigned long steps[FAULT_KINDS] = {
        [FAULT_ALLOC] = 7, [FAULT_WRITE] = 1, [FAULT_FORK] = 1};
    static const unsigned long most[FAULT_KINDS] = {
        [FAULT_ALLOC] = 250, [FAULT_WRITE] = 6, [FAULT_FORK] = 8};

    (void)state;
    for (unsigned kind = 0; kind < FAULT_KINDS; kind++)
        for (unsigned long n = 1; n <= most[kind]; n += steps[kind]) {
            int code = verdict_with_fault((enum fault)kind, n);
            if (code != 0 && code != 3)
                print_message("fault %u number %lu: exit code %d\n", kind, n, code);
            assert_true(code == 0 || code == 3);
        }
}
#endif

int
main(void)
{
    const struct CMUnitTest tests[] = {
        JUDGE_TEST(many_verdicts_leave_nothing),
        JUDGE_TEST(a_killed_server_is_replaced),
#ifdef HONE_FAULTS
        cmocka_unit_test(no_kernel_is_blamed_for_our_faults),
#endif
        cmocka_unit_test(a_killed_judge_leaves_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
