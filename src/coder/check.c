/* What a schedule may say: each token in its place, and what they are together. Never a question of
 * the machine. */
#include "coder/coder_int.h"

#include <stdarg.h>
#include <string.h>

struct checker {
    struct schedule *schedule;
    struct diags *diags;
    struct work *work;
    struct line *line;
    bool good;
};

__attribute__((format(printf, 3, 4))) static void
illegal(struct checker *checker, const struct token *token, const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    diags_add(checker->diags, DIAG_ERROR, token != NULL ? token->place : checker->line->place,
              "%s%s%s", token != NULL ? token->text : checker->work->tensor->name, ": ", text);
    checker->good = false;
}

/* ---- loops ---- */

static void
check_steps(struct checker *checker)
{
    const struct work *work = checker->work;
    int64_t step[LANG_MAX_LEVELS];
    bool ended[LANG_MAX_LEVELS] = {false};
    for (unsigned i = 0; i < LANG_MAX_LEVELS; i++)
        step[i] = INT64_MAX;
    for (size_t i = 0; i < checker->line->count; i++) {
        struct token *token = &checker->line->tokens[i];
        if (token->form != TOKEN_LOOP)
            continue;
        const char *name = work->index[token->level];
        if (token->in_lanes) {
            token->step *= work->lanes;
            token->in_lanes = false;
        }
        if (ended[token->level])
            illegal(checker, token, "%s has ended already; leave it out", name);
        else if (token->mark == MARK_VECTOR && token->step != 1)
            illegal(checker, token, "@v takes the rest of the tile; write %s@v", name);
        else if (token->mark != MARK_VECTOR && token->step >= step[token->level])
            illegal(checker, token, "steps of %s must fall: the last one was %lld", name,
                    (long long)step[token->level]);
        step[token->level] = token->step;
        ended[token->level] = token->step == 1;
    }
    bool carried = work->stage->rec >= 0;
    for (unsigned i = 0; i < work->levels; i++)
        if (!ended[i] && work->extent[i] != 1 &&
            !(carried && i == work->stage->carried && !work_runs_scan(checker->schedule, work))) {
            /* it is named at its last loop */
            struct token *last = NULL;
            for (size_t t = 0; t < checker->line->count; t++)
                if (checker->line->tokens[t].form == TOKEN_LOOP &&
                    checker->line->tokens[t].level == i)
                    last = &checker->line->tokens[t];
            illegal(checker, last, "%s must end at step 1 or with @v; write %s at the end",
                    work->index[i], work->index[i]);
        }
}

/* The index of a scan goes upwards; in lanes it must be innermost and a running sum. */
static void
check_carried(struct checker *checker, const struct token *token, size_t at)
{
    const struct work *work = checker->work;
    if (work->before == NULL)
        illegal(checker, token, "%s is carried from step to step; the block's own loop runs it",
                work->index[token->level]);
    else if (token->mark == MARK_THREADS || token->mark == MARK_OWN)
        illegal(checker, token,
                "%s is carried from step to step; write %s, %s@u or, innermost, %s@v", token->name,
                token->name, token->name, token->name);
    else if (token->mark == MARK_VECTOR &&
             (work_running_sum(work) == NULL || !dtype_is_float(work->tensor->dtype) ||
              (work->tensor->dtype != DTYPE_F32 && work->tensor->dtype != DTYPE_F64)))
        illegal(checker, token,
                "only running sums of f32 or f64 are scanned in a register; write %s", token->name);
    else if (token->mark == MARK_VECTOR && at + 1 != checker->line->count)
        illegal(checker, token, "lanes of a scan are innermost; put it last");
    for (size_t i = 0; i < at; i++) { /* each step's result is whole before the next one reads it */
        const struct token *before = &checker->line->tokens[i];
        bool reduces = before->form == TOKEN_LOOP && !work_is_left(work, before->level);
        if (work->reduce != NULL && (before->form == TOKEN_ACC || reduces)) {
            illegal(checker, token, "the next step reads what is reduced here; put it before %s",
                    before->text);
            return;
        }
    }
    for (size_t i = 0; i < at && work->before != NULL; i++) {
        const struct token *outer = &checker->line->tokens[i];
        if (outer->form == TOKEN_ACC ||
            (outer->form == TOKEN_LOOP && !work_is_left(work, outer->level)))
            illegal(checker, token, "each step needs the one before; put it before %s",
                    outer->text);
    }
    for (size_t i = 0; token->mark == MARK_VECTOR && i < at; i++) {
        const struct token *before = &checker->line->tokens[i], *next = before + 1;
        if (before->form == TOKEN_LOOP && before->level == token->level &&
            !(next->form == TOKEN_LOOP && next->level == token->level))
            illegal(checker, before, "loops of a scan in lanes stand together, innermost");
    }
}

