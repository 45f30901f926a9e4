/* What the tests of the box share: a box, a compiled fixture, a run of it.
 *
 * A fixture is a small C text. It is compiled in the compile jail and run in the run jail on two
 * regions: number 0 is read-only, number 1 is writable, one page each unless a test says otherwise;
 * the function is kernel(const float *in, float *out). */
#ifndef HONE_TESTS_BOX_TEST_H
#define HONE_TESTS_BOX_TEST_H

#include "../unit/unit.h"

#include "base/text.h"
#include "box/box.h"

#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *const box_test_exports[] = {"kernel", NULL};
static const char *const box_test_flags[] = {"-O2", "-fopenmp", NULL};

struct box_test {
    struct arena *arena;
    struct diags *diags;
    struct box *box;
    struct box_server *server;
    struct box_memory *memory;
    int cpu, other_cpu; /* the guest's, and the caller's: the same where there is but one */
    int all_cpus[BOX_CPUS_MAX];
    size_t cpu_count;
};

/* Unit tests lie in BUILD/tests/unit/, hone-box in BUILD/. */
static inline void
box_test_find_program(void)
{
    char path[4096], program[4200];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);

    assert_true(length > 0);
    path[length] = '\0';
    *strrchr(path, '/') = '\0';
    snprintf(program, sizeof program, "%s/../../hone-box", path);
    setenv("HONE_BOX", program, 0);
}

static inline void
box_test_find_cpus(struct box_test *test)
{
    cpu_set_t set;

    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    for (int i = 0; i < CPU_SETSIZE && test->cpu_count < BOX_CPUS_MAX; i++)
        if (CPU_ISSET(i, &set))
            test->all_cpus[test->cpu_count++] = i;
    test->cpu = test->all_cpus[test->cpu_count - 1];
    test->other_cpu = test->all_cpus[0];
}

static inline struct box_test *
box_test_create(const struct box_options *options)
{
    struct arena *arena = arena_create();
    struct box_test *test = arena_alloc(arena, sizeof *test);

    test->arena = arena;
    test->diags = diags_create(arena, 0);
    box_test_find_program();
    box_test_find_cpus(test);
    if (box_open(options, &test->box, test->diags) != STATUS_OK ||
        box_server_start(test->box, &test->server, test->diags) != STATUS_OK ||
        box_memory_create(test->box, 1 << 20, &test->memory, test->diags) != STATUS_OK) {
        diags_print(test->diags, stderr, false);
        return NULL;
    }
    return test;
}

static inline void
box_test_destroy(struct box_test *test)
{
    box_server_stop(test->server);
    box_memory_destroy(test->memory);
    box_close(test->box);
    arena_destroy(test->arena);
}

static inline int
box_test_setup(void **state)
{
    *state = box_test_create(NULL);
    return *state ? 0 : -1;
}

static inline int
box_test_teardown(void **state)
{
    if (*state)
        box_test_destroy(*state);
    return 0;
}

static inline struct box_compile_result
box_test_compile(struct box_test *test, const char *source)
{
    struct box_compile_request request = {
        .compiler = "gcc",
        .flags = box_test_flags,
        .source = {"kernel.c", source, strlen(source)},
        .exports = box_test_exports,
    };
    struct box_compile_result result;
    enum status status = box_compile(test->box, test->arena, &request, &result, test->diags);

    if (status != STATUS_OK)
        diags_print(test->diags, stderr, false);
    assert_int_equal(status, STATUS_OK);
    return result;
}

/* An object that must build. */
static inline int
box_test_object(struct box_test *test, const char *source)
{
    struct box_compile_result result = box_test_compile(test, source);

    if (result.build != BOX_BUILT)
        print_message("%s\n%s\n", result.reason, result.diagnostics);
    assert_int_equal(result.build, BOX_BUILT);
    return result.object;
}

/* The usual job: one thread, one call, kernel(in, out) with `bytes` each at the right end. */
struct box_test_job {
    struct box_region regions[2];
    struct box_arg args[2];
    struct box_job job;
};

static inline void
box_test_job(struct box_test *test, struct box_test_job *made, int object, size_t bytes)
{
    for (size_t i = 0; i < 2; i++) {
        made->regions[i] = (struct box_region){.memory = test->memory,
                                               .offset = (2 + 4 * i) * BOX_PAGE,
                                               .span = BOX_PAGE,
                                               .lead = BOX_PAGE - bytes,
                                               .bytes = bytes,
                                               .writable = i == 1};
        made->args[i] = (struct box_arg){(uint32_t)i, 0};
    }
    made->job = (struct box_job){.object = object,
                                 .function = "kernel",
                                 .regions = made->regions,
                                 .region_count = 2,
                                 .args = made->args,
                                 .call_count = 1,
                                 .arg_count = 2,
                                 .cpus = &test->cpu,
                                 .threads = 1,
                                 .caller_cpu = -1,
                                 .mode = test->cpu_count > 1 ? BOX_SPIN : BOX_FUTEX};
}

