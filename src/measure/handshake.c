/* How long a word takes to another core and back, both spinning: the least that handing work to a
 * waiting thread can cost. */
#include "measure/measure_int.h"

#include <stdatomic.h>

#define TRIPS 4096
#define SPINS 100000

struct table {
    _Alignas(128) atomic_uint ball;
    _Alignas(128) const struct measure_clock *clock;
    double ns[TRIPS];
};

/* Gives way when the other side seems to have lost its core. */
static void
wait_for(atomic_uint *ball, unsigned value)
{
    for (unsigned spins = 0; atomic_load_explicit(ball, memory_order_acquire) != value; spins++)
        if (spins >= SPINS)
            sched_yield();
}

static void
play(void *context, size_t number)
{
    struct table *table = context;
    for (unsigned trip = 0; trip < TRIPS; trip++) {
        if (number == 1) {
            wait_for(&table->ball, 2 * trip + 1);
            atomic_store_explicit(&table->ball, 2 * trip + 2, memory_order_release);
            continue;
        }
        uint64_t from = measure_ticks(table->clock);
        atomic_store_explicit(&table->ball, 2 * trip + 1, memory_order_release);
        wait_for(&table->ball, 2 * trip + 2);
        table->ns[trip] = measure_ns(table->clock, from, measure_ticks(table->clock));
    }
}

/* 0 on one processor. */
void
measure__take_handshake(struct taking *taking)
{
    struct table table;
    if (measure__team_size(taking->team) < 2)
        return;
    atomic_init(&table.ball, 0);
    table.clock = taking->clock;
    measure__team_run(taking->team, 2, taking->clock, play, &table);
    taking->figures->handshake_ns = measure_summarise(table.ns, TRIPS).median;
}
