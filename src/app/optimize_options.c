/* The options of `hone optimize`: budgets, goals, what the kernel must keep to, where to begin. */
#include "app/config.h"
#include "app/optimize.h"
#include "app/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "box/box.h"

/* ---- budgets ---- */

static const struct effort {
    const char *name;
    unsigned evaluations, patience;
    double seconds; /* 0: no limit */
} efforts[] = {{"quick", 12, 8, 20}, {"normal", 40, 24, 0}, {"deep", 400, 100, 3600}};

enum { EFFORTS = sizeof efforts / sizeof *efforts, USUAL_EFFORT = 1 };

static enum status
read_effort(struct cli *cli, struct run_options *options)
{
    const char *text = cli_given(cli, "effort");
    const struct effort *effort = text ? NULL : &efforts[USUAL_EFFORT];
    for (size_t i = 0; i < EFFORTS && text != NULL; i++)
        if (!strcmp(text, efforts[i].name))
            effort = &efforts[i];
    if (effort == NULL)
        return cli_wrong(cli, "--effort %s: write quick, normal or deep", text);
    options->evaluations = effort->evaluations;
    options->patience = effort->patience;
    options->seconds = effort->seconds;
    return STATUS_OK;
}

/* *count stays as it is if none was given. */
static enum status
read_count(struct cli *cli, const char *name, unsigned *count)
{
    const char *text = cli_given(cli, name);
    int64_t value;
    if (text == NULL)
        return STATUS_OK;
    if (!text_integer(text, &value) || value < 1 || value > 100000)
        return cli_wrong(cli, "--%s %s: write a number from 1 on", name, text);
    *count = (unsigned)value;
    return STATUS_OK;
}

static enum status
read_seconds(struct cli *cli, double *seconds)
{
    const char *text = cli_given(cli, "time");
    if (text != NULL && !text_seconds(text, seconds))
        return cli_wrong(cli, "--time %s: write seconds, or 2m, 1h", text);
    return STATUS_OK;
}

/* "0.9" of the speed of light, or "2x" as fast as naive. */
static enum status
read_until(struct cli *cli, struct run_options *options)
{
    const char *text = cli_given(cli, "until");
    char *end;
    if (text == NULL)
        return STATUS_OK;
    double value = strtod(text, &end);
    bool gain = end > text && strcmp(end, "x") == 0;
    if (end == text || (*end && !gain) || !(value > 0) || value > (gain ? 1e6 : 1))
        return cli_wrong(cli,
                         "--until %s: write a share of the speed of light, 0.9, or how many times "
                         "as fast as naive, 2x",
                         text);
    options->until_light = gain ? 1 : value;
    options->until_gain = gain ? value : 0;
    return STATUS_OK;
}

/* ---- what the kernel must keep to ---- */

/* -march=native takes what there is; a flag takes away what is too much. */
static const struct isa {
    const char *name;
    unsigned bytes; /* of a vector */
    const char *flags;
} isas[] = {{"sse2", 16, "-mno-avx"}, {"avx2", 32, "-mno-avx512f"}, {"avx512", 64, NULL}};

static enum status
require_isa(struct cli *cli, const char *name, struct run_options *options)
{
#ifdef __x86_64__
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++)
        if (!strcmp(name, isas[i].name)) {
            if (isas[i].bytes < options->machine.vector_bytes)
                schedule_set_width(&options->machine, isas[i].bytes);
            options->flags = isas[i].flags;
            return STATUS_OK;
        }
#else
    (void)isas;
    (void)options;
#endif
    return cli_wrong(cli, "--require isa<=%s: write sse2, avx2 or avx512, on x86", name);
}

static enum status
require_threads(struct cli *cli, const char *text, struct run_options *options)
{
    int64_t most;
    if (!text_integer(text, &most) || most < 1 || most > BOX_CPUS_MAX)
        return cli_wrong(cli, "--require threads<=%s: write a number from 1 on", text);
    unsigned now = options->threads ? options->threads : options->machine.threads;
    if (now > most && cli_given(cli, "threads") != NULL)
        return cli_wrong(cli, "--require threads<=%s and --threads %u: leave one of them out", text,
                         now);
    if (now > most)
        options->threads = (unsigned)most;
    return STATUS_OK;
}

static enum status
require(struct cli *cli, const char *word, struct run_options *options)
{
    if (!strcmp(word, "deterministic")) {
        options->deterministic = true;
        return STATUS_OK;
    }
    if (text_starts(word, "isa<="))
        return require_isa(cli, word + strlen("isa<="), options);
    if (text_starts(word, "threads<="))
        return require_threads(cli, word + strlen("threads<="), options);
    return cli_wrong(cli, "--require %s: write threads<=N, isa<=sse2|avx2|avx512, deterministic",
                     word);
}

static enum status
read_requirements(struct cli *cli, struct run_options *options)
{
    const char *text = cli_given(cli, "require");
    char *next = text ? arena_strdup(cli->arena, text) : NULL;
    enum status status = STATUS_OK;
    if (text != NULL && text[strspn(text, " ,")] == 0)
        return require(cli, "''", options);
    for (char *word = strsep(&next, " ,"); word != NULL && status == STATUS_OK;
         word = strsep(&next, " ,"))
        if (*word)
            status = require(cli, word, options);
    return status;
}

/* ---- where to begin ---- */

enum status
optimize_start(struct cli *cli, const char *path, const struct target *target,
               const struct run_start **start)
{
    struct source *source = arena_alloc(cli->arena, sizeof *source);
    struct run_start *read = arena_alloc(cli->arena, sizeof *read);
    enum status status = file_read(cli->arena, path, target->limits.text_bytes, source, cli->diags);
    if (status != STATUS_OK)
        return status;
    if (memchr(source->text, 0, source->length) != NULL)
        return cli_wrong(cli, "%s: it is binary; name a kernel in C", path);
    run_start_read(cli->arena, source, read);
    *start = read;
    return STATUS_OK;
}

/* ---- all of them ---- */

enum status
optimize_read_options(struct cli *cli, struct run_options *options)
{
    const char *start = cli_given(cli, "start");
    enum status status = read_effort(cli, options);
    options->seed = 1;
    if (status == STATUS_OK)
        status = read_count(cli, "evals", &options->evaluations);
    if (status == STATUS_OK)
        status = read_count(cli, "patience", &options->patience);
    if (status == STATUS_OK)
        status = read_seconds(cli, &options->seconds);
    if (status == STATUS_OK)
        status = read_until(cli, options);
    if (status == STATUS_OK)
        status = cli_seed(cli, 16, &options->seed);
    if (status == STATUS_OK)
        status = config_threads(cli, &options->threads);
    if (status == STATUS_OK)
        status = read_requirements(cli, options);
    if (status == STATUS_OK && start != NULL)
        status = optimize_start(cli, start, options->target, &options->start);
    if (options->threads > 0)
        options->machine.threads = options->threads;
    return status;
}
