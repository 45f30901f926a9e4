/* What the files of a recipe at work share.
 *
 *   team.c     phases, one after the other
 *   phase.c    one phase, from its seeds to what it hands on
 *   round.c    a round of steps, each from a base to a judged candidate
 *   advise.c   roles that speak before the coder; plan.c: what a planner proposed
 *   inbox.c    what people say meanwhile
 *   speak.c    calls of roles: models, stand-ins, people; chorus.c: several of one role
 *   transcript.c  conversations that go on from round to round
 *   see.c      what a role is shown; see_node.c: candidates in it
 *   joint.c    what stands between a reply and the archive, the same for every recipe
 *   node.c     candidates: texts, times, costs
 *   sweep.c    numbers that the host tunes; tool.c: what a role may ask of the host
 *   express.c  what C does better, said as a schedule
 *   split.c    parts of a program with runs of their own; compose.c: their kernels as one
 *   tester.c   inputs that roles propose
 *   study.c    what earlier runs teach
 *   finish.c   finalists measured again and checked; who serves which case
 *   lesson.c   memory: what is kept and what is shown again
 */
#ifndef HONE_RUN_TEAM_INT_H
#define HONE_RUN_TEAM_INT_H

#include "run/run_int.h"

#include "base/hash.h"
#include "base/rng.h"

enum { TEAM_LINES = 64 };

/* A candidate of the team: it serves every case. */
struct node {
    int number; /* among the team's */
    int64_t id, row;
    const char *schedule;     /* lines of all cases; NULL: it is C that somebody wrote */
    const char *kernel;       /* as it is judged */
    const char *const *parts; /* of a schedule: the kernel of each case, */
    const char *const *lines; /* and its lines */
    const struct program *const *programs; /* rewritten ones; NULL: the task's own */
    enum judge_status status;
    const char *reason, *words; /* words: all that the judge said, for a reader */
    double *us;                 /* of each case; INFINITY */
    double cost;                /* what the phase minimises */
    const struct node *parents[2];
    size_t parent_count;
    const int64_t *made_of; /* candidates of the cases that it joins, by their ids */
    size_t made_of_count;
    unsigned lane, round;
    const char *phase, *role, *proposer, *why, *technique;
    double low, high; /* gain that was expected; NAN */
    int64_t call;
    const char *decision;
    struct judge_kernel *built; /* in the task of all cases */
    struct profile *profile;
    bool profiled;
    char normal[HASH_TEXT]; /* of its text without what does not matter */
    bool empty;             /* no kernel came of it: it stands for its base */
    bool aside;             /* a tool looked at it: whoever proposes it later is the first */
};

/* A plan of the planner. */
struct plan {
    const struct recipe_role *role; /* who gave it, */
    const struct agent_item *item;  /* in these words */
    const struct node *base;        /* that it is about; NULL: any */
    const char *kind, *title, *change, *technique;
    double low, high;
    bool taken;
};

/* A list of lines, the newest last. */
struct lines {
    const char *line[TEAM_LINES];
    size_t count; /* ever added: the newest TEAM_LINES are kept */
};

/* A turn of a role in its line of work. */
struct exchange {
    const char *role;
    unsigned lane;
    const char *question, *answer;
};

struct phase;

struct team {
    struct loop *loop;
    const struct run_team *who;
    struct agent_scene scene;
    const char *constant[AGENT_SECTION_COUNT]; /* sections that stay the same; NULL: not yet made */
    struct judge_task *all, *small;
    size_t smallest; /* the case of `small` */
    struct node **nodes;
    size_t node_count;
    struct node *best, *start; /* start: what the search began with */
    struct node **handed;      /* by the phase before */
    size_t handed_count;
    struct lines board, traps, insights, history;
    const char *hints;
    size_t notes;   /* of the inbox that were taken */
    unsigned calls; /* seeds of stand-ins */
    unsigned unusable_in_a_row;
    bool alone;      /* models gave too much that cannot be used: stand-ins go on */
    double tokens;   /* of the reply that is coming in, */
    bool waiting;    /* and that it is waited for */
    bool no_vectors; /* the endpoint for them failed */
    struct phase *phase;
};

struct phase {
    struct team *team;
    const struct recipe_phase *recipe;
    struct search_walk *walk;
    struct rng rng;
    struct plan *plans;
    size_t plan_count;
    unsigned round, quiet; /* rounds; those in a row without acceptance */
    unsigned replans, reverts;
    unsigned evaluated; /* before it began */
    double began;
    const char *advice, *documents; /* that hold for all rounds */
    bool no_cases;                  /* a person wants no examples */
    bool barren;                    /* the planner had nothing new */
    const struct node *last;        /* that was judged */
    const char *redirect;           /* a controller's words */
    struct exchange *talk;          /* what was said, of phases that keep transcripts */
    size_t talk_count;
    bool ended; /* a controller said stop */
    const char *why;
};

