/* What the rewrites share: names, stages put in, code set, tensors stored in other ways. */
#include "coder/change_edit_int.h"

#include "base/buf.h"
#include "base/num.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MAX_GROWTH 8                  /* times what was there ... */
#define MAX_BYTES ((int64_t)64 << 20) /* ... and more than this: too large */
#define MAX_LISTED 12                 /* names in a message */

bool
change__refuse(struct edit *edit, const char *format, ...)
{
    char text[1024];
    va_list args;
    if (edit->why != NULL)
        return false;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    edit->why = arena_strdup(edit->arena, text);
    return false;
}

const char *
change__list(struct edit *edit, const char *const *names, size_t count)
{
    struct buf list = buf_in(edit->arena);
    for (size_t i = 0; i < count && i < MAX_LISTED; i++)
        buf_printf(&list, "%s%s", i ? ", " : "", names[i]);
    if (count > MAX_LISTED)
        buf_puts(&list, ", ...");
    return count > 0 ? list.data : "none";
}

/* ---- names ---- */

static struct tensor *
find_tensor(const struct program *program, const char *name)
{
    for (size_t i = 0; i < program->tensor_count; i++)
        if (strcmp(program->tensors[i]->name, name) == 0)
            return program->tensors[i];
    return NULL;
}

const char *
change__name(struct edit *edit, const char *suffix)
{
    const char *stage = change__stage(edit)->tensor->name;
    const char *name = arena_printf(edit->arena, "%s.%s", stage, suffix);
    for (unsigned i = 2; find_tensor(edit->program, name) != NULL; i++)
        name = arena_printf(edit->arena, "%s.%s.%u", stage, suffix, i);
    return name;
}

static bool
is_taken(const struct stage *stage, unsigned count, const struct expr *reduction, const char *name)
{
    for (unsigned i = 0; i < count; i++)
        if (strcmp(stage->index[i], name) == 0)
            return true;
    for (unsigned i = 0; reduction != NULL && i < reduction->binder->count; i++)
        if (strcmp(reduction->binder->names[i], name) == 0)
            return true;
    return false;
}

const char *
change__index(struct edit *edit, const struct stage *stage, unsigned count, const struct expr *code,
              const char *wish)
{
    /* Binders of expressions show it too: it lives as long as they do. */
    const struct expr *reduction = code ? change__reduction(edit, code) : NULL;
    const char *name = arena_strdup(ir_arena(edit->ir), wish);
    for (unsigned i = 2; is_taken(stage, count, reduction, name); i++)
        name = arena_printf(ir_arena(edit->ir), "%s%u", wish, i);
    return name;
}

int
change__left(const struct stage *stage, const char *name)
{
    for (unsigned i = 0; i < stage->tensor->rank; i++)
        if (strcmp(stage->index[i], name) == 0)
            return (int)i;
    return -1;
}

/* ---- looking ---- */

void
change__levels(const struct stage *stage, struct level levels[LANG_MAX_LEVELS])
{
    const struct tensor *tensor = stage->tensor;
    memset(levels, 0, LANG_MAX_LEVELS * sizeof *levels);
    for (unsigned i = 0; i < tensor->rank; i++)
        levels[i] = (struct level){tensor->extent[i], stage->index[i], 0, tensor->size[i] - 1};
}

/* The first node for which `holds`, each looked at once. */
struct search {
    bool (*holds)(const struct search *search, const struct expr *e);
    const void *context;
    const struct edit *edit;
};

static const struct expr *
search_in(const struct search *search, const struct expr *e)
{
    if (search->edit->stamps[e->id] == search->edit->stamp)
        return NULL;
    search->edit->stamps[e->id] = search->edit->stamp;
    if (search->holds(search, e))
        return e;
    for (unsigned i = 0; i < e->count; i++) {
        const struct expr *found = search_in(search, e->args[i]);
        if (found != NULL)
            return found;
    }
    return NULL;
}

