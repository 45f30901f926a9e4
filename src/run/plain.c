/* Where the plain C of the operator is faster than whatever was found, it is what is given away:
 * the last verdict has measured both side by side. */
#include "run/run_int.h"

#include "base/text.h"

#include <string.h>

/* What is worth giving up a schedule for, which serves other widths, too. */
static const double LEAST_PART = 0.03, LEAST_US = 2;

/* The plain C that beat the kernel beyond the noise, in a build whose flags a kernel may ask for;
 * NULL: it did not. */
static const struct judge_pair *
who_won(const struct judge_case *row)
{
    for (size_t i = 0; i < row->pair_count; i++) {
        const struct judge_pair *pair = &row->pairs[i];
        if (strcmp(pair->name, "naive") == 0 && text_starts(pair->flags, "gcc ") && !pair->same &&
            pair->speedup < 1 - LEAST_PART && row->time.median - pair->time.median > LEAST_US)
            return pair;
    }
    return NULL;
}

static bool
was_tried(const struct run_case *of)
{
    for (size_t i = 0; i < of->tried_count; i++)
        if (strcmp(of->tried[i].proposer, RUN_PLAIN) == 0)
            return true;
    return false;
}

static const char *
plain_kernel(struct arena *arena, const struct program *program, const struct judge_pair *pair)
{
    struct buf text = buf_in(arena);
    buf_printf(&text, "//! flags %s\n", pair->flags + strlen("gcc "));
    lang_emit(&text, program, &(struct emit_options){.form = EMIT_NAIVE});
    return text.data;
}

/* What the verdict said of the plain C, as the archive keeps it. */
static enum status
record(struct loop *loop, const struct run_case *of, struct run_candidate *candidate,
       const struct judge_case *row, const struct judge_pair *pair)
{
    struct judge_case own = *row;
    struct judge_report report = loop->result->report;
    own.time = pair->time;
    own.share = own.light.us / own.time.median;
    own.worst = 0; /* it was compared, but how near it came is not known here */
    own.pair_count = 0;
    report.cases = &own;
    report.case_count = 1;
    report.flags = pair->flags;
    return run__record(loop, of, candidate, &report);
}

enum status
run__take_plain(struct loop *loop, bool *taken)
{
    struct run_result *result = loop->result;
    enum status status = STATUS_OK;
    *taken = false;
    for (size_t i = 0; i < result->case_count && status == STATUS_OK; i++) {
        struct run_case *of = &result->cases[i];
        const struct judge_case *row = &result->report.cases[i];
        const struct judge_pair *pair = row->timed ? who_won(row) : NULL;
        if (pair == NULL || loop->options->flags != NULL || was_tried(of) ||
            of->tried_count >= loop->most_tried)
            continue;
        struct run_candidate *plain = &of->tried[of->tried_count++];
        *plain = (struct run_candidate){.number = result->evaluations,
                                        .proposer = RUN_PLAIN,
                                        .kernel = plain_kernel(loop->arena, of->program, pair),
                                        .status = JUDGE_CORRECT,
                                        .reason = "",
                                        .us = pair->time.median};
        status = record(loop, of, plain, row, pair);
        of->best = plain;
        *taken = true;
    }
    return status;
}
