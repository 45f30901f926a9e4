/* What stays behind: nothing. And what happens when something is killed from outside. */
#include "../box/box_test.h"

#include "base/fault.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

#define KERNEL "void kernel(const float *x, float *y) { y[0] = x[0] + 1; }\n"

static int
count_entries(const char *folder)
{
    DIR *open = opendir(folder);
    int count = 0;

    if (!open)
        return -1;
    for (struct dirent *entry; (entry = readdir(open));)
        count += entry->d_name[0] != '.';
    closedir(open);
    return count;
}

static int
count_lines(const char *path)
{
    FILE *stream = fopen(path, "re");
    int count = 0, c;

    if (!stream)
        return -1;
    while ((c = getc(stream)) != EOF)
        count += c == '\n';
    fclose(stream);
    return count;
}

/* Processes called hone-box that live below `pid`. */
static int
count_descendants(int pid)
{
    char path[64];
    int child, count = 0;
    FILE *stream;

    snprintf(path, sizeof path, "/proc/%d/task/%d/children", pid, pid);
    stream = fopen(path, "re");
    while (stream && fscanf(stream, "%d", &child) == 1)
        count += 1 + count_descendants(child);
    if (stream)
        fclose(stream);
    return count;
}

struct state_of_machine {
    int descriptors, mounts, mappings, processes;
};

static struct state_of_machine
look(void)
{
    return (struct state_of_machine){count_entries("/proc/self/fd"),
                                     count_lines("/proc/self/mounts"),
                                     count_lines("/proc/self/maps"), count_descendants(getpid())};
}

static void
thousand_runs_leave_nothing(void **state)
{
    struct box_test *test = *state;
    int object = box_test_object(test, KERNEL);
    struct state_of_machine before, after;
    struct box_test_job made;

    box_test_job(test, &made, object, 256);
    box_test_run(test, &made.job);
    before = look();
    for (int i = 0; i < 1000; i++) {
        float *x = box_test_data(test, &made.regions[0]);

        x[0] = (float)i;
        assert_int_equal(box_test_run(test, &made.job).ending, BOX_DONE);
        assert_true(box_test_data(test, &made.regions[1])[0] == (float)(i + 1));
    }
    after = look();
    assert_int_equal(before.descriptors, after.descriptors);
    assert_int_equal(before.mounts, after.mounts);
    assert_int_equal(before.processes, after.processes);
    assert_in_range(after.mappings, 0, before.mappings + 4);
    close(object);
}

static void
stopping_leaves_nothing(void **state)
{
    struct state_of_machine before, after;

    (void)state;
    before = look();
    for (int i = 0; i < 5; i++) {
        struct box_test *test = box_test_create(NULL);
        struct box_test_job made;
        int object;

        assert_non_null(test);
        object = box_test_object(test, KERNEL);
        box_test_job(test, &made, object, 256);
        assert_int_equal(box_test_run(test, &made.job).ending, BOX_DONE);
        close(object);
        box_test_destroy(test);
    }
    after = look();
    assert_int_equal(before.descriptors, after.descriptors);
    assert_int_equal(before.mounts, after.mounts);
    assert_int_equal(before.processes, after.processes);
}

static void
killed_server_is_replaced(void **state)
{
    struct box_test *test = *state;
    int object = box_test_object(test, KERNEL);
    struct box_test_job made;
    struct box_end end;

    box_test_job(test, &made, object, 256);
    box_test_run(test, &made.job);
    box_test_kill_server(test);
    end = box_test_run(test, &made.job);
    assert_int_equal(end.ending, BOX_DONE);
    assert_int_equal(end.replaced, 1);
    assert_int_equal(box_test_run(test, &made.job).replaced, 0);
    close(object);
}

/* Killed while the guest runs: the hooks come again, so that inputs are fresh. */
struct killer {
    struct box_test *test;
    int prepared, kills;
};

static void
note_prepare(void *context)
{
    ((struct killer *)context)->prepared++;
}

static void
kill_server(void *context)
{
    struct killer *killer = context;

    if (killer->kills-- > 0)
        box_test_kill_server(killer->test);
}

