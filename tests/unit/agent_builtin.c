/* Stand-ins for models: what they say is read like any reply, is the same again, and is honest. */
#include "../box/box_test.h"

#include "agent/agent.h"
#include "recipe/recipe.h"

#include <math.h>

#define BIT(format) (1u << AGENT_FORMAT_##format)

static const struct coder_machine machine = {
    .vector_bytes = 32, .registers = 16, .threads = 2, .l1 = 32768, .l2 = 524288};

static const char matmul_op[] = "op matmul\n"
                                "dim M=96, N=1024, K=640\n"
                                "in A: f32[M,K]; in B: f32[K,N]\n"
                                "C[i,j] = sum[k](A[i,k] * B[k,j])\n"
                                "out C\n";

static const char softmax_op[] = "op softmax\n"
                                 "dim any R=64\n"
                                 "dim N=1000\n"
                                 "in X: f32[R,N]\n"
                                 "M[r] = max[j](X[r,j])\n"
                                 "E[r,j] = exp(X[r,j] - M[r])\n"
                                 "S[r] = sum[j](E[r,j])\n"
                                 "Y[r,j] = E[r,j] / S[r]\n"
                                 "out Y\n"
                                 "case wide R=8 N=4000\n";

static const char tiny_op[] = "op tiny\n"
                              "in X: f32[3]\n"
                              "Y[i] = X[i] + 1\n"
                              "out Y\n";

/* ---- moments ---- */

static double
figure_in(const void *user, const char *name)
{
    size_t length = strlen(name);

    for (const char *at = user; at && *at; at += strcspn(at, " "), at += *at == ' ')
        if (!strncmp(at, name, length) && at[length] == '=')
            return strtod(at + length + 1, NULL);
    return NAN;
}

static struct agent_moment
moment_of(struct unit *unit, const char *op, enum agent_kind role, unsigned formats)
{
    struct agent_scene *scene = arena_alloc(unit->arena, sizeof *scene);
    struct lang *lang = lang_parse(unit->arena, "test.op", op, strlen(op), unit->diags);
    assert_non_null(lang);
    size_t count = lang_case_count(lang);
    const struct program **programs = arena_array(unit->arena, count, sizeof *programs);
    struct light *lights = arena_array(unit->arena, count, sizeof *lights);

    for (size_t i = 0; i < count; i++) {
        programs[i] = lang_program(lang, i, NULL, 0, unit->diags);
        assert_non_null(programs[i]);
        lights[i] = (struct light){.us = 10, .limit = "compute", .level = "L2"};
    }
    *scene = (struct agent_scene){.lang = lang,
                                  .programs = programs,
                                  .lights = lights,
                                  .case_count = count,
                                  .target = target_find("cpu"),
                                  .machine = &machine,
                                  .compiler = "gcc",
                                  .flags = "-O2",
                                  .cpu = "test"};
    return (struct agent_moment){
        .scene = scene, .role = role, .formats = formats, .seed = 1, .facts = {figure_in, ""}};
}

static const char *
said(struct unit *unit, const struct agent_moment *moment)
{
    struct buf reply = buf_in(unit->arena);

    agent_builtin(&reply, unit->arena, moment);
    assert_non_null(reply.data);
    return reply.data;
}

/* The reply, as it is read. */
static struct agent_reply
heard(struct unit *unit, const struct agent_moment *moment)
{
    struct agent_role role = {.kind = moment->role, .name = agent_role_name[moment->role].name};
    const char *text = said(unit, moment), *reason;
    struct agent_reply reply;

    if (moment->returns)
        role.returns = *moment->returns;
    role.returns.formats |= moment->formats;
    if (agent_parse(unit->arena, text, strlen(text), &role, moment->formats, &reply, &reason) !=
        STATUS_OK)
        fail_msg("%s\nin: %.2000s", reason, text);
    return reply;
}

/* Every line filled in, for all cases; NULL: it is illegal in some. */
static const char *
legal(struct unit *unit, const struct agent_moment *moment, const char *schedule)
{
    const struct agent_scene *scene = moment->scene;
    struct coder_options options = {.vector_bytes = machine.vector_bytes};
    struct source source = {"reply", schedule, strlen(schedule)};
    struct buf whole = buf_in(unit->arena), kernel = buf_in(unit->arena);

    for (size_t i = 0; i < scene->case_count; i++) {
        struct schedule *read =
            coder_read(unit->arena, scene->programs[i], &source, &options, unit->diags);
        if (!read || !coder_emit(&kernel, unit->arena, read, unit->diags))
            return NULL;
        if (scene->case_count > 1)
            buf_printf(&whole, "case %s:\n", scene->programs[i]->case_name);
        coder_write(&whole, read);
    }
    return whole.data;
}

