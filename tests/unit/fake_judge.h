/* A judge by formula: what a kernel costs follows from its text, so that the same run takes the
 * same decisions on every machine. */
#ifndef HONE_TESTS_FAKE_JUDGE_H
#define HONE_TESTS_FAKE_JUDGE_H

#include "unit.h"

#include "base/hash.h"
#include "run/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct fake {
    struct arena *arena;
    double clock;
    double opening;            /* seconds that opening a task takes */
    double light_us;           /* of every case */
    const char *slow, *fast;   /* a kernel whose text has these words costs 1000 us, or 1 us */
    const char *wrong_at_last; /* a file with these words is refused, in case `odd` */
    const char *restless;      /* one with these words gives other bits each time, in `odd` */
    const char *fickle;        /* one with these words wins every second comparison only */
    const char *weak;          /* one with these words is wrong on inputs that were proposed */
    const char *same;          /* two with these words are equally fast with more than one thread */
    double naive_us; /* of the plain C, which then is a build that a kernel may be; 0: 40 */
    unsigned looks, compares, verdicts;
    unsigned parts;     /* tasks that were opened only to be timed */
    struct buf *told;   /* what is built ahead and what is looked at, if anybody wants to know */
    void (*tick)(void); /* called at each question */
};

struct fake_task {
    struct judge_setup setup;
};

struct fake_kernel {
    double us;
    const char *text;
};

/* Between 10 and 20 us, by what the text is; what it says itself, "cost = 5", counts. */
static inline double
cost_of(const struct fake *fake, const char *text)
{
    char hash[HASH_TEXT];
    const char *said = strstr(text, "cost = ");
    if (said != NULL)
        return strtod(said + 7, NULL);
    if (fake->slow && strstr(text, fake->slow))
        return 1000;
    if (fake->fast && strstr(text, fake->fast))
        return 1;
    hash_sha256(text, strlen(text), hash);
    return 10 + 10 * (double)(strtoul(arena_strndup(fake->arena, hash, 6), NULL, 16) % 997) / 997;
}

static inline double
fake_seconds(void *context)
{
    struct fake *fake = context;
    if (fake->tick != NULL)
        fake->tick();
    return fake->clock += 0.001;
}

static inline enum status
fake_open(void *context, const struct judge_setup *setup, struct judge_task **task,
          struct diags *diags)
{
    struct fake *fake = context;
    struct fake_task *made = arena_alloc(fake->arena, sizeof *made);
    (void)diags;
    made->setup = *setup;
    fake->clock += fake->opening;
    fake->parts += setup->only_timed;
    *task = (struct judge_task *)made;
    return STATUS_OK;
}

static inline void
fake_close(void *context, struct judge_task *task)
{
    (void)context;
    (void)task;
}

static inline void
fake_report(struct fake *fake, const struct judge_setup *setup, const char *text,
            struct judge_report *report, struct diags *diags)
{
    static const char *const naive = "naive";
    *report = (struct judge_report){.status = JUDGE_BUILT,
                                    .reason = "",
                                    .details = "",
                                    .flags = "",
                                    .deterministic = true,
                                    .same_bits = true,
                                    .case_count = setup->case_count};
    report->cases = arena_array(fake->arena, setup->case_count, sizeof *report->cases);
    for (size_t i = 0; i < setup->case_count; i++) {
        double us = cost_of(fake, text);
        struct judge_pair *pair = arena_alloc(fake->arena, sizeof *pair);
        double naive_us = fake->naive_us > 0 ? fake->naive_us : 40;
        *pair = (struct judge_pair){.name = naive,
                                    .flags = fake->naive_us > 0 ? "gcc -Ofast" : "",
                                    .time = {.median = naive_us}};
        pair->speedup = naive_us / us;
        pair->same = fabs(pair->speedup - 1) < 0.02;
        report->cases[i] = (struct judge_case){
            .program = lang_program(setup->lang, setup->cases[i], NULL, 0, diags),
            .timed = true,
            .time = {.median = us, .min = us, .low = us, .high = us, .samples = 1},
            .light = {.us = fake->light_us, .limit = "memory", .level = "memory"},
            .share = fake->light_us / us,
            .pairs = setup->no_baseline ? NULL : pair,
            .pair_count = !setup->no_baseline};
    }
}

static inline void
fake_tell(const struct fake *fake, const char *what, const char *text)
{
    char hash[HASH_TEXT];
    hash_sha256(text, strlen(text), hash);
    if (fake->told != NULL)
        buf_printf(fake->told, "%s %s\n", what, hash);
}

