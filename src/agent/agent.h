/* agent: what roles are shown and what they answer. Texts in, texts out: no call is made here.
 *
 *   agent_prompt     sections become a prompt, most constant first, within its length
 *   agent_parse      a reply becomes a kernel, edits, a schedule, a program, plans, picks
 *   agent_apply      edits or fills on a base text
 *   agent_menu       rows of the technique table whose condition holds
 *   agent_changes    legal changes of a schedule, to be chosen from
 *   agent_builtin    what a role says with no model: deterministic, honest, of the same form
 *
 * A role is what it sees, what it returns and the words around them; when it speaks is the recipe's
 * business. A reply is data and never trusted: it cannot choose what happens to it.
 *
 * Ownership law: everything lives in the arena given.
 */
#ifndef HONE_AGENT_AGENT_H
#define HONE_AGENT_AGENT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/status.h"
#include "coder/coder.h"
#include "lang/lang.h"
#include "profile/profile.h"
#include "target/target.h"

/* ---- roles ---- */

/*    id          name          in a sentence, for prompts and listings */
#define AGENT_ROLES(X)                                                           \
    X(PLANNER, "planner", "proposes what to change, with expected gains")        \
    X(CODER, "coder", "writes the change")                                       \
    X(CRITIC, "critic", "names one bottleneck and one change")                   \
    X(DEBUGGER, "debugger", "repairs what failed")                               \
    X(REFLECTOR, "reflector", "says why the last attempts came out as they did") \
    X(SELECTOR, "selector", "chooses whom to work on")                           \
    X(CROSSOVER, "crossover", "joins two kernels")                               \
    X(PROFILER, "profiler", "reads the figures")                                 \
    X(SUMMARISER, "summariser", "turns a pair of kernels into a lesson")         \
    X(VERIFIER, "verifier", "says whether a kernel is worth running")            \
    X(TESTER, "tester", "proposes inputs that may break it")                     \
    X(LIBRARIAN, "librarian", "chooses documents to read")                       \
    X(CONTROLLER, "controller", "steers: continue, redirect, accept, stop")

enum agent_kind {
#define X(id, name, words) AGENT_##id,
    AGENT_ROLES(X)
#undef X
        AGENT_KIND_COUNT
};

struct agent_name {
    const char *name, *words;
};

extern const struct agent_name agent_role_name[AGENT_KIND_COUNT];

/* ---- sections ---- */

/* In the order of a prompt, most constant first. `drop`: dropped in this order when the prompt is
 * too long, 0: never. `tokens`: usual length.
 *    id               name              drop tokens  what it holds */
