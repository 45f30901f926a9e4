/* What a schedule does, in words. The clauses of a line are made from its view, so that sizes are
 * those that really occur. */
#include "coder/view_int.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#define MOST_STAGES 8 /* more than these are told by their cost */

struct teller {
    struct arena *arena;
    const struct schedule *schedule;
    const struct coder_machine *machine; /* NULL: caches are not named */
    bool blank; /* names of tensors are left out: equal stages give equal texts */
};

/* ---- lists ---- */

#define MOST_NAMES 24

struct list {
    const char *name[MOST_NAMES];
    size_t count, more;
};

static void
list_add(struct list *list, const char *name)
{
    if (list->count < MOST_NAMES)
        list->name[list->count++] = name;
    else
        list->more++;
}

/* "a", "a and b", "a, b and c", "a, b and 4 others" */
static const char *
list_text(struct arena *arena, const struct list *list, size_t most)
{
    struct buf buf = buf_in(arena);
    size_t shown = list->count <= most ? list->count : most - 1;
    size_t rest = list->count - shown + list->more;
    for (size_t i = 0; i < shown; i++) {
        bool last = i + 1 == shown && rest == 0;
        buf_printf(&buf, "%s%s", i == 0 ? "" : last ? " and " : ", ", list->name[i]);
    }
    if (rest > 0)
        buf_printf(&buf, " and %zu others", rest);
    return buf.length ? buf.data : "";
}

static const char *
tensor_name(const struct teller *teller, const struct tensor *tensor)
{
    return teller->blank ? "it" : tensor->name;
}

static const char *
stage_name(const struct teller *teller, size_t stage)
{
    return tensor_name(teller, teller->schedule->works[stage].tensor);
}

static const char *
amount(const struct teller *teller, int64_t count, const char *index)
{
    return arena_printf(teller->arena, "%" PRId64 " %s", count, index);
}

/* ---- where: threads, pieces, copies, producers ---- */

static const char *
index_of(const struct view *view, const struct view_loop *loop)
{
    return view->work->index[loop->token->level];
}

static bool
runs_once(const struct view_loop *loop)
{
    return loop->trips <= 1;
}

static void
tell_threads(const struct teller *teller, const struct view *view, struct buf *buf)
{
    struct list list = {0};
    if (view->work->stage->rec >= 0)
        buf_printf(buf, view->scan ? "in order along %s" : "step by step along %s",
                   view->work->stage->index[view->work->stage->carried]);
    for (size_t i = view->place; i < view->count; i++) {
        const struct view_loop *loop = &view->loops[i];
        if (loop->mark != MARK_THREADS || runs_once(loop))
            continue;
        int64_t step = loop->extent[loop->token->level];
        list_add(&list, step > 1 ? arena_printf(teller->arena, "blocks of %" PRId64 " %s", step,
                                                index_of(view, loop))
                                 : index_of(view, loop));
    }
    if (list.count > 0 && buf->length > 0)
        buf_puts(buf, ", ");
    if (list.count == 1 && strchr(list.name[0], ' ') == NULL)
        buf_printf(buf, "%s is shared among the threads", list.name[0]);
    else if (list.count > 0)
        buf_printf(buf, "%s are shared among the threads", list_text(teller->arena, &list, 8));
    else if (view->work->fate == FATE_ROOT && view->work->stage->rec < 0)
        buf_puts(buf, "one thread does it all");
}

/* Nothing but copies of the code is left of the loop's index inside of it. */
static bool
is_last_cut(const struct view *view, size_t at)
{
    for (size_t i = at + 1; i < view->count; i++)
        if (view->loops[i].moves == view->loops[at].moves &&
            (view->loops[i].mark == MARK_NONE || view->loops[i].mark == MARK_THREADS))
            return false;
    return true;
}

/* Loops that cut an index for the caches. */
static bool
is_cut(const struct view *view, size_t at)
{
    const struct view_loop *loop = &view->loops[at];
    return loop->mark == MARK_NONE && loop->token != NULL && loop->extent[loop->token->level] > 1 &&
           !runs_once(loop) && !is_last_cut(view, at);
}

