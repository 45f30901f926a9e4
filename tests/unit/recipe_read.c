/* Recipes: what every key sets, what every mistake is told, and that each file of recipes/ says
 * what the system that it follows prescribes. */
#include "scratch.h"

#include "base/file.h"
#include "recipe/recipe.h"

#include <math.h>
#include <sys/stat.h>

static struct recipe *
read_text(struct unit *unit, const char *text)
{
    struct source *source = arena_alloc(unit->arena, sizeof *source);

    *source = (struct source){.path = "recipes/mine", .text = text, .length = strlen(text)};
    return recipe_read(unit->arena, source, unit->diags);
}

/* The first message, as it is printed, without the source line below it. */
static const char *
first_message(struct unit *unit)
{
    char *printed = unit_printed(unit, false);

    printed[strcspn(printed, "\n")] = '\0';
    return printed;
}

/* ---- values ---- */

static const char every_key[] =
    "recipe = mine\n"
    "about = what it does\n"
    "paper = 2511.01884\n"
    "[phase one]\n"
    "propose = roles\n"
    "start = naive\n"
    "seed = same program, same family\n"
    "topology = bandit 3\n"
    "select = ucb 2.5\n"
    "places = one per structure\n"
    "rounds = 7\n"
    "children = 2\n"
    "population = 9\n"
    "elite = 4\n"
    "cross = 0.25\n"
    "migrate = every 6, rate 0.2\n"
    "pool = 0.3\n"
    "throttle = 5\n"
    "prune = 3\n"
    "leaf_bias = 1.5\n"
    "arms = tiling of cache, fusion of memory, pipeline of compute\n"
    "recluster = 11\n"
    "stale = 8\n"
    "inspirations = 3\n"
    "evals = by family: 12 pointwise, 24 chain, 48 contraction, 64 convolution, 96 many stages\n"
    "share = 0.25\n"
    "skip = light 0.92, correct\n"
    "pass = top 3\n"
    "mix = edit 0.6, whole 0.3, cross 0.1\n"
    "plans = 5\n"
    "take = max(low), new kind, top 2 by score, all\n"
    "menu = gated, dropout 0.5\n"
    "invent = 0.15\n"
    "repair = 2\n"
    "sweep = 12\n"
    "prefilter = 4\n"
    "accept.base = faster 1 %, significant, no case below 0.97\n"
    "accept.best = correct\n"
    "tie = simpler\n"
    "objective = counter loads_per_fma, worst of cases\n"
    "stagnant = 4\n"
    "replans = 1\n"
    "stop = light 0.95, gain 2.5, stagnant 6, stagnant after replans, plans empty,\n"
    "       5 unusable replies, 7 reverts, 1 correct, time 15m\n"
    "history = one line each\n"
    "memory = board 16, rules 8 seen 3, retrieval 2 by value 0.1\n"
    "write = insight when gain > 1.04 or gain < 0.87, pair when gain > 1.1\n"
    "split = 4\n"
    "[role planner]\n"
    "when = start, stagnant, stagnant 5, every 3, gain < 0.87, gain > 1.5\n"
    "sees = task, schedules 5+6, attempts 3, profile 24, memory\n"
    "returns = list of { kind: a|b, title: 6 words, code: 2 lines, low, score: number }, at most "
    "6\n"
    "model = cheap\n"
    "temperature = 0.8, 0.9\n"
    "tokens = 6000\n"
    "reply = 4096\n"
    "samples = 2\n"
    "count = 3\n"
    "tools = compile, search\n"
    "steps = 9\n"
    "words = Be brief, please.\n"
    "[role coder]\n"
    "sees = contract, task, base\n"
    "returns = schedule | edits | file\n"
    "[role debugger]\n"
    "when = failing\n"
    "sees = candidate\n"
    "returns = fill\n"
    "[role verifier memory]\n"
    "when = before run\n"
    "sees = candidate\n"
    "returns = { pass: yes|no }\n"
    "[role librarian]\n"
    "sees = index\n"
    "model = ask\n"
    "question = Use these?\n"
    "choices = a, b, none\n"
    "timeout = 2m\n"
    "[phase end]\n"
    "finalists = 3, and the draft's best\n"
    "measure = all cases, 1 and all threads, 3 windows, interleaved\n"
    "check = fresh seeds, ASan build once\n"
    "give = fastest beyond the noise; otherwise the draft's best\n"
    "[budget]\n"
    "time = 10m\n"
    "calls = 40\n"
    "evals = 400\n"
    "tokens = 1e6\n"
    "cost = 1.50\n";

static void
check_search(const struct search_rule *rule)
{
    assert_int_equal(rule->topology, SEARCH_BANDIT);
    assert_int_equal(rule->width, 3);
    assert_int_equal(rule->select, SEARCH_SELECT_UCB);
    assert_true(rule->number == 2.5);
    assert_int_equal(rule->rounds, 7);
    assert_int_equal(rule->children, 2);
    assert_int_equal(rule->population, 9);
    assert_int_equal(rule->elite, 4);
    assert_true(rule->cross == 0.25);
    assert_int_equal(rule->migrate_every, 6);
    assert_true(rule->migrate_rate == 0.2);
    assert_true(rule->apart && rule->pool == 0.3);
    assert_int_equal(rule->throttle, 5);
    assert_int_equal(rule->prune, 3);
    assert_true(rule->leaf_bias == 1.5);
    assert_int_equal(rule->arms, 3);
    assert_int_equal(rule->recluster, 11);
    assert_int_equal(rule->stale, 8);
    assert_int_equal(rule->inspirations, 3);
}

static void
check_amounts(const struct recipe_phase *phase)
{
    assert_true(phase->start_naive && !phase->start_blank);
    assert_int_equal(phase->seeds, 1 << RECIPE_SEED_PROGRAM | 1 << RECIPE_SEED_FAMILY);
    assert_string_equal(phase->arms[1].name, "fusion");
    assert_int_equal(phase->arms[2].aim, RECIPE_AIM_COMPUTE);
    assert_int_equal(phase->evals_pointwise, 12);
    assert_int_equal(phase->evals_chain, 24);
    assert_int_equal(phase->evals_contraction, 48);
    assert_int_equal(phase->evals_convolution, 64);
    assert_int_equal(phase->evals_many, 96);
    assert_int_equal(phase->evals, 0);
    assert_true(phase->share == 0.25 && phase->skip_light == 0.92 && phase->skip_correct);
    assert_int_equal(phase->pass, RECIPE_PASS_TOP);
    assert_int_equal(phase->pass_count, 3);
    assert_true(phase->mix_edit == 0.6 && phase->mix_whole == 0.3 && phase->mix_cross == 0.1);
    assert_int_equal(phase->plans, 5);
    assert_int_equal(phase->take_count, 4);
    assert_int_equal(phase->take[0].take, RECIPE_TAKE_MAX);
    assert_string_equal(phase->take[0].field, "low");
    assert_int_equal(phase->take[1].take, RECIPE_TAKE_NEW_KIND);
    assert_int_equal(phase->take[2].take, RECIPE_TAKE_TOP);
    assert_int_equal(phase->take[2].most, 2);
    assert_string_equal(phase->take[2].field, "score");
    assert_int_equal(phase->take[3].take, RECIPE_TAKE_ALL);
    assert_true(phase->menu && phase->menu_dropout == 0.5 && phase->invent == 0.15);
    assert_int_equal(phase->repair, 2);
    assert_int_equal(phase->sweep, 12);
    assert_true(phase->sweep_from == 0.9);
    assert_int_equal(phase->prefilter, 4);
    assert_int_equal(phase->split, 4);
    assert_int_equal(phase->profile, 24);
}

