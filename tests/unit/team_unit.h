/* A run of a recipe with a judge by formula and a model by script, and what the archive has of it
 * afterwards. */
#ifndef HONE_TESTS_TEAM_UNIT_H
#define HONE_TESTS_TEAM_UNIT_H

#include "fake_judge.h"
#include "scratch.h"

#include "base/file.h"

#include <signal.h>

static const char norm_text[] = "op norm\n"
                                "dim R=24, N=200\n"
                                "in X: f32[R,N]\n"
                                "M[r] = mean[j](X[r,j])\n"
                                "Y[r,j] = exp(X[r,j] - M[r])\n"
                                "out Y\n"
                                "case odd R=3 N=37\n";

static const size_t both[] = {0, 1};

/* A kernel that the judge by formula gives the cost that it names. */
#define KERNEL(title, words)                                          \
    title "\n```c\n"                                                  \
          "enum { " words " };\n"                                     \
          "void kernel(const float *restrict X, float *restrict Y)\n" \
          "{\n    for (long i = 0; i < R * N; i++)\n        Y[i] = X[i];\n}\n```\n"

/* ---- a run ---- */

struct play {
    const char *program;       /* NULL: norm_text */
    const char *task;          /* its hash; NULL: "4f1c" */
    const char *recipe;        /* a name, or the text of one: with a newline */
    const char *script;        /* NULL: stand-ins, */
    const char *model;         /* or this one, */
    struct llm_options client; /* by such a client */
    bool unfinished;           /* the archive does not learn that it ended */
    unsigned evaluations;
    size_t cases;
    struct fake fake;
    unsigned threads; /* 0: 1 */
    double calls;
    const char *embeddings; /* a model, for memory */
    const char *archive;
    bool no_archive; /* the run has none */
    const volatile sig_atomic_t *stop;
    enum run_mode mode;
    enum status (*profile)(void *context, struct arena *arena, const char *kernel,
                           const struct profile_options *options, struct profile *profile,
                           struct diags *diags);
    const char *(*ask)(void *context, const char *question, const char *choices, double seconds);
    void (*between)(struct unit *unit, struct store *store, int64_t run); /* before it begins */
};

struct played {
    enum status status;
    struct run_result result;
    struct llm_budget budget;
    const char *roles; /* of the calls, in order: "planner coder coder" */
    struct store_candidate *candidates;
    size_t candidate_count;
    struct store_call *calls;
    size_t call_count;
    struct store_event *events;
    size_t event_count;
    struct store_run run;
};

static inline struct store_run
new_run(const char *recipe)
{
    return (struct store_run){.task = {.hash = "4f1c",
                                       .family = "f",
                                       .name = "norm",
                                       .canonical = "c",
                                       .source = norm_text},
                              .target = "cpu",
                              .recipe = recipe,
                              .cases = "default; odd",
                              .machine_key = "m",
                              .started = 1e9};
}

static inline void
must(struct unit *unit, enum status status)
{
    if (status != STATUS_OK)
        fail_msg("%s", unit_printed(unit, false));
}

static inline const struct recipe *
recipe_of(struct unit *unit, const char *text)
{
    struct source source = {"test", text, strlen(text)};
    const struct recipe *recipe = strchr(text, '\n')
                                      ? recipe_read(unit->arena, &source, unit->diags)
                                      : recipe_find(unit->arena, text, unit->diags);
    if (recipe == NULL)
        fail_msg("%s", unit_printed(unit, false));
    return recipe;
}

static inline void
read_back(struct unit *unit, struct store *store, struct played *played)
{
    struct buf roles = buf_in(unit->arena);
    must(unit, store_candidates(store, unit->arena, played->run.id, STORE_WHOLE,
                                &played->candidates, &played->candidate_count, unit->diags));
    must(unit, store_calls(store, unit->arena, played->run.id, STORE_WHOLE, &played->calls,
                           &played->call_count, unit->diags));
    must(unit, store_events(store, unit->arena, played->run.id, 0, 0, &played->events,
                            &played->event_count, unit->diags));
    for (size_t i = 0; i < played->call_count; i++)
        buf_printf(&roles, "%s%s", i ? " " : "", played->calls[i].role);
    played->roles = roles.data ? roles.data : "";
}