/* ---- schedules ---- */

/* Proposal after proposal: each legal, each new. */
static void
proposals_are_legal_and_new(void **state)
{
    static const char *const ops[] = {matmul_op, softmax_op};
    struct unit *unit = *state;

    for (size_t o = 0; o < 2; o++) {
        struct agent_moment moment = moment_of(unit, ops[o], AGENT_CODER, BIT(SCHEDULE));
        const char *tried[6];
        moment.tried = tried;
        for (; moment.tried_count < 6; moment.tried_count++) {
            const char *text = heard(unit, &moment).text;
            const char *filled = legal(unit, &moment, text);
            assert_non_null(filled);
            assert_string_equal(filled, text);
            for (size_t i = 0; i < moment.tried_count; i++)
                assert_string_not_equal(text, tried[i]);
            tried[moment.tried_count] = text;
            moment.schedule = tried[0];
            moment.seed += 7;
        }
    }
}

static void
the_seed_decides(void **state)
{
    struct unit *unit = *state;
    struct agent_moment moment = moment_of(unit, matmul_op, AGENT_CODER, BIT(SCHEDULE));
    unsigned different = 0;

    moment.schedule = legal(unit, &moment, "");
    const char *first = said(unit, &moment);
    assert_string_equal(first, said(unit, &moment));
    for (moment.seed = 2; moment.seed < 8; moment.seed++)
        different += strcmp(first, said(unit, &moment)) != 0;
    assert_true(different >= 3);
}

/* Is the question that is answered anew, "C tile", one that the row is about? */
static bool
is_about(struct unit *unit, const char *why, const struct agent_technique *row)
{
    const char *open = strchr(why, '"'), *close = open ? strchr(open + 1, '"') : NULL;
    assert_non_null(close);
    char *words = arena_strndup(unit->arena, open + 1, (size_t)(close - open - 1)), *word;
    const char *holes = arena_printf(unit->arena, " %s ", row->holes);

    strsep(&words, " "); /* the stage */
    while ((word = strsep(&words, " ")))
        if (strstr(holes, arena_printf(unit->arena, " %s ", word)))
            return true;
    return false;
}

static void
a_technique_changes_what_it_names(void **state)
{
    static const char *const rows[] = {"register-tile", "pack", "threads"};
    struct unit *unit = *state;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct agent_moment moment = moment_of(unit, matmul_op, AGENT_CODER, BIT(SCHEDULE));
        moment.technique = rows[i];
        const char *usual = heard(unit, &moment).text;
        moment.schedule = usual;
        struct agent_reply reply = heard(unit, &moment);
        assert_string_not_equal(reply.text, usual);
        assert_string_equal(reply.name, rows[i]);
        if (!is_about(unit, reply.why, agent_technique_in(rows[i])))
            fail_msg("%s: %s", rows[i], reply.why);
        assert_true(reply.low >= 1 && reply.high >= reply.low);
        moment.technique = NULL; /* the same by the plan's words */
        moment.plan = arena_printf(unit->arena, "%s: as the table says", rows[i]);
        assert_string_equal(heard(unit, &moment).name, rows[i]);
    }
}

static void
when_nothing_is_left_it_says_so(void **state)
{
    struct unit *unit = *state;
    struct agent_moment moment = moment_of(unit, tiny_op, AGENT_CODER, BIT(SCHEDULE));
    const char *tried[400], *base = legal(unit, &moment, "");
    bool ended = false;

    moment.schedule = base;
    moment.tried = tried;
    while (!ended && moment.tried_count < 400) {
        struct agent_reply reply = heard(unit, &moment);
        assert_non_null(legal(unit, &moment, reply.text));
        ended = strstr(reply.why, "Nothing new") != NULL;
        if (ended)
            assert_string_equal(reply.text, base);
        else
            tried[moment.tried_count++] = reply.text;
        moment.seed++;
    }
    assert_true(ended);
}

