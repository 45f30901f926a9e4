/* Looking at a stage's code: what occurs in it, what it reads and how. */
#include "coder/change_edit_int.h"

#include "base/buf.h"

#include <math.h>
#include <string.h>

/* ---- searching ---- */

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
    const int *level = search->context;
    return e->op == OP_CAT && (*level < 0 || e->binder->level == (unsigned)*level);
}

bool
change__cuts(struct edit *edit, const struct expr *e, int level)
{
    return find_node(edit, e, is_cut, &level) != NULL;
}

static bool
is_load_of(const struct search *search, const struct expr *e)
{
    return e->op == OP_LOAD && e->tensor == search->context;
}

bool
change__reads_any(struct edit *edit, const struct expr *e, const struct tensor *tensor)
{
    return e->loads && find_node(edit, e, is_load_of, tensor) != NULL;
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
        struct tensor *tensor = change__find_tensor(edit->program, names[i]);
        if (tensor == NULL || !change__reads_any(edit, stage->code, tensor))
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

bool
change__same_number(const struct expr *a, const struct expr *b)
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
        change__refuse(
            edit, "%s is %s, which does not hold its default %g in %s; write one that it holds",
            tensor->name, dtype_info[tensor->dtype].name, expr_real(fill), stage);
    else if (reads->fill != NULL && !change__same_number(reads->fill, fill))
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
    *reads = (struct reads){.tensor = tensor};
    struct visit visit = {edit, take_read, reads};
    change__visit(&visit, change__stage(edit)->code);
    return edit->why == NULL;
}
