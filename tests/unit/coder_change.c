/* Rewrites: what each makes of small programs, what it refuses, and the heart: every rewrite that
 * applies, on random programs and on the library's operators, alone and two or three in a row,
 * gives a valid program with the same values. HONE_RANDOM sets the number of random programs,
 * HONE_SEED the first seed. */
#include "unit.h"

#include "base/rng.h"
#include "coder/change_int.h"
#include "lang/lang.h"
#include "lang/make.h"
#include "random_program.h"
#include "task/task.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>

static struct program *
load(struct arena *arena, const char *text)
{
    struct diags *diags = diags_create(arena, 0);
    struct lang *lang = lang_parse(arena, "test.op", text, strlen(text), diags);
    struct program *program = lang ? lang_program(lang, 0, NULL, 0, diags) : NULL;
    if (program == NULL) {
        diags_print(diags, stderr, false);
        fail_msg("refused:\n%s", text);
    }
    return program;
}

static const char *
expanded(struct arena *arena, const struct program *program)
{
    struct buf text = buf_in(arena);
    lang_expand(&text, program);
    return text.data ? text.data : "";
}

/* "pad Y X", "flat Y y x", "split Y k 512" */
static struct change_line
parse_line(struct arena *arena, const char *text)
{
    static const char *const words[] = {
#define X(id, word, ...) word,
        CODER_CHANGES(X)
#undef X
    };
    struct change_line line = {0};
    char *part[4] = {NULL}, *rest = arena_strdup(arena, text);
    for (unsigned i = 0; i < 4; i++)
        part[i] = strsep(&rest, " ");
    while (strcmp(words[line.change], part[0]) != 0)
        line.change++;
    line.stage = part[1];
    line.name = part[2];
    if (line.change == CHANGE_FLAT)
        line.other = part[3];
    if (line.change == CHANGE_SPLIT || line.change == CHANGE_CHUNK)
        line.step = strtoll(part[3], NULL, 10);
    return line;
}

/* ---- the invariants of ir.h ---- */

struct checker {
    const struct program *program;
    const struct stage *stage;
    size_t number; /* of the stage */
    bool value;    /* `value` is looked at, not `code` */
    unsigned reductions;
    const char *wrong;
    struct arena *arena;
};

#define WRONG(checker, ...)                                                 \
    do {                                                                    \
        if ((checker)->wrong == NULL)                                       \
            (checker)->wrong = arena_printf((checker)->arena, __VA_ARGS__); \
    } while (0)

/* A tensor of the same rec block: t if computed above, t-c with a default otherwise. */
static void
check_carried(struct checker *c, const struct expr *load, const struct level *levels)
{
    const struct stage *own = c->stage, *other = load->tensor->stage;
    int64_t coefficient[LANG_MAX_LEVELS], constant;
    const struct expr *t = load->args[other->carried];
    if (t->op == OP_INT && t->integer < 0 && own->tensor->size[own->carried] == 1)
        return; /* the index has one value */
    if (!expr_affine(t, coefficient, &constant) || t->free != 1u << own->carried ||
        coefficient[own->carried] != 1 || constant > 0)
        WRONG(c, "%s reads %s of its block elsewhere", own->tensor->name, load->tensor->name);
    else if (constant == 0 && other >= own)
        WRONG(c, "%s reads %s too early", own->tensor->name, load->tensor->name);
    else if (constant < 0 && expr_default(load) == NULL && levels[own->carried].low == 0)
        WRONG(c, "%s reads %s before its start", own->tensor->name, load->tensor->name);
}

static bool
has_reduction(const struct expr *e)
{
    bool found = e->op == OP_REDUCE;
    for (unsigned i = 0; i < e->count && !found; i++)
        found = has_reduction(e->args[i]);
    return found;
}

