/* A large program is tuned layer by layer: a stage that does much of the work, and what follows it,
 * is a task of its own with its producers as inputs, compiled in a moment and timed. The whole is
 * judged, a layer is not. What served it best is how the whole answers for it, and for all that are
 * equal to it. Its candidates are in the archive as steps of this run that serve no case. */
#include "run/run_int.h"

#include <math.h>
#include <string.h>

enum {
    FEWEST_STAGES = 16, /* smaller programs are compiled in a moment, */
    FEWEST_LAYERS = 4,  /* and tuned as a whole */
    MOST_LAYERS = 16,
    FEWEST = 4, /* evaluations of a layer */
};
static const double FOR_LAYERS = 0.6; /* of the evaluations and of the time */

struct layers {
    struct loop *loop;
    const struct run_case *of;
    struct coder_space *space;
    struct coder_layer layer[MOST_LAYERS];
    size_t count;
    double until;         /* seconds since the loop began; 0: no limit */
    unsigned evaluations; /* that are left for them */
};

/* One layer as a program of its own; NULL: it cannot be cut out. */
static struct lang *
cut(const struct layers *layers, const struct coder_layer *layer)
{
    struct arena *arena = layers->loop->arena;
    struct diags *ours = diags_create(arena, 1);
    struct lang_part part;
    if (!lang_part(arena, &layers->of->program, 1, layer->first, layer->count, &part))
        return NULL;
    const char *name = lang_part_name(arena, layers->of->program->stages[layer->first].tensor);
    struct lang *lang = lang_parse(arena, name, part.text, strlen(part.text), ours);
    return lang != NULL && lang_program(lang, 0, NULL, 0, ours) != NULL ? lang : NULL;
}

/* By its part of the work that is left. */
static struct share
share_of(const struct layers *layers, size_t number)
{
    const struct loop *loop = layers->loop;
    double now = run__elapsed(loop), left = 0;
    for (size_t i = number; i < layers->count; i++)
        left += layers->layer[i].share;
    double part = layers->layer[number].share / left;
    unsigned wanted = (unsigned)(part * layers->evaluations);
    wanted = wanted > FEWEST ? wanted : FEWEST;
    return (struct share){wanted < layers->evaluations ? wanted : layers->evaluations,
                          layers->until > 0 ? now + part * (layers->until - now) : 0};
}

/* Its own search, in the case that it was cut from. */
static enum status
tune(struct layers *layers, struct lang *lang, const struct share *share, struct run_result *result)
{
    struct loop *loop = layers->loop;
    static const size_t only[] = {0};
    struct run_options *options = arena_alloc(loop->arena, sizeof *options);
    const char *why = NULL;
    *options = *loop->options;
    options->lang = lang;
    options->cases = only;
    options->case_count = 1;
    options->evaluations = share->evaluations;
    options->seconds = 0;
    options->until_gain = 0;
    options->start = NULL;
    options->progress = NULL;
    options->team = NULL;
    *result = (struct run_result){.case_count = 1, .number = -1};
    struct loop part = run__part(loop, options, result);
    part.diags = diags_create(loop->arena, 1);
    enum status status = run__open_cases(&part);
    if (status == STATUS_OK)
        status = run__tune(&part, 0, share, &why);
    loop->result->evaluations += result->evaluations;
    loop->result->failed += result->failed;
    layers->evaluations -=
        result->evaluations < layers->evaluations ? result->evaluations : layers->evaluations;
    if (status == STATUS_INPUT) /* its inputs do not fit here, perhaps; those of the whole may */
        return STATUS_NO;
    if (status != STATUS_OK && diags_count(part.diags) > 0)
        diags_add(loop->diags, DIAG_ERROR, (struct place){0}, "%s",
                  diags_get(part.diags, 0)->message);
    return status;
}

static void
tell(const struct layers *layers, size_t number, const struct run_result *result)
{
    const struct run_options *options = layers->loop->options;
    const struct run_case *found = &result->cases[0];
    if (options->progress == NULL || found->best == NULL)
        return;
    const char *name = lang_part_name(
        layers->loop->arena, layers->of->program->stages[layers->layer[number].first].tensor);
    options->progress(
        options->context,
        &(struct run_progress){
            .program = layers->of->program,
            .case_number = (size_t)(layers->of - layers->loop->result->cases),
            .case_count = options->case_count,
            .evaluations = layers->loop->result->evaluations,
            .most = options->evaluations,
            .seconds = run__elapsed(layers->loop),
            .most_seconds = options->seconds,
            .best_us = INFINITY,
            .schedule = found->best->schedule,
            .said =
                arena_printf(layers->loop->arena, "layer %zu of %zu, %s: %.3g ms, %.0f %% of light",
                             number + 1, layers->count, name, found->best->us / 1000,
                             100 * found->light.us / found->best->us)});
}

/* STATUS_NO: nothing came of it; the whole is tuned all the same. */
static enum status
tune_one(struct layers *layers, size_t number, struct coder_genome *genome)
{
    const struct run_options *options = layers->loop->options;
    struct lang *lang = cut(layers, &layers->layer[number]);
    struct share share = share_of(layers, number);
    struct run_result result;
    if (lang == NULL || share.evaluations == 0 ||
        (share.until > 0 && share.until <= run__elapsed(layers->loop)))
        return STATUS_NO;
    enum status status = tune(layers, lang, &share, &result);
    if (status != STATUS_OK || result.cases[0].genes == NULL)
        return status == STATUS_OK ? STATUS_NO : status;
    struct coder_genome found;
    memcpy(found.gene, result.cases[0].genes, sizeof found.gene);
    coder_adopt(layers->space, genome,
                coder_space_open(layers->loop->arena, result.cases[0].program, &options->machine),
                &found);
    tell(layers, number, &result);
    return STATUS_OK;
}

bool
run__has_layers(const struct run_case *of, struct coder_space *space)
{
    struct coder_layer layers[MOST_LAYERS];
    return of->program->stage_count >= FEWEST_STAGES &&
           coder_layers(space, layers, MOST_LAYERS) >= FEWEST_LAYERS;
}

enum status
run__tune_layers(struct loop *loop, const struct run_case *of, struct coder_space *space,
                 struct share *share, struct coder_genome *genome)
{
    double now = run__elapsed(loop);
    double until = run__until(loop, now, share->until);
    struct layers layers = {.loop = loop,
                            .of = of,
                            .space = space,
                            .until = share->until > 0 ? now + FOR_LAYERS * (until - now) : 0,
                            .evaluations = (unsigned)(FOR_LAYERS * share->evaluations)};
    unsigned before = layers.evaluations;
    enum status status = STATUS_OK;
    bool found = false;
    *genome = (struct coder_genome){{0}};
    layers.count = coder_layers(space, layers.layer, MOST_LAYERS);
    for (size_t i = 0; i < layers.count && !run__is_stopped(loop); i++) {
        status = tune_one(&layers, i, genome);
        found = found || status == STATUS_OK;
        if (status != STATUS_OK && status != STATUS_NO)
            return status;
    }
    share->evaluations -= before - layers.evaluations;
    return found ? STATUS_OK : STATUS_NO;
}
