/* The judge through the ledger. Tasks and kernels of the real one are made when it has something to
 * do: a replay never builds anything, and a run that goes on builds again only what it compares. */
#include "run/ledger_int.h"

#include "base/hash.h"

#include <jansson.h>
#include <string.h>

struct court { /* the context */
    struct ledger *ledger;
    struct run_judge real;
};

struct told_task {
    struct judge_setup setup;
    const struct program **programs;
    const char *key; /* "default tail quick, one thread" */
    struct judge_task *real;
};

struct told_kernel {
    const char *text;
    char hash[HASH_TEXT];
    struct judge_kernel *real;
};

static double
seconds(void *context)
{
    const struct court *court = context;
    return court->ledger->seconds;
}

/* ---- tasks ---- */

static enum status
open_task(void *context, const struct judge_setup *setup, struct judge_task **task,
          struct diags *diags)
{
    struct court *court = context;
    struct arena *arena = court->ledger->arena;
    struct told_task *told = arena_alloc(arena, sizeof *told);
    struct buf key = buf_in(arena);
    *told = (struct told_task){.setup = *setup};
    size_t *cases = arena_array(arena, setup->case_count, sizeof *cases);
    memcpy(cases, setup->cases, setup->case_count * sizeof *cases);
    told->setup.cases = cases;
    struct judge_extra *extras = arena_array(arena, setup->extra_count + 1, sizeof *extras);
    if (setup->extra_count > 0)
        memcpy(extras, setup->extras, setup->extra_count * sizeof *extras);
    told->setup.extras = extras;
    told->programs = arena_array(arena, setup->case_count, sizeof *told->programs);
    for (size_t i = 0; i < setup->case_count; i++) {
        told->programs[i] = lang_program(setup->lang, setup->cases[i], NULL, 0, diags);
        if (told->programs[i] == NULL)
            return STATUS_INPUT;
        buf_printf(&key, "%s ", told->programs[i]->case_name);
    }
    buf_printf(&key, "%s%s", judge_effort_name[setup->effort],
               setup->threads == 1 ? ", one thread" : "");
    if (setup->extra_count > 0)
        buf_printf(&key, ", %zu proposed", setup->extra_count);
    told->key = key.data;
    *task = (struct judge_task *)told;
    return STATUS_OK;
}

static void
close_task(void *context, struct judge_task *task)
{
    struct court *court = context;
    struct told_task *told = (struct told_task *)task;
    if (told != NULL && told->real != NULL)
        court->real.close(court->real.context, told->real);
}

static enum status
open_real(struct court *court, struct told_task *told, struct diags *diags)
{
    if (told->real != NULL)
        return STATUS_OK;
    return court->real.open(court->real.context, &told->setup, &told->real, diags);
}

/* ---- kernels ---- */

static struct told_kernel *
tell_kernel(struct arena *arena, const char *text)
{
    struct told_kernel *kernel = arena_alloc(arena, sizeof *kernel);
    *kernel = (struct told_kernel){.text = text};
    hash_sha256(text, strlen(text), kernel->hash);
    return kernel;
}

static const char *
key_of(struct arena *arena, const struct told_task *task, const struct told_kernel *kernel)
{
    return arena_printf(arena, "%.16s %s", kernel->hash, task->key);
}

static enum status
read_answer(struct court *court, const struct told_task *task, const char *answer,
            struct judge_report *report, struct diags *diags)
{
    if (answer_read_report(court->ledger->arena, answer, task->programs, task->setup.case_count,
                           report))
        return STATUS_OK;
    diags_add(diags, DIAG_ERROR, (struct place){0},
              "the archive has no verdict where one should be: %.60s", answer);
    return STATUS_MACHINE;
}

/* It is read back even when it is new: what is not kept must decide nothing. What only the screens
 * show stays. */