static inline struct played
play(struct unit *unit, const struct play *play)
{
    struct played played = {.run = new_run("test")};
    struct store_options how = {.program = "hone 0.1", .now = 1e9};
    struct store *store;
    struct fake fake = play->fake;
    struct run_judge judge = fake_judge(unit, &fake);
    struct llm_options client = play->client;
    struct llm_choice *models = NULL;
    const struct llm_model *embeddings = NULL;
    const char *asked = play->script ? "scripted:script" : play->model;
    size_t model_count = 0;
    struct llm *llm = NULL;
    const char *program = play->program ? play->program : norm_text;
    struct lang *lang = lang_parse(unit->arena, "test.op", program, strlen(program), unit->diags);
    const char *archive = play->archive ? play->archive : "archive.db";
    if (play->task != NULL)
        played.run.task.hash = play->task;
    must(unit, store_open(archive, &how, &store, unit->diags));
    if (play->mode == RUN_FRESH)
        must(unit, store_run_begin(store, &played.run, unit->diags));
    else {
        must(unit, store_run_find(store, unit->arena, "last", &played.run, unit->diags));
        if (play->mode == RUN_RESUME)
            must(unit, store_run_resume(store, played.run.id, unit->diags));
    }
    if (play->between != NULL)
        play->between(unit, store, played.run.id);
    if (play->script != NULL) {
        must(unit, file_write("script", play->script, strlen(play->script), unit->diags));
    }
    client.seed = 1;
    if (asked != NULL) {
        must(unit, llm_open(&client, &llm, unit->diags));
        must(unit, llm_models_parse(llm, unit->arena, asked, &models, &model_count, unit->diags));
    }
    if (play->embeddings != NULL)
        must(unit, llm_model_find(llm, play->embeddings, &embeddings, unit->diags));
    played.budget = llm_budget_without_limits();
    if (play->calls > 0)
        played.budget.calls = play->calls;
    struct run_team team = {.recipe = recipe_of(unit, play->recipe),
                            .llm = llm,
                            .models = models,
                            .model_count = model_count,
                            .stand_ins = asked == NULL,
                            .profile = play->profile,
                            .ask = play->ask,
                            .embeddings = embeddings,
                            .budget = &played.budget};
    struct run_options options = {
        .lang = lang,
        .cases = both,
        .case_count = play->cases ? play->cases : 1,
        .target = target_find("cpu"),
        .machine = {.vector_bytes = 32, .registers = 16, .threads = 2, .l1 = 32768, .l2 = 524288},
        .threads = play->threads ? play->threads : 1,
        .seed = 7,
        .evaluations = play->evaluations ? play->evaluations : 40,
        .store = play->no_archive ? NULL : store,
        .run = play->no_archive ? NULL : &played.run,
        .mode = play->mode,
        .stop = play->stop,
        .family = "f",
        .machine_key = "m",
        .team = &team};
    played.status = run_optimize_by(unit->arena, &judge, &options, &played.result, unit->diags);
    if (play->mode != RUN_REPLAY && !play->unfinished)
        must(unit, store_run_finish(store, played.run.id, STORE_DONE, "", played.result.number, 1e9,
                                    unit->diags));
    read_back(unit, store, &played);
    llm_close(llm);
    store_close(store);
    return played;
}

static inline const struct store_candidate *
candidate_with(const struct played *played, const char *words)
{
    for (size_t i = 0; i < played->candidate_count; i++)
        if (strstr(played->candidates[i].kernel, words) != NULL &&
            strcmp(played->candidates[i].phase, "file") != 0)
            return &played->candidates[i];
    return NULL;
}

/* For one run of many: what it made goes with its arena. */
static inline struct unit
own_unit(void)
{
    struct arena *arena = arena_create();
    return (struct unit){arena, diags_create(arena, 0)};
}

#endif
