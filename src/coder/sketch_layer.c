/* Layers: what of a large program is tuned alone, and how its answers come back. */
#include "coder/sketch_int.h"

#include <string.h>

enum { MOST_STAGES = 8 };          /* of a layer */
static const double HEAVY = 0.015; /* of the program's work: a layer that is worth being tuned */

/* ---- cutting ---- */

static bool
is_heavy(const struct sketcher *s, size_t stage)
{
    return work_reduce(s->program->stages[stage].code) != NULL &&
           s->class_share[s->class_of[stage]] >= HEAVY;
}

/* Steps of a recurrence belong together, and with nobody else. */
static bool
is_step(const struct sketcher *s, size_t stage)
{
    return s->program->stages[stage].rec >= 0;
}

static size_t
layer_end(const struct sketcher *s, size_t first)
{
    size_t end = first + 1;
    while (end < s->program->stage_count && end - first < MOST_STAGES && !is_heavy(s, end) &&
           !is_step(s, end))
        end++;
    return end;
}

size_t
coder_layers(struct coder_space *space, struct coder_layer *layers, size_t most)
{
    struct sketcher s = {.space = space, .program = space->program};
    size_t count = 0;
    sketch_classify(&s);
    for (size_t i = 0; i < s.program->stage_count; i++) {
        if (s.class_of[i] != i || !is_heavy(&s, i) || is_step(&s, i))
            continue;
        struct coder_layer layer = {i, layer_end(&s, i) - i, s.class_share[i]};
        size_t at = count;
        for (; at > 0 && layers[at - 1].share < layer.share; at--)
            if (at < most)
                layers[at] = layers[at - 1];
        if (at < most)
            layers[at] = layer;
        count += count < most;
    }
    return count;
}

/* ---- coming back ---- */

/* Names of a part have no points: A1_conv2d for A1.conv2d. */
static bool
is_same_question(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if ((*a == '.' ? '_' : *a) != (*b == '.' ? '_' : *b))
            return false;
    return *a == *b;
}

static const struct coder_hole *
find_hole(const struct coder_sketch *sketch, const struct coder_hole *wanted)
{
    for (size_t i = 0; i < sketch->hole_count; i++)
        if (sketch->holes[i].answers == wanted->answers &&
            is_same_question(sketch->holes[i].what, wanted->what))
            return &sketch->holes[i];
    return NULL;
}

/* Answers to questions that both ask; whether any was another. */
static bool
take_answers(const struct coder_sketch *whole, struct coder_genome *genome,
             const struct coder_sketch *layer, const struct coder_genome *found)
{
    bool changed = false;
    for (size_t i = 0; i < whole->hole_count; i++) {
        const struct coder_hole *asked = &whole->holes[i], *answered = find_hole(layer, asked);
        if (answered == NULL || !strncmp(asked->what, "all ", 4))
            continue;
        unsigned answer = (answered->usual + found->gene[answered->gene]) % answered->answers;
        uint8_t gene = (uint8_t)((answer + asked->answers - asked->usual) % asked->answers);
        changed = changed || genome->gene[asked->gene] != gene;
        genome->gene[asked->gene] = gene;
    }
    return changed;
}

void
coder_adopt(struct coder_space *whole, struct coder_genome *genome, struct coder_space *layer,
            const struct coder_genome *found)
{
    enum { TURNS = 4 }; /* an answer may lead to another question */
    const struct coder_sketch answered = coder_sketch(layer, found);
    for (unsigned turn = 0; turn < TURNS; turn++) {
        struct coder_sketch asked = coder_sketch(whole, genome);
        if (!take_answers(&asked, genome, &answered, found))
            return;
    }
}