static enum status
note_report(struct court *court, const struct told_task *task, const char *kind, const char *key,
            struct judge_report *report, struct diags *diags)
{
    struct judge_report whole = *report;
    const char *answer = answer_of_report(court->ledger->arena, report);
    enum status status = ledger_note(court->ledger, kind, key, answer, diags);
    if (status == STATUS_OK)
        status = read_answer(court, task, answer, report, diags);
    report->compile_seconds = whole.compile_seconds;
    report->from_cache = whole.from_cache;
    return status;
}

static void
drop(void *context, struct judge_kernel *kernel)
{
    struct court *court = context;
    struct told_kernel *told = (struct told_kernel *)kernel;
    if (told == NULL || told->real == NULL)
        return;
    court->real.drop(court->real.context, told->real);
    told->real = NULL;
}

static enum status
look(void *context, struct judge_task *task, struct arena *arena, const char *text,
     struct judge_kernel **kernel, struct judge_report *report, struct diags *diags)
{
    struct court *court = context;
    struct told_task *told = (struct told_task *)task;
    struct told_kernel *made = tell_kernel(court->ledger->arena, text);
    const char *key = key_of(arena, told, made), *answer;
    enum status status = ledger_recall(court->ledger, "look", key, &answer, diags);
    *kernel = NULL;
    if (status == STATUS_OK)
        status = read_answer(court, told, answer, report, diags);
    else if (status == STATUS_NO) {
        status = open_real(court, told, diags);
        if (status == STATUS_OK)
            status = court->real.look(court->real.context, told->real, arena, text, &made->real,
                                      report, diags);
        if (status == STATUS_OK)
            status = note_report(court, told, "look", key, report, diags);
    }
    if (status == STATUS_OK && report->status == JUDGE_BUILT)
        *kernel = (struct judge_kernel *)made;
    else
        drop(context, (struct judge_kernel *)made); /* it was built, and then it was wrong */
    return status;
}

static bool
will_answer(const struct ledger *ledger)
{
    return !ledger->off && (ledger->event_next < ledger->event_count ||
                            ledger->mode == RUN_REPLAY || ledger->difference != NULL);
}

/* Nothing is built for what the ledger will answer. */
static enum status
ahead(void *context, struct judge_task *task, const char *const *texts, size_t count,
      struct diags *diags)
{
    struct court *court = context;
    struct told_task *told = (struct told_task *)task;
    if (will_answer(court->ledger) || court->real.ahead == NULL)
        return STATUS_OK;
    enum status status = open_real(court, told, diags);
    if (status == STATUS_OK)
        status = court->real.ahead(court->real.context, told->real, texts, count, diags);
    return status;
}

/* One that is only known from the archive is built again, to be compared. */
static enum status
build_again(struct court *court, struct told_task *task, struct told_kernel *kernel, bool *built,
            struct diags *diags)
{
    struct judge_report report;
    enum status status = open_real(court, task, diags);
    if (status == STATUS_OK && kernel->real == NULL)
        status = court->real.look(court->real.context, task->real, court->ledger->arena,
                                  kernel->text, &kernel->real, &report, diags);
    *built = kernel->real != NULL;
    return status;
}

static const char *
text_of_difference(struct arena *arena, const struct run_difference *difference)
{
    return arena_printf(arena,
                        "{\"faster\":%d,\"slower\":%d,\"ratio\":%.17g,\"low\":%.17g,"
                        "\"high\":%.17g}",
                        difference->faster, difference->slower, difference->ratio, difference->low,
                        difference->high);
}

static bool
read_difference(const char *answer, struct run_difference *difference)
{
    json_t *root = json_loads(answer, 0, NULL);
    int faster, slower;
    bool good =
        json_unpack(root, "{s:i,s:i,s:F,s:F,s:F}", "faster", &faster, "slower", &slower, "ratio",
                    &difference->ratio, "low", &difference->low, "high", &difference->high) == 0;
    json_decref(root);
    if (good) {
        difference->faster = faster;
        difference->slower = slower;
    }
    return good;
}

