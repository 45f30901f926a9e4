/* What the builtin search found out, for each case: two schedules that differ in one place tell
 * what that place is worth. */
#include "app/explain.h"
#include "app/screen.h"
#include "app/table.h"

#include "coder/coder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TOKENS 64   /* of a line that is compared */
#define MOST_DIFFERENT 2 /* tokens on each side that still count as one difference */
#define MOST_TOLD 3
#define WORTH 1.1         /* the least effect that is called one */
#define MOST_COMPARED 500 /* drafts of a case: all pairs of them are looked at */

struct drafts { /* of one case */
    const char *phase;
    const struct store_candidate **items;
    size_t count;
    const struct store_candidate *first, *best; /* correct ones; NULL */
};

/* One place in which two schedules differ, and what it did. */
struct effect {
    const struct store_candidate *fast, *slow;
    const char *words; /* "j/32 instead of j/8 in Y" */
    double factor;
    bool same; /* inside the noise: their intervals meet */
};

/* ---- one difference ---- */

struct words {
    const char *at[MOST_TOKENS];
    size_t length[MOST_TOKENS];
    size_t count;
};

static struct words
split_words(const char *line, size_t length)
{
    struct words words = {.count = 0};
    for (const char *at = line, *end = line + length; at < end && words.count < MOST_TOKENS;) {
        size_t here = strcspn(at, " \n");
        if (at + here > end)
            here = (size_t)(end - at);
        if (here > 0) {
            words.at[words.count] = at;
            words.length[words.count++] = here;
        }
        at += here + 1;
    }
    return words;
}

static bool
is_same_word(const struct words *a, size_t i, const struct words *b, size_t j)
{
    return a->length[i] == b->length[j] && memcmp(a->at[i], b->at[j], a->length[i]) == 0;
}

/* The words between equal beginnings and ends; false: there are too many. */
static bool
put_middle(struct buf *buf, const struct words *words, size_t begin, size_t end)
{
    if (end - begin > MOST_DIFFERENT)
        return false;
    for (size_t i = begin; i < end; i++)
        buf_printf(buf, "%s%.*s", buf->length ? " " : "", (int)words->length[i], words->at[i]);
    return true;
}

/* "j/32 instead of j/8 in Y:", NULL: they differ in more than one place. */
static const char *
line_difference(struct arena *arena, const struct words *fast, const struct words *slow)
{
    size_t begin = 0, i = fast->count, j = slow->count;
    struct buf with = buf_in(arena), without = buf_in(arena);
    while (begin < i && begin < j && is_same_word(fast, begin, slow, begin))
        begin++;
    while (i > begin && j > begin && is_same_word(fast, i - 1, slow, j - 1)) {
        i--;
        j--;
    }
    if (begin == 0 || !put_middle(&with, fast, begin, i) || !put_middle(&without, slow, begin, j))
        return NULL;
    int name = (int)fast->length[0] - (fast->at[0][fast->length[0] - 1] == ':');
    if (without.length == 0)
        return arena_printf(arena, "`%s` in %.*s", with.data, name, fast->at[0]);
    if (with.length == 0)
        return arena_printf(arena, "no `%s` in %.*s", without.data, name, fast->at[0]);
    return arena_printf(arena, "`%s` instead of `%s` in %.*s", with.data, without.data, name,
                        fast->at[0]);
}

/* NULL: equal, or different in more than one line. */
static const char *
difference(struct arena *arena, const char *fast, const char *slow)
{
    const char *found = NULL;
    while (*fast && *slow) {
        size_t m = strcspn(fast, "\n"), n = strcspn(slow, "\n");
        if (m != n || memcmp(fast, slow, m) != 0) {
            if (found != NULL)
                return NULL;
            struct words a = split_words(fast, m), b = split_words(slow, n);
            found = line_difference(arena, &a, &b);
            if (found == NULL)
                return NULL;
        }
        fast += m + (fast[m] == '\n');
        slow += n + (slow[n] == '\n');
    }
    return *fast || *slow ? NULL : found;
}

/* ---- all of them ---- */

struct effects {
    struct effect *items;
    size_t count, capacity;
};

/* The greatest effect of a difference is kept. */
static void
add_effect(struct arena *arena, struct effects *effects, const struct effect *effect)
{
    for (size_t i = 0; i < effects->count; i++) {
        struct effect *known = &effects->items[i];
        if (strcmp(known->words, effect->words) != 0)
            continue;
        if (effect->factor > known->factor)
            *known = *effect;
        return;
    }
    if (effects->count == effects->capacity) {
        size_t capacity = effects->capacity ? 2 * effects->capacity : 16;
        effects->items =
            arena_grow(arena, effects->items, effects->count, capacity, sizeof *effects->items);
        effects->capacity = capacity;
    }
    effects->items[effects->count++] = *effect;
}

static void
compare_drafts(struct arena *arena, const struct store_candidate *a,
               const struct store_candidate *b, struct effects *effects)
{
    const struct store_case *x = archive_timed(a), *y = archive_timed(b);
    if (x == NULL || y == NULL)
        return;
    bool swap = y->median_us < x->median_us;
    const struct store_candidate *fast = swap ? b : a, *slow = swap ? a : b;
    const char *words = difference(arena, fast->schedule, slow->schedule);
    if (words == NULL)
        return;
    bool meet = !(x->high_us < y->low_us || y->high_us < x->low_us);
    double factor = fmax(x->median_us, y->median_us) / fmin(x->median_us, y->median_us);
    add_effect(arena, effects, &(struct effect){fast, slow, words, factor, meet});
}