static inline enum status
fake_ahead(void *context, struct judge_task *task, const char *const *texts, size_t count,
           struct diags *diags)
{
    (void)task;
    (void)diags;
    for (size_t i = 0; i < count; i++)
        fake_tell(context, "ahead", texts[i]);
    return STATUS_OK;
}

static inline enum status
fake_look(void *context, struct judge_task *task, struct arena *arena, const char *text,
          struct judge_kernel **kernel, struct judge_report *report, struct diags *diags)
{
    struct fake *fake = context;
    struct fake_kernel *made = arena_alloc(arena, sizeof *made);
    fake->looks++;
    fake_tell(fake, "look", text);
    *made = (struct fake_kernel){cost_of(fake, text), text};
    *kernel = (struct judge_kernel *)made;
    fake_report(fake, &((struct fake_task *)task)->setup, text, report, diags);
    if (strstr(text, "BROKEN") != NULL) {
        report->status = strstr(text, "BROKEN_BUILD") ? JUDGE_BUILD_FAILED : JUDGE_WRONG;
        report->reason = "case default, 3 of 4800 elements of Y";
        *kernel = NULL;
    }
    return STATUS_OK;
}

static inline enum status
fake_build(void *context, struct judge_task *task, struct arena *arena, const char *text,
           struct judge_report *report, struct diags *diags)
{
    struct fake *fake = context;
    (void)arena;
    fake_report(fake, &((struct fake_task *)task)->setup, text, report, diags);
    if (strstr(text, "BROKEN_BUILD") != NULL) {
        report->status = JUDGE_BUILD_FAILED;
        report->reason = "line 3: expected ;";
    }
    return STATUS_OK;
}

static inline void
fake_drop(void *context, struct judge_kernel *kernel)
{
    (void)context;
    (void)kernel;
}

static inline enum status
fake_compare(void *context, struct judge_task *task, struct judge_kernel *champion,
             struct judge_kernel *challenger, size_t number, struct run_difference *difference,
             struct diags *diags)
{
    struct fake *fake = context;
    const struct fake_kernel *one = (struct fake_kernel *)champion;
    const struct fake_kernel *other = (struct fake_kernel *)challenger;
    double ratio = other->us / one->us;
    (void)number;
    (void)diags;
    fake->compares++;
    if (fake->fickle && strstr(other->text, fake->fickle) && fake->compares % 2)
        ratio = 2;
    if (fake->same && ((struct fake_task *)task)->setup.threads != 1 &&
        strstr(other->text, fake->same) && strstr(one->text, fake->same))
        ratio = 1;
    *difference = (struct run_difference){.faster = ratio<1, .slower = ratio> 1, .ratio = ratio};
    difference->low = difference->high = difference->ratio;
    return STATUS_OK;
}

static inline enum status
fake_verdict(void *context, struct judge_task *task, struct arena *arena, const char *text,
             struct judge_report *report, struct diags *diags)
{
    struct fake *fake = context;
    const struct judge_setup *setup = &((struct fake_task *)task)->setup;
    (void)arena;
    fake->verdicts++;
    fake_report(fake, setup, text, report, diags);
    report->status = JUDGE_CORRECT;
    if (fake->restless && strstr(text, fake->restless))
        report->same_bits = setup->cases[setup->case_count - 1] != 1;
    if (fake->weak && strstr(text, fake->weak) && setup->extra_count > 0) {
        report->status = JUDGE_WRONG;
        report->reason = "case default, 1 of 4800 elements of Y";
        report->wrong = (struct judge_wrong){
            .tensor = "Y", .element = "Y[0,0]", .kinds = setup->extras[0].pattern};
    }
    if (fake->wrong_at_last && strstr(text, fake->wrong_at_last)) {
        report->status = JUDGE_WRONG;
        report->reason = "case odd, 3 of 111 elements of Y";
        report->case_name = "odd";
    }
    return STATUS_OK;
}

static inline struct run_judge
fake_judge(struct unit *unit, struct fake *fake)
{
    fake->arena = unit->arena;
    fake->light_us = fake->light_us > 0 ? fake->light_us : 0.1;
    return (struct run_judge){.context = fake,
                              .seconds = fake_seconds,
                              .open = fake_open,
                              .close = fake_close,
                              .look = fake_look,
                              .ahead = fake_ahead,
                              .drop = fake_drop,
                              .build = fake_build,
                              .compare = fake_compare,
                              .verdict = fake_verdict};
}

#endif
