#include "base/fault.h"
#include "base/file.h"
#include "scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

static void
put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static const char *
get(struct unit *unit, const char *path)
{
    struct source source;

    assert_int_equal(file_read(unit->arena, path, 1 << 24, &source, unit->diags), STATUS_OK);
    return source.text;
}

/* Reading must fail with exactly this message. */
static void
refused(struct unit *unit, const char *path, size_t limit, const char *message)
{
    struct source source;

    unit->diags = diags_create(unit->arena, 0);
    assert_int_equal(file_read(unit->arena, path, limit, &source, unit->diags), STATUS_INPUT);
    assert_int_equal(diags_errors(unit->diags), 1);
    assert_string_equal(unit_message(unit, 0), message);
}

static void
what_is_written_is_read(void **state)
{
    struct unit *unit = *state;
    char bytes[10000];

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * 7);
    for (size_t count = 0; count <= sizeof bytes; count += count < 4200 && count > 4000 ? 1 : 50) {
        struct source source;

        assert_int_equal(file_write("f", bytes, count, unit->diags), STATUS_OK);
        assert_int_equal(file_read(unit->arena, "f", count, &source, unit->diags), STATUS_OK);
        assert_int_equal(source.length, count);
        assert_memory_equal(source.text, bytes, count);
        assert_int_equal(source.text[count], 0);
        assert_string_equal(source.path, "f");
    }
    assert_int_equal(scratch_count("."), 1);
}

static void
limits_hold(void **state)
{
    struct unit *unit = *state;
    struct source source;

    put("f", "12345");
    assert_int_equal(file_read(unit->arena, "f", 5, &source, unit->diags), STATUS_OK);
    refused(unit, "f", 4, "f: too large; at most 4 bytes are read");
    assert_int_equal(file_read(unit->arena, "f", SIZE_MAX, &source, unit->diags), STATUS_OK);
}

/* It says that it has 0 bytes. */
static void
files_that_hide_their_size_are_read(void **state)
{
    struct unit *unit = *state;

    assert_true(strlen(get(unit, "/proc/self/maps")) > 500);
}

static void
refusals_say_what_to_do(void **state)
{
    struct unit *unit = *state;

    mkdir("folder", 0777);
    mkfifo("pipe", 0666);
    refused(unit, "folder", 100, "folder: is a folder; name a file in it");
    refused(unit, "pipe", 100, "pipe: not a regular file; save it to one first");
    refused(unit, "nothing.op", 100, "nothing.op: no such file");
    refused(unit, "no/such/folder.op", 100, "no/such/folder.op: no such file");
    refused(unit, "", 100, ": no such file");
    if (geteuid() != 0) {
        put("secret", "x");
        chmod("secret", 0);
        refused(unit, "secret", 100, "secret: cannot be read (permission denied)");
    }
}

static void
the_file_that_was_meant_is_named(void **state)
{
    struct unit *unit = *state;

    mkdir("examples", 0777);
    put("examples/softmax.op", "op softmax");
    put("mine.op", "op mine");
    refused(unit, "softmax.op", 100, "softmax.op: no such file; did you mean examples/softmax.op?");
    refused(unit, "sofmtax.op", 100, "sofmtax.op: no such file; did you mean examples/softmax.op?");
    refused(unit, "examples/sotfmax.op", 100,
            "examples/sotfmax.op: no such file; did you mean examples/softmax.op?");
    refused(unit, "mnie.op", 100, "mnie.op: no such file; did you mean mine.op?");
    refused(unit, "other/softmax.op", 100,
            "other/softmax.op: no such file; did you mean examples/softmax.op?");
    refused(unit, "mine.op/x.op", 100, "mine.op/x.op: no such file");
    refused(unit, "quite_different.op", 100, "quite_different.op: no such file");
}

