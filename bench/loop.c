/* loop FOLDER [ROUNDS]: what the loop itself costs for each proposal: prompts, replies, joints, the
 * archive. A model by script answers at once; the time that judge and compiler take is measured
 * around them and left out. The aim is 150 ms for each proposal.
 *
 * Printed as time that went by and as time of the processor: on a machine that has other work to do
 * only the second is the loop's own. */
#include "base/clock.h"
#include "base/file.h"
#include "run/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double aim_ms = 150;

static const char program_text[] = "op softmax\n"
                                   "dim R=64, N=1024\n"
                                   "in X: f32[R,N]\n"
                                   "M[r] = max[j](X[r,j])\n"
                                   "E[r,j] = exp(X[r,j] - M[r])\n"
                                   "Y[r,j] = E[r,j] / sum[k](E[r,k])\n"
                                   "out Y\n";

/* Advice, a kernel, a lesson: each round asks three roles, which see what those of recipe hone do.
 */
static const char recipe_text[] =
    "recipe = bench\n"
    "[phase refine]\n"
    "start = naive\n"
    "topology = linear\n"
    "select = best\n"
    "rounds = %u\n"
    "accept.best = faster\n"
    "memory = board 16, insights 4, traps 6, pairs 2, retrieval 2\n"
    "[role critic]\n"
    "when = no plan pending\n"
    "sees = build, machine, task, base, profile, remarks, hotloop, attempts 3\n"
    "returns = { bottleneck: 30 words, method: 35 words, change: 35 words, low, high }\n"
    "[role coder]\n"
    "sees = build, contract, hone.h, machine, task, example, base, plan, remarks, hotloop,\n"
    "       attempts 3, traps, target, hints, insights, pairs\n"
    "returns = file\n"
    "[role summariser]\n"
    "when = accepted, gain < 0.87\n"
    "sees = parent, candidate, verdict, plan\n"
    "returns = { when, do, gain, snippet: 6 lines }\n";

static const char reply_text[] = "=== coder tokens=8000/2000\n"
                                 "Title: variant %u\nExpected gain: 5-12 %%\n"
                                 "```c\n"
                                 "#include <math.h>\n"
                                 "enum { variant = %u };\n"
                                 "void kernel(const float *restrict X, float *restrict Y)\n"
                                 "{\n"
                                 "    for (int r = 0; r < R; r++) {\n"
                                 "        float most = X[r * N], sum = 0;\n"
                                 "        for (int j = 1; j < N; j++)\n"
                                 "            most = fmaxf(most, X[r * N + j]);\n"
                                 "        for (int j = 0; j < N; j++)\n"
                                 "            sum += Y[r * N + j] = expf(X[r * N + j] - most);\n"
                                 "        for (int j = 0; j < N; j++)\n"
                                 "            Y[r * N + j] /= sum;\n"
                                 "    }\n"
                                 "}\n"
                                 "```\n";

static const char other_replies[] =
    "=== critic repeat\n{\"bottleneck\": \"loads\", \"method\": \"fewer\", \"change\": \"tile\","
    " \"low\": 1.05, \"high\": 1.1}\n"
    "=== summariser repeat\n{\"when\": \"a\", \"do\": \"b\", \"gain\": 1.1, \"snippet\": \"\"}\n";

/* ---- time ---- */

struct spent {
    double wall, processor;
};

static struct spent
now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (struct spent){clock_seconds(), (double)time.tv_sec + 1e-9 * (double)time.tv_nsec};
}

static void
add_since(struct spent *sum, struct spent begin)
{
    struct spent end = now();
    sum->wall += end.wall - begin.wall;
    sum->processor += end.processor - begin.processor;
}

/* ---- around the judge and the compiler ---- */

struct watch {
    struct judge *judge;
    struct run_judge real;
    struct spent judged, profiled;
    unsigned profiles;
};

