/* Every recipe against one and the same model by script: who speaks when, what each role is shown,
 * whom candidates come from and what becomes of them. The table was printed by the engine and then
 * read against the recipe and what is published of its system: it guards what was found right. Two
 * recipes that do the same are a defect. */
#include "team_unit.h"

#include <math.h>
#include <stdio.h>

/* ---- a model that answers whatever a recipe asks for ---- */

enum { CODERS = 48, ROUND_OF_VERIFIERS = 8 };

/* The first wins, the second and every sixth from there on fails, the third is as fast as the
 * first, later ones are faster, and every fourth of them slower. */
static void
put_kernel(struct buf *script, unsigned number)
{
    unsigned turn = number % 100;
    double cost = turn == 0 || turn == 2 ? 9 : turn % 4 == 0 ? 12 : 9 - 0.1 * turn;
    buf_printf(script, "idea %u\n```c\nenum { number = %u, ", number, number);
    if (number % 6 == 1)
        buf_puts(script, "BROKEN = 1 };\n");
    else
        buf_printf(script, "x = 1 }; /* cost = %g */\n", cost);
    buf_puts(script, "void kernel(const float *restrict X, float *restrict Y)\n"
                     "{\n    for (long i = 0; i < R * N; i++)\n        Y[i] = X[i];\n}\n```\n");
}

static const char rewritten[] = "```\nop norm\ndim R=24, N=200\nin X: f32[R,N]\n"
                                "M[r] = mean[j](X[r,j])\nE[r,j] = X[r,j] - M[r]\n"
                                "Y[r,j] = exp(E[r,j])\nout Y\n```\n";

static void
put_field(struct buf *script, const struct agent_field *field, unsigned number)
{
    buf_printf(script, "\"%s\": ", field->name);
    if (field->number)
        buf_printf(script, "%g", 1 + 0.1 * number);
    else if (field->choices != NULL)
        buf_printf(script, "\"%.*s\"", (int)strcspn(field->choices, "|"), field->choices);
    else
        buf_printf(script, "\"%s %u\"", field->name, number);
}

static void
put_object(struct buf *script, const struct agent_shape *shape, unsigned number)
{
    for (size_t i = 0; i < shape->field_count; i++) {
        buf_puts(script, i ? ", " : "{");
        put_field(script, &shape->fields[i], i + 1 == shape->field_count ? 4 - number : number);
    }
    buf_putc(script, '}');
}

/* Roles of one kind are answered with the same object, which has the fields of all of them. */
static void
put_common_object(struct buf *script, const struct recipe *recipe, enum agent_kind kind)
{
    const char *seen = " ";
    buf_putc(script, '{');
    for (size_t p = 0; p < recipe->phase_count; p++)
        for (size_t r = 0; r < recipe->phases[p].role_count; r++) {
            const struct recipe_role *role = &recipe->phases[p].roles[r];
            for (size_t i = 0; role->agent.kind == kind && i < role->agent.returns.field_count;
                 i++) {
                const struct agent_field *field = &role->agent.returns.fields[i];
                const char *word = arena_printf(script->arena, " %s ", field->name);
                if (strstr(seen, word) != NULL)
                    continue;
                buf_puts(script, seen[1] ? ", " : "");
                put_field(script, field, 1);
                seen = arena_printf(script->arena, "%s%s", seen, word);
            }
        }
    buf_putc(script, '}');
}

static void
put_list(struct buf *script, const struct agent_shape *shape)
{
    unsigned most = shape->most ? shape->most : 5;
    buf_putc(script, '[');
    for (unsigned i = 0; i < most; i++) {
        buf_puts(script, i ? ",\n" : "");
        put_object(script, shape, (i * 3 + 1) % most); /* the best is not the first */
    }
    buf_puts(script, "]\n");
}

