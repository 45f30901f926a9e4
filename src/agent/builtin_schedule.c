/* The coder with no model: one question of the sketch gets another answer.
 *
 * The base's schedule is led back to its genome; the technique names the questions (tile, pack,
 * fuse, ...) that its change is about. Of the first few changes that are legal and new, in an order
 * drawn from the seed, the one is given that the micro-coder's own estimate likes best. With
 * several cases the same answer is given in all of them; a case where that is illegal stays as it
 * is. */
#include "agent/builtin_int.h"

#include "base/text.h"

#include <assert.h>
#include <string.h>

enum {
    SKETCHES = 400, /* to find the base's genome, */
    LARGE = 12,     /* and only for programs of at most so many stages */
    LOOKED_AT = 4,  /* changes that the estimate chooses from */
    TRIES = 96,
    PAIRS = 32,
};

struct draft { /* of a case */
    const struct program *program;
    struct coder_space *space;
    const char *base; /* filled in; NULL: there is none */
    struct coder_genome genome;
    struct coder_sketch sketch;
};

struct drafts {
    struct builtin *builtin;
    struct draft *cases;
    size_t count;
    const char *whole; /* the base of all cases, "" where there is none */
};

struct option {       /* a question and how far its answer moves */
    const char *what; /* "C tile" */
    unsigned by;
    bool meant; /* the row is about it */
};

struct found {
    const char *whole;
    double us; /* by estimate */
    const struct option *option;
};

/* ---- texts ---- */

static struct schedule *
read_schedule(struct builtin *builtin, const struct program *program, const char *text)
{
    const struct coder_options options = {.vector_bytes =
                                              builtin->moment->scene->machine->vector_bytes};
    struct source *source = arena_alloc(builtin->arena, sizeof *source);

    *source = (struct source){"schedule", text, strlen(text)};
    return coder_read(builtin->arena, program, source, &options, diags_create(builtin->arena, 1));
}

/* Every line filled in; NULL: it is illegal here. */
static const char *
filled_text(struct builtin *builtin, const struct program *program, const char *text)
{
    const struct schedule *schedule = text ? read_schedule(builtin, program, text) : NULL;
    struct buf filled = buf_in(builtin->arena);

    if (!schedule)
        return NULL;
    coder_write(&filled, schedule);
    return filled.data ? filled.data : "";
}

/* The lines of all cases as one text. */
static const char *
join(const struct drafts *drafts, const char *const *texts)
{
    struct buf whole = buf_in(drafts->builtin->arena);

    if (drafts->count == 1)
        return texts[0];
    for (size_t i = 0; i < drafts->count; i++)
        buf_printf(&whole, "case %s:\n%s", drafts->cases[i].program->case_name, texts[i]);
    return whole.data;
}

static bool
same_text(const char *a, const char *b)
{
    size_t m = strlen(a), n = strlen(b);

    while (m > 0 && strchr(" \n", a[m - 1]))
        m--;
    while (n > 0 && strchr(" \n", b[n - 1]))
        n--;
    return m == n && !memcmp(a, b, m);
}

static bool
is_new(const struct drafts *drafts, const char *whole)
{
    const struct agent_moment *moment = drafts->builtin->moment;

    if (same_text(whole, drafts->whole))
        return false;
    for (size_t i = 0; i < moment->tried_count; i++)
        if (same_text(whole, moment->tried[i]))
            return false;
    return true;
}

static double
estimate(const struct drafts *drafts, const char *const *texts)
{
    struct builtin *builtin = drafts->builtin;
    double us = 0;

    for (size_t i = 0; i < drafts->count; i++) {
        const struct schedule *schedule =
            read_schedule(builtin, drafts->cases[i].program, texts[i]);
        us += schedule ? coder_estimate_us(schedule, builtin->moment->scene->machine) : 0;
    }
    return us;
}

/* ---- the base ---- */

