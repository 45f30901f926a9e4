#include "base/fault.h"
#include "base/proc.h"
#include "scratch.h"

#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

static double
now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* A line of shell, with the rest of the request as given. */
static struct proc_result
shell(struct unit *unit, const char *line, struct proc_request request)
{
    const char *argv[] = {"sh", "-c", line, NULL};
    struct proc_result result;

    request.argv = argv;
    assert_int_equal(proc_run(unit->arena, &request, &result), STATUS_OK);
    return result;
}

static void
output_and_exit_code_are_collected(void **state)
{
    struct unit *unit = *state;
    struct proc_result result =
        shell(unit, "echo out; echo err >&2; exit 7", (struct proc_request){0});

    assert_string_equal(result.out, "out\n");
    assert_string_equal(result.err, "err\n");
    assert_int_equal(result.out_length, 4);
    assert_int_equal(result.err_length, 4);
    assert_int_equal(result.exit_code, 7);
    assert_int_equal(result.signal, 0);
    assert_int_equal(result.timed_out, 0);
}

static void
a_signal_is_told(void **state)
{
    struct unit *unit = *state;
    struct proc_result result = shell(unit, "kill -SEGV $$", (struct proc_request){0});

    assert_int_equal(result.exit_code, -1);
    assert_int_equal(result.signal, SIGSEGV);
}

static void
no_shell_sees_the_arguments(void **state)
{
    struct unit *unit = *state;
    const char *const argv[] = {"printf", "%s|", "a b", "$HOME", "*", "\"", "", NULL};
    const struct proc_request request = {.argv = argv};
    struct proc_result result;

    assert_int_equal(proc_run(unit->arena, &request, &result), STATUS_OK);
    assert_string_equal(result.out, "a b|$HOME|*|\"||");
}

/* More than a pipe holds, in both directions at once: neither side may wait for the other. */
static void
large_input_and_output_do_not_block(void **state)
{
    struct unit *unit = *state;
    size_t size = 3 << 20;
    char *input = arena_alloc(unit->arena, size);
    struct proc_request request = {
        .input = input, .input_length = size, .output_limit = size, .seconds = 60};
    struct proc_result result;

    for (size_t i = 0; i < size; i++)
        input[i] = (char)(i * i >> 3);
    result = shell(unit, "tee /dev/stderr", request);
    assert_int_equal(result.exit_code, 0);
    assert_int_equal(result.out_length, size);
    assert_int_equal(result.err_length, size);
    assert_memory_equal(result.out, input, size);
    assert_memory_equal(result.err, input, size);
}

static void
without_input_it_is_empty(void **state)
{
    struct unit *unit = *state;
    struct proc_result result = shell(unit, "wc -c", (struct proc_request){.seconds = 10});

    assert_int_equal(atoi(result.out), 0);
}

static void
a_child_need_not_read_its_input(void **state)
{
    struct unit *unit = *state;
    char *input = arena_alloc(unit->arena, 1 << 20);
    struct proc_result result =
        shell(unit, "exec <&-; echo done",
              (struct proc_request){.input = input, .input_length = 1 << 20, .seconds = 10});

    assert_string_equal(result.out, "done\n");
}

/* What is beyond the limit is dropped, but the child goes on to its end. */
static void
output_is_cut_at_the_limit(void **state)
{
    struct unit *unit = *state;
    struct proc_result result =
        shell(unit, "head -c 5000000 /dev/zero | tr '\\0' x; echo end >&2; exit 3",
              (struct proc_request){.output_limit = 1000, .seconds = 30});

    assert_int_equal(result.out_length, 1000);
    assert_int_equal(strlen(result.out), 1000);
    assert_string_equal(result.err, "end\n");
    assert_int_equal(result.exit_code, 3);
}

static void
the_default_limit_is_a_megabyte(void **state)
{
    struct unit *unit = *state;
    struct proc_result result =
        shell(unit, "head -c 3000000 /dev/zero", (struct proc_request){.seconds = 30});

    assert_int_equal(result.out_length, 1 << 20);
}

