/* Two benchmarks, task by task.
 *
 * A machine is not the same from one hour to the next. So a task is called faster or slower only
 * where its time says so and its time by that of a baseline says so too, which was measured in
 * turns with it, in the same minute: a drift of the machine changes the first and not the second.
 */
#include "bench/bench.h"

#include <math.h>
#include <string.h>

const char *const bench_change_name[BENCH_CHANGE_COUNT] = {
#define X(id, name) name,
    BENCH_CHANGES(X)
#undef X
};

/* ---- which belongs to which ---- */

struct rows {
    const struct store_bench_task *rows;
    size_t count;
};

static bool
is_same_task(const struct store_bench_task *a, const struct store_bench_task *b)
{
    return a->number == b->number && !strcmp(a->suite, b->suite) && !strcmp(a->name, b->name);
}

/* How often a task was done: once with each recipe. */
static size_t
times_done(const struct store_bench_task *task, const struct rows *all)
{
    size_t times = 0;

    for (size_t i = 0; i < all->count; i++)
        times += bench_is_done(&all->rows[i]) && is_same_task(task, &all->rows[i]);
    return times;
}

/* With the same recipe; else the only one, where each side has but one, since benchmarks of one
 * recipe each are often compared to see which recipe is better. NULL: none. */
static const struct store_bench_task *
partner(const struct store_bench_task *of, const struct rows *own, const struct rows *others)
{
    const struct store_bench_task *other = NULL;

    for (size_t i = 0; i < others->count; i++) {
        const struct store_bench_task *row = &others->rows[i];

        if (!bench_is_done(row) || !is_same_task(of, row))
            continue;
        if (!strcmp(of->recipe, row->recipe))
            return row;
        other = row;
    }
    return times_done(of, own) == 1 && times_done(of, others) == 1 ? other : NULL;
}

/* ---- how it changed ---- */

/* Beyond the margin: 1 slower, -1 faster, 0 neither. */
static int
direction(double low, double high)
{
    if (low > 1 + BENCH_MARGIN)
        return 1;
    return high < 1 / (1 + BENCH_MARGIN) ? -1 : 0;
}

/* By the first baseline that both have; where there is none, nothing contradicts. Our own kernel is
 * a row of every race, and always as fast as itself: it is no baseline. */
static int
direction_by_baseline(const struct bench_change *change, int otherwise)
{
    for (size_t i = 0; i < change->after->baseline_count; i++) {
        const struct store_baseline *after = &change->after->baselines[i];
        const struct store_baseline *before = bench_baseline(change->before, after->name);

        if (before && strcmp(after->name, BENCH_OURS) != 0 && isfinite(before->speedup_low) &&
            isfinite(before->speedup_high) && after->speedup_low > 0 && after->speedup_high > 0)
            return direction(before->speedup_low / after->speedup_high,
                             before->speedup_high / after->speedup_low);
    }
    return otherwise;
}

static enum bench_change_kind
kind_of(const struct bench_change *change)
{
    bool before = bench_is_correct(change->before), after = bench_is_correct(change->after);

    if (!before || !after)
        return before ? BENCH_LOST : after ? BENCH_MENDED : BENCH_NEVER;
    int by_time = direction(change->low, change->high);
    if (by_time == 0 || direction_by_baseline(change, by_time) != by_time)
        return BENCH_SAME;
    return by_time > 0 ? BENCH_SLOWER : BENCH_FASTER;
}

static struct bench_change
change_of(const struct store_bench_task *before, const struct store_bench_task *after)
{
    struct bench_change change = {.before = before,
                                  .after = after,
                                  .ratio = after->time_us / before->time_us,
                                  .low = after->low_us / before->high_us,
                                  .high = after->high_us / before->low_us};

    change.kind = kind_of(&change);
    return change;
}

/* ---- all of them ---- */

void
bench_compare(struct arena *arena, const struct store_bench_task *before, size_t before_count,
              const struct store_bench_task *after, size_t after_count,
              struct bench_comparison *comparison)
{
    const struct rows old = {before, before_count}, new = {after, after_count};

    *comparison = (struct bench_comparison){
        .changes = arena_array(arena, after_count + 1, sizeof *comparison->changes)};
    for (size_t i = 0; i < after_count; i++) {
        const struct store_bench_task *earlier = partner(&after[i], &new, &old);

        if (!bench_is_done(&after[i]))
            continue;
        if (!earlier) {
            comparison->only_after++;
            continue;
        }
        struct bench_change change = change_of(earlier, &after[i]);
        comparison->counts[change.kind]++;
        comparison->changes[comparison->count++] = change;
    }
    for (size_t i = 0; i < before_count; i++)
        comparison->only_before += bench_is_done(&before[i]) && !partner(&before[i], &old, &new);
}

bool
bench_regressed(const struct bench_comparison *comparison, double share)
{
    for (size_t i = 0; i < comparison->count; i++) {
        const struct bench_change *change = &comparison->changes[i];

        if (change->kind == BENCH_LOST || (change->kind == BENCH_SLOWER && change->low > 1 + share))
            return true;
    }
    return false;
}