static int
greatest_first(const void *a, const void *b)
{
    double left = ((const struct effect *)a)->factor, right = ((const struct effect *)b)->factor;
    return left > right ? -1 : left < right;
}

static struct effects
find_effects(struct arena *arena, const struct drafts *drafts)
{
    struct effects effects = {0};
    size_t count = drafts->count < MOST_COMPARED ? drafts->count : MOST_COMPARED;
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++)
            compare_drafts(arena, drafts->items[i], drafts->items[j], &effects);
    if (effects.count > 0)
        qsort(effects.items, effects.count, sizeof *effects.items, greatest_first);
    return effects;
}

/* ---- words ---- */

static void
put_effects(struct buf *text, const struct effects *effects)
{
    size_t told = 0;
    for (size_t i = 0; i < effects->count && told < MOST_TOLD; i++) {
        const struct effect *effect = &effects->items[i];
        if (effect->factor < WORTH || effect->same)
            continue;
        buf_printf(text, "%s%s (%.1fx: .%lld against .%lld)",
                   told++ ? ", " : " What mattered: ", effect->words, effect->factor,
                   (long long)effect->fast->number, (long long)effect->slow->number);
    }
    buf_puts(text, told ? "." : "");
    size_t vain = 0;
    for (size_t i = effects->count; i-- > 0 && vain < 2;)
        if (effects->items[i].same)
            buf_printf(text, "%s%s", vain++ ? ", " : " What did not: ", effects->items[i].words);
    buf_puts(text, vain ? " (the same within the noise)." : "");
    if (told + vain == 0)
        buf_puts(text, " No two of its schedules differ in one place alone, so what mattered "
                       "cannot be told apart.");
}

/* What the best schedule does, from the program as it was stored; "" if that cannot be read. */
static const char *
schedule_words(struct arena *arena, const struct store_run *run,
               const struct store_candidate *candidate)
{
    struct diags *diags = diags_create(arena, 4);
    struct buf words = buf_in(arena);
    struct program *program = archive_program(arena, run, candidate->phase, diags);
    double bits = archive_machine(run).vector_bits;
    struct coder_options options = {.vector_bytes = bits >= 128 ? (unsigned)bits / 8 : 32};
    struct source text = {"schedule", candidate->schedule, strlen(candidate->schedule)};
    struct schedule *schedule = program ? coder_read(arena, program, &text, &options, diags) : NULL;
    if (schedule != NULL)
        coder_explain(&words, schedule, NULL);
    return words.length ? words.data : "";
}

/* Of the last case that was drafted words are still fresh: they stand once. */
static void
tell_case(struct explain *explain, const struct drafts *drafts, bool several)
{
    struct arena *arena = explain->out->arena;
    struct buf text = buf_in(arena);
    size_t correct = 0;
    for (size_t i = 0; i < drafts->count; i++)
        correct += archive_is_correct(drafts->items[i]);
    if (several)
        buf_printf(&text, "Case %s: ", drafts->phase);
    if (drafts->best == NULL) {
        buf_printf(&text, "none of builtin's %zu schedules was correct.", drafts->count);
        explain_say(explain, text.data);
        return;
    }
    buf_printf(&text, "builtin reached %s in %zu measurements", explain_time(explain, drafts->best),
               drafts->count);
    if (correct < drafts->count)
        buf_printf(&text, " (%zu of them correct)", correct);
    if (drafts->first == drafts->best)
        buf_puts(&text, drafts->count > 1 ? ", with its first." : ".");
    else
        buf_printf(&text, "; its first took %s.", explain_time(explain, drafts->first));
    struct effects effects = find_effects(arena, drafts);
    if (drafts->count > 1)
        put_effects(&text, &effects);
    explain_say(explain, text.data);
    const char *words = schedule_words(arena, &explain->run->row, drafts->best);
    if (*words)
        explain_say(explain, arena_printf(arena, "Its best, .%lld, does this: %s",
                                          (long long)drafts->best->number, words));
}

/* ---- the cases ---- */

static bool
is_earlier_phase(const struct archive_run *run, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (archive_is_draft(run, &run->candidates[i]) &&
            strcmp(run->candidates[i].phase, run->candidates[at].phase) == 0)
            return true;
    return false;
}

static struct drafts
collect(struct arena *arena, const struct archive_run *run, const char *phase)
{
    struct drafts drafts = {.phase = phase};
    drafts.items = arena_array(arena, run->candidate_count, sizeof *drafts.items);
    for (size_t i = 0; i < run->candidate_count; i++) {
        const struct store_candidate *candidate = &run->candidates[i];
        if (!archive_is_draft(run, candidate) || strcmp(candidate->phase, phase) != 0)
            continue;
        drafts.items[drafts.count++] = candidate;
        const struct store_case *timed = archive_timed(candidate);
        if (timed == NULL)
            continue;
        if (drafts.first == NULL)
            drafts.first = candidate;
        if (drafts.best == NULL || timed->median_us < archive_timed(drafts.best)->median_us)
            drafts.best = candidate;
    }
    return drafts;
}

void
explain_drafts(struct explain *explain)
{
    const struct archive_run *run = explain->run;
    size_t cases = 0;
    for (int telling = 0; telling < 2; telling++)
        for (size_t i = 0; i < run->candidate_count; i++) {
            if (!archive_is_draft(run, &run->candidates[i]) || is_earlier_phase(run, i))
                continue;
            if (!telling) {
                cases++;
                continue;
            }
            struct drafts drafts = collect(explain->out->arena, run, run->candidates[i].phase);
            tell_case(explain, &drafts, cases > 1);
        }
}