#define AGENT_SECTIONS(X)                                                                     \
    X(BUILD, "build", 0, 150, "compiler, flags, instruction set, headers")                    \
    X(CONTRACT, "contract", 0, 500, "what a kernel must look like, for this task")            \
    X(CONTRACT_SHORT, "contract.short", 0, 200, "the same in brief")                          \
    X(HONE_H, "hone.h", 0, 350, "the header a kernel may include")                            \
    X(MACHINE, "machine", 0, 150, "cores, lanes, registers, peak, bandwidth, caches")         \
    X(TASK, "task", 0, 600, "the operator, plain C, cases with light and limit")              \
    X(EXAMPLE, "example", 1, 400, "a kernel of the same family at a small size")              \
    X(INDEX, "index", 7, 300, "documents that can be asked for")                              \
    X(DOCUMENTS, "documents", 8, 800, "documents that were asked for")                        \
    X(SKILLS, "skills", 9, 300, "methods whose condition holds")                              \
    X(RULES, "rules", 10, 200, "mistakes seen often")                                         \
    X(GRAPH, "graph", 11, 400, "what followed what in earlier searches")                      \
    X(CASES, "cases", 12, 600, "kernels of similar tasks")                                    \
    X(EXEMPLARS, "exemplars", 13, 800, "kernels of this task by speed")                       \
    X(MENU, "menu", 14, 300, "techniques whose condition holds")                              \
    X(SCHEDULES, "schedules", 2, 250, "best and worst schedules with times")                  \
    X(TOP, "top", 15, 1500, "the best kernels, slowest first")                                \
    X(BEST, "best", 6, 1500, "the fastest kernel so far")                                     \
    X(ROOT, "root", 16, 1500, "the kernel the search began with")                             \
    X(BASE, "base", 0, 1500, "the kernel that is to be changed")                              \
    X(OTHER, "other", 17, 1500, "a second kernel: to be crossed, or for reference")           \
    X(PARENT, "parent", 0, 1500, "the kernel before the change")                              \
    X(CANDIDATE, "candidate", 0, 1500, "the kernel after it")                                 \
    X(FINALIST, "finalist", 0, 1500, "the kernel that would be given")                        \
    X(FAMILY, "family", 18, 400, "children, siblings and cousins of the base, one line each") \
    X(LEADERBOARD, "leaderboard", 19, 200, "the best so far, one line each")                  \
    X(STAGES, "stages", 20, 150, "time, share and limit of each stage")                       \
    X(PROFILE, "profile", 21, 200, "figures with their meaning")                              \
    X(REMARKS, "remarks", 22, 150, "what the compiler did not vectorise")                     \
    X(HOT_LOOP, "hotloop", 4, 400, "assembly of the hot loop")                                \
    X(WORLD, "world", 23, 400, "open and closed plans with scores")                           \
    X(STATES, "states", 24, 300, "bottlenecks met before: predicted and actual gains")        \
    X(PAIRS, "pairs", 25, 400, "slow and fast versions with what made the difference")        \
    X(INSIGHTS, "insights", 3, 240, "lessons of this and earlier runs")                       \
    X(TRAPS, "traps", 26, 240, "what failed, one line each")                                  \
    X(BOARD, "board", 27, 500, "what was tried in all lanes: expected and got")               \
    X(HISTORY, "history", 28, 800, "what this line of work did so far")                       \
    X(ATTEMPTS, "attempts", 5, 200, "changes of this base, newest first: expected and got")   \
    X(PLAN, "plan", 0, 120, "the one change to make")                                         \
    X(VERDICT, "verdict", 0, 200, "what the judge found")                                     \
    X(CHANGE, "change", 0, 120, "what was changed and why")                                   \
    X(QUESTION, "question", 0, 60, "what is asked of this role, now")                         \
    X(TARGET, "target", 0, 30, "now, light, what counts as useful")                           \
    X(HINTS, "hints", 0, 100, "what a person said, newest last")

enum agent_section {
#define X(id, name, drop, tokens, words) AGENT_SECTION_##id,
    AGENT_SECTIONS(X)
#undef X
        AGENT_SECTION_COUNT
};

struct agent_section_info {
    const char *name, *words;
    unsigned drop, tokens;
};

extern const struct agent_section_info agent_section_info[AGENT_SECTION_COUNT];

/* A section that a role sees, with the numbers that the recipe gave: "schedules 5+5", "attempts 3";
 * 0: not said. */
struct agent_sight {
    enum agent_section section;
    unsigned most, worst;
};

/* ---- what a role returns ---- */

/*    id          name         in words, for the prompt */
#define AGENT_FORMATS(X)                                                        \
    X(SCHEDULE, "schedule", "one or more schedule lines for the micro-coder")   \
    X(PROGRAM, "program", "the operator rewritten in the tensor language")      \
    X(STAGE, "stage", "one stage as a C function, the others stay as they are") \
    X(EDITS, "edits", "search/replace edits of the base")                       \
    X(FILE, "file", "the whole kernel file")                                    \
    X(FILL, "fill", "the base with only the text between its marks changed")    \
    X(OBJECT, "object", "one JSON object")                                      \
    X(LIST, "list", "a JSON list of objects")                                   \
    X(PICK, "pick", "the number of a choice, with a reason")                    \
    X(TEXT, "text", "plain words")