static void
check_rules(const struct recipe_phase *phase)
{
    const struct recipe_stop *stop = &phase->stop;

    assert_true(fabs(phase->base.gain - 1.01) < 1e-12 && phase->base.significant);
    assert_true(phase->base.worst == 0.97 && !phase->base.always && !phase->base.any);
    assert_true(phase->best.always && !phase->best.significant);
    assert_true(phase->tie_simpler);
    assert_int_equal(phase->objective, RECIPE_COUNTER);
    assert_string_equal(phase->counter, "loads_per_fma");
    assert_int_equal(phase->over, RECIPE_WORST);
    assert_int_equal(phase->stagnant, 4);
    assert_int_equal(phase->replans, 1);
    assert_true(stop->light == 0.95 && stop->gain == 2.5 && stop->plans_empty && stop->replanned);
    assert_int_equal(stop->stagnant, 6);
    assert_int_equal(stop->unusable, 5);
    assert_int_equal(stop->reverts, 7);
    assert_int_equal(stop->correct, 1);
    assert_true(stop->seconds == 900);
    assert_int_equal(phase->history, RECIPE_ONE_LINE);
}

static void
check_memory(const struct recipe_remember *memory)
{
    assert_int_equal(memory[RECIPE_MEMORY_BOARD].most, 16);
    assert_int_equal(memory[RECIPE_MEMORY_BOARD].count, 1);
    assert_true(isnan(memory[RECIPE_MEMORY_BOARD].above));
    assert_int_equal(memory[RECIPE_MEMORY_RULES].most, 8);
    assert_int_equal(memory[RECIPE_MEMORY_RULES].count, 3);
    assert_int_equal(memory[RECIPE_MEMORY_RETRIEVAL].most, 2);
    assert_true(memory[RECIPE_MEMORY_RETRIEVAL].q == 0.1);
    assert_true(memory[RECIPE_MEMORY_INSIGHTS].above == 1.04);
    assert_true(memory[RECIPE_MEMORY_INSIGHTS].below == 0.87);
    assert_true(memory[RECIPE_MEMORY_PAIRS].above == 1.1);
    assert_true(isnan(memory[RECIPE_MEMORY_PAIRS].below));
}

static void
check_planner(const struct recipe_role *planner)
{
    static const enum agent_section seen[] = {
        AGENT_SECTION_TASK,  AGENT_SECTION_SCHEDULES, AGENT_SECTION_ATTEMPTS, AGENT_SECTION_PROFILE,
        AGENT_SECTION_RULES, AGENT_SECTION_CASES,     AGENT_SECTION_BOARD};
    static const struct recipe_when when[] = {{RECIPE_START, 0},         {RECIPE_STAGNANT, 0},
                                              {RECIPE_STAGNANT, 5},      {RECIPE_EVERY, 3},
                                              {RECIPE_GAIN_BELOW, 0.87}, {RECIPE_GAIN_ABOVE, 1.5}};
    const struct agent_field *fields = planner->agent.returns.fields;

    assert_int_equal(planner->when_count, 6);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(planner->when[i].moment, when[i].moment);
        assert_true(planner->when[i].number == when[i].number);
    }
    assert_int_equal(planner->agent.sight_count, sizeof seen / sizeof *seen);
    for (size_t i = 0; i < planner->agent.sight_count; i++)
        assert_int_equal(planner->agent.sees[i].section, seen[i]);
    assert_int_equal(planner->agent.sees[1].most, 5);
    assert_int_equal(planner->agent.sees[1].worst, 6);
    assert_int_equal(planner->agent.sees[2].most, 3);
    assert_int_equal(planner->agent.returns.formats, 1 << AGENT_FORMAT_LIST);
    assert_int_equal(planner->agent.returns.most, 6);
    assert_int_equal(planner->agent.returns.field_count, 5);
    assert_string_equal(fields[0].name, "kind");
    assert_string_equal(fields[0].choices, "a|b");
    assert_int_equal(fields[1].words, 6);
    assert_true(fields[2].words > 2 && !fields[2].number);
    assert_true(fields[3].number && fields[4].number && !fields[1].number);
    assert_string_equal(planner->model, "cheap");
    assert_int_equal(planner->temperature_count, 2);
    assert_true(planner->temperature[1] == 0.9);
    assert_int_equal(planner->agent.tokens, 6000);
    assert_int_equal(planner->reply, 4096);
    assert_int_equal(planner->samples, 2);
    assert_int_equal(planner->count, 3);
    assert_int_equal(planner->tools, 1 << RECIPE_TOOL_COMPILE | 1 << RECIPE_TOOL_SEARCH);
    assert_int_equal(planner->steps, 9);
    assert_string_equal(planner->agent.words, "Be brief, please.");
}

static void
check_other_roles(const struct recipe_phase *phase)
{
    const struct recipe_role *coder = recipe_role(phase, AGENT_CODER);
    const struct recipe_role *verifier = recipe_role(phase, AGENT_VERIFIER);
    const struct recipe_role *librarian = recipe_role(phase, AGENT_LIBRARIAN);

    assert_int_equal(coder->when_count, 0);
    assert_int_equal(coder->agent.returns.formats,
                     1 << AGENT_FORMAT_SCHEDULE | 1 << AGENT_FORMAT_EDITS | 1 << AGENT_FORMAT_FILE);
    assert_true(coder->reply == 8192 && coder->samples == 1 && coder->count == 1);
    assert_true(coder->steps == 4 && coder->timeout == 60 && coder->model == NULL);
    assert_string_equal(verifier->agent.name, "verifier memory");
    assert_int_equal(verifier->when[0].moment, RECIPE_BEFORE);
    assert_int_equal(verifier->agent.returns.formats, 1 << AGENT_FORMAT_OBJECT);
    assert_int_equal(librarian->when[0].moment, RECIPE_ROUND);
    assert_string_equal(librarian->question, "Use these?");
    assert_string_equal(librarian->choices, "a, b, none");
    assert_true(librarian->timeout == 120);
    assert_int_equal(librarian->agent.returns.formats, 1 << AGENT_FORMAT_TEXT);
    assert_null(recipe_role(phase, AGENT_CRITIC));
}

static void
every_key_is_read(void **state)
{
    struct unit *unit = *state;
    struct recipe *recipe = read_text(unit, every_key);
    struct buf keys = buf_in(unit->arena);

    assert_string_equal(unit_message(unit, 0), "");
    assert_non_null(recipe);
    assert_string_equal(recipe->name, "mine");
    assert_string_equal(recipe->about, "what it does");
    assert_string_equal(recipe->paper, "2511.01884");
    assert_string_equal(recipe->like, "");
    assert_string_equal(recipe->file, "recipes/mine");
    assert_int_equal(recipe->phase_count, 2);
    assert_string_equal(recipe->phases[0].name, "one");
    assert_int_equal(recipe->phases[0].line, 4);
    check_search(&recipe->phases[0].search);
    check_amounts(&recipe->phases[0]);
    check_rules(&recipe->phases[0]);
    check_memory(recipe->phases[0].memory);
    check_planner(recipe_role(&recipe->phases[0], AGENT_PLANNER));
    check_other_roles(&recipe->phases[0]);
    const struct recipe_finish *finish = &recipe->phases[1].finish;
    assert_true(finish->finalists == 3 && finish->draft && finish->draft_in_doubt);
    assert_int_equal(finish->measures, 7);
    assert_int_equal(finish->windows, 3);
    assert_int_equal(finish->checks, 1 << RECIPE_CHECK_SEEDS | 1 << RECIPE_CHECK_ASAN);
    assert_true(recipe->budget.seconds == 600 && recipe->budget.cost == 1.5);
    assert_true(recipe->budget.calls == 40 && recipe->budget.evals == 400);
    assert_true(recipe->budget.tokens == 1e6);

    /* No key was forgotten here: each of the table stands in the text. */
    recipe_put_keys(&keys);
    char *next = keys.data;
    size_t rows = 0;
    for (char *line; (line = strsep(&next, "\n")) != NULL && *line != '\0'; rows++) {
        char *key = rows > 1 ? strchr(line, '`') + 1 : NULL;
        if (key == NULL || !strncmp(key, "like`", 5))
            continue;
        key[strcspn(key, "`")] = '\0';
        assert_non_null(strstr(every_key, arena_printf(unit->arena, "\n%s = ", key)) ?: /* or */
                            (strcmp(key, "recipe") ? NULL : every_key));
    }
    assert_true(rows > 60);
}

