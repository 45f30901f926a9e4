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

/* ---- what there is to say (builtin_say.c) ---- */

/* id, usual name of the field, other names */
#define BUILTIN_SAYINGS(X)                                                                  \
    X(TITLE, "title", "name technique row id optimization")                                 \
    X(WHAT, "change",                                                                       \
      "method what do plan suggestion strategy proposal modification fix minimal_fix_hint " \
      "rubric question")                                                                    \
    X(WHY, "reason",                                                                        \
      "bottleneck limit why diagnosis analysis rationale because summary text critique "    \
      "evidence error critical_issue why_it_matters")                                       \
    X(WHEN, "when", "condition state predicate key")                                        \
    X(KIND, "kind", "type category")                                                        \
    X(LOW, "low", "min lower")                                                              \
    X(HIGH, "high", "max upper gain speedup expected predicted")                            \
    X(SCORE, "score", "rating confidence priority value probability innovation")            \
    X(DIFFICULTY, "difficulty", "effort cost")                                              \
    X(RISK, "risk", "danger")                                                               \
    X(SNIPPET, "snippet", "code example schedule lines region anchors")                     \
    X(VERDICT, "verdict", "decision agree answer vote next run correct pass action")        \
    X(INPUT, "input", "tensor")                                                             \
    X(PATTERN, "pattern", "values expression inputs fill")                                  \
    X(SIZES, "sizes", "dims shape size")                                                    \
    X(DOCUMENT, "document", "documents file files doc docs")                                \
    X(BASE, "base", "pick choice parent")                                                   \
    X(OTHER, "reference", "other second partner")

enum builtin_saying {
#define X(id, ...) SAY_##id,
    BUILTIN_SAYINGS(X)
#undef X
        SAYING_COUNT
};

struct builtin_said {
    const char *text[SAYING_COUNT]; /* NULL: nothing */
    double number[SAYING_COUNT];    /* NAN: none */
};

struct builtin_said
builtin__nothing(void);

/* Items of the role, at most `most`; 0: there is nothing to say. */
size_t
builtin__say(struct builtin *builtin, struct builtin_said *said, size_t most);

/* What a row may bring: `high` is the measured factor, 1.1 where nothing was measured, and never
 * more than the speed of light leaves; `low` a tenth of it. */
void
builtin__gain(const struct builtin *builtin, const struct agent_technique *row, double *low,
              double *high);

/* ---- choosing (builtin_choose.c) ---- */

/* The number of a choice, from 0, and why. */
size_t
builtin__choose(struct builtin *builtin, const char **reason);

/* The number of the choice at this rank: by time where times are told, else as they stand. */
size_t
builtin__choice_at(const struct builtin *builtin, size_t rank);

/* Choices that share words with what is asked, the best first; none that shares nothing. */
size_t
builtin__documents(const struct builtin *builtin, size_t *chosen, size_t most);

/* ---- words and data (builtin_words.c) ---- */

void
builtin__put_pick(struct builtin *builtin, struct buf *reply);

/* OBJECT, LIST and TEXT, by role. */
void
builtin__put_words(struct builtin *builtin, struct buf *reply, enum agent_format format);

/* ---- small things (builtin.c) ---- */

/* Earlier ones more often. */
size_t
builtin__early(struct builtin *builtin, size_t count);

/* Does the list of words have this one? */
bool
builtin__has_word(const char *list, const char *word, size_t length);

#endif