/* The first two of eight proposals are not liked; later ones are expected to be better. */
static void
put_verifiers(struct buf *script, const struct recipe_role *role)
{
    const struct agent_shape *shape = &role->agent.returns;
    for (unsigned i = 0; i < 4 * ROUND_OF_VERIFIERS; i++) {
        unsigned slot = i % ROUND_OF_VERIFIERS;
        bool scored = shape->field_count > 1 && shape->fields[1].number;
        buf_printf(script, "=== verifier\n{\"pass\": \"%s\"", scored || slot > 1 ? "yes" : "no");
        if (scored)
            buf_printf(script, ", \"score\": %g", 0.1 * slot);
        buf_puts(script, shape->field_count > 1 && !scored ? ", \"why\": \"so\"}\n" : "}\n");
    }
}

static void
put_words(struct buf *script, const struct recipe *recipe, const struct recipe_role *role)
{
    const struct agent_shape *shape = &role->agent.returns;
    if (role->agent.kind == AGENT_VERIFIER) {
        put_verifiers(script, role);
        return;
    }
    buf_printf(script, "=== %s repeat\n", agent_role_name[role->agent.kind].name);
    if (shape->formats & 1u << AGENT_FORMAT_LIST)
        put_list(script, shape);
    else if (shape->formats & 1u << AGENT_FORMAT_OBJECT)
        put_common_object(script, recipe, role->agent.kind);
    else if (shape->formats & 1u << AGENT_FORMAT_PICK)
        buf_puts(script, "{\"pick\": 2, \"reason\": \"it is the newest\"}");
    else
        buf_printf(script, "vector-math is what the %s would use",
                   agent_role_name[role->agent.kind].name);
    buf_putc(script, '\n');
}

static bool
writes(const struct recipe_role *role)
{
    return role->agent.kind == AGENT_CODER || role->agent.kind == AGENT_DEBUGGER ||
           role->agent.kind == AGENT_CROSSOVER;
}

static const char *
script_for(struct unit *unit, const struct recipe *recipe)
{
    static const char *const writers[] = {"coder", "debugger", "crossover"};
    struct buf script = buf_in(unit->arena);
    for (size_t p = 0; p < recipe->phase_count; p++)
        for (size_t r = 0; r < recipe->phases[p].role_count; r++) {
            const struct recipe_role *role = &recipe->phases[p].roles[r];
            if (!writes(role))
                put_words(&script, recipe, role);
            else if (role->agent.returns.formats == 1u << AGENT_FORMAT_PROGRAM)
                buf_printf(&script, "=== coder\n%s", rewritten);
            else if (role->tools)
                buf_puts(&script, "=== coder\nTOOL profile\n");
            else if (role->agent.returns.formats & 1u << AGENT_FORMAT_PICK)
                for (unsigned i = 0; i < CODERS; i++)
                    buf_printf(&script, "=== coder\n{\"pick\": %u, \"reason\": \"so\"}\n",
                               1 + i % 3);
        }
    for (unsigned i = 0; i < CODERS; i++)
        for (size_t w = 0; w < sizeof writers / sizeof *writers; w++) {
            buf_printf(&script, "=== %s\n", writers[w]);
            put_kernel(&script, i + (unsigned)w * 100 + (w == 1 ? 3 : 0));
        }
    return script.data;
}

/* Thirty figures, so that it shows how many a role is given. */
static enum status
profile_all(void *context, struct arena *arena, const char *kernel,
            const struct profile_options *options, struct profile *profile, struct diags *diags)
{
    struct profile_figure *figures = arena_array(arena, 30, sizeof *figures);
    static const struct profile_remark remark = {7, "not vectorised"};
    (void)context, (void)kernel, (void)options, (void)diags;
    for (size_t i = 0; i < 30; i++)
        figures[i] = (struct profile_figure){.name = arena_printf(arena, "figure%zu", i),
                                             .value = (double)i,
                                             .unit = "",
                                             .meaning = "so many"};
    figures[0].name = "loads_per_fma";
    *profile = (struct profile){.figures = figures,
                                .figure_count = 30,
                                .remarks = &remark,
                                .remark_count = 1,
                                .hot_loop = "vaddps\n",
                                .missing = ""};
    return STATUS_OK;
}

static const char *
answer_person(void *context, const char *question, const char *choices, double seconds)
{
    (void)context, (void)question, (void)seconds;
    return strstr(choices, "both") ? "both" : "continue";
}

