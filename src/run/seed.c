/* What a search begins with besides its own ideas: schedules of the archive, in the order of their
 * likeness to the task. What was found is an answer of the world, and goes through the ledger. */
#include "run/run_int.h"

#include "base/hash.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LOOKED_AT = 64, /* schedules of the archive, */
    TAKEN = 4,      /* and how many of them are tried */
    BETWEEN = 0x1e, /* stands between schedules in one text */
};

struct likeness {
    enum recipe_seed kind;
    double distance; /* of the sizes */
    size_t rank;     /* as the archive gives them: nearest to the speed of light first */
    const char *schedule;
};

/* Of "R=64 N=32768" the size of one dim; 0: it is not there. */
static double
size_in(const char *sizes, const char *dim)
{
    size_t length = strlen(dim);
    for (const char *at = sizes; (at = strstr(at, dim)) != NULL; at += length)
        if (at[length] == '=' && (at == sizes || at[-1] == ' '))
            return strtod(at + length + 1, NULL);
    return 0;
}

/* How many times larger or smaller the dims are, all together. */
static double
distance_of(const struct program *program, const char *sizes)
{
    double sum = 0;
    for (size_t i = 0; i < program->dim_count; i++) {
        double other = size_in(sizes, program->dims[i].name);
        if (other > 0)
            sum += fabs(log(other / (double)program->dims[i].size));
    }
    return sum;
}

static int
by_likeness(const void *left, const void *right)
{
    const struct likeness *a = left, *b = right;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->distance != b->distance)
        return a->distance < b->distance ? -1 : 1;
    return a->rank < b->rank ? -1 : 1;
}

/* The wanted ones in one text, the most alike first. */
static const char *
choose(const struct loop *loop, const struct program *program, const struct store_answer *answers,
       size_t count, unsigned seeds)
{
    struct likeness *list = arena_array(loop->arena, count + 1, sizeof *list);
    struct buf text = buf_in(loop->arena);
    size_t wanted = 0;
    for (size_t i = 0; i < count; i++) {
        bool same = !strcmp(answers[i].task_hash, loop->options->run->task.hash);
        double distance = distance_of(program, answers[i].sizes);
        enum recipe_seed kind = !same          ? RECIPE_SEED_FAMILY
                                : distance > 0 ? RECIPE_SEED_SHAPES
                                               : RECIPE_SEED_PROGRAM;
        if (seeds & 1u << kind)
            list[wanted++] = (struct likeness){kind, distance, i, answers[i].schedule};
    }
    qsort(list, wanted, sizeof *list, by_likeness);
    for (size_t i = 0; i < wanted && i < TAKEN; i++)
        buf_printf(&text, "%s%c", list[i].schedule, BETWEEN);
    return text.data ? text.data : "";
}

/* Names hold digits, as T1 and f32 do, and are no numbers. */
static size_t
length_of_name(const char *at)
{
    size_t length = 0;
    while (isalnum((unsigned char)at[length]) || at[length] == '_')
        length++;
    return length;
}

const char *
run_family(struct arena *arena, const struct program *program)
{
    struct buf text = buf_in(arena), family = buf_in(arena);
    char *hash = arena_alloc(arena, HASH_TEXT), *end;
    size_t length;
    lang_canonical(&text, program);
    for (const char *at = text.data; *at; at += length) {
        length = length_of_name(at);
        length = length ? length : 1;
        if (isdigit((unsigned char)*at)) {
            strtod(at, &end);
            length = (size_t)(end - at);
            buf_putc(&family, '0');
        } else
            buf_add(&family, at, length);
    }
    hash_sha256(family.data, family.length, hash);
    return hash;
}

static enum status
find(const struct loop *loop, const struct program *program, unsigned seeds, const char **found)
{
    const struct run_options *options = loop->options;
    struct store_question question = {.family = options->family,
                                      .task_hash = options->run ? options->run->task.hash : NULL,
                                      .target = options->target->name,
                                      .machine_key = options->machine_key,
                                      .most = LOOKED_AT};
    struct store_answer *answers = NULL;
    size_t count = 0;
    enum status status = STATUS_OK;
    if (options->store != NULL)
        status =
            store_earlier(options->store, loop->arena, &question, &answers, &count, loop->diags);
    *found = count > 0 ? choose(loop, program, answers, count, seeds) : "";
    return status == STATUS_NO ? STATUS_OK : status;
}

enum status
run__seeds(struct loop *loop, const struct program *program, unsigned seeds, const char *key,
           const char **found)
{
    *found = "";
    if (seeds == 0)
        return STATUS_OK;
    enum status status = ledger_recall(loop->ledger, "earlier", key, found, loop->diags);
    if (status == STATUS_NO) {
        status = find(loop, program, seeds, found);
        if (status == STATUS_OK)
            status = ledger_note(loop->ledger, "earlier", key, *found, loop->diags);
    }
    return status;
}

const char *
run__next_seed(struct arena *arena, const char **found)
{
    size_t length = strcspn(*found, (char[]){BETWEEN, 0});
    const char *schedule = arena_strndup(arena, *found, length);
    *found += length + ((*found)[length] == BETWEEN);
    return schedule;
}