static const struct expr *
find_node(struct edit *edit, const struct expr *e,
          bool (*holds)(const struct search *search, const struct expr *e), const void *context)
{
    struct search search = {holds, context, edit};
    size_t count = ir_count(edit->ir);
    if (count > edit->stamp_count) {
        edit->stamp_count = count + count / 2;
        edit->stamps = arena_array(edit->arena, edit->stamp_count, sizeof *edit->stamps);
        edit->stamp = 0;
    }
    edit->stamp++;
    return search_in(&search, e);
}

static bool
is_reduction(const struct search *search, const struct expr *e)
{
    (void)search;
    return e->op == OP_REDUCE;
}

const struct expr *
change__reduction(struct edit *edit, const struct expr *e)
{
    return e->loads ? find_node(edit, e, is_reduction, NULL) : NULL;
}

static bool
is_cut(const struct search *search, const struct expr *e)
{
    const unsigned *level = search->context;
    return e->op == OP_CAT && (level == NULL || e->binder->level == *level);
}

bool
change__cuts(struct edit *edit, const struct expr *e, unsigned level)
{
    return find_node(edit, e, is_cut, &level) != NULL;
}

static bool
is_load_of(const struct search *search, const struct expr *e)
{
    return e->op == OP_LOAD && e->tensor == search->context;
}

static const struct expr *
leave_visiting(struct rewrite *rewrite, const struct expr *e, const struct expr *const *args)
{
    struct visit *visit = rewrite->context;
    (void)args;
    if (e->op == OP_LOAD)
        visit->load(visit, e, rewrite->levels);
    return e;
}

void
change__visit(struct visit *visit, const struct expr *code)
{
    struct rewrite rewrite = {
        .ir = visit->edit->ir, .leave = leave_visiting, .context = visit, .pieces = PIECES_CODE};
    change__levels(change__stage(visit->edit), rewrite.levels);
    ir_rewrite(&rewrite, code);
}

static void
list_read(struct visit *visit, const struct expr *load, const struct level *levels)
{
    struct buf *list = visit->context;
    (void)levels;
    const char *name = load->tensor->name;
    const char *at = list->length ? strstr(list->data, name) : NULL;
    for (size_t n = strlen(name); at != NULL; at = strstr(at + 1, name))
        if ((at == list->data || at[-1] == ' ') && (at[n] == ',' || at[n] == '\0'))
            return;
    buf_printf(list, "%s%s", list->length ? ", " : "", name);
}

static bool
refuse_source(struct edit *edit, const char *name)
{
    struct buf list = buf_in(edit->arena);
    struct visit visit = {edit, list_read, &list};
    change__visit(&visit, change__stage(edit)->code);
    return change__refuse(edit, "%s is not read in %s; it reads %s", name,
                          change__stage(edit)->tensor->name, list.length ? list.data : "nothing");
}

struct tensor *
change__source(struct edit *edit, const char *name)
{
    const struct stage *stage = change__stage(edit);
    const char *names[2] = {name, arena_printf(edit->arena, "%s.%s", stage->tensor->name, name)};
    for (unsigned i = 0; i < 2; i++) {
        struct tensor *tensor = find_tensor(edit->program, names[i]);
        if (tensor == NULL || find_node(edit, stage->code, is_load_of, tensor) == NULL)
            continue;
        if (stage->rec < 0 || tensor->stage == NULL || tensor->stage->rec != stage->rec)
            return tensor;
        change__refuse(edit,
                       "%s is computed in the rec block of %s, step by step; name a tensor from "
                       "outside of the block",
                       names[i], stage->tensor->name);
        return NULL;
    }
    refuse_source(edit, name);
    return NULL;
}

/* ---- how S reads a tensor ---- */

/* Whether the dtype holds this number exactly. */
static bool
can_hold(enum dtype dtype, const struct expr *number)
{
    double want = expr_real(number), got;
    double cell = 0; /* room for one element of any dtype */
    if (dtype == DTYPE_F64 || dtype == DTYPE_F32)
        return true; /* the constant adapts to the float that it meets */
    if (!dtype_is_float(dtype) && !(fabs(want) <= 0x1p31))
        return false;
    dtype_set_element(dtype, &cell, 0, want);
    got = dtype_element(dtype, &cell, 0);
    return got == want || (isnan(got) && isnan(want));
}