static void
what_is_not_said_has_a_value(void **state)
{
    struct unit *unit = *state;
    struct recipe *recipe = read_text(unit, "recipe = mine\n[role coder]\nsees = task\n");

    assert_non_null(recipe);
    const struct recipe_phase *phase = recipe->phases;
    assert_string_equal(phase->name, "mine");
    assert_int_equal(phase->propose, RECIPE_BY_ROLES);
    assert_int_equal(phase->search.topology, SEARCH_LINEAR);
    assert_int_equal(phase->search.select, SEARCH_SELECT_LAST);
    assert_int_equal(phase->search.width, 1);
    assert_int_equal(phase->search.rounds, 10);
    assert_int_equal(phase->search.population, 5);
    assert_true(phase->search.migrate_rate == 0.1 && phase->search.leaf_bias == 1);
    assert_true(phase->base.gain == 1 && phase->best.gain == 1 && !phase->base.significant);
    assert_int_equal(phase->stagnant, 3);
    assert_int_equal(phase->replans, 2);
    assert_int_equal(phase->profile, 12);
    assert_int_equal(phase->plans, 1);
    assert_int_equal(phase->objective, RECIPE_TIME);
    assert_int_equal(phase->over, RECIPE_GEOMEAN);
    assert_int_equal(phase->history, RECIPE_NO_HISTORY);
    assert_int_equal(phase->pass, RECIPE_PASS_BEST);
    assert_int_equal(phase->roles[0].agent.returns.formats, 1 << AGENT_FORMAT_FILE);
    assert_true(recipe->budget.seconds == 0 && recipe->budget.calls == 0);
}

static void
a_topology_selects_as_it_needs(void **state)
{
    static const struct {
        const char *topology;
        enum search_select select;
    } rows[] = {
        {"linear", SEARCH_SELECT_LAST},    {"beam 2", SEARCH_SELECT_BEST},
        {"evolution", SEARCH_SELECT_RANK}, {"islands 3", SEARCH_SELECT_RANK},
        {"elites", SEARCH_SELECT_MIX},     {"tree", SEARCH_SELECT_UCB},
        {"race 4", SEARCH_SELECT_LAST},    {"trajectories 2", SEARCH_SELECT_LAST},
        {"samples 2", SEARCH_SELECT_LAST},
    };
    struct unit *unit = *state;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct recipe *recipe = read_text(
            unit,
            arena_printf(unit->arena, "recipe = mine\ntopology = %s\n[role coder]\nsees = task\n",
                         rows[i].topology));
        assert_non_null(recipe);
        assert_int_equal(recipe->phases[0].search.select, rows[i].select);
    }
}

/* ---- mistakes ---- */

#define ROLE "[role coder]\nsees = task\n"
#define HEAD "recipe = mine\n"
#define PLANNER "[role planner]\nsees = task\n"

