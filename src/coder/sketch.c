/* Sketches: schedules with holes, chosen by the shapes of the stages and filled in by a genome.
 *
 * The same walk asks the questions and writes the text. Stages are taken from the last to the
 * first; a root takes along the producers that its rows alone read (norms, softmax, attention);
 * what is left is a nest of its own, laid out as a tile of registers, as rows, or as a stream. */
#include "coder/sketch_int.h"
#include "coder/view_int.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

/* ---- questions ---- */

static uint16_t
gene_of(const char *stage, const char *what)
{
    uint32_t hash = 2166136261u;
    for (const char *c = stage; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    for (const char *c = what; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    return (uint16_t)((hash ^ hash >> 11 ^ hash >> 22) % CODER_GENES);
}

unsigned
sketch_ask(struct sketcher *s, const char *stage, const char *what, unsigned answers,
           unsigned usual)
{
    double share;
    const char *class = sketch_class(s, stage, &share);
    uint16_t gene = gene_of(class, what);
    if (answers < 2)
        return 0;
    if (usual >= answers)
        usual = answers - 1;
    if (!s->asked[gene])
        s->holes[s->hole_count++] = (struct coder_hole){
            arena_printf(s->space->arena, "%s %s", class, what), gene, answers, usual, share};
    s->asked[gene] = true;
    return (usual + s->genome->gene[gene]) % answers;
}

bool
sketch_ask_if(struct sketcher *s, const char *stage, const char *what, bool usual)
{
    return sketch_ask(s, stage, what, 2, usual);
}

void
sketch_put(struct sketcher *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    buf_putc(&s->lines, ' ');
    buf_vprintf(&s->lines, format, args);
    va_end(args);
}

/* ---- rewrites ---- */

struct changed { /* programs after rewrites, by the text of those */
    struct changed *next;
    const char *text;
    struct program *program; /* NULL: refused */
};

static bool
change(struct sketcher *s, const struct change_line *line, const char *text)
{
    struct coder_space *space = s->space;
    const char *key =
        arena_printf(space->arena, "%s%s\n", s->changes.length ? s->changes.data : "", text);
    struct changed *known = space->changed;
    while (known != NULL && strcmp(known->text, key) != 0)
        known = known->next;
    if (known == NULL) {
        const char *why;
        known = arena_alloc(space->arena, sizeof *known);
        *known = (struct changed){space->changed, key,
                                  change_program(space->arena, s->program, line, &why)};
        space->changed = known;
    }
    if (known->program == NULL)
        return false;
    s->program = known->program;
    buf_printf(&s->changes, "%s\n", text);
    return true;
}

static const struct stage *
stage_named(const struct program *program, const char *name)
{
    for (size_t i = 0; i < program->stage_count; i++)
        if (strcmp(program->stages[i].tensor->name, name) == 0)
            return &program->stages[i];
    return NULL;
}

/* Rows put end to end are as wide as those that are read. */
static bool
saves_lanes(const struct sketcher *s, const struct stage *stage)
{
    const struct expr *reduce = work_reduce(stage->code), *loads[VIEW_LOADS];
    unsigned last = stage->tensor->rank - 1;
    int64_t width = stage->tensor->size[last], lanes = s->space->machine.vector_bytes / 4;
    int64_t row = width;
    size_t count = reduce != NULL ? view_loads(reduce->args[0], loads) : 0;
    for (size_t i = 0; i < count; i++)
        for (unsigned d = 0; d < loads[i]->tensor->rank; d++)
            if ((loads[i]->args[d]->free & 1u << last) && loads[i]->tensor->size[d] > row)
                row = loads[i]->tensor->size[d];
    return sketch_flat_pays(width, row, lanes);
}

/* The D of c/D in a subscript, c being this level; 0: there is none. */
static int64_t
part_in(const struct expr *e, unsigned level)
{
    int64_t part = 0;
    if (!(e->free & 1u << level))
        return 0;
    if (e->op == OP_DIV && e->args[0]->op == OP_INDEX && e->args[0]->level == level &&
        e->args[1]->op == OP_INT)
        return e->args[1]->integer;
    for (unsigned i = 0; i < e->count && part == 0; i++)
        part = part_in(e->args[i], level);
    return part;
}

/* The D of c/D, with which something is read at this left index of a reduction; 0: none. */
static int64_t
part_of(const struct expr *reduce, unsigned level)
{
    const struct expr *loads[VIEW_LOADS];
    int64_t part = 0;
    size_t count = view_loads(reduce->args[0], loads);
    for (size_t i = 0; i < count && part == 0; i++)
        for (unsigned d = 0; d < loads[i]->tensor->rank && part == 0; d++)
            part = part_in(loads[i]->args[d], level);
    return part;
}

/* An index of their own for what lies side by side: heads, groups of channels. Returns the stage
 * that then computes, under its new name. */
static const char *
change_part(struct sketcher *s, const char *name, unsigned level, int64_t part)
{
    struct arena *arena = s->space->arena;
    const char *index = stage_named(s->program, name)->index[level];
    bool done = part > 1 && sketch_ask_if(s, name, "part", true) &&
                change(s, &(struct change_line){CHANGE_PART, name, index, NULL, part},
                       arena_printf(arena, "! part %s %s %" PRId64, name, index, part));
    return done ? arena_printf(arena, "%s.%s", name, index) : name;
}

/* A transposed convolution is computed in a stage of its own, whose results the stage itself puts
 * in order. */
static const char *
computing_stage(const struct sketcher *s, const char *name)
{
    const struct stage *stage = stage_named(s->program, name);
    for (size_t i = 0; i < s->program->stage_count && work_reduce(stage->code) == NULL; i++) {
        const struct stage *other = &s->program->stages[i];
        if (work_reduce(other->code) != NULL && work_loads(stage->code, other->tensor, NULL, 0) > 0)
            return other->tensor->name;
    }
    return name;
}

/* Windows: where their elements are used often, what may lie outside is padded, strides become
 * phases, and rows that leave lanes idle are put end to end. */
static void
change_windows(struct sketcher *s, const char *name)
{
    struct arena *arena = s->space->arena;
    const struct stage *stage = stage_named(s->program, name);
    const struct expr *reduce = work_reduce(stage->code), *loads[VIEW_LOADS];
    if (reduce == NULL || stage->rec >= 0 || stage->tensor->rank < 2)
        return;
    size_t count = view_loads(reduce->args[0], loads);
    unsigned last = stage->tensor->rank - 1;
    const char *padded = NULL, *window = NULL;
    /* groups of channels: the filters of one share what they read */
    int64_t group = last > 1 ? part_of(reduce, 1) : 0;
    bool strided = false, reused = group > 1; /* by another left index, as in a convolution */
    for (size_t i = 0; i < count; i++) {
        int64_t stride;
        if (expr_default(loads[i]) != NULL)
            padded = loads[i]->tensor->name;
        bool plain = true;
        for (unsigned d = 0; d < loads[i]->tensor->rank; d++)
            plain = plain &&
                    (loads[i]->args[d]->op == OP_INDEX || !(loads[i]->args[d]->free & 1u << last));
        if (!plain && (loads[i]->free & 1u << last)) {
            window = loads[i]->tensor->name;
            for (unsigned l = 0; l < last; l++)
                reused = reused || (stage->tensor->size[l] > 1 && !(loads[i]->free & 1u << l));
            strided = strided || !view_stride(loads[i], last, &stride) || stride > 1;
        }
    }
    if (window == NULL)
        return;
    /* what a transposed convolution reads is padded phase by phase */
    bool transposed = strided && expr_filter(reduce) != NULL;
    if (padded != NULL && !transposed && sketch_ask_if(s, name, "pad", reused))
        change(s, &(struct change_line){CHANGE_PAD, name, padded, NULL, 0},
               arena_printf(arena, "! pad %s %s", name, padded));
    if (group <= 1 && !transposed && sketch_ask_filters(s, stage))
        return; /* neither strides nor short rows matter there */
    const char *flat = name;
    if (strided && sketch_ask_if(s, name, "phase", reused) &&
        change(s, &(struct change_line){CHANGE_PHASE, name, window, NULL, 0},
               arena_printf(arena, "! phase %s %s", name, window))) {
        flat = computing_stage(s, name);
        if (flat != name && sketch_ask_if(s, name, "pad phases", true))
            change(s, &(struct change_line){CHANGE_PAD, flat, window, NULL, 0},
                   arena_printf(arena, "! pad %s %s", flat, window));
        if (group <= 1 && transposed && sketch_ask_filters(s, stage_named(s->program, flat)))
            return;
    }
    flat = change_part(s, flat, 1, group);
    const struct stage *target = stage_named(s->program, flat);
    unsigned rank = target->tensor->rank;
    if (sketch_ask_if(s, name, "flat", reused && saves_lanes(s, target)))
        change(s,
               &(struct change_line){CHANGE_FLAT, flat, target->index[rank - 2],
                                     target->index[rank - 1], 0},
               arena_printf(arena, "! flat %s %s %s", flat, target->index[rank - 2],
                            target->index[rank - 1]));
}

/* Pools: with a stride, vectors along a row are put together element by element, so that is done
 * once for all rows of a window. */
static void
change_rows(struct sketcher *s, const char *name)
{
    const struct stage *stage = stage_named(s->program, name);
    const struct expr *reduce = work_reduce(stage->code);
    unsigned last = stage->tensor->rank - 1;
    int64_t stride, lanes = s->space->machine.vector_bytes / 4;
    const struct expr *load = reduce != NULL ? reduce->args[0] : NULL;
    if (load == NULL || stage->tensor->rank == 0 || stage->rec >= 0 || load->op != OP_LOAD ||
        load->tensor->rank == 0 || reduce->binder->count < 2 ||
        !(load->args[load->tensor->rank - 1]->free & 1u << last) ||
        !view_stride(load, last, &stride) || stride < 2 ||
        !sketch_ask_if(s, name, "rows first", stage->tensor->size[last] >= lanes))
        return;
    change(s, &(struct change_line){CHANGE_ROWS, name, stage->index[last], NULL, 0},
           arena_printf(s->space->arena, "! rows %s %s", name, stage->index[last]));
}

/* Norms: rows that do not stay in the caches from the mean to the squares around it have both taken
 * chunk by chunk. */
static void
change_norms(struct sketcher *s, const char *name)
{
    struct arena *arena = s->space->arena;
    const struct coder_machine *machine = &s->space->machine;
    const struct stage *stage = stage_named(s->program, name);
    const struct expr *reduce = work_reduce(stage->code);
    if (reduce == NULL || reduce->args[0]->op != OP_MUL ||
        reduce->args[0]->args[0] != reduce->args[0]->args[1] ||
        reduce->args[0]->args[0]->op != OP_SUB)
        return;
    const struct binder *shown = work_reduce(stage->value)->binder;
    int64_t bytes = (int64_t)dtype_info[stage->tensor->dtype].size,
            row = expr_terms(reduce) * bytes;
    unsigned cut = 0;
    while (cut + 1 < shown->count && expr_integer(shown->extent[cut]) == 1)
        cut++;
    if (row <= machine->l1 / 2 || !sketch_ask_if(s, name, "moments", row > machine->l2 / 2))
        return;
    const int64_t sizes[] = {machine->l1 / 2, machine->l2 / 4, machine->l1 / 4};
    int64_t extent = expr_integer(shown->extent[cut]), inner = row / extent;
    int64_t step = sizes[sketch_ask(s, name, "moments chunk", 3, 0)] / inner;
    step = step < 1 ? 1 : step < extent ? step : extent - 1;
    change(s, &(struct change_line){CHANGE_MOMENTS, name, shown->names[cut], NULL, step},
           arena_printf(arena, "! moments %s %s %" PRId64, name, shown->names[cut], step));
}

/* Heads that lie side by side: an index of their own lets attention go by heads. */
static void
change_heads(struct sketcher *s, const char *name)
{
    const struct stage *stage = stage_named(s->program, name);
    const struct expr *reduce = work_reduce(stage->code);
    if (reduce == NULL || stage->rec >= 0 || stage->tensor->rank == 0)
        return;
    change_part(s, name, stage->tensor->rank - 1, part_of(reduce, stage->tensor->rank - 1));
}

/* A chunk that makes about so many of an index, all equal if there is one near. */
static int64_t
chunk_of(int64_t extent, int64_t parts)
{
    int64_t step = (extent + parts - 1) / parts, equal = step;
    while (2 * equal > step && extent % equal != 0)
        equal--;
    return 2 * equal > step ? equal : step;
}

/* Fewer results than threads, or far fewer than terms: the terms are shared out in chunks. */
static void
change_totals(struct sketcher *s, const char *name)
{
    enum { LONG = 256 }; /* times the sides of a product */
    static const int64_t shares[] = {0, 1, 2, 4};
    const struct stage *stage = stage_named(s->program, name);
    const struct expr *reduce = work_reduce(stage->code);
    int64_t threads = s->space->machine.threads, longest = 1;
    if (reduce == NULL || stage->rec >= 0 || threads < 2)
        return;
    const struct binder *shown = work_reduce(stage->value)->binder;
    for (unsigned d = 0; d < stage->tensor->rank; d++)
        longest = stage->tensor->size[d] > longest ? stage->tensor->size[d] : longest;
    unsigned cut = 0;
    while (cut + 1 < shown->count && expr_integer(shown->extent[cut]) < threads)
        cut++;
    int64_t extent = expr_integer(shown->extent[cut]);
    bool few = stage->tensor->count < threads && expr_terms(reduce) > 2 * SKETCH_SERIAL_POINTS;
    bool narrow = stage->tensor->rank >= 2 && extent >= LONG * longest;
    if (extent < threads || !(few || narrow))
        return;
    int64_t share = shares[sketch_ask(s, name, "split", 4, 1)];
    if (share == 0)
        return;
    int64_t step = chunk_of(extent, share * threads);
    change(s, &(struct change_line){CHANGE_SPLIT, name, shown->names[cut], NULL, step},
           arena_printf(s->space->arena, "! split %s %s %" PRId64, name, shown->names[cut], step));
}

/* ---- the whole ---- */

static bool
prepare(struct sketcher *s)
{
    struct arena *arena = s->space->arena;
    struct source none = {"", "", 0};
    struct coder_options options = {.vector_bytes = s->space->machine.vector_bytes};
    struct diags *diags = diags_create(arena, 1);
    s->schedule = coder_read(arena, s->program, &none, &options, diags);
    return s->schedule != NULL;
}

/* Points of all loops: what there is to share. */
static double
points_of(const struct sketcher *s)
{
    double total = 0;
    for (size_t i = 0; i < s->program->stage_count; i++) {
        const struct work *work = &s->schedule->works[i];
        double points = 1;
        for (unsigned l = 0; l < work->levels; l++)
            points *= (double)work->extent[l];
        total += points;
    }
    return total;
}

/* Small work is done before other threads have begun. */
static void
drop_threads(struct buf *lines, size_t start)
{
    if (lines->length <= start)
        return;
    char *to = lines->data + start;
    for (const char *from = lines->data + start; *from; from++)
        if (from[0] == '@' && from[1] == 'p')
            from++;
        else
            *to++ = *from;
    *to = '\0';
    lines->length = (size_t)(to - lines->data);
}

/* Rows that do not meet in any step are a thread's own from the first step to the last: the index
 * of such rows, or NULL. */
static const char *
ask_rec(struct sketcher *s, const struct rec *rec)
{
    const struct work *first = &s->schedule->works[rec->first], *reader, *read;
    unsigned threads = s->space->machine.threads;
    for (unsigned l = 0; l < first->rank && threads > 1 && first->before == NULL; l++)
        if (first->extent[l] >= threads &&
            work_is_own(s->schedule, rec, first->index[l], &reader, &read))
            return sketch_ask_if(s, first->tensor->name, "rec threads", true) ? first->index[l]
                                                                              : NULL;
    return NULL;
}

static void
put_rec(struct sketcher *s, const struct rec *rec)
{
    const char *index = ask_rec(s, rec);
    const struct work *works = s->schedule->works, *first = &works[rec->first];
    int64_t part = 0;
    if (index != NULL) {
        int64_t threads = s->space->machine.threads;
        part = (first->extent[work_left_level(first, index)] + threads - 1) / threads;
        buf_printf(&s->recs, "rec %s: %s/%lld@p\n", first->tensor->name, index, (long long)part);
    }
    for (size_t i = rec->first; i < rec->first + rec->count; i++) {
        struct work work = works[i];
        size_t start = s->lines.length;
        if (index != NULL)
            work.extent[work_left_level(&work, index)] = part;
        buf_printf(&s->lines, "%s:", work.tensor->name);
        sketch_line(s, &work, 0, false);
        buf_putc(&s->lines, '\n');
        if (index != NULL)
            drop_threads(&s->lines, start + strlen(work.tensor->name));
    }
}

struct coder_space *
coder_space_open(struct arena *arena, const struct program *program,
                 const struct coder_machine *machine)
{
    struct coder_space *space = arena_alloc(arena, sizeof *space);
    *space = (struct coder_space){.arena = arena, .program = program, .machine = *machine};
    return space;
}

struct coder_sketch
coder_sketch(struct coder_space *space, const struct coder_genome *genome)
{
    struct arena *arena = space->arena;
    struct sketcher s = {
        .space = space,
        .genome = genome,
        .program = space->program,
        .holes = arena_array(arena, CODER_GENES, sizeof *s.holes),
        .asked = arena_array(arena, CODER_GENES, sizeof *s.asked),
        .by_filters = arena_array(arena, space->program->stage_count + 1, sizeof *s.by_filters),
        .changes = buf_in(arena),
        .recs = buf_in(arena),
        .lines = buf_in(arena)};
    sketch_classify(&s);
    for (size_t i = 0; i < space->program->stage_count; i++) {
        change_rows(&s, space->program->stages[i].tensor->name);
        change_windows(&s, space->program->stages[i].tensor->name);
        change_norms(&s, space->program->stages[i].tensor->name);
        change_heads(&s, space->program->stages[i].tensor->name);
        change_totals(&s, space->program->stages[i].tensor->name);
    }
    if (!prepare(&s))
        return (struct coder_sketch){"", s.holes, s.hole_count};
    sketch_classify(&s);
    size_t count = s.program->stage_count;
    s.group = arena_array(arena, count + 1, sizeof *s.group);
    for (size_t i = 0; i < count; i++)
        s.group[i] = -1;
    for (size_t i = count; i-- > 0;) {
        const struct work *work = &s.schedule->works[i];
        const struct rec *rec = work->stage->rec >= 0 ? &s.program->recs[work->stage->rec] : NULL;
        if (!work_has_loops(work) || s.group[i] >= 0)
            continue;
        if (rec != NULL && rec->first != i)
            continue; /* with the first */
        if (sketch_group(&s, work))
            continue;
        if (rec != NULL) {
            put_rec(&s, rec);
            continue;
        }
        buf_printf(&s.lines, "%s:", work->tensor->name);
        sketch_line(&s, work, 0, false);
        buf_putc(&s.lines, '\n');
    }
    if (!sketch_ask_if(&s, "all", "threads", points_of(&s) > SKETCH_SERIAL_POINTS))
        drop_threads(&s.lines, 0);
    else if (s.recs.length > 0)
        buf_add(&s.changes, s.recs.data, s.recs.length);
    buf_add(&s.changes, s.lines.data, s.lines.length);
    return (struct coder_sketch){s.changes.data ? s.changes.data : "", s.holes, s.hole_count};
}
