/* What `hone bench` was asked to do: its options, which tasks, against whom. */
#include "app/bench.h"
#include "app/config.h"
#include "app/optimize.h"

#include <jansson.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "bench/rivals.h"
#include "bench/suite.h"
#include "bridge/bridge.h"
#include "bridge/library.h"
#include "measure/measure.h"
#include "recipe/recipe.h"

#define USUAL_EVALUATIONS "40"
#define USUAL_TIME "60"

enum { MOST_JOBS = 64 }; /* as many as bench_work() takes */

const char *const bench_search_options[] = {"evals", "time",     "threads", "seed",
                                            "model", "role",     "calls",   "tokens",
                                            "cost",  "env-file", NULL};

/* What was not given on the command line, as it is now: a benchmark that goes on tomorrow, with
 * another environment, is to be the same. NULL: nothing. */
static const char *
usual_option(struct cli *cli, const char *name, const char *recipes, unsigned threads)
{
    bool asks = strcmp(recipes, "builtin") != 0;
    if (!strcmp(name, "evals"))
        return USUAL_EVALUATIONS;
    if (!strcmp(name, "time"))
        return USUAL_TIME;
    if (!strcmp(name, "threads"))
        return arena_printf(cli->arena, "%u", threads);
    if (!strcmp(name, "model"))
        return asks ? cli->config->values[CONFIG_MODEL].text : NULL;
    return asks && !strcmp(name, "cost") ? cli->config->values[CONFIG_COST].text : NULL;
}

/* The command line, as far as it matters to the tasks. */
static const char *
options_json(struct cli *cli, const char *recipes, unsigned threads)
{
    struct buf json = buf_in(cli->arena);
    buf_puts(&json, "{\"operands\":[");
    for (size_t i = 0; i < cli->operand_count; i++) {
        buf_puts(&json, i ? "," : "");
        json_put_string(&json, cli->operands[i]);
    }
    buf_puts(&json, "],\"options\":{\"bench\":true");
    for (const char *const *name = bench_search_options; *name != NULL; name++) {
        const char *given = cli_given(cli, *name);
        const char *text = given ? given : usual_option(cli, *name, recipes, threads);
        if (text != NULL)
            json_field_string(&json, *name, text);
    }
    buf_puts(&json, "}}");
    return json.data;
}

const char *
bench_option(struct arena *arena, const struct store_bench *bench, const char *name)
{
    json_t *root = json_loads(bench->options, 0, NULL);
    const char *text = json_string_value(json_object_get(json_object_get(root, "options"), name));
    const char *kept = text ? arena_strdup(arena, text) : NULL;
    json_decref(root);
    return kept;
}

/* What belongs to a new benchmark; one that goes on keeps what it was begun with. */
static enum status
check_resume(struct cli *cli)
{
    static const char *const others[] = {"against", "recipe", "prepare", "compare", NULL};
    const char *const *const lists[] = {others, bench_search_options};
    const char *name = cli_given(cli, "resume");
    for (size_t i = 0; name != NULL && i < sizeof lists / sizeof *lists; i++)
        for (const char *const *option = lists[i]; *option != NULL; option++)
            if (cli_given(cli, *option) != NULL)
                return cli_wrong(cli, "--resume %s: it goes on as it was begun; leave --%s out",
                                 name, *option);
    return STATUS_OK;
}

enum status
bench_check_options(struct cli *cli)
{
    const char *evals = cli_given(cli, "evals"), *time = cli_given(cli, "time");
    int64_t number;
    double seconds;
    uint64_t seed;
    if (evals != NULL && (!text_integer(evals, &number) || number < 1 || number > 100000))
        return cli_wrong(cli, "--evals %s: write a number from 1 to 100000", evals);
    if (time != NULL && !text_seconds(time, &seconds))
        return cli_wrong(cli, "--time %s: write seconds, or 2m, 1h", time);
    if (cli_given(cli, "csv") != NULL && cli->json)
        return cli_wrong(cli, "--csv and --json: leave one of them out");
    if (cli_given(cli, "gate") != NULL && cli_given(cli, "compare") == NULL)
        return cli_wrong(cli, "--gate is for --compare; write hone bench --compare OLD NEW --gate "
                              "3");
    if (cli_given(cli, "csv") != NULL && cli_given(cli, "compare") != NULL)
        return cli_wrong(cli, "--csv is of one benchmark; write --compare OLD NEW --json");
    enum status status = check_resume(cli);
    return status == STATUS_OK ? cli_seed(cli, 16, &seed) : status;
}

