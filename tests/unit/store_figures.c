/* The figures that a run keeps of its candidates are those that one finds by looking at them all.
 */
#include "store_unit.h"

#include "base/rng.h"

/* What a run's row must say, from its candidates. */
struct figures {
    int64_t leader, verdicts, evaluations;
    double best_us, case_us, light, gain;
};

static const struct store_verdict *
last_of(const struct store_candidate *candidate)
{
    return candidate->verdict_count ? &candidate->verdicts[candidate->verdict_count - 1] : NULL;
}

static bool
may_lead(const struct store_candidate *candidate)
{
    const struct store_verdict *last = last_of(candidate);

    return last && last->whole && strcmp(last->status, "correct") == 0 && last->time_us > 0;
}

static void
describe(const struct store_candidate *candidate, struct figures *figures)
{
    const struct store_verdict *last = last_of(candidate);

    figures->leader = candidate->number;
    for (size_t i = 0; last && i < last->case_count; i++) {
        const struct store_case *row = &last->cases[i];

        if (!(row->median_us > 0))
            continue;
        figures->case_us = row->median_us;
        figures->light = row->light;
        figures->gain = row->speedup_count ? row->speedups[0].factor : NAN;
        break;
    }
    figures->best_us = last ? last->time_us : NAN;
}

static struct figures
look_at_all(const struct store_candidate *list, size_t count, int64_t named)
{
    struct figures figures = {-1, 0, 0, NAN, NAN, NAN, NAN};
    const struct store_candidate *leader = NULL;

    for (size_t i = 0; i < count; i++) {
        figures.verdicts += (int64_t)list[i].verdict_count;
        figures.evaluations += list[i].verdict_count > 0;
        if (named >= 0 ? list[i].number == named
                       : may_lead(&list[i]) &&
                             (!leader || last_of(&list[i])->time_us < last_of(leader)->time_us))
            leader = &list[i];
    }
    if (leader)
        describe(leader, &figures);
    return figures;
}

static bool
same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static void
check(struct unit *unit, struct store *store, int64_t id, const char *name)
{
    struct arena *arena = arena_create();
    struct store_candidate *list, best;
    struct store_run run;
    struct figures want;
    size_t count;
    enum status status;

    store_unit_must(unit, store_run_find(store, arena, name, &run, unit->diags));
    store_unit_must(unit,
                    store_candidates(store, arena, id, STORE_BRIEF, &list, &count, unit->diags));
    want = look_at_all(list, count, run.best);
    assert_int_equal(run.candidates, count);
    assert_int_equal(run.verdicts, want.verdicts);
    assert_int_equal(run.evaluations, want.evaluations);
    assert_int_equal(run.leader, want.leader);
    assert_true(same(run.best_us, want.best_us) && same(run.case_us, want.case_us));
    assert_true(same(run.light, want.light) && same(run.gain, want.gain));
    status = store_best(store, arena, id, STORE_BRIEF, &best, unit->diags);
    assert_int_equal(status, want.leader < 0 ? STATUS_NO : STATUS_OK);
    assert_true(want.leader < 0 || best.number == want.leader);
    arena_destroy(arena);
}

static void
judge_one(struct unit *unit, struct store *store, struct rng *random, int64_t candidate)
{
    static const char *const statuses[] = {"correct", "correct", "correct", "wrong"};
    const struct store_speedup speedup = {"naive", 1 + (double)rng_below(random, 9)};
    struct store_case cases[2] = {{.name = "default", .sizes = "N=8", .median_us = NAN},
                                  {.name = "tail", .sizes = "N=9"}};
    struct store_verdict verdict = {.status = statuses[rng_below(random, 4)],
                                    .whole = rng_below(random, 4) > 0,
                                    .judged = 1003,
                                    .cases = cases,
                                    .case_count = rng_below(random, 3)};

    for (size_t i = rng_below(random, 2); i < 2; i++) {
        cases[i].median_us = 1 + (double)rng_below(random, 1000000) / 7;
        cases[i].light = rng_below(random, 3) ? 0.5 : NAN;
        cases[i].speedups = &speedup;
        cases[i].speedup_count = rng_below(random, 2);
    }
    store_unit_must(unit, store_verdict_add(store, candidate, &verdict, unit->diags));
}

static void
a_run_keeps_its_figures(void **state)
{
    struct unit *unit = *state;
    struct store *store = store_unit_open(unit);
    struct rng random = rng_stream(11, "figures");

    for (unsigned round = 0; round < 6; round++) {
        struct store_run run = store_unit_begin(unit, store);
        int64_t ids[12];
        size_t count = 0;

        for (unsigned step = 0; step < 30; step++) {
            uint64_t what = rng_below(&random, 10);

            if (count == 0 || (what < 3 && count < 12))
                ids[count++] = store_unit_candidate(unit, store, run.id, "Y: r").id;
            else if (what < 8)
                judge_one(unit, store, &random, ids[rng_below(&random, count)]);
            else
                store_unit_must(unit, store_run_finish(store, run.id, STORE_DONE, "",
                                                       (int64_t)rng_below(&random, count + 1) - 1,
                                                       1100, unit->diags));
            check(unit, store, run.id, run.name);
            if (what == 9)
                store_run_resume(store, run.id, unit->diags);
        }
    }
    store_close(store);
}

static void
the_archive_counts_itself(void **state)
{
    struct unit *unit = *state;
    struct store *store = store_unit_open(unit);
    struct store_run run;
    struct store_item item = {.kind = "rules"};
    struct store_call call = {0};
    struct store_totals totals;

    store_unit_must(unit, store_totals(store, &totals, unit->diags));
    assert_int_equal(totals.runs + totals.candidates + totals.calls + totals.items, 0);
    assert_true(totals.bytes > 0);
    store_unit_begin(unit, store);
    run = store_unit_begin(unit, store);
    for (unsigned i = 0; i < 3; i++)
        store_unit_candidate(unit, store, run.id, "Y: r");
    call.run = run.id;
    store_unit_must(unit, store_call_begin(store, &call, unit->diags));
    store_unit_must(unit, store_item_put(store, &item, unit->diags));
    store_unit_must(unit, store_totals(store, &totals, unit->diags));
    assert_int_equal(totals.runs, 2);
    assert_int_equal(totals.candidates, 3);
    assert_int_equal(totals.calls, 1);
    assert_int_equal(totals.items, 1);
    store_close(store);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(a_run_keeps_its_figures),
        SCRATCH_TEST(the_archive_counts_itself),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