/* A step on its way. */
struct slot {
    struct phase *phase;
    struct search_step step;
    struct node *base, *other; /* base NULL: a blank page */
    const struct plan *plan;
    const char *advice; /* of critic, profiler, reflector, librarian: for the coder */
    const char *documents;
    double low, high;
    unsigned formats, repairs;
    bool invent, cross;
    struct agent_change *changes; /* that a coder may pick from, */
    size_t change_count;
    const char *const *choices; /* and in words */
    bool numbers;               /* it differs from its base in numbers alone */
    struct node *made;          /* what became of it */
    struct speech *speech;
    const char *text; /* a reply that became a kernel, before it is built */
    struct agent_reply reply;
    const char *failed; /* why there is no kernel, for the debugger or the board */
    double gain;        /* against the base; NAN */
    bool heard, accepted, simpler, dropped;
};

/* ---- speak.c ---- */

/* A role's turn. */
struct speech {
    const struct recipe_role *role;
    struct slot *slot; /* NULL: of the phase as a whole */
    unsigned formats;
    const char *question;
    const struct node *candidate, *parent;
    unsigned turn;                /* conversations: tools used, and the one repetition */
    struct llm_message *messages; /* what was said before, the question, what came of it */
    size_t message_count, first;  /* first: the question's */
    const char *system, *schema;
    struct llm_call *call;
    struct store_call row;
    const struct store_call *then;
    const char *text; /* the reply */
    bool said;
    const struct llm_model *model; /* NULL: a stand-in */
    const char *const *choices;
    size_t choice_count;
};

/* Whether this role's model chooses rather than writes. */
bool
team__chooses(struct team *team, const struct recipe_role *role);

/* Changes of the step's base that nobody tried, at most `most`. */
size_t
team__changes(const struct slot *slot, struct agent_change *changes, size_t most);

/* Puts the question; many may be on their way at once. STATUS_NO: nobody can be asked any more. */
enum status
team__ask(struct team *team, struct speech *speech);

/* Waits for the reply and reads it; one that cannot be used is sent back once. STATUS_NO: there is
 * no usable one. */
enum status
team__hear(struct team *team, struct speech *speech, struct agent_reply *reply);

/* Who plays a role; NULL: a stand-in. */
const struct llm_model *
team__model(const struct team *team, const struct recipe_role *role);

/* Sections, words, format: the first message of a conversation. */
enum status
team__compose(struct team *team, struct speech *speech);

/* How tools are used, for the end of a prompt (tool.c); "" for roles without. */
const char *
team__tool_words(struct arena *arena, const struct recipe_role *role);

/* How often in one answer. */
unsigned
team__tool_steps(const struct recipe_role *role);

/* What a role that uses a tool of the host is told (tool.c). */
enum status
team__tool(struct team *team, struct speech *speech, enum recipe_tool tool, const char *rest,
           const char **answer);

/* A question, and below it what may be chosen: "1. ...". */
const char *
team__numbered(struct arena *arena, const char *question, const struct speech *speech);

/* Which limit of models is reached; NULL: none. */
const char *
team__spent(const struct team *team);

/* What a call has cost, against the limits. */
void
team__count(struct team *team, const struct store_call *then);

/* ---- chorus.c ---- */

/* Several of one role that speak at once (`count`). */
struct part {
    struct speech *speech;
    struct agent_reply reply;
};

struct chorus {
    struct speech *speeches;
    size_t asked;
    struct part *parts; /* those with a usable reply */
    size_t count;
};

/* Puts the same question to all of a role. None may be asked any more: STATUS_OK and `asked` 0. */
enum status
team__ask_all(struct team *team, const struct speech *speech, struct chorus *chorus);

/* Waits for all of them. */
enum status
team__hear_all(struct team *team, struct chorus *chorus);

/* What they say together: one list of all plans, the choice and the direction that most are for.
 * False: nobody said anything. */
bool
team__join(struct team *team, const struct chorus *chorus, struct agent_reply *reply);

/* ---- transcript.c ---- */

/* What the role said and heard before in this line of work goes before its question, as far as
 * there is room (tokens; 0: any). */
void
team__go_back(struct team *team, struct speech *speech, double room);

/* A question and its answer are kept. */
void
team__remember(struct team *team, const struct speech *speech);

/* ---- see.c ---- */

/* The sections that a role sees, now. */
size_t
team__sections(struct team *team, const struct speech *speech, struct agent_text *texts);