static void
every_mistake_is_told(void **state)
{
    static const struct {
        const char *text, *printed;
    } rows[] = {
        /* the file */
        {ROLE, "recipes/mine:1: which recipe? write recipe = NAME in the first line"},
        {HEAD, "recipes/mine:1: the recipe does nothing; write a [phase NAME] with a [role coder]"},
        {"recipe = a b\n" ROLE,
         "recipes/mine:1: recipe = a b: no name; write letters, digits and - only"},
        {"recipe =\n" ROLE, "recipes/mine:1: recipe is empty; write recipe = NAME, or leave the "
                            "line out"},
        {HEAD "like = cudaforeg\n" ROLE,
         "recipes/mine:2: cudaforeg: no such recipe; did you mean cudaforge?"},
        {HEAD "like = ./no/such\n" ROLE, "./no/such: no such file"},
        {HEAD "[faze one]\n" ROLE, "recipes/mine:2: [faze one]: no such section; write [phase "
                                   "NAME], [role NAME] or [budget]"},
        {HEAD "[phase]\n" ROLE, "recipes/mine:2: [phase]: no such section; write [phase NAME], "
                                "[role NAME] or [budget]"},
        {HEAD "[budget big]\n" ROLE, "recipes/mine:2: [budget big]: no such section; write [phase "
                                     "NAME], [role NAME] or [budget]"},
        {HEAD "[phase a]\n" ROLE "[phase b]\n" ROLE "[phase a]\n",
         "recipes/mine:8: [phase a] is there twice, first in line 2; put its lines together"},
        {HEAD ROLE ROLE,
         "recipes/mine:4: [role coder] is there twice, first in line 2; put its lines together"},
        {HEAD ROLE "[budget]\ntime = 1m\n[budget]\ncalls = 3\n",
         "recipes/mine:6: [budget] is there twice, first in line 4; put its lines together"},
        {HEAD "no sign\n" ROLE,
         "recipes/mine:2:1: no setting; write key = value, or # before a remark"},
        {HEAD "rounds = 3\nrounds = 4\n" ROLE,
         "recipes/mine:3:1: rounds is given twice, first in line 2; write it once"},

        /* keys */
        {HEAD "strategy = beam 2\n" ROLE,
         "recipes/mine:2: strategy: no such key of a [phase]; `hone recipes --keys` lists them"},
        {HEAD "ruonds = 2\n" ROLE,
         "recipes/mine:2: ruonds: no such key of a [phase]; did you mean rounds?"},
        {HEAD ROLE "rounds = 2\n",
         "recipes/mine:4: rounds does not belong to a [role]; write it below a [phase]"},
        {HEAD "[phase a]\npaper = x\n" ROLE,
         "recipes/mine:3: paper does not belong to a [phase]; write it at the top of the file"},
        {HEAD ROLE "[budget]\ncals = 3\n",
         "recipes/mine:5: cals: no such key of a [budget]; did you mean calls?"},

        /* a phase */
        {HEAD "topology = beem\n" ROLE,
         "recipes/mine:2: topology = beem: no such topology; did you mean beam?"},
        {HEAD "topology = beem 2\n" ROLE,
         "recipes/mine:2: topology = beem 2: no such topology; did you mean beam N?"},
        {HEAD "topology = beam 2, tree\n" ROLE,
         "recipes/mine:2: topology = beam 2, tree: more than one topology; write one"},
        {HEAD "topology = beam 0\n" ROLE,
         "recipes/mine:2: topology = beam 0: write a whole number from 1 to 256"},
        {HEAD "topology = linear 3\n" ROLE, "recipes/mine:2: topology = linear 3: linear has no "
                                            "width; write topology = linear"},
        {HEAD "topology = bandit 3\n" ROLE, "recipes/mine:1: a bandit has nothing to choose among; "
                                            "write arms = tiling of cache, ..."},
        {HEAD "arms = tiling of cache\n" ROLE,
         "recipes/mine:2: arms are for a bandit; write topology = bandit"},
        {HEAD "topology = bandit 3\narms = tiling of cash\n" ROLE,
         "recipes/mine:3: arms = tiling of cash: no such arm; write NAME of cache, NAME of memory, "
         "NAME of compute"},
        {HEAD "select = epsilom 0.3\n" ROLE,
         "recipes/mine:2: select = epsilom 0.3: no such way to select; did you mean epsilon N?"},
        {HEAD "select = rank 3\n" ROLE,
         "recipes/mine:2: select = rank 3: rank has no number; write select = rank"},
        {HEAD "propose = nobody\n" ROLE,
         "recipes/mine:2: propose = nobody: no such proposer; write roles, builtin, memory"},
        {HEAD "start = blanc\n" ROLE,
         "recipes/mine:2: start = blanc: no such start; did you mean blank?"},
        {HEAD "seed = same programs\n" ROLE,
         "recipes/mine:2: seed = same programs: no such seed; did you mean same program?"},
        {HEAD "rounds = 0\n" ROLE,
         "recipes/mine:2: rounds = 0: write a whole number from 1 to 100000"},
        {HEAD "rounds = many\n" ROLE,
         "recipes/mine:2: rounds = many: write a whole number from 1 to 100000"},
        {HEAD "rounds = 2.5\n" ROLE,
         "recipes/mine:2: rounds = 2.5: write a whole number from 1 to 100000"},
        {HEAD "rounds =\n" ROLE,
         "recipes/mine:2: rounds is empty; write rounds = N, or leave the line out"},
        {HEAD "cross = 1.5\n" ROLE, "recipes/mine:2: cross = 1.5: write a number from 0 to 1"},
        {HEAD "cross = 0x1\n" ROLE, "recipes/mine:2: cross = 0x1: write a number from 0 to 1"},
        {HEAD "cross = nan\n" ROLE, "recipes/mine:2: cross = nan: write a number from 0 to 1"},
        {HEAD "migrate = often\n" ROLE,
         "recipes/mine:2: migrate = often: no such exchange; write every N, rate N"},
        {HEAD "evals = 12 pointwise\n" ROLE,
         "recipes/mine:2: evals = 12 pointwise: no such number of evaluations; write N, by family: "
         "N pointwise, N chain, N contraction, N convolution, N many stages"},
        {HEAD "skip = light 2\n" ROLE,
         "recipes/mine:2: skip = light 2: write a number from 0 to 1"},
        {HEAD "pass = bets\n" ROLE,
         "recipes/mine:2: pass = bets: no such choice; did you mean best?"},
        {HEAD "mix = edit 0.6, whole 0.3\n" ROLE,
         "recipes/mine:2: mix: the shares are 0.9 together; write shares that make 1"},
        {HEAD "mix = edits 1\n" ROLE,
         "recipes/mine:2: mix = edits 1: no such kind of call; did you mean edit N?"},
        {HEAD "take = max(lo)\n" ROLE PLANNER "returns = list of { low, high }\n",
         "recipes/mine:2: take: the planner returns no number `lo`; did you mean low?"},
        {HEAD "take = best\n" ROLE,
         "recipes/mine:2: take = best: no such choice; write all, max(NAME), new kind, top N by "
         "NAME"},
        {HEAD "take = all, all, all, all, all\n" ROLE, "recipes/mine:2: take: more than 4; write "
                                                       "fewer"},
        {HEAD "menu = gaited\n" ROLE,
         "recipes/mine:2: menu = gaited: no such menu; did you mean gated?"},
        {HEAD "sweep = all\n" ROLE, "recipes/mine:2: sweep = all: no such sweep; write N, from N"},
        {HEAD "accept.base = faster 1%\n" ROLE,
         "recipes/mine:2: accept.base = faster 1%: no such condition; did you mean faster N %?"},
        {HEAD "accept.best = fastest\n" ROLE,
         "recipes/mine:2: accept.best = fastest: no such condition; did you mean faster?"},
        {HEAD "tie = simple\n" ROLE,
         "recipes/mine:2: tie = simple: no such rule; did you mean simpler?"},
        {HEAD "objective = geomeen of cases\n" ROLE,
         "recipes/mine:2: objective = geomeen of cases: no such objective; did you mean geomean of "
         "cases?"},
        {HEAD "objective = counter loads_per_fam\n" ROLE,
         "recipes/mine:2: objective = loads_per_fam: no such figure; did you mean loads_per_fma?"},
        {HEAD "stop = ligth 0.9\n" ROLE,
         "recipes/mine:2: stop = ligth 0.9: no such reason; did you mean light N?"},
        {HEAD "stop = light 0.9, light 0.8\n" ROLE,
         "recipes/mine:2: stop = light 0.8: said twice; write it once"},
        {HEAD "stop = time 15x\n" ROLE, "recipes/mine:2: stop = time 15x: write 90s, 10m or 1h"},
        {HEAD "history = some\n" ROLE,
         "recipes/mine:2: history = some: no such kind of history; write none, last, all, "
         "summaries, one line each"},
        {HEAD "memory = borad 3\n" ROLE,
         "recipes/mine:2: memory = borad 3: no such memory; did you mean board N?"},
        {HEAD "memory = board 0\n" ROLE,
         "recipes/mine:2: memory = board 0: write a whole number from 1 to 1000"},
        {HEAD "write = insight\n" ROLE, "recipes/mine:2: write = insight: when? write insight when "
                                        "gain > 1.04 or gain < 0.87"},
        {HEAD "write = insihgt when gain > 1\n" ROLE,
         "recipes/mine:2: write = insihgt: no such memory; did you mean insight?"},
        {HEAD "write = insight when gain = 1\n" ROLE,
         "recipes/mine:2: write = gain = 1: no such condition; did you mean gain > N?"},
        {HEAD "finalists = all\n",
         "recipes/mine:2: finalists = all: no such finalist; write N, and "
         "the draft's best"},
        {HEAD "finalists = 3\nmeasure = all case\n",
         "recipes/mine:3: measure = all case: no such way to measure; did you mean all cases?"},
        {HEAD "finalists = 3\ncheck = fresh seed\n",
         "recipes/mine:3: check = fresh seed: no such check; did you mean fresh seeds?"},
        {HEAD "finalists = 3\ngive = fastes\n",
         "recipes/mine:3: give = fastes: no such result; did you mean fastest?"},

        /* roles that are missing, or too many */
        {HEAD "rounds = 3\n" PLANNER,
         "recipes/mine:1: phase mine: nobody writes kernels; add [role coder]"},
        {HEAD "plans = 5\n" ROLE,
         "recipes/mine:2: phase mine: nobody makes the plans; add [role planner]"},
        {HEAD "topology = best-first\n" ROLE, "recipes/mine:2: phase mine: best-first goes over "
                                              "plans, and nobody makes any; add [role planner]"},
        {HEAD "stop = plans empty\n" ROLE,
         "recipes/mine:2: phase mine: it would end without plans, "
         "and nobody makes any; add [role planner]"},
        {HEAD "repair = 2\n" ROLE,
         "recipes/mine:2: phase mine: nobody repairs; add [role debugger]"},
        {HEAD "prefilter = 2\n" ROLE, "recipes/mine:2: phase mine: nobody says what is worth "
                                      "running; add [role verifier]"},
        {HEAD "select = model\n" ROLE,
         "recipes/mine:2: phase mine: nobody chooses; add [role selector]"},
        {HEAD "propose = builtin\n" ROLE,
         "recipes/mine:3: phase mine asks nobody; take [role coder] out"},
        {HEAD "finalists = 3\n" ROLE,
         "recipes/mine:3: phase mine asks nobody; take [role coder] out"},

        /* a role */
        {HEAD ROLE "[role planer]\nsees = task\n",
         "recipes/mine:4: [role planer]: no such role; did you mean planner?"},
        {HEAD ROLE "[role judge]\nsees = task\n",
         "recipes/mine:4: [role judge]: no such role; `hone recipes --keys` lists them"},
        {HEAD "[role coder]\n",
         "recipes/mine:2: [role coder] sees nothing; write sees = task, ..."},
        {HEAD "[role coder]\nsees = taks\n",
         "recipes/mine:3: sees = taks: no such section; did you mean task?"},
        {HEAD "[role coder]\nsees = everything\n", "recipes/mine:3: sees = everything: no such "
                                                   "section; `hone recipes --keys` lists them"},
        {HEAD "[role coder]\nsees = task, task\n",
         "recipes/mine:3: sees = task: said twice; write it once"},
        {HEAD "[role coder]\nsees = attempts few\n",
         "recipes/mine:3: sees = attempts few: write attempts, attempts 3 or attempts 5+5"},
        {HEAD "[role coder]\nsees = task, insights\n",
         "recipes/mine:3: sees = insights: phase mine "
         "keeps none; write memory = ... into its "
         "lines"},
        {HEAD "[role coder]\nsees = task, history\n", "recipes/mine:3: sees = history: phase mine "
                                                      "keeps none; write history = last into its "
                                                      "lines"},
        {HEAD ROLE PLANNER "when = passsing\n",
         "recipes/mine:6: when = passsing: no such moment; did you mean passing?"},
        {HEAD ROLE PLANNER "when = every\n",
         "recipes/mine:6: when = every: no such moment; did you mean every N?"},
        {HEAD ROLE PLANNER "when = gain < fast\n",
         "recipes/mine:6: when = gain < fast: no such moment; did you mean gain < N?"},
        {HEAD ROLE PLANNER "when = sometimes\n",
         "recipes/mine:6: when = sometimes: no such moment; write start, round, no plan pending, "
         "failing, passing, accepted, stagnant, stagnant N, ..."},
        {HEAD ROLE "returns = flie\n",
         "recipes/mine:4: returns = flie: no such format; did you mean file?"},
        {HEAD ROLE "returns = file |\n",
         "recipes/mine:4: returns: a format is missing; write file | edits, or { name, name: 30 "
         "words, name: a|b }, or list of { ... }, at most 6"},
        {HEAD ROLE "returns = text\n",
         "recipes/mine:4: a coder returns kernels; write returns = file, or edits, schedule, ..."},
        {HEAD ROLE "[role selector]\nsees = task\nreturns = { base }\n",
         "recipes/mine:6: a selector returns the number of a choice; write returns = pick"},
        {HEAD "places = two\n" ROLE,
         "recipes/mine:2: places = two: no such kind of place; write the "
         "fastest, one per structure"},
        {HEAD ROLE PLANNER "returns = { a, a }\n",
         "recipes/mine:6: returns: `a` is no field, or there twice; write file | edits, or { name, "
         "name: 30 words, name: a|b }, or list of { ... }, at most 6"},
        {HEAD ROLE PLANNER "returns = list of a\n",
         "recipes/mine:6: returns: an object has its fields in braces; write file | edits, or { "
         "name, name: 30 words, name: a|b }, or list of { ... }, at most 6"},
        {HEAD ROLE PLANNER "returns = { a } b\n",
         "recipes/mine:6: returns: something stands behind the braces; write file | edits, or { "
         "name, name: 30 words, name: a|b }, or list of { ... }, at most 6"},
        {HEAD ROLE PLANNER "returns = list of { a }, at least 6\n",
         "recipes/mine:6: returns: what stands behind the braces is not at most N; write file | "
         "edits, or { name, name: 30 words, name: a|b }, or list of { ... }, at most 6"},
        {HEAD ROLE "model = chaep\n",
         "recipes/mine:4: model = chaep: which? write cheap, ask or PROVIDER:NAME"},
        {HEAD ROLE "model = exec:rm\n",
         "recipes/mine:4: model = exec:rm: a recipe names no command "
         "and no address; give it with --role"},
        {HEAD ROLE "model = openai:m@http://x/v1\n",
         "recipes/mine:4: model = openai:m@http://x/v1: a recipe names no command and no address; "
         "give it with --role"},
        {HEAD ROLE "model = ask\n",
         "recipes/mine:4: what is the person asked? write question = ..."},
        {HEAD ROLE "question = Well?\n",
         "recipes/mine:4: a question is for a person; write model = ask"},
        {HEAD ROLE "choices = a, b\n",
         "recipes/mine:4: choices are for a person; write model = ask"},
        {HEAD ROLE "temperature = 3\n",
         "recipes/mine:4: temperature = 3: write a number from 0 to 2"},
        {HEAD ROLE "temperature = hot\n",
         "recipes/mine:4: temperature = hot: no such temperature; write N"},
        {HEAD ROLE "tools = complie\n",
         "recipes/mine:4: tools = complie: no such tool; did you mean compile?"},
        {HEAD ROLE "steps = 3\n",
         "recipes/mine:4: steps count uses of tools; write tools = compile, ..."},
        {HEAD ROLE "timeout = soon\n", "recipes/mine:4: timeout = soon: write 90s, 10m or 1h"},
        {HEAD ROLE "tokens = 5\n",
         "recipes/mine:4: tokens = 5: write a whole number from 100 to 10000000"},

        /* the budget */
        {HEAD ROLE "[budget]\ntime = 10 minutes\n",
         "recipes/mine:5: time = 10 minutes: write 90s, 10m or 1h"},
        {HEAD ROLE "[budget]\ncost = 0\n",
         "recipes/mine:5: cost = 0: write a number from 0.001 to 1000000"},
    };
    struct unit *unit = *state;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unit->diags = diags_create(unit->arena, 0);
        assert_null(read_text(unit, rows[i].text));
        assert_string_equal(first_message(unit), rows[i].printed);
    }
}

