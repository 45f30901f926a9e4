/* `hone show RUN.N`: one candidate, and the calls of a run. */
#include "app/screen.h"
#include "app/show.h"
#include "app/table.h"

#include "base/diff.h"

#include <math.h>
#include <string.h>

#define INDENT 10 /* of what stands behind a word: "  why     " */

/* ---- the difference to its parent ---- */

struct diff_count
show_diff(struct arena *arena, struct buf *buf, const struct show_candidate *shown)
{
    const struct store_candidate *old = shown->parent, *new = shown->candidate;
    if (old == NULL)
        return (struct diff_count){0, 0};
    const char *name = archive_name(arena, shown->run->row.name, new->number);
    const char *parent = shown->parent_name[0] == '.'
                             ? arena_printf(arena, "%s%s", shown->run->row.name, shown->parent_name)
                             : shown->parent_name;
    return diff_put_unified(arena, buf,
                            &(struct diff_text){parent, old->kernel, old->kernel_length},
                            &(struct diff_text){name, new->kernel, new->kernel_length}, 3);
}

/* ---- the screen ---- */

static const char *
interval(struct arena *arena, const struct store_case *timed)
{
    if (isnan(timed->low_us) || isnan(timed->high_us))
        return "";
    double us = timed->median_us; /* in the unit that table_time() chooses */
    double scale = us >= 1e6 ? 1e6 : us >= 1000 ? 1000 : us >= 1 ? 1 : 1e-3;
    return arena_printf(arena, " [%.3g, %.3g]", timed->low_us / scale, timed->high_us / scale);
}

static const char *
verdict_text(struct arena *arena, const struct show_candidate *shown)
{
    const struct store_candidate *candidate = shown->candidate;
    const struct store_verdict *verdict = archive_verdict(candidate);
    const struct store_case *timed = archive_timed(candidate);
    struct buf buf = buf_in(arena);
    buf_puts(&buf, verdict ? verdict->status : "not judged");
    if (timed != NULL)
        buf_printf(&buf, "  %s%s", table_time(arena, timed->median_us), interval(arena, timed));
    if (timed != NULL && !isnan(timed->light))
        buf_printf(&buf, "  %.0f %%", 100 * timed->light);
    const char *against =
        shown->parent ? archive_against(arena, shown->run, candidate, shown->parent,
                                        arena_printf(arena, "its parent %s", shown->parent_name))
                      : NULL;
    if (against != NULL && strcmp(candidate->phase, "file") != 0)
        buf_printf(&buf, "  %s", against);
    const char *decision = archive_decision(shown->run, candidate);
    bool said =
        against != NULL && (strcmp(decision, "same") == 0 || strcmp(decision, "slower") == 0);
    if (*decision && !said)
        buf_printf(&buf, ", %s", decision);
    return buf.data;
}

static void
put_first_line(struct buf *buf, const struct show_candidate *shown)
{
    const char *name = archive_name(buf->arena, shown->run->row.name, shown->candidate->number);
    screen_paragraph(buf, name, strlen(name) + 2, verdict_text(buf->arena, shown));
}

static const char *
call_text(struct arena *arena, const struct store_call *call)
{
    struct buf buf = buf_in(arena);
    buf_printf(&buf, ", call %lld", (long long)call->ordinal);
    buf_printf(&buf, ", %s in", screen_tokens(arena, call->tokens.input));
    if (call->tokens.cached > 0)
        buf_printf(&buf, " (%s cached)", screen_tokens(arena, call->tokens.cached));
    buf_printf(&buf, ", %s out", screen_tokens(arena, call->tokens.output));
    if (!isnan(call->cost))
        buf_printf(&buf, ", %.3f USD", call->cost);
    if (call->total_ms > 0)
        buf_printf(&buf, ", %.0f s", call->total_ms / 1000);
    return buf.data;
}

static void
put_by(struct buf *buf, const struct show_candidate *shown)
{
    const struct store_candidate *candidate = shown->candidate;
    struct buf text = buf_in(buf->arena);
    const char *who = archive_who(candidate);
    buf_puts(&text, who);
    if (strcmp(who, candidate->proposer) != 0)
        buf_printf(&text, ", %s", candidate->proposer);
    if (candidate->phase[0] && strcmp(who, candidate->phase) != 0)
        buf_printf(&text, ", %s %s", archive_is_draft(shown->run, candidate) ? "case" : "phase",
                   candidate->phase);
    if (shown->call != NULL)
        buf_puts(&text, call_text(buf->arena, shown->call));
    screen_paragraph(buf, "  by", INDENT, text.data);
}

static void
put_why(struct buf *buf, const struct show_candidate *shown)
{
    const struct store_candidate *candidate = shown->candidate;
    const char *expected = archive_expected(buf->arena, shown->run, candidate, shown->parent);
    if (candidate->why[0] != '\0')
        screen_paragraph(buf, "  why", INDENT, arena_printf(buf->arena, "\"%s\"", candidate->why));
    screen_paragraph(buf, candidate->why[0] ? "" : "  why", INDENT, expected);
}