static void
check_marks(struct checker *checker)
{
    const struct work *work = checker->work;
    const struct token *vector = NULL, *threads = NULL;
    uint32_t grouped = 0;
    bool in_group = false;
    bool carried = work->stage->rec >= 0;
    for (size_t i = 0; i < checker->line->count; i++) {
        const struct token *token = &checker->line->tokens[i];
        bool group = token->form == TOKEN_LOOP && token->mark == MARK_THREADS;
        bool left = token->form == TOKEN_LOOP && work_is_left(work, token->level);
        if (token->form == TOKEN_LOOP && carried && token->level == work->stage->carried)
            check_carried(checker, token, i);
        if (group && !left)
            illegal(
                checker, token,
                "a reduction is not spread over threads; ! split %s %s STEP makes partial results",
                work->tensor->name, work->index[token->level]);
        if (group && threads != NULL && !in_group)
            illegal(checker, token, "threads are shared out once; put it beside %s", threads->text);
        if (group && in_group && (grouped & 1u << token->level))
            illegal(checker, token,
                    "%s is in the group already, and its steps would not be "
                    "rectangular; leave out @p",
                    work->index[token->level]);
        if (group)
            grouped |= 1u << token->level;
        if (group && work_rec_has_loops(checker->schedule, work->stage->rec))
            illegal(checker, token,
                    "the steps of the block are shared among threads; leave out @p");
        if (group && work->fate != FATE_ROOT)
            illegal(checker, token, "%s is computed inside of another stage's loops; leave out @p",
                    work->tensor->name);
        if (token->form == TOKEN_LOOP && token->mark == MARK_VECTOR) {
            if (work_is_cut(work, token->level))
                illegal(checker, token,
                        "the reduction of %s is in a piece of a cat over %s; give lanes to another "
                        "index",
                        work->tensor->name, work->index[token->level]);
            if (vector != NULL)
                illegal(checker, token, "lanes are given once; %s has them", vector->text);
            vector = token;
        }
        if (token->form == TOKEN_LOOP && token->mark == MARK_OWN && left)
            illegal(checker, token, "@a is for reduction indices; %s is on the left: write @u",
                    work->index[token->level]);
        if (token->form == TOKEN_PACK && token->tensor == work->tensor &&
            work_runs_scan(checker->schedule, work))
            illegal(checker, token, "%s is computed by these loops; leave it out",
                    work->tensor->name);
        if (token->form == TOKEN_PACK && vector != NULL)
            illegal(checker, token, "below %s there is one vector; put it before", vector->text);
        threads = group ? token : threads;
        in_group = group;
    }
}

static void
check_acc(struct checker *checker)
{
    const struct work *work = checker->work;
    const struct token *acc = NULL;
    for (size_t i = 0; i < checker->line->count; i++) {
        const struct token *token = &checker->line->tokens[i];
        if (token->form == TOKEN_ACC) {
            if (acc != NULL)
                illegal(checker, token, "once is enough");
            acc = token;
        }
        if (token->form == TOKEN_ACC && work->reduce == NULL)
            illegal(checker, token, "%s has no reduction; leave it out", work->tensor->name);
        bool loop = token->form == TOKEN_LOOP;
        if (loop && acc != NULL && work->reduce != NULL && work_is_left(work, token->level) &&
            token->mark != MARK_UNROLL && token->mark != MARK_VECTOR)
            illegal(checker, token,
                    "below acc the tile is in registers; write @u or @v, or put it "
                    "before acc");
        if (loop && acc == NULL && token->mark == MARK_VECTOR && !work_is_left(work, token->level))
            illegal(checker, token,
                    "lanes of a reduction are joined in registers; put acc before it");
        if (acc != NULL && token->form == TOKEN_DO)
            illegal(checker, token, "put it before acc");
        enum reduction reduction =
            work->reduce != NULL ? work->reduce->binder->reduction : REDUCE_SUM;
        bool filtered = work->reduce != NULL && expr_filter(work->reduce) != NULL;
        bool whole = reduction == REDUCE_ARGMAX || reduction == REDUCE_ARGMIN ||
                     (reduction == REDUCE_MEAN && filtered);
        if (loop && acc == NULL && whole && !work_is_left(work, token->level))
            illegal(checker, token, "%s cannot be kept in memory between passes; put acc before it",
                    reduction_name[reduction]);
    }
}

