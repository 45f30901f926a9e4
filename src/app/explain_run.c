/* How a run came to what it found: the limit, the builtin search, each accepted step, the end. */
#include "app/explain.h"
#include "app/screen.h"
#include "app/show.h"
#include "app/table.h"

#include <math.h>
#include <string.h>

#define MOST_REFUSED 6
#define MOST_ROLES 16

/* ---- the limit ---- */

static void
tell_limit(struct explain *explain, const struct store_candidate *best)
{
    struct arena *arena = explain->out->arena;
    struct archive_facts facts = archive_facts(arena, archive_verdict(best));
    struct buf text = buf_in(arena);
    double threads = archive_machine(&explain->run->row).threads;
    if (facts.limit != NULL && !isnan(facts.light_us)) {
        buf_printf(&text, "The limit is %s: no kernel can need less than %s",
                   archive_limit_words(arena, facts.limit), table_time(arena, facts.light_us));
        if (!isnan(threads))
            buf_printf(&text, " here, with %.0f thread%s", threads, threads == 1 ? "" : "s");
        buf_puts(&text, ".");
    }
    if (facts.baseline != NULL && !isnan(facts.baseline_us)) {
        bool naive = strcmp(facts.baseline, "naive") == 0;
        buf_printf(&text, "%s%s needs %s", text.length ? " " : "",
                   naive ? "Plain C" : facts.baseline, table_time(arena, facts.baseline_us));
        if (facts.baseline_flags != NULL)
            buf_printf(&text, " (%s)", facts.baseline_flags);
        buf_puts(&text, ".");
    }
    if (text.length > 0)
        explain_say(explain, text.data);
}

/* ---- models ---- */

static void
tell_calls(struct explain *explain)
{
    const struct archive_run *run = explain->run;
    struct arena *arena = explain->out->arena;
    const char *roles[MOST_ROLES];
    size_t counts[MOST_ROLES] = {0}, kinds = 0;
    if (run->call_count == 0)
        return;
    for (size_t i = 0; i < run->call_count; i++) {
        size_t k = 0;
        while (k < kinds && strcmp(roles[k], run->calls[i].role) != 0)
            k++;
        if (k == MOST_ROLES)
            continue;
        roles[k] = run->calls[i].role;
        counts[k]++;
        kinds += k == kinds;
    }
    struct buf text = buf_in(arena);
    bool played = run->row.tokens.input + run->row.tokens.output == 0; /* by builtin */
    buf_printf(&text, played ? "%s played its roles %zu times (" : "%s was asked %zu times (",
               run->row.model[0] ? run->row.model : "A model", run->call_count);
    for (size_t k = 0; k < kinds; k++)
        buf_printf(&text, "%s%s %zu", k ? ", " : "", roles[k], counts[k]);
    buf_puts(&text, ")");
    if (!played)
        buf_printf(&text, ": %s tokens in, %s out", screen_tokens(arena, run->row.tokens.input),
                   screen_tokens(arena, run->row.tokens.output));
    if (!played && !isnan(run->row.cost))
        buf_printf(&text, ", %.2f USD", run->row.cost);
    buf_printf(&text, ". Of %s.", show_tally(arena, run));
    explain_say(explain, text.data);
}

/* ---- the way to the best ---- */

/* From the first ancestor to itself. */
static size_t
ancestors(const struct explain *explain, const struct store_candidate *candidate,
          const struct store_candidate ***line)
{
    size_t count = 0;
    for (const struct store_candidate *at = candidate; at; at = archive_parent(explain->run, at))
        count++;
    *line = arena_array(explain->out->arena, count, sizeof **line);
    size_t left = count;
    for (const struct store_candidate *at = candidate; at; at = archive_parent(explain->run, at))
        (*line)[--left] = at;
    return count;
}

/* The first sentence of a rationale, without its full stop. */
static const char *
first_sentence(struct arena *arena, const char *text)
{
    size_t length = strcspn(text, "\n");
    const char *stop = memmem(text, length, ". ", 2);
    if (stop != NULL)
        length = (size_t)(stop - text);
    while (length > 0 && strchr(". ", text[length - 1]))
        length--;
    return arena_strndup(arena, text, length);
}

