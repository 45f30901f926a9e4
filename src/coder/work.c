/* Stages as they are lowered: what is inlined, who computes what where. */
#include "coder/coder_int.h"

#include <limits.h>
#include <string.h>

/* ---- looking into expressions ---- */

const struct expr *
work_reduce(const struct expr *code)
{
    if (code->op == OP_REDUCE)
        return code;
    for (unsigned i = 0; i < code->count && code->loads; i++) {
        const struct expr *found = work_reduce(code->args[i]);
        if (found != NULL)
            return found;
    }
    return NULL;
}

struct loads {
    const struct tensor *tensor;
    const struct expr **found;
    size_t count, most;
    const struct expr
        *seen[256]; /* recently left nodes: keeps shared ones from being walked often */
};

static void
collect_loads(struct loads *loads, const struct expr *e)
{
    if (!e->loads || loads->seen[e->id % 256] == e)
        return;
    if (e->op == OP_LOAD && e->tensor == loads->tensor) {
        size_t i = 0;
        while (i < loads->count && i < loads->most && loads->found[i] != e)
            i++;
        if (i == loads->count || i == loads->most) {
            if (loads->count < loads->most)
                loads->found[loads->count] = e;
            loads->count++;
        }
    }
    for (unsigned i = 0; i < e->count; i++)
        collect_loads(loads, e->args[i]);
    loads->seen[e->id % 256] = e;
}

size_t
work_loads(const struct expr *e, const struct tensor *tensor, const struct expr **found,
           size_t most)
{
    struct loads loads = {.tensor = tensor, .found = found, .most = most};
    collect_loads(&loads, e);
    return loads.count;
}

static bool
computes_wide(const struct expr *e)
{
    if (e->kind == KIND_F64)
        return true;
    for (unsigned i = 0; i < e->count; i++)
        if (e->kind != KIND_INT && computes_wide(e->args[i]))
            return true;
    return false;
}

void
work_ranges(const struct work *work, struct level levels[LANG_MAX_LEVELS])
{
    memset(levels, 0, LANG_MAX_LEVELS * sizeof *levels);
    for (unsigned i = 0; i < work->levels; i++)
        levels[i] = (struct level){NULL, work->index[i], 0, work->extent[i] - 1};
}

/* ---- inlining ---- */

struct inlining {
    const struct program *program;
    const struct work *works;
    const bool *inlined; /* stages whose loads are replaced */
    bool guarded;        /* one of them is read with a default */
    bool cut;            /* one of them is a cat, read at more than an index */
};

static const struct expr *
leave_same(struct rewrite *rewrite, const struct expr *e, const struct expr *const *args)
{
    return e->count == 0 ? e : ir_with_args(rewrite->ir, e, args);
}

/* A cat follows the index that it cuts; only an index can be cut. */
static const struct expr *
leave_moved(struct rewrite *rewrite, const struct expr *e, const struct expr *const *args)
{
    const struct expr *index = e->op == OP_CAT ? rewrite->replace[e->binder->level] : NULL;
    if (index == NULL)
        return leave_same(rewrite, e, args);
    if (index->op != OP_INDEX) {
        ((struct inlining *)rewrite->context)->cut = true;
        return leave_same(rewrite, e, args);
    }
    struct binder *binder = arena_alloc(ir_arena(rewrite->ir), sizeof *binder);
    *binder = *e->binder;
    binder->level = index->level;
    return ir_cat(rewrite->ir, binder, args);
}

/* The expression of a stage at these subscripts, as its tensor would hold it: integers wrapped,
 * kinds as loaded. Floats keep the digits that storing would have taken. */
static const struct expr *
stage_at(struct ir *ir, const struct work *work, const struct expr *const *subscripts,
         struct inlining *inlining)
{
    struct rewrite rewrite = {
        .ir = ir, .leave = leave_moved, .context = inlining, .pieces = PIECES_CODE};
    for (unsigned i = 0; i < work->rank; i++)
        rewrite.replace[i] = subscripts[i];
    const struct expr *e = ir_rewrite(&rewrite, work->code);
    enum dtype dtype = work->tensor->dtype;
    if (e->kind != dtype_info[dtype].kind || !dtype_is_float(dtype))
        e = ir_cast(ir, dtype, e);
    return e;
}

