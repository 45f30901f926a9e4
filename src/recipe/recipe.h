/* recipe: how proposers are driven, as a file. Phases, each with one search topology, its roles,
 * memory, profiling, acceptance and stop rule, as doc/recipes.md says.
 *
 *   recipe_read     the text of a recipe, checked; mistakes get a position and a suggestion
 *   recipe_find     by name: the user's folder first, then those that came with the program
 *   recipe_list     all of them
 *   recipe_explain  what each line does, in words
 *
 * A recipe is data: what it says is carried out in run/.
 *
 * Ownership law: everything lives in the arena given.
 */
#ifndef HONE_RECIPE_RECIPE_H
#define HONE_RECIPE_RECIPE_H

#include "agent/agent.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "search/search.h"

/* ---- when a role speaks ---- */

/*    id             name           its number */
#define RECIPE_MOMENTS(X)                                                                      \
    X(START, "start") /* before the first round of the phase */                                \
    X(ROUND, "round") /* in every round, before the coder; the default of all but the coder */ \
    X(NO_PLAN, "no plan pending")                                                              \
    X(FAILING, "failing")   /* the base or the last candidate is not correct */                \
    X(PASSING, "passing")   /* it is */                                                        \
    X(ACCEPTED, "accepted") /* after an acceptance */                                          \
    X(STAGNANT, "stagnant") /* N rounds without one (the phase's number) */                    \
    X(EVERY, "every")       /* every N rounds */                                               \
    X(GAIN_BELOW, "gain <") /* a candidate came out slower than so many times its base */      \
    X(GAIN_ABOVE, "gain >")                                                                    \
    X(BEFORE, "before run") /* prefilter: on each proposal, before it is built */              \
    X(END, "end")           /* after the last round */

enum recipe_moment {
#define X(id, name) RECIPE_##id,
    RECIPE_MOMENTS(X)
#undef X
        RECIPE_MOMENT_COUNT
};

extern const char *const recipe_moment_name[RECIPE_MOMENT_COUNT];

struct recipe_when {
    enum recipe_moment moment;
    double number;
};

/* Things of the host that a role may use before it answers. */
#define RECIPE_TOOLS(X)                                                                        \
    X(COMPILE, "compile", "what the compiler says of a kernel; nothing is run")                \
    X(JUDGE, "judge", "whether a kernel is right on one set of inputs, and its times")         \
    X(PROFILE, "profile", "figures of a kernel, or of the base where none is given")           \
    X(SWEEP, "sweep", "the times of a kernel for the numbers that its //! tune lines declare") \
    X(SEARCH, "search", "kernels of similar tasks")                                            \
    X(READ, "read", "what is known of the techniques whose names follow")

enum recipe_tool {
#define X(id, name, words) RECIPE_TOOL_##id,
    RECIPE_TOOLS(X)
#undef X
        RECIPE_TOOL_COUNT
};

extern const char *const recipe_tool_name[RECIPE_TOOL_COUNT];
extern const char *const recipe_tool_words[RECIPE_TOOL_COUNT];

enum { RECIPE_WHENS = 6, RECIPE_MOST = 8 };

struct recipe_role {
    struct agent_role agent;
    struct recipe_when when[RECIPE_WHENS];
    size_t when_count;
    const char *model;               /* "cheap", "ask", a model of its own; NULL: the run's */
    double temperature[RECIPE_MOST]; /* by lane, the last one repeated */
    size_t temperature_count;        /* 0: not said */
    unsigned reply;                  /* tokens of the reply (8192) */
    unsigned samples;                /* calls for each item (1) */
    unsigned count;                  /* how many of this role speak: three verifiers (1) */
    unsigned tools;                  /* bits 1 << enum recipe_tool */
    unsigned steps;                  /* uses of tools before it must answer (4) */
    const char *question, *choices;  /* of a person: model = ask */
    double timeout;                  /* seconds that a person is waited for (60) */
    uint32_t line;
};

/* ---- memory ---- */

/*    id          name          words */
#define RECIPE_MEMORIES(X)                                                     \
    X(TRANSCRIPT, "transcript", "what this line of work said and heard")       \
    X(RULES, "rules", "\"you cannot ...\", told from a count on")              \
    X(INSIGHTS, "insights", "lessons in a sentence")                           \
    X(PAIRS, "pairs", "slow and fast versions")                                \
    X(CASES, "cases", "kernels of similar tasks")                              \
    X(RETRIEVAL, "retrieval", "the same, by the program's own features")       \
    X(SKILLS, "skills", "a predicate and its method")                          \
    X(GRAPH, "graph", "which method followed which, with gains")               \
    X(STATES, "states", "bottleneck and technique, predicted and actual gain") \
    X(WORLD, "world", "a tree of plans")                                       \
    X(EXEMPLARS, "exemplars", "kernels by speed bucket")                       \
    X(BOARD, "board", "what all lanes tried")                                  \
    X(TRAPS, "traps", "what failed")

