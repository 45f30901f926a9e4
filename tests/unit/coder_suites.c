/* The usual schedule of every task of the suites is legal, on machines of several kinds: a search
 * that has to begin with the plain one finds nothing near in time. */
#include "unit.h"

#include "coder/coder.h"
#include "lang/lang.h"

#include <glob.h>
#include <stdlib.h>

static const struct coder_machine machines[] = {
    {.vector_bytes = 32, .registers = 16, .threads = 2, .l1 = 32768, .l2 = 524288},
    {.vector_bytes = 64, .registers = 32, .threads = 2, .l1 = 32768, .l2 = 1048576},
    {.vector_bytes = 64, .registers = 32, .threads = 16, .l1 = 49152, .l2 = 2097152},
};

static void
try_task(const char *path, const struct coder_machine *machine)
{
    struct arena *arena = arena_create();
    struct diags *diags = diags_create(arena, 0);
    struct lang *lang = lang_open(arena, path, diags);
    struct program *program = lang ? lang_program(lang, 0, NULL, 0, diags) : NULL;
    assert_non_null(program);
    if (program->foreign == NULL) {
        struct coder_space *space = coder_space_open(arena, program, machine);
        const char *text = coder_sketch(space, &(struct coder_genome){{0}}).text;
        struct source source = {"schedule", text, strlen(text)};
        struct coder_options options = {.vector_bytes = machine->vector_bytes};
        if (coder_read(arena, program, &source, &options, diags) == NULL) {
            diags_print(diags, stderr, false);
            fail_msg("%s: the usual sketch is illegal:\n%s", path, text);
        }
    }
    arena_destroy(arena);
}

static void
usual_schedules_are_legal(void **state)
{
    struct unit *unit = *state;
    glob_t found = {0};
    const char *suites = arena_printf(unit->arena, "%s/suites", getenv("ROOT"));
    assert_int_equal(glob(arena_printf(unit->arena, "%s/*/*.op", suites), 0, NULL, &found), 0);
    assert_int_equal(
        glob(arena_printf(unit->arena, "%s/*/*/*.op", suites), GLOB_APPEND, NULL, &found), 0);
    assert_true(found.gl_pathc > 340);
    for (size_t i = 0; i < found.gl_pathc; i++) /* large ones take seconds under sanitizers */
        try_task(found.gl_pathv[i], &machines[i % (sizeof machines / sizeof *machines)]);
    globfree(&found);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {UNIT_TEST(usual_schedules_are_legal)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
