#include "app/archive.h"
#include "app/config.h"
#include "app/screen.h"

#include "base/clock.h"
#include "base/text.h"
#include "libhone/libhone.h"

#include <math.h>
#include <string.h>

/* ---- opening ---- */

static enum status
open_at(struct cli *cli, enum store_access access, const char **path, struct store **store)
{
    const struct config *config;
    struct store_options options = {
        .access = access, .program = "hone " HONE_VERSION, .now = clock_wall()};
    enum status status = config_read(cli, &config);
    *store = NULL;
    *path = NULL;
    if (status != STATUS_OK)
        return status;
    *path = config->values[CONFIG_ARCHIVE].text;
    return *path ? store_open(*path, &options, store, cli->diags) : STATUS_NO;
}

enum status
archive_open(struct cli *cli, enum store_access access, struct store **store)
{
    const char *path;
    return open_at(cli, access, &path, store);
}

enum status
archive_need(struct cli *cli, enum store_access access, struct store **store)
{
    const char *path;
    /* Opened for writing it would be made, and be empty. */
    enum status status = open_at(cli, STORE_READ, &path, store);
    if (status == STATUS_OK && access == STORE_WRITE) {
        store_close(*store);
        status = open_at(cli, access, &path, store);
    }
    if (status == STATUS_NO)
        return cli_wrong(cli,
                         "%s: no archive yet; hone optimize FILE.op makes it with its first run",
                         path ? path : "archive");
    return status;
}

bool
archive_is_candidate(const char *name)
{
    return strchr(name, '.') != NULL;
}

bool
archive_is_run(struct cli *cli, struct store *store, const char *name)
{
    struct store_run run;
    struct diags *unheard = diags_create(cli->arena, 4);
    return store_run_find(store, cli->arena, name, &run, unheard) == STATUS_OK;
}

bool
archive_is_bench(struct cli *cli, struct store *store, const char *name)
{
    struct store_bench bench;
    struct diags *unheard = diags_create(cli->arena, 4);
    return store_bench_find(store, cli->arena, name, &bench, unheard) == STATUS_OK;
}

/* ---- a run as a whole ---- */

enum status
archive_read_run(struct store *store, struct arena *arena, const char *name,
                 enum store_detail detail, struct archive_run *run, struct diags *diags)
{
    *run = (struct archive_run){0};
    enum status status = store_run_find(store, arena, name, &run->row, diags);
    if (status == STATUS_OK)
        status = store_candidates(store, arena, run->row.id, detail, &run->candidates,
                                  &run->candidate_count, diags);
    if (status == STATUS_OK)
        status =
            store_calls(store, arena, run->row.id, detail, &run->calls, &run->call_count, diags);
    if (status == STATUS_OK)
        status =
            store_events(store, arena, run->row.id, 0, 0, &run->events, &run->event_count, diags);
    return status;
}

const struct store_candidate *
archive_candidate(const struct archive_run *run, int64_t number)
{
    for (size_t i = 0; i < run->candidate_count; i++)
        if (run->candidates[i].number == number)
            return &run->candidates[i];
    return NULL;
}

const struct store_candidate *
archive_parent(const struct archive_run *run, const struct store_candidate *candidate)
{
    for (size_t i = 0; i < candidate->parent_count; i++) {
        const struct store_parent *parent = &candidate->parents[i];
        const struct store_candidate *found = archive_candidate(run, parent->number);
        if (found != NULL && found->id == parent->candidate && found->number < candidate->number)
            return found;
    }
    return NULL;
}

const struct store_call *
archive_call(const struct archive_run *run, int64_t id)
{
    for (size_t i = 0; i < run->call_count; i++)
        if (run->calls[i].id == id)
            return &run->calls[i];
    return NULL;
}

const char *
archive_state(const struct store_run *run)
{
    bool plain = run->stopped_by[0] == '\0' || strcmp(run->stopped_by, "you") == 0;
    if (run->state != STORE_STOPPED || plain)
        return store_state_name[run->state];
    return run->stopped_by;
}

double
archive_seconds(const struct store_run *run, double now)
{
    return (isnan(run->ended) ? now : run->ended) - run->started;
}

struct archive_spent
archive_spent(const struct archive_run *run, double when)
{
    struct archive_spent spent = {.seconds = when - run->row.started};
    for (size_t i = 0; i < run->call_count; i++) {
        const struct store_call *call = &run->calls[i];
        if (!(call->ended <= when))
            continue;
        spent.tokens += call->tokens.input + call->tokens.output;
        spent.cost += isnan(call->cost) ? 0 : call->cost;
    }
    return spent;
}

struct program *
archive_program(struct arena *arena, const struct store_run *run, const char *case_name,
                struct diags *diags)
{
    const char *source = run->task.source;
    struct lang *lang = lang_parse(arena, arena_printf(arena, "%s.op", run->task.name), source,
                                   strlen(source), diags);
    size_t number = 0;
    while (lang && number < lang_case_count(lang) &&
           strcmp(lang_case_name(lang, number), case_name) != 0)
        number++;
    if (lang == NULL || number == lang_case_count(lang))
        return NULL;
    return lang_program(lang, number, NULL, 0, diags);
}