enum recipe_memory {
#define X(id, name, words) RECIPE_MEMORY_##id,
    RECIPE_MEMORIES(X)
#undef X
        RECIPE_MEMORY_COUNT
};

struct recipe_memory_info {
    const char *name, *words;
};

extern const struct recipe_memory_info recipe_memory_info[RECIPE_MEMORY_COUNT];

struct recipe_remember { /* one for each kind that is used */
    unsigned most;       /* items shown; 0: the kind is not used */
    double above, below; /* written when the gain is above or below this (rules, insights, pairs);
                            NAN: no such bound; both NAN: always */
    unsigned count;      /* rules: shown when seen so often (1) */
    double q;            /* chosen by value, with this chance at random (0: by likeness) */
};

/* ---- a phase ---- */

enum recipe_proposer { RECIPE_BY_ROLES, RECIPE_BY_BUILTIN, RECIPE_BY_MEMORY }; /* `propose` */

/* What of the archive a phase begins with besides, by likeness to the task. */
#define RECIPE_SEEDS(X)         \
    X(PROGRAM, "same program")  \
    X(SHAPES, "nearest shapes") \
    X(FAMILY, "same family")

enum recipe_seed {
#define X(id, name) RECIPE_SEED_##id,
    RECIPE_SEEDS(X)
#undef X
        RECIPE_SEED_COUNT
};

/* What a phase hands on, or takes as finalists. */
enum recipe_pass { RECIPE_PASS_BEST, RECIPE_PASS_TOP, RECIPE_PASS_CORRECT, RECIPE_PASS_CELLS };

/* What is taken of a list of plans. */
enum recipe_take { RECIPE_TAKE_ALL, RECIPE_TAKE_MAX, RECIPE_TAKE_NEW_KIND, RECIPE_TAKE_TOP };

struct recipe_taking {
    enum recipe_take take;
    const char *field; /* "low", "high" */
    unsigned most;     /* of TOP */
};

enum recipe_objective { RECIPE_TIME, RECIPE_LIGHT, RECIPE_COUNTER };
enum recipe_over { RECIPE_GEOMEAN, RECIPE_WORST, RECIPE_SUM, RECIPE_WEIGHTS };
enum recipe_history {
    RECIPE_NO_HISTORY,
    RECIPE_LAST,
    RECIPE_ALL,
    RECIPE_SUMMARIES,
    RECIPE_ONE_LINE
};

/* What a way to change makes better use of: where that is used up it can bring nothing. */
#define RECIPE_AIMS(X)  \
    X(CACHE, "cache")   \
    X(MEMORY, "memory") \
    X(COMPUTE, "compute")

enum recipe_aim {
#define X(id, name) RECIPE_AIM_##id,
    RECIPE_AIMS(X)
#undef X
        RECIPE_AIM_COUNT
};

struct recipe_arm { /* of a bandit: a way to change */
    const char *name;
    enum recipe_aim aim;
};

struct recipe_accept {
    double gain;      /* at least so much faster: 1.01; 1.3 */
    bool significant; /* by paired comparison */
    double worst;     /* no case below this share of the base; 0: not asked */
    bool always;      /* any correct one (accept = correct), */
    bool any;         /* or any at all: linear refinement goes on from the last reply */
};

struct recipe_stop {
    double light;      /* share of the speed of light; 0: not asked */
    double gain;       /* times `naive`; 0 */
    unsigned stagnant; /* rounds without progress; 0 */
    unsigned unusable; /* replies; 0 */
    unsigned reverts;  /* steps in a row that were not accepted; 0 */
    unsigned correct;  /* enough correct ones: a race ends at 1; 0 */
    bool plans_empty;
    bool replanned; /* stagnant once more after the last replan */
    double seconds; /* of the phase; 0 */
};

/* ---- the end ---- */

/* How finalists are measured, */
#define RECIPE_MEASURES(X)          \
    X(CASES, "all cases")           \
    X(THREADS, "1 and all threads") \
    X(INTERLEAVED, "interleaved")