static void
check_load(struct checker *c, const struct expr *e, const struct level *levels)
{
    const struct program *program = c->program;
    const struct tensor *tensor = e->tensor;
    if (tensor->number >= program->tensor_count || program->tensors[tensor->number] != tensor) {
        WRONG(c, "%s reads %s of another program", c->stage->tensor->name, tensor->name);
        return;
    }
    if (e->count != tensor->rank && e->count != tensor->rank + 1u)
        WRONG(c, "%s has %u subscripts", tensor->name, e->count);
    for (unsigned d = 0; d < tensor->rank; d++) {
        int64_t low, high;
        expr_interval(e->args[d], levels, &low, &high);
        if (e->args[d]->kind > KIND_INT)
            WRONG(c, "a subscript of %s is no integer", tensor->name);
        if (!c->value && expr_default(e) == NULL && (low < 0 || high >= tensor->size[d]))
            WRONG(c, "%s reads %s, subscript %u, at %lld .. %lld", c->stage->tensor->name,
                  tensor->name, d, (long long)low, (long long)high);
        if (has_reduction(e->args[d]))
            WRONG(c, "a reduction in a subscript of %s", tensor->name);
    }
    if (tensor->stage == NULL)
        return;
    size_t number = (size_t)(tensor->stage - program->stages);
    if (c->stage->rec >= 0 && tensor->stage->rec == c->stage->rec)
        check_carried(c, e, levels);
    else if (number >= c->number)
        WRONG(c, "%s reads %s, which comes later", c->stage->tensor->name, tensor->name);
}

static void
check_reduction(struct checker *c, const struct expr *e)
{
    const struct binder *binder = e->binder;
    c->reductions++;
    if (c->reductions > 1)
        WRONG(c, "%s has several reductions", c->stage->tensor->name);
    if (binder->level != c->stage->tensor->rank)
        WRONG(c, "the reduction of %s has level %u", c->stage->tensor->name, binder->level);
    if (binder->level + binder->count > LANG_MAX_LEVELS)
        WRONG(c, "%s has too many indices", c->stage->tensor->name);
    if (binder->reduction >= REDUCE_ARGMAX && binder->count != 1)
        WRONG(c, "%s has an argmax of several indices", c->stage->tensor->name);
    for (unsigned i = 0; i < binder->count; i++)
        if (binder->names[i] == NULL || expr_integer(binder->extent[i]) < 1)
            WRONG(c, "%s has an index without name or values", c->stage->tensor->name);
}

static const struct expr *
check_node(struct rewrite *rewrite, const struct expr *e, const struct expr *const *args)
{
    struct checker *c = rewrite->context;
    (void)args;
    if (e->id >= c->program->expr_count)
        WRONG(c, "%s has an expression beyond expr_count", c->stage->tensor->name);
    for (unsigned i = 0; i < e->count; i++)
        if (e->args[i]->id >= e->id)
            WRONG(c, "an argument of a node in %s is younger", c->stage->tensor->name);
    if (e->op == OP_INDEX && rewrite->levels[e->level].name == NULL)
        WRONG(c, "%s has an index of level %u", c->stage->tensor->name, e->level);
    if (e->op == OP_DIM && !c->value)
        WRONG(c, "%s has a dim in its code", c->stage->tensor->name);
    if (e->op == OP_LOAD)
        check_load(c, e, rewrite->levels);
    if (e->op == OP_REDUCE)
        check_reduction(c, e);
    return e;
}

static void
check_expr(struct checker *c, const struct expr *e, enum pieces pieces)
{
    struct rewrite rewrite = {
        .ir = c->program->ir, .leave = check_node, .context = c, .pieces = pieces};
    const struct tensor *tensor = c->stage->tensor;
    for (unsigned i = 0; i < tensor->rank; i++)
        rewrite.levels[i] =
            (struct level){tensor->extent[i], c->stage->index[i], 0, tensor->size[i] - 1};
    if (e->free >> tensor->rank)
        WRONG(c, "%s has an index that nothing binds", tensor->name);
    c->reductions = 0;
    c->value = pieces == PIECES_VALUE;
    ir_rewrite(&rewrite, e);
}