/* "4.02 -> 3.84 ms", or as far as it is known */
static const char *
change_text(const struct explain *explain, const struct store_candidate *parent,
            const struct store_candidate *candidate)
{
    struct arena *arena = explain->out->arena;
    const struct store_case *then, *now;
    if (parent == NULL || !archive_common_case(parent, candidate, &then, &now))
        return explain_time(explain, candidate);
    const char *before = table_time(arena, then->median_us);
    const char *after = table_time(arena, now->median_us);
    const char *unit = strchr(before, ' '), *same = strchr(after, ' ');
    bool once = unit && same && strcmp(unit, same) == 0; /* the unit */
    return arena_printf(arena, "%.*s -> %s%s%s", once ? (int)(unit - before) : (int)strlen(before),
                        before, after, archive_is_first_case(explain->run, now) ? "" : " in case ",
                        archive_is_first_case(explain->run, now) ? "" : now->name);
}

const char *
explain_step(const struct explain *explain, const struct store_candidate *candidate)
{
    struct arena *arena = explain->out->arena;
    const struct store_candidate *parent = archive_parent(explain->run, candidate);
    const char *why = first_sentence(arena, candidate->why);
    const struct store_verdict *verdict = archive_verdict(candidate);
    struct buf text = buf_in(arena);
    buf_printf(&text, ".%lld, %s", (long long)candidate->number, archive_who(candidate));
    if (*why)
        buf_printf(&text, ", \"%s\"", why);
    buf_printf(&text, ": %s", change_text(explain, parent, candidate));
    if (verdict && !archive_is_correct(candidate) && verdict->reason[0])
        buf_printf(&text, " (%s)", verdict->reason);
    const char *against =
        parent ? archive_against(arena, explain->run, candidate, parent,
                                 arena_printf(arena, ".%lld", (long long)parent->number))
               : NULL;
    struct archive_comparison pair;
    bool compared = parent && archive_comparison(explain->run, parent, candidate, &pair);
    if (against != NULL)
        buf_printf(&text, ", %s%s", compared ? "side by side " : "", against);
    buf_putc(&text, '.');
    const char *expected = archive_expected(arena, explain->run, candidate, parent);
    if (*expected)
        buf_printf(&text, " E%s.", expected + 1); /* a sentence of its own */
    const char *profile = archive_profile(arena, explain->run, candidate);
    if (profile != NULL)
        buf_printf(&text, " Its profile: %s.", profile);
    return text.data;
}

/* The file of a builtin run is no step: it puts together what was found. */
static const char *
file_text(struct arena *arena, const struct store_candidate *file)
{
    const struct store_verdict *verdict = archive_verdict(file);
    struct buf text = buf_in(arena);
    buf_printf(&text, "The file, .%lld, is made of", (long long)file->number);
    for (size_t i = 0; i < file->parent_count; i++)
        buf_printf(&text, "%s .%lld", i ? "," : "", (long long)file->parents[i].number);
    buf_printf(&text, " and was judged as a whole: %s", verdict ? verdict->status : "not judged");
    for (size_t i = 0; verdict && i < verdict->case_count; i++) {
        const struct store_case *row = &verdict->cases[i];
        if (isnan(row->median_us))
            continue;
        buf_printf(&text, ", %s %s (%.0f %% of the speed of light", row->name,
                   table_time(arena, row->median_us), 100 * row->light);
        if (row->speedup_count > 0)
            buf_printf(&text, ", %.1fx %s", row->speedups[0].factor, row->speedups[0].baseline);
        buf_puts(&text, ")");
    }
    buf_puts(&text, ".");
    return text.data;
}

static void
tell_way(struct explain *explain, const struct store_candidate *best)
{
    const struct store_candidate **line;
    size_t count = ancestors(explain, best, &line);
    for (size_t i = 0; i < count; i++) {
        if (archive_is_draft(explain->run, line[i]))
            continue;
        bool file = strcmp(line[i]->phase, "file") == 0;
        explain_say(explain, file ? file_text(explain->out->arena, line[i])
                                  : explain_step(explain, line[i]));
    }
}