/* The whole group must be gone: the grandchild would write the file. */
static void
time_limits_end_the_group(void **state)
{
    struct unit *unit = *state;
    double start = now();
    struct proc_result result = shell(unit, "echo begun; (sleep 1; echo >survived) & sleep 60",
                                      (struct proc_request){.seconds = 0.3});

    assert_int_equal(result.timed_out, 1);
    assert_int_equal(result.exit_code, -1);
    assert_int_equal(result.signal, SIGKILL);
    assert_string_equal(result.out, "begun\n");
    assert_true(now() - start < 30);
    usleep(1200 * 1000);
    assert_int_not_equal(access("survived", F_OK), 0);
}

static void
endless_output_does_not_escape_the_limit(void **state)
{
    struct unit *unit = *state;
    double start = now();
    struct proc_result result = shell(unit, "exec cat /dev/zero",
                                      (struct proc_request){.seconds = 0.3, .output_limit = 100});

    assert_int_equal(result.timed_out, 1);
    assert_int_equal(result.out_length, 100);
    assert_true(now() - start < 30);
}

/* A daemon keeps the pipes open; the result is due when the program itself has ended. */
static void
a_grandchild_is_not_waited_for(void **state)
{
    struct unit *unit = *state;
    double start = now();
    struct proc_result result =
        shell(unit, "sleep 30 & echo $!", (struct proc_request){.seconds = 20});

    assert_int_equal(result.timed_out, 0);
    assert_int_equal(result.exit_code, 0);
    assert_true(now() - start < 15);
    kill(atoi(result.out), SIGKILL);
}

static void
closed_outputs_are_no_end(void **state)
{
    struct unit *unit = *state;
    struct proc_result result =
        shell(unit, "exec >&- 2>&-; sleep 0.2; exit 5", (struct proc_request){.seconds = 20});

    assert_int_equal(result.exit_code, 5);
}

static void
the_folder_is_the_childs_alone(void **state)
{
    struct unit *unit = *state;
    struct proc_result result;

    assert_int_equal(mkdir("inner", 0777), 0);
    result = shell(unit, "pwd", (struct proc_request){.folder = "inner"});
    assert_non_null(strstr(result.out, "/inner\n"));
    assert_int_equal(access("inner", F_OK), 0);
}

/* The program may ignore SIGPIPE or block signals; its children start with the usual ones. */
static void
signals_are_reset(void **state)
{
    struct unit *unit = *state;
    sigset_t set, old;
    struct proc_result result;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, &old);
    signal(SIGPIPE, SIG_IGN);
    result = shell(unit, "grep -E '^Sig(Blk|Ign):' /proc/self/status", (struct proc_request){0});
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &old, NULL);
    assert_non_null(strstr(result.out, "SigBlk:\t0000000000000000"));
    assert_int_equal(strtoull(strstr(result.out, "SigIgn:") + 7, NULL, 16) >> (SIGPIPE - 1) & 1, 0);
}

static void
not_started(struct unit *unit, const struct proc_request *request, const char *message)
{
    struct proc_result result;

    assert_int_equal(proc_run(unit->arena, request, &result), STATUS_MACHINE);
    assert_string_equal(result.err, message);
    assert_string_equal(result.out, "");
    assert_int_equal(result.err_length, strlen(message));
    assert_int_equal(result.exit_code, -1);
}

static void
failures_to_start_are_explained(void **state)
{
    struct unit *unit = *state;
    const char *const missing[] = {"no-such-program", NULL}, *const program[] = {"true", NULL};
    int before = scratch_open_files();

    not_started(unit, &(struct proc_request){.argv = missing},
                "no-such-program: cannot be started (No such file or directory)");
    not_started(unit, &(struct proc_request){.argv = program, .folder = "no-such-folder"},
                "true: cannot be started (No such file or directory)");
    fault_arm(FAULT_FORK, 1);
    not_started(unit, &(struct proc_request){.argv = program},
                "true: cannot be started (Resource temporarily unavailable)");
    assert_string_equal(shell(unit, "echo works again", (struct proc_request){0}).out,
                        "works again\n");
    assert_int_equal(scratch_open_files(), before);
}

