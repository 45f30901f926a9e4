/* Random schedules of a program, as text. Most are legal by construction; what makes them illegal
 * is left in on purpose here and there, so that refusals are seen too. One stream gives one
 * schedule. */
#ifndef HONE_TESTS_CODER_RANDOM_SCHEDULE_H
#define HONE_TESTS_CODER_RANDOM_SCHEDULE_H

#include "base/buf.h"
#include "base/rng.h"
#include "coder/coder_int.h"

#include <string.h>

#define S_TOKENS 40
#define S_UNROLL 12 /* copies of code in one line, about */

enum s_form { S_LOOP, S_ACC, S_WORD };

struct s_token {
    enum s_form form;
    const char *text; /* WORD */
    int level;
    int64_t step, trips;
    char mark;
    bool in_lanes;
};

struct s_stage {
    const struct stage *stage;
    const struct expr *reduce;
    unsigned rank, levels;
    int64_t extent[LANG_MAX_LEVELS];
    const char *index[LANG_MAX_LEVELS];
    const char *words[8]; /* do(..), with(..), inline(..) that its line will have */
    int guest_of[8];      /* by word: the guest of a with(), or -1 */
    int8_t map[8][LANG_MAX_LEVELS];
    unsigned word_count;
    bool inlined, hosted, done;  /* by another line */
    bool between;                /* inlined for online() */
    bool shared;                 /* threads stand around the steps of its block */
    const char *online, *scores; /* online(..) and do(P) of its line, or NULL */
    int64_t tile;                /* of online() */
    struct s_token tokens[S_TOKENS];
    unsigned count;
};

struct s_maker {
    struct arena *arena;
    struct rng *rng;
    const struct program *program;
    struct s_stage *stages;
    struct buf text;
};

static inline bool
s_chance(struct s_maker *m, unsigned percent)
{
    return rng_below(m->rng, 100) < percent;
}

static inline int64_t
s_below(struct s_maker *m, int64_t bound)
{
    return (int64_t)rng_below(m->rng, (uint64_t)bound);
}

static inline bool
s_reads(const struct s_stage *reader, const struct s_stage *stage)
{
    return work_loads(reader->stage->code, stage->stage->tensor, NULL, 0) > 0;
}

/* A tensor that the stage reads, or NULL. */
static inline const struct tensor *
s_source(struct s_maker *m, const struct s_stage *s)
{
    const struct program *program = m->program;
    size_t start = (size_t)s_below(m, (int64_t)program->tensor_count);
    for (size_t i = 0; i < program->tensor_count; i++) {
        const struct tensor *tensor = program->tensors[(start + i) % program->tensor_count];
        if (work_loads(s->stage->code, tensor, NULL, 0) > 0)
            return tensor;
    }
    return NULL;
}

static inline void
s_look(struct s_maker *m)
{
    const struct program *program = m->program;
    m->stages = arena_array(m->arena, program->stage_count, sizeof *m->stages);
    for (size_t i = 0; i < program->stage_count; i++) {
        struct s_stage *s = &m->stages[i];
        s->stage = &program->stages[i];
        s->rank = s->levels = s->stage->tensor->rank;
        s->reduce = work_reduce(s->stage->code);
        for (unsigned l = 0; l < s->rank; l++) {
            s->extent[l] = s->stage->tensor->size[l];
            s->index[l] = s->stage->index[l];
        }
        for (unsigned l = 0; s->reduce != NULL && l < s->reduce->binder->count; l++) {
            s->extent[s->levels] = expr_integer(s->reduce->binder->extent[l]);
            s->index[s->levels++] = s->reduce->binder->names[l];
        }
    }
}

/* ---- rewrites ---- */

