/* Binding threads to processors. */
#include "measure/measure.h"

size_t
measure_cpus(struct arena *arena, int **cpus)
{
    cpu_set_t set;
    size_t count = 0;
    *cpus = arena_array(arena, CPU_SETSIZE, sizeof **cpus);
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
            if (CPU_ISSET(cpu, &set))
                (*cpus)[count++] = cpu;
    return count > 0 ? count : 1; /* more than CPU_SETSIZE processors: the first of them */
}

struct measure_pin
measure_pin(int cpu)
{
    struct measure_pin pin = {.cpu = cpu};
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    pin.pinned = sched_getaffinity(0, sizeof pin.before, &pin.before) == 0 &&
                 sched_setaffinity(0, sizeof one, &one) == 0;
    return pin;
}

void
measure_unpin(const struct measure_pin *pin)
{
    if (pin->pinned)
        sched_setaffinity(0, sizeof pin->before, &pin->before);
}
