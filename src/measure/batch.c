/* Samples of work done in this process, and pairs of them. */
#include "measure/measure.h"

#define WARM_NS 1e6

size_t
measure_calls_for(const struct measure_clock *clock, const struct measure_work *work, double ns)
{
    size_t calls = 1;
    double warm = 0, took;
    for (;;) {
        took = calls * measure_sample(clock, work, calls);
        warm += took;
        if (took >= ns / 4 && warm >= WARM_NS)
            break;
        if (took < ns / 4)
            calls *= 2;
    }
    double wanted = calls * (ns / took);
    return wanted > 1 ? (size_t)(wanted + 0.5) : 1;
}

double
measure_sample(const struct measure_clock *clock, const struct measure_work *work, size_t calls)
{
    uint64_t from = measure_ticks(clock);
    work->run(work->context, calls);
    uint64_t to = measure_ticks(clock);
    return measure_ns(clock, from, to) / (double)calls;
}

struct measure_outcome
measure_compare(struct arena *arena, const struct measure_clock *clock,
                const struct measure_work *incumbent, const struct measure_work *candidate,
                double sample_ns, const struct measure_rule *rule)
{
    struct measure_decision *decision = measure_decision_create(arena, rule);
    size_t calls[2] = {measure_calls_for(clock, incumbent, sample_ns),
                       measure_calls_for(clock, candidate, sample_ns)};
    while (measure_decision_asks(decision)) {
        bool candidate_first = measure_decision_candidate_first(decision);
        struct measure_schedstat before = {0}, after = {0};
        double ns[2];
        bool known = measure_read_schedstat(0, &before);
        for (unsigned i = 0; i < 2; i++) {
            unsigned which = i ^ candidate_first;
            ns[which] = measure_sample(clock, which ? candidate : incumbent, calls[which]);
        }
        known = known && measure_read_schedstat(0, &after);
        measure_decision_tell(decision, ns[0], ns[1],
                              known && measure_disturbed(&before, &after, 2 * sample_ns));
    }
    return measure_decision_outcome(decision);
}
