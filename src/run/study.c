/* A phase without a task: the runs of the archive become memory. What followed what, and with which
 * gain, is a graph of methods; kernels that others ended with are cases. */
#include "run/team_int.h"

#include <math.h>
#include <stdlib.h>
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

/* Each change of a run that has two times is an edge: "from -> to", what it was, its gain, a line
 * each. */
static void
put_edges(struct buf *buf, const struct store_candidate *candidates, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct store_candidate *one = &candidates[i];
        const struct store_candidate *parent =
            one->parent_count > 0 ? find(candidates, count, one->parents[0].candidate) : NULL;
        double gain = parent ? time_of(parent) / time_of(one) : NAN;
        if (isfinite(gain))
            buf_printf(buf, "%s -> %s\n%.*s: %.2fx\n%.17g\n", method_of(parent), method_of(one),
                       (int)strcspn(one->why, "\n"), one->why, gain, gain);
    }
}

static enum status
look_at_runs(struct team *team, const char **edges)
{
    struct loop *loop = team->loop;
    struct store *store = loop->ledger->store;
    struct store_run *runs = NULL;
    struct buf text = buf_in(loop->arena);
    size_t count = 0;
    enum status status = store_runs(store, loop->arena, MOST_RUNS, &runs, &count, loop->diags);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        struct store_candidate *candidates;
        size_t candidate_count;
        if (runs[i].id == loop->ledger->run)
            continue;
        status = store_candidates(store, loop->arena, runs[i].id, STORE_BRIEF, &candidates,
                                  &candidate_count, loop->diags);
        if (status == STATUS_OK)
            put_edges(&text, candidates, candidate_count);
    }
    *edges = text.data ? text.data : "";
    return status;
}

/* A line, and what comes behind it. */
static const char *
take_line(struct arena *arena, const char **text)
{
    size_t length = strcspn(*text, "\n");
    const char *line = arena_strndup(arena, *text, length);
    *text += length + ((*text)[length] == '\n');
    return line;
}

enum status
team__study(struct team *team, const struct recipe_phase *phase)
{
    struct loop *loop = team->loop;
    const char *edges;
    if (loop->ledger->store == NULL || phase->memory[RECIPE_MEMORY_GRAPH].most == 0)
        return STATUS_OK;
    enum status status = ledger_recall(loop->ledger, "study", phase->name, &edges, loop->diags);
    if (status == STATUS_NO) {
        status = look_at_runs(team, &edges);
        if (status == STATUS_OK)
            status = ledger_note(loop->ledger, "study", phase->name, edges, loop->diags);
    }
    while (status == STATUS_OK && *edges) {
        const char *key = take_line(loop->arena, &edges), *what = take_line(loop->arena, &edges);
        double gain = strtod(take_line(loop->arena, &edges), NULL);
        status = team__put_item(team, RECIPE_MEMORY_GRAPH, key, what, gain);
    }
    return status;
}