static void
tell_pieces(const struct teller *teller, const struct view *view, struct buf *buf)
{
    struct list list = {0};
    for (size_t i = view->place; i < view->count; i++) {
        const struct view_loop *loop = &view->loops[i];
        if (is_cut(view, i))
            list_add(&list, amount(teller, loop->extent[loop->token->level], index_of(view, loop)));
    }
    if (list.count > 0)
        buf_printf(buf, "%sin pieces of %s", buf->length ? ", " : "",
                   list_text(teller->arena, &list, 8));
}

static void
tell_packs(const struct teller *teller, const struct view *view, struct buf *buf)
{
    struct list shared = {0}, own = {0};
    bool inside = false, parallel = false;
    for (size_t i = 0; i < view->line->count; i++)
        parallel = parallel || (view->line->tokens[i].form == TOKEN_LOOP &&
                                view->line->tokens[i].mark == MARK_THREADS);
    for (size_t i = 0; i < view->line->count; i++) {
        const struct token *token = &view->line->tokens[i];
        inside = inside || (token->form == TOKEN_LOOP && token->mark == MARK_THREADS);
        if (token->form == TOKEN_PACK)
            list_add(inside ? &own : &shared, tensor_name(teller, token->tensor));
    }
    if (shared.count > 0)
        buf_printf(buf, "; %s is copied in the order in which it is read%s",
                   list_text(teller->arena, &shared, 8), parallel ? ", once for all threads" : "");
    if (own.count > 0)
        buf_printf(buf, "; each thread copies its part of %s in the order in which it reads it",
                   list_text(teller->arena, &own, 8));
}

static void
tell_producers(const struct teller *teller, const struct view *view, struct buf *buf)
{
    struct list made = {0};
    bool outside = false;
    for (size_t i = 0; i < view->line->count; i++) {
        const struct token *token = &view->line->tokens[i];
        if (token->form != TOKEN_DO)
            continue;
        struct list guests = {0};
        const struct line *line = &teller->schedule->lines[token->stage];
        for (size_t g = 0; g < line->count; g++)
            if (line->tokens[g].form == TOKEN_WITH)
                list_add(&guests, stage_name(teller, line->tokens[g].stage));
        const char *name = stage_name(teller, token->stage);
        if (guests.count > 0)
            name = arena_printf(teller->arena, "%s (with %s)", name,
                                list_text(teller->arena, &guests, 8));
        list_add(&made, name);
        outside = outside || (i > 0 && view->line->tokens[0].form == TOKEN_LOOP);
    }
    if (made.count > 0)
        buf_printf(buf, "; %s%s %s computed first, as far as it is read there",
                   outside ? "for each of them " : "", list_text(teller->arena, &made, 8),
                   made.count > 1 ? "are" : "is");
}

/* What one turn of the innermost cut touches, or of the loop that is shared out, and which cache
 * keeps it until the next loops have gone over it. */
static void
tell_cache(const struct teller *teller, const struct view_group *group, struct buf *buf)
{
    const struct view *view = group->views[0];
    const struct coder_machine *machine = teller->machine;
    size_t depth = 0;
    if (machine == NULL || view->guest)
        return;
    for (size_t i = view->place; i < view->count; i++)
        if (is_cut(view, i) || (view->loops[i].mark == MARK_THREADS && !runs_once(&view->loops[i])))
            depth = i + 1;
    if (depth == 0)
        return;
    const struct {
        const char *name;
        int64_t bytes;
    } caches[] = {{"first", machine->l1}, {"second", machine->l2}, {"last", machine->l3}};
    double bytes = view_touched(teller->arena, group, depth);
    for (size_t i = 0; i < sizeof caches / sizeof *caches; i++)
        if (view_fits(bytes, (double)caches[i].bytes)) {
            buf_printf(buf, "; one turn of %s touches %s, which the %s cache keeps",
                       index_of(view, &view->loops[depth - 1]),
                       view_size_text(teller->arena, bytes), caches[i].name);
            return;
        }
}

/* ---- what: registers, lanes, copies of the code ---- */

