/* flat S y x: two adjacent left indices become one, so that vectors run across the ends of rows.
 *
 *     Y[n,k,y,x] = relu(sum[c,r,s](F[k,c,r,s]*Y.X[n,c,y+r,x+s]) + b[k])   Y.X 58 wide, Y 56
 *     Y.X[n,c,yx:3366]    = X[n,c,yx/58-1,yx%58-1 | 0]
 *     Y.yx[n,k,yx:3248]   = relu(sum[c,r,s](F[k,c,r,s]*Y.X[n,c,yx+r*58+s]) + b[k])
 *     Y[n,k,y,x]          = Y.yx[n,k,y*58+x]
 *
 * Rows are as wide as those of what is read; the columns past the end of Y's rows are computed and
 * not used. What S reads is stored with its two dimensions as one and, at the end, as much longer
 * as the last of those columns needs: in the copy that `pad` or `phase` made for S, else in a new
 * one. What is read at y, x themselves and is as wide as S has its elements in that order already:
 * then the copy is none (same.c).
 *
 * The epilogue goes along if it reads what it reads in the same way; otherwise the new stage holds
 * the reduction alone, in the accumulator's type, and S computes the epilogue while it copies. */
#include "coder/change_edit_int.h"

#include <string.h>

#define MAX_SOURCES 64

struct source { /* a tensor read with y and x */
    struct tensor *tensor;
    const struct tensor *stored; /* as it is read after */
    unsigned dimension;          /* of y; that of x follows */
    int64_t last;                /* the largest y*width+x + .. read */
};

struct flat {
    struct edit *edit;
    unsigned y;              /* its level; x has the next */
    const struct expr *part; /* of S's code that becomes S.yx: all, or the reduction */
    struct source sources[MAX_SOURCES];
    unsigned source_count;
    int64_t width; /* of a row; 0: not known yet */
    const char *name;
};

static uint32_t
both_levels(const struct flat *flat)
{
    return 3u << flat->y;
}

/* ---- which reads fit ---- */

/* e = index of this level + something free of y and x */
static bool
is_shifted(const struct flat *flat, const struct expr *e, unsigned level)
{
    struct sum sum;
    bool found = false;
    if (!change__sum(e, &sum))
        return false;
    for (unsigned i = 0; i < sum.count; i++) {
        const struct expr *atom = sum.terms[i].atom;
        if (atom->op == OP_INDEX && atom->level == level && sum.terms[i].factor == 1)
            found = true;
        else if (atom->free & both_levels(flat) && sum.terms[i].factor != 0)
            return false;
    }
    return found;
}

static struct source *
source_of(struct flat *flat, const struct tensor *tensor, unsigned dimension)
{
    for (unsigned i = 0; i < flat->source_count; i++)
        if (flat->sources[i].tensor == tensor)
            return flat->sources[i].dimension == dimension ? &flat->sources[i] : NULL;
    if (flat->source_count == MAX_SOURCES)
        return NULL;
    struct source *source = &flat->sources[flat->source_count++];
    *source = (struct source){.dimension = dimension};
    source->tensor = flat->edit->program->tensors[tensor->number];
    return source;
}

static bool
refuse_read(struct flat *flat, const struct expr *load, const char *how, const char *legal)
{
    return change__refuse(flat->edit, "%s is read in %s %s; %s", load->tensor->name,
                          change__stage(flat->edit)->tensor->name, how, legal);
}

static bool
take_shape(struct flat *flat, const struct expr *load, unsigned d)
{
    const struct tensor *tensor = load->tensor;
    struct source *source = source_of(flat, tensor, d);
    if (source == NULL)
        return refuse_read(flat, load, "in different places of its shape, or with too many others",
                           "y and x must be the same two dimensions always");
    if (flat->width == 0)
        flat->width = tensor->size[d + 1];
    if (flat->width == tensor->size[d + 1])
        return true;
    return change__refuse(flat->edit,
                          "%s has rows of %lld, another tensor that %s reads of %lld; "
                          "all must be of one width",
                          tensor->name, (long long)tensor->size[d + 1],
                          change__stage(flat->edit)->tensor->name, (long long)flat->width);
}

