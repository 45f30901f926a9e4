/* Our kernel, in the judge's box, against those who take part. */
#include "bench/rivals_int.h"

#include "base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { ROUNDS = 9 };
static const double WINDOW_SECONDS = 0.08;
static const double PAUSE_SECONDS = 0.025; /* an OpenMP team spins for some ms behind its work */
static const double MOST_SECONDS = 12;     /* of a race; rounds of long calls are few */
/* Times as fast as the judge has seen it, unless the work can be done so fast: inputs that come
 * again lie in a cache. */
static const double SUSPICIOUS = 4;

const char *const bench_rival_names[] = {
#define X(id, name, every) name,
    BENCH_RIVALS(X)
#undef X
        NULL};

enum rival {
#define X(id, name, every) id,
    BENCH_RIVALS(X)
#undef X
        COUNT
};

static const bool has_every_task[COUNT] = {
#define X(id, name, every) every,
    BENCH_RIVALS(X)
#undef X
};

const char *const bench_shown_only[] = {BENCH_SHIPPED, "onednn.blocked", NULL};

bool
bench_is_claimed(const char *baseline)
{
    for (const char *const *name = bench_shown_only; *name; name++)
        if (strcmp(*name, baseline) == 0)
            return false;
    return true;
}

/* "onednn" and "onednn.blocked" */
bool
bench_is_partial(const char *baseline)
{
    for (unsigned i = 0; i < COUNT; i++)
        if (strcspn(baseline, ".") == strlen(bench_rival_names[i]) &&
            text_starts(baseline, bench_rival_names[i]))
            return !has_every_task[i];
    return false;
}

bool
bench_is_against(const char *against, const char *name)
{
    size_t length = strlen(name);

    for (const char *at = against; *at; at += strcspn(at, ","), at += *at == ',')
        if (strcspn(at, ",") == length && !memcmp(at, name, length))
            return true;
    return false;
}

/* ---- our kernel ---- */

struct ours {
    struct judge_task *task;
    struct judge_kernel *kernel;
    struct judge_window *window;
    double least_us; /* what is faster is not believed */
    bool is_found_out;
};

static enum status
open_ours(struct ours *ours, struct arena *arena, const struct bench_rivalry *rivalry,
          struct diags *diags)
{
    struct judge_setup setup = {.lang = rivalry->lang,
                                .cases = &rivalry->case_number,
                                .case_count = 1,
                                .target = rivalry->target,
                                .threads = rivalry->threads,
                                .same_inputs = true,
                                .no_baseline = true,
                                .effort = JUDGE_NORMAL};
    struct judge_report report;
    enum status status = judge_task_open(rivalry->judge, &setup, &ours->task, diags);

    if (status == STATUS_OK)
        status = judge_build(ours->task, arena, "kernel.c", rivalry->kernel,
                             strlen(rivalry->kernel), &ours->kernel, &report, diags);
    if (status == STATUS_OK && ours->kernel == NULL)
        return STATUS_NO;
    return status == STATUS_OK
               ? judge_window_open(ours->task, ours->kernel, 0, &ours->window, diags)
               : status;
}

static void
close_ours(struct ours *ours)
{
    judge_window_close(ours->window);
    judge_kernel_close(ours->kernel);
    judge_task_close(ours->task);
}

static bool
is_ready(void *context, size_t build, struct diags *diags)
{
    (void)build;
    (void)diags;
    return ((struct ours *)context)->window != NULL;
}

/* No window of a kernel that was right in its verdict and is not here. */
__attribute__((format(printf, 3, 4))) static size_t
found_out(struct ours *ours, struct diags *diags, const char *format, ...)
{
    char text[120];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    diags_add(diags, DIAG_ERROR, (struct place){0}, "%s", text);
    ours->is_found_out = true;
    return 0;
}

/* The samples see to it that remembering gains nothing; the limit is for what they do not see. */
static size_t
take_ours(void *context, size_t build, double seconds, double *us, size_t most, struct diags *diags)
{
    struct ours *ours = context;
    size_t count;

    (void)build;
    enum status status = judge_window_take(ours->window, seconds, us, most, &count, diags);
    if (status == STATUS_NO)
        return found_out(ours, diags, "it fails, or is wrong, in a long sample");
    if (status != STATUS_OK)
        return 0;
    for (size_t i = 0; i < count; i++)
        if (us[i] < ours->least_us)
            return found_out(ours, diags,
                             "%.3g us in a long sample, far less than the judge has seen", us[i]);
    return count;
}