static inline bool
s_change(struct s_maker *m, struct change_line *line)
{
    struct s_stage *s = &m->stages[s_below(m, (int64_t)m->program->stage_count)];
    const struct tensor *source = s_source(m, s);
    *line = (struct change_line){.change = (enum change)s_below(m, CHANGE_COUNT),
                                 .stage = s->stage->tensor->name};
    switch (line->change) {
    case CHANGE_PAD:
    case CHANGE_PHASE:
        line->name = source != NULL ? source->name : NULL;
        break;
    case CHANGE_FLAT:
        if (s->rank >= 2) {
            unsigned at = (unsigned)s_below(m, s->rank - 1);
            line->name = s->index[at];
            line->other = s->index[at + 1];
        }
        break;
    case CHANGE_SPLIT:
    case CHANGE_MOMENTS:
        if (s->levels > s->rank) {
            unsigned at = s->rank + (unsigned)s_below(m, s->levels - s->rank);
            line->name = s->index[at];
            line->step = 1 + s_below(m, s->extent[at]);
        }
        break;
    case CHANGE_ROWS:
        if (s->rank > 0)
            line->name = s->index[s_below(m, s->rank)];
        break;
    case CHANGE_PART:
        if (s->rank > 0) {
            unsigned at = (unsigned)s_below(m, s->rank);
            line->name = s->index[at];
            line->step = 2 + s_below(m, s->extent[at]) / 2;
        }
        break;
    default:
        if (s->stage->rec >= 0) {
            line->name = s->index[s->stage->carried];
            line->step = 1 + s_below(m, s->extent[s->stage->carried]);
        }
    }
    return line->name != NULL;
}

static inline void
s_changes(struct s_maker *m)
{
    static const char *const words[] = {
#define X(id, word, ...) word,
        CODER_CHANGES(X)
#undef X
    };
    unsigned done = 0;
    for (int tries = s_chance(m, 30) ? 8 : 0; tries > 0 && done < 3; tries--) {
        struct change_line line;
        const char *why;
        if (!s_change(m, &line))
            continue;
        const struct program *next = change_program(m->arena, m->program, &line, &why);
        if (next == NULL && !s_chance(m, 1))
            continue;
        buf_printf(&m->text, "! %s %s %s", words[line.change], line.stage, line.name);
        if (line.other != NULL)
            buf_printf(&m->text, " %s", line.other);
        if (line.step != 0)
            buf_printf(&m->text, " %lld", (long long)line.step);
        buf_putc(&m->text, '\n');
        if (next == NULL)
            return;
        m->program = next;
        s_look(m);
        done++;
    }
}

/* ---- who computes what ---- */

static inline void
s_word(struct s_stage *s, const char *text, int guest)
{
    if (s->word_count == 8)
        return;
    s->guest_of[s->word_count] = guest;
    s->words[s->word_count++] = text;
}

/* "with(S, k=j)" for some assignment of equal extents; false: there is none. */
static inline bool
s_guest(struct s_maker *m, struct s_stage *host, int guest)
{
    const struct s_stage *s = &m->stages[guest];
    struct buf text = buf_in(m->arena);
    int8_t *map = host->map[host->word_count];
    uint32_t taken = 0;
    if (host->word_count == 8)
        return false;
    buf_printf(&text, "with(%s", s->stage->tensor->name);
    for (unsigned i = 0; i < s->levels; i++) {
        int found = -1;
        for (unsigned h = 0; h < host->levels && found < 0; h++)
            if (!(taken & 1u << h) && host->extent[h] == s->extent[i] &&
                (strcmp(host->index[h], s->index[i]) == 0 || s_chance(m, 50)))
                found = (int)h;
        for (unsigned h = 0; h < host->levels && found < 0; h++)
            if (!(taken & 1u << h) && host->extent[h] == s->extent[i])
                found = (int)h;
        if (found < 0)
            return false;
        taken |= 1u << found;
        map[i] = (int8_t)found;
        if (strcmp(host->index[found], s->index[i]) != 0)
            buf_printf(&text, ", %s=%s", s->index[i], host->index[found]);
    }
    for (unsigned h = 0; h < host->levels; h++)
        if (!(taken & 1u << h) && host->extent[h] > 1)
            return false;
    buf_puts(&text, ")");
    s_word(host, text.data, guest);
    return true;
}