static void
all_mistakes_are_told_at_once(void **state)
{
    struct unit *unit = *state;

    assert_null(read_text(unit, HEAD "topology = beem\nrounds = 0\n" ROLE "reply = 1\n"));
    assert_int_equal(diags_errors(unit->diags), 3);
}

/* ---- like ---- */

static void
put_file(struct unit *unit, const char *name, const char *text)
{
    const char *folder = file_join(unit->arena, file_config_folder(unit->arena), "recipes");

    assert_int_equal(file_make_folder(folder, unit->diags), STATUS_OK);
    assert_int_equal(
        file_write(file_join(unit->arena, folder, name), text, strlen(text), unit->diags),
        STATUS_OK);
}

/* The folder of the test is the user's configuration folder. */
static int
own_setup(void **state)
{
    char here[4096];

    return scratch_setup(state) != 0 || getcwd(here, sizeof here) == NULL ||
           setenv("XDG_CONFIG_HOME", here, 1) != 0;
}

static int
own_teardown(void **state)
{
    unsetenv("XDG_CONFIG_HOME");
    return scratch_teardown(state);
}

#define OWN_TEST(function) cmocka_unit_test_setup_teardown(function, own_setup, own_teardown)

static void
like_overrides(void **state)
{
    struct unit *unit = *state;

    put_file(unit, "base",
             "recipe = base\nabout = base\n[phase a]\nrounds = 3\nchildren = 2\n" ROLE
             "reply = 99\n[phase b]\n" ROLE PLANNER "[budget]\ntime = 1m\ncalls = 5\n");
    put_file(unit, "over",
             "recipe = over\nlike = base\n[phase a]\nrounds = 4\n[role coder]\ntokens = 500\n"
             "[role critic]\nsees = task\n[phase c]\n" ROLE "[phase b]\n[role planner]\n"
             "when = never\n[budget]\ncalls = 6\n");
    struct recipe *recipe = recipe_find(unit->arena, "over", unit->diags);
    assert_string_equal(unit_message(unit, 0), "");
    assert_non_null(recipe);
    assert_string_equal(recipe->name, "over");
    assert_string_equal(recipe->like, "base");
    assert_string_equal(recipe->about, "");
    assert_int_equal(recipe->phase_count, 3);
    assert_string_equal(recipe->phases[0].name, "a");
    assert_string_equal(recipe->phases[1].name, "c"); /* behind the one above it in its file */
    assert_string_equal(recipe->phases[2].name, "b");
    assert_int_equal(recipe->phases[0].search.rounds, 4);
    assert_int_equal(recipe->phases[0].search.children, 2);
    assert_int_equal(recipe->phases[0].role_count, 2);
    assert_int_equal(recipe->phases[0].roles[0].reply, 99);
    assert_int_equal(recipe->phases[0].roles[0].agent.tokens, 500);
    assert_int_equal(recipe->phases[0].roles[1].agent.kind, AGENT_CRITIC);
    assert_int_equal(recipe->phases[2].role_count, 1);
    assert_true(recipe->budget.seconds == 60 && recipe->budget.calls == 6);
}

