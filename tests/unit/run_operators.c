/* Every operator of the library can be optimised: three evaluations at small sizes, none of them
 * wrong, and a file in the end. The file is glanced at: its whole verdict, with the plain C beside
 * it, is what tests/cli/optimize.sh asks for. Nearly all of the time is gcc's: two processes share
 * the operators. HONE_OPERATOR: only tasks with this in their path. */
#include "../judge/judge_test.h"
#include "expected.h"

#include "run/run.h"

#define WORKERS 2

/* One set of inputs instead of all kinds. */
static enum status
glance_at_file(void *context, struct judge_task *task, struct arena *arena, const char *text,
               struct judge_report *report, struct diags *diags)
{
    struct run_judge real = run_real_judge(context);
    struct judge_kernel *kernel;
    enum status status = real.look(context, task, arena, text, &kernel, report, diags);
    real.drop(context, kernel);
    if (status == STATUS_OK && report->status == JUDGE_BUILT)
        report->status = JUDGE_CORRECT;
    return status;
}

/* Nobody is compared: that is a matter of time, which is not asked here. */
static enum status
never_faster(void *context, struct judge_task *task, struct judge_kernel *champion,
             struct judge_kernel *challenger, size_t number, struct run_difference *difference,
             struct diags *diags)
{
    (void)context, (void)task, (void)champion, (void)challenger, (void)number, (void)diags;
    *difference = (struct run_difference){.ratio = 1, .low = 1, .high = 1};
    return STATUS_OK;
}

/* What failed, or NULL. */
static const char *
optimise(struct judge *judge, struct arena *arena, const char *path)
{
    static const size_t first = 0;
    struct diags *diags = diags_create(arena, 4);
    struct run_judge quick = run_real_judge(judge);
    struct run_result result;
    struct run_options options = {
        .lang = lang_open(arena, path, diags),
        .cases = &first,
        .case_count = 1,
        .target = target_find("cpu"),
        .machine = {.vector_bytes = 32, .registers = 16, .threads = 2, .l1 = 32768, .l2 = 524288},
        .threads = 1,
        .seed = 1,
        .evaluations = 3,
        .until_light = 100};
    quick.verdict = glance_at_file;
    quick.compare = never_faster;
    enum status status = STATUS_INPUT;
    if (options.lang != NULL)
        status = run_optimize_by(arena, &quick, &options, &result, diags);
    if (status == STATUS_OK && result.failed == 0)
        return NULL;
    if (diags_count(diags) > 0)
        return diags_get(diags, 0)->message;
    for (size_t i = 0; i < result.cases[0].tried_count; i++)
        if (result.cases[0].tried[i].status != JUDGE_CORRECT)
            return arena_printf(arena, "%s: %s\n%s",
                                judge_status_name[result.cases[0].tried[i].status],
                                result.cases[0].tried[i].reason, result.cases[0].tried[i].schedule);
    return result.report.reason;
}

/* Every WORKERS-th from `first` on; how many failed. */
static int
optimise_some(const char *const *paths, size_t count, size_t first)
{
    struct judge_test *test = judge_test_create();
    const char *only = getenv("HONE_OPERATOR");
    int failures = 0;
    for (size_t i = first; i < count; i += WORKERS) {
        if (only != NULL && strstr(paths[i], only) == NULL)
            continue;
        struct arena *arena = arena_create();
        const char *failed = optimise(test->judge, arena, paths[i]);
        if (failed != NULL)
            print_error("%s: %s\n", paths[i], failed);
        failures += failed != NULL;
        arena_destroy(arena);
    }
    judge_test_destroy(test);
    return failures;
}

static void
every_operator_can_be_optimised(void **state)
{
    struct unit *unit = *state;
    size_t count;
    const char *const *paths = expected_tasks(unit->arena, &count);
    int status, failed = 0, ended = 0;
    assert_true(count > 300);
    for (size_t worker = 0; worker < WORKERS; worker++)
        if (fork() == 0)
            _exit(optimise_some(paths, count, worker) > 0);
    for (; wait(&status) > 0; ended++)
        failed += status != 0;
    print_message("# %zu tasks\n", count);
    assert_int_equal(ended, WORKERS);
    assert_int_equal(failed, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {UNIT_TEST(every_operator_can_be_optimised)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
