/* One process in the box: some calls, each on a slot of its own. */
#include "judge/judge_int.h"

#include <math.h>

static const double SHORTEST_LIMIT = 2; /* seconds */

struct watch { /* what the hooks see */
    const struct judge__calls *calls;
    struct measure_schedstat before, after;
};

static void
poison_outputs(void *context)
{
    const struct watch *watch = context;
    const struct judge__calls *calls = watch->calls;

    for (size_t i = 0; i < calls->count; i++)
        judge__poison(calls->c, &calls->c->slots[calls->slots[i]], calls->random + i);
}

static void
note_before(void *context)
{
    struct watch *watch = context;

    measure_read_schedstat(0, &watch->before);
}

static void
note_after(void *context)
{
    struct watch *watch = context;

    measure_read_schedstat(0, &watch->after);
}

/* ---- the job ---- */

bool
judge__slides(const struct tensor *input)
{
    enum domain_form form = input->domain.form;

    return form == DOMAIN_NONE || form == DOMAIN_INTERVAL || form == DOMAIN_SCALE ||
           form == DOMAIN_AMONG;
}

/* Calls that slide see the room too. */
static struct box_region
region_of(const struct judge__calls *calls, size_t slot, size_t t)
{
    struct box_region region = calls->c->slots[slot].regions[t];

    if (calls->shifts && !region.writable) {
        region.span += JUDGE__ROOM;
        region.bytes += JUDGE__ROOM;
    }
    return region;
}

static void
put_regions(struct arena *arena, const struct judge__calls *calls, struct box_job *job)
{
    const struct judge__case *c = calls->c;
    size_t n = c->tensor_count, total = n * calls->count;
    size_t rounds = calls->rounds ? calls->rounds : 1;
    struct box_region *regions = arena_array(arena, total, sizeof *regions);
    struct box_arg *args = arena_array(arena, total * rounds, sizeof *args);

    for (size_t i = 0; i < total; i++)
        regions[i] = region_of(calls, calls->slots[i / n], i % n);
    for (size_t i = 0; i < total * rounds; i++) {
        bool slides = calls->shifts && i % n < c->program->input_count &&
                      judge__slides(c->program->tensors[i % n]);

        args[i].region = (uint32_t)(i % total);
        args[i].offset = slides ? calls->shifts[i / n] : 0;
    }
    job->regions = regions;
    job->region_count = total;
    job->args = args;
    job->call_count = calls->count * rounds;
    job->arg_count = n;
    job->round = calls->rounds ? calls->count : 0;
    job->stop_after = calls->stop;
}

/* With fewer threads than processors the judge watches from one of the others; with all of them it
 * sleeps on that of the guest's first thread. */
static void
put_processors(const struct judge *judge, unsigned threads, struct box_job *job)
{
    bool all = threads >= judge->cpu_count;

    job->threads = threads;
    job->cpus = all ? judge->cpus : judge->cpus + judge->cpu_count - threads;
    job->caller_cpu = judge->cpus[0];
    job->mode = all ? BOX_FUTEX : BOX_SPIN;
}

double
judge__near_bytes(const struct judge *judge)
{
    const struct measure_facts *facts = &judge->facts;

    return facts->cache[facts->cache_count - 1].all_bytes;
}

double
judge__limit(const struct judge__case *c, const struct judge__object *object, size_t calls)
{
    double part =
        c->rows ? (double)c->rows->outputs[0]->size[0] / (double)c->program->outputs[0]->size[0]
                : 1;

    if (object->ours)
        return JUDGE__NAIVE_SECONDS;
    return fmax(SHORTEST_LIMIT, 20 * c->reference_seconds / part * (double)calls);
}

enum status
judge__run(const struct judge__calls *calls, struct judge__ran *ran, struct diags *diags)
{
    const struct judge *judge = calls->c->task->judge;
    struct watch watch = {.calls = calls};
    struct arena *arena = arena_create();
    struct box_job job = {
        .object = calls->object->fd,
        .function = calls->c->task->target->entry,
        .limits = {.wall_seconds = calls->seconds,
                   .cpu_seconds = calls->seconds * calls->threads + 1,
                   .memory = ((size_t)1 << 30) + calls->object->scratch},
        .hooks = {.context = &watch,
                  .prepare = poison_outputs,
                  .armed = note_before,
                  .done = note_after,
                  .clock = judge->clock.tsc ? judge__ticks : NULL},
    };
    enum status status;

    if (!arena)
        return judge__no_memory(diags);
    put_regions(arena, calls, &job);
    job.warm = (double)(calls->count * calls->c->slot_bytes) <= judge__near_bytes(judge);
    put_processors(judge, calls->threads, &job);
    job.realtime = calls->realtime && judge->realtime >= 0;
    status = box_run(judge->server, &job, &ran->end, diags);
    ran->ns = judge->clock.tsc ? measure_ns(&judge->clock, ran->end.t0, ran->end.t1)
                               : (double)(ran->end.t1 - ran->end.t0);
    ran->disturbed = status == STATUS_OK && ran->end.ending == BOX_DONE &&
                     measure_disturbed(&watch.before, &watch.after, ran->ns);
    arena_destroy(arena);
    return status;
}