static double
watch_seconds(void *context)
{
    struct watch *watch = context;
    return watch->real.seconds(watch->real.context);
}

static enum status
watch_open(void *context, const struct judge_setup *setup, struct judge_task **task,
           struct diags *diags)
{
    struct watch *watch = context;
    struct spent begin = now();
    enum status status = watch->real.open(watch->real.context, setup, task, diags);
    add_since(&watch->judged, begin);
    return status;
}

static void
watch_close(void *context, struct judge_task *task)
{
    struct watch *watch = context;
    struct spent begin = now();
    watch->real.close(watch->real.context, task);
    add_since(&watch->judged, begin);
}

static enum status
watch_look(void *context, struct judge_task *task, struct arena *arena, const char *text,
           struct judge_kernel **kernel, struct judge_report *report, struct diags *diags)
{
    struct watch *watch = context;
    struct spent begin = now();
    enum status status =
        watch->real.look(watch->real.context, task, arena, text, kernel, report, diags);
    add_since(&watch->judged, begin);
    return status;
}

static void
watch_drop(void *context, struct judge_kernel *kernel)
{
    struct watch *watch = context;
    struct spent begin = now();
    watch->real.drop(watch->real.context, kernel);
    add_since(&watch->judged, begin);
}

static enum status
watch_compare(void *context, struct judge_task *task, struct judge_kernel *champion,
              struct judge_kernel *challenger, size_t number, struct run_difference *difference,
              struct diags *diags)
{
    struct watch *watch = context;
    struct spent begin = now();
    enum status status = watch->real.compare(watch->real.context, task, champion, challenger,
                                             number, difference, diags);
    add_since(&watch->judged, begin);
    return status;
}

static enum status
watch_verdict(void *context, struct judge_task *task, struct arena *arena, const char *text,
              struct judge_report *report, struct diags *diags)
{
    struct watch *watch = context;
    struct spent begin = now();
    enum status status = watch->real.verdict(watch->real.context, task, arena, text, report, diags);
    add_since(&watch->judged, begin);
    return status;
}

static enum status
watch_profile(void *context, struct arena *arena, const char *kernel,
              const struct profile_options *options, struct profile *profile, struct diags *diags)
{
    struct watch *watch = context;
    struct profile_options filled = *options;
    struct spent begin = now();
    filled.box = judge_jail(watch->judge);
    watch->profiles++;
    enum status status = profile_kernel(arena, kernel, &filled, profile, diags);
    add_since(&watch->profiled, begin);
    return status;
}

/* ---- a run ---- */

static enum status
write_script(struct arena *arena, const char *path, unsigned rounds, struct diags *diags)
{
    struct buf text = buf_in(arena);
    buf_puts(&text, other_replies);
    for (unsigned i = 0; i < rounds; i++)
        buf_printf(&text, reply_text, i, i);
    return file_write(path, text.data, text.length, diags);
}

static enum status
open_run(struct arena *arena, const char *folder, struct run_options *options,
         struct store_run *run, struct diags *diags)
{
    const struct store_options how = {.program = "bench", .now = 1e9};
    *run = (struct store_run){.task = {.hash = "h",
                                       .family = "f",
                                       .name = "softmax",
                                       .canonical = "c",
                                       .source = program_text},
                              .target = "cpu",
                              .recipe = "bench",
                              .cases = "default",
                              .machine_key = "m",
                              .started = 1e9};
    options->run = run;
    enum status status =
        store_open(file_join(arena, folder, "archive.db"), &how, &options->store, diags);
    return status == STATUS_OK ? store_run_begin(options->store, run, diags) : status;
}