/* Does a loop end with this bound, and not only copies of code, which have all terms? */
static bool
ends_a_loop(const struct view *view, const struct bound *bound)
{
    for (size_t i = view->place; i < view->count; i++)
        for (unsigned l = view->work->rank; l < view->work->levels; l++)
            if (view->loops[i].mark == MARK_NONE && view->loops[i].moves & 1u << l &&
                bound->coefficient[l] != 0)
                return true;
    return false;
}

static const char *
how_far(const struct view *view)
{
    const struct work *work = view->work;
    bool outside = false;
    for (size_t b = 0; b < work->bound_count; b++) {
        if (!work->bounds[b].outside)
            return " as far as its condition holds";
        outside = outside || ends_a_loop(view, &work->bounds[b]);
    }
    return outside ? " as far as they read what is there" : "";
}

static void
tell_registers(const struct teller *teller, const struct view *view, struct buf *buf)
{
    const struct work *work = view->work;
    struct list tile = {0}, over = {0};
    if (work->reduce == NULL)
        return;
    const int64_t *extent = view_extent(view, view->acc);
    for (unsigned l = 0; l < work->levels; l++)
        if (l >= work->rank && work->extent[l] > 1)
            list_add(&over, work->index[l]);
    if (!view->in_registers) {
        buf_printf(buf, "results are added up in memory over %s",
                   over.count ? list_text(teller->arena, &over, 8) : "one term");
        return;
    }
    struct buf sizes = buf_in(teller->arena);
    for (unsigned l = 0; l < work->rank; l++)
        if (extent[l] > 1) {
            list_add(&tile, "");
            buf_printf(&sizes, "%s%" PRId64 " %s", sizes.length ? " by " : "", extent[l],
                       work->index[l]);
        }
    if (tile.count > 0)
        buf_printf(buf, "tiles of %s stay in registers", sizes.data);
    else
        buf_puts(buf, "each result stays in a register");
    if (over.count > 0)
        buf_printf(buf, " while %s %s%s", list_text(teller->arena, &over, 8),
                   over.count > 1 ? "run" : "runs", view->guest ? "" : how_far(view));
}

/* Unrolled vectors of the index in lanes are told with it. */
static double
vectors_of(const struct view *view, enum mark mark)
{
    double vectors = 1;
    for (size_t i = view->place; i < view->count; i++)
        if (view->loops[i].mark == mark && view->vector >= 0 &&
            (view->loops[i].moves & 1u << view->vector))
            vectors *= view->loops[i].trips;
    return vectors;
}

static void
tell_lanes(const struct teller *teller, const struct view *view, struct buf *buf)
{
    struct list unrolled = {0}, own = {0};
    for (size_t i = view->place; i < view->count; i++) {
        const struct view_loop *loop = &view->loops[i];
        if (runs_once(loop) || loop->token == NULL || (int)loop->token->level == view->vector)
            continue;
        if (loop->mark == MARK_UNROLL)
            list_add(&unrolled, index_of(view, loop));
        if (loop->mark == MARK_OWN)
            list_add(&own, index_of(view, loop));
    }
    if (view->vector >= 0) {
        double own_vectors = vectors_of(view, MARK_OWN), together = vectors_of(view, MARK_UNROLL);
        buf_printf(buf, "%svectors of %u lanes along %s", buf->length ? "; " : "", view->lanes,
                   view->work->index[view->vector]);
        if (together > 1)
            buf_printf(buf, ", %.0f unrolled", together);
        if (own_vectors > 1)
            buf_printf(buf, ", %.0f with accumulators of their own", own_vectors);
    } else
        buf_printf(buf, "%sone element at a time", buf->length ? "; " : "");
    if (unrolled.count > 0)
        buf_printf(buf, ", %s unrolled", list_text(teller->arena, &unrolled, 8));
    if (own.count > 0)
        buf_printf(buf, ", %s unrolled with accumulators of %s own",
                   list_text(teller->arena, &own, 8), own.count > 1 ? "their" : "its");
}