/* ---- the race ---- */

static bool
has_row(const struct store_baseline *rows, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].name, name) == 0)
            return true;
    return false;
}

/* Those who take part; of all who were asked, *asked has the reasons if they do not. */
static size_t
enter_all(struct arena *arena, const struct bench__terms *terms, const char *against,
          struct bench__entrant entrants[COUNT], struct bench_absent asked[COUNT])
{
    size_t entered = 0;

    for (unsigned i = 0; i < COUNT; i++) {
        struct bench__entrant *entrant = &entrants[entered];

        asked[i] = (struct bench_absent){0};
        if (!bench_is_against(against, bench_rival_names[i]))
            continue;
        asked[i] = (struct bench_absent){bench_rival_names[i], diags_create(arena, 0)};
        *entrant = (struct bench__entrant){
            .rival = {.name = bench_rival_names[i], .diags = asked[i].reasons}};
        entered += i == TORCH ? bench__enter_torch(arena, terms, entrant)
                              : bench__enter_library(terms, entrant);
    }
    return entered;
}

static enum status
race_all(struct arena *arena, struct ours *ours, const struct bench__entrant *entrants,
         size_t count, struct store_baseline **rows, size_t *row_count, struct diags *diags)
{
    static const char *const own[] = {"kernel"};
    const struct bench_race race = {.rounds = ROUNDS,
                                    .seconds = WINDOW_SECONDS,
                                    .pause = PAUSE_SECONDS,
                                    .most_seconds = MOST_SECONDS};
    const struct bench_racer racer = {
        .context = ours, .builds = own, .count = 1, .prepare = is_ready, .window = take_ours};
    struct bench_rival rivals[COUNT];

    for (size_t i = 0; i < count; i++)
        rivals[i] = entrants[i].rival;
    if (count == 0)
        return STATUS_OK;
    enum status status =
        bench_run_race(arena, &race, &racer, rivals, count, rows, row_count, diags);
    return ours->is_found_out ? STATUS_NO : status;
}

static enum status
meet(struct arena *arena, struct ours *ours, const struct bench__terms *terms, const char *against,
     struct store_baseline **rows, size_t *count, struct bench_absent *absent, struct diags *diags)
{
    struct bench__entrant entrants[COUNT];
    struct bench_absent asked[COUNT];
    size_t entered = enter_all(arena, terms, against, entrants, asked);
    enum status status = race_all(arena, ours, entrants, entered, rows, count, diags);

    for (size_t i = 0; i < entered; i++)
        if (entrants[i].held)
            entrants[i].close(entrants[i].held);
    for (unsigned i = COUNT; i-- > 0;)
        if (asked[i].name && diags_count(asked[i].reasons) > 0 &&
            !has_row(*rows, *count, asked[i].name))
            *absent = asked[i];
    return status;
}

enum status
bench_against(struct arena *arena, const struct bench_rivalry *rivalry, const char *against,
              struct store_baseline **rows, size_t *count, struct bench_absent *absent,
              struct diags *diags)
{
    struct ours ours = {.least_us = fmin(rivalry->judged_us / SUSPICIOUS, rivalry->light_us)};
    struct bench__terms terms = {
        .rivalry = rivalry,
        .program = lang_program(rivalry->lang, rivalry->case_number, NULL, 0, diags)};
    enum status status = terms.program ? open_ours(&ours, arena, rivalry, diags) : STATUS_INPUT;

    *rows = NULL;
    *count = 0;
    *absent = (struct bench_absent){0};
    if (status == STATUS_OK) {
        terms.sets = judge_window_sets(ours.window);
        terms.precedence = judge_goes_first(rivalry->judge);
        status = meet(arena, &ours, &terms, against, rows, count, absent, diags);
    } else if (status == STATUS_NO)
        found_out(&ours, diags, "it fails where it is to be raced");
    close_ours(&ours);
    return status;
}