/* ---- candidates ---- */

const char *
archive_name(struct arena *arena, const char *run, int64_t number)
{
    return arena_printf(arena, "%s.%lld", run, (long long)number);
}

const struct store_verdict *
archive_verdict(const struct store_candidate *candidate)
{
    return candidate->verdict_count ? &candidate->verdicts[candidate->verdict_count - 1] : NULL;
}

bool
archive_is_correct(const struct store_candidate *candidate)
{
    const struct store_verdict *verdict = archive_verdict(candidate);
    return verdict != NULL && strcmp(verdict->status, "correct") == 0;
}

const struct store_case *
archive_timed(const struct store_candidate *candidate)
{
    const struct store_verdict *verdict = archive_verdict(candidate);
    for (size_t i = 0; archive_is_correct(candidate) && i < verdict->case_count; i++)
        if (!isnan(verdict->cases[i].median_us))
            return &verdict->cases[i];
    return NULL;
}

bool
archive_is_first_case(const struct archive_run *run, const struct store_case *timed)
{
    size_t length = strcspn(run->row.cases, " ;");
    return strlen(timed->name) == length && strncmp(run->row.cases, timed->name, length) == 0;
}

const struct store_case *
archive_case(const struct store_verdict *verdict, const char *name)
{
    for (size_t i = 0; i < verdict->case_count; i++)
        if (strcmp(verdict->cases[i].name, name) == 0)
            return &verdict->cases[i];
    return NULL;
}

double
archive_time(const struct store_candidate *candidate, const char *case_name)
{
    const struct store_verdict *verdict = archive_verdict(candidate);
    const struct store_case *row = verdict ? archive_case(verdict, case_name) : NULL;
    return archive_is_correct(candidate) && row != NULL ? row->median_us : NAN;
}

bool
archive_common_case(const struct store_candidate *a, const struct store_candidate *b,
                    const struct store_case **of_a, const struct store_case **of_b)
{
    const struct store_verdict *verdict = archive_verdict(a);
    for (size_t i = 0; archive_timed(a) && archive_timed(b) && i < verdict->case_count; i++) {
        *of_a = &verdict->cases[i];
        *of_b = archive_case(archive_verdict(b), (*of_a)->name);
        if (*of_b != NULL && !isnan((*of_a)->median_us) && !isnan((*of_b)->median_us))
            return true;
    }
    return false;
}

double
archive_gain(const struct store_candidate *candidate, const struct store_candidate *than)
{
    double sum = 0;
    size_t count = 0;
    if (archive_timed(candidate) == NULL || archive_timed(than) == NULL)
        return NAN;
    const struct store_verdict *verdict = archive_verdict(candidate);
    for (size_t i = 0; i < verdict->case_count; i++) {
        const struct store_case *row = &verdict->cases[i];
        const struct store_case *other = archive_case(archive_verdict(than), row->name);
        double factor = other ? other->median_us / row->median_us : NAN;
        if (isnan(factor) || factor <= 0)
            continue;
        sum += log(factor);
        count++;
    }
    return count > 0 ? exp(sum / (double)count) : NAN;
}

/* "default R=1024 N=4096; tail R=37 N=1009" names it. */
static bool
is_case(const struct store_run *run, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = run->cases; *at; at += strcspn(at, ";"), at += strspn(at, "; "))
        if (length > 0 && strncmp(at, name, length) == 0 && strchr(" ;", at[length]))
            return true;
    return false;
}

bool
archive_is_draft(const struct archive_run *run, const struct store_candidate *candidate)
{
    return candidate->kind == STORE_SCHEDULE && candidate->role[0] == '\0' &&
           is_case(&run->row, candidate->phase);
}

bool
archive_is_layer(const struct store_candidate *candidate)
{
    return strcmp(candidate->role, "layer") == 0;
}

const char *
archive_who(const struct store_candidate *candidate)
{
    if (candidate->role[0] != '\0')
        return candidate->role;
    return strcmp(candidate->phase, "file") == 0 ? "file" : candidate->proposer;
}

const char *
archive_main_line(struct arena *arena, const char *schedule)
{
    const char *last = "";
    size_t length = 0;
    for (const char *line = schedule; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t here = strcspn(line, "\n");
        if (here > 0 && *line != '!' && !text_starts(line, "case ")) {
            last = line;
            length = here;
        }
    }
    return arena_strndup(arena, last, length);
}

/* What the file that was given is made of. */
static bool
is_in_best(const struct archive_run *run, const struct store_candidate *candidate)
{
    const struct store_candidate *best = archive_candidate(run, run->row.best);
    for (size_t i = 0; best != NULL && i < best->parent_count; i++)
        if (best->parents[i].candidate == candidate->id)
            return true;
    return false;
}

