/* Threads that measure together. Between runs they sleep, so that a run on one core finds the
 * others idle; a run begins when the last of them has been woken. */
#include "measure/measure_int.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define SPINS 4000

struct member {
    struct team *team;
    pthread_t thread;
    size_t number;
    int cpu;
    uint64_t from, to; /* of the last run */
};

struct team {
    size_t size;
    pthread_mutex_t lock;
    pthread_cond_t started, ended;
    uint64_t run;   /* how many there were */
    size_t wanted;  /* members in this run; 0: end */
    size_t working; /* that have not ended it */
    atomic_size_t ready;
    const struct measure_clock *clock;
    void (*work)(void *context, size_t number);
    void *context;
    struct member members[];
};

/* Spinning gives way, or a member that shares its core with another would wait for a whole slice
 * of the scheduler. */
static void
wait_for_all(struct team *team, size_t wanted)
{
    atomic_fetch_add(&team->ready, 1);
    for (unsigned spins = 0; atomic_load(&team->ready) < wanted; spins++)
        if (spins >= SPINS)
            sched_yield();
}

/* The next run that this member is part of; false: there is none. */
static bool
next_run(struct member *member, uint64_t *run)
{
    struct team *team = member->team;
    pthread_mutex_lock(&team->lock);
    while (team->run == *run || (team->wanted > 0 && member->number >= team->wanted)) {
        *run = team->run;
        pthread_cond_wait(&team->started, &team->lock);
    }
    *run = team->run;
    bool more = team->wanted > 0;
    pthread_mutex_unlock(&team->lock);
    return more;
}

static void *
serve(void *argument)
{
    struct member *member = argument;
    struct team *team = member->team;
    uint64_t run = 0;
    measure_pin(member->cpu);
    while (next_run(member, &run)) {
        wait_for_all(team, team->wanted);
        member->from = measure_ticks(team->clock);
        team->work(team->context, member->number);
        member->to = measure_ticks(team->clock);
        pthread_mutex_lock(&team->lock);
        if (--team->working == 0)
            pthread_cond_signal(&team->ended);
        pthread_mutex_unlock(&team->lock);
    }
    return NULL;
}

static void
start_run(struct team *team, size_t wanted)
{
    pthread_mutex_lock(&team->lock);
    team->run++;
    team->wanted = team->working = wanted;
    atomic_store(&team->ready, 0);
    pthread_cond_broadcast(&team->started);
    pthread_mutex_unlock(&team->lock);
}

struct team *
measure__team_create(const int *cpus, size_t count)
{
    struct team *team = calloc(1, sizeof *team + count * sizeof team->members[0]);
    if (team == NULL)
        return NULL;
    pthread_mutex_init(&team->lock, NULL);
    pthread_cond_init(&team->started, NULL);
    pthread_cond_init(&team->ended, NULL);
    for (size_t i = 0; i < count; i++) {
        struct member *member = &team->members[i];
        *member = (struct member){.team = team, .number = i, .cpu = cpus[i]};
        if (pthread_create(&member->thread, NULL, serve, member) != 0) {
            measure__team_destroy(team);
            return NULL;
        }
        team->size++;
    }
    return team;
}

void
measure__team_destroy(struct team *team)
{
    if (team == NULL)
        return;
    start_run(team, 0);
    for (size_t i = 0; i < team->size; i++)
        pthread_join(team->members[i].thread, NULL);
    pthread_cond_destroy(&team->started);
    pthread_cond_destroy(&team->ended);
    pthread_mutex_destroy(&team->lock);
    free(team);
}

size_t
measure__team_size(const struct team *team)
{
    return team->size;
}

double
measure__team_run(struct team *team, size_t count, const struct measure_clock *clock,
                  void (*work)(void *context, size_t number), void *context)
{
    team->clock = clock;
    team->work = work;
    team->context = context;
    start_run(team, count);
    pthread_mutex_lock(&team->lock);
    while (team->working > 0)
        pthread_cond_wait(&team->ended, &team->lock);
    pthread_mutex_unlock(&team->lock);
    uint64_t from = team->members[0].from, to = team->members[0].to;
    for (size_t i = 1; i < count; i++) {
        from = team->members[i].from < from ? team->members[i].from : from;
        to = team->members[i].to > to ? team->members[i].to : to;
    }
    return measure_ns(clock, from, to);
}
