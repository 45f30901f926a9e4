/* From a schedule back to its genome, for who knows only the text: a person's, or one of another
 * run. Answers are changed one at a time as long as the text comes nearer. Questions are few and
 * mostly concern one token each, so that this finds what a sketch made nearly always; what no
 * sketch makes has no genome, and the nearest is given. */
#include "coder/sketch_int.h"

#include <string.h>

/* ---- how far texts are apart ---- */

struct word {
    const char *start;
    size_t length;
};

static struct word
next_word(const char **at, const char *end)
{
    while (*at < end && **at == ' ')
        ++*at;
    struct word word = {*at, 0};
    while (*at < end && **at != ' ') {
        ++*at;
        word.length++;
    }
    return word;
}

static const char *
line_end(const char *line)
{
    return line + strcspn(line, "\n");
}

/* The line of this stage, or of this rewrite: the one that begins with the same word. */
static const char *
line_like(const char *text, struct word first)
{
    for (const char *line = text; *line; line = line_end(line) + (*line_end(line) == '\n')) {
        const char *at = line;
        struct word word = next_word(&at, line_end(line));
        if (word.length == first.length && !memcmp(word.start, first.start, word.length))
            return line;
    }
    return NULL;
}

static bool
has_word(const char *line, struct word word)
{
    const char *at = line;
    for (;;) {
        struct word other = next_word(&at, line_end(line));
        if (other.length == 0)
            return false;
        if (other.length == word.length && !memcmp(other.start, word.start, word.length))
            return true;
    }
}

/* Words of a that the same line of b has not. */
static unsigned
words_only_in(const char *a, const char *b)
{
    unsigned count = 0;
    for (const char *line = a; *line; line = line_end(line) + (*line_end(line) == '\n')) {
        const char *at = line;
        struct word word = next_word(&at, line_end(line));
        const char *other = line_like(b, word);
        for (; word.length > 0; word = next_word(&at, line_end(line)))
            count += other == NULL || !has_word(other, word);
    }
    return count;
}

/* 0 for equal texts alone. */
static unsigned
distance(const char *a, const char *b)
{
    return strcmp(a, b) == 0 ? 0 : 1 + words_only_in(a, b) + words_only_in(b, a);
}

/* ---- looking ---- */

static struct schedule *
schedule_of(struct coder_space *space, const struct coder_genome *genome, struct diags *diags)
{
    const char *text = coder_sketch(space, genome).text;
    struct source source = {"sketch", text, strlen(text)};
    struct coder_options options = {.vector_bytes = space->machine.vector_bytes};
    return coder_read(space->arena, space->program, &source, &options, diags);
}

static const char *
written(struct arena *arena, const struct schedule *schedule)
{
    struct buf text = buf_in(arena);
    coder_write(&text, schedule);
    return text.data != NULL ? text.data : "";
}

const char *
coder_filled(struct coder_space *space, const struct coder_genome *genome)
{
    struct diags *diags = diags_create(space->arena, 1);
    struct schedule *schedule = schedule_of(space, genome, diags);
    struct buf kernel = buf_in(space->arena);
    if (schedule == NULL || !coder_emit(&kernel, space->arena, schedule, diags))
        return NULL;
    return written(space->arena, schedule);
}

/* Not emitted, which would take longer: an answer that leads to what cannot be is on no way to what
 * was. */
static unsigned
distance_of(struct coder_space *space, const struct coder_genome *genome, const char *text)
{
    const struct schedule *schedule = schedule_of(space, genome, diags_create(space->arena, 1));
    return schedule != NULL ? distance(written(space->arena, schedule), text) : UINT32_MAX;
}

/* The best answer to one question; true if another than the present one. */
static bool
improve(struct coder_space *space, const struct coder_hole *hole, const char *text, unsigned *most,
        struct coder_genome *genome, unsigned *best)
{
    struct coder_genome nearest = *genome;
    bool better = false;
    for (unsigned value = 0; value<hole->answers && * most> 0 && *best > 0; value++) {
        struct coder_genome next = *genome;
        if (value == genome->gene[hole->gene] % hole->answers)
            continue;
        next.gene[hole->gene] = (uint8_t)value;
        unsigned far = distance_of(space, &next, text);
        --*most;
        if (far < *best) {
            *best = far;
            nearest = next;
            better = true;
        }
    }
    *genome = nearest;
    return better;
}

bool
coder_find(struct coder_space *space, const char *text, unsigned most, struct coder_genome *genome)
{
    bool better = true;
    *genome = (struct coder_genome){{0}};
    unsigned best = distance_of(space, genome, text);
    while (better && best > 0 && most > 0) {
        better = false;
        struct coder_sketch sketch = coder_sketch(space, genome);
        for (size_t i = 0; i < sketch.hole_count && best > 0 && most > 0; i++)
            if (improve(space, &sketch.holes[i], text, &most, genome, &best)) {
                better = true;
                sketch = coder_sketch(space, genome); /* other answers ask other questions */
            }
    }
    return best == 0;
}