static inline void
s_fates(struct s_maker *m)
{
    int count = (int)m->program->stage_count;
    for (int i = 0; i < count; i++) {
        struct s_stage *s = &m->stages[i];
        const char *name = s->stage->tensor->name;
        int way = (int)s_below(m, 100), first = (int)s_below(m, count);
        if ((s->stage->rec >= 0 && !s_chance(m, 3)) || s->between || s->hosted || s->done)
            continue;
        for (int j = 0; j < count; j++) {
            int r = (first + j) % count;
            struct s_stage *other = &m->stages[r];
            if (r == i || other->hosted || other->between ||
                (other->stage->rec >= 0 && !s_chance(m, 3)))
                continue;
            if (way < 15 && s->reduce == NULL && s_reads(other, s)) {
                s_word(other, arena_printf(m->arena, "inline(%s)", name), -1);
                s->inlined = true;
            } else if (way >= 15 && way < 40 && s_reads(other, s)) {
                s_word(other, arena_printf(m->arena, "do(%s)", name), -1);
                s->done = true;
                break;
            } else if (way >= 40 && way < 60 && s->word_count == 0 && !s_reads(other, s) &&
                       s_guest(m, other, i)) {
                s->hosted = true;
                break;
            }
        }
    }
}

/* ---- running maxima ---- */

/* Does it read the stage, perhaps through others without a reduction? */
static inline bool
s_depends(const struct s_maker *m, int reader, int stage)
{
    if (s_reads(&m->stages[reader], &m->stages[stage]))
        return true;
    for (int i = stage + 1; i < reader; i++)
        if (m->stages[i].reduce == NULL && s_reads(&m->stages[reader], &m->stages[i]) &&
            s_depends(m, i, stage))
            return true;
    return false;
}

static inline bool
s_reduces(const struct s_stage *s, enum reduction reduction)
{
    return s->reduce != NULL && s->reduce->binder->count == 1 &&
           s->reduce->binder->reduction == reduction && s->stage->rec < 0;
}

/* What stands between a maximum and those that read it is inlined into them. */
static inline void
s_inline_between(struct s_maker *m, int max, int last)
{
    for (int i = max + 1; i < last; i++) {
        struct s_stage *s = &m->stages[i];
        if (s->reduce != NULL || !s_depends(m, i, max) || s->stage->rec >= 0)
            continue;
        for (int r = i + 1; r <= last; r++)
            if (s_reads(&m->stages[r], s))
                s_word(&m->stages[r], arena_printf(m->arena, "inline(%s)", s->stage->tensor->name),
                       -1);
        s->between = true;
    }
}

/* "online(j/STEP: M,S,O)" for some stages that look like it. */
static inline void
s_online(struct s_maker *m)
{
    int count = (int)m->program->stage_count;
    for (int o = count; o-- > 0;)
        for (int max = 0; max < o; max++) {
            struct s_stage *result = &m->stages[o], *first = &m->stages[max], *sum = NULL;
            if (result->stage->tensor->output < 0 || first->stage->tensor->output >= 0 ||
                !s_reduces(result, REDUCE_SUM) || !s_reduces(first, REDUCE_MAX) ||
                !s_depends(m, o, max) || !s_chance(m, 60))
                continue;
            for (int i = max + 1; i < o && sum == NULL; i++)
                if (s_reduces(&m->stages[i], REDUCE_SUM) && s_depends(m, i, max) &&
                    m->stages[i].rank == first->rank)
                    sum = &m->stages[i];
            s_inline_between(m, max, o);
            int64_t step = 1 + s_below(m, result->extent[result->rank]);
            const char *lanes = s_chance(m, 25) ? "v" : "";
            result->online = arena_printf(
                m->arena, "online(%s/%lld%s: %s%s%s, %s)", result->index[result->rank],
                (long long)(lanes[0] ? 1 + step / 8 : step), lanes, first->stage->tensor->name,
                sum != NULL ? ", " : "", sum != NULL ? sum->stage->tensor->name : "",
                result->stage->tensor->name);
            result->tile = lanes[0] ? 4 * (1 + step / 8) : step;
            first->hosted = true;
            if (sum != NULL)
                sum->hosted = true;
            for (int i = 0; i < max; i++) /* the scores */
                if (s_reads(first, &m->stages[i]) && m->stages[i].stage->rec < 0 &&
                    s_chance(m, 70)) {
                    result->scores =
                        arena_printf(m->arena, "do(%s)", m->stages[i].stage->tensor->name);
                    m->stages[i].done = true;
                }
            return;
        }
}