static void
links_and_modes_survive_writing(void **state)
{
    struct unit *unit = *state;
    struct stat facts;

    mkdir("there", 0777);
    put("there/target", "old");
    chmod("there/target", 0640);
    assert_int_equal(symlink("there/target", "link"), 0);
    assert_int_equal(file_write("link", "new", 3, unit->diags), STATUS_OK);
    assert_int_equal(lstat("link", &facts), 0);
    assert_true(S_ISLNK(facts.st_mode));
    assert_string_equal(get(unit, "there/target"), "new");
    assert_int_equal(stat("there/target", &facts), 0);
    assert_int_equal(facts.st_mode & 0777, 0640);
    assert_int_equal(scratch_count("there"), 1);
}

static void *
read_pipe(void *text)
{
    int fd = open("pipe", O_RDONLY);
    ssize_t got = read(fd, text, 99);

    close(fd);
    return got == 5 ? text : NULL;
}

/* Renaming over /dev/null would break the machine of whoever runs us as root. */
static void
pipes_and_devices_are_written_in_place(void **state)
{
    struct unit *unit = *state;
    char text[100] = "";
    struct stat facts;
    pthread_t reader;
    void *result;

    assert_int_equal(mkfifo("pipe", 0666), 0);
    assert_int_equal(pthread_create(&reader, NULL, read_pipe, text), 0);
    assert_int_equal(file_write("pipe", "hello", 5, unit->diags), STATUS_OK);
    pthread_join(reader, &result);
    assert_ptr_equal(result, text);
    assert_string_equal(text, "hello");
    assert_int_equal(file_write("/dev/null", "x", 1, unit->diags), STATUS_OK);
    assert_true(stat("/dev/null", &facts) == 0 && S_ISCHR(facts.st_mode));
}

static void
cannot_write(struct unit *unit, const char *path, enum status status, const char *message)
{
    unit->diags = diags_create(unit->arena, 0);
    assert_int_equal(file_write(path, "x", 1, unit->diags), status);
    assert_string_equal(unit_message(unit, 0), message);
}

static void
failures_of_writing_are_explained(void **state)
{
    struct unit *unit = *state;

    mkdir("folder", 0777);
    put("file", "x");
    cannot_write(unit, "folder", STATUS_INPUT, "folder: cannot be written (is a directory)");
    cannot_write(unit, "no/file", STATUS_INPUT,
                 "no/file: cannot be written, its folder does not exist; make it first");
    cannot_write(unit, "file/x", STATUS_INPUT, "file/x: cannot be written (not a directory)");
    cannot_write(unit, "/dev/full", STATUS_MACHINE,
                 "/dev/full: cannot be written (no space left on device)");
    if (geteuid() != 0) {
        chmod("file", 0444);
        cannot_write(unit, "file", STATUS_INPUT, "file: cannot be written (permission denied)");
    }
}

/* Whichever step fails, the old content stays, nothing else is left and no descriptor is lost. */
static void
writing_is_all_or_nothing(void **state)
{
    struct unit *unit = *state;
    int before = scratch_open_files();
    enum status status;
    unsigned long n = 0;

    put("f", "old");
    do {
        unit->diags = diags_create(unit->arena, 0);
        fault_arm(FAULT_WRITE, ++n);
        status = file_write("f", "new", 3, unit->diags);
        fault_arm(FAULT_WRITE, 0);
        assert_string_equal(get(unit, "f"), status == STATUS_OK ? "new" : "old");
        assert_int_equal(scratch_count("."), 1);
        assert_int_equal(diags_errors(unit->diags), status == STATUS_OK ? 0 : 1);
        assert_true(status == STATUS_OK || status == STATUS_MACHINE);
    } while (status != STATUS_OK);
    assert_int_equal(n, 4); /* creating, writing and renaming failed, then nothing did */
    assert_int_equal(scratch_open_files(), before);
}

/* The arena may jump out of the middle of reading: no descriptor may be lost. */
static void
reading_survives_lack_of_memory(void **state)
{
    struct unit *unit = *state;
    volatile int before = scratch_open_files(), done = 0;
    volatile unsigned long n = 0;

    while (!done) {
        struct arena *volatile arena = arena_create();
        struct diags *diags = diags_create(arena, 0);
        jmp_buf no_memory;
        struct source source;

        if (setjmp(no_memory) == 0) {
            arena_on_no_memory(arena, &no_memory);
            fault_arm(FAULT_ALLOC, ++n);
            file_read(arena, "/proc/self/maps", 1 << 20, &source, diags);
            file_read(arena, "missing", 100, &source, diags);
            done = 1;
        }
        fault_arm(FAULT_ALLOC, 0);
        arena_destroy(arena);
    }
    (void)unit;
    assert_true(n > 5);
    assert_int_equal(scratch_open_files(), before);
}