static bool
same_number(const struct expr *a, const struct expr *b)
{
    double x = expr_real(a), y = expr_real(b);
    return a == b || (x == y && signbit(x) == signbit(y)) || (isnan(x) && isnan(y));
}

static void
take_default(struct edit *edit, struct reads *reads, const struct expr *load)
{
    const struct expr *fill = expr_default(load);
    const struct tensor *tensor = load->tensor;
    const char *stage = change__stage(edit)->tensor->name;
    if (!expr_is_constant(fill))
        change__refuse(edit,
                       "%s is read in %s with a default that is no constant; only one number can "
                       "fill a tensor",
                       tensor->name, stage);
    else if (load->kind != dtype_info[tensor->dtype].kind || !can_hold(tensor->dtype, fill))
        change__refuse(edit, "%s is %s, which does not hold its default %g in %s", tensor->name,
                       dtype_info[tensor->dtype].name, expr_real(fill), stage);
    else if (reads->fill != NULL && !same_number(reads->fill, fill))
        change__refuse(edit,
                       "%s is read in %s with the defaults %g and %g; only one number can fill a "
                       "tensor",
                       tensor->name, stage, expr_real(reads->fill), expr_real(fill));
    else
        reads->fill = fill;
}

static void
take_read(struct visit *visit, const struct expr *load, const struct level *levels)
{
    struct reads *reads = visit->context;
    if (load->tensor != reads->tensor)
        return;
    reads->count++;
    if (expr_default(load) == NULL)
        return;
    take_default(visit->edit, reads, load);
    for (unsigned d = 0; d < load->tensor->rank; d++) {
        int64_t low, high;
        expr_interval(load->args[d], levels, &low, &high);
        if (reads->guarded == 0 || low < reads->low[d])
            reads->low[d] = low;
        if (reads->guarded == 0 || high > reads->high[d])
            reads->high[d] = high;
    }
    reads->guarded++;
}

bool
change__reads(struct edit *edit, const struct tensor *tensor, struct reads *reads)
{
    struct visit visit = {edit, take_read, reads};
    *reads = (struct reads){.tensor = tensor};
    change__visit(&visit, change__stage(edit)->code);
    return edit->why == NULL;
}

/* ---- stages put in ---- */

struct tensor *
change__tensor(struct edit *edit, const struct tensor *shape)
{
    struct tensor *tensor = arena_alloc(edit->arena, sizeof *tensor);
    *tensor = (struct tensor){.name = shape->name,
                              .dtype = shape->dtype,
                              .rank = shape->rank,
                              .count = 1,
                              .input = -1,
                              .output = -1};
    for (unsigned i = 0; i < shape->rank; i++) {
        tensor->size[i] = shape->size[i];
        tensor->extent[i] = ir_int(edit->ir, shape->size[i]);
        tensor->count *= shape->size[i];
    }
    return tensor;
}

static void
add_tensor(struct edit *edit, struct tensor *tensor)
{
    struct program *program = edit->program;
    program->tensors = arena_grow(edit->arena, program->tensors, program->tensor_count,
                                  program->tensor_count + 1, sizeof *program->tensors);
    tensor->number = (unsigned)program->tensor_count;
    program->tensors[program->tensor_count++] = tensor;
}

struct stage *
change__insert(struct edit *edit, size_t before, const struct stage *stage)
{
    struct program *program = edit->program;
    size_t count = program->stage_count;
    assert(before <= edit->at);
    program->stages =
        arena_grow(edit->arena, program->stages, count, count + 1, sizeof *program->stages);
    memmove(&program->stages[before + 1], &program->stages[before],
            (count - before) * sizeof *program->stages);
    program->stages[before] = *stage;
    program->stage_count++;
    edit->at++;
    add_tensor(edit, stage->tensor);
    for (size_t i = 0; i <= count; i++)
        program->stages[i].tensor->stage = &program->stages[i];
    return &program->stages[before];
}

