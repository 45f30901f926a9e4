/* What the unit tests share: cmocka, and an arena with messages for each test. */
#ifndef HONE_TESTS_UNIT_H
#define HONE_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"

struct unit {
    struct arena *arena;
    struct diags *diags;
};

static inline int
unit_setup(void **state)
{
    struct arena *arena = arena_create();
    struct unit *unit = arena_alloc(arena, sizeof *unit);

    unit->arena = arena;
    unit->diags = diags_create(arena, 0);
    *state = unit;
    return 0;
}

static inline int
unit_teardown(void **state)
{
    struct unit *unit = *state;

    arena_destroy(unit->arena);
    return 0;
}

/* A test function that gets a `struct unit *` as *state. */
#define UNIT_TEST(function) cmocka_unit_test_setup_teardown(function, unit_setup, unit_teardown)

/* The text of message number `i`, or "" if there are fewer. */
static inline const char *
unit_message(const struct unit *unit, size_t i)
{
    const struct diag *diag = diags_get(unit->diags, i);

    return diag ? diag->message : "";
}

/* What diags_print() writes, in the arena. */
static inline char *
unit_printed(struct unit *unit, bool colour)
{
    char *text = arena_alloc(unit->arena, 64 * 1024);
    FILE *stream = fmemopen(text, 64 * 1024, "w");

    assert_non_null(stream);
    diags_print(unit->diags, stream, colour);
    fclose(stream);
    return text;
}

#endif