static const struct expr *
leave_inlining(struct rewrite *rewrite, const struct expr *e, const struct expr *const *args)
{
    struct inlining *inlining = rewrite->context;
    if (e->op == OP_LOAD && e->tensor->stage != NULL) {
        size_t number = (size_t)(e->tensor->stage - inlining->program->stages);
        if (inlining->inlined[number]) {
            inlining->guarded |= expr_default(e) != NULL;
            return stage_at(rewrite->ir, &inlining->works[number], args, inlining);
        }
    }
    return leave_same(rewrite, e, args);
}

/* ---- who reads whom ---- */

const struct token *
work_names(const struct line *line, enum token_form form, size_t stage)
{
    for (size_t i = 0; i < line->count; i++)
        if (line->tokens[i].form == form && line->tokens[i].stage == stage)
            return &line->tokens[i];
    return NULL;
}

static bool
reads(const struct work *work, const struct tensor *tensor)
{
    return work_loads(work->code, tensor, NULL, 0) > 0;
}

/* The index of an element by its chunk, kc*STEP + k with STEP values of k: k, else the expression.
 */
static const struct expr *
index_in_chunk(const struct work *reader, const struct expr *e)
{
    int64_t coefficient[LANG_MAX_LEVELS], constant;
    if (e->op != OP_ADD || e->args[1]->op != OP_INDEX || e->args[0]->op != OP_MUL ||
        e->args[0]->args[0]->op != OP_INDEX || !expr_affine(e, coefficient, &constant) ||
        coefficient[e->args[0]->args[0]->level] != reader->extent[e->args[1]->level])
        return e;
    return e->args[1];
}

static bool
has_cat(const struct expr *e)
{
    bool found = e->op == OP_CAT;
    for (unsigned i = 0; i < e->count && !found; i++)
        found = has_cat(e->args[i]);
    return found;
}

/* What a loop nest with these loads does for every point: each point of the stage once. Pieces of a
 * cat are told apart by a plain index only. */
static bool
visits_once(const struct work *reader, const struct expr *load, const struct work *stage)
{
    uint32_t plain = 0;
    double points = 1;
    for (unsigned i = 0; i < stage->rank; i++) {
        const struct expr *subscript = index_in_chunk(reader, load->args[i]);
        if (subscript->op != OP_INDEX || (plain & load->args[i]->free) ||
            (subscript != load->args[i] && has_cat(stage->code)))
            return false;
        plain |= load->args[i]->free;
    }
    for (unsigned i = 0; i < reader->levels; i++)
        points *= (double)reader->extent[i];
    return points == (double)stage->tensor->count;
}

/* A reduction may be inlined where it becomes the reader's own: the reader has none and reads it at
 * its own point, whatever it does with it then. */
static bool
becomes_own(const struct work *reader, const struct work *stage)
{
    const struct expr *load = NULL;
    return reader->reduce == NULL && reader->rank == stage->rank &&
           work_loads(reader->code, stage->tensor, &load, 1) == 1 &&
           visits_once(reader, load, stage);
}

/* "S:" alone, whatever is inlined. */
static bool
says_nothing(const struct line *line)
{
    for (size_t i = 0; i < line->count; i++)
        if (line->tokens[i].form != TOKEN_INLINE)
            return false;
    return true;
}

/* Does a line leave it open, or name, which loops a reduction has that is inlined there? */
static bool
has_loops_for(const struct line *line, const struct work *reader)
{
    for (size_t i = 0; i < line->count; i++) {
        unsigned l = 0;
        while (l < reader->rank && line->tokens[i].form == TOKEN_LOOP &&
               strcmp(reader->index[l], line->tokens[i].name) != 0)
            l++;
        if (line->tokens[i].form == TOKEN_LOOP && l == reader->rank)
            return true;
    }
    return says_nothing(line);
}