static void
check_tensor(struct checker *c, size_t number)
{
    const struct program *program = c->program;
    const struct tensor *tensor = program->tensors[number];
    int64_t count = 1;
    if (tensor->number != number || tensor->rank > LANG_MAX_RANK)
        WRONG(c, "%s has number %u and rank %u", tensor->name, tensor->number, tensor->rank);
    for (unsigned d = 0; d < tensor->rank; d++) {
        count *= tensor->size[d];
        if (expr_integer(tensor->extent[d]) != tensor->size[d] || tensor->size[d] < 1)
            WRONG(c, "dimension %u of %s is %lld", d, tensor->name, (long long)tensor->size[d]);
    }
    if (count != tensor->count)
        WRONG(c, "%s has not %lld elements", tensor->name, (long long)tensor->count);
    if ((tensor->input >= 0) != (number < program->input_count) ||
        (tensor->input >= 0 && (size_t)tensor->input != number))
        WRONG(c, "%s is input %d", tensor->name, tensor->input);
    if ((tensor->input >= 0) == (tensor->stage != NULL))
        WRONG(c, "%s has an odd stage", tensor->name);
    if (tensor->output >= 0 && program->outputs[tensor->output] != tensor)
        WRONG(c, "%s is not output %d", tensor->name, tensor->output);
    for (size_t i = 0; i < number; i++)
        if (strcmp(program->tensors[i]->name, tensor->name) == 0)
            WRONG(c, "two tensors are called %s", tensor->name);
}

static void
check_stage(struct checker *c)
{
    const struct stage *stage = c->stage;
    const struct tensor *tensor = stage->tensor;
    if (tensor->stage != stage || c->program->tensors[tensor->number] != tensor)
        WRONG(c, "%s has another stage", tensor->name);
    for (unsigned d = 0; d < tensor->rank; d++)
        for (unsigned other = 0; other < d; other++)
            if (strcmp(stage->index[d], stage->index[other]) == 0)
                WRONG(c, "%s has two indices %s", tensor->name, stage->index[d]);
    check_expr(c, stage->code, PIECES_CODE);
    check_expr(c, stage->value, PIECES_VALUE);
    if (stage->rec < 0)
        return;
    const struct rec *rec = &c->program->recs[stage->rec];
    if ((size_t)stage->rec >= c->program->rec_count || c->number < rec->first ||
        c->number >= rec->first + rec->count || stage->carried >= tensor->rank ||
        tensor->size[stage->carried] != rec->size || expr_integer(rec->extent) != rec->size)
        WRONG(c, "%s is not in its rec block", tensor->name);
}

/* NULL, or what is wrong. */
static const char *
check_program(struct arena *arena, const struct program *program)
{
    struct checker c = {.program = program, .arena = arena};
    size_t in_recs = 0;
    for (size_t i = 0; i < program->tensor_count; i++)
        check_tensor(&c, i);
    for (size_t i = 0; i < program->output_count; i++)
        if (program->outputs[i]->output != (int)i ||
            program->tensors[program->outputs[i]->number] != program->outputs[i])
            WRONG(&c, "output %zu is not itself", i);
    for (c.number = 0; c.number < program->stage_count; c.number++) {
        c.stage = &program->stages[c.number];
        in_recs += c.stage->rec >= 0;
        check_stage(&c);
    }
    for (size_t i = 0; i < program->rec_count; i++)
        in_recs -= program->recs[i].count;
    if (in_recs != 0)
        WRONG(&c, "rec blocks do not hold the stages that say so");
    return c.wrong;
}

/* ---- the same values ---- */

struct subject {
    const char *name;
    const struct program *program;
    const void *const *inputs;
    const struct lang_result *results;
    struct rng rng;
};

static struct lang_result *
interpret(struct arena *arena, const struct program *program, const void *const *inputs)
{
    struct lang_result *results = arena_array(arena, program->output_count, sizeof *results);
    assert_int_equal(lang_interpret(arena, program, inputs, results), STATUS_OK);
    return results;
}