static struct drafts
open_drafts(struct builtin *builtin, const char *schedule)
{
    const struct agent_scene *scene = builtin->moment->scene;
    struct drafts drafts = {.builtin = builtin, .count = scene->case_count};
    const char **texts = arena_array(builtin->arena, scene->case_count, sizeof *texts);
    bool all = true;

    drafts.cases = arena_array(builtin->arena, scene->case_count, sizeof *drafts.cases);
    for (size_t i = 0; i < drafts.count; i++) {
        struct draft *draft = &drafts.cases[i];
        draft->program = scene->programs[i];
        draft->space = coder_space_open(builtin->arena, draft->program, scene->machine);
        draft->base = filled_text(builtin, draft->program, schedule);
        if (draft->base && draft->program->stage_count <= LARGE)
            coder_find(draft->space, draft->base, SKETCHES, &draft->genome);
        draft->sketch = coder_sketch(draft->space, &draft->genome);
        all = all && draft->base;
        texts[i] = draft->base;
    }
    drafts.whole = all ? join(&drafts, texts) : "";
    return drafts;
}

/* The usual schedule of every case. */
static const char *
usual(struct drafts *drafts)
{
    const char **texts = arena_array(drafts->builtin->arena, drafts->count, sizeof *texts);

    for (size_t i = 0; i < drafts->count; i++) {
        const struct coder_genome genome = {{0}};
        texts[i] = coder_filled(drafts->cases[i].space, &genome);
        if (!texts[i]) /* the plain one is legal for every program */
            texts[i] = filled_text(drafts->builtin, drafts->cases[i].program, "");
    }
    return join(drafts, texts);
}

/* ---- changes ---- */

static const struct coder_hole *
hole_named(const struct draft *draft, const char *what)
{
    for (size_t i = 0; i < draft->sketch.hole_count; i++)
        if (!strcmp(draft->sketch.holes[i].what, what))
            return &draft->sketch.holes[i];
    return NULL;
}

static void
move(const struct draft *draft, const struct option *option, struct coder_genome *genome)
{
    const struct coder_hole *hole = hole_named(draft, option->what);

    if (hole)
        genome->gene[hole->gene] =
            (uint8_t)((genome->gene[hole->gene] % hole->answers + option->by) % hole->answers);
}

/* The options moved in all cases: the text of each. NULL: in no case is it legal, or a case has no
 * base to stay with. */
static const char *const *
texts_with(const struct drafts *drafts, const struct option *const *options, size_t count)
{
    const char **texts = arena_array(drafts->builtin->arena, drafts->count, sizeof *texts);

    for (size_t i = 0; i < drafts->count; i++) {
        const struct draft *draft = &drafts->cases[i];
        struct coder_genome genome = draft->genome;
        for (size_t k = 0; k < count; k++)
            move(draft, options[k], &genome);
        texts[i] = coder_filled(draft->space, &genome);
        if (!texts[i])
            texts[i] = draft->base;
        if (!texts[i])
            return NULL;
    }
    return texts;
}

/* Is some word of the question one of the row's? */
static bool
is_about(const struct agent_technique *row, const char *what)
{
    const char *at = strchr(what, ' ');

    while (row && at) {
        at += strspn(at, " ");
        size_t length = strcspn(at, " ");
        if (builtin__has_word(row->holes, at, length))
            return true;
        at = at[length] ? at + length : NULL;
    }
    return false;
}

static bool
is_known(const struct option *options, size_t count, const char *what, unsigned by)
{
    for (size_t i = 0; i < count; i++)
        if (options[i].by == by && !strcmp(options[i].what, what))
            return true;
    return false;
}

/* Every question of every case, with each other answer; those that the row means stand first, in
 * either part in an order drawn from the seed. */
static struct option *
options_of(const struct drafts *drafts, size_t *count)
{
    struct builtin *builtin = drafts->builtin;
    struct option *options = NULL;
    size_t capacity = 0, meant = 0;

    *count = 0;
    for (size_t c = 0; c < drafts->count; c++)
        for (size_t h = 0; h < drafts->cases[c].sketch.hole_count; h++) {
            const struct coder_hole *hole = &drafts->cases[c].sketch.holes[h];
            for (unsigned by = 1; by < hole->answers; by++) {
                if (is_known(options, *count, hole->what, by))
                    continue;
                if (*count == capacity) {
                    capacity = 2 * capacity + 32;
                    options =
                        arena_grow(builtin->arena, options, *count, capacity, sizeof *options);
                }
                options[(*count)++] =
                    (struct option){hole->what, by, is_about(builtin->row, hole->what)};
            }
        }
    for (size_t i = *count; i > 1; i--) {
        size_t other = rng_below(&builtin->rng, i);
        struct option kept = options[i - 1];
        options[i - 1] = options[other];
        options[other] = kept;
    }
    for (size_t i = 0; i < *count; i++)
        if (options[i].meant) {
            struct option kept = options[i];
            options[i] = options[meant];
            options[meant++] = kept;
        }
    return options;
}