static void
killed_during_a_run(void **state)
{
    struct box_test *test = *state;
    int object =
        box_test_object(test, "void kernel(const float *x, float *y)\n"
                              "{ for (volatile long i = 0; i < 30000000; i++); y[0] = 3; }\n");
    struct killer killer = {test, 0, 1};
    struct box_test_job made;
    struct box_end end;

    box_server_stop(test->server);
    assert_int_equal(box_server_start(test->box, &test->server, test->diags), STATUS_OK);
    box_test_job(test, &made, object, 256);
    made.job.limits.wall_seconds = 20;
    made.job.mode = BOX_FUTEX;
    made.job.hooks = (struct box_hooks){&killer, note_prepare, kill_server, NULL, NULL};
    end = box_test_run(test, &made.job);
    assert_int_equal(end.ending, BOX_DONE);
    assert_int_equal(end.replaced, 1);
    assert_int_equal(killer.prepared, 2);
    killer.kills = 100;
    assert_int_equal(box_run(test->server, &made.job, &end, test->diags), STATUS_MACHINE);
    close(object);
}

/* The whole program killed in the middle of its work: all it started must be gone soon after. We
 * are the reaper of what it leaves, so that it can be counted. */
static void
kill_and_count(void (*work)(struct box_test *test), struct box_test *test)
{
    struct timespec nap = {0, 20000000};
    int before, tries = 0;
    pid_t pid;

    prctl(PR_SET_CHILD_SUBREAPER, 1);
    before = count_descendants(getpid());
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        work(test);
        _exit(0);
    }
    while (count_descendants(pid) < 2 && tries++ < 500) /* hone-box, and what it has started */
        nanosleep(&nap, NULL);
    assert_true(count_descendants(pid) >= 2);
    nanosleep(&(struct timespec){0, 200000000}, NULL);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    for (tries = 0; tries < 500; tries++) {
        while (waitpid(-1, NULL, WNOHANG) > 0)
            continue;
        if (count_descendants(getpid()) <= before)
            break;
        nanosleep(&nap, NULL);
    }
    assert_int_equal(count_descendants(getpid()), before);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
}

static void
run_for_ever(struct box_test *test)
{
    int object = box_test_object(test, "void kernel(const float *x, float *y)\n"
                                       "{ for (;;) __asm__ volatile(\"\"); }\n");
    struct box_test_job made;
    struct box_end end;

    box_server_start(test->box, &test->server, test->diags);
    box_test_job(test, &made, object, 256);
    made.job.limits.wall_seconds = 100;
    box_run(test->server, &made.job, &end, test->diags);
}

static void
compile_for_long(struct box_test *test)
{
    static const char source[] = "#define A(x) x x x x x x x x\n#define B(x) A(A(A(A(A(A(x))))))\n"
                                 "int f(int a) { B(if (a == __COUNTER__) a *= 3;) return a; }\n";
    struct box_compile_request request = {
        .compiler = "gcc",
        .flags = box_test_flags,
        .source = {"kernel.c", source, sizeof source - 1},
        .exports = box_test_exports,
        .limits = {.wall_seconds = 100, .cpu_seconds = 100},
    };
    struct box_compile_result result;

    box_compile(test->box, test->arena, &request, &result, test->diags);
}

static void
client_killed_leaves_nothing(void **state)
{
    kill_and_count(run_for_ever, *state);
    kill_and_count(compile_for_long, *state);
}

static void
client_killed_without_walls(void **state)
{
    struct box_options options = {.without = 1u << BOX_MOUNTNS};
    struct box_test *test = box_test_create(&options);

    (void)state;
    assert_non_null(test);
    kill_and_count(run_for_ever, test);
    kill_and_count(compile_for_long, test);
    box_test_destroy(test);
}