static double
at(const double *values, int64_t i)
{
    return values ? values[i] : 0;
}

/* `exact`: no sum was taken in another order. c is the worst case with u = 2^-24 where the
 * interpreter computes with 2^-53; a jump that either side could take is within 6g. */
static const char *
disagreement(struct arena *arena, const struct lang_result *a, const struct lang_result *b,
             bool exact)
{
    for (int64_t i = 0; i < a->tensor->count; i++) {
        double v = a->v[i], w = b->v[i], g = fmax(at(a->g, i), at(b->g, i));
        double c = fmax(at(a->c, i), at(b->c, i));
        if (v == w || (isnan(v) && isnan(w)))
            continue;
        if (!exact && (isnan(at(a->g, i)) || isnan(at(b->g, i))))
            continue;
        if (!exact && fabs(v - w) <= 8 * 0x1p-29 * c + 6 * g + 1e-15 * fabs(v) + 1e-300)
            continue;
        return arena_printf(arena, "%s[%lld]: %.17g became %.17g, g %g, c %g", a->tensor->name,
                            (long long)i, v, w, g, c);
    }
    return NULL;
}

/* A text that says what was done: "pad Y X; flat Y y x". */
static const char *
line_text(struct arena *arena, const struct change_line *line)
{
    static const char *const words[] = {
#define X(id, word, ...) word,
        CODER_CHANGES(X)
#undef X
    };
    if (line->other != NULL)
        return arena_printf(arena, "%s %s %s %s", words[line->change], line->stage, line->name,
                            line->other);
    if (line->step != 0)
        return arena_printf(arena, "%s %s %s %lld", words[line->change], line->stage, line->name,
                            (long long)line->step);
    return arena_printf(arena, "%s %s %s", words[line->change], line->stage, line->name);
}

/* The canonical text is made of `value`: it must mean the same. It has neither sizes nor domains. */
static const char *
canonical_disagreement(struct arena *arena, const struct subject *subject,
                       const struct program *program, bool exact)
{
    struct buf text = buf_in(arena);
    for (size_t i = 0; i < program->input_count; i++)
        if (program->tensors[i]->domain.form != DOMAIN_NONE)
            return NULL;
    if (program->dim_count > 0)
        return NULL;
    lang_canonical(&text, program);
    struct program *read = load(arena, text.data);
    struct lang_result *results = interpret(arena, read, subject->inputs);
    for (size_t i = 0; i < program->output_count; i++) {
        const char *where = disagreement(arena, &subject->results[i], &results[i], exact);
        if (where != NULL)
            return arena_printf(arena, "as text, %s\n%s", where, text.data);
    }
    return NULL;
}

static void
check_same(struct arena *arena, const struct subject *subject, const struct program *program,
           bool exact, bool text, const char *done)
{
    const char *wrong = check_program(arena, program);
    if (wrong == NULL) {
        struct lang_result *results = interpret(arena, program, subject->inputs);
        for (size_t i = 0; i < program->output_count && wrong == NULL; i++)
            wrong = disagreement(arena, &subject->results[i], &results[i], exact);
    }
    if (wrong == NULL && text)
        wrong = canonical_disagreement(arena, subject, program, exact);
    if (wrong != NULL)
        fail_msg("%s: after %s: %s\n%s\nbecame\n%s", subject->name, done, wrong,
                 expanded(arena, subject->program), expanded(arena, program));
}

/* ---- every line that could apply ---- */

struct lines {
    struct arena *arena;
    struct change_line *list;
    size_t count, capacity;
};

static void
add_line(struct lines *lines, struct change_line line)
{
    if (lines->count == lines->capacity) {
        lines->capacity = lines->capacity ? 2 * lines->capacity : 64;
        lines->list = arena_grow(lines->arena, lines->list, lines->count, lines->capacity,
                                 sizeof *lines->list);
    }
    lines->list[lines->count++] = line;
}