/* ---- loops ---- */

static inline void
s_insert(struct s_stage *s, unsigned at, struct s_token token)
{
    if (s->count == S_TOKENS)
        return;
    memmove(&s->tokens[at + 1], &s->tokens[at], (s->count - at) * sizeof token);
    s->tokens[at] = token;
    s->count++;
}

/* W of i/W and i%W: loops that go by whole rows are lowered in another way. */
static inline int64_t
s_row(const struct expr *e, int level)
{
    int64_t row = 0;
    if (!(e->free & 1u << level))
        return 0;
    if ((e->op == OP_DIV || e->op == OP_MOD) && e->args[1]->op == OP_INT)
        return e->args[1]->integer;
    for (unsigned i = 0; i < e->count && row == 0; i++)
        row = s_row(e->args[i], level);
    return row;
}

/* The loops of one index, outermost first. */
static inline unsigned
s_chain(struct s_maker *m, int64_t extent, int64_t row, bool vector, int level,
        struct s_token *chain)
{
    unsigned count = 0, wish = s_chance(m, 55) ? 0 : s_chance(m, 70) ? 1 : 2;
    int64_t last = extent + (s_chance(m, 10) ? 4 : 0);
    for (unsigned i = 0; i < wish && last > 2; i++) {
        int64_t step = 2 + s_below(m, last - 2);
        int64_t tile = i == 0 ? extent : last;
        bool by_row = row > 1 && row < last && s_chance(m, 60);
        if (by_row)
            step = row;
        chain[count] = (struct s_token){.level = level, .step = step};
        if (i == 0 && !by_row && s_chance(m, 12)) { /* 4 is the fewest lanes of most stages */
            chain[count].in_lanes = true;
            chain[count].step = step = 1 + s_below(m, 2);
            step *= 4;
        }
        chain[count++].trips = (tile + step - 1) / step;
        last = step;
    }
    chain[count] = (struct s_token){.level = level, .step = 1, .mark = vector ? 'v' : 0};
    chain[count].trips = vector ? (last + 7) / 8 : (last < extent ? last : extent);
    return count + 1;
}

static inline void
s_loops(struct s_maker *m, struct s_stage *s)
{
    struct s_token chain[LANG_MAX_LEVELS][4];
    unsigned left[LANG_MAX_LEVELS] = {0}, at[LANG_MAX_LEVELS] = {0}, all = 0;
    int vector = s->levels > 0 && s_chance(m, 55) ? (int)s_below(m, s->levels) : -1;
    bool ordered = s_chance(m, 40);
    for (unsigned l = 0; l < s->levels; l++) {
        bool carried = s->stage->rec >= 0 && l == s->stage->carried;
        bool scan = carried && m->program->recs[s->stage->rec].count == 1;
        if ((carried && !s_chance(m, scan && !s->shared ? 50 : 1)) ||
            (s->extent[l] == 1 && (int)l != vector && s_chance(m, 50)))
            continue;
        left[l] = s_chain(m, s->extent[l], s_row(s->stage->code, (int)l), vector == (int)l, (int)l,
                          chain[l]);
        all += left[l];
    }
    for (; all > 0 && s->count < S_TOKENS - 12; all--) {
        unsigned l;
        do
            l = (unsigned)s_below(m, s->levels);
        while (at[l] == left[l]);
        if (ordered) /* left indices first */
            for (l = 0; at[l] == left[l];)
                l++;
        s_insert(s, s->count, chain[l][at[l]++]);
    }
}

static inline bool
s_is_left(const struct s_stage *s, const struct s_token *token)
{
    return token->form == S_LOOP && (unsigned)token->level < s->rank;
}