/* ---- code ---- */

static const struct expr *
leave_guarding(struct rewrite *rewrite, const struct expr *e, const struct expr *const *args)
{
    struct ir *ir = rewrite->ir;
    if (e->op != OP_LOAD || expr_default(e) != NULL)
        return ir_with_args(ir, e, args);
    const struct tensor *tensor = e->tensor;
    enum kind kind = dtype_info[tensor->dtype].kind;
    const struct expr *fill = NULL;
    for (unsigned i = 0; i < tensor->rank && fill == NULL; i++) {
        int64_t low, high;
        expr_interval(args[i], rewrite->levels, &low, &high);
        if (low < 0 || high >= tensor->size[i])
            fill = kind == KIND_BOOL ? ir_bool(ir, false) : ir_int(ir, 0);
    }
    return ir_load(ir, tensor, kind, tensor->rank, args, fill);
}

static const struct expr *
leave_alone(struct rewrite *rewrite, const struct expr *e, const struct expr *const *args)
{
    return ir_with_args(rewrite->ir, e, args);
}

/* In `value` the pieces of a cat count from their own start. */
static const struct expr *
leave_valuing(struct rewrite *rewrite, const struct expr *e, const struct expr *const *args)
{
    struct ir *ir = rewrite->ir;
    if (e->op != OP_CAT)
        return ir_with_args(ir, e, args);
    const struct expr **pieces = arena_array(ir_arena(ir), e->count, sizeof *pieces);
    int64_t start = 0;
    for (unsigned i = 0; i < e->count; i++) {
        struct rewrite shift = {.ir = ir, .leave = leave_alone, .pieces = PIECES_CODE};
        shift.replace[e->binder->level] =
            ir_binary(ir, OP_ADD, ir_index(ir, e->binder->level), ir_int(ir, start));
        pieces[i] = ir_rewrite(&shift, args[i]);
        start += expr_integer(e->binder->extent[i]);
    }
    return ir_cat(ir, e->binder, pieces);
}

static bool
reads_itself(struct edit *edit, const struct stage *stage)
{
    return find_node(edit, stage->code, is_load_of, stage->tensor) != NULL;
}

/* What an integer stage can hold: as the language finds it, or its dtype's whole range. */
static void
set_range(struct edit *edit, const struct stage *stage)
{
    struct tensor *tensor = stage->tensor;
    if (dtype_is_float(tensor->dtype))
        return;
    int64_t top = (int64_t)dtype_info[tensor->dtype].largest;
    int64_t bottom = tensor->dtype == DTYPE_U8 || tensor->dtype == DTYPE_BOOL ? 0 : -top - 1;
    struct level levels[LANG_MAX_LEVELS];
    change__levels(stage, levels);
    expr_interval(stage->code, levels, &tensor->low, &tensor->high);
    if (tensor->low < bottom || tensor->high > top || reads_itself(edit, stage) ||
        find_node(edit, stage->code, is_cut, NULL) != NULL) {
        tensor->low = bottom;
        tensor->high = top;
    }
}

void
change__set_code(struct edit *edit, struct stage *stage, const struct expr *code)
{
    struct rewrite guard = {.ir = edit->ir, .leave = leave_guarding, .pieces = PIECES_CODE};
    struct rewrite value = {.ir = edit->ir, .leave = leave_valuing, .pieces = PIECES_CODE};
    change__levels(stage, guard.levels);
    stage->code = ir_rewrite(&guard, ir_simplify(edit->ir, code, guard.levels));
    stage->value = stage->code;
    if (find_node(edit, stage->code, is_cut, NULL) != NULL)
        stage->value = ir_rewrite(&value, stage->code);
    if (stage != change__stage(edit)) /* S holds what it held */
        set_range(edit, stage);
}

/* A subscript that is a sum, with its constants and equal terms gathered. */
static const struct expr *
gathered(struct ir *ir, const struct expr *e)
{
    struct sum sum;
    bool is_sum = e->op == OP_ADD || e->op == OP_SUB || e->op == OP_MUL;
    return is_sum && change__sum(e, &sum) ? change__expr(ir, &sum) : e;
}