/* Keeps the better of the two. */
static void
consider(const struct drafts *drafts, const char *const *texts, const struct option *option,
         struct found *best, unsigned *seen)
{
    const char *whole = texts ? join(drafts, texts) : NULL;

    if (!whole || !is_new(drafts, whole))
        return;
    double us = estimate(drafts, texts);
    ++*seen;
    if (!best->whole || us < best->us)
        *best = (struct found){whole, us, option};
}

/* What the row means is tried first, and anything else only if none of that is new. */
static struct found
change_one(const struct drafts *drafts, const struct option *options, size_t count)
{
    struct found best = {0};
    unsigned seen = 0;

    for (size_t i = 0; i < count && i < TRIES && seen < LOOKED_AT; i++) {
        const struct option *option = &options[i];
        if (best.whole && best.option->meant && !option->meant)
            break;
        consider(drafts, texts_with(drafts, &option, 1), option, &best, &seen);
    }
    return best;
}

static struct found
change_two(const struct drafts *drafts, const struct option *options, size_t count)
{
    struct found best = {0};
    unsigned seen = 0;

    for (unsigned i = 0; i < PAIRS && count > 1 && seen == 0; i++) {
        const struct option *pair[] = {&options[builtin__early(drafts->builtin, count)],
                                       &options[rng_below(&drafts->builtin->rng, count)]};
        consider(drafts, texts_with(drafts, pair, 2), pair[0], &best, &seen);
    }
    return best;
}

/* ---- what is said of it ---- */

static const char *
words_for(struct builtin *builtin, const struct found *found)
{
    struct buf words = buf_in(builtin->arena);
    const struct agent_technique *row = builtin->row;

    if (found->option->meant) {
        double low, high;
        builtin__gain(builtin, row, &low, &high);
        buf_printf(&words, "Title: %s\nExpected gain: %.2f-%.2fx\n%s. ", row->name, low, high,
                   row->what);
    } else if (row)
        buf_printf(&words, "No schedule that is left does %s. ", row->name);
    buf_printf(&words, "The question \"%s\" gets another answer.", found->option->what);
    return words.data;
}

static struct builtin_proposal
nothing_new(struct drafts *drafts)
{
    bool base = *drafts->whole != '\0';

    return (struct builtin_proposal){
        .schedule = base ? drafts->whole : usual(drafts),
        .words = base
                     ? "Nothing new was found: every change that was looked at is illegal, changes "
                       "nothing or was tried. This is the base itself."
                     : "Nothing new was found. This is the usual schedule.",
    };
}

struct builtin_proposal
builtin__change(struct builtin *builtin)
{
    struct drafts drafts = open_drafts(builtin, builtin->schedule);
    size_t count;
    const char *first = *drafts.whole ? NULL : usual(&drafts);

    if (first && is_new(&drafts, first))
        return (struct builtin_proposal){
            first, "The usual schedule of the program, as the micro-coder would begin.", true};
    const struct option *options = options_of(&drafts, &count);
    struct found found = change_one(&drafts, options, count);
    if (!found.whole)
        found = change_two(&drafts, options, count);
    if (!found.whole)
        return nothing_new(&drafts);
    return (struct builtin_proposal){found.whole, words_for(builtin, &found), true};
}

/* ---- all of them, to be chosen from ---- */

/* The first line that the base does not have. */
static const char *
changed_line(struct arena *arena, const char *base, const char *text)
{
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        const char *one = arena_strndup(arena, line, strcspn(line, "\n"));
        if (strstr(base, one) == NULL)
            return one;
        if (line[strlen(one)] == '\0')
            break;
    }
    return "";
}

static bool
is_listed(const struct agent_change *changes, size_t count, const char *whole)
{
    for (size_t i = 0; i < count; i++)
        if (same_text(changes[i].schedule, whole))
            return true;
    return false;
}