static unsigned
processors(struct arena *arena)
{
    int *cpus;
    return (unsigned)measure_cpus(arena, &cpus);
}

enum status
bench_read_jobs(struct cli *cli, unsigned threads, unsigned *jobs)
{
    const char *text = cli_given(cli, "jobs");
    int64_t number = 1;
    unsigned there = processors(cli->arena);
    if (text != NULL && (!text_integer(text, &number) || number < 1 || number > MOST_JOBS))
        return cli_wrong(cli, "--jobs %s: write a number from 1 to %d", text, MOST_JOBS);
    *jobs = (unsigned)number;
    unsigned each = threads > 0 ? threads : there / *jobs;
    if (*jobs > 1 && (each < 1 || each * *jobs > there))
        return cli_wrong(cli,
                         "--jobs %u: with %u threads each this needs %u processors, here are %u; "
                         "write fewer jobs, or --threads %u",
                         *jobs, each ? each : 1, *jobs * (each ? each : 1), there,
                         there / *jobs ? there / *jobs : 1);
    return STATUS_OK;
}

const char *
bench_torch(const struct cli *cli)
{
    return cli->config->values[CONFIG_TORCH].text;
}

/* Says in one line how to get it where it is not there. */
static bool
has_rival(struct cli *cli, const char *name)
{
    const struct library_info *library = library_named(name);
    const struct bridge_options options = {.environment = bench_torch(cli)};
    bool there = library ? library_is_there(name) : bridge_is_there(cli->arena, &options);
    if (!there && library != NULL)
        log_warning(&cli->log, "no %s, its baseline is left out; apt-get install %s installs it",
                    library->title, library->package);
    else if (!there)
        log_warning(&cli->log, "no PyTorch, its baselines are left out; ./run setup-torch installs "
                               "it");
    return there;
}

static bool
is_baseline(const char *word)
{
    for (const char *const *name = bench_rival_names; *name != NULL; name++)
        if (strcmp(*name, word) == 0)
            return true;
    return strcmp(word, "naive") == 0;
}

/* "torch,naive": in the order of the rivals, the plain C last, whatever was written; what the gain
 * is counted against stands first. */
static enum status
read_against(struct cli *cli, const char **against)
{
    const char *text = cli_given(cli, "against");
    char *next = arena_strdup(cli->arena, text ? text : "torch,naive");
    struct buf names = buf_in(cli->arena);
    text = arena_strdup(cli->arena, next);
    for (char *word; (word = strsep(&next, ",")) != NULL;)
        if (!is_baseline(word))
            return cli_wrong(cli, "--against %s: write torch, openblas, onednn, naive, or several",
                             word);
    for (const char *const *name = bench_rival_names; *name != NULL; name++)
        if (bench_is_against(text, *name) && has_rival(cli, *name))
            buf_printf(&names, "%s,", *name);
    if (names.length == 0 || bench_is_against(text, "naive"))
        buf_puts(&names, "naive");
    else
        names.data[--names.length] = '\0';
    *against = names.data;
    return STATUS_OK;
}

/* "b" of "a,b" */
static bool
has_word(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (; list != NULL; list = strchr(list, ','), list += list != NULL)
        if (strncmp(list, word, length) == 0 && (list[length] == '\0' || list[length] == ','))
            return true;
    return false;
}

/* Without models the built-in search works alone. */
static enum status
read_recipes(struct cli *cli, const struct config *config, const char **recipes)
{
    bool models = cli_given(cli, "model") != NULL || config->values[CONFIG_MODEL].text != NULL;
    *recipes = cli_given(cli, "recipe");
    if (*recipes == NULL)
        *recipes = models ? config->values[CONFIG_RECIPE].text : "builtin";
    char *next = arena_strdup(cli->arena, *recipes);
    for (char *word; (word = strsep(&next, ",")) != NULL;) {
        if (strcmp(word, "builtin") != 0 && recipe_find(cli->arena, word, cli->diags) == NULL)
            return STATUS_INPUT;
        if (next != NULL && has_word(next, word)) /* its rows could not be told apart */
            return cli_wrong(cli, "--recipe %s: it stands there twice; write each recipe once",
                             word);
    }
    return STATUS_OK;
}