const struct expr *
change__load(struct edit *edit, const struct tensor *tensor, const struct expr *const *subscripts,
             const struct expr *otherwise)
{
    const struct expr *args[LANG_MAX_RANK];
    for (unsigned i = 0; i < tensor->rank; i++)
        args[i] = gathered(edit->ir, subscripts[i]);
    return ir_load(edit->ir, tensor, dtype_info[tensor->dtype].kind, tensor->rank, args, otherwise);
}

enum dtype
change__dtype(enum kind kind)
{
    static const enum dtype dtypes[] = {[KIND_BOOL] = DTYPE_BOOL,
                                        [KIND_INT] = DTYPE_I32,
                                        [KIND_REAL] = DTYPE_F32,
                                        [KIND_F32] = DTYPE_F32,
                                        [KIND_F64] = DTYPE_F64};
    return dtypes[kind];
}

/* ---- sums ---- */

static bool
add_term(struct sum *sum, const struct expr *atom, int64_t factor)
{
    for (unsigned i = 0; i < sum->count; i++)
        if (sum->terms[i].atom == atom)
            return num_add(sum->terms[i].factor, factor, &sum->terms[i].factor);
    if (sum->count == CHANGE_TERMS)
        return false;
    sum->terms[sum->count].atom = atom;
    sum->terms[sum->count++].factor = factor;
    return true;
}

static bool
add_scaled(struct sum *sum, const struct expr *e, int64_t factor)
{
    int64_t part;
    switch (e->op) {
    case OP_INT:
        return num_mul(e->integer, factor, &part) && num_add(sum->constant, part, &sum->constant);
    case OP_NEG:
        return num_mul(factor, -1, &part) && add_scaled(sum, e->args[0], part);
    case OP_ADD:
    case OP_SUB:
        return num_mul(factor, e->op == OP_SUB ? -1 : 1, &part) &&
               add_scaled(sum, e->args[0], factor) && add_scaled(sum, e->args[1], part);
    case OP_MUL:
        for (unsigned i = 0; i < 2; i++)
            if (e->args[i]->op == OP_INT)
                return num_mul(e->args[i]->integer, factor, &part) &&
                       add_scaled(sum, e->args[1 - i], part);
        return add_term(sum, e, factor);
    default:
        return add_term(sum, e, factor);
    }
}

bool
change__sum(const struct expr *e, struct sum *sum)
{
    *sum = (struct sum){0};
    return e->kind == KIND_INT && add_scaled(sum, e, 1);
}

/* What is added comes first, then what is taken away; the constant last, or first if nothing else
 * is added. */
const struct expr *
change__expr(struct ir *ir, const struct sum *sum)
{
    const struct expr *e = NULL, *constant = ir_int(ir, sum->constant);
    for (unsigned i = 0; i < sum->count; i++) {
        const struct expr *factor = ir_int(ir, sum->terms[i].factor);
        if (sum->terms[i].factor <= 0)
            continue;
        const struct expr *term = ir_binary(ir, OP_MUL, sum->terms[i].atom, factor);
        e = e == NULL ? term : ir_binary(ir, OP_ADD, e, term);
    }
    bool added = e != NULL;
    e = added ? e : constant;
    for (unsigned i = 0; i < sum->count; i++)
        if (sum->terms[i].factor < 0)
            e = ir_binary(
                ir, OP_SUB, e,
                ir_binary(ir, OP_MUL, sum->terms[i].atom, ir_int(ir, -sum->terms[i].factor)));
    return added ? ir_binary(ir, OP_ADD, e, constant) : e;
}