static void
like_in_a_circle_is_told(void **state)
{
    struct unit *unit = *state;

    put_file(unit, "a", "recipe = a\nlike = b\n" ROLE);
    put_file(unit, "b", "recipe = b\nlike = c\n" ROLE);
    put_file(unit, "c", "recipe = c\nlike = a\n" ROLE);
    put_file(unit, "self", "recipe = self\nlike = self\n" ROLE);
    assert_null(recipe_find(unit->arena, "a", unit->diags));
    assert_int_equal(diags_errors(unit->diags), 1);
    assert_non_null(strstr(first_message(unit), "recipes/c:2: like = a: goes in a circle: a is "
                                                "like this one; write one of them out"));
    unit->diags = diags_create(unit->arena, 0);
    assert_null(recipe_find(unit->arena, "self", unit->diags));
    assert_non_null(strstr(first_message(unit), "recipes/self:2: self: no such recipe"));
}

static void
ones_own_go_before(void **state)
{
    struct unit *unit = *state;
    struct recipe **recipes;

    put_file(unit, "hone",
             "recipe = hone\nlike = hone\nabout = mine\n[phase think]\nrounds = 99\n");
    put_file(unit, "mine", "recipe = mine\n" ROLE);
    put_file(unit, "mine~", "left by an editor");
    put_file(unit, "wrong", "recipe = wrong\ntopology = beem\n" ROLE);
    put_file(unit, "other", "recipe = another\n" ROLE);
    struct recipe *hone = recipe_find(unit->arena, "hone", unit->diags);
    assert_non_null(hone);
    assert_string_equal(hone->about, "mine");
    assert_int_equal(hone->phase_count, 3);
    assert_int_equal(hone->phases[1].search.rounds, 99);
    assert_int_equal(hone->phases[1].role_count, 6);

    size_t count = recipe_list(unit->arena, &recipes, unit->diags), found = 0;
    for (size_t i = 0; i < count; i++) {
        assert_true(i == 0 || strcmp(recipes[i - 1]->name, recipes[i]->name) < 0);
        found += !strcmp(recipes[i]->name, "mine") || recipes[i]->about == hone->about;
        assert_string_not_equal(recipes[i]->name, "wrong");
    }
    assert_true(found >= 1);
    assert_int_equal(diags_errors(unit->diags), 2);
    assert_non_null(strstr(unit_printed(unit, false), "recipes/wrong:2: topology = beem"));
    assert_non_null(strstr(unit_printed(unit, false),
                           "recipes/other: says recipe = another; write recipe = other, or call "
                           "the file another"));
}

static void
a_path_is_a_file(void **state)
{
    struct unit *unit = *state;

    assert_int_equal(file_write("any.txt", HEAD ROLE, strlen(HEAD ROLE), unit->diags), STATUS_OK);
    struct recipe *recipe = recipe_find(unit->arena, "./any.txt", unit->diags);
    assert_non_null(recipe);
    assert_string_equal(recipe->name, "mine");
    assert_null(recipe_find(unit->arena, "any.txt", unit->diags));
    assert_non_null(strstr(first_message(unit), "any.txt: no such recipe"));
    unit->diags = diags_create(unit->arena, 0);
    assert_null(recipe_find(unit->arena, "strak", unit->diags));
    assert_string_equal(first_message(unit), "strak: no such recipe; did you mean stark?");
}

/* ---- explained ---- */

static void
lines_are_explained(void **state)
{
    struct unit *unit = *state;
    struct buf buf = buf_in(unit->arena);
    struct recipe *recipe = read_text(
        unit, HEAD "\n# a remark\nstop = light 0.9,\n  plans empty   # so\n" ROLE PLANNER);

    assert_non_null(recipe);
    recipe_explain(&buf, unit->arena, recipe);
    assert_string_equal(buf.data, "recipe = mine\n"
                                  "        its name: letters, digits and -\n"
                                  "\n"
                                  "# a remark\n"
                                  "stop = light 0.9,\n"
                                  "  plans empty   # so\n"
                                  "        it ends early when: every case has 0.9 of the speed of "
                                  "light; no plan is left\n"
                                  "[role coder]\n"
                                  "        writes the change\n"
                                  "sees = task\n"
                                  "        what its prompt holds\n"
                                  "[role planner]\n"
                                  "        proposes what to change, with expected gains\n"
                                  "sees = task\n"
                                  "        what its prompt holds\n");
}

/* ---- the recipes that come with the program ---- */

static void
put_roles(struct buf *buf, const struct recipe_phase *phase)
{
    for (size_t i = 0; i < phase->role_count; i++) {
        const struct recipe_role *role = &phase->roles[i];
        buf_printf(buf, "; %s", role->agent.name);
        for (size_t w = 0; w < role->when_count; w++) {
            buf_printf(buf, "%s %s", w ? "," : ":", recipe_moment_name[role->when[w].moment]);
            if (role->when[w].number != 0)
                buf_printf(buf, " %g", role->when[w].number);
        }
    }
}

/* "beam: beam 2 of 2, best, 5 rounds; coder": what a paper prescribes of a phase. */
static const char *
summary(struct arena *arena, const struct recipe_phase *phase)
{
    const struct search_rule *rule = &phase->search;
    struct buf buf = buf_in(arena);

    buf_printf(&buf, "%s: ", phase->name);
    if (phase->finish.finalists > 0) {
        buf_printf(&buf, "%u finalists", phase->finish.finalists);
        return buf.data;
    }
    if (phase->propose == RECIPE_BY_MEMORY) {
        buf_puts(&buf, "memory");
        return buf.data;
    }
    buf_printf(&buf, "%s%s", phase->propose == RECIPE_BY_BUILTIN ? "builtin, " : "",
               search_topology_name[rule->topology].name);
    if (rule->width > 1)
        buf_printf(&buf, " %u", rule->width);
    if (rule->children > 1)
        buf_printf(&buf, " x %u", rule->children);
    buf_printf(&buf, ", %s", search_select_name[rule->select].name);
    if (rule->number != 0)
        buf_printf(&buf, " %g", rule->number);
    if (phase->propose == RECIPE_BY_ROLES)
        buf_printf(&buf, ", %u rounds", rule->rounds);
    put_roles(&buf, phase);
    return buf.data;
}