static void
nothing_is_left_behind(void **state)
{
    struct unit *unit = *state;
    int before = scratch_open_files();

    for (int i = 0; i < 20; i++)
        shell(unit, "echo x", (struct proc_request){.input = "abc", .input_length = 3});
    assert_int_equal(scratch_open_files(), before);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

/* Memory is asked for before the child starts, so that a jump leaves no child. */
static void
lack_of_memory_leaves_no_child(void **state)
{
    volatile int before = scratch_open_files(), done = 0;
    volatile unsigned long n = 0;
    const char *const argv[] = {"echo", "x", NULL};

    (void)state;
    while (!done) {
        struct arena *volatile arena = arena_create();
        const struct proc_request request = {.argv = argv};
        struct proc_result result;
        jmp_buf no_memory;

        if (setjmp(no_memory) == 0) {
            arena_on_no_memory(arena, &no_memory);
            fault_arm(FAULT_ALLOC, ++n);
            proc_run(arena, &request, &result);
            done = 1;
        }
        fault_arm(FAULT_ALLOC, 0);
        arena_destroy(arena);
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    }
    assert_int_equal(n, 4);
    assert_int_equal(scratch_open_files(), before);
}

static void
programs_are_found_in_the_path(void **state)
{
    struct unit *unit = *state;
    char *here = getcwd(NULL, 0), *old = arena_strdup(unit->arena, getenv("PATH"));
    FILE *file;

    assert_non_null(strstr(proc_find(unit->arena, "sh"), "/sh"));
    assert_string_equal(proc_find(unit->arena, "/bin/sh"), "/bin/sh");
    assert_null(proc_find(unit->arena, "no-such-program"));
    assert_null(proc_find(unit->arena, ""));
    assert_null(proc_find(unit->arena, "/bin"));
    mkdir("one", 0777);
    mkdir("two", 0777);
    mkdir("two/tool", 0777); /* a folder of that name is no program */
    mkdir("three", 0777);
    for (int i = 0; i < 2; i++) {
        file = fopen(i ? "three/tool" : "one/tool", "w");
        assert_non_null(file);
        fclose(file);
    }
    chmod("three/tool", 0755);
    setenv("PATH", arena_printf(unit->arena, "%s/one:%s/two::%s/three", here, here, here), 1);
    assert_string_equal(proc_find(unit->arena, "tool"),
                        arena_printf(unit->arena, "%s/three/tool", here));
    setenv("PATH", old, 1);
    free(here);
}

static void
two_at_once_are_looked_after_without_waiting(void **state)
{
    struct unit *unit = *state;
    const char *slow[] = {"sh", "-c", "echo begun; sleep 60", NULL};
    const char *quick[] = {"sh", "-c", "cat; exit 3", NULL};
    struct proc_result results[2];
    struct proc *procs[2] = {
        proc_start(unit->arena, &(struct proc_request){.argv = slow}, &results[0]),
        proc_start(unit->arena,
                   &(struct proc_request){.argv = quick, .input = "in", .input_length = 2},
                   &results[1])};
    int fds[2];

    assert_non_null(procs[0]);
    assert_int_equal(proc_fds(procs[0], fds), 2);
    while (!proc_step(procs[1]) || proc_out_length(procs[0]) == 0)
        assert_false(proc_step(procs[0]));
    proc_end(procs[0], &results[0]);
    proc_end(procs[1], &results[1]);
    assert_int_equal(results[0].signal, SIGKILL);
    assert_false(results[0].timed_out);
    assert_string_equal(results[0].out, "begun\n");
    assert_int_equal(results[1].exit_code, 3);
    assert_string_equal(results[1].out, "in");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(two_at_once_are_looked_after_without_waiting),
        UNIT_TEST(output_and_exit_code_are_collected),
        UNIT_TEST(a_signal_is_told),
        UNIT_TEST(no_shell_sees_the_arguments),
        UNIT_TEST(large_input_and_output_do_not_block),
        UNIT_TEST(without_input_it_is_empty),
        UNIT_TEST(a_child_need_not_read_its_input),
        UNIT_TEST(output_is_cut_at_the_limit),
        UNIT_TEST(the_default_limit_is_a_megabyte),
        SCRATCH_TEST(time_limits_end_the_group),
        UNIT_TEST(endless_output_does_not_escape_the_limit),
        UNIT_TEST(a_grandchild_is_not_waited_for),
        UNIT_TEST(closed_outputs_are_no_end),
        SCRATCH_TEST(the_folder_is_the_childs_alone),
        UNIT_TEST(signals_are_reset),
        UNIT_TEST(failures_to_start_are_explained),
        UNIT_TEST(nothing_is_left_behind),
        UNIT_TEST(lack_of_memory_leaves_no_child),
        SCRATCH_TEST(programs_are_found_in_the_path),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
