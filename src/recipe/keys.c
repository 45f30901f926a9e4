/* Every key of a recipe: what it is for, how its value is read, what holds without it. */
#include "recipe/recipe_int.h"

#include <stddef.h>
#include <string.h>

#define RECIPE(field) offsetof(struct recipe, field)
#define PHASE(field) offsetof(struct recipe_phase, field)
#define ROLE(field) offsetof(struct recipe_role, field)
#define STOP(field) offsetof(struct recipe_stop, field)
#define ACCEPT(field) offsetof(struct recipe_accept, field)

#define COUNT(field, low, high) SLOT_COUNT, field, low, high
#define SHARE(field) SLOT_REAL, field, 0, 1

enum { MOST = 1000000 }; /* of anything that is counted */

const char *const recipe__section_name[KEY_SECTION_COUNT] = {"", "phase", "role", "budget"};

/* ---- a phase's phrases ---- */

static const struct phrase proposers[] = {
    {"roles", {MARK_ENUM, PHASE(propose), RECIPE_BY_ROLES}, {{0}}, "the roles below"},
    {"builtin", {MARK_ENUM, PHASE(propose), RECIPE_BY_BUILTIN}, {{0}}, "the micro-coder, no model"},
    {"memory",
     {MARK_ENUM, PHASE(propose), RECIPE_BY_MEMORY},
     {{0}},
     "nobody: memory is made from runs in the archive"},
    {0},
};

static const struct phrase starts[] = {
    {"handed on", {0}, {{0}}, "with what the phase before handed on"},
    {"naive", {MARK_FLAG, PHASE(start_naive), 0}, {{0}}, "with the plain C of the operator"},
    {"blank",
     {MARK_FLAG, PHASE(start_blank), 0},
     {{0}},
     "with nothing: the coder writes the first kernel"},
    {0},
};

static const struct phrase seeds[] = {
#define X(id, name) {name, {MARK_BIT, PHASE(seeds), RECIPE_SEED_##id}, {{0}}, name},
    RECIPE_SEEDS(X)
#undef X
        {0},
};