/* ---- what was done, in a line ---- */

static long
number_of(const struct played *played, int64_t id)
{
    for (size_t i = 0; i < played->candidate_count; i++)
        if (played->candidates[i].id == id)
            return (long)played->candidates[i].number;
    return -1;
}

/* Which of the script's kernels it is. */
static void
put_which(struct buf *text, const char *kernel)
{
    const char *number = strstr(kernel, "enum { number = ");
    if (number != NULL)
        buf_printf(text, " %ld", strtol(number + 16, NULL, 10));
}

/* "builtin; coder 0<0 best; debugger 103<1,0 dropped": who made it and which one it is, from whom,
 * what became of it. */
static const char *
candidate_in_words(struct unit *unit, const struct played *played,
                   const struct store_candidate *one)
{
    struct buf text = buf_in(unit->arena);
    if (!strcmp(one->role, "sweep")) /* how many there are is the schedule's business */
        return "sweeps";
    buf_puts(&text, *one->role ? one->role : one->proposer);
    put_which(&text, one->kernel);
    for (size_t k = 0; k < one->parent_count; k++)
        buf_printf(&text, "%c%ld", k ? ',' : '<', number_of(played, one->parents[k].candidate));
    if (one->accepted != NULL && *one->accepted)
        buf_printf(&text, " %s", one->accepted);
    return text.data;
}

/* The draft's are counted. */
static const char *
candidates_of(struct unit *unit, const struct played *played)
{
    struct buf text = buf_in(unit->arena);
    const char *last = "";
    size_t same = 0;
    for (size_t i = 0; i <= played->candidate_count; i++) {
        const struct store_candidate *one = &played->candidates[i];
        bool over = i == played->candidate_count || !strcmp(one->phase, "file");
        const char *next = over ? "" : candidate_in_words(unit, played, one);
        same++;
        if (!strcmp(next, last))
            continue;
        if (*last && same > 1 && strcmp(last, "sweeps") != 0)
            buf_printf(&text, "%s%zu %s", text.length ? "; " : "", same, last);
        else if (*last)
            buf_printf(&text, "%s%s", text.length ? "; " : "", last);
        last = next;
        same = 0;
    }
    return text.data ? text.data : "";
}

static void
put_headings(struct buf *text, const char *prompt)
{
    for (const char *at = prompt; at != NULL && (at = strstr(at, "\n## ")) != NULL; at++)
        buf_printf(text, " %.*s", (int)strcspn(at + 4, ":"), at + 4);
}

/* "coder: contract task base; critic: ...": the sections of the last prompt of each role. */
static const char *
prompts_of(struct unit *unit, const struct played *played)
{
    struct buf text = buf_in(unit->arena);
    for (size_t i = 0; i < played->call_count; i++) {
        bool last = true;
        for (size_t k = i + 1; k < played->call_count; k++)
            last = last && strcmp(played->calls[k].role, played->calls[i].role) != 0;
        if (!last)
            continue;
        buf_printf(&text, "%s%s:", text.length ? "; " : "", played->calls[i].role);
        put_headings(&text, played->calls[i].system);
        put_headings(&text, played->calls[i].prompt);
    }
    return text.data ? text.data : "";
}

/* "3 coder, critic": runs of one role are counted. */
static const char *
roles_of(struct unit *unit, const struct played *played)
{
    struct buf text = buf_in(unit->arena);
    for (size_t i = 0, k; i < played->call_count; i = k) {
        for (k = i;
             k < played->call_count && !strcmp(played->calls[k].role, played->calls[i].role);)
            k++;
        buf_puts(&text, i ? ", " : "");
        if (k - i > 1)
            buf_printf(&text, "%zu ", k - i);
        buf_puts(&text, played->calls[i].role);
    }
    return text.data ? text.data : "";
}

/* ---- the table ---- */

struct row {
    const char *name;
    unsigned calls; /* that it may make */
    const char *roles, *candidates, *prompts, *stopped;
};

static const struct row rows[] = {
#include "run_recipes.h"
};

enum { ROWS = sizeof rows / sizeof *rows };