static bool
reads(const struct expr *e, const struct tensor *tensor)
{
    bool found = e->op == OP_LOAD && e->tensor == tensor;
    for (unsigned i = 0; i < e->count && !found && e->loads; i++)
        found = reads(e->args[i], tensor);
    return found;
}

static const struct expr *
reduction_of(const struct expr *e)
{
    const struct expr *found = e->op == OP_REDUCE ? e : NULL;
    for (unsigned i = 0; i < e->count && found == NULL && e->loads; i++)
        found = reduction_of(e->args[i]);
    return found;
}

static void
add_steps(struct lines *lines, struct change_line line, int64_t size)
{
    const int64_t steps[] = {1, 2, 3, size - 1};
    for (unsigned i = 0; i < 4; i++) {
        line.step = steps[i];
        if (line.step >= 1 && line.step < size && (i < 3 || size > 4))
            add_line(lines, line);
    }
}

static void
add_lines_of(struct lines *lines, const struct program *program, const struct stage *stage)
{
    const char *name = stage->tensor->name;
    for (size_t i = 0; i < program->tensor_count; i++)
        if (reads(stage->code, program->tensors[i])) {
            add_line(lines,
                     (struct change_line){CHANGE_PAD, name, program->tensors[i]->name, NULL, 0});
            add_line(lines,
                     (struct change_line){CHANGE_PHASE, name, program->tensors[i]->name, NULL, 0});
        }
    for (unsigned l = 0; l + 1 < stage->tensor->rank; l++)
        add_line(lines,
                 (struct change_line){CHANGE_FLAT, name, stage->index[l], stage->index[l + 1], 0});
    const struct expr *reduce = reduction_of(stage->value);
    for (unsigned i = 0; reduce != NULL && i < reduce->binder->count; i++)
        add_steps(lines,
                  (struct change_line){CHANGE_SPLIT, name, reduce->binder->names[i], NULL, 0},
                  expr_integer(reduce->binder->extent[i]));
    if (stage->rec >= 0)
        add_steps(lines,
                  (struct change_line){CHANGE_CHUNK, name, stage->index[stage->carried], NULL, 0},
                  program->recs[stage->rec].size);
}

static struct lines
lines_of(struct arena *arena, const struct program *program)
{
    struct lines lines = {.arena = arena};
    for (size_t i = 0; i < program->stage_count; i++)
        if (program->stages[i].code->tree < 5000)
            add_lines_of(&lines, program, &program->stages[i]);
    return lines;
}

struct tally {
    unsigned tried[CHANGE_COUNT], applied[CHANGE_COUNT];
};

static bool
is_exact(enum change change)
{
    return change < CHANGE_SPLIT;
}

/* Applies every line, or `sample` of them, to the program, and again to what comes out. */
static void
try_lines(struct arena *arena, struct subject *subject, const struct program *program, bool exact,
          const char *done, const unsigned *sample, struct tally *tally)
{
    struct lines lines = lines_of(arena, program);
    for (size_t i = 0; i < lines.count; i++) {
        const struct change_line *line = &lines.list[i];
        const char *why = NULL;
        if (rng_below(&subject->rng, lines.count) >= sample[0])
            continue;
        struct program *changed = change_program(arena, program, line, &why);
        tally->tried[line->change]++;
        if ((changed == NULL) != (why != NULL))
            fail_msg("%s: %s gives both a program and a reason", subject->name, done);
        if (changed == NULL) {
            assert_true(strlen(why) > 10 && strchr(why, '\n') == NULL);
            continue;
        }
        tally->applied[line->change]++;
        bool same = exact && is_exact(line->change);
        const char *text =
            arena_printf(arena, "%s%s%s", done, *done ? "; " : "", line_text(arena, line));
        check_same(arena, subject, changed, same, rng_below(&subject->rng, 4) == 0, text);
        if (sample[1] > 0)
            try_lines(arena, subject, changed, same, text, sample + 1, tally);
    }
}