/* ---- guests and producers ---- */

/* with(S): the guest's indices in the host, by name unless said otherwise. The set of them in
 * *mapped. */
static bool
map_guest(struct checker *checker, struct token *token, const struct work *guest, uint32_t *mapped)
{
    const struct work *host = checker->work;
    *mapped = 0;
    for (unsigned i = 0; i < guest->levels; i++) {
        for (unsigned h = 0; h < host->levels && token->map[i] < 0; h++)
            if (strcmp(guest->index[i], host->index[h]) == 0)
                token->map[i] = (int8_t)h;
        if (token->map[i] < 0 || host->extent[token->map[i]] != guest->extent[i] ||
            (*mapped & 1u << token->map[i])) {
            illegal(checker, token,
                    "index %s of %s has no loop of the same extent here; write %s=j",
                    guest->index[i], guest->tensor->name, guest->index[i]);
            return false;
        }
        *mapped |= 1u << token->map[i];
    }
    return true;
}

/* Whatever its loops: who may be a guest of whom. */
static void
check_hospitality(struct checker *checker, const struct token *token, const struct work *guest)
{
    const struct work *host = checker->work;
    const struct line *own = &checker->schedule->lines[token->stage];
    for (size_t t = 0; t < own->count; t++)
        if (own->tokens[t].form != TOKEN_INLINE) {
            illegal(checker, token, "%s runs in these loops; it has no line of its own",
                    guest->tensor->name);
            break;
        }
    if (!guest->stored && host->fate == FATE_ROOT)
        illegal(checker, token, "nobody reads %s; leave it out", guest->tensor->name);
    if (guest->lanes != host->lanes)
        illegal(checker, token, "%s computes with another type; give it loops of its own",
                guest->tensor->name);
    if (guest->stage->rec >= 0 || host->stage->rec >= 0)
        illegal(checker, token, "stages of a rec block have loops of their own");
}

/* Neither may read of the other what is not there yet. */
static bool
check_guest_reads(struct checker *checker, const struct token *token, const struct work *guest)
{
    const struct work *host = checker->work;
    if (work_loads(host->code, guest->tensor, NULL, 0) > 0)
        illegal(checker, token, "%s reads %s; do(%s) computes it there", host->tensor->name,
                guest->tensor->name, guest->tensor->name);
    const struct expr *loads[64];
    size_t count = work_loads(guest->code, host->tensor, loads, 64);
    if (count > 0 && host->reduce != NULL) {
        illegal(checker, token, "%s reads %s, which is not known until its loops have ended",
                guest->tensor->name, host->tensor->name);
        return false;
    }
    for (size_t i = 0; i < count && i < 64; i++)
        for (unsigned d = 0; d < host->rank; d++) {
            const struct expr *e = loads[i]->args[d];
            if (e->op != OP_INDEX || token->map[e->level] != (int)d) {
                illegal(checker, token, "%s reads %s elsewhere than at the current point",
                        guest->tensor->name, host->tensor->name);
                return false;
            }
        }
    return true;
}

/* A loop of the host: does the guest have this index, and on its left side? */
static void
check_guest_loop(struct checker *checker, size_t at, const struct token *loop, bool has)
{
    const struct token *token = &checker->line->tokens[at];
    const struct work *guest = &checker->schedule->works[token->stage];
    bool left = false, runs = checker->work->extent[loop->level] > 1, before = loop < token;
    for (unsigned i = 0; i < guest->rank; i++) {
        left = left || token->map[i] == (int)loop->level;
        if (token->map[i] == (int)loop->level && loop->mark == MARK_VECTOR && work_is_cut(guest, i))
            illegal(checker, token,
                    "the reduction of %s is in a piece of a cat over %s, which has lanes here",
                    guest->tensor->name, guest->index[i]);
    }
    if (!has && runs)
        illegal(checker, loop, "%s has no such index, so with(%s) would compute it many times",
                guest->tensor->name, guest->tensor->name);
    else if (!left && loop->mark == MARK_THREADS && runs)
        illegal(checker, loop, "%s is reduced over it, which threads cannot share out",
                guest->tensor->name);
    else if (before && !left && runs)
        illegal(checker, token, "put it before %s, over which %s is reduced", loop->text,
                guest->tensor->name);
    else if (!before && left && guest->reduce != NULL && loop->mark != MARK_UNROLL &&
             loop->mark != MARK_VECTOR)
        illegal(checker, token, "put it behind %s, which is on the left of %s", loop->text,
                guest->tensor->name);
}