static void
tell_online(const struct teller *teller, const struct token *token, struct buf *buf)
{
    struct list kept = {0};
    for (unsigned i = 0; i + 1 < token->count; i++)
        list_add(&kept, stage_name(teller, token->together[i]));
    buf_printf(buf,
               "; %s %s kept for each row while %s runs, and what was added up is scaled when the "
               "maximum grows",
               list_text(teller->arena, &kept, 8), kept.count > 1 ? "are" : "is", token->name);
}

static void
tell_company(const struct teller *teller, const struct view *view, struct buf *buf)
{
    struct list guests = {0}, inlined = {0};
    for (size_t i = 0; i < view->line->count; i++) {
        const struct token *token = &view->line->tokens[i];
        if (token->form == TOKEN_WITH)
            list_add(&guests, stage_name(teller, token->stage));
        if (token->form == TOKEN_INLINE)
            list_add(&inlined, stage_name(teller, token->stage));
        if (token->form == TOKEN_PRE)
            buf_printf(buf, "; %s is fetched %" PRId64 " iteration%s%s%s ahead",
                       tensor_name(teller, token->tensor), token->number,
                       token->number == 1 ? "" : "s", token->name != NULL ? " of " : "",
                       token->name != NULL ? token->name : "");
        if (token->form == TOKEN_ONLINE)
            tell_online(teller, token, buf);
    }
    if (guests.count > 0)
        buf_printf(buf, "; %s in the same loops", list_text(teller->arena, &guests, 8));
    if (inlined.count > 0)
        buf_printf(buf, "; %s computed where it is read", list_text(teller->arena, &inlined, 8));
    if (view_stores_past(view))
        buf_puts(buf, "; results are stored past the caches");
}

/* ---- lines ---- */

static void
put_sentence(struct buf *buf, const struct buf *clauses)
{
    const char *text = clauses->length ? clauses->data : "";
    while (*text == ';' || *text == ',' || *text == ' ')
        text++;
    if (*text == 0)
        return;
    /* the first one follows a colon */
    buf_printf(buf, "%s%c%s.", buf->length ? " " : "", buf->length ? toupper(*text) : *text,
               text + 1);
}

/* "r is shared among the threads; ... Tiles of 6 i by 16 j stay in registers while k runs; ..." */
static const char *
tell_view(const struct teller *teller, const struct view_group *group)
{
    const struct view *view = group->views[0];
    struct buf buf = buf_in(teller->arena), where = buf_in(teller->arena),
               what = buf_in(teller->arena);
    tell_threads(teller, view, &where);
    tell_pieces(teller, view, &where);
    tell_packs(teller, view, &where);
    tell_producers(teller, view, &where);
    tell_cache(teller, group, &where);
    tell_registers(teller, view, &what);
    tell_lanes(teller, view, &what);
    tell_company(teller, view, &what);
    put_sentence(&buf, &where);
    put_sentence(&buf, &what);
    return buf.length ? buf.data : "";
}

static const char *
tell_stage(const struct teller *teller, size_t stage)
{
    struct view_group group = view_group(teller->arena, teller->schedule, stage);
    return tell_view(teller, &group);
}

static const char *
tell_change(struct arena *arena, const struct change_line *change)
{
    const char *s = change->stage, *x = change->name;
    switch (change->change) {
    case CHANGE_PAD:
        return arena_printf(arena,
                            "%s is first copied with a border, so that %s reads it without asking "
                            "where it ends.",
                            x, s);
    case CHANGE_FLAT:
        return arena_printf(arena, "%s and %s of %s run as one index across the ends of rows.", x,
                            change->other, s);
    case CHANGE_PHASE:
        return arena_printf(arena,
                            "%s is taken apart by the remainder of its stride, so that %s reads "
                            "neighbours.",
                            x, s);
    case CHANGE_ROWS:
        return arena_printf(arena,
                            "The window of %s is reduced across %s for whole rows, which lie in "
                            "order, and along it then.",
                            s, x);
    case CHANGE_SPLIT:
        return arena_printf(arena,
                            "%s of %s is cut into chunks of %" PRId64
                            ", whose results are then put together in order.",
                            x, s, change->step);
    case CHANGE_CHUNK:
        return arena_printf(arena,
                            "%s runs along %s in chunks of %" PRId64
                            "; their ends are then run through and added.",
                            s, x, change->step);
    case CHANGE_MOMENTS:
        return arena_printf(arena,
                            "The mean that %s needs and %s itself are taken in one pass, in chunks "
                            "of %" PRId64 " %s, which are then put together.",
                            s, s, change->step, x);
    case CHANGE_PART:
        return arena_printf(arena, "%s of %s is two indices, one of them for each %" PRId64 ".", x,
                            s, change->step);
    default:
        return "";
    }
}

