/* Every task that a LIST of suites/ names: it is accepted without a word, has a case `small`, and
 * its work and speed of light are finite. Of a sample the small case is evaluated: the interpreter
 * and the compiled reference must agree. Whether the tasks mean what they say is for suite_torch.c.
 */
#include "unit.h"

#include "base/file.h"
#include "lang/lang.h"
#include "task/task.h"

#include <math.h>
#include <stdlib.h>

#define SAMPLE 20 /* every twentieth task is evaluated, */
#define STAGES 40 /* unless it has more stages: gcc takes long for whole networks */

static const struct {
    const char *folder;
    size_t tasks;
} suites[] = {
    {"kernelbench/1", 100},
    {"kernelbench/2", 100},
    {"kernelbench/3", 50},
    {"kernelbench-train/1", 1},
    {"kernelbench-train/2", 11},
    {"kernelbench-train/3", 19},
    {"backward", 25},
    {"fused", 22},
    {"attention", 16},
    {"odd", 21},
    {"low-precision", 17},
};
#define SUITES (sizeof suites / sizeof *suites)

/* ---- the lists ---- */

/* The paths of a suite's tasks, from the second word of each line of its LIST. */
static const char **
list_tasks(struct unit *unit, const char *suite, size_t *count)
{
    enum { MOST = 1000 };
    const char *root = getenv("ROOT");
    const char *folder = arena_printf(unit->arena, "%s/suites/%s", root ? root : ".", suite);
    const char **paths = arena_array(unit->arena, MOST, sizeof *paths);
    const char *list = file_join(unit->arena, folder, "LIST");
    struct source source;
    char *rest;

    *count = 0;
    assert_int_equal(file_read(unit->arena, list, 1 << 20, &source, unit->diags), STATUS_OK);
    char *text = arena_printf(unit->arena, "%s", source.text);
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char name[200];
        if (line[0] == '#')
            continue;
        assert_int_equal(sscanf(line, "%*u %199s", name), 1);
        assert_true(*count < MOST);
        paths[(*count)++] = file_join(unit->arena, folder, name);
    }
    return paths;
}

static struct lang *
open_task(struct unit *unit, const char *path)
{
    struct lang *lang = lang_open(unit->arena, path, unit->diags);

    if (!lang)
        fail_msg("%s", unit_printed(unit, false));
    return lang;
}

static struct program *
program_of(struct unit *unit, struct lang *lang, size_t number)
{
    struct program *program = lang_program(lang, number, NULL, 0, unit->diags);

    if (!program || diags_get(unit->diags, 0))
        fail_msg("%s", unit_printed(unit, false));
    return program;
}

/* The number of the case `small`. */
static size_t
small_case(struct lang *lang, const char *path)
{
    for (size_t i = 1; i < lang_case_count(lang); i++)
        if (strcmp(lang_case_name(lang, i), "small") == 0)
            return i;
    fail_msg("%s: no case small", path);
    return 0;
}

/* ---- what is true of every task ---- */

static void
check_cost(const struct program *program, const struct lang_machine *machine, const char *path)
{
    struct cost cost;
    struct light light;

    lang_cost(program, &cost);
    lang_light(program, &cost, machine, &light);
    if (!isfinite(cost.flops) || !isfinite(light.us) || light.us <= 0 || cost.bytes_out <= 0)
        fail_msg("%s: %g flops, %g us", path, cost.flops, light.us);
}

static void
every_task_is_accepted(void **state)
{
    struct unit *outer = *state;
    struct lang_machine machine;

    task_machine(outer->arena, &machine);
    for (size_t s = 0; s < SUITES; s++) {
        size_t count;
        const char **paths = list_tasks(outer, suites[s].folder, &count);
        assert_int_equal(count, suites[s].tasks);
        for (size_t i = 0; i < count; i++) {
            void *inner; /* each task in an arena of its own: networks are large */
            unit_setup(&inner);
            struct lang *lang = open_task(inner, paths[i]);
            check_cost(program_of(inner, lang, 0), &machine, paths[i]);
            check_cost(program_of(inner, lang, small_case(lang, paths[i])), &machine, paths[i]);
            unit_teardown(&inner);
        }
    }
}

/* ---- a sample, evaluated ---- */

static void
compare(const char *path, const struct lang_result *a, const struct lang_result *b)
{
    for (int64_t i = 0; i < a->tensor->count; i++) {
        double v = a->v[i], w = b->v[i];
        if (v != w && !(isnan(v) && isnan(w)) && !(fabs(v - w) <= 1e-10 * (1e-3 + fabs(v))))
            fail_msg("%s: %s[%lld] is %.17g, by the compiled reference %.17g", path,
                     a->tensor->name, (long long)i, v, w);
    }
}

static void
evaluate(struct unit *unit, const char *path)
{
    struct lang *lang = open_task(unit, path);
    struct program *program = program_of(unit, lang, small_case(lang, path));
    size_t outputs = program->output_count;

    if (program->stage_count > STAGES)
        return;
    void **inputs = task_draw_all(unit->arena, program, DRAW_NORMAL, 1);
    struct lang_result *interpreted = arena_array(unit->arena, outputs, sizeof *interpreted);
    struct lang_result *compiled = arena_array(unit->arena, outputs, sizeof *compiled);
    const void *const *given = (const void *const *)inputs;

    assert_int_equal(lang_interpret(unit->arena, program, given, interpreted), STATUS_OK);
    assert_int_equal(task_evaluate(unit->arena, program, given, compiled, unit->diags), STATUS_OK);
    for (size_t i = 0; i < outputs; i++)
        compare(path, &interpreted[i], &compiled[i]);
}

static void
small_cases_evaluate_alike(void **state)
{
    struct unit *outer = *state;
    size_t number = 0;

    for (size_t s = 0; s < SUITES; s++) {
        size_t count;
        const char **paths = list_tasks(outer, suites[s].folder, &count);
        for (size_t i = 0; i < count; i++)
            if (number++ % SAMPLE == 0) {
                void *inner;
                unit_setup(&inner);
                evaluate(inner, paths[i]);
                unit_teardown(&inner);
            }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {UNIT_TEST(every_task_is_accepted),
                                       UNIT_TEST(small_cases_evaluate_alike)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