/* A place for acc below which not too much is unrolled; arg reductions need it outside of all their
 * loops, so left ones are moved before those. */
static inline void
s_acc(struct s_maker *m, struct s_stage *s)
{
    enum reduction reduction = s->reduce->binder->reduction;
    bool whole =
        reduction >= REDUCE_ARGMAX || (reduction == REDUCE_MEAN && expr_filter(s->reduce) != NULL);
    if (!whole && s_chance(m, 20))
        return;
    unsigned first = 0; /* reduction loop */
    while (first < s->count && s_is_left(s, &s->tokens[first]))
        first++;
    unsigned place = (unsigned)s_below(m, (whole ? first : s->count) + 1);
    if (!whole && s_chance(m, 50))
        place = first;
    int64_t copies = 1;
    for (unsigned i = s->count; i-- > place;)
        if (s_is_left(s, &s->tokens[i])) {
            copies *= s->tokens[i].trips;
            if (copies <= S_UNROLL) {
                if (s->tokens[i].mark == 0)
                    s->tokens[i].mark = 'u';
                continue;
            }
            if (!whole) {
                place = i + 1;
                break;
            }
            struct s_token moved = s->tokens[i]; /* this and what is left of it go to the front */
            s->count--;
            memmove(&s->tokens[i], &s->tokens[i + 1], (s->count - i) * sizeof moved);
            if (moved.mark == 'v')
                moved.mark = 0;
            s_insert(s, place, moved);
            i++;
            copies /= moved.trips;
            place++;
            for (unsigned t = 0; t < place; t++)
                if (s->tokens[t].mark == 'u')
                    s->tokens[t].mark = 0;
            /* steps of one index must still fall */
            for (unsigned a = 0; a < place; a++)
                for (unsigned b = a + 1; b < place; b++)
                    if (s->tokens[a].level == s->tokens[b].level &&
                        s->tokens[a].step < s->tokens[b].step) {
                        struct s_token other = s->tokens[a];
                        s->tokens[a] = s->tokens[b];
                        s->tokens[b] = other;
                    }
        }
    s_insert(s, place, (struct s_token){.form = S_ACC});
}

/* Lanes of a reduction stand below acc. */
static inline void
s_lanes(struct s_maker *m, struct s_stage *s)
{
    for (unsigned i = 0; i < s->count && s->tokens[i].form != S_ACC; i++)
        if (s->tokens[i].form == S_LOOP && !s_is_left(s, &s->tokens[i]) &&
            s->tokens[i].mark == 'v' && !s_chance(m, 2))
            s->tokens[i].mark = 0;
}

static inline void
s_marks(struct s_maker *m, struct s_stage *s)
{
    int64_t copies = 1;
    for (unsigned i = 0; i < s->count; i++)
        if (s->tokens[i].mark == 'u' || s->tokens[i].mark == 'v')
            copies *= s->tokens[i].trips;
    for (unsigned i = 0; i < s->count; i++) {
        struct s_token *token = &s->tokens[i];
        if (token->form != S_LOOP || token->mark != 0 || copies * token->trips > S_UNROLL)
            continue;
        if (!s_chance(m, 30))
            continue;
        token->mark = !s_is_left(s, token) && s_chance(m, 60) ? 'a' : 'u';
        copies *= token->trips;
    }
    if (s->done || s->hosted || s->shared ? !s_chance(m, 1) : s_chance(m, 40))
        return;
    unsigned first = (unsigned)s_below(m, s->count + 1);
    while (first < s->count && !(s_is_left(s, &s->tokens[first]) && s->tokens[first].mark == 0))
        first++;
    uint32_t taken = 0;
    for (unsigned i = first, wish = 1 + (unsigned)s_below(m, 3); i < s->count && wish > 0;
         i++, wish--)
        if (s_is_left(s, &s->tokens[i]) && s->tokens[i].mark == 0 &&
            (!(taken & 1u << s->tokens[i].level) || s_chance(m, 3)) &&
            !(s->stage->rec >= 0 && s->tokens[i].level == (int)s->stage->carried))
            s->tokens[i].mark = 'p', taken |= 1u << s->tokens[i].level;
        else
            return;
}