/* The line's text without its stage, as a line of the filled schedule. */
static const char *
line_text(struct arena *arena, const char *head, const struct line *line)
{
    struct buf buf = buf_in(arena);
    buf_printf(&buf, "%s:", head);
    for (size_t i = 0; i < line->count; i++)
        if (!line->tokens[i].hidden)
            buf_printf(&buf, " %s", line->tokens[i].text);
    return buf.data;
}

static const char *
tell_rec(const struct teller *teller, const struct line *line, const struct stage *first)
{
    struct buf buf = buf_in(teller->arena);
    struct list packs = {0}, loops = {0};
    for (size_t i = 0; i < line->count; i++) {
        if (line->tokens[i].form == TOKEN_PACK)
            list_add(&packs, tensor_name(teller, line->tokens[i].tensor));
        if (line->tokens[i].form == TOKEN_LOOP)
            list_add(&loops, line->tokens[i].step > 1
                                 ? arena_printf(teller->arena, "blocks of %" PRId64 " %s",
                                                line->tokens[i].step, line->tokens[i].name)
                                 : line->tokens[i].name);
    }
    buf_printf(&buf, "the steps of %s follow one another", first->index[first->carried]);
    if (packs.count > 0)
        buf_printf(&buf, "; %s copied once before the first", list_text(teller->arena, &packs, 8));
    if (loops.count > 0)
        buf_printf(&buf, "; %s shared among the threads, each of which takes all steps of its part",
                   arena_printf(teller->arena, "%s %s", list_text(teller->arena, &loops, 8),
                                loops.count > 1 || strchr(loops.name[0], ' ') ? "are" : "is"));
    buf_putc(&buf, '.');
    return buf.data;
}

/* A stage inside of another's loops: its own view is in that one's group. */
static struct view *
find_view(struct arena *arena, const struct schedule *schedule, size_t stage)
{
    size_t root = stage;
    for (int depth = 0; depth < 16 && (schedule->works[root].fate == FATE_DO ||
                                       schedule->works[root].fate == FATE_WITH);
         depth++)
        root = schedule->works[root].consumer;
    struct view_group group = view_group(arena, schedule, root);
    for (size_t i = 0; i < group.count; i++)
        if (group.views[i]->work->number == stage)
            return group.views[i];
    return group.views[0];
}

size_t
coder_explain_lines(struct arena *arena, const struct schedule *schedule, struct coder_line **lines)
{
    const struct program *program = schedule->program;
    struct teller teller = {arena, schedule, NULL, false};
    struct buf text = buf_in(arena);
    size_t count = 0, most = schedule->change_count + program->stage_count + program->rec_count + 1;
    *lines = arena_array(arena, most, sizeof **lines);
    coder_write(&text, schedule);
    char *next = text.length ? text.data : NULL;
    for (size_t i = 0; i < schedule->change_count; i++)
        (*lines)[count++] = (struct coder_line){strsep(&next, "\n"), NULL,
                                                tell_change(arena, &schedule->changes[i])};
    for (size_t i = 0; i < program->stage_count; i++) {
        const struct stage *stage = &program->stages[i];
        const struct line *line = &schedule->lines[i];
        const struct work *work = &schedule->works[i];
        const char *name = stage->tensor->name;
        if (stage->rec >= 0 && program->recs[stage->rec].first == i &&
            schedule->recs[stage->rec].count > 0)
            (*lines)[count++] = (struct coder_line){
                line_text(arena, arena_printf(arena, "rec %s", name), &schedule->recs[stage->rec]),
                name, tell_rec(&teller, &schedule->recs[stage->rec], stage)};
        if (!work_has_loops(work) || (work->fate == FATE_WITH && line->count == 0))
            continue;
        const char *does = "";
        struct view *view = find_view(arena, schedule, i);
        if (work->fate == FATE_WITH)
            does = arena_printf(arena, "Inside of %s, while it runs.",
                                schedule->works[work->consumer].tensor->name);
        else
            does = tell_view(&teller, &(struct view_group){&view, 1});
        if (work->fate == FATE_DO)
            does = arena_printf(arena, "Inside of %s: %s",
                                schedule->works[work->consumer].tensor->name, does);
        (*lines)[count++] = (struct coder_line){line_text(arena, name, line), name, does};
    }
    return count;
}