static void
show_tally(const struct tally *tally)
{
    for (unsigned i = 0; i < CHANGE_COUNT; i++)
        print_message("# %-5s %6u of %6u\n",
                      (const char *const[]){"pad", "flat", "phase", "split", "chunk"}[i],
                      tally->applied[i], tally->tried[i]);
}

/* ---- what each makes of small programs ---- */

/* Applies lines, separated by "; ". */
static struct program *
apply(struct arena *arena, struct program *program, const char *lines, const char **why)
{
    char *rest = arena_strdup(arena, lines);
    while (program != NULL && rest != NULL) {
        char *end = strstr(rest, "; ");
        if (end != NULL)
            *end = '\0';
        struct change_line line = parse_line(arena, rest);
        program = change_program(arena, program, &line, why);
        rest = end ? end + 2 : NULL;
    }
    return program;
}

static void
becomes(void **state, const char *text, const char *lines, const char *want)
{
    struct arena *arena = ((struct unit *)*state)->arena;
    struct program *program = load(arena, text);
    const char *why = NULL;
    struct subject subject = {.name = "text", .program = program};
    struct program *changed = apply(arena, program, lines, &why);
    if (changed == NULL)
        fail_msg("%s: %s", lines, why);
    subject.inputs = (const void *const *)task_draw_all(arena, program, DRAW_NORMAL, 1);
    subject.results = interpret(arena, program, subject.inputs);
    printf("== %s\n%s", lines, expanded(arena, changed)); (void)want; fflush(stdout);
    bool exact = strstr(lines, "split") == NULL && strstr(lines, "chunk") == NULL;
    check_same(arena, &subject, changed, exact, true, lines);
}

__attribute__((unused)) static void
refuses(void **state, const char *text, const char *lines, const char *want)
{
    struct arena *arena = ((struct unit *)*state)->arena;
    const char *why = NULL;
    struct program *program = load(arena, text);
    const char *before = expanded(arena, program);
    if (apply(arena, program, lines, &why) != NULL)
        fail_msg("%s is accepted", lines);
    assert_string_equal(why, want);
    assert_string_equal(expanded(arena, program), before);
}

#define CONV                                           \
    "in X: f32[2,3,8,7]; in F: f32[4,3,3,3]; in b: f32[4]\n" \
    "Z = conv2d(X, F, b, pad=1)\nY = relu(Z)\nout Y\n"
#define STRIDED                                  \
    "in X: f32[1,2,8,7]; in F: f32[4,2,3,3]\n" \
    "Y = conv2d(X, F, stride=2, pad=1)\nout Y\n"
#define BACK                                     \
    "in X: f32[1,2,4,3]; in F: f32[2,3,3,3]\n" \
    "Y = conv_transpose2d(X, F, stride=2, pad=1, output_pad=1)\nout Y\n"