/* e = step*quotient + rest */
static bool
split_sum(const struct expr *e, int64_t step, struct sum *quotient, struct sum *rest)
{
    struct sum sum;
    if (!change__sum(e, &sum))
        return false;
    *quotient = *rest = (struct sum){0};
    for (unsigned i = 0; i < sum.count; i++) {
        bool whole = sum.terms[i].factor % step == 0;
        struct sum *to = whole ? quotient : rest;
        to->terms[to->count] = sum.terms[i];
        to->terms[to->count++].factor /= whole ? step : 1;
    }
    if (rest->count == 0) {
        quotient->constant = num_floor_div(sum.constant, step);
        rest->constant = num_floor_mod(sum.constant, step);
    } else if (sum.constant % step == 0)
        quotient->constant = sum.constant / step;
    else
        rest->constant = sum.constant;
    return true;
}

const struct expr *
change__quotient(struct ir *ir, const struct expr *e, int64_t step)
{
    struct sum quotient, rest;
    const struct expr *divisor = ir_int(ir, step);
    if (!split_sum(e, step, &quotient, &rest))
        return ir_binary(ir, OP_DIV, e, divisor);
    const struct expr *part = ir_binary(ir, OP_DIV, change__expr(ir, &rest), divisor);
    if (quotient.count == 0)
        return ir_binary(ir, OP_ADD, part, ir_int(ir, quotient.constant));
    if (part->op == OP_INT) {
        quotient.constant += part->integer;
        return change__expr(ir, &quotient);
    }
    return ir_binary(ir, OP_ADD, change__expr(ir, &quotient), part);
}

const struct expr *
change__remainder(struct ir *ir, const struct expr *e, int64_t step)
{
    struct sum quotient, rest;
    if (!split_sum(e, step, &quotient, &rest))
        return ir_binary(ir, OP_MOD, e, ir_int(ir, step));
    return ir_binary(ir, OP_MOD, change__expr(ir, &rest), ir_int(ir, step));
}

/* ---- moving ---- */

static const struct binder *
moved_binder(const struct move *move, const struct expr *e)
{
    struct binder *binder = arena_alloc(ir_arena(move->rewrite.ir), sizeof *binder);
    *binder = *e->binder;
    if (e->op == OP_REDUCE)
        binder->level = move->rank;
    else if (move->rewrite.replace[binder->level] != NULL) {
        assert(move->rewrite.replace[binder->level]->op == OP_INDEX);
        binder->level = move->rewrite.replace[binder->level]->level;
    }
    return binder;
}

static const struct expr *
leave_moving(struct rewrite *rewrite, const struct expr *e, const struct expr *const *args)
{
    struct move *move = rewrite->context;
    struct ir *ir = rewrite->ir;
    if (e == move->drop)
        return move->instead;
    if (e->op == OP_LOAD && move->load != NULL) {
        const struct expr *load = move->load(move, e, args);
        if (load != NULL)
            return load;
    }
    if (e->op == OP_LOAD && e->count > 0 &&
        memcmp(args, e->args, e->tensor->rank * sizeof *args) != 0)
        return change__load(move->edit, e->tensor, args,
                            e->count > e->tensor->rank ? args[e->tensor->rank] : NULL);
    if (e->op == OP_REDUCE)
        return ir_reduce(ir, moved_binder(move, e), args[0], e->count > 1 ? args[1] : NULL);
    if (e->op == OP_CAT)
        return ir_cat(ir, moved_binder(move, e), args);
    if (move->divides && (e->op == OP_DIV || e->op == OP_MOD) && e->kind == KIND_INT &&
        args[1]->op == OP_INT && args[1]->integer > 0)
        return e->op == OP_DIV ? change__quotient(ir, args[0], args[1]->integer)
                               : change__remainder(ir, args[0], args[1]->integer);
    return ir_with_args(ir, e, args);
}

void
change__begin_move(struct edit *edit, struct move *move, const struct expr *code, unsigned rank)
{
    const struct expr *reduction = change__reduction(edit, code);
    *move = (struct move){.edit = edit, .rank = rank};
    move->rewrite.ir = edit->ir;
    move->rewrite.leave = leave_moving;
    move->rewrite.pieces = PIECES_CODE;
    change__levels(change__stage(edit), move->rewrite.levels);
    for (unsigned i = 0; reduction != NULL && i < reduction->binder->count; i++)
        move->rewrite.replace[reduction->binder->level + i] = ir_index(edit->ir, rank + i);
}