/* What a profile of the first case is made of; `us`: its time, INFINITY if it is not known. */
struct profile_options
team__profile_options(const struct team *team, double us);

/* Figures of a candidate, if there are any, are known from now on. */
void
team__look_at(struct team *team, struct node *node);

double
team__figure(const void *node, const char *name);

/* Figures through the ledger (tool.c); NULL: there are none. */
struct profile *
team__profile(struct team *team, const char *kernel, const struct profile_options *options);

/* ---- see_node.c ---- */

/* "4.02 ms"; "no time" for INFINITY. */
const char *
team__time(struct team *team, double us);

/* "correct: default 4.02 ms (67 % of light), tail 15 us" */
void
team__put_state(struct buf *buf, struct team *team, const struct node *node);

/* State, schedule, kernel; "" for NULL. */
const char *
team__text_of(struct team *team, const struct node *node);

/* The fastest ones, with their kernels or a line each; the fastest last. */
const char *
team__put_top(struct team *team, size_t most, bool code);

/* Kernels of other speeds than the best, with their scores. */
const char *
team__put_exemplars(struct team *team, size_t most);

/* Changes of this base, newest first. */
const char *
team__put_attempts(struct team *team, const struct node *base, size_t most);

/* Its children, siblings and cousins. */
const char *
team__put_family(struct team *team, const struct node *base, size_t most);

/* The turns of the slot's line of work: oldest first, at most `most`. */
const char *
team__put_history(struct team *team, const struct slot *slot, enum recipe_history how,
                  unsigned most);

/* Schedules of the first case, fast ones and slow ones. */
const char *
team__put_schedules(struct team *team, unsigned best, unsigned worst);

/* The kernel of the first case as roles see it, which edits are made on. */
const char *
team__shown(struct team *team, const struct node *node);

/* ---- joint.c ---- */

/* From a usable reply to a kernel that may be built: its text, static checks, duplicates.
 * slot->made is the candidate; slot->failed says why there is none, or none that is worth building.
 */
enum status
team__prepare(struct slot *slot);

/* Build, smallest case, all cases, sweep, acceptance. slot->failed: it may be repaired. */
enum status
team__judge(struct slot *slot);

/* All kinds of inputs, before anything is built on it; fills in its status. */
enum status
team__check(struct team *team, struct node *node);

/* The kernel text of a reply; NULL with slot->failed. */
const char *
team__kernel_of(struct slot *slot, const struct agent_reply *reply, struct node *node);

/* ---- node.c ---- */

struct node *
team__node(struct team *team, const struct node *parent);

struct node *
team__node_at(struct team *team, int number); /* NULL: there is none */

/* Schedule lines become a kernel for every case; false with a reason: they are illegal. */
bool
team__schedule(struct team *team, const char *text, struct node *node, const char **reason);

/* The usual schedule of the node's program, for every case. */
const char *
team__usual_lines(struct team *team, const struct node *node);

/* `changed` lines take the place of those of `base` that are about the same stages and cases. */
const char *
team__overlay(struct team *team, const char *base, const char *changed);

/* Looks at all cases, the smallest first; fills in status, times, cost. Counts as one evaluation.
 */
enum status
team__look(struct team *team, struct node *node, const struct node *base);

/* The same for a kernel that no role proposed. */
enum status
team__meet(struct team *team, struct node *node);

/* All that the judge said, for a reader. */
const char *
team__words(struct arena *arena, const struct judge_report *report);

double
team__cost(const struct team *team, const struct recipe_phase *phase, const struct node *node);

/* The candidate and its verdict go to the archive, and to the cases that it may serve. */
enum status
team__record(struct team *team, struct node *node, const struct judge_report *report);

/* It is not correct after all: no case is served by it. */
void
team__withdraw(struct team *team, const struct node *node);

enum status
team__decide(struct team *team, struct node *node, const char *decision);

/* How `node` compares with `base` over all cases. */
enum status
team__compare(struct team *team, const struct node *base, const struct node *node,
              struct run_difference *difference, double *worst_case);

const struct node *
team__solid(const struct node *node); /* itself, or what an empty one stands for */

/* Schedules told apart by what is fused, shared out and packed; C by its loops. */
uint64_t
team__structure(struct team *team, const struct node *node);

/* ---- sweep.c ---- */

enum status
team__sweep(struct slot *slot, struct node *from, unsigned evaluations, struct node **best);

/* ---- lesson.c ---- */