static void
check_guest(struct checker *checker, size_t at)
{
    const struct line *line = checker->line;
    struct token *token = &checker->line->tokens[at];
    const struct work *guest = &checker->schedule->works[token->stage];
    uint32_t mapped;
    if (!map_guest(checker, token, guest, &mapped))
        return;
    check_hospitality(checker, token, guest);
    if (!check_guest_reads(checker, token, guest))
        return;
    for (size_t t = 0; t < line->count; t++)
        if (line->tokens[t].form == TOKEN_LOOP)
            check_guest_loop(checker, at, &line->tokens[t], mapped & 1u << line->tokens[t].level);
}

/* A guest is computed when its host is: what it reads must be there by then, and who reads it must
 * come later. */
static void
check_order(struct checker *checker, const struct token *token)
{
    const struct schedule *schedule = checker->schedule;
    const struct work *guest = &schedule->works[token->stage];
    size_t host = checker->work->number, now = work_place(schedule, host);
    for (size_t i = 0; i < schedule->program->stage_count; i++) {
        const struct work *other = &schedule->works[i];
        if (i == host || i == guest->number || other->fate == FATE_INLINE)
            continue;
        /* also what is computed in other loops may have its own, if others read it */
        bool whole = work_is_root(other);
        if (work_loads(guest->code, other->tensor, NULL, 0) > 0 &&
            !work_is_provided(schedule, i, guest->number)) {
            if ((whole ? i : work_place(schedule, i)) >= now)
                illegal(checker, token, "%s reads %s, which is computed after %s",
                        guest->tensor->name, other->tensor->name, checker->work->tensor->name);
        }
        if (work_loads(other->code, guest->tensor, NULL, 0) > 0 &&
            ((whole && i < now) ||
             (work_place(schedule, i) <= now && !work_comes_after(schedule, host, i))))
            illegal(checker, token, "%s is read by %s, which is computed before %s or with it",
                    guest->tensor->name, other->tensor->name, checker->work->tensor->name);
    }
}

/* Does a pack read the tensor: as what it copies, or in its subscripts? */
static bool
copies(const struct work *work, const struct token *pack, const struct tensor *tensor)
{
    const struct expr *loads[64];
    size_t count = work_loads(work->code, pack->tensor, loads, 64);
    for (size_t i = 0; i < count && i < 64; i++)
        if (work_loads(loads[i], tensor, NULL, 0) > 0)
            return true;
    return pack->tensor == tensor;
}

/* Copies are made where they stand: what is computed in a line stands before them. */
static void
check_copied(struct checker *checker, size_t at, const struct tensor *tensor, const char *name)
{
    for (size_t i = 0; i < at; i++) {
        const struct token *other = &checker->line->tokens[i];
        if (other->form == TOKEN_PACK && copies(checker->work, other, tensor))
            illegal(checker, &checker->line->tokens[at], "put it before %s, which reads %s",
                    other->text, name);
    }
}

/* What is computed in a line stands before what reads it. */
static void
check_readers(struct checker *checker, size_t at, const struct work *producer)
{
    const struct token *token = &checker->line->tokens[at];
    const struct schedule *schedule = checker->schedule;
    bool read = work_loads(checker->work->code, producer->tensor, NULL, 0) > 0;
    check_copied(checker, at, producer->tensor, "it");
    for (size_t i = 0; i < checker->line->count; i++) {
        const struct token *other = &checker->line->tokens[i];
        if ((other->form != TOKEN_DO && other->form != TOKEN_WITH) || i == at)
            continue;
        const struct work *reader = &schedule->works[other->stage];
        const struct line *line = &schedule->lines[other->stage];
        bool reads = work_loads(reader->code, producer->tensor, NULL, 0) > 0;
        for (size_t t = 0; other->form == TOKEN_DO && t < line->count && !reads; t++)
            reads = (line->tokens[t].form == TOKEN_DO || line->tokens[t].form == TOKEN_WITH) &&
                    work_loads(schedule->works[line->tokens[t].stage].code, producer->tensor, NULL,
                               0) > 0;
        if (reads && other->form == TOKEN_DO && i < at)
            illegal(checker, token, "put it before %s, which reads it", other->text);
        read = read || reads;
    }
    if (!read)
        illegal(checker, token, "%s is not read here; leave it out", producer->tensor->name);
}