static inline unsigned
s_acc_place(const struct s_stage *s)
{
    unsigned at = 0;
    while (at < s->count && s->tokens[at].form != S_ACC)
        at++;
    return at;
}

/* A guest's place: behind the loops of its left indices, before those of its reduction. */
static inline unsigned
s_guest_place(struct s_maker *m, const struct s_stage *host, const struct s_stage *guest,
              const int8_t *map)
{
    unsigned low = 0, high = host->count;
    for (unsigned i = 0; i < host->count; i++) {
        bool left = false;
        if (host->tokens[i].form != S_LOOP)
            continue;
        for (unsigned l = 0; l < guest->rank; l++)
            left |= map[l] == host->tokens[i].level;
        if (left && host->tokens[i].mark != 'u' && host->tokens[i].mark != 'v')
            low = i + 1;
        else if (!left && high > i)
            high = i;
    }
    return low < high ? low + (unsigned)s_below(m, high - low + 1) : high;
}

/* Behind what computes the tensor here, before the lanes, and once. */
static inline unsigned
s_pack_place(struct s_maker *m, const struct s_stage *s, const char *name)
{
    unsigned low = 0, high = 0;
    while (high < s->count && s->tokens[high].mark != 'v')
        high++;
    for (unsigned i = 0; i < s->count; i++)
        if (s->tokens[i].form == S_WORD &&
            strcmp(s->tokens[i].text, arena_printf(m->arena, "do(%s)", name)) == 0)
            low = i + 1;
    if (low > high || s_chance(m, 3))
        return (unsigned)s_below(m, s->count + 1);
    return low + (unsigned)s_below(m, high - low + 1);
}

static inline void
s_words(struct s_maker *m, struct s_stage *s)
{
    for (unsigned i = 0; i < s->word_count; i++) {
        struct s_token token = {.form = S_WORD, .text = s->words[i]};
        unsigned place = (unsigned)s_below(m, s_acc_place(s) + 1);
        if (s->guest_of[i] >= 0)
            place = s_guest_place(m, s, &m->stages[s->guest_of[i]], s->map[i]);
        s_insert(s, place, token);
    }
    const struct tensor *before = NULL;
    for (unsigned i = 0; i < 3; i++) {
        const struct tensor *source = s_source(m, s);
        if (source == NULL || !s_chance(m, s->online != NULL ? 8 : 25) ||
            (source == before && !s_chance(m, 4)))
            continue;
        before = source;
        const char *text = arena_printf(m->arena, "pack(%s)", source->name);
        if (s_chance(m, 6))
            text = arena_printf(m->arena, "pack(%s@2)", source->name);
        unsigned place = s_pack_place(m, s, source->name);
        if (s_chance(m, 25)) {
            const char *index = s_chance(m, 50) && s->rank > 0
                                    ? arena_printf(m->arena, ",%s", s->index[s_below(m, s->rank)])
                                    : "";
            text =
                arena_printf(m->arena, "pre(%s,%d%s)", source->name, 1 + (int)s_below(m, 9), index);
            place = s_chance(m, 70) ? s->count : place;
        }
        s_insert(s, place, (struct s_token){.form = S_WORD, .text = text});
    }
    if (s_chance(m, 8))
        s_insert(s, (unsigned)s_below(m, s->count + 1),
                 (struct s_token){.form = S_WORD, .text = "nt"});
}

