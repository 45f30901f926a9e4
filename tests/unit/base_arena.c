#include "base/arena.h"
#include "base/fault.h"
#include "unit.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void
pieces_are_zero_aligned_and_apart(void **state)
{
    struct unit *unit = *state;
    char *previous = NULL;

    for (size_t size = 0; size < 3000; size += 7) {
        char *piece = arena_alloc(unit->arena, size);

        assert_int_equal((uintptr_t)piece % 16, 0);
        assert_ptr_not_equal(piece, previous);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(piece[i], 0);
        memset(piece, 0xff, size);
        previous = piece;
    }
}

/* A large piece in between must not cut the current chunk short, nor be overlapped. */
static void
large_pieces_have_their_own_chunk(void **state)
{
    struct unit *unit = *state;
    char *first = arena_alloc(unit->arena, 16);
    char *large = arena_alloc(unit->arena, 1 << 20);
    char *second = arena_alloc(unit->arena, 16);

    memset(large, 1, 1 << 20);
    assert_int_equal(second[0], 0);
    assert_true(second > first && second - first < 64);
    assert_true(arena_used(unit->arena) >= (1 << 20) + 32);
}

static void
used_counts_up(void **state)
{
    struct unit *unit = *state;
    size_t before = arena_used(unit->arena);

    arena_alloc(unit->arena, 100);
    assert_in_range(arena_used(unit->arena) - before, 100, 160);
}

static void
strings_are_copied(void **state)
{
    struct unit *unit = *state;
    char text[] = "softmax";

    char *whole = arena_strdup(unit->arena, text);
    char *part = arena_strndup(unit->arena, text, 4);
    char *more = arena_strndup(unit->arena, text, 400);
    char *made = arena_printf(unit->arena, "%s:%d", text, 17);
    char *wide = arena_printf(unit->arena, "%70000d", 5);

    text[0] = 'X';
    assert_string_equal(whole, "softmax");
    assert_string_equal(part, "soft");
    assert_string_equal(more, "softmax");
    assert_string_equal(made, "softmax:17");
    assert_int_equal(strlen(wide), 70000);
}

static void
arrays_grow(void **state)
{
    struct unit *unit = *state;
    int *numbers = arena_array(unit->arena, 3, sizeof *numbers);
    int *grown;

    for (int i = 0; i < 3; i++)
        numbers[i] = i + 1;
    grown = arena_grow(unit->arena, numbers, 3, 10, sizeof *grown);
    for (int i = 0; i < 10; i++)
        assert_int_equal(grown[i], i < 3 ? i + 1 : 0);
    assert_non_null(arena_grow(unit->arena, NULL, 0, 4, 8));
}

/* Each way to ask for more than there is must jump. */
static void
impossible_sizes_jump(void **state)
{
    struct unit *unit = *state;
    jmp_buf no_memory;
    volatile int jumps = 0;

    arena_on_no_memory(unit->arena, &no_memory);
    if (setjmp(no_memory))
        jumps++;
    if (jumps == 0)
        arena_array(unit->arena, SIZE_MAX / 2, 4);
    if (jumps == 1)
        arena_alloc(unit->arena, SIZE_MAX);
    if (jumps == 2)
        arena_alloc(unit->arena, SIZE_MAX / 2 - 1000000);
    if (jumps == 3)
        arena_grow(unit->arena, "", 1, SIZE_MAX, 3);
    assert_int_equal(jumps, 4);
    assert_non_null(arena_alloc(unit->arena, 10));
}

/* Builds something of many pieces; true if it was not interrupted. */
static int
build(struct arena *arena)
{
    jmp_buf no_memory;
    char *volatile text = NULL;

    if (setjmp(no_memory))
        return 0;
    arena_on_no_memory(arena, &no_memory);
    for (int i = 0; i < 50; i++)
        text = arena_printf(arena, "%s%d,", text ? text : "", i);
    arena_on_no_memory(arena, NULL);
    return 1;
}

static void
every_allocation_may_fail(void **state)
{
    unsigned long n = 0;
    int done;

    (void)state;
    do {
        struct arena *arena;

        fault_arm(FAULT_ALLOC, ++n);
        arena = arena_create();
        assert_int_equal(arena == NULL, n == 1);
        done = arena && build(arena);
        fault_arm(FAULT_ALLOC, 0);
        arena_destroy(arena);
    } while (!done);
    assert_int_equal(n, 52);
}

static void
without_a_jump_the_program_ends_with_3(void **state)
{
    struct unit *unit = *state;
    int status;
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        fclose(stderr);
        arena_alloc(unit->arena, SIZE_MAX / 2);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 3);
}

static void
null_may_be_destroyed(void **state)
{
    (void)state;
    arena_destroy(NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(pieces_are_zero_aligned_and_apart),
        UNIT_TEST(large_pieces_have_their_own_chunk),
        UNIT_TEST(used_counts_up),
        UNIT_TEST(strings_are_copied),
        UNIT_TEST(arrays_grow),
        UNIT_TEST(impossible_sizes_jump),
        cmocka_unit_test(every_allocation_may_fail),
        UNIT_TEST(without_a_jump_the_program_ends_with_3),
        cmocka_unit_test(null_may_be_destroyed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
