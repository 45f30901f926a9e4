/* `hone show` as JSON: doc/json.md names the fields. */
#include "app/figures.h"
#include "app/show.h"

#include "base/json.h"

#include <math.h>
#include <string.h>

/* "k7f3.18" or null */
static void
field_name(struct buf *buf, const char *field, const char *run, int64_t number)
{
    json_field_string(buf, field, number >= 0 ? archive_name(buf->arena, run, number) : NULL);
}

static void
put_tokens(struct buf *buf, const struct store_tokens *tokens)
{
    buf_puts(buf, ",\"tokens\":{\"in\":");
    json_put_number(buf, tokens->input);
    json_field_number(buf, "cached", tokens->cached);
    json_field_number(buf, "out", tokens->output);
    buf_putc(buf, '}');
}

/* ---- candidates ---- */

static void
put_parents(struct buf *buf, const struct store_candidate *candidate)
{
    bool any = candidate->parent_count > 0;
    json_field_string(
        buf, "parent",
        any ? archive_name(buf->arena, candidate->parents[0].run, candidate->parents[0].number)
            : NULL);
    buf_puts(buf, ",\"parents\":[");
    for (size_t i = 0; i < candidate->parent_count; i++) {
        buf_puts(buf, i ? "," : "");
        json_put_string(
            buf, archive_name(buf->arena, candidate->parents[i].run, candidate->parents[i].number));
    }
    buf_putc(buf, ']');
}

static void
put_found(struct buf *buf, const struct store_candidate *candidate)
{
    const struct store_verdict *verdict = archive_verdict(candidate);
    const struct store_case *timed = archive_timed(candidate);
    json_field_string(buf, "status", verdict ? verdict->status : NULL);
    json_field_string(buf, "reason", verdict ? verdict->reason : NULL);
    json_field_number(buf, "time_us", timed ? timed->median_us : NAN);
    json_field_number(buf, "low_us", timed ? timed->low_us : NAN);
    json_field_number(buf, "high_us", timed ? timed->high_us : NAN);
    json_field_number(buf, "light", timed ? timed->light : NAN);
}

/* What a run's list and a candidate alone both have; the object stays open. */
static void
put_candidate(struct buf *buf, const struct archive_run *run,
              const struct store_candidate *candidate)
{
    const struct store_call *call = archive_call(run, candidate->call);
    const char *decision = archive_decision(run, candidate);
    buf_puts(buf, "{\"id\":");
    json_put_string(buf, archive_name(buf->arena, run->row.name, candidate->number));
    put_parents(buf, candidate);
    json_field_string(buf, "kind", store_kind_name[candidate->kind]);
    json_field_string(buf, "phase", candidate->phase);
    json_field_string(buf, "role", candidate->role);
    json_field_string(buf, "proposer", candidate->proposer);
    json_field_number(buf, "lane", (double)candidate->lane);
    json_field_number(buf, "round", (double)candidate->round);
    put_found(buf, candidate);
    json_field_string(buf, "decision", decision[0] ? decision : NULL);
    json_field_string(buf, "why", candidate->why);
    json_field_number(buf, "expected_low",
                      candidate->expected_low > 0 ? candidate->expected_low : NAN);
    json_field_number(buf, "expected_high",
                      candidate->expected_high > 0 ? candidate->expected_high : NAN);
    json_field_string(buf, "schedule", candidate->schedule[0] ? candidate->schedule : NULL);
    json_field_number(buf, "call", call ? (double)call->ordinal : NAN);
}

/* ---- calls ---- */

static void
put_call(struct buf *buf, const struct store_call *call)
{
    buf_puts(buf, "{\"id\":");
    json_put_number(buf, (double)call->ordinal);
    json_field_string(buf, "role", call->role);
    json_field_string(buf, "phase", call->phase);
    json_field_string(buf, "model", call->model);
    put_tokens(buf, &call->tokens);
    json_field_number(buf, "cost_usd", call->cost);
    json_field_number(buf, "seconds", isnan(call->ended) ? NAN : call->total_ms / 1000);
    json_field_string(buf, "outcome", isnan(call->ended) ? NULL : call->outcome);
}

/* ---- the whole ---- */

void
show_run_json(struct buf *buf, const struct archive_run *run, const struct bench_figures *figures,
              double now)
{
    const struct store_run *row = &run->row;
    buf_puts(buf, "{\"run\":");
    json_put_string(buf, row->name);
    json_field_string(buf, "task", row->task.name);
    json_field_string(buf, "target", row->target);
    json_field_string(buf, "recipe", row->recipe);
    json_field_string(buf, "model", row->model[0] ? row->model : NULL);
    json_field_string(buf, "cases", row->cases);
    json_field_string(buf, "state", store_state_name[row->state]);
    json_field_string(buf, "stopped_by", row->stopped_by[0] ? row->stopped_by : NULL);
    field_name(buf, "best", row->name, row->leader);
    json_field_number(buf, "best_us", row->case_us);
    json_field_number(buf, "light", row->light);
    json_field_number(buf, "evaluations", (double)row->evaluations);
    json_field_number(buf, "seconds", archive_seconds(row, now));
    put_tokens(buf, &row->tokens);
    json_field_number(buf, "cost_usd", row->cost);
    buf_puts(buf, ",\"candidates\":[");
    for (size_t i = 0; i < run->candidate_count; i++) {
        buf_puts(buf, i ? "," : "");
        put_candidate(buf, run, &run->candidates[i]);
        buf_putc(buf, '}');
    }
    buf_puts(buf, "],\"calls\":[");
    for (size_t i = 0; i < run->call_count; i++) {
        buf_puts(buf, i ? "," : "");
        put_call(buf, &run->calls[i]);
        buf_putc(buf, '}');
    }
    buf_puts(buf, "],\"figures\":");
    figures_json(buf, figures);
    buf_puts(buf, "}\n");
}

/* Kernels are any bytes: what is no text is null, and --code gives it. */
static const char *
as_text(struct arena *arena, const struct store_candidate *candidate)
{
    char *text = arena_strndup(arena, candidate->kernel, candidate->kernel_length);
    return strlen(text) == candidate->kernel_length ? text : NULL;
}

void
show_candidate_json(struct buf *buf, const struct show_candidate *shown)
{
    const struct store_verdict *verdict = archive_verdict(shown->candidate);
    put_candidate(buf, shown->run, shown->candidate);
    json_field_string(buf, "kernel", as_text(buf->arena, shown->candidate));
    buf_printf(buf, ",\"verdict\":%s",
               verdict && verdict->json && verdict->json[0] ? verdict->json : "null");
    if (shown->call != NULL) {
        buf_puts(buf, ",\"proposed_in\":");
        put_call(buf, shown->call);
        json_field_string(buf, "system", shown->call->system);
        json_field_string(buf, "prompt", shown->call->prompt);
        json_field_string(buf, "reply", shown->call->reply);
        buf_putc(buf, '}');
    }
    buf_puts(buf, "}\n");
}