static void
fixed(void **state)
{
    becomes(state, CONV, "pad Z X", "@pad_fills@");
    becomes(state, CONV, "pad Z X; flat Z y x", "@pad_then_flat@");
    becomes(state, STRIDED, "pad Y X; phase Y X", "@pad_then_phase@");
    becomes(state, STRIDED, "phase Y X; pad Y X", "@phase_then_pad@");
    becomes(state, STRIDED, "pad Y X; phase Y X; flat Y y x", "@all three@");
    becomes(state, BACK, "phase Y X", "@back@");
    becomes(state, BACK, "phase Y X; pad Y.X X; flat Y.X y x", "@back2@");
    becomes(state, "in X: f32[2,3]\nY[y:5,x:6] = X[y/3,x/2]\nout Y\n", "phase Y X", "@upsample@");
    becomes(state, "in A, B: f32[2,3,4]\nin C: f32[2]\nY[n,y,x] = A[n,y,x]*B[n,y,x] + C[n]\nout Y\n", "flat Y y x", "@merge@");
    becomes(state, "in X: f32[4,5]; in Z: f32[2,3]\nY[y:2,x:3]: f16 = max[r:2,s:2](X[y+r,x+s]) + Z[y,x]\nout Y\n", "flat Y y x", "@epi@");
    becomes(state, "in A: f16[7,3]; in B: f32[3]\nY[j]: f16 = sum[k](A[k,j])*B[j]\nout Y\n", "split Y k 4", "@split@");
    becomes(state, "in A: f32[6,3]\nY[] = mean[k,j](A[k,j])\nout Y\n", "split Y k 2", "@mean@");
    becomes(state, "in A: f32[7,3]\nY[j] = argmax[k](A[k,j]) + 1\nout Y\n", "split Y k 4", "@argmax@");
    becomes(state, "in X: f32[2,7]; in H: f32[2]\nY[r,t] = Y[r,t-1 | H[r]] + X[r,t]\nout Y\n", "chunk Y t 3", "@chunk@");
    becomes(state, "in X: f32[6,2]\nY[t:6,r] = max(X[5-t,r], Y[t-1,r | -inf])\nout Y\n", "chunk Y t 3", "@chunk2@");
}

static uint64_t
setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

static void
try_program(struct arena *arena, const char *name, const struct program *program, uint64_t seed,
            const unsigned *sample, struct tally *tally)
{
    struct subject subject = {.name = name, .program = program};
    struct lang_needs needs;
    lang_reference_needs(program, &needs);
    if (needs.terms > 2e5)
        return;
    subject.rng = rng_stream(seed, "changes");
    enum distribution distribution =
        (enum distribution[]){DRAW_NORMAL, DRAW_INTEGERS, DRAW_MIXED}[seed % 3];
    subject.inputs = (const void *const *)task_draw_all(arena, program, distribution, seed);
    subject.results = interpret(arena, program, subject.inputs);
    const char *wrong = check_program(arena, program);
    if (wrong != NULL)
        fail_msg("%s: %s", name, wrong);
    try_lines(arena, &subject, program, true, "", sample, tally);
}

static void
random_programs_keep_their_values(void **state)
{
    (void)state;
    static const unsigned sample[] = {12, 3, 2, 0};
    uint64_t first = setting("HONE_SEED", 1), count = setting("HONE_RANDOM", 150);
    struct tally tally = {0};
    for (uint64_t seed = first; seed < first + count; seed++) {
        struct arena *arena = arena_create();
        const char *text = random_program(arena, (struct random_request){.seed = seed}, NULL);
        const char *name = arena_printf(arena, "seed %llu", (unsigned long long)seed);
        try_program(arena, name, load(arena, text), seed, sample, &tally);
        arena_destroy(arena);
    }
    show_tally(&tally);
    for (unsigned i = 0; i < CHANGE_PHASE; i++)
        assert_true(tally.applied[i] > 10);
}

static void
operators_keep_their_values(void **state)
{
    static const unsigned sample[] = {1000, 3, 2, 0};
    struct unit *unit = *state;
    const char *root = getenv("ROOT");
    const char *folder = arena_printf(unit->arena, "%s/tests/expected", root ? root : ".");
    DIR *dir = opendir(folder);
    struct tally tally = {0};
    uint64_t seed = 1;
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
            continue;
        struct arena *arena = arena_create();
        struct diags *diags = diags_create(arena, 0);
        const char *path = arena_printf(arena, "%s/%s/task.op", folder, entry->d_name);
        struct lang *lang = lang_open(arena, path, diags);
        struct program *program = lang ? lang_program(lang, 0, NULL, 0, diags) : NULL;
        assert_non_null(program);
        try_program(arena, entry->d_name, program, seed++, sample, &tally);
        arena_destroy(arena);
    }
    closedir(dir);
    show_tally(&tally);
    assert_true(seed > 300);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(fixed),
        UNIT_TEST(random_programs_keep_their_values),
        UNIT_TEST(operators_keep_their_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
