/* Several kernels built at once, before they are asked for.
 *
 * A search knows some candidates in advance, and one kernel is an object for each case. Compiling
 * while something is measured would disturb the measurement, so they are compiled together first,
 * on all processors, and measured one by one afterwards. What is built goes to the cache of
 * objects, from which judge_build() takes it; whatever goes wrong here goes wrong there again and
 * is told there. */
#include "judge/judge_int.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

struct ahead {
    struct judge_task *task;
    const char *file;
    const char *const *texts;
    size_t count;       /* of texts times cases */
    atomic_size_t next; /* text by text */
};

static void
build_one(const struct ahead *ahead, struct arena *arena, const char *text, size_t number)
{
    struct judge_task *task = ahead->task;
    struct target_kernel read = {0};
    struct target_fault fault;

    if (!target_read(arena, task->target, task->cases[0].program, text, strlen(text), &read,
                     &fault))
        return;
    struct judge__source source = judge__source_of(task, arena, ahead->file, number, &read);
    struct judge__object object = {.fd = -1};
    struct judge_report report = {0};

    (void)judge__object(task->judge, arena, task->target, &source, &object, &report,
                        diags_create(arena, 0));
    if (object.fd >= 0)
        close(object.fd);
}

static void *
work(void *context)
{
    struct ahead *ahead = context;

    for (size_t i; (i = atomic_fetch_add(&ahead->next, 1)) < ahead->count;) {
        struct arena *arena = arena_create();
        size_t cases = ahead->task->case_count;
        if (arena)
            build_one(ahead, arena, ahead->texts[i / cases], i % cases);
        arena_destroy(arena);
    }
    return NULL;
}

void
judge_build_ahead(struct judge_task *task, const char *file, const char *const *texts, size_t count)
{
    enum { MOST_THREADS = 16 };
    struct ahead ahead = {
        .task = task, .file = file, .texts = texts, .count = count * task->case_count};
    pthread_t threads[MOST_THREADS];
    size_t started = 0, wanted = task->judge->cpu_count;

    if (!task->judge->cache || ahead.count < 2)
        return;
    wanted = wanted < ahead.count ? wanted : ahead.count;
    while (started + 1 < wanted && started < MOST_THREADS &&
           pthread_create(&threads[started], NULL, work, &ahead) == 0)
        started++;
    work(&ahead);
    while (started > 0)
        pthread_join(threads[--started], NULL);
}
