/* What the stand-ins for models share.
 *
 * They answer in the same forms as a model and are read by the same reader, so that a recipe runs
 * with no key, on real kernels, and one can tell what a model adds. They are deterministic: the
 * same moment and the same seed give the same words. */
#ifndef HONE_AGENT_BUILTIN_INT_H
#define HONE_AGENT_BUILTIN_INT_H

#include "agent/agent.h"
#include "base/rng.h"

struct builtin {
    struct arena *arena;
    const struct agent_moment *moment;
    struct rng rng;
    const char *schedule;              /* of the base; NULL: nobody knows one */
    const struct agent_technique *row; /* that the plan names or that holds; NULL: none */
};

/* ---- schedules (builtin_schedule.c) ---- */

struct builtin_proposal {
    const char *schedule; /* lines of all cases, every line filled in */
    const char *words;    /* what was changed, or that nothing was */
    bool fresh;           /* not the base, nor one that was tried */
};

/* The base with one answer of its sketch changed, of those that the row is about if it can be. */
struct builtin_proposal
builtin__change(struct builtin *builtin);

/* Answers of both schedules. */
struct builtin_proposal
builtin__cross(struct builtin *builtin);

/* The last schedule that worked, or the usual one. */
struct builtin_proposal
builtin__go_back(struct builtin *builtin);

/* Why the schedule or the kernel of the moment need not be built, or NULL. */
const char *
builtin__objection(struct builtin *builtin);

/* ---- code (builtin_code.c) ---- */

/* The schedule in the titles of a kernel of ours; NULL: there is none. */
const char *
builtin__schedule_in(struct builtin *builtin, const char *kernel);

/* The kernel of a schedule, one file for all cases; NULL: some case cannot be
 * emitted. */
const char *
builtin__kernel(struct builtin *builtin, const char *schedule);

/* The proposal in one of the forms that hold code. */
void
builtin__put_code(struct builtin *builtin, struct buf *reply, enum agent_format format,
                  const struct builtin_proposal *proposal);

/* ---- words and data (builtin_words.c) ---- */

void
builtin__put_pick(struct builtin *builtin, struct buf *reply);

/* OBJECT, LIST and TEXT, by role. */
void
builtin__put_words(struct builtin *builtin, struct buf *reply, enum agent_format format);

/* What a row may bring: `high` is the measured factor, 1.1 where nothing was measured, and never
 * more than the speed of light leaves; `low` a tenth of it. */
void
builtin__gain(const struct builtin *builtin, const struct agent_technique *row, double *low,
              double *high);

/* Earlier ones more often. */
size_t
builtin__early(struct builtin *builtin, size_t count);

/* Does the list of words have this one? */
bool
builtin__has_word(const char *list, const char *word, size_t length);

#endif