/* X[.., y+f, x+g, ..] without a default */
static bool
take_load(struct flat *flat, const struct expr *load)
{
    const struct stage *stage = change__stage(flat->edit);
    const char *y = stage->index[flat->y], *x = stage->index[flat->y + 1];
    unsigned rank = load->tensor->rank, d = 0;
    if (!(load->free & both_levels(flat)))
        return true;
    if (expr_default(load) != NULL)
        return refuse_read(flat, load, "with a default",
                           arena_printf(flat->edit->arena, "`pad %s %s` first", stage->tensor->name,
                                        load->tensor->name));
    while (d < rank && !(load->args[d]->free & both_levels(flat)))
        d++;
    bool fits = d + 1 < rank && is_shifted(flat, load->args[d], flat->y) &&
                is_shifted(flat, load->args[d + 1], flat->y + 1);
    for (unsigned i = 0; i < rank; i++)
        fits = fits && (i == d || i == d + 1 || !(load->args[i]->free & both_levels(flat)));
    if (fits)
        return take_shape(flat, load, d);
    return refuse_read(flat, load,
                       arena_printf(flat->edit->arena,
                                    "other than at %s+.., %s+.. in two adjacent "
                                    "dimensions",
                                    y, x),
                       "`phase` first if the stride is not 1");
}

static bool
fits(struct flat *flat, const struct expr *e, uint8_t *seen)
{
    if (!(e->free & both_levels(flat)) || seen[e->id])
        return true;
    seen[e->id] = 1;
    if (e->op == OP_LOAD)
        return take_load(flat, e);
    if (e->op == OP_INDEX || e->op == OP_CAT) {
        const struct stage *stage = change__stage(flat->edit);
        unsigned level = e->op == OP_CAT ? e->binder->level : e->level;
        if (e->op == OP_INDEX || both_levels(flat) >> level & 1)
            return change__refuse(flat->edit,
                                  "%s is used in %s outside of subscripts; only an "
                                  "index of subscripts can be flat",
                                  stage->index[level], stage->tensor->name);
    }
    for (unsigned i = 0; i < e->count; i++)
        if (!fits(flat, e->args[i], seen))
            return false;
    return true;
}

static bool
part_fits(struct flat *flat, const struct expr *part)
{
    uint8_t *seen = arena_array(flat->edit->arena, ir_count(flat->edit->ir), sizeof *seen);
    flat->part = part;
    flat->source_count = 0;
    flat->width = 0;
    return fits(flat, part, seen);
}

/* Rows are those of what is read; with nothing to read, or what is as wide as S, those of S. */
static bool
choose_part(struct flat *flat)
{
    struct edit *edit = flat->edit;
    const struct stage *stage = change__stage(edit);
    const struct expr *reduce = change__reduction(edit, stage->code);
    bool done = part_fits(flat, stage->code);
    const char *why = edit->why;
    if (!done && reduce != NULL && reduce != stage->code) {
        edit->why = NULL;
        done = part_fits(flat, reduce);
        if (done && reduce->kind == KIND_INT) {
            struct level levels[LANG_MAX_LEVELS];
            int64_t low, high;
            change__levels(stage, levels);
            expr_interval(reduce, levels, &low, &high);
            if (low < INT32_MIN || high > INT32_MAX) {
                edit->why = why; /* the epilogue cannot be taken apart: the first reason holds */
                done = false;
            }
        }
    }
    if (done && flat->width == 0)
        flat->width = stage->tensor->size[flat->y + 1];
    return done;
}

/* ---- what is read ---- */

