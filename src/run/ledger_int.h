/* ledger: what the world answered, in order.
 *
 * The loop is a function of the recipe, the seed and answers: of the judge, of models, of people,
 * of the archive, of the clock. Each answer goes through here and is written down before it is
 * used. A run that goes on after a stop is given the answers that are there and asks the world only
 * for what is not; a replay is given nothing else.
 *
 * The clock stands still between answers, so that it too is an answer.
 */
#ifndef HONE_RUN_LEDGER_INT_H
#define HONE_RUN_LEDGER_INT_H

#include "run/run.h"

struct ledger {
    struct arena *arena;
    enum run_mode mode;
    struct store *store; /* NULL: nothing is written */
    int64_t run;
    double (*clock)(void *context);
    void *clock_context;
    double began;   /* by that clock, less the time that went by before */
    double seconds; /* since the run began, at the last answer */

    /* Of an earlier time. */
    struct store_event *events;
    size_t event_count, event_next;
    struct store_candidate *candidates;
    size_t candidate_count, candidate_next;
    size_t *verdicts; /* of each candidate: how many were reached again */
    struct store_call *calls;
    size_t call_count, call_next;

    const char *difference; /* the first one between then and now; NULL: none */
    bool off;               /* the run was stopped: what follows is no part of it */
    bool over;              /* a replay has come to the end of what is there */
};

/* Reads what is there of options->run, unless it is new. */
enum status
ledger_open(struct ledger *ledger, struct arena *arena, const struct run_options *options,
            double (*clock)(void *context), void *clock_context, struct diags *diags);

/* What was answered then: STATUS_OK. STATUS_NO: the world has to be asked; then ledger_note(). Any
 * other status: something else was asked then, or a replay is over. */
enum status
ledger_recall(struct ledger *ledger, const char *kind, const char *key, const char **answer,
              struct diags *diags);

enum status
ledger_note(struct ledger *ledger, const char *kind, const char *key, const char *answer,
            struct diags *diags);

/* An item of memory, and that it was learned: so that nothing is learned twice. */
enum status
ledger_learn(struct ledger *ledger, const char *key, struct store_item *item, struct diags *diags);

/* ---- rows of the archive: those that are there already are not added again ---- */

/* Fills in id and number. */
enum status
ledger_candidate(struct ledger *ledger, struct store_candidate *row, struct diags *diags);

enum status
ledger_verdict(struct ledger *ledger, const struct store_candidate *row,
               struct store_verdict *verdict, struct diags *diags);

enum status
ledger_decide(struct ledger *ledger, const struct store_candidate *row, const char *decision,
              struct diags *diags);

/* A call that is about to be sent. *then is what came of it, if it was answered before; NULL: it
 * has to be sent. Fills in id and ordinal. */
enum status
ledger_call(struct ledger *ledger, struct store_call *call, const struct store_call **then,
            struct diags *diags);

enum status
ledger_call_end(struct ledger *ledger, const struct store_call *call, struct diags *diags);

/* ---- the judge, through the ledger ---- */

/* Asks `real` only for what is not known. */
struct run_judge
ledger_judge(struct ledger *ledger, const struct run_judge *real);

/* ---- answers (answer.c) ---- */

const char *
answer_of_report(struct arena *arena, const struct judge_report *report);

/* The programs are those of the cases, in their order. False: it is no such text. */
bool
answer_read_report(struct arena *arena, const char *answer, const struct program *const *programs,
                   size_t program_count, struct judge_report *report);

#endif