static void
put_cases(struct buf *buf, const struct store_verdict *verdict)
{
    struct arena *arena = buf->arena;
    const char *title = "  cases";
    for (size_t i = 0; verdict->case_count > 1 && i < verdict->case_count; i++) {
        const struct store_case *row = &verdict->cases[i];
        bool timed = !isnan(row->median_us);
        const char *time =
            timed ? arena_printf(arena, "%s%s  %.0f %%", table_time(arena, row->median_us),
                                 interval(arena, row), 100 * row->light)
                  : "checked";
        const char *faster = row->speedup_count > 0
                                 ? arena_printf(arena, "  %.1fx %s", row->speedups[0].factor,
                                                row->speedups[0].baseline)
                                 : "";
        screen_paragraph(buf, title, INDENT,
                         arena_printf(arena, "%s (%s)  %s%s", row->name, row->sizes, time, faster));
        title = "";
    }
}

static void
put_verdict(struct buf *buf, const struct show_candidate *shown)
{
    const struct store_verdict *verdict = archive_verdict(shown->candidate);
    if (verdict == NULL)
        return;
    if (verdict->reason[0] != '\0')
        screen_paragraph(buf, "  reason", INDENT, verdict->reason);
    const char *details = archive_facts(buf->arena, verdict).details;
    if (details != NULL)
        screen_paragraph(buf, "", INDENT, details);
    put_cases(buf, verdict);
    if (shown->candidate->verdict_count > 1)
        screen_paragraph(buf, "  judged", INDENT,
                         arena_printf(buf->arena,
                                      "%zu times; the last verdict counts, the first "
                                      "said %s",
                                      shown->candidate->verdict_count,
                                      shown->candidate->verdicts[0].status));
}

static void
put_diff_line(struct buf *buf, const struct show_candidate *shown)
{
    struct diff_count count = show_diff(buf->arena, NULL, shown);
    if (shown->parent == NULL || strcmp(shown->candidate->phase, "file") == 0)
        return;
    screen_paragraph(buf, "  diff", INDENT,
                     arena_printf(buf->arena,
                                  "to %s: %zu lines removed, %zu added; --diff shows them",
                                  shown->parent_name, count.removed, count.added));
}

/* Options for what there is. */
static void
put_next(struct buf *buf, const struct show_candidate *shown)
{
    buf_puts(buf, "--code, --asm");
    if (shown->parent != NULL)
        buf_puts(buf, ", --diff");
    if (shown->call != NULL)
        buf_puts(buf, ", --prompt, --reply");
    if (shown->candidate->verdict_count > 0)
        buf_puts(buf, ", --verdict");
    buf_printf(buf, "   hone explain %s\n",
               archive_name(buf->arena, shown->run->row.name, shown->candidate->number));
}

void
show_candidate(struct buf *buf, const struct show_candidate *shown)
{
    const char *profile = archive_profile(buf->arena, shown->run, shown->candidate);
    put_first_line(buf, shown);
    put_by(buf, shown);
    put_why(buf, shown);
    put_verdict(buf, shown);
    if (shown->candidate->schedule[0] != '\0')
        screen_paragraph(buf, "  as", INDENT, shown->candidate->schedule);
    put_diff_line(buf, shown);
    if (profile != NULL)
        screen_paragraph(buf, "  profile", INDENT, profile);
    put_next(buf, shown);
}

/* ---- calls ---- */

/* The numbers of the candidates that it proposed: ".66 .67" */
static const char *
made_by(struct arena *arena, const struct archive_run *run, const struct store_call *call)
{
    struct buf buf = buf_in(arena);
    for (size_t i = 0; i < run->candidate_count; i++)
        if (run->candidates[i].call == call->id)
            buf_printf(&buf, "%s.%lld", buf.length ? " " : "",
                       (long long)run->candidates[i].number);
    return buf.length ? screen_cut(arena, buf.data, 24) : "";
}

static void
add_call(struct table *table, const struct archive_run *run, const struct store_call *call)
{
    struct arena *arena = table->arena;
    bool ended = !isnan(call->ended);
    table_row(table,
              (const char *[]){
                  arena_printf(arena, "%lld", (long long)call->ordinal), call->role, call->phase,
                  screen_cut(arena, call->model, 28),
                  ended ? screen_tokens(arena, call->tokens.input) : "",
                  ended ? screen_tokens(arena, call->tokens.cached) : "",
                  ended ? screen_tokens(arena, call->tokens.output) : "",
                  isnan(call->cost) || !ended ? "-" : arena_printf(arena, "%.3f", call->cost),
                  ended ? arena_printf(arena, "%.0f s", call->total_ms / 1000) : "",
                  ended ? call->outcome : "no reply", made_by(arena, run, call)});
}

void
show_calls(struct buf *buf, const struct archive_run *run)
{
    static const struct {
        const char *heading;
        bool left;
    } columns[] = {{"call", false}, {"role", true},    {"phase", true}, {"model", true},
                   {"in", false},   {"cached", false}, {"out", false},  {"USD", false},
                   {"took", false}, {"outcome", true}, {"made", true}};
    struct table table = table_create(buf->arena);
    if (run->call_count == 0) {
        buf_printf(buf, "%s asked no model\n", run->row.name);
        return;
    }
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        table_column(&table, columns[i].heading, columns[i].left);
    for (size_t i = 0; i < run->call_count; i++)
        add_call(&table, run, &run->calls[i]);
    table_print(buf, &table);
    buf_printf(buf, "%zu calls, %s tokens in (%s cached), %s out", run->call_count,
               screen_tokens(buf->arena, run->row.tokens.input),
               screen_tokens(buf->arena, run->row.tokens.cached),
               screen_tokens(buf->arena, run->row.tokens.output));
    if (!isnan(run->row.cost))
        buf_printf(buf, ", %.2f USD", run->row.cost);
    buf_printf(buf, ".   hone show %s --call N\n", run->row.name);
}