enum agent_format {
#define X(id, name, words) AGENT_FORMAT_##id,
    AGENT_FORMATS(X)
#undef X
        AGENT_FORMAT_COUNT
};

extern const struct agent_name agent_format_name[AGENT_FORMAT_COUNT];

enum { AGENT_FIELDS = 12 };

struct agent_field { /* of an object: "bottleneck: 30 words", "kind: schedule|program|code", "low"
                      */
    const char *name;
    const char *choices; /* "schedule|program|code|split"; NULL: any */
    unsigned words;      /* at most; 0: not said */
    bool number;         /* low, high, score: a figure (a gain such as 1.05, or 5 %) */
};

struct agent_shape {
    unsigned formats; /* bits 1 << enum agent_format */
    struct agent_field fields[AGENT_FIELDS];
    size_t field_count;
    unsigned most; /* items of a list; 0: any */
};

struct agent_role {
    enum agent_kind kind;
    const char *name; /* the recipe's: "critic", "verifier memory" */
    const struct agent_sight *sees;
    size_t sight_count;
    struct agent_shape returns;
    unsigned tokens;   /* of the prompt, at most; 0: the window alone limits it */
    const char *words; /* said to this role besides its usual words; NULL: nothing */
};

/* ---- prompts ---- */

struct agent_text { /* a section that was made; empty ones are left out */
    enum agent_section section;
    const char *text;
};

struct agent_prompt {
    const char *system, *user;
    const char *schema;  /* JSON Schema of the reply where it is JSON alone, else NULL */
    double tokens;       /* about */
    double constant;     /* of those, the same in the next prompt of this role: for caching */
    const char *dropped; /* "example, hotloop"; "" */
};

/* The sections that the role sees, of those given, and always the question. `formats` narrows what
 * it may return (0: all of its shape); `window`: tokens that fit (0: any). STATUS_INPUT: it cannot
 * fit even with everything dropped that may be, and the middle of kernels left out. */
enum status
agent_prompt(struct arena *arena, const struct agent_role *role, const struct agent_text *texts,
             size_t text_count, unsigned formats, double window, struct agent_prompt *prompt,
             struct diags *diags);

/* ---- replies ---- */

struct agent_edit {
    const char *search, *replace;
};

struct agent_item { /* an object: its fields in the order of the shape; NULL: not there */
    const char *values[AGENT_FIELDS];
    double
        numbers[AGENT_FIELDS]; /* NAN: not there or no number; "5 %" is 1.05 where it is a gain */
};

struct agent_reply {
    enum agent_format format;
    const char *text;  /* file, schedule, program, stage, filled file, words */
    const char *stage; /* whose C it is */
    const struct agent_edit *edits;
    size_t edit_count;
    const struct agent_item *items;
    size_t item_count;
    int pick;         /* from 1 */
    const char *why;  /* the rationale: what stood around it; "" */
    const char *name; /* a title that it gave; "" */
    double low, high; /* expected gain; NAN */
};

/* STATUS_NO with *reason: it cannot be used, and why, in words that may be sent back. `formats` as
 * in agent_prompt(). */
enum status
agent_parse(struct arena *arena, const char *text, size_t length, const struct agent_role *role,
            unsigned formats, struct agent_reply *reply, const char **reason);

/* A kernel for roles that may change what is below its includes and nothing else: marks around
 * that, hone.h included. One that has marks stays as it is. */
const char *
agent_protect(struct arena *arena, const char *kernel, unsigned vector_bytes);

/* The base with edits made, with one stage exchanged, or a filled text whose protected parts are
 * those of the base; a file as it is. Declarations (//! tune) move to the top, where they count.
 * STATUS_NO with *reason. */
enum status
agent_apply(struct arena *arena, const char *base, const struct agent_reply *reply,
            const char **text, const char **reason);

/* Static checks before anything is built: at most 800 lines and 64 kB for each stage of the
 * program, defines kernel(), headers that are allowed, no lower precision by type, no second
 * kernel, nothing left out. NULL: nothing is wrong. */