static const struct phrase topologies[] = {
#define X(id, name, words)                                                  \
    {name, {MARK_ENUM, PHASE(search.topology), SEARCH_##id}, {{0}}, words}, \
        {name " #",                                                         \
         {MARK_ENUM, PHASE(search.topology), SEARCH_##id},                  \
         {{COUNT(PHASE(search.width), 1, SEARCH_PLACES)}},                  \
         words "; # of them"},
    SEARCH_TOPOLOGIES(X)
#undef X
        {0},
};

static const struct phrase selects[] = {
#define X(id, name, what)                                                       \
    {name, {MARK_ENUM, PHASE(search.select), SEARCH_SELECT_##id}, {{0}}, name}, \
        {name " #",                                                             \
         {MARK_ENUM, PHASE(search.select), SEARCH_SELECT_##id},                 \
         {{SLOT_REAL, PHASE(search.number), 0, 1000}},                          \
         name ", " what " #"},
    SEARCH_SELECTS(X)
#undef X
        {0},
};

static const struct phrase places[] = {
    {"the fastest", {0}, {{0}}, "the fastest"},
    {"one per structure",
     {MARK_FLAG, PHASE(search.apart), 0},
     {{0}},
     "the fastest of each structure before the second of any"},
    {0},
};

static const struct phrase migrations[] = {
    {"every #", {0}, {{COUNT(PHASE(search.migrate_every), 1, 1000)}}, "every # rounds"},
    {"rate #", {0}, {{SHARE(PHASE(search.migrate_rate))}}, "a share of # of each population"},
    {0},
};

static const struct phrase arms[] = {
#define ARM(field) offsetof(struct recipe_arm, field)
#define X(id, aim_name)                          \
    {"@ of " aim_name,                           \
     {MARK_ENUM, ARM(aim), RECIPE_AIM_##id},     \
     {{.kind = SLOT_WORD, .offset = ARM(name)}}, \
     "@ while " aim_name " is not used up"},
    RECIPE_AIMS(X)
#undef X
#undef ARM
        {0},
};

static const struct phrase evaluations[] = {
    {"#", {0}, {{COUNT(PHASE(evals), 1, MOST)}}, "# of them"},
    {"by family: # pointwise", {0}, {{COUNT(PHASE(evals_pointwise), 1, MOST)}}, "# of one pass"},
    {"# chain", {0}, {{COUNT(PHASE(evals_chain), 1, MOST)}}, "# of a chain of stages"},
    {"# contraction", {0}, {{COUNT(PHASE(evals_contraction), 1, MOST)}}, "# of a contraction"},
    {"# convolution", {0}, {{COUNT(PHASE(evals_convolution), 1, MOST)}}, "# of a convolution"},
    {"# many stages", {0}, {{COUNT(PHASE(evals_many), 1, MOST)}}, "# of many stages"},
    {0},
};

static const struct phrase skips[] = {
    {"light #", {0}, {{SHARE(PHASE(skip_light))}}, "every case has # of the speed of light"},
    {"correct", {MARK_FLAG, PHASE(skip_correct), 0}, {{0}}, "something is correct already"},
    {0},
};

static const struct phrase passes[] = {
    {"best", {MARK_ENUM, PHASE(pass), RECIPE_PASS_BEST}, {{0}}, "the fastest"},
    {"top #",
     {MARK_ENUM, PHASE(pass), RECIPE_PASS_TOP},
     {{COUNT(PHASE(pass_count), 1, 1000)}},
     "the # fastest"},
    {"all correct", {MARK_ENUM, PHASE(pass), RECIPE_PASS_CORRECT}, {{0}}, "all that are correct"},
    {"best, one per structure",
     {MARK_ENUM, PHASE(pass), RECIPE_PASS_CELLS},
     {{0}},
     "the fastest of each structure: what is fused, packed and run in threads"},
    {0},
};

static const struct phrase mixes[] = {
    {"edit #", {0}, {{SHARE(PHASE(mix_edit))}}, "# change the base"},
    {"whole #", {0}, {{SHARE(PHASE(mix_whole))}}, "# write anew"},
    {"cross #", {0}, {{SHARE(PHASE(mix_cross))}}, "# join two"},
    {0},
};

static const struct phrase takings[] = {
#define TAKING(field) offsetof(struct recipe_taking, field)
    {"all", {MARK_ENUM, TAKING(take), RECIPE_TAKE_ALL}, {{0}}, "all"},
    {"max(@)",
     {MARK_ENUM, TAKING(take), RECIPE_TAKE_MAX},
     {{.kind = SLOT_WORD, .offset = TAKING(field)}},
     "the one with the highest `@`"},
    {"new kind",
     {MARK_ENUM, TAKING(take), RECIPE_TAKE_NEW_KIND},
     {{0}},
     "the best of a kind not yet taken"},
    {"top # by @",
     {MARK_ENUM, TAKING(take), RECIPE_TAKE_TOP},
     {{COUNT(TAKING(most), 1, 100)}, {.kind = SLOT_WORD, .offset = TAKING(field)}},
     "# with the highest `@`"},
#undef TAKING
    {0},
};

static const struct phrase menus[] = {
    {"gated", {MARK_FLAG, PHASE(menu), 0}, {{0}}, "those whose condition holds"},
    {"dropout #", {0}, {{SHARE(PHASE(menu_dropout))}}, "each left out with a chance of #"},
    {0},
};

static const struct phrase sweeps[] = {
    {"#", {0}, {{COUNT(PHASE(sweep), 1, 10000)}}, "# evaluations"},
    {"from #", {0}, {{SLOT_REAL, PHASE(sweep_from), 0, 10}}, "from # of the base's speed on"},
    {0},
};

static const struct phrase acceptances[] = {
    {"faster", {MARK_REAL, ACCEPT(gain), 1}, {{0}}, "it is faster"},
    {"faster # %", {0}, {{SLOT_PERCENT, ACCEPT(gain), 0, 900}}, "it is # % faster"},
    {"significant", {MARK_FLAG, ACCEPT(significant), 0}, {{0}}, "by paired comparison"},
    {"no case below #",
     {0},
     {{SLOT_REAL, ACCEPT(worst), 0, 1}},
     "no case has less than # of the speed before"},
    {"correct", {MARK_FLAG, ACCEPT(always), 0}, {{0}}, "it is correct, whatever its speed"},
    {"any", {MARK_FLAG, ACCEPT(any), 0}, {{0}}, "always: the last reply is gone on from"},
    {0},
};

static const struct phrase ties[] = {
    {"simpler", {MARK_FLAG, PHASE(tie_simpler), 0}, {{0}}, "fewer lines or less scratch"},
    {"older", {0}, {{0}}, "the one that was there before"},
    {0},
};

static const struct phrase objectives[] = {
    {"time", {MARK_ENUM, PHASE(objective), RECIPE_TIME}, {{0}}, "time"},
    {"light", {MARK_ENUM, PHASE(objective), RECIPE_LIGHT}, {{0}}, "share of the speed of light"},
    {"counter @",
     {MARK_ENUM, PHASE(objective), RECIPE_COUNTER},
     {{.kind = SLOT_WORD, .offset = PHASE(counter)}},
     "the figure @ of the profile, which is made smaller"},
    {"geomean of cases",
     {MARK_ENUM, PHASE(over), RECIPE_GEOMEAN},
     {{0}},
     "geometric mean of cases"},
    {"worst of cases", {MARK_ENUM, PHASE(over), RECIPE_WORST}, {{0}}, "the worst case"},
    {"sum of cases", {MARK_ENUM, PHASE(over), RECIPE_SUM}, {{0}}, "the sum of cases"},
    {"weights of cases", {MARK_ENUM, PHASE(over), RECIPE_WEIGHTS}, {{0}}, "weights from the task"},
    {0},
};

static const struct phrase stops[] = {
    {"light #", {0}, {{SHARE(STOP(light))}}, "every case has # of the speed of light"},
    {"gain #", {0}, {{SLOT_REAL, STOP(gain), 1, 10000}}, "it is # times as fast as naive"},
    {"stagnant #",
     {0},
     {{COUNT(STOP(stagnant), 1, 10000)}},
     "# rounds in a row brought no progress"},
    {"stagnant after replans",
     {MARK_FLAG, STOP(replanned), 0},
     {{0}},
     "it is stagnant again after the last new plan"},
    {"plans empty", {MARK_FLAG, STOP(plans_empty), 0}, {{0}}, "no plan is left"},
    {"# unusable replies", {0}, {{COUNT(STOP(unusable), 1, 10000)}}, "# replies cannot be used"},
    {"# reverts", {0}, {{COUNT(STOP(reverts), 1, 10000)}}, "# steps in a row were not accepted"},
    {"# correct", {0}, {{COUNT(STOP(correct), 1, 10000)}}, "# are correct"},
    {"time #", {0}, {{SLOT_SECONDS, STOP(seconds), 0, 1e9}}, "the phase took #"},
    {0},
};

static const struct phrase histories[] = {
    {"none", {MARK_ENUM, PHASE(history), RECIPE_NO_HISTORY}, {{0}}, "nothing"},
    {"last", {MARK_ENUM, PHASE(history), RECIPE_LAST}, {{0}}, "the last round in full"},
    {"all", {MARK_ENUM, PHASE(history), RECIPE_ALL}, {{0}}, "all rounds in full"},
    {"summaries", {MARK_ENUM, PHASE(history), RECIPE_SUMMARIES}, {{0}}, "a summary of each round"},
    {"one line each", {MARK_ENUM, PHASE(history), RECIPE_ONE_LINE}, {{0}}, "a line for each round"},
    {0},
};

static const struct phrase memories[] = {
#define SEEN(id) COUNT(PHASE(memory[RECIPE_MEMORY_##id].most), 1, 1000)
#define X(id, name, what)                                                         \
    {name " #", {0}, {{SEEN(id)}}, name ", " what ": #"},                         \
        {name " # seen #",                                                        \
         {0},                                                                     \
         {{SEEN(id)}, {COUNT(PHASE(memory[RECIPE_MEMORY_##id].count), 1, 1000)}}, \
         name ", " what ": #, seen # times or more"},                             \
        {name " # by value #",                                                    \
         {0},                                                                     \
         {{SEEN(id)}, {SHARE(PHASE(memory[RECIPE_MEMORY_##id].q))}},              \
         name ", " what ": # by the value they had so far, with a chance of # at random"},
    RECIPE_MEMORIES(X)
#undef X
#undef SEEN
        {0},
};

static const struct phrase finalists[] = {
    {"#", {0}, {{COUNT(PHASE(finish.finalists), 1, 100)}}, "the # fastest"},
    {"and the draft's best",
     {MARK_FLAG, PHASE(finish.draft), 0},
     {{0}},
     "the best of the phase that asked nobody"},
    {0},
};

static const struct phrase measures[] = {
#define X(id, name) {name, {MARK_BIT, PHASE(finish.measures), RECIPE_MEASURE_##id}, {{0}}, name},
    RECIPE_MEASURES(X)
#undef X
        {"# windows", {0}, {{COUNT(PHASE(finish.windows), 1, 100)}}, "# windows of time"},
    {0},
};

static const struct phrase checks[] = {
#define X(id, name) {name, {MARK_BIT, PHASE(finish.checks), RECIPE_CHECK_##id}, {{0}}, name},
    RECIPE_CHECKS(X)
#undef X
        {0},
};

static const struct phrase gifts[] = {
    {"fastest", {0}, {{0}}, "the fastest"},
    {"fastest beyond the noise; otherwise the draft's best",
     {MARK_FLAG, PHASE(finish.draft_in_doubt), 0},
     {{0}},
     "the fastest if that is certain, else the draft's best"},
    {0},
};

/* ---- a role's ---- */

static const struct phrase moments[] = {
#define WHEN(field) offsetof(struct recipe_when, field)
#define MOMENT(id) MARK_ENUM, WHEN(moment), RECIPE_##id
    {"start", {MOMENT(START)}, {{0}}, "before the first round"},
    {"round", {MOMENT(ROUND)}, {{0}}, "in every round, before the coder"},
    {"no plan pending", {MOMENT(NO_PLAN)}, {{0}}, "when no plan is waiting to be tried"},
    {"failing", {MOMENT(FAILING)}, {{0}}, "when what was tried is not correct"},
    {"passing", {MOMENT(PASSING)}, {{0}}, "when it is correct"},
    {"accepted", {MOMENT(ACCEPTED)}, {{0}}, "after an acceptance"},
    {"stagnant", {MOMENT(STAGNANT)}, {{0}}, "when rounds brought no progress"},
    {"stagnant #",
     {MOMENT(STAGNANT)},
     {{SLOT_REAL, WHEN(number), 1, 1000}},
     "when # rounds brought no progress"},
    {"every #", {MOMENT(EVERY)}, {{SLOT_REAL, WHEN(number), 1, 1000}}, "every # rounds"},
    {"gain < #",
     {MOMENT(GAIN_BELOW)},
     {{SLOT_REAL, WHEN(number), 0, 1000}},
     "when the candidate has less than # times its base's speed"},
    {"gain > #",
     {MOMENT(GAIN_ABOVE)},
     {{SLOT_REAL, WHEN(number), 0, 1000}},
     "when the candidate has more than # times its base's speed"},
    {"before run", {MOMENT(BEFORE)}, {{0}}, "on each proposal, before it is built"},
    {"end", {MOMENT(END)}, {{0}}, "after the last round"},
#undef MOMENT
#undef WHEN
    {0},
};

static const struct phrase temperatures[] = {
    {"#", {0}, {{SLOT_REAL, 0, 0, 2}}, "#"},
    {0},
};

static const struct phrase tools[] = {
#define X(id, name, what) {name, {MARK_BIT, ROLE(tools), RECIPE_TOOL_##id}, {{0}}, name},
    RECIPE_TOOLS(X)
#undef X
        {0},
};

/* ---- the table ---- */

#define NUMBER(name, form, words, preset, ...)                                       \
    {                                                                                \
        KEY_OF_PHASE, name, KEY_NUMBER, form, words, preset, .slot = { __VA_ARGS__ } \
    }
#define PHRASES(name, form, words, preset, phrase_table, noun_text)                    \
    {                                                                                  \
        KEY_OF_PHASE, name, KEY_PHRASES, form, words, preset, .phrases = phrase_table, \
                                                              .noun = noun_text        \
    }
#define ONE(name, form, words, preset, phrase_table, noun_text)                       \
    {                                                                                 \
        KEY_OF_PHASE, name, KEY_PHRASE, form, words, preset, .phrases = phrase_table, \
                                                             .noun = noun_text        \
    }
#define OF_ROLE(name, form, words, preset, ...)                                     \
    {                                                                               \
        KEY_OF_ROLE, name, KEY_NUMBER, form, words, preset, .slot = { __VA_ARGS__ } \
    }
#define OF_BUDGET(name, form, words, ...)                                           \
    {                                                                               \
        KEY_OF_BUDGET, name, KEY_NUMBER, form, words, NULL, .slot = { __VA_ARGS__ } \
    }
#define TEXT(section, name, form, words, field)                                \
    {                                                                          \
        section, name, KEY_TEXT, form, words, NULL, .slot = {.offset = field } \
    }

const struct key recipe__keys[] = {
    {KEY_OF_FILE, "recipe", KEY_OWN, "NAME", "its name: letters, digits and -", NULL,
     .own = recipe__read_name},
    TEXT(KEY_OF_FILE, "about", "words", "what it does, for listings", RECIPE(about)),
    TEXT(KEY_OF_FILE, "paper", "2511.01884", "the arXiv number of the system it follows",
         RECIPE(paper)),
    TEXT(KEY_OF_FILE, "like", "NAME", "takes this recipe; what follows overrides it", RECIPE(like)),

    ONE("propose", "roles | builtin | memory", "who proposes", "roles", proposers, "proposer"),
    ONE("start", "handed on | naive | blank", "it begins", "handed on", starts, "start"),
    PHRASES("seed", "same program, nearest shapes, same family",
            "and with what the archive has, in this order", NULL, seeds, "seed"),
    ONE("topology", "NAME [N]", "how it goes on", "linear", topologies, "topology"),
    ONE("select", "NAME [X]", "whom it goes on from where there is a choice",
        "(as the topology needs)", selects, "way to select"),
    ONE("places", "the fastest | one per structure", "the places of a beam are for", "the fastest",
        places, "kind of place"),
    NUMBER("rounds", "N", "rounds at most, for each line of work", "10",
           COUNT(PHASE(search.rounds), 1, 100000)),
    NUMBER("children", "N", "proposals a round from each parent", "1",
           COUNT(PHASE(search.children), 1, SEARCH_PLACES)),
    NUMBER("population", "N", "kernels that live at once, on each island", "5",
           COUNT(PHASE(search.population), 1, SEARCH_PEOPLE)),
    NUMBER("elite", "N", "best ones that always stay", "1", COUNT(PHASE(search.elite), 0, 1000)),
    NUMBER("cross", "X", "share of steps with two parents", "0", SHARE(PHASE(search.cross))),
    PHRASES("migrate", "every N, rate X", "islands exchange their best", "rate 0.1", migrations,
            "exchange"),
    NUMBER("pool", "X", "share of steps that go on from the best of all islands together", "0",
           SHARE(PHASE(search.pool))),
    NUMBER("throttle", "N", "children of the root at most", "(no limit)",
           COUNT(PHASE(search.throttle), 1, 10000)),
    NUMBER("prune", "N", "children that all failed close a node", "(never)",
           COUNT(PHASE(search.prune), 1, 10000)),
    NUMBER("leaf_bias", "X", "how many times likelier a leaf is", "1", SLOT_REAL,
           PHASE(search.leaf_bias), 0.01, 100),
    {KEY_OF_PHASE, "arms", KEY_LIST, "NAME of cache|memory|compute, ...",
     "ways to change that a bandit chooses among, and what each makes better use of", NULL,
     .phrases = arms, .noun = "arm",
     .list = {PHASE(arms), PHASE(arm_count), sizeof(struct recipe_arm), SEARCH_ARMS}},
    NUMBER("recluster", "N", "steps after which clusters are made anew", "10",
           COUNT(PHASE(search.recluster), 1, 10000)),
    NUMBER("stale", "N", "attempts at a plan without progress that close it", "5",
           COUNT(PHASE(search.stale), 1, 10000)),
    NUMBER("inspirations", "N", "other kernels that a step may look at", "0",
           COUNT(PHASE(search.inspirations), 0, SEARCH_STEP_PARENTS)),
    PHRASES("evals",
            "N | by family: N pointwise, N chain, N contraction, N convolution, N many stages",
            "kernels judged at most", "(the run's)", evaluations, "number of evaluations"),
    NUMBER("share", "X", "share of the run's time at most", "(what is left)", SHARE(PHASE(share))),
    PHRASES("skip", "light X, correct", "it is left out when", NULL, skips, "reason"),
    ONE("pass", "best | top N | all correct | best, one per structure", "it hands on", "best",
        passes, "choice"),
    PHRASES("mix", "edit X, whole X, cross X", "shares of the coder's calls",
            "(as the coder returns)", mixes, "kind of call"),
    NUMBER("plans", "N", "plans asked for at once", "1", COUNT(PHASE(plans), 1, 100)),
    {KEY_OF_PHASE, "take", KEY_LIST, "all | max(FIELD), new kind, top N by FIELD",
     "of a list of plans these are tried", "(all)", .phrases = takings, .noun = "choice",
     .list = {PHASE(take), PHASE(take_count), sizeof(struct recipe_taking), 4}},
    PHRASES("menu", "gated, dropout X", "rows of the technique table are shown", "(all rows)",
            menus, "menu"),
    NUMBER("invent", "X", "share of the coder's calls that must leave the menu", "0",
           SHARE(PHASE(invent))),
    NUMBER("repair", "N", "calls of the debugger for one candidate", "0",
           COUNT(PHASE(repair), 0, 100)),
    PHRASES("sweep", "N, from X", "numbers of a new structure are tried by the host", "from 0.9",
            sweeps, "sweep"),
    NUMBER("prefilter", "N",
           "how many of a round's proposals are run, those that verifiers like best", "(all)",
           COUNT(PHASE(prefilter), 1, 1000)),
    {KEY_OF_PHASE, "accept.base", KEY_PHRASES,
     "faster X %, significant, no case below X, correct, any", "a candidate becomes the base when",
     "faster", .phrases = acceptances, .inside = PHASE(base), .noun = "condition"},
    {KEY_OF_PHASE, "accept.best", KEY_PHRASES, "the same", "it becomes the best when", "faster",
     .phrases = acceptances, .inside = PHASE(best), .noun = "condition"},
    ONE("tie", "simpler | older", "of two that are equally fast it keeps", "older", ties, "rule"),
    PHRASES("objective", "time | light | counter NAME, geomean | worst | sum | weights of cases",
            "what is made better", "time, geomean of cases", objectives, "objective"),
    NUMBER("stagnant", "N", "rounds without an acceptance that count as stagnant", "3",
           COUNT(PHASE(stagnant), 1, 10000)),
    NUMBER("replans", "N", "how often the planner may speak again", "2",
           COUNT(PHASE(replans), 0, 1000)),
    {KEY_OF_PHASE, "stop", KEY_PHRASES,
     "light X, gain X, stagnant N, stagnant after replans, plans empty, N unusable replies, N "
     "reverts, N correct, time T",
     "it ends early when", NULL, .phrases = stops, .inside = PHASE(stop), .noun = "reason"},
    ONE("history", "none | last | all | summaries | one line each",
        "a line of work is shown of itself", "none", histories, "kind of history"),
    PHRASES("memory", "KIND N [seen N | by value X], ...", "it is shown of each kind at most", NULL,
            memories, "memory"),
    {KEY_OF_PHASE, "write", KEY_OWN, "KIND when gain > X or gain < X, ...",
     "what is written to memory, and when", "(always)", .own = recipe__read_write},
    NUMBER("split", "N", "parts that the program is cut into at most, each with a run of its own",
           "(not cut)", COUNT(PHASE(split), 2, 100)),
    PHRASES("finalists", "N, and the draft's best",
            "a last phase that asks nobody: of those found it takes", NULL, finalists, "finalist"),
    PHRASES("measure", "all cases, 1 and all threads, N windows, interleaved",
            "finalists are measured in", "1 windows", measures, "way to measure"),
    PHRASES("check", "fresh seeds, tester's inputs, any-size draws, ASan build once",
            "finalists must stand", NULL, checks, "check"),
    ONE("give", "fastest | fastest beyond the noise; otherwise the draft's best", "it gives",
        "fastest", gifts, "result"),

    {KEY_OF_ROLE, "when", KEY_LIST,
     "start, round, no plan pending, failing, passing, accepted, stagnant [N], every N, gain < X, "
     "gain > X, before run, end, never",
     "it speaks", "(round; a coder: at each step)", .phrases = moments, .noun = "moment",
     .list = {ROLE(when), ROLE(when_count), sizeof(struct recipe_when), RECIPE_WHENS}},
    {KEY_OF_ROLE, "sees", KEY_OWN, "SECTION [N[+M]], ..., memory", "what its prompt holds", NULL,
     .own = recipe__read_sees},
    {KEY_OF_ROLE, "returns", KEY_OWN,
     "FORMAT | FORMAT, { FIELD, FIELD: N words, FIELD: a|b, FIELD: number }, list of { ... }, at "
     "most N",
     "what it answers", "(file; others: text)", .own = recipe__read_returns},
    {KEY_OF_ROLE, "model", KEY_OWN, "cheap | ask | PROVIDER:NAME",
     "who plays it: the cheapest model, a person, or this one", "(the run's)",
     .own = recipe__read_model},
    {KEY_OF_ROLE, "temperature", KEY_LIST, "X, ...", "temperature by lane, the last one repeated",
     "(the model's)", .phrases = temperatures, .noun = "temperature",
     .list = {ROLE(temperature), ROLE(temperature_count), sizeof(double), RECIPE_MOST}},
    OF_ROLE("tokens", "N", "tokens of its prompt at most", "(the window)",
            COUNT(ROLE(agent.tokens), 100, 10000000)),
    OF_ROLE("reply", "N", "tokens of its reply at most", "8192", COUNT(ROLE(reply), 16, 1000000)),
    OF_ROLE("samples", "N", "how often it is asked for each item", "1",
            COUNT(ROLE(samples), 1, 1000)),
    OF_ROLE("count", "N", "how many of this role speak", "1", COUNT(ROLE(count), 1, 100)),
    {KEY_OF_ROLE, "tools", KEY_PHRASES, "compile, judge, profile, sweep, search, read",
     "what of the host it may use before it answers", NULL, .phrases = tools, .noun = "tool"},
    OF_ROLE("steps", "N", "uses of tools at most", "4", COUNT(ROLE(steps), 1, 1000)),
    TEXT(KEY_OF_ROLE, "question", "words", "what a person is asked", ROLE(question)),
    TEXT(KEY_OF_ROLE, "choices", "words", "what a person may answer", ROLE(choices)),
    OF_ROLE("timeout", "60s", "how long a person is waited for", "60s", SLOT_SECONDS, ROLE(timeout),
            0, 1e9),
    TEXT(KEY_OF_ROLE, "words", "words", "said to it besides its usual words", ROLE(agent.words)),

    OF_BUDGET("time", "10m", "all of it takes at most", SLOT_SECONDS,
              offsetof(struct recipe_budget, seconds), 0, 1e9),
    OF_BUDGET("calls", "N", "calls of models",
              COUNT(offsetof(struct recipe_budget, calls), 1, MOST)),
    OF_BUDGET("evals", "N", "kernels judged",
              COUNT(offsetof(struct recipe_budget, evals), 1, MOST)),
    OF_BUDGET("tokens", "N", "tokens of prompts and replies", SLOT_REAL,
              offsetof(struct recipe_budget, tokens), 1, 1e12),
    OF_BUDGET("cost", "X", "US dollars", SLOT_REAL, offsetof(struct recipe_budget, cost), 0.001,
              1e6),
    {0},
};

const struct key *
recipe__key(enum key_section section, const char *name)
{
    for (const struct key *key = recipe__keys; key->name != NULL; key++)
        if (key->section == section && !strcmp(key->name, name))
            return key;
    return NULL;
}