size_t
agent_changes(struct arena *arena, const struct agent_moment *moment, struct agent_change *changes,
              size_t most)
{
    struct builtin builtin = {.arena = arena,
                              .moment = moment,
                              .rng = rng_stream(moment->seed, "changes"),
                              .schedule = moment->schedule};
    struct drafts drafts = open_drafts(&builtin, moment->schedule);
    size_t count, found = 0;
    const struct option *options = options_of(&drafts, &count);
    for (size_t i = 0; i < count && i < TRIES && found < most; i++) {
        const struct option *option = &options[i];
        const char *const *texts = texts_with(&drafts, &option, 1);
        const char *whole = texts ? join(&drafts, texts) : NULL;
        if (!whole || !is_new(&drafts, whole) || is_listed(changes, found, whole))
            continue;
        double us = estimate(&drafts, texts);
        size_t at = found++;
        for (; at > 0 && changes[at - 1].us > us; at--)
            changes[at] = changes[at - 1];
        changes[at] = (struct agent_change){
            .schedule = whole,
            .us = us,
            .words = arena_printf(arena, "%s: %s (about %.1f us)", option->what,
                                  changed_line(arena, drafts.whole, whole), us)};
    }
    return found;
}

/* ---- two parents ---- */

/* Each question of the first is answered as one of the two does. */
static const char *const *
crossed(struct builtin *builtin, const struct drafts *a, const struct drafts *b)
{
    const char **texts = arena_array(builtin->arena, a->count, sizeof *texts);

    for (size_t i = 0; i < a->count; i++) {
        struct coder_genome genome = a->cases[i].genome;
        const struct coder_sketch *sketches[] = {&a->cases[i].sketch, &b->cases[i].sketch};
        for (size_t s = 0; s < 2; s++)
            for (size_t h = 0; h < sketches[s]->hole_count; h++)
                if (rng_next(&builtin->rng) & 1)
                    genome.gene[sketches[s]->holes[h].gene] =
                        b->cases[i].genome.gene[sketches[s]->holes[h].gene];
        texts[i] = coder_filled(a->cases[i].space, &genome);
        if (!texts[i])
            return NULL;
    }
    return texts;
}

struct builtin_proposal
builtin__cross(struct builtin *builtin)
{
    if (!builtin->schedule || !builtin->moment->other)
        return builtin__change(builtin);
    struct drafts a = open_drafts(builtin, builtin->schedule);
    struct drafts b = open_drafts(builtin, builtin->moment->other);
    for (unsigned i = 0; i < PAIRS; i++) {
        const char *const *texts = crossed(builtin, &a, &b);
        const char *whole = texts ? join(&a, texts) : NULL;
        if (whole && is_new(&a, whole) && !same_text(whole, b.whole))
            return (struct builtin_proposal){
                whole,
                "Title: cross\nEach question of the sketch is answered as one of the two "
                "schedules does.",
                true};
    }
    struct builtin_proposal changed = builtin__change(builtin);
    changed.words =
        arena_printf(builtin->arena, "The two have nothing new between them. %s", changed.words);
    return changed;
}

/* ---- repairs ---- */

struct builtin_proposal
builtin__go_back(struct builtin *builtin)
{
    const struct agent_moment *moment = builtin->moment;
    struct drafts drafts = open_drafts(builtin, moment->legal);
    bool known = *drafts.whole != '\0';

    return (struct builtin_proposal){
        .schedule = known ? drafts.whole : usual(&drafts),
        .words = arena_printf(builtin->arena, "%s%sBack to %s.",
                              moment->verdict ? moment->verdict : "", moment->verdict ? "\n" : "",
                              known ? "the last schedule that worked" : "the usual schedule"),
        .fresh = true,
    };
}

/* ---- static checks ---- */

const char *
builtin__objection(struct builtin *builtin)
{
    const struct agent_scene *scene = builtin->moment->scene;

    for (size_t i = 0; i < scene->case_count && builtin->moment->schedule; i++) {
        struct diags *diags = diags_create(builtin->arena, 1);
        const struct coder_options options = {.vector_bytes = scene->machine->vector_bytes};
        const struct source source = {"schedule", builtin->moment->schedule,
                                      strlen(builtin->moment->schedule)};
        if (!coder_read(builtin->arena, scene->programs[i], &source, &options, diags))
            return arena_printf(builtin->arena, "the schedule is illegal: %s",
                                diags_get(diags, 0)->message);
    }
    return builtin->moment->kernel ? agent_objection(builtin->arena, builtin->moment->kernel,
                                                     scene->target, scene->programs[0])
                                   : NULL;
}