const struct expr *
change__move(struct move *move, const struct expr *e)
{
    move->rewrite.context = move;
    return ir_rewrite(&move->rewrite, e);
}

/* ---- storing a tensor in another way ---- */

bool
change__is_copy(struct edit *edit, const struct tensor *tensor)
{
    const struct stage *own = tensor->stage;
    const char *name = change__stage(edit)->tensor->name;
    size_t length = strlen(name);
    if (own == NULL || own->rec >= 0 || tensor->output >= 0 || own->code->op != OP_LOAD ||
        strncmp(tensor->name, name, length) != 0 || tensor->name[length] != '.')
        return false;
    if (expr_default(own->code) != NULL && !expr_is_constant(expr_default(own->code)))
        return false;
    for (size_t i = 0; i < edit->program->stage_count; i++)
        if (i != edit->at &&
            find_node(edit, edit->program->stages[i].code, is_load_of, tensor) != NULL)
            return false;
    return true;
}

static bool
is_too_large(struct edit *edit, const struct tensor *old, const struct tensor *shape)
{
    int64_t count = 1, bytes = 0;
    bool fits = true;
    for (unsigned i = 0; i < shape->rank; i++)
        fits = fits && shape->size[i] > 0 && num_mul(count, shape->size[i], &count);
    fits = fits && num_mul(count, (int64_t)dtype_info[old->dtype].size, &bytes);
    if (fits && (count / MAX_GROWTH <= old->count || bytes <= MAX_BYTES))
        return false;
    change__refuse(edit,
                   "%s would grow to %lld times its size; at most %d times, or 64 MB, is allowed",
                   old->name, (long long)(fits ? count / old->count : INT32_MAX), MAX_GROWTH);
    return true;
}

/* The load of what the copy `stage` copies, by the new indices. */
static const struct expr *
copy_of_copy(struct edit *edit, const struct stage *stage, const struct layout *layout,
             const struct expr *fill)
{
    const struct expr *load = stage->code;
    const struct expr *subscripts[LANG_MAX_RANK];
    struct move move;
    change__begin_move(edit, &move, load, layout->rank);
    move.divides = true;
    for (unsigned i = 0; i < stage->tensor->rank; i++)
        move.rewrite.replace[i] = layout->from[i];
    for (unsigned i = 0; i < load->tensor->rank; i++)
        subscripts[i] = change__move(&move, load->args[i]);
    return change__load(edit, load->tensor, subscripts,
                        expr_default(load) ? expr_default(load) : fill);
}

/* Whether some subscript of the copy's load leaves what it copies, over these ranges. */
static bool
always_leaves(const struct expr *load, const struct level *levels)
{
    for (unsigned e = 0; e < load->tensor->rank; e++) {
        int64_t low, high;
        expr_interval(load->args[e], levels, &low, &high);
        if (high < 0 || low >= load->tensor->size[e])
            return true;
    }
    return false;
}

/* Whether the copy can be enlarged by reading on: what the layout takes from outside of the old
 * tensor must be the fill, so it must lie outside of what that is a copy of, too. */
static bool
can_enlarge(const struct tensor *old, const struct layout *layout)
{
    const struct expr *load = old->stage->code;
    struct level fresh[LANG_MAX_LEVELS] = {0}, levels[LANG_MAX_LEVELS] = {0};
    if (layout->fill == NULL)
        return true; /* nobody looks */
    if (expr_default(load) != NULL && !same_number(expr_default(load), layout->fill))
        return false;
    for (unsigned i = 0; i < layout->rank; i++)
        fresh[i].high = layout->size[i] - 1;
    for (unsigned d = 0; d < old->rank; d++)
        expr_interval(layout->from[d], fresh, &levels[d].low, &levels[d].high);
    for (unsigned d = 0; d < old->rank; d++) {
        struct level all = levels[d];
        levels[d].high = -1;
        if (all.low < 0 && !always_leaves(load, levels))
            return false;
        levels[d] = (struct level){.low = old->size[d], .high = all.high};
        if (all.high >= old->size[d] && !always_leaves(load, levels))
            return false;
        levels[d] = all;
    }
    return true;
}

