/* Every recipe from end to end with nobody but the stand-ins of its roles, on tasks of other kinds
 * than that of run_team.c: a product, and rows that the library normalises. */
#include "team_unit.h"

static const char *const programs[] = {
    "op product\ndim M=6, N=8, K=16\nin A: f32[M,K]\nin B: f32[K,N]\n"
    "C[m,n] = sum[k](A[m,k]*B[k,n])\nout C\n",
    "op rows\ndim R=5, N=40\nin X: f32[R,N]\nY = softmax(X)\nout Y\ncase odd R=3 N=37\n",
};

enum { PROGRAMS = sizeof programs / sizeof *programs, EVALUATIONS = 8 };

/* The file that is given is kept once, with its verdict. */
static void
file_is_kept(const struct played *played, const char *recipe)
{
    size_t files = 0;
    for (size_t i = 0; i < played->candidate_count; i++) {
        const struct store_candidate *one = &played->candidates[i];
        files += !strcmp(one->phase, "file") && !strcmp(one->kernel, played->result.kernel) &&
                 one->verdict_count == 1 && !strcmp(one->verdicts[0].status, "correct");
    }
    if (files != 1)
        fail_msg("%s: %zu correct candidates are the file that it gave", recipe, files);
}

static void
play_alone(const char *recipe, size_t number)
{
    struct unit own = own_unit(), *unit = &own; /* a run keeps all that it made */
    struct played played = play(
        unit, &(struct play){.recipe = recipe,
                             .program = programs[number],
                             .cases = number == 1 ? 2 : 1,
                             .evaluations = EVALUATIONS,
                             .archive = arena_printf(unit->arena, "%s%zu.db", recipe, number)});
    if (played.status != STATUS_OK)
        fail_msg("%s, program %zu: %s", recipe, number, unit_printed(unit, false));
    if (played.result.evaluations == 0 || played.result.evaluations > EVALUATIONS)
        fail_msg("%s, program %zu: %u evaluations", recipe, number, played.result.evaluations);
    if (played.budget.calls_begun > 0)
        fail_msg("%s, program %zu: a model was asked", recipe, number);
    file_is_kept(&played, recipe);
    arena_destroy(own.arena);
}

static void
every_recipe_runs_alone(void **state)
{
    struct unit *unit = *state;
    struct recipe **list;
    size_t count = recipe_list(unit->arena, &list, unit->diags);
    assert_true(count >= 34);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < PROGRAMS; k++)
            play_alone(list[i]->name, k);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {SCRATCH_TEST(every_recipe_runs_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
