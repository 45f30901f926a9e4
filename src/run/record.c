/* What the loop keeps in the archive. */
#include "run/run_int.h"

#include "base/clock.h"

#include <math.h>
#include <string.h>

static const char *
sizes_text(struct arena *arena, const struct program *program)
{
    struct buf sizes = buf_in(arena);
    for (size_t i = 0; i < program->dim_count; i++)
        buf_printf(&sizes, "%s%s=%lld", i ? " " : "", program->dims[i].name,
                   (long long)program->dims[i].size);
    return sizes.data;
}

static struct store_case
case_row(struct arena *arena, const struct judge_case *row)
{
    struct store_speedup *speedups = arena_array(arena, row->pair_count, sizeof *speedups);
    for (size_t i = 0; i < row->pair_count; i++)
        speedups[i] = (struct store_speedup){row->pairs[i].name, row->pairs[i].speedup};
    return (struct store_case){.name = row->program->case_name,
                               .sizes = sizes_text(arena, row->program),
                               .median_us = row->timed ? row->time.median : NAN,
                               .min_us = row->timed ? row->time.min : NAN,
                               .low_us = row->timed ? row->time.low : NAN,
                               .high_us = row->timed ? row->time.high : NAN,
                               .light = row->timed ? row->share : NAN,
                               .error_over_gate = row->worst > 0 ? row->worst : NAN,
                               .speedups = speedups,
                               .speedup_count = row->pair_count};
}

/* `count` cases of the report: sizes that the judge drew come behind those of the task. What a
 * layer took is no time of a case: it stands under the layer's name, else NULL. */
static enum status
add_verdict(struct loop *loop, const struct store_candidate *row, const struct judge_report *report,
            size_t count, const char *layer)
{
    const struct run_options *options = loop->options;
    struct store_case *rows = arena_array(loop->arena, count, sizeof *rows);
    struct buf json = buf_in(loop->arena);
    for (size_t i = 0; i < count; i++)
        rows[i] = case_row(loop->arena, &report->cases[i]);
    for (size_t i = 0; i < count && layer != NULL; i++)
        rows[i].name = layer;
    run_put_verdict(&json, lang_name(options->lang), options->target->name, NULL, report);
    struct store_verdict verdict = {.status = judge_status_name[report->status],
                                    .reason = report->reason,
                                    .json = json.data,
                                    .whole = !loop->is_part && count == options->case_count,
                                    .judged = clock_wall(),
                                    .cases = rows,
                                    .case_count = count};
    return ledger_verdict(loop->ledger, row, &verdict, loop->diags);
}

enum status
run__record_verdict(struct loop *loop, const struct store_candidate *row,
                    const struct judge_report *report)
{
    return add_verdict(loop, row, report, report->case_count, NULL);
}

enum status
run__record(struct loop *loop, const struct run_case *of, struct run_candidate *candidate,
            const struct judge_report *report)
{
    const struct run_options *options = loop->options;
    if (options->store == NULL)
        return STATUS_OK;
    /* lines of a layer are no schedule of the task */
    const char *schedule = loop->is_part ? NULL : candidate->schedule;
    const char *layer = loop->is_part ? of->program->stages[0].tensor->name : NULL;
    struct judge_report kept = *report;
    if (layer != NULL && kept.status == JUDGE_CORRECT)
        kept.status = JUDGE_BUILT; /* nobody has compared it with anything */
    struct store_candidate row = {.run = options->run->id,
                                  .kind = schedule ? STORE_SCHEDULE : STORE_SOURCE,
                                  .proposer = candidate->proposer,
                                  .phase = layer ? layer : of->program->case_name,
                                  .role = layer ? "layer" : NULL,
                                  .why =
                                      layer ? arena_printf(loop->arena, "layer %s", layer) : NULL,
                                  .schedule = schedule,
                                  .kernel = candidate->kernel,
                                  .kernel_length = strlen(candidate->kernel),
                                  .added = clock_wall()};
    enum status status = ledger_candidate(loop->ledger, &row, loop->diags);
    candidate->id = row.id;
    candidate->row = row.number;
    return status == STATUS_OK ? add_verdict(loop, &row, &kept, 1, layer) : status;
}

enum status
run__record_again(struct loop *loop, const struct run_candidate *candidate,
                  const struct judge_report *report)
{
    if (loop->options->store == NULL)
        return STATUS_OK;
    struct store_candidate row = {.id = candidate->id, .number = candidate->row};
    return add_verdict(loop, &row, report, 1, NULL);
}

/* Its parents are the candidates that it is made of. */
enum status
run__record_file(struct loop *loop)
{
    const struct run_options *options = loop->options;
    struct run_result *result = loop->result;
    result->number = -1;
    if (options->store == NULL)
        return STATUS_OK;
    struct store_parent *parents = arena_array(loop->arena, result->case_count, sizeof *parents);
    struct buf schedules = buf_in(loop->arena);
    size_t count = 0;
    for (size_t i = 0; i < result->case_count; i++) {
        const struct run_candidate *best = result->cases[i].best;
        bool again = best->id == 0; /* one kernel may serve several cases; not all are kept */
        for (size_t k = 0; k < count; k++)
            again = again || parents[k].candidate == best->id;
        if (!again)
            parents[count++].candidate = best->id;
        if (best->schedule != NULL)
            buf_printf(&schedules, "case %s:\n%s", result->cases[i].program->case_name,
                       best->schedule);
    }
    struct store_candidate row = {.run = options->run->id,
                                  .kind = STORE_SOURCE,
                                  .proposer = "builtin",
                                  .phase = "file",
                                  .why = "the best kernel of each case, in one file",
                                  .schedule = schedules.data,
                                  .kernel = result->kernel,
                                  .kernel_length = strlen(result->kernel),
                                  .added = clock_wall(),
                                  .parents = parents,
                                  .parent_count = count};
    enum status status = ledger_candidate(loop->ledger, &row, loop->diags);
    if (status != STATUS_OK)
        return status;
    result->number = row.number;
    return add_verdict(loop, &row, &result->report, result->case_count, NULL);
}