/* The producer is computed as a whole too, where what these loops alone compute is not there: does
 * it read any of that, itself or in what its line computes? */
static void
check_whole(struct checker *checker, const struct token *token, const struct work *producer,
            const struct work *reader)
{
    const struct schedule *schedule = checker->schedule;
    const struct line *line = &schedule->lines[reader->number];
    for (size_t i = 0; i < reader->number; i++) {
        const struct work *other = &schedule->works[i];
        if ((other->fate == FATE_DO || other->fate == FATE_WITH) && !other->stored &&
            work_loads(reader->code, other->tensor, NULL, 0) > 0 &&
            !work_is_provided_in(schedule, i, reader->number, producer->number))
            illegal(checker, token,
                    "%s is computed as a whole too, and %s reads %s, which is computed in these "
                    "loops alone; compute it in the line of %s",
                    producer->tensor->name, reader->tensor->name, other->tensor->name,
                    producer->tensor->name);
    }
    for (size_t i = 0; i < line->count; i++)
        if (line->tokens[i].form == TOKEN_DO || line->tokens[i].form == TOKEN_WITH)
            check_whole(checker, token, producer, &schedule->works[line->tokens[i].stage]);
}

/* A scan in other loops begins anew in each box: that must have all of its steps, and nobody else
 * may need it. */
static void
check_scan(struct checker *checker, size_t at, const struct work *producer)
{
    const struct token *token = &checker->line->tokens[at];
    const struct schedule *schedule = checker->schedule;
    const char *step = producer->index[producer->stage->carried];
    uint32_t levels = 0;
    if (!work_runs_scan(schedule, producer))
        illegal(checker, token, "stages of a rec block are not computed in other loops%s%s",
                producer->before != NULL ? "; a scan is, if its line runs " : "",
                producer->before != NULL ? step : "");
    else if (!work_is_read_along(schedule, producer, checker->work, &levels))
        illegal(checker, token, "%s must be read by %s alone, and at every %s; leave it out",
                producer->tensor->name, checker->work->tensor->name, step);
    for (size_t i = 0; i < at; i++)
        if (checker->line->tokens[i].form == TOKEN_LOOP &&
            (levels & 1u << checker->line->tokens[i].level))
            illegal(checker, token, "%s runs over all of %s; put it before %s",
                    producer->tensor->name, step, checker->line->tokens[i].text);
}

static void
check_producer(struct checker *checker, size_t at)
{
    const struct token *token = &checker->line->tokens[at];
    struct schedule *schedule = checker->schedule;
    struct work *producer = &schedule->works[token->stage];
    if (producer->number >= checker->work->number) {
        illegal(checker, token, "%s is computed after %s; only what is read can be computed here",
                producer->tensor->name, checker->work->tensor->name);
        return;
    }
    if (checker->work->stage->rec >= 0 && !work_runs_scan(schedule, checker->work)) {
        illegal(checker, token, "nothing is computed in the loops of a rec block's stages");
        return;
    }
    if (producer->stage->rec >= 0)
        check_scan(checker, at, producer);
    check_readers(checker, at, producer);
    producer->in_place = producer->stored && work_is_made_up(schedule, producer, at);
    if (producer->stored && !producer->in_place)
        check_whole(checker, token, producer, producer);
    const struct line *line = &schedule->lines[token->stage];
    for (size_t i = 0; i < line->count; i++)
        if (line->tokens[i].form == TOKEN_WITH) {
            struct work *guest = &schedule->works[line->tokens[i].stage];
            check_copied(checker, at, guest->tensor, guest->tensor->name);
            if (producer->stored && !producer->in_place)
                illegal(checker, token,
                        "%s is computed as a whole too, and %s runs with it; leave out with(%s)",
                        producer->tensor->name, guest->tensor->name, guest->tensor->name);
            else if (guest->stored)
                illegal(checker, token,
                        "%s, which runs with %s, is needed elsewhere too; give it loops of its own",
                        guest->tensor->name, producer->tensor->name);
        }
}

