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

static const char *const change_words[] = {
#define X(id, word, ...) word,
    CODER_CHANGES(X)
#undef X
};

/* "pad Y X", "flat Y y x", "split Y k 512" */
static struct change_line
parse_line(struct arena *arena, const char *text)
{
    struct change_line line = {0};
    char *part[4] = {NULL}, *rest = arena_strdup(arena, text);
    for (unsigned i = 0; i < 4; i++)
        part[i] = strsep(&rest, " ");
    while (strcmp(change_words[line.change], part[0]) != 0)
        line.change++;
    line.stage = part[1];
    line.name = part[2];
    if (line.change == CHANGE_FLAT)
        line.other = part[3];
    if (change_has_step(line.change))
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
    if (line->other != NULL)
        return arena_printf(arena, "%s %s %s %s", change_words[line->change], line->stage,
                            line->name, line->other);
    if (line->step != 0)
        return arena_printf(arena, "%s %s %s %lld", change_words[line->change], line->stage,
                            line->name, (long long)line->step);
    return arena_printf(arena, "%s %s %s", change_words[line->change], line->stage, line->name);
}

/* The canonical text is made of `value`: it must mean the same. It has neither sizes nor domains.
 */
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

/* The program with every stage as an output, after its own: what they hold can be looked at. */
static struct program
everything_shown(struct arena *arena, const struct program *program)
{
    struct program all = *program;
    all.outputs = arena_array(arena, program->tensor_count + 1, sizeof *all.outputs);
    memcpy(all.outputs, program->outputs, program->output_count * sizeof *all.outputs);
    for (size_t i = 0; i < program->tensor_count; i++) {
        struct tensor *tensor = program->tensors[i];
        if (tensor->output >= 0 || tensor->stage == NULL)
            continue;
        tensor->output = (int)all.output_count;
        all.outputs[all.output_count++] = tensor;
    }
    return all;
}

static const char *
out_of_range(struct arena *arena, const struct lang_result *result)
{
    const struct tensor *tensor = result->tensor;
    for (int64_t i = 0; i < tensor->count && !dtype_is_float(tensor->dtype); i++)
        if (!(result->v[i] >= (double)tensor->low && result->v[i] <= (double)tensor->high))
            return arena_printf(arena, "%s[%lld] = %g is not in %lld .. %lld", tensor->name,
                                (long long)i, result->v[i], (long long)tensor->low,
                                (long long)tensor->high);
    return NULL;
}