static void
a_cross_has_both_parents(void **state)
{
    struct unit *unit = *state;
    struct agent_moment moment = moment_of(unit, matmul_op, AGENT_CODER, BIT(SCHEDULE));
    const char *usual = heard(unit, &moment).text, *a, *b;

    moment.schedule = usual;
    moment.technique = "register-tile";
    a = heard(unit, &moment).text;
    moment.technique = "pack";
    b = heard(unit, &moment).text;
    assert_string_not_equal(a, b);
    moment.technique = NULL;
    moment.role = AGENT_CROSSOVER;
    moment.schedule = a;
    moment.other = b;
    struct agent_reply reply = heard(unit, &moment);
    assert_non_null(legal(unit, &moment, reply.text));
    assert_string_not_equal(reply.text, a);
    assert_string_not_equal(reply.text, b);
}

static void
a_debugger_goes_back(void **state)
{
    struct unit *unit = *state;
    struct agent_moment moment = moment_of(unit, softmax_op, AGENT_DEBUGGER, BIT(SCHEDULE));
    const char *base = legal(unit, &moment, "");

    moment.verdict = "wrong: 3 elements";
    moment.legal = base;
    struct agent_reply reply = heard(unit, &moment);
    assert_string_equal(reply.text, base);
    assert_non_null(strstr(reply.why, "wrong: 3 elements"));
    moment.legal = NULL;
    assert_non_null(legal(unit, &moment, heard(unit, &moment).text));
}

/* ---- code ---- */

static void
compiles(struct unit *unit, struct box *box, const struct agent_moment *moment, const char *text)
{
    for (size_t i = 0; i < moment->scene->case_count; i++) {
        struct profile_options options = {.box = box,
                                          .target = moment->scene->target,
                                          .program = moment->scene->programs[i],
                                          .registers = 16,
                                          .vector_bytes = 32};
        struct profile profile;
        if (profile_kernel(unit->arena, text, &options, &profile, unit->diags) != STATUS_OK)
            fail_msg("%s", profile.missing);
    }
}

/* A file for all cases, which is a base to go on from. */
static void
files_compile_and_carry_their_schedule(void **state)
{
    struct unit *unit = *state;
    struct agent_moment moment = moment_of(unit, softmax_op, AGENT_CODER, BIT(FILE));
    struct coder_title *titles;
    struct box *box;

    box_test_find_program();
    assert_int_equal(box_open(NULL, &box, unit->diags), STATUS_OK);
    const char *file = heard(unit, &moment).text;
    assert_null(
        agent_objection(unit->arena, file, moment.scene->target, moment.scene->programs[0]));
    compiles(unit, box, &moment, file);
    assert_int_equal(coder_titles(unit->arena, file, strlen(file), &titles), 2);
    moment.kernel = file;
    moment.formats = BIT(SCHEDULE);
    const char *next = heard(unit, &moment).text;
    assert_null(strstr(next, titles[0].schedule) && strstr(next, titles[1].schedule) ? next : NULL);
    assert_non_null(legal(unit, &moment, next));

    /* the same as an edit of the whole */
    moment.formats = BIT(EDITS);
    struct agent_reply reply = heard(unit, &moment);
    const char *applied, *reason;
    assert_int_equal(agent_apply(unit->arena, file, &reply, &applied, &reason), STATUS_OK);
    assert_string_not_equal(applied, file);
    compiles(unit, box, &moment, applied);
    box_close(box);
}

static void
a_stage_fits_into_the_base(void **state)
{
    struct unit *unit = *state;
    struct agent_moment moment = moment_of(unit, matmul_op, AGENT_CODER, BIT(FILE));
    const char *applied, *reason;
    struct box *box;

    box_test_find_program();
    assert_int_equal(box_open(NULL, &box, unit->diags), STATUS_OK);
    const char *base = heard(unit, &moment).text;
    moment.kernel = base;
    moment.technique = "register-tile";
    moment.formats = BIT(STAGE);
    struct agent_reply reply = heard(unit, &moment);
    assert_string_equal(reply.stage, "C");
    if (agent_apply(unit->arena, base, &reply, &applied, &reason) != STATUS_OK)
        fail_msg("%s", reason);
    compiles(unit, box, &moment, applied);
    box_close(box);
}

static const char tuned[] = "//! tune T = 4 8 16\n"
                            "#define T 8\n"
                            "void kernel(const float *restrict X, float *restrict Y)\n"
                            "{\n"
                            "    for (int i = 0; i < 3; i++)\n"
                            "        Y[i] = X[i] + 1 + 0 * T;\n"
                            "}\n";