/* The rows of a tile have their maxima and sums in scratch, made for all lanes by one thread. */
static void
check_online(struct checker *checker, size_t at)
{
    const struct token *token = &checker->line->tokens[at];
    for (size_t i = 0; i < checker->line->count; i++) {
        const struct token *other = &checker->line->tokens[i];
        if (i < at && other->form == TOKEN_ACC)
            illegal(checker, token, "put it before acc");
        if (i > at && other->form == TOKEN_LOOP && other->mark == MARK_THREADS)
            illegal(checker, other, "threads each have tiles of their own; put it before online()");
        if (i < at && other->form == TOKEN_LOOP && other->mark == MARK_VECTOR)
            illegal(checker, other, "lanes are those of one tile; put it behind online()");
        if (i < at && other->form == TOKEN_LOOP && !work_is_left(checker->work, other->level))
            illegal(checker, other, "online() runs %s; put it behind it",
                    checker->work->index[other->level]);
        if (other->form == TOKEN_WITH)
            illegal(checker, other, "online() scales the results of one stage; use do()");
    }
}

static void
check_prefetch(struct checker *checker, size_t at)
{
    const struct token *token = &checker->line->tokens[at], *later = NULL;
    const struct work *work =
        checker->work->online != NULL ? &checker->work->online->work : checker->work;
    const struct expr *load = prefetch_access(work, token->tensor);
    const char *name = token->tensor->name;
    if (load == NULL) {
        illegal(checker, token, "%s does not read %s in its loops; leave it out",
                work->tensor->name, name);
        return;
    }
    const struct stage *stage = token->tensor->stage;
    if (stage != NULL &&
        work_is_provided(checker->schedule, (size_t)(stage - checker->schedule->program->stages),
                         work->number)) {
        illegal(checker, token, "%s is computed just before it is read; leave it out", name);
        return;
    }
    for (unsigned d = 0; d < token->tensor->rank; d++)
        if (load->args[d]->loads) {
            illegal(checker, token, "where %s is read is itself read from memory; leave it out",
                    name);
            return;
        }
    for (size_t i = 0; i < at; i++)
        if (checker->line->tokens[i].form == TOKEN_PACK &&
            checker->line->tokens[i].tensor == token->tensor) {
            illegal(checker, token, "%s is copied by %s and read in order; leave out one of them",
                    name, checker->line->tokens[i].text);
            return;
        }
    if (token->name != NULL) {
        if (!work_is_left(work, token->level))
            illegal(checker, token, "%s is no left index; leave it out", token->name);
        else if (!(load->free & 1u << token->level))
            illegal(checker, token, "what is read of %s does not depend on %s; leave it out", name,
                    token->name);
        return;
    }
    for (size_t i = at + 1; i < checker->line->count && later == NULL; i++)
        if (checker->line->tokens[i].form == TOKEN_LOOP &&
            (load->free & 1u << checker->line->tokens[i].level))
            later = &checker->line->tokens[i];
    if (prefetch_loop(checker->line, at, load) == NULL && later != NULL)
        illegal(checker, token, "no loop before it moves %s; put it behind %s", name, later->text);
    else if (prefetch_loop(checker->line, at, load) == NULL)
        illegal(checker, token, "no loop moves %s; leave it out", name);
}

/* ---- all ---- */

static void
check_line(struct checker *checker)
{
    check_steps(checker);
    check_marks(checker);
    check_acc(checker);
    for (size_t i = 0; i < checker->line->count; i++) {
        const struct token *token = &checker->line->tokens[i];
        if (token->form == TOKEN_WITH)
            check_guest(checker, i);
        if (token->form == TOKEN_DO)
            check_producer(checker, i);
        if (token->form == TOKEN_PRE)
            check_prefetch(checker, i);
        if (token->form == TOKEN_ONLINE)
            check_online(checker, i);
    }
}

/* ---- rec S: ---- */

