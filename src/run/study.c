/* A phase without a task: the runs of the archive become memory. What followed what, and with which
 * gain, is a graph of methods; kernels that others ended with are cases. */
#include "run/team_int.h"

#include <math.h>
#include <string.h>

enum { MOST_RUNS = 64 };

static double
time_of(const struct store_candidate *candidate)
{
    const struct store_verdict *last =
        candidate->verdict_count ? &candidate->verdicts[candidate->verdict_count - 1] : NULL;
    return last != NULL && last->case_count > 0 ? last->cases[0].median_us : NAN;
}

static const struct store_candidate *
find(const struct store_candidate *candidates, size_t count, int64_t id)
{
    for (size_t i = 0; i < count; i++)
        if (candidates[i].id == id)
            return &candidates[i];
    return NULL;
}

static const char *
method_of(const struct store_candidate *candidate)
{
    const struct agent_technique *row = agent_technique_in(candidate->why ? candidate->why : "");
    return row ? row->name : candidate->parent_count > 0 ? "change" : "start";
}

/* Each change of a run that has two times is an edge. */
static enum status
study_run(struct team *team, const struct recipe_phase *phase,
          const struct store_candidate *candidates, size_t count)
{
    struct arena *arena = team->loop->arena;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        const struct store_candidate *one = &candidates[i];
        const struct store_candidate *parent =
            one->parent_count > 0 ? find(candidates, count, one->parents[0].candidate) : NULL;
        double gain = parent ? time_of(parent) / time_of(one) : NAN;
        if (isnan(gain) || phase->memory[RECIPE_MEMORY_GRAPH].most == 0)
            continue;
        status = team__put_item(
            team, RECIPE_MEMORY_GRAPH,
            arena_printf(arena, "%s -> %s", method_of(parent), method_of(one)),
            arena_printf(arena, "%.*s: %.2fx", (int)strcspn(one->why, "\n"), one->why, gain), gain);
    }
    return status;
}

enum status
team__study(struct team *team, const struct recipe_phase *phase)
{
    struct loop *loop = team->loop;
    struct store *store = loop->ledger->store;
    struct store_run *runs = NULL;
    size_t count = 0;
    const char *ignored;
    if (store == NULL)
        return STATUS_OK;
    enum status status = ledger_recall(loop->ledger, "study", phase->name, &ignored, loop->diags);
    if (status != STATUS_NO)
        return status;
    status = store_runs(store, loop->arena, MOST_RUNS, &runs, &count, loop->diags);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        struct store_candidate *candidates;
        size_t candidate_count;
        if (runs[i].id == loop->ledger->run)
            continue;
        status = store_candidates(store, loop->arena, runs[i].id, STORE_BRIEF, &candidates,
                                  &candidate_count, loop->diags);
        if (status == STATUS_OK)
            status = study_run(team, phase, candidates, candidate_count);
    }
    if (status == STATUS_OK)
        status = ledger_note(loop->ledger, "study", phase->name, "", loop->diags);
    return status;
}