/* The stage that this one is inlined into unless something else is said, or -1. */
static ptrdiff_t
default_reader(const struct schedule *schedule, const struct work *work)
{
    const struct program *program = schedule->program;
    ptrdiff_t reader = -1;
    if (work->tensor->output >= 0 || work->stage->rec >= 0 || work->fate == FATE_SAME ||
        schedule->lines[work->number].given)
        return -1;
    for (size_t i = 0; i < program->stage_count; i++) {
        const struct expr *load = NULL;
        const struct work *other = &schedule->works[i];
        if (work_names(&schedule->lines[i], TOKEN_DO, work->number) ||
            work_names(&schedule->lines[i], TOKEN_WITH, work->number))
            return -1;
        size_t count = work_loads(program->stages[i].code, work->tensor, &load, 1);
        if (count == 0)
            continue;
        if (count > 1 || reader >= 0 || expr_default(load) != NULL || other->stage->rec >= 0 ||
            other->fate == FATE_SAME || !visits_once(other, load, work))
            return -1;
        reader = (ptrdiff_t)i;
    }
    return reader;
}

/* A reduction of its own, or one that it inlines. */
static bool
will_reduce(const struct schedule *schedule, size_t stage)
{
    const struct line *line = &schedule->lines[stage];
    if (schedule->works[stage].reduce != NULL)
        return true;
    for (size_t i = 0; i < line->count; i++)
        if (line->tokens[i].form == TOKEN_INLINE && line->tokens[i].stage < stage &&
            will_reduce(schedule, line->tokens[i].stage))
            return true;
    return false;
}

static void
add_inline(struct arena *arena, struct line *line, const struct work *work)
{
    if (line->count == CODER_MAX_TOKENS)
        return;
    memmove(line->tokens + 1, line->tokens, line->count * sizeof *line->tokens);
    line->count++;
    line->tokens[0] = (struct token){.form = TOKEN_INLINE,
                                     .place = line->place,
                                     .text = arena_printf(arena, "inline(%s)", work->tensor->name),
                                     .stage = work->number};
}

bool
work_is_provided_in(const struct schedule *schedule, size_t number, size_t reader, size_t top)
{
    const struct line *line = &schedule->lines[reader];
    if (work_names(line, TOKEN_DO, number) || work_names(line, TOKEN_WITH, number) ||
        online_names(line, number))
        return true;
    for (size_t i = 0; i < line->count; i++) /* with a producer that is computed here */
        if (line->tokens[i].form == TOKEN_DO &&
            work_names(&schedule->lines[line->tokens[i].stage], TOKEN_WITH, number))
            return true;
    const struct work *work = &schedule->works[reader];
    return reader != top && (work->fate == FATE_DO || work->fate == FATE_WITH) &&
           work_is_provided_in(schedule, number, work->consumer, top);
}

bool
work_is_provided(const struct schedule *schedule, size_t number, size_t reader)
{
    return work_is_provided_in(schedule, number, reader, schedule->program->stage_count);
}

/* ---- preparing ---- */

/* A reduction that came with an inlined stage may have names that are taken here: c_2 then. */
static const char *
free_name(struct arena *arena, const struct work *work, unsigned levels, const char *name)
{
    const char *wanted = name;
    for (unsigned i = 0, copy = 1; i < levels; i++)
        if (strcmp(work->index[i], wanted) == 0) {
            wanted = arena_printf(arena, "%s_%u", name, ++copy);
            i = UINT_MAX; /* then 0: from the first on */
        }
    return wanted;
}

/* The indices of the reduction in its expression. */
static void
take_reduction(struct arena *arena, struct work *work)
{
    work->reduce = work_reduce(work->code);
    work->levels = work->rank;
    if (work->reduce == NULL)
        return;
    const struct binder *binder = work->reduce->binder;
    for (unsigned i = 0; i < binder->count; i++) {
        work->extent[binder->level + i] = expr_integer(binder->extent[i]);
        work->index[binder->level + i] =
            free_name(arena, work, binder->level + i, binder->names[i]);
    }
    work->levels = binder->level + binder->count;
}

/* A block of one stage that reads itself one step back, at the same point otherwise: its loops may
 * stand in any order, as long as the carried index goes upwards. */