#ifdef HONE_FAULTS
/* The n-th allocation or process refused: a fault of ours each time, then all is well again. */
static void
faults_are_ours(void **state)
{
    struct box_test *test = *state;
    int object = box_test_object(test, KERNEL);
    struct box_test_job made;
    int failed = 0;

    box_test_job(test, &made, object, 256);
    for (unsigned long n = 1; n < 6; n++)
        for (int kind = 0; kind < 2; kind++) {
            struct box_server *server = NULL;
            struct box_end end;
            enum status status;

            fault_arm(kind ? FAULT_FORK : FAULT_ALLOC, n);
            status = box_server_start(test->box, &server, test->diags);
            if (status == STATUS_OK)
                status = box_run(server, &made.job, &end, test->diags);
            fault_arm(kind ? FAULT_FORK : FAULT_ALLOC, 0);
            if (status == STATUS_OK)
                assert_int_equal(end.ending, BOX_DONE);
            else
                assert_int_equal(status, STATUS_MACHINE);
            failed += status != STATUS_OK;
            box_server_stop(server);
        }
    assert_true(failed >= 3);
    assert_int_equal(box_test_run(test, &made.job).ending, BOX_DONE);
    close(object);
}

static void
no_memory_for_buffers(void **state)
{
    struct box_test *test = *state;
    struct box_memory *memory;

    for (unsigned long n = 1; n <= 2; n++) {
        fault_arm(FAULT_ALLOC, n);
        assert_int_equal(box_memory_create(test->box, 4096, &memory, test->diags), STATUS_MACHINE);
        fault_arm(FAULT_ALLOC, 0);
        assert_null(memory);
    }
    assert_int_equal(box_memory_create(test->box, (size_t)1 << 50, &memory, test->diags),
                     STATUS_MACHINE);
}
#endif

static void
probe_says_what_is_missing(void **state)
{
    struct box_test *test = *state;
    const struct box_machine *machine = box_machine(test->box);

    for (int i = 0; i < BOX_FEATURE_COUNT; i++) {
        bool has = machine->features >> i & 1;

        assert_true(has == (machine->missing[i] == NULL));
        if (!has) {
            assert_non_null(strstr(machine->missing[i], box_feature_name((enum box_feature)i)));
            print_message("# %s\n", machine->missing[i]);
        }
    }
}

/* The lower rungs of the ladder, on whatever machine this is: they run, and say what is open. */
static void
lower_rungs(void **state)
{
    static const uint32_t without[] = {
        1u << BOX_USERNS, 1u << BOX_MOUNTNS,
        1u << BOX_PTRACE, 1u << BOX_LANDLOCK,
        1u << BOX_HUGE,   1u << BOX_MOUNTNS | 1u << BOX_LANDLOCK | 1u << BOX_PTRACE};

    (void)state;
    for (size_t i = 0; i < sizeof without / sizeof without[0]; i++) {
        struct box_options options = {.without = without[i]};
        struct box_test *test = box_test_create(&options);
        struct box_test_job made;
        struct box_end end;
        int object;

        assert_non_null(test);
        assert_int_equal(box_machine(test->box)->features & without[i], 0);
        object = box_test_object(test, KERNEL);
        box_test_job(test, &made, object, 256);
        assert_int_equal(box_test_run(test, &made.job).ending, BOX_DONE);
        close(object);
        object = box_test_object(test, "void kernel(const float *x, float *y) { y[64] = 1; }\n");
        made.job.object = object;
        end = box_test_run(test, &made.job);
        assert_int_equal(end.ending, BOX_CRASHED);
        close(object);
        box_test_destroy(test);
    }
}

static void
without_a_filter_nothing_runs(void **state)
{
    struct unit *unit;
    struct box_options options = {.without = 1u << BOX_SECCOMP};
    struct box_server *server;
    struct box *box;

    unit_setup((void **)&unit);
    (void)state;
    assert_int_equal(box_open(&options, &box, unit->diags), STATUS_OK);
    assert_int_equal(box_machine(box)->level, BOX_NONE);
    assert_int_equal(box_server_start(box, &server, unit->diags), STATUS_MACHINE);
    box_close(box);
    arena_destroy(unit->arena);
}