/* In a text that nobody here understands one of its numbers is changed. */
static void
numbers_of_a_kernel_are_changed(void **state)
{
    static const unsigned formats[] = {BIT(EDITS), BIT(FILE)};
    struct unit *unit = *state;

    for (size_t i = 0; i < 2; i++) {
        struct agent_moment moment = moment_of(unit, tiny_op, AGENT_CODER, formats[i]);
        struct agent_tunable *tunables;
        const char *text, *reason;
        moment.kernel = tuned;
        struct agent_reply reply = heard(unit, &moment);
        if (reply.format == AGENT_FORMAT_EDITS)
            assert_int_equal(agent_apply(unit->arena, tuned, &reply, &text, &reason), STATUS_OK);
        else
            text = reply.text;
        if (agent_tunables(unit->arena, text, &tunables) != 1)
            fail_msg("%s", text);
        assert_int_not_equal(tunables[0].values[tunables[0].now], 8);
        assert_non_null(strstr(text, "0 * T;"));
    }
}

static void
what_is_protected_stays(void **state)
{
    static const char marked[] = "void kernel(const float *restrict X, float *restrict Y)\n"
                                 "{\n"
                                 "//! improve\n"
                                 "    for (int i = 0; i < 3; i++)\n"
                                 "        Y[i] = X[i] + 1;\n"
                                 "//! end\n"
                                 "}\n";
    struct unit *unit = *state;
    struct agent_moment moment = moment_of(unit, tiny_op, AGENT_CODER, BIT(FILL));
    const char *text, *reason;

    moment.kernel = marked;
    struct agent_reply reply = heard(unit, &moment);
    assert_int_equal(agent_apply(unit->arena, marked, &reply, &text, &reason), STATUS_OK);
}

/* The base serves the first case: so does what takes its place. */
static void
what_is_filled_in_is_of_the_first_case(void **state)
{
    static const char marked[] = "#define HONE_VECTOR_BYTES 32\n"
                                 "#include \"hone.h\"\n"
                                 "//! improve\n"
                                 "void kernel(const float *restrict X, float *restrict Y)\n"
                                 "{\n"
                                 "}\n"
                                 "//! end\n";
    struct unit *unit = *state;
    struct agent_moment moment = moment_of(unit, softmax_op, AGENT_CODER, BIT(FILL));
    const char *text, *reason;

    moment.kernel = marked;
    struct agent_reply reply = heard(unit, &moment);
    assert_int_equal(agent_apply(unit->arena, marked, &reply, &text, &reason), STATUS_OK);
    assert_null(strstr(text, "#if"));
    assert_null(strstr(text, "4000"));
    assert_non_null(strstr(text, "1000"));
}

static void
a_program_is_one(void **state)
{
    struct unit *unit = *state;
    struct agent_moment moment = moment_of(unit, softmax_op, AGENT_CODER, BIT(PROGRAM));
    const char *text = heard(unit, &moment).text;

    assert_non_null(lang_parse(unit->arena, "again.op", text, strlen(text), unit->diags));
}

/* ---- words ---- */

static const struct agent_shape plan_shape = {
    .formats = BIT(LIST),
    .fields = {{"kind", "schedule|program|code|split", 0, false},
               {"title", NULL, 0, false},
               {"limit", NULL, 0, false},
               {"change", NULL, 0, false},
               {"low", NULL, 0, true},
               {"high", NULL, 0, true},
               {"risk", NULL, 0, false}},
    .field_count = 7,
    .most = 5,
};

static void
a_planner_names_rows_that_hold(void **state)
{
    struct unit *unit = *state;
    struct agent_moment moment = moment_of(unit, matmul_op, AGENT_PLANNER, BIT(LIST));

    moment.returns = &plan_shape;
    moment.facts.user = "contraction=1 accumulators=4 spills=2 light=40 filter=1";
    struct agent_reply reply = heard(unit, &moment);
    assert_int_equal(reply.item_count, 3);
    assert_string_equal(reply.items[0].values[1], "register-tile");
    assert_string_equal(reply.items[0].values[0], "schedule");
    assert_non_null(strstr(reply.items[0].values[2], "accumulators = 4"));
    assert_true(fabs(reply.items[0].numbers[5] - 28 / 13.8) < 0.01); /* as measured */
    assert_true(fabs(reply.items[0].numbers[4] - 1.103) < 0.01);
    assert_string_equal(reply.items[1].values[1], "spills");
    assert_string_equal(reply.items[2].values[1], "tighten");
    assert_string_equal(reply.items[2].values[0], "code");
    moment.facts.user = "contraction=1 accumulators=4 light=80"; /* light leaves 1.25 */
    assert_true(fabs(heard(unit, &moment).items[0].numbers[5] - 1.25) < 0.01);
    moment.facts.user = "";
    assert_int_equal(heard(unit, &moment).item_count, 0);
}