static enum status
open_team(struct arena *arena, const char *folder, unsigned rounds, struct run_team *team,
          struct diags *diags)
{
    const char *script = file_join(arena, folder, "script");
    char *recipe = arena_printf(arena, recipe_text, rounds);
    const struct source *source =
        memcpy(arena_alloc(arena, sizeof *source),
               &(struct source){"bench", recipe, strlen(recipe)}, sizeof *source);
    struct llm_choice *models = NULL;
    enum status status = write_script(arena, script, rounds, diags);
    team->recipe = recipe_read(arena, source, diags);
    if (status == STATUS_OK && team->recipe == NULL)
        status = STATUS_INPUT;
    if (status == STATUS_OK)
        status = llm_open(&(struct llm_options){.seed = 1}, &team->llm, diags);
    if (status == STATUS_OK)
        status = llm_models_parse(team->llm, arena, arena_printf(arena, "scripted:%s", script),
                                  &models, &team->model_count, diags);
    team->models = models;
    return status;
}

static void
put_line(const char *what, struct spent spent, unsigned proposals)
{
    printf("  %-28s %8.1f ms   processor %7.2f ms\n", what, 1e3 * spent.wall / proposals,
           1e3 * spent.processor / proposals);
}

static void
put_result(const struct watch *watch, struct spent all, const struct run_result *result)
{
    unsigned proposals = result->proposals ? result->proposals : 1;
    struct spent rest = {all.wall - watch->judged.wall - watch->profiled.wall,
                         all.processor - watch->judged.processor - watch->profiled.processor};
    printf("  %u proposals, %u evaluations, %u profiles, in %.1f s; for each proposal:\n",
           result->proposals, result->evaluations, watch->profiles, all.wall);
    put_line("compiled and measured", watch->judged, proposals);
    put_line("profiled", watch->profiled, proposals);
    put_line("the loop itself", rest, proposals);
    printf("  (aim: %.0f ms)\n", aim_ms);
}

static enum status
bench(struct arena *arena, const char *folder, unsigned rounds, struct diags *diags)
{
    static const size_t cases[] = {0};
    struct watch watch = {0};
    struct llm_budget budget = llm_budget_without_limits();
    struct run_team team = {.budget = &budget, .profile = watch_profile, .context = &watch};
    struct run_options options = {
        .lang = lang_parse(arena, "softmax.op", program_text, strlen(program_text), diags),
        .cases = cases,
        .case_count = 1,
        .target = target_find("cpu"),
        .machine = {.vector_bytes = 32, .registers = 16, .threads = 2, .l1 = 32768, .l2 = 524288},
        .seed = 7,
        .evaluations = 4 * rounds,
        .family = "f",
        .machine_key = "m",
        .team = &team};
    struct store_run run;
    struct run_result result = {0};
    enum status status = open_team(arena, folder, rounds, &team, diags);
    if (status == STATUS_OK)
        status = open_run(arena, folder, &options, &run, diags);
    if (status == STATUS_OK)
        status = judge_open(NULL, &watch.judge, diags);
    if (status == STATUS_OK) {
        watch.real = run_real_judge(watch.judge);
        const struct run_judge judge = {.context = &watch,
                                        .seconds = watch_seconds,
                                        .open = watch_open,
                                        .close = watch_close,
                                        .look = watch_look,
                                        .drop = watch_drop,
                                        .compare = watch_compare,
                                        .verdict = watch_verdict};
        struct spent all = {0}, begin = now();
        status = run_optimize_by(arena, &judge, &options, &result, diags);
        add_since(&all, begin);
        put_result(&watch, all, &result);
    }
    judge_close(watch.judge);
    store_close(options.store);
    llm_close(team.llm);
    return status;
}

int
main(int argc, char **argv)
{
    struct arena *arena = arena_create();
    struct diags *diags = diags_create(arena, 0);
    unsigned rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 24;
    if (argc < 2 || rounds == 0) {
        fprintf(stderr, "loop FOLDER [ROUNDS]\n");
        return 2;
    }
    enum status status = bench(arena, argv[1], rounds, diags);
    diags_print(diags, stderr, false);
    arena_destroy(arena);
    return status == STATUS_OK ? 0 : 3;
}
