/* hone show: what the archive holds. */
#include "app/bench.h"
#include "app/figures.h"
#include "app/screen.h"
#include "app/show.h"
#include "app/table.h"

#include "base/clock.h"
#include "base/diff.h"
#include "base/text.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOST_RUNS 20
#define MOST_BENCHES 5

/* ---- all runs and benchmarks ---- */

static void
keep_task(struct show_list *list, struct store_run *runs)
{
    size_t kept = 0;
    for (size_t i = 0; list->task != NULL && i < list->count; i++)
        if (strstr(runs[i].task.name, list->task) != NULL)
            runs[kept++] = runs[i];
    if (list->task != NULL)
        list->count = kept;
}

static enum status
list_runs(struct cli *cli)
{
    struct show_list list = {.task = cli_given(cli, "task"), .now = clock_wall()};
    struct store *store;
    struct store_run *runs = NULL;
    struct store_bench *benches = NULL;
    bool all = cli_given(cli, "all") || list.task != NULL;
    enum status status = archive_open(cli, STORE_READ, &store);
    if (status == STATUS_OK)
        status = store_runs(store, cli->arena, all ? 0 : MOST_RUNS, &runs, &list.count, cli->diags);
    if (status == STATUS_OK && list.task == NULL)
        status = store_benches(store, cli->arena, all ? 0 : MOST_BENCHES, &benches,
                               &list.bench_count, cli->diags);
    if (status == STATUS_OK)
        status = store_totals(store, &list.totals, cli->diags);
    store_close(store);
    if (status != STATUS_OK && status != STATUS_NO)
        return status;
    keep_task(&list, runs);
    list.runs = runs;
    list.benches = benches;
    (cli->json ? show_runs_json : show_runs)(&cli->out, &list);
    return STATUS_OK;
}

static enum status
find_words(struct cli *cli, const char *words)
{
    struct store *store;
    struct store_hit *hits;
    size_t count = 0;
    enum status status = archive_need(cli, STORE_READ, &store);
    if (status == STATUS_OK)
        status = store_search(store, cli->arena, words, cli_given(cli, "all") ? 1000 : MOST_RUNS,
                              &hits, &count, cli->diags);
    store_close(store);
    if (status == STATUS_NO || (status == STATUS_OK && count == 0)) {
        if (cli->json)
            show_hits_json(&cli->out, NULL, 0);
        else
            log_hint(&cli->log, "no candidate has these words in its code, schedule or rationale");
        return STATUS_NO;
    }
    if (status == STATUS_OK)
        (cli->json ? show_hits_json : show_hits)(&cli->out, hits, count);
    return status;
}

/* ---- following a run ---- */

static const char *
candidate_news(struct arena *arena, const struct archive_run *run,
               const struct store_candidate *candidate)
{
    const struct store_case *timed = archive_timed(candidate);
    const char *decision = archive_decision(run, candidate);
    return arena_printf(
        arena, "#%lld %s: %s%s%s%s%s  %s", (long long)candidate->number, archive_who(candidate),
        archive_verdict(candidate)->status, timed ? " " : "",
        timed ? table_time(arena, timed->median_us) : "", *decision ? ", " : "", decision,
        screen_cut(arena, candidate->why[0] ? candidate->why : candidate->schedule, 48));
}

/* Candidates that were judged since; *told counts them. */
static void
tell_news(struct cli *cli, struct arena *arena, const struct archive_run *run, size_t *told)
{
    struct buf title = buf_in(arena);
    show_title(&title, run, clock_wall());
    title.data[title.length - 1] = '\0';
    for (; *told < run->candidate_count; ++*told) {
        const struct store_candidate *candidate = &run->candidates[*told];
        if (candidate->verdict_count == 0)
            break;
        const char *news = candidate_news(arena, run, candidate);
        const char *lines[] = {title.data, arena_printf(arena, " last   %s", news)};
        log_progress(&cli->log, lines, 2, arena_printf(arena, "%s: %s", run->row.name, news), true);
    }
}

/* Until it runs no more. */
static enum status
follow(struct cli *cli, struct store *store, const char *name)
{
    const struct timespec pause = {.tv_nsec = 300 * 1000 * 1000};
    size_t told = 0;
    for (bool first = true;; first = false) {
        struct arena *arena = arena_create();
        struct archive_run run;
        if (arena == NULL)
            return STATUS_MACHINE;
        enum status status = archive_read_run(store, arena, name, STORE_BRIEF, &run, cli->diags);
        bool running = status == STATUS_OK && run.row.state == STORE_RUNNING;
        if (first && running)
            told = run.candidate_count; /* what was before is in the tree at the end */
        if (running)
            tell_news(cli, arena, &run, &told);
        arena_destroy(arena);
        if (!running) {
            log_progress_done(&cli->log);
            return status;
        }
        nanosleep(&pause, NULL);
    }
}

/* ---- a run ---- */