static void
recipes_are_what_their_papers_say(void **state)
{
    static const struct {
        const char *name, *paper;
        const char *phases[5];
    } rows[] = {
        {"ai-cuda-engineer",
         "",
         {"convert: linear, last, 10 rounds; coder",
          "translate: linear, last, 10 rounds; reflector: failing; coder",
          "evolve: evolution x 4, rank, 10 rounds; profiler: passing; coder",
          "compose: samples 5, last, 1 rounds; coder"}},
        {"akg",
         "2512.23424",
         {"plan: samples 2, last, 1 rounds; planner: start; coder",
          "act: tree x 2, ucb 1.414, 4 rounds; planner: start, stagnant; controller: failing; "
          "coder; debugger: failing"}},
        {"astra",
         "2509.07506",
         {"rounds: linear, last, 5 rounds; tester: start; profiler: round; planner: round; "
          "coder"}},
        {"best-of-n", "2502.10517", {"sample: samples 16, last, 1 rounds; coder"}},
        {"caesar", "2502.10517", {"turns: linear, last, 10 rounds; coder"}},
        {"cuda-l1", "2507.14111", {"contrast: samples 8, softmax 1, 5 rounds; coder"}},
        {"cuda-llm", "2506.09092", {"search: linear x 4, last, 8 rounds; coder"}},
        {"cudaforge",
         "2511.01884",
         {"refine: linear, last, 10 rounds; critic correction: failing; critic optimization: "
          "passing; coder"}},
        {"diffagent",
         "2601.03178",
         {"evolve: evolution x 3, tournament 2, 6 rounds; planner: round; coder; debugger: "
          "failing"}},
        {"evoengineer-free", "2510.03760", {"evolve: linear, best, 45 rounds; coder"}},
        {"evoengineer-full",
         "2510.03760",
         {"evolve: evolution x 4, rank, 10 rounds; coder; crossover: round"}},
        {"evoengineer-insight", "2510.03760", {"evolve: linear, best, 45 rounds; coder"}},
        {"fm-agent",
         "2510.26144",
         {"cold: samples 8, last, 1 rounds; coder",
          "evolve: islands 4, mix, 20 rounds; coder; crossover: round; verifier: before run; "
          "controller: every 10"}},
        {"geak",
         "2507.23194",
         {"optimise: tree, best, 20 rounds; reflector: failing; planner: passing; coder"}},
        {"hone",
         "",
         {"draft: builtin, evolution, rank",
          "think: beam 2, best, 8 rounds; planner: start, stagnant; critic: no plan pending; "
          "coder; debugger: failing; summariser: accepted, gain < 0.87; tester: end",
          "finish: 3 finalists"}},
        {"hone-small",
         "",
         {"draft: builtin, evolution, rank",
          "think: beam 2, best, 8 rounds; coder; debugger: failing", "finish: 3 finalists"}},
        {"inference-scaling",
         "",
         {"right: linear, last, 1000 rounds; reflector: failing; coder",
          "fast: linear, last, 1000 rounds; reflector: failing, passing; coder"}},
        {"kernel-scientist",
         "2506.20807",
         {"experiments: tree x 3, model, 20 rounds; selector: round; planner: round; coder"}},
        {"kernelband", "2511.18868", {"bandit: bandit 3, ucb 2, 20 rounds; coder"}},
        {"kernelevolve",
         "2512.23236",
         {"search: tree, uct 0.2828, 40 rounds; reflector: round; librarian: round; coder"}},
        {"kernelfalcon",
         "",
         {"race: race 4, last, 10 rounds; tester: start; coder",
          "beam: beam 2 x 2, best, 5 rounds; planner: round; coder; summariser: round"}},
        {"kernelgen",
         "",
         {"refine: trajectories 2, last, 5 rounds; librarian: start; reflector: failing, passing; "
          "coder"}},
        {"kevin", "2507.11948", {"turns: trajectories 16, last, 8 rounds; coder"}},
        {"kforge",
         "2511.13274",
         {"function: linear, last, 5 rounds; coder",
          "speed: linear, last, 5 rounds; profiler: passing; coder"}},
        {"maxcode",
         "2601.05475",
         {"search: linear x 8, last, 8 rounds; critic: failing, passing; coder; verifier: before "
          "run"}},
        {"perf-tools", "2510.17158", {"reason: linear, best, 4 rounds; coder"}},
        {"pragma",
         "2511.06345",
         {"refine: linear, best, 10 rounds; profiler: passing; controller: round; coder"}},
        {"qimeng", "2511.20100", {"steps: linear, last, 8 rounds; planner: round; coder"}},
        {"qimeng-tensorop",
         "2505.06302",
         {"sketch: linear, last, 6 rounds; librarian: start; coder",
          "tune: builtin, tree, uct 0.2828"}},
        {"regrapht",
         "2510.19873",
         {"learn: memory", "walk: tree, uct 0.2828, 30 rounds; planner: round; coder"}},
        {"robust-kbench",
         "2509.14279",
         {"evolve: evolution x 8, rank, 10 rounds; coder; verifier compile: before run; verifier "
          "memory: before run; verifier numerics: before run"}},
        {"stark",
         "2510.16996",
         {"search: tree, epsilon 0.3, 30 rounds; planner: round; coder; debugger: failing"}},
        {"swizzleperf", "2508.20258", {"refine: linear, last, 10 rounds; profiler: start; coder"}},
        {"tritonforge",
         "2512.09196",
         {"propose: linear, last, 1 rounds; tester: start; coder",
          "remediate: linear, last, 4 rounds; coder; debugger: failing",
          "arbitrate: linear, last, 8 rounds; profiler: passing; coder; debugger: failing; "
          "controller: passing; reflector: passing"}},
    };
    struct unit *unit = *state;
    struct recipe **recipes;
    size_t count = recipe_list(unit->arena, &recipes, unit->diags);

    assert_string_equal(unit_message(unit, 0), "");
    assert_int_equal(count, sizeof rows / sizeof *rows);
    for (size_t i = 0; i < count; i++) {
        size_t phases = 0;
        assert_string_equal(recipes[i]->name, rows[i].name);
        assert_string_equal(recipes[i]->paper, rows[i].paper);
        while (phases < 5 && rows[i].phases[phases] != NULL)
            phases++;
        assert_int_equal(recipes[i]->phase_count, phases);
        for (size_t p = 0; p < phases; p++)
            assert_string_equal(summary(unit->arena, &recipes[i]->phases[p]), rows[i].phases[p]);
    }
}

static const struct recipe_phase *
phase_of(struct unit *unit, const char *name, size_t number)
{
    struct recipe *recipe = recipe_find(unit->arena, name, unit->diags);

    assert_non_null(recipe);
    assert_true(number < recipe->phase_count);
    return &recipe->phases[number];
}

static bool
sees(const struct recipe_role *role, enum agent_section section)
{
    for (size_t i = 0; i < role->agent.sight_count; i++)
        if (role->agent.sees[i].section == section)
            return true;
    return false;
}