static const struct agent_shape verdict_shape = {
    .formats = BIT(OBJECT),
    .fields = {{"pass", "yes|no", 0, false}, {"why", NULL, 30, false}},
    .field_count = 2,
};

static void
a_verifier_looks(void **state)
{
    struct unit *unit = *state;
    struct agent_moment moment = moment_of(unit, tiny_op, AGENT_VERIFIER, BIT(OBJECT));

    moment.returns = &verdict_shape;
    moment.kernel = tuned;
    assert_string_equal(heard(unit, &moment).items[0].values[0], "yes");
    moment.kernel = "int nothing;\n";
    assert_string_equal(heard(unit, &moment).items[0].values[0], "no");
    moment.kernel = NULL;
    moment.schedule = "Y: nowhere@p";
    struct agent_reply reply = heard(unit, &moment);
    assert_string_equal(reply.items[0].values[0], "no");
    assert_non_null(strstr(reply.items[0].values[1], "illegal"));
}

static const struct agent_shape steering_shape = {
    .formats = BIT(OBJECT),
    .fields = {{"action", "continue|redirect|accept|stop", 0, false}, {"text", NULL, 60, false}},
    .field_count = 2,
};

static void
a_controller_stops_when_stagnant(void **state)
{
    static const struct {
        const char *figures, *action;
    } rows[] = {{"", "continue"},
                {"stagnant=2 light=50", "continue"},
                {"stagnant=3", "stop"},
                {"light=97", "accept"}};
    struct unit *unit = *state;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct agent_moment moment = moment_of(unit, tiny_op, AGENT_CONTROLLER, BIT(OBJECT));
        moment.returns = &steering_shape;
        moment.facts.user = rows[i].figures;
        assert_string_equal(heard(unit, &moment).items[0].values[0], rows[i].action);
    }
}

static void
choices_are_ranked(void **state)
{
    static const char *const times[] = {"#1 correct 4.02 ms", "#2 wrong no time",
                                        "#3 correct 11.0 us", "#4 correct 90.5 us"};
    static const char *const documents[] = {"packing: how panels are laid out",
                                            "softmax: exponentials and their sums",
                                            "threads: regions and their cost"};
    struct unit *unit = *state;
    struct agent_moment moment = moment_of(unit, softmax_op, AGENT_SELECTOR, BIT(PICK));
    unsigned picked[4] = {0};

    moment.choices = times;
    moment.choice_count = 4;
    for (moment.seed = 0; moment.seed < 64; moment.seed++)
        picked[heard(unit, &moment).pick - 1]++;
    assert_true(picked[2] > picked[3] && picked[3] > picked[0] && picked[0] > 0);
    assert_int_equal(picked[1], 0);
    moment.role = AGENT_LIBRARIAN;
    moment.choices = documents;
    moment.choice_count = 3;
    assert_int_equal(heard(unit, &moment).pick, 2);
}

static void
a_tester_finds_edges(void **state)
{
    static const struct agent_shape shape = {
        .formats = BIT(LIST),
        .fields = {{"pattern", NULL, 0, false}, {"sizes", NULL, 0, false}},
        .field_count = 2,
        .most = 6,
    };
    struct unit *unit = *state;
    struct agent_moment moment = moment_of(unit, softmax_op, AGENT_TESTER, BIT(LIST));

    moment.returns = &shape;
    struct agent_reply reply = heard(unit, &moment);
    assert_int_equal(reply.item_count, 6);
    assert_string_equal(reply.items[0].values[1], "R=1");
    assert_string_equal(reply.items[1].values[1], "R=63");
    assert_string_equal(reply.items[3].values[0], "X[i,j] = 0");
}

