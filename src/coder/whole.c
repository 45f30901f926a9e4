/* Where stages are computed, and whether the boxes of one make up its whole tensor: then they are
 * written to the tensor itself and nothing is computed twice. */
#include "coder/coder_int.h"

size_t
work_place(const struct schedule *schedule, size_t stage)
{
    const struct work *work = &schedule->works[stage];
    return work->fate == FATE_DO || work->fate == FATE_WITH ? work_place(schedule, work->consumer)
                                                            : stage;
}

bool
work_comes_after(const struct schedule *schedule, size_t producer, size_t reader)
{
    const struct work *work = &schedule->works[producer], *other = &schedule->works[reader];
    if (work->fate != FATE_DO || reader == producer)
        return false;
    if (reader == work->consumer)
        return true;
    if (other->fate == FATE_DO && other->consumer == work->consumer) {
        const struct line *line = &schedule->lines[work->consumer];
        return work_names(line, TOKEN_DO, reader) > work_names(line, TOKEN_DO, producer);
    }
    return (other->fate == FATE_DO || other->fate == FATE_WITH) &&
           work_comes_after(schedule, producer, other->consumer);
}

static bool
reads(const struct work *reader, const struct work *work)
{
    return reader->fate != FATE_INLINE && work_loads(reader->code, work->tensor, NULL, 0) > 0;
}

/* ---- boxes and loops ---- */

/* Do loops of a line before token `at` cut the boxes, each into other ones, and leave out none?
 * `used`: the consumer's levels that the boxes follow. */
static bool
is_cut_by(const struct schedule *schedule, const struct work *consumer, size_t at, uint32_t used)
{
    const struct line *line = &schedule->lines[consumer->number];
    for (size_t i = 0; i < at; i++) {
        const struct token *token = &line->tokens[i];
        if (token->form != TOKEN_LOOP)
            continue;
        /* loops that end early leave out some of it */
        if ((consumer->bound_count > 0 || consumer->online != NULL) &&
            !work_is_left(consumer, token->level))
            return false;
        if (!(used & 1u << token->level) && consumer->extent[token->level] > 1)
            return false;
    }
    return true;
}

/* The levels of the consumer at which it reads the producer: plain indices that run over all of it,
 * each over one dimension, the same in all loads. False: it reads it otherwise, as a diagonal. */
static bool
follows(const struct work *consumer, const struct work *producer, uint32_t *used)
{
    const struct expr *loads[64];
    size_t count = work_loads(consumer->code, producer->tensor, loads, 64);
    *used = 0;
    if (count == 0 || count > 64)
        return false;
    for (unsigned d = 0; d < producer->rank; d++) {
        const struct expr *first = loads[0]->args[d];
        for (size_t i = 0; i < count; i++)
            if (loads[i]->args[d] != first)
                return false;
        if (first->op != OP_INDEX || consumer->extent[first->level] != producer->extent[d] ||
            (*used & 1u << first->level))
            return false;
        *used |= 1u << first->level;
    }
    return true;
}

/* Some loops compute it, and so does a place of its own, before all stages that follow it. */
static bool
is_computed_apart(const struct schedule *schedule, const struct work *work)
{
    const struct line *line = &schedule->lines[work->consumer];
    return work->fate == FATE_DO && work->stored &&
           !work_is_made_up(schedule, work,
                            (size_t)(work_names(line, TOKEN_DO, work->number) - line->tokens));
}

/* Nobody reads it before this stage has run. */
static bool
is_read_later(const struct schedule *schedule, const struct work *consumer,
              const struct work *producer)
{
    for (size_t i = 0; i < consumer->number; i++)
        if (i != producer->number && reads(&schedule->works[i], producer) &&
            (!work_is_provided(schedule, producer->number, i) ||
             is_computed_apart(schedule, &schedule->works[i])))
            return false;
    return true;
}

/* ---- boxes within boxes ---- */

struct along
work_along(const struct work *reader, const struct expr *e, int64_t values)
{
    if (e->op == OP_INDEX)
        return (struct along){(int8_t)e->level, 1};
    if (e->op == OP_DIV && e->args[0]->op == OP_INDEX && e->args[1]->op == OP_INT &&
        e->args[1]->integer > 0 &&
        values * e->args[1]->integer == reader->extent[e->args[0]->level])
        return (struct along){(int8_t)e->args[0]->level, e->args[1]->integer};
    return (struct along){-1, 1};
}

/* For each dimension the level of the root that its boxes follow; -1: they have all of it. */
static bool
map_boxes(const struct schedule *schedule, const struct work *root, const struct work *work,
          struct along *map);

/* Where one reader in the root's loops says that the dimensions lie; false: not plainly, or not
 * where another one said. */