static void
take_last(struct visit *visit, const struct expr *load, const struct level *levels)
{
    struct flat *flat = visit->context;
    const struct tensor *whole = change__stage(flat->edit)->tensor;
    for (unsigned i = 0; i < flat->source_count; i++) {
        struct source *source = &flat->sources[i];
        int64_t low, high, y, x;
        if (source->tensor != load->tensor)
            continue;
        expr_interval(load->args[source->dimension], levels, &low, &y);
        expr_interval(load->args[source->dimension + 1], levels, &low, &x);
        /* the last column is not that of S but that of the row */
        high = y * flat->width + x + flat->width - whole->size[flat->y + 1];
        source->last = high > source->last ? high : source->last;
    }
}

/* Whether S also reads the tensor without y and x, or outside of the part. */
static bool
is_read_otherwise(const struct flat *flat, const struct expr *e, const struct tensor *tensor,
                  bool inside, uint8_t *seen)
{
    inside = inside || e == flat->part;
    uint8_t mark = inside ? 1 : 2;
    if (seen[e->id] & mark)
        return false;
    seen[e->id] |= mark;
    if (e->op == OP_LOAD && e->tensor == tensor && (!inside || !(e->free & both_levels(flat))))
        return true;
    for (unsigned i = 0; i < e->count; i++)
        if (is_read_otherwise(flat, e->args[i], tensor, inside, seen))
            return true;
    return false;
}

static bool
store_flat(struct flat *flat, struct source *source)
{
    struct edit *edit = flat->edit;
    struct ir *ir = edit->ir;
    const struct tensor *old = source->tensor;
    unsigned d = source->dimension;
    struct layout layout = {.rank = old->rank - 1};
    const char *names[LANG_MAX_RANK];
    change__dimension_names(edit, old, names);
    for (unsigned i = 0; i < old->rank; i++) {
        unsigned to = i > d ? i - 1 : i;
        layout.size[to] = old->size[i];
        layout.index[to] = names[i];
        layout.from[i] = ir_index(ir, to);
    }
    const struct expr *q = ir_index(ir, d), *width = ir_int(ir, flat->width);
    int64_t all = old->size[d] * flat->width;
    layout.size[d] = source->last >= all ? source->last + 1 : all;
    layout.index[d] = arena_printf(edit->arena, "%s%s", names[d], names[d + 1]);
    layout.from[d] = ir_binary(ir, OP_DIV, q, width);
    layout.from[d + 1] = ir_binary(ir, OP_MOD, q, width);
    uint8_t *seen = arena_array(edit->arena, ir_count(ir), sizeof *seen);
    bool alone = !is_read_otherwise(flat, change__stage(edit)->code, old, false, seen);
    source->stored = change__store_as(edit, source->tensor, &layout, alone);
    return source->stored != NULL;
}

static bool
store_sources(struct flat *flat)
{
    struct edit *edit = flat->edit;
    struct visit visit = {edit, take_last, flat};
    change__visit(&visit, flat->part);
    for (unsigned i = 0; i < flat->source_count; i++)
        if (!store_flat(flat, &flat->sources[i]))
            return false;
    return true;
}

/* ---- S.yx and S ---- */

/* `args` have 0 for y and x. */
static const struct expr *
move_load(struct move *move, const struct expr *load, const struct expr *const *args)
{
    struct flat *flat = move->context;
    struct ir *ir = move->rewrite.ir;
    const struct expr *yx = ir_index(ir, flat->y), *width = ir_int(ir, flat->width);
    const struct expr *subscripts[LANG_MAX_RANK];
    const struct source *source = NULL;
    for (unsigned i = 0; i < flat->source_count; i++)
        if (flat->sources[i].tensor == load->tensor && load->free & both_levels(flat))
            source = &flat->sources[i];
    if (source == NULL)
        return NULL;
    unsigned d = source->dimension;
    for (unsigned i = 0; i < load->tensor->rank; i++)
        subscripts[i > d ? i - 1 : i] = args[i];
    subscripts[d] = ir_binary(
        ir, OP_ADD, ir_binary(ir, OP_ADD, yx, ir_binary(ir, OP_MUL, args[d], width)), args[d + 1]);
    return change__load(flat->edit, source->stored, subscripts, NULL);
}