static void
put_call_texts(struct buf *out, const struct store_call *call)
{
    buf_printf(out, "--- system\n%s\n--- prompt\n%s\n", call->system, call->prompt);
    if (call->reasoning[0] != '\0')
        buf_printf(out, "--- reasoning\n%s\n", call->reasoning);
    buf_printf(out, "--- reply (%s)\n%s\n", call->outcome[0] ? call->outcome : "none", call->reply);
}

static enum status
show_one_call(struct cli *cli, struct store *store, const struct archive_run *run)
{
    const char *text = cli_given(cli, "call");
    int64_t ordinal;
    struct store_call call;
    if (!text_integer(text, &ordinal) || ordinal < 0 || (size_t)ordinal >= run->call_count)
        return cli_wrong(cli, "--call %s: %s has %zu calls; --prompts lists them", text,
                         run->row.name, run->call_count);
    enum status status =
        store_call_get(store, cli->arena, run->calls[ordinal].id, &call, cli->diags);
    if (status == STATUS_OK)
        put_call_texts(&cli->out, &call);
    return status;
}

/* Figures that others publish are for whoever asks for more. */
static enum status
put_run(struct cli *cli, struct store *store, const struct archive_run *run)
{
    struct bench_figures figures;
    bool wanted = cli->json || cli->verbosity > 0;
    enum status status =
        wanted ? figures_of_run(store, cli->arena, run, &figures, cli->diags) : STATUS_OK;
    if (status != STATUS_OK)
        return status;
    if (cli->json) {
        show_run_json(&cli->out, run, &figures, clock_wall());
        return STATUS_OK;
    }
    show_tree(&cli->out, run, wanted ? &figures : NULL, clock_wall());
    return STATUS_OK;
}

static enum status
show_run(struct cli *cli, struct store *store)
{
    struct archive_run run;
    enum status status =
        archive_read_run(store, cli->arena, cli->operands[0], STORE_BRIEF, &run, cli->diags);
    if (status == STATUS_OK && cli_given(cli, "watch") && run.row.state == STORE_RUNNING) {
        const char *name = arena_strdup(cli->arena, run.row.name);
        status = follow(cli, store, name);
        if (status == STATUS_OK)
            status = archive_read_run(store, cli->arena, name, STORE_BRIEF, &run, cli->diags);
    }
    if (status != STATUS_OK)
        return status;
    if (cli_given(cli, "call"))
        return show_one_call(cli, store, &run);
    if (cli->json || cli_given(cli, "prompts") == NULL)
        return put_run(cli, store, &run);
    show_calls(&cli->out, &run);
    return STATUS_OK;
}

/* ---- a benchmark ---- */

/* As `hone bench --resume` shows one that is done. */
static enum status
show_bench(struct cli *cli, struct store *store)
{
    struct bench_view view;
    if (cli_given(cli, "prompts") || cli_given(cli, "call") || cli_given(cli, "watch"))
        return cli_wrong(cli,
                         "%s is a benchmark, which has neither calls nor a tree; hone show RUN "
                         "of one of its runs has them",
                         cli->operands[0]);
    enum status status = bench_read_view(cli, store, cli->operands[0], &view);
    if (status != STATUS_OK)
        return status;
    if (cli->json || cli->verbosity > 0)
        bench_read_searches(store, cli->arena, &view);
    (cli->json ? bench_put_json : bench_show_summary)(&cli->out, &view);
    return STATUS_OK;
}

/* ---- a candidate ---- */

static enum status
read_parent(struct cli *cli, struct store *store, struct show_candidate *shown)
{
    const struct store_candidate *candidate = shown->candidate;
    if (candidate->parent_count == 0)
        return STATUS_OK;
    const struct store_parent *parent = &candidate->parents[0];
    struct store_candidate *row = arena_alloc(cli->arena, sizeof *row);
    const char *name = archive_name(cli->arena, parent->run, parent->number);
    shown->parent = row;
    shown->parent_name = strcmp(parent->run, shown->run->row.name) == 0 ? strchr(name, '.') : name;
    return store_candidate_find(store, cli->arena, name, row, cli->diags);
}

static enum status
read_candidate(struct cli *cli, struct store *store, struct show_candidate *shown)
{
    struct store_candidate *row = arena_alloc(cli->arena, sizeof *row);
    struct archive_run *run = arena_alloc(cli->arena, sizeof *run);
    struct store_call *call = arena_alloc(cli->arena, sizeof *call);
    const char *name = cli->operands[0];
    const char *run_name = arena_strndup(cli->arena, name, strcspn(name, "."));
    *shown = (struct show_candidate){.run = run, .candidate = row};
    enum status status = store_candidate_find(store, cli->arena, name, row, cli->diags);
    if (status == STATUS_OK)
        status = archive_read_run(store, cli->arena, run_name, STORE_BRIEF, run, cli->diags);
    if (status == STATUS_OK)
        status = read_parent(cli, store, shown);
    if (status == STATUS_OK && row->call > 0) {
        shown->call = call;
        status = store_call_get(store, cli->arena, row->call, call, cli->diags);
    }
    return status;
}