static const struct expr *
step_before(const struct program *program, const struct stage *stage)
{
    const struct expr *load = NULL;
    if (stage->rec < 0 || program->recs[stage->rec].count != 1 ||
        work_loads(stage->code, stage->tensor, &load, 1) != 1)
        return NULL;
    for (unsigned d = 0; d < stage->tensor->rank; d++) {
        int64_t coefficient[LANG_MAX_LEVELS], constant;
        const struct expr *e = load->args[d];
        if (d != stage->carried && (e->op != OP_INDEX || e->level != d))
            return NULL;
        if (d == stage->carried && (!expr_affine(e, coefficient, &constant) || constant != -1 ||
                                    coefficient[d] != 1 || e->free != 1u << d))
            return NULL;
    }
    return load;
}

bool
work_runs_scan(const struct schedule *schedule, const struct work *work)
{
    const struct line *line = &schedule->lines[work->number];
    if (work->before == NULL)
        return false;
    for (size_t i = 0; i < line->count; i++)
        if (line->tokens[i].form == TOKEN_LOOP && line->tokens[i].level == work->stage->carried)
            return true;
    return work->extent[work->stage->carried] == 1;
}

const struct expr *
work_running_sum(const struct work *work)
{
    const struct expr *e = work->code;
    if (work->before == NULL || e->op != OP_ADD || work->reduce != NULL)
        return NULL;
    for (int i = 0; i < 2; i++)
        if (e->args[i] == work->before && work_loads(e->args[1 - i], work->tensor, NULL, 0) == 0)
            return e->args[1 - i];
    return NULL;
}

/* Sizes and names; the expression is still the stage's own. */
static void
measure_work(struct arena *arena, struct work *work, const struct stage *stage, size_t number)
{
    *work = (struct work){.stage = stage,
                          .tensor = stage->tensor,
                          .number = number,
                          .rank = stage->tensor->rank,
                          .levels = stage->tensor->rank,
                          .code = stage->code};
    for (unsigned i = 0; i < work->rank; i++) {
        work->extent[i] = stage->tensor->size[i];
        work->index[i] = stage->index[i];
    }
    take_reduction(arena, work);
}

/* Where the reduction is used: its range, or that of the pieces of cats around it. */
static void
find_range(struct work *work, const struct expr *e, const struct level *levels)
{
    if (e == work->reduce)
        for (unsigned i = 0; i < work->rank; i++) {
            if (levels[i].low < work->first[i])
                work->first[i] = levels[i].low;
            if (levels[i].high > work->last[i])
                work->last[i] = levels[i].high;
        }
    if (e->op == OP_REDUCE || !e->loads)
        return;
    int64_t start = 0;
    for (unsigned i = 0; i < e->count; i++) {
        if (e->op != OP_CAT) {
            find_range(work, e->args[i], levels);
            continue;
        }
        struct level inner[LANG_MAX_LEVELS], *cut = &inner[e->binder->level];
        int64_t end = start + expr_integer(e->binder->extent[i]);
        memcpy(inner, levels, sizeof inner);
        cut->low = cut->low > start ? cut->low : start;
        cut->high = cut->high < end - 1 ? cut->high : end - 1;
        find_range(work, e->args[i], inner);
        start = end;
    }
}