static struct tensor *
put_flat(struct flat *flat)
{
    struct edit *edit = flat->edit;
    struct ir *ir = edit->ir;
    const struct stage *whole = change__stage(edit);
    const struct tensor *of = whole->tensor;
    struct tensor shape = {.rank = of->rank - 1, .dtype = of->dtype};
    struct stage stage = {.rec = -1};
    struct move move;
    shape.name = change__name(edit, flat->name);
    if (flat->part != whole->code)
        shape.dtype = change__dtype(flat->part->kind);
    change__begin_move(edit, &move, whole->code, shape.rank);
    move.load = move_load;
    move.context = flat;
    for (unsigned l = 0; l < of->rank; l++) {
        unsigned to = l > flat->y ? l - 1 : l;
        shape.size[to] = of->size[l];
        stage.index[to] = whole->index[l];
        move.rewrite.replace[l] = ir_index(ir, to);
    }
    move.rewrite.replace[flat->y] = move.rewrite.replace[flat->y + 1] = ir_int(ir, 0);
    shape.size[flat->y] = of->size[flat->y] * flat->width;
    stage.index[flat->y] = change__index(edit, whole, of->rank, whole->code, flat->name);
    stage.tensor = change__tensor(edit, &shape);
    const struct expr *code = change__move(&move, flat->part);
    struct stage *put = change__insert(edit, edit->at, &stage);
    change__set_code(edit, put, code);
    return put->tensor;
}

/* S reads it back. */
static void
copy_out(struct flat *flat, const struct tensor *merged)
{
    struct edit *edit = flat->edit;
    struct ir *ir = edit->ir;
    struct stage *stage = change__stage(edit);
    const struct expr *subscripts[LANG_MAX_RANK];
    for (unsigned l = 0; l < merged->rank; l++)
        subscripts[l] = ir_index(ir, l > flat->y ? l + 1 : l);
    subscripts[flat->y] =
        ir_binary(ir, OP_ADD, ir_binary(ir, OP_MUL, ir_index(ir, flat->y), ir_int(ir, flat->width)),
                  ir_index(ir, flat->y + 1));
    struct move move;
    change__begin_move(edit, &move, stage->code, stage->tensor->rank);
    move.drop = flat->part;
    move.instead = change__load(edit, merged, subscripts, NULL);
    change__set_code(edit, stage, change__move(&move, stage->code));
}

static bool
find_levels(struct flat *flat)
{
    struct edit *edit = flat->edit;
    const struct stage *stage = change__stage(edit);
    const char *names[2] = {edit->line->name, edit->line->other};
    int levels[2];
    for (unsigned i = 0; i < 2; i++) {
        levels[i] = change__left(stage, names[i]);
        if (levels[i] < 0)
            return change__refuse(edit, "%s is no left index of %s; those are %s", names[i],
                                  stage->tensor->name,
                                  change__list(edit, stage->index, stage->tensor->rank));
    }
    if (levels[1] != levels[0] + 1)
        return change__refuse(edit, "%s does not follow %s in %s[%s]; only neighbours can be flat",
                              names[1], names[0], stage->tensor->name,
                              change__list(edit, stage->index, stage->tensor->rank));
    if (stage->rec >= 0)
        return change__refuse(edit,
                              "%s is part of a rec block, which is computed step by step; a "
                              "stage outside of one is legal",
                              stage->tensor->name);
    flat->y = (unsigned)levels[0];
    flat->name = arena_printf(edit->arena, "%s%s", names[0], names[1]);
    return true;
}

bool
change__flat(struct edit *edit)
{
    struct flat flat = {.edit = edit};
    if (!find_levels(&flat) || !choose_part(&flat) || !store_sources(&flat))
        return false;
    copy_out(&flat, put_flat(&flat));
    return true;
}