static void
unsafe_runs_without_a_filter(void **state)
{
    struct box_options options = {.without = 1u << BOX_SECCOMP, .unsafe = true};
    struct box_test *test = box_test_create(&options);
    struct box_test_job made;
    int object;

    (void)state;
    assert_non_null(test);
    assert_int_equal(box_machine(test->box)->level, BOX_NONE);
    object = box_test_object(test, KERNEL);
    box_test_job(test, &made, object, 256);
    assert_int_equal(box_test_run(test, &made.job).ending, BOX_DONE);
    close(object);
    box_test_destroy(test);
}

static void
missing_program(void **state)
{
    char *kept = strdup(getenv("HONE_BOX"));
    struct unit *unit;
    struct box *box;

    (void)state;
    unit_setup((void **)&unit);
    setenv("HONE_BOX", "/nowhere/hone-box", 1);
    assert_int_equal(box_open(NULL, &box, unit->diags), STATUS_MACHINE);
    assert_non_null(strstr(unit_message(unit, 0), "HONE_BOX"));
    setenv("HONE_BOX", "/bin/true", 1);
    assert_int_equal(box_open(NULL, &box, unit->diags), STATUS_MACHINE);
    setenv("HONE_BOX", kept, 1);
    free(kept);
    arena_destroy(unit->arena);
}

/* A box serves several threads, each with its own server. */
static void *
run_many(void *argument)
{
    struct box_test *test = argument;
    struct box_server *server = NULL;
    struct arena *arena = arena_create();
    struct diags *diags = diags_create(arena, 0);
    struct box_compile_request request = {.compiler = "gcc",
                                          .flags = box_test_flags,
                                          .source = {"kernel.c", KERNEL, strlen(KERNEL)},
                                          .exports = box_test_exports};
    struct box_compile_result built = {.object = -1};
    struct box_test_job made;
    struct box_end end;
    size_t done = 0;

    if (box_server_start(test->box, &server, diags) == STATUS_OK &&
        box_compile(test->box, arena, &request, &built, diags) == STATUS_OK) {
        box_test_job(test, &made, built.object, 256);
        made.job.mode = BOX_FUTEX;
        while (done < 50 && box_run(server, &made.job, &end, diags) == STATUS_OK &&
               end.ending == BOX_DONE)
            done++;
    }
    box_server_stop(server);
    close(built.object);
    arena_destroy(arena);
    return (void *)done;
}

static void
threads_have_their_own_servers(void **state)
{
    pthread_t threads[4];

    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_many, *state), 0);
    for (size_t i = 0; i < 4; i++) {
        void *done;

        assert_int_equal(pthread_join(threads[i], &done), 0);
        assert_int_equal((size_t)done, 50);
    }
}

static void
buffers_are_staggered(void **state)
{
    (void)state;
    assert_int_equal(box_stagger(0, 0), 0);
    assert_int_equal(box_stagger(1, 0), 2 << 20);
    for (size_t i = 1; i < 40; i++) {
        size_t at = box_stagger(i * 12345678, i);

        assert_true(at >= i * 12345678 && at % BOX_PAGE == 0);
        assert_int_equal(at % (2 << 20), i * 85 * BOX_PAGE % (2 << 20));
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probe_says_what_is_missing),
        cmocka_unit_test(thousand_runs_leave_nothing),
        cmocka_unit_test(stopping_leaves_nothing),
        cmocka_unit_test(killed_server_is_replaced),
        cmocka_unit_test(killed_during_a_run),
        cmocka_unit_test(client_killed_leaves_nothing),
        cmocka_unit_test(client_killed_without_walls),
#ifdef HONE_FAULTS
        cmocka_unit_test(faults_are_ours),
        cmocka_unit_test(no_memory_for_buffers),
#endif
        cmocka_unit_test(threads_have_their_own_servers),
        cmocka_unit_test(lower_rungs),
        cmocka_unit_test(without_a_filter_nothing_runs),
        cmocka_unit_test(unsafe_runs_without_a_filter),
        cmocka_unit_test(missing_program),
        cmocka_unit_test(buffers_are_staggered),
    };

    return box_test_as_nobody(cmocka_run_group_tests(tests, box_test_setup, box_test_teardown));
}