const char *
agent_objection(struct arena *arena, const char *kernel, const struct target *target,
                const struct program *program);

/* Numbers that a kernel declares for a sweep: "//! tune T = 4 8 16", perhaps with "#define T 8"
 * below it; without one the first value is set. */
struct agent_tunable {
    const char *name;
    const long *values;      /* rising */
    size_t value_count, now; /* index of the value that is set */
};

size_t
agent_tunables(struct arena *arena, const char *kernel, struct agent_tunable **tunables);

const char *
agent_tune(struct arena *arena, const char *kernel, const struct agent_tunable *tunables,
           size_t count); /* with the values of `now`: first in the list, and defined */

/* Without comments, blanks and names of local variables: equal texts are one candidate. */
void
agent_normal_hash(struct arena *arena, const char *kernel, char hash[]); /* HASH_TEXT bytes */

/* ---- techniques ---- */

struct agent_technique {
    const char *name, *when, *what, *measured;
    const char *holes; /* words of the questions of a sketch that it is about: "rows cols" */
    bool anti;         /* shown as "do not" */
};

extern const struct agent_technique agent_techniques[];
extern const size_t agent_technique_count;

/* The row that a text names first, as a word of its own; NULL: none. */
const struct agent_technique *
agent_technique_in(const char *text);

/* Figures by name, NAN if not known: conditions are evaluated with them. */
struct agent_facts {
    double (*figure)(const void *user, const char *name);
    const void *user;
};

/* 1, 0; -1 with a message: not a condition. A comparison with an unknown figure does not hold. */
int
agent_condition(struct arena *arena, const char *when, const struct agent_facts *facts,
                const char **error);

/* Numbers of the rows whose condition holds. */
size_t
agent_menu(struct arena *arena, const struct agent_facts *facts, size_t *rows, size_t most);

void
agent_put_menu(struct buf *buf, const size_t *rows, size_t count); /* with the anti-rows */

/* ---- sections that need no search ---- */

struct agent_scene {                       /* of a run; what does not change */
    struct lang *lang;                     /* the example is its program at small sizes */
    const struct program *const *programs; /* of the cases */
    const struct light *lights;
    size_t case_count;
    const struct target *target;
    const struct coder_machine *machine;
    const char *compiler, *flags, *cpu;
};

/* BUILD, CONTRACT, CONTRACT_SHORT, HONE_H, MACHINE, TASK, EXAMPLE. */
const char *
agent_constant_section(struct arena *arena, const struct agent_scene *scene,
                       enum agent_section section);

/* ---- with no model ---- */

/* What a stand-in knows besides: the same facts as the prompt, as data. */
struct agent_moment {
    const struct agent_scene *scene;
    enum agent_kind role;
    unsigned formats;
    uint64_t seed;                 /* of this call: run, phase, ordinal */
    const char *schedule;          /* of the base, lines of all cases; NULL: the base is C */
    const char *other;             /* to cross with; NULL: none */
    const char *kernel;            /* the base's text */
    const char *plan;              /* the change asked for, or NULL */
    const char *technique;         /* row that the plan named, or NULL */
    const struct profile *profile; /* of the base, or NULL */
    struct agent_facts facts;
    const char *const *choices; /* of PICK */
    size_t choice_count;
    const char *verdict; /* status and reason of what failed, or NULL */
    const char *legal;   /* the last schedule that worked, or NULL */
    const struct agent_shape *returns;
    const char *const *tried; /* schedules that were proposed before */
    size_t tried_count;
};

/* A legal change of a schedule by one step. */
struct agent_change {
    const char *schedule; /* lines of all cases */
    const char *words;
    double us; /* as the micro-coder guesses */
};

/* Changes of the moment's schedule that were not tried, at most `most`, the best guess first. */
size_t
agent_changes(struct arena *arena, const struct agent_moment *moment, struct agent_change *changes,
              size_t most);

/* A reply such as a model would give, which agent_parse() accepts. */
void
agent_builtin(struct buf *reply, struct arena *arena, const struct agent_moment *moment);

#endif