static inline float *
box_test_data(const struct box_test *test, const struct box_region *region)
{
    return (float *)((char *)box_memory_base(test->memory) + region->offset + region->lead);
}

static inline struct box_end
box_test_run(struct box_test *test, const struct box_job *job)
{
    struct box_end end;
    enum status status = box_run(test->server, job, &end, test->diags);

    if (status != STATUS_OK)
        diags_print(test->diags, stderr, false);
    assert_int_equal(status, STATUS_OK);
    return end;
}

/* A run that must fail through no fault of the guest, with these words. */
static inline void
box_test_fails(struct box_test *test, const struct box_job *job, const char *words)
{
    struct diags *diags = diags_create(test->arena, 0);
    struct box_end end;

    if (box_run(test->server, job, &end, diags) == STATUS_OK)
        fail_msg("it ended: %s: %s", box_ending_name(end.ending), end.reason);
    assert_int_equal(diags_count(diags), 1);
    if (!strstr(diags_get(diags, 0)->message, words))
        print_message("%s\n", diags_get(diags, 0)->message);
    assert_non_null(strstr(diags_get(diags, 0)->message, words));
}

/* A fresh server, so that the first of box_server_pids() is the one of the next run. */
static inline void
box_test_fresh_server(struct box_test *test)
{
    box_server_stop(test->server);
    assert_int_equal(box_server_start(test->box, &test->server, test->diags), STATUS_OK);
}

/* The last in the line of the server's descendants: the guest while there is one, as seen from
 * outside, else the server inside its jail. */
static inline int
box_test_last_pid(const struct box_test *test)
{
    int pid = 0, child;
    char path[64];
    FILE *stream;

    box_server_pids(test->server, &pid, 1);
    assert_true(pid > 0);
    for (;; pid = child) {
        snprintf(path, sizeof path, "/proc/%d/task/%d/children", pid, pid);
        stream = fopen(path, "re");
        if (!stream || fscanf(stream, "%d", &child) != 1)
            child = 0;
        if (stream)
            fclose(stream);
        if (child == 0)
            return pid;
    }
}

/* Neither gone nor waiting for its burial. */
static inline bool
box_test_is_alive(int pid)
{
    char path[64], text[512] = "";
    const char *state;
    FILE *stream;

    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    stream = fopen(path, "re");
    if (!stream)
        return false;
    if (!fgets(text, sizeof text, stream))
        text[0] = '\0';
    fclose(stream);
    state = strrchr(text, ')');
    return state && !strchr("ZX", state[2]);
}

/* Also waits for what is in its jail, which dies with it, but not at once: on a busy machine it
 * could do one more job. */
static inline void
box_test_kill_server(const struct box_test *test)
{
    int last = box_test_last_pid(test), pid = 0;

    assert_int_equal(box_server_pids(test->server, &pid, 1), 1);
    assert_int_equal(kill(pid, SIGKILL), 0);
    while (box_test_is_alive(pid) || box_test_is_alive(last))
        nanosleep(&(struct timespec){0, 1000000}, NULL);
}

/* One thread on every CPU there is. */
static inline void
box_test_all_cpus(struct box_test *test, struct box_job *job)
{
    job->cpus = test->all_cpus;
    job->threads = test->cpu_count;
    job->mode = BOX_FUTEX;
    job->caller_cpu = test->all_cpus[0];
}

/* The same tests once more as a user without any right, where we are root. What that user cannot
 * reach (a build in a closed folder) is said and passed over. Returns the exit code for both. */
static inline int
box_test_as_nobody(int failed)
{
    enum { NOBODY = 65534 };
    char home[] = "/tmp/hone-nobody-XXXXXX", self[4096], command[64];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    int status = 0;
    pid_t pid;

    if (geteuid() != 0 || length <= 0)
        return failed;
    self[length] = '\0';
    if (!mkdtemp(home) || chown(home, NOBODY, NOBODY) != 0)
        return 1;
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        if (setgroups(0, NULL) != 0 || setresgid(NOBODY, NOBODY, NOBODY) != 0 ||
            setresuid(NOBODY, NOBODY, NOBODY) != 0)
            _exit(1);
        if (access(self, X_OK) != 0 || access(getenv("HONE_BOX"), X_OK) != 0) {
            printf("# not repeated as an ordinary user: it cannot reach %s\n", self);
            fflush(NULL);
            _exit(0);
        }
        setenv("HOME", home, 1);
        setenv("TMPDIR", home, 1);
        unsetenv("XDG_CACHE_HOME");
        execl(self, self, NULL);
        _exit(1);
    }
    waitpid(pid, &status, 0);
    snprintf(command, sizeof command, "rm -rf %s", home);
    return system(command) != 0 || failed || status != 0;
}

#endif