/* Behind the threads and before all that it runs. */
static inline void
s_online_words(struct s_maker *m, struct s_stage *s)
{
    unsigned low = 0, high = 0;
    for (unsigned i = 0; i < s->count; i++)
        if (s->tokens[i].mark == 'p')
            low = i + 1;
    while (high < s->count && s->tokens[high].form != S_ACC && s->tokens[high].mark != 'v' &&
           (s->tokens[high].form != S_LOOP || s_is_left(s, &s->tokens[high])))
        high++;
    unsigned at = low < high ? low + (unsigned)s_below(m, high - low + 1) : high;
    s_insert(s, at, (struct s_token){.form = S_WORD, .text = s->online});
    if (s->scores != NULL)
        s_insert(s, s_chance(m, 80) ? at + 1 : (unsigned)s_below(m, at + 1),
                 (struct s_token){.form = S_WORD, .text = s->scores});
    for (unsigned i = at; i < s->count;) { /* its own loops are those of a tile */
        const struct s_token *token = &s->tokens[i];
        bool outside = token->form == S_LOOP && token->level == (int)s->rank &&
                       token->mark != 'v' && token->step >= s->tile;
        if (outside)
            memmove(&s->tokens[i], &s->tokens[i + 1], (--s->count - i) * sizeof *s->tokens);
        else
            i++;
    }
}

static inline void
s_print(struct s_maker *m, const struct s_stage *s)
{
    buf_printf(&m->text, "%s:", s->stage->tensor->name);
    for (unsigned i = 0; i < s->count; i++) {
        const struct s_token *token = &s->tokens[i];
        if (token->form == S_WORD)
            buf_printf(&m->text, " %s", token->text);
        else if (token->form == S_ACC)
            buf_puts(&m->text, " acc");
        else {
            buf_printf(&m->text, " %s", s->index[token->level]);
            if (token->in_lanes)
                buf_printf(&m->text, token->step == 1 ? "/v" : "/%lldv", (long long)token->step);
            else if (token->step > 1)
                buf_printf(&m->text, "/%lld", (long long)token->step);
            if (token->mark != 0)
                buf_printf(&m->text, "@%c", token->mark);
        }
    }
    buf_putc(&m->text, '\n');
}

/* "rec S: n/2@p pack(U)"; its stages then leave threads alone. */
static inline void
s_rec(struct s_maker *m, const struct rec *rec)
{
    const struct s_stage *s = &m->stages[rec->first];
    unsigned level = s->rank > 1 ? (unsigned)s_below(m, s->rank) : s->stage->carried;
    const struct tensor *source = s_source(m, &m->stages[rec->first + rec->count - 1]);
    bool loop = level != s->stage->carried && s_chance(m, 70);
    if (!s_chance(m, 50) || (!loop && source == NULL))
        return;
    buf_printf(&m->text, "rec %s:", s->stage->tensor->name);
    if (loop)
        buf_printf(&m->text, s_chance(m, 50) ? " %s@p" : " %s/2@p", s->index[level]);
    if (source != NULL && s_chance(m, 20))
        buf_printf(&m->text, " pack(%s)", source->name);
    buf_putc(&m->text, '\n');
    for (size_t i = rec->first; i < rec->first + rec->count && loop; i++)
        m->stages[i].shared = true;
}

static inline const char *
random_schedule(struct arena *arena, struct rng *rng, const struct program *program)
{
    struct s_maker m = {.arena = arena, .rng = rng, .program = program, .text = buf_in(arena)};
    s_look(&m);
    s_changes(&m);
    s_online(&m);
    s_fates(&m);
    for (size_t i = 0; i < m.program->rec_count; i++)
        s_rec(&m, &m.program->recs[i]);
    for (size_t i = 0; i < m.program->stage_count; i++) {
        struct s_stage *s = &m.stages[i];
        for (unsigned w = 0; w < s->word_count && (s->hosted || s->between); w++)
            buf_printf(&m.text, "%s%s%s%s", w ? "" : s->stage->tensor->name, w ? " " : ": ",
                       s->words[w], w + 1 == s->word_count ? "\n" : "");
        if (s->hosted || s->between ||
            (s->inlined && s->stage->tensor->output < 0 && s_chance(&m, 80)) ||
            (s->word_count == 0 && s_chance(&m, 10)))
            continue;
        s_loops(&m, s);
        if (s->reduce != NULL)
            s_acc(&m, s), s_lanes(&m, s);
        s_marks(&m, s);
        s_words(&m, s);
        if (s->online != NULL)
            s_online_words(&m, s);
        s_print(&m, s);
    }
    return m.text.data != NULL ? m.text.data : "";
}

#endif
