/* hone bench: many tasks, one table; two benchmarks compared. */
#include "app/archive.h"
#include "app/bench.h"
#include "app/config.h"
#include "app/optimize.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "bench/rivals.h"
#include "bench/suite.h"

/* ---- the result ---- */

/* Into the file of -o, where that is wanted. */
static enum status
hand_over(struct cli *cli)
{
    const char *file = cli_given(cli, "o");
    if (file == NULL)
        return STATUS_OK;
    enum status status = file_write(file, cli->out.data, cli->out.length, cli->diags);
    cli->out = buf_in(cli->arena);
    return status;
}

static enum status
put_result(struct cli *cli, struct store *store, struct bench_view *view)
{
    if (cli->json || cli_given(cli, "csv") != NULL || cli->verbosity > 0)
        bench_read_searches(store, cli->arena, view);
    if (cli->json)
        bench_put_json(&cli->out, view);
    else if (cli_given(cli, "csv") != NULL)
        bench_put_csv(&cli->out, view);
    else
        bench_show_summary(&cli->out, view);
    enum status status = hand_over(cli);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < view->count; i++)
        if (!bench_is_correct(&view->rows[i]))
            return STATUS_NO;
    return STATUS_OK;
}

static enum status
run_benchmark(struct cli *cli)
{
    struct store *store = NULL;
    struct bench_view view = {0};
    const char *file = cli_given(cli, "o");
    enum status status = file ? optimize_check_output(cli, file) : STATUS_OK;
    if (status == STATUS_OK)
        status = bench_run(cli, cli_given(cli, "resume"), &store, &view);
    if (status == STATUS_OK)
        status = put_result(cli, store, &view);
    store_close(store);
    return status;
}

/* ---- a benchmark of the archive ---- */

enum status
bench_read_view(struct cli *cli, struct store *store, const char *name, struct bench_view *view)
{
    *view = (struct bench_view){0};
    enum status status = store_bench_find(store, cli->arena, name, &view->bench, cli->diags);
    if (status == STATUS_OK)
        status = store_bench_tasks(store, cli->arena, view->bench.id, &view->rows, &view->count,
                                   cli->diags);
    return status;
}

static bool
has_baseline(const struct bench_view *view, const char *name)
{
    for (size_t i = 0; i < view->count; i++) {
        const struct store_baseline *baseline = bench_baseline(&view->rows[i], name);
        if (baseline != NULL && bench_took_part(baseline))
            return true;
    }
    return false;
}

const char *
bench_shown(struct arena *arena, const struct bench_view *view)
{
    const char *names = view->bench.against;
    for (const char *const *name = bench_shown_only; *name != NULL; name++)
        if (has_baseline(view, *name))
            names = arena_printf(arena, "%s,%s", names, *name);
    return names;
}

const char *
bench_label(const struct bench_view *view)
{
    for (size_t i = 0; i < view->count; i++)
        if (suite_label(view->rows[i].suite) != NULL)
            return suite_label(view->rows[i].suite);
    return NULL;
}

/* ---- comparing ---- */

/* Per cents; INFINITY: there is no gate. */
static enum status
read_gate(struct cli *cli, double *gate)
{
    const char *text = cli_given(cli, "gate");
    char *end;
    *gate = INFINITY;
    if (text == NULL)
        return STATUS_OK;
    *gate = strtod(text, &end);
    if (end == text || *end || !(*gate >= 0 && *gate < 1000))
        return cli_wrong(cli, "--gate %s: write per cents, as in 3", text);
    return STATUS_OK;
}

static enum status
compare(struct cli *cli)
{
    struct store *store = NULL;
    struct bench_view before, after;
    struct bench_comparison comparison;
    double gate;
    enum status status = read_gate(cli, &gate);
    if (status == STATUS_OK && cli->operand_count != 2)
        status = cli_wrong(cli, "--compare: two benchmarks are wanted; write hone bench --compare "
                                "OLD NEW");
    if (status == STATUS_OK)
        status = archive_need(cli, STORE_READ, &store);
    if (status == STATUS_OK)
        status = bench_read_view(cli, store, cli->operands[0], &before);
    if (status == STATUS_OK)
        status = bench_read_view(cli, store, cli->operands[1], &after);
    if (status == STATUS_OK && (cli->json || cli->verbosity > 0)) {
        bench_read_searches(store, cli->arena, &before);
        bench_read_searches(store, cli->arena, &after);
    }
    store_close(store);
    if (status != STATUS_OK)
        return status;
    if (strcmp(before.bench.machine_key, after.bench.machine_key) != 0)
        log_warning(&cli->log, "%s was measured on %s, %s on %s: that may be the difference",
                    before.bench.name, before.bench.machine_key, after.bench.name,
                    after.bench.machine_key);
    bench_compare(cli->arena, before.rows, before.count, after.rows, after.count, &comparison);
    if (comparison.count == 0) /* a gate that saw nothing must not let anything pass */
        return cli_wrong(cli,
                         "--compare %s %s: no task is done in both (%zu only in the first, %zu "
                         "only in the second); name benchmarks of the same tasks",
                         before.bench.name, after.bench.name, comparison.only_before,
                         comparison.only_after);
    if (cli->json)
        bench_put_comparison(&cli->out, &before, &after, &comparison, gate);
    else
        bench_show_comparison(&cli->out, &before, &after, &comparison, gate, cli->verbosity);
    status = hand_over(cli);
    if (status != STATUS_OK)
        return status;
    return bench_regressed(&comparison, gate / 100) && !isinf(gate) ? STATUS_NO : STATUS_OK;
}

/* ---- the verb ---- */

static enum status
do_one(struct cli *cli, const char *text)
{
    const char *name = cli_given(cli, "resume");
    int64_t place;
    if (name == NULL || !text_integer(text, &place))
        return cli_wrong(cli, "--only %s: write --resume RUN --only N, N from 0 on", text);
    return bench_do_task(cli, name, place);
}

enum status
verb_bench(struct cli *cli)
{
    const struct config *config;
    const char *only = cli_given(cli, "only");
    enum status status = config_read(cli, &config);
    if (status == STATUS_OK)
        status = bench_check_options(cli);
    if (status != STATUS_OK)
        return status;
    if (only != NULL)
        return do_one(cli, only);
    if (cli_given(cli, "compare") != NULL)
        return compare(cli);
    if (cli->operand_count == 0 && cli_given(cli, "resume") == NULL)
        return cli_wrong(cli, "hone bench: which tasks? Write a suite, as in hone bench "
                              "kernelbench/1:1-20");
    return cli_given(cli, "prepare") != NULL ? bench_prepare_all(cli) : run_benchmark(cli);
}