static void
folders_are_made_with_their_parents(void **state)
{
    struct unit *unit = *state;
    struct stat facts;

    assert_int_equal(file_make_folder("a/b//c/", unit->diags), STATUS_OK);
    assert_int_equal(file_make_folder("a/b", unit->diags), STATUS_OK);
    assert_int_equal(file_make_folder("/", unit->diags), STATUS_OK);
    assert_true(stat("a/b/c", &facts) == 0 && S_ISDIR(facts.st_mode));
    assert_int_equal(diags_count(unit->diags), 0);
    put("file", "");
    assert_int_equal(file_make_folder("file/x", unit->diags), STATUS_INPUT);
    assert_string_equal(unit_message(unit, 0),
                        "file/x: the folder cannot be made (not a directory)");
    assert_int_equal(file_make_folder("", unit->diags), STATUS_INPUT);
}

static void
the_cache_is_where_the_environment_says(void **state)
{
    struct unit *unit = *state;
    char *here = getcwd(NULL, 0), *shared;
    struct stat facts;

    setenv("XDG_CACHE_HOME", arena_printf(unit->arena, "%s/cache", here), 1);
    setenv("HOME", arena_printf(unit->arena, "%s/home", here), 1);
    assert_string_equal(file_cache_folder(unit->arena),
                        arena_printf(unit->arena, "%s/cache/hone", here));
    assert_true(stat("cache/hone", &facts) == 0 && (facts.st_mode & 0777) == 0700);
    setenv("XDG_CACHE_HOME", "relative", 1);
    assert_string_equal(file_cache_folder(unit->arena),
                        arena_printf(unit->arena, "%s/home/.cache/hone", here));
    put("file", "");
    setenv("HOME", arena_printf(unit->arena, "%s/file", here), 1);
    assert_null(file_cache_folder(unit->arena));
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    shared = arena_printf(unit->arena, "/tmp/hone-%ld", (long)getuid());
    assert_string_equal(file_cache_folder(unit->arena), shared);
    rmdir(shared);
    free(here);
}

static void
paths_are_joined_and_split(void **state)
{
    struct unit *unit = *state;

    assert_string_equal(file_join(unit->arena, "a", "b"), "a/b");
    assert_string_equal(file_join(unit->arena, "a/", "b"), "a/b");
    assert_string_equal(file_join(unit->arena, "", "b"), "b");
    assert_string_equal(file_join(unit->arena, "a", "/b"), "/b");
    assert_string_equal(file_join(unit->arena, "/", "b"), "/b");
    assert_string_equal(file_folder_of(unit->arena, "a/b/c"), "a/b");
    assert_string_equal(file_folder_of(unit->arena, "c"), ".");
    assert_string_equal(file_folder_of(unit->arena, "/c"), "/");
    assert_string_equal(file_folder_of(unit->arena, ""), ".");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(what_is_written_is_read),
        SCRATCH_TEST(limits_hold),
        SCRATCH_TEST(files_that_hide_their_size_are_read),
        SCRATCH_TEST(refusals_say_what_to_do),
        SCRATCH_TEST(the_file_that_was_meant_is_named),
        SCRATCH_TEST(links_and_modes_survive_writing),
        SCRATCH_TEST(pipes_and_devices_are_written_in_place),
        SCRATCH_TEST(failures_of_writing_are_explained),
        SCRATCH_TEST(writing_is_all_or_nothing),
        SCRATCH_TEST(reading_survives_lack_of_memory),
        SCRATCH_TEST(folders_are_made_with_their_parents),
        SCRATCH_TEST(the_cache_is_where_the_environment_says),
        UNIT_TEST(paths_are_joined_and_split),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