static void
check_same(struct arena *arena, const struct subject *subject, const struct program *program,
           bool exact, bool text, const char *done)
{
    const char *wrong = check_program(arena, program);
    if (wrong == NULL) {
        struct program all = everything_shown(arena, program);
        struct lang_result *results = interpret(arena, &all, subject->inputs);
        for (size_t i = 0; i < program->output_count && wrong == NULL; i++)
            wrong = disagreement(arena, &subject->results[i], &results[i], exact);
        for (size_t i = 0; i < all.output_count; i++) {
            if (wrong == NULL)
                wrong = out_of_range(arena, &results[i]);
            if (i >= program->output_count)
                all.outputs[i]->output = -1;
        }
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
    const int64_t steps[] = {2, 3, size - 1};
    for (unsigned i = 0; i < 3; i++) {
        line.step = steps[i];
        if (line.step >= 1 && line.step < size && (i < 2 || size > 4))
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
    for (unsigned l = 0; l < stage->tensor->rank; l++)
        add_line(lines, (struct change_line){CHANGE_ROWS, name, stage->index[l], NULL, 0});
    for (unsigned l = 0; l < stage->tensor->rank; l++)
        add_steps(lines, (struct change_line){CHANGE_PART, name, stage->index[l], NULL, 0},
                  stage->tensor->size[l]);
    const struct expr *reduce = reduction_of(stage->value);
    for (unsigned i = 0; reduce != NULL && i < reduce->binder->count; i++)
        for (enum change change = CHANGE_SPLIT; change < CHANGE_COUNT; change++)
            if (change == CHANGE_SPLIT || change == CHANGE_MOMENTS)
                add_steps(lines,
                          (struct change_line){change, name, reduce->binder->names[i], NULL, 0},
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
    return (change < CHANGE_SPLIT && change != CHANGE_ROWS) || change == CHANGE_PART;
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
        print_message("# %-7s %6u of %6u\n", change_words[i], tally->applied[i], tally->tried[i]);
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
    assert_string_equal(expanded(arena, changed), want);
    bool exact = true;
    for (enum change i = 0; i < CHANGE_COUNT; i++)
        exact = exact && (is_exact(i) || strstr(lines, change_words[i]) == NULL);
    check_same(arena, &subject, changed, exact, true, lines);
}

static void
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

#define CONV                                                 \
    "in X: f32[2,3,8,7]; in F: f32[4,3,3,3]; in b: f32[4]\n" \
    "Z = conv2d(X, F, b, pad=1)\nY = relu(Z)\nout Y\n"
#define STRIDED                                \
    "in X: f32[1,2,8,7]; in F: f32[4,2,3,3]\n" \
    "Y = conv2d(X, F, stride=2, pad=1)\nout Y\n"
#define BACK                                   \
    "in X: f32[1,2,4,3]; in F: f32[2,3,3,3]\n" \
    "Y = conv_transpose2d(X, F, stride=2, pad=1, output_pad=1)\nout Y\n"

static void
pad_makes_reads_plain(void **state)
{
    becomes(state, CONV, "pad Z X",
            "Z.X[n:2,c:3,y:10,x:9]: f32 = X[n,c,y-1,x-1 | 0]\n"
            "Z[n:2,k:4,y:8,x:7]: f32 = b[k] + sum[c:3,r:3,s:3](F[k,c,r,s]*Z.X[n,c,y+r,x+s])\n"
            "Y[k1:2,k2:4,k3:8,k4:7]: f32 = max(Z[k1,k2,k3,k4], 0)\n");
    becomes(state,
            "in X: f32[4]; in W: f32[4]\nH[t:3,j:4] = W[j]*H[t-1,j | 0] + X[j+t-1 | 0]\nout H\n",
            "pad H X",
            "H.X[j:6]: f32 = X[j-1 | 0]\n"
            "rec t:3 {\n"
            "    H[t:3,j:4]: f32 = W[j] * H[t-1,j | 0] + H.X[j+t]\n"
            "}\n");
    becomes(state, "in X: f16[4]\nY[i:5] = max(X[i-1 | -inf], X[min(i,3)])\nout Y\n", "pad Y X",
            "Y.X[i:5]: f16 = X[i-1 | -inf]\n"
            "Y[i:5]: f32 = max(Y.X[i], Y.X[min(i, 3)+1])\n");
}

static void
flat_merges_rows(void **state)
{
    becomes(state, CONV, "pad Z X; flat Z y x",
            "Z.X[n:2,c:3,yx:92]: f32 = X[n,c,yx/9-1,yx%9-1 | 0]\n"
            "Z.yx[n:2,k:4,yx:72]: f32 = b[k] + "
            "sum[c:3,r:3,s:3](F[k,c,r,s]*Z.X[n,c,yx+r*9+s])\n"
            "Z[n:2,k:4,y:8,x:7]: f32 = Z.yx[n,k,y*9+x]\n"
            "Y[k1:2,k2:4,k3:8,k4:7]: f32 = max(Z[k1,k2,k3,k4], 0)\n");
    becomes(state,
            "in A, B: f32[2,3,4]; in C: f32[2]\nY[n,y,x] = A[n,y,x]*B[n,y,x] + C[n]\nout Y\n",
            "flat Y y x",
            "Y.A[n:2,yx:12]: f32 = A[n,yx/4,yx%4]\n"
            "Y.B[n:2,yx:12]: f32 = B[n,yx/4,yx%4]\n"
            "Y.yx[n:2,yx:12]: f32 = Y.A[n,yx] * Y.B[n,yx] + C[n]\n"
            "Y[n:2,y:3,x:4]: f32 = Y.yx[n,y*4+x]\n");
    becomes(state,
            "in X: f32[4,5]; in Z: f32[2,3]\nY[y:2,x:3]: f16 = max[r:2,s:2](X[y+r,x+s]) + "
            "Z[y,x]\nout Y\n",
            "flat Y y x",
            "Y.X[yx:20]: f32 = X[yx/5,yx%5]\n"
            "Y.yx[yx:10]: f32 = max[r:2,s:2](Y.X[yx+r*5+s])\n"
            "Y[y:2,x:3]: f16 = Y.yx[y*5+x] + Z[y,x]\n");
}

static void
phase_takes_strides_away(void **state)
{
    becomes(state, STRIDED, "pad Y X; phase Y X",
            "Y.X[n:1,c:2,yp:2,xp:2,y:5,x:5]: f32 = X[n,c,y*2+yp-1,x*2+xp-1 | 0]\n"
            "Y[n:1,k:4,y:4,x:4]: f32 = "
            "sum[c:2,r:3,s:3](F[k,c,r,s]*Y.X[n,c,r%2,s%2,y+r/2,x+s/2])\n");
    becomes(state, STRIDED, "phase Y X; pad Y X",
            "Y.X[n:1,c:2,yp:2,xp:2,y:5,x:5]: f32 = X[n,c,y*2+yp-2,x*2+xp-2 | 0]\n"
            "Y[n:1,k:4,y:4,x:4]: f32 = "
            "sum[c:2,r:3,s:3](F[k,c,r,s]*Y.X[n,c,(r-1)%2,(s-1)%2,y+(r-1)/2+1,x+(s-1)/2+1])\n");
    becomes(state, STRIDED, "pad Y X; phase Y X; flat Y y x",
            "Y.X[n:1,c:2,yp:2,xp:2,yx:26]: f32 = X[n,c,yx/5*2+yp-1,yx%5*2+xp-1 | 0]\n"
            "Y.yx[n:1,k:4,yx:20]: f32 = "
            "sum[c:2,r:3,s:3](F[k,c,r,s]*Y.X[n,c,r%2,s%2,yx+r/2*5+s/2])\n"
            "Y[n:1,k:4,y:4,x:4]: f32 = Y.yx[n,k,y*5+x]\n");
    becomes(state, BACK, "phase Y X",
            "Y.X[n:1,k:3,yp:2,xp:2,y:4,x:3]: f32 = sum[c:2,r:3,s:3 ? (yp-r+1)%2 == 0 && "
            "(xp-s+1)%2 == 0](F[c,k,r,s]*X[n,c,y+(yp-r+1)/2,x+(xp-s+1)/2 | 0])\n"
            "Y[n:1,k:3,y:8,x:6]: f32 = Y.X[n,k,y%2,x%2,y/2,x/2]\n");
    becomes(state, BACK, "phase Y X; pad Y.X X; flat Y.X y x",
            "Y.X.X[n:1,c:2,yx:32]: f32 = X[n,c,yx/5-1,yx%5-1 | 0]\n"
            "Y.X.yx[n:1,k:3,yp:2,xp:2,yx:20]: f32 = sum[c:2,r:3,s:3 ? (yp-r+1)%2 == 0 && "
            "(xp-s+1)%2 == 0](F[c,k,r,s]*Y.X.X[n,c,yx+(yp-r+1)/2*5+(xp-s+1)/2+6])\n"
            "Y.X[n:1,k:3,yp:2,xp:2,y:4,x:3]: f32 = Y.X.yx[n,k,yp,xp,y*5+x]\n"
            "Y[n:1,k:3,y:8,x:6]: f32 = Y.X[n,k,y%2,x%2,y/2,x/2]\n");
    becomes(state, "in X: f32[2,3]\nY[y:5,x:6] = X[y/3,x/2]\nout Y\n", "phase Y X",
            "Y.X[yp:3,xp:2,y:2,x:3]: f32 = X[y,x]\n"
            "Y[y:5,x:6]: f32 = Y.X[y%3,x%2,y/3,x/2]\n");
}

static void
split_makes_partials(void **state)
{
    becomes(state, "in A: f16[7,3]; in B: f32[3]\nY[j]: f16 = sum[k](A[k,j])*B[j]\nout Y\n",
            "split Y k 4",
            "Y.k[kc:2,j:3]: f32 = sum[k:4 ? kc*4+k < 7](A[kc*4+k,j | 0])\n"
            "Y[j:3]: f16 = sum[kc:2](Y.k[kc,j]) * B[j]\n");
    becomes(state, "in A: i8[6,3]\nY[] = mean[k,j](A[k,j])\nout Y\n", "split Y k 2",
            "Y.k[kc:3]: f32 = sum[k:2,j:3](f32(A[kc*2+k,j]))\n"
            "Y[]: f32 = sum[kc:3](Y.k[kc]) / 18.0\n");
    becomes(state, "in A: f32[7,3]\nY[j] = argmax[k](A[k,j]) + 1\nout Y\n", "split Y k 4",
            "Y.k[kc:2,j:3]: i32 = argmax[k:4 ? kc*4+k < 7](A[kc*4+k,j | 0])\n"
            "Y.k.best[kc:2,j:3]: f32 = max[k:4 ? kc*4+k < 7](A[kc*4+k,j | 0])\n"
            "Y.k.chunk[j:3]: i32 = argmax[kc:2](Y.k.best[kc,j])\n"
            "Y[j:3]: i32 = max(min(Y.k.chunk[j]*4+Y.k[Y.k.chunk[j],j], 6), 0) + 1\n");
    becomes(state,
            "in U: f32[4,4]\nrec t:3 {\nH[t,j:4] = sum[k:4](H[t-1,k | 1]*U[k,j])\n}\nout H\n",
            "split H k 2",
            "rec t:3 {\n"
            "    H.k[kc:2,t:3,j:4]: f32 = sum[k:2](H[t-1,kc*2+k | 1]*U[kc*2+k,j])\n"
            "    H[t:3,j:4]: f32 = sum[kc:2](H.k[kc,t,j])\n"
            "}\n");
    becomes(state,
            "in A, B: f32[3,4]\nY[i,c:8] = cat[c](sum[k](A[i,k])*c:3, B[i,c+1 | 2]:5)\nout Y\n",
            "split Y.1 k 2; pad Y B",
            "Y.1.k[kc:2,i:3]: f32 = sum[k:2](A[i,kc*2+k])\n"
            "Y.1[i:3]: f32 = sum[kc:2](Y.1.k[kc,i])\n"
            "Y.B[i:3,c:6]: f32 = B[i,c | 2]\n"
            "Y[i:3,c:8]: f32 = cat[c](Y.1[i]*c:3, Y.B[i,c+1]:5)\n");
}

#define NORM                                                                                   \
    "in X: f32[2,7]\nU[r] = sum[j](X[r,j]) / 7\nV[r] = mean[j]((X[r,j]-U[r])*(X[r,j]-U[r]))\n" \
    "Y[r,j] = (X[r,j]-U[r])*rsqrt(V[r]+1e-5)\nout Y\n"

static void
moments_take_one_pass(void **state)
{
    becomes(state, NORM, "moments V j 4",
            "V.j[jc:2,r:2]: f32 = "
            "sum[j:4 ? jc*4+j < 7](X[r,jc*4+j | 0]) / f32(min(7-jc*4, 4))\n"
            "V.j.sq[jc:2,r:2]: f32 = sum[j:4 ? jc*4+j < 7]"
            "((X[r,jc*4+j | 0]-V.j[jc,r])*(X[r,jc*4+j | 0]-V.j[jc,r]))\n"
            "U[r:2]: f32 = sum[jc:2](V.j[jc,r]*f32(min(7-jc*4, 4))) / 7\n"
            "V[r:2]: f32 = sum[jc:2](V.j.sq[jc,r]+f32(min(7-jc*4, 4))"
            "*((V.j[jc,r]-U[r])*(V.j[jc,r]-U[r]))) / 7.0\n"
            "Y[r:2,j:7]: f32 = (X[r,j]-U[r]) * rsqrt(V[r]+1e-5)\n");
    becomes(state,
            "in X: f16[4,3]; in s: f32[]\nU[] = s[] + mean[i,j](X[i,j])\n"
            "V[] = sqrt(sum[i,j]((X[i,j]-U[])*(X[i,j]-U[])))\nout U, V\n",
            "moments V i 2",
            "V.i[ic:2]: f32 = sum[i:2,j:3](X[ic*2+i,j]) / 6.0\n"
            "V.i.sq[ic:2]: f32 = sum[i:2,j:3]((X[ic*2+i,j]-V.i[ic])*(X[ic*2+i,j]-V.i[ic]))\n"
            "U[]: f32 = s[] + sum[ic:2](V.i[ic]*6.0)/12.0\n"
            "V[]: f32 = sqrt(sum[ic:2](V.i.sq[ic]+6.0*((V.i[ic]-U[])*(V.i[ic]-U[]))))\n");
}

static void
rows_come_first(void **state)
{
    becomes(state,
            "in X: f32[2,5,8]\n"
            "Y[c,y:3,x:4] = max(0.5, max[r:3,s:2](X[c,y*2+r-1,x*2+s | -inf]))\nout Y\n",
            "rows Y x",
            "Y.x[c:2,y:3,x:8]: f32 = max[r:3](X[c,y*2+r-1,x | -inf])\n"
            "Y[c:2,y:3,x:4]: f32 = max(0.5, max[s:2](Y.x[c,y,x*2+s]))\n");
    becomes(state, "in X: f32[5,8]\nY[y:3,x:9] = mean[r:3,s:2](X[y+r,x+s-1 | 0])\nout Y\n",
            "rows Y x",
            "Y.x[y:3,x:8]: f32 = sum[r:3](X[y+r,x])\n"
            "Y[y:3,x:9]: f32 = sum[s:2](Y.x[y,x+s-1 | 0]) / 6.0\n");
    refuses(state, "in X: f32[5,8]\nY[y:3,x:7] = sum[r:3,s:2](X[y+r,x+s-1 | 1])\nout Y\n",
            "rows Y x",
            "Y is no sum, mean, max or min of a tensor of floats in a window; nothing else goes by "
            "rows");
    refuses(state, "in X: f32[5,8]\nY[y:3,x:7] = sum[r:3,s:2](X[y+r,x+s])\nout Y\n", "rows Y z",
            "z is no left index of Y; those are y, x");
    refuses(state, "in X: f32[5,8]\nY[y:5,x:6] = sum[s:2,r:2](X[y,x+s+r])\nout Y\n", "rows Y x",
            "Y does not read one window in which some indices choose x and others do not; another "
            "left index may do");
}

static void
part_makes_two_indices(void **state)
{
    becomes(state,
            "in A: f32[2,3,5]; in V: f32[5,8]\nO[i:3,c:8] = 2*sum[j](A[c/4,i,j]*V[j,c])\nout O\n",
            "part O c 4",
            "O.c[i:3,cc:2,c:4]: f32 = 2 * sum[j:5](A[cc,i,j]*V[j,cc*4+c])\n"
            "O[i:3,c:8]: f32 = O.c[i,c/4,c%4]\n");
}

static void
chunk_cuts_scans(void **state)
{
    becomes(state, "in X: f32[2,7]; in H: f32[2]\nY[r,t] = Y[r,t-1 | H[r]] + X[r,t]\nout Y\n",
            "chunk Y t 3",
            "rec t:3 {\n"
            "    Y.t[r:2,tc:3,t:3]: f32 = Y.t[r,tc,t-1 | 0] + X[r,tc*3+t | 0]\n"
            "}\n"
            "rec tc:2 {\n"
            "    Y.t.end[r:2,tc:2]: f32 = Y.t.end[r,tc-1 | H[r]] + Y.t[r,tc,2]\n"
            "}\n"
            "Y[r:2,t:7]: f32 = Y.t.end[r,t/3-1 | H[r]] + Y.t[r,t/3,t%3]\n");
    becomes(state, "in X: f32[6,2]\nY[t:6,r] = max(X[5-t,r], Y[t-1,r | -inf])\nout Y\n",
            "chunk Y t 3",
            "rec t:3 {\n"
            "    Y.t[tc:2,t:3,r:2]: f32 = max(X[5-tc*3-t,r], Y.t[tc,t-1,r | -inf])\n"
            "}\n"
            "Y.t.end[tc:1,r:2]: f32 = max(Y.t[tc,2,r], -inf)\n"
            "Y[t:6,r:2]: f32 = max(Y.t[t/3,t%3,r], Y.t.end[t/3-1,r | -inf])\n");
}

static void
what_does_not_apply_is_refused(void **state)
{
    refuses(state, CONV, "pad Q X", "Q is no stage of the program; those are Z, Y");
    refuses(state, CONV, "pad Z Q", "Q is not read in Z; it reads b, F, X");
    refuses(state, CONV, "pad Z F",
            "F is never left by the reads of Z, so there is nothing to pad; name a tensor "
            "that it reads with a default");
    refuses(state, "in X: f32[4]; in T: i32[3] from -1 to 3\nY[i] = X[T[i] | 0]\nout Y\n",
            "pad Y X",
            "X is read in Y at a place that data decide (subscript 1); only subscripts of "
            "indices can be padded");
    refuses(state, "in X: f32[4]\nY[i:4] = X[i-1 | 0] + X[i+1 | 1]\nout Y\n", "pad Y X",
            "X is read in Y with the defaults 0 and 1; only one number can fill a tensor");
    refuses(state, "in X: f32[4]\nY[i:4] = X[i-1 | X[i]]\nout Y\n", "pad Y X",
            "X is read in Y with a default that is no constant; only one number can fill a "
            "tensor");
    refuses(state, "in X: f16[4]\nY[i:4] = X[i-1 | 0.1]\nout Y\n", "pad Y X",
            "X is f16, which does not hold its default 0.1 in Y; write one that it holds");
    refuses(state, "in X: f32[4,4]\nY[i:4000] = X[i*10000,i*10000 | 0]\nout Y\n", "pad Y X",
            "X would grow to 99950011248750 times its size; at most 8 times, or 64 MB, is "
            "allowed");
    refuses(state, "in X: f32[4]\nY[t] = Y[t-1 | 0]*0.5 + X[t]\nout Y\n", "pad Y Y",
            "Y is computed in the rec block of Y, step by step; name a tensor from outside "
            "of the block");
    refuses(state, CONV, "flat Z y k",
            "k does not follow y in Z[n, k, y, x]; only neighbours can be flat");
    refuses(state, CONV, "flat Z k x",
            "x does not follow k in Z[n, k, y, x]; only neighbours can be flat");
    refuses(state, CONV, "flat Z y x", "X is read in Z with a default; `pad Z X` first");
    refuses(state, STRIDED, "pad Y X; flat Y y x",
            "Y.X is read in Y other than at y+.., x+.. in two adjacent dimensions; `phase` "
            "first if the stride is not 1");
    refuses(state, "in X: f32[4,5]; in Z: f32[2,3]\nY[y:2,x:3] = X[y+1,x+1] + Z[y,x]\nout Y\n",
            "flat Y y x",
            "Z has rows of 3, another tensor that Y reads of 5; all must be of one width");
    refuses(state, "in X: f32[4,5]\nY[y,x] = X[y,x]*x\nout Y\n", "flat Y y x",
            "x is used in Y outside of subscripts; only an index of subscripts can be flat");
    refuses(state, "in X: f32[4,5]\nY[y,t] = Y[y,t-1 | 0] + X[y,t]\nout Y\n", "flat Y y t",
            "Y is part of a rec block, which is computed step by step; a stage outside of "
            "one is legal");
    refuses(state, CONV, "phase Z X",
            "X is read in Z with stride 1 or none; a tensor read at y*2+r or at y/2, y a "
            "left index, has phases");
    refuses(state, CONV, "split Z y 2", "y is no reduction index of Z; those are c, r, s");
    refuses(state, CONV, "split Y c 2", "Y has no reduction, so no index of it can be split");
    refuses(state, CONV, "split Z c 3",
            "3 does not split c, which has 3 values; a step from 1 to 2 does");
    refuses(state, "in X: f32[6]\nY[i:2] = mean[k ? k > i](X[k])\nout Y\n", "split Y k 2",
            "Y is a filtered mean of k, whose terms are not counted; write it as a sum "
            "divided by a sum");
    refuses(state, "in X: f32[6]\nY[i:2] = argmax[k ? k > i](X[k])\nout Y\n", "split Y k 2",
            "Y is a filtered argmax, in which a chunk may be empty; only one without a "
            "filter can be split");
    refuses(state, "in X: i32[6] from 0 to 2000000000\nY[] = sum[k](X[k])\nout Y\n", "split Y k 2",
            "Y adds up integers that may leave 32 bits, in which partial results are kept; a "
            "smaller STEP than 2 may do");
    refuses(state, NORM, "moments U j 4",
            "U is no sum or mean of (x-U)*(x-U) with U[..] at its own indices; ! split cuts other "
            "reductions");
    refuses(state, NORM, "part V j 7", "j is no left index of V; those are r");
    refuses(state, NORM, "part Y j 3",
            "3 does not part j, which has 7 values; a step from 2 on that divides it does");
    refuses(state, NORM, "moments V j 7",
            "7 does not split j, which has 7 values; a step from 1 to 6 does");
    refuses(state,
            "in X: f32[2,7]\nU[r] = max[j](X[r,j])\nV[r] = sum[j]((X[r,j]-U[r])*(X[r,j]-U[r]))\n"
            "out V\n",
            "moments V j 4",
            "U adds up other terms than V; only both over the same can be taken in one pass");
    refuses(state, "in X: f32[6]\nY[t] = X[t]\nout Y\n", "chunk Y t 2",
            "Y is no scan: it does not read itself one step before");
    refuses(state, "in X: f32[3,6]\nY[r,t] = Y[r,t-1 | 0] + X[r,t]\nout Y\n", "chunk Y r 2",
            "r is not the index that Y is carried along; that is t");
    refuses(state, "in X: f32[6]\nY[t] = Y[t-1 | 0] + X[t]\nout Y\n", "chunk Y t 6",
            "6 does not split t, which has 6 values; a step from 2 to 5 does");
    refuses(state, "in X: f32[6]\nY[t] = 0.5*Y[t-1 | 0] + X[t]\nout Y\n", "chunk Y t 2",
            "Y is no scan of + * min or max, the previous element with one that does not "
            "depend on it");
    refuses(state, "in X: i32[6] from 0 to 1000\nY[t]: i8 = max(Y[t-1 | 0], X[t])\nout Y\n",
            "chunk Y t 2", "Y is i8 and its terms may leave that type; a wider one is legal");
    refuses(
        state,
        "in X: f32[6]\nrec t:6 {\nA[t] = A[t-1 | 0] + X[t]\nB[t] = A[t] + B[t-1 | 0]\n}\nout B\n",
        "chunk A t 2",
        "A is one of several stages of a rec block; only a stage that is a scan by "
        "itself can be cut in chunks");
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
        fail_msg("%s is wrong already: %s\n%s", name, wrong, expanded(arena, program));
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
    for (unsigned i = 0; i < CHANGE_COUNT && count >= 100; i++)
        assert_true(tally.applied[i] > 5 || i == CHANGE_MOMENTS || /* that takes a norm */
                    i == CHANGE_ROWS);                             /* and that a pool */
}

static void
operators_keep_their_values(void **state)
{
    static const unsigned sample[] = {1000, 2, 2, 0};
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
    for (unsigned i = 0; i < CHANGE_COUNT; i++)
        assert_true(tally.applied[i] > (i == CHANGE_ROWS ? 30 : 50)); /* there are few pools */
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(pad_makes_reads_plain),          UNIT_TEST(flat_merges_rows),
        UNIT_TEST(phase_takes_strides_away),       UNIT_TEST(split_makes_partials),
        UNIT_TEST(moments_take_one_pass),          UNIT_TEST(rows_come_first),
        UNIT_TEST(part_makes_two_indices),         UNIT_TEST(chunk_cuts_scans),
        UNIT_TEST(what_does_not_apply_is_refused), UNIT_TEST(random_programs_keep_their_values),
        UNIT_TEST(operators_keep_their_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