/* What makes a system itself besides its topology and its roles. */
static void
recipes_have_their_constants(void **state)
{
    struct unit *unit = *state;
    const struct recipe_phase *phase = phase_of(unit, "stark", 0);

    assert_true(phase->search.throttle == 5 && phase->search.prune == 3);
    assert_true(phase->search.leaf_bias == 1.5 && phase->evals == 30);
    assert_true(recipe_role(phase, AGENT_PLANNER)->temperature[0] == 0.8);
    assert_true(recipe_role(phase, AGENT_CODER)->temperature[0] == 0.1);
    assert_int_equal(recipe_role(phase, AGENT_CODER)->agent.returns.formats,
                     1 << AGENT_FORMAT_FILL);

    phase = phase_of(unit, "cudaforge", 0);
    assert_int_equal(phase->profile, 24);
    assert_true(phase->base.any && phase->history == RECIPE_NO_HISTORY);
    assert_true(recipe_role(phase, AGENT_CODER)->temperature[0] == 0.2);
    assert_int_equal(recipe_role(phase, AGENT_CODER)->reply, 16384);
    assert_false(sees(recipe_role(phase, AGENT_CODER), AGENT_SECTION_PROFILE));

    phase = phase_of(unit, "caesar", 0);
    assert_true(phase->history == RECIPE_ALL && phase->start_blank);
    assert_true(recipe_role(phase, AGENT_CODER)->temperature_count == 1);
    assert_true(recipe_role(phase, AGENT_CODER)->temperature[0] == 0);

    phase = phase_of(unit, "kevin", 0);
    assert_int_equal(phase->history, RECIPE_SUMMARIES);

    phase = phase_of(unit, "robust-kbench", 0);
    assert_int_equal(phase->prefilter, 4);
    assert_int_equal(phase->search.children, 8);

    phase = phase_of(unit, "kernelband", 0);
    assert_true(phase->search.arms == 6 && phase->search.recluster == 10);

    phase = phase_of(unit, "kernel-scientist", 0);
    assert_true(phase->plans == 5 && phase->take_count == 3);

    phase = phase_of(unit, "inference-scaling", 1);
    assert_true(phase->stop.seconds == 900);

    phase = phase_of(unit, "evoengineer-insight", 0);
    assert_int_equal(phase->memory[RECIPE_MEMORY_INSIGHTS].most, 3);
    assert_int_equal(phase->evals, 45);
    assert_int_equal(phase_of(unit, "evoengineer-free", 0)->evals, 45);
    assert_int_equal(phase_of(unit, "evoengineer-full", 0)->search.population, 5);

    phase = phase_of(unit, "kernelfalcon", 0);
    assert_true(phase->stop.correct == 1 && phase->split > 1);
    assert_int_equal(recipe_role(phase, AGENT_CODER)->temperature_count, 4);
    phase = phase_of(unit, "kernelfalcon", 1);
    assert_true(phase->stop.light == 0.95 && phase->stop.stagnant == 5 && phase->profile == 28);

    phase = phase_of(unit, "geak", 0);
    assert_true(phase->search.prune == 5 && phase->memory[RECIPE_MEMORY_RETRIEVAL].most == 1);

    phase = phase_of(unit, "akg", 1);
    assert_true(phase->search.inspirations == 3);
    phase = phase_of(unit, "perf-tools", 0);
    assert_int_equal(recipe_role(phase, AGENT_CODER)->tools, (1 << RECIPE_TOOL_COUNT) - 1);
    phase = phase_of(unit, "swizzleperf", 0);
    assert_int_equal(phase->objective, RECIPE_COUNTER);
    phase = phase_of(unit, "cuda-l1", 0);
    assert_int_equal(phase->memory[RECIPE_MEMORY_EXEMPLARS].most, 2);
    phase = phase_of(unit, "ai-cuda-engineer", 3);
    assert_int_equal(phase->memory[RECIPE_MEMORY_CASES].most, 5);
    phase = phase_of(unit, "tritonforge", 2);
    assert_true(fabs(phase->best.gain - 1.05) < 1e-12);
}

static void
hone_is_as_specified(void **state)
{
    struct unit *unit = *state;
    const struct recipe_phase *draft = phase_of(unit, "hone", 0), *think = draft + 1,
                              *finish = draft + 2;
    const struct recipe_role *coder = recipe_role(think, AGENT_CODER);

    assert_true(draft->evals_pointwise == 12 && draft->evals_many == 96 && draft->share == 0.25);
    assert_int_equal(draft->pass, RECIPE_PASS_CELLS);
    assert_int_equal(draft->seeds, 7);
    assert_true(draft->stop.light == 0.95 && think->skip_light == 0.92);
    assert_true(think->mix_edit == 0.6 && think->mix_whole == 0.3 && think->mix_cross == 0.1);
    assert_true(think->search.apart);
    assert_true(think->plans == 5 && think->take_count == 3 && think->menu);
    assert_true(think->menu_dropout == 0.5 && think->invent == 0.15 && think->repair == 2);
    assert_true(think->sweep == 12 && think->sweep_from == 0.9);
    assert_true(fabs(think->base.gain - 1.01) < 1e-12 && think->base.worst == 0.97);
    assert_true(think->base.significant && think->best.significant && think->tie_simpler);
    assert_true(think->stagnant == 3 && think->replans == 2 && think->stop.unusable == 5);
    assert_true(think->memory[RECIPE_MEMORY_BOARD].most == 16);
    assert_true(think->memory[RECIPE_MEMORY_INSIGHTS].most == 4);
    assert_true(think->memory[RECIPE_MEMORY_INSIGHTS].above == 1.04);
    assert_true(think->pass == RECIPE_PASS_TOP && think->pass_count == 3);
    assert_true(sees(recipe_role(think, AGENT_PLANNER), AGENT_SECTION_BOARD));
    assert_true(coder->agent.tokens == 8000 && sees(coder, AGENT_SECTION_HONE_H));
    assert_true(finish->finish.draft && finish->finish.draft_in_doubt);
    assert_int_equal(finish->finish.windows, 3);
    assert_int_equal(finish->finish.checks, (1 << RECIPE_CHECK_COUNT) - 1);

    const struct recipe *small = recipe_find(unit->arena, "hone-small", unit->diags);
    coder = recipe_role(&small->phases[1], AGENT_CODER);
    assert_true(coder->samples == 4 && coder->temperature[0] == 0.7);
    assert_int_equal(coder->agent.tokens, 3600);
    assert_int_equal(coder->agent.returns.most, 24);
    assert_int_equal(small->phases[1].repair, 1);
    assert_true(small->budget.calls == 40);
}

/* What a recipe says, without its name and its words. */
static const char *
substance(struct unit *unit, const struct recipe *recipe)
{
    struct buf buf = buf_in(unit->arena);

    for (size_t p = 0; p < recipe->phase_count; p++) {
        const struct recipe_phase *phase = &recipe->phases[p];
        const char *text = summary(unit->arena, phase);
        buf_printf(&buf, "%s|%d%d%d|", strchr(text, ':'), phase->start_blank, phase->base.any,
                   (int)phase->history);
        for (unsigned i = 0; i < RECIPE_MEMORY_COUNT; i++)
            buf_printf(&buf, "%u ", phase->memory[i].most);
        for (size_t r = 0; r < phase->role_count; r++) {
            buf_printf(&buf, "|%u %u", phase->roles[r].agent.returns.formats,
                       phase->roles[r].tools);
            for (size_t s = 0; s < phase->roles[r].agent.sight_count; s++)
                buf_printf(&buf, " %d", (int)phase->roles[r].agent.sees[s].section);
        }
    }
    return buf.data;
}

static void
no_two_recipes_are_the_same(void **state)
{
    struct unit *unit = *state;
    struct recipe **recipes;
    size_t count = recipe_list(unit->arena, &recipes, unit->diags);

    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(substance(unit, recipes[i]), substance(unit, recipes[j]));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(every_key_is_read),
        UNIT_TEST(what_is_not_said_has_a_value),
        UNIT_TEST(a_topology_selects_as_it_needs),
        UNIT_TEST(every_mistake_is_told),
        UNIT_TEST(all_mistakes_are_told_at_once),
        UNIT_TEST(lines_are_explained),
        OWN_TEST(like_overrides),
        OWN_TEST(like_in_a_circle_is_told),
        OWN_TEST(ones_own_go_before),
        OWN_TEST(a_path_is_a_file),
        OWN_TEST(recipes_are_what_their_papers_say),
        OWN_TEST(recipes_have_their_constants),
        OWN_TEST(hone_is_as_specified),
        OWN_TEST(no_two_recipes_are_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