static const char **
option_place(const struct cli *cli, const char *name)
{
    for (size_t i = 0; cli->verb->options[i].name != NULL || cli->verb->options[i].letter; i++)
        if (cli->verb->options[i].name != NULL && !strcmp(cli->verb->options[i].name, name))
            return &cli->given[i];
    return NULL;
}

void
bench_as_search(const struct cli *cli, const struct store_bench *bench, const char *recipe,
                struct cli *search)
{
    size_t count = 0;
    *search = *cli;
    search->verb = cli_find_verb("optimize");
    while (search->verb->options[count].name != NULL || search->verb->options[count].letter)
        count++;
    search->given = arena_array(cli->arena, count + 1, sizeof *search->given);
    for (const char *const *name = bench_search_options; *name != NULL; name++)
        *option_place(search, *name) = bench_option(cli->arena, bench, *name);
    if (strcmp(recipe, "builtin") != 0)
        *option_place(search, "recipe") = recipe;
}

void
bench_set_case(struct cli *search, const char *cases)
{
    *option_place(search, "case") = cases;
}

/* Models, roles and limits, as each search would find them: what is wrong with them would break one
 * task after the other. */
static enum status
check_teams(struct cli *cli, const struct store_bench *bench)
{
    char *next = arena_strdup(cli->arena, bench->recipes);
    enum status status = STATUS_OK;
    for (char *recipe; status == STATUS_OK && (recipe = strsep(&next, ",")) != NULL;) {
        struct cli search;
        struct run_options options = {0};
        struct optimize_team team = {0};
        if (strcmp(recipe, "builtin") == 0)
            continue;
        bench_as_search(cli, bench, recipe, &search);
        status = optimize_open_team(&search, NULL, &options, &team);
        if (status == STATUS_OK)
            optimize_close_team(&team);
    }
    return status;
}

/* ---- the plan ---- */

static enum status
select_tasks(struct cli *cli, struct suite_plan *plan)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < cli->operand_count && status == STATUS_OK; i++)
        status = suite_select(cli->arena, cli->operands[i], plan, cli->diags);
    return status;
}

static const char *
title_of(const struct cli *cli)
{
    struct buf title = buf_in(cli->arena);
    for (size_t i = 0; i < cli->operand_count; i++)
        buf_printf(&title, "%s%s", i ? " " : "", cli->operands[i]);
    return title.data;
}

/* Each task under each recipe, one recipe after another: what drifts touches them alike. */
static void
make_rows(struct cli *cli, const struct suite_plan *plan, const char *recipes,
          struct bench_view *view)
{
    size_t names = 1;
    for (const char *at = recipes; *at; at++)
        names += *at == ',';
    view->rows = arena_array(cli->arena, plan->count * names + 1, sizeof *view->rows);
    for (size_t i = 0; i < plan->count; i++) {
        char *next = arena_strdup(cli->arena, recipes);
        for (char *recipe; (recipe = strsep(&next, ",")) != NULL;)
            view->rows[view->count++] = (struct store_bench_task){
                .suite = plan->tasks[i].suite,
                .number = plan->tasks[i].number ? plan->tasks[i].number : (int64_t)i + 1,
                .name = plan->tasks[i].name,
                .path = plan->tasks[i].path,
                .marks = plan->tasks[i].marks,
                .recipe = recipe,
                .status = ""};
    }
}

enum status
bench_plan(struct cli *cli, struct bench_view *view, unsigned *threads)
{
    struct store_bench *bench = &view->bench;
    struct suite_plan plan = {0};
    unsigned given = 0, jobs = 1;
    enum status status = select_tasks(cli, &plan);
    if (status == STATUS_OK)
        status = config_threads(cli, &given);
    if (status == STATUS_OK)
        status = bench_read_jobs(cli, given, &jobs);
    if (status == STATUS_OK)
        status = read_recipes(cli, cli->config, &bench->recipes);
    if (status == STATUS_OK)
        status = read_against(cli, &bench->against);
    if (status != STATUS_OK)
        return status;
    make_rows(cli, &plan, bench->recipes, view);
    *threads = given > 0 ? given : processors(cli->arena) / jobs;
    bench->title = title_of(cli);
    bench->model = cli_given(cli, "model");
    bench->options = options_json(cli, bench->recipes, *threads);
    return check_teams(cli, bench);
}