static struct tensor *
restore_copy(struct edit *edit, struct tensor *old, struct tensor *tensor,
             const struct layout *layout, const struct expr *fill)
{
    struct stage *stage = &edit->program->stages[old->stage - edit->program->stages];
    const struct expr *code = copy_of_copy(edit, stage, layout, fill);
    tensor->number = old->number;
    edit->program->tensors[old->number] = tensor;
    stage->tensor = tensor;
    memcpy(stage->index, layout->index, sizeof stage->index);
    tensor->stage = stage;
    change__set_code(edit, stage, code);
    return tensor;
}

struct tensor *
change__store_as(struct edit *edit, struct tensor *old, const struct layout *layout, bool in_place)
{
    const struct stage *reader = change__stage(edit);
    struct tensor shape = {.name = old->name, .dtype = old->dtype, .rank = layout->rank};
    const struct expr *fill = layout->fill                               ? layout->fill
                              : dtype_info[old->dtype].kind == KIND_BOOL ? ir_bool(edit->ir, false)
                                                                         : ir_int(edit->ir, 0);
    memcpy(shape.size, layout->size, sizeof shape.size);
    if (is_too_large(edit, old, &shape))
        return NULL;
    if (in_place && change__is_copy(edit, old) && can_enlarge(old, layout))
        return restore_copy(edit, old, change__tensor(edit, &shape), layout, fill);
    shape.name = change__name(edit, old->name);
    struct stage stage = {.tensor = change__tensor(edit, &shape), .rec = -1};
    memcpy(stage.index, layout->index, sizeof stage.index);
    size_t before = edit->at;
    if (reader->rec >= 0)
        before = edit->program->recs[reader->rec].first;
    struct stage *put = change__insert(edit, before, &stage);
    change__set_code(edit, put, change__load(edit, old, layout->from, fill));
    return put->tensor;
}

/* ---- names of dimensions ---- */

struct naming {
    const struct tensor *tensor;
    const char **names;
};

/* y of y*2+r: a left index that stands by itself, else another, else anything below. */
static unsigned
main_level(const struct expr *e, unsigned rank)
{
    struct sum sum;
    unsigned level = (unsigned)__builtin_ctz(e->free);
    bool found = false;
    if (!change__sum(e, &sum))
        return level;
    for (unsigned i = 0; i < sum.count; i++) {
        const struct expr *atom = sum.terms[i].atom;
        if (atom->op == OP_INDEX && (!found || (level >= rank && atom->level < rank))) {
            level = atom->level;
            found = true;
        }
    }
    return level;
}

static void
name_dimensions(struct visit *visit, const struct expr *load, const struct level *levels)
{
    struct naming *naming = visit->context;
    unsigned rank = change__stage(visit->edit)->tensor->rank;
    if (load->tensor != naming->tensor)
        return;
    for (unsigned d = 0; d < load->tensor->rank; d++)
        if (naming->names[d] == NULL && load->args[d]->free != 0)
            naming->names[d] = levels[main_level(load->args[d], rank)].name;
}

void
change__dimension_names(struct edit *edit, const struct tensor *tensor,
                        const char *names[LANG_MAX_RANK])
{
    struct stage made = {0};
    struct naming naming = {tensor, names};
    struct visit visit = {edit, name_dimensions, &naming};
    memset(names, 0, LANG_MAX_RANK * sizeof *names);
    if (change__is_copy(edit, tensor))
        memcpy(names, tensor->stage->index, LANG_MAX_RANK * sizeof *names);
    else
        change__visit(&visit, change__stage(edit)->code);
    for (unsigned d = 0; d < tensor->rank; d++) {
        const char *wish = names[d] ? names[d] : arena_printf(edit->arena, "i%u", d);
        names[d] = made.index[d] = change__index(edit, &made, d, NULL, wish);
    }
}