const char *
archive_decision(const struct archive_run *run, const struct store_candidate *candidate)
{
    if (run->row.best == candidate->number)
        return "best";
    if (run->row.state == STORE_RUNNING && run->row.leader == candidate->number)
        return "best so far";
    if (strcmp(candidate->accepted, "best") == 0) /* it was, for a while */
        return is_in_best(run, candidate) ? "best" : "accepted";
    return candidate->accepted;
}

bool
archive_is_accepted(const struct store_candidate *candidate)
{
    return text_starts(candidate->accepted, "accepted") || strcmp(candidate->accepted, "best") == 0;
}

const struct store_candidate *
archive_start(const struct archive_run *run, const struct store_candidate *best)
{
    const struct store_candidate *root = best;
    for (const struct store_candidate *up = best; up != NULL; up = archive_parent(run, up))
        root = up;
    bool draft = archive_is_draft(run, root);
    if (root != best && !draft)
        return root;
    for (size_t i = 0; i < run->candidate_count; i++) {
        const struct store_candidate *one = &run->candidates[i];
        if (archive_is_correct(one) && (!draft || strcmp(one->phase, root->phase) == 0))
            return one;
    }
    return root;
}

/* ---- in words ---- */

const char *
archive_limit_words(struct arena *arena, const char *limit)
{
    if (strcmp(limit, "compute") == 0)
        return "arithmetic";
    if (strcmp(limit, "memory") == 0)
        return "memory";
    if (limit[0] == 'L')
        return arena_printf(arena, "the bandwidth of %s", limit);
    return arena_printf(arena, "computing %s", limit);
}

static const struct {
    const char *word, *text;
} endings[] = {
    {"evals", "the evaluations were used up"},
    {"time", "the time was used up"},
    {"calls", "the calls were used up"},
    {"cost", "the money was used up"},
    {"tokens", "the tokens were used up"},
    {"light", "it was near enough to the limit"},
    {"gain", "it was as many times faster as was asked for"},
    {"no progress", "nothing better was found for a while"},
    {"checked", "there was nothing to time"},
    {"you", "somebody stopped it"},
    {"killed", "its process was gone"},
};

const char *
archive_ending_words(const char *word)
{
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (strcmp(endings[i].word, word) == 0)
            return endings[i].text;
    return word;
}

/* ---- two candidates ---- */

static double
share(double gain)
{
    return gain >= 1 ? gain - 1 : 1 / gain - 1;
}

const char *
archive_share_text(struct arena *arena, double gain)
{
    double more = share(gain);
    if (more >= 0.5)
        return arena_printf(arena, "%.1fx", 1 + more);
    return arena_printf(arena, "%s %%", screen_percent(arena, more));
}

static const char *
interval_text(struct arena *arena, double low, double high)
{
    if (isnan(low) || isnan(high))
        return "";
    double a = 100 * share(low), b = 100 * share(high);
    return arena_printf(arena, " [%.1f, %.1f]", fmin(a, b), fmax(a, b));
}

bool
archive_pair(const struct archive_run *run, const struct store_candidate *candidate,
             const struct store_candidate *than, struct archive_comparison *pair)
{
    if (archive_comparison(run, than, candidate, pair))
        return true;
    *pair = (struct archive_comparison){archive_gain(candidate, than), NAN, NAN, false};
    return false;
}

const char *
archive_against(struct arena *arena, const struct archive_run *run,
                const struct store_candidate *candidate, const struct store_candidate *than,
                const char *name)
{
    struct archive_comparison pair;
    bool compared = archive_pair(run, candidate, than, &pair);
    if (isnan(pair.gain))
        return NULL;
    if (pair.same || (!compared && strcmp(candidate->accepted, "same") == 0))
        return arena_printf(arena, "the same as %s", name);
    return arena_printf(arena, "%s %s than %s%s", archive_share_text(arena, pair.gain),
                        pair.gain >= 1 ? "faster" : "slower", name,
                        interval_text(arena, pair.low, pair.high));
}

const char *
archive_expected(struct arena *arena, const struct archive_run *run,
                 const struct store_candidate *candidate, const struct store_candidate *parent)
{
    struct archive_comparison pair = {.gain = NAN};
    double low = candidate->expected_low, high = candidate->expected_high;
    if (!(low > 0) || !(high > 0))
        return "";
    if (parent != NULL)
        archive_pair(run, candidate, parent, &pair);
    bool same = pair.same || strcmp(candidate->accepted, "same") == 0;
    return arena_printf(arena, "expected %.0f to %.0f %%, got %s", 100 * (fmin(low, high) - 1),
                        100 * (fmax(low, high) - 1),
                        isnan(pair.gain) ? "nothing"
                        : same           ? "the same"
                                         : arena_printf(arena, "%.0f %%", 100 * (pair.gain - 1)));
}