static bool
map_by(const struct schedule *schedule, const struct work *root, const struct work *reader,
       const struct work *work, struct along *map, bool *any)
{
    const struct expr *loads[64];
    struct along own[LANG_MAX_RANK];
    size_t count = work_loads(reader->code, work->tensor, loads, 64);
    if (count > 64 || (reader != root && !map_boxes(schedule, root, reader, own)))
        return false;
    for (size_t i = 0; i < count; i++, *any = true)
        for (unsigned d = 0; d < work->rank; d++) {
            struct along along = work_along(reader, loads[i]->args[d], work->extent[d]);
            if (along.level < 0 || reader->extent[along.level] != work->extent[d] * along.by ||
                (along.by > 1 && reader != root))
                return false;
            if (reader != root)
                along = work_is_left(reader, (unsigned)along.level) ? own[along.level]
                                                                    : (struct along){-1, 1};
            if (*any && (map[d].level != along.level || map[d].by != along.by))
                return false;
            map[d] = along;
        }
    return true;
}

static bool
map_boxes(const struct schedule *schedule, const struct work *root, const struct work *work,
          struct along *map)
{
    bool any = false;
    for (size_t i = work->number + 1; i <= root->number; i++)
        if (reads(&schedule->works[i], work) && work_place(schedule, i) == root->number &&
            !map_by(schedule, root, &schedule->works[i], work, map, &any))
            return false;
    return any;
}

/* Loops before token `at` leave groups whole. */
static bool
goes_by(const struct line *line, size_t at, const struct along *along)
{
    for (size_t i = 0; i < at; i++)
        if (line->tokens[i].form == TOKEN_LOOP && line->tokens[i].level == (unsigned)along->level &&
            line->tokens[i].step % along->by != 0)
            return false;
    return true;
}

/* A producer in the line of a stage that is itself computed in a root's loops: each box of that one
 * is made up of the producer's, those of the root make up all of them, and who else reads it in
 * these loops reads the same box, later. */
static bool
is_made_up_inside(const struct schedule *schedule, const struct work *producer)
{
    const struct work *consumer = &schedule->works[producer->consumer];
    const struct work *root = &schedule->works[consumer->consumer];
    const struct line *line = &schedule->lines[root->number];
    struct along map[LANG_MAX_RANK];
    uint32_t used = 0;
    if (root->fate != FATE_ROOT || root->online != NULL || consumer->stored ||
        work_has_guests(&schedule->lines[consumer->number]) ||
        work_has_guests(&schedule->lines[producer->number]) ||
        !map_boxes(schedule, root, producer, map))
        return false;
    for (size_t i = 0; i < schedule->program->stage_count; i++)
        if (i != consumer->number && reads(&schedule->works[i], producer)) {
            size_t place = work_place(schedule, i);
            if (place < root->number ||
                (i < root->number && is_computed_apart(schedule, &schedule->works[i])) ||
                (place == root->number && !work_comes_after(schedule, consumer->number, i)))
                return false;
        }
    size_t at = (size_t)(work_names(line, TOKEN_DO, consumer->number) - line->tokens);
    for (unsigned d = 0; d < producer->rank; d++)
        if (map[d].level >= 0) {
            if ((used & 1u << map[d].level) || !goes_by(line, at, &map[d]))
                return false;
            used |= 1u << map[d].level;
        }
    return is_cut_by(schedule, root, at, used);
}

bool
work_is_made_up(const struct schedule *schedule, const struct work *producer, size_t at)
{
    const struct work *consumer = &schedule->works[producer->consumer];
    uint32_t used;
    if (!follows(consumer, producer, &used) || !is_cut_by(schedule, consumer, at, used))
        return false;
    if (consumer->fate == FATE_DO)
        return is_made_up_inside(schedule, producer);
    return consumer->fate == FATE_ROOT && is_read_later(schedule, consumer, producer);
}

/* ---- scans ---- */

bool
work_is_read_along(const struct schedule *schedule, const struct work *scan,
                   const struct work *reader, uint32_t *levels)
{
    enum { MOST = 16 };
    const struct expr *loads[MOST];
    struct level ranges[LANG_MAX_LEVELS];
    unsigned carried = scan->stage->carried;
    size_t count = work_loads(reader->code, scan->tensor, loads, MOST);
    *levels = 0;
    if (count == 0 || count > MOST || scan->tensor->output >= 0)
        return false;
    for (size_t i = 0; i < schedule->program->stage_count; i++)
        if (i != scan->number && i != reader->number && reads(&schedule->works[i], scan))
            return false;
    work_ranges(reader, ranges);
    for (size_t i = 0; i < count; i++) {
        int64_t low, high;
        expr_interval(loads[i]->args[carried], ranges, &low, &high);
        if (low > 0 || high < scan->extent[carried] - 1 || loads[i]->args[carried]->loads)
            return false;
        *levels |= loads[i]->args[carried]->free;
    }
    return true;
}