static bool
inline_stages(struct arena *arena, struct schedule *schedule, struct work *work,
              struct diags *diags)
{
    const struct program *program = schedule->program;
    const struct line *line = &schedule->lines[work->number];
    bool *inlined = arena_array(arena, program->stage_count, sizeof *inlined);
    bool any = false, reduction = work->reduce != NULL;
    for (size_t i = 0; i < line->count; i++) {
        const struct token *token = &line->tokens[i];
        if (token->form != TOKEN_INLINE)
            continue;
        const struct work *stage = &schedule->works[token->stage];
        if (token->stage >= work->number || stage->stage->rec >= 0 || work->stage->rec >= 0 ||
            !reads(work, stage->tensor) ||
            (stage->reduce != NULL && (reduction || !becomes_own(work, stage)))) {
            diags_add(diags, DIAG_ERROR, token->place,
                      "%s: inlined can be a stage that %s reads, without a reduction, or with the "
                      "only one and read at the same indices",
                      token->text, work->tensor->name);
            return false;
        }
        reduction = reduction || stage->reduce != NULL;
        inlined[token->stage] = any = true;
    }
    if (any) {
        struct inlining inlining = {program, schedule->works, inlined, false, false};
        struct rewrite rewrite = {.ir = program->ir,
                                  .leave = leave_inlining,
                                  .context = &inlining,
                                  .pieces = PIECES_CODE};
        struct level levels[LANG_MAX_LEVELS];
        work->code = ir_rewrite(&rewrite, work->code);
        if (inlining.guarded) {
            diags_add(diags, DIAG_ERROR, line->place,
                      "%s reads what it inlines with a default; use do() or ! pad",
                      work->tensor->name);
            return false;
        }
        if (inlining.cut) {
            diags_add(diags, DIAG_ERROR, line->place,
                      "%s reads a cat that it inlines at more than a plain index; use do()",
                      work->tensor->name);
            return false;
        }
        work_ranges(work, levels);
        work->code = ir_simplify(program->ir, work->code, levels);
    }
    const struct expr *cheaper = identity_cheaper(program->ir, work->code);
    if (any || cheaper != work->code) {
        work->code = cheaper;
        take_reduction(arena, work);
    }
    bound_find(arena, schedule, work);
    for (unsigned i = 0; i < work->rank; i++) {
        work->first[i] = INT64_MAX;
        work->last[i] = -1;
    }
    if (work->reduce != NULL) {
        struct level levels[LANG_MAX_LEVELS];
        work_ranges(work, levels);
        find_range(work, work->code, levels);
    }
    work->wide = work->tensor->dtype == DTYPE_F64 || computes_wide(work->code);
    work->lanes = schedule->vector_bytes / (work->wide ? 8 : 4);
    return true;
}

bool
work_has_guests(const struct line *line)
{
    for (size_t i = 0; i < line->count; i++)
        if (line->tokens[i].form == TOKEN_WITH)
            return true;
    return false;
}

static void
decide_storing(struct schedule *schedule, struct work *work)
{
    const struct program *program = schedule->program;
    bool read = false, provided = true;
    for (size_t i = 0; i < program->stage_count; i++)
        if (i != work->number && schedule->works[i].fate != FATE_INLINE &&
            reads(&schedule->works[i], work->tensor)) {
            read = true;
            provided = provided && work_is_provided(schedule, work->number, i);
        }
    work->stored = work->tensor->output >= 0 || !provided;
    if (work->fate == FATE_ROOT && !read && work->tensor->output < 0 && work->stage->rec < 0 &&
        !work_has_guests(&schedule->lines[work->number]))
        work->fate = FATE_INLINE; /* nobody reads it any more */
}

/* A line, or a word in another one, makes it work like any other. */
static bool
is_spoken_of(const struct schedule *schedule, size_t number)
{
    bool spoken = schedule->lines[number].given;
    for (size_t i = 0; i < schedule->program->stage_count && !spoken; i++) {
        const struct line *line = &schedule->lines[i];
        spoken = work_names(line, TOKEN_DO, number) || work_names(line, TOKEN_WITH, number) ||
                 work_names(line, TOKEN_INLINE, number);
    }
    return spoken;
}

bool
work_rec_has_loops(const struct schedule *schedule, int rec)
{
    const struct line *line = rec >= 0 ? &schedule->recs[rec] : NULL;
    for (size_t i = 0; line != NULL && i < line->count; i++)
        if (line->tokens[i].form == TOKEN_LOOP)
            return true;
    return false;
}

int
work_left_level(const struct work *work, const char *name)
{
    for (unsigned i = 0; i < work->rank; i++)
        if (strcmp(work->index[i], name) == 0)
            return (int)i;
    return -1;
}

/* All of these are read at this index of the reader. */
static bool
reads_at(const struct work *reader, const struct work *read, unsigned dimension, unsigned level)
{
    const struct expr *loads[64];
    size_t count = work_loads(reader->code, read->tensor, loads, 64);
    for (size_t i = 0; i < count && i < 64; i++)
        if (loads[i]->args[dimension]->op != OP_INDEX || loads[i]->args[dimension]->level != level)
            return false;
    return count <= 64;
}