static enum status
compare(void *context, struct judge_task *task, struct judge_kernel *champion,
        struct judge_kernel *challenger, size_t number, struct run_difference *difference,
        struct diags *diags)
{
    struct court *court = context;
    struct told_task *told = (struct told_task *)task;
    struct told_kernel *one = (struct told_kernel *)champion;
    struct told_kernel *other = (struct told_kernel *)challenger;
    struct arena *arena = court->ledger->arena;
    const char *key = arena_printf(arena, "%.16s %.16s %s%s", one->hash, other->hash,
                                   told->programs[number]->case_name,
                                   told->setup.threads == 1 ? ", one thread" : "");
    const char *answer;
    bool built = true;
    enum status status = ledger_recall(court->ledger, "compare", key, &answer, diags);
    *difference = (struct run_difference){.ratio = 1, .low = 1, .high = 1};
    if (status == STATUS_OK && !read_difference(answer, difference)) {
        diags_add(diags, DIAG_ERROR, (struct place){0}, "the archive has no comparison: %.60s",
                  answer);
        return STATUS_MACHINE;
    }
    if (status != STATUS_NO)
        return status;
    status = build_again(court, told, one, &built, diags);
    if (status == STATUS_OK && built)
        status = build_again(court, told, other, &built, diags);
    if (status == STATUS_OK && built)
        status = court->real.compare(court->real.context, told->real, one->real, other->real,
                                     number, difference, diags);
    if (status == STATUS_OK)
        status = ledger_note(court->ledger, "compare", key, text_of_difference(arena, difference),
                             diags);
    return status;
}

typedef enum status (*asked)(void *context, struct judge_task *task, struct arena *arena,
                             const char *text, struct judge_report *report, struct diags *diags);

/* A question about a text that leaves nothing behind but its report. */
static enum status
ask(struct court *court, struct told_task *told, const char *kind, asked real, struct arena *arena,
    const char *text, struct judge_report *report, struct diags *diags)
{
    const char *key = key_of(arena, told, tell_kernel(arena, text)), *answer;
    enum status status = ledger_recall(court->ledger, kind, key, &answer, diags);
    if (status == STATUS_OK)
        return read_answer(court, told, answer, report, diags);
    if (status != STATUS_NO)
        return status;
    status = open_real(court, told, diags);
    if (status == STATUS_OK)
        status = real(court->real.context, told->real, arena, text, report, diags);
    if (status == STATUS_OK)
        status = note_report(court, told, kind, key, report, diags);
    return status;
}

static enum status
build(void *context, struct judge_task *task, struct arena *arena, const char *text,
      struct judge_report *report, struct diags *diags)
{
    struct court *court = context;
    return ask(court, (struct told_task *)task, "build", court->real.build, arena, text, report,
               diags);
}

static enum status
verdict(void *context, struct judge_task *task, struct arena *arena, const char *text,
        struct judge_report *report, struct diags *diags)
{
    struct court *court = context;
    return ask(court, (struct told_task *)task, "verdict", court->real.verdict, arena, text, report,
               diags);
}

/* It is shown and decides nothing, so the ledger need not have it. */
static enum status
naive(void *context, struct judge_task *task, double *us, struct diags *diags)
{
    struct court *court = context;
    struct told_task *told = (struct told_task *)task;
    *us = 0;
    if (will_answer(court->ledger) || court->real.naive == NULL)
        return STATUS_OK;
    enum status status = open_real(court, told, diags);
    return status == STATUS_OK ? court->real.naive(court->real.context, told->real, us, diags)
                               : status;
}

struct run_judge
ledger_judge(struct ledger *ledger, const struct run_judge *real)
{
    struct court *court = arena_alloc(ledger->arena, sizeof *court);
    *court = (struct court){ledger, *real};
    return (struct run_judge){.context = court,
                              .seconds = seconds,
                              .open = open_task,
                              .close = close_task,
                              .look = look,
                              .ahead = ahead,
                              .drop = drop,
                              .build = build,
                              .compare = compare,
                              .verdict = verdict,
                              .naive = naive};
}
