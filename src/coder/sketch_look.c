/* Which index a stage has in lanes, and which one shares the vectors that it loads. */
#include "coder/sketch_int.h"
#include "coder/view_int.h"

static unsigned
bad_loads_in(const struct expr *e, unsigned level)
{
    const struct expr *loads[VIEW_LOADS];
    unsigned bad = 0;
    size_t count = view_loads(e, loads);
    for (size_t i = 0; i < count; i++) {
        int64_t stride;
        if (!view_stride(loads[i], level, &stride) || (stride != 0 && stride != 1))
            bad++;
    }
    return bad;
}

/* Loads that a vector of this level cannot read in one piece; what is counted may be read by the
 * filter alone. */
static unsigned
bad_loads(const struct look *look, unsigned level)
{
    const struct expr *filter = look->work->reduce != NULL ? expr_filter(look->work->reduce) : NULL;
    return bad_loads_in(look->body, level) +
           (filter != NULL && filter->loads ? bad_loads_in(filter, level) : 0);
}

static void
choose_vector(struct look *look)
{
    const struct work *work = look->work;
    unsigned best_bad = 0;
    int64_t best_extent = 0;
    look->vector = -1;
    for (unsigned l = 0; l < work->levels; l++) {
        bool last = work->rank > 0 && l == work->rank - 1;
        bool carried = work->stage->rec >= 0 && l == work->stage->carried;
        if ((l < work->rank && !last) || carried || work->extent[l] < 2)
            continue;
        unsigned bad = 2 * bad_loads(look, l) + (l >= work->rank);
        int64_t extent = work->extent[l];
        bool wide = extent >= work->lanes, was_wide = best_extent >= work->lanes;
        bool longer = wide || extent >= best_extent; /* two terms are no vector */
        if (look->vector < 0 || (wide && !was_wide) ||
            (wide == was_wide && bad < best_bad && longer)) {
            look->vector = (int)l;
            best_bad = bad;
            best_extent = extent;
        }
    }
    look->gathers = best_bad >= 2;
}

static void
choose_other(struct look *look)
{
    const struct work *work = look->work;
    const struct expr *loads[VIEW_LOADS];
    int64_t best = 1;
    look->other = -1;
    size_t count = view_loads(look->body, loads);
    for (unsigned l = 0; l < work->rank; l++) {
        bool reused = false, needed = false;
        if ((int)l == look->vector || (work->stage->rec >= 0 && l == work->stage->carried))
            continue;
        for (size_t i = 0; i < count; i++) {
            bool has_vector = loads[i]->free & 1u << look->vector, has = loads[i]->free & 1u << l;
            reused = reused || (has_vector && !has);
            needed = needed || (has_vector && has);
        }
        if (reused && !needed && work->extent[l] > best) {
            look->other = (int)l;
            best = work->extent[l];
        }
    }
}

/* A window that no other index shares: neighbouring rows read much the same. */
static void
choose_window(struct look *look)
{
    enum { MOST_TERMS = 64 };
    const struct work *work = look->work;
    const struct expr *loads[VIEW_LOADS];
    int64_t terms = 1;
    for (unsigned l = work->rank; l < work->levels; l++)
        terms *= work->extent[l];
    if (look->other >= 0 || look->vector != (int)work->rank - 1 || work->rank < 2 ||
        work->levels == work->rank || terms > MOST_TERMS || work->stage->rec >= 0)
        return;
    unsigned row = work->rank - 2;
    size_t count = view_loads(look->body, loads);
    for (size_t i = 0; i < count; i++)
        for (unsigned d = 0; d < loads[i]->tensor->rank; d++)
            if ((loads[i]->args[d]->free & 1u << row) && loads[i]->args[d]->op != OP_INDEX)
                look->window = true;
    if (look->window)
        look->other = (int)row;
}

static int64_t
row_in(const struct expr *e, unsigned level)
{
    int64_t row = 0;
    if (!(e->free & 1u << level))
        return 0;
    if ((e->op == OP_DIV || e->op == OP_MOD) && e->args[0]->op == OP_INDEX &&
        e->args[1]->op == OP_INT)
        return e->args[1]->integer;
    for (unsigned i = 0; i < e->count && row == 0; i++)
        row = row_in(e->args[i], level);
    return row;
}

struct look
sketch_look(struct sketcher *s, const struct work *work)
{
    struct look look = {.work = work, .s = s, .other = -1};
    look.body = work->reduce != NULL ? work->reduce->args[0] : work->code;
    if (sketch_is_by_filters(s, work)) {
        look.vector = (int)work->rank - 1;
        choose_other(&look);
        return look;
    }
    choose_vector(&look);
    if (look.vector >= (int)work->rank && work->rank > 0 &&
        work->extent[work->rank - 1] >= work->lanes) {
        /* a product of matrices: what the lanes would gather is copied, each element used often */
        struct look left = look;
        left.vector = (int)work->rank - 1;
        left.gathers = true;
        choose_other(&left);
        bool dots = left.other >= 0 && sketch_is_dots(&look, left.other);
        if (left.other >= 0 && work->extent[left.other] >= 4 &&
            sketch_ask_if(s, work->tensor->name, "left lanes",
                          !(dots && sketch_has_few_rows(&look, left.other))))
            return left;
        if (dots) {
            look.dots = true;
            look.other = left.other;
            return look;
        }
    }
    if (look.vector >= 0) {
        choose_other(&look);
        choose_window(&look);
        look.row = row_in(look.body, (unsigned)look.vector);
    }
    return look;
}