/* ---- what else was tried ---- */

static bool
is_on_way(const struct explain *explain, const struct store_candidate *candidate,
          const struct store_candidate *best)
{
    for (const struct store_candidate *at = best; at; at = archive_parent(explain->run, at))
        if (at == candidate)
            return true;
    return false;
}

static const char *
refusal(const struct explain *explain, const struct store_candidate *candidate)
{
    struct arena *arena = explain->out->arena;
    const struct store_candidate *parent = archive_parent(explain->run, candidate);
    const struct store_verdict *verdict = archive_verdict(candidate);
    const char *why = screen_cut(arena, first_sentence(arena, candidate->why), 48);
    const char *fate = verdict ? verdict->status : "not judged";
    struct archive_comparison pair = {.gain = NAN};
    if (parent != NULL)
        archive_pair(explain->run, candidate, parent, &pair);
    if (archive_is_correct(candidate))
        fate = strcmp(candidate->accepted, "slower") == 0 && pair.gain < 1
                   ? arena_printf(arena, "%s slower", archive_share_text(arena, pair.gain))
               : candidate->accepted[0] ? candidate->accepted
                                        : "correct";
    return arena_printf(arena, "%s (.%lld, %s)", *why ? why : archive_who(candidate),
                        (long long)candidate->number, fate);
}

/* Proposals that did not lead to the best; tries of sweeps are many and tell little. */
static void
put_refused(struct explain *explain, const struct store_candidate *best)
{
    const struct archive_run *run = explain->run;
    struct buf text = buf_in(explain->out->arena);
    size_t told = 0, more = 0;
    for (size_t i = 0; i < run->candidate_count; i++) {
        const struct store_candidate *candidate = &run->candidates[i];
        if (archive_is_draft(run, candidate) || archive_is_layer(candidate) ||
            strcmp(candidate->role, "sweep") == 0 || strcmp(candidate->phase, "file") == 0 ||
            is_on_way(explain, candidate, best) || archive_is_accepted(candidate))
            continue;
        if (told == MOST_REFUSED)
            more++;
        else
            buf_printf(&text, "%s%s", told++ ? ", " : "", refusal(explain, candidate));
    }
    if (more > 0)
        buf_printf(&text, " and %zu more", more);
    if (told > 0)
        screen_paragraph(explain->out, "Refused:", 9, arena_printf(text.arena, "%s.", text.data));
}

static void
tell_aside(struct explain *explain, const struct store_candidate *best)
{
    const struct archive_run *run = explain->run;
    for (size_t i = 0; i < run->candidate_count; i++) {
        const struct store_candidate *candidate = &run->candidates[i];
        if (archive_is_accepted(candidate) && !is_on_way(explain, candidate, best) &&
            !archive_is_draft(run, candidate))
            explain_say(explain, arena_printf(explain->out->arena, "Beside the way: %s",
                                              explain_step(explain, candidate)));
    }
}

/* ---- the end ---- */

static void
tell_end(struct explain *explain)
{
    const struct store_run *run = &explain->run->row;
    struct buf text = buf_in(explain->out->arena);
    if (run->state == STORE_RUNNING)
        buf_puts(&text, "It is still running.");
    else if (run->stopped_by[0] != '\0')
        buf_printf(&text, "It ended because %s.", archive_ending_words(run->stopped_by));
    if (run->light < 1)
        buf_printf(&text, "%sIt is at %.0f %% of the speed of light.", text.length ? " " : "",
                   100 * run->light);
    if (text.length > 0)
        explain_say(explain, text.data);
}

/* ---- the whole ---- */

static void
put_title(struct explain *explain)
{
    const struct store_run *run = &explain->run->row;
    struct arena *arena = explain->out->arena;
    if (isnan(run->case_us))
        buf_printf(explain->out, "%s: nothing correct was found%s\n\n", run->task.name,
                   run->state == STORE_RUNNING ? " so far" : "");
    else
        buf_printf(explain->out, "How %s came to %s%s\n\n", run->task.name,
                   table_time(arena, run->case_us), run->state == STORE_RUNNING ? ", so far" : "");
}