/* ---- the paragraph ---- */

static double
points_of(const struct work *work)
{
    double points = 1;
    for (unsigned l = 0; l < work->levels; l++)
        points *= (double)work->extent[l];
    return points;
}

/* The costliest first, then only those that are told, in the order of the program. */
static size_t
choose_roots(const struct schedule *schedule, size_t *roots, size_t count)
{
    size_t told = count <= MOST_STAGES ? count : MOST_STAGES;
    for (size_t i = 0; i < told && told < count; i++) {
        size_t best = i;
        for (size_t k = i + 1; k < count; k++)
            if (points_of(&schedule->works[roots[k]]) > points_of(&schedule->works[roots[best]]))
                best = k;
        size_t root = roots[best];
        memmove(roots + i + 1, roots + i, (best - i) * sizeof *roots);
        roots[i] = root;
    }
    for (size_t i = 1; i < told; i++)
        for (size_t k = i; k > 0 && roots[k] < roots[k - 1]; k--) {
            size_t other = roots[k];
            roots[k] = roots[k - 1];
            roots[k - 1] = other;
        }
    return told;
}

void
coder_explain(struct buf *buf, const struct schedule *schedule, const struct coder_machine *machine)
{
    struct arena *arena = buf->arena;
    struct teller teller = {arena, schedule, machine, false},
                  blank = {arena, schedule, machine, true};
    size_t *roots = arena_array(arena, schedule->program->stage_count + 1, sizeof *roots);
    size_t count = view_roots(schedule, roots), all = count, said = 0;
    const char **keys = arena_array(arena, count + 1, sizeof *keys);
    for (size_t i = 0; i < count; i++)
        keys[i] = tell_stage(&blank, roots[i]);
    /* equal ones stand for one another, whatever they cost */
    struct list *likes = arena_array(arena, count + 1, sizeof *likes);
    size_t *firsts = arena_array(arena, count + 1, sizeof *firsts), first_count = 0;
    for (size_t i = 0; i < count; i++) {
        size_t f = 0;
        while (f < first_count && strcmp(keys[firsts[f]], keys[i]) != 0)
            f++;
        if (f == first_count)
            firsts[first_count++] = i;
        list_add(&likes[firsts[f]], schedule->works[roots[i]].tensor->name);
    }
    size_t *leaders = arena_array(arena, count + 1, sizeof *leaders);
    for (size_t f = 0; f < first_count; f++)
        leaders[f] = roots[firsts[f]];
    size_t told = choose_roots(schedule, leaders, first_count);
    for (size_t i = 0; i < schedule->change_count; i++)
        if (i < MOST_STAGES)
            buf_printf(buf, "%s%s", buf->length ? " " : "",
                       tell_change(arena, &schedule->changes[i]));
    for (size_t i = 0; i < told; i++) {
        size_t at = 0;
        while (roots[at] != leaders[i])
            at++;
        said += likes[at].count + likes[at].more;
        buf_printf(buf, "%s%s: %s", buf->length ? " " : "", list_text(arena, &likes[at], 4),
                   tell_stage(&teller, leaders[i]));
    }
    if (said < all)
        buf_printf(buf, " %zu more stages with fewer operations have loops of their own.",
                   all - said);
}
