/* hone bench --prepare: PyTorch's builds of the tasks, which take minutes in networks, are made and
 * kept; nothing is timed, so the machine may be busy. */
#include "app/bench.h"

#include "bench/rivals.h"

static bool
prepare_task(const struct store_bench_task *row, const char *torch, unsigned threads, uint64_t seed,
             struct arena *arena, struct diags *diags)
{
    const struct bench_rivalry rivalry = {.lang = lang_open(arena, row->path, diags),
                                          .threads = threads,
                                          .seed = seed,
                                          .suite = row->suite,
                                          .path = row->path,
                                          .torch = torch};
    return rivalry.lang != NULL && bench_prepare(arena, &rivalry, diags);
}

static void
show(struct cli *cli, size_t done, size_t count, const char *name)
{
    const char *line = arena_printf(cli->arena, "%zu/%zu %s", done, count, name);
    log_progress(&cli->log, &line, 1, line, true);
}

enum status
bench_prepare_all(struct cli *cli)
{
    struct bench_view view = {0};
    uint64_t seed = 1;
    unsigned threads;
    size_t failed = 0;
    enum status status = bench_plan(cli, &view, &threads);
    if (status == STATUS_OK)
        status = cli_seed(cli, 16, &seed);
    if (status != STATUS_OK)
        return status;
    if (!bench_is_against(view.bench.against, "torch"))
        return cli_wrong(cli, "--prepare: it makes PyTorch's builds; write --against torch, and "
                              "./run setup-torch where it is not installed");
    for (size_t i = 0; i < view.count; i++) {
        struct arena *arena = arena_create();
        struct diags *diags = arena != NULL ? diags_create(arena, 0) : NULL;
        if (arena == NULL)
            return STATUS_MACHINE;
        show(cli, i + 1, view.count, view.rows[i].name);
        if (!prepare_task(&view.rows[i], bench_torch(cli), threads, seed, arena, diags)) {
            failed++;
            log_warning(&cli->log, "%s: no build works", view.rows[i].name);
        }
        for (size_t k = 0; k < diags_count(diags); k++)
            log_warning(&cli->log, "%s: %s", view.rows[i].name, diags_get(diags, k)->message);
        arena_destroy(arena);
    }
    log_progress_done(&cli->log);
    buf_printf(&cli->out, "%zu of %zu tasks: PyTorch's builds are there\n", view.count - failed,
               view.count);
    return failed == 0 ? STATUS_OK : STATUS_NO;
}
