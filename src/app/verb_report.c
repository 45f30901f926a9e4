/* hone report: a run or a benchmark as one file of HTML. */
#include "app/bench.h"
#include "app/figures.h"
#include "app/report.h"
#include "app/screen.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/num.h"
#include "base/text.h"
#include "report/report.h"

#include <string.h>

/* ---- kernels ---- */

static enum status
read_whole(struct cli *cli, struct store *store, const struct archive_run *run, int64_t number,
           const struct store_candidate **candidate)
{
    struct store_candidate *row = arena_alloc(cli->arena, sizeof *row);
    *candidate = row;
    return store_candidate_find(store, cli->arena, archive_name(cli->arena, run->row.name, number),
                                row, cli->diags);
}

static enum status
read_kernels(struct cli *cli, struct store *store, struct report_subject *subject)
{
    const struct archive_run *run = subject->run;
    const struct store_candidate *best = archive_candidate(run, run->row.leader);
    if (best == NULL)
        return STATUS_OK;
    const struct store_candidate *start = archive_start(run, best);
    enum status status = read_whole(cli, store, run, best->number, &subject->best);
    if (status == STATUS_OK && start != best)
        status = read_whole(cli, store, run, start->number, &subject->start);
    return status;
}

/* ---- the file ---- */

static const char *
file_of(struct cli *cli, const char *name)
{
    const char *given = cli_given(cli, "o");
    return given ? given : arena_printf(cli->arena, "%s.html", name);
}

static enum status
write_page(struct cli *cli, enum report_kind kind, const char *title, const struct buf *json,
           const char *file, const char *holds)
{
    struct buf page = buf_in(cli->arena), size = buf_in(cli->arena);
    report_put_page(&page, kind, title, json->data);
    enum status status = file_write(file, page.data, page.length, cli->diags);
    if (status != STATUS_OK)
        return status;
    num_put_count(&size, (double)page.length, "B");
    if (cli->json) {
        buf_puts(&cli->out, "{\"file\":");
        json_put_string(&cli->out, file);
        json_field_number(&cli->out, "bytes", (double)page.length);
        json_field_string(&cli->out, "holds", holds);
        buf_puts(&cli->out, "}\n");
        return STATUS_OK;
    }
    buf_printf(&cli->out, "%s   %s, one file, opens without a network\n  %s\n", file, size.data,
               holds);
    return STATUS_OK;
}

/* ---- runs ---- */

static enum status
report_run(struct cli *cli, struct store *store, const char *name)
{
    struct archive_run run;
    enum status status = archive_read_run(store, cli->arena, name, STORE_BRIEF, &run, cli->diags);
    struct bench_figures figures;
    struct report_subject subject = {.run = &run, .figures = &figures, .now = clock_wall()};
    if (status == STATUS_OK)
        status = read_kernels(cli, store, &subject);
    if (status == STATUS_OK)
        status = figures_of_run(store, cli->arena, &run, &figures, cli->diags);
    if (status != STATUS_OK)
        return status;
    struct buf json = buf_in(cli->arena);
    subject.file = file_of(cli, run.row.task.name);
    bool roofline = report_run_json(&json, &subject);
    const char *title = arena_printf(cli->arena, "%s, run %s", run.row.task.name, run.row.name);
    const char *holds = arena_printf(
        cli->arena, "best-so-far curve, tree%s %s candidates, %smachine, how to repeat",
        roofline ? ", roofline with" : " of",
        screen_number(cli->arena, (int64_t)run.candidate_count),
        subject.start  ? "kernel and diff, "
        : subject.best ? "kernel, "
                       : "");
    return write_page(cli, REPORT_RUN, title, &json, subject.file, holds);
}

/* ---- benchmarks ---- */

/* "kernelbench" and "kernelbench/1" of a task of the latter; or the whole title. */
static bool
is_of(const struct bench_view *view, const char *suite)
{
    size_t length = strlen(suite);
    if (strcmp(view->bench.title, suite) == 0)
        return true;
    for (size_t i = 0; i < view->count; i++) {
        const char *name = view->rows[i].suite;
        if (length > 0 && text_starts(name, suite) && (!name[length] || name[length] == '/'))
            return true;
    }
    return false;
}

/* One of this name, or the newest one that has tasks of this suite. STATUS_NO: neither. */
static enum status
find_bench(struct cli *cli, struct store *store, const char *name, struct store_bench *bench)
{
    struct diags *unheard = diags_create(cli->arena, 4);
    struct store_bench *all;
    size_t count = 0;
    if (store_bench_find(store, cli->arena, name, bench, unheard) == STATUS_OK)
        return STATUS_OK;
    store_benches(store, cli->arena, 0, &all, &count, unheard);
    for (size_t i = 0; i < count; i++) {
        struct bench_view view = {.bench = all[i]};
        if (store_bench_tasks(store, cli->arena, all[i].id, &view.rows, &view.count, unheard) !=
                STATUS_OK ||
            !is_of(&view, name))
            continue;
        *bench = all[i];
        return STATUS_OK;
    }
    return STATUS_NO;
}

/* "kernelbench/1" is kernelbench-1.html; no file begins with a dash or a dot, as a path would. */
static const char *
bench_file(struct cli *cli, const char *title)
{
    title += strspn(title, "./");
    char *name = arena_strndup(cli->arena, title, strcspn(title, " ,:"));
    for (char *at = name; *at; at++)
        if (*at == '/')
            *at = '-';
    return file_of(cli, *name ? name : "bench");
}

static enum status
report_bench(struct cli *cli, struct store *store, const struct store_bench *bench)
{
    struct bench_view view;
    struct buf json = buf_in(cli->arena);
    enum status status = bench_read_view(cli, store, bench->name, &view);
    if (status != STATUS_OK)
        return status;
    bench_read_searches(store, cli->arena, &view);
    const char *file = bench_file(cli, bench->title);
    report_bench_json(&json, &view, file, clock_wall());
    return write_page(
        cli, REPORT_BENCH, arena_printf(cli->arena, "%s, benchmark %s", bench->title, bench->name),
        &json, file,
        arena_printf(cli->arena,
                     "summary, speed-ups of %s task%s, fast_p, light, the slowest, machine, how to "
                     "repeat",
                     screen_number(cli->arena, (int64_t)view.count), view.count == 1 ? "" : "s"));
}

/* ---- the verb ---- */

static enum status
report_named(struct cli *cli, struct store *store, const char *name)
{
    struct store_bench bench;
    if (archive_is_run(cli, store, name))
        return report_run(cli, store, name);
    if (find_bench(cli, store, name, &bench) == STATUS_OK)
        return report_bench(cli, store, &bench);
    if (archive_is_candidate(name))
        return cli_wrong(
            cli, "%s: pages are of runs; write hone report %s, or hone show %s for a candidate",
            name, arena_strndup(cli->arena, name, strcspn(name, ".")), name);
    return cli_wrong(cli, "%s: no run and no benchmark has this name; hone show lists the runs",
                     name);
}

enum status
verb_report(struct cli *cli)
{
    struct store *store;
    enum status status = archive_need(cli, STORE_READ, &store);
    if (status == STATUS_OK)
        status = report_named(cli, store, cli->operands[0]);
    store_close(store);
    return status;
}