static struct played
play_recipe(struct unit *unit, const char *name, const char *program, unsigned calls)
{
    const struct recipe *recipe = recipe_of(unit, name);
    return play(unit, &(struct play){.recipe = name,
                                     .program = program,
                                     .script = script_for(unit, recipe),
                                     .fake = {.slow = ""}, /* whatever names no cost */
                                     .evaluations = 40,
                                     .profile = profile_all,
                                     .ask = answer_person,
                                     .calls = calls,
                                     .archive = arena_printf(unit->arena, "%s.db", name)});
}

static void
check(const char *name, const char *what, const char *found, const char *wanted)
{
    if (strcmp(found, wanted) != 0)
        fail_msg("%s, %s:\n%s\nand not\n%s", name, what, found, wanted);
}

static void
each_does_what_it_prescribes(void **state)
{
    bool show = getenv("HONE_SHOW_ROWS") != NULL; /* prints the table instead */
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        struct unit own = own_unit(), *unit = &own; /* a run keeps all that it made */
        struct played played = play_recipe(unit, rows[i].name, NULL, rows[i].calls);
        const char *roles = roles_of(unit, &played), *stopped = played.result.stopped;
        if (show) {
            printf("{\"%s\", %u, \"%s\", \"%s\", \"%s\", \"%s\"},\n", rows[i].name, rows[i].calls,
                   roles, candidates_of(unit, &played), prompts_of(unit, &played),
                   stopped ? stopped : "");
            fflush(stdout);
            arena_destroy(own.arena);
            continue;
        }
        must(unit, played.status);
        check(rows[i].name, "roles", roles, rows[i].roles);
        check(rows[i].name, "candidates", candidates_of(unit, &played), rows[i].candidates);
        check(rows[i].name, "prompts", prompts_of(unit, &played), rows[i].prompts);
        check(rows[i].name, "end", stopped ? stopped : "", rows[i].stopped);
        arena_destroy(own.arena);
    }
}

static void
every_recipe_has_a_row(void **state)
{
    struct unit *unit = *state;
    struct recipe **list;
    size_t count = recipe_list(unit->arena, &list, unit->diags);
    assert_int_equal(count, ROWS);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(list[i]->name, rows[i].name);
}

/* On other programs, to their ends. */
static void
each_runs_on_other_tasks(void **state)
{
    static const char *const others[] = {
        "op product\ndim M=6, N=8, K=16\nin A: f32[M,K]\nin B: f32[K,N]\n"
        "C[m,n] = sum[k](A[m,k]*B[k,n])\nout C\n",
        "op scaled\ndim N=40\nin X: f32[N]\nY[i] = X[i]*2\nout Y\n"};
    (void)state;
    for (size_t i = 0; i < ROWS; i++)
        for (size_t k = 0; k < 2; k++) {
            struct unit own = own_unit(), *unit = &own;
            struct played played =
                play(unit, &(struct play){.recipe = rows[i].name,
                                          .program = others[k],
                                          .script = script_for(unit, recipe_of(unit, rows[i].name)),
                                          .evaluations = 8,
                                          .calls = 6,
                                          .archive = "others.db"});
            if (played.status != STATUS_OK)
                fail_msg("%s: %s", rows[i].name, unit_printed(unit, false));
            if (played.result.evaluations > 8 || played.budget.calls_begun > 6)
                fail_msg("%s: %u evaluations, %g calls", rows[i].name, played.result.evaluations,
                         played.budget.calls_begun);
            arena_destroy(own.arena);
        }
}

static void
no_two_are_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++)
        for (size_t k = 0; k < i; k++)
            if (!strcmp(rows[i].roles, rows[k].roles) &&
                !strcmp(rows[i].prompts, rows[k].prompts) &&
                !strcmp(rows[i].candidates, rows[k].candidates))
                fail_msg("%s does what %s does", rows[i].name, rows[k].name);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(every_recipe_has_a_row),
        SCRATCH_TEST(each_does_what_it_prescribes),
        SCRATCH_TEST(each_runs_on_other_tasks),
        SCRATCH_TEST(no_two_are_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