void
team__line(struct team *team, struct lines *lines, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Memory from the runs of the archive, without a task (study.c). */
enum status
team__study(struct team *team, const struct recipe_phase *phase);

/* An item of this run's task goes to the archive, under any kind; memories are those of recipes.
 * `gain` 0: it failed. */
enum status
team__keep(struct team *team, const char *kind, const char *key, const char *text, double gain);
enum status
team__put_item(struct team *team, enum recipe_memory kind, const char *key, const char *text,
               double gain);

/* After a candidate was decided: board, traps, insights, pairs, states, graph, rules. */
enum status
team__learn(struct slot *slot, const struct node *base, double gain);

/* Items of earlier runs and of this one as a section; "" if there are none. */
const char *
team__recall(struct team *team, enum recipe_memory kind, unsigned most);

/* ---- embed.c ---- */

/* Lets the likeness be compared by vectors too, if the user has an endpoint that gives them; if it
 * fails, by words and features alone, and it is not asked again. */
enum status
team__embed(struct team *team, struct store_likeness *likeness);

/* The answer that vectors led to is known: the calls for them are passed over, and counted. */
void
team__pass_embeddings(struct team *team);

/* ---- plan.c ---- */

/* Of a list of plans those that the recipe takes and that were not tried, for `base` (NULL: for
 * any); of a single one what the step is to do. */
void
team__add_plans(struct slot *slot, const struct recipe_role *role, const struct agent_reply *reply,
                const struct node *base);

/* The plan that the step names, or the first for its base that was not taken; NULL: there is none.
 */
struct plan *
team__next_plan(struct phase *phase, const struct slot *slot);

/* A field of an object; NAN. */
double
team__number(const struct recipe_role *role, const struct agent_item *item, const char *name);

/* ---- advise.c ---- */

/* The planner alone, before there is a step. */
enum status
team__plan_ahead(struct phase *phase);

/* Roles that speak before the coder, each when it is due. */
enum status
team__advise(struct phase *phase, struct slot *slots, size_t count);

/* ---- inbox.c ---- */

enum status
team__take_inbox(struct phase *phase);

/* ---- round.c ---- */

enum { TEAM_SLOTS = 64 };

enum status
team__round(struct phase *phase, const struct search_step *steps, size_t count);

/* How often the coder is asked for each step. */
unsigned
team__samples(const struct phase *phase);

/* What the walk is told of a step. */
struct search_node
team__told(struct phase *phase, const struct slot *slot);

/* ---- phase.c ---- */

/* Every case has this share of the speed of light, by the team's best or what was drafted. */
bool
team__has_light(const struct team *team, double share);

/* Times that the planner may speak again. */
unsigned
team__replans(const struct recipe_phase *recipe);

/* As many rounds without acceptance as the recipe says, once, twice, ... */
bool
team__is_stagnant(const struct phase *phase);

enum status
team__work(struct team *team, const struct recipe_phase *recipe);

/* ---- express.c ---- */

/* A kernel by a model that beats the best schedule is given back, to be said as a schedule. */
enum status
team__express(struct slot *slot);

/* ---- split.c, compose.c ---- */

/* A part of a program, and what its run came to. */
struct run_part {
    struct lang_part cut;
    struct lang *lang;
    size_t stage_count;
    const struct program *program; /* of its first case */
    const struct node *best;
};

/* Cuts the program as the phase says, runs the parts and joins them. */
enum status
team__split(struct team *team, const struct recipe_phase *phase);

/* The kernels of all parts as one: node->kernel, and its schedule if all are schedules. */
void
team__compose_parts(struct team *team, const struct run_part *parts, size_t count,
                    struct node *node);

/* ---- tester.c ---- */

/* The testers of the phase whose moment this is: start or end. */
enum status
team__test(struct phase *phase, enum recipe_moment moment);

/* If what a tester proposed showed that the kernel is wrong, it is kept with the task. */
enum status
team__keep_breaker(struct team *team, const struct judge_report *report);

/* ---- finish.c ---- */

/* For each case the fastest that stands the recipe's checks. STATUS_NO: nobody serves a case. */
enum status
team__finish(struct team *team);

/* ---- team.c ---- */

/* Lights, scene, tasks of the judge; closed also if that failed. */
enum status
team__open(struct team *team);
void
team__close(struct team *team);

/* The recipe's phase of this number, unless it is skipped. */
enum status
team__phase(struct team *team, size_t number);

/* A kernel that no role proposed: judged, handed on, and the best if it is faster. */
enum status
team__enter(struct team *team, struct node *node);

/* What prompts say of the task and the machine. */
void
team__set_scene(struct team *team);

/* A kernel that a person added while the run goes on. */
enum status
team__add(struct team *team, const char *text);

void
team__news(struct team *team, const char *role, unsigned lane, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
