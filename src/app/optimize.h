/* The screens of `hone optimize`. */
#ifndef HONE_APP_OPTIMIZE_H
#define HONE_APP_OPTIMIZE_H

#include "app/cli.h"
#include "measure/measure.h"
#include "run/run.h"

struct optimize_view { /* what the live block needs besides the progress itself */
    struct cli *cli;
    const char *task;
    unsigned threads;
};

/* Reads the command line; `machine` and `target` are filled in before, and what the kernel must
 * keep to narrows the machine. */
enum status
optimize_read_options(struct cli *cli, struct run_options *options);

/* The file of -o is tried before the work, not after. */
enum status
optimize_check_output(struct cli *cli, const char *path);

/* A kernel file to begin with. */
enum status
optimize_start(struct cli *cli, const char *path, const struct target *target,
               const struct run_start **start);

/* ---- a team (optimize_team.c) ---- */

struct optimize_team {
    struct run_team team;
    struct llm_budget budget;
    struct cli *cli;
    struct judge *judge; /* whose box is used for figures; NULL: a replay */
    const char *task;
    const char *said[2]; /* the last news */
};

/* Reads --recipe, --model, --role and the limits of calls. `of`: the run that goes on or is
 * replayed, whose recipe is taken from the archive; NULL: a new one. options->team stays NULL
 * where the built-in search works alone. */
enum status
optimize_open_team(struct cli *cli, const struct store_run *of, struct run_options *options,
                   struct optimize_team *team);

void
optimize_close_team(struct optimize_team *team);

/* --dry-run (optimize_dry.c): what would be asked and what it would cost; the prompts are written
 * into a folder. */
enum status
optimize_dry(struct cli *cli, const struct run_options *options);

/* ---- the whole verb, also of resume and replay ---- */

/* Whoever does many tasks takes what was found, and shows and writes nothing. */
struct optimize_taker {
    void *context;
    bool alone;    /* the built-in search, whatever the settings say */
    bool no_naive; /* how long the plain C takes is not asked */
    void (*progress)(void *context, const struct run_progress *progress);
    /* While the judge is open. STATUS_NO comes here too: nothing correct was found. */
    enum status (*take)(void *context, enum status status, const struct run_options *options,
                        struct judge *judge, const struct run_result *result);
};

struct optimize_job {
    struct cli *cli; /* as if the verb were `optimize` */
    enum run_mode mode;
    struct store *store; /* of a run that goes on or is replayed, opened by the caller */
    struct store_run *earlier;
    const struct optimize_taker *taker; /* NULL: the verb itself */
};

enum status
optimize_do(struct optimize_job *job, struct run_result *result);

/* Why there is nothing to give: the verdict on what was tried last, and its words. */
enum judge_status
optimize_why(const struct run_result *result, const char **why);

/* Equal: times can be compared. The threads of `how` are known. */
const char *
optimize_machine_key(struct arena *arena, const struct measure_facts *facts,
                     const struct coder_machine *how);

/* What schedules are chosen by, as JSON. */
const char *
optimize_machine_json(struct arena *arena, const struct measure_facts *facts,
                      const struct coder_machine *machine);

/* A run_options.progress. */
void
optimize_progress(void *view, const struct run_progress *progress);

/* What is about to be done. */
void
optimize_announce(const struct optimize_view *view, const struct run_options *options);

/* What there is to show at the end. */
struct optimize_result {
    const char *task, *file;
    const char *run;            /* NULL: nothing was recorded */
    const char *recipe, *model; /* model NULL: none was asked */
    const struct run_options *options;
    const struct run_result *result;
};

void
optimize_screen(struct buf *out, const struct optimize_result *shown);
void
optimize_json(struct buf *out, const struct optimize_result *shown);

#endif
