/* Objects that cannot be loaded: the guest's fault if they are wrong or too large, ours if memory
 * is missing that was promised. */
#include "../box/box_test.h"

#include <dirent.h>
#include <sys/resource.h>

#define SCRATCH(megabytes)                                  \
    "static volatile char scratch[" megabytes "L << 20];\n" \
    "void kernel(const float *x, float *y) { scratch[(long)x[0]] = 1; y[0] = 7; }\n"

static struct box_end
run_limited(struct box_test *test, const char *source, size_t memory)
{
    int object = box_test_object(test, source);
    struct box_test_job made;
    struct box_end end;

    box_test_job(test, &made, object, 256);
    made.job.limits.memory = memory;
    end = box_test_run(test, &made.job);
    close(object);
    return end;
}

static void
missing_function_is_the_guests(void **state)
{
    struct box_test *test = *state;
    int object = box_test_object(test, SCRATCH("1"));
    struct box_test_job made;
    struct box_end end;

    box_test_job(test, &made, object, 256);
    made.job.function = "colonel";
    end = box_test_run(test, &made.job);
    assert_int_equal(end.ending, BOX_NOT_LOADED);
    assert_non_null(strstr(end.reason, "colonel"));
    close(object);
}

/* By its size alone, however much the machine would have given. */
static void
too_large_is_the_guests(void **state)
{
    struct box_test *test = *state;
    struct box_end end = run_limited(test, SCRATCH("3000"), 0);

    assert_int_equal(end.ending, BOX_NOT_LOADED);
    assert_non_null(strstr(end.reason, "the limit is 1048576 KB"));
    assert_int_equal(run_limited(test, SCRATCH("33"), 32 << 20).ending, BOX_NOT_LOADED);
    assert_int_equal(run_limited(test, SCRATCH("31"), 32 << 20).ending, BOX_DONE);
}

static size_t
address_space_of(int pid)
{
    size_t pages = 0;
    char path[64];
    FILE *stream;

    snprintf(path, sizeof path, "/proc/%d/statm", pid);
    stream = fopen(path, "re");
    if (stream && fscanf(stream, "%zu", &pages) != 1)
        pages = 0;
    if (stream)
        fclose(stream);
    return pages * BOX_PAGE;
}

/* The server is put under a limit of its own, which its runners cannot lift. */
static void
server_gets_no_more_than(struct box_test *test, size_t spare)
{
    int server = box_test_last_pid(test);
    size_t now = address_space_of(server);
    struct rlimit limit = {now + spare, now + spare};

    assert_true(now > 0);
    assert_int_equal(prlimit(server, RLIMIT_AS, &limit, NULL), 0);
}

static void
no_memory_to_load_is_ours(void **state)
{
    struct box_test *test = *state;
    int small = box_test_object(test, SCRATCH("1")), large = box_test_object(test, SCRATCH("64"));
    struct box_test_job made;

    box_test_fresh_server(test);
    box_test_job(test, &made, small, 256);
    assert_int_equal(box_test_run(test, &made.job).ending, BOX_DONE);
    server_gets_no_more_than(test, 32 << 20);
    assert_int_equal(box_test_run(test, &made.job).ending, BOX_DONE);
    made.job.object = large;
    box_test_fails(test, &made.job, "no memory to load the object");
    made.job.limits.memory = 32 << 20; /* now it is too large as well: the guest's */
    assert_int_equal(box_test_run(test, &made.job).ending, BOX_NOT_LOADED);
    box_test_fresh_server(test);
    made.job.limits.memory = 0;
    assert_int_equal(box_test_run(test, &made.job).ending, BOX_DONE);
    close(small);
    close(large);
}

/* The same when the buffers find no room. */
static void
no_memory_for_regions_is_ours(void **state)
{
    struct box_test *test = *state;
    int object = box_test_object(test, SCRATCH("1"));
    struct box_memory *memory;
    struct box_test_job made;

    assert_int_equal(box_memory_create(test->box, 64 << 20, &memory, test->diags), STATUS_OK);
    box_test_fresh_server(test);
    box_test_job(test, &made, object, 256);
    assert_int_equal(box_test_run(test, &made.job).ending, BOX_DONE);
    server_gets_no_more_than(test, 32 << 20);
    made.regions[0] = (struct box_region){memory, 0, 64 << 20, 0, 64 << 20, false};
    box_test_fails(test, &made.job, "a region cannot be mapped");
    box_test_fresh_server(test);
    box_memory_destroy(memory);
    close(object);
}

/* Pages that cannot be provided: the file has lost them behind our back. Only files on huge pages
 * can be shortened, the others are sealed. */
static bool
shorten_file_of(size_t bytes)
{
    DIR *folder = opendir("/proc/self/fd");
    bool shortened = false;

    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        int fd = atoi(entry->d_name);
        struct stat facts;

        if (fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size == (off_t)bytes)
            shortened |= ftruncate(fd, 0) == 0;
    }
    closedir(folder);
    return shortened;
}

static void
no_pages_is_ours(void **state)
{
    enum { BYTES = 22 << 20 };
    struct box_test *test = *state;
    int object = box_test_object(test, SCRATCH("1"));
    struct box_memory *memory;
    struct box_test_job made;

    assert_int_equal(box_memory_create(test->box, BYTES, &memory, test->diags), STATUS_OK);
    if (shorten_file_of(BYTES)) {
        for (int writable = 0; writable < 2; writable++) {
            box_test_job(test, &made, object, 256);
            made.regions[0] = (struct box_region){memory, 0, BYTES, 0, BYTES, writable};
            box_test_fails(test, &made.job, "memory cannot be provided");
        }
    }
    box_memory_destroy(memory);
    close(object);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_function_is_the_guests),
        cmocka_unit_test(too_large_is_the_guests),
        cmocka_unit_test(no_memory_to_load_is_ours),
        cmocka_unit_test(no_memory_for_regions_is_ours),
        cmocka_unit_test(no_pages_is_ours),
    };

    return box_test_as_nobody(cmocka_run_group_tests(tests, box_test_setup, box_test_teardown));
}