/* Exactly the bytes, but for a terminal. */
static void
put_code(struct cli *cli, const struct store_candidate *candidate)
{
    size_t start = cli->out.length;
    buf_add(&cli->out, candidate->kernel, candidate->kernel_length);
    if (isatty(STDOUT_FILENO) && candidate->kernel_length > 0)
        text_printable(cli->out.data + start);
}

static enum status
put_call_text(struct cli *cli, const struct show_candidate *shown, bool reply)
{
    if (shown->call == NULL)
        return cli_wrong(cli, "%s was not proposed by a model; --code shows it", cli->operands[0]);
    if (reply)
        buf_printf(&cli->out, "%s\n", shown->call->reply);
    else
        buf_printf(&cli->out, "--- system\n%s\n--- prompt\n%s\n", shown->call->system,
                   shown->call->prompt);
    return STATUS_OK;
}

/* One of its texts; *done: one was asked for. */
static enum status
put_text(struct cli *cli, const struct show_candidate *shown, bool *done)
{
    const struct store_verdict *verdict = archive_verdict(shown->candidate);
    *done = true;
    if (cli_given(cli, "code"))
        put_code(cli, shown->candidate);
    else if (cli_given(cli, "asm"))
        return show_asm(cli, shown);
    else if (cli_given(cli, "diff") && shown->parent == NULL)
        return cli_wrong(cli, "%s has no parent; hone diff A B compares any two", cli->operands[0]);
    else if (cli_given(cli, "diff"))
        show_diff(cli->arena, &cli->out, shown);
    else if (cli_given(cli, "prompt") || cli_given(cli, "reply"))
        return put_call_text(cli, shown, cli_given(cli, "reply") != NULL);
    else if (cli_given(cli, "verdict") && verdict == NULL)
        return cli_wrong(cli, "%s was not judged yet", cli->operands[0]);
    else if (cli_given(cli, "verdict"))
        buf_printf(&cli->out, "%s\n", verdict->json);
    else
        *done = false;
    return STATUS_OK;
}

static enum status
show_one_candidate(struct cli *cli, struct store *store)
{
    struct show_candidate shown;
    bool done = false;
    enum status status = read_candidate(cli, store, &shown);
    if (status == STATUS_OK)
        status = put_text(cli, &shown, &done);
    if (status == STATUS_OK && !done)
        (cli->json ? show_candidate_json : show_candidate)(&cli->out, &shown);
    return status;
}

/* ---- the verb ---- */

/* A name that is of neither is told to be of no run. */
static enum status
show_named(struct cli *cli, struct store *store)
{
    const char *name = cli->operands[0];
    if (archive_is_candidate(name))
        return show_one_candidate(cli, store);
    if (!archive_is_run(cli, store, name) && archive_is_bench(cli, store, name))
        return show_bench(cli, store);
    return show_run(cli, store);
}

/* Options that make sense for one of the three only. */
static enum status
check_options(struct cli *cli)
{
    static const char *const of_all[] = {"task", "all", "find", NULL};
    static const char *const of_run[] = {"prompts", "call", "watch", NULL};
    static const char *const of_candidate[] = {"code",  "asm",     "diff", "prompt",
                                               "reply", "verdict", NULL};
    bool one = cli->operand_count > 0;
    bool candidate = one && archive_is_candidate(cli->operands[0]);
    for (const char *const *name = of_all; *name; name++)
        if (one && cli_given(cli, *name))
            return cli_wrong(cli, "--%s looks at all runs; write hone show --%s without a name",
                             *name, *name);
    for (const char *const *name = of_run; *name; name++)
        if ((candidate || !one) && cli_given(cli, *name))
            return cli_wrong(cli, "--%s belongs to a run; write hone show RUN --%s", *name, *name);
    for (const char *const *name = of_candidate; *name; name++)
        if (!candidate && cli_given(cli, *name))
            return cli_wrong(cli, "--%s belongs to a candidate; write hone show %s.best --%s",
                             *name, one ? cli->operands[0] : "last", *name);
    return STATUS_OK;
}

enum status
verb_show(struct cli *cli)
{
    struct store *store;
    enum status status = check_options(cli);
    if (status != STATUS_OK)
        return status;
    if (cli_given(cli, "find"))
        return find_words(cli, cli_given(cli, "find"));
    if (cli->operand_count == 0)
        return list_runs(cli);
    status = archive_need(cli, STORE_READ, &store);
    if (status == STATUS_OK)
        status = show_named(cli, store);
    store_close(store);
    /* Texts of models are shown; --code gives them as they are. */
    if (!cli->json && cli_given(cli, "code") == NULL && cli->out.length > 0)
        text_printable(cli->out.data);
    return status;
}