bool
work_is_own(const struct schedule *schedule, const struct rec *rec, const char *name,
            const struct work **reader, const struct work **read)
{
    const struct work *first = &schedule->works[rec->first], *end = first + rec->count;
    int level = work_left_level(first, name);
    *read = NULL;
    for (*reader = first; *reader < end; (*reader)++) {
        int own = work_left_level(*reader, name);
        if (level < 0 || own < 0 || (*reader)->extent[own] != first->extent[level] ||
            (unsigned)own == (*reader)->stage->carried)
            return false;
    }
    for (*reader = first; *reader < end; (*reader)++)
        for (*read = first; *read < end; (*read)++)
            if (!reads_at(*reader, *read, (unsigned)work_left_level(*read, name),
                          (unsigned)work_left_level(*reader, name)))
                return false;
    return true;
}

/* What a block's line copies, those of its stages copy that read it: before all else, which is
 * before the first step. */
static void
share_packs(struct schedule *schedule, size_t rec)
{
    const struct rec *block = &schedule->program->recs[rec];
    const struct line *packs = &schedule->recs[rec];
    for (size_t t = packs->count; t-- > 0;)
        for (size_t i = block->first; i < block->first + block->count; i++) {
            struct line *line = &schedule->lines[i];
            const struct work *work = &schedule->works[i];
            const struct token *token = &packs->tokens[t];
            if (token->form != TOKEN_PACK || line->count == CODER_MAX_TOKENS ||
                work_loads(work->reduce != NULL ? work->reduce->args[0] : work->code, token->tensor,
                           NULL, 0) < (size_t)token->number)
                continue;
            memmove(line->tokens + 1, line->tokens, line->count * sizeof *line->tokens);
            line->tokens[0] = *token;
            line->tokens[0].hidden = true;
            line->count++;
        }
}

bool
work_prepare(struct arena *arena, struct schedule *schedule, struct diags *diags)
{
    const struct program *program = schedule->program;
    size_t count = program->stage_count;
    struct work *works = schedule->works = arena_array(arena, count + 1, sizeof *works);
    for (size_t i = 0; i < count; i++) {
        measure_work(arena, &works[i], &program->stages[i], i);
        works[i].before = step_before(program, &program->stages[i]);
        works[i].same = is_spoken_of(schedule, i) ? NULL : work_same(schedule, &works[i]);
        works[i].fate = works[i].same != NULL ? FATE_SAME : FATE_ROOT;
    }
    for (size_t i = 0; i < count; i++) {
        ptrdiff_t reader = default_reader(schedule, &works[i]);
        if (reader >= 0 && !work_names(&schedule->lines[reader], TOKEN_INLINE, i) &&
            (!will_reduce(schedule, i) ||
             (!will_reduce(schedule, (size_t)reader) && works[reader].rank == works[i].rank &&
              has_loops_for(&schedule->lines[reader], &works[reader]))))
            add_inline(arena, &schedule->lines[reader], &works[i]);
    }
    for (size_t i = 0; i < count; i++)
        if (!inline_stages(arena, schedule, &works[i], diags) ||
            !fate_decide(schedule, &works[i], diags))
            return false;
    for (size_t i = 0; i < count; i++)
        if (!fate_check_circles(schedule, &works[i], diags))
            return false;
    bool good = true;
    for (size_t i = 0; i < count; i++)
        good = fate_resolve_names(arena, schedule, &works[i], &schedule->lines[i], diags) && good;
    for (size_t i = 0; i < program->rec_count; i++)
        good = fate_resolve_names(arena, schedule, &works[program->recs[i].first],
                                  &schedule->recs[i], diags) &&
               good;
    for (size_t i = 0; i < count && good; i++)
        good = online_fit(arena, schedule, &works[i], diags);
    if (!good)
        return false;
    for (size_t i = count; i-- > 0;)
        decide_storing(schedule, &works[i]);
    for (size_t i = 0; i < count; i++)
        if (says_nothing(&schedule->lines[i]) && work_has_loops(&works[i]) &&
            works[i].fate != FATE_WITH)
            plain_line(arena, &schedule->lines[i], &works[i],
                       works[i].fate == FATE_ROOT &&
                           !work_rec_has_loops(schedule, works[i].stage->rec));
    for (size_t i = 0; i < program->rec_count; i++)
        share_packs(schedule, i);
    return true;
}