enum status
explain_run(struct explain *explain)
{
    const struct store_run *run = &explain->run->row;
    const struct store_candidate *best =
        run->leader >= 0 ? archive_candidate(explain->run, run->leader) : NULL;
    put_title(explain);
    if (best != NULL) { /* its verdict as a whole has the limit and the baseline */
        struct store_candidate whole;
        enum status status = store_best(explain->store, explain->out->arena, run->id, STORE_WHOLE,
                                        &whole, explain->diags);
        if (status == STATUS_OK)
            tell_limit(explain, &whole);
        else if (status != STATUS_NO)
            return status;
    }
    explain_drafts(explain);
    tell_calls(explain);
    if (best != NULL)
        tell_way(explain, best);
    tell_aside(explain, best);
    tell_end(explain);
    buf_putc(explain->out, '\n');
    put_refused(explain, best);
    buf_printf(explain->out, "Every figure is a stored verdict: hone show %s.N\n", run->name);
    return STATUS_OK;
}

/* ---- one candidate ---- */

static const char *
draft_text(struct explain *explain, const struct store_candidate *candidate)
{
    struct arena *arena = explain->out->arena;
    size_t before = 0;
    for (size_t i = 0; i < explain->run->candidate_count; i++) {
        const struct store_candidate *other = &explain->run->candidates[i];
        before += archive_is_draft(explain->run, other) &&
                  strcmp(other->phase, candidate->phase) == 0 && other->number <= candidate->number;
    }
    const char *from = strcmp(candidate->proposer, "memory") == 0 ? "came from an earlier run"
                       : strcmp(candidate->proposer, "start") == 0
                           ? "was in the file that the run began with"
                           : "was made by builtin";
    return arena_printf(arena, ".%lld %s, as schedule %zu of case %s: %s. %s",
                        (long long)candidate->number, from, before, candidate->phase,
                        explain_time(explain, candidate),
                        archive_main_line(arena, candidate->schedule));
}

static void
tell_children(struct explain *explain, const struct store_candidate *candidate)
{
    const struct archive_run *run = explain->run;
    struct buf text = buf_in(explain->out->arena);
    for (size_t i = 0; i < run->candidate_count; i++) {
        const struct store_candidate *child = &run->candidates[i];
        if (archive_parent(run, child) != candidate)
            continue;
        const char *decision = archive_decision(run, child);
        buf_printf(&text, "%s .%lld (%s%s%s)", text.length ? "," : "From it came",
                   (long long)child->number, explain_time(explain, child), *decision ? ", " : "",
                   decision);
    }
    if (text.length > 0)
        explain_say(explain, arena_printf(text.arena, "%s.", text.data));
}

static void
tell_foreign_parent(struct explain *explain, const struct store_candidate *first)
{
    if (first->parent_count > 0)
        explain_say(explain, arena_printf(explain->out->arena, "It begins with %s of another run.",
                                          archive_name(explain->out->arena, first->parents[0].run,
                                                       first->parents[0].number)));
}

enum status
explain_candidate(struct explain *explain, const struct store_candidate *candidate)
{
    const struct store_candidate **line;
    struct arena *arena = explain->out->arena;
    size_t count = ancestors(explain, candidate, &line);
    const char *decision = archive_decision(explain->run, candidate);
    buf_printf(explain->out, "How %s came to be: %s%s%s\n\n",
               archive_name(arena, explain->run->row.name, candidate->number),
               explain_time(explain, candidate), *decision ? ", " : "", decision);
    tell_foreign_parent(explain, line[0]);
    for (size_t i = 0; i < count; i++) {
        bool file = strcmp(line[i]->phase, "file") == 0;
        explain_say(explain, archive_is_draft(explain->run, line[i]) ? draft_text(explain, line[i])
                             : file                                  ? file_text(arena, line[i])
                                    : explain_step(explain, line[i]));
    }
    tell_children(explain, candidate);
    buf_printf(explain->out, "\nEvery figure is a stored verdict: hone show %s.N\n",
               explain->run->row.name);
    return STATUS_OK;
}