/* A thread's steps need nothing of another's. */
static void
check_rec_loop(struct checker *checker, const struct rec *rec, const struct token *token)
{
    const struct work *reader, *read;
    if (work_is_own(checker->schedule, rec, token->name, &reader, &read))
        return;
    if (read == NULL)
        illegal(checker, token, "%s has no left index %s of the same extent", reader->tensor->name,
                token->name);
    else
        illegal(checker, token,
                "%s reads %s at another %s than its own, so steps cannot be shared by it; put @p "
                "in the lines of the stages",
                reader->tensor->name, read->tensor->name, token->name);
}

static void
check_rec_pack(struct checker *checker, const struct rec *rec, const struct token *token)
{
    const struct schedule *schedule = checker->schedule;
    bool read = false;
    for (size_t i = rec->first; i < rec->first + rec->count; i++) {
        if (schedule->works[i].tensor == token->tensor)
            illegal(checker, token,
                    "%s changes from step to step; put it in the line that reads it",
                    token->tensor->name);
        for (size_t t = 0; t < schedule->lines[i].count; t++) {
            const struct token *own = &schedule->lines[i].tokens[t];
            read = read || (own->form == TOKEN_PACK && own->hidden &&
                            own->place.line == token->place.line &&
                            own->place.column == token->place.column);
        }
    }
    if (!read)
        illegal(checker, token, "no stage of the block reads %s in its loops; leave it out",
                token->tensor->name);
}

/* The line of a block: copies made once, loops around its steps. */
static bool
check_rec(struct schedule *schedule, size_t number, struct diags *diags)
{
    const struct rec *rec = &schedule->program->recs[number];
    struct checker checker = {schedule, diags, &schedule->works[rec->first],
                              &schedule->recs[number], true};
    uint32_t seen = 0;
    for (size_t i = 0; i < checker.line->count; i++) {
        struct token *token = &checker.line->tokens[i];
        if (token->form == TOKEN_PACK)
            check_rec_pack(&checker, rec, token);
        else if (token->form != TOKEN_LOOP || token->mark != MARK_THREADS ||
                 !work_is_left(checker.work, token->level))
            illegal(&checker, token, "around the steps stand pack(T) and left indices with @p");
        else if (work_runs_scan(schedule, checker.work))
            illegal(&checker, token, "the line of %s runs %s itself; put %s@p there",
                    checker.work->tensor->name, checker.work->index[checker.work->stage->carried],
                    token->name);
        else if (seen & 1u << token->level)
            illegal(&checker, token, "once is enough");
        else
            check_rec_loop(&checker, rec, token);
        if (token->form == TOKEN_LOOP)
            seen |= 1u << token->level;
        if (token->in_lanes) {
            token->step *= checker.work->lanes;
            token->in_lanes = false;
        }
    }
    return checker.good;
}

/* A stage that is gone computes nothing for others. */
static void
check_gone(struct checker *checker)
{
    for (size_t i = 0; i < checker->line->count; i++) {
        const struct token *token = &checker->line->tokens[i];
        if (token->form == TOKEN_DO || token->form == TOKEN_WITH || token->form == TOKEN_ONLINE)
            illegal(checker, token, "%s is inlined and has no loops; name it where %s is inlined",
                    checker->work->tensor->name, checker->work->tensor->name);
    }
}

bool
check_schedule(struct schedule *schedule, struct diags *diags)
{
    bool good = true;
    for (size_t i = 0; i < schedule->program->stage_count; i++) {
        struct checker checker = {schedule, diags, &schedule->works[i], &schedule->lines[i], true};
        if (schedule->works[i].fate == FATE_INLINE)
            check_gone(&checker);
        else if (work_has_loops(&schedule->works[i]) && schedule->works[i].fate != FATE_WITH)
            check_line(&checker);
        good = good && checker.good;
    }
    for (size_t i = 0; i < schedule->program->rec_count; i++)
        good = check_rec(schedule, i, diags) && good;
    for (size_t i = 0; i < schedule->program->stage_count; i++) /* now all fates are known */
        for (size_t t = 0; t < schedule->lines[i].count; t++) {
            struct checker checker = {schedule, diags, &schedule->works[i], &schedule->lines[i],
                                      true};
            if (schedule->lines[i].tokens[t].form == TOKEN_WITH)
                check_order(&checker, &schedule->lines[i].tokens[t]);
            good = good && checker.good;
        }
    return good;
}