enum recipe_measure {
#define X(id, name) RECIPE_MEASURE_##id,
    RECIPE_MEASURES(X)
#undef X
        RECIPE_MEASURE_COUNT
};

/* and what they must stand besides. */
#define RECIPE_CHECKS(X)         \
    X(SEEDS, "fresh seeds")      \
    X(TESTER, "tester's inputs") \
    X(SIZES, "any-size draws")   \
    X(ASAN, "ASan build once")

enum recipe_check {
#define X(id, name) RECIPE_CHECK_##id,
    RECIPE_CHECKS(X)
#undef X
        RECIPE_CHECK_COUNT
};

struct recipe_finish {
    unsigned finalists; /* 0: it is no such phase */
    bool draft;         /* and the best of the first phase that asks nobody */
    unsigned measures;  /* bits 1 << enum recipe_measure */
    unsigned windows;   /* (1) */
    unsigned checks;    /* bits 1 << enum recipe_check */
    bool
        draft_in_doubt; /* what is faster only within the noise does not replace the draft's best */
};

struct recipe_phase {
    const char *name;
    enum recipe_proposer propose;
    struct search_rule search;
    unsigned evals_pointwise, evals_chain, evals_contraction, evals_convolution, evals_many;
    unsigned evals;    /* all families alike; 0: by family or the run's */
    double share;      /* of the run's time at most; 0: all that is left */
    double skip_light; /* the phase is left out where every case has this; 0: never */
    bool skip_correct; /* left out where something is correct already */
    bool start_naive;  /* begins with the plain C instead of what the phase before handed on */
    bool start_blank;  /* begins with nothing: the coder writes the first kernel */
    unsigned seeds;    /* bits 1 << enum recipe_seed */
    struct recipe_arm arms[SEARCH_ARMS];
    size_t arm_count; /* as many as search.arms */
    enum recipe_pass pass;
    unsigned pass_count;
    double mix_edit, mix_whole, mix_cross; /* of coder calls; all 0: as the role says */
    unsigned plans;                        /* asked of the planner (1) */
    struct recipe_taking take[4];
    size_t take_count;   /* 0: all */
    bool menu;           /* gated by conditions */
    double menu_dropout; /* each row is left out with this chance */
    double invent;       /* share of coder calls that must leave the menu */
    unsigned repair;     /* calls of the debugger for one candidate */
    unsigned sweep;      /* evaluations after a structural candidate; 0: none */
    double sweep_from;   /* of its base's speed (0.9) */
    unsigned prefilter;  /* of a round's proposals so many are run; 0: all */
    struct recipe_accept base, best;
    bool tie_simpler;
    enum recipe_objective objective;
    const char *counter; /* a figure of the profile, to be made smaller */
    enum recipe_over over;
    unsigned stagnant; /* rounds without acceptance -> STAGNANT (3) */
    unsigned replans;  /* times that the planner speaks again (2) */
    struct recipe_stop stop;
    enum recipe_history history;
    struct recipe_remember memory[RECIPE_MEMORY_COUNT];
    unsigned profile; /* figures that a role sees at most (12) */
    unsigned split;   /* parts that the program is cut into at most; 0: not cut */
    struct recipe_finish finish;
    struct recipe_role *roles;
    size_t role_count;
    uint32_t line;
};

struct recipe_budget { /* 0: not said */
    double seconds, cost, tokens;
    unsigned calls, evals;
};

struct recipe {
    const char *name, *about, *paper; /* paper: "2511.01884", or "" */
    const char *like;                 /* the one that it overrides, or "" */
    const char *file, *text;          /* where it was read from, and all of it */
    struct recipe_phase *phases;
    size_t phase_count;
    struct recipe_budget budget;
};

/* `like` finds other recipes as recipe_find() does. NULL after errors. */
struct recipe *
recipe_read(struct arena *arena, const struct source *source, struct diags *diags);

/* A name, or a path with a slash in it. NULL with a message and what was meant. */
struct recipe *
recipe_find(struct arena *arena, const char *name, struct diags *diags);

/* All, by name; those with mistakes are left out and told. */
size_t
recipe_list(struct arena *arena, struct recipe ***recipes, struct diags *diags);

/* Its file, each line with what it does. */
void
recipe_explain(struct buf *buf, struct arena *arena, const struct recipe *recipe);

/* The table of keys and the words that values are made of, as doc/recipes.md has them. */
void
recipe_put_keys(struct buf *buf);

const struct recipe_role *
recipe_role(const struct recipe_phase *phase, enum agent_kind kind); /* the first; NULL */

#endif