static void
a_pair_becomes_a_sentence(void **state)
{
    struct unit *unit = *state;
    struct agent_moment moment = moment_of(unit, matmul_op, AGENT_SUMMARISER, BIT(TEXT));

    moment.other = "C: i@p acc k j@v\n";
    moment.schedule = "C: i@p acc k j/2v j@v\n";
    moment.technique = "register-tile";
    moment.facts.user = "gain=1.4";
    const char *text = heard(unit, &moment).text;
    assert_non_null(strstr(text, "register-tile made it 1.40 times as fast"));
    assert_non_null(strstr(text, "C: i@p acc k j/2v j@v"));
}

/* ---- all roles of all recipes ---- */

static const char *const documents[] = {"register-tile: tiles", "pack: panels"};

/* Both with nothing known and with all of it. */
static void
try_role(struct unit *unit, const struct agent_moment *scene, const struct recipe_role *role,
         const char *base, const char *kernel)
{
    for (unsigned known = 0; known < 2; known++) {
        struct agent_moment moment = *scene;
        struct agent_reply reply;
        const char *reason;
        moment.role = role->agent.kind;
        moment.formats = role->agent.returns.formats;
        moment.returns = &role->agent.returns;
        moment.choices = documents;
        moment.choice_count = 2;
        moment.kernel = kernel;
        if (known) {
            moment.schedule = moment.other = moment.legal = base;
            moment.plan = "pack: copy the panel";
            moment.verdict = "slower: 12.0 us";
            moment.facts.user = "contraction=1 accumulators=4 light=30 us=12 spills=1";
        }
        const char *text = said(unit, &moment);
        if (agent_parse(unit->arena, text, strlen(text), &role->agent, 0, &reply, &reason) !=
            STATUS_OK)
            fail_msg("%s: %s\n%.2000s", role->agent.name, reason, text);
    }
}

static void
every_role_of_every_recipe_is_played(void **state)
{
    struct unit *unit = *state;
    struct recipe **recipes;
    size_t count = recipe_list(unit->arena, &recipes, unit->diags), roles = 0;
    struct agent_moment scene = moment_of(unit, matmul_op, AGENT_CODER, BIT(SCHEDULE));
    const char *base = legal(unit, &scene, "");
    scene.formats = BIT(FILE);
    const char *kernel = heard(unit, &scene).text;

    assert_true(count >= 30);
    for (size_t i = 0; i < count; i++)
        for (size_t p = 0; p < recipes[i]->phase_count; p++)
            for (size_t r = 0; r < recipes[i]->phases[p].role_count; r++, roles++)
                try_role(unit, &scene, &recipes[i]->phases[p].roles[r], base, kernel);
    assert_true(roles > 60);
}

/* Whatever form is asked for, whoever is asked. */
static void
every_role_gives_every_form(void **state)
{
    struct unit *unit = *state;

    for (int kind = 0; kind < AGENT_KIND_COUNT; kind++)
        for (int format = 0; format < AGENT_FORMAT_COUNT; format++) {
            struct agent_moment moment =
                moment_of(unit, tiny_op, (enum agent_kind)kind, 1u << format);
            moment.choices = documents;
            moment.choice_count = 2;
            moment.kernel = format == AGENT_FORMAT_EDITS ? tuned : NULL;
            assert_int_equal(heard(unit, &moment).format, format);
        }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(proposals_are_legal_and_new),
        UNIT_TEST(the_seed_decides),
        UNIT_TEST(a_technique_changes_what_it_names),
        UNIT_TEST(when_nothing_is_left_it_says_so),
        UNIT_TEST(a_cross_has_both_parents),
        UNIT_TEST(a_debugger_goes_back),
        UNIT_TEST(files_compile_and_carry_their_schedule),
        UNIT_TEST(a_stage_fits_into_the_base),
        UNIT_TEST(numbers_of_a_kernel_are_changed),
        UNIT_TEST(what_is_protected_stays),
        UNIT_TEST(what_is_filled_in_is_of_the_first_case),
        UNIT_TEST(a_program_is_one),
        UNIT_TEST(a_planner_names_rows_that_hold),
        UNIT_TEST(a_verifier_looks),
        UNIT_TEST(a_controller_stops_when_stagnant),
        UNIT_TEST(choices_are_ranked),
        UNIT_TEST(a_tester_finds_edges),
        UNIT_TEST(a_pair_becomes_a_sentence),
        UNIT_TEST(every_role_of_every_recipe_is_played),
        UNIT_TEST(every_role_gives_every_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
